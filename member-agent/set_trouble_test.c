/* Sets against an API server that fails: spec/cluster-object-set.md 3, 8, 12. */
#include "member-agent/object_set_test.h"

/* Writes of what has this text in it are answered so, so often. */
struct trouble {
        const char *method, *text;
        int status, times;
        size_t seen; /* writes of ConfigMaps that were meant */
};

static bool is_meant(const struct trouble *t, const struct http_request *rq)
{
        return text_equal(rq->method, t->method) && strstr(rq->path, "/configmaps") &&
               !strstr(rq->path, "dryRun");
}

static int fate(void *ctx, const struct http_request *rq)
{
        struct trouble *t = ctx;

        if (!is_meant(t, rq))
                return 0;
        t->seen++;
        if (t->times == 0 || (rq->body.len && !memmem(rq->body.data, rq->body.len, t->text, strlen(t->text))))
                return 0;
        t->times--;
        return t->status;
}

#define THREE                                                                                                \
        SET("app-1", OWNED_BY("app"), "1", "",                                                               \
            PHASE("one", INLINE(CONFIG_MAP("a", "1")) "," INLINE(CONFIG_MAP("b", "1")) "," INLINE(           \
                                 CONFIG_MAP("c", "1"))) "," PHASE("two", INLINE(CONFIG_MAP("d", "1"))))

/* spec/cluster-object-set.md checklist 16, 85 */
RIG_TEST(what_fails_for_one_object_keeps_no_other_from_being_applied, {
        struct trouble t = { "PATCH", "\"name\":\"b\"", 500, 3, 0 };
        struct loopback_faults faults = { .ctx = &t, .fate = fate };
        struct agent a;

        begin_sets(&a, r);
        meet(&a, &faults);
        post(r, MEMBER, SETS, THREE);
        wait_for_set(r, "app-1", "Progressing", "True/Retrying");
        assert_true(text_starts_with(
                set_says(r, "app-1", "Progressing"),
                "True/Retrying reconciling object: reconciling /v1, Kind=ConfigMap default/b: "));
        assert_set(r, "app-1", "Available", "");
        assert_int_equal(get(r, MEMBER, CONFIG_MAP_PATH("a")), 200);
        assert_int_equal(get(r, MEMBER, CONFIG_MAP_PATH("c")), 200);
        assert_int_equal(get(r, MEMBER, CONFIG_MAP_PATH("d")), 404);
        wait_for_set(r, "app-1", "Succeeded", "True/Succeeded");
        stop(&a);
})

/* spec/cluster-object-set.md checklist 16 */
RIG_TEST(who_is_told_to_slow_down_sends_no_more_of_the_phase, {
        struct trouble t = { "PATCH", "ConfigMap", 429, 4, 0 };
        struct loopback_faults faults = { .ctx = &t, .fate = fate };
        struct agent a;
        const char *objects = "";

        begin_sets(&a, r);
        meet(&a, &faults);
        for (int i = 0; i < 30; i++)
                objects = arena_printf(&r->arena, "%s%s" INLINE(CONFIG_MAP("c%d", "1")), objects,
                                       i ? "," : "", i);
        post(r, MEMBER, SETS,
             arena_printf(&r->arena, SET("app-1", OWNED_BY("app"), "1", "", PHASE("one", "%s")), objects));
        wait_for_set(r, "app-1", "Progressing", "True/Retrying");
        assert_in_range(t.seen, 1, 8);
        wait_for_set(r, "app-1", "Succeeded", "True/Succeeded");
        stop(&a);
})

/* Somebody else is the first, with just the fields that we want: then it is theirs, and was not touched. */
static int overtake(void *ctx, const struct http_request *rq)
{
        struct rig *r = ctx;
        struct trouble t = { "PATCH", "\"name\":\"a\"", 0, 0, 0 };

        if (is_meant(&t, rq) && memmem(rq->body.data, rq->body.len, t.text, strlen(t.text)))
                post(r, MEMBER, CONFIG_MAPS, CONFIG_MAP("a", "1"));
        return 0;
}

/* spec/cluster-object-set.md checklist 35 */
RIG_TEST(creating_never_changes_what_appeared_meanwhile, {
        struct loopback_faults faults = { .ctx = r, .fate = overtake };
        struct agent a;

        begin_sets(&a, r);
        meet(&a, &faults);
        post(r, MEMBER, SETS, THREE);
        wait_for_set(r, "app-1", "Progressing", "True/Retrying");
        assert_true(text_starts_with(set_says(r, "app-1", "Progressing"),
                                     "True/Retrying revision object collisions in phase 0\n"));
        get(r, MEMBER, CONFIG_MAP_PATH("a"));
        assert_null(doc_get(r->answer, "metadata.labels"));
        assert_null(doc_get(r->answer, "metadata.ownerReferences"));
        stop(&a);
})

/* Refuses to make anything by an apply that names a version, or to make anything. */
struct strict {
        bool refuses_posts;
};

