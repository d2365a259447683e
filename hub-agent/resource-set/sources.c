#include "hub-agent/resource-set/sources.h"

const char *annotation_of_doc(const json_t *doc, const char *key)
{
        const char *const path[] = { "metadata", "annotations", key };

        return json_string_value(doc_get_keys(doc, path, 3));
}

bool sources_parse(struct arena *arena, struct slice text, const char **ret_ns, const char **ret_name)
{
        const char *slash = memchr(text.data, '/', text.len);
        size_t n = slash ? (size_t)(slash - text.data) : 0, rest = text.len - n - 1;

        if (n == 0 || rest == 0 || memchr(slash + 1, '/', rest))
                return false;
        *ret_ns = arena_strndup(arena, text.data, n);
        *ret_name = arena_strndup(arena, slash + 1, rest);
        return *ret_ns && *ret_name;
}

int sources_value(struct arena *arena, const json_t *value, bool encoded, struct slice *ret,
                  struct error *err)
{
        struct slice text = { json_string_value(value), json_string_length(value) };
        char *bytes;

        *ret = text;
        if (!text.data || !encoded)
                return 0;
        bytes = arena_alloc(arena, text.len + 1);
        if (!bytes)
                return error_no_memory(err);
        ret->data = bytes;
        if (text_base64_decode(text, bytes, text.len + 1, &ret->len, false) < 0)
                return error_set(err, ERR_INVALID, "illegal base64 data");
        return 0;
}

int sources_read(struct sources *s, bool secret, const char *ns, const char *name, json_t **ret,
                 struct error *err)
{
        const struct kube_resource r = { "", "v1", secret ? "secrets" : "configmaps",
                                         secret ? "Secret" : "ConfigMap", true };

        buf_printf(&s->names, " %s/%s/%s ", r.kind, ns, name);
        if (s->stopped)
                return error_set(err, ERR_RETRY, "not read");
        TRY(kube_doc_get(s->kube, &r, ns, name, ret, err));
        return doc_keep(s->arena, *ret, err);
}

/* ---- copyFrom: 6.1 ---- */

const char *copied_from(const json_t *doc)
{
        const char *kind = doc_get_string(doc, "kind");

        if (!text_equal(doc_get_string(doc, "apiVersion"), "v1") ||
            (!text_equal(kind, "ConfigMap") && !text_equal(kind, "Secret")))
                return NULL;
        return annotation_of_doc(doc, ANNOTATION_FLUX_COPY_FROM);
}

static int set_or_remove(json_t *doc, const char *key, json_t *value)
{
        if (value)
                return json_object_set(doc, key, value);
        return json_object_set_new(doc, key, json_object());
}

static int copy_config(json_t *doc, const json_t *source)
{
        json_t *binary = json_object_get(source, "binaryData");

        if (set_or_remove(doc, "data", json_object_get(source, "data")) < 0)
                return ERR_NO_MEMORY;
        return binary ? json_object_set(doc, "binaryData", binary) : 0;
}

/* The template's own keys stay, those of the source win. Values go as they are, byte for byte. */
static int copy_secret(json_t *doc, const json_t *source)
{
        json_t *data = json_object_get(doc, "data"), *from = json_object_get(source, "data"), *value;
        const char *type = doc_get_string(source, "type"), *key;

        if (!json_is_object(data)) {
                data = json_object();
                if (json_object_set_new(doc, "data", data) < 0)
                        return ERR_NO_MEMORY;
        }
        json_object_foreach(from, key, value)
                if (json_object_set(data, key, value) < 0)
                        return ERR_NO_MEMORY;
        if (!text_empty(doc_get_string(doc, "type")))
                return 0;
        return json_object_set_new(doc, "type", json_string(text_empty(type) ? "Opaque" : type));
}

static int copy_one(struct sources *s, json_t *doc, struct error *err)
{
        bool secret = text_equal(doc_get_string(doc, "kind"), "Secret");
        const char *value = copied_from(doc), *ns, *name;
        json_t *source;

        if (!value)
                return 0;
        if (!sources_parse(s->arena, slice_of(value), &ns, &name))
                return error_set(err, ERR_INVALID,
                                 "invalid " ANNOTATION_FLUX_COPY_FROM
                                 " annotation value '%s' must be in the format 'namespace/name'",
                                 value);
        if (sources_read(s, secret, ns, name, &source, err) < 0)
                return error_wrap(err, "failed to copy data from %s/%s", secret ? "Secret" : "ConfigMap",
                                  value);
        return (secret ? copy_secret(doc, source) : copy_config(doc, source)) < 0 ? error_no_memory(err) : 0;
}

/* ---- all ---- */

/* The first failure counts; of what follows only the names are noted. */
static void take(struct sources *s, int (*fn)(struct sources *, json_t *, struct error *), json_t *doc,
                 struct error *err)
{
        struct error own = { 0 };

        if (fn(s, doc, &own) < 0 && !s->stopped) {
                s->stopped = true;
                *err = own;
        }
}

static int add_all_checksums(struct sources *s, json_t *unused, struct error *err)
{
        return add_checksums(s, err);
}

int sources_fill(struct sources *s, struct error *err)
{
        struct error own = { 0 };

        for (size_t i = 0; i < s->build->n; i++) {
                take(s, copy_one, s->build->at[i].doc, &own);
                take(s, convert_kubeconfig, s->build->at[i].doc, &own);
        }
        take(s, add_all_checksums, NULL, &own);
        if (s->stopped) {
                *err = own;
                return own.code;
        }
        return 0;
}

int sources_words(struct arena *arena, const json_t *doc, const char **ret, struct error *err)
{
        const char *data = copied_from(doc), *address = converted_from(doc), *sum = checksum_from(doc);

        *ret = NULL;
        if (!data && !address && !sum)
                return 0;
        if (data)
                *ret = arena_printf(arena, "the data of %s %s", doc_get_string(doc, "kind"), data);
        else if (address)
                *ret = arena_printf(arena, "the address in Secret %s", address);
        else
                *ret = arena_printf(arena, "the checksum of %s", sum);
        return *ret ? 0 : error_no_memory(err);
}
