#include "hub-agent/eviction/eviction_test.h"

#include "common/base/buf.h"

#define NOW INT64_C(1767225600000) /* 2026-01-01T00:00:00Z */

struct scene {
        struct arena arena;
        struct eviction_input in;
        const struct object *bindings[16];
        const char *decided[4];
        struct eviction_plan plan;
};

static const struct eviction *eviction_with(struct scene *s, const char *status)
{
        char json[1024];

        snprintf(json, sizeof(json),
                 "{\"metadata\":{\"name\":\"e\",\"generation\":1},\"spec\":{\"placementName\":\"web\","
                 "\"clusterName\":\"c0\"},\"status\":{%s}}",
                 status);
        return parse(&s->arena, &cluster_resource_placement_eviction_kind, json);
}

static void begin(struct scene *s, const char *policy, const char *budget)
{
        *s = (struct scene){ .in.now_ms = NOW };
        s->in.eviction = eviction_with(s, "");
        s->in.placement = policy ? placement_of(&s->arena, policy) : NULL;
        s->in.budget = budget ? budget_of(&s->arena, budget) : NULL;
        s->in.bindings.at = s->bindings;
        s->in.decided = s->decided;
}

/* A binding on c0, c1, ...; the first letter is its state S(cheduled) B(ound) U(nscheduled, was Bound)
 * u(nscheduled, was Scheduled), the others say: a(vailable), o(nce available: of a generation before), n(ot
 * available yet), f(ailed), i(n progress), D(iff reported), d(eleting), 0 = on c0 whatever its number. Its
 * uid is "uN", and its version "vN". */
static void add(struct scene *s, const char *letters)
{
        static const struct {
                char letter;
                const char *condition;
        } words[] = {
                { 'a', "\"type\":\"Available\",\"status\":\"True\",\"observedGeneration\":2" },
                { 'o', "\"type\":\"Available\",\"status\":\"True\",\"observedGeneration\":1" },
                { 'n', "\"type\":\"Available\",\"status\":\"False\",\"observedGeneration\":2" },
                { 'f', "\"type\":\"Overridden\",\"status\":\"False\",\"observedGeneration\":2" },
                { 'i', "\"type\":\"Applied\",\"status\":\"False\",\"observedGeneration\":2" },
                { 'D', "\"type\":\"DiffReported\",\"status\":\"False\",\"observedGeneration\":2" },
        };
        static const char *const reasons[] = { "AllWorkAreAvailable",     "AllWorkAreAvailable",
                                               "ResourceNotAvailableYet", "OverriddenFailed",
                                               "ApplyInProgress",         "X" };
        size_t n = s->in.bindings.n, listed = 0;
        AUTO_BUF struct buf b;

        buf_init(&b, 4096);
        buf_printf(&b,
                   "{\"metadata\":{\"name\":\"b%zu\",\"uid\":\"u%zu\",\"resourceVersion\":\"v%zu\","
                   "\"generation\":2,"
                   "%s\"annotations\":{\"kubernetes-fleet.io/previous-binding-state\":\"%s\"}},"
                   "\"spec\":{\"state\":\"%s\",\"targetCluster\":\"c%zu\",\"resourceSnapshotName\":\"\","
                   "\"schedulingPolicySnapshotName\":\"\"},\"status\":{\"conditions\":[",
                   n, n, n, strchr(letters, 'd') ? "\"deletionTimestamp\":\"2025-12-31T00:00:00Z\"," : "",
                   letters[0] == 'u' ? "Scheduled" : "Bound",
                   letters[0] == 'S'   ? "Scheduled"
                   : letters[0] == 'B' ? "Bound"
                                       : "Unscheduled",
                   strchr(letters, '0') ? 0 : n);
        for (size_t i = 0; i < ARRAY_LEN(words); i++)
                if (strchr(letters, words[i].letter))
                        buf_printf(&b,
                                   "%s{%s,\"reason\":\"%s\",\"message\":\"\",\"lastTransitionTime\":"
                                   "\"2025-12-31T23:59:25Z\"}",
                                   listed++ ? "," : "", words[i].condition, reasons[i]);
        buf_append_str(&b, "]}}");
        s->bindings[s->in.bindings.n++] = parse(&s->arena, &cluster_resource_binding_kind, b.data);
}

static void add_all(struct scene *s, const char *bindings)
{
        char copy[128], *rest = copy, *word;

        snprintf(copy, sizeof(copy), "%s", bindings);
        while ((word = strsep(&rest, " ")))
                if (*word)
                        add(s, word);
}

