/* Functions over numbers: whole ones as int64, the others as float64. */
#include <math.h>

#include "common/base/limits.h"
#include "common/template/function_tools.h"

static struct value int64_value(uint64_t bits)
{
        return value_integer(VALUE_INT64, (int64_t)bits);
}

/* ---- conversion ---- */

static int call_convert(struct run *run, const struct value *args, size_t n, struct value *ret)
{
        *ret = value_integer((enum value_type)run->variant, value_to_int64(&args[0]));
        return 0;
}

static int call_float64(struct run *run, const struct value *args, size_t n, struct value *ret)
{
        *ret = value_real(value_to_float64(&args[0]));
        return 0;
}

static int call_atoi(struct run *run, const struct value *args, size_t n, struct value *ret)
{
        int64_t value = 0;
        bool fits;
        if (!parse_digits(args[0].string, 10, &value, &fits))
                value = 0;
        *ret = value_integer(VALUE_INT, value);
        return 0;
}

static int call_to_decimal(struct run *run, const struct value *args, size_t n, struct value *ret)
{
        struct value text;
        int64_t value = 0;
        bool fits;
        TRY(value_text(run, &args[0], &text));
        if (!parse_digits(text.string, 8, &value, &fits) || !fits)
                value = 0;
        *ret = value_integer(VALUE_INT64, value);
        return 0;
}

/* ---- arithmetic ---- */

static int call_add(struct run *run, const struct value *args, size_t n, struct value *ret)
{
        uint64_t sum = 0;
        for (size_t i = 0; i < n; i++)
                sum += (uint64_t)value_to_int64(&args[i]);
        *ret = int64_value(sum);
        return 0;
}

static int call_add1(struct run *run, const struct value *args, size_t n, struct value *ret)
{
        *ret = int64_value((uint64_t)value_to_int64(&args[0]) + 1);
        return 0;
}

static int call_sub(struct run *run, const struct value *args, size_t n, struct value *ret)
{
        *ret = int64_value((uint64_t)value_to_int64(&args[0]) - (uint64_t)value_to_int64(&args[1]));
        return 0;
}

static int call_mul(struct run *run, const struct value *args, size_t n, struct value *ret)
{
        uint64_t product = (uint64_t)value_to_int64(&args[0]);
        for (size_t i = 1; i < n; i++)
                product *= (uint64_t)value_to_int64(&args[i]);
        *ret = int64_value(product);
        return 0;
}

enum division { QUOTIENT, REMAINDER };

static int call_divide(struct run *run, const struct value *args, size_t n, struct value *ret)
{
        int64_t a = value_to_int64(&args[0]), b = value_to_int64(&args[1]);
        if (b == 0)
                return call_fail(run, "runtime error: integer divide by zero");
        if (b == -1) /* the smallest number has no opposite: it stays, as in Go */
                *ret = int64_value(run->variant == QUOTIENT ? 0 - (uint64_t)a : 0);
        else
                *ret = value_integer(VALUE_INT64, run->variant == QUOTIENT ? a / b : a % b);
        return 0;
}

enum extreme { LARGEST, SMALLEST };

static int call_extreme(struct run *run, const struct value *args, size_t n, struct value *ret)
{
        int64_t best = value_to_int64(&args[0]);
        for (size_t i = 1; i < n; i++) {
                int64_t value = value_to_int64(&args[i]);
                best = run->variant == LARGEST ? MAX(best, value) : MIN(best, value);
        }
        *ret = value_integer(VALUE_INT64, best);
        return 0;
}

static double better(enum extreme which, double a, double b)
{
        if (isnan(a) || isnan(b))
                return NAN;
        if (a == 0 && b == 0)
                return (which == LARGEST) == !signbit(a) ? a : b;
        return which == LARGEST ? fmax(a, b) : fmin(a, b);
}

static int call_extreme_real(struct run *run, const struct value *args, size_t n, struct value *ret)
{
        double best = value_to_float64(&args[0]);
        for (size_t i = 1; i < n; i++)
                best = better((enum extreme)run->variant, best, value_to_float64(&args[i]));
        *ret = value_real(best);
        return 0;
}

static int call_ceil(struct run *run, const struct value *args, size_t n, struct value *ret)
{
        *ret = value_real(ceil(value_to_float64(&args[0])));
        return 0;
}

static int call_floor(struct run *run, const struct value *args, size_t n, struct value *ret)
{
        *ret = value_real(floor(value_to_float64(&args[0])));
        return 0;
}

/* Up if the part behind the kept digits reaches the bound; so negative numbers go down always. */
static int call_round(struct run *run, const struct value *args, size_t n, struct value *ret)
{
        double bound = n > 2 ? args[2].real : 0.5, power = pow(10, (double)args[1].integer), kept;
        double shifted = power * value_to_float64(&args[0]), rest = modf(shifted, &kept);
        *ret = value_real((rest >= bound ? ceil(shifted) : floor(shifted)) / power);
        return 0;
}

