/* ResourceSets within a whole agent. */
#include "hub-agent/resource-set/resource_set_test.h"

/* spec/resource-set.md checklist 65, 66, 70, 85, 102, 103 */
RIG_TEST(a_table_of_tenants_becomes_their_objects, {
        struct fleet f;

        begin(r, &f);
        create(r, PLAIN("", TENANT("team1") "," TENANT("team2"), OBJECTS));
        assert_ready(r, "True", "ReconciliationSucceeded", "Reconciliation finished in ");
        assert_inventory(r, 4);
        assert_non_null(strstr(r->text, "\"_team1__Namespace\""));
        assert_non_null(strstr(r->text, "\"team2_settings__ConfigMap\""));
        assert_non_null(strstr(r->text, "fluxcd.controlplane.io/finalizer"));
        assert_int_equal(json_array_size(doc_get_array(r->answer, "status.history")), 1);
        assert_true(was_told(r, "ApplySucceeded", "ConfigMap/team1/settings created"));
        assert_true(was_told(r, "ReconciliationSucceeded", "Reconciliation finished in "));
        assert_int_equal(rig_get(r, MAPS("team2") "/settings"), 200);
        assert_string_equal(rig_string(r, "data.of"), "team2");
        assert_non_null(strstr(r->text, "\"resourceset.fluxcd.controlplane.io/name\":\"tenants\""));
        stop(&f);
})

/* spec/resource-set.md checklist 72, 73, 96, 103 */
RIG_TEST(what_is_as_it_should_be_is_not_written_and_drift_is_undone, {
        struct fleet f;

        begin(r, &f);
        create(r, PLAIN("", TENANT("team1"), OBJECTS));
        assert_int_equal(rig_get(r, MAPS("team1") "/settings"), 200);
        AUTO_FREE char *version = mem_strdup(rig_string(r, "metadata.resourceVersion"));
        merge_and_settle(r, SET,
                         "{\"metadata\":{\"annotations\":{\"reconcile.fluxcd.io/requestedAt\":\"1\"}}}");
        assert_int_equal(rig_get(r, MAPS("team1") "/settings"), 200);
        assert_string_equal(rig_string(r, "metadata.resourceVersion"), version);
        assert_int_equal(rig_get(r, SET), 200);
        assert_string_equal(rig_string(r, "status.lastHandledReconcileAt"), "1");
        assert_false(was_told(r, "ApplySucceeded", "configured"));
        merge(r, MAPS("team1") "/settings", "{\"data\":{\"of\":\"me\",\"mine\":\"x\"}}");
        fiber_sleep(r->loop, 4000000);
        rig_settle(r);
        assert_int_equal(rig_get(r, MAPS("team1") "/settings"), 200);
        assert_string_equal(rig_string(r, "data.of"), "team1");
        assert_string_equal(rig_string(r, "data.mine"), "x");
        assert_true(was_told(r, "ApplySucceeded", "ConfigMap/team1/settings configured"));
        stop(&f);
})

/* A set is not ready by what is going away. */
RIG_TEST(what_is_being_deleted_is_made_anew_once_it_is_gone, {
        struct fleet f;

        begin(r, &f);
        create(r, PLAIN("", TENANT("team1"), OBJECTS));
        merge(r, MAPS("team1") "/settings", "{\"metadata\":{\"finalizers\":[\"a.example/b\"]}}");
        rig_delete(r, MAPS("team1") "/settings");
        merge_and_settle(r, SET,
                         "{\"metadata\":{\"annotations\":{\"reconcile.fluxcd.io/requestedAt\":\"1\"}}}");
        assert_ready(r, "False", "ReconciliationFailed", "ConfigMap/team1/settings is being deleted");
        assert_inventory(r, 2);
        merge(r, MAPS("team1") "/settings", "{\"metadata\":{\"finalizers\":null}}");
        fiber_sleep(r->loop, 20000);
        rig_settle(r);
        assert_ready(r, "True", "ReconciliationSucceeded", "");
        assert_int_equal(rig_get(r, MAPS("team1") "/settings"), 200);
        stop(&f);
})

