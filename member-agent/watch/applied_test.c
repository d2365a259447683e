/* Who is told of what happens to an applied object: applied.h. */
#include "member-agent/watch/applied.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/base/limits.h"
#include "common/base/timefmt.h"
#include "e2e/devcluster/rig.h"

#define MAPS "/api/v1/namespaces/default/configmaps"

static const struct kube_resource maps = { "", "v1", "configmaps", "ConfigMap", true };
static const struct kube_resource namespaces = { "", "v1", "namespaces", "Namespace", false };

struct bench {
        struct rig *rig;
        struct world world;
        struct kube_client kube;
        struct log log;
        struct store *store;
        struct fiber_group *group;
        struct applied_watch *watch;
        struct buf told; /* names of Works */
};

static void no_random(void *ctx, void *ret, size_t n)
{
        memset(ret, 1, n);
}

static void tell(void *ctx, const char *work, const struct object *now)
{
        buf_printf(&((struct bench *)ctx)->told, "%s ", work);
}

static void open_bench(struct rig *r, struct bench *b)
{
        struct store_options o = { .path = ":memory:", .random = no_random };
        struct error err = { 0 };

        *b = (struct bench){ .rig = r, .world = r->world };
        b->world.transport = r->client;
        b->kube = (struct kube_client){ .world = &b->world, .endpoint = &r->endpoint, .log = &b->log };
        b->group = fiber_group_new(r->loop, NULL, "bench");
        buf_init(&b->told, 65536);
        assert_int_equal(store_open(&o, &b->store, &err), 0);
}

static void start(struct bench *b)
{
        const struct applied_watch_options o = {
                .kube = &b->kube, .store = b->store, .log = &b->log, .changed = tell, .ctx = b
        };

        b->watch = applied_watch_new(b->group, &o, NULL);
        assert_non_null(b->watch);
        assert_int_equal(applied_watch_reconcile(b->watch, NULL), 0);
        rig_settle(b->rig);
}

static void close_bench(struct bench *b)
{
        b->watch = applied_watch_free(b->watch);
        fiber_group_end(b->group);
        store_close(b->store);
        buf_free(&b->told);
}

/* Whom the last events were told. */
static void expect_told(struct bench *b, const char *works)
{
        rig_settle(b->rig);
        assert_string_equal(b->told.data ? b->told.data : "", works);
        buf_clear(&b->told);
        buf_append_str(&b->told, "");
        if (b->told.data)
                b->told.data[0] = '\0';
}

/* The version of an object as the server has it; makes it first where there is none. */
static const char *version_of(struct rig *r, const char *name)
{
        const char *path = arena_printf(&r->arena, MAPS "/%s", name);

        if (rig_get(r, path) == 404)
                assert_int_equal(
                        rig_post(r, MAPS, arena_printf(&r->arena, "{\"metadata\":{\"name\":\"%s\"}}", name)),
                        201);
        return arena_strdup(&r->arena, rig_string(r, "metadata.resourceVersion"));
}

static void edit(struct rig *r, const char *name, const char *value)
{
        const char *patch = arena_printf(&r->arena, "{\"data\":{\"k\":\"%s\"}}", value);

        assert_int_equal(rig_merge(r, arena_printf(&r->arena, MAPS "/%s", name), patch), 200);
}

static void put_row(struct bench *b, const char *work, const char *name, enum row_state state,
                    const char *handled)
{
        const struct row row = { .work = work,
                                 .group = "",
                                 .version = "v1",
                                 .kind = "ConfigMap",
                                 .plural = "configmaps",
                                 .ns = "default",
                                 .name = name,
                                 .namespaced = true,
                                 .uid = "",
                                 .state = state,
                                 .hash = "",
                                 .handled = handled,
                                 .seen = "",
                                 .first_drift_ms = TIME_NONE,
                                 .first_diff_ms = TIME_NONE };

        assert_int_equal(store_row_put(b->store, &row, NULL), 0);
}

static const char *seen_of(struct bench *b, const char *name)
{
        struct rows rows;

        assert_int_equal(store_rows_of_object(b->store, "", "configmaps", "default", name, &b->rig->arena,
                                              &rows, NULL),
                         0);
        assert_true(rows.n > 0);
        return rows.at[0].seen;
}

RIG_TEST(each_work_that_holds_an_object_is_told_of_its_change_and_of_its_end, {
        struct bench b;

        open_bench(r, &b);
        put_row(&b, "one", "a", ROW_APPLIED, version_of(r, "a"));
        put_row(&b, "two", "a", ROW_APPLIED, version_of(r, "a"));
        put_row(&b, "three", "b", ROW_APPLIED, version_of(r, "b"));
        start(&b);
        expect_told(&b, "");
        edit(r, "a", "1");
        expect_told(&b, "one two ");
        assert_string_equal(seen_of(&b, "a"), version_of(r, "a"));
        rig_delete(r, MAPS "/a");
        expect_told(&b, "one two ");
        assert_string_equal(seen_of(&b, "a"), SEEN_GONE);
        edit(r, "b", "1");
        expect_told(&b, "three ");
        close_bench(&b);
})

