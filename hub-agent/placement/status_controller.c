/* The status of placements, its copy in the placed namespace, and what is told in Events: from snapshots and
 * bindings and from what the intake found. Nobody else writes a placement's status, and an event of a binding
 * selects nothing. spec/placement.md 7, 10, 11, 13. */
#include "hub-agent/agent.h"
#include "hub-agent/placement/finding.h"
#include "hub-agent/placement/mirror.h"
#include "hub-agent/placement/progress.h"
#include "hub-agent/placement/select.h"
#include "hub-agent/placement/status.h"
#include "hub-agent/placement/warnings.h"
#include "hub-agent/shards.h"

#define RETRY_MS (30 * 60 * 1000)
#define FOREIGN_MS 30000 /* snapshots that somebody else changed are put right after */

struct status_memory {
        struct memory memory;
        struct hold hold;
        int64_t unavailable_told_ms; /* clusters that became unavailable until then were told */
        int64_t stalled_told_ms;     /* a rollout that stood still after this change was told */
        struct not_found_told not_found;
        struct told_list told;
        char external_told[65]; /* hash of the selection that nobody rolls out, as it was told */
};

static void clear_memory(void *record)
{
        struct status_memory *m = record;

        hold_let_go(&m->hold);
        told_free(&m->told);
}
const struct memory_kind status_memory_kind = { sizeof(struct status_memory), clear_memory };

struct pass {
        struct reconcile *rc;
        struct hub_agent *agent;
        const struct scope *scope;
        const struct placement *p;
        struct status_memory *memory;
        const struct finding *finding;
        struct object_list policies, snapshots, bindings;
};

/* ---- writing ---- */

/* Writes the status if it differs; s->p becomes what is stored. */
static int write_status(struct pass *s, const struct placement *wanted)
{
        const struct object *stored = NULL;

        if (!wanted)
                return error_no_memory(s->rc->err);
        TRY(rc_patch_diff(s->rc, &s->p->object, &wanted->object, OBJECT_STATUS, &stored));
        if (stored)
                s->p = (const struct placement *)stored;
        return 0;
}

static void tell(struct pass *s, const struct status_warnings *w)
{
        for (size_t i = 0; i < w->n; i++) {
                rc_event(s->rc, &s->p->object, "Warning", w->at[i].reason, "%s", w->at[i].message);
                log_warn(&s->rc->log, "placement does not go well", "reason", w->at[i].reason, "message",
                         w->at[i].message);
        }
}

/* And tells what went wrong since the status before. */
static int write_and_tell(struct pass *s, const struct placement *wanted)
{
        const struct placement *before = s->p;
        struct status_warnings w = { .n = 0 };

        TRY(write_status(s, wanted));
        TRY(plan_warnings(s->rc->arena, before, wanted, &s->memory->told, &w, s->rc->err));
        tell(s, &w);
        return 0;
}

static int report_unschedulable(struct pass *s, const char *reason, const char *message)
{
        return write_and_tell(s, status_unschedulable(s->rc->arena, s->p, reason, message, s->rc->now_ms));
}

/* ---- the copy in the placed namespace (spec 11) ---- */

static int write_mirror(struct pass *s, const char *ns)
{
        struct cluster_resource_placement_status *wanted;
        const struct object *existing;

        TRY(cache_get(s->rc, &cluster_resource_placement_status_kind, ns, s->p->object.meta.name, &existing));
        TRY(mirror_plan(s->rc->arena, s->p, ns, (const struct cluster_resource_placement_status *)existing,
                        s->rc->now_ms, &wanted, s->rc->err));
        if (!wanted)
                return 0;
        return existing ? rc_patch_diff(s->rc, existing, &wanted->object, OBJECT_META_SPEC, NULL)
                        : rc_create(s->rc, &wanted->object, NULL);
}

/* After every write of the status. A failure is told in the placement, then retried. */
static int mirror(struct pass *s)
{
        const char *ns = mirror_target(s->p);
        const char *failure = NULL;
        int code;

        if (!mirror_wanted(s->p))
                return 0;
        if (!ns)
                return report_unschedulable(s, REASON_INVALID_RESOURCE_SELECTORS, mirror_no_target);
        code = write_mirror(s, ns);
        if (code == ERR_CANCELLED || error_is_retryable(code))
                return code; /* nothing a user could do about it */
        if (code < 0) {
                failure = arena_strdup(s->rc->arena, s->rc->err->text);
                if (!failure)
                        return error_no_memory(s->rc->err);
        }
        TRY(write_status(s, mirror_result(s->rc->arena, s->p, ns, failure, s->rc->now_ms)));
        return failure ? error_set(s->rc->err, code, "%s", failure) : 0;
}

