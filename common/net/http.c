#include "common/net/http.h"

#include <strings.h>

#include "common/base/digits.h"
#include "common/base/memory.h"
#include "common/base/timefmt.h"
#include "common/net/http_credentials.h"
#include "common/net/http_files.h"
#include "common/net/http_server.h"

const char *http_header_get(const struct http_headers *h, const char *name)
{
        for (size_t i = 0; i < h->n; i++)
                if (strcasecmp(h->at[i].name, name) == 0)
                        return h->at[i].value;
        return NULL;
}

/* Copies s with its end to *at, and moves that behind it. */
static const char *put(char **at, const char *s)
{
        size_t n = strlen(s) + 1;
        const char *copy = memcpy(*at, s, n);
        *at += n;
        return copy;
}

/* All texts in one piece: each message has its headers copied on its way. */
int http_headers_copy(struct arena *arena, const struct http_headers *from, struct http_headers *ret)
{
        struct http_headers copy = { 0 };
        size_t n_text = 0;
        for (size_t i = 0; i < from->n; i++)
                n_text += strlen(from->at[i].name) + strlen(from->at[i].value) + 2;
        if (from->n > 0) {
                char *text = arena_text(arena, n_text);
                copy.at = ARENA_NEW_ARRAY(arena, struct http_header, from->n);
                if (!text || !copy.at)
                        return ERR_NO_MEMORY;
                for (; copy.n < from->n; copy.n++) {
                        const struct http_header *h = &from->at[copy.n];
                        const char *name = put(&text, h->name);
                        copy.at[copy.n] = (struct http_header){ name, put(&text, h->value) };
                }
        }
        *ret = copy;
        return 0;
}

void http_endpoint_free(struct http_endpoint *e)
{
        if (!e)
                return;
        mem_free(e->base_url);
        http_files_free(e->files);
        mem_free(e->ca_pem);
        mem_free(e->client_cert_pem);
        mem_free_secret(e->client_key_pem);
        mem_free(e->tls_server_name);
        mem_free(e->proxy_url);
        mem_free_secret(e->bearer_token);
        mem_free(e->bearer_token_file);
        mem_free(e->username);
        mem_free_secret(e->password);
        mem_free(e->user_agent);
        *e = (struct http_endpoint){ 0 };
}

/* ---- requests ---- */

static int check_request(const struct http_request *rq, struct error *err)
{
        ASSERT(rq->deadline_ms != DEADLINE_NONE && rq->method && rq->path && rq->endpoint);
        if (!rq->endpoint->base_url)
                return error_set(err, ERR_INVALID, "%s %s: the endpoint has no URL", rq->method, rq->path);
        if (rq->path[0] != '/')
                return error_set(err, ERR_INVALID, "%s %s: a path starts with /", rq->method, rq->path);
        for (const char *c = rq->path; *c; c++)
                if (*c <= ' ' || *c == 0x7f)
                        return error_set(err, ERR_INVALID, "%s: a path with a control character or space",
                                         rq->method);
        for (size_t i = 0; i < rq->headers.n; i++)
                if (strpbrk(rq->headers.at[i].value, "\r\n") || strpbrk(rq->headers.at[i].name, "\r\n: "))
                        return error_set(err, ERR_INVALID, "%s %s: header %zu would break the message",
                                         rq->method, rq->path, i);
        return 0;
}

/* A request as it leaves, and what it says about who asks. */
struct dressed {
        struct http_request request;
        const char *credentials;
        uint64_t login; /* its version */
};

/* The caller's headers, then the user agent and the credentials. */
static int dress(struct http_transport *t, const struct http_request *rq, struct arena *arena,
                 struct dressed *ret, struct error *err)
{
        struct http_login *login = rq->endpoint->login;
        const char *credentials = NULL;
        *ret = (struct dressed){ .request = *rq };
        if (login)
                TRY(login->refresh(login, 0, &ret->request.deadline_ms, err));
        TRY(http_credentials_header(t->credentials, rq->endpoint, false, arena, &credentials, err));
        struct http_header *at = ARENA_NEW_ARRAY(arena, struct http_header, rq->headers.n + 2);
        if (!at)
                return error_no_memory(err);
        size_t n = rq->headers.n;
        if (n > 0)
                memcpy(at, rq->headers.at, n * sizeof(*at));
        if (rq->endpoint->user_agent && !http_header_get(&rq->headers, "User-Agent"))
                at[n++] = (struct http_header){ "User-Agent", rq->endpoint->user_agent };
        if (credentials && !http_header_get(&rq->headers, "Authorization"))
                at[n++] = (struct http_header){ "Authorization", credentials };
        ret->request.headers = (struct http_headers){ at, n };
        ret->credentials = credentials;
        ret->login = login ? login->version : 0;
        return 0;
}

