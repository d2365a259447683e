#include "kubectl-fleet/plan_view.h"

#include "hub-agent/common.h"
#include "kubectl-fleet/placement_view.h"
#include "kubectl-fleet/run_view.h"

/* ---- clusters with the same changes ---- */

static bool same_fields(const struct planned_field_list *a, const struct planned_field_list *b)
{
        if (a->n != b->n)
                return false;
        for (uint32_t i = 0; i < a->n; i++)
                if (!text_equal(a->at[i].path, b->at[i].path) || !text_equal(a->at[i].from, b->at[i].from) ||
                    !text_equal(a->at[i].to, b->at[i].to))
                        return false;
        return true;
}

static bool same_object(const struct planned_object *a, const struct planned_object *b)
{
        return text_equal(a->change, b->change) && text_equal(a->kind, b->kind) && text_equal(a->ns, b->ns) &&
               text_equal(a->name, b->name) && text_equal(a->group, b->group) &&
               text_equal(a->version, b->version) && same_fields(&a->fields, &b->fields);
}

static bool same_plan(const struct cluster_plan *a, const struct cluster_plan *b)
{
        if (!text_equal(a->problem, b->problem) || a->objects.n != b->objects.n ||
            a->added.value != b->added.value || a->changed.value != b->changed.value ||
            a->removed.value != b->removed.value)
                return false;
        for (uint32_t i = 0; i < a->objects.n; i++)
                if (!same_object(&a->objects.at[i], &b->objects.at[i]))
                        return false;
        return true;
}

static struct plan_group *group_of(struct request_plan *r, const struct cluster_plan *c)
{
        for (size_t i = 0; i < r->n_groups; i++)
                if (same_plan(r->groups[i].plan, c))
                        return &r->groups[i];
        r->groups[r->n_groups].plan = c;
        return &r->groups[r->n_groups++];
}

int plan_group(struct arena *arena, struct request_plan *r)
{
        const struct cluster_plan_list *l = &r->plan->clusters;

        r->groups = ARENA_NEW_ARRAY(arena, struct plan_group, l->n + 1);
        if (!r->groups)
                return ERR_NO_MEMORY;
        for (uint32_t i = 0; i < l->n; i++) {
                struct plan_group *g = group_of(r, &l->at[i]);

                if (!g->clusters && !(g->clusters = ARENA_NEW_ARRAY(arena, const char *, l->n - i)))
                        return ERR_NO_MEMORY;
                g->clusters[g->n_clusters++] = or_empty(l->at[i].cluster_name);
        }
        return 0;
}

/* ---- requests ---- */

static size_t place_of(const struct update_run *run, const char *stage)
{
        uint32_t i = 0;

        for (; run->status && i < run->status->stages_status.n; i++)
                if (text_equal(run->status->stages_status.at[i].stage_name, stage))
                        break;
        return i;
}

const char *plan_when(const struct approval_request *r)
{
        const char *type = label_of(&r->object, LABEL_TASK_TYPE);

        if (text_equal(type, TASK_TYPE_BEFORE_STAGE))
                return "before";
        return text_equal(type, TASK_TYPE_AFTER_STAGE) ? "after" : "";
}

static bool asks_for_plan(const struct stage_task_list *l)
{
        for (uint32_t i = 0; i < l->n; i++)
                if (l->at[i].plan.value)
                        return true;
        return false;
}

bool plan_is_owed(const struct update_run *run, const struct approval_request *r)
{
        const struct strategy_spec *s = run->status ? run->status->strategy_snapshot : NULL;
        const char *stage = r->spec ? or_empty(r->spec->target_stage) : "", *when = plan_when(r);

        for (uint32_t i = 0; s && i < s->stages.n; i++)
                if (text_equal(stage, s->stages.at[i].name) &&
                    ((!text_equal(when, "after") && asks_for_plan(&s->stages.at[i].before_stage_tasks)) ||
                     (!text_equal(when, "before") && asks_for_plan(&s->stages.at[i].after_stage_tasks))))
                        return true;
        return false;
}

static bool comes_before(const struct plan_view *v, const struct request_plan *a,
                         const struct request_plan *b)
{
        size_t x = place_of(v->run, a->stage), y = place_of(v->run, b->stage);

        if (a->approved != b->approved)
                return b->approved;
        return x != y ? x < y : text_equal(a->when, "before") && !text_equal(b->when, "before");
}

static void insert(struct plan_view *v, struct request_plan r)
{
        size_t i = v->n++;

        for (; i > 0 && comes_before(v, &r, &v->at[i - 1]); i--)
                v->at[i] = v->at[i - 1];
        v->at[i] = r;
}

