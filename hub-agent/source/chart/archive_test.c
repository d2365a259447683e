#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/base/gzip.h"
#include "hub-agent/source/chart/archive.h"
#include "hub-agent/source/chart/tar.h"

static const struct archive_limits usual = { 10000, 4000, 3000, 10 };

struct seen {
        struct arena *arena;
        struct buf text; /* "name=content;" */
};

static int note(void *ctx, const struct archive_file *f, struct error *err)
{
        struct seen *s = ctx;

        buf_printf(&s->text, "%s%s=", f->name, f->executable ? "*" : "");
        if (f->data.data)
                buf_printf(&s->text, "%.*s;", (int)f->data.len, f->data.data);
        else
                buf_printf(&s->text, "(%llu);", (unsigned long long)f->size);
        return text_equal(f->name, "stop") ? error_set(err, ERR_CANCELLED, "stopped") : 0;
}

static void add(struct buf *tar, const char *name, struct slice data, unsigned mode)
{
        assert_int_equal(tar_append(tar, &(struct tar_entry){ name, data, mode, 100, false }, NULL), 0);
}

/* Another kind than a regular file, as one letter of ustar says it, with what it links to. */
static void spoil_last(struct buf *tar, size_t at, char kind, const char *target)
{
        unsigned sum = 0;
        char *header = tar->data + at;

        header[156] = kind;
        snprintf(header + 157, 100, "%s", target);
        memset(header + 148, ' ', 8);
        for (int i = 0; i < 512; i++)
                sum += (unsigned char)header[i];
        snprintf(header + 148, 8, "%06o", sum);
}

static void pack(struct buf *tar, struct buf *ret)
{
        assert_int_equal(tar_end(tar, NULL), 0);
        assert_int_equal(gzip_pack((struct slice){ tar->data, tar->len }, ret, NULL), 0);
}

/* What is read, behind it the complaint. */
static const char *read_all(struct arena *arena, struct slice data, const struct archive_limits *l, int *ret)
{
        AUTO_BUF struct buf text;
        struct seen s = { .arena = arena };
        struct error err = { 0 };

        buf_init(&s.text, 1 << 20);
        buf_init(&text, 1 << 20);
        *ret = archive_read_files(arena, data, l, note, &s, &err);
        buf_printf(&text, "%s%s", s.text.len ? s.text.data : "", err.text);
        buf_free(&s.text);
        return arena_strdup(arena, text.data);
}

static void files_come_in_order_and_folders_do_not(void **state)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        AUTO_BUF struct buf tar, gz;
        int code;

        buf_init(&tar, 1 << 20);
        buf_init(&gz, 1 << 20);
        assert_int_equal(
                tar_append(&tar, &(struct tar_entry){ .name = "a", .mode = 0755, .is_folder = true }, NULL),
                0);
        add(&tar, "a/z", slice_of("one"), 0644);
        add(&tar, "a/b", slice_of(""), 0700);
        pack(&tar, &gz);
        assert_string_equal(read_all(&arena, (struct slice){ gz.data, gz.len }, &usual, &code),
                            "a/z=one;a/b*=;");
        assert_int_equal(code, 0);
}

/* spec/helm-chart.md checklist 50, 93 */
static void what_is_no_file_or_folder_refuses_the_archive(void **state)
{
        static const struct {
                char kind;
                const char *words;
        } table[] = {
                { '1', "the archive has \"x\", which is a hard link" },
                { '2', "the archive has \"x\", which is a symbolic link" },
                { '3', "the archive has \"x\", which is a device" },
                { '4', "the archive has \"x\", which is a device" },
                { '6', "the archive has \"x\", which is a named pipe" },
        };

        for (size_t i = 0; i < ARRAY_LEN(table); i++) {
                AUTO_ARENA struct arena arena = ARENA_INIT;
                AUTO_BUF struct buf tar, gz;
                int code;

                buf_init(&tar, 1 << 20);
                buf_init(&gz, 1 << 20);
                add(&tar, "x", slice_of(""), 0644);
                spoil_last(&tar, 0, table[i].kind, "/etc/passwd");
                pack(&tar, &gz);
                assert_string_equal(read_all(&arena, (struct slice){ gz.data, gz.len }, &usual, &code),
                                    table[i].words);
                assert_int_equal(code, ERR_INVALID);
        }
}

