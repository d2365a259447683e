#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/base/flags.h"

struct options {
        bool on;
        int64_t count, wait, parts, rate;
        double base;
        const char *name;
        bool magic;
        struct klog_flags klog;
};
#define AT(field) offsetof(struct options, field)

static const struct flag flags[] = {
        { "on", FLAG_BOOL, "false", offsetof(struct options, on), "Switches it on.", 0, 0, false },
        { "count", FLAG_INT, "5", offsetof(struct options, count), "How many.", 1, 60, true },
        { "wait", FLAG_DURATION, "15s", offsetof(struct options, wait), "How long.", 0, 0, false },
        { "base", FLAG_REAL, "1.2", offsetof(struct options, base), "How fast.", 1.05, 2, false },
        { "name", FLAG_STRING, "", offsetof(struct options, name), "Who.", 0, 0, false },
        { "magic", FLAG_BOOL, "false", AT(magic), "Not there.", .missing = "there is no magic" },
        { "parts", FLAG_INT, "0", AT(parts), "In how many.", 2, 64, .or_zero = true },
        { "rate", FLAG_INT, "250", AT(rate), "How often.", 10, 1000, true, .or_zero = true },
        KLOG_FLAGS(AT),
};

static int parse(struct options *o, struct error *err, int argc, const char *const *argv)
{
        return flags_parse(flags, ARRAY_LEN(flags), argc, argv, o, err);
}
#define PARSE(o, err, ...)                                                                                   \
        parse((o), (err), (int)ARRAY_LEN(((const char *const[]){ "program", __VA_ARGS__ })),                 \
              (const char *const[]){ "program", __VA_ARGS__ })

static void without_words_the_defaults_hold(void **state)
{
        const char *const none[] = { "program" };
        struct options o;

        assert_int_equal(parse(&o, NULL, 1, none), 0);
        assert_false(o.on);
        assert_int_equal(o.count, 5);
        assert_int_equal(o.wait, 15000);
        assert_true(o.base == 1.2);
        assert_string_equal(o.name, "");
}

static void one_dash_and_two_are_equal(void **state)
{
        struct options o;

        assert_int_equal(PARSE(&o, NULL, "-count=7", "--name", "x", "--on", "-wait=1m30s", "-add_dir_header",
                               "--log_file_max_size=100000"),
                         0);
        assert_true(o.on);
        assert_int_equal(o.count, 7);
        assert_int_equal(o.wait, 90000);
        assert_string_equal(o.name, "x");
}

static void a_negative_value_may_mean_no_limit(void **state)
{
        struct options o;

        assert_int_equal(PARSE(&o, NULL, "-count=-7"), 0);
        assert_int_equal(o.count, -1);
}

static void a_zero_outside_of_the_range_may_be_allowed_and_stays_zero(void **state)
{
        struct options o = { .parts = 7 };
        struct error err = { 0 };

        assert_int_equal(PARSE(&o, NULL, "-on"), 0);
        assert_int_equal(o.parts, 0);
        assert_int_equal(PARSE(&o, NULL, "-parts=0"), 0);
        assert_int_equal(o.parts, 0);
        assert_int_equal(PARSE(&o, &err, "-parts=1"), ERR_INVALID);
        assert_int_equal(PARSE(&o, &err, "-parts=-1"), ERR_INVALID);
}

static void a_zero_may_mean_no_limit_as_negative_values_do(void **state)
{
        struct options o;

        assert_int_equal(PARSE(&o, NULL, "-rate=0"), 0);
        assert_int_equal(o.rate, -1);
}

static void bad_words_are_refused_with_the_rule(void **state)
{
        static const struct {
                const char *word, *said;
        } lines[] = {
                { "-count=61", "between 1 and 60" },
                { "-count=x", "whole number" },
                { "-base=3", "between" },
                { "-base=fast", "a number" },
                { "-on=maybe", "true or false" },
                { "-wait=15", "duration" },
                { "-unknown", "not defined" },
                { "-count", "needs an argument" },
                { "-log_file_max_size=", "whole number" },
                { "-add_dir_header=x", "true or false" },
                { "word", "unexpected" },
        };

        for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
                struct options o;
                struct error err = { 0 };

                assert_int_equal(PARSE(&o, &err, lines[i].word), ERR_INVALID);
                assert_non_null(strstr(err.text, lines[i].said));
        }
}

static void a_boolean_takes_no_separate_word(void **state)
{
        struct options o;

        assert_int_equal(PARSE(&o, NULL, "-on", "true"), ERR_INVALID);
}

static void help_names_flag_default_and_range(void **state)
{
        AUTO_BUF struct buf b;

        buf_init(&b, 4096);
        assert_int_equal(flags_help(flags, ARRAY_LEN(flags), &b), 0);
        assert_non_null(strstr(b.data, "-count\n        How many. (default 5) [1 to 60]"));
        assert_true(strstr(b.data, "-base") < strstr(b.data, "-count"));
}

static void count_line(void *ctx, const char *line, size_t n)
{
        ++*(int *)ctx;
}

static void what_is_missing_and_asked_for_is_warned_of(void **state)
{
        static const struct {
                const char *word;
                int warnings;
        } lines[] = {
                { "-on", 0 },
                { "-magic", 1 },
                { "-magic=false", 0 },
                { "-log_dir=/tmp", 1 },
                { "-logtostderr=0", 1 },
                { "-logtostderr=true", 0 },
                { "-add_dir_header", 0 },
                { "-vmodule=a=1", 1 },
        };

        for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
                struct options o;
                int warnings = 0;
                const struct log_sink sink = { .write = count_line, .ctx = &warnings, .least = LOG_WARN };
                const struct log log = { .sink = &sink };

                assert_int_equal(PARSE(&o, NULL, lines[i].word), 0);
                flags_log_missing(flags, ARRAY_LEN(flags), &o, &log);
                assert_int_equal(warnings, lines[i].warnings);
        }
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(without_words_the_defaults_hold),
                cmocka_unit_test(one_dash_and_two_are_equal),
                cmocka_unit_test(a_negative_value_may_mean_no_limit),
                cmocka_unit_test(a_zero_outside_of_the_range_may_be_allowed_and_stays_zero),
                cmocka_unit_test(a_zero_may_mean_no_limit_as_negative_values_do),
                cmocka_unit_test(bad_words_are_refused_with_the_rule),
                cmocka_unit_test(a_boolean_takes_no_separate_word),
                cmocka_unit_test(what_is_missing_and_asked_for_is_warned_of),
                cmocka_unit_test(help_names_flag_default_and_range),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
