/* Lookups in a schema, pruning of unknown fields and defaulting. */
#include <stdlib.h>

#include "common/base/memory.h"
#include "common/json/schema_internal.h"

static int compare_name(const void *key, const void *element)
{
        return strcmp(key, ((const struct schema_property *)element)->name);
}

const struct schema_property *schema_declared_property(const struct schema *s, const char *name)
{
        if (!s->n_properties)
                return NULL;
        return bsearch(name, s->properties, s->n_properties, sizeof(s->properties[0]), compare_name);
}

const struct schema *schema_property(const struct schema *s, const char *name)
{
        if (!s)
                return NULL;
        const struct schema_property *declared = schema_declared_property(s, name);
        return declared ? declared->schema : s->additional;
}

const json_t *schema_old_item(const struct schema *list, const json_t *old, const json_t *item)
{
        if (list->list_type != SCHEMA_LIST_MAP || !json_is_array(old) || !json_is_object(item))
                return NULL;
        for (size_t i = 0; i < json_array_size(old); i++) {
                const json_t *candidate = json_array_get(old, i);
                size_t same = 0;
                for (; same < list->n_list_map_keys; same++) {
                        const json_t *a = json_object_get(candidate, list->list_map_keys[same]);
                        const json_t *b = json_object_get(item, list->list_map_keys[same]);
                        if ((a || b) && (!a || !b || !doc_equal(a, b)))
                                break;
                }
                if (same == list->n_list_map_keys && json_is_object(candidate))
                        return candidate;
        }
        return NULL;
}

/* --- Pruning
 * ------------------------------------------------------------------------------------------------- */

struct pruning {
        json_t *removed, *embedded; /* paths; those in the metadata of embedded resources come last */
        struct arena arena;
        struct error *err;
};

static bool is_type_meta(const char *key)
{
        return !strcmp(key, "apiVersion") || !strcmp(key, "kind") || !strcmp(key, "metadata");
}

static int note_removed(struct pruning *p, json_t *paths, const struct schema_path *at)
{
        if (!paths)
                return 0;
        const char *path = schema_path_text(&p->arena, at, true);
        if (!path || json_array_append_new(paths, json_string(path)) < 0)
                return error_no_memory(p->err);
        return 0;
}

/* The metadata of an embedded resource holds what ObjectMeta has, whatever the schema says. */
static int prune_metadata(struct pruning *p, json_t *metadata, const struct schema_path *at)
{
        static const char *const known[] = {
                "annotations",
                "creationTimestamp",
                "deletionGracePeriodSeconds",
                "deletionTimestamp",
                "finalizers",
                "generateName",
                "generation",
                "labels",
                "managedFields",
                "name",
                "namespace",
                "ownerReferences",
                "resourceVersion",
                "selfLink",
                "uid",
        };
        const char *key;
        json_t *value;
        void *next;
        json_object_foreach_safe(metadata, next, key, value) {
                struct schema_path here = PATH_CHILD_OF(at, key);
                if (text_in(key, known, ARRAY_LEN(known)))
                        continue;
                if (p->removed && !p->embedded && !(p->embedded = json_array()))
                        return error_no_memory(p->err);
                TRY(note_removed(p, p->embedded, &here));
                json_object_del(metadata, key);
        }
        return 0;
}

static int prune(struct pruning *p, const struct schema *s, json_t *doc, const json_t *sound,
                 const struct schema_path *at, bool resource);

static bool is_unknown(const struct schema *s, const char *key, bool resource)
{
        return !schema_property(s, key) && !(resource && is_type_meta(key));
}

static void remove_unknown(const struct schema *s, json_t *doc, bool resource)
{
        const char *key;
        json_t *value;
        void *next;
        json_object_foreach_safe(doc, next, key, value)
                if (is_unknown(s, key, resource))
                        json_object_del(doc, key);
}

static int prune_object(struct pruning *p, const struct schema *s, json_t *doc, const json_t *sound,
                        const struct schema_path *at, bool resource)
{
        bool keep_unknown = s->preserve_unknown || s->additional_allowed || s->type == SCHEMA_ANY;
        bool found = false;
        struct doc_pairs m = DOC_PAIRS(doc, sound);
        while (doc_pairs_next(&m)) {
                if (m.value == m.other)
                        continue;
                const struct schema *property = schema_property(s, m.key);
                struct schema_path here = PATH_CHILD_OF(at, m.key);
                if (resource && at->kind != PATH_ROOT && strcmp(m.key, "metadata") == 0)
                        TRY(prune_metadata(p, m.value, &here));
                if (resource && is_type_meta(m.key))
                        continue;
                if (property) {
                        TRY(prune(p, property, m.value, m.other, &here, property->embedded_resource));
                } else if (!keep_unknown) {
                        TRY(note_removed(p, p->removed, &here));
                        found = true;
                }
        }
        if (found)
                remove_unknown(s, doc, resource);
        return 0;
}

