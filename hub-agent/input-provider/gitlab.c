/* GitLab: branches, tags, merge requests, environments. spec/resource-set.md 19.3. */
#include "common/base/limits.h"
#include "hub-agent/input-provider/sources.h"

#define FORM "a GitLab project address such as https://host/group/project"
#define RETRIES 5
#define RETRY_MS 1000
#define RETRY_MAX_MS 30000

static const struct listing_fields fields[] = {
        [LIST_BRANCHES] = { .name = "name", .sha = "commit.id", .with_slug = true },
        [LIST_TAGS] = { .name = "name", .sha = "commit.id", .with_slug = true },
        [LIST_REQUESTS] = { .number = "iid",
                            .name = "source_branch",
                            .sha = "sha",
                            .title = "title",
                            .author = "author.username",
                            .labels = "labels",
                            .labels_are_asked_for = true,
                            .with_slug = true },
};
static const char *const words[] = { "GitLab branches", "GitLab tags", "GitLab merge requests" };
static const char *const paths[] = { "repository/branches?per_page=100", "repository/tags?per_page=100",
                                     "merge_requests?state=opened&per_page=100" };

/* ---- requests ---- */

/* The project stands in a path as one segment. Ends in a slash; NULL: no memory, or *ret_bad. */
static const char *project_api(struct source *s, bool *ret_bad, struct error *err)
{
        struct web_url u;
        AUTO_BUF struct buf project;

        buf_init(&project, LIMIT_HEADER_BYTES);
        *ret_bad = true;
        if (web_url_parse(s->url, s->arena, &u, err) < 0)
                return NULL;
        const char *path = u.path + strspn(u.path, "/");
        size_t n = strlen(path);

        while (n > 0 && path[n - 1] == '/')
                n--;
        if (n > 4 && strncmp(path + n - 4, ".git", 4) == 0)
                n -= 4;
        const char *name = arena_strndup(s->arena, path, n);

        if (name && !strchr(name, '/')) {
                error_set(err, ERR_INVALID,
                          "invalid GitLab URL \"%s\": can't find group and project; expected is " FORM,
                          or_empty(web_url_public(s->url, s->arena)));
                return NULL;
        }
        *ret_bad = false;
        if (!name || http_escape(&project, name) < 0)
                return NULL;
        return arena_printf(s->arena, "%s/api/v4/projects/%s/", u.origin, project.data);
}

static void prepare(struct source *s, struct transfer_call *c)
{
        *c = (struct transfer_call){ .headers = { { "Accept", "application/json" } },
                                     .n_headers = 1,
                                     .secret = { "PRIVATE-TOKEN", s->credentials.password },
                                     .status_retries = RETRIES,
                                     .retry_ms = RETRY_MS,
                                     .retry_max_ms = RETRY_MAX_MS };
}

static const char *page_url(struct arena *arena, const char *first, const struct http_response *a)
{
        const char *page = http_header_get(&a->headers, "X-Next-Page");

        return text_empty(page) ? NULL : listing_with_query(arena, first, "page", page);
}

/* The first page's URL has no page, so the next one's is made by adding it there. */
static int next_page(struct listing *l, const struct http_response *a, size_t n_items, const char **ret,
                     struct error *err)
{
        const char *query = strstr(l->call.url, "&page=");
        const char *first =
                query ? arena_strndup(l->source->arena, l->call.url, (size_t)(query - l->call.url))
                      : l->call.url;

        *ret = first ? page_url(l->source->arena, first, a) : NULL;
        return first ? 0 : error_no_memory(err);
}

static const char *joined_labels(struct source *s)
{
        AUTO_BUF struct buf b;

        buf_init(&b, LIMIT_HEADER_BYTES);
        for (size_t i = 0; i < s->filter.n_labels; i++)
                buf_printf(&b, "%s%s", i > 0 ? "," : "", s->filter.labels[i]);
        return b.failed ? NULL : arena_strndup(s->arena, b.data, b.len);
}

