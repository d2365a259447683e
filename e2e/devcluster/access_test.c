/* Identity and authorisation through the front door: tokens, impersonation, RBAC, reviews. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "e2e/devcluster/rig.h"

#define CORE "/api/v1"
#define RBAC "/apis/rbac.authorization.k8s.io/v1"

/* ---- as whom ---- */

static void as_admin(struct rig *r)
{
        mem_free(r->endpoint.bearer_token);
        r->endpoint.bearer_token = NULL;
}

static void as_token(struct rig *r, const char *token)
{
        as_admin(r);
        r->endpoint.bearer_token = mem_strdup(token);
}

static int call_masked(struct rig *r, const char *method, const char *path, const char *user,
                       const char *group)
{
        struct http_header headers[] = { { "Impersonate-User", user }, { "Impersonate-Group", group } };
        struct http_request rq = { .endpoint = &r->endpoint,
                                   .method = method,
                                   .path = path,
                                   .headers = { headers, group ? 2 : 1 },
                                   .deadline_ms = loop_now_ms(r->loop) + 60000 };
        struct http_response answer = { 0 };
        assert_int_equal(http_roundtrip(r->client, &rq, &r->arena, &answer, NULL), 0);
        json_decref(r->answer);
        r->answer = NULL;
        (void)doc_parse(answer.body, &r->answer, NULL);
        return r->status = answer.status;
}

/* Makes account "robot" in namespace default and returns a token for it; the rig's arena owns it. */
static const char *robot_token(struct rig *r)
{
        as_admin(r);
        assert_int_equal(rig_post(r, CORE "/namespaces/default/serviceaccounts",
                                  "{\"metadata\":{\"name\":\"robot\"}}"),
                         201);
        assert_int_equal(rig_post(r, CORE "/namespaces/default/serviceaccounts/robot/token",
                                  "{\"spec\":{\"expirationSeconds\":600}}"),
                         201);
        const char *token = arena_strdup(&r->arena, rig_string(r, "status.token"));
        assert_true(strlen(token) > 100);
        return token;
}

static void grant(struct rig *r, const char *rules)
{
        const char *role = arena_printf(&r->arena, "{\"metadata\":{\"name\":\"r\"},\"rules\":%s}", rules);
        as_admin(r);
        assert_int_equal(rig_post(r, RBAC "/namespaces/default/roles", role), 201);
        assert_int_equal(
                rig_post(r, RBAC "/namespaces/default/rolebindings",
                         "{\"metadata\":{\"name\":\"b\"},\"roleRef\":{\"apiGroup\":"
                         "\"rbac.authorization.k8s.io\",\"kind\":\"Role\",\"name\":\"r\"},\"subjects\":"
                         "[{\"kind\":\"ServiceAccount\",\"name\":\"robot\",\"namespace\":\"default\"}]}"),
                201);
}

/* ---- tokens ---- */

static void check_token_life(struct rig *r)
{
        const char *token = robot_token(r);
        as_token(r, token);
        assert_int_equal(rig_post(r, "/apis/authentication.k8s.io/v1/selfsubjectreviews", "{}"), 201);
        assert_string_equal(rig_string(r, "status.userInfo.username"), "system:serviceaccount:default:robot");
        assert_int_equal(json_array_size(doc_get_array(r->answer, "status.userInfo.groups")), 3);
        fiber_sleep(r->loop, 599 * 1000);
        assert_int_equal(rig_get(r, "/version"), 200);
        fiber_sleep(r->loop, 2 * 1000);
        assert_int_equal(rig_get(r, "/version"), 401);
        assert_string_equal(rig_string(r, "message"), "Unauthorized");
        as_admin(r);
}

static void a_token_is_good_until_it_expires(void **state)
{
        rig_run(check_token_life);
}

static void check_account_gone(struct rig *r)
{
        const char *token = robot_token(r);
        assert_int_equal(rig_delete(r, CORE "/namespaces/default/serviceaccounts/robot"), 200);
        assert_int_equal(rig_post(r, CORE "/namespaces/default/serviceaccounts",
                                  "{\"metadata\":{\"name\":\"robot\"}}"),
                         201);
        as_token(r, token);
        assert_int_equal(rig_get(r, "/version"), 401);
        as_token(r, "not.a.token");
        assert_int_equal(rig_get(r, "/version"), 401);
        as_admin(r);
}

