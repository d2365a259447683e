#include "hub-agent/placement/catalog.h"

#include "common/base/memory.h"
#include "common/base/vec.h"
#include "common/kube/selector.h"
#include "hub-agent/membership/membership.h"

#define REFRESH_MS (5 * 60 * 1000) /* what aggregated APIs add is seen at the latest then */

struct catalog {
        struct hub_agent *agent;
        VEC(struct catalog_entry *) entries;
        VEC(struct catalog_entry *) removed; /* reconciles under way may still look at them */
        struct waitq changed;
        bool dirty;
};

/* ---- indexes ---- */

static bool kind_key(char ret[256], const char *group, const char *version, const char *kind)
{
        int n = snprintf(ret, 256, "%s/%s/%s", or_empty(group), or_empty(version), or_empty(kind));

        return n > 0 && n < 256;
}

void emit_selectors(const struct object *o, index_emit emit, void *to)
{
        const struct placement *p = (const struct placement *)o;
        char key[256];

        for (uint32_t i = 0; p->spec && i < p->spec->resource_selectors.n; i++) {
                const struct resource_selector *s = &p->spec->resource_selectors.at[i];

                if (kind_key(key, s->group, s->version, s->kind))
                        emit(to, key);
        }
}

void emit_selected(const struct object *o, index_emit emit, void *to)
{
        const struct placement *p = (const struct placement *)o;
        char key[KEY_MAX + 256];

        for (uint32_t i = 0; p->status && i < p->status->selected_resources.n; i++) {
                const struct resource_identifier *r = &p->status->selected_resources.at[i];

                snprintf(key, sizeof(key), "%s/%s/%s/%s/%s", or_empty(r->group), or_empty(r->version),
                         or_empty(r->kind), or_empty(r->ns), or_empty(r->name));
                emit(to, key);
        }
}

/* ---- changes ---- */

static bool same_map(const struct string_map *a, const struct string_map *b)
{
        if (a->n != b->n)
                return false;
        for (uint32_t i = 0; i < a->n; i++)
                if (!text_equal(a->at[i].key, b->at[i].key) || !text_equal(a->at[i].value, b->at[i].value))
                        return false;
        return true;
}

bool same_content(const struct object_meta *a, const struct object_meta *b)
{
        if (!text_equal(a->uid, b->uid) || a->deletion_ms != b->deletion_ms)
                return false;
        if (text_equal(a->resource_version, b->resource_version))
                return true;
        return a->generation > 0 && a->generation == b->generation && same_map(&a->labels, &b->labels) &&
               same_map(&a->annotations, &b->annotations) && a->n_finalizers == b->n_finalizers &&
               a->n_owners == b->n_owners;
}

static void enqueue(struct hub_agent *a, const struct object *placement)
{
        char key[KEY_MAX];

        if (key_make(key, placement->meta.ns, placement->meta.name))
                manager_enqueue(a->manager, &placement_controller, key, QUEUE_NORMAL);
}

static bool term_matches(const struct resource_selector *s, const char *kind, const struct object *o)
{
        char key[256];

        if (!kind_key(key, s->group, s->version, s->kind) || !text_equal(key, kind))
                return false;
        if (!text_empty(s->name))
                return text_equal(s->name, o->meta.name);
        return !s->label_selector || label_selector_matches(s->label_selector, &o->meta.labels);
}

/* Whether a change of `o`, or of something inside namespace `o`, concerns the placement. */
static bool placement_selects(const struct placement *p, const char *kind, const struct object *o,
                              bool inside)
{
        for (uint32_t i = 0; p->spec && i < p->spec->resource_selectors.n; i++) {
                const struct resource_selector *s = &p->spec->resource_selectors.at[i];

                if (inside && text_equal(s->selection_scope, "NamespaceOnly"))
                        continue;
                if (term_matches(s, kind, o))
                        return true;
        }
        return false;
}

