#include "member-agent/hub_connection.h"

#include "common/base/limits.h"
#include "common/base/memory.h"
#include "common/net/http_files.h"

void hub_connection_free(struct hub_connection *c)
{
        http_endpoint_free(&c->endpoint);
        mem_free(c->member_name);
        c->member_name = NULL;
}

static const char *variable(const struct world *w, const char *name)
{
        return w->process->getenv(w->ctx, name);
}

static int need(const struct world *w, const char *name, char **ret, struct error *err)
{
        const char *value = variable(w, name);

        if (text_empty(value))
                return error_set(err, ERR_INVALID, "environment variable %s must be set", name);
        *ret = mem_strdup(value);
        return *ret ? 0 : error_no_memory(err);
}

/* The file that a variable names; it is followed. */
static int read_pem(struct world *w, const char *name, struct http_endpoint *e, enum http_file which,
                    struct error *err)
{
        AUTO_FREE char *path = NULL;

        TRY(need(w, name, &path, err));
        if (http_files_read(w, e, which, path, err) < 0)
                return error_wrap(err, "%s", name);
        return 0;
}

static int decode_ca(const char *text, char **ret, struct error *err)
{
        size_t cap = strlen(text), n = 0;
        AUTO_FREE char *pem = mem_alloc(cap + 1);

        if (!pem)
                return error_no_memory(err);
        if (text_base64_decode(slice_trim(slice_of(text)), pem, cap, &n, false) < 0)
                return error_set(err, ERR_INVALID, "HUB_CERTIFICATE_AUTHORITY is not base64");
        pem[n] = '\0';
        *ret = TAKE_PTR(pem);
        return 0;
}

static int load_ca(struct world *w, struct http_endpoint *e, struct error *err)
{
        const char *bundle = variable(w, "CA_BUNDLE"), *data = variable(w, "HUB_CERTIFICATE_AUTHORITY");

        if (bundle && data)
                return error_set(err, ERR_INVALID,
                                 "set one of CA_BUNDLE and HUB_CERTIFICATE_AUTHORITY, not both");
        if (bundle)
                return read_pem(w, "CA_BUNDLE", e, HTTP_FILE_CA, err);
        if (data && !data[0])
                return error_set(err, ERR_INVALID,
                                 "environment variable HUB_CERTIFICATE_AUTHORITY is set but empty");
        return data ? decode_ca(data, &e->ca_pem, err) : 0;
}

static int load_identity(struct world *w, bool use_ca_auth, struct http_endpoint *e, struct error *err)
{
        if (!use_ca_auth)
                return need(w, "CONFIG_PATH", &e->bearer_token_file, err);
        TRY(read_pem(w, "IDENTITY_KEY", e, HTTP_FILE_KEY, err));
        return read_pem(w, "IDENTITY_CERT", e, HTTP_FILE_CERT, err);
}

/* "Name: value" lines; a missing last line break is fine. */
static int load_headers(const char *text, struct arena *arena, struct http_headers *ret, struct error *err)
{
        struct slice rest = slice_of(text), line;
        struct http_header *at = ARENA_NEW_ARRAY(arena, struct http_header, rest.len + 1);
        size_t n = 0;

        while (at && rest.len > 0) {
                struct slice name, value;

                slice_cut(&rest, '\n', &line);
                value = slice_trim(line);
                if (value.len == 0)
                        continue;
                if (!slice_cut(&value, ':', &name) || slice_trim(name).len == 0)
                        return error_set(err, ERR_INVALID, "HUB_KUBE_HEADER: \"%.*s\" is not a header line",
                                         (int)line.len, line.data);
                name = slice_trim(name);
                value = slice_trim(value);
                at[n].name = arena_strndup(arena, name.data, name.len);
                at[n].value = arena_strndup(arena, value.data, value.len);
                if (!at[n].name || !at[n].value)
                        return error_no_memory(err);
                n++;
        }
        *ret = (struct http_headers){ at, n };
        return at ? 0 : error_no_memory(err);
}

