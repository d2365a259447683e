/* Functions over lists. None changes its argument. */
#include "common/base/limits.h"
#include "common/template/function_tools.h"

/* What Go says of the type of nil, which has none. */
#define NIL_TYPE "runtime error: invalid memory address or nil pointer dereference"

/* The list, read in; else an error in sprig's words: "Cannot WHAT on type string". */
static int need_list(struct run *run, const struct value *v, const char *what)
{
        if (v->type == VALUE_NONE)
                return call_fail(run, NIL_TYPE);
        if (!value_is_list(v))
                return call_fail(run, "Cannot %s type %s", what, value_kind_name(v));
        return list_load(run, v->list);
}

/* As an interface {}: elements of typed lists are put into boxes. */
static struct value element(const struct sequence *list, size_t i)
{
        return value_boxed(list->at[i]);
}

static int call_list(struct run *run, const struct value *args, size_t n, struct value *ret)
{
        TRY(run_list(run, VALUE_LIST, n, ret));
        for (size_t i = 0; i < n; i++)
                ret->list->at[i] = value_boxed(args[i]);
        return 0;
}

/* Elements from `begin`, of any type of list. */
static int part_of(struct run *run, const struct sequence *list, size_t begin, size_t n, struct value *ret)
{
        TRY(run_list(run, VALUE_LIST, n, ret));
        for (size_t i = 0; i < n; i++)
                ret->list->at[i] = element(list, begin + i);
        return 0;
}

static int call_first(struct run *run, const struct value *args, size_t n, struct value *ret)
{
        TRY(need_list(run, &args[0], "find first on"));
        if (args[0].list->n)
                *ret = element(args[0].list, 0);
        return 0;
}

static int call_last(struct run *run, const struct value *args, size_t n, struct value *ret)
{
        TRY(need_list(run, &args[0], "find last on"));
        if (args[0].list->n)
                *ret = element(args[0].list, args[0].list->n - 1);
        return 0;
}

static int call_rest(struct run *run, const struct value *args, size_t n, struct value *ret)
{
        TRY(need_list(run, &args[0], "find rest on"));
        size_t many = args[0].list->n;
        TRY(part_of(run, args[0].list, many > 0, many ? many - 1 : 0, ret));
        ret->list->absent = !many;
        return 0;
}

static int call_initial(struct run *run, const struct value *args, size_t n, struct value *ret)
{
        TRY(need_list(run, &args[0], "find initial on"));
        size_t many = args[0].list->n;
        TRY(part_of(run, args[0].list, 0, many ? many - 1 : 0, ret));
        ret->list->absent = !many;
        return 0;
}

static int call_reverse(struct run *run, const struct value *args, size_t n, struct value *ret)
{
        TRY(need_list(run, &args[0], "find reverse on"));
        size_t many = args[0].list->n;
        TRY(run_list(run, VALUE_LIST, many, ret));
        for (size_t i = 0; i < many; i++)
                ret->list->at[i] = element(args[0].list, many - 1 - i);
        return 0;
}

/* ---- choosing ---- */

/* 1 or 0, or an error. */
static int contains(struct run *run, const struct value *at, size_t n, const struct value *wanted)
{
        for (size_t i = 0; i < n; i++) {
                int equal = value_equal(run, &at[i], wanted);
                if (equal)
                        return equal;
        }
        return 0;
}

/* The elements among which `others` has none; or else each once. */
static int without(struct run *run, const struct sequence *list, const struct value *others, size_t n,
                   struct value *ret)
{
        size_t kept = 0;
        TRY(run_list(run, VALUE_LIST, list->n, ret));
        struct value *at = ret->list->at;
        for (size_t i = 0; i < list->n; i++) {
                int found = others ? contains(run, others, n, &list->at[i])
                                   : contains(run, at, kept, &list->at[i]);
                TRY(found);
                if (!found)
                        at[kept++] = element(list, i);
        }
        ret->list->n = kept;
        return 0;
}

static int call_uniq(struct run *run, const struct value *args, size_t n, struct value *ret)
{
        TRY(need_list(run, &args[0], "find uniq on"));
        return without(run, args[0].list, NULL, 0, ret);
}

static int call_without(struct run *run, const struct value *args, size_t n, struct value *ret)
{
        TRY(need_list(run, &args[0], "find without on"));
        return without(run, args[0].list, args + 1, n - 1, ret);
}

static int call_compact(struct run *run, const struct value *args, size_t n, struct value *ret)
{
        TRY(need_list(run, &args[0], "compact on"));
        const struct sequence *list = args[0].list;
        size_t kept = 0;
        TRY(run_list(run, VALUE_LIST, list->n, ret));
        for (size_t i = 0; i < list->n; i++)
                if (!value_is_empty(&list->at[i]))
                        ret->list->at[kept++] = element(list, i);
        ret->list->n = kept;
        return 0;
}

static int call_has(struct run *run, const struct value *args, size_t n, struct value *ret)
{
        *ret = value_bool(false);
        if (args[1].type == VALUE_NONE)
                return 0;
        TRY(need_list(run, &args[1], "find has on"));
        int found = contains(run, args[1].list->at, args[1].list->n, &args[0]);
        TRY(found);
        *ret = value_bool(found);
        return 0;
}

