#include "hub-agent/placement/status.h"

#include "common/base/limits.h"
#include "common/base/map.h"
#include "hub-agent/entries.h"

const char *const progress_names[N_PROGRESS] = { CONDITION_ROLLOUT_STARTED,   CONDITION_OVERRIDDEN,
                                                 CONDITION_WORK_SYNCHRONIZED, CONDITION_APPLIED,
                                                 CONDITION_AVAILABLE,         CONDITION_DIFF_REPORTED };

/* Words per condition type: of the placement's condition by its count of clusters, and of the cluster's
 * Unknown. */
struct words {
        const char *true_reason, *true_message, *false_reason, *false_message, *unknown_reason,
                *unknown_message;
        const char *cluster_unknown_message, *event_reason, *event_message;
};
static const struct words words[N_PROGRESS] = {
        [ROLLOUT_STARTED] = { REASON_ROLLOUT_STARTED, MESSAGE_ROLLOUT_STARTED, REASON_ROLLOUT_NOT_STARTED_YET,
                              MESSAGE_ROLLOUT_NOT_STARTED_YET, REASON_ROLLOUT_STARTED_UNKNOWN,
                              MESSAGE_ROLLOUT_STARTED_UNKNOWN,
                              "In the process of deciding whether to roll out some version of the resources "
                              "or not",
                              EVENT_PLACEMENT_ROLLOUT_STARTED, "Started rolling out the latest resources" },
        [OVERRIDDEN] = { REASON_OVERRIDDEN_SUCCEEDED, MESSAGE_OVERRIDDEN_SUCCEEDED, REASON_OVERRIDDEN_FAILED,
                         MESSAGE_OVERRIDDEN_FAILED, REASON_OVERRIDDEN_PENDING, MESSAGE_OVERRIDDEN_PENDING,
                         "In the process of overriding the selected resources if there is any override "
                         "defined",
                         EVENT_PLACEMENT_OVERRIDDEN_SUCCEEDED, "Placement has been successfully overridden" },
        [WORK_SYNCHRONIZED] = { REASON_WORK_SYNCHRONIZED, MESSAGE_WORK_SYNCHRONIZED,
                                REASON_WORK_NOT_SYNCHRONIZED_YET, MESSAGE_WORK_NOT_SYNCHRONIZED_YET,
                                REASON_WORK_SYNCHRONIZED_UNKNOWN, MESSAGE_WORK_SYNCHRONIZED_UNKNOWN,
                                "In the process of creating or updating the work object(s) in the hub "
                                "cluster",
                                EVENT_PLACEMENT_WORK_SYNCHRONIZED,
                                "Work(s) have been created or updated successfully for the selected "
                                "cluster(s)" },
        [APPLIED] = { REASON_APPLY_SUCCEEDED, MESSAGE_APPLY_SUCCEEDED, REASON_APPLY_FAILED,
                      MESSAGE_APPLY_FAILED, REASON_APPLY_PENDING, MESSAGE_APPLY_PENDING,
                      "In the process of applying the resources on the member cluster",
                      EVENT_PLACEMENT_APPLIED, "Resources have been applied to the selected cluster(s)" },
        [AVAILABLE] = { REASON_RESOURCE_AVAILABLE, MESSAGE_RESOURCE_AVAILABLE,
                        REASON_RESOURCE_NOT_AVAILABLE_YET, MESSAGE_RESOURCE_NOT_AVAILABLE_YET,
                        REASON_RESOURCE_AVAILABLE_UNKNOWN, MESSAGE_RESOURCE_AVAILABLE_UNKNOWN,
                        "The availability of the selected resources is unknown yet ",
                        EVENT_PLACEMENT_AVAILABLE, "Resources are available on the selected cluster(s)" },
        [DIFF_REPORTED] = { REASON_DIFF_REPORTING_COMPLETED, MESSAGE_DIFF_REPORTING_COMPLETED,
                            REASON_DIFF_REPORTING_INCOMPLETE_OR_FAILED,
                            MESSAGE_DIFF_REPORTING_INCOMPLETE_OR_FAILED, REASON_DIFF_REPORTING_PENDING,
                            MESSAGE_DIFF_REPORTING_PENDING,
                            "Diff reporting has just started; its status is not yet to be known",
                            EVENT_PLACEMENT_DIFF_REPORTED,
                            "Configuration differences have been reported on the selected cluster(s)" },
};

