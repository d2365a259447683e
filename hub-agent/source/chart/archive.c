#include "hub-agent/source/chart/archive.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>

#include "common/base/gzip.h"

struct reading {
        struct arena *arena;
        const struct archive_limits *limits;
        struct archive *a;
        struct archive_entry *entry;
        const char *name; /* of that entry */
        uint64_t inflated;
        size_t n;
};

static void reader_free(struct archive **a)
{
        if (*a)
                archive_read_free(*a);
}

static int damaged(const struct reading *r, struct error *err)
{
        const char *why = archive_error_string(r->a);

        if (archive_errno(r->a) == ENOMEM)
                return error_no_memory(err);
        return error_set(err, ERR_INVALID, "the archive is damaged%s%s: %s", r->name ? " after " : "",
                         or_empty(r->name), why ? why : "nobody knows how");
}

static const char *kind_words(unsigned type)
{
        switch (type) {
        case AE_IFLNK:
                return "a symbolic link";
        case AE_IFCHR:
        case AE_IFBLK:
                return "a device";
        case AE_IFIFO:
                return "a named pipe";
        case AE_IFSOCK:
                return "a socket";
        default:
                return "of no known kind";
        }
}

/* ---- one entry ---- */

static int check_kind(const struct reading *r, struct error *err)
{
        unsigned type = archive_entry_filetype(r->entry);

        if (archive_entry_hardlink(r->entry))
                return error_set(err, ERR_INVALID, "the archive has \"%s\", which is a hard link", r->name);
        if (type != AE_IFREG && type != AE_IFDIR)
                return error_set(err, ERR_INVALID, "the archive has \"%s\", which is %s", r->name,
                                 kind_words(type));
        return 0;
}

static int check_size(struct reading *r, struct error *err)
{
        const struct archive_limits *l = r->limits;
        int64_t size = archive_entry_size_is_set(r->entry) ? archive_entry_size(r->entry) : 0;

        if (++r->n > l->entries)
                return error_set(err, ERR_LIMIT, "the archive has more than %zu entries", l->entries);
        if (size < 0)
                return error_set(err, ERR_INVALID, "the archive gives \"%s\" a negative size", r->name);
        if ((uint64_t)size > l->file)
                return error_set(err, ERR_LIMIT,
                                 "the archive has \"%s\" of %llu bytes, more than the maximum of %llu",
                                 r->name, (unsigned long long)size, (unsigned long long)l->file);
        if ((uint64_t)size > l->inflated - r->inflated)
                return error_set(err, ERR_LIMIT, "the archive unpacks to more than %llu bytes, at \"%s\"",
                                 (unsigned long long)l->inflated, r->name);
        r->inflated += (uint64_t)size;
        return 0;
}

static int read_data(const struct reading *r, uint64_t size, struct slice *ret, struct error *err)
{
        char *data = arena_alloc(r->arena, size + 1);
        uint64_t at = 0;

        if (!data)
                return error_no_memory(err);
        while (at < size) {
                la_ssize_t n = archive_read_data(r->a, data + at, size - at);

                if (n < 0)
                        return damaged(r, err);
                if (n == 0)
                        return error_set(err, ERR_INVALID, "the archive is cut off within \"%s\"", r->name);
                at += (uint64_t)n;
        }
        data[size] = 0;
        *ret = (struct slice){ data, size };
        return 0;
}

static int read_file(struct reading *r, struct archive_file *ret, struct error *err)
{
        uint64_t size = archive_entry_size_is_set(r->entry) ? (uint64_t)archive_entry_size(r->entry) : 0;

        *ret = (struct archive_file){ .name = r->name,
                                      .size = size,
                                      .executable = archive_entry_perm(r->entry) & 0100,
                                      .modified_s = archive_entry_mtime(r->entry) };
        return size <= r->limits->kept ? read_data(r, size, &ret->data, err) : 0;
}

/* *ret: there is one more. What is wrong with it in parts only is judged by what is there. */
static int next_entry(struct reading *r, bool *ret, struct error *err)
{
        int code = archive_read_next_header(r->a, &r->entry);
        const char *name;

        *ret = code == ARCHIVE_OK || code == ARCHIVE_WARN;
        if (code == ARCHIVE_EOF)
                return 0;
        if (!*ret)
                return damaged(r, err);
        name = archive_entry_pathname_utf8(r->entry);
        if (!name)
                name = archive_entry_pathname(r->entry);
        if (text_empty(name))
                return error_set(err, ERR_INVALID, "the archive has an entry without a name, behind \"%s\"",
                                 or_empty(r->name));
        r->name = arena_strdup(r->arena, name);
        return r->name ? 0 : error_no_memory(err);
}

/* ---- the whole ---- */

static int open_archive(struct reading *r, struct slice data, struct error *err)
{
        if (!gzip_begins(data))
                return error_set(err, ERR_INVALID, "no archive: it does not begin as gzip does");
        r->a = archive_read_new();
        if (!r->a)
                return error_no_memory(err);
        if (archive_read_support_filter_gzip(r->a) != ARCHIVE_OK ||
            archive_read_support_format_tar(r->a) != ARCHIVE_OK ||
            archive_read_open_memory(r->a, data.data, data.len) != ARCHIVE_OK)
                return damaged(r, err);
        return 0;
}

int archive_read_files(struct arena *arena, struct slice data, const struct archive_limits *limits,
                       int (*fn)(void *ctx, const struct archive_file *f, struct error *err), void *ctx,
                       struct error *err)
{
        CLEANUP(reader_free) struct archive *a = NULL;
        struct reading r = { .arena = arena, .limits = limits };
        bool any = true;
        int code = open_archive(&r, data, err);

        a = r.a;
        if (code < 0)
                return code;
        for (;;) {
                struct archive_file f;

                TRY(next_entry(&r, &any, err));
                if (!any)
                        return 0;
                TRY(check_kind(&r, err));
                TRY(check_size(&r, err));
                if (archive_entry_filetype(r.entry) == AE_IFDIR)
                        continue;
                TRY(read_file(&r, &f, err));
                TRY(fn(ctx, &f, err));
        }
}
