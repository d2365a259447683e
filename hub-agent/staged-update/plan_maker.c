#include "hub-agent/staged-update/plan_maker.h"

#include <stdio.h>

#include "common/base/digest.h"
#include "hub-agent/override/load.h"
#include "hub-agent/work-generator/rendering.h"

/* What one cluster has, or gets. */
struct side {
        const struct binding *b;     /* NULL: nothing */
        const struct object *master; /* head of its snapshots; NULL: it is gone */
        struct override_applier overrides;
        const char *problem;
};
struct maker {
        struct reconcile *rc;
        const struct plan_question *q;
        struct map bindings; /* by cluster */
        struct map made;     /* what was compared: struct cluster_plan; clusters that are alike share one */
};

/* ---- the two sides ---- */

static const struct object *find_snapshot(const struct object_list *l, const char *name)
{
        for (size_t i = 0; i < l->n; i++)
                if (text_equal(l->at[i]->meta.name, name))
                        return l->at[i];
        return NULL;
}

static bool has_resources(const struct binding *b)
{
        if (text_empty(b->spec->resource_snapshot_name))
                return false;
        return text_equal(b->spec->state, BINDING_BOUND) ||
               (text_equal(b->spec->state, BINDING_UNSCHEDULED) &&
                text_equal(annotation_of(&b->object, ANNOTATION_PREVIOUS_BINDING_STATE), BINDING_BOUND));
}

static int has_problem(struct maker *m, struct side *s, const char *words)
{
        s->problem = words;
        return words ? 0 : error_no_memory(m->rc->err);
}

/* What cannot be told is told so, and ends nothing. */
static int load_side(struct maker *m, const struct binding *b, struct side *ret)
{
        const struct object *cluster;
        const char *words;
        int code;

        *ret = (struct side){ .b = b };
        if (!b)
                return 0;
        ret->master = find_snapshot(m->q->snapshots, b->spec->resource_snapshot_name);
        TRY(cache_get(m->rc, &member_cluster_kind, NULL, b->spec->target_cluster, &cluster));
        if (!cluster)
                return has_problem(
                        m, ret,
                        arena_printf(m->rc->arena, "member cluster \"%s\" is gone", b->spec->target_cluster));
        code = overrides_of_binding(m->rc, b, &ret->overrides);
        if (code == ERR_INVALID) {
                words = arena_strdup(m->rc->arena, m->rc->err->text);
                error_clear(m->rc->err);
                return has_problem(m, ret, words);
        }
        TRY(code);
        if (ret->master)
                return 0;
        return has_problem(m, ret,
                           arena_printf(m->rc->arena, "resource snapshot \"%s\" is gone",
                                        b->spec->resource_snapshot_name));
}

static int load_new_side(struct maker *m, const struct binding *b, const struct cluster_updating_status *c,
                         struct side *ret)
{
        struct binding *wanted;

        if (m->q->removal)
                return load_side(m, NULL, ret);
        wanted = (struct binding *)object_copy(&b->object, m->rc->arena);
        if (!wanted)
                return error_no_memory(m->rc->err);
        wanted->spec->cluster_resource_override_snapshots = c->cluster_resource_override_snapshots;
        wanted->spec->resource_override_snapshots = c->resource_override_snapshots;
        wanted->spec->resource_snapshot_name =
                arena_printf(m->rc->arena, "%s-%s" SUFFIX_RESOURCE_SNAPSHOT, m->q->run->spec->placement_name,
                             or_empty(m->q->run->status->resource_snapshot_index_used));
        if (!wanted->spec->resource_snapshot_name)
                return error_no_memory(m->rc->err);
        return load_side(m, wanted, ret);
}

/* ---- what they are made from ---- */

