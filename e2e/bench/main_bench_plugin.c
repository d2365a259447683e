/* kubectl fleet on a hub with a thousand members and a thousand placements: how long until the first line is
 * on the screen, and until all of it is. Each placement is on three members, one of them on all.
 *
 *   bench_plugin PROGRAMS SCRATCH
 */
#include <signal.h>
#include <stdio.h>

#include "common/base/memory.h"
#include "common/kube/config.h"
#include "e2e/bench/bench.h"
#include "e2e/scenarios/process.h"
#include "proto/gen/kinds.h"

enum {
        MEMBERS = 1000,
        PLACEMENTS = 1000,
        SHARE = 3, /* members of an ordinary placement */
        WRITERS = 32,
        RUNS = 9,
        START_MS = 60000,
};
#define WIDE "wide" /* the placement on all members */
#define CLUSTERS "/apis/cluster.kubernetes-fleet.io/v1beta1/memberclusters"
#define FLEET "/apis/placement.kubernetes-fleet.io/v1beta1/"
#define CONDITION(type, message)                                                                             \
        "{\"type\":\"" type "\",\"status\":\"True\",\"reason\":\"AsInAFleet\",\"message\":\"" message        \
        "\",\"lastTransitionTime\":\"2026-01-01T00:00:00Z\",\"observedGeneration\":1}"
#define CONDITIONS                                                                                                     \
        CONDITION("RolloutStarted", "Detected the new changes on the resources and started the rollout")               \
        "," CONDITION("Overridden", "No override rules are configured for the selected resources") "," CONDITION(      \
                "WorkSynchronized",                                                                                    \
                "All of the works are synchronized to the latest") "," CONDITION("Applied",                            \
                                                                                 "All "                                \
                                                                                 "corresponding "                      \
                                                                                 "work "                               \
                                                                                 "objects are "                        \
                                                                                 "applied") "," CONDITION("Available", \
                                                                                                          "All corresponding work objects are available")

struct run {
        struct bench *bench;
        struct process *server;
        struct kube_config config;
        struct kube_client kube;
        struct log log;
        char kubeconfig[512];
        size_t next;
        int code;
        struct error err;
};

/* ---- a hub ---- */

static int start_server(struct run *r, struct error *err)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        const char *argv[] = { arena_printf(&arena, "%s/devcluster", r->bench->programs),
                               "--data",
                               arena_printf(&arena, "%s/data", r->bench->scratch),
                               "--port",
                               "0",
                               "--no-sync",
                               "--clusters",
                               "hub",
                               "--kubeconfig",
                               r->kubeconfig,
                               NULL };
        int64_t deadline = loop_now_ms(r->bench->loop) + START_MS;

        snprintf(r->kubeconfig, sizeof(r->kubeconfig), "%s/kubeconfig", r->bench->scratch);
        TRY(process_start(r->bench->loop, argv, NULL,
                          arena_printf(&arena, "%s/devcluster.log", r->bench->scratch), &r->server, err));
        while (kube_config_load(&r->bench->world, r->kubeconfig, "hub", &r->config, err) < 0) {
                if (!process_running(r->server) || loop_now_ms(r->bench->loop) > deadline)
                        return error_wrap(err, "devcluster did not start");
                TRY(fiber_sleep(r->bench->loop, 20));
        }
        r->kube = (struct kube_client){ .world = &r->bench->world,
                                        .endpoint = &r->config.endpoint,
                                        .log = &r->log,
                                        .field_manager = "bench" };
        return 0;
}

static int send(struct run *r, const char *method, const char *path, const char *body, struct error *err)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        bool patch = text_equal(method, "PATCH");
        struct http_response answer;

        if (!path || !body)
                return error_no_memory(err);
        return kube_raw(&r->kube, method, path, patch ? "application/merge-patch+json" : "application/json",
                        slice_of(body), &arena, &answer, err);
}

