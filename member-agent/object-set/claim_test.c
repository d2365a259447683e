/* spec/cluster-object-set.md 8.2, 8.3, 9 */
#include "member-agent/object-set/claim.h"

#include "member-agent/object-set/testing.h"

#define US SET_REFERENCE("app-2", "u2", CONTROLLING)
#define US_BEFORE SET_REFERENCE("app-2", "u1-of-old", CONTROLLING)
#define EARLIER SET_REFERENCE("app-1", "u1", CONTROLLING)
#define EARLIER_RELEASED SET_REFERENCE("app-1", "u1", RELEASED)
#define LATER SET_REFERENCE("app-3", "u3", CONTROLLING)
#define STRANGER SET_REFERENCE("other-1", "u9", CONTROLLING)
#define REPLICA_SET "{'apiVersion':'apps/v1','kind':'ReplicaSet','name':'r','uid':'r1','controller':true}"
#define NO_CONTROLLER "{'apiVersion':'apps/v1','kind':'ReplicaSet','name':'r','uid':'r1','controller':false}"
#define APPLIED_WORK                                                                                         \
        "{'apiVersion':'placement.kubernetes-fleet.io/v1beta1','kind':'AppliedWork','name':'w','uid':'w1',"  \
        "'blockOwnerDeletion':true}"
#define REVISION(n) "'annotations':{'olm.operatorframework.io/revision':'" n "'},"
#define LIVE(marks, references)                                                                              \
        "{'apiVersion':'v1','kind':'ConfigMap','metadata':{'name':'cm','namespace':'ns'," marks              \
        "'ownerReferences':[" references "]}}"
#define GOING "'deletionTimestamp':'2026-01-01T00:00:00Z',"

static const struct set_identity us = { "app-2", "u2", 2, "app", NULL };
static const struct set_identity siblings[] = { { "app-1", "u1", 1, "app", NULL },
                                                { "app-3", "u3", 3, "app", NULL } };

struct claim_case {
        struct arena arena;
        json_t *doc, *live;
        struct set_object object;
        struct claim_input in;
};
static void begin(struct claim_case *c, const char *live, enum protection protection)
{
        *c = (struct claim_case){ .doc = quoted(LIVE("", "")), .live = live ? quoted(live) : NULL };
        c->object = object_from(&c->arena, c->doc);
        c->object.protection = protection;
        c->in = (struct claim_input){ .set = &us,
                                      .siblings = siblings,
                                      .n_siblings = ARRAY_LEN(siblings),
                                      .object = &c->object,
                                      .live = c->live,
                                      .set_is_fresh = true };
}
static void end(struct claim_case *c)
{
        arena_free(&c->arena);
        json_decref(c->doc);
        json_decref(c->live);
}

static enum claim claim_of(const char *live, enum protection protection)
{
        struct claim_case c CLEANUP(end);
        struct claim_result r;
        struct error err = { 0 };

        begin(&c, live, protection);
        if (claim_decide(&c.in, &r, &err) < 0)
                fail_msg("%s", err.text);
        assert_false(r.needs_fresh_set);
        return r.claim;
}

/* spec/cluster-object-set.md checklist 40, 41, 42, 44, 45, 65, 66, 69 */
static void who_controls_an_object_and_what_is_said_about_collisions_decides(void **state)
{
        static const struct {
                const char *live;
                enum claim prevent, if_no_controller, none;
        } lines[] = {
                { NULL, CLAIM_CREATE, CLAIM_CREATE, CLAIM_CREATE },
                { LIVE("", US), CLAIM_KEEP, CLAIM_KEEP, CLAIM_KEEP },
                { LIVE(REVISION("7"), US), CLAIM_KEEP, CLAIM_KEEP, CLAIM_KEEP },
                { LIVE(REVISION("x"), US), CLAIM_KEEP, CLAIM_KEEP, CLAIM_KEEP },
                { LIVE(REVISION("1"), EARLIER), CLAIM_ADOPT, CLAIM_ADOPT, CLAIM_ADOPT },
                { LIVE("", EARLIER), CLAIM_ADOPT, CLAIM_ADOPT, CLAIM_ADOPT },
                { LIVE(REVISION("3"), LATER), CLAIM_PROGRESSED, CLAIM_PROGRESSED, CLAIM_PROGRESSED },
                { LIVE(REVISION("3"), EARLIER_RELEASED "," LATER), CLAIM_PROGRESSED, CLAIM_PROGRESSED,
                  CLAIM_PROGRESSED },
                { LIVE("", ""), CLAIM_COLLISION, CLAIM_ADOPT, CLAIM_ADOPT },
                { LIVE("", NO_CONTROLLER), CLAIM_COLLISION, CLAIM_ADOPT, CLAIM_ADOPT },
                { LIVE(REVISION("1"), ""), CLAIM_COLLISION, CLAIM_ADOPT, CLAIM_ADOPT },
                { LIVE("", REPLICA_SET), CLAIM_COLLISION, CLAIM_COLLISION, CLAIM_ADOPT },
                { LIVE(REVISION("1"), STRANGER), CLAIM_COLLISION, CLAIM_COLLISION, CLAIM_ADOPT },
                { LIVE(REVISION("2"), US_BEFORE), CLAIM_COLLISION, CLAIM_COLLISION, CLAIM_ADOPT },
                { LIVE("", APPLIED_WORK), CLAIM_COLLISION, CLAIM_COLLISION, CLAIM_ADOPT },
                { LIVE("", US "," APPLIED_WORK), CLAIM_KEEP, CLAIM_KEEP, CLAIM_KEEP },
        };

        for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
                assert_int_equal(claim_of(lines[i].live, PROTECTION_PREVENT), lines[i].prevent);
                assert_int_equal(claim_of(lines[i].live, PROTECTION_IF_NO_CONTROLLER),
                                 lines[i].if_no_controller);
                assert_int_equal(claim_of(lines[i].live, PROTECTION_NONE), lines[i].none);
        }
}

