/* Discovery and kind-to-resource mapping. Aggregated discovery (two requests) where the server has it, the
 * legacy documents (one per group version) where it does not. The whole table is built beside the old one and
 * swapped in. */
#include "common/kube/mapping.h"

#include "common/base/intern.h"
#include "common/base/memory.h"
#include "common/base/vec.h"

#define REFRESH_INTERVAL_MS 1000
#define ACCEPT_AGGREGATED                                                                                    \
        "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,"                              \
        "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,application/json"

/* One group version that the server listed but could not tell of. */
struct doubt {
        const char *group, *version;
};

/* Texts are in the mapper's intern table: what was handed out stays valid when a table is replaced, and a
 * kind that comes and goes costs its names once. */
struct table {
        VEC(struct kube_mapped) all;
        VEC(struct doubt) doubts;
        uint64_t hash;
};

struct kube_mapper {
        struct kube_client *kube;
        struct intern_table *names;
        struct table *table;
        int64_t next_refresh_ms;
};

static struct table *table_free(struct table *t)
{
        if (t) {
                vec_free(&t->all);
                vec_free(&t->doubts);
                mem_free(t);
        }
        return NULL;
}

struct kube_mapper *kube_mapper_new(struct kube_client *k)
{
        struct kube_mapper *m = NEW(struct kube_mapper);

        if (!m)
                return NULL;
        m->kube = k;
        m->names = intern_table_new();
        return m->names ? m : kube_mapper_free(m);
}

struct kube_mapper *kube_mapper_free(struct kube_mapper *m)
{
        if (!m)
                return NULL;
        table_free(m->table);
        intern_table_free(m->names);
        mem_free(m);
        return NULL;
}

/* ---- building a table ---- */

struct building {
        struct kube_mapper *mapper;
        struct table *table;
        struct error *err;
};

static const char *keep(struct building *b, const char *s)
{
        return s ? intern(b->mapper->names, s, strlen(s)) : "";
}

static bool has_verb(const json_t *verbs, const char *verb)
{
        json_t *v;
        size_t i;

        json_array_foreach(verbs, i, v)
                if (text_equal(json_string_value(v), verb))
                        return true;
        return false;
}

struct resource_names {
        const char *group, *version, *plural, *kind;
        bool namespaced;
        unsigned rank;
        const json_t *verbs;
};

static int add_resource(struct building *b, const struct resource_names *n)
{
        struct kube_mapped m = { .rank = n->rank,
                                 .listable = has_verb(n->verbs, "list"),
                                 .watchable = has_verb(n->verbs, "watch") };

        if (text_empty(n->plural) || text_empty(n->kind) || strchr(n->plural, '/'))
                return 0; /* a subresource */
        m.resource = (struct kube_resource){ keep(b, n->group), keep(b, n->version), keep(b, n->plural),
                                             keep(b, n->kind), n->namespaced };
        if (!m.resource.group || !m.resource.version || !m.resource.plural || !m.resource.kind ||
            vec_push(&b->table->all, m) < 0)
                return error_no_memory(b->err);
        return 0;
}

static int add_doubt(struct building *b, const char *group, const char *version)
{
        struct doubt d = { keep(b, group), keep(b, version) };

        if (!d.group || !d.version || vec_push(&b->table->doubts, d) < 0)
                return error_no_memory(b->err);
        return 0;
}

static int add_aggregated_version(struct building *b, const char *group, const json_t *version, unsigned rank)
{
        json_t *resources = doc_get_array(version, "resources"), *r;
        const char *name = doc_get_string(version, "version");
        size_t i;

        if (!name)
                return error_set(b->err, ERR_INVALID, "discovery: group \"%s\": a version has no name",
                                 group);
        json_array_foreach(resources, i, r) {
                const char *scope = doc_get_string(r, "scope");
                struct resource_names n = { .group = group,
                                            .version = name,
                                            .plural = doc_get_string(r, "resource"),
                                            .kind = doc_get_string(r, "responseKind.kind"),
                                            .namespaced = text_equal(scope, "Namespaced"),
                                            .rank = rank,
                                            .verbs = doc_get_array(r, "verbs") };

                TRY(add_resource(b, &n));
        }
        return text_equal(doc_get_string(version, "freshness"), "Stale") ? add_doubt(b, group, name) : 0;
}

static int add_aggregated(struct building *b, const json_t *list)
{
        json_t *groups = doc_get_array(list, "items"), *g, *v;
        size_t i, k;

        json_array_foreach(groups, i, g) {
                const char *name = doc_get_string(g, "metadata.name"), *group = name ? name : "";

                json_array_foreach(doc_get_array(g, "versions"), k, v)
                        TRY(add_aggregated_version(b, group, v, (unsigned)k));
        }
        return 0;
}

