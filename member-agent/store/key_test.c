/* The key beside a state file, as later runs of the agent find it. */
#include "member-agent/store/key.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "common/base/memory.h"
#include "common/loop/loop.h"

struct disk {
        struct world world;
        char text[4097]; /* of the one file */
        int writes;
};

static int read_file(void *ctx, const char *path, size_t max, char **ret, size_t *ret_len, struct error *err)
{
        struct disk *d = ctx;

        assert_string_equal(path, "/state/db.key");
        if (!d->text[0])
                return error_set(err, ERR_NOT_FOUND, "%s: no such file", path);
        *ret = mem_strdup(d->text);
        *ret_len = strlen(d->text);
        return 0;
}

static int write_file(void *ctx, const char *path, const void *data, size_t n, struct error *err)
{
        struct disk *d = ctx;

        assert_string_equal(path, "/state/db.key");
        assert_true(n < sizeof(d->text));
        memcpy(d->text, data, n);
        d->text[n] = '\0';
        d->writes++;
        return 0;
}

static void open_disk(struct disk *d)
{
        static const struct world_files files = { .read = read_file, .write = write_file };

        *d = (struct disk){ .world = { .loop = loop_new_simulated(7, 0, NULL), .files = &files, .ctx = d } };
}

static void ask(struct disk *d, uint8_t ret[STORE_KEY_SIZE])
{
        assert_int_equal(store_key(&d->world, "/state/db", ret, NULL), 0);
}

/* Or what is kept sealed could not be read, and the agent would not begin without the hub. */
static void every_run_finds_the_key_of_the_first(void **state)
{
        uint8_t first[STORE_KEY_SIZE], later[STORE_KEY_SIZE];
        struct disk d;

        open_disk(&d);
        for (int i = 0; i < 20; i++) {
                d.text[0] = '\0';
                ask(&d, first);
                assert_int_equal(strlen(d.text), 2 * STORE_KEY_SIZE);
                ask(&d, later);
                assert_memory_equal(first, later, STORE_KEY_SIZE);
                assert_int_equal(d.writes, i + 1);
        }
        loop_free(d.world.loop);
}

static void a_key_of_known_digits_is_those_bytes(void **state)
{
        static const uint8_t wanted[] = { 0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef };
        uint8_t key[STORE_KEY_SIZE];
        struct disk d;

        open_disk(&d);
        for (size_t i = 0; i < 2 * STORE_KEY_SIZE; i++)
                d.text[i] = "0123456789abcdef"[i % 16];
        ask(&d, key);
        for (size_t i = 0; i < STORE_KEY_SIZE; i++)
                assert_int_equal(key[i], wanted[i % sizeof(wanted)]);
        assert_int_equal(d.writes, 0);
        loop_free(d.world.loop);
}

/* A disk that was full, or an editor: one that is cut, or holds what is no digit, is replaced. */
static void a_key_that_is_broken_is_made_anew(void **state)
{
        static const struct {
                int at;
                char put;
        } rows[] = { { 0, 'g' },
                     { 1, '/' },
                     { 2, ':' },
                     { 2 * STORE_KEY_SIZE - 1, '`' },
                     { 5, 'A' },
                     { 6, '\n' },
                     { 2 * STORE_KEY_SIZE - 1, '\0' } };
        uint8_t first[STORE_KEY_SIZE], second[STORE_KEY_SIZE], third[STORE_KEY_SIZE];

        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
                struct disk d;

                open_disk(&d);
                ask(&d, first);
                d.text[rows[i].at] = rows[i].put;
                ask(&d, second);
                assert_int_equal(d.writes, 2);
                assert_memory_not_equal(first, second, STORE_KEY_SIZE);
                ask(&d, third);
                assert_memory_equal(second, third, STORE_KEY_SIZE);
                loop_free(d.world.loop);
        }
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(every_run_finds_the_key_of_the_first),
                cmocka_unit_test(a_key_of_known_digits_is_those_bytes),
                cmocka_unit_test(a_key_that_is_broken_is_made_anew),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
