#include "hub-agent/common.h"

#include <stdio.h>

static const struct scope cluster_scope = {
        .placement = &cluster_resource_placement_kind,
        .policy_snapshot = &cluster_scheduling_policy_snapshot_kind,
        .resource_snapshot = &cluster_resource_snapshot_kind,
        .binding = &cluster_resource_binding_kind,
        .update_run = &cluster_staged_update_run_kind,
        .update_strategy = &cluster_staged_update_strategy_kind,
        .approval_request = &cluster_approval_request_kind,
        .condition_prefix = "ClusterResourcePlacement",
        .namespaced = false,
};
static const struct scope namespace_scope = {
        .placement = &resource_placement_kind,
        .policy_snapshot = &scheduling_policy_snapshot_kind,
        .resource_snapshot = &resource_snapshot_kind,
        .binding = &resource_binding_kind,
        .update_run = &staged_update_run_kind,
        .update_strategy = &staged_update_strategy_kind,
        .approval_request = &approval_request_kind,
        .condition_prefix = "ResourcePlacement",
        .namespaced = true,
};

const struct scope *scope_of(const char *ns)
{
        return text_empty(ns) ? &cluster_scope : &namespace_scope;
}

const char *key_text(struct key *k, const char *ns, const char *name)
{
        return object_key(k, ns, name) < 0 ? NULL : k->text;
}

const char *label_of(const struct object *o, const char *key)
{
        return string_map_get(&o->meta.labels, key);
}

const char *annotation_of(const struct object *o, const char *key)
{
        return string_map_get(&o->meta.annotations, key);
}

bool label_is_true(const struct object *o, const char *key)
{
        static const char *const yes[] = { "1", "t", "T", "TRUE", "true", "True" };
        const char *value = label_of(o, key);

        return value && text_in(value, yes, ARRAY_LEN(yes));
}

static int number(const struct object *o, const char *what, const char *key, const char *text, int64_t *ret,
                  struct error *err)
{
        int64_t n;

        if (!text || !text_parse_i64(text, &n) || n < 0)
                return error_set(err, ERR_INVALID, "%s \"%s\": %s %s must be a number from 0 up, is \"%s\"",
                                 o->kind->kind, o->meta.name, what, key, text ? text : "(absent)");
        *ret = n;
        return 0;
}

int label_number(const struct object *o, const char *key, int64_t *ret, struct error *err)
{
        return number(o, "label", key, label_of(o, key), ret, err);
}

int annotation_number(const struct object *o, const char *key, int64_t *ret, struct error *err)
{
        return number(o, "annotation", key, annotation_of(o, key), ret, err);
}

int set_label(struct object *o, const char *key, const char *value, struct arena *arena)
{
        return value ? string_map_put(&o->meta.labels, key, value, arena) : ERR_NO_MEMORY;
}

int set_annotation(struct object *o, const char *key, const char *value, struct arena *arena)
{
        return value ? string_map_put(&o->meta.annotations, key, value, arena) : ERR_NO_MEMORY;
}

const char *number_text(struct arena *arena, int64_t n)
{
        return arena_printf(arena, "%lld", (long long)n);
}

int64_t index_in_name(const char *name, const char *owner, const char *suffix)
{
        size_t n = strlen(owner);
        const char *digits;
        int64_t index = 0;

        if (!name || strncmp(name, owner, n) != 0 || name[n] != '-')
                return NO_INDEX;
        digits = name + n + 1;
        n = strspn(digits, "0123456789");
        for (size_t i = 0; i < n && index <= INDEX_MAX; i++)
                index = index * 10 + (digits[i] - '0');
        return n > 0 && index <= INDEX_MAX && text_equal(digits + n, suffix) ? index : NO_INDEX;
}

bool is_deleting(const struct object *o)
{
        return o->meta.deletion_ms != TIME_NONE;
}

int rc_set_finalizer(struct reconcile *rc, const struct object *o, const char *finalizer, bool wanted,
                     const struct object **ret)
{
        struct object *changed;

        if (object_has_finalizer(o, finalizer) == wanted) {
                if (ret)
                        *ret = o;
                return 0;
        }
        changed = object_copy(o, rc->arena);
        if (!changed || (wanted && object_add_finalizer(changed, finalizer, rc->arena) < 0))
                return error_no_memory(rc->err);
        if (!wanted)
                object_remove_finalizer(changed, finalizer);
        return rc_patch_diff(rc, o, changed, OBJECT_META_SPEC, ret);
}

