/* CEL's standard functions: size, conversions, string tests, regular expressions, optionals. And the lookup
 * of all functions by name. */
#include <errno.h>
#include <math.h>
#include <stdarg.h>

#include "common/json/cel_internal.h"
#include "common/json/quantity.h"
#include "common/json/regex.h"

/* --- Text forms
 * ---------------------------------------------------------------------------------------------- */

int cel_printf(struct cel_run *run, struct cel_value *ret, const char *fmt, ...)
{
        char text[512];
        va_list args;
        va_start(args, fmt);
        int n = vsnprintf(text, sizeof(text), fmt, args);
        va_end(args);
        size_t len = MIN((size_t)MAX(n, 0), sizeof(text) - 1);
        char *copy = arena_strndup(&run->arena, text, len);
        if (!copy)
                return cel_no_memory(run);
        *ret = cel_text(CEL_STRING, copy, len);
        return 0;
}

size_t cel_count_runes(struct slice s)
{
        size_t n = 0;
        for (size_t i = 0; i < s.len; i++)
                n += ((unsigned char)s.data[i] & 0xc0) != 0x80;
        return n;
}

size_t cel_rune_offset(struct slice s, size_t runes)
{
        size_t i = 0;
        for (; i < s.len; i++)
                if (((unsigned char)s.data[i] & 0xc0) != 0x80 && runes-- == 0)
                        break;
        return i;
}

/* --- size, type
 * ---------------------------------------------------------------------------------------------- */

static int call_size(struct cel_run *run, const struct cel_value *args, size_t n, struct cel_value *ret)
{
        switch (args[0].kind) {
        case CEL_STRING:
                *ret = cel_int((int64_t)cel_count_runes(args[0].text));
                return cel_spend(run, args[0].text.len / 10);
        case CEL_BYTES:
                *ret = cel_int((int64_t)args[0].text.len);
                return 0;
        case CEL_LIST:
                *ret = cel_int((int64_t)cel_list_size(&args[0]));
                return 0;
        case CEL_MAP:
                *ret = cel_int((int64_t)cel_map_size(&args[0]));
                return 0;
        default:
                return cel_no_overload(run);
        }
}

static int call_type(struct cel_run *run, const struct cel_value *args, size_t n, struct cel_value *ret)
{
        const char *name = cel_kind_name(&args[0]);
        *ret = cel_text(CEL_TYPE, name, strlen(name));
        return 0;
}

static int call_dyn(struct cel_run *run, const struct cel_value *args, size_t n, struct cel_value *ret)
{
        *ret = args[0];
        return 0;
}

bool cel_type_named(const char *name, struct cel_value *ret)
{
        static const char *const names[] = { "bool", "bytes",     "double", "int",  "list",
                                             "map",  "null_type", "string", "type", "uint" };
        if (!text_in(name, names, ARRAY_LEN(names)))
                return false;
        *ret = cel_text(CEL_TYPE, name, strlen(name));
        return true;
}

/* --- Conversions
 * --------------------------------------------------------------------------------------------- */

/* The slice with a NUL behind it, for the C library's parsers; false if it cannot be a number. */
static bool number_text(struct slice s, char ret[64])
{
        if (!s.len || s.len >= 64 || memchr(s.data, '\0', s.len))
                return false;
        memcpy(ret, s.data, s.len);
        ret[s.len] = '\0';
        return !strpbrk(ret, " \t\n\r\f\vxXpP");
}

static int conversion_error(struct cel_run *run, const char *what)
{
        return cel_fail(run, "type conversion error from '%s' to '%s'", "string", what);
}

