/* A Work goes: its AppliedWork is deleted in the foreground, garbage collection takes what it owns, then the
 * finalizer is removed. spec/member-agent.md 2.16. */
#include "common/base/map.h"
#include "common/base/timefmt.h"
#include "common/kube/event.h"
#include "member-agent/apply/pass.h"
#include "member-agent/watch/applied.h"

#define REMAINS_MAX 5
#define WAIT_MS 1000 /* for Works that may want what this one has; their events wake us */
/* The AppliedWork's end wakes us; these are for a watch that missed it: a quarter of the time that has gone
 * by, within these bounds. */
#define POLL_MS 2000
#define POLL_MAX_MS 30000

static void unref(void *object)
{
        object_unref(object);
}

static int release(struct reconcile *rc, struct member_agent *a, const struct object *work)
{
        struct object *wanted = object_copy(work, rc->arena), *answer = NULL;
        int r;

        if (!wanted)
                return error_no_memory(rc->err);
        object_remove_finalizer(wanted, FINALIZER_WORK);
        r = kube_patch_diff(&a->hub, work, wanted, OBJECT_META_SPEC, rc->arena, &answer, rc->err);
        return r == ERR_NOT_FOUND ? 0 : r;
}

/* What of an AppliedWork that goes is still there. */
struct remains {
        const char *text; /* of the first ones, for people; NULL = nothing */
        size_t n;
};

static int note_remains(struct arena *arena, const struct row *row, const json_t *live,
                        struct remains *remains, struct error *err)
{
        const char *finalizer =
                json_string_value(json_array_get(doc_get_array(live, "metadata.finalizers"), 0));

        if (remains->n++ >= REMAINS_MAX)
                return 0;
        remains->text = arena_printf(arena, "%s%s%s %s%s%s%s%s%s", remains->text ? remains->text : "",
                                     remains->text ? ", " : "", row->kind, row->ns, row->ns[0] ? "/" : "",
                                     row->name, finalizer ? " (finalizer " : "", finalizer ? finalizer : "",
                                     finalizer ? ")" : "");
        return remains->text ? 0 : error_no_memory(err);
}

/* A second, dangling or foreign owner can block foreground deletion for ever: our reference stops asking for
 * it. */
static int relax_object(struct member_agent *a, const struct row *row, const struct owner *owner,
                        struct arena *arena, struct remains *remains, struct error *err)
{
        static const struct kube_write write = { 0 };
        struct kube_resource r = { row->group, row->version, row->plural, row->kind, row->namespaced };
        AUTO_JSON json_t *live = NULL;
        AUTO_JSON json_t *patch = NULL;
        int result = kube_doc_get(&a->member, &r, row->ns, row->name, &live, err);
        json_t *ours;

        if (result == ERR_NOT_FOUND) {
                error_clear(err);
                return 0;
        }
        TRY(result);
        ours = owner_find(live, owner);
        if (ours)
                TRY(note_remains(arena, row, live, remains, err));
        if (!ours || owner_count(live) < 2 || !json_is_true(json_object_get(ours, "blockOwnerDeletion")))
                return 0;
        if (json_object_set_new(ours, "blockOwnerDeletion", json_false()) < 0)
                return error_no_memory(err);
        patch = owner_patch(live, doc_get(live, "metadata.ownerReferences"));
        if (!patch)
                return error_no_memory(err);
        return kube_doc_patch(&a->member, &r, row->ns, row->name, KUBE_PATCH_MERGE, patch, &write, NULL, err);
}

/* Once for each AppliedWork: what remains may become less with every look. No status tells it, for the
 * placement is gone from the hub. */
static void tell_remains(struct reconcile *rc, struct member_agent *a, const struct object *applied_work,
                         const struct remains *remains)
{
        const struct object *work = informer_get(a->works, a->ns, rc->name);
        struct work_memory *memory = agent_memory(a, rc->name);
        uint64_t hash = hash_bytes(applied_work->meta.uid, strlen(applied_work->meta.uid), 0);
        const char *text =
                arena_printf(rc->arena, "%zu object(s) have been in the way of its end for minutes: %s%s",
                             remains->n, remains->text, remains->n > REMAINS_MAX ? ", ..." : "");

        if (!memory || !text || memory->told_unremoved == hash)
                return;
        memory->told_unremoved = hash;
        log_warn(&rc->log, "a Work that goes cannot be cleaned up", "objects", LOG_INT(remains->n), "first",
                 remains->text);
        if (work)
                event_record(a->hub_events, work, EVENT_TYPE_WARNING, EVENT_REMOVAL_FAILED, "%s", text);
        rc_event(rc, applied_work, EVENT_TYPE_WARNING, EVENT_REMOVAL_FAILED, "%s", text);
}