int rc_annotate(struct reconcile *rc, const struct object *o, const char *key, const char *value,
                const struct object **ret)
{
        struct object *changed = object_copy(o, rc->arena);

        if (!changed || set_annotation(changed, key, value, rc->arena) < 0)
                return error_no_memory(rc->err);
        return rc_patch_diff(rc, o, changed, OBJECT_META_SPEC, ret);
}

int set_owner(struct object *o, const struct object *owner, bool block_deletion, struct arena *arena)
{
        struct owner_reference *r = ARENA_NEW(arena, struct owner_reference);

        if (!r)
                return ERR_NO_MEMORY;
        *r = (struct owner_reference){ .api_version = owner->kind->api_version,
                                       .kind = owner->kind->kind,
                                       .name = owner->meta.name,
                                       .uid = owner->meta.uid,
                                       .controller = true,
                                       .block_owner_deletion = block_deletion };
        o->meta.owners = r;
        o->meta.n_owners = 1;
        return 0;
}

bool is_of_predecessor(const struct object *o, const struct object *owner)
{
        for (uint16_t i = 0; i < o->meta.n_owners; i++)
                if (o->meta.owners[i].controller && !text_equal(o->meta.owners[i].uid, owner->meta.uid))
                        return true;
        return false;
}

void drop_of_predecessors(struct object_list *l, const struct object *owner)
{
        size_t kept = 0;

        for (size_t i = 0; i < l->n; i++)
                if (!is_of_predecessor(l->at[i], owner))
                        l->at[kept++] = l->at[i];
        l->n = kept;
}

struct condition make_condition(const char *type, const char *status, const char *reason, const char *message,
                                int64_t generation)
{
        return (struct condition){ .type = type,
                                   .status = status,
                                   .reason = reason,
                                   .message = message,
                                   .last_transition_ms = TIME_NONE,
                                   .observed_generation = { .value = generation, .set = true } };
}

const struct condition *fresh_condition(const struct condition_list *l, const char *type, int64_t generation)
{
        const struct condition *c = l ? condition_find(l, type) : NULL;

        if (!c || !c->observed_generation.set || c->observed_generation.value != generation)
                return NULL;
        return text_equal(c->status, "Unknown") ? NULL : c;
}

static bool is_behind(const struct object_meta *meta, const struct condition_list *l)
{
        for (uint32_t i = 0; l && i < l->n; i++)
                if (l->at[i].observed_generation.value != meta->generation)
                        return true;
        return !l || l->n == 0 || meta->deletion_ms != TIME_NONE;
}

bool placement_is_behind(const struct object *placement)
{
        const struct placement *p = (const struct placement *)placement;

        return is_behind(&placement->meta, p->status ? &p->status->conditions : NULL);
}

bool binding_is_behind(const struct object *binding)
{
        const struct binding *b = (const struct binding *)binding;

        return is_behind(&binding->meta, b->status ? &b->status->conditions : NULL);
}

bool conditions_agree(const struct condition_list *a, const struct condition_list *b, const char *type)
{
        const struct condition *x = a ? condition_find(a, type) : NULL,
                               *y = b ? condition_find(b, type) : NULL;

        if (!x || !y)
                return x == y;
        return text_equal(x->status, y->status) &&
               x->observed_generation.value == y->observed_generation.value;
}

static bool same_strings(const struct string_list *a, const struct string_list *b)
{
        if (a->n != b->n)
                return false;
        for (uint32_t i = 0; i < a->n; i++)
                if (!text_equal(a->at[i], b->at[i]))
                        return false;
        return true;
}

static bool same_names(const struct namespaced_name_list *a, const struct namespaced_name_list *b)
{
        if (a->n != b->n)
                return false;
        for (uint32_t i = 0; i < a->n; i++)
                if (!text_equal(a->at[i].name, b->at[i].name) || !text_equal(a->at[i].ns, b->at[i].ns))
                        return false;
        return true;
}

bool binding_has_overrides(const struct binding *b, const struct string_list *cluster,
                           const struct namespaced_name_list *own)
{
        return same_strings(&b->spec->cluster_resource_override_snapshots, cluster) &&
               same_names(&b->spec->resource_override_snapshots, own);
}

const struct property_value *member_property(const struct member_cluster_status *s, const char *name)
{
        for (uint32_t i = 0; s && i < s->properties.n; i++)
                if (text_equal(s->properties.at[i].key, name))
                        return &s->properties.at[i].value;
        return NULL;
}

const struct agent_status *member_agent_status(const struct agent_status_list *list, const char *type)
{
        for (uint32_t i = 0; i < list->n; i++)
                if (text_equal(list->at[i].type, type))
                        return &list->at[i];
        return NULL;
}