static int refuse_versions(void *ctx, const struct http_request *rq)
{
        struct strict *s = ctx;
        static const char version[] = "\"resourceVersion\":\"9223372036854775807\"";

        if (!strstr(rq->path, "/configmaps") || rq->body.len == 0)
                return 0;
        if (memmem(rq->body.data, rq->body.len, version, strlen(version)))
                return 409;
        return text_equal(rq->method, "POST") && s->refuses_posts ? 409 : 0;
}

/* Which no server is known to do, and none has promised not to. spec/cluster-object-set.md checklist 36 */
RIG_TEST(a_server_that_makes_nothing_of_an_apply_with_a_version_is_sent_a_post, {
        struct strict strict = { 0 };
        struct loopback_faults faults = { .ctx = &strict, .fate = refuse_versions };
        const json_t *entries;
        struct agent a;

        begin_sets(&a, r);
        meet(&a, &faults);
        post(r, MEMBER, SETS, THREE);
        wait_for_set(r, "app-1", "Succeeded", "True/Succeeded");
        get(r, MEMBER, CONFIG_MAP_PATH("a"));
        entries = doc_get_array(r->answer, "metadata.managedFields");
        assert_int_equal(json_array_size(entries), 1);
        assert_string_equal(doc_get_string(json_array_get(entries, 0), "manager"),
                            "olm.operatorframework.io");
        assert_string_equal(doc_get_string(json_array_get(entries, 0), "operation"), "Apply");
        stop(&a);
})

/* A conflict that nothing there explains, a quota's for one, is a refusal. spec/cluster-object-set.md 7.2 */
RIG_TEST(a_creation_that_conflicts_with_nothing_keeps_the_phase_from_being_applied, {
        struct strict strict = { .refuses_posts = true };
        struct loopback_faults faults = { .ctx = &strict, .fate = refuse_versions };
        struct agent a;

        begin_sets(&a, r);
        meet(&a, &faults);
        post(r, MEMBER, SETS, THREE);
        wait_for_set(r, "app-1", "Progressing", "True/Retrying");
        assert_true(text_starts_with(set_says(r, "app-1", "Progressing"),
                                     "True/Retrying phase 0 validation error: phase \"one\": "));
        assert_int_equal(get(r, MEMBER, CONFIG_MAP_PATH("a")), 404);
        assert_int_equal(get(r, MEMBER, CONFIG_MAP_PATH("c")), 404);
        strict.refuses_posts = false;
        wait_for_set(r, "app-1", "Succeeded", "True/Succeeded");
        stop(&a);
})

/* Between our look and our write somebody else writes, so often. */
struct race {
        struct rig *r;
        const char *method, *text; /* which write is met; NULL = any that is no trial */
        int times;
};

static bool is_met(const struct race *race, const struct http_request *rq)
{
        return race->times > 0 && text_equal(rq->method, race->method) && strstr(rq->path, "/configmaps/d") &&
               !strstr(rq->path, "dryRun") &&
               (!race->text || memmem(rq->body.data, rq->body.len, race->text, strlen(race->text)));
}

static int interfere(void *ctx, const struct http_request *rq)
{
        struct race *race = ctx;

        if (!is_met(race, rq))
                return 0;
        race->times--;
        merge(race->r, MEMBER, CONFIG_MAP_PATH("d"),
              arena_printf(&race->r->arena, "{'data':{'round':'%d'}}", race->times));
        return 0;
}

static void begin_race(struct agent *a, struct rig *r, const struct loopback_faults *faults)
{
        begin_sets(a, r);
        meet(a, faults);
        post(r, MEMBER, SETS, THREE);
        wait_for_set(r, "app-1", "Succeeded", "True/Succeeded");
        settle(r, 5000);
}

static uint64_t statuses(struct rig *r)
{
        return requests(r, "m1", "patch", "clusterobjectsets/status");
}

/* spec/cluster-object-set.md checklist 39 */
RIG_TEST(a_race_is_decided_by_what_is_there, {
        struct race race = { .r = r, .method = "PATCH" };
        struct loopback_faults faults = { .ctx = &race, .fate = interfere };
        struct agent a;
        uint64_t before;

        begin_race(&a, r, &faults);
        before = statuses(r);
        race.times = 2;
        merge(r, MEMBER, CONFIG_MAP_PATH("d"), "{'data':{'k':'theirs'}}");
        wait_for(r, MEMBER, CONFIG_MAP_PATH("d"), "data.k", "1");
        assert_string_equal(rig_string(r, "data.round"), "0");
        settle(r, 5000);
        assert_int_equal(statuses(r), before);
        stop(&a);
})

/* spec/cluster-object-set.md checklist 39 */
RIG_TEST(a_race_that_goes_on_is_told, {
        struct race race = { .r = r, .method = "PATCH" };
        struct loopback_faults faults = { .ctx = &race, .fate = interfere };
        struct agent a;
        uint64_t before;

        begin_race(&a, r, &faults);
        before = statuses(r);
        race.times = 3;
        merge(r, MEMBER, CONFIG_MAP_PATH("d"), "{'data':{'k':'theirs'}}");
        wait_for(r, MEMBER, CONFIG_MAP_PATH("d"), "data.k", "1");
        settle(r, 5000);
        assert_int_equal(statuses(r), before + 2); /* Retrying, and what it was before */
        assert_set(r, "app-1", "Progressing", "True/Succeeded Revision 1 has rolled out.");
        stop(&a);
})

