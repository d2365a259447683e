/* What templates may not do: each bound has its error, names its place, and leaves the rest as it was. */
#include "common/loop/loop.h"
#include "common/template/template_test.h"

static int render_text(const char *text, struct buf *out, struct error *err)
{
        AUTO_JSON json_t *inputs = json_pack("{s:[i,i],s:{s:i}}", "l", 1, 2, "m", "k", 1);
        buf_init(out, 16u << 20);
        return render(slice_of(text), inputs, out, err);
}

static void assert_limit(const char *text, const char *want)
{
        AUTO_BUF struct buf out;
        struct error err = { 0 };
        assert_int_equal(render_text(text, &out, &err), ERR_LIMIT);
        if (!strstr(err.text, want) || !text_starts_with(err.text, "template: resourceset:1"))
                fail_msg("%.60s: %s", text, err.text);
}

static void each_bound_has_its_own_error(void **state)
{
        assert_limit("<< range 10000000 >><< end >>",
                     ":9: executing \"resourceset\" at <10000000>: more than 1000000 steps");
        assert_limit("<< range 1000 >><< range 1000 >>x<< end >><< end >>", "more than 1000000 steps");
        assert_limit("<< range 1000 >><< repeat 10000 \"x\" >><< end >>",
                     "output of more than 8388608 bytes");
        assert_limit("<< until 100001 >>", "list of more than 100000 items");
        assert_limit("<< define \"r\" >><< template \"r\" >><< end >><< template \"r\" >>",
                     "exceeded maximum template depth (100)");
        assert_limit("<< repeat 100001 \"x\" >>", "more than 100000 repetitions");
        assert_limit("<< indent 100001 \"x\" >>", "more than 100000 repetitions");
        assert_limit("<< seq 1000000 >>", "list of more than 100000 items");
        assert_limit("<< untilStep 0 1000000 2 >>", "list of more than 100000 items");
        assert_limit("<< $x := repeat 100000 \"0123456789\" >><< range 100 >><< $x = print $x $x >><< end >>",
                     "values of more than 67108864 bytes");
        assert_limit("<< printf \"%9999999d\" 1 >>", "output of more than 8388608 bytes");
}

static void what_holds_itself_is_not_written_for_ever(void **state)
{
        assert_limit("<< $m := dict >><< $_ := set $m \"m\" $m >><< $m >>", "nested deeper than 250 levels");
        assert_limit("<< $m := dict >><< $_ := set $m \"m\" $m >><< printf \"%v\" $m >>", "nested deeper");
        assert_limit("<< $m := dict >><< $_ := set $m \"m\" $m >><< toJson $m >>",
                     "value nested deeper than 128 levels");
        assert_limit("<< $m := dict >><< $_ := set $m \"m\" $m >><< $n := dict >><< $_ := set $n \"m\" $n "
                     ">><< deepEqual $m $n >>",
                     "value nested too deeply to be compared");
}

static void deep_texts_are_refused_when_they_are_parsed(void **state)
{
        static const struct {
                const char *open;
        } cases[] = { { "(" }, { "<< if 1 >>" }, { "<< range 1 >>" }, { "<< block \"x\" 1 >>" } };
        for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
                AUTO_BUF struct buf text;
                struct error err = { 0 };
                AUTO_BUF struct buf out;
                buf_init(&text, 1u << 20);
                buf_append_str(&text, i ? "" : "<< ");
                for (size_t n = 0; n < 5000; n++)
                        buf_append_str(&text, cases[i].open);
                assert_int_equal(render_text(text.data, &out, &err), ERR_LIMIT);
                assert_string_equal(err.text, "template: resourceset:1: nested deeper than 100 levels");
        }
}

/* ---- on the stack of a fiber ---- */

static void nest(struct buf *b, size_t n, const char *open, const char *inner, const char *close)
{
        for (size_t i = 0; i < n; i++)
                buf_append_str(b, open);
        buf_append_str(b, inner);
        for (size_t i = 0; i < n; i++)
                buf_append_str(b, close);
}