/* spec/resource-set.md checklist 86, 87, 88 */
RIG_TEST(what_is_wanted_no_more_goes_unless_it_is_protected, {
        struct fleet f;

        begin(r, &f);
        create(r, PLAIN("", TENANT("team1") "," TENANT("team2"), CONFIG("")));
        assert_ready(r, "False", "ReconciliationFailed", "ConfigMap/team1/settings");
        rig_post(r, "/api/v1/namespaces", "{\"metadata\":{\"name\":\"team1\"}}");
        rig_post(r, "/api/v1/namespaces", "{\"metadata\":{\"name\":\"team2\"}}");
        rig_post(r, "/api/v1/namespaces", "{\"metadata\":{\"name\":\"team3\"}}");
        fiber_sleep(r->loop, 5000);
        rig_settle(r);
        assert_ready(r, "True", "ReconciliationSucceeded", "");
        merge(r, MAPS("team1") "/settings",
              "{\"metadata\":{\"annotations\":{\"fluxcd.controlplane.io/prune\":\"disabled\"}}}");
        merge_and_settle(r, SET, "{\"spec\":{\"inputs\":[" TENANT("team3") "]}}");
        assert_int_equal(rig_get(r, MAPS("team1") "/settings"), 200);
        assert_int_equal(rig_get(r, MAPS("team2") "/settings"), 404);
        assert_int_equal(rig_get(r, MAPS("team3") "/settings"), 200);
        assert_true(was_told(r, "ApplySucceeded", "ConfigMap/team2/settings deleted"));
        assert_true(was_told(r, "ApplySucceeded", "ConfigMap/team1/settings skipped"));
        assert_inventory(r, 1);
        stop(&f);
})

/* What kubectl set is undone, what another manager set stays. spec/resource-set.md checklist 73 */
RIG_TEST(what_somebody_set_with_kubectl_is_undone, {
        struct fleet f;
        static const char *const edits[] = { "?fieldManager=kubectl-edit", "?fieldManager=someone" };

        begin(r, &f);
        create(r, PLAIN("", TENANT("team1"), OBJECTS));
        for (size_t i = 0; i < ARRAY_LEN(edits); i++) {
                AUTO_FREE char *path = mem_printf(MAPS("team1") "/settings%s", edits[i]);

                merge(r, path, i ? "{\"data\":{\"theirs\":\"x\"}}" : "{\"data\":{\"edited\":\"x\"}}");
        }
        merge_and_settle(r, SET,
                         "{\"metadata\":{\"annotations\":{\"reconcile.fluxcd.io/requestedAt\":\"1\"}}}");
        assert_ready(r, "True", "ReconciliationSucceeded", "");
        assert_int_equal(rig_get(r, MAPS("team1") "/settings"), 200);
        assert_null(doc_get(r->answer, "data.edited"));
        assert_string_equal(rig_string(r, "data.theirs"), "x");
        assert_true(was_told(r, "ApplySucceeded", "ConfigMap/team1/settings configured"));
        stop(&f);
})

struct refusal {
        struct loopback_faults faults;
        bool on;
        int deletions, bound; /* to the version that was read */
};

static int refuse_deletion(void *ctx, const struct http_request *rq)
{
        struct refusal *refusal = ctx;

        if (!text_equal(rq->method, "DELETE") || !strstr(rq->path, "/configmaps/settings"))
                return 0;
        refusal->deletions++;
        refusal->bound += rq->body.data && strstr(rq->body.data, "resourceVersion");
        return refusal->on ? 500 : 0;
}

/* spec/resource-set.md checklist 90 */
RIG_TEST(what_cannot_be_deleted_stays_in_the_inventory_and_is_tried_again, {
        struct fleet f;
        struct refusal refusal = { .faults = { .ctx = &refusal, .fate = refuse_deletion }, .on = true };

        begin(r, &f);
        stop(&f);
        f.world.transport = loopback_transport(r->net, &f.world, &refusal.faults);
        start_again(r, &f);
        create(r, PLAIN("", TENANT("team1") "," TENANT("team2"), OBJECTS));
        merge_and_settle(r, SET, "{\"spec\":{\"resources\":[" NAMESPACE "]}}");
        assert_ready(r, "False", "ReconciliationFailed",
                     "reconciliation failed: delete failed, errors: ConfigMap/team");
        assert_inventory(r, 4);
        assert_int_equal(rig_get(r, MAPS("team1") "/settings"), 200);
        refusal.on = false;
        fiber_sleep(r->loop, 60000);
        rig_settle(r);
        assert_ready(r, "True", "ReconciliationSucceeded", "");
        assert_inventory(r, 2);
        assert_int_equal(rig_get(r, MAPS("team1") "/settings"), 404);
        assert_int_equal(rig_get(r, MAPS("team2") "/settings"), 404);
        assert_int_equal(refusal.bound, refusal.deletions);
        stop(&f);
        http_transport_free(f.world.transport);
})

