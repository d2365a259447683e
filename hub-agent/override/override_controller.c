/* Snapshots of overrides. spec/rollout-and-work.md 4. */
#include "hub-agent/agent.h"
#include "hub-agent/override/override.h"
#include "hub-agent/override/override_index.h"

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
        struct object *wanted;

        if (!has_finalizer(o, FINALIZER_OVERRIDE))
                return 0;
        for (size_t i = 0; i < snapshots->n; i++)
                TRY(rc_delete_any_version(rc, snapshots->at[i]));
        wanted = object_copy(o, rc->arena);
        if (!wanted)
                return error_no_memory(rc->err);
        remove_finalizer(wanted, FINALIZER_OVERRIDE);
        return rc_patch_diff(rc, o, wanted, OBJECT_META_SPEC, NULL);
}

static int ensure_finalizer(struct reconcile *rc, const struct object *o)
{
        struct object *wanted;

        if (has_finalizer(o, FINALIZER_OVERRIDE))
                return 0;
        wanted = object_copy(o, rc->arena);
        if (!wanted || add_finalizer(wanted, FINALIZER_OVERRIDE, rc->arena) < 0)
                return error_no_memory(rc->err);
        return rc_patch_diff(rc, o, wanted, OBJECT_META_SPEC, NULL);
}

static int sync_snapshots(struct reconcile *rc, const struct object *o, const struct object_list *snapshots)
{
        struct override_snapshot_plan plan;

        TRY(plan_override_snapshots(rc->arena, (const struct resource_override *)o, snapshots, &plan,
                                    rc->err));
        if (plan.update.now)
                TRY(rc_patch_diff(rc, plan.update.now, plan.update.wanted, OBJECT_META_SPEC, NULL));
        for (size_t i = 0; i < plan.n_remove; i++)
                TRY(rc_delete(rc, plan.remove[i]));
        return plan.create ? rc_create(rc, &plan.create->object, NULL) : 0;
}

static struct outcome reconcile(struct reconcile *rc)
{
        struct object_list snapshots;
        const struct object *o;
        int code;

        if (cache_get(rc, override_kind(rc->ns), rc->ns, rc->name, &o) < 0)
                return failed(rc->err);
        if (!o)
                return done();
        if (cache_by_index(rc, snapshot_kind(rc->ns), INDEX_OVERRIDE, rc->key, &snapshots) < 0)
                return failed(rc->err);
        if (is_deleting(o))
                return clean_up(rc, o, &snapshots) < 0 ? failed(rc->err) : done();
        code = ensure_finalizer(rc, o);
        if (code == 0)
                code = sync_snapshots(rc, o, &snapshots);
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
        emit_override(e->now, emit, to);
}

static const struct watch watches[] = {
        { &cluster_resource_override_kind, ON_SPEC | ON_DELETION, NULL },
        { &resource_override_kind, ON_SPEC | ON_DELETION, NULL },
        { &cluster_resource_override_snapshot_kind, ON_DELETION, map_snapshot },
        { &resource_override_snapshot_kind, ON_DELETION, map_snapshot },
};

const struct controller override_controller = {
        .name = "override",
        .watches = watches,
        .n_watches = ARRAY_LEN(watches),
        .reconcile = reconcile,
};
