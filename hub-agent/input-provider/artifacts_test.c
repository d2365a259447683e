/* Providers whose inputs are ExternalArtifacts of the hub: spec/resource-set.md 19.9. */
#include "common/base/digest.h"
#include "hub-agent/hub_agent_test.h"
#include "hub-agent/input-provider/input_provider.h"

#define PROVIDERS "/apis/fluxcd.controlplane.io/v1/namespaces/team/resourcesetinputproviders"
#define ARTIFACTS(ns) "/apis/source.toolkit.fluxcd.io/v1/namespaces/" ns "/externalartifacts"
#define DEFINITION                                                                                           \
        "{\"metadata\":{\"name\":\"externalartifacts.source.toolkit.fluxcd.io\"},\"spec\":{\"group\":"       \
        "\"source.toolkit.fluxcd.io\",\"scope\":\"Namespaced\",\"names\":{\"plural\":\"externalartifacts\"," \
        "\"singular\":\"externalartifact\",\"kind\":\"ExternalArtifact\",\"listKind\":"                      \
        "\"ExternalArtifactList\"},\"versions\":[{\"name\":\"v1\",\"served\":true,\"storage\":true,"         \
        "\"schema\":{\"openAPIV3Schema\":{\"type\":\"object\",\"x-kubernetes-preserve-unknown-fields\":"     \
        "true}}}]}}"

struct seen {
        struct loopback_faults faults;
        const char *account; /* as a user of the API server */
        int as_account, as_agent;
};

static int look_who_asks(void *ctx, const struct http_request *rq)
{
        struct seen *seen = ctx;
        bool is_account = false;

        for (size_t i = 0; i < rq->headers.n; i++)
                is_account |= text_equal(rq->headers.at[i].name, "Impersonate-User") &&
                              text_equal(rq->headers.at[i].value, seen->account);
        if (strstr(rq->path, "/namespaces/team/externalartifacts")) {
                seen->as_account += is_account;
                seen->as_agent += !is_account;
        }
        return 0;
}

static void add_artifact(struct rig *r, const char *ns, const char *name, const char *labels,
                         const char *status)
{
        AUTO_FREE char *path =
                mem_printf("/apis/source.toolkit.fluxcd.io/v1/namespaces/%s/externalartifacts", ns);
        AUTO_FREE char *body =
                mem_printf("{\"apiVersion\":\"source.toolkit.fluxcd.io/v1\",\"kind\":"
                           "\"ExternalArtifact\",\"metadata\":{\"name\":\"%s\",\"labels\":{%s}}%s}",
                           name, labels, status);

        if (rig_post(r, path, body) != 201)
                fail_msg("%s", r->text);
}

static void begin(struct rig *r, struct fleet *f, struct seen *seen)
{
        static const char *const namespaces[] = { "team", "other", "third" };

        *seen = (struct seen){ .faults = { .ctx = seen, .fate = look_who_asks },
                               .account = "system:serviceaccount:team:reader" };
        start(r, f);
        stop(f);
        f->resource_sets = true;
        f->world.transport = loopback_transport(r->net, &f->world, &seen->faults);
        assert_int_equal(rig_post(r, "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", DEFINITION),
                         201);
        rig_settle(r);
        for (size_t i = 0; i < ARRAY_LEN(namespaces); i++) {
                AUTO_FREE char *body = mem_printf("{\"metadata\":{\"name\":\"%s\"}}", namespaces[i]);

                assert_int_equal(rig_post(r, "/api/v1/namespaces", body), 201);
        }
        add_artifact(r, "team", "b", "\"tier\":\"web\",\"name\":\"of-a-label\"",
                     ",\"status\":{\"artifact\":{\"revision\":\"v1@sha256:1\"}}");
        add_artifact(r, "team", "a", "\"tier\":\"web\"", "");
        add_artifact(r, "team", "z", "\"tier\":\"db\"", "");
        add_artifact(r, "other", "c", "\"tier\":\"web\"", "");
        add_artifact(r, "third", "d", "", "");
        start_again(r, f);
}

static void end(struct fleet *f)
{
        stop(f);
        http_transport_free(f->world.transport);
}

/* In place of the one before. */
static void make_provider(struct rig *r, const char *selectors, const char *more)
{
        static const char form[] =
                "{\"apiVersion\":\"fluxcd.controlplane.io/v1\",\"kind\":\"ResourceSetInputProvider\","
                "\"metadata\":{\"name\":\"p\"},\"spec\":{\"type\":\"ExternalArtifact\",\"selectors\":[%s]%s}"
                "}";
        AUTO_FREE char *body = mem_printf(form, selectors, more);

        rig_delete(r, PROVIDERS "/p");
        rig_settle(r);
        if (rig_post(r, PROVIDERS, body) != 201)
                fail_msg("%s", r->text);
        rig_settle(r);
        assert_int_equal(rig_get(r, PROVIDERS "/p"), 200);
}

