/* Placements: select resources, keep snapshots, report status. spec/placement.md 7-10. */
#include "hub-agent/placement/mirror.h"
#include "hub-agent/placement/progress.h"
#include "hub-agent/placement/select.h"
#include "hub-agent/placement/status.h"
#include "hub-agent/placement/warnings.h"

#define RETRY_MS (30 * 60 * 1000)
#define PASSING_MS 5000 /* what is not the user's doing is tried again after */

struct placement_memory {
        struct memory memory;
        struct hold hold;
        char fingerprint[65]; /* of the selected objects' metadata */
        char hash[65];        /* of their content at that time */
        size_t n_envelopes;
        int64_t unavailable_told_ms; /* clusters that became unavailable until then were told */
        int64_t stalled_told_ms;     /* a rollout that stood still after this change was told */
        struct not_found_told not_found;
        char external_told[65]; /* hash of the selection that nobody rolls out, as it was told */
        struct arena arena;     /* of `selected` */
        struct resource_identifier_list selected;
};

static void clear_memory(void *record)
{
        struct placement_memory *m = record;

        hold_let_go(&m->hold);
        arena_free(&m->arena);
}
const struct memory_kind placement_memory_kind = { sizeof(struct placement_memory), clear_memory };

struct pass {
        struct reconcile *rc;
        struct hub_agent *agent;
        const struct scope *scope;
        const struct placement *p;
        struct placement_memory *memory;
        struct object_list policies, snapshots, bindings;
        const struct policy_snapshot *policy;
        const struct resource_snapshot *latest; /* head */
        struct resource_identifier_list selected;
        struct refusal refusal;
        int64_t delay_ms;
};

static bool is_external(const struct placement *p)
{
        return p->spec->strategy && text_equal(p->spec->strategy->type, "External");
}

/* ---- deletion (spec 8) ---- */

static int delete_all(struct reconcile *rc, const struct kind *kind)
{
        struct object_list all;

        TRY(cache_by_index(rc, kind, INDEX_OWNER, rc->key, &all));
        for (size_t i = 0; i < all.n; i++)
                if (!is_deleting(all.at[i]))
                        TRY(rc_delete_any_version(rc, all.at[i]));
        return 0;
}

static int clean_up(struct reconcile *rc, const struct scope *scope, const struct object *p)
{
        struct object *wanted;

        if (!has_finalizer(p, FINALIZER_PLACEMENT))
                return 0;
        TRY(delete_all(rc, scope->policy_snapshot));
        TRY(delete_all(rc, scope->resource_snapshot));
        wanted = object_copy(p, rc->arena);
        if (!wanted)
                return error_no_memory(rc->err);
        remove_finalizer(wanted, FINALIZER_PLACEMENT);
        TRY(rc_patch_diff(rc, p, wanted, OBJECT_META_SPEC, NULL));
        event_record(manager_events(rc->manager), p, "Normal", "PlacementCleanupFinalizerRemoved",
                     "Deleted the snapshots and removed the placement cleanup finalizer");
        return 0;
}

/* ---- finalizers ---- */

/* Both finalizers in one write; the scheduler adds its own where it is missing. */
static int ensure_finalizers(struct pass *s)
{
        const struct object *stored;
        struct object *wanted;

        if (has_finalizer(&s->p->object, FINALIZER_PLACEMENT))
                return 0;
        wanted = object_copy(&s->p->object, s->rc->arena);
        if (!wanted || add_finalizer(wanted, FINALIZER_PLACEMENT, s->rc->arena) < 0 ||
            add_finalizer(wanted, FINALIZER_SCHEDULER, s->rc->arena) < 0)
                return error_no_memory(s->rc->err);
        TRY(rc_patch_diff(s->rc, &s->p->object, wanted, OBJECT_META_SPEC, &stored));
        s->p = (const struct placement *)stored;
        return 0;
}

/* ---- snapshots ---- */

static int relabel(struct reconcile *rc, const struct relabel *r, const struct object **ret)
{
        return r->now ? rc_patch_diff(rc, r->now, r->wanted, OBJECT_META_SPEC, ret) : 0;
}

