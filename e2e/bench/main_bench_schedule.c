/* What one scheduling cycle over 10,000 clusters costs, of CPU time: the pure function, from what the agent
 * has in memory to what it would write. Prints `bench NAME VALUE UNIT` lines.
 * Usage: bench_schedule [CLUSTERS [NAME]] (default 10000; NAME: that line only, once, for callgrind) */
#include <sys/resource.h>

#include "common/base/memory.h"
#include "e2e/bench/bench.h"
#include "hub-agent/scheduler/scheduler.h"

#define NOW_MS INT64_C(1767225600000) /* 2026-01-01T00:00:00Z */
#define ALIVE "2025-12-31T23:59:30Z"
#define SILENT "2025-12-31T20:00:00Z"

enum { CLUSTERS = 10000, ROUNDS = 9, ZONES = 30, REGIONS = 10, TEXT_MAX = 1 << 16 };

/* One placement and what it has by now. */
struct scene {
        const char *name;
        const char *spread; /* JSON of constraints */
        unsigned wanted;    /* of 10,000 clusters; more than it holds, unless that is obsolete */
        unsigned held;      /* bindings, of 10,000 clusters */
        bool obsolete;      /* of the policy before */
        bool again;         /* after the cycle whose report is written: nothing is to be written any more */
};

#define ZONE "{\"topologyKey\":\"zone\",\"maxSkew\":1,\"whenUnsatisfiable\":\"DoNotSchedule\"}"
#define REGION "{\"topologyKey\":\"region\",\"maxSkew\":2,\"whenUnsatisfiable\":\"ScheduleAnyway\"}"
#define HOST "{\"topologyKey\":\"host\",\"maxSkew\":1,\"whenUnsatisfiable\":\"ScheduleAnyway\"}"

static const struct scene scenes[] = {
        { .name = "", .spread = ZONE "," REGION, .wanted = 100, .held = 1000 },
        { .name = "_none_bound", .spread = ZONE "," REGION, .wanted = 100 },
        { .name = "_new_policy", .spread = ZONE "," REGION, .wanted = 1000, .held = 1000, .obsolete = true },
        { .name = "_unchanged", .spread = ZONE "," REGION, .held = 1000, .again = true },
        { .name = "_unfulfilled", .spread = ZONE "," REGION, .wanted = 100, .held = 10000, .again = true },
        { .name = "_pick_900", .spread = ZONE "," REGION, .wanted = 900 },
        { .name = "_spread_by_host", .spread = HOST "," ZONE, .wanted = 900 },
        { .name = "_no_spread", .spread = "", .wanted = 100, .held = 1000 },
};

struct fleet_view {
        struct arena arena;
        const struct object **clusters;
        unsigned n;
};

static int decode(struct arena *arena, const struct kind *kind, const struct buf *text,
                  const struct object **ret, struct error *err)
{
        struct object *o;

        TRY(buf_status(text, err, "an object"));
        TRY(object_decode_arena(kind, slice_of(text->data), arena, &o, err));
        *ret = o;
        return 0;
}

/* Nine of ten can be used; some are tainted, some silent, some of another environment, some too small. */
static void write_cluster(struct buf *b, unsigned i)
{
        buf_clear(b);
        buf_printf(b,
                   "{\"metadata\":{\"name\":\"cluster-%05u\",\"labels\":{\"env\":\"%s\",\"host\":\"h%u\","
                   "\"owner\":\"team-%u\",\"region\":\"region-%u\",\"tier\":\"%s\",\"zone\":\"zone-%u\"}},"
                   "\"spec\":{\"identity\":{\"kind\":\"User\",\"name\":\"x\"},\"taints\":[%s]},",
                   i, i % 20 ? "prod" : "test", i, i % 37, i * 7 % ZONES % REGIONS, i % 3 ? "gold" : "iron",
                   i * 7 % ZONES,
                   i % 16 == 3   ? "{\"key\":\"repair\",\"value\":\"disk\",\"effect\":\"NoSchedule\"}"
                   : i % 16 == 5 ? "{\"key\":\"old\",\"effect\":\"NoSchedule\"}"
                                 : "");
        buf_printf(b,
                   "\"status\":{\"properties\":{\"kubernetes-fleet.io/node-count\":{\"value\":\"%u\","
                   "\"observationTime\":\"" ALIVE "\"}},\"resourceUsage\":{\"capacity\":{\"cpu\":\"%u\","
                   "\"memory\":\"%uGi\"},\"allocatable\":{\"cpu\":\"%u\",\"memory\":\"%uGi\"},\"available\":"
                   "{\"cpu\":\"%um\",\"memory\":\"%uMi\"},\"observationTime\":\"" ALIVE "\"},",
                   3 + i % 40, 32 + i % 64, 128 + i % 256, 30 + i % 64, 120 + i % 256, 3500 + i * 13 % 60000,
                   2048 + i * 29 % 200000);
        buf_printf(b,
                   "\"agentStatus\":[{\"type\":\"MemberAgent\",\"lastReceivedHeartbeat\":\"%s\","
                   "\"conditions\":[{\"type\":\"Joined\",\"status\":\"True\",\"reason\":\"Joined\","
                   "\"message\":\"\",\"lastTransitionTime\":\"" ALIVE "\"},{\"type\":\"Healthy\",\"status\":"
                   "\"True\",\"reason\":\"Healthy\",\"message\":\"\",\"lastTransitionTime\":\"" ALIVE
                   "\"}]}]}}",
                   i % 50 == 7 ? SILENT : ALIVE);
}