static int get_doc(struct building *b, const char *path, const char *accept, json_t **ret)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct http_response r;

        TRY(kube_raw_accept(b->mapper->kube, "GET", path, accept, &arena, &r, b->err));
        TRY_WRAP(doc_parse(r.body, ret, b->err), b->err, "discovery: %s", path);
        return 0;
}

static int add_legacy_version(struct building *b, const char *path, const char *group, const char *version,
                              unsigned rank)
{
        AUTO_JSON json_t *doc = NULL;
        json_t *r;
        size_t i;

        TRY(get_doc(b, path, NULL, &doc));
        json_array_foreach(doc_get_array(doc, "resources"), i, r) {
                struct resource_names n = { .group = group,
                                            .version = version,
                                            .plural = doc_get_string(r, "name"),
                                            .kind = doc_get_string(r, "kind"),
                                            .namespaced = doc_get_bool(r, "namespaced", false),
                                            .rank = rank,
                                            .verbs = doc_get_array(r, "verbs") };

                TRY(add_resource(b, &n));
        }
        return 0;
}

/* An answer that is about this one group version (an aggregated API that is down or answers nonsense) does
 * not stop the rest; no answer at all, or a credential that is refused, is about all of them. */
static bool is_of_one_version(const struct error *err)
{
        return err->code == ERR_INVALID || err->code == ERR_LIMIT ||
               (err->http_status >= 400 && err->code != ERR_UNAUTHORIZED);
}

static int add_legacy_or_doubt(struct building *b, const char *group, const char *version, unsigned rank)
{
        AUTO_FREE char *path = mem_printf("/apis/%s/%s", group, version);
        int code;

        if (!path)
                return error_no_memory(b->err);
        code = add_legacy_version(b, path, group, version, rank);
        if (code >= 0 || !is_of_one_version(b->err))
                return code;
        error_clear(b->err);
        return add_doubt(b, group, version);
}

static int add_legacy_group(struct building *b, const json_t *g)
{
        const char *group = doc_get_string(g, "name");
        const char *preferred = doc_get_string(g, "preferredVersion.version");
        json_t *v;
        size_t i;

        json_array_foreach(doc_get_array(g, "versions"), i, v) {
                const char *version = doc_get_string(v, "version");

                if (!group || !version)
                        return error_set(b->err, ERR_INVALID,
                                         "discovery: /apis lists a group or version without a name");
                TRY(add_legacy_or_doubt(b, group, version,
                                        text_equal(version, preferred) ? 0 : (unsigned)i + 1));
        }
        return 0;
}

/* /api and /apis, each answering in aggregated or in legacy form. */
static int read_discovery(struct building *b)
{
        AUTO_JSON json_t *core = NULL;
        AUTO_JSON json_t *groups = NULL;
        json_t *g;
        size_t i;

        TRY(get_doc(b, "/api", ACCEPT_AGGREGATED, &core));
        if (text_equal(doc_get_string(core, "kind"), "APIGroupDiscoveryList"))
                TRY(add_aggregated(b, core));
        else
                TRY(add_legacy_version(b, "/api/v1", "", "v1", 0));
        TRY(get_doc(b, "/apis", ACCEPT_AGGREGATED, &groups));
        if (text_equal(doc_get_string(groups, "kind"), "APIGroupDiscoveryList"))
                return add_aggregated(b, groups);
        json_array_foreach(doc_get_array(groups, "groups"), i, g)
                TRY(add_legacy_group(b, g));
        return 0;
}

/* ---- what was known of versions in doubt ---- */

static const struct doubt *find_doubt(const struct table *t, const char *group, const char *version)
{
        vec_for_each(&t->doubts, d)
                if (text_equal(d->group, group) && (!version || text_equal(d->version, version)))
                        return d;
        return NULL;
}

static bool lists(const struct table *t, size_t n, const struct kube_resource *r)
{
        for (size_t i = 0; i < n; i++) {
                const struct kube_resource *have = &t->all.at[i].resource;

                if (text_equal(have->plural, r->plural) && text_equal(have->group, r->group) &&
                    text_equal(have->version, r->version))
                        return true;
        }
        return false;
}

static int carry_over(struct building *b)
{
        struct table *t = b->table;
        const struct table *old = b->mapper->table;
        size_t listed = t->all.n;

        if (t->doubts.n == 0)
                return 0;
        vec_for_each(&t->all, m)
                m->stale = find_doubt(t, m->resource.group, m->resource.version) != NULL;
        for (size_t i = 0; old && i < old->all.n; i++) {
                struct kube_mapped m = old->all.at[i];

                if (!find_doubt(t, m.resource.group, m.resource.version) || lists(t, listed, &m.resource))
                        continue;
                m.stale = true;
                if (vec_push(&t->all, m) < 0)
                        return error_no_memory(b->err);
        }
        return 0;
}

/* ---- order and preference ---- */

