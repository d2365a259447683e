/* Quantities as apimachinery's resource.Quantity reads, rounds and prints them. */
#include "common/json/quantity.h"

#include <math.h>

typedef __int128 int128;
typedef unsigned __int128 uint128;

#define NANO ((int128)1000000000)
#define QUANTITY_MAX ((int128)(~(uint128)0 >> 1))
static const char bad_format[] =
        "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";

#define SUFFIX_MAX 2
struct suffix {
        char name[SUFFIX_MAX + 1];
        int8_t base, exponent;
};
static const struct suffix suffixes[] = {
        { "", 10, 0 },   { "n", 10, -9 }, { "u", 10, -6 }, { "m", 10, -3 }, { "k", 10, 3 },  { "M", 10, 6 },
        { "G", 10, 9 },  { "T", 10, 12 }, { "P", 10, 15 }, { "E", 10, 18 }, { "Ki", 2, 10 }, { "Mi", 2, 20 },
        { "Gi", 2, 30 }, { "Ti", 2, 40 }, { "Pi", 2, 50 }, { "Ei", 2, 60 },
};

/* The parts of a quantity's text. */
struct parts {
        bool negative;
        struct slice whole, fraction, suffix;
};

static struct slice take_while(struct slice *rest, const char *set)
{
        size_t n = 0;
        while (n < rest->len && rest->data[n] && strchr(set, rest->data[n]))
                n++;
        struct slice head = { rest->data, n };
        rest->data += n;
        rest->len -= n;
        return head;
}

static struct slice take_digits(struct slice *rest)
{
        struct slice head = { rest->data, 0 };
        while (head.len < rest->len && head.data[head.len] >= '0' && head.data[head.len] <= '9')
                head.len++;
        rest->data += head.len;
        rest->len -= head.len;
        return head;
}

static bool take_char(struct slice *rest, char a, char b)
{
        if (!rest->len || (rest->data[0] != a && rest->data[0] != b))
                return false;
        rest->data++;
        rest->len--;
        return true;
}

static int split(struct slice text, struct parts *ret, struct error *err)
{
        struct slice rest = text;
        struct parts p = { .negative = rest.len && rest.data[0] == '-' };
        take_char(&rest, '+', '-');
        p.whole = take_digits(&rest);
        if (take_char(&rest, '.', '.'))
                p.fraction = take_digits(&rest);
        if (!p.whole.len && !p.fraction.len)
                return error_set(err, ERR_INVALID, "%s",
                                 text.len ? "unable to parse numeric part of quantity" : bad_format);
        p.suffix = rest;
        take_while(&rest, "eEinumkKMGTP");
        take_char(&rest, '+', '-');
        take_digits(&rest);
        if (rest.len)
                return error_set(err, ERR_INVALID, "%s", bad_format);
        *ret = p;
        return 0;
}

static const struct suffix *find_suffix(struct slice text)
{
        char name[SUFFIX_MAX + 1] = "";
        if (text.len > SUFFIX_MAX)
                return NULL;
        for (size_t i = 0; i < text.len; i++)
                name[i] = text.data[i];
        for (size_t i = 0; i < ARRAY_LEN(suffixes); i++)
                if (memcmp(name, suffixes[i].name, sizeof(name)) == 0)
                        return &suffixes[i];
        return NULL;
}

/* "Ki" -> 2^10, "m" -> 10^-3, "e3" -> 10^3. */
static int read_suffix(struct slice text, int *ret_base, int *ret_exponent, enum quantity_format *ret_format,
                       struct error *err)
{
        const struct suffix *known = find_suffix(text);
        if (known) {
                *ret_base = known->base;
                *ret_exponent = known->exponent;
                *ret_format = known->base == 2 ? QUANTITY_BINARY_SI : QUANTITY_DECIMAL_SI;
                return 0;
        }
        int64_t exponent;
        struct slice digits = { text.data + 1, text.len - 1 };
        if ((text.data[0] != 'e' && text.data[0] != 'E') || !slice_parse_i64(digits, &exponent) ||
            exponent < INT16_MIN || exponent > INT16_MAX)
                return error_set(err, ERR_INVALID, "unable to parse quantity's suffix");
        *ret_base = 10;
        *ret_exponent = (int)exponent;
        *ret_format = QUANTITY_DECIMAL_EXPONENT;
        return 0;
}

