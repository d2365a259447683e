/* One container: a process, started again when it ends, asked by its probes. */
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "common/base/limits.h"
#include "common/base/memory.h"
#include "e2e/chart-runner/folder.h"
#include "e2e/chart-runner/image.h"
#include "e2e/chart-runner/pod.h"
#include "e2e/chart-runner/probe.h"
#include "e2e/chart-runner/volumes.h"
#include "e2e/scenarios/process.h"

#define RETRY_MS 2000
#define BACKOFF_STEPS 32            /* the longest wait, in first steps: 10 s to about 5 min */
#define FORGIVEN_MS INT64_C(600000) /* a run this long forgets earlier crashes */
#define IMAGE_USER 65532            /* USER of our images */

/* ---- the plan: container.h ---- */

static const json_t *security(const struct running_container *c, const char *field)
{
        const json_t *own = json_object_get(doc_get_object(c->spec, "securityContext"), field);

        return own ? own : json_object_get(doc_get_object(c->pod->doc, "spec.securityContext"), field);
}

static int64_t user_of(const struct running_container *c, int64_t *ret_group)
{
        const json_t *user = security(c, "runAsUser"), *group = security(c, "runAsGroup");

        *ret_group = group ? json_integer_value(group) : user ? 0 : IMAGE_USER;
        return user ? json_integer_value(user) : IMAGE_USER;
}

static bool drops_all(const struct running_container *c)
{
        json_t *name;
        size_t i;

        json_array_foreach(doc_get_array(c->spec, "securityContext.capabilities.drop"), i, name)
                if (text_equal(json_string_value(name), "ALL"))
                        return true;
        return false;
}

static json_t *groups_of(const struct running_container *c)
{
        json_t *list = json_array(), *extra;
        const json_t *fs = doc_get(c->pod->doc, "spec.securityContext.fsGroup");
        size_t i;

        if (fs)
                json_array_append(list, (json_t *)fs);
        json_array_foreach(doc_get_array(c->pod->doc, "spec.securityContext.supplementalGroups"), i, extra)
                json_array_append(list, extra);
        return list;
}

static int add_mount(struct running_container *c, const json_t *mount, const struct volume_source *s,
                     json_t *mounts, struct error *err)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        const char *source = NULL, *target = NULL;
        size_t at = 0;
        json_t *entry;

        TRY(doc_need_string(mount, "mountPath", &target, err));
        TRY(pod_mount_source(c->pod->doc, mount, s, &arena, &source, err));
        entry = json_pack("{s:s, s:s, s:b}", "source", source, "target", target, "readOnly",
                          doc_get_bool(mount, "readOnly", false));
        /* Parents first: by length of the path. */
        while (at < json_array_size(mounts) &&
               strlen(doc_get_string(json_array_get(mounts, at), "target")) <= strlen(target))
                at++;
        return json_array_insert_new(mounts, at, entry) < 0 ? error_no_memory(err) : 0;
}

static int add_mounts(struct running_container *c, const struct volume_source *s, json_t *plan,
                      struct error *err)
{
        json_t *mounts = json_array(), *mount;
        size_t i;

        if (!mounts || json_object_set_new(plan, "mounts", mounts) < 0)
                return error_no_memory(err);
        json_array_foreach(doc_get_array(c->spec, "volumeMounts"), i, mount)
                TRY(add_mount(c, mount, s, mounts, err));
        return 0;
}

static int put_service_variables(struct running_container *c, struct arena *arena, struct env_list *env)
{
        const struct runner *r = c->pod->runner;
        const char *port = arena_printf(arena, "%d", r->port);
        int code = port ? 0 : ERR_NO_MEMORY;

        code |= env_put(env, arena, "PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin");
        code |= env_put(env, arena, "HOSTNAME", c->pod->name);
        code |= env_put(env, arena, "KUBERNETES_SERVICE_HOST", r->host);
        code |= code < 0 ? code : env_put(env, arena, "KUBERNETES_SERVICE_PORT", port);
        code |= code < 0 ? code : env_put(env, arena, "KUBERNETES_SERVICE_PORT_HTTPS", port);
        return code < 0 ? ERR_NO_MEMORY : 0;
}

