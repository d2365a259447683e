/* The manifest-generator as a library: one call runs it inside a fiber until it is cancelled. It syncs target
 * paths of a Git repository to the hub, and writes updates back. A program of its own, since generators need
 * a shell and tools that the hub-agent's image must not have. spec/flux-yaml.md. */
#pragma once

#include "common/ctrl/metrics.h"
#include "common/kube/client.h"
#include "common/net/http_server.h"
#include "hub-agent/manifest-generation/images.h"
#include "hub-agent/manifest-generation/repository.h"

#define GENERATION_COMPONENT "manifest-generator"
#define GENERATION_EVENTS "manifest-generation" /* source of events */
#define GENERATION_LEASE "manifest-generator"

struct generation_options {
        struct world *world;
        const struct log *log;
        const struct http_endpoint *hub;
        const char *identity; /* leader election; NULL = random */
        const char *lease_namespace;
        bool leader_election;
        int64_t lease_duration_ms, renew_deadline_ms, retry_period_ms; /* 0 = defaults */
        const char *bind;              /* metrics and health; NULL = no server */
        int metrics_port, health_port; /* -1 = none, 0 = any */
        struct metrics *metrics;       /* NULL = own */

        const char *agent_namespace;
        const char *pod, *deployment; /* what events are about; pod NULL = the deployment */

        struct repository repository; /* ops NULL = there is none */
        const char *url;              /* with user, without password: it names the set */
        const char *public_url;       /* for people */
        const char *branch;
        const char *const *paths; /* none = the root */
        size_t n_paths;
        bool readonly;
        int64_t git_poll_ms;
        const char *state_secret; /* where the state is kept; NULL = in the sync tag */
        const char *skip_text;    /* appended to commit messages */
        const char *git_user, *git_mail;
        bool set_author;

        bool generation, generator_cache;
        const char *const *environment; /* the process's own, NULL-terminated */
        const char *const *generator_env;
        size_t n_generator_env;
        const char *shell; /* NULL = /bin/sh */

        int64_t sync_interval_ms, sync_timeout_ms;
        bool collect, collect_dry, drift;
        const char *default_namespace;
        const char *const *namespaces; /* the only ones; none = all */
        size_t n_namespaces;

        struct images images; /* ops NULL = registries are not asked */
        int64_t images_ms;
};

/* Runs until the calling fiber is cancelled (ERR_CANCELLED: clean end, lease released) or it cannot go on. */
int manifest_generator_run(const struct generation_options *o, struct error *err);
