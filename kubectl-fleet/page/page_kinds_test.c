/* The chart gives the page the rights that its views need, and no others. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "common/base/memory.h"
#include "common/json/doc.h"
#include "kubectl-fleet/page/view.h"

#define RULES "charts/hub-agent/files/rules-page.yaml"

static json_t *read_rules(void)
{
        static char text[16384];
        FILE *f = fopen(RULES, "re");
        json_t *rules = NULL;
        size_t n;

        assert_non_null(f);
        n = fread(text, 1, sizeof(text), f);
        fclose(f);
        assert_true(n < sizeof(text));
        assert_int_equal(yaml_parse((struct slice){ text, n }, &rules, NULL), 0);
        return rules;
}

static bool has(const json_t *rule, const char *list, const char *word)
{
        size_t i;
        json_t *one;

        json_array_foreach(doc_get_array(rule, list), i, one)
                if (text_equal(json_string_value(one), word))
                        return true;
        return false;
}

static bool grants(const json_t *rules, const char *group, const char *plural, const char *verb)
{
        size_t i;
        json_t *rule;

        json_array_foreach((json_t *)(uintptr_t)rules, i, rule)
                if (has(rule, "apiGroups", group) && has(rule, "resources", plural) &&
                    has(rule, "verbs", verb))
                        return true;
        return false;
}

static size_t count(const json_t *rules)
{
        size_t i, n = 0;
        json_t *rule;

        json_array_foreach((json_t *)(uintptr_t)rules, i, rule)
                n += json_array_size(doc_get_array(rule, "apiGroups")) *
                     json_array_size(doc_get_array(rule, "resources")) *
                     json_array_size(doc_get_array(rule, "verbs"));
        return n;
}

static void the_chart_grants_what_the_views_read_and_nothing_else(void **state)
{
        AUTO_JSON json_t *rules = read_rules();
        size_t n = 0;

        for (const struct kind *const *k = page_kinds; *k; k++) {
                assert_true(grants(rules, (*k)->group, (*k)->plural, "list"));
                assert_true(grants(rules, (*k)->group, (*k)->plural, "watch"));
                n += 2;
        }
        assert_true(grants(rules, "authentication.k8s.io", "tokenreviews", "create"));
        assert_true(grants(rules, "authorization.k8s.io", "subjectaccessreviews", "create"));
        assert_int_equal(count(rules), n + 2);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(the_chart_grants_what_the_views_read_and_nothing_else),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
