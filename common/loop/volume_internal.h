/* What the two kinds of volumes share. Nobody else includes this. */
#pragma once

#include "common/base/buf.h"
#include "common/base/memory.h"
#include "common/base/text.h"
#include "common/loop/volume.h"

struct volume_ops {
        int (*look)(struct volume *v, const char *path, struct volume_info *ret, struct error *err);
        int (*list)(struct volume *v, const char *path, char **ret_names, struct error *err);
        int (*open_file)(struct volume *v, const char *path, struct volume_reader **ret, struct error *err);
        int (*create)(struct volume *v, const char *path, struct volume_writer **ret, struct error *err);
        int (*link)(struct volume *v, const char *path, const char *target, struct error *err);
        int (*read_link)(struct volume *v, const char *path, char **ret, struct error *err);
        int (*remove)(struct volume *v, const char *path, struct error *err);
        /* NULL: what is below is listed and removed one by one. */
        int (*remove_all)(struct volume *v, const char *path, struct error *err);
        struct volume *(*close)(struct volume *v);
};

struct volume {
        const struct volume_ops *ops;
        struct loop *loop;
};

struct volume_reader_ops {
        int (*read)(struct volume_reader *r, uint64_t offset, void *ret, size_t n, size_t *ret_n,
                    struct error *err);
        void (*close)(struct volume_reader *r);
};

struct volume_reader {
        const struct volume_reader_ops *ops;
        uint64_t size;
};

struct volume_writer_ops {
        int (*append)(struct volume_writer *w, const void *data, size_t n, struct error *err);
        int (*written)(struct volume_writer *w, struct slice *ret, struct error *err);
        int (*read)(struct volume_writer *w, uint64_t offset, void *ret, size_t n, size_t *ret_n,
                    struct error *err);
        int (*commit)(struct volume_writer *w, struct error *err); /* the writer is freed behind it */
        void (*abandon)(struct volume_writer *w);                  /* frees it, too */
};

struct volume_writer {
        const struct volume_writer_ops *ops;
};

/* The words of an error number that an operation on a path met. */
int volume_refuse(struct error *err, int error_number, const char *verb, const char *path);
/* A temporary name for a file of that name; mem_free. NULL on no memory. */
char *volume_temporary_name(struct loop *l, const char *name);
