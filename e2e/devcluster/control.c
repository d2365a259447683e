#include "e2e/devcluster/control.h"

#include <stdlib.h>

#include "e2e/devcluster/authz.h"
#include "e2e/devcluster/internal.h"
#include "e2e/devcluster/rest_read.h"

static int succeed(struct request *rq)
{
        const struct api_status ok = { .code = 200 };
        AUTO_JSON json_t *status = status_to_doc(&ok);
        return status ? reply_doc(rq, 200, status) : request_fail_memory(rq);
}

/* NULL for an empty parameter: "any" in the rules. */
static const char *parameter(struct request *rq, const char *name)
{
        const char *value = http_query_get(rq->x, name);
        return text_empty(value) ? NULL : value;
}

static int read_bool(struct request *rq, const char *name, const char *absent, bool *ret)
{
        const char *value = parameter(rq, name);
        static const char *const known[] = { "true", "false" };
        value = value ? value : absent;
        if (!value || !text_in(value, known, ARRAY_LEN(known)))
                return request_fail_bad(rq, "query parameter %s must be true or false, not \"%s\"", name,
                                        value ? value : "");
        *ret = strcmp(value, "true") == 0;
        return 0;
}

static int compare_counts(const void *a, const void *b)
{
        const struct devcluster_request_count *x = a, *y = b;
        int order = strcmp(x->resource, y->resource);
        return order ? order : strcmp(x->verb, y->verb);
}

static int show_requests(struct request *rq)
{
        struct devcluster_request_count *at;
        size_t n = 0;
        if (devcluster_requests(rq->devcluster, rq->cluster->name, rq->arena, &at, &n) < 0)
                return request_fail_memory(rq);
        qsort(at, n, sizeof(*at), compare_counts);
        AUTO_JSON json_t *doc = json_pack("{s:[]}", "items");
        json_t *items = doc ? json_object_get(doc, "items") : NULL;
        for (size_t i = 0; items && i < n; i++)
                if (json_array_append_new(items, json_pack("{s:s,s:s,s:I}", "verb", at[i].verb, "resource",
                                                           at[i].resource, "count", (json_int_t)at[i].n)) < 0)
                        return request_fail_memory(rq);
        return items ? reply_doc(rq, 200, doc) : request_fail_memory(rq);
}

static int reset_requests(struct request *rq)
{
        count_reset(rq->cluster);
        return succeed(rq);
}

static int set_readiness(struct request *rq)
{
        bool ready;
        TRY(read_bool(rq, "ready", NULL, &ready));
        if (devcluster_set_readiness(rq->devcluster, rq->cluster->name, parameter(rq, "kind"),
                                     parameter(rq, "namespace"), parameter(rq, "name"), ready) < 0)
                return request_fail_memory(rq);
        return succeed(rq);
}

static int set_simulated(struct request *rq)
{
        const char *ns = parameter(rq, "namespace");
        bool simulated;
        if (!ns)
                return request_fail_bad(rq, "query parameter namespace must name a namespace");
        TRY(read_bool(rq, "value", NULL, &simulated));
        if (devcluster_set_simulated(rq->devcluster, rq->cluster->name, ns, simulated) < 0)
                return request_fail_memory(rq);
        return succeed(rq);
}

static int cut_watches(struct request *rq)
{
        bool compact;
        TRY(read_bool(rq, "compact", "false", &compact));
        devcluster_cut_watches(rq->devcluster, rq->cluster->name, compact);
        return succeed(rq);
}

static const struct {
        const char *method, *path;
        int (*run)(struct request *rq);
} commands[] = {
        { "GET", "/devcluster/requests", show_requests },
        { "POST", "/devcluster/requests/reset", reset_requests },
        { "POST", "/devcluster/readiness", set_readiness },
        { "POST", "/devcluster/simulated", set_simulated },
        { "POST", "/devcluster/cut-watches", cut_watches },
};

int control_handle(struct request *rq)
{
        if (!access_is_master(rq->user))
                return request_fail(rq, 403, "Forbidden", "only system:masters may use /devcluster");
        for (size_t i = 0; i < ARRAY_LEN(commands); i++)
                if (strcmp(commands[i].path, rq->path) == 0)
                        return strcmp(commands[i].method, rq->x->method) == 0
                                       ? commands[i].run(rq)
                                       : request_fail_method(rq, rq->x->method);
        return request_fail_no_path(rq);
}