bool is_external(const struct placement *p)
{
        return p->spec->strategy && text_equal(p->spec->strategy->type, "External");
}

size_t expected_progress(const struct placement *p, enum progress ret[N_PROGRESS])
{
        static const enum progress apply[] = { ROLLOUT_STARTED, OVERRIDDEN, WORK_SYNCHRONIZED, APPLIED,
                                               AVAILABLE };
        static const enum progress diff[] = { ROLLOUT_STARTED, OVERRIDDEN, WORK_SYNCHRONIZED, DIFF_REPORTED };
        const struct apply_strategy *a = p->spec->strategy ? p->spec->strategy->apply_strategy : NULL;
        bool report = a && text_equal(a->type, APPLY_REPORT_DIFF);
        size_t n = report ? ARRAY_LEN(diff) : ARRAY_LEN(apply);

        memcpy(ret, report ? diff : apply, n * sizeof(ret[0]));
        return n;
}

/* ---- the pass ---- */

struct pass {
        const struct status_input *in;
        struct arena *arena;
        struct error *err;
        const struct placement *now;
        struct placement_status *s; /* being built */
        int64_t generation;
        enum progress expected[N_PROGRESS];
        size_t n_expected;
        size_t count[N_PROGRESS][3]; /* True, False, Unknown clusters */
        size_t n_stuck[N_PROGRESS];  /* of the False ones: those that stay so until somebody acts */
        size_t n_selected, n_decided;
        bool any_override;
        struct map bindings; /* cluster -> const struct binding * of the latest policy */
        struct map before;   /* cluster -> const struct per_cluster_status *, what is told of it now */
};
enum { IS_TRUE, IS_FALSE, IS_UNKNOWN };

static const char *own_type(struct pass *p, const char *suffix)
{
        const char *prefix = scope_of(p->now->object.meta.ns)->condition_prefix;

        return arena_printf(p->arena, "%s%s", prefix, suffix);
}

static int put(struct pass *p, struct condition_list *l, struct condition c)
{
        if (!c.type || !c.message || condition_set(l, &c, p->in->now_ms, p->arena) < 0)
                return error_no_memory(p->err);
        return 0;
}

static int put_scheduled(struct pass *p, bool *ret_known)
{
        const struct policy_snapshot *snapshot = p->in->policy;
        const struct policy_snapshot_status *s = snapshot->status;
        const struct condition *c = s ? condition_find(&s->conditions, CONDITION_SCHEDULED) : NULL;
        const char *type = own_type(p, CONDITION_SCHEDULED);

        *ret_known = c && !text_equal(c->status, CONDITION_UNKNOWN) &&
                     c->observed_generation.value >= snapshot->object.meta.generation &&
                     s->observed_crp_generation.value >= p->generation;
        if (p->in->unread_reason)
                return put(p, &p->s->conditions,
                           make_condition(type, CONDITION_FALSE, p->in->unread_reason, p->in->unread_message,
                                          p->generation));
        if (!*ret_known)
                return put(p, &p->s->conditions,
                           make_condition(type, CONDITION_UNKNOWN, REASON_SCHEDULE_PENDING,
                                          MESSAGE_SCHEDULE_PENDING, p->generation));
        return put(p, &p->s->conditions,
                   make_condition(type, c->status, c->reason, c->message, p->generation));
}

/* The first of each name. */
static int note(struct map *m, const char *cluster, const void *what)
{
        return text_empty(cluster) || map_has(m, cluster) ? 0 : map_put(m, cluster, (void *)(uintptr_t)what);
}

static int look_up_clusters(struct pass *p)
{
        const struct placement_status *old = p->now->status;

        for (size_t i = 0; i < p->in->bindings.n; i++) {
                const struct binding *b = (const struct binding *)p->in->bindings.at[i];

                if (!is_deleting(&b->object) && b->spec &&
                    text_equal(b->spec->scheduling_policy_snapshot_name, p->in->policy->object.meta.name) &&
                    note(&p->bindings, b->spec->target_cluster, b) < 0)
                        return error_no_memory(p->err);
        }
        for (uint32_t i = 0; old && i < old->placement_statuses.n; i++) {
                const struct per_cluster_status *e = &old->placement_statuses.at[i];

                if (e->conditions.n > 0 && note(&p->before, e->cluster_name, e) < 0)
                        return error_no_memory(p->err);
        }
        return 0;
}

