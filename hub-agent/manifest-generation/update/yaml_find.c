/* Where a value stands in YAML: the object by its identity, then member by member. */
#include "hub-agent/manifest-generation/update/yaml_edit_internal.h"

struct search {
        struct arena *arena;
        const struct yaml_edit *edit;
        struct edit_found now;   /* the way to what is looked at */
        struct edit_found plain; /* an object without namespace */
        struct edit_found exact; /* one with that namespace */
        size_t n_plain, n_exact;
        struct doc_step steps[2 * EDIT_LEVELS_MAX]; /* of `now` */
        size_t n_steps;
        struct error *err;
};

/* ---- members ---- */

static bool is_key(const struct yaml_part *p, const char *key)
{
        return p->kind == YAML_PART_SCALAR && slice_is(p->text, key);
}

/* *ret->key NULL: there is none. */
static void find_member(const struct yaml_part *mapping, const char *key, struct edit_level *ret)
{
        const struct yaml_part *before = NULL;

        *ret = (struct edit_level){ .at = mapping };
        if (mapping->kind != YAML_PART_MAPPING)
                return;
        for (const struct yaml_part *k = mapping->first; k; before = k, k = k->next->next)
                if (is_key(k, key)) {
                        *ret = (struct edit_level){ mapping, k, k->next, before };
                        return;
                }
}

static void find_item(const struct yaml_part *sequence, size_t index, struct edit_level *ret)
{
        const struct yaml_part *before = NULL;

        *ret = (struct edit_level){ .at = sequence };
        if (sequence->kind != YAML_PART_SEQUENCE)
                return;
        for (const struct yaml_part *i = sequence->first; i; before = i, i = i->next)
                if (index-- == 0) {
                        *ret = (struct edit_level){ sequence, NULL, i, before };
                        return;
                }
}

/* The text of a scalar within mappings; "" if there is none. */
static struct slice text_at(const struct yaml_part *mapping, const char *const *keys, size_t n)
{
        for (size_t i = 0; i < n; i++) {
                struct edit_level l;

                find_member(mapping, keys[i], &l);
                if (!l.value)
                        return SLICE("");
                mapping = l.value;
        }
        return mapping->kind == YAML_PART_SCALAR ? mapping->text : SLICE("");
}

/* ---- objects ---- */

static bool is_kind(struct slice text, const char *kind)
{
        return text.len == strlen(kind) && strncasecmp(text.data, kind, text.len) == 0;
}

static bool push(struct search *s, struct edit_level level, struct doc_step step)
{
        if (s->now.n == EDIT_LEVELS_MAX)
                return false;
        s->now.levels[s->now.n++] = level;
        s->steps[s->n_steps++] = step;
        return true;
}

static int keep(struct search *s, struct edit_found *ret)
{
        size_t n = s->n_steps, more = s->edit->place.n;
        struct doc_step *steps = ARENA_NEW_ARRAY(s->arena, struct doc_step, n + more);

        if (!steps)
                return error_no_memory(s->err);
        memcpy(steps, s->steps, n * sizeof(*steps));
        memcpy(steps + n, s->edit->place.steps, more * sizeof(*steps));
        *ret = s->now;
        ret->place = (struct doc_place){ steps, n + more };
        return 0;
}

static int take_object(struct search *s, const struct yaml_part *object)
{
        static const char *const kind[] = { "kind" }, *const name[] = { "metadata", "name" },
                                 *const ns[] = { "metadata", "namespace" };
        const struct yaml_object *want = &s->edit->object;
        struct slice has = text_at(object, ns, 2);

        if (!is_kind(text_at(object, kind, 1), want->kind) || !slice_is(text_at(object, name, 2), want->name))
                return 0;
        if (has.len == 0 || text_empty(want->ns)) {
                s->n_plain++;
                return keep(s, &s->plain);
        }
        if (!slice_is(has, want->ns))
                return 0;
        s->n_exact++;
        return keep(s, &s->exact);
}

static int search_in(struct search *s, const struct yaml_part *object);

static int search_items(struct search *s, const struct edit_level *items)
{
        size_t i = 0, n = s->now.n, n_steps = s->n_steps;
        const struct yaml_part *before = NULL;

        for (const struct yaml_part *item = items->value->first; item;
             before = item, item = item->next, i++) {
                if (push(s, *items, (struct doc_step){ "items", 0 }) &&
                    push(s, (struct edit_level){ items->value, NULL, item, before },
                         (struct doc_step){ NULL, i }))
                        TRY(search_in(s, item));
                s->now.n = n;
                s->n_steps = n_steps;
        }
        return 0;
}

/* A kind that ends in List is its items. */
static int search_in(struct search *s, const struct yaml_part *object)
{
        static const char *const kind[] = { "kind" };
        struct slice of = text_at(object, kind, 1);
        struct edit_level items;

        find_member(object, "items", &items);
        if (of.len >= 4 && memcmp(of.data + of.len - 4, "List", 4) == 0 && items.value &&
            items.value->kind == YAML_PART_SEQUENCE)
                return search_items(s, &items);
        return take_object(s, object);
}

