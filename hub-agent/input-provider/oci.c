/* Tags of an OCI repository and their digests. spec/resource-set.md 19.7. */
#include <strings.h>

#include "common/base/digest.h"
#include "common/base/limits.h"
#include "hub-agent/input-provider/sources.h"
#include "hub-agent/transfer/secret.h"

#define HUB "index.docker.io"
#define ACCEPT                                                                                               \
        "application/vnd.oci.image.index.v1+json, application/vnd.oci.image.manifest.v1+json, "              \
        "application/vnd.docker.distribution.manifest.list.v2+json, "                                        \
        "application/vnd.docker.distribution.manifest.v2+json"

struct registry {
        struct source *source;
        const char *host, *path, *name; /* name as users know it: host/path */
        const char *origin;
        const char *authorization; /* once it was asked for */
        struct docker_login login;
        bool asked;
};

/* ---- tokens ---- */

/* key="value" out of a challenge, in the arena; NULL if absent. */
static const char *parameter(const char *challenge, const char *key, struct arena *arena)
{
        size_t n = strlen(key);

        for (const char *at = challenge; (at = strstr(at, key)); at += n) {
                bool begins = at == challenge || at[-1] == ' ' || at[-1] == ',';
                const char *end;

                if (!begins || at[n] != '=' || at[n + 1] != '"' || !(end = strchr(at + n + 2, '"')))
                        continue;
                return arena_strndup(arena, at + n + 2, (size_t)(end - at - n - 2));
        }
        return NULL;
}

static const char *token_url(struct registry *r, const char *challenge, const char *realm)
{
        struct arena *arena = r->source->arena;
        const char *service = parameter(challenge, "service", arena);
        const char *scope = parameter(challenge, "scope", arena);
        const char *url = service ? listing_with_query(arena, realm, "service", service) : realm;

        if (!scope)
                scope = arena_printf(arena, "repository:%s:pull", r->path);
        return url && scope ? listing_with_query(arena, url, "scope", scope) : NULL;
}

static int get_token(struct registry *r, const char *challenge, struct error *err)
{
        struct source *s = r->source;
        const char *realm = parameter(challenge, "realm", s->arena), *token;
        struct transfer_call c = { .headers = { { "Accept", "application/json" } }, .n_headers = 1 };
        AUTO_JSON json_t *doc = NULL;
        struct http_response a;

        if (!realm || !(text_starts_with(realm, "https://") ||
                        (text_starts_with(realm, "http://") && text_starts_with(r->origin, "http://"))))
                return error_set(err, ERR_INVALID, "%s: the registry names no place to get a token from",
                                 r->origin);
        c.url = token_url(r, challenge, realm);
        if (r->login.username)
                c.secret =
                        (struct http_header){ "Authorization", transfer_basic(s->arena, r->login.username,
                                                                              or_empty(r->login.password)) };
        if (!c.url || (r->login.username && !c.secret.value))
                return error_no_memory(err);
        TRY(source_call_json(s, &c, NULL, &a, &doc, err));
        token = doc_get_string(doc, "token");
        if (text_empty(token))
                token = doc_get_string(doc, "access_token");
        if (text_empty(token))
                return error_set(err, ERR_INVALID, "%s: the answer has no token",
                                 or_empty(web_url_public(c.url, s->arena)));
        r->authorization = arena_printf(s->arena, "Bearer %s", token);
        return r->authorization ? 0 : error_no_memory(err);
}

static int log_in(struct registry *r, const struct http_response *a, struct error *err)
{
        const char *challenge = or_empty(http_header_get(&a->headers, "WWW-Authenticate"));

        r->asked = true;
        if (strncasecmp(challenge, "Bearer ", 7) == 0)
                return get_token(r, challenge + 7, err);
        if (strncasecmp(challenge, "Basic", 5) != 0 || !r->login.username)
                return 0;
        r->authorization = transfer_basic(r->source->arena, r->login.username, or_empty(r->login.password));
        return r->authorization ? 0 : error_no_memory(err);
}

/* ---- requests ---- */

static int call_once(struct registry *r, struct transfer_call *c, struct http_response *ret,
                     struct error *err)
{
        c->secret = (struct http_header){ "Authorization", r->authorization };
        return source_call(r->source, c, ret, err);
}

/* Whether a server without TLS may be there in place of one with it. */
static bool may_be_plain(const struct registry *r, int code, const struct error *err)
{
        return code < 0 && r->source->insecure && !r->source->credentials.ca_pem &&
               !r->source->credentials.cert_pem && text_starts_with(r->origin, "https://") &&
               (text_equal(err->reason, HTTP_REASON_NOT_TLS) ||
                text_equal(err->reason, HTTP_REASON_REFUSED) || text_equal(err->reason, HTTP_REASON_FAILED));
}

/* `path` behind "/v2/<repository>/", or an URL. Its status is 2xx. */
static int ask(struct registry *r, const char *method, const char *path, const char *accept,
               struct http_response *ret, struct error *err)
{
        struct arena *arena = r->source->arena;
        struct transfer_call c = { .method = method, .headers = { { "Accept", accept } }, .n_headers = 1 };
        struct error e = { 0 };

        c.url = strstr(path, "://") ? path : arena_printf(arena, "%s/v2/%s/%s", r->origin, r->path, path);
        if (!c.url)
                return error_no_memory(err);
        int code = call_once(r, &c, ret, &e);

