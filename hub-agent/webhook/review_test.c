#include "common/base/memory.h"
#include "hub-agent/webhook/webhook_test.h"

#define POD_PATH "/validate--v1-pod"
#define REVIEW(version, request)                                                                             \
        "{\"apiVersion\":\"admission.k8s.io/" version                                                        \
        "\",\"kind\":\"AdmissionReview\",\"request\":{" request "}}"
#define POD(more)                                                                                            \
        "\"uid\":\"u-7\",\"operation\":\"CREATE\",\"namespace\":\"default\",\"object\":{\"metadata\":"       \
        "{\"name\":\"p\"}}" more

static void an_answer_repeats_uid_and_version_of_the_review(void **state)
{
        static const char *const versions[] = { "v1", "v1beta1" };
        AUTO_HUB struct hub *h = hub_new();

        for (size_t i = 0; i < ARRAY_LEN(versions); i++) {
                const char *text = i ? REVIEW("v1beta1", POD("")) : REVIEW("v1", POD(""));
                char wanted[64];

                hub_review(h, POD_PATH, slice_of(text));
                snprintf(wanted, sizeof(wanted), "admission.k8s.io/%s", versions[i]);
                assert_string_equal(doc_get_string(h->answer, "apiVersion"), wanted);
                assert_string_equal(doc_get_string(h->answer, "kind"), "AdmissionReview");
                assert_string_equal(doc_get_string(h->answer, "response.uid"), "u-7");
        }
}

static void a_refusal_has_code_reason_and_message(void **state)
{
        AUTO_HUB struct hub *h = hub_new();

        hub_review(h, POD_PATH, slice_of(REVIEW("v1", POD(""))));
        assert_false(h->allowed);
        assert_int_equal(h->code, 403);
        assert_string_equal(doc_get_string(h->answer, "response.status.reason"), "Forbidden");
        assert_string_equal(h->message, "Pod default/p creation is disallowed in the fleet hub cluster");
}

static void what_is_no_review_is_answered_with_what_is_wrong(void **state)
{
        static const struct {
                const char *body, *says;
        } rows[] = {
                { "", "the body is no AdmissionReview" },
                { "{", "the body is no AdmissionReview" },
                { "[]", "kind: must be AdmissionReview" },
                { "{}", "kind: must be AdmissionReview, is \"\"" },
                { "{\"kind\":\"Pod\",\"apiVersion\":\"v1\"}", "kind: must be AdmissionReview, is \"Pod\"" },
                { "{\"kind\":\"AdmissionReview\",\"apiVersion\":\"admission.k8s.io/v2\",\"request\":{}}",
                  "must be admission.k8s.io/v1 or admission.k8s.io/v1beta1, is \"admission.k8s.io/v2\"" },
                { "{\"kind\":\"AdmissionReview\",\"apiVersion\":\"admission.k8s.io/v1\"}",
                  "request: is missing" },
                { "{\"kind\":\"AdmissionReview\",\"apiVersion\":\"admission.k8s.io/v1\",\"request\":3}",
                  "request: must be an object" },
                { REVIEW("v1", "\"operation\":\"PATCH\""), "request.operation: must be CREATE" },
                { REVIEW("v1", "\"uid\":\"u\""), "request.operation: must be CREATE" },
                { REVIEW("v1", "\"uid\":5,\"operation\":\"CREATE\""), "request.uid: must be a string" },
                { REVIEW("v1", POD(",\"userInfo\":{\"groups\":[1]}")), "request.userInfo.groups[0]" },
                { REVIEW("v1", POD(",\"userInfo\":{\"groups\":\"a\"}")),
                  "request.userInfo.groups: must be an array" },
                { REVIEW("v1", POD(",\"kind\":[]")), NULL }, /* a path through it has nothing */
                { REVIEW("v1", POD(",\"options\":[]")), "request.options: must be an object" },
                { REVIEW("v1", POD(",\"oldObject\":1")), "request.oldObject: must be an object" },
                { REVIEW("v1", POD(",\"dryRun\":1")), "request.dryRun: must be a boolean" },
                { REVIEW("v1", "\"operation\":\"CREATE\",\"object\":[]"),
                  "request.object: must be an object" },
                { REVIEW("v1", "\"operation\":\"CREATE\",\"namespace\":\"default\""),
                  "there is no content to decode" },
        };
        AUTO_HUB struct hub *h = hub_new();

        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
                hub_review(h, POD_PATH, slice_of(rows[i].body));
                assert_false(h->allowed);
                if (!rows[i].says)
                        continue;
                assert_int_equal(h->code, 400);
                assert_says(h, rows[i].says);
        }
}

