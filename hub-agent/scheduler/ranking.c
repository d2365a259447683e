#include "hub-agent/scheduler/ranking.h"

#include <stdlib.h>

/* Clusters that are in the same domain of each constraint are worth the same to the spread, whatever is
 * picked: a cell. Which of them comes first is decided once, by what no pick changes; which cell comes first
 * changes with the domains that a pick was made in. So a pick costs as much as it changes. */
struct link {
        struct domain *domain; /* NULL: the clusters lack the label */
        struct cell *next;     /* of the same domain */
};

struct cell {
        struct heap_node node;
        struct cell *next, *next_changed;
        bool is_changed, ranked; /* ranked: members have their scores and are in order */
        int32_t topology;        /* score, or where it is forbidden the last one it had */
        struct constraint *forbids;
        struct candidate **members;
        size_t at, n; /* those before `at` were taken */
        struct link links[];
};

/* Better first: topology, affinity, had the placement before, greater name (spec 12.4). Candidates are in the
 * order of their names. */
static int compare(const struct candidate *x, const struct candidate *y)
{
        if (x->affinity != y->affinity)
                return x->affinity > y->affinity ? -1 : 1;
        if (!x->obsolete != !y->obsolete)
                return x->obsolete ? -1 : 1;
        return x > y ? -1 : x < y;
}

static int by_rank(const void *a, const void *b)
{
        return compare(*(const struct candidate *const *)a, *(const struct candidate *const *)b);
}

static bool cell_before(const struct heap_node *a, const struct heap_node *b)
{
        const struct cell *x = container_of(a, const struct cell, node);
        const struct cell *y = container_of(b, const struct cell, node);

        if (x->topology != y->topology)
                return x->topology > y->topology;
        return compare(x->members[x->at], y->members[y->at]) < 0;
}

/* ---- cells ---- */

static struct cell *cell_new(struct ranking *r, struct domain *const *domains)
{
        size_t n = r->topology.n, key_size = n * sizeof(*domains);
        struct cell *cell = arena_zalloc(r->c->arena, sizeof(*cell) + n * sizeof(struct link));
        void *key = arena_memdup(r->c->arena, domains, key_size + 1);

        if (!cell || !key || map_put_n(r->by_domains, key, key_size, cell) < 0)
                return NULL;
        for (size_t i = 0; i < n; i++) {
                struct domain *d = domains[i];

                cell->links[i] = (struct link){ d, d ? d->cells : NULL };
                if (d)
                        d->cells = cell;
        }
        *r->last = cell;
        r->last = &cell->next;
        r->n++;
        return cell;
}

static int place(struct ranking *r, struct candidate *k, struct domain **domains)
{
        struct topology *t = &r->topology;

        for (size_t i = 0; i < t->n; i++) {
                TRY(topology_domain(r->c, &t->constraints[i], k, &domains[i]));
                if (domains[i])
                        domains[i]->count += k->taken;
        }
        if (!candidate_is_open(k))
                return 0;
        k->cell = map_get_n(r->by_domains, (const char *)domains, t->n * sizeof(*domains));
        if (!k->cell && !(k->cell = cell_new(r, domains)))
                return error_no_memory(r->c->err);
        k->cell->n++;
        return 0;
}

static int place_all(struct ranking *r)
{
        struct cycle *c = r->c;
        struct domain **domains = ARENA_NEW_ARRAY(c->arena, struct domain *, r->topology.n + 1);
        struct candidate **members = ARENA_NEW_ARRAY(c->arena, struct candidate *, c->n + 1);

        if (!domains || !members)
                return error_no_memory(c->err);
        for (size_t i = 0; i < c->n; i++)
                TRY(place(r, &c->candidates[i], domains));
        for (struct cell *cell = r->first; cell; cell = cell->next) {
                cell->members = members;
                members += cell->n;
                cell->n = 0;
        }
        for (size_t i = 0; i < c->n; i++) {
                struct cell *cell = c->candidates[i].cell;

                if (cell)
                        cell->members[cell->n++] = &c->candidates[i];
        }
        return 0;
}

/* ---- what changes with the picks ---- */

static void note_changed(struct ranking *r, struct cell *cell)
{
        if (cell->is_changed)
                return;
        cell->is_changed = true;
        cell->next_changed = r->changed;
        r->changed = cell;
}

