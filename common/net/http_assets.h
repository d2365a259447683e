/* Static files held in memory, for http_server.h: compressed once, revalidated by the hash of their content.
 */
#pragma once

#include "common/net/http_server.h"

struct http_asset {
        const char *path; /* "/app.js", escaped as an exchange's */
        const char *content_type;
        const void *bytes; /* borrowed, as all of this */
        size_t size;
};

struct http_assets;
/* Compresses what gets smaller by it, in the caller's fiber: at a start. NULL on no memory. */
struct http_assets *http_assets_new(const struct http_asset *table, size_t n);
struct http_assets *http_assets_free(struct http_assets *a); /* NULL is fine; returns NULL */
bool http_assets_have(const struct http_assets *a, const char *path);
/* Answers a request in full: GET and HEAD of a path of the table (200, 304), 404 for another path, 405 for
 * another method. `extra` goes onto every answer; may be NULL. As http_reply(). */
int http_assets_serve(const struct http_assets *a, struct http_exchange *x, const struct http_headers *extra);
