#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "e2e/devcluster/rbac.h"
#include "e2e/devcluster/rbac_bootstrap.h"

static struct rbac_rules role_rules(struct arena *arena, const char *wanted)
{
        struct rbac_rules rules = { 0 };
        json_t *doc;
        for (size_t i = 0; rbac_bootstrap_object(i, &doc) == 0; i++) {
                if (text_equal(doc_get_string(doc, "kind"), "ClusterRole") &&
                    text_equal(doc_get_string(doc, "metadata.name"), wanted))
                        assert_int_equal(rbac_rules_parse(arena, doc_get_array(doc, "rules"), &rules), 0);
                json_decref(doc);
        }
        assert_true(rules.n > 0);
        return rules;
}

static void roles_grant_what_their_names_promise(void **state)
{
        static const struct {
                const char *role;
                struct rbac_question q;
                bool allowed;
        } cases[] = {
                { "cluster-admin", { "anything", "any.group", "things", "sub", NULL, NULL }, true },
                { "cluster-admin", { "get", .path = "/metrics" }, true },
                { "view", { "list", "apps", "deployments", NULL, NULL, NULL }, true },
                { "view", { "get", "", "pods", "log", "x", NULL }, true },
                { "view", { "get", "", "secrets", NULL, "x", NULL }, false },
                { "view", { "delete", "", "pods", NULL, "x", NULL }, false },
                { "edit", { "delete", "", "pods", NULL, "x", NULL }, true },
                { "edit", { "create", "", "serviceaccounts", "token", "x", NULL }, true },
                { "edit", { "create", "rbac.authorization.k8s.io", "roles", NULL, NULL, NULL }, false },
                { "admin", { "create", "rbac.authorization.k8s.io", "roles", NULL, NULL, NULL }, true },
                { "admin", { "create", "", "nodes", NULL, NULL, NULL }, false },
                { "system:discovery", { "get", .path = "/apis/apps/v1" }, true },
                { "system:public-info-viewer", { "get", .path = "/apis/apps/v1" }, false },
        };
        for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
                AUTO_ARENA struct arena arena = ARENA_INIT;
                struct rbac_rules rules = role_rules(&arena, cases[i].role);
                bool allowed = false;
                for (size_t k = 0; k < rules.n; k++)
                        allowed |= rbac_rule_allows(&rules.at[k], &cases[i].q);
                if (allowed != cases[i].allowed)
                        fail_msg("case %zu: %s", i, cases[i].role);
        }
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(roles_grant_what_their_names_promise),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
