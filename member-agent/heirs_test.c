/* Who takes over what a Work lets go of: heirs that are not ready, that go themselves, that change their
 * minds, and an agent that has forgotten who they are. */
#include <sqlite3.h>

#include "member-agent/disk_test.h"
#include "member-agent/moves_test.h"

/* ctx: whether the Work that has the object says of which placement it is. */
static void other_placement_body(struct rig *r)
{
        const bool labelled = *(const bool *)r->ctx;
        const char *before;
        struct agent a;

        begin(&a, r);
        if (labelled)
                make_part(r, "", &(struct part){ "w", 1, 1, A "," B });
        else
                place(r, "w", "", A "," B);
        wait_until_applied(r, "w", 1);
        before = uid_of(r, B_PATH);
        place(r, "z", "", B2);
        wait_for(r, HUB, WORKS "/z", "type=Applied", "SomeManifestsAreNotApplied");
        delete (r, HUB, WORKS "/w");
        wait_until_gone(r, HUB, WORKS "/w");
        wait_for(r, HUB, WORKS "/z", "type=Applied", "AllManifestsApplied");
        assert_string_equal(uid_of(r, B_PATH), before);
        wait_for(r, MEMBER, B_PATH, "data.k", "2");
        assert_string_equal(owner_of(r, B_PATH), "z");
        assert_int_equal(get(r, MEMBER, CONFIG_MAP_PATH("a")), 404);
        stop(&a);
}

static void another_placement_that_waits_for_an_object_gets_it_as_it_is(void **state)
{
        static const bool labelled[] = { true, false };

        for (size_t i = 0; i < ARRAY_LEN(labelled); i++)
                rig_run_for(other_placement_body, (void *)(uintptr_t)&labelled[i]);
}

/* Each object costs its own requests; whether the heir can own them is asked once in a pass. */
static uint64_t asked_to_hand_over(struct rig *r, int n)
{
        const char *manifests = A;
        struct agent a;
        uint64_t before;

        for (int i = 1; i < n; i++)
                manifests = arena_printf(&r->arena, "%s," CONFIG_MAP("m%d", "1"), manifests, i);
        begin(&a, r);
        make_part(r, "", &(struct part){ "w", 1, 1, manifests });
        wait_until_applied(r, "w", 1);
        place(r, "z", "", manifests);
        wait_for(r, HUB, WORKS "/z", "type=Applied", "SomeManifestsAreNotApplied");
        before = requests(r, "m1", "get", "appliedworks");
        delete (r, HUB, WORKS "/w");
        wait_until_gone(r, HUB, WORKS "/w");
        wait_for(r, HUB, WORKS "/z", "type=Applied", "AllManifestsApplied");
        assert_string_equal(owner_of(r, CONFIG_MAP_PATH("a")), "z");
        assert_int_equal(fiber_sleep(r->loop, PATIENCE_MS), 0);
        stop(&a);
        return requests(r, "m1", "get", "appliedworks") - before;
}

static void one_object_body(struct rig *r)
{
        *(uint64_t *)r->ctx = asked_to_hand_over(r, 1);
}
static void many_objects_body(struct rig *r)
{
        *(uint64_t *)r->ctx = asked_to_hand_over(r, 12);
}

static void many_objects_are_handed_over_with_few_looks_at_their_new_owner(void **state)
{
        uint64_t of_one, of_many;

        rig_run_for(one_object_body, &of_one);
        rig_run_for(many_objects_body, &of_many);
        assert_in_range(of_many, of_one, of_one + 2);
}

/* ---- an heir whose AppliedWork is not there ---- */

/* Nobody tells the agent that it went. */
static int64_t delay_watch(void *ctx, const struct http_request *rq, bool answer)
{
        return *(const bool *)ctx && answer && strstr(rq->path, "appliedworks?watch=") ? 600000 : 0;
}

static void dead_heir_body(struct rig *r)
{
        bool deaf = false;
        struct loopback_faults faults = { .ctx = &deaf, .delay = delay_watch };
        const char *owner;
        struct agent a;

        begin(&a, r);
        meet(&a, &faults);
        make_part(r, "", &(struct part){ "w", 1, 2, A });
        make_part(r, "", &(struct part){ "w-1", 1, 2, B });
        wait_until_applied(r, "w", 1);
        wait_until_applied(r, "w-1", 1);
        deaf = true;
        delete (r, MEMBER, APPLIED_WORKS "/w-1?propagationPolicy=Orphan");
        wait_until_gone(r, MEMBER, APPLIED_WORKS "/w-1");
        delete (r, HUB, WORKS "/w");
        wait_until_gone(r, HUB, WORKS "/w");
        owner = uid_of(r, APPLIED_WORKS "/w-1");
        get(r, MEMBER, CONFIG_MAP_PATH("a"));
        if (!text_equal(owner_uid_of(r, CONFIG_MAP_PATH("a")), owner))
                fail_msg("%s", r->text);
        stop(&a);
}

