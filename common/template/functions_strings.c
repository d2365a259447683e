/* Functions over texts. */
#include "common/base/digest.h"
#include "common/base/limits.h"
#include "common/template/digests.h"
#include "common/template/function_tools.h"

/* ---- quoting and joining ---- */

static int call_quote(struct run *run, const struct value *args, size_t n, struct value *ret)
{
        struct buf *out = run_scratch(run);
        for (size_t i = 0, written = 0; i < n; i++) {
                struct value text;
                if (args[i].type == VALUE_NONE)
                        continue;
                TRY(value_text(run, &args[i], &text));
                TRY(run_spend_bytes(run, 4 * text.string.len));
                buf_append_str(out, written++ ? " " : "");
                write_quoted(out, text.string, QUOTE_PLAIN);
        }
        return run_take_scratch(run, ret);
}

static int call_squote(struct run *run, const struct value *args, size_t n, struct value *ret)
{
        struct buf *out = run_scratch(run);
        for (size_t i = 0, written = 0; i < n; i++) {
                if (args[i].type == VALUE_NONE)
                        continue;
                buf_append_str(out, written++ ? " '" : "'");
                TRY(value_print(run, &args[i], out));
                buf_append_char(out, '\'');
        }
        return run_take_scratch(run, ret);
}

static int call_cat(struct run *run, const struct value *args, size_t n, struct value *ret)
{
        struct buf *out = run_scratch(run);
        for (size_t i = 0, written = 0; i < n; i++)
                if (args[i].type != VALUE_NONE) {
                        buf_append_str(out, written++ ? " " : "");
                        TRY(value_print(run, &args[i], out));
                }
        return run_take_scratch(run, ret);
}

static int call_to_string(struct run *run, const struct value *args, size_t n, struct value *ret)
{
        return value_text(run, &args[0], ret);
}

static int call_join(struct run *run, const struct value *args, size_t n, struct value *ret)
{
        struct value texts;
        TRY(texts_of(run, &args[1], &texts));
        struct buf *out = run_scratch(run);
        for (size_t i = 0; i < texts.list->n; i++) {
                TRY(run_spend(run, 1));
                TRY(run_spend_bytes(run, args[0].string.len + texts.list->at[i].string.len));
                if (i)
                        buf_append(out, args[0].string.data, args[0].string.len);
                buf_append(out, texts.list->at[i].string.data, texts.list->at[i].string.len);
        }
        return run_take_scratch(run, ret);
}

static int call_to_strings(struct run *run, const struct value *args, size_t n, struct value *ret)
{
        return texts_of(run, &args[0], ret);
}

static int compare_texts(const void *a, const void *b)
{
        return slice_compare(((const struct value *)a)->string, ((const struct value *)b)->string);
}

static int call_sort_alpha(struct run *run, const struct value *args, size_t n, struct value *ret)
{
        struct value texts;
        TRY(texts_of(run, &args[0], &texts));
        size_t many = texts.list->n;
        if (!value_is_list(&args[0]) && !many) { /* nil as text */
                TRY(run_list(run, VALUE_STRINGS, 1, ret));
                ret->list->at[0] = value_string(SLICE("<nil>"));
                return 0;
        }
        TRY(run_list(run, VALUE_STRINGS, many, ret));
        TRY(run_spend(run, 4 * many));
        for (size_t i = 0; i < many; i++)
                ret->list->at[i] = texts.list->at[i];
        if (many)
                qsort(ret->list->at, many, sizeof(struct value), compare_texts);
        return 0;
}

/* ---- case ---- */

enum text_case { UPPER, LOWER, TITLE };

/* Letters, digits and underscores make words, as do characters beyond ASCII that are no spaces. */
static bool separates(uint32_t c)
{
        if (c < 0x80)
                return !(rune_is_letter(c) || rune_is_digit(c) || c == '_');
        return !rune_is_letter(c) && !rune_is_digit(c) && rune_is_space(c);
}

static uint32_t cased(enum text_case how, uint32_t c, uint32_t before)
{
        if (how == TITLE)
                return separates(before) ? rune_title(c) : c;
        return how == UPPER ? rune_upper(c) : rune_lower(c);
}

