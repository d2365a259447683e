/* Objects of a set that come out of Secrets: spec/cluster-object-set.md 6. */
#include <sqlite3.h>

#include "member-agent/disk_test.h"
#include "member-agent/object_set_test.h"

#define CONFIG_MAP_TEXT(name)                                                                                \
        "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"" name                       \
        "\",\"namespace\":\"default\"}}"
#define MANIFEST_TEXT(value)                                                                                 \
        "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"c\",\"namespace\":"          \
        "\"default\"},\"data\":{"                                                                            \
        "\"k\":\"" value "\"}}"
#define ONE(key) SET("app-1", OWNED_BY("app"), "1", "", PHASE("one", REF("s", key)))

static const char *base64(struct rig *r, const void *data, size_t n)
{
        char *text = arena_alloc(&r->arena, text_base64_size(n));

        text_base64_encode(data, n, text);
        return text;
}

static void post_secret(struct rig *r, const char *key, struct slice value, bool immutable)
{
        post(r, MEMBER, SECRETS,
             arena_printf(&r->arena,
                          "{'apiVersion':'v1','kind':'Secret','metadata':{'name':'s'},'data':{'%s':'%s'}%s}",
                          key, base64(r, value.data, value.len), immutable ? ",'immutable':true" : ""));
}

static void delete_secret(struct rig *r)
{
        delete (r, MEMBER, SECRETS "/s");
}

static const char *digest_of(struct rig *r)
{
        get(r, MEMBER, SETS "/app-1");
        return arena_strdup(
                &r->arena,
                or_empty(doc_get_string(json_array_get(doc_get_array(r->answer, "status.observedPhases"), 0),
                                        "digest")));
}

/* spec/cluster-object-set.md checklist 22, 23 */
RIG_TEST(a_secret_that_is_missing_is_waited_for, {
        struct agent a;

        begin_sets(&a, r);
        post(r, MEMBER, SETS, ONE("k"));
        wait_for_set(r, "app-1", "Progressing", "True/Retrying");
        assert_set(r, "app-1", "Progressing",
                   "True/Retrying resolving ref in phase \"one\": getting Secret default/s: secrets \"s\" "
                   "not found");
        settle(r, 50000); /* retries are seldom by now */
        post_secret(r, "k", SLICE(MANIFEST_TEXT("1")), true);
        settle(r, 1000);
        assert_set(r, "app-1", "Progressing", "True/Succeeded Revision 1 has rolled out.");
        stop(&a);
})

/* Whose Secrets are followed already. */
RIG_TEST(a_set_that_comes_later_is_woken_by_its_secret_too, {
        struct agent a;

        begin_sets(&a, r);
        post_secret(r, "k", SLICE(MANIFEST_TEXT("1")), true);
        post(r, MEMBER, SETS, ONE("k"));
        wait_for_set(r, "app-1", "Succeeded", "True/Succeeded");
        delete_secret(r);
        post(r, MEMBER, SETS, SET("web-1", OWNED_BY("web"), "1", "", PHASE("one", REF("t", "k"))));
        wait_for_set(r, "web-1", "Progressing", "True/Retrying");
        settle(r, 50000); /* retries are seldom by now */
        post(r, MEMBER, SECRETS,
             arena_printf(&r->arena,
                          "{'apiVersion':'v1','kind':'Secret','metadata':{'name':'t'},'data':{'k':'%s'},"
                          "'immutable':true}",
                          base64(r, SLICE(CONFIG_MAP_TEXT("w")).data, SLICE(CONFIG_MAP_TEXT("w")).len)));
        settle(r, 1000);
        assert_set(r, "web-1", "Progressing", "True/Succeeded Revision 1 has rolled out.");
        stop(&a);
})

static int copies(const struct sim_disk *d)
{
        sqlite3_stmt *st = NULL;
        sqlite3 *db = NULL;
        int n;

        assert_int_equal(sqlite3_open_v2(sim_disk_uri(d), &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_URI, NULL),
                         SQLITE_OK);
        assert_int_equal(sqlite3_prepare_v2(db, "SELECT count(*) FROM works", -1, &st, NULL), SQLITE_OK);
        assert_int_equal(sqlite3_step(st), SQLITE_ROW);
        n = sqlite3_column_int(st, 0);
        sqlite3_finalize(st);
        sqlite3_close(db);
        return n;
}

