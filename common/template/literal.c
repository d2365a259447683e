/* Strings, characters and numbers as templates write them. */
#include <stdlib.h>

#include "common/template/tree.h"

/* ---- strings ---- */

static int hex_digit(char c)
{
        return c >= '0' && c <= '9'                     ? c - '0'
               : (c | 0x20) >= 'a' && (c | 0x20) <= 'f' ? (c | 0x20) - 'a' + 10
                                                        : -1;
}

/* `n` hexadecimal digits. */
static bool read_hex(struct slice *s, size_t n, uint32_t *ret)
{
        *ret = 0;
        if (s->len < n)
                return false;
        for (size_t i = 0; i < n; i++) {
                int digit = hex_digit(s->data[i]);
                if (digit < 0)
                        return false;
                *ret = *ret << 4 | (uint32_t)digit;
        }
        *s = (struct slice){ s->data + n, s->len - n };
        return true;
}

static bool read_octal(struct slice *s, char first, uint32_t *ret)
{
        *ret = (uint32_t)(first - '0');
        for (size_t i = 0; i < 2; i++) {
                if (i >= s->len || s->data[i] < '0' || s->data[i] > '7')
                        return false;
                *ret = *ret << 3 | (uint32_t)(s->data[i] - '0');
        }
        *s = (struct slice){ s->data + 2, s->len - 2 };
        return *ret <= 255;
}

/* Behind a backslash. *ret_is_byte: a byte of the string, not a character. */
static bool read_escape(struct slice *s, char quote, uint32_t *ret, bool *ret_is_byte)
{
        static const char letters[] = "abfnrtv\\", meanings[] = "\a\b\f\n\r\t\v\\";
        if (!s->len)
                return false;
        char c = s->data[0];
        *s = (struct slice){ s->data + 1, s->len - 1 };
        const char *letter = c ? strchr(letters, c) : NULL;
        *ret_is_byte = c == 'x' || (c >= '0' && c <= '7');
        if (letter) {
                *ret = (unsigned char)meanings[letter - letters];
                return true;
        }
        if (c == '\'' || c == '"') {
                *ret = (unsigned char)c;
                return c == quote;
        }
        if (c >= '0' && c <= '7')
                return read_octal(s, c, ret);
        if (c != 'x' && c != 'u' && c != 'U')
                return false;
        if (!read_hex(s, c == 'x' ? 2 : c == 'u' ? 4 : 8, ret))
                return false;
        return c == 'x' || (*ret <= 0x10ffff && (*ret < 0xd800 || *ret >= 0xe000));
}

/* One character of a literal, or one byte. */
static bool read_character(struct slice *s, char quote, uint32_t *ret, bool *ret_is_byte)
{
        size_t width;
        *ret_is_byte = false;
        if (!s->len || s->data[0] == quote)
                return false;
        if (s->data[0] == '\\') {
                *s = (struct slice){ s->data + 1, s->len - 1 };
                return read_escape(s, quote, ret, ret_is_byte);
        }
        *ret = rune_decode(s->data, s->len, &width);
        *s = (struct slice){ s->data + width, s->len - width };
        return true;
}

static struct slice raw_string(struct slice inner, char *at)
{
        size_t n = 0;
        for (size_t i = 0; i < inner.len; i++)
                if (inner.data[i] != '\r')
                        at[n++] = inner.data[i];
        return (struct slice){ at, n };
}

int literal_string(struct arena *arena, struct slice quoted, struct slice *ret)
{
        struct slice inner = { quoted.data + 1, quoted.len - 2 };
        char *at = arena_alloc(arena, 3 * inner.len + 4),
             *end = at; /* a byte that is no UTF-8 becomes three */
        if (!at)
                return ERR_NO_MEMORY;
        if (quoted.data[0] == '`') {
                *ret = raw_string(inner, at);
                return 0;
        }
        while (inner.len) {
                uint32_t c;
                bool is_byte;
                if (!read_character(&inner, '"', &c, &is_byte))
                        return ERR_INVALID;
                if (is_byte)
                        *end++ = (char)c;
                else
                        end += rune_encode(c, end);
        }
        *ret = (struct slice){ at, (size_t)(end - at) };
        return 0;
}

/* ---- numbers ---- */

