#include "e2e/bench/scale.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/base/memory.h"
#include "e2e/bench/request_metrics.h"
#include "e2e/scenarios/process_fleet.h"
#include "proto/gen/kinds.h"
#include "proto/names.h"

enum {
        WRITERS = 16,
        SET_UP_MS = 900000,
        POLL_MS = 200,
        HISTORY = 100000, /* events for watches: what a kube-apiserver's cache grows to */
        METRICS_MAX = 64 << 20,
};
#define AVAILABLE "ClusterResourcePlacementAvailable"
#define FLEET_JSON(kind) "{\"apiVersion\":\"placement.kubernetes-fleet.io/v1beta1\",\"kind\":\"" kind "\""

static struct loop *loop_of(const struct scale *s)
{
        return s->bench->loop;
}

size_t scale_groups(const struct scale *s)
{
        return MAX(s->n_members / s->n_share, (size_t)1);
}

/* ---- many at once ---- */

struct many {
        struct scale *scale;
        int (*one)(struct scale *s, size_t i, struct arena *arena, struct error *err);
        size_t next, end;
};

static void write_some(void *ctx)
{
        struct many *m = ctx;
        struct scale *s = m->scale;

        while (s->code == 0 && m->next < m->end) {
                AUTO_ARENA struct arena arena = ARENA_INIT;
                struct error err = { 0 };
                int code = m->one(s, m->next++, &arena, &err);

                if (code < 0 && s->code == 0) {
                        s->code = code;
                        s->err = err;
                }
        }
}

int scale_many(struct scale *s, size_t first, size_t n,
               int (*one)(struct scale *s, size_t i, struct arena *arena, struct error *err),
               struct error *err)
{
        struct many m = { .scale = s, .one = one, .next = first, .end = first + n };
        struct fiber_group *group = fiber_group_new(loop_of(s), s->group, "writers");
        int code = group ? 0 : error_no_memory(err);

        for (int i = 0; code == 0 && i < WRITERS; i++)
                if (!fiber_spawn(group, "writer", write_some, &m))
                        code = error_no_memory(err);
        if (code == 0)
                code = fiber_group_join(group, DEADLINE_NONE);
        fiber_group_end(group);
        if (code == 0 && s->code < 0)
                *err = s->err;
        return code < 0 ? code : s->code;
}

/* ---- what is placed ---- */

int scale_make_content(struct scale *s, const char *name, struct arena *arena, struct error *err)
{
        char text[1025];

        memset(text, 'x', sizeof(text) - 1);
        text[sizeof(text) - 1] = '\0';
        TRY(bench_send(s->hub, "POST", "/api/v1/namespaces",
                       arena_printf(arena,
                                    "{\"apiVersion\":\"v1\",\"kind\":\"Namespace\",\"metadata\":{\"name\":"
                                    "\"%s\"}}",
                                    name),
                       err));
        TRY(bench_send(s->hub, "POST", arena_printf(arena, "/api/v1/namespaces/%s/configmaps", name),
                       arena_printf(arena,
                                    "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":"
                                    "\"data\"},\"data\":{\"foo\":\"%s\"}}",
                                    text),
                       err));
        return bench_send(
                s->hub, "POST", arena_printf(arena, "/apis/apps/v1/namespaces/%s/deployments", name),
                "{\"apiVersion\":\"apps/v1\",\"kind\":\"Deployment\",\"metadata\":{\"name\":\"app\"},"
                "\"spec\":{\"replicas\":0,\"selector\":{\"matchLabels\":{\"app\":\"pause\"}},"
                "\"template\":{\"metadata\":{\"labels\":{\"app\":\"pause\"}},\"spec\":{"
                "\"containers\":[{\"name\":\"pause\",\"image\":\"registry.example/pause:3.9\"}]}}}}",
                err);
}

static const char *policy(size_t group, struct arena *arena)
{
        if (group == SCALE_EVERYWHERE)
                return "{\"placementType\":\"PickAll\"}";
        return arena_printf(arena,
                            "{\"placementType\":\"PickAll\",\"affinity\":{\"clusterAffinity\":{"
                            "\"requiredDuringSchedulingIgnoredDuringExecution\":{\"clusterSelectorTerms\":[{"
                            "\"labelSelector\":{\"matchLabels\":{\"resource-group\":\"%zu\"}}}]}}}}",
                            group);
}

int scale_make_placement(struct scale *s, const char *name, size_t group, struct arena *arena,
                         struct error *err)
{
        return bench_send(
                s->hub, "POST", SCALE_FLEET "clusterresourceplacements",
                arena_printf(
                        arena,
                        FLEET_JSON("ClusterResourcePlacement") ",\"metadata\":{\"name\":\"%s\"},"
                                                               "\"spec\":{\"resourceSelectors\":[{"
                                                               "\"group\":\"\",\"version\":\"v1\","
                                                               "\"kind\":\"Namespace\",\"name\":\"%s\"}],"
                                                               "\"policy\":%s,\"strategy\":{\"type\":"
                                                               "\"RollingUpdate\",\"rollingUpdate\":{"
                                                               "\"maxUnavailable\":\"100%%\","
                                                               "\"unavailablePeriodSeconds\":1}}}}",
                        name, name, policy(group, arena)),
                err);
}

