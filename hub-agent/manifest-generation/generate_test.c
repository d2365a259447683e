/* Commands, with a world whose programs are played: what is run is written down, and answered from a table.
 */
#include "hub-agent/manifest-generation/generate.h"

#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "hub-agent/manifest-generation/tree_test.h"

struct answer {
        const char *line, *output, *errors;
        enum confined_how how;
        int number, code;
};

struct bench {
        struct loop *loop;
        struct world world;
        struct world_process process;
        struct commands commands;
        const struct answer *answers; /* the last has no line */
        struct buf log;               /* what was run */
        bool waits;                   /* each runs for a while */
        size_t n_now, n_most;
        void (*body)(struct bench *b);
};

static int play(void *ctx, const struct confined *c, struct confined_end *ret, struct error *err)
{
        struct bench *b = ctx;
        const struct answer *a = b->answers;

        while (a->line && !text_equal(a->line, c->argv[2]))
                a++;
        b->n_now++;
        b->n_most = MAX(b->n_most, b->n_now);
        if (b->waits)
                assert_int_equal(fiber_sleep(b->loop, 1000), 0);
        b->n_now--;
        if (!b->waits)
                buf_printf(&b->log, "%s %s in %s for %lld%s\n", c->argv[0], c->argv[2], c->folder,
                           (long long)c->time_limit_ms, c->merges ? " merged" : "");
        if (a->code)
                return error_set(err, a->code, "cannot run \"%s\": no such file", c->argv[0]);
        *ret = (struct confined_end){ .how = a->how,
                                      .number = a->number,
                                      .output = mem_strdup(or_empty(a->output)),
                                      .errors = mem_strdup(or_empty(a->errors)) };
        if (!ret->output || !ret->errors) {
                mem_free(ret->output);
                mem_free(ret->errors);
                return error_no_memory(err);
        }
        ret->output_len = strlen(ret->output);
        ret->errors_len = strlen(ret->errors);
        return 0;
}

static void run_body(void *ctx)
{
        struct bench *b = ctx;

        b->body(b);
}

static void run(struct bench *b, const struct answer *answers, void (*body)(struct bench *b))
{
        struct fiber_group *group;

        b->answers = answers;
        b->body = body;
        b->loop = loop_new_simulated(1, 0, NULL);
        b->process.run_confined = play;
        b->world = (struct world){ .loop = b->loop, .process = &b->process, .ctx = b };
        b->commands.world = &b->world;
        b->commands.timeout_ms = 60000;
        buf_init(&b->log, 1 << 16);
        group = fiber_group_new(b->loop, NULL, "test");
        assert_non_null(fiber_spawn(group, "test", run_body, b));
        assert_int_equal(loop_run(b->loop, NULL), 0);
        fiber_group_end(group);
        loop_free(b->loop);
        buf_free(&b->log);
}

static struct flux_command two[] = { { "one", 0 }, { "two \"x\"", 120000 } };
static struct flux_updater updaters[] = { { { "image one", 0 }, { NULL, 0 } },
                                          { { "image two", 5000 }, { "policy two", 0 } } };
static struct flux_config config = { .variant = FLUX_COMMAND_UPDATED,
                                     .generators = two,
                                     .n_generators = 2,
                                     .updaters = updaters,
                                     .n_updaters = 2,
                                     .file = ".flux.yaml",
                                     .relative = "../.flux.yaml" };
static const struct flux_target staging = { "staging", "staging", &config };
static const char *const ours[] = { "PATH=/bin",   "API_TOKEN=s", "db_password=s", "MY_SECRET=s", "Key=s",
                                    "KEYBOARD=de", "REGION=eu",   "TMPDIR=/tmp",   NULL };

static struct generation of(struct bench *b)
{
        return (struct generation){ .commands = &b->commands,
                                    .commit = "c1",
                                    .root = "/w/tree",
                                    .temporary = "/w/tmp",
                                    .ours = ours };
}

/* ---- generators ---- */

static void two_print(struct bench *b)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct generation g = of(b);
        const char *message;
        struct slice stream;

        assert_int_equal(generate(&g, &arena, &staging, &stream, &message, NULL), 0);
        assert_string_equal(stream.data, "---\na: 1\n---\nb: 1");
        assert_null(message);
        assert_string_equal(b->log.data, "/bin/sh one in /w/tree/staging for 60000\n"
                                         "/bin/sh two \"x\" in /w/tree/staging for 120000\n");
}

