/* ResourceSets and providers of a wish, as objects, and what they are to make. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/base/memory.h"
#include "e2e/simulation/wish_table.h"

static void names_tell_what_they_name(void **state)
{
        unsigned table, made;
        char name[WISH_TABLE_NAME];

        for (unsigned i = 0; i < WISH_MADE; i++) {
                assert_true(wish_made_of(wish_made_name(3, i, name), &table, &made));
                assert_int_equal(table, 3);
                assert_int_equal(made, i);
        }
        assert_string_equal(wish_made_name(2, 0, name), "t2-a");
        assert_string_equal(wish_made_name(2, WISH_TENANTS + 1, name), "t2-a-b");
        assert_false(wish_made_of("t2-x", &table, &made));
        assert_false(wish_made_of("t9-a", &table, &made));
}

static void objects_have_ids_as_in_inventories(void **state)
{
        char id[128];

        wish_part_id(0, 1, PART_SETTINGS, id);
        assert_string_equal(id, "t0-b_settings__ConfigMap");
        wish_part_id(0, 1, PART_NAMESPACE, id);
        assert_string_equal(id, "_t0-b__Namespace");
        wish_part_id(0, 1, PART_PLACEMENT, id);
        assert_string_equal(id, "_t0-b_placement.kubernetes-fleet.io_ClusterResourcePlacement");
        wish_part_id(2, 1, PART_SETTINGS, id);
        assert_string_equal(id, "desk_t2-b__ConfigMap");
}

/* Table 2 has a and b itself; source-1, which it names, gives b, and source-3, which is in the pool, c. */
static struct wish_desk example(struct wish_inputs exports[WISH_SOURCES])
{
        struct wish_desk d = { .there = true };

        memset(exports, 0, WISH_SOURCES * sizeof(exports[0]));
        d.tables[2] = (struct wish_table){ .exists = true, .own = { { 1, 2 } }, .named = 1u << 1 };
        d.sources[1].exists = d.sources[3].exists = d.sources[3].pooled = true;
        exports[1] = (struct wish_inputs){ { 0, 7 } };
        exports[3] = (struct wish_inputs){ { 0, 0, 9 } };
        return d;
}

static void of_two_inputs_of_a_tenant_the_first_counts(void **state)
{
        struct wish_inputs exports[WISH_SOURCES];
        struct wish_desk d = example(exports);
        struct wish_made made[WISH_MADE];

        wish_table_makes(&d, 2, exports, made);
        assert_true(made[0].wanted && made[1].wanted && !made[2].wanted && !made[3].wanted);
        assert_string_equal(made[1].color, "c2");
        d.tables[2].own.color[1] = 0;
        d.tables[2].pool = true;
        wish_table_makes(&d, 2, exports, made);
        assert_string_equal(made[1].color, "c7");
        assert_string_equal(made[2].color, "c9");
        d.sources[3].pooled = false;
        d.tables[2].leaves_out = true;
        wish_table_makes(&d, 2, exports, made);
        assert_true(!made[0].wanted && made[1].wanted && !made[2].wanted);
}

static void permuted_each_is_paired_with_each(void **state)
{
        struct wish_inputs exports[WISH_SOURCES];
        struct wish_desk d = example(exports);
        struct wish_made made[WISH_MADE];
        unsigned n = 0;

        d.tables[2].permutes = true;
        exports[1].color[3] = 8;
        wish_table_makes(&d, 2, exports, made);
        for (unsigned i = 0; i < WISH_MADE; i++)
                n += made[i].wanted;
        assert_int_equal(n, 4);
        assert_string_equal(made[WISH_TENANTS + WISH_TENANTS * 1 + 3].color, "c2-8");
}

static void a_template_is_broken_by_what_it_names_and_by_no_inputs(void **state)
{
        struct wish_inputs exports[WISH_SOURCES];
        struct wish_desk d = example(exports);
        struct wish_table *t = &d.tables[2];

        assert_false(wish_table_is_broken(&d, 2, exports));
        t->spoiled = true;
        assert_true(wish_table_is_broken(&d, 2, exports));
        t->own = (struct wish_inputs){ { 0 } };
        assert_true(wish_table_is_broken(&d, 2, exports));
        exports[1].color[1] = 0; /* nothing is filled in */
        assert_false(wish_table_is_broken(&d, 2, exports));
        t->spoiled = false;
        t->named = 0;
        assert_true(wish_table_is_broken(&d, 2, exports));
}

static void exports_are_read_back(void **state)
{
        const struct wish_inputs in = { { 4, 0, 5 } };
        AUTO_JSON json_t *answer = wish_service_answer(&in),
                         *doc = json_pack("{s:{s:O}}", "status", "exportedInputs",
                                          json_object_get(answer, "inputs"));
        struct wish_inputs out;

        assert_string_equal(doc_get_string(json_array_get(json_object_get(answer, "inputs"), 1), "id"), "c");
        assert_false(wish_source_exports(doc, &out));
        doc_set_string(doc, "status.lastExportedRevision", "sha256:1");
        assert_true(wish_source_exports(doc, &out));
        assert_memory_equal(&in, &out, sizeof(in));
        json_array_append_new(doc_get_array(doc, "status.exportedInputs"), json_pack("{s:s}", "tenant", "z"));
        assert_false(wish_source_exports(doc, &out));
}

static void what_is_asked_stands_in_the_objects(void **state)
{
        struct wish_inputs exports[WISH_SOURCES];
        struct wish_desk d = example(exports);

        d.tables[0] = d.tables[2];
        d.tables[0].suspended = d.tables[0].kept = true;
        d.tables[2].written = true;
        d.tables[2].after = 1;
        AUTO_JSON json_t *placed = wish_table_doc(&d, 0), *plain = wish_table_doc(&d, 2),
                         *source = wish_source_doc(&d, 3);
        static const char *const disabled[] = { "metadata", "annotations",
                                                "fluxcd.controlplane.io/reconcile" };

        assert_int_equal(json_array_size(doc_get_array(placed, "spec.resources")), 3);
        assert_string_equal(json_string_value(doc_get_keys(placed, disabled, 3)), "disabled");
        assert_null(doc_get(plain, "spec.resources"));
        assert_non_null(
                strstr(doc_get_string(plain, "spec.resourcesTemplate"), "name: t2-<< inputs.tenant >>"));
        assert_string_equal(doc_get_string(json_array_get(doc_get_array(plain, "spec.dependsOn"), 0), "name"),
                            "table-0");
        assert_string_equal(doc_get_string(source, "spec.url"), "https://source-3.inputs.test/inputs");
        assert_string_equal(doc_get_string(source, "metadata.labels.pool"), "yes");
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(names_tell_what_they_name),
                cmocka_unit_test(objects_have_ids_as_in_inventories),
                cmocka_unit_test(of_two_inputs_of_a_tenant_the_first_counts),
                cmocka_unit_test(permuted_each_is_paired_with_each),
                cmocka_unit_test(a_template_is_broken_by_what_it_names_and_by_no_inputs),
                cmocka_unit_test(exports_are_read_back),
                cmocka_unit_test(what_is_asked_stands_in_the_objects),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