static int compare_mapped(const void *a, const void *b)
{
        const struct kube_mapped *x = a, *y = b;
        int r = strcmp(x->resource.group, y->resource.group);

        if (r == 0)
                r = strcmp(x->resource.plural, y->resource.plural);
        if (r == 0 && x->rank != y->rank)
                return x->rank < y->rank ? -1 : 1;
        return r ? r : strcmp(x->resource.version, y->resource.version);
}

static void mark_preferred(struct table *t)
{
        if (t->all.n > 1)
                qsort(t->all.at, t->all.n, sizeof(*t->all.at), compare_mapped);
        for (size_t i = 0; i < t->all.n; i++) {
                struct kube_mapped *m = &t->all.at[i];

                m->preferred_version = i == 0 || !text_equal(m[-1].resource.plural, m->resource.plural) ||
                                       !text_equal(m[-1].resource.group, m->resource.group);
        }
}

static uint64_t hash_table(const struct table *t)
{
        uint64_t h = 0;

        vec_for_each(&t->all, m) {
                const struct kube_resource *r = &m->resource;
                const char *const texts[] = { r->group, r->version, r->plural, r->kind };

                for (size_t i = 0; i < ARRAY_LEN(texts); i++)
                        h = hash_bytes(texts[i], strlen(texts[i]) + 1, h);
                h = h * 31 + r->namespaced + 2 * m->preferred_version + 4 * m->listable + 8 * m->watchable;
        }
        return h;
}

int kube_mapper_refresh(struct kube_mapper *m, bool *ret_changed, struct error *err)
{
        struct building b = { m, NEW(struct table), err };
        struct error own = { 0 };
        int r;

        if (!b.table)
                return error_no_memory(err);
        if (!err)
                b.err = &own;
        r = read_discovery(&b);
        if (r == 0)
                r = carry_over(&b);
        if (r < 0) {
                table_free(b.table);
                return error_wrap(b.err, "discovery"), r;
        }
        mark_preferred(b.table);
        b.table->hash = hash_table(b.table);
        m->next_refresh_ms = loop_now_ms(m->kube->world->loop) + REFRESH_INTERVAL_MS;
        if (ret_changed)
                *ret_changed = !m->table || m->table->hash != b.table->hash;
        table_free(m->table);
        m->table = b.table;
        return 0;
}

/* ---- look-ups ---- */

static const struct kube_mapped *find_kind(const struct table *t, const char *group, const char *version,
                                           const char *kind)
{
        if (!t)
                return NULL;
        vec_for_each(&t->all, m) {
                if (!text_equal(m->resource.group, group) || !text_equal(m->resource.kind, kind))
                        continue;
                if (text_empty(version) ? m->preferred_version : text_equal(m->resource.version, version))
                        return m;
        }
        return NULL;
}

int kube_mapper_kind(struct kube_mapper *m, const char *group, const char *version, const char *kind,
                     struct kube_mapped *ret, struct error *err)
{
        const struct kube_mapped *found = find_kind(m->table, group, version, kind);

        if (!found && (!m->table || loop_now_ms(m->kube->world->loop) >= m->next_refresh_ms)) {
                TRY(kube_mapper_refresh(m, NULL, err));
                found = find_kind(m->table, group, version, kind);
        }
        if (!found)
                return error_set(err, ERR_NOT_FOUND, "no kind \"%s\" is served in group \"%s\"%s%s%s", kind,
                                 group, text_empty(version) ? "" : ", version \"",
                                 text_empty(version) ? "" : version, text_empty(version) ? "" : "\"");
        *ret = *found;
        return 0;
}

enum kube_scope kube_mapper_scope(const struct kube_mapper *m, const char *group, const char *kind)
{
        const struct table *t = m->table;

        for (size_t i = 0; t && i < t->all.n; i++) {
                const struct kube_resource *r = &t->all.at[i].resource;

                if (text_equal(r->kind, kind) && text_equal(r->group, group))
                        return r->namespaced ? KUBE_SCOPE_NAMESPACED : KUBE_SCOPE_CLUSTER;
        }
        return KUBE_SCOPE_UNKNOWN;
}

bool kube_mapper_doubts(const struct kube_mapper *m, const char *group)
{
        return !m->table || find_doubt(m->table, group, NULL);
}

int kube_mapper_api_version(struct kube_mapper *m, const char *api_version, const char *kind,
                            struct kube_mapped *ret, struct error *err)
{
        const char *slash = strchr(api_version, '/');
        char group[256] = "";

        if (slash) {
                if ((size_t)(slash - api_version) >= sizeof(group))
                        return error_set(err, ERR_INVALID, "apiVersion: group is longer than 253 characters");
                memcpy(group, api_version, (size_t)(slash - api_version));
                group[slash - api_version] = '\0';
        }
        return kube_mapper_kind(m, group, slash ? slash + 1 : api_version, kind, ret, err);
}

const struct kube_mapped *kube_mapper_all(struct kube_mapper *m, size_t *ret_n)
{
        *ret_n = m->table ? m->table->all.n : 0;
        return m->table ? m->table->all.at : NULL;
}
