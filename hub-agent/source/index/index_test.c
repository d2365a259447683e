/* An index from what is fetched to the versions of one chart. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/json/doc.h"
#include "hub-agent/source/index/convert.h"
#include "hub-agent/source/index/lookup.h"

static int append(void *ctx, const void *data, size_t n, struct error *err)
{
        struct buf *b = ctx;

        buf_append(b, data, n);
        return buf_status(b, err, "the index");
}

/* What is kept, or the complaint. */
static const char *converted(struct arena *arena, const char *text, struct index_summary *ret)
{
        struct index_summary own;
        struct error err = { 0 };
        AUTO_BUF struct buf b;
        const struct index_sink sink = { append, &b };

        buf_init(&b, 8 << 20);
        if (index_convert(slice_of(text), &sink, ret ? ret : &own, &err) < 0)
                return arena_strdup(arena, err.text);
        return arena_strndup(arena, b.data, b.len);
}

struct kept {
        const char *text;
        size_t step; /* bytes at a time */
};

static int read_kept(void *ctx, uint64_t offset, void *ret, size_t n, size_t *ret_n, struct error *err)
{
        const struct kept *k = ctx;
        size_t all = strlen(k->text), left = offset < all ? all - offset : 0;

        *ret_n = MIN(MIN(n, left), k->step);
        memcpy(ret, k->text + offset, *ret_n);
        return 0;
}

/* "1.2.0 url digest created;" each */
static const char *looked_up(struct arena *arena, const char *text, const char *name, size_t step)
{
        struct kept kept = { text, step };
        const struct index_source source = { read_kept, &kept };
        struct chart_version *at;
        struct error err = { 0 };
        AUTO_BUF struct buf b;
        size_t n;

        buf_init(&b, 1 << 20);
        if (index_lookup(arena, &source, 0, name, &at, &n, &err) < 0)
                return arena_strdup(arena, err.text);
        for (size_t i = 0; i < n; i++)
                buf_printf(&b, "%s %s %s %lld;", at[i].version, at[i].url, at[i].digest,
                           (long long)at[i].created_ms);
        return arena_strdup(arena, b.len ? b.data : "");
}

static const char yaml_index[] = "apiVersion: v1\n"
                                 "entries:\n"
                                 "  podinfo:\n"
                                 "  - name: podinfo\n"
                                 "    version: 6.0.0\n"
                                 "    urls: [https://h/podinfo-6.0.0.tgz, https://other/x]\n"
                                 "    digest: abc\n"
                                 "    created: \"1970-01-01T00:00:01Z\"\n"
                                 "    engine: gotpl\n"
                                 "  - name: podinfo\n"
                                 "    version: 6.10.0\n"
                                 "    urls:\n"
                                 "    - podinfo-6.10.0.tgz\n"
                                 "  -\n"
                                 "  - {name: podinfo, version: one}\n"
                                 "  - {name: podinfo, version: 6.2.0}\n"
                                 "  redis: [{name: redis, version: 1.0.0}]\n"
                                 "  empty: []\n"
                                 "  none:\n"
                                 "generated: \"2026-01-01T00:00:00Z\"\n";

/* spec/helm-chart.md checklist 58, 59 */
static void json_and_yaml_come_to_the_same(void **state)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        AUTO_JSON json_t *doc = NULL, *kept = NULL;
        AUTO_BUF struct buf json;
        struct index_summary s;
        const char *from_yaml = converted(&arena, yaml_index, &s), *from_json;

        assert_int_equal(s.names, 3);
        assert_int_equal(s.entries, 4);
        assert_int_equal(s.dropped, 2); /* null, and no version */
        assert_string_equal(
                from_yaml,
                "{\"entries\":{\n"
                "\"podinfo\":[\n"
                "{\"name\":\"podinfo\",\"version\":\"6.10.0\",\"urls\":[\"podinfo-6.10.0.tgz\"],"
                "\"apiVersion\":\"v1\"},\n"
                "{\"name\":\"podinfo\",\"version\":\"6.2.0\",\"apiVersion\":\"v1\"},\n"
                "{\"name\":\"podinfo\",\"version\":\"6.0.0\",\"urls\":[\"https://h/podinfo-6.0.0.tgz\","
                "\"https://other/x\"],\"digest\":\"abc\",\"created\":\"1970-01-01T00:00:01Z\","
                "\"apiVersion\":\"v1\"}\n"
                "],\n"
                "\"redis\":[\n"
                "{\"name\":\"redis\",\"version\":\"1.0.0\",\"apiVersion\":\"v1\"}\n"
                "]\n"
                "},\"apiVersion\":\"v1\",\"generated\":\"2026-01-01T00:00:00Z\"}\n");
        buf_init(&json, 1 << 20);
        assert_int_equal(yaml_parse(slice_of(yaml_index), &doc, NULL), 0);
        assert_int_equal(doc_write(doc, &json), 0);
        from_json = converted(&arena, json.data, NULL);
        assert_string_equal(from_json, from_yaml);
        assert_int_equal(doc_parse(slice_of(from_yaml), &kept, NULL), 0);
        assert_string_equal(converted(&arena, from_yaml, NULL), from_yaml); /* made again it stays as it is */
}

