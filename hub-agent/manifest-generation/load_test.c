/* Target paths of a checkout in memory, with generators that are played. */
#include "hub-agent/manifest-generation/load.h"

#include "hub-agent/manifest-generation/tree_test.h"

#define CM(name) "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: " name "}\n"
#define DEPLOYMENT(name, image)                                                                              \
        "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: " name                                      \
        ", namespace: ns}\nspec: {template: {spec: {containers: [{name: app, image: '" image "'}]}}}\n"

struct bench {
        struct checkout c;
        struct world world;
        struct world_process process;
        struct commands commands;
        struct generation generation;
        struct load load;
        const char *const *paths;
        bool off, no_shell;
        size_t n_run;
        void (*look)(struct bench *b, const struct loaded *l);
};

/* Commands are `say TEXT` and `fail TEXT`. */
static int play(void *ctx, const struct confined *c, struct confined_end *ret, struct error *err)
{
        struct bench *b = ctx;
        const char *line = c->argv[2], *said = line + strcspn(line, " \n") + 1;

        b->n_run++;
        if (b->no_shell)
                return error_set(err, ERR_NOT_FOUND, "cannot run \"/bin/sh\": no such file");
        *ret = (struct confined_end){ .number = text_starts_with(line, "fail"),
                                      .output = mem_strdup(said),
                                      .errors = mem_strdup(""),
                                      .output_len = strlen(said) };
        if (ret->output && ret->errors)
                return 0;
        mem_free(ret->output);
        mem_free(ret->errors);
        return error_no_memory(err);
}

static enum resource_scope scope_of(void *ctx, const char *api_version, const char *kind,
                                    const char **ret_why)
{
        return text_equal(kind, "Odd")         ? SCOPE_UNKNOWN
               : text_equal(kind, "Namespace") ? SCOPE_CLUSTER
                                               : SCOPE_NAMESPACED;
}

static const struct resource_rules rules = { .scope_of = scope_of, .default_namespace = "default" };
static const char *const no_variables[] = { NULL };

static void open_bench(struct bench *b, const char *const *files)
{
        checkout_open(&b->c, files);
        b->process.run_confined = play;
        b->world = (struct world){ .loop = b->c.loop, .process = &b->process, .ctx = b };
        b->commands = (struct commands){ .world = &b->world, .timeout_ms = 60000 };
        b->generation = (struct generation){ .commands = &b->commands,
                                             .commit = "c",
                                             .root = "/work",
                                             .temporary = "/tmp",
                                             .ours = no_variables };
        b->load = (struct load){ .tree = &b->c.tree,
                                 .generation = b->off ? NULL : &b->generation,
                                 .paths = b->paths,
                                 .rules = &rules };
        while (b->paths && b->paths[b->load.n_paths])
                b->load.n_paths++;
}

static void load_in_fiber(void *ctx)
{
        struct bench *b = ctx;
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct error err = { 0 };
        struct loaded l;

        assert_int_equal(load_all(&arena, &b->load, &l, &err), 0);
        assert_string_equal(err.text, "");
        b->look(b, &l);
}

static void run(struct bench *b, const char *const *files,
                void (*look)(struct bench *b, const struct loaded *l))
{
        struct fiber_group *group;

        open_bench(b, files);
        b->look = look;
        group = fiber_group_new(b->c.loop, NULL, "test");
        assert_non_null(fiber_spawn(group, "load", load_in_fiber, b));
        assert_int_equal(loop_run(b->c.loop, NULL), 0);
        fiber_group_end(group);
        checkout_close(&b->c);
}

static void other(void *ctx)
{
        *(bool *)ctx = true;
}

struct side_by_side {
        struct bench bench;
        struct fiber_group *group;
        bool others_ran, done;
};

static void load_beside_another(void *ctx)
{
        struct side_by_side *s = ctx;
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct loaded l;

        assert_non_null(fiber_spawn(s->group, "other", other, &s->others_ran));
        assert_int_equal(load_all(&arena, &s->bench.load, &l, NULL), 0);
        assert_int_equal(l.resources.n, 1);
        assert_true(s->others_ran);
        s->done = true;
}

/* 30 MiB of manifests take seconds, in which a lease has to be renewed. */
static void others_run_while_manifests_are_parsed(void **state)
{
        static const char *const files[] = { "a.yaml", CM("a"), NULL };
        struct side_by_side s = { 0 };
        struct loop *loop = loop_new_real(NULL);

        open_bench(&s.bench, files);
        s.bench.load.loop = loop;
        s.group = fiber_group_new(loop, NULL, "test");
        assert_non_null(fiber_spawn(s.group, "load", load_beside_another, &s));
        assert_int_equal(loop_run(loop, NULL), 0);
        assert_true(s.done);
        fiber_group_end(s.group);
        loop_free(loop);
        checkout_close(&s.bench.c);
}

