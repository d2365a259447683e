#include "e2e/devcluster/tokens.h"

#include "common/base/limits.h"
#include "common/net/cert.h"
#include "e2e/devcluster/internal.h"
#include "e2e/devcluster/meta.h"

/* Checking a signature costs 0.1 ms, so what tokens say is kept by their text. The time is looked at every
 * time; whether the account is still there, whenever something was written where it is. */
#define CACHE_MAX 8192
#define KEY_BYTES 64u /* of a token's end: most of its signature, by which it is found */

/* What both kinds of tokens say. */
struct claims {
        const char *ns, *account, *uid, *secret, *secret_uid, *pod, *pod_uid, *id;
        const json_t *audiences;         /* NULL for legacy tokens */
        int64_t expires_s, not_before_s; /* seconds; INT64_MAX and 0 if they do not say */
};

/* A token whose signature was found good, and whom it stands for. */
struct known_token {
        unsigned refs; /* the cache's and those of requests */
        struct arena arena;
        const char *text;
        size_t len;
        struct claims claims;
        struct identity who;
        bool for_server; /* the API server is its audience */

        /* What it rests on was all there last, in this cluster, after so many writes of its tables. */
        const struct cluster *seen_in;
        struct {
                const struct table *table; /* NULL = it rests on nothing there */
                uint64_t writes;
        } seen[3];
};

struct authn {
        struct map known; /* a token's end -> struct known_token */
        uint64_t last_number;
        struct jwt_key *key; /* NULL = not read yet */
};

static void known_unref(void *value)
{
        struct known_token *k = value;
        if (!k || --k->refs > 0)
                return;
        arena_free(&k->arena);
        mem_free(k);
}

static struct authn *authn_of(struct devcluster *d)
{
        if (!d->authn) {
                d->authn = NEW(struct authn);
                if (d->authn)
                        map_init(&d->authn->known, MAP_BORROW_KEYS, known_unref);
        }
        return d->authn;
}

void token_cache_free(struct devcluster *d)
{
        if (d->authn) {
                map_free(&d->authn->known);
                jwt_key_free(d->authn->key);
        }
        mem_free(d->authn);
        d->authn = NULL;
}

/* NULL: err says why. */
static const struct jwt_key *key_of(struct devcluster *d, struct error *err)
{
        struct authn *a = authn_of(d);
        if (!a) {
                error_no_memory(err);
                return NULL;
        }
        if (!a->key)
                a->key = jwt_key_new(d->signing_key, "argosy-devcluster", err);
        return a->key;
}

/* ---- signing ---- */

static int sign(struct devcluster *d, const json_t *claims, struct arena *arena, const char **ret,
                struct error *err)
{
        AUTO_BUF struct buf payload;
        AUTO_FREE char *token = NULL;
        buf_init(&payload, LIMIT_TOKEN_BYTES);
        TRY(pki_ensure(d, err));
        if (doc_write(claims, &payload) < 0)
                return buf_status(&payload, err, "token");
        const struct jwt_key *key = key_of(d, err);
        if (!key)
                return err->code;
        TRY(jwt_key_sign(key, (struct slice){ payload.data, payload.len }, &token, err));
        *ret = arena_strdup(arena, token);
        return *ret ? 0 : error_no_memory(err);
}

static json_t *audiences_of(const struct token_request *t)
{
        return json_array_size(t->audiences) ? doc_copy(t->audiences) : json_pack("[s]", TOKEN_ISSUER);
}

static int add_bound(json_t *kubernetes, const struct token_request *t)
{
        if (!t->bound_kind)
                return 0;
        const char *key = strcmp(t->bound_kind, "Pod") == 0 ? "pod" : "secret";
        return doc_set(kubernetes, key, json_pack("{s:s,s:s}", "name", t->bound_name, "uid", t->bound_uid));
}

