/* Schemas: structural checks, pruning, defaulting and validation with kube-apiserver's words. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/base/memory.h"
#include "common/json/schema.h"

/* Documents are written with ` for " here. */
static const char *quoted(struct arena *arena, const char *text)
{
        char *copy = arena_strdup(arena, text);
        assert_non_null(copy);
        for (char *c = copy; *c; c++)
                if (*c == '`')
                        *c = '"';
        return copy;
}

static json_t *parsed(const char *text)
{
        json_t *doc = NULL;
        struct error err = { 0 };
        if (doc_parse(slice_of(text), &doc, &err) < 0)
                fail_msg("%s: %s", text, err.text);
        return doc;
}

static const struct schema *crd(struct arena *arena, const char *properties)
{
        struct error err = { 0 };
        const struct schema *s = NULL;
        const char *text = arena_printf(arena, "{\"type\":\"object\",\"properties\":{%s}}", properties);
        AUTO_JSON json_t *openapi = parsed(text);
        if (schema_from_crd(arena, openapi, &s, &err) < 0)
                fail_msg("%s", err.text);
        return s;
}

/* All problems as "field: message [reason]" lines. */
static const char *problems_of(struct arena *arena, const struct schema *s, const char *doc_text,
                               const char *old_text)
{
        struct error err = { 0 };
        struct schema_problems problems = { .arena = arena };
        AUTO_JSON json_t *doc = parsed(doc_text);
        AUTO_JSON json_t *old = old_text ? parsed(old_text) : NULL;
        if (schema_validate(s, doc, old, &problems, &err) < 0)
                fail_msg("%s", err.text);
        const char *all = "";
        for (size_t i = 0; i < problems.n; i++)
                all = arena_printf(arena, "%s%s%s: %s [%s]", all, i ? "\n" : "", problems.at[i].field,
                                   problems.at[i].message, problems.at[i].reason + strlen("FieldValue"));
        return all;
}

