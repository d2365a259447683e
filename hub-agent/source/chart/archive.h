/* Archives as they come from others: tar in gzip, read from memory, on libarchive. Nothing is unpacked to a
 * disk, so no path leads anywhere. Pure, so it may run offloaded. spec/helm-chart.md 6.2, 13. */
#pragma once

#include "common/base/arena.h"
#include "common/base/text.h"

struct archive_file {
        const char *name;  /* as it stands there: judged by the caller */
        struct slice data; /* NUL-terminated; NULL: it is larger than archive_limits.kept */
        uint64_t size;
        bool executable;
        int64_t modified_s; /* since 1970 */
};

struct archive_limits {
        uint64_t inflated; /* of all files together */
        uint64_t file;     /* of one: beyond it the archive is refused */
        uint64_t kept;     /* of one: beyond it only its name and size are told; at most `file` */
        size_t entries;    /* folders and files */
};

/* Calls fn for each regular file, in the order of the archive; folders are passed over, and the first error
 * of fn is returned. Texts and data are in the arena. Limits hold before memory is taken, for what the
 * archive says of sizes and for what it unpacks to. ERR_INVALID: it is damaged or cut off, not gzip and tar,
 * or has a link, a device or the like; ERR_LIMIT: more than `limits` allow; both name the entry. */
int archive_read_files(struct arena *arena, struct slice data, const struct archive_limits *limits,
                       int (*fn)(void *ctx, const struct archive_file *f, struct error *err), void *ctx,
                       struct error *err);
