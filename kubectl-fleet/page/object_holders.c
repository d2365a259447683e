#include "kubectl-fleet/page/object_holders.h"

#include "hub-agent/common.h"
#include "kubectl-fleet/page/row_parts.h"

static bool is_named(const struct wanted *w, const char *group, const char *kind, const char *ns,
                     const char *name)
{
        return text_equal(or_empty(name), w->name) && text_equal(or_empty(kind), w->kind) &&
               text_equal(or_empty(ns), w->ns) && text_equal(or_empty(group), w->group);
}

bool wanted_is(const struct wanted *w, const struct resource_identifier *id)
{
        return is_named(w, id->group, id->kind, id->ns, id->name);
}

/* ---- what a status tells ---- */

static bool selects(const struct wanted *w, const struct placement_status *s)
{
        for (uint32_t i = 0; i < s->selected_resources.n; i++)
                if (wanted_is(w, &s->selected_resources.at[i]))
                        return true;
        return false;
}

bool wanted_in(const struct wanted *w, const struct failed_placement_list *failed,
               const struct drifted_placement_list *drifted, const struct diffed_placement_list *diffed)
{
        for (uint32_t i = 0; i < failed->n; i++)
                if (wanted_is(w, &failed->at[i].id))
                        return true;
        for (uint32_t i = 0; i < drifted->n; i++)
                if (wanted_is(w, &drifted->at[i].id))
                        return true;
        for (uint32_t i = 0; i < diffed->n; i++)
                if (wanted_is(w, &diffed->at[i].id))
                        return true;
        return false;
}

static bool speaks_of(const struct wanted *w, const struct placement_status *s)
{
        for (uint32_t i = 0; i < s->placement_statuses.n; i++) {
                const struct per_cluster_status *c = &s->placement_statuses.at[i];

                if (wanted_in(w, &c->failed_placements, &c->drifted_placements, &c->diffed_placements))
                        return true;
        }
        return false;
}

/* ---- what may hold it, though its status does not say so ---- */

static bool may_envelop(const struct wanted *w, const char *kind, const char *ns)
{
        return *w->ns ? text_equal(kind, ENVELOPE_RESOURCE) && (!ns || text_equal(ns, w->ns))
                      : text_equal(kind, ENVELOPE_CLUSTER_RESOURCE);
}

static bool has_envelope(const struct wanted *w, const struct placement_status *s)
{
        for (uint32_t i = 0; i < s->selected_resources.n; i++)
                if (may_envelop(w, s->selected_resources.at[i].kind, s->selected_resources.at[i].ns))
                        return true;
        return false;
}

/* By a selector of the revision to come; what it selects by labels it may select. */
static bool may_select(const struct wanted *w, const struct resource_selector *r, bool namespaced)
{
        bool by_namespace = *w->ns && !namespaced;
        const char *name = by_namespace ? w->ns : w->name;

        if (!by_namespace && may_envelop(w, r->kind, NULL))
                return true;
        return text_equal(r->kind, by_namespace ? "Namespace" : w->kind) &&
               text_equal(or_empty(r->group), by_namespace ? "" : w->group) &&
               (text_empty(r->name) || text_equal(r->name, name));
}

static bool may_select_any(const struct wanted *w, const struct placement *p)
{
        const char *ns = p->object.meta.ns;

        if (ns && !text_equal(ns, w->ns))
                return false;
        for (uint32_t i = 0; p->spec && i < p->spec->resource_selectors.n; i++)
                if (may_select(w, &p->spec->resource_selectors.at[i], ns != NULL))
                        return true;
        return false;
}

/* Whether clusters have other revisions than the one whose objects the status names. */
static bool is_mixed(const struct placement_status *s)
{
        if (s->selected_resources.n == 0)
                return true;
        for (uint32_t i = 0; i < s->placement_statuses.n; i++) {
                const char *index = s->placement_statuses.at[i].observed_resource_index;

                if (!text_empty(index) && !text_equal(index, s->observed_resource_index))
                        return true;
        }
        return false;
}

/* The link says where it was found: what was selected once may be there still. */
static bool is_from(const struct page_look *l, const struct placement *p)
{
        const char *from = page_arg_or(l, "from", ""), *ns = p->object.meta.ns;
        size_t n = ns ? strlen(ns) : 0;

        if (!ns)
                return text_starts_with(from, "crp/") &&
                       text_equal(from + strlen("crp/"), p->object.meta.name);
        if (!text_starts_with(from, "rp/") || strncmp(from + strlen("rp/"), ns, n) != 0)
                return false;
        from += strlen("rp/") + n;
        return *from == '/' && text_equal(from + 1, p->object.meta.name);
}

static bool may_hold(const struct page_look *l, const struct wanted *w, const struct placement *p)
{
        return is_from(l, p) || has_envelope(w, p->status) || (is_mixed(p->status) && may_select_any(w, p));
}

/* ---- all of them ---- */

static void add_holders(const struct page_look *l, const struct wanted *w, const struct kind *kind, bool sure,
                        struct holders *ret)
{
        const struct page_need *need = page_need_of(l, kind, 0);

