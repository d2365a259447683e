/* What the tests of the hub agent as a whole share: the agent against devcluster in a simulated loop, with
 * fake members that answer Works. */
#pragma once

#include <stdlib.h>

#include "hub-agent/app_test.h"

struct fleet {
        struct rig *rig;
        struct fiber_group *group;
        struct world world;
        struct log_sink sink;
        struct log log;
        struct metrics *metrics; /* NULL = the agent's own */
        int64_t snapshot_interval_ms, snapshot_collect_ms;
        const struct admission_policies *admission_policies;
        bool resource_sets;
        bool inventory; /* without it no ClusterProfiles: most tests have no namespace for them */
        const struct webhook_options *webhooks;
        bool probed; /* /readyz and what stands beside it are answered at PROBES */
        const char *default_service_account, *resource_set_account, *watch_configs;
        bool leader_election;
        unsigned shards, list_page;
        const char *identity;
        const struct flag_strings *override_managers;
        const struct resource_set_pace *resource_set_pace;
        const struct source_options *sources;
        int64_t requeue_dependency_ms;
        bool members_stopped, without_evictions, without_staged_runs, no_external_snapshots;
};

/* How often a controller has looked; needs metrics. */
static inline int passes_of(const struct fleet *f, const char *controller)
{
        int n = 0;

        for (size_t i = 0; i < N_RESULTS; i++)
                n += (int)metric_value(f->metrics, METRIC_RECONCILES,
                                       (const char *const[]){ controller, reconcile_results[i] });
        return n;
}

/* ---- the agent ---- */

static inline void write_line(void *ctx, const char *line, size_t n)
{
        fwrite(line, 1, n, stderr);
        if (strstr(line, "left no error")) /* common/ctrl/frame.c: a bug, which a retry hides */
                fail_msg("%.*s", (int)n, line);
}
static inline int64_t wall_of(void *ctx)
{
        return loop_wall_ms(((struct fleet *)ctx)->rig->loop);
}

#define PROBES "probes"
static inline void listen_for_probes(void *ctx, http_handler_fn handle, void *handle_ctx)
{
        struct fleet *f = ctx;

        assert_int_equal(loopback_listen(f->rig->net, PROBES, handle, handle_ctx), 0);
}

/* The status; the answer is left in *ret. */
static inline int probe(struct fleet *f, const char *path, struct http_response *ret)
{
        struct http_endpoint endpoint = { .base_url = (char *)(uintptr_t) "https://" PROBES };
        const struct http_request rq = { .endpoint = &endpoint,
                                         .method = "GET",
                                         .path = path,
                                         .deadline_ms = loop_now_ms(f->rig->loop) + 5000 };
        struct error err = { 0 };

        return http_roundtrip(f->rig->client, &rq, &f->rig->arena, ret, &err) < 0 ? err.code : ret->status;
}

static inline void agent_fiber(void *ctx)
{
        struct fleet *f = ctx;
        struct error err = { 0 };
        struct hub_agent_options o = { .world = &f->world,
                                       .log = &f->log,
                                       .hub = &f->rig->endpoint,
                                       .metrics = f->metrics,
                                       .leader_election = f->leader_election,
                                       .shards = f->shards,
                                       .list_page = f->list_page,
                                       .identity = f->identity,
                                       .without_staged_runs = f->without_staged_runs,
                                       .no_external_snapshots = f->no_external_snapshots,
                                       .without_evictions = f->without_evictions,
                                       .without_inventory = !f->inventory,
                                       .resource_sets = f->resource_sets,
                                       .default_service_account = f->default_service_account,
                                       .resource_set_account = f->resource_set_account,
                                       .watch_configs = f->watch_configs,
                                       .override_managers = f->override_managers,
                                       .resource_set_pace = f->resource_set_pace,
                                       .requeue_dependency_ms = f->requeue_dependency_ms,
                                       .sources = f->sources,
                                       .admission_policies = f->admission_policies,
                                       .webhooks = f->webhooks,
                                       .metrics_port = -1,
                                       .health_port = -1,
                                       .probed = f->probed ? listen_for_probes : NULL,
                                       .probed_ctx = f,
                                       .resource_snapshot_min_interval_ms = f->snapshot_interval_ms,
                                       .resource_change_collect_ms = f->snapshot_collect_ms };

        assert_int_equal(hub_agent_run(&o, &err), ERR_CANCELLED);
}

/* ---- what users do ---- */

/* A merge patch that the server takes. */
static inline void merge(struct rig *r, const char *path, const char *patch)
{
        if (rig_merge(r, path, patch) != 200)
                fail_msg("%s: %s", path, r->text);
}

/* The same, and what follows from it. */
static inline void merge_and_settle(struct rig *r, const char *path, const char *patch)
{
        merge(r, path, patch);
        rig_settle(r);
}

/* ---- members ---- */

static inline void stamp_now(struct fleet *f, char *out)
{
        time_format_rfc3339(loop_wall_ms(f->rig->loop), out);
}