static const char *exports_of(struct rig *r, const char *selectors, const char *more)
{
        AUTO_BUF struct buf text;

        make_provider(r, selectors, more);
        assert_string_equal(condition_of(r, "Ready"), "True");
        buf_init(&text, 1 << 20);
        doc_write_canonical(doc_get(r->answer, "status.exportedInputs"), &text);
        return arena_strdup(&r->arena, text.data);
}

static const char *set(struct rig *r, const char *place, const char *rest)
{
        return arena_printf(&r->arena, "{\"id\":\"%u\",%s}", adler32_sum(place, strlen(place)), rest);
}
#define A set(r, "team/a", "\"name\":\"a\",\"namespace\":\"team\",\"tier\":\"web\"")
#define B                                                                                                    \
        set(r, "team/b",                                                                                     \
            "\"name\":\"b\",\"namespace\":\"team\",\"revision\":\"v1@sha256:1\",\"tier\":\"web\"")
#define C set(r, "other/c", "\"name\":\"c\",\"namespace\":\"other\",\"tier\":\"web\"")
#define D set(r, "third/d", "\"name\":\"d\",\"namespace\":\"third\"")
#define Z set(r, "team/z", "\"name\":\"z\",\"namespace\":\"team\",\"tier\":\"db\"")

/* spec/resource-set.md checklist 117 */
RIG_TEST(artifacts_are_taken_by_name_and_by_labels, {
        struct fleet f;
        struct seen seen;

        begin(r, &f, &seen);
        assert_string_equal(exports_of(r, "{\"name\":\"b\"},{\"name\":\"missing\"}", ""),
                            arena_printf(&r->arena, "[%s]", B));
        assert_string_equal(exports_of(r, "{\"name\":\"c\",\"namespace\":\"other\"}", ""),
                            arena_printf(&r->arena, "[%s]", C));
        assert_string_equal(exports_of(r, "{\"matchLabels\":{\"tier\":\"web\"}},{\"name\":\"a\"}", ""),
                            arena_printf(&r->arena, "[%s,%s]", A, B));
        assert_string_equal(exports_of(r, "{}", ""), arena_printf(&r->arena, "[%s,%s,%s]", A, B, Z));
        assert_string_equal(
                exports_of(r,
                           "{\"namespace\":\"*\",\"matchExpressions\":[{\"key\":\"tier\",\"operator\":"
                           "\"NotIn\",\"values\":[\"db\"]}]}",
                           ""),
                arena_printf(&r->arena, "[%s,%s,%s,%s]", C, A, B, D));
        assert_string_equal(exports_of(r, "{\"namespace\":\"*\"}", ",\"filter\":{\"limit\":2}"),
                            arena_printf(&r->arena, "[%s,%s]", C, A));
        assert_int_equal(seen.as_account, 0);
        end(&f);
})

/* spec/resource-set.md checklist 117 */
RIG_TEST(artifacts_are_read_with_the_rights_of_the_account, {
        struct fleet f;
        struct seen seen;

        begin(r, &f, &seen);
        make_provider(r, "{}", ",\"serviceAccountName\":\"reader\"");
        assert_string_equal(condition_of(r, "Ready"), "False");
        assert_non_null(strstr(r->text, "failed to call ExternalArtifact provider: "));
        assert_non_null(strstr(r->text, "forbidden"));
        assert_int_equal(seen.as_agent, 0);
        assert_true(seen.as_account > 0);
        end(&f);
})

static void with_one_account_for_all(struct rig *r, struct fleet *f, struct seen *seen)
{
        begin(r, f, seen);
        stop(f);
        seen->account = "system:serviceaccount:fleet-system:sets";
        f->resource_set_account = "fleet-system/sets";
        start_again(r, f);
}

/* spec/resource-set.md 13, 19.9: who writes a provider has no more rights than who writes a set. */
RIG_TEST(artifacts_are_read_as_the_account_of_all_sets_where_a_provider_names_none, {
        struct fleet f;
        struct seen seen;

        with_one_account_for_all(r, &f, &seen);
        make_provider(r, "{}", "");
        assert_string_equal(condition_of(r, "Ready"), "False");
        assert_non_null(strstr(r->text, "forbidden"));
        assert_int_equal(seen.as_agent, 0);
        assert_true(seen.as_account > 0);
        end(&f);
})

RIG_TEST(the_account_that_a_provider_names_goes_before_the_account_of_all_sets, {
        struct fleet f;
        struct seen seen;

        with_one_account_for_all(r, &f, &seen);
        seen.account = "system:serviceaccount:team:reader";
        make_provider(r, "{}", ",\"serviceAccountName\":\"reader\"");
        assert_int_equal(seen.as_agent, 0);
        assert_true(seen.as_account > 0);
        end(&f);
})

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(artifacts_are_taken_by_name_and_by_labels),
                cmocka_unit_test(artifacts_are_read_with_the_rights_of_the_account),
                cmocka_unit_test(artifacts_are_read_as_the_account_of_all_sets_where_a_provider_names_none),
                cmocka_unit_test(the_account_that_a_provider_names_goes_before_the_account_of_all_sets),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