/* spec/resource-set.md checklist 67 */
RIG_TEST(a_template_that_is_wrong_stalls_and_deletes_nothing, {
        struct fleet f;

        begin(r, &f);
        create(r, PLAIN("", TENANT("team1"), OBJECTS));
        merge_and_settle(r, SET, "{\"spec\":{\"resources\":[" CONFIG("\"x\":\"<< inputs.nope >>\"") "]}}");
        assert_ready(r, "False", "BuildFailed",
                     "build failed: failed to build resources[0]: failed to execute template: ");
        assert_string_equal(condition_of(r, "Stalled"), "True");
        assert_string_equal(condition_of(r, "Reconciling"), "absent");
        assert_int_equal(rig_get(r, MAPS("team1") "/settings"), 200);
        assert_inventory(r, 2);
        merge_and_settle(r, SET, "{\"spec\":{\"resources\":[" OBJECTS "]}}");
        assert_ready(r, "True", "ReconciliationSucceeded", "");
        assert_string_equal(condition_of(r, "Stalled"), "absent");
        stop(&f);
})

/* spec/resource-set.md checklist 41 */
RIG_TEST(what_a_template_fails_with_is_told, {
        struct fleet f;

        begin(r, &f);
        create(r, PLAIN("", TENANT("team1"), CONFIG("\"x\":\"<< fail `no quota: 100%` >>\"")));
        assert_ready(r, "False", "BuildFailed", "error calling fail: no quota: 100%");
        stop(&f);
})

/* spec/resource-set.md checklist 68, 71, 76 */
RIG_TEST(one_object_that_is_refused_holds_its_stage_and_is_named, {
        struct fleet f;

        begin(r, &f);
        create(r, PLAIN("", TENANT("team1"),
                        NAMESPACE "," CONFIG("") ","
                                                 "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":"
                                                 "{\"name\":\"Bad_Name\","
                                                 "\"namespace\":\"team1\"}}"));
        assert_ready(r, "False", "ReconciliationFailed",
                     "reconciliation failed: ConfigMap/team1/Bad_Name dry-run failed (Invalid): ");
        assert_ready(r, "False", "ReconciliationFailed", "(ResourceSet/tenants, id team1)");
        assert_string_equal(condition_of(r, "Reconciling"), "True");
        assert_int_equal(rig_get(r, MAPS("team1") "/settings"), 404);
        assert_int_equal(rig_get(r, "/api/v1/namespaces/team1"), 200);
        stop(&f);
})

static int64_t delay_team(void *ctx, const struct http_request *rq, bool answer)
{
        return *(bool *)ctx && answer && strstr(rq->path, "/team1") ? 400 : 0;
}

/* Of the work; how long health is waited for is another matter. spec/resource-set.md 10 */
RIG_TEST(a_run_that_takes_too_long_ends_and_is_tried_again, {
        struct fleet f;
        bool slow = true;
        struct loopback_faults faults = { .ctx = &slow, .delay = delay_team };

        begin(r, &f);
        stop(&f);
        f.world.transport = loopback_transport(r->net, &f.world, &faults);
        start_again(r, &f);
        create(r, PLAIN("\"fluxcd.controlplane.io/reconcileTimeout\":\"500ms\"", TENANT("team1"), OBJECTS));
        fiber_sleep(r->loop, 2000);
        assert_true(was_told(r, "ReconciliationFailed",
                             "reconciliation failed: reconciliation timed out after 500ms"));
        slow = false;
        fiber_sleep(r->loop, 20000);
        rig_settle(r);
        assert_ready(r, "True", "ReconciliationSucceeded", "");
        stop(&f);
        http_transport_free(f.world.transport);
})

