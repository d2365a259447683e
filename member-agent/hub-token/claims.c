#include "member-agent/hub-token/claims.h"

#include "common/base/memory.h"
#include "common/base/timefmt.h"
#include "common/json/doc.h"
#include "common/net/cert.h"

#define ACCOUNT_PREFIX "system:serviceaccount:"
#define SECONDS_MAX (INT64_C(1) << 40) /* far in the future, and far from overflow in milliseconds */

static int64_t claim_ms(const json_t *claims, const char *name)
{
        const json_t *value = json_object_get(claims, name);
        double seconds = json_is_number(value) ? json_number_value(value) : 0;

        return seconds > 0 && seconds < (double)SECONDS_MAX ? (int64_t)seconds * 1000 : TIME_NONE;
}

static int read_subject(const json_t *claims, struct arena *arena, struct token_claims *ret,
                        struct error *err)
{
        const char *subject = json_string_value(json_object_get(claims, "sub"));
        const char *colon = NULL;

        if (subject && text_starts_with(subject, ACCOUNT_PREFIX))
                colon = strchr(subject + strlen(ACCOUNT_PREFIX), ':');
        if (!colon)
                return error_set(err, ERR_INVALID, "the token is not of a service account");
        subject += strlen(ACCOUNT_PREFIX);
        ret->ns = arena_strndup(arena, subject, (size_t)(colon - subject));
        ret->account = arena_strdup(arena, colon + 1);
        if (!ret->ns || !ret->account)
                return error_no_memory(err);
        if (!text_is_dns1123_subdomain(ret->ns) || !text_is_dns1123_subdomain(ret->account))
                return error_set(err, ERR_INVALID, "the token names no service account");
        return 0;
}

int token_claims_read(const char *token, struct arena *arena, struct token_claims *ret, struct error *err)
{
        AUTO_FREE char *payload = NULL;
        AUTO_JSON json_t *claims = NULL;
        struct token_claims c = { 0 };

        TRY(jwt_read(token, &payload, err));
        TRY_WRAP(doc_parse(slice_of(payload), &claims, err), err, "the token's claims");
        TRY(read_subject(claims, arena, &c, err));
        c.issued_ms = claim_ms(claims, "iat");
        c.expires_ms = claim_ms(claims, "exp");
        c.document = TAKE_PTR(claims);
        *ret = c;
        return 0;
}

void token_claims_free(struct token_claims *c)
{
        json_decref((json_t *)c->document);
        *c = (struct token_claims){ 0 };
}

static int64_t life_ms(const struct token_claims *c)
{
        return c->issued_ms == TIME_NONE || c->issued_ms >= c->expires_ms ? 0 : c->expires_ms - c->issued_ms;
}

int64_t token_renew_at_ms(const struct token_claims *c, uint64_t random)
{
        int64_t life = life_ms(c);

        if (c->expires_ms == TIME_NONE)
                return TIME_NONE;
        /* 75 to 85 parts of a hundred. Unknown beginning: at once. */
        return life > 0 ? c->issued_ms + life / 100 * 75 + (int64_t)(random % (uint64_t)(life / 10 + 1)) : 0;
}

bool token_goes_on(const struct token_claims *now, const struct token_claims *next)
{
        return text_equal(next->account, now->account) && text_equal(next->ns, now->ns) &&
               (next->expires_ms == TIME_NONE || next->expires_ms > now->expires_ms);
}

/* A token may be bound to an object, with which it ends: the successor is as well. Not to a Pod: that one is
 * of the hub's own cluster, and cannot be ours. */
static json_t *bound_object(const struct token_claims *c)
{
        const json_t *secret = json_object_get(json_object_get(c->document, "kubernetes.io"), "secret");
        const char *name = json_string_value(json_object_get(secret, "name"));
        const char *uid = json_string_value(json_object_get(secret, "uid"));

        if (!name || !uid)
                return NULL;
        return json_pack("{s:s, s:s, s:s, s:s}", "apiVersion", "v1", "kind", "Secret", "name", name, "uid",
                         uid);
}

static json_t *audiences(const struct token_claims *c)
{
        json_t *given = json_object_get(c->document, "aud");

        if (json_is_array(given) && json_array_size(given) > 0)
                return json_incref(given);
        return json_is_string(given) ? json_pack("[O]", given) : NULL;
}

json_t *token_request_new(const struct token_claims *c)
{
        json_t *spec = json_object(), *wanted = audiences(c), *bound = bound_object(c);
        bool whole = spec != NULL;

        if (whole && wanted)
                whole = json_object_set(spec, "audiences", wanted) == 0;
        if (whole && bound)
                whole = json_object_set(spec, "boundObjectRef", bound) == 0;
        if (whole && life_ms(c) > 0)
                whole = json_object_set_new(spec, "expirationSeconds", json_integer(life_ms(c) / 1000)) == 0;
        json_decref(wanted);
        json_decref(bound);
        if (!whole)
                return json_decref(spec), NULL;
        return json_pack("{s:s, s:s, s:o}", "apiVersion", "authentication.k8s.io/v1", "kind", "TokenRequest",
                         "spec", spec);
}
