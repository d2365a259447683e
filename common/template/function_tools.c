/* Conversions that functions of several subjects use. */
#include "common/template/function_tools.h"

#include <math.h>
#include <strings.h>

int value_text(struct run *run, const struct value *v, struct value *ret)
{
        if (v->type == VALUE_STRING) {
                *ret = value_unboxed(*v);
                return 0;
        }
        AUTO_BUF struct buf b;
        buf_init(&b, run->scratch.max);
        TRY(value_print(run, v, &b));
        return run_copy(run, (struct slice){ b.data, b.len }, ret);
}

static int texts_of_list(struct run *run, struct sequence *list, struct value *ret)
{
        TRY(list_load(run, list));
        TRY(run_list(run, VALUE_STRINGS, list->n, ret));
        size_t n = 0;
        for (size_t i = 0; i < list->n; i++)
                if (list->at[i].type != VALUE_NONE)
                        TRY(value_text(run, &list->at[i], &ret->list->at[n++]));
        ret->list->n = n;
        return 0;
}

int texts_of(struct run *run, const struct value *v, struct value *ret)
{
        if (v->type == VALUE_STRINGS) {
                *ret = value_unboxed(*v);
                return 0;
        }
        if (value_is_list(v))
                return texts_of_list(run, v->list, ret);
        TRY(run_list(run, VALUE_STRINGS, v->type != VALUE_NONE, ret));
        return v->type == VALUE_NONE ? 0 : value_text(run, v, &ret->list->at[0]);
}

/* ---- trimming ---- */

static bool in_set(uint32_t c, const struct slice *set)
{
        size_t width;
        if (!set)
                return rune_is_space(c);
        for (size_t at = 0; at < set->len; at += width)
                if (rune_decode(set->data + at, set->len - at, &width) == c)
                        return true;
        return false;
}

static size_t last_width(struct slice s)
{
        size_t n = 1, width;
        while (n < 4 && n < s.len && ((unsigned char)s.data[s.len - n] & 0xc0) == 0x80)
                n++;
        rune_decode(s.data + s.len - n, n, &width);
        return width == n ? n : 1;
}

static struct slice trim(struct slice s, const struct slice *set)
{
        size_t width;
        while (s.len && in_set(rune_decode(s.data, s.len, &width), set))
                s = (struct slice){ s.data + width, s.len - width };
        while (s.len) {
                size_t n = last_width(s);
                if (!in_set(rune_decode(s.data + s.len - n, n, &width), set))
                        break;
                s.len -= n;
        }
        return s;
}

struct slice trim_space(struct slice s)
{
        return trim(s, NULL);
}

struct slice trim_set(struct slice s, struct slice set)
{
        return trim(s, &set);
}

/* ---- numbers ---- */

bool value_is_empty(const struct value *v)
{
        return !value_truth(v);
}

static int64_t whole(double real)
{
        return real >= -9223372036854775808.0 && real < 9223372036854775808.0 ? (int64_t)real : INT64_MIN;
}

bool parse_digits(struct slice s, unsigned base, int64_t *ret, bool *ret_fits)
{
        bool negative = s.len && s.data[0] == '-', sign = negative || (s.len && s.data[0] == '+');
        unsigned __int128 value = 0, most = (unsigned __int128)INT64_MAX + negative;
        *ret_fits = true;
        if (s.len == sign)
                return false;
        for (size_t i = sign; i < s.len; i++) {
                unsigned digit = (unsigned)((unsigned char)s.data[i] - '0');
                if (digit >= base)
                        return false;
                value = value * base + digit;
                if (value > most) {
                        value = most;
                        *ret_fits = false;
                }
        }
        *ret = negative ? (int64_t)(0 - (uint64_t)value) : (int64_t)value;
        return true;
}

static int64_t parse_integer(struct slice s)
{
        int64_t value;
        bool fits;
        return parse_digits(s, 10, &value, &fits) && fits ? value : 0;
}

int64_t value_to_int64(const struct value *v)
{
        switch (v->type) {
        case VALUE_STRING:
                return parse_integer(v->string);
        case VALUE_FLOAT64:
                return whole(v->real);
        case VALUE_BOOL:
                return v->truth;
        default:
                return value_is_integer(v) ? v->integer : 0;
        }
}

/* inf, infinity and nan, in any case. */
static bool names_no_number(struct slice s, double *ret)
{
        static const struct {
                const char *name;
                double real;
        } names[] = { { "inf", INFINITY }, { "infinity", INFINITY }, { "nan", NAN } };
        for (size_t i = 0; i < ARRAY_LEN(names); i++)
                if (s.len == strlen(names[i].name) && strncasecmp(s.data, names[i].name, s.len) == 0) {
                        *ret = names[i].real;
                        return true;
                }
        return false;
}

static double parse_real(struct slice s)
{
        double real = 0;
        bool negative = s.len && s.data[0] == '-', sign = negative || (s.len && s.data[0] == '+');
        s = (struct slice){ s.data + sign, s.len - sign };
        if (!names_no_number(s, &real) && !literal_real(s, &real))
                real = 0;
        return negative && real != 0 ? -real : real;
}

double value_to_float64(const struct value *v)
{
        switch (v->type) {
        case VALUE_STRING:
                return parse_real(v->string);
        case VALUE_FLOAT64:
                return v->real;
        case VALUE_BOOL:
                return v->truth;
        default:
                return value_is_integer(v) ? (double)v->integer : 0;
        }
}
