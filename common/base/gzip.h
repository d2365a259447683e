/* gzip (RFC 1952) and deflate in memory, on zlib; pure, so it may run offloaded. */
#pragma once

#include "common/base/buf.h"
#include "common/base/text.h"

bool gzip_begins(struct slice data); /* with gzip's two magic bytes: what follows may still be bad */
/* Whether a header stands in front: ERR_INVALID with Go's words, as everything below. */
int gzip_check_header(struct slice data, struct error *err);
/* Appends what `data` unpacks to, of all members that stand one behind the other. The maximum of `ret` is the
 * guard against bombs: beyond it ERR_LIMIT, and nothing more is unpacked. What follows the last member is
 * ERR_INVALID, as are a cut stream, a wrong checksum and a wrong length. On failure `ret` holds what came
 * before. */
int gzip_unpack(struct slice data, struct buf *ret, struct error *err);
/* Appends one member, without time, name or system in its header: equal data give equal bytes (as long as
 * zlib does not change what it makes of them). */
int gzip_pack(struct slice data, struct buf *ret, struct error *err);

/* Raw deflate (RFC 1951), for what is sent once: level 1, and a small window, so that it takes little time
 * and 128 KiB while it packs. */
int deflate_pack(struct slice data, struct buf *ret, struct error *err);
/* What gzip_unpack() does, of one such stream. */
int deflate_unpack(struct slice data, struct buf *ret, struct error *err);

/* gzip in pieces. */
struct gzip_packer;
struct gzip_packer *gzip_packer_new(void); /* NULL on no memory */
/* Appends what is packed of it by now, which may be nothing; `last` ends the member. Equal data give equal
 * bytes however they are cut. */
int gzip_packer_add(struct gzip_packer *p, struct slice data, bool last, struct buf *ret, struct error *err);
struct gzip_packer *gzip_packer_free(struct gzip_packer *p); /* NULL is fine; returns NULL */
