/* The agent is killed at every point of a pass over a ClusterObjectSet: killed_test.h. */
#include "member-agent/killed_test.h"
#include "member-agent/object_set_test.h"

#define FIRST                                                                                                \
        SET("app-1", OWNED_BY("app"), "1", "",                                                               \
            PHASE("one", INLINE(CONFIG_MAP("a", "1")) "," INLINE(CONFIG_MAP("b", "1"))) "," PHASE(           \
                    "two", INLINE(CONFIG_MAP("c", "1"))))
#define SECOND                                                                                               \
        SET("app-2", OWNED_BY("app"), "2", "",                                                               \
            PHASE("one", INLINE(CONFIG_MAP("a", "2"))) "," PHASE("two", INLINE(CONFIG_MAP("d", "1"))))

static void make_first(struct rig *r)
{
        post(r, MEMBER, SETS, FIRST);
}

static void have_first(struct rig *r)
{
        make_first(r);
        wait_for_set(r, "app-1", "Succeeded", "True/Succeeded");
}

static void make_second(struct rig *r)
{
        post(r, MEMBER, SETS, SECOND);
}

static void archive_first(struct rig *r)
{
        merge(r, MEMBER, SETS "/app-1", ARCHIVED);
}

static void delete_first(struct rig *r)
{
        delete (r, MEMBER, SETS "/app-1");
}

static void tamper(struct rig *r)
{
        merge(r, MEMBER, CONFIG_MAP_PATH("a"), "{'data':{'k':'theirs'}}");
        delete (r, MEMBER, CONFIG_MAP_PATH("b"));
        merge(r, MEMBER, CONFIG_MAP_PATH("c"), "{'metadata':{'labels':null}}");
}

/* spec/cluster-object-set.md checklist 101 */
static void wherever_the_agent_is_killed_sets_end_the_same(void **state)
{
        static const struct story stories[] = {
                { "a set comes", NULL, make_first },
                { "a revision takes over", have_first, make_second },
                { "a set is archived", have_first, archive_first },
                { "a set is deleted", have_first, delete_first },
                { "objects of a set are edited and deleted", have_first, tamper },
        };

        for (size_t i = 0; i < ARRAY_LEN(stories); i++)
                kill_everywhere(&stories[i], NOTHING);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(wherever_the_agent_is_killed_sets_end_the_same),
        };

        prepare_to_split();
        return cmocka_run_group_tests(tests, NULL, NULL);
}
