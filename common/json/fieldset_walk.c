/* From objects to field sets: which fields one has, and which differ between two. */
#include "common/base/limits.h"
#include "common/base/memory.h"
#include "common/json/doc_write.h"
#include "common/json/fieldset.h"

/* ObjectMeta as far as ownership needs it. */
static const struct schema anything = { .type = SCHEMA_ANY };
static const struct schema text_value = { .type = SCHEMA_STRING };
static const struct schema text_map = { .type = SCHEMA_OBJECT, .additional = &text_value };
static const struct schema finalizers = { .type = SCHEMA_ARRAY,
                                          .items = &text_value,
                                          .list_type = SCHEMA_LIST_SET };
static const struct schema owner = { .type = SCHEMA_OBJECT, .map_atomic = true };
static const char *const owner_keys[] = { "uid" };
static const struct schema owners = { .type = SCHEMA_ARRAY,
                                      .items = &owner,
                                      .list_type = SCHEMA_LIST_MAP,
                                      .list_map_keys = owner_keys,
                                      .n_list_map_keys = 1 };
static const struct schema_property meta_properties[] = {
        { "annotations", &text_map },
        { "creationTimestamp", &anything },
        { "deletionGracePeriodSeconds", &anything },
        { "deletionTimestamp", &anything },
        { "finalizers", &finalizers },
        { "generateName", &anything },
        { "generation", &anything },
        { "labels", &text_map },
        { "name", &anything },
        { "namespace", &anything },
        { "ownerReferences", &owners },
        { "resourceVersion", &anything },
        { "uid", &anything },
};
static const struct schema object_meta = { .type = SCHEMA_OBJECT,
                                           .properties = meta_properties,
                                           .n_properties = ARRAY_LEN(meta_properties) };

int root_schema_init(struct root_schema *ret, const struct schema *schema)
{
        *ret = (struct root_schema){ .schema = schema ? *schema : (struct schema){ .type = SCHEMA_OBJECT } };
        const struct schema *meta = schema_property(&ret->schema, "metadata");
        if (schema && meta && meta != ret->schema.additional && schema_property(meta, "finalizers"))
                return 0;
        size_t n = ret->schema.n_properties, at = 0;
        ret->properties = mem_calloc(n + 1, sizeof(*ret->properties));
        if (!ret->properties)
                return ERR_NO_MEMORY;
        while (at < n && strcmp(ret->schema.properties[at].name, "metadata") < 0)
                at++;
        bool present = at < n && strcmp(ret->schema.properties[at].name, "metadata") == 0;
        for (size_t i = 0; i < at; i++)
                ret->properties[i] = ret->schema.properties[i];
        ret->properties[at] = (struct schema_property){ .name = "metadata", .schema = &object_meta };
        for (size_t i = at + present; i < n; i++)
                ret->properties[i + 1 - present] = ret->schema.properties[i];
        ret->schema.properties = ret->properties;
        ret->schema.n_properties = n + 1 - present;
        return 0;
}

void root_schema_free(struct root_schema *s)
{
        mem_free(TAKE_PTR(s->properties));
}

bool is_granular(const json_t *v, const struct schema *s)
{
        if (json_is_object(v))
                return !(s && s->map_atomic);
        return json_is_array(v) && s && s->list_type != SCHEMA_LIST_ATOMIC;
}

/* The key field of an element, or the default its schema gives; NULL if it has neither. */
static const json_t *key_field(const json_t *element, const struct schema *items, const char *name)
{
        const json_t *v = json_object_get(element, name);
        if (v)
                return v;
        const struct schema *s = items ? schema_property(items, name) : NULL;
        return s ? s->default_value : NULL;
}

/* Keys that an element lacks are left out, be it all of them: that is validation's to refuse. */
static int write_map_key(struct buf *b, const json_t *element, const struct schema *list, struct error *err)
{
        AUTO_JSON json_t *fields = json_object();
        if (!fields)
                return error_no_memory(err);
        for (size_t i = 0; i < list->n_list_map_keys; i++) {
                const char *name = list->list_map_keys[i];
                const json_t *v = key_field(element, list->items, name);
                if (v && json_object_set_new_nocheck(fields, name, doc_copy(v)) < 0)
                        return error_no_memory(err);
        }
        buf_append_str(b, "k:");
        doc_write_canonical(fields, b);
        return buf_status(b, err, "a list key");
}

