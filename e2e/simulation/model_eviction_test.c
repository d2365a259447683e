/* What the model wants evictions to say; and that its arithmetic of budgets is the agent's. */
#include "e2e/simulation/eviction_words.h"
#include "e2e/simulation/model_test.h"
#include "hub-agent/eviction/eviction.h"

#define VALID                                                                                                \
        "{'type':'Valid','status':'True','observedGeneration':1,'reason':"                                   \
        "'ClusterResourcePlacementEvictionValid','message':'Eviction is valid'}"
#define INVALID(message)                                                                                     \
        "{'type':'Valid','status':'False','observedGeneration':1,'reason':"                                  \
        "'ClusterResourcePlacementEvictionInvalid','message':'" message "'}"
#define EXECUTED(message)                                                                                    \
        VALID ",{'type':'Executed','status':'True','observedGeneration':1,'reason':"                         \
              "'ClusterResourcePlacementEvictionExecuted','message':'" message "'}"
#define NOT_EXECUTED(message)                                                                                \
        VALID ",{'type':'Executed','status':'False','observedGeneration':1,'reason':"                        \
              "'ClusterResourcePlacementEvictionNotExecuted','message':'" message "'}"
#define NO_PLACEMENT "Failed to find ClusterResourcePlacement targeted by eviction"
#define GOING "Found deleting ClusterResourcePlacement targeted by eviction"
#define FIXED "Found ClusterResourcePlacement with PickFixed placement type targeted by eviction"
#define NO_BINDING "Failed to find scheduler decision for placement in cluster targeted by eviction"
#define NO_BUDGET "Eviction is allowed, no ClusterResourcePlacementDisruptionBudget specified"
#define BY(what, a, t)                                                                                       \
        "Eviction is " what                                                                                  \
        " by specified ClusterResourcePlacementDisruptionBudget, availablePlacements: " #a                   \
        ", totalPlacements: " #t
#define UNMEASURABLE                                                                                         \
        "Eviction is blocked by misconfigured ClusterResourcePlacementDisruptionBudget, either "             \
        "MaxUnavailable is specified or MinAvailable is specified as a percentage for PickAll "              \
        "ClusterResourcePlacement"

/* An eviction of app-0, which is there since long before. */
static void wish_for(struct bench *b, struct wish_policy policy)
{
        b->wish.apps[0].placements[PLACE_MAIN] =
                (struct wish_placement){ .exists = true, .policy = policy, .since_ms = 1000 };
        b->wish.evictions[0] = (struct wish_eviction){ .exists = true, .member = 1, .made_ms = 5000 };
}

static int judge(struct bench *b, const char *conditions)
{
        AUTO_JSON json_t *list = NULL;
        AUTO_BUF struct buf text;

        buf_init(&text, 4096);
        buf_printf(&text, "[{'metadata':{'name':'evict-0','generation':1},'status':{'conditions':[%s]}}]",
                   conditions);
        for (size_t i = 0; i < text.len; i++)
                if (text.data[i] == '\'')
                        text.data[i] = '"';
        assert_int_equal(doc_parse((struct slice){ text.data, text.len }, &list, &b->err), 0);
        return model_judge_evictions(&b->wish, list, &b->err);
}

static void an_eviction_is_decided(void **state)
{
        static const struct {
                const char *conditions, *difference;
        } cases[] = {
                { "", "it is not decided: Valid is missing" },
                { VALID, "it is valid, and Executed is missing" },
                { INVALID("no words"), "no such words" },
                { EXECUTED(BY("blocked", 1, 1)), "no such words" },
                { EXECUTED(NO_BUDGET), NULL },
                { INVALID(NO_BINDING), NULL },
        };
        struct bench *b = *state;

        wish_for(b, (struct wish_policy){ .type = POLICY_PICK_ALL });
        for (size_t i = 0; i < ARRAY_LEN(cases); i++)
                if (cases[i].difference)
                        assert_says(judge(b, cases[i].conditions), cases[i].difference);
                else
                        assert_agrees(judge(b, cases[i].conditions));
        b->wish.evictions[0].exists = false;
        assert_says(judge(b, EXECUTED(NO_BUDGET)), "eviction evict-0: it is there");
}

