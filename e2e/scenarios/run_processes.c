/* Scenarios on real programs. One loop serves a whole session, because real Kubernetes stays up from scenario
 * to scenario and is a child process of that loop; devcluster is started anew for each. */
#include "common/base/memory.h"
#include "e2e/scenarios/backend.h"
#include "e2e/scenarios/process_fleet.h"

#define MEMBERS_MAX 3
#define SET_UP_MS 600000 /* many programs share the machine */
#define LOG_FILE_MAX (16u << 20)
#define LOG_FILE_TAIL 4000

struct process_session {
        struct process_session_options o;
        struct loop *loop;
        struct fiber_group *group;
        struct server_program *server; /* real Kubernetes; NULL = a devcluster for each scenario */
        struct log_sink sink;
        struct buf *log; /* of the scenario that runs; NULL between them */
};

/* ---- logs ---- */

static void write_log(void *ctx, const char *line, size_t n)
{
        struct process_session *s = ctx;

        if (s->log)
                buf_append(s->log, line, n);
}

static int64_t log_wall(void *ctx)
{
        struct process_session *s = ctx;

        return loop_wall_ms(s->loop);
}

/* The programs' own logs, for the report of a failure. */
static void collect_logs(struct process_session *s, const char *scratch)
{
        static const char *const names[] = { "devcluster", "hub-agent", "hub-agent-2",
                                             "member-1",   "member-2",  "member-3" };
        struct world w;

        world_init_real(&w, s->loop, NULL);
        for (size_t i = 0; i < ARRAY_LEN(names); i++) {
                AUTO_FREE char *path = mem_printf("%s/%s.log", scratch, names[i]);
                AUTO_FREE char *text = NULL;
                size_t n = 0, skip;

                if (!path || w.files->read(w.ctx, path, LOG_FILE_MAX, &text, &n, NULL) < 0)
                        continue;
                skip = n > LOG_FILE_TAIL ? n - LOG_FILE_TAIL : 0;
                buf_printf(s->log, "== %s\n", names[i]);
                buf_append(s->log, text + skip, n - skip);
        }
}

/* ---- fibers ---- */

/* One function run in a fiber of the session's loop. */
struct task {
        struct process_session *session;
        int (*run)(struct task *t);
        const struct scenario *scenario;
        const char *scratch;
        struct error *err;
        int code;
};

static void task_fiber(void *ctx)
{
        struct task *t = ctx;

        t->code = t->run(t);
        loop_stop(t->session->loop);
}

static int run_task(struct task *t)
{
        struct process_session *s = t->session;

        if (!fiber_spawn(s->group, "scenario", task_fiber, t))
                return error_no_memory(t->err);
        TRY(loop_run(s->loop, t->err));
        return t->code;
}

static int open_fleet(struct task *t, unsigned members, unsigned hub_agents, struct fleet **ret)
{
        struct process_session *s = t->session;
        const struct process_fleet_options o = { .loop = s->loop,
                                                 .log_sink = &s->sink,
                                                 .programs = s->o.programs,
                                                 .scratch = t->scratch,
                                                 .members = members,
                                                 .hub_agents = hub_agents,
                                                 .server = s->server,
                                                 .prepared = t->scenario && s->server };

        return process_fleet_open(&o, ret, t->err);
}

/* What every scenario needs and would make again is part of what a reset brings back. */
static int start_kubernetes(struct task *t)
{
        struct process_session *s = t->session;
        const struct server_program_options o = { .loop = s->loop,
                                                  .log_sink = &s->sink,
                                                  .programs = s->o.programs,
                                                  .scratch = t->scratch,
                                                  .assets = s->o.assets,
                                                  .members = MEMBERS_MAX };
        struct fleet *f;
        int code;

        TRY(server_program_start(&o, &s->server, t->err));
        TRY(open_fleet(t, MEMBERS_MAX, 1, &f));
        code = fleet_prepare(f, loop_now_ms(s->loop) + SET_UP_MS, t->err);
        f->ops->close(f);
        TRY(code);
        return server_program_checkpoint(s->server, t->err);
}

static int stop_kubernetes(struct task *t)
{
        t->session->server = server_program_stop(t->session->server);
        return 0;
}

static int run_scenario(struct task *t)
{
        struct process_session *s = t->session;
        struct fleet *f;
        int code;

        if (s->server && t->scenario->members > MEMBERS_MAX)
                return error_set(t->err, ERR_INVALID, "%s: real Kubernetes has %d members, not %u",
                                 t->scenario->name, MEMBERS_MAX, t->scenario->members);
        if (s->server)
                TRY(server_program_reset(s->server, t->err));
        TRY(open_fleet(t, t->scenario->members, t->scenario->hub_agents, &f));
        f->namespace_account = t->scenario->namespace_account;
        f->member_flags = t->scenario->member_flags;
        f->collect_namespaces = t->scenario->collect_namespaces;
        f->networking_agents = t->scenario->networking_agents;
        f->resource_sets = t->scenario->resource_sets;
        f->admission_policies = t->scenario->admission_policies;
        f->guard_policies = t->scenario->guard_policies;
        f->rule_policies = t->scenario->rule_policies;
        f->webhooks = t->scenario->webhooks;
        f->shards = t->scenario->shards;
        code = fleet_set_up(f, loop_now_ms(s->loop) + SET_UP_MS, t->err);
        if (code < 0)
                error_wrap(t->err, "setting the fleet up");
        else
                code = scenario_run(t->scenario, f, t->err);
        f->ops->close(f);
        return code;
}

/* ---- use ---- */

int process_session_run(struct process_session *s, const struct scenario *scenario, const char *scratch,
                        struct scenario_report *report, struct error *err)
{
        struct task t = {
                .session = s, .run = run_scenario, .scenario = scenario, .scratch = scratch, .err = err
        };
        int64_t began = loop_now_ms(s->loop);
        int code;

        s->log = &report->log;
        code = run_task(&t);
        report->took_ms = loop_now_ms(s->loop) - began;
        if (code < 0)
                collect_logs(s, scratch);
        s->log = NULL;
        return code;
}

struct process_session *process_session_close(struct process_session *s)
{
        struct task stop = { .session = s, .run = stop_kubernetes };

        if (!s)
                return NULL;
        if (s->server)
                run_task(&stop);
        fiber_group_end(s->group);
        loop_free(s->loop);
        mem_free(s);
        return NULL;
}

static int open_all(struct process_session *s, struct error *err)
{
        AUTO_FREE char *scratch = mem_printf("%s/kubernetes", s->o.scratch);
        struct task start = { .session = s, .run = start_kubernetes, .scratch = scratch, .err = err };

        s->group = fiber_group_new(s->loop, NULL, "scenarios");
        if (!s->group || !scratch)
                return error_no_memory(err);
        return s->o.assets ? run_task(&start) : 0;
}

int process_session_open(const struct process_session_options *o, struct process_session **ret,
                         struct error *err)
{
        struct process_session *s = NEW(struct process_session);
        int code;

        if (!s)
                return error_no_memory(err);
        s->o = *o;
        s->sink = (struct log_sink){
                .write = write_log, .wall_ms = log_wall, .ctx = s, .format = LOG_TEXT, .least = LOG_INFO
        };
        s->loop = loop_new_real(err);
        if (!s->loop) {
                mem_free(s);
                return ERR_SYSTEM;
        }
        code = open_all(s, err);
        if (code < 0) {
                process_session_close(s);
                return code;
        }
        *ret = s;
        return 0;
}
