/* Requests to addresses that users name: bounded, guarded, redirected, with credentials for the origin alone
 * that was asked. Of input providers and of sources. spec/resource-set.md 19, spec/helm-chart.md 8, 10, 13.
 */
#pragma once

#include "common/net/address_guard.h"
#include "hub-agent/transfer/web_url.h"

#define TRANSFER_REDIRECTS 10
#define TRANSFER_HEADERS_MAX 6

/* What the requests of one run have in common. Borrows all of it. */
struct transfer {
        struct world *world;
        struct arena *arena;
        const char *ca_pem;                  /* NULL = the system's */
        const char *cert_pem, *key_pem;      /* for the origin of a call's URL alone; NULL = none */
        const char *proxy_url;               /* NULL = none */
        const struct address_ranges *denied; /* no connection to these; NULL = anywhere */
        int64_t deadline_ms;                 /* loop time, of all */
        size_t most_bytes;                   /* of all answers together; 0 = no bound */
        size_t bytes;                        /* of answers so far */
};

struct transfer_call {
        const char *method; /* NULL = GET */
        const char *url;    /* absolute */
        struct http_header headers[TRANSFER_HEADERS_MAX];
        size_t n_headers;
        struct slice body;
        bool stays;                          /* a redirect is not followed: it is the answer */
        struct web_url *ret_at;              /* where the answer came from; NULL = nobody asks */
        struct http_header secret;           /* for the URL's own origin only; value NULL = none */
        const struct http_aws_key *aws_key;  /* signs what goes to that origin; NULL = nothing is signed */
        size_t max_body;                     /* 0 = LIMIT_RESPONSE_BYTES; beyond it ERR_LIMIT */
        int network_retries, status_retries; /* the latter on 429 and 5xx; not of what is streamed */
        int64_t retry_ms, retry_max_ms;      /* the first pause, doubled each time */
};

/* The answer that is no redirect, whatever its status. Errors as of http_roundtrip(); ERR_INVALID: no URL, or
 * a redirect that may not be followed. */
int transfer_ask(struct transfer *t, const struct transfer_call *c, struct http_response *ret,
                 struct error *err);

struct transfer_sink {
        int (*write)(void *ctx, const void *data, size_t n, struct error *err);
        void *ctx;
};
/* The same with a body that goes into the sink as it comes, in which case ret->body is empty; bodies of other
 * statuses than 2xx are not read. A failure may come when part of it is there. */
int transfer_fetch(struct transfer *t, const struct transfer_call *c, const struct transfer_sink *sink,
                   struct http_response *ret, struct error *err);
/* "Basic ..." of Authorization, in the arena; NULL on no memory. */
const char *transfer_basic(struct arena *arena, const char *username, const char *password);