/* spec/helm-chart.md checklist 93 */
static void limits_hold_before_memory_is_taken(void **state)
{
        static char many[3500];
        AUTO_ARENA struct arena arena = ARENA_INIT;
        AUTO_BUF struct buf tar, gz;
        struct archive_limits l = usual;
        struct slice all;
        int code;

        buf_init(&tar, 1 << 20);
        buf_init(&gz, 1 << 20);
        add(&tar, "big", (struct slice){ many, sizeof(many) }, 0644);
        add(&tar, "small", slice_of("s"), 0644);
        pack(&tar, &gz);
        all = (struct slice){ gz.data, gz.len };
        assert_string_equal(read_all(&arena, all, &l, &code), "big=(3500);small=s;");
        l.file = 3000;
        assert_string_equal(read_all(&arena, all, &l, &code),
                            "the archive has \"big\" of 3500 bytes, more than the maximum of 3000");
        assert_int_equal(code, ERR_LIMIT);
        l = usual;
        l.inflated = 3500;
        assert_string_equal(read_all(&arena, all, &l, &code),
                            "big=(3500);the archive unpacks to more than 3500 bytes, at \"small\"");
        assert_int_equal(code, ERR_LIMIT);
        l = usual;
        l.entries = 1;
        assert_string_equal(read_all(&arena, all, &l, &code),
                            "big=(3500);the archive has more than 1 entries");
        assert_int_equal(code, ERR_LIMIT);
}

/* spec/helm-chart.md checklist 50 */
static void what_is_cut_off_or_no_archive_is_refused(void **state)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        AUTO_BUF struct buf tar, gz, plain;
        struct slice all;
        int code;

        buf_init(&tar, 1 << 20);
        buf_init(&gz, 1 << 20);
        buf_init(&plain, 1 << 20);
        add(&tar, "a", slice_of("0123456789abcdefghijklmnopqrstuvwxyz"), 0644);
        add(&tar, "b", slice_of("more"), 0644);
        pack(&tar, &gz);
        all = (struct slice){ gz.data, gz.len };
        assert_string_equal(read_all(&arena, slice_of("apiVersion: v1"), &usual, &code),
                            "no archive: it does not begin as gzip does");
        assert_int_equal(code, ERR_INVALID);
        assert_string_equal(read_all(&arena, (struct slice){ tar.data, tar.len }, &usual, &code),
                            "no archive: it does not begin as gzip does");
        for (size_t n = 2; n < all.len - 8; n += 7) {
                const char *what = read_all(&arena, (struct slice){ all.data, n }, &usual, &code);

                if (code != ERR_INVALID || !strstr(what, "the archive is "))
                        fail_msg("%zu of %zu: %d %s", n, all.len, code, what);
        }
        assert_int_equal(gzip_pack(slice_of("this is a text, and no tar at all"), &plain, NULL), 0);
        assert_non_null(strstr(read_all(&arena, (struct slice){ plain.data, plain.len }, &usual, &code),
                               "the archive is damaged"));
        assert_int_equal(code, ERR_INVALID);
}

static void who_reads_may_stop(void **state)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        AUTO_BUF struct buf tar, gz;
        int code;

        buf_init(&tar, 1 << 20);
        buf_init(&gz, 1 << 20);
        add(&tar, "stop", slice_of("s"), 0644);
        add(&tar, "more", slice_of("s"), 0644);
        pack(&tar, &gz);
        assert_string_equal(read_all(&arena, (struct slice){ gz.data, gz.len }, &usual, &code),
                            "stop=s;stopped");
        assert_int_equal(code, ERR_CANCELLED);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(files_come_in_order_and_folders_do_not),
                cmocka_unit_test(what_is_no_file_or_folder_refuses_the_archive),
                cmocka_unit_test(limits_hold_before_memory_is_taken),
                cmocka_unit_test(what_is_cut_off_or_no_archive_is_refused),
                cmocka_unit_test(who_reads_may_stop),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
