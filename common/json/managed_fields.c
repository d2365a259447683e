#include "common/json/managed_fields.h"

#include "common/base/memory.h"
#include "common/base/timefmt.h"
#include "common/json/fieldset.h"

static const char update[] = "Update";
static const char ancient[] = "ancient-changes";

/* What an entry has, in the order in which entries are written. */
static const char *const entry_keys[] = { "manager",    "operation", "apiVersion", "time",
                                          "fieldsType", "fieldsV1",  "subresource" };
enum entry_member { MANAGER, OPERATION, API_VERSION, TIME, FIELDS_TYPE, FIELDS, SUBRESOURCE, MEMBERS };

static void read_members(const json_t *entry, json_t *ret[MEMBERS])
{
        const char *key;
        json_t *value;
        size_t next = 0; /* most probably */
        json_object_foreach((json_t *)entry, key, value) {
                size_t i = next;
                if (i == MEMBERS || strcmp(key, entry_keys[i]) != 0)
                        for (i = 0; i < MEMBERS && strcmp(key, entry_keys[i]) != 0; i++)
                                ;
                if (i == MEMBERS)
                        continue;
                ret[i] = value;
                next = i + 1;
        }
}

static const char *text_or_empty(const json_t *value)
{
        return or_empty(json_string_value(value));
}

static int read_entry(struct managers *m, const json_t *entry, size_t index, struct error *err)
{
        json_t *members[MEMBERS] = { NULL };
        read_members(entry, members);
        struct manager one = {
                .name = text_or_empty(members[MANAGER]),
                .operation = text_or_empty(members[OPERATION]),
                .api_version = text_or_empty(members[API_VERSION]),
                .subresource = text_or_empty(members[SUBRESOURCE]),
                .time = text_or_empty(members[TIME]),
                .entry = entry,
                .like = entry,
        };
        json_t *fields = json_is_object(members[FIELDS]) ? members[FIELDS] : NULL;
        if (strcmp(one.operation, update) != 0 && strcmp(one.operation, "Apply") != 0)
                return error_set(err, ERR_INVALID,
                                 "metadata.managedFields[%zu].operation: must be `Apply` or `Update`", index);
        if (!fields)
                return error_set(err, ERR_INVALID, "metadata.managedFields[%zu].fieldsV1: must be an object",
                                 index);
        one.set = json_incref(fields); /* sets are replaced, never changed */
        if (vec_push(m, one) < 0) {
                json_decref(one.set);
                return error_no_memory(err);
        }
        return 0;
}

int managers_read(struct managers *m, const json_t *array, int64_t wall_ms, struct error *err)
{
        *m = (struct managers){ 0 };
        time_format_rfc3339(wall_ms, m->now);
        if (vec_reserve(m, json_array_size(array) + 1) < 0)
                return error_no_memory(err);
        for (size_t i = 0; i < json_array_size(array); i++) {
                int code = read_entry(m, json_array_get(array, i), i, err);
                if (code < 0) {
                        managers_free(m);
                        return code;
                }
        }
        return 0;
}

void managers_free(struct managers *m)
{
        for (size_t i = 0; i < m->n; i++)
                json_decref(m->at[i].set);
        vec_free(m);
}

struct manager *managers_find(struct managers *m, const struct apply_options *o, const char *operation)
{
        const char *subresource = o->subresource ? o->subresource : "";
        bool any_version = strcmp(operation, "Apply") == 0;
        vec_for_each(m, it)
                if (strcmp(it->name, o->manager) == 0 && strcmp(it->operation, operation) == 0 &&
                    strcmp(it->subresource, subresource) == 0 &&
                    (any_version || strcmp(it->api_version, o->api_version) == 0))
                        return it;
        return NULL;
}

struct manager *managers_obtain(struct managers *m, const struct apply_options *o, const char *operation)
{
        struct manager *found = managers_find(m, o, operation);
        if (found)
                return found;
        struct manager one = { .name = o->manager,
                               .operation = operation,
                               .api_version = o->api_version,
                               .subresource = o->subresource ? o->subresource : "",
                               .time = "",
                               .set = json_object() };
        if (!one.set || vec_push(m, one) < 0) {
                json_decref(one.set);
                return NULL;
        }
        return &m->at[m->n - 1];
}

void manager_touch(struct managers *m, struct manager *who)
{
        if (who->entry || strcmp(who->time, m->now) != 0)
                m->changed = true;
        who->time = m->now;
        who->entry = NULL;
}

int manager_set(struct managers *m, struct manager *who, json_t *set, bool touch)
{
        if (!set)
                return ERR_NO_MEMORY;
        if (doc_equal(who->set, set)) {
                json_decref(set);
        } else {
                json_decref(who->set);
                who->set = set;
                who->entry = who->like = NULL;
                m->changed = true;
        }
        if (touch)
                manager_touch(m, who);
        return 0;
}

