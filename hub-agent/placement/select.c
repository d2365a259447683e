#include "hub-agent/placement/select.h"

#include <stdlib.h>

#include "common/base/digest.h"
#include "common/base/limits.h"
#include "common/kube/selector.h"

#define CACHE_WAIT_MS 20000 /* then the placement says what it waits for */

/* A namespace's objects of a kind whose cache cannot be filled: whether there are any is asked at the end. */
struct unlisted {
        struct unlisted *next;
        struct catalog_entry *entry; /* referenced by the arena */
        const char *ns;
};

struct selecting {
        struct reconcile *rc;
        struct hub_agent *agent;
        const struct placement *p;
        struct chosen_list list;
        struct refusal refusal;
        struct unlisted *unlisted;
        const char *ns; /* namespaced terms are confined to it; NULL = not allowed */
};

/* Words for the placement's condition; the caller unwinds. */
#define USER_ERROR(s, ...)                                                                                   \
        ({                                                                                                   \
                (s)->refusal.words = arena_printf((s)->rc->arena, __VA_ARGS__);                              \
                (s)->refusal.words ? 1 : error_no_memory((s)->rc->err);                                      \
        })

static int hold_entry(struct selecting *s, struct catalog_entry *e)
{
        if (arena_defer(s->rc->arena, catalog_entry_unref, catalog_entry_ref(e)) < 0)
                return error_no_memory(s->rc->err);
        return 0;
}

static bool is_filled(const struct catalog_entry *e)
{
        return e->informer && informer_synced(e->informer);
}

static int cannot_be_listed(struct selecting *s, const struct catalog_entry *e)
{
        const char *problem = e->informer ? informer_problem(e->informer) : "";

        s->refusal.passing = true;
        return USER_ERROR(s, "the objects of kind \"%s\" (%s) cannot be listed: %s", e->resource.kind,
                          e->kind_key, problem[0] ? problem : "the list does not end");
}

/* A kind whose cache does not fill holds only who needs it, and after a while it is told. */
static int wait_for(struct selecting *s, struct catalog_entry *e)
{
        if (catalog_await(e) >= CACHE_WAIT_MS)
                return cannot_be_listed(s, e);
        s->refusal.passing = true;
        return 1;
}

/* 0: the entry may be read until the next park, and named as long as the reconcile lasts. */
static int enter_one(struct selecting *s, struct catalog_entry *e)
{
        return is_filled(e) ? hold_entry(s, e) : wait_for(s, e);
}

static int enter(struct selecting *s, struct catalog_entry *e)
{
        struct catalog_entry *services = text_equal(e->kind_key, "/v1/Endpoints") /* see made_by_service() */
                                                 ? catalog_find(s->agent->catalog, "", "v1", "Service")
                                                 : NULL;
        int code = services ? enter_one(s, services) : 0;

        return code != 0 ? code : enter_one(s, e);
}

static int choose(struct selecting *s, const struct catalog_entry *e, const struct object *meta)
{
        struct chosen_list *l = &s->list;

        if (l->n == l->cap) {
                size_t cap = l->cap ? l->cap * 2 : 64;
                struct chosen *grown = ARENA_NEW_ARRAY(s->rc->arena, struct chosen, cap);

                if (!grown)
                        return error_no_memory(s->rc->err);
                if (l->n)
                        memcpy(grown, l->at, l->n * sizeof(grown[0]));
                l->at = grown;
                l->cap = cap;
        }
        l->at[l->n++] = (struct chosen){ e, meta };
        return 0;
}

/* Endpoints that a Service makes are made again on the member. */
static bool made_by_service(struct selecting *s, const struct catalog_entry *e, const struct object_meta *m)
{
        const struct catalog_entry *services;

        if (!text_equal(e->kind_key, "/v1/Endpoints"))
                return false;
        services = catalog_find(s->agent->catalog, "", "v1", "Service");
        return services && services->informer && informer_get(services->informer, m->ns, m->name);
}

static bool is_excluded(struct selecting *s, const struct catalog_entry *e, const struct object_meta *m)
{
        const struct kube_resource *r = &e->resource;

        return filter_object_excluded(&s->agent->filters, r->group, r->version, r->kind, m) ||
               made_by_service(s, e, m);
}

