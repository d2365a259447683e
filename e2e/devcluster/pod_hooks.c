/* Pods as resources: what is filled in, what may change, eviction, binding and ephemeral containers. */
#include "common/base/timefmt.h"
#include "e2e/devcluster/builtin/defaults.h"
#include "e2e/devcluster/builtin_hooks.h"
#include "e2e/devcluster/internal.h"
#include "e2e/devcluster/meta.h"
#include "e2e/devcluster/rest_write.h"

static const char *text_at(const json_t *doc, const char *path)
{
        const char *s = doc_get_string(doc, path);
        return s ? s : "";
}

/* Whether a container says nothing, or all there is to say, about cpu and memory. */
static void weigh(const json_t *container, bool *any, bool *all)
{
        static const char *const counted[] = { "cpu", "memory" };
        const json_t *limits = doc_get_object(container, "resources.limits"),
                     *requests = doc_get_object(container, "resources.requests");
        for (size_t i = 0; i < ARRAY_LEN(counted); i++) {
                const json_t *limit = json_object_get(limits, counted[i]),
                             *request = json_object_get(requests, counted[i]);
                *any = *any || limit || request;
                *all = *all && limit && request && doc_equal(limit, request);
        }
}

static const char *quality_of(const json_t *pod)
{
        static const char *const lists[] = { "spec.containers", "spec.initContainers" };
        size_t i;
        json_t *c;
        bool any = false, all = true;
        for (size_t k = 0; k < ARRAY_LEN(lists); k++)
                json_array_foreach(doc_get_array(pod, lists[k]), i, c)
                        weigh(c, &any, &all);
        return !any ? "BestEffort" : all ? "Guaranteed" : "Burstable";
}

static bool is_gated(const json_t *pod)
{
        return json_array_size(doc_get_array(pod, "spec.schedulingGates")) > 0;
}

int pod_complete_status(json_t *pod, int64_t now_ms)
{
        char now[RFC3339_SIZE];
        time_format_rfc3339(now_ms, now);
        TRY(doc_set_string(pod, "status.qosClass", quality_of(pod)));
        if (!is_gated(pod))
                return 0;
        return doc_set(pod, "status.conditions",
                       json_pack("[{s:s,s:s,s:n,s:s,s:s,s:s}]", "type", "PodScheduled", "status", "False",
                                 "lastProbeTime", "lastTransitionTime", now, "reason", "SchedulingGated",
                                 "message", "Scheduling is blocked due to non-empty scheduling gates"));
}

static int prepare_pod(struct request *rq, const json_t *live, json_t *doc)
{
        int r = builtin_set_defaults("", "Pod", doc);
        const char *account = text_at(doc, "spec.serviceAccountName");
        if (r == 0 && doc_get_object(doc, "spec") && !*account)
                r = doc_set_string(doc, "spec.serviceAccountName", account = "default");
        if (r == 0 && doc_get_object(doc, "spec") && !doc_get(doc, "spec.serviceAccount"))
                r = doc_set_string(doc, "spec.serviceAccount", account);
        if (r == 0 && !live)
                r = doc_set(doc, "status", json_pack("{s:s}", "phase", "Pending"));
        return r < 0 ? request_fail_memory(rq) : 0;
}

/* Of a pod's spec only images, tolerations and two deadlines may change. */
static int validate_pod_update(const json_t *live, const json_t *doc, struct schema_problems *p)
{
        static const char *const free_fields[] = {
                "tolerations",     "activeDeadlineSeconds", "terminationGracePeriodSeconds",
                "schedulingGates", "nodeSelector",          "affinity"
        };
        AUTO_JSON json_t *a = doc_copy(doc_get(live, "spec")), *b = doc_copy(doc_get(doc, "spec"));
        size_t i;
        json_t *c;
        if (!a || !b)
                return ERR_NO_MEMORY;
        for (i = 0; i < ARRAY_LEN(free_fields); i++) {
                json_object_del(a, free_fields[i]);
                json_object_del(b, free_fields[i]);
        }
        json_array_foreach(doc_get_array(a, "containers"), i, c)
                json_object_del(c, "image");
        json_array_foreach(doc_get_array(b, "containers"), i, c)
                json_object_del(c, "image");
        if (doc_equal(a, b))
                return 0;
        return problem_add(
                p, "FieldValueForbidden", "spec",
                "Forbidden: pod updates may not change fields other than `spec.containers[*].image`,"
                "`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only "
                "additions "
                "to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if "
                "it was "
                "previously negative)");
}

/* Containers to look around with are only ever added. */
static int validate_ephemeral(const json_t *live, const json_t *doc, struct schema_problems *p)
{
        size_t i, k;
        json_t *before, *now;
        json_array_foreach(doc_get_array(live, "spec.ephemeralContainers"), i, before) {
                const char *what = "removed";
                json_array_foreach(doc_get_array(doc, "spec.ephemeralContainers"), k, now)
                        if (strcmp(text_at(now, "name"), text_at(before, "name")) == 0)
                                what = doc_equal(now, before) ? NULL : "changed";
                if (what)
                        TRY(problem_add(p, "FieldValueForbidden", "spec.ephemeralContainers",
                                        "Forbidden: existing ephemeral containers \"%s\" may not be %s\n",
                                        text_at(before, "name"), what));
        }
        return 0;
}

