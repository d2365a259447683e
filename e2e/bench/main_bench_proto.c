/* Speed and memory of the typed codec beside jansson's documents. Prints `bench NAME VALUE UNIT`.
 *
 * The objects are as a fleet has them: bindings with five conditions, scores and labels; Works of three
 * manifests (3 KB) with their status, all well, in pages of 500. */
#include <stdio.h>

#include "common/base/memory.h"
#include "common/loop/world.h"
#include "proto/gen/kinds.h"
#include "proto/names.h"
#include "proto/stowed.h"

enum { PAGE = 500, PAGES = 20, CLUSTERS = 100, PAGE_MAX = 16 << 20 };

#define UID "6f1c1d1e-32ab-4b7c-9c54-%012zu"
#define CONDITION(type, reason, message)                                                                     \
        "{\"type\":\"" type "\",\"status\":\"True\",\"reason\":\"" reason "\",\"message\":\"" message        \
        "\",\"observedGeneration\":2,\"lastTransitionTime\":\"2026-02-03T04:05:06Z\"}"
#define MANAGED_FIELDS                                                                                       \
        "\"managedFields\":[{\"manager\":\"hub-agent\",\"operation\":\"Update\",\"apiVersion\":"             \
        "\"placement.kubernetes-fleet.io/"                                                                   \
        "v1beta1\",\"time\":\"2026-02-03T04:05:06Z\",\"fieldsType\":\"FieldsV1\","                           \
        "\"fieldsV1\":{\"f:metadata\":{\"f:labels\":{\".\":{},\"f:kubernetes-fleet.io/parent-CRP\":{}}},"    \
        "\"f:spec\":{\".\":{},\"f:state\":{},\"f:targetCluster\":{}}}}],"

static void write_binding(struct buf *b, size_t i)
{
        size_t placement = i / CLUSTERS, cluster = i % CLUSTERS;
        buf_printf(
                b,
                "{\"apiVersion\":\"placement.kubernetes-fleet.io/"
                "v1beta1\",\"kind\":\"ClusterResourceBinding\","
                "\"metadata\":{\"name\":\"placement-%04zu-cluster-%04zu-%08zx\",\"uid\":\"" UID "\","
                "\"resourceVersion\":\"%zu\",\"generation\":2,\"creationTimestamp\":\"2026-02-03T04:05:06Z\","
                "\"finalizers\":[\"" FINALIZER_SCHEDULER_BINDING "\",\"" FINALIZER_WORK "\"]," MANAGED_FIELDS
                "\"labels\":{\"" LABEL_PARENT_PLACEMENT "\":\"placement-%04zu\"}},",
                placement, cluster, i * 2654435761u % 0xffffffff, i, i + 100000, placement);
        buf_printf(
                b,
                "\"spec\":{\"state\":\"Bound\",\"resourceSnapshotName\":\"placement-%04zu-0-snapshot\","
                "\"schedulingPolicySnapshotName\":\"placement-%04zu-0\",\"targetCluster\":\"cluster-%04zu\","
                "\"clusterDecision\":{\"clusterName\":\"cluster-%04zu\",\"selected\":true,\"clusterScore\":"
                "{\"affinityScore\":0,\"priorityScore\":0},\"reason\":\"picked by scheduling policy\"},"
                "\"applyStrategy\":{\"type\":\"ClientSideApply\",\"comparisonOption\":\"PartialComparison\","
                "\"whenToApply\":\"Always\",\"whenToTakeOver\":\"Always\"}},",
                placement, placement, cluster, cluster);
        buf_append_str(
                b,
                "\"status\":{\"conditions\":[" CONDITION("RolloutStarted", "RolloutStarted", "Detected the new changes on the resources and started the rollout process") "," CONDITION("Overridden", "NoOverrideSpecified", "No override rules are configured for the selected resources") "," CONDITION(
                        "Work"
                        "Sync"
                        "hron"
                        "ize"
                        "d",
                        "AllW"
                        "orkS"
                        "ynce"
                        "d",
                        "All "
                        "of "
                        "the "
                        "work"
                        "s "
                        "are "
                        "sync"
                        "hron"
                        "ized"
                        " to "
                        "the "
                        "late"
                        "st") "," CONDITION("Applied", "AllWorkHaveBeenApplied",
                                            "All corresponding work objects are applied") "," CONDITION("Avai"
                                                                                                        "labl"
                                                                                                        "e",
                                                                                                        "AllW"
                                                                                                        "orkA"
                                                                                                        "reAv"
                                                                                                        "aila"
                                                                                                        "ble",
                                                                                                        "All "
                                                                                                        "corr"
                                                                                                        "espo"
                                                                                                        "ndin"
                                                                                                        "g "
                                                                                                        "work"
                                                                                                        " obj"
                                                                                                        "ects"
                                                                                                        " are"
                                                                                                        " ava"
                                                                                                        "ilab"
                                                                                                        "le") "]}}");
}

