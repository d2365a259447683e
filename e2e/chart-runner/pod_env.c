#include "e2e/chart-runner/pod_env.h"

#include "common/base/limits.h"

const char *env_get(const struct env_list *env, const char *name)
{
        for (size_t i = 0; i < env->n; i++)
                if (strcmp(env->at[i].name, name) == 0)
                        return env->at[i].value;
        return NULL;
}

int env_put(struct env_list *env, struct arena *arena, const char *name, const char *value)
{
        const struct env_pair pair = { arena_strdup(arena, name), arena_strdup(arena, value) };

        if (!pair.name || !pair.value)
                return ERR_NO_MEMORY;
        for (size_t i = 0; i < env->n; i++) {
                if (strcmp(env->at[i].name, name) != 0)
                        continue;
                env->at[i] = pair;
                return 0;
        }
        if (env->n == env->cap) {
                size_t cap = env->cap ? env->cap * 2 : 32;
                struct env_pair *more = ARENA_NEW_ARRAY(arena, struct env_pair, cap);

                if (!more)
                        return ERR_NO_MEMORY;
                if (env->n)
                        memcpy(more, env->at, env->n * sizeof(*more));
                env->at = more;
                env->cap = cap;
        }
        env->at[env->n++] = pair;
        return 0;
}

/* One "$..." at *at; appends what it stands for and moves behind it. */
static int expand_one(const struct env_list *env, const char **at, struct arena *arena, struct buf *out)
{
        const char *s = *at, *end = s[1] == '(' ? strchr(s, ')') : NULL;
        const char *name, *value;

        if (s[1] == '$') {
                *at = s + 2;
                return buf_append_char(out, '$');
        }
        if (!end) {
                *at = s + 1;
                return buf_append_char(out, '$');
        }
        name = arena_strndup(arena, s + 2, (size_t)(end - s - 2));
        if (!name)
                return ERR_NO_MEMORY;
        *at = end + 1;
        value = env_get(env, name);
        return value ? buf_append_str(out, value) : buf_append(out, s, (size_t)(end - s + 1));
}

int env_expand(const struct env_list *env, const char *text, struct arena *arena, const char **ret)
{
        AUTO_BUF struct buf out;

        buf_init(&out, LIMIT_REQUEST_BODY_BYTES);
        while (*text) {
                size_t plain = strcspn(text, "$");

                TRY(buf_append(&out, text, plain));
                text += plain;
                if (*text)
                        TRY(expand_one(env, &text, arena, &out));
        }
        *ret = arena_strndup(arena, out.data, out.len);
        return *ret ? 0 : ERR_NO_MEMORY;
}

/* ---- downward API ---- */

static int quoted_key(const json_t *pod, const char *map_name, const char *rest, struct arena *arena,
                      const char **ret, struct error *err)
{
        size_t n = strlen(rest);
        const char *key, *keys[] = { "metadata", map_name, NULL };

        if (n < 4 || strncmp(rest, "['", 2) != 0 || strcmp(rest + n - 2, "']") != 0)
                return error_set(err, ERR_INVALID, "fieldPath metadata.%s%s: must be ['key']", map_name,
                                 rest);
        keys[2] = key = arena_strndup(arena, rest + 2, n - 4);
        if (!key)
                return error_no_memory(err);
        *ret = json_string_value(doc_get_keys(pod, keys, 3));
        *ret = *ret ? *ret : "";
        return 0;
}

int pod_field(const json_t *pod, const char *field, struct arena *arena, const char **ret, struct error *err)
{
        static const char *const known[] = { "metadata.name", "metadata.namespace",      "metadata.uid",
                                             "spec.nodeName", "spec.serviceAccountName", "status.hostIP",
                                             "status.podIP" };

        if (text_starts_with(field, "metadata.labels"))
                return quoted_key(pod, "labels", field + strlen("metadata.labels"), arena, ret, err);
        if (text_starts_with(field, "metadata.annotations"))
                return quoted_key(pod, "annotations", field + strlen("metadata.annotations"), arena, ret,
                                  err);
        if (!text_in(field, known, ARRAY_LEN(known)))
                return error_set(err, ERR_UNSUPPORTED, "fieldPath %s is not supported", field);
        *ret = doc_get_string(pod, field);
        *ret = *ret ? *ret : "";
        return 0;
}

/* ---- keys of Secrets and ConfigMaps ---- */

static int decode(const char *text, struct arena *arena, const char **ret, size_t *ret_n, struct error *err)
{
        size_t cap = strlen(text) + 1;
        char *bytes = arena_alloc(arena, cap);

        if (!bytes)
                return error_no_memory(err);
        if (text_base64_decode(slice_of(text), bytes, cap - 1, ret_n, false) < 0)
                return error_set(err, ERR_INVALID, "data is not base64");
        bytes[*ret_n] = '\0';
        *ret = bytes;
        return 0;
}

static int value_of(const json_t *object, const char *kind, const char *key, struct arena *arena,
                    const char **ret, size_t *ret_n, struct error *err)
{
        const char *text = json_string_value(json_object_get(doc_get_object(object, "data"), key));
        const char *binary = json_string_value(json_object_get(doc_get_object(object, "binaryData"), key));

        *ret = NULL;
        *ret_n = 0;
        if (binary || (text && strcmp(kind, "Secret") == 0))
                return decode(binary ? binary : text, arena, ret, ret_n, err);
        if (!text)
                return 0;
        *ret = text;
        *ret_n = strlen(text);
        return 0;
}

