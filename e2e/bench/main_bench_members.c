/* Placements on a hundred members: devcluster and hub-agent as programs of their own, the hundred
 * member-agents as fibers of this one, each with its own connections, talking TLS to devcluster like the real
 * ones (they are the same code; a process each would not fit a small machine).
 *
 *   bench_members PROGRAMS SCRATCH
 */
#include <stdio.h>
#include <unistd.h>

#include "common/base/memory.h"
#include "e2e/bench/placements.h"
#include "e2e/scenarios/process_fleet.h"
#include "member-agent/member_agent.h"

enum {
        MEMBERS = 100,
        PLACEMENTS = 10, /* one after the other */
        SETTLE_MS = 2000,
        PATIENCE_MS = 120000,
};

struct inside_agent {
        struct mixed_fleet *mixed;
        char name[32];
        struct world world;
        struct http_endpoint hub, member;
        struct fiber_group *group;
        struct error err;
};

/* A fleet of processes whose members run here instead. */
struct mixed_fleet {
        struct fleet fleet;
        struct fleet *programs;
        struct bench *bench;
        struct log log;
        struct inside_agent agents[MEMBERS];
};

static struct mixed_fleet *of(struct fleet *f)
{
        return container_of(f, struct mixed_fleet, fleet);
}

static int get_client(struct fleet *f, const char *cluster, struct kube_client **ret, struct error *err)
{
        return of(f)->programs->ops->client(of(f)->programs, cluster, ret, err);
}

static void run_member(void *ctx)
{
        struct inside_agent *a = ctx;
        const struct member_agent_options o = { .world = &a->world,
                                                .log = &a->mixed->log,
                                                .member_name = a->name,
                                                .hub = &a->hub,
                                                .member = &a->member,
                                                .state_path = ":memory:",
                                                .metrics_port = -1,
                                                .health_port = -1 };
        if (member_agent_run(&o, &a->err) < 0 && a->err.code != ERR_CANCELLED)
                fprintf(stderr, "%s: %s\n", a->name, a->err.text);
}

static int copy_texts(struct http_endpoint *to, const struct http_endpoint *from, bool with_certificate)
{
        to->base_url = mem_strdup(from->base_url);
        to->ca_pem = mem_strdup(from->ca_pem);
        if (with_certificate) {
                to->client_cert_pem = mem_strdup(from->client_cert_pem);
                to->client_key_pem = mem_strdup(from->client_key_pem);
        }
        bool whole = to->base_url && to->ca_pem &&
                     (!with_certificate || (to->client_cert_pem && to->client_key_pem));
        return whole ? 0 : ERR_NO_MEMORY;
}

static int start_inside(struct mixed_fleet *m, struct inside_agent *a, const char *name, struct error *err)
{
        struct kube_client *hub, *own;
        struct loop *l = m->bench->loop;
        snprintf(a->name, sizeof(a->name), "%s", name);
        a->mixed = m;
        TRY(get_client(&m->fleet, "hub", &hub, err));
        TRY(get_client(&m->fleet, name, &own, err));
        if (copy_texts(&a->hub, hub->endpoint, false) < 0 || copy_texts(&a->member, own->endpoint, true) < 0)
                return error_no_memory(err);
        TRY(fleet_member_token(&m->fleet, name, 86400, &a->hub.bearer_token, err));
        world_init_real(&a->world, l, m->bench->log_sink);
        a->world.transport = http_transport_curl(&a->world, err);
        if (!a->world.transport)
                return err->code;
        a->group = fiber_group_new(l, m->bench->group, a->name);
        if (!a->group || !fiber_spawn(a->group, a->name, run_member, a))
                return error_no_memory(err);
        return 0;
}

static int start_agent(struct fleet *f, const char *name, struct error *err)
{
        struct mixed_fleet *m = of(f);
        if (text_equal(name, "hub-agent"))
                return m->programs->ops->start_agent(m->programs, name, err);
        for (size_t i = 0; i < MEMBERS; i++)
                if (!m->agents[i].name[0])
                        return start_inside(m, &m->agents[i], name, err);
        return error_set(err, ERR_LIMIT, "more than %d members", MEMBERS);
}

static struct fleet *close_mixed(struct fleet *f)
{
        struct mixed_fleet *m = of(f);
        for (size_t i = 0; i < MEMBERS; i++)
                if (m->agents[i].group)
                        fiber_group_cancel(m->agents[i].group);
        for (size_t i = 0; i < MEMBERS; i++) {
                struct inside_agent *a = &m->agents[i];
                fiber_group_end(a->group);
                http_transport_free(a->world.transport);
                http_endpoint_free(&a->hub);
                http_endpoint_free(&a->member);
        }
        m->programs->ops->close(m->programs);
        mem_free(m);
        return NULL;
}

static const struct fleet_ops ops = { .client = get_client,
                                      .start_agent = start_agent,
                                      .close = close_mixed };

/* ---- measuring ---- */

