#include "e2e/simulation/sim_pause.h"

#include "e2e/simulation/traffic.h"

int sim_pause_init(struct sim_pause *p, struct loop *l)
{
        *p = (struct sim_pause){ .loop = l, .process = loop_process_new(l) };
        return p->process ? 0 : ERR_NO_MEMORY;
}

void sim_pause_clear(struct sim_pause *p)
{
        timer_stop(&p->timer);
        p->process = loop_process_free(p->process);
}

static void over(struct timer *t)
{
        sim_pause_end(container_of(t, struct sim_pause, timer));
}

static void stop(struct sim_pause *p)
{
        p->awaited = false;
        /* There is a timer: the one that waited. Else it was made sure that there is room. */
        if (timer_start(p->loop, &p->timer, loop_now_us(p->loop) / 1000 + p->ms, over) < 0)
                return;
        timer_disown(&p->timer);
        loop_process_stop(p->process);
}

static void missed(struct timer *t)
{
        stop(container_of(t, struct sim_pause, timer));
}

int sim_pause_begin(struct sim_pause *p, enum sim_pause_at at, int64_t ms)
{
        ASSERT(!sim_pause_is_on(p));
        TRY(timer_start(p->loop, &p->timer, loop_now_ms(p->loop) + SIM_PAUSE_AWAITED_MS, missed));
        p->at = at;
        p->ms = ms;
        p->awaited = at != PAUSE_NOW;
        if (!p->awaited)
                stop(p);
        return 0;
}

void sim_pause_end(struct sim_pause *p)
{
        timer_stop(&p->timer);
        p->awaited = false;
        if (p->process)
                loop_process_go_on(p->process);
}

bool sim_pause_is_on(const struct sim_pause *p)
{
        return p->awaited || loop_process_stopped(p->process);
}

static bool is_the_one(const struct sim_pause *p, const struct http_request *rq)
{
        bool of_lease = p->at == PAUSE_LEASE_DECIDED || p->at == PAUSE_LEASE_SENT;
        struct traffic t;

        traffic_of(rq, &t);
        return t.is_write && !text_starts_with(t.resource, "events") &&
               text_starts_with(t.resource, "leases") == of_lease;
}

bool sim_pause_hold_back(struct sim_pause *p, const struct http_request *rq)
{
        bool decided = p->at == PAUSE_DECIDED || p->at == PAUSE_LEASE_DECIDED;

        if (!p->awaited || !decided || !is_the_one(p, rq))
                return false;
        stop(p);
        return true;
}

void sim_pause_sent(struct sim_pause *p, const struct http_request *rq)
{
        bool sent = p->at == PAUSE_SENT || p->at == PAUSE_LEASE_SENT;

        if (p->awaited && sent && is_the_one(p, rq))
                stop(p);
}
