/* Kinds that come, go, break and come back, and what placements make of it: the agent as a whole. */
#include "hub-agent/hub_agent_test.h"

#define CRDS "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"

struct troubled {
        struct fleet f;
        struct loopback_faults faults;
        const char *failing; /* requests of the agent whose path begins so are answered 503; NULL = none */
        size_t lists;        /* of `failing` */
};

static int fate(void *ctx, const struct http_request *rq)
{
        struct troubled *t = ctx;

        if (!t->failing || !text_starts_with(rq->path, t->failing))
                return 0;
        t->lists++;
        return 503;
}

static void start_failing(struct rig *r, struct troubled *t, const char *failing)
{
        *t = (struct troubled){ .f = { .rig = r, .world = r->world }, .failing = failing };
        t->f.sink = (struct log_sink){ write_line, wall_of, &t->f, LOG_TEXT,
                                       getenv("HUB_TEST_LOG") ? LOG_DEBUG : LOG_ERROR };
        t->f.log = (struct log){ .sink = &t->f.sink };
        t->faults = (struct loopback_faults){ .ctx = t, .fate = fate };
        t->f.world.transport = loopback_transport(r->net, &t->f.world, &t->faults);
        install_kinds(r);
        start_again(r, &t->f);
}

static void start_troubled(struct rig *r, struct troubled *t)
{
        start_failing(r, t, NULL);
}

static void stop_troubled(struct troubled *t)
{
        stop(&t->f);
        http_transport_free(t->f.world.transport);
}

static void pass(struct rig *r, int64_t ms)
{
        assert_int_equal(fiber_sleep(r->loop, ms), 0);
}

static void define_scoped(struct rig *r, const char *group, const char *kind, const char *plural,
                          const char *scope)
{
        char body[2048];

        snprintf(body, sizeof(body),
                 "{\"metadata\":{\"name\":\"%s.%s\"},\"spec\":{\"group\":\"%s\",\"scope\":\"%s\","
                 "\"names\":{"
                 "\"plural\":\"%s\",\"kind\":\"%s\"},\"versions\":[{\"name\":\"v1\",\"served\":true,"
                 "\"storage\":"
                 "true,\"schema\":{\"openAPIV3Schema\":{\"type\":\"object\","
                 "\"x-kubernetes-preserve-unknown-fields\":true}}}]}}",
                 plural, group, group, scope, plural, kind);
        assert_int_equal(rig_post(r, CRDS, body), 201);
}

static void define(struct rig *r, const char *group, const char *kind, const char *plural)
{
        define_scoped(r, group, kind, plural, "Cluster");
}

static void add_object(struct rig *r, const char *group, const char *kind, const char *plural)
{
        char path[600], body[1024];

        snprintf(path, sizeof(path), "/apis/%s/v1/%s", group, plural);
        snprintf(body, sizeof(body),
                 "{\"apiVersion\":\"%s/v1\",\"kind\":\"%s\",\"metadata\":{\"name\":\"x\"}}", group, kind);
        assert_int_equal(rig_post(r, path, body), 201);
}

static void select_kind(struct rig *r, const char *name, const char *group, const char *kind)
{
        char body[1024];

        snprintf(body, sizeof(body),
                 "{\"apiVersion\":\"placement.kubernetes-fleet.io/"
                 "v1beta1\",\"kind\":\"ClusterResourcePlacement\","
                 "\"metadata\":{\"name\":\"%s\"},\"spec\":{\"resourceSelectors\":[{\"group\":\"%s\","
                 "\"version\":"
                 "\"v1\",\"kind\":\"%s\"}]}}",
                 name, group, kind);
        assert_int_equal(rig_post(r, FLEET "clusterresourceplacements", body), 201);
}

static size_t selected(struct rig *r, const char *placement)
{
        char path[256];

        snprintf(path, sizeof(path), FLEET "clusterresourceplacements/%s", placement);
        rig_get(r, path);
        return json_array_size(doc_get_array(r->answer, "status.selectedResources"));
}

