/* What happens to messages. A fault is chosen by the seed, the agent, the kind of request and its number
 * among its like, so that leaving one fault out leaves the others where they are. */
#pragma once

#include "common/base/vec.h"
#include "common/net/http_server.h"
#include "e2e/simulation/coverage.h"
#include "e2e/simulation/traffic.h"

enum fault_kind {
        FAULT_LOST,        /* never arrives, the client is told */
        FAULT_SILENT,      /* never arrives, nobody says so */
        FAULT_LOST_ANSWER, /* the server acts, the client hears an error */
        FAULT_DUPLICATE,   /* the server acts twice */
        FAULT_CONFLICT,    /* 409 */
        FAULT_BUSY,        /* 429 */
        FAULT_BROKEN,      /* 500, 503 */
        FAULT_SLOW,        /* seconds on its way */
        FAULT_GONE,        /* watches, and further pages of lists: 410 */
        FAULT_STALL,       /* watches: one piece comes 40 s late */
        FAULT_CUT,         /* watches: the stream ends */
        FAULT_KINDS
};
/* The first FAULT_WRITES kinds are those of writes. */
#define FAULT_WRITES FAULT_GONE

const char *fault_name(enum fault_kind k); /* "lost-answer" */

struct fault {
        uint64_t key; /* names the message: agent, kind, number */
        int64_t at_ms;
        enum fault_kind kind;
        char what[TRAFFIC_TEXT + 32]; /* "member-1: member-agent>hub patch works/status... (3)" */
};

struct faults;

struct faults_options {
        struct loop *loop;
        const struct log *log; /* told of each fault */
        struct coverage *coverage;
        uint64_t seed;
        /* NULL: as the seed draws. Else only the faults of these keys happen. */
        const uint64_t *only;
        size_t n_only;
};
struct faults *faults_new(const struct faults_options *o); /* NULL on no memory */
struct faults *faults_free(struct faults *f);
/* For sim_fleet_options.faults. */
const struct loopback_faults *faults_table(struct faults *f);
void faults_set(struct faults *f, bool on);                                 /* off at first */
const struct fault *faults_happened(const struct faults *f, size_t *ret_n); /* in order; borrowed */
