/* What may not change in an object of a built-in kind once it exists. */
#include "common/base/memory.h"
#include "e2e/devcluster/builtin/validate.h"
#include "e2e/devcluster/request.h"

#define VALUE_MAX (64u << 10)

/* A field of its own. `forbidden` NULL: Invalid value: VALUE: field is immutable. */
static const struct {
        const char *group, *kind, *path, *forbidden;
} fixed[] = {
        { "batch", "Job", "spec.completionMode", NULL },
        { "batch", "Job", "spec.podFailurePolicy", NULL },
        { "batch", "Job", "spec.successPolicy", NULL },
        { "batch", "Job", "spec.backoffLimitPerIndex", NULL },
        { "batch", "Job", "spec.managedBy", NULL },
        { "batch", "Job", "spec.selector", NULL },
        { "apps", "ControllerRevision", "data", NULL },
        { "storage.k8s.io", "StorageClass", "parameters", NULL },
        { "storage.k8s.io", "StorageClass", "provisioner", NULL },
        { "storage.k8s.io", "StorageClass", "reclaimPolicy", NULL },
        { "storage.k8s.io", "StorageClass", "volumeBindingMode", NULL },
        { "storage.k8s.io", "VolumeAttachment", "spec", NULL },
        { "storage.k8s.io", "CSIStorageCapacity", "nodeTopology", NULL },
        { "storage.k8s.io", "CSIStorageCapacity", "storageClassName", NULL },
        { "storage.k8s.io", "VolumeAttributesClass", "driverName", "updates to driverName are forbidden." },
        { "storage.k8s.io", "VolumeAttributesClass", "parameters", "updates to parameters are forbidden." },
        { "storage.k8s.io", "CSIDriver", "spec.attachRequired", NULL },
        { "storage.k8s.io", "CSIDriver", "spec.volumeLifecycleModes", NULL },
        { "scheduling.k8s.io", "PriorityClass", "value", "may not be changed in an update." },
        { "scheduling.k8s.io", "PriorityClass", "preemptionPolicy", NULL },
        { "node.k8s.io", "RuntimeClass", "handler", NULL },
        { "networking.k8s.io", "IngressClass", "spec.controller", NULL },
        { "discovery.k8s.io", "EndpointSlice", "addressType", NULL },
        { "", "PersistentVolume", "spec.volumeMode", NULL },
};

static int add_immutable(struct schema_problems *p, const char *path, const json_t *value)
{
        AUTO_BUF struct buf text;

        buf_init(&text, VALUE_MAX);
        if (value && doc_write(value, &text) < 0)
                return ERR_NO_MEMORY;
        return problem_add(p, "FieldValueInvalid", path, "Invalid value: %s: field is immutable",
                           value ? text.data : "null");
}

static int check_fixed(const char *group, const char *kind, const json_t *live, const json_t *doc,
                       struct schema_problems *p)
{
        for (size_t i = 0; i < ARRAY_LEN(fixed); i++) {
                const json_t *before, *now;

                if (!text_equal(fixed[i].kind, kind) || !text_equal(fixed[i].group, group))
                        continue;
                before = doc_get(live, fixed[i].path);
                now = doc_get(doc, fixed[i].path);
                if (doc_equal(before, now))
                        continue;
                TRY(fixed[i].forbidden ? problem_add(p, "FieldValueForbidden", fixed[i].path, "Forbidden: %s",
                                                     fixed[i].forbidden)
                                       : add_immutable(p, fixed[i].path, now));
        }
        return 0;
}

/* ---- jobs ---- */

/* Where its pods may run, and what they get, can be told until a suspended job begins. */
static void drop_directives(json_t *spec)
{
        static const char *const free_fields[] = { "nodeSelector", "tolerations", "affinity",
                                                   "schedulingGates" };
        json_t *c;
        size_t i;

        for (i = 0; i < ARRAY_LEN(free_fields); i++)
                json_object_del(spec, free_fields[i]);
        json_array_foreach(doc_get_array(spec, "containers"), i, c)
                json_object_del(c, "resources");
}

