/* What hangs on one running hub agent. Internal to hub-agent/. */
#pragma once

#include "common/ctrl/health.h"
#include "common/kube/mapping.h"
#include "hub-agent/common.h"
#include "hub-agent/hub_agent.h"
#include "hub-agent/placement/filter.h"

struct catalog;
struct body_cache;

/* Memories whose status difference is held back. */
struct held {
        size_t n, most; /* most since there were none */
};

struct hub_agent {
        const struct hub_agent_options *options;
        struct world *world;
        struct log log;
        struct kube_client kube;
        struct kube_connection *connection;
        struct connection_metrics connection_metrics;
        struct intern_table *interns;
        struct metrics *metrics;
        struct manager *manager;
        struct kube_mapper *mapper;
        struct fiber_group *group, *following; /* the manager; the fiber that follows discovery */
        struct catalog *catalog;
        struct body_cache *bodies;
        struct filter_rules filters;
        struct metric *progress, *join_results, *leave_results;
        struct map progress_shown;  /* of placements' keys: struct progress_point, the series they have */
        struct map unreadable_told; /* of "cluster property": the value that was told to be unreadable */
        struct map memories;        /* of keys, "placement name", "binding ns/name": struct memory */
        struct held held;
        int64_t snapshot_min_interval_ms, change_collect_ms, force_delete_wait_ms, settle_ms;
};

static inline struct hub_agent *agent_of(struct reconcile *rc)
{
        return rc->agent;
}

/* What the agent remembers about one object between reconciles. Nothing here is needed for correctness: it
 * saves requests, and is learnt anew after a restart. */
struct memory {
        char *uid;                  /* of the object it is about; another one starts afresh */
        struct held *held;          /* the agent's count */
        int64_t dirty_since_ms;     /* loop time since when a status difference is to be written; 0 = none */
        bool is_held;               /* it waits for that: counted in `held` */
        int64_t rollout_generation; /* bindings: RolloutStarted=True is due for this generation; 0 = none */
        bool passed;                /* bindings: this process has looked at the Works before */
        bool works_changed;         /* bindings: since the status was last written, as far as is known */
        int64_t done_generation;    /* member clusters: joined for this generation */
        bool told_cut;              /* member clusters: that the report is too long */
        char fingerprint[65];       /* placements: of the selected objects' metadata */
        char hash[65];              /* placements: of their content at that time */
        size_t n_envelopes;
        struct arena arena; /* of `selected` */
        struct resource_identifier_list selected;
};
/* The memory of an object; NULL on no memory. `what` keeps the kinds apart. */
struct memory *memory_of(struct hub_agent *a, const char *what, const struct object *o);
void memory_drop(struct hub_agent *a, const char *what, const char *key);
void memory_free(void *memory);

/* Status differences that may still change soon are held back for settle_ms, so that a burst of changes costs
 * one write; the more objects waited at once in this burst, the longer, up to HOLD_MAX_MS. Milliseconds to
 * wait, 0 = write now. */
#define HOLD_MAX_MS 20000
int64_t memory_hold(struct hub_agent *a, struct memory *m, bool settled);
/* How each pass ends: with finish_after() it holds; when it failed, what was due by now stays due; else
 * nothing is to be written any more. Returns the outcome. */
struct outcome memory_pass_ended(struct memory *m, struct outcome o);

/* Index "owner": the key of the placement an object belongs to. */
#define INDEX_OWNER "owner"
void emit_owner(const struct object *o, index_emit emit, void *to);
/* watch_map of objects that belong to a placement. */
void map_to_owner(void *agent, const struct informer_event *e, key_emit emit, void *to);

/* ---- bodies of resource snapshots (they are not in the informers) ---- */

struct body_cache *body_cache_new(void);
struct body_cache *body_cache_free(struct body_cache *c);
/* The whole snapshot, from the cache or the API server; lives until the reconcile ends. */
int body_get(struct reconcile *rc, const struct object *projection, const struct resource_snapshot **ret);
/* Keeps what was just created, so that it need not be read back. `stored` is the server's answer. */
void body_put(struct hub_agent *a, const struct object *stored, const struct resource_snapshot *full);
/* The group of snapshots with one index, head first, bodies included. ERR_RETRY while it is incomplete. */
int body_get_group(struct reconcile *rc, const struct object_list *snapshots, const char *index,
                   const struct resource_snapshot *const **ret, size_t *ret_n);

extern const struct controller membership_controller, placement_controller, scheduler_controller,
        rollout_controller, work_generator_controller, override_controller;
