#include "hub-agent/source/store/store.h"

#include <ctype.h>
#include <stdio.h>

#include "common/base/vec.h"

#define READ_BYTES (256u << 10) /* at a time, for digests */
#define COLLECT_MS 5000

void artifact_store_init(struct artifact_store *s, struct world *w)
{
        *s = (struct artifact_store){ .world = w, .retention = { 60000, 2 } };
        map_init(&s->verified, MAP_OWN_KEYS, mem_free);
}

void artifact_store_free(struct artifact_store *s)
{
        map_free(&s->verified);
}

const char *artifact_path(struct arena *arena, const struct object *o, const char *file)
{
        char *kind = arena_strdup(arena, o->kind->kind);

        for (char *c = kind; c && *c; c++)
                *c = (char)tolower((unsigned char)*c);
        return kind ? arena_printf(arena, "%s/%s/%s%s%s", kind, o->meta.ns, o->meta.name, file ? "/" : "",
                                   or_empty(file))
                    : NULL;
}

const char *artifact_url(const struct artifact_store *s, struct arena *arena, const char *path)
{
        return arena_printf(arena, "%s/%s", s->address, path);
}

/* ---- what is known of files ---- */

struct verified {
        uint64_t stamp;
        char digest[ARTIFACT_DIGEST_SIZE];
};

const char *artifact_known_digest(const struct artifact_store *s, const char *path, uint64_t stamp)
{
        const struct verified *v = map_get(&s->verified, path);

        return v && v->stamp == stamp ? v->digest : NULL;
}

/* What is not remembered is read once more. */
static void remember(struct artifact_store *s, const char *path, uint64_t stamp, const char *digest)
{
        struct verified *v = NEW(struct verified);

        if (!v)
                return;
        v->stamp = stamp;
        (void)snprintf(v->digest, sizeof(v->digest), "%s", digest);
        if (map_put(&s->verified, path, v) < 0)
                mem_free(v);
}

/* ---- writing ---- */

int artifact_begin(struct artifact_store *s, const char *path, struct artifact_writer *ret, struct error *err)
{
        struct artifact_writer w = { .store = s, .path = path, .hash = artifact_hash_new(s->digest) };

        if (!w.hash)
                return error_no_memory(err);
        int code = volume_create(s->volume, path, &w.file, err);

        if (code < 0) {
                artifact_hash_free(w.hash);
                return code;
        }
        *ret = w;
        return 0;
}

int artifact_append(struct artifact_writer *w, const void *data, size_t n, struct error *err)
{
        artifact_hash_add(w->hash, data, n);
        w->size += n;
        return volume_append(w->file, data, n, err);
}

void artifact_abandon(struct artifact_writer *w)
{
        w->file = volume_abandon(w->file);
        w->hash = artifact_hash_free(w->hash);
}

int artifact_finish(struct artifact_writer *w, struct arena *arena, struct source_artifact *ret,
                    struct error *err)
{
        struct artifact_store *s = w->store;
        char digest[ARTIFACT_DIGEST_SIZE];
        int code = artifact_hash_text(w->hash, digest);

        if (code == 0) {
                *ret = (struct source_artifact){
                        .digest = arena_strdup(arena, digest),
                        .path = arena_strdup(arena, w->path),
                        .url = artifact_url(s, arena, w->path),
                        .size = OPT_INT((int64_t)w->size),
                };
                code = ret->digest && ret->path && ret->url ? 0 : ERR_NO_MEMORY;
        }
        if (code < 0) {
                artifact_abandon(w);
                return error_no_memory(err);
        }
        w->hash = artifact_hash_free(w->hash);
        map_remove(&s->verified, w->path);
        code = volume_commit(w->file, err);
        w->file = NULL;
        ret->last_update_time = loop_wall_ms(s->world->loop);
        struct volume_info info;

        if (code == 0 && volume_look(s->volume, w->path, &info, NULL) == 0)
                remember(s, w->path, info.stamp, digest);
        return code;
}

int artifact_link(struct artifact_store *s, struct arena *arena, const char *path, const char *name,
                  struct error *err)
{
        const char *slash = strrchr(path, '/');
        const char *link = arena_printf(arena, "%.*s/%s", (int)(slash - path), path, name);

        return link ? volume_link(s->volume, link, slash + 1, err) : error_no_memory(err);
}

/* ---- checking ---- */

struct reading {
        struct volume_reader *file;
        struct artifact_hash *hash;
        int code;
        struct error err;
};

static void read_all(void *ctx)
{
        struct reading *r = ctx;
        AUTO_FREE char *piece = mem_alloc(READ_BYTES);
        uint64_t at = 0;
        size_t n = 0;

        if (!piece) {
                r->code = error_no_memory(&r->err);
                return;
        }
        do {
                r->code = volume_read(r->file, at, piece, READ_BYTES, &n, &r->err);
                if (r->code < 0)
                        return;
                artifact_hash_add(r->hash, piece, n);
                at += n;
        } while (n == READ_BYTES);
}