int plan_look(struct arena *arena, const struct update_run *run, const struct object_list *requests,
              const char *stage, struct plan_view *ret)
{
        *ret = (struct plan_view){ .run = run };
        ret->at = ARENA_NEW_ARRAY(arena, struct request_plan, requests->n + 1);
        if (!ret->at)
                return ERR_NO_MEMORY;
        for (size_t i = 0; i < requests->n; i++) {
                struct request_plan r = { .request = (const struct approval_request *)requests->at[i] };
                const struct approval_request_status *status = r.request->status;
                const struct condition *accepted;

                r.stage = r.request->spec ? or_empty(r.request->spec->target_stage) : "";
                if (stage && !text_equal(stage, r.stage))
                        continue;
                if (!status || !status->plan) {
                        ret->n_without++;
                        ret->n_owed += plan_is_owed(run, r.request);
                        continue;
                }
                accepted = condition_find(&status->conditions, CONDITION_APPROVAL_ACCEPTED);
                r.when = plan_when(r.request);
                r.approved = accepted && text_equal(accepted->status, CONDITION_TRUE);
                r.plan = status->plan;
                TRY(plan_group(arena, &r));
                insert(ret, r);
        }
        return 0;
}

/* ---- drawing ---- */

#define CLUSTERS_NAMED 3

static const struct {
        const char *change, *sign;
        enum tone tone;
} changes[] = {
        { PLANNED_ADDED, "+", TONE_GOOD },      { PLANNED_REMOVED, "-", TONE_BAD },
        { PLANNED_UNCHANGED, "=", TONE_FAINT }, { PLANNED_REFUSED, "!", TONE_BAD },
        { PLANNED_REPORTED, "?", TONE_BUSY },   { PLANNED_CHANGED, "~", TONE_BUSY },
};

static void draw_lines(struct screen *s, enum tone tone, const char *text)
{
        struct slice rest = slice_of(text), line;

        while (rest.len) {
                size_t start = s->out->len;

                slice_cut(&rest, '\n', &line);
                screen_text(s, tone, "        %.*s", (int)line.len, line.data);
                screen_end_line(s, start);
        }
}

static void draw_fields(struct screen *s, const struct planned_object *o)
{
        char more[64];

        for (uint32_t f = 0; f < o->fields.n; f++) {
                const struct planned_field *p = &o->fields.at[f];
                size_t start = s->out->len;

                screen_text(s, TONE_PLAIN, "        %s", or_empty(p->path));
                if (p->from || p->to)
                        screen_text(s, TONE_FAINT, "  %s → %s", p->from ? p->from : "(none)",
                                    p->to ? p->to : "(none)");
                screen_end_line(s, start);
        }
        snprintf(more, sizeof(more), "%lld more fields", (long long)o->omitted_fields.value);
        if (o->omitted_fields.value > 0)
                draw_lines(s, TONE_FAINT, more);
}

void plan_draw_object(struct screen *s, const struct planned_object *o, const char *note, const char *message)
{
        size_t start = s->out->len, i = 0;
        char text[RESOURCE_TEXT_SIZE];

        while (i + 1 < ARRAY_LEN(changes) && !text_equal(changes[i].change, o->change))
                i++;
        screen_text(s, changes[i].tone, "    %s %s", changes[i].sign,
                    resource_text(o->kind, o->ns, o->name, text));
        if (note)
                screen_text(s, TONE_FAINT, "  %s", note);
        screen_end_line(s, start);
        if (!text_empty(message))
                draw_lines(s, TONE_PLAIN, message);
        draw_fields(s, o);
}

static void draw_group(struct screen *s, const struct plan_group *g)
{
        size_t start = s->out->len,
               named = g->n_clusters > CLUSTERS_NAMED + 1 ? CLUSTERS_NAMED : g->n_clusters;
        const struct cluster_plan *p = g->plan;
        bool nothing = !p->added.value && !p->changed.value && !p->removed.value;

        screen_text(s, TONE_PLAIN, "  ");
        for (size_t i = 0; i < named; i++)
                screen_text(s, TONE_STRONG, "%s%s", i ? ", " : "", g->clusters[i]);
        if (named < g->n_clusters)
                screen_text(s, TONE_STRONG, " and %zu more", g->n_clusters - named);
        if (p->problem)
                screen_text(s, TONE_BAD, "  %s", p->problem);
        else if (nothing)
                screen_text(s, TONE_FAINT, "  no change");
        else
                screen_text(s, TONE_PLAIN, "  %lld to add, %lld to change, %lld to remove",
                            (long long)p->added.value, (long long)p->changed.value,
                            (long long)p->removed.value);
        screen_end_line(s, start);
        for (uint32_t i = 0; i < p->objects.n; i++)
                plan_draw_object(s, &p->objects.at[i], NULL, NULL);
}

