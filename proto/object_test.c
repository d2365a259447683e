/* What is asked of an object, and changed in a copy, whatever its kind. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "proto/gen/kinds.h"

/* Of a Work with these finalizers; each a letter. */
static struct object *work_with(const char *letters, struct arena *arena)
{
        struct object *o = object_new(&work_kind, "ns", "name", arena);

        assert_non_null(o);
        for (; *letters; letters++)
                assert_int_equal(object_add_finalizer(o, arena_strndup(arena, letters, 1), arena), 0);
        return o;
}

static void assert_finalizers(const struct object *o, const char *letters)
{
        assert_int_equal(o->meta.n_finalizers, strlen(letters));
        for (uint16_t i = 0; i < o->meta.n_finalizers; i++)
                assert_int_equal(o->meta.finalizers[i][0], letters[i]);
}

static void a_finalizer_is_there_once_behind_the_others(void **state)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct object *o = work_with("abab", &arena);

        assert_finalizers(o, "ab");
        assert_true(object_has_finalizer(o, "b"));
        assert_false(object_has_finalizer(o, "c"));
}

static void a_finalizer_that_is_removed_leaves_the_others(void **state)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct object *o = work_with("abc", &arena);

        object_remove_finalizer(o, "b");
        assert_finalizers(o, "ac");
        object_remove_finalizer(o, "b");
        assert_finalizers(o, "ac");
        object_remove_finalizer(o, "a");
        object_remove_finalizer(o, "c");
        assert_finalizers(o, "");
}

static void a_copy_is_changed_alone(void **state)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct object *o = work_with("abc", &arena), *copy = object_copy(o, &arena);

        assert_non_null(copy);
        object_remove_finalizer(copy, "a");
        assert_int_equal(object_add_finalizer(copy, "d", &arena), 0);
        assert_finalizers(copy, "bcd");
        assert_finalizers(o, "abc");
}

int main(void)
{
        static const struct CMUnitTest tests[] = {
                cmocka_unit_test(a_finalizer_is_there_once_behind_the_others),
                cmocka_unit_test(a_finalizer_that_is_removed_leaves_the_others),
                cmocka_unit_test(a_copy_is_changed_alone),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
