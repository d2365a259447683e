#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/base/memory.h"
#include "e2e/simulation/moves.h"
#include "e2e/simulation/sim_fleet.h"
#include "e2e/simulation/sim_page.h"
#include "proto/gen/kinds.h"

#define MS 180000

static unsigned kind_of(const char *name)
{
        for (unsigned i = 0; i < n_move_kinds; i++)
                if (text_equal(move_kinds[i].name, name))
                        return i;
        fail_msg("no move %s", name);
        return 0;
}

/* ---- drawing ---- */

static void a_seed_draws_the_same_moves_every_time(void **state)
{
        size_t n, m;
        struct move *a = moves_draw(7, MS, 3, &n), *b = moves_draw(7, MS, 3, &m);

        assert_true(n > 30);
        assert_int_equal(n, m);
        for (size_t i = 0; i < n; i++) {
                assert_int_equal(a[i].at_ms, b[i].at_ms);
                assert_int_equal(a[i].kind, b[i].kind);
                assert_int_equal(a[i].dice, b[i].dice);
        }
        mem_free(a);
        mem_free(b);
}

static void a_longer_play_begins_like_a_shorter_one(void **state)
{
        size_t n, m;
        struct move *a = moves_draw(7, MS, 3, &n), *b = moves_draw(7, MS * 2, 3, &m);

        assert_true(m > n);
        for (size_t i = 0; i < n; i++)
                assert_int_equal(a[i].dice, b[i].dice);
        mem_free(a);
        mem_free(b);
}

static void moves_come_in_order_and_within_the_time(void **state)
{
        for (uint64_t seed = 1; seed <= 50; seed++) {
                size_t n;
                struct move *moves = moves_draw(seed, MS, 4, &n);

                n -= sim_page_is_played(seed) ? 4 : 0; /* what goes at last, all at once */
                for (size_t i = 1; i < n; i++) {
                        assert_in_range(moves[i].at_ms - moves[i - 1].at_ms, 200, 6000);
                        assert_true(moves[i].at_ms < MS);
                }
                mem_free(moves);
        }
}

static void every_kind_is_drawn_and_big_ones_in_few_seeds(void **state)
{
        unsigned big = kind_of("big"), big_seeds = 0;
        unsigned *seen = mem_calloc(n_move_kinds, sizeof(*seen));

        for (uint64_t seed = 1; seed <= 200; seed++) {
                size_t n;
                struct move *moves = moves_draw(seed, MS, 4, &n);
                unsigned before = seen[big];

                for (size_t i = 0; i < n; i++)
                        seen[moves[i].kind]++;
                big_seeds += seen[big] > before;
                mem_free(moves);
        }
        for (unsigned i = 0; i < n_move_kinds; i++)
                if (seen[i] < 20 && move_kinds[i].seeds != SEEDS_LISTS)
                        fail_msg("move %s was drawn %u times in 200 seeds", move_kinds[i].name, seen[i]);
        assert_in_range(big_seeds, 5, 30);
        mem_free(seen);
}

static void in_any_hundred_seeds_every_kind_has_its_turn_three_times(void **state)
{
        static const uint64_t firsts[] = { 1, 4701, 123456, 999901, MOVES_LISTS_SEEDS };
        unsigned *often = mem_calloc(n_move_kinds, sizeof(*often));
        unsigned *seen = mem_calloc(n_move_kinds, sizeof(*seen));

        for (size_t k = 0; k < ARRAY_LEN(firsts); k++) {
                memset(often, 0, n_move_kinds * sizeof(*often));
                for (uint64_t seed = firsts[k]; seed < firsts[k] + 100; seed++) {
                        size_t n;
                        struct move *moves = moves_draw(seed, MS, 4, &n);

                        memset(seen, 0, n_move_kinds * sizeof(*seen));
                        for (size_t i = 0; i < n; i++)
                                seen[moves[i].kind]++;
                        for (unsigned i = 0; i < n_move_kinds; i++)
                                often[i] += seen[i] >= (i == kind_of("big") ? 1 : 4);
                        mem_free(moves);
                }
                for (unsigned i = 0; i < n_move_kinds; i++)
                        if (often[i] < 3 &&
                            (move_kinds[i].seeds != SEEDS_LISTS || firsts[k] >= MOVES_LISTS_SEEDS))
                                fail_msg("move %s has its turn in %u of the seeds from %llu on",
                                         move_kinds[i].name, often[i], (unsigned long long)firsts[k]);
        }
        mem_free(often);
        mem_free(seen);
}