        for (size_t i = 0; need && i < need->fetch.result.n; i++) {
                const struct placement *p = (const struct placement *)need->fetch.result.at[i];
                bool named = p->status && selects(w, p->status);
                bool told = p->status && !named && speaks_of(w, p->status);

                if (sure ? named || told : p->status && !named && !told && may_hold(l, w, p))
                        ret->at[ret->n++] = (struct holder){ .placement = p, .sure = sure, .selects = named };
        }
}

int holders_of(const struct page_look *l, const struct wanted *w, struct holders *ret)
{
        const struct page_need *cluster = page_need_of(l, &cluster_resource_placement_kind, 0);
        const struct page_need *own = page_need_of(l, &resource_placement_kind, 0);
        size_t n = (cluster ? cluster->fetch.result.n : 0) + (own ? own->fetch.result.n : 0);

        ret->n = 0;
        ret->at = ARENA_NEW_ARRAY(l->arena, struct holder, n + 1);
        if (!ret->at)
                return ERR_NO_MEMORY;
        for (int sure = 1; sure >= 0; sure--) {
                add_holders(l, w, &cluster_resource_placement_kind, sure, ret);
                add_holders(l, w, &resource_placement_kind, sure, ret);
        }
        return 0;
}

/* ---- which revisions clusters have ---- */

struct indices {
        int64_t *at;
        size_t n;
};

static int by_number(const void *a, const void *b)
{
        int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

        return (x > y) - (x < y);
}

/* By its whole selector, or by its beginning: then with the comma, as a name may begin another. */
static const struct page_need *need_of_placement(const struct page_look *l, const struct kind *kind,
                                                 const struct holder *h, const char *selector,
                                                 bool (*is)(const char *, const char *))
{
        const struct page_need *n;

        for (size_t i = 0; (n = page_need_of(l, kind, i)); i++)
                if (text_equal(n->fetch.ns, h->placement->object.meta.ns) && is(n->fetch.selector, selector))
                        return n;
        return NULL;
}

/* Each once, in order. Before bindings are read there are none. */
static int indices_of(const struct page_look *l, const struct holder *h, struct indices *ret)
{
        const struct object_meta *m = &h->placement->object.meta;
        const char *of = selector_of(l->arena, LABEL_PARENT_PLACEMENT, m->name);
        const struct page_need *need =
                of ? need_of_placement(l, scope_of(m->ns)->binding, h, of, text_equal) : NULL;
        const struct object_list *bindings = need ? &need->fetch.result : NULL;
        size_t n = 0, unique = 0;

        *ret = (struct indices){ ARENA_NEW_ARRAY(l->arena, int64_t, (bindings ? bindings->n : 0) + 1), 0 };
        if (!of || !ret->at)
                return ERR_NO_MEMORY;
        for (size_t i = 0; bindings && i < bindings->n; i++) {
                const struct binding *b = (const struct binding *)bindings->at[i];
                int64_t index = b->spec ? index_in_name(or_empty(b->spec->resource_snapshot_name), m->name,
                                                        SUFFIX_RESOURCE_SNAPSHOT)
                                        : NO_INDEX;

                if (index != NO_INDEX)
                        ret->at[n++] = index;
        }
        qsort(ret->at, n, sizeof(*ret->at), by_number);
        for (size_t i = 0; i < n; i++)
                if (i == 0 || ret->at[i] != ret->at[i - 1])
                        ret->at[unique++] = ret->at[i];
        ret->n = unique;
        return 0;
}

/* Whether the revisions are to be looked into: the status says nothing of them. */
static bool must_ask(const struct holder *h, const struct indices *all)
{
        const struct placement_status *s = h->placement->status;
        int64_t told;

        if (all->n == 0)
                return false;
        return !h->sure || !s || !h->selects || all->n > 1 ||
               !text_parse_i64(or_empty(s->observed_resource_index), &told) || told != all->at[0];
}

static const char *snapshots_selector(struct arena *arena, const struct holder *h, const struct indices *all)
{
        AUTO_BUF struct buf b;

        buf_init(&b, 1u << 20);
        buf_printf(&b, LABEL_PARENT_PLACEMENT "=%s," LABEL_RESOURCE_INDEX " in (",
                   h->placement->object.meta.name);
        for (size_t i = 0; i < all->n; i++)
                buf_printf(&b, "%s%lld", i ? "," : "", (long long)all->at[i]);
        buf_append_str(&b, ")");
        return b.failed ? NULL : arena_strdup(arena, b.data);
}

int holder_needs(const struct page_look *l, const struct holder *h, struct page_needs *ret, struct error *err)
{
        const struct object_meta *m = &h->placement->object.meta;
        struct fetch revisions = {
                .kind = scope_of(m->ns)->resource_snapshot, .ns = m->ns, .whole = true, .names_only = true
        };
        struct indices all;

        TRY(page_placement_needs(l, &(struct page_placement){ m->name, m->ns }, true, ret, err));
        if (indices_of(l, h, &all) < 0)
                return error_no_memory(err);
        if (!must_ask(h, &all))
                return 0;
        revisions.selector = snapshots_selector(l->arena, h, &all);
        return revisions.selector ? page_needs_add(ret, revisions, err) : error_no_memory(err);
}