static bool says(struct rig *r, const char *placement, const char *words)
{
        char path[256];

        snprintf(path, sizeof(path), FLEET "clusterresourceplacements/%s", placement);
        rig_get(r, path);
        return text_equal(condition_of(r, "ClusterResourcePlacementScheduled"), "False") &&
               strstr(r->text, words);
}

/* Two that ask for one short name: the second is not served until its status says so. */
static void define_in_conflict(struct rig *r)
{
        static const char *const kinds[][2] = { { "Gadget", "gadgets" }, { "Widget", "widgets" } };

        for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
                char body[1024];

                snprintf(
                        body, sizeof(body),
                        "{\"metadata\":{\"name\":\"%s.example.com\"},\"spec\":{\"group\":\"example.com\","
                        "\"scope\":"
                        "\"Cluster\",\"names\":{\"plural\":\"%s\",\"kind\":\"%s\",\"shortNames\":[\"same\"]},"
                        "\"versions\":[{\"name\":\"v1\",\"served\":true,\"storage\":true,\"schema\":{"
                        "\"openAPIV3Schema\":{\"type\":\"object\"}}}]}}",
                        kinds[i][1], kinds[i][1], kinds[i][0]);
                assert_int_equal(rig_post(r, CRDS, body), 201);
        }
}

static void establish_widgets(struct rig *r)
{
        assert_int_equal(
                rig_merge(r, CRDS "/widgets.example.com/status",
                          "{\"status\":{\"conditions\":[{\"type\":\"NamesAccepted\",\"status\":\"True\","
                          "\"reason\":"
                          "\"X\",\"message\":\"\",\"lastTransitionTime\":\"2026-01-01T00:00:00Z\"},{\"type\":"
                          "\"Established\",\"status\":\"True\",\"reason\":\"X\",\"message\":\"\","
                          "\"lastTransitionTime\":\"2026-01-01T00:00:00Z\"}]}}"),
                200);
}

static void established_late(struct rig *r)
{
        struct fleet f;

        start(r, &f);
        add_member(&f, "member-1", "");
        define_in_conflict(r);
        pass(r, 40000);
        select_kind(r, "web", "example.com", "Widget");
        pass(r, 2000);
        assert_true(says(r, "web", "no matches for kind \\\"Widget\\\""));
        establish_widgets(r);
        pass(r, 500);
        add_object(r, "example.com", "Widget", "widgets");
        pass(r, 1500);
        assert_int_equal(selected(r, "web"), 1);
        stop(&f);
}

static void a_definition_that_its_status_alone_brings_to_life_is_seen_at_once(void **state)
{
        rig_run(established_late);
}

static void discovery_away(struct rig *r)
{
        struct troubled t;

        start_troubled(r, &t);
        add_member(&t.f, "member-1", "");
        pass(r, 30000);
        t.failing = "/api"; /* and /apis: both are of discovery, and the lists that follow */
        define(r, "example.com", "Widget", "widgets");
        add_object(r, "example.com", "Widget", "widgets");
        pass(r, 20000);
        t.failing = NULL;
        pass(r, 17000);
        select_kind(r, "web", "example.com", "Widget");
        pass(r, 2000);
        assert_int_equal(selected(r, "web"), 1);
        stop_troubled(&t);
}

static void a_kind_that_discovery_could_not_tell_of_is_looked_for_again(void **state)
{
        rig_run(discovery_away);
}