/* ---- one cluster ---- */

/* Since when a condition is as it is: without that each would seem to be new. */
static int keep(struct pass *p, const struct condition *at, uint32_t n, struct per_cluster_status *e)
{
        e->conditions = (struct condition_list){ arena_memdup(p->arena, at, n * sizeof(*at)), n, true };
        return e->conditions.at ? 0 : error_no_memory(p->err);
}

static int keep_conditions(struct pass *p, const char *cluster, struct per_cluster_status *e)
{
        const struct per_cluster_status *old = map_get(&p->before, cluster);

        return old ? keep(p, old->conditions.at, old->conditions.n, e) : 0;
}

static int cluster_unknown(struct pass *p, struct per_cluster_status *e, enum progress which)
{
        p->count[which][IS_UNKNOWN]++;
        return put(p, &e->conditions,
                   make_condition(progress_names[which], CONDITION_UNKNOWN, words[which].unknown_reason,
                                  words[which].cluster_unknown_message, p->generation));
}

static void copy_details(struct pass *p, const struct binding *b, enum progress which, bool is_true,
                         struct per_cluster_status *e)
{
        if (which == ROLLOUT_STARTED && is_true) {
                e->applicable_resource_overrides = b->spec->resource_override_snapshots;
                e->applicable_cluster_resource_overrides = b->spec->cluster_resource_override_snapshots;
                p->any_override |=
                        e->applicable_resource_overrides.n || e->applicable_cluster_resource_overrides.n;
        }
        if (which == APPLIED || which == AVAILABLE) {
                e->drifted_placements = LIST_OR_NONE(b->status->drifted_placements);
                if (!is_true) {
                        e->failed_placements = LIST_OR_NONE(b->status->failed_placements);
                        e->diffed_placements = LIST_OR_NONE(b->status->diffed_placements);
                }
        }
        if (which == DIFF_REPORTED && is_true)
                e->diffed_placements = LIST_OR_NONE(b->status->diffed_placements);
}

/* False for now only: work has begun, or waits for workloads to come up. */
static bool is_under_way(const struct binding *b, const struct condition *c)
{
        static const char *const reasons[] = { REASON_BINDING_APPLY_IN_PROGRESS,
                                               REASON_BINDING_DIFF_REPORT_IN_PROGRESS };

        return text_in(c->reason, reasons, ARRAY_LEN(reasons)) || text_equal(c->type, CONDITION_AVAILABLE) ||
               (text_equal(c->reason, REASON_BINDING_NOT_ALL_APPLIED) && !b->status->failed_placements);
}

/* Walks the binding's conditions; returns how many types were set. */
static int walk_binding(struct pass *p, const struct binding *b, struct per_cluster_status *e,
                        size_t *ret_set)
{
        for (size_t i = 0; i < p->n_expected; i++) {
                enum progress which = p->expected[i];
                const struct condition *c =
                        b->status ? fresh_condition(&b->status->conditions, progress_names[which],
                                                    b->object.meta.generation)
                                  : NULL;
                bool is_true;

                *ret_set = i + 1;
                if (!c)
                        return cluster_unknown(p, e, which);
                is_true = text_equal(c->status, CONDITION_TRUE);
                TRY(put(p, &e->conditions,
                        make_condition(c->type, c->status, c->reason, or_empty(c->message), p->generation)));
                copy_details(p, b, which, is_true, e);
                p->count[which][is_true ? IS_TRUE : IS_FALSE]++;
                p->n_stuck[which] += !is_true && !is_under_way(b, c);
                if (!is_true)
                        return 0;
        }
        return 0;
}

static const char *index_of_snapshot(struct pass *p, const char *name)
{
        for (size_t i = 0; i < p->in->snapshots.n; i++)
                if (text_equal(p->in->snapshots.at[i]->meta.name, name))
                        return label_of(p->in->snapshots.at[i], LABEL_RESOURCE_INDEX);
        return NULL;
}

/* One that is gone, by whoever's hand, is told by its name: the cluster has what it held. */
static int tell_index(struct pass *p, const struct binding *b, struct per_cluster_status *e)
{
        const char *name = or_empty(b->spec->resource_snapshot_name);
        int64_t index = index_in_name(name, p->now->object.meta.name, SUFFIX_RESOURCE_SNAPSHOT);

        e->observed_resource_index = index_of_snapshot(p, name);
        if (e->observed_resource_index || index == NO_INDEX)
                return 0;
        e->observed_resource_index = arena_printf(p->arena, "%lld", (long long)index);
        return e->observed_resource_index ? 0 : error_no_memory(p->err);
}

