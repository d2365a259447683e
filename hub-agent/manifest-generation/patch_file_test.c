#include "hub-agent/manifest-generation/patch_file.h"

#include "hub-agent/manifest-generation/tree_test.h"

#define DEPLOYMENT(name, image)                                                                              \
        "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: " name                                    \
        "\nspec:\n  template:\n    spec:\n      containers:\n      - name: side\n        image: side:1\n"    \
        "      - name: app\n        image: " image "\n"
#define RELEASE(tag)                                                                                         \
        "apiVersion: helm.fluxcd.io/v1\nkind: HelmRelease\nmetadata: {name: r, namespace: ns}\nspec:\n  "    \
        "values: {image: {repository: x, tag: '" tag "'}, list: [{name: a}, {name: b}]}\n"

static struct resource_list read_stream(struct arena *arena, const char *text)
{
        struct resource_list l = { .arena = arena };
        struct error err = { 0 };

        if (resources_parse(&l, slice_of(text), "x", NULL, &err) < 0)
                fail_msg("%s", err.text);
        return l;
}

/* The documents as canonical JSON, one a line. */
static const char *written(struct arena *arena, const struct resource_list *l)
{
        AUTO_BUF struct buf b;

        buf_init(&b, 1 << 20);
        for (size_t i = 0; i < l->n; i++) {
                doc_write_canonical(l->at[i].doc, &b);
                buf_append_char(&b, '\n');
        }
        return arena_strdup(arena, b.len ? b.data : "");
}

static int apply_to(struct arena *arena, const char *generated, const char *patch, struct resource_list *ret,
                    size_t *ret_missing, struct error *err)
{
        struct patch_missing *missing;

        *ret = read_stream(arena, generated);
        return patch_file_apply(ret, slice_of(patch), "flux-patch.yaml", &missing, ret_missing, err);
}

static void assert_applied(const char *generated, const char *patch, const char *wanted)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct resource_list l, expected = read_stream(&arena, wanted);
        struct error err = { 0 };
        size_t missing;

        if (apply_to(&arena, generated, patch, &l, &missing, &err) < 0)
                fail_msg("%s", err.text);
        assert_int_equal(missing, 0);
        assert_string_equal(written(&arena, &l), written(&arena, &expected));
}

/* ---- applying ---- */

/* spec/flux-yaml.md checklist 32 */
static void built_in_kinds_merge_lists_by_key(void **state)
{
        assert_applied(DEPLOYMENT("a", "app:1"),
                       "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a}\nspec: {template: {spec: "
                       "{containers: "
                       "[{name: app, image: 'app:2'}]}}}\n",
                       DEPLOYMENT("a", "app:2"));
}

/* spec/flux-yaml.md checklist 32 */
static void other_kinds_merge_as_json(void **state)
{
        assert_applied(
                RELEASE("1"),
                "apiVersion: helm.fluxcd.io/v1\nkind: HelmRelease\nmetadata: {name: r, namespace: ns}\n"
                "spec: {values: {image: {tag: '2'}}}\n",
                RELEASE("2"));
        assert_applied(
                RELEASE("1"),
                "apiVersion: helm.fluxcd.io/v1\nkind: HelmRelease\nmetadata: {name: r, namespace: ns}\n"
                "spec: {values: {list: [{name: b}], image: null}}\n",
                "apiVersion: helm.fluxcd.io/v1\nkind: HelmRelease\nmetadata: {name: r, namespace: "
                "ns}\nspec:\n  "
                "values: {list: [{name: b}]}\n");
}

static void directives_steer(void **state)
{
        static const char *const generated = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a, "
                                             "finalizers: [x, y]}\nspec: {template: {spec: "
                                             "{containers: [{name: p}, {name: q}]}}}\n";
        static const struct {
                const char *patch, *metadata, *containers;
        } rows[] = {
                { "spec: {template: {spec: {containers: [{name: p, $patch: delete}]}}}",
                  "{name: a, finalizers: [x, y]}", "[{name: q}]" },
                { "spec: {template: {spec: {$setElementOrder/containers: [{name: q}, {name: p}]}}}",
                  "{name: a, finalizers: [x, y]}", "[{name: q}, {name: p}]" },
                { "metadata: {name: a, $deleteFromPrimitiveList/finalizers: [x]}",
                  "{name: a, finalizers: [y]}", "[{name: p}, {name: q}]" },
                { "metadata: {name: a, finalizers: [z]}", "{name: a, finalizers: [z, x, y]}",
                  "[{name: p}, {name: q}]" },
        };

        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
                AUTO_ARENA struct arena arena = ARENA_INIT;
                bool whose = strstr(rows[i].patch, "metadata") != NULL;

                assert_applied(
                        generated,
                        arena_printf(&arena, "apiVersion: apps/v1\nkind: Deployment\n%s%s\n",
                                     whose ? "" : "metadata: {name: a}\n", rows[i].patch),
                        arena_printf(&arena,
                                     "apiVersion: apps/v1\nkind: Deployment\nmetadata: %s\nspec: {template: "
                                     "{spec: {containers: %s}}}\n",
                                     rows[i].metadata, rows[i].containers));
        }
}