/* "identity source" of each, and the errors of targets. */
static void assert_loaded(const struct loaded *l, const char *resources, const char *errors)
{
        AUTO_BUF struct buf b;

        buf_init(&b, 1 << 20);
        for (size_t i = 0; i < l->resources.n; i++)
                buf_printf(&b, "%s %s\n", l->resources.at[i].identity, l->resources.at[i].source);
        assert_string_equal(b.len ? b.data : "", resources);
        buf_clear(&b);
        for (size_t i = 0; i < l->n_targets; i++)
                if (l->targets[i].error)
                        buf_printf(&b, "%s: %s\n", l->targets[i].target.path, l->targets[i].error);
        assert_string_equal(b.len ? b.data : "", errors);
}

#define GENERATES(command) "version: 1\ncommandUpdated:\n  generators:\n  - command: '" command "'\n"
#define ONE "{apiVersion: v1, kind: ConfigMap, metadata: {name: one}}"

static void both_kinds(struct bench *b, const struct loaded *l)
{
        assert_loaded(l,
                      "default:configmap/one staging/../.flux.yaml\ndefault:configmap/a raw/a.yaml\n"
                      "default:configmap/b raw/b/b.yml\n",
                      "");
        assert_int_equal(l->targets[0].n, 1);
        assert_int_equal(l->targets[1].n, 2);
        assert_int_equal(b->n_run, 1);
}

/* spec/flux-yaml.md checklist 11, 12, 13 */
static void generated_and_raw_paths_are_loaded_together(void **state)
{
        static const char *const files[] = { ".flux.yaml",
                                             GENERATES("say " ONE),
                                             "staging/x.yaml",
                                             CM("ignored"),
                                             "raw/.flux.yaml",
                                             "version: 1\nscanForFiles: {}\n",
                                             "raw/a.yaml",
                                             CM("a"),
                                             "raw/b/b.yml",
                                             CM("b"),
                                             NULL };
        static const char *const paths[] = { "staging", "raw", NULL };
        struct bench b = { .paths = paths };

        run(&b, files, both_kinds);
}

static void all_raw(struct bench *b, const struct loaded *l)
{
        assert_loaded(l, "default:configmap/a a.yaml\n", "");
        assert_int_equal(b->n_run, 0);
}

/* spec/flux-yaml.md checklist 1, 2 */
static void switched_off_the_root_is_raw(void **state)
{
        /* the file itself is one of YAML without a kind */
        static const char *const files[] = { ".flux.yaml", GENERATES("say " ONE), "a.yaml", CM("a"), NULL };
        struct bench b = { .off = true };

        run(&b, files, all_raw);
}

static void one_is_broken(struct bench *b, const struct loaded *l)
{
        assert_loaded(l, "default:configmap/a raw/a.yaml\n",
                      "gen: error executing generator command \"fail x\" from file \".flux.yaml\": exit "
                      "status 1\nerror "
                      "output:\n\ngenerated output:\nx\n"
                      "bad: parsing YAML doc from \"bad/x.yaml\": yaml: line 1: did not find expected node "
                      "content\n"
                      "none: unable to read root path \"none\"\n"
                      "out: path \"../../p\" is outside of base directory /work\n");
        assert_int_equal(l->targets[0].n, 0);
}

/* spec/flux-yaml.md checklist 16, 29, 34 */
static void a_broken_path_leaves_the_others_working(void **state)
{
        static const char *const files[] = {
                "gen/.flux.yaml",
                GENERATES("fail x"),
                "bad/a.yaml",
                CM("good"),
                "bad/x.yaml",
                "a: ]\n",
                "raw/a.yaml",
                CM("a"),
                "out/.flux.yaml",
                "version: 1\npatchUpdated:\n  generators: [{command: say}]\n  patchFile: "
                "../../p\n",
                NULL
        };
        static const char *const paths[] = { "gen", "bad", "raw", "none", "out", NULL };
        struct bench b = { .paths = paths };

        run(&b, files, one_is_broken);
}

static void without_shell(struct bench *b, const struct loaded *l)
{
        assert_loaded(l, "default:configmap/a raw/a.yaml\n",
                      "gen: cannot run \"/bin/sh\": no such file; use an image with a shell\n");
}

/* spec/flux-yaml.md checklist 4 */
static void without_a_shell_raw_paths_work(void **state)
{
        static const char *const files[] = { "gen/.flux.yaml", GENERATES("say " ONE), "raw/a.yaml", CM("a"),
                                             NULL };
        static const char *const paths[] = { "gen", "raw", NULL };
        struct bench b = { .paths = paths, .no_shell = true };

        run(&b, files, without_shell);
}