static void write_manifest(struct buf *b, size_t i, size_t ordinal)
{
        buf_printf(b,
                   "%s{\"apiVersion\":\"apps/"
                   "v1\",\"kind\":\"Deployment\",\"metadata\":{\"name\":\"app-%zu\",\"namespace\":"
                   "\"team-%04zu\",\"labels\":{\"app\":\"app-%zu\"}},\"spec\":{\"replicas\":3,\"selector\":{"
                   "\"matchLabels\":"
                   "{\"app\":\"app-%zu\"}},\"template\":{\"metadata\":{\"labels\":{\"app\":\"app-%zu\"}},"
                   "\"spec\":"
                   "{\"containers\":[{\"name\":\"main\",\"image\":\"registry.example/"
                   "app:1.2.%zu\",\"ports\":[{\"containerPort\":"
                   "8080}],\"env\":[{\"name\":\"MODE\",\"value\":\"production\"}],\"resources\":{"
                   "\"requests\":{\"cpu\":\"100m\","
                   "\"memory\":\"128Mi\"}}}]}}}}",
                   ordinal ? "," : "", ordinal, i / CLUSTERS, ordinal, ordinal, ordinal, i % 10);
}

static void write_manifest_condition(struct buf *b, size_t i, size_t ordinal)
{
        buf_printf(
                b,
                "%s{\"identifier\":{\"ordinal\":%zu,\"group\":\"apps\",\"version\":\"v1\",\"kind\":"
                "\"Deployment\","
                "\"resource\":\"deployments\",\"namespace\":\"team-%04zu\",\"name\":\"app-%zu\"},"
                "\"conditions\":[" CONDITION(
                        "Applied", "Applied",
                        "Manifest has been applied successfully") "," CONDITION("Available", "Available",
                                                                                "Manifest is available") "]}",
                ordinal ? "," : "", ordinal, i / CLUSTERS, ordinal);
}

static void write_work(struct buf *b, size_t i)
{
        size_t placement = i / CLUSTERS, cluster = i % CLUSTERS;
        buf_printf(
                b,
                "{\"apiVersion\":\"placement.kubernetes-fleet.io/"
                "v1beta1\",\"kind\":\"Work\",\"metadata\":{\"name\":"
                "\"placement-%04zu-work\",\"namespace\":\"fleet-member-cluster-%04zu\",\"uid\":\"" UID "\","
                "\"resourceVersion\":\"%zu\",\"generation\":1,\"creationTimestamp\":\"2026-02-03T04:05:06Z\","
                "\"finalizers\":[\"" FINALIZER_WORK "\"]," MANAGED_FIELDS,
                placement, cluster, i, i + 100000);
        buf_printf(b,
                   "\"labels\":{\"" LABEL_PARENT_PLACEMENT "\":\"placement-%04zu\",\"" LABEL_PARENT_BINDING
                   "\":\"placement-%04zu-cluster-%04zu-%08zx\",\"" LABEL_PARENT_RESOURCE_SNAPSHOT_INDEX
                   "\":\"0\"},"
                   "\"annotations\":{\"" ANNOTATION_PARENT_RESOURCE_SNAPSHOT
                   "\":\"placement-%04zu-0-snapshot\",\"" ANNOTATION_OVERRIDE_SNAPSHOT_HASH "\":"
                   "\"74234e98afe7498fb5daf1f36ac2d78acc339464f950703b8c019892f982b90b\","
                   "\"" ANNOTATION_CLUSTER_OVERRIDE_SNAPSHOT_HASH "\":"
                   "\"74234e98afe7498fb5daf1f36ac2d78acc339464f950703b8c019892f982b90b\"}},\"spec\":{"
                   "\"workload\":"
                   "{\"manifests\":[",
                   placement, placement, cluster, i * 2654435761u % 0xffffffff, placement);
        for (size_t ordinal = 0; ordinal < 3; ordinal++)
                write_manifest(b, i, ordinal);
        buf_append_str(
                b,
                "]},\"applyStrategy\":{\"type\":\"ClientSideApply\",\"comparisonOption\":"
                "\"PartialComparison\","
                "\"whenToApply\":\"Always\",\"whenToTakeOver\":\"Always\"}},\"status\":{\"conditions\":"
                "[" CONDITION(
                        "Applied", "AllManifestsApplied",
                        "All the specified manifests have been applied") "," CONDITION("Available",
                                                                                       "AllManifestsAvailabl"
                                                                                       "e",
                                                                                       "All of the applied "
                                                                                       "manifests are "
                                                                                       "available") "],"
                                                                                                    "\"manife"
                                                                                                    "stCondit"
                                                                                                    "ions\":"
                                                                                                    "[");
        for (size_t ordinal = 0; ordinal < 3; ordinal++)
                write_manifest_condition(b, i, ordinal);
        buf_append_str(b, "]}}");
}

