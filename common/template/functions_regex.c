/* Regular expressions. */
#include "common/base/limits.h"
#include "common/json/regex.h"
#include "common/template/function_tools.h"

/* What distinguishes functions of one implementation. */
enum { MUST = 1, LITERAL = 2 };

static struct slice part(struct slice text, size_t begin, size_t end)
{
        return (struct slice){ text.data + begin, end - begin };
}

static int compile(struct run *run, struct slice pattern, const struct regex **ret)
{
        struct error why = { 0 };
        TRY(run_spend_bytes(run, 64 * pattern.len));
        int code = regex_compile_groups(&run->arena, pattern, ret, &why);
        if (code == ERR_NO_MEMORY)
                return run_no_memory(run);
        if (code >= 0 || run->variant & MUST)
                return code < 0 ? call_fail(run, "%s", why.text) : 0;
        struct buf *quoted = run_scratch(run);
        if (fits_backquotes(pattern))
                buf_printf(quoted, "`%.*s`", (int)pattern.len, pattern.data);
        else
                write_quoted(quoted, pattern, QUOTE_PLAIN);
        TRY(run_check_buf(run, quoted));
        return call_fail(run, "regexp: Compile(%s): %s", quoted->data, why.text);
}

static size_t search_steps(const struct regex *re, size_t bytes)
{
        return 1 + bytes / 64 * (1 + regex_size(re) / 16);
}

/* From `from` on; no search is begun that could take more than a whole rendering may. */
static int find(struct run *run, const struct regex *re, struct slice text, size_t from,
                struct regex_span *ret)
{
        size_t seen;
        if (search_steps(re, text.len - from) > LIMIT_TEMPLATE_STEPS)
                return run_limit(run, "more than %d steps", LIMIT_TEMPLATE_STEPS);
        int found = regex_find_groups(re, text, from, ret, &seen);
        if (found < 0)
                return run_no_memory(run);
        TRY(run_spend(run, search_steps(re, seen - from)));
        return found;
}

/* The spans of a pattern: the whole match and its groups. */
static int alloc_spans(struct run *run, const struct regex *re, struct regex_span **ret)
{
        return run_alloc(run, regex_group_count(re) + 1, sizeof(**ret), ret);
}

static int call_match(struct run *run, const struct value *args, size_t n, struct value *ret)
{
        const struct regex *re;
        struct regex_span *spans;
        int code = compile(run, args[0].string, &re);
        *ret = value_bool(false);
        if (code == ERR_INVALID && !(run->variant & MUST))
                return 0;
        TRY(code);
        TRY(alloc_spans(run, re, &spans));
        int found = find(run, re, args[1].string, 0, spans);
        TRY(found);
        *ret = value_bool(found);
        return 0;
}

static int call_find(struct run *run, const struct value *args, size_t n, struct value *ret)
{
        const struct regex *re;
        struct regex_span *spans;
        TRY(compile(run, args[0].string, &re));
        TRY(alloc_spans(run, re, &spans));
        TRY(find(run, re, args[1].string, 0, spans));
        *ret = value_string(part(args[1].string, spans[0].begin, spans[0].end));
        return 0;
}

/* ---- all matches ---- */

struct search {
        struct run *run;
        const struct regex *re;
        struct slice text;
        size_t at, last_end; /* where the next search begins; end of the last match, SIZE_MAX before it */
        struct regex_span *groups;
};

static int search_begin(struct run *run, struct slice pattern, struct slice text, struct search *ret)
{
        *ret = (struct search){ .run = run, .text = text, .last_end = SIZE_MAX };
        TRY(compile(run, pattern, &ret->re));
        return alloc_spans(run, ret->re, &ret->groups);
}