static void a_token_dies_with_its_account_even_if_one_of_that_name_returns(void **state)
{
        rig_run(check_account_gone);
}

static void check_legacy_secret(struct rig *r)
{
        (void)robot_token(r);
        assert_int_equal(rig_post(r, CORE "/namespaces/default/secrets",
                                  "{\"metadata\":{\"name\":\"t\",\"annotations\":{\"kubernetes.io/"
                                  "service-account.name\":"
                                  "\"robot\"}},\"type\":\"kubernetes.io/service-account-token\"}"),
                         201);
        const char *const path[] = { "data", "ca.crt" };
        assert_non_null(doc_get_keys(r->answer, path, 2));
        assert_string_equal(rig_string(r, "data.namespace"), "ZGVmYXVsdA==");
        char token[4096];
        size_t n;
        assert_int_equal(text_base64_decode(slice_of(rig_string(r, "data.token")), token, sizeof(token) - 1,
                                            &n, false),
                         0);
        token[n] = '\0';
        as_token(r, token);
        assert_int_equal(rig_get(r, "/version"), 200);
        as_admin(r);
        assert_int_equal(rig_delete(r, CORE "/namespaces/default/secrets/t"), 200);
        as_token(r, token);
        assert_int_equal(rig_get(r, "/version"), 401);
        as_admin(r);
}

static void a_token_secret_is_filled_and_its_token_dies_with_it(void **state)
{
        rig_run(check_legacy_secret);
}

static void check_bound(struct rig *r)
{
        (void)robot_token(r);
        assert_int_equal(rig_post(r, CORE "/namespaces/default/secrets", "{\"metadata\":{\"name\":\"b\"}}"),
                         201);
        assert_int_equal(rig_post(r, CORE "/namespaces/default/serviceaccounts/robot/token",
                                  "{\"spec\":{\"boundObjectRef\":{\"kind\":\"Secret\",\"name\":\"b\"}}}"),
                         201);
        as_token(r, arena_strdup(&r->arena, rig_string(r, "status.token")));
        assert_int_equal(rig_get(r, "/version"), 200);
        const char *token = arena_strdup(&r->arena, r->endpoint.bearer_token);
        as_admin(r);
        assert_int_equal(rig_delete(r, CORE "/namespaces/default/secrets/b"), 200);
        as_token(r, token);
        assert_int_equal(rig_get(r, "/version"), 401);
        as_admin(r);
        assert_int_equal(rig_post(r, CORE "/namespaces/default/serviceaccounts/robot/token",
                                  "{\"spec\":{\"audiences\":[\"vault\"]}}"),
                         201);
        as_token(r, arena_strdup(&r->arena, rig_string(r, "status.token")));
        assert_int_equal(rig_get(r, "/version"), 401);
        as_admin(r);
}

static void a_token_needs_its_bound_object_and_the_right_audience(void **state)
{
        rig_run(check_bound);
}

static void check_token_review(struct rig *r)
{
        const char *token = robot_token(r);
        const char *body = arena_printf(&r->arena, "{\"spec\":{\"token\":\"%s\"}}", token);
        assert_int_equal(rig_post(r, "/apis/authentication.k8s.io/v1/tokenreviews", body), 201);
        assert_true(doc_get_bool(r->answer, "status.authenticated", false));
        assert_string_equal(rig_string(r, "status.user.username"), "system:serviceaccount:default:robot");
        assert_int_equal(
                rig_post(r, "/apis/authentication.k8s.io/v1/tokenreviews", "{\"spec\":{\"token\":\"x\"}}"),
                201);
        assert_false(doc_get_bool(r->answer, "status.authenticated", false));
        assert_int_equal(rig_post(r, CORE "/namespaces/default/serviceaccounts/robot/token",
                                  "{\"spec\":{\"expirationSeconds\":60}}"),
                         422);
}

static void token_reviews_tell_good_from_bad(void **state)
{
        rig_run(check_token_review);
}

/* ---- RBAC ---- */