int scale_move_placement(struct scale *s, const char *name, size_t group, struct arena *arena,
                         struct error *err)
{
        return bench_send(s->hub, "PATCH",
                          arena_printf(arena, SCALE_FLEET "clusterresourceplacements/%s", name),
                          arena_printf(arena, "{\"spec\":{\"policy\":%s}}", policy(group, arena)), err);
}

bool scale_is_available(struct scale *s, const char *name, int64_t generation)
{
        const struct placement *p = (const struct placement *)informer_get(s->placements, NULL, name);

        return p && p->object.meta.generation >= generation && p->status &&
               condition_is_true(&p->status->conditions, AVAILABLE, p->object.meta.generation);
}

static int check_members(struct scale *s, struct error *err)
{
        if (s->members.code == 0)
                return 0;
        *err = s->members.err;
        return error_wrap(err, "a member that answers");
}

int scale_await(struct scale *s, const char *name, int64_t generation, int64_t patience_ms, struct error *err)
{
        int64_t deadline = loop_now_ms(loop_of(s)) + patience_ms;

        while (!scale_is_available(s, name, generation)) {
                int code = waitq_wait(loop_of(s), &s->changed, deadline);

                TRY(check_members(s, err));
                if (code == ERR_TIMEOUT)
                        return error_set(err, ERR_TIMEOUT, "placement %s does not become Available", name);
                TRY(code);
        }
        return 0;
}

/* ---- the hub-agent ---- */

/* Adds up a metric's series, whatever their labels. */
static double sum_of(struct slice text, const char *metric)
{
        size_t n = strlen(metric);
        double sum = 0;
        struct slice line;

        while (text.len) {
                (void)slice_cut(&text, '\n', &line);
                if (slice_starts_with(line, metric) && (line.data[n] == '{' || line.data[n] == ' '))
                        sum += metrics_line_value(line);
        }
        return sum;
}

int scale_hub_state(struct scale *s, struct scale_hub *ret, struct error *err)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct http_request rq = { .endpoint = &s->metrics,
                                   .method = "GET",
                                   .path = "/metrics",
                                   .max_body = METRICS_MAX,
                                   .deadline_ms = loop_now_ms(loop_of(s)) + SET_UP_MS };
        struct http_response r;

        if (http_roundtrip(s->bench->world.transport, &rq, &arena, &r, err) < 0 || r.status != 200)
                return error_set(err, ERR_RETRY, "the hub-agent serves no metrics yet");
        *ret = (struct scale_hub){ .leads = sum_of(r.body, "leader_election_master_status") > 0,
                                   .waiting = sum_of(r.body, "workqueue_depth"),
                                   .active = sum_of(r.body, "controller_runtime_active_workers"),
                                   .reconciles = sum_of(r.body, "controller_runtime_reconcile_total"),
                                   .retries = sum_of(r.body, "workqueue_retries_total") };
        return 0;
}

int scale_await_rest(struct scale *s, double reconciles, int64_t patience_ms, struct error *err)
{
        int64_t deadline = loop_now_ms(loop_of(s)) + patience_ms;

        for (;;) {
                struct scale_hub h = { 0 };
                int code = scale_hub_state(s, &h, err);

                if (code == 0 && h.leads && h.waiting == 0 && h.active == 0 && h.reconciles >= reconciles)
                        return 0;
                if (code < 0 && code != ERR_RETRY)
                        return code;
                TRY(check_members(s, err));
                if (loop_now_ms(loop_of(s)) > deadline)
                        return error_set(err, ERR_TIMEOUT,
                                         "the hub-agent does not come to rest: %s, %.0f keys wait, %.0f "
                                         "reconciles run, %.0f of %.0f have been done",
                                         h.leads ? "leading" : "not leading", h.waiting, h.active,
                                         h.reconciles, reconciles);
                TRY(fiber_sleep(loop_of(s), POLL_MS));
        }
}

const char *scale_server(const struct scale *s)
{
        return s->kubernetes ? "kubernetes" : "devcluster";
}

int scale_usage(struct scale *s, struct scale_usage *ret, struct error *err)
{
        struct world *w = &s->bench->world;

        TRY(bench_usage(w, process_fleet_pid(s->fleet, "hub-agent"), &ret->hub_agent, err));
        if (s->kubernetes)
                TRY(bench_usage_below(w, server_program_pid(process_fleet_server(s->fleet)), &ret->server,
                                      err));
        else
                TRY(bench_usage(w, process_fleet_pid(s->fleet, "devcluster"), &ret->server, err));
        return bench_usage(w, (int)getpid(), &ret->members, err);
}

