/* A small generator with a state of its own, so that what a run does depends on its seed alone. */
#pragma once

#include "common/base/base.h"

struct dice {
        uint64_t state;
};

static inline uint64_t dice_next(struct dice *d) /* splitmix64 */
{
        uint64_t z = d->state += 0x9e3779b97f4a7c15u;

        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
        return z ^ (z >> 31);
}
static inline uint64_t dice_below(struct dice *d, uint64_t n)
{
        return dice_next(d) % n;
}
static inline bool dice_percent(struct dice *d, unsigned percent)
{
        return dice_below(d, 100) < percent;
}
