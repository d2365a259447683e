/* What of a text has to become what else, for one value to change. */
#include "hub-agent/manifest-generation/update/yaml_edit_internal.h"

#define SPLICE_MAX (1u << 20)

int edit_splice(struct editing *e, size_t begin, size_t end, const struct buf *b)
{
        const char *text = "";

        ASSERT(e->splices->n < ARRAY_LEN(e->splices->at));
        if (b) {
                TRY(buf_status(b, e->err, "what is written into YAML"));
                text = arena_strndup(e->arena, b->data, b->len);
        }
        if (!text)
                return error_no_memory(e->err);
        e->splices->at[e->splices->n++] = (struct edit_splice){ begin, end, text };
        return 0;
}

static bool is_in(struct slice text, size_t from, size_t to, char c)
{
        return from < to && memchr(text.data + from, c, to - from) != NULL;
}

static const struct edit_level *last_level(const struct editing *e)
{
        return &e->found->levels[e->found->n - 1];
}

static bool is_in_flow(const struct editing *e)
{
        for (size_t i = 0; i < e->found->n; i++)
                if (e->found->levels[i].at->style == YAML_PART_FLOW)
                        return true;
        return false;
}

/* ---- another value ---- */

/* A value of which nothing is written. In brackets even its colon may be missing. */
static int fill_empty(struct editing *e, struct buf *b)
{
        const struct edit_level *l = last_level(e);
        size_t at = l->value->start;

        if (l->key && !is_in(e->text, l->key->end, at, ':')) {
                at = l->key->end;
                buf_append_str(b, ": ");
        } else if (at > 0 && e->text.data[at - 1] != ' ') {
                buf_append_char(b, ' ');
        }
        edit_write_scalar(b, e->edit->value, YAML_PART_PLAIN, is_in_flow(e));
        return edit_splice(e, at, at, b);
}

static bool is_text(const struct yaml_part *p)
{
        return !p->tag || strcmp(p->tag, "!") == 0 || strcmp(p->tag, "tag:yaml.org,2002:str") == 0;
}

int edit_replace(struct editing *e)
{
        const struct yaml_part *value = last_level(e)->value;
        AUTO_BUF struct buf b;

        buf_init(&b, SPLICE_MAX);
        if (value->kind != YAML_PART_SCALAR)
                return error_set(e->err, ERR_INVALID, "yaml: line %u: there is no scalar to be changed",
                                 value->line + 1);
        if (!is_text(value))
                return error_set(e->err, ERR_INVALID, "yaml: line %u: what has the tag %s is not changed",
                                 value->line + 1, value->tag);
        if (value->start == value->end)
                return fill_empty(e, &b);
        edit_write_scalar(&b, e->edit->value, value->style, is_in_flow(e));
        return edit_splice(e, value->start, edit_content_end(e->text, value), &b);
}

/* ---- a new member ---- */

/* The steps that are missing. */
struct rest {
        const struct doc_step *steps;
        size_t n;
};

static struct rest rest_of(const struct editing *e)
{
        const struct doc_place *p = &e->edit->place;

        return (struct rest){ p->steps + e->found->n_steps, p->n - e->found->n_steps };
}

/* "a: {b: value}", quoted as JSON has it or not. */
static void write_flow(const struct editing *e, struct buf *b, struct rest rest, bool quoted)
{
        enum yaml_part_style style = quoted ? YAML_PART_DOUBLE_QUOTED : YAML_PART_PLAIN;

        for (size_t i = 0; i < rest.n; i++) {
                if (i)
                        buf_append_char(b, '{');
                edit_write_scalar(b, rest.steps[i].key, style, true);
                buf_append_str(b, ": ");
        }
        edit_write_scalar(b, e->edit->value, style, true);
        for (size_t i = 1; i < rest.n; i++)
                buf_append_char(b, '}');
}

/* Each step on a line of its own. */
static void write_block(const struct editing *e, struct buf *b, struct rest rest, size_t column, size_t unit)
{
        for (size_t i = 0; i < rest.n; i++) {
                if (i)
                        buf_append_str(b, edit_line_break(e->text));
                for (size_t k = 0; k < column + i * unit; k++)
                        buf_append_char(b, ' ');
                edit_write_scalar(b, rest.steps[i].key, YAML_PART_PLAIN, false);
                buf_append_char(b, ':');
        }
        buf_append_char(b, ' ');
        edit_write_scalar(b, e->edit->value, YAML_PART_PLAIN, false);
}

/* How far members stand to the right of the mapping above. */
static size_t indentation(const struct editing *e)
{
        const struct edit_found *f = e->found;
        const struct yaml_part *below = edit_collection(f);

        for (size_t i = f->n; i-- > 0; below = f->levels[i].at)
                if (f->levels[i].key && below->style == YAML_PART_BLOCK &&
                    below->column > f->levels[i].at->column)
                        return below->column - f->levels[i].at->column;
        return 2;
}

/* Lines behind those of a part. */
static int add_lines(struct editing *e, const struct yaml_part *behind, size_t column)
{
        size_t at = edit_behind_lines(e->text, behind);
        bool ended = at > 0 && strchr("\r\n", e->text.data[at - 1]);
        AUTO_BUF struct buf b;

        buf_init(&b, SPLICE_MAX);
        if (!ended)
                buf_append_str(&b, edit_line_break(e->text));
        write_block(e, &b, rest_of(e), column, indentation(e));
        if (ended)
                buf_append_str(&b, edit_line_break(e->text));
        return edit_splice(e, at, at, &b);
}

