/* What the parts of one member agent share. Everything of an agent hangs here; nothing is global. */
#pragma once

#include "common/ctrl/health.h"
#include "common/kube/mapping.h"
#include "member-agent/apply/hold.h"
#include "member-agent/apply/limiter.h"
#include "member-agent/member_agent.h"
#include "member-agent/store/key.h"
#include "member-agent/watch/follower.h"
#include "proto/gen/kinds.h"
#include "proto/names.h"

struct applied_watch;
struct property_set;
struct sets;
struct token_renewal;

struct member_agent {
        const struct member_agent_options *options;
        struct world *world;
        struct loop *loop;
        const struct log *log;
        char identity[40];      /* of the lease holder */
        char *ns;               /* reserved namespace on the hub: fleet-member-NAME */
        struct world hub_world; /* as `world`, with the transport that adds the hub's extra headers */
        struct kube_client hub, member;
        struct kube_connection *hub_connection, *member_connection;
        struct fiber_group *group;
        struct fiber_group *sweep; /* within group; ends before what it waits for */
        struct intern_table *interns;
        struct metrics *metrics;
        struct manager *manager; /* member side: queue, retries, leader election */
        struct kube_mapper *mapper;
        struct event_recorder *hub_events;
        struct store *store;
        struct keeper *keeper;             /* of the state file */
        char owner[SHA256_HEX_SIZE];       /* this member of this hub: marks the AppliedWorks that are made */
        struct informer *works, *clusters; /* hub side, projections */
        struct informer *applied_works;    /* member side */
        struct applied_watch *applied;     /* metadata watches of the kinds in the inventory */
        int64_t follows_since_ms;          /* loop: those of the state file were begun */
        struct waitq turned;               /* woken when one of them has its list, or a problem */
        struct sets *sets;                 /* ClusterObjectSets */
        struct property_set *properties;   /* what the hub is told of this cluster */
        struct token_renewal *token;       /* of the hub; NULL = not renewed by us */
        struct limiter_options limits;
        struct map memory; /* Work name -> struct work_memory */

        int64_t begun_ms;     /* loop */
        int64_t next_beat_ms; /* loop: the next heartbeat is due */
        bool probed;          /* health_problem is known */
        char health_problem[64];
        bool all_planned;  /* every Work of the hub had its rows when that was looked at last */
        bool joined;       /* by the InternalMemberCluster, or remembered from the last run */
        size_t busy;       /* reconciles of Works that are running: Leave waits for them */
        struct waitq idle; /* woken when busy becomes 0 */
        int64_t deletion_wait_ms;
        char member_version[64]; /* gitVersion of the member's API server */
        int64_t member_version_ms;
};

/* What is remembered of a Work between passes; losing it costs a pass. */
struct work_memory {
        struct limiter limiter;
        struct hold hold;         /* of the report */
        int64_t waits_since_ms;   /* for other Works, by loop_now_ms(); 0 = for none */
        int64_t waits_generation; /* and as which generation; 0 = as one that goes */
        uint64_t told_unremoved;  /* hash of what could not be removed and was told; 0 = nothing */
        int64_t looked_ms;        /* loop: at what is in the way of its end */
        uint64_t looked_at;       /* hash of the versions of its objects then; 0 = never */
        int64_t gone_since_ms;    /* the hub does not have the Work, by loop_now_ms(); 0 = it does */
        bool owner_known;         /* the server has shown the AppliedWork since the Work came */
        bool owner_gone;          /* and has not found it since, whatever the cache has */
        bool planned;             /* it has its rows, by its last pass since the agent started */
};
struct work_memory *agent_memory(struct member_agent *a, const char *work); /* NULL on no memory */
void agent_forget(struct member_agent *a, const char *work);

/* Where its Pod is. */
static inline const char *agent_namespace(const struct member_agent *a)
{
        return a->options->pod_namespace ? a->options->pod_namespace : NAMESPACE_DEFAULT;
}

/* Whether this member made it for a Work of this hub, by its mark. */
bool agent_made(const struct member_agent *a, const struct object *applied_work);

/* Puts the answer of an own write into a cache, as a projection. */
int agent_observe(struct member_agent *a, struct informer *i, const struct object *answer, struct error *err);

/* kube_patch_diff() for who needs nothing of the answer but that the cache has it. */
int agent_patch_diff(struct member_agent *a, struct kube_client *k, struct informer *i,
                     const struct object *now, const struct object *wanted, enum object_part part,
                     struct error *err);

/* Puts a Work on the applier's queue. */
void agent_enqueue_work(struct member_agent *a, const char *work, enum queue_priority priority);
/* Those of the hub, of the state file, and those that only an AppliedWork of ours tells of. */
int agent_enqueue_all(struct member_agent *a, enum queue_priority priority, struct error *err);

/* Indexes Works by what makes them siblings. */
#define INDEX_SIBLINGS "siblings"
void siblings_index(const struct object *work, index_emit emit, void *to);
/* A Work changed on the hub: wakes those that wait for it. Must not park. */
void handover_work_changed(struct member_agent *a, const struct object *work);

/* Keeps the manifests of a Work that a watch event brings (informer_options.whole_event). */
void work_received(void *agent, const struct object *projection, struct slice event);

extern const struct controller work_applier_controller;
extern const struct controller internal_member_cluster_controller;