int scale_report_cpu(struct scale *s, const struct scale_usage *before, const char *prefix, struct error *err)
{
        struct scale_usage now;

        TRY(scale_usage(s, &now, err));
        bench_line((double)(now.hub_agent.cpu_ns - before->hub_agent.cpu_ns) / 1e9, "s", "%s_hub_agent_cpu_s",
                   prefix);
        bench_line((double)(now.server.cpu_ns - before->server.cpu_ns) / 1e9, "s", "%s_%s_cpu_s", prefix,
                   scale_server(s));
        bench_line((double)(now.members.cpu_ns - before->members.cpu_ns) / 1e9, "s", "%s_members_cpu_s",
                   prefix);
        return 0;
}

/* ---- requests ---- */

static int read_requests(struct scale *s, json_t **ret_items, struct error *err)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct kube_client k = *s->hub;
        struct http_response r;

        k.max_answer = METRICS_MAX;
        TRY(kube_raw(&k, "GET", "/metrics", NULL, (struct slice){ 0 }, &arena, &r, err));
        return request_metrics_read(r.body, ret_items, err);
}

int scale_reset_requests(struct scale *s, struct error *err)
{
        if (!s->kubernetes)
                return bench_reset_requests(s->hub, err);
        json_decref(TAKE_PTR(s->requests));
        return read_requests(s, &s->requests, err);
}

int scale_requests(struct scale *s, json_t **ret_items, struct error *err)
{
        AUTO_JSON json_t *items = NULL;

        if (!s->kubernetes)
                return bench_requests(s->hub, ret_items, err);
        TRY(read_requests(s, &items, err));
        return request_metrics_since(items, s->requests, ret_items, err);
}

/* ---- life ---- */

static void note_change(void *ctx, const struct informer_event *e)
{
        waitq_wake_all(&((struct scale *)ctx)->changed);
}

static int open_fleet(struct scale *s, struct error *err)
{
        const struct process_fleet_options o = { .loop = s->bench->loop,
                                                 .log_sink = s->bench->log_sink,
                                                 .programs = s->bench->programs,
                                                 .scratch = s->bench->scratch,
                                                 .as_installed = true,
                                                 .direct = true,
                                                 .metrics = true,
                                                 .patience_s = SET_UP_MS / 1000,
                                                 .watch_history = HISTORY,
                                                 .assets = getenv("KUBE_ASSETS") };

        s->kubernetes = o.assets != NULL;

        TRY(process_fleet_open(&o, &s->fleet, err));
        TRY(fleet_prepare(s->fleet, loop_now_ms(loop_of(s)) + SET_UP_MS, err));
        s->fleet->prepared = true;
        s->metrics.base_url = mem_printf("http://127.0.0.1:%d", process_fleet_metrics_port(s->fleet));
        if (!s->metrics.base_url)
                return error_no_memory(err);
        return s->fleet->ops->client(s->fleet, "hub", &s->hub, err);
}

int scale_open(struct scale *s, struct bench *b, struct error *err)
{
        s->bench = b;
        s->group = fiber_group_new(b->loop, b->group, "scale");
        return s->group ? open_fleet(s, err) : error_no_memory(err);
}

int scale_beat(struct scale *s, struct error *err)
{
        int64_t deadline = loop_now_ms(loop_of(s)) + SET_UP_MS;

        TRY(answering_open(&s->members, s->hub, SCALE_HEARTBEAT_S * 1000, s->group, err));
        TRY(informer_wait_synced(s->members.members, deadline));
        while (s->members.n_joined < informer_objects(s->members.members)) {
                TRY(check_members(s, err));
                if (loop_now_ms(loop_of(s)) > deadline)
                        return error_set(err, ERR_TIMEOUT, "only %zu members have sent a heartbeat",
                                         s->members.n_joined);
                TRY(fiber_sleep(loop_of(s), POLL_MS));
        }
        return 0;
}

int scale_answer(struct scale *s, struct error *err)
{
        const struct informer_options o = { .kind = &cluster_resource_placement_kind,
                                            .flags = DECODE_PROJECTION };
        int64_t deadline = loop_now_ms(loop_of(s)) + SET_UP_MS;

        s->placements = informer_new(s->hub, s->group, &o);
        if (!s->placements || informer_add_handler(s->placements, note_change, s) < 0)
                return error_no_memory(err);
        TRY(answering_open_works(&s->members, err));
        TRY(informer_wait_synced(s->placements, deadline));
        return informer_wait_synced(s->members.works, deadline);
}

void scale_close(struct scale *s)
{
        if (s->members.group)
                answering_close(&s->members);
        if (s->placements)
                informer_stop(s->placements);
        if (s->group)
                fiber_group_end(s->group);
        if (s->fleet)
                s->fleet->ops->close(s->fleet);
        json_decref(s->requests);
        mem_free(s->metrics.base_url);
}
