/* Evictions and their budgets: spec/membership-webhooks-charts.md 5.5. */
#include "hub-agent/eviction/eviction.h"
#include "hub-agent/webhook/rules.h"

/* The placement, or NULL if there is none of the name. False: it cannot be told, and *ret_code is what to
 * return. */
static bool find_placement(struct admission_call *c, const char *name, const struct placement **ret,
                           int *ret_code)
{
        struct error why = { 0 };
        const struct object *o = NULL;
        int code = text_empty(name) ? ERR_NOT_FOUND
                                    : c->world->find(c->world->ctx, c->arena,
                                                     &cluster_resource_placement_kind, NULL, name, &o, &why);

        *ret = (const struct placement *)o;
        if (code == 0 || code == ERR_NOT_FOUND)
                return true;
        *ret_code = admission_fail(c, 400, &why);
        return false;
}

static int answer_as(struct admission_call *c, const struct admission *a)
{
        if (!a->allowed)
                return ADMISSION_DENY(c, "%s", a->message);
        return a->message ? ADMISSION_ALLOW(c, "%s", a->message) : admission_allow(c);
}

int eviction_validate(struct admission_call *c)
{
        const struct placement *p = NULL;
        const struct object *o;
        const struct eviction *e;
        struct admission a;
        int code;

        if (c->request.operation != ADMISSION_CREATE)
                return admission_allow(c);
        if (admission_cannot_decode(c, &cluster_resource_placement_eviction_kind, c->request.object, &o,
                                    &code))
                return code;
        e = (const struct eviction *)o;
        if (!find_placement(c, e->spec ? e->spec->placement_name : NULL, &p, &code))
                return code;
        TRY(eviction_admission(c->arena, p, &a, c->err));
        return answer_as(c, &a);
}

int budget_validate(struct admission_call *c)
{
        const struct placement *p = NULL;
        const struct object *o;
        struct admission a;
        int code;

        if (c->request.operation != ADMISSION_CREATE && c->request.operation != ADMISSION_UPDATE)
                return admission_allow(c);
        if (admission_cannot_decode(c, &cluster_resource_placement_disruption_budget_kind, c->request.object,
                                    &o, &code))
                return code;
        if (!((const struct disruption_budget *)o)->spec || admission_keeps_spec(c))
                return admission_allow(c);
        if (!find_placement(c, o->meta.name, &p, &code))
                return code;
        TRY(budget_admission(c->arena, (const struct disruption_budget *)o, p, &a, c->err));
        return answer_as(c, &a);
}
