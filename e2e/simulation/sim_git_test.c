/* The garden's moves, its repository and its agent together, where nothing goes wrong but what moves do. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "common/base/memory.h"
#include "e2e/simulation/model_parts.h"
#include "e2e/simulation/moves_internal.h"
#include "e2e/simulation/sim_fleet.h"
#include "e2e/simulation/sim_git.h"

#define MINUTE 60000

struct bench {
        struct loop *loop;
        struct log_sink sink;
        struct log log;
        struct wish wish;
        struct player player;
        unsigned deleted; /* by the agent */
        void (*body)(struct bench *b);
};

static void drop_line(void *ctx, const char *line, size_t n)
{
        if (getenv("HUB_TEST_LOG"))
                fwrite(line, 1, n, stderr);
}

static int64_t bench_wall(void *ctx)
{
        return loop_wall_ms(((struct bench *)ctx)->loop);
}

static void note(void *ctx, const struct change *c)
{
        struct bench *b = ctx;

        b->deleted += text_equal(c->who, WISH_GARDENER) && c->type == CHANGE_DELETED;
}

static void body_fiber(void *ctx)
{
        struct bench *b = ctx;
        struct sim_fleet_options o = {
                .loop = b->loop, .log_sink = &b->sink, .members = 1, .changed = note, .ctx = b
        };
        struct error err = { 0 };

        assert_int_equal(sim_fleet_open(&o, &b->player.fleet, &err), 0);
        assert_int_equal(fleet_prepare(b->player.fleet, 60000, &err), 0);
        assert_int_equal(sim_git_open(b->player.fleet, &b->wish.garden, &b->player.git, &err), 0);
        assert_int_equal(b->player.fleet->ops->start_agent(b->player.fleet, WISH_GARDENER, &err), 0);
        fiber_sleep(b->loop, MINUTE / 2);
        b->body(b);
        b->player.fleet->ops->close(b->player.fleet);
        b->player.git = sim_git_close(b->player.git);
}

static void with_garden(void (*body)(struct bench *b))
{
        struct bench b = { .body = body };
        struct fiber_group *group;

        b.loop = loop_new_simulated(1, 1767225600000, NULL);
        b.sink = (struct log_sink){
                .write = drop_line, .wall_ms = bench_wall, .ctx = &b, .format = LOG_TEXT, .least = LOG_INFO
        };
        b.log = (struct log){ .sink = &b.sink };
        b.player.wish = &b.wish;
        b.player.log = &b.log;
        group = fiber_group_new(b.loop, NULL, "test");
        assert_non_null(fiber_spawn(group, "body", body_fiber, &b));
        assert_int_equal(loop_run(b.loop, NULL), 0);
        fiber_group_end(group);
        loop_free(b.loop);
}

static unsigned kind_of(const char *name)
{
        for (unsigned i = 0; i < n_move_kinds; i++)
                if (text_equal(move_kinds[i].name, name))
                        return i;
        fail_msg("no move %s", name);
        return 0;
}

static bool play(struct bench *b, unsigned kind, uint64_t dice)
{
        struct dice d = { dice };
        struct error err = { 0 };
        int code;

        b->player.playing = move_kinds[kind].name;
        code = move_kinds[kind].play(&b->player, &d, &err);
        if (code < 0)
                fail_msg("%s: %s", move_kinds[kind].name, err.text);
        return code > 0;
}

static int judge(struct bench *b, struct error *err)
{
        return model_judge_garden(b->player.fleet, &b->wish.garden, b->player.git, err);
}

static void must_be_right(struct bench *b)
{
        struct error err = { 0 };

        if (judge(b, &err) < 0)
                fail_msg("%s", err.text);
}

static void play_all(struct bench *b)
{
        unsigned first = kind_of("plot-change"), n = kind_of("start-gardener") + 1 - first;
        unsigned *done = mem_calloc(n, sizeof(*done));
        struct error err = { 0 };
        struct dice d = { 5 };

        for (unsigned i = 0; i < 400; i++) {
                unsigned kind = (unsigned)dice_below(&d, n);

                done[kind] += play(b, first + kind, dice_next(&d));
                fiber_sleep(b->loop, 2000);
                if (i % 80 != 79)
                        continue;
                assert_int_equal(moves_heal_garden(&b->player, &err), 0);
                fiber_sleep(b->loop, 3 * MINUTE);
                must_be_right(b);
        }
        for (unsigned i = 0; i < n; i++)
                if (done[i] == 0)
                        fail_msg("move %s never worked", move_kinds[first + i].name);
        mem_free(done);
}

static void the_hub_has_what_users_left(void **state)
{
        with_garden(play_all);
}

/* ---- that the model sees what is wrong ---- */

static void expect_wrong(struct bench *b, const char *words)
{
        struct error err = { 0 };

        assert_int_equal(judge(b, &err), ERR_INVALID);
        if (!strstr(err.text, words))
                fail_msg("\"%s\" does not say \"%s\"", err.text, words);
}

static void spoil(struct bench *b)
{
        struct wish_garden *g = &b->wish.garden, was = *g;

        must_be_right(b);
        g->good[0].plots[0].color = 77;
        expect_wrong(b, "ConfigMap bed-0/plot-0: is c1, should be c77");
        *g = was;
        g->good[0].plots[3].color = 7;
        expect_wrong(b, "ConfigMap bed-0/plot-3: is not there");
        *g = was;
        g->good[0].placed = false;
        expect_wrong(b, "ClusterResourcePlacement bed-0/bed-0: is there, the branch does not have it");
        *g = was;
        g->beds[1].plots[0].color = 7;
        expect_wrong(b, "status: objects is");
        *g = was;
        memset(g->head, 'a', 40);
        expect_wrong(b, "lost aaaaaaa");
        *g = was;
        g->beds[0].image = 9;
        expect_wrong(b, "CronJob bed-0/job: has image app:v1 on the branch, which nobody asked for");
        *g = was;
        g->neighbours[0][0] = true;
        expect_wrong(b, "own-0 is not as its user left it");
        *g = was;
        assert_true(sim_git_move_tag(b->player.git, true));
        expect_wrong(b, "the sync tag is at");
}

static void the_model_sees_what_is_wrong(void **state)
{
        with_garden(spoil);
}

static void clear_and_confirm(struct bench *b)
{
        assert_true(play(b, kind_of("bed-clear"), 1));
        fiber_sleep(b->loop, MINUTE);
        must_be_right(b);
        assert_int_equal(b->deleted, 0);
        assert_true(play(b, kind_of("garden-collect"), 1));
        fiber_sleep(b->loop, MINUTE);
        must_be_right(b);
        assert_true(b->deleted > 0);
}

static void an_empty_bed_goes_when_somebody_confirms(void **state)
{
        with_garden(clear_and_confirm);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(the_hub_has_what_users_left),
                cmocka_unit_test(the_model_sees_what_is_wrong),
                cmocka_unit_test(an_empty_bed_goes_when_somebody_confirms),
        };

        mem_hook_libraries();
        return cmocka_run_group_tests(tests, NULL, NULL);
}
