#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "e2e/devcluster/go_json.h"

static void syntax_errors_are_worded_as_go_words_them(void **state)
{
        static const struct {
                const char *text, *problem;
        } cases[] = {
                { "", "unexpected end of JSON input" },
                { "{\"kind\":", "unexpected end of JSON input" },
                { "[1", "unexpected end of JSON input" },
                { "not json", "invalid character 'o' in literal null (expecting 'u')" },
                { "tru", "unexpected end of JSON input" },
                { "<a>", "invalid character '<' looking for beginning of value" },
                { "{a:1}", "invalid character 'a' looking for beginning of object key string" },
                { "{\"a\":1,}", "invalid character '}' looking for beginning of object key string" },
                { "{\"a\" 1}", "invalid character '1' after object key" },
                { "{\"a\":1 \"b\"}", "invalid character '\"' after object key:value pair" },
                { "[1 2]", "invalid character '2' after array element" },
                { "{} x", "invalid character 'x' after top-level value" },
                { "-x", "invalid character 'x' in numeric literal" },
                { "1.x", "invalid character 'x' after decimal point in numeric literal" },
                { "1ex", "invalid character 'x' in exponent of numeric literal" },
                { "01", "invalid character '1' after top-level value" },
                { "\"a\nb\"", "invalid character '\\n' in string literal" },
                { "\"\\q\"", "invalid character 'q' in string escape code" },
                { "\"\\u12g4\"", "invalid character 'g' in \\u hexadecimal character escape" },
                { " {\"a\":[1,-2.5e3,true,null,\"x\\u0041\"]} ", NULL },
        };
        AUTO_ARENA struct arena arena = { 0 };

        (void)state;
        for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
                const char *said = go_json_problem(slice_of(cases[i].text), &arena);
                if (cases[i].problem)
                        assert_string_equal(said ? said : "nothing", cases[i].problem);
                else
                        assert_null(said);
        }
}

int main(void)
{
        const struct CMUnitTest tests[] = { cmocka_unit_test(syntax_errors_are_worded_as_go_words_them) };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