static void twice(struct bench *b, const struct loaded *l)
{
        assert_loaded(
                l, "default:configmap/one gen/.flux.yaml\ndefault:configmap/z z/z.yaml\n",
                "raw: duplicate definition of 'default:configmap/one' (generated by gen/.flux.yaml and in "
                "raw/a.yaml)\n");
}

/* spec/flux-yaml.md checklist 28, 29 */
static void of_two_paths_with_the_same_object_the_second_is_broken(void **state)
{
        static const char *const files[] = {
                "gen/.flux.yaml", GENERATES("say " ONE), "raw/a.yaml", CM("one"), "z/z.yaml", CM("z"), NULL
        };
        static const char *const paths[] = { "gen", "raw", "z", NULL };
        struct bench b = { .paths = paths };

        run(&b, files, twice);
}

static void unknown(struct bench *b, const struct loaded *l)
{
        assert_loaded(l, "default:configmap/a a.yaml\n", "");
        assert_int_equal(l->n_unknown, 1);
        assert_string_equal(l->unknown[0].resource->identity, "<cluster>:odd/o");
        assert_int_equal(l->targets[0].n, 2);
}

static void objects_of_unknown_scope_are_told_apart(void **state)
{
        static const char *const files[] = {
                "a.yaml", CM("a") "---\napiVersion: x/v1\nkind: Odd\nmetadata: {name: o}\n", NULL
        };
        struct bench b = { 0 };

        run(&b, files, unknown);
}

#define PATCHED                                                                                              \
        "version: 1\npatchUpdated:\n  patchFile: p.yaml\n  generators:\n  - command: |\n      say\n      "   \
        "apiVersion: apps/v1\n      kind: Deployment\n      metadata: {name: d, namespace: ns}\n      "      \
        "spec: "                                                                                             \
        "{template: {spec: {containers: [{name: app, image: one}]}}}\n"

static void is_patched(struct bench *b, const struct loaded *l)
{
        assert_loaded(l, "ns:deployment/d a/../.flux.yaml\nns:deployment/d2 b/b.yaml\n", "");
        const json_t *containers = doc_get_array(l->resources.at[0].doc, "spec.template.spec.containers");

        assert_string_equal(doc_get_string(json_array_get(containers, 0), "image"), "two");
        assert_int_equal(l->targets[0].n_warnings, 1);
        assert_string_equal(l->targets[0].warnings[0],
                            "patch refers to missing resource (ns:deployment/gone)");
}

/* spec/flux-yaml.md checklist 30, 35 */
static void the_patch_file_of_the_target_path_is_applied(void **state)
{
        static const char *const files[] = { ".flux.yaml",
                                             PATCHED,
                                             "a/p.yaml",
                                             DEPLOYMENT("d", "two") "---\n" DEPLOYMENT("gone", "two"),
                                             "b/.flux.yaml",
                                             "version: 1\nscanForFiles: {}\n",
                                             "b/b.yaml",
                                             DEPLOYMENT("d2", "x"),
                                             NULL };
        static const char *const paths[] = { "a", "b", NULL };
        struct bench b = { .paths = paths };

        run(&b, files, is_patched);
}

static void is_not_patched(struct bench *b, const struct loaded *l)
{
        assert_loaded(l, "ns:deployment/d a/../.flux.yaml\n", "");
        assert_int_equal(l->targets[0].n_warnings, 0);
}

/* spec/flux-yaml.md checklist 34 */
static void a_patch_file_that_is_not_there_is_empty(void **state)
{
        static const char *const files[] = { ".flux.yaml", PATCHED, "a/x", "", NULL };
        static const char *const paths[] = { "a", NULL };
        struct bench b = { .paths = paths };

        run(&b, files, is_not_patched);
}

static void cannot_be_patched(struct bench *b, const struct loaded *l)
{
        assert_loaded(l, "",
                      "a: processing \"a\", cannot apply patchFile \"p.yaml\" to generated resources: "
                      "parsing YAML doc "
                      "from \"p.yaml\": yaml: line 1: did not find expected node content\n");
}

static void a_patch_file_that_is_broken_is_told(void **state)
{
        static const char *const files[] = { ".flux.yaml", PATCHED, "a/p.yaml", "a: ]\n", NULL };
        static const char *const paths[] = { "a", NULL };
        struct bench b = { .paths = paths };

        run(&b, files, cannot_be_patched);
}

