/* Whose an owner reference is: each of its fields differs alone. */
#include "member-agent/object-set/reference.h"

#include "member-agent/object-set/testing.h"

#define REFERENCE(version, kind, name, uid)                                                                  \
        "{'apiVersion':'" version "','kind':'" kind "','name':'" name "','uid':'" uid "'}"

static void a_reference_is_of_a_set_by_group_and_kind_and_of_this_one_by_name_and_uid(void **state)
{
        static const struct set_identity us = { "app-2", "u2", 2, "app", NULL };
        static const struct {
                const char *reference;
                bool of_a_set, ours;
        } lines[] = {
                { REFERENCE("olm.operatorframework.io/v1", "ClusterObjectSet", "app-2", "u2"), true, true },
                { REFERENCE("olm.operatorframework.io/v9", "ClusterObjectSet", "app-2", "u2"), true, true },
                { REFERENCE("olm.operatorframework.io/v1", "ClusterObjectSet", "app-1", "u2"), true, false },
                { REFERENCE("olm.operatorframework.io/v1", "ClusterObjectSet", "app-2", "u1"), true, false },
                { REFERENCE("olm.operatorframework.io/v1", "ClusterExtension", "app-2", "u2"), false, false },
                { REFERENCE("operatorframework.io/v1", "ClusterObjectSet", "app-2", "u2"), false, false },
                { REFERENCE("v1", "ClusterObjectSet", "app-2", "u2"), false, false },
                { "{'kind':'ClusterObjectSet','name':'app-2','uid':'u2'}", false, false },
        };

        for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
                AUTO_JSON json_t *reference = quoted(lines[i].reference);
                AUTO_JSON json_t *live = json_pack("{s:{s:[O]}}", "metadata", "ownerReferences", reference);

                assert_int_equal(reference_is_of_a_set(reference), lines[i].of_a_set);
                assert_int_equal(reference_is_of(reference, &us), lines[i].ours);
                assert_ptr_equal(reference_find(live, &us), lines[i].ours ? reference : NULL);
        }
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(a_reference_is_of_a_set_by_group_and_kind_and_of_this_one_by_name_and_uid),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
