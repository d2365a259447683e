/* What the state file is given of a Work: spec/member-agent.md 6.3. */
#include "member-agent/apply/pass.h"
#include "member-agent/apply/testing.h"

#define SPEC                                                                                                 \
        "\"spec\":{\"workload\":{\"manifests\":[{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":" \
        "{\"name\":\"c\",\"namespace\":\"web\"},\"data\":{\"k\":\"1\"}}]}}"
#define HEAD                                                                                                 \
        "{\"apiVersion\":\"placement.kubernetes-fleet.io/"                                                   \
        "v1beta1\",\"kind\":\"Work\",\"metadata\":{\"name\":"                                                \
        "\"w\",\"namespace\":\"fleet-member-m1\",\"uid\":\"u\",\"generation\":3},"
#define STATUS                                                                                               \
        "\"status\":{\"conditions\":[{\"type\":\"Applied\",\"status\":\"True\",\"reason\":\"told-before\","  \
        "\"message\":\"\",\"lastTransitionTime\":\"2026-01-01T00:00:00Z\"}]}"

static void no_random(void *ctx, void *ret, size_t n)
{
        memset(ret, 1, n);
}

static size_t save(struct member_agent *a, const char *text)
{
        struct object *o = NULL;
        struct error err = { 0 };
        size_t bytes = 0;

        assert_int_equal(object_decode(&work_kind, slice_of(text), DECODE_FULL, NULL, &o, &err), 0);
        assert_int_equal(work_save(a, (const struct work *)(const void *)o, &bytes, &err), 0);
        object_unref(o);
        return bytes;
}

static void a_work_is_kept_without_its_status_and_with_what_it_wants(void **state)
{
        static const struct object_name wanted = { "", "ConfigMap", "web", "c" };
        struct store_options options = { .path = ":memory:", .random = no_random };
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct member_agent a = { 0 };
        struct stored_work stored;
        const char **names;
        size_t n, bytes;

        assert_int_equal(store_open(&options, &a.store, NULL), 0);
        bytes = save(&a, HEAD SPEC "," STATUS "}");
        assert_int_equal(store_work_get(a.store, "w", &arena, &stored, NULL), 0);
        assert_int_equal(stored.spec.len, bytes);
        assert_int_equal(stored.generation, 3);
        assert_string_equal(stored.uid, "u");
        assert_true(stored.listed);
        assert_null(strstr(arena_strndup(&arena, stored.spec.data, stored.spec.len), "told-before"));
        assert_int_equal(save(&a, HEAD SPEC "}"), bytes); /* which bounds how long the status may be */
        assert_int_equal(store_wanted_by(a.store, &wanted, &arena, &names, &n, NULL), 0);
        assert_int_equal(n, 1);
        assert_string_equal(names[0], "w");
        store_close(a.store);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(a_work_is_kept_without_its_status_and_with_what_it_wants),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
