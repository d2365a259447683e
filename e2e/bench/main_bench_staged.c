/* Staged update runs on a thousand members that answer at once: devcluster and hub-agent as programs of their
 * own. A hundred placements, each on a hundred members; a run of each at the same time, first of what is new
 * on all clusters and then of a change. Then one run with an approval after each of its stages.
 *
 *   bench_staged PROGRAMS SCRATCH
 */
#include <stdio.h>

#include "common/base/memory.h"
#include "e2e/bench/answering.h"
#include "e2e/bench/bench.h"
#include "e2e/scenarios/process_fleet.h"
#include "proto/gen/kinds.h"
#include "proto/names.h"

enum {
        MEMBERS = 1000,
        GROUPS = 10, /* of members; a placement is on one of them */
        RUNS = 100,
        SHARE = MEMBERS / GROUPS, /* clusters of a run */
        GATES = 21,               /* stages of the run with approvals, of one cluster each */
        WRITERS = 16,
        SAMPLE_MS = 500,
        SETTLE_MS = 3000,
        QUIET_MS = 50,
        PATIENCE_MS = 180000,
};
#define GATED "gated"
#define CLUSTERS "/apis/cluster.kubernetes-fleet.io/v1beta1/"
#define FLEET "/apis/placement.kubernetes-fleet.io/v1beta1/"
#define HEAD(version, kind)                                                                                  \
        "{\"apiVersion\":\"" version "\",\"kind\":\"" kind "\",\"metadata\":{\"name\":\"%s\""
#define OF_FLEET(kind) HEAD("placement.kubernetes-fleet.io/v1beta1", kind)

struct timed_run {
        int64_t began, ended; /* microseconds of the loop's clock; 0 = not yet */
};

struct stand {
        struct bench *bench;
        struct fleet *fleet;
        struct kube_client *hub;
        struct fiber_group *group;
        struct answering members;
        struct informer *clusters, *runs, *bindings, *requests;
        struct timed_run run[RUNS];
        size_t n_ended;
        const char *round; /* first letter of the runs that are timed */
        struct waitq changed;
        double peak_private_mb;
        int code; /* the first failure's */
        struct error err;
};

static int fail(struct stand *s, int code, const struct error *err)
{
        if (s->code == 0) {
                s->code = code;
                s->err = *err;
        }
        waitq_wake_all(&s->changed);
        return code;
}

static int64_t now_us(const struct stand *s)
{
        return loop_now_us(s->bench->loop);
}

/* ---- many at once ---- */

/* Does `one` for 0 to n - 1, several at a time. */
struct many {
        struct stand *stand;
        int (*one)(struct stand *s, size_t i, struct arena *arena, struct error *err);
        size_t next, n;
};

static void write_some(void *ctx)
{
        struct many *m = ctx;

        while (m->stand->code == 0 && m->next < m->n) {
                AUTO_ARENA struct arena arena = ARENA_INIT;
                struct error err = { 0 };
                int code = m->one(m->stand, m->next++, &arena, &err);

                if (code < 0)
                        fail(m->stand, code, &err);
        }
}

static int write_many(struct stand *s, size_t n,
                      int (*one)(struct stand *s, size_t i, struct arena *arena, struct error *err),
                      struct error *err)
{
        struct many m = { .stand = s, .one = one, .n = n };
        struct fiber_group *group = fiber_group_new(s->bench->loop, s->group, "writers");
        int code;

        for (int i = 0; i < WRITERS; i++)
                if (!group || !fiber_spawn(group, "writer", write_some, &m))
                        return error_no_memory(err);
        code = fiber_group_join(group, DEADLINE_NONE);
        fiber_group_end(group);
        if (s->code < 0)
                *err = s->err;
        return s->code < 0 ? s->code : code;
}

/* ---- the fleet ---- */

/* Of the hundred members of a group ten are in the first stage, thirty in the second, sixty in the third. */
static const char *stage_of(size_t member)
{
        size_t tenth = member / GROUPS % 10;

        return tenth == 0 ? "first" : tenth < 4 ? "second" : "third";
}

