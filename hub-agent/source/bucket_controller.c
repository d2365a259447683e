/* Fetches what is in a bucket, and keeps it as an archive. spec/helm-chart.md 12.2. */
#include "common/base/memory.h"
#include "hub-agent/source/bucket.h"

#define RECONCILE_MAX_MS 3900000

static const struct bucket_spec *spec_of(const struct object *o)
{
        static const struct bucket_spec none;
        const struct bucket *b = (const struct bucket *)o;

        return b->spec ? b->spec : &none;
}

static int announce(struct source_pass *p, const char *revision)
{
        struct reconcile *rc = p->rc;
        const char *text = arena_printf(rc->arena, "new upstream revision '%s'", revision);
        const char *building = arena_printf(rc->arena, "building artifact: %s", or_empty(text));

        if (!text || !building ||
            (p->run.status->artifact && source_outdated(&p->run, "NewRevision", text) < 0) ||
            source_progress(&p->run, building) < 0)
                return error_no_memory(rc->err);
        return source_write(p);
}

static int tell_stored(struct bucket_pass *b, const char *revision)
{
        struct source_pass *p = b->pass;
        struct reconcile *rc = p->rc;
        const char *text = arena_printf(rc->arena, "stored artifact: revision '%s'", revision),
                   *event = arena_printf(rc->arena, "stored artifact with %zu fetched files from '%s' bucket",
                                         b->objects.all.n, b->spec->bucket_name);

        if (!text || !event || source_stored(&p->run, "Succeeded", text) < 0)
                return error_no_memory(rc->err);
        source_tell_artifact(p, p->recovers ? "Succeeded" : "NewArtifact", event);
        return 0;
}

static int store(struct bucket_pass *b, const char *revision)
{
        struct source_pass *p = b->pass;
        struct reconcile *rc = p->rc;
        AUTO_ARTIFACT struct artifact_writer w = { 0 };
        const char *file = arena_printf(rc->arena, "%s.tar.gz", strchr(revision, ':') + 1);
        const char *path = file ? artifact_path(rc->arena, p->now, file) : NULL;
        struct source_artifact kept;

        if (!path)
                return error_no_memory(rc->err);
        TRY(announce(p, revision));
        if (artifact_begin(&p->sources->store, path, &w, rc->err) < 0)
                return source_fails(p, &failing_folder);
        TRY(bucket_pack(b, &w));
        if (artifact_finish(&w, rc->arena, &kept, rc->err) < 0)
                return source_fails(p, &failing_storage);
        TRY(source_keep(p, &kept, revision));
        return tell_stored(b, revision);
}

static int work(struct bucket_pass *b)
{
        struct source_pass *p = b->pass;
        const struct source_artifact *a;
        const char *revision;

        TRY(bucket_open(b));
        TRY(bucket_index(b));
        a = p->run.status->artifact;
        if (a && text_equal(a->revision, b->revision)) {
                source_tell_unchanged(p, a->revision);
                return 0;
        }
        revision = arena_strdup(p->rc->arena, b->revision);
        return revision ? store(b, revision) : error_no_memory(p->rc->err);
}

static int make(struct source_pass *p)
{
        struct bucket_pass b = { .pass = p, .spec = spec_of(p->now) };
        int code = work(&b);

        bucket_close(&b);
        return code;
}

static bool is_suspended(const struct object *o)
{
        return spec_of(o)->suspend.value;
}

static const char *interval(const struct object *o)
{
        return spec_of(o)->interval;
}

static const struct source_kind bucket = { .kind = &bucket_kind,
                                           .which = SOURCE_BUCKET,
                                           .link = "latest.tar.gz",
                                           .is_suspended = is_suspended,
                                           .interval = interval,
                                           .make = make };

static struct outcome reconcile(struct reconcile *rc)
{
        return source_reconcile(rc, &bucket);
}

static const struct watch watches[] = {
        { &bucket_kind, ON_SPEC | ON_META | ON_DELETION, map_source_itself },
};

const struct controller bucket_controller = {
        .name = "bucket",
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
