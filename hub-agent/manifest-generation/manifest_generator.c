#include "hub-agent/manifest-generation/manifest_generator.h"

#include "common/base/memory.h"
#include "hub-agent/manifest-generation/generation_agent.h"

#define LEASE_MS 60000
#define RENEW_MS 45000
#define RETRY_MS 5000
#define DRIFT_PAUSE_MS 1000

static const char *const root_path[] = { "" };

/* ---- drift ---- */

/* Most news is of statuses, or of what was just applied. */
static void object_changed(void *ctx, const char *identity, struct known_object *known,
                           const struct object *live)
{
        struct generator_agent *a = ctx;
        const struct sync_item *item = a->desired ? map_get(&a->desired->by_identity, identity) : NULL;
        int64_t due_ms =
                loop_now_ms(a->world->loop) + (known->drifts ? mend_pause_ms(known->drifts) : DRIFT_PAUSE_MS);

        if (!item || !a->options->drift || item->outcome == ITEM_IGNORED || item->outcome == ITEM_FAILED ||
            (live && known_object_holds(known, &live->meta, item->object.doc, item->mark)))
                return;
        known->due_ms = MIN(known->due_ms, due_ms);
        timetable_mend_at(&a->timetable, known->due_ms);
        work_ask(a);
}

/* ---- opening and closing ---- */

static void connection_changed(void *ctx, const struct kube_connection_change *change)
{
        struct generator_agent *a = ctx;
        int64_t now_ms = loop_now_ms(a->world->loop);

        connection_metrics_note(a->metrics, change);
        if (!change->over || change->left > 0 || !a->view)
                return;
        hub_view_hurry(a->view, now_ms); /* what failed failed for this */
        timetable_mend_at(&a->timetable, hub_view_due_ms(a->view));
        a->timetable.sync_asked |= a->sync_failures > 0;
        work_ask(a);
}

static int connect_hub(struct generator_agent *a, struct error *err)
{
        const struct kube_connection_options o = { .kube = &a->kube,
                                                   .name = "hub",
                                                   .title = "the hub's API server",
                                                   .changed = connection_changed,
                                                   .ctx = a };

        a->connection = kube_connection_new(a->group, &o);
        return a->connection ? 0 : error_no_memory(err);
}

static int make_manager(struct generator_agent *a, struct error *err)
{
        const struct generation_options *o = a->options;
        const struct manager_options m = {
                .world = o->world,
                .log = o->log,
                .kube = &a->kube,
                .agent = a,
                .component = GENERATION_COMPONENT,
                .metrics = a->metrics,
                .interns = a->interns,
                .lease_namespace = text_empty(o->lease_namespace) ? o->agent_namespace : o->lease_namespace,
                .lease_name = o->leader_election ? GENERATION_LEASE : NULL,
                .identity = o->identity,
                .lease_duration_ms = o->lease_duration_ms > 0 ? o->lease_duration_ms : LEASE_MS,
                .renew_deadline_ms = o->renew_deadline_ms > 0 ? o->renew_deadline_ms : RENEW_MS,
                .retry_period_ms = o->retry_period_ms > 0 ? o->retry_period_ms : RETRY_MS,
        };
        struct hub_view_options v = { .interns = a->interns, .changed = object_changed, .ctx = a };

        a->manager = manager_new(&m, a->group, err);
        if (!a->manager)
                return err && err->code ? err->code : error_no_memory(err);
        v.manager = a->manager;
        a->view = hub_view_new(&v);
        if (!a->view || manager_add_controller(a->manager, &work_controller) < 0 ||
            manager_add_controller(a->manager, &request_controller) < 0 || requests_open(a) < 0)
                return error_no_memory(err);
        return 0;
}

static struct generator_agent agent_of_options(const struct generation_options *o)
{
        return (struct generator_agent){
                .options = o,
                .world = o->world,
                .log = *o->log,
                .kube = { .world = o->world,
                          .endpoint = o->hub,
                          .log = o->log,
                          .field_manager = GENERATION_COMPONENT },
                .interns = intern_table_new(),
                .metrics = o->metrics ? o->metrics : metrics_new(METRIC_OF_GENERATOR),
                .group = fiber_group_new(o->world->loop, NULL, GENERATION_COMPONENT),
                .rules = { o->namespaces, o->n_namespaces, o->agent_namespace },
                .commands = { .world = o->world,
                              .shell = o->shell,
                              .timeout_ms = o->sync_timeout_ms,
                              .shown = o->generator_env,
                              .n_shown = o->n_generator_env },
                .cache = o->generator_cache ? generator_cache_new() : NULL,
                .paths = o->n_paths ? o->paths : root_path,
                .n_paths = o->n_paths ? o->n_paths : 1,
        };
}

