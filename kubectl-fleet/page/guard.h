/* Which requests the page answers, and what browsers are told of it. A page on loopback must not be reached
 * by a foreign page in the same browser: neither by its scripts nor through a name that was made to point
 * here. Pure. */
#pragma once

#include "common/net/http.h"

struct page_guard {
        const char *bind; /* "127.0.0.1", "::1" */
        int port;
        bool tls;
        const char *const *hosts; /* further names, with or without a port, ending in NULL; NULL = none */
};
/* 0, or 403 with the sentence that tells why. `socket`: the request is for the WebSocket, and must say where
 * it comes from. */
int page_guard_check(const struct page_guard *g, const struct http_headers *h, bool socket,
                     const char **ret_why);
/* The headers of an answer to a request that was let through; `host` is its. In the arena; ERR_NO_MEMORY. */
int page_guard_headers(const struct page_guard *g, const char *host, struct arena *arena,
                       struct http_headers *ret);
