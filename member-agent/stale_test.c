/* What the agent remembers may be behind: caches, watches, its own state file. Nothing is lost or done twice
 * for that. */
#include <sqlite3.h>

#include "member-agent/member_agent_test.h"
#include "member-agent/store/key.h"

static void begin_with(struct agent *a, struct rig *r, const struct loopback_faults *faults)
{
        begin(a, r);
        meet(a, faults);
}

/* ---- an AppliedWork that the cache still has ---- */

struct lag {
        bool active;
        bool late; /* the agent hears late that the Work was let go of, and only once another one is there */
};

static int64_t delay_watch(void *ctx, const struct http_request *rq, bool answer)
{
        const struct lag *lag = ctx;

        if (!lag->active || !answer)
                return 0;
        if (strstr(rq->path, "appliedworks") && strstr(rq->path, "watch="))
                return 30000;
        return lag->late && strstr(rq->path, "/works") && !text_equal(rq->method, "GET") ? 2000 : 0;
}

static void assert_living_owner(struct rig *r)
{
        const char *uid;

        assert_int_equal(get(r, MEMBER, APPLIED_WORKS "/w"), 200);
        uid = arena_strdup(&r->arena, rig_string(r, "metadata.uid"));
        get(r, MEMBER, CONFIG_MAP_PATH("c"));
        assert_string_equal(
                doc_get_string(json_array_get(doc_get_array(r->answer, "metadata.ownerReferences"), 0),
                               "uid"),
                uid);
}

static void expect_no_dead_owner(struct rig *r, bool late)
{
        struct lag lag = { .late = late };
        struct loopback_faults faults = { .ctx = &lag, .delay = delay_watch };
        struct agent a;

        begin_with(&a, r, &faults);
        place(r, "w", "", CONFIG_MAP("c", "1"));
        wait_for(r, HUB, WORKS "/w", "type=Available", "AllManifestsAvailable");
        lag.active = true;
        delete (r, HUB, WORKS "/w");
        wait_until_gone(r, HUB, WORKS "/w");
        place(r, "w", "", CONFIG_MAP("c", "2"));
        wait_for(r, HUB, WORKS "/w", "type=Available", "AllManifestsAvailable");
        assert_living_owner(r);
        stop(&a);
}

static void dead_owner_body(struct rig *r)
{
        expect_no_dead_owner(r, false);
}

static void a_work_that_is_made_again_at_once_does_not_take_a_dead_owner(void **state)
{
        rig_run(dead_owner_body);
}

static void dead_owner_late_body(struct rig *r)
{
        expect_no_dead_owner(r, true);
}

static void nor_does_one_that_is_made_again_before_the_agent_knows_that_the_first_one_went(void **state)
{
        rig_run(dead_owner_late_body);
}

static void unheard_body(struct rig *r)
{
        struct lag lag = { 0 };
        struct loopback_faults faults = { .ctx = &lag, .delay = delay_watch };
        int64_t begun;
        struct agent a;

        begin_with(&a, r, &faults);
        place(r, "w", "", CONFIG_MAP("c", "1"));
        wait_for(r, HUB, WORKS "/w", "type=Available", "AllManifestsAvailable");
        assert_int_equal(fiber_sleep(r->loop, 1000), 0);
        lag.active = true;
        begun = loop_now_ms(r->loop);
        delete (r, MEMBER, APPLIED_WORKS "/w");
        wait_until_gone(r, MEMBER, APPLIED_WORKS "/w");
        wait_for(r, MEMBER, APPLIED_WORKS "/w", "metadata.name", "w");
        wait_for(r, MEMBER, CONFIG_MAP_PATH("c"), "data.k", "1");
        assert_true(loop_now_ms(r->loop) - begun < 2000);
        assert_living_owner(r);
        stop(&a);
}

/* Garbage collection takes its object, which is made again at once: under which owner is the question. */
static void an_applied_work_that_went_unheard_of_is_made_again(void **state)
{
        rig_run(unheard_body);
}

/* ---- a state file that is behind ---- */

struct cut {
        bool active;
};

static int lose_hub(void *ctx, const struct http_request *rq)
{
        return ((struct cut *)ctx)->active && text_equal(rq->endpoint->base_url, HUB) ? ERR_RETRY : 0;
}

struct file {
        char directory[40], path[80];
        struct world disk;
};