/* spec/cluster-object-set.md checklist 70 */
static void siblings_with_one_number_collide_whatever_is_said_about_it(void **state)
{
        assert_int_equal(claim_of(LIVE(REVISION("2"), EARLIER), PROTECTION_NONE), CLAIM_COLLISION);
        assert_int_equal(claim_of(LIVE(REVISION("2"), LATER), PROTECTION_PREVENT), CLAIM_COLLISION);
}

static void what_is_being_deleted_is_neither_kept_nor_adopted(void **state)
{
        assert_int_equal(claim_of(LIVE(GOING, US), PROTECTION_PREVENT), CLAIM_GOING);
        assert_int_equal(claim_of(LIVE(GOING, EARLIER), PROTECTION_PREVENT), CLAIM_GOING);
        assert_int_equal(claim_of(LIVE(GOING, ""), PROTECTION_NONE), CLAIM_GOING);
        assert_int_equal(claim_of(LIVE(GOING, ""), PROTECTION_PREVENT), CLAIM_COLLISION);
        assert_int_equal(claim_of(LIVE(GOING REVISION("3"), LATER), PROTECTION_PREVENT), CLAIM_PROGRESSED);
}

/* spec/cluster-object-set.md checklist 45, 81 */
static void what_may_be_in_the_middle_of_being_orphaned_is_adopted_by_a_fresh_set_only(void **state)
{
        static const struct {
                const char *live;
                enum protection protection;
                bool asks;
        } lines[] = {
                { LIVE(REVISION("1"), ""), PROTECTION_IF_NO_CONTROLLER, true },
                { LIVE(REVISION("1"), ""), PROTECTION_NONE, true },
                { LIVE(REVISION("1"), ""), PROTECTION_PREVENT, false },
                { LIVE(REVISION("1"), REPLICA_SET), PROTECTION_IF_NO_CONTROLLER, false },
        };

        for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
                struct claim_case c CLEANUP(end);
                struct claim_result r;

                begin(&c, lines[i].live, lines[i].protection);
                c.in.set_is_fresh = false;
                assert_int_equal(claim_decide(&c.in, &r, NULL), 0);
                assert_int_equal(r.claim, CLAIM_COLLISION);
                assert_int_equal(r.needs_fresh_set, lines[i].asks);
        }
        assert_int_equal(claim_of(LIVE("", ""), PROTECTION_NONE), CLAIM_ADOPT);
}

static void a_siblings_revision_that_is_no_number_is_an_error(void **state)
{
        struct claim_case c CLEANUP(end);
        struct claim_result r;
        struct error err = { 0 };

        begin(&c, LIVE(REVISION("two"), EARLIER), PROTECTION_PREVENT);
        assert_int_equal(claim_decide(&c.in, &r, &err), ERR_INVALID);
        assert_string_equal(err.text, "getting revision of object: annotation "
                                      "olm.operatorframework.io/revision: \"two\" is not a whole number");
}

#define OWNER_NAME(name) "'labels':{'olm.operatorframework.io/owner-name':'" name "'},"

