/* Which placements a change of an object concerns: indexes of selectors and of what is selected, and the
 * events of the catalog's informers. spec/placement.md 12. */
#include "hub-agent/placement/catalog_internal.h"

#include "common/base/memory.h"
#include "common/kube/selector.h"
#include "hub-agent/membership/membership.h"
#include "hub-agent/placement/workload_metrics.h"

/* ---- indexes ---- */

char *kind_key(const char *group, const char *version, const char *kind)
{
        return mem_printf("%s/%s/%s", or_empty(group), or_empty(version), or_empty(kind));
}

void emit_selectors(const struct object *o, index_emit emit, void *to)
{
        const struct placement *p = (const struct placement *)o;

        for (uint32_t i = 0; p->spec && i < p->spec->resource_selectors.n; i++) {
                const struct resource_selector *s = &p->spec->resource_selectors.at[i];
                AUTO_FREE char *key = kind_key(s->group, s->version, s->kind);

                if (key)
                        emit(to, key);
        }
}

void emit_selected(const struct object *o, index_emit emit, void *to)
{
        const struct placement *p = (const struct placement *)o;

        for (uint32_t i = 0; p->status && i < p->status->selected_resources.n; i++) {
                const struct resource_identifier *r = &p->status->selected_resources.at[i];
                AUTO_FREE char *key = mem_printf("%s/%s/%s/%s/%s", or_empty(r->group), or_empty(r->version),
                                                 or_empty(r->kind), or_empty(r->ns), or_empty(r->name));

                if (key)
                        emit(to, key);
        }
}

/* ---- changes ---- */

bool same_content(const struct object_meta *a, const struct object_meta *b)
{
        if (!text_equal(a->uid, b->uid) || a->deletion_ms != b->deletion_ms)
                return false;
        if (text_equal(a->resource_version, b->resource_version))
                return true;
        return a->generation > 0 && a->generation == b->generation &&
               string_map_equal(&a->labels, &b->labels) &&
               string_map_equal(&a->annotations, &b->annotations) && a->n_finalizers == b->n_finalizers &&
               a->n_owners == b->n_owners;
}

static void enqueue(struct hub_agent *a, const struct object *placement)
{
        AUTO_KEY struct key key = KEY_EMPTY;

        manager_enqueue(a->manager, &intake_controller,
                        key_text(&key, placement->meta.ns, placement->meta.name), QUEUE_NORMAL);
}

/* Whether `key` is "group/version/Kind" of the term. */
static bool is_of_kind(const struct resource_selector *s, const char *key)
{
        const char *const parts[] = { or_empty(s->group), or_empty(s->version), or_empty(s->kind) };

        for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
                size_t n = strlen(parts[i]);

                if (strncmp(key, parts[i], n) != 0 || key[n] != (i < 2 ? '/' : '\0'))
                        return false;
                key += n + 1;
        }
        return true;
}

static bool term_matches(const struct resource_selector *s, const char *kind, const struct object *o)
{
        if (!is_of_kind(s, kind))
                return false;
        if (!text_empty(s->name))
                return text_equal(s->name, o->meta.name);
        return !s->label_selector || label_selector_matches(s->label_selector, &o->meta.labels);
}

/* An object that changed, or (inside) a namespace in which one did. */
struct touched {
        const char *kind;                  /* "group/version/Kind" */
        const struct object *before, *now; /* before NULL = it is new, or the same */
        bool inside;
};

/* A selection that was made of the object as it was before may not show in any status yet. */
static bool placement_selects(const struct placement *p, const struct touched *of)
{
        for (uint32_t i = 0; p->spec && i < p->spec->resource_selectors.n; i++) {
                const struct resource_selector *s = &p->spec->resource_selectors.at[i];

                if (of->inside && text_equal(s->selection_scope, "NamespaceOnly"))
                        continue;
                if (term_matches(s, of->kind, of->now) ||
                    (of->before && term_matches(s, of->kind, of->before)))
                        return true;
        }
        return false;
}

