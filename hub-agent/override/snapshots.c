#include <stdlib.h>

#include "common/json/doc.h"
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

/* The spec as a document: what is compared and hashed. */
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

static int plan_relabel(struct arena *arena, const struct object *o, const char *latest, struct relabel *ret)
{
        if (text_equal(label_of(o, LABEL_IS_LATEST_SNAPSHOT), latest))
                return 0;
        *ret = (struct relabel){ o, object_copy(o, arena) };
        return ret->wanted ? set_label(ret->wanted, LABEL_IS_LATEST_SNAPSHOT, latest, arena) : ERR_NO_MEMORY;
}

static int plan_new(struct arena *arena, const struct resource_override *o, const struct indexed *list,
                    size_t n, const char hash[65], struct override_snapshot_plan *plan)
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
        plan->create = make(arena, o, n ? list[n - 1].index + 1 : 0, hash);
        return plan->create ? 0 : ERR_NO_MEMORY;
}

int plan_override_snapshots(struct arena *arena, const struct resource_override *o,
                            const struct object_list *existing, struct override_snapshot_plan *ret,
                            struct error *err)
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
        TRY(doc_hash(wanted, hash, err));
        if (existing->n > 0)
                TRY(same_spec(list[existing->n - 1].s, wanted, &same, err));
        if (same ? plan_relabel(arena, &list[existing->n - 1].s->object, LABEL_TRUE, &plan.update) < 0
                 : plan_new(arena, o, list, existing->n, hash, &plan) < 0)
                return error_no_memory(err);
        *ret = plan;
        return 0;
}
