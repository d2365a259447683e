/* What the journal writes down, and what it forgets. */
#include "kubectl-fleet/page/journal_test.h"

#define HOUR INT64_C(3600000)
#define LONG_AGO "2025-12-31T10:05:00Z"
#define LONG_AGO_MS (NOON - 13 * HOUR - 55 * 60000)

static void an_object_of_before_tells_what_it_knows(void **state)
{
        struct story *y = *state;
        const struct journal_entry *made, *word, *turned;

        story_cluster(y, true, "a", "True", LONG_AGO);
        made = story_entry(y, "cluster/a", JOURNAL_LIFE, "there");
        assert_int_equal(made->at_ms, NOON - 14 * HOUR);
        assert_string_equal(made->was, "");
        assert_true(made->told);
        word = story_entry(y, "cluster/a", JOURNAL_WORD, "healthy");
        assert_int_equal(word->at_ms, LONG_AGO_MS);
        assert_null(word->was);
        assert_true(word->told);
        turned = story_entry(y, "cluster/a", JOURNAL_CONDITION, "Healthy is True");
        assert_int_equal(turned->at_ms, LONG_AGO_MS);
        assert_int_equal(turned->tone, JOURNAL_DONE);
        assert_string_equal(turned->text, "R: about health");
        assert_int_equal(story_count(y), 4);
}

static void a_word_that_becomes_another_is_an_entry(void **state)
{
        struct story *y = *state;
        const struct journal_entry *e;

        story_cluster(y, true, "a", "True", LONG_AGO);
        y->now_ms = NOON + 5000;
        story_cluster(y, false, "a", "False", "2026-01-01T00:00:03Z");
        e = story_entry(y, "cluster/a", JOURNAL_WORD, "not healthy");
        assert_string_equal(e->was, "healthy");
        assert_int_equal(e->was_tone, JOURNAL_DONE);
        assert_int_equal(e->tone, JOURNAL_FAILED);
        assert_string_equal(e->text, "about health");
        assert_int_equal(e->at_ms, NOON + 3000); /* as the condition tells */
        assert_false(e->told);
        assert_int_equal(story_count(y), 5);
}

static void what_tells_no_time_happened_when_it_was_seen(void **state)
{
        struct story *y = *state;

        story_placement(y, true, "1", "True", "2025-12-31T11:00:03Z");
        y->now_ms = NOON + 5000;
        story_placement(y, false, "2", "True", "2025-12-31T11:00:03Z");
        assert_int_equal(story_entry(y, "crp/web", JOURNAL_REVISION, "2")->at_ms, NOON + 5000);
        assert_string_equal(story_entry(y, "crp/web", JOURNAL_REVISION, "2")->was, "1");
}

static void a_placement_breaks_and_is_mended(void **state)
{
        struct story *y = *state;
        const struct journal_entry *broken;

        story_placement(y, true, "1", "True", "2025-12-31T11:00:03Z");
        assert_non_null(story_entry(y, "crp/web", JOURNAL_WORD, "available"));
        assert_non_null(story_entry(y, "crp/web", JOURNAL_CONDITION, "Scheduled is True"));
        y->now_ms = NOON + 20000;
        story_placement(y, false, "1", "False", "2026-01-01T00:00:20Z");
        broken = story_entry(y, "crp/web", JOURNAL_WORD, "failed");
        assert_string_equal(broken->was, "available");
        assert_string_equal(broken->text, "Wrong: no such field");
        assert_string_equal(story_entry(y, "crp/web", JOURNAL_PROGRESS, "0 of 1, 1 failed")->was, "1 of 1");
        y->now_ms = NOON + 40000;
        story_placement(y, false, "1", "True", "2026-01-01T00:00:40Z");
        assert_string_equal(story_entry(y, "crp/web", JOURNAL_WORD, "available")->was, "failed");
        assert_string_equal(page_journal_subject(y->journal, "crp/web")->state[JOURNAL_WORD].text,
                            "available");
}

static void progress_within_seconds_is_one_entry(void **state)
{
        struct story *y = *state;
        const struct journal_entry *e;

        story_placement(y, true, "1", "True", "2025-12-31T11:00:03Z");
        y->now_ms = NOON + 1000;
        story_placement(y, false, "1", "Unknown", "2026-01-01T00:00:01Z");
        e = story_entry(y, "crp/web", JOURNAL_PROGRESS, "0 of 1");
        assert_int_equal(e->version, 0);
        y->now_ms = NOON + 9000;
        story_placement(y, false, "1", "True", "2026-01-01T00:00:09Z");
        assert_ptr_equal(story_entry(y, "crp/web", JOURNAL_PROGRESS, "1 of 1"), e);
        assert_string_equal(e->was, "1 of 1");
        assert_int_equal(e->version, 1);
        y->now_ms = NOON + 60000;
        story_placement(y, false, "1", "Unknown", "2026-01-01T00:01:00Z");
        assert_ptr_not_equal(story_entry(y, "crp/web", JOURNAL_PROGRESS, "0 of 1"), e);
}