/* spec/flux-yaml.md checklist 7, 15 */
static void generators_run_top_down_in_the_target_path(void **state)
{
        static const struct answer answers[] = { { "one", "a: 1\n" }, { "two \"x\"", "b: 1" }, { 0 } };
        struct bench b = { 0 };

        run(&b, answers, two_print);
}

static void outputs_are_joined_as_documents(void **state)
{
        static const struct {
                const char *first, *second, *joined;
        } rows[] = {
                { "a: 1\n", "b: 1\n", "---\na: 1\n---\nb: 1\n" },
                { "a: 1", "b: 1", "---\na: 1\n---\nb: 1" },
                { "", "b: 1", "---\n---\nb: 1" },
                { "---\na: 1\n", "", "---\n---\na: 1\n---\n" },
        };

        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
                AUTO_BUF struct buf b;

                buf_init(&b, 1000);
                assert_int_equal(generated_join(&b, slice_of(rows[i].first)), 0);
                assert_int_equal(generated_join(&b, slice_of(rows[i].second)), 0);
                assert_string_equal(b.data, rows[i].joined);
        }
}

static void the_second_fails(struct bench *b)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct generation g = of(b);
        struct error err = { 0 };
        const char *message;
        struct slice stream;

        g.cache = generator_cache_new();
        for (int i = 0; i < 2; i++) {
                buf_clear(&b->log);
                assert_int_equal(generate(&g, &arena, &staging, &stream, &message, &err), ERR_INVALID);
                assert_string_equal(message, "error executing generator command \"two \\\"x\\\"\" from file "
                                             "\"../.flux.yaml\": exit status 3\nerror output:\nno such "
                                             "thing\n\ngenerated output:\nb: 1");
                assert_string_equal(err.text, "error executing generator command \"two \\\"x\\\"\" from file "
                                              "\"../.flux.yaml\": exit status 3");
                assert_non_null(strstr(b->log.data, "/bin/sh one")); /* failures are not kept */
        }
        generator_cache_free(g.cache);
}

/* spec/flux-yaml.md checklist 16 */
static void a_generator_that_fails_is_told_with_what_it_said(void **state)
{
        static const struct answer answers[] = {
                { "one", "a: 1\n" }, { "two \"x\"", "b: 1", "no such thing\n", CONFINED_EXITED, 3, 0 }, { 0 }
        };
        struct bench b = { 0 };

        run(&b, answers, the_second_fails);
}

static void fails_so(struct bench *b, const char *words, int code)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct generation g = of(b);
        struct error err = { 0 };
        const char *message;
        struct slice stream;

        assert_int_equal(generate(&g, &arena, &staging, &stream, &message, &err), code);
        assert_string_equal(err.text, words);
}

#define ONE "error executing generator command \"one\" from file \"../.flux.yaml\": "

static void too_long(struct bench *b)
{
        fails_so(b, ONE "context deadline exceeded", ERR_INVALID);
}

static void too_much(struct bench *b)
{
        fails_so(b, ONE "more than 33554432 bytes of output (COMMAND_OUTPUT_BYTES)", ERR_INVALID);
}

static void killed(struct bench *b)
{
        fails_so(b, ONE "signal: killed", ERR_INVALID);
}

static void no_shell(struct bench *b)
{
        fails_so(b, "cannot run \"/bin/sh\": no such file; use an image with a shell", ERR_NOT_FOUND);
}

/* spec/flux-yaml.md checklist 4, 17, 23 */
static void each_way_to_fail_has_its_words(void **state)
{
        static const struct {
                struct answer answers[2];
                void (*body)(struct bench *b);
        } rows[] = {
                { { { "one", .how = CONFINED_TOO_LONG } }, too_long },
                { { { "one", .how = CONFINED_TOO_MUCH } }, too_much },
                { { { "one", .how = CONFINED_SIGNALLED, .number = SIGKILL } }, killed },
                { { { "one", .code = ERR_NOT_FOUND } }, no_shell },
        };

        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
                struct bench b = { 0 };

                run(&b, rows[i].answers, rows[i].body);
        }
}

static size_t runs_of(struct bench *b, struct generation *g, const struct flux_target *t)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        const char *message;
        struct slice stream;
        size_t n = 0;

        buf_clear(&b->log);
        assert_int_equal(generate(g, &arena, t, &stream, &message, NULL), 0);
        assert_string_equal(stream.data, "---\na: 1\n---\nb: 1");
        for (size_t i = 0; i < b->log.len; i++)
                n += b->log.data[i] == '\n';
        return n;
}

