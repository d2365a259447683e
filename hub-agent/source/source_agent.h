/* What the hub agent keeps for charts and sources, where they are enabled. */
#pragma once

#include "hub-agent/agent.h"
#include "hub-agent/registry/registry.h"
#include "hub-agent/source/options.h"
#include "hub-agent/source/store/store.h"

enum source_which { SOURCE_CHART, SOURCE_HELM, SOURCE_GIT, SOURCE_BUCKET, N_SOURCE_KINDS };

struct sources {
        const struct source_options *options;
        struct artifact_store store;
        struct source_indexes *indexes; /* what is held of them in memory: index_access.h */
        struct http_server *server;     /* of the artifacts; NULL = none */
        bool swept[N_SOURCE_KINDS], watches_secrets;
        struct registry_tokens tokens;              /* of registries that charts are in */
        struct git_work *work;                      /* folders of Git; NULL = nothing was fetched yet */
        struct memories remembered[N_SOURCE_KINDS]; /* struct source_record, of each object */
};

/* Of one source. */
struct source_record {
        struct memory base;
        char *tag, *modified; /* validators that came with the index that is kept; NULL = none */
        char *told;           /* revision that an event said is the newest */
        int64_t told_ms;      /* loop */
};

struct sources *sources_new(struct world *w, const struct source_options *o); /* NULL on no memory */
struct sources *sources_free(struct sources *s);
/* Another works on charts and sources by now: what there is on the volume is looked through anew when they
 * are ours again, and nothing is remembered of what came with it. */
void sources_forget(struct sources *s);
/* Serves artifacts, and works on charts and sources: from now on, or from when the hub serves all kinds.
 * After the first discovery. ERR_NO_MEMORY, or as http_server_start(). */
int sources_start(struct hub_agent *a, struct error *err);
void sources_stop(struct sources *s); /* serving; from a fiber, while the manager is there. NULL is fine */

/* Runs for objects that name a Secret when it changes. ERR_NO_MEMORY: may be tried again. */
int sources_watch_secrets(struct hub_agent *a);

/* Key of no object: for the first pass of a kind, which sweeps its folders, where there are no objects. */
#define SOURCE_KEY_OF_NONE "-/-"

extern const struct controller helm_repository_controller, bucket_controller, git_repository_controller,
        helm_chart_controller;
/* Index "source" of charts: the key of the source they name, of whatever kind. */
#define INDEX_CHART_SOURCE "source"
void emit_chart_source(const struct object *o, index_emit emit, void *to);