/* The deepest texts that are taken, and what goes deeper when it is rendered. */
static void render_deep_texts(void *unused)
{
        static const struct {
                const char *before, *open, *inner, *close, *behind;
                int code;
        } cases[] = {
                { "", "<< range 1 >>", "<< printf \"%.3f %q\" 1.5 \"a\" >>", "<< end >>", "", 0 },
                { "<< ", "(print ", "1", ")", " >>", 0 },
                { "<< ", "(printf \"%v\" ", "(fromJson \"[1\")", ")", " >>", 0 },
                { "<< define \"r\" >>", "<< range 1 >>", "<< template \"r\" >>", "<< end >>",
                  "<< end >><< template \"r\" >>", ERR_LIMIT },
                { "<< define \"r\" >><< template \"r\" ", "(print ", "1", ")",
                  " >><< end >><< template \"r\" >>", ERR_LIMIT },
                { "<< $m := dict >><< $_ := set $m \"m\" $m >><< printf \"%v\" ", "(", "$m", ")", " >>",
                  ERR_LIMIT },
        };
        for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
                AUTO_BUF struct buf text, out;
                buf_init(&text, 1u << 20);
                buf_append_str(&text, cases[i].before);
                nest(&text, 98, cases[i].open, cases[i].inner, cases[i].close);
                buf_append_str(&text, cases[i].behind);
                struct error err = { 0 };
                int code = render_text(text.data, &out, &err);
                if (code != cases[i].code)
                        fail_msg("%.60s: %d %s", text.data, code, err.text);
        }
}

static void deep_templates_fit_the_stack_of_a_fiber(void **state)
{
        struct loop *loop = loop_new_simulated(1, 0, NULL);
        struct fiber_group *group = fiber_group_new(loop, NULL, "test");
        assert_non_null(fiber_spawn(group, "deep", render_deep_texts, NULL));
        assert_int_equal(loop_run(loop, NULL), 0);
        fiber_group_end(group);
        loop_free(loop);
}

static void a_long_text_is_refused(void **state)
{
        AUTO_BUF struct buf text, out;
        struct error err = { 0 };
        buf_init(&text, 8u << 20);
        buf_init(&out, 8u << 20);
        while (text.len <= LIMIT_TEMPLATE_BYTES)
                buf_append_str(&text, "0123456789012345678901234567890123456789");
        assert_int_equal(render((struct slice){ text.data, text.len }, NULL, &out, &err), ERR_LIMIT);
        assert_string_equal(err.text, "template: resourceset: longer than 3145728 bytes");
}

static void many_comments_take_no_stack(void **state)
{
        AUTO_BUF struct buf text, out;
        buf_init(&text, 4u << 20);
        buf_init(&out, 100);
        for (size_t i = 0; i < 200000; i++)
                buf_append_str(&text, "<</**/>>");
        assert_int_equal(render((struct slice){ text.data, text.len }, NULL, &out, NULL), 0);
        assert_int_equal(out.len, 0);
}

static void costly_functions_count_as_many_steps(void **state)
{
        assert_limit("<< $x := repeat 100000 \"a\" >><< range 100 >><< $_ := regexFindAll \"a(.*b)?\" $x -1 "
                     ">><< end >>",
                     "more than 1000000 steps");
        assert_limit("<< $x := repeat 100000 \"a\" >><< range 10000 >><< $_ := sha256sum $x >><< end >>",
                     "more than 1000000 steps");
        assert_limit("<< $l := until 20000 >><< range 1000 >><< $_ := uniq $l >><< end >>",
                     "more than 1000000 steps");
}

/* spec/resource-set.md checklist 40 */
static void a_template_leaves_its_data_alone(void **state)
{
        AUTO_JSON json_t *inputs = json_pack("{s:{s:i}}", "m", "k", 1);
        static const char text[] =
                "<< inputs.m >><< $_ := set inputs.m \"new\" 1 >><< $_ := set inputs \"x\" 2 >><< inputs >>";
        for (int i = 0; i < 2; i++) {
                AUTO_BUF struct buf out;
                buf_init(&out, 1000);
                assert_int_equal(render(slice_of(text), inputs, &out, NULL), 0);
                assert_string_equal(out.data, "map[k:1]map[m:map[k:1 new:1] x:2]");
        }
        assert_doc_is(json_incref(inputs), "{'m':{'k':1}}");
}

static void what_was_in_the_buffer_stays(void **state)
{
        AUTO_BUF struct buf out;
        buf_init(&out, 1000);
        buf_append_str(&out, "before ");
        assert_int_equal(render(SLICE("<< 1 >> a<< fail \"no\" >>"), NULL, &out, NULL), ERR_INVALID);
        assert_string_equal(out.data, "before 1 a");
}

static void bytes_that_are_no_utf8_pass(void **state)
{
        AUTO_BUF struct buf out;
        buf_init(&out, 1000);
        assert_int_equal(render(SLICE("\xff<< \"\\xfe\" >><< quote \"a\\xfdb\" >><< upper \"\\xfc\" >>"),
                                NULL, &out, NULL),
                         0);
        assert_string_equal(out.data, "\xff\xfe\"a\\xfdb\"\xef\xbf\xbd");
}

