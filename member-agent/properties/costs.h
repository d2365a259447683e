/* What a core and a GiB of a cluster cost an hour, by a table of prices of machines: spec/member-agent.md 4.
 * Pure. */
#pragma once

#include "common/base/map.h"
#include "member-agent/properties/usage.h"

/* The key of the ConfigMap that holds the table, YAML or JSON:
 *     updated: "2026-11-22T00:00:00Z"   # optional; without it the prices do not grow old
 *     regions:
 *       westeurope: { Standard_D4s_v5: 0.23 }   # an hour, a number or a quantity
 *       "*": { own-machine: 0.1 }               # what the region itself does not name
 */
#define PRICE_TABLE_KEY "prices.yaml"

struct price_table {
        struct map prices;  /* "region/machine" -> double */
        int64_t updated_ms; /* TIME_NONE = not said */
};

/* ERR_INVALID (names what is wrong), ERR_LIMIT, ERR_NO_MEMORY; then there is nothing to free. */
int price_table_parse(struct slice text, struct price_table *ret, struct error *err);
void price_table_free(struct price_table *t);

struct costs {
        bool succeeded;
        const char *reason, *message;   /* of the condition */
        const char *per_core, *per_gib; /* NULL = not known */
};
/* table NULL: there is none, and `problem` says why. Into the arena. ERR_NO_MEMORY. */
int costs_of(const struct usage *u, const struct price_table *table, const char *problem, const char *region,
             int64_t now_ms, int64_t max_age_ms, struct arena *arena, struct costs *ret);
