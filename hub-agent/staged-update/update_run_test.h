/* What the tests of update runs' pure rules share: a fleet of a placement as the rules see it, and a step
 * that does what a plan says. */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "common/base/buf.h"
#include "hub-agent/staged-update/update_run.h"

#define NOW INT64_C(1767225600000) /* 2026-01-01T00:00:00Z */
#define CLUSTERS_MAX 2100

struct scene {
        struct arena arena;
        struct error err;
        struct placement *placement;
        struct policy_snapshot *policy;
        struct update_strategy *strategy;
        struct update_run *run;
        const struct object *bindings[CLUSTERS_MAX], *policies[4], *snapshots[8];
        const struct member_cluster *clusters[CLUSTERS_MAX];
        struct approval_request *requests[64];
        size_t n_requests;
        struct cluster_overrides *overrides; /* one per binding; NULL = none */
        int overrides_code;
        int64_t ahead_ms, waited_ms;
        const char *announcement;              /* of bindings that have none yet */
        const char *plan_hash, *planned_stage; /* of a plan; what one was last asked for */
        bool planned_removal;
        const struct resource_snapshot *taken;
        const char *not_taken;
        struct update_run_input in;
        struct update_run_plan plan;
        int64_t now_ms;
        bool work_generator_is_late; /* RolloutStarted is not written by a step */
};

static inline void *parse(struct scene *s, const struct kind *kind, const char *json)
{
        struct object *o;

        if (object_decode_arena(kind, slice_of(json), &s->arena, &o, &s->err) < 0)
                fail_msg("%s: %s", json, s->err.text);
        return o;
}

static inline void *parse_f(struct scene *s, const struct kind *kind, const char *format, ...)
        __attribute__((format(printf, 3, 4)));
static inline void *parse_f(struct scene *s, const struct kind *kind, const char *format, ...)
{
        char text[8192];
        va_list list;

        va_start(list, format);
        assert_true(vsnprintf(text, sizeof(text), format, list) < (int)sizeof(text));
        va_end(list);
        return parse(s, kind, text);
}

#define APPLY_STRATEGY                                                                                       \
        "{\"type\":\"ClientSideApply\",\"comparisonOption\":\"PartialComparison\",\"whenToApply\":"          \
        "\"Always\",\"whenToTakeOver\":\"Always\"}"

/* ---- making ---- */

static inline void set_placement(struct scene *s, const char *strategy)
{
        s->placement = parse_f(s, &cluster_resource_placement_kind,
                               "{\"metadata\":{\"name\":\"web\"},\"spec\":{\"strategy\":{%s}}}", strategy);
}

/* more: of the spec's policy */
static inline struct policy_snapshot *add_policy(struct scene *s, int index, const char *policy, int count)
{
        struct policy_snapshot *p = parse_f(
                s, &cluster_scheduling_policy_snapshot_kind,
                "{\"metadata\":{\"name\":\"web-%d\",\"generation\":1,\"labels\":{\"kubernetes-fleet.io/"
                "policy-index\":\"%d\",\"kubernetes-fleet.io/is-latest-snapshot\":\"true\"},\"annotations\":{"
                "\"kubernetes-fleet.io/number-of-clusters\":\"%d\"}},\"spec\":{\"policy\":{%s}},\"status\":{"
                "\"conditions\":[{\"type\":\"Scheduled\",\"status\":\"True\",\"observedGeneration\":1,"
                "\"reason\":\"R\",\"message\":\"\",\"lastTransitionTime\":\"2026-01-01T00:00:00Z\"}]}}",
                index, index, count, policy);

        s->policies[s->in.policy_snapshots.n++] = &p->object;
        return p;
}

static inline void add_snapshot(struct scene *s, int index, bool head)
{
        s->snapshots[s->in.resource_snapshots.n++] = parse_f(
                s, &cluster_resource_snapshot_kind,
                "{\"metadata\":{\"name\":\"web-%d-%s\",\"generation\":1,\"labels\":{\"kubernetes-fleet.io/"
                "resource-index\":\"%d\",\"kubernetes-fleet.io/parent-CRP\":\"web\"},\"annotations\":{%s}}}",
                index, head ? "snapshot" : "0", index,
                head ? "\"kubernetes-fleet.io/resource-hash\":\"abc\",\"kubernetes-fleet.io/"
                       "number-of-resource-snapshots\":\"1\""
                     : "\"kubernetes-fleet.io/subindex-of-resource-snapshot\":\"0\"");
}

