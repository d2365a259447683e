/* Asks the sources of ResourceSetInputProviders and writes what they gave to status.exportedInputs, which
 * ResourceSets read. What was exported stays whatever fails. spec/resource-set.md 18. */
#include "common/base/memory.h"
#include "hub-agent/input-provider/input_provider_agent.h"

#define ZONE_FILE_BYTES (256u << 10)

struct pass {
        struct reconcile *rc;
        const struct input_provider *now; /* whole, as the server has it */
        struct input_provider *wanted;    /* a copy with the status that is to be */
        struct provider_plan plan;
        int64_t began_ms; /* loop */
};

/* ---- time zones ---- */

static int find_zone(void *ctx, const char *name, struct arena *arena, const struct zone **ret,
                     struct error *err)
{
        struct world *w = ctx;
        const char *path = arena_printf(arena, ZONE_FOLDER "%s", name);
        char *file = NULL;
        size_t n = 0;

        if (!path)
                return error_no_memory(err);
        int code = w->files->read(w->ctx, path, ZONE_FILE_BYTES, &file, &n, NULL);

        if (code == 0)
                code = zone_parse(arena, (struct slice){ file, n }, ret, NULL);
        mem_free(file);
        if (code == 0 || code == ERR_NO_MEMORY)
                return code < 0 ? error_no_memory(err) : 0;
        if (w->files->stamp(w->ctx, ZONE_FOLDER "UTC") == 0)
                return error_set(err, ERR_INVALID,
                                 "unknown time zone %s: the agent has no time zone database at " ZONE_FOLDER,
                                 name);
        return error_set(err, ERR_INVALID, "unknown time zone %s", name);
}

/* ---- the status ---- */

static int copy(struct pass *s)
{
        s->wanted = (struct input_provider *)object_copy(&s->now->object, s->rc->arena);
        return s->wanted && provider_status(s->wanted, s->rc->arena) ? 0 : error_no_memory(s->rc->err);
}

static int write(struct pass *s)
{
        const struct object *stored = &s->now->object;

        TRY(rc_patch_diff(s->rc, &s->now->object, &s->wanted->object, OBJECT_STATUS, &stored));
        input_provider_show(s->rc, s->wanted);
        /* Later differences are bound to what is there now; the cache's object may lack the bulk of it. */
        s->wanted->object.meta.resource_version = stored->meta.resource_version;
        s->now = s->wanted;
        return copy(s);
}

static int put_state(struct pass *s, enum flux_state state, const char *reason, const char *message)
{
        return flux_state_set(&s->wanted->status->conditions, s->now->object.meta.generation, state, reason,
                              message, loop_wall_ms(s->rc->kube->world->loop), s->rc->arena) < 0
                       ? error_no_memory(s->rc->err)
                       : 0;
}

static int note_handled(struct pass *s)
{
        return provider_note_handled(s->wanted, s->rc->arena) < 0 ? error_no_memory(s->rc->err) : 0;
}

/* Until the spec or an annotation changes. */
static struct outcome stall(struct pass *s, const char *reason)
{
        struct reconcile *rc = s->rc;
        const char *message = arena_printf(
                rc->arena, "Reconciliation failed terminally due to configuration error: %s", rc->err->text);

        if (!message) {
                error_no_memory(rc->err);
                return failed(rc->err);
        }
        if (put_state(s, FLUX_STALLED, reason, message) < 0 ||
            provider_set_next(s->wanted, NULL, 0, rc->arena) < 0 || note_handled(s) < 0 || write(s) < 0)
                return failed(rc->err);
        rc_event(rc, &s->now->object, "Warning", reason, "%s", message);
        log_error(&rc->log, message);
        error_clear(rc->err);
        return done();
}

/* ---- the end of a run ---- */

static int64_t until(struct pass *s, int64_t wall_ms)
{
        return wall_ms - loop_wall_ms(s->rc->kube->world->loop);
}

static struct outcome succeed(struct pass *s, const json_t *exports)
{
        struct reconcile *rc = s->rc;
        struct loop *l = rc->kube->world->loop;
        struct next_run next = schedule_after_run(&s->plan.schedule, s->plan.every_ms, loop_wall_ms(l));
        char took[FLUX_TOOK_SIZE];

        flux_took_text(loop_now_ms(l) - s->began_ms, took);
        const char *message = arena_printf(rc->arena, "Reconciliation finished in %s", took);

        if (!message) {
                error_no_memory(rc->err);
                return failed(rc->err);
        }
        if (provider_set_exports(s->wanted, exports, rc->arena, rc->err) < 0 ||
            put_state(s, FLUX_DONE, REASON_FLUX_SUCCEEDED, message) < 0 ||
            provider_set_next(s->wanted, next.entry, next.at_ms, rc->arena) < 0 || note_handled(s) < 0 ||
            write(s) < 0)
                return failed(rc->err);
        rc_event(rc, &s->now->object, "Normal", REASON_FLUX_SUCCEEDED, "%s, revision %s", message,
                 s->now->status->last_exported_revision);
        return next.at_ms == INT64_MAX ? done() : again_after(until(s, next.at_ms));
}

