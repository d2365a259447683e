#include "hub-agent/hub_agent.h"

#include "common/base/memory.h"
#include "hub-agent/agent.h"
#include "hub-agent/early.h"
#include "hub-agent/eviction/eviction_agent.h"
#include "hub-agent/input-provider/input_provider_agent.h"
#include "hub-agent/override/override_index.h"
#include "hub-agent/placement/catalog.h"
#include "hub-agent/placement/progress.h"
#include "hub-agent/placement/workload_metrics.h"
#include "hub-agent/resource-set/resource_set_agent.h"
#include "hub-agent/scheduler/scheduler_agent.h"
#include "hub-agent/shards.h"
#include "hub-agent/source/source_agent.h"
#include "hub-agent/webhook/left_over.h"
#include "hub-agent/webhook/policies_agent.h"
#include "hub-agent/webhook/serving.h"
#include "hub-agent/work-generator/work_index.h"

#define SNAPSHOT_MIN_INTERVAL_MS 30000
#define CHANGE_COLLECT_MS 15000
#define FORCE_DELETE_WAIT_MS (15 * 60 * 1000)
#define SETTLE_MS 200
#define LEASE_MS 60000
#define RENEW_MS 45000
#define RETRY_MS 5000
#define DEFINITIONS_WAIT_MS 30000
#define DEFINITIONS_PAUSE_MS 1000 /* as often as a miss is asked for anew */

static int64_t or_default(int64_t given, int64_t fallback)
{
        return given < 0 ? fallback : given;
}

/* Kinds of which there are as many as placements have clusters, or that tell of each cluster: held stowed. */
static int add_large_caches(struct hub_agent *a)
{
        static const struct kind *const kinds[] = { &cluster_resource_binding_kind, &resource_binding_kind,
                                                    &work_kind, &cluster_resource_placement_kind,
                                                    &resource_placement_kind };

        for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
                const struct informer_options o = { .kind = kinds[i],
                                                    .flags = DECODE_PROJECTION,
                                                    .stowed = true };
                struct informer *informer;

                TRY(manager_add_informer(a->manager, &o, &informer));
                manager_await_informer(a->manager, informer);
        }
        return 0;
}

static int add_index(struct hub_agent *a, const struct kind *kind, const char *name, index_fn fn)
{
        struct informer *i = manager_informer(a->manager, kind);

        return i ? informer_add_index(i, name, fn) : ERR_NO_MEMORY;
}

static int add_indexes(struct hub_agent *a)
{
        static const char *const namespaces[] = { NULL, "any" };

        for (size_t i = 0; i < ARRAY_LEN(namespaces); i++) {
                const struct scope *s = scope_of(namespaces[i]);

                TRY(add_index(a, s->policy_snapshot, INDEX_OWNER, emit_owner));
                TRY(add_index(a, s->resource_snapshot, INDEX_OWNER, emit_owner));
                TRY(add_index(a, s->binding, INDEX_OWNER, emit_owner));
                TRY(add_index(a, s->binding, INDEX_CLUSTER, emit_cluster));
                TRY(add_index(a, s->placement, INDEX_SELECTOR, emit_selectors));
                TRY(add_index(a, s->placement, INDEX_SELECTED, emit_selected));
        }
        TRY(add_index(a, &cluster_resource_override_snapshot_kind, INDEX_OVERRIDE, emit_override));
        TRY(add_index(a, &resource_override_snapshot_kind, INDEX_OVERRIDE, emit_override));
        TRY(add_index(a, &cluster_resource_override_snapshot_kind, INDEX_LATEST, emit_latest));
        TRY(add_index(a, &resource_override_snapshot_kind, INDEX_LATEST, emit_latest));
        TRY(add_index(a, &work_kind, INDEX_BINDING, emit_work_binding));
        return a->options->without_evictions ? 0 : eviction_add_index(a);
}

static int add_staged_runs(struct hub_agent *a)
{
        TRY(add_index(a, &cluster_staged_update_run_kind, INDEX_PLACEMENT, emit_update_run_placement));
        TRY(add_index(a, &staged_update_run_kind, INDEX_PLACEMENT, emit_update_run_placement));
        return manager_add_controller(a->manager, &update_run_controller);
}

static int add_controllers(struct hub_agent *a)
{
        static const struct controller *const all[] = {
                &membership_controller,       &intake_controller,
                &placement_status_controller, &scheduler_controller,
                &rollout_controller,          &work_generator_controller,
                &override_controller,         &admission_policies_controller
        };

        TRY(manager_add_controller(a->manager, a->options->webhooks ? &webhook_configurations_controller
                                                                    : &left_over_webhooks_controller));
        for (size_t i = 0; i < ARRAY_LEN(all); i++)
                TRY(manager_add_controller(a->manager, all[i]));
        if (!a->options->without_report_back)
                TRY(manager_add_controller(a->manager, &report_back_controller));
        if (!a->options->without_staged_runs)
                TRY(add_staged_runs(a));
        if (!a->options->without_inventory)
                TRY(manager_add_controller(a->manager, &cluster_profile_controller));
        return a->options->without_evictions ? 0 : manager_add_controller(a->manager, &eviction_controller);
}

