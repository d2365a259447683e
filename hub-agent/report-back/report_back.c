#include "hub-agent/report-back/report_back.h"

#include "common/json/patch.h"

const struct report_back_strategy *works_report_back(const struct placement *p)
{
        const struct report_back_strategy *r =
                p && p->spec && p->spec->strategy ? p->spec->strategy->report_back_strategy : NULL;

        return r && text_equal(r->type, REPORT_BACK_MIRROR) ? r : NULL;
}

bool equal_report_back(const struct report_back_strategy *a, const struct report_back_strategy *b)
{
        bool on_a = a && text_equal(a->type, REPORT_BACK_MIRROR);
        bool on_b = b && text_equal(b->type, REPORT_BACK_MIRROR);

        return on_a == on_b && (!on_a || text_equal(or_empty(a->destination), or_empty(b->destination)));
}

/* spec 15, step 3 */
static bool targets_one_cluster(const struct placement_policy *policy)
{
        if (!policy)
                return false;
        if (text_equal(policy->placement_type, PLACEMENT_PICK_FIXED))
                return policy->cluster_names.n == 1;
        return text_equal(policy->placement_type, PLACEMENT_PICK_N) && policy->number_of_clusters.set &&
               policy->number_of_clusters.value == 1;
}

enum report_back report_back_of(const struct placement *p)
{
        const struct report_back_strategy *r = works_report_back(p);

        if (!r || !text_equal(r->destination, REPORT_BACK_TO_ORIGINAL_RESOURCE))
                return REPORT_BACK_OFF;
        return targets_one_cluster(p->spec->policy) ? REPORT_BACK_ON : REPORT_BACK_IMPOSSIBLE;
}

bool report_back_work_counts(const struct work *w, const struct binding *b, const struct placement *p)
{
        const char *ns = or_empty(w->object.meta.ns);

        return b->spec && text_equal(b->spec->state, BINDING_BOUND) && !is_deleting(&b->object) &&
               text_equal(label_of(&b->object, LABEL_PARENT_PLACEMENT), p->object.meta.name) &&
               text_starts_with(ns, NAMESPACE_MEMBER_PREFIX) &&
               text_equal(ns + strlen(NAMESPACE_MEMBER_PREFIX), b->spec->target_cluster) && w->status &&
               condition_is_true(&w->status->conditions, CONDITION_APPLIED, w->object.meta.generation);
}

/* What the hub's API server itself goes by: which kinds it serves, how much may be made, what goes. */
static bool is_hubs_own(const struct work_resource_identifier *id)
{
        static const struct {
                const char *group, *kind;
        } kinds[] = {
                { "", "Namespace" },
                { "", "ResourceQuota" },
                { "apiextensions.k8s.io", "CustomResourceDefinition" },
                { "apiregistration.k8s.io", "APIService" },
        };

        for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
                if (text_equal(or_empty(id->group), kinds[i].group) && text_equal(id->kind, kinds[i].kind))
                        return true;
        return false;
}

bool report_back_selects(const struct placement *p, const struct work_resource_identifier *id)
{
        if (is_hubs_own(id) || (p->object.meta.ns && !text_equal(p->object.meta.ns, or_empty(id->ns))))
                return false;
        for (uint32_t i = 0; p->status && i < p->status->selected_resources.n; i++) {
                const struct resource_identifier *one = &p->status->selected_resources.at[i];

                if (!one->envelope && text_equal(or_empty(one->group), or_empty(id->group)) &&
                    text_equal(one->version, id->version) && text_equal(one->kind, id->kind) &&
                    text_equal(or_empty(one->ns), or_empty(id->ns)) && text_equal(one->name, id->name))
                        return true;
        }
        return false;
}

static bool same_identity(const struct resource_identifier *a, const struct resource_identifier *b)
{
        return !a->envelope == !b->envelope && text_equal(or_empty(a->group), or_empty(b->group)) &&
               text_equal(a->version, b->version) && text_equal(a->kind, b->kind) &&
               text_equal(or_empty(a->ns), or_empty(b->ns)) && text_equal(a->name, b->name);
}

/* Intake keeps the order of a selection that did not change. */
static bool same_selection(const struct placement *a, const struct placement *b)
{
        static const struct placement_status none = { 0 };
        const struct resource_identifier_list *of_a = &(a->status ? a->status : &none)->selected_resources,
                                              *of_b = &(b->status ? b->status : &none)->selected_resources;

        if (of_a->n != of_b->n)
                return false;
        for (uint32_t i = 0; i < of_a->n; i++)
                if (!same_identity(&of_a->at[i], &of_b->at[i]))
                        return false;
        return true;
}

bool report_back_alike(const struct placement *a, const struct placement *b)
{
        return a->object.meta.generation == b->object.meta.generation && same_selection(a, b);
}

void report_back_digest(const struct work_resource_identifier *id, struct slice observed, const char *version,
                        uint8_t ret[SHA256_SIZE])
{
        const char *const words[] = { id->group, id->version, id->kind, id->ns, id->name, version };
        struct sha256 s;

        sha256_init(&s);
        for (size_t i = 0; i < ARRAY_LEN(words); i++)
                sha256_update(&s, or_empty(words[i]), strlen(or_empty(words[i])) + 1);
        sha256_update(&s, observed.data, observed.len);
        sha256_final(&s, ret);
}

int report_back_patch(const json_t *object, struct slice observed, json_t **ret, struct error *err)
{
        AUTO_JSON json_t *reported = NULL, *now = NULL, *wanted = NULL, *patch = NULL;
        const char *version = doc_get_string(object, "metadata.resourceVersion");

        *ret = NULL;
        TRY(doc_parse(observed, &reported, err));
        if (!json_is_object(json_object_get(reported, "status")))
                return error_set(err, ERR_INVALID, "what was reported holds no status");
        now = json_pack("{s:O?}", "status", json_object_get(object, "status"));
        wanted = json_pack("{s:O}", "status", json_object_get(reported, "status"));
        if (!now || !wanted)
                return error_no_memory(err);
        TRY(patch_merge_diff(now, wanted, &patch, err));
        if (patch_is_empty(patch))
                return 0;
        if (version && doc_set_string(patch, "metadata.resourceVersion", version) < 0)
                return error_no_memory(err);
        *ret = TAKE_PTR(patch);
        return 0;
}
