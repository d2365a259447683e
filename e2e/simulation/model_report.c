/* The truth of what a placement's status tells of one member: what failed, drifted and differs there is
 * listed, and nothing else. spec/rollout-and-work.md 6.8. */
#include "e2e/simulation/model_parts.h"

struct told {
        bool failed[MODEL_SLOTS], drifted[MODEL_SLOTS], diffed[MODEL_SLOTS];
        unsigned n_failed;
};

static bool is_named(const json_t *identifier, unsigned app, unsigned slot)
{
        const struct kube_resource *r = model_resource(app, slot);
        const char *group = doc_get_string(identifier, "group"),
                   *ns = doc_get_string(identifier, "namespace");
        char name[64];

        model_name(app, slot, name);
        return text_equal(group ? group : "", r->group) &&
               text_equal(doc_get_string(identifier, "kind"), r->kind) &&
               text_equal(doc_get_string(identifier, "name"), name) &&
               text_equal(ns ? ns : "", r->namespaced ? wish_app_name(app) : "");
}

/* What came in an envelope says so. */
static int judge_envelope(const json_t *identifier, unsigned slot, struct error *err)
{
        bool in_envelope = slot < WISH_SLOTS && wish_slots[slot].is_envelope;

        if (!!doc_get_object(identifier, "envelope") == in_envelope)
                return 0;
        return error_set(err, ERR_INVALID, "%s %s is listed with%s an envelope",
                         doc_get_string(identifier, "kind"), doc_get_string(identifier, "name"),
                         in_envelope ? "out" : "");
}

static int read_list(const struct model_place *p, const json_t *entry, const char *field,
                     bool told[MODEL_SLOTS], unsigned *ret_n, struct error *err)
{
        json_t *item;
        size_t i;

        json_array_foreach(doc_get_array(entry, field), i, item) {
                unsigned slot = 0;

                while (slot < MODEL_SLOTS && !is_named(item, p->app, slot))
                        slot++;
                if (slot == MODEL_SLOTS || told[slot])
                        return error_set(err, ERR_INVALID, "%s lists %s %s %s", field,
                                         doc_get_string(item, "kind"), doc_get_string(item, "name"),
                                         slot == MODEL_SLOTS ? "of nobody" : "twice");
                TRY(judge_envelope(item, slot, err));
                told[slot] = true;
                (*ret_n)++;
        }
        return 0;
}

static int judge_told(const struct model_place *p, unsigned slot, const char *field, enum model_tell should,
                      bool is, struct error *err)
{
        char text[128];

        if (is ? should != TELL_NOT : should != TELL_MUST)
                return 0;
        return error_set(err, ERR_INVALID, "%s %s in %s, should%s be", model_slot_text(p->app, slot, text),
                         is ? "is" : "is not", field, is ? " not" : "");
}

static int judge_lists(const struct model_place *p, enum model_outcome outcome,
                       const struct model_tells tells[MODEL_SLOTS], const struct told *told,
                       struct error *err)
{
        bool bad = outcome == OUTCOME_NOT_APPLIED || outcome == OUTCOME_UNAVAILABLE;

        for (unsigned slot = 0; slot < MODEL_SLOTS; slot++) {
                const struct model_tells *t = &tells[slot];
                enum model_tell failed = t->unready ? TELL_MUST : t->failed, diffed = t->diffed;

                if (!bad)
                        failed = TELL_NOT;
                if (outcome == OUTCOME_UNAVAILABLE && !t->unready)
                        failed = TELL_NOT;
                TRY(judge_told(p, slot, "failedPlacements", failed, told->failed[slot], err));
                TRY(judge_told(p, slot, "driftedPlacements", t->drifted, told->drifted[slot], err));
                if (outcome == OUTCOME_UNAVAILABLE || outcome == OUTCOME_NOT_REPORTED)
                        diffed = TELL_NOT;
                TRY(judge_told(p, slot, "diffedPlacements", diffed, told->diffed[slot], err));
        }
        return 0;
}

/* Which outcomes are true, given what there is to tell. */
static int judge_outcome(const struct model_place *p, bool reports, enum model_outcome is,
                         const struct model_tells tells[MODEL_SLOTS], struct error *err)
{
        enum model_outcome bad = reports ? OUTCOME_NOT_REPORTED : OUTCOME_NOT_APPLIED;
        enum model_tell failed = TELL_NOT;
        unsigned worst = 0, unready = MODEL_SLOTS;
        char text[128];

        for (unsigned slot = 0; slot < MODEL_SLOTS; slot++) {
                if (tells[slot].failed > failed) {
                        failed = tells[slot].failed;
                        worst = slot;
                }
                if (tells[slot].unready)
                        unready = slot;
        }
        if (is == bad)
                return failed == TELL_NOT ? error_set(err, ERR_INVALID, "%s is False, but all is well there",
                                                      reports ? "DiffReported" : "Applied")
                                          : 0;
        if (failed == TELL_MUST)
                return error_set(err, ERR_INVALID, "%s is True, but %s is not as it should be",
                                 reports ? "DiffReported" : "Applied", model_slot_text(p->app, worst, text));
        if ((is == OUTCOME_UNAVAILABLE) == (unready < MODEL_SLOTS))
                return 0;
        return error_set(err, ERR_INVALID, "Available is %s",
                         is == OUTCOME_UNAVAILABLE ? "False, but all is available"
                                                   : "True, but a workload is not available");
}

static int judge_tracking(const struct model_place *p, unsigned member,
                          const struct model_tells tells[MODEL_SLOTS], struct error *err)
{
        const char *is = doc_get_string(model_condition(p->entries[member], "Available"), "reason");
        const char *should = "AllWorkAreAvailable";

        for (unsigned slot = 0; slot < MODEL_SLOTS; slot++)
                if (tells[slot].untrackable)
                        should = "NotAllWorkAreAvailabilityTrackable";
        if (text_equal(is, should))
                return 0;
        return error_set(err, ERR_INVALID, "Available is %s, should be %s", is, should);
}

static int judge(const struct wish *w, const struct model_place *p, unsigned member,
                 const struct model_tells tells[MODEL_SLOTS], struct error *err)
{
        enum model_outcome outcome = p->outcomes[member];
        bool reports = model_reports(p, w);
        struct told told = { 0 };
        unsigned n = 0;

        TRY(read_list(p, p->entries[member], "failedPlacements", told.failed, &told.n_failed, err));
        TRY(read_list(p, p->entries[member], "driftedPlacements", told.drifted, &n, err));
        TRY(read_list(p, p->entries[member], "diffedPlacements", told.diffed, &n, err));
        TRY(judge_outcome(p, reports, outcome, tells, err));
        TRY(judge_lists(p, outcome, tells, &told, err));
        if (outcome == OUTCOME_NOT_APPLIED && told.n_failed == 0)
                return error_set(err, ERR_INVALID, "Applied is False, but nothing is said to have failed");
        return outcome == OUTCOME_GOOD && !reports ? judge_tracking(p, member, tells, err) : 0;
}

int model_judge_report(const struct wish *w, const struct model_place *p, unsigned member,
                       const struct model_tells tells[MODEL_SLOTS], struct error *err)
{
        char text[96];

        if (p->outcomes[member] == OUTCOME_BLOCKED || p->outcomes[member] == OUTCOME_NOT_OVERRIDDEN)
                return 0;
        if (judge(w, p, member, tells, err) == 0)
                return 0;
        return error_wrap(err, "%s: member-%u", model_place_text(p->app, p->place, text), member);
}