int token_sign(struct devcluster *d, const struct token_request *t, struct arena *arena, const char **ret,
               struct error *err)
{
        int64_t now = loop_wall_ms(d->loop) / 1000;
        char id[37];
        meta_new_uid(d->loop, id);
        const char *subject = arena_printf(arena, "system:serviceaccount:%s:%s", t->ns, t->account);
        AUTO_JSON json_t *kubernetes = json_pack("{s:s,s:{s:s,s:s}}", "namespace", t->ns, "serviceaccount",
                                                 "name", t->account, "uid", t->account_uid);
        if (!subject || !kubernetes || add_bound(kubernetes, t) < 0)
                return error_no_memory(err);
        AUTO_JSON json_t *claims =
                json_pack("{s:o,s:I,s:I,s:s,s:s,s:O,s:I,s:s}", "aud", audiences_of(t), "exp",
                          (json_int_t)(now + t->seconds), "iat", (json_int_t)now, "iss", TOKEN_ISSUER, "jti",
                          id, "kubernetes.io", kubernetes, "nbf", (json_int_t)now, "sub", subject);
        return claims ? sign(d, claims, arena, ret, err) : error_no_memory(err);
}

int token_sign_legacy(struct devcluster *d, const struct token_request *t, struct arena *arena,
                      const char **ret, struct error *err)
{
        const char *subject = arena_printf(arena, "system:serviceaccount:%s:%s", t->ns, t->account);
        if (!subject)
                return error_no_memory(err);
        AUTO_JSON json_t *claims = json_pack(
                "{s:s,s:s,s:s,s:s,s:s,s:s}", "iss", TOKEN_LEGACY_ISSUER,
                "kubernetes.io/serviceaccount/namespace", t->ns, "kubernetes.io/serviceaccount/secret.name",
                t->bound_name, "kubernetes.io/serviceaccount/service-account.name", t->account,
                "kubernetes.io/serviceaccount/service-account.uid", t->account_uid, "sub", subject);
        return claims ? sign(d, claims, arena, ret, err) : error_no_memory(err);
}

/* ---- reading ---- */

static int bad(struct error *err, const char *why)
{
        return error_set(err, ERR_UNAUTHORIZED, "%s", why);
}

static int verify(struct devcluster *d, const char *token, json_t **ret, struct error *err)
{
        AUTO_FREE char *payload = NULL;
        AUTO_JSON json_t *claims = NULL;
        if (!d->signing_key)
                return bad(err, "no token was ever signed here");
        const struct jwt_key *key = key_of(d, err);
        if (!key)
                return err->code;
        TRY(jwt_key_verify(key, token, &payload, err));
        TRY(doc_parse(slice_of(payload), &claims, err));
        if (!json_is_object(claims))
                return bad(err, "the token's claims are not an object");
        *ret = TAKE_PTR(claims);
        return 0;
}

static int check_times(struct devcluster *d, const struct claims *t, struct error *err)
{
        int64_t now = loop_wall_ms(d->loop) / 1000;
        if (now >= t->expires_s)
                return bad(err, "service account token has expired");
        if (now + 60 < t->not_before_s)
                return bad(err, "service account token is not valid yet");
        return 0;
}

static bool has_string(const json_t *list, const char *s)
{
        size_t i;
        json_t *item;
        json_array_foreach(list, i, item)
                if (text_equal(json_string_value(item), s))
                        return true;
        return false;
}

static bool lives(struct cluster *c, const char *table_key, const char *ns, const char *name, const char *uid)
{
        struct blob *b = name ? api_store_get(api_store_table(c, table_key, false), ns, name) : NULL;
        return b && (!uid || strcmp(blob_uid(b), uid) == 0);
}

static const char *claim(const json_t *claims, const char *a, const char *b, const char *c)
{
        const char *const keys[] = { a, b, c };
        return json_string_value(doc_get_keys(claims, keys, c ? 3 : b ? 2 : 1));
}