static void enqueue_selecting(struct hub_agent *a, const struct kind *placement, const char *ns,
                              const char *kind, const struct object *o, bool inside)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct object_list list;

        if (informer_by_index(manager_informer(a->manager, placement), INDEX_SELECTOR, kind, &arena, &list) <
            0)
                return;
        for (size_t i = 0; i < list.n; i++)
                if ((!ns || text_equal(ns, list.at[i]->meta.ns)) &&
                    placement_selects((const struct placement *)list.at[i], kind, o, inside))
                        enqueue(a, list.at[i]);
}

static void enqueue_all_of_kind(struct hub_agent *a, const struct kind *placement, const char *kind)
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
        char key[KEY_MAX + 256];
        struct object_list list;

        snprintf(key, sizeof(key), "%s/%s/%s", e->kind_key, or_empty(o->meta.ns), o->meta.name);
        if (informer_by_index(manager_informer(a->manager, placement), INDEX_SELECTED, key, &arena, &list) <
            0)
                return;
        for (size_t i = 0; i < list.n; i++)
                enqueue(a, list.at[i]);
}

static void on_change(void *ctx, const struct informer_event *ev)
{
        struct catalog_entry *e = ctx;
        struct hub_agent *a = e->agent;
        const struct object *o = ev->now;
        const struct catalog_entry *namespaces;
        const struct object *ns;

        if (ev->type == INFORMER_UPDATED && same_content(&ev->old->meta, &o->meta))
                return;
        if (text_equal(e->resource.kind, "CustomResourceDefinition")) {
                a->catalog->dirty = true;
                waitq_wake_all(&a->catalog->changed);
        }
        if (!o->meta.ns) {
                enqueue_selecting(a, &cluster_resource_placement_kind, NULL, e->kind_key, o, false);
                enqueue_holding(a, &cluster_resource_placement_kind, e, o);
                return;
        }
        if (ev->type != INFORMER_ADDED && text_equal(e->resource.group, "rbac.authorization.k8s.io"))
                membership_check_again(a, o->meta.ns);
        if (!filter_namespace_allowed(&a->filters, o->meta.ns))
                return;
        if (ev->type != INFORMER_DELETED &&
            filter_object_excluded(&a->filters, e->resource.group, e->resource.version, e->resource.kind,
                                   &o->meta))
                return;
        namespaces = catalog_find(a->catalog, "", "v1", "Namespace");
        ns = namespaces ? informer_get(namespaces->informer, NULL, o->meta.ns) : NULL;
        if (ns)
                enqueue_selecting(a, &cluster_resource_placement_kind, NULL, namespaces->kind_key, ns, true);
        enqueue_selecting(a, &resource_placement_kind, o->meta.ns, e->kind_key, o, false);
        enqueue_holding(a, &resource_placement_kind, e, o);
}

/* ---- the set of resources ---- */

static void entry_free(struct catalog_entry *e)
{
        if (!e)
                return;
        if (e->informer)
                manager_remove_informer(e->agent->manager, e->informer);
        mem_free((char *)e->resource.group);
        mem_free((char *)e->resource.version);
        mem_free((char *)e->resource.plural);
        mem_free((char *)e->resource.kind);
        mem_free(e);
}

static int entry_new(struct hub_agent *a, const struct kube_resource *r, struct catalog_entry **ret)
{
        struct catalog_entry *e = NEW(struct catalog_entry);
        struct informer_options o = { .kind = &partial_object_kind };

        if (!e)
                return ERR_NO_MEMORY;
        *e = (struct catalog_entry){ .agent = a,
                                     .resource = { .group = mem_strdup(r->group),
                                                   .version = mem_strdup(r->version),
                                                   .plural = mem_strdup(r->plural),
                                                   .kind = mem_strdup(r->kind),
                                                   .namespaced = r->namespaced } };
        o.resource = &e->resource;
        if (!e->resource.group || !e->resource.version || !e->resource.plural || !e->resource.kind ||
            !kind_key(e->kind_key, r->group, r->version, r->kind) ||
            manager_add_informer(a->manager, &o, &e->informer) < 0) {
                entry_free(e);
                return ERR_NO_MEMORY;
        }
        *ret = e;
        return 0;
}

