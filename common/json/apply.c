/* Server-side apply: who owns what, what goes, what conflicts. */
#include "common/json/apply.h"

#include "common/base/limits.h"
#include "common/base/memory.h"
#include "common/json/fieldset.h"
#include "common/json/managed_fields.h"

static const char before_first_apply[] = "before-first-apply";

/* The fields nobody owns: identity, and what only the API server writes. */
static const char unowned_fields[] =
        "{\"f:apiVersion\":{},\"f:kind\":{},\"f:metadata\":{\".\":{},\"f:name\":{},\"f:namespace\":{},"
        "\"f:creationTimestamp\":{},\"f:selfLink\":{},\"f:uid\":{},\"f:clusterName\":{},\"f:generation\":{},"
        "\"f:managedFields\":{},\"f:resourceVersion\":{}}}";

static bool may_hold_unowned(const json_t *set)
{
        return json_object_get(set, "f:metadata") || json_object_get(set, "f:apiVersion") ||
               json_object_get(set, "f:kind");
}

static int strip_unowned(json_t **set, struct error *err)
{
        if (!may_hold_unowned(*set))
                return 0;
        AUTO_JSON json_t *unowned = NULL;
        json_t *stripped = NULL;
        TRY(doc_parse(slice_of(unowned_fields), &unowned, err));
        if (fieldset_subtract(*set, unowned, &stripped) < 0)
                return error_no_memory(err);
        json_decref(*set);
        *set = stripped;
        return 0;
}

/* A copy without managedFields; an empty object for NULL. */
static json_t *bare_copy(const json_t *object)
{
        json_t *copy = object ? doc_copy(object) : json_object();
        if (copy)
                doc_remove(copy, "metadata.managedFields");
        return copy;
}

/* A new object with the same members, but for `without` (which may be NULL). */
static json_t *shallow_copy(json_t *object, const char *without)
{
        AUTO_JSON json_t *copy = json_object();
        const char *key;
        json_t *value;
        if (!copy)
                return NULL;
        json_object_foreach(object, key, value)
                if ((!without || strcmp(key, without) != 0) && json_object_set_nocheck(copy, key, value) < 0)
                        return NULL;
        return TAKE_PTR(copy);
}

/* The same for looking only: all but metadata is shared with `object`. */
static json_t *bare_view(const json_t *object)
{
        if (!object)
                return json_object();
        AUTO_JSON json_t *view = shallow_copy((json_t *)object, NULL);
        json_t *metadata = json_object_get(object, "metadata");
        if (!view || !json_is_object(metadata))
                return TAKE_PTR(view);
        if (json_object_set_new_nocheck(view, "metadata", shallow_copy(metadata, "managedFields")) < 0)
                return NULL;
        return TAKE_PTR(view);
}

/* One apply or update in progress. */
struct change {
        const struct schema *schema;
        const struct apply_options *options;
        struct managers managers;
        json_t *live, *wanted; /* without managedFields; owned; live is only looked at */
        struct fieldset_changes changes;
        struct error *err;
};

static void change_free(struct change *c)
{
        managers_free(&c->managers);
        json_decref(c->live);
        json_decref(c->wanted);
        fieldset_changes_free(&c->changes);
}

static int no_memory(struct change *c, int code)
{
        return code == ERR_NO_MEMORY ? error_no_memory(c->err) : code;
}

/* Changed and added fields: what the writer now answers for. */
static int taken_fields(struct change *c, json_t **ret)
{
        return no_memory(c, fieldset_unite(c->changes.added, c->changes.modified, ret));
}

static int compare(struct change *c)
{
        fieldset_changes_free(&c->changes);
        return fieldset_compare(c->live, c->wanted, c->schema, &c->changes, c->err);
}

