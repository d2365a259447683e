/* One member agent at its own work: a thousand manifests in two hundred Works, what its start costs then, how
 * soon a user's edit is set back, and how a first apply compares with kubectl's. devcluster, hub-agent and
 * the member-agent are programs; the Works are written by this one.
 *
 *   bench_member PROGRAMS SCRATCH
 */
#include <stdio.h>
#include <string.h>

#include "common/base/memory.h"
#include "common/ctrl/informer.h"
#include "e2e/bench/bench.h"
#include "e2e/scenarios/process_fleet.h"
#include "proto/gen/kinds.h"

enum {
        WORKS = 200,
        EACH = 5,   /* manifests of a Work: a thousand in all */
        MANY = 300, /* of the Work whose first apply is compared */
        TURNS = 3,  /* of that; the middle one counts */
        EDITS = 40,
        PADDING_BYTES = 1024,
        SETTLE_MS = 20000, /* held reports, looks and heartbeats of the start are over */
        PATIENCE_MS = 120000,
        OUTPUT_BYTES = 1 << 20,
};

struct run {
        struct bench *bench;
        struct fleet *fleet;
        struct kube_client *hub, *member;
        struct kube_resource works;
        struct informer *seen; /* Works of the member */
        char padding[PADDING_BYTES + 1];
};

static const struct kube_resource config_maps = { "", "v1", "configmaps", "ConfigMap", true };

static json_t *config_map(const struct run *r, const char *set, size_t i)
{
        char name[64];
        snprintf(name, sizeof(name), "%s-%zu", set, i);
        return json_pack("{s:s, s:s, s:{s:s, s:s}, s:{s:s, s:s}}", "apiVersion", "v1", "kind", "ConfigMap",
                         "metadata", "name", name, "namespace", "default", "data", "k", "1", "padding",
                         r->padding);
}

static json_t *config_maps_of(const struct run *r, const char *set, size_t n)
{
        json_t *all = json_array();
        for (size_t i = 0; i < n; i++)
                json_array_append_new(all, config_map(r, set, i));
        return all;
}

static int place(struct run *r, const char *name, size_t n, struct error *err)
{
        AUTO_JSON json_t *work =
                json_pack("{s:s, s:s, s:{s:s}, s:{s:{s:o}}}", "apiVersion",
                          "placement.kubernetes-fleet.io/v1beta1", "kind", "Work", "metadata", "name", name,
                          "spec", "workload", "manifests", config_maps_of(r, name, n));
        return work ? kube_doc_create(r->hub, &r->works, "fleet-member-member-1", work, NULL, NULL, err)
                    : error_no_memory(err);
}

static bool is_available(const struct run *r, const char *name)
{
        const struct work *w =
                (const struct work *)(const void *)informer_get(r->seen, "fleet-member-member-1", name);
        return w && w->status &&
               condition_is_true(&w->status->conditions, "Available", w->object.meta.generation);
}

/* By a watch: to ask for a large Work again and again would be what is measured. */
static int wait_until_available(struct run *r, const char *name, struct error *err)
{
        int64_t deadline = loop_now_ms(r->bench->loop) + PATIENCE_MS;
        while (!is_available(r, name)) {
                if (loop_now_ms(r->bench->loop) > deadline)
                        return error_set(err, ERR_TIMEOUT, "Work %s is not available", name);
                TRY(fiber_sleep(r->bench->loop, 1));
        }
        return 0;
}

static int member_usage(struct run *r, struct bench_usage *ret, struct error *err)
{
        return bench_usage(&r->bench->world, process_fleet_pid(r->fleet, "member-1"), ret, err);
}

/* ---- a first apply, and kubectl's ---- */

static int write_manifests(struct run *r, const char *set, char path[512], struct error *err)
{
        AUTO_JSON json_t *list = json_pack("{s:s, s:s, s:o}", "apiVersion", "v1", "kind", "List", "items",
                                           config_maps_of(r, set, MANY));
        snprintf(path, 512, "%s/%s.json", r->bench->scratch, set);
        return list && json_dump_file(list, path, JSON_COMPACT) == 0
                       ? 0
                       : error_set(err, ERR_SYSTEM, "%s cannot be written", path);
}

