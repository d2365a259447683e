/* Documents to YAML in the shape of kubectl -o yaml, on libyaml's emitter. */
#include <math.h>
#include <yaml.h>

#include "common/base/limits.h"
#include "common/json/doc_write.h"
#include "common/json/yaml.h"

struct writer {
        yaml_emitter_t emitter;
        struct buf *b;
        struct key_stack keys;
        size_t depth;
};

static int write_node(struct writer *w, const json_t *v);

/* libyaml's output callback: 1 = fine. The buffer remembers its own failure. */
static int take_output(void *data, unsigned char *bytes, size_t n)
{
        return buf_append(((struct writer *)data)->b, bytes, n) == 0;
}

/* `made` is what yaml_x_event_initialize() returned; the emitter takes the event. */
static int emit(struct writer *w, yaml_event_t *event, int made)
{
        if (made && yaml_emitter_emit(&w->emitter, event))
                return 0;
        if (w->b->failed)
                return w->b->failed;
        return w->b->failed = made && w->emitter.error != YAML_MEMORY_ERROR ? ERR_INVALID : ERR_NO_MEMORY;
}

static int emit_scalar(struct writer *w, const char *text, size_t n, yaml_scalar_style_t style)
{
        yaml_event_t e;
        return emit(
                w, &e,
                yaml_scalar_event_initialize(&e, NULL, NULL, (const yaml_char_t *)text, (int)n, 1, 1, style));
}

/* Asks for the friendliest style; the emitter itself falls back to quotes where a style cannot hold the text.
 */
static int write_string(struct writer *w, const char *s, size_t n)
{
        yaml_scalar_style_t style = YAML_PLAIN_SCALAR_STYLE;
        if (memchr(s, '\n', n))
                style = YAML_LITERAL_SCALAR_STYLE;
        else if (yaml_needs_quotes((struct slice){ s, n }))
                style = YAML_DOUBLE_QUOTED_SCALAR_STYLE;
        return emit_scalar(w, s, n, style);
}

static int write_plain(struct writer *w, const char *text)
{
        return emit_scalar(w, text, strlen(text), YAML_PLAIN_SCALAR_STYLE);
}

static bool is_letter(char c)
{
        return (c | 0x20) >= 'a' && (c | 0x20) <= 'z';
}

static bool is_digit(char c)
{
        return c >= '0' && c <= '9';
}

/* Digits as a number, from where two keys begin to differ. */
static uint64_t number_at(const char *s, uint64_t before, size_t *ret_len)
{
        for (*ret_len = 0; is_digit(s[*ret_len]); ++*ret_len)
                before = before * 10 + (uint64_t)(s[*ret_len] - '0');
        return before;
}

/* Both differ at `at`, where no letter stands. Zeros count where digits that are not zero stand before them.
 */
static int compare_numbers(const char *a, const char *b, size_t at)
{
        uint64_t before = 0;
        for (size_t i = at; (a[at] == '0' || b[at] == '0') && i > 0 && is_digit(a[i - 1]) && !before; i--)
                before = a[i - 1] != '0';
        size_t a_len, b_len;
        uint64_t x = number_at(a + at, before, &a_len), y = number_at(b + at, before, &b_len);
        if (x != y)
                return x < y ? -1 : 1;
        if (a_len != b_len)
                return a_len < b_len ? -1 : 1;
        return (unsigned char)a[at] < (unsigned char)b[at] ? -1 : 1;
}

/* The order in which kubectl prints keys: runs of digits by their value, what is no letter before letters. */
static int compare_keys(const void *left, const void *right)
{
        const char *a = *(const char *const *)left, *b = *(const char *const *)right;
        size_t at = 0;
        while (a[at] && a[at] == b[at])
                at++;
        if (!a[at] || !b[at])
                return a[at] ? 1 : b[at] ? -1 : 0;
        bool x = is_letter(a[at]) || (unsigned char)a[at] >= 0x80,
             y = is_letter(b[at]) || (unsigned char)b[at] >= 0x80;
        if (x && y)
                return (unsigned char)a[at] < (unsigned char)b[at] ? -1 : 1;
        if (x || y)
                return y ? -1 : 1;
        return compare_numbers(a, b, at);
}