static void an_heir_whose_applied_work_is_gone_gets_a_new_one(void **state)
{
        rig_run(dead_heir_body);
}

/* The Work that is to get the object was there before, and nobody tells the agent that its former AppliedWork
 * went; who hands over cannot ask either. */
struct unheard {
        bool deaf, mute;
};

static int64_t delay_unheard(void *ctx, const struct http_request *rq, bool answer)
{
        return delay_watch(&((struct unheard *)ctx)->deaf, rq, answer);
}

static int lose_look(void *ctx, const struct http_request *rq)
{
        const struct unheard *u = ctx;

        return u->mute && text_equal(rq->method, "GET") && text_equal(rq->path, APPLIED_WORKS "/w-1")
                       ? ERR_RETRY
                       : 0;
}

static void heir_made_anew_body(struct rig *r)
{
        struct unheard unheard = { 0 };
        struct loopback_faults faults = { .ctx = &unheard, .delay = delay_unheard, .fate = lose_look };
        const char *before, *owner;
        struct agent a;

        begin(&a, r);
        meet(&a, &faults);
        make_part(r, "", &(struct part){ "w", 1, 2, A });
        make_part(r, "", &(struct part){ "w-1", 1, 2, B });
        wait_until_applied(r, "w", 1);
        wait_until_applied(r, "w-1", 1);
        before = uid_of(r, CONFIG_MAP_PATH("a"));
        unheard.deaf = true;
        delete (r, HUB, WORKS "/w-1");
        wait_until_gone(r, HUB, WORKS "/w-1");
        unheard.mute = true;
        change_part(r, &(struct part){ "w", 2, 2, CONFIG_MAP("c", "1") });
        make_part(r, "", &(struct part){ "w-1", 2, 2, A "," B });
        assert_int_equal(fiber_sleep(r->loop, PATIENCE_MS / 4), 0);
        unheard.mute = false;
        assert_int_equal(fiber_sleep(r->loop, PATIENCE_MS), 0);
        assert_string_equal(uid_of(r, CONFIG_MAP_PATH("a")), before);
        owner = uid_of(r, APPLIED_WORKS "/w-1");
        assert_string_equal(owner_uid_of(r, CONFIG_MAP_PATH("a")), owner);
        stop(&a);
}

static void an_heir_made_anew_does_not_own_in_the_name_of_the_former(void **state)
{
        rig_run(heir_made_anew_body);
}

/* ---- an heir that goes while it is made ready ---- */

/* The first look at the heir's AppliedWork takes so long that the Work may go meanwhile. ctx: whether the
 * heir stays on the hub for a while, deleted, when its AppliedWork is gone. */
static void going_heir_body(struct rig *r)
{
        const bool stays_a_while = *(const bool *)r->ctx;
        struct slow slow = { .method = "GET", .path = APPLIED_WORKS "/w-1" };
        struct loopback_faults faults = { .ctx = &slow, .delay = delay_slow };
        uint64_t made;
        struct agent a;

        begin(&a, r);
        meet(&a, &faults);
        make_part(r, "", &(struct part){ "w", 1, 2, A });
        make_part(r, "", &(struct part){ "w-1", 1, 2, B });
        wait_until_applied(r, "w", 1);
        wait_until_applied(r, "w-1", 1);
        made = requests(r, "m1", "create", "appliedworks");
        if (stays_a_while)
                merge(r, HUB, WORKS "/w-1",
                      "{'metadata':{'finalizers':['kubernetes-fleet.io/work-cleanup','example.com/later']}}");
        slow.most = 1;
        delete (r, HUB, WORKS "/w"); /* as part of a set that stays: its sibling takes care of what it has */
        wait_for_slow(r, &slow, 1);
        delete (r, HUB, WORKS "/w-1");
        wait_until_gone(r, MEMBER, APPLIED_WORKS "/w-1");
        assert_int_equal(get(r, HUB, WORKS "/w-1"), stays_a_while ? 200 : 404);
        assert_int_equal(fiber_sleep(r->loop, PATIENCE_MS), 0);
        assert_int_equal(requests(r, "m1", "create", "appliedworks"), made);
        stop(&a);
}

