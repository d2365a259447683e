/* Objects that were applied and are no longer in the Work: spec/member-agent.md 2.4. The inventory names
 * candidates, handover.h says whether they go or move, the live owner reference decides. */
#include "member-agent/apply/pass.h"
#include "member-agent/apply/steps.h"
#include "member-agent/watch/applied.h"

static int remove_object(struct pass *p, const struct kube_resource *r, const struct row *row,
                         const json_t *live, enum leftover what, struct error *err)
{
        int result = object_let_go(&p->agent->member, r, live, &p->owner, what, false, err);

        if (result < 0 && result != ERR_NOT_FOUND)
                return result;
        return store_row_remove(p->agent->store, row, err);
}

/* The object is gone, or not ours. One that has run must not run again in the Work that lists it now. */
static int forget_object(struct pass *p, struct giver *g, const struct row *row, bool ran, bool *ret_waits,
                         struct error *err)
{
        enum handover decision = HANDOVER_REMOVE;
        const char *to = NULL;

        if (ran)
                TRY(handover_ask(g, row, &decision, &to, err));
        *ret_waits = decision == HANDOVER_WAIT;
        if (decision == HANDOVER_GIVE)
                return finished_give(g, row, to, err);
        return *ret_waits ? 0 : store_row_remove(p->agent->store, row, err);
}

/* Looks, then decides on what is known at that moment: nothing parks between the decision and the request.
 * *ret_waits: it has to stay for now; *ret_stays: while the Work only reports
 * differences, what it had applied before stays. */
static int settle_object(struct pass *p, struct giver *g, const struct row *row, bool *ret_waits,
                         bool *ret_stays, struct error *err)
{
        struct kube_resource r = { row->group, row->version, row->plural, row->kind, row->namespaced };
        AUTO_JSON json_t *live = NULL;
        enum leftover what;
        enum handover decision;
        const char *to = NULL;
        int result;

        TRY(handover_ask(g, row, &decision, &to, err));
        *ret_waits = decision == HANDOVER_WAIT;
        if (*ret_waits && (!text_equal(row->seen, SEEN_GONE) || finished_row(row)))
                return 0; /* of what is gone there is nothing to keep, but that it has run */
        result = kube_doc_get(&p->agent->member, &r, row->ns, row->name, &live, err);
        if (result < 0 && result != ERR_NOT_FOUND)
                return result;
        what = leftover_decide(live, &p->owner, row->state != ROW_PLANNED, p->strategy.type);
        if (what == LEFTOVER_GONE) {
                error_clear(err);
                return forget_object(p, g, row, !live && finished_row(row), ret_waits, err);
        }
        TRY(handover_ask(g, row, &decision, &to, err));
        *ret_waits = decision == HANDOVER_WAIT;
        if (decision == HANDOVER_GIVE)
                return handover_give(g, row, live, to, err);
        if (decision != HANDOVER_REMOVE)
                return 0;
        *ret_stays = what == LEFTOVER_STAYS;
        return *ret_stays ? 0 : remove_object(p, &r, row, live, what, err);
}

static int note_unremoved(struct pass *p, const struct row *row, const struct error *why, struct error *err)
{
        struct unremoved *u = ARENA_NEW(p->arena, struct unremoved);

        if (!u || !(u->why = arena_strdup(p->arena, why->text)))
                return error_no_memory(err);
        u->row = row;
        u->next = p->unremoved;
        p->unremoved = u;
        return 0;
}

static int settle(struct pass *p, struct giver *g, const struct row *row, size_t *left, struct error *err)
{
        struct error why = { 0 };
        bool waits = false, stays = false;
        int r = settle_object(p, g, row, &waits, &stays, &why);

        if (r == ERR_NO_MEMORY || r == ERR_CANCELLED) {
                *err = why;
                return r;
        }
        if (r < 0 || waits || stays)
                p->lingering.at[p->lingering.n++] = *row;
        *left += r < 0 || waits;
        if (r == 0)
                return 0;
        /* After a conflict an heir may have been first: the next look tells. */
        return r == ERR_CONFLICT ? 0 : note_unremoved(p, row, &why, err);
}

