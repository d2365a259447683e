#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "e2e/devcluster/readiness.h"

static void a_rule_holds_what_it_names_and_nothing_else(void **state)
{
        static const struct {
                const char *kind, *ns, *name;
                bool held;
        } cases[] = {
                { "Deployment", "web", "web", true },
                { "Deployment", "web", "db", false },
                { "Deployment", "other", "web", false },
                { "Job", "web", "web", false },
        };
        struct map rules;

        map_init(&rules, MAP_OWN_KEYS, NULL);
        assert_int_equal(readiness_set(&rules, "Deployment", "web", "web", false), 0);
        for (size_t i = 0; i < ARRAY_LEN(cases); i++)
                assert_int_equal(readiness_is_held(&rules, cases[i].kind, cases[i].ns, cases[i].name),
                                 cases[i].held);
        map_free(&rules);
}

static void what_a_rule_leaves_out_matches_all(void **state)
{
        struct map rules;

        map_init(&rules, MAP_OWN_KEYS, NULL);
        assert_int_equal(readiness_set(&rules, NULL, "web", NULL, false), 0);
        assert_true(readiness_is_held(&rules, "Job", "web", "once"));
        assert_false(readiness_is_held(&rules, "Job", "db", "once"));
        map_free(&rules);
}

static void a_rule_that_is_taken_away_holds_no_more(void **state)
{
        struct map rules;

        map_init(&rules, MAP_OWN_KEYS, NULL);
        assert_int_equal(readiness_set(&rules, "Job", NULL, NULL, false), 0);
        assert_int_equal(readiness_set(&rules, "Job", NULL, NULL, true), 0);
        assert_false(readiness_is_held(&rules, "Job", "web", "once"));
        map_free(&rules);
}

static void an_object_or_its_pod_template_refuses_to_become_ready(void **state)
{
        static const struct {
                const char *text;
                bool refused;
        } cases[] = {
                { "{\"metadata\":{\"annotations\":{\"devcluster.argosy.dev/never-ready\":\"true\"}}}", true },
                { "{\"metadata\":{\"annotations\":{\"devcluster.argosy.dev/never-ready\":\"false\"}}}",
                  false },
                { "{\"spec\":{\"template\":{\"metadata\":{\"annotations\":"
                  "{\"devcluster.argosy.dev/never-ready\":\"true\"}}}}}",
                  true },
                { "{\"metadata\":{\"name\":\"web\"}}", false },
        };

        for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
                AUTO_JSON json_t *doc = NULL;

                assert_int_equal(doc_parse(slice_of(cases[i].text), &doc, NULL), 0);
                assert_int_equal(readiness_is_refused(doc), cases[i].refused);
        }
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(a_rule_holds_what_it_names_and_nothing_else),
                cmocka_unit_test(what_a_rule_leaves_out_matches_all),
                cmocka_unit_test(a_rule_that_is_taken_away_holds_no_more),
                cmocka_unit_test(an_object_or_its_pod_template_refuses_to_become_ready),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
