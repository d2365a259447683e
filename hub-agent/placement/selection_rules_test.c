/* What is selected, what is refused, and which changes count, rule by rule. spec/placement.md 5, 6, 12. */
#include "common/ctrl/metrics.h"
#include "hub-agent/common.h"
#include "hub-agent/placement/selecting_test.h"

#define INVALID "InvalidResourceSelectors"
#define NAMESPACES "/api/v1/namespaces"
#define OWN FLEET "namespaces/app/resourceplacements/own"

static void begin_measured(struct rig *r, struct fleet *f)
{
        start(r, f);
        stop(f);
        f->metrics = metrics_new(METRIC_OF_HUB);
        start_again(r, f);
        add_member(f, "member-1", "");
        add_app(r);
}

static void end_measured(struct fleet *f)
{
        stop(f);
        metrics_free(f->metrics);
}

static int passes(struct fleet *f)
{
        return passes_of(f, "placement-intake");
}

static void add_namespace(struct rig *r, const char *name, const char *meta)
{
        post(r, NAMESPACES, arena_printf(&r->arena, "{\"metadata\":{\"name\":\"%s\"%s}}", name, meta));
}

static void add_map(struct rig *r, const char *ns, const char *name, const char *label)
{
        post(r, arena_printf(&r->arena, NAMESPACES "/%s/configmaps", ns),
             arena_printf(
                     &r->arena,
                     "{\"metadata\":{\"name\":\"%s\",\"labels\":{\"pick\":\"%s\"}},\"data\":{\"k\":\"one\"}}",
                     name, label));
}

/* "Namespace//app ConfigMap/app/settings" of what the placement says that it selects. */
static const char *selected(struct rig *r, const char *path)
{
        const char *text = "";
        json_t *id;
        size_t i;

        assert_int_equal(rig_get(r, path), 200);
        json_array_foreach(doc_get_array(r->answer, "status.selectedResources"), i, id)
                text = arena_printf(&r->arena, "%s%s%s/%s/%s", text, i ? " " : "", doc_get_string(id, "kind"),
                                    or_empty(doc_get_string(id, "namespace")), doc_get_string(id, "name"));
        return text;
}

/* "True Reason" */
static const char *scheduled(struct rig *r, const char *path, const char *type)
{
        json_t *c;
        size_t i;

        assert_int_equal(rig_get(r, path), 200);
        json_array_foreach(doc_get_array(r->answer, "status.conditions"), i, c)
                if (text_equal(doc_get_string(c, "type"), type))
                        return arena_printf(&r->arena, "%s %s", doc_get_string(c, "status"),
                                            doc_get_string(c, "reason"));
        return "absent";
}

static void assert_refused(struct rig *r, const char *words)
{
        assert_string_equal(scheduled(r, PLACEMENT, "ClusterResourcePlacementScheduled"), "False " INVALID);
        if (!strstr(r->text, words))
                fail_msg("wanted \"%s\" in %s", words, r->text);
}

static void drop_placement(struct rig *r)
{
        assert_int_equal(rig_delete(r, PLACEMENT), 200);
        rig_settle(r);
        rig_settle(r);
        assert_int_equal(rig_get(r, PLACEMENT), 404);
}

static void select_only(struct rig *r, const char *selectors)
{
        char patch[1024];

        snprintf(patch, sizeof(patch), "{\"spec\":{\"resourceSelectors\":[%s]}}", selectors);
        if (rig_merge(r, PLACEMENT, patch) != 200)
                fail_msg("%s", r->text);
        rig_settle(r);
        rig_settle(r);
}

/* ---- what is refused ---- */

