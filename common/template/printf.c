/* printf: Go's verbs, flags and complaints. */
#include <math.h>

#include "common/base/limits.h"
#include "common/template/run.h"

#define LARGEST_WIDTH 1000000

struct format {
        struct run *run;
        struct buf *b;
        struct slice text;
        size_t at; /* in the text */
        const struct value *args;
        size_t n_args, arg;
        bool reordered, good_index; /* [n] was met; what was met makes sense */
        /* Of the verb being formatted. */
        bool plus, minus, sharp, space, zero, has_width, has_precision;
        bool plus_v, sharp_v;
        int width, precision;
};

static int print_argument(struct format *f, const struct value *v, uint32_t verb);

/* ---- padding ---- */

static void pad(struct format *f, int n)
{
        char c = f->zero && !f->minus ? '0' : ' ';
        for (int i = 0; i < n; i++)
                buf_append_char(f->b, c);
}

static int write_padded(struct format *f, struct slice s)
{
        int missing = f->has_width ? f->width - (int)rune_count(s) : 0;
        if (!f->minus)
                pad(f, missing);
        buf_append(f->b, s.data, s.len);
        if (f->minus)
                pad(f, missing);
        return f->b->failed;
}

static int write_padded_text(struct format *f, const char *text)
{
        return write_padded(f, slice_of(text));
}

static int write_padded_with_blanks(struct format *f, struct slice s)
{
        bool zero = f->zero;
        f->zero = false;
        write_padded(f, s);
        f->zero = zero;
        return f->b->failed;
}

/* ---- what does not fit ---- */

static int write_rune(struct format *f, uint32_t c)
{
        char text[4];
        return buf_append(f->b, text, rune_encode(c, text));
}

static int complain(struct format *f, uint32_t verb, const char *what)
{
        buf_append_str(f->b, "%!");
        write_rune(f, verb);
        return buf_append_str(f->b, what);
}

static int bad_verb(struct format *f, const struct value *v, uint32_t verb)
{
        complain(f, verb, "(");
        if (v->type == VALUE_NONE) {
                buf_append_str(f->b, "<nil>");
        } else {
                buf_append_str(f->b, value_type_name(v));
                buf_append_char(f->b, '=');
                TRY(print_argument(f, v, 'v'));
        }
        return buf_append_char(f->b, ')');
}

/* ---- integers ---- */

#define PREFIX_MAX 8

struct digits {
        char text[100];
        size_t begin; /* filled from the end */
};

static void put(struct digits *d, char c)
{
        d->text[--d->begin] = c;
}

/* How many digits at least: by precision, or by zeros up to the width. */
static int least_digits(const struct format *f, bool negative)
{
        if (f->has_precision)
                return f->precision;
        if (f->zero && !f->minus && f->has_width)
                return f->width - (negative || f->plus || f->space);
        return 0;
}

static void put_prefix(struct digits *d, const struct format *f, uint32_t verb, unsigned base, char x)
{
        if (f->sharp && base == 2) {
                put(d, 'b');
                put(d, '0');
        } else if (f->sharp && base == 8 && d->text[d->begin] != '0') {
                put(d, '0');
        } else if (f->sharp && base == 16) {
                put(d, x);
                put(d, '0');
        }
        if (verb == 'O') {
                put(d, 'o');
                put(d, '0');
        }
}

/* More digits than fit the table stand in front of it. */
static int write_number(struct format *f, const struct digits *d, char sign, size_t prefix, int zeros)
{
        const char *begin = d->text + d->begin;
        size_t n = sizeof(d->text) - d->begin;
        int missing = f->has_width ? f->width - (int)n - zeros - !!sign : 0;
        for (int i = 0; i < missing && !f->minus; i++)
                buf_append_char(f->b, ' ');
        if (sign)
                buf_append_char(f->b, sign);
        buf_append(f->b, begin, prefix);
        for (int i = 0; i < zeros; i++)
                buf_append_char(f->b, '0');
        buf_append(f->b, begin + prefix, n - prefix);
        for (int i = 0; i < missing && f->minus; i++)
                buf_append_char(f->b, ' ');
        return f->b->failed;
}

