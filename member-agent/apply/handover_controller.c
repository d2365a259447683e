/* Objects that move between Works: what handover.h needs to know, and the one request that hands over. Every
 * prefix of a hand-over can be begun again: the heir's row is durable before its reference is on the object,
 * ours goes after that, and the live reference says who owns. */
#include "member-agent/apply/pass.h"
#include "member-agent/apply/steps.h"

/* ---- who is there ---- */

void siblings_index(const struct object *work, index_emit emit, void *to)
{
        struct arena arena AUTO_ARENA = ARENA_INIT;
        struct work_set set;

        if (work_set_of(work, &arena, &set) == 0 && set.binding[0])
                emit(to, set.binding);
}

static int describe(const struct member_agent *a, const struct object *work, bool wants, struct arena *arena,
                    struct handover_work *ret, struct error *err)
{
        const struct work_spec *spec = ((const struct work *)(const void *)work)->spec;

        *ret = (struct handover_work){
                .name = arena_strdup(arena, work->meta.name),
                .deleting = work->meta.deletion_ms != TIME_NONE,
                .wants = wants,
                .reports = spec && spec->apply_strategy &&
                           text_equal(spec->apply_strategy->type, APPLY_REPORT_DIFF),
        };
        if (!ret->name || work_set_of(work, arena, &ret->set) < 0)
                return error_no_memory(err);
        return store_work_is_kept(a->store, work->meta.name, work->meta.uid, work->meta.generation,
                                  &ret->known, err);
}

struct wanting {
        const char **names;
        size_t n;
};

static int who_wants(const struct member_agent *a, const char *group, const char *kind, const char *ns,
                     const char *name, struct arena *arena, struct wanting *ret, struct error *err)
{
        struct object_name o = { group, kind, ns ? ns : "", name };

        return store_wanted_by(a->store, &o, arena, &ret->names, &ret->n, err);
}

static bool is_wanting(const struct wanting *w, const char *name)
{
        return text_in(name, w->names, w->n);
}

/* Whether a Work may have the object at all: only what passed its checks got a row. */
static bool has_row(const struct rows *rows, const char *work)
{
        for (size_t i = 0; i < rows->n; i++)
                if (text_equal(rows->at[i].work, work))
                        return true;
        return false;
}

static int gather_siblings(const struct member_agent *a, const struct wanting *wanting, struct arena *arena,
                           struct handover_question *q, struct handover_work *at,
                           struct object_list *siblings, struct error *err)
{
        for (size_t i = 0; i < siblings->n; i++) {
                const char *name = siblings->at[i]->meta.name;

                if (!text_equal(name, q->self.name))
                        TRY(describe(a, siblings->at[i], is_wanting(wanting, name), arena, &at[q->n++], err));
        }
        return 0;
}

static int gather_strangers(const struct member_agent *a, const struct row *row,
                            const struct wanting *wanting, struct arena *arena, struct handover_question *q,
                            struct handover_work *at, struct error *err)
{
        const char *binding = q->self.set.binding;
        struct rows rows;

        if (wanting->n == 0)
                return 0;
        TRY(store_rows_of_object(a->store, row->group, row->plural, row->ns, row->name, arena, &rows, err));
        for (size_t i = 0; i < wanting->n; i++) {
                const struct object *o = informer_get(a->works, a->ns, wanting->names[i]);

                if (!o || text_equal(o->meta.name, q->self.name) || !has_row(&rows, o->meta.name))
                        continue;
                TRY(describe(a, o, true, arena, &at[q->n], err));
                if (!binding[0] || !text_equal(at[q->n].set.binding, binding))
                        q->n++;
        }
        return 0;
}

/* All siblings, and the others that want the object. */
static int gather(const struct member_agent *a, const struct row *row, const struct wanting *wanting,
                  struct arena *arena, struct handover_question *q, struct error *err)
{
        struct object_list siblings = { 0 };
        struct handover_work *at;