static void problems_have_the_words_of_kube_apiserver(void **state)
{
        static const struct {
                const char *properties, *doc, *problems;
        } cases[] = {
                { "`n`:{`type`:`integer`}", "{`n`:`a`}",
                  "n: Invalid value: `string`: n in body must be of type integer: `string` [TypeInvalid]" },
                { "`n`:{`type`:`integer`,`format`:`int32`}", "{`n`:1.5}",
                  "n: Invalid value: `double`: n in body must be of type int32: `double` [TypeInvalid]" },
                { "`n`:{`type`:`integer`,`format`:`int32`}", "{`n`:3000000000}",
                  "<nil>: Invalid value: ``: Checked value must be of type integer with format int32 in n "
                  "[Invalid]" },
                { "`n`:{`type`:`integer`}", "{`n`:1.0}", "" },
                { "`n`:{`type`:`integer`}", "{`n`:null}",
                  "n: Invalid value: `null`: n in body must be of type integer: `null` [TypeInvalid]" },
                { "`n`:{`type`:`integer`,`nullable`:true}", "{`n`:null}", "" },
                { "`n`:{`type`:`integer`,`minimum`:1,`maximum`:600}", "{`n`:601}",
                  "n: Invalid value: 601: n in body should be less than or equal to 600 [Invalid]" },
                { "`n`:{`type`:`integer`,`minimum`:1,`maximum`:600}", "{`n`:0}",
                  "n: Invalid value: 0: n in body should be greater than or equal to 1 [Invalid]" },
                { "`n`:{`type`:`number`,`exclusiveMinimum`:true,`minimum`:0.5}", "{`n`:0.5}",
                  "n: Invalid value: 0.5: n in body should be greater than 0.5 [Invalid]" },
                { "`n`:{`type`:`integer`,`multipleOf`:5}", "{`n`:7}",
                  "n: Invalid value: 7: n in body should be a multiple of 5 [Invalid]" },
                { "`s`:{`type`:`string`,`enum`:[`a`,`b`]}", "{`s`:`x`}",
                  "s: Unsupported value: `x`: supported values: `a`, `b` [NotSupported]" },
                { "`s`:{`type`:`string`,`maxLength`:3}", "{`s`:`abcd`}",
                  "s: Too long: may not be more than 3 bytes [TooLong]" },
                { "`s`:{`type`:`string`,`maxLength`:3}", "{`s`:`äöü`}", "" },
                { "`s`:{`type`:`string`,`minLength`:1}", "{`s`:``}",
                  "s: Invalid value: ``: s in body should be at least 1 chars long [Invalid]" },
                { "`s`:{`type`:`string`,`pattern`:`^a+$`}", "{`s`:`b`}",
                  "s: Invalid value: `b`: s in body should match '^a+$' [Invalid]" },
                { "`s`:{`type`:`string`,`format`:`date-time`}", "{`s`:`soon`}",
                  "s: Invalid value: `soon`: s in body must be of type date-time: `soon` [TypeInvalid]" },
                { "`s`:{`type`:`string`,`format`:`date-time`}", "{`s`:`2024-01-01t00:00:00z`}", "" },
                { "`s`:{`type`:`string`,`format`:`date-time`}", "{`s`:`2024-01-01T00:00:00.5+99:99`}", "" },
                { "`s`:{`type`:`string`,`format`:`date-time`}", "{`s`:`2024-01-01T00:00Z`}",
                  "s: Invalid value: `2024-01-01T00:00Z`: s in body must be of type date-time: "
                  "`2024-01-01T00:00Z` [TypeInvalid]" },
                { "`s`:{`type`:`string`,`format`:`byte`}", "{`s`:`a$`}",
                  "s: Invalid value: `a$`: s in body must be of type byte: `a$` [TypeInvalid]" },
                { "`l`:{`type`:`array`,`maxItems`:1,`items`:{`type`:`string`}}", "{`l`:[`a`,`b`]}",
                  "l: Too many: 2: must have at most 1 item [TooMany]" },
                { "`l`:{`type`:`array`,`minItems`:1,`items`:{`type`:`string`}}", "{`l`:[]}",
                  "l: Invalid value: 0: l in body should have at least 1 items [Invalid]" },
                { "`l`:{`type`:`array`,`items`:{`type`:`object`,`required`:[`k`],`properties`:{`k`:{`type`:`"
                  "string`}}}}",
                  "{`l`:[{`k`:`a`},{}]}", "l[1].k: Required value [Required]" },
                { "`m`:{`type`:`object`,`additionalProperties`:{`type`:`string`}}", "{`m`:{`a/b`:1}}",
                  "m.a/b: Invalid value: `integer`: m.a/b in body must be of type string: `integer` "
                  "[TypeInvalid]" },
                { "`m`:{`type`:`object`,`minProperties`:1,`additionalProperties`:{`type`:`string`}}",
                  "{`m`:{}}", "m: Invalid value: 0: m in body should have at least 1 properties [Invalid]" },
                { "`x`:{`x-kubernetes-int-or-string`:true}", "{`x`:true}",
                  "x: Invalid value: `boolean`: x in body must be of type integer,string: `boolean` "
                  "[TypeInvalid]" },
                { "`x`:{`x-kubernetes-int-or-string`:true,`pattern`:`^[0-9]+%$`,`anyOf`:[{`type`:`integer`},{"
                  "`type`:"
                  "`string`}]}",
                  "{`x`:-1}", "" },
                { "`l`:{`type`:`array`,`x-kubernetes-list-type`:`set`,`items`:{`type`:`string`}}",
                  "{`l`:[`a`,`b`,`a`,`a`]}", "l[2]: Duplicate value: `a` [Duplicate]" },
                { "`l`:{`type`:`array`,`x-kubernetes-list-type`:`map`,`x-kubernetes-list-map-keys`:[`type`],`"
                  "items`:{"
                  "`type`:`object`,`required`:[`type`],`properties`:{`type`:{`type`:`string`}}}}",
                  "{`l`:[{`type`:`A`},{`type`:`A`}]}", "l[1]: Duplicate value: {`type`:`A`} [Duplicate]" },
                { "`o`:{`type`:`object`,`properties`:{`a`:{`type`:`string`},`b`:{`type`:`string`}},`oneOf`:[{"
                  "`required`:["
                  "`a`]},{`required`:[`b`]}]}",
                  "{`o`:{`a`:`1`,`b`:`2`}}",
                  "<nil>: Invalid value: ``: `o` must validate one and only one schema (oneOf). Found 2 "
                  "valid "
                  "alternatives [Invalid]" },
                { "`o`:{`type`:`object`,`properties`:{`a`:{`type`:`string`}},`anyOf`:[{`required`:[`a`]}]}",
                  "{`o`:{}}",
                  "<nil>: Invalid value: ``: `o` must validate at least one schema (anyOf) [Invalid]\no.a: "
                  "Required "
                  "value [Required]" },
                { "`o`:{`type`:`object`,`properties`:{`a`:{`type`:`string`}},`not`:{`required`:[`a`]}}",
                  "{`o`:{`a`:`1`}}",
                  "<nil>: Invalid value: ``: `o` must not validate the schema (not) [Invalid]" },
                { "`s`:{`type`:`string`,`allOf`:[{`minLength`:2},{`pattern`:`^b`}]}", "{`s`:`a`}",
                  "s: Invalid value: `a`: s in body should be at least 2 chars long [Invalid]\ns: Invalid "
                  "value: `a`: s "
                  "in body should match '^b' [Invalid]\n<nil>: Invalid value: ``: `s` must validate all the "
                  "schemas "
                  "(allOf). None validated [Invalid]" },
                { "`e`:{`type`:`object`,`x-kubernetes-embedded-resource`:true,`x-kubernetes-preserve-unknown-"
                  "fields`:"
                  "true}",
                  "{`e`:{`kind`:``}}",
                  "e.apiVersion: Required value [Required]\ne.kind: Required value [Required]" },
                { "`e`:{`type`:`object`,`x-kubernetes-embedded-resource`:true,`x-kubernetes-preserve-unknown-"
                  "fields`:"
                  "true}",
                  "{`e`:{`apiVersion`:`v1`,`kind`:`ConfigMap`,`metadata`:{`name`:`a/b`}}}",
                  "e.metadata.name: Invalid value: `a/b`: may not contain '/' [Invalid]" },
        };
        for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
                AUTO_ARENA struct arena arena = ARENA_INIT;
                const char *want = quoted(&arena, cases[i].problems);
                const char *found = problems_of(&arena, crd(&arena, quoted(&arena, cases[i].properties)),
                                                quoted(&arena, cases[i].doc), NULL);
                if (strcmp(found, want) != 0)
                        fail_msg("%s\n got %s\nwant %s", cases[i].doc, found, want);
        }
}

