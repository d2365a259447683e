/* Documents to YAML in the shape of kubectl -o yaml, on libyaml's emitter. */
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

static int write_object(struct writer *w, const json_t *object)
{
        yaml_event_t e;
        TRY(emit(w, &e, yaml_mapping_start_event_initialize(&e, NULL, NULL, 1, YAML_BLOCK_MAPPING_STYLE)));
        size_t base = w->keys.n;
        if (doc_push_sorted_keys(object, &w->keys) < 0)
                return w->b->failed = ERR_NO_MEMORY;
        size_t end = w->keys.n;
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
                doc_format_real(json_real_value(v), number);
                return write_plain(w, number);
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

int yaml_write(const json_t *doc, struct buf *b)
{
        if (b->failed)
                return b->failed;
        struct writer w = { .b = b };
        if (!yaml_emitter_initialize(&w.emitter))
                return b->failed = ERR_NO_MEMORY;
        yaml_emitter_set_output(&w.emitter, take_output, &w);
        yaml_emitter_set_unicode(&w.emitter, 1);
        yaml_emitter_set_width(&w.emitter, 80);
        int code = write_stream(&w, doc);
        yaml_emitter_delete(&w.emitter);
        vec_free(&w.keys);
        return code;
}
