#include "hub-agent/manifest-generation/update/yaml_edit.h"

#include "common/base/limits.h"
#include "common/base/map.h"
#include "hub-agent/manifest-generation/update/words.h"
#include "hub-agent/manifest-generation/update/yaml_edit_internal.h"

/* One text on its way through several edits. `documents`: what it should mean by then. */
struct edited {
        struct slice text;
        struct buf own; /* what the text is in once something has changed */
        json_t *documents;
        struct error *err;
};

static bool is_there(const struct edit_found *f, const struct yaml_edit *e)
{
        return f->n_steps == e->place.n;
}

/* Whether the value is that string already. */
static bool is_so(const json_t *documents, const struct edit_found *f, const char *value)
{
        const json_t *now = doc_at(documents, &f->place);

        return value ? text_equal(json_string_value(now), value) : !now;
}

/* What "<<" brings is somewhere else. A scalar of its own goes over it; nothing can take it away, and no
 * mapping can be added to it. */
static int check_merge(const struct edited *d, const struct edit_found *f, const struct yaml_edit *e,
                       struct arena *arena)
{
        size_t missing = e->place.n - f->n_steps;
        struct doc_place first = f->place; /* of what is missing */
        const char *text;

        if (missing == 0 || (missing == 1 && e->value))
                return 0;
        first.n -= missing - 1;
        if (!doc_at(d->documents, &first))
                return 0;
        text = doc_place_text(arena, &e->place);
        if (!text)
                return error_no_memory(d->err);
        return error_set(d->err, ERR_INVALID,
                         "yaml: line %u: %s comes from elsewhere by << and cannot be changed alone",
                         edit_collection(f)->line + 1, text);
}

static int not_alone(const struct edited *d, const char *between, const char *why)
{
        return error_set(d->err, ERR_INVALID,
                         "its YAML is written in a way in which one value cannot be changed alone%s%s",
                         between, why);
}

static int by_place(const void *a, const void *b)
{
        const struct edit_splice *x = a, *y = b;

        if (x->begin != y->begin)
                return x->begin < y->begin ? -1 : 1;
        return (x->end > y->end) - (x->end < y->end);
}

static int splice(struct edited *d, struct edit_splice *at, size_t n)
{
        AUTO_BUF struct buf b;
        size_t end = 0;

        buf_init(&b, LIMIT_YAML_BYTES);
        qsort(at, n, sizeof(*at), by_place);
        for (size_t i = 0; i < n; i++) {
                if (at[i].begin < end)
                        return not_alone(d, "", "");
                buf_append(&b, d->text.data + end, at[i].begin - end);
                buf_append_str(&b, at[i].text);
                end = at[i].end;
        }
        buf_append(&b, d->text.data + end, d->text.len - end);
        TRY(buf_status(&b, d->err, "YAML that was changed"));
        buf_free(&d->own);
        d->own = b;
        buf_init(&b, 0);
        d->text = (struct slice){ d->own.data, d->own.len };
        return 0;
}

static int plan(struct editing *e)
{
        if (!is_there(e->found, e->edit))
                return edit_add(e);
        return e->edit->value ? edit_replace(e) : edit_remove(e);
}

static int apply_to_documents(struct edited *d, const struct edit_found *f, const char *value)
{
        return value ? doc_set_at(d->documents, &f->place, json_string(value), d->err)
                     : doc_remove_at(d->documents, &f->place, d->err);
}

/* One look at the text, in which each object may change once. */
struct round {
        struct arena arena;
        struct yaml_part *parts;
        struct map *touched; /* objects */
        struct edit_splice *at;
        size_t n, cap;
};

static int add_splices(struct edited *d, struct round *r, const struct edit_splices *s)
{
        for (size_t i = 0; i < s->n; i++) {
                struct edit_splice *at = words_grow(&r->arena, r->at, r->n, &r->cap, sizeof(*at));

                if (!at)
                        return error_no_memory(d->err);
                r->at = at;
                at[r->n++] = s->at[i];
        }
        return 0;
}

