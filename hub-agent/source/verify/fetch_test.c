/* Signatures in a registry. */
#include "hub-agent/registry/client_test.h"
#include "hub-agent/source/verify/fetch.h"
#include "hub-agent/source/verify/recorded_test.h"
#include "hub-agent/source/verify/signed_registry_test.h"

#define REFERENCE HOST "/" REPOSITORY ":1.0.0"
#define FAILED "failed to verify " REFERENCE ": "

struct signing {
        struct client *client;
        EVP_PKEY *key;
        struct signature_trust trust;
        const char *digest, *tag;
};

static void trust(struct signing *s, const char *pem)
{
        json_t *doc = secret_with((const char *[]){ "cosign.pub", pem, NULL });

        assert_int_equal(doc_keep(&s->client->arena, doc, NULL), 0);
        assert_int_equal(signature_trust_of_secret(&(struct secret){ "apps/keys", doc }, &s->client->arena,
                                                   &s->trust, NULL),
                         0);
}

static void begin(struct client *c, struct signing *s)
{
        *s = (struct signing){ .client = c, .key = kept_key(&c->arena, EVP_EC_gen("P-256")) };
        trust(s, pem_of_key(&c->arena, s->key));
        s->digest = sim_chart(&c->sim, REPOSITORY, "1.0.0", NULL, SLICE("a chart"));
        s->tag = arena_printf(&c->arena, "sha256-%s.sig", s->digest + strlen("sha256:"));
}

static void verifies(struct signing *s)
{
        works(s->client,
              signatures_verify(&s->client->registry, &s->trust, s->digest, REFERENCE, &s->client->err));
}

static void refuses(struct signing *s, const char *words)
{
        fails(s->client,
              signatures_verify(&s->client->registry, &s->trust, s->digest, REFERENCE, &s->client->err),
              ERR_FORBIDDEN, words);
}

/* ---- what stands in the registry ---- */

static const char *layer_of(struct signing *s, struct signature what)
{
        return sim_signature(&s->client->sim, REPOSITORY, &what);
}

static void keep_layers(struct signing *s, const char *layers)
{
        sim_sign(&s->client->sim, REPOSITORY, s->digest, layers);
}

/* Refers to the chart's manifest. */
static const char *keep_bundle(struct signing *s, const char *bundle)
{
        struct registry_sim *sim = &s->client->sim;
        const char *layer = arena_printf(&sim->arena,
                                         "{\"mediaType\":\"" SIGNATURE_BUNDLE_TYPE
                                         "\",\"digest\":\"%s\",\"size\":%zu}",
                                         sim_blob(sim, REPOSITORY, slice_of(bundle)), strlen(bundle)),
                   *subject = arena_printf(&sim->arena,
                                           ",\"artifactType\":\"" SIGNATURE_BUNDLE_TYPE
                                           "\",\"subject\":{\"mediaType\":\"" SIM_OCI_MANIFEST
                                           "\",\"digest\":\"%s\",\"size\":1}",
                                           s->digest);

        return sim_manifest(sim, REPOSITORY, NULL, SIM_OCI_MANIFEST,
                            sim_text_of_manifest(sim, REPOSITORY, layer, subject));
}

/* ---- tests ---- */

/* spec/helm-chart.md checklist 83 */
CLIENT_TEST(a_signature_under_the_digests_tag_is_found, {
        struct signing s;

        begin(c, &s);
        EVP_PKEY *other = kept_key(&c->arena, EVP_EC_gen("P-256"));

        keep_layers(&s, arena_printf(&c->arena, "%s,%s", layer_of(&s, signed_by(&c->arena, other, s.digest)),
                                     layer_of(&s, signed_by(&c->arena, s.key, s.digest))));
        verifies(&s);
})

/* spec/helm-chart.md checklist 84 */
CLIENT_TEST(what_is_not_signed_is_told, {
        struct signing s;

        begin(c, &s);
        refuses(&s, FAILED "no signatures found");
        keep_layers(&s, "");
        refuses(&s, FAILED "no signatures found");
        keep_layers(&s, "{\"mediaType\":\"text/plain\",\"digest\":\"" TEST_DIGEST "\",\"size\":2}");
        refuses(&s, FAILED "no signatures found");
        keep_layers(&s, layer_of(&s, signed_by(&c->arena, s.key, TEST_DIGEST)));
        refuses(&s, arena_printf(&c->arena, FAILED "what is signed: it is of " TEST_DIGEST " and not of %s",
                                 s.digest));
        keep_layers(&s,
                    layer_of(&s, signed_by(&c->arena, kept_key(&c->arena, EVP_EC_gen("P-256")), s.digest)));
        refuses(&s, "no matching signatures were found for '" REFERENCE "'");
})

