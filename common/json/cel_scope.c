/* Variables that several programs share: those from outside, and `variables`, computed by programs. */
#include "common/base/memory.h"
#include "common/json/cel_internal.h"

#define SCOPE_VARIABLES 8

struct cel_scope {
        struct arena arena; /* of every value computed so far */
        uint64_t budget;
        struct {
                const char *name;
                struct cel_value value;
        } set[SCOPE_VARIABLES];
        size_t n_set;
        struct cel_value computed; /* a map of entries, cap_entries long */
        struct cel_entry *entries;
        size_t cap_entries;
};

struct cel_scope *cel_scope_new(uint64_t budget)
{
        struct cel_scope *s = NEW(struct cel_scope);
        if (!s)
                return NULL;
        s->budget = budget;
        s->arena.limit = CEL_MEMORY_LIMIT;
        s->computed = (struct cel_value){ .kind = CEL_MAP };
        return s;
}

struct cel_scope *cel_scope_free(struct cel_scope *s)
{
        if (s)
                arena_free(&s->arena);
        mem_free(s);
        return NULL;
}

static int set(struct cel_scope *s, const char *name, const struct cel_value *value)
{
        size_t i = 0;
        while (i < s->n_set && strcmp(s->set[i].name, name) != 0)
                i++;
        if (i == SCOPE_VARIABLES)
                return ERR_LIMIT;
        s->set[i].name = name;
        s->set[i].value = *value;
        s->n_set = MAX(s->n_set, i + 1);
        return 0;
}

static void unset(struct cel_scope *s, const char *name)
{
        for (size_t i = 0; i < s->n_set; i++)
                if (strcmp(s->set[i].name, name) == 0)
                        s->set[i] = s->set[--s->n_set];
}

/* A run over the scope's memory and what is left of its budget. */
static void begin(struct cel_scope *s, const struct cel_program *p, struct cel_run *run, struct error *err)
{
        *run = (struct cel_run){
                .program = p, .arena = s->arena, .err = err, .limit = MIN(s->budget, (uint64_t)CEL_COST_LIMIT)
        };
        for (size_t i = 0; i < s->n_set; i++)
                cel_run_bind_value(run, s->set[i].name, &s->set[i].value);
        cel_run_bind_value(run, "variables", &s->computed);
}

static void end(struct cel_scope *s, const struct cel_run *run)
{
        s->arena = run->arena;
        s->budget -= MIN(run->cost, s->budget);
}

static int evaluate(struct cel_scope *s, const struct cel_program *p, struct cel_value *ret,
                    struct error *err)
{
        struct cel_run run;
        begin(s, p, &run, err);
        int code = cel_run_program(&run, ret);
        end(s, &run);
        return code;
}

int cel_scope_set(struct cel_scope *s, const char *name, const json_t *value, const struct schema *schema)
{
        static const struct cel_program none = { .expression = "" };
        struct error ignored = { 0 };
        struct cel_run run;
        struct cel_value v = { .kind = CEL_NULL };
        begin(s, &none, &run, &ignored);
        int code = value ? cel_from_json(&run, value, schema, &v) : 0;
        end(s, &run);
        return code < 0 ? code : set(s, name, &v);
}

int cel_scope_set_authorizer(struct cel_scope *s, const struct cel_authorizer *by)
{
        struct cel_access *a;
        if (!by) {
                unset(s, "authorizer");
                return 0;
        }
        a = ARENA_NEW(&s->arena, struct cel_access);
        if (!a)
                return ERR_NO_MEMORY;
        a->by = by;
        a->question = (struct cel_access_question){ "", "", "", "", "", "", NULL, NULL, NULL };
        struct cel_value v = { .kind = CEL_ACCESS, .access = a };
        return set(s, "authorizer", &v);
}

static int grow(struct cel_scope *s)
{
        if (s->computed.map.n < s->cap_entries)
                return 0;
        size_t cap = MAX(2 * s->cap_entries, (size_t)8);
        struct cel_entry *more = ARENA_NEW_ARRAY(&s->arena, struct cel_entry, cap);
        if (!more)
                return ERR_NO_MEMORY;
        if (s->computed.map.n)
                memcpy(more, s->entries, s->computed.map.n * sizeof(*more));
        s->computed.map.entries = s->entries = more;
        s->cap_entries = cap;
        return 0;
}

/* Errors are values until somebody reads them, as kube-apiserver evaluates variables when they are read. */
static int failed_value(struct cel_scope *s, const char *name, const char *why, struct cel_value *ret)
{
        const char *text =
                arena_printf(&s->arena, "composited variable \"%s\" fails to evaluate: %s", name, why);
        if (!text)
                return ERR_NO_MEMORY;
        *ret = cel_text(CEL_FAILED, text, strlen(text));
        return 0;
}

int cel_scope_define(struct cel_scope *s, const char *name, const struct cel_program *p, struct error *err)
{
        struct cel_value value = { 0 };
        struct error why = { 0 };
        int code = evaluate(s, p, &value, &why);
        if (code == ERR_NO_MEMORY)
                return error_no_memory(err);
        if (code == ERR_LIMIT && s->budget == 0)
                return error_set(err, code, "%s", why.text);
        if ((code < 0 && failed_value(s, name, why.text, &value) < 0) || grow(s) < 0)
                return error_no_memory(err);
        struct cel_entry *e = &s->entries[s->computed.map.n++];
        e->key = cel_text(CEL_STRING, name, strlen(name));
        e->value = value;
        return 0;
}

int cel_scope_eval(struct cel_scope *s, const struct cel_program *p, struct cel_result *ret,
                   struct error *err)
{
        struct error ignored = { 0 };
        struct cel_value value = { 0 };
        TRY(evaluate(s, p, &value, err ? err : &ignored));
        *ret = (struct cel_result){ .kind = value.kind == CEL_BOOL     ? CEL_RESULT_BOOL
                                            : value.kind == CEL_STRING ? CEL_RESULT_STRING
                                            : value.kind == CEL_NULL   ? CEL_RESULT_NULL
                                                                       : CEL_RESULT_OTHER };
        if (value.kind == CEL_BOOL)
                ret->boolean = value.boolean;
        if (value.kind == CEL_STRING)
                ret->text = value.text;
        return 0;
}