static int write_integer(struct format *f, int64_t value, unsigned base, uint32_t verb)
{
        const char *alphabet = verb == 'X' ? "0123456789ABCDEFX" : "0123456789abcdefx";
        bool negative = value < 0;
        uint64_t u = negative ? 0 - (uint64_t)value : (uint64_t)value;
        int least = least_digits(f, negative);
        struct digits d = { .begin = sizeof(d.text) };
        if (f->has_precision && !least && !u) {
                for (int i = 0; f->has_width && i < f->width; i++)
                        buf_append_char(f->b, ' ');
                return f->b->failed;
        }
        do
                put(&d, alphabet[u % base]);
        while ((u /= base));
        while (sizeof(d.text) - d.begin < (size_t)MAX(least, 0) && d.begin > PREFIX_MAX)
                put(&d, '0');
        int zeros = MAX(least - (int)(sizeof(d.text) - d.begin), 0);
        size_t begin = d.begin;
        put_prefix(&d, f, verb, base, alphabet[16]);
        return write_number(f, &d,
                            negative   ? '-'
                            : f->plus  ? '+'
                            : f->space ? ' '
                                       : 0,
                            begin - d.begin, zeros);
}

static int write_unicode(struct format *f, int64_t value)
{
        AUTO_BUF struct buf b;
        uint64_t u = (uint64_t)value;
        buf_init(&b, LARGEST_WIDTH + 100);
        buf_printf(&b, "U+%0*llX", f->has_precision ? MAX(f->precision, 4) : 4, (unsigned long long)u);
        if (f->sharp && u <= 0x10ffff && rune_is_print((uint32_t)u)) {
                char text[4];
                buf_append_str(&b, " '");
                buf_append(&b, text, rune_encode((uint32_t)u, text));
                buf_append_char(&b, '\'');
        }
        if (b.failed)
                return f->b->failed = b.failed;
        return write_padded_with_blanks(f, (struct slice){ b.data, b.len });
}

static uint32_t rune_of(int64_t value)
{
        return value < 0 || value > 0x10ffff ? RUNE_ERROR : (uint32_t)value;
}

static int write_character(struct format *f, int64_t value)
{
        char text[4];
        size_t n = rune_encode(rune_of(value), text);

        return write_padded(f, (struct slice){ text, n });
}

static int write_quoted_character(struct format *f, int64_t value)
{
        char text[64];
        struct buf b;
        buf_init(&b, sizeof(text));
        write_quoted_rune(&b, rune_of(value), f->plus ? QUOTE_ASCII : QUOTE_PLAIN);
        int code = b.failed ? (f->b->failed = b.failed) : write_padded(f, (struct slice){ b.data, b.len });
        buf_free(&b);
        return code;
}

static int print_integer(struct format *f, const struct value *v, uint32_t verb)
{
        switch (verb) {
        case 'v':
                if (f->sharp_v && v->type == VALUE_UINT8) {
                        bool sharp = f->sharp;
                        f->sharp = true;
                        write_integer(f, v->integer, 16, 'v');
                        f->sharp = sharp;
                        return f->b->failed;
                }
                return write_integer(f, v->integer, 10, verb);
        case 'd':
                return write_integer(f, v->integer, 10, verb);
        case 'b':
                return write_integer(f, v->integer, 2, verb);
        case 'o':
        case 'O':
                return write_integer(f, v->integer, 8, verb);
        case 'x':
        case 'X':
                return write_integer(f, v->integer, 16, verb);
        case 'c':
                return write_character(f, v->integer);
        case 'q':
                return write_quoted_character(f, v->integer);
        case 'U':
                return write_unicode(f, v->integer);
        default:
                return bad_verb(f, v, verb);
        }
}