CLIENT_TEST(what_cannot_be_fetched_is_told, {
        struct signing s;

        begin(c, &s);
        keep_layers(&s,
                    "{\"mediaType\":\"" SIGNATURE_LAYER_TYPE "\",\"digest\":\"" TEST_DIGEST "\",\"size\":2}");
        refuses(&s, arena_printf(&c->arena,
                                 FAILED "%s: layers[0]: GET \"https://" V2 "blobs/" TEST_DIGEST
                                        "\": response status code 404: Not Found",
                                 s.tag));
        keep_layers(&s, "{\"mediaType\":\"" SIGNATURE_LAYER_TYPE "\",\"digest\":\"" TEST_DIGEST
                        "\",\"size\":1048577}");
        refuses(&s, arena_printf(&c->arena,
                                 FAILED "%s: layers[0]: " TEST_DIGEST ": a signature has more than 1048576 "
                                        "bytes",
                                 s.tag));
})

CLIENT_TEST(signatures_have_their_bounds, {
        AUTO_BUF struct buf all;
        struct signing s;
        const char *layer;

        begin(c, &s);
        layer = layer_of(&s, signed_by(&c->arena, kept_key(&c->arena, EVP_EC_gen("P-256")), s.digest));
        buf_init(&all, 1 << 20);
        for (int i = 0; i <= SIGNATURE_LAYERS; i++)
                buf_printf(&all, "%s%s", i ? "," : "", layer);
        keep_layers(&s, all.data);
        assert_int_equal(signatures_verify(&c->registry, &s.trust, s.digest, REFERENCE, &c->err),
                         ERR_FORBIDDEN);
        error_clear(&c->err);
        /* Those before the bound count. */
        layer = layer_of(&s, signed_by(&c->arena, s.key, s.digest));
        keep_layers(&s, arena_printf(&c->arena, "%s,%s", layer, all.data));
        verifies(&s);
})

/* spec/helm-chart.md checklist 83 */
CLIENT_TEST(bundles_that_refer_to_the_manifest_are_found, {
        struct signing s;

        begin(c, &s);
        c->sim.knows_referrers = true;
        trust(&s, recorded_key);
        keep_bundle(&s, recorded_bundle);
        refuses(&s, arena_printf(&c->arena, FAILED "what is signed: none of its subjects is %s", s.digest));
        s.digest = RECORDED_DIGEST;
        keep_bundle(&s, recorded_bundle);
        verifies(&s);
        assert_int_equal(sim_times(&c->sim, ".sig"), 1); /* of the first */
})

/* As cosign 2.6 leaves it where referrers are not known: with the type of something else. */
CLIENT_TEST(bundles_are_found_in_the_index_that_stands_in, {
        struct signing s;
        const char *digest;

        begin(c, &s);
        trust(&s, recorded_key);
        s.digest = RECORDED_DIGEST;
        digest = keep_bundle(&s, recorded_bundle);
        sim_manifest(&c->sim, REPOSITORY,
                     "sha256-44d6486bfad1611a936aa3238507d12f65b4532d38a22db9ebc1e76863672352", SIM_OCI_INDEX,
                     arena_printf(&c->arena,
                                  "{\"schemaVersion\":2,\"mediaType\":\"" SIM_OCI_INDEX
                                  "\",\"manifests\":[{\"mediaType\":\"" SIM_OCI_MANIFEST
                                  "\",\"digest\":\"%s\",\"size\":877,\"artifactType\":"
                                  "\"application/vnd.oci.empty.v1+json\"},{\"mediaType\":\"" SIM_OCI_MANIFEST
                                  "\",\"digest\":\"" TEST_DIGEST
                                  "\",\"size\":8,\"artifactType\":\"application/spdx+json\"}]}",
                                  digest));
        verifies(&s);
})

/* spec/helm-chart.md checklist 83 */
CLIENT_TEST(an_older_signature_counts_where_bundles_are_somebody_elses, {
        struct signing s;

        begin(c, &s);
        c->sim.knows_referrers = true;
        keep_bundle(&s, recorded_bundle);
        refuses(&s, "no matching signatures were found for '" REFERENCE "'");
        keep_layers(&s, layer_of(&s, signed_by(&c->arena, s.key, s.digest)));
        verifies(&s);
})

/* ---- signatures without an entry of a log ---- */

struct rekor {
        struct signing signing;
        struct sigstore store;
        struct signature signature;
        int status, asked;
        const char *answer;
        char said[4096];
};

static void answer_rekor(void *ctx, struct http_exchange *x)
{
        struct rekor *r = ctx;

        r->asked++;
        snprintf(r->said, sizeof(r->said), "%s %s %.*s", x->method, x->path, (int)x->body.len, x->body.data);
        http_reply(x, r->status, "application/json", slice_of(r->answer), NULL);
}

/* The bundle, as the log itself answers. */
static const char *answer_of(struct rekor *r)
{
        AUTO_JSON json_t *bundle = NULL, *answer = NULL;
        json_t *entry;

        assert_int_equal(doc_parse(slice_of(r->signature.bundle), &bundle, NULL), 0);
        entry = doc_copy(doc_get(bundle, "Payload"));
        assert_int_equal(doc_set_string(entry, "verification.signedEntryTimestamp",
                                        doc_get_string(bundle, "SignedEntryTimestamp")),
                         0);
        answer = json_pack("[{s:o}]", "108e9186e8c5677a", entry);
        return text_in_arena(&r->signing.client->arena, answer);
}

