#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/base/gzip.h"
#include "common/base/memory.h"

#define TEXT "{\"a\":1}"

/* Of another program, with every optional part: extra field, name, comment, checksum of the header. */
static const uint8_t decorated[] = { 0x1f, 0x8b, 0x08, 0x1e, 0x00, 0x00, 0x00, 0x00, 0x00, 0x03,
                                     0x04, 0x00, 0x41, 0x42, 0x00, 0x00, 0x6e, 0x00, 0x63, 0x00,
                                     0x1e, 0x14, 0xab, 0x56, 0x4a, 0x54, 0xb2, 0x32, 0xac, 0x05,
                                     0x00, 0xaf, 0xac, 0x1b, 0x56, 0x07, 0x00, 0x00, 0x00 };

static struct slice of_buf(const struct buf *b)
{
        return (struct slice){ b->data, b->len };
}

static void packed(const void *data, size_t n, struct buf *ret)
{
        struct error err = { 0 };
        buf_init(ret, 64u << 20);
        if (gzip_pack((struct slice){ data, n }, ret, &err) < 0)
                fail_msg("%s", err.text);
}

/* What unpacking says: the text, or the error's. */
static const char *unpacked(struct slice data, char *ret, size_t size)
{
        AUTO_BUF struct buf b;
        struct error err = { 0 };
        buf_init(&b, size - 1);
        int code = gzip_unpack(data, &b, &err);
        text_shorten(code < 0 ? err.text : b.data, ret, size);
        return ret;
}

static void what_was_packed_comes_back(void **state)
{
        static const size_t sizes[] = { 0, 1, 16383, 16384, 16385, 1000000 };
        for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
                AUTO_FREE uint8_t *data = mem_alloc(sizes[i]);
                uint32_t dice = 1;
                for (size_t k = 0; k < sizes[i]; k++)
                        data[k] = (uint8_t)((dice = dice * 1664525 + 1013904223) >> (i % 2 ? 24 : 30));
                AUTO_BUF struct buf small, big;
                packed(data, sizes[i], &small);
                buf_init(&big, sizes[i]); /* exactly as large as allowed */
                assert_true(gzip_begins(of_buf(&small)));
                assert_int_equal(gzip_check_header(of_buf(&small), NULL), 0);
                assert_int_equal(gzip_unpack(of_buf(&small), &big, NULL), 0);
                assert_int_equal(big.len, sizes[i]);
                assert_memory_equal(big.data, data, sizes[i]);
        }
}

static void equal_data_are_packed_equally_and_say_nothing_of_their_origin(void **state)
{
        static const uint8_t header[] = { 0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 2, 255 };
        AUTO_BUF struct buf a, b;
        packed(TEXT, strlen(TEXT), &a);
        packed(TEXT, strlen(TEXT), &b);
        assert_true(slice_equal(of_buf(&a), of_buf(&b)));
        assert_memory_equal(a.data, header, sizeof(header));
}

static void files_of_other_programs_are_read(void **state)
{
        char text[64];
        struct slice data = { (const char *)decorated, sizeof(decorated) };
        assert_string_equal(unpacked(data, text, sizeof(text)), TEXT);
        for (size_t n = 0; n < sizeof(decorated); n++) /* wherever it is cut */
                assert_string_equal(unpacked((struct slice){ data.data, n }, text, sizeof(text)),
                                    "unexpected EOF");
}

static void members_behind_one_another_are_one_text(void **state)
{
        AUTO_BUF struct buf b;
        char text[64];
        packed("one ", 4, &b);
        assert_int_equal(gzip_pack(SLICE(""), &b, NULL), 0);
        assert_int_equal(gzip_pack(SLICE("two"), &b, NULL), 0);
        assert_string_equal(unpacked(of_buf(&b), text, sizeof(text)), "one two");
}

