/* What a run brings, told from the snapshots that every hub has: for runs whose approvals show no plan. */
#include "common/base/map.h"
#include "hub-agent/common.h"
#include "hub-agent/staged-update/update_plan.h"
#include "kubectl-fleet/plan_view.h"

/* What was compared: clusters that have the same get the same. */
struct compared {
        int64_t from; /* index of what is there; NO_INDEX = nothing */
        bool removal;
        struct cluster_plan plan;
};
struct comparison {
        struct arena *arena;
        const struct plan_parts *parts;
        int64_t target;
        struct map *bindings; /* by cluster */
        struct compared *made;
        size_t n_made;
};

int64_t plan_target(const struct update_run *run)
{
        const char *index = run->status ? run->status->resource_snapshot_index_used : NULL;
        int64_t n;

        return index && text_parse_i64(index, &n) && n >= 0 ? n : NO_INDEX;
}

int64_t plan_index_of(const struct update_run *run, const struct binding *b)
{
        const struct binding_spec *s = b->spec;
        bool leaves = s && text_equal(s->state, BINDING_UNSCHEDULED) &&
                      text_equal(annotation_of(&b->object, ANNOTATION_PREVIOUS_BINDING_STATE), BINDING_BOUND);

        if (!s || is_deleting(&b->object) || (!leaves && !text_equal(s->state, BINDING_BOUND)))
                return NO_INDEX;
        return index_in_name(s->resource_snapshot_name, run->spec->placement_name, SUFFIX_RESOURCE_SNAPSHOT);
}

static bool has_stage(const struct update_run *run, const char *stage)
{
        const struct update_run_status *s = run->status;

        for (uint32_t i = 0; i < s->stages_status.n; i++)
                if (text_equal(s->stages_status.at[i].stage_name, stage))
                        return true;
        return s->deletion_stage_status && text_equal(stage, DELETION_NAME);
}

int plan_check_comparison(const struct plan_view *v, const char *stage, struct error *err)
{
        const char *kind = v->run->object.kind->kind, *name = v->run->object.meta.name;

        if (!v->run->spec || plan_target(v->run) == NO_INDEX)
                return error_set(err, ERR_NOT_FOUND,
                                 "%s \"%s\" is not initialized: nobody knows yet what it brings", kind, name);
        if (stage && !has_stage(v->run, stage))
                return error_set(err, ERR_NOT_FOUND, "%s \"%s\" has no stage \"%s\"", kind, name, stage);
        if (v->n_owed)
                return error_set(
                        err, ERR_NOT_FOUND,
                        "%s \"%s\" shows no plan: its strategy asks for one, but the hub's agent has "
                        "made none",
                        kind, name);
        return 0;
}

static size_t insert_index(int64_t *seen, size_t n, int64_t index)
{
        size_t at = 0;

        while (at < n && seen[at] < index)
                at++;
        if (at < n && seen[at] == index)
                return n;
        memmove(seen + at + 1, seen + at, (n - at) * sizeof(*seen));
        seen[at] = index;
        return n + 1;
}

const char *plan_snapshots_selector(struct arena *arena, const struct update_run *run,
                                    const struct object_list *bindings)
{
        int64_t *seen = ARENA_NEW_ARRAY(arena, int64_t, bindings->n + 1);
        AUTO_BUF struct buf b;
        size_t n = 1;

        buf_init(&b, 1u << 20);
        if (!seen)
                return NULL;
        seen[0] = plan_target(run);
        for (size_t i = 0; i < bindings->n; i++) {
                int64_t index = plan_index_of(run, (const struct binding *)bindings->at[i]);

                if (index != NO_INDEX)
                        n = insert_index(seen, n, index);
        }
        buf_printf(&b, LABEL_PARENT_PLACEMENT "=%s," LABEL_RESOURCE_INDEX " in (", run->spec->placement_name);
        for (size_t k = 0; k < n; k++)
                buf_printf(&b, "%s%lld", k ? "," : "", (long long)seen[k]);
        buf_append_str(&b, ")");
        return b.failed ? NULL : arena_strdup(arena, b.data);
}

