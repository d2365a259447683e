/* What a placement's status must say by itself: who is chosen, which conditions, what they were seen of. */
#include "e2e/simulation/model_parts.h"

/* The conditions in their order, spec/placement.md 10.2: of a placement (with its kind before the type) and
 * of a cluster in it. */
struct step {
        const char *type;
        bool apply, report;                        /* expected when applying; in ReportDiff mode */
        const char *good[2], *bad;                 /* reasons for the placement */
        const char *cluster_good[2], *cluster_bad; /* and for a cluster */
        enum model_outcome outcome;                /* if it is False */
};

static const struct step steps[] = {
        { "RolloutStarted",
          true,
          true,
          { "RolloutStarted" },
          "RolloutNotStartedYet",
          { "RolloutStarted" },
          "RolloutNotStartedYet",
          OUTCOME_BLOCKED },
        { "Overridden",
          true,
          true,
          { "OverriddenSucceeded", "NoOverrideSpecified" },
          "OverriddenFailed",
          { "OverriddenSucceeded", "NoOverrideSpecified" },
          "OverriddenFailed",
          OUTCOME_NOT_OVERRIDDEN },
        { "WorkSynchronized",
          true,
          true,
          { "WorkSynchronized" },
          "never",
          { "AllWorkSynced" },
          "never",
          OUTCOME_NONE },
        { "Applied",
          true,
          false,
          { "ApplySucceeded" },
          "ApplyFailed",
          { "AllWorkHaveBeenApplied" },
          "NotAllWorkHaveBeenApplied",
          OUTCOME_NOT_APPLIED },
        { "Available",
          true,
          false,
          { "ResourceAvailable" },
          "ResourceNotAvailableYet",
          { "AllWorkAreAvailable", "NotAllWorkAreAvailabilityTrackable" },
          "NotAllWorkAreAvailable",
          OUTCOME_UNAVAILABLE },
        { "DiffReported",
          false,
          true,
          { "DiffReportingCompleted" },
          "DiffReportingIncompleteOrFailed",
          { "AllWorkHaveDiffReported" },
          "NotAllWorkHaveDiffReported",
          OUTCOME_NOT_REPORTED },
};

static const struct wish_placement *asked(const struct wish *w, const struct model_place *p)
{
        return &w->apps[p->app].placements[p->place];
}

static int differs(const struct model_place *p, struct error *err)
{
        char text[96];

        return error_wrap(err, "%s", model_place_text(p->app, p->place, text));
}

static unsigned count_bits(uint32_t bits)
{
        return (unsigned)__builtin_popcount(bits);
}

/* ---- conditions ---- */

static bool is_one_of(const char *reason, const char *const good[2])
{
        return text_equal(reason, good[0]) || (good[1] && text_equal(reason, good[1]));
}

/* *ret: True. Neither True nor False, or of another generation: a difference. */
static int judge_condition(const json_t *c, const char *type, const char *const good[2], const char *bad,
                           int64_t generation, bool *ret, struct error *err)
{
        const char *status = doc_get_string(c, "status"), *reason = doc_get_string(c, "reason");

        if (!c)
                return error_set(err, ERR_INVALID, "condition %s is missing", type);
        if (doc_get_int(c, "observedGeneration", -1) != generation)
                return error_set(err, ERR_INVALID, "condition %s is of generation %lld, should be %lld", type,
                                 (long long)doc_get_int(c, "observedGeneration", -1), (long long)generation);
        *ret = text_equal(status, "True");
        if ((!*ret && !text_equal(status, "False")) || !reason ||
            !(*ret ? is_one_of(reason, good) : text_equal(reason, bad)))
                return error_set(err, ERR_INVALID, "condition %s is %s, %s (%s)", type,
                                 status ? status : "without status", reason ? reason : "without reason",
                                 doc_get_string(c, "message"));
        return 0;
}

static int judge_absent(const json_t *owner, const char *prefix, size_t from, struct error *err)
{
        char type[96];

        for (size_t i = from; i < ARRAY_LEN(steps); i++) {
                snprintf(type, sizeof(type), "%s%s", prefix, steps[i].type);
                if (model_condition(owner, type))
                        return error_set(err, ERR_INVALID, "condition %s is %s, should be absent", type,
                                         doc_get_string(model_condition(owner, type), "status"));
        }
        return 0;
}

/* The first condition that is False, or OUTCOME_GOOD. */
static int judge_entry(const struct model_place *p, const json_t *entry, bool reports,
                       enum model_outcome *ret, struct error *err)
{
        int64_t generation = doc_get_int(p->doc, "metadata.generation", 0);
        static const char *const scheduled[2] = { "Scheduled" };
        bool good;

