/* Addresses of the web as users write them and as servers answer with them. Pure. */
#pragma once

#include "common/base/arena.h"
#include "common/net/http.h"

struct web_url {
        const char *origin;        /* "https://host:port" */
        const char *scheme, *host; /* host with its port */
        const char *path;          /* without query, "/" at least */
        const char *query;         /* behind '?', "" if none */
};
/* User info is dropped. ERR_INVALID: no URL of http or https, or with spaces or control characters. */
int web_url_parse(const char *url, struct arena *arena, struct web_url *ret, struct error *err);
/* "https://host/path" for people: without user info and query. NULL on no memory. */
const char *web_url_public(const char *url, struct arena *arena);
/* Scheme, host and port: "https://host" and "https://HOST:443" are one origin. */
bool web_url_same_origin(const struct web_url *a, const struct web_url *b);
/* Where a Location, a Link or an entry of an index leads, seen from `base`. NULL on no memory. */
const char *web_url_resolve(const struct web_url *base, const char *target, struct arena *arena);
/* "<url>; rel="next"" of a Link header, resolved against `base`; NULL if there is none. ERR_INVALID: it leads
 * to another host. */
int web_url_next(const struct http_headers *h, const struct web_url *base, struct arena *arena,
                 const char **ret, struct error *err);