/* v * by + plus, stopping at the largest value. */
static int128 multiply_add(int128 v, int128 by, int128 plus)
{
        int128 r;
        return __builtin_mul_overflow(v, by, &r) || __builtin_add_overflow(r, plus, &r) ? QUANTITY_MAX : r;
}

/* Reads the digits as one decimal number times 10^*scale. Digits that no longer fit are dropped into *sticky
 * ("there was something"), so that rounding up stays right. */
static int128 read_digits(struct slice digits, bool fraction, int128 v, int *scale, bool *sticky)
{
        for (size_t i = 0; i < digits.len; i++) {
                if (v > QUANTITY_MAX / 16) {
                        *sticky |= digits.data[i] != '0';
                        *scale += !fraction;
                        continue;
                }
                v = v * 10 + (digits.data[i] - '0');
                *scale -= fraction;
        }
        return v;
}

/* Nearly all quantities: whole in nano units, and far from what does not fit. */
static bool is_plain(int128 v, int scale, int shift)
{
        return v <= INT64_MAX && scale >= -9 && scale <= 0 && shift <= 30;
}

static int128 plain_to_nano(int128 v, int scale, int shift)
{
        static const int64_t powers[] = { 1,      10,      100,      1000,      10000,
                                          100000, 1000000, 10000000, 100000000, 1000000000 };
        return v * ((int128)1 << shift) * powers[scale + 9];
}

/* v * 10^scale * 2^shift in nano units; what is left over rounds away from zero. */
static int128 to_nano(int128 v, int scale, int shift, bool sticky)
{
        if (!sticky && is_plain(v, scale, shift))
                return plain_to_nano(v, scale, shift);
        if (!v && !sticky)
                return 0;
        /* Powers of two first while they fit, else the low decimals go first: both orders saturate only when
         * the result does not fit anyway or the digits exceed what int128 holds. */
        scale += 9;
        while (shift > 0 && v <= QUANTITY_MAX / 2) {
                v *= 2;
                shift--;
        }
        for (; scale < 0 && (v || shift); scale++) {
                sticky |= v % 10 != 0;
                v /= 10;
                while (shift > 0 && v <= QUANTITY_MAX / 2) {
                        v *= 2;
                        shift--;
                }
        }
        for (; scale > 0 && v < QUANTITY_MAX; scale--)
                v = multiply_add(v, 10, 0);
        if (shift > 0)
                return QUANTITY_MAX;
        return multiply_add(v, 1, sticky ? 1 : 0);
}

int quantity_parse(struct slice text, struct quantity *ret, struct error *err)
{
        struct parts p = { 0 };
        int base = 10, exponent = 0;
        struct quantity q = { 0 };
        TRY(split(text, &p, err));
        TRY(read_suffix(p.suffix, &base, &exponent, &q.format, err));
        int scale = base == 10 ? exponent : 0;
        bool sticky = false;
        int128 v = read_digits(p.whole, false, 0, &scale, &sticky);
        v = read_digits(p.fraction, true, v, &scale, &sticky);
        q.nano = to_nano(v, scale, base == 2 ? exponent : 0, sticky);
        if (q.format == QUANTITY_BINARY_SI) {
                q.nano = MIN(q.nano, INT64_MAX * NANO);
                if (q.nano > 0 && q.nano < NANO)
                        q.format = QUANTITY_DECIMAL_SI; /* a fraction has no binary form */
        }
        if (p.negative)
                q.nano = -q.nano;
        *ret = q;
        return 0;
}

int quantity_compare(struct quantity a, struct quantity b)
{
        return (a.nano > b.nano) - (a.nano < b.nano);
}

static int128 saturating_add(int128 a, int128 b)
{
        int128 r;
        if (!__builtin_add_overflow(a, b, &r))
                return MAX(r, -QUANTITY_MAX);
        return a > 0 ? QUANTITY_MAX : -QUANTITY_MAX;
}

struct quantity quantity_add(struct quantity a, struct quantity b)
{
        return (struct quantity){ saturating_add(a.nano, b.nano), a.nano ? a.format : b.format };
}

struct quantity quantity_subtract(struct quantity a, struct quantity b)
{
        return (struct quantity){ saturating_add(a.nano, -b.nano), a.nano ? a.format : b.format };
}

