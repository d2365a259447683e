/* A member agent on a large cluster: devcluster, hub-agent and one member-agent as programs, 5,000 nodes and
 * 20,000 pods on the member. The agent keeps sums of them and no objects; here is what that takes, its first
 * lists and a time of changes included.
 *
 *   bench_nodes PROGRAMS SCRATCH
 */
#include <stdio.h>
#include <string.h>

#include "common/base/memory.h"
#include "e2e/bench/bench.h"
#include "e2e/scenarios/process_fleet.h"
#include "proto/gen/kinds.h"

enum {
        NODES = 5000,
        PODS = 20000,
        CHANGES = 2000, /* of pods, once the agent knows them all */
        WRITERS = 32,
        NODE_BYTES = 8192, /* about what a kubelet writes */
        POD_BYTES = 4096,
        SAMPLE_MS = 20,
        SETTLE_MS = 3000,
        PATIENCE_MS = 240000,
};

struct run {
        struct bench *bench;
        struct fleet *fleet;
        struct kube_client *hub, *member;
        char node_padding[NODE_BYTES + 1], pod_padding[POD_BYTES + 1];
        size_t next, end, failures; /* of the objects that are written */
        int (*write)(struct run *r, size_t i, struct error *err);
        struct error why;
        bool sampling;
        double peak_mb;
};

/* ---- the cluster ---- */

static const struct kube_resource nodes = { "", "v1", "nodes", "Node", false };
static const struct kube_resource pods = { "", "v1", "pods", "Pod", true };

static int create(struct run *r, const struct kube_resource *what, const char *ns, json_t *doc,
                  struct error *err)
{
        AUTO_JSON json_t *owned = doc;
        return owned ? kube_doc_create(r->member, what, ns, owned, NULL, NULL, err) : error_no_memory(err);
}

static int write_node(struct run *r, size_t i, struct error *err)
{
        char name[32];
        snprintf(name, sizeof(name), "node-%zu", i);
        return create(r, &nodes, NULL,
                      json_pack("{s:s, s:s, s:{s:s, s:{s:s, s:s}, s:{s:s}}}", "apiVersion", "v1", "kind",
                                "Node", "metadata", "name", name, "labels",
                                "node.kubernetes.io/instance-type", i % 3 ? "small" : "large",
                                "topology.kubernetes.io/region", "west", "annotations", "padding",
                                r->node_padding),
                      err);
}

static int write_pod(struct run *r, size_t i, struct error *err)
{
        char name[32], node[32];
        snprintf(name, sizeof(name), "pod-%zu", i);
        snprintf(node, sizeof(node), "node-%zu", i % NODES);
        return create(r, &pods, "default",
                      json_pack("{s:s, s:s, s:{s:s, s:{s:s}}, s:{s:s, s:[{s:s, s:s, s:{s:{s:s, s:s}}}]}}",
                                "apiVersion", "v1", "kind", "Pod", "metadata", "name", name, "annotations",
                                "padding", r->pod_padding, "spec", "nodeName", node, "containers", "name",
                                "c", "image", "i", "resources", "requests", "cpu", "10m", "memory", "16Mi"),
                      err);
}

static int change_pod(struct run *r, size_t i, struct error *err)
{
        AUTO_JSON json_t *patch = json_pack("{s:{s:{s:s}}}", "metadata", "labels", "changed", "yes");
        char name[32];
        snprintf(name, sizeof(name), "pod-%zu", i);
        return patch ? kube_doc_patch(r->member, &pods, "default", name, KUBE_PATCH_MERGE, patch, NULL, NULL,
                                      err)
                     : error_no_memory(err);
}

static void writer_fiber(void *ctx)
{
        struct run *r = ctx;
        while (r->next < r->end && !r->failures) {
                struct error err = { 0 };
                if (r->write(r, r->next++, &err) < 0) {
                        r->failures++;
                        r->why = err;
                }
        }
}

static int write_all(struct run *r, size_t n, int (*write)(struct run *r, size_t i, struct error *err),
                     struct error *err)
{
        struct fiber_group *group = fiber_group_new(r->bench->loop, r->bench->group, "writers");
        if (!group)
                return error_no_memory(err);
        r->next = 0;
        r->end = n;
        r->write = write;
        for (size_t i = 0; i < WRITERS; i++)
                if (!fiber_spawn(group, "writer", writer_fiber, r))
                        r->failures++;
        TRY(fiber_group_join(group, DEADLINE_NONE));
        fiber_group_end(group);
        if (r->failures)
                *err = r->why;
        return r->failures ? ERR_INTERNAL : 0;
}

