/* What KubeFleet's provider for Azure tells: machines by their kind, costs, the authority's certificates.
 * spec/member-agent.md 4. Nothing is asked of Azure: prices come from a ConfigMap. */
#include "common/base/memory.h"
#include "member-agent/properties/config_map_watch.h"
#include "member-agent/properties/costs.h"
#include "member-agent/properties/provider.h"
#include "member-agent/properties/usage_watch.h"
#include "proto/names.h"

struct azure {
        const struct property_options *o;
        struct config_map_watch *prices; /* NULL = no ConfigMap is named */
        /* The table of the version that was read last. */
        struct price_table table;
        char *read; /* uid and resourceVersion; NULL = none */
        bool usable;
        struct error why; /* it is not */
};

static bool wanted(const struct property_settings *s)
{
        return s->azure;
}

static void drop_table(struct azure *a)
{
        if (a->usable)
                price_table_free(&a->table);
        mem_free(a->read);
        a->read = NULL;
        a->usable = false;
}

static void *stop(void *self)
{
        struct azure *a = self;

        config_map_watch_free(a->prices);
        drop_table(a);
        mem_free(a);
        return NULL;
}

static void *start(const struct property_options *o, struct error *err)
{
        const struct property_settings *s = o->settings;
        struct azure *a = NEW(struct azure);

        if (!a) {
                error_no_memory(err);
                return NULL;
        }
        a->o = o;
        if (!s->costs || !s->prices)
                return a;
        a->prices = config_map_watch_new(o->kube, o->group, s->price_ns, s->prices, err);
        return a->prices ? a : stop(a);
}

static const char *region_of(const struct azure *a, const struct usage *u)
{
        return text_empty(a->o->settings->region) ? usage_region(u) : a->o->settings->region;
}

static enum property_state state(const void *self, const char **ret_problem)
{
        const struct azure *a = self;
        const struct usage *u = usage_watch_get(a->o->usage, ret_problem);
        const struct config_map *prices;

        if (!u || (a->prices && !config_map_watch_get(a->prices, &prices, ret_problem)))
                return PROPERTIES_UNKNOWN;
        if (a->o->settings->costs && !region_of(a, u)) {
                *ret_problem =
                        "no node says its region (label topology.kubernetes.io/region), and --region is "
                        "not set";
                return PROPERTIES_FAILED;
        }
        return usage_watch_current(a->o->usage) ? PROPERTIES_KNOWN : PROPERTIES_STALE;
}

/* ---- prices ---- */

/* NULL and *ret_problem: there is none that can be used. */
static const struct price_table *table_of(struct azure *a, struct arena *arena, const char **ret_problem)
{
        const struct property_settings *s = a->o->settings;
        const struct config_map *now = NULL;
        const struct object_meta *m;
        const char *version, *text;

        if (a->prices)
                config_map_watch_get(a->prices, &now, NULL);
        *ret_problem = a->prices ? arena_printf(arena, "there is no ConfigMap %s/%s", s->price_ns, s->prices)
                                 : "no ConfigMap with prices is named (--price-table)";
        if (!now) {
                drop_table(a);
                return NULL;
        }
        m = &now->object.meta;
        version = arena_printf(arena, "%s %s", m->uid, m->resource_version);
        if (!version || !text_equal(version, a->read)) {
                drop_table(a);
                text = string_map_get(&now->data, PRICE_TABLE_KEY);
                error_clear(&a->why);
                a->read = version ? mem_strdup(version) : NULL;
                a->usable = price_table_parse(slice_of(text), &a->table, &a->why) == 0;
        }
        *ret_problem = arena_printf(arena, "ConfigMap %s/%s, " PRICE_TABLE_KEY ": %s", s->price_ns, s->prices,
                                    a->why.text);
        return a->usable ? &a->table : NULL;
}

static int add_costs(struct azure *a, const struct usage *u, struct property_collection *c)
{
        const struct property_settings *s = a->o->settings;
        int64_t max_age_ms =
                s->price_max_age_ms ? s->price_max_age_ms : INT64_C(3600000) * PRICE_MAX_AGE_HOURS;
        const char *problem;
        const struct price_table *table = table_of(a, c->arena, &problem);
        struct costs costs;

        if (!problem)
                return ERR_NO_MEMORY;
        TRY(costs_of(u, table, problem, region_of(a, u), c->now_ms, max_age_ms, c->arena, &costs));
        TRY(property_add_condition(c, CONDITION_COST_PROPERTIES_COLLECTION_SUCCEEDED, costs.succeeded,
                                   costs.reason, costs.message));
        if (!costs.succeeded)
                return 0;
        TRY(property_add(c, PROPERTY_PER_CPU_CORE_COST, costs.per_core, c->now_ms));
        return property_add(c, PROPERTY_PER_GB_MEMORY_COST, costs.per_gib, c->now_ms);
}

/* ---- the rest ---- */

static int add_machines(const struct usage *u, struct property_collection *c)
{
        map_for_each(&u->machines, e) {
                const struct tally *t = e->value;

                TRY(property_add(c, arena_printf(c->arena, PROPERTY_VM_SIZE_COUNT, t->name),
                                 arena_printf(c->arena, "%u", t->n), c->now_ms));
        }
        return 0;
}

static int collect(const void *self, struct property_collection *c, struct error *err)
{
        struct azure *a = (struct azure *)(uintptr_t)self;
        const struct usage *u = usage_watch_get(a->o->usage, NULL);
        const char *authority = a->o->kube->endpoint->ca_pem;

        TRY(add_machines(u, c));
        if (!text_empty(authority))
                TRY(property_add(c, PROPERTY_CERTIFICATE_AUTHORITY, authority, a->o->begun_ms));
        return a->o->settings->costs ? add_costs(a, u, c) : 0;
}

static size_t taken_back(const struct property_settings *s, const char **ret)
{
        size_t n = 0;

        if (!s->azure) {
                ret[n++] = CONDITION_PROPERTY_PROVIDER_STARTED;
                ret[n++] = CONDITION_PROPERTY_COLLECTION_SUCCEEDED;
        }
        if (!s->azure || !s->costs)
                ret[n++] = CONDITION_COST_PROPERTIES_COLLECTION_SUCCEEDED;
        return n;
}

const struct property_provider azure_properties = { .name = "azure",
                                                    .wanted = wanted,
                                                    .start = start,
                                                    .stop = stop,
                                                    .state = state,
                                                    .collect = collect,
                                                    .taken_back = taken_back,
                                                    .patient = true,
                                                    .plugged = true };
