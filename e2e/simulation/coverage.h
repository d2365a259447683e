/* What a run of seeds played and hit: counted per process, merged over processes, and judged: what was never
 * played is a hole in the game. */
#pragma once

#include "common/base/error.h"

struct coverage;
struct coverage *coverage_new(void); /* NULL on no memory */
struct coverage *coverage_free(struct coverage *c);

/* Another seed begins: kinds of requests are counted once a seed, too. faults_new() calls it. */
void coverage_begin(struct coverage *c);
void coverage_move(struct coverage *c, const char *move);                   /* played, with effect */
void coverage_request(struct coverage *c, const char *kind, bool is_write); /* of traffic_kind() */
void coverage_hit(struct coverage *c, const char *kind, const char *fault);
void coverage_rule(struct coverage *c, const char *rule); /* an invariant had something to judge */
void coverage_told(struct coverage *c, const char *what, uint64_t n); /* it came n times more */
/* Known before it happens: a name with no count is a hole. */
void coverage_expect_move(struct coverage *c, const char *move);
void coverage_expect_told(struct coverage *c, const char *what);
void coverage_expect_rule(struct coverage *c, const char *rule);
uint64_t coverage_hits(const struct coverage *c, const char *kind, const char *fault);

size_t coverage_allocations(const struct coverage *c); /* live ones it holds: for leak checks around it */

/* A text of lines, one count each, which coverage_merge() adds to what is there. */
int coverage_write(const struct coverage *c, const char *path, struct error *err);
int coverage_merge(struct coverage *c, const char *path, struct error *err);
#define COVERAGE_SEEDS 100 /* in so many everything happens */
/* Prints the tables. Returns how many holes there are: moves and rules without a count; and, if `seeds` is at
 * least COVERAGE_SEEDS, kinds of writes seen in as many seeds which some fault of writes never hit. */
unsigned coverage_report(const struct coverage *c, unsigned seeds, FILE *to);
