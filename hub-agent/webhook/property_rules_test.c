#include "hub-agent/webhook/webhook_test.h"

#define CAPACITY "resources.kubernetes-fleet.io/"
#define IN "inconsistent requirements on property p: "

/* Requirements as "name op value[,value...]", separated by ';'. */
static const char *faults_of(struct arena *arena, const char *text)
{
        struct property_requirement at[8] = { 0 };
        struct property_selector s = { .match_expressions = { .at = at } };
        struct faults f = { .arena = arena };
        char *all = arena_strdup(arena, text), *one, *save = NULL;

        for (one = strtok_r(all, ";", &save); one; one = strtok_r(NULL, ";", &save)) {
                struct property_requirement *r = &at[s.match_expressions.n++];
                char *words = NULL, *values, *more = NULL;

                r->name = strtok_r(one, " ", &words);
                r->operator= strtok_r(NULL, " ", &words);
                r->values.at = ARENA_NEW_ARRAY(arena, const char *, 4);
                values = strtok_r(NULL, " ", &words);
                for (char *v = strtok_r(values, ",", &more); v; v = strtok_r(NULL, ",", &more))
                        r->values.at[r->values.n++] = v;
        }
        property_selector_faults(&s, &f);
        assert_false(f.no_memory);
        return f.n ? faults_text(&f) : "";
}

static void requirements_must_be_well_formed(void **state)
{
        static const struct {
                const char *text, *says;
        } rows[] = {
                { "p Ge 1", "" },
                { "kubernetes-fleet.io/node-count Ge 1", "" },
                { CAPACITY "allocatable-cpu Ge 1Gi", "" },
                { CAPACITY "available-nvidia.com Ge 1", "" },
                { "a/b/c Ge 1", "" },
                { "p In 1", "invalid requirement on property p: unsupported operator In" },
                { "p Ge 1,2",
                  "invalid requirement on property p: operator Ge requires exactly one value, got 2" },
                { "p Ge much", "invalid requirement on property p: value \"much\" is not a valid "
                               "resource.Quantity: " },
                { CAPACITY "cpu Ge 1",
                  "invalid property name " CAPACITY "cpu: invalid resource property name " CAPACITY
                  "cpu, expected format is [PREFIX]/[CAPACITY_TYPE]-[RESOURCE_NAME]" },
                { CAPACITY "free-cpu Ge 1",
                  "invalid property name " CAPACITY
                  "free-cpu: invalid capacity type in resource property name " CAPACITY
                  "free-cpu, supported values are [allocatable available total]" },
                { CAPACITY "total-c~u Ge 1", "invalid property name " CAPACITY "total-c~u: " },
                { "_x Ge 1", "invalid property name _x: property name _x is not valid: name part must" },
                { "_x/b Ge 1",
                  "invalid property name _x/b: property name first segment _x is not valid: it is neither a "
                  "valid DNS subdomain (a lowercase RFC 1123 subdomain must" },
                { "_x/b Ge 1", "nor a valid qualified name (name part must consist" },
                { "a/_x Ge 1",
                  "invalid property name a/_x: property name segment _x is not valid: name part" },
                { "a//b Ge 1", "property name segment  is not valid: name part must be non-empty" },
        };

        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
                AUTO_ARENA struct arena arena = ARENA_INIT;
                const char *got = faults_of(&arena, rows[i].text);

                if (*rows[i].says ? !strstr(got, rows[i].says) : *got)
                        fail_msg("%s: wanted \"%s\", got \"%s\"", rows[i].text, rows[i].says, got);
        }
}

/* spec/membership-webhooks-charts.md checklist 27 */
static void requirements_on_a_property_must_leave_a_value(void **state)
{
        static const struct {
                const char *text, *says;
        } rows[] = {
                { "p Gt 10;p Lt 5", IN "lower bound (10) and upper bound (5) exclude all values" },
                { "p Lt 5;p Gt 10", IN "lower bound (10) and upper bound (5) exclude all values" },
                { "p Ge 10;p Le 10", "" },
                { "p Ge 10;p Lt 10", IN "lower bound (10) and upper bound (10) exclude all values" },
                { "p Gt 10;p Le 10", IN "lower bound (10) and upper bound (10) exclude all values" },
                { "p Ge 10;p Gt 10;p Le 10", IN "lower bound (10) and upper bound (10) exclude all values" },
                { "p Ge 1;p Ge 9;p Le 5", IN "lower bound (9) and upper bound (5) exclude all values" },
                { "p Ge 1;p Le 9;p Le 5", "" },
                { "p Eq 1000m;p Ne 1", IN "conflicting Eq and Ne on same value 1000m" },
                { "p Ne 1;p Eq 1", IN "conflicting Eq and Ne on same value 1" },
                { "p Eq 1Ki;p Eq 1024", "" },
                { "p Eq 1;p Eq 2", IN "conflicting Eq values 1 and 2" },
                { "p Eq 1;p Ne 2;p Ne 3", "" },
                { "p Eq 3;p Ge 4", IN "eq value 3 violates lower bound 4" },
                { "p Eq 4;p Gt 4", IN "eq value 4 violates lower bound 4" },
                { "p Eq 4;p Ge 4;p Le 4", "" },
                { "p Eq 5;p Le 4", IN "eq value 5 violates upper bound 4" },
                { "p Eq 4;p Lt 4", IN "eq value 4 violates upper bound 4" },
                { "p Gt 10;q Lt 5", "" },
                { "p Gt 10;p Lt much", "invalid requirement on property p: value \"much\"" },
        };

        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
                AUTO_ARENA struct arena arena = ARENA_INIT;
                const char *got = faults_of(&arena, rows[i].text);

                if (*rows[i].says ? !strstr(got, rows[i].says) : *got)
                        fail_msg("%s: wanted \"%s\", got \"%s\"", rows[i].text, rows[i].says, got);
        }
}

/* One fault is told of a property, and of each property. */
static void each_property_is_told_of_once(void **state)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;

        assert_string_equal(faults_of(&arena, "p Eq 1;p Eq 2;p Ge 7;q Gt 3;q Lt 3"),
                            "[inconsistent requirements on property p: conflicting Eq values 1 and 2, "
                            "inconsistent requirements on property q: lower bound (3) and upper bound (3) "
                            "exclude all values]");
}

int main(void)
{
        static const struct CMUnitTest tests[] = {
                cmocka_unit_test(requirements_must_be_well_formed),
                cmocka_unit_test(requirements_on_a_property_must_leave_a_value),
                cmocka_unit_test(each_property_is_told_of_once),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