/* The path element of a list's element. */
static int element_key(const json_t *element, const struct schema *list, char **ret, struct error *err)
{
        AUTO_BUF struct buf b;
        buf_init(&b, LIMIT_OBJECT_BYTES);
        if (list->list_type == SCHEMA_LIST_MAP) {
                TRY(write_map_key(&b, element, list, err));
        } else {
                buf_append_str(&b, "v:");
                doc_write_canonical(element, &b);
                TRY(buf_status(&b, err, "a list element"));
        }
        *ret = buf_take(&b, NULL);
        return *ret ? 0 : error_no_memory(err);
}

static int keyed_list_fill(struct keyed_list *l, const json_t *list, const struct schema *s,
                           struct error *err)
{
        for (; l->n < json_array_size(list); l->n++) {
                TRY(element_key(json_array_get(list, l->n), s, &l->keys[l->n], err));
                const char *key = l->keys[l->n];
                if (map_has(&l->positions, key)) {
                        error_set(err, ERR_INVALID, "duplicate entries for key [%.200s]", key + 2);
                        mem_free(l->keys[l->n]);
                        return ERR_INVALID;
                }
                if (map_put(&l->positions, key, (void *)(uintptr_t)(l->n + 1)) < 0) {
                        mem_free(l->keys[l->n]);
                        return error_no_memory(err);
                }
        }
        return 0;
}

int keyed_list_init(struct keyed_list *l, const json_t *list, const struct schema *s, struct error *err)
{
        *l = (struct keyed_list){ .keys = mem_calloc(json_array_size(list), sizeof(char *)) };
        map_init(&l->positions, MAP_BORROW_KEYS, NULL);
        return l->keys ? keyed_list_fill(l, list, s, err) : error_no_memory(err);
}

void keyed_list_free(struct keyed_list *l)
{
        map_free(&l->positions);
        for (size_t i = 0; i < l->n; i++)
                mem_free(l->keys[i]);
        mem_free(TAKE_PTR(l->keys));
        l->n = 0;
}

size_t keyed_list_find(const struct keyed_list *l, const char *key)
{
        return (size_t)(uintptr_t)map_get(&l->positions, key) - 1;
}

/* Hangs a node (taken) below `set` if it says anything. */
static int attach(json_t *set, const char *key, json_t *node, bool member)
{
        AUTO_JSON json_t *taken = node;
        if (!taken)
                return ERR_NO_MEMORY;
        if (!json_object_size(taken) && !member)
                return 0;
        if (json_object_size(taken) && member && json_object_set_new_nocheck(taken, ".", json_object()) < 0)
                return ERR_NO_MEMORY;
        return json_object_set_nocheck(set, key, taken) < 0 ? ERR_NO_MEMORY : 0;
}

/* "f:" and the name; free with mem_free. */
static char *field_key(const char *name)
{
        return mem_printf("f:%s", name);
}

static bool is_declared(const struct schema *s, const char *name)
{
        const struct schema *p = s ? schema_property(s, name) : NULL;
        return p && p != s->additional;
}

/* containers: every object and list counts as a member, as when it was just added; otherwise only those that
 * are elements of a list or a map. */
static int collect(const json_t *v, const struct schema *s, bool containers, json_t *node, struct error *err);

static int collect_child(const json_t *v, const struct schema *s, const char *key, bool containers,
                         bool member, json_t *node, struct error *err)
{
        AUTO_JSON json_t *child = json_object();
        if (!child)
                return error_no_memory(err);
        TRY(collect(v, s, containers, child, err));
        member = member || containers || !json_object_size(child);
        return attach(node, key, TAKE_PTR(child), member) < 0 ? error_no_memory(err) : 0;
}