static int call_case(struct run *run, const struct value *args, size_t n, struct value *ret)
{
        struct slice s = args[0].string;
        struct buf *out = run_scratch(run);
        uint32_t before = ' ';
        size_t width;
        for (size_t at = 0; at < s.len; at += width) {
                char text[4];
                uint32_t c = rune_decode(s.data + at, s.len - at, &width);
                buf_append(out, text, rune_encode(cased((enum text_case)run->variant, c, before), text));
                before = c;
        }
        return run_take_scratch(run, ret);
}

/* ---- cutting ---- */

static int call_trim(struct run *run, const struct value *args, size_t n, struct value *ret)
{
        *ret = value_string(trim_space(args[0].string));
        return 0;
}

static int call_trim_all(struct run *run, const struct value *args, size_t n, struct value *ret)
{
        TRY(run_spend(run, args[0].string.len * args[1].string.len / 64));
        *ret = value_string(trim_set(args[1].string, args[0].string));
        return 0;
}

static bool begins_with(struct slice s, struct slice prefix)
{
        return s.len >= prefix.len && memcmp(s.data, prefix.data, prefix.len) == 0;
}

static bool ends_with(struct slice s, struct slice suffix)
{
        return s.len >= suffix.len && memcmp(s.data + s.len - suffix.len, suffix.data, suffix.len) == 0;
}

static int call_trim_prefix(struct run *run, const struct value *args, size_t n, struct value *ret)
{
        struct slice s = args[1].string, cut = args[0].string;
        size_t len = begins_with(s, cut) ? cut.len : 0;
        *ret = value_string((struct slice){ s.data + len, s.len - len });
        return 0;
}

static int call_trim_suffix(struct run *run, const struct value *args, size_t n, struct value *ret)
{
        struct slice s = args[1].string, cut = args[0].string;
        *ret = value_string((struct slice){ s.data, s.len - (ends_with(s, cut) ? cut.len : 0) });
        return 0;
}

static int call_trunc(struct run *run, const struct value *args, size_t n, struct value *ret)
{
        struct slice s = args[1].string;
        int64_t many = args[0].integer, len = (int64_t)s.len;
        if (many < 0 && len + many > 0)
                s = (struct slice){ s.data + len + many, (size_t)-many };
        else if (many >= 0 && len > many)
                s.len = (size_t)many;
        *ret = value_string(s);
        return 0;
}

static int bad_bounds(struct run *run, int64_t begin, int64_t end, int64_t len)
{
        if (end < 0)
                return call_fail(run, "runtime error: slice bounds out of range [:%lld]", (long long)end);
        if (end > len)
                return call_fail(run, "runtime error: slice bounds out of range [:%lld] with length %lld",
                                 (long long)end, (long long)len);
        return call_fail(run, "runtime error: slice bounds out of range [%lld:%lld]", (long long)begin,
                         (long long)end);
}

static int call_substr(struct run *run, const struct value *args, size_t n, struct value *ret)
{
        struct slice s = args[2].string;
        int64_t begin = args[0].integer, end = args[1].integer, len = (int64_t)s.len;
        if (begin < 0)
                begin = 0;
        else if (end < 0 || end > len)
                end = len;
        if (end < 0 || end > len || begin > end)
                return bad_bounds(run, begin, end, len);
        *ret = value_string((struct slice){ s.data + begin, (size_t)(end - begin) });
        return 0;
}

/* ---- searching and replacing ---- */

static int call_contains(struct run *run, const struct value *args, size_t n, struct value *ret)
{
        struct slice part = args[0].string, s = args[1].string;
        TRY(run_spend_bytes(run, s.len));
        *ret = value_bool(!part.len || memmem(s.data, s.len, part.data, part.len));
        return 0;
}

static int call_has_prefix(struct run *run, const struct value *args, size_t n, struct value *ret)
{
        *ret = value_bool(begins_with(args[1].string, args[0].string));
        return 0;
}

static int call_has_suffix(struct run *run, const struct value *args, size_t n, struct value *ret)
{
        *ret = value_bool(ends_with(args[1].string, args[0].string));
        return 0;
}

