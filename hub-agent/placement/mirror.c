#include "hub-agent/placement/mirror.h"

const char mirror_no_target[] = "NamespaceAccessible ClusterResourcePlacement doesn't specify a resource "
                                "selector which selects a namespace";

bool mirror_wanted(const struct placement *p)
{
        return text_empty(p->object.meta.ns) &&
               text_equal(p->spec->status_reporting_scope, REPORTING_NAMESPACE_ACCESSIBLE);
}

static bool is_namespace(const char *group, const char *version, const char *kind)
{
        return text_empty(group) && text_equal(version, "v1") && text_equal(kind, "Namespace");
}

const char *mirror_target(const struct placement *p)
{
        for (uint32_t i = 0; i < p->spec->resource_selectors.n; i++) {
                const struct resource_selector *s = &p->spec->resource_selectors.at[i];

                if (is_namespace(s->group, s->version, s->kind))
                        return text_empty(s->name) ? NULL : s->name;
        }
        return NULL;
}

const char *mirror_placed(const struct placement *p)
{
        const struct resource_identifier_list *l = p->status ? &p->status->selected_resources : NULL;

        for (uint32_t i = 0; l && i < l->n; i++)
                if (is_namespace(l->at[i].group, l->at[i].version, l->at[i].kind))
                        return l->at[i].name;
        return NULL;
}

int mirror_check(struct arena *arena, const struct placement *p, const char **ret, struct error *err)
{
        const char *placed = mirror_placed(p), *target = mirror_target(p);

        *ret = NULL;
        if (!placed || text_equal(placed, target))
                return 0;
        *ret = target ? arena_printf(arena,
                                     "namespace resource selector is choosing a different namespace '%s' "
                                     "from what was originally picked '%s'. This is not allowed for "
                                     "NamespaceAccessible ClusterResourcePlacement",
                                     target, placed)
                      : mirror_no_target;
        return *ret ? 0 : error_no_memory(err);
}

/* The copy says nothing about itself. */
static int status_to_show(struct arena *arena, const struct placement *p, struct placement_status **ret,
                          struct error *err)
{
        struct placement *copy = (struct placement *)object_copy(&p->object, arena);

        if (!copy || (!copy->status && !(copy->status = ARENA_NEW(arena, struct placement_status))))
                return error_no_memory(err);
        condition_remove(&copy->status->conditions, CONDITION_CRP_STATUS_SYNCED);
        *ret = copy->status;
        return 0;
}

int mirror_plan(struct arena *arena, const struct placement *p, const char *ns,
                const struct cluster_resource_placement_status *existing, int64_t now_ms,
                struct cluster_resource_placement_status **ret, struct error *err)
{
        struct object *o = existing ? object_copy(&existing->object, arena)
                                    : object_new(&cluster_resource_placement_status_kind, ns,
                                                 p->object.meta.name, arena);
        struct cluster_resource_placement_status *wanted = (struct cluster_resource_placement_status *)o;

        if (!o || set_owner(o, &p->object, true, arena) < 0)
                return error_no_memory(err);
        TRY(status_to_show(arena, p, &wanted->source_status, err));
        if (existing && object_equal_part(&existing->object, o, OBJECT_META_SPEC)) {
                *ret = NULL;
                return 0;
        }
        wanted->last_updated_time = now_ms;
        *ret = wanted;
        return 0;
}

struct placement *mirror_result(struct arena *arena, const struct placement *p, const char *ns,
                                const char *failure, int64_t now_ms)
{
        struct placement *wanted = (struct placement *)object_copy(&p->object, arena);
        const char *message = failure ? arena_printf(arena, MESSAGE_STATUS_SYNC_FAILED, failure)
                                      : arena_printf(arena, MESSAGE_STATUS_SYNC_SUCCEEDED, ns);
        struct condition c =
                make_condition(CONDITION_CRP_STATUS_SYNCED, failure ? CONDITION_FALSE : CONDITION_TRUE,
                               failure ? REASON_STATUS_SYNC_FAILED : REASON_STATUS_SYNC_SUCCEEDED, message,
                               p->object.meta.generation);

        if (!wanted || !message ||
            (!wanted->status && !(wanted->status = ARENA_NEW(arena, struct placement_status))) ||
            condition_set(&wanted->status->conditions, &c, now_ms, arena) < 0)
                return NULL;
        return wanted;
}