static void what_fails_within_seconds_is_an_entry_of_its_own(void **state)
{
        struct story *y = *state;

        story_placement(y, true, "1", "True", "2025-12-31T11:00:03Z");
        y->now_ms = NOON + 1000;
        story_placement(y, false, "1", "False", "2026-01-01T00:00:01Z");
        y->now_ms = NOON + 2000;
        story_placement(y, false, "1", "True", "2026-01-01T00:00:02Z");
        assert_string_equal(story_entry(y, "crp/web", JOURNAL_PROGRESS, "0 of 1, 1 failed")->was, "1 of 1");
        assert_string_equal(story_entry(y, "crp/web", JOURNAL_PROGRESS, "1 of 1")->was, "0 of 1, 1 failed");
}

static void what_is_seen_again_is_not_written_again(void **state)
{
        struct story *y = *state;
        size_t n;

        story_cluster(y, true, "a", "True", LONG_AGO);
        story_placement(y, true, "1", "True", "2025-12-31T11:00:03Z");
        n = story_count(y);
        y->now_ms = NOON + HOUR;
        story_cluster(y, true, "a", "True", LONG_AGO); /* another version, from a relist */
        story_placement(y, false, "1", "True", "2025-12-31T11:00:03Z");
        for (size_t i = 0; i < y->n_held; i++)
                story_take(y, NULL, y->held[i], true); /* as if the informer had begun anew */
        assert_int_equal(story_count(y), n);
}

static void what_a_relist_finds_is_told(void **state)
{
        struct story *y = *state;
        const struct journal_entry *e;

        story_cluster(y, true, "a", "True", LONG_AGO);
        y->now_ms = NOON + HOUR;
        story_cluster(y, true, "a", "False", "2026-01-01T00:30:00Z");
        e = story_entry(y, "cluster/a", JOURNAL_WORD, "not healthy");
        assert_true(e->told);
        assert_int_equal(e->at_ms, NOON + HOUR / 2);
}

static void what_goes_and_comes_again_is_another(void **state)
{
        struct story *y = *state;

        story_cluster(y, true, "a", "True", LONG_AGO);
        y->now_ms = NOON + 1000;
        story_remove(y, &member_cluster_kind, "a");
        assert_int_equal(story_entry(y, "cluster/a", JOURNAL_LIFE, "gone")->at_ms, NOON + 1000);
        assert_string_equal(page_journal_subject(y->journal, "cluster/a")->state[JOURNAL_LIFE].text, "gone");
        y->now_ms = NOON + 2000;
        story_put(
                y, false, &member_cluster_kind,
                "{'metadata':{'name':'a','uid':'u2','creationTimestamp':'2026-01-01T00:00:02Z'},'spec':{}}");
        assert_string_equal(story_entry(y, "cluster/a", JOURNAL_LIFE, "there")->was, "gone");
        assert_false(story_entry(y, "cluster/a", JOURNAL_LIFE, "there")->told);
        assert_string_equal(page_journal_subject(y->journal, "cluster/a")->state[JOURNAL_WORD].text,
                            "not joined");
}

/* Deleted and made again while nobody watched: a list has another one of that name. */
static void another_object_of_the_same_name_is_told_apart(void **state)
{
        struct story *y = *state;

        story_cluster(y, true, "a", "True", LONG_AGO);
        y->now_ms = NOON + HOUR;
        story_put(
                y, true, &member_cluster_kind,
                "{'metadata':{'name':'a','uid':'u2','creationTimestamp':'2026-01-01T00:30:00Z'},'spec':{}}");
        assert_string_equal(story_entry(y, "cluster/a", JOURNAL_LIFE, "gone")->was, "there");
        assert_string_equal(story_entry(y, "cluster/a", JOURNAL_LIFE, "there")->was, "gone");
}

