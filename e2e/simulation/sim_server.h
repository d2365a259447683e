/* The API servers of a simulated fleet: one devcluster behind the loopback network, whose state is on a
 * simulated disk if it is to survive a kill. All calls but the readers are made from a fiber. */
#pragma once

#include "common/net/http_server.h"
#include "e2e/devcluster/devcluster.h"
#include "e2e/simulation/mirror.h"

struct sim_server;

struct sim_server_options {
        struct world *world;
        const struct log *log;
        struct fiber_group *group;
        struct loopback *loopback;
        const char *authority;
        struct http_transport *webhooks; /* how the servers call them */
        /* Told of all changes of all stores once they are committed; NULL: state is in memory only, a kill is
         * refused. */
        void (*changed)(void *ctx, const struct change *c);
        void *ctx;
        bool (*looks_into)(const char *resource); /* as in mirror_options */
};

int sim_server_open(const struct sim_server_options *o, struct sim_server **ret, struct error *err);
struct sim_server *sim_server_close(struct sim_server *s);
/* From now on `changed` is called. */
void sim_server_begin(struct sim_server *s);
int sim_server_create_cluster(struct sim_server *s, const char *name, struct error *err);
struct devcluster *sim_server_devcluster(struct sim_server *s); /* NULL while it is down */
struct mirror *sim_server_mirror(struct sim_server *s);         /* NULL if there is none */
int sim_server_set_ready(struct sim_server *s, const char *cluster, const char *kind, const char *ns,
                         const char *name, bool ready, struct error *err);
/* Where the Service ("namespace/name") is reached from now on; both are borrowed. There is one. */
void sim_server_set_service(struct sim_server *s, const char *service, const char *authority);
int sim_server_restart(struct sim_server *s, struct error *err);
int sim_server_kill(struct sim_server *s, bool power_failure, struct error *err);
int sim_server_set_disk_full(struct sim_server *s, bool full, struct error *err);
