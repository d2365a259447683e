#include "hub-agent/scheduler/report.h"

static bool is_target(const struct schedule_plan *p, size_t selected, const char *cluster)
{
        for (size_t i = 0; i < selected; i++)
                if (text_equal(p->decisions[i].cluster_name, cluster))
                        return true;
        return false;
}

static void push(struct schedule_plan *p, struct cluster_decision d)
{
        if (p->n_decisions < DECISIONS_MAX)
                p->decisions[p->n_decisions++] = d;
}

/* Looks from *at on, and around: lists in the same order are compared in one walk. */
static const struct cluster_decision *find(const struct cluster_decision_list *l, const char *cluster,
                                           bool selected, uint32_t *at)
{
        for (uint32_t i = 0; i < l->n; i++) {
                const struct cluster_decision *d = &l->at[(*at + i) % l->n];

                if (text_equal(d->cluster_name, cluster) && d->selected.value == selected) {
                        *at = (*at + i + 1) % l->n;
                        return d;
                }
        }
        return NULL;
}

static int set_condition(struct cycle *c, struct schedule_plan *p, bool fulfilled, int64_t found)
{
        const char *message = arena_printf(
                c->arena,
                fulfilled ? "found all cluster needed as specified by the scheduling policy, found %lld "
                            "cluster(s)"
                          : "could not find all clusters needed as specified by the scheduling policy, found "
                            "%lld cluster(s) instead",
                (long long)found);

        if (!message)
                return error_no_memory(c->err);
        p->scheduled = make_condition(CONDITION_SCHEDULED, fulfilled ? CONDITION_TRUE : CONDITION_FALSE,
                                      fulfilled ? REASON_SCHEDULING_FULFILLED : REASON_SCHEDULING_UNFULFILLED,
                                      message, c->in->snapshot->object.meta.generation);
        p->report = true;
        return 0;
}

static bool equal_scores(const struct cluster_score *a, const struct cluster_score *b)
{
        if (!a || !b)
                return a == b;
        return a->affinity_score.value == b->affinity_score.value &&
               a->priority_score.value == b->priority_score.value;
}

/* Texts that count the minutes since a heartbeat count as equal if they differ only in digits, else an idle
 * cluster that is not connected would cost a write per cycle. */
static bool equal_reasons(const char *a, const char *b, bool counts_time)
{
        if (!counts_time)
                return text_equal(a, b);
        for (; *a || *b; a += *a != 0, b += *b != 0) {
                while (*a && strchr("0123456789.", *a))
                        a++;
                while (*b && strchr("0123456789.", *b))
                        b++;
                if (*a != *b)
                        return false;
        }
        return true;
}

static bool counts_time(const struct cycle *c, const struct cluster_decision *d)
{
        const struct candidate *k = d->selected.value ? NULL : candidate_find(c, d->cluster_name);

        return k && k->counts_time;
}

static bool decisions_changed(const struct cycle *c, const struct policy_snapshot_status *s,
                              const struct schedule_plan *p)
{
        uint32_t at = 0;

        if (s->target_clusters.n != p->n_decisions)
                return true;
        for (size_t i = 0; i < p->n_decisions; i++) {
                const struct cluster_decision *d = &p->decisions[i];
                const struct cluster_decision *old =
                        find(&s->target_clusters, d->cluster_name, d->selected.value, &at);

                if (!old || !equal_scores(old->cluster_score, d->cluster_score) ||
                    !equal_reasons(or_empty(old->reason), or_empty(d->reason), counts_time(c, d)))
                        return true;
        }
        return false;
}

static void compare_with_status(struct cycle *c, struct schedule_plan *p)
{
        const struct policy_snapshot_status *s = c->in->snapshot->status;
        const struct condition *old = s ? condition_find(&s->conditions, CONDITION_SCHEDULED) : NULL;

        p->write_status = !s || !s->observed_crp_generation.set ||
                          s->observed_crp_generation.value != p->observed_generation || !old ||
                          !text_equal(old->status, p->scheduled.status) ||
                          !text_equal(old->reason, p->scheduled.reason) ||
                          !text_equal(or_empty(old->message), p->scheduled.message) ||
                          old->observed_generation.value < p->scheduled.observed_generation.value ||
                          decisions_changed(c, s, p);
}

static void push_kept(struct schedule_plan *p, const struct binding_refs *set)
{
        for (size_t i = 0; i < set->n; i++)
                if (set->at[i]->spec->cluster_decision)
                        push(p, *set->at[i]->spec->cluster_decision);
}

