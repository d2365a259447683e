/* Roles and bindings as resources: validation, the rule that nobody grants what he does not hold, and telling
 * authz.c what changed. */
#include "e2e/devcluster/authz.h"
#include "e2e/devcluster/builtin/checks.h"
#include "e2e/devcluster/builtin/defaults.h"
#include "e2e/devcluster/builtin_hooks.h"
#include "e2e/devcluster/internal.h"
#include "e2e/devcluster/meta.h"

#define RBAC_GROUP "rbac.authorization.k8s.io"

static const char *text_at(const json_t *doc, const char *path)
{
        const char *s = doc_get_string(doc, path);
        return s ? s : "";
}

static bool is_role(const struct request *rq)
{
        return text_ends_with(rq->resource->kind, "Role");
}

/* ---- escalation ---- */

static bool may(struct request *rq, const char *verb, const char *resource, const char *ns, const char *name)
{
        struct access_question q = { .who = rq->user,
                                     .verb = verb,
                                     .group = RBAC_GROUP,
                                     .version = "v1",
                                     .resource = resource,
                                     .ns = ns,
                                     .name = name };
        return access_allowed(rq->devcluster, rq->cluster, &q, rq->arena, NULL);
}

static const char *groups_text(struct request *rq)
{
        AUTO_BUF struct buf b;
        buf_init(&b, 16u << 10);
        for (const char *const *g = rq->user->groups; g && *g; g++)
                (void)buf_printf(&b, "%s\"%s\"", b.len ? " " : "", *g);
        const char *copy = arena_strdup(rq->arena, b.data);
        return copy ? copy : "";
}

static int check_held(struct request *rq, const char *name, const struct rbac_rules *wanted)
{
        const struct rbac_rule *const *held;
        const char *missing;
        size_t n;
        if (access_rules(rq->devcluster, rq->cluster, rq->user, rq->ns, rq->arena, &held, &n) < 0 ||
            rbac_find_missing(rq->arena, held, n, wanted, &missing) < 0)
                return request_fail_memory(rq);
        if (!missing)
                return 0;
        return request_fail_forbidden(
                rq, name,
                "user \"%s\" (groups=[%s]) is attempting to grant RBAC permissions not currently held:\n%s",
                rq->user->name, groups_text(rq), missing);
}

static bool unchanged(const json_t *live, const json_t *doc, const char *key)
{
        const json_t *a = json_object_get(live, key), *b = json_object_get(doc, key);
        return live && (a == b || (a && b && doc_equal(a, b)));
}

static int check_role_escalation(struct request *rq, const json_t *live, const json_t *doc)
{
        if (unchanged(live, doc, "rules") && unchanged(live, doc, "aggregationRule"))
                return 0;
        const char *name = meta_name(doc);
        if (may(rq, "escalate", rq->resource->plural, rq->ns, name))
                return 0;
        struct rbac_rules wanted;
        if (rbac_rules_parse(rq->arena, doc_get_array(doc, "rules"), &wanted) < 0)
                return request_fail_memory(rq);
        TRY(check_held(rq, name, &wanted));
        if (!json_is_object(json_object_get(doc, "aggregationRule")) ||
            unchanged(live, doc, "aggregationRule"))
                return 0;
        return request_fail_forbidden(rq, name,
                                      "must have cluster-admin privileges to use an aggregationRule");
}

static int check_binding_escalation(struct request *rq, const json_t *live, const json_t *doc)
{
        if (unchanged(live, doc, "subjects") && unchanged(live, doc, "roleRef"))
                return 0;
        const char *kind = text_at(doc, "roleRef.kind"), *role = text_at(doc, "roleRef.name");
        const char *plural = strcmp(kind, "Role") == 0 ? "roles" : "clusterroles";
        if (may(rq, "bind", plural, rq->ns, role))
                return 0;
        const struct rbac_rules *wanted = access_role_rules(rq->cluster, kind, rq->ns, role);
        if (wanted)
                return check_held(rq, meta_name(doc), wanted);
        (void)request_fail(rq, 404, "NotFound", "%s.%s \"%s\" not found", plural, RBAC_GROUP, role);
        rq->status.name = role;
        rq->status.group = RBAC_GROUP;
        rq->status.kind = plural;
        return ERR_NOT_FOUND;
}

static int prepare(struct request *rq, const json_t *live, json_t *doc)
{
        if (builtin_set_defaults(rq->resource->group, rq->resource->kind, doc) < 0)
                return request_fail_memory(rq);
        if (access_is_master(rq->user))
                return 0;
        return is_role(rq) ? check_role_escalation(rq, live, doc) : check_binding_escalation(rq, live, doc);
}

/* ---- validation ---- */

static int required(struct request *rq, struct schema_problems *p, const char *list, size_t i,
                    const char *field, const char *detail)
{
        const char *path = arena_printf(rq->arena, "%s[%zu].%s", list, i, field);
        if (!path)
                return ERR_NO_MEMORY;
        return problem_add(p, "FieldValueRequired", path, "Required value%s%s", *detail ? ": " : "", detail);
}