/* As JSON: what stands around is quoted. */
static bool is_quoted(const struct editing *e, const struct yaml_part *mapping)
{
        const struct yaml_part *key = mapping->first;

        for (size_t i = e->found->n; i-- > 0 && !key;)
                key = e->found->levels[i].key;
        return key && key->style == YAML_PART_DOUBLE_QUOTED;
}

static bool begins_its_line(struct slice text, size_t at)
{
        size_t start = edit_line_start(text, at);

        while (start < at && (text.data[start] == ' ' || text.data[start] == '\t'))
                start++;
        return start == at;
}

/* Where members of the mapping have lines of their own, so has the new one. */
static int add_to_brackets(struct editing *e, const struct yaml_part *mapping)
{
        const struct yaml_part *last = NULL;
        size_t at = mapping->start + 1, line;
        AUTO_BUF struct buf b;

        buf_init(&b, SPLICE_MAX);
        for (const struct yaml_part *k = mapping->first; k; k = k->next->next)
                last = k;
        if (last) {
                at = MAX(edit_content_end(e->text, last->next), last->end);
                buf_append_char(&b, ',');
                line = edit_line_start(e->text, last->start);
                if (begins_its_line(e->text, last->start)) {
                        buf_append_str(&b, edit_line_break(e->text));
                        buf_append(&b, e->text.data + line, last->start - line);
                } else {
                        buf_append_char(&b, ' ');
                }
        }
        write_flow(e, &b, rest_of(e), is_quoted(e, mapping));
        return edit_splice(e, at, at, &b);
}

/* What is there is null: "annotations:", with nothing or a word for it. */
static int add_to_null(struct editing *e, const struct yaml_part *null)
{
        const struct edit_level *l = last_level(e);
        bool written = null->start != null->end, flow = is_in_flow(e);
        AUTO_BUF struct buf b;

        buf_init(&b, SPLICE_MAX);
        if (l->key && !written && !flow)
                return add_lines(e, null, l->at->column + indentation(e));
        buf_append_str(&b, written ? "{" : " {");
        write_flow(e, &b, rest_of(e), is_quoted(e, null));
        buf_append_char(&b, '}');
        return edit_splice(e, null->start, null->end, &b);
}

int edit_add(struct editing *e)
{
        const struct yaml_part *mapping = edit_collection(e->found);

        if (mapping->kind == YAML_PART_SCALAR)
                return add_to_null(e, mapping);
        if (mapping->style == YAML_PART_FLOW)
                return add_to_brackets(e, mapping);
        return add_lines(e, mapping, mapping->column);
}

/* ---- a member less ---- */

/* Behind the colon of a key, and anchor and tag of its value. */
static size_t behind_colon(struct slice text, const struct yaml_part *key)
{
        size_t at = key->end, end;

        while (at < text.len && text.data[at] != ':')
                at++;
        end = ++at;
        while (at < text.len && text.data[at] == ' ')
                at++;
        while (at < text.len && (text.data[at] == '&' || text.data[at] == '!')) {
                while (at < text.len && !strchr(" \t\r\n", text.data[at]))
                        at++;
                end = at;
                while (at < text.len && text.data[at] == ' ')
                        at++;
        }
        return end;
}

static int remove_lines(struct editing *e, const struct edit_level *l)
{
        size_t begin = l->key->start, end = edit_behind_lines(e->text, l->value);

        if (begins_its_line(e->text, begin))
                return edit_splice(e, edit_line_start(e->text, begin), end, NULL);
        while (end < e->text.len && strchr(" \r\n", e->text.data[end]))
                end++;
        return edit_splice(e, begin, end, NULL);
}

static int remove_last_member(struct editing *e, const struct edit_level *l)
{
        const struct edit_level *above = e->found->n > 1 ? l - 1 : NULL;
        AUTO_BUF struct buf b;
        size_t at;

        buf_init(&b, 8);
        if (!above || !above->key) {
                buf_append_str(&b, "{}");
                return edit_splice(e, l->key->start, edit_content_end(e->text, l->value), &b);
        }
        at = behind_colon(e->text, above->key);
        buf_append_str(&b, " {}");
        TRY(edit_splice(e, at, at, &b));
        return remove_lines(e, l);
}

/* Between brackets: with the comma behind it or, of the last one, with that before it. */
static int remove_from_brackets(struct editing *e, const struct edit_level *l)
{
        size_t begin = l->key->start, end = MAX(edit_content_end(e->text, l->value), l->key->end);
        const struct yaml_part *next = l->value->next;

        if (next)
                return edit_splice(e, begin, next->start, NULL);
        if (l->before) {
                size_t before = MAX(edit_content_end(e->text, l->before->next), l->before->end);

                if (!is_in(e->text, before, begin, '#'))
                        begin = before;
                return edit_splice(e, begin, end, NULL);
        }
        while (end < e->text.len && strchr(" \t\r\n", e->text.data[end]))
                end++;
        if (end < e->text.len && e->text.data[end] == ',')
                return edit_splice(e, begin, end + 1, NULL);
        return edit_splice(e, begin, MAX(edit_content_end(e->text, l->value), l->key->end), NULL);
}

int edit_remove(struct editing *e)
{
        const struct edit_level *l = last_level(e);

        if (!l->key)
                return error_set(e->err, ERR_INVALID, "yaml: line %u: no item of a sequence is removed",
                                 l->value->line + 1);
        if (l->at->style == YAML_PART_FLOW)
                return remove_from_brackets(e, l);
        return l->value->next || l->before ? remove_lines(e, l) : remove_last_member(e, l);
}