static int prune(struct pruning *p, const struct schema *s, json_t *doc, const json_t *sound,
                 const struct schema_path *at, bool resource)
{
        if (doc == sound)
                return 0;
        if (json_is_object(doc))
                return prune_object(p, s, doc, sound, at, resource);
        if (!json_is_array(doc) || !s->items)
                return 0;
        for (size_t i = 0; i < json_array_size(doc); i++) {
                struct schema_path here = PATH_INDEX_OF(at, i);
                TRY(prune(p, s->items, json_array_get(doc, i), json_array_get(sound, i), &here,
                          s->items->embedded_resource));
        }
        return 0;
}

static int compare_texts(const void *a, const void *b)
{
        return strcmp(json_string_value(*(json_t *const *)a), json_string_value(*(json_t *const *)b));
}

/* Sorts the texts of an array from one index on. */
static int sort_from(json_t *texts, size_t first, struct error *err)
{
        size_t n = json_array_size(texts) - first;
        if (n < 2)
                return 0;
        AUTO_FREE json_t **all = mem_calloc(n, sizeof(json_t *));
        if (!all)
                return error_no_memory(err);
        for (size_t i = 0; i < n; i++)
                all[i] = json_incref(json_array_get(texts, first + i));
        qsort(all, n, sizeof(json_t *), compare_texts);
        for (size_t i = 0; i < n; i++)
                json_array_set_new(texts, first + i, all[i]);
        return 0;
}

/* A CRD's schema removes first and tells then, in order; built-in kinds are told as they are decoded. */
static int settle_removed(struct pruning *p, const struct schema *s, size_t first)
{
        if (p->removed && !s->ref)
                TRY(sort_from(p->removed, first, p->err));
        return p->embedded && json_array_extend(p->removed, p->embedded) < 0 ? error_no_memory(p->err) : 0;
}

int schema_prune(const struct schema *s, json_t *doc, json_t *ret_removed, struct error *err)
{
        return schema_prune_beside(s, doc, NULL, ret_removed, err);
}

int schema_prune_beside(const struct schema *s, json_t *doc, const json_t *sound, json_t *ret_removed,
                        struct error *err)
{
        struct pruning p = { .removed = ret_removed, .err = err };
        struct schema_path root = { 0 };
        size_t first = json_array_size(ret_removed);
        int code = prune(&p, s, doc, sound, &root, true);
        if (code == 0)
                code = settle_removed(&p, s, first);
        json_decref(p.embedded);
        arena_free(&p.arena);
        return code;
}

/* --- Defaulting
 * ---------------------------------------------------------------------------------------------- */

static int set_default(json_t *object, const char *key, const struct schema *s)
{
        return json_object_set_new(object, key, doc_copy(s->default_value)) < 0 ? ERR_NO_MEMORY : 0;
}

static bool is_unwanted_null(const json_t *value, const struct schema *s)
{
        return json_is_null(value) && !s->nullable;
}

/* A null that the schema does not allow counts as absent: it takes the default, or goes. */
static int settle_nulls(const struct schema *s, json_t *object)
{
        const char *key;
        json_t *value;
        void *next;
        json_object_foreach_safe(object, next, key, value) {
                const struct schema *property = json_is_null(value) ? schema_property(s, key) : NULL;
                if (!property || property->nullable)
                        continue;
                if (property->default_value)
                        TRY(set_default(object, key, property));
                else
                        json_object_del(object, key);
        }
        return 0;
}

static int apply_defaults(const struct schema *s, json_t *doc, const json_t *sound)
{
        if (doc == sound)
                return 0;
        if (json_is_array(doc) && s->items) {
                for (size_t i = 0; i < json_array_size(doc); i++) {
                        json_t *item = json_array_get(doc, i);
                        if (is_unwanted_null(item, s->items) && s->items->default_value &&
                            json_array_set_new(doc, i, doc_copy(s->items->default_value)) < 0)
                                return ERR_NO_MEMORY;
                        TRY(apply_defaults(s->items, json_array_get(doc, i), json_array_get(sound, i)));
                }
        }
        if (!json_is_object(doc))
                return 0;
        TRY(settle_nulls(s, doc));
        for (size_t i = 0; i < s->n_properties; i++) {
                const struct schema_property *p = &s->properties[i];
                if (p->schema->default_value && !json_object_get(doc, p->name))
                        TRY(set_default(doc, p->name, p->schema));
        }
        struct doc_pairs p = DOC_PAIRS(doc, sound);
        while (doc_pairs_next(&p)) {
                const struct schema *property = p.value == p.other ? NULL : schema_property(s, p.key);
                if (property)
                        TRY(apply_defaults(property, p.value, p.other));
        }
        return 0;
}

int schema_apply_defaults(const struct schema *s, json_t *doc, struct error *err)
{
        return schema_apply_defaults_beside(s, doc, NULL, err);
}

int schema_apply_defaults_beside(const struct schema *s, json_t *doc, const json_t *sound, struct error *err)
{
        return apply_defaults(s, doc, sound) < 0 ? error_no_memory(err) : 0;
}
