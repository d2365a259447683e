/* What the expressions of policies see of a request. */
#include "e2e/devcluster/authz.h"
#include "e2e/devcluster/convert.h"
#include "e2e/devcluster/policy_review.h"

static json_t *user_doc(const struct identity *who)
{
        AUTO_JSON json_t *user = json_pack("{s:s}", "username", who->name), *groups = json_array();
        for (const char *const *g = who->groups; g && *g; g++)
                if (json_array_append_new(groups, json_string(*g)) < 0)
                        return NULL;
        if (!user || json_object_set(user, "groups", groups) < 0)
                return NULL;
        if (!text_empty(who->uid) && json_object_set_new(user, "uid", json_string(who->uid)) < 0)
                return NULL;
        if (who->extra && json_object_set(user, "extra", (json_t *)who->extra) < 0)
                return NULL;
        return TAKE_PTR(user);
}

/* A patch is an update, and so are its options. */
static json_t *options_doc(const struct request *rq, const char *operation)
{
        const char *kind = strcmp(operation, "DELETE") == 0   ? "DeleteOptions"
                           : strcmp(operation, "CREATE") == 0 ? "CreateOptions"
                                                              : "UpdateOptions";
        AUTO_JSON json_t *options = json_pack("{s:s,s:s}", "apiVersion", "meta.k8s.io/v1", "kind", kind);
        const char *manager = rq->x ? http_query_get(rq->x, "fieldManager") : NULL;
        if (rq->dry_run && json_object_set_new(options, "dryRun", json_pack("[s]", "All")) < 0)
                return NULL;
        if (manager && strcmp(operation, "DELETE") != 0 &&
            json_object_set_new(options, "fieldManager", json_string(manager)) < 0)
                return NULL;
        return TAKE_PTR(options);
}

static json_t *kind_doc(const struct policy_review *v, const char *version)
{
        if (v->as)
                return json_pack("{s:s,s:s,s:s}", "group", v->as->group, "version", v->as->version, "kind",
                                 v->as->kind);
        return json_pack("{s:s,s:s,s:s}", "group", v->target.group, "version", version, "kind",
                         v->rq->resource->kind);
}

static json_t *resource_doc(const struct policy_review *v, const char *version)
{
        return json_pack("{s:s,s:s,s:s}", "group", v->target.group, "version", version, "resource",
                         v->target.plural);
}

json_t *review_request(const struct policy_review *v, const char *version)
{
        const struct policy_target *t = &v->target;
        json_t *doc = json_pack("{s:o,s:o,s:o,s:o,s:s,s:o,s:b,s:o}", "kind", kind_doc(v, version), "resource",
                                resource_doc(v, version), "requestKind", kind_doc(v, t->version),
                                "requestResource", resource_doc(v, t->version), "operation", t->operation,
                                "userInfo", user_doc(v->rq->user), "dryRun", v->rq->dry_run, "options",
                                options_doc(v->rq, t->operation));
        const char *const texts[][2] = { { "name", t->name },
                                         { "namespace", t->ns },
                                         { "subResource", t->subresource },
                                         { "requestSubResource", t->subresource } };
        for (size_t i = 0; doc && i < ARRAY_LEN(texts); i++)
                if (*texts[i][1] && json_object_set_new(doc, texts[i][0], json_string(texts[i][1])) < 0)
                        return json_decref(doc), NULL;
        return doc;
}

int review_in_version(struct policy_review *v, const char *version, const json_t *doc, const json_t **ret)
{
        struct request *rq = v->rq;
        const char *is = rq->resource_version->version; /* a deletion works on the stored version */
        struct error err = { 0 };
        json_t *copy = NULL;
        *ret = doc;
        if (!doc || v->as || strcmp(is, version) == 0)
                return 0;
        if (convert_copy(rq, resource_find_version(rq->resource, version), doc, &copy, &err) < 0)
                return request_fail_error(rq, &err);
        *ret = copy;
        return review_keep(rq, copy);
}

static bool ask_authorizer(void *ctx, const struct cel_access_question *q, const char **ret_reason)
{
        struct policy_review *v = ctx;
        struct arena *arena = v->rq->arena;
        struct identity account = { .uid = "" };
        const char *groups[4] = { "system:serviceaccounts", "system:authenticated", NULL, NULL };
        struct access_question a = { .who = v->rq->user,
                                     .verb = q->verb,
                                     .group = q->group,
                                     .version = "*",
                                     .resource = q->resource,
                                     .subresource = q->subresource,
                                     .ns = q->ns,
                                     .name = q->name,
                                     .path = q->path };
        if (q->account_name) {
                groups[2] = arena_printf(arena, "system:serviceaccounts:%s", q->account_ns);
                account.name =
                        arena_printf(arena, "system:serviceaccount:%s:%s", q->account_ns, q->account_name);
                account.groups = groups;
                a.who = &account;
                if (!account.name || !groups[2])
                        return false;
        }
        return access_allowed(v->rq->devcluster, v->rq->cluster, &a, arena, ret_reason);
}

void review_init_authorizer(struct policy_review *v)
{
        v->authorizer = (struct cel_authorizer){ .allowed = ask_authorizer,
                                                 .ctx = v,
                                                 .request = { .verb = "",
                                                              .group = v->target.group,
                                                              .resource = v->target.plural,
                                                              .subresource = v->target.subresource,
                                                              .ns = v->target.ns,
                                                              .name = v->target.name } };
}

int review_fill_scope(struct policy_review *v, struct cel_scope *scope, const char *version,
                      const json_t *params)
{
        const json_t *doc = NULL, *live = NULL;
        json_t *request = review_request(v, version);
        TRY(review_keep(v->rq, request));
        TRY(review_in_version(v, version, v->doc, &doc));
        TRY(review_in_version(v, version, v->live, &live));
        if (cel_scope_set(scope, "object", doc, NULL) < 0 ||
            cel_scope_set(scope, "oldObject", live, NULL) < 0 ||
            cel_scope_set(scope, "request", request, &policy_request_schema) < 0 ||
            cel_scope_set(scope, "params", params, NULL) < 0 ||
            cel_scope_set(scope, "namespaceObject", NULL, NULL) < 0)
                return request_fail_memory(v->rq);
        return 0;
}
