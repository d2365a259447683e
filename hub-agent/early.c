#include "hub-agent/early.h"

#include <string.h>

#include "hub-agent/agent.h"
#include "hub-agent/work-generator/work_index.h"
#include "proto/names.h"

static int put(struct key *ret, const char *ns, const char *name)
{
        return text_empty(name) || key_text(ret, ns, name) ? 0 : ERR_NO_MEMORY;
}

/* As emit_owner() has it. */
static int owner_of(const struct object *o, struct key *ret)
{
        return put(ret, o->meta.ns, label_of(o, LABEL_PARENT_PLACEMENT));
}

static int owner_of_work(const struct object *o, struct key *ret)
{
        return put(ret, label_of(o, LABEL_PARENT_PLACEMENT_NAMESPACE), label_of(o, LABEL_PARENT_PLACEMENT));
}

/* Of a placement without a namespace name and namespace are in *ret_name alone. */
static int split(const char *placement, struct arena *arena, const char **ret_ns, const char **ret_name)
{
        const char *slash = strchr(placement, '/');

        *ret_ns = slash ? arena_strndup(arena, placement, (size_t)(slash - placement)) : NULL;
        *ret_name = slash ? slash + 1 : placement;
        return slash && !*ret_ns ? ERR_NO_MEMORY : 0;
}

static int select_owned(bool namespaced, const char *placement, struct arena *arena, const char **ret_ns,
                        const char **ret_label_selector)
{
        const char *ns, *name;

        TRY(split(placement, arena, &ns, &name));
        if ((ns != NULL) != namespaced)
                return 0;
        *ret_ns = ns;
        *ret_label_selector = arena_printf(arena, "%s=%s", LABEL_PARENT_PLACEMENT, name);
        return *ret_label_selector ? 0 : ERR_NO_MEMORY;
}

static int select_cluster_wide(const char *placement, struct arena *arena, const char **ret_ns,
                               const char **ret_label_selector)
{
        return select_owned(false, placement, arena, ret_ns, ret_label_selector);
}

static int select_namespaced(const char *placement, struct arena *arena, const char **ret_ns,
                             const char **ret_label_selector)
{
        return select_owned(true, placement, arena, ret_ns, ret_label_selector);
}

/* Works of the placement of one name in no namespace may come along. */
static int select_works(const char *placement, struct arena *arena, const char **ret_ns,
                        const char **ret_label_selector)
{
        const char *ns, *name;

        TRY(split(placement, arena, &ns, &name));
        *ret_label_selector = arena_printf(arena, "%s=%s%s%s%s", LABEL_PARENT_PLACEMENT, name, ns ? "," : "",
                                           ns ? LABEL_PARENT_PLACEMENT_NAMESPACE "=" : "", or_empty(ns));
        return *ret_label_selector ? 0 : ERR_NO_MEMORY;
}

static int placement_of_owner(void *agent, const char *index, const char *value, struct key *ret)
{
        return text_equal(index, INDEX_OWNER) ? put(ret, NULL, value) : 0;
}

/* A binding's Works are those of its placement, as long as nobody took the placement's label from one: who
 * decides by that none is there asks for all (cache_await_filled()). */
static int placement_of_bindings_works(void *agent, const char *index, const char *value, struct key *ret)
{
        struct hub_agent *a = agent;
        AUTO_ARENA struct arena arena = ARENA_INIT;
        const char *ns, *name;
        const struct object *b;

        if (!text_equal(index, INDEX_BINDING))
                return 0;
        TRY(split(value, &arena, &ns, &name));
        TRY(informer_read(manager_informer(a->manager, scope_of(ns)->binding), ns, name, &arena, &b));
        return b ? owner_of(b, ret) : 0;
}

#define OWNED(kind, selector)                                                                                \
        {                                                                                                    \
                &kind, owner_of, selector, placement_of_owner                                                \
        }

const struct early_kind early_kinds[] = {
        { &cluster_resource_placement_kind, NULL, NULL, NULL },
        { &resource_placement_kind, NULL, NULL, NULL },
        OWNED(cluster_scheduling_policy_snapshot_kind, select_cluster_wide),
        OWNED(scheduling_policy_snapshot_kind, select_namespaced),
        OWNED(cluster_resource_snapshot_kind, select_cluster_wide),
        OWNED(resource_snapshot_kind, select_namespaced),
        OWNED(cluster_resource_binding_kind, select_cluster_wide),
        OWNED(resource_binding_kind, select_namespaced),
        { &work_kind, owner_of_work, select_works, placement_of_bindings_works },
};
const size_t n_early_kinds = ARRAY_LEN(early_kinds);
