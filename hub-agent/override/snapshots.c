#include <stdlib.h>

#include "common/base/digest.h"
#include "common/base/limits.h"
#include "common/json/doc.h"
#include "hub-agent/go_text.h"
#include "hub-agent/override/override.h"

struct indexed {
        const struct override_snapshot *s;
        int64_t index;
};

static int by_index(const void *a, const void *b)
{
        const struct indexed *x = a, *y = b;

        return x->index < y->index ? -1 : x->index > y->index;
}

/* ---- hash ---- */

static void put_cluster_selectors(struct buf *b, const struct resource_selector_list *l)
{
        go_put_key(b, "clusterResourceSelectors");
        for (uint32_t i = 0; i < l->n; i++) {
                const struct resource_selector *r = &l->at[i];

                buf_append_str(b, i ? ",{" : "[{");
                go_put_field(b, "group", r->group, true);
                go_put_field(b, "version", r->version, true);
                go_put_field(b, "kind", r->kind, true);
                go_put_field(b, "name", r->name, false);
                if (r->label_selector)
                        go_put_label_selector(b, r->label_selector);
                go_put_field(b, "selectionScope", r->selection_scope, false);
                buf_append_char(b, '}');
        }
        buf_append_str(b, l->n ? "]" : "null");
}

static void put_selectors(struct buf *b, const struct override_target_list *l)
{
        go_put_key(b, "resourceSelectors");
        for (uint32_t i = 0; i < l->n; i++) {
                const struct override_target *r = &l->at[i];

                buf_append_str(b, i ? ",{" : "[{");
                go_put_field(b, "group", r->group, true);
                go_put_field(b, "version", r->version, true);
                go_put_field(b, "kind", r->kind, true);
                go_put_field(b, "name", r->name, true);
                buf_append_char(b, '}');
        }
        buf_append_str(b, l->n ? "]" : "null");
}

static void put_operation(struct buf *b, const struct json_patch_override *o)
{
        buf_append_char(b, '{');
        go_put_field(b, "op", o->op, true);
        go_put_field(b, "path", o->path, true);
        go_put_key(b, "value");
        go_put_raw(b, o->value.data ? o->value : slice_of("null"));
        buf_append_char(b, '}');
}

static void put_rule(struct buf *b, const struct override_rule *r)
{
        const struct json_patch_override_list *l = &r->json_patch_overrides;

        buf_append_char(b, '{');
        if (r->cluster_selector) {
                go_put_key(b, "clusterSelector");
                go_put_cluster_selector(b, r->cluster_selector);
        }
        go_put_field(b, "overrideType", r->override_type, false);
        if (l->n)
                go_put_key(b, "jsonPatchOverrides");
        for (uint32_t i = 0; i < l->n; i++) {
                buf_append_char(b, i ? ',' : '[');
                put_operation(b, &l->at[i]);
        }
        buf_append_str(b, l->n ? "]}" : "}");
}

static void put_policy(struct buf *b, const struct override_policy *p)
{
        go_put_key(b, "policy");
        if (!p) {
                buf_append_str(b, "null");
                return;
        }
        buf_append_str(b, "{\"overrideRules\":");
        for (uint32_t i = 0; i < p->rules.n; i++) {
                buf_append_char(b, i ? ',' : '[');
                put_rule(b, &p->rules.at[i]);
        }
        buf_append_str(b, p->rules.n ? "]}" : "null}");
}

int override_hash(const struct resource_override *o, char ret[65], struct error *err)
{
        const struct placement_reference *p = o->spec->placement;
        AUTO_BUF struct buf b;

        buf_init(&b, 2 * LIMIT_OBJECT_BYTES);
        buf_append_char(&b, '{');
        if (p) {
                go_put_key(&b, "placement");
                buf_append_char(&b, '{');
                go_put_field(&b, "name", p->name, true);
                go_put_field(&b, "scope", p->scope, false);
                buf_append_char(&b, '}');
        }
        if (o->object.meta.ns)
                put_selectors(&b, &o->spec->resource_selectors);
        else
                put_cluster_selectors(&b, &o->spec->cluster_resource_selectors);
        put_policy(&b, o->spec->policy);
        buf_append_char(&b, '}');
        TRY(buf_status(&b, err, "override hash"));
        sha256_hex(b.data, b.len, ret);
        return 0;
}

