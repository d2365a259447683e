/* The structured merge of an applied configuration, and removal of fields by set. */
#include "common/base/memory.h"
#include "common/json/fieldset.h"

static int merge_object(json_t *live, const json_t *config, const struct schema *s, struct error *err);

/* A copy without nulls in what is followed field by field; a value that is one to its owners is taken as it
 * is. */
static json_t *copy_config(const json_t *v, const struct schema *s)
{
        if (!json_is_object(v) || !is_granular(v, s))
                return doc_copy(v);
        AUTO_JSON json_t *copy = json_object();
        const char *name;
        json_t *value;
        if (!copy)
                return NULL;
        json_object_foreach((json_t *)v, name, value) {
                if (json_is_null(value))
                        continue;
                if (json_object_set_new_nocheck(copy, name, copy_config(value, schema_property(s, name))) < 0)
                        return NULL;
        }
        return TAKE_PTR(copy);
}

/* Merges an element that both lists have and appends it. */
static int append_merged(json_t *list, json_t *live, const json_t *config, const struct schema *items,
                         struct error *err)
{
        if (json_is_object(live) && json_is_object(config) && is_granular(live, items)) {
                TRY(merge_object(live, config, items, err));
                return json_array_append(list, live) < 0 ? error_no_memory(err) : 0;
        }
        return json_array_append_new(list, copy_config(config, items)) < 0 ? error_no_memory(err) : 0;
}

struct list_merge {
        json_t *live;
        const json_t *config;
        const struct schema *schema;
        struct keyed_list live_keys, config_keys;
        json_t *result;
        struct error *err;
};

static void list_merge_free(struct list_merge *m)
{
        keyed_list_free(&m->live_keys);
        keyed_list_free(&m->config_keys);
        json_decref(m->result);
}

/* Appends what only live has, up to the next element that is still to come from the configuration (whose
 * first `done` elements are placed). */
static int append_live_only(struct list_merge *m, size_t *at, size_t done)
{
        for (; *at < m->live_keys.n; ++*at) {
                size_t in_config = keyed_list_find(&m->config_keys, m->live_keys.keys[*at]);
                if (in_config != SIZE_MAX && in_config >= done)
                        break;
                if (in_config == SIZE_MAX && json_array_append(m->result, json_array_get(m->live, *at)) < 0)
                        return error_no_memory(m->err);
        }
        return 0;
}

/* Shared and new elements stand in the order of the configuration; those that only live has keep their place
 * between the shared ones and go before new ones. */
static int merge_elements(struct list_merge *m)
{
        size_t at = 0;
        for (size_t c = 0; c < m->config_keys.n; c++) {
                TRY(append_live_only(m, &at, c));
                size_t shared = keyed_list_find(&m->live_keys, m->config_keys.keys[c]);
                const json_t *config = json_array_get(m->config, c);
                if (shared != SIZE_MAX)
                        TRY(append_merged(m->result, json_array_get(m->live, shared), config,
                                          m->schema->items, m->err));
                else if (json_array_append_new(m->result, copy_config(config, m->schema->items)) < 0)
                        return error_no_memory(m->err);
        }
        return append_live_only(m, &at, m->config_keys.n);
}

static int merge_list(json_t *live, const json_t *config, const struct schema *s, struct error *err)
{
        CLEANUP(list_merge_free)
        struct list_merge m = { .live = live, .config = config, .schema = s, .err = err };
        TRY(keyed_list_init(&m.config_keys, config, s, err));
        m.result = json_array();
        if (!m.result)
                return error_no_memory(err);
        int code = keyed_list_init(&m.live_keys, live, s, err);
        if (code == ERR_INVALID) /* a stored list that cannot be merged is replaced */
                keyed_list_free(&m.live_keys);
        else
                TRY(code);
        TRY(merge_elements(&m));
        json_array_clear(live);
        return json_array_extend(live, m.result) < 0 ? error_no_memory(err) : 0;
}

