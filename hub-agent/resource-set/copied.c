#include "hub-agent/resource-set/copied.h"

const char *copied_from(const json_t *doc)
{
        const char *const path[] = { "metadata", "annotations", ANNOTATION_FLUX_COPY_FROM };
        const char *kind = doc_get_string(doc, "kind");

        if (!text_equal(doc_get_string(doc, "apiVersion"), "v1") ||
            (!text_equal(kind, "ConfigMap") && !text_equal(kind, "Secret")))
                return NULL;
        return json_string_value(doc_get_keys(doc, path, 3));
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

int copied_fill(struct kube_client *kube, struct arena *arena, json_t *doc, const char *value,
                struct error *err)
{
        bool secret = text_equal(doc_get_string(doc, "kind"), "Secret");
        const struct kube_resource r = { "", "v1", secret ? "secrets" : "configmaps",
                                         secret ? "Secret" : "ConfigMap", true };
        const char *slash = strchr(value, '/');
        const char *ns = slash ? arena_strndup(arena, value, (size_t)(slash - value)) : NULL;
        json_t *source;

        if (!slash || !ns || !*ns || !slash[1] || strchr(slash + 1, '/'))
                return error_set(err, ERR_INVALID,
                                 "invalid " ANNOTATION_FLUX_COPY_FROM
                                 " annotation value '%s' must be in the format 'namespace/name'",
                                 value);
        TRY(kube_doc_get(kube, &r, ns, slash + 1, &source, err) < 0
                    ? error_wrap(err, "failed to copy data from %s/%s", r.kind, value)
                    : 0);
        TRY(doc_keep(arena, source, err));
        return (secret ? copy_secret(doc, source) : copy_config(doc, source)) < 0 ? error_no_memory(err) : 0;
}