static int remove_all(struct reconcile *rc, const struct object **list, size_t n)
{
        for (size_t i = 0; i < n; i++)
                TRY(rc_delete(rc, list[i]));
        return 0;
}

static int sync_policy(struct pass *s)
{
        struct policy_snapshot_plan plan;
        const struct object *stored = NULL;

        TRY(plan_policy_snapshots(s->rc->arena, s->p, &s->policies, &plan, s->rc->err));
        s->policy = plan.latest;
        TRY(relabel(s->rc, &plan.update, &stored));
        if (stored)
                s->policy = (const struct policy_snapshot *)stored;
        TRY(remove_all(s->rc, plan.remove, plan.n_remove));
        if (!plan.create)
                return 0;
        TRY(rc_create(s->rc, &plan.create->object, &stored));
        s->policy = (const struct policy_snapshot *)stored;
        return 0;
}

/* Remembers what was read, so that it is not read again before it changes. */
static void remember(struct placement_memory *m, const char *fingerprint, const struct selection *s,
                     const struct resource_identifier_list *ids)
{
        struct resource_identifier *copy;

        arena_reset(&m->arena);
        m->fingerprint[0] = 0;
        copy = ARENA_NEW_ARRAY(&m->arena, struct resource_identifier, ids->n + 1);
        if (!copy)
                return;
        for (uint32_t i = 0; i < ids->n; i++) {
                copy[i] = ids->at[i];
                copy[i].name = arena_strdup(&m->arena, ids->at[i].name);
                copy[i].ns = ids->at[i].ns ? arena_strdup(&m->arena, ids->at[i].ns) : NULL;
                if (!copy[i].name || (ids->at[i].ns && !copy[i].ns))
                        return;
        }
        m->selected = (struct resource_identifier_list){ copy, ids->n, true };
        m->n_envelopes = s->n_envelopes;
        memcpy(m->hash, s->hash, sizeof(m->hash));
        memcpy(m->fingerprint, fingerprint, sizeof(m->fingerprint));
}

/* A group that is complete and holds what the memory says needs no reading. */
static bool group_is_complete(struct pass *s, const struct resource_snapshot *head)
{
        const char *index = label_of(&head->object, LABEL_RESOURCE_INDEX);
        int64_t expected, n = 0;

        if (annotation_number(&head->object, ANNOTATION_NUMBER_OF_RESOURCE_SNAPSHOTS, &expected, NULL) < 0)
                return false;
        for (size_t i = 0; i < s->snapshots.n; i++)
                n += text_equal(label_of(s->snapshots.at[i], LABEL_RESOURCE_INDEX), index);
        return n == expected;
}

static bool is_known(struct pass *s, const char *fingerprint)
{
        const struct resource_snapshot *head = latest_resource_snapshot(&s->snapshots);

        if (!text_equal(s->memory->fingerprint, fingerprint))
                return false;
        if (is_external(s->p))
                return true;
        return head && text_equal(annotation_of(&head->object, ANNOTATION_RESOURCE_HASH), s->memory->hash) &&
               !annotation_of(&head->object, ANNOTATION_NEXT_SNAPSHOT_DETECTION_TIME) &&
               group_is_complete(s, head);
}

static int copy_known(struct pass *s)
{
        struct resource_identifier *copy =
                arena_memdup(s->rc->arena, s->memory->selected.at,
                             MAX(s->memory->selected.n, 1) * sizeof(s->memory->selected.at[0]));

        if (!copy)
                return error_no_memory(s->rc->err);
        for (uint32_t i = 0; i < s->memory->selected.n; i++) {
                copy[i].name = arena_strdup(s->rc->arena, copy[i].name);
                if (copy[i].ns)
                        copy[i].ns = arena_strdup(s->rc->arena, copy[i].ns);
        }
        s->selected = (struct resource_identifier_list){ copy, s->memory->selected.n, true };
        s->latest = is_external(s->p) ? NULL : latest_resource_snapshot(&s->snapshots);
        return 0;
}

static int identifiers_of_group(void *ctx, const char *index, struct resource_identifier_list *ret,
                                struct error *err)
{
        struct pass *s = ctx;
        const struct resource_snapshot *const *group;
        size_t n;
        int code = body_get_group(s->rc, &s->snapshots, index, &group, &n);

