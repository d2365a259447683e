/* The strings library: by characters, not bytes. And base64. */
#include "common/base/limits.h"
#include "common/json/cel_internal.h"
#include "common/json/schema_internal.h"

static int need_strings(struct cel_run *run, const struct cel_value *args, size_t n)
{
        for (size_t i = 0; i < n; i++) {
                if (args[i].kind != CEL_STRING)
                        return cel_no_overload(run);
                TRY(cel_spend(run, args[i].text.len / 10));
        }
        return 0;
}

static int need_position(struct cel_run *run, const struct cel_value *v, size_t most, size_t *ret)
{
        if (v->kind != CEL_INT)
                return cel_no_overload(run);
        if (v->integer < 0 || (uint64_t)v->integer > most)
                return cel_fail(run, "index out of range: %lld", (long long)v->integer);
        *ret = (size_t)v->integer;
        return 0;
}

static int take_text(struct cel_run *run, struct buf *b, struct cel_value *ret)
{
        const char *copy = b->failed ? NULL : arena_strndup(&run->arena, b->data, b->len);
        if (!copy)
                return b->failed == ERR_LIMIT ? cel_fail(run, "string too long") : cel_no_memory(run);
        *ret = cel_text(CEL_STRING, copy, b->len);
        return cel_spend(run, b->len / 10);
}

static int call_char_at(struct cel_run *run, const struct cel_value *args, size_t n, struct cel_value *ret)
{
        size_t at = 0;
        TRY(need_strings(run, args, 1));
        TRY(need_position(run, &args[1], cel_count_runes(args[0].text), &at));
        struct slice s = args[0].text;
        size_t begin = cel_rune_offset(s, at), end = cel_rune_offset(s, at + 1);
        *ret = cel_text(CEL_STRING, s.data + begin, end - begin);
        return 0;
}

static int call_index_of(struct cel_run *run, const struct cel_value *args, size_t n, struct cel_value *ret)
{
        struct slice s = args[0].text, wanted = args[1].text;
        size_t from = 0;
        TRY(need_strings(run, args, 2));
        if (n > 2)
                TRY(need_position(run, &args[2], cel_count_runes(s), &from));
        size_t begin = cel_rune_offset(s, from);
        const char *found = memmem(s.data + begin, s.len - begin, wanted.data, wanted.len);
        if (!wanted.len)
                found = s.data + begin;
        *ret = cel_int(found ? (int64_t)cel_count_runes((struct slice){ s.data, (size_t)(found - s.data) })
                             : -1);
        return 0;
}

static int call_last_index_of(struct cel_run *run, const struct cel_value *args, size_t n,
                              struct cel_value *ret)
{
        struct slice s = args[0].text, wanted = args[1].text;
        TRY(need_strings(run, args, 2));
        size_t from = cel_count_runes(s);
        if (n > 2)
                TRY(need_position(run, &args[2], from, &from));
        *ret = cel_int(-1);
        for (size_t at = cel_rune_offset(s, from) + 1; at-- > 0;)
                if (s.len - at >= wanted.len && !memcmp(s.data + at, wanted.data, wanted.len)) {
                        *ret = cel_int((int64_t)cel_count_runes((struct slice){ s.data, at }));
                        break;
                }
        return cel_spend(run, s.len / 4);
}

static int change_case(struct cel_run *run, const struct cel_value *args, char first, struct cel_value *ret)
{
        TRY(need_strings(run, args, 1));
        char *copy = arena_strndup(&run->arena, args[0].text.data, args[0].text.len);
        if (!copy)
                return cel_no_memory(run);
        for (size_t i = 0; i < args[0].text.len; i++)
                if (copy[i] >= first && copy[i] <= first + 25)
                        copy[i] ^= 0x20;
        *ret = cel_text(CEL_STRING, copy, args[0].text.len);
        return 0;
}

static int call_lower(struct cel_run *run, const struct cel_value *args, size_t n, struct cel_value *ret)
{
        return change_case(run, args, 'A', ret);
}

static int call_upper(struct cel_run *run, const struct cel_value *args, size_t n, struct cel_value *ret)
{
        return change_case(run, args, 'a', ret);
}

