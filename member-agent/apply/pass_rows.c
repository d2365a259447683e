/* What a pass reads from the inventory and writes to it: spec/member-agent.md 2.4, 6.3. */
#include "common/base/timefmt.h"
#include "member-agent/apply/pass.h"
#include "member-agent/watch/applied.h"
#include "proto/names.h"

#define FIRST_LISTS_MS 2000 /* so long after the start passes wait for them */

const struct row *pass_row(const struct pass *p, const struct manifest *m)
{
        return m->key ? map_get(p->row_index, m->key) : NULL;
}

int pass_load_rows(struct pass *p, struct error *err)
{
        TRY(store_rows_of_work(p->agent->store, p->name, p->arena, &p->rows, err));
        return rows_index(&p->rows, p->arena, &p->row_index, err);
}

unsigned pass_strategy_number(const struct pass *p, const struct manifest *m)
{
        return strategy_number(&p->strategy) ^ m->ignored.number << 8;
}

/* What is told of an object's availability beyond a word is not in its row: for that it is read again. */
static bool is_told_in_full(const struct row *row)
{
        return row->availability != AVAILABILITY_FAILED &&
               !(row->availability == AVAILABILITY_NOT_YET && text_equal(row->group, GROUP_OLM));
}

/* Neither manifest nor strategy changed, and by the row the object is as we left it. What was only compared
 * was not applied. */
static bool is_as_left(const struct pass *p, const struct manifest *m, const struct row *row)
{
        return row && row->state == ROW_APPLIED && result_is_applied(row->result) &&
               text_equal(row->hash, m->hash) && row->strategy == pass_strategy_number(p, m) &&
               text_equal(row->handled, row->seen) && row->first_drift_ms == TIME_NONE &&
               is_told_in_full(row) && !p->mirror && p->now_ms - row->checked_ms < WHOLE_LOOK_MS &&
               p->now_ms >= row->checked_ms;
}

/* The watch says so, too: the results stand. */
static bool may_reuse(const struct pass *p, const struct manifest *m, const struct row *row)
{
        return is_as_left(p, m, row) &&
               applied_watch_current(p->agent->applied, m->group, m->resource.plural);
}

void pass_reuse_row(struct manifest *m, const struct row *row)
{
        m->reused = m->live_exists = true;
        m->result = row->result;
        m->availability = row->availability;
        m->live_uid = row->uid;
        m->live_version = row->handled;
        m->live_generation = row->live_generation;
}

/* What would have to be read only because a list is on the way. */
static bool waits_for_list(const struct pass *p)
{
        for (size_t i = 0; i < p->n; i++) {
                const struct manifest *m = &p->manifests[i];

                if (m->result == RESULT_NONE && is_as_left(p, m, pass_row(p, m)) &&
                    applied_watch_lists(p->agent->applied, m->group, m->resource.plural))
                        return true;
        }
        return false;
}

/* After a restart all Works come at once, as all lists do: two requests for each kind then say what otherwise
 * takes one for each object. They may also say that rows are not what they were. */
static int await_lists(struct pass *p, struct error *err)
{
        struct member_agent *a = p->agent;
        int64_t until = a->follows_since_ms + FIRST_LISTS_MS;
        bool waited = false;

        while (loop_now_ms(a->loop) < until && waits_for_list(p)) {
                if (waitq_wait(a->loop, &a->turned, until) == ERR_CANCELLED)
                        return error_set(err, ERR_CANCELLED, "cancelled");
                waited = true;
        }
        return waited ? pass_load_rows(p, err) : 0;
}

int pass_reuse_results(struct pass *p, struct error *err)
{
        TRY(await_lists(p, err));
        for (size_t i = 0; i < p->n; i++) {
                struct manifest *m = &p->manifests[i];
                const struct row *row = m->result == RESULT_NONE ? pass_row(p, m) : NULL;

                if (!may_reuse(p, m, row))
                        continue;
                pass_reuse_row(m, row);
        }
        return 0;
}

/* ---- writing ---- */

struct row pass_new_row(const struct pass *p, const struct manifest *m)
{
        return (struct row){ .work = p->name,
                             .group = m->group,
                             .version = m->version,
                             .kind = m->kind,
                             .plural = m->resource.plural,
                             .ns = m->ns ? m->ns : "",
                             .name = m->name,
                             .namespaced = m->resource.namespaced,
                             .uid = "",
                             .ordinal = m->ordinal,
                             .state = ROW_PLANNED,
                             .work_generation = p->work->object.meta.generation,
                             .hash = "",
                             .handled = "",
                             .seen = "",
                             .first_drift_ms = TIME_NONE,
                             .first_diff_ms = TIME_NONE };
}