/* ---- reals ---- */

/* With #: the decimal point stays, and for %g the zeros up to `digits` significant ones. */
static void keep_point(struct buf *number, int digits, bool hexadecimal)
{
        char tail[16] = "";
        size_t end = number->len;
        bool point = false, nonzero = false;
        for (size_t i = 1; i < number->len; i++) {
                char c = number->data[i];
                if (c == '.') {
                        point = true;
                } else if (c == 'p' || c == 'P' || ((c == 'e' || c == 'E') && !hexadecimal)) {
                        snprintf(tail, sizeof(tail), "%s", number->data + i);
                        end = i;
                        break;
                } else {
                        nonzero |= c != '0';
                        digits -= nonzero;
                }
        }
        buf_truncate(number, end);
        if (!point) {
                digits -= number->len == 2 && number->data[1] == '0';
                buf_append_char(number, '.');
        }
        for (; digits > 0; digits--)
                buf_append_char(number, '0');
        buf_append_str(number, tail);
}

/* `number` has a sign always. */
static int write_signed(struct format *f, const struct buf *number)
{
        struct slice all = { number->data, number->len }, bare = { number->data + 1, number->len - 1 };
        if (!f->plus && number->data[0] == '+')
                return write_padded(f, bare);
        if (f->zero && !f->minus && f->has_width && f->width > (int)all.len) {
                buf_append_char(f->b, all.data[0]);
                pad(f, f->width - (int)all.len);
                return buf_append(f->b, bare.data, bare.len);
        }
        return write_padded(f, all);
}

/* Not padded with zeros: they do not look like numbers. */
static int write_no_number(struct format *f, double real)
{
        const char *text = isnan(real) ? "+NaN" : signbit(real) ? "-Inf" : "+Inf";
        if (f->space && !f->plus && text[0] == '+')
                text = isnan(real) ? " NaN" : " Inf";
        bool sign = text[0] != '+' || f->plus;
        return write_padded_with_blanks(f, slice_of(text + !sign));
}

static int write_real(struct format *f, double real, char verb, int precision)
{
        AUTO_BUF struct buf number;
        buf_init(&number, LARGEST_WIDTH + 2000);
        if (f->has_precision)
                precision = f->precision;
        if (isnan(real) || isinf(real))
                return write_no_number(f, real);
        buf_append_char(&number, signbit(real) ? '-' : '+');
        real_write(fabs(real), verb == 'v' ? 'g' : verb == 'F' ? 'f' : verb, precision, &number);
        if (f->sharp && verb != 'b') {
                int digits = !strchr("vgGx", verb) ? 0 : precision < 0 ? 6 : precision;
                keep_point(&number, digits, verb == 'x' || verb == 'X');
        }
        if (number.failed)
                return f->b->failed = number.failed;
        if (f->space && number.data[0] == '+' && !f->plus)
                number.data[0] = ' ';
        return write_signed(f, &number);
}

static int print_real(struct format *f, const struct value *v, uint32_t verb)
{
        switch (verb) {
        case 'v':
        case 'b':
        case 'g':
        case 'G':
        case 'x':
        case 'X':
                return write_real(f, v->real, (char)verb, -1);
        case 'e':
        case 'E':
        case 'f':
        case 'F':
                return write_real(f, v->real, (char)verb, 6);
        default:
                return bad_verb(f, v, verb);
        }
}

/* ---- strings ---- */

static struct slice truncated(const struct format *f, struct slice s)
{
        size_t n = 0, width;
        if (!f->has_precision)
                return s;
        for (int i = 0; i < f->precision && n < s.len; i++, n += width)
                rune_decode(s.data + n, s.len - n, &width);
        return (struct slice){ s.data, n };
}