/* Before each character and at the end. */
static void replace_nothing(struct buf *out, struct slice s, struct slice with)
{
        size_t width;
        for (size_t at = 0; at < s.len && !out->failed; at += width) {
                rune_decode(s.data + at, s.len - at, &width);
                buf_append(out, with.data, with.len);
                buf_append(out, s.data + at, width);
        }
        buf_append(out, with.data, with.len);
}

void replace_all(struct buf *out, struct slice s, struct slice what, struct slice with)
{
        if (!what.len) {
                replace_nothing(out, s, with);
                return;
        }
        while (!out->failed) {
                const char *found = memmem(s.data, s.len, what.data, what.len);
                size_t before = found ? (size_t)(found - s.data) : s.len;
                buf_append(out, s.data, before);
                if (!found)
                        break;
                buf_append(out, with.data, with.len);
                s = (struct slice){ found + what.len, s.len - before - what.len };
        }
}

static int call_replace(struct run *run, const struct value *args, size_t n, struct value *ret)
{
        TRY(run_spend_bytes(run, args[2].string.len));
        replace_all(run_scratch(run), args[2].string, args[0].string, args[1].string);
        return run_take_scratch(run, ret);
}

static int repeat(struct run *run, struct buf *out, int64_t many, struct slice s)
{
        if (many < 0)
                return call_fail(run, "strings: negative Repeat count");
        if (many > LIMIT_TEMPLATE_ITEMS)
                return run_limit(run, "more than %d repetitions", LIMIT_TEMPLATE_ITEMS);
        for (int64_t i = 0; i < many && !out->failed; i++)
                buf_append(out, s.data, s.len);
        return run_spend_bytes(run, out->len);
}

static int call_repeat(struct run *run, const struct value *args, size_t n, struct value *ret)
{
        TRY(repeat(run, run_scratch(run), args[0].integer, args[1].string));
        return run_take_scratch(run, ret);
}

static int call_indent(struct run *run, const struct value *args, size_t n, struct value *ret)
{
        AUTO_BUF struct buf pad;
        buf_init(&pad, LIMIT_TEMPLATE_MEMORY_BYTES);
        bool on_new_line = run->variant;
        buf_append_char(&pad, '\n');
        TRY(repeat(run, &pad, args[0].integer, SLICE(" ")));
        TRY(run_check_buf(run, &pad));
        struct buf *out = run_scratch(run);
        buf_append(out, pad.data + !on_new_line, pad.len - !on_new_line);
        replace_all(out, args[1].string, SLICE("\n"), (struct slice){ pad.data, pad.len });
        return run_take_scratch(run, ret);
}

static int call_plural(struct run *run, const struct value *args, size_t n, struct value *ret)
{
        *ret = args[2].integer == 1 ? args[0] : args[1];
        return 0;
}

/* ---- splitting ---- */

/* The next part, at most `limit` in all; false behind the last. An empty separator splits characters. */
static bool next_part(struct slice *rest, struct slice sep, bool last, struct slice *ret)
{
        size_t width;
        if (!rest->data)
                return false;
        const char *found = NULL;
        if (!last && sep.len)
                found = memmem(rest->data, rest->len, sep.data, sep.len);
        if (!last && !sep.len && rest->len) {
                rune_decode(rest->data, rest->len, &width);
                found = width < rest->len ? rest->data + width : NULL;
        }
        size_t len = found ? (size_t)(found - rest->data) : rest->len;
        *ret = (struct slice){ rest->data, len };
        *rest = found ? (struct slice){ found + sep.len, rest->len - len - sep.len }
                      : (struct slice){ NULL, 0 };
        return true;
}

static size_t count_parts(struct slice s, struct slice sep, int64_t most)
{
        struct slice part;
        size_t n = 0;
        if (!sep.len && !s.len)
                return 0;
        while ((most < 0 || n < (size_t)most) &&
               next_part(&s, sep, most >= 0 && n + 1 == (size_t)most, &part))
                n++;
        return n;
}

