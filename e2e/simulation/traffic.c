#include "e2e/simulation/traffic.h"

/* ---- the path ---- */

/* The next segment, up to a slash or the query. */
static bool cut_segment(struct slice *rest, struct slice *ret)
{
        size_t n = 0;

        if (rest->len < 2 || rest->data[0] != '/')
                return false;
        while (1 + n < rest->len && rest->data[1 + n] != '/')
                n++;
        *ret = (struct slice){ rest->data + 1, n };
        *rest = (struct slice){ rest->data + 1 + n, rest->len - 1 - n };
        return n > 0;
}

static bool is_next(struct slice rest, const char *word)
{
        struct slice s;

        return cut_segment(&rest, &s) && slice_is(s, word);
}

static bool cut_group(struct slice *rest, struct slice *ret_group)
{
        struct slice version, word;

        if (!cut_segment(rest, &word))
                return false;
        if (slice_is(word, "api"))
                *ret_group = (struct slice){ 0 };
        else if (!slice_is(word, "apis") || !cut_segment(rest, ret_group))
                return false;
        return cut_segment(rest, &version);
}

/* "namespaces/x/pods" is about pods in x; "namespaces/x" and its subresources are about x. */
static bool is_about_namespace(struct slice below)
{
        struct slice s;

        return !cut_segment(&below, &s) || slice_is(s, "status") || slice_is(s, "finalize");
}

bool traffic_target_of(const char *path, struct traffic_target *ret)
{
        struct slice rest = { path, strcspn(path, "?") }, after;

        *ret = (struct traffic_target){ 0 };
        if (is_next(rest, "clusters")) {
                cut_segment(&rest, &ret->cluster);
                cut_segment(&rest, &ret->cluster);
        }
        if (!cut_group(&rest, &ret->group) || !cut_segment(&rest, &ret->resource))
                return false;
        after = rest;
        if (slice_is(ret->resource, "namespaces") && cut_segment(&after, &ret->ns) &&
            !is_about_namespace(after)) {
                rest = after;
                cut_segment(&rest, &ret->resource);
        } else {
                ret->ns = (struct slice){ 0 };
        }
        if (cut_segment(&rest, &ret->name))
                cut_segment(&rest, &ret->sub);
        return true;
}

/* ---- the request ---- */

/* Of each message several times: nothing is formatted. Returns the length of `to`, which holds `at` bytes. */
static size_t add(char *to, size_t size, size_t at, struct slice more)
{
        size_t n = MIN(more.len, size - 1 - at);

        if (n > 0)
                memcpy(to + at, more.data, n);
        to[at + n] = '\0';
        return at + n;
}

static void copy(struct slice from, char *to, size_t size)
{
        (void)add(to, size, 0, from);
}

static bool has_flag(const char *path, const char *name)
{
        const char *query = strchr(path, '?');
        size_t n = strlen(name);

        for (; query; query = strchr(query + 1, '&'))
                if (strncmp(query + 1, name, n) == 0 &&
                    (text_starts_with(query + 1 + n, "true") || text_starts_with(query + 1 + n, "1")))
                        return true;
        return false;
}

static const char *verb_of(const struct http_request *rq, const struct traffic_target *to)
{
        const char *type = http_header_get(&rq->headers, "Content-Type"), *m = rq->method;

        if (text_equal(m, "GET"))
                return has_flag(rq->path, "watch=") ? "watch" : to->name.len > 0 ? "get" : "list";
        if (text_equal(m, "POST"))
                return "create";
        if (text_equal(m, "PUT"))
                return "update";
        if (text_equal(m, "PATCH"))
                return type && text_starts_with(type, "application/apply-patch") ? "apply" : "patch";
        if (text_equal(m, "DELETE"))
                return to->name.len > 0 ? "delete" : "deletecollection";
        return "other";
}

/* Questions that are asked by creating something which is kept nowhere. */
static bool is_question(const struct traffic_target *to)
{
        return slice_is(to->group, "authorization.k8s.io") || slice_is(to->group, "authentication.k8s.io") ||
               slice_is(to->sub, "token");
}

static void name_resource(const struct traffic_target *to, struct traffic *ret)
{
        const struct slice parts[] = { to->resource, slice_of(to->sub.len ? "/" : ""), to->sub,
                                       slice_of(to->group.len ? "." : ""), to->group };
        size_t n = 0;

        for (size_t i = 0; i < ARRAY_LEN(parts); i++)
                n = add(ret->resource, sizeof(ret->resource), n, parts[i]);
}

const char *traffic_agent(const char *user_agent)
{
        const char *slash = user_agent ? strchr(user_agent, '/') : NULL;

        return slash ? slash + 1 : "";
}

static void read_target(const struct http_request *rq, const struct traffic_target *to, struct traffic *ret)
{
        ret->verb = verb_of(rq, to);
        ret->is_write = !text_equal(rq->method, "GET") && !text_equal(ret->verb, "other") && !is_question(to);
        name_resource(to, ret);
        copy(to->ns, ret->ns, sizeof(ret->ns));
        copy(to->name, ret->name, sizeof(ret->name));
        if (to->cluster.len > 0)
                ret->to_hub = slice_is(to->cluster, "hub");
}

/* Inputs of ResourceSets are asked of it. */
static bool is_of_service(const struct http_request *rq)
{
        return rq->endpoint && rq->endpoint->user_agent &&
               text_starts_with(rq->endpoint->user_agent, "argosy/");
}

void traffic_of(const struct http_request *rq, struct traffic *ret)
{
        struct traffic_target to;
        const char *base = rq->endpoint ? rq->endpoint->base_url : NULL;

        ret->is_write = false;
        ret->verb = "other";
        ret->resource[0] = ret->ns[0] = ret->name[0] = '\0';
        copy(slice_of(traffic_agent(rq->endpoint ? rq->endpoint->user_agent : NULL)), ret->agent,
             sizeof(ret->agent));
        if (is_of_service(rq)) /* asked under the product's name and version, whoever asks */
                snprintf(ret->agent, sizeof(ret->agent), "hub-agents");
        ret->is_hub_agent = text_starts_with(ret->agent, "hub-agent");
        ret->is_generator = text_equal(ret->agent, "manifest-generator");
        ret->is_page = text_equal(ret->agent, "page");
        ret->to_hub = base && text_ends_with(base, "/clusters/hub");
        if (traffic_target_of(rq->path, &to))
                read_target(rq, &to, ret);
        else if (rq->endpoint && text_equal(rq->endpoint->user_agent, "kube-apiserver-admission"))
                ret->verb = "review";
        else if (is_of_service(rq))
                ret->verb = "ask";
}

void traffic_kind(const struct traffic *t, char ret[TRAFFIC_TEXT])
{
        const char *role = text_equal(t->verb, "review") ? "server"
                           : t->agent[0] == '\0'         ? "player"
                           : t->is_hub_agent             ? "hub-agent"
                           : t->is_generator             ? "generator"
                           : t->is_page                  ? "page"
                                                         : "member-agent";

        const char *whom = t->to_hub ? "hub" : text_equal(t->verb, "ask") ? "service" : "member";
        const char *const parts[] = { role, ">", whom, " ", t->verb, t->resource[0] ? " " : "", t->resource };
        size_t n = 0;

        for (size_t i = 0; i < ARRAY_LEN(parts); i++)
                n = add(ret, TRAFFIC_TEXT, n, slice_of(parts[i]));
}
