#include "hub-agent/manifest-generation/resources.h"

#include "common/json/doc_test.h"

static const struct flux_config config = { .variant = FLUX_COMMAND_UPDATED };
static const struct flux_target raw = { "a", "a", NULL }, raw_too = { "b", "b", NULL },
                                generated = { "staging", "staging", (struct flux_config *)&config },
                                generated_too = { "prod", "prod", (struct flux_config *)&config };

static void parse(struct resource_list *l, const char *text, const char *source,
                  const struct flux_target *target)
{
        struct error err = { 0 };

        if (resources_parse(l, slice_of(text), source, target, &err) < 0)
                fail_msg("%s", err.text);
}

static void assert_identities(const struct resource_list *l, const char *wanted)
{
        AUTO_BUF struct buf b;

        buf_init(&b, 1 << 16);
        for (size_t i = 0; i < l->n; i++)
                buf_printf(&b, "%s%s", i ? " " : "", l->at[i].identity);
        assert_string_equal(b.len ? b.data : "", wanted);
}

#define CM(name) "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: " name ", namespace: n}\n"

/* spec/flux-yaml.md checklist 25 */
static void streams_are_read_as_objects(void **state)
{
        static const struct {
                const char *text, *identities;
        } rows[] = {
                { "", "" },
                { "# nothing\n---\n---\n# still nothing\n", "" },
                { CM("a"), "n:configmap/a" },
                { CM("a") "---\n" CM("b") "---\n\n---\n" CM("c"),
                  "n:configmap/a n:configmap/b n:configmap/c" },
                { "---\n" CM("a") "...\n---\n" CM("b"), "n:configmap/a n:configmap/b" },
                { "%YAML 1.1\n---\n" CM("a"), "n:configmap/a" },
                { "values: of something else\n---\n" CM("a"), "n:configmap/a" },
                { "kind: ''\n---\nkind:\n", "" },
                { "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: D}\n", "<cluster>:deployment/D" },
                { "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"\\ud83d\\ude00\"}}",
                  "<cluster>:configmap/\xf0\x9f\x98\x80" },
                { "---\n{\"apiVersion\":\"v1\",\"kind\":\"A\",\"metadata\":{\"name\":\"\\ud83d\\ude00\"}}\n"
                  "{\"apiVersion\":\"v1\",\"kind\":\"A\",\"metadata\":{\"name\":\"b\"}}\n---\n" CM("c"),
                  "<cluster>:a/\xf0\x9f\x98\x80 <cluster>:a/b n:configmap/c" },
                { "apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: A, metadata: {name: a}}\n"
                  "- apiVersion: v1\n  kind: List\n  items: [{apiVersion: v1, kind: B, metadata: {name: "
                  "b}}]\n",
                  "<cluster>:a/a <cluster>:b/b" },
                { "apiVersion: apps/v1\nkind: DeploymentList\nitems:\n- metadata: {name: a, namespace: n}\n",
                  "n:deployment/a" },
                { "apiVersion: v1\nkind: List\nitems: []\n---\napiVersion: v1\nkind: List\nitems:\n", "" },
                { "apiVersion: music/v1\nkind: PlayList\nmetadata: {name: a}\n", "<cluster>:playlist/a" },
                { "kind: A\napiVersion: v1\nmetadata: {name: a}\ntext: |\n  x\n  ---\n  y\n---\n" CM("b"),
                  "<cluster>:a/a n:configmap/b" },
        };

        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
                AUTO_ARENA struct arena arena = ARENA_INIT;
                struct resource_list l = { .arena = &arena };

                parse(&l, rows[i].text, "x.yaml", &raw);
                assert_identities(&l, rows[i].identities);
        }
}

static void items_of_a_list_of_one_kind_are_completed(void **state)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct resource_list l = { .arena = &arena };

        parse(&l, "apiVersion: apps/v1\nkind: DeploymentList\nitems:\n- metadata: {name: a}\n", "x.yaml",
              &raw);
        assert_string_equal(l.at[0].api_version, "apps/v1");
        assert_string_equal(doc_get_string(l.at[0].doc, "kind"), "Deployment");
        assert_string_equal(doc_get_string(l.at[0].doc, "apiVersion"), "apps/v1");
        assert_string_equal(l.at[0].source, "x.yaml");
        assert_ptr_equal(l.at[0].target, &raw);
}

