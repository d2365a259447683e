#include "e2e/charts/chart_cases.h"

#include "common/base/limits.h"
#include "common/base/memory.h"
#include "e2e/scenarios/process.h"

#define HELM_MS 60000
#define MOST_WORDS 64
#define MOST_OUTPUT (16u << 20)

void rendering_free(struct rendering *r)
{
        json_decref(r->objects);
        mem_free(r->said);
        *r = (struct rendering){ 0 };
}

static int write_values(const struct chart_test *t, const char *name, const json_t *values, char **ret_path,
                        struct error *err)
{
        AUTO_BUF struct buf b;
        AUTO_FREE char *path = mem_printf("%s/%s", t->scratch, name);

        buf_init(&b, LIMIT_YAML_BYTES);
        if (!path || doc_write(values, &b) < 0)
                return error_no_memory(err);
        TRY(t->world->files->write(t->world->ctx, path, b.data, b.len, err));
        *ret_path = TAKE_PTR(path);
        return 0;
}

/* Runs argv with its output in two files of the scratch folder. */
static int run_helm(const struct chart_test *t, const char *const *argv, int *ret_exit_code,
                    struct error *err)
{
        AUTO_FREE char *out = mem_printf("OUT=%s/out", t->scratch),
                       *said = mem_printf("ERR=%s/err", t->scratch);
        AUTO_FREE char *log = mem_printf("%s/log", t->scratch);
        const char *const environment[] = { out, said, NULL };
        struct process *p;

        if (!out || !said || !log)
                return error_no_memory(err);
        TRY(process_start(t->world->loop, argv, environment, log, &p, err));
        *ret_exit_code = process_stop(p, 0, HELM_MS); /* signal 0: only waits */
        return 0;
}

static int read_output(const struct chart_test *t, struct rendering *r, struct error *err)
{
        AUTO_FREE char *out = mem_printf("%s/out", t->scratch), *said = mem_printf("%s/err", t->scratch);
        AUTO_FREE char *text = NULL;
        size_t n;

        if (!out || !said)
                return error_no_memory(err);
        TRY(t->world->files->read(t->world->ctx, said, MOST_OUTPUT, &r->said, &n, err));
        TRY(t->world->files->read(t->world->ctx, out, MOST_OUTPUT, &text, &n, err));
        if (r->exit_code != 0)
                return 0;
        if (yaml_parse_all((struct slice){ text, n }, &r->objects, err) < 0)
                return error_wrap(err, "what helm rendered");
        return 0;
}

int chart_render(const struct chart_test *t, const char *release, const json_t *base, const json_t *values,
                 const json_t *set, struct rendering *ret, struct error *err)
{
        AUTO_FREE char *base_file = NULL, *file = NULL;
        const char *argv[MOST_WORDS] = { "/bin/sh",      "-c",     "exec \"$@\" >\"$OUT\" 2>\"$ERR\"",
                                         "sh",           t->helm,  "template",
                                         release,        t->chart, "--kube-version",
                                         t->kube_version };
        size_t argc = 10, i;
        const json_t *word;
        struct rendering r = { 0 };

        if (base) {
                TRY(write_values(t, "base.json", base, &base_file, err));
                argv[argc++] = "--values";
                argv[argc++] = base_file;
        }
        if (values) {
                TRY(write_values(t, "values.json", values, &file, err));
                argv[argc++] = "--values";
                argv[argc++] = file;
        }
        json_array_foreach((json_t *)set, i, word) {
                if (argc + 3 > MOST_WORDS)
                        return error_set(err, ERR_LIMIT, "more words for --set than a case may have");
                argv[argc++] = "--set";
                argv[argc++] = json_string_value(word);
        }
        TRY(run_helm(t, argv, &r.exit_code, err));
        if (read_output(t, &r, err) < 0) {
                rendering_free(&r);
                return err->code;
        }
        *ret = r;
        return 0;
}

const json_t *rendered_find(const json_t *objects, const char *kind_and_name)
{
        const char *slash = strchr(kind_and_name, '/');
        const json_t *o;
        size_t i;

        json_array_foreach((json_t *)objects, i, o) {
                const char *kind = doc_get_string(o, "kind"), *name = doc_get_string(o, "metadata.name");

                if (slash && kind && strlen(kind) == (size_t)(slash - kind_and_name) &&
                    strncmp(kind, kind_and_name, strlen(kind)) == 0 && text_equal(name, slash + 1))
                        return o;
        }
        return NULL;
}