static void run(struct scene *s)
{
        struct error err = { 0 };

        if (plan_eviction(&s->arena, &s->in, &s->plan, &err) < 0)
                fail_msg("%s", err.text);
}

static void expect_condition(const struct eviction *e, const char *type, const char *status,
                             const char *reason, const char *message)
{
        const struct condition *c = condition_find(&e->status->conditions, type);

        if (!c)
                fail_msg("there is no condition %s", type);
        assert_string_equal(c->status, status);
        assert_string_equal(c->reason, reason);
        assert_string_equal(c->message, message);
        assert_int_equal(c->observed_generation.value, 1);
        assert_int_equal(c->last_transition_ms, NOW);
}

static void expect_valid(const struct eviction *e)
{
        expect_condition(e, "Valid", "True", "ClusterResourcePlacementEvictionValid", "Eviction is valid");
}

static void expect_invalid(const struct scene *s, const char *message)
{
        expect_condition(s->plan.wanted, "Valid", "False", "ClusterResourcePlacementEvictionInvalid",
                         message);
        assert_null(condition_find(&s->plan.wanted->status->conditions, "Executed"));
        assert_null(s->plan.remove);
        assert_true(eviction_is_over(s->plan.wanted));
}

static void expect_blocked(const struct scene *s, const char *message)
{
        expect_valid(s->plan.wanted);
        expect_condition(s->plan.wanted, "Executed", "False", "ClusterResourcePlacementEvictionNotExecuted",
                         message);
        assert_null(s->plan.remove);
        assert_null(s->plan.wanted->status->decision);
        assert_true(eviction_is_over(s->plan.wanted));
}

/* Stored before anything is deleted: which binding goes, and what Executed will say. */
static void expect_allowed(struct scene *s, const char *message)
{
        const struct eviction *done;

        expect_valid(s->plan.wanted);
        assert_null(condition_find(&s->plan.wanted->status->conditions, "Executed"));
        assert_false(eviction_is_over(s->plan.wanted));
        assert_ptr_equal(s->plan.remove, s->bindings[0]);
        assert_string_equal(s->plan.wanted->status->decision->binding_name, "b0");
        assert_string_equal(s->plan.wanted->status->decision->binding_uid, "u0");
        assert_string_equal(s->plan.wanted->status->decision->binding_resource_version, "v0");
        assert_string_equal(s->plan.wanted->status->decision->message, message);
        assert_string_equal(s->plan.message, message);
        done = eviction_executed(&s->arena, s->plan.wanted, s->plan.message, NOW);
        expect_valid(done);
        expect_condition(done, "Executed", "True", "ClusterResourcePlacementEvictionExecuted", message);
        assert_null(done->status->decision);
        assert_true(eviction_is_over(done));
}

static void expect_executed(const struct scene *s, const char *message)
{
        expect_valid(s->plan.wanted);
        expect_condition(s->plan.wanted, "Executed", "True", "ClusterResourcePlacementEvictionExecuted",
                         message);
        assert_null(s->plan.remove);
        assert_null(s->plan.wanted->status->decision);
        assert_true(eviction_is_over(s->plan.wanted));
}

/* ---- spec 14.1 step 3 ---- */

/* spec/staged-update-and-eviction.md checklist 43 */
static void an_eviction_of_nothing_is_invalid(void **state)
{
        static const struct {
                const char *policy, *bindings, *message;
        } cases[] = {
                { NULL, "Ba", "Failed to find ClusterResourcePlacement targeted by eviction" },
                { "PickFixed", "Ba",
                  "Found ClusterResourcePlacement with PickFixed placement type targeted by eviction" },
                { "PickAll", "",
                  "Failed to find scheduler decision for placement in cluster targeted by eviction" },
                { "PickAll", "Bad Sa0",
                  "Found more than one scheduler decision for placement in cluster targeted by eviction" },
                { "", "Ba Ba0",
                  "Found more than one scheduler decision for placement in cluster targeted by eviction" },
        };

        for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
                struct scene s;

                begin(&s, cases[i].policy, NULL);
                add_all(&s, cases[i].bindings);
                run(&s);
                expect_invalid(&s, cases[i].message);
                arena_free(&s.arena);
        }
}