/* spec/flux-yaml.md checklist 25 */
static void broken_streams_are_told_with_source_and_line(void **state)
{
        static const struct {
                const char *text, *words;
        } rows[] = {
                { CM("a") "---\n" CM("b") "data: ]\n",
                  "parsing YAML doc from \"a/x.yaml\": yaml: line 8: did not find expected node content" },
                { "---\nkind: A\nkind: B\n",
                  "parsing YAML doc from \"a/x.yaml\": yaml: line 3: key \"kind\" already set in map" },
                { CM("a") "---\n- a\n", "parsing YAML doc from \"a/x.yaml\": line 5: not a mapping" },
                { "kind: A\nmetadata: {name: a}\n",
                  "parsing YAML doc from \"a/x.yaml\": line 1: A: apiVersion must be there" },
                { "---\nkind: A\napiVersion: v1\n",
                  "parsing YAML doc from \"a/x.yaml\": line 2: A: metadata.name must be there" },
                { "kind: A\napiVersion: v1\nmetadata: {name: a, namespace: 1}\n",
                  "parsing YAML doc from \"a/x.yaml\": line 1: A: metadata.namespace must be a string" },
                { "kind: 1\n", "parsing YAML doc from \"a/x.yaml\": line 1: kind must be a string" },
                { "kind: List\nitems: {}\n",
                  "parsing YAML doc from \"a/x.yaml\": line 1: List: items must be a list" },
                { "kind: List\nitems: [1]\n",
                  "parsing YAML doc from \"a/x.yaml\": line 1: List: items must be objects" },
                { "kind: List\nitems: [{metadata: {name: a}}]\n",
                  "parsing YAML doc from \"a/x.yaml\": line 1: List: kind must be there in each item" },
        };

        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
                AUTO_ARENA struct arena arena = ARENA_INIT;
                struct resource_list l = { .arena = &arena };
                struct error err = { 0 };

                assert_int_equal(resources_parse(&l, slice_of(rows[i].text), "a/x.yaml", &raw, &err),
                                 ERR_INVALID);
                assert_string_equal(err.text, rows[i].words);
                assert_int_equal(l.n, 0);
        }
}

static void what_is_too_large_is_told(void **state)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct resource_list l = { .arena = &arena };
        AUTO_BUF struct buf b;
        struct error err = { 0 };

        buf_init(&b, 16 << 20);
        buf_append_str(&b, CM("a") "---\na: ");
        for (int i = 0; i < (9 << 20) / 16; i++)
                buf_append_str(&b, "xxxxxxxxxxxxxxxx");
        assert_int_equal(resources_parse(&l, (struct slice){ b.data, b.len }, "x.yaml", &raw, &err),
                         ERR_LIMIT);
        assert_true(text_starts_with(err.text, "scanning multidoc from \"x.yaml\": YAML of "));
        assert_int_equal(l.n, 0);

        buf_clear(&b);
        for (int i = 0; i <= RESOURCES_MAX; i++)
                buf_printf(&b, "{apiVersion: v1, kind: A, metadata: {name: a%d}}\n---\n", i);
        assert_int_equal(resources_parse(&l, (struct slice){ b.data, b.len }, "x.yaml", &raw, &err),
                         ERR_LIMIT);
        assert_string_equal(err.text,
                            "scanning multidoc from \"x.yaml\": more than 20000 objects (RESOURCES_MAX)");
}

static void objects_are_sorted_by_identity(void **state)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct resource_list l = { .arena = &arena };

        parse(&l, CM("b") "---\n" CM("a") "---\n" CM("b"), "x.yaml", &raw);
        l.at[0].source = "first";
        assert_int_equal(resources_sort(&l, NULL), 0);
        assert_identities(&l, "n:configmap/a n:configmap/b n:configmap/b");
        assert_string_equal(l.at[1].source, "first");
}

/* ---- settling ---- */

static enum resource_scope scope_of(void *ctx, const char *api_version, const char *kind,
                                    const char **ret_why)
{
        if (text_equal(kind, "ConfigMap") || text_equal(kind, "Work"))
                return SCOPE_NAMESPACED;
        if (text_equal(kind, "Namespace") || text_equal(kind, "CustomResourceDefinition"))
                return SCOPE_CLUSTER;
        *ret_why = text_equal(kind, "Down") ? "the group cannot be told of" : NULL;
        return SCOPE_UNKNOWN;
}

static bool is_refused(void *ctx, const struct resource *r)
{
        return text_equal(r->kind, "Work");
}

static const struct resource_rules rules = { .scope_of = scope_of,
                                             .default_namespace = "standard",
                                             .is_refused = is_refused };

static int settle(struct resource_list *l, struct resource_unknown **unknown, size_t *n,
                  const struct resource **bad, struct error *err)
{
        return resources_settle(l, &rules, unknown, n, bad, err);
}

