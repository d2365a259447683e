/* The agent is killed at every point of a pass over a Work: killed_test.h. */
#include "member-agent/killed_test.h"

/* ---- the stories ---- */

#define NAMESPACE "{'apiVersion':'v1','kind':'Namespace','metadata':{'name':'team'}}"
#define SETTINGS                                                                                             \
        "{'apiVersion':'v1','kind':'ConfigMap','metadata':{'name':'settings','namespace':'team'},'data':{'"  \
        "k':'1'}}"
#define PASSWORD "{'apiVersion':'v1','kind':'Secret','metadata':{'name':'password','namespace':'team'}}"
#define SITE                                                                                                 \
        "{'apiVersion':'apps/v1','kind':'Deployment','metadata':{'name':'site','namespace':'team'},'spec':{" \
        "'selector':{'matchLabels':{'app':'site'}},'template':{'metadata':{'labels':{'app':'site'}},'spec':" \
        "{'containers':[{'name':'c','image':'i'}]}}}}"

static void three_waves(struct rig *r)
{
        place(r, "w", "", SITE "," SETTINGS "," PASSWORD "," NAMESPACE);
}

static void place_three(struct rig *r)
{
        place(r, "w", "", A "," B "," C);
}

static void change_and_drop(struct rig *r)
{
        replace_manifests(r, "w", CONFIG_MAP("a", "2") "," C "," CONFIG_MAP("d", "1"));
}

static void make_by_hand(struct rig *r)
{
        post(r, MEMBER, NS "/default/configmaps", A);
        post(r, MEMBER, NS "/default/configmaps", B2);
}

static void place_two(struct rig *r)
{
        place(r, "w", "", A "," B);
}

/* b has a second owner. */
static void place_three_one_shared(struct rig *r)
{
        const char *uid;

        post(r, MEMBER, NS "/default/configmaps", CONFIG_MAP("owner", "1"));
        uid = arena_strdup(&r->arena, rig_string(r, "metadata.uid"));
        place(r, "w", "'applyStrategy':{'allowCoOwnership':true},", A "," B "," C);
        wait_for(r, HUB, WORKS "/w", "type=Available", "AllManifestsAvailable");
        on(r, MEMBER);
        assert_int_equal(
                rig_call(r, "PATCH", B_PATH, "application/strategic-merge-patch+json",
                         arena_printf(&r->arena,
                                      "{\"metadata\":{\"ownerReferences\":[{\"apiVersion\":\"v1\",\"kind\":"
                                      "\"ConfigMap\",\"name\":\"owner\",\"uid\":\"%s\"}]}}",
                                      uid)),
                200);
}

static void delete_work(struct rig *r)
{
        delete (r, HUB, WORKS "/w");
}

static void drop_shared_and_other(struct rig *r)
{
        replace_manifests(r, "w", A);
}

static void place_careful(struct rig *r)
{
        place(r, "w", "'applyStrategy':{'whenToApply':'IfNotDrifted'},", A "," B);
}

static void edit_by_hand(struct rig *r)
{
        merge(r, MEMBER, CONFIG_MAP_PATH("a"), "{'data':{'k':'edited'}}");
}

static void make_first_part(struct rig *r)
{
        make_part(r, "", &(struct part){ "w", 1, 1, A "," B });
}

static void move_to_second_part(struct rig *r)
{
        change_part(r, &(struct part){ "w", 2, 2, A });
        make_part(r, "", &(struct part){ "w-1", 2, 2, B2 });
}

static const struct story stories[] = {
        { "a Work of three waves comes", NULL, three_waves, .can_be_emptied = true },
        { "a Work changes and loses an object", place_three, change_and_drop, .can_be_emptied = true },
        { "what was there is taken over", make_by_hand, place_two },
        { "a Work goes", place_three_one_shared, delete_work },
        { "what left cannot be removed for a while", place_three_one_shared, drop_shared_and_other,
          .can_be_emptied = true, .refuses_deletion = true },
        { "an object drifts", place_careful, edit_by_hand },
        { "an object moves from Work to Work", make_first_part, move_to_second_part },
};

static void wherever_the_agent_is_killed_the_end_is_the_same(void **state)
{
        for (size_t i = 0; i < ARRAY_LEN(stories); i++)
                kill_everywhere(&stories[i], NOTHING);
}

static void what_a_work_drops_while_the_agent_is_dead_goes_too(void **state)
{
        for (size_t i = 0; i < ARRAY_LEN(stories); i++)
                if (stories[i].can_be_emptied)
                        kill_everywhere(&stories[i], EMPTIED);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(wherever_the_agent_is_killed_the_end_is_the_same),
                cmocka_unit_test(what_a_work_drops_while_the_agent_is_dead_goes_too),
        };

        prepare_to_split();
        return cmocka_run_group_tests(tests, NULL, NULL);
}
