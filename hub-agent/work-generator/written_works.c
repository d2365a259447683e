/* Whether Works are as hub-agents left them: by their generations. */
#include <inttypes.h>

#include "common/base/map.h"
#include "hub-agent/rollout/rollout.h"
#include "hub-agent/work-generator/binding_memory.h"

enum { KEPT = 256 }; /* beyond that the oldest is forgotten, and counts as never seen */
#define IN_DOUBT 0   /* the generation of no Work */

void generations_free(struct binding_memory *m)
{
        vec_free(&m->generations);
}

/* ---- without a mark ---- */

static uint64_t identity_of(const struct object *work)
{
        const char *uid = or_empty(work->meta.uid);

        return hash_bytes(uid, strlen(uid), 0);
}

static const struct work_generation *find(const struct binding_memory *m, const struct object *work)
{
        uint64_t identity = identity_of(work);

        vec_for_each(&m->generations, g)
                if (g->work == identity)
                        return g;
        return NULL;
}

/* Without memory the Work counts as never seen. */
static bool is_as_first_seen(struct binding_memory *m, const struct object *work)
{
        const struct work_generation *known = find(m, work);
        struct work_generation g = { identity_of(work), work->meta.generation };

        if (known)
                return known->generation == g.generation;
        if (m->generations.n >= KEPT)
                vec_remove(&m->generations, 0);
        (void)vec_push(&m->generations, g);
        return true;
}

/* ---- the mark: "GENERATION/HASH", the hash of the manifests or nothing ---- */

static const char *mark_of(const struct object *work)
{
        return annotation_of(work, ANNOTATION_WORK_GENERATION);
}

static const char *hash_in(const char *mark)
{
        const char *slash = mark ? strchr(mark, '/') : NULL;

        return slash ? slash + 1 : "";
}

static int put_mark(struct object *work, int64_t generation, const char *hash, struct arena *arena)
{
        const char *text = arena_printf(arena, "%" PRId64 "/%s", generation, hash);

        return text ? set_annotation(work, ANNOTATION_WORK_GENERATION, text, arena) : ERR_NO_MEMORY;
}

bool work_is_as_left(struct binding_memory *m, const struct object *work)
{
        const char *mark = mark_of(work);
        char generation[32];

        if (!mark)
                return is_as_first_seen(m, work);
        snprintf(generation, sizeof(generation), "%" PRId64 "/", work->meta.generation);
        return text_starts_with(mark, generation);
}

/* Two contents of one hash do no harm: what is promised wrongly is put right. */
static const char *content_hash(const struct work *w, struct arena *arena)
{
        uint64_t hash = 0;

        if (w->spec && w->spec->workload)
                for (uint32_t i = 0; i < w->spec->workload->manifests.n; i++) {
                        struct slice text = slice_trim(w->spec->workload->manifests.at[i]);

                        hash = hash_bytes(text.data, text.len, hash + 1);
                }
        return arena_printf(arena, "%016" PRIx64, hash);
}

static bool has_strategy_of(const struct work *a, const struct work *b)
{
        return a->spec && b->spec && equal_apply_strategies(a->spec->apply_strategy, b->spec->apply_strategy);
}

static int promise_content(const struct work *now, struct work *wanted, bool as_left, struct arena *arena)
{
        const char *hash = content_hash(wanted, arena);
        bool same;

        if (!hash)
                return ERR_NO_MEMORY;
        if (!now)
                return put_mark(&wanted->object, 1, hash, arena);
        same = as_left && text_equal(hash_in(mark_of(&now->object)), hash) && has_strategy_of(now, wanted);
        return put_mark(&wanted->object, now->object.meta.generation + !same, hash, arena);
}

int work_promise(const struct work_write *w, bool content, bool as_left, struct arena *arena)
{
        if (content)
                return promise_content(w->now, w->wanted, as_left, arena);
        return put_mark(&w->wanted->object, as_left ? w->now->object.meta.generation + 1 : IN_DOUBT,
                        hash_in(mark_of(&w->now->object)), arena);
}

int work_keep_promise(const struct object *stored, struct object *wanted, struct arena *arena)
{
        return put_mark(wanted, stored->meta.generation, hash_in(mark_of(stored)), arena);
}
