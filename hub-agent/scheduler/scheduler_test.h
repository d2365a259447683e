/* What the tests of the scheduling cycle share: a cycle over objects written as JSON. */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "common/base/buf.h"
#include "hub-agent/scheduler/scheduler.h"

#define NOW INT64_C(1767225600000) /* 2026-01-01T00:00:00Z */
#define ALIVE "2025-12-31T23:59:30Z"

#ifndef CLUSTERS_MAX
#define CLUSTERS_MAX 500
#endif

/* A scheduling cycle over objects written as JSON. */
struct case_ {
        struct arena arena;
        struct error err;
        const struct object **clusters, **bindings;
        struct schedule_input in;
        struct schedule_plan plan;
};

static inline struct object *parse(struct case_ *c, const struct kind *kind, const char *json)
{
        struct object *o;

        if (object_decode_arena(kind, slice_of(json), &c->arena, &o, &c->err) < 0)
                fail_msg("%s: %s", json, c->err.text);
        return o;
}

static inline void begin(struct case_ *c, const char *policy, const char *clusters_wanted)
{
        AUTO_BUF struct buf b;

        *c = (struct case_){ .in = { .placement_name = "web", .placement_uid = "u", .now_ms = NOW } };
        c->clusters = ARENA_NEW_ARRAY(&c->arena, const struct object *, CLUSTERS_MAX);
        c->bindings = ARENA_NEW_ARRAY(&c->arena, const struct object *, CLUSTERS_MAX);
        assert_true(c->clusters && c->bindings);
        c->in.clusters.at = c->clusters;
        c->in.bindings.at = c->bindings;
        buf_init(&b, 1 << 16);
        buf_printf(&b, "{\"metadata\":{\"name\":\"web-1\",\"generation\":1,\"annotations\":{"
                       "\"kubernetes-fleet.io/CRP-generation\":\"3\"");
        if (clusters_wanted)
                buf_printf(&b, ",\"kubernetes-fleet.io/number-of-clusters\":\"%s\"", clusters_wanted);
        buf_printf(&b, "}},\"spec\":{%s%s\"policyHash\":\"\"}}", policy, policy[0] ? "," : "");
        c->in.snapshot =
                (const struct policy_snapshot *)parse(c, &cluster_scheduling_policy_snapshot_kind, b.data);
}

/* `meta` and `rest` are JSON members of metadata and status/spec, each ending in a comma or empty. */
static inline void add_cluster(struct case_ *c, const char *name, const char *labels, const char *heartbeat,
                               const char *status, const char *spec)
{
        AUTO_BUF struct buf b;

        buf_init(&b, 1 << 16);
        buf_printf(&b,
                   "{\"metadata\":{\"name\":\"%s\",\"labels\":{%s}},\"spec\":{%s\"identity\":{\"kind\":"
                   "\"User\",\"name\":\"x\"}},"
                   "\"status\":{%s\"agentStatus\":[{\"type\":\"MemberAgent\",\"lastReceivedHeartbeat\":\"%"
                   "s\",\"conditions\":["
                   "{\"type\":\"Joined\",\"status\":\"True\",\"reason\":\"x\",\"message\":\"\","
                   "\"lastTransitionTime\":\"" ALIVE
                   "\"},{\"type\":\"Healthy\",\"status\":\"True\",\"reason\":\"x\",\"message\":\"\","
                   "\"lastTransitionTime\":"
                   "\"" ALIVE "\"}]}]}}",
                   name, labels, spec, status, heartbeat);
        c->clusters[c->in.clusters.n++] = parse(c, &member_cluster_kind, b.data);
}

static inline void add_plain(struct case_ *c, const char *name)
{
        add_cluster(c, name, "", ALIVE, "", "");
}

static inline void add_binding(struct case_ *c, const char *name, const char *cluster, const char *state,
                               const char *snapshot, int affinity, int topology, const char *meta)
{
        AUTO_BUF struct buf b;

        buf_init(&b, 1 << 16);
        buf_printf(
                &b,
                "{\"metadata\":{%s\"name\":\"%s\",\"uid\":\"%s\"},\"spec\":{\"state\":\"%s\","
                "\"targetCluster\":\"%s\","
                "\"resourceSnapshotName\":\"\",\"schedulingPolicySnapshotName\":\"%s\",\"clusterDecision\":{"
                "\"clusterName\":\"%s\",\"selected\":true,\"reason\":\"r\",\"clusterScore\":{"
                "\"affinityScore\":%d,"
                "\"priorityScore\":%d}}}}",
                meta, name, name, state, cluster, snapshot, cluster, affinity, topology);
        c->bindings[c->in.bindings.n++] = parse(c, &cluster_resource_binding_kind, b.data);
}

static inline void run(struct case_ *c)
{
        if (schedule_cycle(&c->arena, &c->in, &c->plan, &c->err) < 0)
                fail_msg("%s", c->err.text);
}

static inline void end(struct case_ *c)
{
        arena_free(&c->arena);
}

/* "a b c" of the clusters that get new bindings, in order. */
static inline const char *created(struct case_ *c)
{
        const char *text = "";

        for (size_t i = 0; i < c->plan.n_create; i++)
                text = arena_printf(&c->arena, "%s%s%s", text, i ? " " : "", c->plan.create[i].cluster);
        return text;
}

static inline const char *unscheduled(struct case_ *c)
{
        const char *text = "";

        for (size_t i = 0; i < c->plan.unschedule.n; i++)
                text = arena_printf(&c->arena, "%s%s%s", text, i ? " " : "",
                                    c->plan.unschedule.at[i]->object.meta.name);
        return text;
}

static inline const struct cluster_decision *decision_on(struct case_ *c, const char *cluster)
{
        for (size_t i = 0; i < c->plan.n_decisions; i++)
                if (text_equal(c->plan.decisions[i].cluster_name, cluster))
                        return &c->plan.decisions[i];
        return NULL;
}

#define PICK_N "\"policy\":{\"placementType\":\"PickN\""

#define AFFINITY(parts) "\"affinity\":{\"clusterAffinity\":{" parts "}}"
#define REQUIRED(terms)                                                                                      \
        AFFINITY("\"requiredDuringSchedulingIgnoredDuringExecution\":{\"clusterSelectorTerms\":[" terms "]"  \
                 "}")
#define PREFERRED(term)                                                                                      \
        AFFINITY("\"preferredDuringSchedulingIgnoredDuringExecution\":[{\"weight\":1,\"preference\":" term   \
                 "}]")
#define PROPERTY(name, operator, values)                                                                     \
        "{\"propertySelector\":{\"matchExpressions\":[{\"name\":\"" name "\",\"operator\":\""                \
        operator"\",\"values\":[" values "]}]}}"
#define NODE_COUNT "kubernetes-fleet.io/node-count"
#define NODES(value)                                                                                         \
        "\"properties\":{\"" NODE_COUNT "\":{\"value\":\"" value "\",\"observationTime\":\"" ALIVE "\"}},"
