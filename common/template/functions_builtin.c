/* The language's own functions. */
#include <math.h>

#include "common/base/limits.h"
#include "common/template/functions.h"

/* ---- logic ---- */

static int call_not(struct run *run, const struct value *args, size_t n, struct value *ret)
{
        *ret = value_bool(!value_truth(&args[0]));
        return 0;
}

/* ---- comparison ---- */

enum comparable { COMPARES_NOT, COMPARES_BOOL, COMPARES_INTEGER, COMPARES_REAL, COMPARES_STRING };

static enum comparable comparable_as(const struct value *v)
{
        switch (v->type) {
        case VALUE_BOOL:
                return COMPARES_BOOL;
        case VALUE_INT:
        case VALUE_INT64:
        case VALUE_UINT8:
                return COMPARES_INTEGER;
        case VALUE_FLOAT64:
                return COMPARES_REAL;
        case VALUE_STRING:
                return COMPARES_STRING;
        default:
                return COMPARES_NOT;
        }
}

static int incompatible(struct run *run, const struct value *a, const struct value *b)
{
        return call_fail(run, "incompatible types for comparison: %s and %s", value_type_name(a),
                         value_type_name(b));
}

static int non_comparable(struct run *run, const struct value *v)
{
        struct buf *text = run_scratch(run);
        TRY(value_printf(run, SLICE("%s"), v, 1, text));
        return call_fail(run, "non-comparable type %s: %s", text->data, value_type_name(v));
}

static int non_comparable_types(struct run *run, const struct value *a, const struct value *b)
{
        struct value both[] = { *a, *b };
        struct buf *text = run_scratch(run);
        char format[160];
        int n = snprintf(format, sizeof(format), "non-comparable types %%s: %s, %s: %%v", value_type_name(a),
                         value_type_name(b));
        TRY(value_printf(run, (struct slice){ format, (size_t)n }, both, 2, text));
        return call_fail(run, "%s", text->data);
}

/* 1, 0 or an error. */
static int basic_equal(struct run *run, const struct value *a, const struct value *b)
{
        enum comparable kind = comparable_as(a);
        if (kind != comparable_as(b)) {
                if (a->type == VALUE_NONE || b->type == VALUE_NONE)
                        return 0;
                return incompatible(run, a, b);
        }
        if (kind != COMPARES_NOT)
                return value_equal(run, a, b);
        bool lists_or_maps = a->type != VALUE_NONE && b->type != VALUE_NONE;
        if (lists_or_maps && value_is_list(a) != value_is_list(b))
                return non_comparable_types(run, a, b);
        if (value_is_nil(a) || value_is_nil(b))
                return value_is_nil(a) == value_is_nil(b);
        return non_comparable(run, b);
}

static int call_eq(struct run *run, const struct value *args, size_t n, struct value *ret)
{
        if (n == 1)
                return call_fail(run, "missing argument for comparison");
        for (size_t i = 1; i < n; i++) {
                int equal = basic_equal(run, &args[0], &args[i]);
                TRY(equal);
                *ret = value_bool(equal);
                if (equal)
                        break;
        }
        return 0;
}

static int call_ne(struct run *run, const struct value *args, size_t n, struct value *ret)
{
        int equal = basic_equal(run, &args[0], &args[1]);
        TRY(equal);
        *ret = value_bool(!equal);
        return 0;
}

/* -1, 0, 1 for less, equal, greater; 2: no order (a real that is no number). */
static int compare(enum comparable kind, const struct value *a, const struct value *b)
{
        if (kind == COMPARES_INTEGER)
                return a->integer < b->integer ? -1 : a->integer > b->integer;
        if (kind == COMPARES_STRING) {
                int order = slice_compare(a->string, b->string);
                return order < 0 ? -1 : order > 0;
        }
        if (isnan(a->real) || isnan(b->real))
                return 2;
        return a->real < b->real ? -1 : a->real > b->real;
}

enum ordering { LESS, LESS_OR_EQUAL, GREATER, GREATER_OR_EQUAL };

static int call_order(struct run *run, const struct value *args, size_t n, struct value *ret)
{
        enum comparable kind = comparable_as(&args[0]);
        if (args[0].type == VALUE_NONE || args[1].type == VALUE_NONE)
                return call_fail(run, "invalid type for comparison");
        if (kind == COMPARES_NOT)
                return call_fail(run, "invalid type for comparison");
        if (kind != comparable_as(&args[1]))
                return comparable_as(&args[1]) == COMPARES_NOT ? call_fail(run, "invalid type for comparison")
                                                               : incompatible(run, &args[0], &args[1]);
        if (kind == COMPARES_BOOL)
                return call_fail(run, "invalid type for comparison");
        int order = compare(kind, &args[0], &args[1]);
        bool equal = run->variant == LESS_OR_EQUAL || run->variant == GREATER_OR_EQUAL;
        bool less = run->variant == LESS || run->variant == LESS_OR_EQUAL;
        *ret = value_bool(order == 0 ? equal : order == (less ? -1 : 1));
        return 0;
}

