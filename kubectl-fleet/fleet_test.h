/* What the tests of commands share: a hub in a simulated loop, a kubeconfig that names it, and a terminal
 * that keeps what is written. */
#pragma once

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "e2e/devcluster/rig.h"
#include "kubectl-fleet/command.h"
#include "proto/gen/kinds.h"
#include "proto/names.h"

#define CLUSTERS "/apis/cluster.kubernetes-fleet.io/v1beta1/"
#define FLEET "/apis/placement.kubernetes-fleet.io/v1beta1/"
#define KUBECONFIG_PATH "/home/me/.kube/config"
#define KUBECONFIG_TEXT                                                                                      \
        "clusters: [{name: c, cluster: {server: 'https://dev/clusters/hub'}}]\n"                             \
        "users: []\n"                                                                                        \
        "contexts: [{name: hub, context: {cluster: c, namespace: team}}]\n"                                  \
        "current-context: hub\n"

struct user {
        struct rig *rig;
        struct world world;
        struct world_files files;
        struct world_process process;
        struct terminal terminal;
        struct loopback_faults faults;
        int (*fate)(struct user *u,
                    const struct http_request *rq); /* of each request: 0, or an error; may be NULL */
        size_t requests;
        const char *file, *input; /* contents of any other file and of standard input */
        const char *kubeconfig_env;
        struct buf out, err; /* of the last command */
        unsigned columns, rows;
        bool is_full; /* standard output takes no more than `room` bytes */
        size_t room;
};

static inline int user_read(void *ctx, const char *path, size_t max, char **ret, size_t *ret_len,
                            struct error *err)
{
        const struct user *u = ctx;
        const char *text = text_equal(path, KUBECONFIG_PATH) ? KUBECONFIG_TEXT : u->file;

        if (!text)
                return error_set(err, ERR_NOT_FOUND, "%s: no such file", path);
        *ret_len = strlen(text);
        *ret = mem_strdup(text);
        return *ret ? 0 : error_no_memory(err);
}

static inline uint64_t user_stamp(void *ctx, const char *path)
{
        return text_equal(path, KUBECONFIG_PATH);
}

static inline const char *user_environment(void *ctx, const char *name)
{
        const struct user *u = ctx;

        if (text_equal(name, "KUBECONFIG"))
                return u->kubeconfig_env;
        return text_equal(name, "HOME") ? "/home/me" : NULL;
}

static inline bool user_write(void *ctx, bool to_stderr, const char *text, size_t n)
{
        struct user *u = ctx;

        if (!to_stderr && u->is_full && n > u->room - MIN(u->room, u->out.len)) {
                errno = ENOSPC;
                return false;
        }
        buf_append(to_stderr ? &u->err : &u->out, text, n);
        return true;
}

static inline int user_input(void *ctx, int descriptor, char **ret, size_t *ret_len, struct error *err)
{
        const struct user *u = ctx;

        *ret = mem_strdup(u->input ? u->input : "");
        *ret_len = strlen(*ret);
        return 0;
}

static inline void user_size(void *ctx, unsigned *ret_columns, unsigned *ret_rows)
{
        const struct user *u = ctx;

        *ret_columns = u->columns;
        *ret_rows = u->rows;
}

static inline int user_fate(void *ctx, const struct http_request *rq)
{
        struct user *u = ctx;

        u->requests++;
        return u->fate ? u->fate(u, rq) : 0;
}

/* A hub with the fleet's kinds, and somebody at a pipe, not a terminal. */
static inline void user_sits_down(struct rig *r, struct user *u)
{
        *u = (struct user){ .rig = r, .world = r->world };
        u->files = (struct world_files){ .read = user_read, .stamp = user_stamp };
        u->process = (struct world_process){ .getenv = user_environment };
        u->terminal = (struct terminal){ .write = user_write, .read_input = user_input, .ctx = u };
        u->faults = (struct loopback_faults){ .ctx = u, .fate = user_fate };
        u->world.files = &u->files;
        u->world.process = &u->process;
        u->world.ctx = u;
        u->world.transport = loopback_transport(r->net, &u->world, &u->faults);
        buf_init(&u->out, 1u << 20);
        buf_init(&u->err, 1u << 20);
        for (size_t i = 0; i < n_crd_texts; i++)
                if (crd_texts[i].hub)
                        assert_int_equal(rig_post(r,
                                                  "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
                                                  crd_texts[i].json),
                                         201);
}

static inline void user_leaves(struct user *u)
{
        http_transport_free(u->world.transport);
        buf_free(&u->out);
        buf_free(&u->err);
}

/* A terminal of that size in place of the pipe. */
static inline void user_gets_terminal(struct user *u, unsigned columns, unsigned rows)
{
        u->columns = columns;
        u->rows = rows;
        u->terminal.size = user_size;
        u->terminal.colours = true;
}

