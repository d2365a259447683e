/* kubectl fleet page: the live page on loopback, until it is interrupted. */
#include "common/base/memory.h"
#include "kubectl-fleet/command.h"
#include "kubectl-fleet/page/page.h"

#define TOKEN_BYTES 16
#define OPENER_OUTPUT_MAX (64u << 10)

/* ---- the link ---- */

static void make_token(struct loop *l, char ret[2 * TOKEN_BYTES + 1])
{
        uint8_t random[TOKEN_BYTES];

        loop_random(l, random, sizeof(random));
        text_hex_encode(random, sizeof(random), ret);
}

static const char *link_of(struct session *s, int port, const char *token)
{
        const char *bind = s->options.bind;
        bool v6 = strchr(bind, ':') != NULL;

        return arena_printf(s->arena, "http://%s%s%s:%d/#token=%s", v6 ? "[" : "", bind, v6 ? "]" : "", port,
                            token);
}

/* ---- the browser ---- */

struct opener {
        struct session *s;
        const char *file; /* leads to the link */
};

/* Other users of the machine see the words of a command: the link stands in a file that they cannot read. */
static int write_file(struct opener *o, const char *link, int port, struct error *err)
{
        struct world *w = o->s->world;
        const char *folder = w->process->getenv(w->ctx, "XDG_RUNTIME_DIR");
        const char *home = w->process->getenv(w->ctx, "HOME"), *text;

        if (text_empty(folder))
                folder = text_empty(home) ? NULL : arena_printf(o->s->arena, "%s/.cache", home);
        if (!folder)
                return error_set(err, ERR_NOT_FOUND, "neither $XDG_RUNTIME_DIR nor $HOME is set");
        o->file = arena_printf(o->s->arena, "%s/kubectl-fleet-page-%d.html", folder, port);
        text = arena_printf(o->s->arena,
                            "<!doctype html><meta http-equiv=\"refresh\" content=\"0;url=%s\">\n", link);
        if (!o->file || !text)
                return error_no_memory(err);
        return w->files->write(w->ctx, o->file, text, strlen(text), err);
}

static int run_opener(struct opener *o, const char *program, struct error *err)
{
        struct world *w = o->s->world;
        const char *const argv[] = { program, o->file, NULL };
        const struct world_command c = { .argv = argv, .max_output = OPENER_OUTPUT_MAX };
        AUTO_FREE char *output = NULL;
        size_t len;
        int code;

        return w->process->run(w->ctx, &c, &output, &len, &code, err);
}

/* Some return at once, some with the browser. */
static void open_link(void *ctx)
{
        static const char *const programs[] = { "xdg-open", "open" };
        struct opener *o = ctx;
        struct error err = { 0 };
        int code = ERR_NOT_FOUND;

        for (size_t i = 0; code == ERR_NOT_FOUND && i < ARRAY_LEN(programs); i++)
                code = run_opener(o, programs[i], &err);
        if (code < 0 && code != ERR_CANCELLED)
                session_note(o->s, "No browser was opened: %s", err.text);
}

static void start_opener(struct opener *o, const char *link, int port)
{
        struct error err = { 0 };

        if (!o->s->world->process->run)
                session_note(o->s, "No browser was opened: programs cannot be run here");
        else if (write_file(o, link, port, &err) < 0)
                session_note(o->s, "No browser was opened: %s", err.text);
        else if (!fiber_spawn(o->s->group, "browser", open_link, o))
                session_note(o->s, "No browser was opened: no memory");
}

static void remove_file(const struct opener *o)
{
        struct world *w = o->s->world;

        if (o->file && w->files->remove)
                (void)w->files->remove(w->ctx, o->file, NULL);
}

/* ---- the command ---- */

static int check_page(const struct session *s, struct error *err)
{
        const char *bind = s->options.bind;

        if (text_equal(bind, "::1") || text_starts_with(bind, "127."))
                return 0;
        return error_set(err, ERR_INVALID,
                         "--bind: must be an address of loopback like 127.0.0.1 or ::1, is \"%s\": whoever "
                         "reaches the page and has its link has your rights",
                         bind);
}

static int wait_for_the_end(struct loop *l)
{
        while (fiber_park(l, DEADLINE_NONE) != ERR_CANCELLED)
                ;
        return 0;
}

static int run_page(struct session *s, struct error *err)
{
        char token[2 * TOKEN_BYTES + 1];
        struct opener opener = { .s = s };
        struct page_options o = { .world = s->world,
                                  .log = &s->log,
                                  .hub = &s->hub,
                                  .hub_name = or_empty(s->config.context),
                                  .bind = s->options.bind,
                                  .port = (int)s->options.port,
                                  .token = token };
        struct page *p;
        const char *link;

        make_token(s->world->loop, token);
        TRY(page_start(&o, &p, err));
        link = link_of(s, page_port(p), token);
        if (!link) {
                page_stop(p);
                return error_no_memory(err);
        }
        buf_printf(&s->out, "The page of hub %s: %s\n", o.hub_name, link);
        session_flush(s);
        session_note(s, "Whoever has the link has your rights. Ctrl-C ends the page.");
        if (s->options.open)
                start_opener(&opener, link, page_port(p));
        wait_for_the_end(s->world->loop);
        page_stop(p);
        remove_file(&opener);
        return 0;
}

static const struct flag flags[] = {
        { "port", FLAG_INT, "0", OPTION(port), "Port to listen on; 0 for any that is free.", .most = 65535 },
        { "bind", FLAG_STRING, "127.0.0.1", OPTION(bind), "Address of loopback to listen on." },
        { "open", FLAG_BOOL, "false", OPTION(open), "Opens the link in a browser.", .letter = 'o' },
};

const struct command page_command = {
        .name = "page",
        .summary = "Show the fleet on a live page in the browser",
        .about = "Show the fleet on a live page in the browser: its clusters, placements and staged update "
                 "runs, "
                 "each with a\n"
                 "page of its own that follows what happens.\n\n"
                 "It is served on this machine alone, with the rights of your kubeconfig, until it is "
                 "interrupted; nothing is\n"
                 "installed on the hub. The link that is printed holds a secret: whoever has it has these "
                 "rights.",
        .examples = "kubectl fleet page\n"
                    "kubectl fleet page --open\n"
                    "kubectl fleet page --context hub --port 8080",
        .flags = { flags, ARRAY_LEN(flags) },
        .shared = SHARED_HUB,
        .check = check_page,
        .run = run_page,
};