/* spec/cluster-object-set.md 19.4: what is rolled out is kept as it is, by an agent that starts anew, too. */
RIG_TEST(what_a_secret_held_outlives_it, {
        struct sim_disk *d = sim_disk_new(r->loop);
        struct agent a;

        prepare_clusters(r);
        start_on(&a, r, d);
        post_secret(r, "k", SLICE(MANIFEST_TEXT("1")), true);
        post(r, MEMBER, SETS, ONE("k"));
        wait_for_set(r, "app-1", "Succeeded", "True/Succeeded");
        delete_secret(r);
        settle(r, 5000);
        assert_set(r, "app-1", "Progressing", "True/Succeeded Revision 1 has rolled out.");
        delete (r, MEMBER, CONFIG_MAP_PATH("c"));
        wait_for(r, MEMBER, CONFIG_MAP_PATH("c"), "data.k", "1");
        stop(&a);
        merge(r, MEMBER, CONFIG_MAP_PATH("c"), "{'data':{'k':'theirs'}}");
        start_on(&a, r, d);
        wait_for(r, MEMBER, CONFIG_MAP_PATH("c"), "data.k", "1");
        assert_set(r, "app-1", "Progressing", "True/Succeeded Revision 1 has rolled out.");
        post_secret(r, "k", SLICE(MANIFEST_TEXT("2")), true);
        wait_for_set(r, "app-1", "Progressing", "False/Blocked");
        delete_secret(r);
        wait_for_set(r, "app-1", "Progressing", "True/Succeeded");
        assert_int_equal(copies(d), 1);
        merge(r, MEMBER, SETS "/app-1", ARCHIVED);
        wait_for_set(r, "app-1", "Progressing", "False/Archived");
        settle(r, 1000);
        assert_int_equal(copies(d), 0);
        stop(&a);
        sim_disk_free(d);
})

/* Where neither the state file nor the Secrets say what a set holds, it does not say that all of it has gone.
 */
RIG_TEST(a_set_of_unknown_objects_is_not_archived, {
        struct agent a;

        begin_sets(&a, r);
        post_secret(r, "k", SLICE(MANIFEST_TEXT("1")), true);
        post(r, MEMBER, SETS, ONE("k"));
        wait_for_set(r, "app-1", "Succeeded", "True/Succeeded");
        stop(&a);
        delete_secret(r);
        merge(r, MEMBER, SETS "/app-1", ARCHIVED);
        start(&a, r, ":memory:");
        wait_for_set(r, "app-1", "Progressing", "True/Retrying error archiving revision: ");
        settle(r, 60000);
        assert_int_equal(get(r, MEMBER, CONFIG_MAP_PATH("c")), 200);
        post_secret(r, "k", SLICE(MANIFEST_TEXT("1")), true);
        wait_for_set(r, "app-1", "Progressing", "False/Archived");
        assert_int_equal(get(r, MEMBER, CONFIG_MAP_PATH("c")), 404);
        stop(&a);
})

static int lose_release(void *ctx, const struct http_request *rq)
{
        return *(const bool *)ctx && text_equal(rq->method, "PATCH") && strstr(rq->path, SETS "/app-1?")
                       ? ERR_RETRY
                       : 0;
}

/* It said that nothing is left, and could not let go of the set before it ended. */
RIG_TEST(what_was_archived_is_let_go_without_its_secrets, {
        bool loses = false;
        struct loopback_faults faults = { .ctx = &loses, .fate = lose_release };
        struct sim_disk *d = sim_disk_new(r->loop);
        struct agent a;

        prepare_clusters(r);
        start_on(&a, r, d);
        meet(&a, &faults);
        post_secret(r, "k", SLICE(MANIFEST_TEXT("1")), true);
        post(r, MEMBER, SETS, ONE("k"));
        wait_for_set(r, "app-1", "Succeeded", "True/Succeeded");
        loses = true;
        merge(r, MEMBER, SETS "/app-1", ARCHIVED);
        wait_for_set(r, "app-1", "Progressing", "False/Archived");
        stop(&a);
        delete_secret(r);
        get(r, MEMBER, SETS "/app-1");
        assert_int_equal(json_array_size(doc_get_array(r->answer, "metadata.finalizers")), 1);
        start_on(&a, r, d);
        settle(r, 5000);
        wait_for_set(r, "app-1", "Progressing", "False/Archived");
        get(r, MEMBER, SETS "/app-1");
        assert_int_equal(json_array_size(doc_get_array(r->answer, "metadata.finalizers")), 0);
        assert_int_equal(get(r, MEMBER, CONFIG_MAP_PATH("c")), 404);
        stop(&a);
        sim_disk_free(d);
})