static inline int fleet_command(struct user *u, int argc, const char *const *argv)
{
        struct fiber_group *group = fiber_group_new(u->rig->loop, NULL, "command");
        int code;

        buf_clear(&u->out);
        buf_clear(&u->err);
        u->requests = 0;
        code = fleet_run(&u->world, group, &u->terminal, argc, argv);
        fiber_group_end(group);
        return code;
}
/* Runs one command line: its exit code. */
#define FLEET_RUN(u, ...)                                                                                    \
        fleet_command((u), (int)ARRAY_LEN(((const char *const[]){ __VA_ARGS__ })),                           \
                      (const char *const[]){ __VA_ARGS__ })

/* What was printed becomes the rig's answer. */
static inline void parse_output(struct user *u)
{
        json_decref(u->rig->answer);
        u->rig->answer = NULL;
        assert_int_equal(doc_parse((struct slice){ u->out.data, u->out.len }, &u->rig->answer, NULL), 0);
}

/* Stores an object with its status; `path` is the collection's. Single quotes stand for double ones. */
static inline void store(struct user *u, const char *path, const char *fmt, ...) PRINTF_LIKE(3, 4);
static inline void store(struct user *u, const char *path, const char *fmt, ...)
{
        char text[16384], where[512];
        va_list args;

        va_start(args, fmt);
        vsnprintf(text, sizeof(text), fmt, args);
        va_end(args);
        for (char *c = text; *c; c++)
                if (*c == '\'')
                        *c = '"';
        if (rig_post(u->rig, path, text) != 201)
                fprintf(stderr, "%s: %s\n", path, u->rig->text);
        assert_int_equal(u->rig->status, 201);
        if (!strstr(text, "\"status\":{"))
                return;
        snprintf(where, sizeof(where), "%s/%s/status", path, rig_string(u->rig, "metadata.name"));
        if (rig_merge(u->rig, where, text) != 200)
                fprintf(stderr, "%s: %s\n", where, u->rig->text);
        assert_int_equal(u->rig->status, 200);
}

/* Whether every line of `want` is in `got`, in this order, with others between; *ret_missing: the first that
 * is not. */
static inline bool has_lines(const char *got, struct slice want, char ret_missing[1024])
{
        struct slice line;

        while (want.len) {
                slice_cut(&want, '\n', &line);
                snprintf(ret_missing, 1024, "%.*s", (int)line.len, line.data);
                got = strstr(got, ret_missing);
                if (!got)
                        return false;
                got += line.len;
        }
        return true;
}

/* As a user reads it. */
static inline void assert_lines(const char *got, const char *want)
{
        char missing[1024];
        bool well = has_lines(got, slice_of(want), missing);

        if (!well)
                fprintf(stderr, "--- missing: %s\n--- in:\n%s\n", missing, got);
        assert_true(well);
}

/* What a terminal would show of the last output, without its colours. */
static inline void plain_text(const struct user *u, struct buf *ret)
{
        for (const char *c = u->out.data; *c; c++) {
                if (*c == '\033')
                        c = strchr(c, 'm');
                else
                        buf_append_char(ret, *c);
        }
}

#define PAGE "docs/kubectl-fleet.md"
#define FENCE "```\n"

static inline void read_page(struct buf *ret)
{
        FILE *f = fopen(PAGE, "re");
        char piece[4096];
        size_t n;

        assert_non_null(f);
        while ((n = fread(piece, 1, sizeof(piece), f)) > 0)
                buf_append(ret, piece, n);
        fclose(f);
}

/* The last output, drawn with --color always, stands in the page: a block that begins with its first line has
 * its lines, in their order; the page may leave some out. */
static inline void assert_on_page(const struct user *u)
{
        AUTO_BUF struct buf page, shown;
        struct slice first, rest;
        char head[512], missing[1024] = "such a block";
        bool well = false;

        buf_init(&page, 1u << 20);
        buf_init(&shown, 1u << 20);
        read_page(&page);
        plain_text(u, &shown);
        rest = slice_of(shown.data);
        slice_cut(&rest, '\n', &first);
        snprintf(head, sizeof(head), FENCE "%.*s\n", (int)first.len, first.data);
        for (const char *at = strstr(page.data, head); at && !well; at = strstr(at, head)) {
                at += strlen(FENCE);
                well = has_lines(shown.data, (struct slice){ at, (size_t)(strstr(at, FENCE) - at) }, missing);
        }
        if (!well)
                fprintf(stderr, "--- in " PAGE ", but not here: %s\n--- here:\n%s\n", missing, shown.data);
        assert_true(well);
}

#define USER_TEST(name, ...)                                                                                 \
        static void body_of_##name(struct user *u) __VA_ARGS__ static void body_##name(struct rig *r)        \
        {                                                                                                    \
                struct user u;                                                                               \
                user_sits_down(r, &u);                                                                       \
                body_of_##name(&u);                                                                          \
                user_leaves(&u);                                                                             \
        }                                                                                                    \
        static void name(void **state)                                                                       \
        {                                                                                                    \
                rig_run(body_##name);                                                                        \
        }
