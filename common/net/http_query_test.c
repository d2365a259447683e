/* What a query says, whoever escaped it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/net/http_server.h"

static void a_parameter_is_found_however_it_is_written(void **state)
{
        static const struct {
                const char *query, *name, *value;
        } cases[] = {
                { "", "a", NULL },
                { "a=1", "a", "1" },
                { "a", "a", "" },
                { "a=", "a", "" },
                { "ab=1&a=2", "a", "2" },
                { "a=1&a=2", "a", "1" },
                { "&&b=1&", "b", "1" },
                { "b=1&a", "a", "" },
                { "xa=1", "a", NULL },
                { "a=b=c", "a", "b=c" },
                { "%61=1", "a", "1" },
                { "a%62=1&a=2", "a", "2" },
                { "a=1%2B2+3", "a", "1+2 3" },
                { "a+b=1", "a b", "1" },
                { "%zz=1&a=2", "a", "2" }, /* a name that is no text is nobody's */
                { "a=%zz", "a", NULL },
                { "a=%00", "a", NULL },
        };
        for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
                AUTO_ARENA struct arena arena = ARENA_INIT;
                struct http_exchange x = { .arena = &arena, .query = cases[i].query };
                const char *value = http_query_get(&x, cases[i].name);

                if (cases[i].value)
                        assert_string_equal(value, cases[i].value);
                else
                        assert_null(value);
        }
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(a_parameter_is_found_however_it_is_written),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