/* ---- looking inside ---- */

static int call_len(struct run *run, const struct value *args, size_t n, struct value *ret)
{
        const struct value *v = &args[0];
        if (v->type == VALUE_NONE)
                return call_fail(run, "%s",
                                 v->boxed ? "len of nil pointer"
                                          : "reflect: call of reflect.Value.Type on zero Value");
        if (v->type != VALUE_STRING && !value_is_list(v) && !value_is_map(v))
                return call_fail(run, "len of type %s", value_type_name(v));
        size_t len = v->type == VALUE_STRING ? v->string.len
                     : value_is_list(v)      ? list_length(v->list)
                                             : dict_length(v->map);
        *ret = value_integer(VALUE_INT, (int64_t)len);
        return 0;
}

static int index_number(struct run *run, const struct value *index, const char *of, size_t cap, size_t *ret)
{
        if (index->type == VALUE_NONE)
                return call_fail(run, "cannot index slice/array with nil");
        if (!value_is_integer(index))
                return call_fail(run, "cannot index slice/array with type %s", value_type_name(index));
        if (index->integer < 0 || (uint64_t)index->integer > cap)
                return call_fail(run, "index out of range: %lld", (long long)index->integer);
        if ((uint64_t)index->integer == cap)
                return call_fail(run, "reflect: %s index out of range", of);
        *ret = (size_t)index->integer;
        return 0;
}

static int index_map(struct run *run, const struct value *of, const struct value *key, struct value *ret)
{
        struct value *found;
        if (key->type == VALUE_NONE)
                return call_fail(run, "value is nil; should be of type string");
        if (key->type != VALUE_STRING)
                return call_fail(run, "value has type %s; should be string", value_type_name(key));
        TRY(dict_find(run, of->map, key->string, &found));
        if (found)
                *ret = *found;
        else if (of->type == VALUE_STRING_MAP)
                *ret = value_string(SLICE(""));
        else
                *ret = value_boxed(value_none());
        return 0;
}

static int index_one(struct run *run, const struct value *of, const struct value *index, struct value *ret)
{
        size_t at;
        if (of->type == VALUE_NONE)
                return call_fail(run, "index of nil pointer");
        if (value_is_map(of))
                return index_map(run, of, index, ret);
        if (of->type == VALUE_STRING) {
                TRY(index_number(run, index, "string", of->string.len, &at));
                *ret = value_integer(VALUE_UINT8, (unsigned char)of->string.data[at]);
                return 0;
        }
        if (!value_is_list(of))
                return call_fail(run, "can't index item of type %s", value_type_name(of));
        TRY(index_number(run, index, "slice", list_length(of->list), &at));
        TRY(list_load(run, of->list));
        *ret = of->list->at[at];
        return 0;
}

static int call_index(struct run *run, const struct value *args, size_t n, struct value *ret)
{
        struct value at = args[0];
        if (at.type == VALUE_NONE)
                return call_fail(run, "index of untyped nil");
        for (size_t i = 1; i < n; i++) {
                struct value next = value_none();
                TRY(index_one(run, &at, &args[i], &next));
                at = next;
        }
        *ret = at;
        return 0;
}

/* ---- printing ---- */

static int call_print(struct run *run, const struct value *args, size_t n, struct value *ret)
{
        TRY(value_sprint(run, args, n, run->variant, run_scratch(run)));
        return run_take_scratch(run, ret);
}

static int call_printf(struct run *run, const struct value *args, size_t n, struct value *ret)
{
        TRY(value_printf(run, args[0].string, args + 1, n - 1, run_scratch(run)));
        return run_take_scratch(run, ret);
}

/* ---- escaping ---- */

enum escaping { ESCAPES_HTML, ESCAPES_JS, ESCAPES_QUERY };

static int escape_html(struct buf *b, uint32_t c)
{
        switch (c) {
        case '"':
                return buf_append_str(b, "&#34;");
        case '\'':
                return buf_append_str(b, "&#39;");
        case '&':
                return buf_append_str(b, "&amp;");
        case '<':
                return buf_append_str(b, "&lt;");
        case '>':
                return buf_append_str(b, "&gt;");
        default:
                return buf_append_str(b, "\xef\xbf\xbd"); /* NUL */
        }
}

static int escape_js(struct buf *b, uint32_t c)
{
        if (c == '\\' || c == '\'' || c == '"')
                return buf_printf(b, "\\%c", (char)c);
        return buf_printf(b, "\\u%04X", c);
}

