/* Defaults, choices and types. */
#include "common/template/function_tools.h"

static int call_default(struct run *run, const struct value *args, size_t n, struct value *ret)
{
        *ret = n < 2 || value_is_empty(&args[1]) ? args[0] : args[1];
        return 0;
}

static int call_empty(struct run *run, const struct value *args, size_t n, struct value *ret)
{
        *ret = value_bool(value_is_empty(&args[0]));
        return 0;
}

static int call_coalesce(struct run *run, const struct value *args, size_t n, struct value *ret)
{
        for (size_t i = 0; i < n && ret->type == VALUE_NONE; i++)
                if (!value_is_empty(&args[i]))
                        *ret = args[i];
        return 0;
}

enum how_many { ALL, ANY };

static int call_how_many(struct run *run, const struct value *args, size_t n, struct value *ret)
{
        bool any = run->variant == ANY;
        size_t i = 0;
        while (i < n && value_is_empty(&args[i]) == any)
                i++;
        *ret = value_bool((i < n) == any);
        return 0;
}

static int call_ternary(struct run *run, const struct value *args, size_t n, struct value *ret)
{
        *ret = args[2].truth ? args[0] : args[1];
        return 0;
}

static int call_fail_text(struct run *run, const struct value *args, size_t n, struct value *ret)
{
        return call_fail(run, "%.*s", (int)args[0].string.len, args[0].string.data);
}

static int call_required(struct run *run, const struct value *args, size_t n, struct value *ret)
{
        if (args[1].type == VALUE_NONE || (args[1].type == VALUE_STRING && !args[1].string.len))
                return call_fail_text(run, args, n, ret);
        *ret = args[1];
        return 0;
}

static int call_deep_equal(struct run *run, const struct value *args, size_t n, struct value *ret)
{
        int equal = value_equal(run, &args[0], &args[1]);
        TRY(equal);
        *ret = value_bool(equal);
        return 0;
}

static int call_type_of(struct run *run, const struct value *args, size_t n, struct value *ret)
{
        *ret = value_string(slice_of(value_type_name(&args[0])));
        return 0;
}

static int call_kind_of(struct run *run, const struct value *args, size_t n, struct value *ret)
{
        *ret = value_string(slice_of(value_kind_name(&args[0])));
        return 0;
}

static int call_type_is(struct run *run, const struct value *args, size_t n, struct value *ret)
{
        *ret = value_bool(slice_is(args[0].string, value_type_name(&args[1])));
        return 0;
}

static int call_kind_is(struct run *run, const struct value *args, size_t n, struct value *ret)
{
        *ret = value_bool(slice_is(args[0].string, value_kind_name(&args[1])));
        return 0;
}

static int call_hello(struct run *run, const struct value *args, size_t n, struct value *ret)
{
        *ret = value_string(SLICE("Hello!"));
        return 0;
}

static const struct function functions[] = {
        { "default", call_default, { TAKES_ANY }, TAKES_ANY, .gives_any = true },
        { "empty", call_empty, { TAKES_ANY } },
        { "coalesce", call_coalesce, { 0 }, TAKES_ANY, .gives_any = true },
        { "all", call_how_many, { 0 }, TAKES_ANY, .variant = ALL },
        { "any", call_how_many, { 0 }, TAKES_ANY, .variant = ANY },
        { "ternary", call_ternary, { TAKES_ANY, TAKES_ANY, TAKES_BOOL }, .gives_any = true },
        { "fail", call_fail_text, { TAKES_STRING } },
        { "required", call_required, { TAKES_STRING, TAKES_ANY }, .gives_any = true },
        { "deepEqual", call_deep_equal, { TAKES_ANY, TAKES_ANY } },
        { "typeOf", call_type_of, { TAKES_ANY } },
        { "typeIs", call_type_is, { TAKES_STRING, TAKES_ANY } },
        { "typeIsLike", call_type_is, { TAKES_STRING, TAKES_ANY } },
        { "kindOf", call_kind_of, { TAKES_ANY } },
        { "kindIs", call_kind_is, { TAKES_STRING, TAKES_ANY } },
        { "hello", call_hello, { 0 } },
};

const struct function_table type_functions = { functions, ARRAY_LEN(functions) };
