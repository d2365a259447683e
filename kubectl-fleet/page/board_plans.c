/* What the stages of a run bring: the plans on its requests, and snapshots that are compared here. */
#include "common/base/map.h"
#include "hub-agent/common.h"
#include "kubectl-fleet/page/board.h"
#include "kubectl-fleet/page/row_parts.h"

/* ---- rows ---- */

/* Of a Secret nothing but the path, even where somebody wrote a value into the plan. */
static json_t *field_row(struct arena *arena, const struct planned_field *f, bool secret)
{
        struct page_writer w;

        page_begin(&w, arena);
        page_set_string(&w, "path", f->path);
        page_set_flag(&w, "hidden", secret || (!f->from && !f->to));
        if (!secret && f->from)
                page_set_json(&w, "from", f->from);
        if (!secret && f->to)
                page_set_json(&w, "to", f->to);
        return page_end(&w);
}

static json_t *object_row(struct arena *arena, const struct planned_object *o)
{
        bool secret = page_is_secret(o->kind);
        json_t *fields = json_array();
        struct page_writer w;

        page_begin(&w, arena);
        for (uint32_t i = 0; i < o->fields.n; i++)
                page_append(&w, fields, field_row(arena, &o->fields.at[i], secret));
        page_set(&w, "fields", fields);
        page_set_string(&w, "group", o->group);
        page_set_string(&w, "version", o->version);
        page_set_string(&w, "kind", o->kind);
        page_set_string(&w, "ns", o->ns);
        page_set_string(&w, "name", o->name);
        page_set_string(&w, "change", o->change);
        page_set_number(&w, "more", o->omitted_fields.value);
        return page_end(&w);
}

static json_t *group_row(struct arena *arena, const struct plan_group *g)
{
        json_t *clusters = json_array(), *objects = json_array();
        struct page_writer w;

        page_begin(&w, arena);
        for (size_t i = 0; i < g->n_clusters; i++)
                page_append(&w, clusters, json_string(g->clusters[i]));
        for (uint32_t i = 0; i < g->plan->objects.n; i++)
                page_append(&w, objects, object_row(arena, &g->plan->objects.at[i]));
        page_set(&w, "clusters", clusters);
        page_set(&w, "objects", objects);
        page_set_number(&w, "added", g->plan->added.value);
        page_set_number(&w, "changed", g->plan->changed.value);
        page_set_number(&w, "removed", g->plan->removed.value);
        if (!text_empty(g->plan->problem))
                page_set_string(&w, "problem", g->plan->problem);
        return page_end(&w);
}

static size_t place_of(const struct page_board *b, const char *stage)
{
        size_t i = 0;

        while (i < b->view.n_stages && !text_equal(b->view.stages[i].name, stage))
                i++;
        return i;
}

static json_t *plan_row(const struct page_board *b, const struct request_plan *r, size_t stage, bool compared)
{
        json_t *groups = json_array();
        struct page_writer w;

        page_begin(&w, b->look->arena);
        for (size_t i = 0; i < r->n_groups; i++)
                page_append(&w, groups, group_row(b->look->arena, &r->groups[i]));
        page_set(&w, "groups", groups);
        page_set_string(&w, "stage", r->stage);
        page_set_number(&w, "index", (int64_t)stage);
        page_set_string(&w, "when", r->when);
        page_set_string(&w, "revision", r->plan->resource_snapshot_index);
        page_set_string(&w, "request", r->request ? r->request->object.meta.name : "");
        page_set_string(&w, "hash", !compared && r->request->status ? r->request->status->plan_hash : "");
        page_set_flag(&w, "approved", r->approved);
        page_set_flag(&w, "compared", compared);
        page_set_number(&w, "clusters", r->plan->clusters.n);
        page_set_number(&w, "omitted", r->plan->omitted_objects.value);
        return page_end(&w);
}

/* ---- what requests show ---- */

static int draw_shown(const struct page_board *b, struct page_doc *d, const struct request_plan *r)
{
        const char *key = r->request->object.meta.name;
        uint64_t stamp = page_stamp(PAGE_STAMP, &r->request->object);

        if (page_row_stays(d, "plans", key, stamp))
                return 0;
        return page_row_stamped(d, "plans", key, stamp, plan_row(b, r, place_of(b, r->stage), false));
}

/* ---- what is compared ---- */

int page_board_plan_needs(const struct page_board *b, struct page_needs *ret, struct error *err)
{
        const struct scope *scope = scope_of(b->ns);
        const struct page_need *bindings = page_need_of(b->look, scope->binding, 0);
        const char *selector =
                selector_of(b->look->arena, LABEL_PARENT_PLACEMENT, b->run->spec->placement_name);

        if (!selector)
                return error_no_memory(err);
        TRY(page_needs_add(ret, (struct fetch){ .kind = scope->binding, .ns = b->ns, .selector = selector },
                           err));
        if (!bindings || !bindings->filled)
                return 0;
        selector = plan_snapshots_selector(b->look->arena, b->run, &bindings->fetch.result);
        if (!selector)
                return error_no_memory(err);
        return page_needs_add(
                ret,
                (struct fetch){
                        .kind = scope->resource_snapshot, .ns = b->ns, .selector = selector, .whole = true },
                err);
}