static void a_run_tells_its_stages(void **state)
{
        struct story *y = *state;
        const struct journal_entry *e;

        story_put(
                y, true, &cluster_staged_update_run_kind,
                "{" OBJECT(
                        "r",
                        "2025-12-31T12:00:00Z") "},'spec':{'placementName':'web'},'status':{"
                                                "'resourceSnapshotIndexUsed':'3','conditions':"
                                                "[" TURNED("Initialized", "True", "R", "", "2025-12-31T12:00:01Z") "," TURNED(
                                                        "Progressing", "True", "R", "",
                                                        "2025-12-31T12:00:02Z") "],'stagesStatus':[{'"
                                                                                "stageName':'canary',"
                                                                                "'clusters':[],'"
                                                                                "startTime':'2025-12-"
                                                                                "31T12:00:02Z','"
                                                                                "endTime':'2025-12-"
                                                                                "31T12:10:00Z','"
                                                                                "conditions':"
                                                                                "[" TURNED(
                                                                                        "Succeeded", "True",
                                                                                        "R", "",
                                                                                        "2025-12-"
                                                                                        "31T12:10:"
                                                                                        "00Z") "]},{'"
                                                                                               "stage"
                                                                                               "Name'"
                                                                                               ":'"
                                                                                               "prod'"
                                                                                               ",'"
                                                                                               "clust"
                                                                                               "ers':"
                                                                                               "[],"
                                                                                               "'star"
                                                                                               "tTime"
                                                                                               "':'"
                                                                                               "2025-"
                                                                                               "12-"
                                                                                               "31T12"
                                                                                               ":11:"
                                                                                               "00Z',"
                                                                                               "'cond"
                                                                                               "ition"
                                                                                               "s':"
                                                                                               "[" TURNED(
                                                                                                       "Progr"
                                                                                                       "essin"
                                                                                                       "g",
                                                                                                       "True",
                                                                                                       "R",
                                                                                                       "",
                                                                                                       "2025-"
                                                                                                       "12-"
                                                                                                       "31T12"
                                                                                                       ":11:"
                                                                                                       "00Z") "]}]}}");
        assert_string_equal(page_journal_subject(y->journal, "csur/r")->of, "crp/web");
        e = story_entry(y, "csur/r", JOURNAL_STAGE, "canary: done");
        assert_int_equal(e->at_ms, NOON - 12 * HOUR + 10 * 60000);
        assert_string_equal(e->was, "canary: in progress");
        assert_true(e->told);
        assert_string_equal(story_entry(y, "csur/r", JOURNAL_STAGE, "prod: in progress")->was,
                            "canary: done");
        assert_non_null(story_entry(y, "csur/r", JOURNAL_WORD, "in progress"));
}

#define ASKED(status)                                                                                        \
        "{" OBJECT("r-after-canary", "2025-12-31T12:10:00Z") "},'spec':{'parentStageRollout':'r',"           \
                                                             "'targetStage':'canary'}" status "}"

static void approvals_are_asked_and_given(void **state)
{
        struct story *y = *state;
        const struct journal_entry *e;

        story_put(y, true, &cluster_approval_request_kind, ASKED(""));
        e = story_entry(y, "careq/r-after-canary", JOURNAL_WORD, "asked");
        assert_int_equal(e->at_ms, NOON - 12 * HOUR + 10 * 60000);
        assert_string_equal(e->text, "stage canary");
        assert_string_equal(e->subject->of, "csur/r");
        y->now_ms = NOON + 9000;
        story_put(y, false, &cluster_approval_request_kind,
                  ASKED(",'status':{'conditions':[" TURNED("Approved", "True", "lgtm", "good",
                                                           "2026-01-01T00:00:08Z") "]}"));
        e = story_entry(y, "careq/r-after-canary", JOURNAL_WORD, "approved");
        assert_int_equal(e->at_ms, NOON + 8000);
        assert_string_equal(e->was, "asked");
        assert_string_equal(e->text, "lgtm: good");
}

static void long_texts_are_cut_so_that_one_sees_it(void **state)
{
        struct story *y = *state;
        const struct journal_entry *e;
        char text[5000];

        memset(text, 'x', sizeof(text) - 1);
        text[sizeof(text) - 1] = '\0';
        story_put(y, true, &cluster_approval_request_kind,
                  ASKED(",'status':{'conditions':[{'type':'Approved','status':'True','message':'%s','"
                        "lastTransitionTime':'"
                        "2026-01-01T00:00:00Z'}]}"),
                  text);
        e = story_entry(y, "careq/r-after-canary", JOURNAL_WORD, "approved");
        assert_true(strlen(e->text) <= JOURNAL_TEXT_BYTES);
        assert_non_null(strstr(e->text, " ... "));
}

