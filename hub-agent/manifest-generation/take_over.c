#include "hub-agent/manifest-generation/take_over.h"

#include "common/json/apply.h"
#include "common/json/patch.h"
#include "hub-agent/manifest-generation/sync_marks.h"

#define LAST_APPLIED "kubectl.kubernetes.io/last-applied-configuration"

static bool is_kubectls(const json_t *entry)
{
        return text_starts_with(or_empty(doc_get_string(entry, "manager")), "kubectl") &&
               text_equal(doc_get_string(entry, "operation"), "Update") &&
               text_empty(doc_get_string(entry, "subresource"));
}

static json_t *find_ours(json_t *entries, const char *manager)
{
        json_t *entry;
        size_t i;

        json_array_foreach(entries, i, entry)
                if (text_equal(doc_get_string(entry, "manager"), manager) &&
                    text_equal(doc_get_string(entry, "operation"), "Apply") &&
                    text_empty(doc_get_string(entry, "subresource")))
                        return entry;
        return NULL;
}

/* The first one becomes ours where we have none. */
static int merge(json_t *entries, const char *manager)
{
        json_t *ours = find_ours(entries, manager);

        for (size_t i = 0; i < json_array_size(entries);) {
                json_t *entry = json_array_get(entries, i);

                if (!is_kubectls(entry)) {
                        i++;
                } else if (!ours) {
                        ours = entry;
                        if (json_object_set_new(entry, "manager", json_string(manager)) < 0 ||
                            json_object_set_new(entry, "operation", json_string("Apply")) < 0)
                                return ERR_NO_MEMORY;
                } else {
                        json_t *both = fieldset_union(json_object_get(ours, "fieldsV1"),
                                                      json_object_get(entry, "fieldsV1"));

                        if (json_object_set_new(ours, "fieldsV1", both) < 0 ||
                            json_array_remove(entries, i) < 0)
                                return ERR_NO_MEMORY;
                }
        }
        return 0;
}

int take_over_patch(const json_t *live, const char *manager, json_t **ret, struct error *err)
{
        AUTO_JSON json_t *after = NULL;
        AUTO_JSON json_t *steps = NULL;
        json_t *bound;

        *ret = NULL;
        if (!sync_annotation(live, LAST_APPLIED))
                return 0;
        after = doc_copy(live);
        if (!after || merge(doc_get_array(after, "metadata.managedFields"), manager) < 0)
                return error_no_memory(err);
        json_object_del(doc_get_object(after, "metadata.annotations"), LAST_APPLIED);
        TRY(patch_json_diff(live, after, &steps, err));
        bound = json_pack("{s:s,s:s,s:s}", "op", "test", "path", "/metadata/resourceVersion", "value",
                          or_empty(doc_get_string(live, "metadata.resourceVersion")));
        if (!bound || json_array_insert_new(steps, 0, bound) < 0)
                return error_no_memory(err);
        *ret = TAKE_PTR(steps);
        return 0;
}

int take_over(struct kube_client *kube, const struct kube_resource *r, const json_t *live, struct error *err)
{
        static const struct kube_write how = { .field_manager = FLUX_SYNC_MANAGER };
        AUTO_JSON json_t *patch = NULL;
        AUTO_JSON json_t *answer = NULL;

        if (!live)
                return 0;
        TRY(take_over_patch(live, FLUX_SYNC_MANAGER, &patch, err));
        if (!patch)
                return 0;
        return kube_doc_patch(kube, r, doc_get_string(live, "metadata.namespace"),
                              doc_get_string(live, "metadata.name"), KUBE_PATCH_JSON, patch, &how, &answer,
                              err);
}
