/* When a Work is looked at again although nothing called for it: spec/member-agent.md 2.14. Pure arithmetic.
 */
#pragma once

#include "common/base/base.h"

struct limiter_options {
        int attempts_with_fixed_delay;
        double fixed_delay_s, slow_base, initial_slow_s, max_slow_s, fast_base, max_fast_s;
        bool skip_to_fast; /* for Works that are available or have reported their diff */
};
extern const struct limiter_options limiter_defaults;
struct limiter_options
limiter_checked(struct limiter_options o); /* out-of-range values replaced as the rule says */

/* Per Work; zeroed = never seen. */
struct limiter {
        int64_t generation;
        uint64_t results; /* hash over result and availability of each manifest, in order */
        int counter;
        double last_s;
};
/* The delay until the next look, in ms. `settled`: Available or DiffReported is True for this generation. */
int64_t limiter_next_ms(struct limiter *l, const struct limiter_options *o, int64_t generation,
                        uint64_t results, bool settled);
