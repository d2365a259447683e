/* Properties of the operator's own, out of a ConfigMap of the member. */
#include "common/base/memory.h"
#include "member-agent/properties/config_map_watch.h"
#include "member-agent/properties/own.h"
#include "member-agent/properties/provider.h"
#include "proto/names.h"

struct own {
        const struct property_settings *settings;
        struct config_map_watch *watch;
};

static bool wanted(const struct property_settings *s)
{
        return s->own;
}

static void *stop(void *self)
{
        struct own *w = self;

        config_map_watch_free(w->watch);
        mem_free(w);
        return NULL;
}

static void *start(const struct property_options *o, struct error *err)
{
        struct own *w = NEW(struct own);

        if (!w) {
                error_no_memory(err);
                return NULL;
        }
        w->settings = o->settings;
        w->watch = config_map_watch_new(o->kube, o->group, o->settings->own_ns, o->settings->own, err);
        return w->watch ? w : stop(w);
}

static enum property_state state(const void *self, const char **ret_problem)
{
        const struct own *w = self;
        const struct config_map *now;

        return config_map_watch_get(w->watch, &now, ret_problem) ? PROPERTIES_KNOWN : PROPERTIES_UNKNOWN;
}

static int tell(const struct own *w, struct property_collection *c, bool succeeded, const char *reason,
                const char *text)
{
        return property_add_condition(c, CONDITION_OWN_PROPERTIES_COLLECTION_SUCCEEDED, succeeded, reason,
                                      text ? arena_printf(c->arena, "ConfigMap %s/%s: %s",
                                                          w->settings->own_ns, w->settings->own, text)
                                           : NULL);
}

static int add_all(const struct own *w, const struct config_map *map, struct property_collection *c,
                   struct error *err)
{
        struct own_properties p;

        TRY(own_properties_read(&map->data, c->arena, &p, err));
        for (size_t i = 0; i < p.n; i++) {
                int added = property_add(c, p.at[i].name, p.at[i].value, c->now_ms);

                if (added < 0 ||
                    (added > 0 && own_properties_refuse(&p, p.at[i].name, "the agent tells of it by itself",
                                                        c->arena) < 0))
                        return ERR_NO_MEMORY;
        }
        if (p.n_faults)
                return tell(w, c, false, REASON_OWN_PROPERTIES_REFUSED,
                            arena_printf(c->arena, "%zu left out: %s%s", p.n_faults, p.faults,
                                         own_properties_more(&p) ? "; ..." : ""));
        return tell(w, c, true, REASON_PROPERTIES_COLLECTED, "all properties are told");
}

static int collect(const void *self, struct property_collection *c, struct error *err)
{
        const struct own *w = self;
        const struct config_map *now;
        const char *problem;

        if (!config_map_watch_get(w->watch, &now, &problem))
                return tell(w, c, false, REASON_PROPERTIES_TIMED_OUT,
                            arena_printf(c->arena, "it cannot be read: %s", problem));
        if (!now)
                return tell(w, c, false, REASON_OWN_PROPERTIES_NOT_FOUND, "there is none");
        return add_all(w, now, c, err);
}

static size_t taken_back(const struct property_settings *s, const char **ret)
{
        if (wanted(s))
                return 0;
        ret[0] = CONDITION_OWN_PROPERTIES_COLLECTION_SUCCEEDED;
        return 1;
}

const struct property_provider own_properties = { .name = "config-map",
                                                  .wanted = wanted,
                                                  .start = start,
                                                  .stop = stop,
                                                  .state = state,
                                                  .collect = collect,
                                                  .taken_back = taken_back,
                                                  .patient = true };
