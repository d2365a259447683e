/* The loop of the sidecar on a virtual clock: spec/member-agent.md 5 (checklist of the token sidecar). */
#include "member-agent/refresh-token/refresh.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "common/base/memory.h"

#define WALL INT64_C(1767225600000)
#define HOUR 3600000LL

/* A source that plays a script, and a disk of one file. */
struct rig {
        struct token_source source;
        struct loop *loop;
        struct world world;
        struct log log;
        struct refresher refresher;
        struct fiber_group *group;
        const char *const *answers; /* NULL = fails; the last one is repeated */
        size_t n_answers, fetches, writes;
        int64_t at_ms[32], life_ms, look_again_ms, fetch_takes_ms, wake_at_ms;
        char file[64];
        bool disk_is_full;
};

static int play(struct token_source *s, int64_t deadline_ms, struct hub_token *ret, struct error *err)
{
        struct rig *r = (struct rig *)s;
        const char *answer = r->answers[MIN(r->fetches, r->n_answers - 1)];

        assert_true(r->fetches < ARRAY_LEN(r->at_ms));
        r->at_ms[r->fetches++] = loop_now_ms(r->loop);
        assert_int_equal(deadline_ms - loop_now_ms(r->loop), REFRESH_DEADLINE_MS);
        if (r->fetch_takes_ms > 0)
                assert_int_equal(fiber_sleep(r->loop, r->fetch_takes_ms), 0);
        if (!answer)
                return error_set(err, ERR_RETRY, "no answer");
        *ret = (struct hub_token){ .text = mem_strdup(answer),
                                   .expires_ms = loop_wall_ms(r->loop) + r->life_ms,
                                   .look_again_ms = r->look_again_ms };
        return 0;
}

static int write_file(void *ctx, const char *path, const void *data, size_t len, struct error *err)
{
        struct rig *r = ctx;

        if (r->disk_is_full)
                return error_set(err, ERR_SYSTEM, "no space left");
        assert_string_equal(path, "/config/token");
        assert_true(len < sizeof(r->file));
        memcpy(r->file, data, len);
        r->file[len] = '\0';
        r->writes++;
        return 0;
}

static uint64_t stamp(void *ctx, const char *path)
{
        return ((struct rig *)ctx)->file[0] ? 1 : 0;
}

static const struct world_files files = { .write = write_file, .stamp = stamp };

static void run_fiber(void *ctx)
{
        struct rig *r = ctx;
        struct error err = { 0 };

        assert_int_equal(refresh_run(&r->refresher, &err), ERR_CANCELLED);
}

static void wake_fiber(void *ctx)
{
        struct rig *r = ctx;

        if (fiber_sleep(r->loop, r->wake_at_ms) == 0)
                refresh_wake(&r->refresher);
}

static void end_fiber(void *ctx)
{
        struct rig *r = ctx;

        r->group = fiber_group_end(r->group);
}

static void setup(struct rig *r)
{
        struct error err = { 0 };

        r->source.fetch = play;
        r->loop = loop_new_simulated(1, WALL, &err);
        assert_non_null(r->loop);
        r->world = (struct world){ .loop = r->loop, .files = &files, .ctx = r };
        r->refresher = (struct refresher){
                .world = &r->world, .log = &r->log, .source = &r->source, .path = "/config/token"
        };
        r->group = fiber_group_new(r->loop, NULL, "test");
        assert_non_null(fiber_spawn(r->group, "run", run_fiber, r));
        if (r->wake_at_ms > 0)
                assert_non_null(fiber_spawn(r->group, "wake", wake_fiber, r));
}

static void teardown(struct rig *r)
{
        struct fiber_group *ender = fiber_group_new(r->loop, NULL, "end");

        assert_non_null(fiber_spawn(ender, "end", end_fiber, r));
        assert_int_equal(loop_run(r->loop, NULL), 0);
        fiber_group_end(ender);
        loop_free(r->loop);
}

static void run_for(struct rig *r, int64_t ms)
{
        setup(r);
        loop_run_until(r->loop, ms);
        teardown(r);
}

#define ANSWERS(...)                                                                                         \
        .answers = (const char *const[]){ __VA_ARGS__ },                                                     \
        .n_answers = sizeof((const char *const[]){ __VA_ARGS__ }) / sizeof(char *)

static void half_of_the_remaining_life_is_waited(void **state)
{
        struct rig r = { .life_ms = 2 * HOUR, ANSWERS("one", "two", "three") };

        run_for(&r, 2 * HOUR + 1000);
        assert_int_equal(r.fetches, 3);
        assert_int_equal(r.at_ms[1], HOUR);
        assert_int_equal(r.at_ms[2], 2 * HOUR);
        assert_string_equal(r.file, "three");
}

static void assert_private(const char *path, const char *token)
{
        struct stat st;
        FILE *f = fopen(path, "r");
        char line[32] = "";

        assert_non_null(f);
        assert_non_null(fgets(line, sizeof(line), f));
        fclose(f);
        assert_string_equal(line, token);
        assert_int_equal(stat(path, &st), 0);
        assert_int_equal(st.st_mode & 0777, 0600);
}