static int validate_rule(struct request *rq, const json_t *rule, size_t i, struct schema_problems *p)
{
        const json_t *urls = json_object_get(rule, "nonResourceURLs"),
                     *resources = json_object_get(rule, "resources");
        const json_t *groups = json_object_get(rule, "apiGroups"),
                     *names = json_object_get(rule, "resourceNames");
        if (json_array_size(json_object_get(rule, "verbs")) == 0)
                TRY(required(rq, p, "rules", i, "verbs", "verbs must contain at least one value"));
        if (json_array_size(urls) == 0) {
                if (json_array_size(groups) == 0)
                        TRY(required(rq, p, "rules", i, "apiGroups",
                                     "resource rules must supply at least one api group"));
                if (json_array_size(resources) == 0)
                        TRY(required(rq, p, "rules", i, "resources",
                                     "resource rules must supply at least one resource"));
                return 0;
        }
        bool both = json_array_size(groups) || json_array_size(resources) || json_array_size(names);
        const char *field = arena_printf(rq->arena, "rules[%zu].nonResourceURLs", i);
        AUTO_BUF struct buf value;
        buf_init(&value, 16u << 10);
        if (!field || doc_write(urls, &value) < 0)
                return ERR_NO_MEMORY;
        if (rq->ns)
                return problem_add(p, "FieldValueInvalid", field,
                                   "Invalid value: %s: namespaced rules cannot apply to non-resource URLs",
                                   value.data);
        if (both)
                return problem_add(p, "FieldValueInvalid", field,
                                   "Invalid value: %s: rules cannot apply to both regular resources and "
                                   "non-resource URLs",
                                   value.data);
        return 0;
}

static int validate_role_ref(const json_t *live, const json_t *doc, struct schema_problems *p)
{
        const char *group = text_at(doc, "roleRef.apiGroup"), *kind = text_at(doc, "roleRef.kind");
        const char *name = text_at(doc, "roleRef.name");
        bool namespaced = *meta_ns(doc) != '\0';
        if (strcmp(group, RBAC_GROUP) != 0)
                TRY(problem_add(p, "FieldValueNotSupported", "roleRef.apiGroup",
                                "Unsupported value: \"%s\": supported values: \"" RBAC_GROUP "\"", group));
        if (strcmp(kind, "ClusterRole") != 0 && (!namespaced || strcmp(kind, "Role") != 0))
                TRY(problem_add(p, "FieldValueNotSupported", "roleRef.kind",
                                "Unsupported value: \"%s\": supported values: %s\"ClusterRole\"", kind,
                                namespaced ? "\"Role\", " : ""));
        if (!*name)
                TRY(problem_add(p, "FieldValueRequired", "roleRef.name", "Required value"));
        if (live && !doc_equal(json_object_get(live, "roleRef"), json_object_get(doc, "roleRef")))
                TRY(problem_add(
                        p, "FieldValueInvalid", "roleRef",
                        "Invalid value: {\"APIGroup\":\"%s\",\"Kind\":\"%s\",\"Name\":\"%s\"}: cannot "
                        "change roleRef",
                        group, kind, name));
        return 0;
}

static int validate_subject(struct request *rq, const json_t *subject, size_t i, struct schema_problems *p)
{
        const char *kind = text_at(subject, "kind");
        bool account = strcmp(kind, "ServiceAccount") == 0;
        if (!*text_at(subject, "name"))
                TRY(required(rq, p, "subjects", i, "name", ""));
        else if (account && !text_is_dns1123_subdomain(text_at(subject, "name")))
                TRY(problem_at(p, "FieldValueInvalid",
                               arena_printf(rq->arena, "Invalid value: \"%s\": " SUBDOMAIN_MESSAGE,
                                            text_at(subject, "name")),
                               "subjects[%zu].name", i));
        if (account && !rq->ns && !*text_at(subject, "namespace"))
                return required(rq, p, "subjects", i, "namespace", "");
        if (account || strcmp(kind, "User") == 0 || strcmp(kind, "Group") == 0)
                return 0;
        const char *path = arena_printf(rq->arena, "subjects[%zu].kind", i);
        return path ? problem_add(p, "FieldValueNotSupported", path,
                                  "Unsupported value: \"%s\": supported values: \"ServiceAccount\", "
                                  "\"User\", \"Group\"",
                                  kind)
                    : ERR_NO_MEMORY;
}

static int validate(struct request *rq, const json_t *live, const json_t *doc, struct schema_problems *p)
{
        size_t i;
        json_t *item;
        if (is_role(rq)) {
                json_array_foreach(doc_get_array(doc, "rules"), i, item)
                        TRY(validate_rule(rq, item, i, p));
                return 0;
        }
        TRY(validate_role_ref(live, doc, p));
        json_array_foreach(doc_get_array(doc, "subjects"), i, item)
                TRY(validate_subject(rq, item, i, p));
        return 0;
}

/* ---- effects ---- */

static void after_write(struct devcluster *d, struct cluster *c, const json_t *live, const json_t *doc)
{
        const char *kind = doc_get_string(doc ? doc : live, "kind");
        const struct resource *r = kind ? registry_find_kind(c, RBAC_GROUP, "v1", kind) : NULL;
        if (r)
                access_changed(c, r, live, doc);
        else
                access_forget(c);
}

const struct resource_hooks rbac_hooks = { .prepare = prepare,
                                           .validate = validate,
                                           .after_write = after_write };