static void what_was_generated_is_told_apart_from_what_was_patched(void **state)
{
        static const char *const files[] = { ".flux.yaml", PATCHED, "p.yaml", DEPLOYMENT("d", "two"), NULL };
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct resource_list patched, generated;
        struct loaded_target report = { 0 };
        struct flux_target target;
        struct bench b = { 0 };
        AUTO_BUF struct buf text;

        buf_init(&text, PATCH_FILE_BYTES);
        open_bench(&b, files);
        assert_int_equal(flux_target_find(&arena, &b.c.tree, "", true, &target, NULL), 0);
        assert_int_equal(load_target(&arena, &b.load, &target, &patched, &generated, &report, NULL), 0);
        assert_int_equal(patch_file_create(&arena, &generated, &patched, slice_of(DEPLOYMENT("d", "two")),
                                           &text, NULL),
                         0);
        assert_string_equal(text.data,
                            "---\n"
                            "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: d\n  namespace: "
                            "ns\nspec:\n  template:\n    spec:\n      $setElementOrder/containers:\n      - "
                            "name: app\n      containers:\n      - image: two\n        name: app\n");
        checkout_close(&b.c);
}

static void too_much(struct bench *b, const struct loaded *l)
{
        assert_loaded(l, "default:configmap/a small/a.yaml\ndefault:configmap/b last/b.yaml\n",
                      "large: more than 134217728 bytes of manifests in all (LOAD_BYTES)\n"
                      "large: more than 134217728 bytes of manifests in all (LOAD_BYTES)\n");
}

static void a_path_with_too_much_in_it_is_told(void **state)
{
        static const char *const paths[] = { "small", "large", "large", "last", NULL };
        static const size_t size = 7 << 20;
        char *text = mem_must(mem_alloc(size + 1));
        char names[20][20];
        const char *files[2 * ARRAY_LEN(names) + 5] = { "small/a.yaml", CM("a"), "last/b.yaml", CM("b") };
        struct bench b = { .paths = paths };

        memset(text, '#', size);
        text[size] = '\0';
        for (size_t i = 0; i < ARRAY_LEN(names); i++) {
                snprintf(names[i], sizeof(names[i]), "large/%zu.yaml", i);
                files[2 * i + 4] = names[i];
                files[2 * i + 5] = text;
        }
        run(&b, files, too_much);
        mem_free(text);
}

/* Who knows objects by their text must find it when all else has been read. */
static void the_text_stays(struct bench *b, const struct loaded *l)
{
        assert_memory_equal(l->resources.at[0].text.data, CM("a"), strlen(CM("a")));
        assert_int_equal(l->resources.at[0].text.len, strlen(CM("a")));
        assert_memory_equal(l->resources.at[1].text.data, ONE, strlen(ONE));
}

static void objects_keep_the_text_they_were_read_from(void **state)
{
        static const char *const files[] = { "raw/a.yaml", CM("a"), "gen/.flux.yaml", GENERATES("say " ONE),
                                             NULL };
        static const char *const paths[] = { "raw", "gen", NULL };
        struct bench b = { .paths = paths };

        run(&b, files, the_text_stays);
}

static int load_once(void *ctx)
{
        struct bench *b = ctx;
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct error err = { 0 };
        struct loaded l;

        return load_all(&arena, &b->load, &l, &err);
}

static void each_allocation_that_fails_is_told(void **state)
{
        static const char *const files[] = { ".flux.yaml",
                                             PATCHED,
                                             "a/p.yaml",
                                             DEPLOYMENT("d", "two"),
                                             "b/.flux.yaml",
                                             "version: 1\nscanForFiles: {}\n",
                                             "b/b.yaml",
                                             CM("b"),
                                             NULL };
        static const char *const paths[] = { "a", "b", "none", NULL };
        struct bench b = { .paths = paths };

        open_bench(&b, files);
        walk_failing_allocations(load_once, &b);
        checkout_close(&b.c);
}

int main(void)
{
        mem_hook_libraries();
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(generated_and_raw_paths_are_loaded_together),
                cmocka_unit_test(others_run_while_manifests_are_parsed),
                cmocka_unit_test(switched_off_the_root_is_raw),
                cmocka_unit_test(a_broken_path_leaves_the_others_working),
                cmocka_unit_test(without_a_shell_raw_paths_work),
                cmocka_unit_test(of_two_paths_with_the_same_object_the_second_is_broken),
                cmocka_unit_test(objects_of_unknown_scope_are_told_apart),
                cmocka_unit_test(the_patch_file_of_the_target_path_is_applied),
                cmocka_unit_test(a_patch_file_that_is_not_there_is_empty),
                cmocka_unit_test(a_patch_file_that_is_broken_is_told),
                cmocka_unit_test(what_was_generated_is_told_apart_from_what_was_patched),
                cmocka_unit_test(objects_keep_the_text_they_were_read_from),
                cmocka_unit_test(a_path_with_too_much_in_it_is_told),
                cmocka_unit_test(each_allocation_that_fails_is_told),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
