#include "e2e/devcluster/registry.h"

#include "e2e/devcluster/crd.h"
#include "e2e/devcluster/internal.h"

const struct resource_version *resource_find_version(const struct resource *r, const char *version)
{
        for (size_t i = 0; i < r->n_versions; i++)
                if (r->versions[i].served && text_equal(r->versions[i].version, version))
                        return &r->versions[i];
        return NULL;
}

const struct resource_version *resource_storage_version(const struct resource *r)
{
        for (size_t i = 0; i < r->n_versions; i++)
                if (r->versions[i].storage)
                        return &r->versions[i];
        return &r->versions[0];
}

bool resource_has_status(const struct resource *r, const struct resource_version *v)
{
        return (r->custom ? v->flags : r->flags) & RESOURCE_STATUS;
}

bool resource_has_scale(const struct resource *r, const struct resource_version *v)
{
        return (r->custom ? v->flags : r->flags) & RESOURCE_SCALE;
}

const char *resource_api_version(const struct resource *r, const struct resource_version *v,
                                 struct arena *arena)
{
        if (*r->group == '\0')
                return v->version;
        const char *s = arena_printf(arena, "%s/%s", r->group, v->version);
        return s ? s : "";
}

const char *resource_qualified(const struct resource *r, struct arena *arena)
{
        if (*r->group == '\0')
                return r->plural;
        const char *s = arena_printf(arena, "%s.%s", r->plural, r->group);
        return s ? s : r->plural;
}

const struct schema *builtin_schema(struct devcluster *d, const struct resource *r,
                                    const struct resource_version *v)
{
        const struct schema *s = NULL;
        if (builtin_types_kind(d->types, r->group, v->version, r->kind, &s, NULL) < 0)
                return NULL;
        return s;
}

const struct schema *resource_schema(struct devcluster *d, const struct resource *r,
                                     const struct resource_version *v)
{
        return r->custom ? v->schema : builtin_schema(d, r, v);
}

/* Of the many built-in names most differ in their first letter: no call for these. */
static bool is_same(const char *a, const char *b)
{
        return *a == *b && strcmp(a, b) == 0;
}

const struct resource *registry_find_key(struct cluster *c, const char *table_key)
{
        for (size_t i = 0; i < n_builtin_resources; i++)
                if (is_same(builtin_resources[i].table_key, table_key))
                        return &builtin_resources[i];
        struct custom_resource *custom = map_get(&c->custom, table_key);
        return custom ? &custom->resource : NULL;
}

const struct resource *registry_find(struct cluster *c, const char *group, const char *version,
                                     const char *plural, const struct resource_version **ret_version)
{
        char key[600];
        int n = snprintf(key, sizeof(key), "%s/%s", group, plural);
        if (n < 0 || (size_t)n >= sizeof(key))
                return NULL;
        const struct resource *r = registry_find_key(c, key);
        const struct resource_version *v = r ? resource_find_version(r, version) : NULL;
        if (!v)
                return NULL;
        *ret_version = v;
        return r;
}

static bool is_kind(const struct resource *r, const char *group, const char *version, const char *kind)
{
        return is_same(r->kind, kind) && strcmp(r->group, group) == 0 && !(r->flags & RESOURCE_VIRTUAL) &&
               (!version || resource_find_version(r, version));
}

const struct resource *registry_find_kind(struct cluster *c, const char *group, const char *version,
                                          const char *kind)
{
        for (size_t i = 0; i < n_builtin_resources; i++)
                if (is_kind(&builtin_resources[i], group, version, kind))
                        return &builtin_resources[i];
        map_for_each(&c->custom, e) {
                struct custom_resource *custom = e->value;
                if (is_kind(&custom->resource, group, version, kind))
                        return &custom->resource;
        }
        return NULL;
}

