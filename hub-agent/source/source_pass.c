#include "hub-agent/source/source_pass.h"

#include <stddef.h>

#include "common/base/memory.h"
#include "hub-agent/source/index_access.h"

#define CONFLICTS_MAX 5
#define TOLD_AGAIN_MS 3600000
#define LEAST_MS 1000

/* What all these kinds begin with. */
struct any_source {
        struct object object;
        void *spec;
        struct source_status *status;
};
_Static_assert(offsetof(struct any_source, status) == offsetof(struct helm_chart, status), "layout");
_Static_assert(offsetof(struct any_source, status) == offsetof(struct helm_repository, status), "layout");
_Static_assert(offsetof(struct any_source, status) == offsetof(struct git_repository, status), "layout");
_Static_assert(offsetof(struct any_source, status) == offsetof(struct bucket, status), "layout");

/* ---- the status ---- */

/* `status`: in place of that of the object; NULL = its own. */
static int copy(struct source_pass *p, const struct object *now, struct source_status *status)
{
        struct any_source *wanted = (struct any_source *)object_copy(now, p->rc->arena);

        if (wanted && status)
                wanted->status = status;
        if (wanted && !wanted->status) {
                wanted->status = ARENA_NEW(p->rc->arena, struct source_status);
                if (wanted->status)
                        wanted->status->observed_generation = OPT_INT(-1);
        }
        if (!wanted || !wanted->status)
                return error_no_memory(p->rc->err);
        p->now = now;
        p->wanted = &wanted->object;
        p->run.status = wanted->status;
        return 0;
}

static const struct source_artifact *artifact_of(const struct object *o)
{
        const struct source_status *s = ((const struct any_source *)o)->status;

        return s ? s->artifact : NULL;
}

static bool is_same_artifact(const struct source_artifact *a, const struct source_artifact *b)
{
        return a == b || (a && b && text_equal(a->path, b->path) && text_equal(a->digest, b->digest) &&
                          text_equal(a->revision, b->revision));
}

/* A run that does not know the artifact which is told by now is to begin anew: it would take it away. So it
 * is when nobody heard that the run before it was stored. */
static int take_what_is_there(struct source_pass *p)
{
        const struct object *o;

        TRY(cache_get(p->rc, p->kind->kind, p->rc->ns, p->rc->name, &o));
        if (!o || !text_equal(o->meta.uid, p->now->meta.uid))
                return error_set(p->rc->err, ERR_NOT_FOUND, "%s \"%s\" was deleted", p->kind->kind->kind,
                                 p->rc->key);
        if (!is_same_artifact(artifact_of(o), artifact_of(p->now)))
                return error_set(p->rc->err, ERR_CONFLICT, "%s \"%s\" has another artifact by now",
                                 p->kind->kind->kind, p->rc->key);
        return copy(p, o, p->run.status);
}

int source_write(struct source_pass *p)
{
        struct reconcile *rc = p->rc;

        for (int i = 0; i < CONFLICTS_MAX; i++) {
                const struct object *stored = p->now;
                const struct source_status *before = ((const struct any_source *)p->now)->status;

                if (before)
                        source_keep_times(&p->run.status->conditions, &before->conditions);
                int code = rc_patch_diff(rc, p->now, p->wanted, OBJECT_STATUS, &stored);

                if (code == 0) {
                        p->wanted->meta.resource_version = stored->meta.resource_version;
                        return copy(p, p->wanted, NULL);
                }
                if (code != ERR_CONFLICT)
                        return code;
                error_clear(rc->err);
                TRY(take_what_is_there(p));
        }
        return error_set(rc->err, ERR_CONFLICT, "%s \"%s\" is changed all the time", p->kind->kind->kind,
                         rc->key);
}

/* ---- failures ---- */

int source_fails(struct source_pass *p, const struct source_failing *how)
{
        struct error *err = p->rc->err;
        const char *message;

        if (err->code == ERR_NO_MEMORY || err->code == ERR_CANCELLED || p->failure.reason)
                return err->code;
        message = arena_printf(p->rc->arena, "%s%s", how->prefix, err->text);
        if (!message)
                return error_no_memory(err);
        p->failure = (struct source_failure){ how->trouble, how->reason, message, how->stalls };
        return err->code;
}

