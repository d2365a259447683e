/* Makes a chart's artifact, and keeps it. spec/helm-chart.md 5. */
#include "hub-agent/source/helm_chart.h"

#include "hub-agent/source/verify/chart_signatures.h"

#define RECONCILE_MAX_MS 3600000
#define ANNOTATION_BUILD_METADATA "source.toolkit.fluxcd.io/build-metadata"

static const struct helm_chart_spec *spec_of(const struct object *o)
{
        static const struct helm_chart_spec none;
        const struct helm_chart *c = (const struct helm_chart *)o;

        return c->spec ? c->spec : &none;
}

static const struct chart_source *source_of(const struct object *o)
{
        static const struct chart_source none;
        const struct helm_chart_spec *s = spec_of(o);

        return s->source_ref ? s->source_ref : &none;
}

/* ---- the source ---- */

static const struct kind *const source_kinds[] = { &helm_repository_kind, &git_repository_kind,
                                                   &bucket_kind };

static const struct source_status *status_of_source(const struct object *o)
{
        if (o->kind == &helm_repository_kind)
                return ((const struct helm_repository *)o)->status;
        if (o->kind == &git_repository_kind)
                return ((const struct git_repository *)o)->status;
        return ((const struct bucket *)o)->status;
}

static int find_source(struct source_pass *p, const struct object **ret)
{
        struct reconcile *rc = p->rc;
        const struct chart_source *ref = source_of(p->now);

        for (size_t i = 0; i < ARRAY_LEN(source_kinds); i++) {
                if (!text_equal(ref->kind, source_kinds[i]->kind))
                        continue;
                TRY(cache_get(rc, source_kinds[i], rc->ns, ref->name, ret));
                if (*ret && source_is_watched(p->sources->options, *ret))
                        return 0;
                error_set(rc->err, ERR_NOT_FOUND, "%s.%s \"%s\" not found", source_kinds[i]->plural,
                          source_kinds[i]->group, ref->name);
                return source_fails(p, &failing_source_missing);
        }
        error_set(rc->err, ERR_INVALID,
                  "unsupported source kind '%s', must be one of: [HelmRepository GitRepository Bucket]",
                  or_empty(ref->kind));
        return source_fails(p, &failing_source_kind);
}

static int check_source(struct source_pass *p, const struct object *source)
{
        const struct source_status *s = status_of_source(source);
        const struct chart_source *ref = source_of(p->now);

        if (s && s->artifact) {
                p->run.status->observed_source_artifact_revision = s->artifact->revision;
                return 0;
        }
        error_set(p->rc->err, ERR_NOT_FOUND, "no artifact available for %s source '%s'", ref->kind,
                  ref->name);
        return source_fails(p, &failing_source_empty);
}

static bool is_registry(const struct object *source)
{
        const struct helm_repository *r = (const struct helm_repository *)source;

        return source->kind == &helm_repository_kind && r->spec && text_equal(r->spec->type, "oci");
}

/* ---- the chart ---- */

bool chart_is_kept(const struct chart_pass *c, const char *name, const char *version)
{
        const struct source_status *s = c->pass->run.status;

        return s->artifact && text_equal(s->artifact->revision, version) &&
               text_equal(s->observed_chart_name, name) &&
               s->observed_generation.value == c->pass->run.generation;
}

/* valuesFile, which is older, goes before valuesFiles. */
static int list_values(struct chart_pass *c)
{
        const struct helm_chart_spec *s = c->spec;
        const char **all = ARENA_NEW_ARRAY(c->pass->rc->arena, const char *, s->values_files.n + 1);

        if (!all)
                return error_no_memory(c->pass->rc->err);
        if (!text_empty(s->values_file))
                all[c->n_values++] = s->values_file;
        for (uint32_t i = 0; i < s->values_files.n; i++)
                all[c->n_values++] = s->values_files.at[i];
        c->values = all;
        return chart_values_count(c->pass->rc->arena, all, c->n_values, &c->has_values, c->pass->rc->err);
}

struct step {
        struct chart_build *build;
        int (*fn)(struct chart_build *b, struct dependency_list *missing, struct error *err);
        struct dependency_list missing;
        struct error err;
        int code;
};

static int open_step(struct chart_build *b, struct dependency_list *missing, struct error *err)
{
        return chart_build_open(b, err);
}

static int end_step(struct chart_build *b, struct dependency_list *missing, struct error *err)
{
        return chart_build_end(b, err);
}

static void take_step(void *ctx)
{
        struct step *s = ctx;

        s->code = s->fn(s->build, &s->missing, &s->err);
}

static int run_step(struct chart_pass *c, struct step *s)
{
        struct reconcile *rc = c->pass->rc;

        s->build = &c->build;
        TRY(offload(rc->kube->world->loop, take_step, s, rc->err));
        if (s->code == 0)
                return 0;
        *rc->err = s->err;
        return c->build.failing ? source_fails(c->pass, c->build.failing) : s->code;
}

