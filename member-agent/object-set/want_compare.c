/* Is an object as its set wants it? spec/cluster-object-set.md 8.4. No schema is at hand, and none is needed:
 * what our own Apply entry says of a list tells how the server follows it, element by element or whole. */
#include "common/base/limits.h"
#include "common/json/quantity.h"
#include "member-agent/apply/managed.h"
#include "member-agent/object-set/want.h"

/* ---- nodes of fieldsV1 ---- */

static bool is_member(const json_t *node)
{
        return node && (json_object_size(node) == 0 || json_object_get(node, "."));
}

static const json_t *child(const json_t *node, const char *key)
{
        struct buf name AUTO_BUF;

        buf_init(&name, LIMIT_OBJECT_BYTES);
        return buf_printf(&name, "f:%s", key) < 0 ? NULL : json_object_get(node, name.data);
}

/* The value behind "k:" or "v:"; new, NULL if the name is of another sort. */
static json_t *element_of(const char *name, const char *sort)
{
        json_t *value = NULL;

        if (!text_starts_with(name, sort) || doc_parse(slice_of(name + 2), &value, NULL) < 0)
                return NULL;
        return value;
}

static bool is_followed_by_element(const json_t *node)
{
        const char *name;
        json_t *below;

        json_object_foreach((json_t *)node, name, below)
                if (text_starts_with(name, "k:") || text_starts_with(name, "v:"))
                        return true;
        return false;
}

/* Whether an element has these keys. One that does not say a key has its default, which only the live one
 * tells. */
static bool has_keys(const json_t *element, const json_t *keys, bool defaults_allowed)
{
        const char *key;
        json_t *value;

        json_object_foreach((json_t *)keys, key, value) {
                const json_t *own = json_object_get(element, key);

                if (own ? !doc_equal(own, value) : !defaults_allowed)
                        return false;
        }
        return json_is_object(element);
}

static const json_t *find_by_keys(const json_t *list, const json_t *keys, bool defaults_allowed)
{
        size_t i;
        json_t *element;

        json_array_foreach(list, i, element)
                if (has_keys(element, keys, defaults_allowed))
                        return element;
        return NULL;
}

static bool has_value(const json_t *list, const json_t *value)
{
        size_t i;
        json_t *element;

        json_array_foreach(list, i, element)
                if (doc_equal(element, value))
                        return true;
        return false;
}

static bool is_leaf(const json_t *v)
{
        return !(json_is_object(v) && json_object_size(v)) && !(json_is_array(v) && json_array_size(v));
}

/* ---- does another manager have a wanted field that we have not? ---- */

static bool is_taken(const json_t *wanted, const json_t *ours, const json_t *theirs);

static bool is_taken_in_object(const json_t *wanted, const json_t *ours, const json_t *theirs)
{
        const char *key;
        json_t *value;

        json_object_foreach((json_t *)wanted, key, value)
                if (is_taken(value, child(ours, key), child(theirs, key)))
                        return true;
        return false;
}

/* Whether one of our elements may be this one, if it has the defaults of the keys it does not say. */
static bool is_ours_already(const json_t *element, const json_t *ours)
{
        const char *name;
        json_t *below;

        json_object_foreach((json_t *)ours, name, below) {
                AUTO_JSON json_t *keys = element_of(name, "k:");

                if (keys && has_keys(element, keys, true))
                        return true;
        }
        return false;
}

static bool is_taken_in_list(const json_t *wanted, const json_t *ours, const json_t *theirs)
{
        const char *name;
        json_t *below;

        json_object_foreach((json_t *)theirs, name, below) {
                AUTO_JSON json_t *keys = element_of(name, "k:");
                AUTO_JSON json_t *value = element_of(name, "v:");
                const json_t *element = keys ? find_by_keys(wanted, keys, true) : NULL,
                             *same = json_object_get(ours, name);

                if (element && (same || !is_ours_already(element, ours)) && is_taken(element, same, below))
                        return true;
                if (value && has_value(wanted, value) && !same)
                        return true;
        }
        return false;
}

static bool is_taken(const json_t *wanted, const json_t *ours, const json_t *theirs)
{
        if (!theirs || json_is_null(wanted))
                return false;
        if (is_leaf(wanted) || json_object_size(theirs) == 0)
                return is_member(theirs) && !is_member(ours);
        return json_is_array(wanted) ? is_taken_in_list(wanted, ours, theirs)
                                     : is_taken_in_object(wanted, ours, theirs);
}

/* ---- has the live object what is wanted? ---- */

/* `whole`: `ours` is of a list that is one value to its owners, so all below it is ours. */
static bool holds(const json_t *live, const json_t *wanted, const json_t *ours, bool whole);