static int make_member(struct stand *s, size_t i, struct arena *arena, struct error *err)
{
        char gate[64] = "";

        if (i < GATES)
                snprintf(gate, sizeof(gate), ",\"" GATED "\":\"yes\",\"gate\":\"g%zu\"", i);
        return bench_send(
                s->hub, "POST", CLUSTERS "memberclusters",
                arena_printf(arena,
                             HEAD("cluster.kubernetes-fleet.io/v1beta1",
                                  "MemberCluster") ",\"labels\":{\"group\":\"g%zu\",\"stage\":\"%s\"%s}},"
                                                   "\"spec\":{\"identity\":{"
                                                   "\"kind\":\"User\",\"name\":\"x\"},"
                                                   "\"heartbeatPeriodSeconds\":600}}",
                             arena_printf(arena, "member-%04zu", i), i % GROUPS, stage_of(i), gate),
                err);
}

static int make_fleet(struct stand *s, struct error *err)
{
        int64_t deadline = loop_now_ms(s->bench->loop) + PATIENCE_MS;

        TRY(write_many(s, MEMBERS, make_member, err));
        while (answering_count_joined(s->clusters) < MEMBERS) {
                if (s->members.code < 0)
                        return *err = s->members.err, s->members.code;
                if (loop_now_ms(s->bench->loop) > deadline)
                        return error_set(err, ERR_TIMEOUT, "only %zu members have joined",
                                         answering_count_joined(s->clusters));
                TRY(fiber_sleep(s->bench->loop, 100));
        }
        return 0;
}

/* ---- what is rolled out ---- */

static int make_placement(struct stand *s, const char *name, const char *label, const char *value,
                          struct arena *arena, struct error *err)
{
        TRY(bench_send(s->hub, "POST", "/api/v1/namespaces",
                       arena_printf(arena, HEAD("v1", "Namespace") "}}", name), err));
        TRY(bench_send(
                s->hub, "POST", arena_printf(arena, "/api/v1/namespaces/%s/configmaps", name),
                arena_printf(arena, HEAD("v1", "ConfigMap") "},\"data\":{\"key\":\"old\"}}", "settings"),
                err));
        return bench_send(
                s->hub, "POST", FLEET "clusterresourceplacements",
                arena_printf(
                        arena,
                        OF_FLEET("ClusterResourcePlacement") "},\"spec\":{\"resourceSelectors\":[{"
                                                             "\"group\":\"\",\"version\":\"v1\",\"kind\":"
                                                             "\"Namespace\",\"name\":\"%s\"}],"
                                                             "\"strategy\":{\"type\":\"External\"},"
                                                             "\"policy\":{\"placementType\":\"PickAll\","
                                                             "\"affinity\":{\"clusterAffinity\":{"
                                                             "\"requiredDuringSchedulingIgnoredDuringExec"
                                                             "ution\":{\"clusterSelectorTerms\":"
                                                             "[{\"labelSelector\":{\"matchLabels\":{\"%"
                                                             "s\":\"%s\"}}}]}}}}}}",
                        name, name, label, value),
                err);
}

static int make_one_placement(struct stand *s, size_t i, struct arena *arena, struct error *err)
{
        return make_placement(s, arena_printf(arena, "app-%zu", i), "group",
                              arena_printf(arena, "g%zu", i % GROUPS), arena, err);
}

static int change_one(struct stand *s, size_t i, struct arena *arena, struct error *err)
{
        return bench_send(s->hub, "PATCH",
                          arena_printf(arena, "/api/v1/namespaces/app-%zu/configmaps/settings", i),
                          "{\"data\":{\"key\":\"new\"}}", err);
}

#define STAGE(name)                                                                                          \
        "{\"name\":\"" name "\",\"labelSelector\":{\"matchLabels\":{\"stage\":\"" name                       \
        "\"}},\"maxConcurrency\":\"25%%\"}"

static int make_strategies(struct stand *s, struct error *err)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        AUTO_BUF struct buf gates;

        buf_init(&gates, 1 << 16);
        for (int i = 0; i < GATES; i++)
                buf_printf(&gates,
                           "%s{\"name\":\"g%d\",\"labelSelector\":{\"matchLabels\":{\"gate\":\"g%d\"}},"
                           "\"afterStageTasks\":[{\"type\":\"Approval\"}]}",
                           i ? "," : "", i, i);
        TRY(bench_send(s->hub, "POST", FLEET "clusterstagedupdatestrategies",
                       arena_printf(&arena,
                                    OF_FLEET("ClusterStagedUpdateStrategy") "},\"spec\":{\"stages\":[" STAGE(
                                            "first") "," STAGE("second") "," STAGE("third") "]}}",
                                    "three"),
                       err));
        return bench_send(
                s->hub, "POST", FLEET "clusterstagedupdatestrategies",
                arena_printf(&arena, OF_FLEET("ClusterStagedUpdateStrategy") "},\"spec\":{\"stages\":[%s]}}",
                             GATED, gates.data),
                err);
}