/* spec/placement.md checklist 21 */
RIG_TEST(reserved_namespaces_are_refused_and_looked_at_again_after_half_an_hour, {
        static const char *const reserved[] = { "kube-mine", "fleet-mine", "default" };
        struct fleet f;
        int before;

        begin_measured(r, &f);
        for (size_t i = 0; i < ARRAY_LEN(reserved); i++) {
                if (i < 2)
                        add_namespace(r, reserved[i], "");
                place_selecting(
                        r,
                        arena_printf(&r->arena,
                                     "{\"group\":\"\",\"version\":\"v1\",\"kind\":\"Namespace\",\"name\":"
                                     "\"%s\"}",
                                     reserved[i]),
                        "");
                assert_refused(
                        r, arena_printf(&r->arena, "namespace %s is not allowed to propagate", reserved[i]));
                assert_int_equal(count(r, SNAPSHOTS), 0);
                assert_int_equal(count(r, FLEET "clusterschedulingpolicysnapshots"), 0);
                if (i < 2)
                        drop_placement(r);
        }
        fiber_sleep(r->loop, 10000);
        before = passes(&f);
        fiber_sleep(r->loop, 29 * 60 * 1000);
        assert_int_equal(passes(&f), before);
        fiber_sleep(r->loop, 2 * 60 * 1000);
        assert_int_equal(passes(&f), before + 1);
        end_measured(&f);
})

/* spec/placement.md checklist 22 */
RIG_TEST(one_reserved_namespace_among_many_refuses_them_all, {
        struct fleet f;

        begin(r, &f);
        add_namespace(r, "free", ",\"labels\":{\"team\":\"a\"}");
        add_namespace(r, "kube-mine", ",\"labels\":{\"team\":\"a\"}");
        place_selecting(r,
                        "{\"group\":\"\",\"version\":\"v1\",\"kind\":\"Namespace\",\"labelSelector\":{"
                        "\"matchLabels\":{\"team\":\"a\"}}}",
                        "");
        assert_refused(r, "namespace kube-mine is not allowed to propagate");
        assert_int_equal(count(r, SNAPSHOTS), 0);
        rig_merge(r, NAMESPACES "/kube-mine", "{\"metadata\":{\"labels\":{\"team\":null}}}");
        rig_settle(r);
        rig_settle(r);
        assert_string_equal(selected(r, PLACEMENT), "Namespace//free");
        stop(&f);
})

/* spec/placement.md checklist 23 */
RIG_TEST(what_is_selected_twice_is_refused_until_it_is_put_right, {
        struct fleet f;

        begin(r, &f);
        place_selecting(
                r,
                SELECT("", "Namespace", "app") ",{\"group\":\"\",\"version\":\"v1\",\"kind\":\"Namespace\","
                                               "\"labelSelector\":{\"matchLabels\":{"
                                               "\"kubernetes.io/metadata.name\":\"app\"}}}",
                "");
        assert_refused(r, "found duplicate resource");
        assert_int_equal(count(r, SNAPSHOTS), 0);
        select_only(r, SELECT("", "Namespace", "app"));
        assert_string_equal(scheduled(r, PLACEMENT, "ClusterResourcePlacementScheduled"),
                            "True SchedulingPolicyFulfilled");
        assert_int_equal(count(r, SNAPSHOTS), 1);
        stop(&f);
})

#define ONLY(name)                                                                                           \
        "{\"group\":\"\",\"version\":\"v1\",\"kind\":\"Namespace\",\"name\":\"" name                         \
        "\",\"selectionScope\":\"NamespaceOnly\"}"
#define WITH(name)                                                                                           \
        "{\"group\":\"\",\"version\":\"v1\",\"kind\":\"Namespace\",\"name\":\"" name                         \
        "\",\"selectionScope\":\"NamespaceWithResourceSelectors\"}"

/* spec/placement.md checklist 28 */
RIG_TEST(a_selector_of_the_other_scope_is_refused, {
        static const struct {
                const char *own, *words;
        } rows[] = {
                { SELECT("", "Namespace", "app"),
                  "cannot select cluster-scoped resource Namespace in a resourcePlacement" },
                { SELECT(RBAC, "ClusterRole", "reader"), "cannot select cluster-scoped resource" },
        };
        struct fleet f;

        begin(r, &f);
        add_role(r, "reader");
        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
                place_in_namespace(r, rows[i].own);
                assert_string_equal(scheduled(r, OWN, "ResourcePlacementScheduled"), "False " INVALID);
                assert_non_null(strstr(r->text, rows[i].words));
                assert_int_equal(rig_delete(r, OWN), 200);
                rig_settle(r);
        }
        place_selecting(r, SELECT("", "ConfigMap", "settings"), "");
        assert_refused(r, "cannot select namespace-scoped resource");
        select_only(r, ONLY("app") "," SELECT("", "ConfigMap", "settings"));
        assert_refused(r, "cannot select namespace-scoped resource");
        stop(&f);
})

