/* What is held of indexes, and for how long. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/base/buf.h"
#include "common/base/memory.h"
#include "hub-agent/source/index/cache.h"
#include "hub-agent/source/index/convert.h"

struct kept {
        struct slice text;
        size_t step; /* bytes at a time */
};

static int read_kept(void *ctx, uint64_t offset, void *ret, size_t n, size_t *ret_n, struct error *err)
{
        const struct kept *k = ctx;
        size_t left = offset < k->text.len ? k->text.len - offset : 0;

        *ret_n = MIN(MIN(n, left), k->step);
        memcpy(ret, k->text.data + offset, *ret_n);
        return 0;
}

static int append(void *ctx, const void *data, size_t n, struct error *err)
{
        buf_append(ctx, data, n);
        return buf_status(ctx, err, "the index");
}

static void convert(struct buf *b, const char *text)
{
        const struct index_sink sink = { append, b };
        struct index_summary s;

        buf_init(b, 8 << 20);
        assert_int_equal(index_convert(slice_of(text), &sink, &s, NULL), 0);
}

static const char text[] = "apiVersion: v1\nentries:\n"
                           "  podinfo: [{name: podinfo, version: 1.0.0}, {name: podinfo, version: 2.0.0}]\n"
                           "  pod: [{name: pod, version: 3.0.0}]\n"
                           "  \"a \\\" b\": [{name: x, version: 4.0.0}]\n"
                           "  empty: []\n"
                           "  redis: [{name: redis, version: 5.0.0}]\n";

static struct index_directory *directory_of(const struct buf *b, size_t step)
{
        struct kept kept = { { b->data, b->len }, step };
        struct index_directory *d = NULL;

        assert_int_equal(index_directory_make(&(struct index_source){ read_kept, &kept }, &d, NULL), 0);
        return d;
}

/* The version that is found there first. */
static void assert_found(const struct buf *b, const struct index_directory *d, const char *name,
                         const char *version)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct kept kept = { { b->data, b->len }, 7 };
        struct chart_version *at;
        uint64_t from = 0;
        size_t n;

        assert_int_equal(index_directory_find(d, name, &from), 0);
        assert_int_equal(
                index_lookup(&arena, &(struct index_source){ read_kept, &kept }, from, name, &at, &n, NULL),
                0);
        assert_true(n > 0);
        assert_string_equal(at[0].version, version);
}

static void a_directory_leads_to_each_chart(void **state)
{
        static const size_t steps[] = { 1, 3, 100000 };
        AUTO_BUF struct buf b;

        convert(&b, text);
        for (size_t i = 0; i < ARRAY_LEN(steps); i++) {
                struct index_directory *d = directory_of(&b, steps[i]);
                uint64_t from;

                assert_found(&b, d, "podinfo", "2.0.0");
                assert_found(&b, d, "pod", "3.0.0");
                assert_found(&b, d, "a \" b", "4.0.0");
                assert_found(&b, d, "redis", "5.0.0");
                assert_int_equal(index_directory_find(d, "po", &from), ERR_NOT_FOUND);
                assert_int_equal(index_directory_find(d, "empty", &from), ERR_NOT_FOUND);
                assert_int_equal(index_directory_find(d, "", &from), ERR_NOT_FOUND);
                index_directory_free(d);
        }
}

static void what_is_no_index_has_no_directory(void **state)
{
        static const char *const bad[] = { "{\"entries\":{\n\"x\":[", "{\n\"x\"\n", "\"" };

        for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
                struct kept kept = { slice_of(bad[i]), 100 };
                struct index_directory *d = NULL;
                struct error err = { 0 };

                assert_int_equal(index_directory_make(&(struct index_source){ read_kept, &kept }, &d, &err),
                                 ERR_INVALID);
                assert_null(d);
        }
}

static void names_have_an_end(void **state)
{
        static char line[70000];
        struct kept kept;
        struct index_directory *d = NULL;
        struct error err = { 0 };
        AUTO_BUF struct buf b;

        buf_init(&b, 16 << 20);
        memset(line, 'x', sizeof(line));
        line[0] = '"';
        memcpy(line + sizeof(line) - 5, "\":[\n", 5);
        while (b.len < INDEX_DIRECTORY_BYTES)
                buf_append_str(&b, line);
        kept = (struct kept){ { b.data, b.len }, 1 << 20 };
        assert_int_equal(index_directory_make(&(struct index_source){ read_kept, &kept }, &d, &err),
                         ERR_LIMIT);
}

/* spec/helm-chart.md checklist 65, 66 */
static void what_is_held_expires_and_a_full_cache_takes_no_more(void **state)
{
        AUTO_BUF struct buf b;
        struct index_cache c;
        struct error err = { 0 };

        convert(&b, text);
        index_cache_init(&c, 1, 1000);
        assert_null(index_cache_get(&c, "one", 0));
        assert_int_equal(index_cache_put(&c, "one", directory_of(&b, 100), 0, &err), 0);
        assert_non_null(index_cache_get(&c, "one", 999)); /* held until 1999 from now on */
        assert_int_equal(index_cache_put(&c, "two", directory_of(&b, 100), 999, &err), ERR_LIMIT);
        assert_string_equal(err.text, "Cache is full");
        assert_int_equal(index_cache_put(&c, "one", directory_of(&b, 100), 999, &err), 0);
        index_cache_purge(&c, 1998);
        assert_non_null(map_get(&c.by_path, "one"));
        assert_null(index_cache_get(&c, "one", 1999));
        index_cache_purge(&c, 1999);
        assert_null(map_get(&c.by_path, "one"));
        assert_int_equal(index_cache_put(&c, "two", directory_of(&b, 100), 2000, &err), 0);
        index_cache_drop(&c, "two");
        assert_null(index_cache_get(&c, "two", 2000));
        index_cache_free(&c);
}

static int make_and_put(const struct buf *b)
{
        struct kept kept = { { b->data, b->len }, 100 };
        struct index_directory *d = NULL;
        struct index_cache c;
        uint64_t from;
        int code;

        index_cache_init(&c, 1, 1000);
        code = index_directory_make(&(struct index_source){ read_kept, &kept }, &d, NULL);
        if (code == 0)
                code = index_directory_find(d, "podinfo", &from);
        if (code == 0)
                code = index_cache_put(&c, "one", d, 0, NULL);
        else
                index_directory_free(d);
        index_cache_free(&c);
        return code;
}

static void each_allocation_that_fails_is_told(void **state)
{
        AUTO_BUF struct buf b;
        int code = ERR_NO_MEMORY;

        convert(&b, text);
        for (uint64_t n = 1; code == ERR_NO_MEMORY; n++) {
                mem_fail_at(n, false);
                code = make_and_put(&b);
                mem_fail_at(0, false);
        }
        assert_int_equal(code, 0);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(a_directory_leads_to_each_chart),
                cmocka_unit_test(what_is_no_index_has_no_directory),
                cmocka_unit_test(names_have_an_end),
                cmocka_unit_test(what_is_held_expires_and_a_full_cache_takes_no_more),
                cmocka_unit_test(each_allocation_that_fails_is_told),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
