/* Placements of both flavours: spec/membership-webhooks-charts.md 5.2. */
#include "common/json/patch.h"
#include "hub-agent/webhook/rules.h"

#define WORDS(word)                                                                                          \
        word, "deny create/update v1beta1 " word " has invalid fields ",                                     \
                "deny update on old invalid v1beta1 " word " with DeletionTimestamp not set "

struct flavour {
        const struct kind *kind;
        const char *word, *deny, *deny_old; /* in messages */
        enum admission_scope refused;
};
static const struct flavour flavours[] = {
        { &cluster_resource_placement_kind, WORDS("CRP"), ADMISSION_SCOPE_NAMESPACED },
        { &resource_placement_kind, WORDS("RP"), ADMISSION_SCOPE_CLUSTER },
};

/* ---- selectors ---- */

static bool picks_content_by_selectors(const struct placement_spec *spec)
{
        for (uint32_t i = 0; i < spec->resource_selectors.n; i++) {
                const struct resource_selector *s = &spec->resource_selectors.at[i];

                if (text_equal(s->kind, "Namespace") && text_equal(s->version, "v1") &&
                    text_empty(s->group) &&
                    text_equal(s->selection_scope, SELECTION_NAMESPACE_WITH_RESOURCE_SELECTORS))
                        return true;
        }
        return false;
}

static void wrong_scope(const struct flavour *as, const struct admission_gvk *gvk, struct faults *f)
{
        FAULT(f,
              "the resource is not found in schema (please retry) or it is %s cluster scoped resource: "
              "%s/%s, Kind=%s",
              as->refused == ADMISSION_SCOPE_CLUSTER ? "a" : "not a", gvk->group, gvk->version, gvk->kind);
}

/* What cannot be placed by this agent passes for an RP and not for a CRP, as the reference has it. False: no
 * further checks, or ERR_CANCELLED in *ret_code. */
static bool check_scope(struct admission_call *c, const struct flavour *as, const struct resource_selector *s,
                        bool any_scope, struct faults *f, int *ret_code)
{
        const struct admission_gvk gvk = { or_empty(s->group), or_empty(s->version), or_empty(s->kind) };
        enum admission_scope scope = ADMISSION_SCOPE_UNTOLD;
        struct error why = { 0 };
        int code = c->world->scope(c->world->ctx, &gvk, &scope, &why);

        if (code == ERR_CANCELLED || code == ERR_NO_MEMORY) {
                *ret_code = admission_fail(c, 500, &why);
                return false;
        }
        if (code == ERR_NOT_FOUND) {
                FAULT(f, "failed to get GVR of the selector: %s", why.text);
                return false;
        }
        if (code < 0)
                fault_add(f, "cannot perform resource scope check for now, please retry");
        else if (as->refused == ADMISSION_SCOPE_CLUSTER ? scope == ADMISSION_SCOPE_CLUSTER
                                                        : scope != ADMISSION_SCOPE_CLUSTER && !any_scope)
                wrong_scope(as, &gvk, f);
        return true;
}

static bool check_selectors(struct admission_call *c, const struct flavour *as,
                            const struct placement_spec *spec, struct faults *f, int *ret_code)
{
        bool any_scope = picks_content_by_selectors(spec);

        for (uint32_t i = 0; i < spec->resource_selectors.n; i++) {
                const struct resource_selector *s = &spec->resource_selectors.at[i];

                if (s->label_selector && !text_empty(s->name))
                        FAULT(f, "the labelSelector and name fields are mutually exclusive in selector %s",
                              selector_text(s, f));
                label_selector_faults(s->label_selector, "resource selector", f);
                if (!check_scope(c, as, s, any_scope, f, ret_code))
                        return false;
        }
        return true;
}

/* ---- the whole placement ---- */

static void part_faults(struct faults *whole, const char *head, const struct faults *part)
{
        const char *text = part->n || part->no_memory ? faults_text(part) : "";

        if (!text)
                whole->no_memory = true;
        else if (*text)
                FAULT(whole, "%s: %s", head, text);
}

/* 0 with what is wrong in f, or what the rule returns: ERR_NO_MEMORY, ERR_CANCELLED. */
static int placement_faults(struct admission_call *c, const struct flavour *as, const struct placement *p,
                            struct faults *f)
{
        struct faults policy = { .arena = f->arena }, strategy = { .arena = f->arena };
        int code = 0;

        if (strlen(or_empty(p->object.meta.name)) > 63)
                fault_add(f, "the name field cannot have length exceeding 63");
        if (p->spec && !check_selectors(c, as, p->spec, f, &code))
                return code;
        if (p->spec && p->spec->policy)
                placement_policy_faults(p->spec->policy, &policy);
        part_faults(f, "the placement policy field is invalid", &policy);
        if (p->spec && p->spec->strategy)
                placement_strategy_faults(p->spec->strategy, &strategy);
        part_faults(f, "the rollout Strategy field  is invalid", &strategy);
        return f->no_memory ? error_no_memory(c->err) : 0;
}