/* spec/cluster-object-set.md checklist 40 */
static void a_collision_names_the_object_its_owner_and_what_would_help(void **state)
{
        static const struct {
                const char *live, *words;
        } lines[] = {
                { LIVE("", ""), "It exists and nothing controls it; collisionProtection IfNoController or "
                                "None would adopt it.\n"
                                "Object ConfigMap.v1 ns/cm\n"
                                "Action: \"Collision\"\n"
                                "Conflicting Owner: nil" },
                { LIVE("", REPLICA_SET),
                  "Controlled by ReplicaSet \"r\"; collisionProtection None would adopt it.\n"
                  "Object ConfigMap.v1 ns/cm\n"
                  "Action: \"Collision\"\n"
                  "Conflicting Owner: &OwnerReference{Kind:ReplicaSet,Name:r,UID:r1,APIVersion:apps/"
                  "v1,Controller:*true,BlockOwnerDeletion:nil,}" },
                { LIVE("", APPLIED_WORK),
                  "Controlled by AppliedWork \"w\"; collisionProtection None would adopt it.\n"
                  "Object ConfigMap.v1 ns/cm\n"
                  "Action: \"Collision\"\n"
                  "Conflicting Owner: &OwnerReference{Kind:AppliedWork,Name:w,UID:w1,APIVersion:placement."
                  "kubernetes-fleet.io/v1beta1,Controller:nil,BlockOwnerDeletion:*true,}" },
                { LIVE(OWNER_NAME("other"), STRANGER),
                  "Controlled by ClusterObjectSet \"other-1\" of another owner: its label "
                  "olm.operatorframework.io/owner-name is \"other\", that of this set \"app\"; "
                  "collisionProtection None would adopt it.\n"
                  "Object ConfigMap.v1 ns/cm\n"
                  "Action: \"Collision\"\n"
                  "Conflicting Owner: &OwnerReference{Kind:ClusterObjectSet,Name:other-1,UID:u9,APIVersion:"
                  "olm.operatorframework.io/v1,Controller:*true,BlockOwnerDeletion:*true,}" },
        };

        for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
                struct arena arena AUTO_ARENA = ARENA_INIT;
                struct claim_case c CLEANUP(end);
                struct claim_result r;

                begin(&c, lines[i].live, PROTECTION_PREVENT);
                assert_int_equal(claim_decide(&c.in, &r, NULL), 0);
                assert_string_equal(claim_collision_words(&c.in, &r, &arena), lines[i].words);
        }
}

/* The first sentence, of what a set controls. */
static void assert_sentence(const char *live, const struct set_identity *set, const char *sentence)
{
        struct arena arena AUTO_ARENA = ARENA_INIT;
        struct claim_case c CLEANUP(end);
        struct claim_result r;
        const char *words;

        begin(&c, live, PROTECTION_PREVENT);
        c.in.set = set;
        assert_int_equal(claim_decide(&c.in, &r, NULL), 0);
        words = claim_collision_words(&c.in, &r, &arena);
        assert_string_equal(arena_strndup(&arena, words, strcspn(words, "\n")), sentence);
}

static void a_collision_with_a_set_tells_why_it_hands_nothing_over(void **state)
{
        static const struct set_identity alone = { "app-2", "u2", 2, NULL, NULL };

        assert_sentence(LIVE(REVISION("2"), EARLIER), &us,
                        "Controlled by ClusterObjectSet \"app-1\" of the same owner and with the same "
                        "revision number, 2: one of the two needs another number.");
        assert_sentence(LIVE(OWNER_NAME("app"), STRANGER), &us,
                        "Controlled by ClusterObjectSet \"other-1\" of the same owner, which is no longer "
                        "active; collisionProtection None would adopt it.");
        assert_sentence(LIVE(OWNER_NAME(""), STRANGER), &alone,
                        "Controlled by ClusterObjectSet \"other-1\", which has no label "
                        "olm.operatorframework.io/owner-name, as this one: only sets of one owner hand "
                        "objects over; collisionProtection None would adopt it.");
}

/* spec/cluster-object-set.md checklist 40 */
static void collisions_of_a_phase_are_told_one_after_the_other(void **state)
{
        static const char *const reports[] = { "a\nb", "c" };
        struct arena arena AUTO_ARENA = ARENA_INIT;

        assert_string_equal(claim_phase_words(1, reports, 2, &arena),
                            "revision object collisions in phase 1\na\nb\n\nc");
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(who_controls_an_object_and_what_is_said_about_collisions_decides),
                cmocka_unit_test(siblings_with_one_number_collide_whatever_is_said_about_it),
                cmocka_unit_test(what_is_being_deleted_is_neither_kept_nor_adopted),
                cmocka_unit_test(what_may_be_in_the_middle_of_being_orphaned_is_adopted_by_a_fresh_set_only),
                cmocka_unit_test(a_siblings_revision_that_is_no_number_is_an_error),
                cmocka_unit_test(a_collision_names_the_object_its_owner_and_what_would_help),
                cmocka_unit_test(a_collision_with_a_set_tells_why_it_hands_nothing_over),
                cmocka_unit_test(collisions_of_a_phase_are_told_one_after_the_other),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