int gitlab_collect(struct source *s, enum listing_of what, struct error *err)
{
        struct listing l = { .source = s,
                             .what = what,
                             .words = words[what],
                             .form = FORM,
                             .fields = &fields[what],
                             .next = next_page };
        bool bad;
        const char *api = project_api(s, &bad, err);

        if (!api)
                return bad ? source_not_made(err) : error_no_memory(err);
        prepare(s, &l.call);
        l.call.url = arena_printf(s->arena, "%s%s", api, paths[what]);
        if (l.call.url && what == LIST_REQUESTS && s->filter.n_labels > 0) {
                const char *labels = joined_labels(s);

                l.call.url = labels ? listing_with_query(s->arena, l.call.url, "labels", labels) : NULL;
        }
        return l.call.url ? listing_read(&l, err) : error_no_memory(err);
}

/* ---- environments ---- */

/* Running, or successful as long as the environment is there. */
static const json_t *find_deployment(const json_t *deployments, const json_t *environment)
{
        bool available = text_equal(doc_get_string(environment, "state"), "available");
        const json_t *d;
        size_t i;

        json_array_foreach(deployments, i, d) {
                const char *status = doc_get_string(d, "status");

                if (text_equal(status, "running") || (available && text_equal(status, "success")))
                        return d;
        }
        return NULL;
}

static int export_environment(struct source *s, const json_t *environment, const json_t *d, struct error *err)
{
        const char *name = doc_get_string(environment, "name"), *branch = doc_get_string(d, "deployable.ref");
        const char *slug = doc_get_string(environment, "slug"), *author = doc_get_string(d, "user.username");
        const struct input_ref r = {
                .id = arena_printf(s->arena, "%lld", (long long)doc_get_int(environment, "id", 0)),
                .sha = arena_strdup(s->arena, or_empty(doc_get_string(d, "deployable.commit.id"))),
                .branch = arena_strdup(s->arena, or_empty(branch)),
                .title = arena_strdup(s->arena, or_empty(name)),
                .slug = arena_strdup(s->arena, or_empty(slug)),
                .author = arena_strdup(s->arena, or_empty(author)),
        };

        if (!r.id || !r.sha || !r.branch || !r.title || !r.slug || !r.author)
                return error_no_memory(err);
        if (!r.sha[0])
                return 0;
        return vec_push(&s->refs, r) < 0 ? error_no_memory(err) : 0;
}

static int take_environment(struct source *s, const char *api, const json_t *environment, struct error *err)
{
        const char *name = or_empty(doc_get_string(environment, "name"));
        int wanted = filter_takes_name(&s->filter, name);
        AUTO_JSON json_t *deployments = NULL;
        struct http_response a;
        struct transfer_call c;
        const json_t *d;

        if (wanted <= 0)
                return wanted < 0 ? error_no_memory(err) : 0;
        prepare(s, &c);
        c.url = arena_printf(s->arena, "%sdeployments?order_by=created_at&sort=desc", api);
        c.url = c.url ? listing_with_query(s->arena, c.url, "environment", name) : NULL;
        if (!c.url)
                return error_no_memory(err);
        TRY(source_call_json(s, &c, FORM, &a, &deployments, err));
        d = find_deployment(deployments, environment);
        return d ? export_environment(s, environment, d, err) : 0;
}

static int read_environments(struct source *s, const char *api, const struct transfer_call *c,
                             struct http_response *a, struct error *err)
{
        AUTO_JSON json_t *doc = NULL;
        json_t *environment;
        size_t i;

        TRY(source_call_json(s, c, FORM, a, &doc, err));
        if (!json_is_array(doc))
                return error_set(err, ERR_INVALID, "%senvironments: the answer is no list", api);
        json_array_foreach(doc, i, environment) {
                if (s->refs.n >= s->filter.limit)
                        break;
                TRY(take_environment(s, api, environment, err));
        }
        return 0;
}

int gitlab_collect_environments(struct source *s, enum listing_of what, struct error *err)
{
        struct listing_pages pages = { .words = "GitLab environments" };
        struct transfer_call c;
        bool bad;
        const char *api = project_api(s, &bad, err), *first;

        if (!api)
                return bad ? source_not_made(err) : error_no_memory(err);
        prepare(s, &c);
        first = arena_printf(s->arena, "%senvironments?per_page=100", api);
        if (!first)
                return error_no_memory(err);
        for (c.url = first; c.url && s->refs.n < s->filter.limit;) {
                struct http_response a;

                TRY(listing_enter_page(&pages, c.url, s->arena, err));
                TRY(read_environments(s, api, &c, &a, err));
                c.url = page_url(s->arena, first, &a);
        }
        return 0;
}