static int call_int(struct cel_run *run, const struct cel_value *args, size_t n, struct cel_value *ret)
{
        const struct cel_value *v = &args[0];
        char text[64];
        switch (v->kind) {
        case CEL_INT:
                *ret = *v;
                return 0;
        case CEL_UINT:
                *ret = cel_int(v->integer);
                return v->uinteger > INT64_MAX ? cel_fail(run, "integer overflow") : 0;
        case CEL_DOUBLE:
                if (!(v->real > -0x1p63 && v->real < 0x1p63))
                        return cel_fail(run, "integer overflow");
                *ret = cel_int((int64_t)v->real);
                return 0;
        case CEL_STRING:
                *ret = cel_int(0);
                return number_text(v->text, text) && text_parse_i64(text, &ret->integer)
                               ? 0
                               : conversion_error(run, "int");
        case CEL_TIMESTAMP:
                *ret = cel_int(v->time.seconds);
                return 0;
        case CEL_DURATION:
                *ret = cel_int(v->nanos);
                return 0;
        default:
                return cel_no_overload(run);
        }
}

static int call_uint(struct cel_run *run, const struct cel_value *args, size_t n, struct cel_value *ret)
{
        const struct cel_value *v = &args[0];
        char text[64];
        *ret = (struct cel_value){ .kind = CEL_UINT, .uinteger = v->uinteger };
        switch (v->kind) {
        case CEL_UINT:
                return 0;
        case CEL_INT:
                return v->integer < 0 ? cel_fail(run, "unsigned integer overflow") : 0;
        case CEL_DOUBLE:
                if (!(v->real > -1 && v->real < 0x1p64))
                        return cel_fail(run, "unsigned integer overflow");
                ret->uinteger = (uint64_t)v->real;
                return 0;
        case CEL_STRING:
                return number_text(v->text, text) && text_parse_u64(text, &ret->uinteger)
                               ? 0
                               : conversion_error(run, "uint");
        default:
                return cel_no_overload(run);
        }
}

static int call_double(struct cel_run *run, const struct cel_value *args, size_t n, struct cel_value *ret)
{
        const struct cel_value *v = &args[0];
        char text[64], *end = NULL;
        switch (v->kind) {
        case CEL_DOUBLE:
                *ret = *v;
                return 0;
        case CEL_INT:
                *ret = cel_double((double)v->integer);
                return 0;
        case CEL_UINT:
                *ret = cel_double((double)v->uinteger);
                return 0;
        case CEL_STRING:
                if (!number_text(v->text, text))
                        return conversion_error(run, "double");
                *ret = cel_double(strtod(text, &end));
                return *end ? conversion_error(run, "double") : 0;
        default:
                return cel_no_overload(run);
        }
}

static int call_string(struct cel_run *run, const struct cel_value *args, size_t n, struct cel_value *ret)
{
        return cel_to_string(run, &args[0], ret);
}

static int call_bytes(struct cel_run *run, const struct cel_value *args, size_t n, struct cel_value *ret)
{
        if (args[0].kind != CEL_STRING && args[0].kind != CEL_BYTES)
                return cel_no_overload(run);
        *ret = cel_text(CEL_BYTES, args[0].text.data, args[0].text.len);
        return 0;
}

static int call_bool(struct cel_run *run, const struct cel_value *args, size_t n, struct cel_value *ret)
{
        static const char *const words[] = { "1", "t", "true",  "TRUE",  "True",  "T",
                                             "0", "f", "false", "FALSE", "False", "F" };
        *ret = args[0];
        if (args[0].kind == CEL_BOOL)
                return 0;
        if (args[0].kind != CEL_STRING)
                return cel_no_overload(run);
        for (size_t i = 0; i < ARRAY_LEN(words); i++)
                if (slice_is(args[0].text, words[i])) {
                        *ret = cel_bool(i < ARRAY_LEN(words) / 2);
                        return 0;
                }
        return conversion_error(run, "bool");
}

/* --- String tests
 * -------------------------------------------------------------------------------------------- */

static int two_strings(struct cel_run *run, const struct cel_value *args)
{
        if (args[0].kind != CEL_STRING || args[1].kind != CEL_STRING)
                return cel_no_overload(run);
        return cel_spend(run, args[0].text.len / 10);
}

static int call_contains(struct cel_run *run, const struct cel_value *args, size_t n, struct cel_value *ret)
{
        struct slice a = args[0].text, b = args[1].text;
        TRY(two_strings(run, args));
        *ret = cel_bool(!b.len || memmem(a.data, a.len, b.data, b.len));
        return 0;
}

