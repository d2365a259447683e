/* Custom resources: served from their CRD, in several versions, validated, pruned, and gone with it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "e2e/devcluster/rig.h"

#define CRDS "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
#define V1 "/apis/example.com/v1/namespaces/default/widgets"
#define BETA "/apis/example.com/v1beta1/namespaces/default/widgets"

static const char crd[] =
        "apiVersion: apiextensions.k8s.io/v1\n"
        "kind: CustomResourceDefinition\n"
        "metadata: {name: widgets.example.com}\n"
        "spec:\n"
        "  group: example.com\n"
        "  names: {plural: widgets, kind: Widget, shortNames: [wd]}\n"
        "  scope: Namespaced\n"
        "  versions:\n"
        "  - name: v1beta1\n"
        "    served: true\n"
        "    storage: true\n"
        "    subresources: {status: {}, scale: {specReplicasPath: .spec.size, statusReplicasPath: "
        ".status.size}}\n"
        "    additionalPrinterColumns:\n"
        "    - {name: Size, type: integer, jsonPath: .spec.size}\n"
        "    - {name: Ready, type: string, jsonPath: '.status.conditions[?(@.type==\"Ready\")].status'}\n"
        "    - {name: Age, type: date, jsonPath: .metadata.creationTimestamp}\n"
        "    schema:\n"
        "      openAPIV3Schema:\n"
        "        type: object\n"
        "        required: [spec]\n"
        "        properties:\n"
        "          spec:\n"
        "            type: object\n"
        "            x-kubernetes-validations: [{rule: \"!has(self.beta) || self.beta != 'bad'\", message: "
        "beta is bad}]\n"
        "            properties: {size: {type: integer, minimum: 1, default: 3}, beta: {type: string}}\n"
        "          status: {type: object, x-kubernetes-preserve-unknown-fields: true}\n"
        "  - name: v1\n"
        "    served: true\n"
        "    storage: false\n"
        "    subresources: {status: {}}\n"
        "    schema:\n"
        "      openAPIV3Schema:\n"
        "        type: object\n"
        "        properties:\n"
        "          spec: {type: object, properties: {size: {type: integer}}}\n"
        "          status: {type: object, x-kubernetes-preserve-unknown-fields: true}\n";

static const char widget[] =
        "{\"apiVersion\":\"example.com/"
        "v1beta1\",\"kind\":\"Widget\",\"metadata\":{\"name\":\"w\"},\"spec\":{\"beta\":\"b\","
        "\"odd\":1}}";

static void install(struct rig *r)
{
        assert_int_equal(rig_call(r, "POST", CRDS, "application/yaml", crd), 201);
}

RIG_TEST(a_crd_is_established_and_served, {
        assert_int_equal(rig_get(r, V1), 404);
        install(r);
        assert_string_equal(rig_string(r, "status.acceptedNames.singular"), "widget");
        assert_string_equal(
                json_string_value(json_array_get(doc_get_array(r->answer, "status.storedVersions"), 0)),
                "v1beta1");
        assert_int_equal(json_array_size(doc_get_array(r->answer, "status.conditions")), 2);
        assert_int_equal(rig_get(r, V1), 200);
        assert_string_equal(rig_string(r, "kind"), "WidgetList");
        assert_int_equal(rig_get(r, "/apis/example.com"), 200);
        assert_string_equal(rig_string(r, "preferredVersion.version"), "v1");
        assert_int_equal(rig_get(r, "/openapi/v3/apis/example.com/v1beta1"), 200);
})

RIG_TEST(objects_are_defaulted_pruned_and_validated, {
        install(r);
        assert_int_equal(rig_post(r, BETA, widget), 201);
        assert_int_equal(doc_get_int(r->answer, "spec.size", 0), 3);
        assert_null(doc_get(r->answer, "spec.odd"));
        assert_int_equal(rig_merge(r, BETA "/w", "{\"spec\":{\"size\":0}}"), 422);
        assert_string_equal(
                rig_string(r, "message"),
                "Widget.example.com \"w\" is invalid: spec.size: Invalid value: 0: spec.size in body "
                "should be greater than or equal to 1");
        assert_int_equal(rig_merge(r, BETA "/w", "{\"spec\":{\"beta\":\"bad\"}}"), 422);
        assert_non_null(strstr(rig_string(r, "message"), "beta is bad"));
        assert_int_equal(rig_merge(r, BETA "/w", "{\"spec\":{\"beta\":7}}"), 422);
        assert_int_equal(rig_put(r, BETA "/w", widget), 422);
        assert_non_null(
                strstr(rig_string(r, "message"),
                       "metadata.resourceVersion: Invalid value: 0: must be specified for an update"));
        assert_int_equal(rig_call(r, "PATCH", BETA "/w", "application/strategic-merge-patch+json", "{}"),
                         415);
})

RIG_TEST(a_version_shows_only_its_own_fields_and_writing_through_it_drops_others, {
        install(r);
        assert_int_equal(rig_post(r, BETA, widget), 201);
        assert_int_equal(rig_get(r, V1 "/w"), 200);
        assert_string_equal(rig_string(r, "apiVersion"), "example.com/v1");
        assert_null(doc_get(r->answer, "spec.beta"));
        assert_int_equal(rig_get(r, BETA "/w"), 200);
        assert_string_equal(rig_string(r, "spec.beta"), "b");
        assert_int_equal(rig_merge(r, V1 "/w", "{\"spec\":{\"size\":8}}"), 200);
        assert_int_equal(rig_get(r, BETA "/w"), 200);
        assert_null(doc_get(r->answer, "spec.beta"));
        assert_int_equal(doc_get_int(r->answer, "spec.size", 0), 8);
        assert_string_equal(rig_string(r, "apiVersion"), "example.com/v1beta1");
})

RIG_TEST(status_and_scale_are_subresources, {
        install(r);
        assert_int_equal(rig_post(r, BETA, widget), 201);
        assert_int_equal(rig_merge(r, BETA "/w", "{\"status\":{\"size\":3}}"), 200);
        assert_null(doc_get(r->answer, "status"));
        assert_int_equal(rig_merge(r, BETA "/w/status",
                                   "{\"metadata\":{\"labels\":{\"a\":\"b\"}},\"status\":{\"size\":2,"
                                   "\"conditions\":[{\"type\":\"Ready\","
                                   "\"status\":\"True\"}]}}"),
                         200);
        assert_null(doc_get(r->answer, "metadata.labels"));
        assert_int_equal(doc_get_int(r->answer, "metadata.generation", 0), 1);
        assert_int_equal(rig_merge(r, BETA "/w/scale", "{\"spec\":{\"replicas\":6}}"), 200);
        assert_int_equal(doc_get_int(r->answer, "status.replicas", 0), 2);
        assert_int_equal(rig_get(r, V1 "/w/scale"), 404);
        assert_int_equal(rig_get_as(r, BETA, "application/json;as=Table;v=v1;g=meta.k8s.io"), 200);
        const json_t *cells = doc_get_array(json_array_get(doc_get_array(r->answer, "rows"), 0), "cells");
        assert_int_equal(json_integer_value(json_array_get(cells, 1)), 6);
        assert_string_equal(json_string_value(json_array_get(cells, 2)), "True");
        assert_string_equal(json_string_value(json_array_get(cells, 3)), "0s");
})

/* A client's status is dropped with a new object, and then there is none. */
RIG_TEST(a_new_object_has_the_defaults_of_its_status, {
        static const char gadgets[] =
                "{spec: {group: example.com, names: {plural: gadgets, kind: Gadget}, scope: Namespaced, "
                "versions: "
                "[{name: v1, served: true, storage: true, subresources: {status: {}}, schema: "
                "{openAPIV3Schema: "
                "{type: object, properties: {status: {type: object, default: {seen: -1}, properties: {seen: "
                "{type: integer}}}}}}}]}, metadata: {name: gadgets.example.com}}";
        static const char path[] = "/apis/example.com/v1/namespaces/default/gadgets";

        assert_int_equal(rig_call(r, "POST", CRDS, "application/yaml", gadgets), 201);
        assert_int_equal(
                rig_post(r, path,
                         "{\"apiVersion\":\"example.com/"
                         "v1\",\"kind\":\"Gadget\",\"metadata\":{\"name\":\"g\"},\"status\":{\"seen\":7}}"),
                201);
        assert_int_equal(doc_get_int(r->answer, "status.seen", 0), -1);
        assert_int_equal(rig_get(r, "/apis/example.com/v1/namespaces/default/gadgets/g"), 200);
        assert_int_equal(doc_get_int(r->answer, "status.seen", 0), -1);
})