static int kubectl_apply(struct run *r, const char *path, struct error *err)
{
        char config[512];
        snprintf(config, sizeof(config), "%s/kubeconfig", r->bench->scratch);
        const char *const argv[] = { "kubectl", "--kubeconfig",  config, "--context", "member-1",
                                     "apply",   "--server-side", "-f",   path,        NULL };
        const struct world_command command = { .argv = argv, .max_output = OUTPUT_BYTES };
        AUTO_FREE char *output = NULL;
        size_t n;
        int code;
        TRY(r->bench->world.process->run(r->bench->world.ctx, &command, &output, &n, &code, err));
        return code == 0 ? 0 : error_set(err, ERR_SYSTEM, "kubectl apply ended with %d", code);
}

static int compare_once(struct run *r, int turn, double *ret_agent, double *ret_kubectl, struct error *err)
{
        struct loop *l = r->bench->loop;
        char name[32], set[32], path[512];
        int64_t began;
        snprintf(name, sizeof(name), "many-%d", turn);
        snprintf(set, sizeof(set), "by-kubectl-%d", turn);
        TRY(write_manifests(r, set, path, err));
        began = loop_now_us(l);
        TRY(place(r, name, MANY, err));
        TRY(wait_until_available(r, name, err));
        *ret_agent = (double)(loop_now_us(l) - began) / 1e6;
        began = loop_now_us(l);
        TRY(kubectl_apply(r, path, err));
        *ret_kubectl = (double)(loop_now_us(l) - began) / 1e6;
        return 0;
}

static int measure_first_apply(struct run *r, struct error *err)
{
        double agent[TURNS], kubectl[TURNS];
        for (int i = 0; i < TURNS; i++)
                TRY(compare_once(r, i, &agent[i], &kubectl[i], err));
        double ours = bench_percentile(agent, TURNS, 50), theirs = bench_percentile(kubectl, TURNS, 50);
        bench_line(ours, "s", "first_apply_%d_manifests_s", MANY);
        bench_line(theirs, "s", "kubectl_apply_%d_manifests_s", MANY);
        bench_line(ours / theirs, "ratio", "first_apply_%d_manifests_vs_kubectl_ratio", MANY);
        return 0;
}

/* ---- a thousand manifests ---- */

static int place_all(struct run *r, struct error *err)
{
        char name[32];
        for (size_t i = 0; i < WORKS; i++) {
                snprintf(name, sizeof(name), "w%zu", i);
                TRY(place(r, name, EACH, err));
        }
        for (size_t i = 0; i < WORKS; i++) {
                snprintf(name, sizeof(name), "w%zu", i);
                TRY(wait_until_available(r, name, err));
        }
        return 0;
}

static int measure_memory(struct run *r, struct error *err)
{
        struct bench_usage u;
        TRY(place_all(r, err));
        TRY(fiber_sleep(r->bench->loop, SETTLE_MS));
        TRY(member_usage(r, &u, err));
        bench_line(u.private_mb, "MiB", "member_%d_manifests_private_mb", WORKS * EACH);
        return 0;
}

/* ---- drifts ---- */

static int edit_once(struct run *r, size_t i, double *ret_ms, struct error *err)
{
        AUTO_JSON json_t *patch = json_pack("{s:{s:s}}", "data", "k", "edited");
        int64_t began = loop_now_us(r->bench->loop);
        char name[32];
        snprintf(name, sizeof(name), "w%zu-1", i * 3 % WORKS);
        TRY(kube_doc_patch(r->member, &config_maps, "default", name, KUBE_PATCH_MERGE, patch, NULL, NULL,
                           err));
        for (;;) {
                AUTO_JSON json_t *doc = NULL;
                TRY(kube_doc_get(r->member, &config_maps, "default", name, &doc, err));
                *ret_ms = (double)(loop_now_us(r->bench->loop) - began) / 1e3;
                if (text_equal(doc_get_string(doc, "data.k"), "1"))
                        return 0;
                if (*ret_ms > PATIENCE_MS)
                        return error_set(err, ERR_TIMEOUT, "ConfigMap %s stays as it was edited", name);
                TRY(fiber_sleep(r->bench->loop, 1));
        }
}

