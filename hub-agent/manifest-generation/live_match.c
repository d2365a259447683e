#include "hub-agent/manifest-generation/live_match.h"

#include "common/base/limits.h"

static const json_t *fields_of(const json_t *live, const char *manager)
{
        const json_t *entry;
        size_t i;

        json_array_foreach(doc_get_array(live, "metadata.managedFields"), i, entry)
                if (text_equal(doc_get_string(entry, "manager"), manager) &&
                    text_equal(doc_get_string(entry, "operation"), "Apply") &&
                    text_empty(doc_get_string(entry, "subresource")))
                        return doc_get_object(entry, "fieldsV1");
        return NULL;
}

/* These are nobody's. */
static bool is_identity(size_t depth, bool in_metadata, const char *key)
{
        static const char *const top[] = { "apiVersion", "kind" };
        static const char *const metadata[] = { "name", "namespace" };

        if (depth == 0)
                return text_in(key, top, ARRAY_LEN(top));
        return depth == 1 && in_metadata && text_in(key, metadata, ARRAY_LEN(metadata));
}

static bool matches(const json_t *live, const json_t *wanted, const json_t *set, size_t depth,
                    bool in_metadata);

/* How many members of a set begin so. */
static size_t count(const json_t *set, const char *prefix)
{
        const char *key;
        json_t *sub;
        size_t n = 0;

        json_object_foreach((json_t *)(uintptr_t)set, key, sub)
                n += text_starts_with(key, prefix);
        return n;
}

static const json_t *field(const json_t *set, const char *key)
{
        const char *name;
        json_t *sub;

        json_object_foreach((json_t *)(uintptr_t)set, name, sub)
                if (text_starts_with(name, "f:") && text_equal(name + 2, key))
                        return sub;
        return NULL;
}

static bool object_matches(const json_t *live, const json_t *wanted, const json_t *set, size_t depth,
                           bool in_metadata)
{
        const char *key;
        json_t *value;
        size_t ours = 0;

        json_object_foreach((json_t *)(uintptr_t)wanted, key, value) {
                if (json_is_null(value) || is_identity(depth, in_metadata, key))
                        continue;
                ours++;
                if (!matches(json_object_get(live, key), value, field(set, key), depth + 1,
                             depth == 0 && text_equal(key, "metadata")))
                        return false;
        }
        return count(set, "f:") == ours;
}

/* ---- lists with keys ---- */

/* A server fills in keys that the item does not have. */
static bool has_keys(const json_t *item, const json_t *keys, bool all)
{
        const char *key;
        json_t *value;

        json_object_foreach((json_t *)(uintptr_t)keys, key, value) {
                const json_t *own = json_object_get(item, key);

                if (own ? !doc_equal(own, value) : all)
                        return false;
        }
        return true;
}

/* The set's only member for the item, and the keys in it (new). */
static const json_t *find_member(const json_t *set, const json_t *item, json_t **ret_keys)
{
        const json_t *found = NULL;
        const char *name;
        json_t *sub;

        json_object_foreach((json_t *)(uintptr_t)set, name, sub) {
                AUTO_JSON json_t *keys = NULL;

                if (!text_starts_with(name, "k:") || doc_parse(slice_of(name + 2), &keys, NULL) < 0 ||
                    !has_keys(item, keys, false))
                        continue;
                if (found)
                        return NULL;
                found = sub;
                json_decref(*ret_keys);
                *ret_keys = TAKE_PTR(keys);
        }
        return found;
}

static bool keyed_matches(const json_t *live, const json_t *wanted, const json_t *set, size_t depth)
{
        size_t at = 0, i;
        json_t *item;

        json_array_foreach((json_t *)(uintptr_t)wanted, i, item) {
                AUTO_JSON json_t *keys = NULL;
                const json_t *sub = find_member(set, item, &keys);

                while (sub && at < json_array_size(live) && !has_keys(json_array_get(live, at), keys, true))
                        at++;
                if (!sub || !matches(json_array_get(live, at++), item, sub, depth + 1, false))
                        return false;
        }
        return count(set, "k:") == json_array_size(wanted);
}

/* `set` without members: the value is one to its owners. */
static bool matches(const json_t *live, const json_t *wanted, const json_t *set, size_t depth,
                    bool in_metadata)
{
        if (!live || !set || depth > LIMIT_JSON_DEPTH)
                return false;
        if (json_object_size(set) == 0)
                return doc_equal(live, wanted);
        if (json_is_object(wanted))
                return object_matches(live, wanted, set, depth, in_metadata);
        if (json_is_array(wanted) && count(set, "k:") > 0)
                return keyed_matches(live, wanted, set, depth);
        return json_is_array(wanted) && doc_equal(live, wanted) &&
               count(set, "v:") == json_array_size(wanted);
}

bool live_holds(const json_t *live, const json_t *wanted, const char *manager)
{
        const json_t *set = fields_of(live, manager);

        return set && text_equal(doc_get_string(live, "apiVersion"), doc_get_string(wanted, "apiVersion")) &&
               object_matches(live, wanted, set, 0, false);
}
