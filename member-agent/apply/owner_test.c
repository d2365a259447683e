/* spec/member-agent.md 2.2, 2.7, 2.10 */
#include "member-agent/apply/owner.h"

#include "member-agent/apply/testing.h"

#define OURS                                                                                                 \
        "{'apiVersion':'placement.kubernetes-fleet.io/v1beta1','kind':'AppliedWork','name':'w','uid':'1'}"
#define OUTDATED                                                                                             \
        "{'apiVersion':'placement.kubernetes-fleet.io/v1beta1','kind':'AppliedWork','name':'w','uid':'0'}"
#define OTHER_WORK                                                                                           \
        "{'apiVersion':'placement.kubernetes-fleet.io/v1beta1','kind':'AppliedWork','name':'v','uid':'2'}"
#define ORPHAN                                                                                               \
        "{'apiVersion':'placement.kubernetes-fleet.io/"                                                      \
        "v1beta1','kind':'AppliedWork','name':'gone','uid':'3'}"
#define FOREIGN "{'apiVersion':'apps/v1','kind':'ReplicaSet','name':'r','uid':'9'}"
#define HEIR                                                                                                 \
        "{'apiVersion':'placement.kubernetes-fleet.io/v1beta1','kind':'AppliedWork','name':'v','uid':'2',"   \
        "'blockOwnerDeletion':true}"
#define OWNED(list) "{'metadata':{'ownerReferences':[" list "]}}"

static const struct owner us = { "w", "1" };

static int orphan_if_gone(void *ctx, const char *name, bool *ret, struct error *err)
{
        *ret = text_equal(name, "gone");
        return 0;
}

/* spec/member-agent.md checklist 11 */
static void our_reference_blocks_deletion_and_is_no_controller(void **state)
{
        AUTO_JSON json_t *r = owner_reference_new(&us);

        assert_doc_equal(r, "{'apiVersion':'placement.kubernetes-fleet.io/"
                            "v1beta1','kind':'AppliedWork','name':'w','uid':'1',"
                            "'blockOwnerDeletion':true}");
}

/* spec/member-agent.md checklist 24, 25 */
static void taking_over_depends_on_who_owns_the_object(void **state)
{
        static const struct {
                const char *live;
                bool co_owned_allowed, allowed;
                size_t remaining;
        } lines[] = {
                { "{'metadata':{}}", false, true, 0 }, { OWNED(FOREIGN), false, false, 1 },
                { OWNED(FOREIGN), true, true, 1 },     { OWNED(OTHER_WORK), false, false, 1 },
                { OWNED(OTHER_WORK), true, false, 1 }, { OWNED(ORPHAN), false, true, 0 },
                { OWNED(OUTDATED), false, true, 0 },   { OWNED(ORPHAN "," FOREIGN), true, true, 1 },
        };

        for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
                AUTO_JSON json_t *live = quoted(lines[i].live);
                AUTO_JSON json_t *remaining = NULL;
                struct error err = { 0 };

                assert_int_equal(owner_remaining(live, &us, orphan_if_gone, NULL, &remaining, NULL), 0);
                assert_int_equal(json_array_size(remaining), lines[i].remaining);
                assert_int_equal(owner_may_take_over(remaining, &us, lines[i].co_owned_allowed, &err) == 0,
                                 lines[i].allowed);
        }
}

static void applying_checks_manifest_and_live_owners(void **state)
{
        static const struct {
                const char *manifest, *live;
                bool co_owned_allowed, allowed;
        } lines[] = {
                { "{}", NULL, false, true },
                { OWNED(FOREIGN), NULL, false, false },
                { OWNED(FOREIGN), NULL, true, true },
                { OWNED(OTHER_WORK), NULL, true, false },
                { "{}", OWNED(OURS), false, true },
                { "{}", OWNED(OURS "," FOREIGN), false, false },
                { "{}", OWNED(OURS "," FOREIGN), true, true },
                { "{}", OWNED(FOREIGN), true, false },
                { "{}", OWNED(OURS "," OTHER_WORK), true, false },
                { "{}", OWNED(OURS "," OUTDATED), true, false },
        };

        for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
                AUTO_JSON json_t *manifest = quoted(lines[i].manifest);
                AUTO_JSON json_t *live = lines[i].live ? quoted(lines[i].live) : NULL;

                assert_int_equal(
                        owner_check_before_apply(manifest, live, &us, lines[i].co_owned_allowed, NULL) == 0,
                        lines[i].allowed);
        }
}

