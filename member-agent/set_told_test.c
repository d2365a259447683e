/* Events and metrics of sets, and the records that are kept: spec/cluster-object-set.md 16.3, 18. */
#include "common/ctrl/metrics.h"
#include "member-agent/object_set_test.h"

static int64_t events_of(struct rig *r, const char *set, const char *type, const char *reason)
{
        size_t i;
        json_t *e;
        int64_t n = 0;

        get(r, MEMBER, NS "/default/events");
        json_array_foreach(doc_get_array(r->answer, "items"), i, e)
                if (text_equal(doc_get_string(e, "reason"), reason) &&
                    text_equal(doc_get_string(e, "type"), type) &&
                    text_equal(doc_get_string(e, "involvedObject.name"), set))
                        n += doc_get_int(e, "count", 1);
        return n;
}

#define C(value) INLINE(CONFIG_MAP("c", value))
#define FOREIGN CONFIG_MAP("d", "theirs")

/* spec/cluster-object-set.md checklist 100 */
RIG_TEST(each_change_of_a_set_is_told_once, {
        struct agent a;

        begin_sets(&a, r);
        post(r, MEMBER, CONFIG_MAPS, FOREIGN);
        post(r, MEMBER, SETS,
             SET("app-1", OWNED_BY("app"), "1", "",
                 PHASE("one", C("1")) "," PHASE("two", INLINE(CONFIG_MAP("d", "1")))));
        wait_for_set(r, "app-1", "Progressing", "True/Retrying");
        settle(r, 60000);
        assert_int_equal(events_of(r, "app-1", "Warning", "Collision"), 1);
        delete (r, MEMBER, CONFIG_MAP_PATH("d"));
        wait_for_set(r, "app-1", "Succeeded", "True/Succeeded");
        merge(r, MEMBER, SETS "/app-1", ARCHIVED);
        wait_for_set(r, "app-1", "Progressing", "False/Archived");
        settle(r, 60000);
        assert_int_equal(events_of(r, "app-1", "Normal", "PhaseCompleted"), 2);
        assert_int_equal(events_of(r, "app-1", "Normal", "RolledOut"), 1);
        assert_int_equal(events_of(r, "app-1", "Normal", "Archived"), 1);
        stop(&a);
})

static void expect(struct agent *a, const char *line)
{
        AUTO_BUF struct buf text;

        buf_init(&text, 8 << 20);
        assert_int_equal(metrics_print(a->options.metrics, &text), 0);
        if (!strstr(text.data, line))
                fail_msg("there is no %s in %s", line, text.data);
}

RIG_TEST(sets_are_counted, {
        struct agent a;

        begin_sets(&a, r);
        a.options.metrics = metrics_new(METRIC_OF_MEMBER);
        post(r, MEMBER, SETS, SET("app-1", OWNED_BY("app"), "1", "", PHASE("one", C("1"))));
        wait_for_set(r, "app-1", "Succeeded", "True/Succeeded");
        settle(r, 5000);
        expect(&a, "argosy_object_sets{state=\"Active\",reason=\"Succeeded\"} 1\n");
        expect(&a, "argosy_object_sets{state=\"Active\",reason=\"Retrying\"} 0\n");
        expect(&a, "argosy_object_set_objects 1\n");
        expect(&a, "argosy_object_set_rollout_seconds_count 1\n");
        merge(r, MEMBER, CONFIG_MAP_PATH("c"), "{'data':{'k':'theirs'}}");
        wait_for(r, MEMBER, CONFIG_MAP_PATH("c"), "data.k", "1");
        delete (r, MEMBER, CONFIG_MAP_PATH("c"));
        wait_for(r, MEMBER, CONFIG_MAP_PATH("c"), "data.k", "1");
        settle(r, 5000);
        expect(&a, "argosy_object_set_corrections_total 2\n");
        expect(&a, "argosy_object_set_rollout_seconds_count 1\n");
        stop(&a);
        a.options.metrics = metrics_free(a.options.metrics);
})