static void schemas_that_are_not_structural_are_refused(void **state)
{
        static const struct {
                const char *properties, *text;
        } cases[] = {
                { "`a`:{}", "openAPIV3Schema.properties[a].type: Required value: must not be empty for "
                            "specified object fields" },
                { "`a`:{`type`:`array`}",
                  "openAPIV3Schema.properties[a].items: Required value: must be specified" },
                { "`a`:{`type`:`array`,`items`:{}}", "openAPIV3Schema.properties[a].items.type: Required "
                                                     "value: must not be empty for specified array items" },
                { "`a`:{`type`:`string`,`anyOf`:[{`type`:`string`}]}",
                  "openAPIV3Schema.properties[a].anyOf[0].type: Forbidden: must be empty to be structural" },
                { "`a`:{`type`:`object`,`anyOf`:[{`required`:[`x`],`properties`:{`x`:{`minLength`:1}}}]}",
                  "openAPIV3Schema.properties[a].properties[x]: Required value: because it is defined in a "
                  "nested value validation" },
                { "`a`:{`type`:`string`,`pattern`:`(`}",
                  "must be a valid regular expression, but isn't: error parsing regexp: missing closing )" },
                { "`a`:{`type`:`string`,`default`:5}",
                  "openAPIV3Schema.properties[a].default: Invalid value: `integer`:" },
                { "`a`:{`type`:`object`,`default`:{`x`:1},`properties`:{`y`:{`type`:`string`}}}",
                  "openAPIV3Schema.properties[a].default: Invalid value: must not have unknown fields: x" },
                { "`a`:{`type`:`array`,`uniqueItems`:true,`items`:{`type`:`string`}}",
                  "uniqueItems cannot be set to true" },
                { "`a`:{`$ref`:`x`}", "$ref is not supported" },
                { "`a`:{`type`:`text`}", "Unsupported value: `text`" },
                { "`a`:{`type`:`object`,`additionalProperties`:false}",
                  "additionalProperties cannot be set to false" },
                { "`a`:{`type`:`object`,`x-kubernetes-embedded-resource`:true}",
                  "must not be empty if x-kubernetes-embedded-resource is true without" },
                { "`a`:{`type`:`array`,`x-kubernetes-list-type`:`map`,`items`:{`type`:`object`}}",
                  "must not be empty if x-kubernetes-list-type is map" },
                { "`a`:{`type`:`array`,`x-kubernetes-list-type`:`map`,`x-kubernetes-list-map-keys`:[`k`],`"
                  "items`:{`type`:`object`,`properties`:{`k`:{`type`:`string`}}}}",
                  "it must have a default or be a required property" },
                { "`metadata`:{`type`:`object`,`properties`:{`labels`:{`type`:`object`}}}",
                  "must not specify anything other than name and generateName" },
                { "`a`:{`type`:`string`,`maxLength`:-1}",
                  "maxLength: Invalid value: must be a non-negative integer" },
                { "`a`:[]", "openAPIV3Schema.properties[a]: Invalid value: must be an object" },
        };
        for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
                AUTO_ARENA struct arena arena = ARENA_INIT;
                struct error err = { 0 };
                const struct schema *s = NULL;
                AUTO_JSON json_t *openapi =
                        parsed(arena_printf(&arena, "{\"type\":\"object\",\"properties\":{%s}}",
                                            quoted(&arena, cases[i].properties)));
                assert_int_equal(schema_from_crd(&arena, openapi, &s, &err), ERR_INVALID);
                if (!strstr(err.text, quoted(&arena, cases[i].text)))
                        fail_msg("%s: %s", cases[i].properties, err.text);
        }
}

