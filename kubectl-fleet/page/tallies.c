#include "kubectl-fleet/page/tallies.h"

#include "common/base/map.h"
#include "common/base/memory.h"
#include "common/base/vec.h"

/* So many clusters without a placement may be remembered, before all is counted anew. */
#define UNUSED_MAX 4096

/* One placement as it was counted: of each cluster the place of its tally, doubled, plus one where it
 * failed. */
struct counted {
        uint64_t stamp;
        uint32_t look, n;
        enum standing standing;
        uint32_t at[];
};

struct tallies {
        struct map placements; /* by key: struct counted */
        struct map places;     /* by cluster: place in `all`, from 1 */
        VEC(struct tally) all;
        uint32_t look;
};

static void init(struct tallies *t)
{
        map_init(&t->placements, MAP_OWN_KEYS, mem_free);
        map_init(&t->places, MAP_OWN_KEYS, NULL);
}

struct tallies *tallies_new(void)
{
        struct tallies *t = NEW(struct tallies);

        if (t)
                init(t);
        return t;
}

static void clear(struct tallies *t)
{
        map_free(&t->placements);
        map_free(&t->places);
        vec_free(&t->all);
        init(t);
}

void tallies_free(void *p)
{
        struct tallies *t = p;

        if (!t)
                return;
        clear(t);
        map_free(&t->placements);
        map_free(&t->places);
        mem_free(t);
}

void tallies_begin(struct tallies *t)
{
        size_t unused = 0;

        vec_for_each(&t->all, one)
                unused += one->placements == 0;
        if (unused > UNUSED_MAX)
                clear(t);
        t->look++;
}

bool tallies_stays(struct tallies *t, const char *key, uint64_t stamp, enum standing *ret)
{
        struct counted *c = map_get(&t->placements, key);

        if (!c || c->stamp != stamp)
                return false;
        c->look = t->look;
        *ret = c->standing;
        return true;
}

/* ---- counting ---- */

static int place_of(struct tallies *t, const char *cluster, uint32_t *ret)
{
        uintptr_t place = (uintptr_t)map_get(&t->places, cluster);

        if (!place) {
                TRY(vec_push(&t->all, ((struct tally){ 0 })));
                place = t->all.n;
                TRY(map_put(&t->places, cluster, (void *)place));
        }
        *ret = (uint32_t)place - 1;
        return 0;
}

static int judge(struct tallies *t, const struct placement *p, struct counted *c)
{
        struct cluster_words words = { 0 };

        for (uint32_t i = 0; p->status && i < p->status->placement_statuses.n; i++) {
                const struct per_cluster_status *s = &p->status->placement_statuses.at[i];
                uint32_t place;

                if (text_empty(s->cluster_name))
                        continue;
                TRY(place_of(t, s->cluster_name, &place));
                c->at[c->n++] =
                        2 * place +
                        (cluster_words_next(&words, &s->conditions, p->object.meta.generation).standing ==
                         STANDING_FAILED);
        }
        return 0;
}

static void add(struct tallies *t, const struct counted *c)
{
        for (uint32_t i = 0; i < c->n; i++) {
                t->all.at[c->at[i] / 2].placements++;
                t->all.at[c->at[i] / 2].trouble += c->at[i] % 2;
        }
}

static void take_away(struct tallies *t, const struct counted *c)
{
        for (uint32_t i = 0; i < c->n; i++) {
                t->all.at[c->at[i] / 2].placements--;
                t->all.at[c->at[i] / 2].trouble -= c->at[i] % 2;
        }
}

int tallies_count(struct tallies *t, const char *key, uint64_t stamp, const struct placement *p,
                  enum standing standing)
{
        size_t most = p->status ? p->status->placement_statuses.n : 0;
        struct counted *c = mem_zalloc(sizeof(*c) + most * sizeof(*c->at)), *old;

        if (!c)
                return ERR_NO_MEMORY;
        c->stamp = stamp;
        c->look = t->look;
        c->standing = standing;
        old = map_get(&t->placements, key);
        if (judge(t, p, c) < 0) {
                mem_free(c);
                return ERR_NO_MEMORY;
        }
        if (old)
                take_away(t, old);
        if (map_put(&t->placements, key, c) < 0) {
                mem_free(c);
                return ERR_NO_MEMORY;
        }
        add(t, c);
        return 0;
}

void tallies_end(struct tallies *t)
{
        map_for_each(&t->placements, e) {
                const struct counted *c = e->value;

                if (c->look == t->look)
                        continue;
                take_away(t, c);
                map_remove(&t->placements, e->key);
        }
}

const struct tally *tallies_of(const struct tallies *t, const char *cluster)
{
        uintptr_t place = (uintptr_t)map_get(&t->places, cluster);

        return place && t->all.at[place - 1].placements ? &t->all.at[place - 1] : NULL;
}