static void check_forbidden_words(struct rig *r)
{
        as_token(r, robot_token(r));
        const char *user = "system:serviceaccount:default:robot";
        assert_int_equal(rig_get(r, CORE "/namespaces/default/configmaps"), 403);
        assert_string_equal(
                rig_string(r, "message"),
                arena_printf(
                        &r->arena,
                        "configmaps is forbidden: User \"%s\" cannot list resource \"configmaps\" in API "
                        "group \"\" in the namespace \"default\"",
                        user));
        assert_string_equal(rig_string(r, "reason"), "Forbidden");
        assert_int_equal(rig_get(r, "/apis/apps/v1/namespaces/default/deployments/x/status"), 403);
        assert_string_equal(
                rig_string(r, "message"),
                arena_printf(&r->arena,
                             "deployments.apps \"x\" is forbidden: User \"%s\" cannot get resource "
                             "\"deployments/status\" in API group \"apps\" in the namespace \"default\"",
                             user));
        assert_int_equal(rig_get(r, CORE "/nodes"), 403);
        assert_string_equal(
                rig_string(r, "message"),
                arena_printf(
                        &r->arena,
                        "nodes is forbidden: User \"%s\" cannot list resource \"nodes\" in API group \"\" "
                        "at the cluster scope",
                        user));
        assert_int_equal(rig_get(r, "/metrics"), 403);
        assert_string_equal(
                rig_string(r, "message"),
                arena_printf(&r->arena, "forbidden: User \"%s\" cannot get path \"/metrics\"", user));
        assert_int_equal(rig_get(r, "/apis"), 200);
        as_admin(r);
}

static void who_may_not_is_told_so_in_kubernetes_words(void **state)
{
        rig_run(check_forbidden_words);
}

static void check_rules_follow_writes(struct rig *r)
{
        const char *token = robot_token(r);
        as_token(r, token);
        assert_int_equal(rig_get(r, CORE "/namespaces/default/configmaps"), 403);
        grant(r, "[{\"verbs\":[\"get\",\"list\"],\"apiGroups\":[\"\"],\"resources\":[\"configmaps\"]}]");
        as_token(r, token);
        assert_int_equal(rig_get(r, CORE "/namespaces/default/configmaps"), 200);
        assert_int_equal(rig_get(r, CORE "/namespaces/kube-system/configmaps"), 403);
        assert_int_equal(rig_get(r, CORE "/configmaps"), 403);
        as_admin(r);
        assert_int_equal(rig_merge(r, RBAC "/namespaces/default/roles/r",
                                   "{\"rules\":[{\"verbs\":[\"list\"],\"apiGroups\":[\"\"],\"resources\":["
                                   "\"configmaps\"],"
                                   "\"resourceNames\":[\"a\"]}]}"),
                         200);
        as_token(r, token);
        assert_int_equal(rig_get(r, CORE "/namespaces/default/configmaps"), 403);
        assert_int_equal(rig_get(r, CORE "/namespaces/default/configmaps?fieldSelector=metadata.name%3Da"),
                         200);
        as_admin(r);
        assert_int_equal(rig_delete(r, RBAC "/namespaces/default/rolebindings/b"), 200);
        as_token(r, token);
        assert_int_equal(rig_get(r, CORE "/namespaces/default/configmaps?fieldSelector=metadata.name%3Da"),
                         403);
        as_admin(r);
}

static void rules_follow_every_write_of_roles_and_bindings(void **state)
{
        rig_run(check_rules_follow_writes);
}

