/* Picks under topology spread, one after the other: the same as if everything was reckoned anew for each of
 * them, at a cost that grows with the clusters. spec/scheduler.md 12. */
#define CLUSTERS_MAX 10000
#include "hub-agent/scheduler/scheduler_test.h"

#define STALE "2025-12-31T20:00:00Z"

enum { FLEETS = 400, MANY = 60, KEYS = 3, UNSELECTED = 20 };

static const char *const keys[KEYS] = { "region", "zone", "host" };
static const int n_values[KEYS] = { 3, 9, 25 };

struct member {
        char name[16], values[KEYS][16]; /* "" = lacks the label */
        int affinity;
        bool stale, taken, obsolete;
        /* of the pick that is made */
        bool open;
        int topology, violated; /* which constraint, -1 none */
};

struct spread {
        int key, max_skew;
        bool hard;
};

struct fleet {
        struct member at[MANY];
        int n, wanted, n_spreads;
        struct spread spreads[KEYS];
        int picks[MANY], topology[MANY], n_picks;
};

/* ---- the simple way ---- */

struct domain {
        const char *value;
        int count;
};

static int count_domains(const struct fleet *f, int key, struct domain *domains)
{
        int n = 0;

        for (int i = 0; i < f->n; i++) {
                int d = 0;

                if (!f->at[i].values[key][0])
                        continue;
                while (d < n && !text_equal(domains[d].value, f->at[i].values[key]))
                        d++;
                if (d == n)
                        domains[n++] = (struct domain){ f->at[i].values[key], 0 };
                domains[d].count += f->at[i].taken;
        }
        return n;
}

static int skew_of(const struct domain *domains, int n, int one_more)
{
        int least = MANY, most = 0;

        for (int d = 0; d < n; d++) {
                int count = domains[d].count + (d == one_more);

                least = MIN(least, count);
                most = MAX(most, count);
        }
        return most - least;
}

static void apply(struct fleet *f, int index)
{
        const struct spread *s = &f->spreads[index];
        struct domain domains[MANY];
        int n = count_domains(f, s->key, domains);

        for (int i = 0; i < f->n; i++) {
                struct member *m = &f->at[i];
                int d = 0, after, change;

                if (m->violated >= 0 || !m->values[s->key][0])
                        continue;
                while (!text_equal(domains[d].value, m->values[s->key]))
                        d++;
                after = skew_of(domains, n, d);
                change = n == 1 ? 1 : after - skew_of(domains, n, -1);
                if (n == 1 || after <= s->max_skew)
                        m->topology -= change;
                else if (s->hard)
                        m->violated = index;
                else
                        m->topology -= 1000;
        }
}

static void reckon(struct fleet *f)
{
        for (int i = 0; i < f->n; i++) {
                f->at[i].violated = -1;
                f->at[i].topology = 0;
        }
        for (int hard = 1; hard >= 0; hard--)
                for (int s = 0; s < f->n_spreads; s++)
                        if (f->spreads[s].hard == hard)
                                apply(f, s);
        for (int i = 0; i < f->n; i++)
                f->at[i].open = !f->at[i].stale && !f->at[i].taken && f->at[i].violated < 0;
}

static bool is_better(const struct member *a, const struct member *b)
{
        if (a->topology != b->topology)
                return a->topology > b->topology;
        if (a->affinity != b->affinity)
                return a->affinity > b->affinity;
        return a->obsolete != b->obsolete ? a->obsolete : strcmp(a->name, b->name) > 0;
}

static int best_of(const struct fleet *f)
{
        int best = -1;

        for (int i = 0; i < f->n; i++)
                if (f->at[i].open && (best < 0 || is_better(&f->at[i], &f->at[best])))
                        best = i;
        return best;
}

/* Leaves what each cluster was in the eyes of the last pick. False: there are enough already. */
static bool pick_simply(struct fleet *f)
{
        int missing = f->wanted;

        for (int i = 0; i < f->n; i++)
                missing -= f->at[i].taken;
        if (missing <= 0)
                return false;
        while (missing-- > 0) {
                int best;

                reckon(f);
                best = best_of(f);
                if (best < 0)
                        return true;
                f->picks[f->n_picks] = best;
                f->topology[f->n_picks++] = f->at[best].topology;
                f->at[best].taken = true;
                f->at[best].open = false;
        }
        return true;
}

/* ---- a random fleet ---- */

static uint64_t lot(uint64_t *state, uint64_t n)
{
        *state = *state * 6364136223846793005u + 1442695040888963407u;
        return (*state >> 33) % n;
}