int pod_key(const struct pod_lookup *l, const char *kind, const json_t *selector, struct arena *arena,
            const char **ret, size_t *ret_n, struct error *err)
{
        const char *name = "", *key = "";
        const json_t *object = NULL;
        bool optional = doc_get_bool(selector, "optional", false);
        int code;

        TRY(doc_want_string(selector, "name", &name, err));
        TRY(doc_want_string(selector, "key", &key, err));
        code = l->get(l->ctx, kind, name, &object, err);
        *ret = NULL;
        if (code == ERR_NOT_FOUND)
                return optional ? 0 : error_set(err, ERR_NOT_FOUND, "%s \"%s\" not found", kind, name);
        TRY(code);
        TRY(value_of(object, kind, key, arena, ret, ret_n, err));
        if (*ret || optional)
                return 0;
        return error_set(err, ERR_NOT_FOUND, "couldn't find key %s in %s \"%s\"", key, kind, name);
}

/* ---- environment ---- */

static int add_all(const struct pod_lookup *l, const char *kind, const json_t *source, const char *prefix,
                   struct arena *arena, struct env_list *env, struct error *err)
{
        const char *name = "", *key;
        const json_t *object = NULL;
        json_t *value;
        int code;

        TRY(doc_want_string(source, "name", &name, err));
        code = l->get(l->ctx, kind, name, &object, err);
        if (code == ERR_NOT_FOUND && doc_get_bool(source, "optional", false))
                return 0;
        TRY(code);
        json_object_foreach(doc_get_object(object, "data"), key, value) {
                const char *text = NULL;
                size_t n = 0;

                TRY(value_of(object, kind, key, arena, &text, &n, err));
                TRY(env_put(env, arena, arena_printf(arena, "%s%s", prefix ? prefix : "", key), text));
        }
        return 0;
}

static int value_from(const json_t *pod, const json_t *from, const struct pod_lookup *l, struct arena *arena,
                      const char **ret, struct error *err)
{
        const char *field = doc_get_string(from, "fieldRef.fieldPath");
        size_t n = 0;

        if (field)
                return pod_field(pod, field, arena, ret, err);
        if (doc_get_object(from, "secretKeyRef"))
                return pod_key(l, "Secret", doc_get_object(from, "secretKeyRef"), arena, ret, &n, err);
        if (doc_get_object(from, "configMapKeyRef"))
                return pod_key(l, "ConfigMap", doc_get_object(from, "configMapKeyRef"), arena, ret, &n, err);
        return error_set(err, ERR_UNSUPPORTED, "valueFrom: only fieldRef, secretKeyRef and configMapKeyRef");
}

static int add_variable(const json_t *pod, const json_t *variable, const struct pod_lookup *l,
                        struct arena *arena, struct env_list *env, struct error *err)
{
        const char *name = NULL, *value = "";
        const json_t *from = doc_get_object(variable, "valueFrom");

        TRY(doc_need_string(variable, "name", &name, err));
        TRY(doc_want_string(variable, "value", &value, err));
        if (from) {
                int code = value_from(pod, from, l, arena, &value, err);

                if (code < 0)
                        return error_wrap(err, "env %s", name);
                return value ? env_put(env, arena, name, value) : 0;
        }
        TRY(env_expand(env, value, arena, &value));
        return env_put(env, arena, name, value);
}

int pod_env(const json_t *pod, const json_t *container, const struct pod_lookup *l, struct arena *arena,
            struct env_list *env, struct error *err)
{
        json_t *item;
        size_t i;

        json_array_foreach(doc_get_array(container, "envFrom"), i, item) {
                const char *prefix = doc_get_string(item, "prefix");

                if (doc_get_object(item, "configMapRef"))
                        TRY(add_all(l, "ConfigMap", doc_get_object(item, "configMapRef"), prefix, arena, env,
                                    err));
                if (doc_get_object(item, "secretRef"))
                        TRY(add_all(l, "Secret", doc_get_object(item, "secretRef"), prefix, arena, env, err));
        }
        json_array_foreach(doc_get_array(container, "env"), i, item)
                TRY(add_variable(pod, item, l, arena, env, err));
        return 0;
}

/* ---- words ---- */

int pod_words(const json_t *container, const char *entrypoint, const struct env_list *env,
              struct arena *arena, const char *const **ret, struct error *err)
{
        const json_t *lists[] = { doc_get_array(container, "command"), doc_get_array(container, "args") };
        size_t most = json_array_size(lists[0]) + json_array_size(lists[1]) + 2, n = 0, i;
        const char **words = ARENA_NEW_ARRAY(arena, const char *, most);
        json_t *word;

        if (!words)
                return error_no_memory(err);
        if (json_array_size(lists[0]) == 0)
                words[n++] = entrypoint;
        for (size_t k = 0; k < ARRAY_LEN(lists); k++) {
                json_array_foreach(lists[k], i, word) {
                        if (!json_is_string(word))
                                return error_set(err, ERR_INVALID, "command and args: must be strings");
                        TRY(env_expand(env, json_string_value(word), arena, &words[n++]));
                }
        }
        *ret = (const char *const *)words;
        return 0;
}