static void charts_lose_files_at_last_and_nobody_asks_after_that(void **state)
{
        for (uint64_t seed = 2; seed < 202; seed += 5) {
                size_t n, end;
                struct move *moves = moves_draw(seed, MS, 4, &n);

                assert_true(moves_have_charts(seed));
                end = moves_have_tables(seed) ? n - 4 : n;
                assert_int_equal(moves[end - 1].kind, kind_of("artifact-lose"));
                assert_int_equal(moves[end - 3].kind, kind_of("publish"));
                for (size_t i = end; i < n; i++)
                        assert_int_equal(move_kinds[moves[i].kind].seeds, SEEDS_TABLES);
                mem_free(moves);
        }
}

/* ---- what the servers hold is what the wish says; no agent runs ---- */

struct bench {
        struct loop *loop;
        struct log_sink sink;
        struct log log;
        struct wish wish;
        struct player player;
        void (*body)(struct bench *b);
};

static void drop_line(void *ctx, const char *line, size_t n)
{
}

static int64_t bench_wall(void *ctx)
{
        struct bench *b = ctx;

        return loop_wall_ms(b->loop);
}

static void body_fiber(void *ctx)
{
        struct bench *b = ctx;
        struct sim_fleet_options o = { .loop = b->loop, .log_sink = &b->sink, .members = 3 };
        struct error err = { 0 };

        assert_int_equal(sim_fleet_open(&o, &b->player.fleet, &err), 0);
        if (fleet_prepare(b->player.fleet, 60000, &err) < 0)
                fail_msg("%s", err.text);
        for (unsigned i = 1; i <= 3; i++) {
                char name[32];

                snprintf(name, sizeof(name), "member-%u", i);
                assert_int_equal(fleet_make_member(b->player.fleet, name, &err), 0);
                b->wish.members[i].membership = MEMBER_IN;
                b->wish.members[i].now.in = true;
        }
        b->body(b);
        b->player.fleet->ops->close(b->player.fleet);
}