static int blocked_on_old_snapshot(struct pass *p, const struct binding *b, struct per_cluster_status *e)
{
        const struct condition *c =
                b->status ? fresh_condition(&b->status->conditions, CONDITION_ROLLOUT_STARTED,
                                            b->object.meta.generation)
                          : NULL;

        if (!c || !text_equal(c->status, CONDITION_FALSE))
                return cluster_unknown(p, e, ROLLOUT_STARTED);
        p->count[ROLLOUT_STARTED][IS_FALSE]++;
        return put(p, &e->conditions,
                   make_condition(CONDITION_ROLLOUT_STARTED, CONDITION_FALSE, REASON_ROLLOUT_NOT_STARTED_YET,
                                  MESSAGE_CLUSTER_ROLLOUT_NOT_STARTED_YET, p->generation));
}

static void drop_unset(struct pass *p, struct per_cluster_status *e, size_t n_set)
{
        for (enum progress which = 0; which < N_PROGRESS; which++) {
                bool set = false;

                for (size_t i = 0; i < n_set; i++)
                        set = set || p->expected[i] == which;
                if (!set)
                        condition_remove(&e->conditions, progress_names[which]);
        }
}

static int selected_cluster(struct pass *p, const struct cluster_decision *d, struct per_cluster_status *e)
{
        const struct binding *b = map_get(&p->bindings, d->cluster_name);
        size_t n_set = 1;

        *e = (struct per_cluster_status){ .cluster_name = d->cluster_name };
        TRY(keep_conditions(p, d->cluster_name, e));
        TRY(put(p, &e->conditions,
                make_condition(CONDITION_SCHEDULED, CONDITION_TRUE, REASON_CLUSTER_SCHEDULED,
                               or_empty(d->reason), p->generation)));
        if (!b) {
                TRY(cluster_unknown(p, e, ROLLOUT_STARTED));
        } else if (is_external(p->now)) {
                TRY(tell_index(p, b, e));
                TRY(walk_binding(p, b, e, &n_set));
        } else {
                e->observed_resource_index = label_of(&p->in->latest->object, LABEL_RESOURCE_INDEX);
                if (text_equal(b->spec->resource_snapshot_name, p->in->latest->object.meta.name))
                        TRY(walk_binding(p, b, e, &n_set));
                else
                        TRY(blocked_on_old_snapshot(p, b, e));
        }
        drop_unset(p, e, n_set);
        return 0;
}

/* ---- all clusters ---- */

static int count_missing(struct pass *p, size_t *ret)
{
        const struct placement_policy *policy = p->now->spec->policy;
        int64_t missing = 0;

        if (policy && text_equal(policy->placement_type, PLACEMENT_PICK_N) && policy->number_of_clusters.set)
                missing = policy->number_of_clusters.value - (int64_t)p->n_selected;
        else if (policy && text_equal(policy->placement_type, PLACEMENT_PICK_FIXED))
                missing = (int64_t)policy->cluster_names.n - (int64_t)p->n_selected;
        if (missing < 0)
                return error_set(p->err, ERR_INVALID,
                                 "placement \"%s\": %zu clusters are selected, more than requested",
                                 p->now->object.meta.name, p->n_selected);
        *ret = MIN((size_t)missing, p->n_decided - p->n_selected);
        return 0;
}

static const struct per_cluster_status *old_failure(struct pass *p, const char *reason)
{
        const struct placement_status *old = p->now->status;

        for (uint32_t i = 0; old && i < old->placement_statuses.n; i++) {
                const struct per_cluster_status *e = &old->placement_statuses.at[i];

                if (text_empty(e->cluster_name) && e->conditions.n == 1 &&
                    text_equal(e->conditions.at[0].message, reason))
                        return e;
        }
        return NULL;
}

/* The entry carries no name of a cluster; the reason that a filter gives carries none either. Of PickN the
 * filtered clusters are those without a score (spec/scheduler.md 14); PickFixed names each cluster. */
