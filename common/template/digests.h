/* Sums and encodings that only templates ask for. Private to common/template. */
#pragma once

#include "common/base/buf.h"
#include "common/base/text.h"

#define SHA1_HEX_SIZE 41

int sha1_hex(struct slice s, char ret[SHA1_HEX_SIZE]); /* 0 or ERR_NO_MEMORY */
int base32_encode(struct slice s, struct buf *b);      /* RFC 4648, padded */
/* False: *ret_fault is the byte at which Go sees that it is wrong. Line ends are skipped. */
bool base32_decode(struct slice s, struct buf *b, size_t *ret_fault);