/* What the comparison of a stage depends on; others' clusters may move meanwhile. */
static uint64_t stamp_of(const struct page_board *b, const struct plan_parts *parts, size_t stage)
{
        const struct cluster_updating_status_list *l = &page_board_stage(b, stage)->status->clusters;
        uint64_t stamp = page_stamp_text(PAGE_STAMP, b->run->status->resource_snapshot_index_used);
        char index[32];

        for (size_t i = 0; i < parts->snapshots.n; i++)
                stamp = page_stamp(stamp, parts->snapshots.at[i]);
        for (size_t i = 0; i < parts->requests.n; i++)
                stamp = page_stamp(stamp, parts->requests.at[i]);
        for (uint32_t i = 0; i < l->n; i++) {
                const struct binding *at = map_get(parts->by_cluster, or_empty(l->at[i].cluster_name));

                snprintf(index, sizeof(index), "%lld",
                         (long long)(at ? plan_index_of(b->run, at) : NO_INDEX));
                stamp = page_stamp_text(page_stamp_text(stamp, l->at[i].cluster_name), index);
        }
        return stamp;
}

static int compare_stage(struct page_board *b, const struct plan_parts *parts, size_t i, struct page_doc *d,
                         struct error *err)
{
        const char *key = page_board_stage_key(b, i), *name;
        uint64_t stamp = stamp_of(b, parts, i);
        struct plan_view v;
        int code;

        if (!key)
                return error_no_memory(err);
        b->compared[i] = page_row_stays(d, "plans", key, stamp);
        if (b->compared[i])
                return 0;
        name = i < b->view.n_stages ? b->view.stages[i].name : DELETION_NAME;
        TRY(plan_compare(b->look->arena, parts, name, &v, err));
        if (v.n == 0)
                return 0;
        code = page_row_stamped(d, "plans", key, stamp,
                                plan_row(b, &v.at[i < b->view.n_stages ? 0 : v.n - 1], i, true));
        b->compared[i] = code == 0;
        return code < 0 ? error_set(err, code, "the plan of stage \"%s\"", name) : 0;
}

/* Why nothing can be compared; NULL = it can. */
static const char *obstacle(const struct page_board *b, const struct page_need *n)
{
        if (!n)
                return "what the clusters have cannot be told";
        if (n->problem && !n->filled)
                return arena_printf(b->look->arena, "%s of the placement cannot be read: %s",
                                    n->fetch.kind->plural, n->problem);
        return NULL;
}

static int compare(struct page_board *b, struct page_doc *d, struct error *err)
{
        const struct scope *scope = scope_of(b->ns);
        const struct page_need *bindings = page_need_of(b->look, scope->binding, 0);
        const struct page_need *snapshots = page_need_of(b->look, scope->resource_snapshot, 0);
        struct plan_parts parts = { .run = b->run, .requests = *b->requests };

        b->note = obstacle(b, bindings);
        if (!b->note)
                b->note = obstacle(b, snapshots);
        if (b->note)
                return 0;
        parts.bindings = bindings->fetch.result;
        parts.snapshots = snapshots->fetch.result;
        parts.by_cluster = plan_map_bindings(b->look->arena, &parts.bindings);
        if (!parts.by_cluster)
                return error_no_memory(err);
        for (size_t i = 0; i < page_board_n_stages(b); i++) {
                struct error why = { 0 };
                int code = page_board_compares(b, i) ? compare_stage(b, &parts, i, d, &why) : 0;

                if (code == ERR_INVALID) /* one of the manifests is none */
                        b->note = arena_strdup(b->look->arena, why.text);
                else if (code < 0)
                        return error_set(err, code, "%s", why.text);
        }
        return 0;
}

int page_board_plans(struct page_board *b, struct page_doc *d, struct error *err)
{
        struct plan_view whole = b->plans;
        struct error why = { 0 };
        bool any = false;

        whole.n_owed = 0; /* the gates tell of these */
        b->compared = ARENA_NEW_ARRAY(b->look->arena, bool, page_board_n_stages(b) + 1);
        if (!b->compared)
                return error_no_memory(err);
        for (size_t i = 0; i < b->plans.n; i++) {
                int code = draw_shown(b, d, &b->plans.at[i]);

                if (code < 0)
                        return error_set(err, code, "the plan of %s",
                                         b->plans.at[i].request->object.meta.name);
        }
        if (run_is_over(b->view.state))
                return 0;
        if (plan_check_comparison(&whole, NULL, &why) < 0) {
                b->note = arena_strdup(b->look->arena, why.text);
                return b->note ? 0 : error_no_memory(err);
        }
        for (size_t i = 0; i < page_board_n_stages(b); i++)
                any = any || page_board_compares(b, i);
        return any ? compare(b, d, err) : 0;
}
