/* Archives of trees: spec/helm-chart.md 12.1 step 4. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/base/buf.h"
#include "common/base/gzip.h"
#include "common/base/memory.h"
#include "hub-agent/source/chart/file_set.h"
#include "hub-agent/source/tree_archive.h"

#define BIG 3000000

struct sink {
        struct buf bytes;
        size_t most; /* in one piece */
        int writes_left;
};

static int take(void *ctx, const void *data, size_t n, struct error *err)
{
        struct sink *s = ctx;

        s->most = MAX(s->most, n);
        if (s->writes_left-- == 0)
                return error_set(err, ERR_SYSTEM, "the disk is full");
        return buf_append(&s->bytes, data, n) < 0 ? buf_status(&s->bytes, err, "a sink") : 0;
}

static int add_file(struct tree_archive *a, const char *path, struct slice data, size_t cut,
                    struct error *err)
{
        TRY(tree_archive_begin(a, path, data.len, err));
        while (data.len > 0) {
                struct slice piece = { data.data, MIN(data.len, cut) };

                TRY(tree_archive_add(a, piece, err));
                data.data += piece.len;
                data.len -= piece.len;
        }
        return 0;
}

/* A tree whose files come in pieces of that many bytes. */
static int make(struct sink *s, size_t cut, struct error *err)
{
        const struct archive_sink sink = { take, s };
        CLEANUP(tree_archive_cleanup) struct tree_archive *a = tree_archive_new(&sink);
        AUTO_FREE char *big = mem_alloc(BIG);

        buf_init(&s->bytes, 16u << 20);
        if (!a || !big)
                return error_no_memory(err);
        for (size_t i = 0; i < BIG; i++)
                big[i] = (char)(i * i >> 7);
        TRY(add_file(a, "a-b", SLICE("first"), cut, err));
        TRY(add_file(a, "a/b/c.yaml", SLICE("kind: A\n"), cut, err));
        TRY(add_file(a, "a/b/d/empty", SLICE(""), cut, err));
        TRY(add_file(a, "a/bc", (struct slice){ big, BIG }, cut, err));
        TRY(add_file(a, "z/b/c", SLICE("last"), cut, err));
        return tree_archive_end(a, err);
}

static struct sink made(size_t cut)
{
        struct sink s = { .writes_left = -1 };

        assert_int_equal(make(&s, cut, NULL), 0);
        return s;
}

/* spec/helm-chart.md checklist 90 */
static void equal_trees_are_equal_bytes_however_they_come(void **state)
{
        struct sink one = made(BIG), other = made(777);

        assert_int_equal(one.bytes.len, other.bytes.len);
        assert_memory_equal(one.bytes.data, other.bytes.data, one.bytes.len);
        assert_in_range(one.most, 1, 2u << 20);
        buf_free(&one.bytes);
        buf_free(&other.bytes);
}

static void files_come_back_as_they_were(void **state)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct sink s = made(100000);
        struct file_set files;

        assert_int_equal(
                file_set_of_source(&arena, (struct slice){ s.bytes.data, s.bytes.len }, &files, NULL), 0);
        assert_int_equal(files.n, 5);
        assert_true(slice_is(file_set_find(&files, "a/b/c.yaml")->data, "kind: A\n"));
        assert_int_equal(file_set_find(&files, "a/bc")->size, BIG);
        assert_int_equal(file_set_find(&files, "a/b/d/empty")->size, 0);
        assert_false(file_set_find(&files, "a-b")->executable);
        buf_free(&s.bytes);
}

static void each_folder_stands_once_before_what_is_in_it(void **state)
{
        static const struct {
                const char *name;
                const char *mode;
                size_t blocks; /* behind the header */
        } want[] = { { "a-b", "0000600", 1 },
                     { "a/", "0000750", 0 },
                     { "a/b/", "0000750", 0 },
                     { "a/b/c.yaml", "0000600", 1 },
                     { "a/b/d/", "0000750", 0 },
                     { "a/b/d/empty", "0000600", 0 },
                     { "a/bc", "0000600", (BIG + 511) / 512 },
                     { "z/", "0000750", 0 },
                     { "z/b/", "0000750", 0 },
                     { "z/b/c", "0000600", 1 } };
        struct sink s = made(BIG);
        AUTO_BUF struct buf tar;
        size_t at = 0;

        buf_init(&tar, 16u << 20);
        assert_int_equal(gzip_unpack((struct slice){ s.bytes.data, s.bytes.len }, &tar, NULL), 0);
        for (size_t i = 0; i < ARRAY_LEN(want); i++) {
                assert_string_equal(tar.data + at, want[i].name);
                assert_string_equal(tar.data + at + 100, want[i].mode);
                assert_string_equal(tar.data + at + 136, "00000000000"); /* no time */
                at += 512 * (1 + want[i].blocks);
        }
        assert_int_equal(tar.len, at + 1024);
        buf_free(&s.bytes);
}

static void a_file_has_as_many_bytes_as_were_said(void **state)
{
        struct sink s = { .writes_left = -1 };
        const struct archive_sink sink = { take, &s };
        CLEANUP(tree_archive_cleanup) struct tree_archive *a = tree_archive_new(&sink);
        struct error err;

        buf_init(&s.bytes, 16u << 20);
        assert_int_equal(tree_archive_begin(a, "a", 5, &err), 0);
        assert_int_equal(tree_archive_add(a, SLICE("123456"), &err), ERR_INVALID);
        assert_string_equal(err.text, "a: it is longer than 5 bytes");
        assert_int_equal(tree_archive_add(a, SLICE("123"), &err), 0);
        assert_int_equal(tree_archive_begin(a, "b", 5, &err), ERR_INVALID);
        assert_string_equal(err.text, "a: 2 bytes of it are missing");
        buf_free(&s.bytes);
}

static void the_sinks_error_is_told(void **state)
{
        struct sink s = { .writes_left = 1 };
        struct error err;

        assert_int_equal(make(&s, BIG, &err), ERR_SYSTEM);
        assert_string_equal(err.text, "the disk is full");
        buf_free(&s.bytes);
}

/* spec/helm-chart.md checklist 97 */
static void each_allocation_may_fail(void **state)
{
        bool fired = true;

        for (uint64_t n = 1; fired; n++) {
                struct sink s = { .writes_left = -1 };

                mem_fail_at(n, false);
                int code = make(&s, BIG, NULL);
                fired = mem_fault_fired();
                mem_fail_at(0, false);
                assert_int_equal(code, fired ? ERR_NO_MEMORY : 0);
                buf_free(&s.bytes);
        }
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(equal_trees_are_equal_bytes_however_they_come),
                cmocka_unit_test(files_come_back_as_they_were),
                cmocka_unit_test(each_folder_stands_once_before_what_is_in_it),
                cmocka_unit_test(a_file_has_as_many_bytes_as_were_said),
                cmocka_unit_test(the_sinks_error_is_told),
                cmocka_unit_test(each_allocation_may_fail),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
