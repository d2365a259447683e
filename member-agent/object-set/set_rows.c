/* What a set has in the inventory: spec/cluster-object-set.md 3, 12.1, 13. */
#include "common/base/timefmt.h"
#include "member-agent/apply/rows.h"
#include "member-agent/object-set/set_pass.h"
#include "member-agent/watch/applied.h"

const char *set_holder(const char *name, struct arena *arena)
{
        return arena_printf(arena, SET_HOLDER_PREFIX "%s", name);
}

int set_rows_load(struct set_pass *p, struct error *err)
{
        TRY(store_rows_of_work(p->agent->store, p->holder, p->arena, &p->rows, err));
        return rows_index(&p->rows, p->arena, &p->row_index, err);
}

const struct row *set_row_of(const struct set_pass *p, const struct set_item *item)
{
        return map_get(p->row_index, item->key);
}

static unsigned signature_for(const struct set_signature *s, enum result result)
{
        return result == RESULT_NOT_TAKEN_OVER ? s->progressed : s->own;
}

/* As the last look found it: ours and ready, or a later sibling's and ready. */
static bool is_settled(const struct row *row, const struct set_signature *signature, int64_t now_ms)
{
        return row->state == ROW_APPLIED && row->availability == AVAILABILITY_AVAILABLE &&
               row->strategy == signature_for(signature, row->result) &&
               text_equal(row->handled, row->seen) && now_ms >= row->checked_ms &&
               now_ms - row->checked_ms < SET_LOOK_MS;
}

bool set_row_is_current(const struct set_pass *p, const struct set_item *item)
{
        const struct row *row = set_row_of(p, item);

        return row && is_settled(row, &p->signature, p->rc->now_ms) && text_equal(row->hash, item->hash) &&
               applied_watch_current(p->agent->applied, row->group, row->plural);
}

/* ---- writing ---- */

static struct row new_row(const struct set_pass *p, const struct set_item *item)
{
        const struct set_object *o = item->object;

        return (struct row){ .work = p->holder,
                             .group = o->group,
                             .version = o->version,
                             .kind = o->kind,
                             .plural = item->resource.plural,
                             .ns = o->ns,
                             .name = o->name,
                             .namespaced = item->resource.namespaced,
                             .uid = "",
                             .ordinal = item->ordinal,
                             .state = ROW_PLANNED,
                             .work_generation = p->set->object.meta.generation,
                             .hash = "",
                             .handled = "",
                             .seen = "",
                             .first_drift_ms = TIME_NONE,
                             .first_diff_ms = TIME_NONE };
}

static bool is_to_plan(const struct set_pass *p, const struct set_item *item)
{
        return item->resource.plural && !item->refused && !set_row_of(p, item);
}

static int plan(struct set_pass *p, const struct set_item *items, size_t n, struct error *err)
{
        for (size_t i = 0; i < n; i++) {
                struct row row = new_row(p, &items[i]);

                if (is_to_plan(p, &items[i]))
                        TRY(store_row_add(p->agent->store, &row, err));
        }
        return 0;
}

static int record_one(struct set_pass *p, const struct set_item *item, struct error *err)
{
        const struct row *known = set_row_of(p, item);
        const char *version = doc_get_string(item->live, "metadata.resourceVersion"),
                   *uid = doc_get_string(item->live, "metadata.uid");
        bool good = item->finished;
        struct row row = new_row(p, item);

        row.state = good ? ROW_APPLIED : known ? known->state : ROW_PLANNED;
        row.uid = uid ? uid : known ? known->uid : "";
        row.hash = item->hash;
        row.handled = good ? or_empty(version) : "";
        row.live_generation = doc_get_int(item->live, "metadata.generation", 0);
        row.result = !good                   ? RESULT_APPLY_FAILED
                     : item->out->progressed ? RESULT_NOT_TAKEN_OVER
                                             : RESULT_APPLIED;
        row.strategy = signature_for(&p->signature, row.result);
        row.availability =
                good && text_empty(item->out->unready) ? AVAILABILITY_AVAILABLE : AVAILABILITY_NOT_YET;
        row.checked_ms = p->rc->now_ms;
        return store_row_put(p->agent->store, &row, err);
}

static int record(struct set_pass *p, const struct set_item *items, size_t n, struct error *err)
{
        for (size_t i = 0; i < n; i++)
                if (items[i].examined && !items[i].reused)
                        TRY(record_one(p, &items[i], err));
        return 0;
}

