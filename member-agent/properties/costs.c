#include "member-agent/properties/costs.h"

#include "common/base/limits.h"
#include "common/base/memory.h"
#include "common/base/timefmt.h"
#include "proto/names.h"

#define ANY_REGION "*"
#define PRICE_MAX 1e9 /* an hour: what is more is no price, and no quantity once it is added up */
#define NAMED_MAX 5   /* machines without a price that are told of by name */

/* ---- the table ---- */

void price_table_free(struct price_table *t)
{
        map_free(&t->prices);
}

static int read_price(const json_t *value, double *ret)
{
        struct quantity q;

        if (json_is_string(value)) {
                if (quantity_parse(slice_of(json_string_value(value)), &q, NULL) < 0)
                        return ERR_INVALID;
                *ret = quantity_to_double(q);
        } else if (json_is_number(value)) {
                *ret = json_number_value(value);
        } else {
                return ERR_INVALID;
        }
        return *ret >= 0 && *ret <= PRICE_MAX ? 0 : ERR_INVALID;
}

static int put_price(struct price_table *t, const char *region, const char *machine, double price,
                     struct error *err)
{
        AUTO_FREE char *key = mem_printf("%s/%s", region, machine);
        double *own = NEW(double);

        if (map_count(&t->prices) >= LIMIT_PRICES) {
                mem_free(own);
                return error_set(err, ERR_LIMIT, "regions: more than %d prices", LIMIT_PRICES);
        }
        if (!key || !own || map_put(&t->prices, key, own) < 0) {
                mem_free(own);
                return error_no_memory(err);
        }
        *own = price;
        return 0;
}

static int read_region(struct price_table *t, const char *region, json_t *machines, struct error *err)
{
        const char *machine;
        json_t *value;
        double price;

        if (!json_is_object(machines))
                return error_set(err, ERR_INVALID, "regions.%s: must be an object", region);
        json_object_foreach(machines, machine, value) {
                if (read_price(value, &price) < 0)
                        return error_set(err, ERR_INVALID,
                                         "regions.%s.%s: must be a price, a number from 0 to 1e9", region,
                                         machine);
                TRY(put_price(t, region, machine, price, err));
        }
        return 0;
}

static int read_time(struct price_table *t, const json_t *doc, struct error *err)
{
        const char *updated = NULL;

        TRY(doc_want_string(doc, "updated", &updated, err));
        if (updated && time_parse_rfc3339(slice_of(updated), &t->updated_ms) < 0)
                return error_set(err, ERR_INVALID, "updated: \"%s\" is no time", updated);
        return 0;
}

static int read_table(struct price_table *t, json_t *doc, struct error *err)
{
        static const char *const fields[] = { "updated", "regions" };
        json_t *regions = NULL, *value;
        const char *key;

        if (!json_is_object(doc))
                return error_set(err, ERR_INVALID, "must be an object");
        json_object_foreach(doc, key, value)
                if (!text_in(key, fields, ARRAY_LEN(fields)))
                        return error_set(err, ERR_INVALID, "%s: is no field of a table of prices", key);
        TRY(read_time(t, doc, err));
        TRY(doc_want_object(doc, "regions", &regions, err));
        if (!regions)
                return error_set(err, ERR_INVALID, "regions: is required");
        json_object_foreach(regions, key, value)
                TRY(read_region(t, key, value, err));
        return 0;
}

int price_table_parse(struct slice text, struct price_table *ret, struct error *err)
{
        AUTO_JSON json_t *doc = NULL;
        struct price_table t = { .updated_ms = TIME_NONE };
        int result;

        TRY(yaml_parse(text, &doc, err));
        map_init(&t.prices, MAP_OWN_KEYS, mem_free);
        result = read_table(&t, doc, err);
        if (result < 0)
                price_table_free(&t);
        else
                *ret = t;
        return result;
}

/* ---- costs ---- */

