/* What others do to an object while our own request for it is on its way. */
#include "member-agent/member_agent_test.h"

#define NAMED(more)                                                                                          \
        "{'apiVersion':'v1','kind':'ConfigMap','metadata':{'name':'b','namespace':'default'}" more "}"
#define KEYS "'1':'a','2':'a','3':'a','4':'a','5':'a'"
#define FIRST NAMED(",'data':{" KEYS ",'other':'1'}")
#define SECOND NAMED(",'data':{" KEYS ",'other':'2'}")
#define B_PATH CONFIG_MAP_PATH("b")

/* ctx: how many patches in a row meet an edit. */
static void edited_body(struct rig *r)
{
        const unsigned edits = *(const unsigned *)r->ctx;
        struct slow slow = { .method = "PATCH", .path = B_PATH "?" };
        struct loopback_faults faults = { .ctx = &slow, .delay = delay_slow };
        struct agent a;

        begin(&a, r);
        meet(&a, &faults);
        place(r, "w", "", FIRST);
        wait_for(r, HUB, WORKS "/w", "type=Applied", "AllManifestsApplied");
        slow.most = edits;
        replace_manifests(r, "w", SECOND);
        for (unsigned i = 1; i <= edits; i++) {
                wait_for_slow(r, &slow, i);
                merge(r, MEMBER, B_PATH, arena_printf(&r->arena, "{'data':{'%u':'edited'}}", i));
        }
        wait_for(r, MEMBER, B_PATH, "data.other", "2");
        for (unsigned i = 1; i <= edits; i++)
                wait_for(r, MEMBER, B_PATH, arena_printf(&r->arena, "data.%u", i), "a");
        stop(&a);
}

/* A patch is the difference to what was read: what changed since is no part of it, and comes back with the
 * answer as if it were ours. */
static void an_edit_while_a_patch_is_on_its_way_is_put_right(void **state)
{
        static const unsigned edits[] = { 1, 2, 3, 4, 5 };

        for (size_t i = 0; i < ARRAY_LEN(edits); i++)
                rig_run_for(edited_body, (void *)(uintptr_t)&edits[i]);
}

struct way {
        const char *strategy;
        unsigned last; /* of the patches that a changed manifest takes: our fields become our Apply entry's
                          first */
};

/* What follows is held up as well, so that what the first try came to can be seen. */
static void conflict_body(struct rig *r)
{
        const struct way *way = r->ctx;
        struct slow slow = { .method = "PATCH", .path = B_PATH "?" };
        struct loopback_faults faults = { .ctx = &slow, .delay = delay_slow };
        struct agent a;

        begin(&a, r);
        meet(&a, &faults);
        place(r, "w",
              arena_printf(&r->arena, "'applyStrategy':{'whenToApply':'IfNotDrifted'%s},", way->strategy),
              FIRST);
        wait_for(r, HUB, WORKS "/w", "type=Applied", "AllManifestsApplied");
        slow.most = way->last + 1;
        replace_manifests(r, "w", SECOND);
        wait_for_slow(r, &slow, way->last);
        merge(r, MEMBER, B_PATH, "{'data':{'1':'edited'}}");
        wait_for(r, HUB, WORKS "/w", "type=Applied", "SomeManifestsAreNotApplied");
        assert_string_equal(manifest_reason(r, "w", 0, "Applied"), "ManifestApplyFailed");
        get(r, MEMBER, B_PATH);
        assert_string_equal(rig_string(r, "data.1"), "edited");
        assert_string_equal(rig_string(r, "data.other"), "1");
        stop(&a);
}

/* spec/member-agent.md checklist 31 */
static void who_may_not_overwrite_drifts_fails_where_an_edit_was_first(void **state)
{
        static const struct way ways[] = {
                { "", 1 }, { ",'type':'ServerSideApply','serverSideApplyConfig':{'force':true}", 2 }
        };

        for (size_t i = 0; i < ARRAY_LEN(ways); i++)
                rig_run_for(conflict_body, (void *)(uintptr_t)&ways[i]);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(an_edit_while_a_patch_is_on_its_way_is_put_right),
                cmocka_unit_test(who_may_not_overwrite_drifts_fails_where_an_edit_was_first),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