static void long_names(struct rig *r)
{
        char group[234];
        struct fleet f;

        for (size_t i = 0; i < sizeof(group) - 1; i++)
                group[i] = i % 50 == 49 ? '.' : 'a';
        group[sizeof(group) - 1] = 0;
        start(r, &f);
        add_member(&f, "member-1", "");
        define(r, group, "Abcdefghijabcdefghijabcdefghij", "things");
        pass(r, 2000);
        add_object(r, group, "Abcdefghijabcdefghijabcdefghij", "things");
        select_kind(r, "web", group, "Abcdefghijabcdefghijabcdefghij");
        pass(r, 2000);
        assert_int_equal(selected(r, "web"), 1);
        rig_merge(r, FLEET "clusterresourceplacements/web", "{\"spec\":{\"revisionHistoryLimit\":3}}");
        stop(&f);
}

static void a_kind_with_the_longest_names_is_placed_like_any_other(void **state)
{
        rig_run(long_names);
}

/* Forty placements stand at a kind that cannot be listed; another kind's placement goes by. */
static void broken_kind(struct rig *r)
{
        struct troubled t;
        char name[32];

        start_troubled(r, &t);
        add_member(&t.f, "member-1", "");
        t.failing = "/apis/example.com/v1/widgets";
        define(r, "example.com", "Widget", "widgets");
        define(r, "example.com", "Gadget", "gadgets");
        pass(r, 2000);
        add_object(r, "example.com", "Widget", "widgets");
        add_object(r, "example.com", "Gadget", "gadgets");
        for (int i = 0; i < 40; i++) {
                snprintf(name, sizeof(name), "waits-%d", i);
                select_kind(r, name, "example.com", "Widget");
        }
        pass(r, 500);
        select_kind(r, "goes", "example.com", "Gadget");
        pass(r, 1500);
        assert_int_equal(selected(r, "goes"), 1);
        assert_false(says(r, "waits-0", "cannot be listed"));
        assert_string_equal(condition_of(r, "ClusterResourcePlacementScheduled"), "absent");
        pass(r, 60000);
        assert_true(says(r, "waits-0", "kind \\\"Widget\\\" (example.com/v1/Widget) cannot be listed"));
        assert_true(t.lists < 40); /* nobody lists it but its informer */
        t.failing = NULL;
        pass(r, 40000);
        assert_int_equal(selected(r, "waits-0"), 1);
        assert_int_equal(selected(r, "waits-39"), 1);
        stop_troubled(&t);
}

/* spec/placement.md checklist 33: what lasts is told, which section 17 calls better. */
static void a_kind_that_cannot_be_listed_holds_only_its_own_placements(void **state)
{
        rig_run(broken_kind);
}

static void select_namespace(struct rig *r, const char *ns)
{
        char body[512];

        snprintf(
                body, sizeof(body),
                "{\"apiVersion\":\"placement.kubernetes-fleet.io/"
                "v1beta1\",\"kind\":\"ClusterResourcePlacement\","
                "\"metadata\":{\"name\":\"%s\"},\"spec\":{\"resourceSelectors\":[{\"group\":\"\",\"version\":"
                "\"v1\",\"kind\":\"Namespace\",\"name\":\"%s\"}]}}",
                ns, ns);
        assert_int_equal(rig_post(r, FLEET "clusterresourceplacements", body), 201);
}

/* Lists of all Widgets fail, as with a conversion that is down. */
static void broken_in_one_namespace(struct rig *r)
{
        struct troubled t;

        define_scoped(r, "example.com", "Widget", "widgets", "Namespaced");
        rig_post(r, "/api/v1/namespaces", "{\"metadata\":{\"name\":\"with\"}}");
        rig_post(r, "/api/v1/namespaces", "{\"metadata\":{\"name\":\"without\"}}");
        rig_settle(r);
        assert_int_equal(
                rig_post(r, "/apis/example.com/v1/namespaces/with/widgets",
                         "{\"apiVersion\":\"example.com/v1\",\"kind\":\"Widget\",\"metadata\":{\"name\":"
                         "\"x\"}}"),
                201);
        start_failing(r, &t, "/apis/example.com/v1/widgets");
        add_member(&t.f, "member-1", "");
        select_namespace(r, "with");
        select_namespace(r, "without");
        pass(r, 30000);
        assert_int_equal(selected(r, "without"), 1);
        assert_true(says(r, "with", "kind \\\"Widget\\\" (example.com/v1/Widget) cannot be listed"));
        t.failing = NULL;
        pass(r, 40000);
        assert_int_equal(selected(r, "with"), 2);
        assert_int_equal(selected(r, "without"), 1);
        stop_troubled(&t);
}