struct catalog *catalog_new(struct hub_agent *a)
{
        struct catalog *c = NEW(struct catalog);

        if (c)
                c->agent = a;
        return c;
}

struct catalog *catalog_free(struct catalog *c)
{
        if (!c)
                return NULL;
        vec_for_each(&c->entries, e)
                entry_free(*e);
        vec_for_each(&c->removed, e)
                entry_free(*e);
        vec_free(&c->entries);
        vec_free(&c->removed);
        mem_free(c);
        return NULL;
}

struct catalog_entry *catalog_find(struct catalog *c, const char *group, const char *version,
                                   const char *kind)
{
        vec_for_each(&c->entries, e)
                if (text_equal((*e)->resource.kind, kind) &&
                    text_equal((*e)->resource.group, or_empty(group)) &&
                    text_equal((*e)->resource.version, version))
                        return *e;
        return NULL;
}

struct catalog_entry *catalog_next(struct catalog *c, struct catalog_entry *previous)
{
        size_t i = 0;

        if (previous)
                while (i < c->entries.n && c->entries.at[i++] != previous)
                        ;
        return i < c->entries.n ? c->entries.at[i] : NULL;
}

static bool is_placeable(const struct hub_agent *a, const struct kube_mapped *m)
{
        return m->listable && m->watchable && m->preferred_version &&
               filter_api_allowed(&a->filters, m->resource.group, m->resource.version, m->resource.kind);
}

static int add_missing(struct catalog *c, const struct kube_resource *r)
{
        struct catalog_entry *e = catalog_find(c, r->group, r->version, r->kind);

        if (!e) {
                if (entry_new(c->agent, r, &e) < 0)
                        return ERR_NO_MEMORY;
                if (vec_push(&c->entries, e) < 0) {
                        entry_free(e);
                        return ERR_NO_MEMORY;
                }
                /* A placement that selected the kind before it existed may go on now. */
                enqueue_all_of_kind(c->agent, &cluster_resource_placement_kind, e->kind_key);
                enqueue_all_of_kind(c->agent, &resource_placement_kind, e->kind_key);
                if (informer_add_handler(e->informer, on_change, e) < 0)
                        return ERR_NO_MEMORY;
        }
        e->seen = true;
        return 0;
}

static void remove_unseen(struct catalog *c)
{
        for (size_t i = c->entries.n; i-- > 0;) {
                struct catalog_entry *e = c->entries.at[i];

                if (e->seen || vec_reserve(&c->removed, c->removed.n + 1) < 0)
                        continue;
                vec_remove(&c->entries, i);
                manager_remove_informer(c->agent->manager, TAKE_PTR(e->informer));
                c->removed.at[c->removed.n++] = e;
        }
}

int catalog_refresh(struct catalog *c, struct error *err)
{
        const struct kube_mapped *all;
        size_t n;

        c->dirty = false;
        TRY(kube_mapper_refresh(c->agent->mapper, NULL, err));
        all = kube_mapper_all(c->agent->mapper, &n);
        vec_for_each(&c->entries, e)
                (*e)->seen = false;
        for (size_t i = 0; i < n; i++)
                if (is_placeable(c->agent, &all[i]) && add_missing(c, &all[i].resource) < 0)
                        return error_no_memory(err);
        remove_unseen(c);
        return 0;
}

void catalog_follow(void *catalog)
{
        struct catalog *c = catalog;
        struct loop *l = c->agent->world->loop;
        struct error err;

        for (;;) {
                if (!c->dirty && waitq_wait(l, &c->changed, loop_now_ms(l) + REFRESH_MS) == ERR_CANCELLED)
                        return;
                /* The API server needs a moment to serve a new kind. */
                if (fiber_sleep(l, 100) < 0)
                        return;
                error_clear(&err);
                if (catalog_refresh(c, &err) == ERR_CANCELLED)
                        return;
                if (err.code < 0 && !kube_connection_tells(&c->agent->kube, &err))
                        log_warn(&c->agent->log, "discovery failed", "error", err.text);
        }
}
