/* What the holder of a service account's token may know of it, and what follows for its renewal. Pure;
 * nothing here is verified: the hub does that. */
#pragma once

#include <jansson.h>

#include "common/base/arena.h"
#include "common/base/error.h"

struct token_claims {
        const char *ns, *account; /* "system:serviceaccount:NS:ACCOUNT" */
        int64_t issued_ms;        /* wall */
        int64_t expires_ms;       /* TIME_NONE: it never ends, and is never renewed */
        const json_t *document;   /* borrowed by the arena */
};

/* Everything in the arena, which must outlive *ret->document's use: claims_free() it. ERR_INVALID if the
 * token is not a service account's JWT (such as a token of another identity provider). */
int token_claims_read(const char *token, struct arena *arena, struct token_claims *ret, struct error *err);
void token_claims_free(struct token_claims *c);

/* When to renew: at four fifths of the token's life, give or take a twentieth by `random`, so that a fleet
 * that was started at once does not renew at once. TIME_NONE if it never ends. */
int64_t token_renew_at_ms(const struct token_claims *c, uint64_t random);

/* Whether the next token is of the same account and ends later than this one, or never. */
bool token_goes_on(const struct token_claims *now, const struct token_claims *next);

/* The TokenRequest for its successor: the same account, audience, length of life and bound object. A new
 * reference; NULL on no memory. */
json_t *token_request_new(const struct token_claims *c);
