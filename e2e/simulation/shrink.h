/* Finds a short list of moves and message faults that still fails the same way. */
#pragma once

#include "e2e/simulation/run.h"

/* What is left of a plan. shrink_clear() it. */
struct shrunk {
        struct run_plan plan; /* its lists are the two below */
        struct move *moves;
        uint64_t *faults;
        struct error err; /* how it fails */
        unsigned tries;   /* that it took */
};

/* `plan` fails. Tries parts of it, each in a process of its own, until no single move or fault can be left
 * out or `tries` are used up. ERR_NOT_FOUND if `plan` passes. */
int shrink_plan(const struct run_plan *plan, unsigned tries, struct shrunk *ret, struct error *err);
void shrink_clear(struct shrunk *s);
/* The same, told on standard output; what is left is played once more into `trace` (may be NULL).
 * ERR_NOT_FOUND as well if that passes. */
int shrink(const struct run_plan *plan, unsigned tries, FILE *trace, struct error *err);