static void a_kind_that_cannot_be_listed_holds_only_the_namespaces_that_have_it(void **state)
{
        rig_run(broken_in_one_namespace);
}

/* Nothing of the kind is there, so no object tells that its list has come. */
static void first_list_is_slow(struct rig *r)
{
        struct line line;
        struct fleet f;

        start(r, &f);
        line_lay(&f, &line);
        start_again(r, &f);
        add_member(&f, "member-1", "");
        assert_int_equal(rig_post(r, "/api/v1/namespaces", "{\"metadata\":{\"name\":\"without\"}}"), 201);
        pass(r, 2000);
        line.slow = "/apis/example.com/v1/";
        define_scoped(r, "example.com", "Gadget", "gadgets", "Namespaced");
        pass(r, 400);
        select_namespace(r, "without");
        pass(r, 1000);
        assert_int_equal(selected(r, "without"), 0);
        pass(r, SLOW_MS);
        assert_int_equal(selected(r, "without"), 1);
        stop(&f);
        http_transport_free(f.world.transport);
}

static void a_namespace_goes_on_as_soon_as_the_list_that_it_waits_for_has_come(void **state)
{
        rig_run(first_list_is_slow);
}

/* Endpoints that a Service makes are not placed: that takes knowing the Services. */
static void endpoints_first(struct rig *r)
{
        static const char placement[] =
                "{\"apiVersion\":\"placement.kubernetes-fleet.io/v1beta1\",\"kind\":\"ResourcePlacement\","
                "\"metadata\":{\"name\":\"web\"},\"spec\":{\"resourceSelectors\":[{\"group\":\"\","
                "\"version\":"
                "\"v1\",\"kind\":\"Endpoints\"}]}}";
        struct troubled t;

        rig_post(r, "/api/v1/namespaces", "{\"metadata\":{\"name\":\"app\"}}");
        rig_post(r, "/api/v1/namespaces/app/services",
                 "{\"metadata\":{\"name\":\"web\"},\"spec\":{\"ports\":[{\"port\":80}]}}");
        rig_post(r, "/api/v1/namespaces/app/endpoints", "{\"metadata\":{\"name\":\"web\"}}");
        start_failing(r, &t, "/api/v1/services");
        assert_int_equal(rig_post(r, FLEET "namespaces/app/resourceplacements", placement), 201);
        pass(r, 10000);
        assert_int_equal(count(r, FLEET "namespaces/app/resourcesnapshots"), 0);
        t.failing = NULL;
        pass(r, 40000);
        assert_int_equal(count(r, FLEET "namespaces/app/resourcesnapshots"), 1);
        assert_int_equal(rig_get(r, FLEET "namespaces/app/resourcesnapshots/web-0-snapshot"), 200);
        assert_int_equal(json_array_size(doc_get_array(r->answer, "spec.selectedResources")), 0);
        stop_troubled(&t);
}

/* spec/placement.md checklist 18 */
static void endpoints_are_judged_when_the_services_are_known(void **state)
{
        rig_run(endpoints_first);
}

static void leaving(struct rig *r)
{
        struct fleet f;

        start(r, &f);
        add_member(&f, "member-1", "");
        add_app(r);
        rig_post(r, "/api/v1/namespaces/app/configmaps",
                 "{\"metadata\":{\"name\":\"held\",\"finalizers\":[\"example.com/hold\"]}}");
        place(r, "");
        settle(&f);
        assert_int_equal(selected(r, "web"), 3);
        rig_delete(r, "/api/v1/namespaces/app/configmaps/held");
        settle(&f);
        assert_int_equal(selected(r, "web"), 2);
        stop(&f);
}