static bool quantity_of(const json_t *v, struct quantity *ret)
{
        char number[40];

        if (json_is_string(v))
                return quantity_parse((struct slice){ json_string_value(v), json_string_length(v) }, ret,
                                      NULL) == 0;
        if (!json_is_integer(v))
                return false;
        snprintf(number, sizeof(number), "%lld", (long long)json_integer_value(v));
        return quantity_parse(slice_of(number), ret, NULL) == 0;
}

/* A server writes quantities its own way ("1000m" becomes "1"). Of a field that is ours alone nobody else can
 * have made one into the other. */
static bool is_same_quantity(const json_t *live, const json_t *wanted, const json_t *ours)
{
        struct quantity a, b;

        return is_member(ours) && quantity_of(live, &a) && quantity_of(wanted, &b) &&
               quantity_compare(a, b) == 0;
}

static bool holds_object(const json_t *live, const json_t *wanted, const json_t *ours, bool whole)
{
        const char *key;
        json_t *value;

        json_object_foreach((json_t *)wanted, key, value)
                if (!holds(json_object_get(live, key), value, whole ? ours : child(ours, key), whole))
                        return false;
        return json_is_object(live);
}

/* One of our elements of a list has the keys of this one, and the live one with the same keys all of it. */
static bool holds_element(const json_t *live, const json_t *wanted, const json_t *ours)
{
        const char *name;
        json_t *below;

        json_object_foreach((json_t *)ours, name, below) {
                AUTO_JSON json_t *keys = element_of(name, "k:");
                AUTO_JSON json_t *value = element_of(name, "v:");

                if (keys && has_keys(wanted, keys, true) &&
                    holds(find_by_keys(live, keys, false), wanted, below, false))
                        return true;
                if (value && doc_equal(wanted, value) && has_value(live, value))
                        return true;
        }
        return false;
}

static bool holds_list(const json_t *live, const json_t *wanted, const json_t *ours, bool whole)
{
        bool by_element = is_followed_by_element(ours);
        size_t i;
        json_t *element;

        if (!by_element && json_array_size(live) != json_array_size(wanted))
                return false;
        json_array_foreach(wanted, i, element)
                if (by_element ? !holds_element(live, element, ours)
                               : !holds(json_array_get(live, i), element, ours, whole || is_member(ours)))
                        return false;
        return json_is_array(live);
}

/* Servers leave empty maps and lists out. */
static bool holds_empty(const json_t *live, const json_t *wanted, const json_t *ours)
{
        if (!live)
                return ours != NULL;
        return json_is_array(wanted) ? json_is_array(live) && json_array_size(live) == 0
                                     : json_is_object(live);
}

static bool holds(const json_t *live, const json_t *wanted, const json_t *ours, bool whole)
{
        if (json_is_null(wanted))
                return true;
        if (!is_leaf(wanted))
                return json_is_array(wanted) ? holds_list(live, wanted, ours, whole)
                                             : holds_object(live, wanted, ours, whole);
        if (json_is_object(wanted) || json_is_array(wanted))
                return holds_empty(live, wanted, ours);
        return live && (doc_equal(live, wanted) || is_same_quantity(live, wanted, ours));
}

/* ---- the whole ---- */

/* The fields that count, as a document. */
static json_t *fields_wanted(const json_t *prepared)
{
        static const char *const identity[] = { "apiVersion",
                                                "kind",
                                                "metadata.name",
                                                "metadata.namespace",
                                                "metadata.uid",
                                                "metadata.generation",
                                                "metadata.resourceVersion" };
        json_t *doc = doc_copy(prepared);

        for (size_t i = 0; doc && i < ARRAY_LEN(identity); i++)
                doc_remove(doc, identity[i]);
        return doc;
}

int want_compare(const json_t *prepared, const json_t *live, enum want *ret, struct error *err)
{
        const json_t *entry = managed_entry(live, FIELD_MANAGER_OBJECT_SET, MANAGED_APPLY),
                     *ours = json_object_get(entry, "fieldsV1");
        AUTO_JSON json_t *theirs = managed_fields_of_others(live, FIELD_MANAGER_OBJECT_SET);
        AUTO_JSON json_t *wanted = fields_wanted(prepared);

        if (!theirs || !wanted)
                return error_no_memory(err);
        if (json_object_size(ours) == 0 ||
            (json_object_size(theirs) > 0 && is_taken_in_object(wanted, ours, theirs)))
                *ret = WANT_RECOVER;
        else
                *ret = holds_object(live, wanted, ours, false) ? WANT_NOTHING : WANT_UPDATE;
        return 0;
}
