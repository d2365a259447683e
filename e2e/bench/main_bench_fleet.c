/* A fleet of real programs (devcluster, hub-agent, three member-agents), as the join scripts make it: what
 * the agents use while idle, how long a placement takes, how many requests it costs, how long 200 at once
 * take, how long a restart.
 *
 *   bench_fleet PROGRAMS SCRATCH
 */
#include <stdio.h>
#include <stdlib.h>

#include "common/base/memory.h"
#include "e2e/bench/placements.h"
#include "e2e/scenarios/process_fleet.h"

enum {
        MEMBERS = 3,
        SEQUENTIAL = 40, /* placements, one after the other */
        BURST = 200,     /* placements at once */
        CAPACITY = SEQUENTIAL + BURST + 2,
        IDLE_MS = 60000, /* a heartbeat of each member */
        SETTLE_MS = 3000,
        PAUSE_MS =
                100, /* between placements, so that none is slowed by the last requests of the one before */
        PATIENCE_MS = 60000,
        SAMPLE_MS = 500,
};

struct run {
        struct bench *bench;
        struct fleet *fleet;
        struct kube_client *hub;
        struct placements placements;
        bool sampling;
        double peak_hub_agent_mb;
};

static int usage(struct run *r, const char *program, struct bench_usage *ret, struct error *err)
{
        return bench_usage(&r->bench->world, process_fleet_pid(r->fleet, program), ret, err);
}

/* ---- idle ---- */

static const char *const watched_programs[] = { "hub-agent", "member-1", "devcluster" };
static const char *const program_names[] = { "hub_agent", "member_agent", "devcluster_4_clusters" };

static void report_idle_requests(const json_t *items, const char *cluster, double minutes, double *other,
                                 double *alive)
{
        size_t i;
        json_t *item;
        json_array_foreach((json_t *)items, i, item) {
                const char *verb = doc_get_string(item, "verb"), *resource = doc_get_string(item, "resource");
                double n = (double)doc_get_int(item, "count", 0) / minutes;
                if (bench_is_write(verb))
                        *(bench_is_sign_of_life(resource) ? alive : other) += n;
                bench_line(n, "per-minute", "idle_requests_%s:%s:%s", cluster, verb, resource);
        }
}

static int measure_idle(struct run *r, struct error *err)
{
        struct bench_usage before[ARRAY_LEN(watched_programs)], after;
        struct kube_client *member;
        double other = 0, alive = 0, minutes = IDLE_MS / 60000.0;
        TRY(r->fleet->ops->client(r->fleet, "member-1", &member, err));
        TRY(bench_reset_requests(r->hub, err));
        TRY(bench_reset_requests(member, err));
        for (size_t i = 0; i < ARRAY_LEN(before); i++)
                TRY(usage(r, watched_programs[i], &before[i], err));
        TRY(fiber_sleep(r->bench->loop, IDLE_MS));
        for (size_t i = 0; i < ARRAY_LEN(before); i++) {
                TRY(usage(r, watched_programs[i], &after, err));
                double ms = (double)(after.cpu_ns - before[i].cpu_ns) / 1e6;
                bench_line(after.private_mb, "MiB", "%s_idle_private_mb", program_names[i]);
                bench_line(after.rss_mb, "MiB", "%s_idle_rss_mb", program_names[i]);
                bench_line(ms / (IDLE_MS / 1000.0), "millicores", "%s_idle_millicores", program_names[i]);
        }
        AUTO_JSON json_t *on_hub = NULL, *on_member = NULL;
        TRY(bench_requests(r->hub, &on_hub, err));
        TRY(bench_requests(member, &on_member, err));
        report_idle_requests(on_hub, "hub", minutes, &other, &alive);
        report_idle_requests(on_member, "member", minutes, &other, &alive);
        bench_line(other, "per-minute", "idle_writes_per_minute");
        bench_line(alive, "per-minute", "idle_heartbeats_and_lease_renewals_per_minute");
        return 0;
}

/* ---- placements one by one ---- */

static void report_latency(struct run *r, size_t first, size_t n, const char *name)
{
        double applied[CAPACITY], available[CAPACITY];
        for (size_t i = 0; i < n; i++) {
                const struct placement_times *t = &r->placements.at[first + i];
                applied[i] = (double)(t->applied - t->began) / 1000;
                available[i] = (double)(t->available - t->began) / 1000;
        }
        static const unsigned percents[] = { 50, 90 };
        for (size_t i = 0; i < ARRAY_LEN(percents); i++) {
                bench_line(bench_percentile(applied, n, percents[i]), "ms", "%s_applied_p%u_ms", name,
                           percents[i]);
                bench_line(bench_percentile(available, n, percents[i]), "ms", "%s_available_p%u_ms", name,
                           percents[i]);
        }
}

