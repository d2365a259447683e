/* kubectl fleet page: the live page until it is interrupted, on loopback with a link of its own, or where
 * each user signs in with a token of the hub, as in a pod. */
#include "common/base/memory.h"
#include "common/net/http_files.h"
#include "kubectl-fleet/command.h"
#include "kubectl-fleet/page/page_tls.h"

#define TOKEN_BYTES 16
#define OPENER_OUTPUT_MAX (64u << 10)

static bool users_sign_in(const struct session *s)
{
        return s->options.sign_in || s->options.in_cluster;
}

static bool has_tls(const struct session *s)
{
        return !text_empty(s->options.tls_cert_file);
}

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

        return arena_printf(s->arena, "%s://%s%s%s:%d/%s%s", has_tls(s) ? "https" : "http", v6 ? "[" : "",
                            bind, v6 ? "]" : "", port, token ? "#token=" : "", or_empty(token));
}

/* ---- the browser ---- */

struct opener {
        struct session *s;
        struct fiber_group *group;
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
        else if (!fiber_spawn(o->group, "browser", open_link, o))
                session_note(o->s, "No browser was opened: no memory");
}

static void remove_file(const struct opener *o)
{
        struct world *w = o->s->world;

        if (o->file && w->files->remove)
                (void)w->files->remove(w->ctx, o->file, NULL);
}

/* ---- the command ---- */

static bool is_loopback(const char *address)
{
        return text_equal(address, "::1") || text_starts_with(address, "127.");
}

static bool is_host(const char *host)
{
        static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_:[]";

        return *host && strspn(host, letters) == strlen(host);
}

/* Rules of a page that users sign in to. */
static int check_sign_in(const struct fleet_options *o, struct error *err)
{
        for (size_t i = 0; i < o->hosts.n; i++)
                if (!is_host(o->hosts.at[i]))
                        return error_set(err, ERR_INVALID,
                                         "--allowed-host: must be a name like fleet.example.com or "
                                         "fleet.example.com:8443, is \"%s\"",
                                         o->hosts.at[i]);
        if (text_empty(o->tls_cert_file) != text_empty(o->tls_key_file))
                return error_set(err, ERR_INVALID, "--tls-cert-file and --tls-key-file need each other");
        if (o->in_cluster && (!text_empty(o->kubeconfig) || !text_empty(o->context) ||
                              !text_empty(o->hub_context) || !text_empty(o->impersonate)))
                return error_set(
                        err, ERR_INVALID,
                        "--in-cluster excludes --kubeconfig, --context, --hub-cluster-context and --as");
        if (!is_loopback(o->bind) && text_empty(o->tls_cert_file) && !o->insecure_http)
                return error_set(
                        err, ERR_INVALID,
                        "--bind: \"%s\" is no address of loopback, and tokens of the hub would be sent "
                        "there unprotected: "
                        "give --tls-cert-file and --tls-key-file, or --insecure-http if something "
                        "before the page ends TLS",
                        o->bind);
        return 0;
}

static int check_page(const struct session *s, struct error *err)
{
        const struct fleet_options *o = &s->options;

        if (users_sign_in(s))
                return check_sign_in(o, err);
        if (o->hosts.n || o->insecure_http || !text_empty(o->tls_cert_file) || !text_empty(o->tls_key_file))
                return error_set(err, ERR_INVALID,
                                 "--allowed-host, --insecure-http, --tls-cert-file and --tls-key-file are "
                                 "beside --sign-in or --in-cluster");
        if (is_loopback(o->bind))
                return 0;
        return error_set(err, ERR_INVALID,
                         "--bind: must be an address of loopback like 127.0.0.1 or ::1, is \"%s\": whoever "
                         "reaches the page and has its link has your rights",
                         o->bind);
}

/* ---- the certificate ---- */

static void tell(void *ctx, const char *text)
{
        session_note(ctx, "%s", text);
}

/* ---- running ---- */

static int wait_for_the_end(struct loop *l)
{
        while (fiber_park(l, DEADLINE_NONE) != ERR_CANCELLED)
                ;
        return 0;
}

struct showing {
        struct session *s;
        struct fiber_group *group; /* of all below */
        struct page *page;
        struct page_tls tls;
        struct opener opener;
        struct http_files_follower hub_files; /* a CA that is renewed while the pod runs */
        char token[2 * TOKEN_BYTES + 1];
};

