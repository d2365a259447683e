/* The intake of placements: what they select, and the snapshots of it. It writes no status: what it found is
 * handed to the controller that does (status_controller.c). spec/placement.md 7-9. */
#include "hub-agent/agent.h"
#include "hub-agent/placement/finding.h"
#include "hub-agent/placement/given.h"
#include "hub-agent/placement/mirror.h"
#include "hub-agent/placement/select.h"
#include "hub-agent/placement/status.h"
#include "hub-agent/placement/workload_metrics.h"
#include "hub-agent/shards.h"

#define RETRY_MS (30 * 60 * 1000)
#define PRUNE_MS 1000
#define UNKNOWN_MS 20000
#define PASSING_MS 5000  /* what is not the user's doing is tried again after */
#define LASTING_MS 20000 /* and told when it lasts */

struct pass {
        struct reconcile *rc;
        struct hub_agent *agent;
        const struct scope *scope;
        const struct placement *p;
        struct intake_memory *memory;
        struct object_list policies, snapshots;
        const struct resource_snapshot *latest; /* head */
        struct selected *selected;              /* referenced by the reconcile's arena */
        struct refusal refusal;
        int64_t delay_ms;
        struct given given;
        struct snapshots_in_use in_use;
        const char *taker; /* the update run that takes a snapshot; NULL in the intake's own passes */
        bool is_new;       /* nobody took it in before, so nothing was made for it */
        bool asked;        /* the server, for `given` */
};

static const struct snapshots_in_use used_by_nobody = { 0 };

/* ---- one after the other ---- */

/* What is selected, which snapshots there are and what is made of both belong together, and requests lie
 * between them: the intake and update runs that take a snapshot of a placement do it in turn. When it goes
 * what the last of them made goes, too. */
static int take_turn(struct pass *s)
{
        while (s->memory->taken)
                if (waitq_wait(s->agent->world->loop, &s->memory->turn, DEADLINE_NONE) < 0)
                        return error_set(s->rc->err, ERR_CANCELLED, "cancelled");
        s->memory->taken = true;
        return 0;
}

