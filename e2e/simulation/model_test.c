#include "e2e/simulation/model_test.h"

static struct wish_placement *main_of(struct bench *b)
{
        return &b->wish.apps[0].placements[PLACE_MAIN];
}

static enum model_choice choice(struct bench *b, unsigned member)
{
        return model_choice(&b->wish, 0, PLACE_MAIN, member, 1000);
}

/* The member's state changes at a time. */
static void becomes(struct bench *b, unsigned member, struct wish_member_state now, int64_t at_ms)
{
        assert_int_equal(wish_member_set(&b->wish, member, &now, at_ms), 0);
}

static void pick_all_is_on_all_that_fit(void **state)
{
        struct bench *b = *state;

        main_of(b)->policy.tier = TIER_GOLD;
        b->wish.members[1].now.tier = TIER_GOLD;
        assert_int_equal(choice(b, 1), CHOICE_MUST);
        assert_int_equal(choice(b, 2), CHOICE_NEVER);
        b->wish.members[1].now.tainted = true;
        assert_int_equal(choice(b, 1), CHOICE_NEVER);
        main_of(b)->policy.tolerates = true;
        assert_int_equal(choice(b, 1), CHOICE_MUST);
}

static void a_decision_sticks_until_the_policy_changes(void **state)
{
        struct bench *b = *state;

        main_of(b)->policy.tier = TIER_GOLD;
        main_of(b)->policy_ms = 10000;
        b->wish.members[1].now.tier = TIER_GOLD;
        becomes(b, 1, (struct wish_member_state){ .in = true }, 20000);
        assert_int_equal(choice(b, 1), CHOICE_MAY);
        main_of(b)->policy_ms = 20900; /* may have been decided on old news */
        assert_int_equal(choice(b, 1), CHOICE_MAY);
        main_of(b)->policy_ms = 21100;
        assert_int_equal(choice(b, 1), CHOICE_NEVER);
}

static void a_taint_takes_nothing_away_when_the_policy_changes(void **state)
{
        struct bench *b = *state;

        main_of(b)->since_ms = 10000;
        main_of(b)->policy_ms = 10000;
        becomes(b, 1, (struct wish_member_state){ .in = true, .tainted = true }, 5000);
        assert_int_equal(choice(b, 1), CHOICE_NEVER);
        main_of(b)->policy_ms = 30000;
        assert_int_equal(choice(b, 1), CHOICE_NEVER); /* it was not there before */
        main_of(b)->since_ms = 4000;
        assert_int_equal(choice(b, 1), CHOICE_MAY);
        main_of(b)->policy.tier = TIER_GOLD;
        assert_int_equal(choice(b, 1), CHOICE_NEVER);
}

static void leaving_ends_a_decision(void **state)
{
        struct bench *b = *state;

        main_of(b)->policy.tier = TIER_GOLD;
        b->wish.members[1].now.tier = TIER_GOLD;
        becomes(b, 1, (struct wish_member_state){ .tier = TIER_GOLD }, 20000);
        assert_int_equal(choice(b, 1), CHOICE_NEVER);
        becomes(b, 1, (struct wish_member_state){ .in = true }, 30000);
        assert_int_equal(choice(b, 1), CHOICE_NEVER);
        becomes(b, 1, (struct wish_member_state){ .in = true, .tier = TIER_GOLD }, 40000);
        assert_int_equal(choice(b, 1), CHOICE_MUST);
        b->wish.members[1].membership = MEMBER_LEAVING;
        assert_int_equal(choice(b, 1), CHOICE_NEVER);
}

static void a_cluster_that_was_away_for_a_moment_may_keep_what_it_had(void **state)
{
        struct bench *b = *state;

        main_of(b)->policy.tier = TIER_GOLD;
        b->wish.members[1].now.tier = TIER_GOLD;
        becomes(b, 1, (struct wish_member_state){ .tier = TIER_GOLD }, 20000);
        becomes(b, 1, (struct wish_member_state){ .in = true }, 20900);
        assert_int_equal(choice(b, 1), CHOICE_MAY); /* nobody may have looked */
        becomes(b, 1, (struct wish_member_state){ 0 }, 30000);
        assert_int_equal(choice(b, 1), CHOICE_NEVER);
        becomes(b, 1, (struct wish_member_state){ .in = true }, 31000);
        assert_int_equal(choice(b, 1), CHOICE_NEVER);
}

static void pick_fixed_is_where_it_says(void **state)
{
        struct bench *b = *state;

        main_of(b)->policy = (struct wish_policy){ .type = POLICY_PICK_FIXED, .fixed = 1 | 1 << 2 };
        b->wish.members[2].now.tainted = true;
        assert_int_equal(choice(b, 1), CHOICE_NEVER);
        assert_int_equal(choice(b, 2), CHOICE_MUST);
        main_of(b)->leaving = true;
        assert_int_equal(choice(b, 2), CHOICE_NEVER);
}

static void assert_count(struct bench *b, uint32_t chosen, unsigned least, unsigned most)
{
        unsigned is_least, is_most;

        model_count(&b->wish, 0, PLACE_MAIN, chosen, &is_least, &is_most);
        assert_int_equal(is_least, least);
        assert_int_equal(is_most, most);
}

