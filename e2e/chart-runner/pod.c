#include "e2e/chart-runner/pod.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "common/base/memory.h"
#include "e2e/chart-runner/folder.h"
#include "e2e/chart-runner/volumes.h"
#include "e2e/scenarios/process.h"

#define RETRY_MS 1000
#define RENEW_RETRY_MS 10000
#define DEFAULT_GRACE_S 30

void pod_changed(struct running_pod *p)
{
        p->dirty = true;
        waitq_wake_all(&p->changed);
}

/* ---- volumes ---- */

/* The user all containers run as, so that a token can be theirs alone; -1 if they differ or it is unknown. */
static int64_t common_user(const json_t *pod)
{
        const json_t *own, *all = doc_get(pod, "spec.securityContext.runAsUser");
        int64_t user = all ? json_integer_value(all) : -1;
        json_t *container;
        size_t i;

        json_array_foreach(doc_get_array(pod, "spec.containers"), i, container) {
                own = doc_get(container, "securityContext.runAsUser");
                if (own && json_integer_value(own) != user && (user >= 0 || i > 0))
                        return -1;
                if (own)
                        user = json_integer_value(own);
        }
        return user;
}

void pod_volume_source(struct running_pod *p, struct runner_lookup *lookup, struct pod_lookup *get,
                       struct volume_source *ret)
{
        runner_lookup_init(lookup, p->runner, get);
        *ret = (struct volume_source){ .lookup = get,
                                       .token = pod_token_get,
                                       .ctx = p,
                                       .folder = p->folder,
                                       .claims = p->runner->claims,
                                       .uid = common_user(p->doc),
                                       .gid = doc_get_int(p->doc, "spec.securityContext.fsGroup", -1) };
        if (p->runner->single_user)
                ret->uid = ret->gid = -1;
}

static int bring_volumes_up(struct running_pod *p, struct error *err)
{
        struct runner_lookup lookup;
        struct pod_lookup get;
        struct volume_source source;
        AUTO_JSON json_t *doc = json_incref(p->doc); /* a newer one may come while we wait for answers */
        int code;

        p->stale = false;
        pod_volume_source(p, &lookup, &get, &source);
        code = pod_volumes(doc, &source, &p->renew_ms, err);
        runner_lookup_free(&lookup);
        return code;
}

/* ---- preparing: network, volumes, then the containers in order ---- */

static int open_network(struct running_pod *p, struct error *err)
{
        struct runner *r = p->runner;

        if (p->network.fd >= 0)
                return 0;
        TRY(pod_network_open(&p->network, r->made++, err));
        p->relays = mem_calloc(r->n_ports, sizeof(struct relay *));
        if (!p->relays)
                return error_no_memory(err);
        for (size_t i = 0; i < r->n_ports; i++) {
                int fd = -1;

                TRY(pod_network_listen(&p->network, r->ports[i], &fd, err));
                TRY(relay_start_on(r->loop, fd, r->ports[i], &p->relays[i], err));
                p->n_relays = i + 1;
        }
        return 0;
}

static void tell_waiting(struct running_pod *p, const char *message)
{
        for (size_t i = 0; i < p->n; i++)
                if (p->states[i].phase == CONTAINER_WAITING)
                        snprintf(p->states[i].message, sizeof(p->states[i].message), "%s", message);
        pod_changed(p);
}

static int prepare(struct running_pod *p)
{
        for (;;) {
                struct error err = { 0 };
                int code = open_network(p, &err);

                if (code == 0)
                        code = bring_volumes_up(p, &err);
                if (code == 0)
                        break;
                if (code == ERR_CANCELLED)
                        return code;
                log_warn(p->runner->log, "pod cannot start yet", "pod", p->name, "error", err.text);
                tell_waiting(p, err.text);
                TRY(fiber_sleep(p->runner->loop, RETRY_MS));
        }
        p->prepared = true;
        tell_waiting(p, "");
        return 0;
}

static int wait_for_init(struct running_pod *p, const struct running_container *c)
{
        while (c->state->restarting ? !c->state->started
                                    : c->state->phase != CONTAINER_ENDED || c->state->exit_code != 0)
                TRY(waitq_wait(p->runner->loop, &p->changed, DEADLINE_NONE));
        return 0;
}

static void starter_fiber(void *ctx)
{
        struct running_pod *p = ctx;

        if (prepare(p) < 0)
                return;
        for (size_t i = 0; i < p->n; i++) {
                struct running_container *c = &p->containers[i];

                if (!fiber_spawn(p->workers, "container", container_fiber, c))
                        log_error(p->runner->log, "container cannot be started: no memory", "pod", p->name);
                if (c->state->init && wait_for_init(p, c) < 0)
                        return;
        }
}

/* ---- keeping: status and volumes ---- */