/* Whether the token file, read anew, says something else now. */
static bool has_fresh_token(struct http_transport *t, const struct dressed *d, struct arena *arena)
{
        const struct http_endpoint *e = d->request.endpoint;
        const char *now = NULL;
        if (!e->bearer_token_file || http_credentials_header(t->credentials, e, true, arena, &now, NULL) < 0)
                return false;
        return now && !text_equal(now, d->credentials);
}

/* After a 401: 1 = `d` is dressed in other credentials, to be asked once more; 0 = there are no others. */
static int dress_again(struct http_transport *t, const struct http_request *rq, struct arena *arena,
                       struct dressed *d, struct error *err)
{
        struct http_login *login = rq->endpoint->login;
        struct http_request later = *rq;
        later.deadline_ms = d->request.deadline_ms;
        if (login)
                TRY(login->refresh(login, d->login, &later.deadline_ms, err));
        if (login ? login->version == d->login : !has_fresh_token(t, d, arena))
                return 0;
        TRY(dress(t, &later, arena, d, err));
        return 1;
}

int http_roundtrip(struct http_transport *t, const struct http_request *rq, struct arena *arena,
                   struct http_response *ret, struct error *err)
{
        TRY(check_request(rq, err));
        AUTO_ARENA struct arena scratch = ARENA_INIT;
        struct dressed d;
        TRY(dress(t, rq, &scratch, &d, err));
        TRY(t->ops->roundtrip(t, &d.request, arena, ret, err));
        if (ret->status != 401)
                return 0;
        int again = dress_again(t, rq, &scratch, &d, err);
        return again > 0 ? t->ops->roundtrip(t, &d.request, arena, ret, err) : again;
}

int http_stream_open(struct http_transport *t, const struct http_request *rq, struct http_stream **ret,
                     struct error *err)
{
        TRY(check_request(rq, err));
        AUTO_ARENA struct arena scratch = ARENA_INIT;
        struct dressed d;
        TRY(dress(t, rq, &scratch, &d, err));
        struct http_stream *s = NULL;
        TRY(t->ops->open(t, &d.request, &s, err));
        int again = s->status == 401 ? dress_again(t, rq, &scratch, &d, err) : 0;
        if (again == 0) {
                *ret = s;
                return 0;
        }
        http_stream_close(s);
        return again < 0 ? again : t->ops->open(t, &d.request, ret, err);
}

int http_stream_read(struct http_stream *s, int64_t deadline_ms, struct slice *ret_data, struct error *err)
{
        return s->ops->read(s, deadline_ms, ret_data, err);
}

void http_stream_close(struct http_stream *s)
{
        if (s)
                s->ops->close(s);
}

struct http_transport *http_transport_free(struct http_transport *t)
{
        return t ? t->ops->free(t) : NULL;
}

/* ---- escaping ---- */

static bool is_unreserved(unsigned char c)
{
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
               c == '_' || c == '.' || c == '~';
}

int http_escape(struct buf *b, const char *s)
{
        for (; *s; s++) {
                unsigned char c = (unsigned char)*s;
                TRY(is_unreserved(c) ? buf_append_char(b, (char)c) : buf_printf(b, "%%%02X", c));
        }
        return 0;
}

