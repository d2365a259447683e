/* What follows from a wish alone: who is chosen and what is placed. */
#include "e2e/simulation/model_parts.h"

bool model_is_in(const struct wish *w, unsigned member)
{
        return w->members[member].membership == MEMBER_IN && w->members[member].now.in;
}

/* ---- choice: spec/scheduler.md 8, 9, 10, 16 ---- */

/* Bindings know clusters by name: that one is back which was away for a moment, while no scheduler looked, is
 * nothing that anybody could tell. */
static bool was_seen_to_leave(const struct wish_member *m, size_t i, int64_t slack_ms)
{
        int64_t from = i > 0 ? m->before.at[i - 1].until_ms : 0;

        return !m->before.at[i].state.in && m->before.at[i].until_ms - from >= slack_ms;
}

/* Whether one of a member's states since then does, which may have been heard of that late; leaving ends
 * decisions: what was before the cluster was last no member does not count. */
static bool any_state(const struct wish_member *m, int64_t then, int64_t slack_ms,
                      bool (*does)(const struct wish_policy *p, const struct wish_member_state *s),
                      const struct wish_policy *policy)
{
        if (does(policy, &m->now))
                return true;
        for (size_t i = m->before.n; i-- > 0;) {
                const struct wish_member_was *was = &m->before.at[i];

                if (was->until_ms < then - slack_ms || was_seen_to_leave(m, i, slack_ms))
                        return false;
                if (does(policy, &was->state))
                        return true;
        }
        return false;
}

static bool is_untainted(const struct wish_policy *p, const struct wish_member_state *s)
{
        return s->in && !s->tainted;
}

/* A taint keeps new work away. What runs there since an earlier policy stays, like under a taint that is
 * added. */
static bool may_have_been_kept(const struct wish_placement *p, const struct wish_member *m, int64_t slack_ms)
{
        struct wish_policy policy = p->policy;

        policy.tolerates = true;
        return p->policy_ms > p->since_ms && any_state(m, p->since_ms, slack_ms, is_untainted, &policy) &&
               any_state(m, p->policy_ms, slack_ms, wish_fits, &policy);
}

enum model_choice model_choice(const struct wish *w, unsigned app, enum wish_place place, unsigned member,
                               int64_t slack_ms)
{
        const struct wish_placement *p = &w->apps[app].placements[place];

        if (!p->exists || p->leaving || !model_is_in(w, member))
                return CHOICE_NEVER;
        if (p->policy.type == POLICY_PICK_FIXED)
                return p->policy.fixed >> member & 1 ? CHOICE_MUST : CHOICE_NEVER;
        if (p->policy.type == POLICY_PICK_ALL && wish_fits(&p->policy, &w->members[member].now))
                return CHOICE_MUST;
        if (any_state(&w->members[member], p->policy_ms, slack_ms, wish_fits, &p->policy) ||
            may_have_been_kept(p, &w->members[member], slack_ms))
                return CHOICE_MAY;
        return CHOICE_NEVER;
}

static unsigned count_bits(uint32_t bits)
{
        return (unsigned)__builtin_popcount(bits);
}

static uint32_t fitting(const struct wish *w, const struct wish_policy *policy)
{
        uint32_t members = 0;

        for (unsigned i = 1; i <= w->n_members; i++)
                if (model_is_in(w, i) && wish_fits(policy, &w->members[i].now))
                        members |= UINT32_C(1) << i;
        return members;
}

void model_count(const struct wish *w, unsigned app, enum wish_place place, uint32_t chosen,
                 unsigned *ret_least, unsigned *ret_most)
{
        const struct wish_policy *policy = &w->apps[app].placements[place].policy;
        uint32_t fit = fitting(w, policy);

        switch (policy->type) {
        case POLICY_PICK_ALL:
                *ret_least = count_bits(fit);
                *ret_most = w->n_members;
                break;
        case POLICY_PICK_FIXED:
                *ret_least = *ret_most = count_bits(fit & policy->fixed);
                break;
        case POLICY_PICK_N: /* fewer only if nobody is left to choose */
                *ret_most = policy->n;
                *ret_least = MIN(policy->n, count_bits(fit | chosen));
                break;
        }
}