static void remove_manager(struct managers *m, size_t i)
{
        m->changed = m->changed || m->at[i].entry;
        json_decref(m->at[i].set);
        vec_remove(m, i);
}

/* Oldest first; equal times by name, so that the order is a function of the contents. */
static bool is_older(const struct manager *a, const struct manager *b)
{
        int by_time = strcmp(a->time, b->time);
        return by_time ? by_time < 0 : strcmp(a->name, b->name) < 0;
}

static size_t oldest_update(const struct managers *m, const char *api_version, size_t except)
{
        size_t oldest = SIZE_MAX;
        for (size_t i = 0; i < m->n; i++) {
                const struct manager *it = &m->at[i];
                if (i == except || strcmp(it->operation, update) != 0 ||
                    (api_version && strcmp(it->api_version, api_version) != 0))
                        continue;
                if (oldest == SIZE_MAX || is_older(it, &m->at[oldest]))
                        oldest = i;
        }
        return oldest;
}

/* Folds the two oldest updates of the oldest one's version; false if there are not two. */
static int fold_oldest(struct managers *m, bool *ret_folded)
{
        size_t first = oldest_update(m, NULL, SIZE_MAX);
        size_t second = oldest_update(m, m->at[first].api_version, first);
        *ret_folded = second != SIZE_MAX;
        if (!*ret_folded)
                return 0;
        struct manager *into = &m->at[second];
        json_t *both = NULL;
        TRY(fieldset_unite(m->at[first].set, into->set, &both));
        json_decref(into->set);
        into->set = both;
        into->name = ancient;
        into->subresource = "";
        into->entry = into->like = NULL;
        remove_manager(m, first);
        return 0;
}

int managers_tidy(struct managers *m)
{
        size_t updates = 0;
        for (size_t i = m->n; i-- > 0;) {
                if (fieldset_empty(m->at[i].set))
                        remove_manager(m, i);
                else
                        updates += strcmp(m->at[i].operation, update) == 0;
        }
        for (bool folded = true; folded && updates > MANAGED_UPDATES_MAX; updates--)
                TRY(fold_oldest(m, &folded));
        return 0;
}

static int compare_managers(const void *a, const void *b)
{
        const struct manager *x = a, *y = b;
        int c = strcmp(x->operation, y->operation);
        if (!c)
                c = strcmp(x->time, y->time); /* one form of time, so text order is time order */
        if (!c)
                c = strcmp(x->name, y->name);
        if (!c)
                c = strcmp(x->api_version, y->api_version);
        return c ? c : strcmp(x->subresource, y->subresource);
}

static int put_text(json_t *entry, const char *key, const char *text)
{
        if (!*text)
                return 0;
        return json_object_set_new_nocheck(entry, key, json_string(text)) < 0 ? ERR_NO_MEMORY : 0;
}

static int fill_entry(json_t *entry, const struct manager *who)
{
        TRY(put_text(entry, "manager", who->name));
        TRY(put_text(entry, "operation", who->operation));
        TRY(put_text(entry, "apiVersion", who->api_version));
        TRY(put_text(entry, "time", who->time));
        TRY(put_text(entry, "fieldsType", "FieldsV1"));
        if (json_object_set_new_nocheck(entry, "fieldsV1", fieldset_sorted(who->set)) < 0)
                return ERR_NO_MEMORY;
        return put_text(entry, "subresource", who->subresource);
}

/* The entry that it was read from with another time; NULL too where it has none. */
static json_t *retimed_entry(const struct manager *who)
{
        AUTO_JSON json_t *entry = NULL;
        if (!who->like || !*who->time || !json_object_get(who->like, "time") ||
            !(entry = doc_copy_members(who->like)) ||
            json_object_set_new_nocheck(entry, "time", json_string(who->time)) < 0)
                return NULL;
        return TAKE_PTR(entry);
}

static json_t *write_entry(const struct manager *who)
{
        if (who->entry)
                return json_incref((json_t *)who->entry); /* entries are replaced, never changed */
        json_t *retimed = retimed_entry(who);
        if (retimed)
                return retimed;
        AUTO_JSON json_t *entry = json_object();
        if (!entry || fill_entry(entry, who) < 0)
                return NULL;
        return TAKE_PTR(entry);
}

int managers_write(struct managers *m, json_t *object, struct error *err)
{
        if (!m->n)
                return doc_remove(object, "metadata.managedFields");
        AUTO_JSON json_t *array = json_array();
        if (!array)
                return error_no_memory(err);
        qsort(m->at, m->n, sizeof(m->at[0]), compare_managers);
        vec_for_each(m, it)
                if (json_array_append_new(array, write_entry(it)) < 0)
                        return error_no_memory(err);
        int code = doc_set(object, "metadata.managedFields", TAKE_PTR(array));
        if (code == ERR_NO_MEMORY)
                return error_no_memory(err);
        return code < 0 ? error_set(err, code, "metadata: must be an object") : 0;
}
