/* The timeline as rows: what is sent, to whom, and how little where nothing is new. */
#include "kubectl-fleet/page/journal_test.h"

extern const struct page_view timeline_page_view;

struct wall {
        struct story story; /* first: for the story's own set-up */
        struct scene *scene;
};

static int set_up(void **state)
{
        struct wall *w = NEW(struct wall);
        void *scene = NULL;

        w->story.now_ms = NOON;
        w->story.journal = page_journal_new(NOON, 0, 0);
        scene_set_up(&scene);
        w->scene = scene;
        w->scene->journal = w->story.journal;
        *state = w;
        return w->story.journal ? 0 : -1;
}

static int tear_down(void **state)
{
        struct wall *w = *state;
        void *scene = w->scene;

        scene_tear_down(&scene);
        return story_tear_down(state);
}
#define WALL_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

static void put_fleet(struct wall *w)
{
        struct story *y = &w->story;

        story_cluster(y, true, "a", "True", "2025-12-31T10:05:00Z");
        story_placement(y, true, "1", "True", "2025-12-31T11:00:03Z");
        story_put(y, true, &cluster_staged_update_run_kind,
                  "{" OBJECT("r", "2025-12-31T12:00:00Z") "},'spec':{'placementName':'web'}}");
        story_put(y, true, &cluster_approval_request_kind,
                  "{" OBJECT("q", "2025-12-31T12:10:00Z") "},'spec':{'parentStageRollout':'r','targetStage':'"
                                                          "canary'}}");
        story_put(y, true, &staged_update_run_kind,
                  "{'metadata':{'name':'n','namespace':'team','uid':'u','creationTimestamp':'2025-12-31T12:"
                  "00:00Z'},"
                  "'spec':{'placementName':'api'}}");
        story_put(y, true, &staged_update_run_kind,
                  "{'metadata':{'name':'n','namespace':'others','uid':'v','creationTimestamp':'2025-12-31T12:"
                  "00:00Z'},"
                  "'spec':{'placementName':'api'}}");
}

static void entries_and_subjects_are_rows(void **state)
{
        struct wall *w = *state;
        struct scene *s = w->scene;

        put_fleet(w);
        scene_look(s, &timeline_page_view);
        assert_has(scene_head(s), "{'began':1767225600000,'of':'','from':null,'subjects':6}");
        assert_has(scene_row(s, "entries", "0000000001"),
                   "{'at':1767175200000,'of':'cluster/a','what':'life','was':'','is':'there','told':true}");
        assert_has(scene_row(s, "entries", "0000000004"),
                   "{'of':'cluster/a','what':'word','was':null,'is':'healthy','tone':'done'}");
        assert_has(scene_row(s, "subjects", "cluster/a"),
                   "{'life':'there','word':'healthy','tone':'done','cordon':''}");
        assert_has(scene_row(s, "subjects", "crp/web"),
                   "{'word':'available','revision':'1','progress':'1 of 1'}");
        assert_has(scene_row(s, "subjects", "csur/r"), "{'of':'crp/web'}");
}

static void what_is_new_is_sent_alone(void **state)
{
        struct wall *w = *state;
        struct scene *s = w->scene;

        put_fleet(w);
        scene_look(s, &timeline_page_view);
        scene_look(s, &timeline_page_view);
        assert_int_equal(s->bytes_sent, 0);
        w->story.now_ms = NOON + 5000;
        story_cluster(&w->story, false, "a", "False", "2026-01-01T00:00:03Z");
        scene_look(s, &timeline_page_view);
        assert_int_equal(s->rows_sent, 2); /* the entry, the cluster */
        assert_has(scene_row(s, "subjects", "cluster/a"), "{'word':'not healthy','tone':'failed'}");
}

static void entries_that_went_are_gone(void **state)
{
        struct wall *w = *state;
        struct scene *s = w->scene;

        page_journal_free(w->story.journal);
        s->journal = w->story.journal = page_journal_new(NOON, 3, 0);
        put_fleet(w);
        scene_look(s, &timeline_page_view);
        assert_int_equal(scene_rows(s, "entries"), 3);
        assert_true(doc_get_int(scene_head(s), "dropped", 0) > 0);
        assert_true(doc_get_int(scene_head(s), "from", 0) > 0);
}

static void one_is_shown_with_what_belongs_to_it(void **state)
{
        struct wall *w = *state;
        struct scene *s = w->scene;

        put_fleet(w);
        scene_args(s, "{'of':'crp/web'}");
        scene_put(s, &cluster_resource_snapshot_kind,
                  "{'metadata':{'name':'web-1-snapshot','uid':'s','creationTimestamp':'2025-12-31T11:00:01Z',"
                  "'labels':{"
                  "'kubernetes-fleet.io/parent-CRP':'web','kubernetes-fleet.io/resource-index':'1'}}}");
        scene_put(s, &cluster_resource_snapshot_kind,
                  "{'metadata':{'name':'other-1-snapshot','uid':'s','creationTimestamp':'2025-12-31T11:00:"
                  "01Z','labels':{"
                  "'kubernetes-fleet.io/parent-CRP':'other','kubernetes-fleet.io/resource-index':'1'}}}");
        scene_look(s, &timeline_page_view);
        assert_int_equal(scene_rows(s, "subjects"), 3); /* the placement, its run, that one's approval */
        assert_has(scene_row(s, "entries", "web-1-snapshot"),
                   "{'what':'snapshot','is':'1','of':'crp/web','at':1767178801000,'told':true}");
        assert_null(scene_row(s, "entries", "other-1-snapshot"));
        scene_args(s, "{'of':'csur/r'}");
        scene_look(s, &timeline_page_view);
        assert_int_equal(scene_rows(s, "subjects"), 2);
        scene_args(s, "{'of':'sur/team/n'}");
        scene_look(s, &timeline_page_view);
        assert_int_equal(scene_rows(s, "subjects"), 1);
        assert_non_null(scene_row(s, "subjects", "sur/team/n"));
}