static int read_claims(const json_t *doc, struct claims *ret, struct error *err)
{
        static const char k[] = "kubernetes.io";
        const char *issuer = claim(doc, "iss", NULL, NULL);
        if (text_equal(issuer, TOKEN_ISSUER))
                *ret = (struct claims){ .ns = claim(doc, k, "namespace", NULL),
                                        .account = claim(doc, k, "serviceaccount", "name"),
                                        .uid = claim(doc, k, "serviceaccount", "uid"),
                                        .secret = claim(doc, k, "secret", "name"),
                                        .secret_uid = claim(doc, k, "secret", "uid"),
                                        .pod = claim(doc, k, "pod", "name"),
                                        .pod_uid = claim(doc, k, "pod", "uid"),
                                        .id = claim(doc, "jti", NULL, NULL),
                                        .audiences = json_object_get(doc, "aud") };
        else if (text_equal(issuer, TOKEN_LEGACY_ISSUER))
                *ret = (struct claims){
                        .ns = claim(doc, "kubernetes.io/serviceaccount/namespace", NULL, NULL),
                        .account =
                                claim(doc, "kubernetes.io/serviceaccount/service-account.name", NULL, NULL),
                        .uid = claim(doc, "kubernetes.io/serviceaccount/service-account.uid", NULL, NULL),
                        .secret = claim(doc, "kubernetes.io/serviceaccount/secret.name", NULL, NULL),
                };
        else
                return bad(err, "the token has another issuer");
        ret->expires_s = doc_get_int(doc, "exp", INT64_MAX);
        ret->not_before_s = doc_get_int(doc, "nbf", 0);
        return ret->ns && ret->account && ret->uid ? 0 : bad(err, "the token names no service account");
}

static int check_objects(struct cluster *c, const struct claims *t, struct error *err)
{
        if (!lives(c, "/serviceaccounts", t->ns, t->account, t->uid))
                return bad(err, "the token's service account is gone");
        if (t->secret && !lives(c, "/secrets", t->ns, t->secret, t->secret_uid))
                return bad(err, "the token's secret is gone");
        if (t->pod && !lives(c, "/pods", t->ns, t->pod, t->pod_uid))
                return bad(err, "the token's pod is gone");
        return 0;
}

static uint64_t writes_of(const struct table *t)
{
        return t->events.base + t->events.n;
}

static bool is_untouched(const struct known_token *k, const struct cluster *c)
{
        if (k->seen_in != c)
                return false;
        for (size_t i = 0; i < ARRAY_LEN(k->seen); i++)
                if (k->seen[i].table && writes_of(k->seen[i].table) != k->seen[i].writes)
                        return false;
        return true;
}

/* As check_objects(), which is left out while nobody wrote where they are. */
static int check_known(struct known_token *k, struct cluster *c, struct error *err)
{
        const struct claims *t = &k->claims;
        const char *const keys[] = { "/serviceaccounts", t->secret ? "/secrets" : NULL,
                                     t->pod ? "/pods" : NULL };
        if (is_untouched(k, c))
                return 0;
        TRY(check_objects(c, t, err));
        k->seen_in = c;
        for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
                const struct table *at = keys[i] ? api_store_table(c, keys[i], false) : NULL;
                k->seen[i].table = at;
                k->seen[i].writes = at ? writes_of(at) : 0;
        }
        return 0;
}

const char *const *token_account_groups(struct arena *arena, const char *ns)
{
        const char **groups = ARENA_NEW_ARRAY(arena, const char *, 4);
        if (!groups)
                return NULL;
        groups[0] = "system:serviceaccounts";
        groups[1] = arena_printf(arena, "system:serviceaccounts:%s", ns);
        groups[2] = "system:authenticated";
        return groups[1] ? groups : NULL;
}

static void decref(void *doc)
{
        json_decref(doc);
}

/* An object of lists, given to the arena. */
static int extra_of(struct arena *arena, const struct claims *t, const json_t **ret)
{
        json_t *extra = json_object();
        if (!extra || arena_defer(arena, decref, extra) < 0)
                return ERR_NO_MEMORY;
        if (t->id && json_object_set_new(extra, "authentication.kubernetes.io/credential-id",
                                         json_pack("[o]", json_sprintf("JTI=%s", t->id))) < 0)
                return ERR_NO_MEMORY;
        if (t->pod && (json_object_set_new(extra, "authentication.kubernetes.io/pod-name",
                                           json_pack("[s]", t->pod)) < 0 ||
                       json_object_set_new(extra, "authentication.kubernetes.io/pod-uid",
                                           json_pack("[s]", t->pod_uid ? t->pod_uid : "")) < 0))
                return ERR_NO_MEMORY;
        *ret = json_object_size(extra) ? extra : NULL;
        return 0;
}