/* A text that ends early here would be the name of somebody else. */
static void a_name_with_an_end_in_it_is_refused(void **state)
{
        static const char *const bodies[] = {
                REVIEW("v1",
                       POD(",\"userInfo\":{\"username\":\"a\",\"groups\":[\"system:masters\\u0000x\"]}")),
                REVIEW("v1", POD(",\"userInfo\":{\"username\":\"aks-support\\u0000x\"}")),
                REVIEW("v1", POD(",\"name\":\"a\\u0000b\"")),
        };
        AUTO_HUB struct hub *h = hub_new();

        for (size_t i = 0; i < ARRAY_LEN(bodies); i++) {
                hub_review(h, GUARD_PATH, slice_of(bodies[i]));
                assert_false(h->allowed);
                assert_int_equal(h->code, 400);
                assert_says(h, "NUL");
        }
}

static void a_path_that_nobody_answers_at_is_not_found(void **state)
{
        AUTO_HUB struct hub *h = hub_new();
        struct error err = { 0 };
        json_t *answer = NULL;

        assert_int_equal(webhook_answer(&h->world, "/nowhere", SLICE("{}"), &h->arena, &answer, &err),
                         ERR_NOT_FOUND);
        assert_null(answer);
        assert_non_null(strstr(err.text, "/nowhere"));
        assert_false(webhook_serves("/nowhere"));
        assert_true(webhook_serves(POD_PATH));
}

/* One that was cancelled has nothing to say; what fails otherwise is told. */
static void a_cancelled_question_ends_without_an_answer(void **state)
{
        AUTO_HUB struct hub *h = hub_new();
        const struct question q = {
                .path = CRP_PATH,
                .object = "{\"metadata\":{\"name\":\"web\"},\"spec\":{\"resourceSelectors\":[{\"group\":\"\","
                          "\"version\":\"v1\",\"kind\":\"Namespace\"}]}}"
        };
        struct error err = { 0 };
        json_t *answer = NULL;

        h->scope_fails = "enough";
        h->failure = ERR_CANCELLED;
        assert_int_equal(
                webhook_answer(&h->world, q.path, review_text(&h->arena, &q), &h->arena, &answer, &err),
                ERR_CANCELLED);
        assert_null(answer);
}

static void a_long_message_loses_its_middle(void **state)
{
        AUTO_HUB struct hub *h = hub_new();
        AUTO_BUF struct buf b;

        buf_init(&b, 1 << 20);
        buf_append_str(&b, "{\"metadata\":{\"name\":\"");
        for (size_t i = 0; i < 50000; i++)
                buf_append_char(&b, 'x');
        buf_append_str(&b, "\"}}");
        assert_false(ask(h, &(struct question){ .path = POD_PATH, .ns = "default", .object = b.data }));
        assert_true(strlen(h->message) < 40000);
        assert_says(h, "Pod default/xxx");
        assert_says(h, "xxx creation is disallowed");
}

/* Whatever allocation fails, nobody is let in who would not be otherwise. */
static void walk_failing_allocations(struct hub *h, const struct question *q)
{
        struct slice review = review_text(&h->arena, q);
        bool fired = true;

        for (uint64_t n = 1; fired; n++) {
                AUTO_ARENA struct arena arena = ARENA_INIT;
                AUTO_JSON json_t *answer = NULL;
                struct error err = { 0 };
                int code;

                mem_fail_at(n, false);
                code = webhook_answer(&h->world, q->path, review, &arena, &answer, &err);
                fired = mem_fault_fired();
                mem_fail_at(0, false);
                if (code != (fired ? ERR_NO_MEMORY : 0))
                        fail_msg("%s: allocation %u: %d", q->path, (unsigned)n, code);
                assert_true(fired == !answer);
        }
}