/* ---- what is taken ---- */

/* spec/placement.md checklist 20 */
RIG_TEST(a_selection_of_what_is_left_out_is_empty_and_well, {
        struct fleet f;

        begin(r, &f);
        rig_post(r, NAMESPACES "/app/configmaps",
                 "{\"metadata\":{\"name\":\"kube-root-ca.crt\"},\"data\":{\"ca\":\"hubs-own\"}}");
        assert_int_equal(rig_get(r, NAMESPACES "/app/configmaps/kube-root-ca.crt"), 200);
        place_in_namespace(r, SELECT("", "ConfigMap", "kube-root-ca.crt"));
        settle(&f);
        assert_string_equal(scheduled(r, OWN, "ResourcePlacementScheduled"),
                            "True SchedulingPolicyFulfilled");
        assert_string_equal(selected(r, OWN), "");
        assert_int_equal(rig_get(r, FLEET "namespaces/app/resourcesnapshots/own-0-snapshot"), 200);
        assert_int_equal(json_array_size(doc_get_array(r->answer, "spec.selectedResources")), 0);
        stop(&f);
})

/* spec/placement.md checklist 24 */
RIG_TEST(what_is_not_there_yet_is_taken_up_when_it_comes, {
        struct fleet f;

        begin(r, &f);
        place_in_namespace(r, SELECT("", "ConfigMap", "later"));
        settle(&f);
        assert_string_equal(scheduled(r, OWN, "ResourcePlacementScheduled"),
                            "True SchedulingPolicyFulfilled");
        assert_string_equal(selected(r, OWN), "");
        add_map(r, "app", "later", "a");
        settle(&f);
        fiber_sleep(r->loop, 60000);
        assert_string_equal(selected(r, OWN), "ConfigMap/app/later");
        stop(&f);
})

/* spec/placement.md checklist 25 */
RIG_TEST(what_is_being_deleted_is_not_selected, {
        struct fleet f;

        begin(r, &f);
        add_namespace(r, "held", ",\"finalizers\":[\"example.com/hold\"]");
        add_map(r, "held", "one", "a");
        place_selecting(r, SELECT("", "Namespace", "held"), "");
        assert_string_equal(selected(r, PLACEMENT), "Namespace//held ConfigMap/held/one");
        rig_merge(r, NAMESPACES "/held/configmaps/one",
                  "{\"metadata\":{\"finalizers\":[\"example.com/hold\"]}}");
        rig_delete(r, NAMESPACES "/held/configmaps/one");
        settle(&f);
        fiber_sleep(r->loop, 60000);
        assert_int_equal(rig_get(r, NAMESPACES "/held/configmaps/one"), 200);
        assert_string_equal(selected(r, PLACEMENT), "Namespace//held");
        rig_delete(r, NAMESPACES "/held");
        settle(&f);
        fiber_sleep(r->loop, 60000);
        assert_int_equal(rig_get(r, NAMESPACES "/held"), 200);
        assert_string_equal(selected(r, PLACEMENT), "");
        assert_string_equal(scheduled(r, PLACEMENT, "ClusterResourcePlacementScheduled"),
                            "True SchedulingPolicyFulfilled");
        stop(&f);
})

/* spec/placement.md checklist 26 */
RIG_TEST(of_a_namespace_alone_its_objects_are_no_part, {
        struct fleet f;
        int before;

        begin_measured(r, &f);
        place_selecting(r, ONLY("app"), "");
        assert_string_equal(selected(r, PLACEMENT), "Namespace//app");
        fiber_sleep(r->loop, 5000);
        before = passes(&f);
        add_map(r, "app", "more", "a");
        rig_merge(r, NAMESPACES "/app/configmaps/settings", "{\"data\":{\"a\":\"changed\"}}");
        fiber_sleep(r->loop, 60000);
        assert_int_equal(passes(&f), before);
        rig_merge(r, NAMESPACES "/app", "{\"metadata\":{\"labels\":{\"x\":\"y\"}}}");
        fiber_sleep(r->loop, 5000);
        assert_true(passes(&f) > before);
        end_measured(&f);
})

