#include "hub-agent/common.h"
#include "kubectl-fleet/placement_view.h"
#include "kubectl-fleet/work_plan.h"

static void draw_count(struct screen *s, size_t n, const char *what)
{
        if (n)
                screen_text(s, TONE_PLAIN, ", %zu %s", n, what);
}

static void draw_heads(const struct work_plan *p, struct screen *s)
{
        size_t start = s->out->len;

        screen_text(s, TONE_STRONG, "Work %s/%s", or_empty(p->work->object.meta.ns),
                    p->work->object.meta.name);
        screen_text(s, TONE_PLAIN, "  %s", p->type);
        if (is_deleting(&p->work->object))
                screen_text(s, TONE_BAD, "  being deleted");
        screen_end_line(s, start);
        start = s->out->len;
        screen_text(s, TONE_PLAIN, "  ");
        screen_text(s, TONE_STRONG, "%s", p->member);
        screen_text(s, TONE_PLAIN, "  %zu to add, %zu to change, %zu to remove",
                    work_plan_count(p, PLANNED_ADDED), work_plan_count(p, PLANNED_CHANGED),
                    work_plan_count(p, PLANNED_REMOVED));
        draw_count(s, work_plan_count(p, PLANNED_UNCHANGED), "unchanged");
        draw_count(s, work_plan_count(p, PLANNED_REPORTED), "reported");
        draw_count(s, work_plan_count(p, PLANNED_REFUSED), "refused");
        screen_end_line(s, start);
}

void work_plan_draw(const struct work_plan *p, struct screen *s)
{
        draw_heads(p, s);
        for (size_t i = 0; i < p->n; i++)
                plan_draw_object(s, &p->at[i].object, p->at[i].reason ? p->at[i].reason : p->at[i].note,
                                 p->at[i].message);
}

static json_t *change_doc(const struct work_change *c)
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

json_t *work_plan_doc(const struct work_plan *p)
{
        static const struct {
                const char *key, *change;
        } counts[] = { { "added", PLANNED_ADDED },       { "changed", PLANNED_CHANGED },
                       { "removed", PLANNED_REMOVED },   { "unchanged", PLANNED_UNCHANGED },
                       { "reported", PLANNED_REPORTED }, { "refused", PLANNED_REFUSED } };
        json_t *objects = json_array(), *doc;

        for (size_t i = 0; objects && i < p->n; i++)
                json_array_append_new(objects, change_doc(&p->at[i]));
        doc = json_pack("{s:s, s:s, s:s, s:s, s:s, s:o}", "kind", work_kind.kind, "namespace",
                        or_empty(p->work->object.meta.ns), "name", p->work->object.meta.name, "member",
                        p->member, "type", p->type, "objects", objects);
        for (size_t i = 0; doc && i < ARRAY_LEN(counts); i++)
                json_object_set_new(doc, counts[i].key,
                                    json_integer((json_int_t)work_plan_count(p, counts[i].change)));
        return doc;
}