static void draw(struct fleet *f, uint64_t *s)
{
        *f = (struct fleet){ .n = 1 + (int)lot(s, MANY), .n_spreads = (int)lot(s, KEYS + 1) };
        f->wanted = (int)lot(s, (uint64_t)f->n + 5);
        for (int i = 0; i < f->n_spreads; i++)
                f->spreads[i] = (struct spread){ (i + f->wanted) % KEYS, 1 + (int)lot(s, 2), lot(s, 2) };
        for (int i = 0; i < f->n; i++) {
                struct member *m = &f->at[i];

                snprintf(m->name, sizeof(m->name), "c%02d", i);
                for (int k = 0; k < KEYS; k++)
                        if (lot(s, 10))
                                snprintf(m->values[k], sizeof(m->values[k]), "v%d",
                                         (int)lot(s, (uint64_t)n_values[k]));
                m->affinity = lot(s, 3) ? 0 : 20;
                m->stale = lot(s, 6) == 0;
                m->taken = lot(s, 6) == 0;
                m->obsolete = !m->taken && lot(s, 6) == 0;
        }
}

static void write_policy(const struct fleet *f, struct buf *b)
{
        buf_printf(b, PICK_N "," AFFINITY("\"preferredDuringSchedulingIgnoredDuringExecution\":[{"
                                          "\"weight\":20,\"preference\":{\"labelSelector\":{"
                                          "\"matchLabels\":{\"tier\":\"gold\"}}}}]"));
        buf_printf(b, ",\"topologySpreadConstraints\":[");
        for (int i = 0; i < f->n_spreads; i++)
                buf_printf(b, "%s{\"topologyKey\":\"%s\",\"maxSkew\":%d,\"whenUnsatisfiable\":\"%s\"}",
                           i ? "," : "", keys[f->spreads[i].key], f->spreads[i].max_skew,
                           f->spreads[i].hard ? "DoNotSchedule" : "ScheduleAnyway");
        buf_printf(b, "]}");
}

static void add_member(struct case_ *c, const struct member *m)
{
        AUTO_BUF struct buf labels;

        buf_init(&labels, 4096);
        buf_printf(&labels, "\"tier\":\"%s\"", m->affinity ? "gold" : "iron");
        for (int k = 0; k < KEYS; k++)
                if (m->values[k][0])
                        buf_printf(&labels, ",\"%s\":\"%s\"", keys[k], m->values[k]);
        add_cluster(c, m->name, labels.data, m->stale ? STALE : ALIVE, "", "");
        if (m->taken || m->obsolete)
                add_binding(c, m->name, m->name, "Bound", m->taken ? "web-1" : "web-0", 0, 0, "");
}

/* ---- both ---- */

/* The clusters that got a new binding, and those that kept one of the policy before, each in order. */
static void compare_picks(const struct case_ *c, const struct fleet *f, int fleet)
{
        size_t created = 0, kept = 0;

        for (int i = 0; i < f->n_picks; i++) {
                const struct member *m = &f->at[f->picks[i]];
                bool left = m->obsolete ? kept < c->plan.n_patch : created < c->plan.n_create;
                const struct cluster_decision *d = !left         ? NULL
                                                   : m->obsolete ? &c->plan.patch[kept++].decision
                                                                 : &c->plan.create[created++].decision;

                if (!d || !text_equal(d->cluster_name, m->name) ||
                    d->cluster_score->affinity_score.value != m->affinity ||
                    d->cluster_score->priority_score.value != f->topology[i])
                        fail_msg("fleet %d: pick %d is %s, not %s (%d, %d)", fleet, i,
                                 d ? d->cluster_name : "none", m->name, m->affinity, f->topology[i]);
        }
        assert_int_equal(c->plan.n_create + c->plan.n_patch, f->n_picks);
}

static void compare_verdicts(const struct case_ *c, const struct fleet *f, int fleet)
{
        for (int i = 0; i < f->n; i++) {
                const struct member *m = &f->at[i];
                const struct schedule_verdict *v = &c->plan.verdicts[i];
                char reason[128];

                if (m->stale || m->taken)
                        continue;
                if (m->open ? v->filtered || v->topology != m->topology || v->affinity != m->affinity
                            : !v->filtered)
                        fail_msg("fleet %d: %s is %d, not %d: %s", fleet, m->name, v->topology, m->topology,
                                 or_empty(v->filtered));
                if (m->open)
                        continue;
                snprintf(reason, sizeof(reason),
                         "violated doNotSchedule topology spread constraint \"%s\" (max skew %d)",
                         keys[f->spreads[m->violated].key], f->spreads[m->violated].max_skew);
                assert_string_equal(v->filtered, reason);
        }
}