/* spec/member-agent.md checklist 59: on a real disk, and whatever was made of the file meanwhile. */
static void the_file_is_its_owners_alone_and_replaced_at_half_of_its_life(void **state)
{
        struct rig r = { .life_ms = 2 * HOUR, ANSWERS("one", "two") };
        char directory[] = "/tmp/refresh-test-XXXXXX", path[64];
        struct world disk;

        assert_non_null(mkdtemp(directory));
        snprintf(path, sizeof(path), "%s/token", directory);
        setup(&r);
        world_init_real(&disk, r.loop, NULL);
        r.world.files = disk.files;
        r.world.ctx = disk.ctx;
        r.refresher.path = path;
        loop_run_until(r.loop, HOUR - 1000);
        assert_private(path, "one");
        assert_int_equal(chmod(path, 0644), 0);
        loop_run_until(r.loop, HOUR + 1000);
        assert_private(path, "two");
        teardown(&r);
        remove(path);
        remove(directory);
}

static void waits_stay_within_their_limits(void **state)
{
        static const struct {
                int64_t life_ms, wait_ms;
        } lines[] = {
                { -HOUR, 30000 },           { 0, 30000 },      { 59999, 30000 },
                { 62000, 31000 },           { HOUR, 1800000 }, { 24 * HOUR, 12 * HOUR },
                { 9000 * HOUR, 12 * HOUR },
        };

        for (size_t i = 0; i < ARRAY_LEN(lines); i++)
                assert_int_equal(refresh_wait_ms(WALL, WALL + lines[i].life_ms), lines[i].wait_ms);
}

static void failures_are_retried_within_seconds_even_after_a_success(void **state)
{
        struct rig r = { .life_ms = 2 * HOUR, ANSWERS("one", NULL, NULL, NULL, "two") };
        static const int64_t waits[] = { HOUR, 1000, 2000, 4000, HOUR };

        run_for(&r, 2 * HOUR + 60000);
        assert_int_equal(r.fetches, 6);
        for (size_t i = 1; i < r.fetches; i++)
                assert_int_equal(r.at_ms[i] - r.at_ms[i - 1], waits[i - 1]);
        assert_string_equal(r.file, "two");
}

static void retries_never_wait_longer_than_half_a_minute(void **state)
{
        struct rig r = { ANSWERS(NULL) };

        run_for(&r, 300000);
        for (size_t i = 6; i < r.fetches; i++)
                assert_int_equal(r.at_ms[i] - r.at_ms[i - 1], REFRESH_LAST_RETRY_MS);
        assert_true(r.fetches > 8);
        assert_int_equal(r.writes, 0);
}

static void news_are_fetched_at_once(void **state)
{
        struct rig r = { .life_ms = 24 * HOUR, .wake_at_ms = 5000, ANSWERS("old", "new") };

        run_for(&r, 6000);
        assert_int_equal(r.fetches, 2);
        assert_int_equal(r.at_ms[1], 5000);
        assert_string_equal(r.file, "new");
}

static void news_during_a_fetch_lead_to_another_one(void **state)
{
        struct rig r = {
                .life_ms = 24 * HOUR, .fetch_takes_ms = 2000, .wake_at_ms = 1000, ANSWERS("old", "new")
        };

        run_for(&r, 5000);
        assert_int_equal(r.fetches, 2);
        assert_int_equal(r.at_ms[1], 2000);
        assert_string_equal(r.file, "new");
}

static void an_equal_token_is_not_written_again(void **state)
{
        struct rig r = { .life_ms = 2 * HOUR, ANSWERS("same") };

        run_for(&r, 3 * HOUR + 1000);
        assert_int_equal(r.fetches, 4);
        assert_int_equal(r.writes, 1);
}

static void a_file_that_is_gone_is_written_again(void **state)
{
        struct rig r = { .life_ms = 2 * HOUR, ANSWERS("same") };

        setup(&r);
        loop_run_until(r.loop, 1000);
        r.file[0] = '\0';
        loop_run_until(r.loop, HOUR + 1000);
        assert_string_equal(r.file, "same");
        teardown(&r);
}

static void a_full_disk_is_retried(void **state)
{
        struct rig r = { .life_ms = 2 * HOUR, .disk_is_full = true, ANSWERS("one") };

        setup(&r);
        loop_run_until(r.loop, 10000);
        assert_int_equal(r.writes, 0);
        r.disk_is_full = false;
        loop_run_until(r.loop, 20000);
        assert_string_equal(r.file, "one");
        teardown(&r);
}

static void a_source_that_cannot_tell_of_changes_is_asked_more_often(void **state)
{
        struct rig r = { .life_ms = 24 * HOUR, .look_again_ms = 300000, ANSWERS("one", "two") };

        run_for(&r, 301000);
        assert_int_equal(r.fetches, 2);
        assert_string_equal(r.file, "two");
}

static void everything_is_given_back(void **state)
{
        size_t before = mem_live_count();
        struct rig r = { .life_ms = HOUR, ANSWERS("one", NULL, "two") };

        run_for(&r, 4 * HOUR);
        assert_int_equal(mem_live_count(), before);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(half_of_the_remaining_life_is_waited),
                cmocka_unit_test(the_file_is_its_owners_alone_and_replaced_at_half_of_its_life),
                cmocka_unit_test(waits_stay_within_their_limits),
                cmocka_unit_test(failures_are_retried_within_seconds_even_after_a_success),
                cmocka_unit_test(retries_never_wait_longer_than_half_a_minute),
                cmocka_unit_test(news_are_fetched_at_once),
                cmocka_unit_test(news_during_a_fetch_lead_to_another_one),
                cmocka_unit_test(an_equal_token_is_not_written_again),
                cmocka_unit_test(a_file_that_is_gone_is_written_again),
                cmocka_unit_test(a_full_disk_is_retried),
                cmocka_unit_test(a_source_that_cannot_tell_of_changes_is_asked_more_often),
                cmocka_unit_test(everything_is_given_back),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
