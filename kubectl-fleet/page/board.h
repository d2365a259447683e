/* What the view of a staged update run is made of. Pure. */
#pragma once

#include "kubectl-fleet/page/view.h"
#include "kubectl-fleet/plan_view.h"
#include "kubectl-fleet/run_view.h"

struct page_board {
        const struct page_look *look;
        const struct kind *kind;
        const char *ns, *name;                  /* ns: NULL of a ClusterStagedUpdateRun */
        const struct update_run *run;           /* NULL = it was not read, or is not there */
        const struct object_list *requests;     /* whole */
        const char *problem, *requests_problem; /* why they cannot be read; NULL = none */
        struct run_view view;
        struct plan_view plans; /* those on the requests */
        /* Filled by page_board_plans(): why the stages that lie ahead are not compared, and which are. */
        const char *note;
        bool *compared; /* by page_board_stage()'s numbers */
};
/* From the arguments, and from what was read so far. */
int page_board_read(const struct page_look *l, struct page_board *ret, struct error *err);
size_t page_board_n_stages(const struct page_board *b);
/* The last one is the deletion stage, if there is one. */
const struct stage_view *page_board_stage(const struct page_board *b, size_t i);
/* Whether what a stage brings is to be told from snapshots: it lies ahead, and no request shows it or will.
 */
bool page_board_compares(const struct page_board *b, size_t i);
/* What that needs, as far as it is known. */
int page_board_plan_needs(const struct page_board *b, struct page_needs *ret, struct error *err);
/* The part "plans": a row for each request with a plan, by its name, and for each stage that was compared, by
 * page_board_stage_key(). */
int page_board_plans(struct page_board *b, struct page_doc *d, struct error *err);
const char *page_board_stage_key(const struct page_board *b, size_t i); /* "stage/2"; NULL on no memory */

/* The request can be approved: 0, or ERR_INVALID in a sentence. */
int page_board_check_gate(const struct page_board *b, const struct stage_view *stage, const struct gate *g,
                          struct error *err);
const char *page_tone(enum tone t); /* "good", "busy", "bad", "faint", "strong", "plain" */