/* labels as JSON members; state of the binding, which has nothing yet. */
static inline struct binding *add_cluster(struct scene *s, const char *name, const char *labels,
                                          const char *state)
{
        size_t n = s->in.bindings.n++;

        assert_true(n < CLUSTERS_MAX);
        s->clusters[n] = parse_f(s, &member_cluster_kind, "{\"metadata\":{\"name\":\"%s\",\"labels\":{%s}}}",
                                 name, labels);
        s->bindings[n] = parse_f(s, &cluster_resource_binding_kind,
                                 "{\"metadata\":{\"name\":\"web-%s\",\"generation\":1,\"labels\":{"
                                 "\"kubernetes-fleet.io/parent-CRP\":\"web\"}},\"spec\":{\"state\":\"%s\","
                                 "\"targetCluster\":\"%s\",\"resourceSnapshotName\":\"\","
                                 "\"schedulingPolicySnapshotName\":\"web-0\"}}",
                                 name, state, name);
        return (struct binding *)s->bindings[n];
}

static inline void set_strategy(struct scene *s, const char *stages)
{
        s->strategy = parse_f(s, &cluster_staged_update_strategy_kind,
                              "{\"metadata\":{\"name\":\"slow\"},\"spec\":{\"stages\":[%s]}}", stages);
}

static inline void set_run(struct scene *s, const char *index, const char *more)
{
        s->run =
                parse_f(s, &cluster_staged_update_run_kind,
                        "{\"metadata\":{\"name\":\"run\",\"generation\":1},\"spec\":{\"placementName\":"
                        "\"web\",\"stagedRolloutStrategyName\":\"slow\",\"resourceSnapshotIndex\":\"%s\"%s}}",
                        index, more);
}

#define STAGE(name, more)                                                                                    \
        "{\"name\":\"" name "\",\"labelSelector\":{\"matchLabels\":{\"stage\":\"" name "\"}}" more "}"
#define APPROVAL(when) ",\"" when "StageTasks\":[{\"type\":\"Approval\"}]"
#define WAIT(time) ",\"afterStageTasks\":[{\"type\":\"TimedWait\",\"waitTime\":\"" time "\"}]"

/* A placement that picks all, snapshot 0, a strategy and a run of it; no cluster yet. */
static inline void begin(struct scene *s, const char *stages)
{
        *s = (struct scene){ .now_ms = NOW };
        s->in.bindings.at = s->bindings;
        s->in.policy_snapshots.at = s->policies;
        s->in.resource_snapshots.at = s->snapshots;
        set_placement(s, "\"type\":\"External\"");
        s->policy = add_policy(s, 0, "\"placementType\":\"PickAll\"", 0);
        add_snapshot(s, 0, true);
        set_strategy(s, stages);
        set_run(s, "0", "");
}

/* The usual fleet: a1, a2 of stage a and b1 of stage b. */
static inline void begin_usual(struct scene *s, const char *of_a, const char *of_b)
{
        char stages[2048];

        snprintf(stages, sizeof(stages),
                 "{\"name\":\"a\",\"labelSelector\":{\"matchLabels\":{\"stage\":\"a\"}}%s},{\"name\":\"b\","
                 "\"labelSelector\":{\"matchLabels\":{\"stage\":\"b\"}}%s}",
                 of_a, of_b);
        begin(s, stages);
        add_cluster(s, "a1", "\"stage\":\"a\"", "Scheduled");
        add_cluster(s, "a2", "\"stage\":\"a\"", "Scheduled");
        add_cluster(s, "b1", "\"stage\":\"b\"", "Scheduled");
}

/* ---- doing ---- */

static inline int find_request(void *ctx, const char *name, const struct approval_request **ret)
{
        struct scene *s = ctx;

        *ret = NULL;
        for (size_t i = 0; i < s->n_requests; i++)
                if (text_equal(s->requests[i]->object.meta.name, name))
                        *ret = s->requests[i];
        return 0;
}

static inline int give_overrides(void *ctx, const struct resource_snapshot *master,
                                 const struct cluster_overrides **ret)
{
        struct scene *s = ctx;

        assert_non_null(master);
        *ret = s->overrides;
        return s->overrides_code ? error_set(&s->err, s->overrides_code, "the override is broken") : 0;
}

static inline int give_plan(void *ctx, const struct update_run *run, const struct stage_status *stage,
                            bool removal, const char *known, struct update_plan **ret, const char **ret_hash)
{
        struct scene *s = ctx;

        s->planned_stage = stage->stage_name;
        s->planned_removal = removal;
        *ret_hash = s->plan_hash ? s->plan_hash : "h1";
        if (text_equal(known, *ret_hash))
                return 0;
        *ret = ARENA_NEW(&s->arena, struct update_plan);
        (*ret)->resource_snapshot_index = run->status->resource_snapshot_index_used;
        return 0;
}

