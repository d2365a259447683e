#include "common/base/limits.h"
#include "common/base/memory.h"
#include "e2e/differential/differential.h"
#include "e2e/scenarios/process.h"

/* A folder of the script's own per target, with its files, HOME and what commands print. */
static int write_files(struct target *t, const struct script *s, struct variables *v, const char *folder,
                       struct error *err)
{
        const char *name;
        json_t *text;

        TRY(t->world->files->make_directory(t->world->ctx, folder, err));
        json_object_foreach(doc_get_object(s->doc, "files"), name, text) {
                AUTO_FREE char *path = mem_printf("%s/%s", folder, name);
                const char *expanded =
                        json_is_string(text) ? variables_expand(v, json_string_value(text)) : NULL;

                if (!path || !expanded)
                        return error_set(err, ERR_INVALID, "%s: files: %s must be a text", s->name, name);
                TRY(t->world->files->write(t->world->ctx, path, expanded, strlen(expanded), err));
        }
        return 0;
}

/* `kubectl` is a function that says which server, context and namespace. */
static char *command_text(struct target *t, struct variables *v, const char *folder, const char *line)
{
        const char *ns = map_get(&v->values, "ns");

        return arena_printf(v->arena,
                            "export KUBECONFIG='%s' HOME='%s' KUBE_EDITOR='sh ./editor.sh' && "
                            "kubectl() { command '%s' --context='%s' %s%s \"$@\"; }; cd '%s' || exit 99\n"
                            "{ %s\n} <.stdin >.stdout 2>.stderr",
                            t->kubeconfig, folder, t->kubectl, t->context, ns ? "-n " : "", ns ? ns : "",
                            folder, line);
}

/* Columns are as wide as their longest cell, addresses and ages included: spaces in a row count as two. In
 * place; returns the new length. */
static size_t narrow(char *line, size_t n)
{
        size_t to = 0;

        for (size_t i = 0; i < n; i++)
                if (line[i] != ' ' || to < 2 || line[to - 1] != ' ' || line[to - 2] != ' ')
                        line[to++] = line[i];
        return to;
}

static int read_lines(struct target *t, const char *folder, const char *name, json_t **ret, struct error *err)
{
        AUTO_FREE char *path = mem_printf("%s/%s", folder, name), *text = NULL;
        AUTO_JSON json_t *lines = json_array();
        struct slice rest, line;
        size_t n;

        TRY(t->world->files->read(t->world->ctx, path, LIMIT_YAML_BYTES, &text, &n, err));
        rest = (struct slice){ text, n };
        while (rest.len) {
                (void)slice_cut(&rest, '\n', &line);
                line.len = narrow((char *)line.data, line.len);
                if (json_array_append_new(lines, json_stringn(line.data, line.len)) < 0)
                        return error_set(err, ERR_INVALID, "a command printed what is not UTF-8");
        }
        *ret = TAKE_PTR(lines);
        return 0;
}

int play_command(struct target *t, const struct script *s, struct variables *v, const json_t *step,
                 json_t **ret, struct error *err)
{
        const char *folder = arena_printf(v->arena, "%s/%s-%s", t->scratch, t->name, s->name);
        const char *line = variables_expand(v, doc_get_string(step, "run"));
        const char *in = doc_get_string(step, "stdin");
        char *text = folder && line ? command_text(t, v, folder, line) : NULL;
        const char *argv[] = { "/bin/sh", "-c", text, NULL };
        AUTO_FREE char *stdin_path = mem_printf("%s/.stdin", folder);
        AUTO_FREE char *log = mem_printf("%s/.shell", folder);
        json_t *out = NULL, *errors = NULL;
        struct process *p;
        int code;

        in = in ? variables_expand(v, in) : "";
        if (!text || !stdin_path || !log || !in)
                return error_no_memory(err);
        TRY(write_files(t, s, v, folder, err));
        TRY(t->world->files->write(t->world->ctx, stdin_path, in, strlen(in), err));
        TRY(process_start(t->world->loop, argv, NULL, log, &p, err));
        code = process_stop(p, 0, DIFFERENTIAL_STEP_MS); /* signal 0: only waits */
        TRY(read_lines(t, folder, ".stdout", &out, err));
        TRY(read_lines(t, folder, ".stderr", &errors, err));
        *ret = json_pack("{s:i,s:o,s:o}", "exit", code, "stdout", out, "stderr", errors);
        return *ret ? 0 : error_no_memory(err);
}
