/* spec/member-agent.md 4 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/base/memory.h"
#include "member-agent/properties/namespaces.h"

#define FLEET "placement.kubernetes-fleet.io/v1beta1"

static int setup(void **state)
{
        struct namespaces *s = NEW(struct namespaces);

        namespaces_init(s);
        *state = s;
        return 0;
}

static int teardown(void **state)
{
        namespaces_free(*state);
        mem_free(*state);
        return 0;
}

static void put(struct namespaces *s, const char *name, struct owner_reference *owners, uint16_t n)
{
        struct object o = {
                .meta = { .name = name, .deletion_ms = TIME_NONE, .owners = owners, .n_owners = n }
        };

        assert_int_equal(namespaces_put(s, &o), 0);
}

/* Namespaces n000, n001, ... from first on. */
static void put_many(struct namespaces *s, int first, int n)
{
        for (int i = first; i < first + n; i++) {
                char name[16];

                snprintf(name, sizeof(name), "n%03d", i);
                put(s, name, NULL, 0);
        }
}

/* The Work that is told for a namespace; NULL = it is not told of. */
static const char *told(const struct namespaces *s, const char *name)
{
        static char work[32];
        struct arena arena AUTO_ARENA = ARENA_INIT;
        struct string_map map;
        const char *value;

        assert_int_equal(namespaces_report(s, &arena, &map, NULL), 0);
        assert_true(map.set);
        value = string_map_get(&map, name);
        if (!value)
                return NULL;
        snprintf(work, sizeof(work), "%s", value);
        return work;
}

static size_t count_told(const struct namespaces *s)
{
        struct arena arena AUTO_ARENA = ARENA_INIT;
        struct string_map map;

        assert_int_equal(namespaces_report(s, &arena, &map, NULL), 0);
        return map.n;
}

static void a_namespace_belongs_to_the_first_applied_work_that_owns_it(void **state)
{
        static struct {
                struct owner_reference owners[2];
                uint16_t n;
                const char *work;
        } lines[] = {
                { { { 0 } }, 0, "" },
                { { { .api_version = FLEET, .kind = "AppliedWork", .name = "w" } }, 1, "w" },
                { { { .api_version = "v1", .kind = "AppliedWork", .name = "w" } }, 1, "" },
                { { { .api_version = FLEET, .kind = "Work", .name = "w" } }, 1, "" },
                { { { .api_version = "v1", .kind = "ConfigMap", .name = "c" },
                    { .api_version = FLEET, .kind = "AppliedWork", .name = "w" } },
                  2,
                  "w" },
                { { { .api_version = FLEET, .kind = "AppliedWork", .name = "v" },
                    { .api_version = FLEET, .kind = "AppliedWork", .name = "w" } },
                  2,
                  "v" },
        };
        struct namespaces *s = *state;

        for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
                put(s, "web", lines[i].owners, lines[i].n); /* the one before changes its owner */
                assert_string_equal(told(s, "web"), lines[i].work);
                assert_int_equal(count_told(s), 1);
        }
}

static void one_that_goes_is_not_told_of(void **state)
{
        struct object going = { .meta = { .name = "n000", .deletion_ms = 7 } };
        struct namespaces *s = *state;

        put_many(s, 0, 2);
        assert_int_equal(namespaces_put(s, &going), 0);
        assert_null(told(s, "n000"));
        assert_non_null(told(s, "n001"));
        namespaces_remove(s, "n001");
        namespaces_remove(s, "never was");
        assert_int_equal(count_told(s), 0);
        assert_int_equal(namespaces_put(s, &going), 0);
        assert_int_equal(count_told(s), 0);
}

/* spec/member-agent.md checklist 58 */
static void two_hundred_are_told_of_and_it_is_said_when_there_are_more(void **state)
{
        struct namespaces *s = *state;

        put_many(s, 0, 200);
        assert_int_equal(count_told(s), 200);
        assert_false(namespaces_cut(s));
        put_many(s, 200, 1);
        assert_int_equal(count_told(s), 200);
        assert_true(namespaces_cut(s));
        assert_null(told(s, "n200"));
        namespaces_remove(s, "n200");
        assert_false(namespaces_cut(s));
}

static void a_place_that_becomes_free_is_taken_at_once(void **state)
{
        struct namespaces *s = *state;

        put_many(s, 10, 200);
        put_many(s, 300, 1);
        put_many(s, 0, 1); /* before all others by name, and yet later */
        assert_null(told(s, "n000"));
        namespaces_remove(s, "n100");
        assert_int_equal(count_told(s), 200);
        assert_non_null(told(s, "n000"));
        assert_null(told(s, "n300"));
        assert_true(namespaces_cut(s));
        namespaces_remove(s, "n101");
        assert_non_null(told(s, "n300"));
        assert_false(namespaces_cut(s));
}

static void what_a_list_does_not_name_is_gone(void **state)
{
        struct namespaces *s = *state;

        put_many(s, 0, 203);
        namespaces_begin(s);
        put_many(s, 1, 199);
        put_many(s, 201, 1); /* 0, 200 and 202 went */
        put_many(s, 300, 2);
        namespaces_end(s);
        assert_int_equal(count_told(s), 200);
        assert_non_null(told(s, "n201"));
        assert_null(told(s, "n000"));
        assert_null(told(s, "n300"));
        assert_true(namespaces_cut(s));
        namespaces_begin(s);
        namespaces_end(s);
        assert_int_equal(count_told(s), 0);
        assert_false(namespaces_cut(s));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
        const struct CMUnitTest tests[] = {
                TEST(a_namespace_belongs_to_the_first_applied_work_that_owns_it),
                TEST(one_that_goes_is_not_told_of),
                TEST(two_hundred_are_told_of_and_it_is_said_when_there_are_more),
                TEST(a_place_that_becomes_free_is_taken_at_once),
                TEST(what_a_list_does_not_name_is_gone),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
