#include "hub-agent/resource-set/inputs.h"

#include "common/base/digest.h"
#include "common/base/limits.h"
#include "common/base/map.h"
#include "common/base/memory.h"
#include "common/base/unicode.h"
#include "common/kube/selector.h"

int inputs_check(const struct resource_set *set, struct error *err)
{
        const struct input_provider_reference_list *from = &set->spec->inputs_from;

        for (uint32_t i = 0; i < from->n; i++) {
                const struct input_provider_reference *r = &from->at[i];

                if (text_empty(r->name) && !r->selector)
                        return error_set(err, ERR_INVALID,
                                         "input provider reference must have either name or selector set");
                if (r->selector && label_selector_check(r->selector, err) < 0) {
                        AUTO_BUF struct buf b;

                        buf_init(&b, ERROR_TEXT_MAX);
                        label_selector_print(r->selector, &b);
                        return error_wrap(err, "failed to parse selector %.*s", (int)b.len, or_empty(b.data));
                }
        }
        return 0;
}

bool inputs_pick(const struct resource_set *set, const struct object *provider)
{
        if (!set->spec || !text_equal(set->object.meta.ns, provider->meta.ns))
                return false;
        for (uint32_t i = 0; i < set->spec->inputs_from.n; i++) {
                const struct input_provider_reference *r = &set->spec->inputs_from.at[i];

                if (text_empty(r->name) ? label_selector_matches(r->selector, &provider->meta.labels)
                                        : text_equal(r->name, provider->meta.name))
                        return true;
        }
        return false;
}

void inputs_narrow(const struct resource_set *set, struct object_list *providers, const char **ret_missing)
{
        const struct input_provider_reference_list *from = &set->spec->inputs_from;
        size_t n = 0;

        for (size_t i = 0; i < providers->n; i++)
                if (inputs_pick(set, providers->at[i]))
                        providers->at[n++] = providers->at[i];
        providers->n = n;
        *ret_missing = NULL;
        for (uint32_t i = 0; i < from->n && !*ret_missing; i++) {
                bool there = text_empty(from->at[i].name);

                for (size_t k = 0; k < n; k++)
                        there = there || text_equal(providers->at[k]->meta.name, from->at[i].name);
                if (!there)
                        *ret_missing = from->at[i].name;
        }
}

const struct input_provider *inputs_not_exported(const struct object_list *providers)
{
        for (size_t i = 0; i < providers->n; i++) {
                const struct input_provider *p = (const struct input_provider *)providers->at[i];

                if (!p->status || text_empty(p->status->last_exported_revision))
                        return p;
        }
        return NULL;
}

bool inputs_are_none(const struct resource_set *set)
{
        return set->spec->inputs.n == 0 && set->spec->inputs_from.n == 0;
}

/* ---- ids of the set's own inputs (3.2) ---- */

static int hash_of(const json_t *set, uint32_t *ret, struct error *err)
{
        char hex[SHA256_HEX_SIZE], first[9];

        TRY(doc_hash(set, hex, err));
        memcpy(first, hex, 8);
        first[8] = '\0';
        *ret = (uint32_t)strtoul(first, NULL, 16);
        return 0;
}

static int make_id(const json_t *set, struct map *taken, char ret[16], struct error *err)
{
        uint32_t n;

        TRY(hash_of(set, &n, err));
        do
                snprintf(ret, 16, "%u", n++);
        while (map_has(taken, ret));
        return map_put(taken, ret, taken) < 0 ? error_no_memory(err) : 0;
}

static int add_ids(struct arena *arena, json_t *sets, struct error *err)
{
        struct map taken;
        char id[16];
        size_t i;
        json_t *set;
        int code = 0;

        map_init(&taken, MAP_OWN_KEYS, NULL);
        json_array_foreach(sets, i, set)
                if (json_object_get(set, "id") && code == 0)
                        code = map_put(&taken, input_set_id(arena, set), &taken);
        json_array_foreach(sets, i, set) {
                if (code < 0 || json_object_get(set, "id"))
                        continue;
                code = make_id(set, &taken, id, err);
                if (code == 0 && json_object_set_new(set, "id", json_string(id)) < 0)
                        code = ERR_NO_MEMORY;
        }
        map_free(&taken);
        return code == ERR_NO_MEMORY ? error_no_memory(err) : code;
}

const char *input_set_id(struct arena *arena, const json_t *set)
{
        const json_t *id = json_object_get(set, "id");

        if (json_is_integer(id))
                return or_empty(arena_printf(arena, "%lld", (long long)json_integer_value(id)));
        return or_empty(json_string_value(id));
}

