#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/net/known_hosts.h"

/* "key-a" and "key-b" in base64. */
#define A "a2V5LWE="
#define B "a2V5LWI="
/* "git.example", as ssh-keygen -H writes it. */
#define HASHED "|1|AAECAwQFBgcICQoLDA0ODxAREhM=|ofeWoBPxCZqYoYdPpknNO778Vcc="

static enum known_host check(const char *file, const char *host, int port, const char *key)
{
        return known_hosts_check(slice_of(file), host, port, slice_of(key));
}

static void names_are_matched_as_openssh_does(void **state)
{
        static const struct {
                const char *file, *host;
                int port;
                enum known_host want;
        } cases[] = {
                { "git.example ssh-ed25519 " A "\n", "git.example", 22, KNOWN_HOST_GOOD },
                { "git.example ssh-ed25519 " A " a comment\r\n", "Git.Example", 22, KNOWN_HOST_GOOD },
                { "git.example ssh-ed25519 " A, "git.example", 2222, KNOWN_HOST_NONE },
                { "[git.example]:2222 ssh-ed25519 " A, "git.example", 2222, KNOWN_HOST_GOOD },
                { "[git.example]:2222 ssh-ed25519 " A, "git.example", 22, KNOWN_HOST_NONE },
                { "other.example,192.0.2.7 ssh-ed25519 " A, "192.0.2.7", 22, KNOWN_HOST_GOOD },
                { "*.example ssh-ed25519 " A, "git.example", 22, KNOWN_HOST_GOOD },
                { "g?t.* ssh-ed25519 " A, "git.example", 22, KNOWN_HOST_GOOD },
                { "*.example,!git.example ssh-ed25519 " A, "git.example", 22, KNOWN_HOST_NONE },
                { "git.example ssh-ed25519 " B, "git.example", 22, KNOWN_HOST_OTHER_KEY },
                { "git.example ssh-rsa " B "\ngit.example ssh-ed25519 " A, "git.example", 22,
                  KNOWN_HOST_GOOD },
                { "# git.example ssh-ed25519 " A "\n\n", "git.example", 22, KNOWN_HOST_NONE },
                { "git.example ssh-ed25519", "git.example", 22, KNOWN_HOST_NONE },
                { "git.example ssh-ed25519 !!", "git.example", 22, KNOWN_HOST_OTHER_KEY },
                { "@cert-authority * ssh-ed25519 " A, "git.example", 22, KNOWN_HOST_NONE },
                { "* ssh-ed25519 " A "\n@revoked * ssh-ed25519 " A, "git.example", 22, KNOWN_HOST_REVOKED },
                { "|1|x|y ssh-ed25519 " A, "git.example", 22, KNOWN_HOST_NONE },
                { "", "git.example", 22, KNOWN_HOST_NONE },
        };

        for (size_t i = 0; i < ARRAY_LEN(cases); i++)
                if (check(cases[i].file, cases[i].host, cases[i].port, "key-a") != cases[i].want)
                        fail_msg("%zu: %s", i, cases[i].file);
}

static void hashed_names_are_matched(void **state)
{
        assert_int_equal(check(HASHED " ssh-ed25519 " A "\n", "git.example", 22, "key-a"), KNOWN_HOST_GOOD);
        assert_int_equal(check(HASHED " ssh-ed25519 " A "\n", "git.example", 22, "key-b"),
                         KNOWN_HOST_OTHER_KEY);
        assert_int_equal(check(HASHED " ssh-ed25519 " A "\n", "git.example", 2222, "key-a"), KNOWN_HOST_NONE);
}

static void the_kinds_of_a_hosts_keys_are_told(void **state)
{
        char kinds[KNOWN_HOSTS_KINDS_SIZE];

        known_hosts_kinds(SLICE("a ssh-rsa " A "\nb ssh-ed25519 " A "\na ecdsa-sha2-nistp256 " B "\n"), "a",
                          22, kinds);
        assert_string_equal(kinds, "ecdsa-sha2-nistp256,rsa-sha2-512,rsa-sha2-256,ssh-rsa");
        known_hosts_kinds(SLICE("a ssh-rsa " A), "b", 22, kinds);
        assert_string_equal(kinds, "");
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(names_are_matched_as_openssh_does),
                cmocka_unit_test(hashed_names_are_matched),
                cmocka_unit_test(the_kinds_of_a_hosts_keys_are_told),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
