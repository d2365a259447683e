/* A ResourceSet of 1,000 inputs and ten objects each: how long it takes to render, beside `template-oracle
 * -bench` for the text alone; to apply on a new hub; what it costs when nothing has changed, and when the
 * agent starts again; what the agent holds meanwhile. And the combinations of two providers at the limit.
 * devcluster and hub-agent are programs.
 *
 *   bench_resource_sets PROGRAMS SCRATCH
 */
#include <stdio.h>
#include <string.h>

#include "common/base/limits.h"
#include "common/base/memory.h"
#include "common/ctrl/informer.h"
#include "e2e/bench/bench.h"
#include "e2e/scenarios/process_fleet.h"
#include "hub-agent/resource-set/build.h"
#include "hub-agent/resource-set/inputs.h"

#define TEMPLATES "e2e/template/tenants.yaml"
#define NS "default"
#define NAME "tenants"

enum {
        INPUTS = 1000,
        TURNS = 5, /* the middle one counts */
        SIDE = 100,
        PATIENCE_MS = 240000,
        SAMPLE_MS = 20,
        SETTLE_MS = 10000,
        FILE_MAX = 1 << 20,
};

struct run {
        struct bench *bench;
        struct fleet *fleet;
        struct kube_client *hub;
        struct kube_resource sets;
        struct informer *seen;
        double peak_mb;
        struct arena arena;
};

/* ---- what is rendered ---- */

static int read_templates(struct run *r, json_t **ret, struct error *err)
{
        AUTO_FREE char *text = NULL;
        size_t n;
        TRY(r->bench->world.files->read(r->bench->world.ctx, TEMPLATES, FILE_MAX, &text, &n, err));
        TRY(yaml_parse((struct slice){ text, n }, ret, err));
        return doc_keep(&r->arena, *ret, err);
}

static int tenants(const json_t *templates, size_t n, json_t **ret, struct error *err)
{
        AUTO_JSON json_t *all = json_array();
        for (size_t i = 0; i < n; i++) {
                json_t *one = NULL;
                char name[32];
                TRY(doc_parse(slice_of(or_empty(doc_get_string(templates, "inputs"))), &one, err));
                snprintf(name, sizeof(name), "team%zu", i + 1);
                json_array_append_new(all, one);
                json_object_set_new(one, "tenant", json_string(name));
                json_object_set_new(one, "id", json_string(name));
        }
        *ret = TAKE_PTR(all);
        return 0;
}

static int make_doc(struct run *r, json_t **ret, struct error *err)
{
        AUTO_JSON json_t *inputs = NULL;
        AUTO_JSON json_t *resources = json_array();
        json_t *templates, *text;
        size_t i;
        TRY(read_templates(r, &templates, err));
        TRY(tenants(templates, INPUTS, &inputs, err));
        json_array_foreach(doc_get_array(templates, "cases"), i, text) {
                json_t *doc;
                TRY(yaml_parse(slice_of(json_string_value(text)), &doc, err));
                json_array_append_new(resources, doc);
        }
        *ret = json_pack("{s:s, s:s, s:{s:s, s:s}, s:{s:O, s:O}}", "apiVersion",
                         resource_set_kind.api_version, "kind", resource_set_kind.kind, "metadata", "name",
                         NAME, "namespace", NS, "spec", "inputs", inputs, "resources", resources);
        return *ret ? 0 : error_no_memory(err);
}

static int render(struct run *r, const struct resource_set *set, double *ret_ms, size_t *ret_n,
                  struct error *err)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        int64_t began = loop_now_us(r->bench->loop);
        struct build built;
        json_t *sets;
        TRY(inputs_collect(&arena, set, &(struct object_list){ 0 }, &sets, err));
        TRY(build_objects(&arena, set, sets, &built, err));
        *ret_ms = (double)(loop_now_us(r->bench->loop) - began) / 1e3;
        *ret_n = built.n;
        return 0;
}