static int post_run(struct stand *s, const char *name, const char *placement, const char *strategy,
                    struct arena *arena, struct error *err)
{
        return bench_send(
                s->hub, "POST", FLEET "clusterstagedupdateruns",
                arena_printf(arena,
                             OF_FLEET("ClusterStagedUpdateRun") "},\"spec\":{\"placementName\":\"%s\","
                                                                "\"stagedRolloutStrategyName\":\"%s\"}}",
                             name, placement, strategy),
                err);
}

/* ---- runs at the same time ---- */

static void note_run(void *ctx, const struct informer_event *e)
{
        struct stand *s = ctx;
        const struct update_run *run = (const struct update_run *)e->now;
        const char *name = run->object.meta.name;
        const struct condition *c =
                run->status ? condition_find(&run->status->conditions, CONDITION_SUCCEEDED) : NULL;
        int64_t i = -1;

        if (!c || !s->round || name[0] != s->round[0] || !slice_parse_i64(slice_of(name + 2), &i) ||
            s->run[i].ended)
                return;
        if (!text_equal(c->status, CONDITION_TRUE)) {
                struct error err;

                fail(s, error_set(&err, ERR_INVALID, "run %s: %s", name, c->message ? c->message : ""), &err);
        }
        s->run[i].ended = now_us(s);
        s->n_ended++;
        waitq_wake_all(&s->changed);
}

static int begin_one(struct stand *s, size_t i, struct arena *arena, struct error *err)
{
        s->run[i] = (struct timed_run){ .began = now_us(s) };
        return post_run(s, arena_printf(arena, "%s-%zu", s->round, i), arena_printf(arena, "app-%zu", i),
                        "three", arena, err);
}

static int wait_for_runs(struct stand *s, struct error *err)
{
        int64_t deadline = loop_now_ms(s->bench->loop) + PATIENCE_MS;

        while (s->n_ended < RUNS) {
                int code = s->code < 0 ? s->code : waitq_wait(s->bench->loop, &s->changed, deadline);

                if (s->code < 0)
                        return *err = s->err, s->code;
                if (code == ERR_TIMEOUT)
                        return error_set(err, ERR_TIMEOUT, "only %zu runs have ended", s->n_ended);
                TRY(code);
        }
        return 0;
}

static void report_times(struct stand *s, const char *name)
{
        double took[RUNS];

        for (size_t i = 0; i < RUNS; i++)
                took[i] = (double)(s->run[i].ended - s->run[i].began) / 1e6;
        bench_line(bench_percentile(took, RUNS, 50), "s", "%s_p50_s", name);
        bench_line(bench_percentile(took, RUNS, 90), "s", "%s_p90_s", name);
}

static bool is_any_of(const char *text, const char *const *list)
{
        for (; *list; list++)
                if (text_equal(text, *list))
                        return true;
        return false;
}

/* Leases apart, and what is not the hub-agent's: the members' reports, the making of the runs. */
static bool is_write(const char *verb, const char *resource)
{
        static const char *const verbs[] = {
                "create", "update", "patch", "delete", "deletecollection", NULL
        };
        static const char *const others[] = { "leases", "works/status", NULL };

        return is_any_of(verb, verbs) && !is_any_of(resource, others) &&
               !(text_equal(verb, "create") && text_equal(resource, "clusterstagedupdateruns"));
}

static void report_writes(const json_t *items)
{
        static const char *const of_clusters[] = { "clusterresourcebindings",
                                                   "clusterresourcebindings/status", "works", NULL };
        double clusters = 0, runs = 0;
        size_t i;
        json_t *item;

        json_array_foreach((json_t *)items, i, item) {
                const char *verb = doc_get_string(item, "verb"), *resource = doc_get_string(item, "resource");
                double n = (double)doc_get_int(item, "count", 0);

                if (!is_write(verb, resource))
                        continue;
                *(is_any_of(resource, of_clusters) ? &clusters : &runs) += n;
                bench_line(n / RUNS, "requests", "staged_writes_per_run:%s:%s", verb, resource);
        }
        bench_line(clusters / (RUNS * SHARE), "requests", "staged_writes_per_cluster_and_run");
        bench_line(runs / RUNS, "requests", "staged_writes_per_run_beside_its_clusters");
}