static int publish(struct running_pod *p, struct error *err)
{
        const struct kube_write to_status = { .subresource = "status" };
        const struct pod_facts facts = { .ip = p->network.ip,
                                         .now_ms = loop_wall_ms(p->runner->loop),
                                         .network_ready = p->prepared,
                                         .ending = p->ending };
        AUTO_JSON json_t *status = NULL, *patch = NULL, *now = NULL;
        int code;

        p->dirty = false;
        if (pod_status(p->doc, p->states, p->n, &facts, &status) < 0)
                return error_no_memory(err);
        patch = json_pack("{s:{s:s}, s:O}", "metadata", "uid", p->uid, "status", status);
        if (!patch)
                return error_no_memory(err);
        code = kube_doc_patch(&p->runner->kube, &pods_resource, p->runner->options.ns, p->name,
                              KUBE_PATCH_MERGE, patch, &to_status, &now, err);
        if (code == ERR_NOT_FOUND || code == ERR_CONFLICT)
                return 0; /* gone, or another of the same name: a list will tell */
        TRY(code);
        (void)doc_set(p->doc, "status", json_incref(doc_get(now, "status")));
        return 0;
}

static void refresh(struct running_pod *p)
{
        struct error err = { 0 };

        if (!p->prepared || (!p->stale && loop_wall_ms(p->runner->loop) < p->renew_ms))
                return;
        if (bring_volumes_up(p, &err) == 0)
                return;
        log_warn(p->runner->log, "volumes are not up to date", "pod", p->name, "error", err.text);
        p->renew_ms = loop_wall_ms(p->runner->loop) + RENEW_RETRY_MS;
}

static int64_t next_deadline(const struct running_pod *p)
{
        struct loop *l = p->runner->loop;

        if (p->renew_ms == INT64_MAX)
                return DEADLINE_NONE;
        return loop_now_ms(l) + MAX(p->renew_ms - loop_wall_ms(l), INT64_C(100));
}

static int keep(struct running_pod *p)
{
        while (!p->ending) {
                struct error err = { 0 };

                if (p->dirty && publish(p, &err) < 0) {
                        log_warn(p->runner->log, "pod status is not written", "pod", p->name, "error",
                                 err.text);
                        p->dirty = true;
                        TRY(fiber_sleep(p->runner->loop, RETRY_MS));
                        continue;
                }
                refresh(p);
                if (p->dirty || p->ending || (p->stale && p->prepared))
                        continue;
                int code = waitq_wait(p->runner->loop, &p->changed, next_deadline(p));

                if (code == ERR_CANCELLED)
                        return code;
        }
        return 0;
}

/* ---- the end ---- */

static int remove_finalizer(struct running_pod *p, struct error *err)
{
        AUTO_JSON json_t *patch = json_pack("{s:{s:s, s:[]}}", "metadata", "uid", p->uid, "finalizers"),
                         *now = NULL;
        json_t *kept = doc_get_array(patch, "metadata.finalizers"), *name;
        bool ours = false;
        size_t i;

        json_array_foreach(doc_get_array(p->doc, "metadata.finalizers"), i, name) {
                if (text_equal(json_string_value(name), RUNNER_FINALIZER))
                        ours = true;
                else
                        json_array_append(kept, name);
        }
        if (!ours)
                return 0;
        int code = kube_doc_patch(&p->runner->kube, &pods_resource, p->runner->options.ns, p->name,
                                  KUBE_PATCH_MERGE, patch, NULL, &now, err);

        return code == ERR_NOT_FOUND ? 0 : code;
}

/* Says to the server that the processes are gone: only now the object goes too. */
static int remove_object(struct running_pod *p, struct error *err)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct http_response answer;
        const char *path =
                arena_printf(&arena, "/api/v1/namespaces/%s/pods/%s", p->runner->options.ns, p->name);
        const char *body =
                arena_printf(&arena,
                             "{\"kind\":\"DeleteOptions\",\"apiVersion\":\"v1\",\"gracePeriodSeconds\":0,"
                             "\"preconditions\":{\"uid\":\"%s\"}}",
                             p->uid);
        int code;

        if (!path || !body)
                return error_no_memory(err);
        TRY(remove_finalizer(p, err));
        code = kube_raw(&p->runner->kube, "DELETE", path, "application/json", slice_of(body), &arena, &answer,
                        err);
        return code == ERR_NOT_FOUND || code == ERR_CONFLICT ? 0 : code;
}

static void finish(struct running_pod *p)
{
        struct error err = { 0 };

        p->dirty = true;
        if (!p->vanished)
                (void)publish(p, &err); /* not ready any more: endpoints and budgets see it before the end */
        fiber_group_cancel(p->workers);
        if (fiber_group_join(p->workers, DEADLINE_NONE) < 0)
                return;
        while (!p->vanished && remove_object(p, &err) < 0) {
                log_warn(p->runner->log, "ended pod is not removed", "pod", p->name, "error", err.text);
                if (fiber_sleep(p->runner->loop, RETRY_MS) < 0)
                        return;
        }
        log_info(p->runner->log, "pod ended", "pod", p->name);
        p->done = true;
        p->runner->changes++;
        waitq_wake_all(&p->runner->changed);
}