static int measure_render(struct run *r, const json_t *doc, struct error *err)
{
        double ms[TURNS];
        struct object *o;
        size_t n = 0;
        TRY(object_from_doc(&resource_set_kind, doc, &r->arena, &o, err));
        for (int i = 0; i < TURNS; i++)
                TRY(render(r, (const struct resource_set *)o, &ms[i], &n, err));
        bench_line((double)n, "objects", "resource_set_%d_inputs_objects", INPUTS);
        bench_line(bench_percentile(ms, TURNS, 50), "ms", "resource_set_%d_inputs_render_ms", INPUTS);
        return 0;
}

/* ---- combinations ---- */

static const struct object *provider_of(struct run *r, const char *name)
{
        struct input_provider *p =
                (struct input_provider *)object_new(&resource_set_input_provider_kind, NS, name, &r->arena);
        struct slice *at = ARENA_NEW_ARRAY(&r->arena, struct slice, SIDE);
        p->status = ARENA_NEW(&r->arena, struct input_provider_status);
        for (int i = 0; i < SIDE; i++)
                at[i] = slice_of(arena_printf(&r->arena, "{\"id\":\"%d\",\"name\":\"%s-%d\"}", i, name, i));
        p->status->exported_inputs = (struct raw_list){ at, SIDE, true };
        return &p->object;
}

static int measure_permutations(struct run *r, struct error *err)
{
        const struct object *both[] = { provider_of(r, "a"), provider_of(r, "b") };
        struct object_list providers = { .at = both, .n = ARRAY_LEN(both) };
        AUTO_JSON json_t *doc = json_pack("{s:{s:s, s:s}, s:{s:{s:s}, s:[{s:s}, {s:s}]}}", "metadata", "name",
                                          NAME, "namespace", NS, "spec", "inputStrategy", "name", "Permute",
                                          "inputsFrom", "name", "a", "name", "b");
        double ms[TURNS];
        struct object *o;
        TRY(object_from_doc(&resource_set_kind, doc, &r->arena, &o, err));
        for (int i = 0; i < TURNS; i++) {
                AUTO_ARENA struct arena arena = ARENA_INIT;
                int64_t began = loop_now_us(r->bench->loop);
                json_t *sets;
                TRY(inputs_collect(&arena, (const struct resource_set *)o, &providers, &sets, err));
                ms[i] = (double)(loop_now_us(r->bench->loop) - began) / 1e3;
                if (json_array_size(sets) != SIDE * SIDE)
                        return error_set(err, ERR_INVALID, "%zu combinations", json_array_size(sets));
        }
        bench_line(bench_percentile(ms, TURNS, 50), "ms", "resource_set_%d_permutations_ms", SIDE * SIDE);
        return 0;
}

/* ---- on a hub ---- */

static int usage(struct run *r, struct bench_usage *ret, struct error *err)
{
        TRY(bench_usage(&r->bench->world, process_fleet_pid(r->fleet, "hub-agent"), ret, err));
        r->peak_mb = MAX(r->peak_mb, ret->private_mb);
        return 0;
}

static const struct resource_set *seen_set(const struct run *r)
{
        return (const struct resource_set *)(const void *)informer_get(r->seen, NS, NAME);
}

static const char *ready_message(const struct run *r)
{
        const struct resource_set *set = seen_set(r);
        const struct condition *c =
                set && set->status ? condition_find(&set->status->conditions, "Ready") : NULL;
        return c ? or_empty(c->message) : "";
}

/* The run that handled `request`; "" = the first. */
static bool has_run(const struct run *r, const char *request)
{
        const struct resource_set *set = seen_set(r);
        const struct condition *c =
                set && set->status ? condition_find(&set->status->conditions, "Ready") : NULL;
        return c && text_equal(c->status, "True") &&
               text_equal(or_empty(set->status->last_handled_reconcile_at), request);
}

