/* Finds a short list of moves and message faults that still fails the same way. */
#pragma once

#include "e2e/simulation/run.h"

/* `plan` fails. Tries parts of it, each in a process of its own, until nothing more can be left out or
 * `tries` are used up; then tells on standard output what is left, and plays it once more into `trace` (may
 * be NULL). 0 when it still failed at the end, else ERR_NOT_FOUND: it passed when played again. */
int shrink(const struct run_plan *plan, unsigned tries, FILE *trace, struct error *err);
