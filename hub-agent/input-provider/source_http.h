/* Requests to a source: bounded, guarded, redirected, with its credentials for its own host alone. */
#pragma once

#include "hub-agent/input-provider/source.h"

struct source_url {
        const char *origin;        /* "https://host:port" */
        const char *scheme, *host; /* host with its port */
        const char *path;          /* without query, "/" at least */
        const char *query;         /* behind '?', "" if none */
};
/* User info is dropped. ERR_INVALID: no URL of http or https, or with spaces or control characters. */
int source_url_parse(const char *url, struct arena *arena, struct source_url *ret, struct error *err);

#define SOURCE_HEADERS_MAX 6

struct source_call {
        const char *method; /* NULL = GET */
        const char *url;    /* absolute */
        struct http_header headers[SOURCE_HEADERS_MAX];
        size_t n_headers;
        struct http_header secret;           /* for the URL's own origin only; value NULL = none */
        size_t max_body;                     /* 0 = LIMIT_INPUT_BODY_BYTES */
        int network_retries, status_retries; /* the latter on 429 and 5xx */
        int64_t retry_ms, retry_max_ms;      /* the first pause, doubled each time */
};

/* The answer that is no redirect, whatever its status. */
int source_call(struct source *s, const struct source_call *c, struct http_response *ret, struct error *err);
/* The same as a document, which the caller frees; other statuses than 2xx are errors: with retry_after_ms if
 * the service names a time, and for 401, 403 and 404 with `form`, how such an URL looks. */
int source_call_json(struct source *s, const struct source_call *c, const char *form,
                     struct http_response *ret_answer, json_t **ret, struct error *err);
int source_status_error(struct source *s, const struct source_call *c, const struct http_response *a,
                        const char *form, struct error *err);
/* "<url>; rel="next"" of a Link header, resolved against `base`; NULL if there is none. ERR_INVALID: it leads
 * to another host. */
int source_next_link(const struct http_headers *h, const struct source_url *base, struct arena *arena,
                     const char **ret, struct error *err);