static int make_manager(struct hub_agent *a, struct error *err)
{
        const struct hub_agent_options *o = a->options;
        struct manager_options m = {
                .world = o->world,
                .log = o->log,
                .kube = &a->kube,
                .agent = a,
                .component = "hub-agent",
                .metrics = a->metrics,
                .interns = a->interns,
                .lease_namespace = o->lease_namespace ? o->lease_namespace : NAMESPACE_FLEET_SYSTEM,
                .lease_name = o->leader_election ? LEASE_HUB_AGENT : NULL,
                .identity = o->identity,
                .lease_duration_ms = o->lease_duration_ms > 0 ? o->lease_duration_ms : LEASE_MS,
                .renew_deadline_ms = o->renew_deadline_ms > 0 ? o->renew_deadline_ms : RENEW_MS,
                .retry_period_ms = o->retry_period_ms > 0 ? o->retry_period_ms : RETRY_MS,
                .shards = o->leader_election ? o->shards : 0,
                .forget = shards_forget,
                .early = early_kinds,
                .n_early = n_early_kinds,
        };

        a->manager = manager_new(&m, a->group, err);
        if (!a->manager)
                return err && err->code ? err->code : error_no_memory(err);
        if (add_large_caches(a) < 0 || add_indexes(a) < 0 || add_controllers(a) < 0)
                return error_no_memory(err);
        return 0;
}

static void connection_changed(void *ctx, const struct kube_connection_change *change)
{
        connection_metrics_note(((struct hub_agent *)ctx)->metrics, change);
}

static int connect_hub(struct hub_agent *a, struct error *err)
{
        const struct kube_connection_options o = { .kube = &a->kube,
                                                   .name = "hub",
                                                   .title = "the hub's API server",
                                                   .changed = connection_changed,
                                                   .ctx = a };

        a->connection = kube_connection_new(a->group, &o);
        return a->connection ? 0 : error_no_memory(err);
}

static int agent_open(struct hub_agent *a, const struct hub_agent_options *o, struct error *err)
{
        *a = (struct hub_agent){
                .options = o,
                .world = o->world,
                .log = *o->log,
                .kube = { .world = o->world,
                          .endpoint = o->hub,
                          .log = o->log,
                          .field_manager = "hub-agent",
                          .page_most = o->list_page },
                .interns = intern_table_new(),
                .metrics = o->metrics ? o->metrics : metrics_new(METRIC_OF_HUB),
                .bodies = body_cache_new(),
                .progress = progress_series_new(),
                .scheduler = scheduler_memory_new(),
                .input_providers = o->resource_sets ? input_providers_new() : NULL,
                .sources = o->sources ? sources_new(o->world, o->sources) : NULL,
                .group = fiber_group_new(o->world->loop, NULL, "hub-agent"),
                .snapshot_min_interval_ms =
                        or_default(o->resource_snapshot_min_interval_ms, SNAPSHOT_MIN_INTERVAL_MS),
                .change_collect_ms = or_default(o->resource_change_collect_ms, CHANGE_COLLECT_MS),
                .force_delete_wait_ms =
                        o->force_delete_wait_ms > 0 ? o->force_delete_wait_ms : FORCE_DELETE_WAIT_MS,
                .settle_ms = SETTLE_MS,
        };
        memories_init(&a->members, &member_memory_kind);
        memories_init(&a->intakes, &intake_memory_kind);
        memories_init(&a->statuses, &status_memory_kind);
        memories_init(&a->bindings, &binding_memory_kind);
        memories_init(&a->update_runs, &update_run_memory_kind);
        memories_init(&a->not_reported, &not_reported_memory_kind);
        memories_init(&a->reported, &reported_memory_kind);
        memories_init(&a->resource_sets, &resource_set_memory_kind);
        a->mapper = kube_mapper_new(&a->kube);
        a->catalog = catalog_new(a);
        if (!a->interns || !a->metrics || !a->bodies || !a->progress || !a->scheduler || !a->group ||
            !a->mapper || !a->catalog || (o->resource_sets && !a->input_providers) ||
            (o->sources && !a->sources))
                return error_no_memory(err);
        workload_metrics_init(a->metrics);
        metric_set(a->metrics, METRIC_SCHEDULING_WORKERS, 0, NULL);
        TRY(connect_hub(a, err));
        TRY(filter_rules_parse(o->skipped_resources, o->allowed_resources, o->skipped_namespaces,
                               o->enable_workload, &a->filters, err));
        return make_manager(a, err);
}

