/* Objects that move between the Works of one placement stay in place: nothing is deleted and made again,
 * whatever order the Works arrive in, and whoever made them. */
#include "member-agent/moves_test.h"

#define NEVER "'applyStrategy':{'whenToTakeOver':'Never'},"
#define SERVER_SIDE "'applyStrategy':{'type':'ServerSideApply','serverSideApplyConfig':{'force':true}},"

/* One step of the hub agent. */
struct act {
        enum { MAKE, CHANGE, DELETE, PAUSE } what;
        struct part part;
};

struct move {
        const char *story;
        struct part before[2];
        struct act acts[4];
        size_t n;
        const char *heir;
};

/* Where b goes, with every order of writes that a hub agent may come to. */
static const struct move moves[] = {
        { "it outgrows one Work",
          { { "w", 1, 1, A "," B } },
          { { CHANGE, { "w", 2, 2, A } }, { MAKE, { "w-1", 2, 2, B2 } } },
          2,
          "w-1" },
        { "it outgrows one Work, the second comes late",
          { { "w", 1, 1, A "," B } },
          { { CHANGE, { "w", 2, 2, A } }, { PAUSE, { 0 } }, { MAKE, { "w-1", 2, 2, B2 } } },
          3,
          "w-1" },
        { "it outgrows one Work, the second comes early",
          { { "w", 1, 1, A "," B } },
          { { MAKE, { "w-1", 2, 2, B2 } }, { CHANGE, { "w", 2, 2, A } } },
          2,
          "w-1" },
        { "it outgrows one Work, the second comes very early",
          { { "w", 1, 1, A "," B } },
          { { MAKE, { "w-1", 2, 2, B2 } }, { PAUSE, { 0 } }, { CHANGE, { "w", 2, 2, A } } },
          3,
          "w-1" },
        { "it shrinks to one Work",
          { { "w", 1, 2, A }, { "w-1", 1, 2, B } },
          { { CHANGE, { "w", 2, 1, A "," B2 } }, { DELETE, { "w-1", 1, 2, "" } } },
          2,
          "w" },
        { "it shrinks to one Work, and the second goes late",
          { { "w", 1, 2, A }, { "w-1", 1, 2, B } },
          { { CHANGE, { "w", 2, 1, A "," B2 } }, { PAUSE, { 0 } }, { DELETE, { "w-1", 1, 2, "" } } },
          3,
          "w" },
        { "it moves from the first to the second",
          { { "w", 1, 2, A "," B }, { "w-1", 1, 2, C } },
          { { CHANGE, { "w", 2, 2, A } }, { PAUSE, { 0 } }, { CHANGE, { "w-1", 2, 2, B2 "," C } } },
          3,
          "w-1" },
        { "it moves from the second to the first",
          { { "w", 1, 2, A }, { "w-1", 1, 2, B "," C } },
          { { CHANGE, { "w", 2, 2, A "," B2 } }, { PAUSE, { 0 } }, { CHANGE, { "w-1", 2, 2, C } } },
          3,
          "w" },
        { "it moves there and back before anybody looks",
          { { "w", 1, 2, A "," B }, { "w-1", 1, 2, C } },
          { { CHANGE, { "w", 2, 2, A } },
            { CHANGE, { "w-1", 2, 2, B2 "," C } },
            { CHANGE, { "w", 3, 2, A "," B2 } },
            { CHANGE, { "w-1", 3, 2, C } } },
          4,
          "w" },
        { "its Work is deleted, and one of the same name is made for it",
          { { "w", 1, 2, A }, { "w-1", 1, 2, B } },
          { { CHANGE, { "w", 3, 2, A } },
            { DELETE, { "w-1", 1, 2, "" } },
            { PAUSE, { 0 } },
            { MAKE, { "w-1", 3, 2, B2 } } },
          4,
          "w-1" },
        { "its Work is deleted by hand, and the hub makes it again",
          { { "w", 1, 2, A }, { "w-1", 1, 2, B } },
          { { DELETE, { "w-1", 1, 2, "" } }, { MAKE, { "w-1", 1, 2, B2 } } },
          2,
          "w-1" },
        { "it is nowhere for a moment",
          { { "w", 1, 2, A }, { "w-1", 1, 2, B } },
          { { CHANGE, { "w", 2, 1, A } },
            { DELETE, { "w-1", 1, 2, "" } },
            { CHANGE, { "w", 3, 1, A "," B2 } } },
          3,
          "w" },
        { "it is nowhere for a moment, and then in a new Work",
          { { "w", 1, 1, A "," B } },
          { { CHANGE, { "w", 2, 1, A } }, { CHANGE, { "w", 3, 2, A } }, { MAKE, { "w-1", 3, 2, B2 } } },
          3,
          "w-1" },
        { "another agent's Works: the second is deleted before the first is written",
          { { "w", 1, 0, A }, { "w-1", 1, 0, B } },
          { { DELETE, { "w-1", 1, 0, "" } }, { CHANGE, { "w", 2, 0, A "," B2 } } },
          2,
          "w" },
        { "another agent's Works: the second is deleted well before the first is written",
          { { "w", 1, 0, A }, { "w-1", 1, 0, B } },
          { { DELETE, { "w-1", 1, 0, "" } }, { PAUSE, { 0 } }, { CHANGE, { "w", 2, 0, A "," B2 } } },
          3,
          "w" },
        { "another agent's Works: the second comes soon",
          { { "w", 1, 0, A "," B } },
          { { CHANGE, { "w", 2, 0, A } }, { PAUSE, { 0 } }, { MAKE, { "w-1", 2, 0, B2 } } },
          3,
          "w-1" },
        { "another agent's Works: it shrinks",
          { { "w", 1, 0, A }, { "w-1", 1, 0, B } },
          { { CHANGE, { "w", 2, 0, A "," B2 } }, { DELETE, { "w-1", 1, 0, "" } } },
          2,
          "w" },
        { "another agent's Works: it moves from the first to the second",
          { { "w", 1, 0, A "," B }, { "w-1", 1, 0, C } },
          { { CHANGE, { "w", 2, 0, A } }, { PAUSE, { 0 } }, { CHANGE, { "w-1", 2, 0, B2 "," C } } },
          3,
          "w-1" },
};

