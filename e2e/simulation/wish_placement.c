/* What users ask to be placed where: documents, and what they mean. */
#include "e2e/simulation/wish.h"

#include "common/base/memory.h"

#define GROUP "placement.kubernetes-fleet.io"
#define VERSION "v1beta1"
#define NOWHERE "nowhere"

static const struct kube_resource placements = { GROUP, VERSION, "clusterresourceplacements",
                                                 "ClusterResourcePlacement", false };
static const struct kube_resource namespaced_placements = { GROUP, VERSION, "resourceplacements",
                                                            "ResourcePlacement", true };
static const struct kube_resource overrides = { GROUP, VERSION, "resourceoverrides", "ResourceOverride",
                                                true };
static const struct kube_resource cluster_overrides = { GROUP, VERSION, "clusterresourceoverrides",
                                                        "ClusterResourceOverride", false };

static const char *tier_name(enum wish_tier tier)
{
        static const char *const names[] = { NULL, "gold", "silver" };

        return names[tier];
}

/* ---- names ---- */

const struct kube_resource *wish_placement_resource(enum wish_place place)
{
        return place == PLACE_PART ? &namespaced_placements : &placements;
}

void wish_placement_name(unsigned app, enum wish_place place, char ret[64])
{
        static const char *const formats[WISH_PLACES] = { "app-%u", "twin-%u", "part" };

        snprintf(ret, 64, formats[place], app);
}

const struct kube_resource *wish_override_resource(enum wish_override_what what)
{
        return what == OVERRIDE_ROLE ? &cluster_overrides : &overrides;
}

void wish_override_name(unsigned app, enum wish_override_what what, char ret[64])
{
        snprintf(ret, 64, what == OVERRIDE_ROLE ? "app-%u" : "settings", app);
}

static json_t *document(const struct kube_resource *r, unsigned app, const char *name, json_t *spec)
{
        json_t *doc = json_pack("{s:s, s:s, s:{s:s}, s:o}", "apiVersion", GROUP "/" VERSION, "kind", r->kind,
                                "metadata", "name", name, "spec", spec);

        if (doc && r->namespaced && doc_set_string(doc, "metadata.namespace", wish_app_name(app)) < 0) {
                json_decref(doc);
                return NULL;
        }
        return doc;
}

/* ---- selection ---- */

static json_t *selector(const struct kube_resource *r, const char *name)
{
        return json_pack("{s:s, s:s, s:s, s:s}", "group", r->group, "version", r->version, "kind", r->kind,
                         "name", name);
}

static json_t *namespace_selector(unsigned app, const char *scope)
{
        return json_pack("{s:s, s:s, s:s, s:s, s:s}", "group", "", "version", "v1", "kind", "Namespace",
                         "name", wish_app_name(app), "selectionScope", scope);
}

static json_t *slot_selector(unsigned app, unsigned slot)
{
        char name[64];

        wish_object_name(app, slot, name);
        return selector(wish_resource(app, slot), name);
}

static json_t *picked_selector(void)
{
        return json_pack("{s:s, s:s, s:s, s:{s:{s:s}}}", "group", "", "version", "v1", "kind", "ConfigMap",
                         "labelSelector", "matchLabels", "pick", "yes");
}

static json_t *selectors(unsigned app, const struct wish_placement *p)
{
        static const char *const scopes[] = { [SELECT_NAMESPACE] = "NamespaceWithResources",
                                              [SELECT_NAMESPACE_ONLY] = "NamespaceOnly",
                                              [SELECT_LABELLED] = "NamespaceWithResourceSelectors" };
        json_t *list = json_array();
        int code = 0;

        if (p->selection <= SELECT_LABELLED)
                code |= json_array_append_new(list, namespace_selector(app, scopes[p->selection]));
        if (p->selection == SELECT_LABELLED || p->selection == SELECT_CONFIG_MAPS)
                code |= json_array_append_new(list, picked_selector());
        if (p->selection == SELECT_SETTINGS)
                code |= json_array_append_new(list, slot_selector(app, SLOT_SETTINGS));
        if (p->with_role || p->selection == SELECT_ROLE)
                code |= json_array_append_new(list, slot_selector(app, SLOT_ROLE));
        if (p->with_bundle)
                code |= json_array_append_new(list, slot_selector(app, SLOT_CLUSTER_BUNDLE));
        if (p->with_definition)
                code |= json_array_append_new(list, slot_selector(app, SLOT_DEFINITION));
        if (code == 0)
                return list;
        json_decref(list);
        return NULL;
}

/* ---- policy ---- */

static json_t *tier_term(enum wish_tier tier)
{
        return json_pack("{s:{s:{s:s}}}", "labelSelector", "matchLabels", "tier", tier_name(tier));
}

