/* devcluster as a program with a thousand clusters: memory, durable writes, lists, and how long a write takes
 * to reach a thousand watchers. Reading and writing go through the agents' own client, which takes its share
 * of the time.
 *
 *   bench_devcluster PROGRAMS SCRATCH
 */
#include <signal.h>
#include <stdio.h>

#include "common/base/memory.h"
#include "common/kube/config.h"
#include "e2e/bench/bench.h"
#include "e2e/scenarios/process.h"

enum {
        CLUSTERS = 1000,
        WRITES = 3000,
        WRITERS = 32,
        WATCHERS = 1000,
        WATCHED_WRITES = 10,
        LISTS = 10,
        START_MS = 60000,
        CALL_MS = 30000,
        SCRATCH_NAMES = 16 << 10,
};

#define CONFIG_MAPS "/api/v1/namespaces/default/configmaps"

struct run {
        struct bench *bench;
        struct process *server;
        struct kube_config config;
        struct kube_client kube;
        struct fiber_group *group;
        struct log log;
        size_t next_write, failures;
        size_t opened, seen; /* watchers that are open; events seen of the current write */
        int64_t last_seen_us;
        struct waitq progress;
};

static int64_t now_us(const struct run *r)
{
        return loop_now_us(r->bench->loop);
}

/* ---- starting ---- */

static int start_server(struct run *r, struct error *err)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        AUTO_BUF struct buf names;
        buf_init(&names, SCRATCH_NAMES);
        for (int i = 0; i < CLUSTERS; i++)
                buf_printf(&names, "%sc%d", i ? "," : "", i);
        if (buf_status(&names, err, "names of clusters") < 0)
                return ERR_LIMIT;
        const char *config = arena_printf(&arena, "%s/kubeconfig", r->bench->scratch);
        const char *argv[] = { arena_printf(&arena, "%s/devcluster", r->bench->programs),
                               "--data",
                               arena_printf(&arena, "%s/data", r->bench->scratch),
                               "--port",
                               "0",
                               "--clusters",
                               names.data,
                               "--kubeconfig",
                               config,
                               NULL };
        int64_t began = now_us(r), deadline = loop_now_ms(r->bench->loop) + START_MS;
        TRY(process_start(r->bench->loop, argv, NULL,
                          arena_printf(&arena, "%s/devcluster.log", r->bench->scratch), &r->server, err));
        while (kube_config_load(&r->bench->world, config, "c0", &r->config, err) < 0) {
                if (!process_running(r->server) || loop_now_ms(r->bench->loop) > deadline)
                        return error_wrap(err, "devcluster did not start");
                TRY(fiber_sleep(r->bench->loop, 20));
        }
        bench_line((double)(now_us(r) - began) / 1e6, "s", "devcluster_1000_clusters_start_s");
        r->kube = (struct kube_client){ .world = &r->bench->world,
                                        .endpoint = &r->config.endpoint,
                                        .log = &r->log,
                                        .field_manager = "bench" };
        return 0;
}

static int measure_memory(struct run *r, struct error *err)
{
        struct bench_usage u;
        TRY(fiber_sleep(r->bench->loop, 1000));
        TRY(bench_usage(&r->bench->world, process_pid(r->server), &u, err));
        bench_line(u.rss_mb, "MiB", "devcluster_1000_clusters_rss_mb");
        bench_line(u.private_mb, "MiB", "devcluster_1000_clusters_private_mb");
        return 0;
}

/* ---- writes and lists ---- */

static int write_one(struct run *r, size_t number, struct error *err)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct http_response answer;
        char text[1025];
        memset(text, 'x', sizeof(text) - 1);
        text[sizeof(text) - 1] = '\0';
        const char *body = arena_printf(
                &arena, "{\"metadata\":{\"name\":\"w-%zu\"},\"data\":{\"text\":\"%s\"}}", number, text);
        if (!body)
                return error_no_memory(err);
        return kube_raw(&r->kube, "POST", CONFIG_MAPS, "application/json", slice_of(body), &arena, &answer,
                        err);
}

static void writer(void *ctx)
{
        struct run *r = ctx;
        while (r->next_write < WRITES)
                if (write_one(r, r->next_write++, NULL) < 0)
                        r->failures++;
}

static int measure_writes(struct run *r, struct error *err)
{
        int64_t began = now_us(r);
        for (int i = 0; i < WRITERS; i++)
                if (!fiber_spawn(r->group, "writer", writer, r))
                        return error_no_memory(err);
        TRY(fiber_group_join(r->group, DEADLINE_NONE));
        if (r->failures)
                return error_set(err, ERR_INVALID, "%zu of %d writes failed", r->failures, WRITES);
        bench_line(WRITES * 1e6 / (double)(now_us(r) - began), "writes/s", "devcluster_durable_writes_per_s");
        began = now_us(r);
        for (size_t i = 0; i < 200; i++)
                TRY(write_one(r, WRITES + i, err));
        bench_line((double)(now_us(r) - began) / 200e3, "ms", "devcluster_one_durable_write_ms");
        return 0;
}

