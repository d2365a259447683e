/* What the tests of members within a whole agent share. */
#pragma once

#include "common/ctrl/metrics.h"
#include "hub-agent/hub_agent_test.h"

#define MEMBER CLUSTERS "memberclusters/member-1"
#define NAMESPACE "/api/v1/namespaces/fleet-member-member-1"
#define REPORT CLUSTERS "namespaces/fleet-member-member-1/internalmemberclusters/member-1"
#define RBAC "/apis/rbac.authorization.k8s.io/v1/namespaces/fleet-member-member-1/"

static inline void begin(struct rig *r, struct fleet *f)
{
        start(r, f);
        stop(f);
        f->metrics = metrics_new();
        start_again(r, f);
}

static inline void end(struct fleet *f)
{
        stop(f);
        metrics_free(f->metrics);
}

/* How often it was told, repetitions included. */
static inline int64_t told(struct rig *r, const char *reason)
{
        int64_t n = 0;
        json_t *item;
        size_t i;

        rig_settle(r);
        rig_get(r, "/api/v1/namespaces/default/events");
        json_array_foreach(json_object_get(r->answer, "items"), i, item)
                if (text_equal(doc_get_string(item, "reason"), reason))
                        n += doc_get_int(item, "count", 1);
        return n;
}

static inline int counted(struct fleet *f, const char *name)
{
        static const char *const labels[] = { "result", NULL };

        return (int)metric_value(metrics_register(f->metrics, METRIC_COUNTER, name, "", labels, NULL, 0),
                                 (const char *const[]){ "success" });
}

static inline void assert_condition(struct rig *r, const char *type, const char *status)
{
        assert_int_equal(rig_get(r, MEMBER), 200);
        if (!text_equal(condition_of(r, type), status))
                fail_msg("%s: wanted %s, got %s", type, status, condition_of(r, type));
}

/* How often the controller looked at a member. */
static inline int passes(struct fleet *f)
{
        struct metric *m = metrics_register(f->metrics, METRIC_COUNTER, "controller_runtime_reconcile_total",
                                            "", NULL, NULL, 0);

        return (int)(metric_value(m, (const char *const[]){ "membership", "success" }) +
                     metric_value(m, (const char *const[]){ "membership", "requeue_after" }) +
                     metric_value(m, (const char *const[]){ "membership", "error" }));
}
