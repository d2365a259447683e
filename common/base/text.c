#include "common/base/text.h"

#include <stdio.h>

struct slice slice_of(const char *s)
{
        return s ? (struct slice){ s, strlen(s) } : (struct slice){ "", 0 };
}

bool slice_equal(struct slice a, struct slice b)
{
        return a.len == b.len && (a.len == 0 || memcmp(a.data, b.data, a.len) == 0);
}

bool slice_is(struct slice a, const char *s)
{
        return slice_equal(a, slice_of(s));
}

int slice_compare(struct slice a, struct slice b)
{
        size_t n = MIN(a.len, b.len);
        int order = n ? memcmp(a.data, b.data, n) : 0;
        if (order)
                return order;
        return a.len < b.len ? -1 : a.len > b.len;
}

bool slice_starts_with(struct slice a, const char *prefix)
{
        size_t n = strlen(prefix);
        return a.len >= n && (n == 0 || memcmp(a.data, prefix, n) == 0);
}

bool slice_cut(struct slice *rest, char sep, struct slice *ret_head)
{
        const char *at = rest->len ? memchr(rest->data, sep, rest->len) : NULL;
        *ret_head = *rest;
        if (!at) {
                *rest = SLICE("");
                return false;
        }
        ret_head->len = (size_t)(at - rest->data);
        rest->data += ret_head->len + 1;
        rest->len -= ret_head->len + 1;
        return true;
}

