/* ClusterObjectSets of a thousand objects: how soon they are rolled out, beside kubectl's apply of the same,
 * whether an object is ever missing while the next revision takes over, what twenty of them cost when nothing
 * happens. devcluster, hub-agent and the member-agent are programs; the sets are made on the member.
 *
 *   bench_sets PROGRAMS SCRATCH
 */
#include <stdio.h>
#include <string.h>

#include "common/base/map.h"
#include "common/base/memory.h"
#include "common/ctrl/informer.h"
#include "e2e/bench/bench.h"
#include "e2e/scenarios/process_fleet.h"
#include "member-agent/watch/follower.h"
#include "proto/gen/kinds.h"
#include "proto/names.h"

enum {
        PHASES = 20,
        EACH = 50, /* objects of a phase */
        SETS = 20,
        TURNS = 3, /* sets that are compared with kubectl; the middle one counts */
        PADDING_BYTES = 512,
        SETTLE_MS = 20000,
        IDLE_MS = 60000,
        PATIENCE_MS = 120000,
        OUTPUT_BYTES = 1 << 20,
};

struct run {
        struct bench *bench;
        struct fleet *fleet;
        struct kube_client *hub, *member;
        struct kube_resource sets;
        struct informer *seen; /* sets of the member */
        struct map missing;    /* ConfigMap -> when it went */
        double gap_ms;         /* the longest that one was */
        char padding[PADDING_BYTES + 1];
};

static const struct kube_resource config_maps = { "", "v1", "configmaps", "ConfigMap", true };

/* ---- what is made ---- */

static json_t *config_map(const struct run *r, const char *set, size_t i, int revision)
{
        char name[64], value[16];
        snprintf(name, sizeof(name), "%s-%zu", set, i);
        snprintf(value, sizeof(value), "%d", revision);
        return json_pack("{s:s, s:s, s:{s:s, s:s}, s:{s:s, s:s}}", "apiVersion", "v1", "kind", "ConfigMap",
                         "metadata", "name", name, "namespace", "default", "data", "k", value, "padding",
                         r->padding);
}

static json_t *phases_of(const struct run *r, const char *owner, int revision)
{
        json_t *phases = json_array();
        for (size_t i = 0; i < PHASES; i++) {
                json_t *objects = json_array();
                char name[32];
                snprintf(name, sizeof(name), "phase-%zu", i);
                for (size_t k = 0; k < EACH; k++)
                        json_array_append_new(
                                objects,
                                json_pack("{s:o}", "object", config_map(r, owner, i * EACH + k, revision)));
                json_array_append_new(phases, json_pack("{s:s, s:o}", "name", name, "objects", objects));
        }
        return phases;
}

static int make_set(struct run *r, const char *owner, int revision, struct error *err)
{
        char name[64];
        snprintf(name, sizeof(name), "%s-%d", owner, revision);
        AUTO_JSON json_t *set = json_pack(
                "{s:s, s:s, s:{s:s, s:{s:s}}, s:{s:s, s:i, s:s, s:o}}", "apiVersion",
                "olm.operatorframework.io/v1", "kind", "ClusterObjectSet", "metadata", "name", name, "labels",
                LABEL_SET_OWNER_NAME, owner, "spec", "lifecycleState", "Active", "revision", revision,
                "collisionProtection", "Prevent", "phases", phases_of(r, owner, revision));
        return set ? kube_doc_create(r->member, &r->sets, NULL, set, NULL, NULL, err) : error_no_memory(err);
}

static bool says(const struct run *r, const char *name, const char *reason)
{
        const struct cluster_object_set *s =
                (const struct cluster_object_set *)(const void *)informer_get(r->seen, NULL, name);
        const struct condition *c =
                s && s->status ? condition_find(&s->status->conditions, CONDITION_PROGRESSING) : NULL;
        return c && text_equal(c->reason, reason);
}