RIG_TEST(server_side_apply_follows_the_schema, {
        install(r);
        assert_int_equal(rig_apply(r, BETA "/w?fieldManager=m", widget), 500);
        assert_string_equal(rig_string(r, "message"),
                            "failed to create typed patch object (/w; example.com/v1beta1, Kind=Widget): "
                            ".spec.odd: field not declared in schema");
        assert_int_equal(rig_apply(r, BETA "/w?fieldManager=m",
                                   "{\"apiVersion\":\"example.com/v1beta1\",\"kind\":\"Widget\","
                                   "\"metadata\":{\"name\":\"w\"},\"spec\":{\"beta\":\"b\"}}"),
                         201);
        assert_int_equal(rig_apply(r, BETA "/w?fieldManager=n",
                                   "{\"apiVersion\":\"example.com/"
                                   "v1beta1\",\"kind\":\"Widget\",\"metadata\":{\"name\":\"w\"},\"spec\":{"
                                   "\"beta\":\"c\"}}"),
                         409);
})

RIG_TEST(counts_of_the_scale_are_checked_where_they_stand, {
        install(r);
        assert_int_equal(rig_post(r, BETA, widget), 201);
        assert_int_equal(rig_merge(r, BETA "/w/scale", "{\"spec\":{\"replicas\":2}}"), 200);
        assert_int_equal(rig_merge(r, BETA "/w", "{\"spec\":{\"size\":-1}}"), 422);
        assert_non_null(
                strstr(rig_string(r, "message"),
                       "[spec.size: Invalid value: -1: spec.size in body should be greater than or equal to "
                       "1, .spec.size: Invalid value: -1: should be a non-negative integer]"));
        assert_int_equal(rig_merge(r, BETA "/w", "{\"spec\":{\"size\":\"x\"}}"), 422);
        assert_non_null(strstr(rig_string(r, "message"),
                               ".spec.size: Invalid value: 0: .spec.size accessor error: "
                               "x is of the type string, expected int64"));
        assert_int_equal(rig_merge(r, BETA "/w/status", "{\"status\":{\"size\":-2}}"), 422);
        assert_non_null(strstr(rig_string(r, "message"), "is invalid: .status.size: Invalid value: -2"));
})

