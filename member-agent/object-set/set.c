#include "member-agent/object-set/set.h"

void set_identify(const struct cluster_object_set *s, struct set_identity *ret)
{
        const struct object_meta *m = &s->object.meta;

        *ret = (struct set_identity){ .name = m->name,
                                      .uid = m->uid,
                                      .revision = s->spec ? s->spec->revision.value : 0,
                                      .owner = string_map_get(&m->labels, LABEL_SET_OWNER_NAME),
                                      .owner_kind = string_map_get(&m->labels, LABEL_SET_OWNER_KIND) };
}

bool set_is_archived(const struct cluster_object_set *s)
{
        return s->spec && text_equal(s->spec->lifecycle_state, SET_ARCHIVED);
}

const struct condition *set_find_condition(const struct cluster_object_set *s, const char *type)
{
        return s->status ? condition_find(&s->status->conditions, type) : NULL;
}

bool set_has_succeeded(const struct cluster_object_set *s)
{
        const struct condition *c = set_find_condition(s, CONDITION_SUCCEEDED);

        return c && text_equal(c->status, CONDITION_TRUE);
}

const char *set_version_words(const struct cluster_object_set *s, struct arena *arena)
{
        const struct object_meta *m = &s->object.meta;
        const char *version = string_map_get(&m->annotations, KEY_SET_BUNDLE_VERSION);

        if (text_empty(version))
                version = string_map_get(&m->labels, KEY_SET_BUNDLE_VERSION);
        if (!text_empty(version))
                return version;
        return arena_printf(arena, "%lld", s->spec ? (long long)s->spec->revision.value : 0);
}

const char *set_object_identity(const struct set_object *o, struct arena *arena)
{
        return arena_printf(arena, "%s/%s, Kind=%s %s/%s", o->group, o->version, o->kind, o->ns, o->name);
}

const char *set_object_title(const struct set_object *o, struct arena *arena)
{
        return arena_printf(arena, "%s.%s%s%s %s/%s", o->kind, o->group, text_empty(o->group) ? "" : "/",
                            o->version, o->ns, o->name);
}

static bool is_active(const struct cluster_object_set *s)
{
        return s->spec && text_equal(s->spec->lifecycle_state, SET_ACTIVE) &&
               s->object.meta.deletion_ms == TIME_NONE;
}

bool set_have_one_owner(const struct set_identity *a, const struct set_identity *b)
{
        return a->owner && text_equal(a->owner, b->owner) &&
               (!a->owner_kind || !b->owner_kind || text_equal(a->owner_kind, b->owner_kind));
}

bool set_are_siblings(const struct cluster_object_set *a, const struct cluster_object_set *b)
{
        struct set_identity one, other;

        set_identify(a, &one);
        set_identify(b, &other);
        return is_active(a) && is_active(b) && !text_equal(one.name, other.name) &&
               set_have_one_owner(&one, &other);
}