static int validate_pod(struct request *rq, const json_t *live, const json_t *doc, struct schema_problems *p)
{
        if (text_equal(rq->subresource, "ephemeralcontainers"))
                return validate_ephemeral(live, doc, p);
        if (rq->subresource)
                return 0;
        return live && p->n == 0 ? validate_pod_update(live, doc, p) : 0;
}

static const char *pod_field(const json_t *doc, const char *path, struct arena *a)
{
        static const char *const known[] = {
                "spec.nodeName", "spec.restartPolicy",      "spec.schedulerName",      "status.phase",
                "status.podIP",  "spec.serviceAccountName", "status.nominatedNodeName"
        };
        return text_in(path, known, ARRAY_LEN(known)) ? text_at(doc, path) : NULL;
}

static int evict(struct request *rq)
{
        const struct delete_options o = { .grace_seconds = -1, .dry_run = rq->dry_run };
        AUTO_JSON json_t *left = NULL;
        const char *uid = NULL;
        return rest_delete(rq, rq->ns, rq->name, &o, &left, &uid);
}

/* ---- binding ---- */

static int fail_binding(struct request *rq, const char *name, const char *why)
{
        (void)request_fail(rq, 409, "Conflict", "Operation cannot be fulfilled on pods/binding \"%s\": %s",
                           name, why ? why : "");
        rq->status.name = arena_strdup(rq->arena, name);
        rq->status.kind = "pods/binding";
        return ERR_CONFLICT;
}

static int check_binding(struct request *rq, const json_t *pod)
{
        const char *name = meta_name(pod), *node = text_at(pod, "spec.nodeName");
        if (meta_is_deleting(pod))
                return fail_binding(rq, name,
                                    arena_printf(rq->arena,
                                                 "pod %s is being deleted, cannot be assigned to a host",
                                                 name));
        if (*node)
                return fail_binding(
                        rq, name,
                        arena_printf(rq->arena, "pod %s is already assigned to node \"%s\"", name, node));
        if (is_gated(pod))
                return fail_binding(
                        rq, name,
                        arena_printf(rq->arena, "pod %s has non-empty .spec.schedulingGates", name));
        return 0;
}

/* Puts a pod onto the node a scheduler chose for it. */
static int bind_pod(struct request *rq, const char *name, const json_t *binding)
{
        struct request on;
        AUTO_JSON json_t *live = NULL, *doc = NULL;
        struct write_result w = { 0 };
        const char *node = text_at(binding, "target.name");
        if (request_internal(&on, rq->devcluster, rq->cluster, "/pods", rq->ns, name, rq->arena) < 0)
                return request_fail_memory(rq);
        on.subresource = "binding";
        on.field_manager = rq->field_manager;
        on.dry_run = rq->dry_run;
        int r = request_load(&on, &live);
        if (r == 0 && !*node)
                r = request_fail_bad(&on, "the binding names no node");
        if (r == 0)
                r = check_binding(&on, live);
        if (r == 0) {
                doc = doc_copy(live);
                r = doc && doc_set_string(doc, "spec.nodeName", node) == 0
                            ? rest_update_live(&on, live, doc, false, &w)
                            : request_fail_memory(&on);
        }
        rq->status = on.status;
        vec_free(&on.warnings);
        json_decref(w.doc);
        return r;
}

static json_t *created(void)
{
        return json_pack("{s:s,s:s,s:{},s:s,s:i}", "kind", "Status", "apiVersion", "v1", "metadata", "status",
                         "Success", "code", 201);
}

static int create_pod_sub(struct request *rq, json_t *live, json_t *doc, json_t **ret)
{
        const char *name = doc_get_string(doc, "metadata.name");
        bool binding = strcmp(rq->subresource, "binding") == 0;
        if (!binding && strcmp(rq->subresource, "eviction") != 0)
                return request_fail_no_path(rq);
        if (name && strcmp(name, rq->name) != 0)
                return request_fail_bad(rq, "name in URL does not match name in %s object",
                                        binding ? "Binding" : "Eviction");
        TRY(binding ? bind_pod(rq, rq->name, doc) : evict(rq));
        *ret = created();
        return *ret ? 0 : request_fail_memory(rq);
}

/* The old way to bind, by POST to a resource of its own. */
static int create_binding(struct request *rq, json_t *doc)
{
        AUTO_JSON json_t *answer = created();
        TRY(bind_pod(rq, meta_name(doc), doc));
        return answer && json_object_clear(doc) == 0 && json_object_update(doc, answer) == 0
                       ? 0
                       : request_fail_memory(rq);
}

const struct resource_hooks binding_hooks = { .create = create_binding };
const struct resource_hooks pod_hooks = {
        .prepare = prepare_pod, .validate = validate_pod, .create_sub = create_pod_sub, .field = pod_field
};