static void agent_close(struct hub_agent *a)
{
        struct loop *l = a->world->loop;

        fiber_mask_cancel(l);
        if (a->following)
                a->following = fiber_group_end(a->following);
        a->catalog = catalog_free(a->catalog);
        manager_free(a->manager);
        kube_mapper_free(a->mapper);
        kube_connection_free(a->connection);
        fiber_group_end(a->group);
        scheduler_memory_free(a->scheduler);
        input_providers_free(a->input_providers);
        sources_free(a->sources);
        memories_free(&a->members);
        memories_free(&a->intakes);
        memories_free(&a->statuses);
        memories_free(&a->bindings);
        memories_free(&a->update_runs);
        memories_free(&a->not_reported);
        memories_free(&a->reported);
        memories_free(&a->resource_sets);
        progress_series_free(a->progress);
        body_cache_free(a->bodies);
        filter_rules_free(&a->filters);
        if (!a->options->metrics)
                metrics_free(a->metrics);
        intern_table_free(a->interns);
        fiber_unmask_cancel(l);
}

/* The hub may still be starting, or the way to it may be wrong: the first discovery is tried until it works.
 */
static int first_discovery(struct hub_agent *a, struct error *err)
{
        char told[ERROR_TEXT_MAX] = "";
        int64_t pause_ms = 100;
        int code;

        if (kube_connection_wait(a->connection, DEADLINE_NONE) < 0)
                return error_set(err, ERR_CANCELLED, "cancelled");
        while ((code = catalog_refresh(a->catalog, err)) < 0) {
                if (code == ERR_CANCELLED || code == ERR_NO_MEMORY)
                        return code;
                if (!kube_connection_tells(&a->kube, err) && !text_equal(told, err->text))
                        log_warn(&a->log, "discovery fails, trying again", "error", err->text);
                snprintf(told, sizeof(told), "%s", err->text);
                if (kube_connection_pause(&a->kube, pause_ms) < 0)
                        return error_set(err, ERR_CANCELLED, "cancelled");
                pause_ms = MIN(pause_ms * 2, 5000);
                error_clear(err);
        }
        a->following = fiber_group_new(a->world->loop, a->group, "catalog");
        if (!a->following || !fiber_spawn(a->following, "catalog", catalog_follow, a->catalog))
                return error_no_memory(err);
        return 0;
}

/* ---- definitions that must be there (spec/membership-webhooks-charts.md 7.1.6) ---- */

/* `flag`: what switches off that the kind is needed; NULL = nothing does. */
static int check_definition(struct hub_agent *a, const struct kind *kind, const char *flag, struct error *err)
{
        struct kube_mapped mapped;
        int code = kube_mapper_kind(a->mapper, kind->group, kind->version, kind->kind, &mapped, err);

        if (code != ERR_NOT_FOUND)
                return code;
        return error_set(err, ERR_UNSUPPORTED,
                         "the hub does not serve kind \"%s\" of %s: install the chart's definitions%s%s%s",
                         kind->kind, kind->api_version, flag ? ", or start the agent with --" : "",
                         or_empty(flag), flag ? "=false" : "");
}

static int check_all(struct hub_agent *a, const struct kind *const *kinds, size_t n, const char *flag,
                     struct error *err)
{
        for (size_t i = 0; i < n; i++)
                TRY(check_definition(a, kinds[i], flag, err));
        return 0;
}

static int check_definitions(struct hub_agent *a, struct error *err)
{
        static const struct kind *const always[] = {
                &member_cluster_kind,
                &internal_member_cluster_kind,
                &cluster_resource_placement_kind,
                &resource_placement_kind,
                &cluster_scheduling_policy_snapshot_kind,
                &scheduling_policy_snapshot_kind,
                &cluster_resource_snapshot_kind,
                &resource_snapshot_kind,
                &cluster_resource_binding_kind,
                &resource_binding_kind,
                &work_kind,
                &cluster_resource_override_kind,
                &cluster_resource_override_snapshot_kind,
                &resource_override_kind,
                &resource_override_snapshot_kind,
                &cluster_resource_placement_status_kind,
        };
        static const struct kind *const of_runs[] = {
                &cluster_staged_update_run_kind, &cluster_staged_update_strategy_kind,
                &cluster_approval_request_kind,  &staged_update_run_kind,
                &staged_update_strategy_kind,    &approval_request_kind,
        };
        static const struct kind *const of_evictions[] = {
                &cluster_resource_placement_eviction_kind, &cluster_resource_placement_disruption_budget_kind
        };

        TRY(check_all(a, always, ARRAY_LEN(always), NULL, err));
        if (!a->options->without_staged_runs)
                TRY(check_all(a, of_runs, ARRAY_LEN(of_runs), "enable-staged-update-run-apis", err));
        if (!a->options->without_evictions)
                TRY(check_all(a, of_evictions, ARRAY_LEN(of_evictions), "enable-eviction-apis", err));
        return a->options->without_inventory
                       ? 0
                       : check_definition(a, &cluster_profile_kind, "enable-cluster-inventory-apis", err);
}