static void begin_keyless(struct client *c, struct rekor *r)
{
        struct signer_identity ann = { .issuer = TEST_ISSUER, .subject = TEST_MAIL };
        const struct signer_identity_list l = { &ann, 1, true };

        struct signature bare;

        *r = (struct rekor){ .status = 200 };
        begin(c, &r->signing);
        sigstore_begin(&r->store, &c->arena);
        assert_int_equal(
                signature_trust_of_signers(&l, r->store.trusted_root, &c->arena, &r->signing.trust, NULL), 0);
        r->signature = signed_keyless(&r->store, &(struct flaws){ .digest = r->signing.digest });
        bare = r->signature;
        bare.bundle = NULL;
        keep_layers(&r->signing, layer_of(&r->signing, bare));
        assert_int_equal(loopback_listen(c->net, "rekor.example", answer_rekor, r), 0);
}

/* spec/helm-chart.md checklist 86 */
CLIENT_TEST(a_signature_without_an_entry_is_looked_up_in_the_log, {
        struct rekor r;

        begin_keyless(c, &r);
        r.answer = answer_of(&r);
        verifies(&r.signing);
        assert_int_equal(r.asked, 1);
        assert_true(text_starts_with(r.said, "POST /api/v1/log/entries/retrieve {\"entries\":[{\"kind\":"
                                             "\"hashedrekord\",\"apiVersion\":\"0.0.1\",\"spec\":{"));
        r.signature.bundle = signed_keyless(&r.store, &(struct flaws){ .log_key = r.store.other_key }).bundle;
        r.answer = answer_of(&r);
        refuses(&r.signing, FAILED "dev.sigstore.cosign/bundle: SignedEntryTimestamp: it is not the log's");
        (void)!loopback_listen(c->net, "rekor.example", NULL, NULL);
})

CLIENT_TEST(a_log_that_is_of_no_help_is_named, {
        static const char text[] =
                FAILED "it has no annotation dev.sigstore.cosign/bundle, so that nobody says "
                       "when it was made: ";
        struct rekor r;

        begin_keyless(c, &r);
        r.answer = "[]";
        refuses(&r.signing,
                arena_printf(&c->arena, "%shttps://rekor.example: it has no entry of this signature", text));
        r.answer = "[{\"x\":{}}]";
        refuses(&r.signing, arena_printf(&c->arena,
                                         "%shttps://rekor.example: verification.signedEntryTimestamp: is "
                                         "required",
                                         text));
        r.status = 404;
        refuses(&r.signing,
                arena_printf(&c->arena, "%sPOST https://rekor.example/api/v1/log/entries/retrieve: HTTP 404",
                             text));
        (void)!loopback_listen(c->net, "rekor.example", NULL, NULL);
})

/* ---- memory ---- */

static bool walk(struct signing *s, uint64_t at)
{
        struct client *c = s->client;
        bool fired;
        int code;

        mem_fail_at(at, false);
        code = signatures_verify(&c->registry, &s->trust, s->digest, REFERENCE, &c->err);
        fired = mem_fault_fired();
        mem_fail_at(0, false);
        assert_true(fired || code == 0);
        /* The registry of the test has no memory either, and says so with a status. */
        assert_true(code == 0 || code == ERR_NO_MEMORY || code == ERR_FORBIDDEN);
        error_clear(&c->err);
        return fired;
}

/* spec/helm-chart.md checklist 97 */
CLIENT_TEST(each_allocation_may_fail, {
        struct signing s;

        begin(c, &s);
        keep_layers(&s, layer_of(&s, signed_by(&c->arena, s.key, s.digest)));
        for (uint64_t at = 1; walk(&s, at);)
                at++;
})

/* spec/helm-chart.md checklist 97 */
CLIENT_TEST(each_allocation_of_a_look_up_may_fail, {
        struct rekor r;

        begin_keyless(c, &r);
        r.answer = answer_of(&r);
        for (uint64_t at = 1; walk(&r.signing, at);)
                at++;
        (void)!loopback_listen(c->net, "rekor.example", NULL, NULL);
})

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(a_signature_under_the_digests_tag_is_found),
                cmocka_unit_test(what_is_not_signed_is_told),
                cmocka_unit_test(what_cannot_be_fetched_is_told),
                cmocka_unit_test(signatures_have_their_bounds),
                cmocka_unit_test(bundles_that_refer_to_the_manifest_are_found),
                cmocka_unit_test(bundles_are_found_in_the_index_that_stands_in),
                cmocka_unit_test(an_older_signature_counts_where_bundles_are_somebody_elses),
                cmocka_unit_test(a_signature_without_an_entry_is_looked_up_in_the_log),
                cmocka_unit_test(a_log_that_is_of_no_help_is_named),
                cmocka_unit_test(each_allocation_may_fail),
                cmocka_unit_test(each_allocation_of_a_look_up_may_fail),
        };
        mem_hook_libraries();
        return cmocka_run_group_tests(tests, NULL, NULL);
}
