/* Requests in ConfigMaps: each is told at once that it is queued, and worked on in its turn. What the hub
 * does not take is owed, and told again by the controller of requests, after ever longer pauses: meanwhile
 * others are worked on. spec/flux-yaml.md 9.2. */
#include "common/base/memory.h"
#include "hub-agent/manifest-generation/job_run.h"
#include "hub-agent/manifest-generation/request.h"
#include "proto/gen/kinds.h"

#define RESUME_COMMITS 100 /* that are looked through for a job that an earlier process may have pushed */

static const struct kube_resource config_maps = { "", "v1", "configmaps", "ConfigMap", true };
static const struct kube_write written = { .field_manager = GENERATION_COMPONENT };

/* ---- the queue ---- */

static void request_changed(void *ctx, const struct informer_event *e)
{
        struct generator_agent *a = ctx;
        AUTO_KEY struct key key = KEY_EMPTY;

        if (e->type == INFORMER_DELETED)
                map_remove(&a->owed, or_empty(e->now->meta.uid));
        else if (request_is_open(&e->now->meta) && object_key(&key, e->now->meta.ns, e->now->meta.name) == 0)
                manager_enqueue(a->manager, &request_controller, key.text, QUEUE_HIGH);
}

int requests_open(struct generator_agent *a)
{
        const struct informer_options o = { .kind = &partial_object_kind,
                                            .resource = &config_maps,
                                            .ns = a->options->agent_namespace,
                                            .label_selector = REQUEST_LABEL "=true",
                                            .flags = DECODE_FULL,
                                            .interns = a->interns };

        TRY(manager_add_informer(a->manager, &o, &a->requests));
        return informer_add_handler(a->requests, request_changed, a);
}

static int first_waiting(const struct generator_agent *a, struct arena *arena, const struct object **ret)
{
        struct object_list all;

        *ret = NULL;
        if (!informer_synced(a->requests))
                return 0;
        TRY(informer_list(a->requests, arena, &all));
        *ret = request_first(&all, &a->owed);
        return 0;
}

size_t requests_waiting(const struct generator_agent *a)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct object_list all;
        size_t n = 0;

        if (!informer_synced(a->requests) || informer_list(a->requests, &arena, &all) < 0)
                return 0;
        for (size_t i = 0; i < all.n; i++)
                n += request_waits(&all.at[i]->meta, &a->owed);
        return n;
}

/* ---- what it is told ---- */

/* However late it arrives, nothing that was told since is taken back, be it by the next process. Takes
 * `patch`, NULL is ERR_NO_MEMORY. *ret_now: what the request is then, new; NULL = somebody took it away, and
 * wants no answer. */
static int tell(struct reconcile *rc, const struct object_meta *m, json_t *patch, json_t **ret_now,
                struct error *err)
{
        AUTO_JSON json_t *owned = patch;
        int code;

        *ret_now = NULL;
        if (!owned || doc_set_string(owned, "metadata.resourceVersion", m->resource_version) < 0)
                return error_no_memory(err);
        code = kube_doc_patch(rc->kube, &config_maps, m->ns, m->name, KUBE_PATCH_MERGE, owned, &written,
                              ret_now, err);
        if (code != ERR_NOT_FOUND)
                return code;
        error_clear(err);
        return 0;
}

/* What a request is told, however long the hub is away. Until a state is told it is not worked on. */
struct owed_answer {
        bool last, given; /* it is done, and the hub has it */
        const char *status;
        const char *commit, *result; /* NULL = none; of one that is owed its own */
};

void owed_answer_free(void *owed)
{
        struct owed_answer *w = owed;

        mem_free((char *)w->commit);
        mem_free((char *)w->result);
        mem_free(w);
}

