/* Works that somebody else changes on the hub. */
#include "hub-agent/common.h"
#include "hub-agent/hub_agent_test.h"
#include "hub-agent/work-generator/binding_memory.h"

#define WEB FLEET "clusterresourceplacements/web"
#define WORK FLEET "namespaces/fleet-member-member-1/works/web-work"
#define NO_MANIFESTS "\"workload\":{\"manifests\":[]}"

static void place_one(struct rig *r, struct fleet *f)
{
        start(r, f);
        add_member(f, "member-1", "");
        add_app(r);
        place(r, "");
        settle(f);
        settle(f);
        rig_get(r, WEB);
        assert_string_equal(condition_of(r, "ClusterResourcePlacementAvailable"), "True");
}

static size_t n_manifests(struct rig *r)
{
        rig_get(r, WORK);
        return json_array_size(doc_get_array(r->answer, "spec.workload.manifests"));
}

static void change(struct rig *r, const char *patch)
{
        assert_int_equal(rig_merge(r, WORK, patch), 200);
}

static const char *const CHANGES[] = {
        "{\"spec\":{" NO_MANIFESTS "}}",
        /* what is put right first must not hide the rest */
        "{\"spec\":{" NO_MANIFESTS ",\"applyStrategy\":{\"whenToApply\":\"IfNotDrifted\"}}}",
};

static const char *manifests_of(struct rig *r, char patch[4096])
{
        char *text;

        rig_get(r, WORK);
        text = json_dumps(doc_get_array(r->answer, "spec.workload.manifests"), JSON_COMPACT);
        snprintf(patch, 4096, "{\"spec\":{\"workload\":{\"manifests\":%s}}}", text);
        free(text);
        return patch;
}

static long long generation_of(struct rig *r)
{
        rig_get(r, WORK);
        return doc_get_int(r->answer, "metadata.generation", 0);
}

/* "GENERATION/HASH" of the Work; "" without one. */
static const char *mark_of(struct rig *r, char mark[64])
{
        const char *at = NULL;

        rig_get(r, WORK);
        json_t *annotations = doc_get(r->answer, "metadata.annotations");
        at = json_string_value(json_object_get(annotations, ANNOTATION_WORK_GENERATION));
        snprintf(mark, 64, "%s", or_empty(at));
        return mark;
}

static void assert_marked(struct rig *r, long long generation)
{
        char mark[64], wanted[32];

        snprintf(wanted, sizeof(wanted), "%lld/", generation);
        assert_true(text_starts_with(mark_of(r, mark), wanted));
        assert_int_equal(strlen(mark), strlen(wanted) + 16);
        assert_int_equal(generation_of(r), generation);
}

static void set_mark(struct rig *r, const char *json)
{
        char patch[256];

        snprintf(patch, sizeof(patch),
                 "{\"metadata\":{\"annotations\":{\"" ANNOTATION_WORK_GENERATION "\":%s}}}", json);
        change(r, patch);
}

static size_t times_told(struct rig *r)
{
        json_t *event;
        size_t i, n = 0;

        rig_get(r, "/api/v1/namespaces/fleet-member-member-1/events");
        json_array_foreach(json_object_get(r->answer, "items"), i, event)
                n += text_equal(doc_get_string(event, "reason"), EVENT_WORK_RESTORED);
        return n;
}

static void assert_available(struct rig *r, const char *status)
{
        rig_get(r, WEB);
        assert_string_equal(condition_of(r, "ClusterResourcePlacementAvailable"), status);
}

/* Requests that wrote a Work's metadata or spec since the counters were reset. */
static uint64_t n_writes(struct rig *r)
{
        struct devcluster_request_count *all;
        AUTO_ARENA struct arena arena = ARENA_INIT;
        uint64_t sum = 0;
        size_t n;

        assert_int_equal(devcluster_requests(r->devcluster, "hub", &arena, &all, &n), 0);
        for (size_t i = 0; i < n; i++)
                if (text_equal(all[i].resource, "works") &&
                    (text_equal(all[i].verb, "patch") || text_equal(all[i].verb, "create")))
                        sum += all[i].n;
        return sum;
}

