/* What is known of an object is not asked again; what may have changed is. spec/member-agent.md 2.4. */
#include "member-agent/disk_test.h"

/* What the agent asks about the object a, watches aside, and which watches it has to do without. */
struct looks {
        size_t n;
        bool deaf; /* watches of objects are refused, and the open ones cut */
};

static bool is_watch(const struct http_request *rq)
{
        return strstr(rq->path, "watch=") || strstr(rq->path, "?limit=");
}

static int note_look(void *ctx, const struct http_request *rq)
{
        struct looks *looks = ctx;

        if (is_watch(rq))
                return looks->deaf && strstr(rq->path, "configmaps") ? 503 : 0;
        looks->n += text_starts_with(rq->path, CONFIG_MAP_PATH("a"));
        return 0;
}

static bool cut_deaf(void *ctx, const struct http_request *rq)
{
        return ((struct looks *)ctx)->deaf && strstr(rq->path, "configmaps");
}

static void wait_ms(struct rig *r, int64_t ms)
{
        assert_int_equal(fiber_sleep(r->loop, ms), 0);
}

/* The agent has applied a and b, and has had the time to see what it did. */
static void begin_settled(struct agent *a, struct rig *r, struct looks *looks, struct loopback_faults *faults)
{
        *looks = (struct looks){ 0 };
        *faults = (struct loopback_faults){ .ctx = looks, .fate = note_look, .cut_stream = cut_deaf };
        begin(a, r);
        meet(a, faults);
        place(r, "w", "", CONFIG_MAP("a", "1") "," CONFIG_MAP("b", "1"));
        wait_for(r, MEMBER, CONFIG_MAP_PATH("b"), "data.k", "1");
        wait_ms(r, 5000);
        looks->n = 0;
}

/* How often a is asked about in a pass that another object calls for. */
static size_t looks_at_a(struct rig *r, struct looks *looks)
{
        looks->n = 0;
        replace_manifests(r, "w", CONFIG_MAP("a", "1") "," CONFIG_MAP("b", "2"));
        wait_ms(r, 2000);
        return looks->n;
}

static void untouched_body(struct rig *r)
{
        struct loopback_faults faults;
        struct looks looks;
        struct agent a;

        begin_settled(&a, r, &looks, &faults);
        assert_int_equal(looks_at_a(r, &looks), 0);
        get(r, MEMBER, CONFIG_MAP_PATH("b"));
        assert_string_equal(rig_string(r, "data.k"), "2");
        wait_ms(r, 60000);
        assert_int_equal(looks.n, 0);
        stop(&a);
}

static void an_object_that_nobody_touched_is_not_asked_about(void **state)
{
        rig_run(untouched_body);
}

static void strategy_body(struct rig *r)
{
        const char *change = *(const char *const *)r->ctx;
        struct loopback_faults faults;
        struct looks looks;
        struct agent a;

        begin_settled(&a, r, &looks, &faults);
        merge(r, HUB, WORKS "/w", arena_printf(&r->arena, "{'spec':{%s}}", change));
        wait_ms(r, 2000);
        if (looks.n == 0)
                fail_msg("%s: nobody looked", change);
        stop(&a);
}

#define BACK_TO_ORIGINAL "'reportBackStrategy':{'type':'Mirror','destination':'OriginalResource'}"

static void a_changed_strategy_has_every_object_looked_at(void **state)
{
        static const char *const changes[] = { "'applyStrategy':{'comparisonOption':'FullComparison'}",
                                               "'applyStrategy':{'whenToApply':'IfNotDrifted'}",
                                               "'applyStrategy':{'whenToTakeOver':'IfNoDiff'}",
                                               "'applyStrategy':{'allowCoOwnership':true}",
                                               "'applyStrategy':{'type':'ReportDiff'}",
                                               "'applyStrategy':{'type':'ServerSideApply'}",
                                               BACK_TO_ORIGINAL };

        for (size_t i = 0; i < ARRAY_LEN(changes); i++)
                rig_run_for(strategy_body, (void *)(uintptr_t)&changes[i]);
}

/* What a status tells of an object in detail is kept nowhere: it is looked at in every pass. */
static void details_body(struct rig *r)
{
        struct loopback_faults faults;
        struct looks looks;
        struct agent a;

        begin_settled(&a, r, &looks, &faults);
        merge(r, HUB, WORKS "/w",
              arena_printf(&r->arena, "{'spec':{'applyStrategy':{'comparisonOption':'FullComparison'%s}}}",
                           *(const char *const *)r->ctx));
        merge(r, MEMBER, CONFIG_MAP_PATH("a"), "{'data':{'mine':'x'}}");
        wait_ms(r, 5000);
        get(r, HUB, WORKS "/w");
        assert_non_null(strstr(r->text, "\"path\":\"/data/mine\""));
        assert_true(looks_at_a(r, &looks) > 0);
        get(r, HUB, WORKS "/w");
        assert_non_null(strstr(r->text, "\"path\":\"/data/mine\""));
        stop(&a);
}

static void drifts_and_differences_are_still_told_after_another_object_changed(void **state)
{
        static const char *const strategies[] = { "", ",'type':'ReportDiff'" };

        for (size_t i = 0; i < ARRAY_LEN(strategies); i++)
                rig_run_for(details_body, (void *)(uintptr_t)&strategies[i]);
}

