#include "hub-agent/resource-set/testing.h"

#define PERMUTE "inputStrategy: {name: Permute}, "
#define FROM "inputsFrom: [{name: git-tag}, {name: oci-tag}]"

static json_t *collect(struct arena *arena, const char *text, const struct object *const *providers, size_t n)
{
        struct error err = { 0 };
        json_t *sets;
        struct object_list l = { (const struct object **)(uintptr_t)providers, n };

        if (inputs_collect(arena, set_of(arena, text), &l, &sets, &err) < 0)
                fail_msg("%s: %s", text, err.text);
        return sets;
}

static void assert_refused(const char *text, const struct object *const *providers, size_t n, int code,
                           const char *words)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct error err = { 0 };
        json_t *sets;
        struct object_list l = { (const struct object **)(uintptr_t)providers, n };

        assert_int_equal(inputs_collect(&arena, set_of(&arena, text), &l, &sets, &err), code);
        if (!strstr(err.text, words))
                fail_msg("wanted \"%s\", got \"%s\"", words, err.text);
}

/* spec/resource-set.md checklist 5, 6, 9 */
static void own_sets_come_first_then_those_of_each_provider(void **state)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        const struct object *providers[] = { provider_of(&arena, "a", "{id: '1', x: 1}"),
                                             provider_of(&arena, "b", "{id: '1', x: 1}, {id: '2'}") };
        json_t *sets = collect(
                &arena, "{spec: {inputs: [{id: own, provider: mine}], inputsFrom: [{name: b}, {name: a}]}}",
                providers, 2);

        assert_int_equal(json_array_size(sets), 4);
        assert_string_equal(json_of(&arena, json_array_get(sets, 0)),
                            "{\"id\":\"own\",\"provider\":{\"apiVersion\":\"fluxcd.controlplane.io/v1\","
                            "\"kind\":\"ResourceSet\",\"name\":\"my-rset\",\"namespace\":\"default\"}}");
        assert_string_equal(json_of(&arena, json_array_get(sets, 1)),
                            "{\"id\":\"1\",\"provider\":{\"apiVersion\":\"fluxcd.controlplane.io/v1\","
                            "\"kind\":\"ResourceSetInputProvider\",\"name\":\"a\",\"namespace\":\"default\"},"
                            "\"x\":1}");
        assert_string_equal(doc_get_string(json_array_get(sets, 2), "provider.name"), "b");
        assert_string_equal(doc_get_string(json_array_get(sets, 3), "id"), "2");
}

/* spec/resource-set.md checklist 7 */
static void a_set_without_an_id_gets_one_of_its_own(void **state)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        static const char text[] = "{spec: {inputs: [{a: 1}, {a: 1}, {id: x}, {a: 2}]}}";
        json_t *sets = collect(&arena, text, NULL, 0), *again = collect(&arena, text, NULL, 0);
        const char *first = doc_get_string(json_array_get(sets, 0), "id");
        const char *second = doc_get_string(json_array_get(sets, 1), "id");
        uint64_t a = 0, b = 0;

        /* the first four bytes of sha256 {"a":1} = 015abd7f */
        assert_string_equal(first, "22723967");
        assert_true(text_parse_u64(first, &a) && text_parse_u64(second, &b));
        assert_true(b == a + 1);
        assert_string_equal(doc_get_string(json_array_get(sets, 2), "id"), "x");
        assert_true(doc_equal(sets, again));
}

/* spec/resource-set.md checklist 8 */
static void sets_of_one_provider_with_equal_ids_are_told(void **state)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        const struct object *twins = provider_of(&arena, "tags", "{id: '47710450'}, {id: '47710450'}");
        const struct object *others[] = { provider_of(&arena, "a", "{id: '1'}"),
                                          provider_of(&arena, "b", "{id: '1'}") };

        assert_string_equal(inputs_twins(&arena, collect(&arena, "{spec: {" FROM "}}", &twins, 1)),
                            "input sets of ResourceSetInputProvider/tags have the same id 47710450");
        assert_null(inputs_twins(&arena, collect(&arena, "{spec: {" FROM "}}", others, 2)));
}