/* spec/resource-set.md checklist 75 */
RIG_TEST(an_object_without_its_namespace_is_told, {
        struct fleet f;

        begin(r, &f);
        create(r, PLAIN("", TENANT("team1"),
                        "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"a\"}}"));
        assert_ready(r, "False", "ReconciliationFailed", "ConfigMap/a namespace not specified");
        stop(&f);
})

/* spec/resource-set.md checklist 91, 92 */
RIG_TEST(what_a_set_made_goes_with_it, {
        struct fleet f;

        begin(r, &f);
        create(r, PLAIN("", TENANT("team1"), OBJECTS));
        rig_delete(r, SET);
        rig_settle(r);
        fiber_sleep(r->loop, 10000);
        assert_int_equal(rig_get(r, SET), 404);
        assert_int_equal(rig_get(r, MAPS("team1") "/settings"), 404);
        assert_true(was_told(r, "UninstallSucceeded", "ConfigMap/team1/settings deleted"));
        create(r, PLAIN("", TENANT("team2"), OBJECTS));
        merge_and_settle(
                r, SET,
                "{\"metadata\":{\"annotations\":{\"fluxcd.controlplane.io/reconcile\":\"Disabled\"}}}");
        rig_delete(r, SET);
        rig_settle(r);
        assert_int_equal(rig_get(r, SET), 404);
        assert_int_equal(rig_get(r, MAPS("team2") "/settings"), 200);
        stop(&f);
})

/* ---- what members let go first ---- */

#define PLACEMENTS FLEET "clusterresourceplacements"
#define PLACED                                                                                               \
        NAMESPACE                                                                                            \
        ",{\"apiVersion\":\"placement.kubernetes-fleet.io/v1beta1\",\"kind\":"                               \
        "\"ClusterResourcePlacement\",\"metadata\":{\"name\":\"<< inputs.tenant >>\"},\"spec\":{"            \
        "\"resourceSelectors\":[{\"group\":\"\",\"version\":\"v1\",\"kind\":\"Namespace\",\"name\":"         \
        "\"<< inputs.tenant >>\"}]}}"

/* The agent's requests of one kind meet this, so many of them. */
struct trouble {
        struct loopback_faults faults;
        const char *method, *path;
        int status, left;
};

static int meet_trouble(void *ctx, const struct http_request *rq)
{
        struct trouble *t = ctx;

        if (t->left == 0 || !text_equal(rq->method, t->method) || !strstr(rq->path, t->path))
                return 0;
        t->left--;
        return t->status;
}

static void begin_in_trouble(struct rig *r, struct fleet *f, struct trouble *t)
{
        begin(r, f);
        stop(f);
        t->faults = (struct loopback_faults){ .ctx = t, .fate = meet_trouble };
        f->world.transport = loopback_transport(r->net, &f->world, &t->faults);
        start_again(r, f);
}

static void end_of_trouble(struct fleet *f)
{
        stop(f);
        http_transport_free(f->world.transport);
}

/* spec/resource-set.md 11.3 */
RIG_TEST(a_namespace_stays_while_its_placement_cannot_be_deleted, {
        struct trouble t = { .method = "DELETE", .path = "clusterresourceplacements/team1", .status = 403 };
        struct fleet f;

        begin_in_trouble(r, &f, &t);
        create(r, PLAIN("", TENANT("team1"), PLACED));
        assert_int_equal(rig_get(r, PLACEMENTS "/team1"), 200);
        t.left = 1;
        merge(r, SET, "{\"spec\":{\"inputs\":[" TENANT("team2") "]}}");
        fiber_sleep(r->loop, 500);
        assert_int_equal(t.left, 0);
        assert_int_equal(rig_get(r, PLACEMENTS "/team1"), 200);
        assert_int_equal(rig_get(r, "/api/v1/namespaces/team1"), 200);
        assert_null(doc_get(r->answer, "metadata.deletionTimestamp"));
        assert_ready(r, "False", "ReconciliationFailed", "ClusterResourcePlacement/team1 delete failed: ");
        fiber_sleep(r->loop, 10000);
        rig_settle(r);
        assert_int_equal(rig_get(r, PLACEMENTS "/team1"), 404);
        assert_int_equal(rig_get(r, "/api/v1/namespaces/team1"), 404);
        end_of_trouble(&f);
})