/* spec/flux-yaml.md checklist 27 */
static void scope_decides_about_namespaces(void **state)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct resource_list l = { .arena = &arena };
        struct resource_unknown *unknown;
        size_t n;

        parse(&l,
              "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}\n---\n"
              "{apiVersion: v1, kind: ConfigMap, metadata: {name: b, namespace: }}\n---\n"
              "{apiVersion: v1, kind: ConfigMap, metadata: {name: c, namespace: own}}\n---\n"
              "{apiVersion: v1, kind: Namespace, metadata: {name: d, namespace: x}}\n",
              "x.yaml", &raw);
        const json_t *first = l.at[0].doc;
        assert_int_equal(settle(&l, &unknown, &n, NULL, NULL), 0);
        assert_int_equal(n, 0);
        assert_identities(&l,
                          "standard:configmap/a standard:configmap/b own:configmap/c <cluster>:namespace/d");
        assert_string_equal(doc_get_string(l.at[0].doc, "metadata.namespace"), "standard");
        assert_string_equal(doc_get_string(l.at[1].doc, "metadata.namespace"), "standard");
        assert_null(doc_get(l.at[3].doc, "metadata.namespace"));
        assert_true(l.at[3].cluster_scoped);
        assert_null(doc_get(first, "metadata.namespace")); /* as it was read */
}

/* spec/flux-yaml.md checklist 27 */
static void unknown_kinds_are_left_out_and_told(void **state)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct resource_list l = { .arena = &arena };
        struct resource_unknown *unknown;
        size_t n;

        parse(&l,
              "{apiVersion: x/v1, kind: Down, metadata: {name: a}}\n---\n" CM(
                      "b") "---\n"
                           "{apiVersion: x/v1, kind: New, metadata: {name: c, namespace: z}}\n",
              "x.yaml", &raw);
        assert_int_equal(settle(&l, &unknown, &n, NULL, NULL), 0);
        assert_identities(&l, "n:configmap/b");
        assert_int_equal(n, 2);
        assert_string_equal(unknown[0].resource->identity, "<cluster>:down/a");
        assert_string_equal(unknown[0].why, "the group cannot be told of");
        assert_string_equal(unknown[1].resource->identity, "z:new/c");
        assert_string_equal(unknown[1].why, "the kind is not served");
}

static void crds_of_the_same_sync_tell_scopes(void **state)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct resource_list l = { .arena = &arena };
        struct resource_unknown *unknown;
        size_t n;

        parse(&l,
              "{apiVersion: x.io/v1, kind: Thing, metadata: {name: a}}\n---\n"
              "{apiVersion: x.io/v1, kind: Whole, metadata: {name: b, namespace: y}}\n---\n"
              "{apiVersion: y.io/v1, kind: Thing, metadata: {name: c}}\n---\n"
              "{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: t}, "
              "spec: "
              "{group: x.io, scope: Namespaced, names: {kind: Thing}}}\n---\n"
              "{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: w}, "
              "spec: "
              "{group: x.io, scope: Cluster, names: {kind: Whole}}}\n",
              "x.yaml", &raw);
        assert_int_equal(settle(&l, &unknown, &n, NULL, NULL), 0);
        assert_identities(&l, "standard:thing/a <cluster>:whole/b <cluster>:customresourcedefinition/t "
                              "<cluster>:customresourcedefinition/w");
        assert_int_equal(n, 1);
        assert_string_equal(unknown[0].resource->name, "c");
}

/* spec/flux-yaml.md checklist 28 */
static void duplicates_are_refused(void **state)
{
        static const struct {
                const char *first, *second;
                const struct flux_target *of_first, *of_second;
                const char *words;
        } rows[] = {
                { "a/x.yaml", "a/x.yaml", &raw, &raw, "(in a/x.yaml)" },
                { "a/x.yaml", "b/y.yaml", &raw, &raw_too, "(in a/x.yaml and b/y.yaml)" },
                { "staging/../.flux.yaml", "prod/../.flux.yaml", &generated, &generated_too,
                  "(generated by staging/../.flux.yaml and by prod/../.flux.yaml)" },
                { "staging/.flux.yaml", "a/x.yaml", &generated, &raw,
                  "(generated by staging/.flux.yaml and in a/x.yaml)" },
                { "a/x.yaml", "staging/.flux.yaml", &raw, &generated,
                  "(generated by staging/.flux.yaml and in a/x.yaml)" },
        };

        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
                AUTO_ARENA struct arena arena = ARENA_INIT;
                struct resource_list l = { .arena = &arena };
                struct resource_unknown *unknown;
                const struct resource *bad;
                struct error err = { 0 };
                size_t n;

                parse(&l, CM("a"), rows[i].first, rows[i].of_first);
                parse(&l, CM("b") "---\n" CM("a"), rows[i].second, rows[i].of_second);
                assert_int_equal(settle(&l, &unknown, &n, &bad, &err), ERR_INVALID);
                assert_string_equal(
                        err.text,
                        arena_printf(&arena, "duplicate definition of 'n:configmap/a' %s", rows[i].words));
                assert_ptr_equal(bad->target, rows[i].of_second);
        }
}