/* spec/placement.md checklist 27 */
RIG_TEST(terms_beside_one_namespace_select_inside_it_and_among_what_has_none, {
        struct fleet f;

        begin(r, &f);
        add_role(r, "reader");
        add_namespace(r, "other", "");
        add_map(r, "other", "settings", "a");
        add_map(r, "app", "unnamed", "a");
        place_selecting(
                r,
                WITH("app") "," SELECT("", "ConfigMap", "settings") "," SELECT(RBAC, "ClusterRole", "reader"),
                "");
        assert_string_equal(selected(r, PLACEMENT),
                            "Namespace//app ConfigMap/app/settings ClusterRole//reader");
        select_only(r, WITH("app"));
        assert_string_equal(selected(r, PLACEMENT), "Namespace//app");
        select_only(r, SELECT("", "ConfigMap", "settings") "," WITH("app"));
        assert_string_equal(selected(r, PLACEMENT), "Namespace//app ConfigMap/app/settings");
        select_only(r, WITH("missing") "," SELECT("", "ConfigMap", "settings"));
        assert_refused(r, "NamespaceWithResourceSelectors mode requires exactly one namespace, but no "
                          "namespaces were selected");
        stop(&f);
})

/* spec/placement.md checklist 29 */
RIG_TEST(a_kind_that_is_never_placed_selects_nothing, {
        struct fleet f;

        begin(r, &f);
        place_in_namespace(r, "{\"group\":\"\",\"version\":\"v1\",\"kind\":\"Pod\"},{\"group\":"
                              "\"coordination.k8s.io\",\"version\":\"v1\",\"kind\":\"Lease\"}," SELECT(
                                      "", "ConfigMap", "settings"));
        settle(&f);
        assert_string_equal(scheduled(r, OWN, "ResourcePlacementScheduled"),
                            "True SchedulingPolicyFulfilled");
        assert_string_equal(selected(r, OWN), "ConfigMap/app/settings");
        stop(&f);
})

/* ---- which changes count ---- */

/* spec/placement.md checklist 35 */
RIG_TEST(what_becomes_of_a_selected_object_is_taken_up, {
        struct fleet f;

        begin(r, &f);
        add_map(r, "app", "one", "a");
        add_map(r, "app", "two", "a");
        place_in_namespace(r, "{\"group\":\"\",\"version\":\"v1\",\"kind\":\"ConfigMap\",\"labelSelector\":{"
                              "\"matchLabels\":{\"pick\":\"a\"}}}");
        settle(&f);
        assert_string_equal(selected(r, OWN), "ConfigMap/app/one ConfigMap/app/two");
        rig_merge(r, NAMESPACES "/app/configmaps/one", "{\"data\":{\"k\":\"changed\"}}");
        fiber_sleep(r->loop, 60000);
        rig_get(r, FLEET "namespaces/app/resourcesnapshots");
        assert_non_null(strstr(r->text, "\"k\":\"changed\""));
        rig_merge(r, NAMESPACES "/app/configmaps/one", "{\"metadata\":{\"labels\":{\"pick\":\"b\"}}}");
        fiber_sleep(r->loop, 60000);
        assert_string_equal(selected(r, OWN), "ConfigMap/app/two");
        rig_delete(r, NAMESPACES "/app/configmaps/two");
        fiber_sleep(r->loop, 60000);
        assert_string_equal(selected(r, OWN), "");
        stop(&f);
})

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(reserved_namespaces_are_refused_and_looked_at_again_after_half_an_hour),
                cmocka_unit_test(one_reserved_namespace_among_many_refuses_them_all),
                cmocka_unit_test(what_is_selected_twice_is_refused_until_it_is_put_right),
                cmocka_unit_test(a_selector_of_the_other_scope_is_refused),
                cmocka_unit_test(a_selection_of_what_is_left_out_is_empty_and_well),
                cmocka_unit_test(what_is_not_there_yet_is_taken_up_when_it_comes),
                cmocka_unit_test(what_is_being_deleted_is_not_selected),
                cmocka_unit_test(of_a_namespace_alone_its_objects_are_no_part),
                cmocka_unit_test(terms_beside_one_namespace_select_inside_it_and_among_what_has_none),
                cmocka_unit_test(a_kind_that_is_never_placed_selects_nothing),
                cmocka_unit_test(what_becomes_of_a_selected_object_is_taken_up),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