        TRY(judge_condition(model_condition(entry, "Scheduled"), "Scheduled", scheduled, "never", generation,
                            &good, err));
        for (size_t i = 0; i < ARRAY_LEN(steps); i++) {
                const struct step *s = &steps[i];

                if (!(reports ? s->report : s->apply)) {
                        if (model_condition(entry, s->type))
                                return error_set(err, ERR_INVALID, "condition %s should be absent", s->type);
                        continue;
                }
                TRY(judge_condition(model_condition(entry, s->type), s->type, s->cluster_good, s->cluster_bad,
                                    generation, &good, err));
                if (good)
                        continue;
                *ret = s->outcome;
                return judge_absent(entry, "", i + 1, err);
        }
        *ret = OUTCOME_GOOD;
        return 0;
}

/* All clusters together: True as far as all of them are, then False, then nothing. */
static int judge_sum(const struct wish *w, const struct model_place *p, struct error *err)
{
        const json_t *status = doc_get_object(p->doc, "status");
        const char *kind = wish_placement_resource(p->place)->kind;
        enum model_outcome worst = OUTCOME_GOOD;
        char type[96];
        bool good;

        if (!p->chosen)
                return judge_absent(status, kind, 0, err);
        for (unsigned i = 1; i <= w->n_members; i++)
                if (p->chosen >> i & 1)
                        worst = MIN(worst, p->outcomes[i]);
        for (size_t i = 0; i < ARRAY_LEN(steps); i++) {
                const struct step *s = &steps[i];

                snprintf(type, sizeof(type), "%s%s", kind, s->type);
                if (!(model_reports(p, w) ? s->report : s->apply)) {
                        if (model_condition(status, type))
                                return error_set(err, ERR_INVALID, "condition %s should be absent", type);
                        continue;
                }
                TRY(judge_condition(model_condition(status, type), type, s->good, s->bad,
                                    doc_get_int(p->doc, "metadata.generation", 0), &good, err));
                if (good == (s->outcome != OUTCOME_NONE && s->outcome == worst))
                        return error_set(err, ERR_INVALID,
                                         "condition %s is %s, which is not what its clusters say", type,
                                         good ? "True" : "False");
                if (!good)
                        return judge_absent(status, kind, i + 1, err);
        }
        return 0;
}

/* ---- who is chosen ---- */

/* PickN: as many as asked for; PickFixed: all that are named. */
static bool is_fulfilled(const struct wish *w, const struct model_place *p)
{
        const struct wish_policy *policy = &asked(w, p)->policy;

        if (policy->type == POLICY_PICK_N)
                return count_bits(p->chosen) == policy->n;
        return policy->type == POLICY_PICK_ALL || p->chosen == policy->fixed;
}

static int judge_scheduled(const struct wish *w, const struct model_place *p, struct error *err)
{
        static const char *const good[2] = { "SchedulingPolicyFulfilled" };
        char type[96];
        bool is;

        snprintf(type, sizeof(type), "%sScheduled", wish_placement_resource(p->place)->kind);
        TRY(judge_condition(model_condition(doc_get_object(p->doc, "status"), type), type, good,
                            p->frozen ? "InvalidResourceSelectors" : "SchedulingPolicyUnfulfilled",
                            doc_get_int(p->doc, "metadata.generation", 0), &is, err));
        if (is != (!p->frozen && is_fulfilled(w, p)))
                return error_set(err, ERR_INVALID, "condition %s is %s with %u clusters chosen", type,
                                 is ? "True" : "False", count_bits(p->chosen));
        return 0;
}

static unsigned member_of(const struct wish *w, const char *cluster)
{
        uint64_t index;

        return text_starts_with(cluster, "member-") && text_parse_u64(cluster + strlen("member-"), &index) &&
                               index <= w->n_members
                       ? (unsigned)index
                       : 0;
}

/* Named entries are clusters that were chosen, the others say why one is missing. */
static int read_entries(const struct wish *w, struct model_place *p, struct error *err)
{
        unsigned index, unnamed = 0;
        json_t *entry;
        size_t i;

        json_array_foreach(doc_get_array(p->doc, "status.placementStatuses"), i, entry) {
                const char *cluster = doc_get_string(entry, "clusterName");

                if (!cluster || !*cluster) {
                        unnamed++;
                        continue;
                }
                index = member_of(w, cluster);
                if (!index || p->chosen >> index & 1)
                        return error_set(err, ERR_INVALID, "its status names %s, which %s", cluster,
                                         index ? "it names already" : "there is not");
                p->chosen |= UINT32_C(1) << index;
                p->entries[index] = entry;
        }
        if (unnamed > 0 && is_fulfilled(w, p))
                return error_set(err, ERR_INVALID, "its status tells of %u clusters too few, should be none",
                                 unnamed);
        return 0;
}

