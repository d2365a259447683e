#include <stdlib.h>

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

static int parent_key(struct key *ret, const struct object *snapshot)
{
        return object_key(ret, snapshot->meta.ns, or_empty(label_of(snapshot, LABEL_PARENT_OVERRIDE)));
}

static const struct object *newest(const struct object_list *snapshots)
{
        const struct object *found = NULL;
        int64_t highest = -1, index;

        for (size_t i = 0; i < snapshots->n; i++)
                if (label_number(snapshots->at[i], LABEL_OVERRIDE_INDEX, &index, NULL) == 0 &&
                    index > highest) {
                        found = snapshots->at[i];
                        highest = index;
                }
        return found;
}

static int by_name(const void *a, const void *b)
{
        const struct object *x = *(const struct object *const *)a, *y = *(const struct object *const *)b;
        int order = strcmp(or_empty(x->meta.ns), or_empty(y->meta.ns));

        return order ? order : strcmp(x->meta.name, y->meta.name);
}

/* Whether a binding of the placement has a snapshot of the override behind it that is newer than all there
 * are: somebody deleted that one. */
static bool is_missing(const struct object *override, const struct object *last,
                       const struct object_list *bindings)
{
        int64_t index = NO_INDEX;

        if (last)
                label_number(last, LABEL_OVERRIDE_INDEX, &index, NULL);
        for (size_t i = 0; i < bindings->n; i++)
                if (override_index_named(override, bindings->at[i]) > index)
                        return true;
        return false;
}

/* Adds what overrides without a latest snapshot said last. Where that is not known any more the placement
 * waits: its clusters must not lose the override, nor get an older one, until its snapshot is made again. */
static int add_replaced(struct reconcile *rc, const struct kind *kind, const struct object_list *overrides,
                        const struct map *marked, const struct object_list *bindings,
                        struct object_list *latest)
{
        AUTO_KEY struct key key = KEY_EMPTY;

        for (size_t i = 0; i < overrides->n; i++) {
                const struct object *o = overrides->at[i], *last;
                struct object_list own;

                if (is_deleting(o))
                        continue;
                if (object_key(&key, o->meta.ns, o->meta.name) < 0)
                        return error_no_memory(rc->err);
                if (map_has(marked, key.text))
                        continue;
                TRY(cache_by_index(rc, kind, INDEX_OVERRIDE, key.text, &own));
                last = newest(&own);
                if (is_missing(o, last, bindings))
                        return error_set(rc->err, ERR_RETRY,
                                         "a snapshot of %s \"%s\" is missing and not replaced yet",
                                         o->kind->kind, o->meta.name);
                if (last)
                        latest->at[latest->n++] = last;
        }
        return 0;
}

/* The snapshots in force: those marked latest. While an override is replaced there is none for a moment, or,
 * when the process that replaces it ends, for longer: what it said before stays in force until its successor
 * is there. */
static int load_in_force(struct reconcile *rc, const struct kind *override, const struct kind *kind,
                         const struct object_list *bindings, struct object_list *ret)
{
        struct object_list overrides, latest, grown;
        struct map marked;
        AUTO_KEY struct key key = KEY_EMPTY;
        int code = 0;

        TRY(cache_list(rc, override, &overrides));
        TRY(cache_by_index(rc, kind, INDEX_LATEST, "true", &latest));
        *ret = latest;
        if (overrides.n <= latest.n)
                return 0;
        grown = (struct object_list){
                ARENA_NEW_ARRAY(rc->arena, const struct object *, latest.n + overrides.n), latest.n
        };
        if (!grown.at)
                return error_no_memory(rc->err);
        map_init(&marked, MAP_OWN_KEYS, NULL);
        for (size_t i = 0; i < latest.n && code == 0; i++) {
                grown.at[i] = latest.at[i];
                code = parent_key(&key, latest.at[i]);
                if (code == 0)
                        code = map_put(&marked, key.text, (void *)latest.at[i]->meta.name);
        }
        code = code < 0 ? error_no_memory(rc->err)
                        : add_replaced(rc, kind, &overrides, &marked, bindings, &grown);
        map_free(&marked);
        qsort(grown.at, grown.n, sizeof(grown.at[0]), by_name); /* as lists of caches are */
        *ret = grown;
        return code;
}

static int load_latest(struct reconcile *rc, const struct object_list *bindings, struct override_set *ret)
{
        TRY(load_in_force(rc, &cluster_resource_override_kind, &cluster_resource_override_snapshot_kind,
                          bindings, &ret->cluster));
        return load_in_force(rc, &resource_override_kind, &resource_override_snapshot_kind, bindings,
                             &ret->own);
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
        TRY(load_latest(rc, bindings, &latest));
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