static int owe(struct reconcile *rc, const struct object_meta *m, const struct owed_answer *what)
{
        struct owed_answer *w = NEW(struct owed_answer);

        if (!w)
                return error_no_memory(rc->err);
        *w = *what;
        w->commit = what->commit ? mem_strdup(what->commit) : NULL;
        w->result = what->result ? mem_strdup(what->result) : NULL;
        if (!w->commit == !what->commit && !w->result == !what->result &&
            map_put(&generator_of(rc)->owed, or_empty(m->uid), w) == 0)
                return 0;
        owed_answer_free(w);
        return error_no_memory(rc->err);
}

static int owe_state(struct reconcile *rc, const struct object_meta *m, const char *status)
{
        return owe(rc, m, &(struct owed_answer){ .status = status });
}

/* The request may go meanwhile, and with it what is owed. */
static int give(struct reconcile *rc, const struct object_meta *m, struct error *err)
{
        struct map *owed = &generator_of(rc)->owed;
        const char *uid = or_empty(m->uid);
        struct owed_answer *w = map_get(owed, uid);
        AUTO_JSON json_t *now = NULL;

        if (!w || w->given)
                return 0;
        TRY(tell(rc, m, request_answer(w->status, w->commit, w->result), &now, err));
        w = map_get(owed, uid);
        if (w && w->last)
                w->given = true;
        else
                map_remove(owed, uid);
        return 0;
}

/* The other controller goes on with it. */
static int give_later(struct reconcile *rc, const struct object_meta *m)
{
        AUTO_KEY struct key key = KEY_EMPTY;

        if (object_key(&key, m->ns, m->name) < 0)
                return error_no_memory(rc->err);
        manager_enqueue(generator_of(rc)->manager, &request_controller, key.text, QUEUE_HIGH);
        return 0;
}

static struct outcome request_reconcile(struct reconcile *rc)
{
        struct generator_agent *a = generator_of(rc);
        const struct object *o = informer_get(a->requests, rc->ns, rc->name);
        struct object_meta m = { .ns = rc->ns, .name = rc->name };

        if (!o || !request_is_open(&o->meta))
                return done();
        m.uid = arena_strdup(rc->arena, or_empty(o->meta.uid));
        m.resource_version = arena_strdup(rc->arena, or_empty(o->meta.resource_version));
        if (!m.uid || !m.resource_version) {
                error_no_memory(rc->err);
                return failed(rc->err);
        }
        if (!map_has(&a->owed, m.uid) && !string_map_get(&o->meta.annotations, REQUEST_STATUS) &&
            owe_state(rc, &m, REQUEST_QUEUED) < 0)
                return failed(rc->err);
        if (give(rc, &m, rc->err) < 0)
                return failed(rc->err);
        work_ask(a);
        return done();
}

const struct controller request_controller = {
        .name = "manifest-requests",
        .reconcile = request_reconcile,
        .concurrency = 1,
        .event_source = GENERATION_EVENTS,
};

/* ---- work on one ---- */

struct answer_of {
        const char *commit; /* NULL = none */
        struct buf text;
};

/* What an earlier process pushed is not done again. */
static int find_pushed(struct reconcile *rc, const char *id, const char **ret, struct error *err)
{
        struct generator_agent *a = generator_of(rc);
        const struct repository *r = &a->options->repository;
        const struct git_hash none = { "" };
        struct git_hash head;
        struct sync_commit *log;
        size_t n;
        bool more;

        *ret = NULL;
        TRY(r->ops->head(r->ctx, &head, err));
        TRY(r->ops->log(r->ctx, &none, &head, NULL, 0, RESUME_COMMITS, rc->arena, &log, &n, &more, err));
        for (size_t i = 0; i < n; i++) {
                struct commit_note note;

                if (log[i].note && commit_note_read(rc->arena, slice_of(log[i].note), &note, NULL) == 0 &&
                    text_equal(note.job_id, id)) {
                        *ret = arena_strdup(rc->arena, log[i].at.hex);
                        return *ret ? 0 : error_no_memory(err);
                }
        }
        return 0;
}