static int merge_member(json_t *live, const char *name, const json_t *config, const struct schema *s,
                        struct error *err)
{
        json_t *now = json_object_get(live, name);
        if (json_is_null(config))
                return 0;
        if (now && is_granular(now, s) && json_typeof(now) == json_typeof(config))
                return json_is_object(now) ? merge_object(now, config, s, err)
                                           : merge_list(now, config, s, err);
        return json_object_set_new_nocheck(live, name, copy_config(config, s)) < 0 ? error_no_memory(err) : 0;
}

static int merge_object(json_t *live, const json_t *config, const struct schema *s, struct error *err)
{
        const char *name;
        json_t *value;
        json_object_foreach((json_t *)config, name, value)
                TRY(merge_member(live, name, value, schema_property(s, name), err));
        return 0;
}

int apply_merge(json_t *live, const json_t *config, const struct schema *schema, struct error *err)
{
        CLEANUP(root_schema_free) struct root_schema root = { 0 };
        if (root_schema_init(&root, schema) < 0)
                return error_no_memory(err);
        return merge_object(live, config, &root.schema, err);
}

static int remove_from(json_t *v, const json_t *set, const json_t *keep, const struct schema *s,
                       bool *ret_emptied);

/* Decides on one child: true in *ret_gone if it has to go as a whole. */
static int remove_child(json_t *child, const json_t *node, const json_t *keep, const struct schema *s,
                        bool *ret_gone)
{
        *ret_gone = fieldset_node_is_member(node);
        if (*ret_gone || !is_granular(child, s))
                return 0;
        TRY(remove_from(child, node, keep, s, ret_gone));
        *ret_gone = *ret_gone && !fieldset_node_is_member(keep);
        return 0;
}

static int remove_fields(json_t *object, const json_t *set, const json_t *keep, const struct schema *s)
{
        const char *key;
        json_t *node;
        json_object_foreach((json_t *)set, key, node) {
                json_t *child = text_starts_with(key, "f:") ? json_object_get(object, key + 2) : NULL;
                bool gone = false;
                if (child)
                        TRY(remove_child(child, node, json_object_get(keep, key), schema_property(s, key + 2),
                                         &gone));
                if (gone)
                        json_object_del(object, key + 2);
        }
        return 0;
}

static int remove_elements(json_t *list, const json_t *set, const json_t *keep, const struct schema *s)
{
        CLEANUP(keyed_list_free) struct keyed_list l = { 0 };
        AUTO_JSON json_t *kept = json_array();
        if (!kept)
                return ERR_NO_MEMORY;
        int code = keyed_list_init(&l, list, s, NULL);
        if (code < 0)
                return code == ERR_INVALID ? 0 : code;
        for (size_t i = 0; i < l.n; i++) {
                json_t *element = json_array_get(list, i);
                const json_t *node = json_object_get(set, l.keys[i]);
                bool gone = false;
                if (node)
                        TRY(remove_child(element, node, json_object_get(keep, l.keys[i]), s->items, &gone));
                if (!gone && json_array_append(kept, element) < 0)
                        return ERR_NO_MEMORY;
        }
        json_array_clear(list);
        return json_array_extend(list, kept) < 0 ? ERR_NO_MEMORY : 0;
}

static int remove_from(json_t *v, const json_t *set, const json_t *keep, const struct schema *s,
                       bool *ret_emptied)
{
        bool object = json_is_object(v);
        size_t before = object ? json_object_size(v) : json_array_size(v);
        TRY(object ? remove_fields(v, set, keep, s) : remove_elements(v, set, keep, s));
        *ret_emptied = before && !(object ? json_object_size(v) : json_array_size(v));
        return 0;
}

int apply_remove(json_t *object, const json_t *set, const json_t *keep, const struct schema *schema)
{
        CLEANUP(root_schema_free) struct root_schema root = { 0 };
        TRY(root_schema_init(&root, schema));
        return remove_fields(object, set, keep, &root.schema);
}
