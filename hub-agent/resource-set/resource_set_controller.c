/* ResourceSets: reads inputs, builds, applies, collects, and says what came of it. What is decided stands in
 * the pure files beside it. spec/resource-set.md 8, 12. */
#include "hub-agent/resource-set/resource_set_agent.h"

#include "common/kube/mapping.h"
#include "hub-agent/resource-set/dependencies.h"
#include "hub-agent/resource-set/inputs.h"
#include "hub-agent/resource-set/pass.h"
#include "hub-agent/resource-set/watches.h"

#define EVERY_MS (60 * 60000)
#define TIMEOUT_MS (5 * 60000)
#define RECHECK_MS 5000
#define JITTER_PERCENT 5
#define LINES_MAX 100
#define BACKOFF_LEAST_MS 750
#define UNTOLD_MS 5000
#define BACKOFF_MOST_MS (15 * 60000)
#define LARGE_BYTES (1 << 20) /* of the arena: hundreds of objects */
#define LONGEST_RUN_MS (6 * 60 * 60000)

static void forget(void *record)
{
        struct set_memory *m = record;

        flux_info_clear(&m->info);
        mem_free(m->trigger);
        mem_free(m->copied);
}
const struct memory_kind resource_set_memory_kind = { sizeof(struct set_memory), forget };

static struct loop *loop_of(struct set_pass *p)
{
        return agent_of(p->rc)->world->loop;
}

bool pass_is_overtaken(struct set_pass *p)
{
        return p->memory->trigger != NULL;
}

/* ---- what is told ---- */

int pass_tell(struct set_pass *p, const char *words, const char *what)
{
        if (p->n_lines++ < LINES_MAX)
                buf_printf(&p->lines, "%s%s %s", p->lines.len ? "\n" : "", words, what);
        return 0;
}

static void cut_lines(struct set_pass *p)
{
        if (p->n_lines > LINES_MAX)
                buf_printf(&p->lines, "\n... and %zu more", p->n_lines - LINES_MAX);
}

void pass_flush(struct set_pass *p, const char *step)
{
        const char *prefix = step ? arena_printf(p->rc->arena, "step \"%s\": ", step) : NULL;

        if (p->n_lines == 0)
                return;
        cut_lines(p);
        rc_event(p->rc, &p->set->object, "Normal", "ApplySucceeded", "%s%s", or_empty(prefix),
                 or_empty(p->lines.data));
        buf_clear(&p->lines);
        p->n_lines = 0;
}

static void show(struct set_pass *p, const struct resource_set *set)
{
        const struct resource_set_status *status = set->status;
        const struct condition *ready =
                status ? condition_find(&status->conditions, CONDITION_FLUX_READY) : NULL;
        char resources[16];
        const char *labels[] = { set->object.meta.uid,
                                 KIND_RESOURCE_SET,
                                 set->object.meta.name,
                                 set->object.meta.ns,
                                 ready ? ready->status : CONDITION_UNKNOWN,
                                 ready ? ready->reason : "",
                                 flux_is_suspended(&set->object) ? CONDITION_TRUE : CONDITION_FALSE,
                                 resources,
                                 status ? status->last_applied_revision : "" };

        snprintf(resources, sizeof(resources), "%u", inventory_of(set).n);
        flux_info_show(&p->memory->info, agent_of(p->rc)->metrics, METRIC_RESOURCE_SET, labels,
                       ARRAY_LEN(labels));
}

/* The next difference is made from what is stored now. */
int pass_write_status(struct set_pass *p)
{
        const struct object *stored;

        TRY(rc_patch_diff(p->rc, p->now, &p->wanted->object, OBJECT_STATUS, &stored));
        p->now = stored;
        show(p, (const struct resource_set *)stored);
        p->wanted = (struct resource_set *)object_copy(stored, p->rc->arena);
        return p->wanted && status_of(p->wanted, p->rc->arena) ? 0 : error_no_memory(p->rc->err);
}

