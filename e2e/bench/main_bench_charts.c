/* Charts of repositories on the hub: what 100 of them cost the agent at rest; 200 on one index of 25 MB, from
 * their creation until all are ready; what a repository is asked in an interval in which nothing changes; and
 * whether a chart packaged twice is the same to the byte. devcluster and hub-agent are programs, the
 * repository is here.
 *
 *   bench_charts PROGRAMS SCRATCH
 */
#include <stdio.h>

#include "common/base/gzip.h"
#include "common/base/memory.h"
#include "common/ctrl/informer.h"
#include "common/net/http_server.h"
#include "e2e/bench/bench.h"
#include "e2e/scenarios/process_fleet.h"
#include "hub-agent/source/chart/tar.h"
#include "proto/gen/kinds.h"
#include "proto/gen/types.h"
#include "proto/names.h"

#define NS "default"

enum {
        INDEX_BYTES = 25 << 20,
        VERSIONS = 100, /* of each chart in the index */
        FEW = 100,
        MANY = 200,
        PATIENCE_MS = 240000,
        SAMPLE_MS = 20,
        SETTLE_MS = 10000,
        INTERVAL_S = 5,
        INTERVALS = 6,
};

struct run {
        struct bench *bench;
        struct fleet *fleet;
        struct kube_client *hub;
        struct kube_resource charts, repositories;
        struct informer *seen;
        struct http_server *server;
        struct slice small, large, archive;
        int indexes_asked;
        double peak_mb;
        struct arena arena;
};

/* ---- the repository ---- */

static void write_index(struct buf *b, unsigned n_charts, size_t bytes)
{
        buf_append_str(b, "apiVersion: v1\nentries:\n");
        for (unsigned chart = 0; chart < n_charts || b->len < bytes; chart++) {
                buf_printf(b, "  chart-%u:\n", chart);
                for (unsigned v = 0; v < (bytes ? VERSIONS : 1); v++)
                        buf_printf(b,
                                   "  - apiVersion: v2\n    appVersion: \"1.%2$u.0\"\n    created: "
                                   "\"2026-01-01T00:00:00.123Z\"\n    description: Deploys something for "
                                   "somebody, in some words that are of the usual length.\n    home: "
                                   "https://example.com/chart-%1$u\n    keywords: [a, b, c]\n    name: "
                                   "chart-%1$u\n    sources:\n    - https://git.example.com/chart-%1$u\n    "
                                   "urls:\n    - charts/%1$u/1.%2$u.0.tgz\n    version: 1.%2$u.0\n",
                                   chart, v);
        }
}

static int make_index(struct run *r, unsigned n_charts, size_t bytes, struct slice *ret, struct error *err)
{
        AUTO_BUF struct buf b;

        buf_init(&b, 64u << 20);
        write_index(&b, n_charts, bytes);
        TRY(buf_status(&b, err, "the index"));
        *ret = (struct slice){ arena_memdup(&r->arena, b.data, b.len), b.len };
        return ret->data ? 0 : error_no_memory(err);
}

/* One archive for all: what is measured does not look whether the name inside is the index's. */
static int make_archive(struct run *r, const char *name, struct slice *ret, struct error *err)
{
        const struct {
                const char *path, *text;
        } files[] = { { "Chart.yaml",
                        arena_printf(&r->arena, "apiVersion: v2\nname: %s\nversion: 1.99.0\n", name) },
                      { "values.yaml", "replicas: 1\n" },
                      { "values-prod.yaml", "replicas: 3\n" } };
        AUTO_BUF struct buf tar, gz;

        buf_init(&tar, 1 << 20);
        buf_init(&gz, 1 << 20);
        for (size_t i = 0; i < ARRAY_LEN(files); i++) {
                const struct tar_entry e = { arena_printf(&r->arena, "%s/%s", name, files[i].path),
                                             slice_of(files[i].text), 0644, 0, false };

                TRY(tar_append(&tar, &e, err));
        }
        TRY(tar_end(&tar, err));
        TRY(gzip_pack((struct slice){ tar.data, tar.len }, &gz, err));
        *ret = (struct slice){ arena_memdup(&r->arena, gz.data, gz.len), gz.len };
        return ret->data ? 0 : error_no_memory(err);
}

