/* The hub's admission under load: devcluster and hub-agent as programs, and a thousand reviews of a placement
 * a second over HTTPS, as an API server sends them. A review's time runs from when it was due, so that one
 * that waits for its turn is not flattered.
 *
 *   bench_webhook PROGRAMS SCRATCH
 */
#include <stdio.h>

#include "common/base/memory.h"
#include "e2e/bench/bench.h"
#include "e2e/scenarios/process_fleet.h"

enum {
        RATE = 1000, /* a second */
        SECONDS = 10,
        REVIEWS = RATE * SECONDS,
        WARM_UP = 500,
        CALLERS = 64, /* as many are under way at most */
        DEADLINE_MS = 10000,
        PATIENCE_MS = 60000,
};
#define PATH "/validate-placement.kubernetes-fleet.io-v1beta1-clusterresourceplacement"
#define CONFIGURATIONS "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations"

static const char review[] =
        "{\"kind\":\"AdmissionReview\",\"apiVersion\":\"admission.k8s.io/v1\",\"request\":{\"uid\":"
        "\"7c0c3b1e-0000-4000-8000-000000000000\",\"kind\":{\"group\":\"placement.kubernetes-fleet.io\","
        "\"version\":\"v1beta1\",\"kind\":\"ClusterResourcePlacement\"},\"resource\":{\"group\":"
        "\"placement.kubernetes-fleet.io\",\"version\":\"v1beta1\",\"resource\":"
        "\"clusterresourceplacements\"},"
        "\"name\":\"web\",\"operation\":\"CREATE\",\"userInfo\":{\"username\":\"alice\",\"groups\":"
        "[\"developers\",\"system:authenticated\"]},\"object\":{\"apiVersion\":"
        "\"placement.kubernetes-fleet.io/"
        "v1beta1\",\"kind\":\"ClusterResourcePlacement\",\"metadata\":{\"name\":"
        "\"web\"},\"spec\":{\"resourceSelectors\":[{\"group\":\"\",\"version\":\"v1\",\"kind\":\"Namespace\","
        "\"name\":\"web\"},{\"group\":\"rbac.authorization.k8s.io\",\"version\":\"v1\",\"kind\":"
        "\"ClusterRole\","
        "\"labelSelector\":{\"matchLabels\":{\"app\":\"web\"}}}],\"policy\":{\"placementType\":\"PickN\","
        "\"numberOfClusters\":3,\"affinity\":{\"clusterAffinity\":{"
        "\"requiredDuringSchedulingIgnoredDuringExecution\":{\"clusterSelectorTerms\":[{\"labelSelector\":{"
        "\"matchLabels\":{\"region\":\"west\"}},\"propertySelector\":{\"matchExpressions\":[{\"name\":"
        "\"kubernetes-fleet.io/node-count\",\"operator\":\"Ge\",\"values\":[\"5\"]}]}}]}}},"
        "\"topologySpreadConstraints\":[{\"maxSkew\":1,\"topologyKey\":\"zone\",\"whenUnsatisfiable\":"
        "\"DoNotSchedule\"}],\"tolerations\":[{\"key\":\"dedicated\",\"operator\":\"Equal\",\"value\":"
        "\"web\",\"effect\":\"NoSchedule\"}]},\"strategy\":{\"type\":\"RollingUpdate\",\"rollingUpdate\":{"
        "\"maxUnavailable\":1,\"maxSurge\":1,\"unavailablePeriodSeconds\":60}},\"revisionHistoryLimit\":10}},"
        "\"oldObject\":null,\"dryRun\":false}}";

struct run {
        struct bench *bench;
        struct fleet *fleet;
        struct kube_client *hub;
        struct http_endpoint agent;
        int64_t began_us;
        size_t n, next, refused;
        double ms[REVIEWS];
        int code;
        struct error err;
};

/* ---- the agent's endpoint ---- */

static int read_authorities(struct run *r, struct error *err)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        AUTO_JSON json_t *list = NULL;
        struct http_response answer;
        const char *bundle;

        TRY(kube_raw(r->hub, "GET", CONFIGURATIONS, NULL, (struct slice){ 0 }, &arena, &answer, err));
        TRY(doc_parse(answer.body, &list, err));
        const json_t *first = json_array_get(doc_get_array(list, "items"), 0);
        first = json_array_get(doc_get_array(first, "webhooks"), 0);
        bundle = doc_get_string(first, "clientConfig.caBundle");
        if (text_empty(bundle))
                return error_set(err, ERR_NOT_FOUND, "the agent has not written its webhooks yet");
        size_t n = strlen(bundle);
        mem_free(r->agent.ca_pem);
        r->agent.ca_pem = mem_calloc(n + 1, 1);
        return r->agent.ca_pem ? text_base64_decode(slice_of(bundle), r->agent.ca_pem, n, &n, false)
                               : error_no_memory(err);
}

