/* What only a server itself can do: sign tokens and certificates that it would not give to anybody. */
#pragma once

#include "e2e/devcluster/devcluster.h"

struct insider_token {
        const char *ns, *account, *account_uid;
        const char *audience; /* NULL = the API server's */
        int64_t seconds;      /* of life from now on; below 0: it ended */
};
int insider_sign(struct devcluster *d, const struct insider_token *t, struct arena *arena, const char **ret,
                 struct error *err);
/* The authority of its client certificates; made if there is none. Borrowed. */
int insider_authority(struct devcluster *d, const char **ret_cert, const char **ret_key, struct error *err);
