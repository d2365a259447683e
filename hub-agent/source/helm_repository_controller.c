/* Fetches the index of a repository of charts, and keeps it. spec/helm-chart.md 8.1, 8.2. */
#include "common/base/memory.h"
#include "hub-agent/source/helm_access.h"
#include "hub-agent/source/index/convert.h"
#include "hub-agent/source/index_access.h"

#define UNREADABLE "failed to fetch Helm repository index: failed to cache index to temporary file"
#define RECONCILE_MAX_MS 3600000

static const struct helm_repository_spec *spec_of(const struct object *o)
{
        static const struct helm_repository_spec none;
        const struct helm_repository *r = (const struct helm_repository *)o;

        return r->spec ? r->spec : &none;
}

/* ---- what is fetched ---- */

struct fetched {
        struct volume_writer *file; /* as it came; it gets no name */
        struct artifact_hash *hash;
        uint64_t size;
        char revision[ARTIFACT_DIGEST_SIZE];
        bool no_room; /* the volume does not take it */
};

static void fetched_free(struct fetched *f)
{
        f->file = volume_abandon(f->file);
        f->hash = artifact_hash_free(f->hash);
}
#define AUTO_FETCHED CLEANUP(fetched_free)

static int take(void *ctx, const void *data, size_t n, struct error *err)
{
        struct fetched *f = ctx;
        int code = volume_append(f->file, data, n, err);

        artifact_hash_add(f->hash, data, n);
        f->size += n;
        f->no_room = code < 0 && code != ERR_NO_MEMORY;
        return code;
}

static int open_fetched(struct source_pass *p, struct fetched *f)
{
        struct reconcile *rc = p->rc;
        const char *path = artifact_path(rc->arena, p->now, "index.yaml");

        f->hash = artifact_hash_new(p->sources->store.digest);
        if (!path || !f->hash)
                return error_no_memory(rc->err);
        return volume_create(p->sources->store.volume, path, &f->file, rc->err) < 0
                       ? source_fails(p, &failing_folder)
                       : 0;
}

/* A conditional request is made only for what is still kept. */
static void add_validators(struct source_pass *p, struct transfer_call *c)
{
        const struct source_record *m = source_record_of(p);

        if (!m || !p->run.status->artifact)
                return;
        if (m->tag)
                c->headers[c->n_headers++] = (struct http_header){ "If-None-Match", m->tag };
        if (m->modified)
                c->headers[c->n_headers++] = (struct http_header){ "If-Modified-Since", m->modified };
}

/* A time in whole seconds says nothing of what is written later in the second in which it was read (RFC
 * 9110 8.8.2.2).
 */
static const char *strong_time(const struct http_response *a)
{
        const char *modified = http_header_get(&a->headers, "Last-Modified");
        const char *date = http_header_get(&a->headers, "Date");

        return date && !text_equal(date, modified) ? modified : NULL;
}

static void remember_validators(struct source_pass *p, const struct http_response *a)
{
        struct source_record *m = source_record_of(p);
        const char *tag = http_header_get(&a->headers, "ETag"), *modified = strong_time(a);

        if (!m)
                return;
        mem_free(m->tag);
        mem_free(m->modified);
        m->tag = tag ? mem_strdup(tag) : NULL;
        m->modified = modified ? mem_strdup(modified) : NULL;
}

static int fetch_fails(struct source_pass *p, const struct fetched *f, const char *url, int code)
{
        struct reconcile *rc = p->rc;

        if (code == ERR_CANCELLED || code == ERR_NO_MEMORY)
                return code;
        if (f->no_room)
                return source_fails(p, &failing_storage);
        if (code == ERR_LIMIT)
                error_set(rc->err, code, "index exceeds the maximum index file size of %zu bytes",
                          p->sources->options->index_bytes);
        else
                error_wrap(rc->err, "failed to fetch %s ", url);
        error_wrap(rc->err, UNREADABLE);
        return source_fails(p, &failing_fetch);
}