static int character(struct slice text, struct node *ret, struct error *err)
{
        struct slice rest = { text.data + 1, text.len - 1 };
        uint32_t c;
        bool is_byte;
        if (!read_character(&rest, '\'', &c, &is_byte))
                return error_set(err, ERR_INVALID, "invalid syntax");
        if (rest.len != 1)
                return error_set(err, ERR_INVALID, "malformed character constant: %.*s", (int)text.len,
                                 text.data);
        ret->integer = c;
        ret->real = c;
        ret->is_int = ret->is_uint = true;
        return 0;
}

/* Underscores stand between digits, or between what tells the base and a digit. */
static bool underscores_are_right(struct slice s, bool has_base)
{
        char before = has_base ? '0' : 'x';
        for (size_t i = 0; i < s.len; i++) {
                char c = s.data[i];
                bool digit = hex_digit(c) >= 0;
                if (c == '_' && before != '0')
                        return false;
                if (before == '_' && !digit)
                        return false;
                before = digit ? '0' : c == '_' ? '_' : 'x';
        }
        return before != '_';
}

static unsigned base_of(struct slice *s)
{
        if (s->len < 2 || s->data[0] != '0')
                return 10;
        char c = (char)(s->data[1] | 0x20);
        unsigned base = c == 'x' ? 16 : c == 'o' ? 8 : c == 'b' ? 2 : 8;
        size_t n = c == 'x' || c == 'o' || c == 'b' ? 2 : 1;
        *s = (struct slice){ s->data + n, s->len - n };
        return base;
}

/* Digits with an optional base and underscores. False where it is no whole number or does not fit. */
static bool read_unsigned(struct slice s, uint64_t *ret)
{
        struct slice digits = s;
        unsigned base = base_of(&digits);
        bool any = digits.len < s.len && digits.data[-1] == '0';
        uint64_t value = 0;
        for (size_t i = 0; i < digits.len; i++) {
                int digit = hex_digit(digits.data[i]);
                if (digits.data[i] == '_')
                        continue;
                if (digit < 0 || (unsigned)digit >= base)
                        return false;
                if (__builtin_mul_overflow(value, base, &value) ||
                    __builtin_add_overflow(value, (uint64_t)digit, &value))
                        return false;
                any = true;
        }
        if (!any || !underscores_are_right(digits, digits.len < s.len))
                return false;
        *ret = value;
        return true;
}

bool literal_real(struct slice s, double *ret)
{
        char text[400], *end;
        size_t n = 0;
        bool hexadecimal = s.len > 1 && s.data[0] == '0' && (s.data[1] | 0x20) == 'x';
        if (s.len >= sizeof(text) || !underscores_are_right(s, false))
                return false;
        for (size_t i = 0; i < s.len; i++)
                if (s.data[i] != '_')
                        text[n++] = s.data[i];
        text[n] = '\0';
        if (hexadecimal && !strpbrk(text, "pP"))
                return false;
        *ret = strtod(text, &end);
        return n > 0 && (text[0] == '.' || (text[0] >= '0' && text[0] <= '9')) && end == text + n &&
               *ret <= 1.7976931348623157e308;
}

static bool has_any(struct slice s, const char *set)
{
        for (size_t i = 0; i < s.len; i++)
                if (strchr(set, s.data[i]))
                        return true;
        return false;
}

static void set_real(struct node *n, double real)
{
        n->real = real;
        n->is_float = true;
        if (n->is_int || !(real >= -9223372036854775808.0 && real < 9223372036854775808.0))
                return;
        n->is_int = real == (double)(int64_t)real;
        n->integer = (int64_t)real;
}

int literal_number(struct slice text, bool is_character, struct node *ret, struct error *err)
{
        if (is_character)
                return character(text, ret, err);
        bool negative = text.data[0] == '-', sign = negative || text.data[0] == '+';
        struct slice digits = { text.data + sign, text.len - sign };
        uint64_t u = 0;
        double real;
        if (read_unsigned(digits, &u)) {
                ret->is_uint = !sign || (u == 0 && !negative);
                ret->is_int = negative ? u <= (uint64_t)1 << 63 : u <= INT64_MAX;
                ret->integer = negative ? (int64_t)(0 - u) : (int64_t)u;
                ret->real = negative ? -(double)u : (double)u;
        }
        if (ret->is_int || ret->is_uint)
                return 0;
        if (!literal_real(digits, &real))
                return error_set(err, ERR_INVALID, "illegal number syntax: \"%.*s\"", (int)text.len,
                                 text.data);
        if (!has_any(text, ".eEpP"))
                return error_set(err, ERR_INVALID, "integer overflow: \"%.*s\"", (int)text.len, text.data);
        set_real(ret, negative ? -real : real);
        return 0;
}