/* spec/resource-set.md checklist 10, 11 */
static void every_combination_is_made_and_the_last_varies_fastest(void **state)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        const struct object *providers[] = { provider_of(&arena, "inputs-a", "{id: a0}, {id: a1}"),
                                             provider_of(&arena, "inputs-b", "{id: b0}, {id: b1}"),
                                             provider_of(&arena, "none", "") };
        json_t *sets = collect(&arena, "{spec: {" PERMUTE FROM "}}", providers, 3);
        const json_t *first = json_array_get(sets, 0), *second = json_array_get(sets, 1);

        assert_int_equal(json_array_size(sets), 4);
        assert_string_equal(doc_get_string(first, "id"), "1508050897");
        assert_string_equal(doc_get_string(first, "inputs_a.id"), "a0");
        assert_string_equal(doc_get_string(second, "inputs_a.id"), "a0");
        assert_string_equal(doc_get_string(second, "inputs_b.id"), "b1");
        assert_string_equal(doc_get_string(second, "inputs_b.provider.name"), "inputs-b");
        assert_null(doc_get(first, "none"));
        sets = collect(&arena,
                       "{spec: {inputStrategy: {name: Permute, includeEmptyProviders: true}, " FROM "}}",
                       providers, 3);
        assert_int_equal(json_array_size(sets), 0);
        assert_int_equal(json_array_size(collect(&arena, "{spec: {" PERMUTE FROM "}}", NULL, 0)), 0);
}

/* spec/resource-set.md checklist 10 */
static void the_example_of_the_documentation_gives_two_sets(void **state)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        const struct object *providers[] = { provider_of(&arena, "git-tag", "{id: '8765674567', sha: bf}"),
                                             provider_of(&arena, "oci-tag",
                                                         "{id: '9876543210', digest: d4}") };
        json_t *sets = collect(&arena,
                               "{spec: {" PERMUTE "inputs: [{id: id1, someField: foo}, {id: id2, someField: "
                               "bar}], " FROM "}}",
                               providers, 2);

        assert_int_equal(json_array_size(sets), 2);
        assert_string_equal(doc_get_string(json_array_get(sets, 0), "my_rset.someField"), "foo");
        assert_string_equal(doc_get_string(json_array_get(sets, 1), "my_rset.id"), "id2");
        assert_string_equal(doc_get_string(json_array_get(sets, 1), "git_tag.sha"), "bf");
        assert_string_equal(doc_get_string(json_array_get(sets, 1), "oci_tag.digest"), "d4");
}

static const struct object *provider_of_many(struct arena *arena, const char *name, int n)
{
        AUTO_BUF struct buf b;

        buf_init(&b, 1u << 20);
        for (int i = 0; i < n; i++)
                buf_printf(&b, "%s{id: '%d'}", i ? ", " : "", i);
        assert_int_equal(buf_append_char(&b, '\0'), 0);
        return provider_of(arena, name, b.data);
}

/* spec/resource-set.md checklist 12 */
static void there_are_at_most_ten_thousand_combinations(void **state)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        const struct object *most[] = { provider_of_many(&arena, "a", 100),
                                        provider_of_many(&arena, "b", 100) };
        const struct object *more[] = { provider_of_many(&arena, "a", 73),
                                        provider_of_many(&arena, "b", 137) };

        assert_int_equal(json_array_size(collect(&arena, "{spec: {" PERMUTE FROM "}}", most, 2)), 10000);
        assert_refused("{spec: {" PERMUTE FROM "}}", more, 2, ERR_LIMIT,
                       "adding provider 'b' with 137 inputs would exceed the maximum allowed permutations. "
                       "max: 10000, got: 10001");
}

/* spec/resource-set.md checklist 13 */
static void a_name_becomes_a_key(void **state)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        static const char *const rows[][2] = {
                { "My-ResourceSet", "my_resourceset" },
                { "_a---b_-_", "a_b" },
                { "A0..B", "a0_b" },
                { "a.b/c@d#e", "a_b_c_d_e" },
                { "a b\tc", "a_b_c" },
                { "a$b+c", "abc" },
                { "---", "" },
        };

        for (size_t i = 0; i < ARRAY_LEN(rows); i++)
                assert_string_equal(inputs_key(&arena, rows[i][0]), rows[i][1]);
        const struct object *nameless = provider_of(&arena, "...", "{id: a}");
        assert_refused("{spec: {" PERMUTE FROM "}}", &nameless, 1, ERR_INVALID,
                       "normalized provider name is empty: '...'");
}

