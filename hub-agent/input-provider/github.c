/* GitHub: branches, tags, pull requests. spec/resource-set.md 19.2. */
#include "hub-agent/input-provider/sources.h"

#define FORM "a GitHub repository address such as https://github.com/owner/repo"

static const char *const words[] = { "GitHub branches", "GitHub tags", "GitHub pull requests" };
static const char *const paths[] = { "branches?per_page=100", "tags?per_page=100",
                                     "pulls?state=open&per_page=100" };

/* Where the API is; it ends in a slash. */
static const char *api_of(const struct web_url *u, struct arena *arena)
{
        bool is_api = text_starts_with(u->host, "api.") || strstr(u->host, ".api.");

        if (text_equal(u->host, "github.com"))
                return arena_strdup(arena, "https://api.github.com/");
        return arena_printf(arena, "%s/%s", u->origin, is_api ? "" : "api/v3/");
}

static int find_token(struct source *s, const char *api, const char **ret, struct error *err)
{
        const struct source_credentials *c = &s->credentials;

        *ret = c->password;
        if (!c->app_id && !c->app_key && !c->app_owner && !c->app_installation)
                return 0;
        return github_app_token(s, api, ret, err);
}

int github_collect(struct source *s, enum listing_of what, struct error *err)
{
        struct listing l = { .source = s,
                             .what = what,
                             .words = words[what],
                             .form = FORM,
                             .fields = listing_github_fields(what),
                             .next = listing_next_by_link };
        struct web_url u;
        const char *token, *repository, *api;

        if (web_url_parse(s->url, s->arena, &u, err) < 0)
                return source_not_made(err);
        repository = listing_owner_and_repository(&u, s->arena);
        if (!repository) {
                error_set(err, ERR_INVALID,
                          "invalid GitHub URL \"%s\": can't find owner and repository; expected "
                          "is " FORM,
                          or_empty(web_url_public(s->url, s->arena)));
                return source_not_made(err);
        }
        api = api_of(&u, s->arena);
        if (!api)
                return error_no_memory(err);
        TRY(find_token(s, api, &token, err));
        l.call.url = arena_printf(s->arena, "%srepos/%s/%s", api, repository, paths[what]);
        l.call.headers[l.call.n_headers++] = (struct http_header){ "Accept", "application/vnd.github+json" };
        if (token)
                l.call.secret =
                        (struct http_header){ "Authorization", arena_printf(s->arena, "Bearer %s", token) };
        if (!l.call.url || (token && !l.call.secret.value))
                return error_no_memory(err);
        return listing_read(&l, err);
}