static void file_open(struct file *f, struct rig *r)
{
        *f = (struct file){ .directory = "/tmp/member-agent-test-XXXXXX" };
        assert_non_null(mkdtemp(f->directory));
        world_init_real(&f->disk, r->loop, NULL);
        r->world.files = f->disk.files;
        r->world.ctx = f->disk.ctx;
        snprintf(f->path, sizeof(f->path), "%s/state.db", f->directory);
        prepare_clusters(r);
        invite(r);
}

static void file_remove(struct file *f)
{
        static const char *const tails[] = { "", "-wal", "-shm", ".key" };
        char path[128];

        for (size_t i = 0; i < ARRAY_LEN(tails); i++) {
                snprintf(path, sizeof(path), "%s%s", f->path, tails[i]);
                remove(path);
        }
        remove(f->directory);
}

/* An agent with that file that reaches the hub only once `cut` is over. */
static void start_cut(struct agent *a, struct rig *r, const struct file *f,
                      const struct loopback_faults *faults)
{
        start(a, r, f->path);
        meet(a, faults);
}

/* Takes a Work off the hub as one whose agent has done its part, or that nobody waits for any more. */
static void drop_work(struct rig *r, const char *path)
{
        merge(r, HUB, path, "{'metadata':{'finalizers':null}}");
        delete (r, HUB, path);
        wait_until_gone(r, HUB, path);
}

/* What the key opens, on the file as it is; ERR_NOT_FOUND if it does not open the Work. */
static int read_with(struct rig *r, const struct file *f, const uint8_t key[STORE_KEY_SIZE])
{
        struct store_options o = { .path = f->path, .random = store_random, .random_ctx = r->loop };
        struct error err = { 0 };
        struct stored_work stored;
        struct store *store;
        int code;

        memcpy(o.key, key, STORE_KEY_SIZE);
        assert_int_equal(store_open(&o, &store, &err), 0);
        code = store_work_get(store, "w", &r->arena, &stored, &err);
        store_close(store);
        return code;
}

/* Works may hold Secrets. */
RIG_TEST(what_an_agent_keeps_of_a_work_opens_with_the_key_beside_the_file_alone, {
        uint8_t key[STORE_KEY_SIZE] = { 0 };
        struct error err = { 0 };
        struct agent a;
        struct file f;

        file_open(&f, r);
        start(&a, r, f.path);
        place(r, "w", "", CONFIG_MAP("c", "1"));
        wait_for(r, HUB, WORKS "/w", "type=Available", "AllManifestsAvailable");
        stop(&a);
        assert_true(read_with(r, &f, key) < 0);
        assert_int_equal(store_key(&r->world, f.path, key, &err), 0);
        assert_int_equal(read_with(r, &f, key), 0);
        file_remove(&f);
})

struct meanwhile {
        const char *story;
        void (*happens)(struct rig *r);
        const char *c, *d; /* data.k while the hub is away and after it is back; NULL = absent */
};

static void placement_removed(struct rig *r)
{
        drop_work(r, WORKS "/w");
        delete (r, MEMBER, APPLIED_WORKS "/w");
        wait_until_gone(r, MEMBER, CONFIG_MAP_PATH("c"));
        wait_until_gone(r, MEMBER, CONFIG_MAP_PATH("d"));
}

static void placement_made_again(struct rig *r)
{
        placement_removed(r);
        place(r, "w", "", CONFIG_MAP("c", "2"));
        post(r, MEMBER, APPLIED_WORKS,
             "{'apiVersion':'placement.kubernetes-fleet.io/"
             "v1beta1','kind':'AppliedWork','metadata':{'name':'w'},"
             "'spec':{'workName':'w','workNamespace':'fleet-member-m1'}}");
        post(r, MEMBER, NS "/default/configmaps", CONFIG_MAP("c", "2"));
}

static void content_changed(struct rig *r)
{
        replace_manifests(r, "w", CONFIG_MAP("c", "2") "," CONFIG_MAP("d", "1"));
        merge(r, MEMBER, CONFIG_MAP_PATH("c"),
              "{'metadata':{'annotations':{'kubernetes-fleet.io/spec-hash':'another'}},'data':{'k':'2'}}");
}

