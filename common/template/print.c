/* Numbers and whole values as Go prints them. */
#include <math.h>

#include "common/base/limits.h"
#include "common/template/run.h"

/* ---- reals ---- */

#define MOST_DIGITS 17
#define NUMBER_MAX 1100 /* the longest real without an exponent, and then some */

/* Digits and exponent of the shortest text that reads back: d.ddd * 10^exponent. */
static int shortest(double real, char digits[MOST_DIGITS + 2], int *ret_n)
{
        char text[40];
        int precision = 0;
        for (; precision < MOST_DIGITS; precision++) {
                snprintf(text, sizeof(text), "%.*e", precision, real);
                if (strtod(text, NULL) == real)
                        break;
        }
        const char *e = strchr(text, 'e');
        *ret_n = 0;
        for (const char *c = text; c < e; c++)
                if (*c != '.')
                        digits[(*ret_n)++] = *c;
        while (*ret_n > 1 && digits[*ret_n - 1] == '0')
                --*ret_n;
        return (int)strtol(e + 1, NULL, 10);
}

static int write_scientific(const char *digits, int n, int exponent, char e, struct buf *b)
{
        TRY(buf_append_char(b, digits[0]));
        TRY(buf_append_str(b, n > 1 ? "." : ""));
        TRY(buf_append(b, digits + 1, (size_t)n - 1));
        return buf_printf(b, "%c%c%02d", e, exponent < 0 ? '-' : '+', abs(exponent));
}

static int write_plain(const char *digits, int n, int exponent, struct buf *b)
{
        if (exponent < 0) {
                TRY(buf_append_str(b, "0."));
                for (int i = -1; i > exponent; i--)
                        TRY(buf_append_char(b, '0'));
                return buf_append(b, digits, (size_t)n);
        }
        for (int i = 0; i <= exponent || i < n; i++) {
                TRY(buf_append_str(b, i == exponent + 1 ? "." : ""));
                TRY(buf_append_char(b, i < n ? digits[i] : '0'));
        }
        return 0;
}

static int write_shortest(double real, char verb, struct buf *b)
{
        char digits[MOST_DIGITS + 2];
        int n, exponent = shortest(real, digits, &n);
        char e = verb == 'E' || verb == 'G' ? 'E' : 'e';
        bool scientific = verb == 'e' || verb == 'E';
        if (verb == 'g' || verb == 'G')
                scientific = exponent < -4 || exponent >= 6;
        return scientific ? write_scientific(digits, n, exponent, e, b) : write_plain(digits, n, exponent, b);
}

/* Go's exponent of a hexadecimal real has at least two digits, and what is rounded up to 2 is 1 of the next.
 */
static int write_hexadecimal(double real, char verb, int precision, struct buf *b)
{
        char text[NUMBER_MAX];
        int n = precision < 0 ? snprintf(text, sizeof(text), "%a", real)
                              : snprintf(text, sizeof(text), "%.*a", MIN(precision, 1000), real);
        char *p = strchr(text, 'p');
        if (n < 0 || !p)
                return ERR_INTERNAL;
        int exponent = (int)strtol(p + 1, NULL, 10);
        if (text[2] == '2') {
                text[2] = '1';
                exponent++;
        }
        for (char *c = text; c <= p && verb == 'X'; c++)
                *c = *c >= 'a' && *c <= 'z' ? (char)(*c - 32) : *c;
        TRY(buf_append(b, text, (size_t)(p + 1 - text)));
        return buf_printf(b, "%c%02d", exponent < 0 ? '-' : '+', abs(exponent));
}

static int write_mantissa(double real, struct buf *b)
{
        int exponent;
        double mantissa = frexp(real, &exponent);
        if (real == 0)
                return buf_append_str(b, "0p-1074");
        int shift = exponent < -1021 ? exponent + 1074 : 53;
        return buf_printf(b, "%.0fp%+d", ldexp(mantissa, shift), exponent - shift);
}