/* spec/resource-set.md checklist 14 */
static void no_two_providers_have_one_key(void **state)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        const struct object *twins[] = { provider_of(&arena, "a-b", "{id: x}"),
                                         provider_of(&arena, "a.b", "{id: y}") };
        const struct object *like_the_set = provider_of(&arena, "my-rset", "{id: x}");
        const struct object *id = provider_of(&arena, "id", "{id: x}");

        assert_refused(
                "{spec: {" PERMUTE FROM "}}", twins, 2, ERR_INVALID,
                "ResourceSetInputProvider/a-b and ResourceSetInputProvider/a.b have the same normalized "
                "name 'a_b'");
        assert_refused("{spec: {" PERMUTE "inputs: [{a: 1}], " FROM "}}", &like_the_set, 1, ERR_INVALID,
                       "ResourceSet/my-rset and ResourceSetInputProvider/my-rset");
        assert_refused("{spec: {" PERMUTE FROM "}}", &id, 1, ERR_INVALID, "is 'id'");
}

static void providers_are_picked_by_name_or_labels(void **state)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        const struct resource_set *set = set_of(
                &arena, "{spec: {inputsFrom: [{name: a}, {selector: {matchLabels: {app: podinfo}}}]}}");
        struct object *o = (struct object *)(uintptr_t)provider_of(&arena, "a", "");

        assert_true(inputs_pick(set, o));
        o->meta.name = "b";
        assert_false(inputs_pick(set, o));
        assert_int_equal(string_map_put(&o->meta.labels, "app", "podinfo", &arena), 0);
        assert_true(inputs_pick(set, o));
        o->meta.ns = "other";
        assert_false(inputs_pick(set, o));
}

/* spec/resource-set.md checklist 16 */
static void a_provider_that_has_never_exported_is_told(void **state)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        const struct object *all[] = { provider_of(&arena, "a", ""),
                                       object_of(&arena, &resource_set_input_provider_kind,
                                                 "{metadata: {name: new, namespace: default}}") };

        assert_null(inputs_not_exported(&(struct object_list){ all, 1 }));
        assert_ptr_equal(inputs_not_exported(&(struct object_list){ all, 2 }), all[1]);
}

static void a_reference_that_is_wrong_is_refused(void **state)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct error err = { 0 };

        assert_int_equal(inputs_check(set_of(&arena, "{spec: {inputsFrom: [{name: a}]}}"), &err), 0);
        assert_int_equal(inputs_check(set_of(&arena, "{spec: {inputsFrom: [{kind: a}]}}"), &err),
                         ERR_INVALID);
        assert_string_equal(err.text, "input provider reference must have either name or selector set");
        assert_int_equal(inputs_check(set_of(&arena, "{spec: {inputsFrom: [{selector: {matchExpressions: "
                                                     "[{key: a, operator: Like}]}}]}}"),
                                      &err),
                         ERR_INVALID);
        assert_true(text_starts_with(err.text, "failed to parse selector "));
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(own_sets_come_first_then_those_of_each_provider),
                cmocka_unit_test(a_set_without_an_id_gets_one_of_its_own),
                cmocka_unit_test(sets_of_one_provider_with_equal_ids_are_told),
                cmocka_unit_test(every_combination_is_made_and_the_last_varies_fastest),
                cmocka_unit_test(the_example_of_the_documentation_gives_two_sets),
                cmocka_unit_test(there_are_at_most_ten_thousand_combinations),
                cmocka_unit_test(a_name_becomes_a_key),
                cmocka_unit_test(no_two_providers_have_one_key),
                cmocka_unit_test(providers_are_picked_by_name_or_labels),
                cmocka_unit_test(a_provider_that_has_never_exported_is_told),
                cmocka_unit_test(a_reference_that_is_wrong_is_refused),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
