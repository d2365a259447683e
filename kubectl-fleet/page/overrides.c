/* Which overrides concern a placement, and which of its clusters each of their rules concerns. */
#include "kubectl-fleet/page/overrides.h"

/* ---- what the placement has ---- */

static const char *object_key_of(struct arena *arena, const char *group, const char *version,
                                 const char *kind, const char *ns, const char *name)
{
        return arena_printf(arena, "%s\n%s\n%s\n%s\n%s", or_empty(group), or_empty(version), or_empty(kind),
                            or_empty(ns), or_empty(name));
}

static int add_object(struct overrides *o, const struct resource_identifier *id)
{
        const char *key = object_key_of(o->look->arena, id->group, id->version, id->kind, id->ns, id->name);
        const char *around = object_key_of(o->look->arena, "", "v1", "Namespace", "", id->ns);
        const char *secret = arena_printf(o->look->arena, "secret in %s", or_empty(id->ns));

        if (!key || !around || !secret || map_put(o->objects, key, o) < 0)
                return ERR_NO_MEMORY;
        if (text_empty(id->ns))
                return 0;
        TRY(map_put(o->objects, around, o)); /* what selects a namespace selects all in it */
        return page_is_secret(id->kind) ? map_put(o->objects, secret, o) : 0;
}

static int add_objects(struct overrides *o)
{
        const struct placement_status *s = o->placement->status;

        if (!s || s->selected_resources.n == 0)
                return 0;
        o->objects = map_of_arena(o->look->arena);
        if (!o->objects)
                return ERR_NO_MEMORY;
        for (uint32_t i = 0; i < s->selected_resources.n; i++)
                TRY(add_object(o, &s->selected_resources.at[i]));
        return 0;
}

/* 1, 0, or ERR_NO_MEMORY. */
static int has_object(const struct overrides *o, const char *key)
{
        if (!key)
                return ERR_NO_MEMORY;
        return o->objects && map_has(o->objects, key);
}

/* ---- snapshots ---- */

static const char *key_of(struct arena *arena, const char *ns, const char *snapshot)
{
        return text_empty(ns) ? arena_printf(arena, "cro/%s", or_empty(snapshot))
                              : arena_printf(arena, "ro/%s/%s", or_empty(ns), or_empty(snapshot));
}

static int mark_secrets(const struct overrides *o, struct touch *t)
{
        for (uint32_t i = 0; i < t->spec->resource_selectors.n; i++)
                t->for_secrets = t->for_secrets || page_is_secret(t->spec->resource_selectors.at[i].kind);
        for (uint32_t i = 0; i < t->spec->cluster_resource_selectors.n; i++) {
                const struct resource_selector *r = &t->spec->cluster_resource_selectors.at[i];
                int has;

                t->for_secrets = t->for_secrets || page_is_secret(r->kind);
                if (!text_equal(r->kind, "Namespace"))
                        continue;
                has = has_object(o, arena_printf(o->look->arena, "secret in %s", or_empty(r->name)));
                if (has < 0)
                        return has;
                t->near_secrets = t->near_secrets || has || !o->objects;
        }
        return 0;
}

bool override_value_hidden(const struct touch *t, const char *path)
{
        return t->for_secrets || (t->near_secrets &&
                                  (text_empty(path) || text_equal(path, "/") ||
                                   text_starts_with(path, "/data") || text_starts_with(path, "/stringData")));
}

static bool names_placement(const struct overrides *o, const struct override_snapshot *s)
{
        const struct placement_reference *p = s->spec->override_spec->placement;

        if (!p)
                return true;
        if (!text_equal(p->name, o->name))
                return false;
        if (s->object.meta.ns && text_equal(p->scope, "Namespaced"))
                return text_equal(o->ns, s->object.meta.ns);
        return !o->ns;
}

/* Whether it selects anything of the placement: 1, 0, or ERR_NO_MEMORY. */
static int selects_any(const struct overrides *o, const struct touch *t)
{
        int has = 0;

        for (uint32_t i = 0; has == 0 && i < t->spec->cluster_resource_selectors.n; i++) {
                const struct resource_selector *r = &t->spec->cluster_resource_selectors.at[i];

                has = has_object(o,
                                 object_key_of(o->look->arena, r->group, r->version, r->kind, "", r->name));
        }
        for (uint32_t i = 0; has == 0 && i < t->spec->resource_selectors.n; i++) {
                const struct override_target *r = &t->spec->resource_selectors.at[i];

                has = has_object(o, object_key_of(o->look->arena, r->group, r->version, r->kind,
                                                  t->snapshot->object.meta.ns, r->name));
        }
        return has;
}

/* The newest of an override that names this placement, or is for all of them and selects something of it. */
static int mark_meant(const struct overrides *o, struct touch *t)
{
        int selects = 1;

        t->latest = label_is_true(&t->snapshot->object, LABEL_IS_LATEST_SNAPSHOT);
        if (!t->latest || is_deleting(&t->snapshot->object) || !names_placement(o, t->snapshot))
                return 0;
        if (!t->spec->placement)
                selects = selects_any(o, t);
        t->meant = selects > 0;
        return selects < 0 ? selects : 0;
}

static int add_touch(struct overrides *o, const struct override_snapshot *s)
{
        struct touch *t = &o->at[o->n];

        if (!s->spec || !s->spec->override_spec)
                return 0;
        *t = (struct touch){ .snapshot = s,
                             .spec = s->spec->override_spec,
                             .key = key_of(o->look->arena, s->object.meta.ns, s->object.meta.name) };
        if (t->spec->policy)
                t->rules = t->spec->policy->rules;
        t->by_rule = ARENA_NEW_ARRAY(o->look->arena, size_t, t->rules.n + 1);
        t->broken = ARENA_NEW_ARRAY(o->look->arena, bool, t->rules.n + 1);
        if (!t->key || !t->by_rule || !t->broken || map_put(o->by_key, t->key, t) < 0)
                return ERR_NO_MEMORY;
        o->n++;
        TRY(mark_secrets(o, t));
        return mark_meant(o, t);
}

