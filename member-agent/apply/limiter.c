#include "member-agent/apply/limiter.h"

#define COUNTER_MAX 199

const struct limiter_options limiter_defaults = {
        .attempts_with_fixed_delay = 1,
        .fixed_delay_s = 5,
        .slow_base = 1.2,
        .initial_slow_s = 2,
        .max_slow_s = 15,
        .fast_base = 1.5,
        .max_fast_s = 900,
        .skip_to_fast = true,
};

struct limiter_options limiter_checked(struct limiter_options o)
{
        if (o.attempts_with_fixed_delay < 1 || o.attempts_with_fixed_delay > 40)
                o.attempts_with_fixed_delay = 1;
        if (o.fixed_delay_s < 2)
                o.fixed_delay_s = 2;
        if (!(1.05 <= o.slow_base && o.slow_base <= o.fast_base && o.fast_base <= 100))
                o.slow_base = o.fast_base = 1.2;
        if (!(2 <= o.initial_slow_s && o.initial_slow_s <= o.max_slow_s && o.max_slow_s <= o.max_fast_s &&
              o.max_fast_s <= 3600)) {
                o.initial_slow_s = 2;
                o.max_slow_s = 30;
                o.max_fast_s = 900;
        }
        return o;
}

static double next_s(const struct limiter *l, const struct limiter_options *o, bool settled)
{
        double slow;

        if (l->counter < o->attempts_with_fixed_delay)
                return o->fixed_delay_s;
        if (l->counter == o->attempts_with_fixed_delay)
                return o->initial_slow_s;
        slow = l->last_s * o->slow_base;
        return (o->skip_to_fast && settled) || slow > o->max_slow_s ? l->last_s * o->fast_base : slow;
}

int64_t limiter_next_ms(struct limiter *l, const struct limiter_options *o, int64_t generation,
                        uint64_t results, bool settled)
{
        if (l->generation != generation || l->results != results)
                *l = (struct limiter){ .generation = generation, .results = results };
        l->last_s = MIN(next_s(l, o, settled), o->max_fast_s);
        if (l->counter < COUNTER_MAX)
                l->counter++;
        return (int64_t)(l->last_s * 1000.0);
}