static void an_update_is_not_held_to_what_it_leaves_unchanged(void **state)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        const struct schema *s = crd(
                &arena,
                "\"a\":{\"type\":\"string\",\"maxLength\":1},\"b\":{\"type\":\"string\",\"maxLength\":1}");
        const char *old = "{\"a\":\"long\",\"b\":\"x\"}";
        assert_string_equal(problems_of(&arena, s, "{\"a\":\"long\",\"b\":\"y\"}", old), "");
        assert_string_not_equal(problems_of(&arena, s, "{\"a\":\"long\",\"b\":\"yy\"}", old), "");
        assert_string_not_equal(problems_of(&arena, s, "{\"a\":\"other\",\"b\":\"x\"}", old), "");
}

static void expect_document(struct arena *arena, const json_t *doc, const char *want)
{
        AUTO_JSON json_t *wanted = parsed(quoted(arena, want));
        AUTO_BUF struct buf b;
        buf_init(&b, 1u << 20);
        doc_write_canonical(doc, &b);
        if (!doc_equal(doc, wanted))
                fail_msg("got %s, want %s", b.data, want);
}

static void unknown_fields_are_pruned_but_not_where_they_are_preserved(void **state)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        const struct schema *s = crd(
                &arena,
                quoted(&arena,
                       "`a`:{`type`:`object`,`properties`:{`x`:{`type`:`string`}}},"
                       "`keep`:{`type`:`object`,`x-kubernetes-preserve-unknown-fields`:true,`properties`:{`"
                       "in`:{`type`:`object`}}},"
                       "`e`:{`type`:`object`,`x-kubernetes-embedded-resource`:true,`properties`:{`spec`:{`"
                       "type`:`object`}}},"
                       "`l`:{`type`:`array`,`items`:{`type`:`object`,`properties`:{`x`:{`type`:`string`}}}},"
                       "`m`:{`type`:`object`,`additionalProperties`:{`type`:`object`,`properties`:{`x`:{`"
                       "type`:`string`}}}}"));
        AUTO_JSON json_t *doc = parsed(quoted(
                &arena,
                "{`apiVersion`:`v1`,`kind`:`K`,`metadata`:{`name`:`n`,`labels`:{`a`:`b`}},`a`:{`x`:`1`,`y`:2}"
                ",`keep`:{`z`:1,`in`:{`gone`:1}},"
                "`e`:{`apiVersion`:`v1`,`kind`:`K`,`metadata`:{`name`:`n`,`odd`:1},`spec`:{`gone`:1},`gone`:"
                "1},"
                "`l`:[{`x`:`1`,`gone`:1}],`m`:{`k`:{`gone`:1,`x`:`1`}},`gone`:1}"));
        AUTO_JSON json_t *removed = json_array();
        assert_int_equal(schema_prune(s, doc, removed, NULL), 0);
        expect_document(&arena, doc,
                        "{`apiVersion`:`v1`,`kind`:`K`,`metadata`:{`name`:`n`,`labels`:{`a`:`b`}},`a`:{`x`:`"
                        "1`},`keep`:{`z`:1,`in`:{}},"
                        "`e`:{`apiVersion`:`v1`,`kind`:`K`,`metadata`:{`name`:`n`},`spec`:{}},`l`:[{`x`:`1`}]"
                        ",`m`:{`k`:{`x`:`1`}}}");
        expect_document(&arena, removed,
                        "[`a.y`,`e.gone`,`e.spec.gone`,`gone`,`keep.in.gone`,`l[0].gone`,`m.k.gone`,`e."
                        "metadata.odd`]");
}