static inline int64_t give_ahead(void *ctx, int64_t moment)
{
        return ((struct scene *)ctx)->ahead_ms;
}

static inline const char *give_announcement(void *ctx, const struct binding *b)
{
        return ((struct scene *)ctx)->announcement;
}

static inline void plan(struct scene *s)
{
        s->in.run = s->run;
        s->in.placement = s->placement;
        s->in.strategy = s->strategy;
        s->in.clusters = s->clusters;
        s->in.taken = s->taken;
        s->in.not_taken = s->not_taken;
        s->in.approval = find_request;
        s->in.overrides = give_overrides;
        s->in.plan = give_plan;
        s->in.ahead_ms = give_ahead;
        s->in.announcing = give_announcement;
        s->in.ctx = s;
        s->in.retrying_ms = s->waited_ms;
        s->in.now_ms = s->now_ms;
        if (plan_update_run(&s->arena, &s->in, &s->plan, &s->err) < 0)
                fail_msg("%s", s->err.text);
}

static inline struct binding *binding_of(struct scene *s, const char *cluster)
{
        for (size_t i = 0; i < s->in.bindings.n; i++)
                if (text_equal(((const struct binding *)s->bindings[i])->spec->target_cluster, cluster))
                        return (struct binding *)s->bindings[i];
        return NULL;
}

static inline void put_binding(struct scene *s, const struct binding *old, struct binding *now)
{
        for (size_t i = 0; i < s->in.bindings.n; i++)
                if (s->bindings[i] == &old->object)
                        s->bindings[i] = &now->object;
}

static inline void set_binding_condition(struct scene *s, struct binding *b, const char *type,
                                         const char *status, const char *reason)
{
        struct condition c =
                make_condition(type, status, reason, "in whatever words", b->object.meta.generation);

        if (!b->status)
                b->status = ARENA_NEW(&s->arena, struct binding_status);
        assert_true(condition_set(&b->status->conditions, &c, s->now_ms, &s->arena) >= 0);
}

static inline void drop_binding(struct scene *s, const char *cluster)
{
        size_t kept = 0;

        for (size_t i = 0; i < s->in.bindings.n; i++) {
                if (text_equal(((const struct binding *)s->bindings[i])->spec->target_cluster, cluster))
                        continue;
                s->clusters[kept] = s->clusters[i];
                s->bindings[kept++] = s->bindings[i];
        }
        s->in.bindings.n = kept;
}

static inline void do_bindings(struct scene *s)
{
        for (size_t i = 0; i < s->plan.n_update; i++) {
                s->plan.update[i].wanted->object.meta.generation++;
                put_binding(s, s->plan.update[i].now, s->plan.update[i].wanted);
                if (!s->work_generator_is_late)
                        set_binding_condition(s, s->plan.update[i].wanted, "RolloutStarted", "True", "R");
        }
        for (size_t i = 0; i < s->plan.started.n && !s->work_generator_is_late; i++)
                set_binding_condition(s, (struct binding *)s->plan.started.at[i], "RolloutStarted", "True",
                                      "R");
        for (size_t i = 0; i < s->plan.remove.n; i++)
                ((struct binding *)s->plan.remove.at[i])->object.meta.deletion_ms = s->now_ms;
}

static inline void do_approvals(struct scene *s)
{
        for (size_t i = 0; i < s->plan.n_approvals; i++) {
                struct update_run_approval *a = &s->plan.approvals[i];

                if (!a->now) {
                        a->wanted->object.meta.generation = 1;
                        s->requests[s->n_requests++] = a->wanted;
                }
                for (size_t k = 0; a->now && k < s->n_requests; k++)
                        if (s->requests[k] == a->now)
                                s->requests[k] = a->wanted;
        }
}

static inline void pass_over(struct scene *s)
{
        plan(s);
        do_bindings(s);
        do_approvals(s);
        if (s->plan.wanted)
                s->run = s->plan.wanted;
}

static inline bool is_initialized(const struct scene *s)
{
        return s->run->status && condition_find(&s->run->status->conditions, "Initialized");
}

/* Plans, and does it; a run that says no more yet than what it will do goes on. */
static inline void step(struct scene *s)
{
        bool begun = is_initialized(s);

        pass_over(s);
        if (!begun && is_initialized(s) && s->plan.after_ms == 0)
                pass_over(s);
}

/* The resources have become available on the cluster. */
static inline void arrive(struct scene *s, const char *cluster)
{
        set_binding_condition(s, binding_of(s, cluster), "Available", "True", "R");
}