static int install(struct run *r, struct error *err)
{
        int64_t deadline = loop_now_ms(r->bench->loop) + START_MS;

        for (size_t i = 0; i < n_crd_texts; i++)
                if (crd_texts[i].hub)
                        TRY(send(r, "POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
                                 crd_texts[i].json, err));
        while (send(r, "GET", CLUSTERS, "", err) < 0) {
                if (loop_now_ms(r->bench->loop) > deadline)
                        return error_wrap(err, "the definitions are not served");
                TRY(fiber_sleep(r->bench->loop, 20));
        }
        return 0;
}

/* ---- what is on it ---- */

static int put(struct run *r, const char *collection, const char *name, const char *doc, struct error *err)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;

        TRY(send(r, "POST", collection, doc, err));
        return send(r, "PATCH", arena_printf(&arena, "%s/%s/status", collection, name), doc, err);
}

static int put_member(struct run *r, size_t i, struct arena *arena, struct error *err)
{
        const char *name = arena_printf(arena, "member-%04zu", i);

        return put(
                r, CLUSTERS, name,
                arena_printf(
                        arena,
                        "{\"apiVersion\":\"cluster.kubernetes-fleet.io/v1beta1\",\"kind\":\"MemberCluster\","
                        "\"metadata\":{\"name\":\"%s\",\"labels\":{\"region\":\"r%zu\"}},\"spec\":{"
                        "\"identity\":"
                        "{\"kind\":\"User\",\"name\":\"x\"}},\"status\":{\"conditions\":[" CONDITION(
                                "Joined", "") "],\"agentStatus\":[{\"type\":\"MemberAgent\","
                                              "\"lastReceivedHeartbeat\":\"2026-01-01T00:00:00Z\","
                                              "\"conditions\":[" CONDITION("Joined", "") "," CONDITION(
                                                      "Healthy", "") "]}]}}",
                        name, i % 7),
                err);
}

static const char *statuses(struct arena *arena, size_t first, size_t n)
{
        AUTO_BUF struct buf b;

        buf_init(&b, 8u << 20);
        for (size_t i = 0; i < n; i++)
                buf_printf(&b,
                           "%s{\"clusterName\":\"member-%04zu\",\"observedResourceIndex\":\"0\","
                           "\"conditions\":[" CONDITIONS "]}",
                           i ? "," : "", (first + i) % MEMBERS);
        return arena_strdup(arena, b.data);
}

static int put_placement(struct run *r, size_t i, struct arena *arena, struct error *err)
{
        const char *name = i == 0 ? WIDE : arena_printf(arena, "app-%04zu", i);

        return put(
                r, FLEET "clusterresourceplacements", name,
                arena_printf(
                        arena,
                        "{\"apiVersion\":\"placement.kubernetes-fleet.io/v1beta1\",\"kind\":"
                        "\"ClusterResourcePlacement\",\"metadata\":{\"name\":\"%s\"},\"spec\":"
                        "{\"resourceSelectors\":[{\"group\":\"\",\"version\":\"v1\",\"kind\":\"Namespace\","
                        "\"name\":\"%s\"}],\"policy\":{\"placementType\":\"PickN\",\"numberOfClusters\":%d}},"
                        "\"status\":{\"observedResourceIndex\":\"0\",\"conditions\":[" CONDITION(
                                "ClusterResourcePlacementScheduled",
                                "found all") "],\"placementStatuses\":[%s]}}",
                        name, name, i ? SHARE : MEMBERS, statuses(arena, i, i ? SHARE : MEMBERS)),
                err);
}

static int put_binding(struct run *r, size_t i, struct arena *arena, struct error *err)
{
        const char *name = arena_printf(arena, WIDE "-%04zu", i);

        return put(r, FLEET "clusterresourcebindings", name,
                   arena_printf(
                           arena,
                           "{\"apiVersion\":\"placement.kubernetes-fleet.io/v1beta1\",\"kind\":"
                           "\"ClusterResourceBinding\",\"metadata\":{\"name\":\"%s\",\"labels\":"
                           "{\"kubernetes-fleet.io/parent-CRP\":\"" WIDE "\"}},\"spec\":{\"state\":\"Bound\","
                           "\"resourceSnapshotName\":\"" WIDE
                           "-0-snapshot\",\"schedulingPolicySnapshotName\":"
                           "\"" WIDE
                           "-0\",\"targetCluster\":\"member-%04zu\",\"clusterDecision\":{\"clusterName\":"
                           "\"member-%04zu\",\"selected\":true,\"reason\":\"\"}},\"status\":{\"conditions\":"
                           "[" CONDITIONS "]}}",
                           name, i, i),
                   err);
}