/* spec/staged-update-and-eviction.md checklist 43 */
static void a_placement_that_is_being_deleted_needs_no_eviction(void **state)
{
        struct scene s;

        begin(&s, NULL, NULL);
        s.in.placement =
                parse(&s.arena, &cluster_resource_placement_kind,
                      "{\"metadata\":{\"name\":\"web\",\"deletionTimestamp\":\"2025-12-31T00:00:00Z\"},"
                      "\"spec\":{\"policy\":{\"placementType\":\"PickFixed\"}}}");
        add(&s, "Ba");
        run(&s);
        expect_invalid(&s, "Found deleting ClusterResourcePlacement targeted by eviction");
        arena_free(&s.arena);
}

#define VALID(status)                                                                                        \
        "{\"type\":\"Valid\",\"status\":\"" status "\",\"reason\":\"X\",\"message\":\"\"," AT(1) "}"
#define AT(g) "\"lastTransitionTime\":\"2026-01-01T00:00:00Z\",\"observedGeneration\":" #g
#define EXECUTED(status, g)                                                                                  \
        "{\"type\":\"Executed\",\"status\":\"" status "\",\"reason\":\"X\",\"message\":\"\"," AT(g) "}"
#define STALE_INVALID "{\"type\":\"Valid\",\"status\":\"False\",\"reason\":\"X\",\"message\":\"\"," AT(7) "}"
#define DECISION(version)                                                                                    \
        "\"decision\":{\"bindingName\":\"b0\",\"bindingUID\":\"u0\",\"bindingResourceVersion\":\"" version   \
        "\",\"message\":\"as decided\"}"

/* spec/staged-update-and-eviction.md checklist 43 */
static void what_is_decided_is_never_looked_at_again(void **state)
{
        static const struct {
                const char *status;
                bool over;
        } cases[] = {
                { "", false },
                { "\"conditions\":[" VALID("True") "]", false },
                { "\"conditions\":[" STALE_INVALID "]", false },
                { "\"conditions\":[" VALID("False") "]", true },
                { "\"conditions\":[" VALID("True") "," EXECUTED("True", 1) "]", true },
                { "\"conditions\":[" VALID("True") "," EXECUTED("False", 1) "]", true },
                { "\"conditions\":[" EXECUTED("Unknown", 9) "]", true },
                { "\"conditions\":[" VALID("True") "]," DECISION("v0"), false },
        };

        for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
                struct scene s;

                begin(&s, "PickAll", NULL);
                assert_int_equal(eviction_is_over(eviction_with(&s, cases[i].status)), cases[i].over);
                arena_free(&s.arena);
        }
}

/* It has a finalizer of somebody else's; with its deletion its generation moved. */
static void an_eviction_that_is_being_deleted_gets_no_new_decision(void **state)
{
        struct scene s;
        struct eviction *e;

        begin(&s, "PickAll", NULL);
        e = (struct eviction *)object_copy(&eviction_with(&s, "")->object, &s.arena);
        e->object.meta.deletion_ms = NOW;
        assert_true(eviction_is_over(e));
        e = (struct eviction *)object_copy(&eviction_with(&s, DECISION("v0"))->object, &s.arena);
        e->object.meta.deletion_ms = NOW;
        assert_false(eviction_is_over(e));
        arena_free(&s.arena);
}

/* ---- spec 14.1 step 4 ---- */

/* spec/staged-update-and-eviction.md checklist 44 */
static void what_was_not_placed_cannot_be_evicted(void **state)
{
        static const char *const blocked[] = { "S", "Sa", "u", "Sf" };
        struct scene s;

        for (size_t i = 0; i < ARRAY_LEN(blocked); i++) {
                begin(&s, "PickAll", NULL);
                add(&s, blocked[i]);
                run(&s);
                expect_blocked(&s, "Eviction is blocked, placement has not propagated resources to target "
                                   "cluster yet");
                arena_free(&s.arena);
        }
        begin(&s, "PickAll", NULL);
        add(&s, "U");
        run(&s);
        expect_allowed(&s, "Eviction is allowed, no ClusterResourcePlacementDisruptionBudget specified");
        arena_free(&s.arena);
}

/* spec/staged-update-and-eviction.md checklist 45 */
static void what_is_going_already_counts_as_executed(void **state)
{
        static const char *const going[] = { "Bad", "Sd", "ud", "Ufd" };

        for (size_t i = 0; i < ARRAY_LEN(going); i++) {
                struct scene s;

                begin(&s, "PickN 3", "max 0");
                add(&s, going[i]);
                run(&s);
                expect_executed(&s,
                                "Eviction is allowed, resources propagated by placement is currently being "
                                "removed from cluster targeted by eviction");
                arena_free(&s.arena);
        }
}

