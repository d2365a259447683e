#include "common/json/scan.h"

#include "common/json/doc_test.h"

/* One letter per token, texts included: "{k=a#1}" */
static void render(const char *json, size_t len, char *ret, size_t size)
{
        static const char letters[] = "?{}[]ks#tfn";
        struct scanner s;
        scan_init(&s, (struct slice){ json, len });
        size_t n = 0;
        for (;;) {
                enum scan_token t = scan_next(&s);
                if (t == SCAN_END || t == SCAN_ERROR) {
                        if (t == SCAN_ERROR)
                                ret[n++] = '!';
                        ret[n] = '\0';
                        return;
                }
                assert_true(n + s.text.len + 3 < size);
                ret[n++] = letters[t];
                if (t == SCAN_KEY || t == SCAN_STRING || t == SCAN_NUMBER) {
                        memcpy(ret + n, s.text.data, s.text.len);
                        n += s.text.len;
                }
        }
}

static void tokens_come_in_order(void **state)
{
        static const struct {
                const char *json, *tokens;
        } cases[] = {
                { "{}", "{}" },
                { " [ ] ", "[]" },
                { "{\"a\":1,\"b\":[true,false,null,\"x\"]}", "{ka#1kb[tfnsx]}" },
                { "-0.5e+10", "#-0.5e+10" },
                { "\"\"", "s" },
                { "[[],{},[{}]]", "[[]{}[{}]]" },
                { "\r\n\t 0 \n", "#0" },
        };
        char got[200];
        for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
                render(cases[i].json, strlen(cases[i].json), got, sizeof(got));
                assert_string_equal(got, cases[i].tokens);
        }
}

static void malformed_text_is_refused(void **state)
{
        static const char *const cases[] = {
                "",
                " ",
                "{",
                "[",
                "}",
                "]",
                "[}",
                "{]",
                "{\"a\"}",
                "{\"a\":}",
                "{\"a\":1,}",
                "[1,]",
                "[,1]",
                "[1 2]",
                "{,}",
                "{1:2}",
                "{a:1}",
                "01",
                "-",
                "1.",
                ".5",
                "1e",
                "1e+",
                "+1",
                "0x1",
                "NaN",
                "tru",
                "nul",
                "True",
                "\"",
                "\"\\x\"",
                "\"\\u12g4\"",
                "\"\\ud800\"",
                "\"\\udc00\"",
                "\"\\ud800\\u0041\"",
                "\"a\nb\"",
                "\"\x01\"",
                "\"\xff\"",
                "\"\xc0\xaf\"",
                "\"\xed\xa0\x80\"",
                "\"\xf4\x90\x80\x80\"",
                "\"\xe2\x82\"",
                "1 2",
                "{} {}",
                "[1]]",
                "'a'",
                "/**/1",
                "\"\\",
                "\"\\u",
                "\"\\ud800\\u",
                "\xef\xbb\xbf{}",
                "[\"a\",\"b\":1]",
        };
        char got[200];
        for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
                render(cases[i], strlen(cases[i]), got, sizeof(got));
                if (got[strlen(got) - 1] != '!')
                        print_error("accepted: %s\n", cases[i]);
                assert_int_equal(got[strlen(got) - 1], '!');
        }
        render("\"a\0b\"", 5, got, sizeof(got));
        assert_string_equal(got, "!");
}

/* Every position within the blocks that vector instructions take. */
static void long_strings_end_where_they_end(void **state)
{
        char json[100], got[200];
        for (size_t n = 0; n < 80; n++) {
                json[0] = '"';
                memset(json + 1, 'x', n);
                json[n + 1] = '"';
                render(json, n + 2, got, sizeof(got));
                assert_int_equal(strlen(got), n + 1);
                for (size_t bad = 1; bad <= n; bad++) {
                        char *copy = mem_must(mem_strndup(json, n + 2));
                        copy[bad] = '\x1f';
                        render(copy, n + 2, got, sizeof(got));
                        assert_string_equal(got, "!");
                        mem_free(copy);
                }
                render(json, n + 1, got, sizeof(got));
                assert_string_equal(got, "!");
        }
}