static int wait_until(struct run *r, const char *owner, int revision, const char *reason, struct error *err)
{
        int64_t deadline = loop_now_ms(r->bench->loop) + PATIENCE_MS;
        char name[64];
        snprintf(name, sizeof(name), "%s-%d", owner, revision);
        while (!says(r, name, reason)) {
                if (loop_now_ms(r->bench->loop) > deadline)
                        return error_set(err, ERR_TIMEOUT, "set %s does not say %s", name, reason);
                TRY(fiber_sleep(r->bench->loop, 1));
        }
        return 0;
}

static int roll_out(struct run *r, const char *owner, int revision, double *ret_s, struct error *err)
{
        int64_t began = loop_now_us(r->bench->loop);
        TRY(make_set(r, owner, revision, err));
        TRY(wait_until(r, owner, revision, REASON_SET_SUCCEEDED, err));
        *ret_s = (double)(loop_now_us(r->bench->loop) - began) / 1e6;
        return 0;
}

/* ---- a rollout, and kubectl's ---- */

static int write_manifests(struct run *r, const char *name, char path[512], struct error *err)
{
        AUTO_JSON json_t *items = json_array();
        for (size_t i = 0; i < PHASES * EACH; i++)
                json_array_append_new(items, config_map(r, name, i, 1));
        AUTO_JSON json_t *list =
                json_pack("{s:s, s:s, s:O}", "apiVersion", "v1", "kind", "List", "items", items);
        snprintf(path, 512, "%s/%s.json", r->bench->scratch, name);
        return list && json_dump_file(list, path, JSON_COMPACT) == 0
                       ? 0
                       : error_set(err, ERR_SYSTEM, "%s cannot be written", path);
}

static int kubectl_apply(struct run *r, const char *path, double *ret_s, struct error *err)
{
        char config[512];
        snprintf(config, sizeof(config), "%s/kubeconfig", r->bench->scratch);
        const char *const argv[] = { "kubectl", "--kubeconfig",  config, "--context", "member-1",
                                     "apply",   "--server-side", "-f",   path,        NULL };
        const struct world_command command = { .argv = argv, .max_output = OUTPUT_BYTES };
        AUTO_FREE char *output = NULL;
        int64_t began = loop_now_us(r->bench->loop);
        size_t n;
        int code;
        TRY(r->bench->world.process->run(r->bench->world.ctx, &command, &output, &n, &code, err));
        *ret_s = (double)(loop_now_us(r->bench->loop) - began) / 1e6;
        return code == 0 ? 0 : error_set(err, ERR_SYSTEM, "kubectl apply ended with %d", code);
}

static int usage(struct run *r, struct bench_usage *ret, struct error *err)
{
        return bench_usage(&r->bench->world, process_fleet_pid(r->fleet, "member-1"), ret, err);
}

static int cpu_ms(struct run *r, const char *program, double *ret, struct error *err)
{
        struct bench_usage u;
        TRY(bench_usage(&r->bench->world, process_fleet_pid(r->fleet, program), &u, err));
        *ret = (double)u.cpu_ns / 1e6;
        return 0;
}

static const char *owner_name(char ret[32], int i)
{
        snprintf(ret, 32, "app-%d", i);
        return ret;
}

static int measure_rollout(struct run *r, struct error *err)
{
        double sets[TURNS], kubectl[TURNS], cpu[TURNS], kubectl_cpu[TURNS];
        for (int i = 0; i < TURNS; i++) {
                char owner[32], other[32], path[512];
                double before, between, after;
                snprintf(other, sizeof(other), "by-kubectl-%d", i);
                TRY(write_manifests(r, other, path, err));
                TRY(cpu_ms(r, "devcluster", &before, err));
                TRY(roll_out(r, owner_name(owner, i), 1, &sets[i], err));
                TRY(cpu_ms(r, "devcluster", &between, err));
                TRY(kubectl_apply(r, path, &kubectl[i], err));
                TRY(cpu_ms(r, "devcluster", &after, err));
                cpu[i] = between - before;
                kubectl_cpu[i] = after - between;
        }
        double ours = bench_percentile(sets, TURNS, 50), theirs = bench_percentile(kubectl, TURNS, 50);
        bench_line(ours, "s", "object_set_%d_objects_s", PHASES * EACH);
        bench_line(theirs, "s", "kubectl_apply_%d_objects_s", PHASES * EACH);
        bench_line(ours / theirs, "ratio", "object_set_%d_objects_vs_kubectl_ratio", PHASES * EACH);
        bench_line(bench_percentile(cpu, TURNS, 50), "ms", "object_set_%d_objects_server_cpu_ms",
                   PHASES * EACH);
        bench_line(bench_percentile(kubectl_cpu, TURNS, 50), "ms", "kubectl_apply_%d_objects_server_cpu_ms",
                   PHASES * EACH);
        return 0;
}