struct judged {
        struct ranking *r;
        size_t constraint;
};

static void domain_changed(void *ctx, struct domain *d)
{
        const struct judged *j = ctx;

        for (struct cell *cell = d->cells; cell; cell = cell->links[j->constraint].next)
                note_changed(j->r, cell);
}

/* Scores are asked for when a cluster can be picked, not before: what nobody reaches does not matter. */
static int rank_members(struct ranking *r, struct cell *cell)
{
        for (size_t i = 0; i < cell->n; i++)
                TRY(framework_score(r->c, cell->members[i]));
        qsort(cell->members, cell->n, sizeof(*cell->members), by_rank);
        cell->ranked = true;
        return 0;
}

static void weigh(struct ranking *r, struct cell *cell)
{
        int32_t sum = 0;

        cell->forbids = NULL;
        for (size_t i = 0; i < r->topology.n && !cell->forbids; i++) {
                const struct domain *d = cell->links[i].domain;

                if (d && d->forbidden)
                        cell->forbids = &r->topology.constraints[i];
                else if (d)
                        sum += d->worth;
        }
        if (!cell->forbids)
                cell->topology = sum;
}

static int look_at(struct ranking *r, struct cell *cell)
{
        bool open;

        weigh(r, cell);
        open = !cell->forbids && cell->at < cell->n;
        if (!open) {
                heap_remove(&r->heap, &cell->node);
                return 0;
        }
        if (!cell->ranked)
                TRY(rank_members(r, cell));
        if (!cell->node.place)
                return heap_push(&r->heap, &cell->node);
        heap_update(&r->heap, &cell->node);
        return 0;
}

static int look_again(struct ranking *r)
{
        for (size_t i = 0; i < r->topology.n; i++)
                r->c->steps +=
                        topology_judge(&r->topology.constraints[i], domain_changed, &(struct judged){ r, i });
        while (r->changed) {
                struct cell *cell = r->changed;

                r->changed = cell->next_changed;
                cell->is_changed = false;
                r->c->steps++;
                TRY(look_at(r, cell));
        }
        return 0;
}

/* ---- the ranking ---- */

int ranking_begin(struct cycle *c, struct ranking *ret)
{
        struct ranking *r = ret;

        *r = (struct ranking){ .c = c, .by_domains = map_of_arena(c->arena), .last = &r->first };
        if (!r->by_domains)
                return error_no_memory(c->err);
        TRY(topology_init(c, &r->topology));
        TRY(place_all(r));
        heap_init(&r->heap, cell_before);
        r->heap.at = ARENA_NEW_ARRAY(c->arena, struct heap_node *, r->n + 1);
        r->heap.cap = r->n;
        if (!r->heap.at)
                return error_no_memory(c->err);
        TRY(framework_begin_scores(c));
        for (size_t i = 0; i < r->topology.n; i++)
                topology_begin(&r->topology.constraints[i]);
        for (struct cell *cell = r->first; cell; cell = cell->next)
                note_changed(r, cell);
        return look_again(r);
}

struct candidate *ranking_take(struct ranking *r)
{
        struct heap_node *top = heap_top(&r->heap);
        struct cell *cell = top ? container_of(top, struct cell, node) : NULL;
        struct candidate *k;

        if (!cell)
                return NULL;
        k = cell->members[cell->at++];
        k->topology = cell->topology;
        if (cell->at == cell->n)
                heap_remove(&r->heap, top);
        else
                heap_update(&r->heap, top);
        return k;
}

int ranking_count(struct ranking *r, const struct candidate *taken)
{
        for (size_t i = 0; i < r->topology.n; i++) {
                struct domain *d = taken->cell->links[i].domain;

                if (d)
                        topology_count(&r->topology.constraints[i], d);
        }
        return look_again(r);
}

int ranking_tell(struct ranking *r)
{
        for (struct cell *cell = r->first; cell; cell = cell->next) {
                const char *reason = cell->forbids ? topology_reason(r->c, cell->forbids) : NULL;

                if (cell->forbids && !reason)
                        return error_no_memory(r->c->err);
                for (size_t i = cell->at; i < cell->n; i++) {
                        cell->members[i]->topology = cell->topology;
                        cell->members[i]->filtered = reason;
                }
        }
        return 0;
}
