#include "e2e/simulation/sim_sources.h"

#include "e2e/simulation/sim_fleet.h"

#define HANG_MS 60000 /* longer than anybody waits */

static void answer(struct http_exchange *x, const struct wish_source *s)
{
        AUTO_JSON json_t *doc = wish_service_answer(&s->inputs);
        AUTO_BUF struct buf body;

        buf_init(&body, 1u << 16);
        if (doc && doc_write(doc, &body) == 0)
                (void)http_reply(x, 200, "application/json", (struct slice){ body.data, body.len }, NULL);
}

/* Half an answer, or inputs that lack what each must have: by what it would say, so that both are played. */
static void babble(struct http_exchange *x, const struct wish_source *s)
{
        const char *text =
                s->inputs.color[0] % 2 ? "{\"inputs\": [{\"id\":" : "{\"inputs\": [{\"tenant\": \"a\"}]}";

        (void)http_reply(x, 200, "application/json", slice_of(text), NULL);
}

static void serve(void *ctx, struct http_exchange *x)
{
        const struct wish_source *s = ctx;

        switch (s->service) {
        case SERVICE_ANSWERS:
                answer(x, s);
                break;
        case SERVICE_FAILS:
                (void)http_reply(x, 500, "text/plain", slice_of("no"), NULL);
                break;
        case SERVICE_HANGS:
                (void)fiber_sleep(x->loop, HANG_MS);
                break;
        case SERVICE_BABBLES:
                babble(x, s);
                break;
        }
}

int sim_sources_open(struct fleet *f, const struct wish_desk *desk, struct error *err)
{
        char authority[WISH_TABLE_NAME];

        for (unsigned i = WISH_STATIC_SOURCES; i < WISH_SOURCES; i++)
                TRY(sim_fleet_serve(f, wish_service_authority(i, authority), serve,
                                    (void *)(uintptr_t)&desk->sources[i], err));
        return 0;
}