static void end_turn(struct pass *s)
{
        s->memory->taken = false;
        waitq_wake_one(&s->memory->turn);
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

static int remove_snapshots(struct pass *s)
{
        int code;

        TRY(take_turn(s));
        code = delete_all(s->rc, s->scope->policy_snapshot);
        if (code == 0)
                code = delete_all(s->rc, s->scope->resource_snapshot);
        end_turn(s);
        return code;
}

static int clean_up(struct pass *s)
{
        const struct object *p = &s->p->object;
        struct reconcile *rc = s->rc;

        if (!object_has_finalizer(p, FINALIZER_PLACEMENT))
                return 0;
        TRY(remove_snapshots(s));
        TRY(rc_set_finalizer(rc, p, FINALIZER_PLACEMENT, false, NULL));
        rc_event(rc, p, "Normal", "PlacementCleanupFinalizerRemoved",
                 "Deleted the snapshots and removed the placement cleanup finalizer");
        return 0;
}

/* ---- finalizers ---- */

/* Both finalizers in one write; the scheduler adds its own where it is missing. */
static int ensure_finalizers(struct pass *s)
{
        const struct object *stored;
        struct object *wanted;

        if (object_has_finalizer(&s->p->object, FINALIZER_PLACEMENT))
                return 0;
        wanted = object_copy(&s->p->object, s->rc->arena);
        if (!wanted || object_add_finalizer(wanted, FINALIZER_PLACEMENT, s->rc->arena) < 0 ||
            object_add_finalizer(wanted, FINALIZER_SCHEDULER, s->rc->arena) < 0)
                return error_no_memory(s->rc->err);
        TRY(rc_patch_diff(s->rc, &s->p->object, wanted, OBJECT_META_SPEC, &stored));
        s->p = (const struct placement *)stored;
        s->is_new = true;
        return 0;
}

/* ---- indexes ---- */

/* While a snapshot is replaced none is marked latest: before its successor is made, and when somebody deleted
 * it. Only then can an index be missing that was given, and as the cache of bindings may be behind the one of
 * snapshots, the server is asked which. A new placement has no bindings, but Works of a former one of its
 * name may be there, and if nobody answers its first snapshot gets the same index again. */
static int find_given(struct pass *s, bool has_latest)
{
        if (has_latest || s->asked)
                return 0;
        s->asked = true;
        return s->is_new ? given_by_works(s->rc, &s->p->object, &s->given)
                         : given_on_server(s->rc, &s->p->object, &s->given);
}

static int64_t highest_index(const struct object_list *snapshots, const char *label)
{
        int64_t highest = NO_INDEX, index;

        for (size_t i = 0; i < snapshots->n; i++)
                if (label_number(snapshots->at[i], label, &index, NULL) == 0)
                        highest = MAX(highest, index);
        return highest;
}

static int check_policies(struct pass *s)
{
        TRY(find_given(s, latest_policy_snapshot(&s->policies)));
        if (s->given.policies <= highest_index(&s->policies, LABEL_POLICY_INDEX))
                return 0;
        return snapshot_is_known(
                s->rc, s->scope->policy_snapshot, &s->p->object,
                arena_printf(s->rc->arena, NAME_POLICY_SNAPSHOT, s->rc->name, (long long)s->given.policies),
                &s->policies);
}

static int check_resources(struct pass *s)
{
        TRY(find_given(s, latest_resource_snapshot(&s->snapshots)));
        if (s->given.resources <= highest_index(&s->snapshots, LABEL_RESOURCE_INDEX))
                return 0;
        return snapshot_is_known(s->rc, s->scope->resource_snapshot, &s->p->object,
                                 arena_printf(s->rc->arena, NAME_RESOURCE_SNAPSHOT, s->rc->name,
                                              (long long)s->given.resources),
                                 &s->snapshots);
}

/* ---- snapshots ---- */

/* *ret_stored: as it is now; unchanged if nothing is to be done. */
static int relabel(struct reconcile *rc, const struct relabel *r, const struct object **ret_stored)
{
        return r->now ? rc_patch_diff(rc, r->now, r->wanted, OBJECT_META_SPEC, ret_stored) : 0;
}

/* What is too much goes last: if the answer to a creation is lost, what was there still tells which index was
 * given. What was relabelled before goes as it was stored then. */
static int remove_all(struct reconcile *rc, const struct object **list, size_t n, const struct relabel *r,
                      const struct object *relabelled)
{
        for (size_t i = 0; i < n; i++)
                TRY(rc_delete(rc, list[i] == r->now ? relabelled : list[i]));
        return 0;
}

/* What was not answered may have been made, or may yet be. */
static int create(struct pass *s, const struct object *snapshot, const char *label, int64_t *asked_for,
                  const struct object **ret)
{
        int64_t index, before = *asked_for;
        int code;

        if (label_number(snapshot, label, &index, NULL) == 0)
                *asked_for = MAX(before, index);
        code = rc_create(s->rc, snapshot, ret);
        if (code == 0)
                *asked_for = 0;
        else if (code != ERR_EXISTS && error_is_refusal(s->rc->err))
                *asked_for = before;
        return code;
}

static int sync_policy(struct pass *s)
{
        const struct object *relabelled = NULL;
        struct policy_snapshot_plan plan;
        struct indexes indexes;

        TRY(check_policies(s));
        indexes = (struct indexes){ s->given.policies, s->memory->policy_asked_for };
        TRY(plan_policy_snapshots(s->rc->arena, s->p, &s->policies, indexes, &plan, s->rc->err));
        TRY(relabel(s->rc, &plan.update, &relabelled));
        if (plan.create)
                TRY(create(s, &plan.create->object, LABEL_POLICY_INDEX, &s->memory->policy_asked_for, NULL));
        return remove_all(s->rc, plan.remove, plan.n_remove, &plan.update, relabelled);
}

static int hold_selected(struct pass *s, struct selected *selected)
{
        s->selected = selected;
        return arena_defer(s->rc->arena, selected_unref, selected) < 0 ? error_no_memory(s->rc->err) : 0;
}

static int name_selected(struct pass *s, const struct resource_identifier_list *ids, const char *hash)
{
        struct selected *selected = selected_new(ids, hash);

        return selected ? hold_selected(s, selected) : error_no_memory(s->rc->err);
}

/* Remembers what was read, so that it is not read again before it changes. */
static void remember(struct pass *s, const char fingerprint[65])
{
        selected_unref(s->memory->known);
        s->memory->known = selected_ref(s->selected);
        memcpy(s->memory->fingerprint, fingerprint, sizeof(s->memory->fingerprint));
}

/* Whether the intake makes resource snapshots: of what update runs roll out they may be left to the runs. */
static bool makes_snapshots(const struct pass *s)
{
        return !is_external(s->p) || !s->agent->options->no_external_snapshots;
}

/* A group that is complete and as it was made. */
static bool group_is_as_made(struct pass *s, const struct resource_snapshot *head)
{
        const char *index = label_of(&head->object, LABEL_RESOURCE_INDEX);

        for (size_t i = 0; i < s->snapshots.n; i++)
                if (text_equal(label_of(s->snapshots.at[i], LABEL_RESOURCE_INDEX), index) &&
                    resource_snapshot_was_edited(s->snapshots.at[i]))
                        return false;
        return resource_group_is_whole(&s->snapshots, &head->object) &&
               s->given.resources <= highest_index(&s->snapshots, LABEL_RESOURCE_INDEX);
}

static bool is_known(struct pass *s, const char *fingerprint)
{
        const struct resource_snapshot *head = latest_resource_snapshot(&s->snapshots);

        if (!s->memory->known || !text_equal(s->memory->fingerprint, fingerprint))
                return false;
        if (!makes_snapshots(s))
                return true;
        return head && resource_history_is_kept(s->p, &s->snapshots, &s->in_use) &&
               text_equal(annotation_of(&head->object, ANNOTATION_RESOURCE_HASH), s->memory->known->hash) &&
               !annotation_of(&head->object, ANNOTATION_NEXT_SNAPSHOT_DETECTION_TIME) &&
               group_is_as_made(s, head) && one_resource_snapshot_is_latest(&s->snapshots);
}

static int take_known(struct pass *s)
{
        s->latest = is_external(s->p) ? NULL : latest_resource_snapshot(&s->snapshots);
        return hold_selected(s, selected_ref(s->memory->known));
}

/* Who has been given the group already fails until the rest of it is there, ever more seldom. */
static int wake_renderers(struct pass *s)
{
        struct object_list bindings;

        TRY(cache_by_index(s->rc, s->scope->binding, INDEX_OWNER, s->rc->key, &bindings));
        for (size_t i = 0; i < bindings.n; i++) {
                const struct object *b = bindings.at[i];
                AUTO_KEY struct key key = KEY_EMPTY;

                manager_enqueue(s->rc->manager, &work_generator_controller,
                                key_text(&key, b->meta.ns, b->meta.name), QUEUE_NORMAL);
        }
        return 0;
}

/* Requests were made since the plan: who came meanwhile may name one of them. */
static int remove_unused(struct pass *s, const struct resource_snapshot_plan *plan,
                         const struct object *relabelled)
{
        for (size_t i = 0; i < plan->n_remove; i++) {
                TRY(find_snapshots_in_use(s->rc, &s->p->object, s->taker, &s->in_use));
                if (!resource_snapshot_is_in_use(plan->remove[i], &s->in_use))
                        TRY(remove_all(s->rc, &plan->remove[i], 1, &plan->update, relabelled));
        }
        return 0;
}

static int write_snapshots(struct pass *s, const struct resource_snapshot_plan *plan)
{
        const struct object *stored, *relabelled = NULL;

        s->latest = plan->latest;
        s->delay_ms = plan->delay_ms;
        TRY(relabel(s->rc, &plan->update, &relabelled));
        for (size_t i = 0; i < plan->n_unmark; i++)
                TRY(relabel(s->rc, &plan->unmark[i], &stored));
        for (size_t i = 0; i < plan->n_create; i++) {
                TRY(create(s, &plan->create[i]->object, LABEL_RESOURCE_INDEX, &s->memory->resources_asked_for,
                           &stored));
                body_put(s->agent, stored, plan->create[i]);
                if (i == 0 && !s->latest)
                        s->latest = (const struct resource_snapshot *)stored;
        }
        TRY(remove_unused(s, plan, relabelled));
        return plan->latest && plan->n_create > 0 ? wake_renderers(s) : 0;
}

/* What the members of a group hold, complete or not. */
static int identify_parts(struct pass *s, const struct resource_snapshot *head,
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
        TRY(identify_parts(s, head, &held));
        return check_held_kinds(s->rc, &held, &s->refusal);
}

/* Until the new group is made the status speaks about the old one. */
static int name_old_group(struct pass *s)
{
        const struct object *head = &s->latest->object;
        struct resource_identifier_list ids;

        TRY(identify_group(s->rc, &s->snapshots, label_of(head, LABEL_RESOURCE_INDEX), &ids));
        return name_selected(s, &ids, or_empty(annotation_of(head, ANNOTATION_RESOURCE_HASH)));
}

static int sync_selected(struct pass *s, const struct selection *selection,
                         const struct snapshot_timing *timing)
{
        struct resource_snapshot_plan plan;
        struct indexes indexes;

        TRY(check_resources(s));
        indexes = (struct indexes){ s->given.resources, s->memory->resources_asked_for };
        TRY(plan_resource_snapshots(s->rc->arena, s->p, selection, &s->snapshots, indexes, &s->in_use, timing,
                                    &plan, s->rc->err));
        return write_snapshots(s, &plan);
}

/* The status of what update runs roll out speaks of what is on the clusters, and not of the latest snapshot.
 */
static int sync_resources(struct pass *s, const struct chosen_list *chosen)
{
        struct snapshot_timing timing = { s->rc->now_ms, s->agent->snapshot_min_interval_ms,
                                          s->agent->change_collect_ms };
        struct resource_identifier_list ids;
        struct selection selection;
        char fingerprint[65];

        chosen_fingerprint(chosen, fingerprint);
        if (is_known(s, fingerprint))
                return take_known(s);
        TRY(read_selection(s->rc, chosen, &selection, &ids, &s->refusal));
        if (!is_refused(&s->refusal) && makes_snapshots(s))
                TRY(check_dropped(s, &selection));
        if (is_refused(&s->refusal))
                return 0;
        TRY(name_selected(s, &ids, selection.hash));
        remember(s, fingerprint);
        if (!makes_snapshots(s))
                return 0;
        TRY(sync_selected(s, &selection, &timing));
        if (is_external(s->p))
                s->latest = NULL;
        return s->delay_ms > 0 && !is_external(s->p) ? name_old_group(s) : 0;
}

/* ---- what is found ---- */

static int find(struct pass *s, const struct finding *f)
{
        return finding_put(s->memory, f) < 0 ? error_no_memory(s->rc->err) : 0;
}

static int find_unschedulable(struct pass *s, enum finding_kind kind, const char *reason, const char *message)
{
        struct finding f = {
                .kind = kind, .generation = s->p->object.meta.generation, .reason = reason, .message = message
        };

        return message ? find(s, &f) : error_no_memory(s->rc->err);
}

/* What is not the user's doing: the clusters are followed on, with what they have. */
static int find_passing(struct pass *s, const char *words)
{
        const char *message = arena_printf(s->rc->arena,
                                           "The resources cannot be selected at present, and what is placed "
                                           "stays as it is: %s",
                                           words);

        if (!message || finding_put_passing(s->memory, s->p->object.meta.generation,
                                            REASON_INVALID_RESOURCE_SELECTORS, message) < 0)
                return error_no_memory(s->rc->err);
        return 0;
}

/* A failure that stays must show in the placement: what it selects is no longer what is placed. */
static struct outcome note_failure(struct pass *s, struct outcome o)
{
        int64_t now = loop_now_ms(s->agent->world->loop);
        struct error kept = *s->rc->err;

        if (o.code >= 0)
                s->memory->failing_since_ms = 0;
        else if (!s->memory->failing_since_ms)
                s->memory->failing_since_ms = now;
        else if (o.code != ERR_CANCELLED && now - s->memory->failing_since_ms >= LASTING_MS)
                (void)find_passing(s, kept.text); /* with no memory it is told by the next failure */
        *s->rc->err = kept;
        return o;
}

static struct outcome found_selected(struct pass *s)
{
        struct finding f = { .kind = FINDING_SELECTED,
                             .generation = s->p->object.meta.generation,
                             .head = s->latest ? or_empty(s->latest->object.meta.uid) : NULL,
                             .selected = s->selected,
                             .old_group = s->delay_ms > 0 };

        if (find(s, &f) < 0)
                return failed(s->rc->err);
        return s->delay_ms > 0 ? again_after(s->delay_ms) : done();
}

static struct outcome found_refusal(struct pass *s)
{
        const struct refusal *r = &s->refusal;
        const char *message;

        if (!r->words)
                return again_after(PASSING_MS);
        if (r->passing)
                return find_passing(s, r->words) < 0 ? failed(s->rc->err) : again_after(PASSING_MS);
        message = arena_printf(s->rc->arena,
                               "The resource selectors are invalid: failed to process the request due to a "
                               "client error: %s",
                               r->words);
        if (find_unschedulable(s, FINDING_REFUSED, REASON_INVALID_RESOURCE_SELECTORS, message) < 0)
                return failed(s->rc->err);
        return again_after(RETRY_MS);
}

/* The name is the value of a label on all that is made for a placement. It cannot change, so there is nothing
 * to be tried again. */
static struct outcome found_long_name(struct pass *s)
{
        const char *message =
                arena_printf(s->rc->arena,
                             "metadata.name: the name field cannot have length exceeding %d, and that "
                             "of placement \"%s\" has %zu: nothing is placed",
                             LABEL_VALUE_MAX, s->rc->name, strlen(s->rc->name));

        if (find_unschedulable(s, FINDING_STOPPED, REASON_INVALID_PLACEMENT_NAME, message) < 0)
                return failed(s->rc->err);
        return done();
}

/* The placement turned to another namespace: its readers are told where they look. *ret_stop: go no further.
 */
static int check_mirror(struct pass *s, bool *ret_stop)
{
        const char *message = NULL;

        *ret_stop = false;
        if (!mirror_wanted(s->p))
                return 0;
        TRY(mirror_check(s->rc->arena, s->p, &message, s->rc->err));
        if (!message)
                return 0;
        *ret_stop = true;
        return find_unschedulable(s, FINDING_STOPPED, REASON_INVALID_RESOURCE_SELECTORS, message);
}

/* ---- reconcile ---- */

static int load(struct pass *s)
{
        TRY(cache_by_index(s->rc, s->scope->policy_snapshot, INDEX_OWNER, s->rc->key, &s->policies));
        TRY(cache_by_index(s->rc, s->scope->resource_snapshot, INDEX_OWNER, s->rc->key, &s->snapshots));
        drop_of_predecessors(&s->policies, &s->p->object);
        drop_of_predecessors(&s->snapshots, &s->p->object);
        s->given = NONE_GIVEN;
        TRY(find_snapshots_in_use(s->rc, &s->p->object, s->taker, &s->in_use));
        return given_in_cache(s->rc, &s->p->object, &s->given);
}

/* A binding that let go of a group while the pass made another one woke nobody: the group was not too much
 * then. Nor does anybody tell when it is known who uses one. */
static int look_again_ms(struct pass *s, int64_t *ret)
{
        TRY(load(s));
        *ret = 0;
        if (!resource_history_is_kept(s->p, &s->snapshots, &s->in_use))
                *ret = PRUNE_MS;
        else if (s->in_use.unknown && !resource_history_is_kept(s->p, &s->snapshots, &used_by_nobody))
                *ret = UNKNOWN_MS;
        return 0;
}

static struct outcome take_in_selected(struct pass *s)
{
        int64_t again_ms = 0;
        struct outcome o;
        struct chosen_list chosen;

        if (select_resources(s->rc, s->p, &chosen, &s->refusal) < 0)
                return failed(s->rc->err);
        if (is_refused(&s->refusal))
                return found_refusal(s);
        if (load(s) < 0 || sync_policy(s) < 0 || sync_resources(s, &chosen) < 0)
                return failed(s->rc->err);
        if (is_refused(&s->refusal))
                return found_refusal(s);
        o = found_selected(s);
        if (o.code == 0 && o.after_ms == 0 && makes_snapshots(s) && look_again_ms(s, &again_ms) < 0)
                return failed(s->rc->err);
        return again_ms > 0 ? again_after(again_ms) : o;
}

static struct outcome take_in(struct pass *s)
{
        struct outcome o;
        bool stop;

        if (strlen(s->rc->name) > LABEL_VALUE_MAX)
                return found_long_name(s);
        if (ensure_finalizers(s) < 0 || check_mirror(s, &stop) < 0)
                return failed(s->rc->err);
        if (stop)
                return done();
        if (take_turn(s) < 0)
                return failed(s->rc->err);
        o = take_in_selected(s);
        end_turn(s);
        return o;
}

/* ---- for an update run ---- */

/* It may have begun to go while the run waited for its turn, and then nobody cleans up behind it. */
static int check_lives(struct pass *s)
{
        const struct object_meta *meta = &s->p->object.meta;
        const struct object *now;

        TRY(cache_get(s->rc, s->scope->placement, meta->ns, meta->name, &now));
        if (now && !is_deleting(now) && text_equal(now->meta.uid, meta->uid))
                return 0;
        return error_set(s->rc->err, ERR_RETRY, "placement %s is not in the cache as it is, or goes",
                         s->rc->key);
}

static int take_selected(struct pass *s)
{
        static const struct snapshot_timing at_once = { 0 };
        struct resource_identifier_list ids;
        struct selection selection;
        struct chosen_list chosen;

        TRY(check_lives(s));
        TRY(select_resources(s->rc, s->p, &chosen, &s->refusal));
        if (is_refused(&s->refusal))
                return 0;
        TRY(load(s));
        TRY(read_selection(s->rc, &chosen, &selection, &ids, &s->refusal));
        if (!is_refused(&s->refusal))
                TRY(check_dropped(s, &selection));
        return is_refused(&s->refusal) ? 0 : sync_selected(s, &selection, &at_once);
}

int take_resource_snapshot(struct reconcile *rc, const struct placement *p, const char *run,
                           const struct resource_snapshot **ret, struct refusal *ret_refusal)
{
        AUTO_KEY struct key key = KEY_EMPTY;
        struct reconcile own = *rc;
        struct pass s = {
                .rc = &own, .agent = agent_of(rc), .scope = scope_of(rc->ns), .p = p, .taker = run
        };
        int code;

        own.key = key_text(&key, p->object.meta.ns, p->object.meta.name);
        own.name = p->object.meta.name;
        s.memory = memory_of(&s.agent->intakes, &p->object, rc->arena);
        if (!own.key || !s.memory)
                return error_no_memory(rc->err);
        TRY(take_turn(&s));
        code = take_selected(&s);
        end_turn(&s);
        TRY(code);
        *ret = s.latest;
        *ret_refusal = s.refusal;
        return 0;
}

static struct outcome look(struct reconcile *rc)
{
        struct pass s = { .rc = rc, .agent = agent_of(rc), .scope = scope_of(rc->ns) };
        const struct object *placement;
        struct outcome outcome;

        if (cache_get(rc, s.scope->placement, rc->ns, rc->name, &placement) < 0)
                return failed(rc->err);
        s.p = (const struct placement *)placement;
        if (!s.p || !s.p->spec) {
                memory_drop(&s.agent->intakes, rc->key);
                return done();
        }
        s.memory = memory_of(&s.agent->intakes, &s.p->object, rc->arena);
        if (!s.memory) {
                error_no_memory(rc->err);
                return failed(rc->err);
        }
        if (is_deleting(&s.p->object))
                return clean_up(&s) < 0 ? failed(rc->err) : done();
        outcome = note_failure(&s, take_in(&s));
        manager_enqueue(rc->manager, &placement_status_controller, rc->key, QUEUE_FOLLOW_UP);
        return outcome;
}

static struct outcome reconcile(struct reconcile *rc)
{
        enum workload_queue w = rc->ns ? WORKLOAD_PLACEMENTS : WORKLOAD_CLUSTER_PLACEMENTS;
        int64_t began_us = workload_begin(agent_of(rc), w);
        struct outcome o = look(rc);

        workload_end(agent_of(rc), w, began_us, &o);
        return o;
}

static void map_snapshot(void *agent, const struct informer_event *e, key_emit emit, void *to)
{
        if (e->type != INFORMER_ADDED)
                map_to_owner(agent, e, emit, to);
}

/* One that is marked latest beside another: a write of a former leader that arrived late, or a user's. */
static void map_second_latest(void *agent, const struct informer_event *e, key_emit emit, void *to)
{
        const char *name = label_of(e->now, LABEL_PARENT_PLACEMENT);
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct object_list all;

        if (e->type == INFORMER_DELETED || text_empty(name) ||
            !label_is_true(e->now, LABEL_IS_LATEST_SNAPSHOT) ||
            (e->old && label_is_true(e->old, LABEL_IS_LATEST_SNAPSHOT)))
                return;
        if (objects_of_owner(agent, e->now->kind, e->now->meta.ns, name, &arena, &all) < 0 ||
            !one_resource_snapshot_is_latest(&all))
                map_to_owner(agent, e, emit, to);
}

static const char *bound_snapshot(const struct object *binding)
{
        const struct binding_spec *spec = ((const struct binding *)binding)->spec;

        return spec ? or_empty(spec->resource_snapshot_name) : "";
}

static bool is_too_much(struct hub_agent *a, const struct object *placement, int64_t index)
{
        const struct placement *p = (const struct placement *)placement;
        const struct scope *scope = scope_of(placement->meta.ns);
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct object_list snapshots;

        if (objects_of_owner(a, scope->resource_snapshot, placement->meta.ns, placement->meta.name, &arena,
                             &snapshots) < 0)
                return true; /* not known for want of memory: the intake looks itself */
        return index == NO_INDEX ? !resource_history_is_kept(p, &snapshots, &used_by_nobody)
                                 : resource_group_is_past(p, &snapshots, index);
}

/* A group that is in use stays though the history is full, and goes when nobody names it any more: rarely
 * enough that the whole intake may look again. */
void intake_let_go(struct hub_agent *a, const char *ns, const char *placement, int64_t index)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        AUTO_KEY struct key key = KEY_EMPTY;
        const struct object *o;
        int code = informer_read(manager_informer(a->manager, scope_of(ns)->placement), ns, placement, &arena,
                                 &o);

        if (code < 0 || (o && is_too_much(a, o, index))) /* not known for want of memory: it looks itself */
                manager_enqueue(a->manager, &intake_controller, key_text(&key, ns, placement), QUEUE_NORMAL);
}

