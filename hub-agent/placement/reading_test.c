/* What is selected is read from the server, which may have let go of it meanwhile, or of its whole kind. */
#include "hub-agent/common.h"
#include "hub-agent/hub_agent_test.h"

#define PLACEMENT FLEET "clusterresourceplacements/web"
#define SETTINGS "/api/v1/namespaces/app/configmaps/settings"
#define CRDS "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
#define WIDGETS "/apis/example.com/v1/namespaces/app/widgets"

/* An agent on a line, and the application placed. */
static void begin(struct rig *r, struct fleet *f, struct line *line)
{
        start(r, f);
        add_member(f, "member-1", "");
        add_app(r);
        line_lay(f, line);
        start_again(r, f);
        place(r, "");
        fiber_sleep(r->loop, 5000);
}

static void end(struct fleet *f)
{
        stop(f);
        http_transport_free(f->world.transport);
}

static size_t selected(struct rig *r)
{
        rig_get(r, PLACEMENT);
        return json_array_size(doc_get_array(r->answer, "status.selectedResources"));
}

static void edit_settings(struct rig *r, const char *value)
{
        char body[64];

        snprintf(body, sizeof(body), "{\"data\":{\"a\":\"%s\"}}", value);
        assert_int_equal(rig_merge(r, SETTINGS, body), 200);
        fiber_sleep(r->loop, 5000);
}

RIG_TEST(an_object_that_is_gone_when_it_is_read_is_left_out, {
        struct line line;
        struct fleet f;

        begin(r, &f, &line);
        assert_int_equal(selected(r), 2);
        line.path = SETTINGS;
        line.fate = 404;
        edit_settings(r, "c");
        assert_int_equal(selected(r), 1);
        line.path = NULL;
        edit_settings(r, "d");
        assert_int_equal(selected(r), 2);
        end(&f);
})

RIG_TEST(an_object_whose_whole_kind_is_away_is_not_gone, {
        static const char *const more[] = { NULL, "{\"metadata\":{\"name\":\"more\"}}" };
        struct line line;
        struct fleet f;

        begin(r, &f, &line);
        for (size_t i = 0; i < ARRAY_LEN(more); i++) { /* one is read by its name, two are listed */
                if (more[i])
                        assert_int_equal(rig_post(r, "/api/v1/namespaces/app/configmaps", more[i]), 201);
                fiber_sleep(r->loop, 5000);
                assert_int_equal(selected(r), 2 + i);
                line.path = "/namespaces/app/configmaps";
                line.fate = 404;
                edit_settings(r, i ? "c" : "d");
                assert_int_equal(selected(r), 2 + i);
                line.path = NULL;
                fiber_sleep(r->loop, 120000);
                assert_int_equal(selected(r), 2 + i);
                rig_get(r, FLEET "clusterresourcesnapshots");
                assert_non_null(strstr(r->text, i ? "\"a\":\"c\"" : "\"a\":\"d\""));
        }
        end(&f);
})

static void serve_widgets(struct rig *r, bool served)
{
        char body[256];

        snprintf(body, sizeof(body),
                 "{\"spec\":{\"versions\":[{\"name\":\"v1\",\"served\":%s,\"storage\":true,\"schema\":{"
                 "\"openAPIV3Schema\":{\"type\":\"object\"}}}]}}",
                 served ? "true" : "false");
        assert_int_equal(rig_merge(r, CRDS "/widgets.example.com", body), 200);
}

static void assert_says(struct rig *r, const char *words)
{
        rig_get(r, PLACEMENT);
        if (!text_equal(condition_of(r, "ClusterResourcePlacementScheduled"), "False") ||
            !strstr(r->text, words))
                fail_msg("wanted \"%s\" in %s", words, r->text);
}

RIG_TEST(a_kind_that_is_not_served_any_more_is_told_and_waited_for, {
        struct line line;
        struct fleet f;

        begin(r, &f, &line);
        assert_int_equal(
                rig_post(r, CRDS,
                         "{\"metadata\":{\"name\":\"widgets.example.com\"},\"spec\":{\"group\":"
                         "\"example.com\",\"scope\":\"Namespaced\",\"names\":{\"plural\":"
                         "\"widgets\",\"kind\":\"Widget\"},\"versions\":[{\"name\":\"v1\",\"served\":"
                         "true,\"storage\":true,\"schema\":{\"openAPIV3Schema\":{\"type\":"
                         "\"object\"}}}]}}"),
                201);
        fiber_sleep(r->loop, 5000);
        assert_int_equal(rig_post(r, WIDGETS,
                                  "{\"apiVersion\":\"example.com/v1\",\"kind\":\"Widget\",\"metadata\":{"
                                  "\"name\":\"x\"}}"),
                         201);
        fiber_sleep(r->loop, 5000);
        assert_int_equal(selected(r), 3);
        serve_widgets(r, false);
        fiber_sleep(r->loop, 30000);
        edit_settings(r, "c");
        assert_int_equal(selected(r), 3);
        assert_says(r, "The resources cannot be selected at present, and what is placed stays as it is: "
                       "objects of kind \\\"Widget\\\" (example.com/v1/Widget) are selected, but cannot be "
                       "read: the hub does not serve it at present");
        serve_widgets(r, true);
        fiber_sleep(r->loop, 60000);
        assert_int_equal(selected(r), 3);
        assert_string_equal(condition_of(r, "ClusterResourcePlacementScheduled"), "True");
        end(&f);
})

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(an_object_that_is_gone_when_it_is_read_is_left_out),
                cmocka_unit_test(an_object_whose_whole_kind_is_away_is_not_gone),
                cmocka_unit_test(a_kind_that_is_not_served_any_more_is_told_and_waited_for),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
