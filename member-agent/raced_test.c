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

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(an_edit_while_a_patch_is_on_its_way_is_put_right),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