/* spec/cluster-object-set.md checklist 93 */
RIG_TEST(the_newest_five_archived_revisions_are_kept, {
        struct agent a;

        begin_sets(&a, r);
        for (int i = 1; i <= 8; i++) {
                const char *name = arena_printf(&r->arena, "app-%d", i);

                post(r, MEMBER, SETS,
                     arena_printf(&r->arena,
                                  SET("app-%d", OWNED_BY("app"), "%d", "",
                                      PHASE("one", INLINE(CONFIG_MAP("c", "%d")))),
                                  i, i, i));
                wait_for_set(r, name, "Succeeded", "True/Succeeded");
                settle(r, 5000);
        }
        settle(r, 30000);
        assert_int_equal(get(r, MEMBER, SETS), 200);
        assert_int_equal(json_array_size(doc_get_array(r->answer, "items")), 6);
        assert_int_equal(get(r, MEMBER, SETS "/app-2"), 404);
        assert_int_equal(get(r, MEMBER, SETS "/app-3"), 200);
        stop(&a);
})

/* Each has a label of its own at first, so that none archives another. */
static void make_set(struct rig *r, int i)
{
        const char *name = arena_printf(&r->arena, "app-%d", i);

        post(r, MEMBER, SETS,
             arena_printf(&r->arena,
                          SET("app-%d", OWNED_BY("app-%d"), "%d", "",
                              PHASE("one", INLINE(CONFIG_MAP("c%d", "1")))),
                          i, i, i, i));
        wait_for_set(r, name, "Succeeded", "True/Succeeded");
}

static void archive_set(struct rig *r, int i)
{
        const char *name = arena_printf(&r->arena, "app-%d", i);

        merge(r, MEMBER, arena_printf(&r->arena, SETS "/%s", name),
              "{'metadata':{" OWNED_BY("app") "},'spec':{'lifecycleState':'Archived'}}");
        wait_for_set(r, name, "Progressing", "False/Archived");
}

/* It arrives, and nobody hears of it: that "app-1" has its finalizer no more. */
static int lose_answer(void *ctx, const struct http_request *rq)
{
        bool *on = ctx;

        if (!*on || !text_equal(rq->method, "PATCH") || !strstr(rq->path, "/clusterobjectsets/app-1?"))
                return 0;
        *on = false;
        return ERR_CLOSED;
}

/* spec/cluster-object-set.md 16.3: nobody comes after it who would. */
static void archive_oldest_last(struct rig *r, bool lossy)
{
        bool loses = false;
        struct loopback_faults faults = { .ctx = &loses, .fate = lose_answer };
        struct agent a;

        begin_sets(&a, r);
        meet(&a, &faults);
        for (int i = 1; i <= 6; i++)
                make_set(r, i);
        for (int i = 2; i <= 6; i++)
                archive_set(r, i);
        settle(r, 5000);
        loses = lossy;
        merge(r, MEMBER, SETS "/app-1",
              "{'metadata':{" OWNED_BY("app") "},'spec':{'lifecycleState':'Archived'}}");
        settle(r, 10000);
        assert_false(loses);
        assert_int_equal(get(r, MEMBER, SETS "/app-1"), 404);
        assert_int_equal(get(r, MEMBER, SETS "/app-2"), 200);
        stop(&a);
}
RIG_TEST(the_oldest_goes_though_it_is_archived_last, { archive_oldest_last(r, false); })
RIG_TEST(the_oldest_goes_though_no_pass_saw_that_it_was_done, { archive_oldest_last(r, true); })

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(each_change_of_a_set_is_told_once),
                cmocka_unit_test(sets_are_counted),
                cmocka_unit_test(the_newest_five_archived_revisions_are_kept),
                cmocka_unit_test(the_oldest_goes_though_it_is_archived_last),
                cmocka_unit_test(the_oldest_goes_though_no_pass_saw_that_it_was_done),
        };

        if (getenv("AGENT_TEST"))
                cmocka_set_test_filter(getenv("AGENT_TEST"));
        return cmocka_run_group_tests(tests, NULL, NULL);
}