static int say(struct set_pass *p, enum flux_state state, const char *reason, const char *message)
{
        const char *requested = annotation_of(&p->set->object, ANNOTATION_FLUX_REQUESTED);

        if (flux_state_set(&p->wanted->status->conditions, p->wanted->object.meta.generation, state, reason,
                           message, loop_wall_ms(loop_of(p)), p->rc->arena) < 0)
                return error_no_memory(p->rc->err);
        if (requested && state != FLUX_RUNNING)
                p->wanted->status->last_handled_reconcile_at = requested;
        return pass_write_status(p);
}

int pass_say_running(struct set_pass *p, const char *message)
{
        return message ? say(p, FLUX_RUNNING, NULL, message) : error_no_memory(p->rc->err);
}

static int note_history(struct set_pass *p, const char *status, bool built)
{
        struct history_note note = { .digest = p->digest,
                                     .status = status,
                                     .now_ms = loop_wall_ms(loop_of(p)),
                                     .took_ms = loop_now_ms(loop_of(p)) - p->began_ms,
                                     .counted = built,
                                     .n_inputs = p->build.n_sets,
                                     .n_resources = p->build.n,
                                     .n_different = p->build.n_different };

        return history_note(p->wanted, &note, p->rc->arena) < 0 ? error_no_memory(p->rc->err) : 0;
}

/* ---- ends of a run ---- */

/* Only a change of the set, or of what it reads, helps. */
static struct outcome stalled(struct set_pass *p, const char *reason, const char *message)
{
        if (!message || say(p, FLUX_STALLED, reason, message) < 0)
                return failed(p->rc->err);
        log_warn(&p->rc->log, "nothing can be applied until the ResourceSet is changed", "why", message);
        rc_event(p->rc, &p->set->object, "Warning", reason, "%s", message);
        return done();
}

static struct outcome build_failed(struct set_pass *p, const char *prefix, const struct error *why)
{
        const char *message = arena_printf(p->rc->arena, "%s: %s", prefix, why->text);

        if (why->code == ERR_NO_MEMORY || why->code == ERR_CANCELLED)
                return failed(p->rc->err);
        error_clear(p->rc->err);
        if (build_spec_digest(p->set, p->digest, p->rc->err) < 0 ||
            note_history(p, REASON_FLUX_BUILD_FAILED, false) < 0)
                return failed(p->rc->err);
        return stalled(p, REASON_FLUX_BUILD_FAILED, message);
}

static struct outcome retried(struct set_pass *p, const struct error *why)
{
        const char *reason = p->reason ? p->reason : REASON_FLUX_FAILED;
        const char *message = arena_printf(p->rc->arena, "reconciliation failed: %s", why->text);
        struct error kept = *why;

        if (why->code == ERR_CANCELLED || why->code == ERR_NO_MEMORY || !message)
                return failed(p->rc->err);
        error_clear(p->rc->err);
        pass_flush(p, NULL);
        if (note_history(p, reason, true) < 0 || say(p, FLUX_FAILED, reason, message) < 0)
                return failed(p->rc->err);
        p->told = true;
        rc_event(p->rc, &p->set->object, "Warning", reason, "%s", message);
        return (struct outcome){ .code = error_set(p->rc->err, ERR_RETRY, "%s", kept.text) };
}

/* How seldom a set that fails is tried again is no measure for a request of ours that was lost: until the
 * next try its status is not true. */
static void hurry(struct set_pass *p, const struct outcome *o)
{
        struct error *err = p->rc->err;

        if (!p->told && (o->code == ERR_RETRY || o->code == ERR_TIMEOUT) && err->retry_after_ms == 0)
                err->retry_after_ms = UNTOLD_MS;
}

static struct outcome waiting(struct set_pass *p, const char *why)
{
        const struct condition *ready = condition_find(&p->wanted->status->conditions, CONDITION_FLUX_READY);
        bool was = ready && text_equal(ready->reason, REASON_FLUX_DEPENDENCY);
        const char *message = arena_printf(p->rc->arena, "Retrying dependency check: %s", why);

