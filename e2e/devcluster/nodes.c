#include "e2e/devcluster/internal.h"

static int create_node(struct devcluster *d, struct cluster *c, const char *name, const char *cpu,
                       const char *memory, struct error *err)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct request rq;
        struct write_result w = { 0 };
        AUTO_JSON json_t *doc =
                json_pack("{s:{s:s,s:{s:s,s:s,s:s}},s:{s:{s:s,s:s,s:s,s:s}}}", "metadata", "name", name,
                          "labels", "kubernetes.io/arch", "amd64", "kubernetes.io/hostname", name,
                          "kubernetes.io/os", "linux", "status", "capacity", "cpu", cpu, "ephemeral-storage",
                          "100Gi", "memory", memory, "pods", "110");
        if (!doc)
                return error_no_memory(err);
        TRY(request_internal(&rq, d, c, "/nodes", NULL, NULL, &arena));
        int r = rest_create(&rq, doc, &w);
        if (r < 0 && text_equal(rq.status.reason, "AlreadyExists"))
                r = 0;
        if (r < 0)
                r = error_set(err, ERR_INTERNAL, "node %s: %s", name, rq.status.message);
        json_decref(w.doc);
        vec_free(&rq.warnings);
        return r;
}

int devcluster_add_nodes(struct devcluster *d, const char *cluster, size_t n, const char *cpu,
                         const char *memory, struct error *err)
{
        struct cluster *c = api_store_cluster(d->store, cluster);
        char name[32];
        if (!c)
                return error_set(err, ERR_NOT_FOUND, "no logical cluster \"%s\"", cluster);
        for (size_t i = 1; i <= n; i++) {
                snprintf(name, sizeof(name), "node-%zu", i);
                TRY(create_node(d, c, name, cpu, memory, err));
        }
        return 0;
}