/* ---- sequences ---- */

static size_t steps_between(int64_t begin, int64_t end, int64_t step)
{
        if (step == 0 || (end > begin) != (step > 0) || end == begin)
                return 0;
        uint64_t distance = end > begin ? (uint64_t)end - (uint64_t)begin : (uint64_t)begin - (uint64_t)end;
        uint64_t width = step > 0 ? (uint64_t)step : 0 - (uint64_t)step;
        return (size_t)((distance - 1) / width + 1);
}

static int until_step(struct run *run, int64_t begin, int64_t end, int64_t step, struct value *ret)
{
        size_t n = steps_between(begin, end, step);
        if (n > LIMIT_TEMPLATE_ITEMS)
                return run_limit(run, "list of more than %d items", LIMIT_TEMPLATE_ITEMS);
        TRY(run_list(run, VALUE_INTS, n, ret));
        for (size_t i = 0; i < n; i++)
                ret->list->at[i] = value_integer(VALUE_INT, begin + (int64_t)i * step);
        return 0;
}

static int call_until(struct run *run, const struct value *args, size_t n, struct value *ret)
{
        int64_t end = args[0].integer;
        return until_step(run, 0, end, end < 0 ? -1 : 1, ret);
}

static int call_until_step(struct run *run, const struct value *args, size_t n, struct value *ret)
{
        return until_step(run, args[0].integer, args[1].integer, args[2].integer, ret);
}

static int64_t wrapping_add(int64_t a, int64_t b)
{
        return (int64_t)((uint64_t)a + (uint64_t)b);
}

/* 1 to n; from, to; from, step, to: the last is included. */
static int seq(struct run *run, const struct value *args, size_t n, struct value *ret)
{
        int64_t begin = n > 1 ? args[0].integer : 1, end = args[n - 1].integer;
        int64_t direction = end < begin ? -1 : 1, step = n == 3 ? args[1].integer : direction;
        if (n == 3 && direction < 0 && step > 0)
                return run_list(run, VALUE_INTS, 0, ret);
        return until_step(run, begin, wrapping_add(end, direction), step, ret);
}

static int call_seq(struct run *run, const struct value *args, size_t n, struct value *ret)
{
        struct value numbers;
        struct buf *out = run_scratch(run);
        if (n == 0 || n > 3) {
                *ret = value_string(SLICE(""));
                return 0;
        }
        TRY(seq(run, args, n, &numbers));
        for (size_t i = 0; i < numbers.list->n; i++) {
                buf_append_str(out, i ? " " : "");
                buf_append_int(out, numbers.list->at[i].integer);
        }
        return run_take_scratch(run, ret);
}

static const struct function functions[] = {
        { "int", call_convert, { TAKES_ANY }, .variant = VALUE_INT },
        { "int64", call_convert, { TAKES_ANY }, .variant = VALUE_INT64 },
        { "float64", call_float64, { TAKES_ANY } },
        { "atoi", call_atoi, { TAKES_STRING } },
        { "toDecimal", call_to_decimal, { TAKES_ANY } },
        { "add", call_add, { 0 }, TAKES_ANY },
        { "add1", call_add1, { TAKES_ANY } },
        { "sub", call_sub, { TAKES_ANY, TAKES_ANY } },
        { "mul", call_mul, { TAKES_ANY }, TAKES_ANY },
        { "div", call_divide, { TAKES_ANY, TAKES_ANY }, .variant = QUOTIENT },
        { "mod", call_divide, { TAKES_ANY, TAKES_ANY }, .variant = REMAINDER },
        { "max", call_extreme, { TAKES_ANY }, TAKES_ANY, .variant = LARGEST },
        { "biggest", call_extreme, { TAKES_ANY }, TAKES_ANY, .variant = LARGEST },
        { "min", call_extreme, { TAKES_ANY }, TAKES_ANY, .variant = SMALLEST },
        { "maxf", call_extreme_real, { TAKES_ANY }, TAKES_ANY, .variant = LARGEST },
        { "minf", call_extreme_real, { TAKES_ANY }, TAKES_ANY, .variant = SMALLEST },
        { "ceil", call_ceil, { TAKES_ANY } },
        { "floor", call_floor, { TAKES_ANY } },
        { "round", call_round, { TAKES_ANY, TAKES_INT }, TAKES_FLOAT },
        { "until", call_until, { TAKES_INT } },
        { "untilStep", call_until_step, { TAKES_INT, TAKES_INT, TAKES_INT } },
        { "seq", call_seq, { 0 }, TAKES_INT },
};

const struct function_table number_functions = { functions, ARRAY_LEN(functions) };
