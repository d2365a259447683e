/* Functions over maps. */
#include "common/template/function_tools.h"

static int call_dict(struct run *run, const struct value *args, size_t n, struct value *ret)
{
        TRY(run_dict(run, VALUE_MAP, ret));
        for (size_t i = 0; i < n; i += 2) {
                struct value key, value = i + 1 < n ? args[i + 1] : value_string(SLICE(""));
                TRY(value_text(run, &args[i], &key));
                TRY(dict_set(run, ret->map, key.string, value_boxed(value)));
        }
        return 0;
}

static int call_get(struct run *run, const struct value *args, size_t n, struct value *ret)
{
        struct value *found;
        TRY(dict_find(run, args[0].map, args[1].string, &found));
        *ret = found ? *found : value_string(SLICE(""));
        return 0;
}

static int call_set(struct run *run, const struct value *args, size_t n, struct value *ret)
{
        if (args[0].map->absent)
                return call_fail(run, "assignment to entry in nil map");
        TRY(dict_set(run, args[0].map, args[1].string, value_boxed(args[2])));
        *ret = args[0];
        return 0;
}

static int call_unset(struct run *run, const struct value *args, size_t n, struct value *ret)
{
        TRY(dict_remove(run, args[0].map, args[1].string));
        *ret = args[0];
        return 0;
}

static int call_has_key(struct run *run, const struct value *args, size_t n, struct value *ret)
{
        struct value *found;
        TRY(dict_find(run, args[0].map, args[1].string, &found));
        *ret = value_bool(found);
        return 0;
}

static int call_pluck(struct run *run, const struct value *args, size_t n, struct value *ret)
{
        size_t kept = 0;
        TRY(run_list(run, VALUE_LIST, n - 1, ret));
        for (size_t i = 1; i < n; i++) {
                struct value *found;
                TRY(dict_find(run, args[i].map, args[0].string, &found));
                if (found)
                        ret->list->at[kept++] = *found;
        }
        ret->list->n = kept;
        return 0;
}

/* Of all maps, one after the other; Go's are in no order, ours sorted within each map. */
static int call_keys(struct run *run, const struct value *args, size_t n, struct value *ret)
{
        size_t many = 0, at = 0;
        for (size_t i = 0; i < n; i++) {
                TRY(dict_load(run, args[i].map));
                many += args[i].map->n;
        }
        TRY(run_list(run, VALUE_STRINGS, many, ret));
        for (size_t i = 0; i < n; i++)
                for (size_t k = 0; k < args[i].map->n; k++)
                        ret->list->at[at++] = value_string(args[i].map->at[k].key);
        return 0;
}

static int call_values(struct run *run, const struct value *args, size_t n, struct value *ret)
{
        const struct dict *dict = args[0].map;
        TRY(dict_load(run, args[0].map));
        TRY(run_list(run, VALUE_LIST, dict->n, ret));
        for (size_t i = 0; i < dict->n; i++)
                ret->list->at[i] = dict->at[i].value;
        return 0;
}

static int call_pick(struct run *run, const struct value *args, size_t n, struct value *ret)
{
        TRY(run_dict(run, VALUE_MAP, ret));
        for (size_t i = 1; i < n; i++) {
                struct value *found;
                TRY(dict_find(run, args[0].map, args[i].string, &found));
                if (found)
                        TRY(dict_set(run, ret->map, args[i].string, *found));
        }
        return 0;
}

static bool is_named(struct slice key, const struct value *names, size_t n)
{
        for (size_t i = 0; i < n; i++)
                if (slice_equal(names[i].string, key))
                        return true;
        return false;
}

static int call_omit(struct run *run, const struct value *args, size_t n, struct value *ret)
{
        const struct dict *dict = args[0].map;
        TRY(dict_load(run, args[0].map));
        TRY(run_dict(run, VALUE_MAP, ret));
        TRY(run_spend(run, dict->n * n / 16));
        for (size_t i = 0; i < dict->n; i++)
                if (!is_named(dict->at[i].key, args + 1, n - 1))
                        TRY(dict_set(run, ret->map, dict->at[i].key, dict->at[i].value));
        return 0;
}

/* What Go says when a value is not of the type that it is taken for. */
static int wrong_type(struct run *run, const struct value *v, const char *wanted)
{
        return call_fail(run, "interface conversion: interface {} is %s, not %s",
                         v->type == VALUE_NONE ? "nil" : value_type_name(v), wanted);
}

static int call_dig(struct run *run, const struct value *args, size_t n, struct value *ret)
{
        if (n < 3)
                return call_fail(run, "dig needs at least three arguments");
        struct value at = args[n - 1];
        if (at.type != VALUE_MAP)
                return wrong_type(run, &at, "map[string]interface {}");
        for (size_t i = 0; i < n - 2; i++)
                if (args[i].type != VALUE_STRING)
                        return wrong_type(run, &args[i], "string");
        for (size_t i = 0; i < n - 2; i++) {
                struct value *found;
                if (at.type != VALUE_MAP)
                        return wrong_type(run, &at, "map[string]interface {}");
                TRY(dict_find(run, at.map, args[i].string, &found));
                at = found ? *found : args[n - 2];
                if (!found)
                        break;
        }
        *ret = at;
        return 0;
}

static const struct function functions[] = {
        { "dict", call_dict, { 0 }, TAKES_ANY },
        { "get", call_get, { TAKES_MAP, TAKES_STRING }, .gives_any = true },
        { "set", call_set, { TAKES_MAP, TAKES_STRING, TAKES_ANY } },
        { "unset", call_unset, { TAKES_MAP, TAKES_STRING } },
        { "hasKey", call_has_key, { TAKES_MAP, TAKES_STRING } },
        { "pluck", call_pluck, { TAKES_STRING }, TAKES_MAP },
        { "keys", call_keys, { 0 }, TAKES_MAP },
        { "values", call_values, { TAKES_MAP } },
        { "pick", call_pick, { TAKES_MAP }, TAKES_STRING },
        { "omit", call_omit, { TAKES_MAP }, TAKES_STRING },
        { "dig", call_dig, { 0 }, TAKES_ANY, .gives_any = true },
};

const struct function_table map_functions = { functions, ARRAY_LEN(functions) };