/* Since they were reset. */
static int print_requests(struct run *r, const char *what, struct error *err)
{
        static const char *const verbs[] = { "get", "create", "patch", "update", "delete" };
        AUTO_JSON json_t *items = NULL;
        TRY(bench_requests(r->member, &items, err));
        for (size_t i = 0; i < ARRAY_LEN(verbs); i++)
                bench_line(bench_count(items, verbs[i], "configmaps"), "requests",
                           "object_set_%d_objects_%srequests:%s", PHASES * EACH, what, verbs[i]);
        return 0;
}

/* What does not depend on what else runs. */
static int count(struct run *r, struct error *err)
{
        struct bench_usage before, after;
        double s;
        TRY(usage(r, &before, err));
        TRY(bench_reset_requests(r->member, err));
        TRY(roll_out(r, "counted", 1, &s, err));
        TRY(usage(r, &after, err));
        bench_line((double)(after.cpu_ns - before.cpu_ns) / 1e6, "ms", "object_set_%d_objects_cpu_ms",
                   PHASES * EACH);
        return print_requests(r, "", err);
}

/* ---- a handover ---- */

static void on_config_map(void *ctx, const struct object *o, bool deleted)
{
        struct run *r = ctx;
        int64_t *since = map_get(&r->missing, o->meta.name), now = loop_now_us(r->bench->loop);
        if (since && !deleted) {
                r->gap_ms = MAX(r->gap_ms, (double)(now - *since) / 1e3);
                map_remove(&r->missing, o->meta.name);
        } else if (deleted && !since && (since = NEW(int64_t))) {
                *since = now;
                if (map_put(&r->missing, o->meta.name, since) < 0)
                        mem_free(since);
        }
}

static void nothing(void *ctx)
{
}

static int measure_handover(struct run *r, struct error *err)
{
        const struct follower_options o = { .kube = r->member,
                                            .kind = &partial_object_kind,
                                            .resource = &config_maps,
                                            .metadata_only = true,
                                            .begin = nothing,
                                            .object = on_config_map,
                                            .end = nothing,
                                            .ctx = r };
        struct follower *f = follower_new(r->bench->group, &o, err);
        double s;
        int code;
        if (!f)
                return err->code;
        while (!follower_current(f))
                TRY(fiber_sleep(r->bench->loop, 1));
        code = bench_reset_requests(r->member, err);
        if (code == 0)
                code = roll_out(r, "app-0", 2, &s, err);
        if (code == 0)
                code = print_requests(r, "handover_", err);
        if (code == 0)
                code = wait_until(r, "app-0", 1, REASON_SET_ARCHIVED, err);
        if (code == 0)
                code = fiber_sleep(r->bench->loop, 1000);
        follower_stop(f);
        TRY(code);
        if (map_count(&r->missing) > 0)
                return error_set(err, ERR_INVALID, "%u objects are gone after the handover",
                                 map_count(&r->missing));
        bench_line(s, "s", "object_set_%d_objects_handover_s", PHASES * EACH);
        bench_line(r->gap_ms, "ms", "object_set_handover_gap_ms");
        return 0;
}

/* ---- twenty sets at rest ---- */

