/* An AppliedWork says of which placement and snapshot it is, and since when. */
#include "member-agent/moves_test.h"

static const char *annotation(struct rig *r, const char *name)
{
        const char *const path[] = { "metadata", "annotations", name };
        const char *value;

        assert_int_equal(get(r, MEMBER, APPLIED_WORKS "/w"), 200);
        value = json_string_value(doc_get_keys(r->answer, path, ARRAY_LEN(path)));
        return value ? arena_strdup(&r->arena, value) : "";
}

#define PLACEMENT "kubernetes-fleet.io/placement"
#define SNAPSHOT "kubernetes-fleet.io/resource-snapshot-index"
#define SINCE "kubernetes-fleet.io/since"

RIG_TEST(an_applied_work_says_where_it_is_from_and_since_when, {
        const struct part first = { "w", 1, 1, A };
        const struct part second = { "w", 2, 1, CONFIG_MAP("a", "2") };
        const char *since;
        uint64_t patches;
        struct agent a;

        begin(&a, r);
        assert_int_equal(fiber_sleep(r->loop, 1000), 0);
        make_part(r, "", &first);
        wait_until_applied(r, "w", 1);
        assert_string_equal(annotation(r, PLACEMENT), "web");
        assert_string_equal(annotation(r, SNAPSHOT), "1");
        since = annotation(r, SINCE);
        assert_int_equal(strlen(since), 20);
        assert_int_equal(requests(r, "m1", "patch", "appliedworks"), 0); /* it was made so */
        assert_int_equal(fiber_sleep(r->loop, 60000), 0);
        assert_string_equal(annotation(r, SINCE), since);
        change_part(r, &second);
        wait_until_applied(r, "w", 2);
        assert_string_equal(annotation(r, SNAPSHOT), "2");
        assert_true(strcmp(annotation(r, SINCE), since) > 0);
        patches = requests(r, "m1", "patch", "appliedworks");
        assert_int_equal(patches, 1);
        assert_int_equal(fiber_sleep(r->loop, 60000), 0);
        assert_int_equal(requests(r, "m1", "patch", "appliedworks"), patches);
        stop(&a);
})

/* A snapshot that changes other Works of its placement names this one anew, and leaves its generation. */
RIG_TEST(it_says_what_the_work_is_of_now, {
        const struct part first = { "w", 1, 1, A };
        struct agent a;

        begin(&a, r);
        assert_int_equal(fiber_sleep(r->loop, 1000), 0);
        make_part(r, "", &first);
        wait_until_applied(r, "w", 1);
        assert_int_equal(fiber_sleep(r->loop, 5000000), 0); /* looks are rare by now */
        merge(r, HUB, WORKS "/w",
              "{'metadata':{'labels':{'kubernetes-fleet.io/parent-resource-snapshot-index':'2'}}}");
        assert_int_equal(fiber_sleep(r->loop, 2000), 0);
        assert_string_equal(annotation(r, SNAPSHOT), "2");
        stop(&a);
})

static int refuse_annotations(void *ctx, const struct http_request *rq)
{
        return text_equal(rq->method, "PATCH") && text_starts_with(rq->path, APPLIED_WORKS "/w?") ? 403 : 0;
}

RIG_TEST(who_may_not_say_it_reports_all_the_same, {
        const struct loopback_faults faults = { .fate = refuse_annotations };
        const struct part first = { "w", 1, 1, A };
        const struct part second = { "w", 2, 1, CONFIG_MAP("a", "2") };
        struct agent a;

        begin(&a, r);
        meet(&a, &faults);
        assert_int_equal(fiber_sleep(r->loop, 1000), 0);
        make_part(r, "", &first);
        wait_until_applied(r, "w", 1);
        change_part(r, &second);
        wait_until_applied(r, "w", 2);
        stop(&a);
})

RIG_TEST(a_work_of_no_placement_says_nothing, {
        struct agent a;

        begin(&a, r);
        place(r, "w", "", A);
        wait_for(r, HUB, WORKS "/w", "type=Available", "AllManifestsAvailable");
        assert_string_equal(annotation(r, PLACEMENT), "");
        assert_string_equal(annotation(r, SINCE), "");
        stop(&a);
})

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(an_applied_work_says_where_it_is_from_and_since_when),
                cmocka_unit_test(it_says_what_the_work_is_of_now),
                cmocka_unit_test(who_may_not_say_it_reports_all_the_same),
                cmocka_unit_test(a_work_of_no_placement_says_nothing),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
