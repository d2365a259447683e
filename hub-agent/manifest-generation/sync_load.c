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

void load_setup(struct generator_agent *a, const struct git_hash *commit, const struct checkout *c,
                bool changed, struct load_setup *ret)
{
        const struct generation_options *o = a->options;

        *ret = (struct load_setup){
                .generation = { .commands = &a->commands,
                                .cache = changed ? NULL : a->cache,
                                .commit = commit->hex,
                                .root = c->root,
                                .temporary = c->temporary,
                                .ours = o->environment },
                .rules = { .scope_of = scope_of, .ctx = a, .default_namespace = o->default_namespace }
        };
        ret->load = (struct load){ .tree = &c->tree,
                                   .generation = o->generation ? &ret->generation : NULL,
                                   .paths = a->paths,
                                   .n_paths = a->n_paths,
                                   .rules = &ret->rules,
                                   .loop = a->world->loop };
}

int sync_load_checkout(struct generator_agent *a, const struct git_hash *commit, const struct checkout *c,
                       bool changed, struct arena *arena, struct loaded *ret, struct error *err)
{
        struct load_setup setup;

        load_setup(a, commit, c, changed, &setup);
        return load_known(a, &setup.load, arena, ret, err) < 0
                       ? error_wrap(err, "loading resources from repo")
                       : 0;
}

int sync_load(struct generator_agent *a, const struct git_hash *commit, struct arena *arena,
              struct loaded *ret, struct error *err)
{
        const struct repository *r = &a->options->repository;
        struct checkout c = { 0 };
        int code = r->ops->checkout(r->ctx, commit, arena, &c, err);

        if (code == 0)
                code = sync_load_checkout(a, commit, &c, false, arena, ret, err);
        r->ops->discard(r->ctx, &c);
        return code;
}
