/* Whether Works are as this process left them: by their generations. */
#include "common/base/map.h"
#include "hub-agent/work-generator/binding_memory.h"

enum { KEPT = 256 }; /* beyond that the oldest is forgotten, and counts as never seen */

void generations_free(struct binding_memory *m)
{
        vec_free(&m->generations);
}

static uint64_t identity_of(const struct object *work)
{
        const char *uid = or_empty(work->meta.uid);

        return hash_bytes(uid, strlen(uid), 0);
}

static struct work_generation *find(struct binding_memory *m, const struct object *work)
{
        uint64_t identity = identity_of(work);

        vec_for_each(&m->generations, g)
                if (g->work == identity)
                        return g;
        return NULL;
}

/* Without memory the Work counts as never seen. */
static void learn(struct binding_memory *m, const struct object *work)
{
        struct work_generation *known = find(m, work), g = { identity_of(work), work->meta.generation };

        if (known) {
                *known = g;
                return;
        }
        if (m->generations.n >= KEPT)
                vec_remove(&m->generations, 0);
        (void)vec_push(&m->generations, g);
}

bool work_is_as_left(struct binding_memory *m, const struct object *work)
{
        const struct work_generation *known = find(m, work);

        if (known)
                return known->generation == work->meta.generation;
        learn(m, work);
        return true;
}

void work_was_written(struct binding_memory *m, const struct object *before, const struct object *stored,
                      bool content)
{
        if (content || work_is_as_left(m, before))
                learn(m, stored);
}