static void map_let_go(void *agent, const struct informer_event *e, key_emit emit, void *to)
{
        const char *name = label_of(e->now, LABEL_PARENT_PLACEMENT);
        int64_t index;

        if (e->type == INFORMER_ADDED || text_empty(name) ||
            (e->type == INFORMER_UPDATED && text_equal(bound_snapshot(e->old), bound_snapshot(e->now))))
                return;
        index = index_in_name(bound_snapshot(e->old), name, SUFFIX_RESOURCE_SNAPSHOT);
        if (index != NO_INDEX)
                intake_let_go(agent, e->now->meta.ns, name, index);
}

static const struct watch watches[] = {
        { &cluster_resource_placement_kind, ON_SPEC | ON_DELETION, NULL, .pressing = placement_is_behind },
        { &resource_placement_kind, ON_SPEC | ON_DELETION, NULL, .pressing = placement_is_behind },
        { &cluster_scheduling_policy_snapshot_kind, ON_SPEC | ON_META | ON_DELETION, map_to_owner },
        { &scheduling_policy_snapshot_kind, ON_SPEC | ON_META | ON_DELETION, map_to_owner },
        { &cluster_resource_snapshot_kind, ON_SPEC | ON_DELETION, map_snapshot },
        { &resource_snapshot_kind, ON_SPEC | ON_DELETION, map_snapshot },
        { &cluster_resource_snapshot_kind, ON_SPEC | ON_META, map_second_latest },
        { &resource_snapshot_kind, ON_SPEC | ON_META, map_second_latest },
        { &cluster_resource_binding_kind, ON_SPEC | ON_DELETION, map_let_go },
        { &resource_binding_kind, ON_SPEC | ON_DELETION, map_let_go },
};

const struct controller intake_controller = {
        .name = "placement-intake",
        .placement_of = placement_of_self,
        .event_source = "placement-controller",
        .watches = watches,
        .n_watches = ARRAY_LEN(watches),
        .reconcile = reconcile,
        .early = EARLY_PLACEMENTS,
};