static void no_applied_work_is_made_for_an_heir_that_goes_or_is_gone(void **state)
{
        static const bool stays_a_while[] = { false, true };

        for (size_t i = 0; i < ARRAY_LEN(stays_a_while); i++)
                rig_run_for(going_heir_body, (void *)(uintptr_t)&stays_a_while[i]);
}

/* ---- an agent that remembers nothing ---- */

struct troubled { /* the server does not tell which kinds there are */
        struct loop *loop;
        int64_t until_ms;
};

static int fails_discovery(void *ctx, const struct http_request *rq)
{
        const struct troubled *t = ctx;

        return loop_now_ms(t->loop) < t->until_ms && text_equal(rq->path, "/api") ? 500 : 0;
}

/* ctx: for how many milliseconds what it wants cannot be told from what there is. */
static void forgetful_body(struct rig *r)
{
        struct troubled troubled = { .loop = r->loop };
        struct loopback_faults faults = { .ctx = &troubled, .fate = fails_discovery };
        const char *before;
        struct agent a;

        begin(&a, r);
        make_part(r, "", &(struct part){ "w", 1, 1, B });
        wait_until_applied(r, "w", 1);
        before = uid_of(r, B_PATH);
        place(r, "z", "", B2);
        wait_for(r, HUB, WORKS "/z", "type=Applied", "SomeManifestsAreNotApplied");
        stop(&a);
        delete (r, HUB, WORKS "/w");
        start(&a, r, ":memory:");
        meet(&a, &faults);
        troubled.until_ms = loop_now_ms(r->loop) + *(const int *)r->ctx;
        wait_for(r, HUB, WORKS "/z", "type=Applied", "AllManifestsApplied");
        assert_string_equal(uid_of(r, B_PATH), before);
        wait_until_gone(r, HUB, WORKS "/w");
        assert_string_equal(uid_of(r, B_PATH), before);
        stop(&a);
}

/* Its state file was lost: what the Works want is read again before one that goes takes its objects along. */
static void what_others_want_is_found_out_again_before_anything_goes(void **state)
{
        static const int troubled_ms[] = { 0, 3000 };

        for (size_t i = 0; i < ARRAY_LEN(troubled_ms); i++)
                rig_run_for(forgetful_body, (void *)(uintptr_t)&troubled_ms[i]);
}

/* ---- an heir that changes while the object is on its way to it ---- */

static void changing_heir_body(struct rig *r)
{
        struct slow slow = { .method = "PATCH", .path = B_PATH "?" };
        struct loopback_faults faults = { .ctx = &slow, .delay = delay_slow };
        struct agent a;

        begin(&a, r);
        meet(&a, &faults);
        make_part(r, "", &(struct part){ "w", 1, 1, A "," B });
        wait_until_applied(r, "w", 1);
        place(r, "z", "", C "," B2);
        wait_for(r, HUB, WORKS "/z", "type=Applied", "SomeManifestsAreNotApplied");
        slow.most = 1;
        delete (r, HUB, WORKS "/w");
        wait_for_slow(r, &slow, 1);
        replace_manifests(r, "z", C);
        wait_until_applied(r, "z", 2);
        assert_string_equal(owner_of(r, B_PATH), "w"); /* the request is still on its way */
        wait_until_gone(r, HUB, WORKS "/w");
        wait_until_gone(r, MEMBER, B_PATH);
        stop(&a);
}

/* It had looked already and found that the object was not its own. */
static void what_an_heir_wants_no_more_when_it_comes_is_removed(void **state)
{
        rig_run(changing_heir_body);
}

/* Only once the agent is stopped. */
static int rows_of(const struct sim_disk *disk, const char *work)
{
        sqlite3_stmt *st = NULL;
        sqlite3 *db = NULL;
        int n;

        assert_int_equal(
                sqlite3_open_v2(sim_disk_uri(disk), &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_URI, NULL),
                SQLITE_OK);
        assert_int_equal(
                sqlite3_prepare_v2(db, "SELECT count(*) FROM inventory WHERE work = ?1", -1, &st, NULL),
                SQLITE_OK);
        assert_int_equal(sqlite3_bind_text(st, 1, work, -1, SQLITE_STATIC), SQLITE_OK);
        assert_int_equal(sqlite3_step(st), SQLITE_ROW);
        n = sqlite3_column_int(st, 0);
        sqlite3_finalize(st);
        sqlite3_close(db);
        return n;
}

