/* Signatures of charts, within a whole agent: spec/helm-chart.md 11. */
#include "hub-agent/source/chart/chart_test.h"
#include "hub-agent/source/source_test.h"
#include "hub-agent/source/verify/signed_registry_test.h"

#define CHARTS SOURCES "helmcharts"
#define CHART CHARTS "/podinfo"

static const struct test_file podinfo[] = {
        { "Chart.yaml", "apiVersion: v2\nname: podinfo\nversion: 4.0.6\n" },
        { NULL, NULL },
};

static void add_chart(struct rig *r, const char *verify)
{
        AUTO_FREE char *body =
                mem_printf("{\"apiVersion\":\"source.toolkit.fluxcd.io/v1\",\"kind\":\"HelmChart\","
                           "\"metadata\":{\"name\":\"podinfo\"},\"spec\":{\"chart\":\"podinfo\",\"interval\":"
                           "\"5m\",\"sourceRef\":{\"kind\":\"HelmRepository\",\"name\":\"podinfo\"}%s}}",
                           verify);

        if (rig_post(r, CHARTS, body) != 201)
                fail_msg("%s", r->text);
        rig_settle(r);
}

/* ---- a repository that is no registry ---- */

static void begin_default(struct rig *r, struct fleet *f, struct web *w)
{
        begin_sources(r, f, w);
        w->body = "apiVersion: v1\nentries:\n  podinfo:\n"
                  "  - {name: podinfo, version: 4.0.6, urls: [charts/podinfo-4.0.6.tgz]}\n";
        w->files[0] = (struct web_file){ "/stable/charts/podinfo-4.0.6.tgz",
                                         archive_of(&r->arena, "podinfo", podinfo) };
        add_repository(r, "\"url\":\"https://charts.example/stable\",\"interval\":\"5m\"");
}

/* spec/helm-chart.md checklist 84, 85 */
RIG_TEST(charts_of_an_index_cannot_be_verified, {
        static const char text[] = "chart verification error: not implemented";
        struct fleet f;
        struct web w;

        begin_default(r, &f, &w);
        add_chart(r, "");
        assert_condition(r, CHART, "Ready", "True", "ChartPullSucceeded", NULL);
        merge_and_settle(r, CHART, "{\"spec\":{\"verify\":{\"provider\":\"cosign\"}}}");
        assert_condition(r, CHART, "SourceVerified", "False", "VerificationError", text);
        assert_condition(r, CHART, "BuildFailed", "True", "ChartVerificationError", text);
        assert_condition(r, CHART, "Ready", "False", "VerificationError", text);
        assert_true(has_event(r, "Warning", "ChartVerificationError", text));
        assert_true(is_kept(&w, "helmchart/apps/podinfo/podinfo-4.0.6.tgz"));
        merge_and_settle(r, CHART, "{\"spec\":{\"verify\":null}}");
        assert_condition(r, CHART, "Ready", "True", "ChartPullSucceeded", NULL);
        assert_string_equal(part_of_condition(r, "SourceVerified", "status"), "absent");
        end_sources(r, &f, &w);
})

/* spec/helm-chart.md checklist 92 */
RIG_TEST(a_provider_that_is_not_acted_on_stalls_and_is_named, {
        static const char text[] = "spec.verify.provider: 'notation' is not supported";
        struct fleet f;
        struct web w;

        begin_default(r, &f, &w);
        add_chart(r, ",\"verify\":{\"provider\":\"notation\"}");
        assert_condition(r, CHART, "FetchFailed", "True", "InvalidProviderConfiguration", text);
        assert_condition(r, CHART, "Stalled", "True", "InvalidProviderConfiguration", text);
        assert_condition(r, CHART, "Ready", "False", "InvalidProviderConfiguration", text);
        assert_string_equal(part_of_condition(r, "SourceVerified", "status"), "absent");
        end_sources(r, &f, &w);
})

/* ---- a registry ---- */

#define WHERE "charts/podinfo"
#define REFERENCE "reg.example/charts/podinfo:1.0.0"
#define KEYS "/api/v1/namespaces/apps/secrets/keys"
#define VERIFY ",\"version\":\"1.0.0\",\"verify\":{\"provider\":\"cosign\",\"secretRef\":{\"name\":\"keys\"}}"
#define KEYLESS                                                                                              \
        ",\"version\":\"1.0.0\",\"verify\":{\"provider\":\"cosign\",\"matchOIDCIdentity\":[{\"issuer\":"     \
        "\"token\","                                                                                         \
        "\"subject\":\"ann@\"}]}"

