#include "hub-agent/webhook/policies.h"

#include <strings.h>

#include "common/base/limits.h"
#include "hub-agent/common.h"

/* ---- the configuration file ---- */

struct reading {
        struct arena *arena;
        struct buf wrong; /* sentences, with "; " between them */
};

static void complain(struct reading *r, const char *at, const char *key, const char *what)
{
        buf_printf(&r->wrong, "%s%s.%s: %s", r->wrong.len ? "; " : "", at, key, what);
}

static bool is_prefix(const char *s)
{
        return *s && strspn(s, "abcdefghijklmnopqrstuvwxyz0123456789-") == strlen(s);
}

/* What can be quoted in an expression. */
static bool is_quotable(const char *s)
{
        return !strpbrk(s, "'\"\\\n");
}

static int read_list(struct reading *r, const char *at, const char *key, const json_t *value,
                     bool (*is_good)(const char *s), const char *rule, struct string_list *ret)
{
        json_t *item;
        size_t i;

        if (json_is_null(value))
                return 0;
        if (!json_is_array(value)) {
                complain(r, at, key, "must be a list of strings");
                return 0;
        }
        ret->at = ARENA_NEW_ARRAY(r->arena, const char *, json_array_size(value) + 1);
        if (!ret->at)
                return ERR_NO_MEMORY;
        json_array_foreach(value, i, item) {
                const char *s = json_string_value(item);

                if (!s || strlen(s) != json_string_length(item) || !is_good(s)) {
                        complain(r, at, key, rule);
                        return 0;
                }
                ret->at[ret->n] = arena_strdup(r->arena, s);
                if (!ret->at[ret->n++])
                        return ERR_NO_MEMORY;
        }
        return 0;
}

static int read_policy(struct reading *r, const char *at, const json_t *doc,
                       struct admission_policy_config *ret)
{
        const struct {
                const char *key;
                bool (*is_good)(const char *s);
                const char *rule;
                struct string_list *to;
        } members[] = {
                { "ReservedNamespacePrefixes", is_prefix, "each must match ^[a-z0-9-]+$", &ret->prefixes },
                { "WhitelistedUsernames", is_quotable, "none may have a quote or a backslash", &ret->users },
                { "WhitelistedUserGroups", is_quotable, "none may have a quote or a backslash",
                  &ret->groups },
        };
        const char *key;
        json_t *value;

        ret->wanted = true;
        json_object_foreach((json_t *)(uintptr_t)doc, key, value) {
                size_t i = 0;

                while (i < ARRAY_LEN(members) && strcasecmp(key, members[i].key) != 0)
                        i++;
                if (i == ARRAY_LEN(members))
                        complain(r, at, key, "is not known");
                else
                        TRY(read_list(r, at, key, value, members[i].is_good, members[i].rule, members[i].to));
        }
        if (!ret->prefixes.n)
                complain(r, at, "ReservedNamespacePrefixes", "must name one prefix at least");
        return 0;
}

static int read_policies(struct reading *r, const json_t *doc, struct admission_policies *ret)
{
        const struct {
                const char *key;
                struct admission_policy_config *to;
        } members[] = {
                { "denyPodsAndReplicaSetsOutsideReservedNamespaces", &ret->pods },
                { "denyServiceAccountsAndTokenRequestsInReservedNamespaces", &ret->accounts },
        };
        const char *key;
        json_t *value;

        json_object_foreach((json_t *)(uintptr_t)doc, key, value) {
                size_t i = 0;

                while (i < ARRAY_LEN(members) && strcasecmp(key, members[i].key) != 0)
                        i++;
                if (i == ARRAY_LEN(members))
                        complain(r, "the file", key, "is not known");
                else if (!json_is_object(value) && !json_is_null(value))
                        complain(r, "the file", key, "must be an object");
                else
                        TRY(read_policy(r, members[i].key, value, members[i].to));
        }
        return 0;
}