static int write_object(struct writer *w, const json_t *object)
{
        yaml_event_t e;
        TRY(emit(w, &e, yaml_mapping_start_event_initialize(&e, NULL, NULL, 1, YAML_BLOCK_MAPPING_STYLE)));
        size_t base = w->keys.n;
        if (doc_push_sorted_keys(object, &w->keys) < 0)
                return w->b->failed = ERR_NO_MEMORY;
        size_t end = w->keys.n;
        if (end > base)
                qsort(w->keys.at + base, end - base, sizeof(w->keys.at[0]), compare_keys);
        for (size_t i = base; i < end; i++) {
                const char *key = w->keys.at[i]; /* the vector may move below */
                TRY(write_string(w, key, strlen(key)));
                TRY(write_node(w, json_object_get(object, key)));
        }
        w->keys.n = base;
        return emit(w, &e, yaml_mapping_end_event_initialize(&e));
}

static int write_array(struct writer *w, const json_t *array)
{
        yaml_event_t e;
        TRY(emit(w, &e, yaml_sequence_start_event_initialize(&e, NULL, NULL, 1, YAML_BLOCK_SEQUENCE_STYLE)));
        for (size_t i = 0; i < json_array_size(array); i++)
                TRY(write_node(w, json_array_get(array, i)));
        return emit(w, &e, yaml_sequence_end_event_initialize(&e));
}

static int write_container(struct writer *w, const json_t *v)
{
        if (w->depth++ >= LIMIT_JSON_DEPTH)
                return w->b->failed = ERR_LIMIT;
        TRY(json_is_object(v) ? write_object(w, v) : write_array(w, v));
        w->depth--;
        return 0;
}

/* Whole numbers of up to 64 bits as such; others with as few digits as read back, and with an exponent below
 * 1e-4 and from 1e6 on, as Go's %g. */
static int write_real(struct writer *w, double real)
{
        char number[DOC_REAL_SIZE];
        bool whole = real == trunc(real) && real >= -0x1p63 && real < 0x1p64;
        if (whole || (fabs(real) >= 1e-4 && fabs(real) < 1e6)) {
                doc_format_real(real, number);
                return write_plain(w, number);
        }
        for (int precision = 0; precision <= 16; precision++) {
                snprintf(number, sizeof(number), "%.*e", precision, real);
                if (strtod(number, NULL) == real)
                        break;
        }
        return write_plain(w, number);
}

static int write_node(struct writer *w, const json_t *v)
{
        char number[DOC_REAL_SIZE];
        switch (json_typeof(v)) {
        case JSON_OBJECT:
        case JSON_ARRAY:
                return write_container(w, v);
        case JSON_STRING:
                return write_string(w, json_string_value(v), json_string_length(v));
        case JSON_INTEGER:
                snprintf(number, sizeof(number), "%" JSON_INTEGER_FORMAT, json_integer_value(v));
                return write_plain(w, number);
        case JSON_REAL:
                return write_real(w, json_real_value(v));
        case JSON_TRUE:
                return write_plain(w, "true");
        case JSON_FALSE:
                return write_plain(w, "false");
        default:
                return write_plain(w, "null");
        }
}

static int write_stream(struct writer *w, const json_t *doc)
{
        yaml_event_t e;
        TRY(emit(w, &e, yaml_stream_start_event_initialize(&e, YAML_UTF8_ENCODING)));
        TRY(emit(w, &e, yaml_document_start_event_initialize(&e, NULL, NULL, NULL, 1)));
        TRY(write_node(w, doc));
        TRY(emit(w, &e, yaml_document_end_event_initialize(&e, 1)));
        return emit(w, &e, yaml_stream_end_event_initialize(&e));
}

static int write_with_width(const json_t *doc, int width, struct buf *b)
{
        if (b->failed)
                return b->failed;
        struct writer w = { .b = b };
        if (!yaml_emitter_initialize(&w.emitter))
                return b->failed = ERR_NO_MEMORY;
        yaml_emitter_set_output(&w.emitter, take_output, &w);
        yaml_emitter_set_unicode(&w.emitter, 1);
        yaml_emitter_set_width(&w.emitter, width);
        int code = write_stream(&w, doc);
        yaml_emitter_delete(&w.emitter);
        vec_free(&w.keys);
        return code;
}

int yaml_write(const json_t *doc, struct buf *b)
{
        return write_with_width(doc, 80, b);
}

int yaml_write_unfolded(const json_t *doc, struct buf *b)
{
        return write_with_width(doc, -1, b);
}