static int call_replace(struct cel_run *run, const struct cel_value *args, size_t n, struct cel_value *ret)
{
        TRY(need_strings(run, args, 3));
        if (n > 3 && args[3].kind != CEL_INT)
                return cel_no_overload(run);
        struct slice s = args[0].text, from = args[1].text, to = args[2].text;
        int64_t left = n > 3 && args[3].integer >= 0 ? args[3].integer : INT64_MAX;
        AUTO_BUF struct buf b;
        buf_init(&b, LIMIT_OBJECT_BYTES);
        for (size_t at = 0; at <= s.len && !b.failed;) {
                bool match = left > 0 && s.len - at >= from.len && !memcmp(s.data + at, from.data, from.len);
                if (match) {
                        buf_append(&b, to.data, to.len);
                        left--;
                }
                if (match && from.len) {
                        at += from.len;
                        continue;
                }
                size_t width = at < s.len ? cel_rune_offset((struct slice){ s.data + at, s.len - at }, 1) : 1;
                if (at < s.len)
                        buf_append(&b, s.data + at, width);
                at += width;
        }
        return take_text(run, &b, ret);
}

static int new_list(struct cel_run *run, size_t n, struct cel_value **ret_items, struct cel_value *ret)
{
        struct cel_value *items = ARENA_NEW_ARRAY(&run->arena, struct cel_value, n + 1);
        if (!items)
                return cel_no_memory(run);
        *ret = (struct cel_value){ .kind = CEL_LIST };
        ret->list.items = items;
        *ret_items = items;
        return cel_spend(run, n);
}

static int call_split(struct cel_run *run, const struct cel_value *args, size_t n, struct cel_value *ret)
{
        TRY(need_strings(run, args, 2));
        if (n > 2 && args[2].kind != CEL_INT)
                return cel_no_overload(run);
        struct slice s = args[0].text, sep = args[1].text;
        size_t most = n > 2 && args[2].integer >= 0 ? MIN((size_t)args[2].integer, s.len + 1) : s.len + 1;
        struct cel_value *items = NULL;
        TRY(new_list(run, most, &items, ret));
        while (ret->list.n < most) {
                const char *found = NULL;
                if (ret->list.n + 1 < most && sep.len)
                        found = memmem(s.data, s.len, sep.data, sep.len);
                else if (ret->list.n + 1 < most && s.len)
                        found = s.data + cel_rune_offset(s, 1);
                if (!sep.len && (!s.len || (found && found == s.data + s.len)))
                        found = NULL; /* the last character */
                size_t len = found ? (size_t)(found - s.data) : s.len;
                if (sep.len || s.len)
                        items[ret->list.n++] = cel_text(CEL_STRING, s.data, len);
                if (!found)
                        break;
                s.data += len + sep.len;
                s.len -= len + sep.len;
        }
        return 0;
}

static int call_join(struct cel_run *run, const struct cel_value *args, size_t n, struct cel_value *ret)
{
        if (args[0].kind != CEL_LIST || (n > 1 && args[1].kind != CEL_STRING))
                return cel_no_overload(run);
        AUTO_BUF struct buf b;
        buf_init(&b, LIMIT_OBJECT_BYTES);
        for (size_t i = 0; i < cel_list_size(&args[0]); i++) {
                struct cel_value item;
                TRY(cel_spend(run, 1));
                TRY(cel_list_at(run, &args[0], i, &item));
                if (item.kind != CEL_STRING)
                        return cel_no_overload(run);
                if (i && n > 1)
                        buf_append(&b, args[1].text.data, args[1].text.len);
                buf_append(&b, item.text.data, item.text.len);
        }
        return take_text(run, &b, ret);
}

static int call_substring(struct cel_run *run, const struct cel_value *args, size_t n, struct cel_value *ret)
{
        struct slice s = args[0].text;
        size_t begin = 0, end = 0;
        TRY(need_strings(run, args, 1));
        end = cel_count_runes(s);
        TRY(need_position(run, &args[1], end, &begin));
        if (n > 2)
                TRY(need_position(run, &args[2], end, &end));
        if (begin > end)
                return cel_fail(run, "invalid substring range. start: %zu, end: %zu", begin, end);
        size_t from = cel_rune_offset(s, begin), to = cel_rune_offset(s, end);
        *ret = cel_text(CEL_STRING, s.data + from, to - from);
        return 0;
}

static int call_trim(struct cel_run *run, const struct cel_value *args, size_t n, struct cel_value *ret)
{
        TRY(need_strings(run, args, 1));
        struct slice s = args[0].text;
        while (s.len && strchr(" \t\n\r\f\v", s.data[0]) && s.data[0])
                s.data++, s.len--;
        while (s.len && strchr(" \t\n\r\f\v", s.data[s.len - 1]) && s.data[s.len - 1])
                s.len--;
        *ret = cel_text(CEL_STRING, s.data, s.len);
        return 0;
}