/* Of a placement that must not go on: only where there is one. */
static int update_mirror(struct pass *s)
{
        const char *ns = mirror_placed(s->p);
        bool there;

        if (!mirror_wanted(s->p) || !ns)
                return 0;
        TRY(cache_has(s->rc, &cluster_resource_placement_status_kind, ns, s->p->object.meta.name, &there));
        return there ? write_mirror(s, ns) : 0;
}

static void map_mirror(void *agent, const struct informer_event *e, key_emit emit, void *to)
{
        emit(to, e->now->meta.name);
}

/* ---- the outcome ---- */

static void record_events(struct pass *s, const struct status_plan *plan)
{
        /* Conditions that turn True together are told by the last event, which implies the others. */
        size_t from = plan->n_events > 1 ? plan->n_events - 1 : 0;

        for (size_t i = from; i < plan->n_events; i++)
                rc_event(s->rc, &s->p->object, "Normal", plan->events[i].reason, "%s",
                         plan->events[i].message);
}

/* What only time tells. *ret_next_ms: when to look again, 0 = no need. */
static int tell_what_lasts(struct pass *s, int64_t *ret_next_ms)
{
        struct arena *arena = s->rc->arena;
        struct status_memory *m = s->memory;
        struct status_warnings w = { .n = 0 };
        int64_t now = s->rc->now_ms, awake = loop_now_ms(s->agent->world->loop), next[3] = { 0 };

        TRY(plan_unavailable_warning(arena, s->p, now, &m->unavailable_told_ms, &w, &next[0], s->rc->err));
        if (!s->finding->old_group)
                TRY(plan_not_found_warning(arena, s->p, &s->finding->selected->ids, awake, &m->not_found, &w,
                                           &next[1], s->rc->err));
        if (is_external(s->p) && s->agent->options->without_staged_runs)
                TRY(plan_external_warning(arena, s->p, &s->snapshots, s->finding->selected->hash,
                                          m->external_told, &w, s->rc->err));
        else if (!is_external(s->p))
                TRY(plan_stalled_warning(arena, s->p, now, &m->stalled_told_ms, &w, &next[2], s->rc->err));
        tell(s, &w);
        *ret_next_ms = 0;
        for (size_t i = 0; i < ARRAY_LEN(next); i++)
                if (next[i] > 0 && (*ret_next_ms == 0 || next[i] < *ret_next_ms))
                        *ret_next_ms = next[i];
        return 0;
}

static struct outcome finish(struct pass *s, const struct status_plan *plan)
{
        int64_t next_ms;

        if (tell_what_lasts(s, &next_ms) < 0)
                return failed(s->rc->err);
        if (!plan->complete) /* what is not done is looked at from the beginning now and then */
                manager_enqueue_after(s->rc->manager, &intake_controller, s->rc->key, RETRY_MS);
        return next_ms > 0 ? again_after(next_ms) : done();
}

/* ---- a placement that selects ---- */

static int load(struct pass *s)
{
        TRY(cache_by_index(s->rc, s->scope->policy_snapshot, INDEX_OWNER, s->rc->key, &s->policies));
        TRY(cache_by_index(s->rc, s->scope->resource_snapshot, INDEX_OWNER, s->rc->key, &s->snapshots));
        drop_of_predecessors(&s->policies, &s->p->object);
        drop_of_predecessors(&s->snapshots, &s->p->object);
        return cache_by_index(s->rc, s->scope->binding, INDEX_OWNER, s->rc->key, &s->bindings);
}

static int identifiers_of_group(void *ctx, const char *index, struct resource_identifier_list *ret,
                                struct error *err)
{
        struct pass *s = ctx;

        return identify_group(s->rc, &s->snapshots, index, ret);
}

/* False while the snapshots are not those that were found: the intake is changing them, or somebody else did.
 */
static bool is_as_found(struct pass *s, struct status_input *in)
{
        in->policy = latest_policy_snapshot(&s->policies);
        in->latest = s->finding->head ? latest_resource_snapshot(&s->snapshots) : NULL;
        if (s->finding->head)
                return in->policy && in->latest && text_equal(in->latest->object.meta.uid, s->finding->head);
        return in->policy && is_external(s->p);
}

