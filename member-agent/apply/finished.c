/* Jobs that their cluster deletes when they have finished (ttlSecondsAfterFinished): one that is gone has
 * run, and does not run again while its manifest stays. */
#include "member-agent/apply/finished.h"
#include "common/base/timefmt.h"
#include "member-agent/apply/pass.h"
#include "member-agent/watch/applied.h"

bool finished_row(const struct row *row)
{
        return row->state == ROW_APPLIED && (row->ended == ENDED_NOT || row->ended == ENDED_FINISHED);
}

/* ---- what is known of one that is gone ---- */

/* A file of a former version does not say what became of it. */
static bool says_it_ran(const struct row *row, const struct manifest *m)
{
        return row->state == ROW_APPLIED && row->ended != ENDED_TAKEN && text_equal(row->hash, m->hash);
}

static int binding_of(const struct pass *p, const char *work, const char **ret, struct error *err)
{
        const struct object *o = informer_get(p->agent->works, p->agent->ns, work);
        struct work_set set;

        *ret = "";
        if (!o)
                return 0;
        if (work_set_of(o, p->arena, &set) < 0)
                return error_no_memory(err);
        *ret = set.binding;
        return 0;
}

/* Our own as it is by now, or that of a Work of the same binding. NULL: there is none. */
static int find_row(const struct pass *p, const struct manifest *m, const struct row **ret, struct error *err)
{
        const char *ours, *theirs;
        struct rows rows;

        *ret = NULL;
        TRY(binding_of(p, p->name, &ours, err));
        TRY(store_rows_of_object(p->agent->store, m->group, m->resource.plural, m->ns ? m->ns : "", m->name,
                                 p->arena, &rows, err));
        for (size_t i = 0; i < rows.n; i++) {
                bool own = text_equal(rows.at[i].work, p->name);

                if (!says_it_ran(&rows.at[i], m))
                        continue;
                TRY(binding_of(p, rows.at[i].work, &theirs, err));
                if (own || (ours[0] && text_equal(ours, theirs)))
                        *ret = rows.at + i;
                if (own)
                        break;
        }
        return 0;
}

const char *finished_told_uid(const struct work_status *told, int64_t generation,
                              const struct applied_work *applied, const struct manifest *m)
{
        const struct condition *c = told ? condition_find(&told->conditions, CONDITION_APPLIED) : NULL;
        const struct applied_resource *listed;
        bool was_applied = false;

        if (!c || c->observed_generation.value != generation)
                return NULL;
        for (uint32_t i = 0; i < told->manifest_conditions.n; i++) {
                const struct manifest_condition *one = &told->manifest_conditions.at[i];
                const struct condition *its = condition_find(&one->conditions, CONDITION_APPLIED);

                was_applied |= one->identifier && identifies(one->identifier, m) && its &&
                               text_equal(its->status, "True");
        }
        listed = was_applied ? applied_work_entry(&applied->object, m) : NULL;
        return listed ? or_empty(listed->uid) : NULL;
}

static const char *told_uid(const struct pass *p, const struct manifest *m)
{
        return finished_told_uid(p->told, p->work->object.meta.generation,
                                 (const struct applied_work *)(const void *)p->applied_work, m);
}

static int keep_told(struct pass *p, const struct manifest *m, const char *uid, struct row *ret,
                     struct error *err)
{
        *ret = pass_new_row(p, m);
        ret->uid = uid;
        ret->state = ROW_APPLIED;
        ret->hash = m->hash;
        ret->strategy = pass_strategy_number(p, m);
        ret->result = RESULT_APPLIED;
        ret->availability = AVAILABILITY_NOT_TRACKABLE;
        ret->ended = ENDED_FINISHED;
        return store_row_put(p->agent->store, ret, err);
}

/* What a sibling applied is ours from now on: it may forget it. That a row is of one that has run is to be
 * seen from the row alone. */
static int keep_row(struct pass *p, const struct row *row, struct error *err)
{
        struct row ours = *row;

        if (text_equal(row->work, p->name) && row->ended != ENDED_NONE)
                return 0;
        if (ours.ended == ENDED_NONE)
                ours.ended = ENDED_FINISHED;
        ours.work = p->name;
        ours.work_generation = p->work->object.meta.generation;
        return store_row_put(p->agent->store, &ours, err);
}

int finished_reuse(struct pass *p, struct manifest *m, bool *ret, struct error *err)
{
        const struct row *row, *own = pass_row(p, m);
        struct row told;
        const char *uid;

        *ret = false;
        if (p->strategy.type == STRATEGY_REPORT_DIFF || !manifest_goes_when_finished(m))
                return 0;
        TRY(find_row(p, m, &row, err));
        if (!row && !(own && own->hash[0]) && (uid = told_uid(p, m))) {
                TRY(keep_told(p, m, uid, &told, err));
                row = &told;
        } else if (row) {
                TRY(keep_row(p, row, err));
        }
        if (!row)
                return 0;
        pass_reuse_row(m, row);
        if (!result_is_applied(row->result)) { /* a look at it failed, or it was only compared, meanwhile */
                m->result = RESULT_APPLIED;
                m->availability = AVAILABILITY_NOT_TRACKABLE;
        }
        *ret = true;
        return 0;
}

/* ---- moving ---- */

static int find_heirs(const struct giver *g, const struct row *row, const char *to, const struct row **ret,
                      struct error *err)
{
        struct rows rows;

        *ret = NULL;
        TRY(store_rows_of_object(g->agent->store, row->group, row->plural, row->ns, row->name, g->arena,
                                 &rows, err));
        for (size_t i = 0; i < rows.n; i++)
                if (text_equal(rows.at[i].work, to))
                        *ret = rows.at + i;
        return 0;
}

static int replace(struct giver *g, const struct row *row, const struct row *heirs, struct error *err)
{
        if (heirs)
                TRY(store_row_put(g->agent->store, heirs, err));
        return store_row_remove(g->agent->store, row, err);
}

/* An heir that has applied it knows better. */
int finished_give(struct giver *g, const struct row *row, const char *to, struct error *err)
{
        const struct row *theirs;
        struct row heirs = *row;
        int r;

        TRY(find_heirs(g, row, to, &theirs, err));
        heirs.work = to;
        heirs.work_generation = 0;
        TRY(store_begin(g->agent->store, true, err));
        r = replace(g, row, theirs && (theirs->state == ROW_APPLIED || theirs->hash[0]) ? NULL : &heirs, err);
        if (r < 0) {
                store_rollback(g->agent->store);
                return r;
        }
        TRY(store_commit(g->agent->store, err));
        agent_enqueue_work(g->agent, to, QUEUE_HIGH);
        return 0;
}