static const char *failure_message(struct pass *p, const struct cluster_decision *d)
{
        const struct placement_policy *policy = p->now->spec->policy;
        const char *reason = or_empty(d->reason);

        return policy && text_equal(policy->placement_type, PLACEMENT_PICK_N) && !d->cluster_score
                       ? arena_printf(p->arena, "%s is not selected: %s", d->cluster_name, reason)
                       : reason;
}

static int failed_entry(struct pass *p, const struct cluster_decision *d, struct per_cluster_status *e)
{
        const char *message = failure_message(p, d);
        const struct per_cluster_status *old = message ? old_failure(p, message) : NULL;

        *e = (struct per_cluster_status){ 0 };
        if (old)
                TRY(keep(p, old->conditions.at, 1, e));
        return put(p, &e->conditions,
                   make_condition(CONDITION_SCHEDULED, CONDITION_FALSE, REASON_CLUSTER_SCHEDULE_FAILED,
                                  message, p->generation));
}

/* ---- members that write much ---- */

static struct entry_lists lists_of(struct per_cluster_status *e)
{
        return (struct entry_lists){ &e->failed_placements, &e->drifted_placements, &e->diffed_placements };
}

/* In the last of the cluster's conditions. */
static int tell_cut(struct pass *p, struct per_cluster_status *e, size_t n_cut)
{
        for (size_t i = p->n_expected; n_cut && i > 0; i--) {
                const struct condition *c =
                        condition_find(&e->conditions, progress_names[p->expected[i - 1]]);

                if (c)
                        return put(p, &e->conditions,
                                   make_condition(c->type, c->status, c->reason,
                                                  entries_note(p->arena, c->message, n_cut), p->generation));
        }
        return 0;
}

/* What members write must not make the status too large to be written, or nobody is told of anything any
 * more. */
static int bound_entries(struct pass *p, struct per_cluster_status *list, size_t n)
{
        size_t *wants = ARENA_NEW_ARRAY(p->arena, size_t, n + 1), share;

        if (!wants)
                return error_no_memory(p->err);
        for (size_t i = 0; i < n; i++) {
                struct entry_lists lists = lists_of(&list[i]);

                wants[i] = entries_bytes(&lists);
        }
        share = entries_fair_share(wants, n, LIMIT_PLACEMENT_ENTRIES_BYTES);
        for (size_t i = 0; i < n; i++) {
                struct entry_lists lists = lists_of(&list[i]);

                TRY(tell_cut(p, &list[i], entries_cut(&lists, share)));
        }
        return 0;
}

static int build_clusters(struct pass *p)
{
        const struct cluster_decision_list *decisions = &p->in->policy->status->target_clusters;
        struct per_cluster_status *list =
                ARENA_NEW_ARRAY(p->arena, struct per_cluster_status, decisions->n + 1);
        size_t missing = 0, n = 0;

        if (!list)
                return error_no_memory(p->err);
        p->n_decided = decisions->n;
        TRY(look_up_clusters(p));
        for (uint32_t i = 0; i < decisions->n; i++)
                if (decisions->at[i].selected.value)
                        TRY(selected_cluster(p, &decisions->at[i], &list[n++]));
        p->n_selected = n;
        TRY(bound_entries(p, list, n));
        TRY(count_missing(p, &missing));
        for (uint32_t i = 0; i < decisions->n && missing > 0; i++)
                if (!decisions->at[i].selected.value) {
                        TRY(failed_entry(p, &decisions->at[i], &list[n++]));
                        missing--;
                }
        p->s->placement_statuses.at = list;
        p->s->placement_statuses.n = (uint32_t)n;
        p->s->placement_statuses.set = true;
        return 0;
}

/* ---- the placement's own conditions ---- */

