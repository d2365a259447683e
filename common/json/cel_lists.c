/* The lists and sets libraries, and math. */
#include <math.h>

#include "common/json/cel_internal.h"

static int need_list(struct cel_run *run, const struct cel_value *v)
{
        return v->kind == CEL_LIST ? cel_spend(run, cel_list_size(v)) : cel_no_overload(run);
}

static int call_is_sorted(struct cel_run *run, const struct cel_value *args, size_t n, struct cel_value *ret)
{
        struct cel_value previous, item;
        TRY(need_list(run, &args[0]));
        *ret = cel_bool(true);
        for (size_t i = 0; i < cel_list_size(&args[0]); i++, previous = item) {
                int order = 0;
                TRY(cel_list_at(run, &args[0], i, &item));
                if (i)
                        TRY(cel_compare(run, &previous, &item, &order));
                if (order > 0)
                        *ret = cel_bool(false);
        }
        return 0;
}

static int call_sum(struct cel_run *run, const struct cel_value *args, size_t n, struct cel_value *ret)
{
        TRY(need_list(run, &args[0]));
        struct cel_value total = cel_int(0);
        for (size_t i = 0; i < cel_list_size(&args[0]); i++) {
                struct cel_value item, before = total;
                TRY(cel_list_at(run, &args[0], i, &item));
                if (item.kind != CEL_INT && item.kind != CEL_UINT && item.kind != CEL_DOUBLE &&
                    item.kind != CEL_DURATION)
                        return cel_no_overload(run);
                if (!i)
                        total = item;
                else
                        TRY(cel_binary(run, CEL_ADD, &before, &item, &total));
        }
        *ret = total;
        return 0;
}

static int extreme(struct cel_run *run, const struct cel_value *list, int wanted, const char *name,
                   struct cel_value *ret)
{
        TRY(need_list(run, list));
        if (!cel_list_size(list))
                return cel_fail(run, "%s called on empty list", name);
        for (size_t i = 0; i < cel_list_size(list); i++) {
                struct cel_value item;
                int order = wanted;
                TRY(cel_list_at(run, list, i, &item));
                if (i)
                        TRY(cel_compare(run, &item, ret, &order));
                if (order == wanted)
                        *ret = item;
        }
        return 0;
}

static int call_min(struct cel_run *run, const struct cel_value *args, size_t n, struct cel_value *ret)
{
        return extreme(run, &args[0], -1, "min", ret);
}

static int call_max(struct cel_run *run, const struct cel_value *args, size_t n, struct cel_value *ret)
{
        return extreme(run, &args[0], 1, "max", ret);
}

static int index_of(struct cel_run *run, const struct cel_value *args, size_t n, bool last,
                    struct cel_value *ret)
{
        if (args[0].kind == CEL_STRING)
                return cel_string_index_of(run, args, n, last, ret);
        if (n > 2)
                return cel_no_overload(run);
        TRY(need_list(run, &args[0]));
        *ret = cel_int(-1);
        for (size_t i = 0; i < cel_list_size(&args[0]); i++) {
                struct cel_value item;
                bool same = false;
                TRY(cel_list_at(run, &args[0], i, &item));
                TRY(cel_equal(run, &item, &args[1], &same));
                if (same)
                        *ret = cel_int((int64_t)i);
                if (same && !last)
                        break;
        }
        return 0;
}

static int call_index_of(struct cel_run *run, const struct cel_value *args, size_t n, struct cel_value *ret)
{
        return index_of(run, args, n, false, ret);
}

static int call_last_index_of(struct cel_run *run, const struct cel_value *args, size_t n,
                              struct cel_value *ret)
{
        return index_of(run, args, n, true, ret);
}

/* --- sets
 * ---------------------------------------------------------------------------------------------------- */

/* How many elements of `a` are in `b`. */
static int count_shared(struct cel_run *run, const struct cel_value *a, const struct cel_value *b,
                        size_t *ret)
{
        TRY(need_list(run, a));
        TRY(need_list(run, b));
        *ret = 0;
        for (size_t i = 0; i < cel_list_size(a); i++) {
                struct cel_value item, in;
                TRY(cel_list_at(run, a, i, &item));
                TRY(cel_binary(run, CEL_IN, &item, b, &in));
                *ret += in.boolean;
        }
        return 0;
}

static int call_sets_contains(struct cel_run *run, const struct cel_value *args, size_t n,
                              struct cel_value *ret)
{
        size_t shared = 0;
        TRY(count_shared(run, &args[1], &args[0], &shared));
        *ret = cel_bool(shared == cel_list_size(&args[1]));
        return 0;
}

static int call_sets_equivalent(struct cel_run *run, const struct cel_value *args, size_t n,
                                struct cel_value *ret)
{
        size_t forth = 0, back = 0;
        TRY(count_shared(run, &args[0], &args[1], &forth));
        TRY(count_shared(run, &args[1], &args[0], &back));
        *ret = cel_bool(forth == cel_list_size(&args[0]) && back == cel_list_size(&args[1]));
        return 0;
}