/* ---- what is remembered ---- */

struct source_record *source_record_of(struct source_pass *p)
{
        return memory_of(&p->sources->remembered[p->kind->which], p->now, p->rc->arena);
}

void source_tell_artifact(struct source_pass *p, const char *reason, const char *message)
{
        const struct source_artifact *a = p->run.status->artifact;
        struct string_map annotations = { 0 };

        p->told = true;
        if (string_map_put(&annotations, "source.toolkit.fluxcd.io/revision", or_empty(a->revision),
                           p->rc->arena) < 0 ||
            string_map_put(&annotations, "source.toolkit.fluxcd.io/digest", or_empty(a->digest),
                           p->rc->arena) < 0)
                return;
        rc_event_annotated(p->rc, p->now, &annotations, "Normal", reason, message);
}

/* Once after failures, also where there is nothing new. */
static void tell_recovery(struct source_pass *p)
{
        const struct condition *stored = condition_find(&p->run.status->conditions, CONDITION_SOURCE_STORED);

        if (p->recovers && !p->told && stored && p->run.status->artifact)
                source_tell_artifact(p, stored->reason, stored->message);
}

void source_tell_unchanged(struct source_pass *p, const char *revision)
{
        struct source_record *m = source_record_of(p);
        int64_t now_ms = loop_now_ms(p->rc->kube->world->loop);

        if (m && text_equal(m->told, revision) && now_ms - m->told_ms < TOLD_AGAIN_MS)
                return;
        rc_event(p->rc, p->now, "Normal", "ArtifactUpToDate",
                 "artifact up-to-date with remote revision: '%s'", revision);
        if (!m)
                return;
        mem_free(m->told);
        m->told = mem_strdup(revision);
        m->told_ms = now_ms;
}

/* ---- artifacts ---- */

/* NULL: there is none, or no memory, which the kind's link tells apart. */
static const char *link_path(struct source_pass *p)
{
        return p->kind->link ? artifact_path(p->rc->arena, p->now, p->kind->link) : NULL;
}

/* Where they are served may have changed. */
static int put_addresses(struct source_pass *p)
{
        struct source_status *s = p->run.status;
        struct artifact_store *store = &p->sources->store;
        const char *link = link_path(p);

        s->artifact->url = artifact_url(store, p->rc->arena, s->artifact->path);
        s->url = link ? artifact_url(store, p->rc->arena, link) : NULL;
        return s->artifact->url && (s->url || !p->kind->link) ? 0 : error_no_memory(p->rc->err);
}

int source_keep(struct source_pass *p, const struct source_artifact *artifact, const char *revision)
{
        struct reconcile *rc = p->rc;
        struct source_artifact *kept = ARENA_NEW(rc->arena, struct source_artifact);
        const char *link = link_path(p);
        struct error why = { 0 };

        if (!kept || (!link && p->kind->link))
                return error_no_memory(rc->err);
        *kept = *artifact;
        kept->revision = revision;
        p->run.status->artifact = kept;
        TRY(put_addresses(p));
        if (link && artifact_link(&p->sources->store, rc->arena, kept->path, p->kind->link, &why) < 0)
                rc_event(rc, p->now, "Normal", "SymlinkUpdateFailed",
                         "failed to update status URL symlink: %s", why.text);
        return 0;
}

static int collect_old(struct source_pass *p)
{
        struct reconcile *rc = p->rc;
        const struct source_artifact *a = p->run.status->artifact;
        size_t n = 0;

        if (artifact_collect(&p->sources->store, p->now, a ? a->path : NULL, rc->arena, &n, rc->err) < 0) {
                if (rc->err->code == ERR_NO_MEMORY)
                        return rc->err->code;
                rc_event(rc, p->now, "Warning", "GarbageCollectionFailed", "%s", rc->err->text);
                error_clear(rc->err);
        }
        if (n > 0)
                rc_event(rc, p->now, "Normal", "GarbageCollectionSucceeded",
                         "garbage collected %zu artifacts", n);
        return 0;
}