static void only_our_reference_is_taken_off(void **state)
{
        AUTO_JSON json_t *live = quoted(OWNED(OURS "," FOREIGN));
        AUTO_JSON json_t *alone = quoted(OWNED(OURS));
        AUTO_JSON json_t *without = NULL;
        AUTO_JSON json_t *bare = NULL;

        assert_int_equal(owner_without(live, &us, &without, NULL), 0);
        assert_false(owner_is_sole(live, &us));
        assert_int_equal(owner_count(without), 1);
        assert_null(owner_find(without, &us));
        assert_int_equal(owner_without(alone, &us, &bare, NULL), 0);
        assert_int_equal(owner_count(bare), 0);
        assert_true(owner_is_sole(alone, &us));
}

static void a_handed_over_object_changes_its_owner_and_keeps_all_others(void **state)
{
        static const struct owner heir = { "v", "2" };
        static const char *const ours[] = { "1" };
        static const struct {
                const char *live, *references;
        } cases[] = {
                { OWNED(OURS), "[" HEIR "]" },
                { OWNED(OURS "," FOREIGN), "[" FOREIGN "," HEIR "]" },
                { OWNED(OTHER_WORK "," OURS), "[" HEIR "]" },
                { OWNED(ORPHAN), "[" ORPHAN "," HEIR "]" },
        };

        for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
                AUTO_JSON json_t *live = quoted(cases[i].live);
                AUTO_JSON json_t *references = NULL;

                assert_int_equal(owner_swapped(live, ours, 1, &heir, &references, NULL), 0);
                assert_doc_equal(references, cases[i].references);
        }
}

#define REFERENCE(version, kind, name, uid)                                                                  \
        "{'apiVersion':'" version "','kind':'" kind "','name':'" name "','uid':'" uid "'}"
#define V1BETA1 "placement.kubernetes-fleet.io/v1beta1"

static void a_reference_is_ours_by_all_of_its_four_fields(void **state)
{
        static const struct {
                const char *reference;
                bool of_applied_work, ours;
        } lines[] = {
                { REFERENCE(V1BETA1, "AppliedWork", "w", "1"), true, true },
                { REFERENCE(V1BETA1, "AppliedWork", "v", "1"), true, false },
                { REFERENCE(V1BETA1, "AppliedWork", "w", "2"), true, false },
                { REFERENCE(V1BETA1, "Work", "w", "1"), false, false },
                { REFERENCE("placement.kubernetes-fleet.io/v1", "AppliedWork", "w", "1"), false, false },
                { "{'kind':'AppliedWork','name':'w','uid':'1'}", false, false },
        };

        for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
                AUTO_JSON json_t *reference = quoted(lines[i].reference);
                AUTO_JSON json_t *live = json_pack("{s:{s:[O]}}", "metadata", "ownerReferences", reference);

                assert_int_equal(owner_is_applied_work(reference), lines[i].of_applied_work);
                assert_ptr_equal(owner_find(live, &us), lines[i].ours ? reference : NULL);
        }
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(our_reference_blocks_deletion_and_is_no_controller),
                cmocka_unit_test(taking_over_depends_on_who_owns_the_object),
                cmocka_unit_test(applying_checks_manifest_and_live_owners),
                cmocka_unit_test(only_our_reference_is_taken_off),
                cmocka_unit_test(a_handed_over_object_changes_its_owner_and_keeps_all_others),
                cmocka_unit_test(a_reference_is_ours_by_all_of_its_four_fields),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
