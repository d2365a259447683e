/* spec/flux-yaml.md 7.3. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "hub-agent/manifest-generation/collect_plan.h"
#include "hub-agent/manifest-generation/sync_marks.h"

static const struct sync_rules everywhere;

static enum collect_fate fate(const char *wanted_checksum, struct collect_object o, const char *marked_as)
{
        char mark[SYNC_MARK_SIZE];
        struct map wanted = MAP_INIT;
        enum collect_fate fate;

        o.identity = "apps:configmap/a";
        o.ns = "apps";
        o.kind = "ConfigMap";
        o.name = "a";
        sync_mark("set", marked_as ? marked_as : o.identity, mark);
        o.mark = mark;
        if (wanted_checksum)
                assert_int_equal(map_put(&wanted, o.identity, (void *)(uintptr_t)wanted_checksum), 0);
        fate = collect_fate_of("set", &wanted, &everywhere, &o);
        map_free(&wanted);
        return fate;
}

static void what_is_not_in_the_repository_goes(void **state)
{
        assert_int_equal(fate(NULL, (struct collect_object){ .checksum = "1" }, NULL), COLLECT_DELETE);
        assert_int_equal(fate("1", (struct collect_object){ .checksum = "1" }, NULL), COLLECT_WANTED);
        assert_int_equal(fate("2", (struct collect_object){ .checksum = "1" }, NULL), COLLECT_OUTDATED);
        assert_int_equal(fate("", (struct collect_object){ .checksum = "1" }, NULL), COLLECT_WANTED);
}

/* spec/flux-yaml.md checklist 43 */
static void what_is_others_or_says_so_stays(void **state)
{
        assert_int_equal(fate(NULL, (struct collect_object){ .ignore = "sync_only" }, NULL), COLLECT_IGNORED);
        assert_int_equal(fate(NULL, (struct collect_object){ .ignore = "true" }, NULL), COLLECT_IGNORED);
        assert_int_equal(fate(NULL, (struct collect_object){ .ignore = "false" }, NULL), COLLECT_DELETE);
        assert_int_equal(fate(NULL, (struct collect_object){ .owned = true }, NULL), COLLECT_OWNED);
        assert_int_equal(fate(NULL, (struct collect_object){ 0 }, "apps:configmap/original"),
                         COLLECT_FOREIGN);
}

/* spec/flux-yaml.md checklist 45 */
static void another_set_has_other_objects(void **state)
{
        struct map none = MAP_INIT;
        char mark[SYNC_MARK_SIZE];
        struct collect_object o = { .identity = "apps:configmap/a", .mark = mark };

        sync_mark("old", o.identity, mark);
        assert_int_equal(collect_fate_of("new", &none, &everywhere, &o), COLLECT_FOREIGN);
        map_free(&none);
}

static void other_namespaces_are_not_collected(void **state)
{
        static const char *const allowed[] = { "shop" };
        const struct sync_rules r = { allowed, 1, NULL };
        struct map none = MAP_INIT;
        char mark[SYNC_MARK_SIZE];
        struct collect_object o = {
                .identity = "apps:configmap/a", .ns = "apps", .kind = "ConfigMap", .name = "a", .mark = mark
        };

        sync_mark("set", o.identity, mark);
        assert_int_equal(collect_fate_of("set", &none, &r, &o), COLLECT_OUTSIDE);
        map_free(&none);
}

static void deletion_is_in_reverse_order(void **state)
{
        struct collect_object placement = { .identity = "a",
                                            .kind = "ClusterResourcePlacement",
                                            .name = "a" },
                              config = { .identity = "b", .kind = "ConfigMap", .name = "b" },
                              space = { .identity = "c", .kind = "Namespace", .name = "c" };
        const struct collect_object *all[] = { &space, &config, &placement };

        collect_sort(all, 3);
        assert_ptr_equal(all[0], &placement);
        assert_ptr_equal(all[1], &config);
        assert_ptr_equal(all[2], &space);
}

/* ---- holds ---- */

#define NOW INT64_C(1000000)

static bool take_at(struct path_record *p, size_t objects, const char *revision, int64_t now_ms,
                    int64_t confirmed_ms)
{
        return path_record_take(p, &(struct path_found){ objects, revision, now_ms, confirmed_ms });
}

static bool take(struct path_record *p, size_t objects, const char *revision, bool confirmed)
{
        return take_at(p, objects, revision, NOW, confirmed ? NOW : TIME_NONE);
}

static struct path_record record_of(size_t objects)
{
        struct path_record p = { 0 };

        assert_false(take(&p, objects, "first", false));
        return p;
}

/* spec/flux-yaml.md checklist 44 */
static void nothing_all_of_a_sudden_holds_until_it_is_confirmed(void **state)
{
        struct path_record p = record_of(3);

        assert_true(take(&p, 0, "second", false));
        assert_true(take(&p, 0, "second", false));
        assert_true(take(&p, 0, "third", false));
        assert_false(take(&p, 0, "third", true));
        assert_false(take(&p, 0, "third", false));
        assert_false(take(&p, 5, "fourth", false));
}