static int announce(struct source_pass *p, const char *what)
{
        return source_progress(&p->run, what) < 0 ? error_no_memory(p->rc->err) : source_write(p);
}

static int check_artifact(struct source_pass *p)
{
        struct reconcile *rc = p->rc;
        struct source_status *s = p->run.status;
        enum artifact_state state = ARTIFACT_GOOD;
        struct error why = { 0 };

        if (!s->artifact)
                return announce(p, "building artifact");
        if (artifact_check(&p->sources->store, s->artifact, &state, &why) < 0 && state != ARTIFACT_ALTERED) {
                *rc->err = why;
                return source_fails(p, &failing_storage);
        }
        if (state == ARTIFACT_GOOD)
                return put_addresses(p);
        if (state == ARTIFACT_ALTERED)
                rc_event(rc, p->now, "Warning", "ArtifactVerificationFailed",
                         "failed to verify integrity of artifact: %s", why.text);
        source_lost(&p->run);
        return announce(p, "building artifact: disappeared from storage");
}

/* ---- a run ---- */

int64_t source_duration_ms(const char *text, int64_t fallback_ms)
{
        int64_t ns;

        if (text_empty(text) || duration_parse_go(slice_of(text), &ns) < 0)
                return fallback_ms;
        return MAX(ns / 1000000, (int64_t)LEAST_MS);
}

static int64_t next_in(const struct source_pass *p)
{
        int64_t every = source_duration_ms(p->kind->interval(p->now), 60000);
        int64_t jitter = every * (int64_t)p->sources->options->jitter_percent / 100;

        if (jitter > 0)
                every += (int64_t)(loop_random_u64(p->rc->kube->world->loop) % (uint64_t)(2 * jitter + 1)) -
                         jitter;
        return every;
}

static const char *requested_at(const struct source_pass *p)
{
        return annotation_of(p->now, ANNOTATION_FLUX_REQUESTED);
}

static bool has_failed(const struct source_pass *p)
{
        static const char *const troubles[] = { CONDITION_SOURCE_FETCH_FAILED, CONDITION_SOURCE_BUILD_FAILED,
                                                CONDITION_SOURCE_STORAGE_FAILED };

        for (size_t i = 0; i < ARRAY_LEN(troubles); i++)
                if (condition_find(&p->run.status->conditions, troubles[i]))
                        return true;
        return false;
}

static int begin(struct source_pass *p)
{
        bool visibly = source_begins_visibly(&p->run, requested_at(p));

        p->recovers = has_failed(p);
        if (source_begin(&p->run) < 0)
                return error_no_memory(p->rc->err);
        return visibly && p->run.status->artifact ? source_write(p) : 0;
}

static int go_through(struct source_pass *p)
{
        TRY(begin(p));
        TRY(collect_old(p));
        TRY(check_artifact(p));
        return p->kind->make(p);
}

static struct outcome end_failed(struct source_pass *p)
{
        struct reconcile *rc = p->rc;
        const struct source_failure *f = &p->failure;
        int64_t retry_after_ms = rc->err->retry_after_ms;

        error_clear(rc->err);
        if (source_fail(&p->run, f) < 0) {
                error_no_memory(rc->err);
                return failed(rc->err);
        }
        source_note_handled(&p->run, requested_at(p));
        if (source_write(p) < 0)
                return failed(rc->err);
        rc_event(rc, p->now, "Warning", f->reason, "%s", f->message);
        log_warn(&rc->log, f->message, "reason", f->reason);
        if (f->stalls)
                return done();
        error_set(rc->err, ERR_RETRY, "%s", f->message);
        rc->err->retry_after_ms = retry_after_ms;
        return failed(rc->err);
}

static struct outcome run(struct source_pass *p)
{
        struct reconcile *rc = p->rc;

        if (go_through(p) < 0)
                return p->failure.reason ? end_failed(p) : failed(rc->err);
        if (source_succeed(&p->run) < 0) {
                error_no_memory(rc->err);
                return failed(rc->err);
        }
        source_note_handled(&p->run, requested_at(p));
        tell_recovery(p);
        return source_write(p) < 0 ? failed(rc->err) : again_after(next_in(p));
}

