#include "member-agent/object-set/outcome.h"

#include "common/base/limits.h"
#include "common/base/vec.h"
#include "member-agent/object-set/claim.h"
#include "member-agent/object-set/probe.h"

static bool is_to_blame(const struct cluster_object_set *s, const struct object_outcome *o)
{
        return !text_empty(o->unready) && !(o->progressed && set_has_succeeded(s));
}

static bool is_settled(const struct cluster_object_set *s, const struct object_outcome *o)
{
        return !o->error && !o->collision && !o->going && !is_to_blame(s, o);
}

bool outcome_is_complete(const struct cluster_object_set *s, const struct phase_outcome *p)
{
        for (size_t i = 0; i < p->n; i++)
                if (!is_settled(s, &p->at[i]))
                        return false;
        return !p->refused;
}

static size_t first_incomplete(const struct cluster_object_set *s, const struct phase_outcome *reached,
                               size_t n)
{
        for (size_t i = 0; i < n; i++)
                if (!outcome_is_complete(s, &reached[i]))
                        return i;
        return n;
}

/* ---- words; "" where there is nothing to tell, NULL on no memory ---- */

static const char *errors_words(const struct phase_outcome *reached, size_t n, struct arena *arena)
{
        struct buf b AUTO_BUF;

        buf_init(&b, LIMIT_OBJECT_BYTES);
        for (size_t i = 0; i < n; i++)
                for (size_t k = 0; k < reached[i].n; k++) {
                        const struct object_outcome *o = &reached[i].at[k];
                        const char *identity = o->error ? set_object_identity(o->object, arena) : "";

                        if (!identity)
                                return NULL;
                        if (o->error)
                                buf_printf(&b, "%sreconciling object: reconciling %s: %s", b.len ? "\n" : "",
                                           identity, o->error);
                }
        return b.failed == ERR_NO_MEMORY ? NULL : arena_strndup(arena, b.data, b.len);
}

static const char *collisions_words(const struct phase_outcome *p, size_t index, struct arena *arena)
{
        const char **reports = ARENA_NEW_ARRAY(arena, const char *, p->n);
        size_t n = 0;

        if (!reports)
                return NULL;
        for (size_t i = 0; i < p->n; i++)
                if (p->at[i].collision)
                        reports[n++] = p->at[i].collision;
        return n == 0 ? "" : claim_phase_words(index, reports, n, arena);
}

/* The first phase in which something is refused or collides. */
static int find_hindrance(const struct phase_outcome *reached, size_t n, struct arena *arena,
                          struct judge_input *io, struct error *err)
{
        for (size_t i = 0; i < n; i++) {
                const char *collisions = collisions_words(&reached[i], i, arena);

                if (!collisions)
                        return error_no_memory(err);
                if (!reached[i].refused && text_empty(collisions))
                        continue;
                io->finding = reached[i].refused ? FOUND_REFUSED : FOUND_COLLISION;
                io->words = reached[i].refused ? reached[i].refused : collisions;
                return 0;
        }
        return 0;
}

static const char *unready_words(const struct cluster_object_set *s, const struct phase_outcome *reached,
                                 size_t n, struct arena *arena)
{
        VEC(struct probe_failure) failures = VEC_INIT;
        const char *words = NULL;
        int r = 0;

        for (size_t i = 0; i < n; i++)
                for (size_t k = 0; r == 0 && k < reached[i].n; k++) {
                        const struct object_outcome *o = &reached[i].at[k];

                        if (is_to_blame(s, o))
                                r = vec_push(&failures, ((struct probe_failure){ o->object, o->unready }));
                }
        if (r == 0)
                words = probe_failures_words(failures.at, failures.n, arena);
        vec_free(&failures);
        return words;
}

/* ---- the finding ---- */

int outcome_find(const struct cluster_object_set *s, const struct phase_outcome *reached, size_t n,
                 struct arena *arena, struct judge_input *io, struct error *err)
{
        const char *errors = errors_words(reached, n, arena);

        if (!errors)
                return error_no_memory(err);
        io->phase = first_incomplete(s, reached, n);
        io->finding = s->spec && io->phase < s->spec->phases.n ? FOUND_INCOMPLETE : FOUND_COMPLETE;
        io->words = "";
        if (!text_empty(errors)) {
                io->finding = FOUND_ERROR;
                io->words = errors;
                return 0;
        }
        TRY(find_hindrance(reached, n, arena, io, err));
        if (io->finding != FOUND_INCOMPLETE)
                return 0;
        io->words = unready_words(s, reached, n, arena);
        return io->words ? 0 : error_no_memory(err);
}
