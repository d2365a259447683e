#include "member-agent/apply/wants.h"

#include "member-agent/apply/testing.h"

static size_t wants_of(struct arena *arena, const char *const *manifests, size_t n, struct object_name **ret)
{
        struct slice *texts = ARENA_NEW_ARRAY(arena, struct slice, n);
        struct workload workload = { .manifests = { .at = texts, .n = (uint32_t)n, .set = true } };
        struct work_spec spec = { .workload = &workload };
        struct work work = { .spec = &spec };
        size_t found = 0;

        for (size_t i = 0; i < n; i++)
                texts[i] = slice_of(manifests[i]);
        assert_int_equal(wants_of_work(&work, arena, ret, &found, NULL), 0);
        return found;
}

static void a_manifest_is_known_by_group_kind_namespace_and_name(void **state)
{
        static const char *const manifests[] = {
                "{\"apiVersion\":\"apps/"
                "v1\",\"kind\":\"Deployment\",\"spec\":{\"metadata\":{\"name\":\"no\"}},"
                "\"metadata\":{\"labels\":{\"name\":\"no\"},\"namespace\":\"web\",\"name\":\"si\\u0074e\"},"
                "\"status\":{\"name\":\"no\",\"namespace\":\"no\"}}",
                "{\"metadata\":{\"name\":\"web\"},\"kind\":\"Namespace\",\"apiVersion\":\"v1\"}",
        };
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct object_name *at;

        assert_int_equal(wants_of(&arena, manifests, ARRAY_LEN(manifests), &at), 2);
        assert_string_equal(at[0].group, "apps");
        assert_string_equal(at[0].kind, "Deployment");
        assert_string_equal(at[0].ns, "web");
        assert_string_equal(at[0].name, "site");
        assert_string_equal(at[1].group, "");
        assert_string_equal(at[1].ns, "");
        assert_string_equal(at[1].name, "web");
}

static void what_has_no_name_wants_nothing(void **state)
{
        static const char *const manifests[] = {
                "",
                "[]",
                "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\"}",
                "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":[\"name\"]}",
                "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":3}}",
                "{\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"a\"}}",
                "{\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"a\"}}",
                "{\"apiVersion\":\"\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"a\"}}",
                "{\"apiVersion\":\"v1\",\"kind\":\"\",\"metadata\":{\"name\":\"a\"}}",
                "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"\"}}",
                "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"a\"}",
                "{\"apiVersion\":7,\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"a\"}}",
                "{\"apiVersion\":\"v1\",\"kind\":7,\"metadata\":{\"name\":\"a\"}}",
                "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"a\"",
                "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"generateName\":\"a\"}}",
        };
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct object_name *at;

        assert_int_equal(wants_of(&arena, manifests, ARRAY_LEN(manifests), &at), 0);
}

static void a_work_without_manifests_wants_nothing(void **state)
{
        struct workload workload = { 0 };
        struct work_spec empty = { 0 }, full = { .workload = &workload };
        const struct work works[] = { { .spec = NULL }, { .spec = &empty }, { .spec = &full } };
        AUTO_ARENA struct arena arena = ARENA_INIT;

        for (size_t i = 0; i < ARRAY_LEN(works); i++) {
                struct object_name *at;
                size_t n = 7;

                assert_int_equal(wants_of_work(&works[i], &arena, &at, &n, NULL), 0);
                assert_int_equal(n, 0);
        }
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(a_manifest_is_known_by_group_kind_namespace_and_name),
                cmocka_unit_test(what_has_no_name_wants_nothing),
                cmocka_unit_test(a_work_without_manifests_wants_nothing),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