/* ---- life ---- */

static int remove_files(struct source_pass *p)
{
        struct reconcile *rc = p->rc;

        if (artifact_remove_all(&p->sources->store, p->now, rc->arena, rc->err) == 0)
                return 0;
        rc_event(rc, p->now, "Warning", "GarbageCollectionFailed",
                 "garbage collection for deleted resource failed: %s", rc->err->text);
        if (rc->err->code != ERR_NO_MEMORY)
                rc->err->code = ERR_RETRY;
        return rc->err->code;
}

/* What is remembered and counted of an object that is gone. */
static void forget(struct source_pass *p)
{
        struct reconcile *rc = p->rc;
        struct metrics *m = agent_of(rc)->metrics;
        const struct source_status *s = p->now ? ((const struct any_source *)p->now)->status : NULL;

        memory_drop(&p->sources->remembered[p->kind->which], rc->key);
        metric_remove(m, METRIC_SOURCE_SECONDS,
                      (const char *const[]){ p->kind->kind->kind, rc->name, rc->ns });
        if (p->kind->which == SOURCE_HELM)
                index_forget(p->sources, m, rc->ns, rc->name, s && s->artifact ? s->artifact->path : NULL);
}

static struct outcome let_go(struct source_pass *p)
{
        struct reconcile *rc = p->rc;
        bool has_artifact = ((const struct any_source *)p->now)->status &&
                            ((const struct any_source *)p->now)->status->artifact;

        forget(p);
        if (remove_files(p) < 0)
                return failed(rc->err);
        if (has_artifact)
                rc_event(rc, p->now, "Normal", "GarbageCollectionSucceeded",
                         "garbage collected artifacts for deleted resource");
        return rc_set_finalizer(rc, p->now, SOURCE_FINALIZER, false, NULL) < 0 ? failed(rc->err) : done();
}

/* Of a kind that keeps nothing: what it left when it was another. */
static struct outcome clear(struct source_pass *p)
{
        struct reconcile *rc = p->rc;
        struct any_source *wanted;

        if (p->kind->is_suspended(p->now))
                return done();
        if (object_has_finalizer(p->now, SOURCE_FINALIZER)) {
                if (remove_files(p) < 0 || rc_set_finalizer(rc, p->now, SOURCE_FINALIZER, false, &p->now) < 0)
                        return failed(rc->err);
                forget(p);
        }
        if (copy(p, p->now, NULL) < 0)
                return failed(rc->err);
        wanted = (struct any_source *)p->wanted;
        if (wanted->status->conditions.n == 0 && !wanted->status->artifact)
                return done();
        wanted->status = ARENA_NEW(rc->arena, struct source_status);
        if (!wanted->status) {
                error_no_memory(rc->err);
                return failed(rc->err);
        }
        wanted->status->observed_generation = OPT_INT(-1);
        return rc_patch_diff(rc, p->now, p->wanted, OBJECT_STATUS, NULL) < 0 ? failed(rc->err) : done();
}

static struct outcome hold(struct source_pass *p)
{
        if (copy(p, p->now, NULL) < 0)
                return failed(p->rc->err);
        source_note_handled(&p->run, requested_at(p));
        return source_write(p) < 0 ? failed(p->rc->err) : done();
}

static void observe(const struct source_pass *p)
{
        const struct reconcile *rc = p->rc;
        int64_t took_ms = loop_now_ms(rc->kube->world->loop) - p->began_ms;

        metric_observe(agent_of(p->rc)->metrics, METRIC_SOURCE_SECONDS, (double)took_ms / 1000,
                       (const char *const[]){ p->kind->kind->kind, rc->name, rc->ns });
}

/* ---- what a crash left ---- */

static bool is_there(void *ctx, const char *kind, const char *ns, const char *name)
{
        struct source_pass *p = ctx;
        const struct object *o;

        return cache_get(p->rc, p->kind->kind, ns, name, &o) < 0 || o; /* what is not known stays */
}