        if (!message)
                error_no_memory(p->rc->err);
        if (!message || say(p, FLUX_WAITING, REASON_FLUX_DEPENDENCY, message) < 0)
                return failed(p->rc->err);
        if (!was)
                rc_event(p->rc, &p->set->object, "Normal", REASON_FLUX_DEPENDENCY, "%s", message);
        return again_after(agent_of(p->rc)->options->requeue_dependency_ms > 0
                                   ? agent_of(p->rc)->options->requeue_dependency_ms
                                   : RECHECK_MS);
}

/* Another run begins at once. An edit made the set another one than was read: then that run says the rest. */
static struct outcome overtaken(struct set_pass *p, const struct error *why)
{
        struct error kept = *why;
        int code;

        error_clear(p->rc->err);
        rc_event(p->rc, &p->set->object, "Normal", REASON_FLUX_HEALTH_CANCELED,
                 "Health checks canceled due to new reconciliation triggered by %s", p->memory->trigger);
        code = say(p, FLUX_FAILED, REASON_FLUX_HEALTH_CANCELED, kept.text);
        if (code < 0 && code != ERR_CONFLICT)
                return failed(p->rc->err);
        error_clear(p->rc->err);
        return again_after(1);
}

static struct outcome ended(struct set_pass *p)
{
        const struct resource_set_pace *pace = agent_of(p->rc)->options->resource_set_pace;
        int64_t every = flux_annotated_ms(&p->set->object, ANNOTATION_FLUX_EVERY, EVERY_MS), jitter;

        if (every <= 0)
                return done();
        jitter = every * (pace ? pace->jitter_percent : JITTER_PERCENT) / 100;
        if (jitter > 0)
                every += (int64_t)(loop_random_u64(loop_of(p)) % (uint64_t)(2 * jitter + 1)) - jitter;
        return again_after(every);
}

static struct outcome succeeded(struct set_pass *p)
{
        char took[FLUX_TOOK_SIZE];
        const char *message;

        flux_took_text(loop_now_ms(loop_of(p)) - p->began_ms, took);
        message = arena_printf(p->rc->arena, "Reconciliation finished in %s", took);
        p->wanted->status->last_applied_revision = arena_strdup(p->rc->arena, p->digest);
        if (!message || !p->wanted->status->last_applied_revision) {
                error_no_memory(p->rc->err);
                return failed(p->rc->err);
        }
        if (note_history(p, REASON_FLUX_SUCCEEDED, true) < 0 ||
            say(p, FLUX_DONE, REASON_FLUX_SUCCEEDED, message) < 0)
                return failed(p->rc->err);
        rc_event(p->rc, &p->set->object, "Normal", REASON_FLUX_SUCCEEDED, "%s", message);
        return ended(p);
}

/* ---- dependencies ---- */

/* Of a Secret elsewhere: whether the account may read it itself. */
static bool is_hidden(struct set_pass *p, const struct dependency *d, const struct kube_resource *r)
{
        AUTO_JSON json_t *doc = NULL;
        struct error err = { 0 };

        if (!text_equal(d->wanted->kind, "Secret") || text_equal(d->ns, p->set->object.meta.ns) ||
            !p->kube.impersonate)
                return false;
        return kube_doc_get(&p->kube, r, d->ns, d->wanted->name, &doc, &err) < 0;
}

static int check_dependency(struct set_pass *p, struct dependency *d, const char **ret_why, struct error *err)
{
        struct kube_mapped mapped;
        struct error why = { 0 };
        json_t *live = NULL;
        int code = kube_mapper_api_version(agent_of(p->rc)->mapper, d->wanted->api_version, d->wanted->kind,
                                           &mapped, &why);

        if (code == 0 && mapped.resource.namespaced && !*d->ns)
                d->ns = or_empty(p->set->object.meta.ns);
        if (code == 0)
                code = kube_doc_get(p->rc->kube, &mapped.resource, mapped.resource.namespaced ? d->ns : NULL,
                                    d->wanted->name, &live, &why);
        if (code == ERR_CANCELLED || code == ERR_NO_MEMORY)
                return error_set(err, code, "%s", why.text);
        if (code < 0) {
                *ret_why = arena_printf(p->rc->arena, "dependency %s not found: %s",
                                        or_empty(dependency_words(p->rc->arena, d)), why.text);
                return *ret_why ? 0 : error_no_memory(err);
        }
        TRY(doc_keep(p->rc->arena, live, err));
        *ret_why = dependency_judge(p->rc->arena, d, live, is_hidden(p, d, &mapped.resource),
                                    loop_wall_ms(loop_of(p)));
        return 0;
}