/* ---- plan ---- */

/* The spec as a document: what is compared. */
static int spec_doc(const struct object *o, const char *path, json_t **ret, struct error *err)
{
        AUTO_JSON json_t *doc = NULL;

        TRY(object_to_doc(o, &doc, err));
        *ret = json_incref(doc_get(doc, path));
        return *ret ? 0
                    : error_set(err, ERR_INVALID, "%s \"%s\" has no %s", o->kind->kind, o->meta.name, path);
}

static int same_spec(const struct override_snapshot *s, const json_t *wanted, bool *ret, struct error *err)
{
        AUTO_JSON json_t *stored = NULL;

        TRY(spec_doc(&s->object, "spec.overrideSpec", &stored, err));
        *ret = doc_equal(stored, wanted);
        return 0;
}

static const struct kind *snapshot_kind(const struct resource_override *o)
{
        return o->object.meta.ns ? &resource_override_snapshot_kind
                                 : &cluster_resource_override_snapshot_kind;
}

static struct override_snapshot *make(struct arena *arena, const struct resource_override *o, int64_t index,
                                      const char hash[65])
{
        const char *name = arena_printf(arena, NAME_OVERRIDE_SNAPSHOT, o->object.meta.name, (long long)index);
        struct override_snapshot *s = name ? (struct override_snapshot *)object_new(
                                                     snapshot_kind(o), o->object.meta.ns, name, arena)
                                           : NULL;

        if (!s || !(s->spec = ARENA_NEW(arena, struct override_snapshot_spec)) ||
            !(s->spec->override_hash = hash_on_wire(arena, hash)) ||
            set_label(&s->object, LABEL_PARENT_OVERRIDE, o->object.meta.name, arena) < 0 ||
            set_label(&s->object, LABEL_IS_LATEST_SNAPSHOT, LABEL_TRUE, arena) < 0 ||
            set_label(&s->object, LABEL_OVERRIDE_INDEX, number_text(arena, index), arena) < 0 ||
            set_owner(&s->object, &o->object, true, arena) < 0)
                return NULL;
        s->spec->override_spec = o->spec;
        return s;
}

/* Earlier versions of this agent hashed the spec with sorted keys. Only that form is put right, in place: the
 * snapshot keeps its name, so nothing is rolled out, and the reference finds the hash that it would write. */
static int put_hash_right(struct arena *arena, const struct override_snapshot *s, const json_t *spec,
                          const char hash[65], struct relabel *update, struct error *err)
{
        struct override_snapshot *wanted;
        char sorted[65];

        TRY(doc_hash(spec, sorted, err));
        if (!text_equal(s->spec->override_hash, hash_on_wire(arena, sorted)))
                return 0;
        if (!update->wanted)
                *update = (struct relabel){ &s->object, object_copy(&s->object, arena) };
        wanted = (struct override_snapshot *)update->wanted;
        if (!wanted || !(wanted->spec->override_hash = hash_on_wire(arena, hash)))
                return error_no_memory(err);
        return 0;
}

static int plan_relabel(struct arena *arena, const struct object *o, const char *latest, struct relabel *ret)
{
        if (text_equal(label_of(o, LABEL_IS_LATEST_SNAPSHOT), latest))
                return 0;
        *ret = (struct relabel){ o, object_copy(o, arena) };
        return ret->wanted ? set_label(ret->wanted, LABEL_IS_LATEST_SNAPSHOT, latest, arena) : ERR_NO_MEMORY;
}

