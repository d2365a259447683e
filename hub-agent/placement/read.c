/* The bodies of what was selected, and what a stored snapshot holds. spec/placement.md 6.2, 6.3, 9.3. */
#include "hub-agent/placement/catalog_internal.h"
#include "hub-agent/placement/select.h"

#include "common/base/limits.h"
#include "common/base/memory.h"
#include "common/json/doc.h"

struct reading {
        struct reconcile *rc;
        struct selection *s;
        struct resource_identifier_list *ids;
        struct refusal refusal;
};

/* ---- bodies ---- */

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

int peek_resource(struct reconcile *rc, const struct kube_resource *r, const char *ns, bool *ret_any)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        AUTO_JSON json_t *list = NULL;
        AUTO_BUF struct buf path;
        struct http_response answer;

        buf_init(&path, 4096);
        kube_path(&path, r, ns, NULL, NULL);
        buf_append_str(&path, "?limit=1");
        TRY(buf_status(&path, rc->err, "request path"));
        TRY(kube_raw_accept(rc->kube, "GET", path.data, KUBE_ACCEPT_METADATA_LIST, &arena, &answer, rc->err));
        TRY(doc_parse(answer.body, &list, rc->err));
        *ret_any = json_array_size(doc_get_array(list, "items")) > 0;
        return 0;
}

/* 404 for an object may mean that the whole kind is away: then it is not gone. 0: it is served. */
static int check_served(struct reading *r, const struct chosen *c)
{
        bool any;
        int code = peek_resource(r->rc, &c->entry->resource, c->meta->meta.ns, &any);

        if (code != ERR_NOT_FOUND)
                return code;
        catalog_look(agent_of(r->rc)->catalog, false);
        return error_set(r->rc->err, ERR_RETRY, "%s is not served at this moment", c->entry->kind_key);
}

static int read_one(struct reading *r, const struct chosen *c)
{
        AUTO_JSON json_t *doc = NULL;
        int code = kube_doc_get(r->rc->kube, &c->entry->resource, c->meta->meta.ns, c->meta->meta.name, &doc,
                                r->rc->err);

        if (code == ERR_NOT_FOUND) { /* gone meanwhile: its event brings us back */
                error_clear(r->rc->err);
                return check_served(r, c);
        }
        return code < 0 ? code : keep(r, c, doc);
}

/* Items of lists come without their type. */
static int complete(json_t *item, const struct kube_resource *k)
{
        AUTO_FREE char *version = NULL;

        if (json_object_get(item, "kind"))
                return 0;
        version = mem_printf("%s%s%s", k->group, k->group[0] ? "/" : "", k->version);
        if (!version)
                return ERR_NO_MEMORY;
        TRY(doc_set_string(item, "apiVersion", version));
        return doc_set_string(item, "kind", k->kind);
}

static int index_by_name(json_t *items, struct map *ret)
{
        json_t *item;
        size_t i;

        map_init(ret, MAP_BORROW_KEYS, NULL);
        json_array_foreach(items, i, item) {
                const char *name = doc_get_string(item, "metadata.name");

                if (name && map_put(ret, name, item) < 0)
                        return ERR_NO_MEMORY;
        }
        return 0;
}

/* Several of one kind in one namespace come with one list. */
static int read_run(struct reading *r, const struct chosen *c, size_t n)
{
        const struct kube_resource *k = &c->entry->resource;
        CLEANUP(map_free) struct map by_name = MAP_INIT;
        AUTO_JSON json_t *items = NULL;
        int code = kube_doc_list(r->rc->kube, k, c->meta->meta.ns, NULL, &items, r->rc->err);

        if (code == ERR_NOT_FOUND)
                return check_served(r, c);
        TRY(code);
        if (index_by_name(items, &by_name) < 0)
                return error_no_memory(r->rc->err);
        for (size_t i = 0; i < n; i++) {
                json_t *item = map_get(&by_name, c[i].meta->meta.name);

                if (!item)
                        continue; /* gone meanwhile */
                if (complete(item, k) < 0)
                        return error_no_memory(r->rc->err);
                TRY(keep(r, &c[i], item));
        }
        return 0;
}

static int refuse(struct reading *r, const struct catalog_entry *e, const char *why)
{
        r->refusal.passing = true;
        r->refusal.words =
                arena_printf(r->rc->arena, "objects of kind \"%s\" (%s) are selected, but cannot be read: %s",
                             e->resource.kind, e->kind_key, why);
        return r->refusal.words ? 1 : error_no_memory(r->rc->err);
}