/* ns NULL = placements of all namespaces. */
static void enqueue_selecting(struct hub_agent *a, const struct kind *placement, const char *ns,
                              const struct touched *of)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct object_list list;

        if (informer_by_index(manager_informer(a->manager, placement), INDEX_SELECTOR, of->kind, &arena,
                              &list) < 0)
                return;
        for (size_t i = 0; i < list.n; i++)
                if ((!ns || text_equal(ns, list.at[i]->meta.ns)) &&
                    placement_selects((const struct placement *)list.at[i], of))
                        enqueue(a, list.at[i]);
}

void enqueue_all_of_kind(struct hub_agent *a, const struct kind *placement, const char *kind)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct object_list list;

        if (informer_by_index(manager_informer(a->manager, placement), INDEX_SELECTOR, kind, &arena, &list) <
            0)
                return;
        for (size_t i = 0; i < list.n; i++)
                enqueue(a, list.at[i]);
}

static void enqueue_holding(struct hub_agent *a, const struct kind *placement, const struct catalog_entry *e,
                            const struct object *o)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        AUTO_FREE char *key = mem_printf("%s/%s/%s", e->kind_key, or_empty(o->meta.ns), o->meta.name);
        struct object_list list;

        if (!key || informer_by_index(manager_informer(a->manager, placement), INDEX_SELECTED, key, &arena,
                                      &list) < 0)
                return;
        for (size_t i = 0; i < list.n; i++)
                enqueue(a, list.at[i]);
}

/* Objects that make the API server serve kinds: what they say of it is in their status too. */
static bool brings_kinds(const struct catalog_entry *e)
{
        return text_equal(e->resource.kind, "CustomResourceDefinition") ||
               (text_equal(e->resource.kind, "APIService") &&
                text_equal(e->resource.group, "apiregistration.k8s.io"));
}

static bool is_excluded(const struct catalog_entry *e, const struct object *o)
{
        const struct kube_resource *r = &e->resource;

        return filter_object_excluded(&e->agent->filters, r->group, r->version, r->kind, &o->meta);
}

/* Neither before nor now a placement may select it; one that begins to be deleted leaves the selection. */
static bool is_out_of_reach(const struct catalog_entry *e, const struct informer_event *ev)
{
        return (ev->type == INFORMER_ADDED || is_excluded(e, ev->old)) &&
               (ev->type == INFORMER_DELETED || is_excluded(e, ev->now));
}

/* Cluster placements of the whole namespace. */
static void enqueue_of_namespace(struct hub_agent *a, const char *name)
{
        const struct catalog_entry *namespaces = catalog_find(a->catalog, "", "v1", "Namespace");
        const struct object *ns =
                namespaces && namespaces->informer ? informer_get(namespaces->informer, NULL, name) : NULL;

        if (ns && filter_namespace_allowed(&a->filters, name))
                enqueue_selecting(
                        a, &cluster_resource_placement_kind, NULL,
                        &(struct touched){ .kind = namespaces->kind_key, .now = ns, .inside = true });
}

static void enqueue_concerned(struct catalog_entry *e, const struct informer_event *ev)
{
        struct hub_agent *a = e->agent;
        const struct object *o = ev->now;
        const struct touched of = { .kind = e->kind_key, .before = ev->old, .now = o };

        if (!o->meta.ns) {
                enqueue_selecting(a, &cluster_resource_placement_kind, NULL, &of);
                enqueue_holding(a, &cluster_resource_placement_kind, e, o);
                return;
        }
        if (ev->type != INFORMER_ADDED && text_equal(e->resource.group, "rbac.authorization.k8s.io"))
                membership_check_again(a, o->meta.ns);
        if (is_out_of_reach(e, ev))
                return;
        enqueue_of_namespace(a, o->meta.ns);
        enqueue_selecting(a, &resource_placement_kind, o->meta.ns, &of);
        enqueue_holding(a, &resource_placement_kind, e, o);
}

void catalog_on_change(void *ctx, const struct informer_event *ev)
{
        static const struct outcome looked = { 0 };
        struct catalog_entry *e = ctx;
        int64_t began_us;

        if (brings_kinds(e))
                catalog_look(e->agent->catalog, ev->initial);
        if (ev->type == INFORMER_UPDATED && same_content(&ev->old->meta, &ev->now->meta))
                return;
        began_us = workload_begin(e->agent, WORKLOAD_CHANGES);
        enqueue_concerned(e, ev);
        workload_end(e->agent, WORKLOAD_CHANGES, began_us, &looked);
}
