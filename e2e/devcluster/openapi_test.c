/* OpenAPI: complete in itself, what kubectl looks for is there, and it follows the CRDs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "e2e/devcluster/openapi.h"
#include "e2e/devcluster/rig.h"

#define CRDS "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
#define WIDGETS "/openapi/v3/apis/example.com/v1"
#define WIDGET "com.example.v1.Widget"

#define CRD(extra)                                                                                           \
        "apiVersion: apiextensions.k8s.io/v1\n"                                                              \
        "kind: CustomResourceDefinition\n"                                                                   \
        "metadata: {name: widgets.example.com}\n"                                                            \
        "spec:\n"                                                                                            \
        "  group: example.com\n"                                                                             \
        "  names: {plural: widgets, kind: Widget}\n"                                                         \
        "  scope: Namespaced\n"                                                                              \
        "  versions:\n"                                                                                      \
        "  - name: v1\n"                                                                                     \
        "    served: true\n"                                                                                 \
        "    storage: true\n"                                                                                \
        "    schema:\n"                                                                                      \
        "      openAPIV3Schema:\n"                                                                           \
        "        type: object\n"                                                                             \
        "        description: A thing.\n"                                                                    \
        "        properties:\n"                                                                              \
        "          spec:\n"                                                                                  \
        "            type: object\n"                                                                         \
        "            properties:\n"                                                                          \
        "              size: {type: integer, minimum: 1, default: 3, enum: [1, 3]}\n"                        \
        "              maybe: {type: object, nullable: true, properties: {a: {type: string}}}\n"             \
        "              open: {type: object, x-kubernetes-preserve-unknown-fields: true, properties: "        \
        "{a: {type: string}}}\n"                                                                             \
        "              port: {x-kubernetes-int-or-string: true, anyOf: [{type: integer}, {type: "            \
        "string}]}\n" extra

static bool has_header(struct rig *r, const char *name, const char *part)
{
        for (size_t i = 0; i < r->headers.n; i++)
                if (strcasecmp(r->headers.at[i].name, name) == 0 && strstr(r->headers.at[i].value, part))
                        return true;
        return false;
}

static void create_crd(struct rig *r)
{
        assert_int_equal(rig_call(r, "POST", CRDS, "application/yaml", CRD("")), 201);
        rig_settle(r);
}

static json_t *definition(struct rig *r, const char *name)
{
        json_t *v3 = doc_get(r->answer, "components.schemas");
        return json_object_get(v3 ? v3 : doc_get(r->answer, "definitions"), name);
}

/* Every "$ref" under doc names a definition. */
static void check_references(struct rig *r, const json_t *doc, const char *prefix)
{
        const char *key;
        json_t *value;
        size_t i;
        json_array_foreach((json_t *)doc, i, value)
                check_references(r, value, prefix);
        json_object_foreach((json_t *)doc, key, value) {
                const char *target = json_string_value(value);
                if (strcmp(key, "$ref") == 0 && target) {
                        assert_true(text_starts_with(target, prefix));
                        assert_non_null(definition(r, target + strlen(prefix)));
                } else {
                        check_references(r, value, prefix);
                }
        }
}

RIG_TEST(the_index_leads_to_a_complete_document_of_every_group_version, {
        const char *key;
        json_t *entry;
        create_crd(r);
        assert_int_equal(rig_get(r, "/openapi/v3"), 200);
        AUTO_JSON json_t *index = json_incref(r->answer);
        assert_true(json_object_size(doc_get_object(index, "paths")) > 15);
        json_object_foreach(doc_get_object(index, "paths"), key, entry) {
                const char *url = json_string_value(json_object_get(entry, "serverRelativeURL"));
                assert_non_null(strstr(url, key));
                assert_int_equal(rig_get(r, url), 200);
                assert_true(has_header(r, "Cache-Control", "immutable"));
                assert_true(json_object_size(doc_get_object(r->answer, "paths")) > 0);
                check_references(r, r->answer, "#/components/schemas/");
        }
        assert_int_equal(rig_get(r, "/openapi/v3/apis/none/v1"), 404);
        assert_int_equal(rig_get(r, "/openapi/v3/apis/example.com/v1?hash=old"), 200);
        assert_false(has_header(r, "Cache-Control", "immutable"));
})

RIG_TEST(urls_of_the_index_begin_at_openapi_so_that_clients_add_their_prefix, {
        assert_int_equal(rig_get(r, "/openapi/v3"), 200);
        const json_t *apps = json_object_get(doc_get_object(r->answer, "paths"), "apis/apps/v1");
        const char *url = json_string_value(json_object_get(apps, "serverRelativeURL"));
        assert_true(text_starts_with(url, "/openapi/v3/apis/apps/v1?hash="));
})

static bool takes(const json_t *operation, const char *parameter)
{
        size_t i;
        json_t *p;
        json_array_foreach(json_object_get(operation, "parameters"), i, p)
                if (text_equal(json_string_value(json_object_get(p, "name")), parameter))
                        return true;
        return false;
}