/* ---- updates ---- */

static const char *type_of(const struct placement *p)
{
        const struct placement_policy *policy = p->spec ? p->spec->policy : NULL;

        return policy && policy->placement_type ? policy->placement_type : PLACEMENT_PICK_ALL;
}

static const struct toleration_list *tolerations_of(const struct placement *p)
{
        static const struct toleration_list none;

        return p->spec && p->spec->policy ? &p->spec->policy->tolerations : &none;
}

static bool keeps_tolerations(const struct placement *before, const struct placement *now, struct faults *f)
{
        const struct toleration_list *old = tolerations_of(before), *next = tolerations_of(now);
        struct map kept;
        bool all = true;

        map_init(&kept, MAP_BORROW_KEYS, NULL);
        for (uint32_t i = 0; i < next->n; i++)
                seen_before(&kept, toleration_text(&next->at[i], f), f);
        for (uint32_t i = 0; i < old->n && all && !f->no_memory; i++)
                all = map_has(&kept, toleration_text(&old->at[i], f));
        map_free(&kept);
        return all;
}

/* The placement with all defaults, new. */
static int with_defaults(const json_t *placement, json_t **ret, struct error *err)
{
        AUTO_JSON json_t *patch = NULL;

        TRY(placement_defaults(placement, &patch, err));
        return patch_json(placement, patch, ret, err);
}

/* An update of metadata must go through whatever has become of the spec: agents write finalizers. The
 * defaults that came with the update are not the author's. */
static int says_the_same(struct admission_call *c, bool *ret)
{
        AUTO_JSON json_t *now = NULL, *before = NULL;

        TRY(with_defaults(c->request.object, &now, c->err));
        TRY(with_defaults(c->request.old_object, &before, c->err));
        *ret = doc_equal(json_object_get(now, "spec"), json_object_get(before, "spec"));
        return 0;
}

static int update_of_invalid(struct admission_call *c, const struct flavour *as, const struct placement *now,
                             const struct faults *old)
{
        bool same = false;

        if (is_deleting(&now->object))
                return ADMISSION_ALLOW(c, "allow update on old invalid v1beta1 %s with DeletionTimestamp set",
                                       as->word);
        TRY(says_the_same(c, &same));
        if (same)
                return ADMISSION_ALLOW(
                        c, "allow update on old invalid v1beta1 %s that leaves its spec as it is", as->word);
        return admission_deny_faults(c, as->deny_old, old);
}

/* 1: the update may go on to the checks of the new object; else the answer is given. */
static int check_update(struct admission_call *c, const struct flavour *as, const struct placement *now)
{
        struct faults old = { .arena = c->arena };
        const struct object *o;
        const struct placement *before;
        int code;

        if (admission_cannot_decode(c, as->kind, c->request.old_object, &o, &code))
                return code;
        before = (const struct placement *)o;
        TRY(placement_faults(c, as, before, &old));
        if (old.n)
                return update_of_invalid(c, as, now, &old);
        if (!text_equal(type_of(before), type_of(now)))
                return ADMISSION_DENY(c, "placement type is immutable");
        if (!keeps_tolerations(before, now, &old))
                return old.no_memory ? error_no_memory(c->err)
                                     : ADMISSION_DENY(c, "tolerations have been updated/deleted, only "
                                                         "additions to tolerations are allowed");
        return old.no_memory ? error_no_memory(c->err) : 1;
}

static int validate(struct admission_call *c, const struct flavour *as)
{
        struct faults f = { .arena = c->arena };
        const struct object *o;
        const struct placement *p;
        int code;

        if (c->request.operation != ADMISSION_CREATE && c->request.operation != ADMISSION_UPDATE)
                return admission_allow(c);
        if (admission_cannot_decode(c, as->kind, c->request.object, &o, &code))
                return code;
        p = (const struct placement *)o;
        if (c->request.operation == ADMISSION_UPDATE) {
                code = check_update(c, as, p);
                if (code <= 0)
                        return code;
        }
        TRY(placement_faults(c, as, p, &f));
        if (f.n)
                return admission_deny_faults(c, as->deny, &f);
        return ADMISSION_ALLOW(c, "any user is allowed to modify v1beta1 %s", as->word);
}

int cluster_placement_validate(struct admission_call *c)
{
        return validate(c, &flavours[0]);
}

int own_placement_validate(struct admission_call *c)
{
        return validate(c, &flavours[1]);
}