static int judge_choice(const struct wish *w, const struct model_place *p, struct error *err)
{
        unsigned least, most, n = count_bits(p->chosen);

        for (unsigned i = 1; i <= w->n_members; i++) {
                enum model_choice choice = model_choice(w, p->app, p->place, i, MODEL_SLACK_MS);
                bool chosen = p->chosen >> i & 1;

                if (chosen ? choice == CHOICE_NEVER : choice == CHOICE_MUST)
                        return error_set(err, ERR_INVALID, "member-%u is%s chosen, should%s be", i,
                                         chosen ? "" : " not", chosen ? " not" : "");
        }
        model_count(w, p->app, p->place, p->chosen, &least, &most);
        if (n < least || n > most)
                return error_set(err, ERR_INVALID, "%u clusters are chosen, should be %u to %u", n, least,
                                 most);
        return 0;
}

/* ---- rollout: spec/rollout-and-work.md 2.7, 2.8 ---- */

/* A cluster that is held back is ready, or it would be updated for having failed: unless its workload is
 * known not to be, or it reports, which is no failure if it does not succeed. */
static bool is_ready(const struct wish *w, const struct model_place *p, unsigned member)
{
        if (p->outcomes[member] != OUTCOME_BLOCKED)
                return p->outcomes[member] == OUTCOME_GOOD;
        return !model_reports(p, w) && !(w->members[member].unready >> p->app & 1);
}

/* How many clusters more than the strategy demands are ready: what is positive lets a removal or an update
 * happen. */
static int slots_left(const struct wish *w, const struct model_place *p)
{
        const struct wish_placement *a = asked(w, p);
        unsigned n = count_bits(p->chosen), ready = 0, unavailable;

        if (a->policy.type == POLICY_PICK_N)
                n = a->policy.n;
        else if (a->policy.type == POLICY_PICK_FIXED)
                n = count_bits(a->policy.fixed);
        unavailable = (n * a->strategy.max_unavailable + 99) / 100;
        for (unsigned i = 1; i <= w->n_members; i++)
                ready += is_ready(w, p, i);
        return (int)ready - (int)n + (int)unavailable;
}

static int judge_rollout(const struct wish *w, struct model_place *p, struct error *err)
{
        int slots = slots_left(w, p);

        p->may_linger = slots < 0; /* what lingers is ready: one more */
        for (unsigned i = 1; i <= w->n_members && slots > 0; i++)
                if (p->outcomes[i] == OUTCOME_BLOCKED)
                        return error_set(err, ERR_INVALID,
                                         "member-%u: RolloutStarted is False, but the strategy lets %d go on",
                                         i, slots);
        return 0;
}

static int judge_overridden(const struct wish *w, const struct model_place *p, unsigned member,
                            struct error *err)
{
        uint32_t selected = wish_selected(w, p->app, p->place);
        const char *is = doc_get_string(model_condition(p->entries[member], "Overridden"), "reason");
        const char *should = "NoOverrideSpecified";
        bool fails;

        if (p->outcomes[member] == OUTCOME_BLOCKED)
                return 0;
        for (unsigned slot = 0; slot < WISH_SLOTS; slot++)
                if ((selected >> slot & 1) && model_overridden(w, p->app, p->place, slot, member, &fails)) {
                        should = fails ? "OverriddenFailed" : "OverriddenSucceeded";
                        if (fails)
                                break;
                }
        if (text_equal(is, should))
                return 0;
        return error_set(err, ERR_INVALID, "Overridden is %s, should be %s", is, should);
}

/* ---- what is selected ---- */

static bool names(const json_t *identifier, const struct kube_resource *r, const char *ns, const char *name)
{
        const char *group = doc_get_string(identifier, "group"),
                   *its = doc_get_string(identifier, "namespace");

        return text_equal(group ? group : "", r->group) && text_equal(its ? its : "", ns ? ns : "") &&
               text_equal(doc_get_string(identifier, "kind"), r->kind) &&
               text_equal(doc_get_string(identifier, "name"), name);
}

static bool lists(const json_t *list, const struct kube_resource *r, const char *ns, const char *name)
{
        json_t *identifier;
        size_t i;

        json_array_foreach(list, i, identifier)
                if (names(identifier, r, ns, name))
                        return true;
        return false;
}