struct usage {
        struct bench_usage hub_agent, devcluster;
};

static int read_usage(struct stand *s, struct usage *ret, struct error *err)
{
        struct world *w = &s->bench->world;

        TRY(bench_usage(w, process_fleet_pid(s->fleet, "hub-agent"), &ret->hub_agent, err));
        return bench_usage(w, process_fleet_pid(s->fleet, "devcluster"), &ret->devcluster, err);
}

static void sample(void *ctx)
{
        struct stand *s = ctx;
        struct error err = { 0 };
        struct usage u;

        while (read_usage(s, &u, &err) == 0) {
                s->peak_private_mb = MAX(s->peak_private_mb, u.hub_agent.private_mb);
                if (fiber_sleep(s->bench->loop, SAMPLE_MS) < 0)
                        return;
        }
}

/* `name` is that of the figures. */
static int run_all(struct stand *s, const char *round, const char *name, struct error *err)
{
        struct fiber_group *sampling = fiber_group_new(s->bench->loop, s->group, "sampling");
        struct usage before, after;

        s->round = round;
        s->n_ended = 0;
        s->peak_private_mb = 0;
        if (!sampling || !fiber_spawn(sampling, "sampling", sample, s))
                return error_no_memory(err);
        TRY(bench_reset_requests(s->hub, err));
        TRY(read_usage(s, &before, err));
        TRY(write_many(s, RUNS, begin_one, err));
        TRY(wait_for_runs(s, err));
        TRY(read_usage(s, &after, err));
        fiber_group_cancel(sampling);
        fiber_group_end(sampling);
        report_times(s, name);
        bench_line((double)(after.hub_agent.cpu_ns - before.hub_agent.cpu_ns) / 1e9, "s",
                   "%s_hub_agent_cpu_s", name);
        bench_line((double)(after.devcluster.cpu_ns - before.devcluster.cpu_ns) / 1e9, "s",
                   "%s_devcluster_cpu_s", name);
        bench_line(s->peak_private_mb, "MiB", "%s_hub_agent_peak_private_mb", name);
        return 0;
}

static int measure_runs(struct stand *s, struct error *err)
{
        AUTO_JSON json_t *items = NULL;

        TRY(write_many(s, RUNS, make_one_placement, err));
        TRY(fiber_sleep(s->bench->loop, SETTLE_MS));
        TRY(run_all(s, "a", "staged_100_first_runs", err));
        TRY(fiber_sleep(s->bench->loop, SETTLE_MS));
        TRY(write_many(s, RUNS, change_one, err));
        TRY(fiber_sleep(s->bench->loop, SETTLE_MS));
        TRY(run_all(s, "b", "staged_100_runs", err));
        TRY(bench_requests(s->hub, &items, err));
        report_writes(items);
        s->round = NULL;
        return fiber_sleep(s->bench->loop, SETTLE_MS);
}

/* ---- approvals ---- */

static void note_change(void *ctx, const struct informer_event *e)
{
        waitq_wake_all(&((struct stand *)ctx)->changed);
}

static bool is_bound(struct stand *s, size_t gate)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct object_list all = { 0 };
        char cluster[32];

        snprintf(cluster, sizeof(cluster), "member-%04zu", gate);
        if (informer_list(s->bindings, &arena, &all) < 0)
                return false;
        for (size_t i = 0; i < all.n; i++) {
                const struct binding *b = (const struct binding *)all.at[i];

                if (b->spec && text_equal(b->spec->target_cluster, cluster))
                        return text_equal(b->spec->state, BINDING_BOUND);
        }
        return false;
}

static bool is_asked(struct stand *s, size_t gate)
{
        char name[64];

        snprintf(name, sizeof(name), GATED "-after-g%zu", gate);
        return informer_get(s->requests, NULL, name);
}

static int await(struct stand *s, bool (*is_so)(struct stand *s, size_t gate), size_t gate, struct error *err)
{
        int64_t deadline = loop_now_ms(s->bench->loop) + PATIENCE_MS / 3;

        while (!is_so(s, gate)) {
                int code = waitq_wait(s->bench->loop, &s->changed, deadline);

                if (code == ERR_TIMEOUT)
                        return error_set(err, ERR_TIMEOUT, "gate %zu of the run with approvals stays", gate);
                TRY(code);
        }
        return 0;
}