static void object_removed(struct rig *r)
{
        const json_t *first;
        AUTO_FREE char *text = NULL;

        replace_manifests(r, "w", CONFIG_MAP("c", "1"));
        get(r, MEMBER, APPLIED_WORKS "/w");
        first = json_array_get(doc_get_array(r->answer, "status.appliedResources"), 0);
        text = json_dumps(first, JSON_COMPACT);
        merge(r, MEMBER, APPLIED_WORKS "/w/status",
              arena_printf(&r->arena, "{'status':{'appliedResources':[%s]}}", text));
        delete (r, MEMBER, CONFIG_MAP_PATH("d"));
}

static void somebody_meddled(struct rig *r)
{
        merge(r, MEMBER, CONFIG_MAP_PATH("c"), "{'data':{'k':'drifted'}}");
        delete (r, MEMBER, CONFIG_MAP_PATH("d"));
}

static void assert_data(struct rig *r, const struct meanwhile *m, const char *path, const char *value)
{
        get(r, MEMBER, path);
        if (r->status != (value ? 200 : 404) || (value && !text_equal(rig_string(r, "data.k"), value)))
                fail_msg("%s: %s is %d \"%s\"", m->story, path, r->status, rig_string(r, "data.k"));
}

static void behind_body(struct rig *r)
{
        const struct meanwhile *m = r->ctx;
        struct cut cut = { true };
        struct loopback_faults faults = { .ctx = &cut, .fate = lose_hub };
        struct file f;
        struct agent a;

        file_open(&f, r);
        start(&a, r, f.path);
        place(r, "w", "", CONFIG_MAP("c", "1") "," CONFIG_MAP("d", "1"));
        wait_for(r, HUB, WORKS "/w", "type=Available", "AllManifestsAvailable");
        stop(&a);
        m->happens(r);
        start_cut(&a, r, &f, &faults);
        for (int i = 0; i < 300; i++) {
                assert_int_equal(fiber_sleep(r->loop, 100), 0);
                if (i > 10 || m->happens != somebody_meddled) {
                        assert_data(r, m, CONFIG_MAP_PATH("c"), m->c);
                        assert_data(r, m, CONFIG_MAP_PATH("d"), m->d);
                }
        }
        cut.active = false;
        assert_int_equal(fiber_sleep(r->loop, 90000), 0);
        assert_data(r, m, CONFIG_MAP_PATH("c"), m->c);
        assert_data(r, m, CONFIG_MAP_PATH("d"), m->d);
        stop(&a);
        file_remove(&f);
}

static void what_another_agent_did_meanwhile_is_not_undone_without_the_hub(void **state)
{
        static const struct meanwhile cases[] = {
                { "the placement was removed", placement_removed, NULL, NULL },
                { "the placement was removed and made again", placement_made_again, "2", NULL },
                { "content was changed", content_changed, "2", "1" },
                { "an object was removed from the Work", object_removed, "1", NULL },
                { "a user meddled, which is drift", somebody_meddled, "1", "1" },
        };

        for (size_t i = 0; i < ARRAY_LEN(cases); i++)
                rig_run_for(behind_body, (void *)(uintptr_t)&cases[i]);
}

static int64_t ask_file(const struct file *f, const char *sql)
{
        sqlite3_stmt *st = NULL;
        sqlite3 *db = NULL;
        int64_t n = -1;

        assert_int_equal(sqlite3_open(f->path, &db), SQLITE_OK);
        assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &st, NULL), SQLITE_OK);
        if (sqlite3_step(st) == SQLITE_ROW)
                n = sqlite3_column_int64(st, 0);
        sqlite3_finalize(st);
        sqlite3_close(db);
        return n;
}

static void upgraded_body(struct rig *r)
{
        struct cut cut = { true };
        struct loopback_faults faults = { .ctx = &cut, .fate = lose_hub };
        struct file f;
        struct agent a;

        file_open(&f, r);
        start(&a, r, f.path);
        place(r, "w", "", CONFIG_MAP("c", "1") "," CONFIG_MAP("d", "1"));
        wait_for(r, HUB, WORKS "/w", "type=Available", "AllManifestsAvailable");
        stop(&a);
        (void)ask_file(&f, "UPDATE works SET listed = 0");
        (void)ask_file(&f, "DELETE FROM wants");
        delete (r, MEMBER, CONFIG_MAP_PATH("c"));
        start_cut(&a, r, &f, &faults);
        wait_for(r, MEMBER, CONFIG_MAP_PATH("c"), "data.k", "1");
        stop(&a);
        assert_int_equal(ask_file(&f, "SELECT count(*) FROM wants"), 2);
        assert_int_equal(ask_file(&f, "SELECT count(*) FROM works WHERE listed"), 1);
        file_remove(&f);
}

