/* The guard rail around MemberClusters: spec/membership-webhooks-charts.md 5.8, rule 2. A MemberCluster with
 * an annotation of the fleet is its own; any other is upstream's, and everybody's but for its status. */
#include "hub-agent/webhook/rules.h"

static const json_t *annotations_of(const json_t *doc)
{
        return doc_get_object(doc, "metadata.annotations");
}

static bool is_of_fleet(const json_t *doc)
{
        const char *key;
        json_t *value;

        json_object_foreach((json_t *)(uintptr_t)annotations_of(doc), key, value)
                if (text_starts_with(key, ANNOTATION_FLEET_MANAGED_PREFIX))
                        return true;
        return false;
}

/* ---- labels ---- */

/* Whether a label that is in `a` is another in `b`, and not one that everybody may change. */
static bool differs_in_protected(const json_t *a, const json_t *b)
{
        const char *key;
        json_t *value;

        json_object_foreach((json_t *)(uintptr_t)a, key, value)
                if (!text_starts_with(key, FLEET_PREFIX) && !doc_equal(value, json_object_get(b, key)))
                        return true;
        return false;
}

static bool changes_fixed_labels(const struct admission_call *c)
{
        const json_t *now = doc_get_object(c->request.object, "metadata.labels");
        const json_t *before = doc_get_object(c->request.old_object, "metadata.labels");

        return c->world->flags.fixed_member_labels && !user_in_group(&c->request, "system:masters") &&
               (differs_in_protected(now, before) || differs_in_protected(before, now));
}

/* ---- the rest ---- */

static bool changes_fleet_annotations(const json_t *now, const json_t *before)
{
        const char *key;
        json_t *value;

        json_object_foreach((json_t *)(uintptr_t)annotations_of(before), key, value)
                if (text_starts_with(key, ANNOTATION_FLEET_MANAGED_PREFIX) &&
                    !doc_equal(value, json_object_get(annotations_of(now), key)))
                        return true;
        return false;
}

/* New, without what anybody may change and what the server writes; NULL on no memory. */
static json_t *guarded_part(const json_t *doc)
{
        static const char *const open[] = { "labels",
                                            "annotations",
                                            "resourceVersion",
                                            "generation",
                                            "managedFields",
                                            "uid",
                                            "creationTimestamp",
                                            "deletionTimestamp",
                                            "deletionGracePeriodSeconds",
                                            "selfLink" };
        json_t *part = doc_copy(doc), *meta = doc_get_object(part, "metadata");

        for (size_t i = 0; i < ARRAY_LEN(open); i++)
                json_object_del(meta, open[i]);
        json_object_del(doc_get_object(part, "spec"), "taints");
        return part;
}

static int of_fleet_update(struct admission_call *c)
{
        const json_t *now = c->request.object, *before = c->request.old_object;
        AUTO_JSON json_t *part = guarded_part(now), *part_before = guarded_part(before);

        if (!part || !part_before)
                return error_no_memory(c->err);
        if (!is_of_fleet(now))
                return ADMISSION_DENY(
                        c, "no user is allowed to remove all fleet pre-fixed annotations from a fleet member "
                           "cluster");
        if (changes_fixed_labels(c))
                return ADMISSION_DENY(c,
                                      "users are not allowed to modify labels through hub cluster directly");
        if (!doc_equal(part, part_before) || changes_fleet_annotations(now, before))
                return guard_rail_permit(c, guard_rail_knows(c), "");
        return guard_rail_permit(c, true, "");
}

static int of_upstream_update(struct admission_call *c)
{
        bool status = !doc_equal(json_object_get(c->request.object, "status"),
                                 json_object_get(c->request.old_object, "status"));

        if (is_of_fleet(c->request.object))
                return ADMISSION_DENY(
                        c, "no user is allowed to add a fleet pre-fixed annotation to an upstream member "
                           "cluster");
        return guard_rail_permit(c, !status || guard_rail_knows(c), "");
}

int guard_rail_member_cluster(struct admission_call *c)
{
        bool update = c->request.operation == ADMISSION_UPDATE;
        const json_t *judged =
                c->request.operation == ADMISSION_CREATE ? c->request.object : c->request.old_object;
        const struct object *o;
        int code;

        if (admission_cannot_decode(c, &member_cluster_kind, judged, &o, &code) ||
            (update && admission_cannot_decode(c, &member_cluster_kind, c->request.object, &o, &code)))
                return code;
        if (update)
                return is_of_fleet(judged) ? of_fleet_update(c) : of_upstream_update(c);
        if (!is_of_fleet(judged))
                return ADMISSION_ALLOW(
                        c, "upstream member cluster resource is allowed to be created/deleted by any user");
        return guard_rail_permit(c, guard_rail_knows(c), "");
}
