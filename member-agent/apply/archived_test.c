/* Which manifests an archived set holds its state against: of kind, group and both states each differs alone.
 */
#include "member-agent/apply/archived.h"

#include "member-agent/apply/testing.h"

#define SET(version, kind, state)                                                                            \
        "{'apiVersion':'" version "','kind':'" kind "','spec':{'lifecycleState':'" state "'}}"
#define OLM "olm.operatorframework.io/v1"

static void only_a_set_that_was_archived_and_is_to_be_active_stays_as_it_is(void **state)
{
        static const struct {
                const char *manifest, *live;
                bool applies;
        } lines[] = {
                { SET(OLM, "ClusterObjectSet", "Active"), SET(OLM, "ClusterObjectSet", "Archived"), true },
                { SET(OLM, "ClusterObjectSet", "Active"), SET(OLM, "ClusterObjectSet", "Active"), false },
                { SET(OLM, "ClusterObjectSet", "Archived"), SET(OLM, "ClusterObjectSet", "Archived"), false },
                { SET(OLM, "ClusterExtension", "Active"), SET(OLM, "ClusterExtension", "Archived"), false },
                { SET("v1", "ClusterObjectSet", "Active"), SET("v1", "ClusterObjectSet", "Archived"), false },
                { "{'kind':'ClusterObjectSet','spec':{'lifecycleState':'Active'}}",
                  SET(OLM, "ClusterObjectSet", "Archived"), false },
                { SET(OLM, "ClusterObjectSet", "Active"), "{}", false },
        };

        for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
                AUTO_JSON json_t *manifest = quoted(lines[i].manifest), *was = quoted(lines[i].manifest);
                AUTO_JSON json_t *live = quoted(lines[i].live);

                assert_int_equal(archived_applies(manifest, live), lines[i].applies);
                assert_int_equal(archived_settle(manifest, live, NULL), 0);
                if (lines[i].applies)
                        assert_string_equal(doc_get_string(manifest, "spec.lifecycleState"), "Archived");
                else
                        assert_true(json_equal(manifest, was));
        }
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(only_a_set_that_was_archived_and_is_to_be_active_stays_as_it_is),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
