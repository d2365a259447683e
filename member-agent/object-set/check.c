#include "member-agent/object-set/check.h"

#include <stdlib.h>

#include "common/base/memory.h"

/* ---- fields ---- */

#define REQUIRED(field) field ": Required value: must not be empty"
#define FORBIDDEN(field) field ": Forbidden: must be empty"

static bool has_content(const json_t *value)
{
        switch (value ? json_typeof(value) : JSON_NULL) {
        case JSON_STRING:
                return json_string_length(value) > 0;
        case JSON_INTEGER:
                return json_integer_value(value) != 0;
        case JSON_ARRAY:
                return json_array_size(value) > 0;
        case JSON_NULL:
                return false;
        default:
                return true;
        }
}

enum { MAX_WHY = 9 }; /* every field, and being there twice */

static void add_why(struct refusal *r, const char *why)
{
        ASSERT(r->n_why < MAX_WHY);
        r->why[r->n_why++] = why;
}

static void check_fields(const json_t *doc, struct refusal *ret)
{
        static const struct {
                const char *path, *why;
        } server_fills_in[] = {
                { "metadata.uid", FORBIDDEN("metadata.uid") },
                { "metadata.generation", FORBIDDEN("metadata.generation") },
                { "metadata.generateName", FORBIDDEN("metadata.generateName") },
                { "metadata.finalizers", FORBIDDEN("metadata.finalizers") },
                { "metadata.ownerReferences", FORBIDDEN("metadata.ownerReferences") },
                { "metadata.resourceVersion", FORBIDDEN("metadata.resourceVersion") },
        };

        if (text_empty(doc_get_string(doc, "apiVersion")))
                add_why(ret, REQUIRED("apiVersion"));
        if (text_empty(doc_get_string(doc, "kind")))
                add_why(ret, REQUIRED("kind"));
        for (size_t i = 0; i < ARRAY_LEN(server_fills_in); i++)
                if (has_content(doc_get(doc, server_fills_in[i].path)))
                        add_why(ret, server_fills_in[i].why);
}

/* ---- twins ---- */

struct place {
        const struct set_phase *phase;
        struct refusal *refusal; /* of the object; why is empty where nothing is wrong with it */
};

static int compare_objects(const struct set_object *a, const struct set_object *b)
{
        const char *const pairs[][2] = {
                { a->group, b->group }, { a->kind, b->kind }, { a->ns, b->ns }, { a->name, b->name }
        };

        for (size_t i = 0; i < ARRAY_LEN(pairs); i++)
                if (strcmp(pairs[i][0], pairs[i][1]) != 0)
                        return strcmp(pairs[i][0], pairs[i][1]);
        return 0;
}

/* Twins stand together, by the names of their phases, and within one in the order of the list. */
static int compare_places(const void *a, const void *b)
{
        const struct place *x = a, *y = b;
        int order = compare_objects(x->refusal->object, y->refusal->object);

        if (!order)
                order = strcmp(x->phase->name, y->phase->name);
        return order ? order : x->refusal < y->refusal ? -1 : 1;
}

/* "a, b" of a run of twins; each phase once. */
static const char *phases_of(const struct place *at, size_t n, struct arena *arena)
{
        const char *words = "duplicate object found in phases: ";

        for (size_t i = 0; i < n && words; i++)
                if (i == 0 || at[i].phase != at[i - 1].phase)
                        words = arena_printf(arena, "%s%s%s", words, i ? ", " : "", at[i].phase->name);
        return words;
}

/* Said once in each phase. */
static int refuse_twins(struct place *at, size_t n, struct arena *arena, struct error *err)
{
        const char *words = phases_of(at, n, arena);

        if (!words)
                return error_no_memory(err);
        for (size_t i = 0; i < n; i++)
                if (i == 0 || at[i].phase != at[i - 1].phase)
                        add_why(at[i].refusal, words);
        return 0;
}

/* An object without a name is no twin of another: it is refused for that elsewhere. */
static int check_twins(struct place *at, size_t n, struct arena *arena, struct error *err)
{
        size_t end;

        qsort(at, n, sizeof(*at), compare_places);
        for (size_t i = 0; i < n; i = end) {
                const struct set_object *object = at[i].refusal->object;

                end = i + 1;
                while (end < n && !compare_objects(object, at[end].refusal->object))
                        end++;
                if (end - i > 1 && !text_empty(object->name))
                        TRY(refuse_twins(&at[i], end - i, arena, err));
        }
        return 0;
}

/* ---- words ---- */

