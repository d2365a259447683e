/* A .tar.gz that is written as it comes into being: into a file, which is there whole or not at all, or to
 * standard output. Entries are put one behind the other; nothing of them is kept. */
#pragma once

#include "kubectl-fleet/session.h"

struct bundle_file;

/* path "-": standard output, of s->terminal. ERR_EXISTS: the file is there already; ERR_NOT_FOUND,
 * ERR_SYSTEM: its folder cannot be written to. */
int bundle_file_open(struct session *s, const char *path, struct bundle_file **ret, struct error *err);
int bundle_file_put(struct bundle_file *f, const char *name, struct slice data, struct error *err);
/* The end of the archive, and the file at its place; its size. f is gone in either case. */
int bundle_file_finish(struct bundle_file *f, uint64_t *ret_size, struct error *err);
struct bundle_file *bundle_file_abandon(struct bundle_file *f); /* NULL is fine; returns NULL */
