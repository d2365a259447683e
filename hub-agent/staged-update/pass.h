/* What the files of one pass over an update run share. Internal to staged-update/. */
#pragma once

#include "common/base/map.h"
#include "hub-agent/staged-update/update_run.h"

/* A cluster with a binding that the latest policy wants, or does not want any more. */
struct target {
        const struct binding *b;
        const struct member_cluster *cluster; /* NULL: gone */
        size_t at;                            /* in the input */
};
struct targets { /* sorted by cluster */
        struct target *at;
        size_t n;
};

struct pass {
        struct arena *arena;
        const struct update_run_input *in;
        struct error *err;
        struct update_run_plan *plan;
        struct update_run *run; /* becomes plan->wanted */
        struct update_run_status *status;
        int64_t generation, now_ms;
        const char *words; /* of ERR_INVALID: the run aborts, and of ERR_RETRY: it is tried again */

        struct apply_strategy *strategy;
        const char *policy_name, *policy_index;
        int64_t cluster_count;
        struct targets selected, removed;
        const struct resource_snapshot *master;
        const struct map *only; /* names of the clusters that the run is for; NULL = all that are selected */

        const char **problems; /* room for one a cluster and one more */
        size_t n_problems;
        bool no_memory;
};

#define UPDATE_RUN_APPROVALS_MAX 4 /* in one pass; a stage has at most three */
#define STAGE_NONE (-1)            /* all is done */

/* ---- errors ---- */

/* ERR_INVALID: ends the run. `words` NULL: there was no memory for them. */
int run_aborts(struct pass *p, const char *words);
int run_retries(struct pass *p, const char *words); /* ERR_RETRY */
/* What usually passes by itself: tried again for UPDATE_RUN_GRACE_MS, and then the run ends. */
int run_waits_or_aborts(struct pass *p, const char *words);
const char *words_f(struct pass *p, const char *fmt, ...) PRINTF_LIKE(2, 3);
/* What was listed for words; without memory for it the pass ends. */
const char *listed_text(struct pass *p, const struct buf *list);
/* Of "namespace/name", as errors name it. */
const char *ref_of(struct pass *p, const char *name);

/* ---- conditions ---- */

bool is_true(const struct pass *p, const struct condition_list *l, const char *type);
bool is_false(const struct pass *p, const struct condition_list *l, const char *type);
/* Of runs, stages and tasks: makes the status urgent if it changed. */
void set_condition(struct pass *p, struct condition_list *l, const char *type, const char *status,
                   const char *reason, const char *message);
void set_cluster_condition(struct pass *p, struct cluster_updating_status *c, const char *type,
                           const char *status, const char *reason, const char *message);
void set_run_progress(struct pass *p, const char *status, const char *reason, const char *message);
void set_stage_progress(struct pass *p, struct stage_status *s, const char *status, const char *reason,
                        const char *message);
void stage_started(struct pass *p, struct stage_status *s);
void stage_succeeded(struct pass *p, struct stage_status *s, const char *reason, const char *progress,
                     const char *message);
/* Milliseconds since a moment that was written down; never negative. */
int64_t since(const struct pass *p, int64_t moment);
void wake_after(struct pass *p, int64_t ms); /* the soonest counts */
void measure(struct pass *p, enum update_run_measure_kind kind, const char *task_type, int64_t ms);

/* ---- facts (spec 4.1-4.3) ---- */

int read_placement(struct pass *p);
int read_policy(struct pass *p);
int read_bindings(struct pass *p);
struct target *target_of(const struct targets *t, const char *cluster); /* NULL: none */
bool keeps_clusters(const struct pass *p);                              /* onClusterChange is Continue */

/* ---- stages (spec 4.4) ---- */

void scrub_wait_times(struct strategy_spec *s);
/* The stages that the clusters make with the strategy's snapshot; conditions are empty. Each cluster has one,
 * or it is left out where the strategy has it so. */
int compute_stages(struct pass *p, struct stage_status_list *ret);
/* Whether the status has each stage's tasks: what is not there would not be waited for. */
int check_tasks(struct pass *p);
/* Lists those in no stage, sorted, in the status. */
int find_left_out(struct pass *p, const struct stage_status_list *stages);

/* ---- a run that retries another (of our own) ---- */

bool is_retry(const struct pass *p);
int check_retried(struct pass *p);
int copy_retried_strategy(struct pass *p);
/* As compute_stages, of the clusters that the run is for. */
int compute_asked_for(struct pass *p, struct stage_status_list *ret);

/* ---- the parts of a pass ---- */

int initialize_run(struct pass *p);
/* The group of resource snapshots with the index is there, whole and as it was made (p->master). */
int read_snapshot(struct pass *p, const char *index);
/* Which stage is current: its index, the number of stages for the deletion stage, STAGE_NONE. */
int validate_run(struct pass *p, int *ret_stage);
int stop_run(struct pass *p, int stage);

const struct stage_config *config_of(const struct pass *p, size_t stage); /* NULL: none */
int max_concurrency(struct pass *p, const struct stage_config *config, size_t n_clusters, size_t *ret);
/* approvals.c */
struct approval_task {
        struct stage_task_status *task;
        const struct stage_status *stage;
        const char *type;                   /* value of the label */
        const struct stage_status *planned; /* what the request shows a plan of; NULL = it shows none */
        bool removal;                       /* that is the deletion stage */
};
/* Of the stage's task of that place in the list: if it asks for a plan, what of. */
void ask_for_plan(const struct pass *p, struct approval_task *t, size_t stage, uint32_t task);
/* *ret: it was approved, which cannot be taken back. */
int run_approval(struct pass *p, const struct approval_task *t, bool *ret);
void note_approved(struct pass *p, const struct approval_task *t); /* the run's status says so */
/* As run_approval, and nothing is done for it. */
int was_approved(struct pass *p, const struct stage_task_status *task, bool *ret);

/* *ret_done: the stage and its tasks are. */
int update_clusters(struct pass *p, size_t stage, bool *ret_done);
int run_before_tasks(struct pass *p, size_t stage, bool *ret_done);
/* What stands before the stage was done, also when the run's status does not say so yet. */
int was_let_in(struct pass *p, size_t stage, bool *ret);
void note_let_in(struct pass *p, size_t stage); /* it says so now */
int run_after_tasks(struct pass *p, size_t stage, bool *ret_done);
/* Its entries by cluster; whoever asks frees the map, also on failure. */
int map_deletion_stage(struct pass *p, struct map *ret);
int run_deletion_stage(struct pass *p, bool *ret_done);
int stop_deletion_stage(struct pass *p, bool *ret_stopped);

/* *ret_stuck: what to say of those that take too long; NULL = there are none. */
int finish_clusters(struct pass *p, size_t stage, bool *ret_finished, const char **ret_stuck);
/* Adds to the list the bindings that have what the run gives their clusters, by its own record, and were not
 * announced yet. */
int list_begun(struct pass *p, struct rollout_list *ret);
/* It succeeded, was skipped, or failed where that is tolerated. */
bool cluster_is_over(const struct pass *p, const struct stage_config *config,
                     const struct cluster_updating_status *c);

/* Several clusters of a stage may end the run in one pass. */
void note_problem(struct pass *p, const char *words); /* NULL: there was no memory for them */
int problems_end(struct pass *p);                     /* 0, or what all of them together mean */