static int agent_open(struct generator_agent *a, const struct generation_options *o, struct error *err)
{
        int64_t now_ms = loop_now_ms(o->world->loop);

        *a = agent_of_options(o);
        a->mapper = kube_mapper_new(&a->kube);
        a->records = mem_calloc(a->n_paths, sizeof(*a->records));
        map_init(&a->told, MAP_OWN_KEYS, NULL);
        map_init(&a->owed, MAP_OWN_KEYS, owed_answer_free);
        sync_set_name(slice_of(or_empty(o->url)), o->branch, o->paths, o->n_paths, a->set_name);
        repository_status_init(&a->repository, !text_empty(o->url), o->readonly, o->git_poll_ms);
        timetable_init(&a->timetable, text_empty(o->url) ? 0 : o->sync_interval_ms,
                       o->images.ops && !o->readonly ? o->images_ms : 0, now_ms);
        if (!a->interns || !a->metrics || !a->group || !a->mapper || !a->records ||
            (o->generator_cache && !a->cache))
                return error_no_memory(err);
        metric_set(a->metrics, METRIC_GIT_READY, 0, NULL);
        metric_set(a->metrics, METRIC_JOBS_WAITING, 0, NULL);
        TRY(connect_hub(a, err));
        return make_manager(a, err);
}

static void agent_close(struct generator_agent *a)
{
        struct loop *l = a->world->loop;

        fiber_mask_cancel(l);
        a->view = hub_view_free(a->view);
        manager_free(a->manager);
        kube_mapper_free(a->mapper);
        kube_connection_free(a->connection);
        fiber_group_end(a->group);
        desired_free(a->desired);
        generator_cache_free(a->cache);
        sync_problems_clear(&a->problems);
        mem_free(a->records);
        mem_free(a->images);
        json_decref(a->status);
        map_free(&a->told);
        map_free(&a->owed);
        if (!a->options->metrics)
                metrics_free(a->metrics);
        intern_table_free(a->interns);
        fiber_unmask_cancel(l);
}

/* ---- running ---- */

/* The hub may still be starting. */
static int first_discovery(struct generator_agent *a, struct error *err)
{
        int64_t pause_ms = 100;
        int code;

        if (kube_connection_wait(a->connection, DEADLINE_NONE) < 0)
                return error_set(err, ERR_CANCELLED, "cancelled");
        while ((code = kube_mapper_refresh(a->mapper, NULL, err)) < 0) {
                if (code == ERR_CANCELLED || code == ERR_NO_MEMORY)
                        return code;
                if (!kube_connection_tells(&a->kube, err))
                        log_warn(&a->log, "discovery fails, trying again", "error", err->text);
                if (kube_connection_pause(&a->kube, pause_ms) < 0)
                        return error_set(err, ERR_CANCELLED, "cancelled");
                pause_ms = MIN(pause_ms * 2, 5000);
                error_clear(err);
        }
        return 0;
}

static void tell_settings(struct generator_agent *a)
{
        const struct generation_options *o = a->options;

        if (text_empty(o->url))
                log_warn(&a->log, "git-url is not set: nothing is synced");
        else if (o->n_paths == 0)
                log_info(&a->log, "the whole repository is synced", "url", o->public_url, "branch",
                         o->branch);
        else
                log_info(&a->log, "target paths are synced", "url", o->public_url, "branch", o->branch,
                         "paths", LOG_INT(o->n_paths));
        if (!o->images.ops)
                log_info(&a->log, "registries are not scanned: nothing is released automatically");
        else if (o->readonly)
                log_info(&a->log, "the repository is read-only: nothing is released automatically");
}

int manifest_generator_run(const struct generation_options *o, struct error *err)
{
        struct http_server *metrics = NULL, *probes = NULL;
        struct generator_agent a;
        struct health h;
        int code = agent_open(&a, o, err);

        h = (struct health){ a.manager, a.metrics, { a.connection }, NULL, NULL };
        if (code == 0)
                code = health_serve(&h, o->world, o->bind, o->metrics_port, &metrics, err);
        if (code == 0 && o->health_port != o->metrics_port)
                code = health_serve(&h, o->world, o->bind, o->health_port, &probes, err);
        if (code == 0)
                code = first_discovery(&a, err);
        if (code == 0) {
                tell_settings(&a);
                work_ask(&a);
                code = manager_run(a.manager, err);
        }
        fiber_mask_cancel(o->world->loop);
        if (metrics)
                http_server_stop(metrics);
        if (probes)
                http_server_stop(probes);
        fiber_unmask_cancel(o->world->loop);
        agent_close(&a);
        return code;
}
