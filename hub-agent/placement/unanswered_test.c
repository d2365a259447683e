/* Writes of snapshots that nobody answered: they may have been made, or may yet arrive. */
#include "hub-agent/placement/intake_test.h"

/* Deleted first, so that nobody gives it a finalizer again. */
static void tear_out(struct rig *r, const char *path)
{
        rig_delete(r, path);
        rig_merge(r, path, "{\"metadata\":{\"finalizers\":null}}");
        assert_int_equal(rig_get(r, path), 404);
}

/* The answer to its creation is lost, and who told of the index before it goes: by what the server has now, a
 * lower one would be given. */
static void give_again(struct rig *r, const char *kind, const char *snapshot, const char *next)
{
        char path[256], binding[256], latest[256], creation[64];
        struct line line;
        struct fleet f;

        start_on(r, &f, &line);
        find_binding(r, binding);
        line.slow = "clusterresourcebindings?labelSelector=";
        snprintf(path, sizeof(path), FLEET "%s/%s", kind, snapshot);
        rig_delete(r, path);
        fiber_sleep(r->loop, 500);
        line.lagging = kind;
        snprintf(creation, sizeof(creation), "%s?", kind);
        line.path = line.slow = creation;
        line.fate = ERR_CLOSED;
        fiber_sleep(r->loop, SLOW_MS);
        tear_out(r, binding);
        tear_out(r, FLEET "namespaces/fleet-member-member-1/works/web-work");
        fiber_sleep(r->loop, SLOW_MS);
        snprintf(path, sizeof(path), FLEET "%s/%s", kind, next);
        assert_int_equal(rig_get(r, path), 200);
        line.path = NULL;
        wait_ms(r, 60000);
        line.slow = line.lagging = NULL;
        wait_ms(r, 60000);
        snprintf(latest, sizeof(latest),
                 FLEET "%s?labelSelector=kubernetes-fleet.io%%2Fis-latest-snapshot%%3Dtrue", kind);
        assert_int_equal(count(r, latest), 1);
        assert_int_equal(rig_get(r, path), 200);
        snprintf(path, sizeof(path), FLEET "%s/%s", kind, snapshot);
        assert_int_equal(rig_get(r, path), 404);
        close_all(&f);
}
RIG_TEST(a_policy_snapshot_that_may_have_been_made_is_not_followed_by_one_with_a_lower_index,
         { give_again(r, "clusterschedulingpolicysnapshots", "web-0", "web-1"); })
RIG_TEST(a_resource_snapshot_that_may_have_been_made_is_not_followed_by_one_with_a_lower_index,
         { give_again(r, "clusterresourcesnapshots", "web-0-snapshot", "web-1-snapshot"); })

/* ---- what is wanted comes back to what it was while nobody knows whether the next snapshot was made ---- */

#define PICK_ALL ",\"policy\":{\"placementType\":\"PickAll\"}"
#define LATEST "?labelSelector=kubernetes-fleet.io%%2Fis-latest-snapshot%%3Dtrue"

static void pick_otherwise(struct rig *r, bool otherwise)
{
        rig_merge(r, FLEET "clusterresourceplacements/web",
                  otherwise
                          ? "{\"spec\":{\"policy\":{\"affinity\":{\"clusterAffinity\":{"
                            "\"requiredDuringSchedulingIgnoredDuringExecution\":{\"clusterSelectorTerms\":[{"
                            "\"labelSelector\":{\"matchLabels\":{\"a\":\"b\"}}}]}}}}}}"
                          : "{\"spec\":{\"policy\":{\"affinity\":null}}}");
        assert_int_equal(r->status, 200);
}

static void select_otherwise(struct rig *r, bool otherwise)
{
        change_content(r, otherwise ? "c" : "b");
}

struct of_kind {
        const char *all, *creation; /* creation: in its path */
        const char *name;           /* of snapshots */
        const char *made;           /* the next one */
        void (*want)(struct rig *r, bool otherwise);
};
static const struct of_kind policies = { POLICIES, "clusterschedulingpolicysnapshots?", "web-%d", made_policy,
                                         pick_otherwise };
static const struct of_kind resources = { SNAPSHOTS, "clusterresourcesnapshots?", "web-%d-snapshot",
                                          made_group, select_otherwise };

static bool is_latest(struct rig *r, const struct of_kind *k, int index)
{
        char path[256], name[64];
        const json_t *labels;

        snprintf(name, sizeof(name), k->name, index);
        snprintf(path, sizeof(path), "%s/%s", k->all, name);
        if (rig_get(r, path) != 200)
                return false;
        labels = json_object_get(json_object_get(r->answer, "metadata"), "labels");
        return text_equal(json_string_value(json_object_get(labels, LABEL_IS_LATEST_SNAPSHOT)), LABEL_TRUE);
}

