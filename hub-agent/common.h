/* Small helpers on typed objects that several controllers of the hub agent need. */
#pragma once

#include "common/base/text.h"
#include "common/base/timefmt.h"
#include "common/ctrl/controller.h"
#include "proto/gen/kinds.h"
#include "proto/names.h"

/* The kinds of one flavour of placement. Both flavours share their C types, so the controllers are written
 * once; the namespace of an object or key decides which flavour it is (spec/placement.md 1). */
struct scope {
        const struct kind *placement, *policy_snapshot, *resource_snapshot, *binding, *override_snapshot;
        const struct kind *update_run, *update_strategy, *approval_request;
        const char *condition_prefix; /* of the placement's own condition types */
        bool namespaced;
};
const struct scope *scope_of(const char *ns);

/* What object_key() makes of it in `k`: its text, or NULL on no memory. */
const char *key_text(struct key *k, const char *ns, const char *name);

const char *label_of(const struct object *o, const char *key);      /* NULL if absent */
const char *annotation_of(const struct object *o, const char *key); /* NULL if absent */
bool label_is_true(const struct object *o, const char *key);        /* as Go parses booleans */
/* Reads a non-negative integer; ERR_INVALID naming object and key when missing or malformed. */
int label_number(const struct object *o, const char *key, int64_t *ret, struct error *err);
int annotation_number(const struct object *o, const char *key, int64_t *ret, struct error *err);
int set_label(struct object *o, const char *key, const char *value, struct arena *arena);
int set_annotation(struct object *o, const char *key, const char *value, struct arena *arena);
const char *number_text(struct arena *arena, int64_t n); /* NULL on no memory */

/* Snapshots are named "OWNER-INDEX", some with a suffix. The index of such a name; NO_INDEX if it is not one
 * of this owner and suffix, or NULL. */
#define NO_INDEX INT64_C(-1)
#define INDEX_MAX INT64_C(1000000000000000) /* above it nobody counted: it is forged */
int64_t index_in_name(const char *name, const char *owner, const char *suffix);

bool is_deleting(const struct object *o);
/* Written in one patch, if it is not so already. *ret (may be NULL) is the object as it is then. */
int rc_set_finalizer(struct reconcile *rc, const struct object *o, const char *finalizer, bool wanted,
                     const struct object **ret);
int rc_annotate(struct reconcile *rc, const struct object *o, const char *key, const char *value,
                const struct object **ret);
int set_owner(struct object *o, const struct object *owner, bool block_deletion, struct arena *arena);
/* Whether something is controlled by another object than `owner`, such as one of its name that was deleted
 * before. The server has let go of it; a cache that is behind may still hold it. */
bool is_of_predecessor(const struct object *o, const struct object *owner);
void drop_of_predecessors(struct object_list *l, const struct object *owner); /* in place */

/* One status condition as literals; observed generation g. */
struct condition make_condition(const char *type, const char *status, const char *reason, const char *message,
                                int64_t generation);
/* The condition as far as it speaks about this generation: NULL when absent, Unknown or stale. */
const struct condition *fresh_condition(const struct condition_list *l, const char *type, int64_t generation);

/* Whether its status does not speak of its generation yet, or it goes: then work on it is under way, or was
 * asked for while nobody was at work (watch.pressing). */
bool placement_is_behind(const struct object *placement);
bool binding_is_behind(const struct object *binding);

/* Whether both lists (NULL = empty) say the same of a type, of the same generation; reasons and words aside.
 */
bool conditions_agree(const struct condition_list *a, const struct condition_list *b, const char *type);
/* Whether it names these override snapshots, in this order. */
bool binding_has_overrides(const struct binding *b, const struct string_list *cluster,
                           const struct namespaced_name_list *own);
/* What a member reports of itself; NULL if it does not. */
const struct property_value *member_property(const struct member_cluster_status *s, const char *name);
const struct agent_status *member_agent_status(const struct agent_status_list *list, const char *type);

/* JSON text of a generated struct field by its type table, for hashes (spec/placement.md 6.3). */
