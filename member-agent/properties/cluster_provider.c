/* What every member tells: how many nodes, what they have, what of it is free, and the version. */
#include "member-agent/properties/provider.h"
#include "member-agent/properties/usage_watch.h"

static bool always(const struct property_settings *s)
{
        return true;
}

/* The watch of nodes and pods belongs to all providers. */
static void *start(const struct property_options *o, struct error *err)
{
        return (void *)(uintptr_t)o->usage;
}

static void *stop(void *self)
{
        return NULL;
}

static enum property_state state(const void *self, const char **ret_problem)
{
        return usage_watch_get(self, ret_problem) ? PROPERTIES_KNOWN : PROPERTIES_UNKNOWN;
}

static int collect(const void *self, struct property_collection *c, struct error *err)
{
        const struct usage *u = usage_watch_get(self, NULL);
        struct property_value_map properties;

        if (usage_report(u, c->version, usage_watch_sees_pods(self), c->now_ms, c->arena, &properties,
                         &c->usage, err) < 0)
                return ERR_NO_MEMORY;
        for (uint32_t i = 0; i < properties.n; i++)
                TRY(property_add(c, properties.at[i].key, properties.at[i].value.value, c->now_ms));
        return 0;
}

const struct property_provider cluster_properties = {
        .name = "cluster", .wanted = always, .start = start, .stop = stop, .state = state, .collect = collect
};