/* ---- what a snapshot holds ---- */

static int manifests_of(struct comparison *c, int64_t index, struct raw_list *ret, bool *ret_gone)
{
        const struct object_list *l = &c->parts->snapshots;
        size_t n = 0;
        int64_t of;

        *ret = (struct raw_list){ 0 };
        *ret_gone = index != NO_INDEX;
        for (size_t i = 0; i < l->n; i++)
                if (((const struct resource_snapshot *)l->at[i])->spec)
                        n += ((const struct resource_snapshot *)l->at[i])->spec->selected_resources.n;
        ret->at = ARENA_NEW_ARRAY(c->arena, struct slice, n + 1);
        if (!ret->at)
                return ERR_NO_MEMORY;
        for (size_t i = 0; i < l->n; i++) {
                const struct resource_snapshot *s = (const struct resource_snapshot *)l->at[i];

                if (!s->spec || label_number(&s->object, LABEL_RESOURCE_INDEX, &of, NULL) < 0 || of != index)
                        continue;
                *ret_gone = false;
                for (uint32_t k = 0; k < s->spec->selected_resources.n; k++)
                        ret->at[ret->n++] = s->spec->selected_resources.at[k];
        }
        return 0;
}

static int compare(struct comparison *c, struct compared *ret, struct error *err)
{
        AUTO_ARENA struct arena scratch = ARENA_INIT;
        int64_t target = ret->removal ? NO_INDEX : c->target;
        struct raw_list before, after;
        bool no_before, no_after;

        if (manifests_of(c, ret->from, &before, &no_before) < 0 ||
            manifests_of(c, target, &after, &no_after) < 0)
                return error_no_memory(err);
        if (no_before || no_after) {
                ret->plan.problem = arena_printf(
                        c->arena, "resource snapshot \"" NAME_RESOURCE_SNAPSHOT "\" is gone",
                        c->parts->run->spec->placement_name, (long long)(no_after ? target : ret->from));
                return ret->plan.problem ? 0 : error_no_memory(err);
        }
        return plan_cluster(c->arena, &scratch, &before, &after, &ret->plan, err);
}

static int compared_from(struct comparison *c, int64_t from, bool removal, const struct compared **ret,
                         struct error *err)
{
        struct compared *fresh = &c->made[c->n_made];

        for (size_t i = 0; i < c->n_made; i++)
                if (c->made[i].from == from && c->made[i].removal == removal) {
                        *ret = &c->made[i];
                        return 0;
                }
        *fresh = (struct compared){ .from = from, .removal = removal };
        TRY(compare(c, fresh, err));
        c->n_made++;
        *ret = fresh;
        return 0;
}

/* ---- stages ---- */

struct map *plan_map_bindings(struct arena *arena, const struct object_list *bindings)
{
        struct map *m = map_of_arena(arena);

        for (size_t i = 0; m && i < bindings->n; i++) {
                const struct binding *b = (const struct binding *)bindings->at[i];

                if (!b->spec || is_deleting(&b->object) || text_empty(b->spec->target_cluster) ||
                    map_has(m, b->spec->target_cluster))
                        continue;
                if (map_put(m, b->spec->target_cluster, (void *)b) < 0)
                        return NULL;
        }
        return m;
}

static int64_t index_at(const struct comparison *c, const char *cluster)
{
        const struct binding *b = map_get(c->bindings, cluster);

        return b ? plan_index_of(c->parts->run, b) : NO_INDEX;
}

static int plan_stage(struct comparison *c, const struct stage_status *stage, bool removal,
                      struct update_plan **ret, struct error *err)
{
        struct update_plan *p = ARENA_NEW(c->arena, struct update_plan);
        const struct compared *made;