/* The benchmark's own: the creates of what it places. */
static double own_requests(const char *verb, const char *resource)
{
        static const char *const created[] = { "namespaces", "configmaps", "deployments",
                                               "clusterresourceplacements" };
        return text_equal(verb, "create") && text_in(resource, created, ARRAY_LEN(created)) ? SEQUENTIAL : 0;
}

static int report_requests(struct run *r, struct error *err)
{
        AUTO_JSON json_t *items = NULL;
        double sum = 0;
        size_t i;
        json_t *item;
        TRY(bench_requests(r->hub, &items, err));
        json_array_foreach(items, i, item) {
                const char *verb = doc_get_string(item, "verb"), *resource = doc_get_string(item, "resource");
                double n = (double)doc_get_int(item, "count", 0) - own_requests(verb, resource);
                if (n <= 0)
                        continue;
                bench_line(n / SEQUENTIAL, "requests", "hub_requests_per_placement:%s:%s", verb, resource);
                if (!bench_is_sign_of_life(resource))
                        sum += n / SEQUENTIAL;
        }
        bench_line(sum, "requests", "hub_requests_per_placement_3_members");
        return 0;
}

static int place_one_by_one(struct run *r, size_t first, size_t n, struct error *err)
{
        struct loop *l = r->bench->loop;
        for (size_t i = first; i < first + n; i++) {
                TRY(placements_prepare(&r->placements, i, err));
                TRY(fiber_sleep(l, PAUSE_MS));
                TRY(placements_begin(&r->placements, i, err));
                TRY(placements_wait(&r->placements, i + 1, loop_now_ms(l) + PATIENCE_MS, err));
        }
        return 0;
}

static int measure_sequential(struct run *r, struct error *err)
{
        TRY(bench_reset_requests(r->hub, err));
        TRY(place_one_by_one(r, 1, SEQUENTIAL, err));
        TRY(fiber_sleep(r->bench->loop, SETTLE_MS));
        report_latency(r, 1, SEQUENTIAL, "placement_3_members");
        return report_requests(r, err);
}

/* ---- placements at once ---- */

static void sample_fiber(void *ctx)
{
        struct run *r = ctx;
        while (r->sampling && fiber_sleep(r->bench->loop, SAMPLE_MS) == 0) {
                struct bench_usage u;
                if (usage(r, "hub-agent", &u, NULL) == 0)
                        r->peak_hub_agent_mb = MAX(r->peak_hub_agent_mb, u.private_mb);
        }
}

static int place_at_once(struct run *r, size_t first, size_t n, struct error *err)
{
        struct loop *l = r->bench->loop;
        for (size_t i = first; i < first + n; i++)
                TRY(placements_prepare(&r->placements, i, err));
        TRY(placements_follow_bindings(&r->placements, first, n * MEMBERS, err));
        TRY(fiber_sleep(l, SETTLE_MS));
        int64_t began = loop_now_us(l);
        for (size_t i = first; i < first + n; i++)
                TRY(placements_begin(&r->placements, i, err));
        TRY(placements_wait(&r->placements, first + n, loop_now_ms(l) + PATIENCE_MS, err));
        bench_line((double)(loop_now_us(l) - began) / 1e6, "s", "placements_%zu_at_once_all_available_s", n);
        return 0;
}

/* Whether statuses keep up with the work: how many placements say Available when half of the bindings do, and
 * how long after its last binding each one does. */
static void report_lag(struct run *r, size_t first, size_t n)
{
        double lag[CAPACITY];
        for (size_t i = 0; i < n; i++) {
                const struct placement_times *t = &r->placements.at[first + i];
                lag[i] = (double)(t->available - t->last_binding) / 1000;
        }
        bench_line(100.0 * (double)(r->placements.n_available_at_half - first) / (double)n, "percent",
                   "burst_%zu_available_at_half_of_bindings", n);
        bench_line(bench_percentile(lag, n, 90), "ms", "burst_%zu_last_binding_to_available_p90_ms", n);
        bench_line(bench_percentile(lag, n, 100), "ms", "burst_%zu_last_binding_to_available_max_ms", n);
}

static void report_status_writes(const json_t *items)
{
        double n = bench_count(items, "patch", "clusterresourcebindings/status") +
                   bench_count(items, "patch", "clusterresourceplacements/status");
        bench_line(n / BURST, "requests", "burst_%d_status_writes_per_placement", BURST);
}