static void act(struct rig *r, const char *strategy, const struct act *a)
{
        switch (a->what) {
        case MAKE: /* the server refuses while one of the same name goes */
                wait_until_gone(r, HUB, arena_printf(&r->arena, WORKS "/%s", a->part.name));
                make_part(r, strategy, &a->part);
                break;
        case CHANGE:
                change_part(r, &a->part);
                break;
        case DELETE:
                delete (r, HUB, arena_printf(&r->arena, WORKS "/%s", a->part.name));
                break;
        case PAUSE:
                assert_int_equal(fiber_sleep(r->loop, 2000), 0);
        }
}

struct trial {
        const struct move *move;
        const char *strategy;
};

static void move_body(struct rig *r)
{
        const struct trial *t = r->ctx;
        const struct move *m = t->move;
        const char *before;
        struct agent a;

        begin(&a, r);
        for (size_t i = 0; i < ARRAY_LEN(m->before) && m->before[i].name; i++)
                make_part(r, t->strategy, &m->before[i]);
        for (size_t i = 0; i < ARRAY_LEN(m->before) && m->before[i].name; i++)
                wait_until_applied(r, m->before[i].name, 1);
        before = uid_of(r, B_PATH);
        for (size_t i = 0; i < m->n; i++)
                act(r, t->strategy, &m->acts[i]);
        wait_for(r, MEMBER, B_PATH, "data.k", "2");
        wait_for_owner(r, B_PATH, m->heir);
        get(r, HUB, arena_printf(&r->arena, WORKS "/%s", m->heir));
        wait_until_applied(r, m->heir, (int)doc_get_int(r->answer, "metadata.generation", 0));
        assert_int_equal(fiber_sleep(r->loop, PATIENCE_MS), 0);
        if (!text_equal(uid_of(r, B_PATH), before))
                fail_msg("%s: it was deleted and made again", m->story);
        uid_of(r, CONFIG_MAP_PATH("a"));
        stop(&a);
}

static void a_moving_object_stays_in_place_in_whatever_order_works_are_written(void **state)
{
        for (size_t i = 0; i < ARRAY_LEN(moves); i++) {
                struct trial t = { &moves[i], "" };

                rig_run_for(move_body, &t);
        }
}