static int measure_lists(struct run *r, struct error *err)
{
        double bytes = 0;
        int64_t began = now_us(r);
        for (int i = 0; i < LISTS; i++) {
                AUTO_ARENA struct arena arena = ARENA_INIT;
                struct http_response answer;
                TRY(kube_raw(&r->kube, "GET", CONFIG_MAPS, NULL, (struct slice){ 0 }, &arena, &answer, err));
                bytes += (double)answer.body.len;
        }
        bench_line(bytes / (double)(now_us(r) - began), "MB/s", "devcluster_list_mb_per_s");
        return 0;
}

/* ---- watches ---- */

static void watcher(void *ctx)
{
        struct run *r = ctx;
        const struct http_request rq = { .endpoint = &r->config.endpoint,
                                         .method = "GET",
                                         .path = CONFIG_MAPS "?watch=true&labelSelector=watched",
                                         .deadline_ms = loop_now_ms(r->bench->loop) + CALL_MS,
                                         .priority = HTTP_WATCH };
        struct http_stream *s = NULL;
        struct error err = { 0 };
        struct slice data;
        if (http_stream_open(r->bench->world.transport, &rq, &s, &err) < 0) {
                fprintf(stderr, "watch: %s\n", err.text);
                return;
        }
        r->opened++;
        waitq_wake_all(&r->progress);
        while (http_stream_read(s, DEADLINE_NONE, &data, &err) == 0) {
                if (data.data[data.len - 1] != '\n')
                        continue;
                r->seen++;
                r->last_seen_us = now_us(r);
                waitq_wake_all(&r->progress);
        }
        http_stream_close(s);
}

static int wait_for(struct run *r, const size_t *counter, size_t wanted, struct error *err)
{
        int64_t deadline = loop_now_ms(r->bench->loop) + CALL_MS;
        while (*counter < wanted)
                if (waitq_wait(r->bench->loop, &r->progress, deadline) < 0)
                        return error_set(err, ERR_TIMEOUT, "%zu of %zu watchers", *counter, wanted);
        return 0;
}

static int measure_watches(struct run *r, struct error *err)
{
        double delays[WATCHED_WRITES];
        /* One after the other: of many at once libcurl gives each a connection of its own. */
        for (size_t i = 0; i < WATCHERS; i++) {
                if (!fiber_spawn(r->group, "watcher", watcher, r))
                        return error_no_memory(err);
                TRY(wait_for(r, &r->opened, i + 1, err));
        }
        for (int i = 0; i < WATCHED_WRITES; i++) {
                AUTO_ARENA struct arena arena = ARENA_INIT;
                struct http_response answer;
                const char *body = arena_printf(
                        &arena, "{\"metadata\":{\"name\":\"watched-%d\",\"labels\":{\"watched\":\"\"}}}", i);
                r->seen = 0;
                int64_t began = now_us(r);
                TRY(kube_raw(&r->kube, "POST", CONFIG_MAPS, "application/json", slice_of(body), &arena,
                             &answer, err));
                TRY(wait_for(r, &r->seen, WATCHERS, err));
                delays[i] = (double)(r->last_seen_us - began) / 1000;
        }
        bench_line(bench_percentile(delays, WATCHED_WRITES, 50), "ms",
                   "devcluster_write_to_last_of_1000_watchers_p50_ms");
        bench_line(bench_percentile(delays, WATCHED_WRITES, 90), "ms",
                   "devcluster_write_to_last_of_1000_watchers_p90_ms");
        return 0;
}

/* ---- all ---- */

static int measure(struct run *r, struct error *err)
{
        TRY(start_server(r, err));
        TRY(measure_memory(r, err));
        TRY(measure_writes(r, err));
        TRY(measure_lists(r, err));
        return measure_watches(r, err);
}

static int body(struct bench *b, struct error *err)
{
        struct run r = { .bench = b, .log = { .sink = b->log_sink } };
        r.group = fiber_group_new(b->loop, b->group, "devcluster bench");
        int code = r.group ? measure(&r, err) : error_no_memory(err);
        fiber_group_end(r.group);
        process_stop(r.server, SIGTERM, 5000);
        kube_config_free(&r.config);
        return code;
}

int main(int argc, char **argv)
{
        return bench_main(argc, argv, "bench_devcluster", body);
}
