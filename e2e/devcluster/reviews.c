/* The resources that are questions: who am I, whose token is this, may I, what may I. Nothing is stored. */
#include "common/base/timefmt.h"
#include "e2e/devcluster/authn.h"
#include "e2e/devcluster/authz.h"
#include "e2e/devcluster/builtin_hooks.h"
#include "e2e/devcluster/internal.h"
#include "e2e/devcluster/tokens.h"

static json_t *strings(const char *const *list)
{
        json_t *out = json_array();
        for (; out && list && *list; list++)
                if (json_array_append_new(out, json_string(*list)) < 0)
                        return json_decref(out), NULL;
        return out;
}

static json_t *user_info(const struct identity *who)
{
        json_t *user = json_pack("{s:s,s:o}", "username", who->name, "groups", strings(who->groups));
        if (user && !text_empty(who->uid))
                (void)doc_set_string(user, "uid", who->uid);
        json_t *extra = identity_extra(who);
        if (user && extra)
                (void)json_object_set(user, "extra", extra);
        json_decref(extra);
        return user;
}

/* ---- authentication.k8s.io ---- */

static int review_self(struct request *rq, json_t *doc)
{
        char now[RFC3339_SIZE];
        time_format_rfc3339(rq->now_ms, now);
        int r = json_object_set_new(doc, "metadata", json_pack("{s:s}", "creationTimestamp", now));
        r |= doc_set(doc, "status", json_pack("{s:o}", "userInfo", user_info(rq->user)));
        return r < 0 ? request_fail_memory(rq) : 0;
}

static int token_no_good(struct request *rq, json_t *doc, const char *why)
{
        json_t *status = json_pack("{s:{},s:s}", "user", "error", why);
        return doc_set(doc, "status", status) < 0 ? request_fail_memory(rq) : 0;
}

static int review_token(struct request *rq, json_t *doc)
{
        const char *token = doc_get_string(doc, "spec.token");
        const json_t *audiences = doc_get_array(doc, "spec.audiences");
        if (text_empty(token))
                return request_fail_bad(rq, "token is required for TokenReview in authentication");
        struct identity who;
        struct error err = { 0 };
        const char *audience = TOKEN_ISSUER;
        int r = ERR_UNAUTHORIZED;
        for (size_t i = 0; r < 0 && i < MAX(json_array_size(audiences), (size_t)1); i++) {
                const char *wanted = json_string_value(json_array_get(audiences, i));
                audience = wanted ? wanted : TOKEN_ISSUER;
                r = token_identify(rq->devcluster, rq->cluster, token, audience, rq->arena, &who, NULL, &err);
        }
        if (r == ERR_NO_MEMORY)
                return request_fail_memory(rq);
        if (r < 0)
                return token_no_good(rq, doc,
                                     arena_printf(rq->arena, "[invalid bearer token, %s]", err.text));
        json_t *status = json_pack("{s:b,s:o,s:[s]}", "authenticated", 1, "user", user_info(&who),
                                   "audiences", audience);
        return doc_set(doc, "status", status) < 0 ? request_fail_memory(rq) : 0;
}

const struct resource_hooks self_subject_review_hooks = { .create = review_self };
const struct resource_hooks token_review_hooks = { .create = review_token };

/* ---- authorization.k8s.io ---- */

static const char *text_at(const json_t *doc, const char *path)
{
        const char *s = doc_get_string(doc, path);
        return s ? s : "";
}

/* Kubernetes names no kind here: what is refused was never decoded for storing. */
static int fail_problems(struct request *rq, const struct schema_problems *p)
{
        int r = request_fail_invalid(rq, "", p);
        if (r != ERR_INVALID)
                return r;
        rq->status.message += strlen(rq->resource->kind);
        rq->status.kind = NULL;
        return r;
}

static int check_attributes(const json_t *doc, struct schema_problems *p)
{
        const json_t *resource = doc_get_object(doc, "spec.resourceAttributes");
        const json_t *other = doc_get_object(doc, "spec.nonResourceAttributes");
        if (resource && other)
                return problem_add(p, "FieldValueInvalid", "spec.nonResourceAttributes",
                                   "Invalid value: {\"Path\":\"%s\",\"Verb\":\"%s\"}: cannot be specified in "
                                   "combination with resourceAttributes",
                                   text_at(other, "path"), text_at(other, "verb"));
        if (!resource && !other)
                return problem_add(
                        p, "FieldValueInvalid", "spec.resourceAttributes",
                        "Invalid value: null: exactly one of nonResourceAttributes or resourceAttributes "
                        "must be specified");
        return 0;
}

/* Who asks about a namespace asks about nothing else. */
static int check_place(const struct request *rq, const json_t *doc, struct schema_problems *p)
{
        const char *ns = text_at(doc, "spec.resourceAttributes.namespace");
        if (!rq->ns)
                return 0;
        if (doc_get_object(doc, "spec.nonResourceAttributes"))
                TRY(problem_add(
                        p, "FieldValueInvalid", "spec.nonResourceAttributes",
                        "Invalid value: {\"Path\":\"%s\",\"Verb\":\"%s\"}: disallowed on this kind of "
                        "request",
                        text_at(doc, "spec.nonResourceAttributes.path"),
                        text_at(doc, "spec.nonResourceAttributes.verb")));
        if (!doc_get_object(doc, "spec.resourceAttributes") || strcmp(ns, rq->ns) == 0)
                return 0;
        return problem_add(p, "FieldValueInvalid", "spec.resourceAttributes.namespace",
                           "Invalid value: \"%s\": must match metadata.namespace", ns);
}

