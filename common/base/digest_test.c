#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/base/digest.h"
#include "common/base/text.h"

static void digests_are_those_of_fips_180(void **state)
{
        static const struct {
                const char *input, *digest;
        } cases[] = {
                { "", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855" },
                { "abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad" },
                { "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
                  "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1" },
        };
        for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
                char hex[SHA256_HEX_SIZE];
                sha256_hex(cases[i].input, strlen(cases[i].input), hex);
                assert_string_equal(hex, cases[i].digest);
        }
}

static void a_million_letters_in_uneven_pieces_give_the_known_digest(void **state)
{
        struct sha256 s;
        uint8_t raw[SHA256_SIZE], piece[999];
        char hex[SHA256_HEX_SIZE];
        memset(piece, 'a', sizeof(piece));
        sha256_init(&s);
        for (size_t left = 1000000, n = 1; left; left -= n, n = MIN(left, n % sizeof(piece) + 7))
                sha256_update(&s, piece, n = MIN(n, sizeof(piece)));
        sha256_final(&s, raw);
        text_hex_encode(raw, sizeof(raw), hex);
        assert_string_equal(hex, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

static void every_length_around_a_block_pads_the_same_whole_or_in_pieces(void **state)
{
        uint8_t data[200];
        for (size_t i = 0; i < sizeof(data); i++)
                data[i] = (uint8_t)i;
        for (size_t n = 0; n < sizeof(data); n++) {
                char whole[SHA256_HEX_SIZE], pieces[SHA256_HEX_SIZE];
                uint8_t raw[SHA256_SIZE];
                struct sha256 s;
                sha256_hex(data, n, whole);
                sha256_init(&s);
                for (size_t i = 0; i < n; i++)
                        sha256_update(&s, data + i, 1);
                sha256_final(&s, raw);
                text_hex_encode(raw, sizeof(raw), pieces);
                assert_string_equal(whole, pieces);
        }
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(digests_are_those_of_fips_180),
                cmocka_unit_test(a_million_letters_in_uneven_pieces_give_the_known_digest),
                cmocka_unit_test(every_length_around_a_block_pads_the_same_whole_or_in_pieces),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
