/* A hostile member against a fleet of real programs: on devcluster, or with --assets on real Kubernetes. Ends
 * in `N passed, N failed`. */
#include <getopt.h>
#include <stdio.h>

#include "common/base/memory.h"
#include "e2e/hostile/hostile.h"
#include "e2e/scenarios/process_fleet.h"

#define SET_UP_MS 240000
#define ASK_MS 20000

/* ---- requests ---- */

static void read_text(struct http_stream *s, int64_t deadline_ms, struct answer *ret)
{
        size_t used = 0;
        struct slice piece;

        while (http_stream_read(s, deadline_ms, &piece, NULL) == 0) {
                size_t n = MIN(piece.len, sizeof(ret->text) - 1 - used);

                memcpy(ret->text + used, piece.data, n);
                used += n;
        }
        ret->text[used] = '\0';
}

void hostile_ask(struct hostile *h, const struct ask *a, struct answer *ret)
{
        struct world *w = h->admin->world;
        struct http_header headers[3];
        struct http_request rq = { .endpoint = a->endpoint ? a->endpoint : &h->hub,
                                   .method = a->method,
                                   .path = a->path,
                                   .headers = { headers, 0 },
                                   .body = slice_of(a->body ? a->body : ""),
                                   .deadline_ms = loop_now_ms(w->loop) + ASK_MS };
        struct http_stream *s = NULL;
        struct error err = { 0 };

        if (a->authorization)
                headers[rq.headers.n++] = (struct http_header){ "Authorization", a->authorization };
        if (a->content_type)
                headers[rq.headers.n++] = (struct http_header){ "Content-Type", a->content_type };
        if (a->header)
                headers[rq.headers.n++] = (struct http_header){ a->header, a->value };
        *ret = (struct answer){ 0 };
        if (http_stream_open(w->transport, &rq, &s, &err) < 0) {
                snprintf(ret->text, sizeof(ret->text), "%s", err.text);
                return;
        }
        ret->status = s->status;
        read_text(s, loop_now_ms(w->loop) + ASK_MS, ret);
        http_stream_close(s);
}

void hostile_passed(struct hostile *h)
{
        h->passed++;
}

void hostile_failed(struct hostile *h, const char *what, const struct answer *a)
{
        h->failed++;
        printf("FAILED %s\n", what);
        if (a)
                printf("  %d %.600s\n", a->status, a->text);
}

/* ---- the fleet ---- */

struct run {
        struct loop *loop;
        struct log_sink sink;
        const char *programs, *scratch, *assets;
        struct hostile h;
        int code;
};

/* Agents would change what is compared, and answer for the hostile member. */
static int stop_members(struct fleet *f, struct error *err)
{
        TRY(f->ops->stop_agent(f, HOSTILE, false, err));
        return f->ops->stop_agent(f, VICTIM, false, err);
}

static int try_all(struct run *r, struct fleet *f, struct error *err)
{
        struct hostile *h = &r->h;

        h->fleet = f;
        TRY(fleet_set_up(f, loop_now_ms(r->loop) + SET_UP_MS, err));
        TRY(f->ops->client(f, "hub", &h->admin, err));
        h->hub = (struct http_endpoint){ .base_url = h->admin->endpoint->base_url,
                                         .ca_pem = h->admin->endpoint->ca_pem };
        TRY(ground_prepare(h, err));
        TRY(fleet_member_token(f, HOSTILE, 3600, &h->token, err));
        TRY(stop_members(f, err));
        TRY(ground_wait_for_policy(h, err));
        TRY(attempts_try(h, err));
        return credentials_try(h, err);
}

static int run_in_fleet(struct run *r, struct error *err)
{
        const struct server_program_options so = { .loop = r->loop,
                                                   .log_sink = &r->sink,
                                                   .programs = r->programs,
                                                   .scratch = r->scratch,
                                                   .assets = r->assets,
                                                   .members = 2 };
        struct process_fleet_options o = { .loop = r->loop,
                                           .log_sink = &r->sink,
                                           .programs = r->programs,
                                           .scratch = r->scratch,
                                           .members = 2,
                                           .direct = true };
        struct fleet *f;
        int code;

        TRY(server_program_start(&so, &o.server, err));
        code = process_fleet_open(&o, &f, err);
        if (code == 0) {
                code = try_all(r, f, err);
                f->ops->close(f);
        }
        server_program_stop(o.server);
        return code;
}

static void run_fiber(void *ctx)
{
        struct run *r = ctx;
        struct error err = { 0 };

        r->code = run_in_fleet(r, &err);
        if (r->code < 0) {
                printf("FAILED the fleet\n  %s\n", err.text);
                r->h.failed++;
        }
        mem_free(r->h.token);
}

static int usage(void)
{
        fputs("usage: hostile-member --scratch DIR [--programs DIR] [--assets DIR]\n", stderr);
        return 2;
}

int main(int argc, char **argv)
{
        static const struct option longs[] = {
                { "scratch", 1, NULL, 'd' }, { "programs", 1, NULL, 'p' }, { "assets", 1, NULL, 'a' }, { 0 }
        };
        struct run r = { .programs = "build/bin" };
        struct fiber_group *group;
        struct error err;
        int c;

        mem_hook_libraries();
        while ((c = getopt_long(argc, argv, "", longs, NULL)) != -1) {
                if (c != 'd' && c != 'p' && c != 'a')
                        return usage();
                *(c == 'd' ? &r.scratch : c == 'p' ? &r.programs : &r.assets) = optarg;
        }
        if (!r.scratch || optind < argc)
                return usage();
        r.sink = *log_sink_stderr(LOG_TEXT, LOG_WARN);
        r.loop = loop_new_real(&err);
        group = r.loop ? fiber_group_new(r.loop, NULL, "hostile") : NULL;
        if (!group || !fiber_spawn(group, "hostile", run_fiber, &r))
                return 1;
        (void)loop_run(r.loop, &err);
        fiber_group_end(group);
        loop_free(r.loop);
        printf("%u passed, %u failed\n", r.h.passed, r.h.failed);
        return r.h.failed > 0;
}
