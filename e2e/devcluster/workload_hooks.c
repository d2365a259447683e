/* Deployments and their like, and jobs as resources: fields the server fills in. */
#include "e2e/devcluster/builtin/defaults.h"
#include "e2e/devcluster/builtin_hooks.h"
#include "e2e/devcluster/internal.h"
#include "e2e/devcluster/meta.h"
#include "e2e/devcluster/rest_write.h"

/* A job finds its pods by its uid, unless it says that it knows better. */
static int select_job_pods(json_t *doc)
{
        static const char *const by_uid[] = { "batch.kubernetes.io/controller-uid", "controller-uid" };
        static const char *const by_name[] = { "batch.kubernetes.io/job-name", "job-name" };
        if (doc_get_bool(doc, "spec.manualSelector", false) || !doc_get_object(doc, "spec.template"))
                return 0;
        if (!doc_get_object(doc, "spec.template.metadata.labels"))
                TRY(doc_set(doc, "spec.template.metadata.labels", json_object()));
        json_t *labels = doc_get_object(doc, "spec.template.metadata.labels");
        for (size_t i = 0; i < 2; i++)
                if (json_object_set_new(labels, by_uid[i], json_string(meta_uid(doc))) < 0 ||
                    json_object_set_new(labels, by_name[i], json_string(meta_name(doc))) < 0)
                        return ERR_NO_MEMORY;
        if (!doc_get_object(doc, "spec.selector"))
                TRY(doc_set(doc, "spec.selector", json_object()));
        json_t *selector = doc_get_object(doc, "spec.selector"),
               *wanted = doc_get_object(selector, "matchLabels");
        if (!wanted && json_object_set_new(selector, "matchLabels", wanted = json_object()) < 0)
                return ERR_NO_MEMORY;
        return json_object_set_new(wanted, by_uid[0], json_string(meta_uid(doc))) < 0 ? ERR_NO_MEMORY : 0;
}

/* A job without labels has those of its pods. */
static int label_job(json_t *doc)
{
        const json_t *labels = doc_get_object(doc, "spec.template.metadata.labels");
        if (!labels || json_object_size(doc_get_object(doc, "metadata.labels")) > 0)
                return 0;
        return doc_set(doc, "metadata.labels", doc_copy(labels));
}

/* How often the template of a daemon set changed: a field of old versions, kept as an annotation. */
static int count_template(const json_t *live, json_t *doc)
{
        static const char *const key[] = { "metadata", "annotations",
                                           "deprecated.daemonset.template.generation" };
        const char *before = json_string_value(doc_get_keys(live, key, 3));
        bool same = doc_equal(doc_get(live, "spec.template"), doc_get(doc, "spec.template"));
        int64_t n = 0;
        char text[32];
        if (before)
                (void)text_parse_i64(before, &n);
        snprintf(text, sizeof(text), "%lld", (long long)(same ? n : n + 1));
        return json_object_set_new(doc_get_object(doc, "metadata.annotations"), key[2], json_string(text)) < 0
                       ? ERR_NO_MEMORY
                       : 0;
}

static int prepare_workload(struct request *rq, const json_t *live, json_t *doc)
{
        bool job = strcmp(rq->resource->kind, "Job") == 0;
        if (builtin_set_defaults(rq->resource->group, rq->resource->kind, doc) < 0)
                return request_fail_memory(rq);
        if (job && !live && (select_job_pods(doc) < 0 || label_job(doc) < 0))
                return request_fail_memory(rq);
        if (live && strcmp(rq->resource->kind, "DaemonSet") == 0 && count_template(live, doc) < 0)
                return request_fail_memory(rq);
        const json_t *selector = doc_get_object(live, "spec.selector");
        if (job && selector && !doc_get(doc, "spec.selector") &&
            doc_set(doc, "spec.selector", doc_copy(selector)) < 0)
                return request_fail_memory(rq);
        return 0;
}

static const char *job_field(const json_t *doc, const char *path, struct arena *a)
{
        if (strcmp(path, "status.successful") != 0)
                return NULL;
        const char *text = arena_printf(a, "%lld", (long long)(doc ? doc_get_int(doc, path, 0) : 0));
        return text ? text : "";
}

const struct resource_hooks workload_hooks = { .prepare = prepare_workload };
const struct resource_hooks job_hooks = { .prepare = prepare_workload, .field = job_field };
