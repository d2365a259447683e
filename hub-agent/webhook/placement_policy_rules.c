/* Which policies and strategies of placements make no sense: spec/membership-webhooks-charts.md 5.2. */
#include "common/json/quantity.h"
#include "hub-agent/scheduler/framework.h"
#include "hub-agent/webhook/rules.h"

#define PREFERRED "PreferredDuringSchedulingIgnoredDuringExecution"

/* ---- clusters by name ---- */

static void name_faults(const char *name, struct faults *f)
{
        const char *faults[NAME_FAULTS_MAX];
        size_t n = subdomain_faults(name, faults);

        for (size_t i = 0; i < n; i++)
                FAULT(f, "PickFixed cluster name %s is not a valid member name: %s", name, faults[i]);
        if (strlen(name) > 63)
                FAULT(f, "PickFixed cluster name %s cannot have length exceeding 63", name);
}

static void cluster_names_faults(const struct string_list *names, struct faults *f)
{
        struct map seen;

        map_init(&seen, MAP_BORROW_KEYS, NULL);
        for (uint32_t i = 0; i < names->n && !f->no_memory; i++) {
                name_faults(or_empty(names->at[i]), f);
                if (seen_before(&seen, or_empty(names->at[i]), f)) {
                        fault_add(f, "cluster names must be unique for policy type PickFixed");
                        break;
                }
        }
        map_free(&seen);
}

/* ---- terms ---- */

static void required_faults(const struct cluster_selector *required, struct faults *f)
{
        for (uint32_t i = 0; required && i < required->terms.n; i++) {
                const struct cluster_selector_term *t = &required->terms.at[i];

                label_selector_faults(t->label_selector, "cluster selector", f);
                if (t->property_sorter)
                        fault_add(f, "PropertySorter is not allowed for "
                                     "RequiredDuringSchedulingIgnoredDuringExecution affinity");
                property_selector_faults(t->property_selector, f);
        }
}

static void preferred_faults(const struct preferred_cluster_selector_list *preferred, struct faults *f)
{
        for (uint32_t i = 0; i < preferred->n; i++) {
                const struct cluster_selector_term *t = preferred->at[i].preference;

                if (!t)
                        continue;
                label_selector_faults(t->label_selector, "preferred cluster selector", f);
                if (t->property_selector)
                        fault_add(f, "PropertySelector is not allowed for " PREFERRED " affinity");
                if (!t->property_sorter)
                        continue;
                property_name_faults(or_empty(t->property_sorter->name), NULL, f);
                if (!property_order_known(t->property_sorter->sort_order))
                        FAULT(f, "invalid property sort order %s", or_empty(t->property_sorter->sort_order));
        }
}

static void topology_faults(const struct topology_spread_constraint_list *constraints, struct faults *f)
{
        for (uint32_t i = 0; i < constraints->n; i++) {
                const char *type = constraints->at[i].when_unsatisfiable;

                if (!text_empty(type) && !text_equal(type, "DoNotSchedule") &&
                    !text_equal(type, "ScheduleAnyway"))
                        FAULT(f, "unknown unsatisfiable type %s", type);
        }
}

/* ---- tolerations ---- */

static void toleration_faults(const struct toleration *t, const char *text, struct faults *f)
{
        const char *faults[NAME_FAULTS_MAX], *value = or_empty(t->value);
        size_t n = text_empty(t->key) ? 0 : qualified_name_faults(t->key, faults);

        for (size_t i = 0; i < n; i++)
                FAULT(f, "invalid toleration key %s: %s", text, faults[i]);
        if (text_equal(t->operator, "Exists") && *value)
                FAULT(f, "invalid toleration %s: toleration value needs to be empty, when operator is Exists",
                      text);
        if (!text_equal(t->operator, "Equal"))
                return;
        if (text_empty(t->key))
                FAULT(f, "invalid toleration %s: toleration key cannot be empty, when operator is Equal",
                      text);
        n = label_value_faults(value, faults);
        for (size_t i = 0; i < n; i++)
                FAULT(f, "invalid toleration value %s: %s", text, faults[i]);
}

static void tolerations_faults(const struct toleration_list *l, struct faults *f)
{
        struct map seen;

        map_init(&seen, MAP_BORROW_KEYS, NULL);
        for (uint32_t i = 0; i < l->n && !f->no_memory; i++) {
                const char *text = toleration_text(&l->at[i], f);

                toleration_faults(&l->at[i], text, f);
                if (seen_before(&seen, text, f))
                        FAULT(f, "toleration %s already exists, tolerations must be unique", text);
        }
        map_free(&seen);
}

/* ---- the types of policies ---- */

static const struct cluster_affinity *affinity_of(const struct placement_policy *p)
{
        static const struct cluster_affinity none;

        return p->affinity && p->affinity->cluster_affinity ? p->affinity->cluster_affinity : &none;
}