static inline void set_approval_condition(struct scene *s, const char *request, const char *type)
{
        const struct approval_request *r;
        struct condition c = make_condition(type, "True", "lgtm", "lgtm", 1);
        struct approval_request *approved;

        find_request(s, request, &r);
        assert_non_null(r);
        approved = (struct approval_request *)r;
        if (!approved->status)
                approved->status = ARENA_NEW(&s->arena, struct approval_request_status);
        assert_true(condition_set(&approved->status->conditions, &c, s->now_ms, &s->arena) >= 0);
}

static inline void approve(struct scene *s, const char *request)
{
        set_approval_condition(s, request, "Approved");
}

static inline void set_state(struct scene *s, const char *state)
{
        s->run->spec->state = state;
        s->run->object.meta.generation++;
}

/* ---- asking ---- */

static inline const char *says(struct scene *s, const struct condition_list *l, const char *type)
{
        const struct condition *c = condition_find(l, type);

        if (!c)
                return "absent";
        assert_int_equal(c->observed_generation.value, s->run->object.meta.generation);
        return arena_printf(&s->arena, "%s %s", c->status, c->reason);
}

static inline const char *run_says(struct scene *s, const char *type)
{
        return s->run->status ? says(s, &s->run->status->conditions, type) : "absent";
}

static inline const char *run_message(struct scene *s, const char *type)
{
        const struct condition *c = condition_find(&s->run->status->conditions, type);

        return c ? c->message : "";
}

static inline struct stage_status *stage(struct scene *s, size_t i)
{
        assert_true(i < s->run->status->stages_status.n);
        return &s->run->status->stages_status.at[i];
}

static inline const char *stage_says(struct scene *s, size_t i, const char *type)
{
        return says(s, &stage(s, i)->conditions, type);
}

static inline struct cluster_updating_status *cluster(struct scene *s, const char *name)
{
        for (size_t i = 0; i < s->run->status->stages_status.n; i++)
                for (uint32_t k = 0; k < stage(s, i)->clusters.n; k++)
                        if (text_equal(stage(s, i)->clusters.at[k].cluster_name, name))
                                return &stage(s, i)->clusters.at[k];
        fail_msg("cluster %s is in no stage", name);
        return NULL;
}

static inline const char *cluster_says(struct scene *s, const char *name, const char *type)
{
        return says(s, &cluster(s, name)->conditions, type);
}

/* "a1 a2": the clusters that the plan writes to. */
static inline const char *written(struct scene *s)
{
        const char *text = "";

        for (size_t i = 0; i < s->plan.n_update; i++)
                text = arena_printf(&s->arena, "%s%s%s", text, i ? " " : "",
                                    s->plan.update[i].now->spec->target_cluster);
        return text;
}

/* "a1 a2": a stage's clusters in order. */
static inline const char *clusters_of(struct scene *s, size_t i)
{
        const char *text = "";

        for (uint32_t k = 0; k < stage(s, i)->clusters.n; k++)
                text = arena_printf(&s->arena, "%s%s%s", text, k ? " " : "",
                                    stage(s, i)->clusters.at[k].cluster_name);
        return text;
}

#define PREFIX_ABORT "cannot continue the updateRun: "
#define PREFIX_VALID PREFIX_ABORT "failed to validate the updateRun: "
#define PREFIX_USER "failed to process the request due to a client error: "
#define PREFIX_UNEXPECTED "unexpected behavior which cannot be handled by the controller: "

static inline void assert_init_failed(struct scene *s, const char *message)
{
        assert_string_equal(run_says(s, "Initialized"), "False UpdateRunInitializedFailed");
        assert_string_equal(run_message(s, "Initialized"), message);
        assert_string_equal(run_says(s, "Progressing"), "absent");
        assert_int_equal(s->plan.after_ms, NO_WAKE_UP);
        assert_int_equal(s->plan.n_update, 0);
}

static inline void assert_run_failed(struct scene *s, const char *message)
{
        assert_string_equal(run_says(s, "Succeeded"), "False UpdateRunFailed");
        assert_string_equal(run_message(s, "Succeeded"), message);
        assert_string_equal(run_says(s, "Progressing"), "False UpdateRunFailed");
        assert_string_equal(run_message(s, "Progressing"),
                            "The stages are aborted due to a non-recoverable error");
        assert_int_equal(s->plan.after_ms, NO_WAKE_UP);
}

static inline void scene_free(struct scene *s)
{
        arena_free(&s->arena);
}

static inline void ends(struct scene *s)
{
        scene_free(s);
}