static void check_patch(struct rig *r, const char *path, const char *kind)
{
        const json_t *item = json_object_get(doc_get_object(r->answer, "paths"), path);
        const json_t *patch = json_object_get(item, "patch");
        assert_non_null(patch);
        assert_true(takes(patch, "fieldValidation"));
        assert_true(takes(patch, "dryRun"));
        assert_string_equal(json_string_value(json_object_get(
                                    json_object_get(patch, "x-kubernetes-group-version-kind"), "kind")),
                            kind);
}

RIG_TEST(patch_is_said_to_take_field_validation_and_dry_run, {
        create_crd(r);
        assert_int_equal(rig_get(r, "/openapi/v3/apis/apps/v1"), 200);
        check_patch(r, "/apis/apps/v1/namespaces/{namespace}/deployments/{name}", "Deployment");
        check_patch(r, "/apis/apps/v1/namespaces/{namespace}/deployments/{name}/scale", "Scale");
        assert_int_equal(rig_get(r, "/openapi/v2"), 200);
        check_patch(r, "/api/v1/namespaces/{name}", "Namespace");
        check_patch(r, "/apis/example.com/v1/namespaces/{namespace}/widgets/{name}", "Widget");
        check_references(r, r->answer, "#/definitions/");
})

RIG_TEST(a_built_in_type_says_how_its_lists_merge, {
        assert_int_equal(rig_get(r, "/openapi/v3/apis/apps/v1"), 200);
        const json_t *pod = definition(r, "io.k8s.api.core.v1.PodSpec");
        const json_t *containers = doc_get(pod, "properties.containers");
        const char *merge_key =
                json_string_value(json_object_get(containers, "x-kubernetes-patch-merge-key"));
        assert_string_equal(merge_key, "name");
        const char *list = json_string_value(json_object_get(containers, "x-kubernetes-list-type"));
        assert_string_equal(list, "map");
        const json_t *port =
                doc_get(definition(r, "io.k8s.api.core.v1.ContainerPort"), "properties.protocol");
        assert_string_equal(json_string_value(json_object_get(port, "default")), "TCP");
        assert_int_equal(json_array_size(json_object_get(pod, "required")), 1);
})

RIG_TEST(common_types_and_their_metadata_are_described, {
        assert_int_equal(rig_get(r, "/openapi/v3/apis/apps/v1"), 200);
        const json_t *kind = definition(r, "io.k8s.api.apps.v1.Deployment");
        assert_non_null(strstr(doc_get_string(kind, "description"), "pods"));
        assert_non_null(doc_get_string(kind, "properties.spec.description"));
        const json_t *meta = definition(r, OPENAPI_OBJECT_META);
        const char *key;
        json_t *field;
        json_object_foreach(doc_get_object(meta, "properties"), key, field)
                assert_non_null(doc_get_string(field, "description"));
})

RIG_TEST(a_custom_type_is_shown_as_given_with_the_fields_of_every_object, {
        create_crd(r);
        assert_int_equal(rig_get(r, WIDGETS), 200);
        const json_t *widget = definition(r, WIDGET);
        assert_string_equal(doc_get_string(widget, "description"), "A thing.");
        assert_int_equal(doc_get_int(widget, "properties.spec.properties.size.default", 0), 3);
        assert_true(doc_get_bool(widget, "properties.spec.properties.maybe.nullable", false));
        assert_non_null(doc_get(widget, "properties.metadata"));
        assert_string_equal(doc_get_string(widget, "properties.kind.type"), "string");
        const json_t *kinds = json_object_get(widget, "x-kubernetes-group-version-kind");
        assert_string_equal(doc_get_string(json_array_get(kinds, 0), "group"), "example.com");
        assert_non_null(definition(r, WIDGET "List"));
})

RIG_TEST(v2_leaves_out_what_its_clients_would_take_wrongly, {
        create_crd(r);
        assert_int_equal(rig_get(r, "/openapi/v2"), 200);
        const json_t *spec = doc_get(definition(r, WIDGET), "properties.spec.properties");
        assert_int_equal(doc_get_int(spec, "size.minimum", 0), 1);
        assert_null(doc_get(spec, "size.default"));
        assert_null(doc_get(spec, "maybe.type"));
        assert_null(doc_get(spec, "maybe.properties"));
        assert_null(doc_get(spec, "open.properties"));
        assert_null(doc_get(spec, "port.anyOf"));
        const json_t *mixed = definition(r, "io.k8s.apimachinery.pkg.util.intstr.IntOrString");
        assert_string_equal(doc_get_string(mixed, "type"), "string");
})