/* spec/resource-set.md 11.3 */
RIG_TEST(a_placement_that_cannot_be_read_is_not_taken_for_gone, {
        struct trouble t = { .method = "GET", .path = "clusterresourceplacements/team1", .status = 500 };
        struct fleet f;

        begin_in_trouble(r, &f, &t);
        create(r, PLAIN("", TENANT("team1"), PLACED));
        rig_merge(r, PLACEMENTS "/team1", "{\"metadata\":{\"finalizers\":[\"play.test/hold\"]}}");
        merge(r, SET, "{\"spec\":{\"inputs\":[" TENANT("team2") "]}}");
        fiber_sleep(r->loop, 2000); /* it was deleted, and is waited for */
        t.left = 1;
        fiber_sleep(r->loop, 10000);
        assert_int_equal(t.left, 0);
        assert_int_equal(rig_get(r, "/api/v1/namespaces/team1"), 200);
        assert_null(doc_get(r->answer, "metadata.deletionTimestamp"));
        end_of_trouble(&f);
})

/* spec/resource-set.md checklist 48, 95 */
RIG_TEST(a_suspended_set_is_left_alone_until_it_is_resumed, {
        struct fleet f;

        begin(r, &f);
        create(r, PLAIN("\"fluxcd.controlplane.io/reconcile\":\"Disabled\"", TENANT("team1"), OBJECTS));
        assert_ready(r, "True", "ReconciliationDisabled", "Initialized with reconciliation suspended");
        assert_int_equal(rig_get(r, "/api/v1/namespaces/team1"), 404);
        assert_true(was_told(r, "ReconciliationDisabled", "Reconciliation is disabled"));
        merge_and_settle(
                r, SET,
                "{\"metadata\":{\"annotations\":{\"fluxcd.controlplane.io/reconcile\":\"enabled\"}}}");
        assert_ready(r, "True", "ReconciliationSucceeded", "");
        assert_int_equal(rig_get(r, "/api/v1/namespaces/team1"), 200);
        stop(&f);
})

/* spec/resource-set.md checklist 59, 60 */
RIG_TEST(a_set_waits_for_what_it_depends_on, {
        struct fleet f;

        begin(r, &f);
        create(r, HEAD("") "\"dependsOn\":[{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"name\":\"gate\","
                           "\"ready\":"
                           "true,\"readyExpr\":\"data.open == 'yes'\"}],\"inputs\":[" TENANT(
                                   "team1") "],"
                                            "\"resources\":[" OBJECTS "]}}");
        assert_ready(r, "False", "DependencyNotReady",
                     "Retrying dependency check: dependency v1/ConfigMap/default/gate not found: ");
        assert_int_equal(json_array_size(doc_get_array(r->answer, "status.history")), 0);
        assert_true(was_told(r, "DependencyNotReady", "not found"));
        rig_post(r, MAPS("default"), "{\"metadata\":{\"name\":\"gate\"},\"data\":{\"open\":\"no\"}}");
        fiber_sleep(r->loop, 6000);
        rig_settle(r);
        assert_ready(r, "False", "DependencyNotReady", "not ready: expression 'data.open == 'yes''");
        merge(r, MAPS("default") "/gate", "{\"data\":{\"open\":\"yes\"}}");
        fiber_sleep(r->loop, 6000);
        rig_settle(r);
        assert_ready(r, "True", "ReconciliationSucceeded", "");
        stop(&f);
})

/* spec/resource-set.md checklist 62 */
RIG_TEST(a_malformed_expression_stalls_until_it_is_mended, {
        struct fleet f;

        begin(r, &f);
        create(r, HEAD("") "\"dependsOn\":[{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"name\":\"gate\","
                           "\"ready\":"
                           "true,\"readyExpr\":\"status.(\"}],\"resources\":[]}}");
        assert_ready(
                r, "False", "InvalidCELExpression",
                "Reconciliation failed terminally due to configuration error: failed to parse expression");
        assert_string_equal(condition_of(r, "Stalled"), "True");
        merge_and_settle(r, SET,
                         "{\"spec\":{\"dependsOn\":[{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"name\":"
                         "\"gate\"}]}}");
        assert_ready(r, "False", "DependencyNotReady", "");
        assert_string_equal(condition_of(r, "Stalled"), "absent");
        stop(&f);
})