static void write_page(struct buf *b, const struct kind *kind, void (*item)(struct buf *, size_t),
                       size_t page)
{
        buf_clear(b);
        buf_printf(
                b,
                "{\"apiVersion\":\"%s\",\"kind\":\"%s\",\"metadata\":{\"resourceVersion\":\"9\"},\"items\":[",
                kind->api_version, kind->list_kind);
        for (size_t i = 0; i < PAGE; i++) {
                if (i)
                        buf_append_char(b, ',');
                item(b, page * PAGE + i);
        }
        buf_append_str(b, "]}");
        mem_must(buf_status(b, NULL, "page") == 0 ? b->data : NULL);
}

struct cache {
        struct object *at[PAGE * PAGES];
        size_t n, bytes;
};

static int keep(void *ctx, struct object *o)
{
        struct cache *c = ctx;
        c->at[c->n++] = object_ref(o);
        c->bytes += object_bytes(o);
        return 0;
}

static int drop(void *ctx, struct object *o)
{
        *(size_t *)ctx += object_bytes(o);
        return 0;
}

/* Mean bytes of a projection with its heap's overhead and its share of the interned strings. */
static void measure_memory(const char *name, const struct kind *kind, void (*item)(struct buf *, size_t),
                           struct buf *b)
{
        struct intern_table *interns = mem_must(intern_table_new());
        struct cache *c = mem_must(NEW(struct cache));
        size_t json_bytes = 0, before = mem_live_bytes();
        struct object_sink sink = { keep, NULL, c };
        for (size_t page = 0; page < PAGES; page++) {
                write_page(b, kind, item, page);
                json_bytes += b->len;
                struct error err = { 0 };
                if (object_decode_list(kind, (struct slice){ b->data, b->len }, DECODE_PROJECTION, interns,
                                       &sink, NULL, NULL, &err) < 0)
                        fprintf(stderr, "%s\n", err.text);
        }
        size_t live = mem_live_bytes() - before;
        printf("bench bytes_per_%s %zu bytes\n", name, c->bytes / c->n);
        printf("bench bytes_per_%s_on_heap %zu bytes\n", name, live / c->n);
        printf("bench bytes_per_%s_as_json %zu bytes\n", name, json_bytes / c->n);
        before = mem_live_bytes();
        json_t *doc = json_loadb(b->data, b->len, 0, NULL);
        printf("bench bytes_per_%s_jansson %zu bytes\n", name, (mem_live_bytes() - before) / PAGE);
        json_decref(doc);
        for (size_t i = 0; i < c->n; i++)
                object_unref(c->at[i]);
        mem_free(c);
        intern_table_free(interns);
}

/* Seconds of CPU for one page, the best of some rounds. */
static double best(const struct world *w, int rounds, void (*run)(void *ctx), void *ctx)
{
        double least = 1e9;
        for (int i = 0; i < rounds; i++) {
                int64_t from = w->process->cpu_us(w->ctx);
                run(ctx);
                double took = (double)(w->process->cpu_us(w->ctx) - from) / 1e6;
                least = took > 0 && took < least ? took : least;
        }
        return least;
}

struct page_run {
        const struct kind *kind;
        struct slice text;
        struct intern_table *interns;
        size_t bytes;
};

