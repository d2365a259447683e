#include "hub-agent/resource-set/dependencies.h"

#include "common/base/memory.h"
#include "common/json/cel.h"
#include "hub-agent/resource-set/health.h"

#define LAST_APPLIED "kubectl.kubernetes.io/last-applied-configuration"
enum { VARIABLES_MAX = 64 };

const char *dependency_words(struct arena *arena, const struct dependency *d)
{
        return arena_printf(arena, "%s/%s/%s%s%s", or_empty(d->wanted->api_version),
                            or_empty(d->wanted->kind), d->ns, *d->ns ? "/" : "", or_empty(d->wanted->name));
}

static int compile(struct arena *arena, struct dependency *d, struct error *err)
{
        const char *text = d->wanted->ready_expr;

        if (!d->wanted->ready.value || text_empty(text) || cel_compile(arena, text, &d->program, err) == 0)
                return 0;
        if (err->code == ERR_NO_MEMORY)
                return err->code;
        error_wrap(err, "failed to parse the CEL expression '%.300s'", text);
        error_wrap(err, "failed to parse expression for dependency %s", or_empty(dependency_words(arena, d)));
        return ERR_INVALID;
}

int dependencies_compile(struct arena *arena, const struct resource_set *set, struct dependency **ret,
                         struct error *err)
{
        const struct resource_set_dependency_list *l = &set->spec->depends_on;
        struct dependency *all = ARENA_NEW_ARRAY(arena, struct dependency, l->n + 1);

        if (!all)
                return error_no_memory(err);
        for (uint32_t i = 0; i < l->n; i++) {
                all[i] = (struct dependency){ .wanted = &l->at[i], .ns = or_empty(l->at[i].ns) };
                TRY(compile(arena, &all[i], err));
        }
        *ret = all;
        return 0;
}

/* ---- expressions ---- */

static json_t *shown(const json_t *live, bool hidden)
{
        json_t *doc = doc_copy(live);

        json_object_del(doc_get(doc, "metadata.annotations"), LAST_APPLIED);
        if (hidden && text_equal(doc_get_string(doc, "kind"), "Secret"))
                json_object_del(doc, "data");
        return doc;
}

static const char *evaluate(struct arena *arena, const struct dependency *d, json_t *doc)
{
        struct cel_variable vars[VARIABLES_MAX];
        const char *text = d->wanted->ready_expr, *key;
        struct error err = { 0 };
        AUTO_JSON json_t *result = NULL;
        json_t *value;
        size_t n = 0;

        json_object_foreach(doc, key, value)
                if (n < VARIABLES_MAX)
                        vars[n++] = (struct cel_variable){ .name = key, .value = value };
        if (cel_eval(d->program, vars, n, &result, &err) < 0)
                return arena_printf(arena, "failed to evaluate the CEL expression '%s': %s", text, err.text);
        if (!json_is_boolean(result))
                return arena_printf(arena, "failed to evaluate CEL expression as boolean: '%s'", text);
        if (json_is_true(result))
                return NULL;
        return arena_printf(arena, "dependency %s not ready: expression '%s'",
                            or_empty(dependency_words(arena, d)), text);
}

static bool has_ready_of_ours(const json_t *live)
{
        static const char *const kinds[] = { KIND_RESOURCE_SET, KIND_INPUT_PROVIDER };

        return text_starts_with(or_empty(doc_get_string(live, "apiVersion")), FLUX_PREFIX) &&
               text_in(doc_get_string(live, "kind"), kinds, ARRAY_LEN(kinds));
}

/* A Job that has been started is enough for one who only waits for it. */
static bool is_started_job(const json_t *live, enum object_health h)
{
        return h == HEALTH_IN_PROGRESS && text_equal(doc_get_string(live, "kind"), "Job") &&
               doc_get(live, "status.startTime");
}

const char *dependency_judge(struct arena *arena, const struct dependency *d, const json_t *live, bool hidden,
                             int64_t now_ms)
{
        const char *words = or_empty(dependency_words(arena, d));
        enum object_health h;

        if (!d->wanted->ready.value)
                return NULL;
        if (d->program) {
                AUTO_JSON json_t *doc = shown(live, hidden);

                return doc ? evaluate(arena, d, doc) : "there is no memory for the dependency";
        }
        if (has_ready_of_ours(live)) {
                if (!doc_get_array(live, "status.conditions"))
                        return arena_printf(arena, "dependency %s not ready: it has no conditions", words);
                return health_is_ready(live) ? NULL : arena_printf(arena, "dependency %s not ready", words);
        }
        h = health_of(live, now_ms);
        if (h == HEALTH_CURRENT || is_started_job(live, h))
                return NULL;
        return arena_printf(arena, "dependency %s not ready: status %s", words, health_word(h));
}