        if (!p || !(p->clusters.at = ARENA_NEW_ARRAY(c->arena, struct cluster_plan, stage->clusters.n + 1u)))
                return error_no_memory(err);
        if (!removal)
                p->resource_snapshot_index = c->parts->run->status->resource_snapshot_index_used;
        for (uint32_t i = 0; i < stage->clusters.n; i++) {
                const char *name = or_empty(stage->clusters.at[i].cluster_name);

                TRY(compared_from(c, index_at(c, name), removal, &made, err));
                p->clusters.at[i] = made->plan;
                p->clusters.at[i].cluster_name = name;
        }
        p->clusters.n = stage->clusters.n;
        *ret = p;
        return 0;
}

static bool is_accepted(const struct approval_request *r)
{
        const struct condition *c =
                r->status ? condition_find(&r->status->conditions, CONDITION_APPROVAL_ACCEPTED) : NULL;

        return c && text_equal(c->status, CONDITION_TRUE);
}

static const struct approval_request *open_request(const struct plan_parts *parts, const char *stage,
                                                   const char *when)
{
        for (size_t i = 0; stage && i < parts->requests.n; i++) {
                const struct approval_request *r = (const struct approval_request *)parts->requests.at[i];

                if (r->spec && text_equal(r->spec->target_stage, stage) && !is_accepted(r) &&
                    text_equal(plan_when(r), when))
                        return r;
        }
        return NULL;
}

/* What lets a stage begin: an approval before it, or one after the stage before it. */
static const struct approval_request *asked_for(const struct plan_parts *parts, const char *stage,
                                                const char *previous)
{
        const struct approval_request *r = open_request(parts, previous, "after");

        return r ? r : open_request(parts, stage, "before");
}

static bool is_done(const struct condition_list *l)
{
        const struct condition *c = condition_find(l, CONDITION_SUCCEEDED);

        return c && text_equal(c->status, CONDITION_TRUE);
}

/* It changes nothing any more, even where it waits for what comes after it. */
static bool is_over(const struct stage_status *stage)
{
        for (uint32_t i = 0; i < stage->clusters.n; i++)
                if (!is_done(&stage->clusters.at[i].conditions))
                        return is_done(&stage->conditions);
        return true;
}

/* What is over is shown where it is named. */
static int add_stage(struct comparison *c, const struct stage_status *stage, const char *name,
                     const char *previous, const char *only, struct plan_view *ret, struct error *err)
{
        bool removal = stage == c->parts->run->status->deletion_stage_status;
        struct request_plan r = { .stage = name, .when = "" };
        struct update_plan *plan = NULL;

        if (only ? !text_equal(only, name) : is_over(stage))
                return 0;
        if (!is_over(stage))
                r.request = asked_for(c->parts, name, previous);
        TRY(plan_stage(c, stage, removal, &plan, err));
        r.plan = plan;
        if (r.request)
                r.when = "before";
        if (plan_group(c->arena, &r) < 0)
                return error_no_memory(err);
        ret->at[ret->n++] = r;
        return 0;
}

int plan_compare(struct arena *arena, const struct plan_parts *parts, const char *only, struct plan_view *ret,
                 struct error *err)
{
        const struct update_run_status *s = parts->run->status;
        struct comparison c = { .arena = arena, .parts = parts, .target = plan_target(parts->run) };
        size_t n = s->stages_status.n;
        const char *previous = NULL;

        *ret = (struct plan_view){ .run = parts->run, .compared = true };
        c.made = ARENA_NEW_ARRAY(arena, struct compared, 2 * (parts->bindings.n + 1));
        ret->at = ARENA_NEW_ARRAY(arena, struct request_plan, n + 1);
        c.bindings = parts->by_cluster ? parts->by_cluster : plan_map_bindings(arena, &parts->bindings);
        if (!c.made || !ret->at || !c.bindings)
                return error_no_memory(err);
        for (size_t i = 0; i < n; i++) {
                const struct stage_status *stage = &s->stages_status.at[i];
                const char *name = or_empty(stage->stage_name);

                TRY(add_stage(&c, stage, name, previous, only, ret, err));
                previous = name;
        }
        return s->deletion_stage_status
                       ? add_stage(&c, s->deletion_stage_status, DELETION_NAME, previous, only, ret, err)
                       : 0;
}