/* Everything of one resource (in a namespace, by labels). */
static int choose_matching(struct selecting *s, struct catalog_entry *e, const char *ns,
                           const struct label_selector *labels)
{
        struct object_list all;
        int code = enter(s, e);

        if (code != 0)
                return code;
        code = ns ? informer_by_index(e->informer, INDEX_NAMESPACE, ns, s->rc->arena, &all)
                  : informer_list(e->informer, s->rc->arena, &all);
        if (code < 0)
                return error_no_memory(s->rc->err);
        for (size_t i = 0; i < all.n; i++) {
                const struct object_meta *m = &all.at[i]->meta;

                if ((labels && !label_selector_matches(labels, &m->labels)) || is_excluded(s, e, m))
                        continue;
                TRY(choose(s, e, all.at[i]));
        }
        return 0;
}

static void unref(void *o)
{
        object_unref(o);
}

static int choose_named(struct selecting *s, struct catalog_entry *e, const char *ns, const char *name)
{
        const struct object *o;
        int code = enter(s, e);

        if (code != 0)
                return code;
        o = informer_get(e->informer, ns, name);
        if (!o || is_excluded(s, e, &o->meta))
                return 0;
        if (arena_defer(s->rc->arena, unref, object_ref(o)) < 0)
                return error_no_memory(s->rc->err);
        return choose(s, e, o);
}

/* ---- namespaces ---- */

static bool is_namespace_term(const struct resource_selector *t)
{
        return text_equal(t->kind, "Namespace") && text_empty(t->group) && text_equal(t->version, "v1");
}

/* spec 6 step 4a: only what is known not to be served is the user's error. */
static int not_served(struct selecting *s, const struct resource_selector *t)
{
        s->refusal.passing = kube_mapper_doubts(s->agent->mapper, or_empty(t->group));
        return USER_ERROR(s,
                          "invalid placement %s/%s, failed to get GVR of the selector: no matches for kind "
                          "\"%s\" in version \"%s%s%s\"",
                          or_empty(s->p->object.meta.ns), s->p->object.meta.name, t->kind, or_empty(t->group),
                          text_empty(t->group) ? "" : "/", t->version);
}

static int ask_later(struct selecting *s, struct catalog_entry *e, const char *ns)
{
        struct unlisted *u = ARENA_NEW(s->rc->arena, struct unlisted);

        if (!u)
                return error_no_memory(s->rc->err);
        *u = (struct unlisted){ s->unlisted, e, ns };
        s->unlisted = u;
        return hold_entry(s, e);
}

/* Most namespaces have no objects of a kind that cannot be listed; they need not wait for it. Parks. */
static int ask_unlisted(struct selecting *s)
{
        for (struct unlisted *u = s->unlisted; u; u = u->next) {
                bool any = true;
                int code = peek_resource(s->rc, &u->entry->resource, u->ns, &any);

                if (code < 0 && s->rc->err->http_status < 400)
                        return code;
                error_clear(s->rc->err);
                if (any)
                        return cannot_be_listed(s, u->entry);
        }
        return 0;
}

static int choose_in_namespace(struct selecting *s, struct catalog_entry *e, const char *ns)
{
        if (!e->resource.namespaced || !e->preferred)
                return 0;
        if (!is_filled(e) && catalog_await(e) >= CACHE_WAIT_MS)
                return ask_later(s, e, ns);
        return choose_matching(s, e, ns, NULL);
}

static int choose_namespace_content(struct selecting *s, const struct catalog_entry *namespaces,
                                    const struct object *ns)
{
        if (!filter_namespace_allowed(&s->agent->filters, ns->meta.name))
                return USER_ERROR(
                        s, "invalid clusterRresourcePlacement %s: namespace %s is not allowed to propagate",
                        s->p->object.meta.name, ns->meta.name);
        TRY(choose(s, namespaces, ns));
        for (struct catalog_entry *e = catalog_next(s->agent->catalog, NULL); e;
             e = catalog_next(s->agent->catalog, e)) {
                int code = choose_in_namespace(s, e, ns->meta.name);

                if (code != 0)
                        return code;
        }
        return 0;
}

/* The namespaces a term names: metadata in the arena. */
static int find_namespaces(struct selecting *s, struct catalog_entry *e, const struct resource_selector *t,
                           struct chosen_list *ret)
{
        struct chosen_list outer = s->list;
        int code;