static int put_own(struct pass *p, enum progress which)
{
        const struct words *w = &words[which];
        const size_t *n = p->count[which];
        const char *type = own_type(p, progress_names[which]), *status, *reason, *format;
        size_t count;

        if (n[IS_UNKNOWN]) {
                status = CONDITION_UNKNOWN, reason = w->unknown_reason, format = w->unknown_message,
                count = n[IS_UNKNOWN];
        } else if (n[IS_FALSE]) {
                status = CONDITION_FALSE, reason = w->false_reason, format = w->false_message,
                count = n[IS_FALSE];
        } else {
                status = CONDITION_TRUE, reason = w->true_reason, format = w->true_message,
                count = n[IS_TRUE];
        }
        if (which == OVERRIDDEN && text_equal(status, CONDITION_TRUE) && !p->any_override)
                return put(p, &p->s->conditions,
                           make_condition(type, status, REASON_NO_OVERRIDE_SPECIFIED,
                                          MESSAGE_NO_OVERRIDE_SPECIFIED, p->generation));
                /* The formats are the constants of the table above. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
        return put(
                p, &p->s->conditions,
                make_condition(type, status, reason, arena_printf(p->arena, format, count), p->generation));
#pragma GCC diagnostic pop
}

static int own_conditions(struct pass *p, size_t *ret_set)
{
        for (size_t i = 0; i < p->n_expected; i++) {
                enum progress which = p->expected[i];

                TRY(put_own(p, which));
                *ret_set = i + 1;
                if (p->count[which][IS_UNKNOWN] || p->count[which][IS_FALSE])
                        break;
        }
        return 0;
}

static int drop_own(struct pass *p, size_t n_set)
{
        for (enum progress which = 0; which < N_PROGRESS; which++) {
                const char *type = own_type(p, progress_names[which]);
                bool set = false;

                if (!type)
                        return error_no_memory(p->err);
                for (size_t i = 0; i < n_set; i++)
                        set = set || p->expected[i] == which;
                if (!set)
                        condition_remove(&p->s->conditions, type);
        }
        return 0;
}

/* ---- External (spec 10.6) ---- */

static const struct per_cluster_status *undecided_cluster(struct pass *p)
{
        for (size_t i = 0; i < p->n_selected; i++) {
                const struct condition *c =
                        condition_find(&p->s->placement_statuses.at[i].conditions, CONDITION_ROLLOUT_STARTED);

                if (!c || text_equal(c->status, CONDITION_UNKNOWN))
                        return &p->s->placement_statuses.at[i];
        }
        return NULL;
}

/* 1 when the status ends with a RolloutStarted of its own, 0 when the usual walk follows. */
static int external(struct pass *p)
{
        const char *index = or_empty(p->s->placement_statuses.at[0].observed_resource_index), *message = NULL;
        const struct per_cluster_status *undecided = undecided_cluster(p);
        bool same = true;

        for (size_t i = 1; i < p->n_selected; i++)
                same = same &&
                       text_equal(index, or_empty(p->s->placement_statuses.at[i].observed_resource_index));
        p->s->selected_resources = (struct resource_identifier_list){ 0 };
        p->s->observed_resource_index = NULL;
        if (!same) {
                message = "Rollout is controlled by an external controller and different resource snapshot "
                          "versions "
                          "are observed across clusters";
        } else if (!index[0]) {
                message = arena_printf(
                        p->arena,
                        "Rollout is controlled by an external controller and no resource snapshot name "
                        "is observed across clusters. To determine rollout status, check the %s "
                        "resources with spec.placementName matching this placement",
                        p->now->object.meta.ns ? "StagedUpdateRun" : "ClusterStagedUpdateRun");
        } else {
                p->s->observed_resource_index = index;
                TRY(p->in->identifiers_of_group(p->in->ctx, index, &p->s->selected_resources, p->err));
                if (undecided)
                        message = arena_printf(
                                p->arena,
                                "Rollout is controlled by an external controller and cluster %s is in "
                                "RolloutStarted Unknown state",
                                undecided->cluster_name);
        }
        if (!message)
                return same && index[0] && !undecided ? 0 : error_no_memory(p->err);
        TRY(put(p, &p->s->conditions,
                make_condition(own_type(p, CONDITION_ROLLOUT_STARTED), CONDITION_UNKNOWN,
                               REASON_ROLLOUT_CONTROLLED_EXTERNALLY, message, p->generation)));
        return 1;
}

/* ---- whole ---- */

/* Only what does not speak about clusters stays. */
static int no_cluster(struct pass *p)
{
        const char *stays[] = { own_type(p, CONDITION_SCHEDULED), CONDITION_CRP_STATUS_SYNCED };
        struct condition *kept = ARENA_NEW_ARRAY(p->arena, struct condition, ARRAY_LEN(stays));
        uint32_t n = 0;

        if (!kept || !stays[0])
                return error_no_memory(p->err);
        for (size_t i = 0; i < ARRAY_LEN(stays); i++) {
                const struct condition *c = condition_find(&p->s->conditions, stays[i]);

                if (c)
                        kept[n++] = *c;
        }
        p->s->conditions = (struct condition_list){ kept, n, true };
        return 0;
}

static int build(struct pass *p)
{
        size_t n_set = 0;
        bool known;
        int code = 0;

        p->s->selected_resources = p->in->selected;
        p->s->observed_resource_index =
                p->in->latest ? label_of(&p->in->latest->object, LABEL_RESOURCE_INDEX) : NULL;
        TRY(put_scheduled(p, &known));
        if (!known)
                return 0; /* what is known about the clusters stays until the scheduler has spoken */
        TRY(build_clusters(p));
        if (p->n_selected == 0)
                return no_cluster(p);
        if (is_external(p->now))
                code = external(p);
        if (code < 0)
                return code;
        if (code == 1)
                n_set = 1;
        else
                TRY(own_conditions(p, &n_set));
        return drop_own(p, n_set);
}

struct turn { /* of a condition of the placement: whether it is true, before and now */
        bool before, now;
};

static int find_turn(struct pass *p, const char *suffix, struct turn *ret)
{
        const struct placement_status *old = p->now->status;
        const char *type = own_type(p, suffix);

        if (!type)
                return error_no_memory(p->err);
        *ret = (struct turn){ old && condition_is_true(&old->conditions, type, p->generation),
                              condition_is_true(&p->s->conditions, type, p->generation) };
        return 0;
}

static int conclude(struct pass *p, struct status_plan *plan)
{
        struct turn whole;

        TRY(find_turn(p, CONDITION_SCHEDULED, &whole));

        for (size_t i = 0; i < p->n_expected; i++) {
                enum progress which = p->expected[i];
                struct turn one;

                TRY(find_turn(p, progress_names[which], &one));
                if (one.now && !one.before)
                        plan->events[plan->n_events++] = (struct status_event){ words[which].event_reason,
                                                                                words[which].event_message };
                whole.now = whole.now && one.now;
                whole.before = whole.before && one.before;
                if (p->n_stuck[which] && !p->count[which][IS_UNKNOWN])
                        plan->settled = true;
        }
        plan->complete = whole.now;
        plan->settled = plan->settled || whole.now;
        if (whole.now && !whole.before)
                plan->events[plan->n_events++] = (struct status_event){
                        EVENT_PLACEMENT_ROLLOUT_COMPLETED,
                        "Placement has finished the rollout process and reached the desired "
                        "status"
                };
        return 0;
}

static struct placement *copy_with_status(struct arena *arena, const struct placement *p)
{
        struct placement *wanted = (struct placement *)object_copy(&p->object, arena);

        if (wanted && !wanted->status)
                wanted->status = ARENA_NEW(arena, struct placement_status);
        return wanted && wanted->status ? wanted : NULL;
}

int plan_placement_status(struct arena *arena, const struct status_input *in, struct status_plan *ret,
                          struct error *err)
{
        struct status_plan plan = { .wanted = copy_with_status(arena, in->placement) };
        struct pass p = { .in = in,
                          .arena = arena,
                          .err = err,
                          .now = in->placement,
                          .generation = in->placement->object.meta.generation };
        int code;

        if (!plan.wanted)
                return error_no_memory(err);
        p.s = plan.wanted->status;
        p.n_expected = expected_progress(in->placement, p.expected);
        map_init(&p.bindings, MAP_BORROW_KEYS, NULL);
        map_init(&p.before, MAP_BORROW_KEYS, NULL);
        code = build(&p);
        map_free(&p.bindings);
        map_free(&p.before);
        TRY(code);
        TRY(conclude(&p, &plan));
        plan.changed = !object_equal_part(&in->placement->object, &plan.wanted->object, OBJECT_STATUS);
        *ret = plan;
        return 0;
}

struct placement *status_unschedulable(struct arena *arena, const struct placement *p, const char *reason,
                                       const char *message, int64_t now_ms)
{
        struct placement *wanted = copy_with_status(arena, p);
        struct condition c;

        if (!wanted)
                return NULL;
        c = make_condition(arena_printf(arena, "%sScheduled", scope_of(p->object.meta.ns)->condition_prefix),
                           CONDITION_FALSE, reason, message, p->object.meta.generation);
        if (!c.type || condition_set(&wanted->status->conditions, &c, now_ms, arena) < 0)
                return NULL;
        return wanted;
}
