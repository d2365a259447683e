/* Files of a chart or a source, in memory: what others unpack to a folder. Pure. spec/helm-chart.md 6.2, 13.
 */
#pragma once

#include "common/base/arena.h"
#include "common/base/text.h"

struct set_file {
        const char *path;  /* relative, clean, with slashes */
        struct slice data; /* NUL-terminated; NULL: too large to be kept */
        uint64_t size;
        bool executable;
        int64_t modified_s;
};

/* Sorted by the bytes of their paths, each once. */
struct file_set {
        struct set_file *at;
        size_t n;
};

const struct set_file *file_set_find(const struct file_set *s, const char *path); /* NULL = not there */
/* Those below a folder ("" = all), a part of the same array; their paths stay as they are. */
struct file_set file_set_below(const struct file_set *s, const char *folder);
/* The same with paths relative to it: a new array. ERR_NO_MEMORY. */
int file_set_take(struct arena *arena, const struct file_set *s, const char *folder, struct file_set *ret);
/* In any order, with several of one path, of which the last counts; in place. ERR_NO_MEMORY. */
int file_set_sort(struct file_set *s);

#define FILE_SET_CHART_BYTES (100u << 20)   /* of a chart, unpacked */
#define FILE_SET_FILE_BYTES (5u << 20)      /* of one of its files */
#define FILE_SET_SOURCE_BYTES (1024u << 20) /* of a source, unpacked */
#define FILE_SET_KEPT_BYTES (128u << 20)    /* of what is kept of a source */
#define FILE_SET_ENTRIES 100000
#define FILE_SET_DEPTH 64

/* Of the archive of a chart: names lose their first element, files their byte order mark. `file_bytes`: the
 * most that one may have. ERR_INVALID with the texts of 6.2. */
int file_set_of_chart(struct arena *arena, struct slice archive, uint64_t file_bytes, struct file_set *ret,
                      struct error *err);
/* Of the artifact of a source: whoever made it, no name leads outside. Files beyond FILE_SET_FILE_BYTES are
 * told and not kept. */
int file_set_of_source(struct arena *arena, struct slice archive, struct file_set *ret, struct error *err);