/* It is tried again ever more seldom, and what it says is true all the same. */
RIG_TEST(what_a_failing_set_says_is_said_again_soon_when_it_was_lost, {
        struct line line;
        struct fleet f;

        begin(r, &f);
        line_lay(&f, &line);
        start_again(r, &f);
        create(r, HEAD("") "\"inputsFrom\":[{\"name\":\"teams\"}],\"resources\":[" OBJECTS "]}}");
        fiber_sleep(r->loop, 400000);
        assert_ready(r, "False", "ReconciliationFailed", "failed to get provider");
        line.path = "/tenants/status";
        line.fate = ERR_RETRY;
        merge(r, SET "/status", "{\"status\":{\"conditions\":null}}");
        merge(r, SET, "{\"metadata\":{\"annotations\":{\"reconcile.fluxcd.io/requestedAt\":\"1\"}}}");
        fiber_sleep(r->loop, 1000);
        line.path = NULL;
        fiber_sleep(r->loop, 10000);
        assert_ready(r, "False", "ReconciliationFailed", "failed to get provider");
        stop(&f);
        http_transport_free(f.world.transport);
})

/* spec/resource-set.md checklist 16, 99 */
RIG_TEST(inputs_come_from_providers_as_they_export_them, {
        struct fleet f;

        begin(r, &f);
        create(r, HEAD("") "\"inputsFrom\":[{\"name\":\"teams\"}],\"resources\":[" OBJECTS "]}}");
        assert_ready(r, "False", "ReconciliationFailed",
                     "failed to compute inputs: failed to get provider default/teams: ");
        add_provider(r, "teams", "", NULL);
        assert_ready(r, "False", "DependencyNotReady", "provider default/teams has not exported inputs yet");
        add_provider(r, "teams", TENANT("team1") "," TENANT("team2"), "sha256:1");
        assert_ready(r, "True", "ReconciliationSucceeded", "");
        assert_inventory(r, 4);
        add_provider(r, "teams", TENANT("team1"), "sha256:2");
        assert_inventory(r, 2);
        assert_int_equal(rig_get(r, MAPS("team2") "/settings"), 404);
        rig_delete(r, PROVIDERS "/teams");
        rig_settle(r);
        assert_ready(r, "False", "ReconciliationFailed", "failed to get provider");
        assert_int_equal(rig_get(r, MAPS("team1") "/settings"), 200);
        stop(&f);
})

#define COPY                                                                                                 \
        "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"copy\",\"namespace\":"       \
        "\"default\",\"annotations\":{\"fluxcd.controlplane.io/copyFrom\":\"default/source\"}}}"

/* spec/resource-set.md checklist 54, 55, 56, 98 */
RIG_TEST(data_is_copied_and_follows_its_source, {
        struct fleet f;

        begin(r, &f);
        create(r, HEAD("") "\"resources\":[" COPY "]}}");
        assert_ready(r, "False", "ReconciliationFailed",
                     "failed to copy data from ConfigMap/default/source: ");
        rig_post(r, MAPS("default"),
                 "{\"metadata\":{\"name\":\"source\",\"labels\":{\"reconcile.fluxcd.io/watch\":\"Enabled\"}},"
                 "\"data\":{\"a\":\"1\",\"b\":\"2\"}}");
        rig_settle(r);
        assert_ready(r, "True", "ReconciliationSucceeded", "");
        assert_int_equal(rig_get(r, MAPS("default") "/copy"), 200);
        assert_string_equal(rig_string(r, "data.b"), "2");
        assert_null(strstr(r->text, "reconcile.fluxcd.io/watch"));
        merge_and_settle(r, MAPS("default") "/source", "{\"data\":{\"a\":\"3\",\"b\":null}}");
        assert_int_equal(rig_get(r, MAPS("default") "/copy"), 200);
        assert_string_equal(rig_string(r, "data.a"), "3");
        assert_null(doc_get(r->answer, "data.b"));
        stop(&f);
})

