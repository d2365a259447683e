/* Discovery and kind-to-resource mapping. Aggregated discovery (two requests) where the server has it, the
 * legacy documents (one per group version) where it does not. The whole table is built beside the old one and
 * swapped in. */
#include "common/kube/mapping.h"

#include "common/base/map.h"
#include "common/base/memory.h"
#include "common/base/vec.h"

#define REFRESH_INTERVAL_MS 1000
#define ACCEPT_AGGREGATED                                                                                    \
        "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,"                              \
        "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,application/json"

struct table {
        struct arena arena;
        VEC(struct kube_mapped) all;
        uint64_t hash;
};

struct kube_mapper {
        struct kube_client *kube;
        struct table *table;
        int64_t next_refresh_ms;
        /* Tables that were handed out may still be borrowed: "strings live as long as the mapper". A table is
         * kept only when its content differs from its successor's. */
        VEC(struct table *) retired;
};

static struct table *table_free(struct table *t)
{
        if (t) {
                vec_free(&t->all);
                arena_free(&t->arena);
                mem_free(t);
        }
        return NULL;
}

struct kube_mapper *kube_mapper_new(struct kube_client *k)
{
        struct kube_mapper *m = NEW(struct kube_mapper);

        if (m)
                m->kube = k;
        return m;
}

struct kube_mapper *kube_mapper_free(struct kube_mapper *m)
{
        if (!m)
                return NULL;
        vec_for_each(&m->retired, t)
                table_free(*t);
        vec_free(&m->retired);
        table_free(m->table);
        mem_free(m);
        return NULL;
}

/* ---- building a table ---- */

static const char *const *copy_verbs(struct arena *a, const json_t *verbs)
{
        size_t n = json_array_size(verbs), i;
        const char **at = ARENA_NEW_ARRAY(a, const char *, n + 1);
        json_t *verb;

        if (!at)
                return NULL;
        json_array_foreach(verbs, i, verb) {
                at[i] = arena_strdup(a, json_is_string(verb) ? json_string_value(verb) : "");
                if (!at[i])
                        return NULL;
        }
        return at;
}

static bool has_verb(const char *const *verbs, const char *verb)
{
        for (; *verbs; verbs++)
                if (text_equal(*verbs, verb))
                        return true;
        return false;
}

struct resource_names {
        const char *group, *version, *plural, *kind;
        bool namespaced, preferred;
        const json_t *verbs;
};

static int add_resource(struct table *t, const struct resource_names *n, struct error *err)
{
        struct arena *a = &t->arena;
        struct kube_mapped m = { .preferred_version = n->preferred };

        if (text_empty(n->plural) || text_empty(n->kind) || strchr(n->plural, '/'))
                return 0; /* a subresource */
        m.resource =
                (struct kube_resource){ arena_strdup(a, n->group), arena_strdup(a, n->version),
                                        arena_strdup(a, n->plural), arena_strdup(a, n->kind), n->namespaced };
        m.verbs = copy_verbs(a, n->verbs);
        if (!m.resource.group || !m.resource.version || !m.resource.plural || !m.resource.kind || !m.verbs)
                return error_no_memory(err);
        m.listable = has_verb(m.verbs, "list");
        m.watchable = has_verb(m.verbs, "watch");
        return vec_push(&t->all, m) < 0 ? error_no_memory(err) : 0;
}

static int add_aggregated_version(struct table *t, const char *group, const json_t *version, bool preferred,
                                  struct error *err)
{
        json_t *resources = doc_get_array(version, "resources"), *r;
        size_t i;

        json_array_foreach(resources, i, r) {
                const char *scope = doc_get_string(r, "scope");
                struct resource_names n = { .group = group,
                                            .version = doc_get_string(version, "version"),
                                            .plural = doc_get_string(r, "resource"),
                                            .kind = doc_get_string(r, "responseKind.kind"),
                                            .namespaced = text_equal(scope, "Namespaced"),
                                            .preferred = preferred,
                                            .verbs = doc_get_array(r, "verbs") };

                if (!n.version)
                        return error_set(err, ERR_INVALID, "discovery: group \"%s\": a version has no name",
                                         group);
                TRY(add_resource(t, &n, err));
        }
        return 0;
}

static int add_aggregated(struct table *t, const json_t *list, struct error *err)
{
        json_t *groups = doc_get_array(list, "items"), *g, *v;
        size_t i, k;

        json_array_foreach(groups, i, g) {
                const char *group = doc_get_string(g, "metadata.name");

                json_array_foreach(doc_get_array(g, "versions"), k, v)
                        TRY(add_aggregated_version(t, group ? group : "", v, k == 0, err));
        }
        return 0;
}

