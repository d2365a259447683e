/* Azure DevOps. spec/resource-set.md 19.5. */
#include "common/base/limits.h"
#include "hub-agent/input-provider/sources.h"

#define HOST "dev.azure.com"
#define FORM                                                                                                 \
        "an Azure DevOps repository address such as https://" HOST "/organization/project/_git/repository"
#define VERSION "api-version=7.1"

static const struct listing_fields fields[] = {
        [LIST_BRANCHES] = { .name = "name", .sha = "commit.commitId", .items = "value" },
        [LIST_TAGS] = { .name = "name", .sha = "objectId", .name_prefix = "refs/tags/", .items = "value" },
        [LIST_REQUESTS] = { .number = "pullRequestId",
                            .name = "sourceRefName",
                            .name_prefix = "refs/heads/",
                            .sha = "lastMergeSourceCommit.commitId",
                            .title = "title",
                            .author = "createdBy.displayName",
                            .labels = "labels",
                            .label_name = "name",
                            .items = "value" },
};
static const char *const words[] = { "AzureDevOps branches", "AzureDevOps tags",
                                     "AzureDevOps pull requests" };
static const char *const paths[] = {
        "stats/branches?" VERSION,
        "refs?filter=tags&$top=100&" VERSION,
        "pullrequests?searchCriteria.status=active&$top=100&" VERSION,
};

/* "organization/project/_git/repository" -> the API's path, NULL if it is none. */
static const char *repository_api(const struct web_url *u, struct arena *arena)
{
        struct slice rest = slice_of(u->path + 1), part[4];

        for (size_t i = 0; i < ARRAY_LEN(part); i++) {
                bool more = slice_cut(&rest, '/', &part[i]);

                if (part[i].len == 0 || (!more && i + 1 < ARRAY_LEN(part)))
                        return NULL;
        }
        if (rest.len > 0 || !slice_is(part[2], "_git"))
                return NULL;
        return arena_printf(arena, "%s/%.*s/%.*s/_apis/git/repositories/%.*s/", u->origin, (int)part[0].len,
                            part[0].data, (int)part[1].len, part[1].data, (int)part[3].len, part[3].data);
}

/* Tags by a token in the answer, requests by how many were read; branches come all at once. */
static int next_page(struct listing *l, const struct http_response *a, size_t n_items, const char **ret,
                     struct error *err)
{
        struct arena *arena = l->source->arena;
        const char *token = http_header_get(&a->headers, "x-ms-continuationtoken");
        const char *key = l->what == LIST_TAGS ? "continuationToken" : "$skip";
        const char *more = strstr(l->call.url, l->what == LIST_TAGS ? "&continuationToken=" : "&$skip=");
        const char *first =
                arena_strndup(arena, l->call.url, more ? (size_t)(more - l->call.url) : strlen(l->call.url));
        const char *skip = arena_printf(arena, "%zu", l->n_items);
        bool is_last = l->what == LIST_TAGS ? text_empty(token) : l->what == LIST_BRANCHES || n_items < 100;

        *ret = NULL;
        if (is_last)
                return 0;
        if (!first || !skip)
                return error_no_memory(err);
        *ret = l->what == LIST_TAGS ? listing_with_query(arena, first, key, token)
                                    : arena_printf(arena, "%s&$skip=%s", first, skip);
        return *ret ? 0 : error_no_memory(err);
}

/* An annotated tag is an object of its own, which says what it tags; a plain one is none, and stays as it is.
 */
static int resolve_tags(struct source *s, const char *api, const struct transfer_call *call,
                        struct error *err)
{
        for (size_t i = 0; i < s->refs.n; i++) {
                struct input_ref *r = &s->refs.at[i];
                AUTO_JSON json_t *doc = NULL;
                struct transfer_call c = *call;
                struct http_response a;
                const char *object;

                c.url = arena_printf(s->arena, "%sannotatedtags/%s?" VERSION, api, r->sha);
                if (!c.url)
                        return error_no_memory(err);
                int code = source_call_json(s, &c, NULL, &a, &doc, err);

                if (code == ERR_CANCELLED || code == ERR_NO_MEMORY || code == ERR_TIMEOUT)
                        return code;
                object = code == 0 ? doc_get_string(doc, "taggedObject.objectId") : NULL;
                if (!text_empty(object) && !(r->sha = arena_strdup(s->arena, object)))
                        return error_no_memory(err);
        }
        return 0;
}

static int check_url(struct source *s, const char **ret_api, struct error *err)
{
        struct web_url u;

        if (web_url_parse(s->url, s->arena, &u, err) < 0)
                return source_not_made(err);
        if (!text_equal(u.host, HOST)) {
                error_set(err, ERR_INVALID, "unsupported Azure DevOps host: %s; expected is " FORM, u.host);
                return source_not_made(err);
        }
        *ret_api = repository_api(&u, s->arena);
        if (*ret_api)
                return 0;
        error_set(err, ERR_INVALID,
                  "invalid AzureDevOps URL \"%s\": can't find owner and repository; expected is " FORM,
                  or_empty(web_url_public(s->url, s->arena)));
        return source_not_made(err);
}

int azure_devops_collect(struct source *s, enum listing_of what, struct error *err)
{
        struct listing l = { .source = s,
                             .what = what,
                             .words = words[what],
                             .form = FORM,
                             .fields = &fields[what],
                             .next = next_page };
        const char *api;

        TRY(check_url(s, &api, err));
        l.call.url = arena_printf(s->arena, "%s%s", api, paths[what]);
        l.call.headers[l.call.n_headers++] = (struct http_header){ "Accept", "application/json" };
        if (s->credentials.password) {
                l.call.secret = (struct http_header){ "Authorization",
                                                      transfer_basic(s->arena, "", s->credentials.password) };
                if (!l.call.secret.value)
                        return error_no_memory(err);
        }
        if (!l.call.url)
                return error_no_memory(err);
        struct transfer_call call = l.call;

        TRY(listing_read(&l, err));
        return what == LIST_TAGS ? resolve_tags(s, api, &call, err) : 0;
}