/* ---- what they have ---- */

static bool doc_is(const struct wanted *w, const json_t *doc)
{
        const char *version = or_empty(doc_get_string(doc, "apiVersion"));
        size_t group = strcspn(version, "/");

        if (version[group] == '\0')
                group = 0;
        return strlen(w->group) == group && strncmp(version, w->group, group) == 0 &&
               text_equal(or_empty(doc_get_string(doc, "kind")), w->kind) &&
               text_equal(or_empty(doc_get_string(doc, "metadata.name")), w->name) &&
               text_equal(or_empty(doc_get_string(doc, "metadata.namespace")), w->ns);
}

static int read_envelope(struct arena *arena, const struct wanted *w, const json_t *envelope,
                         struct held_revision *r)
{
        const char *ns = doc_get_string(envelope, "metadata.namespace"), *key;
        json_t *manifest;

        json_object_foreach(json_object_get(envelope, "data"), key, manifest) {
                if (r->has || !doc_is(w, manifest))
                        continue;
                r->has = true;
                r->envelope = arena_printf(arena, "%s%s%s", or_empty(ns), ns ? "/" : "",
                                           or_empty(doc_get_string(envelope, "metadata.name")));
                if (!r->envelope)
                        return ERR_NO_MEMORY;
        }
        return 0;
}

/* A name stands in the text as it is, unless it has what JSON escapes. */
static bool may_name(const struct wanted *w, struct slice text)
{
        return strpbrk(w->name, "\"\\") || memmem(text.data, text.len, w->name, strlen(w->name));
}

static int read_snapshot(struct arena *arena, const struct wanted *w, const struct resource_snapshot *s,
                         struct held_revision *r)
{
        for (uint32_t i = 0; s->spec && i < s->spec->selected_resources.n; i++) {
                AUTO_JSON json_t *doc = NULL;

                if ((r->has && !r->envelope) || !may_name(w, s->spec->selected_resources.at[i]))
                        continue;
                if (doc_parse(s->spec->selected_resources.at[i], &doc, NULL) == ERR_NO_MEMORY)
                        return ERR_NO_MEMORY;
                if (doc_is(w, doc))
                        r->has = true, r->envelope = NULL;
                else if (page_is_envelope(doc_get_string(doc, "kind")))
                        TRY(read_envelope(arena, w, doc, r));
        }
        return 0;
}

static struct held_revision *revision_at(struct holder *h, const char *revision)
{
        for (size_t i = 0; i < h->n; i++)
                if (text_equal(h->at[i].revision, revision))
                        return &h->at[i];
        return NULL;
}

const struct held_revision *holder_revision(const struct holder *h, const char *revision)
{
        for (size_t i = 0; i < h->n; i++)
                if (text_equal(h->at[i].revision, revision))
                        return &h->at[i];
        return NULL;
}

/* A revision may be several snapshots. */
static int add_snapshot(struct arena *arena, const struct wanted *w, const struct resource_snapshot *s,
                        struct holder *h)
{
        struct held_revision *r;
        const char *revision;
        int64_t index;

        if (label_number(&s->object, LABEL_RESOURCE_INDEX, &index, NULL) < 0)
                return 0;
        revision = number_text(arena, index);
        if (!revision)
                return ERR_NO_MEMORY;
        r = revision_at(h, revision);
        if (!r) {
                r = &h->at[h->n++];
                *r = (struct held_revision){ .revision = revision };
        }
        return read_snapshot(arena, w, s, r);
}

int holder_read_revisions(const struct page_look *l, const struct wanted *w, struct holder *h)
{
        const struct object_meta *m = &h->placement->object.meta;
        const char *of = arena_printf(l->arena, "%s=%s,", LABEL_PARENT_PLACEMENT, m->name);
        const struct page_need *need =
                of ? need_of_placement(l, scope_of(m->ns)->resource_snapshot, h, of, text_starts_with) : NULL;

        if (!of)
                return ERR_NO_MEMORY;
        if (!need || !need->filled)
                return 0;
        h->at = ARENA_NEW_ARRAY(l->arena, struct held_revision, need->fetch.result.n + 1);
        if (!h->at)
                return ERR_NO_MEMORY;
        h->revisions_known = true;
        for (size_t i = 0; i < need->fetch.result.n; i++)
                TRY(add_snapshot(l->arena, w, (const struct resource_snapshot *)need->fetch.result.at[i], h));
        for (size_t i = 0; i < h->n; i++) {
                h->selects = h->selects || (h->at[i].has && !h->at[i].envelope);
                h->envelope = h->envelope ? h->envelope : h->at[i].envelope;
        }
        return 0;
}

bool holder_holds(const struct holder *h)
{
        for (size_t i = 0; i < h->n; i++)
                if (h->at[i].has)
                        return true;
        return h->sure;
}