static int judge_selected(const struct wish *w, const struct model_place *p, struct error *err)
{
        uint32_t selected = wish_selected(w, p->app, p->place);
        const json_t *list = doc_get_array(p->doc, "status.selectedResources");
        bool home = wish_selects_namespace(w, p->app, p->place);
        size_t n = count_bits(selected) + (home ? 1 : 0);
        const char *ns = wish_app_name(p->app);
        char name[64];

        if (home && !lists(list, model_resource(p->app, SLOT_HOME), NULL, ns))
                return error_set(err, ERR_INVALID, "Namespace %s is not among the selected resources", ns);
        for (unsigned slot = 0; slot < WISH_SLOTS; slot++) {
                const struct kube_resource *r = wish_resource(p->app, slot);

                wish_object_name(p->app, slot, name);
                if ((selected >> slot & 1) && !lists(list, r, r->namespaced ? ns : NULL, name))
                        return error_set(err, ERR_INVALID, "%s %s is not among the selected resources",
                                         r->kind, name);
        }
        if (json_array_size(list) != n)
                return error_set(err, ERR_INVALID, "%zu resources are selected, should be %zu",
                                 json_array_size(list), n);
        return 0;
}

/* ---- all of it ---- */

static int judge_entries(const struct wish *w, struct model_place *p, struct error *err)
{
        const char *index = doc_get_string(p->doc, "status.observedResourceIndex");

        if (!index || !*index)
                return error_set(err, ERR_INVALID, "it has no observedResourceIndex");
        for (unsigned i = 1; i <= w->n_members; i++) {
                if (!(p->chosen >> i & 1))
                        continue;
                if (!text_equal(doc_get_string(p->entries[i], "observedResourceIndex"), index))
                        return error_set(err, ERR_INVALID, "member-%u: resource index is %s, should be %s", i,
                                         doc_get_string(p->entries[i], "observedResourceIndex"), index);
                if (judge_entry(p, p->entries[i], model_reports(p, w), &p->outcomes[i], err) < 0 ||
                    judge_overridden(w, p, i, err) < 0)
                        return error_wrap(err, "member-%u", i);
        }
        return 0;
}

/* Of clusters that runs have reached the status tells as of any other. */
static int judge_held(const struct wish *w, struct model_place *p, struct error *err)
{
        for (unsigned i = 1; i <= w->n_members; i++) {
                const char *index = doc_get_string(p->entries[i], "observedResourceIndex"), *overridden;

                if (!(p->chosen >> i & 1) || !p->held[i])
                        continue;
                if (!text_equal(index, p->held[i]->index))
                        return error_set(err, ERR_INVALID, "member-%u: resource index is %s, should be %s", i,
                                         index ? index : "none", p->held[i]->index);
                if (judge_entry(p, p->entries[i], model_reports(p, w), &p->outcomes[i], err) < 0)
                        return error_wrap(err, "member-%u", i);
                overridden = doc_get_string(model_condition(p->entries[i], "Overridden"), "reason");
                if (!text_equal(overridden, "NoOverrideSpecified"))
                        return error_set(err, ERR_INVALID, "member-%u: Overridden is %s, nothing overrides",
                                         i, overridden);
        }
        return 0;
}

static int judge(const struct wish *w, struct model_place *p, struct error *err)
{
        const struct wish_app *a = &w->apps[p->app];
        const struct wish_placement *asked_for = asked(w, p);

        if (!asked_for->exists || asked_for->leaving)
                return p->doc ? error_set(err, ERR_INVALID, "it is still there, should be gone") : 0;
        if (!p->doc)
                return error_set(err, ERR_INVALID, "it is not there");
        p->frozen = asked_for->selection == SELECT_LABELLED && (!a->exists || a->leaving);
        p->external = asked_for->strategy.external_ms > 0;
        if (p->frozen)
                return judge_scheduled(w, p, err);
        TRY(read_entries(w, p, err));
        TRY(judge_scheduled(w, p, err));
        TRY(judge_choice(w, p, err));
        if (p->external)
                return judge_held(w, p, err) < 0 ? err->code : model_judge_external(w, p, err);
        TRY(judge_selected(w, p, err));
        TRY(judge_entries(w, p, err));
        TRY(judge_rollout(w, p, err));
        return judge_sum(w, p, err);
}

int model_judge_placement(const struct wish *w, struct model_place *p, struct error *err)
{
        p->chosen = 0;
        memset(p->outcomes, 0, sizeof(p->outcomes));
        memset(p->entries, 0, sizeof(p->entries));
        p->frozen = p->external = p->may_linger = false;
        return judge(w, p, err) < 0 || model_judge_shown(w, p, err) < 0 ? differs(p, err) : 0;
}
