#include "common/base/buf.h"

#include <stdarg.h>

#include "common/base/digits.h"
#include "common/base/memory.h"
#include "common/base/text.h"

#define DOUBLING_BELOW (64u << 10)

static char empty[1] = "";

void buf_init(struct buf *b, size_t max)
{
        *b = (struct buf){ .data = empty, .max = max };
}

void buf_free(struct buf *b)
{
        if (b->cap)
                mem_free(b->data);
        buf_init(b, b->max);
}

void buf_truncate(struct buf *b, size_t len)
{
        ASSERT(len <= b->len);
        b->len = len;
        if (b->cap)
                b->data[len] = '\0';
}

void buf_clear(struct buf *b)
{
        b->failed = 0;
        buf_truncate(b, 0);
}

int buf_reserve(struct buf *b, size_t extra)
{
        if (b->failed)
                return b->failed;
        if (b->len > b->max || extra > b->max - b->len)
                return b->failed = ERR_LIMIT;
        size_t need = b->len + extra + 1;
        if (need <= b->cap)
                return 0;
        size_t cap = MAX(b->cap < DOUBLING_BELOW ? 2 * b->cap : b->cap + b->cap / 2, 64u);
        cap = MAX(MIN(cap, b->max + 1), need);
        char *data = mem_realloc(b->cap ? b->data : NULL, cap);
        if (!data)
                return b->failed = ERR_NO_MEMORY;
        data[b->len] = '\0';
        b->data = data;
        b->cap = cap;
        return 0;
}

/* cap never exceeds max + 1, so what fits is within the limit too. */
static bool has_room(const struct buf *b, size_t n)
{
        return !b->failed && n < b->cap - b->len;
}

int buf_append(struct buf *b, const void *data, size_t n)
{
        if (!has_room(b, n))
                TRY(buf_reserve(b, n));
        if (!n)
                return 0;
        memcpy(b->data + b->len, data, n);
        b->len += n;
        b->data[b->len] = '\0';
        return 0;
}

int buf_append_str(struct buf *b, const char *s)
{
        return buf_append(b, s, strlen(s));
}

int buf_append_char_slowly(struct buf *b, char c)
{
        return buf_append(b, &c, 1);
}

int buf_append_int(struct buf *b, int64_t value)
{
        char digits[24], *end = digits + sizeof(digits), *p = digits_signed(end, value);

        return buf_append(b, p, (size_t)(end - p));
}

int buf_append_uint(struct buf *b, uint64_t value)
{
        char digits[24], *end = digits + sizeof(digits), *p = digits_unsigned(end, value);

        return buf_append(b, p, (size_t)(end - p));
}

int buf_printf(struct buf *b, const char *fmt, ...)
{
        va_list args, again;
        va_start(args, fmt);
        va_copy(again, args);
        size_t room = b->cap ? b->cap - b->len : 0;
        int n = vsnprintf(room ? b->data + b->len : NULL, room, fmt, args);
        int code = b->failed;
        if (n < 0)
                code = b->failed = ERR_INTERNAL;
        else if (!code)
                code = buf_reserve(b, (size_t)n);
        if (code == 0) {
                if ((size_t)n >= room)
                        vsnprintf(b->data + b->len, (size_t)n + 1, fmt, again);
                b->len += (size_t)n;
        } else if (room) {
                b->data[b->len] = '\0';
        }
        va_end(again);
        va_end(args);
        return code;
}

static int append_escape(struct buf *b, unsigned char c)
{
        static const char short_form[] = "\bb\ff\nn\rr\tt\"\"\\\\";
        for (size_t i = 0; i + 1 < sizeof(short_form); i += 2) {
                if (short_form[i] == (char)c) {
                        char two[2] = { '\\', short_form[i + 1] };
                        return buf_append(b, two, 2);
                }
        }
        return buf_printf(b, "\\u%04x", c);
}

/* Whether one of eight bytes is special: below 0x20, '"', '\\' or above 0x7f. The subtractions may also flag
 * a byte above a special one, which is none the less there. */
static bool has_special(uint64_t v)
{
        const uint64_t ones = UINT64_C(0x0101010101010101), high = ones << 7;
        uint64_t quote = v ^ (ones * '"'), slash = v ^ (ones * '\\');
        return ((v | (v - ones * 0x20) | (quote - ones) | (slash - ones)) & high) != 0;
}

static uint64_t eight_of(const char *s)
{
        uint64_t v;
        memcpy(&v, s, sizeof(v));
        return v;
}

/* Of fewer than eight: spaces behind them. */
static uint64_t padded(const char *s, size_t n)
{
        uint64_t v = UINT64_C(0x2020202020202020);
        if (n)
                memcpy(&v, s, n);
        return v;
}

/* All bytes stand for themselves: eight at a time, the last eight of more than those once more. */
static bool is_plain(const char *s, size_t n)
{
        size_t i = 0;
        if (n < 8)
                return !has_special(padded(s, n));
        for (; n - i >= 8; i += 8)
                if (has_special(eight_of(s + i)))
                        return false;
        return !has_special(eight_of(s + n - 8));
}

/* How many bytes at the front stand for themselves. */
static size_t plain_length(const char *s, size_t n)
{
        size_t i = 0;
        while (n - i >= 8 && !has_special(eight_of(s + i)))
                i += 8;
        while (i < n && (unsigned char)s[i] >= 0x20 && (unsigned char)s[i] < 0x80 && s[i] != '"' &&
               s[i] != '\\')
                i++;
        return i;
}

static void append_quoted(struct buf *b, const char *s, size_t n)
{
        char *at = b->data + b->len;
        at[0] = '"';
        if (n)
                memcpy(at + 1, s, n);
        at[n + 1] = '"';
        at[n + 2] = '\0';
        b->len += n + 2;
}

int buf_append_json_string(struct buf *b, const char *s, size_t n)
{
        if (!has_room(b, n + 2))
                TRY(buf_reserve(b, n + 2));
        if (is_plain(s, n)) {
                append_quoted(b, s, n);
                return 0;
        }
        TRY(buf_append_char(b, '"'));
        size_t start = 0, i = plain_length(s, n);
        while (i < n) {
                unsigned char c = (unsigned char)s[i];
                size_t len = c < 0x80 ? 1 : text_utf8_length(s + i, n - i);
                if (len && c >= 0x20 && c != '"' && c != '\\') {
                        i += len;
                        continue;
                }
                TRY(buf_append(b, s + start, i - start));
                TRY(len ? append_escape(b, c) : buf_append(b, "\xef\xbf\xbd", 3));
                start = ++i;
        }
        TRY(buf_append(b, s + start, n - start));
        return buf_append_char(b, '"');
}

void buf_consume(struct buf *b, size_t n)
{
        ASSERT(n <= b->len);
        if (!n)
                return;
        b->len -= n;
        memmove(b->data, b->data + n, b->len + 1);
}

int buf_status(const struct buf *b, struct error *err, const char *what)
{
        if (b->failed == ERR_LIMIT)
                return error_set(err, ERR_LIMIT, "%s is longer than %zu bytes", what, b->max);
        if (b->failed == ERR_NO_MEMORY)
                return error_no_memory(err);
        if (b->failed)
                return error_set(err, b->failed, "%s could not be formatted", what);
        return 0;
}

char *buf_take(struct buf *b, size_t *ret_len)
{
        if (b->failed || (!b->cap && buf_reserve(b, 0) < 0))
                return NULL;
        char *data = b->data;
        if (ret_len)
                *ret_len = b->len;
        buf_init(b, b->max);
        return data;
}