static int call_starts_with(struct cel_run *run, const struct cel_value *args, size_t n,
                            struct cel_value *ret)
{
        struct slice a = args[0].text, b = args[1].text;
        TRY(two_strings(run, args));
        *ret = cel_bool(a.len >= b.len && !memcmp(a.data, b.data, b.len));
        return 0;
}

static int call_ends_with(struct cel_run *run, const struct cel_value *args, size_t n, struct cel_value *ret)
{
        struct slice a = args[0].text, b = args[1].text;
        TRY(two_strings(run, args));
        *ret = cel_bool(a.len >= b.len && !memcmp(a.data + a.len - b.len, b.data, b.len));
        return 0;
}

/* --- Regular expressions
 * ------------------------------------------------------------------------------------- */

/* A literal pattern was compiled with the program. */
static int compile_pattern(struct cel_run *run, const struct cel_value *args, const struct regex **ret)
{
        TRY(two_strings(run, args));
        TRY(cel_spend(run, args[1].text.len + args[0].text.len * (args[1].text.len / 40 + 1) / 10));
        *ret = run->regex;
        if (run->regex)
                return 0;
        int code = regex_compile(&run->arena, args[1].text, ret, run->err);
        return code == ERR_NO_MEMORY ? cel_no_memory(run) : code;
}

static int call_matches(struct cel_run *run, const struct cel_value *args, size_t n, struct cel_value *ret)
{
        const struct regex *re = NULL;
        TRY(compile_pattern(run, args, &re));
        int found = regex_test(re, args[0].text);
        *ret = cel_bool(found > 0);
        return found < 0 ? error_no_memory(run->err) : 0;
}

static int call_find(struct cel_run *run, const struct cel_value *args, size_t n, struct cel_value *ret)
{
        const struct regex *re = NULL;
        struct regex_span span = { 0 };
        TRY(compile_pattern(run, args, &re));
        int found = regex_find(re, args[0].text, 0, &span);
        *ret = cel_text(CEL_STRING, args[0].text.data + span.begin, span.end - span.begin);
        return found < 0 ? error_no_memory(run->err) : 0;
}

static int call_find_all(struct cel_run *run, const struct cel_value *args, size_t n, struct cel_value *ret)
{
        const struct regex *re = NULL;
        struct slice text = args[0].text;
        TRY(compile_pattern(run, args, &re));
        if (n > 2 && args[2].kind != CEL_INT)
                return cel_no_overload(run);
        size_t most =
                n > 2 && args[2].integer >= 0 ? MIN((size_t)args[2].integer, text.len + 1) : text.len + 1;
        struct cel_value *items = ARENA_NEW_ARRAY(&run->arena, struct cel_value, most + 1);
        if (!items)
                return cel_no_memory(run);
        size_t kept = 0;
        for (size_t at = 0; kept < most && at <= text.len;) {
                struct regex_span span;
                int found = regex_find(re, text, at, &span);
                TRY(found);
                if (!found)
                        break;
                TRY(cel_spend(run, 1));
                items[kept++] = cel_text(CEL_STRING, text.data + span.begin, span.end - span.begin);
                at = span.end > span.begin ? span.end : span.end + 1;
        }
        *ret = (struct cel_value){ .kind = CEL_LIST };
        ret->list.items = items;
        ret->list.n = kept;
        return 0;
}

/* --- Optionals
 * ----------------------------------------------------------------------------------------------- */

static int call_optional_of(struct cel_run *run, const struct cel_value *args, size_t n,
                            struct cel_value *ret)
{
        return cel_make_optional(run, &args[0], ret);
}

static int call_optional_none(struct cel_run *run, const struct cel_value *args, size_t n,
                              struct cel_value *ret)
{
        return cel_make_optional(run, NULL, ret);
}

static bool is_zero(const struct cel_value *v)
{
        switch (v->kind) {
        case CEL_NULL:
                return true;
        case CEL_BOOL:
                return !v->boolean;
        case CEL_INT:
        case CEL_UINT:
        case CEL_DURATION:
                return v->integer == 0;
        case CEL_DOUBLE:
                return v->real == 0;
        case CEL_STRING:
        case CEL_BYTES:
                return v->text.len == 0;
        case CEL_LIST:
                return cel_list_size(v) == 0;
        case CEL_MAP:
                return cel_map_size(v) == 0;
        default:
                return false;
        }
}

