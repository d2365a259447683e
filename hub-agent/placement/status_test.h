/* What the tests of placement statuses share: a placement whose clusters are as far as letters say. */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "common/base/buf.h"
#include "common/base/limits.h"
#include "hub-agent/placement/status.h"
#include "hub-agent/starve_test.h"

#define NOW INT64_C(1767225600000)

struct scene {
        struct arena arena;
        struct error err;
        const struct object *bindings[4], *snapshots[2];
        struct status_input in;
        struct status_plan plan;
};

static inline void *parse(struct scene *s, const struct kind *kind, const char *json)
{
        struct object *o;

        if (object_decode_arena(kind, slice_of(json), &s->arena, &o, &s->err) < 0)
                fail_msg("%s: %s", json, s->err.text);
        return o;
}

static inline int no_identifiers(void *ctx, const char *index, struct resource_identifier_list *ret,
                                 struct error *err)
{
        *ret = (struct resource_identifier_list){ 0 };
        return 0;
}

/* A placement of generation 2 whose scheduler picked c1 and c2 for generation `scheduled_for`. */
static inline void begin(struct scene *s, const char *strategy, int scheduled_for, const char *decisions)
{
        char json[8192];

        *s = (struct scene){ .in = { .now_ms = NOW, .identifiers_of_group = no_identifiers } };
        snprintf(json, sizeof(json),
                 "{\"metadata\":{\"name\":\"web\",\"generation\":2},\"spec\":{\"strategy\":{%s}}}", strategy);
        s->in.placement = parse(s, &cluster_resource_placement_kind, json);
        snprintf(json, sizeof(json),
                 "{\"metadata\":{\"name\":\"web-0\",\"generation\":1},\"spec\":{\"policyHash\":\"\"},"
                 "\"status\":{"
                 "\"observedCRPGeneration\":%d,\"conditions\":[{\"type\":\"Scheduled\",\"status\":\"True\","
                 "\"reason\":"
                 "\"SchedulingPolicyFulfilled\",\"message\":\"found\",\"observedGeneration\":1,"
                 "\"lastTransitionTime\":"
                 "\"2026-01-01T00:00:00Z\"}],\"targetClusters\":[%s]}}",
                 scheduled_for, decisions);
        s->in.policy = parse(s, &cluster_scheduling_policy_snapshot_kind, json);
        s->snapshots[0] = parse(s, &cluster_resource_snapshot_kind,
                                "{\"metadata\":{\"name\":\"old\",\"labels\":{\"kubernetes-fleet.io/"
                                "resource-index\":\"0\"}}}");
        s->snapshots[1] = parse(s, &cluster_resource_snapshot_kind,
                                "{\"metadata\":{\"name\":\"new\",\"labels\":{\"kubernetes-fleet.io/"
                                "resource-index\":\"1\"}}}");
        s->in.snapshots = (struct object_list){ s->snapshots, 2 };
        s->in.latest = (const struct resource_snapshot *)s->snapshots[1];
        s->in.bindings.at = s->bindings;
}

#define DECISION(name) "{\"clusterName\":\"" name "\",\"selected\":true,\"reason\":\"picked\"}"
#define BOTH DECISION("c1") "," DECISION("c2")

/* conditions: one of T, F or U per type, in order of progress. */
static inline void bind(struct scene *s, const char *cluster, const char *snapshot, const char *conditions)
{
        AUTO_BUF struct buf b;

        buf_init(&b, 1 << 14);
        buf_printf(&b,
                   "{\"metadata\":{\"name\":\"b-%s\",\"generation\":1},\"spec\":{\"state\":\"Bound\","
                   "\"targetCluster\":\"%s\","
                   "\"resourceSnapshotName\":\"%s\",\"schedulingPolicySnapshotName\":\"web-0\"},\"status\":{"
                   "\"conditions\":[",
                   cluster, cluster, snapshot);
        for (size_t i = 0; conditions[i]; i++)
                buf_printf(&b,
                           "%s{\"type\":\"%s\",\"status\":\"%s\",\"reason\":\"R\",\"message\":\"m\","
                           "\"observedGeneration\":1,"
                           "\"lastTransitionTime\":\"2026-01-01T00:00:00Z\"}",
                           i ? "," : "", progress_names[i],
                           conditions[i] == 'T'   ? "True"
                           : conditions[i] == 'F' ? "False"
                                                  : "Unknown");
        buf_append_str(&b, "]}}");
        s->bindings[s->in.bindings.n++] = parse(s, &cluster_resource_binding_kind, b.data);
}

static inline void run(struct scene *s)
{
        if (plan_placement_status(&s->arena, &s->in, &s->plan, &s->err) < 0)
                fail_msg("%s", s->err.text);
}

/* "True Reason" of the placement's own condition. */
static inline const char *own(struct scene *s, const char *suffix)
{
        const struct condition *c =
                condition_find(&s->plan.wanted->status->conditions,
                               arena_printf(&s->arena, "ClusterResourcePlacement%s", suffix));

        return c ? arena_printf(&s->arena, "%s %s", c->status, c->reason) : "absent";
}

#define TIMES                                                                                                \
        "\"observationTime\":\"2026-01-01T00:00:00Z\",\"targetClusterObservedGeneration\":1,"                \
        "\"firstDiffedObservedTime\":\"2026-01-01T00:00:00Z\",\"firstDriftedObservedTime\":"                 \
        "\"2026-01-01T00:00:00Z\""

/* A binding that lists all it can, as one does whose conditions have gone on since. */
static inline void list_all(struct scene *s, const char *cluster)
{
        const struct binding *full =
                parse(s, &cluster_resource_binding_kind,
                      "{\"metadata\":{\"name\":\"b\"},\"spec\":{\"state\":\"Bound\",\"targetCluster\":\"c\","
                      "\"resourceSnapshotName\":\"new\",\"schedulingPolicySnapshotName\":\"web-0\","
                      "\"clusterResourceOverrideSnapshots\":[\"o-0\"]},\"status\":{\"failedPlacements\":[{"
                      "\"version\":\"v1\",\"kind\":\"ConfigMap\",\"name\":\"f\",\"condition\":{\"type\":"
                      "\"Applied\","
                      "\"status\":\"False\",\"reason\":\"R\",\"message\":\"\",\"lastTransitionTime\":"
                      "\"2026-01-01T00:00:00Z\"}}],\"driftedPlacements\":[{\"version\":\"v1\",\"kind\":"
                      "\"ConfigMap\",\"name\":\"d\"," TIMES ",\"observedDrifts\":[{\"path\":\"/a\"}]}],"
                      "\"diffedPlacements\":[{\"version\":\"v1\",\"kind\":\"ConfigMap\",\"name\":\"e\"," TIMES
                      ",\"observedDiffs\":[{\"path\":\"/a\"}]}]}}");

        for (size_t i = 0; i < s->in.bindings.n; i++) {
                struct binding *b = (struct binding *)s->bindings[i];

                if (!text_equal(b->spec->target_cluster, cluster))
                        continue;
                b->spec->cluster_resource_override_snapshots =
                        full->spec->cluster_resource_override_snapshots;
                b->status->failed_placements = full->status->failed_placements;
                b->status->drifted_placements = full->status->drifted_placements;
                b->status->diffed_placements = full->status->diffed_placements;
        }
}