/* spec/cluster-object-set.md 12.1: neither told nor waited for. */
RIG_TEST(what_changes_while_it_is_deleted_is_looked_at_again_at_once, {
        struct race race = { .r = r, .method = "DELETE" };
        struct loopback_faults faults = { .ctx = &race, .fate = interfere };
        struct agent a;
        uint64_t before;

        begin_race(&a, r, &faults);
        before = statuses(r);
        race.times = 2;
        merge(r, MEMBER, SETS "/app-1", ARCHIVED);
        settle(r, 2000);
        assert_set(r, "app-1", "Progressing", "False/Archived revision is archived");
        assert_int_equal(statuses(r), before + 1);
        assert_int_equal(get(r, MEMBER, CONFIG_MAP_PATH("d")), 404);
        stop(&a);
})

/* spec/cluster-object-set.md checklist 75 */
RIG_TEST(what_changes_while_it_is_let_go_is_let_go_all_the_same, {
        struct race race = { .r = r, .method = "PATCH", .text = "{\"metadata\":{\"ownerReferences\":" };
        struct loopback_faults faults = { .ctx = &race, .fate = interfere };
        struct agent a;

        begin_race(&a, r, &faults);
        race.times = 1;
        post(r, MEMBER, SETS,
             SET("app-2", OWNED_BY("app"), "2", "", PHASE("one", INLINE(CONFIG_MAP("d", "2")))));
        wait_for_set(r, "app-1", "Progressing", "False/Archived");
        assert_int_equal(race.times, 0);
        get(r, MEMBER, CONFIG_MAP_PATH("d"));
        assert_int_equal(json_array_size(doc_get_array(r->answer, "metadata.ownerReferences")), 1);
        stop(&a);
})

/* spec/cluster-object-set.md checklist 32, 46 */
RIG_TEST(what_hinders_is_looked_at_every_ten_seconds, {
        struct agent a;
        uint64_t before;

        begin_sets(&a, r);
        post(r, MEMBER, SETS,
             SET("app-1", OWNED_BY("app"), "1", "",
                 PHASE("one",
                       INLINE("{'apiVersion':'example.com/v1','kind':'Widget','metadata':{'name':'w'}}"))));
        wait_for_set(r, "app-1", "Progressing", "True/Retrying");
        assert_set(r, "app-1", "Progressing",
                   "True/Retrying phase 0 validation error: phase \"one\": example.com/v1, Kind=Widget /w: "
                   "no matches "
                   "for kind \"Widget\" in version \"example.com/v1\"");
        settle(r, 1000);
        before = requests(r, "m1", "get", "clusterobjectsets");
        settle(r, 60000);
        assert_in_range(requests(r, "m1", "get", "clusterobjectsets") - before, 6, 7);
        stop(&a);
})

/* spec/cluster-object-set.md checklist 30, 31 */
RIG_TEST(a_set_that_is_wrong_in_itself_applies_nothing, {
        struct agent a;

        begin_sets(&a, r);
        post(r, MEMBER, SETS,
             SET("app-1", OWNED_BY("app"), "1", "",
                 PHASE("one", INLINE(CONFIG_MAP("a", "1"))) "," PHASE("two", INLINE(CONFIG_MAP("a", "2")))));
        wait_for_set(r, "app-1", "Progressing", "True/Retrying");
        assert_non_null(
                strstr(set_says(r, "app-1", "Progressing"), "duplicate object found in phases: one, two"));
        assert_int_equal(get(r, MEMBER, CONFIG_MAP_PATH("a")), 404);
        stop(&a);
})

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(what_fails_for_one_object_keeps_no_other_from_being_applied),
                cmocka_unit_test(who_is_told_to_slow_down_sends_no_more_of_the_phase),
                cmocka_unit_test(creating_never_changes_what_appeared_meanwhile),
                cmocka_unit_test(a_server_that_makes_nothing_of_an_apply_with_a_version_is_sent_a_post),
                cmocka_unit_test(a_creation_that_conflicts_with_nothing_keeps_the_phase_from_being_applied),
                cmocka_unit_test(a_race_is_decided_by_what_is_there),
                cmocka_unit_test(a_race_that_goes_on_is_told),
                cmocka_unit_test(what_changes_while_it_is_deleted_is_looked_at_again_at_once),
                cmocka_unit_test(what_changes_while_it_is_let_go_is_let_go_all_the_same),
                cmocka_unit_test(what_hinders_is_looked_at_every_ten_seconds),
                cmocka_unit_test(a_set_that_is_wrong_in_itself_applies_nothing),
        };

        if (getenv("AGENT_TEST"))
                cmocka_set_test_filter(getenv("AGENT_TEST"));
        return cmocka_run_group_tests(tests, NULL, NULL);
}