static int status_fails(struct source_pass *p, const char *url, int status)
{
        error_set(p->rc->err, ERR_RETRY, UNREADABLE ": failed to fetch %s : %d %s", url, status,
                  http_status_text(status));
        return source_fails(p, status == 401 || status == 403 ? &failing_login : &failing_fetch);
}

/* *ret_same: the server says that it is what is kept. */
static int fetch(struct source_pass *p, struct fetched *f, struct http_response *ret, bool *ret_same)
{
        struct reconcile *rc = p->rc;
        struct transfer_call c = { .max_body = p->sources->options->index_bytes };
        const struct transfer_sink sink = { take, f };
        struct helm_access access;

        *ret_same = false;
        if (helm_index_url(rc->arena, spec_of(p->now)->url, &c.url, rc->err) < 0) {
                error_wrap(rc->err, "invalid Helm repository URL");
                return source_fails(p, &failing_url);
        }
        TRY(helm_access_open(p, spec_of(p->now), &access));
        TRY(open_fetched(p, f));
        c.secret = (struct http_header){ "Authorization", access.authorization };
        add_validators(p, &c);

        int code = transfer_fetch(&access.transfer, &c, &sink, ret, rc->err);
        const char *told = web_url_public(c.url, rc->arena);

        if (!told)
                return error_no_memory(rc->err);
        if (code < 0)
                return fetch_fails(p, f, told, code);
        *ret_same = ret->status == 304 && c.n_headers > 0;
        return ret->status == 200 || *ret_same ? 0 : status_fails(p, told, ret->status);
}

/* ---- what is kept of it ---- */

struct conversion {
        struct slice text;
        struct artifact_writer *into;
        struct index_summary summary;
        struct error err;
        bool no_room;
        int code;
};

static int put(void *ctx, const void *data, size_t n, struct error *err)
{
        struct conversion *c = ctx;
        int code = artifact_append(c->into, data, n, err);

        c->no_room = code < 0 && code != ERR_NO_MEMORY;
        return code;
}

static void convert(void *ctx)
{
        struct conversion *c = ctx;
        const struct index_sink sink = { put, c };

        c->code = index_convert(c->text, &sink, &c->summary, &c->err);
}

static int convert_index(struct source_pass *p, struct fetched *f, struct artifact_writer *into)
{
        struct reconcile *rc = p->rc;
        struct conversion c = { .into = into };

        if (volume_written(f->file, &c.text, rc->err) < 0)
                return source_fails(p, &failing_storage);
        TRY(offload(rc->kube->world->loop, convert, &c, rc->err));
        if (c.code == 0) {
                if (c.summary.dropped > 0)
                        log_warn(&rc->log,
                                 "entries of the index are null or against the rules of charts: left "
                                 "out");
                return 0;
        }
        *rc->err = c.err;
        if (c.no_room)
                return source_fails(p, &failing_storage);
        error_wrap(rc->err, "failed to load Helm repository from index YAML: failed to load index");
        return source_fails(p, &failing_index);
}

static int announce(struct source_pass *p, const char *revision)
{
        struct reconcile *rc = p->rc;
        const char *text = arena_printf(rc->arena, "new index revision '%s'", revision);
        const char *building = arena_printf(rc->arena, "building artifact: %s", or_empty(text));

        if (!text || !building ||
            (p->run.status->artifact && source_outdated(&p->run, "NewRevision", text) < 0) ||
            source_progress(&p->run, building) < 0)
                return error_no_memory(rc->err);
        return source_write(p);
}

static int tell_stored(struct source_pass *p, const struct fetched *f, const char *revision)
{
        struct reconcile *rc = p->rc;
        const char *text = arena_printf(rc->arena, "stored artifact: revision '%s'", revision);
        const char *url = web_url_public(spec_of(p->now)->url, rc->arena);
        char size[TEXT_BYTES_SIZE];
        const char *event;

        if (!text || !url || source_stored(&p->run, "Succeeded", text) < 0)
                return error_no_memory(rc->err);
        text_of_bytes(f->size, size);
        event = arena_printf(rc->arena, "stored fetched index of size %s from '%s'", size, url);
        if (!event)
                return error_no_memory(rc->err);
        source_tell_artifact(p, p->recovers ? "Succeeded" : "NewArtifact", event);
        return 0;
}