static int in_transaction(struct set_pass *p, bool durable, const struct set_item *items, size_t n,
                          int (*write)(struct set_pass *, const struct set_item *, size_t, struct error *),
                          struct error *err)
{
        int r;

        TRY(store_begin(p->agent->store, durable, err));
        r = write(p, items, n, err);
        if (r < 0) {
                store_rollback(p->agent->store);
                return r;
        }
        return store_commit(p->agent->store, err);
}

int set_rows_plan(struct set_pass *p, const struct set_item *items, size_t n, struct error *err)
{
        size_t fresh = 0;

        for (size_t i = 0; i < n; i++)
                fresh += is_to_plan(p, &items[i]);
        return fresh ? in_transaction(p, true, items, n, plan, err) : 0;
}

int set_rows_record(struct set_pass *p, const struct set_item *items, size_t n, struct error *err)
{
        return in_transaction(p, false, items, n, record, err);
}

int set_rows_forget(struct member_agent *a, const char *name, struct arena *arena, struct error *err)
{
        const char *holder = set_holder(name, arena);
        struct rows rows;

        if (!holder)
                return error_no_memory(err);
        TRY(store_rows_of_work(a->store, holder, arena, &rows, err));
        TRY(store_work_remove(a->store, holder, err));
        return rows.n ? applied_watch_reconcile(a->applied, err) : 0;
}

/* ---- what the state file does not know ---- */

static int add_row(struct set_pass *p, const struct set_object *o, int ordinal, struct rows *into,
                   struct error *err)
{
        struct set_item item = { .object = o, .ordinal = ordinal };
        struct kube_mapped mapped;
        struct error why = { 0 };

        item.key = object_identity(o->group, o->kind, o->ns, o->name, p->arena);
        if (!item.key)
                return error_no_memory(err);
        if (set_row_of(p, &item))
                return 0;
        if (kube_mapper_kind(p->agent->mapper, o->group, o->version, o->kind, &mapped, &why) < 0) {
                if (why.code == ERR_NOT_FOUND)
                        return 0;
                *err = why;
                return why.code;
        }
        item.resource = mapped.resource;
        if (mapped.resource.namespaced != !text_empty(o->ns))
                return 0;
        into->at[into->n] = new_row(p, &item);
        return store_row_add(p->agent->store, &into->at[into->n++], err);
}

int set_rows_restore(struct set_pass *p, struct error *err)
{
        struct rows all = { .n = p->rows.n };
        size_t n = p->rows.n;

        for (size_t i = 0; i < p->phases.n; i++)
                n += p->phases.at[i].n;
        if (!(all.at = ARENA_NEW_ARRAY(p->arena, struct row, n)))
                return error_no_memory(err);
        if (all.n)
                memcpy(all.at, p->rows.at, all.n * sizeof(*all.at));
        for (size_t i = 0; i < p->phases.n; i++)
                for (size_t k = 0; k < p->phases.at[i].n; k++)
                        TRY(add_row(p, &p->phases.at[i].at[k], (int)(i * SET_PHASE_OBJECTS_MAX + k), &all,
                                    err));
        p->rows = all;
        return 0;
}

size_t set_count_objects(const struct cluster_object_set *s)
{
        size_t n = 0;

        for (uint32_t i = 0; s->spec && i < s->spec->phases.n; i++)
                n += s->spec->phases.at[i].objects.n;
        return n;
}

/* ---- without a request ---- */

int set_rows_steady(struct member_agent *a, const struct cluster_object_set *s,
                    const struct set_signature *signature, int64_t now_ms, struct arena *arena, bool *ret,
                    bool *ret_waits, int64_t *ret_ms, struct error *err)
{
        const char *holder = set_holder(s->object.meta.name, arena);
        int64_t oldest_ms = now_ms;
        struct rows rows;

        *ret = *ret_waits = false;
        if (!holder)
                return error_no_memory(err);
        TRY(store_rows_of_work(a->store, holder, arena, &rows, err));
        if (rows.n != set_count_objects(s))
                return 0;
        for (size_t i = 0; i < rows.n; i++) {
                const struct row *row = &rows.at[i];

                if (!is_settled(row, signature, now_ms))
                        return 0;
                *ret_waits |= !applied_watch_current(a->applied, row->group, row->plural);
                oldest_ms = MIN(oldest_ms, row->checked_ms);
        }
        *ret = !*ret_waits;
        *ret_ms = rows.n ? oldest_ms + SET_LOOK_MS - now_ms : 0;
        return 0;
}