static int make_identity(struct arena *arena, const struct claims *t, struct identity *ret)
{
        struct identity id = { .name = arena_printf(arena, "system:serviceaccount:%s:%s", t->ns, t->account),
                               .uid = arena_strdup(arena, t->uid),
                               .groups = token_account_groups(arena, t->ns) };
        TRY(extra_of(arena, t, &id.extra));
        if (!id.name || !id.uid || !id.groups)
                return ERR_NO_MEMORY;
        *ret = id;
        return 0;
}

static bool is_for(const struct claims *t, const char *audience)
{
        return t->audiences ? has_string(t->audiences, audience) : strcmp(audience, TOKEN_ISSUER) == 0;
}

/* Checks the signature and reads what the token says. */
static int learn(struct devcluster *d, const char *token, struct known_token *k, struct error *err)
{
        k->len = strlen(token);
        k->text = arena_strndup(&k->arena, token, k->len);
        if (!k->text)
                return error_no_memory(err);
        json_t *doc = NULL;
        TRY(verify(d, token, &doc, err));
        TRY(doc_keep(&k->arena, doc, err));
        TRY(read_claims(doc, &k->claims, err));
        k->for_server = is_for(&k->claims, TOKEN_ISSUER);
        if (make_identity(&k->arena, &k->claims, &k->who) < 0)
                return error_no_memory(err);
        k->who.number = ++d->authn->last_number;
        return 0;
}

static struct slice key_in(const char *token, size_t len)
{
        size_t n = MIN(len, (size_t)KEY_BYTES);
        return (struct slice){ token + len - n, n };
}

static int remember(struct authn *a, struct known_token *k, struct error *err)
{
        struct slice key = key_in(k->text, k->len);
        if (map_count(&a->known) >= CACHE_MAX)
                map_clear(&a->known);
        return map_put_n(&a->known, key.data, key.len, k) < 0 ? error_no_memory(err) : 0;
}

/* NULL: not known. */
static struct known_token *find_known(const struct authn *a, const char *token, size_t len)
{
        struct slice key = key_in(token, len);
        struct known_token *k = map_get_n(&a->known, key.data, key.len);
        return k && k->len == len && memcmp(k->text, token, len) == 0 ? k : NULL;
}

/* Borrowed until the next call. */
static int know(struct devcluster *d, const char *token, struct known_token **ret, struct error *err)
{
        struct authn *a = authn_of(d);
        size_t len = strlen(token);
        if (!a)
                return error_no_memory(err);
        if (len > LIMIT_TOKEN_BYTES)
                return bad(err, "the token is too long");
        *ret = find_known(a, token, len);
        if (*ret)
                return 0;
        struct known_token *k = NEW(struct known_token);
        if (!k)
                return error_no_memory(err);
        k->refs = 1;
        int r = learn(d, token, k, err);
        if (r == 0)
                r = remember(a, k, err);
        if (r < 0)
                return known_unref(k), r;
        *ret = k;
        return 0;
}

int token_identify(struct devcluster *d, struct cluster *c, const char *token, const char *wanted_audience,
                   struct arena *arena, struct identity *ret, const json_t **ret_audiences, struct error *err)
{
        struct known_token *k = NULL;
        TRY(know(d, token, &k, err));
        const struct claims *t = &k->claims;
        TRY(check_times(d, t, err));
        if (wanted_audience ? !is_for(t, wanted_audience) : !k->for_server)
                return bad(err, "the token is for another audience");
        TRY(check_known(k, c, err));
        k->refs++;
        if (arena_defer(arena, known_unref, k) < 0)
                return error_no_memory(err);
        *ret = k->who;
        if (ret_audiences)
                *ret_audiences = t->audiences;
        return 0;
}