static int write_quoted_text(struct format *f, struct slice s)
{
        AUTO_BUF struct buf b;
        s = truncated(f, s);
        buf_init(&b, LIMIT_TEMPLATE_MEMORY_BYTES);
        if (f->sharp && fits_backquotes(s)) {
                buf_append_char(&b, '`');
                buf_append(&b, s.data, s.len);
                buf_append_char(&b, '`');
        } else {
                write_quoted(&b, s, f->plus ? QUOTE_ASCII : QUOTE_PLAIN);
        }
        if (b.failed)
                return f->b->failed = b.failed;
        return write_padded(f, (struct slice){ b.data, b.len });
}

static int write_hex_text(struct format *f, struct slice s, bool upper)
{
        const char *digits = upper ? "0123456789ABCDEF" : "0123456789abcdef", *x = upper ? "0X" : "0x";
        size_t n = f->has_precision ? MIN(s.len, (size_t)f->precision) : s.len;
        size_t width = 2 * n;
        if (n && f->space)
                width = width * (f->sharp ? 2 : 1) + n - 1;
        else if (n && f->sharp)
                width += 2;
        int missing = f->has_width ? f->width - (int)width : 0;
        if (!f->minus || !n)
                pad(f, missing);
        if (f->sharp && n)
                buf_append_str(f->b, x);
        for (size_t i = 0; i < n; i++) {
                unsigned char c = (unsigned char)s.data[i];
                if (f->space && i) {
                        buf_append_char(f->b, ' ');
                        buf_append_str(f->b, f->sharp ? x : "");
                }
                buf_append_char(f->b, digits[c >> 4]);
                buf_append_char(f->b, digits[c & 15]);
        }
        if (f->minus && n)
                pad(f, missing);
        return f->b->failed;
}

static int print_text(struct format *f, const struct value *v, uint32_t verb)
{
        switch (verb) {
        case 'v':
                return f->sharp_v ? write_quoted_text(f, v->string)
                                  : write_padded(f, truncated(f, v->string));
        case 's':
                return write_padded(f, truncated(f, v->string));
        case 'q':
                return write_quoted_text(f, v->string);
        case 'x':
        case 'X':
                return write_hex_text(f, v->string, verb == 'X');
        default:
                return bad_verb(f, v, verb);
        }
}

/* ---- containers ---- */

static int print_inner(struct format *f, const struct value *v, uint32_t verb)
{
        if (v->type != VALUE_NONE)
                return print_argument(f, v, verb);
        return buf_append_str(f->b, f->sharp_v ? "interface {}(nil)" : "<nil>");
}

static int print_list(struct format *f, const struct value *v, uint32_t verb)
{
        struct sequence *list = v->list;
        TRY(list_load(f->run, list));
        buf_append_str(f->b, f->sharp_v ? value_type_name(v) : "");
        if (f->sharp_v && list->absent)
                return buf_append_str(f->b, "(nil)");
        buf_append_char(f->b, f->sharp_v ? '{' : '[');
        for (size_t i = 0; i < list->n; i++) {
                buf_append_str(f->b, !i ? "" : f->sharp_v ? ", " : " ");
                TRY(print_inner(f, &list->at[i], verb));
        }
        return buf_append_char(f->b, f->sharp_v ? '}' : ']');
}

static int print_map(struct format *f, const struct value *v, uint32_t verb)
{
        struct dict *dict = v->map;
        TRY(dict_load(f->run, dict));
        buf_append_str(f->b, f->sharp_v ? value_type_name(v) : "map");
        if (f->sharp_v && dict->absent)
                return buf_append_str(f->b, "(nil)");
        buf_append_char(f->b, f->sharp_v ? '{' : '[');
        for (size_t i = 0; i < dict->n; i++) {
                struct value key = value_string(dict->at[i].key);
                buf_append_str(f->b, !i ? "" : f->sharp_v ? ", " : " ");
                TRY(print_argument(f, &key, verb));
                buf_append_char(f->b, ':');
                TRY(print_inner(f, &dict->at[i].value, verb));
        }
        return buf_append_char(f->b, f->sharp_v ? '}' : ']');
}

