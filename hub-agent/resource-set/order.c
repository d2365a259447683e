#include "hub-agent/resource-set/order.h"

#define GROUP_RBAC "rbac.authorization.k8s.io"

static const char *const first[] = {
        "CustomResourceDefinition",
        "Namespace",
        "ClusterRole",
        "ClusterClass",
        "RuntimeClass",
        "PriorityClass",
        "StorageClass",
        "VolumeSnapshotClass",
        "IngressClass",
        "GatewayClass",
        "ClusterRoleBinding",
        "ResourceQuota",
        "ServiceAccount",
        "Role",
        "RoleBinding",
        "ConfigMap",
        "Secret",
        "Service",
        "LimitRange",
        "Deployment",
        "StatefulSet",
        "CronJob",
        "PodDisruptionBudget",
};
static const char *const last[] = { "MutatingWebhookConfiguration", "ValidatingWebhookConfiguration" };

static size_t rank_of(const char *kind)
{
        for (size_t i = 0; i < ARRAY_LEN(first); i++)
                if (text_equal(first[i], kind))
                        return i;
        return ARRAY_LEN(first) + text_in(kind, last, ARRAY_LEN(last));
}

enum apply_stage apply_stage_of(const struct object_place *o)
{
        if ((slice_is(o->group, "apiextensions.k8s.io") && text_equal(o->kind, "CustomResourceDefinition")) ||
            (o->group.len == 0 && text_equal(o->kind, "Namespace")) ||
            (slice_is(o->group, GROUP_RBAC) && text_equal(o->kind, "ClusterRole")))
                return STAGE_DEFINITIONS;
        if (text_ends_with(o->kind, "Class"))
                return STAGE_CLASSES;
        return slice_is(o->group, GROUP_RBAC) && text_equal(o->kind, "Role") ? STAGE_ROLES : STAGE_REST;
}

int apply_compare(const struct object_place *a, const struct object_place *b)
{
        size_t rank_a = rank_of(a->kind), rank_b = rank_of(b->kind);
        int by;

        if (rank_a != rank_b)
                return rank_a < rank_b ? -1 : 1;
        by = slice_compare(a->group, b->group);
        if (by == 0)
                by = strcmp(a->kind, b->kind);
        if (by == 0)
                by = strcmp(a->ns, b->ns);
        return by ? by : strcmp(a->name, b->name);
}

struct object_place place_of_doc(const json_t *doc)
{
        return (struct object_place){ group_of_doc(doc), or_empty(doc_get_string(doc, "kind")),
                                      or_empty(doc_get_string(doc, "metadata.namespace")),
                                      or_empty(doc_get_string(doc, "metadata.name")) };
}

int built_compare(const struct built_object *a, const struct built_object *b)
{
        struct object_place of_a = place_of_doc(a->doc), of_b = place_of_doc(b->doc);
        enum apply_stage stage_a = apply_stage_of(&of_a), stage_b = apply_stage_of(&of_b);

        if (a->step != b->step)
                return a->step < b->step ? -1 : 1;
        if (stage_a != stage_b)
                return stage_a < stage_b ? -1 : 1;
        return apply_compare(&of_a, &of_b);
}

bool collected_first(struct slice group)
{
        return slice_is(group, "kustomize.toolkit.fluxcd.io") || slice_is(group, "helm.toolkit.fluxcd.io") ||
               slice_is(group, GROUP_PLACEMENT);
}