static int make_fleet(struct fleet_view *f, struct error *err)
{
        AUTO_BUF struct buf b;

        buf_init(&b, TEXT_MAX);
        f->clusters = ARENA_NEW_ARRAY(&f->arena, const struct object *, f->n + 1);
        if (!f->clusters)
                return error_no_memory(err);
        for (unsigned i = 0; i < f->n; i++) {
                write_cluster(&b, i);
                TRY(decode(&f->arena, &member_cluster_kind, &b, &f->clusters[i], err));
        }
        return 0;
}

static void write_snapshot(struct buf *b, const struct scene *s, unsigned wanted)
{
        buf_printf(b,
                   "{\"metadata\":{\"name\":\"web-1\",\"generation\":1,\"annotations\":{"
                   "\"kubernetes-fleet.io/CRP-generation\":\"3\","
                   "\"kubernetes-fleet.io/number-of-clusters\":\"%u\"}},\"spec\":{\"policyHash\":\"\","
                   "\"policy\":{\"placementType\":\"PickN\",\"tolerations\":[{\"key\":\"old\",\"operator\":"
                   "\"Exists\"}],\"affinity\":{\"clusterAffinity\":{"
                   "\"requiredDuringSchedulingIgnoredDuringExecution\":{\"clusterSelectorTerms\":[{"
                   "\"labelSelector\":{\"matchLabels\":{\"env\":\"prod\"},\"matchExpressions\":[{\"key\":"
                   "\"tier\",\"operator\":\"In\",\"values\":[\"gold\",\"iron\"]}]},\"propertySelector\":{"
                   "\"matchExpressions\":[{\"name\":\"resources.kubernetes-fleet.io/available-cpu\","
                   "\"operator\":\"Ge\",\"values\":[\"4\"]},{\"name\":\"kubernetes-fleet.io/node-count\","
                   "\"operator\":\"Gt\",\"values\":[\"3\"]}]}}]},"
                   "\"preferredDuringSchedulingIgnoredDuringExecution\":[{\"weight\":50,\"preference\":{"
                   "\"labelSelector\":{\"matchLabels\":{\"tier\":\"gold\"}}}},{\"weight\":80,\"preference\":{"
                   "\"propertySorter\":{\"name\":\"resources.kubernetes-fleet.io/available-memory\","
                   "\"sortOrder\":\"Descending\"}}}]}},\"topologySpreadConstraints\":[%s]}}}",
                   wanted, s->spread);
}

/* Spread over the fleet; no cluster has two. Decisions as the cycle that made them tells them. */
static void write_binding(struct buf *b, const struct scene *s, const struct object *on)
{
        buf_clear(b);
        buf_printf(b,
                   "{\"metadata\":{\"name\":\"web-%1$s\",\"uid\":\"u-%1$s\"},\"spec\":{\"state\":\"Bound\","
                   "\"targetCluster\":\"%1$s\",\"resourceSnapshotName\":\"web-0-snapshot\","
                   "\"schedulingPolicySnapshotName\":\"%2$s\",\"clusterDecision\":{\"clusterName\":\"%1$s\","
                   "\"selected\":true,\"reason\":\"Successfully scheduled resources for placement in "
                   "\\\"%1$s\\\" (affinity score: 70, topology spread score: 0): picked by scheduling policy"
                   "\",\"clusterScore\":{\"affinityScore\":70,\"priorityScore\":0}}}}",
                   on->meta.name, s->obsolete ? "web-0" : "web-1");
}

/* What a scene says of 10,000 clusters, of fewer or more. */
static unsigned scaled(const struct fleet_view *f, unsigned of_all)
{
        return (unsigned)((uint64_t)of_all * f->n / CLUSTERS);
}

static int add_bindings(struct arena *arena, const struct fleet_view *f, const struct scene *s,
                        struct object_list *ret, struct error *err)
{
        unsigned held = scaled(f, s->held), step = held ? f->n / held : 1;
        AUTO_BUF struct buf b;
        const struct object **at = ARENA_NEW_ARRAY(arena, const struct object *, held + 1);

        buf_init(&b, TEXT_MAX);
        if (!at)
                return error_no_memory(err);
        for (unsigned i = 0; i < held; i++) {
                write_binding(&b, s, f->clusters[i * step + i % step]);
                TRY(decode(arena, &cluster_resource_binding_kind, &b, &at[i], err));
        }
        *ret = (struct object_list){ at, held };
        return 0;
}