static void an_object_that_is_being_deleted_leaves_the_selection_at_once(void **state)
{
        rig_run(leaving);
}

/* Of namespaces that a cluster placement may not take, a placement inside may select. */
static void reserved_namespace(struct rig *r)
{
        static const char placement[] =
                "{\"apiVersion\":\"placement.kubernetes-fleet.io/v1beta1\",\"kind\":\"ResourcePlacement\","
                "\"metadata\":{\"name\":\"web\"},\"spec\":{\"resourceSelectors\":[{\"group\":\"\","
                "\"version\":"
                "\"v1\",\"kind\":\"ConfigMap\",\"name\":\"settings\"}]}}";
        struct fleet f;

        start(r, &f);
        add_member(&f, "member-1", "");
        rig_post(r, "/api/v1/namespaces/default/configmaps",
                 "{\"metadata\":{\"name\":\"settings\"},\"data\":{\"a\":\"b\"}}");
        assert_int_equal(rig_post(r, FLEET "namespaces/default/resourceplacements", placement), 201);
        settle(&f);
        assert_int_equal(count(r, FLEET "namespaces/default/resourcesnapshots"), 1);
        rig_merge(r, "/api/v1/namespaces/default/configmaps/settings", "{\"data\":{\"a\":\"c\"}}");
        settle(&f);
        assert_int_equal(count(r, FLEET "namespaces/default/resourcesnapshots"), 2);
        stop(&f);
}

static void changes_are_noticed_in_whatever_namespace_a_placement_lives(void **state)
{
        rig_run(reserved_namespace);
}

/* What tells by itself which placement holds the object, the status, is yet to be written. */
static void unlabelled(struct rig *r)
{
        static const char placement[] =
                "{\"apiVersion\":\"placement.kubernetes-fleet.io/v1beta1\",\"kind\":\"ResourcePlacement\","
                "\"metadata\":{\"name\":\"web\"},\"spec\":{\"resourceSelectors\":[{\"group\":\"\","
                "\"version\":\"v1\",\"kind\":\"ConfigMap\",\"labelSelector\":{\"matchLabels\":"
                "{\"pick\":\"yes\"}}}]}}";
        static const char settings[] = "/api/v1/namespaces/app/configmaps/settings";
        struct troubled t;

        start_failing(r, &t, FLEET "namespaces/app/resourceplacements/web/status");
        add_app(r);
        rig_merge(r, settings, "{\"metadata\":{\"labels\":{\"pick\":\"yes\"}}}");
        assert_int_equal(rig_post(r, FLEET "namespaces/app/resourceplacements", placement), 201);
        pass(r, 1000);
        assert_int_equal(count(r, FLEET "namespaces/app/resourcesnapshots"), 1);
        assert_true(t.lists > 0);
        rig_merge(r, settings, "{\"metadata\":{\"labels\":{\"pick\":null}}}");
        pass(r, 1000);
        t.failing = NULL;
        pass(r, 120000);
        assert_int_equal(count(r, FLEET "namespaces/app/resourcesnapshots"), 2);
        rig_get(r, FLEET "namespaces/app/resourceplacements/web");
        assert_int_equal(json_array_size(doc_get_array(r->answer, "status.selectedResources")), 0);
        stop_troubled(&t);
}

static void what_a_label_takes_out_of_a_selection_is_noticed_before_the_status_tells_of_it(void **state)
{
        rig_run(unlabelled);
}

/* ---- two agents ---- */

struct second {
        struct fleet f;
        struct loopback_faults faults;
        const char *identity, *stalled; /* watches whose path begins so bring nothing any more */
};

static int64_t delay(void *ctx, const struct http_request *rq, bool answer)
{
        struct second *s = ctx;

        return s->stalled && text_starts_with(rq->path, s->stalled) && strstr(rq->path, "watch") ? 3600000
                                                                                                 : 0;
}