static size_t count_latest(struct rig *r, const struct of_kind *k)
{
        char path[256];

        snprintf(path, sizeof(path), "%s" LATEST, k->all);
        return count(r, path);
}

/* Until the first snapshot is the latest no more, and the creation of the next one has met its fate. */
static void turn_back_while_made(struct rig *r, struct line *line, const struct of_kind *k, int fate)
{
        line->path = k->creation;
        line->fate = fate;
        k->want(r, true);
        for (int i = 0; i < 600 && is_latest(r, k, 0); i++)
                fiber_sleep(r->loop, 100);
        assert_false(is_latest(r, k, 0));
        k->want(r, false);
        wait_ms(r, 5000);
}

static void arrive_late(struct rig *r, const struct of_kind *k)
{
        struct line line;
        struct fleet f;

        start_placed(r, &f, &line, PICK_ALL);
        turn_back_while_made(r, &line, k, ERR_RETRY);
        assert_int_equal(rig_post(r, k->all, k->made), 201);
        assert_false(is_latest(r, k, 0));
        line.path = NULL;
        wait_ms(r, 120000);
        assert_int_equal(count_latest(r, k), 1);
        assert_true(is_latest(r, k, 2));
        close_all(&f);
}
RIG_TEST(a_policy_snapshot_that_is_made_late_finds_no_older_one_marked_latest, { arrive_late(r, &policies); })
RIG_TEST(a_resource_snapshot_that_is_made_late_finds_no_older_one_marked_latest,
         { arrive_late(r, &resources); })

/* spec/placement.md 9.1 step 3 */
static void be_refused(struct rig *r, const struct of_kind *k)
{
        struct line line;
        struct fleet f;

        start_placed(r, &f, &line, PICK_ALL);
        turn_back_while_made(r, &line, k, 403);
        line.path = NULL;
        wait_ms(r, 120000);
        assert_true(is_latest(r, k, 0));
        assert_int_equal(count(r, k->all), 1);
        close_all(&f);
}
RIG_TEST(a_policy_snapshot_is_taken_up_again_when_its_successor_was_refused, { be_refused(r, &policies); })
RIG_TEST(a_resource_snapshot_is_taken_up_again_when_its_successor_was_refused, { be_refused(r, &resources); })

/* ---- a placement of a name that was there before ---- */

#define OF_FORMER                                                                                            \
        "{\"apiVersion\":\"placement.kubernetes-fleet.io/"                                                   \
        "v1beta1\",\"kind\":\"Work\",\"metadata\":{\"name\":\"web-work\",\"labels\":{\"kubernetes-fleet.io/" \
        "parent-CRP\":\"web\","                                                                              \
        "\"kubernetes-fleet.io/parent-resource-snapshot-index\":\"1\"},\"finalizers\":[\"a.example/b\"]},"   \
        "\"spec\":{\"workload\":{\"manifests\":[]}}}"

RIG_TEST(the_first_snapshot_keeps_its_index_when_its_creation_was_not_answered, {
        struct line line;
        struct fleet f;

        start(r, &f);
        line_lay(&f, &line);
        start_again(r, &f);
        add_member(&f, "member-1", "");
        add_app(r);
        settle(&f);
        assert_int_equal(rig_post(r, FLEET "namespaces/fleet-member-member-1/works", OF_FORMER), 201);
        rig_settle(r);
        line.lagging = "clusterresourcesnapshots";
        line.path = "clusterresourcesnapshots?";
        line.fate = ERR_CLOSED;
        place(r, "");
        fiber_sleep(r->loop, 20);
        line.path = NULL;
        wait_ms(r, 1000);
        assert_int_equal(count_latest(r, &resources), 1);
        line.lagging = NULL;
        wait_ms(r, 60000);
        assert_true(is_latest(r, &resources, 2));
        assert_int_equal(count(r, SNAPSHOTS), 1);
        close_all(&f);
})

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(
                        a_policy_snapshot_that_may_have_been_made_is_not_followed_by_one_with_a_lower_index),
                cmocka_unit_test(
                        a_resource_snapshot_that_may_have_been_made_is_not_followed_by_one_with_a_lower_index),
                cmocka_unit_test(a_policy_snapshot_that_is_made_late_finds_no_older_one_marked_latest),
                cmocka_unit_test(a_resource_snapshot_that_is_made_late_finds_no_older_one_marked_latest),
                cmocka_unit_test(a_policy_snapshot_is_taken_up_again_when_its_successor_was_refused),
                cmocka_unit_test(a_resource_snapshot_is_taken_up_again_when_its_successor_was_refused),
                cmocka_unit_test(the_first_snapshot_keeps_its_index_when_its_creation_was_not_answered),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