static void a_literal_of_bytes_that_are_no_utf8_becomes_longer(void **state)
{
        AUTO_BUF struct buf text, out;
        buf_init(&text, 100000);
        buf_init(&out, 100000);
        nest(&text, 1000, "\xff", "\" >>", "");
        AUTO_BUF struct buf all;
        buf_init(&all, 100000);
        buf_printf(&all, "<< len \"%s", text.data);
        assert_int_equal(render((struct slice){ all.data, all.len }, NULL, &out, NULL), 0);
        assert_string_equal(out.data, "3000");
}

static void other_delimiters_and_data_work(void **state)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        AUTO_BUF struct buf out;
        AUTO_JSON json_t *dot = json_pack("{s:s}", "a", "x");
        static const struct template_options options = { .name = "t" };
        const struct template *t;
        buf_init(&out, 1000);
        assert_int_equal(
                template_parse(&arena, &options, SLICE("{{ .a }} {{ .b }} {{ .b.c }} << 1 >>"), &t, NULL), 0);
        assert_int_equal(template_render(t, &(struct template_data){ .dot = dot }, &out, NULL), 0);
        assert_string_equal(out.data, "x <no value> <no value> << 1 >>");
}

static int render_much(void *unused)
{
        static const char text[] =
                "<< define \"t\" >><< range $k, $v := . >><< $k >>=<< $v | quote >><< end >><< end >><< "
                "template \"t\" inputs.m >>"
                "<< $l := list 1 2 (dict \"a\" \"b\") >><< $l = append $l inputs.l >><< toJson $l >><< "
                "toYaml $l >><< toPrettyJson $l >>"
                "<< regexReplaceAll \"(a)(b)?\" \"abab\" \"$1-$2\" >><< regexSplit \",\" \"a,b\" -1 >><< "
                "printf \"%5d|%q|%v|%#x\" 1 \"a\" $l \"z\" >>"
                "<< join \",\" inputs.l >><< sortAlpha (keys inputs) >><< splitList \",\" \"a,b\" | reverse "
                ">><< b64enc \"x\" >><< b32enc \"x\" >>"
                "<< set inputs.m \"n\" 1 | values >><< fromJson \"{\\\"a\\\":[1]}\" >><< slugify \"A b\" "
                ">><< indent 2 \"a\" >><< html \"<\" 1 >><< with and 1 (eq 1 2) >><< else >>x<< end >>";
        AUTO_JSON json_t *inputs = json_pack("{s:[i,s],s:{s:i}}", "l", 1, "a", "m", "k", 1);
        if (!inputs)
                return ERR_NO_MEMORY;
        AUTO_BUF struct buf out;
        buf_init(&out, 10000);
        return render(slice_of(text), inputs, &out, NULL);
}

static void running_out_of_memory_leaks_nothing(void **state)
{
        walk_failing_allocations(render_much, NULL);
}

static int fail_much(void *unused)
{
        static const char *const texts[] = { "<< nope >>",
                                             "<< \"a\".x >>",
                                             "<< eq inputs.l inputs.l >>",
                                             "<< range 1.5 >><< end >>",
                                             "<< trunc \"a\" 1 >>",
                                             "<< 1 2 >>",
                                             "<< fail \"x\" >>" };
        AUTO_JSON json_t *inputs = json_pack("{s:[i,s]}", "l", 1, "a");
        if (!inputs)
                return ERR_NO_MEMORY;
        for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
                AUTO_BUF struct buf out;
                buf_init(&out, 10000);
                int code = render(slice_of(texts[i]), inputs, &out, NULL);
                if (code != ERR_INVALID)
                        return code;
        }
        return 0;
}

static void running_out_of_memory_while_failing_leaks_nothing(void **state)
{
        walk_failing_allocations(fail_much, NULL);
}

int main(void)
{
        mem_hook_libraries();
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(each_bound_has_its_own_error),
                cmocka_unit_test(what_holds_itself_is_not_written_for_ever),
                cmocka_unit_test(deep_texts_are_refused_when_they_are_parsed),
                cmocka_unit_test(deep_templates_fit_the_stack_of_a_fiber),
                cmocka_unit_test(a_long_text_is_refused),
                cmocka_unit_test(many_comments_take_no_stack),
                cmocka_unit_test(costly_functions_count_as_many_steps),
                cmocka_unit_test(a_template_leaves_its_data_alone),
                cmocka_unit_test(what_was_in_the_buffer_stays),
                cmocka_unit_test(bytes_that_are_no_utf8_pass),
                cmocka_unit_test(a_literal_of_bytes_that_are_no_utf8_becomes_longer),
                cmocka_unit_test(other_delimiters_and_data_work),
                cmocka_unit_test(running_out_of_memory_leaks_nothing),
                cmocka_unit_test(running_out_of_memory_while_failing_leaks_nothing),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
