/* From an authorizer's refusal to the question that it answers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/kube/review.h"

static void a_refusal_tells_what_is_to_be_asked(void **state)
{
        static const struct {
                const char *refusal;
                const char *verb, *resource, *subresource, *group, *ns, *name;
        } rows[] = {
                { "list pods: pods is forbidden: User \"u\" cannot list resource \"pods\" in API group \"\" "
                  "at "
                  "the cluster scope",
                  "list", "pods", "", "", "", "" },
                { "get configmaps: configmaps \"placed\" is forbidden: User \"u\" cannot get resource "
                  "\"configmaps\" in API group \"\" in the namespace \"default\"",
                  "get", "configmaps", "", "", "default", "placed" },
                { "patch works: works.placement.kubernetes-fleet.io \"w\" is forbidden: User "
                  "\"system:serviceaccount:a:b\" cannot patch resource \"works/status\" in API group "
                  "\"placement.kubernetes-fleet.io\" in the namespace \"n\": RBAC: role \"x\" not found",
                  "patch", "works", "status", "placement.kubernetes-fleet.io", "n", "w" },
        };

        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
                AUTO_JSON json_t *q = review_question(rows[i].refusal);

                assert_non_null(q);
                assert_string_equal(doc_get_string(q, "verb"), rows[i].verb);
                assert_string_equal(doc_get_string(q, "resource"), rows[i].resource);
                assert_string_equal(doc_get_string(q, "subresource"), rows[i].subresource);
                assert_string_equal(doc_get_string(q, "group"), rows[i].group);
                assert_string_equal(doc_get_string(q, "namespace"), rows[i].ns);
                assert_string_equal(doc_get_string(q, "name"), rows[i].name);
        }
}

static void what_is_no_refusal_on_a_resource_is_no_question(void **state)
{
        static const char *const texts[] = { "",
                                             "forbidden",
                                             "\" cannot ",
                                             "\" cannot list",
                                             "\" cannot list resource \"pods",
                                             "User \"u\" cannot list resource \"pods\"",
                                             "forbidden: User \"u\" cannot get path \"/metrics\"" };

        for (size_t i = 0; i < ARRAY_LEN(texts); i++)
                assert_null(review_question(texts[i]));
}

int main(void)
{
        static const struct CMUnitTest tests[] = {
                cmocka_unit_test(a_refusal_tells_what_is_to_be_asked),
                cmocka_unit_test(what_is_no_refusal_on_a_resource_is_no_question),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
