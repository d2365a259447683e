/* Sets that Works bring: what the Works say of them, and what goes with them. */
#include "member-agent/object_set_test.h"

#define BROUGHT(name, revision, phases) SET(name, OWNED_BY("web"), revision, "", phases)
#define CM(name, value) INLINE(CONFIG_MAP(name, value))

static void hold(struct rig *r, bool ready)
{
        assert_int_equal(
                devcluster_set_readiness(r->devcluster, "m1", "Deployment", "default", "site", ready), 0);
}

static const char *packed(struct rig *r, const char *name, const char *manifest)
{
        const char *text = json(r, manifest);
        char base64[1024];

        assert_true(text_base64_size(strlen(text)) <= sizeof(base64));
        text_base64_encode(text, strlen(text), base64);
        return arena_printf(
                &r->arena,
                "{'apiVersion':'v1','kind':'Secret','metadata':{'name':'%s','namespace':'default'},"
                "'immutable':true,'data':{'k':'%s'}}",
                name, base64);
}

static void begin_joined(struct agent *a, struct rig *r)
{
        begin_sets(a, r);
        invite(r);
}

/* spec/cluster-object-set.md checklist 94, 98: set and Secret in Works of their own. */
RIG_TEST(a_work_is_available_when_its_set_has_rolled_out, {
        struct agent a;

        begin_joined(&a, r);
        hold(r, false);
        place(r, "w", "", BROUGHT("web-1", "1", PHASE("p", REF("packed", "k") "," INLINE(DEPLOYMENT))));
        wait_for_set(r, "web-1", "Progressing", "True/Retrying");
        place(r, "v", "", packed(r, "packed", CONFIG_MAP("a", "1")));
        wait_for_set(r, "web-1", "Available", "False/ProbeFailure");
        wait_for(r, HUB, WORKS "/w", "type=Applied", "AllManifestsApplied");
        settle(r, 60000);
        wait_for(r, HUB, WORKS "/w", "type=Available", "SomeManifestsAreNotAvailable");
        hold(r, true);
        wait_for_set(r, "web-1", "Progressing", "True/Succeeded");
        wait_for(r, HUB, WORKS "/w", "type=Available", "AllManifestsAvailable");
        stop(&a);
})

/* spec/cluster-object-set.md checklist 97 */
RIG_TEST(with_its_work_a_set_goes_and_what_it_holds, {
        struct agent a;

        begin_joined(&a, r);
        place(r, "w", "", BROUGHT("web-1", "1", PHASE("p", CM("a", "1") "," CM("b", "1"))));
        wait_for_set(r, "web-1", "Progressing", "True/Succeeded");
        delete (r, HUB, WORKS "/w");
        wait_until_gone(r, HUB, WORKS "/w");
        wait_until_gone(r, MEMBER, SETS "/web-1");
        wait_until_gone(r, MEMBER, CONFIG_MAP_PATH("a"));
        wait_until_gone(r, MEMBER, CONFIG_MAP_PATH("b"));
        stop(&a);
})

/* spec/cluster-object-set.md 17.7: one that a Work no longer lists. */
RIG_TEST(a_set_that_its_work_drops_goes, {
        struct agent a;

        begin_joined(&a, r);
        place(r, "w", "",
              BROUGHT("web-1", "1", PHASE("p", CM("a", "1"))) "," BROUGHT("web-2", "2",
                                                                          PHASE("p", CM("a", "2"))));
        wait_for_set(r, "web-2", "Progressing", "True/Succeeded");
        wait_for_set(r, "web-1", "Progressing", "False/Archived");
        replace_manifests(r, "w", BROUGHT("web-2", "2", PHASE("p", CM("a", "2"))));
        wait_until_gone(r, MEMBER, SETS "/web-1");
        settle(r, 60000);
        get(r, MEMBER, CONFIG_MAP_PATH("a"));
        assert_string_equal(rig_string(r, "data.k"), "2");
        wait_for(r, HUB, WORKS "/w", "type=Available", "AllManifestsAvailable");
        stop(&a);
})

/* spec/cluster-object-set.md 16.3: what a Work placed is the Work's to remove. */
RIG_TEST(records_that_works_placed_are_kept, {
        const char *uid;
        struct agent a;

        begin_joined(&a, r);
        place(r, "w", "", BROUGHT("web-1", "1", PHASE("p", CM("a", "1"))));
        wait_for_set(r, "web-1", "Progressing", "True/Succeeded");
        get(r, MEMBER, SETS "/web-1");
        uid = arena_strdup(&r->arena, rig_string(r, "metadata.uid"));
        for (int i = 2; i <= 8; i++) {
                const char *name = arena_printf(&r->arena, "web-%d", i);
                const char *text =
                        arena_printf(&r->arena,
                                     "{'apiVersion':'olm.operatorframework.io/"
                                     "v1','kind':'ClusterObjectSet','metadata':{'name':'%s'," OWNED_BY(
                                             "web") "},'spec':{'lifecycleState':'Active','revision':%d,'"
                                                    "collisionProtection':"
                                                    "'Prevent','phases':[" PHASE("p", CM("a", "1")) "]}}",
                                     name, i);

                post(r, MEMBER, SETS, text);
                wait_for_set(r, name, "Progressing", "True/Succeeded");
        }
        wait_until_gone(r, MEMBER, SETS "/web-2");
        settle(r, 60000);
        assert_int_equal(get(r, MEMBER, SETS "/web-1"), 200);
        assert_string_equal(rig_string(r, "metadata.uid"), uid); /* not made again either */
        stop(&a);
})

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(a_work_is_available_when_its_set_has_rolled_out),
                cmocka_unit_test(with_its_work_a_set_goes_and_what_it_holds),
                cmocka_unit_test(a_set_that_its_work_drops_goes),
                cmocka_unit_test(records_that_works_placed_are_kept),
        };

        if (getenv("AGENT_TEST"))
                cmocka_set_test_filter(getenv("AGENT_TEST"));
        return cmocka_run_group_tests(tests, NULL, NULL);
}