static int start_page(struct showing *w, struct error *err)
{
        struct session *s = w->s;
        const struct page_options o = { .world = s->world,
                                        .log = &s->log,
                                        .hub = &s->hub,
                                        .hub_name =
                                                s->options.in_cluster ? "hub" : or_empty(s->config.context),
                                        .bind = s->options.bind,
                                        .port = (int)s->options.port,
                                        .tls = has_tls(s) ? &w->tls.identity : NULL,
                                        .token = users_sign_in(s) ? NULL : w->token,
                                        .hosts = s->options.hosts.n ? s->options.hosts.at : NULL };

        if (has_tls(s))
                TRY(page_tls_read(&w->tls, err));
        TRY(page_start(&o, &w->page, err));
        w->tls.page = w->page;
        if (has_tls(s) && page_tls_follow(w->group, &w->tls) < 0)
                return error_no_memory(err);
        w->hub_files = (struct http_files_follower){ .world = s->world,
                                                     .log = &s->log,
                                                     .endpoints = { &s->config.endpoint } };
        if (s->options.in_cluster && http_files_follow(w->group, &w->hub_files) < 0)
                return error_no_memory(err);
        return 0;
}

static int show_link(struct showing *w, struct error *err)
{
        struct session *s = w->s;
        int port = page_port(w->page);
        const char *link = link_of(s, port, users_sign_in(s) ? NULL : w->token);

        if (!link)
                return error_no_memory(err);
        buf_printf(&s->out, "The page of hub %s: %s\n",
                   s->options.in_cluster ? "hub" : or_empty(s->config.context), link);
        session_flush(s);
        session_note(s, users_sign_in(s)
                                ? "Each user signs in with a token of the hub and sees what that may see."
                                : "Whoever has the link has your rights. Ctrl-C ends the page.");
        if (s->options.open)
                start_opener(&w->opener, link, port);
        return wait_for_the_end(s->world->loop);
}

static int run_page(struct session *s, struct error *err)
{
        struct showing w = { .s = s,
                             .opener = { .s = s },
                             .tls = { .world = s->world,
                                      .cert_file = s->options.tls_cert_file,
                                      .key_file = s->options.tls_key_file,
                                      .told = tell,
                                      .ctx = s } };
        int code;

        w.group = w.opener.group = fiber_group_new(s->world->loop, s->group, "page command");
        if (!w.group)
                return error_no_memory(err);
        make_token(s->world->loop, w.token);
        code = start_page(&w, err);
        if (code == 0)
                code = show_link(&w, err);
        fiber_group_end(w.group);
        page_stop(w.page);
        tls_identity_free(&w.tls.identity);
        remove_file(&w.opener);
        return code;
}

static const struct flag flags[] = {
        { "port", FLAG_INT, "0", OPTION(port), "Port to listen on; 0 for any that is free.", .most = 65535 },
        { "bind", FLAG_STRING, "127.0.0.1", OPTION(bind),
          "Address to listen on: of loopback, unless users sign in." },
        { "open", FLAG_BOOL, "false", OPTION(open), "Opens the link in a browser.", .letter = 'o' },
        { "sign-in", FLAG_BOOL, "false", OPTION(sign_in),
          "Each user signs in with a token of the hub and sees and does what that may. What is shown is read "
          "with "
          "your rights, which must suffice for TokenReviews and SubjectAccessReviews, too." },
        { "in-cluster", FLAG_BOOL, "false", OPTION(in_cluster),
          "Reaches the hub as a Pod there does, with its service account. Includes --sign-in." },
        { "allowed-host", FLAG_STRINGS, "", OPTION(hosts),
          "Name under which the page may be asked for beside its address, as fleet.example.com or with "
          ":port: of a "
          "Service or an ingress; may be given again." },
        { "tls-cert-file", FLAG_STRING, "", OPTION(tls_cert_file),
          "File with the certificate to serve with, read anew when it changes.",
          .completes = COMPLETES_FILE },
        { "tls-key-file", FLAG_STRING, "", OPTION(tls_key_file), "File with its key.",
          .completes = COMPLETES_FILE },
        { "insecure-http", FLAG_BOOL, "false", OPTION(insecure_http),
          "Serves without TLS on an address beyond loopback. Bearer tokens travel there: put a proxy that "
          "ends TLS "
          "in front, or reach it through kubectl port-forward alone." },
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
                 "rights.\n\n"
                 "With --sign-in there is no such link: each user brings a token of the hub, sees what that "
                 "may "
                 "list, and does what\n"
                 "that may do. So it runs in a Pod of the hub (chart value page.enabled).",
        .examples = "kubectl fleet page\n"
                    "kubectl fleet page --open\n"
                    "kubectl fleet page --context hub --port 8080\n"
                    "kubectl fleet page --sign-in --bind 0.0.0.0 --port 8443 --allowed-host "
                    "fleet.example.com \\\n"
                    "  --tls-cert-file tls.crt --tls-key-file tls.key",
        .flags = { flags, ARRAY_LEN(flags) },
        .shared = SHARED_HUB,
        .check = check_page,
        .run = run_page,
};