int chart_finish(struct chart_pass *c)
{
        struct step read = { .fn = chart_build_read }, end = { .fn = end_step };

        TRY(run_step(c, &read));
        TRY(chart_add_missing(c, &read.missing));
        TRY(run_step(c, &end));
        if (c->build.n_missing > 0)
                rc_event(c->pass->rc, c->pass->now, "Normal", "ResolvedDependencies",
                         "resolved %zu chart dependencies", c->build.n_missing);
        return 0;
}

/* ---- what is told ---- */

static const char *summary_of(struct chart_pass *c)
{
        AUTO_BUF struct buf b;

        buf_init(&b, 1 << 20);
        buf_printf(&b, "%s '%s' chart with version '%s'", c->build.is_packaged ? "packaged" : "pulled",
                   c->build.metadata.name, c->build.version);
        for (size_t i = 0; i < c->build.merged.n; i++)
                buf_printf(&b, "%s%s", i ? " " : " and merged values files [", c->build.merged.at[i]);
        if (c->build.merged.n > 0)
                buf_append_char(&b, ']');
        return b.failed ? NULL : arena_strndup(c->pass->rc->arena, b.data, b.len);
}

static int announce(struct chart_pass *c, const char *summary)
{
        struct source_pass *p = c->pass;
        const char *text = arena_printf(p->rc->arena, "building artifact: %s", summary);

        if (!text || (p->run.status->artifact && source_outdated(&p->run, "NewChart", summary) < 0) ||
            source_progress(&p->run, text) < 0)
                return error_no_memory(p->rc->err);
        return source_write(p);
}

/* ---- storing ---- */

static int write_file(struct chart_pass *c, struct source_artifact *ret)
{
        struct source_pass *p = c->pass;
        struct reconcile *rc = p->rc;
        AUTO_ARTIFACT struct artifact_writer w = { 0 };
        const char *file = arena_printf(rc->arena, "%s-%s.tgz", c->build.metadata.name, c->build.version);
        const char *path = file ? artifact_path(rc->arena, p->now, file) : NULL;

        if (!path)
                return error_no_memory(rc->err);
        if (artifact_begin(&p->sources->store, path, &w, rc->err) < 0)
                return source_fails(p, &failing_folder);
        if (artifact_append(&w, c->build.bytes.data, c->build.bytes.len, rc->err) < 0 ||
            artifact_finish(&w, rc->arena, ret, rc->err) < 0)
                return source_fails(p, &failing_copy);
        return 0;
}

static int note_values(struct chart_pass *c)
{
        struct string_list *l = &c->pass->run.status->observed_values_files;

        *l = (struct string_list){ 0 };
        if (!c->spec->ignore_missing_values_files.value || c->build.merged.n == 0)
                return 0;
        l->at = ARENA_NEW_ARRAY(c->pass->rc->arena, const char *, c->build.merged.n);
        if (!l->at)
                return error_no_memory(c->pass->rc->err);
        for (size_t i = 0; i < c->build.merged.n; i++)
                l->at[l->n++] = c->build.merged.at[i];
        l->set = true;
        return 0;
}

static int note_manifest(struct chart_pass *c, struct source_artifact *kept)
{
        struct string_pair *pair;

        if (!c->manifest)
                return 0;
        pair = ARENA_NEW(c->pass->rc->arena, struct string_pair);
        if (!pair)
                return error_no_memory(c->pass->rc->err);
        *pair = (struct string_pair){ METADATA_MANIFEST, c->manifest };
        kept->metadata = (struct string_map){ pair, 1, true };
        return 0;
}

static int store(struct chart_pass *c)
{
        struct source_pass *p = c->pass;
        struct reconcile *rc = p->rc;
        const char *reason = c->build.is_packaged ? "ChartPackageSucceeded" : "ChartPullSucceeded";
        const char *summary = summary_of(c);
        struct source_artifact kept;
        bool is_new;

        if (!summary)
                return error_no_memory(rc->err);
        if (!p->run.status->artifact || !text_equal(p->run.status->artifact->revision, c->build.version) ||
            !text_equal(p->run.status->observed_chart_name, c->build.metadata.name))
                TRY(announce(c, summary));
        TRY(write_file(c, &kept));
        TRY(note_manifest(c, &kept));
        is_new = !p->run.status->artifact || !text_equal(p->run.status->artifact->digest, kept.digest);
        TRY(source_keep(p, &kept, c->build.version));
        TRY(note_values(c));
        p->run.status->observed_chart_name = c->build.metadata.name;
        if (source_stored(&p->run, reason, summary) < 0)
                return error_no_memory(rc->err);
        if (is_new || p->recovers)
                source_tell_artifact(p, reason, summary);
        return 0;
}

/* ---- a run ---- */