/* Compared without version: a changed apiVersion does not make another object. A manifest that cannot be
 * mapped right now is still in the Work. */
static int index_manifests(const struct pass *p, struct map *ret, struct error *err)
{
        for (size_t i = 0; i < p->n; i++)
                if (p->manifests[i].key && map_put(ret, p->manifests[i].key, &p->manifests[i]) < 0)
                        return error_no_memory(err);
        return 0;
}

/* ---- without the state file ---- */

/* Looks whether the object is ours, and gives it a row then: nothing else tells of it once the status is
 * written anew. */
static int adopt_told(struct pass *p, const struct work_resource_identifier *id, struct rows *rows,
                      struct error *err)
{
        struct row row = row_of_identifier(p->name, id);
        struct kube_resource r = { row.group, row.version, row.plural, row.kind, row.namespaced };
        AUTO_JSON json_t *live = NULL;
        int result;

        row.work_generation = p->work->object.meta.generation;
        result = kube_doc_get(&p->agent->member, &r, row.ns, row.name, &live, err);
        if (result < 0 && result != ERR_NOT_FOUND)
                return result;
        error_clear(err);
        if (!live || !owner_find(live, &p->owner))
                return 0;
        row.uid = arena_strdup(p->arena, or_empty(doc_get_string(live, "metadata.uid")));
        if (!row.uid)
                return error_no_memory(err);
        TRY(store_row_put(p->agent->store, &row, err));
        rows->at[rows->n++] = row;
        return 0;
}

/* What drifted is ours and stands in no AppliedWork, only in what was told of an earlier generation:
 * spec/member-agent.md, design 1. */
static int add_told(struct pass *p, const struct map *listed, struct rows *rows, struct error *err)
{
        const struct condition *c = p->told ? condition_find(&p->told->conditions, CONDITION_APPLIED) : NULL;
        const struct manifest_condition_list *told = c ? &p->told->manifest_conditions : NULL;
        struct map *known;

        if (!c || c->observed_generation.value == p->work->object.meta.generation)
                return 0;
        TRY(rows_extend(rows, told->n, p->arena, &known, err));
        for (uint32_t i = 0; i < told->n; i++) {
                const struct work_resource_identifier *id = told->at[i].identifier;
                bool lacks = false, left = false;

                if (id)
                        TRY(rows_lack(known, id, p->arena, &lacks, err));
                if (lacks)
                        TRY(rows_lack(listed, id, p->arena, &left, err));
                if (left)
                        TRY(adopt_told(p, id, rows, err));
        }
        return 0;
}

int leftover_remove(struct pass *p, size_t *ret_left, struct error *err)
{
        struct work_memory *memory = agent_memory(p->agent, p->name);
        struct giver g = { .agent = p->agent,
                           .arena = p->arena,
                           .log = p->log,
                           .name = p->name,
                           .owner = p->owner,
                           .generation = p->work->object.meta.generation };
        struct map listed CLEANUP(map_free);
        struct rows rows = p->rows;
        size_t n = 0;

        *ret_left = 0;
        map_init(&listed, MAP_BORROW_KEYS, NULL);
        if (!memory)
                return error_no_memory(err);
        g.waited_ms = handover_waited(memory, g.generation, loop_now_ms(p->agent->loop));
        TRY(index_manifests(p, &listed, err));
        TRY(applied_work_add_rows(p->applied_work, p->name, p->arena, &rows, err));
        TRY(add_told(p, &listed, &rows, err));
        p->lingering = (struct rows){ .at = ARENA_NEW_ARRAY(p->arena, struct row, rows.n + 1) };
        if (!p->lingering.at)
                return error_no_memory(err);
        for (size_t i = 0; i < rows.n; i++) {
                const char *key = row_key(&rows.at[i], p->arena);

                if (!key)
                        return error_no_memory(err);
                if (map_has(&listed, key))
                        continue;
                n++;
                TRY(settle(p, &g, &rows.at[i], ret_left, err));
        }
        TRY(tell_unremoved(p, memory, err));
        return n ? applied_watch_reconcile(p->agent->applied, err) : 0;
}