/* In the first pass of a kind, before any writes: its cache is filled, and this agent leads. */
static void sweep_once(struct source_pass *p)
{
        const struct artifact_owners owners = { is_there, p };
        struct reconcile *rc = p->rc;
        struct error why = { 0 };

        if (p->sources->swept[p->kind->which])
                return;
        p->sources->swept[p->kind->which] = true;
        if (artifact_sweep(&p->sources->store, p->kind->kind, &owners, &why) < 0)
                log_warn(&rc->log, "what was left on the volume is not removed", "error", why.text);
        error_clear(rc->err);
}

/* ---- all of it ---- */

static struct outcome look_at(struct reconcile *rc, const struct source_kind *kind)
{
        struct source_pass p = { .rc = rc,
                                 .kind = kind,
                                 .sources = agent_of(rc)->sources,
                                 .began_ms = loop_now_ms(rc->kube->world->loop) };

        sweep_once(&p);
        if (cache_get(rc, kind->kind, rc->ns, rc->name, &p.now) < 0)
                return failed(rc->err);
        if (!p.now) {
                forget(&p);
                return done();
        }
        if (!source_is_watched(p.sources->options, p.now))
                return done();
        if (is_deleting(p.now))
                return let_go(&p);
        if (kind->is_static && kind->is_static(p.now))
                return clear(&p);
        if (rc_set_finalizer(rc, p.now, SOURCE_FINALIZER, true, &p.now) < 0)
                return failed(rc->err);
        if (kind->is_suspended(p.now))
                return hold(&p);
        if (copy(&p, p.now, NULL) < 0)
                return failed(rc->err);
        p.run.arena = rc->arena;
        p.run.generation = p.now->meta.generation;
        p.run.now_ms = loop_wall_ms(rc->kube->world->loop);
        struct outcome o = run(&p);

        observe(&p);
        return o;
}

struct outcome source_reconcile(struct reconcile *rc, const struct source_kind *kind)
{
        struct kube_client as_flux = *rc->kube;
        struct reconcile own = *rc;

        as_flux.field_manager = SOURCE_MANAGER;
        own.kube = &as_flux;
        return look_at(&own, kind);
}

void map_source_itself(void *agent, const struct informer_event *e, key_emit emit, void *to)
{
        const struct source_options *o = ((struct hub_agent *)agent)->sources->options;
        const struct object_meta *now = &e->now->meta;
        AUTO_KEY struct key key = KEY_EMPTY;

        if (!source_is_watched(o, e->now))
                return;
        if (e->type == INFORMER_UPDATED && source_is_watched(o, e->old) &&
            e->old->meta.generation == now->generation && e->old->meta.deletion_ms == now->deletion_ms &&
            text_equal(annotation_of(e->old, ANNOTATION_FLUX_REQUESTED),
                       annotation_of(e->now, ANNOTATION_FLUX_REQUESTED)))
                return;
        emit(to, key_text(&key, now->ns, now->name));
}

/* ---- Secrets ---- */

int source_read_secret(struct source_pass *p, const char *name, const char *what, struct secret *ret)
{
        static const struct kube_resource secrets = { "", "v1", "secrets", "Secret", true };
        struct reconcile *rc = p->rc;
        json_t *doc = NULL;

        if (kube_doc_get(rc->kube, &secrets, rc->ns, name, &doc, rc->err) < 0) {
                int code = rc->err->code;

                if (code == ERR_NOT_FOUND)
                        error_set(rc->err, ERR_NOT_FOUND, "secrets \"%s\" not found", name);
                error_wrap(rc->err, "failed to get %s secret '%s/%s'", what, rc->ns, name);
                return code == ERR_NOT_FOUND || code == ERR_FORBIDDEN ? source_fails(p, &failing_login)
                                                                      : code;
        }
        TRY(doc_keep(rc->arena, doc, rc->err));
        *ret = (struct secret){ arena_printf(rc->arena, "%s/%s", rc->ns, name), doc };
        return ret->name ? 0 : error_no_memory(rc->err);
}
