/* Resources that are questions: nothing is stored, the answer is in status. */
#include "e2e/devcluster/authz.h"
#include "e2e/devcluster/builtin_hooks.h"
#include "e2e/devcluster/internal.h"

static const char *text_at(const json_t *doc, const char *path)
{
        const char *s = doc_get_string(doc, path);
        return s ? s : "";
}

static int answer(struct request *rq, const struct identity *who, json_t *doc)
{
        const json_t *spec = json_object_get(doc, "spec");
        const json_t *path = doc_get_object(spec, "nonResourceAttributes");
        const json_t *res = doc_get_object(spec, "resourceAttributes");
        if (!path == !res)
                return request_fail(rq, 422, "Invalid",
                                    "%s.authorization.k8s.io \"\" is invalid: spec.resourceAttributes: "
                                    "Invalid value: must specify exactly "
                                    "one of resourceAttributes or nonResourceAttributes",
                                    rq->resource->kind);
        const json_t *of = res ? res : path;
        struct access_question q = { .who = who,
                                     .verb = text_at(of, "verb"),
                                     .group = text_at(of, "group"),
                                     .version = text_at(of, "version"),
                                     .resource = text_at(of, "resource"),
                                     .subresource = text_at(of, "subresource"),
                                     .ns = text_at(of, "namespace"),
                                     .name = text_at(of, "name"),
                                     .path = path ? text_at(path, "path") : NULL };
        const char *reason = "";
        bool allowed = access_allowed(rq->devcluster, rq->cluster, &q, rq->arena, &reason);
        json_t *status = json_pack("{s:b}", "allowed", allowed);
        if (!text_empty(reason) && status)
                json_object_set_new(status, "reason", json_string(reason));
        return json_object_set_new(doc, "status", status) < 0 ? request_fail_memory(rq) : 0;
}

static int self_review(struct request *rq, json_t *doc)
{
        return answer(rq, rq->user, doc);
}

static int subject_review(struct request *rq, json_t *doc)
{
        const json_t *list = doc_get_array(doc, "spec.groups");
        size_t n = json_array_size(list);
        const char **groups = ARENA_NEW_ARRAY(rq->arena, const char *, n + 1);
        if (!groups)
                return request_fail_memory(rq);
        for (size_t i = 0; i < n; i++) {
                const char *g = json_string_value(json_array_get(list, i));
                groups[i] = g ? g : "";
        }
        struct identity who = { .name = text_at(doc, "spec.user"),
                                .uid = text_at(doc, "spec.uid"),
                                .groups = groups };
        return answer(rq, &who, doc);
}

static int who_am_i(struct request *rq, json_t *doc)
{
        json_t *groups = json_array();
        for (const char *const *g = rq->user->groups; g && *g; g++)
                json_array_append_new(groups, json_string(*g));
        json_t *status = json_pack("{s:{s:s,s:o}}", "userInfo", "username", rq->user->name, "groups", groups);
        return json_object_set_new(doc, "status", status) < 0 ? request_fail_memory(rq) : 0;
}

static int refuse_token(struct request *rq, json_t *doc)
{
        json_t *status =
                json_pack("{s:b,s:{},s:s}", "authenticated", 0, "user", "error", "no token of this server");
        return json_object_set_new(doc, "status", status) < 0 ? request_fail_memory(rq) : 0;
}

static int rules_review(struct request *rq, json_t *doc)
{
        json_t *status = json_pack("{s:[{s:[s],s:[s],s:[s]}],s:[{s:[s],s:[s]}],s:b}", "resourceRules",
                                   "verbs", "*", "apiGroups", "*", "resources", "*", "nonResourceRules",
                                   "verbs", "*", "nonResourceURLs", "*", "incomplete", 0);
        return json_object_set_new(doc, "status", status) < 0 ? request_fail_memory(rq) : 0;
}

const struct resource_hooks self_subject_review_hooks = { .create = who_am_i };
const struct resource_hooks token_review_hooks = { .create = refuse_token };
const struct resource_hooks subject_access_review_hooks = { .create = subject_review };
const struct resource_hooks self_subject_access_review_hooks = { .create = self_review };
const struct resource_hooks self_subject_rules_review_hooks = { .create = rules_review };
