/* What overrides may say: spec/membership-webhooks-charts.md 5.4. */
#include "hub-agent/override/guard.h"
#include "hub-agent/webhook/rules.h"

static void term_faults(const struct cluster_selector_term *t, struct faults *f)
{
        const char *why = NULL;

        if (t->property_selector || t->property_sorter)
                why = "only labelSelector is supported";
        else if (!t->label_selector)
                why = "labelSelector is required";
        if (why)
                FAULT(f, "invalid clusterSelector %s: %s", term_text(t, f), why);
        else
                label_selector_faults(t->label_selector, "cluster selector", f);
}

static void operation_faults(const struct json_patch_override *o, struct faults *f)
{
        struct error why = { 0 };

        if (override_check_operation(o, &why) < 0)
                FAULT(f, "%s", why.text);
        else if (text_equal(o->op, "remove") && o->value.data)
                FAULT(f, "invalid JSONPatchOverride {%s %s {%.*s}}: remove operation cannot have value",
                      o->op, or_empty(o->path), (int)o->value.len, o->value.data);
}

#define DELETE_WITH_PATCHES                                                                                  \
        "invalid JSONPatchOverrides: JSONPatchOverrides cannot be set when the override type is Delete"

static void rule_faults(const struct override_rule *r, struct faults *f)
{
        for (uint32_t i = 0; r->cluster_selector && i < r->cluster_selector->terms.n; i++)
                term_faults(&r->cluster_selector->terms.at[i], f);
        if (!text_equal(r->override_type, OVERRIDE_JSON_PATCH))
                return;
        if (!r->json_patch_overrides.n)
                fault_add(f, "invalid JSONPatchOverrides: JSONPatchOverrides cannot be empty");
        for (uint32_t i = 0; i < r->json_patch_overrides.n; i++)
                operation_faults(&r->json_patch_overrides.at[i], f);
}

/* A rule that cannot be meant is told alone. */
void override_policy_faults(const struct override_policy *p, struct faults *f)
{
        for (uint32_t i = 0; p && i < p->rules.n; i++)
                if (text_equal(p->rules.at[i].override_type, OVERRIDE_DELETE) &&
                    p->rules.at[i].json_patch_overrides.n) {
                        fault_add(f, DELETE_WITH_PATCHES);
                        return;
                }
        for (uint32_t i = 0; p && i < p->rules.n; i++)
                rule_faults(&p->rules.at[i], f);
}