static int check_job_update(const json_t *live, const json_t *doc, struct schema_problems *p)
{
        bool waiting = doc_get_bool(live, "spec.suspend", false) && !doc_get(live, "status.startTime");
        bool indexed = text_equal(doc_get_string(doc, "spec.completionMode"), "Indexed");
        AUTO_JSON json_t *before = doc_copy(doc_get(live, "spec.template")),
                         *now = doc_copy(doc_get(doc, "spec.template"));

        if (!before || !now)
                return 0;
        if (!indexed && !doc_equal(doc_get(live, "spec.completions"), doc_get(doc, "spec.completions")))
                TRY(add_immutable(p, "spec.completions", doc_get(doc, "spec.completions")));
        if (waiting) {
                drop_directives(json_object_get(before, "spec"));
                drop_directives(json_object_get(now, "spec"));
                json_object_del(before, "metadata");
                json_object_del(now, "metadata");
        }
        if (!doc_equal(json_object_get(before, "spec"), json_object_get(now, "spec")))
                return add_immutable(p, "spec.template.spec", json_object_get(now, "spec"));
        return doc_equal(before, now) ? 0 : add_immutable(p, "spec.template", now);
}

/* ---- selectors, stateful sets ---- */

static int check_workload_selector(const char *kind, const json_t *live, const json_t *doc,
                                   struct schema_problems *p)
{
        static const char *const kinds[] = { "Deployment", "ReplicaSet", "DaemonSet" };
        const json_t *before = doc_get(live, "spec.selector"), *now = doc_get(doc, "spec.selector");

        if (!text_in(kind, kinds, ARRAY_LEN(kinds)) || !now || doc_equal(before, now))
                return 0;
        return add_immutable(p, "spec.selector", now);
}

/* Only replicas, template and the like of a stateful set may change. */
static int check_stateful_set_update(const json_t *live, const json_t *doc, struct schema_problems *p)
{
        static const char *const kept[] = { "spec.serviceName", "spec.podManagementPolicy",
                                            "spec.volumeClaimTemplates", "spec.selector" };

        for (size_t i = 0; i < ARRAY_LEN(kept); i++)
                if (!doc_equal(doc_get(live, kept[i]), doc_get(doc, kept[i])))
                        return problem_add(
                                p, "FieldValueForbidden", "spec",
                                "Forbidden: updates to statefulset spec for fields other than 'replicas', "
                                "'ordinals', 'template', 'updateStrategy', 'revisionHistoryLimit', "
                                "'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden");
        return 0;
}

/* ---- claims and volumes ---- */

/* A claim gets its volume once, and may grow while it is bound. */
static int check_claim_update(const json_t *live, const json_t *doc, struct schema_problems *p)
{
        AUTO_JSON json_t *before = doc_copy(doc_get(live, "spec")), *now = doc_copy(doc_get(doc, "spec"));

        if (!before || !now)
                return 0;
        json_object_del(before, "volumeAttributesClassName");
        json_object_del(now, "volumeAttributesClassName");
        if (text_empty(doc_get_string(before, "volumeName"))) {
                json_object_del(before, "volumeName");
                json_object_del(now, "volumeName");
        }
        if (text_equal(doc_get_string(live, "status.phase"), "Bound")) {
                json_object_del(doc_get_object(before, "resources"), "requests");
                json_object_del(doc_get_object(now, "resources"), "requests");
        }
        if (doc_equal(before, now))
                return 0;
        return problem_add(p, "FieldValueForbidden", "spec",
                           "Forbidden: spec is immutable after creation except resources.requests and "
                           "volumeAttributesClassName for bound claims");
}

static int check_volume_update(const json_t *live, const json_t *doc, struct schema_problems *p)
{
        static const char *const free_fields[] = { "capacity",
                                                   "accessModes",
                                                   "claimRef",
                                                   "persistentVolumeReclaimPolicy",
                                                   "storageClassName",
                                                   "mountOptions",
                                                   "volumeMode",
                                                   "nodeAffinity",
                                                   "volumeAttributesClassName" };

        if (doc_equal_apart_from(doc_get(live, "spec"), doc_get(doc, "spec"), free_fields,
                                 ARRAY_LEN(free_fields)))
                return 0;
        return problem_add(p, "FieldValueForbidden", "spec.persistentvolumesource",
                           "Forbidden: spec.persistentvolumesource is immutable after creation");
}

int builtin_validate_update(const char *group, const char *kind, const json_t *live, const json_t *doc,
                            struct schema_problems *p)
{
        TRY(check_fixed(group, kind, live, doc, p));
        TRY(check_workload_selector(kind, live, doc, p));
        if (text_equal(kind, "StatefulSet"))
                return check_stateful_set_update(live, doc, p);
        if (text_equal(kind, "Job"))
                return check_job_update(live, doc, p);
        if (text_equal(kind, "PersistentVolumeClaim"))
                return check_claim_update(live, doc, p);
        return text_equal(kind, "PersistentVolume") ? check_volume_update(live, doc, p) : 0;
}