static void again_and_again(struct bench *b)
{
        static const char *const other[] = { "REGION=us", NULL };
        static const struct flux_target production = { "production", "production", &config };
        struct generation g = of(b);

        g.cache = generator_cache_new();
        assert_int_equal(runs_of(b, &g, &staging), 2);
        g.temporary = "/w/tmp2";
        assert_int_equal(runs_of(b, &g, &staging), 0);
        assert_int_equal(runs_of(b, &g, &production), 2);
        g.ours = other;
        assert_int_equal(runs_of(b, &g, &staging), 2);
        g.ours = ours;
        g.commit = "c2";
        assert_int_equal(runs_of(b, &g, &staging), 2);
        g.commit = "c1";
        assert_int_equal(runs_of(b, &g, &staging), 0);
        generator_cache_forget(g.cache);
        assert_int_equal(runs_of(b, &g, &staging), 2);
        g.cache = generator_cache_free(g.cache);
        assert_int_equal(runs_of(b, &g, &staging), 2);
}

static const struct answer both[] = { { "one", "a: 1\n" }, { "two \"x\"", "b: 1" }, { 0 } };

/* spec/flux-yaml.md checklist 24 */
static void an_unchanged_commit_runs_nothing(void **state)
{
        struct bench b = { 0 };

        run(&b, both, again_and_again);
}

static void more_than_is_kept(struct bench *b)
{
        struct generation g = of(b);
        char commit[20];

        g.cache = generator_cache_new();
        g.commit = commit;
        for (int i = 0; i <= GENERATOR_CACHE_ENTRIES; i++) {
                snprintf(commit, sizeof(commit), "c%d", i);
                assert_int_equal(runs_of(b, &g, &staging), 2);
                snprintf(commit, sizeof(commit), "c0");
                assert_int_equal(runs_of(b, &g, &staging), 0);
        }
        snprintf(commit, sizeof(commit), "c1");
        assert_int_equal(runs_of(b, &g, &staging), 2);
        generator_cache_free(g.cache);
}

static void what_was_not_used_for_longest_goes_first(void **state)
{
        struct bench b = { 0 };

        run(&b, both, more_than_is_kept);
}

static int generate_once(void *ctx)
{
        struct bench *b = ctx;
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct generation g = of(b);
        struct error err = { 0 };
        const char *message;
        struct slice stream;

        return generate(&g, &arena, &staging, &stream, &message, &err);
}

static int fail_once(void *ctx)
{
        int code = generate_once(ctx);

        return code == ERR_INVALID ? 0 : code;
}

static void walk(struct bench *b)
{
        static const struct answer failing[] = { { "one", .number = 1 }, { 0 } };

        buf_reserve(&b->log, 60000);
        walk_failing_allocations(generate_once, b);
        b->answers = failing;
        walk_failing_allocations(fail_once, b);
}

static void each_allocation_that_fails_is_told(void **state)
{
        struct bench b = { 0 };

        run(&b, both, walk);
}

/* ---- four at once ---- */

static void generate_in_fiber(void *ctx)
{
        assert_int_equal(generate_once(ctx), 0);
}

static void many(struct bench *b)
{
        struct fiber_group *group = fiber_group_new(b->loop, NULL, "many");

        b->waits = true;
        for (int i = 0; i < 10; i++)
                assert_non_null(fiber_spawn(group, "generate", generate_in_fiber, b));
        assert_int_equal(fiber_group_join(group, DEADLINE_NONE), 0);
        fiber_group_end(group);
        assert_int_equal(b->n_most, COMMANDS_AT_ONCE);
        assert_int_equal(b->commands.n_running, 0);
}

static void at_most_four_commands_run_at_once(void **state)
{
        struct bench b = { 0 };

        run(&b, both, many);
}

/* ---- environments ---- */

static void assert_env(const char *const *env, const char *wanted)
{
        AUTO_BUF struct buf b;

        buf_init(&b, 1 << 16);
        for (size_t i = 0; env[i]; i++)
                buf_printf(&b, "%s%s", i ? " " : "", env[i]);
        assert_string_equal(b.data, wanted);
}