static void run_codec(void *ctx)
{
        struct page_run *r = ctx;
        struct object_sink sink = { drop, NULL, &r->bytes };
        mem_must(object_decode_list(r->kind, r->text, DECODE_PROJECTION, r->interns, &sink, NULL, NULL,
                                    NULL) == 0
                         ? r
                         : NULL);
}

static void run_jansson(void *ctx)
{
        const struct page_run *r = ctx;
        json_decref(mem_must(json_loadb(r->text.data, r->text.len, 0, NULL)));
}

static void measure_speed(const struct world *w, const char *suffix, const struct kind *kind,
                          void (*item)(struct buf *, size_t), struct buf *b)
{
        write_page(b, kind, item, 0);
        struct page_run r = { kind, { b->data, b->len }, mem_must(intern_table_new()), 0 };
        double codec = best(w, 40, run_codec, &r), jansson = best(w, 10, run_jansson, &r);
        double megabytes = (double)b->len / 1e6;
        printf("bench decode%s %.0f MB/s\n", suffix, megabytes / codec);
        printf("bench decode%s_jansson %.0f MB/s\n", suffix, megabytes / jansson);
        printf("bench decode%s_speedup_vs_jansson %.1f ratio\n", suffix, jansson / codec);
        intern_table_free(r.interns);
}

/* ---- stowed ---- */

struct stowed_run {
        const struct kind *kind;
        struct intern_table *interns;
        struct cache *from;
        struct stowed *stowed[PAGE];
        struct buf scratch;
};

static void free_stowed(struct stowed_run *r)
{
        for (size_t i = 0; i < PAGE; i++) {
                stowed_free(r->stowed[i]);
                r->stowed[i] = NULL;
        }
}

static void run_stow(void *ctx)
{
        struct stowed_run *r = ctx;
        free_stowed(r);
        for (size_t i = 0; i < PAGE; i++)
                r->stowed[i] = mem_must(
                        object_stow(r->from->at[i], r->from->at[i]->meta.name, r->interns, &r->scratch));
}

static void run_unstow(void *ctx)
{
        struct stowed_run *r = ctx;
        for (size_t i = 0; i < PAGE; i++)
                object_unref(mem_must(object_unstow(r->stowed[i], r->kind, r->interns, STOWED_WHOLE)));
}

static void measure_stowed(const struct world *w, const char *name, const struct kind *kind,
                           void (*item)(struct buf *, size_t), struct buf *b)
{
        struct stowed_run r = {
                kind, mem_must(intern_table_new()), mem_must(NEW(struct cache)), { 0 }, { 0 }
        };
        struct object_sink sink = { keep, NULL, r.from };
        size_t before;
        write_page(b, kind, item, 0);
        buf_init(&r.scratch, PAGE_MAX);
        mem_must(object_decode_list(kind, (struct slice){ b->data, b->len }, DECODE_PROJECTION, r.interns,
                                    &sink, NULL, NULL, NULL) == 0
                         ? r.from
                         : NULL);
        run_stow(&r);
        free_stowed(&r);
        before = mem_live_bytes();
        run_stow(&r);
        printf("bench bytes_per_%s_stowed %zu bytes\n", name, (mem_live_bytes() - before) / PAGE);
        printf("bench stow_%s %.0f ns\n", name, best(w, 100, run_stow, &r) / PAGE * 1e9);
        printf("bench unstow_%s %.0f ns\n", name, best(w, 100, run_unstow, &r) / PAGE * 1e9);
        free_stowed(&r);
        buf_free(&r.scratch);
        for (size_t i = 0; i < r.from->n; i++)
                object_unref(r.from->at[i]);
        mem_free(r.from);
        intern_table_free(r.interns);
}

int main(void)
{
        mem_hook_libraries();
        struct loop *loop = mem_must(loop_new_real(NULL));
        struct world w;
        world_init_real(&w, loop, NULL);
        AUTO_BUF struct buf b;
        buf_init(&b, PAGE_MAX);
        measure_speed(&w, "", &work_kind, write_work, &b);
        measure_speed(&w, "_bindings", &cluster_resource_binding_kind, write_binding, &b);
        measure_memory("binding", &cluster_resource_binding_kind, write_binding, &b);
        measure_memory("work", &work_kind, write_work, &b);
        measure_stowed(&w, "binding", &cluster_resource_binding_kind, write_binding, &b);
        measure_stowed(&w, "work", &work_kind, write_work, &b);
        loop_free(loop);
        return 0;
}