static int place(struct placements *p, struct error *err)
{
        struct loop *l = p->hub->world->loop;
        for (size_t i = 0; i < PLACEMENTS; i++) {
                TRY(placements_prepare(p, i, err));
                TRY(fiber_sleep(l, SETTLE_MS / 4));
                TRY(placements_begin(p, i, err));
                TRY(placements_wait(p, i + 1, loop_now_ms(l) + PATIENCE_MS, err));
        }
        return 0;
}

static void report(const struct placements *p)
{
        double applied[PLACEMENTS], available[PLACEMENTS];
        for (size_t i = 0; i < PLACEMENTS; i++) {
                applied[i] = (double)(p->at[i].applied - p->at[i].began) / 1000;
                available[i] = (double)(p->at[i].available - p->at[i].began) / 1000;
        }
        bench_line(bench_percentile(applied, PLACEMENTS, 50), "ms", "placement_100_members_applied_p50_ms");
        bench_line(bench_percentile(applied, PLACEMENTS, 90), "ms", "placement_100_members_applied_p90_ms");
        bench_line(bench_percentile(available, PLACEMENTS, 50), "ms", "placement_100_members_p50_ms");
        bench_line(bench_percentile(available, PLACEMENTS, 90), "ms", "placement_100_members_p90_ms");
}

struct cpu {
        struct bench_usage hub_agent, devcluster, members;
};

static int read_cpu(struct mixed_fleet *m, struct cpu *ret, struct error *err)
{
        struct world *w = &m->bench->world;
        TRY(bench_usage(w, process_fleet_pid(m->programs, "hub-agent"), &ret->hub_agent, err));
        TRY(bench_usage(w, process_fleet_pid(m->programs, "devcluster"), &ret->devcluster, err));
        return bench_usage(w, (int)getpid(), &ret->members, err);
}

/* CPU time does not depend on what else the machine does, so it tells more than the latency. */
static void report_cpu(const struct cpu *from, const struct cpu *to)
{
        const double per = 1e6 * PLACEMENTS;
        bench_line((double)(to->hub_agent.cpu_ns - from->hub_agent.cpu_ns) / per, "ms",
                   "placement_100_members_hub_agent_cpu_ms");
        bench_line((double)(to->members.cpu_ns - from->members.cpu_ns) / per, "ms",
                   "placement_100_members_100_member_agents_cpu_ms");
        bench_line((double)(to->devcluster.cpu_ns - from->devcluster.cpu_ns) / per, "ms",
                   "placement_100_members_devcluster_cpu_ms");
        bench_line(to->hub_agent.private_mb, "MiB", "hub_agent_100_members_private_mb");
}

static int measure(struct mixed_fleet *m, struct placements *p, struct error *err)
{
        struct kube_client *hub;
        struct cpu before, after;
        struct loop *l = m->bench->loop;
        int64_t began = loop_now_us(l);
        TRY(fleet_set_up(&m->fleet, loop_now_ms(l) + PATIENCE_MS, err));
        bench_line((double)(loop_now_us(l) - began) / 1e6, "s", "fleet_100_members_set_up_s");
        TRY(get_client(&m->fleet, "hub", &hub, err));
        TRY(placements_open(p, hub, m->bench->group, PLACEMENTS, err));
        TRY(fiber_sleep(l, SETTLE_MS));
        TRY(bench_reset_requests(hub, err));
        TRY(read_cpu(m, &before, err));
        TRY(place(p, err));
        TRY(fiber_sleep(l, SETTLE_MS));
        TRY(read_cpu(m, &after, err));
        AUTO_JSON json_t *items = NULL;
        TRY(bench_requests(hub, &items, err));
        report(p);
        report_cpu(&before, &after);
        bench_line(bench_count(items, "patch", "clusterresourceplacements/status") / PLACEMENTS, "requests",
                   "placement_100_members_placement_status_writes");
        bench_line(bench_count(items, "patch", "clusterresourcebindings/status") / PLACEMENTS, "requests",
                   "placement_100_members_binding_status_writes");
        return 0;
}

static int body(struct bench *b, struct error *err)
{
        struct mixed_fleet *m = NEW(struct mixed_fleet);
        struct placements p = { 0 };
        if (!m)
                return error_no_memory(err);
        m->bench = b;
        m->log = (struct log){ .sink = b->log_sink };
        int code = bench_fleet_open(b, MEMBERS, &m->programs, err);
        if (code < 0) {
                mem_free(m);
                return code;
        }
        m->fleet = (struct fleet){ .ops = &ops,
                                   .world = &b->world,
                                   .log = &m->log,
                                   .n_members = MEMBERS,
                                   .n_hub_agents = 1,
                                   .heartbeat_s = m->programs->heartbeat_s };
        code = measure(m, &p, err);
        placements_close(&p);
        close_mixed(&m->fleet);
        return code;
}

int main(int argc, char **argv)
{
        return bench_main(argc, argv, "bench_members", body);
}