/* The frame tries again by back-off, or when the source wants: its refusals are none of the hub's. */
static struct outcome fail(struct pass *s)
{
        struct reconcile *rc = s->rc;
        struct error why = *rc->err;

        if (why.code == ERR_CANCELLED)
                return failed(rc->err);
        if (put_state(s, FLUX_FAILED, REASON_FLUX_FAILED, why.text) < 0 || note_handled(s) < 0 ||
            write(s) < 0)
                return failed(rc->err);
        rc_event(rc, &s->now->object, "Warning", REASON_FLUX_FAILED, "%s", why.text);
        error_set(rc->err, ERR_RETRY, "%s", why.text);
        rc->err->retry_after_ms = why.retry_after_ms;
        return failed(rc->err);
}

/* ---- a run ---- */

/* Not now: at the next window. A new provider says so, of others nothing changes. */
static struct outcome skip(struct pass *s)
{
        struct reconcile *rc = s->rc;
        char when[RFC3339_SIZE] = "never";
        int64_t at_ms = INT64_MAX;
        const struct schedule_entry *e =
                schedule_next(&s->plan.schedule, loop_wall_ms(rc->kube->world->loop), &at_ms);

        if (e)
                time_format_rfc3339(at_ms, when);
        const char *message = arena_printf(rc->arena, "Reconciliation skipped, next scheduled at %s", when);

        if (!message) {
                error_no_memory(rc->err);
                return failed(rc->err);
        }
        if ((provider_is_new(s->now) && put_state(s, FLUX_DONE, REASON_FLUX_SKIPPED, message) < 0) ||
            provider_set_next(s->wanted, e, at_ms, rc->arena) < 0 || note_handled(s) < 0 || write(s) < 0)
                return failed(rc->err);
        rc_event(rc, &s->now->object, "Normal", REASON_FLUX_SKIPPED, "%s", message);
        log_info(&rc->log, message);
        return e ? again_after(until(s, at_ms)) : done();
}

static int collect(struct pass *s, struct source *source, json_t **ret)
{
        struct reconcile *rc = s->rc;
        const struct input_provider *p = s->now;
        const struct input_skip *skip_labels = p->spec->skip;
        struct export_rules rules = { .defaults = s->plan.defaults };
        AUTO_JSON json_t *former = NULL;

        if (text_equal(p->spec->type, PROVIDER_ARTIFACTS)) {
                TRY(input_provider_find_artifacts(rc, p, s->plan.filter.limit, &source->sets));
                return exports_of_sets(&rules, source->sets, ret, rc->err);
        }
        TRY(input_provider_read_secrets(rc, p, source));
        TRY(source_collect(source, rc->err));
        if (source->sets)
                return exports_of_sets(&rules, source->sets, ret, rc->err);
        TRY(provider_former_exports(p, &former, rc->err));
        rules.former = former;
        if (skip_labels) {
                rules.skip = skip_labels->labels.at;
                rules.n_skip = skip_labels->labels.n;
        }
        return exports_of_refs(&rules, source->refs.at, source->refs.n, ret, rc->err);
}

/* It may have taken minutes: what was asked for by a spec that is another by now is not written. */
static int look_again(struct pass *s, bool *ret_same)
{
        struct reconcile *rc = s->rc;
        struct object *o;
        int code =
                kube_get(rc->kube, &resource_set_input_provider_kind, rc->ns, rc->name, rc->arena, &o, NULL);

        *ret_same = true;
        if (code == ERR_NOT_FOUND)
                *ret_same = false;
        if (code < 0)
                return 0; /* the write tells what is wrong */
        *ret_same = text_equal(o->meta.uid, s->now->object.meta.uid) &&
                    o->meta.generation == s->now->object.meta.generation && !is_deleting(o);
        s->now = (const struct input_provider *)o;
        return copy(s);
}

static struct outcome ask_source(struct pass *s)
{
        struct reconcile *rc = s->rc;
        struct hub_agent *a = agent_of(rc);
        AUTO_JSON json_t *exports = NULL;
        struct error why = { 0 };
        bool same;

        if (put_state(s, FLUX_RUNNING, NULL, NULL) < 0 || write(s) < 0)
                return failed(rc->err);
        struct source source = { .world = a->world,
                                 .arena = rc->arena,
                                 .memory = &a->input_providers->sources,
                                 .type = s->now->spec->type,
                                 .url = s->now->spec->url,
                                 .filter = s->plan.filter,
                                 .insecure = s->now->spec->insecure.value,
                                 .any_address = a->options->local_input_providers,
                                 .deadline_ms = s->began_ms + s->plan.timeout_ms };
        int code = collect(s, &source, &exports);