static int check_dependencies(struct set_pass *p, struct dependency *all, const char **ret_why,
                              struct error *err)
{
        for (uint32_t i = 0; i < p->set->spec->depends_on.n && !*ret_why; i++)
                TRY(check_dependency(p, &all[i], ret_why, err));
        return 0;
}

/* ---- inputs and objects ---- */

static int find_providers(struct set_pass *p, struct object_list *ret, const char **ret_missing)
{
        TRY(cache_list(p->rc, &resource_set_input_provider_kind, ret));
        inputs_narrow(p->set, ret, ret_missing);
        return 0;
}

struct build_call {
        struct arena *arena;
        const struct resource_set *set;
        const json_t *sets;
        struct build *ret;
        struct error *err;
        int code;
};

static void build_it(void *ctx)
{
        struct build_call *c = ctx;

        c->code = build_objects(c->arena, c->set, c->sets, c->ret, c->err);
}

/* Not on the loop: rendering may take a while, and others go on. */
static int build(struct set_pass *p, const json_t *sets, struct error *why)
{
        struct build_call c = { p->rc->arena, p->set, sets, &p->build, why, 0 };

        TRY(offload(loop_of(p), build_it, &c, why));
        return c.code;
}

/* ---- a run ---- */

static int finish_inventory(struct set_pass *p)
{
        struct resource_set_inventory *into = ARENA_NEW(p->rc->arena, struct resource_set_inventory);
        inventory none = { 0 }, sorted;

        if (!into)
                return error_no_memory(p->rc->err);
        TRY(inventory_union(p->rc->arena, &none, &p->applied, &sorted, p->rc->err));
        into->entries = sorted;
        p->wanted->status->inventory = into;
        return pass_write_status(p);
}

static int apply_and_collect(struct set_pass *p, struct error *err)
{
        inventory stale;

        TRY(pass_copy(p, err));
        TRY(build_digest(&p->build, p->digest, err));
        TRY(pass_apply(p, err));
        TRY(inventory_stale(p->rc->arena, &p->before, &p->applied, &stale, err));
        TRY(pass_collect(p, &stale, err));
        TRY(finish_inventory(p));
        pass_flush(p, NULL);
        if (!p->set->spec->wait.value)
                return 0;
        return pass_await_health(p, p->items, p->build.n,
                                 flux_annotated_ms(&p->set->object, ANNOTATION_FLUX_TIMEOUT, TIMEOUT_MS),
                                 err);
}

static struct outcome run_built(struct set_pass *p)
{
        struct error *err = p->rc->err;

        if (apply_and_collect(p, err) == 0)
                return succeeded(p);
        if (!*p->digest && build_digest(&p->build, p->digest, &(struct error){ 0 }) < 0)
                return failed(err);
        return err->code == ERR_CLOSED && p->memory->trigger ? overtaken(p, err) : retried(p, err);
}

static void tell_twins(struct set_pass *p, const json_t *sets)
{
        const char *twins = inputs_twins(p->rc->arena, sets);

        if (twins)
                rc_event(p->rc, &p->set->object, "Warning", "DuplicateInputID", "%s", twins);
}

static struct outcome run_with(struct set_pass *p, const struct object_list *providers)
{
        const struct input_provider *silent = inputs_not_exported(providers);
        struct error *err = p->rc->err;
        json_t *sets = NULL;

