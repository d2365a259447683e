/* Updates that change nothing but values of fields whose owner writes them: seen without building a set. */
#include "common/json/fieldset.h"

enum { OWNERS_MOST = 8, LIST_MOST = 32, KEY_MOST = 512 };

/* Where a look at two versions of an object stands in the sets of all owners; NULL: they own nothing there.
 */
struct owners {
        const json_t *at[OWNERS_MOST]; /* the writer's first */
        size_t n;
        bool *changed; /* set when a value differs */
};

static void step(const struct owners *from, const char *key, size_t len, struct owners *ret)
{
        ret->n = from->n;
        ret->changed = from->changed;
        for (size_t i = 0; i < from->n; i++)
                ret->at[i] = from->at[i] ? json_object_getn(from->at[i], key, len) : NULL;
}

static bool step_to_field(const struct owners *from, const char *name, size_t len, struct owners *ret)
{
        char key[KEY_MOST];
        if (len + 2 > sizeof(key))
                return false;
        memcpy(key, "f:", 2);
        memcpy(key + 2, name, len);
        step(from, key, len + 2, ret);
        return true;
}

static bool step_to_element(const struct owners *from, const char *name, const json_t *value,
                            struct owners *ret)
{
        AUTO_BUF struct buf b;
        buf_init(&b, KEY_MOST);
        (void)buf_append_str(&b, "k:{");
        (void)doc_append_string(&b, name, strlen(name));
        (void)buf_append_char(&b, ':');
        (void)doc_append_string(&b, json_string_value(value), json_string_length(value));
        if (buf_append_char(&b, '}') < 0)
                return false;
        step(from, b.data, b.len, ret);
        return true;
}

static bool is_writers_alone(const struct owners *o)
{
        for (size_t i = 1; i < o->n; i++)
                if (fieldset_node_is_member(o->at[i]))
                        return false;
        return fieldset_node_is_member(o->at[0]);
}

static bool differ_in_own(const json_t *old, const json_t *new, const struct schema *s,
                          const struct owners *o);

static bool objects_differ_in_own(const json_t *old, const json_t *new, const struct schema *s,
                                  const struct owners *o)
{
        struct doc_pairs p = DOC_PAIRS(old, new);
        struct owners there;
        if (json_object_size(old) != json_object_size(new))
                return false;
        while (doc_pairs_next(&p)) {
                if (p.value == p.other)
                        continue;
                if (!p.other || !step_to_field(o, p.key, p.key_len, &there) ||
                    !differ_in_own(p.value, p.other, schema_property(s, p.key), &there))
                        return false;
        }
        return true;
}

/* The keys of a list's elements, texts, of which each is there once. */
static bool read_keys(const json_t *list, const char *name, const json_t *keys[LIST_MOST])
{
        for (size_t i = 0; i < json_array_size(list); i++) {
                keys[i] = json_object_get(json_array_get(list, i), name);
                if (!json_is_string(keys[i]))
                        return false;
                for (size_t k = 0; k < i; k++)
                        if (doc_equal(keys[k], keys[i]))
                                return false;
        }
        return true;
}

static bool lists_differ_in_own(const json_t *old, const json_t *new, const struct schema *s,
                                const struct owners *o)
{
        const json_t *keys[LIST_MOST];
        size_t n = json_array_size(old);
        if (s->list_type != SCHEMA_LIST_MAP || s->n_list_map_keys != 1 || n != json_array_size(new) ||
            n > LIST_MOST || !read_keys(old, s->list_map_keys[0], keys))
                return false;
        for (size_t i = 0; i < n; i++) {
                const json_t *before = json_array_get(old, i), *after = json_array_get(new, i);
                struct owners there;
                if (before == after)
                        continue;
                if (!doc_equal(keys[i], json_object_get(after, s->list_map_keys[0])) ||
                    !step_to_element(o, s->list_map_keys[0], keys[i], &there) ||
                    !differ_in_own(before, after, s->items, &there))
                        return false;
        }
        return true;
}

/* A value and what it became, where each owner's set stands at it. */
static bool differ_in_own(const json_t *old, const json_t *new, const struct schema *s,
                          const struct owners *o)
{
        bool granular = is_granular(old, s);
        if (granular != is_granular(new, s) || (granular && json_typeof(old) != json_typeof(new)))
                return false;
        if (granular && json_is_object(old))
                return objects_differ_in_own(old, new, s, o);
        if (granular)
                return doc_equal(old, new) || lists_differ_in_own(old, new, s, o);
        if (doc_equal(old, new))
                return true;
        *o->changed = true;
        return is_writers_alone(o);
}

static bool is_same_metadata(const json_t *old, const json_t *new)
{
        static const char *const apart[] = { "managedFields" };
        return old == new || doc_equal_apart_from(old, new, apart, 1);
}

bool fieldset_change_is_own(const json_t *old, const json_t *new, const struct schema *schema,
                            const json_t *const *sets, size_t n)
{
        bool changed = false;
        struct owners root = { .n = n, .changed = &changed };
        struct doc_pairs p = DOC_PAIRS(old, new);
        struct owners there;
        if (n > OWNERS_MOST || json_object_size(old) != json_object_size(new))
                return false;
        memcpy(root.at, sets, n * sizeof(sets[0]));
        while (doc_pairs_next(&p)) {
                bool metadata = strcmp(p.key, "metadata") == 0;
                if (p.value == p.other)
                        continue;
                if (!p.other || (metadata && !is_same_metadata(p.value, p.other)))
                        return false;
                if (!metadata && (!step_to_field(&root, p.key, p.key_len, &there) ||
                                  !differ_in_own(p.value, p.other, schema_property(schema, p.key), &there)))
                        return false;
        }
        return changed;
}
