/* Renders a chart once per case and checks what comes out: chart_cases.h, README.md. */
#include <stdio.h>

#include "common/base/limits.h"
#include "common/base/memory.h"
#include "common/ctrl/program.h"
#include "e2e/charts/chart_cases.h"

struct options {
        bool help;
        const char *helm, *cases, *charts, *scratch, *kube_version, *only;
};

#define AT(field) offsetof(struct options, field)
static const struct flag flag_table[] = {
        { "help", FLAG_BOOL, "false", AT(help), "Prints this text." },
        { "helm", FLAG_STRING, "helm", AT(helm), "The program helm." },
        { "cases", FLAG_STRING, "", AT(cases), "File of cases." },
        { "charts", FLAG_STRING, "charts", AT(charts), "Folder of the charts." },
        { "scratch", FLAG_STRING, "", AT(scratch), "Folder for values and output." },
        { "kube-version", FLAG_STRING, "1.33.0", AT(kube_version), "Version that is rendered for." },
        { "only", FLAG_STRING, "", AT(only), "Runs the case of this name only." },
};

struct runner {
        struct program program;
        struct options options;
        size_t passed, failed;
};

static struct runner *of(struct program *p)
{
        return container_of(p, struct runner, program);
}

static int check(struct program *p, struct error *err)
{
        const struct options *o = &of(p)->options;

        if (text_empty(o->cases) || text_empty(o->scratch))
                return error_set(err, ERR_INVALID, "--cases and --scratch must be given");
        return 0;
}

/* Every sentence that a failing case names must be said. */
static void check_failure(const json_t *fails, const struct rendering *r, struct buf *problems)
{
        const json_t *sentence;
        size_t i;

        if (r->exit_code == 0)
                buf_append_str(problems, "rendering succeeded\n");
        json_array_foreach((json_t *)fails, i, sentence)
                if (r->exit_code != 0 && !strstr(r->said, json_string_value(sentence)))
                        buf_printf(problems, "not said: %s\nbut: %s\n", json_string_value(sentence), r->said);
}

static void check_rendering(const json_t *one, const struct rendering *r, struct buf *problems)
{
        const json_t *fails = json_object_get(one, "fails");

        if (fails) {
                check_failure(fails, r, problems);
        } else if (r->exit_code != 0) {
                buf_printf(problems, "rendering failed: %s\n", r->said);
        } else {
                chart_rules(r->objects, problems);
                command_lines(r->objects, json_object_get(one, "warns"), problems);
                case_expect(one, r->objects, problems);
        }
}

static void run_case(struct runner *r, const struct chart_test *t, const json_t *file, const json_t *one)
{
        const char *name = doc_get_string(one, "case"), *release = doc_get_string(one, "release");
        const char *version = doc_get_string(one, "kube-version");
        const json_t *fails_first = json_object_get(one, "without-base");
        struct chart_test here = *t;
        CLEANUP(rendering_free) struct rendering rendering = { 0 };
        AUTO_BUF struct buf problems;
        struct error err = { 0 };

        buf_init(&problems, 1u << 20);
        if (version)
                here.kube_version = version;
        if (!name)
                buf_append_str(&problems, "a case has no name\n");
        else if (chart_render(&here, release ? release : doc_get_string(file, "chart"),
                              json_is_true(fails_first) ? NULL : json_object_get(file, "values"),
                              json_object_get(one, "values"), json_object_get(one, "set"), &rendering,
                              &err) < 0)
                buf_printf(&problems, "%s\n", err.text);
        else
                check_rendering(one, &rendering, &problems);
        if (problems.len == 0) {
                r->passed++;
                return;
        }
        r->failed++;
        printf("FAILED %s %s\n%s", doc_get_string(file, "chart"), name ? name : "?", problems.data);
}

static int run(struct program *p, struct error *err)
{
        struct runner *r = of(p);
        const struct options *o = &r->options;
        AUTO_FREE char *text = NULL, *chart = NULL;
        AUTO_JSON json_t *file = NULL;
        const json_t *one;
        const char *name = NULL;
        size_t n, i;

        TRY(p->world.files->read(p->world.ctx, o->cases, LIMIT_YAML_BYTES, &text, &n, err));
        TRY(yaml_parse((struct slice){ text, n }, &file, err));
        TRY(doc_need_string(file, "chart", &name, err));
        chart = mem_printf("%s/%s", o->charts, name);
        if (!chart)
                return error_no_memory(err);
        const struct chart_test t = { .world = &p->world,
                                      .helm = o->helm,
                                      .chart = chart,
                                      .scratch = o->scratch,
                                      .kube_version = o->kube_version };
        json_array_foreach(doc_get_array(file, "cases"), i, one)
                if (text_empty(o->only) || text_equal(o->only, doc_get_string(one, "case")))
                        run_case(r, &t, file, one);
        printf("%zu passed, %zu failed\n", r->passed, r->failed);
        p->code = r->failed > 0;
        return 0;
}

int main(int argc, char **argv)
{
        struct runner r = { .program = { .name = "chart-cases",
                                         .flags = flag_table,
                                         .n_flags = ARRAY_LEN(flag_table),
                                         .values = &r.options,
                                         .help = &r.options.help,
                                         .check = check,
                                         .run = run,
                                         .tool = true } };

        return program_main(&r.program, argc, argv);
}
