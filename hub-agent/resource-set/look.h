/* One object of a ResourceSet, looked at before it is applied: what is there, and what an apply would make of
 * it, by dry runs. Knows a client and no agent. spec/resource-set.md 9.2, 9.4, 11.3. */
#pragma once

#include "common/kube/mapping.h"
#include "hub-agent/resource-set/inventory.h"
#include "hub-agent/resource-set/live.h"
#include "hub-agent/resource-set/state.h"

enum set_action { ACTION_UNCHANGED, ACTION_CREATED, ACTION_CONFIGURED };
struct set_item {
        const struct built_object *object;
        struct kube_resource resource;
        const char *ns, *name; /* ns NULL = cluster scope */
        const char *id;        /* of the inventory */
        const char *words;     /* "Kind/ns/name" */
        json_t *live;          /* of the arena; NULL = absent */
        json_t *cleaning;      /* of the arena; NULL = none */
        bool write, recreate;
        bool contested; /* another set lists it: `problem` */
        enum set_action action;
        const char *problem; /* NULL = none */
};

struct set_look {
        struct arena *arena;
        struct kube_client *kube;
        struct kube_mapper *mapper;
        const struct resource_set *set;
        const char *const *managers; /* of further ones, taken over from whatever they did */
        size_t n_managers;
        /* The ResourceSet of that name; NULL = there is none. */
        int (*find_set)(void *ctx, const char *ns, const char *name, const struct resource_set **ret,
                        struct error *err);
        void *ctx;
};
/* Fills the item, which has its object, but for `problem`; *ret_dry (new): what an apply would store, NULL
 * where it is recreated. Errors are those of the object: the run tells them. */
int look_object(const struct set_look *l, struct set_item *item, json_t **ret_dry, struct error *err);

/* *ret lives in the arena; NULL = not found, which is no error. */
int look_read(struct arena *arena, struct kube_client *kube, const struct kube_resource *r, const char *ns,
              const char *name, json_t **ret, struct error *err);
/* One object as it is applied, or as if. */
int look_send(const struct set_look *l, const struct set_item *item, bool dry_run, json_t **ret,
              struct error *err);

/* What an entry of an inventory names. */
struct stale_object {
        struct object_place place;
        struct kube_resource resource;
        const char *ns, *words;
        const char *uid; /* what was deleted; NULL = nothing was */
};
/* False in *ret_served: its kind is not served any more, and the object gone with it. */
int look_find_stale(struct arena *arena, struct kube_mapper *mapper,
                    const struct resource_set_inventory_entry *entry, struct stale_object *ret,
                    bool *ret_served, struct error *err);