static void with_servers(void (*body)(struct bench *b))
{
        struct bench b = { .body = body };
        struct fiber_group *group;

        b.loop = loop_new_simulated(1, 1767225600000, NULL);
        b.sink = (struct log_sink){
                .write = drop_line, .wall_ms = bench_wall, .ctx = &b, .format = LOG_TEXT, .least = LOG_ERROR
        };
        b.log = (struct log){ .sink = &b.sink };
        b.wish.n_members = 3;
        b.player.wish = &b.wish;
        b.player.log = &b.log;
        group = fiber_group_new(b.loop, NULL, "test");
        assert_non_null(fiber_spawn(group, "body", body_fiber, &b));
        assert_int_equal(loop_run(b.loop, NULL), 0);
        fiber_group_end(group);
        loop_free(b.loop);
        wish_clear(&b.wish);
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

/* NULL if it is not there. */
static json_t *get(struct bench *b, const char *cluster, const struct kube_resource *r, const char *ns,
                   const char *name)
{
        struct kube_client *k;
        json_t *doc = NULL;

        assert_int_equal(b->player.fleet->ops->client(b->player.fleet, cluster, &k, NULL), 0);
        kube_doc_get(k, r, r->namespaced ? ns : NULL, name, &doc, NULL);
        return doc;
}

/* All that `wanted` has, `doc` has as well. */
static bool holds(const json_t *doc, const json_t *wanted)
{
        const char *key;
        json_t *value;
        size_t i;

        if (json_is_array(wanted)) {
                if (json_array_size(doc) != json_array_size(wanted))
                        return false;
                json_array_foreach((json_t *)wanted, i, value)
                        if (!holds(json_array_get(doc, i), value))
                                return false;
                return true;
        }
        if (!json_is_object(wanted))
                return json_equal(doc, wanted);
        json_object_foreach((json_t *)wanted, key, value)
                if (!holds(json_object_get(doc, key), value))
                        return false;
        return true;
}

static void check(struct bench *b, bool exists, const struct kube_resource *r, unsigned app, const char *name,
                  json_t *wanted)
{
        AUTO_JSON json_t *owned = wanted;
        AUTO_JSON json_t *doc = get(b, "hub", r, wish_app_name(app), name);

        if (exists != (doc != NULL))
                fail_msg("%s %s of app-%u %s", r->kind, name, app, exists ? "is missing" : "is there");
        if (exists && !holds(doc, owned))
                fail_msg("%s %s of app-%u is not as wished", r->kind, name, app);
}

static void check_objects(struct bench *b, unsigned app)
{
        char name[64];

        for (unsigned slot = 0; slot < WISH_SLOTS; slot++) {
                const struct wish_object *o = &b->wish.apps[app].objects[slot];

                wish_object_name(app, slot, name);
                check(b, o->exists, wish_resource(app, slot), app, name, wish_manifest(&b->wish, app, slot));
        }
}

static void check_wish(struct bench *b)
{
        char name[64];

        for (unsigned app = 0; app < WISH_APPS; app++) {
                const struct wish_app *a = &b->wish.apps[app];

                check_objects(b, app);
                for (enum wish_place i = 0; i < WISH_PLACES; i++) {
                        wish_placement_name(app, i, name);
                        check(b, a->placements[i].exists, wish_placement_resource(i), app, name,
                              wish_placement_doc(&b->wish, app, i));
                }
                for (enum wish_override_what i = 0; i < WISH_OVERRIDES; i++) {
                        wish_override_name(app, i, name);
                        check(b, a->overrides[i].exists, wish_override_resource(i), app, name,
                              wish_override_doc(&b->wish, app, i));
                }
                for (enum wish_place i = 0; i < WISH_PLACES; i++) {
                        wish_placement_name(app, i, name);
                        check(b, a->stages[i].exists, wish_stages_resource(i), app, name,
                              wish_stages_doc(&b->wish, app, i));
                }
        }
        for (unsigned i = 0; i < WISH_RUNS; i++) {
                const struct wish_run *r = &b->wish.runs[i];

                wish_run_name(i, name);
                check(b, r->exists, wish_run_resource(r->place), r->app, name, wish_run_doc(&b->wish, i));
        }
}

static void check_members(struct bench *b)
{
        static const struct kube_resource r = { "cluster.kubernetes-fleet.io", "v1beta1", "memberclusters",
                                                "MemberCluster", false };

        for (unsigned i = 1; i <= 3; i++) {
                const struct wish_member *m = &b->wish.members[i];
                AUTO_JSON json_t *labels = wish_member_labels(&m->now);
                char name[32];

                snprintf(name, sizeof(name), "member-%u", i);
                AUTO_JSON json_t *doc = get(b, "hub", &r, NULL, name);
                assert_int_equal(doc != NULL, m->membership == MEMBER_IN);
                assert_int_equal(m->now.in, m->membership == MEMBER_IN);
                if (!doc)
                        continue;
                if (json_is_null(doc_get(labels, "tier")))
                        json_object_del(labels, "tier");
                if (json_is_null(doc_get(labels, "zone")))
                        json_object_del(labels, "zone");
                assert_true(holds(doc_get(doc, "metadata.labels"), labels) || json_object_size(labels) == 0);
                assert_int_equal(json_array_size(doc_get_array(doc, "spec.taints")), m->now.tainted);
        }
}

/* A set, its Secret and a user's own objects; what sets would make nobody makes. */
static void check_ship(struct bench *b, unsigned member, unsigned ship)
{
        static const struct kube_resource secrets = { "", "v1", "secrets", "Secret", true };
        const struct wish_ship *s = &b->wish.members[member].ships[ship];
        char cluster[32], name[WISH_SHIP_NAME];

        snprintf(cluster, sizeof(cluster), "member-%u", member);
        for (unsigned i = 0; i < WISH_REVISIONS; i++) {
                AUTO_JSON json_t *doc = get(b, cluster, &wish_set_resource, NULL,
                                            wish_set_name(ship, i, name)),
                                 *secret = get(b, cluster, &secrets, WISH_HARBOR, name),
                                 *wanted = wish_set_doc(&s->sets[i], ship, i);

                doc_set_string(wanted, "spec.lifecycleState", s->sets[i].archived ? "Archived" : "Active");
                assert_int_equal(doc != NULL, s->sets[i].exists);
                assert_true(!doc || holds(doc, wanted));
                assert_int_equal(secret != NULL,
                                 s->sets[i].secret == SECRET_THERE || s->sets[i].secret == SECRET_MUTABLE);
        }
        for (unsigned i = 0; i < WISH_CARGO; i++) {
                AUTO_JSON json_t *doc =
                        get(b, cluster, wish_cargo_resource(i), WISH_HARBOR, wish_cargo_name(ship, i, name));
                unsigned color;

                assert_int_equal(doc != NULL, s->strays[i].there);
                assert_true(!doc || (wish_cargo_color(i, doc, &color) && color == s->strays[i].color));
        }
}

static void play_sets(struct bench *b)
{
        unsigned *done = mem_calloc(n_move_kinds, sizeof(*done));
        struct dice d = { 5 };

        for (unsigned i = 0; i < 1000; i++) {
                unsigned kind = kind_of("set") + (unsigned)dice_below(&d, 22);

                done[kind] += play(b, kind, dice_next(&d));
                fiber_sleep(b->loop, 100);
                if (i % 20 == 19)
                        for (unsigned k = 0; k < 4; k++)
                                check_ship(b, 1 + k / 2, k % 2);
        }
        for (unsigned i = 0; i < n_move_kinds; i++)
                if (move_kinds[i].seeds == SEEDS_SETS && done[i] == 0)
                        fail_msg("move %s never worked", move_kinds[i].name);
        mem_free(done);
}

static void the_sets_are_what_the_servers_took(void **state)
{
        with_servers(play_sets);
}

/* What tables would make nobody makes here but users. */
static void check_desk(struct bench *b)
{
        const struct wish_desk *d = &b->wish.desk;
        char name[WISH_TABLE_NAME];

        for (unsigned i = 0; i < WISH_TABLES; i++) {
                AUTO_JSON json_t *doc = get(b, "hub", &wish_table_resource, WISH_DESK,
                                            wish_table_name(i, name)),
                                 *wanted = wish_table_doc(d, i);

                assert_int_equal(doc != NULL, d->tables[i].exists);
                assert_true(!doc || holds(doc, wanted));
                for (unsigned k = 0; k < 2; k++) {
                        AUTO_JSON json_t *own = wish_neighbour_doc(i, k),
                                         *there = get(b, "hub", wish_part_resource(PART_SETTINGS), WISH_DESK,
                                                      doc_get_string(own, "metadata.name"));

                        assert_int_equal(there != NULL,
                                         k ? d->neighbours[i].labelled : d->neighbours[i].plain);
                }
        }
        for (unsigned i = 0; i < WISH_SOURCES; i++) {
                AUTO_JSON json_t *doc = get(b, "hub", &wish_source_resource, WISH_DESK,
                                            wish_source_name(i, name)),
                                 *wanted = wish_source_doc(d, i);

                assert_int_equal(doc != NULL, d->sources[i].exists);
                assert_true(!doc || holds(doc, wanted));
        }
}

static void play_tables(struct bench *b)
{
        unsigned first = kind_of("table"), n = kind_of("service-answer") + 1 - first;
        unsigned *done = mem_calloc(n_move_kinds, sizeof(*done));
        struct dice d = { 7 };

        for (unsigned i = 0; i < 1500; i++) {
                unsigned kind = first + (unsigned)dice_below(&d, n);

                done[kind] += play(b, kind, dice_next(&d));
                fiber_sleep(b->loop, 100);
                if (i % 20 == 19)
                        check_desk(b);
        }
        for (unsigned i = 0; i < n_move_kinds; i++)
                if (move_kinds[i].seeds == SEEDS_TABLES && done[i] == 0)
                        fail_msg("move %s never worked", move_kinds[i].name);
        mem_free(done);
}

static void check_shelf(struct bench *b)
{
        const struct wish_shelf *s = &b->wish.shelf;
        char name[WISH_CHART_NAME];

        for (unsigned i = 0; i < WISH_REPOSITORIES; i++) {
                AUTO_JSON json_t *doc = get(b, "hub", &wish_repository_resource, WISH_SHELF,
                                            wish_repository_name(i, name)),
                                 *wanted = wish_repository_doc(s, i);

                assert_int_equal(doc != NULL, s->repositories[i].exists);
                assert_true(!doc || holds(doc, wanted));
        }
        for (unsigned i = 0; i < WISH_CHARTS; i++) {
                AUTO_JSON json_t *doc = get(b, "hub", &wish_chart_resource, WISH_SHELF,
                                            wish_chart_name(i, name)),
                                 *wanted = wish_chart_doc(s, i);

                assert_int_equal(doc != NULL, s->charts[i].exists);
                assert_true(!doc || holds(doc, wanted));
        }
}

/* Without agents there are no disks. */
static void play_charts(struct bench *b)
{
        unsigned first = kind_of("repository"), n = kind_of("chart-delete") + 1 - first;
        unsigned *done = mem_calloc(n_move_kinds, sizeof(*done));
        struct dice d = { 5 };

        for (unsigned i = 0; i < 600; i++) {
                unsigned kind = first + (unsigned)dice_below(&d, n);

                done[kind] += play(b, kind, dice_next(&d));
                fiber_sleep(b->loop, 100);
                if (i % 20 == 19)
                        check_shelf(b);
        }
        for (unsigned i = first; i < first + n; i++)
                if (done[i] == 0)
                        fail_msg("move %s never worked", move_kinds[i].name);
        mem_free(done);
}

static void the_charts_are_what_the_servers_took(void **state)
{
        with_servers(play_charts);
}

static void the_tables_are_what_the_servers_took(void **state)
{
        with_servers(play_tables);
}

/* All kinds up to the accidents, but for those above. */
static void play_users(struct bench *b)
{
        unsigned end = kind_of("stop-member"), *done = mem_calloc(end, sizeof(*done));
        struct dice d = { 12 };

        for (unsigned i = 0; i < 3600;) {
                unsigned kind = (unsigned)dice_below(&d, end);

                if (move_kinds[kind].seeds == SEEDS_SETS || move_kinds[kind].seeds == SEEDS_TABLES ||
                    move_kinds[kind].seeds == SEEDS_CHARTS || move_kinds[kind].seeds == SEEDS_GARDEN ||
                    move_kinds[kind].seeds == SEEDS_PAGE ||
                    (kind == kind_of("delete-namespace") && dice_percent(&d, 80)))
                        continue;
                i++;
                done[kind] += play(b, kind, dice_next(&d));
                fiber_sleep(b->loop, 100);
                if (i % 100 == 99)
                        check_wish(b);
                if (i % 20 == 19)
                        check_members(b);
        }
        for (unsigned i = 0; i < end; i++)
                if (done[i] < 3 && move_kinds[i].seeds != SEEDS_SETS && move_kinds[i].seeds != SEEDS_TABLES &&
                    move_kinds[i].seeds != SEEDS_CHARTS && move_kinds[i].seeds != SEEDS_GARDEN &&
                    move_kinds[i].seeds != SEEDS_PAGE && !strstr(move_kinds[i].name, "-placed") &&
                    !text_starts_with(move_kinds[i].name, "delete-") &&
                    !text_equal(move_kinds[i].name, "run-retry")) /* without agents no run ends */
                        fail_msg("move %s worked %u times", move_kinds[i].name, done[i]);
        mem_free(done);
}

static void the_wish_is_what_the_servers_took(void **state)
{
        with_servers(play_users);
}

static void place_anew(struct bench *b)
{
        static const struct kube_resource r = { "placement.kubernetes-fleet.io", "v1beta1",
                                                "clusterresourceplacements", "ClusterResourcePlacement",
                                                false };
        AUTO_JSON json_t *hold = json_pack("{s:{s:[s]}}", "metadata", "finalizers", "play.test/hold");
        struct wish_placement *main_one;
        struct kube_client *hub;
        unsigned app = 0;

        assert_true(play(b, kind_of("make-app"), 1));
        assert_true(play(b, kind_of("place"), 1));
        while (!b->wish.apps[app].exists)
                app++;
        main_one = &b->wish.apps[app].placements[PLACE_MAIN];
        assert_true(main_one->exists);
        assert_int_equal(b->player.fleet->ops->client(b->player.fleet, "hub", &hub, NULL), 0);
        assert_int_equal(
                kube_doc_patch(hub, &r, NULL, wish_app_name(app), KUBE_PATCH_MERGE, hold, NULL, NULL, NULL),
                0);
        assert_true(play(b, kind_of("unplace"), 1));
        assert_true(main_one->leaving && !main_one->exists);
        assert_false(play(b, kind_of("place"), 1));
        json_object_set_new(doc_get(hold, "metadata"), "finalizers", json_null());
        assert_int_equal(
                kube_doc_patch(hub, &r, NULL, wish_app_name(app), KUBE_PATCH_MERGE, hold, NULL, NULL, NULL),
                0);
        assert_true(play(b, kind_of("place"), 1));
        assert_true(!main_one->leaving && main_one->exists);
}

static void a_placement_is_made_anew_only_when_the_old_one_is_gone(void **state)
{
        with_servers(place_anew);
}

static void what_is_expected_and_never_played_is_a_hole(void **state)
{
        struct coverage *c = coverage_new();
        FILE *nowhere = fopen("/dev/null", "we");

        assert_non_null(nowhere);
        moves_expect(c);
        for (size_t i = 1; i < n_move_kinds; i++)
                coverage_move(c, move_kinds[i].name);
        assert_int_equal(coverage_report(c, COVERAGE_SEEDS, nowhere), 1);
        coverage_move(c, move_kinds[0].name);
        assert_int_equal(coverage_report(c, COVERAGE_SEEDS, nowhere), 0);
        fclose(nowhere);
        coverage_free(c);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(a_seed_draws_the_same_moves_every_time),
                cmocka_unit_test(a_longer_play_begins_like_a_shorter_one),
                cmocka_unit_test(moves_come_in_order_and_within_the_time),
                cmocka_unit_test(every_kind_is_drawn_and_big_ones_in_few_seeds),
                cmocka_unit_test(in_any_hundred_seeds_every_kind_has_its_turn_three_times),
                cmocka_unit_test(charts_lose_files_at_last_and_nobody_asks_after_that),
                cmocka_unit_test(what_is_expected_and_never_played_is_a_hole),
                cmocka_unit_test(a_placement_is_made_anew_only_when_the_old_one_is_gone),
                cmocka_unit_test(the_wish_is_what_the_servers_took),
                cmocka_unit_test(the_sets_are_what_the_servers_took),
                cmocka_unit_test(the_tables_are_what_the_servers_took),
                cmocka_unit_test(the_charts_are_what_the_servers_took),
        };

        mem_hook_libraries();
        return cmocka_run_group_tests(tests, NULL, NULL);
}
