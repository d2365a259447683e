/* What hangs on one running hub agent. Internal to hub-agent/. */
#pragma once

#include "common/ctrl/health.h"
#include "common/kube/mapping.h"
#include "hub-agent/common.h"
#include "hub-agent/hub_agent.h"
#include "hub-agent/membership/hearing.h"
#include "hub-agent/memory.h"
#include "hub-agent/placement/filter.h"

struct catalog;
struct body_cache;
struct progress_series;
struct scheduler_memory;
struct webhook_serving;
struct input_providers;
struct sources;

struct hub_agent {
        const struct hub_agent_options *options;
        struct world *world;
        struct log log;
        struct kube_client kube;
        struct kube_connection *connection;
        struct intern_table *interns;
        struct metrics *metrics;
        struct manager *manager;
        struct kube_mapper *mapper;
        struct fiber_group *group, *following; /* the manager; the fiber that follows discovery */
        struct catalog *catalog;
        struct body_cache *bodies;
        struct filter_rules filters;
        struct webhook_serving *webhooks;        /* NULL = none are served */
        struct progress_series *progress;        /* of placements, on /metrics */
        struct input_providers *input_providers; /* NULL = they are left alone */
        struct sources *sources;                 /* NULL = charts and sources are left alone */
        struct scheduler_memory *scheduler;      /* what it remembers of all placements and members */
        /* What their controllers remember of one object each; `not_reported` of placements,
         * `reported` of Works. */
        struct memories members, intakes, statuses, bindings, update_runs, not_reported, reported,
                resource_sets;
        struct hearing hearing;
        struct held held;
        size_t n_watched_configs; /* kinds that ResourceSets copy from, followed by now */
        int64_t snapshot_min_interval_ms, change_collect_ms, force_delete_wait_ms, settle_ms;
};

/* As discovery last said. */
bool kinds_are_served(const struct hub_agent *a, const struct kind *const *kinds, size_t n);

static inline struct hub_agent *agent_of(struct reconcile *rc)
{
        return rc->agent;
}

/* Milliseconds until a status difference is to be written; 0 = now, as one that is settled always is. */
int64_t status_due_in(struct hub_agent *a, struct hold *h, bool settled);
extern const struct memory_kind member_memory_kind, intake_memory_kind, status_memory_kind,
        binding_memory_kind, update_run_memory_kind, not_reported_memory_kind, reported_memory_kind,
        resource_set_memory_kind;

/* Index "owner": the key of the placement an object belongs to. */
#define INDEX_OWNER "owner"
void emit_owner(const struct object *o, index_emit emit, void *to);
/* For watches: the objects of a kind that belong to a placement, borrowed from the cache. ERR_NO_MEMORY. */
int objects_of_owner(struct hub_agent *a, const struct kind *kind, const char *ns, const char *placement,
                     struct arena *arena, struct object_list *ret);
/* Index "cluster": the cluster a binding places on. */
#define INDEX_CLUSTER "cluster"
void emit_cluster(const struct object *o, index_emit emit, void *to);
/* For watches of MemberClusters: whether an update changed labels, and who is bound to a cluster. */
bool labels_changed(const struct informer_event *e);
void for_each_binding_on(struct hub_agent *a, const char *cluster,
                         void (*fn)(void *ctx, const struct object *binding), void *ctx);
/* Index "placement": the key of the placement that an update run rolls out, as long as it has not ended. */
#define INDEX_PLACEMENT "placement"
void emit_update_run_placement(const struct object *o, index_emit emit, void *to);
/* watch_map of objects that belong to a placement. */
void map_to_owner(void *agent, const struct informer_event *e, key_emit emit, void *to);

/* ---- bodies of resource snapshots (they are not in the informers) ---- */

struct body_cache *body_cache_new(void);
struct body_cache *body_cache_free(struct body_cache *c);
/* The whole snapshot, from the cache or the API server; lives until the reconcile ends. */
int body_get(struct reconcile *rc, const struct object *projection, const struct resource_snapshot **ret);
/* Keeps what was just created, so that it need not be read back. `stored` is the server's answer. */
void body_put(struct hub_agent *a, const struct object *stored, const struct resource_snapshot *full);
/* Those of the group with one index, in whatever order they come: the head first, then by subindex, as the
 * objects were split (spec/placement.md 9.3). `members` has room for all; returns how many. */
size_t snapshots_of_group(const struct object_list *snapshots, const char *index,
                          const struct object **members);
/* The group of snapshots with one index, head first, bodies included. ERR_RETRY while it is incomplete. */
int body_get_group(struct reconcile *rc, const struct object_list *snapshots, const char *index,
                   const struct resource_snapshot *const **ret, size_t *ret_n);

extern const struct controller membership_controller, intake_controller, placement_status_controller,
        scheduler_controller, rollout_controller, work_generator_controller, override_controller,
        eviction_controller, update_run_controller, cluster_profile_controller, report_back_controller;