static void all_objects_come_in_order_of_identity(void **state)
{
        assert_applied(DEPLOYMENT("b", "app:1") "---\n" DEPLOYMENT("a", "app:1"), "",
                       DEPLOYMENT("a", "app:1") "---\n" DEPLOYMENT("b", "app:1"));
}

/* spec/flux-yaml.md checklist 35 */
static void a_patch_whose_resource_is_gone_is_passed_over(void **state)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct resource_list l = read_stream(&arena, DEPLOYMENT("a", "app:1"));
        struct patch_missing *missing;
        size_t n;

        assert_int_equal(
                patch_file_apply(
                        &l,
                        SLICE("---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\n---\n"
                              "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a, "
                              "namespace: ns}\n---\napiVersion: apps/v1\nkind: Deployment\nmetadata: "
                              "{name: a, labels: {x: y}}\n"),
                        "p.yaml", &missing, &n, NULL),
                0);
        assert_int_equal(n, 2);
        assert_string_equal(missing[0].identity, "<cluster>:configmap/c");
        assert_string_equal(missing[1].identity, "ns:deployment/a");
        assert_string_equal(doc_get_string(l.at[0].doc, "metadata.labels.x"), "y");
}

static void a_patch_that_cannot_be_applied_is_told(void **state)
{
        static const struct {
                const char *patch, *words;
        } rows[] = {
                { "a: ]\n", "parsing YAML doc from \"flux-patch.yaml\": yaml: line 1: did not find expected "
                            "node content" },
                { "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a}\nspec: {$patch: other}\n",
                  "<cluster>:deployment/a: unknown patch type: other in map: map[$patch:other]" },
                { "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a}\n$patch: delete\n",
                  "<cluster>:deployment/a: a patch may not change apiVersion to nothing, nor kind, name or "
                  "namespace" },
                { "kind: Deployment\nmetadata: {name: a}\n",
                  "parsing YAML doc from \"flux-patch.yaml\": line 1: Deployment: apiVersion must be there" },
        };

        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
                AUTO_ARENA struct arena arena = ARENA_INIT;
                struct resource_list l;
                struct error err = { 0 };
                size_t missing;

                assert_int_equal(
                        apply_to(&arena, DEPLOYMENT("a", "app:1"), rows[i].patch, &l, &missing, &err),
                        ERR_INVALID);
                assert_string_equal(
                        err.text,
                        arena_printf(&arena,
                                     "cannot apply patchFile \"flux-patch.yaml\" to generated resources: %s",
                                     rows[i].words));
        }
}

/* ---- creating ---- */

static const char *create(struct arena *arena, const char *generated, const char *changed, const char *before)
{
        struct resource_list from = read_stream(arena, generated), to = read_stream(arena, changed);
        struct error err = { 0 };
        AUTO_BUF struct buf b;

        buf_init(&b, PATCH_FILE_BYTES);
        if (patch_file_create(arena, &from, &to, slice_of(before), &b, &err) < 0)
                fail_msg("%s", err.text);
        return arena_strdup(arena, b.len ? b.data : "");
}

#define IMAGE_PATCH(name, image)                                                                             \
        "---\napiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: " name                               \
        "\nspec:\n  template:\n    spec:\n      $setElementOrder/containers:\n      - name: side\n"          \
        "      - name: app\n      containers:\n      - image: " image "\n        name: app\n"

/* spec/flux-yaml.md checklist 30 */
static void a_change_is_written_with_what_identifies_its_object(void **state)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;

        assert_string_equal(create(&arena, DEPLOYMENT("a", "app:1"), DEPLOYMENT("a", "app:2"), ""),
                            IMAGE_PATCH("a", "app:2"));
        assert_string_equal(
                create(&arena, RELEASE("1"), RELEASE("2"), ""),
                "---\napiVersion: helm.fluxcd.io/v1\nkind: HelmRelease\nmetadata:\n  name: r\n  namespace: "
                "ns\nspec:\n  values:\n    image:\n      tag: \"2\"\n");
}