static int says_failed(void *ctx, const struct binding *b, bool *ret)
{
        *ret = true;
        return 0;
}

/* spec/staged-update-and-eviction.md checklist 46 */
static void what_failed_is_evicted_past_the_budget(void **state)
{
        static const char *const failed[] = { "Bf", "BD", "Uf" };
        struct scene s;

        for (size_t i = 0; i < ARRAY_LEN(failed); i++) {
                begin(&s, "PickAll", "max 0"); /* a misconfigured one is not looked at either */
                add(&s, failed[i]);
                run(&s);
                expect_allowed(&s, "Eviction is allowed, placement has failed");
                arena_free(&s.arena);
        }
        begin(&s, "PickN 1", "max 0");
        s.in.works_failed = says_failed;
        add(&s, "Ba"); /* of what is available nobody says so */
        run(&s);
        expect_blocked(&s, "Eviction is blocked by specified ClusterResourcePlacementDisruptionBudget, "
                           "availablePlacements: 1, totalPlacements: 1");
        arena_free(&s.arena);
}

/* The `Improve:` of spec/staged-update-and-eviction.md 14.1 on what is merely still applying. */
static void what_is_under_way_has_not_failed(void **state)
{
        static const char *const under_way[] = { "Bi", "Bn", "B", "Bo" };

        for (size_t i = 0; i < ARRAY_LEN(under_way); i++) {
                struct scene s;

                begin(&s, "PickN 1", "max 0");
                add(&s, under_way[i]);
                run(&s);
                expect_blocked(&s,
                               "Eviction is blocked by specified ClusterResourcePlacementDisruptionBudget, "
                               "availablePlacements: 0, totalPlacements: 1");
                arena_free(&s.arena);
        }
}

/* spec/staged-update-and-eviction.md checklist 47 */
static void without_a_budget_all_is_allowed(void **state)
{
        static const char *const policies[] = { "", "PickAll", "PickN 1" };

        for (size_t i = 0; i < ARRAY_LEN(policies); i++) {
                struct scene s;

                begin(&s, policies[i], NULL);
                add(&s, "Ba");
                run(&s);
                expect_allowed(&s,
                               "Eviction is allowed, no ClusterResourcePlacementDisruptionBudget specified");
                arena_free(&s.arena);
        }
}

/* spec/staged-update-and-eviction.md checklist 48 */
static void a_budget_that_cannot_be_measured_blocks(void **state)
{
        static const char *const budgets[] = { "max 1", "max 100%", "min 1%", "min 0%" };
        static const char *const policies[] = { "", "PickAll" };

        for (size_t i = 0; i < ARRAY_LEN(budgets) * ARRAY_LEN(policies); i++) {
                struct scene s;

                begin(&s, policies[i % 2], budgets[i / 2]);
                add_all(&s, "Ba Ba Ba");
                run(&s);
                expect_blocked(&s,
                               "Eviction is blocked by misconfigured "
                               "ClusterResourcePlacementDisruptionBudget, either MaxUnavailable is specified "
                               "or MinAvailable is specified as a percentage for PickAll "
                               "ClusterResourcePlacement");
                arena_free(&s.arena);
        }
}