static bool needs_escape(enum escaping how, uint32_t c)
{
        if (how == ESCAPES_HTML)
                return c == 0 || (c < 0x80 && strchr("\"'&<>", (int)c));
        return c < 0x20 || (c < 0x80 ? strchr("\\'\"<>&=", (int)c) != NULL : !rune_is_print(c));
}

static void escape_query(struct buf *b, struct slice s)
{
        for (size_t i = 0; i < s.len; i++) {
                unsigned char c = (unsigned char)s.data[i];
                if (c < 0x80 && (rune_is_letter(c) || rune_is_digit(c) || strchr("-_.~", c)) && c)
                        buf_append_char(b, (char)c);
                else if (c == ' ')
                        buf_append_char(b, '+');
                else
                        buf_printf(b, "%%%02X", c);
        }
}

static void escape(struct buf *b, struct slice s, enum escaping how)
{
        size_t width;
        if (how == ESCAPES_QUERY) {
                escape_query(b, s);
                return;
        }
        for (size_t at = 0; at < s.len; at += width) {
                uint32_t c = rune_decode(s.data + at, s.len - at, &width);
                if (!needs_escape(how, c))
                        buf_append(b, s.data + at, width);
                else
                        how == ESCAPES_HTML ? escape_html(b, c) : escape_js(b, c);
        }
}

static int call_escape(struct run *run, const struct value *args, size_t n, struct value *ret)
{
        AUTO_BUF struct buf text;
        buf_init(&text, LIMIT_TEMPLATE_MEMORY_BYTES);
        for (size_t i = 0; i < n; i++) {
                bool nothing = args[i].type == VALUE_NONE;
                bool blank = i && args[i].type != VALUE_STRING && args[i - 1].type != VALUE_STRING &&
                             !nothing && args[i - 1].type != VALUE_NONE;
                buf_append_str(&text, blank ? " " : "");
                if (nothing)
                        buf_append_str(&text, "<no value>");
                else
                        TRY(value_print(run, &args[i], &text));
        }
        TRY(run_check_buf(run, &text));
        TRY(run_spend_bytes(run, text.len));
        escape(run_scratch(run), (struct slice){ text.data, text.len }, (enum escaping)run->variant);
        return run_take_scratch(run, ret);
}

static int call_call(struct run *run, const struct value *args, size_t n, struct value *ret)
{
        if (args[0].type == VALUE_NONE)
                return call_fail(run, "call of nil");
        struct buf *text = run_scratch(run);
        if (run->callee)
                node_write(run->callee, text);
        else if (args[0].type == VALUE_STRING)
                buf_append(text, args[0].string.data, args[0].string.len);
        else
                buf_printf(text, "<%s Value>", value_static_name(&args[0]));
        TRY(run_check_buf(run, text));
        return call_fail(run, "non-function %s of type %s", text->data, value_type_name(&args[0]));
}

static const struct function functions[] = {
        { "and", NULL, { TAKES_VALUE }, TAKES_VALUE, .stops_early = true, .variant = false },
        { "or", NULL, { TAKES_VALUE }, TAKES_VALUE, .stops_early = true, .variant = true },
        { "not", call_not, { TAKES_VALUE } },
        { "eq", call_eq, { TAKES_VALUE }, TAKES_VALUE },
        { "ne", call_ne, { TAKES_VALUE, TAKES_VALUE } },
        { "lt", call_order, { TAKES_VALUE, TAKES_VALUE }, .variant = LESS },
        { "le", call_order, { TAKES_VALUE, TAKES_VALUE }, .variant = LESS_OR_EQUAL },
        { "gt", call_order, { TAKES_VALUE, TAKES_VALUE }, .variant = GREATER },
        { "ge", call_order, { TAKES_VALUE, TAKES_VALUE }, .variant = GREATER_OR_EQUAL },
        { "len", call_len, { TAKES_VALUE } },
        { "index", call_index, { TAKES_VALUE }, TAKES_VALUE },
        { "print", call_print, { 0 }, TAKES_ANY, .variant = false },
        { "println", call_print, { 0 }, TAKES_ANY, .variant = true },
        { "printf", call_printf, { TAKES_STRING }, TAKES_ANY },
        { "html", call_escape, { 0 }, TAKES_ANY, .variant = ESCAPES_HTML },
        { "js", call_escape, { 0 }, TAKES_ANY, .variant = ESCAPES_JS },
        { "urlquery", call_escape, { 0 }, TAKES_ANY, .variant = ESCAPES_QUERY },
        { "call", call_call, { TAKES_VALUE }, TAKES_VALUE },
};

const struct function_table builtin_functions = { functions, ARRAY_LEN(functions) };