static void defaults_fill_present_parents_only(void **state)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        const struct schema *s =
                crd(&arena,
                    quoted(&arena, "`a`:{`type`:`object`,`properties`:{`x`:{`type`:`string`,`default`:`d`},`"
                                   "y`:{`type`:`string`}}},"
                                   "`b`:{`type`:`object`,`default`:{},`properties`:{`n`:{`type`:`integer`,`"
                                   "default`:60}}},"
                                   "`c`:{`type`:`object`,`properties`:{`n`:{`type`:`integer`,`default`:1}}},"
                                   "`nul`:{`type`:`string`,`nullable`:true,`default`:`d`},"
                                   "`l`:{`type`:`array`,`items`:{`type`:`object`,`properties`:{`x`:{`type`:`"
                                   "string`,`default`:`d`}}}},"
                                   "`m`:{`type`:`object`,`additionalProperties`:{`type`:`object`,`properties`"
                                   ":{`x`:{`type`:`string`,`default`:`d`}}}}"));
        AUTO_JSON json_t *doc = parsed(
                quoted(&arena, "{`a`:{`x`:null,`y`:null},`nul`:null,`l`:[{},{`x`:`1`}],`m`:{`k`:{}}}"));
        assert_int_equal(schema_apply_defaults(s, doc, NULL), 0);
        expect_document(
                &arena, doc,
                "{`a`:{`x`:`d`},`b`:{`n`:60},`nul`:null,`l`:[{`x`:`d`},{`x`:`1`}],`m`:{`k`:{`x`:`d`}}}");
}