/* A question has no name: metadata holds what the server put there. */
static int check_metadata(const json_t *doc, struct schema_problems *p)
{
        const json_t *meta = json_object_get(doc, "metadata");
        size_t own = (json_object_get(meta, "managedFields") != NULL) +
                     (json_object_get(meta, "namespace") != NULL);
        AUTO_BUF struct buf text;
        buf_init(&text, 64u << 10);
        if (json_object_size(meta) == own)
                return 0;
        TRY(doc_write(meta, &text));
        return problem_add(p, "FieldValueInvalid", "metadata", "Invalid value: %s: must be empty", text.data);
}

static int check_question(struct request *rq, const json_t *doc, bool names_subject)
{
        struct schema_problems p = { .arena = rq->arena };
        int r = check_attributes(doc, &p);
        if (r == 0 && names_subject && !*text_at(doc, "spec.user") &&
            json_array_size(doc_get_array(doc, "spec.groups")) == 0)
                r = problem_add(&p, "FieldValueInvalid", "spec.user",
                                "Invalid value: \"\": at least one of user or group must be specified");
        if (r < 0 || check_place(rq, doc, &p) < 0 || check_metadata(doc, &p) < 0)
                return request_fail_memory(rq);
        return p.n ? fail_problems(rq, &p) : 0;
}

static int answer(struct request *rq, json_t *doc, const struct identity *who)
{
        const json_t *resource = doc_get_object(doc, "spec.resourceAttributes");
        const json_t *other = doc_get_object(doc, "spec.nonResourceAttributes");
        struct access_question q = { .who = who,
                                     .verb = text_at(resource ? resource : other, "verb"),
                                     .group = text_at(resource, "group"),
                                     .version = text_at(resource, "version"),
                                     .resource = text_at(resource, "resource"),
                                     .subresource = text_at(resource, "subresource"),
                                     .ns = text_at(resource, "namespace"),
                                     .name = text_at(resource, "name"),
                                     .path = other ? text_at(other, "path") : NULL };
        const char *reason = "";
        bool allowed = access_allowed(rq->devcluster, rq->cluster, &q, rq->arena, &reason);
        json_t *status = json_pack("{s:b}", "allowed", allowed);
        if (!status || (*reason && doc_set_string(status, "reason", reason) < 0)) {
                json_decref(status);
                return request_fail_memory(rq);
        }
        return doc_set(doc, "status", status) < 0 ? request_fail_memory(rq) : 0;
}

static int review_own_access(struct request *rq, json_t *doc)
{
        TRY(check_question(rq, doc, false));
        return answer(rq, doc, rq->user);
}

static int read_subject(struct request *rq, const json_t *spec, struct identity *ret)
{
        size_t i, n = 0;
        json_t *group;
        const json_t *list = doc_get_array(spec, "groups");
        const char **groups = ARENA_NEW_ARRAY(rq->arena, const char *, json_array_size(list) + 1);
        if (!groups)
                return request_fail_memory(rq);
        json_array_foreach(list, i, group)
                if (json_is_string(group))
                        groups[n++] = json_string_value(group);
        *ret = (struct identity){ .name = text_at(spec, "user"),
                                  .uid = text_at(spec, "uid"),
                                  .groups = groups };
        return 0;
}

static int review_access(struct request *rq, json_t *doc)
{
        struct identity who;
        TRY(check_question(rq, doc, true));
        TRY(read_subject(rq, json_object_get(doc, "spec"), &who));
        return answer(rq, doc, &who);
}

static int add_rule(json_t *resources, json_t *others, const struct rbac_rule *rule)
{
        if (*rule->resources) {
                json_t *r = json_pack("{s:o,s:o,s:o}", "verbs", strings(rule->verbs), "apiGroups",
                                      strings(rule->groups), "resources", strings(rule->resources));
                if (!r ||
                    (*rule->names && json_object_set_new(r, "resourceNames", strings(rule->names)) < 0) ||
                    json_array_append(resources, r) < 0)
                        return json_decref(r), ERR_NO_MEMORY;
                json_decref(r);
        }
        if (!*rule->urls)
                return 0;
        return json_array_append_new(others, json_pack("{s:o,s:o}", "verbs", strings(rule->verbs),
                                                       "nonResourceURLs", strings(rule->urls))) < 0
                       ? ERR_NO_MEMORY
                       : 0;
}

static int review_rules(struct request *rq, json_t *doc)
{
        const char *ns = text_at(doc, "spec.namespace");
        const struct rbac_rule *const *rules;
        size_t n;
        if (!*ns)
                return request_fail_bad(rq, "no namespace on request");
        if (access_rules(rq->devcluster, rq->cluster, rq->user, ns, rq->arena, &rules, &n) < 0)
                return request_fail_memory(rq);
        AUTO_JSON json_t *resources = json_array(), *others = json_array();
        if (!resources || !others)
                return request_fail_memory(rq);
        for (size_t i = 0; i < n; i++)
                if (add_rule(resources, others, rules[i]) < 0)
                        return request_fail_memory(rq);
        json_t *status = json_pack("{s:O,s:O,s:b}", "resourceRules", resources, "nonResourceRules", others,
                                   "incomplete", 0);
        int r = json_object_set_new(doc, "metadata", json_object());
        r |= json_object_set_new(doc, "spec", json_object());
        return doc_set(doc, "status", status) < 0 || r < 0 ? request_fail_memory(rq) : 0;
}

const struct resource_hooks self_subject_access_review_hooks = { .create = review_own_access };
const struct resource_hooks subject_access_review_hooks = { .create = review_access };
const struct resource_hooks self_subject_rules_review_hooks = { .create = review_rules };
