/* Server-side apply: whose fields are whose, and what a conflict says. */
#include "member-agent/member_agent_test.h"

#define SERVER_SIDE "'applyStrategy':{'type':'ServerSideApply'},"
#define TWO_KEYS(k)                                                                                          \
        "{'apiVersion':'v1','kind':'ConfigMap','metadata':{'name':'c','namespace':'default'},'data':{'k':"   \
        "'" k "','gone':'soon'}}"

/* Number of entries of the object read last that this manager has with this operation. */
static int entries(struct rig *r, const char *manager, const char *operation)
{
        size_t i;
        json_t *entry;
        int n = 0;

        json_array_foreach(doc_get_array(r->answer, "metadata.managedFields"), i, entry)
                n += text_equal(doc_get_string(entry, "manager"), manager) &&
                     text_equal(doc_get_string(entry, "operation"), operation);
        return n;
}

static void user_writes(struct rig *r, const char *patch)
{
        merge(r, MEMBER, CONFIG_MAP_PATH("c") "?fieldManager=user", patch);
}

static void created_body(struct rig *r)
{
        struct agent a;
        uint64_t before;

        begin(&a, r);
        assert_int_equal(fiber_sleep(r->loop, 1000), 0); /* joining has all Works looked at */
        place(r, "w", SERVER_SIDE, CONFIG_MAP("c", "1"));
        wait_for(r, HUB, WORKS "/w", "type=Available", "AllManifestsAvailable");
        get(r, MEMBER, CONFIG_MAP_PATH("c"));
        assert_int_equal(entries(r, "work-api-agent", "Apply"), 1);
        before = requests(r, "m1", "create", "configmaps") + requests(r, "m1", "patch", "configmaps");
        assert_int_equal(before, 2);
        assert_int_equal(fiber_sleep(r->loop, 120000), 0);
        assert_int_equal(requests(r, "m1", "create", "configmaps") + requests(r, "m1", "patch", "configmaps"),
                         before);
        stop(&a);
}

static void what_is_created_is_applied_at_once(void **state)
{
        rig_run(created_body);
}

static int lose_the_first_apply(void *ctx, const struct http_request *rq)
{
        unsigned *applies = ctx;

        return text_equal(rq->method, "PATCH") && strstr(rq->path, "/configmaps/") && ++*applies == 1
                       ? ERR_RETRY
                       : 0;
}

static void lost_apply_body(struct rig *r)
{
        unsigned applies = 0;
        struct loopback_faults faults = { .ctx = &applies, .fate = lose_the_first_apply };
        struct agent a;

        begin(&a, r);
        meet(&a, &faults);
        place(r, "w", SERVER_SIDE, CONFIG_MAP("c", "1"));
        wait_for(r, HUB, WORKS "/w", "type=Available", "AllManifestsAvailable");
        get(r, MEMBER, CONFIG_MAP_PATH("c"));
        assert_int_equal(entries(r, "work-api-agent", "Apply"), 1);
        assert_true(applies > 1);
        stop(&a);
}

static void a_lost_apply_behind_a_creation_is_made_up_for(void **state)
{
        size_t live;

        rig_run(lost_apply_body); /* what is made once for all tests */
        live = mem_live_count();
        rig_run(lost_apply_body);
        assert_int_equal(mem_live_count(), live);
}

static void foreign_body(struct rig *r)
{
        struct agent a;

        begin(&a, r);
        post(r, MEMBER, NS "/default/configmaps", CONFIG_MAP("c", "theirs"));
        place(r, "w", "'applyStrategy':{'type':'ServerSideApply','whenToTakeOver':'Never'},",
              CONFIG_MAP("c", "1"));
        wait_for(r, HUB, WORKS "/w", "type=Applied", "SomeManifestsAreNotApplied");
        get(r, MEMBER, CONFIG_MAP_PATH("c"));
        assert_string_equal(rig_string(r, "data.k"), "theirs");
        assert_null(doc_get(r->answer, "metadata.ownerReferences"));
        assert_int_equal(entries(r, "work-api-agent", "Apply"), 0);
        stop(&a);
}

static void what_was_there_before_is_not_applied_over(void **state)
{
        rig_run(foreign_body);
}

static void dropped_body(struct rig *r)
{
        struct agent a;

        begin(&a, r);
        place(r, "w", SERVER_SIDE, TWO_KEYS("1"));
        wait_for(r, HUB, WORKS "/w", "type=Available", "AllManifestsAvailable");
        user_writes(r, "{'data':{'theirs':'x'}}");
        replace_manifests(r, "w", CONFIG_MAP("c", "2"));
        wait_for(r, MEMBER, CONFIG_MAP_PATH("c"), "data.k", "2");
        assert_null(doc_get(r->answer, "data.gone"));
        assert_string_equal(rig_string(r, "data.theirs"), "x");
        assert_int_equal(entries(r, "work-api-agent", "Apply"), 1);
        assert_int_equal(entries(r, "work-api-agent", "Update"), 0);
        stop(&a);
}

