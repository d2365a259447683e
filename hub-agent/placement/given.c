#include "hub-agent/placement/given.h"

#include "hub-agent/agent.h"
#include "hub-agent/staged-update/update_run.h"

void given_by_binding(struct given *g, const char *placement, const struct object *binding)
{
        const struct binding_spec *spec = ((const struct binding *)binding)->spec;

        if (!spec || is_deleting(binding))
                return;
        g->policies = MAX(g->policies, index_in_name(spec->scheduling_policy_snapshot_name, placement, ""));
        g->resources = MAX(g->resources,
                           index_in_name(spec->resource_snapshot_name, placement, SUFFIX_RESOURCE_SNAPSHOT));
}

static bool name_the_same(const struct binding *a, const struct binding *b)
{
        return a->spec && b->spec &&
               text_equal(a->spec->scheduling_policy_snapshot_name,
                          b->spec->scheduling_policy_snapshot_name) &&
               text_equal(a->spec->resource_snapshot_name, b->spec->resource_snapshot_name);
}

/* Nearly all name what the one before them named. */
void given_by_bindings(struct given *g, const char *placement, const struct object_list *bindings)
{
        const struct binding *counted = NULL;

        for (size_t i = 0; i < bindings->n; i++) {
                const struct binding *b = (const struct binding *)bindings->at[i];

                if (is_deleting(&b->object) || (counted && name_the_same(counted, b)))
                        continue;
                given_by_binding(g, placement, &b->object);
                counted = b;
        }
}

void given_by_work(struct given *g, const struct object *placement, const struct object *work)
{
        int64_t index;

        if (is_deleting(work) || !text_equal(label_of(work, LABEL_PARENT_PLACEMENT), placement->meta.name) ||
            !text_equal(or_empty(label_of(work, LABEL_PARENT_PLACEMENT_NAMESPACE)),
                        or_empty(placement->meta.ns)) ||
            label_number(work, LABEL_PARENT_RESOURCE_SNAPSHOT_INDEX, &index, NULL) < 0 || index > INDEX_MAX)
                return;
        g->resources = MAX(g->resources, index);
}

int given_in_cache(struct reconcile *rc, const struct object *placement, struct given *g)
{
        struct object_list bindings;

        TRY(cache_by_index(rc, scope_of(rc->ns)->binding, INDEX_OWNER, rc->key, &bindings));
        given_by_bindings(g, placement->meta.name, &bindings);
        return 0;
}

/* One that has not begun may take any group, and may have taken it already: it has yet to say which. */
static void used_by_run(const struct update_run *run, const char *taker, struct snapshots_in_use *used)
{
        const char *index = update_run_index(run);

        if (text_empty(index))
                used->unknown = used->unknown || !text_equal(run->object.meta.name, taker);
        else
                used->n += text_parse_i64(index, &used->index[used->n]);
}

int find_snapshots_in_use(struct reconcile *rc, const struct object *placement, const char *taker,
                          struct snapshots_in_use *ret)
{
        const struct scope *scope = scope_of(rc->ns);
        struct object_list bindings, runs = { 0 };
        bool with_runs = !agent_of(rc)->options->without_staged_runs;
        bool unknown = with_runs && !informer_synced(manager_informer(rc->manager, scope->update_run));
        struct given given;

        TRY(cache_by_index(rc, scope->binding, INDEX_OWNER, rc->key, &bindings));
        if (with_runs && !unknown)
                TRY(cache_by_index(rc, scope->update_run, INDEX_PLACEMENT, rc->key, &runs));
        *ret = (struct snapshots_in_use){ ARENA_NEW_ARRAY(rc->arena, int64_t, bindings.n + runs.n + 1), 0,
                                          unknown };
        if (!ret->index)
                return error_no_memory(rc->err);
        for (size_t i = 0; i < bindings.n; i++) {
                given = NONE_GIVEN;
                given_by_binding(&given, placement->meta.name, bindings.at[i]);
                if (given.resources != NO_INDEX)
                        ret->index[ret->n++] = given.resources;
        }
        for (size_t i = 0; i < runs.n; i++)
                used_by_run((const struct update_run *)runs.at[i], taker, ret);
        return 0;
}

int check_is_newest(struct reconcile *rc, const struct object *latest, const char *index_label, int64_t given)
{
        int64_t index;

        if (label_number(latest, index_label, &index, NULL) < 0 || index >= given)
                return 0;
        manager_enqueue(rc->manager, &intake_controller, rc->key, QUEUE_FOLLOW_UP);
        return error_set(rc->err, ERR_RETRY,
                         "%s \"%s\" is the latest one that is known, and one with index "
                         "%lld is in use",
                         latest->kind->kind, latest->meta.name, (long long)given);
}

struct asking {
        struct given *given;
        const struct object *placement;
};

static int note_binding(void *ctx, struct object *binding)
{
        const struct asking *a = ctx;

        given_by_binding(a->given, a->placement->meta.name, binding);
        return 0;
}

static int pass_over(void *ctx, struct object *o, const struct error *why)
{
        return 0;
}

int list_on_server(struct reconcile *rc, const struct kind *kind, const char *ns, const char *selector,
                   int (*each)(void *ctx, struct object *o), void *ctx)
{
        struct kube_list_options o = {
                .ns = ns, .label_selector = selector, .flags = DECODE_PROJECTION, .undecodable = pass_over
        };

        return kube_list_resource(rc->kube, kind, NULL, &o, each, ctx, NULL, rc->err);
}

static int note_work(void *ctx, const struct object *work)
{
        const struct asking *a = ctx;

        given_by_work(a->given, a->placement, work);
        return 0;
}

static int note_listed_work(void *ctx, struct object *work)
{
        return note_work(ctx, work);
}

/* What is labelled as the placement's own. */
static int owned_on_server(struct reconcile *rc, const struct kind *kind, const char *ns,
                           const struct object *placement, int (*each)(void *ctx, struct object *o),
                           struct given *g)
{
        const char *selector = arena_printf(rc->arena, "%s=%s", LABEL_PARENT_PLACEMENT, placement->meta.name);
        struct asking asking = { g, placement };

        if (!selector)
                return error_no_memory(rc->err);
        return list_on_server(rc, kind, ns, selector, each, &asking);
}

/* Who begins before all Works are in the cache asks for those of the placement. */
int given_by_works(struct reconcile *rc, const struct object *placement, struct given *g)
{
        struct asking asking = { g, placement };

        if (!cache_is_filled(rc, &work_kind))
                return owned_on_server(rc, &work_kind, NULL, placement, note_listed_work, g);
        return cache_for_each(rc, &work_kind, note_work, &asking);
}

int given_on_server(struct reconcile *rc, const struct object *placement, struct given *g)
{
        const char *ns = placement->meta.ns;

        TRY(owned_on_server(rc, scope_of(ns)->binding, ns, placement, note_binding, g));
        return given_by_works(rc, placement, g);
}

int snapshot_is_known(struct reconcile *rc, const struct kind *kind, const struct object *owner,
                      const char *name, const struct object_list *seen)
{
        struct object *o;
        int code;

        if (!name)
                return error_no_memory(rc->err);
        for (size_t i = 0; i < seen->n; i++)
                if (text_equal(seen->at[i]->meta.name, name))
                        return 0;
        code = kube_get(rc->kube, kind, owner->meta.ns, name, rc->arena, &o, rc->err);
        if (code == ERR_NOT_FOUND)
                return 0;
        TRY(code);
        if (is_of_predecessor(o, owner))
                return 0;
        return error_set(rc->err, ERR_RETRY, "%s \"%s\" is not in the cache yet", kind->kind, name);
}
