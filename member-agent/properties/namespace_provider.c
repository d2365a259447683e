/* Which namespaces there are, and which Works they belong to: spec/member-agent.md 4. */
#include "member-agent/properties/namespace_watch.h"
#include "member-agent/properties/provider.h"
#include "proto/names.h"

static bool wanted(const struct property_settings *s)
{
        return s->namespaces;
}

static void *start(const struct property_options *o, struct error *err)
{
        return namespace_watch_new(o->kube, o->group, err);
}

static void *stop(void *self)
{
        return namespace_watch_free(self);
}

static enum property_state state(const void *self, const char **ret_problem)
{
        return namespace_watch_get(self, ret_problem) ? PROPERTIES_KNOWN : PROPERTIES_UNKNOWN;
}

static int collect(const void *self, struct property_collection *c, struct error *err)
{
        const struct namespaces *n = namespace_watch_get(self, NULL);

        TRY(namespaces_report(n, c->arena, &c->namespaces, err));
        if (namespaces_cut(n))
                return property_add_condition(c, CONDITION_NAMESPACE_COLLECTION_SUCCEEDED, false,
                                              REASON_NAMESPACES_DEGRADED,
                                              "Namespaces are collected in a degraded mode since the number "
                                              "of namespaces reaches the track limit");
        return property_add_condition(c, CONDITION_NAMESPACE_COLLECTION_SUCCEEDED, true,
                                      REASON_NAMESPACES_SUCCEEDED,
                                      "All namespaces have been collected successfully");
}

static size_t taken_back(const struct property_settings *s, const char **ret)
{
        if (wanted(s))
                return 0;
        ret[0] = CONDITION_NAMESPACE_COLLECTION_SUCCEEDED;
        return 1;
}

const struct property_provider namespace_properties = { .name = "namespaces",
                                                        .wanted = wanted,
                                                        .start = start,
                                                        .stop = stop,
                                                        .state = state,
                                                        .collect = collect,
                                                        .taken_back = taken_back };