        if (q->self.set.binding[0] &&
            informer_by_index(a->works, INDEX_SIBLINGS, q->self.set.binding, arena, &siblings) < 0)
                return error_no_memory(err);
        at = ARENA_NEW_ARRAY(arena, struct handover_work, siblings.n + wanting->n + 1);
        if (!at)
                return error_no_memory(err);
        q->others = at;
        TRY(gather_siblings(a, wanting, arena, q, at, &siblings, err));
        return gather_strangers(a, row, wanting, arena, q, at, err);
}

/* Once each Work has its rows they say for good who wants what. */
static int catch_up(struct member_agent *a, struct arena *arena, bool *ret, struct error *err)
{
        struct object_list works = { 0 };

        *ret = false;
        if (a->all_planned)
                return 0;
        if (informer_list(a->works, arena, &works) < 0)
                return error_no_memory(err);
        for (size_t i = 0; i < works.n; i++) {
                const struct work_memory *memory = map_get(&a->memory, works.at[i]->meta.name);

                *ret |= works.at[i]->meta.deletion_ms == TIME_NONE && !(memory && memory->planned);
        }
        a->all_planned = !*ret && informer_synced(a->works);
        return 0;
}

int handover_ask(const struct giver *g, const struct row *row, enum handover *ret, const char **ret_to,
                 struct error *err)
{
        struct member_agent *a = g->agent;
        const struct object *own = informer_get(a->works, a->ns, g->name);
        struct handover_question q = { .hub_heard = informer_synced(a->works),
                                       .hub_present = text_empty(informer_problem(a->works)),
                                       .waited_ms = g->waited_ms };
        const struct handover_work *to = NULL;
        struct wanting wanting = { 0 };

        TRY(who_wants(a, row->group, row->kind, row->ns, row->name, g->arena, &wanting, err));
        if (own) {
                TRY(describe(a, own, is_wanting(&wanting, g->name), g->arena, &q.self, err));
                q.self.known &= own->meta.generation == g->generation;
        } else {
                q.self = (struct handover_work){ .name = g->name, .set = { "", "", 0 } };
        }
        q.self.deleting |= g->generation == 0;
        TRY(gather(a, row, &wanting, g->arena, &q, err));
        TRY(catch_up(a, g->arena, &q.catching_up, err));
        *ret = handover_decide(&q, &to);
        *ret_to = *ret == HANDOVER_GIVE ? to->name : NULL;
        return 0;
}

/* ---- giving ---- */

/* The rule of the write-ahead holds for the heir too: nothing is owned without a durable row. */
static int record_heir(struct giver *g, const struct row *row, const json_t *live, const char *to,
                       struct error *err)
{
        const char *uid = doc_get_string(live, "metadata.uid");
        struct row heirs = *row;
        int r;

        heirs.work = to;
        heirs.uid = uid ? uid : "";
        heirs.state = ROW_PLANNED;
        heirs.hash = heirs.handled = "";
        heirs.work_generation = 0;
        TRY(store_begin(g->agent->store, true, err));
        r = store_row_add(g->agent->store, &heirs, err);
        if (r == 0)
                return store_commit(g->agent->store, err);
        store_rollback(g->agent->store);
        return r;
}

/* A reference to an AppliedWork that is gone would have the object collected: the server is asked. */
static int find_heir(struct giver *g, const char *to, struct error *err)
{
        const struct object *applied = NULL;

        if (text_equal(g->heir.name, to))
                return 0;
        TRY(applied_work_ensure_live(g->agent, to, g->arena, &applied, err));
        if (applied->meta.deletion_ms != TIME_NONE)
                return error_set(err, ERR_RETRY, "AppliedWork %s, which is to own it, is being deleted", to);
        g->heir = (struct owner){ applied->meta.name, applied->meta.uid };
        return 0;
}

/* It goes or is gone, and our file is rid of it: nobody would ever take a row of it away again. */
static int heir_has_ended(struct member_agent *a, const char *to, bool *ret, struct error *err)
{
        const struct object *work = informer_get(a->works, a->ns, to);
        struct arena arena AUTO_ARENA = ARENA_INIT;
        struct stored_work stored;
        int r;

        *ret = false;
        if (work && work->meta.deletion_ms == TIME_NONE)
                return 0;
        r = store_work_get(a->store, to, &arena, &stored, err);
        if (r != ERR_NOT_FOUND)
                return r;
        error_clear(err);
        *ret = true;
        return 0;
}