/* Puts a step before the path that an error's text starts with: ".a: words" -> ".b.a: words". */
static int wrap_step(struct error *err, int code, const char *step)
{
        if (code != ERR_INVALID || !err)
                return code;
        char text[ERROR_TEXT_MAX];
        snprintf(text, sizeof(text), "%s", err->text);
        bool path = text[0] == '.' || text[0] == '[';
        return error_set(err, ERR_INVALID, "%s%s%s", step, path ? "" : ": ", text);
}

static int collect_object(const json_t *v, const struct schema *s, bool containers, json_t *node,
                          struct error *err)
{
        const char *name;
        json_t *value;
        json_object_foreach((json_t *)v, name, value) {
                AUTO_FREE char *key = field_key(name);
                if (!key)
                        return error_no_memory(err);
                int code = collect_child(value, schema_property(s, name), key, containers,
                                         !is_declared(s, name), node, err);
                key[0] = '.'; /* "f:name" -> ".:name" -> ".name" */
                memmove(key + 1, key + 2, strlen(key + 2) + 1);
                TRY(wrap_step(err, code, key));
        }
        return 0;
}

static int collect_list(const json_t *v, const struct schema *s, bool containers, json_t *node,
                        struct error *err)
{
        CLEANUP(keyed_list_free) struct keyed_list l = { 0 };
        TRY(keyed_list_init(&l, v, s, err));
        for (size_t i = 0; i < l.n; i++) {
                char step[32];
                snprintf(step, sizeof(step), "[%zu]", i);
                TRY(wrap_step(
                        err,
                        collect_child(json_array_get(v, i), s->items, l.keys[i], containers, true, node, err),
                        step));
        }
        return 0;
}

static int collect(const json_t *v, const struct schema *s, bool containers, json_t *node, struct error *err)
{
        if (!is_granular(v, s))
                return 0;
        return json_is_object(v) ? collect_object(v, s, containers, node, err)
                                 : collect_list(v, s, containers, node, err);
}

int fieldset_collect(const json_t *object, const struct schema *schema, json_t **ret, struct error *err)
{
        AUTO_JSON json_t *set = json_object();
        CLEANUP(root_schema_free) struct root_schema root = { 0 };
        if (!set || root_schema_init(&root, schema) < 0)
                return error_no_memory(err);
        TRY(collect(object, &root.schema, false, set, err));
        *ret = TAKE_PTR(set);
        return 0;
}

json_t *fieldset_of(const json_t *object, const struct schema *schema)
{
        json_t *set = NULL;
        return fieldset_collect(object, schema, &set, NULL) < 0 ? NULL : set;
}

void fieldset_changes_free(struct fieldset_changes *c)
{
        json_decref(c->added);
        json_decref(c->modified);
        json_decref(c->removed);
        *c = (struct fieldset_changes){ 0 };
}

static int changes_init(struct fieldset_changes *c)
{
        *c = (struct fieldset_changes){ json_object(), json_object(), json_object() };
        return c->added && c->modified && c->removed ? 0 : ERR_NO_MEMORY;
}

static int compare_inner(const json_t *old, const json_t *new, const struct schema *s,
                         struct fieldset_changes *c, bool *ret_one_value, struct error *err);

/* A subtree that came or went as a whole. A list in it that cannot be taken apart is one value. */
static int collect_whole(const json_t *v, const struct schema *s, json_t *node, struct error *err)
{
        int code = collect(v, s, true, node, err);
        if (code == ERR_INVALID)
                json_object_clear(node);
        return code == ERR_INVALID ? 0 : code;
}

