/* A policy that somebody types, in place of a placement's: checked by the definition's rules, never written.
 * Pure. */
#pragma once

#include "proto/gen/kinds.h"

#define PAGE_POLICY_BYTES (64u << 10)
#define PAGE_POLICY_VALUES 20000 /* keys of YAML included, aliases expanded */

struct page_policy_try {
        const struct placement *placement; /* with that policy; NULL = it is wrong */
        const char *error;                 /* then why: field and rule */
        size_t line, column;               /* where in the text, from 1; 0 = not known */
        /* What the hub would say against the change from the policy of now, which is right by itself: what
         * cannot be changed; NULL = nothing. */
        const char *refused;
};
/* `text`: spec.policy as YAML or JSON. All lives in the arena, or is the placement's. 0 or ERR_NO_MEMORY. */
int page_policy_try(struct arena *arena, const struct placement *now, const char *text,
                    struct page_policy_try *ret);
/* The policy of now as YAML, to begin from. A new array of lines; NULL on no memory. */
json_t *page_policy_lines(const struct placement *now);