/* Takes removed fields, and those that the writer took, from everyone but `self` (NULL: from everyone). */
static int take_from_others(struct change *c, const struct manager *self, const json_t *taken)
{
        AUTO_JSON json_t *lost = NULL;
        if (fieldset_empty(c->changes.removed)) /* of most writes; nothing changes a set */
                lost = json_incref((json_t *)taken);
        else
                TRY(no_memory(c, fieldset_unite(taken, c->changes.removed, &lost)));
        vec_for_each(&c->managers, it) {
                json_t *rest = NULL;
                if (it == self || !fieldset_overlaps(it->set, lost))
                        continue;
                TRY(no_memory(c, fieldset_subtract(it->set, lost, &rest)));
                TRY(no_memory(c, manager_set(&c->managers, it, rest, false)));
        }
        return 0;
}

/* An object that nobody has applied yet and whose history is unknown: what is there belongs to a manager of
 * its own, so that the first apply cannot silently take it. */
static int own_before_first_apply(struct change *c)
{
        struct apply_options options = *c->options;
        const char *version = doc_get_string(c->live, "apiVersion");
        AUTO_JSON json_t *nothing = json_object();
        CLEANUP(fieldset_changes_free) struct fieldset_changes all = { 0 };
        options.manager = before_first_apply;
        options.api_version = version ? version : options.api_version;
        options.subresource = NULL;
        if (!nothing)
                return error_no_memory(c->err);
        TRY(fieldset_compare(nothing, c->live, c->schema, &all, c->err));
        TRY(strip_unowned(&all.added, c->err));
        struct manager *who = managers_obtain(&c->managers, &options, "Update");
        if (!who)
                return error_no_memory(c->err);
        return no_memory(c, manager_set(&c->managers, who, json_incref(all.added), true));
}

/* The fields of an object with those on the way to them. */
static int all_fields(struct change *c, const json_t *object, json_t **ret)
{
        AUTO_JSON json_t *set = NULL;
        int code = fieldset_collect(object, c->schema, &set, c->err);
        TRY(code);
        TRY(no_memory(c, fieldset_ensure_named(set)));
        *ret = TAKE_PTR(set);
        return 0;
}

/* Fields of `merged` that are neither in `pruned` nor in `keep`. */
static int lost_fields(struct change *c, const json_t *pruned, const json_t *keep, json_t **ret)
{
        AUTO_JSON json_t *before = NULL, *after = NULL, *stay = NULL;
        TRY(all_fields(c, c->wanted, &before));
        TRY(all_fields(c, pruned, &after));
        TRY(no_memory(c, fieldset_unite(after, keep, &stay)));
        return no_memory(c, fieldset_subtract(before, stay, ret));
}

static int owned_by_anyone(struct change *c, json_t **ret)
{
        AUTO_JSON json_t *all = json_object();
        if (!all)
                return error_no_memory(c->err);
        vec_for_each(&c->managers, it) {
                json_t *more = NULL;
                TRY(no_memory(c, fieldset_unite(all, it->set, &more)));
                json_decref(all);
                all = more;
        }
        TRY(no_memory(c, fieldset_ensure_named(all)));
        *ret = TAKE_PTR(all);
        return 0;
}

/* Removes from c->wanted what the manager applied before, does not apply now and nobody else owns. Done in
 * the two steps of structured-merge-diff: first everything it applied goes and what somebody owns comes back;
 * then what went along although it never was the manager's (defaults next to its fields) comes back. */
static int prune(struct change *c, const json_t *last)
{
        AUTO_JSON json_t *pruned = doc_copy(c->wanted), *owned = NULL, *lost = NULL, *dangling = NULL;
        AUTO_JSON json_t *mine = doc_copy(last), *none = json_object(), *remove = NULL;
        if (!pruned || !mine || !none)
                return error_no_memory(c->err);
        TRY(owned_by_anyone(c, &owned));
        TRY(no_memory(c, apply_remove(pruned, last, owned, c->schema)));
        TRY(lost_fields(c, pruned, owned, &lost));
        json_decref(pruned);
        pruned = doc_copy(c->wanted);
        if (!pruned)
                return error_no_memory(c->err);
        TRY(no_memory(c, apply_remove(pruned, lost, owned, c->schema)));
        TRY(lost_fields(c, pruned, none, &dangling));
        TRY(no_memory(c, fieldset_ensure_named(mine)));
        TRY(no_memory(c, fieldset_intersect(dangling, mine, &remove)));
        return no_memory(c, apply_remove(c->wanted, remove, owned, c->schema));
}

