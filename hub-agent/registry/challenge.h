/* What WWW-Authenticate asks for (RFC 9110, 11.6.1). Pure. Internal to the folder. */
#pragma once

#include "common/net/http.h"

struct challenge {
        const char *realm, *service, *scope; /* NULL = not given */
};
/* The first one of that scheme, in whichever of the headers it is; what is no challenge ends its header.
 * Texts are in the arena. ERR_NO_MEMORY. */
int challenge_find(const struct http_headers *h, const char *scheme, struct arena *arena,
                   struct challenge *ret, bool *ret_found, struct error *err);
