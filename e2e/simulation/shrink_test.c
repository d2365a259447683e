#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/base/memory.h"
#include "e2e/simulation/rules.h"
#include "e2e/simulation/shrink.h"

#define MINUTE_MS 60000
#define SOON 20 /* moves */

/* The only rule of these runs is planted: no taint after the second of a member's relabellings. What else is
 * played has no part in it. */
struct planted {
        unsigned labelled;
};

static void planted_changed(struct watch *w, void *state, const struct change *c);

static const struct rule planted = { .name = "planted",
                                     .state_size = sizeof(struct planted),
                                     .changed = planted_changed };
const struct rule *const watch_rules[] = { &planted, NULL };

static bool changes(const struct change *c, const char *path)
{
        const json_t *before = doc_get(c->before, path), *after = doc_get(c->after, path);

        return c->type == CHANGE_MODIFIED && (before || after) &&
               (!before || !after || !json_equal((json_t *)before, (json_t *)after));
}

static void planted_changed(struct watch *w, void *state, const struct change *c)
{
        struct planted *p = state;

        if (!text_equal(c->resource, "cluster.kubernetes-fleet.io/memberclusters") ||
            !text_equal(c->who, "player"))
                return;
        p->labelled += changes(c, "metadata.labels.tier") || changes(c, "metadata.labels.zone");
        if (changes(c, "spec.taints") && p->labelled >= 2)
                watch_broken(w, &planted, "tainted after labels were changed %u times", p->labelled);
}

static const char *kind_at(const struct shrunk *s, size_t i)
{
        return move_kinds[s->moves[i].kind].name;
}

static struct run_plan draw(uint64_t seed, struct move **ret)
{
        struct run_plan plan = {
                .seed = seed, .members = 1, .hub_agents = 1, .minutes = 3, .patience_ms = 3 * MINUTE_MS
        }; /* what is planted fails by then */

        *ret = moves_draw(seed, plan.minutes * MINUTE_MS, plan.members, &plan.n_moves);
        plan.moves = *ret;
        return plan;
}

/* Whether it relabels twice before it taints, and soon: that can be seen before a fleet is played. */
static bool may_break(const struct run_plan *plan)
{
        unsigned relabelled = 0;

        for (size_t i = 0; i < MIN(plan->n_moves, (size_t)SOON); i++) {
                const char *kind = move_kinds[plan->moves[i].kind].name;

                relabelled += text_equal(kind, "relabel");
                if (relabelled >= 2 && text_equal(kind, "taint"))
                        return true;
        }
        return false;
}

/* The first seed that breaks it is taken, so that a new move does not break the test. None with a garden,
 * whose runs cannot begin where the members have joined. */
static int shrink_first(struct shrunk *ret, size_t *ret_n, struct error *err)
{
        for (uint64_t seed = 1; seed < 2000; seed++) {
                struct move *moves;
                struct run_plan plan = draw(seed, &moves);
                int code = may_break(&plan) && !moves_have_garden(seed) ? shrink_plan(&plan, 200, ret, err)
                                                                        : ERR_NOT_FOUND;

                *ret_n = plan.n_moves;
                mem_free(moves);
                if (code != ERR_NOT_FOUND)
                        return code;
        }
        return ERR_NOT_FOUND;
}

/* Its parts were tried from where the members had joined. */
static void fails_from_the_beginning(const struct shrunk *s)
{
        struct coverage *coverage = coverage_new();
        struct run_result result;

        assert_int_not_equal(run_play(&s->plan, NULL, coverage, &result), 0);
        assert_non_null(strstr(result.err.text, "rule planted"));
        run_result_clear(&result);
        coverage_free(coverage);
}

static void what_fails_shrinks_to_the_moves_that_make_it_fail_and_no_fault(void **state)
{
        struct error err = { 0 };
        struct shrunk s;
        size_t n;

        if (shrink_first(&s, &n, &err) < 0)
                fail_msg("%s", err.text);
        assert_true(n > 30);
        assert_non_null(strstr(s.err.text, "rule planted"));
        assert_int_equal(s.plan.n_faults, 0);
        assert_int_equal(s.plan.n_moves, 3);
        assert_string_equal(kind_at(&s, 0), "relabel");
        assert_string_equal(kind_at(&s, 1), "relabel");
        assert_string_equal(kind_at(&s, 2), "taint");
        assert_in_range(s.tries, 1, 60);
        fails_from_the_beginning(&s);
        shrink_clear(&s);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(what_fails_shrinks_to_the_moves_that_make_it_fail_and_no_fault),
        };

        mem_hook_libraries();
        return cmocka_run_group_tests(tests, NULL, NULL);
}
