/* Tokens that are not good: forged, edited, of others, for others, revoked. Each is tried on a request that
 * the member's own token is allowed. */
#include "e2e/hostile/hostile.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>

#include "common/base/memory.h"

#define WORKS "/apis/placement.kubernetes-fleet.io/v1beta1/namespaces/fleet-member-" HOSTILE "/works"
#define ACCOUNTS "/api/v1/namespaces/fleet-system/serviceaccounts"
#define SECRETS "/api/v1/namespaces/fleet-system/secrets"
#define TOKEN_SIZE 8192
#define REVOKED_MS 60000
#define REVOKED_POLL_MS 200

/* ---- making tokens ---- */

static void append_base64url(char token[TOKEN_SIZE], const void *data, size_t n)
{
        size_t used = strlen(token);
        char text[TOKEN_SIZE];

        text_base64_encode(data, n, text);
        for (const char *c = text; *c && *c != '=' && used < TOKEN_SIZE - 1; c++)
                token[used++] = *c == '+' ? '-' : *c == '/' ? '_' : *c;
        token[used] = '\0';
}

static void append(char token[TOKEN_SIZE], const char *text)
{
        size_t used = strlen(token);

        snprintf(token + used, TOKEN_SIZE - used, "%s", text);
}

/* header.payload.signature of the member's own token, as it is. */
static struct slice part(const char *token, int which)
{
        struct slice rest = slice_of(token), one = { 0 };

        for (int i = 0; i <= which; i++)
                slice_cut(&rest, '.', &one);
        return one;
}

static void claims_of(const struct hostile *h, char ret[TOKEN_SIZE])
{
        struct slice payload = part(h->token, 1);
        char padded[TOKEN_SIZE];
        size_t n = MIN(payload.len, (size_t)TOKEN_SIZE - 4), len = 0;

        memcpy(padded, payload.data, n);
        while (n % 4)
                padded[n++] = '=';
        if (text_base64_decode((struct slice){ padded, n }, ret, TOKEN_SIZE - 1, &len, true) < 0)
                len = 0;
        ret[len] = '\0';
}

static void replace(char text[TOKEN_SIZE], const char *what, const char *with)
{
        char *at = strstr(text, what), rest[TOKEN_SIZE];

        if (!at)
                return;
        snprintf(rest, sizeof(rest), "%s", at + strlen(what));
        snprintf(at, TOKEN_SIZE - (size_t)(at - text), "%s%s", with, rest);
}

static void build(char ret[TOKEN_SIZE], const char *header, const char *claims)
{
        ret[0] = '\0';
        append_base64url(ret, header, strlen(header));
        append(ret, ".");
        append_base64url(ret, claims, strlen(claims));
        append(ret, ".");
}

static void edited(const struct hostile *h, const char *what, const char *with, char ret[TOKEN_SIZE])
{
        struct slice header = part(h->token, 0), signature = part(h->token, 2);
        char claims[TOKEN_SIZE];

        claims_of(h, claims);
        replace(claims, what, with);
        snprintf(ret, TOKEN_SIZE, "%.*s.", (int)header.len, header.data);
        append_base64url(ret, claims, strlen(claims));
        append(ret, ".");
        snprintf(ret + strlen(ret), TOKEN_SIZE - strlen(ret), "%.*s", (int)signature.len, signature.data);
}

/* Signed with what everybody knows: the CA's certificate as the secret of a symmetric algorithm. */
static void symmetric(const struct hostile *h, char ret[TOKEN_SIZE])
{
        unsigned char mac[EVP_MAX_MD_SIZE];
        unsigned n = 0;
        char claims[TOKEN_SIZE];

        claims_of(h, claims);
        build(ret, "{\"alg\":\"HS256\",\"typ\":\"JWT\"}", claims);
        HMAC(EVP_sha256(), h->hub.ca_pem, (int)strlen(h->hub.ca_pem), (const unsigned char *)ret,
             strlen(ret) - 1, mac, &n);
        append_base64url(ret, mac, n);
}

