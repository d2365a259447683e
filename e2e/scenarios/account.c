/* The accounts the agents have on their own clusters, with the rights of their charts and no others: a right
 * that is missing in charts/NAME/files shows as a failing scenario. */
#include "common/base/memory.h"
#include "e2e/admission/chart_policies.h"
#include "e2e/scenarios/fleet.h"

#define SYSTEM_NAMESPACE "fleet-system"
#define RBAC "rbac.authorization.k8s.io"
#define ADMISSION "admissionregistration.k8s.io"
#define NAME_MAX_BYTES 64

extern const char hub_agent_rules_text[], hub_agent_select_rules_text[], hub_agent_policies_rules_text[],
        hub_agent_report_back_rules_text[], hub_agent_networking_rules_text[], member_agent_rules_text[],
        member_agent_apply_rules_text[], hub_agent_member_policy_text[], hub_agent_eviction_policy_text[],
        hub_agent_budget_policy_text[], hub_agent_webhooks_rules_text[], hub_agent_webhooks_role_text[],
        hub_agent_sets_rules_text[], hub_agent_sources_rules_text[], hub_agent_impersonate_rules_text[],
        hub_agent_shards_role_text[], rules_of_sets_text[]; /* rules.S */

static const struct kube_resource accounts = { "", "v1", "serviceaccounts", "ServiceAccount", true };
static const struct kube_resource roles = { RBAC, "v1", "clusterroles", "ClusterRole", false };
static const struct kube_resource bindings = { RBAC, "v1", "clusterrolebindings", "ClusterRoleBinding",
                                               false };

static const struct kube_resource own_roles = { RBAC, "v1", "roles", "Role", true };
static const struct kube_resource own_bindings = { RBAC, "v1", "rolebindings", "RoleBinding", true };
static const struct kube_resource policies = { ADMISSION, "v1", "validatingadmissionpolicies",
                                               "ValidatingAdmissionPolicy", false };
static const struct kube_resource policy_bindings = { ADMISSION, "v1", "validatingadmissionpolicybindings",
                                                      "ValidatingAdmissionPolicyBinding", false };

static bool is_hub(const char *cluster)
{
        return text_equal(cluster, "hub");
}

/* As the charts name them. */
static const char *account_of(const char *cluster)
{
        return is_hub(cluster) ? "hub-agent-sa" : "member-agent-sa";
}

static int add_rules(const char *text, json_t *rules, struct error *err)
{
        AUTO_JSON json_t *more = NULL;

        TRY(yaml_parse(slice_of(text), &more, err));
        return json_array_extend(rules, more) < 0 ? error_no_memory(err) : 0;
}

static int rules_of(const struct fleet *f, const char *cluster, json_t **ret, struct error *err)
{
        AUTO_JSON json_t *rules = json_array();

        if (!rules)
                return error_no_memory(err);
        TRY(add_rules(is_hub(cluster) ? hub_agent_rules_text : member_agent_rules_text, rules, err));
        TRY(add_rules(is_hub(cluster) ? hub_agent_select_rules_text : member_agent_apply_rules_text, rules,
                      err));
        if (is_hub(cluster))
                TRY(add_rules(hub_agent_report_back_rules_text, rules, err));
        if (is_hub(cluster) && f->resource_sets) /* sets that name no account act with the agent's rights */
                TRY(add_rules("- {apiGroups: ['*'], resources: ['*'], verbs: ['*']}", rules, err));
        if (is_hub(cluster) && f->networking_agents)
                TRY(add_rules(hub_agent_networking_rules_text, rules, err));
        if (is_hub(cluster) && f->resource_sets) {
                TRY(add_rules(hub_agent_sets_rules_text, rules, err));
                TRY(add_rules(hub_agent_impersonate_rules_text, rules, err));
        }
        if (is_hub(cluster) && f->sources)
                TRY(add_rules(hub_agent_sources_rules_text, rules, err));
        if (is_hub(cluster) && f->admission_policies)
                TRY(add_rules(hub_agent_policies_rules_text, rules, err));
        if (is_hub(cluster) && f->webhooks)
                TRY(add_rules(hub_agent_webhooks_rules_text, rules, err));
        *ret = TAKE_PTR(rules);
        return 0;
}

static int put(struct kube_client *k, const struct kube_resource *r, json_t *doc, struct error *err)
{
        AUTO_JSON json_t *own = doc;
        struct kube_write how = { .field_manager = "fleet-setup", .force = true };

        if (!own)
                return error_no_memory(err);
        return kube_doc_patch(k, r, r->namespaced ? SYSTEM_NAMESPACE : NULL,
                              doc_get_string(own, "metadata.name"), KUBE_PATCH_APPLY, own, &how, NULL, err);
}

/* What the hub's chart installs beside the rights. */
static const struct policy_text {
        const char *name, *text;
        bool of_placements; /* put to each of them */
} policy_texts[] = {
        { "hub-agent-member-works", hub_agent_member_policy_text, false },
        { "hub-agent-evictions", hub_agent_eviction_policy_text, true },
        { "hub-agent-budgets", hub_agent_budget_policy_text, true },
};

static json_t *binding_of(const struct policy_text *p)
{
        json_t *doc = json_pack("{s:s, s:s, s:{s:s}, s:{s:s, s:[s]}}", "apiVersion", ADMISSION "/v1", "kind",
                                policy_bindings.kind, "metadata", "name", p->name, "spec", "policyName",
                                p->name, "validationActions", "Deny");

        if (doc && p->of_placements)
                json_object_set_new(json_object_get(doc, "spec"), "paramRef",
                                    json_pack("{s:{}, s:s}", "selector", "parameterNotFoundAction", "Allow"));
        return doc;
}

