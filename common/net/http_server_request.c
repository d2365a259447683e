/* What libwebsockets kept of a request's head, as an exchange. */
#include <ctype.h>
#include <strings.h>

#include "common/base/limits.h"
#include "common/net/http_server_internal.h"

static const struct method {
        const char *name;
        enum lws_token_indexes token;
        bool has_body;
} methods[] = {
        { "GET", WSI_TOKEN_GET_URI, false },         { "HEAD", WSI_TOKEN_HEAD_URI, false },
        { "POST", WSI_TOKEN_POST_URI, true },        { "PUT", WSI_TOKEN_PUT_URI, true },
        { "PATCH", WSI_TOKEN_PATCH_URI, true },      { "DELETE", WSI_TOKEN_DELETE_URI, false },
        { "OPTIONS", WSI_TOKEN_OPTIONS_URI, false },
};

static const char *token(struct connection *c, enum lws_token_indexes t)
{
        int n = lws_hdr_total_length(c->wsi, t);
        char *text = n >= 0 ? arena_alloc(&c->arena, (size_t)n + 1) : NULL;

        if (!text)
                return NULL;
        if (n == 0 || lws_hdr_copy(c->wsi, text, n + 1, t) < 0)
                text[0] = '\0';
        return text;
}

static int append_escaped(struct buf *b, const char *s, const char *plain)
{
        for (; *s; s++)
                if (isalnum((unsigned char)*s) || strchr(plain, *s))
                        buf_append_char(b, *s);
                else
                        buf_printf(b, "%%%02X", (unsigned char)*s);
        return b->failed;
}

static const char *escaped(struct connection *c, const char *s)
{
        AUTO_BUF struct buf b;

        buf_init(&b, 3 * LIMIT_HEADER_BYTES);
        if (!s || append_escaped(&b, s, "/-._~:@!$&'()*+,;=") < 0)
                return NULL;
        return arena_strndup(&c->arena, b.data, b.len);
}

static const char *read_query(struct connection *c)
{
        AUTO_BUF struct buf b;
        int n;

        buf_init(&b, 3 * LIMIT_HEADER_BYTES);
        for (int i = 0; (n = lws_hdr_fragment_length(c->wsi, WSI_TOKEN_HTTP_URI_ARGS, i)) > 0; i++) {
                char *part = arena_alloc(&c->arena, (size_t)n + 1);

                if (!part || lws_hdr_copy_fragment(c->wsi, part, n + 1, WSI_TOKEN_HTTP_URI_ARGS, i) < 0)
                        return NULL;
                if (i > 0)
                        buf_append_char(&b, '&');
                if (append_escaped(&b, part, "/-._~:@!$'()*,;=") < 0)
                        return NULL;
        }
        return arena_strndup(&c->arena, b.data, b.len);
}

/* The names of header tokens end in a colon; the others are methods, and what HTTP/2 has. */
static size_t header_name_length(int t)
{
        const char *name = (const char *)lws_token_to_string((enum lws_token_indexes)t);
        size_t n = name ? strlen(name) : 0;

        return n > 1 && name[0] != ':' && name[n - 1] == ':' ? n - 1 : 0;
}

static int read_headers(struct connection *c)
{
        struct http_headers *h = &c->x.headers;

        h->at = ARENA_NEW_ARRAY(&c->arena, struct http_header, WSI_TOKEN_COUNT);
        for (int t = 0; h->at && t < WSI_TOKEN_COUNT; t++) {
                size_t n = header_name_length(t);
                struct http_header *to = &h->at[h->n];

                if (n == 0 || lws_hdr_total_length(c->wsi, (enum lws_token_indexes)t) <= 0)
                        continue;
                to->name = arena_strndup(&c->arena,
                                         (const char *)lws_token_to_string((enum lws_token_indexes)t), n);
                to->value = token(c, (enum lws_token_indexes)t);
                if (!to->name || !to->value)
                        return ERR_NO_MEMORY;
                h->n++;
        }
        return h->at ? 0 : ERR_NO_MEMORY;
}

static const struct method *read_target(struct connection *c)
{
        for (size_t i = 0; i < ARRAY_LEN(methods); i++)
                if (lws_hdr_total_length(c->wsi, methods[i].token) > 0) {
                        c->x.method = methods[i].name;
                        c->x.path = escaped(c, token(c, methods[i].token));
                        c->x.query = read_query(c);
                        return &methods[i];
                }
        return NULL;
}

/* A body comes with its length. Of one that says nothing libwebsockets would wait for a body, where the
 * protocol says that there is none: it is answered, and the connection ends. */
static int check_body(struct connection *c, const struct method *m, const char **ret_why)
{
        const char *length = http_header_get(&c->x.headers, "content-length");
        size_t limit = c->server->limits.body_bytes;
        uint64_t n = 0;

        if (http_header_get(&c->x.headers, "transfer-encoding")) {
                *ret_why = "a body is taken only with its Content-Length";
                return 411;
        }
        if (length && !text_parse_u64(length, &n)) {
                *ret_why = "Content-Length is no number";
                return 400;
        }
        if (n > 0 && (!m->has_body || n > (limit == HTTP_NO_BODY ? 0 : limit))) {
                *ret_why = "the body is larger than what is taken here";
                return 413;
        }
        c->body_length = (size_t)n;
        c->has_body = n > 0 || (length && m->token == WSI_TOKEN_POST_URI);
        c->close_after |= m->has_body && !length;
        return 0;
}

/* "HTTP/1.0" or "HTTP/1.1"; what else there may be is served as 1.0, as libwebsockets does. */
static void read_version(struct connection *c)
{
        const char *version = token(c, WSI_TOKEN_HTTP);
        const char *connection = http_header_get(&c->x.headers, "connection");

        c->http_1_0 = !version || !strstr(version, "1.1");
        c->close_after = c->http_1_0 || (connection && strcasestr(connection, "close"));
}

int http_server_read_head(struct connection *c, const char **ret_why)
{
        const struct method *m;

        c->x = (struct http_exchange){ .ops = &http_server_exchange_ops,
                                       .loop = c->server->loop,
                                       .arena = &c->arena };
        m = read_target(c);
        if (!m) {
                *ret_why = "the method is not known";
                return 405;
        }
        if (!c->x.path || !c->x.query || read_headers(c) < 0) {
                *ret_why = "no memory for another request";
                return 503;
        }
        read_version(c);
        if (!c->http_1_0 && !http_header_get(&c->x.headers, "host")) {
                *ret_why = "Host is missing";
                return 400;
        }
        return check_body(c, m, ret_why);
}
