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
        f->metrics = metrics_new(METRIC_OF_HUB);
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

static inline int counted(struct fleet *f, enum metric_id results)
{
        return (int)metric_value(f->metrics, results, (const char *const[]){ "success" });
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
        return passes_of(f, "membership");
}