static int get_doc(struct kube_mapper *m, const char *path, const char *accept, json_t **ret,
                   struct error *err)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct http_response r;

        TRY(kube_raw_accept(m->kube, "GET", path, accept, &arena, &r, err));
        if (doc_parse(r.body, ret, err) < 0)
                return error_wrap(err, "discovery: %s", path);
        return 0;
}

static int add_legacy_version(struct kube_mapper *m, struct table *t, const char *path, const char *group,
                              const char *version, bool preferred, struct error *err)
{
        AUTO_JSON json_t *doc = NULL;
        json_t *r;
        size_t i;

        TRY(get_doc(m, path, NULL, &doc, err));
        json_array_foreach(doc_get_array(doc, "resources"), i, r) {
                struct resource_names n = { .group = group,
                                            .version = version,
                                            .plural = doc_get_string(r, "name"),
                                            .kind = doc_get_string(r, "kind"),
                                            .namespaced = doc_get_bool(r, "namespaced", false),
                                            .preferred = preferred,
                                            .verbs = doc_get_array(r, "verbs") };

                TRY(add_resource(t, &n, err));
        }
        return 0;
}

static int add_legacy_group(struct kube_mapper *m, struct table *t, const json_t *g, struct error *err)
{
        const char *group = doc_get_string(g, "name");
        const char *preferred = doc_get_string(g, "preferredVersion.version");
        json_t *v;
        size_t i;

        json_array_foreach(doc_get_array(g, "versions"), i, v) {
                const char *version = doc_get_string(v, "version");
                AUTO_FREE char *path = mem_printf("/apis/%s/%s", group ? group : "", version ? version : "");

                if (!path)
                        return error_no_memory(err);
                if (!group || !version)
                        return error_set(err, ERR_INVALID,
                                         "discovery: /apis lists a group or version without a name");
                TRY(add_legacy_version(m, t, path, group, version, text_equal(version, preferred), err));
        }
        return 0;
}

/* /api and /apis, each answering in aggregated or in legacy form. */
static int read_discovery(struct kube_mapper *m, struct table *t, struct error *err)
{
        AUTO_JSON json_t *core = NULL;
        AUTO_JSON json_t *groups = NULL;
        json_t *g;
        size_t i;

        TRY(get_doc(m, "/api", ACCEPT_AGGREGATED, &core, err));
        if (text_equal(doc_get_string(core, "kind"), "APIGroupDiscoveryList"))
                TRY(add_aggregated(t, core, err));
        else
                TRY(add_legacy_version(m, t, "/api/v1", "", "v1", true, err));
        TRY(get_doc(m, "/apis", ACCEPT_AGGREGATED, &groups, err));
        if (text_equal(doc_get_string(groups, "kind"), "APIGroupDiscoveryList"))
                return add_aggregated(t, groups, err);
        json_array_foreach(doc_get_array(groups, "groups"), i, g)
                TRY(add_legacy_group(m, t, g, err));
        return 0;
}

static int compare_mapped(const void *a, const void *b)
{
        const struct kube_resource *x = &((const struct kube_mapped *)a)->resource;
        const struct kube_resource *y = &((const struct kube_mapped *)b)->resource;
        int r = strcmp(x->group, y->group);

        if (r == 0)
                r = strcmp(x->plural, y->plural);
        return r ? r : strcmp(x->version, y->version);
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
        struct table *t = NEW(struct table);
        int r;

        if (!t)
                return error_no_memory(err);
        r = read_discovery(m, t, err);
        if (r < 0) {
                table_free(t);
                return error_wrap(err, "discovery");
        }
        if (t->all.n > 1)
                qsort(t->all.at, t->all.n, sizeof(*t->all.at), compare_mapped);
        t->hash = hash_table(t);
        m->next_refresh_ms = loop_now_ms(m->kube->world->loop) + REFRESH_INTERVAL_MS;
        if (ret_changed)
                *ret_changed = !m->table || m->table->hash != t->hash;
        if (m->table && m->table->hash == t->hash) {
                table_free(t); /* pointers that were handed out stay valid */
                return 0;
        }
        if (m->table && vec_push(&m->retired, m->table) < 0) {
                table_free(t);
                return error_no_memory(err);
        }
        m->table = t;
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
