#include "hub-agent/resource-set/look.h"

#define TRIAL_NAME "resourceset-trial"

int look_read(struct arena *arena, struct kube_client *kube, const struct kube_resource *r, const char *ns,
              const char *name, json_t **ret, struct error *err)
{
        json_t *live = NULL;
        int code = kube_doc_get(kube, r, ns, name, &live, err);

        *ret = NULL;
        if (code == ERR_NOT_FOUND) {
                error_clear(err);
                return 0;
        }
        if (code == 0)
                code = doc_keep(arena, live, err);
        if (code == 0)
                *ret = live;
        return code;
}

static int map_item(const struct set_look *l, struct set_item *item, struct error *err)
{
        struct object_place place = place_of_doc(item->object->doc);
        struct kube_mapped mapped;

        item->words = object_words(l->arena, item->object->doc);
        if (!item->words)
                return error_no_memory(err);
        if (kube_mapper_api_version(l->mapper, doc_get_string(item->object->doc, "apiVersion"), place.kind,
                                    &mapped, err) < 0)
                return error_wrap(err, "%s dry-run failed", item->words);
        item->resource = mapped.resource;
        item->ns = mapped.resource.namespaced ? place.ns : NULL;
        item->name = place.name;
        if (mapped.resource.namespaced && !*place.ns)
                return error_set(err, ERR_INVALID, "%s namespace not specified: %s is namespaced",
                                 item->words, place.kind);
        item->id = inventory_id(l->arena, &place, mapped.resource.namespaced);
        return item->id ? 0 : error_no_memory(err);
}

int look_send(const struct set_look *l, const struct set_item *item, bool dry_run, json_t **ret,
              struct error *err)
{
        const struct kube_write how = { .field_manager = FLUX_MANAGER, .force = true, .dry_run = dry_run };

        return kube_doc_patch(l->kube, &item->resource, item->ns, item->name, KUBE_PATCH_APPLY,
                              item->object->doc, &how, ret, err);
}

/* Another set that is there, up to date, and lists the object: it would be taken back and forth. */
static int check_owner(const struct set_look *l, struct set_item *item, struct error *err)
{
        const char *const name_path[] = { "metadata", "labels", LABEL_SET_NAME };
        const char *const ns_path[] = { "metadata", "labels", LABEL_SET_NAMESPACE };
        const char *name = json_string_value(doc_get_keys(item->live, name_path, 3));
        const char *ns = json_string_value(doc_get_keys(item->live, ns_path, 3));
        const struct resource_set *other = NULL;
        inventory theirs;

        if (!item->live || text_empty(name) || text_empty(ns) || is_made_by(l->set, item->live))
                return 0;
        TRY(l->find_set(l->ctx, ns, name, &other, err));
        if (!other || is_deleting(&other->object) || flux_is_suspended(&other->object))
                return 0;
        theirs = inventory_of(other);
        for (uint32_t i = 0; i < theirs.n; i++)
                if (text_equal(theirs.at[i].id, item->id)) {
                        item->contested = true;
                        return error_set(err, ERR_CONFLICT, "%s is managed by ResourceSet/%s/%s", item->words,
                                         ns, name);
                }
        return 0;
}

/* Of a creation under another name: whether the object as such would be taken. */
static bool is_creatable(const struct set_look *l, const struct set_item *item)
{
        const struct kube_write dry_run = { .field_manager = FLUX_MANAGER, .dry_run = true };
        AUTO_JSON json_t *trial = doc_copy(item->object->doc);
        AUTO_JSON json_t *made = NULL;
        struct error err = { 0 };

        return trial && doc_set_string(trial, "metadata.name", TRIAL_NAME) == 0 &&
               kube_doc_create(l->kube, &item->resource, item->ns, trial, &dry_run, &made, &err) == 0;
}

static int refused(const struct set_look *l, struct set_item *item, struct error *err)
{
        enum force force = force_decide(item->object->doc, item->live, is_forced(&l->set->object), err);

        if (force == FORCE_YES || (force == FORCE_IF_CREATABLE && is_creatable(l, item))) {
                error_clear(err);
                item->write = item->recreate = true;
                return 0;
        }
        if (err->code == ERR_NOT_FOUND)
                return error_wrap(err, "%s not found", item->words);
        return *err->reason ? error_wrap(err, "%s dry-run failed (%s)", item->words, err->reason)
                            : error_wrap(err, "%s dry-run failed", item->words);
}

int look_object(const struct set_look *l, struct set_item *item, json_t **ret_dry, struct error *err)
{
        AUTO_JSON json_t *dry = NULL;

        *ret_dry = NULL;
        TRY(map_item(l, item, err));
        TRY(look_read(l->arena, l->kube, &item->resource, item->ns, item->name, &item->live, err) < 0
                    ? error_wrap(err, "%s dry-run failed", item->words)
                    : 0);
        TRY(check_owner(l, item, err));
        if (item->live && doc_get(item->live, "metadata.deletionTimestamp"))
                return error_set(err, ERR_RETRY, "%s is being deleted", item->words);
        if (look_send(l, item, true, &dry, err) < 0)
                return refused(l, item, err);
        item->action = item->live ? ACTION_UNCHANGED : ACTION_CREATED;
        item->write = !item->live;
        if (!item->live) {
                *ret_dry = TAKE_PTR(dry);
                return 0;
        }
        TRY(live_cleaning(item->live, l->managers, l->n_managers, &item->cleaning, err));
        if (item->cleaning)
                TRY(doc_keep(l->arena, item->cleaning, err));
        item->write = item->cleaning || live_differs(item->live, dry);
        if (item->write)
                item->action = ACTION_CONFIGURED;
        *ret_dry = TAKE_PTR(dry);
        return 0;
}

/* ---- what is to go ---- */

int look_find_stale(struct arena *arena, struct kube_mapper *mapper,
                    const struct resource_set_inventory_entry *entry, struct stale_object *ret,
                    bool *ret_served, struct error *err)
{
        struct kube_mapped mapped;
        const char *group;
        int code;

        *ret_served = false;
        if (!inventory_parse(arena, or_empty(entry->id), &ret->place))
                return 0;
        group = arena_strndup(arena, ret->place.group.data, ret->place.group.len);
        ret->words = arena_printf(arena, "%s/%s%s%s", ret->place.kind, ret->place.ns,
                                  *ret->place.ns ? "/" : "", ret->place.name);
        if (!group || !ret->words)
                return error_no_memory(err);
        code = kube_mapper_kind(mapper, group, entry->v, ret->place.kind, &mapped, err);
        if (code == ERR_NOT_FOUND)
                code = kube_mapper_kind(mapper, group, NULL, ret->place.kind, &mapped, err);
        if (code == ERR_NOT_FOUND && !kube_mapper_doubts(mapper, group)) {
                error_clear(err);
                return 0;
        }
        if (code < 0)
                return code;
        ret->resource = mapped.resource;
        ret->ns = mapped.resource.namespaced ? ret->place.ns : NULL;
        *ret_served = true;
        return 0;
}