static int print_container(struct format *f, const struct value *v, uint32_t verb)
{
        if (f->run->nesting >= LIMIT_TEMPLATE_CALLS)
                return run_limit(f->run, "nested deeper than %d levels", LIMIT_TEMPLATE_CALLS);
        f->run->nesting++;
        int code = value_is_list(v) ? print_list(f, v, verb) : print_map(f, v, verb);
        f->run->nesting--;
        return code;
}

static int print_argument(struct format *f, const struct value *v, uint32_t verb)
{
        TRY(run_spend(f->run, 1));
        if (v->type == VALUE_STRING)
                TRY(run_spend_bytes(f->run, v->string.len));
        if (verb == 'T')
                return write_padded(f, truncated(f, slice_of(value_type_name(v))));
        switch (v->type) {
        case VALUE_NONE:
                return verb == 'v' ? write_padded_text(f, "<nil>") : bad_verb(f, v, verb);
        case VALUE_BOOL:
                if (verb != 't' && verb != 'v')
                        return bad_verb(f, v, verb);
                return write_padded_text(f, v->truth ? "true" : "false");
        case VALUE_INT:
        case VALUE_INT64:
        case VALUE_UINT8:
                return print_integer(f, v, verb);
        case VALUE_FLOAT64:
                return print_real(f, v, verb);
        case VALUE_STRING:
                return print_text(f, v, verb);
        default:
                return print_container(f, v, verb);
        }
}

/* ---- the format's text ---- */

static int ahead(const struct format *f)
{
        return f->at < f->text.len ? (unsigned char)f->text.data[f->at] : -1;
}

/* Digits up to `end`. False: none, or a number that is too large, behind which nothing is read. */
static bool read_number(struct format *f, size_t end, int *ret)
{
        bool any = false;
        for (*ret = 0; f->at < end && ahead(f) >= '0' && ahead(f) <= '9'; f->at++, any = true) {
                if (*ret > LARGEST_WIDTH) {
                        *ret = 0;
                        f->at = end;
                        return false;
                }
                *ret = *ret * 10 + ahead(f) - '0';
        }
        return any;
}

/* [n]: which argument comes next. */
static bool read_index(struct format *f)
{
        if (ahead(f) != '[')
                return false;
        size_t left = f->text.len - f->at, open = f->at;
        const char *close = left < 3 ? NULL : memchr(f->text.data + f->at + 1, ']', left - 1);
        f->reordered = true;
        if (!close) {
                f->at++;
                f->good_index = false;
                return false;
        }
        int index;
        size_t end = (size_t)(close - f->text.data);
        f->at = open + 1;
        bool number = read_number(f, end, &index) && f->at == end;
        f->at = end + 1;
        if (number && index >= 1 && (size_t)index <= f->n_args)
                f->arg = (size_t)index - 1;
        else
                f->good_index = false;
        return number;
}

/* * as width or precision: an argument that is a number. */
static bool argument_number(struct format *f, int *ret)
{
        *ret = 0;
        if (f->arg >= f->n_args)
                return false;
        const struct value *v = &f->args[f->arg++];
        if (!value_is_integer(v) || v->integer > LARGEST_WIDTH || v->integer < -LARGEST_WIDTH)
                return false;
        *ret = (int)v->integer;
        return true;
}

static void read_flags(struct format *f)
{
        f->plus = f->minus = f->sharp = f->space = f->zero = f->plus_v = f->sharp_v = false;
        f->has_width = f->has_precision = false;
        f->width = f->precision = 0;
        for (;; f->at++)
                switch (ahead(f)) {
                case '#':
                        f->sharp = true;
                        break;
                case '0':
                        f->zero = true;
                        break;
                case '+':
                        f->plus = true;
                        break;
                case '-':
                        f->minus = true;
                        break;
                case ' ':
                        f->space = true;
                        break;
                default:
                        return;
                }
}

