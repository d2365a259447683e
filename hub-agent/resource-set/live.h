/* What a live object lacks of the one that is wanted, and what of other tools is cleaned off it. Pure.
 * spec/resource-set.md 9.2, 9.4. */
#pragma once

#include "hub-agent/resource-set/build.h"

/* `dry`: what an apply would make of it. Whether that is worth an apply. */
bool live_differs(const json_t *live, const json_t *dry);
/* A JSON patch, bound to the resourceVersion, that removes marks of other tools and hands their fields over
 * to us; *ret (new) NULL if there is nothing. `managers`: of further ones, taken over from whatever they did.
 */
int live_cleaning(const json_t *live, const char *const *managers, size_t n, json_t **ret, struct error *err);

enum force { FORCE_NO, FORCE_YES, FORCE_IF_CREATABLE /* when a trial under another name passes */ };
/* Whether to recreate what an apply was refused for. `by_set`: the set says so. */
enum force force_decide(const json_t *wanted, const json_t *live, bool by_set, const struct error *refusal);