/* What a server that cannot tell of a kind answers is told; any other failure is one of the moment. */
static int read_part(struct reading *r, const struct chosen *c, size_t n)
{
        int code;

        if (c->entry->missing)
                return refuse(r, c->entry, "the hub does not serve it at present");
        code = n == 1 ? read_one(r, c) : read_run(r, c, n);
        if (code < 0 && code != ERR_CANCELLED && c->entry->stale && r->rc->err->http_status >= 400)
                return refuse(r, c->entry, r->rc->err->text);
        return code;
}

int read_selection(struct reconcile *rc, const struct chosen_list *l, struct selection *ret,
                   struct resource_identifier_list *ret_ids, struct refusal *ret_refusal)
{
        struct reading r = { .rc = rc, .s = ret, .ids = ret_ids };
        int code = 0;

        *ret = (struct selection){ .resources = ARENA_NEW_ARRAY(rc->arena, struct slice, l->n + 1) };
        *ret_ids = (struct resource_identifier_list){
                .at = ARENA_NEW_ARRAY(rc->arena, struct resource_identifier, l->n + 1), .set = true
        };
        if (!ret->resources || !ret_ids->at)
                return error_no_memory(rc->err);
        for (size_t i = 0; code == 0 && i < l->n;) {
                size_t n = run_length(l, i);

                code = read_part(&r, &l->at[i], n);
                i += n;
        }
        selection_hash(ret);
        *ret_refusal = r.refusal;
        return MIN(code, 0);
}

/* ---- kinds that a snapshot holds ---- */

static bool is_in_group(const char *definition, const char *group)
{
        const char *dot = strchr(definition, '.'); /* "plural.group" */

        return dot && text_equal(dot + 1, group);
}

/* 1: a CustomResourceDefinition promises the kind, whether it is served or not. */
static int is_defined(struct reconcile *rc, const char *group, const char *kind)
{
        struct catalog_entry *crds = catalog_definitions(agent_of(rc)->catalog);
        struct object_list all;
        struct kube_resource r;

        if (!crds)
                return 0;
        if (crds->missing || !informer_synced(crds->informer))
                return 1;
        if (arena_defer(rc->arena, catalog_entry_unref, catalog_entry_ref(crds)) < 0 ||
            informer_list(crds->informer, rc->arena, &all) < 0)
                return error_no_memory(rc->err);
        r = crds->resource;
        for (size_t i = 0; i < all.n; i++) {
                AUTO_JSON json_t *doc = NULL;
                int code;

                if (!is_in_group(all.at[i]->meta.name, group))
                        continue;
                code = kube_doc_get(rc->kube, &r, NULL, all.at[i]->meta.name, &doc, rc->err);
                if (code == 0 && text_equal(doc_get_string(doc, "spec.names.kind"), kind))
                        return 1;
                if (code < 0 && code != ERR_NOT_FOUND)
                        return code;
        }
        error_clear(rc->err);
        return 0;
}

/* 1: the selection can do without the kind. */
static int may_go(struct reconcile *rc, const struct resource_identifier *id)
{
        struct hub_agent *a = agent_of(rc);
        const char *group = or_empty(id->group);
        int defined;

        if (!filter_api_allowed(&a->filters, group, or_empty(id->version), id->kind) ||
            catalog_find_kind(a->catalog, group, id->kind))
                return 1;
        if (!catalog_lacks_for_good(a->catalog, group))
                return 0;
        defined = is_defined(rc, group, id->kind);
        return defined < 0 ? defined : !defined;
}

int check_held_kinds(struct reconcile *rc, const struct resource_identifier_list *held,
                     struct refusal *ret_refusal)
{
        *ret_refusal = (struct refusal){ 0 };
        for (uint32_t i = 0; i < held->n; i++) {
                const struct resource_identifier *id = &held->at[i];
                int may;

                if (i > 0 && text_equal(id->kind, id[-1].kind) && text_equal(id->group, id[-1].group))
                        continue; /* they come sorted by kind */
                may = may_go(rc, id);
                if (may < 0)
                        return may;
                if (may)
                        continue;
                ret_refusal->passing = true;
                ret_refusal->words = arena_printf(
                        rc->arena,
                        "kind \"%s\" of group \"%s\", which the current resource snapshot holds, is not "
                        "served by the hub, and it is not known whether it is gone for good",
                        id->kind, or_empty(id->group));
                return ret_refusal->words ? 0 : error_no_memory(rc->err);
        }
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