static int add_words(struct running_container *c, const struct pod_lookup *lookup, const char *entrypoint,
                     json_t *plan, struct error *err)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct env_list env = { 0 };
        AUTO_JSON json_t *pod = json_incref(c->pod->doc); /* a newer one may come while we wait for answers */
        const char *const *words = NULL;
        json_t *list = json_array(), *variables = json_array();

        if (!list || !variables || json_object_set_new(plan, "words", list) < 0 ||
            json_object_set_new(plan, "env", variables) < 0 || put_service_variables(c, &arena, &env) < 0)
                return error_no_memory(err);
        TRY(pod_env(pod, c->spec, lookup, &arena, &env, err));
        TRY(pod_words(c->spec, entrypoint, &env, &arena, &words, err));
        for (size_t i = 0; words[i]; i++)
                if (json_array_append_new(list, json_string(words[i])) < 0)
                        return error_no_memory(err);
        for (size_t i = 0; i < env.n; i++)
                if (json_array_append_new(variables, json_sprintf("%s=%s", env.at[i].name, env.at[i].value)) <
                    0)
                        return error_no_memory(err);
        return 0;
}

static json_t *plan_basics(struct running_container *c, const struct image_program *image)
{
        const struct running_pod *p = c->pod;
        const char *directory = doc_get_string(c->spec, "workingDir");
        AUTO_FREE char *root = mem_printf("%s/roots/%s", p->folder, c->state->name);
        AUTO_FREE char *program = mem_printf("%s/%s", p->runner->options.programs, image->program);
        AUTO_FREE char *network = mem_printf("/proc/%d/fd/%d", (int)getpid(), p->network.fd);
        int64_t gid, uid = user_of(c, &gid);
        const json_t *escalate = security(c, "allowPrivilegeEscalation"),
                     *read_only = security(c, "readOnlyRootFilesystem");

        if (!root || !program || !network || folder_make(root, NULL) < 0)
                return NULL;
        return json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:i, s:I, s:I, s:o, s:b, s:b, s:b}", "root", root,
                         "program", program, "entrypoint", image->entrypoint, "network", network, "hostname",
                         p->name, "directory", directory ? directory : "/", "parent", (int)getpid(), "uid",
                         (json_int_t)uid, "gid", (json_int_t)gid, "groups", groups_of(c), "readOnlyRoot",
                         json_is_true(read_only), "noNewPrivileges", escalate && json_is_false(escalate),
                         "dropCapabilities", drops_all(c));
}

static int check_user(const struct running_container *c, struct error *err)
{
        int64_t gid;

        if (json_is_true(security(c, "runAsNonRoot")) && user_of(c, &gid) == 0)
                return error_set(err, ERR_INVALID, "container's runAsUser breaks non-root policy");
        return 0;
}

static int make_plan(struct running_container *c, json_t **ret, struct error *err)
{
        const struct image_program *image = image_program_of(c->state->image);
        struct runner_lookup lookup;
        struct pod_lookup get;
        struct volume_source source;
        AUTO_JSON json_t *plan = NULL;
        int code;

        if (!image)
                return error_set(err, ERR_UNSUPPORTED, "no program stands for image \"%s\"", c->state->image);
        TRY(check_user(c, err));
        plan = plan_basics(c, image);
        if (!plan)
                return error_no_memory(err);
        pod_volume_source(c->pod, &lookup, &get, &source);
        code = add_mounts(c, &source, plan, err);
        if (code == 0)
                code = add_words(c, &get, image->entrypoint, plan, err);
        runner_lookup_free(&lookup);
        TRY(code);
        *ret = json_incref(plan);
        return 0;
}

/* ---- one run ---- */

static int write_plan(struct running_container *c, const json_t *plan, const char *path, struct error *err)
{
        struct world *w = c->pod->runner->options.world;
        AUTO_BUF struct buf text;

        buf_init(&text, LIMIT_OBJECT_BYTES);
        if (doc_write(plan, &text) < 0)
                return error_no_memory(err);
        return w->files->write(w->ctx, path, text.data, text.len, err);
}