/* ---- asking for tokens as the administrator ---- */

static int admin(struct hostile *h, const char *method, const char *path, const char *body, json_t **ret,
                 struct error *err)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct http_response r;

        TRY(kube_raw(h->admin, method, path, body ? "application/json" : NULL, slice_of(body ? body : ""),
                     &arena, &r, err));
        return ret ? doc_parse(r.body, ret, err) : 0;
}

static int token_for(struct hostile *h, const char *account, const char *spec, char ret[TOKEN_SIZE],
                     struct error *err)
{
        AUTO_JSON json_t *answer = NULL;
        char path[256], body[1024];

        snprintf(path, sizeof(path), ACCOUNTS "/%s/token", account);
        snprintf(body, sizeof(body), "{\"spec\":{\"expirationSeconds\":600%s}}", spec);
        TRY(admin(h, "POST", path, body, &answer, err));
        snprintf(ret, TOKEN_SIZE, "%s", doc_get_string(answer, "status.token"));
        return 0;
}

static int revoked_account(struct hostile *h, char ret[TOKEN_SIZE], struct error *err)
{
        TRY(admin(h, "POST", ACCOUNTS, "{\"metadata\":{\"name\":\"gone\"}}", NULL, err));
        TRY(token_for(h, "gone", "", ret, err));
        return admin(h, "DELETE", ACCOUNTS "/gone", NULL, NULL, err);
}

static int revoked_secret(struct hostile *h, char ret[TOKEN_SIZE], struct error *err)
{
        AUTO_JSON json_t *secret = NULL;
        char spec[512];

        TRY(admin(h, "POST", SECRETS, "{\"metadata\":{\"name\":\"tie\"}}", &secret, err));
        snprintf(spec, sizeof(spec),
                 ",\"boundObjectRef\":{\"kind\":\"Secret\",\"apiVersion\":\"v1\",\"name\":\"tie\",\"uid\":"
                 "\"%s\"}",
                 doc_get_string(secret, "metadata.uid"));
        TRY(token_for(h, HOSTILE_ACCOUNT, spec, ret, err));
        return admin(h, "DELETE", SECRETS "/tie", NULL, NULL, err);
}

/* ---- trying ---- */

/* Who shows no credential, or one that nobody looks at, is system:anonymous, who may nothing. */
static bool is_nobody(struct hostile *h, const char *authorization, const struct http_endpoint *endpoint,
                      struct answer *ret)
{
        const struct ask a = {
                .method = "GET", .path = WORKS, .authorization = authorization, .endpoint = endpoint
        };

        hostile_ask(h, &a, ret);
        return ret->status == 401 || (ret->status == 403 && strstr(ret->text, "system:anonymous"));
}

static void expect_nobody(struct hostile *h, const char *what, const char *scheme, const char *token,
                          const struct http_endpoint *endpoint)
{
        AUTO_FREE char *authorization = scheme ? mem_printf("%s %s", scheme, token) : NULL;
        struct answer *answer = NEW(struct answer);

        if (is_nobody(h, authorization, endpoint, answer))
                hostile_passed(h);
        else
                hostile_failed(h, what, answer);
        mem_free(answer);
}

/* A real API server goes by its watches, and remembers for ten seconds whom it let in. */
static int expect_nobody_soon(struct hostile *h, const char *what, const char *token, struct error *err)
{
        AUTO_FREE char *authorization = mem_printf("Bearer %s", token);
        AUTO_FREE struct answer *answer = NEW(struct answer);
        struct loop *l = h->admin->world->loop;
        int64_t deadline_ms = loop_now_ms(l) + REVOKED_MS;
        bool nobody;

        if (!authorization || !answer)
                return error_no_memory(err);
        while (!(nobody = is_nobody(h, authorization, NULL, answer)) && loop_now_ms(l) < deadline_ms)
                TRY(fiber_sleep(l, REVOKED_POLL_MS));
        if (nobody)
                hostile_passed(h);
        else
                hostile_failed(h, what, answer);
        return 0;
}