/* yaml_parse_all() drops those. */
static bool is_nothing(const struct yaml_part *p)
{
        static const char *const nulls[] = { "", "~", "null", "Null", "NULL" };
        bool plain = p->kind == YAML_PART_SCALAR && p->style == YAML_PART_PLAIN && !p->tag;

        for (size_t i = 0; i < ARRAY_LEN(nulls) && plain; i++)
                if (slice_is(p->text, nulls[i]))
                        return true;
        return false;
}

static int search_all(struct search *s, const struct yaml_part *documents)
{
        size_t i = 0;

        for (const struct yaml_part *d = documents; d; d = d->next) {
                if (is_nothing(d))
                        continue;
                s->now = (struct edit_found){ .document = d };
                s->steps[0] = (struct doc_step){ NULL, i++ };
                s->n_steps = 1;
                TRY(search_in(s, d));
        }
        return 0;
}

/* ---- the way to the value ---- */

bool edit_is_shared(const struct yaml_part *document, const struct yaml_part *part)
{
        if (!part->anchor)
                return false;
        if (document->kind == YAML_PART_ALIAS)
                return slice_is(document->text, part->anchor);
        for (const struct yaml_part *c = document->first; c; c = c->next)
                if (edit_is_shared(c, part))
                        return true;
        return false;
}

static int check_alone(struct search *s, const struct edit_found *f, const struct yaml_part *part)
{
        const char *place = doc_place_text(s->arena, &s->edit->place);

        if (!place)
                return error_no_memory(s->err);
        if (part->kind == YAML_PART_ALIAS)
                return error_set(s->err, ERR_INVALID,
                                 "yaml: line %u: %s is shared by alias *%.*s and cannot be changed alone",
                                 part->line + 1, place, (int)part->text.len, part->text.data);
        if (edit_is_shared(f->document, part))
                return error_set(s->err, ERR_INVALID,
                                 "yaml: line %u: %s is shared by anchor &%s and cannot be changed alone",
                                 part->line + 1, place, part->anchor);
        return 0;
}

static int no_way(struct search *s, const struct yaml_part *at, const char *why)
{
        const char *place = doc_place_text(s->arena, &s->edit->place);

        if (!place)
                return error_no_memory(s->err);
        return error_set(s->err, ERR_NOT_FOUND, "yaml: line %u: %s cannot be here: %s", at->line + 1, place,
                         why);
}

/* The rest of the place can be added: mappings alone. */
static int check_rest(struct search *s, const struct edit_found *f, const struct yaml_part *at)
{
        for (size_t i = f->n_steps; i < s->edit->place.n && s->edit->value; i++)
                if (!s->edit->place.steps[i].key)
                        return no_way(s, at, "there is no sequence");
        return 0;
}

/* Follows the place as far as it is there. */
static int follow(struct search *s, struct edit_found *f)
{
        const struct doc_place *place = &s->edit->place;
        const struct yaml_part *at = edit_collection(f);

        TRY(check_alone(s, f, at));
        for (f->n_steps = 0; f->n_steps < place->n; f->n_steps++) {
                const struct doc_step *step = &place->steps[f->n_steps];
                bool last = f->n_steps + 1 == place->n;
                struct edit_level l;

                if (is_nothing(at) && step->key)
                        return check_rest(s, f, at);
                if (at->kind != (step->key ? YAML_PART_MAPPING : YAML_PART_SEQUENCE))
                        return no_way(s, at, step->key ? "there is no mapping" : "there is no sequence");
                if (step->key)
                        find_member(at, step->key, &l);
                else
                        find_item(at, step->index, &l);
                if (!l.value && !step->key)
                        return no_way(s, at, "there is no such item");
                if (!l.value)
                        return check_rest(s, f, at);
                if (f->n == EDIT_LEVELS_MAX)
                        return no_way(s, at, "it is nested too deep");
                f->levels[f->n++] = l;
                at = l.value;
                if (!last || s->edit->value || at->kind != YAML_PART_ALIAS)
                        TRY(check_alone(s, f, at));
        }
        return 0;
}

const struct yaml_part *edit_collection(const struct edit_found *f)
{
        return f->n ? f->levels[f->n - 1].value : f->document;
}

static int check_ancestors(struct search *s, const struct edit_found *f)
{
        TRY(check_alone(s, f, f->document));
        for (size_t i = 0; i < f->n; i++)
                TRY(check_alone(s, f, f->levels[i].value));
        return 0;
}

int edit_find(struct arena *arena, const struct yaml_part *documents, const struct yaml_edit *e,
              struct edit_found *ret, struct error *err)
{
        const struct yaml_object *o = &e->object;
        struct search *s = ARENA_NEW(arena, struct search);

        if (!s)
                return error_no_memory(err);
        s->arena = arena;
        s->edit = e;
        s->err = err;
        TRY(search_all(s, documents));
        if (s->n_exact + s->n_plain == 0)
                return error_set(err, ERR_NOT_FOUND, "there is no %s %s%s%s in it", o->kind, or_empty(o->ns),
                                 text_empty(o->ns) ? "" : "/", o->name);
        if (s->n_exact > 1 || (s->n_exact == 0 && s->n_plain > 1))
                return error_set(err, ERR_INVALID, "there is more than one %s %s%s%s in it", o->kind,
                                 or_empty(o->ns), text_empty(o->ns) ? "" : "/", o->name);
        *ret = s->n_exact ? s->exact : s->plain;
        TRY(check_ancestors(s, ret));
        return follow(s, ret);
}