static void depth_is_limited(void **state)
{
        char json[2 * LIMIT_JSON_DEPTH + 3];
        for (size_t depth = LIMIT_JSON_DEPTH; depth <= LIMIT_JSON_DEPTH + 1; depth++) {
                memset(json, '[', depth);
                memset(json + depth, ']', depth);
                struct scanner s;
                scan_init(&s, (struct slice){ json, 2 * depth });
                enum scan_token t;
                while ((t = scan_next(&s)) > SCAN_END)
                        ;
                struct error e;
                if (depth == LIMIT_JSON_DEPTH) {
                        assert_int_equal(t, SCAN_END);
                } else {
                        assert_int_equal(t, SCAN_ERROR);
                        assert_int_equal(scan_error(&s, &e), ERR_LIMIT);
                }
        }
}

static void values_are_skipped_with_their_raw_text(void **state)
{
        static const char json[] = "{\"a\": {\"b\":[1, {\"c\":\"]}\"}]} "
                                   ",\"d\":-1.5,\"e\":\"x\\\"y\",\"f\":true,\"g\":false,\"h\":null}";
        static const char *const raw[] = {
                "{\"b\":[1, {\"c\":\"]}\"}]}", "-1.5", "\"x\\\"y\"", "true", "false", "null"
        };
        struct scanner s;
        scan_init(&s, slice_of(json));
        assert_int_equal(scan_next(&s), SCAN_OBJECT);
        for (size_t i = 0; i < ARRAY_LEN(raw); i++) {
                struct slice got;
                assert_int_equal(scan_next(&s), SCAN_KEY);
                assert_int_equal(scan_skip(&s, &got), 0);
                assert_true(slice_is(got, raw[i]));
        }
        assert_int_equal(scan_next(&s), SCAN_OBJECT_END);
        assert_int_equal(scan_next(&s), SCAN_END);
}

static void elements_are_skipped_until_the_close(void **state)
{
        struct scanner s;
        struct slice got;
        scan_init(&s, SLICE("[ {\"a\":1}, 2 , [] ]"));
        assert_int_equal(scan_next(&s), SCAN_ARRAY);
        size_t n = 0;
        while (!scan_at_close(&s)) {
                assert_int_equal(scan_skip(&s, &got), 0);
                n++;
        }
        assert_int_equal(n, 3);
        assert_int_equal(scan_next(&s), SCAN_ARRAY_END);
        scan_init(&s, SLICE("[]"));
        assert_int_equal(scan_next(&s), SCAN_ARRAY);
        assert_true(scan_at_close(&s));
        assert_int_equal(scan_skip(&s, NULL), ERR_INVALID);
}

static void a_skipped_value_is_validated(void **state)
{
        struct scanner s;
        struct error e;
        scan_init(&s, SLICE("{\"a\":{\"b\":tru}}"));
        scan_next(&s);
        scan_next(&s);
        assert_int_equal(scan_skip(&s, NULL), ERR_INVALID);
        assert_int_equal(scan_error(&s, &e), ERR_INVALID);
        assert_string_equal(e.text, "invalid JSON at byte 10: expected a value");
        assert_int_equal(scan_next(&s), SCAN_ERROR);
}

static void escapes_are_decoded(void **state)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct scanner s;
        size_t n;
        scan_init(&s, SLICE("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u0041\\u00e9\\u20AC\\ud83d\\ude00\\u0000z\""));
        assert_int_equal(scan_next(&s), SCAN_STRING);
        assert_true(s.escaped);
        const char *text = scan_string(&s, &arena, &n);
        static const char want[] = "\"\\/\b\f\n\r\tA\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\0z";
        assert_int_equal(n, sizeof(want) - 1);
        assert_memory_equal(text, want, n + 1);
}