struct scene {
        struct rig *rig;
        struct fleet fleet;
        struct web web;
        struct registry_sim sim;
        EVP_PKEY *old_key, *new_key, *strangers;
        const char *digest; /* of 1.0.0 */
};

static void begin(struct rig *r, struct scene *s)
{
        *s = (struct scene){ .rig = r };
        s->old_key = kept_key(&r->arena, EVP_EC_gen("P-256"));
        s->new_key = kept_key(&r->arena, EVP_EC_gen("P-256"));
        s->strangers = kept_key(&r->arena, EVP_EC_gen("P-256"));
        begin_sources(r, &s->fleet, &s->web);
        sim_begin(&s->sim, r->net, "reg.example", NULL, NULL);
        add_repository(r, "\"type\":\"oci\",\"url\":\"oci://reg.example/charts\"");
        s->digest = sim_chart(
                &s->sim, WHERE, "1.0.0", NULL,
                archive_of(&r->arena, "podinfo",
                           (const struct test_file[]){
                                   { "Chart.yaml", "apiVersion: v2\nname: podinfo\nversion: 1.0.0\n" },
                                   { NULL, NULL } }));
}

static void end(struct scene *s)
{
        sim_end(&s->sim);
        end_sources(s->rig, &s->fleet, &s->web);
}

/* Keys by name, in the Secret, in place of those that were there. */
static void put_secret(struct scene *s, const char *const *keys_and_values)
{
        AUTO_JSON json_t *doc = secret_with(keys_and_values);

        rig_delete(s->rig, KEYS);
        assert_int_equal(doc_set_string(doc, "metadata.name", "keys"), 0);
        if (rig_post(s->rig, "/api/v1/namespaces/apps/secrets", text_in_arena(&s->rig->arena, doc)) != 201)
                fail_msg("%s", s->rig->text);
}
#define PUT_SECRET(s, ...) put_secret(s, (const char *[]){ __VA_ARGS__, NULL })

static void sign_by(struct scene *s, EVP_PKEY *key, const char *digest)
{
        struct signature one = signed_by(&s->rig->arena, key, digest);

        sim_sign(&s->sim, WHERE, s->digest, sim_signature(&s->sim, WHERE, &one));
}

static void run_again(struct scene *s)
{
        static int runs;
        AUTO_FREE char *patch = mem_printf(
                "{\"metadata\":{\"annotations\":{\"reconcile.fluxcd.io/requestedAt\":\"%d\"}}}", ++runs);

        merge_and_settle(s->rig, CHART, patch);
}

static void assert_refused(struct scene *s, const char *told, const char *verified)
{
        struct rig *r = s->rig;

        assert_condition(r, CHART, "BuildFailed", "True", "ChartVerificationError", told);
        assert_condition(r, CHART, "SourceVerified", "False", "VerificationError", verified);
        assert_condition(r, CHART, "Ready", "False", "VerificationError", verified);
        assert_true(has_event(r, "Warning", "ChartVerificationError", or_empty(told)));
        assert_true(is_kept(&s->web, "helmchart/apps/podinfo/podinfo-1.0.0.tgz"));
}

/* spec/helm-chart.md checklist 83 */
RIG_TEST(a_chart_that_one_of_the_keys_signed_is_taken, {
        struct scene s;

        begin(r, &s);
        PUT_SECRET(&s, "old.pub", pem_of_key(&r->arena, s.old_key), "new.pub",
                   pem_of_key(&r->arena, s.new_key));
        sign_by(&s, s.old_key, s.digest);
        add_chart(r, VERIFY);
        assert_condition(r, CHART, "SourceVerified", "True", "Succeeded",
                         "verified signature of version 1.0.0");
        assert_condition(r, CHART, "Ready", "True", "ChartPullSucceeded",
                         "pulled 'podinfo' chart with version '1.0.0'");
        end(&s);
})

/* spec/helm-chart.md checklist 84, 85 */
RIG_TEST(each_run_verifies_and_what_was_kept_stays, {
        struct scene s;

        begin(r, &s);
        PUT_SECRET(&s, "a.pub", pem_of_key(&r->arena, s.new_key));
        sign_by(&s, s.new_key, s.digest);
        add_chart(r, VERIFY);
        assert_condition(r, CHART, "SourceVerified", "True", "Succeeded", NULL);
        sign_by(&s, s.strangers, s.digest);
        run_again(&s);
        assert_refused(&s, "chart verification error: no matching signatures were found for '" REFERENCE "'",
                       "chart verification error: no matching signatures were found for '" REFERENCE "'");
        sign_by(&s, s.new_key, TEST_DIGEST);
        run_again(&s);
        assert_refused(&s, NULL, NULL);
        sim_sign(&s.sim, WHERE, s.digest, "");
        run_again(&s);
        assert_refused(&s, "chart verification error: failed to verify " REFERENCE ": no signatures found",
                       "chart verification error: failed to verify " REFERENCE ": no signatures found");
        sign_by(&s, s.new_key, s.digest);
        run_again(&s);
        assert_condition(r, CHART, "Ready", "True", "ChartPullSucceeded", NULL);
        assert_condition(r, CHART, "SourceVerified", "True", "Succeeded", NULL);
        assert_string_equal(part_of_condition(r, "BuildFailed", "status"), "absent");
        merge_and_settle(r, CHART, "{\"spec\":{\"verify\":null}}");
        assert_condition(r, CHART, "Ready", "True", "ChartPullSucceeded", NULL);
        assert_string_equal(part_of_condition(r, "SourceVerified", "status"), "absent");
        end(&s);
})