static int make_input(struct arena *arena, const struct fleet_view *f, const struct scene *s,
                      struct schedule_input *ret, struct error *err)
{
        unsigned held = scaled(f, s->held);
        const struct object *snapshot;
        AUTO_BUF struct buf b;

        buf_init(&b, TEXT_MAX);
        *ret = (struct schedule_input){ .placement_name = "web",
                                        .placement_uid = "7c1d7bd4-63b5-4b35-9a1f-0e6f8a8f8f11",
                                        .clusters = { f->clusters, f->n },
                                        .now_ms = NOW_MS };
        TRY(add_bindings(arena, f, s, &ret->bindings, err));
        write_snapshot(&b, s, scaled(f, s->wanted) + (s->obsolete ? 0 : held));
        TRY(decode(arena, &cluster_scheduling_policy_snapshot_kind, &b, &snapshot, err));
        ret->snapshot = (const struct policy_snapshot *)snapshot;
        return 0;
}

static int64_t cpu_us(void)
{
        struct rusage u;

        getrusage(RUSAGE_SELF, &u);
        return (int64_t)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1000000 + u.ru_utime.tv_usec +
               u.ru_stime.tv_usec;
}

/* The snapshot as it is once the plan's report is written. */
static int write_report(struct arena *arena, const struct schedule_plan *plan, struct schedule_input *in,
                        struct error *err)
{
        struct policy_snapshot *told = ARENA_NEW(arena, struct policy_snapshot);
        struct policy_snapshot_status *status = ARENA_NEW(arena, struct policy_snapshot_status);
        struct condition *scheduled = ARENA_NEW(arena, struct condition);

        if (!told || !status || !scheduled)
                return error_no_memory(err);
        *scheduled = plan->scheduled;
        *status = (struct policy_snapshot_status){
                .observed_crp_generation = OPT_INT(plan->observed_generation),
                .conditions = { scheduled, 1 },
                .target_clusters = { plan->decisions, (uint32_t)plan->n_decisions },
        };
        *told = *in->snapshot;
        told->status = status;
        in->snapshot = told;
        return 0;
}

static int check(const struct fleet_view *f, const struct scene *s, const struct schedule_plan *p,
                 struct error *err)
{
        if (s->again ? p->write_status || p->n_create + p->n_patch + p->unschedule.n > 0
                     : p->n_create + p->n_patch != scaled(f, s->wanted))
                return error_set(err, ERR_INTERNAL, "%s: %zu picks, %zu bindings go: %s", s->name,
                                 p->n_create + p->n_patch, p->unschedule.n, p->scheduled.message);
        return 0;
}

static int by_value(const void *a, const void *b)
{
        double x = *(const double *)a, y = *(const double *)b;

        return (x > y) - (x < y);
}

static int measure(const struct fleet_view *f, const struct scene *s, unsigned rounds, struct error *err)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct schedule_plan plan;
        struct schedule_input in;
        double took[ROUNDS];

        TRY(make_input(&arena, f, s, &in, err));
        if (s->again) {
                TRY(schedule_cycle(&arena, &in, &plan, err));
                TRY(write_report(&arena, &plan, &in, err));
        }
        for (unsigned i = 0; i < rounds; i++) {
                AUTO_ARENA struct arena own = ARENA_INIT;
                int64_t began = cpu_us();

                TRY(schedule_cycle(&own, &in, &plan, err));
                took[i] = (double)(cpu_us() - began) / 1e3;
                TRY(check(f, s, &plan, err));
        }
        qsort(took, rounds, sizeof(*took), by_value);
        bench_line(took[rounds / 2], "ms", "schedule_%u_clusters%s_ms", f->n, s->name);
        return 0;
}

static int measure_all(unsigned clusters, const char *only, struct error *err)
{
        struct fleet_view f = { .arena = { .limit = (size_t)1 << 30 }, .n = clusters };
        int code = make_fleet(&f, err);

        for (size_t i = 0; code == 0 && i < ARRAY_LEN(scenes); i++)
                if (!only || text_equal(only, scenes[i].name))
                        code = measure(&f, &scenes[i], only ? 1 : ROUNDS, err);
        arena_free(&f.arena);
        return code;
}

int main(int argc, char **argv)
{
        uint64_t clusters = CLUSTERS;
        struct error err = { 0 };

        mem_hook_libraries();
        if (argc > 3 || (argc > 1 && (!text_parse_u64(argv[1], &clusters) || clusters > 10 * CLUSTERS))) {
                (void)fprintf(stderr, "usage: bench_schedule [CLUSTERS [NAME]]\n");
                return 2;
        }
        if (measure_all((unsigned)clusters, argc > 2 ? argv[2] : NULL, &err) < 0) {
                (void)fprintf(stderr, "bench_schedule: %s\n", err.text);
                return 1;
        }
        return 0;
}
