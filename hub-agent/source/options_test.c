#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "hub-agent/source/options.h"

static void addresses_are_told_or_derived(void **state)
{
        static const struct {
                const char *told, *host, *machine, *address;
        } table[] = {
                { NULL, "", "pod", "http://localhost:9090" },
                { "", "0.0.0.0", "pod", "http://pod:9090" },
                { NULL, "0.0.0.0", NULL, "http://0.0.0.0:9090" },
                { NULL, "::1", NULL, "http://[::1]:9090" },
                { "hub.fleet-system.svc:80", "", "pod", "http://hub.fleet-system.svc:80" },
                { "https://files.example/", "", "pod", "https://files.example" },
        };

        for (size_t i = 0; i < ARRAY_LEN(table); i++) {
                AUTO_ARENA struct arena arena = ARENA_INIT;

                assert_string_equal(
                        source_address(&arena, table[i].told, table[i].host, 9090, table[i].machine),
                        table[i].address);
        }
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(addresses_are_told_or_derived),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
