/* From a commit to the objects of a sync. */
#include "hub-agent/manifest-generation/generation_agent.h"

static enum resource_scope scope_of(void *ctx, const char *api_version, const char *kind,
                                    const char **ret_why)
{
        const struct generator_agent *a = ctx;
        const char *slash = strchr(api_version, '/');
        char group[256] = "";

        if (slash && (size_t)(slash - api_version) < sizeof(group))
                memcpy(group, api_version, (size_t)(slash - api_version));
        switch (kube_mapper_scope(a->mapper, group, kind)) {
        case KUBE_SCOPE_CLUSTER:
                return SCOPE_CLUSTER;
        case KUBE_SCOPE_NAMESPACED:
                return SCOPE_NAMESPACED;
        case KUBE_SCOPE_UNKNOWN:
                break;
        }
        *ret_why = "the hub does not serve the kind";
        return SCOPE_UNKNOWN;
}

/* Kinds that nobody knew may be served by now. */
static int load_known(struct generator_agent *a, const struct load *l, struct arena *arena,
                      struct loaded *ret, struct error *err)
{
        bool changed = false;

        *ret = (struct loaded){ 0 };
        TRY(load_all(arena, l, ret, err));
        if (ret->n_unknown == 0)
                return 0;
        TRY(kube_mapper_refresh(a->mapper, &changed, err));
        if (!changed)
                return 0;
        *ret = (struct loaded){ 0 };
        return load_all(arena, l, ret, err);
}

static int load_from(struct generator_agent *a, const struct git_hash *commit, const struct checkout *c,
                     struct generator_cache *cache, struct arena *arena, struct loaded *ret,
                     struct error *err)
{
        const struct generation_options *o = a->options;
        struct generation g = { .commands = &a->commands,
                                .cache = cache,
                                .commit = commit->hex,
                                .root = c->root,
                                .temporary = c->temporary,
                                .ours = o->environment };
        const struct resource_rules rules = { .scope_of = scope_of,
                                              .ctx = a,
                                              .default_namespace = o->default_namespace };
        const struct load l = { .tree = &c->tree,
                                .generation = o->generation ? &g : NULL,
                                .paths = a->paths,
                                .n_paths = a->n_paths,
                                .rules = &rules };

        return load_known(a, &l, arena, ret, err);
}

int sync_load(struct generator_agent *a, const struct git_hash *commit, const struct checkout *checkout,
              struct arena *arena, struct loaded *ret, struct error *err)
{
        const struct repository *r = &a->options->repository;
        struct checkout own = { 0 };
        int code;

        if (checkout)
                code = load_from(a, commit, checkout, NULL, arena, ret, err);
        else
                code = r->ops->checkout(r->ctx, commit, arena, &own, err);
        if (code == 0 && !checkout)
                code = load_from(a, commit, &own, a->cache, arena, ret, err);
        r->ops->discard(r->ctx, &own);
        return code < 0 ? error_wrap(err, "loading resources from repo") : 0;
}