static int measure_drift(struct run *r, struct error *err)
{
        double ms[EDITS];
        for (size_t i = 0; i < EDITS; i++) {
                TRY(edit_once(r, i, &ms[i], err));
                TRY(fiber_sleep(r->bench->loop, 50));
        }
        bench_line(bench_percentile(ms, EDITS, 50), "ms", "drift_corrected_p50_ms");
        bench_line(bench_percentile(ms, EDITS, 90), "ms", "drift_corrected_p90_ms");
        return 0;
}

/* ---- a restart ---- */

/* Leases and heartbeats are signs of life, which a start gives, too; the tokens are asked for by who starts
 * it. */
static double writes_of(const json_t *items, const char *cluster)
{
        double sum = 0;
        size_t i;
        json_t *item;
        json_array_foreach((json_t *)items, i, item) {
                const char *verb = doc_get_string(item, "verb"), *resource = doc_get_string(item, "resource");
                double n = (double)doc_get_int(item, "count", 0);
                if (!bench_is_write(verb) || bench_is_sign_of_life(resource) ||
                    text_equal(resource, "serviceaccounts/token"))
                        continue;
                bench_line(n, "requests", "restart_%d_works_writes_%s:%s:%s", WORKS, cluster, verb, resource);
                sum += n;
        }
        return sum;
}

static int measure_restart(struct run *r, struct error *err)
{
        AUTO_JSON json_t *on_hub = NULL, *on_member = NULL;
        struct bench_usage u;
        TRY(r->fleet->ops->stop_agent(r->fleet, "member-1", true, err));
        TRY(bench_reset_requests(r->hub, err));
        TRY(bench_reset_requests(r->member, err));
        TRY(r->fleet->ops->start_agent(r->fleet, "member-1", err));
        TRY(fiber_sleep(r->bench->loop, SETTLE_MS));
        TRY(member_usage(r, &u, err));
        bench_line(u.private_mb, "MiB", "member_%d_manifests_started_again_private_mb", WORKS * EACH);
        TRY(bench_requests(r->hub, &on_hub, err));
        TRY(bench_requests(r->member, &on_member, err));
        bench_line(writes_of(on_hub, "hub") + writes_of(on_member, "member"), "requests",
                   "restart_%d_works_writes", WORKS);
        return 0;
}

static int watch_works(struct run *r, struct error *err)
{
        const struct informer_options o = { .kind = &work_kind,
                                            .ns = "fleet-member-member-1",
                                            .flags = DECODE_PROJECTION };
        r->seen = informer_new(r->hub, r->bench->group, &o);
        if (!r->seen)
                return error_no_memory(err);
        return informer_wait_synced(r->seen, loop_now_ms(r->bench->loop) + PATIENCE_MS);
}

static int measure(struct run *r, struct error *err)
{
        TRY(fleet_set_up(r->fleet, loop_now_ms(r->bench->loop) + PATIENCE_MS, err));
        TRY(r->fleet->ops->client(r->fleet, "hub", &r->hub, err));
        TRY(r->fleet->ops->client(r->fleet, "member-1", &r->member, err));
        r->works = kube_resource_of(&work_kind);
        TRY(watch_works(r, err));
        TRY(measure_memory(r, err));
        TRY(measure_drift(r, err));
        TRY(fiber_sleep(r->bench->loop, SETTLE_MS));
        TRY(measure_restart(r, err));
        return measure_first_apply(r, err);
}

static int body(struct bench *b, struct error *err)
{
        struct run *r = NEW(struct run);
        if (!r)
                return error_no_memory(err);
        r->bench = b;
        memset(r->padding, 'x', PADDING_BYTES);
        int code = bench_fleet_open(b, 1, &r->fleet, err);
        if (code == 0) {
                code = measure(r, err);
                if (r->seen)
                        informer_stop(r->seen);
                r->fleet->ops->close(r->fleet);
        }
        mem_free(r);
        return code;
}

int main(int argc, char **argv)
{
        return bench_main(argc, argv, "bench_member", body);
}