static const double *price_in(const struct price_table *t, const char *region, const char *machine)
{
        AUTO_FREE char *key = mem_printf("%s/%s", region, machine);

        return key ? map_get(&t->prices, key) : NULL;
}

static const double *price_of(const struct price_table *t, const char *region, const char *machine)
{
        const double *price = price_in(t, region, machine);

        return price ? price : price_in(t, ANY_REGION, machine);
}

/* The sum an hour. *ret_without: the machines without a price, as one text; NULL = none. */
static int total_of(const struct usage *u, const struct price_table *t, const char *region,
                    struct arena *arena, double *ret, const char **ret_without)
{
        size_t n_names = 0, without = 0;
        AUTO_FREE const char **names = map_sorted_keys(&u->machines, &n_names);
        AUTO_BUF struct buf b;

        buf_init(&b, LIMIT_STATUS_TEXT_BYTES);
        if (!names)
                return ERR_NO_MEMORY;
        *ret = 0;
        for (size_t i = 0; i < n_names; i++) {
                const struct tally *machine = map_get(&u->machines, names[i]);
                const double *price = price_of(t, region, names[i]);

                if (price)
                        *ret += *price * machine->n;
                else if (without++ < NAMED_MAX)
                        buf_printf(&b, "%s%s", without > 1 ? ", " : "", names[i]);
        }
        if (without > NAMED_MAX)
                buf_printf(&b, " and %zu more", without - NAMED_MAX);
        *ret_without = without ? arena_strndup(arena, b.data, b.len) : NULL;
        return b.failed || (without && !*ret_without) ? ERR_NO_MEMORY : 0;
}

static int failed(struct costs *ret, const char *message)
{
        *ret = (struct costs){ .reason = REASON_COSTS_CALCULATION_FAILED, .message = message };
        return message ? 0 : ERR_NO_MEMORY;
}

static int succeeded(struct costs *ret, const struct price_table *t, double per_core, double per_gib,
                     int64_t now_ms, int64_t max_age_ms, struct arena *arena)
{
        bool old = t->updated_ms != TIME_NONE && now_ms - t->updated_ms > max_age_ms;
        char when[RFC3339_SIZE];

        *ret = (struct costs){ .succeeded = true,
                               .reason = REASON_COSTS_CALCULATED,
                               .message = "All costs are calculated",
                               .per_core = arena_printf(arena, "%.3f", per_core),
                               .per_gib = arena_printf(arena, "%.3f", per_gib) };
        if (old) {
                time_format_rfc3339(t->updated_ms, when);
                ret->reason = REASON_COSTS_CALCULATION_DEGRADED;
                ret->message = arena_printf(
                        arena, "The costs are calculated by prices that may be outdated, of %s", when);
        }
        return ret->message && ret->per_core && ret->per_gib ? 0 : ERR_NO_MEMORY;
}

int costs_of(const struct usage *u, const struct price_table *table, const char *problem, const char *region,
             int64_t now_ms, int64_t max_age_ms, struct arena *arena, struct costs *ret)
{
        double cores = (double)u->capacity.cpu_milli / 1000, total;
        double gib = (double)u->capacity.memory_bytes / (double)(1 << 30);
        const char *without;

        if (!table)
                return failed(ret, arena_printf(arena, "There are no prices: %s", problem));
        if (map_count(&u->nodes) == 0)
                return succeeded(ret, table, 0, 0, now_ms, max_age_ms, arena);
        if (text_empty(region))
                return failed(ret, "The region is not known: no node has the label "
                                   "topology.kubernetes.io/region, and --region is not set");
        TRY(total_of(u, table, region, arena, &total, &without));
        if (without)
                return failed(ret,
                              arena_printf(arena, "There is no price in region %s for: %s", region, without));
        if (u->capacity.cpu_milli <= 1 || u->capacity.memory_bytes <= 1)
                return failed(ret, "The nodes have no cores or no memory to share the costs");
        return succeeded(ret, table, total / cores, total / gib, now_ms, max_age_ms, arena);
}
