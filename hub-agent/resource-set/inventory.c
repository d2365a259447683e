#include "hub-agent/resource-set/inventory.h"

#include <stdlib.h>

#include "common/base/map.h"

/* Names of RBAC objects may have colons, which ids do not. */
static bool may_have_colons(const char *kind)
{
        static const char *const kinds[] = { "Role", "ClusterRole", "RoleBinding", "ClusterRoleBinding" };

        return text_in(kind, kinds, ARRAY_LEN(kinds));
}

static char *replace(struct arena *arena, const char *text, const char *from, const char *to)
{
        size_t step = strlen(from), n = 0;
        char *ret = arena_alloc(arena, strlen(text) * strlen(to) + 1);

        if (!ret)
                return NULL;
        while (*text) {
                if (strncmp(text, from, step) == 0) {
                        memcpy(ret + n, to, strlen(to));
                        n += strlen(to);
                        text += step;
                } else {
                        ret[n++] = *text++;
                }
        }
        ret[n] = '\0';
        return ret;
}

const char *inventory_id(struct arena *arena, const struct object_place *o, bool namespaced)
{
        const char *name = may_have_colons(o->kind) ? replace(arena, o->name, ":", "__") : o->name;

        return name ? arena_printf(arena, "%s_%s_%.*s_%s", namespaced ? o->ns : "", name, (int)o->group.len,
                                   o->group.data, o->kind)
                    : NULL;
}

bool inventory_parse(struct arena *arena, const char *id, struct object_place *ret)
{
        const char *first = strchr(id, '_'), *last = strrchr(id, '_'), *middle;
        char *name;

        if (!first || first == last)
                return false;
        for (middle = last - 1; middle > first && *middle != '_'; middle--)
                ;
        if (middle == first)
                return false;
        ret->ns = arena_strndup(arena, id, (size_t)(first - id));
        name = arena_strndup(arena, first + 1, (size_t)(middle - first - 1));
        ret->group = (struct slice){ middle + 1, (size_t)(last - middle - 1) };
        ret->kind = last + 1;
        ret->name = name && may_have_colons(ret->kind) ? replace(arena, name, "__", ":") : name;
        return ret->ns && ret->name && *ret->name && *ret->kind;
}

static int by_id(const void *a, const void *b)
{
        return strcmp(((const struct resource_set_inventory_entry *)a)->id,
                      ((const struct resource_set_inventory_entry *)b)->id);
}

static int add_all(struct map *ids, const inventory *from, inventory *ret)
{
        for (uint32_t i = 0; i < from->n; i++) {
                struct resource_set_inventory_entry *known = map_get(ids, or_empty(from->at[i].id));

                if (known) {
                        known->v = from->at[i].v;
                        continue;
                }
                ret->at[ret->n] = from->at[i];
                ret->at[ret->n].id = or_empty(from->at[i].id);
                if (map_put(ids, ret->at[ret->n].id, &ret->at[ret->n]) < 0)
                        return ERR_NO_MEMORY;
                ret->n++;
        }
        return 0;
}

int inventory_union(struct arena *arena, const inventory *a, const inventory *more, inventory *ret,
                    struct error *err)
{
        struct map *ids = map_of_arena(arena);

        *ret = (inventory){ .at = ARENA_NEW_ARRAY(arena, struct resource_set_inventory_entry,
                                                  a->n + more->n + 1),
                            .set = true };
        if (!ids || !ret->at || add_all(ids, a, ret) < 0 || add_all(ids, more, ret) < 0)
                return error_no_memory(err);
        qsort(ret->at, ret->n, sizeof(*ret->at), by_id);
        return 0;
}

/* ---- what is to go ---- */

struct stale {
        struct object_place place;
        struct resource_set_inventory_entry entry;
};

static int last_first(const void *a, const void *b)
{
        const struct stale *s = a, *t = b;
        enum apply_stage stage_s = apply_stage_of(&s->place), stage_t = apply_stage_of(&t->place);

        if (stage_s != stage_t)
                return stage_s < stage_t ? 1 : -1;
        return apply_compare(&t->place, &s->place);
}

int inventory_stale(struct arena *arena, const inventory *before, const inventory *now, inventory *ret,
                    struct error *err)
{
        struct map *kept = map_of_arena(arena);
        struct stale *all = ARENA_NEW_ARRAY(arena, struct stale, before->n + 1);
        size_t n = 0;

        *ret = (inventory){ .at = ARENA_NEW_ARRAY(arena, struct resource_set_inventory_entry,
                                                  before->n + 1) };
        if (!kept || !all || !ret->at)
                return error_no_memory(err);
        for (uint32_t i = 0; i < now->n; i++)
                if (map_put(kept, or_empty(now->at[i].id), &now->at[i]) < 0)
                        return error_no_memory(err);
        for (uint32_t i = 0; i < before->n; i++) {
                const char *id = or_empty(before->at[i].id);

                if (map_has(kept, id) || !inventory_parse(arena, id, &all[n].place))
                        continue;
                all[n++].entry = before->at[i];
        }
        qsort(all, n, sizeof(*all), last_first);
        for (size_t i = 0; i < n; i++)
                ret->at[ret->n++] = all[i].entry;
        return 0;
}

bool inventory_equal(const inventory *a, const inventory *b)
{
        if (a->n != b->n)
                return false;
        for (uint32_t i = 0; i < a->n; i++)
                if (!text_equal(a->at[i].id, b->at[i].id) || !text_equal(a->at[i].v, b->at[i].v))
                        return false;
        return true;
}

bool is_made_by(const struct resource_set *set, const json_t *live)
{
        const char *const name[] = { "metadata", "labels", LABEL_SET_NAME };
        const char *const ns[] = { "metadata", "labels", LABEL_SET_NAMESPACE };

        return text_equal(json_string_value(doc_get_keys(live, name, 3)), set->object.meta.name) &&
               text_equal(json_string_value(doc_get_keys(live, ns, 3)), or_empty(set->object.meta.ns));
}

enum collect collect_decide(const struct resource_set *set, const json_t *live)
{
        return !is_made_by(set, live) || says(live, ANNOTATION_FLUX_PRUNE, FLUX_DISABLED) ? COLLECT_SKIP
                                                                                          : COLLECT_DELETE;
}