/* CPU time and requests of the burst: what its duration is made of, whatever else the machine does. */
static int report_burst(struct run *r, const struct bench_usage *before, struct error *err)
{
        AUTO_JSON json_t *items = NULL;
        struct bench_usage after;
        size_t i;
        json_t *item;
        for (size_t n = 0; n < ARRAY_LEN(watched_programs); n++) {
                TRY(usage(r, watched_programs[n], &after, err));
                bench_line((double)(after.cpu_ns - before[n].cpu_ns) / 1e9, "s",
                           "placements_%d_at_once_%s_cpu_s", BURST, program_names[n]);
        }
        TRY(bench_requests(r->hub, &items, err));
        json_array_foreach(items, i, item)
                bench_line((double)doc_get_int(item, "count", 0) / BURST, "requests",
                           "hub_requests_per_placement_of_%d:%s:%s", BURST, doc_get_string(item, "verb"),
                           doc_get_string(item, "resource"));
        report_status_writes(items);
        report_lag(r, SEQUENTIAL + 1, BURST);
        return 0;
}

static int measure_burst(struct run *r, struct error *err)
{
        struct bench_usage u, before[ARRAY_LEN(watched_programs)];
        TRY(bench_reset_requests(r->hub, err));
        for (size_t i = 0; i < ARRAY_LEN(before); i++)
                TRY(usage(r, watched_programs[i], &before[i], err));
        r->sampling = true;
        if (!fiber_spawn(r->bench->group, "samples", sample_fiber, r))
                return error_no_memory(err);
        int code = place_at_once(r, SEQUENTIAL + 1, BURST, err);
        r->sampling = false;
        TRY(code);
        TRY(fiber_sleep(r->bench->loop, SETTLE_MS));
        TRY(report_burst(r, before, err));
        TRY(usage(r, "hub-agent", &u, err));
        bench_line(r->peak_hub_agent_mb, "MiB", "hub_agent_peak_private_mb_%d_placements",
                   SEQUENTIAL + BURST + 1);
        bench_line(u.private_mb, "MiB", "hub_agent_private_mb_after_%d_placements", SEQUENTIAL + BURST + 1);
        TRY(usage(r, "member-1", &u, err));
        bench_line(u.private_mb, "MiB", "member_agent_private_mb_after_%d_placements",
                   SEQUENTIAL + BURST + 1);
        return 0;
}

/* ---- restart ---- */

static int measure_restart(struct run *r, struct error *err)
{
        struct loop *l = r->bench->loop;
        size_t last = CAPACITY - 1;
        TRY(placements_prepare(&r->placements, last, err));
        int64_t began = loop_now_us(l);
        TRY(r->fleet->ops->stop_agent(r->fleet, "hub-agent", false, err));
        int64_t stopped = loop_now_us(l);
        TRY(r->fleet->ops->start_agent(r->fleet, "hub-agent", err));
        TRY(placements_begin(&r->placements, last, err));
        TRY(placements_wait(&r->placements, last + 1, loop_now_ms(l) + PATIENCE_MS, err));
        bench_line((double)(stopped - began) / 1e6, "s", "hub_agent_sigterm_to_end_s");
        bench_line((double)(loop_now_us(l) - stopped) / 1e6, "s",
                   "hub_agent_start_to_next_placement_available_s");
        return 0;
}

/* ---- all ---- */

static int measure(struct run *r, struct error *err)
{
        struct loop *l = r->bench->loop;
        int64_t began = loop_now_us(l);
        TRY(fleet_set_up(r->fleet, loop_now_ms(l) + PATIENCE_MS, err));
        bench_line((double)(loop_now_us(l) - began) / 1000, "ms", "fleet_3_members_set_up_ms");
        TRY(r->fleet->ops->client(r->fleet, "hub", &r->hub, err));
        TRY(placements_open(&r->placements, r->hub, r->bench->group, CAPACITY, err));
        TRY(place_one_by_one(r, 0, 1, err));
        TRY(fiber_sleep(l, SETTLE_MS));
        TRY(measure_idle(r, err));
        TRY(measure_sequential(r, err));
        TRY(measure_burst(r, err));
        return measure_restart(r, err);
}

static int body(struct bench *b, struct error *err)
{
        struct run r = { .bench = b };
        TRY(bench_fleet_open(b, MEMBERS, &r.fleet, err));
        int code = measure(&r, err);
        r.sampling = false;
        placements_close(&r.placements);
        r.fleet->ops->close(r.fleet);
        return code;
}

int main(int argc, char **argv)
{
        return bench_main(argc, argv, "bench_fleet", body);
}
