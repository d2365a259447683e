/* Evictions: carries out what plan_eviction decides, one after the other, so that no two of them count on the
 * same available placements. spec/staged-update-and-eviction.md 14. */
#include "hub-agent/eviction/eviction_agent.h"

#include "common/base/vec.h"
#include "hub-agent/eviction/eviction.h"
#include "hub-agent/shards.h"
#include "hub-agent/work-generator/work_generator.h"
#include "hub-agent/work-generator/work_index.h"

/* ---- the metric (spec 14.2) ---- */

#define FALSE "false"
#define TRUE "true"
#define UNKNOWN "unknown"

static void metric_show(struct reconcile *rc, const char *completed, const char *valid)
{
        metric_set(agent_of(rc)->metrics, METRIC_EVICTION, (double)rc->now_ms / 1000,
                   (const char *const[]){ rc->name, completed, valid });
}

static void metric_drop_of(struct hub_agent *a, const char *name, const char *completed, const char *valid)
{
        metric_remove(a->metrics, METRIC_EVICTION, (const char *const[]){ name, completed, valid });
}

static void metric_drop(struct reconcile *rc, const char *completed, const char *valid)
{
        metric_drop_of(agent_of(rc), rc->name, completed, valid);
}

static void show_completed(struct reconcile *rc, const struct eviction *e)
{
        bool valid = condition_is_true(&e->status->conditions, CONDITION_VALID, e->object.meta.generation);

        metric_drop(rc, FALSE, UNKNOWN);
        metric_show(rc, TRUE, valid ? TRUE : FALSE);
}

static void show_gone_of(struct hub_agent *a, const char *name)
{
        metric_drop_of(a, name, FALSE, UNKNOWN);
        metric_drop_of(a, name, TRUE, TRUE);
        metric_drop_of(a, name, TRUE, FALSE);
}

static void show_gone(struct reconcile *rc)
{
        show_gone_of(agent_of(rc), rc->name);
}

void evictions_show_only(struct hub_agent *a, bool (*keep)(void *ctx, const char *key), void *ctx)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct object_list all;

        if (informer_list(manager_informer(a->manager, &cluster_resource_placement_eviction_kind), &arena,
                          &all) < 0)
                return; /* a metric is not worth more */
        for (size_t i = 0; i < all.n; i++)
                if (!keep(ctx, all.at[i]->meta.name))
                        show_gone_of(a, all.at[i]->meta.name);
}

/* ---- what is true now: caches may be behind, and nothing is decided twice ---- */

static int read_if_there(struct reconcile *rc, const struct kind *kind, const char *name, struct object **ret)
{
        int code = kube_get(rc->kube, kind, NULL, name, rc->arena, ret, rc->err);

        if (code != ERR_NOT_FOUND)
                return code;
        *ret = NULL;
        error_clear(rc->err);
        return 0;
}

struct listing {
        struct reconcile *rc;
        VEC(const struct object *) all;
};

static void drop_reference(void *o)
{
        object_unref(o);
}

static int keep(void *ctx, struct object *o)
{
        struct listing *l = ctx;

        if (arena_defer(l->rc->arena, drop_reference, object_ref(o)) < 0 || vec_push(&l->all, o) < 0)
                return error_no_memory(l->rc->err);
        return 0;
}

/* It is there, and nobody can tell whether it is available. */
static int keep_unreadable(void *ctx, struct object *o, const struct error *why)
{
        struct listing *l = ctx;
        const struct object *b = object_copy(o, l->rc->arena);

        return !b || vec_push(&l->all, b) < 0 ? error_no_memory(l->rc->err) : 0;
}

static int list_bindings(struct reconcile *rc, const char *placement, struct object_list *ret)
{
        const char *selector = arena_printf(rc->arena, "%s=%s", LABEL_PARENT_PLACEMENT, placement);
        struct kube_list_options o = { .label_selector = selector,
                                       .flags = DECODE_PROJECTION,
                                       .undecodable = keep_unreadable };
        struct listing l = { rc, VEC_INIT };
        int code = selector ? kube_list_resource(rc->kube, &cluster_resource_binding_kind, NULL, &o, keep, &l,
                                                 NULL, rc->err)
                            : error_no_memory(rc->err);

        if (arena_defer(rc->arena, mem_free, l.all.at) < 0)
                return error_no_memory(rc->err);
        *ret = (struct object_list){ l.all.at, l.all.n };
        return code;
}

#define INDEX_DECIDED "decided"
static void emit_decided(const struct object *o, index_emit emit, void *to)
{
        const struct eviction *e = (const struct eviction *)o;

        if (e->spec && e->status && e->status->decision)
                emit(to, or_empty(e->spec->placement_name));
}

