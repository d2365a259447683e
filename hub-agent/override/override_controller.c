/* Snapshots of overrides. spec/rollout-and-work.md 4. */
#include "hub-agent/agent.h"
#include "hub-agent/override/override.h"
#include "hub-agent/override/override_index.h"
#include "hub-agent/placement/given.h"

static const struct kind *override_kind(const char *ns)
{
        return ns ? &resource_override_kind : &cluster_resource_override_kind;
}

static const struct kind *snapshot_kind(const char *ns)
{
        return ns ? &resource_override_snapshot_kind : &cluster_resource_override_snapshot_kind;
}

static int clean_up(struct reconcile *rc, const struct object *o, const struct object_list *snapshots)
{
        if (!object_has_finalizer(o, FINALIZER_OVERRIDE))
                return 0;
        for (size_t i = 0; i < snapshots->n; i++)
                TRY(rc_delete_any_version(rc, snapshots->at[i]));
        return rc_set_finalizer(rc, o, FINALIZER_OVERRIDE, false, NULL);
}

static int ensure_finalizer(struct reconcile *rc, const struct object *o, bool *ret_is_new)
{
        *ret_is_new = !object_has_finalizer(o, FINALIZER_OVERRIDE);
        return rc_set_finalizer(rc, o, FINALIZER_OVERRIDE, true, NULL);
}

/* ---- indexes that were given (placement/given.h) ---- */

struct naming {
        const struct object *override;
        int64_t highest;
};

static int note_cached(void *ctx, const struct object *binding)
{
        struct naming *n = ctx;

        n->highest = MAX(n->highest, override_index_named(n->override, binding));
        return 0;
}

static int note_binding(void *ctx, struct object *binding)
{
        return note_cached(ctx, binding);
}

static bool has_latest(const struct object_list *snapshots)
{
        for (size_t i = 0; i < snapshots->n; i++)
                if (label_is_true(snapshots->at[i], LABEL_IS_LATEST_SNAPSHOT) &&
                    !is_deleting(snapshots->at[i]))
                        return true;
        return false;
}

/* `ask`: no snapshot is marked latest, so one may be gone; and the cache of bindings may not know yet that it
 * was used. */
static int find_given(struct reconcile *rc, const struct object *o, const struct object_list *snapshots,
                      bool ask, int64_t *ret)
{
        struct naming n = { o, NO_INDEX };

        TRY(cache_for_each(rc, &cluster_resource_binding_kind, note_cached, &n));
        TRY(cache_for_each(rc, &resource_binding_kind, note_cached, &n));
        if (ask) {
                TRY(list_on_server(rc, &cluster_resource_binding_kind, NULL, NULL, note_binding, &n));
                TRY(list_on_server(rc, &resource_binding_kind, o->meta.ns, NULL, note_binding, &n));
        }
        *ret = n.highest;
        if (n.highest == NO_INDEX)
                return 0;
        return snapshot_is_known(
                rc, snapshot_kind(rc->ns), o,
                arena_printf(rc->arena, NAME_OVERRIDE_SNAPSHOT, o->meta.name, (long long)n.highest),
                snapshots);
}

/* ---- snapshots ---- */

static int plan_snapshots(struct reconcile *rc, const struct object *o, const struct object_list *snapshots,
                          bool is_new, struct override_snapshot_plan *ret)
{
        const struct resource_override *override = (const struct resource_override *)o;
        int64_t given;

        TRY(plan_override_snapshots(rc->arena, override, snapshots, NO_INDEX, ret, rc->err));
        if (!ret->create && !ret->update.now)
                return 0;
        TRY(find_given(rc, o, snapshots, !is_new && !has_latest(snapshots), &given));
        return plan_override_snapshots(rc->arena, override, snapshots, given, ret, rc->err);
}

static int sync_snapshots(struct reconcile *rc, const struct object *o, const struct object_list *snapshots,
                          bool is_new)
{
        struct override_snapshot_plan plan;

        TRY(plan_snapshots(rc, o, snapshots, is_new, &plan));
        if (plan.update.now)
                TRY(rc_patch_diff(rc, plan.update.now, plan.update.wanted, OBJECT_META_SPEC, NULL));
        for (size_t i = 0; i < plan.n_unmark; i++)
                TRY(rc_patch_diff(rc, plan.unmark[i].now, plan.unmark[i].wanted, OBJECT_META_SPEC, NULL));
        for (size_t i = 0; i < plan.n_remove; i++)
                TRY(rc_delete(rc, plan.remove[i]));
        return plan.create ? rc_create(rc, &plan.create->object, NULL) : 0;
}

static struct outcome reconcile(struct reconcile *rc)
{
        struct object_list snapshots;
        const struct object *o;
        bool is_new;
        int code;

        if (cache_get(rc, override_kind(rc->ns), rc->ns, rc->name, &o) < 0)
                return failed(rc->err);
        if (!o)
                return done();
        if (cache_by_index(rc, snapshot_kind(rc->ns), INDEX_OVERRIDE, rc->key, &snapshots) < 0)
                return failed(rc->err);
        if (is_deleting(o))
                return clean_up(rc, o, &snapshots) < 0 ? failed(rc->err) : done();
        code = ensure_finalizer(rc, o, &is_new);
        if (code == 0)
                code = sync_snapshots(rc, o, &snapshots, is_new);
        return code < 0 ? failed(rc->err) : done();
}

void emit_override(const struct object *o, index_emit emit, void *to)
{
        const char *name = label_of(o, LABEL_PARENT_OVERRIDE);
        AUTO_KEY struct key key = KEY_EMPTY;

        if (!text_empty(name))
                emit(to, key_text(&key, o->meta.ns, name));
}

void emit_latest(const struct object *o, index_emit emit, void *to)
{
        if (label_is_true(o, LABEL_IS_LATEST_SNAPSHOT))
                emit(to, "true");
}

static void map_snapshot(void *agent, const struct informer_event *e, key_emit emit, void *to)
{
        if (e->type != INFORMER_ADDED)
                emit_override(e->now, emit, to);
}

static const struct watch watches[] = {
        { &cluster_resource_override_kind, ON_SPEC | ON_DELETION, NULL },
        { &resource_override_kind, ON_SPEC | ON_DELETION, NULL },
        { &cluster_resource_override_snapshot_kind, ON_SPEC | ON_DELETION, map_snapshot },
        { &resource_override_snapshot_kind, ON_SPEC | ON_DELETION, map_snapshot },
        { &cluster_resource_binding_kind, 0, NULL }, /* read, not followed */
        { &resource_binding_kind, 0, NULL },
};

const struct controller override_controller = {
        .name = "override",
        .watches = watches,
        .n_watches = ARRAY_LEN(watches),
        .reconcile = reconcile,
};
