/* The simulated backend: a clock that moves only when nothing is ready, and two seeded streams of random
 * numbers, one for the scheduler and one for those above, so that neither disturbs the other. */
#include "common/loop/internal.h"

struct simulated {
        uint64_t schedule, random;
        int64_t wall_offset_ms; /* wall clock minus virtual clock */
};

static struct simulated *simulated_of(const struct loop *l)
{
        return l->backend_state;
}

/* splitmix64: small, and every seed is as good as the next. */
static uint64_t draw(uint64_t *state)
{
        uint64_t z = *state += 0x9e3779b97f4a7c15u;
        z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
        z = (z ^ z >> 27) * 0x94d049bb133111ebu;
        return z ^ z >> 31;
}

uint64_t simulated_draw(struct loop *l)
{
        return draw(&simulated_of(l)->schedule);
}

static int64_t simulated_now_ms(const struct loop *l)
{
        return l->now_ms;
}

static int64_t simulated_now_us(const struct loop *l)
{
        return (l->now_ms + l->late_ms) * 1000;
}

static int64_t simulated_wall_us(const struct loop *l)
{
        return simulated_now_us(l) + simulated_of(l)->wall_offset_ms * 1000;
}

static void simulated_random(struct loop *l, void *ret, size_t n)
{
        char *p = ret;
        for (; n;) {
                uint64_t v = draw(&simulated_of(l)->random);
                size_t part = MIN(n, sizeof(v));
                memcpy(p, &v, part);
                p += part;
                n -= part;
        }
}

static void simulated_poll(struct loop *l, bool wait)
{
        if (wait)
                l->now_ms = MAX(l->now_ms, loop_next_timer_ms(l));
}

static bool simulated_alive(struct loop *l)
{
        return false;
}

static void simulated_free(struct loop *l)
{
        mem_free(l->backend_state);
}

static const struct loop_backend simulated_backend = {
        .now_ms = simulated_now_ms,
        .now_us = simulated_now_us,
        .wall_us = simulated_wall_us,
        .random = simulated_random,
        .poll = simulated_poll,
        .alive = simulated_alive,
        .free = simulated_free,
};

struct loop *loop_new_simulated(uint64_t seed, int64_t wall_start_ms, struct error *err)
{
        AUTO_FREE struct simulated *s = NEW(struct simulated);
        AUTO_FREE struct loop *l = loop_new(&simulated_backend, true);
        if (!s || !l) {
                error_no_memory(err);
                return NULL;
        }
        s->schedule = seed;
        s->random = draw(&seed);
        s->wall_offset_ms = wall_start_ms;
        l->backend_state = TAKE_PTR(s);
        return TAKE_PTR(l);
}

void loop_shift_wall(struct loop *l, int64_t by_ms)
{
        ASSERT(l->simulated);
        simulated_of(l)->wall_offset_ms += by_ms;
}
