/* Regular expressions: matches as RE2 finds them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/base/memory.h"
#include "common/json/regex.h"

static const struct regex *compiled(struct arena *arena, const char *pattern)
{
        struct error err = { 0 };
        const struct regex *re = NULL;
        if (regex_compile(arena, slice_of(pattern), &re, &err) < 0)
                fail_msg("%s: %s", pattern, err.text);
        return re;
}

static void patterns_find_the_leftmost_match(void **state)
{
        static const struct {
                const char *pattern, *text;
                int begin, end; /* -1: no match */
        } cases[] = {
                { "a", "xa", 1, 2 },
                { "^a", "xa", -1, -1 },
                { "a|ab", "ab", 0, 1 },
                { "ab|a", "ab", 0, 2 },
                { "a*", "baa", 0, 0 },
                { "a+", "baac", 1, 3 },
                { "a+?", "baac", 1, 2 },
                { "(a|b)*c", "xabac", 1, 5 },
                { "[^a-c]+", "abxyzc", 2, 5 },
                { "[]a]+", "x]a]", 1, 4 },
                { "[a\\-z]+", "m-a", 1, 3 },
                { "[[:alpha:]_]+", "12a_b", 2, 5 },
                { "\\d{2,3}", "1 1234", 2, 5 },
                { "\\d{2,3}?", "1 1234", 2, 4 },
                { "x{0}y", "xy", 1, 2 },
                { "a{,2}", "a{,2}", 0, 5 },
                { "\\bfoo\\b", "a foo b", 2, 5 },
                { "\\w+@\\w+\\.com", "me: joe@site.com!", 4, 16 },
                { "(?i)HeLLo", "say hello", 4, 9 },
                { "a.c", "a\nc", -1, -1 },
                { "(?s)a.c", "a\nc", 0, 3 },
                { "(?m)^b$", "a\nb\nc", 2, 3 },
                { "^$", "", 0, 0 },
                { "a$", "a\n", -1, -1 },
                { "(?P<year>\\d+)-", "in 2024-", 3, 8 },
                { "(?:ab){2}", "ababab", 0, 4 },
                { "\\x41\\x{42}", "AB", 0, 2 },
                { "[\\d\\s]+x", "1 2x", 0, 4 },
                { "[^\\D]+", "ab12", 2, 4 },
                { "(a?)(b?)$", "ab", 0, 2 },
                { "(|a)*", "aa", 0, 0 },
                { "(|a)+", "aa", 0, 0 },
                { "(a|)*", "aa", 0, 2 },
                { "é+", "caféé", 3, 7 },
                { "[à-ï]", "é", 0, 2 },
                { ".", "日本", 0, 3 },
        };
        AUTO_ARENA struct arena arena = ARENA_INIT;
        for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
                struct regex_span span = { 0 };
                int found = regex_find(compiled(&arena, cases[i].pattern), slice_of(cases[i].text), 0, &span);
                if (found != (cases[i].begin >= 0) ||
                    (found && ((int)span.begin != cases[i].begin || (int)span.end != cases[i].end)))
                        fail_msg("%s on %s: %d, %zu..%zu", cases[i].pattern, cases[i].text, found, span.begin,
                                 span.end);
        }
}

static void kubernetes_name_patterns_work(void **state)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        const struct regex *name =
                compiled(&arena, "^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$");
        assert_int_equal(regex_test(name, SLICE("web-1.example")), 1);
        assert_int_equal(regex_test(name, SLICE("-web")), 0);
        assert_int_equal(regex_test(name, SLICE("web-")), 0);
        const struct regex *percent = compiled(&arena, "^((100|[0-9]{1,2})%|[0-9]+)$");
        assert_int_equal(regex_test(percent, SLICE("100%")), 1);
        assert_int_equal(regex_test(percent, SLICE("101%")), 0);
        assert_int_equal(regex_test(percent, SLICE("5")), 1);
}

static void bad_patterns_are_refused_with_the_reason(void **state)
{
        static const struct {
                const char *pattern, *text;
        } cases[] = {
                { "(a", "missing closing )" },
                { "a)", "unexpected )" },
                { "[a", "missing closing ]" },
                { "[z-a]", "invalid character class range" },
                { "*a", "missing argument to repetition operator" },
                { "a**", "invalid nested repetition operator" },
                { "a{2,1}", "invalid repeat count" },
                { "a{1001}", "invalid repeat count" },
                { "((a{100}){100}){100}", "invalid repeat count" },
                { "(?=a)", "invalid or unsupported Perl syntax" },
                { "(?<!a)", "invalid or unsupported Perl syntax" },
                { "(a)\\1", "invalid escape sequence" },
                { "\\", "trailing backslash" },
                { "\\pL", "invalid escape sequence" },
                { "[[:nope:]]", "invalid character class range" },
        };
        AUTO_ARENA struct arena arena = ARENA_INIT;
        for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
                struct error err = { 0 };
                const struct regex *re = NULL;
                assert_int_equal(regex_compile(&arena, slice_of(cases[i].pattern), &re, &err), ERR_INVALID);
                if (!strstr(err.text, cases[i].text))
                        fail_msg("%s: %s", cases[i].pattern, err.text);
        }
}