static void a_file_of_a_former_version_is_worked_from_without_the_hub(void **state)
{
        rig_run(upgraded_body);
}

static void forgotten_body(struct rig *r)
{
        uint8_t key[STORE_KEY_SIZE] = { 0 };
        struct error err = { 0 };
        struct agent a;
        struct file f;

        file_open(&f, r);
        start(&a, r, f.path);
        place(r, "w", "", "");
        wait_for(r, HUB, WORKS "/w", "type=Available", "AllManifestsAvailable");
        stop(&a);
        placement_removed(r);
        start(&a, r, f.path);
        assert_int_equal(fiber_sleep(r->loop, 120000), 0);
        stop(&a);
        assert_int_equal(store_key(&r->world, f.path, key, &err), 0);
        assert_int_equal(read_with(r, &f, key), ERR_NOT_FOUND);
        file_remove(&f);
}

/* Neither the hub nor the cluster tells of it any more, and no object is there to be watched. */
static void the_file_forgets_a_work_that_went_while_no_agent_ran(void **state)
{
        rig_run(forgotten_body);
}

/* ---- Works that the hub does not have ---- */

static void begin_applied(struct agent *a, struct rig *r)
{
        begin(a, r);
        place(r, "w", "", CONFIG_MAP("c", "1"));
        wait_for(r, HUB, WORKS "/w", "type=Available", "AllManifestsAvailable");
}

static void vanished_body(struct rig *r)
{
        struct agent a;

        begin_applied(&a, r);
        drop_work(r, WORKS "/w");
        assert_int_equal(fiber_sleep(r->loop, 50000), 0);
        assert_int_equal(get(r, MEMBER, CONFIG_MAP_PATH("c")), 200);
        wait_until_gone(r, MEMBER, APPLIED_WORKS "/w");
        wait_until_gone(r, MEMBER, CONFIG_MAP_PATH("c"));
        stop(&a);
}

static void what_was_applied_for_a_work_that_vanished_is_cleaned_up(void **state)
{
        rig_run(vanished_body);
}

static void restored_body(struct rig *r)
{
        const char *uid;
        struct agent a;

        begin_applied(&a, r);
        get(r, MEMBER, CONFIG_MAP_PATH("c"));
        uid = arena_strdup(&r->arena, rig_string(r, "metadata.uid"));
        drop_work(r, WORKS "/w");
        assert_int_equal(fiber_sleep(r->loop, 50000), 0);
        place(r, "w", "", CONFIG_MAP("c", "2"));
        wait_for(r, MEMBER, CONFIG_MAP_PATH("c"), "data.k", "2");
        assert_int_equal(fiber_sleep(r->loop, 90000), 0);
        get(r, MEMBER, CONFIG_MAP_PATH("c"));
        assert_string_equal(rig_string(r, "metadata.uid"), uid);
        stop(&a);
}

static void a_work_that_comes_back_soon_finds_its_objects(void **state)
{
        rig_run(restored_body);
}

static void rejoins_body(struct rig *r)
{
        struct agent a;

        begin_applied(&a, r);
        place(r, "x", "", CONFIG_MAP("d", "1"));
        wait_for(r, HUB, WORKS "/x", "type=Available", "AllManifestsAvailable");
        merge(r, HUB, IMCS "/m1", "{'spec':{'state':'Leave'}}");
        assert_int_equal(fiber_sleep(r->loop, 5000), 0);
        drop_work(r, WORKS "/w");
        drop_work(r, WORKS "/x");
        delete (r, HUB, IMCS "/m1");
        assert_int_equal(fiber_sleep(r->loop, 120000), 0);
        assert_int_equal(get(r, MEMBER, CONFIG_MAP_PATH("c")), 200);
        invite(r);
        assert_int_equal(fiber_sleep(r->loop, 5000), 0);
        place(r, "x", "", CONFIG_MAP("d", "2"));
        wait_until_gone(r, MEMBER, CONFIG_MAP_PATH("c"));
        wait_until_gone(r, MEMBER, APPLIED_WORKS "/w");
        wait_for(r, MEMBER, CONFIG_MAP_PATH("d"), "data.k", "2");
        stop(&a);
}