static int hex_digit(char c)
{
        if (c >= '0' && c <= '9')
                return c - '0';
        c |= 0x20;
        return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

char *http_unescape(struct arena *arena, struct slice s, bool plus_is_space)
{
        char *out = arena_alloc(arena, s.len + 1);
        if (!out)
                return NULL;
        size_t n = 0;
        for (size_t i = 0; i < s.len; i++) {
                char c = plus_is_space && s.data[i] == '+' ? ' ' : s.data[i];
                if (c == '%') {
                        int high = i + 2 < s.len ? hex_digit(s.data[i + 1]) : -1;
                        int low = i + 2 < s.len ? hex_digit(s.data[i + 2]) : -1;
                        if (high < 0 || low < 0 || high + low == 0)
                                return NULL;
                        c = (char)(high << 4 | low);
                        i += 2;
                }
                out[n++] = c;
        }
        out[n] = 0;
        return out;
}

const char *http_date(struct arena *arena, int64_t wall_ms)
{
        static const char days[] = "ThuFriSatSunMonTueWed", months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
        int64_t s = wall_ms / 1000, day = s / 86400, of_day = s % 86400;
        struct date d = date_of_days(day);

        return arena_printf(arena, "%.3s, %02u %.3s %04lld %02d:%02d:%02d GMT", days + day % 7 * 3, d.day,
                            months + (d.month - 1) * 3, (long long)d.year, (int)(of_day / 3600),
                            (int)(of_day / 60 % 60), (int)(of_day % 60));
}

/* `escaped`: something in the query is. */
static bool is_key(struct http_exchange *x, struct slice key, const char *name, size_t n, bool escaped)
{
        const char *plain;
        if (key.len == n && memcmp(key.data, name, n) == 0)
                return true;
        plain = escaped ? http_unescape(x->arena, key, true) : NULL;
        return plain && strcmp(plain, name) == 0;
}

const char *http_query_get(struct http_exchange *x, const char *name)
{
        if (!*x->query)
                return NULL;
        bool escaped = strpbrk(x->query, "%+") != NULL;
        size_t n = strlen(name);
        for (const char *pair = x->query, *end; *pair; pair = *end ? end + 1 : end) {
                end = strchrnul(pair, '&');
                const char *is = memchr(pair, '=', (size_t)(end - pair));
                struct slice key = { pair, (size_t)((is ? is : end) - pair) };
                if (!is_key(x, key, name, n, escaped))
                        continue;
                const char *value = is ? is + 1 : end;
                return escaped ? http_unescape(x->arena, (struct slice){ value, (size_t)(end - value) }, true)
                               : arena_strndup(x->arena, value, (size_t)(end - value));
        }
        return NULL;
}

/* ---- answering ---- */

int http_reply(struct http_exchange *x, int status, const char *content_type, struct slice body,
               const struct http_headers *extra)
{
        size_t n_extra = extra ? extra->n : 0;
        struct http_header *at = ARENA_NEW_ARRAY(x->arena, struct http_header, n_extra + 2);
        char text[21] = "";
        const char *length = arena_strdup(x->arena, digits_unsigned(text + sizeof(text) - 1, body.len));
        if (!at || !length)
                return ERR_NO_MEMORY;
        size_t n = 0;
        if (content_type)
                at[n++] = (struct http_header){ "Content-Type", content_type };
        at[n++] = (struct http_header){ "Content-Length", length };
        for (size_t i = 0; i < n_extra; i++)
                at[n++] = extra->at[i];
        TRY(http_begin(x, status, &(struct http_headers){ at, n }));
        if (body.len > 0 && !text_equal(x->method, "HEAD"))
                TRY(http_write(x, body.data, body.len));
        return http_end(x);
}

/* ---- statuses ---- */

const char *http_status_text(int status)
{
        static const struct {
                int status;
                const char *text;
        } table[] = {
                { 101, "Switching Protocols" },
                { 200, "OK" },
                { 201, "Created" },
                { 202, "Accepted" },
                { 204, "No Content" },
                { 301, "Moved Permanently" },
                { 302, "Found" },
                { 304, "Not Modified" },
                { 307, "Temporary Redirect" },
                { 400, "Bad Request" },
                { 401, "Unauthorized" },
                { 403, "Forbidden" },
                { 404, "Not Found" },
                { 405, "Method Not Allowed" },
                { 406, "Not Acceptable" },
                { 409, "Conflict" },
                { 410, "Gone" },
                { 412, "Precondition Failed" },
                { 413, "Content Too Large" },
                { 415, "Unsupported Media Type" },
                { 417, "Expectation Failed" },
                { 422, "Unprocessable Content" },
                { 429, "Too Many Requests" },
                { 431, "Request Header Fields Too Large" },
                { 500, "Internal Server Error" },
                { 501, "Not Implemented" },
                { 502, "Bad Gateway" },
                { 503, "Service Unavailable" },
                { 504, "Gateway Timeout" },
                { 505, "HTTP Version Not Supported" },
        };
        for (size_t i = 0; i < ARRAY_LEN(table); i++)
                if (table[i].status == status)
                        return table[i].text;
        return "Status";
}
