/* Archives and folders of charts for tests. */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/base/gzip.h"
#include "hub-agent/source/chart/file_set.h"
#include "hub-agent/source/chart/tar.h"

struct test_file {
        const char *path, *text;
};

/* Ends with one without a path. */
static inline struct file_set folder_of(struct arena *arena, const struct test_file *files)
{
        struct file_set s = { 0 };

        while (files[s.n].path)
                s.n++;
        s.at = ARENA_NEW_ARRAY(arena, struct set_file, s.n + 1);
        for (size_t i = 0; i < s.n; i++)
                s.at[i] = (struct set_file){ .path = files[i].path,
                                             .data = slice_of(files[i].text),
                                             .size = strlen(files[i].text) };
        assert_int_equal(file_set_sort(&s), 0);
        return s;
}

/* Each below `name`. */
static inline struct slice archive_of(struct arena *arena, const char *name, const struct test_file *files)
{
        AUTO_BUF struct buf tar, gz;
        struct slice all;

        buf_init(&tar, 64 << 20);
        buf_init(&gz, 64 << 20);
        for (; files->path; files++) {
                const struct tar_entry e = { arena_printf(arena, "%s/%s", name, files->path),
                                             slice_of(files->text), 0644, 0, false };

                assert_int_equal(tar_append(&tar, &e, NULL), 0);
        }
        assert_int_equal(tar_end(&tar, NULL), 0);
        assert_int_equal(gzip_pack((struct slice){ tar.data, tar.len }, &gz, NULL), 0);
        all = (struct slice){ arena_memdup(arena, gz.data, gz.len), gz.len };
        return all;
}