static void format_u128(uint128 v, char ret[48])
{
        char reversed[48];
        size_t n = 0;
        do {
                reversed[n++] = (char)('0' + (int)(v % 10));
                v /= 10;
        } while (v);
        for (size_t i = 0; i < n; i++)
                ret[i] = reversed[n - 1 - i];
        ret[n] = '\0';
}

static const char *suffix_name(int base, int exponent)
{
        for (size_t i = 0; i < ARRAY_LEN(suffixes); i++)
                if (suffixes[i].base == base && suffixes[i].exponent == exponent)
                        return suffixes[i].name;
        UNREACHABLE();
}

/* True when the value is printed with Ki, Mi...: whole and not between -1024 and 1024, so that nothing is
 * lost. */
static bool prints_binary(struct quantity q)
{
        return q.format == QUANTITY_BINARY_SI && q.nano % NANO == 0 &&
               (q.nano >= 1024 * NANO || q.nano <= -1024 * NANO);
}

static void print_binary(uint128 value, const char *sign, char ret[64])
{
        char digits[48];
        int exponent = 0;
        while (value % 1024 == 0 && exponent < 60) {
                value /= 1024;
                exponent += 10;
        }
        format_u128(value, digits);
        snprintf(ret, 64, "%s%s%s", sign, digits, exponent ? suffix_name(2, exponent) : "");
}

static void print_decimal(uint128 nano, enum quantity_format format, const char *sign, char ret[64])
{
        char digits[48], suffix[16] = "";
        int exponent = -9;
        while (nano % 1000 == 0 && (exponent < 18 || format == QUANTITY_DECIMAL_EXPONENT)) {
                nano /= 1000;
                exponent += 3;
        }
        format_u128(nano, digits);
        if (format == QUANTITY_DECIMAL_EXPONENT && exponent)
                snprintf(suffix, sizeof(suffix), "e%d", exponent);
        else if (exponent)
                snprintf(suffix, sizeof(suffix), "%s", suffix_name(10, exponent));
        snprintf(ret, 64, "%s%s%s", sign, digits, suffix);
}

void quantity_print(struct quantity q, char ret[64])
{
        const char *sign = q.nano < 0 ? "-" : "";
        uint128 size = q.nano < 0 ? -(uint128)q.nano : (uint128)q.nano;
        if (!size)
                snprintf(ret, 64, "0");
        else if (prints_binary(q))
                print_binary(size / (uint128)NANO, sign, ret);
        else
                print_decimal(size, q.format == QUANTITY_DECIMAL_EXPONENT ? q.format : QUANTITY_DECIMAL_SI,
                              sign, ret);
}

double quantity_to_double(struct quantity q)
{
        /* Split, so that whole numbers stay exact. */
        return (double)(q.nano / NANO) + (double)(q.nano % NANO) / 1e9;
}

static int read_percent(const char *text, int64_t *ret, struct error *err)
{
        size_t n = strlen(text);
        if (!n || text[n - 1] != '%')
                return error_set(err, ERR_INVALID,
                                 "invalid value for IntOrString: invalid type: string is not a percentage");
        if (!slice_parse_i64((struct slice){ text, n - 1 }, ret))
                return error_set(err, ERR_INVALID,
                                 "invalid value for IntOrString: invalid value \"%s\": is no number", text);
        return 0;
}

int int_or_percent(const json_t *value, int64_t total, bool round_up, int64_t *ret, struct error *err)
{
        if (json_is_integer(value)) {
                *ret = json_integer_value(value);
                return 0;
        }
        if (!json_is_string(value))
                return error_set(err, ERR_INVALID,
                                 "invalid value for IntOrString: neither an integer nor a string");
        int64_t percent;
        TRY(read_percent(json_string_value(value), &percent, err));
        int128 product = (int128)percent * total, whole = product / 100;
        if (product % 100 && round_up == (product > 0))
                whole += round_up ? 1 : -1;
        if (whole > INT64_MAX || whole < INT64_MIN)
                return error_set(err, ERR_INVALID, "invalid value for IntOrString: \"%s\" is out of range",
                                 json_string_value(value));
        *ret = (int64_t)whole;
        return 0;
}
