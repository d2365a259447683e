/* A manifest-generator whose commands are a table: what they do, they do in the checkout's files. */
#pragma once

#include "common/loop/confined.h"
#include "hub-agent/manifest-generation/generation_rig_test.h"

struct fake_shell {
        struct generator *generator;
        size_t generators, updaters; /* that ran */
        bool missing;                /* there is no /bin/sh */
        char *calls;                 /* what updaters were told, a line each */
};

static struct fake_shell shell; /* a world's process has one context, which is the generator's */

static inline const char *variable(const struct confined *c, const char *name)
{
        size_t n = strlen(name);

        for (size_t i = 0; c->env[i]; i++)
                if (strncmp(c->env[i], name, n) == 0 && c->env[i][n] == '=')
                        return c->env[i] + n + 1;
        return NULL;
}

static inline struct volume *volume_at(const struct confined *c, const char **ret_folder)
{
        const char *rest = c->folder + strlen("/work/");
        struct volume *v = shell.generator->repository.work[*rest - '0'];

        *ret_folder = rest[1] == '/' ? rest + 2 : "";
        assert_non_null(v);
        return v;
}

static inline char *file_there(const struct confined *c, const char *name)
{
        const char *folder;
        struct volume *v = volume_at(c, &folder);
        AUTO_FREE char *path = mem_printf("%s%s%s", folder, *folder ? "/" : "", name);

        return get_file(v, path);
}

static inline void put_there(const struct confined *c, const char *name, const char *text)
{
        const char *folder;
        struct volume *v = volume_at(c, &folder);
        AUTO_FREE char *path = mem_printf("%s%s%s", folder, *folder ? "/" : "", name);

        put_file(v, path, text);
}

/* "print FILE": with @IMAGE@ replaced by what image.txt holds. */
static inline char *print_file(const struct confined *c, const char *name)
{
        AUTO_FREE char *text = file_there(c, name);
        AUTO_FREE char *image = file_there(c, "image.txt");
        char *at;

        shell.generators++;
        if (!text)
                return NULL;
        at = strstr(text, "@IMAGE@");
        if (!at)
                return mem_strdup(text);
        *at = '\0';
        return mem_printf("%s%s%s", text, or_empty(image), at + 7);
}

static inline void note_call(const struct confined *c, const char *line)
{
        char *all = mem_printf("%s%s %s %s %s\n", or_empty(shell.calls), line,
                               or_empty(variable(c, "FLUX_WORKLOAD")),
                               variable(c, "FLUX_CONTAINER") ? variable(c, "FLUX_TAG")
                                                             : or_empty(variable(c, "FLUX_POLICY")),
                               variable(c, "FLUX_POLICY_VALUE") ? variable(c, "FLUX_POLICY_VALUE") : "-");

        mem_free(shell.calls);
        shell.calls = all;
        shell.updaters++;
}

static inline int fake_run(void *ctx, const struct confined *c, struct confined_end *ret, struct error *err)
{
        const char *line = c->argv[2];
        char *out = NULL;

        if (shell.missing)
                return error_set(err, ERR_NOT_FOUND, "no such file");
        *ret = (struct confined_end){ .how = CONFINED_EXITED };
        if (text_starts_with(line, "print ")) {
                out = print_file(c, line + 6);
        } else if (text_equal(line, "set-image")) {
                AUTO_FREE char *image = mem_printf("%s:%s", variable(c, "FLUX_IMG"), variable(c, "FLUX_TAG"));

                note_call(c, line);
                put_there(c, "image.txt", image);
        } else if (!text_equal(line, "fail")) {
                note_call(c, line);
                put_there(c, "touched.txt", line);
        }
        if (text_equal(line, "fail") || (text_starts_with(line, "print ") && !out)) {
                ret->number = 1;
                ret->errors = mem_strdup("something is wrong\n");
                if (c->merges) {
                        out = ret->errors;
                        ret->errors = NULL;
                }
        }
        ret->output = out ? out : mem_strdup("");
        ret->errors = ret->errors ? ret->errors : mem_strdup("");
        ret->output_len = strlen(ret->output);
        ret->errors_len = strlen(ret->errors);
        return 0;
}

static inline const char *no_variable(void *ctx, const char *name)
{
        return NULL;
}

static const struct world_process fake_process = { .getenv = no_variable, .run_confined = fake_run };

static inline void generating(struct rig *r, struct generator *g)
{
        generator_make(r, g);
        shell = (struct fake_shell){ .generator = g };
        g->world.process = &fake_process;
        g->options.generation = true;
        g->options.generator_cache = true;
}

static inline void end_generating(struct generator *g)
{
        generator_end(g);
        mem_free(shell.calls);
}

#define WEB                                                                                                  \
        "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web, namespace: apps}\nspec:\n"             \
        "  selector: {matchLabels: {a: b}}\n  template:\n    metadata: {labels: {a: b}}\n"                   \
        "    spec: {containers: [{name: c, image: '@IMAGE@'}]}\n"
#define DEPLOYMENTS "/apis/apps/v1/namespaces/apps/deployments/"