static int call_sets_intersects(struct cel_run *run, const struct cel_value *args, size_t n,
                                struct cel_value *ret)
{
        size_t shared = 0;
        TRY(count_shared(run, &args[0], &args[1], &shared));
        *ret = cel_bool(shared > 0);
        return 0;
}

const struct cel_function cel_list_functions[] = {
        { "isSorted", true, 1, 1, call_is_sorted },
        { "sum", true, 1, 1, call_sum },
        { "min", true, 1, 1, call_min },
        { "max", true, 1, 1, call_max },
        { "indexOf", true, 2, 3, call_index_of },
        { "lastIndexOf", true, 2, 3, call_last_index_of },
        { "sets.contains", false, 2, 2, call_sets_contains },
        { "sets.equivalent", false, 2, 2, call_sets_equivalent },
        { "sets.intersects", false, 2, 2, call_sets_intersects },
        { NULL, false, 0, 0, NULL },
};

/* --- math
 * ---------------------------------------------------------------------------------------------------- */

static bool is_number(const struct cel_value *v)
{
        return v->kind == CEL_INT || v->kind == CEL_UINT || v->kind == CEL_DOUBLE;
}

/* math.greatest(a, b, ...) or of one list. */
static int pick(struct cel_run *run, const struct cel_value *args, size_t n, int wanted, const char *name,
                struct cel_value *ret)
{
        struct cel_value list = { .kind = CEL_LIST };
        list.list.items = args;
        list.list.n = n;
        if (n == 1 && args[0].kind == CEL_LIST)
                list = args[0];
        TRY(extreme(run, &list, wanted, name, ret));
        return is_number(ret) ? 0 : cel_no_overload(run);
}

static int call_greatest(struct cel_run *run, const struct cel_value *args, size_t n, struct cel_value *ret)
{
        return pick(run, args, n, 1, "math.greatest", ret);
}

static int call_least(struct cel_run *run, const struct cel_value *args, size_t n, struct cel_value *ret)
{
        return pick(run, args, n, -1, "math.least", ret);
}

static int call_abs(struct cel_run *run, const struct cel_value *args, size_t n, struct cel_value *ret)
{
        *ret = args[0];
        if (!is_number(ret))
                return cel_no_overload(run);
        if (ret->kind == CEL_DOUBLE)
                ret->real = fabs(ret->real);
        else if (ret->kind == CEL_INT && ret->integer == INT64_MIN)
                return cel_fail(run, "integer overflow");
        else if (ret->kind == CEL_INT && ret->integer < 0)
                ret->integer = -ret->integer;
        return 0;
}

static int call_sign(struct cel_run *run, const struct cel_value *args, size_t n, struct cel_value *ret)
{
        *ret = args[0];
        if (!is_number(ret))
                return cel_no_overload(run);
        if (ret->kind == CEL_DOUBLE)
                ret->real = isnan(ret->real) ? ret->real : ret->real > 0 ? 1 : ret->real < 0 ? -1 : 0;
        else if (ret->kind == CEL_INT)
                ret->integer = ret->integer > 0 ? 1 : ret->integer < 0 ? -1 : 0;
        else
                ret->uinteger = ret->uinteger > 0;
        return 0;
}

static int round_with(struct cel_run *run, const struct cel_value *v, double (*how)(double),
                      struct cel_value *ret)
{
        if (v->kind != CEL_DOUBLE)
                return cel_no_overload(run);
        *ret = cel_double(how(v->real));
        return 0;
}

static int call_ceil(struct cel_run *run, const struct cel_value *args, size_t n, struct cel_value *ret)
{
        return round_with(run, &args[0], ceil, ret);
}

static int call_floor(struct cel_run *run, const struct cel_value *args, size_t n, struct cel_value *ret)
{
        return round_with(run, &args[0], floor, ret);
}

static int call_round(struct cel_run *run, const struct cel_value *args, size_t n, struct cel_value *ret)
{
        return round_with(run, &args[0], round, ret);
}

static int call_trunc(struct cel_run *run, const struct cel_value *args, size_t n, struct cel_value *ret)
{
        return round_with(run, &args[0], trunc, ret);
}

const struct cel_function cel_math_functions[] = {
        { "math.greatest", false, 1, CEL_MAX_ARGUMENTS, call_greatest },
        { "math.least", false, 1, CEL_MAX_ARGUMENTS, call_least },
        { "math.abs", false, 1, 1, call_abs },
        { "math.sign", false, 1, 1, call_sign },
        { "math.ceil", false, 1, 1, call_ceil },
        { "math.floor", false, 1, 1, call_floor },
        { "math.round", false, 1, 1, call_round },
        { "math.trunc", false, 1, 1, call_trunc },
        { NULL, false, 0, 0, NULL },
};