static void restores(struct rig *r)
{
        struct fleet f;
        size_t n;

        place_one(r, &f);
        n = n_manifests(r);
        assert_true(n > 0);
        for (size_t i = 0; i < ARRAY_LEN(CHANGES); i++) {
                change(r, CHANGES[i]);
                rig_settle(r);
                assert_int_equal(n_manifests(r), n);
                assert_non_null(strstr(r->text, "\"whenToApply\":\"Always\""));
                settle(&f);
                rig_get(r, WEB);
                assert_string_equal(condition_of(r, "ClusterResourcePlacementAvailable"), "True");
        }
        stop(&f);
}
static void a_work_that_somebody_changed_is_given_its_content_again(void **state)
{
        rig_run(restores);
}

/* Nothing is left to be written, so nothing comes that would end the wait for it. */
static void goes_on(struct rig *r)
{
        char patch[4096];
        struct fleet f;

        place_one(r, &f);
        manifests_of(r, patch);
        change(r, "{\"spec\":{" NO_MANIFESTS "}}");
        change(r, patch);
        settle(&f);
        settle(&f);
        rig_get(r, WEB);
        assert_string_equal(condition_of(r, "ClusterResourcePlacementAvailable"), "True");
        stop(&f);
}
static void a_work_that_somebody_changed_and_put_right_holds_nothing_up(void **state)
{
        rig_run(goes_on);
}

/* As if no hub-agent ran: what comes next does not know what this one wrote. */
static void restores_later(struct rig *r)
{
        struct fleet f;
        size_t n;

        place_one(r, &f);
        n = n_manifests(r);
        for (size_t i = 0; i < ARRAY_LEN(CHANGES); i++) {
                stop(&f);
                change(r, CHANGES[i]);
                start_again(r, &f);
                settle(&f);
                settle(&f);
                assert_int_equal(n_manifests(r), n);
                assert_non_null(strstr(r->text, "\"whenToApply\":\"Always\""));
                assert_marked(r, generation_of(r));
                assert_int_equal(times_told(r), 1); /* the second one counts on */
                assert_available(r, "True");
        }
        devcluster_reset_requests(r->devcluster);
        stop(&f);
        start_again(r, &f);
        settle(&f);
        assert_int_equal(n_writes(r), 0);
        stop(&f);
}
static void a_work_that_was_changed_while_no_agent_ran_is_given_its_content_again(void **state)
{
        rig_run(restores_later);
}

static void marks(struct rig *r)
{
        struct fleet f;

        start(r, &f);
        add_member(&f, "member-1", "");
        add_app(r);
        devcluster_reset_requests(r->devcluster);
        place(r, "");
        settle(&f);
        settle(&f);
        assert_marked(r, 1);
        assert_int_equal(n_writes(r), 1);
        assert_int_equal(
                rig_merge(r, "/api/v1/namespaces/app/configmaps/settings", "{\"data\":{\"a\":\"c\"}}"), 200);
        settle(&f);
        settle(&f);
        assert_marked(r, 2);
        assert_int_equal(n_writes(r), 2);
        assert_int_equal(
                rig_merge(r, WEB,
                          "{\"spec\":{\"strategy\":{\"applyStrategy\":{\"whenToApply\":\"IfNotDrifted\"}}}}"),
                200);
        settle(&f);
        settle(&f);
        assert_marked(r, 3);
        assert_int_equal(n_writes(r), 3);
        /* Written anew with what it has. */
        devcluster_reset_requests(r->devcluster);
        change(r, "{\"metadata\":{\"labels\":{\"" LABEL_PARENT_RESOURCE_SNAPSHOT_INDEX "\":\"0\"}}}");
        settle(&f);
        settle(&f);
        assert_marked(r, 3);
        assert_int_equal(n_writes(r), 2); /* the change, and what puts it right */
        assert_int_equal(times_told(r), 0);
        stop(&f);
}
static void each_write_foretells_the_generation_and_none_is_needed_for_the_mark(void **state)
{
        rig_run(marks);
}

/* A mark that is wrong, one that nobody can read, and one of a write whose generation did not come. */
static void mends_marks(struct rig *r)
{
        static const char *const wrong[] = { "\"7/0123456789abcdef\"", "\"what\"", "\"\"", "\"2/\"" };
        struct fleet f;

        place_one(r, &f);
        for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
                set_mark(r, wrong[i]);
                settle(&f);
                assert_marked(r, 1);
                assert_int_equal(times_told(r), 0);
                assert_available(r, "True");
        }
        stop(&f);
}
static void a_mark_that_is_not_true_is_put_right_without_a_word(void **state)
{
        rig_run(mends_marks);
}