static bool is_ready(const struct manifest *m)
{
        return m->result == RESULT_NONE && m->resource.plural;
}

bool pass_is_fresh(const struct pass *p, const struct manifest *m)
{
        return is_ready(m) && !pass_row(p, m);
}

int pass_plan_rows(struct pass *p, struct error *err)
{
        size_t fresh = 0;
        int r = 0;

        for (size_t i = 0; i < p->n; i++)
                fresh += pass_is_fresh(p, &p->manifests[i]);
        if (!fresh)
                return 0;
        TRY(store_begin(p->agent->store, true, err));
        for (size_t i = 0; r == 0 && i < p->n; i++) {
                struct row row;

                if (!pass_is_fresh(p, &p->manifests[i]))
                        continue;
                row = pass_new_row(p, &p->manifests[i]);
                r = store_row_put(p->agent->store, &row, err);
        }
        if (r < 0) {
                store_rollback(p->agent->store);
                return r;
        }
        TRY(store_commit(p->agent->store, err));
        /* In memory the rows are lost with the process. */
        return *store_problem(p->agent->store) ? applied_work_announce(p, err) : 0;
}

static int64_t first_time(const struct differences *d, int64_t known, int64_t now)
{
        if (!d || d->n == 0)
                return TIME_NONE;
        return known == TIME_NONE ? now : known;
}

/* What the pass looked at may have been deleted since, which the row says by now. */
static int find_end(const struct pass *p, const struct manifest *m, enum row_ended *ret, struct error *err)
{
        struct rows rows;

        *ret = !manifest_goes_when_finished(m) ? ENDED_NONE : m->finished ? ENDED_FINISHED : ENDED_NOT;
        if (*ret != ENDED_NOT)
                return 0;
        TRY(store_rows_of_object(p->agent->store, m->group, m->resource.plural, m->ns ? m->ns : "", m->name,
                                 p->arena, &rows, err));
        for (size_t i = 0; i < rows.n; i++)
                if (text_equal(rows.at[i].work, p->name) && rows.at[i].ended == ENDED_TAKEN &&
                    text_equal(rows.at[i].uid, m->live_uid))
                        *ret = ENDED_TAKEN;
        return 0;
}

static int record(struct pass *p, const struct manifest *m, struct error *err)
{
        const struct row *known = pass_row(p, m);
        struct row row = pass_new_row(p, m);

        if (known) {
                row.state = known->state;
                row.uid = known->uid;
                row.hash = known->hash;
                row.ended = known->ended;
        }
        if (m->live_exists) {
                row.uid = m->live_uid;
                TRY(find_end(p, m, &row.ended, err));
        }
        if (result_is_applied(m->result)) {
                row.state = ROW_APPLIED;
                row.hash = m->hash;
                row.handled = m->live_version;
        }
        row.strategy = pass_strategy_number(p, m);
        row.live_generation = m->live_generation;
        row.result = m->result;
        row.availability = m->availability;
        row.first_drift_ms = first_time(m->drifts, known ? known->first_drift_ms : TIME_NONE, p->now_ms);
        row.first_diff_ms = first_time(m->diffs, known ? known->first_diff_ms : TIME_NONE, p->now_ms);
        row.checked_ms = p->now_ms;
        return store_row_put(p->agent->store, &row, err);
}

int pass_record_rows(struct pass *p, struct error *err)
{
        int r = 0;

        TRY(store_begin(p->agent->store, false, err));
        for (size_t i = 0; r == 0 && i < p->n; i++) {
                const struct manifest *m = &p->manifests[i];

                if (m->reused || !m->resource.plural || result_is_preprocessing(m->result))
                        continue;
                r = record(p, m, err);
                if (r == 0)
                        r = applied_watch_want(p->agent->applied, &m->resource, err);
        }
        if (r < 0) {
                store_rollback(p->agent->store);
                return r;
        }
        return store_commit(p->agent->store, err);
}

int pass_first_times(const struct pass *p, int64_t **ret_drift, int64_t **ret_diff, struct error *err)
{
        int64_t *drift = ARENA_NEW_ARRAY(p->arena, int64_t, p->n + 1),
                *diff = ARENA_NEW_ARRAY(p->arena, int64_t, p->n + 1);

        if (!drift || !diff)
                return error_no_memory(err);
        for (size_t i = 0; i < p->n; i++) {
                const struct row *row = p->manifests[i].name ? pass_row(p, &p->manifests[i]) : NULL;

                drift[i] = row ? row->first_drift_ms : TIME_NONE;
                diff[i] = row ? row->first_diff_ms : TIME_NONE;
        }
        *ret_drift = drift;
        *ret_diff = diff;
        return 0;
}