RIG_TEST(a_client_that_has_the_document_gets_304_until_a_crd_changes, {
        create_crd(r);
        assert_int_equal(rig_get(r, WIDGETS), 200);
        const char *tag = arena_strdup(&r->arena, http_header_get(&r->headers, "Etag"));
        assert_int_equal(rig_get_with(r, WIDGETS, "If-None-Match", tag), 304);
        assert_string_equal(r->text, "");
        assert_int_equal(rig_get_with(r, "/openapi/v2", "If-None-Match", tag), 200);
        assert_int_equal(
                rig_call(r, "PATCH", CRDS "/widgets.example.com", "application/json-patch+json",
                         "[{\"op\":\"add\",\"path\":\"/spec/versions/0/schema/openAPIV3Schema/properties/"
                         "extra\",\"value\":{\"type\":\"string\"}}]"),
                200);
        rig_settle(r);
        assert_int_equal(rig_get_with(r, WIDGETS, "If-None-Match", tag), 200);
        assert_non_null(doc_get(definition(r, WIDGET), "properties.extra"));
})

RIG_TEST(an_unknown_field_of_a_custom_object_is_refused_in_the_servers_words, {
        create_crd(r);
        assert_int_equal(rig_post(r, "/apis/example.com/v1/namespaces/default/widgets?fieldValidation=Strict",
                                  "{\"apiVersion\":\"example.com/v1\",\"kind\":\"Widget\",\"metadata\":{"
                                  "\"name\":\"a\"},\"spec\":{\"foo\":1}}"),
                         400);
        assert_string_equal(rig_string(r, "message"),
                            "Widget in version \"v1\" cannot be handled as a Widget: strict decoding error: "
                            "unknown field \"spec.foo\"");
})

RIG_TEST(a_removed_crd_takes_its_document_along, {
        create_crd(r);
        assert_int_equal(rig_get(r, WIDGETS), 200);
        assert_int_equal(rig_delete(r, CRDS "/widgets.example.com"), 200);
        rig_settle(r);
        assert_int_equal(rig_get(r, WIDGETS), 404);
        assert_int_equal(rig_get(r, "/openapi/v2"), 200);
        assert_null(definition(r, WIDGET));
})

RIG_TEST(v2_is_protobuf_for_those_who_ask, {
        static const char old[] = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf";
        assert_int_equal(rig_get_as(r, "/openapi/v2", old), 200);
        assert_true(has_header(r, "Content-Type", "spec.v2.v1.0+protobuf"));
        assert_memory_equal(r->text,
                            "\x0a\x03"
                            "2.0",
                            5);
        assert_int_equal(rig_get_as(r, "/openapi/v2", "application/json, */*"), 200);
        assert_true(has_header(r, "Content-Type", "application/json"));
        assert_int_equal(rig_get_as(r, "/openapi/v2", "text/html"), 406);
})

/* Field numbers and wire types as in gnostic's OpenAPIv2.proto. */
static void a_definition_is_encoded_as_gnostic_does(void **state)
{
        static const struct {
                const char *schema, *bytes;
                size_t n;
        } table[] = {
                { "{\"type\":\"object\"}",
                  "\x0a\x10\x0a\x01"
                  "A"
                  "\x12\x0b\xb2\x01\x08\x0a\x06object",
                  18 },
                { "{\"minLength\":300}",
                  "\x0a\x08\x0a\x01"
                  "A"
                  "\x12\x03\x60\xac\x02",
                  10 },
                { "{\"minimum\":1}",
                  "\x0a\x0e\x0a\x01"
                  "A"
                  "\x12\x09\x49\0\0\0\0\0\0\xf0\x3f",
                  16 },
        };
        for (size_t i = 0; i < ARRAY_LEN(table); i++) {
                AUTO_JSON json_t *doc = NULL;
                AUTO_BUF struct buf out;
                buf_init(&out, 1000);
                assert_int_equal(doc_parse(slice_of(table[i].schema), &doc, NULL), 0);
                assert_int_equal(openapi_proto_definition(&out, "A", doc), 0);
                assert_int_equal(out.len, table[i].n);
                assert_memory_equal(out.data, table[i].bytes, table[i].n);
        }
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(the_index_leads_to_a_complete_document_of_every_group_version),
                cmocka_unit_test(urls_of_the_index_begin_at_openapi_so_that_clients_add_their_prefix),
                cmocka_unit_test(patch_is_said_to_take_field_validation_and_dry_run),
                cmocka_unit_test(a_built_in_type_says_how_its_lists_merge),
                cmocka_unit_test(common_types_and_their_metadata_are_described),
                cmocka_unit_test(a_custom_type_is_shown_as_given_with_the_fields_of_every_object),
                cmocka_unit_test(v2_leaves_out_what_its_clients_would_take_wrongly),
                cmocka_unit_test(a_client_that_has_the_document_gets_304_until_a_crd_changes),
                cmocka_unit_test(an_unknown_field_of_a_custom_object_is_refused_in_the_servers_words),
                cmocka_unit_test(a_removed_crd_takes_its_document_along),
                cmocka_unit_test(v2_is_protobuf_for_those_who_ask),
                cmocka_unit_test(a_definition_is_encoded_as_gnostic_does),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
