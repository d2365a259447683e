/* Archives as they are made here: the same files give the same bytes, whatever the machine, the day and the
 * libraries. Pure. spec/helm-chart.md 6.4, 12.1. */
#pragma once

#include "common/base/buf.h"
#include "common/base/text.h"

struct tar_entry {
        const char *name;   /* with slashes; of a folder without one at its end */
        struct slice data;  /* of files */
        unsigned mode;      /* 0644 */
        int64_t modified_s; /* since 1970; below 0 counts as 0 */
        bool is_folder;
};

/* Appends one entry: ustar, and a pax header before it only where the name has no room. uid and gid are 0,
 * names of users none. ERR_LIMIT: the buffer is full, or a file has 8 GiB; ERR_INVALID: the name is empty. */
int tar_append(struct buf *b, const struct tar_entry *e, struct error *err);
/* Its header alone, of a file with that many bytes: they are to follow, and then tar_padding() zeros. */
int tar_begin_file(struct buf *b, const struct tar_entry *e, uint64_t size, struct error *err);
size_t tar_padding(uint64_t size);
int tar_end(struct buf *b, struct error *err); /* two empty blocks */