/* ---- times ---- */

static void a_clock_ahead_of_ours_tells_of_now(void **state)
{
        struct story *y = *state;

        story_cluster(y, true, "a", "True", "2026-01-01T05:00:00Z");
        assert_int_equal(story_entry(y, "cluster/a", JOURNAL_WORD, "healthy")->at_ms, NOON);
}

static void entries_about_one_state_are_in_order(void **state)
{
        struct story *y = *state;

        story_placement(y, true, "1", "True", "2025-12-31T11:00:03Z");
        y->now_ms = NOON + 20000; /* told of by no newer turn: when it was seen */
        story_placement(y, false, "1", "False", "2025-12-31T11:00:03Z");
        assert_int_equal(story_entry(y, "crp/web", JOURNAL_WORD, "failed")->at_ms, NOON + 20000);
        y->now_ms = NOON + 21000; /* a turn of a hub whose clock is behind */
        story_placement(y, false, "1", "True", "2026-01-01T00:00:15Z");
        assert_int_equal(story_entry(y, "crp/web", JOURNAL_WORD, "available")->at_ms, NOON + 20000);
}

/* ---- limits ---- */

static void the_oldest_go_first(void **state)
{
        struct story *y = *state;
        size_t n;
        const struct journal_entry *const *at;

        page_journal_free(y->journal);
        y->journal = page_journal_new(NOON, 5, 0);
        story_cluster(y, true, "a", "True", LONG_AGO);
        assert_int_equal(page_journal_facts(y->journal).dropped, 0);
        for (int i = 1; i <= 4; i++) {
                y->now_ms = NOON + i * 1000;
                story_placement(y, i == 1, i % 2 ? "1" : "2", "True", "2025-12-31T11:00:03Z");
        }
        at = page_journal_entries(y->journal, &n);
        assert_int_equal(n, 5);
        assert_int_equal(page_journal_facts(y->journal).dropped, 6);
        for (size_t i = 0; i < n; i++)
                assert_true(at[i]->at_ms >= page_journal_facts(y->journal).from_ms);
        assert_non_null(story_entry(y, "crp/web", JOURNAL_REVISION, "2"));
        assert_null(story_entry(y, "cluster/a", JOURNAL_LIFE, "there"));
        assert_string_equal(page_journal_subject(y->journal, "cluster/a")->state[JOURNAL_WORD].text,
                            "healthy");
}

static void who_is_gone_is_forgotten_with_the_last_entry(void **state)
{
        struct story *y = *state;

        page_journal_free(y->journal);
        y->journal = page_journal_new(NOON, 3, 0);
        story_cluster(y, true, "a", "True", LONG_AGO);
        story_remove(y, &member_cluster_kind, "a");
        assert_non_null(page_journal_subject(y->journal, "cluster/a"));
        for (int i = 1; i <= 4; i++) {
                y->now_ms = NOON + i * 1000;
                story_placement(y, false, i % 2 ? "1" : "2", "True", "2025-12-31T11:00:03Z");
        }
        y->now_ms = NOON + 5000;
        story_placement(y, false, "1", "True", "2025-12-31T11:00:03Z");
        assert_null(page_journal_subject(y->journal, "cluster/a"));
}

/* Many words of many placements: how many bytes an entry takes, and that all of them stay below the limit. */
static void a_full_journal_is_small(void **state)
{
        struct story *y = *state;
        size_t before = mem_live_bytes(), n;

        for (int i = 0; i < 400; i++) {
                const struct kind *kind = &cluster_resource_placement_kind;
                AUTO_JSON json_t *doc = NULL;
                struct object *o;
                char name[32];

                for (int k = 0; k < 55; k++) {
                        doc = json_pack("{s:{s:s, s:s, s:s}, s:{s:s, s:[{s:s, s:s, s:s, s:i}]}}", "metadata",
                                        "name", "x", "uid", "u", "creationTimestamp", "2026-01-01T00:00:00Z",
                                        "status", "observedResourceIndex", k % 2 ? "7" : "8", "conditions",
                                        "type", "ClusterResourcePlacementScheduled", "status",
                                        k % 3 ? "True" : "False", "message",
                                        "a message of some length that tells why", "observedGeneration", 0);
                        snprintf(name, sizeof(name), "placement-%04d", i);
                        doc_set_string(doc, "metadata.name", name);
                        o = story_object(y, kind, TAKE_PTR(doc));
                        y->now_ms += 100;
                        story_take(y, NULL, o, false);
                        object_unref(o);
                }
        }
        page_journal_entries(y->journal, &n);
        assert_int_equal(n, JOURNAL_ENTRIES_MAX);
        assert_true(page_journal_facts(y->journal).dropped > 0);
        print_message("journal_bytes_per_entry %zu, told %zu\n", (mem_live_bytes() - before) / n,
                      page_journal_facts(y->journal).bytes / n);
        assert_true((mem_live_bytes() - before) / n < 160);
        assert_true(page_journal_facts(y->journal).bytes <= JOURNAL_BYTES_MAX);
}

