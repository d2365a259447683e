/* Agents as processes against API servers that are not what they should be: every case of cases.c on the
 * hub-agent and on both sides of the member-agent. Ends in `N passed, N failed`. */
#include <netinet/in.h>
#include <stdio.h>
#include <unistd.h>

#include "common/base/memory.h"
#include "common/ctrl/program.h"
#include "e2e/connections/insider.h"
#include "e2e/connections/play.h"

#define DAY_MS INT64_C(86400000)

struct flags {
        const char *scratch, *only;
        int64_t lanes;
        bool help;
};

static const struct flag flag_table[] = {
        { "scratch", FLAG_STRING, "", offsetof(struct flags, scratch), "an empty folder for files", 0, 0,
          false },
        { "only", FLAG_STRING, "", offsetof(struct flags, only), "runs the cases whose name holds this", 0, 0,
          false },
        { "lanes", FLAG_INT, "8", offsetof(struct flags, lanes), "how many run side by side", 1, 64, false },
        { "help", FLAG_BOOL, "false", offsetof(struct flags, help), "print this help", 0, 0, false },
};

struct run {
        struct program program;
        struct flags flags;
        struct bench bench;
        char programs[4096];
};

static struct run *of(struct program *p)
{
        return container_of(p, struct run, program);
}

static bool is_free(int port)
{
        const struct sockaddr_in at = { .sin_family = AF_INET,
                                        .sin_port = htons((uint16_t)port),
                                        .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
        int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        bool is_free = fd >= 0 && bind(fd, (const struct sockaddr *)&at, sizeof(at)) == 0;

        if (fd >= 0)
                close(fd);
        return is_free;
}

/* Below those that the system gives to connections and to servers which ask for any: one of these may be
 * taken again before the agent listens. */
#define PORT_FIRST 10000
#define PORT_COUNT 20000
int bench_free_port(struct bench *b)
{
        for (int i = 0; i < PORT_COUNT; i++) {
                int port = PORT_FIRST + (int)(((unsigned)getpid() * 37u + b->n_ports++) % PORT_COUNT);

                if (is_free(port))
                        return port;
        }
        return 0;
}

/* ---- certificates ---- */

static int issue(struct bench *b, const char *ca, const char *key, const char *address, int64_t from_days,
                 struct tls_identity *ret, struct error *err)
{
        const char *addresses[] = { address, NULL };
        const struct cert_subject subject = { .common_name = "server", .ip_addresses = addresses };

        TRY(cert_issue(ca, key, &subject, true, loop_wall_ms(b->loop) + from_days * DAY_MS, 3, &ret->cert_pem,
                       &ret->key_pem, err));
        ret->client_ca_pem = mem_strdup(devcluster_ca_pem(b->devcluster));
        return ret->client_ca_pem ? 0 : error_no_memory(err);
}

static int make_certificates(struct bench *b, struct error *err)
{
        int64_t now_ms = loop_wall_ms(b->loop);

        TRY(cert_self_signed_ca("authority", now_ms - 100 * DAY_MS, 1000, &b->ca, &b->ca_key, err));
        TRY(cert_self_signed_ca("another", now_ms - 100 * DAY_MS, 1000, &b->other_ca, &b->other_ca_key, err));
        TRY(issue(b, b->ca, b->ca_key, "127.0.0.1", 0, &b->good, err));
        TRY(issue(b, b->other_ca, b->other_ca_key, "127.0.0.1", 0, &b->other_authority, err));
        TRY(issue(b, b->ca, b->ca_key, "192.0.2.1", 0, &b->other_name, err));
        TRY(issue(b, b->ca, b->ca_key, "127.0.0.1", -10, &b->expired, err));
        return issue(b, b->ca, b->ca_key, "127.0.0.1", 10, &b->not_yet, err);
}

static void free_certificates(struct bench *b)
{
        struct tls_identity *all[] = { &b->good, &b->other_authority, &b->other_name, &b->expired,
                                       &b->not_yet };

        for (size_t i = 0; i < ARRAY_LEN(all); i++)
                tls_identity_free(all[i]);
        mem_free(b->ca);
        mem_free(b->ca_key);
        mem_free(b->other_ca);
        mem_free(b->other_ca_key);
}

/* ---- running ---- */

static int open_bench(struct run *r, struct error *err)
{
        struct bench *b = &r->bench;
        const struct devcluster_options o = { .world = &b->world,
                                              .log = &r->program.log,
                                              .path = ":memory:",
                                              .public_url = "https://127.0.0.1:1",
                                              .anonymous_admin = true };
        const char *cert, *key;

        b->loop = r->program.loop;
        b->world = r->program.world;
        b->programs = r->programs;
        b->scratch = r->flags.scratch;
        TRY(devcluster_open(&o, r->program.group, &b->devcluster, err));
        TRY(insider_authority(b->devcluster, &cert, &key, err));
        TRY(make_certificates(b, err));
        b->net = loopback_new(b->loop);
        b->admin_world = b->world;
        if (!b->net || loopback_listen(b->net, "dev", devcluster_handle, b->devcluster) < 0 ||
            !(b->admin_world.transport = loopback_transport(b->net, &b->world, NULL)))
                return error_no_memory(err);
        return 0;
}

static void close_bench(struct bench *b)
{
        if (b->admin_world.transport != b->world.transport)
                http_transport_free(b->admin_world.transport);
        if (b->net) {
                loopback_listen(b->net, "dev", NULL, NULL);
                loopback_free(b->net);
        }
        devcluster_close(b->devcluster);
        free_certificates(b);
}

struct ticket {
        struct bench *b;
        const struct connection_case *c;
        enum agent_side side;
};

static void play(void *ctx)
{
        struct ticket t = *(struct ticket *)ctx;

        mem_free(ctx);
        scene_run(t.b, t.c, t.side);
}

static int start_one(struct run *r, struct fiber_group *group, const struct connection_case *c,
                     enum agent_side side, struct error *err)
{
        struct ticket *t = NEW(struct ticket);

        if (!t)
                return error_no_memory(err);
        *t = (struct ticket){ &r->bench, c, side };
        if (fiber_group_wait_below(group, (size_t)r->flags.lanes) == 0 &&
            fiber_spawn(group, c->name, play, t))
                return 0;
        mem_free(t);
        return error_set(err, ERR_CANCELLED, "cancelled");
}

static int run_all(struct run *r, struct error *err)
{
        struct fiber_group *group = fiber_group_new(r->bench.loop, NULL, "scenes");
        int code = group ? 0 : error_no_memory(err);

        for (size_t i = 0; i < n_connection_cases && code == 0; i++)
                for (enum agent_side s = HUB_AGENT; s <= MEMBER_OWN && code == 0; s <<= 1)
                        if (strstr(connection_cases[i].name, r->flags.only))
                                code = start_one(r, group, &connection_cases[i], s, err);
        if (code == 0)
                code = fiber_group_join(group, DEADLINE_NONE);
        if (group)
                fiber_group_end(group);
        return code;
}

static int run(struct program *p, struct error *err)
{
        struct run *r = of(p);
        int code = open_bench(r, err);

        if (code == 0)
                code = run_all(r, err);
        fiber_mask_cancel(p->loop);
        close_bench(&r->bench);
        fiber_unmask_cancel(p->loop);
        printf("%u passed, %u failed\n", r->bench.passed, r->bench.failed);
        return code == 0 && r->bench.failed ? error_set(err, ERR_INVALID, "%u scenes failed", r->bench.failed)
                                            : code;
}

static int check(struct program *p, struct error *err)
{
        p->log_level = LOG_WARN;
        return text_empty(of(p)->flags.scratch) ? error_set(err, ERR_INVALID, "--scratch is needed") : 0;
}

int main(int argc, char **argv)
{
        struct run r = { .program = { .name = "connection-cases",
                                      .flags = flag_table,
                                      .n_flags = ARRAY_LEN(flag_table),
                                      .values = &r.flags,
                                      .help = &r.flags.help,
                                      .check = check,
                                      .run = run,
                                      .tool = true } };

        snprintf(r.programs, sizeof(r.programs), "%.*s", (int)(strrchr(argv[0], '/') - argv[0]), argv[0]);
        setvbuf(stdout, NULL, _IOLBF, 0);
        return program_main(&r.program, argc, argv);
}