/* What was never resolved has touched nothing. */
RIG_TEST(a_set_that_never_began_is_archived_without_its_secrets, {
        struct agent a;

        begin_sets(&a, r);
        post(r, MEMBER, SETS, ONE("k"));
        wait_for_set(r, "app-1", "Progressing", "True/Retrying");
        merge(r, MEMBER, SETS "/app-1", ARCHIVED);
        wait_for_set(r, "app-1", "Progressing", "False/Archived");
        stop(&a);
})

/* Somebody took the finalizer while the agent was away, and made the set again under its name. */
RIG_TEST(a_copy_is_of_one_set_alone, {
        struct sim_disk *d = sim_disk_new(r->loop);
        struct agent a;

        prepare_clusters(r);
        start_on(&a, r, d);
        post_secret(r, "k", SLICE(MANIFEST_TEXT("1")), true);
        post(r, MEMBER, SETS, ONE("k"));
        wait_for_set(r, "app-1", "Succeeded", "True/Succeeded");
        stop(&a);
        delete_secret(r);
        merge(r, MEMBER, SETS "/app-1", "{'metadata':{'finalizers':null}}");
        delete (r, MEMBER, SETS "/app-1");
        post(r, MEMBER, SETS, ONE("k"));
        start_on(&a, r, d);
        wait_for_set(r, "app-1", "Progressing", "True/Retrying resolving ref in phase");
        delete (r, MEMBER, SETS "/app-1");
        wait_until_gone(r, MEMBER, SETS "/app-1");
        settle(r, 1000);
        assert_int_equal(copies(d), 0);
        stop(&a);
        sim_disk_free(d);
})

/* spec/cluster-object-set.md checklist 25 */
RIG_TEST(a_secret_that_may_change_blocks_until_it_may_not, {
        struct agent a;

        begin_sets(&a, r);
        post_secret(r, "k", SLICE(MANIFEST_TEXT("1")), false);
        post(r, MEMBER, SETS, ONE("k"));
        wait_for_set(r, "app-1", "Progressing", "False/Blocked");
        assert_set(r, "app-1", "Progressing",
                   "False/Blocked the following secrets are not immutable (referenced secrets must have "
                   "immutable "
                   "set to true): default/s");
        assert_set(r, "app-1", "Available", "");
        settle(r, 60000);
        assert_int_equal(get(r, MEMBER, CONFIG_MAP_PATH("c")), 404);
        merge(r, MEMBER, SECRETS "/s", "{'immutable':true}");
        settle(r, 1000);
        assert_set(r, "app-1", "Progressing", "True/Succeeded Revision 1 has rolled out.");
        stop(&a);
})

RIG_TEST(a_secret_that_went_while_nobody_could_watch_is_missed, {
        struct agent a;

        begin_sets(&a, r);
        post_secret(r, "k", SLICE(MANIFEST_TEXT("1")), false);
        post(r, MEMBER, SETS, ONE("k"));
        wait_for_set(r, "app-1", "Progressing", "False/Blocked");
        settle(r, 5000);
        devcluster_cut_watches(r->devcluster, NULL, true);
        delete_secret(r);
        settle(r, 10000);
        assert_set(r, "app-1", "Progressing",
                   "True/Retrying resolving ref in phase \"one\": getting Secret default/s: secrets \"s\" "
                   "not found");
        stop(&a);
})

/* spec/cluster-object-set.md checklist 29 */
RIG_TEST(a_secret_made_again_with_something_else_blocks_until_it_is_as_before, {
        const char *digest;
        struct agent a;

        begin_sets(&a, r);
        post_secret(r, "k", SLICE(MANIFEST_TEXT("1")), true);
        post(r, MEMBER, SETS, ONE("k"));
        wait_for_set(r, "app-1", "Succeeded", "True/Succeeded");
        digest = digest_of(r);
        assert_true(text_starts_with(digest, "sha256:"));
        settle(r, 5000);
        delete_secret(r);
        post_secret(r, "k", SLICE(MANIFEST_TEXT("2")), true);
        wait_for_set(r, "app-1", "Progressing", "False/Blocked");
        assert_true(
                text_starts_with(set_says(r, "app-1", "Progressing"),
                                 "False/Blocked resolved content of 1 phase(s) has changed: phase \"one\" "));
        settle(r, 20000);
        get(r, MEMBER, CONFIG_MAP_PATH("c"));
        assert_string_equal(rig_string(r, "data.k"), "1");
        delete_secret(r);
        post_secret(r, "k", SLICE(MANIFEST_TEXT("1")), true);
        settle(r, 2000);
        assert_set(r, "app-1", "Progressing", "True/Succeeded Revision 1 has rolled out.");
        assert_string_equal(digest_of(r), digest);
        stop(&a);
})

