/* What every member tells: how many nodes, what they have, what of it is free, and the version. */
#include "member-agent/properties/provider.h"
#include "member-agent/properties/usage_watch.h"
#include "proto/names.h"

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

        TRY(usage_report(u, usage_watch_sees_pods(self), c->now_ms, c->arena, &c->usage, err));
        if (!text_empty(c->version))
                TRY(property_add(c, PROPERTY_KUBERNETES_VERSION, c->version, c->now_ms));
        TRY(property_add(c, PROPERTY_NODE_COUNT, arena_printf(c->arena, "%u", map_count(&u->nodes)),
                         c->now_ms));
        return 0;
}

const struct property_provider cluster_properties = {
        .name = "cluster", .wanted = always, .start = start, .stop = stop, .state = state, .collect = collect
};