static int await_run(struct run *r, const char *request, struct error *err)
{
        int64_t deadline = loop_now_ms(r->bench->loop) + PATIENCE_MS;
        struct bench_usage u;
        while (!has_run(r, request)) {
                if (loop_now_ms(r->bench->loop) > deadline)
                        return error_set(err, ERR_TIMEOUT, "the set is not ready: %s", ready_message(r));
                TRY(fiber_sleep(r->bench->loop, SAMPLE_MS));
                TRY(usage(r, &u, err));
        }
        return 0;
}

static bool is_tenants(const json_t *o)
{
        const char *const path[] = { "metadata", "labels", LABEL_SET_NAME };
        return text_equal(json_string_value(doc_get_keys(o, path, ARRAY_LEN(path))), NAME);
}

/* Where the set's objects are listed. */
static const char *const lists[] = { "/api/v1/namespaces",
                                     "/api/v1/serviceaccounts",
                                     "/apis/rbac.authorization.k8s.io/v1/rolebindings",
                                     "/api/v1/configmaps",
                                     "/api/v1/secrets",
                                     "/api/v1/services",
                                     "/api/v1/resourcequotas",
                                     "/apis/networking.k8s.io/v1/networkpolicies",
                                     "/api/v1/limitranges" };

/* How many of the set's objects were written after `version`; *ret_newest: the server's by now. A dry run
 * moves none. */
static int count_written(struct run *r, int64_t version, double *ret_n, int64_t *ret_newest,
                         struct error *err)
{
        *ret_n = 0;
        for (size_t i = 0; i < ARRAY_LEN(lists); i++) {
                AUTO_ARENA struct arena arena = ARENA_INIT;
                AUTO_JSON json_t *doc = NULL;
                struct http_response answer;
                json_t *o;
                size_t k;
                int64_t at = 0;
                TRY(kube_raw(r->hub, "GET", lists[i], NULL, (struct slice){ 0 }, &arena, &answer, err));
                TRY(doc_parse(answer.body, &doc, err));
                text_parse_i64(or_empty(doc_get_string(doc, "metadata.resourceVersion")), ret_newest);
                json_array_foreach(doc_get_array(doc, "items"), k, o)
                        *ret_n += is_tenants(o) &&
                                  text_parse_i64(or_empty(doc_get_string(o, "metadata.resourceVersion")),
                                                 &at) &&
                                  at > version;
        }
        return 0;
}

/* Of the set itself, and of its objects. */
static int tell_writes(struct run *r, int64_t since, const char *what, struct error *err)
{
        AUTO_JSON json_t *items = NULL;
        double objects;
        int64_t newest;
        TRY(bench_requests(r->hub, &items, err));
        TRY(count_written(r, since, &objects, &newest, err));
        bench_line(objects, "writes", "resource_set_%d_inputs_%swrites", INPUTS, what);
        bench_line(bench_count(items, "patch", "resourcesets/status"), "requests",
                   "resource_set_%d_inputs_%sstatus_writes", INPUTS, what);
        return 0;
}

static int begin_count(struct run *r, int64_t *ret_version, struct error *err)
{
        double n;
        TRY(count_written(r, 0, &n, ret_version, err));
        return bench_reset_requests(r->hub, err);
}

static int request_run(struct run *r, const char *request, struct error *err)
{
        AUTO_JSON json_t *patch =
                json_pack("{s:{s:{s:s}}}", "metadata", "annotations", ANNOTATION_FLUX_REQUESTED, request);
        return patch ? kube_doc_patch(r->hub, &r->sets, NS, NAME, KUBE_PATCH_MERGE, patch, NULL, NULL, err)
                     : error_no_memory(err);
}