static void a_cluster_that_joins_again_loses_what_no_placement_picks_it_for(void **state)
{
        rig_run(rejoins_body);
}

#define FOREIGN_WORK(name, mark)                                                                             \
        "{'apiVersion':'placement.kubernetes-fleet.io/"                                                      \
        "v1beta1','kind':'AppliedWork','metadata':{'name':'" name "'" mark "},'spec':{'workName':'" name     \
        "','workNamespace':'fleet-member-m1'}}"

/* Its agent was installed anew, with an empty disk. */
static void reinstalled_body(struct rig *r)
{
        struct agent a;

        begin_applied(&a, r);
        post(r, MEMBER, APPLIED_WORKS, FOREIGN_WORK("plain", ""));
        post(r, MEMBER, APPLIED_WORKS,
             FOREIGN_WORK("other", ",'annotations':{'kubernetes-fleet.io/owner':'another'}"));
        merge(r, HUB, IMCS "/m1", "{'spec':{'state':'Leave'}}");
        assert_int_equal(fiber_sleep(r->loop, 5000), 0);
        drop_work(r, WORKS "/w");
        delete (r, HUB, IMCS "/m1");
        stop(&a);
        start(&a, r, ":memory:");
        assert_int_equal(fiber_sleep(r->loop, 120000), 0);
        assert_int_equal(get(r, MEMBER, CONFIG_MAP_PATH("c")), 200);
        invite(r);
        assert_int_equal(fiber_sleep(r->loop, 60000), 0);
        wait_until_gone(r, MEMBER, APPLIED_WORKS "/w");
        wait_until_gone(r, MEMBER, CONFIG_MAP_PATH("c"));
        assert_int_equal(fiber_sleep(r->loop, 120000), 0);
        assert_int_equal(get(r, MEMBER, APPLIED_WORKS "/plain"), 200);
        assert_int_equal(get(r, MEMBER, APPLIED_WORKS "/other"), 200);
        stop(&a);
}

static void who_joins_again_without_a_memory_removes_what_it_had_made(void **state)
{
        rig_run(reinstalled_body);
}

static void thrown_out_body(struct rig *r)
{
        struct agent a;

        begin_applied(&a, r);
        drop_work(r, WORKS "/w");
        delete (r, HUB, IMCS "/m1");
        assert_int_equal(fiber_sleep(r->loop, 300000), 0);
        assert_int_equal(get(r, MEMBER, CONFIG_MAP_PATH("c")), 200);
        stop(&a);
}

static void a_cluster_that_is_thrown_out_keeps_what_it_has(void **state)
{
        rig_run(thrown_out_body);
}

static int64_t delay_membership(void *ctx, const struct http_request *rq, bool answer)
{
        return answer && strstr(rq->path, "internalmemberclusters") ? 5000 : 0;
}

static int hold_status(void *ctx, const struct http_request *rq)
{
        return ((struct cut *)ctx)->active && strstr(rq->path, "works/x/status") ? ERR_TIMEOUT : 0;
}

/* What it is busy with takes half a minute; meanwhile it has joined again, and a Work goes. */
static void returns_body(struct rig *r)
{
        struct cut cut = { false };
        struct loopback_faults faults = { .ctx = &cut, .fate = hold_status };
        struct agent a;

        begin_with(&a, r, &faults);
        place(r, "w", "", CONFIG_MAP("c", "1"));
        wait_for(r, HUB, WORKS "/w", "type=Available", "AllManifestsAvailable");
        cut.active = true;
        place(r, "x", "", CONFIG_MAP("d", "1"));
        assert_int_equal(fiber_sleep(r->loop, 5000), 0);
        merge(r, HUB, IMCS "/m1", "{'spec':{'state':'Leave'}}");
        assert_int_equal(fiber_sleep(r->loop, 5000), 0);
        merge(r, HUB, IMCS "/m1", "{'spec':{'state':'Join'}}");
        delete (r, HUB, WORKS "/w");
        cut.active = false;
        wait_until_gone(r, HUB, WORKS "/w");
        assert_int_equal(get(r, MEMBER, APPLIED_WORKS "/w"), 404);
        assert_int_equal(get(r, MEMBER, CONFIG_MAP_PATH("c")), 404);
        wait_for(r, HUB, WORKS "/x", "type=Available", "AllManifestsAvailable");
        stop(&a);
}