/* spec/resource-set.md checklist 69, 82 */
RIG_TEST(a_set_that_waits_is_ready_when_its_objects_are, {
        struct fleet f;

        begin(r, &f);
        create(r, HEAD("\"fluxcd.controlplane.io/reconcileTimeout\":\"30s\"") "\"wait\":true,\"resources\":"
                                                                              "[" SLOW "]}}");
        fiber_sleep(r->loop, 20000);
        assert_ready(r, "Unknown", "Progressing", "Reconciliation in progress");
        fiber_sleep(r->loop, 20000);
        assert_true(was_told(r, "HealthCheckFailed",
                             "reconciliation failed: timeout waiting for: "
                             "[ClusterResourcePlacement/slow status: 'InProgress']"));
        assert_ready(r, "Unknown", "Progressing", "");
        assert_non_null(strstr(r->text, "\"lastReconciledStatus\":\"HealthCheckFailed\""));
        add_member(&f, "member-1", "");
        add_app(r);
        settle(&f);
        settle(&f);
        fiber_sleep(r->loop, 20000);
        assert_ready(r, "True", "ReconciliationSucceeded", "");
        stop(&f);
})

/* spec/resource-set.md checklist 83 */
RIG_TEST(an_edit_ends_the_wait_for_health, {
        struct fleet f;

        begin(r, &f);
        create(r, HEAD("") "\"wait\":true,\"resources\":[" SLOW "]}}");
        fiber_sleep(r->loop, 20000);
        merge(r, SET, "{\"spec\":{\"wait\":false}}");
        fiber_sleep(r->loop, 10000);
        assert_ready(r, "True", "ReconciliationSucceeded", "");
        assert_true(was_told(r, "HealthCheckCanceled",
                             "Health checks canceled due to new reconciliation triggered by "
                             "ResourceSet/default/tenants"));
        assert_int_equal(rig_get(r, SET), 200);
        assert_int_equal(json_array_size(doc_get_array(r->answer, "status.history")), 1);
        stop(&f);
})

/* spec/resource-set.md checklist 88 */
RIG_TEST(two_sets_do_not_take_an_object_back_and_forth, {
        struct fleet f;

        begin(r, &f);
        create(r, PLAIN("", TENANT("team1"), OBJECTS));
        rig_post(r, SETS,
                 "{\"apiVersion\":\"fluxcd.controlplane.io/"
                 "v1\",\"kind\":\"ResourceSet\",\"metadata\":{\"name\":\"other\"},\"spec\":{\"inputs\":"
                 "[" TENANT("team1") "],\"resources\":[" CONFIG("\"of\":\"other\"") "]}}");
        rig_settle(r);
        assert_true(was_told(r, "OwnershipConflict",
                             "ConfigMap/team1/settings is managed by ResourceSet/default/tenants"));
        assert_int_equal(rig_get(r, MAPS("team1") "/settings"), 200);
        assert_string_equal(rig_string(r, "data.of"), "team1");
        rig_delete(r, SETS "/other");
        rig_settle(r);
        assert_int_equal(rig_get(r, MAPS("team1") "/settings"), 200);
        stop(&f);
})

/* As whom requests were sent. */
struct seen {
        struct loopback_faults faults;
        const char *account;
        int as_account, as_agent, reads_of_gate_as_account;
};

static int look_who_asks(void *ctx, const struct http_request *rq)
{
        struct seen *seen = ctx;
        bool is_account = false;

        for (size_t i = 0; i < rq->headers.n; i++)
                is_account = is_account || (text_equal(rq->headers.at[i].name, "Impersonate-User") &&
                                            text_equal(rq->headers.at[i].value, seen->account));
        if (strstr(rq->path, "/configmaps/settings")) {
                seen->as_account += is_account;
                seen->as_agent += !is_account;
        }
        seen->reads_of_gate_as_account += is_account && strstr(rq->path, "/configmaps/gate");
        return 0;
}

/* spec/resource-set.md checklist 93, 94 */
RIG_TEST(objects_are_reached_as_the_account_and_nothing_else_is, {
        struct fleet f;
        struct seen seen = { { .ctx = &seen, .fate = look_who_asks }, "system:serviceaccount:default:flux" };

        begin(r, &f);
        stop(&f);
        f.default_service_account = "flux";
        f.resource_set_account = "fleet-system/sets";
        f.world.transport = loopback_transport(r->net, &f.world, &seen.faults);
        rig_post(r, "/api/v1/namespaces", "{\"metadata\":{\"name\":\"team1\"}}");
        rig_post(r, MAPS("default"), "{\"metadata\":{\"name\":\"gate\"}}");
        start_again(r, &f);
        create(r, HEAD("") "\"dependsOn\":[{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"name\":\"gate\"}],"
                           "\"inputs\":[" TENANT("team1") "],\"resources\":[" CONFIG("") "]}}");
        assert_int_equal(seen.as_agent, 0);
        assert_true(seen.as_account > 0);
        assert_int_equal(seen.reads_of_gate_as_account, 0);
        stop(&f);
        http_transport_free(f.world.transport);
})

