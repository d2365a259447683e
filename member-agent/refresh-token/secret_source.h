/* Tokens from the key "token" of a Secret on the member cluster, seen at once when it changes. */
#pragma once

#include "common/kube/client.h"
#include "member-agent/refresh-token/refresh.h"
#include "member-agent/watch/follower.h"

struct secret_source {
        struct token_source source;
        struct kube_client *kube;
        const char *ns, *name;
        struct refresher *refresher; /* woken by a change */
        char *selector, *seen;       /* field selector; resourceVersion last read */
        struct follower *follower;
};

/* Fills s and begins to watch in `group`. Without the right to watch, or while the API server is away,
 * `fetch` asks to be called every five minutes. */
int secret_source_start(struct secret_source *s, struct fiber_group *group, struct error *err);
void secret_source_stop(struct secret_source *s); /* from a fiber */

/* When a token stops being good: the "exp" of a JWT, else a day from now (tokens of Secrets need not say). */
int64_t token_expires_ms(const char *token, int64_t now_ms);
