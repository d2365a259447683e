/* Why a report waits although its pass is over: something may come in a moment that makes two writes one, or
 * a verdict out of none. Pure. */
#pragma once

#include "member-agent/apply/manifest.h"
#include "proto/gen/types.h"

/* Of a Work, from pass to pass; zeroed = it has not waited. */
struct hold {
        int64_t generation, until_ms; /* its first report waits for availability */
        int64_t unanswered_since_ms;  /* requests for objects have no answers; 0 = they have */
};

struct hold_input {
        const struct manifest *manifests;
        size_t n;
        int64_t generation;             /* of the Work */
        const struct work_status *told; /* what the hub has; NULL if nothing, or if that is unknown */
        const struct work_status *wanted;
        bool member_answers; /* its API server as a whole is there */
        int64_t now_ms;      /* loop */
};

/* Workloads are often available moments after they were applied. The first report of a generation that went
 * well waits so long for the watch to say so, then both conditions are one write. A failure is told at once.
 * Milliseconds to wait, 0 = write now. */
int64_t hold_for_availability(struct hold *h, const struct hold_input *in);
/* A request that was never answered is no verdict on its object. While the API server as a whole is away the
 * connection tells that; when one kind alone has no answers, it is told after a while. Milliseconds as above.
 */
int64_t hold_for_answers(struct hold *h, const struct hold_input *in);