static void check_escalation(struct rig *r)
{
        const char *token = robot_token(r);
        grant(r, "[{\"verbs\":[\"*\"],\"apiGroups\":[\"rbac.authorization.k8s.io\"],\"resources\":[\"roles\","
                 "\"rolebindings\"],\"resourceNames\":[]},"
                 "{\"verbs\":[\"get\"],\"apiGroups\":[\"\"],\"resources\":[\"pods\"]}]");
        /* "*" on roles holds escalate and bind too: take them away */
        as_admin(r);
        assert_int_equal(
                rig_merge(
                        r, RBAC "/namespaces/default/roles/r",
                        "{\"rules\":[{\"verbs\":[\"create\",\"update\"],\"apiGroups\":[\"rbac.authorization."
                        "k8s.io\"],\"resources\":[\"roles\",\"rolebindings\"]},{\"verbs\":[\"get\"],"
                        "\"apiGroups\":[\"\"],\"resources\":[\"pods\"]}]}"),
                200);
        as_token(r, token);
        assert_int_equal(rig_post(r, RBAC "/namespaces/default/roles",
                                  "{\"metadata\":{\"name\":\"mine\"},\"rules\":[{\"verbs\":[\"get\"],"
                                  "\"apiGroups\":[\"\"],"
                                  "\"resources\":[\"pods\"]}]}"),
                         201);
        assert_int_equal(rig_post(r, RBAC "/namespaces/default/roles",
                                  "{\"metadata\":{\"name\":\"more\"},\"rules\":[{\"verbs\":[\"get\"],"
                                  "\"apiGroups\":[\"\"],"
                                  "\"resources\":[\"secrets\"]}]}"),
                         403);
        assert_string_equal(
                rig_string(r, "message"),
                "roles.rbac.authorization.k8s.io \"more\" is forbidden: user "
                "\"system:serviceaccount:default:robot\" (groups=[\"system:serviceaccounts\" "
                "\"system:serviceaccounts:default\" \"system:authenticated\"]) is attempting to grant RBAC "
                "permissions not currently held:\n{APIGroups:[\"\"], Resources:[\"secrets\"], "
                "Verbs:[\"get\"]}");
        assert_int_equal(
                rig_post(r, RBAC "/namespaces/default/rolebindings",
                         "{\"metadata\":{\"name\":\"up\"},\"roleRef\":{\"apiGroup\":"
                         "\"rbac.authorization.k8s.io\",\"kind\":\"ClusterRole\",\"name\":\"cluster-admin\"},"
                         "\"subjects\":[{\"kind\":\"ServiceAccount\",\"name\":\"robot\",\"namespace\":"
                         "\"default\"}]}"),
                403);
        assert_int_equal(rig_post(r, RBAC "/namespaces/default/rolebindings",
                                  "{\"metadata\":{\"name\":\"up\"},\"roleRef\":{\"apiGroup\":"
                                  "\"rbac.authorization.k8s.io\",\"kind\":\"Role\",\"name\":\"mine\"},"
                                  "\"subjects\":[{\"kind\":\"User\",\"name\":\"joe\"}]}"),
                         201);
        as_admin(r);
}

static void nobody_grants_what_he_does_not_hold(void **state)
{
        rig_run(check_escalation);
}

static void check_role_ref(struct rig *r)
{
        (void)robot_token(r);
        grant(r, "[]");
        assert_int_equal(
                rig_merge(r, RBAC "/namespaces/default/rolebindings/b", "{\"roleRef\":{\"name\":\"other\"}}"),
                422);
        assert_non_null(strstr(rig_string(r, "message"), "cannot change roleRef"));
        assert_int_equal(rig_post(r, RBAC "/namespaces/default/roles",
                                  "{\"metadata\":{\"name\":\"bad\"},\"rules\":[{\"verbs\":[\"get\"]}]}"),
                         422);
        assert_non_null(strstr(
                rig_string(r, "message"),
                "rules[0].apiGroups: Required value: resource rules must supply at least one api group"));
}

static void what_a_binding_refers_to_is_fixed(void **state)
{
        rig_run(check_role_ref);
}

static void check_aggregation(struct rig *r)
{
        const char *token = robot_token(r);
        as_admin(r);
        assert_int_equal(
                rig_post(r, RBAC "/namespaces/default/rolebindings",
                         "{\"metadata\":{\"name\":\"b\"},\"roleRef\":{\"apiGroup\":"
                         "\"rbac.authorization.k8s.io\",\"kind\":\"ClusterRole\",\"name\":\"admin\"},"
                         "\"subjects\":[{\"kind\":\"ServiceAccount\",\"name\":\"robot\",\"namespace\":"
                         "\"default\"}]}"),
                201);
        as_token(r, token);
        assert_int_equal(rig_get(r, "/apis/storage.k8s.io/v1/namespaces/default/csistoragecapacities"), 403);
        as_admin(r);
        assert_int_equal(rig_post(r, RBAC "/clusterroles",
                                  "{\"metadata\":{\"name\":\"more\",\"labels\":{\"rbac.authorization.k8s.io/"
                                  "aggregate-to-"
                                  "view\":\"true\"}},\"rules\":[{\"verbs\":[\"list\"],\"apiGroups\":["
                                  "\"storage.k8s.io\"],"
                                  "\"resources\":[\"csistoragecapacities\"]}]}"),
                         201);
        rig_settle(r);
        as_token(r, token);
        assert_int_equal(rig_get(r, "/apis/storage.k8s.io/v1/namespaces/default/csistoragecapacities"), 200);
        as_admin(r);
}