static int split(struct run *run, struct slice s, struct slice sep, int64_t most, struct value *ret)
{
        size_t n = count_parts(s, sep, most);
        TRY(run_spend_bytes(run, s.len));
        TRY(run_list(run, VALUE_STRINGS, n, ret));
        for (size_t i = 0; i < n; i++) {
                struct slice part;
                next_part(&s, sep, most >= 0 && i + 1 == (size_t)most, &part);
                ret->list->at[i] = value_string(part);
        }
        return 0;
}

static int call_split_list(struct run *run, const struct value *args, size_t n, struct value *ret)
{
        return split(run, args[1].string, args[0].string, -1, ret);
}

/* A map _0, _1... */
static int number_parts(struct run *run, const struct sequence *parts, struct value *ret)
{
        TRY(run_dict(run, VALUE_STRING_MAP, ret));
        for (size_t i = 0; i < parts->n; i++) {
                char name[24];
                struct value key;
                int len = snprintf(name, sizeof(name), "_%zu", i);
                TRY(run_copy(run, (struct slice){ name, (size_t)len }, &key));
                TRY(dict_set(run, ret->map, key.string, parts->at[i]));
        }
        return 0;
}

static int call_split(struct run *run, const struct value *args, size_t n, struct value *ret)
{
        struct value parts;
        TRY(split(run, args[1].string, args[0].string, -1, &parts));
        return number_parts(run, parts.list, ret);
}

static int call_splitn(struct run *run, const struct value *args, size_t n, struct value *ret)
{
        struct value parts;
        TRY(split(run, args[2].string, args[0].string, args[1].integer, &parts));
        return number_parts(run, parts.list, ret);
}

/* ---- encodings and digests ---- */

static int call_b64enc(struct run *run, const struct value *args, size_t n, struct value *ret)
{
        char *text;
        size_t size = text_base64_size(args[0].string.len);
        TRY(run_spend_bytes(run, size));
        TRY(run_alloc(run, size, 1, &text));
        text_base64_encode(args[0].string.data, args[0].string.len, text);
        *ret = value_string(slice_of(text));
        return 0;
}

static int bad_encoding(struct run *run, const char *name, size_t at)
{
        return call_fail(run, "illegal %s data at input byte %zu", name, at);
}

/* Where Go finds the first fault. */
static size_t base64_fault(struct slice s)
{
        size_t digits = 0, at = 0;
        for (; at < s.len; at++) {
                char c = s.data[at];
                if (c == '\n' || c == '\r')
                        continue;
                if (!c || !strchr("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/", c))
                        break;
                digits++;
        }
        if (at == s.len)
                return at - digits % 4;
        if (s.data[at] != '=' || digits % 4 < 2)
                return at;
        if (digits % 4 == 2 && at + 1 < s.len && s.data[at + 1] == '=')
                at++;
        else if (digits % 4 == 2)
                return at + 1;
        return at + 1;
}

static int call_b64dec(struct run *run, const struct value *args, size_t n, struct value *ret)
{
        struct slice s = args[0].string;
        char *data;
        size_t len;
        TRY(run_spend_bytes(run, s.len));
        TRY(run_alloc(run, s.len + 4, 1, &data));
        if (text_base64_decode(s, data, s.len + 4, &len, false) < 0)
                return bad_encoding(run, "base64", base64_fault(s));
        *ret = value_string((struct slice){ data, len });
        return 0;
}

static int call_b32enc(struct run *run, const struct value *args, size_t n, struct value *ret)
{
        TRY(run_spend_bytes(run, 2 * args[0].string.len));
        base32_encode(args[0].string, run_scratch(run));
        return run_take_scratch(run, ret);
}

static int call_b32dec(struct run *run, const struct value *args, size_t n, struct value *ret)
{
        size_t fault;
        TRY(run_spend_bytes(run, args[0].string.len));
        if (!base32_decode(args[0].string, run_scratch(run), &fault))
                return bad_encoding(run, "base32", fault);
        return run_take_scratch(run, ret);
}

static int call_sha256(struct run *run, const struct value *args, size_t n, struct value *ret)
{
        char hex[SHA256_HEX_SIZE];
        TRY(run_spend_bytes(run, 8 * args[0].string.len));
        sha256_hex(args[0].string.data, args[0].string.len, hex);
        return run_copy(run, slice_of(hex), ret);
}