static int set_fixed(json_t *policy, uint32_t fixed)
{
        json_t *names = json_array();
        char name[32];

        for (unsigned i = 0; names && i <= WISH_MEMBERS; i++) {
                snprintf(name, sizeof(name), i ? "member-%u" : NOWHERE, i);
                if ((fixed >> i & 1) && json_array_append_new(names, json_string(name)) < 0) {
                        json_decref(names);
                        return ERR_NO_MEMORY;
                }
        }
        return doc_set(policy, "clusterNames", names);
}

static int set_affinity(json_t *policy, const struct wish_policy *p)
{
        int code = 0;

        if (p->tier)
                code = doc_set(policy,
                               "affinity.clusterAffinity.requiredDuringSchedulingIgnoredDuringExecution",
                               json_pack("{s:[o]}", "clusterSelectorTerms", tier_term(p->tier)));
        if (code == 0 && p->prefers && p->type == POLICY_PICK_N)
                code = doc_set(policy,
                               "affinity.clusterAffinity.preferredDuringSchedulingIgnoredDuringExecution",
                               json_pack("[{s:i, s:o}]", "weight", 20, "preference", tier_term(p->prefers)));
        return code;
}

static int fill_policy(json_t *policy, const struct wish_policy *p)
{
        if (p->type == POLICY_PICK_FIXED)
                return set_fixed(policy, p->fixed);
        if (p->type == POLICY_PICK_N) {
                TRY(doc_set_int(policy, "numberOfClusters", p->n));
                if (p->spread)
                        TRY(doc_set(policy, "topologySpreadConstraints",
                                    json_pack("[{s:s, s:i, s:s}]", "topologyKey", "zone", "maxSkew", 1,
                                              "whenUnsatisfiable", "ScheduleAnyway")));
        }
        TRY(set_affinity(policy, p));
        if (!p->tolerates)
                return 0;
        return doc_set(policy, "tolerations",
                       json_pack("[{s:s, s:s, s:s, s:s}]", "key", "play", "operator", "Equal", "value", "on",
                                 "effect", "NoSchedule"));
}

static json_t *policy_doc(const struct wish_policy *p)
{
        static const char *const types[] = { "PickAll", "PickN", "PickFixed" };
        json_t *policy = json_pack("{s:s}", "placementType", types[p->type]);

        if (policy && fill_policy(policy, p) == 0)
                return policy;
        json_decref(policy);
        return NULL;
}

/* ---- strategy ---- */

static json_t *apply_doc(const struct wish_strategy *s)
{
        static const char *const types[] = { "ClientSideApply", "ServerSideApply", "ReportDiff" };
        static const char *const compares[] = { "PartialComparison", "FullComparison" };
        static const char *const whens[] = { "Always", "IfNotDrifted" };
        static const char *const take_overs[] = { "Always", "IfNoDiff", "Never" };
        json_t *doc = json_pack("{s:s, s:s, s:s, s:s, s:b}", "type", types[s->apply], "comparisonOption",
                                compares[s->compare], "whenToApply", whens[s->when], "whenToTakeOver",
                                take_overs[s->take_over], "allowCoOwnership", s->co_own);

        if (doc && s->apply == APPLY_SERVER_SIDE &&
            doc_set(doc, "serverSideApplyConfig.force", json_true()) < 0) {
                json_decref(doc);
                return NULL;
        }
        return doc;
}

static json_t *back_doc(enum wish_back back) /* NULL: nothing is asked for */
{
        if (back == BACK_NOT)
                return NULL;
        return json_pack("{s:s, s:s}", "type", "Mirror", "destination",
                         back == BACK_TO_WORK ? "WorkAPI" : "OriginalResource");
}

static json_t *strategy_doc(const struct wish_strategy *s)
{
        char unavailable[16], surge[16];

        if (s->external_ms)
                return json_pack("{s:s, s:o, s:o*}", "type", "External", "applyStrategy", apply_doc(s),
                                 "reportBackStrategy", back_doc(s->back));
        snprintf(unavailable, sizeof(unavailable), "%u%%", s->max_unavailable);
        snprintf(surge, sizeof(surge), "%u%%", s->max_surge);
        return json_pack("{s:s, s:{s:s, s:s, s:i}, s:o, s:o*}", "type", "RollingUpdate", "rollingUpdate",
                         "maxUnavailable", unavailable, "maxSurge", surge, "unavailablePeriodSeconds",
                         (int)s->unavailable_period_s, "applyStrategy", apply_doc(s), "reportBackStrategy",
                         back_doc(s->back));
}