#define MAY_ALL                                                                                              \
        "{\"metadata\":{\"name\":\"sets\"},\"roleRef\":{\"apiGroup\":\"rbac.authorization.k8s.io\","         \
        "\"kind\":"                                                                                          \
        "\"ClusterRole\",\"name\":\"cluster-admin\"},\"subjects\":[{\"kind\":\"ServiceAccount\","            \
        "\"namespace\":"                                                                                     \
        "\"fleet-system\",\"name\":\"sets\"}]}"

/* spec/resource-set.md 13: an account of the operator's, which no set's namespace has. */
RIG_TEST(one_account_serves_all_sets_and_need_not_be_found_to_delete, {
        struct fleet f;
        struct seen seen = { { .ctx = &seen, .fate = look_who_asks },
                             "system:serviceaccount:fleet-system:sets" };

        begin(r, &f);
        stop(&f);
        f.resource_set_account = "fleet-system/sets";
        assert_int_equal(rig_post(r, "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings", MAY_ALL), 201);
        f.world.transport = loopback_transport(r->net, &f.world, &seen.faults);
        rig_post(r, "/api/v1/namespaces", "{\"metadata\":{\"name\":\"team1\"}}");
        start_again(r, &f);
        create(r, PLAIN("", TENANT("team1"), CONFIG("")));
        assert_int_equal(rig_get(r, MAPS("team1") "/settings"), 200);
        rig_delete(r, SET);
        rig_settle(r);
        assert_int_equal(rig_get(r, MAPS("team1") "/settings"), 404);
        assert_int_equal(rig_get(r, SET), 404);
        assert_int_equal(seen.as_agent, 0);
        assert_true(seen.as_account > 0);
        stop(&f);
        http_transport_free(f.world.transport);
})

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(a_table_of_tenants_becomes_their_objects),
                cmocka_unit_test(what_is_as_it_should_be_is_not_written_and_drift_is_undone),
                cmocka_unit_test(what_somebody_set_with_kubectl_is_undone),
                cmocka_unit_test(what_is_being_deleted_is_made_anew_once_it_is_gone),
                cmocka_unit_test(what_is_wanted_no_more_goes_unless_it_is_protected),
                cmocka_unit_test(what_cannot_be_deleted_stays_in_the_inventory_and_is_tried_again),
                cmocka_unit_test(a_template_that_is_wrong_stalls_and_deletes_nothing),
                cmocka_unit_test(what_a_template_fails_with_is_told),
                cmocka_unit_test(one_object_that_is_refused_holds_its_stage_and_is_named),
                cmocka_unit_test(a_run_that_takes_too_long_ends_and_is_tried_again),
                cmocka_unit_test(an_object_without_its_namespace_is_told),
                cmocka_unit_test(what_a_set_made_goes_with_it),
                cmocka_unit_test(a_namespace_stays_while_its_placement_cannot_be_deleted),
                cmocka_unit_test(a_placement_that_cannot_be_read_is_not_taken_for_gone),
                cmocka_unit_test(a_suspended_set_is_left_alone_until_it_is_resumed),
                cmocka_unit_test(a_set_waits_for_what_it_depends_on),
                cmocka_unit_test(a_malformed_expression_stalls_until_it_is_mended),
                cmocka_unit_test(what_a_failing_set_says_is_said_again_soon_when_it_was_lost),
                cmocka_unit_test(inputs_come_from_providers_as_they_export_them),
                cmocka_unit_test(data_is_copied_and_follows_its_source),
                cmocka_unit_test(a_set_that_waits_is_ready_when_its_objects_are),
                cmocka_unit_test(an_edit_ends_the_wait_for_health),
                cmocka_unit_test(objects_are_reached_as_the_account_and_nothing_else_is),
                cmocka_unit_test(one_account_serves_all_sets_and_need_not_be_found_to_delete),
                cmocka_unit_test(two_sets_do_not_take_an_object_back_and_forth),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
