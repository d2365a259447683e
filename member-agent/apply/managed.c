#include "member-agent/apply/managed.h"

#include "common/json/apply.h"

static json_t *entries_of(const json_t *live)
{
        return doc_get_array(live, "metadata.managedFields");
}

static bool is_of_subresource(const json_t *entry)
{
        return !text_empty(doc_get_string(entry, "subresource"));
}

static bool is_entry(const json_t *entry, const char *manager, const char *operation)
{
        return text_equal(doc_get_string(entry, "manager"), manager) &&
               text_equal(doc_get_string(entry, "operation"), operation) && !is_of_subresource(entry);
}

json_t *managed_entry(const json_t *live, const char *manager, const char *operation)
{
        size_t i;
        json_t *entry;

        json_array_foreach(entries_of(live), i, entry)
                if (is_entry(entry, manager, operation))
                        return entry;
        return NULL;
}

bool managed_only_by(const json_t *live, const char *const *managers, size_t n)
{
        size_t i;
        json_t *entry;

        json_array_foreach(entries_of(live), i, entry)
                if (!is_of_subresource(entry) && !text_in(doc_get_string(entry, "manager"), managers, n))
                        return false;
        return true;
}

json_t *managed_fields_of_others(const json_t *live, const char *manager)
{
        json_t *all = json_object(), *entry;
        size_t i;

        json_array_foreach(entries_of(live), i, entry) {
                json_t *both;

                if (text_equal(doc_get_string(entry, "manager"), manager))
                        continue;
                both = fieldset_union(all, json_object_get(entry, "fieldsV1"));
                json_decref(all);
                if (!(all = both))
                        return NULL;
        }
        return all;
}

/* Field sets of different versions name fields differently: those of another one cannot be united. */
static int unite(json_t *into, const json_t *entry, struct error *err)
{
        json_t *both;

        if (!text_equal(doc_get_string(into, "apiVersion"), doc_get_string(entry, "apiVersion")))
                return 0;
        both = fieldset_union(json_object_get(into, "fieldsV1"), json_object_get(entry, "fieldsV1"));
        return json_object_set_new(into, "fieldsV1", both) < 0 ? error_no_memory(err) : 0;
}

/* The entries with the manager's updates folded into one Apply entry. */
static int adopted_entries(const json_t *live, const char *manager, json_t *entries, struct error *err)
{
        const json_t *applied = managed_entry(live, manager, MANAGED_APPLY);
        AUTO_JSON json_t *ours = doc_copy(applied ? applied : managed_entry(live, manager, MANAGED_UPDATE));
        size_t i;
        json_t *entry;

        if (!ours || doc_set_string(ours, "operation", MANAGED_APPLY) < 0)
                return error_no_memory(err);
        json_array_foreach(entries_of(live), i, entry) {
                if (is_entry(entry, manager, MANAGED_UPDATE))
                        TRY(unite(ours, entry, err));
                else if (entry != applied && json_array_append(entries, entry) < 0)
                        return error_no_memory(err);
        }
        return json_array_append(entries, ours) < 0 ? error_no_memory(err) : 0;
}

int managed_adoption(const json_t *live, const char *manager, json_t **ret, struct error *err)
{
        const char *version = doc_get_string(live, "metadata.resourceVersion");
        AUTO_JSON json_t *entries = json_array();

        *ret = NULL;
        if (!entries)
                return error_no_memory(err);
        if (!managed_entry(live, manager, MANAGED_UPDATE))
                return 0;
        TRY(adopted_entries(live, manager, entries, err));
        *ret = json_pack("{s:{s:s, s:O}}", "metadata", "resourceVersion", version ? version : "",
                         "managedFields", entries);
        return *ret ? 0 : error_no_memory(err);
}