static void answer(void *ctx, struct http_exchange *x)
{
        struct run *r = ctx;
        static const struct http_header tag = { "ETag", "\"one\"" };
        const struct http_headers headers = { (struct http_header *)(uintptr_t)&tag, 1 };
        bool large = text_starts_with(x->path, "/large/");
        struct error err = { 0 };
        struct slice archive;
        char name[64];
        unsigned chart;

        if (strstr(x->path, "index.yaml")) {
                r->indexes_asked++;
                if (http_header_get(&x->headers, "If-None-Match"))
                        http_reply(x, 304, NULL, SLICE(""), NULL);
                else
                        http_reply(x, 200, "text/yaml", large ? r->large : r->small, &headers);
                return;
        }
        if (sscanf(x->path, large ? "/large/charts/%u/" : "/small/charts/%u/", &chart) != 1) { /* NOLINT */
                http_reply(x, 404, "text/plain", SLICE("no"), NULL);
                return;
        }
        snprintf(name, sizeof(name), "chart-%u", chart);
        if (make_archive(r, name, &archive, &err) == 0)
                http_reply(x, 200, "application/gzip", archive, NULL);
}

/* ---- objects ---- */

static int add_repository(struct run *r, const char *name, struct error *err)
{
        AUTO_JSON json_t *doc = json_pack(
                "{s:s, s:s, s:{s:s, s:s}, s:{s:s, s:s}}", "apiVersion", helm_repository_kind.api_version,
                "kind", helm_repository_kind.kind, "metadata", "name", name, "namespace", NS, "spec", "url",
                arena_printf(&r->arena, "http://127.0.0.1:%d/%s", http_server_port(r->server), name),
                "interval", arena_printf(&r->arena, "%ds", INTERVAL_S));

        return doc ? kube_doc_create(r->hub, &r->repositories, NS, doc, NULL, NULL, err)
                   : error_no_memory(err);
}

static int add_chart(struct run *r, const char *name, unsigned chart, const char *repository,
                     const char *values, struct error *err)
{
        AUTO_JSON json_t *doc = json_pack(
                "{s:s, s:s, s:{s:s, s:s}, s:{s:s, s:s, s:{s:s, s:s}}}", "apiVersion",
                helm_chart_kind.api_version, "kind", helm_chart_kind.kind, "metadata", "name", name,
                "namespace", NS, "spec", "chart", arena_printf(&r->arena, "chart-%u", chart), "interval",
                "10h", "sourceRef", "kind", helm_repository_kind.kind, "name", repository);

        if (!doc || (values && json_object_set_new(json_object_get(doc, "spec"), "valuesFiles",
                                                   json_pack("[s]", values)) < 0))
                return error_no_memory(err);
        return kube_doc_create(r->hub, &r->charts, NS, doc, NULL, NULL, err);
}

static int add_charts(struct run *r, unsigned n, const char *repository, struct error *err)
{
        for (unsigned i = 0; i < n; i++) {
                char name[64];

                snprintf(name, sizeof(name), "%s-%u", repository, i);
                TRY(add_chart(r, name, i, repository, NULL, err));
        }
        return 0;
}

/* ---- what is seen ---- */

static int usage(struct run *r, struct bench_usage *ret, struct error *err)
{
        TRY(bench_usage(&r->bench->world, process_fleet_pid(r->fleet, "hub-agent"), ret, err));
        r->peak_mb = MAX(r->peak_mb, ret->private_mb);
        return 0;
}

static bool is_ready(const struct object *o)
{
        const struct helm_chart *c = (const struct helm_chart *)o;
        const struct condition *ready =
                c->status ? condition_find(&c->status->conditions, CONDITION_FLUX_READY) : NULL;

        return ready && text_equal(ready->status, "True");
}

static int await_charts(struct run *r, size_t want, struct error *err)
{
        int64_t deadline = loop_now_ms(r->bench->loop) + PATIENCE_MS;
        struct bench_usage u;

        for (;;) {
                AUTO_ARENA struct arena arena = ARENA_INIT;
                struct object_list l;
                size_t n = 0;

                TRY(informer_list(r->seen, &arena, &l));
                for (size_t i = 0; i < l.n; i++)
                        n += is_ready(l.at[i]);
                if (n == want)
                        return 0;
                if (loop_now_ms(r->bench->loop) > deadline)
                        return error_set(err, ERR_TIMEOUT, "%zu of %zu charts are ready", n, want);
                TRY(fiber_sleep(r->bench->loop, SAMPLE_MS));
                TRY(usage(r, &u, err));
        }
}

/* ---- measures ---- */

