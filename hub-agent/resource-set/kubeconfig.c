/* Address and authority of a cluster from its kubeconfig: spec/resource-set.md 6.2. */
#include "hub-agent/resource-set/sources.h"

#define CLUSTER_SERVER "cluster.server"
#define CLUSTER_AUTHORITY "cluster.certificate-authority-data"

/* "ns/name", or "ns/name:key": a colon counts behind the slash only. */
static bool parse(struct arena *arena, const char *value, const char **ret_ns, const char **ret_name,
                  const char **ret_key)
{
        const char *slash = strchr(value, '/'), *colon = strrchr(value, ':');
        struct slice text = slice_of(value);

        *ret_key = NULL;
        if (slash && colon && colon > slash) {
                *ret_key = colon + 1;
                text.len = (size_t)(colon - value);
        }
        return (!*ret_key || **ret_key) && sources_parse(arena, text, ret_ns, ret_name);
}

static int find_text(struct arena *arena, const json_t *secret, const char *value, const char *key,
                     struct slice *ret, struct error *err)
{
        const json_t *data = json_object_get(secret, "data");
        const json_t *coded = json_object_get(data, key ? key : "kubeconfig");

        if (!coded && !key)
                coded = json_object_get(data, "value");
        if (!coded && key)
                return error_set(err, ERR_INVALID, "kubeconfig Secret/%s does not have '%s' field", value,
                                 key);
        if (!coded)
                return error_set(err, ERR_INVALID,
                                 "kubeconfig Secret/%s does not have 'kubeconfig' or 'value' field", value);
        return sources_value(arena, coded, true, ret, err);
}

static int check_cluster(const json_t *cluster, struct error *err)
{
        static const struct {
                const char *path, *words;
        } needed[] = { { CLUSTER_SERVER, "server" }, { CLUSTER_AUTHORITY, "certificate-authority-data" } };

        for (size_t i = 0; i < ARRAY_LEN(needed); i++)
                if (text_empty(doc_get_string(cluster, needed[i].path)))
                        return error_set(err, ERR_INVALID, "%s field is empty in kubeconfig cluster \"%s\"",
                                         needed[i].words, or_empty(doc_get_string(cluster, "name")));
        return 0;
}

/* The first cluster; all have to be whole. */
static int read_clusters(struct arena *arena, struct slice text, const json_t **ret, struct error *err)
{
        json_t *config, *clusters, *one;
        size_t i;

        if (yaml_parse(text, &config, err) < 0)
                return error_wrap(err, "failed to parse kubeconfig YAML");
        TRY(doc_keep(arena, config, err));
        clusters = doc_get_array(config, "clusters");
        if (json_array_size(clusters) == 0)
                return error_set(err, ERR_INVALID, "no clusters found in kubeconfig");
        json_array_foreach(clusters, i, one)
                TRY(check_cluster(one, err));
        *ret = json_array_get(clusters, 0);
        return 0;
}

/* What the template has of its own stays. */
static int fill(struct arena *arena, json_t *doc, const json_t *cluster, struct error *err)
{
        json_t *data = json_object_get(doc, "data");
        struct slice authority;

        TRY(sources_value(arena, doc_get(cluster, CLUSTER_AUTHORITY), true, &authority, err));
        if (!json_is_object(data)) {
                data = json_object();
                if (json_object_set_new(doc, "data", data) < 0)
                        return error_no_memory(err);
        }
        if (!json_object_get(data, "address") &&
            json_object_set(data, "address", doc_get(cluster, CLUSTER_SERVER)) < 0)
                return error_no_memory(err);
        if (!json_object_get(data, "ca.crt") &&
            json_object_set_new(data, "ca.crt", json_stringn(authority.data, authority.len)) < 0)
                return error_set(err, ERR_INVALID, "certificate-authority-data is no text");
        return 0;
}

const char *converted_from(const json_t *doc)
{
        return text_equal(doc_get_string(doc, "apiVersion"), "v1") &&
                               text_equal(doc_get_string(doc, "kind"), "ConfigMap")
                       ? annotation_of_doc(doc, ANNOTATION_FLUX_CONVERT)
                       : NULL;
}

int convert_kubeconfig(struct sources *s, json_t *doc, struct error *err)
{
        struct arena *arena = s->arena;
        const char *value = converted_from(doc), *ns, *name, *key;
        const json_t *cluster = NULL;
        struct slice text;
        json_t *secret;

        if (!value)
                return 0;
        if (!parse(arena, value, &ns, &name, &key))
                return error_set(err, ERR_INVALID,
                                 "invalid " ANNOTATION_FLUX_CONVERT
                                 " annotation value '%s' must be in the format 'namespace/name' or "
                                 "'namespace/name:key'",
                                 value);
        if (sources_read(s, true, ns, name, &secret, err) < 0)
                return error_wrap(err, "failed to get kubeconfig Secret/%s", value);
        TRY(find_text(arena, secret, value, key, &text, err));
        if (read_clusters(arena, text, &cluster, err) < 0 || fill(arena, doc, cluster, err) < 0)
                return error_wrap(err, "failed to extract fields from kubeconfig Secret/%s", value);
        return 0;
}