static int compare_child(const json_t *old, const json_t *new, const struct schema *s, const char *key,
                         struct fieldset_changes *into, struct error *err)
{
        if (old && new &&doc_equal(old, new))
                return 0;
        CLEANUP(fieldset_changes_free) struct fieldset_changes c = { 0 };
        bool changed = false;
        if (changes_init(&c) < 0)
                return error_no_memory(err);
        if (!old) {
                TRY(collect_whole(new, s, c.added, err));
        } else if (!new) {
                TRY(collect_whole(old, s, c.removed, err));
        } else if (is_granular(old, s) && is_granular(new, s) && json_typeof(old) == json_typeof(new)) {
                TRY(compare_inner(old, new, s, &c, &changed, err));
        } else if (json_is_null(old) && is_granular(new, s)) { /* null is a container with nothing in it */
                TRY(collect_whole(new, s, c.added, err));
        } else if (!doc_equal(old, new)) {
                changed = true;
                TRY(collect_whole(old, s, c.removed, err));
                TRY(collect_whole(new, s, c.added, err));
        }
        if (attach(into->added, key, TAKE_PTR(c.added), !old) < 0 ||
            attach(into->modified, key, TAKE_PTR(c.modified), changed) < 0 ||
            attach(into->removed, key, TAKE_PTR(c.removed), !new) < 0)
                return error_no_memory(err);
        return 0;
}

static int compare_field(const json_t *old, const json_t *new, const char *name, const struct schema *s,
                         struct fieldset_changes *c, struct error *err)
{
        if (old && new &&doc_equal(old, new)) /* most of an update: no sets are built for it */
                return 0;
        AUTO_FREE char *key = field_key(name);
        if (!key)
                return error_no_memory(err);
        return compare_child(old, new, schema_property(s, name), key, c, err);
}

static int compare_objects(const json_t *old, const json_t *new, const struct schema *s,
                           struct fieldset_changes *c, struct error *err)
{
        const char *name;
        json_t *value;
        json_object_foreach((json_t *)old, name, value)
                TRY(compare_field(value, json_object_get(new, name), name, s, c, err));
        json_object_foreach((json_t *)new, name, value)
                if (!json_object_get(old, name))
                        TRY(compare_field(NULL, value, name, s, c, err));
        return 0;
}

static int compare_elements(const json_t *old, const struct keyed_list *from, const json_t *new,
                            const struct keyed_list *to, const struct schema *s, struct fieldset_changes *c,
                            struct error *err)
{
        for (size_t i = 0; i < from->n; i++) {
                size_t at = keyed_list_find(to, from->keys[i]);
                TRY(compare_child(json_array_get(old, i), at == SIZE_MAX ? NULL : json_array_get(new, at),
                                  s->items, from->keys[i], c, err));
        }
        for (size_t i = 0; i < to->n; i++)
                if (keyed_list_find(from, to->keys[i]) == SIZE_MAX)
                        TRY(compare_child(NULL, json_array_get(new, i), s->items, to->keys[i], c, err));
        return 0;
}

/* Stored lists may hold duplicates from before they were keyed: such a list is compared as one value. */
static int compare_lists(const json_t *old, const json_t *new, const struct schema *s,
                         struct fieldset_changes *c, bool *ret_one_value, struct error *err)
{
        CLEANUP(keyed_list_free) struct keyed_list from = { 0 };
        CLEANUP(keyed_list_free) struct keyed_list to = { 0 };
        int code = keyed_list_init(&from, old, s, err);
        if (code == 0)
                code = keyed_list_init(&to, new, s, err);
        if (code == ERR_INVALID) {
                *ret_one_value = !doc_equal(old, new);
                return 0;
        }
        TRY(code);
        return compare_elements(old, &from, new, &to, s, c, err);
}

static int compare_inner(const json_t *old, const json_t *new, const struct schema *s,
                         struct fieldset_changes *c, bool *ret_one_value, struct error *err)
{
        if (json_is_object(old))
                return compare_objects(old, new, s, c, err);
        return compare_lists(old, new, s, c, ret_one_value, err);
}

int fieldset_compare(const json_t *old, const json_t *new, const struct schema *schema,
                     struct fieldset_changes *ret, struct error *err)
{
        CLEANUP(fieldset_changes_free) struct fieldset_changes c = { 0 };
        CLEANUP(root_schema_free) struct root_schema root = { 0 };
        if (changes_init(&c) < 0 || root_schema_init(&root, schema) < 0)
                return error_no_memory(err);
        TRY(compare_objects(old, new, &root.schema, &c, err));
        *ret = c;
        c = (struct fieldset_changes){ 0 };
        return 0;
}
