/* What a user asked for while the agent was away is done before all lists are there, and nothing else is. */
#include "hub-agent/hub_agent_test.h"

#define OTHERS 4

static void place_fixed(struct rig *r, const char *name, const char *cluster)
{
        char body[1024];

        snprintf(body, sizeof(body),
                 "{\"apiVersion\":\"placement.kubernetes-fleet.io/v1beta1\",\"kind\":"
                 "\"ClusterResourcePlacement\",\"metadata\":{\"name\":\"%s\"},\"spec\":{" SELECT_APP
                 ",\"policy\":{\"placementType\":\"PickFixed\",\"clusterNames\":[\"%s\"]}}}",
                 name, cluster);
        assert_int_equal(rig_post(r, FLEET "clusterresourceplacements", body), 201);
}

static void move_web(struct rig *r)
{
        merge(r, FLEET "clusterresourceplacements/web",
              "{\"spec\":{\"policy\":{\"clusterNames\":[\"member-2\"]}}}");
}

/* Placements on member-1, `web` the last of all lists, and the agent gone; it will be back on a way on which
 * all further pages of `held` take their time, longer than any of these tests. */
static void leave(struct rig *r, struct fleet *f, struct line *line, const char *held)
{
        start(r, f);
        add_member(f, "member-1", "");
        add_member(f, "member-2", "");
        add_app(r);
        for (int i = 0; i < OTHERS; i++) {
                char name[32];

                snprintf(name, sizeof(name), "other-%d", i);
                place_fixed(r, name, "member-1");
        }
        place_fixed(r, "web", "member-1");
        settle(f);
        settle(f);
        settle(f);
        rig_get(r, FLEET "clusterresourceplacements/web");
        assert_string_equal(condition_of(r, "ClusterResourcePlacementAvailable"), "True");
        line_lay(f, line);
        line->slow = held;
        line->slow_ms = 25000;
        f->list_page = 1;
}

static void come_back(struct rig *r, struct fleet *f)
{
        start_again(r, f);
        for (int i = 0; i < 4; i++)
                settle(f);
}

static void expect_moved(struct rig *r)
{
        rig_get(r, FLEET "clusterresourceplacements/web");
        assert_string_equal(condition_of(r, "ClusterResourcePlacementAvailable"), "True");
        assert_int_equal(rig_get(r, FLEET "namespaces/fleet-member-member-2/works/web-work"), 200);
}

/* Name, uid and resourceVersion of all of a kind but what is `web`'s. */
static const char *others(struct rig *r, const char *path)
{
        const char *text = "";
        json_t *item;
        size_t i;

        assert_int_equal(rig_get(r, path), 200);
        json_array_foreach(json_object_get(r->answer, "items"), i, item)
                if (!text_starts_with(doc_get_string(item, "metadata.name"), "web"))
                        text = arena_printf(&r->arena, "%s%s %s %s\n", text,
                                            doc_get_string(item, "metadata.name"),
                                            doc_get_string(item, "metadata.uid"),
                                            doc_get_string(item, "metadata.resourceVersion"));
        return text;
}

/* Its member has still to let go of it. */
static bool old_work_goes(struct rig *r)
{
        return rig_get(r, FLEET "namespaces/fleet-member-member-1/works/web-work") == 200 &&
               !text_empty(rig_string(r, "metadata.deletionTimestamp"));
}

static void at_last(struct rig *r, struct fleet *f, struct line *line)
{
        line->slow = line->path = NULL;
        for (int i = 0; i < 20; i++) {
                fiber_sleep(r->loop, 10000);
                settle(f);
        }
        expect_moved(r);
        assert_true(old_work_goes(r));
        stop(f);
        http_transport_free(f->world.transport);
}

static void moves_while_held(struct rig *r, const char *held)
{
        const char *works, *bindings;
        struct line line;
        struct fleet f;

        leave(r, &f, &line, held);
        works = others(r, FLEET "works");
        bindings = others(r, FLEET "clusterresourcebindings");
        move_web(r);
        come_back(r, &f);
        expect_moved(r);
        at_last(r, &f, &line);
        assert_string_equal(others(r, FLEET "clusterresourcebindings"), bindings);
        assert_int_equal(strlen(others(r, FLEET "works")), strlen(works));
}

RIG_TEST(an_edit_is_carried_out_while_works_are_still_listed, { moves_while_held(r, "/works?continue"); })
RIG_TEST(while_bindings_are_still_listed, { moves_while_held(r, "/clusterresourcebindings?continue"); })
RIG_TEST(while_snapshots_are_still_listed, { moves_while_held(r, "snapshots?continue"); })

/* What is placed on the cluster that it left goes when it is known that no other Work is there. */
RIG_TEST(a_binding_whose_works_may_be_more_than_are_known_stays_until_all_are, {
        struct line line;
        struct fleet f;

        leave(r, &f, &line, "/works?continue");
        move_web(r);
        come_back(r, &f);
        expect_moved(r);
        assert_false(old_work_goes(r));
        at_last(r, &f, &line);
})

RIG_TEST(a_new_placement_is_placed_while_works_are_still_listed, {
        struct line line;
        struct fleet f;

        leave(r, &f, &line, "/works?continue");
        place_fixed(r, "new", "member-2");
        come_back(r, &f);
        assert_int_equal(rig_get(r, FLEET "namespaces/fleet-member-member-2/works/new-work"), 200);
        move_web(r);
        at_last(r, &f, &line);
})

static void waits_while(struct rig *r, const char *held, const char *refused)
{
        struct line line;
        struct fleet f;

        leave(r, &f, &line, held);
        line.path = refused;
        line.fate = 503;
        move_web(r);
        come_back(r, &f);
        assert_int_equal(rig_get(r, FLEET "namespaces/fleet-member-member-2/works/web-work"), 404);
        assert_int_equal(rig_get(r, FLEET "clusterresourcebindings"), 200);
        assert_int_equal(json_array_size(json_object_get(r->answer, "items")), OTHERS + 1);
        at_last(r, &f, &line);
}

RIG_TEST(who_may_be_picked_has_to_be_known_first, { waits_while(r, "/memberclusters?continue", NULL); })
RIG_TEST(an_edit_waits_when_what_is_the_placements_cannot_be_listed,
         { waits_while(r, "bindings?continue", "bindings?labelSelector"); })

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(an_edit_is_carried_out_while_works_are_still_listed),
                cmocka_unit_test(while_bindings_are_still_listed),
                cmocka_unit_test(while_snapshots_are_still_listed),
                cmocka_unit_test(a_binding_whose_works_may_be_more_than_are_known_stays_until_all_are),
                cmocka_unit_test(a_new_placement_is_placed_while_works_are_still_listed),
                cmocka_unit_test(who_may_be_picked_has_to_be_known_first),
                cmocka_unit_test(an_edit_waits_when_what_is_the_placements_cannot_be_listed),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