static void not_pick_fixed_faults(const struct placement_policy *p, const char *type, struct faults *f)
{
        if (p->cluster_names.n)
                FAULT(f,
                      "cluster names needs to be empty for policy type %s, only valid for PickFixed policy "
                      "type",
                      type);
}

static void not_pick_n_faults(const struct placement_policy *p, const char *type, struct faults *f)
{
        if (p->number_of_clusters.set)
                FAULT(f,
                      "number of clusters must be nil for policy type %s, only valid for PickN placement "
                      "policy type",
                      type);
}

static void not_spread_faults(const struct placement_policy *p, const char *type, struct faults *f)
{
        if (p->topology_spread_constraints.n)
                FAULT(f,
                      "topology spread constraints needs to be empty for policy type %s, only valid for "
                      "PickN policy type",
                      type);
}

static void pick_fixed_faults(const struct placement_policy *p, struct faults *f)
{
        cluster_names_faults(&p->cluster_names, f);
        not_pick_n_faults(p, PLACEMENT_PICK_FIXED, f);
        if (p->affinity)
                fault_add(f, "affinity must be nil for policy type PickFixed, only valid for PickAll/PickN "
                             "placement policy types");
        not_spread_faults(p, PLACEMENT_PICK_FIXED, f);
        if (p->tolerations.set)
                fault_add(f, "tolerations needs to be empty for policy type PickFixed, only valid for "
                             "PickAll/PickN");
}

static void pick_all_faults(const struct placement_policy *p, struct faults *f)
{
        const struct cluster_affinity *a = affinity_of(p);

        not_pick_fixed_faults(p, PLACEMENT_PICK_ALL, f);
        not_pick_n_faults(p, PLACEMENT_PICK_ALL, f);
        if (a->preferred.n)
                fault_add(f, PREFERRED " will be ignored for placement policy type PickAll");
        required_faults(a->required, f);
        not_spread_faults(p, PLACEMENT_PICK_ALL, f);
        tolerations_faults(&p->tolerations, f);
}

static void pick_n_faults(const struct placement_policy *p, struct faults *f)
{
        const struct cluster_affinity *a = affinity_of(p);

        not_pick_fixed_faults(p, PLACEMENT_PICK_N, f);
        if (!p->number_of_clusters.set)
                fault_add(f, "number of cluster cannot be nil for policy type PickN");
        else if (p->number_of_clusters.value < 0)
                FAULT(f, "number of clusters cannot be %lld for policy type PickN",
                      (long long)p->number_of_clusters.value);
        required_faults(a->required, f);
        preferred_faults(&a->preferred, f);
        topology_faults(&p->topology_spread_constraints, f);
        tolerations_faults(&p->tolerations, f);
}

void placement_policy_faults(const struct placement_policy *p, struct faults *f)
{
        if (text_equal(p->placement_type, PLACEMENT_PICK_FIXED))
                pick_fixed_faults(p, f);
        else if (text_equal(p->placement_type, PLACEMENT_PICK_N))
                pick_n_faults(p, f);
        else
                pick_all_faults(p, f);
}

/* ---- strategies ---- */

static void share_faults(const char *field, const struct int_or_string *v, struct faults *f)
{
        AUTO_JSON json_t *doc = NULL;
        struct error why = { 0 };
        int64_t n;

        if (!v->set)
                return;
        doc = v->text ? json_string(v->text) : json_integer(v->value);
        if (!doc)
                f->no_memory = true;
        else if (int_or_percent(doc, 100, true, &n, &why) < 0)
                FAULT(f, "%s `%s` is invalid: %s", field, or_empty(v->text), why.text);
        else if (n < 0)
                FAULT(f, "%s must be greater than or equal to 0, got `%s`", field,
                      v->text ? v->text : text_made(number_text(f->arena, v->value), f));
}

static void rolling_update_faults(const struct rolling_update *r, struct faults *f)
{
        if (r->unavailable_period_seconds.set && r->unavailable_period_seconds.value < 0)
                FAULT(f, "unavailablePeriodSeconds must be greater than or equal to 0, got %lld",
                      (long long)r->unavailable_period_seconds.value);
        share_faults("maxUnavailable", &r->max_unavailable, f);
        share_faults("maxSurge", &r->max_surge, f);
}

void placement_strategy_faults(const struct rollout_strategy *s, struct faults *f)
{
        bool external = text_equal(s->type, ROLLOUT_EXTERNAL);

        if (!text_empty(s->type) && !text_equal(s->type, ROLLOUT_ROLLING_UPDATE) && !external)
                FAULT(f, "unsupported rollout strategy type `%s`", s->type);
        if (s->rolling_update && external)
                fault_add(f, "rollingUpdateConifg is not valid for ExternalRollout strategy type");
        if (s->rolling_update)
                rolling_update_faults(s->rolling_update, f);
        if (s->apply_strategy && s->apply_strategy->server_side_apply_config &&
            !text_equal(s->apply_strategy->type, APPLY_SERVER_SIDE))
                fault_add(f, "serverSideApplyConfig is only valid for ServerSideApply strategy type");
}
