/* Characters: UTF-8, Go's classes and cases, and Go's quoting. */
#include "common/base/unicode.h"

struct range {
        uint32_t low, high;
};

struct mapped {
        uint32_t low, high, step;
        int32_t by;
};

#include "common/base/gen/unicode_tables.h"

uint32_t rune_decode_any(const char *s, size_t n, size_t *ret_width)
{
        *ret_width = n > 0;
        if (!n)
                return RUNE_ERROR;
        const unsigned char *u = (const unsigned char *)s;
        if (u[0] < 0x80)
                return u[0];
        size_t width = text_utf8_length(s, n);
        if (!width)
                return RUNE_ERROR;
        uint32_t c = u[0] & (0xffu >> (width + 1));
        for (size_t i = 1; i < width; i++)
                c = c << 6 | (u[i] & 0x3fu);
        *ret_width = width;
        return c;
}

size_t rune_encode(uint32_t c, char ret[4])
{
        unsigned char *u = (unsigned char *)ret;
        if (c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
                c = RUNE_ERROR;
        if (c < 0x80) {
                u[0] = (unsigned char)c;
                return 1;
        }
        size_t n = c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
        for (size_t i = n - 1; i > 0; i--, c >>= 6)
                u[i] = (unsigned char)(0x80 | (c & 0x3f));
        u[0] = (unsigned char)((0xf00u >> n) | c);
        return n;
}

size_t rune_count(struct slice s)
{
        size_t n = 0, width;
        for (size_t at = 0; at < s.len; at += width, n++)
                rune_decode(s.data + at, s.len - at, &width);
        return n;
}

_Static_assert(offsetof(struct mapped, low) == offsetof(struct range, low) &&
                       offsetof(struct mapped, high) == offsetof(struct range, high),
               "both kinds of rows begin with a range");

/* The first of n rows of `size` bytes whose range does not end before c; n = none. */
static size_t find_range(const void *at, size_t size, size_t n, uint32_t c)
{
        size_t low = 0, high = n;
        while (low < high) {
                size_t middle = (low + high) / 2;
                struct range r;
                memcpy(&r, (const char *)at + middle * size, sizeof(r));
                if (c > r.high)
                        low = middle + 1;
                else
                        high = middle;
        }
        return low;
}

static bool in_ranges(const struct range *at, size_t n, uint32_t c)
{
        size_t i = find_range(at, sizeof(*at), n, c);
        return i < n && c >= at[i].low;
}

/* Where the table says nothing of c, it becomes `other`. */
static uint32_t map_rune(const struct mapped *at, size_t n, uint32_t c, uint32_t other)
{
        size_t i = find_range(at, sizeof(*at), n, c);
        if (i == n || c < at[i].low || (c - at[i].low) % at[i].step)
                return other;
        return (uint32_t)((int32_t)c + at[i].by);
}

static bool is_ascii_letter(uint32_t c)
{
        return c < 0x80 && (c | 0x20) >= 'a' && (c | 0x20) <= 'z';
}

bool rune_is_letter(uint32_t c)
{
        return c < 0x80 ? is_ascii_letter(c) : in_ranges(letters, ARRAY_LEN(letters), c);
}

bool rune_is_digit(uint32_t c)
{
        return c < 0x80 ? c >= '0' && c <= '9' : in_ranges(digits, ARRAY_LEN(digits), c);
}

bool rune_is_print(uint32_t c)
{
        return c < 0x80 ? c >= 0x20 && c < 0x7f : in_ranges(printable, ARRAY_LEN(printable), c);
}

bool rune_is_space(uint32_t c)
{
        if (c < 0x80)
                return c == ' ' || (c >= '\t' && c <= '\r');
        return c == 0x85 || c == 0xa0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200a) || c == 0x2028 ||
               c == 0x2029 || c == 0x202f || c == 0x205f || c == 0x3000;
}

uint32_t rune_upper(uint32_t c)
{
        if (c < 0x80)
                return c >= 'a' && c <= 'z' ? c - 32 : c;
        return map_rune(upper, ARRAY_LEN(upper), c, c);
}

uint32_t rune_lower(uint32_t c)
{
        if (c < 0x80)
                return c >= 'A' && c <= 'Z' ? c + 32 : c;
        return map_rune(lower, ARRAY_LEN(lower), c, c);
}

uint32_t rune_title(uint32_t c)
{
        return map_rune(title, ARRAY_LEN(title), c, rune_upper(c));
}

/* ---- quoting ---- */

static int write_escape(struct buf *b, uint32_t c)
{
        static const char short_form[] = "\aa\bb\ff\nn\rr\tt\vv";
        for (size_t i = 0; i + 1 < sizeof(short_form); i += 2)
                if (c == (uint32_t)short_form[i])
                        return buf_printf(b, "\\%c", short_form[i + 1]);
        if (c < 0x20 || c == 0x7f)
                return buf_printf(b, "\\x%02x", c);
        return c < 0x10000 ? buf_printf(b, "\\u%04x", c) : buf_printf(b, "\\U%08x", c);
}

static int write_quoted_character(struct buf *b, uint32_t c, char quote, enum quoting how)
{
        char text[4];
        if (c == (uint32_t)quote || c == '\\')
                return buf_printf(b, "\\%c", (char)c);
        if (!rune_is_print(c) || (how == QUOTE_ASCII && c >= 0x80))
                return write_escape(b, c);
        return buf_append(b, text, rune_encode(c, text));
}

int write_quoted(struct buf *b, struct slice s, enum quoting how)
{
        size_t width;
        TRY(buf_append_char(b, '"'));
        for (size_t at = 0; at < s.len; at += width) {
                uint32_t c = rune_decode(s.data + at, s.len - at, &width);
                if (c == RUNE_ERROR && width == 1)
                        TRY(buf_printf(b, "\\x%02x", (unsigned char)s.data[at]));
                else
                        TRY(write_quoted_character(b, c, '"', how));
        }
        return buf_append_char(b, '"');
}

int write_quoted_rune(struct buf *b, uint32_t c, enum quoting how)
{
        if (c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
                c = RUNE_ERROR;
        TRY(buf_append_char(b, '\''));
        TRY(write_quoted_character(b, c, '\'', how));
        return buf_append_char(b, '\'');
}

bool fits_backquotes(struct slice s)
{
        size_t width;
        for (size_t at = 0; at < s.len; at += width) {
                uint32_t c = rune_decode(s.data + at, s.len - at, &width);
                if ((c == RUNE_ERROR && width == 1) || c == 0xfeff || (c < 0x20 && c != '\t') || c == '`' ||
                    c == 0x7f)
                        return false;
        }
        return true;
}