static int call_optional_of_nonzero(struct cel_run *run, const struct cel_value *args, size_t n,
                                    struct cel_value *ret)
{
        return cel_make_optional(run, is_zero(&args[0]) ? NULL : &args[0], ret);
}

static int call_has_value(struct cel_run *run, const struct cel_value *args, size_t n, struct cel_value *ret)
{
        *ret = cel_bool(args[0].kind == CEL_OPTIONAL && args[0].inner);
        return args[0].kind == CEL_OPTIONAL ? 0 : cel_no_overload(run);
}

static int call_value(struct cel_run *run, const struct cel_value *args, size_t n, struct cel_value *ret)
{
        if (args[0].kind != CEL_OPTIONAL)
                return cel_no_overload(run);
        if (!args[0].inner)
                return cel_fail(run, "optional.none() dereference");
        *ret = *args[0].inner;
        return 0;
}

static int call_or_value(struct cel_run *run, const struct cel_value *args, size_t n, struct cel_value *ret)
{
        if (args[0].kind != CEL_OPTIONAL)
                return cel_no_overload(run);
        *ret = args[0].inner ? *args[0].inner : args[1];
        return 0;
}

static int call_or(struct cel_run *run, const struct cel_value *args, size_t n, struct cel_value *ret)
{
        if (args[0].kind != CEL_OPTIONAL || args[1].kind != CEL_OPTIONAL)
                return cel_no_overload(run);
        *ret = args[args[0].inner ? 0 : 1];
        return 0;
}

const struct cel_function cel_standard_functions[] = {
        { "size", false, 1, 1, call_size },
        { "size", true, 1, 1, call_size },
        { "type", false, 1, 1, call_type },
        { "dyn", false, 1, 1, call_dyn },
        { "int", false, 1, 1, call_int },
        { "uint", false, 1, 1, call_uint },
        { "double", false, 1, 1, call_double },
        { "string", false, 1, 1, call_string },
        { "bytes", false, 1, 1, call_bytes },
        { "bool", false, 1, 1, call_bool },
        { "contains", true, 2, 2, call_contains },
        { "startsWith", true, 2, 2, call_starts_with },
        { "endsWith", true, 2, 2, call_ends_with },
        { "matches", true, 2, 2, call_matches },
        { "matches", false, 2, 2, call_matches },
        { "find", true, 2, 2, call_find },
        { "findAll", true, 2, 3, call_find_all },
        { "optional.of", false, 1, 1, call_optional_of },
        { "optional.none", false, 0, 0, call_optional_none },
        { "optional.ofNonZeroValue", false, 1, 1, call_optional_of_nonzero },
        { "hasValue", true, 1, 1, call_has_value },
        { "value", true, 1, 1, call_value },
        { "orValue", true, 2, 2, call_or_value },
        { "or", true, 2, 2, call_or },
        { NULL, false, 0, 0, NULL },
};

/* --- Lookup
 * -------------------------------------------------------------------------------------------------- */

static const struct cel_function *const libraries[] = { cel_standard_functions, cel_string_functions,
                                                        cel_list_functions,     cel_time_functions,
                                                        cel_math_functions,     cel_kubernetes_functions,
                                                        cel_network_functions,  cel_access_functions };

const struct cel_function *cel_function_find(const char *name, bool member)
{
        for (size_t l = 0; l < ARRAY_LEN(libraries); l++)
                for (const struct cel_function *f = libraries[l]; f->name; f++)
                        if (f->member == member && !strcmp(f->name, name))
                                return f;
        return NULL;
}

bool cel_namespace_known(const char *name)
{
        static const char *const names[] = { "optional", "math",    "sets",   "cel",  "ip",
                                             "cidr",     "strings", "base64", "lists" };
        return text_in(name, names, ARRAY_LEN(names));
}
