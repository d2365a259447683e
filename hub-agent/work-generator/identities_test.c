/* What a member says about a manifest is told of the resource that the Work holds at that place, whatever
 * name the member gives it. */
#include "hub-agent/common.h"
#include "hub-agent/hub_agent_test.h"

#define BINDINGS FLEET "clusterresourcebindings"
#define WORK FLEET "namespaces/fleet-member-member-1/works/web-work"

static void begin(struct rig *r, struct fleet *f)
{
        start(r, f);
        add_member(f, "member-1", "");
        add_app(r);
        place(r, "");
        rig_settle(r);
}

/* As a member on which the manifest at `ordinal` cannot be applied. */
static void say_failed(struct fleet *f, int ordinal)
{
        char body[2048], now[RFC3339_SIZE];
        long long generation;

        rig_get(f->rig, WORK);
        generation = doc_get_int(f->rig->answer, "metadata.generation", 0);
        stamp_now(f, now);
        snprintf(
                body, sizeof(body),
                "{\"status\":{\"conditions\":[{\"type\":\"Applied\",\"status\":\"False\",\"reason\":\"A\","
                "\"message\":\"\",\"lastTransitionTime\":\"%s\",\"observedGeneration\":%lld}],"
                "\"manifestConditions\":[{\"identifier\":{\"ordinal\":%d,\"version\":\"v7\",\"kind\":\"Lie\","
                "\"name\":\"another\"},\"conditions\":[{\"type\":\"Applied\",\"status\":\"False\","
                "\"reason\":\"Refused\",\"message\":\"no\",\"lastTransitionTime\":\"%s\","
                "\"observedGeneration\":0}]}]}}",
                now, generation, ordinal, now);
        assert_int_equal(rig_merge(f->rig, WORK "/status", body), 200);
        rig_settle(f->rig);
}

/* "Namespace app; " of the binding's entries. */
static const char *failed_on_binding(struct rig *r, char ret[256])
{
        const json_t *e;
        size_t i;

        ret[0] = 0;
        rig_get(r, BINDINGS);
        json_array_foreach(doc_get_array(json_array_get(doc_get_array(r->answer, "items"), 0),
                                         "status.failedPlacements"),
                           i, e)
                snprintf(ret + strlen(ret), 256 - strlen(ret), "%s %s; ", or_empty(doc_get_string(e, "kind")),
                         or_empty(doc_get_string(e, "name")));
        return ret;
}

static const char *at(struct rig *r, int ordinal, char ret[256])
{
        const json_t *m;

        rig_get(r, WORK);
        m = json_array_get(doc_get_array(r->answer, "spec.workload.manifests"), (size_t)ordinal);
        snprintf(ret, 256, "%s %s; ", or_empty(doc_get_string(m, "kind")),
                 or_empty(doc_get_string(m, "metadata.name")));
        return ret;
}

static void is_named(struct rig *r)
{
        char is[256], wanted[256];
        struct fleet f;

        begin(r, &f);
        for (int ordinal = 0; ordinal < 2; ordinal++) {
                say_failed(&f, ordinal);
                assert_string_equal(failed_on_binding(r, is), at(r, ordinal, wanted));
        }
        assert_string_not_equal(is, "");
        stop(&f);
}
static void a_manifest_is_named_as_the_work_has_it(void **state)
{
        rig_run(is_named);
}

/* Where the Work holds another resource now, that one is meant. */
static void is_changed(struct rig *r)
{
        char is[256], wanted[256];
        struct fleet f;

        begin(r, &f);
        say_failed(&f, 1);
        assert_string_equal(failed_on_binding(r, is), at(r, 1, wanted));
        assert_int_equal(rig_post(r, "/api/v1/namespaces/app/configmaps",
                                  "{\"metadata\":{\"name\":\"a-new-one\"},\"data\":{\"a\":\"b\"}}"),
                         201);
        for (int i = 0; i < 3; i++)
                rig_settle(r);
        for (int ordinal = 0; ordinal < 3; ordinal++) {
                say_failed(&f, ordinal);
                assert_string_equal(failed_on_binding(r, is), at(r, ordinal, wanted));
        }
        stop(&f);
}
static void a_work_that_holds_something_else_is_looked_at_again(void **state)
{
        rig_run(is_changed);
}

/* The cache has Works without their manifests, and what cannot be read is not guessed. */
static void is_not_answered(struct rig *r)
{
        char is[256], wanted[256];
        struct line line;
        struct fleet f;

        begin(r, &f);
        line_lay(&f, &line);
        start_again(r, &f);
        line.path = "works/web-work";
        line.fate = 503;
        say_failed(&f, 1);
        assert_string_equal(failed_on_binding(r, is), "");
        line.path = NULL;
        fiber_sleep(r->loop, 60000);
        assert_string_equal(failed_on_binding(r, is), at(r, 1, wanted));
        stop(&f);
        http_transport_free(f.world.transport);
}
static void a_work_that_cannot_be_read_is_waited_for(void **state)
{
        rig_run(is_not_answered);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(a_manifest_is_named_as_the_work_has_it),
                cmocka_unit_test(a_work_that_holds_something_else_is_looked_at_again),
                cmocka_unit_test(a_work_that_cannot_be_read_is_waited_for),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