static void generators_do_not_see_what_looks_like_a_secret(void **state)
{
        static const char *const shown[] = { "API_TOKEN" };
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct commands c = { 0 };
        const char *const *env;

        assert_int_equal(generator_environment(&c, &arena, ours, "/w/tmp", &env, NULL), 0);
        assert_env(env, "PATH=/bin KEYBOARD=de REGION=eu TMPDIR=/w/tmp");
        c.shown = shown;
        c.n_shown = 1;
        assert_int_equal(generator_environment(&c, &arena, ours, "/w/tmp", &env, NULL), 0);
        assert_env(env, "PATH=/bin API_TOKEN=s KEYBOARD=de REGION=eu TMPDIR=/w/tmp");
}

/* spec/flux-yaml.md checklist 19, 20, 67 */
static void updaters_see_path_and_the_change(void **state)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct update_change c = { .namespace = "default", .kind = "Deployment", .name = "foo" };
        const char *const *env;

        c.container = "app";
        c.image = "nginx";
        c.tag = "1.15";
        assert_int_equal(updater_environment(&arena, ours, &c, &env, NULL), 0);
        assert_env(
                env,
                "PATH=/bin FLUX_WORKLOAD=default:deployment/foo FLUX_WL_NS=default FLUX_WL_KIND=deployment "
                "FLUX_WL_NAME=foo FLUX_CONTAINER=app FLUX_IMG=nginx FLUX_TAG=1.15");
        c.container = NULL;
        c.policy = "tag.app";
        c.value = "glob:a=b *";
        assert_int_equal(updater_environment(&arena, ours, &c, &env, NULL), 0);
        assert_env(
                env,
                "PATH=/bin FLUX_WORKLOAD=default:deployment/foo FLUX_WL_NS=default FLUX_WL_KIND=deployment "
                "FLUX_WL_NAME=foo FLUX_POLICY=tag.app FLUX_POLICY_VALUE=glob:a=b *");
        c.value = NULL;
        assert_int_equal(updater_environment(&arena, ours, &c, &env, NULL), 0);
        assert_env(
                env,
                "PATH=/bin FLUX_WORKLOAD=default:deployment/foo FLUX_WL_NS=default FLUX_WL_KIND=deployment "
                "FLUX_WL_NAME=foo FLUX_POLICY=tag.app");
}

/* ---- updaters ---- */

static const struct update_change image_change = { .namespace = "default",
                                                   .kind = "Deployment",
                                                   .name = "foo",
                                                   .container = "app",
                                                   .image = "nginx",
                                                   .tag = "2" };
static const struct update_change policy_change = {
        .namespace = "default", .kind = "Deployment", .name = "foo", .policy = "automated", .value = "true"
};

static int update(struct bench *b, const struct flux_target *t, const struct update_change *c,
                  const char *words, const char *text)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct error err = { 0 };
        const char *message;
        int code;

        buf_clear(&b->log);
        code = run_updaters(&b->commands, &arena, "/w/tree", t, ours, c, &message, &err);
        assert_string_equal(err.text, words);
        if (text)
                assert_string_equal(message, text);
        else
                assert_null(message);
        return code;
}

static void update_both(struct bench *b)
{
        assert_int_equal(update(b, &staging, &image_change, "", NULL), 0);
        assert_string_equal(b->log.data, "/bin/sh image one in /w/tree/staging for 60000 merged\n"
                                         "/bin/sh image two in /w/tree/staging for 5000 merged\n");
        assert_int_equal(update(b, &staging, &policy_change, "", NULL), 0);
        assert_string_equal(b->log.data, "/bin/sh policy two in /w/tree/staging for 60000 merged\n");
}

static const struct answer updated[] = { { "image one" }, { "image two" }, { "policy two" }, { 0 } };

static void all_updaters_of_the_kind_run_in_order(void **state)
{
        struct bench b = { 0 };

        run(&b, updated, update_both);
}

static void update_in_vain(struct bench *b)
{
        assert_int_equal(update(b, &staging, &image_change,
                                "error executing image updater command \"image one\" from file "
                                "\"../.flux.yaml\": exit "
                                "status 2",
                                "error executing image updater command \"image one\" from file "
                                "\"../.flux.yaml\": exit "
                                "status 2\noutput:\nwrong"),
                         ERR_INVALID);
        assert_string_equal(b->log.data, "/bin/sh image one in /w/tree/staging for 60000 merged\n");
        assert_int_equal(update(b, &staging, &policy_change,
                                "error executing annotation updater command \"policy two\" from file "
                                "\"../.flux.yaml\": signal: terminated",
                                "error executing annotation updater command \"policy two\" from file "
                                "\"../.flux.yaml\": signal: terminated\noutput:\n"),
                         ERR_INVALID);
}

