/* ValidatingAdmissionPolicies through the front door. What they share with kube-apiserver word for word is
 * compared by e2e/differential/scripts/policies.yaml. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "e2e/devcluster/rig.h"

#define POLICIES "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies"
#define BINDINGS "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings"
#define MAPS "/api/v1/namespaces/default/configmaps"

#define CONFIGMAPS                                                                                           \
        "\"matchConstraints\":{\"resourceRules\":[{\"apiGroups\":[\"\"],\"apiVersions\":[\"v1\"],"           \
        "\"operations\":[\"*\"],\"resources\":[\"configmaps\"]}]}"

/* A policy NAME with these members of its spec, and a binding of the same name. */
static int install(struct rig *r, const char *name, const char *spec, const char *actions)
{
        const char *doc =
                arena_printf(&r->arena, "{\"metadata\":{\"name\":\"%s\"},\"spec\":{%s}}", name, spec);
        if (rig_post(r, POLICIES, doc) != 201)
                return r->status;
        doc = arena_printf(&r->arena,
                           "{\"metadata\":{\"name\":\"%s\"},\"spec\":{\"policyName\":\"%s\","
                           "\"validationActions\":[%s]}}",
                           name, name, actions);
        return rig_post(r, BINDINGS, doc);
}

static int make(struct rig *r, const char *name)
{
        return rig_post(r, MAPS, arena_printf(&r->arena, "{\"metadata\":{\"name\":\"%s\"}}", name));
}

#define DENY_BAD                                                                                             \
        CONFIGMAPS ",\"validations\":[{\"expression\":\"request.operation == 'DELETE' || "                   \
                   "!object.metadata.name.startsWith('bad')\"}]"

static void a_write_that_breaks_a_rule_is_refused(struct rig *r)
{
        assert_int_equal(install(r, "p", DENY_BAD, "\"Deny\""), 201);
        assert_int_equal(make(r, "good"), 201);
        assert_int_equal(make(r, "bad"), 422);
        assert_string_equal(rig_string(r, "reason"), "Invalid");
        assert_non_null(strstr(rig_string(r, "message"),
                               "configmaps \"bad\" is forbidden: ValidatingAdmissionPolicy 'p' with binding "
                               "'p' denied request: failed expression: request.operation"));
        assert_int_equal(rig_get(r, MAPS "/bad"), 404);
}

static void a_policy_without_binding_says_nothing(struct rig *r)
{
        assert_int_equal(rig_post(r, POLICIES, "{\"metadata\":{\"name\":\"p\"},\"spec\":{" DENY_BAD "}}"),
                         201);
        assert_int_equal(make(r, "bad"), 201);
}

static void what_is_deleted_or_changed_holds_at_once(struct rig *r)
{
        assert_int_equal(install(r, "p", DENY_BAD, "\"Deny\""), 201);
        assert_int_equal(make(r, "bad"), 422);
        assert_int_equal(
                rig_merge(r, POLICIES "/p", "{\"spec\":{\"validations\":[{\"expression\":\"true\"}]}}"), 200);
        assert_int_equal(make(r, "bad"), 201);
        assert_int_equal(
                rig_merge(r, POLICIES "/p", "{\"spec\":{\"validations\":[{\"expression\":\"false\"}]}}"),
                200);
        assert_int_equal(rig_delete(r, MAPS "/bad"), 422);
        assert_int_equal(rig_delete(r, BINDINGS "/p"), 200);
        assert_int_equal(rig_delete(r, MAPS "/bad"), 200);
}

static const char *header(struct rig *r, const char *name)
{
        const char *value = http_header_get(&r->headers, name);
        return value ? value : "";
}

static void a_binding_may_warn_instead(struct rig *r)
{
        assert_int_equal(install(r, "p", DENY_BAD, "\"Warn\",\"Audit\""), 201);
        assert_int_equal(make(r, "bad"), 201);
        assert_non_null(strstr(header(r, "Warning"), "ValidatingAdmissionPolicy 'p' with binding 'p'"));
        assert_int_equal(make(r, "good"), 201);
        assert_string_equal(header(r, "Warning"), "");
}

static void an_expression_that_fails_refuses_unless_the_policy_says_ignore(struct rig *r)
{
        assert_int_equal(install(r, "p",
                                 CONFIGMAPS ",\"validations\":[{\"expression\":\"object.data.x == '1'\"}]",
                                 "\"Deny\""),
                         201);
        assert_int_equal(make(r, "a"), 422);
        assert_non_null(strstr(rig_string(r, "message"), "resulted in error: no such key: data"));
        assert_int_equal(rig_merge(r, POLICIES "/p", "{\"spec\":{\"failurePolicy\":\"Ignore\"}}"), 200);
        assert_int_equal(make(r, "a"), 201);
}