static int load(struct world *w, bool use_ca_auth, bool insecure, struct arena *arena,
                struct hub_connection *c, struct error *err)
{
        const char *headers = variable(w, "HUB_KUBE_HEADER");
        size_t n;

        TRY(need(w, "HUB_SERVER_URL", &c->endpoint.base_url, err));
        n = strlen(c->endpoint.base_url);
        if (n > 0 && c->endpoint.base_url[n - 1] == '/')
                c->endpoint.base_url[n - 1] = '\0';
        TRY(load_identity(w, use_ca_auth, &c->endpoint, err));
        c->endpoint.insecure_skip_verify = insecure;
        if (!insecure)
                TRY(load_ca(w, &c->endpoint, err));
        TRY(need(w, "MEMBER_CLUSTER_NAME", &c->member_name, err));
        if (!text_is_dns1123_subdomain(c->member_name) || strlen(c->member_name) > 63)
                return error_set(err, ERR_INVALID, "MEMBER_CLUSTER_NAME \"%s\" is not a name of a cluster",
                                 c->member_name);
        return text_empty(headers) ? 0 : load_headers(headers, arena, &c->headers, err);
}

int hub_connection_load(struct world *w, bool use_ca_auth, bool insecure, struct arena *arena,
                        struct hub_connection *ret, struct error *err)
{
        struct hub_connection c = { 0 };
        int r = load(w, use_ca_auth, insecure, arena, &c, err);

        if (r < 0) {
                hub_connection_free(&c);
                return r;
        }
        *ret = c;
        return 0;
}

/* ---- extra headers ---- */

struct header_transport {
        struct http_transport base;
        struct http_transport *inner;
        const struct http_headers *headers;
};

static int add_headers(const struct header_transport *t, const struct http_request *rq, struct arena *arena,
                       struct http_headers *ret, struct error *err)
{
        struct http_header *at =
                ARENA_NEW_ARRAY(arena, struct http_header, rq->headers.n + t->headers->n + 1);

        if (!at)
                return error_no_memory(err);
        for (size_t i = 0; i < rq->headers.n; i++)
                at[i] = rq->headers.at[i];
        for (size_t i = 0; i < t->headers->n; i++) {
                if (http_header_get(&rq->headers, t->headers->at[i].name))
                        return error_set(err, ERR_INVALID, "custom header \"%s\" can't override other header",
                                         t->headers->at[i].name);
                at[rq->headers.n + i] = t->headers->at[i];
        }
        *ret = (struct http_headers){ at, rq->headers.n + t->headers->n };
        return 0;
}

static int header_roundtrip(struct http_transport *base, const struct http_request *rq, struct arena *arena,
                            struct http_response *ret, struct error *err)
{
        struct header_transport *t = (struct header_transport *)base;
        struct http_request more = *rq;

        TRY(add_headers(t, rq, arena, &more.headers, err));
        return t->inner->ops->roundtrip(t->inner, &more, arena, ret, err);
}

static int header_open(struct http_transport *base, const struct http_request *rq, struct http_stream **ret,
                       struct error *err)
{
        struct header_transport *t = (struct header_transport *)base;
        struct arena arena AUTO_ARENA = ARENA_INIT;
        struct http_request more = *rq;

        TRY(add_headers(t, rq, &arena, &more.headers, err));
        return t->inner->ops->open(t->inner, &more, ret, err);
}

static struct http_transport *header_free(struct http_transport *base)
{
        mem_free(base);
        return NULL;
}

struct http_transport *header_transport_new(struct http_transport *inner, const struct http_headers *headers)
{
        static const struct http_transport_ops ops = { header_roundtrip, header_open, header_free };
        struct header_transport *t = NEW(struct header_transport);

        if (!t)
                return NULL;
        t->base = (struct http_transport){ .ops = &ops, .credentials = inner->credentials };
        t->inner = inner;
        t->headers = headers;
        return &t->base;
}