static int start(struct running_container *c, struct error *err)
{
        const struct runner *r = c->pod->runner;
        AUTO_JSON json_t *plan = NULL;
        AUTO_FREE char *path = mem_printf("%s/%s.plan", c->pod->folder, c->state->name);
        AUTO_FREE char *log =
                mem_printf("%s/logs/%s_%s.log", r->options.scratch, c->pod->name, c->state->name);
        const char *argv[] = { r->options.self, "container", path, NULL };

        if (!path || !log)
                return error_no_memory(err);
        TRY(make_plan(c, &plan, err));
        TRY(write_plan(c, plan, path, err));
        return process_start(r->loop, argv, NULL, log, &c->process, err);
}

static void wait_to_start(struct running_container *c, const char *reason, const char *message)
{
        snprintf(c->state->reason, sizeof(c->state->reason), "%s", reason);
        snprintf(c->state->message, sizeof(c->state->message), "%s", message);
        c->state->phase = CONTAINER_WAITING;
        c->state->ready = c->state->started = false;
        pod_changed(c->pod);
}

static int64_t wall(const struct running_container *c)
{
        return loop_wall_ms(c->pod->runner->loop);
}

static void note_start(struct running_container *c)
{
        struct container_state *s = c->state;

        s->phase = CONTAINER_RUNNING;
        s->pid = process_pid(c->process);
        s->started_ms = wall(c);
        s->reason[0] = s->message[0] = '\0';
        s->started = !doc_get_object(c->spec, "startupProbe");
        s->ready = s->started && !doc_get_object(c->spec, "readinessProbe");
        log_info(c->pod->runner->log, "container started", "pod", c->pod->name, "container", s->name, "pid",
                 LOG_INT(s->pid));
        pod_changed(c->pod);
}

static void note_end(struct running_container *c, int result)
{
        struct container_state *s = c->state;

        s->phase = CONTAINER_ENDED;
        s->exit_code = result;
        s->ended_ms = wall(c);
        s->ready = s->started = false;
        s->last.known = true;
        s->last.exit_code = result;
        s->last.started_ms = s->started_ms;
        s->last.ended_ms = s->ended_ms;
        log_info(c->pod->runner->log, "container ended", "pod", c->pod->name, "container", s->name, "code",
                 LOG_INT(result));
        pod_changed(c->pod);
}

/* ---- probes: one fiber each, for one run ---- */

struct prober {
        struct running_container *container;
        struct probe probe;
        struct probe_count count;
        enum { LIVENESS, READINESS, STARTUP } kind;
};

/* SIGTERM now, SIGKILL when it does not end; the container's fiber sees the end and starts it anew. */
static void kill_unhealthy(struct running_container *c, const char *why)
{
        int pid = process_pid(c->process);

        log_warn(c->pod->runner->log, "liveness probe failed: container will be restarted", "pod",
                 c->pod->name, "container", c->state->name, "error", why);
        if (pid)
                kill(pid, SIGTERM);
        if (fiber_sleep(c->pod->runner->loop, c->pod->grace_ms) == 0 && process_pid(c->process) == pid && pid)
                kill(pid, SIGKILL);
}

/* False: this prober has done its work. */
static bool note_answer(struct prober *p, bool good, const struct error *err)
{
        struct running_container *c = p->container;
        bool verdict = p->kind == LIVENESS    ? true
                       : p->kind == READINESS ? c->state->ready
                                              : c->state->started;

        if (!probe_count(&p->probe, &p->count, good, &verdict) &&
            !(p->kind == STARTUP && p->count.bad >= p->probe.needed_bad))
                return true;
        if (p->kind == READINESS) {
                c->state->ready = verdict;
                log_info(c->pod->runner->log, verdict ? "container is ready" : "container is not ready",
                         "pod", c->pod->name, "container", c->state->name, "error", err->text);
        } else if (verdict) {
                c->state->started = true;
                c->state->ready |= !doc_get_object(c->spec, "readinessProbe");
        } else {
                kill_unhealthy(c, err->text);
                return false;
        }
        pod_changed(c->pod);
        return p->kind != STARTUP;
}

