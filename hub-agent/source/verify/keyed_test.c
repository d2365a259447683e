/* Signatures that are made with a key of one's own. */
#include "hub-agent/source/verify/public_key.h"
#include "hub-agent/source/verify/sigstore_test.h"

#define OTHER_DIGEST "sha256:2222222222222222222222222222222222222222222222222222222222222222"
#define NONE "no matching signatures were found for '" TEST_REFERENCE "'"
#define FAILED "failed to verify " TEST_REFERENCE ": "

struct keyed {
        struct arena arena;
        EVP_PKEY *ann, *bob, *eve;
        struct signature_trust trust;
        struct error err;
};

static int trust_in(struct keyed *k, const char *const *keys_and_values)
{
        json_t *doc = secret_with(keys_and_values);
        const struct secret s = { "apps/keys", doc };

        assert_int_equal(doc_keep(&k->arena, doc, NULL), 0);
        k->err = (struct error){ 0 };
        return signature_trust_of_secret(&s, &k->arena, &k->trust, &k->err);
}
#define TRUST(k, ...) trust_in(k, (const char *[]){ __VA_ARGS__, NULL })

static int check(struct keyed *k, const struct signature *all, size_t n)
{
        k->err = (struct error){ 0 };
        return signatures_check(&k->trust, TEST_DIGEST, TEST_REFERENCE, all, n, &k->arena, &k->err);
}

static void begin(struct keyed *k)
{
        *k = (struct keyed){ 0 };
        k->ann = kept_key(&k->arena, EVP_EC_gen("P-256"));
        k->bob = kept_key(&k->arena, EVP_EC_gen("P-256"));
        k->eve = kept_key(&k->arena, EVP_EC_gen("P-256"));
        assert_int_equal(TRUST(k, "a.pub", pem_of_key(&k->arena, k->ann), "b.pub",
                               pem_of_key(&k->arena, k->bob), "cosign.key", "no public key"),
                         0);
}

static void refuses(struct keyed *k, struct signature s, const char *words)
{
        assert_int_equal(check(k, &s, 1), ERR_FORBIDDEN);
        assert_string_equal(k->err.text, words);
}

/* spec/helm-chart.md checklist 83 */
static void one_key_and_one_signature_suffice(void **state)
{
        struct keyed k;

        begin(&k);
        assert_int_equal((int)k.trust.n_keys, 2);
        struct signature ann = signed_by(&k.arena, k.ann, TEST_DIGEST),
                         bob = signed_by(&k.arena, k.bob, TEST_DIGEST),
                         eve = signed_by(&k.arena, k.eve, TEST_DIGEST),
                         old = signed_by(&k.arena, k.ann, OTHER_DIGEST);

        assert_int_equal(check(&k, &ann, 1), 0);
        assert_int_equal(check(&k, &bob, 1), 0);
        assert_int_equal(check(&k, (struct signature[]){ eve, old, bob }, 3), 0);
        arena_free(&k.arena);
}

/* spec/helm-chart.md checklist 84 */
static void what_nobody_signed_is_refused(void **state)
{
        struct keyed k;
        struct signature s;

        begin(&k);
        assert_int_equal(check(&k, NULL, 0), ERR_FORBIDDEN);
        assert_string_equal(k.err.text, FAILED "no signatures found");
        refuses(&k, signed_by(&k.arena, k.eve, TEST_DIGEST), NONE);
        s = signed_by(&k.arena, k.ann, TEST_DIGEST);
        s.payload = slice_of(payload_of(&k.arena, OTHER_DIGEST, NULL));
        refuses(&k, s, NONE);
        s = signed_by(&k.arena, k.ann, TEST_DIGEST);
        s.value = signed_by(&k.arena, k.ann, OTHER_DIGEST).value;
        refuses(&k, s, NONE);
        s.value = "";
        refuses(&k, s, FAILED "it has no annotation dev.cosignproject.cosign/signature");
        s.value = "%%%";
        refuses(&k, s, FAILED "the signature: dev.cosignproject.cosign/signature: it is no base64");
        arena_free(&k.arena);
}