        if (silent)
                return waiting(p, or_empty(arena_printf(
                                          p->rc->arena, "provider %s/%s has not exported inputs yet",
                                          or_empty(silent->object.meta.ns), silent->object.meta.name)));
        if (say(p, FLUX_RUNNING, NULL, NULL) < 0)
                return failed(err);
        if (build_check(p->set, err) < 0)
                return build_failed(p, "build failed", err);
        if (!inputs_are_none(p->set) && inputs_collect(p->rc->arena, p->set, providers, &sets, err) < 0)
                return build_failed(p, "failed to compute inputs", err);
        if (sets)
                tell_twins(p, sets);
        if (build(p, sets, err) < 0)
                return build_failed(p, "build failed", err);
        return run_built(p);
}

static struct outcome run(struct set_pass *p)
{
        struct error *err = p->rc->err;
        struct object_list providers;
        struct dependency *dependencies;
        const char *why = NULL, *missing = NULL;

        if (dependencies_compile(p->rc->arena, p->set, &dependencies, err) < 0) {
                const char *message = arena_printf(
                        p->rc->arena, "Reconciliation failed terminally due to configuration error: %s",
                        err->text);

                if (err->code != ERR_INVALID)
                        return failed(err);
                error_clear(err);
                return stalled(p, REASON_FLUX_INVALID_CEL, message);
        }
        if (check_dependencies(p, dependencies, &why, err) < 0)
                return failed(err);
        if (why)
                return waiting(p, why);
        if (inputs_check(p->set, err) < 0)
                return build_failed(p, "failed to compute inputs", err);
        if (find_providers(p, &providers, &missing) < 0)
                return failed(err);
        if (!missing)
                return run_with(p, &providers);
        error_set(err, ERR_RETRY, "failed to compute inputs: failed to get provider %s/%s: not found",
                  or_empty(p->set->object.meta.ns), missing);
        return build_spec_digest(p->set, p->digest, &(struct error){ 0 }) < 0 ? failed(err) : retried(p, err);
}

/* ---- the end of a set ---- */

/* Who would delete as an account that is gone deletes nothing. Nobody but the operator removes that of all
 * sets, and then deleting fails and is tried again. */
static int account_is_there(struct set_pass *p, bool *ret)
{
        static const struct kube_resource accounts = { "", "v1", "serviceaccounts", "ServiceAccount", true };
        json_t *live;

        *ret = true;
        if (!p->account.is_local)
                return 0;
        TRY(pass_read(p, p->rc->kube, &accounts, p->account.ns, p->account.name, &live, p->rc->err));
        *ret = live != NULL;
        return 0;
}

static int uninstall(struct set_pass *p)
{
        const inventory none = { 0 };
        char took[FLUX_TOOK_SIZE];
        inventory stale;

        TRY(inventory_stale(p->rc->arena, &p->before, &none, &stale, p->rc->err));
        TRY(pass_collect(p, &stale, p->rc->err));
        flux_took_text(loop_now_ms(loop_of(p)) - p->began_ms, took);
        cut_lines(p);
        rc_event(p->rc, &p->set->object, "Normal", "UninstallSucceeded", "%s%sUninstallation completed in %s",
                 or_empty(p->lines.data), p->lines.len ? "\n" : "", took);
        return 0;
}

static struct outcome end(struct set_pass *p)
{
        struct error *err = p->rc->err;
        bool there = true;

        if (!object_has_finalizer(&p->set->object, FLUX_FINALIZER))
                return done();
        if (!flux_is_suspended(&p->set->object) && p->before.n) {
                if (account_is_there(p, &there) < 0)
                        return failed(err);
                if (!there)
                        log_warn(&p->rc->log, "skip pruning for deleted resource: its account is gone",
                                 "account", p->account.name);
                if (there && uninstall(p) < 0)
                        return retried(p, err);
        }
        return rc_set_finalizer(p->rc, p->now, FLUX_FINALIZER, false, NULL) < 0 ? failed(err) : done();
}

/* ---- reconcile ---- */