static void a_labelled_role_flows_into_view_edit_and_admin(void **state)
{
        rig_run(check_aggregation);
}

/* ---- impersonation and reviews ---- */

static void check_impersonation(struct rig *r)
{
        const char *token = robot_token(r);
        assert_int_equal(call_masked(r, "GET", CORE "/nodes", "joe", NULL), 403);
        assert_string_equal(
                rig_string(r, "message"),
                "nodes is forbidden: User \"joe\" cannot list resource \"nodes\" in API group \"\" at the "
                "cluster scope");
        assert_int_equal(call_masked(r, "GET", CORE "/nodes", "joe", "system:masters"), 200);
        as_token(r, token);
        assert_int_equal(call_masked(r, "GET", CORE "/nodes", "joe", NULL), 403);
        assert_string_equal(rig_string(r, "message"),
                            "users.authentication.k8s.io \"joe\" is forbidden: User "
                            "\"system:serviceaccount:default:robot\" cannot impersonate:user-info resource "
                            "\"users\" in API "
                            "group \"authentication.k8s.io\" at the cluster scope");
        as_admin(r);
}

/* Who may pass for joe to list nodes may neither be somebody else nor do anything else. */
static void check_constrained_impersonation(struct rig *r)
{
        const char *token = robot_token(r);
        rig_post(r, RBAC "/clusterroles",
                 "{\"metadata\":{\"name\":\"pass\"},\"rules\":[{\"verbs\":[\"impersonate:user-info\"],"
                 "\"apiGroups\":[\"authentication.k8s.io\"],\"resources\":[\"users\"],\"resourceNames\":"
                 "[\"joe\"]},{\"verbs\":[\"impersonate-on:user-info:list\"],\"apiGroups\":[\"\"],"
                 "\"resources\":"
                 "[\"nodes\",\"pods\"]}]}");
        rig_post(r, RBAC "/clusterroles",
                 "{\"metadata\":{\"name\":\"nodes\"},\"rules\":[{\"verbs\":[\"*\"],\"apiGroups\":[\"\"],"
                 "\"resources\":[\"nodes\"]}]}");
        rig_post(r, RBAC "/clusterrolebindings",
                 "{\"metadata\":{\"name\":\"pass\"},\"roleRef\":{\"apiGroup\":\"rbac.authorization.k8s.io\","
                 "\"kind\":\"ClusterRole\",\"name\":\"pass\"},\"subjects\":[{\"kind\":\"ServiceAccount\","
                 "\"name\":\"robot\",\"namespace\":\"default\"}]}");
        rig_post(r, RBAC "/clusterrolebindings",
                 "{\"metadata\":{\"name\":\"nodes\"},\"roleRef\":{\"apiGroup\":\"rbac.authorization.k8s.io\","
                 "\"kind\":\"ClusterRole\",\"name\":\"nodes\"},\"subjects\":[{\"kind\":\"User\",\"name\":"
                 "\"joe\"}]}");
        as_token(r, token);
        assert_int_equal(call_masked(r, "GET", CORE "/nodes", "joe", NULL), 200);
        assert_int_equal(call_masked(r, "GET", CORE "/pods", "joe", NULL), 403);
        assert_int_equal(call_masked(r, "DELETE", CORE "/nodes/n", "joe", NULL), 403);
        assert_int_equal(call_masked(r, "GET", CORE "/nodes", "jane", NULL), 403);
        assert_int_equal(call_masked(r, "GET", CORE "/nodes", "joe", "g"), 403);
        as_admin(r);
}

static void impersonation_can_be_limited_to_a_verb(void **state)
{
        rig_run(check_constrained_impersonation);
}

static void impersonation_needs_the_verb(void **state)
{
        rig_run(check_impersonation);
}