static int store(struct source_pass *p, struct fetched *f, const char *revision)
{
        struct reconcile *rc = p->rc;
        AUTO_ARTIFACT struct artifact_writer w = { 0 };
        const char *file = arena_printf(rc->arena, "index-%s.yaml", strchr(revision, ':') + 1);
        const char *path = file ? artifact_path(rc->arena, p->now, file) : NULL;
        struct source_artifact kept;
        const char *before;

        if (!path)
                return error_no_memory(rc->err);
        if (artifact_begin(&p->sources->store, path, &w, rc->err) < 0)
                return source_fails(p, &failing_folder);
        TRY(convert_index(p, f, &w));
        TRY(announce(p, revision));
        if (artifact_finish(&w, rc->arena, &kept, rc->err) < 0)
                return source_fails(p, &failing_storage);
        before = p->run.status->artifact ? p->run.status->artifact->path : NULL;
        TRY(source_keep(p, &kept, revision));
        TRY(index_replaced(p, text_equal(before, kept.path) ? NULL : before, kept.path));
        return tell_stored(p, f, revision);
}

/* ---- a run ---- */

static int unchanged(struct source_pass *p)
{
        index_unchanged(p, p->run.status->artifact->path);
        source_tell_unchanged(p, p->run.status->artifact->revision);
        return 0;
}

static int make(struct source_pass *p)
{
        struct reconcile *rc = p->rc;
        AUTO_FETCHED struct fetched f = { 0 };
        struct http_response answer = { 0 };
        const struct source_artifact *a = p->run.status->artifact;
        bool same;

        if (text_starts_with(spec_of(p->now)->url, "oci://")) {
                error_set(rc->err, ERR_INVALID,
                          "invalid Helm repository URL: 'oci' URL scheme cannot be used with 'default' "
                          "HelmRepository type");
                return source_fails(p, &failing_url);
        }
        TRY(fetch(p, &f, &answer, &same));
        if (same)
                return unchanged(p);
        if (artifact_hash_text(f.hash, f.revision) < 0)
                return error_no_memory(rc->err);
        if (!a || !text_equal(a->revision, f.revision)) {
                const char *revision = arena_strdup(rc->arena, f.revision);

                if (!revision)
                        return error_no_memory(rc->err);
                TRY(store(p, &f, revision));
                remember_validators(p, &answer);
                return 0;
        }
        remember_validators(p, &answer);
        return unchanged(p);
}

static bool is_suspended(const struct object *o)
{
        return spec_of(o)->suspend.value;
}

static const char *interval(const struct object *o)
{
        return spec_of(o)->interval;
}

static bool is_static(const struct object *o)
{
        return text_equal(spec_of(o)->type, "oci");
}

static const struct source_kind helm_repository = { .kind = &helm_repository_kind,
                                                    .which = SOURCE_HELM,
                                                    .link = "index.yaml",
                                                    .is_suspended = is_suspended,
                                                    .interval = interval,
                                                    .is_static = is_static,
                                                    .make = make };

static struct outcome reconcile(struct reconcile *rc)
{
        return source_reconcile(rc, &helm_repository);
}

static const struct watch watches[] = {
        { &helm_repository_kind, ON_SPEC | ON_META | ON_DELETION, map_source_itself },
};

const struct controller helm_repository_controller = {
        .name = "helmrepository",
        .watches = watches,
        .standing_key = SOURCE_KEY_OF_NONE,
        .n_watches = ARRAY_LEN(watches),
        .reconcile = reconcile,
        .concurrency = 2,
        .reconcile_deadline_ms = RECONCILE_MAX_MS,
        .backoff_base_ms = 750,
        .backoff_max_ms = 900000,
        .event_source = SOURCE_MANAGER,
        .optional = true,
};