static void old_body(struct rig *r)
{
        struct loopback_faults faults;
        struct looks looks;
        struct agent a;

        begin_settled(&a, r, &looks, &faults);
        loop_shift_wall(r->loop, 14 * 60 * 1000);
        assert_int_equal(looks_at_a(r, &looks), 0);
        loop_shift_wall(r->loop, 60 * 1000);
        replace_manifests(r, "w", CONFIG_MAP("a", "1") "," CONFIG_MAP("b", "3"));
        wait_ms(r, 2000);
        assert_true(looks.n > 0);
        stop(&a);
}

static void what_was_seen_a_quarter_of_an_hour_ago_is_looked_at(void **state)
{
        rig_run(old_body);
}

static void back_body(struct rig *r)
{
        struct loopback_faults faults;
        struct looks looks;
        struct agent a;

        begin_settled(&a, r, &looks, &faults);
        loop_shift_wall(r->loop, -60 * 1000);
        assert_true(looks_at_a(r, &looks) > 0);
        stop(&a);
}

static void what_was_seen_in_the_future_is_looked_at(void **state)
{
        rig_run(back_body);
}

static void deaf_body(struct rig *r)
{
        struct loopback_faults faults;
        struct looks looks;
        struct agent a;

        begin_settled(&a, r, &looks, &faults);
        looks.deaf = true;
        merge(r, MEMBER, CONFIG_MAP_PATH("a"), "{'data':{'k':'theirs'}}"); /* it cuts the watch */
        assert_true(looks_at_a(r, &looks) > 0);
        get(r, MEMBER, CONFIG_MAP_PATH("a"));
        assert_string_equal(rig_string(r, "data.k"), "1");
        stop(&a);
}

static void while_its_kind_is_not_watched_an_object_is_looked_at(void **state)
{
        rig_run(deaf_body);
}

/* ---- started again ---- */

struct late_list {
        int64_t takes_ms; /* that of the ConfigMaps */
        bool refused;
        size_t n;
};

static bool is_list(const struct http_request *rq)
{
        return text_equal(rq->endpoint->base_url, MEMBER) &&
               text_starts_with(rq->path, "/api/v1/configmaps?limit=");
}

static int64_t delay_list(void *ctx, const struct http_request *rq, bool answer)
{
        struct late_list *list = ctx;

        list->n += is_list(rq) && answer;
        return is_list(rq) && answer ? list->takes_ms : 0;
}

static int refuse_list(void *ctx, const struct http_request *rq)
{
        return is_list(rq) && ((struct late_list *)ctx)->refused ? 403 : 0;
}

/* An agent with a and b at rest ends and starts again on its state file, with such a list. Returns what it
 * has read of the two within a time. */
static uint64_t reads_of_restarted(struct rig *r, struct late_list *list, int64_t within_ms)
{
        const struct loopback_faults faults = { .ctx = list, .fate = refuse_list, .delay = delay_list };
        struct sim_disk *disk = sim_disk_new(r->loop);
        struct agent a;
        uint64_t before;
        uint64_t n;

        prepare_clusters(r);
        invite(r);
        start_on(&a, r, disk);
        place(r, "w", "", CONFIG_MAP("a", "1") "," CONFIG_MAP("b", "1"));
        wait_for(r, HUB, WORKS "/w", "type=Available", "AllManifestsAvailable");
        wait_ms(r, 5000);
        stop(&a);
        before = requests(r, "m1", "get", "configmaps");
        start_on(&a, r, disk);
        meet(&a, &faults);
        wait_ms(r, within_ms);
        n = requests(r, "m1", "get", "configmaps") - before;
        stop(&a);
        sim_disk_free(disk);
        return n;
}

RIG_TEST(a_restarted_agent_reads_nothing_that_its_watches_will_tell, {
        struct late_list list = { .takes_ms = 1000 };
        assert_int_equal(reads_of_restarted(r, &list, 10000), 0);
        assert_int_equal(list.n, 1);
})

RIG_TEST(a_restarted_agent_waits_two_seconds_for_a_list, {
        struct late_list list = { .takes_ms = 60000 };
        assert_int_equal(reads_of_restarted(r, &list, 1900), 0);
        assert_int_equal(list.n, 1);
})

RIG_TEST(a_restarted_agent_waits_no_longer_for_a_list, {
        struct late_list list = { .takes_ms = 60000 };
        assert_in_range(reads_of_restarted(r, &list, 2100), 2, 4); /* in one pass, or in the next, too */
})

RIG_TEST(a_restarted_agent_does_not_wait_for_a_list_that_is_refused, {
        struct late_list list = { .refused = true };
        assert_in_range(reads_of_restarted(r, &list, 100), 2, 4);
})

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(an_object_that_nobody_touched_is_not_asked_about),
                cmocka_unit_test(a_changed_strategy_has_every_object_looked_at),
                cmocka_unit_test(drifts_and_differences_are_still_told_after_another_object_changed),
                cmocka_unit_test(what_was_seen_a_quarter_of_an_hour_ago_is_looked_at),
                cmocka_unit_test(what_was_seen_in_the_future_is_looked_at),
                cmocka_unit_test(while_its_kind_is_not_watched_an_object_is_looked_at),
                cmocka_unit_test(a_restarted_agent_reads_nothing_that_its_watches_will_tell),
                cmocka_unit_test(a_restarted_agent_waits_two_seconds_for_a_list),
                cmocka_unit_test(a_restarted_agent_waits_no_longer_for_a_list),
                cmocka_unit_test(a_restarted_agent_does_not_wait_for_a_list_that_is_refused),
        };

        if (getenv("AGENT_TEST"))
                cmocka_set_test_filter(getenv("AGENT_TEST"));
        return cmocka_run_group_tests(tests, NULL, NULL);
}
