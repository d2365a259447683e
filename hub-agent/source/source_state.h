/* The conditions of a chart or a source in the course of a run: what is noted while it goes on, and what
 * Ready says in the end. Pure. spec/helm-chart.md 3, 5.4. */
#pragma once

#include "hub-agent/flux_state.h"

/* What goes wrong, and where a message of it stands. */
enum source_trouble { TROUBLE_STORAGE, TROUBLE_FETCH, TROUBLE_BUILD };

struct source_failure {
        enum source_trouble trouble;
        const char *reason, *message;
        bool stalls; /* until something changes */
};

/* One run, on a copy of the status that is to be. */
struct source_run {
        struct source_status *status;
        struct arena *arena;
        int64_t generation, now_ms;
};

/* Whether what it begins with is to be written at once: a new generation, or somebody asked for a run. */
bool source_begins_visibly(const struct source_run *r, const char *requested_at);
/* Each returns 0 or ERR_NO_MEMORY; texts are borrowed, for as long as the arena. */
int source_begin(struct source_run *r);
/* Something is about to be made: Reconciling says so, and Ready is Unknown. */
int source_progress(struct source_run *r, const char *message);
/* ArtifactOutdated: there is a newer one than that which is kept. */
int source_outdated(struct source_run *r, const char *reason, const char *message);
/* ArtifactInStorage. */
int source_stored(struct source_run *r, const char *reason, const char *message);
/* The artifact went: neither it nor an address is in the status. */
void source_lost(struct source_run *r);
int source_verified(struct source_run *r, bool good, const char *reason, const char *message);
void source_unverified(struct source_run *r); /* nothing is verified any more */
/* How a run ends; Ready follows from all that is noted. After a success nothing is wrong any more. */
int source_succeed(struct source_run *r);
int source_fail(struct source_run *r, const struct source_failure *f);
/* What is said as it was before the run has been said since then: a run that fails like the one before it
 * leaves no trace. */
void source_keep_times(struct condition_list *now, const struct condition_list *before);
/* lastHandledReconcileAt, after every run, also of what is suspended. */
void source_note_handled(struct source_run *r, const char *requested_at);
