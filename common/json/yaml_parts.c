/* Parts of YAML with their places, on libyaml's events. */
#include "common/json/yaml_parts.h"

#include "common/base/limits.h"
#include "common/json/yaml_reader.h"

struct reading {
        struct yaml_reader yaml;
        struct arena *arena;
        struct slice text;
        size_t chars, bytes; /* a place in the text by both measures: libyaml counts characters */
        size_t depth;
};

static bool is_continuation(char c)
{
        return ((unsigned char)c & 0xc0) == 0x80;
}

static size_t byte_of(struct reading *r, size_t index)
{
        while (r->chars < index && r->bytes < r->text.len) {
                r->chars++;
                r->bytes++;
                while (r->bytes < r->text.len && is_continuation(r->text.data[r->bytes]))
                        r->bytes++;
        }
        while (r->chars > index && r->bytes > 0) {
                r->chars--;
                r->bytes--;
                while (r->bytes > 0 && is_continuation(r->text.data[r->bytes]))
                        r->bytes--;
        }
        return r->bytes;
}

static bool is_space(char c)
{
        return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* Behind anchors, tags, and what may stand behind these. */
static size_t skip_properties(struct slice text, size_t at, size_t end)
{
        while (at < end && (text.data[at] == '&' || text.data[at] == '!')) {
                while (at < end && !is_space(text.data[at]))
                        at++;
                while (at < end && (is_space(text.data[at]) || text.data[at] == '#')) {
                        bool comment = text.data[at] == '#';

                        while (comment && at < end && text.data[at] != '\n' && text.data[at] != '\r')
                                at++;
                        at += at < end;
                }
        }
        return at;
}

static const char *copy_name(struct reading *r, const yaml_char_t *name, bool *failed)
{
        const char *copy = name ? arena_strdup(r->arena, (const char *)name) : NULL;

        *failed |= name && !copy;
        return copy;
}

static int begin(struct reading *r, enum yaml_part_kind kind, const yaml_char_t *anchor,
                 const yaml_char_t *tag, struct yaml_part **ret)
{
        const yaml_event_t *e = &r->yaml.event;
        struct yaml_part *p = ARENA_NEW(r->arena, struct yaml_part);
        bool failed = !p;

        if (failed)
                return error_no_memory(r->yaml.err);
        p->kind = (uint8_t)kind;
        p->anchor = copy_name(r, anchor, &failed);
        p->tag = copy_name(r, tag, &failed);
        p->has_properties = anchor || tag;
        p->line = (uint32_t)e->start_mark.line;
        p->column = (uint32_t)e->start_mark.column;
        p->start = (uint32_t)byte_of(r, e->start_mark.index);
        p->end = (uint32_t)byte_of(r, e->end_mark.index);
        if (p->has_properties)
                p->start = (uint32_t)skip_properties(r->text, p->start,
                                                     kind == YAML_PART_SCALAR ? p->end : r->text.len);
        *ret = p;
        return failed ? error_no_memory(r->yaml.err) : 0;
}

static enum yaml_part_style style_of(yaml_scalar_style_t s)
{
        switch (s) {
        case YAML_SINGLE_QUOTED_SCALAR_STYLE:
                return YAML_PART_SINGLE_QUOTED;
        case YAML_DOUBLE_QUOTED_SCALAR_STYLE:
                return YAML_PART_DOUBLE_QUOTED;
        case YAML_LITERAL_SCALAR_STYLE:
                return YAML_PART_LITERAL;
        case YAML_FOLDED_SCALAR_STYLE:
                return YAML_PART_FOLDED;
        default:
                return YAML_PART_PLAIN;
        }
}

static int read_scalar(struct reading *r, struct yaml_part **ret)
{
        const yaml_event_t *e = &r->yaml.event;
        const char *text = (const char *)e->data.scalar.value;
        size_t n = e->data.scalar.length;

        TRY(begin(r, YAML_PART_SCALAR, e->data.scalar.anchor, e->data.scalar.tag, ret));
        (*ret)->style = (uint8_t)style_of(e->data.scalar.style);
        (*ret)->text = (struct slice){ arena_strndup(r->arena, text, n), n };
        return (*ret)->text.data ? 0 : error_no_memory(r->yaml.err);
}

static int read_alias(struct reading *r, struct yaml_part **ret)
{
        const char *name = (const char *)r->yaml.event.data.alias.anchor;

        TRY(begin(r, YAML_PART_ALIAS, NULL, NULL, ret));
        (*ret)->text = slice_of(arena_strdup(r->arena, name));
        return (*ret)->text.data ? 0 : error_no_memory(r->yaml.err);
}

static int read_part(struct reading *r, struct yaml_part **ret);

static int read_children(struct reading *r, struct yaml_part *p)
{
        bool mapping = p->kind == YAML_PART_MAPPING;
        yaml_event_type_t end = mapping ? YAML_MAPPING_END_EVENT : YAML_SEQUENCE_END_EVENT;
        struct yaml_part **behind = &p->first;

        for (;;) {
                struct yaml_part *child;

                TRY(yaml_next(&r->yaml));
                if (r->yaml.event.type == end)
                        return 0;
                TRY(read_part(r, &child));
                *behind = p->last = child;
                behind = &child->next;
        }
}

static int read_collection(struct reading *r, bool mapping, struct yaml_part **ret)
{
        const yaml_event_t *e = &r->yaml.event;
        struct yaml_part *p;
        bool flow;

        if (r->depth >= LIMIT_JSON_DEPTH)
                return error_set(r->yaml.err, ERR_LIMIT,
                                 "yaml: line %zu: more than %d levels of nesting (LIMIT_JSON_DEPTH)",
                                 e->start_mark.line + 1, LIMIT_JSON_DEPTH);
        flow = mapping ? e->data.mapping_start.style == YAML_FLOW_MAPPING_STYLE
                       : e->data.sequence_start.style == YAML_FLOW_SEQUENCE_STYLE;
        TRY(begin(r, mapping ? YAML_PART_MAPPING : YAML_PART_SEQUENCE,
                  mapping ? e->data.mapping_start.anchor : e->data.sequence_start.anchor,
                  mapping ? e->data.mapping_start.tag : e->data.sequence_start.tag, &p));
        p->style = flow ? YAML_PART_FLOW : YAML_PART_BLOCK;
        r->depth++;
        TRY(read_children(r, p));
        r->depth--;
        p->end = flow      ? (uint32_t)byte_of(r, r->yaml.event.end_mark.index)
                 : p->last ? p->last->end
                           : p->start;
        if (p->has_properties && p->first && !flow) {
                p->line = p->first->line;
                p->column = p->first->column;
        }
        *ret = p;
        return 0;
}

static int read_part(struct reading *r, struct yaml_part **ret)
{
        switch (r->yaml.event.type) {
        case YAML_SCALAR_EVENT:
                return read_scalar(r, ret);
        case YAML_ALIAS_EVENT:
                return read_alias(r, ret);
        case YAML_MAPPING_START_EVENT:
                return read_collection(r, true, ret);
        case YAML_SEQUENCE_START_EVENT:
                return read_collection(r, false, ret);
        default:
                return yaml_fail(&r->yaml, "expected a value");
        }
}

static int read_stream(struct reading *r, struct yaml_part **ret)
{
        for (;;) {
                TRY(yaml_next(&r->yaml));
                if (r->yaml.event.type == YAML_STREAM_END_EVENT)
                        return 0;
                if (r->yaml.event.type != YAML_DOCUMENT_START_EVENT)
                        continue;
                TRY(yaml_next(&r->yaml));
                TRY(read_part(r, ret));
                ret = &(*ret)->next;
        }
}

int yaml_parts_read(struct arena *arena, struct slice text, struct yaml_part **ret, struct error *err)
{
        struct reading r = { .arena = arena, .text = text };
        struct yaml_part *first = NULL;
        struct error own = { 0 };
        int code;

        if (text.len > LIMIT_YAML_BYTES)
                return error_set(err, ERR_LIMIT, "YAML of %zu bytes is larger than %u (LIMIT_YAML_BYTES)",
                                 text.len, LIMIT_YAML_BYTES);
        TRY(yaml_open_reader(&r.yaml, text, err ? err : &own));
        code = read_stream(&r, &first);
        yaml_close_reader(&r.yaml);
        if (code < 0)
                return code;
        *ret = first;
        return 0;
}
