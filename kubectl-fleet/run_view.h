/* What `runs` shows of staged update runs: made from what the hub has. Pure.
 * spec/staged-update-and-eviction.md 1.4, 13. */
#pragma once

#include "common/ctrl/informer.h"
#include "kubectl-fleet/screen.h"
#include "proto/gen/kinds.h"
#include "proto/names.h"

enum run_state {
        RUN_NEW,   /* not initialized */
        RUN_READY, /* initialized, and asked to do no more */
        RUN_GOES_ON,
        RUN_WAITS, /* at a gate */
        RUN_STUCK,
        RUN_STOPPING,
        RUN_STOPPED,
        RUN_DONE,
        RUN_FAILED,
};

enum gate_state { GATE_AHEAD, GATE_WAITS, GATE_PASSED };
struct gate {
        const char *type;    /* TimedWait, Approval */
        const char *request; /* name of the approval request; NULL = none */
        enum gate_state state;
        const char *wait_time;                /* of a TimedWait, as the strategy says it; NULL */
        int64_t until_ms;                     /* of a TimedWait that is running; TIME_NONE */
        const struct approval_request *asked; /* of an Approval, where it was read; NULL */
};

enum stage_state {
        STAGE_AHEAD,
        STAGE_RUNS,
        STAGE_WAITS,
        STAGE_STOPPED,
        STAGE_DONE,
        STAGE_SKIPPED,
        STAGE_FAILED
};
struct stage_view {
        const struct stage_status *status;
        const char *name;
        enum stage_state state;
        struct progress progress; /* busy: started; bad: failed */
        size_t n_skipped;         /* clusters that left */
        struct gate *before, *after;
        size_t n_before, n_after;
};

struct run_view {
        const struct update_run *run;
        enum run_state state;
        const char *word, *message; /* "waiting"; the condition's text, "" if none */
        const char *revision;       /* in use; "" = none yet */
        struct progress progress;   /* of all stages */
        struct stage_view *stages;
        size_t n_stages;
        const struct stage_view *current; /* NULL = none is under way */
        struct stage_view *deletion;      /* NULL = none, or nothing to be removed */
};
/* `requests`: struct approval_request of the run; may be empty. 0 or ERR_NO_MEMORY. */
int run_look(struct arena *arena, const struct update_run *run, const struct object_list *requests,
             struct run_view *ret);
bool run_is_over(enum run_state state);
enum tone run_tone(enum run_state state);

/* ---- in words ---- */

struct run_word {
        const char *text;
        enum tone tone;
};
struct run_word stage_word(enum stage_state state); /* "in progress" */
/* `past`: what was not reached by now never will be. Of a wait that is running: "waits". */
struct run_word gate_word(const struct gate *g, bool past);
bool gates_are_past(const struct run_view *v, const struct stage_view *stage);
/* Somebody has approved what it waits for; the run may not have taken it up yet. */
bool gate_is_approved(const struct gate *g);
/* Why the last approval was not accepted; NULL = none was refused. */
const char *gate_refusal(const struct gate *g);

enum step_state { STEP_AHEAD, STEP_UPDATES, STEP_DONE, STEP_FAILED, STEP_SKIPPED };
/* How far a cluster of a stage is. */
struct step {
        enum step_state state;
        struct run_word word;
        const char *message; /* of one that has ended; else "" */
        int64_t since_ms;    /* it is so; TIME_NONE = from the beginning */
};
struct step step_of(const struct cluster_updating_status *c);
const char *left_out_words(const struct left_out_cluster *c); /* "no stage selects it" */
const char *stage_failure(const struct stage_view *v);        /* "" if it did not fail */

struct run_drawing {
        struct screen screen;
        int64_t now_ms;
        bool all;        /* every cluster, not only those that are under way or failed */
        const char *hub; /* session_hub_words(), for what is to be typed */
};
void run_draw(const struct run_view *v, struct run_drawing *d);
/* A line with the command that approves a request of the run; `hash`: of this plan alone, NULL = any. */
void approve_draw(struct screen *s, const char *indent, const struct object *run, const char *request,
                  const char *hash, const char *hub);
json_t *run_doc(const struct run_view *v); /* new; NULL on no memory */
