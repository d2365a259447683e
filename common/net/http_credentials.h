/* Authorization headers, and the token files behind them. Used by http.c, and by who
 * explains a refusal (common/kube/trouble.c). */
#pragma once

#include "common/net/http.h"

struct http_credentials;
struct http_credentials *http_credentials_new(struct world *w); /* NULL on no memory */
struct http_credentials *http_credentials_free(struct http_credentials *c);

/* The header value for e into arena; *ret NULL if e has no credentials. A token file is read when it is new,
 * when its stamp changed, or when `again`; if it cannot be read any more, the last token is used. */
int http_credentials_header(struct http_credentials *c, const struct http_endpoint *e, bool again,
                            struct arena *arena, const char **ret, struct error *err);
