#include "e2e/admission/chart_policies.h"

#include "common/base/memory.h"
#include "proto/names.h"

#define API "admissionregistration.k8s.io/v1"
#define GUARD "hub-agent-guard-"
#define OF_MEMBERS GUARD "member-content"

extern const char guard_who_text[], guard_definitions_text[], guard_namespaces_text[], guard_members_text[],
        guard_content_text[], guard_member_content_text[], rules_words_text[], rules_workloads_text[],
        rules_pod_budgets_text[], rules_taints_text[], rules_overrides_text[],
        rules_placements_text[]; /* policies.S */

#define RULES "hub-agent-webhook-"
#define OF_GUARD(what, file) GUARD what, guard_##file##_text, guard_who_text
#define OF_RULES(what, file, shared)                                                                         \
        {                                                                                                    \
                RULES what, rules_##file##_text, shared,                                                     \
                {                                                                                            \
                        RULES what                                                                           \
                }                                                                                            \
        }

const struct chart_policy guard_policies[] = {
        { OF_GUARD("definitions", definitions), { GUARD "definitions" } },
        { OF_GUARD("namespaces", namespaces), { GUARD "namespaces" } },
        { OF_GUARD("members", members), { GUARD "members" } },
        { OF_GUARD("content", content), { GUARD "content-of-members", GUARD "content-of-system" } },
        { OF_GUARD("member-content", member_content), { OF_MEMBERS } },
};
const size_t n_guard_policies = ARRAY_LEN(guard_policies);

const struct chart_policy rule_policies[] = {
        OF_RULES("overrides", overrides, rules_words_text),
        OF_RULES("placements", placements, rules_words_text),
        OF_RULES("taints", taints, rules_words_text),
        OF_RULES("workloads", workloads, NULL),
        OF_RULES("pod-budgets", pod_budgets, NULL),
};
const size_t n_rule_policies = ARRAY_LEN(rule_policies);

static json_t *whitelist_of(const struct chart_policy_options *o)
{
        json_t *list = json_array();

        for (const char *const *user = o->whitelist; list && user && *user; user++)
                if (json_array_append_new(list, json_string(*user)) < 0)
                        return json_decref(list), NULL;
        return list;
}

/* A variable whose expression is the value as JSON, which CEL reads as well. */
static int add_constant(json_t *variables, const char *name, const json_t *value, struct error *err)
{
        AUTO_BUF struct buf text;

        buf_init(&text, 1 << 16);
        if (!value || doc_write(value, &text) < 0 ||
            json_array_append_new(variables, json_pack("{s:s, s:s}", "name", name, "expression", text.data)) <
                    0)
                return error_no_memory(err);
        return 0;
}

static int all_variables(const struct chart_policy *p, const struct chart_policy_options *o, json_t *spec,
                         struct error *err)
{
        AUTO_JSON json_t *all = json_array(), *shared = NULL, *whitelist = whitelist_of(o);
        json_t *own = json_object_get(spec, "variables");

        if (!all || !whitelist)
                return error_no_memory(err);
        if (p->shared == guard_who_text) {
                TRY(add_constant(all, "whitelist", whitelist, err));
                TRY(add_constant(all, "fixedLabels", o->fixed_labels ? json_true() : json_false(), err));
        }
        TRY(yaml_parse(slice_of(p->shared), &shared, err));
        if (json_array_extend(all, shared) < 0 || (own && json_array_extend(all, own) < 0) ||
            json_object_set(spec, "variables", all) < 0)
                return error_no_memory(err);
        return 0;
}

int chart_policy_make(const struct chart_policy *p, const struct chart_policy_options *o, json_t **ret,
                      struct error *err)
{
        AUTO_JSON json_t *spec = NULL;

        TRY(yaml_parse(slice_of(p->text), &spec, err));
        if (p->shared)
                TRY(all_variables(p, o, spec, err));
        *ret = json_pack("{s:s, s:s, s:{s:s}, s:O}", "apiVersion", API, "kind", "ValidatingAdmissionPolicy",
                         "metadata", "name", p->name, "spec", spec);
        return *ret ? 0 : error_no_memory(err);
}

static json_t *by_name(const char *operator)
{
        return json_pack("{s:[{s:s, s:s, s:[s,s,s,s]}]}", "matchExpressions", "key",
                         "kubernetes.io/metadata.name", "operator", operator, "values", "fleet-system",
                         "kube-system", "kube-public", "kube-node-lease");
}

/* Which namespaces a binding is about; NULL: all. */
static json_t *namespaces_of(const char *binding)
{
        if (text_equal(binding, OF_MEMBERS) || text_equal(binding, GUARD "content-of-members"))
                return json_pack("{s:{s:s}}", "matchLabels", LABEL_IS_FLEET_RESOURCE, "true");
        if (text_equal(binding, GUARD "content-of-system"))
                return by_name("In");
        if (text_equal(binding, RULES "workloads") || text_equal(binding, RULES "pod-budgets"))
                return by_name("NotIn");
        return NULL;
}

int chart_policy_binding(const struct chart_policy *p, const char *binding, json_t **ret, struct error *err)
{
        json_t *namespaces = namespaces_of(binding);
        AUTO_JSON json_t *spec =
                json_pack("{s:s, s:[s]}", "policyName", p->name, "validationActions", "Deny");

        if (!spec ||
            (namespaces && json_object_set_new(spec, "matchResources",
                                               json_pack("{s:o}", "namespaceSelector", namespaces)) < 0) ||
            (text_equal(p->name, OF_MEMBERS) &&
             json_object_set_new(spec, "paramRef",
                                 json_pack("{s:{}, s:s}", "selector", "parameterNotFoundAction", "Allow")) <
                     0))
                return error_no_memory(err);
        *ret = json_pack("{s:s, s:s, s:{s:s}, s:O}", "apiVersion", API, "kind",
                         "ValidatingAdmissionPolicyBinding", "metadata", "name", binding, "spec", spec);
        return *ret ? 0 : error_no_memory(err);
}