static void fewer_than_half_hold_from_ten_on(void **state)
{
        static const struct {
                size_t before, now;
                bool held;
        } cases[] = { { 18, 9, false }, { 19, 9, true },    { 18, 8, true },   { 17, 8, false },
                      { 9, 1, false },  { 100, 50, false }, { 100, 49, true }, { 1, 0, true } };

        for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
                struct path_record p = record_of(cases[i].before);

                assert_int_equal(take(&p, cases[i].now, "second", false), cases[i].held);
        }
}

static void a_hold_ends_when_the_objects_are_back(void **state)
{
        struct path_record p = record_of(40);

        assert_true(take(&p, 0, "second", false));
        assert_false(take(&p, 39, "second", false));
        assert_int_equal(p.objects, 39);
}

static void a_hold_ends_with_a_commit_that_makes_them_others(void **state)
{
        struct path_record p = record_of(40);

        assert_true(take(&p, 10, "second", false));
        assert_true(take(&p, 11, "second", false));
        assert_true(take(&p, 11, "third", false));
        assert_false(take(&p, 12, "fourth", false));
}

static void of_nothing_known_nothing_found_holds(void **state)
{
        struct path_record p = { 0 };

        assert_true(take(&p, 0, "first", false));
        assert_true(take(&p, 0, "first", false)); /* the next sync knows no more than that */
        assert_true(take(&p, 0, "second", false));
        assert_false(take(&p, 3, "third", false));
        p = (struct path_record){ .known = true };
        assert_false(take(&p, 0, "first", false));
}

/* spec/flux-yaml.md checklist 44 */
static void who_asked_before_it_was_held_confirms_nothing(void **state)
{
        struct path_record p = record_of(3);

        assert_true(take_at(&p, 0, "second", NOW, NOW - 1000));
        assert_true(take_at(&p, 0, "second", NOW + 60000, NOW - 1000)); /* nor does waiting help */
        assert_true(take_at(&p, 0, "third", NOW + 60000, NOW - 1000));
        assert_false(take_at(&p, 0, "third", NOW + 60000, NOW));
}

static void a_request_of_the_second_in_which_it_was_held_counts(void **state)
{
        struct path_record p = record_of(3);

        assert_true(take_at(&p, 0, "second", NOW + 900, TIME_NONE));
        assert_false(take_at(&p, 0, "second", NOW + 2000, NOW));
}

static void who_saw_more_objects_confirms_nothing(void **state)
{
        struct path_record p = record_of(40);

        assert_true(take_at(&p, 10, "second", NOW, TIME_NONE));
        assert_true(take_at(&p, 0, "third", NOW + 60000, NOW + 30000)); /* all of it was not meant */
        assert_int_equal(p.before, 40);
        assert_false(take_at(&p, 0, "third", NOW + 90000, NOW + 60000));
}

static void another_commit_with_as_many_is_what_was_seen(void **state)
{
        struct path_record p = record_of(40);

        assert_true(take_at(&p, 10, "second", NOW, TIME_NONE));
        assert_false(take_at(&p, 10, "third", NOW + 60000, NOW + 30000));
}

static void a_record_outlives_the_process(void **state)
{
        struct path_record p = record_of(40), q;
        AUTO_JSON json_t *doc = NULL;

        assert_true(take(&p, 3, "0123456789012345678901234567890123456789", false));
        doc = path_record_write(&p);
        path_record_read(doc, &q);
        assert_true(q.known && q.held && q.objects == 3 && q.before == 40 && q.since_ms == NOW);
        assert_string_equal(q.revision, p.revision);
        path_record_read(NULL, &q);
        assert_false(q.known);
}

static void a_record_without_a_time_is_confirmed_by_whoever_asks(void **state)
{
        AUTO_JSON json_t *doc =
                json_pack("{s:i,s:b,s:i,s:s}", "objects", 0, "held", 1, "before", 3, "revision", "first");
        struct path_record p;

        path_record_read(doc, &p);
        assert_false(take_at(&p, 0, "first", NOW, 1000));
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(what_is_not_in_the_repository_goes),
                cmocka_unit_test(what_is_others_or_says_so_stays),
                cmocka_unit_test(another_set_has_other_objects),
                cmocka_unit_test(other_namespaces_are_not_collected),
                cmocka_unit_test(deletion_is_in_reverse_order),
                cmocka_unit_test(nothing_all_of_a_sudden_holds_until_it_is_confirmed),
                cmocka_unit_test(fewer_than_half_hold_from_ten_on),
                cmocka_unit_test(a_hold_ends_when_the_objects_are_back),
                cmocka_unit_test(a_hold_ends_with_a_commit_that_makes_them_others),
                cmocka_unit_test(of_nothing_known_nothing_found_holds),
                cmocka_unit_test(who_asked_before_it_was_held_confirms_nothing),
                cmocka_unit_test(a_request_of_the_second_in_which_it_was_held_counts),
                cmocka_unit_test(who_saw_more_objects_confirms_nothing),
                cmocka_unit_test(another_commit_with_as_many_is_what_was_seen),
                cmocka_unit_test(a_record_outlives_the_process),
                cmocka_unit_test(a_record_without_a_time_is_confirmed_by_whoever_asks),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