static double writes_of(const json_t *items)
{
        double sum = 0;
        size_t i;
        json_t *item;
        json_array_foreach((json_t *)items, i, item) {
                const char *verb = doc_get_string(item, "verb"), *resource = doc_get_string(item, "resource");
                if (bench_is_write(verb) && !bench_is_sign_of_life(resource) &&
                    !text_equal(resource, "serviceaccounts/token"))
                        sum += (double)doc_get_int(item, "count", 0);
        }
        return sum;
}

static int member_usage(struct run *r, const char *what, struct error *err)
{
        struct bench_usage u;
        TRY(usage(r, &u, err));
        bench_line(u.private_mb, "MiB", "member_%d_sets_of_%d_objects_%sprivate_mb", SETS, PHASES * EACH,
                   what);
        return 0;
}

static int measure_rest(struct run *r, struct error *err)
{
        AUTO_JSON json_t *on_hub = NULL, *on_member = NULL;
        double s;
        for (int i = TURNS; i < SETS; i++) {
                char owner[32];
                TRY(roll_out(r, owner_name(owner, i), 1, &s, err));
        }
        TRY(fiber_sleep(r->bench->loop, SETTLE_MS));
        TRY(bench_reset_requests(r->hub, err));
        TRY(bench_reset_requests(r->member, err));
        TRY(fiber_sleep(r->bench->loop, IDLE_MS));
        TRY(bench_requests(r->hub, &on_hub, err));
        TRY(bench_requests(r->member, &on_member, err));
        bench_line(writes_of(on_hub) + writes_of(on_member), "requests",
                   "object_sets_idle_writes_per_minute");
        return member_usage(r, "", err);
}

static int measure_restart(struct run *r, struct error *err)
{
        AUTO_JSON json_t *on_member = NULL;
        TRY(r->fleet->ops->stop_agent(r->fleet, "member-1", true, err));
        TRY(bench_reset_requests(r->member, err));
        TRY(r->fleet->ops->start_agent(r->fleet, "member-1", err));
        TRY(fiber_sleep(r->bench->loop, SETTLE_MS));
        TRY(bench_requests(r->member, &on_member, err));
        bench_line(writes_of(on_member), "requests", "restart_%d_sets_writes", SETS);
        return member_usage(r, "started_again_", err);
}

static int watch_sets(struct run *r, struct error *err)
{
        const struct informer_options o = { .kind = &cluster_object_set_kind, .flags = DECODE_PROJECTION };
        r->seen = informer_new(r->member, r->bench->group, &o);
        if (!r->seen)
                return error_no_memory(err);
        return informer_wait_synced(r->seen, loop_now_ms(r->bench->loop) + PATIENCE_MS);
}

static int measure(struct run *r, struct error *err)
{
        TRY(fleet_set_up(r->fleet, loop_now_ms(r->bench->loop) + PATIENCE_MS, err));
        TRY(r->fleet->ops->client(r->fleet, "hub", &r->hub, err));
        TRY(r->fleet->ops->client(r->fleet, "member-1", &r->member, err));
        r->sets = kube_resource_of(&cluster_object_set_kind);
        TRY(watch_sets(r, err));
        TRY(measure_rollout(r, err));
        TRY(measure_handover(r, err));
        TRY(count(r, err));
        TRY(measure_rest(r, err));
        return measure_restart(r, err);
}

static int body(struct bench *b, struct error *err)
{
        struct run *r = NEW(struct run);
        if (!r)
                return error_no_memory(err);
        r->bench = b;
        memset(r->padding, 'x', PADDING_BYTES);
        map_init(&r->missing, MAP_OWN_KEYS, mem_free);
        int code = bench_fleet_open(b, 1, &r->fleet, err);
        if (code == 0) {
                code = measure(r, err);
                if (r->seen)
                        informer_stop(r->seen);
                r->fleet->ops->close(r->fleet);
        }
        map_free(&r->missing);
        mem_free(r);
        return code;
}

int main(int argc, char **argv)
{
        return bench_main(argc, argv, "bench_sets", body);
}
