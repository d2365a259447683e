/* What an unquoted YAML scalar means: YAML 1.1 words and numbers as the Kubernetes tools read them. */
#include <math.h>

#include "common/base/memory.h"
#include "common/json/scan.h"
#include "common/json/yaml.h"

static const char *const nulls[] = { "", "~", "null", "Null", "NULL" };
static const char *const trues[] = { "true", "True", "TRUE", "yes", "Yes", "YES", "on", "On", "ON" };
static const char *const falses[] = { "false", "False", "FALSE", "no", "No", "NO", "off", "Off", "OFF" };
static const char *const not_finite[] = { ".nan",  ".NaN",  ".NAN",  ".inf",  ".Inf",  ".INF",
                                          "+.inf", "+.Inf", "+.INF", "-.inf", "-.Inf", "-.INF" };
/* Booleans of YAML 1.1 that the tools read as strings and other readers do not. */
static const char *const ambiguous[] = { "y", "Y", "n", "N", "<<", "=" };

static bool is_one_of(struct slice text, const char *const *list, size_t n)
{
        for (size_t i = 0; i < n; i++)
                if (slice_is(text, list[i]))
                        return true;
        return false;
}

#define IS_ONE_OF(text, list) is_one_of((text), (list), ARRAY_LEN(list))

static bool is_digit(char c)
{
        return c >= '0' && c <= '9';
}

static size_t count_digits(const char *p)
{
        size_t n = 0;
        while (is_digit(p[n]))
                n++;
        return n;
}

/* [-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)? */
static bool looks_like_real(const char *p)
{
        p += *p == '-' || *p == '+';
        size_t whole = count_digits(p);
        p += whole;
        if (*p == '.') {
                size_t fraction = count_digits(p + 1);
                if (!whole && !fraction)
                        return false;
                p += 1 + fraction;
        } else if (!whole) {
                return false;
        }
        if (*p == 'e' || *p == 'E') {
                p++;
                p += *p == '-' || *p == '+';
                size_t exponent = count_digits(p);
                if (!exponent)
                        return false;
                p += exponent;
        }
        return *p == '\0';
}

static int digit_of(char c)
{
        if (is_digit(c))
                return c - '0';
        c |= 0x20;
        return c >= 'a' && c <= 'f' ? c - 'a' + 10 : 99;
}

/* 0x1f, 0o17, 017, 0b11 and decimals, signed. The value as a magnitude within 64 bits; false otherwise. */
static bool read_integer(const char *p, bool *ret_negative, uint64_t *ret)
{
        *ret_negative = *p == '-';
        p += *p == '-' || *p == '+';
        unsigned base = 10;
        if (p[0] == '0' && p[1]) {
                char mark = (char)(p[1] | 0x20);
                base = mark == 'x' ? 16 : mark == 'b' ? 2 : 8;
                p += mark == 'x' || mark == 'o' || mark == 'b' ? 2 : 1;
        }
        if (!*p)
                return false;
        uint64_t v = 0;
        for (; *p; p++) {
                unsigned digit = (unsigned)digit_of(*p);
                if (digit >= base || __builtin_mul_overflow(v, (uint64_t)base, &v) ||
                    __builtin_add_overflow(v, (uint64_t)digit, &v))
                        return false;
        }
        *ret = v;
        return true;
}

static json_t *real_value(const char *digits, bool *ret_bad)
{
        double v = strtod(digits, NULL);
        *ret_bad = !isfinite(v);
        return *ret_bad ? NULL : json_real(v);
}

/* The number in the text, with digit groups ("1_000"); NULL with *ret_is_number = false if it is none. */
static json_t *number_value(struct slice text, bool *ret_is_number, bool *ret_bad)
{
        char digits[128];
        size_t n = 0;
        *ret_is_number = false;
        if (!text.len || text.len >= sizeof(digits) ||
            !(is_digit(text.data[0]) || strchr("+-.", text.data[0])))
                return NULL;
        for (size_t i = 0; i < text.len; i++)
                if (text.data[i] != '_' || text.data[0] == '.')
                        digits[n++] = text.data[i];
        digits[n] = '\0';
        if (strlen(digits) != n)
                return NULL;
        bool negative;
        uint64_t magnitude;
        if (text.data[0] != '.' && read_integer(digits, &negative, &magnitude)) {
                *ret_is_number = true;
                if (magnitude <= (uint64_t)INT64_MAX + negative)
                        return json_integer(negative ? (int64_t)(0 - magnitude) : (int64_t)magnitude);
                return json_real(negative ? -(double)magnitude : (double)magnitude);
        }
        if (!looks_like_real(digits))
                return NULL;
        *ret_is_number = true;
        return real_value(digits, ret_bad);
}

json_t *yaml_plain_value(struct slice text, bool *ret_bad)
{
        bool is_number;
        *ret_bad = false;
        if (IS_ONE_OF(text, nulls))
                return json_null();
        if (IS_ONE_OF(text, trues))
                return json_true();
        if (IS_ONE_OF(text, falses))
                return json_false();
        if (IS_ONE_OF(text, not_finite)) {
                *ret_bad = true;
                return NULL;
        }
        json_t *number = number_value(text, &is_number, ret_bad);
        return is_number ? number : json_stringn_nocheck(text.data, text.len);
}

/* 2006-1-2, alone or with a time behind T, t or a space: other readers take it for a time. */
static bool looks_like_time(struct slice text)
{
        size_t at = 0;
        static const struct {
                uint8_t least, most;
                const char *behind;
        } parts[] = { { 4, 4, "-" }, { 1, 2, "-" }, { 1, 2, "Tt " } };
        for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
                size_t n = 0;
                while (at + n < text.len && is_digit(text.data[at + n]))
                        n++;
                at += n;
                if (n < parts[i].least || n > parts[i].most)
                        return false;
                if (at == text.len)
                        return i == 2;
                if (!text.data[at] || !strchr(parts[i].behind, text.data[at]))
                        return false;
                at++;
        }
        return at < text.len && is_digit(text.data[at]);
}

/* "12:30:45" is a number in base 60 to YAML 1.1 readers. */
static bool looks_like_base_60(struct slice text)
{
        size_t i = text.len && (text.data[0] == '-' || text.data[0] == '+'), colons = 0, start = i;
        for (; i < text.len; i++) {
                char c = text.data[i];
                if (c == ':')
                        colons++;
                else if (!is_digit(c) && c != '_' && c != '.')
                        return false;
        }
        return colons && is_digit(text.data[start]) && text.data[text.len - 1] != ':';
}

bool yaml_needs_quotes(struct slice text)
{
        bool bad, is_number;
        if (IS_ONE_OF(text, nulls) || IS_ONE_OF(text, trues) || IS_ONE_OF(text, falses) ||
            IS_ONE_OF(text, not_finite) || IS_ONE_OF(text, ambiguous))
                return true;
        json_decref(number_value(text, &is_number, &bad));
        return is_number || looks_like_time(text) || looks_like_base_60(text);
}