static int edit_one(struct edited *d, struct round *r, const struct yaml_edit *e)
{
        struct edit_splices splices = { .n = 0 };
        struct edit_found *found = ARENA_NEW(&r->arena, struct edit_found);
        struct editing editing = { &r->arena, d->text, e, found, &splices, d->err };

        if (!found)
                return error_no_memory(d->err);
        ASSERT(e->place.n > 0);
        if (e->value && !text_is_utf8(e->value, strlen(e->value)))
                return error_set(d->err, ERR_INVALID, "a value that is no UTF-8 cannot be in YAML");
        TRY(edit_find(&r->arena, r->parts, e, found, d->err));
        TRY(check_merge(d, found, e, &r->arena));
        if (is_so(d->documents, found, e->value))
                return 0;
        TRY(plan(&editing));
        TRY(add_splices(d, r, &splices));
        return apply_to_documents(d, found, e->value);
}

/* 1 the first time that an object is named in this round, else 0. */
static int touch(struct edited *d, struct round *r, const struct yaml_object *o)
{
        const char *key = arena_printf(&r->arena, "%s %s/%s", o->kind, or_empty(o->ns), o->name);

        if (!key)
                return error_no_memory(d->err);
        if (map_has(r->touched, key))
                return 0;
        return map_put(r->touched, key, r) < 0 ? error_no_memory(d->err) : 1;
}

static int edit_some(struct edited *d, struct round *r, const struct yaml_edit *edits, size_t n, bool *done,
                     size_t *ret_done)
{
        TRY(yaml_parts_read(&r->arena, d->text, &r->parts, d->err));
        r->touched = map_of_arena(&r->arena);
        if (!r->touched)
                return error_no_memory(d->err);
        for (size_t i = 0; i < n; i++) {
                int first = done[i] ? 0 : touch(d, r, &edits[i].object);

                if (first < 0)
                        return first;
                if (!first)
                        continue;
                TRY(edit_one(d, r, &edits[i]));
                done[i] = true;
                ++*ret_done;
        }
        return r->n ? splice(d, r->at, r->n) : 0;
}

/* Whatever people wrote: a text that would mean something else is not handed out. */
static int check(const struct edited *d)
{
        AUTO_JSON json_t *now = NULL;
        struct error why = { 0 };
        int code = yaml_parse_all(d->text, &now, &why);

        if (code == ERR_NO_MEMORY)
                return error_no_memory(d->err);
        if (code == 0 && doc_equal(now, d->documents))
                return 0;
        return not_alone(d, code < 0 ? ": " : "", why.text);
}

static int edit_each(struct edited *d, const struct yaml_edit *edits, size_t n, struct buf *ret)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        bool *done = ARENA_NEW_ARRAY(&arena, bool, n + 1);
        size_t n_done = 0;

        if (!done)
                return error_no_memory(d->err);
        while (n_done < n) {
                struct round r = { .arena = ARENA_INIT };
                int code = edit_some(d, &r, edits, n, done, &n_done);

                arena_free(&r.arena);
                TRY(code);
        }
        if (d->own.len)
                TRY(check(d));
        buf_append(ret, d->text.data, d->text.len);
        return buf_status(ret, d->err, "YAML that was changed");
}

int yaml_edit_all(struct slice text, const struct yaml_edit *edits, size_t n, struct buf *ret,
                  struct error *err)
{
        AUTO_JSON json_t *documents = NULL;
        struct edited d = { .text = text, .err = err };
        int code;

        TRY(yaml_parse_all(text, &documents, err));
        d.documents = documents;
        buf_init(&d.own, LIMIT_YAML_BYTES);
        code = edit_each(&d, edits, n, ret);
        buf_free(&d.own);
        return code;
}

int yaml_edit(struct slice text, const struct yaml_edit *e, struct buf *ret, struct error *err)
{
        return yaml_edit_all(text, e, 1, ret, err);
}
