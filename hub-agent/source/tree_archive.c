#include "hub-agent/source/tree_archive.h"

#include "common/base/gzip.h"
#include "common/base/memory.h"
#include "hub-agent/source/chart/tar.h"

#define PACKED_BYTES (4u << 20) /* of one piece */
#define HEADERS_BYTES (1u << 20)
#define PIECE_BYTES (1u << 20)
#define FILE_MODE 0600
#define PROGRAM_MODE 0700
#define FOLDER_MODE 0750

struct tree_archive {
        const struct archive_sink *sink;
        struct gzip_packer *gzip;
        struct buf headers, packed;
        char *last;    /* path of the file before, NULL = there was none */
        uint64_t size; /* of the file that was begun */
        uint64_t left; /* of it */
};

struct tree_archive *tree_archive_new(const struct archive_sink *sink)
{
        struct tree_archive *a = NEW(struct tree_archive);

        if (!a)
                return NULL;
        a->sink = sink;
        buf_init(&a->headers, HEADERS_BYTES);
        buf_init(&a->packed, PACKED_BYTES);
        a->gzip = gzip_packer_new();
        return a->gzip ? a : tree_archive_free(a);
}

struct tree_archive *tree_archive_free(struct tree_archive *a)
{
        if (!a)
                return NULL;
        gzip_packer_free(a->gzip);
        buf_free(&a->headers);
        buf_free(&a->packed);
        mem_free(a->last);
        mem_free(a);
        return NULL;
}

static int put(struct tree_archive *a, struct slice data, bool last, struct error *err)
{
        buf_clear(&a->packed);
        TRY(gzip_packer_add(a->gzip, data, last, &a->packed, err));
        return a->packed.len > 0 ? a->sink->write(a->sink->ctx, a->packed.data, a->packed.len, err) : 0;
}

static int put_headers(struct tree_archive *a, bool last, struct error *err)
{
        struct slice all = { a->headers.data, a->headers.len };

        TRY(put(a, all, last, err));
        buf_clear(&a->headers);
        return 0;
}

/* ---- files ---- */

/* What the last file lacks of its last block. */
static int end_file(struct tree_archive *a, struct error *err)
{
        static const char zeros[512];

        if (a->left > 0)
                return error_set(err, ERR_INVALID, "%s: %llu bytes of it are missing", or_empty(a->last),
                                 (unsigned long long)a->left);
        buf_append(&a->headers, zeros, tar_padding(a->size));
        a->size = 0;
        return buf_status(&a->headers, err, "an archive");
}

/* Those of the path that the file before was not in. */
static int add_folders(struct tree_archive *a, const char *path, struct error *err)
{
        size_t common = 0;

        for (size_t i = 0; a->last && path[i] && path[i] == a->last[i]; i++)
                if (path[i] == '/')
                        common = i + 1;
        for (const char *slash = strchr(path + common, '/'); slash; slash = strchr(slash + 1, '/')) {
                AUTO_FREE char *folder = mem_strndup(path, (size_t)(slash - path));
                const struct tar_entry e = { .name = folder, .mode = FOLDER_MODE, .is_folder = true };

                if (!folder)
                        return error_no_memory(err);
                TRY(tar_append(&a->headers, &e, err));
        }
        return 0;
}

static int begin(struct tree_archive *a, const char *path, unsigned mode, uint64_t size, struct error *err)
{
        const struct tar_entry e = { .name = path, .mode = mode };
        char *name = mem_strdup(path);

        if (!name)
                return error_no_memory(err);
        int code = end_file(a, err);

        if (code == 0)
                code = add_folders(a, path, err);
        mem_free(a->last);
        a->last = name;
        TRY(code);
        TRY(tar_begin_file(&a->headers, &e, size, err));
        a->size = a->left = size;
        return put_headers(a, false, err);
}

int tree_archive_begin(struct tree_archive *a, const char *path, uint64_t size, struct error *err)
{
        return begin(a, path, FILE_MODE, size, err);
}

int tree_archive_begin_program(struct tree_archive *a, const char *path, uint64_t size, struct error *err)
{
        return begin(a, path, PROGRAM_MODE, size, err);
}

int tree_archive_add(struct tree_archive *a, struct slice data, struct error *err)
{
        if (data.len > a->left)
                return error_set(err, ERR_INVALID, "%s: it is longer than %llu bytes", or_empty(a->last),
                                 (unsigned long long)a->size);
        while (data.len > 0) {
                struct slice piece = { data.data, MIN(data.len, (size_t)PIECE_BYTES) };

                TRY(put(a, piece, false, err));
                data.data += piece.len;
                data.len -= piece.len;
                a->left -= piece.len;
        }
        return 0;
}

int tree_archive_end(struct tree_archive *a, struct error *err)
{
        TRY(end_file(a, err));
        TRY(tar_end(&a->headers, err));
        return put_headers(a, true, err);
}