static int begin(struct set_pass *p, const struct object *o)
{
        struct hub_agent *a = agent_of(p->rc);

        p->set = (const struct resource_set *)o;
        p->now = o;
        p->memory = memory_of(&a->resource_sets, o, p->rc->arena);
        p->wanted = (struct resource_set *)object_copy(o, p->rc->arena);
        if (!p->memory || !p->wanted || !status_of(p->wanted, p->rc->arena))
                return error_no_memory(p->rc->err);
        mem_free(p->memory->trigger);
        p->memory->trigger = NULL;
        p->before = inventory_of(p->set);
        p->began_ms = loop_now_ms(loop_of(p));
        p->timeout_ms = flux_annotated_ms(o, ANNOTATION_FLUX_TIMEOUT, TIMEOUT_MS);
        p->deadline_ms = p->began_ms + p->timeout_ms;
        if (flux_account_of(p->rc->arena, o->meta.ns,
                            p->set->spec ? p->set->spec->service_account_name : NULL, a->options,
                            &p->account) < 0)
                return error_no_memory(p->rc->err);
        return flux_account_client(p->rc, &p->account, &p->kube);
}

static int initialize(struct set_pass *p)
{
        if (object_has_finalizer(&p->set->object, FLUX_FINALIZER))
                return 0;
        TRY(rc_set_finalizer(p->rc, p->now, FLUX_FINALIZER, true, &p->now));
        p->wanted = (struct resource_set *)object_copy(p->now, p->rc->arena);
        if (!p->wanted || !status_of(p->wanted, p->rc->arena))
                return error_no_memory(p->rc->err);
        if (flux_is_suspended(&p->set->object))
                return say(p, FLUX_SUSPENDED, REASON_FLUX_DISABLED,
                           "Initialized with reconciliation suspended");
        return say(p, FLUX_RUNNING, NULL, NULL);
}

static struct outcome reconcile_set(struct set_pass *p, const struct object *o)
{
        if (begin(p, o) < 0)
                return failed(p->rc->err);
        show(p, p->set);
        if (is_deleting(o))
                return end(p);
        if (!p->set->spec)
                return done();
        if (initialize(p) < 0)
                return failed(p->rc->err);
        if (!flux_is_suspended(o))
                return run(p);
        log_warn(&p->rc->log, "Reconciliation is disabled");
        rc_event(p->rc, o, "Warning", REASON_FLUX_DISABLED, "Reconciliation is disabled");
        return done();
}

static struct outcome look_after(struct reconcile *rc)
{
        struct set_pass p = { .rc = rc };
        const struct object *o;
        struct outcome out;

        if (cache_get(rc, &resource_set_kind, rc->ns, rc->name, &o) < 0)
                return failed(rc->err);
        if (!o) {
                memory_drop(&agent_of(rc)->resource_sets, rc->key);
                return done();
        }
        buf_init(&p.lines, 64u << 10);
        out = reconcile_set(&p, o);
        hurry(&p, &out);
        buf_free(&p.lines);
        return out;
}

/* What many objects took is not needed again soon. */
static struct outcome reconcile(struct reconcile *rc)
{
        struct arena arena = ARENA_INIT;
        struct reconcile own = *rc;
        struct outcome out;
        bool large;

        own.arena = &arena;
        out = look_after(&own);
        large = arena.used > LARGE_BYTES;
        arena_free(&arena);
        if (large)
                mem_trim();
        return out;
}

static const struct watch watches[] = {
        { &resource_set_kind, ON_ALL, map_set },
        { &resource_set_input_provider_kind, ON_ALL, map_provider },
};

const struct controller resource_set_controller = {
        .name = "resource-set",
        .watches = watches,
        .n_watches = ARRAY_LEN(watches),
        .reconcile = reconcile,
        .concurrency = 256, /* most of them wait for health */
        .reconcile_deadline_ms = LONGEST_RUN_MS,
        .backoff_base_ms = BACKOFF_LEAST_MS,
        .backoff_max_ms = BACKOFF_MOST_MS,
        .event_source = FLUX_MANAGER,
        .optional = true,
};
