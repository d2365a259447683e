/* Values as Go's fmt prints them: the API server's messages quote what they refuse in this form. */
#include "common/base/memory.h"
#include "common/base/unicode.h"
#include "common/json/doc_write.h"

struct go_form {
        const char *map_open, *map_close, *list_open, *list_close, *between_members, *between_items, *null;
        bool quoted;
};

static const struct go_form plain = { "map[", "]", "[", "]", " ", " ", "<nil>", false };
static const struct go_form syntax = { "map[string]interface {}{", "}", "[]interface {}{", "}", ", ", ", ",
                                       "interface {}(nil)",        true };

static int write_go(const json_t *v, const struct go_form *form, struct buf *b);

static int write_text(const char *text, size_t len, const struct go_form *form, struct buf *b)
{
        return form->quoted ? write_quoted(b, (struct slice){ text, len }, QUOTE_PLAIN)
                            : buf_append(b, text, len);
}

static void free_keys(struct key_stack *keys)
{
        vec_free(keys);
}

static int write_map(const json_t *v, const struct go_form *form, struct buf *b)
{
        CLEANUP(free_keys) struct key_stack keys = { 0 };
        TRY(doc_push_sorted_keys(v, &keys));
        TRY(buf_append_str(b, form->map_open));
        for (size_t i = 0; i < keys.n; i++) {
                TRY(buf_append_str(b, i ? form->between_members : ""));
                TRY(write_text(keys.at[i], strlen(keys.at[i]), form, b));
                TRY(buf_append_char(b, ':'));
                TRY(write_go(json_object_get(v, keys.at[i]), form, b));
        }
        return buf_append_str(b, form->map_close);
}

static int write_list(const json_t *v, const struct go_form *form, struct buf *b)
{
        TRY(buf_append_str(b, form->list_open));
        for (size_t i = 0; i < json_array_size(v); i++) {
                TRY(buf_append_str(b, i ? form->between_items : ""));
                TRY(write_go(json_array_get(v, i), form, b));
        }
        return buf_append_str(b, form->list_close);
}

static int write_go(const json_t *v, const struct go_form *form, struct buf *b)
{
        char real[DOC_REAL_SIZE];

        switch (v ? json_typeof(v) : JSON_NULL) {
        case JSON_OBJECT:
                return write_map(v, form, b);
        case JSON_ARRAY:
                return write_list(v, form, b);
        case JSON_STRING:
                return write_text(json_string_value(v), json_string_length(v), form, b);
        case JSON_INTEGER:
                return buf_printf(b, "%" JSON_INTEGER_FORMAT, json_integer_value(v));
        case JSON_REAL:
                doc_format_real(json_real_value(v), real);
                return buf_append_str(b, real);
        case JSON_TRUE:
                return buf_append_str(b, "true");
        case JSON_FALSE:
                return buf_append_str(b, "false");
        default:
                return buf_append_str(b, form->null);
        }
}

int doc_write_go(const json_t *doc, struct buf *b)
{
        return write_go(doc, &plain, b);
}

int doc_write_go_syntax(const json_t *doc, struct buf *b)
{
        return write_go(doc, &syntax, b);
}
