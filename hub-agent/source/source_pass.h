/* One run of a chart or a source: what all kinds have in common. spec/helm-chart.md 3, 4.3. */
#pragma once

#include "hub-agent/source/failing.h"
#include "hub-agent/source/source_agent.h"
#include "hub-agent/transfer/secret.h"

#define SOURCE_MANAGER "source-controller" /* field manager and source of events */
#define SOURCE_FINALIZER "finalizers.fluxcd.io"

struct source_pass;

struct source_kind {
        const struct kind *kind;
        enum source_which which;
        const char *link; /* beside the newest file; NULL = none, and no address in the status */
        bool (*is_suspended)(const struct object *o);
        const char *(*interval)(const struct object *o);
        bool (*is_static)(const struct object *o); /* nothing is kept of it; NULL = of none */
        /* Looks at the source and stores what is new. What failed was told by source_fails(); another
         * failure is one of this agent or its hub. */
        int (*make)(struct source_pass *p);
};

struct source_pass {
        struct reconcile *rc;
        const struct source_kind *kind;
        struct sources *sources;
        const struct object *now; /* as the server has it */
        struct object *wanted;    /* a copy, with the status that is to be */
        struct source_run run;    /* on its status */
        struct source_failure failure;
        int64_t began_ms; /* loop */
        bool recovers;    /* the run before failed */
        bool told;        /* an event said so, or that there is a new artifact */
};

struct outcome source_reconcile(struct reconcile *rc, const struct source_kind *kind);
/* watch_map: generation, deletion and the annotation that asks for a run. */
void map_source_itself(void *agent, const struct informer_event *e, key_emit emit, void *to);

/* Ends the run: what rc->err says, behind the prefix. Returns its code. */
int source_fails(struct source_pass *p, const struct source_failing *how);
/* Writes the status as it is by now. What others wrote to the object meanwhile stays. */
int source_write(struct source_pass *p);
struct source_record *source_record_of(struct source_pass *p); /* NULL on no memory */
/* The file is the object's artifact from now on, of that revision. */
int source_keep(struct source_pass *p, const struct source_artifact *artifact, const char *revision);
/* A normal event about the artifact that is kept: it is new, or good after a failure. */
void source_tell_artifact(struct source_pass *p, const char *reason, const char *message);
/* Says that nothing is new; once an hour for a revision. */
void source_tell_unchanged(struct source_pass *p, const char *revision);
/* Of a spec's text; `fallback_ms` where it is absent. */
int64_t source_duration_ms(const char *text, int64_t fallback_ms);
/* A Secret of the object's namespace. Has told what fails. */
int source_read_secret(struct source_pass *p, const char *name, const char *what, struct secret *ret);
