/* Charts and sources are worked on once the hub serves their kinds: spec/helm-chart.md 4.1. */
#include "common/base/memory.h"
#include "hub-agent/git/git.h"
#include "hub-agent/placement/catalog.h"
#include "hub-agent/source/index_access.h"
#include "hub-agent/source/source_agent.h"
#include "hub-agent/source/store/serve.h"

#define NO_MEMORY_PAUSE_MS 1000

static void clear(void *record)
{
        struct source_record *m = record;

        mem_free(m->tag);
        mem_free(m->modified);
        mem_free(m->told);
}

static const struct memory_kind source_record_kind = { sizeof(struct source_record), clear };

struct sources *sources_new(struct world *w, const struct source_options *o)
{
        struct sources *s = NEW(struct sources);

        if (!s)
                return NULL;
        s->indexes = NEW(struct source_indexes);
        if (!s->indexes) {
                mem_free(s);
                return NULL;
        }
        source_indexes_init(s->indexes, o);
        s->options = o;
        artifact_store_init(&s->store, w);
        registry_tokens_init(&s->tokens);
        s->store.volume = o->volume;
        s->store.address = o->address;
        s->store.digest = o->digest;
        s->store.retention = o->retention;
        for (size_t i = 0; i < ARRAY_LEN(s->remembered); i++)
                memories_init(&s->remembered[i], &source_record_kind);
        return s;
}

struct sources *sources_free(struct sources *s)
{
        if (!s)
                return NULL;
        for (size_t i = 0; i < ARRAY_LEN(s->remembered); i++)
                memories_free(&s->remembered[i]);
        git_work_close(s->work);
        artifact_store_free(&s->store);
        source_indexes_free(s->indexes);
        mem_free(s->indexes);
        registry_tokens_free(&s->tokens);
        mem_free(s);
        return NULL;
}

static bool none(void *ctx, const char *key)
{
        return false;
}

void sources_forget(struct sources *s)
{
        for (size_t i = 0; i < ARRAY_LEN(s->remembered); i++) {
                memories_keep_if(&s->remembered[i], none, NULL);
                s->swept[i] = false;
        }
}

static bool are_served(const struct hub_agent *a)
{
        static const struct kind *const kinds[] = { &helm_chart_kind, &helm_repository_kind,
                                                    &git_repository_kind, &bucket_kind };

        return kinds_are_served(a, kinds, ARRAY_LEN(kinds));
}

/* Each step either happens or may be tried again. */
static int begin(struct hub_agent *a)
{
        static const struct controller *const all[] = { &helm_repository_controller, &bucket_controller,
                                                        &git_repository_controller, &helm_chart_controller };
        const struct source_options *o = a->sources->options;
        const struct controller_pace pace = { o->concurrency, o->retry_least_ms, o->retry_most_ms };

        for (size_t i = 0; i < ARRAY_LEN(all); i++)
                TRY(manager_add_controller_at(a->manager, all[i], &pace));
        TRY(informer_add_index(manager_informer(a->manager, &helm_chart_kind), INDEX_CHART_SOURCE,
                               emit_chart_source));
        TRY(sources_watch_secrets(a));
        for (size_t i = 0; i < ARRAY_LEN(all); i++)
                manager_enqueue(a->manager, all[i], SOURCE_KEY_OF_NONE, QUEUE_LOW);
        return 0;
}

static void begin_when_served(void *agent)
{
        struct hub_agent *a = agent;

        while (!are_served(a))
                if (catalog_await_reading(a->catalog) < 0)
                        return;
        log_info(&a->log, "charts and their sources are served, and worked on from now on");
        while (begin(a) < 0) {
                log_error(&a->log, "no memory to work on charts and their sources, trying again");
                if (fiber_sleep(a->world->loop, NO_MEMORY_PAUSE_MS) < 0)
                        return;
        }
}

/* ---- the file server ---- */

static void serve_file(void *agent, struct http_exchange *x)
{
        struct hub_agent *a = agent;

        a->sources->store.serving = manager_is_leader(a->manager);
        artifact_serve(&a->sources->store, x);
}

static int serve(struct hub_agent *a, struct error *err)
{
        const struct source_options *o = a->sources->options;
        const struct http_server_options server = {
                .bind = o->bind, .port = o->port, .handle = serve_file, .ctx = a
        };

        if (o->served)
                o->served(o->served_ctx, serve_file, a);
        if (o->port < 0)
                return 0;
        if (http_server_start(a->world, &server, &a->sources->server, err) < 0)
                return error_wrap(err, "storage-addr");
        log_info(&a->log, "artifacts are served", "address", o->address);
        return 0;
}

void sources_stop(struct sources *s)
{
        if (!s)
                return;
        if (s->options->served)
                s->options->served(s->options->served_ctx, NULL, NULL);
        if (s->server)
                s->server = http_server_stop(s->server);
}

/* ---- the cache of indexes ---- */

static void purge(void *agent)
{
        struct hub_agent *a = agent;
        struct sources *s = a->sources;

        while (fiber_sleep(a->world->loop, s->options->cache_purge_ms) == 0)
                index_cache_purge(&s->indexes->cache, loop_now_ms(a->world->loop));
}

static int start_cache(struct hub_agent *a)
{
        if (a->sources->options->cache_most > 0)
                return fiber_spawn(a->following, "index-cache", purge, a) ? 0 : ERR_NO_MEMORY;
        log_info(&a->log, "caching of Helm index files is disabled");
        return 0;
}

/* ---- the beginning ---- */

int sources_start(struct hub_agent *a, struct error *err)
{
        TRY(serve(a, err));
        if (start_cache(a) < 0)
                return error_no_memory(err);
        if (are_served(a))
                return begin(a) < 0 ? error_no_memory(err) : 0;
        log_info(&a->log,
                 "the hub does not serve HelmCharts and their sources: they are worked on when their "
                 "definitions come");
        return fiber_spawn(a->following, "sources", begin_when_served, a) ? 0 : error_no_memory(err);
}