/* ---- content: spec/rollout-and-work.md 3 and 5 ---- */

bool model_overridden(const struct wish *w, unsigned app, enum wish_place place, unsigned slot,
                      unsigned member, bool *ret_fails)
{
        enum wish_override_what what = slot == SLOT_ROLE ? OVERRIDE_ROLE : OVERRIDE_SETTINGS;
        const struct wish_override *o = &w->apps[app].overrides[what];
        const struct wish_member_state *m = &w->members[member].now;

        *ret_fails = false;
        if (place != PLACE_MAIN || (slot != SLOT_ROLE && slot != SLOT_SETTINGS) || !o->exists ||
            (o->tier && o->tier != m->tier))
                return false;
        *ret_fails = !o->deletes && o->uses_label && m->zone == 0;
        return true;
}

json_t *model_rendered(const struct wish *w, unsigned app, enum wish_place place, unsigned slot,
                       unsigned member, bool *ret_absent)
{
        const struct wish_override *o =
                &w->apps[app].overrides[slot == SLOT_ROLE ? OVERRIDE_ROLE : OVERRIDE_SETTINGS];
        char value[64];
        json_t *doc;
        bool fails;

        *ret_absent = false;
        if (!model_overridden(w, app, place, slot, member, &fails))
                return wish_placed(w, app, slot);
        if ((*ret_absent = o->deletes))
                return NULL;
        if (o->uses_label)
                snprintf(value, sizeof(value), "zone-%u", w->members[member].now.zone);
        else
                snprintf(value, sizeof(value), "v%u-member-%u", o->value, member);
        doc = wish_placed(w, app, slot);
        if (doc &&
            doc_set_string(doc, slot == SLOT_ROLE ? "metadata.labels.override" : "data.override", value) == 0)
                return doc;
        json_decref(doc);
        return NULL;
}

/* ---- small things ---- */

bool model_reports(const struct model_place *p, const struct wish *w)
{
        return w->apps[p->app].placements[p->place].strategy.apply == APPLY_REPORT_DIFF;
}

const char *model_place_text(unsigned app, enum wish_place place, char ret[96])
{
        char name[64];

        wish_placement_name(app, place, name);
        if (place == PLACE_PART)
                snprintf(ret, 96, "ResourcePlacement %s/%s", wish_app_name(app), name);
        else
                snprintf(ret, 96, "ClusterResourcePlacement %s", name);
        return ret;
}

static const struct kube_resource namespaces = { "", "v1", "namespaces", "Namespace", false };

const struct kube_resource *model_resource(unsigned app, unsigned slot)
{
        return slot == SLOT_HOME ? &namespaces : wish_placed_resource(app, slot);
}

void model_name(unsigned app, unsigned slot, char ret[64])
{
        if (slot == SLOT_HOME)
                snprintf(ret, 64, "%s", wish_app_name(app));
        else
                wish_placed_name(app, slot, ret);
}

const char *model_slot_text(unsigned app, unsigned slot, char ret[128])
{
        const struct kube_resource *r = model_resource(app, slot);
        char name[64];

        model_name(app, slot, name);
        if (r->namespaced)
                snprintf(ret, 128, "%s %s/%s", r->kind, wish_app_name(app), name);
        else
                snprintf(ret, 128, "%s %s", r->kind, name);
        return ret;
}

const json_t *model_find(const json_t *list, const char *name)
{
        json_t *doc;
        size_t i;

        json_array_foreach(list, i, doc)
                if (text_equal(doc_get_string(doc, "metadata.name"), name))
                        return doc;
        return NULL;
}

const json_t *model_condition(const json_t *owner, const char *type)
{
        json_t *c;
        size_t i;

        json_array_foreach(doc_get_array(owner, "conditions"), i, c)
                if (text_equal(doc_get_string(c, "type"), type))
                        return c;
        return NULL;
}

bool model_holds_now(const json_t *owner, const char *type, int64_t generation)
{
        const json_t *c = model_condition(owner, type);

        return text_equal(doc_get_string(c, "status"), "True") &&
               doc_get_int(c, "observedGeneration", -1) == generation;
}