static void electing_fiber(void *ctx)
{
        struct second *s = ctx;
        struct error err = { 0 };
        struct hub_agent_options o = { .world = &s->f.world,
                                       .log = &s->f.log,
                                       .hub = &s->f.rig->endpoint,
                                       .without_inventory = true,
                                       .metrics_port = -1,
                                       .health_port = -1,
                                       .leader_election = true,
                                       .identity = s->identity,
                                       .lease_duration_ms = 15000,
                                       .renew_deadline_ms = 10000,
                                       .retry_period_ms = 2000 };

        assert_int_equal(hub_agent_run(&o, &err), ERR_CANCELLED);
}

static void start_electing(struct rig *r, struct second *s, const char *identity)
{
        *s = (struct second){ .f = { .rig = r, .world = r->world }, .identity = identity };
        s->f.sink = (struct log_sink){ write_line, wall_of, &s->f, LOG_TEXT,
                                       getenv("HUB_TEST_LOG") ? LOG_DEBUG : LOG_ERROR };
        s->f.log = (struct log){ .sink = &s->f.sink };
        s->faults = (struct loopback_faults){ .ctx = s, .delay = delay };
        s->f.world.transport = loopback_transport(r->net, &s->f.world, &s->faults);
        s->f.group = fiber_group_new(r->loop, NULL, identity);
        assert_non_null(fiber_spawn(s->f.group, identity, electing_fiber, s));
        pass(r, 5000);
}

static void lagging_successor(struct rig *r)
{
        struct second a, b;

        install_kinds(r);
        start_electing(r, &a, "a");
        add_member(&a.f, "member-1", "");
        add_app(r);
        place(r, "");
        settle(&a.f);
        start_electing(r, &b, "b");
        b.stalled = "/api/v1/configmaps";
        assert_int_equal(
                rig_post(r, "/api/v1/namespaces/app/configmaps", "{\"metadata\":{\"name\":\"extra\"}}"), 201);
        settle(&a.f);
        assert_int_equal(selected(r, "web"), 3);
        assert_int_equal(count(r, FLEET "clusterresourcesnapshots"), 2);
        stop(&a.f);
        b.stalled = NULL; /* what was on its way stays there */
        pass(r, 10000);
        settle(&b.f);
        assert_int_equal(selected(r, "web"), 3);
        assert_int_equal(count(r, FLEET "clusterresourcesnapshots"), 2);
        stop(&b.f);
        http_transport_free(a.f.world.transport);
        http_transport_free(b.f.world.transport);
}

static void a_successor_whose_watch_lags_takes_nothing_away(void **state)
{
        rig_run(lagging_successor);
}

/* A definition that is deleted takes its kind along at once, and yet what is placed of it stays for a minute:
 * a server that has just started looks the same. Other kinds beside it change nothing. */
static void deleted_definition(struct rig *r)
{
        struct fleet f;

        start(r, &f);
        add_member(&f, "member-1", "");
        define(r, "example.com", "Widget", "widgets");
        define(r, "example.com", "Gadget", "gadgets");
        pass(r, 2000);
        add_object(r, "example.com", "Widget", "widgets");
        select_kind(r, "web", "example.com", "Widget");
        pass(r, 2000);
        assert_int_equal(selected(r, "web"), 1);
        rig_delete(r, CRDS "/widgets.example.com");
        for (int i = 0; i < 11; i++) {
                pass(r, 5000);
                assert_false(says(r, "web", "no matches for kind"));
        }
        pass(r, 400000);
        assert_true(says(r, "web", "no matches for kind"));
        stop(&f);
}

static void a_kind_whose_definition_went_is_given_up_after_a_minute(void **state)
{
        rig_run(deleted_definition);
}