/* What counts, and what the messages say. spec/staged-update-and-eviction.md checklist 49, 50 */
static void a_budget_counts_what_is_available_now_of_all_bindings(void **state)
{
        static const struct {
                const char *policy, *budget, *bindings;
                size_t available, total;
                bool allowed;
        } cases[] = {
                { "PickN 3", "min 1", "Ba Ba Ba", 3, 3, true },
                { "PickN 3", "min 2", "Ba Ba Bo", 2, 3, false },
                { "PickN 3", "min 1", "Ba Ba Bn", 2, 3, true },
                { "PickN 3", "max 1", "Ba Ba Bo", 2, 3, false }, /* of a generation before */
                { "PickN 3", "max 2", "Ba Ba Bo", 2, 3, true },
                { "PickN 3", "max 1", "Ba Ba S", 2, 3, false }, /* whatever its state */
                { "PickN 3", "max 1", "Ba Ba Ua", 3, 3, true },
                { "PickN 3", "max 1", "Ba Ba Bad", 2, 3, false }, /* one goes already */
                { "PickN 3", "max 1", "Ba Ba BD", 2, 3,
                  false }, /* who reports differences is not available */
                { "PickN 3", "max 1", "Ba Ba Bf", 2, 3, false },
                { "PickN 3", "max 1", "Bo Ba Ba", 2, 3, false }, /* itself unavailable */
                { "PickN 3", "max 2", "Bo Ba Ba", 2, 3, true },
                { "PickN 4", "max 40%", "Ba Ba Bn Bn", 2, 4, false }, /* 2, of four */
                { "PickN 4", "max 60%", "Ba Ba Bn Bn", 2, 4, true },  /* 3, rounded up */
                { "PickN 5", "min 40%", "Ba Ba Bn", 2, 3, false }, /* of what is asked for, not of what is */
                { "PickN 3", "", "Ba Ba Ba", 3, 3, false },
                { "PickN 3", "min 0", "Bo", 0, 1, false },
                { "PickAll", "min 2", "Ba Ba Ba", 3, 3, true },
                { "PickAll", "min 3", "Ba Ba Ba", 3, 3, false },
                { "", "min 0", "Ba", 1, 1, true },
        };

        for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
                char message[256];
                struct scene s;

                begin(&s, cases[i].policy, cases[i].budget);
                add_all(&s, cases[i].bindings);
                run(&s);
                snprintf(message, sizeof(message),
                         "Eviction is %s by specified ClusterResourcePlacementDisruptionBudget, "
                         "availablePlacements: %zu, totalPlacements: %zu",
                         cases[i].allowed ? "allowed" : "blocked", cases[i].available, cases[i].total);
                if (cases[i].allowed)
                        expect_allowed(&s, message);
                else
                        expect_blocked(&s, message);
                arena_free(&s.arena);
        }
}

/* ---- one at a time ---- */

static void what_another_eviction_decided_to_delete_is_not_available_any_more(void **state)
{
        struct scene s;

        begin(&s, "PickN 3", "max 1");
        add_all(&s, "Ba Ba Ba");
        s.decided[s.in.n_decided++] = "u1";
        run(&s);
        expect_blocked(&s, "Eviction is blocked by specified ClusterResourcePlacementDisruptionBudget, "
                           "availablePlacements: 2, totalPlacements: 3");
        arena_free(&s.arena);
}

static void two_evictions_from_one_cluster_are_one_disruption(void **state)
{
        struct scene s;

        begin(&s, "PickN 3", "max 1");
        add_all(&s, "Ba Ba Ba");
        s.decided[s.in.n_decided++] = "u0";
        run(&s);
        expect_allowed(&s, "Eviction is allowed by specified ClusterResourcePlacementDisruptionBudget, "
                           "availablePlacements: 3, totalPlacements: 3");
        arena_free(&s.arena);
}

/* ---- after a crash ---- */

/* Whatever else changed since: the placement is gone, its policy is another, a new binding took the place.
 * The `Improve:` of spec/staged-update-and-eviction.md 14.1 on a status write that failed. */
static void a_decision_whose_binding_is_gone_was_carried_out(void **state)
{
        static const struct {
                const char *policy, *bindings;
        } cases[] = {
                { "PickAll", "Bd" }, { "PickAll", "Bd Sa0" },     { "PickAll", "" },
                { NULL, "" },        { "PickFixed", "Bd Ba Ba" }, { "PickN 3", "" },
        };

        for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
                struct scene s;

                begin(&s, cases[i].policy, "max 0");
                add_all(&s, cases[i].bindings);
                s.in.eviction = eviction_with(&s, "\"conditions\":[" VALID("True") "]," DECISION("v0"));
                run(&s);
                assert_null(s.plan.touch);
                expect_executed(&s, "as decided");
                arena_free(&s.arena);
        }
}

static void a_new_binding_of_the_same_name_is_not_the_one_that_was_decided_about(void **state)
{
        struct scene s;

        begin(&s, "PickAll", NULL);
        add(&s, "Ba");
        ((struct object *)(uintptr_t)s.bindings[0])->meta.uid = "another";
        s.in.eviction = eviction_with(&s, "\"conditions\":[" VALID("True") "]," DECISION("v0"));
        run(&s);
        expect_executed(&s, "as decided");
        arena_free(&s.arena);
}

