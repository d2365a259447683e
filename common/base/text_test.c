/* text, encoding, error and log. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/base/limits.h"
#include "common/base/log.h"
#include "common/base/memory.h"
#include "common/base/text.h"

static void slices_are_cut_at_the_first_separator(void **state)
{
        struct slice rest = SLICE("a=b=c"), head;
        assert_true(slice_cut(&rest, '=', &head));
        assert_true(slice_is(head, "a") && slice_is(rest, "b=c"));
        assert_true(slice_cut(&rest, '=', &head));
        assert_false(slice_cut(&rest, '=', &head));
        assert_true(slice_is(head, "c") && rest.len == 0);
        assert_true(slice_is(slice_trim(SLICE(" \t x y\r\n")), "x y"));
        assert_true(slice_compare(SLICE("ab"), SLICE("abc")) < 0 &&
                    slice_compare(SLICE("b"), SLICE("abc")) > 0);
        assert_true(text_equal(NULL, NULL) && !text_equal(NULL, "") && text_ends_with("x.yaml", ".yaml"));
}

static void numbers_are_parsed_whole_or_not_at_all(void **state)
{
        static const struct {
                const char *text;
                bool ok;
                int64_t value;
        } cases[] = {
                { "0", true, 0 },
                { "-1", true, -1 },
                { "+7", true, 7 },
                { "9223372036854775807", true, INT64_MAX },
                { "-9223372036854775808", true, INT64_MIN },
                { "9223372036854775808", false, 0 },
                { "-9223372036854775809", false, 0 },
                { "", false, 0 },
                { "-", false, 0 },
                { " 1", false, 0 },
                { "1 ", false, 0 },
                { "0x1", false, 0 },
                { "1.0", false, 0 },
                { "99999999999999999999", false, 0 },
        };
        for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
                int64_t v = 0;
                assert_int_equal(text_parse_i64(cases[i].text, &v), cases[i].ok);
                assert_true(v == cases[i].value);
        }
        uint64_t u;
        assert_true(text_parse_u64("18446744073709551615", &u) && u == UINT64_MAX);
        assert_false(text_parse_u64("18446744073709551616", &u) || text_parse_u64("-1", &u));
}

static void only_well_formed_utf8_is_utf8(void **state)
{
        static const char *const good[] = {
                "", "a", "\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\x98\x80", "\xef\xbf\xbf"
        };
        static const char *const bad[] = { "\x80",
                                           "\xc0\x80",
                                           "\xc3",
                                           "\xe0\x80\x80",
                                           "\xed\xa0\x80",
                                           "\xf4\x90\x80\x80",
                                           "\xf0\x80\x80\x80",
                                           "\xff",
                                           "a\xe2\x82" };
        for (size_t i = 0; i < ARRAY_LEN(good); i++)
                assert_true(text_is_utf8(good[i], strlen(good[i])));
        for (size_t i = 0; i < ARRAY_LEN(bad); i++)
                assert_false(text_is_utf8(bad[i], strlen(bad[i])));
}

static void names_follow_the_rules_of_kubernetes(void **state)
{
        char label[65], name[255];
        memset(label, 'a', sizeof(label));
        memset(name, 'a', sizeof(name));
        label[64] = name[254] = '\0';
        assert_false(text_is_dns1123_label(label) || text_is_dns1123_subdomain(name) ||
                     text_is_label_value(label));
        label[63] = name[253] = '\0';
        assert_true(text_is_dns1123_label(label) && text_is_dns1123_subdomain(name) &&
                    text_is_label_value(label));
        assert_true(text_is_dns1123_label("a-1") && text_is_dns1123_subdomain("a.b-c.d") &&
                    text_is_label_value(""));
        assert_false(text_is_dns1123_label("-a") || text_is_dns1123_label("A") ||
                     text_is_dns1123_label("a.b"));
        assert_false(text_is_dns1123_subdomain("a..b") || text_is_dns1123_subdomain(".a") ||
                     text_is_dns1123_subdomain(""));
        assert_true(text_is_label_key("app") && text_is_label_key("x.io/App_1.2") &&
                    !text_is_label_key("x.io/") && !text_is_label_key("/a") && !text_is_label_key("a/b/c") &&
                    !text_is_label_key("_a"));
}

static void base64_round_trips_and_refuses_what_is_not(void **state)
{
        uint8_t data[64], back[64];
        char text[128];
        size_t n;
        for (size_t i = 0; i < sizeof(data); i++)
                data[i] = (uint8_t)(i * 37);
        for (size_t len = 0; len <= sizeof(data); len++) {
                text_base64_encode(data, len, text);
                assert_int_equal(strlen(text) + 1, text_base64_size(len));
                assert_int_equal(text_base64_decode(slice_of(text), back, len, &n, false), 0);
                assert_int_equal(n, len);
                assert_memory_equal(data, back, len);
        }
        static const char *const bad[] = { "A",        "AA",   "AAA",   "A===",  "AA=A",
                                           "AA==AA==", "A-AA", "AAAA=", "AA AA", "====" };
        for (size_t i = 0; i < ARRAY_LEN(bad); i++)
                assert_int_equal(text_base64_decode(slice_of(bad[i]), back, sizeof(back), &n, false),
                                 ERR_INVALID);
        assert_int_equal(text_base64_decode(SLICE("aGVsbG8="), back, 4, &n, false), ERR_LIMIT);
        assert_int_equal(text_base64_decode(SLICE("-_8"), back, 4, &n, true), 0);
        assert_int_equal(back[0], 0xfb);
}

static void a_long_text_keeps_its_beginning_and_its_end(void **state)
{
        static const struct {
                const char *text, *wanted;
        } lines[] = {
                { "", "" },
                { "123456789012345", "123456789012345" },
                { "1234567890123456", "12345 ... 23456" },
                { "Job is invalid: a dump: field is immutable", "Job i ... table" },
                { "1234\u00e4 something that is long \u00e4xyz0", "1234 ... xyz0" },
        };
        for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
                char text[16];
                assert_int_equal(text_shorten(lines[i].text, text, sizeof(text)), strlen(lines[i].wanted));
                assert_string_equal(text, lines[i].wanted);
        }
}

static int wrapped(int code, struct error *err)
{
        TRY_WRAP(code < 0 ? error_set(err, code, "moved") : 0, err, "update %s", "web");
        return 7;
}

static void a_wrapped_error_keeps_its_code_where_nobody_wants_the_text(void **state)
{
        struct error err = { 0 };

        assert_int_equal(wrapped(ERR_CONFLICT, NULL), ERR_CONFLICT);
        assert_int_equal(wrapped(ERR_CONFLICT, &err), ERR_CONFLICT);
        assert_string_equal(err.text, "update web: moved");
        assert_int_equal(wrapped(0, NULL), 7);
}

static void errors_are_wrapped_outside_in_and_cut_with_dots(void **state)
{
        struct error err = { 0 };
        char lot[3000];
        memset(lot, 'x', sizeof(lot) - 1);
        lot[sizeof(lot) - 1] = '\0';
        assert_int_equal(error_set(&err, ERR_CONFLICT, "moved to %d", 7), ERR_CONFLICT);
        assert_int_equal(error_wrap(&err, "update %s", "web"), ERR_CONFLICT);
        assert_string_equal(err.text, "update web: moved to 7");
        error_set(&err, ERR_RETRY, "again: %s", err.text);
        assert_string_equal(err.text, "again: update web: moved to 7");
        error_set(&err, ERR_LIMIT, "%s", lot);
        assert_int_equal(strlen(err.text), ERROR_TEXT_MAX - 1);
        error_wrap(&err, "%s", "front");
        assert_true(text_starts_with(err.text, "front: xxx") && strstr(err.text, "xx ... xx"));
        assert_true(text_ends_with(err.text, "..."));
        assert_int_equal(strlen(err.text), ERROR_TEXT_MAX - 1);
        assert_int_equal(error_set(NULL, ERR_GONE, "x"), ERR_GONE);
        assert_string_equal(error_code_name(ERR_INTERNAL), "internal");
        assert_string_equal(error_code_name(1), "unknown");
}

static void keep(void *ctx, const char *line, size_t n)
{
        memcpy(ctx, line, n);
        ((char *)ctx)[n] = '\0';
}

static int64_t fixed_time(void *ctx)
{
        return 1767323045006;
}

static void lines_have_their_text_and_json_form(void **state)
{
        char line[LIMIT_LOG_LINE_BYTES + 1] = "";
        struct log_sink sink = { keep, fixed_time, line, LOG_TEXT, LOG_INFO };
        struct log root = { .sink = &sink }, bound = log_with(&root, "key", "web");
        log_info(&bound, "placement reconciled", "took_ms", LOG_INT(3), "note", "two words", "none",
                 (char *)NULL);
        assert_string_equal(line, "2026-01-02T03:04:05.006Z INFO  placement reconciled  key=web took_ms=3 "
                                  "note=\"two words\" none=null\n");
        sink.format = LOG_JSON;
        log_warn(&bound, "a \"b\"", "x", "\xff\n");
        assert_string_equal(
                line, "{\"time\":\"2026-01-02T03:04:05.006Z\",\"level\":\"warn\",\"msg\":\"a \\\"b\\\"\","
                      "\"key\":\"web\",\"x\":\"\xef\xbf\xbd\\n\"}\n");
        line[0] = '\0';
        log_debug(&bound, "quiet");
        assert_string_equal(line, "");
}

static void a_pair_that_does_not_fit_is_left_out_and_the_line_marked(void **state)
{
        char line[LIMIT_LOG_LINE_BYTES + 1] = "";
        struct log_sink sink = { keep, fixed_time, line, LOG_JSON, LOG_INFO };
        struct log log = { .sink = &sink };
        AUTO_FREE char *lot = mem_must(mem_printf("%020000d", 1));
        log_error(&log, "much", "lot", lot, "after", "x");
        assert_true(text_ends_with(line, "\"msg\":\"much\",\"after\":\"x\",\"cut\":\"true\"}\n"));
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(slices_are_cut_at_the_first_separator),
                cmocka_unit_test(numbers_are_parsed_whole_or_not_at_all),
                cmocka_unit_test(only_well_formed_utf8_is_utf8),
                cmocka_unit_test(names_follow_the_rules_of_kubernetes),
                cmocka_unit_test(base64_round_trips_and_refuses_what_is_not),
                cmocka_unit_test(a_long_text_keeps_its_beginning_and_its_end),
                cmocka_unit_test(a_wrapped_error_keeps_its_code_where_nobody_wants_the_text),
                cmocka_unit_test(errors_are_wrapped_outside_in_and_cut_with_dots),
                cmocka_unit_test(lines_have_their_text_and_json_form),
                cmocka_unit_test(a_pair_that_does_not_fit_is_left_out_and_the_line_marked),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