/* spec/cluster-object-set.md checklist 22 */
RIG_TEST(what_cannot_be_read_out_of_an_immutable_secret_blocks, {
        struct agent a;

        begin_sets(&a, r);
        post_secret(r, "other", SLICE("[1]"), true);
        post(r, MEMBER, SETS, ONE("k"));
        wait_for_set(r, "app-1", "Progressing", "False/Blocked");
        assert_set(r, "app-1", "Progressing",
                   "False/Blocked resolving ref in phase \"one\": key \"k\" not found in Secret default/s");
        stop(&a);
})

/* spec/cluster-object-set.md checklist 27 */
RIG_TEST(a_secret_is_read_once_a_pass_however_many_refs_name_it, {
        struct agent a;

        begin_sets(&a, r);
        post_secret(r, "k", SLICE(MANIFEST_TEXT("1")), false);
        post(r, MEMBER, SETS,
             SET("app-1", OWNED_BY("app"), "1", "",
                 PHASE("one", REF("s", "k") "," REF("s", "l")) "," PHASE("two", REF("s", "m"))));
        wait_for_set(r, "app-1", "Progressing", "False/Blocked");
        settle(r, 20000);
        assert_int_equal(requests(r, "m1", "get", "secrets"), 2); /* the watch begins with a look */
        stop(&a);
})

/* spec/cluster-object-set.md checklist 77, 80 */
RIG_TEST(archiving_and_deletion_need_no_secrets, {
        struct agent a;

        begin_sets(&a, r);
        post_secret(r, "k", SLICE(MANIFEST_TEXT("1")), true);
        post(r, MEMBER, SETS, ONE("k"));
        wait_for_set(r, "app-1", "Succeeded", "True/Succeeded");
        delete_secret(r);
        merge(r, MEMBER, SETS "/app-1", ARCHIVED);
        wait_for_set(r, "app-1", "Progressing", "False/Archived");
        assert_int_equal(get(r, MEMBER, CONFIG_MAP_PATH("c")), 404);
        delete (r, MEMBER, SETS "/app-1");
        wait_until_gone(r, MEMBER, SETS "/app-1");
        post(r, MEMBER, SETS, ONE("k"));
        wait_for_set(r, "app-1", "Progressing", "True/Retrying");
        delete (r, MEMBER, SETS "/app-1");
        wait_until_gone(r, MEMBER, SETS "/app-1");
        stop(&a);
})

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(a_secret_that_is_missing_is_waited_for),
                cmocka_unit_test(a_set_that_comes_later_is_woken_by_its_secret_too),
                cmocka_unit_test(what_a_secret_held_outlives_it),
                cmocka_unit_test(a_set_of_unknown_objects_is_not_archived),
                cmocka_unit_test(what_was_archived_is_let_go_without_its_secrets),
                cmocka_unit_test(a_set_that_never_began_is_archived_without_its_secrets),
                cmocka_unit_test(a_copy_is_of_one_set_alone),
                cmocka_unit_test(a_secret_that_may_change_blocks_until_it_may_not),
                cmocka_unit_test(a_secret_that_went_while_nobody_could_watch_is_missed),
                cmocka_unit_test(a_secret_made_again_with_something_else_blocks_until_it_is_as_before),
                cmocka_unit_test(what_cannot_be_read_out_of_an_immutable_secret_blocks),
                cmocka_unit_test(a_secret_is_read_once_a_pass_however_many_refs_name_it),
                cmocka_unit_test(archiving_and_deletion_need_no_secrets),
        };

        if (getenv("AGENT_TEST"))
                cmocka_set_test_filter(getenv("AGENT_TEST"));
        return cmocka_run_group_tests(tests, NULL, NULL);
}