/* Conflicts as they are found: all of one manager's, managers sorted. */
struct conflicts {
        const struct manager *who;
        json_t *list; /* {"manager","apiVersion","field"} each */
        struct buf text, first, with;
        size_t n;
};

static int describe_manager(struct buf *b, const struct manager *who)
{
        buf_append_json_string(b, who->name, strlen(who->name));
        if (*who->subresource) {
                buf_append_str(b, " with subresource ");
                buf_append_json_string(b, who->subresource, strlen(who->subresource));
        }
        return strcmp(who->operation, "Update") == 0 ? buf_printf(b, " using %s", who->api_version)
                                                     : b->failed;
}

static int add_conflict(void *data, const char *path)
{
        struct conflicts *c = data;
        AUTO_JSON json_t *entry = json_object();
        if (!entry || json_object_set_new_nocheck(entry, "manager", json_string(c->who->name)) < 0 ||
            json_object_set_new_nocheck(entry, "apiVersion", json_string(c->who->api_version)) < 0 ||
            json_object_set_new_nocheck(entry, "field", json_string(path)) < 0 ||
            json_object_set_new_nocheck(entry, "with", json_string(c->with.data)) < 0 ||
            json_array_append(c->list, entry) < 0)
                return ERR_NO_MEMORY;
        if (c->n++ == 0)
                TRY(buf_printf(&c->first, "%s: %s", c->with.data, path));
        return buf_printf(&c->text, "\n- %s", path);
}

static int add_conflicts_with(struct change *c, struct conflicts *found, const struct manager *who,
                              const json_t *taken)
{
        AUTO_JSON json_t *shared = NULL;
        TRY(no_memory(c, fieldset_intersect(who->set, taken, &shared)));
        if (fieldset_empty(shared))
                return 0;
        found->who = who;
        if (found->text.len)
                buf_append_char(&found->text, '\n');
        buf_clear(&found->with);
        (void)describe_manager(&found->with, who);
        TRY(no_memory(c, buf_status(&found->with, c->err, "a manager")));
        (void)buf_printf(&found->text, "conflicts with %s:", found->with.data);
        int code = fieldset_each_path(shared, add_conflict, found);
        if (code == 0)
                code = found->text.failed;
        return code == ERR_LIMIT ? error_set(c->err, code, "too many conflicts to list") : no_memory(c, code);
}

static int report_conflicts(struct change *c, struct conflicts *found, json_t **ret_conflicts)
{
        if (!found->n)
                return 0;
        if (found->n == 1)
                error_set(c->err, ERR_CONFLICT, "Apply failed with 1 conflict: conflict with %s",
                          found->first.data);
        else
                error_set(c->err, ERR_CONFLICT, "Apply failed with %zu conflicts: %s", found->n,
                          found->text.data);
        if (ret_conflicts)
                *ret_conflicts = TAKE_PTR(found->list);
        return ERR_CONFLICT;
}

static void conflicts_free(struct conflicts *found)
{
        json_decref(found->list);
        buf_free(&found->text);
        buf_free(&found->first);
        buf_free(&found->with);
}

static int compare_names(const void *a, const void *b)
{
        const struct manager *x = *(struct manager *const *)a, *y = *(struct manager *const *)b;
        int by_name = strcmp(x->name, y->name);
        return by_name ? by_name : x < y ? -1 : x > y;
}

/* Fields that others own and this apply would change. */
static int check_conflicts(struct change *c, const struct manager *self, const json_t *taken,
                           json_t **ret_conflicts)
{
        size_t n = 0;
        CLEANUP(conflicts_free) struct conflicts found = { .list = json_array() };
        AUTO_FREE struct manager **others = mem_calloc(c->managers.n, sizeof(*others));
        buf_init(&found.text, LIMIT_OBJECT_BYTES);
        buf_init(&found.first, LIMIT_OBJECT_BYTES);
        buf_init(&found.with, LIMIT_OBJECT_BYTES);
        if (!others || !found.list)
                return error_no_memory(c->err);
        vec_for_each(&c->managers, it)
                if (it != self)
                        others[n++] = it;
        qsort(others, n, sizeof(others[0]), compare_names);
        for (size_t i = 0; i < n; i++)
                TRY(add_conflicts_with(c, &found, others[i], taken));
        return report_conflicts(c, &found, ret_conflicts);
}