int eviction_add_index(struct hub_agent *a)
{
        struct informer *i = manager_informer(a->manager, &cluster_resource_placement_eviction_kind);

        return i ? informer_add_index(i, INDEX_DECIDED, emit_decided) : ERR_NO_MEMORY;
}

/* From the cache: one worker makes all decisions, and sees its own writes there. One that was stored while
 * the answer was lost may be missing, and does no harm: its binding is not deleted before it is decided
 * again, by what is available then. */
static int find_decided(struct reconcile *rc, struct eviction_input *in)
{
        struct object_list all;
        const char **uids;

        TRY(cache_by_index(rc, &cluster_resource_placement_eviction_kind, INDEX_DECIDED,
                           or_empty(in->eviction->spec->placement_name), &all));
        uids = ARENA_NEW_ARRAY(rc->arena, const char *, all.n + 1);
        if (!uids)
                return error_no_memory(rc->err);
        for (size_t i = 0; i < all.n; i++)
                if (!text_equal(all.at[i]->meta.name, rc->name))
                        uids[in->n_decided++] =
                                ((const struct eviction *)all.at[i])->status->decision->binding_uid;
        in->decided = uids;
        return 0;
}

static int ask_works(void *ctx, const struct binding *b, bool *ret)
{
        struct reconcile *rc = ctx;
        struct object_list works;

        TRY(works_of_binding(rc, b->object.meta.name, b, false, &works));
        *ret = works_have_failed(&works);
        return 0;
}

/* The bindings come last: nothing of what is counted is older than the rest. */
static int read_input(struct reconcile *rc, struct eviction_input *in)
{
        const char *name = or_empty(in->eviction->spec->placement_name);
        struct object *placement, *budget;

        TRY(read_if_there(rc, &cluster_resource_placement_kind, name, &placement));
        TRY(read_if_there(rc, &cluster_resource_placement_disruption_budget_kind, name, &budget));
        TRY(find_decided(rc, in));
        TRY(list_bindings(rc, name, &in->bindings));
        in->placement = (const struct placement *)placement;
        in->budget = (const struct disruption_budget *)budget;
        return 0;
}

/* ---- writes ---- */

static int remove_binding(struct reconcile *rc, const struct eviction *decided, const struct eviction_plan *p,
                          const struct object **ret)
{
        const struct eviction *done;

        TRY(rc_delete(rc, &p->remove->object));
        log_info(&rc->log, "what a placement placed is taken off a cluster", "placement",
                 decided->spec->placement_name, "cluster", decided->spec->cluster_name, "binding",
                 p->remove->object.meta.name, "why", p->message);
        done = eviction_executed(rc->arena, decided, p->message, rc->now_ms);
        if (!done)
                return error_no_memory(rc->err);
        return rc_patch_diff(rc, &decided->object, &done->object, OBJECT_STATUS, ret);
}

static int decide(struct reconcile *rc, const struct eviction *e)
{
        struct eviction_input in = {
                .eviction = e, .works_failed = ask_works, .ctx = rc, .now_ms = rc->now_ms
        };
        struct eviction_plan plan;
        const struct object *stored;

        TRY(read_input(rc, &in));
        TRY(plan_eviction(rc->arena, &in, &plan, rc->err));
        if (plan.touch)
                TRY(rc_annotate(rc, &plan.touch->object, ANNOTATION_EVICTION_TAKEN_BACK, rc->name, NULL));
        TRY(rc_patch_diff(rc, &e->object, &plan.wanted->object, OBJECT_STATUS, &stored));
        if (plan.remove)
                TRY(remove_binding(rc, (const struct eviction *)stored, &plan, &stored));
        show_completed(rc, (const struct eviction *)stored);
        return 0;
}

static struct outcome reconcile(struct reconcile *rc)
{
        const struct object *o;

        if (cache_get(rc, &cluster_resource_placement_eviction_kind, NULL, rc->name, &o) < 0)
                return failed(rc->err);
        if (!o) {
                show_gone(rc);
                return done();
        }
        if (!((const struct eviction *)o)->spec || eviction_is_over((const struct eviction *)o))
                return done();
        if (decide(rc, (const struct eviction *)o) == 0)
                return done();
        metric_show(rc, FALSE, UNKNOWN);
        return failed(rc->err);
}

static const struct watch watches[] = {
        { &cluster_resource_placement_eviction_kind, ON_SPEC | ON_DELETION, NULL },
        { .kind = &work_kind },
};

const struct controller eviction_controller = {
        .name = "eviction",
        .watches = watches,
        .n_watches = ARRAY_LEN(watches),
        .reconcile = reconcile,
        .placement_of = placement_of_eviction,
        .concurrency = 1,
};
