/* The files behind an endpoint's certificates, read anew when they change: a CA or client certificate is
 * rotated without a restart. (Token files need none of this: every request looks at their stamp.) */
#pragma once

#include "common/net/http.h"

enum http_file { HTTP_FILE_CA, HTTP_FILE_CERT, HTTP_FILE_KEY, HTTP_FILES };

/* Reads `path` into the endpoint's field and remembers it. ERR_LIMIT, ERR_NOT_FOUND, ERR_SYSTEM,
 * ERR_NO_MEMORY. */
int http_files_read(struct world *w, struct http_endpoint *e, enum http_file which, const char *path,
                    struct error *err);

/* 1 = something changed and is used from now on, on new connections; 0 = nothing did; an error (no
 * certificate, a key that is of another certificate, an unreadable file) leaves all as it was, to be looked
 * at again. */
int http_files_refresh(struct world *w, struct http_endpoint *e, struct error *err);

/* Looks at the files of some endpoints every few seconds, until the group ends, and logs what it takes over.
 */
struct http_files_follower {
        struct world *world;
        const struct log *log;
        struct http_endpoint *endpoints[4]; /* NULL-terminated; borrowed */
};
int http_files_follow(struct fiber_group *group, struct http_files_follower *f /* borrowed by the fiber */);

struct http_files;
void http_files_free(struct http_files *f); /* by http_endpoint_free() */
