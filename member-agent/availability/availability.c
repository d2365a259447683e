#include "member-agent/availability/availability.h"

#include "proto/names.h"

typedef enum availability (*check_fn)(const json_t *o, struct error *err);

static enum availability when(bool available)
{
        return available ? AVAILABILITY_AVAILABLE : AVAILABILITY_NOT_YET;
}

/* ---- checked reading: a field of another type than the kind declares makes the check fail ---- */

struct reader {
        const json_t *doc;
        struct error *err;
        bool failed;
};

static int64_t number(struct reader *r, const char *path, int64_t fallback)
{
        int64_t value = fallback;

        if (doc_want_int(r->doc, path, &value, r->err) < 0)
                r->failed = true;
        return value;
}

static const char *words(struct reader *r, const char *path)
{
        const char *value = "";

        if (doc_want_string(r->doc, path, &value, r->err) < 0)
                r->failed = true;
        return value;
}

static json_t *list(struct reader *r, const char *path)
{
        json_t *value = NULL;

        if (doc_want_array(r->doc, path, &value, r->err) < 0)
                r->failed = true;
        return value;
}

static enum availability verdict(const struct reader *r, bool available)
{
        return r->failed ? AVAILABILITY_FAILED : when(available);
}

static bool observed(struct reader *r)
{
        return number(r, "status.observedGeneration", 0) == number(r, "metadata.generation", 0);
}

static const json_t *condition_of(struct reader *r, const char *type)
{
        size_t i;
        json_t *c;

        json_array_foreach(list(r, "status.conditions"), i, c)
                if (text_equal(doc_get_string(c, "type"), type))
                        return c;
        return NULL;
}

static bool condition_has(struct reader *r, const char *type, const char *status)
{
        return text_equal(doc_get_string(condition_of(r, type), "status"), status);
}

/* ---- the kinds ---- */

static enum availability always(const json_t *o, struct error *err)
{
        return AVAILABILITY_AVAILABLE;
}

static enum availability deployment(const json_t *o, struct error *err)
{
        struct reader r = { o, err };
        int64_t wanted = number(&r, "spec.replicas", 1);

        return verdict(&r, observed(&r) && (number(&r, "status.availableReplicas", 0) == wanted) &&
                                   (number(&r, "status.updatedReplicas", 0) == wanted) &&
                                   (number(&r, "status.unavailableReplicas", 0) == 0));
}

/* A partition keeps that many replicas at their revision until it is lowered: then the revisions differ on
 * purpose, and all others must have the new one. */
static bool is_rolled_out(struct reader *r, int64_t wanted)
{
        int64_t partition = number(r, "spec.updateStrategy.rollingUpdate.partition", 0);
        int64_t updated = number(r, "status.updatedReplicas", 0);

        if (text_equal(words(r, "status.currentRevision"), words(r, "status.updateRevision")))
                return number(r, "status.currentReplicas", 0) == updated;
        return partition > 0 && updated >= wanted - partition;
}

static enum availability stateful_set(const json_t *o, struct error *err)
{
        struct reader r = { o, err };
        int64_t wanted = number(&r, "spec.replicas", 1);

        return verdict(&r, observed(&r) && (number(&r, "status.availableReplicas", 0) == wanted) &&
                                   is_rolled_out(&r, wanted));
}

static enum availability daemon_set(const json_t *o, struct error *err)
{
        struct reader r = { o, err };

        return verdict(&r, observed(&r) &&
                                   (number(&r, "status.numberAvailable", 0) ==
                                    number(&r, "status.desiredNumberScheduled", 0)) &&
                                   (number(&r, "status.currentNumberScheduled", 0) ==
                                    number(&r, "status.updatedNumberScheduled", 0)));
}

static enum availability service(const json_t *o, struct error *err)
{
        struct reader r = { o, err };
        const char *type = words(&r, "spec.type");
        const json_t *first;

        if (text_empty(type) || text_equal(type, "ClusterIP") || text_equal(type, "NodePort"))
                return verdict(
                        &r, !text_empty(json_string_value(json_array_get(list(&r, "spec.clusterIPs"), 0))));
        if (!text_equal(type, "LoadBalancer"))
                return r.failed ? AVAILABILITY_FAILED : AVAILABILITY_NOT_TRACKABLE;
        first = json_array_get(list(&r, "status.loadBalancer.ingress"), 0);
        return verdict(&r, !text_empty(doc_get_string(first, "ip")) ||
                                   !text_empty(doc_get_string(first, "hostname")));
}

static enum availability custom_resource_definition(const json_t *o, struct error *err)
{
        struct reader r = { o, err };