/* What has become empty since it was asked for is not what was confirmed. */
static int check_confirmed(const struct generator_agent *a, struct error *err)
{
        for (size_t i = 0; i < a->n_paths; i++) {
                const struct path_record *r = &a->records[i];
                char since[RFC3339_SIZE];

                if (!r->held)
                        continue;
                time_format_rfc3339(r->since_ms, since);
                return error_set(
                        err, ERR_INVALID,
                        "target path \"%.200s\" gives %zu objects only since %s, %zu before: nothing is "
                        "deleted, as this request was made earlier; another one confirms it",
                        *a->paths[i] ? a->paths[i] : ".", r->objects, since, r->before);
        }
        return 0;
}

static int run_sync(struct reconcile *rc, int64_t confirmed_ms, struct answer_of *ret, struct error *err)
{
        struct generator_agent *a = generator_of(rc);

        TRY(repository_refresh(a, err));
        if (work_sync(rc, confirmed_ms) < 0) {
                *err = *rc->err;
                return err->code;
        }
        TRY(confirmed_ms != TIME_NONE ? check_confirmed(a, err) : 0);
        ret->commit = arena_strdup(rc->arena, a->synced.hex);
        buf_printf(&ret->text, "%zu objects, %zu changed, %zu failed, %zu deleted", a->objects, a->changed,
                   a->failed, a->deleted);
        return ret->commit ? 0 : error_no_memory(err);
}

static void tell_job_failure(struct job *j, const struct error *err)
{
        log_warn(&j->a->log, "a job failed", "job", j->id, "error", err->text);
        generation_event(j->a, "Warning", j->reason, j->message ? j->message : err->text);
}

static int run_change(struct reconcile *rc, const char *id, const struct job_request *request,
                      struct answer_of *ret, struct error *err)
{
        struct job j = {
                .a = generator_of(rc), .rc = rc, .id = id, .request = request, .reason = "UpdateFailed"
        };
        int code = job_run(&j, err);

        if (code < 0) {
                if (code != ERR_CANCELLED)
                        tell_job_failure(&j, err);
                if (j.message)
                        buf_append_str(&ret->text, j.message);
                return code;
        }
        TRY(job_plan_describe(&j.plan, &ret->text) < 0 ? error_no_memory(err) : 0);
        if (j.diff)
                buf_printf(&ret->text, "\n%s", j.diff);
        if (git_hash_is_none(&j.commit))
                return 0;
        ret->commit = arena_strdup(rc->arena, j.commit.hex);
        j.a->timetable.sync_asked = true;
        j.a->timetable.images_asked |= j.plan.sets_automated;
        return ret->commit ? 0 : error_no_memory(err);
}

static int run_kind(struct reconcile *rc, const struct object_meta *m, const struct job_request *request,
                    struct answer_of *ret, struct error *err)
{
        switch (request->type) {
        case JOB_SYNC:
                return run_sync(rc, TIME_NONE, ret, err);
        case JOB_COLLECT:
                return run_sync(rc, m->creation_ms, ret, err);
        default:
                return run_change(rc, m->uid, request, ret, err);
        }
}

static int run_request(struct reconcile *rc, const struct object_meta *m, bool resumed, struct answer_of *ret,
                       struct error *err)
{
        AUTO_JSON json_t *doc = NULL;
        struct job_request request;

        TRY(kube_doc_get(rc->kube, &config_maps, m->ns, m->name, &doc, err));
        TRY(doc_keep(rc->arena, json_incref(doc), err));
        TRY(job_request_read(rc->arena, doc, &request, err));
        if (resumed && !repository_unready(&generator_of(rc)->repository)) {
                TRY(find_pushed(rc, m->uid, &ret->commit, err));
                if (ret->commit)
                        return 0;
        }
        return run_kind(rc, m, &request, ret, err);
}

static void measure(struct generator_agent *a, const struct object_meta *m, bool success, int64_t began_us,
                    int64_t began_wall_ms)
{
        const char *const yes[] = { "true" }, *const no[] = { "false" };

        metric_observe(a->metrics, METRIC_JOB_WAITED, (double)MAX(began_wall_ms - m->creation_ms, 0) / 1e3,
                       NULL);
        metric_observe(a->metrics, METRIC_JOB_SECONDS, (double)(loop_now_us(a->world->loop) - began_us) / 1e6,
                       success ? yes : no);
}