RIG_TEST(what_is_not_in_the_inventory_is_told_to_nobody, {
        struct bench b;

        open_bench(r, &b);
        put_row(&b, "one", "a", ROW_APPLIED, version_of(r, "a"));
        start(&b);
        version_of(r, "other");
        edit(r, "other", "1");
        rig_delete(r, MAPS "/other");
        expect_told(&b, "");
        close_bench(&b);
})

/* The version that a Work left an object at wakes that Work not, but another one that holds it. */
RIG_TEST(an_own_write_wakes_only_others, {
        struct bench b;

        open_bench(r, &b);
        version_of(r, "a");
        edit(r, "a", "1");
        put_row(&b, "writer", "a", ROW_APPLIED, version_of(r, "a"));
        put_row(&b, "other", "a", ROW_APPLIED, "1");
        put_row(&b, "planner", "a", ROW_PLANNED, version_of(r, "a"));
        start(&b);
        expect_told(&b, "other planner ");
        assert_string_equal(seen_of(&b, "a"), version_of(r, "a"));
        close_bench(&b);
})

RIG_TEST(what_happened_while_nobody_watched_is_told_at_the_beginning, {
        struct bench b;

        open_bench(r, &b);
        put_row(&b, "same", "a", ROW_APPLIED, version_of(r, "a"));
        put_row(&b, "changed", "b", ROW_APPLIED, version_of(r, "b"));
        edit(r, "b", "1");
        put_row(&b, "gone", "c", ROW_APPLIED, version_of(r, "c"));
        rig_delete(r, MAPS "/c");
        put_row(&b, "planned", "d", ROW_PLANNED, "");
        start(&b);
        expect_told(&b, "changed gone ");
        assert_string_equal(seen_of(&b, "c"), SEEN_GONE);
        assert_string_equal(seen_of(&b, "d"), "");
        version_of(r, "d");
        expect_told(&b, "planned ");
        close_bench(&b);
})

RIG_TEST(an_object_that_is_made_again_is_told_of, {
        struct bench b;

        open_bench(r, &b);
        put_row(&b, "one", "a", ROW_APPLIED, version_of(r, "a"));
        rig_delete(r, MAPS "/a");
        start(&b);
        expect_told(&b, "one ");
        version_of(r, "a");
        expect_told(&b, "one ");
        assert_string_equal(seen_of(&b, "a"), version_of(r, "a"));
        close_bench(&b);
})

RIG_TEST(kinds_are_watched_that_the_inventory_names_or_somebody_wants, {
        const struct row row = { .work = "one",
                                 .group = "",
                                 .version = "v1",
                                 .kind = "ConfigMap",
                                 .plural = "configmaps",
                                 .ns = "default",
                                 .name = "a" };
        struct bench b;

        open_bench(r, &b);
        start(&b);
        assert_int_equal(applied_watch_count(b.watch), 0);
        assert_false(applied_watch_current(b.watch, "", "configmaps"));
        put_row(&b, "one", "a", ROW_APPLIED, version_of(r, "a"));
        assert_int_equal(applied_watch_want(b.watch, &maps, NULL), 0);
        assert_false(applied_watch_current(b.watch, "", "configmaps")); /* not yet */
        assert_int_equal(applied_watch_want(b.watch, &maps, NULL), 0);
        assert_int_equal(applied_watch_want(b.watch, &namespaces, NULL), 0);
        assert_int_equal(applied_watch_count(b.watch), 2);
        rig_settle(r);
        assert_true(applied_watch_current(b.watch, "", "configmaps"));
        assert_true(applied_watch_current(b.watch, "", "namespaces"));
        assert_false(applied_watch_current(b.watch, "apps", "configmaps"));
        assert_int_equal(applied_watch_reconcile(b.watch, NULL), 0); /* no row is of a namespace */
        assert_int_equal(applied_watch_count(b.watch), 1);
        assert_true(applied_watch_current(b.watch, "", "configmaps"));
        assert_false(applied_watch_current(b.watch, "", "namespaces"));
        assert_int_equal(store_row_remove(b.store, &row, NULL), 0);
        assert_int_equal(applied_watch_reconcile(b.watch, NULL), 0);
        assert_int_equal(applied_watch_count(b.watch), 0);
        close_bench(&b);
})

/* A list tells what is gone of those that it was to name, and not of what the one before named. */
RIG_TEST(each_list_is_counted_for_itself, {
        struct bench b;

        open_bench(r, &b);
        put_row(&b, "one", "a", ROW_APPLIED, version_of(r, "a"));
        start(&b);
        b.watch = applied_watch_free(b.watch);
        rig_delete(r, MAPS "/a");
        start(&b);
        expect_told(&b, "one ");
        b.watch = applied_watch_free(b.watch);
        start(&b);
        expect_told(&b, ""); /* it is known */
        close_bench(&b);
})

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(each_work_that_holds_an_object_is_told_of_its_change_and_of_its_end),
                cmocka_unit_test(what_is_not_in_the_inventory_is_told_to_nobody),
                cmocka_unit_test(an_own_write_wakes_only_others),
                cmocka_unit_test(what_happened_while_nobody_watched_is_told_at_the_beginning),
                cmocka_unit_test(an_object_that_is_made_again_is_told_of),
                cmocka_unit_test(kinds_are_watched_that_the_inventory_names_or_somebody_wants),
                cmocka_unit_test(each_list_is_counted_for_itself),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