/* ---- joining ---- */

enum end { BEHIND, BEFORE };

static int call_push(struct run *run, const struct value *args, size_t n, struct value *ret)
{
        bool before = run->variant == BEFORE;
        TRY(need_list(run, &args[0], before ? "prepend on" : "push on"));
        const struct sequence *list = args[0].list;
        TRY(run_list(run, VALUE_LIST, list->n + 1, ret));
        for (size_t i = 0; i < list->n; i++)
                ret->list->at[i + before] = element(list, i);
        ret->list->at[before ? 0 : list->n] = value_boxed(args[1]);
        return 0;
}

static int call_concat(struct run *run, const struct value *args, size_t n, struct value *ret)
{
        size_t many = 0, at = 0;
        for (size_t i = 0; i < n; i++) {
                if (args[i].type == VALUE_NONE)
                        return call_fail(run, NIL_TYPE);
                if (!value_is_list(&args[i]))
                        return call_fail(run, "Cannot concat type %s as list", value_kind_name(&args[i]));
                TRY(list_load(run, args[i].list));
                many += args[i].list->n;
        }
        TRY(run_list(run, VALUE_LIST, many, ret));
        for (size_t i = 0; i < n; i++)
                for (size_t k = 0; k < args[i].list->n; k++)
                        ret->list->at[at++] = element(args[i].list, k);
        ret->list->absent = !many;
        return 0;
}

/* ---- cutting ---- */

static int call_chunk(struct run *run, const struct value *args, size_t n, struct value *ret)
{
        TRY(need_list(run, &args[1], "chunk"));
        const struct sequence *list = args[1].list;
        if (args[0].integer < 1)
                return call_fail(run, "chunks of %lld elements", (long long)args[0].integer);
        size_t size = (size_t)args[0].integer, many = list->n ? (list->n - 1) / size + 1 : 0;
        TRY(run_list(run, VALUE_LISTS, many, ret));
        for (size_t i = 0; i < many; i++)
                TRY(part_of(run, list, i * size, MIN(size, list->n - i * size), &ret->list->at[i]));
        return 0;
}

static int call_slice(struct run *run, const struct value *args, size_t n, struct value *ret)
{
        if (args[0].type == VALUE_NONE)
                return call_fail(run, NIL_TYPE);
        if (!value_is_list(&args[0]))
                return call_fail(run, "list should be type of slice or array but %s",
                                 value_kind_name(&args[0]));
        TRY(list_load(run, args[0].list));
        const struct sequence *list = args[0].list;
        if (!list->n)
                return 0;
        int64_t begin = n > 1 ? value_to_int64(&args[1]) : 0;
        int64_t end = n > 2 ? value_to_int64(&args[2]) : (int64_t)list->n;
        if (begin < 0 || end < begin || end > (int64_t)list->n)
                return call_fail(run, "reflect.Value.Slice: slice index out of bounds");
        TRY(run_list(run, (enum value_type)args[0].type, (size_t)(end - begin), ret));
        for (int64_t i = begin; i < end; i++)
                ret->list->at[i - begin] = list->at[i];
        return 0;
}

#define BOTH_FORMS(name, must, ...)                                                                          \
        { name, __VA_ARGS__ },                                                                               \
        {                                                                                                    \
                must, __VA_ARGS__                                                                            \
        }

static const struct function functions[] = {
        { "list", call_list, { 0 }, TAKES_ANY },
        { "tuple", call_list, { 0 }, TAKES_ANY },
        BOTH_FORMS("first", "mustFirst", call_first, { TAKES_ANY }, .gives_any = true),
        BOTH_FORMS("last", "mustLast", call_last, { TAKES_ANY }, .gives_any = true),
        BOTH_FORMS("rest", "mustRest", call_rest, { TAKES_ANY }),
        BOTH_FORMS("initial", "mustInitial", call_initial, { TAKES_ANY }),
        BOTH_FORMS("reverse", "mustReverse", call_reverse, { TAKES_ANY }),
        BOTH_FORMS("uniq", "mustUniq", call_uniq, { TAKES_ANY }),
        BOTH_FORMS("compact", "mustCompact", call_compact, { TAKES_ANY }),
        BOTH_FORMS("without", "mustWithout", call_without, { TAKES_ANY }, TAKES_ANY),
        BOTH_FORMS("has", "mustHas", call_has, { TAKES_ANY, TAKES_ANY }),
        BOTH_FORMS("append", "mustAppend", call_push, { TAKES_ANY, TAKES_ANY }, .variant = BEHIND),
        BOTH_FORMS("push", "mustPush", call_push, { TAKES_ANY, TAKES_ANY }, .variant = BEHIND),
        BOTH_FORMS("prepend", "mustPrepend", call_push, { TAKES_ANY, TAKES_ANY }, .variant = BEFORE),
        { "concat", call_concat, { 0 }, TAKES_ANY, .gives_any = true },
        BOTH_FORMS("chunk", "mustChunk", call_chunk, { TAKES_INT, TAKES_ANY }),
        BOTH_FORMS("slice", "mustSlice", call_slice, { TAKES_ANY }, TAKES_ANY, .gives_any = true),
};

const struct function_table list_functions = { functions, ARRAY_LEN(functions) };
