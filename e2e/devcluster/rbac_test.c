#include "e2e/devcluster/rbac.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/base/memory.h"

static struct rbac_rules parse(struct arena *arena, const char *text)
{
        AUTO_JSON json_t *doc = NULL;
        struct rbac_rules rules;
        assert_int_equal(doc_parse(slice_of(text), &doc, NULL), 0);
        assert_int_equal(rbac_rules_parse(arena, doc, &rules), 0);
        return rules;
}

static bool allows(const struct rbac_rules *rules, const struct rbac_question *q)
{
        for (size_t i = 0; i < rules->n; i++)
                if (rbac_rule_allows(&rules->at[i], q))
                        return true;
        return false;
}

static const char pods_and_logs[] =
        "[{\"verbs\":[\"get\",\"list\"],\"apiGroups\":[\"\"],\"resources\":[\"pods\",\"*/scale\"]},"
        " {\"verbs\":[\"*\"],\"apiGroups\":[\"apps\"],\"resources\":[\"*\"]},"
        " {\"verbs\":[\"update\"],\"apiGroups\":[\"\"],\"resources\":[\"configmaps\"],\"resourceNames\":["
        "\"mine\"]},"
        " {\"verbs\":[\"get\"],\"nonResourceURLs\":[\"/healthz\",\"/metrics/*\"]}]";

static void rules_decide_by_verb_group_resource_and_name(void **state)
{
        static const struct {
                struct rbac_question q;
                bool allowed;
        } cases[] = {
                { { "get", "", "pods", NULL, "x", NULL }, true },
                { { "delete", "", "pods", NULL, "x", NULL }, false },
                { { "get", "apps", "pods", NULL, "x", NULL }, true }, /* "*" in apps */
                { { "get", "batch", "pods", NULL, "x", NULL }, false },
                { { "get", "", "pods", "log", "x", NULL }, false },
                { { "get", "", "anything", "scale", "x", NULL }, true },
                { { "delete", "apps", "deployments", "status", "x", NULL }, true },
                { { "update", "", "configmaps", NULL, "mine", NULL }, true },
                { { "update", "", "configmaps", NULL, "yours", NULL }, false },
                { { "update", "", "configmaps", NULL, NULL, NULL }, false },
                { { "get", .path = "/healthz" }, true },
                { { "get", .path = "/metrics/cadvisor" }, true },
                { { "get", .path = "/metrics" }, false },
                { { "post", .path = "/healthz" }, false },
        };
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct rbac_rules rules = parse(&arena, pods_and_logs);
        for (size_t i = 0; i < ARRAY_LEN(cases); i++)
                if (allows(&rules, &cases[i].q) != cases[i].allowed)
                        fail_msg("case %zu", i);
}

static const char *missing(struct arena *arena, const char *held, const char *wanted)
{
        struct rbac_rules h = parse(arena, held), w = parse(arena, wanted);
        const struct rbac_rule *at[16];
        for (size_t i = 0; i < h.n; i++)
                at[i] = &h.at[i];
        const char *text;
        assert_int_equal(rbac_find_missing(arena, at, h.n, &w, &text), 0);
        return text;
}

static void what_is_not_held_is_listed_sorted(void **state)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        assert_string_equal(
                missing(&arena, pods_and_logs,
                        "[{\"verbs\":[\"get\",\"delete\",\"watch\"],\"apiGroups\":[\"\"],\"resources\":["
                        "\"pods\"]},"
                        " {\"verbs\":[\"get\"],\"nonResourceURLs\":[\"/a\"]},"
                        " {\"verbs\":[\"get\"],\"apiGroups\":[\"\"],\"resources\":[\"nodes\"],"
                        "  \"resourceNames\":[\"n\"]}]"),
                "{APIGroups:[\"\"], Resources:[\"nodes\"], ResourceNames:[\"n\"], Verbs:[\"get\"]}\n"
                "{APIGroups:[\"\"], Resources:[\"pods\"], Verbs:[\"delete\" \"watch\"]}\n"
                "{NonResourceURLs:[\"/a\"], Verbs:[\"get\"]}");
}

static void what_is_held_is_not_missing(void **state)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        assert_null(
                missing(&arena, pods_and_logs,
                        "[{\"verbs\":[\"*\"],\"apiGroups\":[\"apps\"],\"resources\":[\"deployments/scale\"]},"
                        " {\"verbs\":[\"update\"],\"apiGroups\":[\"\"],\"resources\":[\"configmaps\"],"
                        "  \"resourceNames\":[\"mine\"]},"
                        " {\"verbs\":[\"get\"],\"nonResourceURLs\":[\"/metrics/x\"]}]"));
}

static void one_named_object_does_not_cover_all(void **state)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        assert_non_null(
                missing(&arena, pods_and_logs,
                        "[{\"verbs\":[\"update\"],\"apiGroups\":[\"\"],\"resources\":[\"configmaps\"]}]"));
}

static void failing_allocations_are_reported(void **state)
{
        for (uint64_t n = 1;; n++) {
                AUTO_ARENA struct arena arena = ARENA_INIT;
                AUTO_JSON json_t *doc = NULL;
                struct rbac_rules rules = { 0 };
                const char *text = NULL;
                assert_int_equal(doc_parse(slice_of(pods_and_logs), &doc, NULL), 0);
                mem_fail_at(n, false);
                int r = rbac_rules_parse(&arena, doc, &rules);
                if (r == 0)
                        r = rbac_find_missing(&arena, NULL, 0, &rules, &text);
                bool fired = mem_fault_fired();
                mem_fail_at(0, false);
                if (!fired) {
                        assert_int_equal(r, 0);
                        break;
                }
                assert_int_equal(r, ERR_NO_MEMORY);
        }
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(rules_decide_by_verb_group_resource_and_name),
                cmocka_unit_test(what_is_not_held_is_listed_sorted),
                cmocka_unit_test(what_is_held_is_not_missing),
                cmocka_unit_test(one_named_object_does_not_cover_all),
                cmocka_unit_test(failing_allocations_are_reported),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