static void bytes_are_a_limit_too(void **state)
{
        struct story *y = *state;
        char text[280];

        page_journal_free(y->journal);
        y->journal = page_journal_new(NOON, 0, 10000);
        memset(text, 'x', sizeof(text) - 1);
        text[sizeof(text) - 1] = '\0';
        for (int i = 0; i < 60; i++) {
                char name[64];

                snprintf(name, sizeof(name), "q-%d", i);
                y->now_ms += 1000;
                story_put(y, false, &cluster_approval_request_kind,
                          "{'metadata':{'name':'%s','uid':'%s'},'status':{'conditions':[{'type':'Approved','"
                          "status':'True',"
                          "'message':'%d %s','lastTransitionTime':'2026-01-01T00:00:00Z'}]}}",
                          name, name, i, text);
        }
        assert_true(page_journal_facts(y->journal).bytes <= 10000);
        assert_true(story_count(y) > 5);
        assert_true(page_journal_facts(y->journal).dropped > 0);
}

/* ---- no memory ---- */

/* Whatever fails, the journal goes on, tells that something is lost, and is right again after the next
 * change. */
static void an_entry_that_is_lost_is_told(void **state)
{
        struct story *y = *state;
        bool fired = true;

        for (uint64_t n = 1; fired; n++) {
                struct object *before, *after;
                size_t lost;

                page_journal_free(y->journal);
                y->journal = page_journal_new(NOON, 0, 0);
                y->now_ms = NOON + 1000;
                story_placement(y, true, "1", "True", "2025-12-31T11:00:03Z");
                before = (struct object *)(uintptr_t)object_ref(y->held[0]);
                story_placement(y, false, "2", "False", "2026-01-01T00:00:01Z");
                after = (struct object *)(uintptr_t)object_ref(y->held[0]);
                page_journal_free(y->journal);
                y->journal = page_journal_new(NOON, 0, 0);
                mem_fail_at(n, false);
                story_take(y, NULL, before, true);
                fired = mem_fault_fired();
                mem_fail_at(0, false);
                lost = page_journal_facts(y->journal).lost;
                assert_true(fired ? lost > 0 : lost == 0);
                story_take(y, before, after, false);
                assert_string_equal(page_journal_subject(y->journal, "crp/web")->state[JOURNAL_WORD].text,
                                    "failed");
                assert_int_equal(page_journal_facts(y->journal).lost, lost);
                object_unref(before);
                object_unref(after);
        }
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                STORY_TEST(an_object_of_before_tells_what_it_knows),
                STORY_TEST(a_word_that_becomes_another_is_an_entry),
                STORY_TEST(what_tells_no_time_happened_when_it_was_seen),
                STORY_TEST(a_placement_breaks_and_is_mended),
                STORY_TEST(progress_within_seconds_is_one_entry),
                STORY_TEST(what_fails_within_seconds_is_an_entry_of_its_own),
                STORY_TEST(what_is_seen_again_is_not_written_again),
                STORY_TEST(what_a_relist_finds_is_told),
                STORY_TEST(what_goes_and_comes_again_is_another),
                STORY_TEST(another_object_of_the_same_name_is_told_apart),
                STORY_TEST(a_run_tells_its_stages),
                STORY_TEST(approvals_are_asked_and_given),
                STORY_TEST(long_texts_are_cut_so_that_one_sees_it),
                STORY_TEST(a_clock_ahead_of_ours_tells_of_now),
                STORY_TEST(entries_about_one_state_are_in_order),
                STORY_TEST(the_oldest_go_first),
                STORY_TEST(who_is_gone_is_forgotten_with_the_last_entry),
                STORY_TEST(a_full_journal_is_small),
                STORY_TEST(bytes_are_a_limit_too),
                STORY_TEST(an_entry_that_is_lost_is_told),
        };

        mem_hook_libraries();
        return cmocka_run_group_tests(tests, NULL, NULL);
}