/* As another agent made it, or an earlier one of ours. */
static void unmark(struct rig *r, struct fleet *f)
{
        stop(f);
        set_mark(r, "null");
        start_again(r, f);
        settle(f);
}

static void leaves_unmarked(struct rig *r)
{
        struct fleet f;
        char mark[64];
        size_t n;

        place_one(r, &f);
        n = n_manifests(r);
        unmark(r, &f);
        assert_string_equal(mark_of(r, mark), "");
        /* Changed before the eyes of the agent. */
        change(r, "{\"spec\":{" NO_MANIFESTS "}}");
        settle(&f);
        assert_int_equal(n_manifests(r), n);
        assert_marked(r, 3);
        assert_int_equal(times_told(r), 1);
        /* Strategy alone: of the content, nothing is known but that nobody changed it. */
        unmark(r, &f);
        assert_int_equal(
                rig_merge(r, WEB,
                          "{\"spec\":{\"strategy\":{\"applyStrategy\":{\"whenToApply\":\"IfNotDrifted\"}}}}"),
                200);
        settle(&f);
        settle(&f);
        assert_string_equal(mark_of(r, mark), "4/");
        assert_int_equal(times_told(r), 1);
        stop(&f);
}
static void a_work_without_a_mark_is_left_alone_until_it_changes(void **state)
{
        rig_run(leaves_unmarked);
}

/* What it should hold is not known any more. */
static void says_so(struct rig *r)
{
        struct fleet f;

        place_one(r, &f);
        assert_int_equal(rig_merge(r, WEB, "{\"spec\":{\"strategy\":{\"type\":\"External\"}}}"), 200);
        settle(&f);
        for (int changed = 0; changed < 2; changed++) {
                stop(&f);
                rig_delete(r, FLEET "clusterresourcesnapshots/web-0-snapshot");
                if (changed)
                        change(r, "{\"spec\":{" NO_MANIFESTS "}}");
                start_again(r, &f);
                settle(&f);
                settle(&f);
                rig_get(r, FLEET "clusterresourcebindings");
                assert_true(!strstr(r->text, "the master resource snapshot is not found") == !changed);
        }
        stop(&f);
}
static void a_changed_work_whose_snapshot_is_gone_is_not_called_synchronized(void **state)
{
        rig_run(says_so);
}

/* A Work as another agent makes it. */
static bool is_as_first_seen(struct binding_memory *m, int work, int64_t generation)
{
        char uid[32];
        const struct object o = { .kind = &work_kind, .meta = { .uid = uid, .generation = generation } };

        snprintf(uid, sizeof(uid), "uid-%d", work);
        return work_is_as_left(m, &o);
}

static void works_without_a_mark_are_remembered_one_by_one_as_they_were_first_seen(void **state)
{
        enum { WORKS = 256 };
        struct binding_memory m = { 0 };

        for (int round = 0; round < 2; round++)
                for (int i = 1; i <= WORKS; i++)
                        assert_true(is_as_first_seen(&m, i, i));
        for (int i = 1; i <= WORKS; i++)
                assert_false(is_as_first_seen(&m, i, i + 1));
        assert_true(is_as_first_seen(&m, WORKS + 1, 7)); /* one too many: the oldest is forgotten */
        assert_false(is_as_first_seen(&m, WORKS + 1, 8));
        assert_false(is_as_first_seen(&m, 2, 3));
        assert_true(is_as_first_seen(&m, 1, 5));
        assert_false(is_as_first_seen(&m, 1, 1));
        generations_free(&m);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(a_work_that_somebody_changed_is_given_its_content_again),
                cmocka_unit_test(a_work_that_somebody_changed_and_put_right_holds_nothing_up),
                cmocka_unit_test(a_work_that_was_changed_while_no_agent_ran_is_given_its_content_again),
                cmocka_unit_test(each_write_foretells_the_generation_and_none_is_needed_for_the_mark),
                cmocka_unit_test(a_mark_that_is_not_true_is_put_right_without_a_word),
                cmocka_unit_test(a_work_without_a_mark_is_left_alone_until_it_changes),
                cmocka_unit_test(a_changed_work_whose_snapshot_is_gone_is_not_called_synchronized),
                cmocka_unit_test(works_without_a_mark_are_remembered_one_by_one_as_they_were_first_seen),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