static void a_decision_that_was_not_carried_out_is_made_again(void **state)
{
        struct scene s;

        begin(&s, "PickN 2", "max 1");
        add_all(&s, "Ba Ba");
        s.in.eviction = eviction_with(&s, "\"conditions\":[" VALID("True") "]," DECISION("v0"));
        run(&s);
        assert_null(s.plan.touch);
        expect_allowed(&s, "Eviction is allowed by specified ClusterResourcePlacementDisruptionBudget, "
                           "availablePlacements: 2, totalPlacements: 2");
        arena_free(&s.arena);
}

/* The request to delete may be on its way, and Executed=False must not become a lie. */
static void who_takes_a_decision_back_makes_sure_that_nothing_is_deleted(void **state)
{
        static const struct {
                const char *policy, *budget, *version;
                bool touched;
        } cases[] = {
                { "PickN 2", "max 0", "v0", true },    { "PickN 2", "max 0", "older", false },
                { "PickFixed", "max 0", "v0", true },  { NULL, NULL, "v0", true },
                { "PickFixed", NULL, "older", false },
        };

        for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
                char status[512];
                struct scene s;

                begin(&s, cases[i].policy, cases[i].budget);
                add_all(&s, "Ba Ba");
                snprintf(status, sizeof(status),
                         "\"decision\":{\"bindingName\":\"b0\",\"bindingUID\":\"u0\","
                         "\"bindingResourceVersion\":\"%s\",\"message\":\"as decided\"}",
                         cases[i].version);
                s.in.eviction = eviction_with(&s, status);
                run(&s);
                assert_ptr_equal(s.plan.touch, cases[i].touched ? s.bindings[0] : NULL);
                assert_null(s.plan.remove);
                assert_null(s.plan.wanted->status->decision);
                assert_true(eviction_is_over(s.plan.wanted));
                arena_free(&s.arena);
        }
}

/* The definition of evictions is another maker's, and knows no decisions. */
static void where_no_decision_is_kept_a_valid_eviction_of_nothing_was_carried_out(void **state)
{
        struct scene s;

        begin(&s, "PickN 2", "max 0");
        s.in.eviction =
                eviction_with(&s, "\"conditions\":[{\"type\":\"Valid\",\"status\":\"True\",\"reason\":"
                                  "\"ClusterResourcePlacementEvictionValid\",\"message\":"
                                  "\"Eviction is valid\"," AT(1) "}]");
        run(&s);
        expect_executed(&s,
                        "Eviction is allowed, resources propagated by placement is currently being removed "
                        "from cluster targeted by eviction");
        s.in.placement = NULL; /* why nothing is there now says nothing of what was */
        run(&s);
        assert_non_null(condition_find(&s.plan.wanted->status->conditions, "Valid"));
        assert_true(condition_is_false(&s.plan.wanted->status->conditions, "Valid", 1));
        assert_null(condition_find(&s.plan.wanted->status->conditions, "Executed"));
        arena_free(&s.arena);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(an_eviction_of_nothing_is_invalid),
                cmocka_unit_test(a_placement_that_is_being_deleted_needs_no_eviction),
                cmocka_unit_test(what_is_decided_is_never_looked_at_again),
                cmocka_unit_test(an_eviction_that_is_being_deleted_gets_no_new_decision),
                cmocka_unit_test(what_was_not_placed_cannot_be_evicted),
                cmocka_unit_test(what_is_going_already_counts_as_executed),
                cmocka_unit_test(what_failed_is_evicted_past_the_budget),
                cmocka_unit_test(what_is_under_way_has_not_failed),
                cmocka_unit_test(without_a_budget_all_is_allowed),
                cmocka_unit_test(a_budget_that_cannot_be_measured_blocks),
                cmocka_unit_test(a_budget_counts_what_is_available_now_of_all_bindings),
                cmocka_unit_test(what_another_eviction_decided_to_delete_is_not_available_any_more),
                cmocka_unit_test(two_evictions_from_one_cluster_are_one_disruption),
                cmocka_unit_test(a_decision_whose_binding_is_gone_was_carried_out),
                cmocka_unit_test(a_new_binding_of_the_same_name_is_not_the_one_that_was_decided_about),
                cmocka_unit_test(a_decision_that_was_not_carried_out_is_made_again),
                cmocka_unit_test(who_takes_a_decision_back_makes_sure_that_nothing_is_deleted),
                cmocka_unit_test(where_no_decision_is_kept_a_valid_eviction_of_nothing_was_carried_out),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