RIG_TEST(an_object_of_another_kind_is_invalid, {
        install(r);
        assert_int_equal(rig_post(r, BETA, widget), 201);
        assert_int_equal(rig_merge(r, BETA "/w", "{\"kind\":\"Other\"}"), 422);
        assert_string_equal(
                rig_string(r, "message"),
                "Other.example.com \"w\" is invalid: kind: Invalid value: \"Other\": must be Widget");
})

RIG_TEST(names_are_given_to_who_came_first_and_then_to_who_waits, {
        static const char second[] =
                "metadata: {name: gadgets.example.com}\n"
                "spec: {group: example.com, scope: Cluster, names: {plural: gadgets, kind: "
                "Widget, shortNames: [wd, other]}, versions: [{name: v1, served: true, "
                "storage: true, schema: {openAPIV3Schema: {type: object}}}]}";
        install(r);
        assert_int_equal(rig_call(r, "POST", CRDS, "application/yaml", second), 201);
        const json_t *condition = json_array_get(doc_get_array(r->answer, "status.conditions"), 0);
        assert_string_equal(doc_get_string(condition, "reason"), "ListKindConflict");
        assert_string_equal(doc_get_string(condition, "message"), "\"WidgetList\" is already in use");
        assert_string_equal(rig_string(r, "status.acceptedNames.plural"), "gadgets");
        assert_string_equal(rig_string(r, "status.acceptedNames.kind"), "");
        assert_null(doc_get(r->answer, "status.acceptedNames.shortNames"));
        assert_int_equal(rig_get(r, "/apis/example.com/v1/gadgets"), 404);
        assert_int_equal(rig_delete(r, CRDS "/widgets.example.com"), 200);
        rig_settle(r);
        assert_int_equal(rig_get(r, CRDS "/gadgets.example.com"), 200);
        assert_string_equal(rig_string(r, "status.acceptedNames.kind"), "Widget");
        assert_int_equal(rig_get(r, "/apis/example.com/v1/gadgets"), 200);
})