static struct outcome report_progress(struct pass *s)
{
        struct status_input in = { .placement = s->p,
                                   .identifiers_of_group = identifiers_of_group,
                                   .ctx = s,
                                   .now_ms = s->rc->now_ms };
        struct status_plan plan;
        int64_t hold;

        if (load(s) < 0)
                return failed(s->rc->err);
        if (!is_as_found(s, &in)) { /* if it is not at it, nothing else makes it look at them */
                if (s->finding->message &&
                    report_unschedulable(s, s->finding->reason, s->finding->message) < 0)
                        return failed(s->rc->err);
                manager_enqueue_after(s->rc->manager, &intake_controller, s->rc->key, FOREIGN_MS);
                return done();
        }
        in.bindings = s->bindings;
        in.snapshots = s->snapshots;
        in.selected = s->finding->selected->ids;
        in.unread_reason = s->finding->reason;
        in.unread_message = s->finding->message;
        if (plan_placement_status(s->rc->arena, &in, &plan, s->rc->err) < 0)
                return failed(s->rc->err);
        if (!plan.changed)
                return mirror(s) < 0 ? failed(s->rc->err) : finish(s, &plan);
        hold = status_due_in(s->agent, &s->memory->hold, plan.settled);
        if (hold > 0)
                return finish_after(hold);
        if (write_and_tell(s, plan.wanted) < 0)
                return failed(s->rc->err);
        hold_written(&s->memory->hold);
        record_events(s, &plan);
        return mirror(s) < 0 ? failed(s->rc->err) : finish(s, &plan);
}

/* ---- reconcile ---- */

static struct outcome report(struct pass *s)
{
        if (!s->finding)
                return done(); /* the intake has not passed; it tells when it has */
        if (s->finding->kind == FINDING_SELECTED)
                return report_progress(s);
        if (report_unschedulable(s, s->finding->reason, s->finding->message) < 0 ||
            (s->finding->kind == FINDING_STOPPED ? update_mirror(s) : mirror(s)) < 0)
                return failed(s->rc->err);
        return done();
}

/* Records of the placement and what was found about it; both stay until the reconcile ends. */
static int recall(struct pass *s)
{
        struct intake_memory *intake = memory_of(&s->agent->intakes, &s->p->object, s->rc->arena);

        s->memory = memory_of(&s->agent->statuses, &s->p->object, s->rc->arena);
        if (!intake || !s->memory || finding_get(intake, &s->p->object, s->rc->arena, &s->finding) < 0)
                return error_no_memory(s->rc->err);
        return 0;
}

static struct outcome reconcile(struct reconcile *rc)
{
        struct pass s = { .rc = rc, .agent = agent_of(rc), .scope = scope_of(rc->ns) };
        const struct object *placement;
        struct outcome outcome;

        if (cache_get_whole(rc, s.scope->placement, rc->ns, rc->name, &placement) < 0)
                return failed(rc->err);
        s.p = (const struct placement *)placement;
        if (!s.p || !s.p->spec || is_deleting(&s.p->object)) {
                progress_forget(s.agent, rc->key);
                memory_drop(&s.agent->statuses, rc->key);
                return done();
        }
        if (recall(&s) < 0)
                return failed(rc->err);
        outcome = hold_pass_ended(&s.memory->hold, report(&s));
        progress_show(s.agent, s.p, rc->now_ms);
        return outcome;
}

static const struct watch watches[] = {
        { &cluster_resource_placement_kind, ON_DELETION, NULL, .pressing = placement_is_behind },
        { &resource_placement_kind, ON_DELETION, NULL, .pressing = placement_is_behind },
        { &cluster_scheduling_policy_snapshot_kind, ON_STATUS, map_to_owner },
        { &scheduling_policy_snapshot_kind, ON_STATUS, map_to_owner },
        { &cluster_resource_binding_kind, ON_STATUS | ON_DELETION, map_to_owner },
        { &resource_binding_kind, ON_STATUS | ON_DELETION, map_to_owner },
        { &cluster_resource_placement_status_kind, ON_DELETION, map_mirror },
};

const struct controller placement_status_controller = {
        .name = "placement-status",
        .placement_of = placement_of_self,
        .event_source = "placement-controller",
        .watches = watches,
        .n_watches = ARRAY_LEN(watches),
        .reconcile = reconcile,
        .early = EARLY_PLACEMENTS,
};
