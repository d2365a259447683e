/* Caches that are not filled yet show nothing, which is not the same as there being nothing. */
#include "hub-agent/hub_agent_test.h"

#define LISTS_WORKS FLEET "works?"

/* Name, uid and resourceVersion of all objects of a kind, in one text. */
static char *state_of(struct rig *r, const char *path)
{
        char *text = arena_strdup(&r->arena, "");
        json_t *item;
        size_t i;

        assert_int_equal(rig_get(r, path), 200);
        json_array_foreach(json_object_get(r->answer, "items"), i, item)
                text = arena_printf(&r->arena, "%s%s %s %s\n", text, doc_get_string(item, "metadata.name"),
                                    doc_get_string(item, "metadata.uid"),
                                    doc_get_string(item, "metadata.resourceVersion"));
        return text;
}

/* An agent that runs on a way of which `unfilled` gets no answer, after one that had placed all. */
static void start_unfilled(struct rig *r, struct fleet *f, struct line *line, const char *unfilled, int fate)
{
        start(r, f);
        add_member(f, "member-1", "");
        add_member(f, "member-2", "");
        add_app(r);
        place(r, "");
        settle(f);
        settle(f);
        rig_get(r, FLEET "clusterresourceplacements/web");
        assert_string_equal(condition_of(r, "ClusterResourcePlacementAvailable"), "True");
        line_lay(f, line);
        line->path = unfilled;
        line->fate = fate;
}

static void nothing_is_made_or_removed(struct rig *r, const char *unfilled, int fate)
{
        const char *works, *bindings;
        struct line line;
        struct fleet f;

        start_unfilled(r, &f, &line, unfilled, fate);
        works = state_of(r, FLEET "works");
        bindings = state_of(r, FLEET "clusterresourcebindings");
        start_again(r, &f);
        fiber_sleep(r->loop, 120000); /* longer than anybody waits for a cache */
        assert_string_equal(state_of(r, FLEET "works"), works);
        assert_string_equal(state_of(r, FLEET "clusterresourcebindings"), bindings);
        line.path = NULL;
        fiber_sleep(r->loop, 120000);
        assert_string_equal(state_of(r, FLEET "works"), works);
        assert_string_equal(state_of(r, FLEET "clusterresourcebindings"), bindings);
        stop(&f);
        http_transport_free(f.world.transport);
}

RIG_TEST(while_works_cannot_be_listed_none_is_made_or_removed,
         { nothing_is_made_or_removed(r, LISTS_WORKS, 503); })
RIG_TEST(nor_while_nobody_says_whether_they_can_be,
         { nothing_is_made_or_removed(r, LISTS_WORKS, ERR_TIMEOUT); })
RIG_TEST(while_bindings_cannot_be_listed_no_work_goes_and_no_binding_comes,
         { nothing_is_made_or_removed(r, FLEET "clusterresourcebindings?", 503); })
RIG_TEST(while_members_cannot_be_listed_nothing_is_taken_from_them,
         { nothing_is_made_or_removed(r, CLUSTERS "memberclusters?", 503); })

RIG_TEST(while_placements_cannot_be_listed_none_counts_as_gone,
         { nothing_is_made_or_removed(r, FLEET "clusterresourceplacements?", 503); })
RIG_TEST(while_policy_snapshots_cannot_be_listed_nothing_is_scheduled_anew,
         { nothing_is_made_or_removed(r, FLEET "clusterschedulingpolicysnapshots?", 503); })
RIG_TEST(while_resource_snapshots_cannot_be_listed_nothing_is_rolled_back,
         { nothing_is_made_or_removed(r, FLEET "clusterresourcesnapshots?", 503); })
RIG_TEST(while_override_snapshots_cannot_be_listed_none_counts_as_gone,
         { nothing_is_made_or_removed(r, FLEET "clusterresourceoverridesnapshots?", 503); })

/* What is to change waits, and then changes in place. */
RIG_TEST(a_change_waits_for_the_works_and_makes_none_of_them_anew, {
        const char *uid;
        struct line line;
        struct fleet f;

        start_unfilled(r, &f, &line, LISTS_WORKS, 503);
        rig_get(r, FLEET "namespaces/fleet-member-member-1/works/web-work");
        uid = arena_strdup(&r->arena, rig_string(r, "metadata.uid"));
        start_again(r, &f);
        rig_merge(r, "/api/v1/namespaces/app/configmaps/settings", "{\"data\":{\"a\":\"c\"}}");
        assert_int_equal(r->status, 200);
        fiber_sleep(r->loop, 120000);
        rig_get(r, FLEET "namespaces/fleet-member-member-1/works/web-work");
        assert_non_null(strstr(r->text, "\"a\":\"b\""));
        line.path = NULL;
        for (int i = 0; i < 6; i++) {
                fiber_sleep(r->loop, 30000);
                settle(&f);
        }
        rig_get(r, FLEET "namespaces/fleet-member-member-1/works/web-work");
        assert_non_null(strstr(r->text, "\"a\":\"c\""));
        assert_string_equal(rig_string(r, "metadata.uid"), uid);
        stop(&f);
        http_transport_free(f.world.transport);
})

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(while_works_cannot_be_listed_none_is_made_or_removed),
                cmocka_unit_test(nor_while_nobody_says_whether_they_can_be),
                cmocka_unit_test(while_bindings_cannot_be_listed_no_work_goes_and_no_binding_comes),
                cmocka_unit_test(while_members_cannot_be_listed_nothing_is_taken_from_them),
                cmocka_unit_test(while_placements_cannot_be_listed_none_counts_as_gone),
                cmocka_unit_test(while_policy_snapshots_cannot_be_listed_nothing_is_scheduled_anew),
                cmocka_unit_test(while_resource_snapshots_cannot_be_listed_nothing_is_rolled_back),
                cmocka_unit_test(while_override_snapshots_cannot_be_listed_none_counts_as_gone),
                cmocka_unit_test(a_change_waits_for_the_works_and_makes_none_of_them_anew),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