static int call_sha1(struct run *run, const struct value *args, size_t n, struct value *ret)
{
        char hex[SHA1_HEX_SIZE];
        TRY(run_spend_bytes(run, 8 * args[0].string.len));
        if (sha1_hex(args[0].string, hex) < 0)
                return run_no_memory(run);
        return run_copy(run, slice_of(hex), ret);
}

static int call_adler32(struct run *run, const struct value *args, size_t n, struct value *ret)
{
        char text[16];
        TRY(run_spend_bytes(run, args[0].string.len));
        snprintf(text, sizeof(text), "%u", adler32_sum(args[0].string.data, args[0].string.len));
        return run_copy(run, slice_of(text), ret);
}

static int call_slugify(struct run *run, const struct value *args, size_t n, struct value *ret)
{
        TRY(run_spend_bytes(run, 8 * args[0].string.len));
        template_slugify(args[0].string, run_scratch(run));
        return run_take_scratch(run, ret);
}

static const struct function functions[] = {
        { "quote", call_quote, { 0 }, TAKES_ANY },
        { "squote", call_squote, { 0 }, TAKES_ANY },
        { "cat", call_cat, { 0 }, TAKES_ANY },
        { "toString", call_to_string, { TAKES_ANY } },
        { "join", call_join, { TAKES_STRING, TAKES_ANY } },
        { "toStrings", call_to_strings, { TAKES_ANY } },
        { "sortAlpha", call_sort_alpha, { TAKES_ANY } },
        { "upper", call_case, { TAKES_STRING }, .variant = UPPER },
        { "lower", call_case, { TAKES_STRING }, .variant = LOWER },
        { "title", call_case, { TAKES_STRING }, .variant = TITLE },
        { "trim", call_trim, { TAKES_STRING } },
        { "trimAll", call_trim_all, { TAKES_STRING, TAKES_STRING } },
        { "trimall", call_trim_all, { TAKES_STRING, TAKES_STRING } },
        { "trimPrefix", call_trim_prefix, { TAKES_STRING, TAKES_STRING } },
        { "trimSuffix", call_trim_suffix, { TAKES_STRING, TAKES_STRING } },
        { "trunc", call_trunc, { TAKES_INT, TAKES_STRING } },
        { "substr", call_substr, { TAKES_INT, TAKES_INT, TAKES_STRING } },
        { "contains", call_contains, { TAKES_STRING, TAKES_STRING } },
        { "hasPrefix", call_has_prefix, { TAKES_STRING, TAKES_STRING } },
        { "hasSuffix", call_has_suffix, { TAKES_STRING, TAKES_STRING } },
        { "replace", call_replace, { TAKES_STRING, TAKES_STRING, TAKES_STRING } },
        { "repeat", call_repeat, { TAKES_INT, TAKES_STRING } },
        { "indent", call_indent, { TAKES_INT, TAKES_STRING }, .variant = false },
        { "nindent", call_indent, { TAKES_INT, TAKES_STRING }, .variant = true },
        { "plural", call_plural, { TAKES_STRING, TAKES_STRING, TAKES_INT } },
        { "split", call_split, { TAKES_STRING, TAKES_STRING } },
        { "splitn", call_splitn, { TAKES_STRING, TAKES_INT, TAKES_STRING } },
        { "splitList", call_split_list, { TAKES_STRING, TAKES_STRING } },
        { "b64enc", call_b64enc, { TAKES_STRING } },
        { "b64dec", call_b64dec, { TAKES_STRING } },
        { "b32enc", call_b32enc, { TAKES_STRING } },
        { "b32dec", call_b32dec, { TAKES_STRING } },
        { "sha1sum", call_sha1, { TAKES_STRING } },
        { "sha256sum", call_sha256, { TAKES_STRING } },
        { "adler32sum", call_adler32, { TAKES_STRING } },
        { "slugify", call_slugify, { TAKES_STRING } },
};

const struct function_table string_functions = { functions, ARRAY_LEN(functions) };