static void what_is_damaged_is_refused(void **state)
{
        static const struct {
                int at; /* from the end where negative */
                uint8_t value;
                const char *says;
        } cases[] = {
                { 0, 0, "gzip: invalid header" },       { 1, 0, "gzip: invalid header" },
                { 2, 7, "gzip: invalid header" },       { 10, 0xff, "flate: corrupt input before offset 0" },
                { -8, 0xee, "gzip: invalid checksum" }, { -1, 1, "gzip: invalid checksum" },
        };
        char text[64];
        for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
                AUTO_BUF struct buf b;
                packed(TEXT, strlen(TEXT), &b);
                b.data[cases[i].at < 0 ? (size_t)((int)b.len + cases[i].at) : (size_t)cases[i].at] =
                        (char)cases[i].value;
                const char *got = unpacked(of_buf(&b), text, sizeof(text));
                if (!text_starts_with(cases[i].says, "flate"))
                        assert_string_equal(got, cases[i].says);
                else
                        assert_true(text_starts_with(got, "flate: corrupt input before offset "));
        }
        assert_int_equal(gzip_check_header(SLICE("\x1f\x8b"), NULL), ERR_INVALID);
        assert_int_equal(gzip_check_header(SLICE("no header at all"), NULL), ERR_INVALID);
        struct slice other = { (const char *)decorated, sizeof(decorated) };
        uint8_t copy[sizeof(decorated)];
        memcpy(copy, decorated, sizeof(copy));
        copy[16] = 'm'; /* of the name, which the header's checksum covers */
        assert_string_equal(unpacked((struct slice){ (const char *)copy, other.len }, text, sizeof(text)),
                            "gzip: invalid header");
}

static void garbage_behind_the_last_member_is_refused(void **state)
{
        AUTO_BUF struct buf b;
        char text[64];
        packed(TEXT, strlen(TEXT), &b);
        buf_append_char(&b, '\n');
        assert_string_equal(unpacked(of_buf(&b), text, sizeof(text)), "unexpected EOF");
        buf_append_str(&b, "and more of it");
        assert_string_equal(unpacked(of_buf(&b), text, sizeof(text)), "gzip: invalid header");
}

/* A thousand times as large unpacked: no more is held than was allowed. */
static void a_bomb_ends_at_the_limit(void **state)
{
        size_t n = 8u << 20, limit = 1u << 20;
        AUTO_FREE char *zeros = mem_zalloc(n);
        AUTO_BUF struct buf bomb, out;
        packed(zeros, n, &bomb);
        assert_true(bomb.len < n / 500);
        buf_init(&out, limit);
        struct error err = { 0 };
        size_t before = mem_live_bytes();
        assert_int_equal(gzip_unpack(of_buf(&bomb), &out, &err), ERR_LIMIT);
        assert_true(out.len <= limit && mem_live_bytes() - before < 2 * limit);
        buf_free(&out);
        buf_init(&out, n - 1);
        assert_int_equal(gzip_unpack(of_buf(&bomb), &out, &err), ERR_LIMIT);
}

static void what_was_deflated_comes_back_and_is_smaller(void **state)
{
        static const size_t sizes[] = { 0, 1, 16384, 16385, 300000 };
        for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
                AUTO_FREE char *data = mem_alloc(sizes[i] + 1);
                AUTO_BUF struct buf one, back;
                for (size_t k = 0; k < sizes[i]; k++)
                        data[k] = TEXT[k % 7 ? k % 7 : k / 7 % 7];
                buf_init(&one, 1 << 20);
                buf_init(&back, sizes[i]);
                assert_int_equal(deflate_pack((struct slice){ data, sizes[i] }, &one, NULL), 0);
                assert_int_equal(deflate_unpack(of_buf(&one), &back, NULL), 0);
                assert_int_equal(back.len, sizes[i]);
                if (sizes[i])
                        assert_memory_equal(back.data, data, sizes[i]);
                assert_true(sizes[i] < 100 || one.len < sizes[i] / 10);
        }
}