        source_free(&source);
        why = *rc->err;
        if (code == ERR_CANCELLED)
                return failed(rc->err);
        if (look_again(s, &same) < 0)
                return failed(rc->err);
        if (!same) {
                error_clear(rc->err);
                return again_after(1);
        }
        *rc->err = why;
        return code < 0 ? fail(s) : succeed(s, exports);
}

static struct outcome run(struct pass *s)
{
        struct reconcile *rc = s->rc;
        const struct zone_source zones = { find_zone, rc->kube->world };
        const char *reason = NULL;
        AUTO_JSON json_t *exports = NULL;
        int code = provider_plan(s->now, &zones, rc->arena, &s->plan, &reason, rc->err);

        if (code == ERR_NO_MEMORY)
                return failed(rc->err);
        if (code < 0)
                return stall(s, reason);
        if (!s->plan.forced && !schedule_allows(&s->plan.schedule, rc->now_ms))
                return skip(s);
        if (!s->plan.is_static)
                return ask_source(s);
        if (exports_static(s->plan.defaults, s->now->object.meta.uid, &exports, rc->err) < 0)
                return rc->err->code == ERR_NO_MEMORY ? failed(rc->err)
                                                      : stall(s, REASON_FLUX_INVALID_EXPORTS);
        return succeed(s, exports);
}

/* ---- life ---- */

/* The finalizer, and what a new object is given. */
static int begin(struct pass *s, const struct object *cached)
{
        struct reconcile *rc = s->rc;
        struct object *whole;

        TRY(rc_set_finalizer(rc, cached, FLUX_FINALIZER, true, NULL));
        TRY(kube_get(rc->kube, &resource_set_input_provider_kind, rc->ns, rc->name, rc->arena, &whole,
                     rc->err));
        s->now = (const struct input_provider *)whole;
        TRY(copy(s));
        if (condition_find(&s->wanted->status->conditions, CONDITION_FLUX_READY))
                return 0;
        TRY(flux_is_suspended(whole) ? put_state(s, FLUX_SUSPENDED, REASON_FLUX_DISABLED,
                                                 "Initialized with reconciliation suspended")
                                     : put_state(s, FLUX_RUNNING, NULL, NULL));
        return write(s);
}

static struct outcome let_go(struct reconcile *rc, const struct object *o)
{
        memory_drop(&agent_of(rc)->input_providers->shown, rc->key);
        return o && rc_set_finalizer(rc, o, FLUX_FINALIZER, false, NULL) < 0 ? failed(rc->err) : done();
}

static struct outcome look_at(struct reconcile *rc)
{
        struct pass s = { .rc = rc, .began_ms = loop_now_ms(rc->kube->world->loop) };
        const struct object *o;

        if (cache_get(rc, &resource_set_input_provider_kind, rc->ns, rc->name, &o) < 0)
                return failed(rc->err);
        if (!o || is_deleting(o))
                return let_go(rc, o);
        if (begin(&s, o) < 0) {
                if (rc->err->code != ERR_NOT_FOUND)
                        return failed(rc->err);
                error_clear(rc->err);
                return done();
        }
        input_provider_show(rc, s.now);
        if (!flux_is_suspended(&s.now->object))
                return s.now->spec ? run(&s) : done();
        rc_event(rc, &s.now->object, "Warning", REASON_FLUX_DISABLED, "Reconciliation is disabled");
        log_error(&rc->log, "Reconciliation is disabled");
        return done();
}

static struct outcome reconcile(struct reconcile *rc)
{
        struct kube_client as_flux = *rc->kube;
        struct reconcile own = *rc;

        as_flux.field_manager = FLUX_MANAGER;
        own.kube = &as_flux;
        return look_at(&own);
}

/* Generation and annotations, not labels and what agents write. */
static void map_self(void *agent, const struct informer_event *e, key_emit emit, void *to)
{
        const struct object_meta *now = &e->now->meta;
        AUTO_KEY struct key key = KEY_EMPTY;

        if (e->type == INFORMER_UPDATED && e->old->meta.generation == now->generation &&
            e->old->meta.deletion_ms == now->deletion_ms &&
            string_map_equal(&e->old->meta.annotations, &now->annotations))
                return;
        emit(to, key_text(&key, now->ns, now->name));
}

static const struct watch watches[] = {
        { &resource_set_input_provider_kind, ON_SPEC | ON_META | ON_DELETION, map_self },
};

const struct controller input_provider_controller = {
        .name = "resourcesetinputprovider-controller",
        .watches = watches,
        .n_watches = ARRAY_LEN(watches),
        .reconcile = reconcile,
        .concurrency = 10,
        .reconcile_deadline_ms = PROVIDER_TIMEOUT_MAX_MS + 120000,
        .backoff_base_ms = PROVIDER_BACKOFF_MS,
        .backoff_max_ms = PROVIDER_BACKOFF_MAX_MS,
        .event_source = FLUX_MANAGER,
        .optional = true,
};