json_t *wish_placement_doc(const struct wish *w, unsigned app, enum wish_place place)
{
        const struct wish_placement *p = &w->apps[app].placements[place];
        const char *scope = p->accessible ? "NamespaceAccessible" : NULL; /* else as the server fills it in */
        char name[64];

        wish_placement_name(app, place, name);
        return document(wish_placement_resource(place), app, name,
                        json_pack("{s:o, s:o, s:o, s:i, s:s*}", "resourceSelectors", selectors(app, p),
                                  "policy", policy_doc(&p->policy), "strategy", strategy_doc(&p->strategy),
                                  "revisionHistoryLimit", (int)MAX(p->history_limit, 1),
                                  "statusReportingScope", scope));
}

/* ---- overrides ---- */

static json_t *override_rule(const struct wish_override *o, enum wish_override_what what)
{
        const char *path = what == OVERRIDE_ROLE ? "/metadata/labels/override" : "/data/override";
        json_t *terms = o->tier ? json_pack("[o]", tier_term(o->tier)) : json_array(),
               *rule = json_pack("{s:{s:o}, s:s}", "clusterSelector", "clusterSelectorTerms", terms,
                                 "overrideType", o->deletes ? "Delete" : "JSONPatch");
        char value[80];

        snprintf(value, sizeof(value), "v%u-${MEMBER-CLUSTER-NAME}", o->value);
        if (o->deletes || !rule)
                return rule;
        if (doc_set(rule, "jsonPatchOverrides",
                    json_pack("[{s:s, s:s, s:s}]", "op", "add", "path", path, "value",
                              o->uses_label ? "${MEMBER-CLUSTER-LABEL-KEY-zone}" : value)) == 0)
                return rule;
        json_decref(rule);
        return NULL;
}

json_t *wish_override_doc(const struct wish *w, unsigned app, enum wish_override_what what)
{
        const struct wish_override *o = &w->apps[app].overrides[what];
        unsigned slot = what == OVERRIDE_ROLE ? SLOT_ROLE : SLOT_SETTINGS;
        char name[64], of[64];

        wish_override_name(app, what, name);
        wish_placement_name(app, PLACE_MAIN, of);
        return document(wish_override_resource(what), app, name,
                        json_pack("{s:{s:s}, s:[o], s:{s:[o]}}", "placement", "name", of,
                                  what == OVERRIDE_ROLE ? "clusterResourceSelectors" : "resourceSelectors",
                                  slot_selector(app, slot), "policy", "overrideRules",
                                  override_rule(o, what)));
}

/* ---- what a placement means ---- */

json_t *wish_member_labels(const struct wish_member_state *s)
{
        char zone[16];

        snprintf(zone, sizeof(zone), "zone-%u", s->zone);
        return json_pack("{s:s?, s:s?}", "tier", tier_name(s->tier), "zone", s->zone ? zone : NULL);
}

/* Config maps are what labels pick. */
static bool is_config_map(unsigned slot)
{
        return slot < SLOT_BIG + 2;
}

static bool picks(const struct wish_placement *p, unsigned slot, const struct wish_object *o)
{
        if (slot == SLOT_ROLE)
                return p->with_role || p->selection == SELECT_ROLE;
        if (slot == SLOT_CLUSTER_BUNDLE)
                return p->with_bundle;
        if (slot == SLOT_DEFINITION)
                return p->with_definition;
        switch (p->selection) {
        case SELECT_NAMESPACE:
                return true;
        case SELECT_LABELLED:
        case SELECT_CONFIG_MAPS:
                return is_config_map(slot) && o->labelled;
        case SELECT_SETTINGS:
                return slot == SLOT_SETTINGS;
        default:
                return false;
        }
}

static bool has_namespace(const struct wish_app *a)
{
        return a->exists && !a->leaving;
}

uint32_t wish_selected(const struct wish *w, unsigned app, enum wish_place place)
{
        const struct wish_app *a = &w->apps[app];
        const struct wish_placement *p = &a->placements[place];
        uint32_t slots = 0;

        for (unsigned slot = 0; slot < WISH_SLOTS && p->exists; slot++)
                if (a->objects[slot].exists && picks(p, slot, &a->objects[slot]) &&
                    (has_namespace(a) || !wish_slots[slot].in_namespace))
                        slots |= UINT32_C(1) << slot;
        return slots;
}

bool wish_selects_namespace(const struct wish *w, unsigned app, enum wish_place place)
{
        const struct wish_app *a = &w->apps[app];
        const struct wish_placement *p = &a->placements[place];

        return p->exists && has_namespace(a) && place != PLACE_PART && p->selection <= SELECT_LABELLED;
}

bool wish_fits(const struct wish_policy *p, const struct wish_member_state *s)
{
        if (!s->in || p->type == POLICY_PICK_FIXED)
                return s->in;
        return (p->tier == TIER_NONE || p->tier == s->tier) && (p->tolerates || !s->tainted);
}
