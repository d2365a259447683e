#include "e2e/chart-runner/pod_status.h"

#include "common/base/timefmt.h"

static json_t *time_of(int64_t ms)
{
        char text[RFC3339_SIZE];

        time_format_rfc3339(ms, text);
        return json_string(text);
}

bool pod_status_ready(const struct container_state *at, size_t n)
{
        for (size_t i = 0; i < n; i++)
                if (!at[i].ready && (!at[i].init || at[i].restarting))
                        return false;
        return true;
}

/* Init containers have ended well; sidecars have started. */
static bool is_initialized(const struct container_state *at, size_t n)
{
        for (size_t i = 0; i < n; i++) {
                if (!at[i].init)
                        continue;
                if (at[i].restarting ? !at[i].started
                                     : at[i].phase != CONTAINER_ENDED || at[i].exit_code != 0)
                        return false;
        }
        return true;
}

/* ---- containers ---- */

static json_t *ended_doc(int exit_code, const char *reason, int64_t started_ms, int64_t ended_ms)
{
        return json_pack("{s:{s:i, s:s, s:o, s:o}}", "terminated", "exitCode", exit_code, "reason",
                         *reason     ? reason
                         : exit_code ? "Error"
                                     : "Completed",
                         "startedAt", time_of(started_ms), "finishedAt", time_of(ended_ms));
}

static json_t *state_doc(const struct container_state *c)
{
        switch (c->phase) {
        case CONTAINER_RUNNING:
                return json_pack("{s:{s:o}}", "running", "startedAt", time_of(c->started_ms));
        case CONTAINER_ENDED:
                return ended_doc(c->exit_code, c->reason, c->started_ms, c->ended_ms);
        case CONTAINER_WAITING:
                break;
        }
        return json_pack("{s:{s:s, s:s*}}", "waiting", "reason", *c->reason ? c->reason : "ContainerCreating",
                         "message", *c->message ? c->message : NULL);
}

static json_t *container_doc(const struct container_state *c)
{
        json_t *last = c->last.known ? ended_doc(c->last.exit_code, "", c->last.started_ms, c->last.ended_ms)
                                     : json_object();
        json_t *doc = json_pack("{s:s, s:s, s:s, s:o, s:o, s:b, s:b, s:i}", "name", c->name, "image",
                                c->image, "imageID", c->image, "state", state_doc(c), "lastState", last,
                                "ready", c->ready, "started", c->phase == CONTAINER_RUNNING && c->started,
                                "restartCount", (int)c->restarts);

        if (doc && c->phase == CONTAINER_RUNNING)
                (void)json_object_set_new(doc, "containerID", json_sprintf("chart-runner://%d", c->pid));
        return doc;
}

static int add_containers(json_t *status, const char *key, const struct container_state *at, size_t n,
                          bool init)
{
        json_t *list = json_array();

        for (size_t i = 0; list && i < n; i++)
                if (at[i].init == init && json_array_append_new(list, container_doc(&at[i])) < 0)
                        return json_decref(list), ERR_NO_MEMORY;
        if (list && json_array_size(list) == 0)
                return json_decref(list), 0;
        return list && json_object_set_new(status, key, list) == 0 ? 0 : ERR_NO_MEMORY;
}

/* ---- conditions ---- */

static const json_t *find(const json_t *pod, const char *type)
{
        json_t *c;
        size_t i;

        json_array_foreach(doc_get_array(pod, "status.conditions"), i, c)
                if (text_equal(doc_get_string(c, "type"), type))
                        return c;
        return NULL;
}

static json_t *condition_doc(const json_t *pod, const char *type, bool good, const char *reason,
                             const char *message, int64_t now_ms)
{
        const json_t *old = find(pod, type);
        const char *status = good ? "True" : "False", *since = doc_get_string(old, "lastTransitionTime");
        bool same = text_equal(doc_get_string(old, "status"), status) && since;

        return json_pack("{s:s, s:s, s:n, s:o, s:s*, s:s*}", "type", type, "status", status, "lastProbeTime",
                         "lastTransitionTime", same ? json_string(since) : time_of(now_ms), "reason",
                         good ? NULL : reason, "message", good ? NULL : message);
}

static int add_conditions(json_t *status, const json_t *pod, const struct container_state *at, size_t n,
                          const struct pod_facts *f)
{
        static const char why[] = "ContainersNotReady", words[] = "containers with unready status";
        bool ready = pod_status_ready(at, n) && !f->ending;
        const json_t *scheduled = find(pod, "PodScheduled");
        json_t *list = json_array();
        int r = 0;

        if (!list)
                return ERR_NO_MEMORY;
        r |= json_array_append_new(list, condition_doc(pod, "PodReadyToStartContainers", f->network_ready,
                                                       NULL, NULL, f->now_ms));
        r |= json_array_append_new(list, condition_doc(pod, "Initialized", is_initialized(at, n),
                                                       "ContainersNotInitialized",
                                                       "containers with incomplete status", f->now_ms));
        r |= json_array_append_new(list, condition_doc(pod, "Ready", ready, why, words, f->now_ms));
        r |= json_array_append_new(list, condition_doc(pod, "ContainersReady", ready, why, words, f->now_ms));
        r |= json_array_append_new(
                list, scheduled ? doc_copy(scheduled)
                                : condition_doc(pod, "PodScheduled", true, NULL, NULL, f->now_ms));
        return json_object_set_new(status, "conditions", list) < 0 || r < 0 ? ERR_NO_MEMORY : 0;
}

/* ---- all ---- */

static const char *phase_of(const struct container_state *at, size_t n, bool was_running)
{
        bool any_failed = false, all_ended = true, all_begun = true;

        for (size_t i = 0; i < n; i++) {
                if (at[i].init)
                        continue;
                all_ended &= at[i].phase == CONTAINER_ENDED;
                all_begun &= at[i].phase != CONTAINER_WAITING || at[i].restarts > 0 || at[i].last.known;
                any_failed |= at[i].phase == CONTAINER_ENDED && at[i].exit_code != 0;
        }
        if (all_ended)
                return any_failed ? "Failed" : "Succeeded";
        return all_begun || was_running ? "Running" : "Pending";
}

int pod_status(const json_t *pod, const struct container_state *at, size_t n, const struct pod_facts *f,
               json_t **ret)
{
        const char *start = doc_get_string(pod, "status.startTime");
        bool was_running = text_equal(doc_get_string(pod, "status.phase"), "Running");
        AUTO_JSON json_t *status = json_pack(
                "{s:s, s:s, s:s, s:o}", "phase", phase_of(at, n, was_running), "hostIP", "127.0.0.1",
                "qosClass",
                doc_get_string(pod, "status.qosClass") ? doc_get_string(pod, "status.qosClass") : "Burstable",
                "startTime", start ? json_string(start) : time_of(f->now_ms));

        if (!status || add_conditions(status, pod, at, n, f) < 0 ||
            add_containers(status, "initContainerStatuses", at, n, true) < 0 ||
            add_containers(status, "containerStatuses", at, n, false) < 0)
                return ERR_NO_MEMORY;
        if (f->network_ready && (doc_set_string(status, "podIP", f->ip) < 0 ||
                                 doc_set(status, "podIPs", json_pack("[{s:s}]", "ip", f->ip)) < 0))
                return ERR_NO_MEMORY;
        *ret = json_incref(status);
        return 0;
}