static int parse(struct arena *arena, struct slice text, struct admission_policies *ret, struct error *err)
{
        struct reading r = { .arena = arena };
        AUTO_JSON json_t *documents = NULL;
        const json_t *doc;
        int code;

        TRY(yaml_parse_all(text, &documents, err));
        doc = json_array_get(documents, 0);
        if (json_array_size(documents) > 1 || (doc && !json_is_object(doc)))
                return error_set(err, ERR_INVALID, "the configuration must be an object");
        buf_init(&r.wrong, LIMIT_ADMISSION_MESSAGE_BYTES);
        code = read_policies(&r, doc, ret);
        if (code < 0 || r.wrong.failed == ERR_NO_MEMORY)
                code = error_no_memory(err);
        else if (r.wrong.len)
                code = error_set(err, ERR_INVALID, "%s", r.wrong.data);
        buf_free(&r.wrong);
        return code;
}

int admission_policies_parse(struct arena *arena, const struct slice *text, struct admission_policies *ret,
                             struct error *err)
{
        static const char *prefixes[] = { NAMESPACE_RESERVED_PREFIX_FLEET, NAMESPACE_RESERVED_PREFIX_KUBE };
        const struct admission_policy_config by_default = { true, { prefixes, ARRAY_LEN(prefixes), true } };

        *ret = (struct admission_policies){ 0 };
        if (text)
                return parse(arena, *text, ret, err);
        ret->pods = ret->accounts = by_default;
        return 0;
}

/* ---- expressions: every operand in parentheses ---- */

static void put_or(struct buf *b, size_t *n)
{
        buf_append_str(b, (*n)++ ? " || " : "");
}

static void put_namespaces(struct buf *b, const struct string_list *prefixes)
{
        size_t n = 0;

        for (uint32_t i = 0; i < prefixes->n; i++) {
                put_or(b, &n);
                buf_printf(b, "(request.namespace.startsWith(\"%s\"))", prefixes->at[i]);
        }
}

static void put_users(struct buf *b, const char *const *users, size_t n_users, size_t *n)
{
        for (size_t i = 0; i < n_users; i++) {
                put_or(b, n);
                buf_printf(b, "(request.userInfo.username == \"%s\")", users[i]);
        }
}

static void put_groups(struct buf *b, const char *const *groups, size_t n_groups, size_t *n)
{
        for (size_t i = 0; i < n_groups; i++) {
                put_or(b, n);
                buf_printf(b, "(\"%s\" in request.userInfo.groups)", groups[i]);
        }
}

static void put_pods(struct buf *b, const struct admission_policy_config *c)
{
        put_namespaces(b, &c->prefixes);
}

static void put_accounts(struct buf *b, const struct admission_policy_config *c)
{
        static const char *const users[] = { "system:kube-scheduler", "system:kube-controller-manager" };
        static const char *const groups[] = { "system:nodes", "system:masters", "kubeadm:cluster-admins",
                                              "system:serviceaccounts" };
        size_t n = 0;

        buf_append_str(b, "(!(");
        put_namespaces(b, &c->prefixes);
        buf_append_str(b, ")) || (");
        put_users(b, users, ARRAY_LEN(users), &n);
        put_groups(b, groups, ARRAY_LEN(groups), &n);
        put_users(b, c->users.at, c->users.n, &n);
        put_groups(b, c->groups.at, c->groups.n, &n);
        buf_append_char(b, ')');
}

/* ---- objects ---- */

struct shape {
        const char *name, *message;
        void (*put)(struct buf *b, const struct admission_policy_config *c);
        const struct {
                const char *group, *resource;
                const char *operations[3];
        } rules[2];
};
static const struct shape of_pods = {
        "deny-pods-and-replicasets-outside-reserved-namespaces",
        "creating pods and replicas is disallowed in the fleet hub cluster",
        put_pods,
        { { "", "pods", { "CREATE" } }, { "apps", "replicasets", { "CREATE" } } },
};
static const struct shape of_accounts = {
        "deny-serviceaccounts-and-tokenrequests-in-reserved-namespaces",
        "writing service accounts in reserved namespaces or requesting tokens from such service accounts is "
        "disallowed",
        put_accounts,
        { { "", "serviceaccounts", { "CREATE", "UPDATE", "DELETE" } },
          { "", "serviceaccounts/token", { "CREATE" } } },
};

