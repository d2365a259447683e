/* What the tests of evictions share: placements, budgets, bindings and evictions as JSON. */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "hub-agent/eviction/eviction.h"

static inline void *parse(struct arena *arena, const struct kind *kind, const char *json)
{
        struct error err = { 0 };
        struct object *o;

        if (object_decode_arena(kind, slice_of(json), arena, &o, &err) < 0)
                fail_msg("%s: %s", json, err.text);
        return o;
}

/* "PickAll", "PickFixed", "PickN 3", or "" for one without a policy. */
static inline const struct placement *placement_of(struct arena *arena, const char *policy)
{
        bool counted = text_starts_with(policy, PLACEMENT_PICK_N " ");
        char json[256], inner[128] = "";

        if (counted)
                snprintf(inner, sizeof(inner),
                         "\"policy\":{\"placementType\":\"PickN\",\"numberOfClusters\":%s}", policy + 6);
        else if (*policy)
                snprintf(inner, sizeof(inner), "\"policy\":{\"placementType\":\"%s\"}", policy);
        snprintf(json, sizeof(json), "{\"metadata\":{\"name\":\"web\"},\"spec\":{%s}}", inner);
        return parse(arena, &cluster_resource_placement_kind, json);
}

/* "max 1", "min 40%", or "" for one that says nothing. */
static inline const struct disruption_budget *budget_of(struct arena *arena, const char *text)
{
        bool percent = text_ends_with(text, "%");
        char json[256], inner[128] = "";

        if (*text)
                snprintf(inner, sizeof(inner), "\"%s\":%s%s%s",
                         text_starts_with(text, "max") ? "maxUnavailable" : "minAvailable",
                         percent ? "\"" : "", text + 4, percent ? "\"" : "");
        snprintf(json, sizeof(json), "{\"metadata\":{\"name\":\"web\"},\"spec\":{%s}}", inner);
        return parse(arena, &cluster_resource_placement_disruption_budget_kind, json);
}
