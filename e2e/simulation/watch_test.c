#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/base/memory.h"
#include "e2e/simulation/watch.h"

struct counter {
        unsigned changes;
        char *kept;
};

static unsigned ended;

static void count_changed(struct watch *w, void *state, const struct change *c);
static void count_at_rest(struct watch *w, void *state);
static void count_end(void *state);

static void count_sent(struct watch *w, void *state, const struct sent *s);

static const struct rule counts = { .name = "few-changes",
                                    .state_size = sizeof(struct counter),
                                    .changed = count_changed,
                                    .sent = count_sent,
                                    .at_rest = count_at_rest,
                                    .end = count_end };
static const struct rule deaf = { .name = "deaf" };
const struct rule *const watch_rules[] = { &counts, &deaf, NULL };

static void count_changed(struct watch *w, void *state, const struct change *c)
{
        struct counter *n = state;

        if (!n->kept)
                n->kept = mem_strdup(c->name);
        watch_judged(w, &counts);
        if (++n->changes > 2)
                watch_broken(w, &counts, "%u changes, the last of %s by %s", n->changes, c->name, c->who);
}

static void count_sent(struct watch *w, void *state, const struct sent *s)
{
        watch_broken(w, &counts, "%s sent %s", s->who, s->name);
}

static void count_at_rest(struct watch *w, void *state)
{
        if (((struct counter *)state)->changes == 0)
                watch_broken(w, &counts, "nothing happened in a fleet of %u", watch_wish(w)->n_members);
}

static void count_end(void *state)
{
        mem_free(((struct counter *)state)->kept);
        ended++;
}

struct bench {
        struct world world;
        struct log log;
        struct fleet fleet;
        struct wish wish;
        struct coverage *coverage;
        struct watch *watch;
};

static void open_bench(struct bench *b)
{
        struct watch_options o = { .fleet = &b->fleet, .wish = &b->wish };

        *b = (struct bench){ .world = { .loop = loop_new_simulated(1, 1767225600000, NULL) } };
        b->fleet = (struct fleet){ .world = &b->world, .log = &b->log };
        b->wish.n_members = 3;
        o.coverage = b->coverage = coverage_new();
        b->watch = watch_new(&o);
        assert_non_null(b->watch);
}

static void close_bench(struct bench *b)
{
        watch_free(b->watch);
        coverage_free(b->coverage);
        loop_free(b->world.loop);
}

static void change_at(struct bench *b, int64_t at_ms, const char *name)
{
        struct change c = { .at_ms = at_ms,
                            .cluster = "hub",
                            .resource = "/configmaps",
                            .ns = "",
                            .name = name,
                            .type = CHANGE_MODIFIED,
                            .who = "player" };

        loop_run_until(b->world.loop, at_ms);
        watch_change(b->watch, &c);
}

static void the_first_broken_rule_is_the_verdict(void **state)
{
        struct bench b;
        struct error err;

        open_bench(&b);
        change_at(&b, 1000, "a");
        change_at(&b, 2000, "b");
        watch_at_rest(b.watch);
        assert_int_equal(watch_verdict(b.watch, &err), 0);
        change_at(&b, 3000, "c");
        change_at(&b, 4000, "d");
        assert_int_equal(watch_verdict(b.watch, &err), ERR_INTERNAL);
        assert_string_equal(err.text, "rule few-changes, at 3000 ms: 3 changes, the last of c by player");
        close_bench(&b);
}

static void what_is_sent_is_judged(void **state)
{
        const struct sent s = { .who = "hub-agent", .name = "x" };
        struct bench b;
        struct error err;

        open_bench(&b);
        watch_sent(b.watch, &s);
        assert_int_equal(watch_verdict(b.watch, &err), ERR_INTERNAL);
        assert_string_equal(err.text, "rule few-changes, at 0 ms: hub-agent sent x");
        close_bench(&b);
}

static void rules_judge_at_rest_too(void **state)
{
        struct bench b;
        struct error err;

        open_bench(&b);
        watch_at_rest(b.watch);
        assert_int_equal(watch_verdict(b.watch, &err), ERR_INTERNAL);
        assert_string_equal(err.text, "rule few-changes, at 0 ms: nothing happened in a fleet of 3");
        close_bench(&b);
}

static void a_rule_that_judged_nothing_is_a_hole(void **state)
{
        FILE *null = fopen("/dev/null", "we");
        struct bench b;

        open_bench(&b);
        assert_int_equal(coverage_report(b.coverage, 1, null), 2);
        change_at(&b, 1, "a");
        assert_int_equal(coverage_report(b.coverage, 1, null), 1);
        close_bench(&b);
        fclose(null);
}

static void rules_free_what_they_keep(void **state)
{
        size_t live = mem_live_count();
        struct bench b;

        open_bench(&b);
        change_at(&b, 1, "a");
        ended = 0;
        close_bench(&b);
        assert_int_equal(ended, 1);
        assert_int_equal(mem_live_count(), live);
        watch_free(NULL);
        assert_int_equal(watch_verdict(NULL, NULL), 0);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(the_first_broken_rule_is_the_verdict),
                cmocka_unit_test(what_is_sent_is_judged),
                cmocka_unit_test(rules_judge_at_rest_too),
                cmocka_unit_test(a_rule_that_judged_nothing_is_a_hole),
                cmocka_unit_test(rules_free_what_they_keep),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