        s->list = (struct chosen_list){ 0 };
        code = text_empty(t->name) ? choose_matching(s, e, NULL, t->label_selector)
                                   : choose_named(s, e, NULL, t->name);
        *ret = s->list;
        s->list = outer;
        return code;
}

static int choose_by_namespace_term(struct selecting *s, const struct resource_selector *t)
{
        struct catalog_entry *e = catalog_find(s->agent->catalog, "", "v1", "Namespace");
        bool alone = text_equal(t->selection_scope, "NamespaceOnly") ||
                     text_equal(t->selection_scope, "NamespaceWithResourceSelectors");
        struct chosen_list found;
        int code;

        if (s->p->object.meta.ns)
                return USER_ERROR(
                        s,
                        "invalid placement %s/%s: cannot select cluster-scoped resource Namespace in a "
                        "resourcePlacement",
                        s->p->object.meta.ns, s->p->object.meta.name);
        if (!e)
                return not_served(s, t);
        code = find_namespaces(s, e, t, &found);
        if (code != 0)
                return code;
        for (size_t i = 0; i < found.n; i++) {
                const char *name = found.at[i].meta->meta.name;

                if (alone && !filter_namespace_allowed(&s->agent->filters, name))
                        return USER_ERROR(
                                s,
                                "invalid clusterRresourcePlacement %s: namespace %s is not allowed to "
                                "propagate",
                                s->p->object.meta.name, name);
                code = alone ? choose(s, e, found.at[i].meta)
                             : choose_namespace_content(s, e, found.at[i].meta);
                if (code != 0)
                        return code;
        }
        return 0;
}

/* spec 6 step 1 */
static int confine(struct selecting *s)
{
        const struct resource_selector_list *terms = &s->p->spec->resource_selectors;

        for (uint32_t i = 0; i < terms->n; i++) {
                const struct resource_selector *t = &terms->at[i];
                struct catalog_entry *e = catalog_find(s->agent->catalog, "", "v1", "Namespace");
                struct chosen_list found = { 0 };
                int code;

                if (!is_namespace_term(t) ||
                    !text_equal(t->selection_scope, "NamespaceWithResourceSelectors"))
                        continue;
                code = e ? find_namespaces(s, e, t, &found) : 0;
                if (code != 0)
                        return code;
                if (found.n == 0 ||
                    !filter_namespace_allowed(&s->agent->filters, found.at[0].meta->meta.name))
                        return USER_ERROR(
                                s,
                                "invalid clusterResourcePlacement %s: NamespaceWithResourceSelectors mode "
                                "requires exactly one namespace, but no namespaces were selected",
                                s->p->object.meta.name);
                s->ns = found.at[0].meta->meta.name;
                return 0;
        }
        return 0;
}

/* ---- terms ---- */

/* A selector that could match nothing whatever there is. */
static int check_labels(struct selecting *s, const struct resource_selector *t)
{
        struct error why = { 0 };

        if (label_selector_check(t->label_selector, &why) == 0)
                return 0;
        return USER_ERROR(s,
                          "invalid placement %s/%s: the labelSelector in resource selector %s/%s, Kind=%s is "
                          "invalid: %s",
                          or_empty(s->p->object.meta.ns), s->p->object.meta.name, or_empty(t->group),
                          t->version, t->kind, why.text);
}

static int check_scope(struct selecting *s, const struct kube_resource *r)
{
        const char *ns = or_empty(s->p->object.meta.ns), *name = s->p->object.meta.name;

        if (r->namespaced && !s->ns)
                return USER_ERROR(
                        s,
                        "invalid placement %s/%s: cannot select namespace-scoped resource %s/%s, Resource=%s "
                        "in a clusterResourcePlacement",
                        ns, name, r->group, r->version, r->plural);
        if (!r->namespaced && ns[0])
                return USER_ERROR(s,
                                  "invalid placement %s/%s: cannot select cluster-scoped resource %s/%s, "
                                  "Resource=%s in a resourcePlacement",
                                  ns, name, r->group, r->version, r->plural);
        return 0;
}

static int choose_by_term(struct selecting *s, const struct resource_selector *t)
{
        struct catalog_entry *e;
        const char *ns;
        int code;

        if (!filter_api_allowed(&s->agent->filters, or_empty(t->group), or_empty(t->version),
                                or_empty(t->kind)))
                return 0;
        if (is_namespace_term(t))
                return choose_by_namespace_term(s, t);
        e = catalog_demand(s->agent->catalog, t->group, t->version, t->kind);
        code = e ? check_scope(s, &e->resource) : not_served(s, t);
        if (code != 0)
                return code;
        ns = e->resource.namespaced ? s->ns : NULL;
        return text_empty(t->name) ? choose_matching(s, e, ns, t->label_selector)
                                   : choose_named(s, e, ns, t->name);
}

