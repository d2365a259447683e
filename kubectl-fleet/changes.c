#include "kubectl-fleet/changes.h"

#include "hub-agent/common.h"
#include "hub-agent/staged-update/update_plan.h"
#include "kubectl-fleet/output.h"
#include "kubectl-fleet/placement_view.h"
#include "member-agent/apply/clean.h"

/* ---- one object ---- */

static int bare(struct arena *arena, const json_t *doc, json_t **ret, struct error *err)
{
        json_t *copy = doc_copy(doc);

        if (!copy)
                return error_no_memory(err);
        *ret = copy;
        TRY(doc_keep(arena, copy, err));
        return clean_for_apply(copy, err);
}

int change_compare(struct arena *arena, const json_t *before, const json_t *after, struct planned_object *o,
                   struct error *err)
{
        json_t *was = NULL, *becomes = NULL;

        TRY(bare(arena, before, &was, err));
        TRY(bare(arena, after, &becomes, err));
        o->change = doc_equal(was, becomes) ? PLANNED_UNCHANGED : PLANNED_CHANGED;
        return text_equal(o->change, PLANNED_CHANGED) ? plan_fields(arena, was, becomes, o, err) : 0;
}

static bool is_served(const json_t *definition, const char *version)
{
        json_t *v;
        size_t i;

        json_array_foreach(doc_get_array(definition, "spec.versions"), i, v)
                if (text_equal(doc_get_string(v, "name"), version) && json_is_true(doc_get(v, "served")))
                        return true;
        return false;
}

bool definition_gives(const json_t *definition, struct slice group, const char *version, const char *kind,
                      bool namespaced)
{
        return slice_is(group, or_empty(doc_get_string(definition, "spec.group"))) &&
               text_equal(doc_get_string(definition, "spec.names.kind"), kind) &&
               text_equal(doc_get_string(definition, "spec.scope"), "Namespaced") == namespaced &&
               is_served(definition, version);
}

/* ---- all of them ---- */

size_t changes_count(const struct planned_changes *c, const char *change)
{
        size_t n = 0;

        for (size_t i = 0; i < c->n; i++)
                n += text_equal(c->at[i].object.change, change);
        return n;
}

static void draw_count(struct screen *s, size_t n, const char *what)
{
        if (n)
                screen_text(s, TONE_PLAIN, ", %zu %s", n, what);
}

void changes_draw(const struct planned_changes *c, const char *head, struct screen *s)
{
        size_t start = s->out->len;

        screen_text(s, TONE_PLAIN, "  ");
        screen_text(s, TONE_STRONG, "%s", head);
        screen_text(s, TONE_PLAIN, "  %zu to add, %zu to change, %zu to remove",
                    changes_count(c, PLANNED_ADDED), changes_count(c, PLANNED_CHANGED),
                    changes_count(c, PLANNED_REMOVED));
        draw_count(s, changes_count(c, PLANNED_UNCHANGED), "unchanged");
        draw_count(s, changes_count(c, PLANNED_REPORTED), "reported");
        draw_count(s, changes_count(c, PLANNED_REFUSED), "refused");
        screen_end_line(s, start);
        for (size_t i = 0; i < c->n; i++)
                plan_draw_object(s, &c->at[i].object, c->at[i].reason ? c->at[i].reason : c->at[i].note,
                                 c->at[i].message);
}

static json_t *change_doc(const struct planned_change *c)
{
        json_t *doc = plan_object_doc(&c->object);

        if (!doc)
                return NULL;
        doc_set_unless_empty(doc, "reason", c->reason);
        doc_set_unless_empty(doc, "message", c->message);
        doc_set_unless_empty(doc, "note", c->note);
        if (c->wave != NO_WAVE)
                json_object_set_new(doc, "wave", json_integer(c->wave));
        return doc;
}

void changes_to_doc(const struct planned_changes *c, json_t *doc)
{
        static const struct {
                const char *key, *change;
        } counts[] = { { "added", PLANNED_ADDED },       { "changed", PLANNED_CHANGED },
                       { "removed", PLANNED_REMOVED },   { "unchanged", PLANNED_UNCHANGED },
                       { "reported", PLANNED_REPORTED }, { "refused", PLANNED_REFUSED } };
        json_t *objects = json_array();

        for (size_t i = 0; objects && i < c->n; i++)
                json_array_append_new(objects, change_doc(&c->at[i]));
        if (doc)
                json_object_set(doc, "objects", objects);
        json_decref(objects);
        for (size_t i = 0; doc && i < ARRAY_LEN(counts); i++)
                json_object_set_new(doc, counts[i].key,
                                    json_integer((json_int_t)changes_count(c, counts[i].change)));
}

void changes_names(const struct planned_changes *c, struct buf *b)
{
        static const char *const moved[] = { PLANNED_ADDED, PLANNED_CHANGED, PLANNED_REMOVED };

        for (size_t i = 0; i < c->n; i++) {
                const struct planned_object *o = &c->at[i].object;

                if (text_in(o->change, moved, ARRAY_LEN(moved)))
                        output_object(b, slice_of(or_empty(o->group)), or_empty(o->kind), or_empty(o->name));
        }
}