        if (may_be_plain(r, code, &e) && !strstr(path, "://")) {
                r->origin = arena_printf(arena, "http://%s", r->host);
                c.url = r->origin ? arena_printf(arena, "%s/v2/%s/%s", r->origin, r->path, path) : NULL;
                if (!c.url)
                        return error_no_memory(err);
                code = call_once(r, &c, ret, &e);
        }
        if (code == 0 && ret->status == 401 && !r->asked) {
                code = log_in(r, ret, &e);
                if (code == 0)
                        code = call_once(r, &c, ret, &e);
        }
        if (code < 0) {
                if (err)
                        *err = e;
                return code;
        }
        return ret->status >= 200 && ret->status <= 299
                       ? 0
                       : source_status_error(r->source, &c, ret, "a repository such as oci://host/path", err);
}

/* ---- tags ---- */

static int take_tag(struct source *s, const char *tag, struct error *err)
{
        struct input_ref r = { .tag = arena_strdup(s->arena, tag) };
        int wanted = filter_takes_name(&s->filter, tag);

        if (wanted <= 0)
                return wanted < 0 ? error_no_memory(err) : 0;
        return !r.tag || vec_push(&s->refs, r) < 0 ? error_no_memory(err) : 0;
}

static int take_page(struct registry *r, struct slice body, struct error *err)
{
        AUTO_JSON json_t *doc = NULL;
        const json_t *tag;
        size_t i;

        TRY(doc_parse(body, &doc, err));
        json_array_foreach(doc_get_array(doc, "tags"), i, tag)
                if (json_is_string(tag))
                        TRY(take_tag(r->source, json_string_value(tag), err));
        return 0;
}

static int list_tags(struct registry *r, struct error *err)
{
        struct listing_pages pages = { .words = "OCI tags" };
        struct source *s = r->source;

        for (const char *path = "tags/list?n=1000"; path;) {
                struct http_response a;
                struct web_url u;
                const char *url;

                TRY(listing_enter_page(&pages, path, s->arena, err));
                TRY(ask(r, "GET", path, "application/json", &a, err));
                TRY(take_page(r, a.body, err));
                url = strstr(path, "://") ? path
                                          : arena_printf(s->arena, "%s/v2/%s/%s", r->origin, r->path, path);
                if (!url)
                        return error_no_memory(err);
                TRY(web_url_parse(url, s->arena, &u, err));
                TRY(web_url_next(&a.headers, &u, s->arena, &path, err));
        }
        return filter_best_tags(&s->filter, s->refs.at, &s->refs.n) < 0 ? error_no_memory(err) : 0;
}

static int find_digest(struct registry *r, struct input_ref *ref, struct error *err)
{
        struct arena *arena = r->source->arena;
        char hash[SHA256_HEX_SIZE], id[INPUT_ID_SIZE];
        struct http_response a;
        AUTO_BUF struct buf path;
        const char *digest;

        buf_init(&path, LIMIT_HEADER_BYTES);
        buf_append_str(&path, "manifests/");
        http_escape(&path, ref->tag);
        TRY(buf_status(&path, err, "a tag"));
        TRY(ask(r, "HEAD", path.data, ACCEPT, &a, err));
        digest = http_header_get(&a.headers, "Docker-Content-Digest");
        if (text_empty(digest)) {
                TRY(ask(r, "GET", path.data, ACCEPT, &a, err));
                sha256_hex(a.body.data, a.body.len, hash);
                digest = arena_printf(arena, "sha256:%s", hash);
        }
        input_id(ref->tag, id);
        ref->digest = digest;
        ref->id = arena_strdup(arena, id);
        return ref->digest && ref->id ? 0 : error_no_memory(err);
}

static int open_registry(struct source *s, struct registry *r, struct error *err)
{
        const char *rest = s->url + strlen("oci://"), *slash;
        bool hub;

        if (!text_starts_with(s->url, "oci://") || !(slash = strchr(rest, '/')) || slash == rest ||
            !slash[1] || strpbrk(rest, " @?#"))
                return error_set(err, ERR_INVALID, "not an URL such as oci://host/path: '%s'",
                                 or_empty(web_url_public(s->url, s->arena)));
        r->source = s;
        r->host = arena_strndup(s->arena, rest, (size_t)(slash - rest));
        r->path = arena_strdup(s->arena, slash + 1);
        r->name = rest;
        if (!r->host || !r->path)
                return error_no_memory(err);
        hub = text_equal(r->host, "docker.io");
        if (hub)
                r->host = HUB;
        if (text_equal(r->host, HUB) && !strchr(r->path, '/'))
                r->path = arena_printf(s->arena, "library/%s", r->path);
        r->origin = arena_printf(s->arena, "https://%s", r->host);
        if (!r->path || !r->origin)
                return error_no_memory(err);
        return docker_config_find(s->credentials.docker_configs, s->credentials.n_docker_configs, r->host,
                                  r->path, s->arena, &r->login, err);
}

int oci_collect(struct source *s, enum listing_of what, struct error *err)
{
        struct registry r = { 0 };

        TRY(open_registry(s, &r, err));
        int code = list_tags(&r, err);

        if (code < 0)
                return error_wrap(err, "failed to list OCI tags for '%s'", r.name), code;
        for (size_t i = 0; i < s->refs.n; i++) {
                code = find_digest(&r, &s->refs.at[i], err);
                if (code < 0)
                        return error_wrap(err, "failed to get digest for tag '%s' in repository '%s'",
                                          s->refs.at[i].tag, r.name),
                               code;
        }
        return 0;
}
