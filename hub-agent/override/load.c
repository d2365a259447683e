#include "hub-agent/override/load.h"

#include "hub-agent/override/override_index.h"
#include "hub-agent/placement/catalog.h"

#define BINDINGS_BETWEEN_YIELDS 16

static bool is_cluster_scoped(void *ctx, const char *group, const char *version, const char *kind)
{
        const struct catalog_entry *e = catalog_find(ctx, group, version, kind);

        return e && !e->resource.namespaced;
}

static struct scope_lookup scopes_of(struct reconcile *rc)
{
        return (struct scope_lookup){ is_cluster_scoped, agent_of(rc)->catalog };
}

static int let_others_run(void *loop)
{
        return fiber_yield(loop);
}

static int yield(struct reconcile *rc)
{
        return fiber_yield(agent_of(rc)->world->loop) < 0 ? error_set(rc->err, ERR_CANCELLED, "cancelled")
                                                          : 0;
}

static int load_latest(struct reconcile *rc, struct override_set *ret)
{
        TRY(cache_by_index(rc, &cluster_resource_override_snapshot_kind, INDEX_LATEST, "true",
                           &ret->cluster));
        return cache_by_index(rc, &resource_override_snapshot_kind, INDEX_LATEST, "true", &ret->own);
}

static int match_set(struct reconcile *rc, const struct object_list *snapshots,
                     const struct resource_snapshot *master, const struct override_set *latest,
                     struct override_set *ret)
{
        const struct resource_snapshot *const *group;
        struct scope_lookup scopes = scopes_of(rc);
        struct override_subjects subjects = { 0 };
        size_t n;

        TRY(body_get_group(rc, snapshots, or_empty(label_of(&master->object, LABEL_RESOURCE_INDEX)), &group,
                           &n));
        for (size_t i = 0; i < n; i++) {
                if (group[i]->spec)
                        TRY(override_subjects_add(rc->arena, &group[i]->spec->selected_resources, &scopes,
                                                  &subjects, rc->err));
                TRY(yield(rc));
        }
        return override_set_match(rc->arena, rc->ns, rc->name, &subjects, latest, ret, rc->err);
}

int overrides_for_bindings(struct reconcile *rc, const struct object_list *bindings,
                           const struct object_list *snapshots, const struct resource_snapshot *master,
                           const struct cluster_overrides **ret)
{
        struct cluster_overrides *list;
        struct override_set latest, set;

        *ret = NULL;
        TRY(load_latest(rc, &latest));
        if (latest.cluster.n + latest.own.n == 0 || !master)
                return 0;
        TRY(match_set(rc, snapshots, master, &latest, &set));
        list = ARENA_NEW_ARRAY(rc->arena, struct cluster_overrides, bindings->n + 1);
        if (!list)
                return error_no_memory(rc->err);
        for (size_t i = 0; i < bindings->n; i++) {
                const struct binding *b = (const struct binding *)bindings->at[i];
                const struct object *cluster = NULL;

                if (b->spec)
                        TRY(cache_get(rc, &member_cluster_kind, NULL, or_empty(b->spec->target_cluster),
                                      &cluster));
                if (i % BINDINGS_BETWEEN_YIELDS == BINDINGS_BETWEEN_YIELDS - 1)
                        TRY(yield(rc));
                if (cluster)
                        TRY(override_set_for_cluster(rc->arena, &set, (const struct member_cluster *)cluster,
                                                     &list[i], rc->err));
                else if (b->spec)
                        list[i] = (struct cluster_overrides){ b->spec->cluster_resource_override_snapshots,
                                                              b->spec->resource_override_snapshots };
        }
        *ret = list;
        return 0;
}

int overrides_of_binding(struct reconcile *rc, const struct binding *b, struct override_applier *ret)
{
        const struct string_list *cluster = &b->spec->cluster_resource_override_snapshots;
        const struct namespaced_name_list *own = &b->spec->resource_override_snapshots;
        struct override_applier a = { .scopes = scopes_of(rc),
                                      .pause = let_others_run,
                                      .pause_ctx = agent_of(rc)->world->loop };
        const struct object *target;

        TRY(cache_get(rc, &member_cluster_kind, NULL, or_empty(b->spec->target_cluster), &target));
        a.cluster = (const struct member_cluster *)target;
        if (!a.cluster)
                return error_set(rc->err, ERR_RETRY, "member cluster \"%s\" is gone",
                                 b->spec->target_cluster);
        a.set.cluster.at = ARENA_NEW_ARRAY(rc->arena, const struct object *, cluster->n + 1);
        a.set.own.at = ARENA_NEW_ARRAY(rc->arena, const struct object *, own->n + 1);
        if (!a.set.cluster.at || !a.set.own.at)
                return error_no_memory(rc->err);
        for (uint32_t i = 0; i < cluster->n; i++) {
                const struct object *o;

                TRY(cache_get(rc, &cluster_resource_override_snapshot_kind, NULL, cluster->at[i], &o));
                if (!o)
                        return error_set(rc->err, ERR_INVALID,
                                         "clusterResourceOverrideSnapshot %s is not found", cluster->at[i]);
                a.set.cluster.at[a.set.cluster.n++] = o;
        }
        for (uint32_t i = 0; i < own->n; i++) {
                const struct object *o;

                TRY(cache_get(rc, &resource_override_snapshot_kind, own->at[i].ns, own->at[i].name, &o));
                if (!o)
                        return error_set(rc->err, ERR_INVALID,
                                         "resourceOverrideSnapshot {%s %s} is not found", own->at[i].name,
                                         own->at[i].ns);
                a.set.own.at[a.set.own.n++] = o;
        }
        *ret = a;
        return 0;
}