static void who_may_do_more_can_be_left_alone(struct rig *r)
{
        assert_int_equal(install(r, "p",
                                 CONFIGMAPS
                                 ",\"matchConditions\":[{\"name\":\"c\",\"expression\":\"!authorizer."
                                 "group('').resource('configmaps').namespace(request.namespace).check("
                                 "'delete').allowed()\"}],\"validations\":[{\"expression\":\"false\"}]",
                                 "\"Deny\""),
                         201);
        assert_int_equal(make(r, "by-admin"), 201);
}

static void a_rolling_parameter_is_looked_up_anew(struct rig *r)
{
        assert_int_equal(
                rig_post(r, POLICIES,
                         "{\"metadata\":{\"name\":\"p\"},\"spec\":{\"paramKind\":{\"apiVersion\":\"v1\","
                         "\"kind\":\"ConfigMap\"},\"matchConstraints\":{\"resourceRules\":[{"
                         "\"apiGroups\":[\"\"],\"apiVersions\":[\"v1\"],\"operations\":[\"CREATE\"],"
                         "\"resources\":[\"secrets\"]}]},\"validations\":[{\"expression\":"
                         "\"object.metadata.name == params.data.name\"}]}}"),
                201);
        assert_int_equal(
                rig_post(r, BINDINGS,
                         "{\"metadata\":{\"name\":\"p\"},\"spec\":{\"policyName\":\"p\",\"paramRef\":{"
                         "\"name\":\"param\",\"parameterNotFoundAction\":\"Deny\"},"
                         "\"validationActions\":[\"Deny\"]}}"),
                201);
        static const char secrets[] = "/api/v1/namespaces/default/secrets",
                          secret[] = "{\"metadata\":{\"name\":\"s\"}}";
        assert_int_equal(rig_post(r, secrets, secret), 422);
        assert_non_null(strstr(rig_string(r, "message"), "no params found"));
        assert_int_equal(rig_post(r, MAPS, "{\"metadata\":{\"name\":\"param\"},\"data\":{\"name\":\"t\"}}"),
                         201);
        assert_int_equal(rig_post(r, secrets, secret), 422);
        assert_int_equal(rig_merge(r, MAPS "/param", "{\"data\":{\"name\":\"s\"}}"), 200);
        assert_int_equal(rig_post(r, secrets, secret), 201);
}

static void policies_do_not_judge_policies(struct rig *r)
{
        assert_int_equal(install(r, "p",
                                 "\"matchConstraints\":{\"resourceRules\":[{\"apiGroups\":[\"*\"],"
                                 "\"apiVersions\":[\"*\"],\"operations\":[\"*\"],\"resources\":[\"*/*\"]}]},"
                                 "\"validations\":[{\"expression\":\"false\"}]",
                                 "\"Deny\""),
                         201);
        assert_int_equal(make(r, "a"), 422);
        assert_int_equal(rig_delete(r, BINDINGS "/p"), 200);
        assert_int_equal(make(r, "a"), 201);
}

static const struct {
        const char *expression, *complaint;
} wrong[] = {
        { "object.x ==", "compilation failed" },
        { "objct.x == 1", "undeclared reference to 'objct'" },
        { "request.none == 1", "undefined field 'none'" },
        { "params == null", "undeclared reference to 'params'" },
        { "variables.none", "undefined field 'none'" },
        { "variables.later", "undefined field 'later'" },
        { "object.x", "must evaluate to bool but got dyn" },
        { "'text'", "must evaluate to bool but got string" },
};

static void an_expression_that_is_wrong_is_refused_when_it_is_written(struct rig *r)
{
        for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
                assert_int_equal(
                        install(r, "p",
                                arena_printf(&r->arena,
                                             CONFIGMAPS
                                             ",\"variables\":[{\"name\":\"one\",\"expression\":\"1\"}],"
                                             "\"validations\":[{\"expression\":\"%s\"}]",
                                             wrong[i].expression),
                                "\"Deny\""),
                        422);
                assert_non_null(strstr(rig_string(r, "message"), "spec.validations[0].expression"));
                assert_non_null(strstr(rig_string(r, "message"), wrong[i].complaint));
        }
}

