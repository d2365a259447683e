#include "hub-agent/input-provider/source.h"

#include "common/base/memory.h"
#include "hub-agent/input-provider/sources.h"

static const struct source_type {
        const char *name;
        int (*collect)(struct source *s, enum listing_of what, struct error *err);
        enum listing_of what;
        bool git;
        const char *list, *could; /* "failed to list LIST: could not list COULD" */
} types[] = {
        { "GitHubBranch", github_collect, LIST_BRANCHES, true, "branches", "branches" },
        { "GitHubTag", github_collect, LIST_TAGS, true, "tags", "tags" },
        { "GitHubPullRequest", github_collect, LIST_REQUESTS, true, "requests", "pull requests" },
        { "GitLabBranch", gitlab_collect, LIST_BRANCHES, true, "branches", "branches" },
        { "GitLabTag", gitlab_collect, LIST_TAGS, true, "tags", "tags" },
        { "GitLabMergeRequest", gitlab_collect, LIST_REQUESTS, true, "requests", "merge requests" },
        { "GitLabEnvironment", gitlab_collect_environments, LIST_BRANCHES, true, "environments",
          "environments" },
        { "GiteaBranch", gitea_collect, LIST_BRANCHES, true, "branches", "branches" },
        { "GiteaTag", gitea_collect, LIST_TAGS, true, "tags", "tags" },
        { "GiteaPullRequest", gitea_collect, LIST_REQUESTS, true, "requests", "pull requests" },
        { "AzureDevOpsBranch", azure_devops_collect, LIST_BRANCHES, true, "branches", "branches" },
        { "AzureDevOpsTag", azure_devops_collect, LIST_TAGS, true, "tags", "tags" },
        { "AzureDevOpsPullRequest", azure_devops_collect, LIST_REQUESTS, true, "requests", "pull requests" },
        { "OCIArtifactTag", oci_collect, LIST_TAGS },
        { "ExternalService", external_service_collect },
};

static const struct source_type *find_type(const char *name)
{
        for (size_t i = 0; i < ARRAY_LEN(types); i++)
                if (text_equal(types[i].name, name))
                        return &types[i];
        return NULL;
}

bool source_is_supported(const char *type)
{
        return find_type(type) != NULL;
}

bool source_is_git(const char *type)
{
        const struct source_type *t = find_type(type);

        return t && t->git;
}

/* Which part of the way failed, in the words of spec/resource-set.md 19. */
static int explain(const struct source_type *t, int code, struct error *err)
{
        if (code == ERR_INVALID && err && text_equal(err->reason, SOURCE_REASON_NOT_MADE))
                return error_wrap(err, "failed to create Git provider"), code;
        if (t->git)
                error_wrap(err, "failed to call Git provider: failed to list %s: could not list %s", t->list,
                           t->could);
        else
                error_wrap(err, "failed to call %s provider",
                           t->collect == oci_collect ? "OCI" : "ExternalService");
        return code;
}

int source_collect(struct source *s, struct error *err)
{
        const struct source_type *t = find_type(s->type);

        if (!t)
                return error_set(err, ERR_UNSUPPORTED, "unsupported type: %s", s->type);
        int code = t->collect(s, t->what, err);

        return code < 0 && code != ERR_CANCELLED ? explain(t, code, err) : code;
}

void source_free(struct source *s)
{
        vec_free(&s->refs);
        json_decref(s->sets);
        s->sets = NULL;
}

void source_memory_init(struct source_memory *m)
{
        map_init(&m->app_tokens, MAP_OWN_KEYS, mem_free);
}

void source_memory_free(struct source_memory *m)
{
        map_free(&m->app_tokens);
}
