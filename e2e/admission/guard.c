#include "e2e/admission/guard.h"

#include "common/base/memory.h"
#include "proto/names.h"

#define API "admissionregistration.k8s.io/v1"
#define GUARD "hub-agent-guard-"
#define OF_MEMBERS GUARD "member-content"

extern const char guard_who_text[], guard_definitions_text[], guard_namespaces_text[], guard_members_text[],
        guard_content_text[], guard_member_content_text[]; /* policies.S */

const struct guard_policy guard_policies[] = {
        { GUARD "definitions", guard_definitions_text, { GUARD "definitions" } },
        { GUARD "namespaces", guard_namespaces_text, { GUARD "namespaces" } },
        { GUARD "members", guard_members_text, { GUARD "members" } },
        { GUARD "content", guard_content_text, { GUARD "content-of-members", GUARD "content-of-system" } },
        { OF_MEMBERS, guard_member_content_text, { OF_MEMBERS } },
};
const size_t n_guard_policies = ARRAY_LEN(guard_policies);

static json_t *whitelist_of(const struct guard_options *o)
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

static int all_variables(json_t *spec, const struct guard_options *o, struct error *err)
{
        AUTO_JSON json_t *all = json_array(), *who = NULL, *whitelist = whitelist_of(o);

        if (!all || !whitelist)
                return error_no_memory(err);
        TRY(add_constant(all, "whitelist", whitelist, err));
        TRY(add_constant(all, "fixedLabels", o->fixed_labels ? json_true() : json_false(), err));
        TRY(yaml_parse(slice_of(guard_who_text), &who, err));
        if (json_array_extend(all, who) < 0 ||
            (json_object_get(spec, "variables") &&
             json_array_extend(all, json_object_get(spec, "variables")) < 0) ||
            json_object_set(spec, "variables", all) < 0)
                return error_no_memory(err);
        return 0;
}

int guard_policy_make(const struct guard_policy *p, const struct guard_options *o, json_t **ret,
                      struct error *err)
{
        AUTO_JSON json_t *spec = NULL;

        TRY(yaml_parse(slice_of(p->text), &spec, err));
        TRY(all_variables(spec, o, err));
        *ret = json_pack("{s:s, s:s, s:{s:s}, s:O}", "apiVersion", API, "kind", "ValidatingAdmissionPolicy",
                         "metadata", "name", p->name, "spec", spec);
        return *ret ? 0 : error_no_memory(err);
}

/* Which namespaces a binding is about; NULL: all. */
static json_t *namespaces_of(const char *binding)
{
        if (text_equal(binding, OF_MEMBERS) || text_equal(binding, GUARD "content-of-members"))
                return json_pack("{s:{s:s}}", "matchLabels", LABEL_IS_FLEET_RESOURCE, "true");
        if (text_equal(binding, GUARD "content-of-system"))
                return json_pack("{s:[{s:s, s:s, s:[s,s,s,s]}]}", "matchExpressions", "key",
                                 "kubernetes.io/metadata.name", "operator", "In", "values", "fleet-system",
                                 "kube-system", "kube-public", "kube-node-lease");
        return NULL;
}

int guard_binding_make(const struct guard_policy *p, const char *binding, json_t **ret, struct error *err)
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