static void it_stays_whatever_the_strategy_says_about_taking_over(void **state)
{
        static const char *const strategies[] = { NEVER, SERVER_SIDE };

        for (size_t i = 0; i < 8; i++)
                for (size_t k = 0; k < ARRAY_LEN(strategies); k++) {
                        struct trial t = { &moves[i], strategies[k] };

                        rig_run_for(move_body, &t);
                }
}

/* ---- sets after sets, in any order and at any pace ---- */

#define OBJECTS 6
#define PARTS 3

struct shuffle {
        struct rig *r;
        uint64_t seed;
        bool told;         /* the hub tells sizes, and deletes last; else all is written at once */
        int set;           /* number of the set that is being written */
        bool there[PARTS]; /* which Works there are */
        int part_of[OBJECTS];
};

static unsigned roll(struct shuffle *s, unsigned n)
{
        s->seed = s->seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        return (unsigned)(s->seed >> 33) % n;
}

static const char *part_name(int part)
{
        return (const char *const[]){ "w", "w-0", "w-1" }[part];
}

static const char *manifests_of(struct shuffle *s, int part)
{
        const char *all = "";

        for (int i = 0; i < OBJECTS; i++)
                if (s->part_of[i] == part)
                        all = arena_printf(
                                &s->r->arena,
                                "%s%s{'apiVersion':'v1','kind':'ConfigMap','metadata':{'name':'o%d',"
                                "'namespace':'default'},'data':{'k':'%d'}}",
                                all, all[0] ? "," : "", i, s->set);
        return all;
}

static void write_one(struct shuffle *s, int part, int size)
{
        struct part p = { part_name(part), s->set, s->told ? size : 0, manifests_of(s, part) };

        if (part >= size) {
                delete (s->r, HUB, arena_printf(&s->r->arena, WORKS "/%s", p.name));
        } else if (s->there[part]) {
                change_part(s->r, &p);
        } else {
                wait_until_gone(s->r, HUB, arena_printf(&s->r->arena, WORKS "/%s", p.name));
                make_part(s->r, "", &p);
        }
        s->there[part] = part < size;
}

/* A set of random size with the objects spread over it at random. */
static void write_set(struct shuffle *s)
{
        static const int64_t paces[] = { 0, 0, 1, 5, 20, 60, 300, 900 };
        int size = 1 + (int)roll(s, PARTS), order[PARTS] = { 0, 1, 2 };

        s->set++;
        for (int i = 0; i < OBJECTS; i++)
                s->part_of[i] = (int)roll(s, (unsigned)size);
        for (int i = PARTS - 1; i > 0; i--) {
                int k = (int)roll(s, (unsigned)i + 1), kept = order[i];

                order[i] = order[k];
                order[k] = kept;
        }
        for (int turn = 0; turn < 2; turn++)
                for (int i = 0; i < PARTS; i++) {
                        bool goes = order[i] >= size;

                        if ((goes && !s->there[order[i]]) || (s->told ? goes != (turn == 1) : turn == 1))
                                continue;
                        write_one(s, order[i], size);
                        assert_int_equal(fiber_sleep(s->r->loop, paces[roll(s, ARRAY_LEN(paces))]), 0);
                }
}

static const char *object_path(struct rig *r, int i)
{
        return arena_printf(&r->arena, CONFIG_MAP_PATH("o%d"), i);
}

static void shuffle_body(struct rig *r)
{
        struct shuffle s = *(const struct shuffle *)r->ctx;
        uint64_t seed = s.seed;
        const char *uids[OBJECTS];
        char last[16];
        struct agent a;

        s.r = r;
        begin(&a, r);
        write_set(&s);
        for (int i = 0; i < OBJECTS; i++) {
                wait_for(r, MEMBER, object_path(r, i), "data.k", "1");
                uids[i] = uid_of(r, object_path(r, i));
        }
        while (s.set < 6)
                write_set(&s);
        snprintf(last, sizeof(last), "%d", s.set);
        for (int i = 0; i < OBJECTS; i++) {
                wait_for(r, MEMBER, object_path(r, i), "data.k", last);
                wait_for_owner(r, object_path(r, i), part_name(s.part_of[i]));
                if (!text_equal(uid_of(r, object_path(r, i)), uids[i]))
                        fail_msg("seed %llu: o%d was deleted and made again", (unsigned long long)seed, i);
        }
        stop(&a);
}

