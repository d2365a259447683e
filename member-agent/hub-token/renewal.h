/* Keeps the member's token for the hub alive: before it ends, the agent asks the hub for its successor
 * (TokenRequest, which needs the right to create serviceaccounts/token for its own account there) and stores
 * it where the token came from: in the Secret on the member cluster, if one is named, and in the token file.
 * The HTTP client reads the file anew whenever it changes, so nothing is restarted, and an agent that is
 * started long after the first token's end finds a good one.
 *
 * Whoever else keeps the token fresh may do so: a token that somebody put there is taken, and renewed only
 * when it is due in turn. */
#pragma once

#include "common/ctrl/metrics.h"
#include "common/kube/client.h"

struct token_renewal_options {
        struct kube_client *hub;    /* uses the token file */
        struct kube_client *member; /* for the Secret */
        const struct log *log;
        struct metrics *metrics;             /* when the token ends and is renewed; NULL = none */
        const char *path;                    /* token file */
        const char *secret_ns, *secret_name; /* NULL = no Secret; its key is "token" */
};

struct token_renewal;
/* Strings are copied. NULL on no memory. */
struct token_renewal *token_renewal_new(struct fiber_group *group, const struct token_renewal_options *o);
struct token_renewal *token_renewal_free(struct token_renewal *r); /* from a fiber */
/* What is wrong, in a sentence; "" if nothing is. */
const char *token_renewal_problem(const struct token_renewal *r);

/* Writes the Secret's token into the file, for an agent that finds no file when it starts. */
int token_fetch(const struct token_renewal_options *o, struct error *err);