        *ret = (struct resource_identifier_list){ 0 };
        if (code == ERR_NOT_FOUND)
                return 0;
        for (size_t i = 0; code == 0 && i < n; i++)
                if (group[i]->spec)
                        code = identify_resources(s->rc->arena, &group[i]->spec->selected_resources, ret,
                                                  err);
        return code;
}

static int write_snapshots(struct pass *s, const struct resource_snapshot_plan *plan)
{
        const struct object *stored = NULL;

        s->latest = plan->latest;
        s->delay_ms = plan->delay_ms;
        TRY(relabel(s->rc, &plan->update, &stored));
        if (stored && s->latest)
                s->latest = (const struct resource_snapshot *)stored;
        TRY(remove_all(s->rc, plan->remove, plan->n_remove));
        for (size_t i = 0; i < plan->n_create; i++) {
                TRY(rc_create(s->rc, &plan->create[i]->object, &stored));
                body_put(s->agent, stored, plan->create[i]);
                if (i == 0 && !s->latest)
                        s->latest = (const struct resource_snapshot *)stored;
        }
        return 0;
}

/* What the members of a group hold, complete or not. */
static int identify_group(struct pass *s, const struct resource_snapshot *head,
                          struct resource_identifier_list *ret)
{
        const char *index = or_empty(label_of(&head->object, LABEL_RESOURCE_INDEX));

        *ret = (struct resource_identifier_list){ 0 };
        for (size_t i = 0; i < s->snapshots.n; i++) {
                const struct resource_snapshot *part;

                if (!text_equal(label_of(s->snapshots.at[i], LABEL_RESOURCE_INDEX), index))
                        continue;
                TRY(body_get(s->rc, s->snapshots.at[i], &part));
                if (part->spec)
                        TRY(identify_resources(s->rc->arena, &part->spec->selected_resources, ret,
                                               s->rc->err));
        }
        return 0;
}

/* A new snapshot must not drop what cannot be told of at the moment: then nothing is made (s->refusal). */
static int check_dropped(struct pass *s, const struct selection *selection)
{
        const struct resource_snapshot *head = newest_resource_snapshot(&s->snapshots);
        struct resource_identifier_list held;

        if (!head || text_equal(annotation_of(&head->object, ANNOTATION_RESOURCE_HASH), selection->hash))
                return 0;
        TRY(identify_group(s, head, &held));
        return check_held_kinds(s->rc, &held, &s->refusal);
}

static int sync_resources(struct pass *s, const struct chosen_list *chosen)
{
        struct snapshot_timing timing = { s->rc->now_ms, s->agent->snapshot_min_interval_ms,
                                          s->agent->change_collect_ms };
        struct resource_snapshot_plan plan;
        struct selection selection;
        char fingerprint[65];

        chosen_fingerprint(chosen, fingerprint);
        if (is_known(s, fingerprint))
                return copy_known(s);
        TRY(read_selection(s->rc, chosen, &selection, &s->selected, &s->refusal));
        if (!is_refused(&s->refusal) && !is_external(s->p))
                TRY(check_dropped(s, &selection));
        if (is_refused(&s->refusal))
                return 0;
        remember(s->memory, fingerprint, &selection, &s->selected);
        if (is_external(s->p))
                return 0;
        TRY(plan_resource_snapshots(s->rc->arena, s->p, &selection, &s->snapshots, &timing, &plan,
                                    s->rc->err));
        TRY(write_snapshots(s, &plan));
        if (s->delay_ms <= 0)
                return 0;
        /* Until the new group is made the status speaks about the old one. */
        return identifiers_of_group(s, label_of(&s->latest->object, LABEL_RESOURCE_INDEX), &s->selected,
                                    s->rc->err);
}

/* ---- status ---- */

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
                event_record(manager_events(s->rc->manager), &s->p->object, "Warning", w->at[i].reason, "%s",
                             w->at[i].message);
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
        TRY(plan_warnings(s->rc->arena, before, wanted, &w, s->rc->err));
        tell(s, &w);
        return 0;
}