static void serve_widgets(struct rig *r, const char *served)
{
        char body[256];

        snprintf(body, sizeof(body),
                 "{\"spec\":{\"versions\":[{\"name\":\"v1\",\"served\":%s,\"storage\":true,\"schema\":{"
                 "\"openAPIV3Schema\":{\"type\":\"object\",\"x-kubernetes-preserve-unknown-fields\":true}}}]}"
                 "}",
                 served);
        assert_int_equal(rig_merge(r, CRDS "/widgets.example.com", body), 200);
}

static void add_settings(struct rig *r, const char *name)
{
        char body[256];

        snprintf(body, sizeof(body), "{\"metadata\":{\"name\":\"%s\"}}", name);
        assert_int_equal(rig_post(r, "/api/v1/namespaces/app/configmaps", body), 201);
}

/* A Widget is among what is placed. */
static void start_with_widget(struct rig *r, struct fleet *f)
{
        start(r, f);
        add_member(f, "member-1", "");
        define_scoped(r, "example.com", "Widget", "widgets", "Namespaced");
        pass(r, 2000);
        add_app(r);
        assert_int_equal(rig_post(r, "/apis/example.com/v1/namespaces/app/widgets",
                                  "{\"apiVersion\":\"example.com/v1\",\"kind\":\"Widget\",\"metadata\":{"
                                  "\"name\":\"x\"}}"),
                         201);
        place(r, "");
        pass(r, 2000);
        assert_int_equal(selected(r, "web"), 3);
}

/* Its definition is there, and the hub does not serve it; an agent that begins then never heard of it. */
static void not_served(struct rig *r)
{
        struct fleet f;

        start_with_widget(r, &f);
        stop(&f);
        serve_widgets(r, "false");
        add_settings(r, "more");
        start_again(r, &f);
        pass(r, 400000);
        assert_int_equal(selected(r, "web"), 3);
        assert_int_equal(count(r, FLEET "clusterresourcesnapshots"), 1);
        assert_true(says(r, "web",
                         "kind \\\"Widget\\\" of group \\\"example.com\\\", which the current resource "
                         "snapshot holds, is not served by the hub"));
        serve_widgets(r, "true");
        pass(r, 60000);
        assert_int_equal(selected(r, "web"), 4);
        stop(&f);
}

static void a_kind_of_which_a_namespace_holds_something_is_not_dropped_while_it_is_not_served(void **state)
{
        rig_run(not_served);
}

/* While no agent looked its definition went, and that of another kind of its group stayed. */
static void not_defined(struct rig *r)
{
        struct fleet f;

        start_with_widget(r, &f);
        define(r, "example.com", "Gadget", "gadgets");
        pass(r, 2000);
        stop(&f);
        rig_delete(r, CRDS "/widgets.example.com");
        add_settings(r, "more");
        start_again(r, &f);
        pass(r, 400000);
        assert_false(says(r, "web", "is not served by the hub"));
        assert_int_equal(selected(r, "web"), 3);
        stop(&f);
}

static void a_kind_that_no_definition_promises_is_given_up_whatever_else_its_group_has(void **state)
{
        rig_run(not_defined);
}

/* Of a group that an aggregated API is to serve it is never certain that a kind is gone: its server may be
 * away. A registration that comes with definitions says nothing of that, nor does one of another group. */
struct registration {
        const char *name, *group, *labels;
        bool stays;
};

static void registered_body(struct rig *r)
{
        const struct registration *of = r->ctx;
        char body[512];
        struct fleet f;

        start(r, &f);
        add_member(&f, "member-1", "");
        define(r, "example.com", "Widget", "widgets");
        pass(r, 2000);
        add_object(r, "example.com", "Widget", "widgets");
        select_kind(r, "web", "example.com", "Widget");
        pass(r, 2000);
        assert_int_equal(selected(r, "web"), 1);
        snprintf(body, sizeof(body),
                 "{\"metadata\":{\"name\":\"%s\",\"labels\":{%s}},\"spec\":{\"group\":\"%s\",\"version\":"
                 "\"v1\","
                 "\"groupPriorityMinimum\":1000,\"versionPriority\":10}}",
                 of->name, of->labels, of->group);
        if (rig_post(r, "/apis/apiregistration.k8s.io/v1/apiservices", body) != 201)
                fail_msg("%s", r->text);
        pass(r, 2000);
        rig_delete(r, CRDS "/widgets.example.com");
        pass(r, 1800000);
        if (says(r, "web", "no matches for kind") == of->stays)
                fail_msg("%s: %s", of->name, r->text);
        stop(&f);
}