static int record_heir_again(struct giver *g, const struct row *row, const json_t *live, const char *to,
                             struct error *err)
{
        bool ended;

        TRY(heir_has_ended(g->agent, to, &ended, err));
        return ended ? 0 : record_heir(g, row, live, to, err);
}

/* While the request was on its way the heir may have come to want the object no more, found that it was not
 * its own, and dropped its row. An unanswered request may have arrived, too. */
static int remind_heir(struct giver *g, const struct row *row, const json_t *live, const char *to, int code,
                       struct error *err)
{
        struct error again = { 0 };

        agent_enqueue_work(g->agent, to, QUEUE_HIGH);
        if (record_heir_again(g, row, live, to, &again) < 0 && code == 0) {
                *err = again;
                return again.code;
        }
        return code;
}

int handover_give(struct giver *g, const struct row *row, const json_t *live, const char *to,
                  struct error *err)
{
        struct kube_resource r = { row->group, row->version, row->plural, row->kind, row->namespaced };
        int code;

        TRY(record_heir(g, row, live, to, err));
        TRY(find_heir(g, to, err));
        code = object_swap_owners(&g->agent->member, &r, row->ns, live, &g->owner.uid, 1, &g->heir, false,
                                  NULL, err);
        TRY(remind_heir(g, row, live, to, code, err));
        TRY(store_row_remove(g->agent->store, row, err));
        log_debug(g->log, "an object was handed to another Work", "kind", row->kind, "namespace", row->ns,
                  "name", row->name, "to", to);
        return 0;
}

/* ---- receiving ---- */

int handover_judge_holder(struct pass *p, const struct manifest *m, const char *name,
                          enum handover_claim *ret, struct error *err)
{
        const struct member_agent *a = p->agent;
        const struct object *own = informer_get(a->works, a->ns, p->name),
                            *holder = informer_get(a->works, a->ns, name);
        struct handover_work self, other;
        struct wanting wanting = { 0 };

        *ret = CLAIM_NONE;
        if (!own || !holder || !informer_synced(a->works))
                return 0;
        TRY(who_wants(a, m->group, m->kind, m->ns, m->name, p->arena, &wanting, err));
        TRY(describe(a, own, true, p->arena, &self, err));
        TRY(describe(a, holder, is_wanting(&wanting, name), p->arena, &other, err));
        *ret = handover_claim(&self, &other);
        return 0;
}

/* ---- waiting ---- */

int64_t handover_waited(const struct work_memory *memory, int64_t generation, int64_t now_ms)
{
        return memory->waits_since_ms && memory->waits_generation == generation
                       ? now_ms - memory->waits_since_ms
                       : 0;
}

void handover_note_wait(struct work_memory *memory, bool waits, int64_t generation, int64_t now_ms)
{
        if (!waits)
                memory->waits_since_ms = 0;
        else if (!memory->waits_since_ms || memory->waits_generation != generation)
                memory->waits_since_ms = now_ms;
        memory->waits_generation = generation;
}

void handover_work_changed(struct member_agent *a, const struct object *work)
{
        struct arena arena AUTO_ARENA = ARENA_INIT;
        struct object_list siblings = { 0 };
        struct work_set set;

        if (work_set_of(work, &arena, &set) < 0 || !set.binding[0] ||
            informer_by_index(a->works, INDEX_SIBLINGS, set.binding, &arena, &siblings) < 0)
                return; /* who waits looks again by itself */
        for (size_t i = 0; i < siblings.n; i++) {
                const struct work_memory *memory = map_get(&a->memory, siblings.at[i]->meta.name);

                if (memory && memory->waits_since_ms &&
                    !text_equal(siblings.at[i]->meta.name, work->meta.name))
                        agent_enqueue_work(a, siblings.at[i]->meta.name, QUEUE_HIGH);
        }
}