static int report_unschedulable(struct pass *s, const char *message)
{
        return write_and_tell(s, status_unschedulable(s->rc->arena, s->p, REASON_INVALID_RESOURCE_SELECTORS,
                                                      message, s->rc->now_ms));
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
                return report_unschedulable(s, mirror_no_target);
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

/* The placement turned to another namespace: its readers are told where they look. *ret_stop: go no further.
 */
static int check_mirror(struct pass *s, bool *ret_stop)
{
        const char *message = NULL;
        bool there;

        *ret_stop = false;
        if (!mirror_wanted(s->p))
                return 0;
        TRY(mirror_check(s->rc->arena, s->p, &message, s->rc->err));
        if (!message)
                return 0;
        *ret_stop = true;
        TRY(report_unschedulable(s, message));
        TRY(cache_has(s->rc, &cluster_resource_placement_status_kind, mirror_placed(s->p),
                      s->p->object.meta.name, &there));
        return there ? write_mirror(s, mirror_placed(s->p)) : 0;
}

static void map_mirror(void *agent, const struct informer_event *e, key_emit emit, void *to)
{
        emit(to, e->now->meta.name);
}

/* ---- the outcome ---- */

static struct outcome report_refusal(struct pass *s)
{
        const struct refusal *r = &s->refusal;
        const char *message;

        if (!r->words)
                return again_after(PASSING_MS);
        message =
                arena_printf(s->rc->arena, "%s: %s",
                             r->passing ? "The resources cannot be selected at present, and what is placed "
                                          "stays as it is"
                                        : "The resource selectors are invalid: failed to process the request "
                                          "due to a client error",
                             r->words);

        if (!message) {
                error_no_memory(s->rc->err);
                return failed(s->rc->err);
        }
        if (report_unschedulable(s, message) < 0 || mirror(s) < 0)
                return failed(s->rc->err);
        return again_after(r->passing ? PASSING_MS : RETRY_MS);
}

static void record_events(struct pass *s, const struct status_plan *plan)
{
        /* Conditions that turn True together are told by the last event, which implies the others. */
        size_t from = plan->n_events > 1 ? plan->n_events - 1 : 0;

        for (size_t i = from; i < plan->n_events; i++)
                event_record(manager_events(s->rc->manager), &s->p->object, "Normal", plan->events[i].reason,
                             "%s", plan->events[i].message);
}

/* What only time tells. *ret_next_ms: when to look again, 0 = no need. */
static int tell_what_lasts(struct pass *s, int64_t *ret_next_ms)
{
        struct arena *arena = s->rc->arena;
        struct placement_memory *m = s->memory;
        struct status_warnings w = { .n = 0 };
        int64_t now = s->rc->now_ms, next[3] = { 0 };

        TRY(plan_unavailable_warning(arena, s->p, now, &m->unavailable_told_ms, &w, &next[0], s->rc->err));
        if (s->delay_ms <= 0) /* else s->selected is of the group before */
                TRY(plan_not_found_warning(arena, s->p, &s->selected, now, &m->not_found, &w, &next[1],
                                           s->rc->err));
        if (is_external(s->p))
                TRY(plan_external_warning(arena, s->p, &s->snapshots, m->hash, m->external_told, &w,
                                          s->rc->err));
        else
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
        if (s->delay_ms > 0)
                return again_after(s->delay_ms);
        if (next_ms > 0)
                return again_after(MIN(next_ms, RETRY_MS));
        return plan->complete ? done() : again_after(RETRY_MS);
}

static struct outcome report_status(struct pass *s)
{
        struct status_input in = { .placement = s->p,
                                   .policy = s->policy,
                                   .bindings = s->bindings,
                                   .snapshots = s->snapshots,
                                   .latest = s->latest,
                                   .selected = s->selected,
                                   .identifiers_of_group = identifiers_of_group,
                                   .ctx = s,
                                   .now_ms = s->rc->now_ms };
        struct status_plan plan;
        int64_t hold;

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

static int load(struct pass *s)
{
        TRY(cache_by_index(s->rc, s->scope->policy_snapshot, INDEX_OWNER, s->rc->key, &s->policies));
        TRY(cache_by_index(s->rc, s->scope->resource_snapshot, INDEX_OWNER, s->rc->key, &s->snapshots));
        drop_of_predecessors(&s->policies, &s->p->object);
        drop_of_predecessors(&s->snapshots, &s->p->object);
        return cache_by_index(s->rc, s->scope->binding, INDEX_OWNER, s->rc->key, &s->bindings);
}

/* The name is the value of a label on all that is made for a placement. It cannot change, so there is nothing
 * to be tried again. */
static struct outcome report_long_name(struct pass *s)
{
        const char *message =
                arena_printf(s->rc->arena,
                             "metadata.name: the name field cannot have length exceeding %d, and that "
                             "of placement \"%s\" has %zu: nothing is placed",
                             LABEL_VALUE_MAX, s->rc->name, strlen(s->rc->name));

        return write_and_tell(s, message ? status_unschedulable(s->rc->arena, s->p,
                                                                REASON_INVALID_PLACEMENT_NAME, message,
                                                                s->rc->now_ms)
                                         : NULL) < 0
                       ? failed(s->rc->err)
                       : done();
}

static struct outcome place(struct pass *s)
{
        struct chosen_list chosen;
        bool stop;

        if (strlen(s->rc->name) > LABEL_VALUE_MAX)
                return report_long_name(s);
        if (ensure_finalizers(s) < 0 || check_mirror(s, &stop) < 0)
                return failed(s->rc->err);
        if (stop)
                return done();
        if (select_resources(s->rc, s->p, &chosen, &s->refusal) < 0)
                return failed(s->rc->err);
        if (is_refused(&s->refusal))
                return report_refusal(s);
        if (load(s) < 0 || sync_policy(s) < 0 || sync_resources(s, &chosen) < 0)
                return failed(s->rc->err);
        if (is_refused(&s->refusal))
                return report_refusal(s);
        if (load(s) < 0)
                return failed(s->rc->err);
        return report_status(s);
}

static struct outcome reconcile(struct reconcile *rc)
{
        struct pass s = { .rc = rc, .agent = agent_of(rc), .scope = scope_of(rc->ns) };
        const struct object *placement;
        struct outcome outcome;

        if (cache_get(rc, s.scope->placement, rc->ns, rc->name, &placement) < 0)
                return failed(rc->err);
        s.p = (const struct placement *)placement;
        if (!s.p || !s.p->spec || is_deleting(&s.p->object)) {
                progress_forget(s.agent, rc->key);
                memory_drop(&s.agent->placements, rc->key);
        }
        if (!s.p || !s.p->spec)
                return done();
        if (is_deleting(&s.p->object))
                return clean_up(rc, s.scope, &s.p->object) < 0 ? failed(rc->err) : done();
        s.memory = memory_of(&s.agent->placements, &s.p->object, rc->arena);
        if (!s.memory) {
                error_no_memory(rc->err);
                return failed(rc->err);
        }
        outcome = hold_pass_ended(&s.memory->hold, place(&s));
        progress_show(s.agent, s.p, rc->now_ms);
        return outcome;
}

static const struct watch watches[] = {
        { &cluster_resource_placement_kind, ON_SPEC | ON_DELETION, NULL },
        { &resource_placement_kind, ON_SPEC | ON_DELETION, NULL },
        { &cluster_scheduling_policy_snapshot_kind, ON_ALL, map_to_owner },
        { &scheduling_policy_snapshot_kind, ON_ALL, map_to_owner },
        { &cluster_resource_binding_kind, ON_STATUS | ON_DELETION, map_to_owner },
        { &resource_binding_kind, ON_STATUS | ON_DELETION, map_to_owner },
        { &cluster_resource_snapshot_kind, ON_DELETION, map_to_owner },
        { &resource_snapshot_kind, ON_DELETION, map_to_owner },
        { &cluster_resource_placement_status_kind, ON_DELETION, map_mirror },
};

const struct controller placement_controller = {
        .name = "placement",
        .watches = watches,
        .n_watches = ARRAY_LEN(watches),
        .reconcile = reconcile,
};