/* spec/flux-yaml.md checklist 21 */
static void an_updater_that_fails_ends_the_list(void **state)
{
        static const struct answer answers[] = { { "image one", "wrong", .number = 2 },
                                                 { "image two" },
                                                 { "policy two", .how = CONFINED_SIGNALLED,
                                                   .number = SIGTERM },
                                                 { 0 } };
        struct bench b = { 0 };

        run(&b, answers, update_in_vain);
}

static void update_without(struct bench *b)
{
        static struct flux_config none = { .variant = FLUX_COMMAND_UPDATED, .relative = ".flux.yaml" };
        static const struct flux_target root = { "", "", &none }, eu = { "eu", "eu", &none };

        assert_int_equal(update(b, &eu, &image_change,
                                "no update.containerImage commands to run in .flux.yaml (from path eu)",
                                NULL),
                         ERR_INVALID);
        assert_int_equal(update(b, &root, &policy_change,
                                "no updaters.policy commands to run in .flux.yaml (from path .)", NULL),
                         ERR_INVALID);
}

/* spec/flux-yaml.md checklist 22 */
static void without_an_updater_there_is_nothing_to_run(void **state)
{
        struct bench b = { 0 };

        run(&b, updated, update_without);
}

static void long_outputs_are_cut_in_messages(void **state)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        size_t n = COMMAND_MESSAGE_BYTES + 10;
        char *said = mem_must(mem_alloc(n));
        const char *text;

        memset(said, 'x', n);
        said[0] = '\0';
        said[1] = '\xff';
        text = command_excerpt(&arena, (struct slice){ said, n });
        assert_true(text_starts_with(text, "??xxx"));
        assert_true(text_ends_with(text, "xxx... (10 more bytes)"));
        assert_string_equal(command_excerpt(&arena, SLICE("a\n\xc3\xbc")), "a\n\xc3\xbc");
        mem_free(said);
}

/* ---- a real shell ---- */

static void shell_generates(void *ctx)
{
        struct bench *b = ctx;
        static struct flux_command lines[] = { { "echo \"region: $REGION\"; pwd; echo ${API_TOKEN-none}",
                                                 0 } };
        static struct flux_config real = {
                .generators = lines, .n_generators = 1, .file = "f", .relative = "f"
        };
        static const struct flux_target usr = { "usr", "usr", &real };
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct generation g = of(b);
        const char *message;
        struct slice stream;

        g.root = "/";
        assert_int_equal(generate(&g, &arena, &usr, &stream, &message, NULL), 0);
        assert_string_equal(stream.data, "---\nregion: eu\n/usr\nnone\n");
}

static void the_shell_runs_them(void **state)
{
        struct bench b = { 0 };
        struct fiber_group *group;

        b.loop = loop_new_real(NULL);
        world_init_real(&b.world, b.loop, NULL);
        b.commands.world = &b.world;
        b.commands.timeout_ms = 60000;
        group = fiber_group_new(b.loop, NULL, "test");
        assert_non_null(fiber_spawn(group, "test", shell_generates, &b));
        assert_int_equal(loop_run(b.loop, NULL), 0);
        fiber_group_end(group);
        loop_free(b.loop);
}

int main(void)
{
        mem_hook_libraries();
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(generators_run_top_down_in_the_target_path),
                cmocka_unit_test(outputs_are_joined_as_documents),
                cmocka_unit_test(a_generator_that_fails_is_told_with_what_it_said),
                cmocka_unit_test(each_way_to_fail_has_its_words),
                cmocka_unit_test(an_unchanged_commit_runs_nothing),
                cmocka_unit_test(what_was_not_used_for_longest_goes_first),
                cmocka_unit_test(each_allocation_that_fails_is_told),
                cmocka_unit_test(at_most_four_commands_run_at_once),
                cmocka_unit_test(generators_do_not_see_what_looks_like_a_secret),
                cmocka_unit_test(updaters_see_path_and_the_change),
                cmocka_unit_test(all_updaters_of_the_kind_run_in_order),
                cmocka_unit_test(an_updater_that_fails_ends_the_list),
                cmocka_unit_test(without_an_updater_there_is_nothing_to_run),
                cmocka_unit_test(long_outputs_are_cut_in_messages),
                cmocka_unit_test(the_shell_runs_them),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
