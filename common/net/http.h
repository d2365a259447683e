/* HTTP as a client sees it, with the transport behind a table: libcurl on the real loop, loopback in the
 * simulation. All calls are made from fibers and park them. */
#pragma once

#include "common/base/arena.h"
#include "common/base/buf.h"
#include "common/base/text.h"
#include "common/loop/world.h"

struct http_header {
        const char *name; /* as written; compared without case */
        const char *value;
};

struct http_headers {
        struct http_header *at;
        size_t n;
};
const char *http_status_text(int status);                                    /* "Not Found"; never NULL */
const char *http_header_get(const struct http_headers *h, const char *name); /* NULL if absent */

struct address_ranges; /* common/net/address_guard.h */

struct http_files; /* common/net/http_files.h */

/* Where the credentials of an endpoint are made while requests go on. */
struct http_login {
        /* Brings the endpoint's token and client certificate up to date. `refused`: the server did not take
         * those of that version; 0 = they have not been refused. May park; *deadline_ms is put off by as long
         * as it took. An error is the request's. */
        int (*refresh)(struct http_login *l, uint64_t refused, int64_t *deadline_ms, struct error *err);
        uint64_t version; /* of what the endpoint holds, counted from 1 */
};

/* The key that requests to services in the way of AWS are signed with, Signature Version 4. */
struct http_aws_key {
        const char *access_key, *secret_key;
        const char *region, *service; /* "us-east-1", "s3" */
};

/* Where and as whom. One per API server and identity; owned by who made it, must outlive its requests. */
struct http_endpoint {
        char *base_url; /* https://host:port or with a path prefix, without trailing slash */
        char *ca_pem;   /* PEM bundle text; NULL = the system's */
        char *client_cert_pem, *client_key_pem; /* both or none */
        char *tls_server_name;                  /* NULL = from URL */
        char *proxy_url;                        /* NULL = none */
        bool insecure_skip_verify;              /* logged once when used */
        /* No connection to these, borrowed: for URLs that users write. NULL = anywhere. */
        const struct address_ranges *denied;
        char *bearer_token;        /* fixed token, or */
        char *bearer_token_file;   /* file, re-read when its stamp changes and on 401 */
        char *username, *password; /* basic */
        char *user_agent;
        struct http_login *login; /* borrowed; NULL = the fields hold as they are */
        /* Borrowed; NULL = requests are not signed. What is signed has a query sorted by its names, and for
         * "s3" a header x-amz-content-sha256. */
        const struct http_aws_key *aws_key;
        struct http_files
                *files;      /* behind the three PEM texts (http_files.h); NULL = they are not from files */
        uint64_t generation; /* bumped when certificates or CA change: old connections are not re-used */
};
void http_endpoint_free(struct http_endpoint *e); /* frees the fields */

/* Each has connections of its own. */
enum http_priority {
        HTTP_NORMAL,
        HTTP_WATCH,           /* long streams */
        HTTP_WATCH_UNHURRIED, /* so too; when much comes it is read twice a second, and not for each event */
};

struct http_request {
        const struct http_endpoint *endpoint;
        const char *method;
        const char *path; /* path and query behind base_url, already escaped */
        struct http_headers headers;
        struct slice body;   /* borrowed until the call returns */
        int64_t deadline_ms; /* loop time; for streams: until the headers; required, never DEADLINE_NONE */
        size_t max_body;     /* cap on the response body; 0 = LIMIT_RESPONSE_BYTES */
        /* Asked in the moment in which it leaves, on a connection that stands, and each time that it does:
         * below 0, with the error, it does not, and that is the answer. Must not park. NULL = it leaves. */
        int (*may_leave)(void *ctx, struct error *err);
        void *may_leave_ctx;
        enum http_priority priority;
        void **faults_know; /* loopback: what its faults found out about this message; NULL: no room for it */
};

struct http_response {
        int status;
        struct http_headers headers; /* in the arena given */
        struct slice body;           /* in the arena given; NUL-terminated */
};

/* A response that is read in pieces. */
struct http_stream {
        const struct http_stream_ops *ops;
        int status;
        struct http_headers headers;
        struct arena arena;
};