/* What a member agent reports: joined (or left, when asked to), healthy, alive. */
static inline void report_member(struct fleet *f, const char *name, const char *joined)
{
        char path[256], body[1024], now[RFC3339_SIZE];

        stamp_now(f, now);
        snprintf(path, sizeof(path), CLUSTERS "namespaces/fleet-member-%s/internalmemberclusters/%s/status",
                 name, name);
        snprintf(body, sizeof(body),
                 "{\"status\":{\"agentStatus\":[{\"type\":\"MemberAgent\",\"lastReceivedHeartbeat\":\"%s\","
                 "\"conditions\":[{\"type\":\"Joined\",\"status\":\"%s\",\"reason\":\"X\",\"message\":\"\","
                 "\"lastTransitionTime\":\"%s\",\"observedGeneration\":1},{\"type\":\"Healthy\",\"status\":"
                 "\"True\","
                 "\"reason\":\"X\",\"message\":\"\",\"lastTransitionTime\":\"%s\",\"observedGeneration\":1}]}"
                 "]}}",
                 now, joined, now, now);
        rig_merge(f->rig, path, body);
}

static inline void add_member(struct fleet *f, const char *name, const char *labels)
{
        char body[512];

        snprintf(body, sizeof(body),
                 "{\"apiVersion\":\"cluster.kubernetes-fleet.io/"
                 "v1beta1\",\"kind\":\"MemberCluster\",\"metadata\":"
                 "{\"name\":\"%s\",\"labels\":{%s}},\"spec\":{\"identity\":{\"kind\":\"ServiceAccount\","
                 "\"name\":\"%s\","
                 "\"namespace\":\"fleet-system\"}}}",
                 name, labels, name);
        assert_int_equal(rig_post(f->rig, CLUSTERS "memberclusters", body), 201);
        rig_settle(f->rig);
        report_member(f, name, "True");
        assert_int_equal(f->rig->status, 200);
        rig_settle(f->rig);
}

/* Says of every Work whether it is applied and available, and of no manifest anything. */
static inline void report_works(struct fleet *f, const char *applied, const char *available)
{
        AUTO_JSON json_t *list = NULL;
        json_t *item;
        size_t i;

        rig_get(f->rig, FLEET "works");
        list = json_incref(f->rig->answer);
        json_array_foreach(json_object_get(list, "items"), i, item) {
                char path[512], body[1024], now[RFC3339_SIZE];
                long long generation = doc_get_int(item, "metadata.generation", 0);

                stamp_now(f, now);
                snprintf(path, sizeof(path), FLEET "namespaces/%s/works/%s/status",
                         doc_get_string(item, "metadata.namespace"), doc_get_string(item, "metadata.name"));
                snprintf(body, sizeof(body),
                         "{\"status\":{\"conditions\":[{\"type\":\"Applied\",\"status\":\"%s\",\"reason\":"
                         "\"A\","
                         "\"message\":\"\",\"lastTransitionTime\":\"%s\",\"observedGeneration\":%lld},"
                         "{\"type\":\"Available\",\"status\":\"%s\",\"reason\":\"B\",\"message\":\"\","
                         "\"lastTransitionTime\":\"%s\",\"observedGeneration\":%lld}]}}",
                         applied, now, generation, available, now, generation);
                assert_int_equal(rig_merge(f->rig, path, body), 200);
        }
}

/* As a member agent whose objects all are well. */
static inline void answer_works(struct fleet *f)
{
        report_works(f, "True", "True");
}

static inline void settle(struct fleet *f)
{
        rig_settle(f->rig);
        answer_works(f);
        rig_settle(f->rig);
}

/* ---- fixture ---- */

static inline void start_again(struct rig *r, struct fleet *f)
{
        f->group = fiber_group_new(r->loop, NULL, "agents");
        assert_non_null(fiber_spawn(f->group, "hub-agent", agent_fiber, f));
        rig_settle(r);
}

static inline void start(struct rig *r, struct fleet *f)
{
        *f = (struct fleet){ .rig = r, .world = r->world };
        f->sink = (struct log_sink){ write_line, wall_of, f, LOG_TEXT,
                                     getenv("HUB_TEST_LOG") ? LOG_DEBUG : LOG_WARN };
        f->log = (struct log){ .sink = &f->sink };
        f->world.transport = r->client;
        install_kinds(r);
        start_again(r, f);
}

static inline void stop(struct fleet *f)
{
        fiber_group_end(f->group);
}

/* ---- the way of the agent to the hub ---- */

#define LAG_MS 20000
#define SLOW_MS 2000

/* Requests whose path holds a text can be made to fail or to hang, and what watches tell to come late. */
struct line {
        struct loopback_faults faults;
        const char *path;
        int fate;
        const char *lagging; /* as `path` */
        const char *slow;    /* as `path`: it takes slow_ms to the server */
        int64_t slow_ms;     /* 0 = SLOW_MS */
};

static inline int64_t delay_of(void *ctx, const struct http_request *rq, bool answer)
{
        const struct line *line = ctx;
        bool lags = line->lagging && strstr(rq->path, line->lagging) && strstr(rq->path, "watch=true");

        if (!answer && line->slow && strstr(rq->path, line->slow))
                return line->slow_ms ? line->slow_ms : SLOW_MS;
        return answer && lags ? LAG_MS : 0;
}

static inline int fate_of(void *ctx, const struct http_request *rq)
{
        const struct line *line = ctx;

        return line->path && strstr(rq->path, line->path) ? line->fate : 0;
}

/* Stops the agent, which is to be started on the new way; the test frees the transport. */
static inline void line_lay(struct fleet *f, struct line *line)
{
        *line = (struct line){ .faults = { .ctx = line, .delay = delay_of, .fate = fate_of } };
        stop(f);
        f->world.transport = loopback_transport(f->rig->net, &f->world, &line->faults);
        assert_non_null(f->world.transport);
}
