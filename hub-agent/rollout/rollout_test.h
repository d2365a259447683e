/* For tests of a round of a rollout: a placement, its bindings in a few letters, and what the plan picks. */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "common/base/buf.h"
#include "hub-agent/rollout/rollout.h"

#define NOW INT64_C(1767225600000) /* 2026-01-01T00:00:00Z */

#ifndef BINDINGS_MAX
#define BINDINGS_MAX 1000
#endif

struct round {
        struct arena arena;
        struct error err;
        const struct object **bindings;
        struct rollout_input in;
        struct rollout_plan plan;
};

static inline void *parse(struct round *r, const struct kind *kind, const char *json)
{
        struct object *o;

        if (object_decode_arena(kind, slice_of(json), &r->arena, &o, &r->err) < 0)
                fail_msg("%s: %s", json, r->err.text);
        return o;
}

#define STRATEGY                                                                                             \
        "{\"type\":\"ClientSideApply\",\"comparisonOption\":\"PartialComparison\",\"whenToApply\":"          \
        "\"Always\","                                                                                        \
        "\"whenToTakeOver\":\"Always\"}"

static inline void begin(struct round *r, int wanted, const char *unavailable, const char *surge)
{
        AUTO_BUF struct buf b;

        *r = (struct round){ .in.now_ms = NOW };
        buf_init(&b, 1 << 16);
        buf_printf(&b,
                   "{\"metadata\":{\"name\":\"web\"},\"spec\":{\"policy\":{\"placementType\":\"PickN\","
                   "\"numberOfClusters\":%d},"
                   "\"strategy\":{\"rollingUpdate\":{\"maxUnavailable\":%s,\"maxSurge\":%s,"
                   "\"unavailablePeriodSeconds\":60},"
                   "\"applyStrategy\":" STRATEGY "}}}",
                   wanted, unavailable, surge);
        r->in.placement = parse(r, &cluster_resource_placement_kind, b.data);
        r->in.master =
                parse(r, &cluster_resource_snapshot_kind, "{\"metadata\":{\"name\":\"web-1-snapshot\"}}");
        r->bindings = ARENA_NEW_ARRAY(&r->arena, const struct object *, BINDINGS_MAX);
        assert_non_null(r->bindings);
        r->in.bindings.at = r->bindings;
}

#define LISTED                                                                                               \
        "\"failedPlacements\":[{\"version\":\"v1\",\"kind\":\"ConfigMap\",\"name\":\"a\",\"condition\":{"    \
        "\"type\":\"Applied\",\"status\":\"False\",\"lastTransitionTime\":\"2025-12-31T23:59:25Z\"}}],"

/* One letter each: state S(cheduled) B(ound) U(nscheduled); snapshot n(ew) o(ld); condition r(eady) f(ailed)
 * p(applying, not reported yet) a(pplied only) t(untrackable since 35 s) D(iff reported) x(diff report
 * failed) - (none); 'd' = being deleted. */
static inline void add(struct round *r, const char *letters)
{
        char state = letters[0], snapshot = letters[1], condition = letters[2];
        bool is_diff = condition == 'D' || condition == 'x';
        bool is_false = condition == 'f' || condition == 'p' || condition == 'x';
        const char *type = is_diff ? "DiffReported" : is_false || condition == 'a' ? "Applied" : "Available";
        AUTO_BUF struct buf b;

        buf_init(&b, 1 << 16);
        buf_printf(
                &b,
                "{\"metadata\":{\"name\":\"b%zu\",\"generation\":1,%s\"annotations\":{\"kubernetes-fleet.io/"
                "previous-binding-state\":\"Bound\"}},\"spec\":{\"state\":\"%s\",\"targetCluster\":\"c%zu\","
                "\"resourceSnapshotName\":\"%s\",\"schedulingPolicySnapshotName\":\"web-0\","
                "\"applyStrategy\":" STRATEGY "},\"status\":{%s\"conditions\":[",
                r->in.bindings.n, letters[3] == 'd' ? "\"deletionTimestamp\":\"2025-12-31T00:00:00Z\"," : "",
                state == 'S'   ? "Scheduled"
                : state == 'B' ? "Bound"
                               : "Unscheduled",
                r->in.bindings.n, snapshot == 'n' ? "web-1-snapshot" : "web-0-snapshot",
                condition == 'f' ? LISTED : "");
        if (condition != '-')
                buf_printf(&b,
                           "{\"type\":\"%s\",\"status\":\"%s\",\"reason\":\"%s\",\"message\":\"%s\","
                           "\"observedGeneration\":1,"
                           "\"lastTransitionTime\":\"2025-12-31T23:59:25Z\"}",
                           type, is_false ? "False" : "True",
                           condition == 't' ? "NotAllWorkAreAvailabilityTrackable"
                                            : "NotAllWorkHaveBeenApplied",
                           "in whatever words");
        buf_append_str(&b, "]}}");
        r->bindings[r->in.bindings.n++] = parse(r, &cluster_resource_binding_kind, b.data);
}

static inline void run(struct round *r)
{
        if (plan_rollout(&r->arena, &r->in, &r->plan, &r->err) < 0)
                fail_msg("%s", r->err.text);
}

static inline void append_name(char *out, const struct object *o, char prefix)
{
        size_t n = strlen(out);

        snprintf(out + n, 64 - n, "%s%c%s", n ? " " : "", prefix, o->meta.name + 1);
}

/* What the plan picks: +n (made Bound), -n (deleted), !n (blocked). */
static inline const char *picks(struct round *r, char out[64])
{
        out[0] = '\0';
        for (size_t k = 0; k < r->plan.n_update; k++)
                append_name(out, &r->plan.update[k].now->object, '+');
        for (size_t k = 0; k < r->plan.remove.n; k++)
                append_name(out, &r->plan.remove.at[k]->object, '-');
        for (size_t k = 0; k < r->plan.blocked.n; k++)
                append_name(out, &r->plan.blocked.at[k]->object, '!');
        return out;
}
