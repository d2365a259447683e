#include "common/json/doc_test.h"
#include "common/json/yaml_parts.h"

static void tell(struct arena *arena, const char *text, const struct yaml_part *p, const char **all)
{
        *all = arena_printf(arena, "%s%s%c<%.*s>", *all, **all ? " " : "", "sa{["[p->kind],
                            (int)(p->end - p->start), text + p->start);
        for (const struct yaml_part *c = p->first; c; c = c->next)
                tell(arena, text, c, all);
}

/* Each part with the text that it takes up. */
static const char *parts_of(struct arena *arena, const char *text)
{
        struct yaml_part *root;
        const char *all = "";

        assert_int_equal(yaml_parts_read(arena, slice_of(text), &root, NULL), 0);
        for (; root; root = root->next)
                tell(arena, text, root, &all);
        return all;
}

static void parts_take_up_the_text_that_they_are_written_as(void **state)
{
        static const struct {
                const char *text, *parts;
        } rows[] = {
                { "", "" },
                { "a: b # c\n", "{<a: b> s<a> s<b>" },
                { "a: 'b'\nc: \"d\\n\"\n", "{<a: 'b'\nc: \"d\\n\"> s<a> s<'b'> s<c> s<\"d\\n\">" },
                { "a:\n- b\n- c: d\n", "{<a:\n- b\n- c: d> s<a> [<- b\n- c: d> s<b> {<c: d> s<c> s<d>" },
                { "{a: [b, {}]} # x", "{<{a: [b, {}]}> s<a> [<[b, {}]> s<b> {<{}>" },
                { "a: &x !!str b\nc: *x\n", "{<a: &x !!str b\nc: *x> s<a> s<b> s<c> a<*x>" },
                { "a: !t {b: c}\n", "{<a: !t {b: c}> s<a> {<{b: c}> s<b> s<c>" },
                { "a:\nb: 1\n", "{<a:\nb: 1> s<a> s<> s<b> s<1>" },
                { "--- x\n---\ny\n...\n", "s<x> s<y>" },
                { "ä: ü # ö\n€: x\n", "{<ä: ü # ö\n€: x> s<ä> s<ü> s<€> s<x>" },
                { "\xef\xbb\xbf"
                  "a: b\n",
                  "{<a: b> s<a> s<b>" },
                { "a: b\r\nc: d\r\n", "{<a: b\r\nc: d> s<a> s<b> s<c> s<d>" },
                { "a: |\n  x\n  y\n\nb: c\n", "{<a: |\n  x\n  y\n\nb: c> s<a> s<|\n  x\n  y\n\n> s<b> s<c>" },
                { "a: b\n  c\nd: 1\n", "{<a: b\n  c\nd: 1> s<a> s<b\n  c> s<d> s<1>" },
                { "a: &x\n  b: c\n", "{<a: &x\n  b: c> s<a> {<b: c> s<b> s<c>" },
                { "a: !!str # none\n", "{<a: !!str> s<a> s<>" },
        };
        AUTO_ARENA struct arena arena = ARENA_INIT;

        for (size_t i = 0; i < ARRAY_LEN(rows); i++)
                assert_string_equal(parts_of(&arena, rows[i].text), rows[i].parts);
}

static void parts_know_how_they_are_written(void **state)
{
        static const char text[] = "a: &x 'b'\nc: [1]\nd: |\n e\nf:\n  g: h\ni: !!str j\n";
        static const uint8_t styles[] = { YAML_PART_SINGLE_QUOTED, YAML_PART_FLOW, YAML_PART_LITERAL,
                                          YAML_PART_BLOCK, YAML_PART_PLAIN };
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct yaml_part *root, *key;
        size_t i = 0;

        assert_int_equal(yaml_parts_read(&arena, slice_of(text), &root, NULL), 0);
        for (key = root->first; key; key = key->next->next)
                assert_int_equal(key->next->style, styles[i++]);
        assert_string_equal(root->first->next->anchor, "x");
        assert_string_equal(root->last->tag, "tag:yaml.org,2002:str");
        assert_int_equal(root->last->line, 6);
}

static void what_is_broken_is_told_with_its_line(void **state)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct yaml_part *root;
        struct error err;

        assert_int_equal(yaml_parts_read(&arena, slice_of("a: b\nc: [d\n"), &root, &err), ERR_INVALID);
        assert_true(text_starts_with(err.text, "yaml: line 3: "));
}

static void nesting_and_size_have_limits(void **state)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        AUTO_FREE char *text = mem_zalloc(8u << 20 | 2);
        struct yaml_part *root;

        memset(text, '[', 129);
        memset(text + 129, ']', 129);
        assert_int_equal(yaml_parts_read(&arena, slice_of(text), &root, NULL), ERR_LIMIT);
        text[128] = ' ';
        text[257] = ' ';
        assert_int_equal(yaml_parts_read(&arena, slice_of(text), &root, NULL), 0);
        memset(text, ' ', 8u << 20 | 1);
        assert_int_equal(yaml_parts_read(&arena, slice_of(text), &root, NULL), ERR_LIMIT);
}

static int read_text(void *data)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct yaml_part *root;
        struct error err;

        return yaml_parts_read(&arena, slice_of(data), &root, &err);
}

static void each_allocation_may_fail(void **state)
{
        walk_failing_allocations(read_text, "a: &x !!str b\nc: *x\nd: {e: [f, 'g']}\n---\nh: |\n  i\n");
}

int main(void)
{
        mem_hook_libraries();
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(parts_take_up_the_text_that_they_are_written_as),
                cmocka_unit_test(parts_know_how_they_are_written),
                cmocka_unit_test(what_is_broken_is_told_with_its_line),
                cmocka_unit_test(nesting_and_size_have_limits),
                cmocka_unit_test(each_allocation_may_fail),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