/* From just before the approval is sent until the next stage's cluster has got the snapshot. */
static int pass_gate(struct stand *s, size_t gate, double *ret_ms, struct error *err)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        int64_t began;

        TRY(await(s, is_asked, gate, err));
        TRY(fiber_sleep(s->bench->loop, QUIET_MS));
        began = now_us(s);
        TRY(bench_send(
                s->hub, "PATCH",
                arena_printf(&arena, FLEET "clusterapprovalrequests/" GATED "-after-g%zu/status", gate),
                "{\"status\":{\"conditions\":[{\"type\":\"Approved\",\"status\":\"True\",\"reason\":\"lgtm\","
                "\"message\":\"lgtm\",\"lastTransitionTime\":\"2026-01-01T00:00:00Z\","
                "\"observedGeneration\":1}]}}",
                err));
        TRY(await(s, is_bound, gate + 1, err));
        *ret_ms = (double)(now_us(s) - began) / 1000;
        return 0;
}

static int measure_approvals(struct stand *s, struct error *err)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        double took[GATES - 1];

        TRY(make_placement(s, GATED, GATED, "yes", &arena, err));
        TRY(fiber_sleep(s->bench->loop, SETTLE_MS));
        TRY(post_run(s, GATED, GATED, GATED, &arena, err));
        for (size_t i = 0; i + 1 < GATES; i++)
                TRY(pass_gate(s, i, &took[i], err));
        bench_line(bench_percentile(took, GATES - 1, 50), "ms", "approval_to_next_cluster_p50_ms");
        bench_line(bench_percentile(took, GATES - 1, 90), "ms", "approval_to_next_cluster_ms");
        return 0;
}

/* ---- the whole ---- */

static int watch(struct stand *s, const struct kind *kind, const char *selector, informer_handler fn,
                 struct informer **ret, struct error *err)
{
        const struct informer_options o = { .kind = kind,
                                            .label_selector = selector,
                                            .flags = DECODE_PROJECTION };

        *ret = informer_new(s->hub, s->group, &o);
        if (!*ret || informer_add_handler(*ret, fn, s) < 0)
                return error_no_memory(err);
        return informer_wait_synced(*ret, loop_now_ms(s->bench->loop) + PATIENCE_MS);
}

static int watch_all(struct stand *s, struct error *err)
{
        TRY(watch(s, &member_cluster_kind, NULL, note_change, &s->clusters, err));
        TRY(watch(s, &cluster_staged_update_run_kind, NULL, note_run, &s->runs, err));
        TRY(watch(s, &cluster_approval_request_kind, NULL, note_change, &s->requests, err));
        return watch(s, &cluster_resource_binding_kind, LABEL_PARENT_PLACEMENT "=" GATED, note_change,
                     &s->bindings, err);
}

static int measure(struct stand *s, struct error *err)
{
        int64_t began = now_us(s);

        TRY(fleet_set_up(s->fleet, loop_now_ms(s->bench->loop) + PATIENCE_MS, err));
        TRY(s->fleet->ops->client(s->fleet, "hub", &s->hub, err));
        TRY(watch_all(s, err));
        TRY(answering_open(&s->members, s->hub, 0, s->group, err));
        TRY(answering_open_works(&s->members, err));
        TRY(make_fleet(s, err));
        bench_line((double)(now_us(s) - began) / 1e6, "s", "fleet_%d_members_set_up_s", MEMBERS);
        TRY(make_strategies(s, err));
        TRY(measure_runs(s, err));
        return measure_approvals(s, err);
}

static void close_stand(struct stand *s)
{
        struct informer *const all[] = { s->clusters, s->runs, s->bindings, s->requests };

        if (s->members.group)
                answering_close(&s->members);
        for (size_t i = 0; i < ARRAY_LEN(all); i++)
                if (all[i])
                        informer_stop(all[i]);
        fiber_group_end(s->group);
        s->fleet->ops->close(s->fleet);
}

static int body(struct bench *b, struct error *err)
{
        struct stand *s = NEW(struct stand);
        int code;

        if (!s)
                return error_no_memory(err);
        s->bench = b;
        s->group = fiber_group_new(b->loop, b->group, "stand");
        code = s->group ? bench_fleet_open(b, 0, &s->fleet, err) : error_no_memory(err);
        if (code == 0) {
                code = measure(s, err);
                close_stand(s);
        }
        mem_free(s);
        return code;
}

int main(int argc, char **argv)
{
        return bench_main(argc, argv, "bench_staged", body);
}
