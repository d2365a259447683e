#include "e2e/simulation/faults.h"

#define STALL_MS 40000

static bool happens(struct faults *f, unsigned per_mille)
{
        if (!f->on || dice_below(&f->dice, 1000) >= per_mille)
                return false;
        f->injected++;
        return true;
}

static int64_t delay(void *ctx, const struct http_request *rq, bool answer)
{
        struct faults *f = ctx;

        if (!f->on)
                return 1;
        if (answer && rq->priority == HTTP_WATCH && happens(f, f->stall))
                return STALL_MS;
        /* Mostly quick, now and then slow. */
        return 1 + (int64_t)dice_below(&f->dice, dice_percent(&f->dice, 90) ? 10 : (uint64_t)f->max_delay_ms);
}

static int fate(void *ctx, const struct http_request *rq)
{
        static const int statuses[] = { 409, 429, 500, 503 };
        struct faults *f = ctx;

        if (happens(f, f->lost))
                return ERR_RETRY;
        if (happens(f, f->silent))
                return ERR_TIMEOUT;
        if (happens(f, f->lost_answer))
                return ERR_CLOSED;
        if (rq->priority == HTTP_WATCH && happens(f, f->gone))
                return 410;
        if (happens(f, f->status))
                return statuses[dice_below(&f->dice, ARRAY_LEN(statuses))];
        return 0;
}

static bool duplicate(void *ctx, const struct http_request *rq)
{
        struct faults *f = ctx;

        return rq->priority != HTTP_WATCH && happens(f, f->duplicate);
}

static bool cut_stream(void *ctx, const struct http_request *rq)
{
        struct faults *f = ctx;

        return happens(f, f->cut);
}

void faults_init(struct faults *f, uint64_t seed)
{
        *f = (struct faults){ .dice = { seed ^ 0x6661756c7473u },
                              .lost = 10,
                              .lost_answer = 10,
                              .duplicate = 5,
                              .status = 10,
                              .cut = 10,
                              .silent = 2,
                              .stall = 5,
                              .gone = 10,
                              .max_delay_ms = 1500 };
        f->table = (struct loopback_faults){ f, delay, fate, duplicate, cut_stream };
}