/* ---- the agent ---- */

static void sample_fiber(void *ctx)
{
        struct run *r = ctx;
        while (r->sampling && fiber_sleep(r->bench->loop, SAMPLE_MS) == 0) {
                struct bench_usage u;
                if (bench_usage(&r->bench->world, process_fleet_pid(r->fleet, "member-1"), &u, NULL) == 0)
                        r->peak_mb = MAX(r->peak_mb, u.private_mb);
        }
}

/* Until the hub has been told of all nodes, which is not before all pods are known. */
static int wait_until_told(struct run *r, struct error *err)
{
        const struct kube_resource clusters = kube_resource_of(&member_cluster_kind);
        const char *const path[] = { "status", "properties", "kubernetes-fleet.io/node-count", "value" };
        int64_t deadline = loop_now_ms(r->bench->loop) + PATIENCE_MS;
        char wanted[16];
        snprintf(wanted, sizeof(wanted), "%d", NODES);
        for (;;) {
                AUTO_JSON json_t *doc = NULL;
                TRY(kube_doc_get(r->hub, &clusters, NULL, "member-1", &doc, err));
                if (text_equal(json_string_value(doc_get_keys(doc, path, ARRAY_LEN(path))), wanted))
                        return 0;
                if (loop_now_ms(r->bench->loop) > deadline)
                        return error_set(err, ERR_TIMEOUT, "the hub was not told of %d nodes", NODES);
                TRY(fiber_sleep(r->bench->loop, 100));
        }
}

static int measure_agent(struct run *r, struct error *err)
{
        struct loop *l = r->bench->loop;
        struct bench_usage u;
        int64_t began = loop_now_us(l);
        TRY(r->fleet->ops->start_agent(r->fleet, "member-1", err));
        TRY(wait_until_told(r, err));
        bench_line((double)(loop_now_us(l) - began) / 1e6, "s", "member_%d_nodes_%d_pods_told_s", NODES,
                   PODS);
        TRY(bench_usage(&r->bench->world, process_fleet_pid(r->fleet, "member-1"), &u, err));
        bench_line((double)u.cpu_ns / 1e9, "s", "member_%d_nodes_%d_pods_told_cpu_s", NODES, PODS);
        TRY(write_all(r, CHANGES, change_pod, err));
        TRY(fiber_sleep(l, SETTLE_MS));
        TRY(bench_usage(&r->bench->world, process_fleet_pid(r->fleet, "member-1"), &u, err));
        bench_line(u.private_mb, "MiB", "member_%d_nodes_%d_pods_settled_private_mb", NODES, PODS);
        bench_line(r->peak_mb, "MiB", "member_%d_nodes_%d_pods_private_mb", NODES, PODS);
        return 0;
}

static int measure(struct run *r, struct error *err)
{
        TRY(fleet_set_up(r->fleet, loop_now_ms(r->bench->loop) + PATIENCE_MS, err));
        TRY(r->fleet->ops->client(r->fleet, "hub", &r->hub, err));
        TRY(r->fleet->ops->client(r->fleet, "member-1", &r->member, err));
        TRY(r->fleet->ops->stop_agent(r->fleet, "member-1", false, err));
        TRY(write_all(r, NODES, write_node, err));
        TRY(write_all(r, PODS, write_pod, err));
        r->sampling = true;
        if (!fiber_spawn(r->bench->group, "samples", sample_fiber, r))
                return error_no_memory(err);
        int code = measure_agent(r, err);
        r->sampling = false;
        return code;
}

static int body(struct bench *b, struct error *err)
{
        static const char *const flags[] = { "--property-provider=azure", NULL };
        struct run *r = NEW(struct run);
        if (!r)
                return error_no_memory(err);
        r->bench = b;
        memset(r->node_padding, 'n', NODE_BYTES);
        memset(r->pod_padding, 'p', POD_BYTES);
        int code = bench_fleet_open(b, 1, &r->fleet, err);
        if (code == 0) {
                r->fleet->member_flags = flags;
                code = measure(r, err);
                r->fleet->ops->close(r->fleet);
        }
        mem_free(r);
        return code;
}

int main(int argc, char **argv)
{
        return bench_main(argc, argv, "bench_nodes", body);
}