int64_t override_index_named(const struct object *override, const struct object *binding)
{
        const struct binding_spec *spec = ((const struct binding *)binding)->spec;
        int64_t highest = NO_INDEX;

        if (!spec || is_deleting(binding))
                return NO_INDEX;
        for (uint32_t i = 0; !override->meta.ns && i < spec->cluster_resource_override_snapshots.n; i++)
                highest = MAX(highest, index_in_name(spec->cluster_resource_override_snapshots.at[i],
                                                     override->meta.name, ""));
        for (uint32_t i = 0; override->meta.ns && i < spec->resource_override_snapshots.n; i++)
                if (text_equal(spec->resource_override_snapshots.at[i].ns, override->meta.ns))
                        highest = MAX(highest, index_in_name(spec->resource_override_snapshots.at[i].name,
                                                             override->meta.name, ""));
        return highest;
}

static int plan_new(struct arena *arena, const struct resource_override *o, const struct indexed *list,
                    size_t n, int64_t given, const char hash[65], struct override_snapshot_plan *plan)
{
        if (n > 0)
                TRY(plan_relabel(arena, &list[n - 1].s->object, LABEL_FALSE, &plan->update));
        plan->remove = ARENA_NEW_ARRAY(arena, const struct object *, n + 1);
        if (!plan->remove)
                return ERR_NO_MEMORY;
        while (n - plan->n_remove > OVERRIDE_HISTORY - 1) {
                plan->remove[plan->n_remove] = &list[plan->n_remove].s->object;
                plan->n_remove++;
        }
        plan->create = make(arena, o, MAX(n ? list[n - 1].index : NO_INDEX, given) + 1, hash);
        return plan->create ? 0 : ERR_NO_MEMORY;
}

static bool is_removed(const struct override_snapshot_plan *plan, const struct object *o)
{
        for (size_t i = 0; i < plan->n_remove; i++)
                if (plan->remove[i] == o)
                        return true;
        return false;
}

/* One that was made late is marked latest beside the one before it, which was taken up again meanwhile; and
 * users set labels. All that are marked are in force. `list` ends with the newest. */
static int plan_unmark(struct arena *arena, const struct indexed *list, size_t n,
                       struct override_snapshot_plan *plan)
{
        plan->unmark = ARENA_NEW_ARRAY(arena, struct relabel, n + 1);
        if (!plan->unmark)
                return ERR_NO_MEMORY;
        for (size_t i = 0; i + 1 < n; i++) {
                const struct object *o = &list[i].s->object;

                if (!label_is_true(o, LABEL_IS_LATEST_SNAPSHOT) || is_deleting(o) || is_removed(plan, o))
                        continue;
                TRY(plan_relabel(arena, o, LABEL_FALSE, &plan->unmark[plan->n_unmark]));
                plan->n_unmark++;
        }
        return 0;
}

int plan_override_snapshots(struct arena *arena, const struct resource_override *o,
                            const struct object_list *existing, int64_t given,
                            struct override_snapshot_plan *ret, struct error *err)
{
        struct indexed *list = ARENA_NEW_ARRAY(arena, struct indexed, existing->n + 1);
        struct override_snapshot_plan plan = { 0 };
        AUTO_JSON json_t *wanted = NULL;
        bool same = false;
        char hash[65];

        if (!list)
                return error_no_memory(err);
        for (size_t i = 0; i < existing->n; i++) {
                list[i].s = (const struct override_snapshot *)existing->at[i];
                TRY(label_number(existing->at[i], LABEL_OVERRIDE_INDEX, &list[i].index, err));
        }
        qsort(list, existing->n, sizeof(list[0]), by_index);
        TRY(spec_doc(&o->object, "spec", &wanted, err));
        TRY(override_hash(o, hash, err));
        if (existing->n > 0 && list[existing->n - 1].index >= given)
                TRY(same_spec(list[existing->n - 1].s, wanted, &same, err));
        if (same ? plan_relabel(arena, &list[existing->n - 1].s->object, LABEL_TRUE, &plan.update) < 0
                 : plan_new(arena, o, list, existing->n, given, hash, &plan) < 0)
                return error_no_memory(err);
        if (plan_unmark(arena, list, existing->n, &plan) < 0)
                return error_no_memory(err);
        if (same)
                TRY(put_hash_right(arena, list[existing->n - 1].s, wanted, hash, &plan.update, err));
        *ret = plan;
        return 0;
}