/* Each expression is evaluated over configmap "a" as it is created; "true" is expected. */
static const char *const true_expressions[] = {
        "request.kind.kind == 'ConfigMap' && request.resource.resource == 'configmaps'",
        "request.namespace == 'default' && request.name == 'a' && !has(request.subResource)",
        "request.dryRun == false && request.options.kind == 'CreateOptions'",
        "oldObject == null && object.kind == 'ConfigMap'",
        "namespaceObject.metadata.name == request.namespace",
        "'system:masters' in request.userInfo.groups",
        "authorizer.requestResource.check('create').allowed()",
        "authorizer.path('/metrics').check('get').allowed()",
        "!authorizer.serviceAccount('default', 'x').group('').resource('secrets').check('get').allowed()",
        "!authorizer.group('').resource('pods').check('list').errored()",
        "variables.name == 'a' && variables.both == 'aa'",
};

static void expressions_see_request_objects_and_rights(struct rig *r)
{
        for (size_t i = 0; i < ARRAY_LEN(true_expressions); i++) {
                assert_int_equal(install(r, "p",
                                         arena_printf(&r->arena,
                                                      CONFIGMAPS
                                                      ",\"variables\":[{\"name\":\"name\",\"expression\":"
                                                      "\"object.metadata.name\"},{\"name\":\"both\","
                                                      "\"expression\":\"variables.name + variables.name\"}],"
                                                      "\"validations\":[{\"expression\":\"%s\"}]",
                                                      true_expressions[i]),
                                         "\"Deny\""),
                                 201);
                if (make(r, "a") != 201)
                        print_message("%s: %s\n", true_expressions[i], rig_string(r, "message"));
                assert_int_equal(r->status, 201);
                assert_int_equal(rig_delete(r, BINDINGS "/p"), 200);
                assert_int_equal(rig_delete(r, POLICIES "/p"), 200);
                assert_int_equal(rig_delete(r, MAPS "/a"), 200);
        }
}

/* As deep as the parser lets them be: they are parsed, checked and evaluated on a fiber's stack. */
static void deep_expressions_fit_the_stack(struct rig *r)
{
        AUTO_BUF struct buf b;
        buf_init(&b, 64u << 10);
        buf_append_str(&b, CONFIGMAPS ",\"validations\":[{\"expression\":\"");
        for (int i = 0; i < 55; i++)
                buf_append_str(&b, "!(");
        buf_append_str(&b, "object.metadata.name == 'a'");
        for (int i = 0; i < 55; i++)
                buf_append_char(&b, ')');
        buf_append_str(&b, "\"}]");
        assert_int_equal(install(r, "p", b.data, "\"Deny\""), 201);
        assert_int_equal(make(r, "a"), 422);
        assert_int_equal(make(r, "b"), 201);
}

/* Whatever fails for want of memory, a denied write is never let through. */
static void no_memory_lets_nothing_through(struct rig *r)
{
        assert_int_equal(install(r, "p", DENY_BAD, "\"Deny\""), 201);
        for (uint64_t n = 1; n < 600; n++) {
                mem_fail_at(n, false);
                (void)make(r, "bad");
                mem_fail_at(0, false);
                assert_int_equal(rig_get(r, MAPS "/bad"), 404);
        }
        assert_int_equal(make(r, "bad"), 422);
}

#define TEST(f)                                                                                              \
        static void test_##f(void **state)                                                                   \
        {                                                                                                    \
                rig_run(f);                                                                                  \
        }

TEST(a_write_that_breaks_a_rule_is_refused)
TEST(a_policy_without_binding_says_nothing)
TEST(what_is_deleted_or_changed_holds_at_once)
TEST(a_binding_may_warn_instead)
TEST(an_expression_that_fails_refuses_unless_the_policy_says_ignore)
TEST(who_may_do_more_can_be_left_alone)
TEST(a_rolling_parameter_is_looked_up_anew)
TEST(policies_do_not_judge_policies)
TEST(an_expression_that_is_wrong_is_refused_when_it_is_written)
TEST(expressions_see_request_objects_and_rights)
TEST(no_memory_lets_nothing_through)
TEST(deep_expressions_fit_the_stack)

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_a_write_that_breaks_a_rule_is_refused),
                cmocka_unit_test(test_a_policy_without_binding_says_nothing),
                cmocka_unit_test(test_what_is_deleted_or_changed_holds_at_once),
                cmocka_unit_test(test_a_binding_may_warn_instead),
                cmocka_unit_test(test_an_expression_that_fails_refuses_unless_the_policy_says_ignore),
                cmocka_unit_test(test_who_may_do_more_can_be_left_alone),
                cmocka_unit_test(test_a_rolling_parameter_is_looked_up_anew),
                cmocka_unit_test(test_policies_do_not_judge_policies),
                cmocka_unit_test(test_an_expression_that_is_wrong_is_refused_when_it_is_written),
                cmocka_unit_test(test_expressions_see_request_objects_and_rights),
                cmocka_unit_test(test_no_memory_lets_nothing_through),
                cmocka_unit_test(test_deep_expressions_fit_the_stack),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