static int put_policy(struct kube_client *k, const struct policy_text *p, struct error *err)
{
        json_t *spec = NULL;

        TRY(yaml_parse(slice_of(p->text), &spec, err));
        TRY(put(k, &policies,
                json_pack("{s:s, s:s, s:{s:s}, s:o}", "apiVersion", ADMISSION "/v1", "kind", policies.kind,
                          "metadata", "name", p->name, "spec", spec),
                err));
        return put(k, &policy_bindings, binding_of(p), err);
}

static int put_chart_policies(struct kube_client *k, const struct chart_policy *all, size_t n,
                              struct error *err)
{
        const struct chart_policy_options nobody_more = { 0 };

        for (size_t i = 0; i < n; i++) {
                json_t *doc = NULL;

                TRY(chart_policy_make(&all[i], &nobody_more, &doc, err));
                TRY(put(k, &policies, doc, err));
                for (size_t b = 0; all[i].bindings[b]; b++) {
                        TRY(chart_policy_binding(&all[i], all[i].bindings[b], &doc, err));
                        TRY(put(k, &policy_bindings, doc, err));
                }
        }
        return 0;
}

/* By which replicas share what is in their namespace: the webhooks' certificate, leases of shards. */
static int put_own_role(struct kube_client *k, const char *account, const char *name, const char *text,
                        struct error *err)
{
        json_t *rules = NULL;

        TRY(yaml_parse(slice_of(text), &rules, err));
        TRY(put(k, &own_roles,
                json_pack("{s:s, s:s, s:{s:s, s:s}, s:o}", "apiVersion", RBAC "/v1", "kind", "Role",
                          "metadata", "name", name, "namespace", SYSTEM_NAMESPACE, "rules", rules),
                err));
        return put(k, &own_bindings,
                   json_pack("{s:s, s:s, s:{s:s, s:s}, s:{s:s, s:s, s:s}, s:[{s:s, s:s, s:s}]}", "apiVersion",
                             RBAC "/v1", "kind", "RoleBinding", "metadata", "name", name, "namespace",
                             SYSTEM_NAMESPACE, "roleRef", "apiGroup", RBAC, "kind", "Role", "name", name,
                             "subjects", "kind", "ServiceAccount", "name", account, "namespace",
                             SYSTEM_NAMESPACE),
                   err);
}

/* An account with a ClusterRole of these rules. */
static int put_account(struct kube_client *k, const char *account, const char *role, json_t *rules,
                       struct error *err)
{
        char binding[NAME_MAX_BYTES + 16];

        snprintf(binding, sizeof(binding), "%s-binding", role);
        TRY(put(k, &roles,
                json_pack("{s:s, s:s, s:{s:s}, s:o}", "apiVersion", RBAC "/v1", "kind", "ClusterRole",
                          "metadata", "name", role, "rules", rules),
                err));
        TRY(put(k, &accounts,
                json_pack("{s:s, s:s, s:{s:s, s:s}}", "apiVersion", "v1", "kind", "ServiceAccount",
                          "metadata", "name", account, "namespace", SYSTEM_NAMESPACE),
                err));
        return put(k, &bindings,
                   json_pack("{s:s, s:s, s:{s:s}, s:{s:s, s:s, s:s}, s:[{s:s, s:s, s:s}]}", "apiVersion",
                             RBAC "/v1", "kind", "ClusterRoleBinding", "metadata", "name", binding, "roleRef",
                             "apiGroup", RBAC, "kind", "ClusterRole", "name", role, "subjects", "kind",
                             "ServiceAccount", "name", account, "namespace", SYSTEM_NAMESPACE),
                   err);
}

/* As whom ResourceSets act. */
static int put_sets_account(struct kube_client *k, struct error *err)
{
        const char *account = strchr(FLEET_SETS_ACCOUNT, '/') + 1;
        json_t *rules = NULL;

        TRY(yaml_parse(slice_of(rules_of_sets_text), &rules, err));
        return put_account(k, account, account, rules, err);
}

int fleet_make_account(struct fleet *f, const char *cluster, struct error *err)
{
        const char *account = account_of(cluster);
        char role[NAME_MAX_BYTES];
        json_t *rules = NULL;
        struct kube_client *k;

        snprintf(role, sizeof(role), "%.*s-role", (int)(strlen(account) - strlen("-sa")), account);
        TRY(f->ops->client(f, cluster, &k, err));
        if (is_hub(cluster))
                for (size_t i = 0; i < ARRAY_LEN(policy_texts); i++)
                        TRY(put_policy(k, &policy_texts[i], err));
        if (is_hub(cluster) && f->guard_policies)
                TRY(put_chart_policies(k, guard_policies, n_guard_policies, err));
        if (is_hub(cluster) && f->rule_policies)
                TRY(put_chart_policies(k, rule_policies, n_rule_policies, err));
        if (is_hub(cluster) && f->webhooks)
                TRY(put_own_role(k, account, "hub-agent-webhooks", hub_agent_webhooks_role_text, err));
        if (is_hub(cluster) && f->shards)
                TRY(put_own_role(k, account, "hub-agent-shards", hub_agent_shards_role_text, err));
        if (is_hub(cluster) && f->resource_sets)
                TRY(put_sets_account(k, err));
        TRY(rules_of(f, cluster, &rules, err));
        return put_account(k, account, role, rules, err);
}

int fleet_account_token(struct fleet *f, const char *cluster, int seconds, char **ret_token,
                        struct error *err)
{
        return fleet_token(f, cluster, account_of(cluster), seconds, ret_token, err);
}