static int call_reverse(struct cel_run *run, const struct cel_value *args, size_t n, struct cel_value *ret)
{
        TRY(need_strings(run, args, 1));
        struct slice s = args[0].text;
        char *out = arena_alloc(&run->arena, s.len + 1);
        if (!out)
                return cel_no_memory(run);
        for (size_t at = 0; at < s.len;) {
                size_t width = cel_rune_offset((struct slice){ s.data + at, s.len - at }, 1);
                memcpy(out + s.len - at - width, s.data + at, width);
                at += width;
        }
        *ret = cel_text(CEL_STRING, out, s.len);
        return 0;
}

static int call_quote(struct cel_run *run, const struct cel_value *args, size_t n, struct cel_value *ret)
{
        TRY(need_strings(run, args, 1));
        const char *text = arena_strndup(&run->arena, args[0].text.data, args[0].text.len);
        const char *quoted = text ? schema_quote(&run->arena, text) : NULL;
        if (!quoted)
                return cel_no_memory(run);
        *ret = cel_text(CEL_STRING, quoted, strlen(quoted));
        return 0;
}

/* --- format
 * -------------------------------------------------------------------------------------------------- */

static int append_value(struct cel_run *run, struct buf *b, const struct cel_value *v);

/* Texts in lists and maps are quoted. */
static int append_item(struct cel_run *run, struct buf *b, const struct cel_value *v)
{
        if (v->kind == CEL_STRING)
                return buf_append_json_string(b, v->text.data, v->text.len);
        return append_value(run, b, v);
}

static int append_items(struct cel_run *run, struct buf *b, const struct cel_value *v)
{
        struct cel_iterator it;
        struct cel_value key, value;
        int more = 0;
        TRY(cel_iterator_init(run, &it, v));
        buf_append_char(b, v->kind == CEL_LIST ? '[' : '{');
        while ((more = cel_iterator_next(run, &it, &key, &value)) > 0) {
                TRY(cel_spend(run, 1));
                buf_append_str(b, it.i > 1 ? ", " : "");
                if (v->kind == CEL_MAP) {
                        TRY(append_item(run, b, &key));
                        buf_append_str(b, ": ");
                }
                TRY(append_item(run, b, &value));
        }
        buf_append_char(b, v->kind == CEL_LIST ? ']' : '}');
        return more;
}

/* The %s form of any value. */
static int append_value(struct cel_run *run, struct buf *b, const struct cel_value *v)
{
        struct cel_value text = { 0 };
        if (v->kind == CEL_LIST || v->kind == CEL_MAP)
                return append_items(run, b, v);
        if (v->kind == CEL_NULL) {
                buf_append_str(b, "null");
                return 0;
        }
        TRY(cel_to_string(run, v, &text));
        buf_append(b, text.text.data, text.text.len);
        return 0;
}

static int append_number(struct cel_run *run, struct buf *b, const struct cel_value *v, char clause,
                         int precision)
{
        bool whole = v->kind == CEL_INT || v->kind == CEL_UINT;
        double real = v->kind == CEL_DOUBLE ? v->real
                      : v->kind == CEL_INT  ? (double)v->integer
                                            : (double)v->uinteger;
        bool negative = v->kind == CEL_INT && v->integer < 0;
        uint64_t size = negative ? -(uint64_t)v->integer : v->uinteger;
        if (!whole && v->kind != CEL_DOUBLE)
                return cel_no_overload(run);
        if (clause == 'f')
                return buf_printf(b, "%.*f", precision < 0 ? 6 : precision, real);
        if (clause == 'e')
                return buf_printf(b, "%.*e", precision < 0 ? 6 : precision, real);
        if (!whole && clause == 'd')
                return append_value(run, b, v);
        if (!whole)
                return cel_no_overload(run);
        buf_append_str(b, negative ? "-" : "");
        if (clause == 'd')
                return buf_printf(b, "%llu", (unsigned long long)size);
        if (clause != 'b')
                return buf_printf(b,
                                  clause == 'x'   ? "%llx"
                                  : clause == 'X' ? "%llX"
                                                  : "%llo",
                                  (unsigned long long)size);
        int bit = 63;
        while (bit > 0 && !(size >> bit & 1))
                bit--;
        for (; bit >= 0; bit--)
                buf_append_char(b, (char)('0' + (size >> bit & 1)));
        return 0;
}