static json_t *rule(const struct shape *s, size_t i)
{
        json_t *operations = json_array();

        for (size_t k = 0; k < ARRAY_LEN(s->rules[i].operations) && s->rules[i].operations[k]; k++)
                if (json_array_append_new(operations, json_string(s->rules[i].operations[k])) < 0) {
                        json_decref(operations);
                        return NULL;
                }
        return json_pack("{s:[s],s:[s],s:o,s:[s],s:s}", "apiGroups", s->rules[i].group, "apiVersions", "v1",
                         "operations", operations, "resources", s->rules[i].resource, "scope", "*");
}

static json_t *metadata(const char *name)
{
        return json_pack("{s:s,s:{s:s,s:s,s:s}}", "name", name, "labels", "app.kubernetes.io/managed-by",
                         "fleet-hub-agent", "app.kubernetes.io/part-of", "fleet",
                         "app.kubernetes.io/component", "admission-policy-manager");
}

/* What the server would complete is written out, so that what it holds can be compared. */
static json_t *policy(const struct shape *s, const char *expression)
{
        return json_pack("{s:s,s:s,s:o,s:{s:s,s:{s:s,s:{},s:{},s:[o,o]},s:[{s:s,s:s,s:s}]}}", "apiVersion",
                         "admissionregistration.k8s.io/v1", "kind", "ValidatingAdmissionPolicy", "metadata",
                         metadata(s->name), "spec", "failurePolicy", "Fail", "matchConstraints",
                         "matchPolicy", "Equivalent", "namespaceSelector", "objectSelector", "resourceRules",
                         rule(s, 0), rule(s, 1), "validations", "expression", expression, "message",
                         s->message, "reason", "Forbidden");
}

#define BINDING_SUFFIX "-binding"

static json_t *binding(const struct shape *s)
{
        char name[128];

        snprintf(name, sizeof(name), "%s" BINDING_SUFFIX, s->name);
        return json_pack("{s:s,s:s,s:o,s:{s:s,s:[s]}}", "apiVersion", "admissionregistration.k8s.io/v1",
                         "kind", "ValidatingAdmissionPolicyBinding", "metadata", metadata(name), "spec",
                         "policyName", s->name, "validationActions", "Deny");
}

bool admission_policy_is_named(const char *name)
{
        static const struct shape *const shapes[] = { &of_pods, &of_accounts };

        for (size_t i = 0; i < ARRAY_LEN(shapes); i++)
                if (text_starts_with(name, shapes[i]->name)) {
                        const char *rest = name + strlen(shapes[i]->name);

                        return !*rest || text_equal(rest, BINDING_SUFFIX);
                }
        return false;
}

static int add(json_t *to, const struct shape *s, const struct admission_policy_config *c, struct error *err)
{
        AUTO_BUF struct buf expression;

        buf_init(&expression, LIMIT_OBJECT_BYTES);
        if (!c->wanted)
                return 0;
        s->put(&expression, c);
        TRY(buf_status(&expression, err, "an expression of an admission policy"));
        if (json_array_append_new(to, policy(s, expression.data)) < 0 ||
            json_array_append_new(to, binding(s)) < 0)
                return error_no_memory(err);
        return 0;
}

int admission_policies_make(const struct admission_policies *p, json_t **ret, struct error *err)
{
        AUTO_JSON json_t *all = json_array();

        if (!all)
                return error_no_memory(err);
        TRY(add(all, &of_pods, &p->pods, err));
        TRY(add(all, &of_accounts, &p->accounts, err));
        *ret = TAKE_PTR(all);
        return 0;
}
