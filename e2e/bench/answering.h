/* Members without agents, for what a hub does with many: each joins as soon as its namespace is there, and
 * every Work is applied and available as soon as it is written, or gone as soon as it is deleted. What they
 * write is what agents would; they see it by two watches, of all Works and of all InternalMemberClusters. */
#pragma once

#include "common/base/vec.h"
#include "common/ctrl/informer.h"

struct answering {
        struct kube_client *hub;
        struct fiber_group *group;
        struct informer *works, *members;
        VEC(const struct object *) due; /* referenced: what is to be answered */
        size_t next;                    /* of `due` */
        struct waitq more;
        size_t n_joined, n_works, n_beats; /* that were answered, or sent */
        int64_t heartbeat_ms;              /* 0 = none are sent: a MemberCluster is to ask for few */
        int code;                          /* the first failure's */
        struct error err;
};

/* Begins to answer. Each member there is gets a heartbeat at once, and then one every heartbeat_ms, which
 * are spread evenly over that time. From a fiber; the client lives longer. */
int answering_open(struct answering *a, struct kube_client *hub, int64_t heartbeat_ms,
                   struct fiber_group *parent, struct error *err);
/* From now on Works are answered, too. */
int answering_open_works(struct answering *a, struct error *err);
void answering_close(struct answering *a);
/* Of a cache of MemberClusters: those that the hub says have joined. */
size_t answering_count_joined(const struct informer *clusters);
