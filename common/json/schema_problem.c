/* The texts of validation problems, as kube-apiserver words them. */
#include <math.h>

#include "common/base/unicode.h"
#include "common/json/schema_internal.h"

const char REASON_REQUIRED[] = "FieldValueRequired", REASON_INVALID[] = "FieldValueInvalid",
           REASON_TYPE[] = "FieldValueTypeInvalid", REASON_NOT_SUPPORTED[] = "FieldValueNotSupported",
           REASON_DUPLICATE[] = "FieldValueDuplicate", REASON_TOO_LONG[] = "FieldValueTooLong",
           REASON_TOO_MANY[] = "FieldValueTooMany", REASON_FORBIDDEN[] = "FieldValueForbidden";

#define PROBLEM_TEXT_MAX (64u << 10) /* a quoted value that is longer is cut by buf's limit */

static const char *to_arena(struct arena *arena, struct buf *b)
{
        return b->failed == ERR_NO_MEMORY ? NULL : arena_strndup(arena, b->data, b->len);
}

static void append_path(struct buf *b, const struct schema_path *at, bool dotted)
{
        if (!at || at->kind == PATH_ROOT)
                return;
        append_path(b, at->parent, dotted);
        bool dot = at->kind == PATH_CHILD || (dotted && at->kind == PATH_KEY);
        if (at->kind == PATH_INDEX)
                buf_printf(b, "[%zu]", at->index);
        else if (dot)
                buf_printf(b, "%s%s", b->len ? "." : "", at->name);
        else
                buf_printf(b, "[%s]", at->name);
}

const char *schema_path_text(struct arena *arena, const struct schema_path *at, bool dotted)
{
        AUTO_BUF struct buf b;
        buf_init(&b, PROBLEM_TEXT_MAX);
        append_path(&b, at, dotted);
        return to_arena(arena, &b);
}

int schema_error_at(struct error *err, const struct schema_path *at, const char *fmt, ...)
{
        char text[512];
        va_list args;
        va_start(args, fmt);
        vsnprintf(text, sizeof(text), fmt, args);
        va_end(args);
        AUTO_BUF struct buf b;
        buf_init(&b, 4096);
        append_path(&b, at, false);
        return error_set(err, ERR_INVALID, "%s: %s", b.data, text);
}

const char *schema_quote(struct arena *arena, const char *s)
{
        AUTO_BUF struct buf b;
        buf_init(&b, PROBLEM_TEXT_MAX);
        write_quoted(&b, slice_of(s), QUOTE_PLAIN);
        return to_arena(arena, &b);
}

/* Shortest digits that read back as the same number; exponent form as Go's %v chooses it. */
void schema_number_text(double d, char ret[32])
{
        if (!isfinite(d)) {
                snprintf(ret, 32, "%s", isnan(d) ? "NaN" : d > 0 ? "+Inf" : "-Inf");
                return;
        }
        char digits[32];
        int precision = 0;
        do
                snprintf(digits, sizeof(digits), "%.*e", precision, d);
        while (strtod(digits, NULL) != d && ++precision < 17);
        int exponent = (int)strtol(strchr(digits, 'e') + 1, NULL, 10);
        if (exponent < -4 || exponent >= 6)
                snprintf(ret, 32, "%s", digits);
        else
                snprintf(ret, 32, "%.*f", MAX(precision - exponent, 0), d);
}

const char *schema_value_text(struct arena *arena, const json_t *value)
{
        AUTO_BUF struct buf b;
        buf_init(&b, PROBLEM_TEXT_MAX);
        char number[32];
        if (json_is_string(value)) {
                write_quoted(&b, (struct slice){ json_string_value(value), json_string_length(value) },
                             QUOTE_PLAIN);
        } else if (json_is_real(value)) {
                schema_number_text(json_real_value(value), number);
                buf_append_str(&b, number);
        } else if (!value || json_is_null(value)) {
                buf_append_str(&b, "null");
        } else {
                doc_write_canonical(value, &b);
        }
        return to_arena(arena, &b);
}

const char *schema_value_type(const json_t *value)
{
        switch (json_typeof(value)) {
        case JSON_OBJECT:
                return "object";
        case JSON_ARRAY:
                return "array";
        case JSON_STRING:
                return "string";
        case JSON_INTEGER:
                return "integer";
        case JSON_REAL:
                return "number";
        case JSON_TRUE:
        case JSON_FALSE:
                return "boolean";
        case JSON_NULL:
                return "null";
        }
        UNREACHABLE();
}

const char *schema_type_name(enum schema_type type)
{
        static const char *const names[] = {
                "", "object", "array", "string", "integer", "number", "boolean"
        };
        return names[type];
}

int schema_problem_add(struct validation *v, const char *reason, const char *field, const char *message)
{
        struct schema_problems *p = v->problems;
        if (!field || !message)
                return error_no_memory(v->err);
        if (p->n >= SCHEMA_MAX_PROBLEMS)
                return 0;
        if (p->n == p->cap) {
                size_t cap = p->cap ? 2 * p->cap : 8;
                struct schema_problem *larger = ARENA_NEW_ARRAY(p->arena, struct schema_problem, cap);
                if (!larger)
                        return error_no_memory(v->err);
                if (p->n)
                        memcpy(larger, p->at, p->n * sizeof(*larger));
                p->at = larger;
                p->cap = cap;
        }
        p->at[p->n++] = (struct schema_problem){ reason, *field ? field : "<nil>", message };
        return 0;
}

int schema_problem_invalid(struct validation *v, const char *reason, const char *field, const json_t *bad,
                           const char *detail)
{
        struct arena *arena = v->problems->arena;
        const char *value = schema_value_text(arena, bad);
        if (!value || !detail)
                return error_no_memory(v->err);
        return schema_problem_add(v, reason, field,
                                  arena_printf(arena, "Invalid value: %s: %s", value, detail));
}

int schema_problem_required(struct validation *v, const struct schema_path *parent, const char *name)
{
        struct schema_path at = PATH_CHILD_OF(parent, name);
        return schema_problem_add(v, REASON_REQUIRED, schema_path_text(v->problems->arena, &at, true),
                                  "Required value");
}