static void what_an_aggregated_api_is_to_serve_is_not_given_up(void **state)
{
        static const struct registration rows[] = {
                { "v1.example.com", "example.com", "", true },
                { "v2.example.com", "example.com", "", true },
                { "v1.example.org", "example.org", "", false },
                { "v1.example.com", "example.com",
                  "\"kube-aggregator.kubernetes.io/automanaged\":\"onstart\"", false },
        };

        for (size_t i = 0; i < ARRAY_LEN(rows); i++)
                rig_run_for(registered_body, (void *)(uintptr_t)&rows[i]);
}

/* Another version takes its place at once: nobody waits for the one that went, and nothing leaves. */
static void other_version(struct rig *r)
{
#define VERSION(name, served, storage)                                                                       \
        "{\"name\":\"" name "\",\"served\":" served ",\"storage\":" storage                                  \
        ",\"schema\":{\"openAPIV3Schema\":{\"type\":\"object\"}}}"
        struct fleet f;

        start_with_widget(r, &f);
        assert_int_equal(rig_merge(r, CRDS "/widgets.example.com",
                                   "{\"spec\":{\"versions\":[" VERSION("v1", "false", "false") "," VERSION(
                                           "v2", "true", "true") "]}}"),
                         200);
        pass(r, 15000);
        assert_int_equal(selected(r, "web"), 3);
        assert_non_null(strstr(r->text, "\"version\":\"v2\""));
        assert_string_equal(condition_of(r, "ClusterResourcePlacementScheduled"), "True");
        stop(&f);
}

static void a_version_that_goes_is_followed_by_the_one_that_comes(void **state)
{
        rig_run(other_version);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(a_definition_that_its_status_alone_brings_to_life_is_seen_at_once),
                cmocka_unit_test(a_kind_that_discovery_could_not_tell_of_is_looked_for_again),
                cmocka_unit_test(a_kind_with_the_longest_names_is_placed_like_any_other),
                cmocka_unit_test(a_kind_that_cannot_be_listed_holds_only_its_own_placements),
                cmocka_unit_test(a_kind_that_cannot_be_listed_holds_only_the_namespaces_that_have_it),
                cmocka_unit_test(a_namespace_goes_on_as_soon_as_the_list_that_it_waits_for_has_come),
                cmocka_unit_test(endpoints_are_judged_when_the_services_are_known),
                cmocka_unit_test(changes_are_noticed_in_whatever_namespace_a_placement_lives),
                cmocka_unit_test(an_object_that_is_being_deleted_leaves_the_selection_at_once),
                cmocka_unit_test(
                        what_a_label_takes_out_of_a_selection_is_noticed_before_the_status_tells_of_it),
                cmocka_unit_test(a_successor_whose_watch_lags_takes_nothing_away),
                cmocka_unit_test(a_kind_whose_definition_went_is_given_up_after_a_minute),
                cmocka_unit_test(
                        a_kind_of_which_a_namespace_holds_something_is_not_dropped_while_it_is_not_served),
                cmocka_unit_test(a_kind_that_no_definition_promises_is_given_up_whatever_else_its_group_has),
                cmocka_unit_test(what_an_aggregated_api_is_to_serve_is_not_given_up),
                cmocka_unit_test(a_version_that_goes_is_followed_by_the_one_that_comes),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
