#include "common/json/doc_test.h"

#include "common/json/doc.h"

struct trail {
        struct buf text;
        const char *stop; /* at this key */
};

/* Mappings and sequences below "parts". */
static bool enters(void *ctx, size_t depth, struct slice key)
{
        return depth > 1 ? depth < 4 : slice_is(key, "parts");
}

static int leaves(void *ctx, size_t depth, struct slice key, struct error *err)
{
        struct trail *t = ctx;

        return buf_printf(&t->text, "end %zu %.*s\n", depth, (int)key.len, key.data);
}

static int takes(void *ctx, size_t depth, struct slice key, const json_t *value, struct error *err)
{
        struct trail *t = ctx;

        buf_printf(&t->text, "%zu %.*s=", depth, (int)key.len, key.data);
        doc_write(value, &t->text);
        buf_append_char(&t->text, '\n');
        return t->stop && slice_is(key, t->stop) ? error_set(err, ERR_CANCELLED, "stopped") : 0;
}

static const char *walked(struct arena *arena, const char *text, const char *stop, bool *yaml)
{
        struct trail t = { .stop = stop };
        const struct doc_walk w = { enters, leaves, takes, &t, 0, 0, 0 };
        struct error err = { 0 };
        const char *all;

        buf_init(&t.text, 1 << 20);
        doc_walk(slice_of(text), &w, yaml, &err);
        buf_append_str(&t.text, err.text);
        all = arena_strdup(arena, t.text.len ? t.text.data : "");
        buf_free(&t.text);
        return all;
}

static void parts_come_one_by_one_from_json_and_yaml(void **state)
{
        static const char *const texts[] = {
                "{\"a\": {\"x\": [1]}, \"parts\": {\"one\": [1, {\"k\": {\"deep\": [true]}}], \"two\" : "
                "null}, \"z\":\"\\u0041\"}",
                "a: {x: [1]}\nparts:\n  one:\n  - 1\n  - k: {deep: [true]}\n  two:\nz: A\n",
        };
        static const char expected[] = "1 a={\"x\":[1]}\n"
                                       "3 =1\n"
                                       "4 k={\"deep\":[true]}\n"
                                       "end 3 \n"
                                       "end 2 one\n"
                                       "2 two=null\n"
                                       "end 1 parts\n"
                                       "1 z=\"A\"\n";

        for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
                AUTO_ARENA struct arena arena = ARENA_INIT;
                bool yaml;

                assert_string_equal(walked(&arena, texts[i], NULL, &yaml), expected);
                assert_int_equal(yaml, i == 1);
        }
}

static void what_cannot_be_walked_is_told(void **state)
{
        static const struct {
                const char *text, *words;
        } table[] = {
                { "", "" },
                { "# nothing\n", "" },
                { "- a\n", "yaml: line 1: not a mapping" },
                { "text", "yaml: line 1: not a mapping" },
                { "a: 1\n---\nb: 1\n", "1 a=1\nyaml: line 2: more than one document" },
                { "a: 1\na: 2\n", "1 a=1\nyaml: line 2: key \"a\" already set in map" },
                { "parts:\n  x: 1\n  x: 2\n", "2 x=1\nyaml: line 3: key \"x\" already set in map" },
                { "parts:\n  <<: {a: 1}\n", "yaml: line 2: a key must be a scalar, and no merge key, in a "
                                            "mapping that is read in parts" },
                { "parts: &p {x: 1}\nb: *p\n",
                  "2 x=1\nend 1 parts\nyaml: line 2: unknown anchor 'p' referenced" },
                { "b: &p {x: 1}\nc: *p\n", "1 b={\"x\":1}\n1 c={\"x\":1}\n" },
                { "{\"a\": 1} x", "1 a=1\nyaml: line 1: did not find expected <document start>" },
                { "{\"a\": ", "yaml: line 2: did not find expected node content" },
        };

        for (size_t i = 0; i < ARRAY_LEN(table); i++) {
                AUTO_ARENA struct arena arena = ARENA_INIT;
                bool yaml;

                assert_string_equal(walked(&arena, table[i].text, NULL, &yaml), table[i].words);
        }
}

static void who_walks_may_stop(void **state)
{
        static const char *const texts[] = { "{\"a\":1,\"b\":2,\"c\":3}", "a: 1\nb: 2\nc: 3\n" };

        for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
                AUTO_ARENA struct arena arena = ARENA_INIT;
                bool yaml;

                assert_string_equal(walked(&arena, texts[i], "b", &yaml), "1 a=1\n1 b=2\nstopped");
        }
}

static void parts_and_keys_have_bounds(void **state)
{
        static const struct {
                const char *text, *words;
        } table[] = {
                { "{\"a\":[1,2,{\"k\":3}]}", "" },
                { "a: [1, 2, {k: }]\n", "a part of the document has more than 5 values" }, /* keys count */
                { "a: [1, 2, 3, {}]\n", "" },
                { "{\"a\":[[],[],[],[],[]]}", "a part of the document has more than 5 values" },
                { "a: [[], [], [], [], []]\n", "a part of the document has more than 5 values" },
                { "a: &x [[], []]\nb: [*x, *x]\n", "a part of the document has more than 5 values" },
                { "{\"a\":\"0123456789012345678901234567890123456789\"}",
                  "a part of the document has more than 40 bytes" },
                { "a: '01234567890123456789012345678901234567890'\n",
                  "a part of the document has more than 40 bytes" },
                { "a: &x '01234567890123456789'\nb: [*x, *x]\n",
                  "a part of the document has more than 40 bytes" },
                { "a: 1\nb: 1\nc: 1\nd: 1\n",
                  "yaml: line 4: more than 3 keys in a mapping that is read in parts" },
        };

        for (size_t i = 0; i < ARRAY_LEN(table); i++) {
                struct trail t = { 0 };
                const struct doc_walk w = { enters, leaves, takes, &t, 5, 40, 3 };
                struct error err = { 0 };
                bool yaml;

                buf_init(&t.text, 1 << 10);
                assert_int_equal(doc_walk(slice_of(table[i].text), &w, &yaml, &err),
                                 *table[i].words ? ERR_LIMIT : 0);
                assert_string_equal(err.text, table[i].words);
                buf_free(&t.text);
        }
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(parts_come_one_by_one_from_json_and_yaml),
                cmocka_unit_test(what_cannot_be_walked_is_told),
                cmocka_unit_test(who_walks_may_stop),
                cmocka_unit_test(parts_and_keys_have_bounds),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