static int add_touches(struct overrides *o)
{
        const struct page_need *of[] = {
                page_need_of(o->look, &cluster_resource_override_snapshot_kind, 0),
                page_need_of(o->look, &resource_override_snapshot_kind, 0),
        };
        size_t n = 0;

        for (size_t i = 0; i < ARRAY_LEN(of); i++)
                n += of[i] ? of[i]->fetch.result.n : 0;
        o->at = ARENA_NEW_ARRAY(o->look->arena, struct touch, n + 1);
        o->by_key = map_of_arena(o->look->arena);
        if (!o->at || !o->by_key)
                return ERR_NO_MEMORY;
        for (size_t i = 0; i < ARRAY_LEN(of); i++)
                for (size_t k = 0; of[i] && k < of[i]->fetch.result.n; k++)
                        TRY(add_touch(o, (const struct override_snapshot *)of[i]->fetch.result.at[k]));
        return 0;
}

/* ---- clusters ---- */

static int name_override(const struct overrides *o, const char *ns, const char *snapshot,
                         struct override_place *p)
{
        const char *key = key_of(o->look->arena, ns, snapshot);

        if (!key)
                return ERR_NO_MEMORY;
        p->named.at[p->named.n++] =
                (struct named_override){ map_get(o->by_key, key), ns, or_empty(snapshot), key };
        return 0;
}

static int name_overrides(const struct overrides *o, struct override_place *p)
{
        const struct string_list *wide = &p->binding->spec->cluster_resource_override_snapshots;
        const struct namespaced_name_list *own = &p->binding->spec->resource_override_snapshots;

        p->named.at = ARENA_NEW_ARRAY(o->look->arena, struct named_override, wide->n + own->n + 1);
        if (!p->named.at)
                return ERR_NO_MEMORY;
        for (uint32_t i = 0; i < wide->n; i++)
                TRY(name_override(o, NULL, wide->at[i], p));
        for (uint32_t i = 0; i < own->n; i++)
                TRY(name_override(o, own->at[i].ns, own->at[i].name, p));
        return 0;
}

/* A cluster may have a second binding, while the first is removed: the one that stays counts. */
static int place_binding(struct overrides *o, const struct binding *b, struct map *by_name)
{
        struct override_place *p = map_get(by_name, override_target(b));

        if (!*override_target(b) || (p && (is_deleting(&b->object) || !is_deleting(&p->binding->object))))
                return 0;
        if (!p) {
                p = &o->places[o->n_places++];
                TRY(map_put(by_name, override_target(b), p));
        }
        *p = (struct override_place){ .binding = b, .name = override_target(b) };
        return 0;
}

static int find_members(struct overrides *o, struct map *by_name)
{
        const struct page_need *clusters = page_need_of(o->look, &member_cluster_kind, 0);

        for (size_t i = 0; clusters && i < clusters->fetch.result.n; i++) {
                const struct object *c = clusters->fetch.result.at[i];
                struct override_place *p = map_get(by_name, c->meta.name);

                if (p)
                        p->cluster = (const struct member_cluster *)c;
        }
        for (size_t i = 0; i < o->n_places; i++)
                TRY(name_overrides(o, &o->places[i]));
        return 0;
}

static int add_places(struct overrides *o)
{
        const struct page_need *bindings = page_need_of(o->look, o->scope->binding, 0);
        size_t n = bindings ? bindings->fetch.result.n : 0;
        struct map *by_name = map_of_arena(o->look->arena);

        o->places = ARENA_NEW_ARRAY(o->look->arena, struct override_place, n + 1);
        if (!o->places || !by_name)
                return ERR_NO_MEMORY;
        for (size_t i = 0; i < n; i++)
                TRY(place_binding(o, (const struct binding *)bindings->fetch.result.at[i], by_name));
        o->asked = o->binding ? map_get(by_name, override_target(o->binding)) : NULL;
        return find_members(o, by_name);
}

/* ---- what the rules concern ---- */

/* Whether any rule of it concerns that cluster; a broken one concerns all. */
static bool count(struct touch *t, const struct member_cluster *cluster)
{
        bool any = false;

        for (uint32_t i = 0; cluster && i < t->rules.n; i++) {
                int match = override_rule_matches(&t->rules.at[i], cluster, NULL);

                t->broken[i] = t->broken[i] || match < 0;
                t->by_rule[i] += match > 0;
                any = any || match != 0;
        }
        return any;
}

static void count_all(struct overrides *o)
{
        for (size_t i = 0; i < o->n_places; i++) {
                const struct override_place *p = &o->places[i];

                for (size_t k = 0; k < p->named.n; k++)
                        if (p->named.at[k].touch) {
                                p->named.at[k].touch->n_named++;
                                count(p->named.at[k].touch, p->cluster);
                        }
        }
        for (size_t i = 0; i < o->n; i++)
                for (size_t k = 0; o->at[i].meant && !o->at[i].n_named && k < o->n_places; k++)
                        o->at[i].n_would += count(&o->at[i], o->places[k].cluster);
}

int overrides_gather(struct overrides *o)
{
        TRY(add_objects(o));
        TRY(add_touches(o));
        TRY(add_places(o));
        count_all(o);
        return 0;
}