/* ---- collecting (3.1) ---- */

static int read_sets(struct arena *arena, const struct raw_list *raw, struct input_source *source,
                     json_t **ret, struct error *err)
{
        json_t *sets = json_array();

        TRY(doc_keep(arena, sets, err));
        for (uint32_t i = 0; i < raw->n; i++) {
                json_t *set;

                TRY(doc_parse(raw->at[i], &set, err));
                if (json_array_append_new(sets, set) < 0)
                        return error_no_memory(err);
                if (!json_is_object(set))
                        return error_set(err, ERR_INVALID,
                                         "failed to get inputs from %s/%s: input set %u is no object",
                                         source->kind, source->name, i);
        }
        source->sets = *ret = sets;
        return 0;
}

static int add_provider(json_t *sets, const struct input_source *s, struct error *err)
{
        size_t i;
        json_t *set;

        json_array_foreach(sets, i, set) {
                json_t *by = json_pack("{s:s,s:s,s:s,s:s}", "apiVersion", resource_set_kind.api_version,
                                       "kind", s->kind, "name", s->name, "namespace", or_empty(s->ns));

                if (!by || json_object_set_new(set, "provider", by) < 0)
                        return error_no_memory(err);
        }
        return 0;
}

static int own_source(struct arena *arena, const struct resource_set *set, struct input_source *ret,
                      struct error *err)
{
        json_t *sets;

        *ret = (struct input_source){ .kind = KIND_RESOURCE_SET,
                                      .ns = set->object.meta.ns,
                                      .name = set->object.meta.name };
        TRY(read_sets(arena, &set->spec->inputs, ret, &sets, err));
        TRY(add_ids(arena, sets, err));
        return add_provider(sets, ret, err);
}

static int provider_source(struct arena *arena, const struct object *o, struct input_source *ret,
                           struct error *err)
{
        static const struct raw_list none;
        const struct input_provider *p = (const struct input_provider *)o;
        json_t *sets;

        *ret = (struct input_source){ .kind = KIND_INPUT_PROVIDER, .ns = o->meta.ns, .name = o->meta.name };
        TRY(read_sets(arena, p->status ? &p->status->exported_inputs : &none, ret, &sets, err));
        return add_provider(sets, ret, err);
}

static int flatten(struct arena *arena, const struct input_source *sources, size_t n, json_t **ret,
                   struct error *err)
{
        json_t *all = json_array();

        TRY(doc_keep(arena, all, err));
        for (size_t i = 0; i < n; i++)
                if (json_array_extend(all, (json_t *)(uintptr_t)sources[i].sets) < 0)
                        return error_no_memory(err);
        *ret = all;
        return 0;
}

int inputs_collect(struct arena *arena, const struct resource_set *set, const struct object_list *providers,
                   json_t **ret, struct error *err)
{
        const struct resource_set_input_strategy *how = set->spec->input_strategy;
        struct input_source *sources = ARENA_NEW_ARRAY(arena, struct input_source, providers->n + 1);
        size_t n = 0;

        if (!sources)
                return error_no_memory(err);
        if (set->spec->inputs.n)
                TRY(own_source(arena, set, &sources[n++], err));
        for (size_t i = 0; i < providers->n; i++)
                TRY(provider_source(arena, providers->at[i], &sources[n++], err));
        if (!how || !text_equal(how->name, STRATEGY_PERMUTE))
                return flatten(arena, sources, n, ret, err);
        return inputs_permute(arena, sources, n, how->include_empty_providers.value, ret, err);
}

/* ---- twins (3.2) ---- */

const char *inputs_twins(struct arena *arena, const json_t *sets)
{
        struct map *known = map_of_arena(arena);
        size_t i;
        json_t *set;

        json_array_foreach(sets, i, set) {
                const char *id = input_set_id(arena, set);
                const char *key =
                        arena_printf(arena, "%s %s/%s", id, or_empty(doc_get_string(set, "provider.kind")),
                                     or_empty(doc_get_string(set, "provider.name")));
                const json_t *other = known && key ? map_get(known, key) : NULL;

                if (other)
                        return arena_printf(arena, "input sets of %s/%s have the same id %s",
                                            or_empty(doc_get_string(set, "provider.kind")),
                                            or_empty(doc_get_string(set, "provider.name")), id);
                if (!known || !key || map_put(known, key, set) < 0)
                        return NULL;
        }
        return NULL;
}