/* Told at once; failing that, later. */
static int conclude(struct reconcile *rc, const struct object_meta *m, const struct owed_answer *answer)
{
        TRY(owe(rc, m, answer));
        if (give(rc, m, rc->err) == 0 || rc->err->code == ERR_CANCELLED)
                return rc->err->code;
        error_clear(rc->err);
        return give_later(rc, m);
}

/* What cannot be told that it is begun is not: it says again what it says, and comes back when the hub took
 * that. One that an earlier process began stays "running", since that may have pushed it. */
static int put_back(struct reconcile *rc, const struct object_meta *m, bool resumed, const struct error *why)
{
        struct generator_agent *a = generator_of(rc);

        log_debug(&a->log, "a request is not begun yet", "request", m->name, "error", why->text);
        TRY(owe_state(rc, m, resumed ? REQUEST_RUNNING : REQUEST_QUEUED));
        return give_later(rc, m);
}

/* *ret: the request as it is then. */
static int tell_running(struct reconcile *rc, const struct object_meta *m, struct object_meta *ret,
                        struct error *err)
{
        AUTO_JSON json_t *now = NULL;

        TRY(tell(rc, m, request_answer(REQUEST_RUNNING, NULL, NULL), &now, err));
        *ret = *m;
        if (now)
                ret->resource_version =
                        arena_strdup(rc->arena, or_empty(doc_get_string(now, "metadata.resourceVersion")));
        return ret->resource_version ? 0 : error_no_memory(err);
}

static int work_on(struct reconcile *rc, const struct object_meta *m)
{
        struct generator_agent *a = generator_of(rc);
        bool resumed = text_equal(string_map_get(&m->annotations, REQUEST_STATUS), REQUEST_RUNNING);
        int64_t began_us = loop_now_us(a->world->loop), began_wall_ms = loop_wall_ms(a->world->loop);
        struct answer_of result = { 0 };
        struct error err = { 0 };
        struct object_meta now;
        int code = tell_running(rc, m, &now, &err);

        if (code < 0 && code != ERR_CANCELLED)
                return put_back(rc, m, resumed, &err);
        buf_init(&result.text, 1u << 20);
        if (code == 0)
                code = run_request(rc, m, resumed, &result, &err);
        if (code == ERR_CANCELLED) {
                buf_free(&result.text);
                return error_set(rc->err, code, "cancelled");
        }
        measure(a, m, code == 0, began_us, began_wall_ms);
        error_clear(rc->err);
        code = conclude(rc, &now,
                        &(struct owed_answer){ .last = true,
                                               .status = code == 0 ? REQUEST_SUCCEEDED : REQUEST_FAILED,
                                               .commit = result.commit,
                                               .result = code == 0 || result.text.len
                                                                 ? or_empty(result.text.data)
                                                                 : err.text });
        buf_free(&result.text);
        return code;
}

int request_run(struct reconcile *rc)
{
        const struct object *o;

        if (first_waiting(generator_of(rc), rc->arena, &o) < 0)
                return error_no_memory(rc->err);
        return o ? work_on(rc, &o->meta) : 0;
}

/* ---- polls ---- */

int images_poll(struct reconcile *rc)
{
        static const struct job_request automatic = { .type = JOB_AUTO, .user = "", .message = "" };
        struct generator_agent *a = generator_of(rc);
        struct job j = { .a = a, .rc = rc, .request = &automatic, .reason = "UpdateFailed" };
        uint64_t random = loop_random_u64(a->world->loop);
        int code;

        j.id = arena_printf(rc->arena, "auto-%016llx", (unsigned long long)random);
        if (!j.id)
                return error_no_memory(rc->err);
        code = job_run(&j, rc->err);
        if (code < 0 && code != ERR_CANCELLED)
                tell_job_failure(&j, rc->err);
        if (!git_hash_is_none(&j.commit))
                a->timetable.sync_asked = true;
        return code;
}