#define UNPREPARED "failed to verify the signature using provider 'cosign': "

/* spec/helm-chart.md checklist 73, 84 */
RIG_TEST(a_secret_that_is_of_no_use_is_told_and_a_mended_one_taken_at_once, {
        struct scene s;

        begin(r, &s);
        PUT_SECRET(&s, "a.pub", pem_of_key(&r->arena, s.new_key));
        sign_by(&s, s.new_key, s.digest);
        add_chart(r, VERIFY);
        assert_condition(r, CHART, "SourceVerified", "True", "Succeeded", NULL);
        PUT_SECRET(&s, "a.pem", pem_of_key(&r->arena, s.new_key));
        run_again(&s);
        assert_refused(&s,
                       "chart verification error: " UNPREPARED "no public keys found in secret 'apps/keys'",
                       UNPREPARED "no public keys found in secret 'apps/keys'");
        PUT_SECRET(&s, "a.pub", pem_of_key(&r->arena, s.new_key), "b.pub", "geheim");
        run_again(&s);
        assert_refused(&s, NULL,
                       UNPREPARED "key 'b.pub' of secret 'apps/keys' cannot be used: it is no public key in "
                                  "PEM");
        assert_null(strstr(r->text, "geheim"));
        rig_delete(r, KEYS);
        run_again(&s);
        assert_refused(&s, NULL, UNPREPARED "failed to get secret 'apps/keys': secrets \"keys\" not found");
        end(&s);
})

/* spec/helm-chart.md checklist 86, 87 */
RIG_TEST(a_chart_that_a_person_signed_is_taken_from_that_person, {
        struct scene s;
        struct sigstore store;
        struct signature one;

        begin(r, &s);
        sigstore_begin(&store, &r->arena);
        s.web.options.trusted_root = store.trusted_root;
        one = signed_keyless(&store, &(struct flaws){ .digest = s.digest });
        sim_sign(&s.sim, WHERE, s.digest, sim_signature(&s.sim, WHERE, &one));
        add_chart(r, KEYLESS);
        assert_condition(r, CHART, "SourceVerified", "True", "Succeeded",
                         "verified signature of version 1.0.0");
        merge_and_settle(r, CHART,
                         "{\"spec\":{\"verify\":{\"matchOIDCIdentity\":[{\"issuer\":\"token\",\"subject\":"
                         "\"bob\"}]}}}");
        assert_refused(&s, NULL,
                       "chart verification error: failed to verify " REFERENCE ": it is signed by '" TEST_MAIL
                       "' of '" TEST_ISSUER "', whom spec.verify.matchOIDCIdentity does not name");
        merge_and_settle(r, CHART, "{\"spec\":{\"verify\":{\"matchOIDCIdentity\":null}}}");
        assert_condition(r, CHART, "SourceVerified", "True", "Succeeded", NULL);
        merge_and_settle(r, CHART,
                         "{\"spec\":{\"verify\":{\"matchOIDCIdentity\":[{\"issuer\":\"(\",\"subject\":\"x\"}]"
                         "}}}");
        assert_refused(
                &s, NULL,
                "failed to verify the signature using provider 'cosign keyless': "
                "spec.verify.matchOIDCIdentity[0].issuer: error parsing regexp: missing closing ): `(`");
        end(&s);
})

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(charts_of_an_index_cannot_be_verified),
                cmocka_unit_test(a_provider_that_is_not_acted_on_stalls_and_is_named),
                cmocka_unit_test(a_chart_that_one_of_the_keys_signed_is_taken),
                cmocka_unit_test(each_run_verifies_and_what_was_kept_stays),
                cmocka_unit_test(a_secret_that_is_of_no_use_is_told_and_a_mended_one_taken_at_once),
                cmocka_unit_test(a_chart_that_a_person_signed_is_taken_from_that_person),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