/* MOVES_ROUNDS=400 plays more of them. */
static void nothing_is_made_again_however_sets_follow_each_other(void **state)
{
        const char *rounds = getenv("MOVES_ROUNDS");
        int64_t n = 10;

        if (rounds)
                assert_true(text_parse_i64(rounds, &n));
        for (int64_t i = 0; i < n; i++) {
                struct shuffle s = { .seed = (uint64_t)i, .told = i % 2 == 0 };

                rig_run_for(shuffle_body, &s);
        }
}

/* What leaves a placement that has several Works goes, though no Work of it is written later. */
static void left_body(struct rig *r)
{
        const int size = *(const int *)r->ctx;
        struct agent a;

        begin(&a, r);
        make_part(r, "", &(struct part){ "w", 1, size, A "," B });
        make_part(r, "", &(struct part){ "w-1", 1, size, C });
        wait_until_applied(r, "w", 1);
        wait_until_applied(r, "w-1", 1);
        change_part(r, &(struct part){ "w", 2, size, A });
        assert_int_equal(fiber_sleep(r->loop, 10000), 0);
        assert_int_equal(get(r, MEMBER, B_PATH), 200);
        merge(r, HUB, WORKS "/w-1",
              arena_printf(&r->arena, "{%s}", meta_of(r, &(struct part){ "w-1", 2, size, "" })));
        wait_until_gone(r, MEMBER, B_PATH);
        uid_of(r, CONFIG_MAP_PATH("a"));
        uid_of(r, CONFIG_MAP_PATH("c"));
        stop(&a);
}

/* It waits a second for what may come, and the clock is set back. */
static void clock_body(struct rig *r)
{
        struct agent a;

        begin(&a, r);
        make_part(r, "", &(struct part){ "w", 1, 2, A "," B });
        make_part(r, "", &(struct part){ "w-1", 1, 2, C });
        wait_until_applied(r, "w", 1);
        wait_until_applied(r, "w-1", 1);
        change_part(r, &(struct part){ "w", 2, 2, A });
        change_part(r, &(struct part){ "w-1", 2, 2, C });
        assert_int_equal(fiber_sleep(r->loop, 300), 0);
        assert_int_equal(get(r, MEMBER, B_PATH), 200);
        loop_shift_wall(r->loop, -10 * 60 * 1000);
        assert_int_equal(fiber_sleep(r->loop, 5000), 0);
        assert_int_equal(get(r, MEMBER, B_PATH), 404);
        stop(&a);
}

static void what_left_does_not_stay_longer_when_the_clock_is_set_back(void **state)
{
        rig_run(clock_body);
}

static void what_no_work_lists_goes_once_all_works_are_of_one_set(void **state)
{
        int sizes[] = { 2, 0 };

        for (size_t i = 0; i < ARRAY_LEN(sizes); i++)
                rig_run_for(left_body, &sizes[i]);
}

static uint64_t member_requests(struct rig *r)
{
        static const char *const verbs[] = { "get", "create", "patch", "update", "delete" };
        uint64_t n = 0;

        for (size_t i = 0; i < ARRAY_LEN(verbs); i++)
                n += requests(r, "m1", verbs[i], "configmaps") + requests(r, "m1", verbs[i], "appliedworks");
        return n;
}

/* Per Work: a look at its AppliedWork, its deletion, and a look whether it is gone; one more where the news
 * that it is being deleted comes before it has gone. */