#define WORDS_MAX (8u << 20) /* the caller cuts it to what a condition takes */

static int append_refusal(struct buf *b, const struct refusal *r, struct arena *arena)
{
        const char *identity = set_object_identity(r->object, arena);

        if (!identity)
                return ERR_NO_MEMORY;
        buf_printf(b, "%s: ", identity);
        for (size_t i = 0; i < r->n_why; i++)
                buf_printf(b, "%s%s", i ? ", " : "", r->why[i]);
        return 0;
}

/* `phase "<p>": <object>: <e1>, <e2>, <object>: …` of those that something is wrong with, behind `before`. 1:
 * there are such. */
static int append_phase(struct buf *b, const char *before, const struct set_phase *phase,
                        const struct refusal *refused, size_t n, struct arena *arena)
{
        size_t said = 0;

        for (size_t i = 0; i < n; i++) {
                if (refused[i].n_why == 0)
                        continue;
                if (said++)
                        buf_append_str(b, ", ");
                else
                        buf_printf(b, "%sphase \"%s\": ", before, phase->name);
                TRY(append_refusal(b, &refused[i], arena));
        }
        return said > 0;
}

static int take_words(struct buf *b, struct arena *arena, const char **ret, struct error *err)
{
        TRY(buf_status(b, err, "the refusals of a set"));
        *ret = arena_strdup(arena, b->data);
        return *ret ? 0 : error_no_memory(err);
}

static int say_all(const struct set_identity *set, const struct set_phases *phases,
                   const struct refusal *refused, struct arena *arena, const char **ret, struct error *err)
{
        AUTO_BUF struct buf b;
        bool any = false;

        buf_init(&b, WORDS_MAX);
        buf_printf(&b, "revision validation error: revision \"%s\" (%lld): ", set->name,
                   (long long)set->revision);
        for (size_t i = 0; i < phases->n; refused += phases->at[i++].n) {
                int said = append_phase(&b, any ? ", " : "", &phases->at[i], refused, phases->at[i].n, arena);

                if (said < 0)
                        return error_no_memory(err);
                any |= said;
        }
        return any ? take_words(&b, arena, ret, err) : 0;
}

/* ---- all of it ---- */

static size_t count_objects(const struct set_phases *phases)
{
        size_t n = 0;

        for (size_t i = 0; i < phases->n; i++)
                n += phases->at[i].n;
        return n;
}

int check_set(const struct set_identity *set, const struct set_phases *phases, struct arena *arena,
              const char **ret, struct error *err)
{
        size_t n = count_objects(phases), k = 0;
        struct refusal *refused = ARENA_NEW_ARRAY(arena, struct refusal, n);
        struct place *places = ARENA_NEW_ARRAY(arena, struct place, n);
        const char **why = ARENA_NEW_ARRAY(arena, const char *, n *MAX_WHY);

        *ret = NULL;
        if (!refused || !places || !why)
                return error_no_memory(err);
        for (size_t i = 0; i < phases->n; i++) {
                for (size_t j = 0; j < phases->at[i].n; j++, k++) {
                        refused[k] = (struct refusal){ &phases->at[i].at[j], &why[k * MAX_WHY], 0 };
                        places[k] = (struct place){ &phases->at[i], &refused[k] };
                        check_fields(phases->at[i].at[j].doc, &refused[k]);
                }
        }
        TRY(check_twins(places, n, arena, err));
        return say_all(set, phases, refused, arena, ret, err);
}

/* ---- one phase ---- */

bool check_is_refusal(const struct error *answer)
{
        static const int statuses[] = { 400, 401, 403, 404, 405, 406, 409, 413, 415, 422 };

        for (size_t i = 0; i < ARRAY_LEN(statuses); i++)
                if (answer->http_status == statuses[i])
                        return true;
        if (answer->code == ERR_NOT_FOUND) /* no such kind, which is not the server's answer */
                return true;
        return strstr(answer->text, "failed to create typed patch object") != NULL;
}

int check_phase_words(const struct set_phase *phase, size_t index, const struct refusals *refused,
                      struct arena *arena, const char **ret, struct error *err)
{
        AUTO_BUF struct buf b;
        int said;

        *ret = NULL;
        buf_init(&b, WORDS_MAX);
        buf_printf(&b, "phase %zu validation error: ", index);
        said = append_phase(&b, "", phase, refused->at, refused->n, arena);
        if (said < 0)
                return error_no_memory(err);
        return said ? take_words(&b, arena, ret, err) : 0;
}