/* snprintf rounds as Go does: exactly, to even. */
static int write_precise(double real, char verb, int precision, struct buf *b)
{
        char fmt[] = { '%', '.', '*', verb, '\0' };
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
        return buf_printf(b, fmt, precision, real);
#pragma GCC diagnostic pop
}

int real_write(double real, char verb, int precision, struct buf *b)
{
        if (signbit(real) && !isnan(real))
                TRY(buf_append_char(b, '-'));
        if (isnan(real) || isinf(real))
                return buf_append_str(b, isnan(real) ? "NaN" : signbit(real) ? "Inf" : "+Inf");
        real = fabs(real);
        if (verb == 'x' || verb == 'X')
                return write_hexadecimal(real, verb, precision, b);
        if (verb == 'b')
                return write_mantissa(real, b);
        if (precision < 0)
                return write_shortest(real, verb, b);
        return write_precise(real, verb, precision, b);
}

/* ---- values ---- */

static int print(struct run *run, const struct value *v, struct buf *b);

static int print_list(struct run *run, struct sequence *list, struct buf *b)
{
        TRY(list_load(run, list));
        TRY(buf_append_char(b, '['));
        for (size_t i = 0; i < list->n; i++) {
                TRY(buf_append_str(b, i ? " " : ""));
                TRY(print(run, &list->at[i], b));
        }
        return buf_append_char(b, ']');
}

static int print_map(struct run *run, struct dict *dict, struct buf *b)
{
        TRY(dict_load(run, dict));
        TRY(buf_append_str(b, "map["));
        for (size_t i = 0; i < dict->n; i++) {
                TRY(buf_append_str(b, i ? " " : ""));
                TRY(buf_append(b, dict->at[i].key.data, dict->at[i].key.len));
                TRY(buf_append_char(b, ':'));
                TRY(print(run, &dict->at[i].value, b));
        }
        return buf_append_char(b, ']');
}

static int print_container(struct run *run, const struct value *v, struct buf *b)
{
        if (run->nesting >= LIMIT_TEMPLATE_CALLS)
                return run_limit(run, "nested deeper than %d levels", LIMIT_TEMPLATE_CALLS);
        run->nesting++;
        int code = value_is_list(v) ? print_list(run, v->list, b) : print_map(run, v->map, b);
        run->nesting--;
        return code;
}

static int print(struct run *run, const struct value *v, struct buf *b)
{
        TRY(run_spend(run, 1));
        switch (v->type) {
        case VALUE_NONE:
                return buf_append_str(b, "<nil>");
        case VALUE_BOOL:
                return buf_append_str(b, v->truth ? "true" : "false");
        case VALUE_INT:
        case VALUE_INT64:
        case VALUE_UINT8:
                return buf_append_int(b, v->integer);
        case VALUE_FLOAT64:
                return real_write(v->real, 'g', -1, b);
        case VALUE_STRING:
                TRY(run_spend_bytes(run, v->string.len));
                return buf_append(b, v->string.data, v->string.len);
        default:
                return print_container(run, v, b);
        }
}

/* A buffer that is full tells so itself: of the output, its writer asks. */
static int settle(struct run *run, const struct buf *b, int code)
{
        if (b->failed)
                return b == run->out ? 0 : run_check_buf(run, b);
        return code;
}

int value_print(struct run *run, const struct value *v, struct buf *b)
{
        return settle(run, b, print(run, v, b));
}

int value_sprint(struct run *run, const struct value *args, size_t n, bool line, struct buf *b)
{
        for (size_t i = 0; i < n; i++) {
                bool space =
                        i && (line || (args[i].type != VALUE_STRING && args[i - 1].type != VALUE_STRING));
                buf_append_str(b, space ? " " : "");
                TRY(value_print(run, &args[i], b));
        }
        buf_append_str(b, line ? "\n" : "");
        return settle(run, b, 0);
}
