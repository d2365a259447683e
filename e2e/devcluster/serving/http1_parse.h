/* A strict, incremental parser of HTTP/1.1 requests (RFC 9112). Pure: bytes come in by call.
 *
 * Refused, because each of them is a way to smuggle requests: bare LF, folded headers, space before the
 * colon, two different lengths, length together with chunked, any transfer coding but chunked, a missing or
 * second Host, control characters in values, absolute-form targets of another scheme. */
#pragma once

#include "common/base/buf.h"
#include "common/net/http_server.h"

#define HTTP1_NO_BODY SIZE_MAX /* of http1_limits: a request with a body is refused */
struct http1_limits {          /* of one request */
        size_t header_bytes;   /* request line and headers; 0 = LIMIT_HEADER_BYTES */
        size_t headers;        /* their number; 0 = LIMIT_HEADER_COUNT */
        size_t body_bytes;     /* 0 = LIMIT_REQUEST_BODY_BYTES */
};

struct http1_request {
        const char *method;
        const char *path;  /* escaped, without query */
        const char *query; /* without '?', "" if none */
        struct http_headers headers;
        struct slice body;    /* complete, de-chunked, NUL-terminated */
        bool http_1_0;        /* HTTP/1.0: no chunked answers */
        bool keep_alive;      /* after Connection and version */
        bool upgrade;         /* Connection: upgrade with an Upgrade header */
        bool expect_continue; /* Expect: 100-continue */
};

struct http1_parser {
        struct arena arena;
        struct http1_limits limits;
        struct http1_request request;
        struct buf head, body;
        int state;
        bool headers_done; /* request is filled but for the body */
        int http_status;   /* after an error: what to answer (400, 413, 417, 431, 501, 505) */
        uint64_t body_left;
        size_t line_len, trailer_bytes;
        char line[32]; /* a chunk-size line under way */
};

void http1_parser_init(struct http1_parser *p, const struct http1_limits *limits); /* NULL = defaults */
void http1_parser_reset(struct http1_parser *p); /* for the next request; the old request's memory goes */
void http1_parser_free(struct http1_parser *p);

/* Takes bytes. Returns 1 when a request is complete (*ret_used of the n bytes belong to it, the rest to the
 * next), 0 when more is needed, else ERR_INVALID, ERR_LIMIT, ERR_UNSUPPORTED or ERR_NO_MEMORY with
 * p->http_status set; the connection must then be closed after the answer. */
int http1_parse(struct http1_parser *p, const char *data, size_t n, size_t *ret_used, struct error *err);