static void keys_are_compared_decoded(void **state)
{
        struct scanner s;
        scan_init(&s, SLICE("{\"a\\u0062c\":1}"));
        scan_next(&s);
        scan_next(&s);
        assert_true(scan_key_is(&s, "abc"));
        assert_false(scan_key_is(&s, "ab"));
        assert_false(scan_key_is(&s, "abcd"));
        assert_false(scan_key_is(&s, "xbc"));
        assert_false(scan_key_is(&s, ""));
}

static void numbers_keep_64_bits(void **state)
{
        int64_t i;
        double d;
        assert_true(scan_number(SLICE("9223372036854775807"), &i, &d));
        assert_true(i == INT64_MAX);
        assert_true(scan_number(SLICE("-9223372036854775808"), &i, &d));
        assert_true(i == INT64_MIN);
        assert_false(scan_number(SLICE("9223372036854775808"), &i, &d));
        assert_true(d == 0x1p63);
        assert_false(scan_number(SLICE("1.5e1"), &i, &d));
        assert_true(d == 15);
}

/* What is behind the first value, byte by byte; NULL if it does not end. */
static const char *behind_by_bytes(const char *p, const char *end)
{
        size_t depth = 0;
        bool in_string = false;
        for (; p < end; p++) {
                if (in_string && *p == '\\') {
                        p++;
                        continue;
                }
                if (*p == '"')
                        in_string = !in_string;
                else if (!in_string)
                        depth += (*p == '{' || *p == '[') - (*p == '}' || *p == ']');
                if (!in_string && depth == 0)
                        return p + 1;
        }
        return NULL;
}

/* Random marks, first more that open and then more that close; `proper`: no backslash is outside strings, as
 * in JSON. */
static void fill_with_marks(uint64_t *dice, bool proper, char *text, size_t n)
{
        static const char opening[] = "{{[[}]\"\"\\\\:, a\x7f\x80\n",
                          closing[] = "{[}}]]\"\"\\\\:, a\x7f\x80\n";
        bool in_string = false, escaped = false;
        for (size_t i = 0; i < n; i++) {
                *dice = *dice * 6364136223846793005u + 1442695040888963407u;
                text[i] = i ? (i < n / 2 ? opening : closing)[(*dice >> 33) % (sizeof(opening) - 1)]
                            : "{[\""[(*dice >> 33) % 3];
                if (proper && !in_string && text[i] == '\\')
                        text[i] = ' ';
                in_string ^= text[i] == '"' && !escaped;
                escaped = text[i] == '\\' && !escaped;
        }
}

/* Whatever lies between them, and wherever they are in the blocks that are looked at at once. */
static void unchecked_values_end_where_brackets_and_quotes_say(void **state)
{
        uint64_t dice = 1;
        for (int round = 0; round < 200000; round++) {
                char text[300];
                size_t n = 1 + (size_t)(round % (int)sizeof(text));
                struct slice raw = { 0 };
                struct scanner s;
                fill_with_marks(&dice, round % 4, text, n);
                const char *behind = behind_by_bytes(text, text + n);
                scan_init(&s, (struct slice){ text, n });
                assert_int_equal(scan_skip_unchecked(&s, &raw), behind ? 0 : ERR_INVALID);
                assert_int_equal(raw.len, behind ? behind - text : 0);
        }
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(tokens_come_in_order),
                cmocka_unit_test(malformed_text_is_refused),
                cmocka_unit_test(long_strings_end_where_they_end),
                cmocka_unit_test(depth_is_limited),
                cmocka_unit_test(values_are_skipped_with_their_raw_text),
                cmocka_unit_test(elements_are_skipped_until_the_close),
                cmocka_unit_test(a_skipped_value_is_validated),
                cmocka_unit_test(unchecked_values_end_where_brackets_and_quotes_say),
                cmocka_unit_test(escapes_are_decoded),
                cmocka_unit_test(keys_are_compared_decoded),
                cmocka_unit_test(numbers_keep_64_bits),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