static void the_group_does_not_count_and_the_default_namespace_does(void **state)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct resource_list l = { .arena = &arena };
        struct resource_unknown *unknown;
        struct error err = { 0 };
        size_t n;

        parse(&l,
              "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}\n---\n"
              "{apiVersion: other.io/v1, kind: ConfigMap, metadata: {name: a, namespace: standard}}\n",
              "x.yaml", &raw);
        assert_int_equal(settle(&l, &unknown, &n, NULL, &err), ERR_INVALID);
        assert_string_equal(err.text, "duplicate definition of 'standard:configmap/a' (in x.yaml)");
}

static void equal_namespaces_are_no_duplicates(void **state)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct resource_list l = { .arena = &arena };
        struct resource_unknown *unknown;
        size_t n;

        parse(&l, "{apiVersion: v1, kind: Namespace, metadata: {name: a, labels: {x: y}}}\n", "x.yaml", &raw);
        parse(&l, "{kind: Namespace, apiVersion: v1, metadata: {labels: {x: y}, name: a}}\n---\n" CM("b"),
              "y.yaml", &raw);
        assert_int_equal(settle(&l, &unknown, &n, NULL, NULL), 0);
        assert_identities(&l, "<cluster>:namespace/a n:configmap/b");
        parse(&l, "{apiVersion: v1, kind: Namespace, metadata: {name: a}}\n", "z.yaml", &raw);
        assert_int_equal(settle(&l, &unknown, &n, NULL, NULL), ERR_INVALID);
}

/* spec/flux-yaml.md checklist 68 */
static void what_is_refused_is_named(void **state)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct resource_list l = { .arena = &arena };
        struct resource_unknown *unknown;
        const struct resource *bad;
        struct error err = { 0 };
        size_t n;

        parse(&l, "{apiVersion: v1, kind: Work, metadata: {name: a, namespace: n}}\n", "x.yaml", &raw);
        assert_int_equal(settle(&l, &unknown, &n, &bad, &err), ERR_INVALID);
        assert_string_equal(err.text, "not allowed: n:work/a");
        assert_ptr_equal(bad->target, &raw);
}

static int parse_and_settle(void *unused)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct resource_list l = { .arena = &arena };
        struct resource_unknown *unknown;
        struct error err = { 0 };
        size_t n;

        TRY(resources_parse(
                &l,
                SLICE("{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}\n---\nkind: ConfigMapList\n"
                      "apiVersion: v1\nitems: [{metadata: {name: b}}]\n---\n{apiVersion: "
                      "apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: t}, spec: "
                      "{group: x.io, scope: Namespaced, names: {kind: Thing}}}\n---\n{apiVersion: x.io/v1, "
                      "kind: Thing, metadata: {name: a}}\n"),
                "x.yaml", &raw, &err));
        TRY(resources_sort(&l, &err));
        return resources_settle(&l, &rules, &unknown, &n, NULL, &err);
}

static void each_allocation_that_fails_is_told(void **state)
{
        walk_failing_allocations(parse_and_settle, NULL);
}

int main(void)
{
        mem_hook_libraries();
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(streams_are_read_as_objects),
                cmocka_unit_test(items_of_a_list_of_one_kind_are_completed),
                cmocka_unit_test(broken_streams_are_told_with_source_and_line),
                cmocka_unit_test(what_is_too_large_is_told),
                cmocka_unit_test(objects_are_sorted_by_identity),
                cmocka_unit_test(scope_decides_about_namespaces),
                cmocka_unit_test(unknown_kinds_are_left_out_and_told),
                cmocka_unit_test(crds_of_the_same_sync_tell_scopes),
                cmocka_unit_test(duplicates_are_refused),
                cmocka_unit_test(the_group_does_not_count_and_the_default_namespace_does),
                cmocka_unit_test(equal_namespaces_are_no_duplicates),
                cmocka_unit_test(what_is_refused_is_named),
                cmocka_unit_test(each_allocation_that_fails_is_told),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