struct http_stream_ops {
        /* Parks until bytes arrive. *ret_data is valid until the next call. Returns 0, ERR_CLOSED at a clean
         * end, ERR_RETRY on a broken connection, ERR_TIMEOUT,
         * ERR_CANCELLED, ERR_LIMIT when the reader of an HTTP_WATCH was so slow that LIMIT_STREAM_QUEUE_BYTES
         * piled up; other servers wait for their reader. */
        int (*read)(struct http_stream *s, int64_t deadline_ms, struct slice *ret_data, struct error *err);
        void (*close)(struct http_stream *s); /* frees s */
};

struct http_credentials; /* common/net/http_credentials.h */

struct http_transport {
        const struct http_transport_ops *ops;
        struct http_credentials *credentials; /* what http_roundtrip() knows of token files */
};

struct http_transport_ops {
        int (*roundtrip)(struct http_transport *t, const struct http_request *rq, struct arena *arena,
                         struct http_response *ret, struct error *err);
        int (*open)(struct http_transport *t, const struct http_request *rq, struct http_stream **ret,
                    struct error *err);
        struct http_transport *(*free)(struct http_transport *t);
};

/* Why a server could not be asked, in err->reason; "" where the transport does not know. */
#define HTTP_REASON_REFUSED "ConnectionRefused"
#define HTTP_REASON_NAME_UNKNOWN "NameUnknown"
#define HTTP_REASON_NO_ANSWER "NoAnswer"
#define HTTP_REASON_ADDRESS "AddressRefused"  /* one that is denied */
#define HTTP_REASON_FAILED "ConnectionFailed" /* everything else about the network */
#define HTTP_REASON_NOT_TLS "NotTLS"
#define HTTP_REASON_CERT_AUTHORITY "ServerCertificateAuthority"
#define HTTP_REASON_CERT_NAME "ServerCertificateName"
#define HTTP_REASON_CERT_EXPIRED "ServerCertificateExpired"
#define HTTP_REASON_CERT_NOT_YET "ServerCertificateNotYetValid"
#define HTTP_REASON_CERT_INVALID "ServerCertificateInvalid" /* in another way */
#define HTTP_REASON_CLIENT_CERT "ClientCertificateRefused"
#define HTTP_REASON_TOKEN_MISSING "TokenFileMissing"
#define HTTP_REASON_TOKEN_EMPTY "TokenFileEmpty"
#define HTTP_REASON_TOKEN_UNREADABLE "TokenFileUnreadable"

/* Both add the endpoint's credentials and user agent to the request; a 401 on a token file makes them read
 * the file again, one on a login refresh it, and, if the credentials changed, ask once more. A status outside
 * 2xx is not an error at this layer. Network failures are ERR_RETRY, a passed deadline ERR_TIMEOUT, over-long
 * answers ERR_LIMIT, bad certificates ERR_UNAUTHORIZED with the reason in words, an address that is
 * denied ERR_FORBIDDEN. */
int http_roundtrip(struct http_transport *t, const struct http_request *rq, struct arena *arena,
                   struct http_response *ret, struct error *err);
int http_stream_open(struct http_transport *t, const struct http_request *rq, struct http_stream **ret,
                     struct error *err);
int http_stream_read(struct http_stream *s, int64_t deadline_ms, struct slice *ret_data, struct error *err);
void http_stream_close(struct http_stream *s); /* NULL is fine */

/* libcurl multi on the loop's libuv: HTTP/2 and HTTP/1.1, keep-alive, watches on connections of their own. */
struct http_transport *http_transport_curl(struct world *w, struct error *err);
struct http_transport *http_transport_free(struct http_transport *t);

/* Deep copy into an arena: 0 or ERR_NO_MEMORY. */
int http_headers_copy(struct arena *arena, const struct http_headers *from, struct http_headers *ret);

/* Percent-encodes a path segment or query value into b. */
int http_escape(struct buf *b, const char *s);
/* NULL on a malformed escape, an escaped NUL or no memory. A query's plus signs are spaces. */
char *http_unescape(struct arena *arena, struct slice s, bool plus_is_space);
/* "Thu, 01 Jan 1970 00:00:00 GMT", for times since then; NULL on no memory. */
const char *http_date(struct arena *arena, int64_t wall_ms);