static int measure_apply(struct run *r, const json_t *doc, struct error *err)
{
        struct bench_usage before, after;
        int64_t began, version;
        TRY(usage(r, &before, err));
        TRY(begin_count(r, &version, err));
        began = loop_now_us(r->bench->loop);
        TRY(kube_doc_create(r->hub, &r->sets, NS, doc, NULL, NULL, err));
        TRY(await_run(r, "", err));
        bench_line((double)(loop_now_us(r->bench->loop) - began) / 1e6, "s", "resource_set_%d_inputs_apply_s",
                   INPUTS);
        TRY(usage(r, &after, err));
        bench_line((double)(after.cpu_ns - before.cpu_ns) / 1e9, "s",
                   "resource_set_%d_inputs_apply_hub_agent_cpu_s", INPUTS);
        bench_line(r->peak_mb, "MiB", "resource_set_%d_inputs_apply_peak_private_mb", INPUTS);
        TRY(tell_writes(r, version, "apply_", err));
        bench_line(before.private_mb, "MiB", "resource_set_before_private_mb");
        return 0;
}

static int tell_memory(struct run *r, const char *what, struct error *err)
{
        struct bench_usage u;
        TRY(fiber_sleep(r->bench->loop, SETTLE_MS));
        TRY(usage(r, &u, err));
        bench_line(u.private_mb, "MiB", "resource_set_%d_inputs_%sprivate_mb", INPUTS, what);
        return 0;
}

static int measure_again(struct run *r, struct error *err)
{
        int64_t began, version;
        TRY(begin_count(r, &version, err));
        began = loop_now_us(r->bench->loop);
        TRY(request_run(r, "again", err));
        TRY(await_run(r, "again", err));
        bench_line((double)(loop_now_us(r->bench->loop) - began) / 1e6, "s",
                   "resource_set_%d_inputs_unchanged_s", INPUTS);
        return tell_writes(r, version, "unchanged_", err);
}

static int measure_restart(struct run *r, struct error *err)
{
        int64_t version;
        TRY(r->fleet->ops->stop_agent(r->fleet, "hub-agent", false, err));
        TRY(begin_count(r, &version, err));
        TRY(request_run(r, "restart", err));
        TRY(r->fleet->ops->start_agent(r->fleet, "hub-agent", err));
        TRY(await_run(r, "restart", err));
        return tell_writes(r, version, "restart_", err);
}

static int watch_sets(struct run *r, struct error *err)
{
        const struct informer_options o = { .kind = &resource_set_kind, .flags = DECODE_PROJECTION };
        r->seen = informer_new(r->hub, r->bench->group, &o);
        if (!r->seen)
                return error_no_memory(err);
        return informer_wait_synced(r->seen, loop_now_ms(r->bench->loop) + PATIENCE_MS);
}

static int measure(struct run *r, struct error *err)
{
        AUTO_JSON json_t *doc = NULL;
        TRY(make_doc(r, &doc, err));
        TRY(measure_render(r, doc, err));
        TRY(measure_permutations(r, err));
        r->fleet->resource_sets = true;
        TRY(fleet_set_up(r->fleet, loop_now_ms(r->bench->loop) + PATIENCE_MS, err));
        TRY(r->fleet->ops->client(r->fleet, "hub", &r->hub, err));
        r->sets = kube_resource_of(&resource_set_kind);
        TRY(watch_sets(r, err));
        TRY(fiber_sleep(r->bench->loop, SETTLE_MS)); /* it leads, and has its caches */
        TRY(measure_apply(r, doc, err));
        TRY(tell_memory(r, "settled_", err));
        TRY(measure_again(r, err));
        TRY(measure_restart(r, err));
        return tell_memory(r, "started_again_", err);
}

static int body(struct bench *b, struct error *err)
{
        struct run *r = NEW(struct run);
        int code;
        if (!r)
                return error_no_memory(err);
        r->bench = b;
        code = bench_fleet_open(b, 0, &r->fleet, err);
        if (code == 0) {
                code = measure(r, err);
                if (r->seen)
                        informer_stop(r->seen);
                r->fleet->ops->close(r->fleet);
        }
        arena_free(&r->arena);
        mem_free(r);
        return code;
}

int main(int argc, char **argv)
{
        return bench_main(argc, argv, "bench_resource_sets", body);
}
