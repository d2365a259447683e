#include "member-agent/apply/clean.h"

static const char *const identity_fields[] = { "name",
                                               "namespace",
                                               "generateName",
                                               "deletionTimestamp",
                                               "deletionGracePeriodSeconds",
                                               "generation",
                                               "resourceVersion",
                                               "selfLink",
                                               "uid",
                                               "creationTimestamp" };
static const char *const server_fields[] = { "ownerReferences",
                                             "managedFields",
                                             "creationTimestamp",
                                             "deletionTimestamp",
                                             "deletionGracePeriodSeconds",
                                             "generation",
                                             "resourceVersion",
                                             "selfLink",
                                             "uid" };
static const char *const own_annotations[] = { ANNOTATION_SPEC_HASH, ANNOTATION_LAST_APPLIED,
                                               "kubectl.kubernetes.io/last-applied-configuration",
                                               "deployment.kubernetes.io/revision" };
static const char *const reserved_domains[] = { "kubernetes.io/", "k8s.io/", "kubernetes-fleet.io/" };

static json_t *metadata_of(json_t *doc, struct error *err)
{
        json_t *meta = json_object_get(doc, "metadata");

        if (json_is_object(meta))
                return meta;
        if (json_object_set_new(doc, "metadata", json_object()) < 0) {
                error_no_memory(err);
                return NULL;
        }
        return json_object_get(doc, "metadata");
}

static bool is_reserved(const char *key)
{
        for (size_t i = 0; i < ARRAY_LEN(reserved_domains); i++)
                if (strstr(key, reserved_domains[i]))
                        return true;
        return false;
}

static int clean_map(json_t *meta, const char *field, struct error *err)
{
        json_t *map = json_object_get(meta, field);
        const char *key;
        json_t *value;
        void *next;

        if (!json_is_object(map))
                return json_object_set_new(meta, field, json_object()) < 0 ? error_no_memory(err) : 0;
        json_object_foreach_safe(map, next, key, value)
                if (is_reserved(key))
                        json_object_del(map, key);
        return 0;
}

int clean_for_comparison(json_t *doc, struct error *err)
{
        static const char *const emptied[] = { "finalizers", "managedFields", "ownerReferences" };
        json_t *meta = metadata_of(doc, err);

        if (!meta)
                return ERR_NO_MEMORY;
        for (size_t i = 0; i < ARRAY_LEN(identity_fields); i++)
                json_object_del(meta, identity_fields[i]);
        for (size_t i = 0; i < ARRAY_LEN(emptied); i++)
                if (json_object_set_new(meta, emptied[i], json_array()) < 0)
                        return error_no_memory(err);
        TRY(clean_map(meta, "annotations", err));
        TRY(clean_map(meta, "labels", err));
        json_object_del(doc, "status");
        json_object_del(doc_get_object(doc, "spec.template.metadata"), "creationTimestamp");
        json_object_del(doc_get_object(doc, "spec.jobTemplate.spec.template.metadata"), "creationTimestamp");
        return 0;
}

int clean_hash(const json_t *manifest, char ret[65], struct error *err)
{
        AUTO_JSON json_t *copy = doc_copy(manifest);

        if (!copy)
                return error_no_memory(err);
        TRY(clean_for_comparison(copy, err));
        return doc_hash(copy, ret, err);
}

int clean_for_apply(json_t *doc, struct error *err)
{
        json_t *meta = metadata_of(doc, err), *annotations;

        if (!meta)
                return ERR_NO_MEMORY;
        annotations = json_object_get(meta, "annotations");
        for (size_t i = 0; json_is_object(annotations) && i < ARRAY_LEN(own_annotations); i++)
                json_object_del(annotations, own_annotations[i]);
        if (json_is_object(annotations) && json_object_size(annotations) == 0)
                json_object_del(meta, "annotations");
        for (size_t i = 0; i < ARRAY_LEN(server_fields); i++)
                json_object_del(meta, server_fields[i]);
        json_object_del(doc, "status");
        return 0;
}

static void remove_if_empty(json_t *parent, const char *key)
{
        const json_t *value = json_object_get(parent, key);

        if (json_is_object(value) && json_object_size(value) == 0)
                json_object_del(parent, key);
}

static void remove_uid(json_t *parent, const char *key)
{
        json_t *labels = json_object_get(parent, key);

        json_object_del(labels, "controller-uid");
        json_object_del(labels, "batch.kubernetes.io/controller-uid");
        remove_if_empty(parent, key);
}

void clean_generated(json_t *doc)
{
        const char *api_version = doc_get_string(doc, "apiVersion");

        if (!text_equal(doc_get_string(doc, "kind"), "Job") || !api_version ||
            !text_starts_with(api_version, "batch/") || doc_get_bool(doc, "spec.manualSelector", false))
                return;
        remove_uid(doc_get_object(doc, "metadata"), "labels");
        remove_uid(doc_get_object(doc, "spec.template.metadata"), "labels");
        remove_uid(doc_get_object(doc, "spec.selector"), "matchLabels");
        remove_if_empty(doc_get_object(doc, "spec"), "selector");
}

#define ANNOTATIONS "metadata.annotations"
#define LABELS "metadata.labels"

static const char *member_of(const json_t *doc, const char *map, const char *key)
{
        return json_string_value(json_object_get(doc_get_object(doc, map), key));
}

const char *clean_annotation(const json_t *doc, const char *key)
{
        return member_of(doc, ANNOTATIONS, key);
}

const char *clean_label(const json_t *doc, const char *key)
{
        return member_of(doc, LABELS, key);
}

static int set_member(json_t *doc, const char *map, const char *key, const char *value, struct error *err)
{
        if (!doc_get_object(doc, map) && doc_set(doc, map, json_object()) < 0)
                return error_no_memory(err);
        return json_object_set_new(doc_get_object(doc, map), key, json_string(value)) < 0
                       ? error_no_memory(err)
                       : 0;
}

int clean_set_annotation(json_t *doc, const char *key, const char *value, struct error *err)
{
        return set_member(doc, ANNOTATIONS, key, value, err);
}

int clean_set_label(json_t *doc, const char *key, const char *value, struct error *err)
{
        return set_member(doc, LABELS, key, value, err);
}