RIG_TEST(what_a_definition_is_stored_under_stays, {
        install(r);
        assert_int_equal(
                rig_merge(r, CRDS "/widgets.example.com", "{\"spec\":{\"names\":{\"kind\":\"Gadget\"}}}"),
                422);
        assert_non_null(strstr(rig_string(r, "message"),
                               "is invalid: spec.names.kind: Invalid value: \"Gadget\": field is immutable"));
        assert_int_equal(
                rig_merge(r, CRDS "/widgets.example.com", "{\"spec\":{\"group\":\"other.example\"}}"), 422);
})

RIG_TEST(a_deleted_crd_takes_its_objects_with_it, {
        install(r);
        assert_int_equal(rig_post(r, BETA, widget), 201);
        assert_int_equal(rig_delete(r, CRDS "/widgets.example.com"), 200);
        rig_settle(r);
        assert_int_equal(rig_get(r, CRDS "/widgets.example.com"), 404);
        assert_int_equal(rig_get(r, BETA), 404);
        install(r);
        assert_int_equal(rig_get(r, BETA), 200);
        assert_int_equal(json_array_size(doc_get_array(r->answer, "items")), 0);
})

RIG_TEST(a_changed_schema_counts_for_old_objects, {
        install(r);
        assert_int_equal(rig_post(r, BETA, widget), 201);
        assert_int_equal(rig_call(r, "PATCH", CRDS "/widgets.example.com", "application/json-patch+json",
                                  "[{\"op\":\"add\",\"path\":\"/spec/versions/0/schema/openAPIV3Schema/"
                                  "properties/spec/properties/colour\","
                                  "\"value\":{\"type\":\"string\",\"default\":\"red\"}}]"),
                         200);
        assert_int_equal(rig_get(r, BETA "/w"), 200);
        assert_string_equal(rig_string(r, "spec.colour"), "red");
})

RIG_TEST(a_broken_crd_is_refused, {
        assert_int_equal(rig_call(r, "POST", CRDS, "application/yaml",
                                  "metadata: {name: x}\nspec: {group: example.com, scope: Namespaced, names: "
                                  "{plural: widgets, kind: Widget}, "
                                  "versions: [{name: v1, served: true, storage: true, schema: "
                                  "{openAPIV3Schema: {type: object}}}]}"),
                         422);
        assert_non_null(strstr(rig_string(r, "message"), "must be spec.names.plural+\".\"+spec.group"));
        assert_int_equal(rig_call(r, "POST", CRDS, "application/yaml",
                                  "metadata: {name: widgets.example.com}\nspec: {group: example.com, scope: "
                                  "Namespaced, names: {plural: widgets, "
                                  "kind: Widget}, versions: [{name: v1, served: true, storage: true, schema: "
                                  "{openAPIV3Schema: {type: object, "
                                  "properties: {a: {}}}}}]}"),
                         422);
        assert_non_null(strstr(rig_string(r, "message"),
                               "is invalid: spec.validation.openAPIV3Schema.properties[a]"));
})

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(a_crd_is_established_and_served),
                cmocka_unit_test(objects_are_defaulted_pruned_and_validated),
                cmocka_unit_test(a_version_shows_only_its_own_fields_and_writing_through_it_drops_others),
                cmocka_unit_test(status_and_scale_are_subresources),
                cmocka_unit_test(a_new_object_has_the_defaults_of_its_status),
                cmocka_unit_test(server_side_apply_follows_the_schema),
                cmocka_unit_test(counts_of_the_scale_are_checked_where_they_stand),
                cmocka_unit_test(an_object_of_another_kind_is_invalid),
                cmocka_unit_test(names_are_given_to_who_came_first_and_then_to_who_waits),
                cmocka_unit_test(what_a_definition_is_stored_under_stays),
                cmocka_unit_test(a_deleted_crd_takes_its_objects_with_it),
                cmocka_unit_test(a_changed_schema_counts_for_old_objects),
                cmocka_unit_test(a_broken_crd_is_refused),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