static void a_field_that_leaves_the_manifest_leaves_the_object(void **state)
{
        rig_run(dropped_body);
}

static void switched_body(struct rig *r)
{
        struct agent a;

        begin(&a, r);
        place(r, "w", "", TWO_KEYS("1"));
        wait_for(r, HUB, WORKS "/w", "type=Available", "AllManifestsAvailable");
        merge(r, HUB, WORKS "/w", "{'spec':{'applyStrategy':{'type':'ServerSideApply'}}}");
        for (int i = 0; i < 1000 && entries(r, "work-api-agent", "Apply") == 0; i++) {
                assert_int_equal(fiber_sleep(r->loop, 10), 0);
                get(r, MEMBER, CONFIG_MAP_PATH("c"));
        }
        assert_string_equal(rig_string(r, "data.gone"), "soon");
        replace_manifests(r, "w", CONFIG_MAP("c", "2"));
        wait_for(r, MEMBER, CONFIG_MAP_PATH("c"), "data.k", "2");
        assert_null(doc_get(r->answer, "data.gone"));
        stop(&a);
}

static void what_was_merged_before_is_followed_after_a_change_of_strategy(void **state)
{
        rig_run(switched_body);
}

static void conflict_body(struct rig *r)
{
        struct agent a;
        const char *message;

        begin(&a, r);
        place(r, "w", SERVER_SIDE, TWO_KEYS("1"));
        wait_for(r, HUB, WORKS "/w", "type=Available", "AllManifestsAvailable");
        user_writes(r, "{'data':{'gone':'mine now'}}");
        wait_for(r, HUB, WORKS "/w", "type=Applied", "SomeManifestsAreNotApplied");
        message = arena_strdup(
                &r->arena,
                doc_get_string(
                        json_array_get(
                                doc_get_array(json_array_get(doc_get_array(r->answer, "status."
                                                                                      "manifestConditions"),
                                                             0),
                                              "conditions"),
                                0),
                        "message"));
        if (!strstr(message, "conflict with \"user\"") || strstr(message, "work-api-agent"))
                fail_msg("%s", message);
        replace_manifests(r, "w", CONFIG_MAP("c", "2"));
        wait_for(r, MEMBER, CONFIG_MAP_PATH("c"), "data.k", "2");
        wait_for(r, HUB, WORKS "/w", "type=Applied", "AllManifestsApplied");
        assert_int_equal(get(r, MEMBER, CONFIG_MAP_PATH("c")), 200);
        assert_string_equal(rig_string(r, "data.gone"), "mine now");
        stop(&a);
}

static void a_conflict_names_who_else_has_the_field(void **state)
{
        rig_run(conflict_body);
}

static void names_body(struct rig *r)
{
        struct agent a;
        size_t i;
        json_t *entry;

        begin(&a, r);
        post(r, MEMBER, NS "/default/configmaps?fieldManager=user", CONFIG_MAP("c", "theirs"));
        place(r, "w", "", CONFIG_MAP("c", "1"));
        wait_for(r, HUB, WORKS "/w", "type=Available", "AllManifestsAvailable");
        assert_true(entries(r, "member-agent", "Update") > 0);
        get(r, MEMBER, CONFIG_MAP_PATH("c"));
        assert_int_equal(json_array_size(doc_get_array(r->answer, "metadata.managedFields")), 1 + 1);
        assert_int_equal(entries(r, "work-api-agent", "Update"), 1);
        get(r, MEMBER, APPLIED_WORKS "/w");
        json_array_foreach(doc_get_array(r->answer, "metadata.managedFields"), i, entry)
                assert_string_equal(doc_get_string(entry, "manager"), "member-agent");
        stop(&a);
}

static void writes_carry_the_agents_name(void **state)
{
        rig_run(names_body);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(what_is_created_is_applied_at_once),
                cmocka_unit_test(a_lost_apply_behind_a_creation_is_made_up_for),
                cmocka_unit_test(what_was_there_before_is_not_applied_over),
                cmocka_unit_test(a_field_that_leaves_the_manifest_leaves_the_object),
                cmocka_unit_test(what_was_merged_before_is_followed_after_a_change_of_strategy),
                cmocka_unit_test(a_conflict_names_who_else_has_the_field),
                cmocka_unit_test(writes_carry_the_agents_name),
        };

        mem_hook_libraries();
        return cmocka_run_group_tests(tests, NULL, NULL);
}