static struct selected_id id_of(const struct chosen *c)
{
        return (struct selected_id){ c->entry->resource.group, c->entry->resource.version,
                                     c->entry->resource.kind, or_empty(c->meta->meta.ns),
                                     c->meta->meta.name };
}

static int by_order(const void *a, const void *b)
{
        struct selected_id x = id_of(a), y = id_of(b);

        return filter_compare(&x, &y);
}

static int sort_and_check(struct selecting *s)
{
        if (s->list.n == 0)
                return 0;
        qsort(s->list.at, s->list.n, sizeof(s->list.at[0]), by_order);
        for (size_t i = 1; i < s->list.n; i++) {
                struct selected_id id = id_of(&s->list.at[i]);

                if (by_order(&s->list.at[i - 1], &s->list.at[i]) == 0)
                        return USER_ERROR(
                                s,
                                "found duplicate resource {Group:%s Version:%s Kind:%s Name:%s Namespace:%s "
                                "Envelope:<nil>}",
                                id.group, id.version, id.kind, id.name, id.ns);
        }
        return 0;
}

int select_resources(struct reconcile *rc, const struct placement *p, struct chosen_list *ret,
                     struct refusal *ret_refusal)
{
        struct selecting s = { .rc = rc, .agent = agent_of(rc), .p = p, .ns = p->object.meta.ns };
        const struct resource_selector_list *terms = &p->spec->resource_selectors;
        int code = 0;

        for (uint32_t i = 0; code == 0 && i < terms->n; i++)
                code = check_labels(&s, &terms->at[i]);
        if (code == 0 && !s.ns)
                code = confine(&s);
        for (uint32_t i = 0; code == 0 && i < terms->n; i++)
                code = choose_by_term(&s, &terms->at[i]);
        if (code == 0)
                code = sort_and_check(&s);
        if (code == 0)
                code = ask_unlisted(&s);
        if (code < 0)
                return code;
        *ret = is_refused(&s.refusal) ? (struct chosen_list){ 0 } : s.list;
        *ret_refusal = s.refusal;
        return 0;
}

/* ---- fingerprints ---- */

static void feed(struct sha256 *sha, const char *s)
{
        sha256_update(sha, or_empty(s), strlen(or_empty(s)) + 1);
}

static void feed_map(struct sha256 *sha, const struct string_map *m)
{
        for (uint32_t i = 0; i < m->n; i++) {
                feed(sha, m->at[i].key);
                feed(sha, m->at[i].value);
        }
        feed(sha, "");
}

void chosen_fingerprint(const struct chosen_list *l, char ret[65])
{
        struct sha256 sha;
        uint8_t raw[SHA256_SIZE];

        sha256_init(&sha);
        for (size_t i = 0; i < l->n; i++) {
                const struct object_meta *m = &l->at[i].meta->meta;

                feed(&sha, l->at[i].entry->kind_key);
                feed(&sha, m->uid);
                if (m->generation == 0) {
                        feed(&sha, m->resource_version);
                        continue;
                }
                sha256_update(&sha, &m->generation, sizeof(m->generation));
                feed_map(&sha, &m->labels);
                feed_map(&sha, &m->annotations);
                for (uint16_t k = 0; k < m->n_finalizers; k++)
                        feed(&sha, m->finalizers[k]);
        }
        sha256_final(&sha, raw);
        text_hex_encode(raw, sizeof(raw), ret);
}

int identify_group(struct reconcile *rc, const struct object_list *snapshots, const char *index,
                   struct resource_identifier_list *ret)
{
        const struct resource_snapshot *const *group;
        size_t n;
        int code = body_get_group(rc, snapshots, index, &group, &n);

        *ret = (struct resource_identifier_list){ 0 };
        if (code == ERR_NOT_FOUND)
                return 0;
        for (size_t i = 0; code == 0 && i < n; i++)
                if (group[i]->spec)
                        code = identify_resources(rc->arena, &group[i]->spec->selected_resources, ret,
                                                  rc->err);
        return code;
}
