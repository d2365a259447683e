#include "common/base/posix_flags.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/base/text.h"

struct options {
        bool all, watch;
        int64_t count, timeout;
        const char *namespace, *name;
};
#define AT(field) offsetof(struct options, field)

static const struct flag own[] = {
        { "watch", FLAG_BOOL, "false", AT(watch), "Goes on.", .letter = 'w' },
        { "count", FLAG_INT, "5", AT(count), "How many.", 1, 60 },
        { "timeout", FLAG_DURATION, "5m", AT(timeout), "How long." },
        { "name", FLAG_STRING, "", AT(name), "Who." },
};
static const struct flag shared[] = {
        { "all", FLAG_BOOL, "false", AT(all), "All of them.", .letter = 'A' },
        { "namespace", FLAG_STRING, "default", AT(namespace), "Where.", .letter = 'n' },
};
static const struct flag_table tables[] = { { own, ARRAY_LEN(own) }, { shared, ARRAY_LEN(shared) } };

static int parse(struct options *o, struct posix_line *l, struct error *err, int argc,
                 const char *const *argv)
{
        return posix_flags_parse(tables, ARRAY_LEN(tables), argc, argv, o, l, err);
}
#define PARSE(...)                                                                                           \
        parse(&o, &l, &err, (int)ARRAY_LEN(((const char *const[]){ __VA_ARGS__ })),                          \
              (const char *const[]){ __VA_ARGS__ })

static void words_and_flags_may_be_mixed(void **state)
{
        struct error err = { 0 };
        struct posix_line l;
        struct options o;

        assert_int_equal(PARSE("web", "--name", "x", "edge", "-n", "prod", "--count=7"), 0);
        assert_int_equal(l.n_words, 2);
        assert_string_equal(l.words[0], "web");
        assert_string_equal(l.words[1], "edge");
        assert_string_equal(o.name, "x");
        assert_string_equal(o.namespace, "prod");
        assert_int_equal(o.count, 7);
        assert_int_equal(o.timeout, 300000);
        assert_true(posix_flag_given(&l, "namespace"));
        assert_false(posix_flag_given(&l, "timeout"));
}

static void letters_may_stand_together_and_hold_their_value(void **state)
{
        struct error err = { 0 };
        struct posix_line l;
        struct options o;

        assert_int_equal(PARSE("-Awnprod"), 0);
        assert_true(o.all && o.watch);
        assert_string_equal(o.namespace, "prod");
        assert_int_equal(PARSE("-n=test", "-w=false"), 0);
        assert_string_equal(o.namespace, "test");
        assert_false(o.watch);
}

static void behind_two_dashes_all_are_words(void **state)
{
        struct error err = { 0 };
        struct posix_line l;
        struct options o;

        assert_int_equal(PARSE("--", "--name", "-n", "--"), 0);
        assert_int_equal(l.n_words, 3);
        assert_string_equal(l.words[2], "--");
        assert_int_equal(PARSE("-"), 0); /* standard input */
        assert_int_equal(l.n_words, 1);
}

static void errors_are_the_ones_of_kubectl(void **state)
{
        static const struct {
                const char *words[3], *text;
        } cases[] = {
                { { "--nmae", "x" }, "unknown flag: --nmae" },
                { { "--nmae=x" }, "unknown flag: --nmae" },
                { { "-wx" }, "unknown shorthand flag: 'x' in -wx" },
                { { "--name" }, "flag needs an argument: --name" },
                { { "-wn" }, "flag needs an argument: 'n' in -n" },
                { { "--=x" }, "bad flag syntax: --=x" },
                { { "---x" }, "bad flag syntax: ---x" },
                { { "--count=many" },
                  "invalid argument \"many\" for \"--count\" flag: must be a whole number" },
                { { "--count=0" }, "invalid argument \"0\" for \"--count\" flag: must be between 1 and 60" },
                { { "--timeout", "5" },
                  "invalid argument \"5\" for \"--timeout\" flag: must be a duration like 1m30s" },
                { { "--watch=maybe" },
                  "invalid argument \"maybe\" for \"-w, --watch\" flag: must be true or false" },
        };

        for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
                struct error err = { 0 };
                struct posix_line l;
                struct options o;
                int argc = 0;

                while (argc < 3 && cases[i].words[argc])
                        argc++;
                assert_int_equal(parse(&o, &l, &err, argc, cases[i].words), ERR_INVALID);
                assert_string_equal(err.text, cases[i].text);
        }
}

static void a_line_in_the_making_may_lack_its_last_value(void **state)
{
        static const char *const argv[] = { "web", "-w", "--namespace" };
        struct error err = { 0 };
        struct posix_line l;
        struct options o;

        assert_int_equal(posix_flags_parse_open(tables, ARRAY_LEN(tables), 3, argv, &o, &l, &err), 0);
        assert_non_null(l.open);
        assert_string_equal(l.open->name, "namespace");
}

static void a_word_tells_its_flag_and_whether_the_value_follows(void **state)
{
        static const struct {
                const char *word, *flag;
                bool wants;
        } cases[] = {
                { "--name", "name", true },   { "--name=x", "name", false }, { "--watch", "watch", false },
                { "-n", "namespace", true },  { "-nx", "namespace", false }, { "-wA", "all", false },
                { "-wn", "namespace", true }, { "-x", NULL, false },         { "web", NULL, false },
                { "-", NULL, false },         { "--", NULL, false },
        };

        for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
                bool wants;
                const struct flag *f = posix_flag_of_word(tables, ARRAY_LEN(tables), cases[i].word, &wants);

                assert_int_equal(f != NULL, cases[i].flag != NULL);
                if (f)
                        assert_string_equal(f->name, cases[i].flag);
                assert_int_equal(wants, cases[i].wants);
        }
}

static void help_stands_in_columns_sorted_by_name(void **state)
{
        AUTO_BUF struct buf b;

        buf_init(&b, 4096);
        assert_int_equal(posix_flags_help(&tables[0], &b), 0);
        assert_int_equal(posix_flags_help(&tables[1], &b), 0);
        assert_string_equal(b.data, "      --count int          How many. (default 5)\n"
                                    "      --name string        Who.\n"
                                    "      --timeout duration   How long. (default 5m)\n"
                                    "  -w, --watch              Goes on.\n"
                                    "  -A, --all                All of them.\n"
                                    "  -n, --namespace string   Where. (default \"default\")\n");
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(words_and_flags_may_be_mixed),
                cmocka_unit_test(letters_may_stand_together_and_hold_their_value),
                cmocka_unit_test(behind_two_dashes_all_are_words),
                cmocka_unit_test(errors_are_the_ones_of_kubectl),
                cmocka_unit_test(a_line_in_the_making_may_lack_its_last_value),
                cmocka_unit_test(a_word_tells_its_flag_and_whether_the_value_follows),
                cmocka_unit_test(help_stands_in_columns_sorted_by_name),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