static int name_side(struct maker *m, struct side *s, struct buf *b)
{
        const char *labels = "";

        if (!s->b)
                return buf_append_str(b, "nothing;");
        if (!s->problem)
                TRY(override_labels_hash(&s->overrides, m->rc->arena, &labels, m->rc->err));
        buf_printf(b, "%s,%s,%s,", s->b->spec->resource_snapshot_name, or_empty(s->problem),
                   or_empty(labels));
        for (uint32_t i = 0; i < s->b->spec->cluster_resource_override_snapshots.n; i++)
                buf_printf(b, "%s,", s->b->spec->cluster_resource_override_snapshots.at[i]);
        for (uint32_t i = 0; i < s->b->spec->resource_override_snapshots.n; i++)
                buf_printf(b, "%s/%s,", or_empty(s->b->spec->resource_override_snapshots.at[i].ns),
                           s->b->spec->resource_override_snapshots.at[i].name);
        return buf_append_str(b, ";");
}

struct pair {
        struct side before, after;
        const char *from; /* names both */
        bool has_binding;
};

static int load_pair(struct maker *m, const struct cluster_updating_status *c, struct pair *ret)
{
        const struct binding *b = map_get(&m->bindings, c->cluster_name);
        AUTO_BUF struct buf from;

        *ret = (struct pair){ .from = "no binding", .has_binding = b != NULL };
        buf_init(&from, 1 << 16);
        if (!b)
                return 0;
        TRY(load_side(m, has_resources(b) ? b : NULL, &ret->before));
        TRY(load_new_side(m, b, c, &ret->after));
        TRY(name_side(m, &ret->before, &from));
        TRY(name_side(m, &ret->after, &from));
        TRY(buf_status(&from, m->rc->err, "what a plan is made from"));
        ret->from = arena_strdup(m->rc->arena, from.data);
        return ret->from ? 0 : error_no_memory(m->rc->err);
}

/* ---- one cluster ---- */

/* In a reconcile whose arena dies with the cluster: what is rendered is large. */
static int render(struct maker *m, struct reconcile *rc, struct side *s, struct raw_list *ret)
{
        struct wanted_works works = { 0 };
        bool override_failed;
        const char *problem = NULL;
        size_t n = 0;
        int code;

        *ret = (struct raw_list){ 0 };
        if (!s->b || s->problem)
                return 0;
        code = render_for_binding(rc, m->q->snapshots, s->master, &s->overrides, &works, &override_failed);
        if (code == ERR_INVALID)
                problem = rc->err->text;
        else
                TRY(code);
        for (size_t i = 0; i < works.n; i++) {
                n += works.at[i].manifests.n;
                problem = problem ? problem : works.at[i].invalid;
        }
        ret->at = ARENA_NEW_ARRAY(rc->arena, struct slice, n + 1);
        if (!ret->at || (problem && !(s->problem = arena_strdup(m->rc->arena, problem))))
                return error_no_memory(rc->err);
        error_clear(rc->err);
        for (size_t i = 0; i < works.n; i++)
                for (uint32_t k = 0; k < works.at[i].manifests.n; k++)
                        ret->at[ret->n++] = works.at[i].manifests.at[k];
        return 0;
}

static int compare(struct maker *m, struct pair *p, struct cluster_plan *ret)
{
        AUTO_ARENA struct arena scratch = ARENA_INIT;
        struct reconcile rc = *m->rc;
        struct raw_list before, after;

        rc.arena = &scratch;
        TRY(render(m, &rc, &p->before, &before));
        TRY(render(m, &rc, &p->after, &after));
        TRY(plan_cluster(m->rc->arena, &scratch, &before, &after, ret, m->rc->err));
        ret->problem = p->after.problem ? p->after.problem : p->before.problem;
        if (!p->has_binding)
                ret->problem = "the placement has no binding for it";
        return fiber_yield(agent_of(m->rc)->world->loop) < 0
                       ? error_set(m->rc->err, ERR_CANCELLED, "cancelled")
                       : 0;
}

static int plan_one(struct maker *m, const struct cluster_updating_status *c, struct pair *p,
                    struct cluster_plan *ret)
{
        const struct cluster_plan *made = map_get(&m->made, p->from);
        struct cluster_plan *fresh;