/* Told are the best of those that can be picked, in their order. */
static void compare_not_picked(const struct case_ *c, struct fleet *f, int fleet)
{
        size_t at = 0;
        int best;

        while (at < c->plan.n_decisions && c->plan.decisions[at].selected.value)
                at++;
        for (int i = 0; i < UNSELECTED && (best = best_of(f)) >= 0; i++, at++) {
                if (at >= c->plan.n_decisions ||
                    !text_equal(c->plan.decisions[at].cluster_name, f->at[best].name) ||
                    !strstr(c->plan.decisions[at].reason, "does not score high enough"))
                        fail_msg("fleet %d: %s is not told as number %d", fleet, f->at[best].name, i);
                f->at[best].open = false;
        }
}

static void picks_are_those_of_a_reckoning_for_each_of_them(void **state)
{
        uint64_t seed = 7;
        int picked = 0;

        for (int i = 0; i < FLEETS; i++) {
                AUTO_BUF struct buf policy;
                struct fleet f;
                struct case_ c;
                char wanted[16];

                buf_init(&policy, 1 << 16);
                draw(&f, &seed);
                write_policy(&f, &policy);
                snprintf(wanted, sizeof(wanted), "%d", f.wanted);
                begin(&c, policy.data, wanted);
                for (int k = 0; k < f.n; k++)
                        add_member(&c, &f.at[k]);
                c.in.tell_all = true;
                run(&c);
                if (pick_simply(&f)) {
                        compare_verdicts(&c, &f, i);
                        compare_not_picked(&c, &f, i);
                }
                compare_picks(&c, &f, i);
                picked += f.n_picks;
                end(&c);
        }
        assert_true(picked > 10 * FLEETS); /* it was no empty exercise */
}

/* ---- many clusters ---- */

/* Each on a host of its own, in one of thirty zones. */
static void add_many(struct case_ *c, int n)
{
        for (int i = 0; i < n; i++) {
                char name[16], labels[64];

                snprintf(name, sizeof(name), "c%05d", i);
                snprintf(labels, sizeof(labels), "\"host\":\"h%d\",\"zone\":\"z%d\"", i, i * 7 % 30);
                add_cluster(c, name, labels, i % 9 ? ALIVE : STALE, "", "");
        }
}

static uint64_t steps_of(const char *spread, int n, int wanted)
{
        char policy[512], number[16];
        struct case_ c;
        uint64_t steps;

        snprintf(policy, sizeof(policy), PICK_N ",\"topologySpreadConstraints\":[%s]}", spread);
        snprintf(number, sizeof(number), "%d", wanted);
        begin(&c, policy, number);
        add_many(&c, n);
        run(&c);
        assert_int_equal(c.plan.n_create, wanted);
        steps = c.plan.steps;
        end(&c);
        return steps;
}

#define BY_ZONE "{\"topologyKey\":\"zone\"}"
#define BY_HOST "{\"topologyKey\":\"host\",\"whenUnsatisfiable\":\"ScheduleAnyway\"}"

/* Ten times the clusters cost ten times as much, and so do ten times the picks where they are not many more
 * than the domains. */
static void the_cost_grows_with_the_clusters_and_not_with_their_square(void **state)
{
        static const struct {
                const char *spread;
                int few, more; /* picks */
        } rows[] = {
                { "", 100, 1000 },     { BY_ZONE, 100, 100 },  { BY_ZONE, 100, 1000 },
                { BY_HOST, 100, 100 }, { BY_HOST, 100, 1000 }, { BY_ZONE "," BY_HOST, 100, 100 },
        };

        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
                uint64_t of_1000 = steps_of(rows[i].spread, 1000, rows[i].few);
                uint64_t of_10000 = steps_of(rows[i].spread, 10000, rows[i].more);

                if (of_1000 < 1000 || of_10000 * 10 > of_1000 * 105)
                        fail_msg("\"%s\": %llu steps for 1,000 clusters, %llu for 10,000", rows[i].spread,
                                 (unsigned long long)of_1000, (unsigned long long)of_10000);
        }
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(picks_are_those_of_a_reckoning_for_each_of_them),
                cmocka_unit_test(the_cost_grows_with_the_clusters_and_not_with_their_square),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