/* 1: a match. An empty one right behind the last does not count. */
static int search_next(struct search *s, struct regex_span *ret)
{
        while (s->at <= s->text.len) {
                size_t width = 1;
                int found = find(s->run, s->re, s->text, s->at, s->groups);
                if (found != 1)
                        return found;
                *ret = s->groups[0];
                bool counts = ret->end > ret->begin || ret->begin != s->last_end;
                if (ret->end == ret->begin && ret->end < s->text.len)
                        rune_decode(s->text.data + ret->end, s->text.len - ret->end, &width);
                s->at = ret->end > ret->begin ? ret->end : ret->end + width;
                s->last_end = ret->end;
                if (counts)
                        return 1;
        }
        return 0;
}

static int grow_list(struct run *run, struct value *list, size_t *cap, struct slice text)
{
        if (list->list->n == *cap) {
                struct value *larger;
                TRY(run_alloc(run, 2 * *cap + 8, sizeof(*larger), &larger));
                if (*cap)
                        memcpy(larger, list->list->at, *cap * sizeof(*larger));
                list->list->at = larger;
                *cap = 2 * *cap + 8;
        }
        list->list->at[list->list->n++] = value_string(text);
        return 0;
}

static int call_find_all(struct run *run, const struct value *args, size_t n, struct value *ret)
{
        struct search s;
        struct regex_span span;
        size_t cap = 0;
        int64_t most = args[2].integer;
        TRY(search_begin(run, args[0].string, args[1].string, &s));
        TRY(run_list(run, VALUE_STRINGS, 0, ret));
        while (most < 0 || ret->list->n < (size_t)most) {
                int found = search_next(&s, &span);
                TRY(found);
                if (!found)
                        break;
                TRY(grow_list(run, ret, &cap, part(s.text, span.begin, span.end)));
        }
        ret->list->absent = !ret->list->n;
        return 0;
}

static int call_split(struct run *run, const struct value *args, size_t n, struct value *ret)
{
        struct search s;
        struct regex_span span;
        size_t cap = 0, begin = 0, last = 0;
        int64_t most = args[2].integer;
        TRY(search_begin(run, args[0].string, args[1].string, &s));
        TRY(run_list(run, VALUE_STRINGS, 0, ret));
        ret->list->absent = most == 0;
        if (most == 0)
                return 0;
        if (args[0].string.len && !s.text.len)
                return grow_list(run, ret, &cap, s.text);
        while (most < 0 || ret->list->n + 1 < (size_t)most) {
                int found = search_next(&s, &span);
                TRY(found);
                if (!found)
                        break;
                last = span.begin;
                if (span.end) /* nothing is in front of nothing */
                        TRY(grow_list(run, ret, &cap, part(s.text, begin, span.begin)));
                begin = span.end;
        }
        return last == s.text.len ? 0 : grow_list(run, ret, &cap, part(s.text, begin, s.text.len));
}

/* ---- replacing ---- */

