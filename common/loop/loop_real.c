/* The real backend: libuv waits for sockets, signals and the earliest timer; our own turn does the rest. */
#include <errno.h>
#include <sys/random.h>
#include <time.h>
#include <uv.h>

#include "common/loop/internal.h"
#include "common/loop/real.h"

#define TRIM_MS 1000

struct real {
        uv_loop_t uv;
        uv_async_t keep; /* lets uv_run wait although no handle of others is open */
        uv_timer_t wake; /* for the earliest of our timers */
        uv_prepare_t before_wait;
        int64_t wake_at;
        int64_t trimmed_at; /* stacks: ms */
        unsigned char random[256];
        size_t random_left;
        struct terminate terminate;
};

static struct real *real_of(const struct loop *l)
{
        return l->backend_state;
}

/* libuv's callbacks run before poll returns, perhaps after hours of waiting: what they count from is the time
 * at which that ended. */
static int64_t real_now_ms(const struct loop *l)
{
        return (int64_t)uv_now(&real_of(l)->uv);
}

static int64_t real_now_us(const struct loop *l)
{
        return (int64_t)(uv_hrtime() / 1000);
}

static int64_t real_wall_us(const struct loop *l)
{
        struct timespec now;
        clock_gettime(CLOCK_REALTIME, &now);
        return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

static void fill(unsigned char *p, size_t n)
{
        while (n) {
                ssize_t got = getrandom(p, n, 0);
                if (got < 0) {
                        ASSERT(errno == EINTR);
                        continue;
                }
                p += got;
                n -= (size_t)got;
        }
}

/* Small requests come from a buffer and are wiped from it. */
static void real_random(struct loop *l, void *ret, size_t n)
{
        struct real *r = real_of(l);
        if (n > sizeof(r->random) / 4) {
                fill(ret, n);
                return;
        }
        if (r->random_left < n) {
                fill(r->random, sizeof(r->random));
                r->random_left = sizeof(r->random);
        }
        r->random_left -= n;
        memcpy(ret, r->random + r->random_left, n);
        explicit_bzero(r->random + r->random_left, n);
}

static void wake_fired(uv_timer_t *wake)
{
        struct real *r = wake->data;
        r->wake_at = DEADLINE_NONE;
}

/* libuv runs due timers, ours and others', before it waits. What they made ready must not wait with it;
 * uv_stop turns this wait into a look. */
static void about_to_wait(uv_prepare_t *prepare)
{
        struct loop *l = prepare->data;
        struct real *r = real_of(l);
        if (l->n_ready || l->stopping || !list_empty(&l->armed_hooks) || loop_next_timer_ms(l) != r->wake_at)
                uv_stop(&r->uv);
}

static void set_wake(struct loop *l, struct real *r)
{
        int64_t next = loop_next_timer_ms(l);
        if (next == r->wake_at)
                return;
        r->wake_at = next;
        if (next == DEADLINE_NONE)
                uv_timer_stop(&r->wake);
        else
                uv_timer_start(&r->wake, wake_fired, (uint64_t)MAX(next - l->now_ms, (int64_t)0), 0);
}

/* While there is work the stacks are needed again at once: who waits for answers only looks idle. */
static void trim_stacks(struct loop *l, struct real *r)
{
        if (l->now_ms - r->trimmed_at < TRIM_MS)
                return;
        r->trimmed_at = l->now_ms;
        stack_pool_trim(&l->stacks);
}

static void real_poll(struct loop *l, bool wait)
{
        struct real *r = real_of(l);
        if (wait) {
                trim_stacks(l, r);
                set_wake(l, r);
                uv_ref((uv_handle_t *)&r->keep);
        }
        uv_run(&r->uv, wait ? UV_RUN_ONCE : UV_RUN_NOWAIT);
        if (wait)
                uv_unref((uv_handle_t *)&r->keep);
        uv_update_time(&r->uv);
        l->now_ms = real_now_ms(l);
}

static bool real_alive(struct loop *l)
{
        return uv_loop_alive(&real_of(l)->uv);
}

static void real_free(struct loop *l)
{
        struct real *r = real_of(l);
        terminate_close(&r->terminate);
        uv_close((uv_handle_t *)&r->keep, NULL);
        uv_close((uv_handle_t *)&r->wake, NULL);
        uv_close((uv_handle_t *)&r->before_wait, NULL);
        uv_run(&r->uv, UV_RUN_DEFAULT);
        int code = uv_loop_close(&r->uv);
        ASSERT(code == 0); /* else someone left a handle open */
        mem_free(r);
}

static const struct loop_backend real_backend = {
        .now_ms = real_now_ms,
        .now_us = real_now_us,
        .wall_us = real_wall_us,
        .random = real_random,
        .poll = real_poll,
        .alive = real_alive,
        .free = real_free,
};

static int open_handles(struct real *r)
{
        int code = uv_async_init(&r->uv, &r->keep, NULL);
        if (code < 0)
                return code;
        uv_timer_init(&r->uv, &r->wake);
        uv_prepare_init(&r->uv, &r->before_wait);
        uv_prepare_start(&r->before_wait, about_to_wait);
        uv_unref((uv_handle_t *)&r->before_wait);
        r->wake.data = r;
        r->wake_at = DEADLINE_NONE;
        uv_unref((uv_handle_t *)&r->keep);
        uv_unref((uv_handle_t *)&r->wake);
        return 0;
}

struct loop *loop_new_real(struct error *err)
{
        AUTO_FREE struct real *r = NEW(struct real);
        AUTO_FREE struct loop *l = loop_new(&real_backend, false);
        if (!r || !l) {
                error_no_memory(err);
                return NULL;
        }
        int code = uv_loop_init(&r->uv);
        if (code < 0) {
                error_set(err, ERR_SYSTEM, "cannot make an event loop: %s", uv_strerror(code));
                return NULL;
        }
        code = open_handles(r);
        if (code < 0) {
                uv_loop_close(&r->uv);
                error_set(err, ERR_SYSTEM, "cannot make an event loop: %s", uv_strerror(code));
                return NULL;
        }
        l->now_ms = (int64_t)uv_now(&r->uv);
        r->before_wait.data = l;
        l->backend_state = TAKE_PTR(r);
        return TAKE_PTR(l);
}

void *loop_uv(struct loop *l)
{
        return l->simulated ? NULL : &real_of(l)->uv;
}

struct terminate *real_terminate(struct loop *l)
{
        return &real_of(l)->terminate;
}