        if (!made) {
                fresh = ARENA_NEW(m->rc->arena, struct cluster_plan);
                if (!fresh)
                        return error_no_memory(m->rc->err);
                TRY(compare(m, p, fresh));
                if (map_put(&m->made, p->from, fresh) < 0)
                        return error_no_memory(m->rc->err);
                made = fresh;
        }
        *ret = *made;
        ret->cluster_name = c->cluster_name;
        return 0;
}

/* ---- all clusters ---- */

static int load_pairs(struct maker *m, struct pair **ret, char fingerprint[65])
{
        const struct cluster_updating_status_list *l = &m->q->stage->clusters;
        struct pair *pairs = ARENA_NEW_ARRAY(m->rc->arena, struct pair, l->n + 1u);
        uint8_t raw[SHA256_SIZE];
        struct sha256 sha;

        if (!pairs)
                return error_no_memory(m->rc->err);
        sha256_init(&sha);
        for (uint32_t i = 0; i < l->n; i++) {
                TRY(load_pair(m, &l->at[i], &pairs[i]));
                sha256_update(&sha, l->at[i].cluster_name, strlen(l->at[i].cluster_name) + 1);
                sha256_update(&sha, pairs[i].from, strlen(pairs[i].from) + 1);
        }
        sha256_final(&sha, raw);
        text_hex_encode(raw, sizeof(raw), fingerprint);
        *ret = pairs;
        return 0;
}

static int plan_all(struct maker *m, struct pair *pairs, struct update_plan *ret)
{
        const struct cluster_updating_status_list *l = &m->q->stage->clusters;

        *ret = (struct update_plan){
                .resource_snapshot_index =
                        m->q->removal ? NULL : m->q->run->status->resource_snapshot_index_used,
                .clusters = { ARENA_NEW_ARRAY(m->rc->arena, struct cluster_plan, l->n + 1u), l->n, true }
        };
        if (!ret->clusters.at)
                return error_no_memory(m->rc->err);
        for (uint32_t i = 0; i < l->n; i++)
                TRY(plan_one(m, &l->at[i], &pairs[i], &ret->clusters.at[i]));
        return 0;
}

static int make(struct maker *m, struct plan_memory *memory, struct update_plan **ret, const char **ret_hash)
{
        struct update_plan *plan = ARENA_NEW(m->rc->arena, struct update_plan);
        char fingerprint[65];
        struct pair *pairs = NULL;

        *ret = NULL;
        TRY(load_pairs(m, &pairs, fingerprint));
        if (text_equal(memory->fingerprint, fingerprint) && text_equal(memory->hash, m->q->known)) {
                *ret_hash = m->q->known;
                return 0;
        }
        if (!plan)
                return error_no_memory(m->rc->err);
        TRY(plan_all(m, pairs, plan));
        *ret_hash = update_plan_hash(m->rc->arena, plan, fingerprint);
        if (!*ret_hash)
                return error_no_memory(m->rc->err);
        update_plan_fit(plan, UPDATE_PLAN_BYTES_MAX);
        memcpy(memory->fingerprint, fingerprint, sizeof(fingerprint));
        snprintf(memory->hash, sizeof(memory->hash), "%s", *ret_hash);
        *ret = plan;
        return 0;
}

static int map_bindings(struct maker *m)
{
        for (size_t i = 0; i < m->q->bindings->n; i++) {
                const struct binding *b = (const struct binding *)m->q->bindings->at[i];

                if (b->spec && !is_deleting(&b->object) && !text_empty(b->spec->target_cluster) &&
                    map_put(&m->bindings, b->spec->target_cluster, (void *)b) < 0)
                        return error_no_memory(m->rc->err);
        }
        return 0;
}

int make_update_plan(struct reconcile *rc, const struct plan_question *q, struct plan_memory *m,
                     struct update_plan **ret, const char **ret_hash)
{
        struct maker maker = { .rc = rc, .q = q };
        int code;

        map_init(&maker.bindings, MAP_BORROW_KEYS, NULL);
        map_init(&maker.made, MAP_BORROW_KEYS, NULL);
        code = map_bindings(&maker);
        if (code == 0)
                code = make(&maker, m, ret, ret_hash);
        map_free(&maker.bindings);
        map_free(&maker.made);
        return code;
}
