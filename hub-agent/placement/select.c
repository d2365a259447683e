#include "hub-agent/placement/select.h"

#include <stdlib.h>

#include "common/base/digest.h"
#include "common/base/limits.h"
#include "common/kube/selector.h"

#define CACHE_WAIT_MS 20000

struct selecting {
        struct reconcile *rc;
        struct hub_agent *agent;
        const struct placement *p;
        struct chosen_list list;
        const char *user_error;
        const char *ns; /* namespaced terms are confined to it; NULL = not allowed */
};

/* Words for the placement's condition; the caller unwinds. */
#define USER_ERROR(s, ...)                                                                                   \
        ({                                                                                                   \
                (s)->user_error = arena_printf((s)->rc->arena, __VA_ARGS__);                                 \
                (s)->user_error ? 1 : error_no_memory((s)->rc->err);                                         \
        })

/* Looks again and again instead of waiting in the informer: it may be removed meanwhile with its kind. */
static int wait_for(struct selecting *s, const struct catalog_entry *e)
{
        struct loop *l = s->agent->world->loop;
        int64_t deadline = loop_now_ms(l) + CACHE_WAIT_MS;

        while (!e->informer || !informer_synced(e->informer)) {
                if (!e->informer || loop_now_ms(l) >= deadline)
                        return error_set(s->rc->err, ERR_RETRY, "the cache of %s is not filled yet",
                                         e->kind_key);
                if (fiber_sleep(l, 10) < 0)
                        return error_set(s->rc->err, ERR_CANCELLED, "cancelled");
        }
        return 0;
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
static int choose_matching(struct selecting *s, const struct catalog_entry *e, const char *ns,
                           const struct label_selector *labels)
{
        struct object_list all;

        TRY(wait_for(s, e));
        if (informer_list(e->informer, s->rc->arena, &all) < 0)
                return error_no_memory(s->rc->err);
        for (size_t i = 0; i < all.n; i++) {
                const struct object_meta *m = &all.at[i]->meta;

                if ((ns && !text_equal(m->ns, ns)) ||
                    (labels && !label_selector_matches(labels, &m->labels)) || is_excluded(s, e, m))
                        continue;
                TRY(choose(s, e, all.at[i]));
        }
        return 0;
}

static void unref(void *o)
{
        object_unref(o);
}

static int choose_named(struct selecting *s, const struct catalog_entry *e, const char *ns, const char *name)
{
        const struct object *o;

        TRY(wait_for(s, e));
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

static int choose_namespace_content(struct selecting *s, const struct catalog_entry *namespaces,
                                    const struct object *ns)
{
        if (!filter_namespace_allowed(&s->agent->filters, ns->meta.name))
                return USER_ERROR(
                        s, "invalid clusterRresourcePlacement %s: namespace %s is not allowed to propagate",
                        s->p->object.meta.name, ns->meta.name);
        TRY(choose(s, namespaces, ns));
        for (struct catalog_entry *e = catalog_next(s->agent->catalog, NULL); e;
             e = catalog_next(s->agent->catalog, e))
                if (e->resource.namespaced)
                        TRY(choose_matching(s, e, ns->meta.name, NULL));
        return 0;
}

/* The namespaces a term names: metadata in the arena. */
static int find_namespaces(struct selecting *s, const struct catalog_entry *e,
                           const struct resource_selector *t, struct chosen_list *ret)
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
        const struct catalog_entry *e = catalog_find(s->agent->catalog, "", "v1", "Namespace");
        bool alone = text_equal(t->selection_scope, "NamespaceOnly") ||
                     text_equal(t->selection_scope, "NamespaceWithResourceSelectors");
        struct chosen_list found;

        if (s->p->object.meta.ns)
                return USER_ERROR(
                        s,
                        "invalid placement %s/%s: cannot select cluster-scoped resource Namespace in a "
                        "resourcePlacement",
                        s->p->object.meta.ns, s->p->object.meta.name);
        if (!e)
                return 0;
        TRY(find_namespaces(s, e, t, &found));
        for (size_t i = 0; i < found.n; i++) {
                const char *name = found.at[i].meta->meta.name;
                int code;

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
                const struct catalog_entry *e = catalog_find(s->agent->catalog, "", "v1", "Namespace");
                struct chosen_list found = { 0 };

                if (!is_namespace_term(t) ||
                    !text_equal(t->selection_scope, "NamespaceWithResourceSelectors"))
                        continue;
                if (e)
                        TRY(find_namespaces(s, e, t, &found));
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

static int choose_by_term(struct selecting *s, const struct resource_selector *t)
{
        const struct catalog_entry *e;
        const char *ns = or_empty(s->p->object.meta.ns), *name = s->p->object.meta.name;

        if (!filter_api_allowed(&s->agent->filters, or_empty(t->group), or_empty(t->version),
                                or_empty(t->kind)))
                return 0;
        if (is_namespace_term(t))
                return choose_by_namespace_term(s, t);
        e = catalog_find(s->agent->catalog, t->group, t->version, t->kind);
        if (!e)
                return USER_ERROR(
                        s,
                        "invalid placement %s/%s, failed to get GVR of the selector: no matches for kind "
                        "\"%s\" in version \"%s%s%s\"",
                        ns, name, t->kind, or_empty(t->group), text_empty(t->group) ? "" : "/", t->version);
        if (e->resource.namespaced && !s->ns)
                return USER_ERROR(
                        s,
                        "invalid placement %s/%s: cannot select namespace-scoped resource %s/%s, Resource=%s "
                        "in a clusterResourcePlacement",
                        ns, name, e->resource.group, e->resource.version, e->resource.plural);
        if (!e->resource.namespaced && ns[0])
                return USER_ERROR(s,
                                  "invalid placement %s/%s: cannot select cluster-scoped resource %s/%s, "
                                  "Resource=%s in "
                                  "a resourcePlacement",
                                  ns, name, e->resource.group, e->resource.version, e->resource.plural);
        if (text_empty(t->name))
                return choose_matching(s, e, e->resource.namespaced ? s->ns : NULL, t->label_selector);
        return choose_named(s, e, e->resource.namespaced ? s->ns : NULL, t->name);
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
                     const char **ret_user_error)
{
        struct selecting s = { .rc = rc, .agent = agent_of(rc), .p = p, .ns = p->object.meta.ns };
        int code = s.ns ? 0 : confine(&s);

        for (uint32_t i = 0; code == 0 && i < p->spec->resource_selectors.n; i++)
                code = choose_by_term(&s, &p->spec->resource_selectors.at[i]);
        if (code == 0)
                code = sort_and_check(&s);
        if (code < 0)
                return code;
        *ret = s.user_error ? (struct chosen_list){ 0 } : s.list;
        *ret_user_error = s.user_error;
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

/* ---- bodies ---- */

struct reading {
        struct reconcile *rc;
        struct selection *s;
        struct resource_identifier_list *ids;
        size_t next; /* chosen */
};

static int keep(struct reading *r, const struct chosen *c, json_t *doc)
{
        AUTO_BUF struct buf b;
        const char *group = c->entry->resource.group;
        char *text;

        buf_init(&b, LIMIT_OBJECT_BYTES);
        if (filter_document_excluded(doc))
                return 0;
        TRY(filter_sanitise(doc, r->rc->err));
        doc_write_canonical(doc, &b);
        buf_append_char(&b, '\n');
        TRY(buf_status(&b, r->rc->err, c->entry->kind_key));
        text = arena_strndup(r->rc->arena, b.data, b.len);
        if (!text)
                return error_no_memory(r->rc->err);
        r->s->resources[r->s->n++] = (struct slice){ text, b.len };
        r->s->n_envelopes += text_equal(group, GROUP_PLACEMENT);
        r->ids->at[r->ids->n++] = (struct resource_identifier){ .group = group[0] ? group : NULL,
                                                                .version = c->entry->resource.version,
                                                                .kind = c->entry->resource.kind,
                                                                .name = c->meta->meta.name,
                                                                .ns = c->meta->meta.ns };
        return 0;
}

static size_t run_length(const struct chosen_list *l, size_t from)
{
        size_t n = 1;

        while (from + n < l->n && l->at[from + n].entry == l->at[from].entry &&
               text_equal(l->at[from + n].meta->meta.ns, l->at[from].meta->meta.ns))
                n++;
        return n;
}

static int read_one(struct reading *r, const struct chosen *c)
{
        AUTO_JSON json_t *doc = NULL;
        int code = kube_doc_get(r->rc->kube, &c->entry->resource, c->meta->meta.ns, c->meta->meta.name, &doc,
                                r->rc->err);

        if (code == ERR_NOT_FOUND) { /* gone meanwhile: its event brings us back */
                error_clear(r->rc->err);
                return 0;
        }
        return code < 0 ? code : keep(r, c, doc);
}

/* Several of one kind in one namespace come with one list. */
static int read_run(struct reading *r, const struct chosen *c, size_t n)
{
        AUTO_JSON json_t *items = NULL;
        json_t *item;
        size_t i, at = 0;

        TRY(kube_doc_list(r->rc->kube, &c->entry->resource, c->meta->meta.ns, NULL, &items, r->rc->err));
        for (at = 0; at < n; at++)
                json_array_foreach(items, i, item) {
                        if (!text_equal(doc_get_string(item, "metadata.name"), c[at].meta->meta.name))
                                continue;
                        if (!json_object_get(item, "kind")) {
                                const struct kube_resource *k = &c[at].entry->resource;
                                char version[256];

                                snprintf(version, sizeof(version), "%s%s%s", k->group, k->group[0] ? "/" : "",
                                         k->version);
                                TRY(doc_set_string(item, "apiVersion", version));
                                TRY(doc_set_string(item, "kind", k->kind));
                        }
                        TRY(keep(r, &c[at], item));
                        break;
                }
        return 0;
}

int read_selection(struct reconcile *rc, const struct chosen_list *l, struct selection *ret,
                   struct resource_identifier_list *ret_ids)
{
        struct reading r = { .rc = rc, .s = ret, .ids = ret_ids };

        *ret = (struct selection){ .resources = ARENA_NEW_ARRAY(rc->arena, struct slice, l->n + 1) };
        *ret_ids = (struct resource_identifier_list){
                .at = ARENA_NEW_ARRAY(rc->arena, struct resource_identifier, l->n + 1), .set = true
        };
        if (!ret->resources || !ret_ids->at)
                return error_no_memory(rc->err);
        for (size_t i = 0; i < l->n;) {
                size_t n = run_length(l, i);

                TRY(n == 1 ? read_one(&r, &l->at[i]) : read_run(&r, &l->at[i], n));
                i += n;
        }
        selection_hash(ret);
        return 0;
}

/* ---- what a stored snapshot holds ---- */

static int identify(struct arena *arena, struct slice text, struct resource_identifier *ret,
                    struct error *err)
{
        AUTO_JSON json_t *doc = NULL;
        const char *api, *slash, *ns;

        TRY(doc_parse(text, &doc, err));
        api = arena_strdup(arena, or_empty(doc_get_string(doc, "apiVersion")));
        ns = doc_get_string(doc, "metadata.namespace");
        if (!api)
                return error_no_memory(err);
        slash = strchr(api, '/');
        *ret = (struct resource_identifier){
                .group = slash ? arena_strndup(arena, api, (size_t)(slash - api)) : NULL,
                .version = slash ? slash + 1 : api,
                .kind = arena_strdup(arena, or_empty(doc_get_string(doc, "kind"))),
                .name = arena_strdup(arena, or_empty(doc_get_string(doc, "metadata.name"))),
                .ns = ns ? arena_strdup(arena, ns) : NULL,
        };
        return ret->kind && ret->name ? 0 : error_no_memory(err);
}

int identify_resources(struct arena *arena, const struct raw_list *resources,
                       struct resource_identifier_list *ret, struct error *err)
{
        struct resource_identifier *grown =
                ARENA_NEW_ARRAY(arena, struct resource_identifier, (size_t)ret->n + resources->n + 1);

        if (!grown)
                return error_no_memory(err);
        if (ret->n)
                memcpy(grown, ret->at, ret->n * sizeof(grown[0]));
        ret->at = grown;
        ret->set = true;
        for (uint32_t i = 0; i < resources->n; i++)
                TRY(identify(arena, resources->at[i], &ret->at[ret->n++], err));
        return 0;
}