/* Merges, prunes, settles ownership. */
static int apply(struct change *c, const json_t *config, json_t **ret_conflicts)
{
        AUTO_JSON json_t *last = NULL, *set = NULL, *dropped = NULL, *clean = NULL, *taken = NULL;
        struct manager *self = managers_obtain(&c->managers, c->options, "Apply");
        if (!self)
                return error_no_memory(c->err);
        last = json_incref(self->set);
        clean = json_object(); /* the configuration without nulls */
        if (!clean)
                return error_no_memory(c->err);
        TRY(apply_merge(clean, config, c->schema, c->err));
        TRY(fieldset_collect(clean, c->schema, &set, c->err));
        TRY(strip_unowned(&set, c->err));
        TRY(apply_merge(c->wanted, clean, c->schema, c->err));
        TRY(no_memory(c, manager_set(&c->managers, self, json_incref(set), false)));
        if (self->api_version != c->options->api_version &&
            strcmp(self->api_version, c->options->api_version) != 0) {
                self->api_version = c->options->api_version;
                self->entry = self->like = NULL;
                c->managers.changed = true;
        }
        TRY(no_memory(c, fieldset_subtract(last, set, &dropped)));
        if (!fieldset_empty(dropped))
                TRY(prune(c, last));
        TRY(compare(c));
        TRY(taken_fields(c, &taken));
        if (!c->options->force)
                TRY(check_conflicts(c, self, taken, ret_conflicts));
        TRY(take_from_others(c, self, taken));
        if (c->managers.changed || !doc_equal(c->live, c->wanted))
                manager_touch(&c->managers, self);
        return no_memory(c, managers_tidy(&c->managers));
}

static int check_config(const json_t *live, const json_t *config, struct error *err)
{
        if (!json_is_object(config) || (live && !json_is_object(live)))
                return error_set(err, ERR_INVALID, "apply needs objects");
        if (json_array_size(doc_get(config, "metadata.managedFields")))
                return error_set(err, ERR_INVALID, "metadata.managedFields must be nil");
        return 0;
}

static int change_init(struct change *c, const json_t *live, const json_t *wanted, const json_t *entries)
{
        c->live = bare_view(live);
        c->wanted = bare_copy(wanted);
        if (!c->live || !c->wanted)
                return error_no_memory(c->err);
        return managers_read(&c->managers, entries, c->options->wall_ms, c->err);
}

int apply_server_side(const json_t *live, const json_t *config, const struct schema *schema,
                      const struct apply_options *o, json_t **ret, json_t **ret_conflicts, struct error *err)
{
        CLEANUP(change_free) struct change c = { .schema = schema, .options = o, .err = err };
        TRY(check_config(live, config, err));
        TRY(change_init(&c, live, live, doc_get_array(live, "metadata.managedFields")));
        if (live && !c.managers.n)
                TRY(own_before_first_apply(&c));
        TRY(apply(&c, config, ret_conflicts));
        if (live && !c.managers.changed && doc_equal(c.live, c.wanted)) {
                *ret = doc_copy(live); /* nothing happened: the same bytes */
                return *ret ? 0 : error_no_memory(err);
        }
        TRY(managers_write(&c.managers, c.wanted, err));
        *ret = TAKE_PTR(c.wanted);
        return 0;
}

/* A client may send managedFields along: [{}] forgets all owners, other entries replace the stored ones, none
 * or unreadable ones leave them. */
enum sent { SENT_NONE, SENT_RESET, SENT_ENTRIES };

static enum sent what_was_sent(const json_t *object)
{
        const json_t *entries = doc_get_array(object, "metadata.managedFields");
        size_t n = json_array_size(entries);
        if (n == 1 && json_is_object(json_array_get(entries, 0)) &&
            json_object_size(json_array_get(entries, 0)) == 0)
                return SENT_RESET;
        return n ? SENT_ENTRIES : SENT_NONE;
}