/* The heir stays on the hub, deleted, for somebody else's finalizer: nothing makes the agent look at it again
 * that would forget it once more. */
static void forgotten_heir_body(struct rig *r)
{
        struct slow slow = { .method = "PATCH", .path = B_PATH "?" };
        struct loopback_faults faults = { .ctx = &slow, .delay = delay_slow };
        struct sim_disk *disk = sim_disk_new(r->loop);
        struct agent a;

        assert_non_null(disk);
        prepare_clusters(r);
        invite(r);
        start_on(&a, r, disk);
        meet(&a, &faults);
        make_part(r, "", &(struct part){ "w", 1, 1, A "," B });
        wait_until_applied(r, "w", 1);
        place(r, "z", "", C "," B2);
        wait_for(r, HUB, WORKS "/z", "type=Applied", "SomeManifestsAreNotApplied");
        merge(r, HUB, WORKS "/z",
              "{'metadata':{'finalizers':['kubernetes-fleet.io/work-cleanup','example.com/later']}}");
        slow.most = 1;
        delete (r, HUB, WORKS "/w");
        wait_for_slow(r, &slow, 1);
        delete (r, HUB, WORKS "/z");
        wait_until_gone(r, MEMBER, APPLIED_WORKS "/z");
        assert_int_equal(fiber_sleep(r->loop, SLOW_MS / 5), 0);
        get(r, HUB, WORKS "/z");
        assert_int_equal(json_array_size(doc_get_array(r->answer, "metadata.finalizers")), 1);
        assert_string_equal(owner_of(r, B_PATH), "w"); /* the request is still on its way */
        wait_until_gone(r, HUB, WORKS "/w");
        wait_until_gone(r, MEMBER, B_PATH);
        stop(&a);
        assert_int_equal(rows_of(disk, "z"), 0);
        sim_disk_free(disk);
}

static void an_heir_that_has_ended_when_it_comes_is_not_remembered_again(void **state)
{
        rig_run(forgotten_heir_body);
}

/* A Work takes care of what another of its set had, which somebody deleted and nobody makes again. */
static void gone_from_caretaker_body(struct rig *r)
{
        static const struct part first = { "w", 1, 2, A }, second = { "w-1", 1, 2, B };
        struct agent a;

        begin(&a, r);
        make_part(r, "", &first);
        make_part(r, "", &second);
        wait_until_applied(r, "w", 1);
        wait_until_applied(r, "w-1", 1);
        delete (r, HUB, WORKS "/w-1");
        wait_for_owner(r, B_PATH, "w");
        assert_int_equal(fiber_sleep(r->loop, PATIENCE_MS), 0);
        assert_string_equal(owner_of(r, B_PATH), "w");
        get(r, MEMBER, APPLIED_WORKS "/w");
        assert_int_equal(json_array_size(doc_get_array(r->answer, "status.appliedResources")), 2);
        delete (r, MEMBER, B_PATH);
        assert_int_equal(fiber_sleep(r->loop, PATIENCE_MS), 0);
        get(r, MEMBER, APPLIED_WORKS "/w");
        assert_int_equal(json_array_size(doc_get_array(r->answer, "status.appliedResources")), 1);
        stop(&a);
}

static void what_is_gone_from_the_cluster_is_taken_care_of_no_more(void **state)
{
        rig_run(gone_from_caretaker_body);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(another_placement_that_waits_for_an_object_gets_it_as_it_is),
                cmocka_unit_test(many_objects_are_handed_over_with_few_looks_at_their_new_owner),
                cmocka_unit_test(an_heir_whose_applied_work_is_gone_gets_a_new_one),
                cmocka_unit_test(an_heir_made_anew_does_not_own_in_the_name_of_the_former),
                cmocka_unit_test(no_applied_work_is_made_for_an_heir_that_goes_or_is_gone),
                cmocka_unit_test(what_an_heir_wants_no_more_when_it_comes_is_removed),
                cmocka_unit_test(an_heir_that_has_ended_when_it_comes_is_not_remembered_again),
                cmocka_unit_test(what_others_want_is_found_out_again_before_anything_goes),
                cmocka_unit_test(what_is_gone_from_the_cluster_is_taken_care_of_no_more),
        };

        if (getenv("AGENT_TEST"))
                cmocka_set_test_filter(getenv("AGENT_TEST"));
        return cmocka_run_group_tests(tests, NULL, NULL);
}
