#include "hub-agent/resource-set/live.h"

#include "common/json/apply.h"
#include "common/json/patch.h"

static bool differ(const json_t *a, const json_t *b, const char *path)
{
        const json_t *x = doc_get(a, path), *y = doc_get(b, path);

        if (json_object_size(x) == 0 && json_object_size(y) == 0)
                return false;
        return !x || !y || !doc_equal(x, y);
}

bool live_differs(const json_t *live, const json_t *dry)
{
        static const char *const apart[] = { "metadata", "status" };

        return differ(live, dry, "metadata.labels") || differ(live, dry, "metadata.annotations") ||
               !doc_equal_apart_from(live, dry, apart, ARRAY_LEN(apart));
}

/* ---- cleaning ---- */

static void remove_keys(json_t *doc, const char *path, const char *const *keys, size_t n)
{
        json_t *map = doc_get_object(doc, path);

        for (size_t i = 0; i < n; i++)
                json_object_del(map, keys[i]);
}

static bool is_taken_over(const json_t *entry, const char *const *managers, size_t n)
{
        static const struct {
                const char *name, *operation; /* NULL = whatever it is */
                bool prefix;
        } known[] = { { "kustomize-controller", "Apply", false },
                      { "helm", "Update", false },
                      { "kubectl", NULL, true },
                      { "before-first-apply", "Update", true } };
        const char *name = or_empty(doc_get_string(entry, "manager"));
        const char *operation = or_empty(doc_get_string(entry, "operation"));

        if (!text_empty(doc_get_string(entry, "subresource")))
                return false;
        for (size_t i = 0; i < ARRAY_LEN(known); i++)
                if ((known[i].prefix ? text_starts_with(name, known[i].name)
                                     : text_equal(name, known[i].name)) &&
                    (!known[i].operation || text_equal(operation, known[i].operation)))
                        return true;
        return text_in(name, managers, n);
}

static bool is_ours(const json_t *entry)
{
        return text_equal(doc_get_string(entry, "manager"), FLUX_MANAGER) &&
               text_equal(doc_get_string(entry, "operation"), "Apply") &&
               text_empty(doc_get_string(entry, "subresource"));
}

static int merge(json_t *into, const json_t *from)
{
        const json_t *a = json_object_get(into, "fieldsV1"), *b = json_object_get(from, "fieldsV1");

        if (!a || !b)
                return 0;
        return json_object_set_new(into, "fieldsV1", fieldset_union(a, b)) < 0 ? ERR_NO_MEMORY : 0;
}

static json_t *find_ours(json_t *entries)
{
        size_t i;
        json_t *entry;

        json_array_foreach(entries, i, entry)
                if (is_ours(entry))
                        return entry;
        return NULL;
}

/* The first one becomes ours where we have none. */
static int take_over(json_t *entries, const char *const *managers, size_t n)
{
        json_t *ours = find_ours(entries);

        for (size_t i = 0; i < json_array_size(entries);) {
                json_t *entry = json_array_get(entries, i);

                if (entry == ours || !is_taken_over(entry, managers, n)) {
                        i++;
                } else if (!ours) {
                        ours = entry;
                        if (json_object_set_new(entry, "manager", json_string(FLUX_MANAGER)) < 0 ||
                            json_object_set_new(entry, "operation", json_string("Apply")) < 0)
                                return ERR_NO_MEMORY;
                } else if (merge(ours, entry) < 0 || json_array_remove(entries, i) < 0) {
                        return ERR_NO_MEMORY;
                }
        }
        return 0;
}

int live_cleaning(const json_t *live, const char *const *managers, size_t n, json_t **ret, struct error *err)
{
        static const char *const annotations[] = { "kubectl.kubernetes.io/last-applied-configuration",
                                                   "meta.helm.sh/release-name",
                                                   "meta.helm.sh/release-namespace" };
        static const char *const labels[] = { "kustomize.toolkit.fluxcd.io/name",
                                              "kustomize.toolkit.fluxcd.io/namespace" };
        AUTO_JSON json_t *clean = doc_copy(live);
        AUTO_JSON json_t *steps = NULL;
        json_t *bound;

        *ret = NULL;
        if (!clean)
                return error_no_memory(err);
        remove_keys(clean, "metadata.annotations", annotations, ARRAY_LEN(annotations));
        remove_keys(clean, "metadata.labels", labels, ARRAY_LEN(labels));
        if (take_over(doc_get_array(clean, "metadata.managedFields"), managers, n) < 0)
                return error_no_memory(err);
        TRY(patch_json_diff(live, clean, &steps, err));
        if (json_array_size(steps) == 0)
                return 0;
        bound = json_pack("{s:s,s:s,s:s}", "op", "test", "path", "/metadata/resourceVersion", "value",
                          or_empty(doc_get_string(live, "metadata.resourceVersion")));
        if (!bound || json_array_insert_new(steps, 0, bound) < 0)
                return error_no_memory(err);
        *ret = json_incref(steps);
        return 0;
}

/* ---- force ---- */

static bool is_precious(const json_t *doc)
{
        static const char *const kinds[] = { "Namespace", "CustomResourceDefinition",
                                             "PersistentVolumeClaim" };

        return text_in(doc_get_string(doc, "kind"), kinds, ARRAY_LEN(kinds));
}

enum force force_decide(const json_t *wanted, const json_t *live, bool by_set, const struct error *refusal)
{
        bool by_object = says(wanted, ANNOTATION_FLUX_FORCE, FLUX_ENABLED) ||
                         says(live, ANNOTATION_FLUX_FORCE, FLUX_ENABLED);
        bool immutable = strstr(refusal->text, "is immutable") || strstr(refusal->text, "immutable field");

        if (!live || !(by_object || (by_set && !is_precious(wanted))))
                return FORCE_NO;
        if (immutable)
                return FORCE_YES;
        return refusal->code == ERR_INVALID || refusal->code == ERR_CONFLICT ? FORCE_IF_CREATABLE : FORCE_NO;
}