static void placement_goes_body(struct rig *r)
{
        struct agent a;
        int64_t begun;
        uint64_t before;

        begin(&a, r);
        make_part(r, "", &(struct part){ "w", 1, 3, A });
        make_part(r, "", &(struct part){ "w-1", 1, 3, B });
        make_part(r, "", &(struct part){ "w-2", 1, 3, C });
        for (size_t i = 0; i < 3; i++)
                wait_until_applied(r, (const char *const[]){ "w", "w-1", "w-2" }[i], 1);
        assert_int_equal(fiber_sleep(r->loop, 3000), 0);
        before = member_requests(r);
        begun = loop_now_ms(r->loop);
        delete (r, HUB, WORKS "/w");
        delete (r, HUB, WORKS "/w-1");
        delete (r, HUB, WORKS "/w-2");
        wait_until_gone(r, HUB, WORKS "/w");
        wait_until_gone(r, HUB, WORKS "/w-1");
        wait_until_gone(r, HUB, WORKS "/w-2");
        assert_true(loop_now_ms(r->loop) - begun < 3000);
        assert_in_range(member_requests(r) - before, 9, 12);
        assert_int_equal(get(r, MEMBER, B_PATH), 404);
        assert_int_equal(get(r, MEMBER, CONFIG_MAP_PATH("c")), 404);
        stop(&a);
}

static void a_placement_that_goes_takes_all_its_objects_along_without_waiting(void **state)
{
        rig_run(placement_goes_body);
}

/* Both sides may try at once; then one of them is told that it comes too late. */
static void cost_body(struct rig *r)
{
        struct agent a;
        uint64_t patches;

        begin(&a, r);
        make_part(r, "", &(struct part){ "w", 1, 2, A "," B });
        make_part(r, "", &(struct part){ "w-1", 1, 2, C });
        wait_until_applied(r, "w", 1);
        wait_until_applied(r, "w-1", 1);
        assert_int_equal(fiber_sleep(r->loop, 5000), 0);
        patches = requests(r, "m1", "patch", "configmaps");
        change_part(r, &(struct part){ "w", 2, 2, A });
        change_part(r, &(struct part){ "w-1", 2, 2, B "," C });
        wait_for_owner(r, B_PATH, "w-1");
        assert_int_equal(fiber_sleep(r->loop, 5000), 0);
        assert_true(requests(r, "m1", "patch", "configmaps") - patches <= 3);
        stop(&a);
}

static void a_move_costs_one_patch_for_the_owner_and_one_for_the_content(void **state)
{
        rig_run(cost_body);
}

/* The API allows a Work without a spec, and whoever edits one on the hub may leave it so. */
static void bare_sibling_body(struct rig *r)
{
        const struct part one = { "one", 1, 3, A "," B }, two = { "two", 1, 3, C },
                          bare = { "bare", 1, 3, "" }, less = { "one", 2, 3, A },
                          more = { "two", 2, 3, B "," C };
        const char *uid;
        struct agent a;

        begin(&a, r);
        make_part(r, "", &one);
        make_part(r, "", &two);
        post(r, HUB, WORKS,
             arena_printf(&r->arena,
                          "{'apiVersion':'placement.kubernetes-fleet.io/v1beta1','kind':'Work',%s}",
                          meta_of(r, &bare)));
        wait_until_applied(r, "one", 1);
        wait_until_applied(r, "two", 1);
        uid = uid_of(r, B_PATH);
        change_part(r, &less);
        change_part(r, &more);
        wait_for_owner(r, B_PATH, "two");
        assert_string_equal(uid_of(r, B_PATH), uid);
        stop(&a);
}

static void a_sibling_without_a_spec_is_in_nobodys_way(void **state)
{
        rig_run(bare_sibling_body);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(a_moving_object_stays_in_place_in_whatever_order_works_are_written),
                cmocka_unit_test(it_stays_whatever_the_strategy_says_about_taking_over),
                cmocka_unit_test(nothing_is_made_again_however_sets_follow_each_other),
                cmocka_unit_test(what_no_work_lists_goes_once_all_works_are_of_one_set),
                cmocka_unit_test(what_left_does_not_stay_longer_when_the_clock_is_set_back),
                cmocka_unit_test(a_placement_that_goes_takes_all_its_objects_along_without_waiting),
                cmocka_unit_test(a_move_costs_one_patch_for_the_owner_and_one_for_the_content),
                cmocka_unit_test(a_sibling_without_a_spec_is_in_nobodys_way),
        };

        if (getenv("AGENT_TEST"))
                cmocka_set_test_filter(getenv("AGENT_TEST"));
        return cmocka_run_group_tests(tests, NULL, NULL);
}
