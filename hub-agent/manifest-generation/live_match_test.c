/* spec/flux-yaml.md 7.2.5. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/base/memory.h"
#include "common/json/apply.h"
#include "common/json/schema.h"
#include "e2e/devcluster/rig.h"
#include "hub-agent/manifest-generation/live_match.h"

#define DEPLOYMENTS "/apis/apps/v1/namespaces/apps/deployments/"
#define SPEC                                                                                                 \
        "\"selector\":{\"matchLabels\":{\"a\":\"b\"}},\"template\":{\"metadata\":{\"labels\":{\"a\":\"b\"}}" \
        ","                                                                                                  \
        "\"spec\":{\"containers\":[{\"name\":\"one\",\"image\":\"x:1\",\"args\":[\"a\",\"b\"],\"ports\":["   \
        "{\"containerPort\":80}]},{\"name\":\"two\",\"image\":\"y:1\"}]}}"
#define WEB                                                                                                  \
        "{\"apiVersion\":\"apps/v1\",\"kind\":\"Deployment\",\"metadata\":{\"name\":\"web\",\"namespace\":"  \
        "\"apps\",\"labels\":{\"x\":\"y\"},\"annotations\":null,\"finalizers\":[\"example.com/a\"]},"        \
        "\"spec\":{" SPEC "}}"

static bool holds(struct rig *r, const char *wanted)
{
        AUTO_JSON json_t *doc = NULL;

        assert_int_equal(doc_parse(slice_of(wanted), &doc, NULL), 0);
        assert_int_equal(rig_get(r, DEPLOYMENTS "web"), 200);
        return live_holds(r->answer, doc, "flux");
}

static void apply(struct rig *r, const char *doc)
{
        rig_post(r, "/api/v1/namespaces", "{\"metadata\":{\"name\":\"apps\"}}");
        if (rig_apply(r, DEPLOYMENTS "web?fieldManager=flux&force=true", doc) >= 300)
                fail_msg("%s", r->text);
}

RIG_TEST(what_was_applied_is_held, {
        apply(r, WEB);
        assert_true(holds(r, WEB));
})

RIG_TEST(what_others_add_does_not_matter, {
        apply(r, WEB);
        assert_int_equal(rig_merge(r, DEPLOYMENTS "web",
                                   "{\"metadata\":{\"labels\":{\"z\":\"z\"}},\"spec\":{\"paused\":true}}"),
                         200);
        assert_true(holds(r, WEB));
})

RIG_TEST(a_value_that_somebody_changed_is_not_held, {
        apply(r, WEB);
        assert_int_equal(rig_merge(r, DEPLOYMENTS "web", "{\"metadata\":{\"labels\":{\"x\":\"z\"}}}"), 200);
        assert_false(holds(r, WEB));
})

/* spec/flux-yaml.md checklist 39 */
RIG_TEST(a_field_that_is_not_wanted_any_more_is_not_held, {
        apply(r, "{\"apiVersion\":\"apps/"
                 "v1\",\"kind\":\"Deployment\",\"metadata\":{\"name\":\"web\",\"namespace\":"
                 "\"apps\",\"labels\":{\"x\":\"y\"},\"finalizers\":[\"example.com/a\"]},\"spec\":{"
                 "\"replicas\":3," SPEC "}}");
        assert_false(holds(r, WEB));
        apply(r, WEB);
        assert_true(holds(r, WEB));
})

RIG_TEST(what_nobody_or_another_applied_is_not_held, {
        rig_post(r, "/api/v1/namespaces", "{\"metadata\":{\"name\":\"apps\"}}");
        assert_int_equal(rig_post(r, "/apis/apps/v1/namespaces/apps/deployments", WEB), 201);
        assert_false(holds(r, WEB));
        assert_int_equal(rig_apply(r, DEPLOYMENTS "web?fieldManager=other&force=true", WEB), 200);
        assert_false(holds(r, WEB));
})

RIG_TEST(another_order_of_containers_is_not_held, {
        AUTO_FREE char *other = mem_strdup(WEB);
        char *one = strstr(other, "\"one\"");
        char *two = strstr(other, "\"two\"");

        apply(r, WEB);
        memcpy(one, "\"two\"", 5);
        memcpy(two, "\"one\"", 5);
        assert_false(holds(r, other));
})

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(what_was_applied_is_held),
                cmocka_unit_test(what_others_add_does_not_matter),
                cmocka_unit_test(a_value_that_somebody_changed_is_not_held),
                cmocka_unit_test(a_field_that_is_not_wanted_any_more_is_not_held),
                cmocka_unit_test(what_nobody_or_another_applied_is_not_held),
                cmocka_unit_test(another_order_of_containers_is_not_held),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