static void definitions_are_shared_and_may_lead_back_to_themselves(void **state)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        AUTO_JSON json_t *definitions = parsed(quoted(
                &arena, "{`Tree`:{`type`:`object`,`properties`:{`left`:{`$ref`:`#/definitions/"
                        "Tree`},`right`:{`$ref`:`#/definitions/Tree`},"
                        "`port`:{`$ref`:`#/definitions/IntOrString`},`any`:{`$ref`:`#/definitions/"
                        "Raw`},`names`:{`type`:`array`,"
                        "`items`:{`allOf`:[{`$ref`:`#/components/schemas/"
                        "Name`}],`default`:{}},`x-kubernetes-patch-strategy`:`merge`,"
                        "`x-kubernetes-patch-merge-key`:`name`,`x-kubernetes-list-type`:`map`,`x-kubernetes-"
                        "list-map-keys`:[`name`]}}},"
                        "`IntOrString`:{`type`:`string`,`format`:`int-or-string`},`Raw`:{`type`:`object`},"
                        "`Name`:{`type`:`object`,`properties`:{`name`:{`type`:`string`}}}}"));
        struct error err = { 0 };
        const struct schema *tree = NULL;
        assert_int_equal(schema_from_definitions(&arena, definitions, "Tree", &tree, &err), 0);
        assert_ptr_equal(schema_property(tree, "left"), tree);
        assert_string_equal(tree->ref, "Tree");
        assert_true(schema_property(tree, "port")->int_or_string);
        assert_true(schema_property(tree, "any")->preserve_unknown);
        const struct schema *names = schema_property(tree, "names");
        assert_true(names->patch_merge && names->list_type == SCHEMA_LIST_MAP);
        assert_string_equal(names->patch_merge_key, "name");
        assert_string_equal(names->items->ref, "Name");
        assert_int_equal(schema_from_definitions(&arena, definitions, "Absent", &tree, &err), ERR_INVALID);
}

static int whole_life(struct arena *arena, const json_t *openapi, const json_t *document)
{
        const struct schema *s = NULL;
        struct schema_problems problems = { .arena = arena };
        AUTO_JSON json_t *removed = json_array();
        AUTO_JSON json_t *doc = doc_copy(document);
        if (!doc || !removed)
                return ERR_NO_MEMORY;
        TRY(schema_from_crd(arena, openapi, &s, NULL));
        TRY(schema_prune(s, doc, removed, NULL));
        TRY(schema_apply_defaults(s, doc, NULL));
        return schema_validate(s, doc, NULL, &problems, NULL);
}

static void every_failing_allocation_is_reported(void **state)
{
        AUTO_ARENA struct arena texts = ARENA_INIT;
        AUTO_JSON json_t *openapi = parsed(quoted(
                &texts, "{`type`:`object`,`properties`:{`a`:{`type`:`string`,`pattern`:`^b`,`default`:`b`,`"
                        "enum`:[`b`]},`l`:{`type`:`array`,"
                        "`x-kubernetes-list-type`:`set`,`items`:{`type`:`string`}}},`required`:[`z`]}"));
        AUTO_JSON json_t *doc = parsed(quoted(&texts, "{`x`:1,`l`:[`a`,`a`]}"));
        mem_hook_libraries();
        for (uint64_t n = 1;; n++) {
                AUTO_ARENA struct arena arena = ARENA_INIT;
                mem_fail_at(n, false);
                int code = whole_life(&arena, openapi, doc);
                bool fired = mem_fault_fired();
                mem_fail_at(0, false);
                assert_int_equal(code, fired ? ERR_NO_MEMORY : 0);
                if (!fired)
                        break;
        }
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(problems_have_the_words_of_kube_apiserver),
                cmocka_unit_test(schemas_that_are_not_structural_are_refused),
                cmocka_unit_test(an_update_is_not_held_to_what_it_leaves_unchanged),
                cmocka_unit_test(unknown_fields_are_pruned_but_not_where_they_are_preserved),
                cmocka_unit_test(defaults_fill_present_parents_only),
                cmocka_unit_test(definitions_are_shared_and_may_lead_back_to_themselves),
                cmocka_unit_test(every_failing_allocation_is_reported),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