/* Reads the entries that count, from `sent` (a reference to the object's own) or from the live object. */
static int read_managers(struct change *c, const json_t *live, const json_t *sent)
{
        if (sent) {
                int code = managers_read(&c->managers, sent, c->options->wall_ms, c->err);
                if (code != ERR_INVALID) {
                        c->managers.changed = !doc_equal(sent, doc_get(live, "metadata.managedFields"));
                        return code;
                }
        }
        return managers_read(&c->managers, doc_get_array(live, "metadata.managedFields"), c->options->wall_ms,
                             c->err);
}

/* Who writes through a scale is noted without a time: the scale's own record has none. */
static void forget_time(struct change *c)
{
        if (text_equal(c->options->subresource, "scale"))
                c->managers.now[0] = '\0';
}

static int track(struct change *c)
{
        AUTO_JSON json_t *taken = NULL;
        TRY(compare(c));
        TRY(taken_fields(c, &taken));
        TRY(strip_unowned(&taken, c->err));
        TRY(take_from_others(c, managers_find(&c->managers, c->options, "Update"), taken));
        if (fieldset_empty(taken) && fieldset_empty(c->changes.removed))
                return no_memory(c, managers_tidy(&c->managers));
        struct manager *self = managers_obtain(&c->managers, c->options, "Update");
        if (!self)
                return error_no_memory(c->err);
        if (fieldset_empty(c->changes.removed) && fieldset_contains(self->set, taken)) { /* its own anyway */
                manager_touch(&c->managers, self);
                return no_memory(c, managers_tidy(&c->managers));
        }
        AUTO_JSON json_t *kept = NULL;
        json_t *set = NULL;
        TRY(no_memory(c, fieldset_subtract(self->set, c->changes.removed, &kept)));
        TRY(no_memory(c, fieldset_unite(kept, taken, &set)));
        TRY(no_memory(c, manager_set(&c->managers, self, set, !fieldset_empty(taken))));
        return no_memory(c, managers_tidy(&c->managers));
}

/* The usual write of a program that tells how things are: only the time of its entry is another. */
static bool tells_own_news(struct change *c, const json_t *live, const json_t *object)
{
        const json_t *sets[MANAGED_UPDATES_MAX + 1];
        size_t n = 1;
        struct manager *self = managers_find(&c->managers, c->options, "Update");
        if (!live || !self || c->managers.changed || c->managers.n > ARRAY_LEN(sets))
                return false;
        sets[0] = self->set;
        vec_for_each(&c->managers, it)
                if (it != self)
                        sets[n++] = it->set;
        if (!fieldset_change_is_own(live, object, c->schema, sets, n))
                return false;
        manager_touch(&c->managers, self);
        return true;
}

static int track_by_sets(struct change *c, const json_t *live, const json_t *object)
{
        c->live = bare_view(live ? live : c->options->blank);
        c->wanted = bare_view(object);
        return c->live && c->wanted ? track(c) : error_no_memory(c->err);
}

int apply_track_update(const json_t *live, json_t *object, const struct schema *schema,
                       const struct apply_options *o, struct error *err)
{
        CLEANUP(change_free) struct change c = { .schema = schema, .options = o, .err = err };
        if (!json_is_object(object) || (live && !json_is_object(live)))
                return error_set(err, ERR_INVALID, "tracking needs objects");
        enum sent sent = what_was_sent(object);
        AUTO_JSON json_t *entries = json_incref(doc_get_array(object, "metadata.managedFields"));
        if (sent == SENT_RESET)
                TRY(managers_read(&c.managers, NULL, o->wall_ms, err));
        else
                TRY(read_managers(&c, live, sent == SENT_ENTRIES ? entries : NULL));
        forget_time(&c);
        if (live && !c.managers.n) /* never tracked, or no longer */
                return doc_remove(object, "metadata.managedFields");
        if (tells_own_news(&c, live, object))
                TRY(no_memory(&c, managers_tidy(&c.managers)));
        else
                TRY(track_by_sets(&c, live, object));
        return managers_write(&c.managers, object, err);
}