        return verdict(&r, condition_has(&r, "Established", "True") &&
                                   condition_has(&r, "NamesAccepted", "True"));
}

/* "Available" says that the controller has judged the budget, not that it allows a disruption. */
static enum availability disruption_budget(const json_t *o, struct error *err)
{
        struct reader r = { o, err };
        const json_t *c = condition_of(&r, "DisruptionAllowed");
        bool allowed = number(&r, "status.disruptionsAllowed", 0) > 0;

        return verdict(&r, observed(&r) &&
                                   text_equal(doc_get_string(c, "status"), allowed ? "True" : "False") &&
                                   text_equal(doc_get_string(c, "reason"),
                                              allowed ? "SufficientPods" : "InsufficientPods"));
}

static bool is_current(struct reader *r, const json_t *condition)
{
        return doc_get_int(condition, "observedGeneration", 0) == number(r, "metadata.generation", 0);
}

/* A set that waits for a person, or that nothing good was heard of for long, says so. */
static void tell_trouble(struct reader *r, const json_t *progressing)
{
        static const char *const troubles[] = { REASON_SET_BLOCKED, REASON_SET_RETRYING,
                                                REASON_SET_DEADLINE_EXCEEDED };
        const char *reason = doc_get_string(progressing, "reason");

        if (is_current(r, progressing) && text_in(reason, troubles, ARRAY_LEN(troubles)))
                error_set(r->err, ERR_RETRY, "%s: %s", reason,
                          or_empty(doc_get_string(progressing, "message")));
}

/* spec/cluster-object-set.md 17: Progressing is True while a set rolls out and when it has, only the reason
 * tells. One that is archived has had its time. */
static enum availability object_set(const json_t *o, struct error *err)
{
        struct reader r = { o, err };
        const json_t *available = condition_of(&r, CONDITION_AVAILABLE),
                     *progressing = condition_of(&r, CONDITION_PROGRESSING);

        if (text_equal(words(&r, "spec.lifecycleState"), SET_ARCHIVED))
                return verdict(&r, true);
        if (!r.failed)
                tell_trouble(&r, progressing);
        return verdict(&r, is_current(&r, available) && is_current(&r, progressing) &&
                                   text_equal(doc_get_string(available, "status"), CONDITION_TRUE) &&
                                   text_equal(doc_get_string(progressing, "reason"), REASON_SET_SUCCEEDED));
}

static const struct {
        const char *group, *version, *plural;
        check_fn check;
} checks[] = {
        { "apps", "v1", "deployments", deployment },
        { "apps", "v1", "statefulsets", stateful_set },
        { "apps", "v1", "daemonsets", daemon_set },
        { "", "v1", "services", service },
        { "apiextensions.k8s.io", "v1", "customresourcedefinitions", custom_resource_definition },
        { "policy", "v1", "poddisruptionbudgets", disruption_budget },
        { GROUP_OLM, "v1", "clusterobjectsets", object_set },
        { "", "v1", "namespaces", always },
        { "", "v1", "secrets", always },
        { "", "v1", "configmaps", always },
        { "", "v1", "serviceaccounts", always },
        { "", "v1", "limitranges", always },
        { "", "v1", "resourcequotas", always },
        { "rbac.authorization.k8s.io", "v1", "roles", always },
        { "rbac.authorization.k8s.io", "v1", "clusterroles", always },
        { "rbac.authorization.k8s.io", "v1", "rolebindings", always },
        { "rbac.authorization.k8s.io", "v1", "clusterrolebindings", always },
        { "networking.k8s.io", "v1", "networkpolicies", always },
        { "networking.k8s.io", "v1", "ingressclasses", always },
        { "storage.k8s.io", "v1", "csidrivers", always },
        { "storage.k8s.io", "v1", "csinodes", always },
        { "storage.k8s.io", "v1", "storageclasses", always },
        { "storage.k8s.io", "v1", "csistoragecapacities", always },
        { "apps", "v1", "controllerrevisions", always },
        { "scheduling.k8s.io", "v1", "priorityclasses", always },
};

enum availability availability_of(const char *group, const char *version, const char *plural,
                                  const json_t *object, struct error *err)
{
        if (doc_get_string(object, "metadata.deletionTimestamp"))
                return AVAILABILITY_NOT_YET;
        for (size_t i = 0; i < ARRAY_LEN(checks); i++)
                if (text_equal(group, checks[i].group) && text_equal(version, checks[i].version) &&
                    text_equal(plural, checks[i].plural))
                        return checks[i].check(object, err);
        return AVAILABILITY_NOT_TRACKABLE;
}