static void relax(struct reconcile *rc, struct member_agent *a, const struct object *applied_work,
                  const struct rows *rows)
{
        struct remains remains = { 0 };
        struct owner owner = { applied_work->meta.name, applied_work->meta.uid };

        for (size_t i = 0; i < rows->n; i++) {
                const struct row *row = &rows->at[i];
                struct error err = { 0 };

                if (text_equal(row->seen, SEEN_GONE) &&
                    applied_watch_current(a->applied, row->group, row->plural))
                        continue;
                if (relax_object(a, row, &owner, rc->arena, &remains, &err) < 0)
                        log_warn(&rc->log, "an object that blocks deletion could not be relaxed", "kind",
                                 row->kind, "name", row->name, "error", err.text);
        }
        if (remains.n)
                tell_remains(rc, a, applied_work, &remains);
}

/* Looking asks the server for every object: soon after the watch has shown a change in one of them, else
 * rarely. Returns after how many milliseconds to come again. */
static int64_t relax_when_due(struct reconcile *rc, struct member_agent *a, const struct object *applied_work)
{
        struct work_memory *memory = agent_memory(a, rc->name);
        int64_t now = loop_now_ms(a->loop), due;
        struct rows rows = { 0 };
        uint64_t seen = 1;

        if (store_rows_of_work(a->store, rc->name, rc->arena, &rows, rc->err) < 0)
                log_warn(&rc->log, "inventory cannot be read", "error", rc->err->text);
        for (size_t i = 0; i < rows.n; i++)
                seen = hash_bytes(rows.at[i].seen, strlen(rows.at[i].seen), seen);
        if (!memory)
                return POLL_MAX_MS;
        due = memory->looked_ms + (memory->looked_at == seen ? POLL_MAX_MS : POLL_MS);
        if (memory->looked_at && due > now)
                return due - now;
        memory->looked_ms = now;
        memory->looked_at = seen;
        relax(rc, a, applied_work, &rows);
        return POLL_MAX_MS;
}

/* ---- what others want stays ---- */

/* *ret_settled: there is nothing more to be done about this object. */
static int hand_over_object(struct giver *g, const struct row *row, bool *ret_settled, struct error *err)
{
        struct kube_resource r = { row->group, row->version, row->plural, row->kind, row->namespaced };
        AUTO_JSON json_t *live = NULL;
        enum handover decision;
        const char *to = NULL;
        int result = kube_doc_get(&g->agent->member, &r, row->ns, row->name, &live, err);

        if (result < 0 && result != ERR_NOT_FOUND)
                return result;
        error_clear(err);
        *ret_settled = live ? !owner_find(live, &g->owner) : !finished_row(row);
        if (*ret_settled)
                return 0;
        TRY(handover_ask(g, row, &decision, &to, err));
        *ret_settled = decision == HANDOVER_GIVE;
        if (!*ret_settled)
                return 0;
        return live ? handover_give(g, row, live, to, err) : finished_give(g, row, to, err);
}

/* One look at all objects that are not settled. *ret_gives: some were to be handed over, which parked. */
static int hand_over_round(struct giver *g, const struct rows *rows, bool *settled, bool *ret_gives,
                           bool *ret_waits, struct error *err)
{
        *ret_gives = *ret_waits = false;
        for (size_t i = 0; i < rows->n; i++) {
                enum handover decision;
                const char *to = NULL;

                if (settled[i])
                        continue;
                TRY(handover_ask(g, &rows->at[i], &decision, &to, err));
                *ret_waits |= decision == HANDOVER_WAIT;
                *ret_gives |= decision == HANDOVER_GIVE;
                if (decision == HANDOVER_GIVE)
                        TRY(hand_over_object(g, &rows->at[i], &settled[i], err));
        }
        return 0;
}

/* Garbage collection takes along what the AppliedWork owns: objects that another Work wants get its owner
 * first. When this returns with *ret_waits unset, nothing has parked since the last look. */
static int hand_over(struct reconcile *rc, struct member_agent *a, const struct object *applied,
                     bool *ret_waits)
{
        struct work_memory *memory = agent_memory(a, rc->name);
        struct giver g = { .agent = a,
                           .arena = rc->arena,
                           .log = &rc->log,
                           .name = rc->name,
                           .owner = { applied->meta.name, applied->meta.uid } };
        struct rows rows;
        bool *settled, gives = true;

        TRY(store_rows_of_work(a->store, rc->name, rc->arena, &rows, rc->err));
        TRY(applied_work_add_rows(applied, rc->name, rc->arena, &rows, rc->err));
        settled = ARENA_NEW_ARRAY(rc->arena, bool, rows.n + 1);
        if (!settled || !memory)
                return error_no_memory(rc->err);
        g.waited_ms = handover_waited(memory, 0, loop_now_ms(a->loop));
        while (gives)
                TRY(hand_over_round(&g, &rows, settled, &gives, ret_waits, rc->err));
        if (*ret_waits)
                handover_note_wait(memory, true, 0, loop_now_ms(a->loop));
        return 0;
}

