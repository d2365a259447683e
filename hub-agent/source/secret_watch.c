/* A changed Secret starts the charts and sources that name it: spec/helm-chart.md 10. Of Secrets the metadata
 * alone is held. */
#include "hub-agent/source/source_agent.h"

#define INDEX_SECRET "secret"

/* Kinds that name Secrets, and who works on them. */
static const struct {
        const struct kind *kind;
        const struct controller *controller;
} users[] = {
        { &helm_repository_kind, &helm_repository_controller },
        { &git_repository_kind, &git_repository_controller },
        { &bucket_kind, &bucket_controller },
        { &helm_chart_kind, &helm_chart_controller },
};

static void emit_one(const struct object *o, const struct secret_by_name *ref, index_emit emit, void *to)
{
        AUTO_KEY struct key key = KEY_EMPTY;

        if (ref && !text_empty(ref->name))
                emit(to, key_text(&key, o->meta.ns, ref->name));
}

static void emit_of_repository(const struct object *o, index_emit emit, void *to)
{
        const struct helm_repository_spec *s = ((const struct helm_repository *)o)->spec;

        if (!s)
                return;
        emit_one(o, s->secret_ref, emit, to);
        emit_one(o, s->cert_secret_ref, emit, to);
}

static void emit_of_git(const struct object *o, index_emit emit, void *to)
{
        const struct git_repository_spec *s = ((const struct git_repository *)o)->spec;

        if (!s)
                return;
        emit_one(o, s->secret_ref, emit, to);
        emit_one(o, s->proxy_secret_ref, emit, to);
        if (s->verify)
                emit_one(o, s->verify->secret_ref, emit, to);
}

static void emit_of_bucket(const struct object *o, index_emit emit, void *to)
{
        const struct bucket_spec *s = ((const struct bucket *)o)->spec;

        if (!s)
                return;
        emit_one(o, s->secret_ref, emit, to);
        emit_one(o, s->cert_secret_ref, emit, to);
        emit_one(o, s->proxy_secret_ref, emit, to);
}

static void emit_secrets(const struct object *o, index_emit emit, void *to)
{
        const struct helm_chart_spec *chart = ((const struct helm_chart *)o)->spec;

        if (o->kind == &helm_repository_kind)
                emit_of_repository(o, emit, to);
        else if (o->kind == &git_repository_kind)
                emit_of_git(o, emit, to);
        else if (o->kind == &bucket_kind)
                emit_of_bucket(o, emit, to);
        else if (chart && chart->verify)
                emit_one(o, chart->verify->secret_ref, emit, to);
}

/* ---- what a change starts ---- */

static void start(struct hub_agent *a, const struct controller *c, const struct object *o)
{
        AUTO_KEY struct key key = KEY_EMPTY;
        const char *text = key_text(&key, o->meta.ns, o->meta.name);

        if (text && source_is_watched(a->sources->options, o))
                manager_enqueue(a->manager, c, text, QUEUE_FOLLOW_UP);
}

/* The charts of a repository use its Secrets, too. */
static void start_charts_of(struct hub_agent *a, const struct object *repository, struct arena *arena)
{
        AUTO_KEY struct key key = KEY_EMPTY;
        const char *text = key_text(&key, repository->meta.ns, repository->meta.name);
        struct object_list charts;

        if (!text || informer_by_index(manager_informer(a->manager, &helm_chart_kind), INDEX_CHART_SOURCE,
                                       text, arena, &charts) < 0)
                return;
        for (size_t i = 0; i < charts.n; i++) {
                const struct helm_chart *c = (const struct helm_chart *)charts.at[i];

                if (c->spec && c->spec->source_ref &&
                    text_equal(c->spec->source_ref->kind, repository->kind->kind))
                        start(a, &helm_chart_controller, charts.at[i]);
        }
}

static bool is_news(const struct informer_event *e)
{
        return e->type == INFORMER_UPDATED
                       ? !text_equal(e->old->meta.resource_version, e->now->meta.resource_version)
                       : !e->initial;
}

static void secret_changed(void *ctx, const struct informer_event *e)
{
        struct hub_agent *a = ctx;
        AUTO_ARENA struct arena arena = ARENA_INIT;
        AUTO_KEY struct key key = KEY_EMPTY;
        const char *text = is_news(e) ? key_text(&key, e->now->meta.ns, e->now->meta.name) : NULL;
        struct object_list l;

        for (size_t i = 0; text && i < ARRAY_LEN(users); i++) {
                if (informer_by_index(manager_informer(a->manager, users[i].kind), INDEX_SECRET, text, &arena,
                                      &l) < 0)
                        return; /* the next try finds the Secret as it is */
                for (size_t k = 0; k < l.n; k++) {
                        start(a, users[i].controller, l.at[k]);
                        if (users[i].kind == &helm_repository_kind)
                                start_charts_of(a, l.at[k], &arena);
                }
        }
}

int sources_watch_secrets(struct hub_agent *a)
{
        static const struct kube_resource secrets = { "", "v1", "secrets", "Secret", true };
        const struct informer_options o = { .kind = &partial_object_kind,
                                            .resource = &secrets,
                                            .ns = a->sources->options->ns,
                                            .flags = DECODE_PROJECTION,
                                            .interns = a->interns };
        struct informer *informer;

        for (size_t i = 0; i < ARRAY_LEN(users); i++)
                TRY(informer_add_index(manager_informer(a->manager, users[i].kind), INDEX_SECRET,
                                       emit_secrets));
        if (a->sources->watches_secrets)
                return 0;
        TRY(manager_add_informer(a->manager, &o, &informer));
        if (informer_add_handler(informer, secret_changed, a) < 0) {
                manager_remove_informer(a->manager, informer);
                return ERR_NO_MEMORY;
        }
        a->sources->watches_secrets = true;
        return 0;
}