static void check_reviews(struct rig *r)
{
        (void)robot_token(r);
        grant(r, "[{\"verbs\":[\"get\"],\"apiGroups\":[\"\"],\"resources\":[\"pods\"]}]");
        const char *ask =
                "{\"spec\":{\"user\":\"system:serviceaccount:default:robot\",\"resourceAttributes\":"
                "{\"namespace\":\"default\",\"verb\":\"get\",\"resource\":\"pods\"}}}";
        assert_int_equal(rig_post(r, "/apis/authorization.k8s.io/v1/subjectaccessreviews", ask), 201);
        assert_true(doc_get_bool(r->answer, "status.allowed", false));
        assert_string_equal(rig_string(r, "status.reason"), "RBAC: allowed by RoleBinding \"b/default\" of "
                                                            "Role \"r\" to ServiceAccount \"robot/default\"");
        assert_int_equal(
                rig_post(r, "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
                         "{\"spec\":{\"nonResourceAttributes\":{\"path\":\"/x\",\"verb\":\"get\"}}}"),
                201);
        assert_true(doc_get_bool(r->answer, "status.allowed", false));
        assert_int_equal(rig_post(r, "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews",
                                  "{\"spec\":{\"namespace\":\"default\"}}"),
                         201);
        assert_int_equal(json_array_size(doc_get_array(r->answer, "status.resourceRules")) > 0, 1);
}

static void reviews_answer_with_the_reason(void **state)
{
        rig_run(check_reviews);
}

/* ---- what a patch and a path may not do ---- */

static void check_creating_patch(struct rig *r)
{
        const char *token = robot_token(r);
        static const char body[] =
                "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"new\"}}";
        grant(r, "[{\"apiGroups\":[\"\"],\"resources\":[\"configmaps\"],\"verbs\":[\"patch\",\"get\"]}]");
        as_token(r, token);
        assert_int_equal(rig_apply(r, CORE "/namespaces/default/configmaps/new?fieldManager=x", body), 403);
        assert_non_null(strstr(rig_string(r, "message"), "cannot create resource \"configmaps\""));
        assert_int_equal(
                rig_apply(r, CORE "/namespaces/default/configmaps/new?fieldManager=x&dryRun=All", body), 403);
        as_admin(r);
        assert_int_equal(rig_apply(r, CORE "/namespaces/default/configmaps/new?fieldManager=x", body), 201);
        as_token(r, token);
        assert_int_equal(rig_apply(r, CORE "/namespaces/default/configmaps/new?fieldManager=x", body), 200);
        as_admin(r);
}

static void a_patch_that_creates_needs_the_right_to_create(void **state)
{
        rig_run(check_creating_patch);
}

static void check_nul(struct rig *r)
{
        as_admin(r);
        assert_int_equal(rig_get(r, CORE "/namespaces/default%00other/configmaps"), 400);
        assert_int_equal(rig_get(r, CORE "/namespaces/default%000/configmaps"), 400);
        assert_int_equal(rig_get(r, CORE "/namespaces/defaul%74/configmaps"), 200);
}

static void a_nul_in_a_path_is_refused(void **state)
{
        rig_run(check_nul);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(a_token_is_good_until_it_expires),
                cmocka_unit_test(a_token_dies_with_its_account_even_if_one_of_that_name_returns),
                cmocka_unit_test(a_token_secret_is_filled_and_its_token_dies_with_it),
                cmocka_unit_test(a_token_needs_its_bound_object_and_the_right_audience),
                cmocka_unit_test(token_reviews_tell_good_from_bad),
                cmocka_unit_test(who_may_not_is_told_so_in_kubernetes_words),
                cmocka_unit_test(rules_follow_every_write_of_roles_and_bindings),
                cmocka_unit_test(nobody_grants_what_he_does_not_hold),
                cmocka_unit_test(what_a_binding_refers_to_is_fixed),
                cmocka_unit_test(a_labelled_role_flows_into_view_edit_and_admin),
                cmocka_unit_test(a_patch_that_creates_needs_the_right_to_create),
                cmocka_unit_test(a_nul_in_a_path_is_refused),
                cmocka_unit_test(impersonation_needs_the_verb),
                cmocka_unit_test(impersonation_can_be_limited_to_a_verb),
                cmocka_unit_test(reviews_answer_with_the_reason),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