/* ---- the end ---- */

/* Our own state forgets the Work before the hub does: an agent that dies in between must not find in its file
 * what nobody will ever tell it to remove again. */
static struct outcome finish(struct reconcile *rc, struct member_agent *a, const struct object *work)
{
        agent_forget(a, rc->name);
        if (store_work_remove(a->store, rc->name, rc->err) < 0 ||
            applied_watch_reconcile(a->applied, rc->err) < 0 || release(rc, a, work) < 0)
                return failed(rc->err);
        return done();
}

/* The cache may be behind: only the server can say that the AppliedWork is gone. */
static int find_applied_work(struct reconcile *rc, struct member_agent *a, struct object **ret)
{
        int r = kube_get(&a->member, &applied_work_kind, NULL, rc->name, rc->arena, ret, rc->err);

        if (r == ERR_NOT_FOUND) {
                error_clear(rc->err);
                *ret = NULL;
                return 0;
        }
        return r;
}

/* Hands over by what the cache has of the AppliedWork, so that waiting costs no request. */
static int hand_over_known(struct reconcile *rc, struct member_agent *a, bool *ret_waits)
{
        const struct object *known = informer_get(a->applied_works, NULL, rc->name);

        *ret_waits = false;
        if (!known || known->meta.deletion_ms != TIME_NONE)
                return 0;
        object_ref(known);
        if (arena_defer(rc->arena, unref, (void *)(uintptr_t)known) < 0)
                return error_no_memory(rc->err);
        return hand_over(rc, a, known, ret_waits);
}

/* It goes: does what is to be done meanwhile. Milliseconds until the next look. */
static int64_t watch_it_go(struct reconcile *rc, struct member_agent *a, const struct object *applied)
{
        int64_t going_ms = rc->now_ms - applied->meta.deletion_ms, left_ms = a->deletion_wait_ms - going_ms;

        if (left_ms <= 0)
                return relax_when_due(rc, a, applied);
        return MIN(left_ms, MIN(POLL_MAX_MS, MAX(going_ms / 4, POLL_MS)));
}

static struct outcome end_applied_work(struct reconcile *rc, struct member_agent *a,
                                       const struct object *applied, const char *propagation)
{
        struct kube_resource resource = kube_resource_of(&applied_work_kind);
        bool waits = false;
        int r;

        if (hand_over(rc, a, applied, &waits) < 0)
                return failed(rc->err);
        if (applied->meta.deletion_ms != TIME_NONE) {
                int64_t next_ms = watch_it_go(rc, a, applied);

                return again_after(waits ? MIN(next_ms, POLL_MS) : next_ms);
        }
        if (waits)
                return again_after(WAIT_MS);
        r = kube_doc_delete(&a->member, &resource, NULL, rc->name, applied->meta.uid, propagation, rc->err);
        if (r < 0 && r != ERR_NOT_FOUND)
                return failed(rc->err);
        return again_after(POLL_MS);
}

static struct outcome clear(struct reconcile *rc, struct member_agent *a, const char *propagation,
                            bool *ret_gone)
{
        struct object *applied = NULL;
        bool waits;

        *ret_gone = false;
        if (hand_over_known(rc, a, &waits) < 0)
                return failed(rc->err);
        if (waits)
                return again_after(WAIT_MS);
        if (find_applied_work(rc, a, &applied) < 0)
                return failed(rc->err);
        *ret_gone = !applied;
        return applied ? end_applied_work(rc, a, applied, propagation) : done();
}

struct outcome applied_work_clear(struct reconcile *rc, struct member_agent *a, bool *ret_gone)
{
        return clear(rc, a, "Foreground", ret_gone);
}

/* Abandoned objects lose their owner, and nothing else. */
static const char *propagation_of(const struct object *work)
{
        const char *policy = string_map_get(&work->meta.annotations, ANNOTATION_DELETE_POLICY);

        return text_equal(policy, DELETE_ABANDON) ? "Orphan" : "Foreground";
}

struct outcome work_delete(struct reconcile *rc, struct member_agent *a, const struct object *work)
{
        struct outcome o;
        bool gone;

        if (!object_has_finalizer(work, FINALIZER_WORK))
                return done();
        o = clear(rc, a, propagation_of(work), &gone);
        return gone ? finish(rc, a, work) : o;
}