/* spec/flux-yaml.md checklist 31, 33 */
static void earlier_changes_stay_and_those_caught_up_with_vanish(void **state)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        static const char first[] = IMAGE_PATCH("b", "app:2");
        static const char both[] = IMAGE_PATCH("a", "app:3") IMAGE_PATCH("b", "app:2");

        assert_string_equal(create(&arena, DEPLOYMENT("b", "app:1") "---\n" DEPLOYMENT("a", "app:1"),
                                   DEPLOYMENT("a", "app:3") "---\n" DEPLOYMENT("b", "app:2"), first),
                            both);
        assert_string_equal(create(&arena, DEPLOYMENT("b", "app:2") "---\n" DEPLOYMENT("a", "app:1"),
                                   DEPLOYMENT("a", "app:3") "---\n" DEPLOYMENT("b", "app:2"), both),
                            IMAGE_PATCH("a", "app:3"));
        assert_string_equal(create(&arena, DEPLOYMENT("a", "app:3"), DEPLOYMENT("a", "app:3"), both), "");
        assert_string_equal(
                create(&arena, DEPLOYMENT("a", "app:1"), DEPLOYMENT("a", "app:3"), IMAGE_PATCH("a", "app:3")),
                IMAGE_PATCH("a", "app:3")); /* nothing new */
}

/* spec/flux-yaml.md checklist 35 */
static void a_patch_of_what_is_gone_is_dropped_at_the_next_write(void **state)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;

        assert_string_equal(create(&arena, DEPLOYMENT("a", "app:1"), DEPLOYMENT("a", "app:2"),
                                   IMAGE_PATCH("gone", "app:7")),
                            IMAGE_PATCH("a", "app:2"));
}

static void annotations_come_and_go(void **state)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        static const char plain[] = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\n";
        static const char annotated[] = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c, annotations: "
                                        "{fluxcd.io/automated: 'true'}}\n";

        assert_string_equal(
                create(&arena, plain, annotated, ""),
                "---\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  annotations:\n    fluxcd.io/automated: "
                "\"true\"\n  name: c\n");
        assert_string_equal(
                create(&arena, annotated, plain, ""),
                "---\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  annotations: null\n  name: c\n");
}

static void what_stays_the_same_keeps_its_text(void **state)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        static const char before[] = "# ours\n---\n# of b\nkind: Deployment   # first\napiVersion: "
                                     "apps/v1\nmetadata: {name: b}\nspec: "
                                     "{template: {spec: {$setElementOrder/containers: [{name: side}, {name: "
                                     "app}], containers: [{name: app, "
                                     "image: 'app:2'}]}}}\n# after\n";

        assert_string_equal(create(&arena, DEPLOYMENT("a", "app:1") "---\n" DEPLOYMENT("b", "app:1"),
                                   DEPLOYMENT("a", "app:3") "---\n" DEPLOYMENT("b", "app:2"), before),
                            arena_printf(&arena, "# ours\n%s%s", IMAGE_PATCH("a", "app:3"), before + 7));
}

static void comments_stay_where_their_lines_do(void **state)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        static const char before[] = "---\n"
                                     "# why this is patched\n"
                                     "apiVersion: apps/v1\n"
                                     "kind: Deployment # a workload\n"
                                     "metadata:\n"
                                     "    name: a\n"
                                     "    # on call\n"
                                     "    labels:\n"
                                     "        team: x\n"
                                     "spec:\n"
                                     "  template:\n"
                                     "    spec:\n"
                                     "      containers:\n"
                                     "      # the one that matters\n"
                                     "      - name: app\n"
                                     "        # not the newest\n"
                                     "        image: app:2 # pinned\n";

        assert_string_equal(create(&arena, DEPLOYMENT("a", "app:1"), DEPLOYMENT("a", "app:3"), before),
                            "---\n"
                            "# on call\n"
                            "# the one that matters\n"
                            "# not the newest\n"
                            "# why this is patched\n"
                            "apiVersion: apps/v1\n"
                            "kind: Deployment # a workload\n"
                            "metadata:\n"
                            "  name: a\n"
                            "spec:\n"
                            "  template:\n"
                            "    spec:\n"
                            "      $setElementOrder/containers:\n"
                            "      - name: side\n"
                            "      - name: app\n"
                            "      containers:\n"
                            "      - image: app:3\n"
                            "        name: app\n");
        assert_string_equal(
                create(&arena, RELEASE("1"), RELEASE("3"),
                       "---\napiVersion: helm.fluxcd.io/v1\nkind: HelmRelease\nmetadata:\n  name: r\n  "
                       "namespace: ns\nspec:\n  values:\n    # of the release\n    image:\n      # by hand\n "
                       " "
                       "    tag: \"2\" # pinned\n"),
                "---\napiVersion: helm.fluxcd.io/v1\nkind: HelmRelease\nmetadata:\n  name: r\n  namespace: "
                "ns\nspec:\n  values:\n    # of the release\n    image:\n      # by hand\n      tag: "
                "\"3\"\n");
}