static void what_is_not_deflated_or_does_not_fit_is_refused(void **state)
{
        AUTO_BUF struct buf one, back, small;
        buf_init(&one, 1 << 20);
        buf_init(&back, 1 << 20);
        buf_init(&small, 3);
        assert_int_equal(deflate_pack(SLICE(TEXT TEXT TEXT), &small, NULL), ERR_LIMIT);
        assert_int_equal(deflate_pack(SLICE(TEXT), &one, NULL), 0);
        assert_int_equal(deflate_unpack((struct slice){ one.data, one.len - 1 }, &back, NULL), ERR_INVALID);
        assert_int_equal(deflate_unpack(SLICE("\xff\xff\xff"), &back, NULL), ERR_INVALID);
        buf_append_char(&one, 'x');
        assert_int_equal(deflate_unpack(of_buf(&one), &back, NULL), ERR_INVALID);
}

static void every_allocation_may_fail(void **state)
{
        size_t live = mem_live_count();
        for (uint64_t n = 1;; n++) {
                AUTO_BUF struct buf a, b;
                struct error err = { 0 };
                buf_init(&a, 1 << 20);
                buf_init(&b, 1 << 20);
                mem_fail_at(n, true);
                int code = gzip_pack(SLICE(TEXT), &a, &err);
                if (code == 0)
                        code = gzip_unpack(of_buf(&a), &b, &err);
                buf_clear(&a);
                if (code == 0)
                        code = deflate_pack(SLICE(TEXT), &a, &err);
                if (code == 0)
                        code = deflate_unpack(of_buf(&a), &b, &err);
                bool fired = mem_fault_fired();
                mem_fail_at(0, false);
                buf_free(&a);
                buf_free(&b);
                assert_int_equal(mem_live_count(), live);
                assert_int_equal(code, fired ? ERR_NO_MEMORY : 0);
                if (!fired)
                        break;
        }
}

/* In pieces of that many bytes. */
static void packed_in_pieces(const uint8_t *data, size_t n, size_t cut, struct buf *ret)
{
        struct gzip_packer *p = gzip_packer_new();
        buf_init(ret, 64u << 20);
        assert_non_null(p);
        for (size_t at = 0; at < n; at += cut) {
                struct slice piece = { (const char *)data + at, MIN(cut, n - at) };
                assert_int_equal(gzip_packer_add(p, piece, false, ret, NULL), 0);
        }
        assert_int_equal(gzip_packer_add(p, SLICE(""), true, ret, NULL), 0);
        gzip_packer_free(p);
}

static void what_was_packed_in_pieces_comes_back_and_is_the_same_in_others(void **state)
{
        static const size_t sizes[] = { 0, 1, 100000 };
        for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
                AUTO_FREE uint8_t *data = mem_alloc(sizes[i]);
                AUTO_BUF struct buf one, other, back;
                for (size_t k = 0; k < sizes[i]; k++)
                        data[k] = (uint8_t)(k * k >> 5);
                packed_in_pieces(data, sizes[i], 1 << 20, &one);
                packed_in_pieces(data, sizes[i], 777, &other);
                assert_int_equal(one.len, other.len);
                assert_memory_equal(one.data, other.data, one.len);
                buf_init(&back, sizes[i]);
                assert_int_equal(gzip_unpack(of_buf(&one), &back, NULL), 0);
                assert_int_equal(back.len, sizes[i]);
                assert_memory_equal(back.data, data, sizes[i]);
        }
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(what_was_packed_comes_back),
                cmocka_unit_test(what_was_packed_in_pieces_comes_back_and_is_the_same_in_others),
                cmocka_unit_test(equal_data_are_packed_equally_and_say_nothing_of_their_origin),
                cmocka_unit_test(files_of_other_programs_are_read),
                cmocka_unit_test(members_behind_one_another_are_one_text),
                cmocka_unit_test(what_is_damaged_is_refused),
                cmocka_unit_test(garbage_behind_the_last_member_is_refused),
                cmocka_unit_test(a_bomb_ends_at_the_limit),
                cmocka_unit_test(what_was_deflated_comes_back_and_is_smaller),
                cmocka_unit_test(what_is_not_deflated_or_does_not_fit_is_refused),
                cmocka_unit_test(every_allocation_may_fail),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