static void keeper_fiber(void *ctx)
{
        struct running_pod *p = ctx;

        if (keep(p) == 0)
                finish(p);
}

/* ---- from outside ---- */

static int add_container(struct running_pod *p, const json_t *spec, bool init)
{
        struct container_state *s = &p->states[p->n];
        const char *name = doc_get_string(spec, "name"), *image = doc_get_string(spec, "image");

        p->containers[p->n] =
                (struct running_container){ .pod = p, .state = s, .spec = json_incref((json_t *)spec) };
        *s = (struct container_state){ .name = name ? name : "",
                                       .image = image ? image : "",
                                       .init = init,
                                       .restarting = init && text_equal(doc_get_string(spec, "restartPolicy"),
                                                                        "Always") };
        p->n++;
        return 0;
}

static int add_containers(struct running_pod *p)
{
        const json_t *init = doc_get_array(p->doc, "spec.initContainers"),
                     *main = doc_get_array(p->doc, "spec.containers");
        size_t most = json_array_size(init) + json_array_size(main), i;
        json_t *spec;

        p->containers = mem_calloc(most + 1, sizeof(*p->containers));
        p->states = mem_calloc(most + 1, sizeof(*p->states));
        if (!p->containers || !p->states)
                return ERR_NO_MEMORY;
        json_array_foreach((json_t *)init, i, spec)
                (void)add_container(p, spec, true);
        json_array_foreach((json_t *)main, i, spec)
                (void)add_container(p, spec, false);
        return 0;
}

static int begin(struct running_pod *p)
{
        TRY(add_containers(p));
        p->keepers = fiber_group_new(p->runner->loop, p->runner->group, "pod");
        p->workers = fiber_group_new(p->runner->loop, p->runner->group, "containers");
        if (!p->keepers || !p->workers || folder_make(p->folder, NULL) < 0 ||
            !fiber_spawn(p->workers, "pod start", starter_fiber, p) ||
            !fiber_spawn(p->keepers, "pod", keeper_fiber, p))
                return ERR_NO_MEMORY;
        return 0;
}

struct running_pod *pod_new(struct runner *r, json_t *doc)
{
        struct running_pod *p = NEW(struct running_pod);
        const char *uid = doc_get_string(doc, "metadata.uid"), *name = doc_get_string(doc, "metadata.name");

        if (!p)
                return NULL;
        *p = (struct running_pod){
                .runner = r, .doc = json_incref(doc), .network.fd = -1, .renew_ms = INT64_MAX
        };
        p->uid = mem_strdup(uid ? uid : "");
        p->name = mem_strdup(name ? name : "");
        p->folder = mem_printf("%s/pods/%s", r->options.scratch, uid);
        p->grace_ms = doc_get_int(doc, "spec.terminationGracePeriodSeconds", DEFAULT_GRACE_S) * 1000;
        p->dirty = true;
        if (!p->uid || !p->name || !p->folder || begin(p) < 0)
                return pod_free(p);
        pod_update(p, doc);
        return p;
}

void pod_update(struct running_pod *p, json_t *doc)
{
        int64_t grace = doc_get_int(doc, "metadata.deletionGracePeriodSeconds", 0);

        json_incref(doc);
        json_decref(p->doc);
        p->doc = doc;
        if (!doc_get_string(doc, "metadata.deletionTimestamp") || p->ending)
                return;
        if (grace > 0)
                p->grace_ms = grace * 1000;
        p->ending = true;
        waitq_wake_all(&p->changed);
}

void pod_refresh(struct running_pod *p)
{
        p->stale = true;
        waitq_wake_all(&p->changed);
}

void pod_end(struct running_pod *p)
{
        p->vanished = p->ending = true;
        waitq_wake_all(&p->changed);
}

bool pod_is_done(const struct running_pod *p)
{
        return p->done;
}

struct running_pod *pod_free(struct running_pod *p)
{
        if (!p)
                return NULL;
        p->keepers = fiber_group_end(p->keepers);
        p->workers = fiber_group_end(p->workers);
        for (size_t i = 0; i < p->n_relays; i++)
                relay_stop(p->relays[i]);
        for (size_t i = 0; i < p->n; i++)
                json_decref(p->containers[i].spec);
        pod_network_close(&p->network);
        pod_tokens_free(p);
        if (p->folder)
                folder_remove(AT_FDCWD, p->folder);
        mem_free(p->relays);
        mem_free(p->containers);
        mem_free(p->states);
        mem_free(p->folder);
        mem_free(p->name);
        mem_free(p->uid);
        json_decref(p->doc);
        mem_free(p);
        return NULL;
}