static int append_clause(struct cel_run *run, struct buf *b, const struct cel_value *v, char clause,
                         int precision)
{
        if (clause == 's')
                return append_value(run, b, v);
        if ((clause == 'x' || clause == 'X') && (v->kind == CEL_STRING || v->kind == CEL_BYTES)) {
                for (size_t i = 0; i < v->text.len; i++)
                        buf_printf(b, clause == 'x' ? "%02x" : "%02X", (unsigned char)v->text.data[i]);
                return 0;
        }
        if (clause == 'b' && v->kind == CEL_BOOL)
                return buf_append_char(b, v->boolean ? '1' : '0');
        if (!strchr("dfexXob", clause))
                return cel_fail(run, "unrecognized formatting clause \"%c\"", clause);
        return append_number(run, b, v, clause, precision);
}

static int call_format(struct cel_run *run, const struct cel_value *args, size_t n, struct cel_value *ret)
{
        if (args[0].kind != CEL_STRING || args[1].kind != CEL_LIST)
                return cel_no_overload(run);
        struct slice s = args[0].text;
        size_t used = 0;
        AUTO_BUF struct buf b;
        buf_init(&b, LIMIT_OBJECT_BYTES);
        for (size_t i = 0; i < s.len; i++) {
                int precision = -1;
                struct cel_value v;
                if (s.data[i] != '%' || (i + 1 < s.len && s.data[i + 1] == '%')) {
                        buf_append_char(&b, s.data[i]);
                        i += s.data[i] == '%';
                        continue;
                }
                if (++i < s.len && s.data[i] == '.')
                        for (precision = 0, i++; i < s.len && s.data[i] >= '0' && s.data[i] <= '9'; i++)
                                precision = MIN(precision * 10 + s.data[i] - '0', 100);
                if (i >= s.len)
                        return cel_fail(run, "unexpected end of string");
                if (used >= cel_list_size(&args[1]))
                        return cel_fail(run, "index %zu out of range", used);
                TRY(cel_list_at(run, &args[1], used++, &v));
                TRY(append_clause(run, &b, &v, s.data[i], precision));
        }
        return take_text(run, &b, ret);
}

/* --- base64
 * -------------------------------------------------------------------------------------------------- */

static int call_encode(struct cel_run *run, const struct cel_value *args, size_t n, struct cel_value *ret)
{
        if (args[0].kind != CEL_BYTES)
                return cel_no_overload(run);
        char *text = arena_alloc(&run->arena, text_base64_size(args[0].text.len));
        if (!text)
                return cel_no_memory(run);
        text_base64_encode(args[0].text.data, args[0].text.len, text);
        *ret = cel_text(CEL_STRING, text, strlen(text));
        return cel_spend(run, ret->text.len / 10);
}

static int call_decode(struct cel_run *run, const struct cel_value *args, size_t n, struct cel_value *ret)
{
        TRY(need_strings(run, args, 1));
        size_t size = 0;
        char *bytes = arena_alloc(&run->arena, args[0].text.len + 1);
        if (!bytes)
                return cel_no_memory(run);
        if (text_base64_decode(args[0].text, bytes, args[0].text.len + 1, &size, false) < 0)
                return cel_fail(run, "illegal base64 data");
        *ret = cel_text(CEL_BYTES, bytes, size);
        return 0;
}

const struct cel_function cel_string_functions[] = {
        { "charAt", true, 2, 2, call_char_at },        { "lowerAscii", true, 1, 1, call_lower },
        { "upperAscii", true, 1, 1, call_upper },      { "replace", true, 3, 4, call_replace },
        { "split", true, 2, 3, call_split },           { "join", true, 1, 2, call_join },
        { "substring", true, 2, 3, call_substring },   { "trim", true, 1, 1, call_trim },
        { "reverse", true, 1, 1, call_reverse },       { "format", true, 2, 2, call_format },
        { "strings.quote", false, 1, 1, call_quote },  { "base64.encode", false, 1, 1, call_encode },
        { "base64.decode", false, 1, 1, call_decode }, { NULL, false, 0, 0, NULL },
};

/* indexOf and lastIndexOf are on strings and lists; the lists library sends strings here. */
int cel_string_index_of(struct cel_run *run, const struct cel_value *args, size_t n, bool last,
                        struct cel_value *ret)
{
        return last ? call_last_index_of(run, args, n, ret) : call_index_of(run, args, n, ret);
}
