#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/base/digest.h"
#include "common/base/memory.h"
#include "hub-agent/source/chart/tar.h"

/* Of what another program makes of the same files (tarfile of Python, format ustar). */
#define DIGEST "44fb4c0e9f7ad619e4bd4e06a4001ba3dfcef6b75b28a6833cbe7e0fa091fe4d"

static void append(struct buf *b, const char *name, const char *text, bool folder)
{
        const struct tar_entry e = { name, slice_of(text), folder ? 0750 : 0644, 315532800, folder };
        struct error err = { 0 };

        if (tar_append(b, &e, &err) < 0)
                fail_msg("%s", err.text);
}

/* spec/helm-chart.md checklist 52 */
static void the_same_files_give_the_same_bytes(void **state)
{
        char digests[2][SHA256_HEX_SIZE];

        for (int i = 0; i < 2; i++) {
                AUTO_BUF struct buf b;

                buf_init(&b, 1 << 20);
                append(&b, "podinfo", "", true);
                append(&b, "podinfo/Chart.yaml", "name: podinfo\n", false);
                append(&b, "podinfo/empty", "", false);
                assert_int_equal(tar_end(&b, NULL), 0);
                assert_int_equal(b.len, 512 + 1024 + 512 + 1024);
                sha256_hex(b.data, b.len, digests[i]);
        }
        assert_string_equal(digests[0], digests[1]);
        assert_string_equal(digests[0], DIGEST);
}

static void a_header_says_what_ustar_says(void **state)
{
        AUTO_BUF struct buf b;

        buf_init(&b, 1 << 20);
        append(&b, "a/b", "hello", false);
        assert_int_equal(b.len, 1024);
        assert_string_equal(b.data, "a/b");
        assert_memory_equal(b.data + 100, "0000644\0000000000\0000000000\000", 24);
        assert_memory_equal(b.data + 124, "00000000005\00002263523000\0", 24);
        assert_memory_equal(b.data + 156, "0", 1);
        assert_memory_equal(b.data + 257, "ustar\00000", 8);
        assert_memory_equal(b.data + 512, "hello\0", 6);
}

static void long_names_have_room(void **state)
{
        AUTO_BUF struct buf b;
        char name[400];

        buf_init(&b, 1 << 20);
        memset(name, 'a', sizeof(name));
        name[120] = '\0';
        name[60] = '/';
        append(&b, name, "", false);
        assert_int_equal(b.len, 512); /* in two fields */
        assert_memory_equal(b.data, name + 61, 59);
        assert_memory_equal(b.data + 345, name, 60);
        buf_clear(&b);
        name[60] = 'a';
        append(&b, name, "", false);
        assert_int_equal(b.len, 3 * 512); /* with a header of its own before it */
        assert_memory_equal(b.data + 156, "x", 1);
        assert_memory_equal(b.data + 512, "130 path=aaa", 12);
        assert_memory_equal(b.data + 512 + 129, "\n", 1);
        assert_memory_equal(b.data + 1024, name, 100);
}

static void what_has_no_room_is_refused(void **state)
{
        const struct tar_entry none = { "", { "", 0 }, 0644, 0, false },
                               one = { "a", { "x", 1 }, 0644, -5, false };
        AUTO_BUF struct buf b;

        buf_init(&b, 600);
        assert_int_equal(tar_append(&b, &none, NULL), ERR_INVALID);
        assert_int_equal(tar_append(&b, &one, NULL), ERR_LIMIT);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(the_same_files_give_the_same_bytes),
                cmocka_unit_test(a_header_says_what_ustar_says),
                cmocka_unit_test(long_names_have_room),
                cmocka_unit_test(what_has_no_room_is_refused),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