static void what_was_so_all_the_time_decides_the_words(void **state)
{
        struct bench *b = *state;

        wish_for(b, (struct wish_policy){ .type = POLICY_PICK_FIXED });
        assert_agrees(judge(b, INVALID(FIXED)));
        assert_says(judge(b, INVALID(NO_BINDING)), "it is PickFixed");
        wish_for(b, (struct wish_policy){ .type = POLICY_PICK_ALL });
        assert_says(judge(b, INVALID(FIXED)), "it is PickFixed");
        assert_says(judge(b, INVALID(NO_PLACEMENT)), "there all the time");
        assert_says(judge(b, INVALID(GOING)), "there all the time");
        b->wish.apps[0].placements[PLACE_MAIN].since_ms = 6000; /* made again */
        assert_agrees(judge(b, INVALID(GOING)));
        b->wish.apps[0].placements[PLACE_MAIN] = (struct wish_placement){ 0 };
        b->wish.evictions[0].of_nothing = true;
        assert_agrees(judge(b, INVALID(NO_PLACEMENT)));
        assert_says(judge(b, EXECUTED(NO_BUDGET)), "there is no placement");
}

static void a_budget_that_stood_decides(void **state)
{
        struct bench *b = *state;
        struct wish_budget *budget = &b->wish.apps[0].budgets[PLACE_MAIN];

        wish_for(b, (struct wish_policy){ .type = POLICY_PICK_N, .n = 3 });
        assert_says(judge(b, NOT_EXECUTED(BY("blocked", 1, 3))), "there is no budget");
        *budget = (struct wish_budget){ .exists = true, .max = true, .percent = true, .value = 34 }; /* 2 */
        assert_says(judge(b, EXECUTED(NO_BUDGET)), "there is a budget");
        assert_agrees(judge(b, EXECUTED(BY("allowed", 2, 3))));
        assert_says(judge(b, EXECUTED(BY("allowed", 1, 3))), "the budget says otherwise");
        assert_agrees(judge(b, NOT_EXECUTED(BY("blocked", 1, 3))));
        assert_says(judge(b, NOT_EXECUTED(UNMEASURABLE)), "can be measured");
        b->wish.apps[0].placements[PLACE_MAIN].policy.type = POLICY_PICK_ALL;
        assert_agrees(judge(b, NOT_EXECUTED(UNMEASURABLE)));
        assert_says(judge(b, EXECUTED(BY("allowed", 3, 3))), "cannot be measured");
        budget->changed_ms = 5000; /* in the same moment */
        assert_agrees(judge(b, EXECUTED(BY("allowed", 3, 3))));
}

static void check(const struct eviction_limit *l)
{
        struct int_or_string value = { .set = true, .value = l->value };
        struct disruption_budget_spec spec = { 0 };
        struct disruption_budget budget = { .spec = &spec };
        char text[16];

        snprintf(text, sizeof(text), "%lld%%", (long long)l->value);
        if (l->percent)
                value.text = text;
        *(l->max ? &spec.max_unavailable : &spec.min_available) = value;
        for (unsigned total = 0; total <= 6; total++)
                for (unsigned available = 0; available <= total; available++)
                        if (eviction_limit_allows(l, available, total) !=
                            (budget_allows(&budget, l->n_wanted, available, total) > 0))
                                fail_msg("%s %s of %lld: %u of %u", l->max ? "max" : "min", text,
                                         (long long)l->n_wanted, available, total);
}

static void two_hands_come_to_one_result(void **state)
{
        for (unsigned i = 0; i < 4; i++)
                for (int64_t n = 0; n <= 6; n++)
                        for (int64_t value = 0; value <= (i & 1 ? 100 : 8); value++)
                                check(&(struct eviction_limit){ .exists = true,
                                                                .is_set = true,
                                                                .max = i & 2,
                                                                .percent = i & 1,
                                                                .value = value,
                                                                .n_wanted = n });
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                BENCH_TEST(an_eviction_is_decided),
                BENCH_TEST(what_was_so_all_the_time_decides_the_words),
                BENCH_TEST(a_budget_that_stood_decides),
                cmocka_unit_test(two_hands_come_to_one_result),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
