#include "kubectl-fleet/bundle_file.h"

#include <errno.h>

#include "common/base/gzip.h"
#include "common/base/memory.h"
#include "common/loop/volume.h"
#include "hub-agent/source/chart/tar.h"

#define HEADER_MAX 4096
#define PACKED_PIECE_MAX (1u << 20) /* what packs into one piece is written before the next */
#define PIECE 65536

struct bundle_file {
        struct session *session;
        struct gzip_packer *packer;
        struct volume *volume;        /* NULL: standard output */
        struct volume_writer *writer; /* of it */
        int64_t made_s;
        uint64_t size;
};

static void split_path(const char *path, struct arena *arena, const char **ret_folder, const char **ret_name)
{
        const char *slash = strrchr(path, '/');

        *ret_name = slash ? slash + 1 : path;
        *ret_folder = !slash ? "." : slash == path ? "/" : arena_strndup(arena, path, (size_t)(slash - path));
}

static int open_volume(struct bundle_file *f, const char *path, struct error *err)
{
        const char *folder, *name;
        struct volume_info info;
        struct error none = { 0 };

        split_path(path, f->session->arena, &folder, &name);
        if (!folder)
                return error_no_memory(err);
        if (text_empty(name))
                return error_set(err, ERR_INVALID, "--output: \"%s\" names a folder", path);
        if (volume_open(f->session->world, folder, &f->volume, err) < 0)
                return error_wrap(err, "--output: %s", path);
        if (volume_look(f->volume, name, &info, &none) == 0)
                return error_set(err, ERR_EXISTS, "--output: %s is there already, and is not written over",
                                 path);
        if (volume_create(f->volume, name, &f->writer, err) < 0)
                return error_wrap(err, "--output: %s cannot be written", path);
        return 0;
}

int bundle_file_open(struct session *s, const char *path, struct bundle_file **ret, struct error *err)
{
        struct bundle_file *f = NEW(struct bundle_file);
        int code;

        if (!f || !(f->packer = gzip_packer_new())) {
                mem_free(f);
                return error_no_memory(err);
        }
        f->session = s;
        f->made_s = loop_wall_ms(s->world->loop) / 1000;
        code = text_equal(path, "-") ? 0 : open_volume(f, path, err);
        if (code < 0) {
                bundle_file_abandon(f);
                return code;
        }
        *ret = f;
        return 0;
}

/* What could not be written fails at once: the rest would be no archive. */
static int write_packed(struct bundle_file *f, const struct buf *b, struct error *err)
{
        const struct terminal *terminal = f->session->terminal;

        TRY(buf_status(b, err, "the bundle"));
        f->size += b->len;
        if (f->writer)
                return volume_append(f->writer, b->data, b->len, err);
        if (b->len && !terminal->write(terminal->ctx, false, b->data, b->len))
                return error_errno(err, errno, "standard output");
        return 0;
}

static int pack(struct bundle_file *f, struct slice data, bool last, struct error *err)
{
        do {
                AUTO_BUF struct buf b;
                struct slice piece = { data.data, MIN(data.len, (size_t)PIECE) };

                buf_init(&b, PACKED_PIECE_MAX);
                data = (struct slice){ data.data + piece.len, data.len - piece.len };
                TRY(gzip_packer_add(f->packer, piece, last && data.len == 0, &b, err));
                TRY(write_packed(f, &b, err));
        } while (data.len);
        return 0;
}

static int pack_buf(struct bundle_file *f, const struct buf *b, bool last, struct error *err)
{
        return pack(f, (struct slice){ b->data, b->len }, last, err);
}

int bundle_file_put(struct bundle_file *f, const char *name, struct slice data, struct error *err)
{
        static const char zeros[512];
        const struct tar_entry e = { .name = name, .mode = 0644, .modified_s = f->made_s };
        AUTO_BUF struct buf header;

        buf_init(&header, HEADER_MAX);
        TRY(tar_begin_file(&header, &e, data.len, err));
        TRY(pack_buf(f, &header, false, err));
        if (data.len)
                TRY(pack(f, data, false, err));
        return pack(f, (struct slice){ zeros, tar_padding(data.len) }, false, err);
}

int bundle_file_finish(struct bundle_file *f, uint64_t *ret_size, struct error *err)
{
        AUTO_BUF struct buf end;
        int code;

        buf_init(&end, HEADER_MAX);
        code = tar_end(&end, err);
        code = code < 0 ? code : pack_buf(f, &end, true, err);
        if (code == 0 && f->writer)
                code = volume_commit(TAKE_PTR(f->writer), err);
        *ret_size = f->size;
        bundle_file_abandon(f);
        return code;
}

struct bundle_file *bundle_file_abandon(struct bundle_file *f)
{
        if (!f)
                return NULL;
        volume_abandon(f->writer);
        volume_close(f->volume);
        gzip_packer_free(f->packer);
        mem_free(f);
        return NULL;
}