static struct signature signed_text(struct keyed *k, const char *payload)
{
        return (struct signature){ .payload = slice_of(payload),
                                   .value = sign_text(&k->arena, k->ann, slice_of(payload)) };
}

/* spec/helm-chart.md checklist 84 */
static void what_is_signed_has_to_be_of_this_manifest(void **state)
{
        struct keyed k;

        begin(&k);
        refuses(&k, signed_by(&k.arena, k.ann, OTHER_DIGEST),
                FAILED "what is signed: it is of " OTHER_DIGEST " and not of " TEST_DIGEST);
        refuses(&k, signed_text(&k, payload_of(&k.arena, TEST_DIGEST, "atomic container signature")),
                FAILED "what is signed: critical.type is 'atomic container signature' and not 'cosign "
                       "container image signature'");
        refuses(&k, signed_text(&k, "{\"critical\":{\"type\":7}}"),
                FAILED "what is signed: critical.type: must be a string, is an integer");
        refuses(&k, signed_text(&k, "{\"critical\":{\"type\":\"cosign container image signature\"}}"),
                FAILED "what is signed: critical.image.docker-manifest-digest: is required");
        arena_free(&k.arena);
}

static void a_stranger_among_signatures_does_not_hide_what_is_wrong(void **state)
{
        struct keyed k;

        begin(&k);
        struct signature all[] = { signed_by(&k.arena, k.eve, TEST_DIGEST),
                                   signed_by(&k.arena, k.ann, OTHER_DIGEST) };

        assert_int_equal(check(&k, all, 2), ERR_FORBIDDEN);
        assert_non_null(strstr(k.err.text, "it is of " OTHER_DIGEST));
        arena_free(&k.arena);
}

static void signs(const char *what, EVP_PKEY *key)
{
        struct keyed k = { 0 };

        kept_key(&k.arena, key);
        if (TRUST(&k, "k.pub", pem_of_key(&k.arena, key)) < 0)
                fail_msg("%s: %s", what, k.err.text);
        struct signature s = signed_by(&k.arena, key, TEST_DIGEST);

        assert_int_equal(check(&k, &s, 1), 0);
        arena_free(&k.arena);
}

/* spec/helm-chart.md checklist 83 */
static void keys_of_each_kind_are_taken(void **state)
{
        signs("P-256", EVP_EC_gen("P-256"));
        signs("P-384", EVP_EC_gen("P-384"));
        signs("P-521", EVP_EC_gen("P-521"));
        signs("RSA", EVP_RSA_gen(2048));
        signs("Ed25519", EVP_PKEY_Q_keygen(NULL, NULL, "ED25519"));
}

static void an_rsa_key_may_be_in_the_older_form(void **state)
{
        struct keyed k = { 0 };
        EVP_PKEY *key = kept_key(&k.arena, EVP_RSA_gen(2048));
        unsigned char *der = NULL;
        int n = i2d_PublicKey(key, &der);
        BIO *bio = BIO_new(BIO_s_mem());

        PEM_write_bio(bio, "RSA PUBLIC KEY", "", der, n);
        OPENSSL_free(der);
        assert_int_equal(TRUST(&k, "k.pub", pem_of(&k.arena, bio)), 0);
        struct signature s = signed_by(&k.arena, key, TEST_DIGEST);

        assert_int_equal(check(&k, &s, 1), 0);
        arena_free(&k.arena);
}

static void is_no_key(const char *pem, const char *why)
{
        struct keyed k;
        AUTO_FREE char *words = NULL;

        begin(&k);
        assert_int_equal(TRUST(&k, "a.pub", pem_of_key(&k.arena, k.ann), "z.pub", pem), ERR_INVALID);
        words = mem_printf("key 'z.pub' of secret 'apps/keys' cannot be used: %s", why);
        assert_string_equal(k.err.text, words);
        arena_free(&k.arena);
}

static const char *pem_of_new(struct arena *a, EVP_PKEY *key)
{
        return pem_of_key(a, kept_key(a, key));
}

