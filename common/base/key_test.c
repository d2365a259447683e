/* Keys of any length. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "common/base/key.h"
#include "common/base/memory.h"

static void parts_are_joined_and_an_empty_first_one_leaves_no_mark(void **state)
{
        AUTO_KEY struct key k = KEY_EMPTY;

        assert_int_equal(key_join(&k, "web", '/', "settings"), 0);
        assert_string_equal(k.text, "web/settings");
        assert_int_equal(key_join(&k, "", '/', "node"), 0);
        assert_string_equal(k.text, "node");
        assert_int_equal(key_join(&k, NULL, '/', "other"), 0);
        assert_string_equal(k.text, "other");
}

static void a_key_of_any_length_is_whole(void **state)
{
        AUTO_KEY struct key k = KEY_EMPTY;
        char name[2000] = "";

        for (size_t n = KEY_OWN_BYTES - 8; n < sizeof(name); n += n < KEY_OWN_BYTES + 4 ? 1 : 500) {
                memset(name, 'x', n);
                name[n] = '\0';
                assert_int_equal(key_join(&k, "ns", '/', name), 0);
                assert_int_equal(strlen(k.text), n + 3);
                assert_string_equal(k.text + 3, name);
        }
        assert_int_equal(key_join(&k, "a", '/', "b"), 0);
        assert_string_equal(k.text, "a/b");
}

static void short_keys_need_no_memory_and_long_ones_say_so(void **state)
{
        AUTO_KEY struct key k = KEY_EMPTY;
        char name[KEY_OWN_BYTES + 1] = "";
        int code;

        memset(name, 'x', KEY_OWN_BYTES);
        mem_fail_at(1, true);
        assert_int_equal(key_join(&k, "ns", '/', "name"), 0);
        code = key_join(&k, "ns", '/', name);
        mem_fail_at(0, false);
        assert_int_equal(code, ERR_NO_MEMORY);
        assert_null(k.text);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(parts_are_joined_and_an_empty_first_one_leaves_no_mark),
                cmocka_unit_test(a_key_of_any_length_is_whole),
                cmocka_unit_test(short_keys_need_no_memory_and_long_ones_say_so),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
