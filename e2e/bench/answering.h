/* Members without agents, for what a hub does with many: each joins as soon as its namespace is there, and
 * every Work is applied and available as soon as it is written. They send no heartbeats: a MemberCluster is
 * to ask for few. */
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
        size_t n_works; /* that were answered */
        int code;       /* the first failure's */
        struct error err;
};

/* Begins to answer. From a fiber; the client lives longer. */
int answering_open(struct answering *a, struct kube_client *hub, struct fiber_group *parent,
                   struct error *err);
void answering_close(struct answering *a);