/* Under a tag there may be anything. */
static int check_asked(struct chart_pass *c)
{
        const struct chart_metadata *m = &c->build.metadata;

        if (!c->asked_name ||
            (text_equal(m->name, c->asked_name) && text_equal(m->version, c->asked_version)))
                return 0;
        error_set(c->pass->rc->err, ERR_INVALID,
                  "the archive holds chart '%s' with version '%s', asked for was '%s' with version '%s'",
                  m->name, m->version, c->asked_name, c->asked_version);
        return source_fails(c->pass, &failing_pull);
}

/* Only once it was opened is it known what version a chart in an archive has. */
static int open_archive(struct chart_pass *c)
{
        struct step open = { .fn = open_step };

        TRY(run_step(c, &open));
        TRY(check_asked(c));
        c->is_same = c->build.of_source && chart_is_kept(c, c->build.metadata.name, c->build.version);
        return 0;
}

static int get_chart(struct chart_pass *c, const struct object *source)
{
        if (is_registry(source))
                return chart_from_registry(c, (const struct helm_repository *)source);
        TRY(check_source(c->pass, source));
        TRY(chart_signatures_refuse(c));
        if (source->kind == &helm_repository_kind)
                return chart_from_repository(c, (const struct helm_repository *)source);
        return chart_from_archive(c, status_of_source(source)->artifact);
}

static int make_from(struct chart_pass *c, const struct object *source)
{
        struct source_pass *p = c->pass;

        TRY(list_values(c));
        c->build.values = c->values;
        c->build.n_values = c->n_values;
        TRY(get_chart(c, source));
        if (!c->is_same)
                TRY(open_archive(c));
        if (c->is_same) {
                source_tell_unchanged(p, p->run.status->artifact->revision);
                return 0;
        }
        TRY(chart_finish(c));
        return store(c);
}

static int make(struct source_pass *p)
{
        const struct helm_chart_spec *spec = spec_of(p->now);
        struct chart_pass c = {
                .pass = p,
                .spec = spec,
                .build = { .arena = p->rc->arena,
                           .file_bytes = p->sources->options->file_bytes,
                           .skips_missing = spec->ignore_missing_values_files.value,
                           .generation = p->run.generation,
                           .keeps_version =
                                   text_equal(annotation_of(p->now, ANNOTATION_BUILD_METADATA), "none") },
        };
        const struct object *source;
        int code = find_source(p, &source);

        if (code == 0)
                code = make_from(&c, source);
        chart_build_free(&c.build);
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

static const struct source_kind helm_chart = { .kind = &helm_chart_kind,
                                               .which = SOURCE_CHART,
                                               .link = "latest.tar.gz",
                                               .is_suspended = is_suspended,
                                               .interval = interval,
                                               .make = make };

static struct outcome reconcile(struct reconcile *rc)
{
        return source_reconcile(rc, &helm_chart);
}

/* ---- what wakes it ---- */

void emit_chart_source(const struct object *o, index_emit emit, void *to)
{
        const struct chart_source *ref = source_of(o);
        AUTO_KEY struct key key = KEY_EMPTY;

        if (!text_empty(ref->name))
                emit(to, key_text(&key, o->meta.ns, ref->name));
}

/* A revision that a chart has not seen yet. */
static void map_source(void *agent, const struct informer_event *e, key_emit emit, void *to)
{
        struct hub_agent *a = agent;
        const struct source_status *s = status_of_source(e->now);
        AUTO_ARENA struct arena arena = ARENA_INIT;
        AUTO_KEY struct key source = KEY_EMPTY;
        struct object_list charts;

        if (e->type == INFORMER_DELETED || !s || !s->artifact)
                return;
        if (!key_text(&source, e->now->meta.ns, e->now->meta.name) ||
            informer_by_index(manager_informer(a->manager, &helm_chart_kind), INDEX_CHART_SOURCE, source.text,
                              &arena, &charts) < 0) {
                emit(to, NULL);
                return;
        }
        for (size_t i = 0; i < charts.n; i++) {
                const struct helm_chart *c = (const struct helm_chart *)charts.at[i];
                AUTO_KEY struct key key = KEY_EMPTY;

                if (text_equal(source_of(charts.at[i])->kind, e->now->kind->kind) &&
                    !text_equal(c->status ? c->status->observed_source_artifact_revision : NULL,
                                s->artifact->revision))
                        emit(to, key_text(&key, charts.at[i]->meta.ns, charts.at[i]->meta.name));
        }
}

static const struct watch watches[] = {
        { &helm_chart_kind, ON_SPEC | ON_META | ON_DELETION, map_source_itself },
        { &helm_repository_kind, ON_STATUS, map_source },
        { &git_repository_kind, ON_STATUS, map_source },
        { &bucket_kind, ON_STATUS, map_source },
};

const struct controller helm_chart_controller = {
        .name = "helmchart",
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