static void comments_never_change_what_is_said(void **state)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        static const char generated[] = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\n";
        static const char changed[] =
                "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\ndata:\n  x: |\n    # a\n    "
                "key: value\n  z: new\n";
        static const char before[] =
                "---\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: c\ndata:\n  x: |\n    # "
                "old\n    # a\n    key: value\n  z: old\n";

        assert_string_equal(create(&arena, generated, changed, before),
                            "---\napiVersion: v1\ndata:\n  x: |\n    # a\n    key: value\n  z: new\nkind: "
                            "ConfigMap\nmetadata:\n  name: c\n");
}

/* spec/flux-yaml.md checklist 34 */
static void the_folder_of_a_patch_file_must_be_there(void **state)
{
        static const char *const files[] = { "staging/x.yaml", "", NULL };
        struct flux_config config = { .patch_file = "patches/p.yaml",
                                      .patch_path = "staging/patches/p.yaml" };
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct error err = { 0 };
        struct checkout c;

        checkout_open(&c, files);
        assert_int_equal(patch_file_check_folder(&c.tree, &arena, &config, &err), ERR_NOT_FOUND);
        assert_string_equal(err.text,
                            "base directory (\"staging/patches\") of patchFile (\"patches/p.yaml\") does not "
                            "exist");
        config.patch_path = "staging/p.yaml";
        assert_int_equal(patch_file_check_folder(&c.tree, &arena, &config, NULL), 0);
        config.patch_path = "p.yaml";
        assert_int_equal(patch_file_check_folder(&c.tree, &arena, &config, NULL), 0);
        config.patch_path = "staging";
        assert_int_equal(patch_file_check_folder(&c.tree, &arena, &config, &err), ERR_INVALID);
        checkout_close(&c);
}

static int create_and_apply(const char *wanted)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct resource_list from = { .arena = &arena }, to = { .arena = &arena };
        struct patch_missing *missing;
        struct error err = { 0 };
        AUTO_BUF struct buf b;
        size_t n;

        buf_init(&b, PATCH_FILE_BYTES);
        TRY(resources_parse(&from, SLICE(DEPLOYMENT("a", "app:1") "---\n" RELEASE("1")), "x", NULL, &err));
        TRY(resources_parse(&to, SLICE(DEPLOYMENT("a", "app:2") "---\n" RELEASE("2")), "x", NULL, &err));
        TRY(patch_file_create(
                &arena, &from, &to,
                SLICE("---\n# c\nkind: Deployment\napiVersion: apps/v1\nmetadata:\n  name: a\n"), &b, &err));
        assert_string_equal(b.data, wanted);
        return patch_file_apply(&from, (struct slice){ b.data, b.len }, "p", &missing, &n, &err);
}

/* Whether a text needs quotes is found out by making a number: where that fails, it is a number all the same.
 * So the outcome is looked at, and not the code alone. */
static void each_allocation_that_fails_is_told_or_does_no_harm(void **state)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        const char *wanted = create(&arena, DEPLOYMENT("a", "app:1") "---\n" RELEASE("1"),
                                    DEPLOYMENT("a", "app:2") "---\n" RELEASE("2"),
                                    "---\n# c\nkind: Deployment\n"
                                    "apiVersion: apps/v1\nmetadata:\n  name: a\n");
        size_t live = mem_live_count();
        bool fired = true;

        assert_non_null(strstr(wanted, "# c\n"));
        for (uint64_t n = 1; fired; n++) {
                int code;

                mem_fail_at(n, false);
                code = create_and_apply(wanted);
                fired = mem_fault_fired();
                mem_fail_at(0, false);
                assert_int_equal(mem_live_count(), live);
                assert_true(code == 0 || (fired && code == ERR_NO_MEMORY));
        }
}

int main(void)
{
        mem_hook_libraries();
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(built_in_kinds_merge_lists_by_key),
                cmocka_unit_test(other_kinds_merge_as_json),
                cmocka_unit_test(directives_steer),
                cmocka_unit_test(all_objects_come_in_order_of_identity),
                cmocka_unit_test(a_patch_whose_resource_is_gone_is_passed_over),
                cmocka_unit_test(a_patch_that_cannot_be_applied_is_told),
                cmocka_unit_test(a_change_is_written_with_what_identifies_its_object),
                cmocka_unit_test(earlier_changes_stay_and_those_caught_up_with_vanish),
                cmocka_unit_test(a_patch_of_what_is_gone_is_dropped_at_the_next_write),
                cmocka_unit_test(annotations_come_and_go),
                cmocka_unit_test(what_stays_the_same_keeps_its_text),
                cmocka_unit_test(comments_stay_where_their_lines_do),
                cmocka_unit_test(comments_never_change_what_is_said),
                cmocka_unit_test(the_folder_of_a_patch_file_must_be_there),
                cmocka_unit_test(each_allocation_that_fails_is_told_or_does_no_harm),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