int registry_all(struct cluster *c, struct arena *arena, const struct resource *const **ret, size_t *ret_n)
{
        size_t n_custom = 0;
        AUTO_FREE const char **keys = map_sorted_keys(&c->custom, &n_custom);
        const struct resource **all =
                ARENA_NEW_ARRAY(arena, const struct resource *, n_builtin_resources + n_custom);
        if ((!keys && n_custom) || !all)
                return ERR_NO_MEMORY;
        size_t n = 0;
        for (size_t i = 0; i < n_builtin_resources; i++)
                all[n++] = &builtin_resources[i];
        for (size_t i = 0; i < n_custom; i++)
                all[n++] = &((struct custom_resource *)map_get(&c->custom, keys[i]))->resource;
        *ret = all;
        *ret_n = n;
        return 0;
}

/* ---- versions and groups ---- */

struct parsed_version {
        int64_t major, minor;
        int stage; /* 2 stable, 1 beta, 0 alpha, -1 not of Kubernetes' form */
};

static bool digits(struct slice *s, int64_t *ret)
{
        size_t n = 0;
        while (n < s->len && s->data[n] >= '0' && s->data[n] <= '9')
                n++;
        if (!slice_parse_i64((struct slice){ s->data, n }, ret))
                return false;
        *s = (struct slice){ s->data + n, s->len - n };
        return true;
}

static struct parsed_version parse_version(const char *text)
{
        static const struct parsed_version other = { .stage = -1 };
        struct parsed_version v = { .stage = 2 };
        struct slice s = slice_of(text);
        if (!slice_starts_with(s, "v"))
                return other;
        s = (struct slice){ s.data + 1, s.len - 1 };
        if (!digits(&s, &v.major))
                return other;
        if (s.len == 0)
                return v;
        bool beta = slice_starts_with(s, "beta"), alpha = slice_starts_with(s, "alpha");
        if (!beta && !alpha)
                return other;
        v.stage = beta ? 1 : 0;
        s = (struct slice){ s.data + (beta ? 4 : 5), s.len - (beta ? 4 : 5) };
        return digits(&s, &v.minor) && s.len == 0 ? v : other;
}

int version_compare(const char *a, const char *b)
{
        struct parsed_version x = parse_version(a), y = parse_version(b);
        if (x.stage != y.stage)
                return y.stage - x.stage;
        if (x.stage < 0)
                return strcmp(a, b);
        if (x.major != y.major)
                return x.major < y.major ? 1 : -1;
        return x.minor == y.minor ? 0 : x.minor < y.minor ? 1 : -1;
}

static struct api_group *group_for(struct arena *arena, struct api_group *groups, size_t *n, const char *name)
{
        for (size_t i = 0; i < *n; i++)
                if (strcmp(groups[i].name, name) == 0)
                        return &groups[i];
        struct api_group *g = &groups[(*n)++];
        g->name = name;
        g->versions = ARENA_NEW_ARRAY(arena, const char *, 32);
        return g->versions ? g : NULL;
}

#define GROUP_VERSIONS_MAX 32

static void add_version(struct api_group *g, const char *version)
{
        size_t at = 0;
        while (at < g->n_versions && version_compare(g->versions[at], version) < 0)
                at++;
        if ((at < g->n_versions && strcmp(g->versions[at], version) == 0) ||
            g->n_versions == GROUP_VERSIONS_MAX)
                return;
        memmove(&g->versions[at + 1], &g->versions[at], (g->n_versions - at) * sizeof(char *));
        g->versions[at] = version;
        g->n_versions++;
}

int registry_groups(struct cluster *c, struct arena *arena, struct api_group **ret, size_t *ret_n)
{
        const struct resource *const *all;
        size_t n_all, n = 0;
        TRY(registry_all(c, arena, &all, &n_all));
        struct api_group *groups = ARENA_NEW_ARRAY(arena, struct api_group, n_all);
        if (!groups)
                return ERR_NO_MEMORY;
        for (size_t i = 0; i < n_all; i++) {
                struct api_group *g = group_for(arena, groups, &n, all[i]->group);
                if (!g)
                        return ERR_NO_MEMORY;
                for (size_t k = 0; k < all[i]->n_versions && g->n_versions < GROUP_VERSIONS_MAX; k++)
                        if (all[i]->versions[k].served)
                                add_version(g, all[i]->versions[k].version);
        }
        *ret = groups;
        *ret_n = n;
        return 0;
}
