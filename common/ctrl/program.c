#include "common/ctrl/program.h"

#include <stdio.h>

#include "common/base/memory.h"
#include "common/base/text.h"
#include "common/base/version.h"
#include "common/loop/name_service.h"
#include "common/net/http.h"

int program_wait(struct program *p)
{
        while (!p->stopping && fiber_park(p->loop, DEADLINE_NONE) != ERR_CANCELLED)
                ;
        return 0;
}

static int fail(const struct program *p, const struct error *err)
{
        fprintf(stderr, "%s: %s\n", p->name, err->text);
        return 1;
}

static void work(void *ctx)
{
        struct program *p = ctx;
        struct error err = { 0 };
        int code = p->run(p, &err);

        if (code < 0 && !p->stopping) {
                if (!p->tool)
                        log_error(&p->log, "the program ends", "code", error_code_name(code), "error",
                                  err.text);
                p->code = p->tool ? fail(p, &err) : 1;
        }
        fiber_mask_cancel(p->loop);
        if (p->close)
                p->close(p);
        p->group = fiber_group_end(p->group);
        fiber_unmask_cancel(p->loop);
        loop_stop(p->loop);
}

static void terminate(void *ctx)
{
        struct program *p = ctx;

        p->stopping = true;
        log_info(&p->log, "asked to end");
        fiber_group_cancel(p->working);
}

static int start(struct program *p, struct error *err)
{
        p->loop = loop_new_real(err);
        if (!p->loop)
                return ERR_SYSTEM;
        world_init_real(&p->world, p->loop, p->sink);
        p->world.transport = http_transport_curl(&p->world, err);
        if (!p->world.transport)
                return ERR_SYSTEM;
        p->group = fiber_group_new(p->loop, NULL, p->name);
        p->working = fiber_group_new(p->loop, NULL, p->name);
        if (!p->group || !p->working || !fiber_spawn(p->working, p->name, work, p))
                return error_no_memory(err);
        return world_on_terminate(&p->world, terminate, p, err);
}

static void finish(struct program *p)
{
        fiber_group_end(p->working);
        fiber_group_end(p->group);
        http_transport_free(p->world.transport);
        if (p->loop)
                loop_free(p->loop);
}

static int print_help(const struct program *p, FILE *to)
{
        AUTO_BUF struct buf b;

        buf_init(&b, 1u << 20);
        (void)flags_help(p->flags, p->n_flags, &b);
        if (p->about)
                fprintf(to, "%s\n\n", p->about);
        fprintf(to, "Usage of %s:\n%s  -version\n        Prints the version.\n", p->name, b.data);
        return 0;
}

static int print_version(const struct program *p)
{
        printf("%s %s\n", p->name, ARGOSY_VERSION);
        return 0;
}

static int work_to_end(struct program *p)
{
        struct error err = { 0 };

        if (start(p, &err) < 0 || loop_run(p->loop, &err) < 0)
                p->code = fail(p, &err);
        finish(p);
        return p->code;
}

static int prepare(struct program *p)
{
        struct error err = { 0 };

        mem_hook_libraries();
        if (p->keeps_secrets && world_forbid_core_files(&err) < 0)
                return fail(p, &err);
        if (name_service_stand_alone(&err) < 0)
                return fail(p, &err);
        return 0;
}

static void set_log(struct program *p)
{
        p->sink = log_sink_stderr(p->log_format, p->log_level);
        p->log = (struct log){ .sink = p->sink };
}

int program_run(struct program *p)
{
        if (prepare(p) != 0)
                return 1;
        set_log(p);
        return work_to_end(p);
}

int program_main(struct program *p, int argc, char **argv)
{
        struct error err = { 0 };

        if (prepare(p) != 0)
                return 1;
        if (argc == 2 && (text_equal(argv[1], "--version") || text_equal(argv[1], "-version")))
                return print_version(p);
        if (flags_parse(p->flags, p->n_flags, argc, (const char *const *)argv, p->values, &err) < 0) {
                fail(p, &err);
                fprintf(stderr, "%s --help lists the flags\n", p->name);
                return 2;
        }
        if (*p->help)
                return print_help(p, stdout);
        if (p->check && p->check(p, &err) < 0)
                return fail(p, &err);
        set_log(p);
        flags_log_missing(p->flags, p->n_flags, p->values, &p->log);
        return work_to_end(p);
}
