#include "member-agent/apply/news.h"

#include <ctype.h>

#include "common/base/map.h"
#include "common/base/text.h"
#include "member-agent/apply/manifest.h"
#include "proto/names.h"

#define PATHS_NAMED 3

struct state {
        const char *rule, *text; /* rule NULL: no trouble */
};

/* ---- one manifest ---- */

static const char *with_paths(struct arena *arena, const char *text, const char *what,
                              const struct patch_detail *at, uint32_t n)
{
        const char *all = text;

        for (uint32_t i = 0; all && i < MIN(n, PATHS_NAMED); i++)
                all = arena_printf(arena, "%s%s%s", all, i ? ", " : what, at[i].path);
        if (all && n > PATHS_NAMED)
                all = arena_printf(arena, "%s and %u more", all, n - PATHS_NAMED);
        return all;
}

/* API servers quote the value that they refuse. */
static const char *message_of(const struct manifest_condition *m, const struct condition *c)
{
        const struct work_resource_identifier *id = m->identifier;

        return id && text_equal(id->kind, "Secret") && text_empty(id->group) ? "the Work's status says why"
                                                                             : c->message;
}

static const char *details(struct arena *arena, const struct manifest_condition *m, const char *text)
{
        const struct drift_details *drift = m->drift_details;
        const struct diff_details *diff = m->diff_details;

        if (drift && drift->observed_drifts.n)
                text = with_paths(arena, text, "; it drifted at ", drift->observed_drifts.at,
                                  drift->observed_drifts.n);
        if (text && diff && diff->observed_diffs.n)
                text = with_paths(arena, text, "; it differs at ", diff->observed_diffs.at,
                                  diff->observed_diffs.n);
        return text;
}

static struct state state_of(const struct manifest_condition *m, struct arena *arena)
{
        static const char *const types[] = { "Applied", "DiffReported", "Available" };

        for (size_t i = 0; i < ARRAY_LEN(types); i++) {
                const struct condition *c = condition_find(&m->conditions, types[i]);

                if (!c || !text_equal(c->status, CONDITION_FALSE) ||
                    (i == 2 && !text_equal(c->reason, availability_word(AVAILABILITY_FAILED))))
                        continue;
                return (struct state){ c->reason, details(arena, m, message_of(m, c)) };
        }
        if (m->drift_details && m->drift_details->observed_drifts.n)
                return (struct state){ result_word(RESULT_FOUND_DRIFTS),
                                       details(arena, m, "applied, but not as it is meant to be") };
        if (m->diff_details && m->diff_details->observed_diffs.n)
                return (struct state){ result_word(RESULT_FOUND_DIFF),
                                       details(arena, m, "not as it is on the hub") };
        return (struct state){ NULL, "" };
}

static bool same_words(const char *a, const char *b)
{
        for (;; a++, b++) {
                while (isdigit((unsigned char)*a))
                        a++;
                while (isdigit((unsigned char)*b))
                        b++;
                if (*a != *b)
                        return false;
                if (!*a)
                        return true;
        }
}

uint64_t news_words_hash(const char *words, uint64_t seed)
{
        for (; *words; words++)
                if (!isdigit((unsigned char)*words))
                        seed = hash_bytes(words, 1, seed);
        return seed;
}

/* ---- all of them ---- */

/* The second manifest with one identity is not the first one's history. */
static const char *key_of(const struct manifest_condition *m, size_t ordinal, const struct map *seen,
                          struct arena *arena)
{
        const struct work_resource_identifier *i = m->identifier;
        const char *key = !i || text_empty(i->name)
                                  ? arena_printf(arena, "#%zu", ordinal)
                                  : manifest_identity(arena, i->group, i->version, i->kind, i->ns, i->name);

        return key && map_has(seen, key) ? arena_printf(arena, "%s#%zu", key, ordinal) : key;
}

static int index_by_key(const struct work_status *s, struct arena *arena, struct map *index,
                        const char **keys, struct error *err)
{
        for (uint32_t i = 0; s && i < s->manifest_conditions.n; i++) {
                struct manifest_condition *m = &s->manifest_conditions.at[i];
                const char *key = key_of(m, i, index, arena);

                if (!key || map_put(index, key, m) < 0)
                        return error_no_memory(err);
                if (keys)
                        keys[i] = key;
        }
        return 0;
}

static int compare(const struct manifest_condition *before, const struct manifest_condition *after,
                   struct arena *arena, struct news *ret, size_t *n, struct error *err)
{
        struct state was = before ? state_of(before, arena) : (struct state){ NULL, "" };
        struct state is = state_of(after, arena);

        if (!was.text || !is.text)
                return error_no_memory(err);
        if (text_equal(was.rule, is.rule) && same_words(was.text, is.text))
                return 0;
        ret[(*n)++] = (struct news){ after->identifier, is.rule != NULL, is.rule ? is.rule : was.rule,
                                     is.rule ? is.text : "as it is meant to be again" };
        return 0;
}

static int collect(const struct work_status *before, const struct work_status *after, struct arena *arena,
                   struct map *indexes, struct news *news, size_t *n, struct error *err)
{
        const char **keys = ARENA_NEW_ARRAY(arena, const char *, after->manifest_conditions.n + 1);

        if (!keys)
                return error_no_memory(err);
        TRY(index_by_key(before, arena, &indexes[0], NULL, err));
        TRY(index_by_key(after, arena, &indexes[1], keys, err));
        for (uint32_t i = 0; i < after->manifest_conditions.n; i++)
                TRY(compare(map_get(&indexes[0], keys[i]), &after->manifest_conditions.at[i], arena, news, n,
                            err));
        return 0;
}

int news_of(const struct work_status *before, const struct work_status *after, struct arena *arena,
            struct news **ret, size_t *ret_n, struct error *err)
{
        struct news *news = ARENA_NEW_ARRAY(arena, struct news, after->manifest_conditions.n + 1);
        struct map indexes[2];
        size_t n = 0;
        int r;

        if (!news)
                return error_no_memory(err);
        map_init(&indexes[0], MAP_BORROW_KEYS, NULL);
        map_init(&indexes[1], MAP_BORROW_KEYS, NULL);
        r = collect(before, after, arena, indexes, news, &n, err);
        map_free(&indexes[0]);
        map_free(&indexes[1]);
        if (r < 0)
                return r;
        *ret = news;
        *ret_n = n;
        return 0;
}
