/* The command line of the sidecar: spec/member-agent.md 5, spec/membership-webhooks-charts.md 9.2. */
#include "member-agent/refresh-token/options.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/base/text.h"

#define MOST 8

static int parse(const char *const *words, struct refresh_options *o, struct error *err)
{
        const char *argv[MOST + 2] = { "refresh-token" };
        const struct refresh_command *command = NULL;
        int argc = 1;

        for (size_t i = 0; i < MOST && words[i]; i++)
                argv[argc++] = words[i];
        TRY(refresh_command_take(&argc, argv, &command, err));
        TRY(flags_parse(command->flags, command->n_flags, argc, argv, o, err));
        return o->help ? 0 : refresh_options_check(o, command->provider, err);
}

static void a_secret_is_named_before_or_behind_the_word(void **state)
{
        static const char *const lines[][MOST] = {
                { "secret", "--name=a", "--namespace=b" },
                { "--file-path=/config/token", "secret", "--name", "a", "-namespace", "b" },
                { "--name", "a", "--namespace", "b", "secret" },
                { "--log-json", "secret", "--namespace=b", "--name=a" },
        };

        for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
                struct refresh_options o = { 0 };

                assert_int_equal(parse(lines[i], &o, NULL), 0);
                assert_string_equal(o.name, "a");
                assert_string_equal(o.ns, "b");
                assert_string_equal(o.file_path, "/config/token");
        }
}

static void azure_has_a_scope_of_its_own_by_default(void **state)
{
        static const char *const words[MOST] = { "azure", "--clientid=c", "--file-path=/t" };
        struct refresh_options o = { 0 };

        assert_int_equal(parse(words, &o, NULL), 0);
        assert_string_equal(o.client_id, "c");
        assert_string_equal(o.scope, "6dae42f8-4368-4678-94ff-3960e28e3630");
        assert_string_equal(o.file_path, "/t");
}

static void help_needs_nothing_else(void **state)
{
        static const char *const lines[][MOST] = { { "--help" },
                                                   { "secret", "--help" },
                                                   { "-help", "azure" } };

        for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
                struct refresh_options o = { 0 };

                assert_int_equal(parse(lines[i], &o, NULL), 0);
                assert_true(o.help);
        }
}

static void wrong_command_lines_are_refused_with_a_reason(void **state)
{
        static const struct {
                const char *words[MOST];
                const char *said;
        } lines[] = {
                { { NULL }, "secret or azure" },
                { { "--file-path=/t" }, "secret or azure" },
                { { "vault" }, "unknown command \"vault\"" },
                { { "secret" }, "--name" },
                { { "secret", "--name=a" }, "--namespace" },
                { { "secret", "--name=a", "--namespace=b", "--clientid=c" }, "clientid" },
                { { "secret", "--name=../a", "--namespace=b" }, "--name" },
                { { "secret", "--name=a", "--namespace=b c" }, "--namespace" },
                { { "secret", "azure", "--name=a" }, "unexpected argument" },
                { { "azure" }, "--clientid" },
                { { "azure", "--clientid=c", "--scope=" }, "--scope" },
                { { "azure", "--clientid=c", "--file-path=" }, "--file-path" },
                { { "azure", "--clientid" }, "needs an argument" },
        };

        for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
                struct refresh_options o = { 0 };
                struct error err = { 0 };

                assert_int_equal(parse(lines[i].words, &o, &err), ERR_INVALID);
                if (!strstr(err.text, lines[i].said))
                        fail_msg("line %zu: \"%s\"", i, err.text);
        }
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(a_secret_is_named_before_or_behind_the_word),
                cmocka_unit_test(azure_has_a_scope_of_its_own_by_default),
                cmocka_unit_test(help_needs_nothing_else),
                cmocka_unit_test(wrong_command_lines_are_refused_with_a_reason),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
