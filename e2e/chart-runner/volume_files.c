#include "e2e/chart-runner/volume_files.h"

#define DEFAULT_MODE 0644
#define TOKEN_SECONDS 3600

bool volume_has_files(const json_t *volume)
{
        return doc_get_object(volume, "secret") || doc_get_object(volume, "configMap") ||
               doc_get_object(volume, "projected") || doc_get_object(volume, "downwardAPI");
}

static bool path_is_safe(const char *path)
{
        return *path && *path != '/' && strncmp(path, "..", 2) != 0 && !strstr(path, "/..");
}

static int add_file(struct volume_files *f, struct arena *arena, const struct volume_file *file,
                    struct error *err)
{
        if (!path_is_safe(file->path))
                return error_set(err, ERR_INVALID, "path \"%s\" leads out of the volume", file->path);
        if (f->n == f->cap) {
                size_t cap = f->cap ? f->cap * 2 : 16;
                struct volume_file *more = ARENA_NEW_ARRAY(arena, struct volume_file, cap);

                if (!more)
                        return error_no_memory(err);
                if (f->n)
                        memcpy(more, f->at, f->n * sizeof(*more));
                f->at = more;
                f->cap = cap;
        }
        f->at[f->n++] = *file;
        return 0;
}

/* ---- Secrets and ConfigMaps ---- */

struct object_source {
        const char *kind, *name;
        const json_t *items;
        bool optional;
        int64_t mode;
};

static int add_key(const struct object_source *o, const struct volume_source *s, const char *key,
                   const char *path, int64_t mode, struct arena *arena, struct volume_files *f,
                   struct error *err)
{
        AUTO_JSON json_t *selector =
                json_pack("{s:s, s:s, s:b}", "name", o->name, "key", key, "optional", o->optional);
        struct volume_file file = { .path = path, .mode = mode };

        if (!selector)
                return error_no_memory(err);
        TRY(pod_key(s->lookup, o->kind, selector, arena, &file.data, &file.n, err));
        return file.data ? add_file(f, arena, &file, err) : 0;
}

static int add_object(const struct object_source *o, const struct volume_source *s, struct arena *arena,
                      struct volume_files *f, struct error *err)
{
        static const char *const parts[] = { "data", "binaryData" };
        const json_t *object = NULL;
        int code = s->lookup->get(s->lookup->ctx, o->kind, o->name, &object, err);
        const char *key;
        json_t *value;
        size_t i;

        if (code == ERR_NOT_FOUND && o->optional)
                return 0;
        TRY(code);
        json_array_foreach((json_t *)o->items, i, value) {
                const char *path = NULL;

                TRY(doc_need_string(value, "key", &key, err));
                TRY(doc_need_string(value, "path", &path, err));
                TRY(add_key(o, s, key, path, doc_get_int(value, "mode", o->mode), arena, f, err));
        }
        for (size_t k = 0; !o->items && k < ARRAY_LEN(parts); k++) {
                void *at;

                for (at = json_object_iter(doc_get_object(object, parts[k])); at;
                     at = json_object_iter_next(doc_get_object(object, parts[k]), at)) {
                        key = json_object_iter_key(at);
                        TRY(add_key(o, s, key, key, o->mode, arena, f, err));
                }
        }
        return 0;
}

/* `name_key`: Secrets are named by secretName in a volume and by name in a projection. */
static int add_source(const char *kind, const json_t *source, const char *name_key, int64_t mode,
                      const struct volume_source *s, struct arena *arena, struct volume_files *f,
                      struct error *err)
{
        const char *name = "";

        TRY(doc_want_string(source, name_key, &name, err));
        const struct object_source o = { .kind = kind,
                                         .name = name,
                                         .items = doc_get_array(source, "items"),
                                         .optional = doc_get_bool(source, "optional", false),
                                         .mode = mode };
        return add_object(&o, s, arena, f, err);
}

/* ---- downward API and tokens ---- */

static int add_downward(const json_t *pod, const json_t *source, int64_t mode, struct arena *arena,
                        struct volume_files *f, struct error *err)
{
        json_t *item;
        size_t i;

        json_array_foreach(doc_get_array(source, "items"), i, item) {
                const char *field = doc_get_string(item, "fieldRef.fieldPath");
                struct volume_file file = { .mode = doc_get_int(item, "mode", mode) };

                if (!field)
                        return error_set(err, ERR_UNSUPPORTED, "downwardAPI: only fieldRef");
                TRY(doc_need_string(item, "path", &file.path, err));
                TRY(pod_field(pod, field, arena, &file.data, err));
                file.n = strlen(file.data);
                TRY(add_file(f, arena, &file, err));
        }
        return 0;
}

/* A token is for its pod's user only, unless nothing is known of that user. */
static int add_token(const json_t *source, int64_t mode, const struct volume_source *s, struct arena *arena,
                     struct volume_files *f, struct error *err)
{
        const char *audience = doc_get_string(source, "audience");
        int64_t renew = INT64_MAX;
        struct volume_file file = { .mode = s->uid >= 0 || s->gid >= 0 ? 0600 : mode };

        TRY(doc_need_string(source, "path", &file.path, err));
        TRY(s->token(s->ctx, audience ? audience : "",
                     doc_get_int(source, "expirationSeconds", TOKEN_SECONDS), arena, &file.data, &renew,
                     err));
        f->renew_ms = MIN(f->renew_ms, renew);
        file.n = strlen(file.data);
        return add_file(f, arena, &file, err);
}

static int add_projected(const json_t *pod, const json_t *projected, const struct volume_source *s,
                         struct arena *arena, struct volume_files *f, struct error *err)
{
        int64_t mode = doc_get_int(projected, "defaultMode", DEFAULT_MODE);
        json_t *source;
        size_t i;

        json_array_foreach(doc_get_array(projected, "sources"), i, source) {
                const json_t *token = doc_get_object(source, "serviceAccountToken"),
                             *map = doc_get_object(source, "configMap"),
                             *secret = doc_get_object(source, "secret"),
                             *downward = doc_get_object(source, "downwardAPI");

                if (token)
                        TRY(add_token(token, mode, s, arena, f, err));
                else if (map)
                        TRY(add_source("ConfigMap", map, "name", mode, s, arena, f, err));
                else if (secret)
                        TRY(add_source("Secret", secret, "name", mode, s, arena, f, err));
                else if (downward)
                        TRY(add_downward(pod, downward, mode, arena, f, err));
                else
                        return error_set(err, ERR_UNSUPPORTED, "projected source %zu is of an unknown kind",
                                         i);
        }
        return 0;
}

int volume_files(const json_t *pod, const json_t *volume, const struct volume_source *s, struct arena *arena,
                 struct volume_files *ret, struct error *err)
{
        const json_t *secret = doc_get_object(volume, "secret"), *map = doc_get_object(volume, "configMap"),
                     *projected = doc_get_object(volume, "projected"),
                     *downward = doc_get_object(volume, "downwardAPI");

        *ret = (struct volume_files){ .renew_ms = INT64_MAX };
        if (secret)
                return add_source("Secret", secret, "secretName",
                                  doc_get_int(secret, "defaultMode", DEFAULT_MODE), s, arena, ret, err);
        if (map)
                return add_source("ConfigMap", map, "name", doc_get_int(map, "defaultMode", DEFAULT_MODE), s,
                                  arena, ret, err);
        if (projected)
                return add_projected(pod, projected, s, arena, ret, err);
        return add_downward(pod, downward, doc_get_int(downward, "defaultMode", DEFAULT_MODE), arena, ret,
                            err);
}