static void a_cluster_that_is_back_before_it_has_left_cleans_up_what_goes(void **state)
{
        rig_run(returns_body);
}

/* It left and joined again while no agent ran: this one has been joined all along, by its file, and hears
 * what Works there are before it hears that it is a member. */
static void down_body(struct rig *r)
{
        struct loopback_faults faults = { .delay = delay_membership };
        struct file f;
        struct agent a;

        file_open(&f, r);
        start(&a, r, f.path);
        place(r, "w", "", CONFIG_MAP("c", "1"));
        wait_for(r, HUB, WORKS "/w", "type=Available", "AllManifestsAvailable");
        stop(&a);
        drop_work(r, WORKS "/w");
        start_cut(&a, r, &f, &faults);
        assert_int_equal(fiber_sleep(r->loop, 60000), 0);
        wait_until_gone(r, MEMBER, APPLIED_WORKS "/w");
        wait_until_gone(r, MEMBER, CONFIG_MAP_PATH("c"));
        stop(&a);
        file_remove(&f);
}

static void a_cluster_that_joined_again_while_its_agent_was_down_loses_it_too(void **state)
{
        rig_run(down_body);
}

struct deaf {
        bool over;
};

static int64_t keep_answer(void *ctx, const struct http_request *rq, bool answer)
{
        const struct deaf *deaf = ctx;

        return !deaf->over && answer && strstr(rq->path, "appliedworks?limit=") ? 90000 : 0;
}

/* Controllers begin after half a minute without a cache that does not come: that it holds no AppliedWork says
 * nothing then. */
static void unlisted_body(struct rig *r)
{
        struct deaf deaf = { false };
        struct loopback_faults faults = { .ctx = &deaf, .delay = keep_answer };
        struct file f;
        struct agent a;

        file_open(&f, r);
        start(&a, r, f.path);
        place(r, "w", "", CONFIG_MAP("c", "1"));
        wait_for(r, HUB, WORKS "/w", "type=Available", "AllManifestsAvailable");
        stop(&a);
        drop_work(r, WORKS "/w");
        start_cut(&a, r, &f, &faults);
        assert_int_equal(fiber_sleep(r->loop, 50000), 0);
        deaf.over = true;
        assert_int_equal(fiber_sleep(r->loop, 120000), 0);
        wait_until_gone(r, MEMBER, APPLIED_WORKS "/w");
        wait_until_gone(r, MEMBER, CONFIG_MAP_PATH("c"));
        stop(&a);
        file_remove(&f);
}

static void what_a_vanished_work_applied_is_not_forgotten_while_the_cluster_is_silent(void **state)
{
        rig_run(unlisted_body);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(an_applied_work_that_went_unheard_of_is_made_again),
                cmocka_unit_test(what_an_agent_keeps_of_a_work_opens_with_the_key_beside_the_file_alone),
                cmocka_unit_test(a_work_that_is_made_again_at_once_does_not_take_a_dead_owner),
                cmocka_unit_test(
                        nor_does_one_that_is_made_again_before_the_agent_knows_that_the_first_one_went),
                cmocka_unit_test(what_another_agent_did_meanwhile_is_not_undone_without_the_hub),
                cmocka_unit_test(a_file_of_a_former_version_is_worked_from_without_the_hub),
                cmocka_unit_test(the_file_forgets_a_work_that_went_while_no_agent_ran),
                cmocka_unit_test(what_was_applied_for_a_work_that_vanished_is_cleaned_up),
                cmocka_unit_test(a_work_that_comes_back_soon_finds_its_objects),
                cmocka_unit_test(a_cluster_that_joins_again_loses_what_no_placement_picks_it_for),
                cmocka_unit_test(who_joins_again_without_a_memory_removes_what_it_had_made),
                cmocka_unit_test(a_cluster_that_is_thrown_out_keeps_what_it_has),
                cmocka_unit_test(a_cluster_that_is_back_before_it_has_left_cleans_up_what_goes),
                cmocka_unit_test(a_cluster_that_joined_again_while_its_agent_was_down_loses_it_too),
                cmocka_unit_test(what_a_vanished_work_applied_is_not_forgotten_while_the_cluster_is_silent),
        };

        if (getenv("AGENT_TEST"))
                cmocka_set_test_filter(getenv("AGENT_TEST"));
        return cmocka_run_group_tests(tests, NULL, NULL);
}