static bool is_space(char c)
{
        return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

struct slice slice_trim(struct slice a)
{
        while (a.len && is_space(a.data[0]))
                a.data++, a.len--;
        while (a.len && is_space(a.data[a.len - 1]))
                a.len--;
        return a;
}

bool text_equal(const char *a, const char *b)
{
        return a == b || (a && b && strcmp(a, b) == 0);
}

const char *or_empty(const char *s)
{
        return s ? s : "";
}

bool text_empty(const char *s)
{
        return !s || !*s;
}

bool text_starts_with(const char *s, const char *prefix)
{
        return slice_starts_with(slice_of(s), prefix);
}

bool text_ends_with(const char *s, const char *suffix)
{
        size_t n = strlen(s), m = strlen(suffix);
        return n >= m && memcmp(s + n - m, suffix, m) == 0;
}

bool text_in(const char *s, const char *const *list, size_t n)
{
        for (size_t i = 0; i < n; i++) {
                if (text_equal(s, list[i]))
                        return true;
        }
        return false;
}

static bool parse_digits(struct slice s, uint64_t *ret)
{
        uint64_t v = 0;
        for (size_t i = 0; i < s.len; i++) {
                if (s.data[i] < '0' || s.data[i] > '9')
                        return false;
                if (__builtin_mul_overflow(v, (uint64_t)10, &v) ||
                    __builtin_add_overflow(v, (uint64_t)(s.data[i] - '0'), &v))
                        return false;
        }
        *ret = v;
        return s.len > 0;
}

bool slice_parse_i64(struct slice s, int64_t *ret)
{
        bool minus = s.len && s.data[0] == '-';
        if (s.len && (s.data[0] == '-' || s.data[0] == '+'))
                s.data++, s.len--;
        uint64_t v;
        if (!parse_digits(s, &v) || v > (uint64_t)INT64_MAX + minus)
                return false;
        *ret = minus ? (int64_t)(0 - v) : (int64_t)v;
        return true;
}

size_t text_shorten(const char *text, char *ret, size_t size)
{
        static const char mark[] = " ... ";
        size_t n = strlen(text), room = size - sizeof(mark), head = room / 2, tail = n - (room - head);

        if (n < size) {
                memmove(ret, text, n + 1);
                return n;
        }
        while (head > 0 && ((unsigned char)text[head] & 0xc0) == 0x80)
                head--;
        while (((unsigned char)text[tail] & 0xc0) == 0x80)
                tail++;
        memmove(ret + head + sizeof(mark) - 1, text + tail, n - tail + 1);
        memmove(ret, text, head);
        memcpy(ret + head, mark, sizeof(mark) - 1);
        return head + sizeof(mark) - 1 + n - tail;
}

bool text_parse_i64(const char *s, int64_t *ret)
{
        return slice_parse_i64(slice_of(s), ret);
}

bool text_parse_u64(const char *s, uint64_t *ret)
{
        return parse_digits(slice_of(s), ret);
}

/* The well-formed sequences of the Unicode standard, table 3-7: no surrogates, nothing over-long. */
size_t text_utf8_length(const char *s, size_t n)
{
        const unsigned char *p = (const unsigned char *)s;
        if (n == 0)
                return 0;
        if (p[0] < 0x80)
                return 1;
        size_t len = p[0] < 0xe0 ? 2 : p[0] < 0xf0 ? 3 : 4;
        if (p[0] < 0xc2 || p[0] > 0xf4 || n < len)
                return 0;
        unsigned char least = p[0] == 0xe0 ? 0xa0 : p[0] == 0xf0 ? 0x90 : 0x80;
        unsigned char most = p[0] == 0xed ? 0x9f : p[0] == 0xf4 ? 0x8f : 0xbf;
        if (p[1] < least || p[1] > most)
                return 0;
        for (size_t i = 2; i < len; i++) {
                if ((p[i] & 0xc0) != 0x80)
                        return 0;
        }
        return len;
}

bool text_is_utf8(const char *s, size_t n)
{
        for (size_t i = 0; i < n;) {
                size_t len = text_utf8_length(s + i, n - i);
                if (!len)
                        return false;
                i += len;
        }
        return true;
}

size_t text_utf8_cut(const char *s, size_t max)
{
        size_t n = strlen(s), at = 0;
        while (at < n) {
                size_t len = text_utf8_length(s + at, n - at);
                if (len == 0 || at + len > max)
                        break;
                at += len;
        }
        return at;
}

static bool is_lower_alnum(char c)
{
        return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

static bool is_alnum(char c)
{
        return is_lower_alnum(c) || (c >= 'A' && c <= 'Z');
}

static bool slice_is_dns1123_label(struct slice s)
{
        if (s.len == 0 || !is_lower_alnum(s.data[0]) || !is_lower_alnum(s.data[s.len - 1]))
                return false;
        for (size_t i = 0; i < s.len; i++) {
                if (!is_lower_alnum(s.data[i]) && s.data[i] != '-')
                        return false;
        }
        return true;
}

bool text_is_dns1123_label(const char *s)
{
        struct slice all = slice_of(s);
        return all.len <= 63 && slice_is_dns1123_label(all);
}

/* As Kubernetes: only the whole has a maximum, not each part. */
static bool slice_is_dns1123_subdomain(struct slice rest)
{
        struct slice part;
        bool more;
        if (rest.len > 253)
                return false;
        do {
                more = slice_cut(&rest, '.', &part);
                if (!slice_is_dns1123_label(part))
                        return false;
        } while (more);
        return true;
}

bool text_is_dns1123_subdomain(const char *s)
{
        return slice_is_dns1123_subdomain(slice_of(s));
}

static bool is_qualified_part(struct slice s)
{
        if (s.len == 0 || s.len > 63 || !is_alnum(s.data[0]) || !is_alnum(s.data[s.len - 1]))
                return false;
        for (size_t i = 0; i < s.len; i++) {
                char c = s.data[i];
                if (!is_alnum(c) && c != '-' && c != '_' && c != '.')
                        return false;
        }
        return true;
}

bool text_is_label_key(const char *s)
{
        struct slice rest = slice_of(s), prefix;
        if (!slice_cut(&rest, '/', &prefix))
                return is_qualified_part(prefix);
        return slice_is_dns1123_subdomain(prefix) && is_qualified_part(rest);
}

bool text_is_label_value(const char *s)
{
        return text_empty(s) || is_qualified_part(slice_of(s));
}

void text_of_bytes(uint64_t n, char ret[TEXT_BYTES_SIZE])
{
        static const char *const units[] = { "B", "kB", "MB", "GB", "TB", "PB", "EB" };
        double size = (double)n;
        size_t i = 0;

        for (; size >= 1000 && i + 1 < ARRAY_LEN(units); i++)
                size /= 1000;
        (void)snprintf(ret, TEXT_BYTES_SIZE, "%.4g%s", size, units[i]);
}