/* They may be installed together with the agent, and come a moment after it. */
static int await_definitions(struct hub_agent *a, struct error *err)
{
        int64_t deadline = loop_now_ms(a->world->loop) + DEFINITIONS_WAIT_MS;
        int code;

        while ((code = check_definitions(a, err)) < 0) {
                if (code == ERR_CANCELLED || code == ERR_NO_MEMORY ||
                    (code == ERR_UNSUPPORTED && loop_now_ms(a->world->loop) >= deadline))
                        return code;
                if (kube_connection_pause(&a->kube, DEFINITIONS_PAUSE_MS) < 0)
                        return error_set(err, ERR_CANCELLED, "cancelled");
                error_clear(err);
        }
        return 0;
}

/* Reviews are answered before anybody is led to them. */
static int start_webhooks(struct hub_agent *a, struct error *err)
{
        const struct webhook_serving_options o = { .webhooks = a->options->webhooks,
                                                   .world = a->world,
                                                   .log = &a->log,
                                                   .kube = &a->kube,
                                                   .manager = a->manager,
                                                   .mapper = a->mapper,
                                                   .filters = &a->filters,
                                                   .group = a->group };

        if (!o.webhooks) {
                left_over_webhooks_enqueue(a->manager);
                return 0;
        }
        TRY(webhook_serving_start(&o, &a->webhooks, err));
        return webhook_configurations_start(a->manager) < 0 ? error_no_memory(err) : 0;
}

static bool webhooks_ready(struct hub_agent *a, struct buf *why_not)
{
        if (!a->options->webhooks)
                return true;
        if (a->webhooks)
                return webhook_serving_ready(a->webhooks, why_not);
        buf_printf(why_not, "the webhooks are not served yet\n");
        return false;
}

/* Both say what they lack. */
static bool is_ready(void *agent, struct buf *why_not)
{
        struct hub_agent *a = agent;
        bool ready = catalog_ready(a->catalog, why_not);

        return webhooks_ready(a, why_not) && ready;
}

int hub_agent_run(const struct hub_agent_options *o, struct error *err)
{
        struct http_server *metrics = NULL, *probes = NULL;
        struct hub_agent a;
        struct health h;
        int code = agent_open(&a, o, err);

        h = (struct health){ a.manager, a.metrics, { a.connection }, is_ready, &a };
        if (code == 0)
                code = health_serve(&h, o->world, o->bind, o->metrics_port, &metrics, err);
        if (code == 0 && o->health_port != o->metrics_port)
                code = health_serve(&h, o->world, o->bind, o->health_port, &probes, err);
        if (code == 0 && o->probed)
                o->probed(o->probed_ctx, health_handle, &h);
        if (code == 0)
                code = first_discovery(&a, err);
        if (code == 0)
                code = await_definitions(&a, err);
        if (code == 0 && o->resource_sets)
                code = resource_sets_start(&a, err);
        if (code == 0 && o->sources)
                code = sources_start(&a, err);
        if (code == 0)
                code = start_webhooks(&a, err);
        if (code == 0)
                code = admission_policies_start(a.manager, o->admission_policies != NULL, err);
        if (code == 0)
                code = manager_run(a.manager, err);
        fiber_mask_cancel(o->world->loop);
        a.webhooks = webhook_serving_stop(a.webhooks);
        sources_stop(a.sources);
        if (o->probed)
                o->probed(o->probed_ctx, NULL, NULL);
        if (metrics)
                http_server_stop(metrics);
        if (probes)
                http_server_stop(probes);
        fiber_unmask_cancel(o->world->loop);
        agent_close(&a);
        return code;
}

const char *hub_agent_crd(size_t i)
{
        for (size_t k = 0; k < n_crd_texts; k++)
                if (crd_texts[k].hub && i-- == 0)
                        return crd_texts[k].json;
        return NULL;
}

const char *hub_agent_member_crd(size_t i)
{
        for (size_t k = 0; k < n_crd_texts; k++)
                if (crd_texts[k].member && i-- == 0)
                        return crd_texts[k].json;
        return NULL;
}
