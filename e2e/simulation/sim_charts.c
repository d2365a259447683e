#include "e2e/simulation/sim_charts.h"

#include "e2e/simulation/sim_fleet.h"

#define HANG_MS 60000 /* longer than anybody waits */

static void serve_index(struct http_exchange *x, const struct wish_repository *r)
{
        AUTO_BUF struct buf b = { 0 };
        char tag[24];
        struct http_header header = { "ETag", tag };
        const struct http_headers more = { &header, 1 };

        snprintf(tag, sizeof(tag), "\"%x\"", r->published);
        if (text_equal(http_header_get(&x->headers, "if-none-match"), tag))
                (void)http_reply(x, 304, "text/yaml", SLICE(""), &more);
        else if (wish_index_text(r->published, &b) == 0)
                (void)http_reply(x, 200, "text/yaml", (struct slice){ b.data, b.len }, &more);
}

static void serve_game(struct http_exchange *x, const char *file)
{
        for (unsigned i = 0; i < WISH_MAJORS * WISH_MINORS; i++) {
                AUTO_BUF struct buf b = { 0 };
                char version[WISH_CHART_NAME], name[WISH_CHART_NAME + 16];

                wish_version_text(i, version);
                snprintf(name, sizeof(name), "game-%s.tgz", version);
                if (!text_equal(file, name))
                        continue;
                if (wish_game(i, &b) == 0)
                        (void)http_reply(x, 200, "application/gzip", (struct slice){ b.data, b.len }, NULL);
                return;
        }
        (void)http_reply(x, 404, "text/plain", SLICE("no"), NULL);
}

/* "/0/index.yaml" */
static void serve(void *ctx, struct http_exchange *x)
{
        const struct wish_shelf *s = ctx;
        unsigned repository = (unsigned)(x->path[1] - '0');
        const char *file = x->path[1] ? strrchr(x->path, '/') + 1 : "";
        const struct wish_repository *r;

        if (repository >= WISH_REPOSITORIES) {
                (void)http_reply(x, 404, "text/plain", SLICE("no"), NULL);
                return;
        }
        r = &s->repositories[repository];
        if (r->library == LIBRARY_FAILS)
                (void)http_reply(x, 500, "text/plain", SLICE("no"), NULL);
        else if (r->library == LIBRARY_HANGS)
                (void)fiber_sleep(x->loop, HANG_MS);
        else if (!text_equal(file, "index.yaml"))
                serve_game(x, file);
        else if (r->library == LIBRARY_BABBLES)
                (void)http_reply(x, 200, "text/yaml", SLICE("apiVersion: v1\nentries: [oh"), NULL);
        else
                serve_index(x, r);
}

int sim_charts_open(struct fleet *f, const struct wish_shelf *shelf, struct error *err)
{
        return sim_fleet_serve(f, "charts.test", serve, (void *)(uintptr_t)shelf, err);
}
