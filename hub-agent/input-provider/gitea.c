/* Gitea and Forgejo. spec/resource-set.md 19.4. */
#include "hub-agent/input-provider/sources.h"

#define FORM "a Gitea repository address such as https://host/owner/repo"

/* All else is called as by GitHub. */
static const struct listing_fields branches = { .name = "name", .sha = "commit.id" };
static const char *const words[] = { "Gitea branches", "Gitea tags", "Gitea pull requests" };
static const char *const paths[] = { "branches?limit=100", "tags?limit=100", "pulls?state=open&limit=100" };

int gitea_collect(struct source *s, enum listing_of what, struct error *err)
{
        struct listing l = { .source = s,
                             .what = what,
                             .words = words[what],
                             .form = FORM,
                             .fields = what == LIST_BRANCHES ? &branches : listing_github_fields(what),
                             .next = listing_next_by_link };
        const char *token = s->credentials.password, *repository;
        struct web_url u;

        if (web_url_parse(s->url, s->arena, &u, err) < 0)
                return source_not_made(err);
        repository = listing_owner_and_repository(&u, s->arena);
        if (!repository) {
                error_set(err, ERR_INVALID,
                          "invalid Gitea URL \"%s\": can't find owner and repository; expected is " FORM,
                          or_empty(web_url_public(s->url, s->arena)));
                return source_not_made(err);
        }
        l.call.url = arena_printf(s->arena, "%s/api/v1/repos/%s/%s", u.origin, repository, paths[what]);
        l.call.headers[l.call.n_headers++] = (struct http_header){ "Accept", "application/json" };
        if (token)
                l.call.secret =
                        (struct http_header){ "Authorization", arena_printf(s->arena, "token %s", token) };
        if (!l.call.url || (token && !l.call.secret.value))
                return error_no_memory(err);
        return listing_read(&l, err);
}