/* spec/helm-chart.md checklist 84 */
static void keys_that_cannot_be_used_are_named(void **state)
{
        AUTO_ARENA struct arena a = ARENA_INIT;
        BIO *bio = BIO_new(BIO_s_mem());
        EVP_PKEY *key = kept_key(&a, EVP_EC_gen("P-256"));

        PEM_write_bio_PrivateKey(bio, key, NULL, NULL, 0, NULL, NULL);
        is_no_key(pem_of(&a, bio), "it is no public key in PEM");
        is_no_key("hello", "it is no public key in PEM");
        is_no_key("", "it is no public key in PEM");
        is_no_key("-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n", "it is no public key");
        is_no_key(pem_of_new(&a, EVP_RSA_gen(1024)), "it is an RSA key of 1024 bits, and 2048 are the least");
        is_no_key(pem_of_new(&a, EVP_EC_gen("secp256k1")),
                  "it is an ECDSA key of another curve than P-256, P-384 and P-521");
        is_no_key(pem_of_new(&a, EVP_PKEY_Q_keygen(NULL, NULL, "ED448")),
                  "it is a key of another kind than ECDSA, RSA and Ed25519");
}

/* spec/helm-chart.md checklist 84 */
static void a_secret_without_keys_is_told(void **state)
{
        struct keyed k;

        begin(&k);
        assert_int_equal(TRUST(&k, "cosign.pem", pem_of_key(&k.arena, k.ann)), ERR_INVALID);
        assert_string_equal(k.err.text, "no public keys found in secret 'apps/keys'");
        assert_int_equal(TRUST(&k, "x", "y"), ERR_INVALID);
        arena_free(&k.arena);
}

static void too_many_keys_are_a_limit(void **state)
{
        struct keyed k = { 0 };
        const char *all[2 * (SIGNATURE_KEYS + 1) + 1] = { NULL };

        for (int i = 0; i <= SIGNATURE_KEYS; i++) {
                all[2 * i] = arena_printf(&k.arena, "%d.pub", i);
                all[2 * i + 1] = "x";
        }
        assert_int_equal(trust_in(&k, all), ERR_LIMIT);
        arena_free(&k.arena);
}

/* spec/helm-chart.md checklist 97 */
static void each_allocation_may_fail(void **state)
{
        struct keyed k;
        AUTO_JSON json_t *doc = NULL;
        struct signature s;
        int code = -1;

        begin(&k);
        s = signed_by(&k.arena, k.ann, TEST_DIGEST);
        doc = secret_with((const char *[]){ "a.pub", pem_of_key(&k.arena, k.ann), NULL });
        for (uint64_t at = 1; code < 0; at++) {
                AUTO_ARENA struct arena a = ARENA_INIT;
                struct signature_trust t;
                struct error err = { 0 };

                mem_fail_at(at, false);
                code = signature_trust_of_secret(&(struct secret){ "apps/keys", doc }, &a, &t, &err);
                if (code == 0)
                        code = signatures_check(&t, TEST_DIGEST, TEST_REFERENCE, &s, 1, &a, &err);
                mem_fail_at(0, false);
                if (code < 0)
                        assert_int_equal(err.code, ERR_NO_MEMORY);
        }
        arena_free(&k.arena);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(one_key_and_one_signature_suffice),
                cmocka_unit_test(what_nobody_signed_is_refused),
                cmocka_unit_test(what_is_signed_has_to_be_of_this_manifest),
                cmocka_unit_test(a_stranger_among_signatures_does_not_hide_what_is_wrong),
                cmocka_unit_test(keys_of_each_kind_are_taken),
                cmocka_unit_test(an_rsa_key_may_be_in_the_older_form),
                cmocka_unit_test(keys_that_cannot_be_used_are_named),
                cmocka_unit_test(a_secret_without_keys_is_told),
                cmocka_unit_test(too_many_keys_are_a_limit),
                cmocka_unit_test(each_allocation_may_fail),
        };
        mem_hook_libraries();
        return cmocka_run_group_tests(tests, NULL, NULL);
}