static void read_width(struct format *f, bool *after_index)
{
        if (ahead(f) == '*') {
                f->at++;
                f->has_width = argument_number(f, &f->width);
                if (!f->has_width)
                        buf_append_str(f->b, "%!(BADWIDTH)");
                if (f->width < 0) {
                        f->width = -f->width;
                        f->minus = true;
                        f->zero = false;
                }
                *after_index = false;
                return;
        }
        f->has_width = read_number(f, f->text.len, &f->width);
        if (*after_index && f->has_width)
                f->good_index = false;
}

static void read_precision(struct format *f, bool *after_index)
{
        if (ahead(f) != '.')
                return;
        f->at++;
        if (*after_index)
                f->good_index = false;
        *after_index = read_index(f);
        if (ahead(f) == '*') {
                f->at++;
                f->has_precision = argument_number(f, &f->precision);
                if (f->precision < 0) {
                        f->precision = 0;
                        f->has_precision = false;
                }
                if (!f->has_precision)
                        buf_append_str(f->b, "%!(BADPREC)");
                *after_index = false;
                return;
        }
        f->has_precision = true;
        if (!read_number(f, f->text.len, &f->precision))
                f->precision = 0;
}

static int print_verb(struct format *f, uint32_t verb)
{
        if (verb == '%')
                return buf_append_char(f->b, '%');
        if (!f->good_index)
                return complain(f, verb, "(BADINDEX)");
        if (f->arg >= f->n_args)
                return complain(f, verb, "(MISSING)");
        if (verb == 'v') {
                f->sharp_v = f->sharp;
                f->plus_v = f->plus;
                f->sharp = f->plus = false;
        }
        return print_argument(f, &f->args[f->arg++], verb);
}

/* Behind a percent sign. */
static int print_directive(struct format *f)
{
        f->good_index = true;
        read_flags(f);
        bool after_index = read_index(f);
        read_width(f, &after_index);
        read_precision(f, &after_index);
        if (!after_index)
                read_index(f);
        if (ahead(f) < 0)
                return buf_append_str(f->b, "%!(NOVERB)");
        size_t width;
        uint32_t verb = rune_decode(f->text.data + f->at, f->text.len - f->at, &width);
        f->at += width;
        return print_verb(f, verb);
}

static int print_extra(struct format *f)
{
        f->plus = f->minus = f->sharp = f->space = f->zero = f->has_width = f->has_precision = false;
        f->sharp_v = f->plus_v = false;
        buf_append_str(f->b, "%!(EXTRA ");
        for (size_t i = f->arg; i < f->n_args; i++) {
                buf_append_str(f->b, i > f->arg ? ", " : "");
                buf_append_str(f->b, value_type_name(&f->args[i]));
                if (f->args[i].type == VALUE_NONE)
                        continue;
                buf_append_char(f->b, '=');
                TRY(print_argument(f, &f->args[i], 'v'));
        }
        return buf_append_char(f->b, ')');
}

static int print_all(struct format *f)
{
        while (f->at < f->text.len && !f->b->failed) {
                const char *from = f->text.data + f->at;
                const char *percent = memchr(from, '%', f->text.len - f->at);
                size_t n = percent ? (size_t)(percent - from) : f->text.len - f->at;
                buf_append(f->b, from, n);
                f->at += n;
                if (!percent)
                        break;
                f->at++;
                TRY(run_spend(f->run, 1));
                TRY(print_directive(f));
        }
        return f->reordered || f->arg >= f->n_args ? 0 : print_extra(f);
}

int value_printf(struct run *run, struct slice format, const struct value *args, size_t n, struct buf *b)
{
        struct format f = { .run = run, .b = b, .text = format, .args = args, .n_args = n };
        int code = print_all(&f);
        return b->failed ? run_check_buf(run, b) : code;
}
