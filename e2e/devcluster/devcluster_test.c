#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "e2e/devcluster/rig.h"

#define NS "/api/v1/namespaces/default"
#define CM NS "/configmaps"

static const char one[] = "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"a\","
                          "\"labels\":{\"app\":\"x\"}},\"data\":{\"k\":\"v\"}}";

static void create_get(struct rig *r)
{
        assert_int_equal(rig_post(r, CM, one), 201);
        assert_string_equal(rig_string(r, "metadata.name"), "a");
        assert_string_equal(rig_string(r, "metadata.namespace"), "default");
        assert_int_equal(strlen(rig_string(r, "metadata.uid")), 36);
        assert_string_equal(rig_string(r, "metadata.creationTimestamp"), "2026-01-01T00:00:00Z");
        assert_int_equal(rig_get(r, CM "/a"), 200);
        assert_string_equal(rig_string(r, "data.k"), "v");
        assert_string_equal(rig_string(r, "kind"), "ConfigMap");
}

static void a_created_object_can_be_read(void **state)
{
        rig_run(create_get);
}

static void twice(struct rig *r)
{
        assert_int_equal(rig_post(r, CM, one), 201);
        assert_int_equal(rig_post(r, CM, one), 409);
        assert_string_equal(rig_string(r, "reason"), "AlreadyExists");
        assert_string_equal(rig_string(r, "message"), "configmaps \"a\" already exists");
        assert_string_equal(rig_string(r, "details.name"), "a");
        assert_int_equal(rig_get(r, CM "/b"), 404);
        assert_string_equal(rig_string(r, "message"), "configmaps \"b\" not found");
        assert_int_equal(rig_post(r, "/api/v1/namespaces/no/configmaps", one), 404);
        assert_string_equal(rig_string(r, "message"), "namespaces \"no\" not found");
}

static void a_second_create_and_a_missing_name_are_refused(void **state)
{
        rig_run(twice);
}

static void watch(struct rig *r)
{
        struct rig_watch w;
        assert_int_equal(rig_post(r, CM, one), 201);
        rig_watch_open(r, &w, CM "?watch=1&labelSelector=app%3Dx");
        assert_int_equal(r->status, 200);
        assert_string_equal(rig_watch_next(&w, 1000), "ADDED");
        assert_string_equal(rig_watch_string(&w, "metadata.name"), "a");
        assert_string_equal(rig_watch_next(&w, 1000), "timeout");
        assert_int_equal(rig_merge(r, CM "/a", "{\"data\":{\"k\":\"w\"}}"), 200);
        assert_string_equal(rig_watch_next(&w, 1000), "MODIFIED");
        assert_string_equal(rig_watch_string(&w, "data.k"), "w");
        assert_int_equal(rig_merge(r, CM "/a", "{\"metadata\":{\"labels\":{\"app\":\"y\"}}}"), 200);
        assert_string_equal(rig_watch_next(&w, 1000), "DELETED");
        assert_int_equal(rig_merge(r, CM "/a", "{\"metadata\":{\"labels\":{\"app\":\"x\"}}}"), 200);
        assert_string_equal(rig_watch_next(&w, 1000), "ADDED");
        assert_int_equal(rig_delete(r, CM "/a"), 200);
        assert_string_equal(rig_string(r, "status"), "Success");
        assert_string_equal(rig_watch_next(&w, 1000), "DELETED");
        rig_watch_close(&w);
}

static void a_watch_sees_objects_enter_and_leave_its_selector(void **state)
{
        rig_run(watch);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(a_created_object_can_be_read),
                cmocka_unit_test(a_second_create_and_a_missing_name_are_refused),
                cmocka_unit_test(a_watch_sees_objects_enter_and_leave_its_selector),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
