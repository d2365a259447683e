/* spec/cluster-object-set.md 1.6, 4.2, 7.1, 10.4, 14.1 */
#include "member-agent/object-set/set.h"

#include "member-agent/object-set/testing.h"

#define SET(meta, state)                                                                                     \
        "{'metadata':{'uid':'u'," meta                                                                       \
        "},'spec':{'revision':3,'collisionProtection':'None','lifecycleState':'" state "'}}"
#define OWNER(name) "'labels':{'olm.operatorframework.io/owner-name':'" name "'}"
#define OWNER_OF_KIND(name, kind)                                                                            \
        "'labels':{'olm.operatorframework.io/owner-name':'" name                                             \
        "','olm.operatorframework.io/owner-kind':'" kind "'}"

static void a_set_is_known_by_name_uid_revision_and_owner(void **state)
{
        struct arena arena AUTO_ARENA = ARENA_INIT;
        struct set_identity i;

        set_identify(set_from(&arena, SET("'name':'a'," OWNER_OF_KIND("app", "K"), "Active")), &i);
        assert_string_equal(i.name, "a");
        assert_string_equal(i.uid, "u");
        assert_int_equal(i.revision, 3);
        assert_string_equal(i.owner, "app");
        assert_string_equal(i.owner_kind, "K");
        set_identify(set_from(&arena, "{'metadata':{'name':'a'}}"), &i);
        assert_null(i.owner);
}

/* spec/cluster-object-set.md checklist 69 */
static void sets_of_one_owner_that_are_active_are_siblings(void **state)
{
        static const struct {
                const char *other;
                bool siblings;
        } lines[] = {
                { SET("'name':'b'," OWNER("app"), "Active"), true },
                { SET("'name':'a'," OWNER("app"), "Active"), false },
                { SET("'name':'b'," OWNER("app2"), "Active"), false },
                { SET("'name':'b'", "Active"), false },
                { SET("'name':'b'," OWNER("app"), "Archived"), false },
                { SET("'name':'b','deletionTimestamp':'2026-01-01T00:00:00Z'," OWNER("app"), "Active"),
                  false },
                { SET("'name':'b'," OWNER_OF_KIND("app", "ClusterExtension"), "Active"), true },
                { SET("'name':'b'," OWNER_OF_KIND("app", "Other"), "Active"), false },
                { "{'metadata':{'name':'b'," OWNER("app") "}}", false },
        };
        struct arena arena AUTO_ARENA = ARENA_INIT;
        const struct cluster_object_set *plain = set_from(&arena, SET("'name':'a'," OWNER("app"), "Active")),
                                        *extension = set_from(&arena, SET("'name':'a'," OWNER_OF_KIND(
                                                                                  "app", "ClusterExtension"),
                                                                          "Active"));

        for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
                const struct cluster_object_set *other = set_from(&arena, lines[i].other);

                assert_int_equal(set_are_siblings(extension, other), lines[i].siblings);
                assert_int_equal(set_are_siblings(other, extension), lines[i].siblings);
        }
        assert_true(set_are_siblings(
                plain, set_from(&arena, SET("'name':'b'," OWNER_OF_KIND("app", "Other"), "Active"))));
        assert_false(set_are_siblings(set_from(&arena, SET("'name':'a'", "Active")),
                                      set_from(&arena, SET("'name':'b'", "Active"))));
}

#define VERSION(map, value) "'" map "':{'olm.operatorframework.io/bundle-version':'" value "'}"

/* spec/cluster-object-set.md checklist 89 */
static void messages_name_the_bundle_version_or_else_the_revision(void **state)
{
        static const struct {
                const char *set, *words;
        } lines[] = {
                { SET("'name':'a'," VERSION("annotations", "1.2.3") "," VERSION("labels", "1.2"), "Active"),
                  "1.2.3" },
                { SET("'name':'a'," VERSION("annotations", "") "," VERSION("labels", "1.2"), "Active"),
                  "1.2" },
                { SET("'name':'a'," VERSION("labels", "1.2"), "Active"), "1.2" },
                { SET("'name':'a'", "Active"), "3" },
        };
        struct arena arena AUTO_ARENA = ARENA_INIT;

        for (size_t i = 0; i < ARRAY_LEN(lines); i++)
                assert_string_equal(set_version_words(set_from(&arena, lines[i].set), &arena),
                                    lines[i].words);
}

static void archived_is_what_its_spec_says(void **state)
{
        struct arena arena AUTO_ARENA = ARENA_INIT;

        assert_true(set_is_archived(set_from(&arena, SET("'name':'a'", "Archived"))));
        assert_false(set_is_archived(set_from(&arena, SET("'name':'a'", "Active"))));
        assert_false(set_is_archived(set_from(&arena, "{'metadata':{'name':'a'}}")));
}

/* spec/cluster-object-set.md checklist 59 */
static void objects_are_named_in_two_ways(void **state)
{
        static const struct {
                struct set_object object;
                const char *identity, *title;
        } lines[] = {
                { { .group = "", .version = "v1", .kind = "ConfigMap", .ns = "ns", .name = "cm" },
                  "/v1, Kind=ConfigMap ns/cm",
                  "ConfigMap.v1 ns/cm" },
                { { .group = "apps", .version = "v1", .kind = "Deployment", .ns = "ns", .name = "d" },
                  "apps/v1, Kind=Deployment ns/d",
                  "Deployment.apps/v1 ns/d" },
                { { .group = "apiextensions.k8s.io",
                    .version = "v1",
                    .kind = "CustomResourceDefinition",
                    .ns = "",
                    .name = "widgets.example.com" },
                  "apiextensions.k8s.io/v1, Kind=CustomResourceDefinition /widgets.example.com",
                  "CustomResourceDefinition.apiextensions.k8s.io/v1 /widgets.example.com" },
        };
        struct arena arena AUTO_ARENA = ARENA_INIT;

        for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
                assert_string_equal(set_object_identity(&lines[i].object, &arena), lines[i].identity);
                assert_string_equal(set_object_title(&lines[i].object, &arena), lines[i].title);
        }
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(a_set_is_known_by_name_uid_revision_and_owner),
                cmocka_unit_test(sets_of_one_owner_that_are_active_are_siblings),
                cmocka_unit_test(messages_name_the_bundle_version_or_else_the_revision),
                cmocka_unit_test(archived_is_what_its_spec_says),
                cmocka_unit_test(objects_are_named_in_two_ways),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