static int push_not_picked(const struct report_input *r, size_t *ret_room)
{
        struct schedule_plan *p = r->plan;

        for (size_t i = 0; i<r->n_not_picked && * ret_room> 0; i++) {
                const struct candidate *k = r->not_picked[i];
                const char *name = k->cluster->object.meta.name;
                struct cluster_score *s = ARENA_NEW(r->c->arena, struct cluster_score);
                const char *reason = arena_printf(r->c->arena,
                                                  "Cluster \"%s\" does not score high enough (affinity "
                                                  "score: %d, topology spread score: %d)",
                                                  name, k->affinity, k->topology);

                if (!s || !reason)
                        return error_no_memory(r->c->err);
                *s = (struct cluster_score){ OPT_INT(k->affinity), OPT_INT(k->topology) };
                push(p, (struct cluster_decision){ name, OPT_BOOL(false), s, reason });
                --*ret_room;
        }
        return 0;
}

static int push_filtered(const struct report_input *r, size_t room)
{
        struct schedule_plan *p = r->plan;

        for (size_t i = 0; i < r->c->n && room > 0; i++) {
                const struct candidate *k = &r->c->candidates[i];
                const char *name = k->cluster->object.meta.name, *reason;

                if (!k->filtered || k->taken || k->picked)
                        continue;
                reason = arena_printf(r->c->arena, "ClusterUnschedulable, %s", k->filtered);
                if (!reason)
                        return error_no_memory(r->c->err);
                push(p, (struct cluster_decision){ name, OPT_BOOL(false), NULL, reason });
                room--;
        }
        return 0;
}

static void push_earlier_unselected(const struct report_input *r, size_t selected)
{
        const struct policy_snapshot_status *s = r->c->in->snapshot->status;
        size_t room = UNSELECTED_MAX;

        for (uint32_t i = 0; s && i < s->target_clusters.n && room > 0; i++) {
                const struct cluster_decision *d = &s->target_clusters.at[i];

                if (d->selected.value || is_target(r->plan, selected, d->cluster_name))
                        continue;
                push(r->plan, *d);
                room--;
        }
}

int report_picks(const struct report_input *r)
{
        struct schedule_plan *p = r->plan;
        size_t most = p->n_create + p->n_patch + r->kept[0].n + r->kept[1].n, selected, room = UNSELECTED_MAX;

        p->decisions = ARENA_NEW_ARRAY(r->c->arena, struct cluster_decision,
                                       MAX(most + UNSELECTED_MAX, DECISIONS_MAX));
        if (!p->decisions)
                return error_no_memory(r->c->err);
        for (size_t i = 0; i < p->n_create; i++)
                push(p, p->create[i].decision);
        for (size_t i = 0; i < p->n_patch; i++)
                push(p, p->patch[i].decision);
        push_kept(p, &r->kept[0]);
        push_kept(p, &r->kept[1]);
        selected = p->n_decisions;
        if (r->keep_unselected && !r->plan->unschedule.n) {
                push_earlier_unselected(r, selected);
        } else if (!r->keep_unselected) {
                TRY(push_not_picked(r, &room));
                TRY(push_filtered(r, room));
        }
        TRY(set_condition(r->c, p, (int64_t)most >= r->wanted, (int64_t)most));
        compare_with_status(r->c, p);
        return 0;
}

void report_unfulfilled(struct cycle *c, const char *reason, const char *message, struct schedule_plan *p)
{
        p->scheduled = make_condition(CONDITION_SCHEDULED, CONDITION_FALSE, reason, message,
                                      c->in->snapshot->object.meta.generation);
        compare_with_status(c, p);
}

static int push_fixed(struct cycle *c, const struct fixed_report *line, int pass, struct schedule_plan *p)
{
        static const char *const formats[] = {
                "Successfully scheduled resources for placement in \"%s\": picked by scheduling policy",
                "Cluster \"%s\" is not eligible for resource placement yet: %s",
                "Specified cluster \"%s\" is not found",
        };
        const char *reason = arena_printf(c->arena, formats[pass], line->name, or_empty(line->reason));

        if (!reason)
                return error_no_memory(c->err);
        push(p, (struct cluster_decision){ line->name, OPT_BOOL(pass == 0), NULL, reason });
        return 0;
}

int report_fixed(struct cycle *c, const struct fixed_report *lines, size_t n, struct schedule_plan *p)
{
        int64_t valid = 0, wanted = 0;

        p->decisions = ARENA_NEW_ARRAY(c->arena, struct cluster_decision, MAX(n, DECISIONS_MAX));
        if (!p->decisions)
                return error_no_memory(c->err);
        for (int pass = 0; pass < 3; pass++)
                for (size_t i = 0; i < n; i++) {
                        int group = lines[i].valid ? 0 : lines[i].found ? 1 : 2;

                        if (lines[i].repeated || group != pass)
                                continue;
                        TRY(push_fixed(c, &lines[i], pass, p));
                        valid += pass == 0;
                        wanted++;
                }
        TRY(set_condition(c, p, valid == wanted, valid));
        compare_with_status(c, p);
        return 0;
}