static void deep_nesting_is_a_limit(void **state)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        char pattern[1001];
        memset(pattern, '(', 1000);
        pattern[1000] = '\0';
        const struct regex *re = NULL;
        assert_int_equal(regex_compile(&arena, slice_of(pattern), &re, NULL), ERR_LIMIT);
}

static void a_pattern_that_makes_backtrackers_explode_takes_linear_time(void **state)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        const struct regex *re = compiled(&arena, "^(a+)+$");
        static char text[20001];
        memset(text, 'a', 20000);
        text[19999] = 'b';
        assert_int_equal(regex_test(re, slice_of(text)), 0);
}

/* "whole|group 1|..." with - for a group that took no part. */
static void groups_are_found_as_re2_finds_them(void **state)
{
        static const struct {
                const char *pattern, *text, *groups;
        } cases[] = {
                { "a(x*)b", "-axxb-", "axxb|xx" },
                { "(a)|(b)", "b", "b|-|b" },
                { "(a|ab)(c|bcd)(d*)", "abcd", "abcd|a|bcd|" },
                { "((a)(b)?)+", "aaba", "aaba|a|a|b" },
                { "(?:x)(y)", "xy", "xy|y" },
                { "(a*)*", "b", "|" },
                { "(a{2})(?P<rest>.*)", "xaab", "aab|aa|b" },
                { "^(\\d+)\\.(\\d+)?$", "12.", "12.|12|-" },
                { "x", "abc", NULL },
        };
        AUTO_ARENA struct arena arena = ARENA_INIT;
        for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
                const struct regex *re;
                struct regex_span spans[4];
                size_t seen;
                char got[100] = "";
                struct slice text = slice_of(cases[i].text);
                assert_int_equal(regex_compile_groups(&arena, slice_of(cases[i].pattern), &re, NULL), 0);
                int found = regex_find_groups(re, text, 0, spans, &seen);
                assert_int_equal(found, cases[i].groups != NULL);
                for (size_t g = 0, at = 0; found && g <= regex_group_count(re); g++) {
                        bool part = spans[g].begin != SIZE_MAX;
                        at += (size_t)snprintf(got + at, sizeof(got) - at, "%s%.*s", g ? "|" : "",
                                               part ? (int)(spans[g].end - spans[g].begin) : 1,
                                               part ? text.data + spans[g].begin : "-");
                }
                assert_string_equal(got, found ? cases[i].groups : "");
        }
}

static void a_group_has_a_name_or_none(void **state)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        const struct regex *re;
        assert_int_equal(regex_compile_groups(&arena, SLICE("(a)(?P<two>b)(?<three>c)"), &re, NULL), 0);
        assert_int_equal(regex_group_count(re), 3);
        assert_true(slice_is(regex_group_name(re, 1), ""));
        assert_true(slice_is(regex_group_name(re, 2), "two"));
        assert_true(slice_is(regex_group_name(re, 3), "three"));
}

static void allocation_failures_are_reported(void **state)
{
        for (uint64_t n = 1;; n++) {
                AUTO_ARENA struct arena arena = ARENA_INIT;
                const struct regex *re = NULL;
                mem_fail_at(n, false);
                int code = regex_compile(&arena, SLICE("^[a-z]{1,300}(x|y)$"), &re, NULL);
                if (code == 0)
                        code = regex_test(re, SLICE("abcx"));
                if (code == 1)
                        code = regex_compile_groups(&arena, SLICE("(b)|(c)"), &re, NULL);
                if (code == 0) {
                        struct regex_span spans[3];
                        size_t seen;
                        code = regex_find_groups(re, SLICE("abcx"), 0, spans, &seen);
                }
                bool fired = mem_fault_fired();
                mem_fail_at(0, false);
                assert_int_equal(code, fired ? ERR_NO_MEMORY : 1);
                if (!fired)
                        break;
        }
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(patterns_find_the_leftmost_match),
                cmocka_unit_test(kubernetes_name_patterns_work),
                cmocka_unit_test(bad_patterns_are_refused_with_the_reason),
                cmocka_unit_test(deep_nesting_is_a_limit),
                cmocka_unit_test(a_pattern_that_makes_backtrackers_explode_takes_linear_time),
                cmocka_unit_test(groups_are_found_as_re2_finds_them),
                cmocka_unit_test(a_group_has_a_name_or_none),
                cmocka_unit_test(allocation_failures_are_reported),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
