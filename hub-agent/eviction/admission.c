/* What is refused when it is written; evictions look again, as a budget may be older than its placement. */
#include "hub-agent/eviction/eviction.h"

#define WITHOUT_PLACEMENT "Associated clusterResourcePlacement object for %s is not found"

static int answer(struct admission *ret, bool allowed, const char *message, struct error *err)
{
        *ret = (struct admission){ allowed, message };
        return message ? 0 : error_no_memory(err);
}

int eviction_admission(struct arena *arena, const struct placement *p, struct admission *ret,
                       struct error *err)
{
        *ret = (struct admission){ .allowed = true };
        if (!p)
                return answer(ret, true,
                              arena_printf(arena, WITHOUT_PLACEMENT, "clusterResourcePlacementEviction"),
                              err);
        if (is_deleting(&p->object))
                return answer(ret, false,
                              arena_printf(arena, "cluster resource placement %s is being deleted",
                                           p->object.meta.name),
                              err);
        if (text_equal(placement_type_of(p), PLACEMENT_PICK_FIXED))
                return answer(ret, false, "cluster resource placement policy type PickFixed is not supported",
                              err);
        return 0;
}

static const char *as_text(struct arena *arena, const struct int_or_string *v)
{
        return v->text ? v->text : number_text(arena, v->value);
}

int budget_admission(struct arena *arena, const struct disruption_budget *b, const struct placement *p,
                     struct admission *ret, struct error *err)
{
        const struct int_or_string *v;
        const char *text;

        *ret = (struct admission){ .allowed = true };
        if (!p)
                return answer(
                        ret, true,
                        arena_printf(arena, WITHOUT_PLACEMENT, "clusterResourcePlacementDisruptionBudget"),
                        err);
        if (!budget_is_misconfigured(b, p))
                return 0;
        v = b->spec->max_unavailable.set ? &b->spec->max_unavailable : &b->spec->min_available;
        text = as_text(arena, v);
        return answer(
                ret, false,
                text ? arena_printf(arena,
                                    "cluster resource placement policy type PickAll is not supported with "
                                    "%s %s",
                                    v == &b->spec->max_unavailable ? "any specified max unavailable"
                                                                   : "min available as a percentage",
                                    text)
                     : NULL,
                err);
}
