/* ResourceSets and their providers are worked on once the hub serves both kinds: spec/resource-set.md 23. */
#include "common/kube/selector.h"
#include "hub-agent/input-provider/input_provider_agent.h"
#include "hub-agent/placement/catalog.h"
#include "hub-agent/resource-set/resource_set_agent.h"
#include "hub-agent/resource-set/watches.h"

#define NO_MEMORY_PAUSE_MS 1000

static const char *watched_configs(const struct hub_agent *a)
{
        return a->options->watch_configs ? a->options->watch_configs : "reconcile.fluxcd.io/watch=Enabled";
}

static int check_selector(struct hub_agent *a, struct error *err)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct label_query *query;

        return label_query_parse(&arena, watched_configs(a), &query, err) < 0
                       ? error_wrap(err, "watch-configs-label-selector")
                       : 0;
}

static bool are_served(const struct hub_agent *a)
{
        static const struct kind *const kinds[] = { &resource_set_kind, &resource_set_input_provider_kind };

        return kinds_are_served(a, kinds, ARRAY_LEN(kinds));
}

/* Each step either happens or may be tried again. */
static int begin(struct hub_agent *a)
{
        const struct resource_set_pace *wanted = a->options->resource_set_pace;
        struct controller_pace pace = { 0 };

        TRY(resource_sets_watch_configs(a, watched_configs(a)));
        if (wanted)
                pace = (struct controller_pace){ .backoff_base_ms = wanted->retry_least_ms,
                                                 .backoff_max_ms = wanted->retry_most_ms };
        TRY(manager_add_controller_at(a->manager, &input_provider_controller, &pace));
        if (wanted)
                pace.concurrency = wanted->concurrency;
        return manager_add_controller_at(a->manager, &resource_set_controller, &pace);
}

static void begin_when_served(void *agent)
{
        struct hub_agent *a = agent;

        while (!are_served(a))
                if (catalog_await_reading(a->catalog) < 0)
                        return;
        log_info(&a->log, "ResourceSets and their input providers are served, and worked on from now on");
        while (begin(a) < 0) {
                log_error(&a->log, "no memory to work on ResourceSets, trying again");
                if (fiber_sleep(a->world->loop, NO_MEMORY_PAUSE_MS) < 0)
                        return;
        }
}

int resource_sets_start(struct hub_agent *a, struct error *err)
{
        TRY(check_selector(a, err));
        if (are_served(a))
                return begin(a) < 0 ? error_no_memory(err) : 0;
        log_info(&a->log,
                 "the hub does not serve ResourceSets: they are worked on when their definitions come");
        if (!fiber_spawn(a->following, "resource-sets", begin_when_served, a))
                return error_no_memory(err);
        return 0;
}