static bool is_word(char c)
{
        return c == '_' || (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z');
}

/* Behind a $: a name, the longest there is, or one in braces. False: it is none, the $ stands for itself. */
static bool take_name(struct slice *with, struct slice *ret)
{
        bool braces = with->len && with->data[0] == '{';
        size_t begin = braces, end = begin;
        while (end < with->len && is_word(with->data[end]))
                end++;
        if (end == begin || (braces && (end == with->len || with->data[end] != '}')))
                return false;
        *ret = part(*with, begin, end);
        end += braces;
        *with = (struct slice){ with->data + end, with->len - end };
        return true;
}

/* The last group of the name, or of the number; the empty span if there is none. */
static struct slice group_named(const struct search *s, struct slice name)
{
        size_t n = regex_group_count(s->re), group = SIZE_MAX;
        int64_t number;
        bool leading_zero = name.len > 1 && name.data[0] == '0';
        if (!leading_zero && slice_parse_i64(name, &number))
                group = number >= 0 && (uint64_t)number <= n ? (size_t)number : SIZE_MAX;
        for (size_t i = 1; i <= n && group == SIZE_MAX; i++)
                if (slice_equal(regex_group_name(s->re, i), name) && s->groups[i].begin != SIZE_MAX)
                        group = i;
        if (group == SIZE_MAX || s->groups[group].begin == SIZE_MAX)
                return (struct slice){ "", 0 };
        return part(s->text, s->groups[group].begin, s->groups[group].end);
}

static void expand(const struct search *s, struct slice with, struct buf *out)
{
        while (with.len) {
                const char *dollar = memchr(with.data, '$', with.len);
                size_t before = dollar ? (size_t)(dollar - with.data) : with.len;
                struct slice name;
                buf_append(out, with.data, before);
                if (!dollar)
                        return;
                with = (struct slice){ dollar + 1, with.len - before - 1 };
                if (with.len && with.data[0] == '$') {
                        buf_append_char(out, '$');
                        with = (struct slice){ with.data + 1, with.len - 1 };
                } else if (take_name(&with, &name)) {
                        struct slice group = group_named(s, name);
                        buf_append(out, group.data, group.len);
                } else {
                        buf_append_char(out, '$');
                }
        }
}

static int call_replace(struct run *run, const struct value *args, size_t n, struct value *ret)
{
        struct slice with = args[2].string;
        bool literal = run->variant & LITERAL;
        struct search s;
        struct regex_span span;
        struct buf *out = run_scratch(run);
        size_t begin = 0;
        TRY(search_begin(run, args[0].string, args[1].string, &s));
        for (int found; (found = search_next(&s, &span)) != 0; begin = span.end) {
                TRY(found);
                buf_append(out, s.text.data + begin, span.begin - begin);
                if (literal)
                        buf_append(out, with.data, with.len);
                else
                        expand(&s, with, out);
                TRY(run_check_buf(run, out));
        }
        buf_append(out, s.text.data + begin, s.text.len - begin);
        return run_take_scratch(run, ret);
}

static int call_quote_meta(struct run *run, const struct value *args, size_t n, struct value *ret)
{
        struct buf *out = run_scratch(run);
        for (size_t i = 0; i < args[0].string.len; i++) {
                char c = args[0].string.data[i];
                buf_append_str(out, c && strchr("\\.+*?()|[]{}^$", c) ? "\\" : "");
                buf_append_char(out, c);
        }
        return run_take_scratch(run, ret);
}

#define ONE_TEXT                                                                                             \
        {                                                                                                    \
                TAKES_STRING, TAKES_STRING                                                                   \
        }
#define TEXT_AND_COUNT                                                                                       \
        {                                                                                                    \
                TAKES_STRING, TAKES_STRING, TAKES_INT                                                        \
        }
#define TWO_TEXTS                                                                                            \
        {                                                                                                    \
                TAKES_STRING, TAKES_STRING, TAKES_STRING                                                     \
        }

static const struct function functions[] = {
        { "regexMatch", call_match, ONE_TEXT },
        { "mustRegexMatch", call_match, ONE_TEXT, .variant = MUST },
        { "regexFind", call_find, ONE_TEXT },
        { "mustRegexFind", call_find, ONE_TEXT, .variant = MUST },
        { "regexFindAll", call_find_all, TEXT_AND_COUNT },
        { "mustRegexFindAll", call_find_all, TEXT_AND_COUNT, .variant = MUST },
        { "regexSplit", call_split, TEXT_AND_COUNT },
        { "mustRegexSplit", call_split, TEXT_AND_COUNT, .variant = MUST },
        { "regexReplaceAll", call_replace, TWO_TEXTS },
        { "mustRegexReplaceAll", call_replace, TWO_TEXTS, .variant = MUST },
        { "regexReplaceAllLiteral", call_replace, TWO_TEXTS, .variant = LITERAL },
        { "mustRegexReplaceAllLiteral", call_replace, TWO_TEXTS, .variant = LITERAL | MUST },
        { "regexQuoteMeta", call_quote_meta, { TAKES_STRING } },
};

const struct function_table regex_functions = { functions, ARRAY_LEN(functions) };