static void what_was_before_is_left_out_where_that_is_asked(void **state)
{
        struct wall *w = *state;
        struct scene *s = w->scene;

        put_fleet(w);
        scene_args(s, "{'from':'1767182400000'}"); /* 12:00 */
        scene_look(s, &timeline_page_view);
        assert_null(scene_row(s, "entries", "0000000001"));
        assert_true(scene_rows(s, "entries") > 0);
}

/* What may not be listed has neither entries nor a row. */
static void who_may_not_list_a_kind_sees_nothing_of_it(void **state)
{
        struct wall *w = *state;
        struct scene *s = w->scene;

        put_fleet(w);
        s->unreadable = &cluster_resource_placement_kind;
        scene_look(s, &timeline_page_view);
        assert_null(scene_row(s, "subjects", "crp/web"));
        assert_false(scene_shows(s, "available"));
        assert_non_null(scene_row(s, "subjects", "csur/r"));
}

/* May not list runs of all namespaces: those of the one that is asked for are read, and nothing of others. */
static void who_may_list_in_a_namespace_sees_that(void **state)
{
        struct wall *w = *state;
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct page_needs first = { 0 }, second = { 0 };
        struct page_look l = { .arena = &arena, .journal = w->story.journal, .now_ms = NOON };
        AUTO_JSON json_t *args = scene_parse("{'of':'sur/team/n'}");
        const struct page_need *runs;

        l.args = args;
        assert_int_equal(timeline_page_view.need(&l, &first, NULL), 0);
        l.needs = &first;
        runs = page_need_of(&l, &staged_update_run_kind, 0);
        assert_null(runs->fetch.ns);
        first.at[0].problem = "may not be listed";
        assert_int_equal(timeline_page_view.need(&l, &second, NULL), 0);
        l.needs = &second;
        assert_string_equal(page_need_of(&l, &staged_update_run_kind, 0)->fetch.ns, "team");
        second.at[0].filled = true;
        memset(&first, 0, sizeof(first));
        assert_int_equal(timeline_page_view.need(&l, &first, NULL), 0);
        l.needs = &first;
        assert_string_equal(page_need_of(&l, &staged_update_run_kind, 0)->fetch.ns,
                            "team"); /* and so it stays */
}

static void what_a_link_asks_has_to_make_sense(void **state)
{
        static const char *const wrong[] = { "{'of':'web'}",         "{'of':'crp/'}",
                                             "{'of':'sur/r'}",       "{'of':'what/a'}",
                                             "{'of':'crp/A B'}",     "{'of':'rp/no no/a'}",
                                             "{'from':'yesterday'}", "{'from':[1]}" };
        struct wall *w = *state;

        for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
                scene_args(w->scene, wrong[i]);
                assert_int_equal(scene_try(w->scene, &timeline_page_view), ERR_INVALID);
                assert_true(strncmp(w->scene->err.text, "of: ", 4) == 0 ||
                            strncmp(w->scene->err.text, "from: ", 6) == 0);
        }
}

static void any_allocation_may_fail(void **state)
{
        struct wall *w = *state;
        struct scene *s = w->scene;
        bool fired = true;

        put_fleet(w);
        scene_args(s, "{'of':'crp/web'}");
        scene_put(s, &cluster_resource_snapshot_kind,
                  "{'metadata':{'name':'web-1-snapshot','uid':'s','creationTimestamp':'2025-12-31T11:00:01Z',"
                  "'labels':{"
                  "'kubernetes-fleet.io/parent-CRP':'web','kubernetes-fleet.io/resource-index':'1'}}}");
        for (uint64_t n = 1; fired; n++) {
                int code = scene_look_failing(s, &timeline_page_view, n, &fired);

                assert_true(code == 0 || (fired && code == ERR_NO_MEMORY));
        }
        scene_look(s, &timeline_page_view);
        assert_int_equal(scene_rows(s, "subjects"), 3);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                WALL_TEST(entries_and_subjects_are_rows),
                WALL_TEST(what_is_new_is_sent_alone),
                WALL_TEST(entries_that_went_are_gone),
                WALL_TEST(one_is_shown_with_what_belongs_to_it),
                WALL_TEST(what_was_before_is_left_out_where_that_is_asked),
                WALL_TEST(who_may_not_list_a_kind_sees_nothing_of_it),
                WALL_TEST(who_may_list_in_a_namespace_sees_that),
                WALL_TEST(what_a_link_asks_has_to_make_sense),
                WALL_TEST(any_allocation_may_fail),
        };

        mem_hook_libraries();
        return cmocka_run_group_tests(tests, NULL, NULL);
}