static int put_one(struct run *r, size_t i, struct error *err)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;

        if (i < MEMBERS)
                return put_member(r, i, &arena, err);
        if (i < MEMBERS + PLACEMENTS)
                return put_placement(r, i - MEMBERS, &arena, err);
        return put_binding(r, i - MEMBERS - PLACEMENTS, &arena, err);
}

static void writer(void *ctx)
{
        struct run *r = ctx;

        while (r->code == 0 && r->next < MEMBERS + PLACEMENTS + MEMBERS) {
                struct error err = { 0 };
                int code = put_one(r, r->next++, &err);

                if (code < 0 && r->code == 0) {
                        r->code = code;
                        r->err = err;
                }
        }
}

static int fill(struct run *r, struct error *err)
{
        struct fiber_group *group = fiber_group_new(r->bench->loop, NULL, "writers");

        for (int i = 0; i < WRITERS; i++)
                if (!fiber_spawn(group, "writer", writer, r))
                        return error_no_memory(err);
        TRY(fiber_group_join(group, DEADLINE_NONE));
        fiber_group_end(group);
        if (r->code < 0)
                *err = r->err;
        return r->code;
}

/* ---- measuring ---- */

/* The server is another process: that this one waits meanwhile does not matter. */
static int time_command(struct run *r, const char *words, double *ret_first_ms, double *ret_all_ms,
                        struct error *err)
{
        char command[2048], line[4096];
        int64_t began = loop_now_us(r->bench->loop);
        bool first = true;
        FILE *out;

        snprintf(command, sizeof(command), "%s/kubectl-fleet %s --kubeconfig %s", r->bench->programs, words,
                 r->kubeconfig);
        out = popen(command, "r");
        if (!out)
                return error_set(err, ERR_SYSTEM, "%s: cannot be started", command);
        while (fgets(line, sizeof(line), out)) {
                if (first)
                        *ret_first_ms = (double)(loop_now_us(r->bench->loop) - began) / 1e3;
                first = false;
        }
        *ret_all_ms = (double)(loop_now_us(r->bench->loop) - began) / 1e3;
        if (pclose(out) != 0 || first)
                return error_set(err, ERR_INVALID, "%s: failed", command);
        return 0;
}

static int measure(struct run *r, const char *words, const char *name, struct error *err)
{
        double first[RUNS], all[RUNS];
        char line[128];

        for (size_t i = 0; i < RUNS; i++)
                TRY(time_command(r, words, &first[i], &all[i], err));
        snprintf(line, sizeof(line), "kubectl_fleet_%s_ms", name);
        bench_line(bench_percentile(first, RUNS, 50), "ms", "%s", line);
        snprintf(line, sizeof(line), "kubectl_fleet_%s_all_ms", name);
        bench_line(bench_percentile(all, RUNS, 50), "ms", "%s", line);
        return 0;
}

static int run_bench(struct run *r, struct error *err)
{
        TRY(start_server(r, err));
        TRY(install(r, err));
        TRY(fill(r, err));
        TRY(measure(r, "status", "status", err));
        TRY(measure(r, "status " WIDE, "status_1000_clusters", err));
        return measure(r, "why " WIDE, "why_1000_clusters", err);
}

static int body(struct bench *b, struct error *err)
{
        struct run r = { .bench = b, .log = { .sink = b->log_sink } };
        int code = run_bench(&r, err);

        if (r.server)
                process_stop(r.server, SIGTERM, 10000);
        kube_config_free(&r.config);
        return code;
}

int main(int argc, char **argv)
{
        return bench_main(argc, argv, "bench_plugin", body);
}