static void pick_n_is_fewer_only_if_no_more_fit(void **state)
{
        struct bench *b = *state;

        main_of(b)->policy = (struct wish_policy){ .type = POLICY_PICK_N, .n = 2, .tier = TIER_GOLD };
        assert_int_equal(choice(b, 1), CHOICE_NEVER);
        b->wish.members[1].now.tier = TIER_GOLD;
        assert_int_equal(choice(b, 1), CHOICE_MAY);
        assert_count(b, 0, 1, 2);
        assert_count(b, 1 << 2, 2, 2); /* one that stuck and one that fits */
        main_of(b)->policy.n = 1;
        assert_count(b, 1 << 1, 1, 1);
        main_of(b)->policy.n = 0;
        assert_count(b, 0, 0, 0);
}

static char *rendered(struct bench *b, unsigned slot, const char *path)
{
        static char text[64];
        bool absent;
        json_t *doc = model_rendered(&b->wish, 0, PLACE_MAIN, slot, 1, &absent);

        snprintf(text, sizeof(text), "%s", absent ? "absent" : doc_get_string(doc, path) ?: "nothing");
        json_decref(doc);
        return text;
}

static void overrides_are_for_clusters_with_the_label(void **state)
{
        struct bench *b = *state;
        struct wish_override *o = &b->wish.apps[0].overrides[OVERRIDE_SETTINGS];

        *o = (struct wish_override){ .exists = true, .tier = TIER_SILVER, .value = 5 };
        assert_string_equal(rendered(b, SLOT_SETTINGS, "data.color"), "7");
        assert_string_equal(rendered(b, SLOT_SETTINGS, "data.override"), "nothing");
        b->wish.members[1].now.tier = TIER_SILVER;
        assert_string_equal(rendered(b, SLOT_SETTINGS, "data.override"), "v5-member-1");
        o->uses_label = true;
        b->wish.members[1].now.zone = 2;
        assert_string_equal(rendered(b, SLOT_SETTINGS, "data.override"), "zone-2");
        o->deletes = true;
        assert_string_equal(rendered(b, SLOT_SETTINGS, "data.override"), "absent");
        assert_string_equal(rendered(b, SLOT_ROLE, "metadata.name"), "app-0");
        b->wish.apps[0].overrides[OVERRIDE_ROLE] = (struct wish_override){ .exists = true, .value = 3 };
        assert_string_equal(rendered(b, SLOT_ROLE, "metadata.labels.override"), "v3-member-1");
}

static void a_label_that_is_not_there_fails_an_override(void **state)
{
        struct bench *b = *state;
        bool fails;

        b->wish.apps[0].overrides[OVERRIDE_SETTINGS] =
                (struct wish_override){ .exists = true, .uses_label = true };
        assert_true(model_overridden(&b->wish, 0, PLACE_MAIN, SLOT_SETTINGS, 1, &fails));
        assert_true(fails);
        assert_false(model_overridden(&b->wish, 0, PLACE_MAIN, SLOT_EXTRA, 1, &fails));
        assert_false(fails);
        b->wish.members[1].now.zone = 1;
        assert_true(model_overridden(&b->wish, 0, PLACE_MAIN, SLOT_SETTINGS, 1, &fails));
        assert_false(fails);
}

/* What was asked for and what there is, as JSON; the paths that differ and that are too many. */
static void assert_differ(const char *wanted, const char *live, const char *path, const char *extra)
{
        json_t *a = json_loads(wanted, 0, NULL), *c = json_loads(live, 0, NULL);
        struct model_difference d;

        assert_non_null(a);
        assert_non_null(c);
        model_differ(a, c, &d);
        assert_string_equal(d.path, path);
        assert_string_equal(d.extra, extra);
        assert_int_equal(d.differs, *path != '\0');
        assert_int_equal(d.more, *extra != '\0');
        json_decref(a);
        json_decref(c);
}

static void differences_are_those_of_users(void **state)
{
        assert_differ("{\"a\":1}", "{\"a\":1.0,\"status\":{\"x\":1}}", "", "");
        assert_differ("{\"a\":{\"b\":[1,2]}}", "{\"a\":{\"b\":[1,3]}}", "/a/b/1", "");
        assert_differ("{\"a\":[1]}", "{\"a\":[1,2]}", "/a", "");
        assert_differ("{\"a\":1}", "{\"b\":2}", "/a", "/b");
        assert_differ("{}", "{\"b\":{}}", "", "");
        assert_differ(
                "{\"metadata\":{\"name\":\"x\"}}",
                "{\"metadata\":{\"name\":\"x\",\"uid\":\"1\",\"labels\":{\"kubernetes.io/metadata.name\":"
                "\"x\"},\"annotations\":{\"kubernetes-fleet.io/spec-hash\":\"1\"}}}",
                "", "");
        assert_differ("{\"metadata\":{}}", "{\"metadata\":{\"labels\":{\"mine\":\"1\"}}}", "",
                      "/metadata/labels/mine");
        assert_differ("{\"metadata\":{\"labels\":{\"app\":\"1\"}}}", "{\"metadata\":{}}", "/metadata/labels",
                      "");
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                BENCH_TEST(pick_all_is_on_all_that_fit),
                BENCH_TEST(a_decision_sticks_until_the_policy_changes),
                BENCH_TEST(a_taint_takes_nothing_away_when_the_policy_changes),
                BENCH_TEST(leaving_ends_a_decision),
                BENCH_TEST(a_cluster_that_was_away_for_a_moment_may_keep_what_it_had),
                BENCH_TEST(pick_fixed_is_where_it_says),
                BENCH_TEST(pick_n_is_fewer_only_if_no_more_fit),
                BENCH_TEST(overrides_are_for_clusters_with_the_label),
                BENCH_TEST(a_label_that_is_not_there_fails_an_override),
                BENCH_TEST(differences_are_those_of_users),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