static void try_forged(struct hostile *h)
{
        static const struct {
                const char *what, *from, *to;
        } edits[] = {
                { "the hub-agent's name in its own token", HOSTILE_ACCOUNT, "hub-agent-sa" },
                { "the victim's name in its own token", "system:serviceaccount:fleet-system:" HOSTILE,
                  "system:serviceaccount:fleet-system:" VICTIM },
                { "a longer life in its own token", "\"exp\":1", "\"exp\":9" },
                { "another audience in its own token", "\"aud\":[", "\"aud\":[\"x\"," },
        };
        char token[TOKEN_SIZE], claims[TOKEN_SIZE];

        for (size_t i = 0; i < ARRAY_LEN(edits); i++) {
                edited(h, edits[i].from, edits[i].to, token);
                expect_nobody(h, edits[i].what, "Bearer", token, NULL);
        }
        claims_of(h, claims);
        build(token, "{\"alg\":\"none\",\"typ\":\"JWT\"}", claims);
        expect_nobody(h, "algorithm none", "Bearer", token, NULL);
        build(token, "{\"alg\":\"None\"}", claims);
        expect_nobody(h, "algorithm None", "Bearer", token, NULL);
        build(token, "{\"alg\":\"RS256\",\"kid\":\"../../../../dev/null\"}", claims);
        append(token, "AAAA");
        expect_nobody(h, "a key that is a path", "Bearer", token, NULL);
        symmetric(h, token);
        expect_nobody(h, "the CA's certificate as a symmetric key", "Bearer", token, NULL);
        snprintf(token, sizeof(token), "%.*s", (int)(strlen(h->token) - 4), h->token);
        expect_nobody(h, "a cut signature", "Bearer", token, NULL);
        snprintf(token, sizeof(token), "%s.%s", h->token, "x");
        expect_nobody(h, "a fourth part", "Bearer", token, NULL);
}

static void try_malformed(struct hostile *h)
{
        char *huge = mem_must(mem_alloc(5001));

        memset(huge, 'A', 5000);
        huge[5000] = '\0';
        expect_nobody(h, "no credential", NULL, NULL, NULL);
        expect_nobody(h, "no token", "Bearer", "garbage", NULL);
        expect_nobody(h, "dots", "Bearer", "..", NULL);
        expect_nobody(h, "a huge token", "Bearer", huge, NULL);
        expect_nobody(h, "basic authentication", "Basic", "YWRtaW46YWRtaW4=", NULL);
        mem_free(huge);
}

static int try_issued(struct hostile *h, struct error *err)
{
        AUTO_FREE char *of_member = NULL;
        char token[TOKEN_SIZE];
        struct kube_client *member;
        struct http_endpoint there;

        TRY(token_for(h, HOSTILE_ACCOUNT, ",\"audiences\":[\"https://elsewhere.example\"]", token, err));
        expect_nobody(h, "a token for another audience", "Bearer", token, NULL);
        TRY(fleet_account_token(h->fleet, HOSTILE, 600, &of_member, err));
        expect_nobody(h, "a token of another cluster's key", "Bearer", of_member, NULL);
        TRY(h->fleet->ops->client(h->fleet, VICTIM, &member, err));
        there = (struct http_endpoint){ .base_url = member->endpoint->base_url,
                                        .ca_pem = member->endpoint->ca_pem };
        expect_nobody(h, "the hub's token on the victim's cluster", "Bearer", h->token, &there);
        TRY(revoked_account(h, token, err));
        TRY(expect_nobody_soon(h, "a token of an account that is gone", token, err));
        TRY(revoked_secret(h, token, err));
        return expect_nobody_soon(h, "a token bound to a Secret that is gone", token, err);
}

int credentials_try(struct hostile *h, struct error *err)
{
        try_malformed(h);
        try_forged(h);
        return try_issued(h, err);
}