/* spec/helm-chart.md checklist 58 */
static void what_is_no_index_is_refused(void **state)
{
        static const struct {
                const char *text, *words;
        } table[] = {
                { "", "empty index.yaml file" },
                { " \n", "empty index.yaml file" },
                { "entries: {}\n", "no API version specified" },
                { "apiVersion: ''\n", "no API version specified" },
                { "apiVersion: v1\nother: 1\n", "unknown field \"other\"" },
                { "apiVersion: v1\nentries: {a: [{name: a, version: 1.0.0, mine: 1}]}\n",
                  "unknown field \"mine\"" },
                { "apiVersion: v1\napiVersion: v1\n", "yaml: line 2: key \"apiVersion\" already set in map" },
                { "apiVersion: v1\nentries:\n  a: []\n  a: []\n",
                  "yaml: line 4: key \"a\" already set in map" },
                { "apiVersion: v1\nentries: {a: [{name: a, name: a}]}\n",
                  "yaml: line 2: key \"name\" already set in map" },
                { "apiVersion: v1\nentries: [x]\n", "entries.: must be a list" },
                { "apiVersion: v1\nentries: text\n", "entries: must be a mapping" },
                { "apiVersion: v1\nentries: {a: text}\n", "entries.a: must be a list" },
                { "apiVersion: v1\nentries: {a: {b: c}}\n",
                  "entries: each must be a list, one has a member \"b\"" },
                { "<html>", "yaml: line 1: not a mapping" },
                { "[1, 2]", "yaml: line 1: not a mapping" },
        };

        for (size_t i = 0; i < ARRAY_LEN(table); i++) {
                AUTO_ARENA struct arena arena = ARENA_INIT;
                const char *what = converted(&arena, table[i].text, NULL);

                if (!text_equal(what, table[i].words))
                        fail_msg("%s: %s", table[i].text, what);
        }
}

/* In JSON what nobody knows is passed over. */
static void json_may_have_more_than_is_known(void **state)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;

        assert_string_equal(
                converted(&arena,
                          "{\"mine\":{\"a\":1},\"apiVersion\":\"v1\",\"entries\":{\"a\":[{\"name\":\"a\","
                          "\"version\":\"1.0.0\",\"mine\":2,\"checksum\":\"x\"}]}}",
                          NULL),
                "{\"entries\":{\n\"a\":[\n{\"name\":\"a\",\"version\":\"1.0.0\",\"mine\":2,\"apiVersion\":"
                "\"v1\"}\n]\n},"
                "\"apiVersion\":\"v1\"}\n");
        assert_string_equal(converted(&arena, "{\"apiVersion\":\"v1\"}", NULL),
                            "{\"entries\":{\n\n},\"apiVersion\":\"v1\"}\n");
}

static void the_versions_of_a_chart_are_found(void **state)
{
        static const size_t steps[] = { 1, 7, 64, 100000 };
        AUTO_ARENA struct arena arena = ARENA_INIT;
        const char *kept = converted(&arena, yaml_index, NULL);

        for (size_t i = 0; i < ARRAY_LEN(steps); i++) {
                assert_string_equal(looked_up(&arena, kept, "podinfo", steps[i]),
                                    "6.10.0 podinfo-6.10.0.tgz  0;6.2.0   0;"
                                    "6.0.0 https://h/podinfo-6.0.0.tgz abc 1000;");
                assert_string_equal(looked_up(&arena, kept, "redis", steps[i]), "1.0.0   0;");
                assert_string_equal(looked_up(&arena, kept, "red", steps[i]), "");
                assert_string_equal(looked_up(&arena, kept, "empty", steps[i]), "");
        }
        assert_string_equal(looked_up(&arena, "{\"entries\":{\n\"a\":[\n", "a", 100),
                            "the index ends within a chart");
        assert_string_equal(looked_up(&arena, "{\"entries\":{\n\"a\":[\nx\n]", "a", 100),
                            "invalid JSON at line 1, column 1: expected a value");
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(json_and_yaml_come_to_the_same),
                cmocka_unit_test(what_is_no_index_is_refused),
                cmocka_unit_test(json_may_have_more_than_is_known),
                cmocka_unit_test(the_versions_of_a_chart_are_found),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
