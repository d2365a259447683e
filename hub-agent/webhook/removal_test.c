/* hub-agent --remove-webhooks: what the chart runs when the agent was uninstalled. */
#include "hub-agent/hub_agent_test.h"
#include "hub-agent/webhook/policies.h"
#include "hub-agent/webhook/removal.h"
#include "hub-agent/webhook/serving.h"

#define REGISTRATION "/apis/admissionregistration.k8s.io/v1/"
#define VALIDATING REGISTRATION "validatingwebhookconfigurations/fleet-validating-webhook-configuration"
#define GUARD_RAIL REGISTRATION "validatingwebhookconfigurations/fleet-guard-rail-webhook-configuration"
#define MUTATING REGISTRATION "mutatingwebhookconfigurations/fleet-mutating-webhook-configuration"

/* An agent was here, and is gone. */
static void leave_behind(struct rig *r, struct fleet *f, bool url)
{
        const struct webhook_options o = { .flags = { .pdbs = true, .guard_rail = true },
                                           .ns = "fleet-system",
                                           .service = "fleetwebhook",
                                           .url = url,
                                           .port = -1 };

        start(r, f);
        stop(f);
        f->webhooks = &o;
        start_again(r, f);
        rig_settle(r);
        stop(f);
        assert_int_equal(rig_get(r, VALIDATING), 200);
        assert_int_equal(rig_get(r, GUARD_RAIL), 200);
        assert_int_equal(rig_get(r, MUTATING), 200);
}

static int remove_at(struct fleet *f, const struct http_endpoint *hub, const char *ns, const char *service,
                     bool policies, struct error *err)
{
        struct kube_client kube = { .world = &f->world, .endpoint = hub, .log = &f->log };
        const struct webhook_removal o = {
                .kube = &kube, .log = &f->log, .ns = ns, .service = service, .policies = policies
        };

        return webhook_removal_run(&o, err);
}

static int remove_as(struct fleet *f, const char *ns, const char *service, struct error *err)
{
        return remove_at(f, &f->rig->endpoint, ns, service, false, err);
}

static void expect_all(struct rig *r, int status)
{
        assert_int_equal(rig_get(r, VALIDATING), status);
        assert_int_equal(rig_get(r, GUARD_RAIL), status);
        assert_int_equal(rig_get(r, MUTATING), status);
}

#define NEW_PLACEMENT                                                                                        \
        "{\"apiVersion\":\"placement.kubernetes-fleet.io/v1beta1\",\"kind\":\"ClusterResourcePlacement\","   \
        "\"metadata\":{\"name\":\"p\"},\"spec\":{" SELECT_APP "}}"

RIG_TEST(what_the_agent_left_goes_and_placements_can_be_written_again, {
        struct error err = { 0 };
        struct fleet f;

        leave_behind(r, &f, false);
        assert_int_not_equal(rig_post(r, FLEET "clusterresourceplacements", NEW_PLACEMENT), 201);
        assert_int_equal(remove_as(&f, "fleet-system", "fleetwebhook", &err), 0);
        expect_all(r, 404);
        assert_int_equal(rig_post(r, FLEET "clusterresourceplacements", NEW_PLACEMENT), 201);
        assert_int_equal(remove_as(&f, "fleet-system", "fleetwebhook", &err), 0); /* nothing is left to do */
})

RIG_TEST(what_is_led_to_by_url_is_known_too, {
        struct error err = { 0 };
        struct fleet f;

        leave_behind(r, &f, true);
        assert_int_equal(remove_as(&f, "fleet", "fleetwebhook", &err), 0);
        assert_int_equal(remove_as(&f, "fleet-system", "fleet", &err), 0);
        expect_all(r, 200);
        assert_int_equal(remove_as(&f, "fleet-system", "fleetwebhook", &err), 0);
        expect_all(r, 404);
})

RIG_TEST(another_agent_s_stay, {
        struct error err = { 0 };
        struct fleet f;

        leave_behind(r, &f, false);
        assert_int_equal(remove_as(&f, "fleet-system", "fleetwebhook-2", &err), 0);
        assert_int_equal(remove_as(&f, "elsewhere", "fleetwebhook", &err), 0);
        expect_all(r, 200);
})

RIG_TEST(a_server_that_does_not_answer_is_asked_for_a_minute, {
        const struct http_endpoint nobody = { .base_url = (char *)(uintptr_t) "https://nobody" };
        struct error err = { 0 };
        struct fleet f;
        int64_t began;

        leave_behind(r, &f, false);
        began = loop_now_ms(r->loop);
        assert_true(remove_at(&f, &nobody, "fleet-system", "fleetwebhook", true, &err) < 0);
        assert_true(loop_now_ms(r->loop) - began >= WEBHOOK_REMOVAL_MS);
        assert_non_null(strstr(err.text, "nobody"));
})

#define POLICY REGISTRATION "validatingadmissionpolicies/deny-"
#define PODS "pods-and-replicasets-outside-reserved-namespaces"
#define ACCOUNTS "serviceaccounts-and-tokenrequests-in-reserved-namespaces"
#define BINDING REGISTRATION "validatingadmissionpolicybindings/deny-"

static void expect_policies(struct rig *r, int status)
{
        assert_int_equal(rig_get(r, POLICY PODS), status);
        assert_int_equal(rig_get(r, POLICY ACCOUNTS), status);
        assert_int_equal(rig_get(r, BINDING PODS "-binding"), status);
        assert_int_equal(rig_get(r, BINDING ACCOUNTS "-binding"), status);
}

/* They need no agent to refuse. What a user made, though it looks like them, is the user's. */
RIG_TEST(policies_that_the_agent_kept_go_where_it_kept_them, {
        struct admission_policies kept;
        struct error err = { 0 };
        struct fleet f;

        assert_int_equal(admission_policies_parse(&r->arena, NULL, &kept, &err), 0);
        start(r, &f);
        stop(&f);
        f.admission_policies = &kept;
        start_again(r, &f);
        rig_settle(r);
        stop(&f);
        expect_policies(r, 200);
        assert_int_equal(remove_as(&f, "fleet-system", "fleetwebhook", &err), 0);
        expect_policies(r, 200);
        assert_int_equal(remove_at(&f, &r->endpoint, "fleet-system", "fleetwebhook", true, &err), 0);
        expect_policies(r, 404);
        assert_int_equal(remove_at(&f, &r->endpoint, "fleet-system", "fleetwebhook", true, &err), 0);
        assert_int_equal(rig_post(r, REGISTRATION "validatingadmissionpolicies",
                                  "{\"metadata\":{\"name\":\"deny-" PODS
                                  "\"},\"spec\":{\"matchConstraints\":{"
                                  "\"resourceRules\":[{\"apiGroups\":[\"\"],\"apiVersions\":[\"v1\"],"
                                  "\"operations\":[\"CREATE\"],\"resources\":[\"pods\"]}]},\"validations\":[{"
                                  "\"expression\":\"true\"}]}}"),
                         201);
        assert_int_equal(remove_at(&f, &r->endpoint, "fleet-system", "fleetwebhook", true, &err), 0);
        assert_int_equal(rig_get(r, POLICY PODS), 200);
})

int main(void)
{
        static const struct CMUnitTest tests[] = {
                cmocka_unit_test(what_the_agent_left_goes_and_placements_can_be_written_again),
                cmocka_unit_test(what_is_led_to_by_url_is_known_too),
                cmocka_unit_test(another_agent_s_stay),
                cmocka_unit_test(policies_that_the_agent_kept_go_where_it_kept_them),
                cmocka_unit_test(a_server_that_does_not_answer_is_asked_for_a_minute),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
