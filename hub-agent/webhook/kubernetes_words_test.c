#include "hub-agent/webhook/webhook_test.h"

#define PART_63 "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define DOMAIN_253                                                                                           \
        PART_63 "." PART_63 "." PART_63 "."                                                                  \
                "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"

typedef size_t (*faults_fn)(const char *s, const char *ret[NAME_FAULTS_MAX]);

struct row {
        const char *name;
        const char *first, *second; /* parts of what is wrong; NULL: nothing (more) is */
};

static void check(faults_fn faults_of, const struct row *rows, size_t n)
{
        for (size_t i = 0; i < n; i++) {
                const char *faults[NAME_FAULTS_MAX], *wanted[] = { rows[i].first, rows[i].second };
                size_t n_wanted = !!wanted[0] + !!wanted[1], got = faults_of(rows[i].name, faults);

                if (got != n_wanted)
                        fail_msg("\"%s\": %zu faults, the first: %s", rows[i].name, got,
                                 got ? faults[0] : "");
                for (size_t k = 0; k < got; k++)
                        if (!strstr(faults[k], wanted[k]))
                                fail_msg("\"%s\": wanted \"%s\" in \"%s\"", rows[i].name, wanted[k],
                                         faults[k]);
        }
}

#define CHARACTERS                                                                                           \
        "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end"

static void qualified_names(void **state)
{
        static const struct row rows[] = {
                { "a", NULL },
                { "Z", NULL },
                { "0", NULL },
                { "9", NULL },
                { "a-_.z", NULL },
                { "AZaz09", NULL },
                { PART_63, NULL },
                { "example.com/MyName", NULL },
                { DOMAIN_253 "/x", NULL },
                { "", "name part must be non-empty", CHARACTERS },
                { "a/", "name part must be non-empty", CHARACTERS },
                { PART_63 "a", "name part must be no more than 63 bytes" },
                { PART_63 "-", "name part must be no more than 63 bytes", CHARACTERS },
                { "-a", CHARACTERS },
                { "a-", CHARACTERS },
                { "a b", CHARACTERS },
                { "a@b", CHARACTERS },
                { "a[b", CHARACTERS },
                { "a`b", CHARACTERS },
                { "a{b", CHARACTERS },
                { "a:b", CHARACTERS },
                { "\xc3\xa9", CHARACTERS },
                { "/a", "prefix part must be non-empty" },
                { "A/a", "prefix part a lowercase RFC 1123 subdomain must consist" },
                { DOMAIN_253 "a/a", "prefix part must be no more than 253 characters" },
                { "A/-", "prefix part a lowercase RFC 1123 subdomain must consist", CHARACTERS },
                { "a/b/c",
                  "a qualified name must consist of alphanumeric characters, '-', '_' or '.', and must" },
                { "a//", "with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')" },
        };

        check(qualified_name_faults, rows, ARRAY_LEN(rows));
}

#define SUBDOMAIN                                                                                            \
        "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.'"

static void subdomains(void **state)
{
        static const struct row rows[] = {
                { "a", NULL },
                { "z0.9a", NULL },
                { "a--b", NULL },
                { PART_63 "a", NULL }, /* only the whole has a maximum */
                { DOMAIN_253, NULL },
                { DOMAIN_253 "a", "must be no more than 253 characters" },
                { DOMAIN_253 "-", "must be no more than 253 characters", SUBDOMAIN },
                { "", SUBDOMAIN },
                { "a..b", SUBDOMAIN },
                { ".a", SUBDOMAIN },
                { "a.", SUBDOMAIN },
                { "-a", SUBDOMAIN },
                { "a-", SUBDOMAIN },
                { "a.-b", SUBDOMAIN },
                { "a-.b", SUBDOMAIN },
                { "A", SUBDOMAIN },
                { "a_b", SUBDOMAIN },
                { "a`", SUBDOMAIN },
                { "a{", SUBDOMAIN },
                { "a/", SUBDOMAIN },
                { "a:", SUBDOMAIN },
        };

        check(subdomain_faults, rows, ARRAY_LEN(rows));
}

static void label_values(void **state)
{
        static const struct row rows[] = {
                { "", NULL },
                { "a", NULL },
                { "Z_9", NULL },
                { PART_63, NULL },
                { PART_63 "a", "must be no more than 63 bytes" },
                { PART_63 ".", "must be no more than 63 bytes", "a valid label must be an empty string or" },
                { "-", "a valid label must be an empty string or" },
                { "a/b", "a valid label must be an empty string or" },
        };

        check(label_value_faults, rows, ARRAY_LEN(rows));
}

/* Each fault of a requirement alone, and several in the order of its parts. */
static void requirements_of_label_selectors(void **state)
{
        static const struct {
                const char *key, *operator, * values[2],
                        *says[2]; /* says: parts of what is wrong, none: nothing */
        } rows[] = {
                { "a", "In", { "x" }, { 0 } },
                { "a", "NotIn", { "x", "y" }, { 0 } },
                { "a", "Exists", { 0 }, { 0 } },
                { "a", "DoesNotExist", { 0 }, { 0 } },
                { "a", "Has", { "x" }, { "\"Has\" is not a valid label selector operator" } },
                { "-", "Exists", { 0 }, { "key: Invalid value: \"-\": " } },
                { "a", "In", { 0 }, { "for 'in', 'notin' operators, values set can't be empty" } },
                { "a", "NotIn", { 0 }, { "for 'in', 'notin' operators, values set can't be empty" } },
                { "a", "Exists", { "x" }, { "values set must be empty for exists and does not exist" } },
                { "a", "DoesNotExist", { "x" }, { "values set must be empty for exists and does not" } },
                { "a", "In", { "x", "-" }, { "values[1][a]: Invalid value: \"-\": a valid label must be" } },
                { "-",
                  "In",
                  { "-" },
                  { "key: Invalid value: \"-\": ", "values[0][-]: Invalid value: \"-\": " } },
        };

        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
                AUTO_ARENA struct arena arena = ARENA_INIT;
                struct label_requirement r = { .key = rows[i].key,
                                               .operator= rows[i].operator,
                                               .values = { (const char **)(uintptr_t)rows[i].values,
                                                           !!rows[i].values[0] + !!rows[i].values[1],
                                                           true } };
                struct label_selector s = { .match_expressions = { &r, 1, true } };
                struct faults f = { .arena = &arena };
                const char *why = or_empty(label_selector_fault(&s, &f));

                if (!rows[i].says[0] != !*why)
                        fail_msg("row %zu: %s", i, why);
                for (size_t k = 0; k < 2 && rows[i].says[k]; k++)
                        if (!strstr(why, rows[i].says[k]))
                                fail_msg("row %zu: %s", i, why);
        }
}

int main(void)
{
        static const struct CMUnitTest tests[] = {
                cmocka_unit_test(qualified_names),
                cmocka_unit_test(subdomains),
                cmocka_unit_test(label_values),
                cmocka_unit_test(requirements_of_label_selectors),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