static int measure_few(struct run *r, struct error *err)
{
        struct bench_usage before, after;

        TRY(usage(r, &before, err));
        TRY(add_repository(r, "small", err));
        TRY(add_charts(r, FEW, "small", err));
        TRY(await_charts(r, FEW, err));
        TRY(fiber_sleep(r->bench->loop, SETTLE_MS));
        TRY(usage(r, &after, err));
        bench_line(after.private_mb - before.private_mb, "MiB", "sources_idle_%d_charts_mb", FEW);
        return 0;
}

static int measure_interval(struct run *r, struct error *err)
{
        int asked = r->indexes_asked;

        TRY(fiber_sleep(r->bench->loop, INTERVAL_S * INTERVALS * 1000));
        bench_line((r->indexes_asked - asked) / (double)INTERVALS, "requests",
                   "sources_requests_per_interval");
        return 0;
}

static int measure_many(struct run *r, struct error *err)
{
        int64_t began = loop_now_us(r->bench->loop);

        TRY(add_repository(r, "large", err));
        TRY(add_charts(r, MANY, "large", err));
        TRY(await_charts(r, FEW + MANY, err));
        bench_line((double)(loop_now_us(r->bench->loop) - began) / 1e6, "s", "charts_%d_on_25mb_index_s",
                   MANY);
        bench_line(r->peak_mb, "MiB", "charts_%d_on_25mb_index_peak_private_mb", MANY);
        return 0;
}

static int digest_of(struct run *r, const char *name, const char **ret, struct error *err)
{
        AUTO_JSON json_t *doc = NULL;

        TRY(kube_doc_get(r->hub, &r->charts, NS, name, &doc, err));
        *ret = arena_strdup(&r->arena, or_empty(doc_get_string(doc, "status.artifact.digest")));
        return *ret ? 0 : error_no_memory(err);
}

static int measure_identity(struct run *r, struct error *err)
{
        const char *one, *two;

        TRY(add_chart(r, "one", 7, "large", "values-prod.yaml", err));
        TRY(add_chart(r, "two", 7, "large", "values-prod.yaml", err));
        TRY(await_charts(r, FEW + MANY + 2, err));
        TRY(digest_of(r, "one", &one, err));
        TRY(digest_of(r, "two", &two, err));
        bench_line(*one && text_equal(one, two), "bool", "chart_package_identical");
        return 0;
}

static int watch_charts(struct run *r, struct error *err)
{
        const struct informer_options o = { .kind = &helm_chart_kind, .flags = DECODE_PROJECTION };

        r->seen = informer_new(r->hub, r->bench->group, &o);
        if (!r->seen)
                return error_no_memory(err);
        return informer_wait_synced(r->seen, loop_now_ms(r->bench->loop) + PATIENCE_MS);
}

static int measure(struct run *r, struct error *err)
{
        const struct http_server_options server = { .bind = "127.0.0.1", .handle = answer, .ctx = r };

        TRY(make_index(r, FEW, 0, &r->small, err));
        TRY(make_index(r, MANY, INDEX_BYTES, &r->large, err));
        TRY(http_server_start(&r->bench->world, &server, &r->server, err));
        r->fleet->sources = true;
        TRY(fleet_set_up(r->fleet, loop_now_ms(r->bench->loop) + PATIENCE_MS, err));
        TRY(r->fleet->ops->client(r->fleet, "hub", &r->hub, err));
        r->charts = kube_resource_of(&helm_chart_kind);
        r->repositories = kube_resource_of(&helm_repository_kind);
        TRY(watch_charts(r, err));
        TRY(fiber_sleep(r->bench->loop, SETTLE_MS)); /* it leads, and has its caches */
        TRY(measure_few(r, err));
        TRY(measure_interval(r, err));
        TRY(measure_many(r, err));
        return measure_identity(r, err);
}

static int body(struct bench *b, struct error *err)
{
        struct run *r = NEW(struct run);
        int code;

        if (!r)
                return error_no_memory(err);
        r->bench = b;
        code = bench_fleet_open(b, 0, &r->fleet, err);
        if (code == 0) {
                code = measure(r, err);
                if (r->seen)
                        informer_stop(r->seen);
                r->fleet->ops->close(r->fleet);
        }
        if (r->server)
                http_server_stop(r->server);
        arena_free(&r->arena);
        mem_free(r);
        return code;
}

int main(int argc, char **argv)
{
        return bench_main(argc, argv, "bench_charts", body);
}