static void probe_fiber(void *ctx)
{
        struct prober *p = ctx;
        struct running_container *c = p->container;
        struct runner *r = c->pod->runner;
        bool more = fiber_sleep(r->loop, p->probe.delay_ms) == 0;

        while (more) {
                struct error err = { 0 };
                int code = 0;

                if (p->kind == STARTUP || c->state->started) {
                        code = probe_ask(r->loop, &c->pod->network, &p->probe, &err);
                        if (fiber_cancelled(r->loop))
                                break;
                        more = note_answer(p, code == 0, &err);
                }
                /* A start is seen soon: kubelet asks at once after a state change, we ask each second. */
                if (more)
                        more = fiber_sleep(r->loop, p->kind == READINESS && !c->state->ready
                                                            ? MIN(p->probe.period_ms, 1000)
                                                            : p->probe.period_ms) == 0;
        }
        mem_free(p);
}

static int start_probe(struct running_container *c, const char *field, int kind, struct error *err)
{
        struct prober *p;
        struct probe probe;
        bool there = false;

        TRY(probe_read(c->spec, field, &probe, &there, err));
        if (!there)
                return 0;
        p = NEW(struct prober);
        if (!p)
                return error_no_memory(err);
        *p = (struct prober){ .container = c, .probe = probe, .kind = kind };
        if (fiber_spawn(c->run, "probe", probe_fiber, p))
                return 0;
        mem_free(p);
        return error_no_memory(err);
}

static int start_probes(struct running_container *c, struct error *err)
{
        TRY(start_probe(c, "startupProbe", STARTUP, err));
        TRY(start_probe(c, "livenessProbe", LIVENESS, err));
        return start_probe(c, "readinessProbe", READINESS, err);
}

/* ---- life ---- */

/* Parks until the process has ended; cancelled, it is told to end first. */
static int attend(struct running_container *c)
{
        struct runner *r = c->pod->runner;
        struct error err = { 0 };
        int code;

        c->run = fiber_group_new(r->loop, c->pod->workers, "container run");
        if (!c->run || start_probes(c, &err) < 0)
                log_error(r->log, "probes cannot be started", "pod", c->pod->name, "container",
                          c->state->name, "error", err.text);
        note_start(c);
        code = process_wait(c->process, DEADLINE_NONE);
        c->run = fiber_group_end(c->run);
        note_end(c, process_stop(TAKE_PTR(c->process), SIGTERM, c->pod->grace_ms));
        return code;
}

/* The first restart comes at once; then the waits double. */
static int wait_before_restart(struct running_container *c)
{
        struct runner *r = c->pod->runner;
        int64_t step = r->options.restart_delay_ms, ms;

        if (c->state->ended_ms - c->state->started_ms >= FORGIVEN_MS)
                c->backoff_ms = 0;
        ms = c->backoff_ms;
        c->backoff_ms = ms ? MIN(ms * 2, step * BACKOFF_STEPS) : step;
        if (ms) {
                wait_to_start(c, "CrashLoopBackOff", "");
                snprintf(c->state->message, sizeof(c->state->message),
                         "back-off %llds restarting failed container=%s pod=%s", (long long)(ms / 1000),
                         c->state->name, c->pod->name);
                TRY(fiber_sleep(r->loop, ms));
        }
        c->state->restarts++;
        return 0;
}

static int start_or_wait(struct running_container *c)
{
        struct error err = { 0 };

        for (;;) {
                int code = start(c, &err);

                if (code == 0)
                        return 0;
                if (code == ERR_CANCELLED)
                        return code;
                wait_to_start(c, code == ERR_UNSUPPORTED ? "ErrImagePull" : "CreateContainerConfigError",
                              err.text);
                TRY(fiber_sleep(c->pod->runner->loop, RETRY_MS));
        }
}

/* Whether a container that has ended stays so. */
static bool is_over(const struct running_container *c)
{
        const char *policy = doc_get_string(c->pod->doc, "spec.restartPolicy");
        bool good = c->state->exit_code == 0;

        if (c->state->init)
                return good && !c->state->restarting;
        return text_equal(policy, "Never") || (good && text_equal(policy, "OnFailure"));
}

void container_fiber(void *container)
{
        struct running_container *c = container;

        for (;;) {
                if (start_or_wait(c) < 0 || attend(c) < 0)
                        return;
                if (is_over(c)) {
                        c->state->ready = c->state->init;
                        pod_changed(c->pod);
                        return;
                }
                if (wait_before_restart(c) < 0)
                        return;
        }
}