static void draw_head(struct screen *s, const struct request_plan *r)
{
        size_t start = s->out->len;

        screen_text(s, TONE_STRONG, "%s%sstage %s", r->when, *r->when ? " " : "", r->stage);
        if (!text_empty(r->plan->resource_snapshot_index))
                screen_text(s, TONE_PLAIN, "  revision %s", r->plan->resource_snapshot_index);
        if (r->request) {
                screen_text(s, r->approved ? TONE_GOOD : TONE_BUSY,
                            r->approved ? "  approved" : "  waits for approval");
                screen_text(s, TONE_FAINT, "  %s", r->request->object.meta.name);
        }
        screen_end_line(s, start);
}

static void draw_request(const struct plan_view *v, struct screen *s, const struct request_plan *r,
                         const char *hub)
{
        size_t start;

        draw_head(s, r);
        for (size_t i = 0; i < r->n_groups; i++)
                draw_group(s, &r->groups[i]);
        if (r->plan->omitted_objects.value > 0) {
                start = s->out->len;
                screen_text(s, TONE_FAINT, "  %lld more objects are not listed for want of room",
                            (long long)r->plan->omitted_objects.value);
                screen_end_line(s, start);
        }
        if (r->request && !r->approved)
                approve_draw(s, "  ", &v->run->object, r->request->object.meta.name,
                             v->compared ? NULL : or_empty(r->request->status->plan_hash), hub);
}

void plan_draw(const struct plan_view *v, struct screen *s, const char *hub)
{
        size_t start;

        for (size_t i = 0; i < v->n; i++)
                draw_request(v, s, &v->at[i], hub);
        start = s->out->len;
        if (!v->compared)
                return;
        screen_text(s, TONE_FAINT,
                    "Snapshots were compared here: overrides and what envelopes hold are left "
                    "out of account.");
        screen_end_line(s, start);
}

/* ---- documents ---- */

static json_t *fields_doc(const struct planned_field_list *l)
{
        json_t *doc = json_array();

        for (uint32_t i = 0; doc && i < l->n; i++) {
                json_t *f = json_pack("{s:s}", "path", or_empty(l->at[i].path));

                if (f) {
                        doc_set_unless_empty(f, "from", l->at[i].from);
                        doc_set_unless_empty(f, "to", l->at[i].to);
                }
                json_array_append_new(doc, f);
        }
        return doc;
}

json_t *plan_object_doc(const struct planned_object *o)
{
        return json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:o}", "group", or_empty(o->group), "version",
                         or_empty(o->version), "kind", or_empty(o->kind), "namespace", or_empty(o->ns),
                         "name", or_empty(o->name), "change", or_empty(o->change), "fields",
                         fields_doc(&o->fields));
}

static json_t *group_doc(const struct plan_group *g)
{
        json_t *clusters = json_array(), *objects = json_array(), *doc;

        for (size_t i = 0; clusters && i < g->n_clusters; i++)
                json_array_append_new(clusters, json_string(g->clusters[i]));
        for (uint32_t i = 0; objects && i < g->plan->objects.n; i++)
                json_array_append_new(objects, plan_object_doc(&g->plan->objects.at[i]));
        doc = json_pack("{s:o, s:I, s:I, s:I, s:o}", "clusters", clusters, "added",
                        (json_int_t)g->plan->added.value, "changed", (json_int_t)g->plan->changed.value,
                        "removed", (json_int_t)g->plan->removed.value, "objects", objects);
        if (doc)
                doc_set_unless_empty(doc, "problem", g->plan->problem);
        return doc;
}

static json_t *request_doc(const struct request_plan *r)
{
        json_t *groups = json_array(), *doc;

        for (size_t i = 0; groups && i < r->n_groups; i++)
                json_array_append_new(groups, group_doc(&r->groups[i]));
        doc = json_pack("{s:s, s:s, s:b, s:I, s:o}", "stage", r->stage, "when", r->when, "approved",
                        r->approved, "omittedObjects", (json_int_t)r->plan->omitted_objects.value, "groups",
                        groups);
        if (doc)
                doc_set_unless_empty(doc, "revision", r->plan->resource_snapshot_index);
        if (doc && r->request) {
                doc_set_unless_empty(doc, "approvalRequest", r->request->object.meta.name);
                doc_set_unless_empty(doc, "planHash",
                                     r->request->status ? r->request->status->plan_hash : NULL);
        }
        return doc;
}

json_t *plan_doc(const struct plan_view *v)
{
        json_t *items = json_array();

        for (size_t i = 0; items && i < v->n; i++)
                json_array_append_new(items, request_doc(&v->at[i]));
        return json_pack("{s:s, s:s, s:b, s:o}", "kind", v->run->object.kind->kind, "name",
                         v->run->object.meta.name, "compared", v->compared, "plans", items);
}