static int digest_of_file(struct artifact_store *s, const char *path, enum artifact_digest which,
                          char ret[ARTIFACT_DIGEST_SIZE], struct error *err)
{
        CLEANUP(volume_reader_cleanup) struct volume_reader *file = NULL;
        CLEANUP(artifact_hash_cleanup) struct artifact_hash *hash = artifact_hash_new(which);

        if (!hash)
                return error_no_memory(err);
        TRY(volume_open_file(s->volume, path, &file, err));
        struct reading r = { .file = file, .hash = hash };

        TRY(offload(s->world->loop, read_all, &r, err));
        if (r.code < 0) {
                if (err)
                        *err = r.err;
                return r.code;
        }
        return artifact_hash_text(hash, ret) < 0 ? error_no_memory(err) : 0;
}

static int altered(struct artifact_store *s, const char *path, enum artifact_state *ret, struct error *err)
{
        struct error why = { 0 };
        int code = volume_remove(s->volume, path, &why);

        map_remove(&s->verified, path);
        if (code < 0 && code != ERR_NOT_FOUND) {
                *err = why;
                return code;
        }
        *ret = ARTIFACT_ALTERED;
        return 0;
}

int artifact_check(struct artifact_store *s, const struct source_artifact *a, enum artifact_state *ret,
                   struct error *err)
{
        char digest[ARTIFACT_DIGEST_SIZE];
        enum artifact_digest which;
        struct volume_info info;
        struct error why = { 0 };
        int code = volume_look(s->volume, a->path, &info, &why);

        *ret = ARTIFACT_MISSING;
        if (code == ERR_NOT_FOUND || (code == 0 && info.kind != VOLUME_FILE))
                return 0;
        if (code < 0) {
                *err = why;
                return code;
        }
        *ret = ARTIFACT_GOOD;
        if (text_equal(artifact_known_digest(s, a->path, info.stamp), a->digest) && a->digest)
                return 0;
        if (!artifact_digest_of(or_empty(a->digest), &which)) {
                error_set(err, ERR_INVALID, "the digest '%s' is of no kind that is known",
                          or_empty(a->digest));
                return altered(s, a->path, ret, err);
        }
        TRY(digest_of_file(s, a->path, which, digest, err));
        if (!text_equal(digest, a->digest)) {
                error_set(err, ERR_INVALID, "computed digest '%s' doesn't match '%s'", digest, a->digest);
                return altered(s, a->path, ret, err);
        }
        remember(s, a->path, info.stamp, digest);
        return 0;
}

/* ---- collecting ---- */

struct collection {
        struct artifact_store *store;
        struct arena *arena;
        const char *folder, *current;
        VEC(struct kept_file) files;
};

static void collection_free(struct collection *c)
{
        vec_free(&c->files);
}

static int add_file(void *ctx, const char *name, struct error *err)
{
        struct collection *c = ctx;
        const char *path = arena_printf(c->arena, "%s/%s", c->folder, name);
        struct volume_info info;

        if (!path)
                return error_no_memory(err);
        if (text_equal(path, c->current) || text_ends_with(name, ".lock") ||
            text_starts_with(name, VOLUME_TEMPORARY))
                return 0;
        int code = volume_look(c->store->volume, path, &info, err);

        if (code == ERR_NOT_FOUND || (code == 0 && info.kind != VOLUME_FILE))
                return 0;
        TRY(code);
        return vec_push(&c->files, ((struct kept_file){ path, info.changed_ms, false })) < 0
                       ? error_no_memory(err)
                       : 0;
}

int artifact_collect(struct artifact_store *s, const struct object *o, const char *current,
                     struct arena *arena, size_t *ret_n, struct error *err)
{
        CLEANUP(collection_free)
        struct collection c = { s, arena, artifact_path(arena, o, NULL), current, VEC_INIT };
        struct loop *l = s->world->loop;
        int64_t began_ms = loop_now_ms(l);
        size_t n_go;

        *ret_n = 0;
        if (!c.folder)
                return error_no_memory(err);
        int code = volume_each(s->volume, c.folder, add_file, &c, err);

        if (code == ERR_NOT_FOUND)
                error_clear(err);
        else
                TRY(code);
        retention_plan(&s->retention, c.files.at, c.files.n, loop_wall_ms(l), &n_go);
        vec_for_each(&c.files, f) {
                if (!f->goes || loop_now_ms(l) - began_ms > COLLECT_MS)
                        continue;
                TRY(volume_remove(s->volume, f->name, err));
                map_remove(&s->verified, f->name);
                ++*ret_n;
        }
        return 0;
}

static void forget_below(struct artifact_store *s, const char *folder)
{
        size_t n = strlen(folder);

        map_for_each(&s->verified, e)
                if (strncmp(e->key, folder, n) == 0 && e->key[n] == '/')
                        map_remove(&s->verified, e->key);
}

int artifact_remove_all(struct artifact_store *s, const struct object *o, struct arena *arena,
                        struct error *err)
{
        const char *folder = artifact_path(arena, o, NULL);

        if (!folder)
                return error_no_memory(err);
        TRY(volume_remove_all(s->volume, folder, err));
        forget_below(s, folder);
        char *of_namespace = arena_strndup(arena, folder, (size_t)(strrchr(folder, '/') - folder));

        if (!of_namespace)
                return error_no_memory(err);
        (void)volume_remove(s->volume, of_namespace, NULL); /* not while another object has files in it */
        return 0;
}