static int find_agent(struct run *r, struct error *err)
{
        int64_t deadline = loop_now_ms(r->bench->loop) + PATIENCE_MS;

        r->agent.base_url = mem_printf("https://127.0.0.1:%d", process_fleet_webhook_port(r->fleet));
        r->agent.tls_server_name = mem_strdup("fleetwebhook.fleet-system.svc");
        if (!r->agent.base_url || !r->agent.tls_server_name)
                return error_no_memory(err);
        while (read_authorities(r, err) < 0) {
                if (loop_now_ms(r->bench->loop) > deadline)
                        return error_wrap(err, "no webhooks");
                TRY(fiber_sleep(r->bench->loop, 20));
        }
        return 0;
}

/* ---- the load ---- */

static int ask(struct run *r, struct error *err)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct http_header headers[] = { { "Content-Type", "application/json" } };
        const struct http_request rq = { .endpoint = &r->agent,
                                         .method = "POST",
                                         .path = PATH,
                                         .headers = { headers, ARRAY_LEN(headers) },
                                         .body = { review, sizeof(review) - 1 },
                                         .deadline_ms = loop_now_ms(r->bench->loop) + DEADLINE_MS };
        struct http_response answer;

        TRY(http_roundtrip(r->bench->world.transport, &rq, &arena, &answer, err));
        if (answer.status != 200 || !strstr(answer.body.data, "\"allowed\":true"))
                return error_set(err, ERR_INVALID, "status %d: %.300s", answer.status, answer.body.data);
        return 0;
}

static int64_t due_us(const struct run *r, size_t i)
{
        return r->began_us + (int64_t)i * 1000000 / RATE;
}

static void caller_fiber(void *ctx)
{
        struct run *r = ctx;
        struct loop *l = r->bench->loop;

        while (r->code == 0 && r->next < r->n) {
                size_t i = r->next++;
                int64_t ahead = due_us(r, i) - loop_now_us(l);

                if (ahead > 0 && fiber_sleep(l, (ahead + 999) / 1000) < 0)
                        return;
                int64_t due = MAX(due_us(r, i), r->began_us);
                int code = ask(r, &r->err);

                if (code < 0)
                        r->code = code;
                r->ms[i] = (double)(loop_now_us(l) - due) / 1000;
        }
}

static int send(struct run *r, size_t n, struct error *err)
{
        struct fiber_group *group = fiber_group_new(r->bench->loop, r->bench->group, "callers");

        if (!group)
                return error_no_memory(err);
        r->next = 0;
        r->n = n;
        r->began_us = loop_now_us(r->bench->loop);
        for (size_t i = 0; i < CALLERS; i++)
                if (!fiber_spawn(group, "caller", caller_fiber, r))
                        r->code = error_no_memory(&r->err);
        TRY(fiber_group_join(group, DEADLINE_NONE));
        fiber_group_end(group);
        if (r->code < 0)
                *err = r->err;
        return r->code;
}

/* ---- all ---- */

static int usage(struct run *r, struct bench_usage *ret, struct error *err)
{
        return bench_usage(&r->bench->world, process_fleet_pid(r->fleet, "hub-agent"), ret, err);
}

static int measure(struct run *r, struct error *err)
{
        static const unsigned percents[] = { 50, 90, 99 };
        struct bench_usage before, after;

        TRY(fleet_set_up(r->fleet, loop_now_ms(r->bench->loop) + PATIENCE_MS, err));
        TRY(r->fleet->ops->client(r->fleet, "hub", &r->hub, err));
        TRY(find_agent(r, err));
        TRY(send(r, WARM_UP, err));
        TRY(usage(r, &before, err));
        TRY(send(r, REVIEWS, err));
        int64_t took_us = loop_now_us(r->bench->loop) - r->began_us;
        TRY(usage(r, &after, err));
        bench_line(REVIEWS * 1e6 / (double)took_us, "per-second", "webhook_reviews_per_second");
        for (size_t i = 0; i < ARRAY_LEN(percents); i++)
                bench_line(bench_percentile(r->ms, REVIEWS, percents[i]), "ms", "webhook_p%u_ms",
                           percents[i]);
        bench_line((double)(after.cpu_ns - before.cpu_ns) / 1000 / REVIEWS, "us",
                   "webhook_cpu_per_review_us");
        bench_line(after.private_mb, "MiB", "hub_agent_private_mb_at_%d_reviews_per_second", RATE);
        return 0;
}

static int body(struct bench *b, struct error *err)
{
        struct run *r = NEW(struct run);

        if (!r)
                return error_no_memory(err);
        r->bench = b;
        int code = bench_fleet_open(b, 1, &r->fleet, err);
        if (code == 0) {
                r->fleet->webhooks = true;
                code = measure(r, err);
                r->fleet->ops->close(r->fleet);
        }
        http_endpoint_free(&r->agent);
        mem_free(r);
        return code;
}

int main(int argc, char **argv)
{
        return bench_main(argc, argv, "bench_webhook", body);
}