#define DEFAULTED "\"resourceSelectors\":[{\"group\":\"\",\"version\":\"v1\",\"kind\":\"Namespace\"}]"
#define BROKEN                                                                                               \
        "{\"metadata\":{\"name\":\"web\"},\"spec\":{" DEFAULTED                                              \
        ",\"policy\":{\"placementType\":\"PickN\",\"numberOfClusters\":-1,\"affinity\":{"                    \
        "\"clusterAffinity\":{"                                                                              \
        "\"requiredDuringSchedulingIgnoredDuringExecution\":{\"clusterSelectorTerms\":[{\"labelSelector\":{" \
        "\"matchLabels\":{\"a b\":\"c d\"}},\"propertySelector\":{\"matchExpressions\":[{\"name\":\"p/q\","  \
        "\"operator\":\"Gt\",\"values\":[\"1\"]},{\"name\":\"p/"                                             \
        "q\",\"operator\":\"Lt\",\"values\":[\"1\"]},{"                                                      \
        "\"name\":\"p/q\",\"operator\":\"Ne\",\"values\":[\"1\"]}]}}]}}},\"tolerations\":[{\"key\":\"a "     \
        "b\"},{"                                                                                             \
        "\"key\":\"a b\"}]},\"strategy\":{\"rollingUpdate\":{\"maxSurge\":-1,\"maxUnavailable\":\"5\"}}}}"
#define OVERRIDE                                                                                             \
        "{\"metadata\":{\"name\":\"o\"},\"spec\":{\"clusterResourceSelectors\":[{\"group\":\"\","            \
        "\"version\":\"v1\","                                                                                \
        "\"kind\":\"Namespace\",\"name\":\"a\"}],\"policy\":{\"overrideRules\":[{\"overrideType\":"          \
        "\"JSONPatch\","                                                                                     \
        "\"clusterSelector\":{\"clusterSelectorTerms\":[{}]},\"jsonPatchOverrides\":[{\"op\":\"add\","       \
        "\"path\":"                                                                                          \
        "\"/kind\",\"value\":1}]}]}}}"
#define FLEET_MEMBER(more)                                                                                   \
        "{\"metadata\":{\"name\":\"m1\",\"annotations\":{\"fleet.azure.com/"                                 \
        "a\":\"b\"}},\"spec\":{\"identity\":{"                                                               \
        "\"kind\":\"User\",\"name\":\"a\"}" more "}}"

static void every_failing_allocation_is_reported(void **state)
{
        static const struct question questions[] = {
                { .path = PLACEMENT_PATH("mutate", "clusterresourceplacement"),
                  .object = "{\"metadata\":{\"name\":\"web\"},\"spec\":{" DEFAULTED "}}" },
                { .path = CRP_PATH, .object = BROKEN },
                { .path = CRP_PATH, .operation = "UPDATE", .object = BROKEN, .old = BROKEN },
                { .path = PLACEMENT_PATH("validate", "clusterresourceoverride"), .object = OVERRIDE },
                { .path = GUARD_PATH,
                  .operation = "UPDATE",
                  .group = "cluster.kubernetes-fleet.io",
                  .kind = "MemberCluster",
                  .object = FLEET_MEMBER(",\"heartbeatPeriodSeconds\":3"),
                  .old = FLEET_MEMBER("") },
                { .path = GUARD_PATH,
                  .group = "placement.kubernetes-fleet.io",
                  .kind = "Work",
                  .ns = "fleet-member-m1",
                  .object = "{}" },
                { .path = "/validate-cluster.kubernetes-fleet.io-v1beta1-membercluster",
                  .object = FLEET_MEMBER(",\"taints\":[{\"key\":\"a b\"},{\"key\":\"a b\"}]") },
                { .path = POD_PATH, .ns = "default", .object = "{\"metadata\":{\"name\":\"p\"}}" },
        };
        AUTO_HUB struct hub *h = hub_new();

        h->members[0] = FLEET_MEMBER("");
        h->overrides[0] = arena_strdup(
                &h->arena, "{\"metadata\":{\"name\":\"first\"},\"spec\":{\"clusterResourceSelectors\":[{"
                           "\"group\":\"\",\"version\":\"v1\",\"kind\":\"Namespace\",\"name\":\"a\"}]}}");
        for (size_t i = 0; i < ARRAY_LEN(questions); i++)
                walk_failing_allocations(h, &questions[i]);
}

int main(void)
{
        static const struct CMUnitTest tests[] = {
                cmocka_unit_test(an_answer_repeats_uid_and_version_of_the_review),
                cmocka_unit_test(a_refusal_has_code_reason_and_message),
                cmocka_unit_test(what_is_no_review_is_answered_with_what_is_wrong),
                cmocka_unit_test(a_name_with_an_end_in_it_is_refused),
                cmocka_unit_test(a_path_that_nobody_answers_at_is_not_found),
                cmocka_unit_test(a_cancelled_question_ends_without_an_answer),
                cmocka_unit_test(a_long_message_loses_its_middle),
                cmocka_unit_test(every_failing_allocation_is_reported),
        };
        mem_hook_libraries();
        return cmocka_run_group_tests(tests, NULL, NULL);
}
