/* Small random fleets, scheduled twice: by the agent, and by definitions written down without any thought of
 * cost. spec/scheduler.md 8, 10-13. */
#include "hub-agent/scheduler/scheduler_test.h"

#include <math.h>

#define FLEETS 20000
#define CLUSTERS 7
#define STALE "2025-12-31T20:00:00Z"
#define NOWHERE CLUSTERS /* of a binding: its cluster is gone */

struct member {
        int region, tier, env, nodes; /* -1: has none */
        bool stale, leaving, tainted;
};
enum held { HOLDS_NOTHING, SCHEDULED, BOUND, OBSOLETE, OBSOLETE_SCHEDULED, UNSCHEDULED, GOES };
struct preference {
        int weight, env; /* of clusters with that env; -1: of all */
        int order;       /* 0 no sorter, 1 ascending, 2 descending */
};
struct spread {
        int key; /* 0 region, 1 tier */
        int max_skew;
        bool hard;
};
struct fleet_model {
        int n;
        struct member members[CLUSTERS];
        enum held held[CLUSTERS + 1]; /* one binding per cluster at most, and one on a cluster that is gone */
        int score[CLUSTERS + 1][2];   /* that these bindings record: affinity, topology */
        bool all, tolerates;
        int wanted, env, min_nodes; /* required; -1: not */
        struct preference preferred[2];
        int n_preferred;
        struct spread spreads[2];
        int n_spreads;
};

/* ---- by definition ---- */

struct answer {
        int create[CLUSTERS], n_create;
        int scores[CLUSTERS][2]; /* of the created ones, in their order */
        bool patched[CLUSTERS + 1], unscheduled[CLUSTERS + 1];
        int found;
        bool fulfilled;
};

static bool is_obsolete(enum held h)
{
        return h == OBSOLETE || h == OBSOLETE_SCHEDULED;
}

static bool fits(const struct fleet_model *m, int i)
{
        const struct member *c = &m->members[i];

        return !c->leaving && !c->stale && (m->env < 0 || c->env == m->env) &&
               (m->min_nodes < 0 || (c->nodes >= 0 && c->nodes >= m->min_nodes)) &&
               (!c->tainted || m->tolerates || is_obsolete(m->held[i]));
}

static int affinity_of(const struct fleet_model *m, int i)
{
        int sum = 0;

        for (int p = 0; p < m->n_preferred; p++) {
                const struct preference *term = &m->preferred[p];
                int min = 1000, max = -1;
                double part;

                if (term->env >= 0 && m->members[i].env != term->env)
                        continue;
                if (!term->order) {
                        sum += term->weight;
                        continue;
                }
                for (int k = 0; k < m->n; k++)
                        if (m->members[k].nodes >= 0) {
                                min = MIN(min, m->members[k].nodes);
                                max = MAX(max, m->members[k].nodes);
                        }
                if (m->members[i].nodes < 0 || min == max)
                        continue;
                part = (double)(m->members[i].nodes - min) / (max - min);
                sum += (int)round((term->order == 1 ? 1 - part : part) * term->weight);
        }
        return sum;
}

static int domain_of(const struct fleet_model *m, int i, int key)
{
        return key ? m->members[i].tier : m->members[i].region;
}

static int skew_of(const int *count, const bool *is, int domains)
{
        int least = 1000, most = -1;

        for (int d = 0; d < domains; d++)
                if (is[d]) {
                        least = MIN(least, count[d]);
                        most = MAX(most, count[d]);
                }
        return most - least;
}

/* What one more placement on cluster i does under one constraint. */
static int spread_of(const struct fleet_model *m, const bool *taken, int i, const struct spread *s,
                     bool *ret_violated)
{
        int count[3] = { 0 }, before, after, domains = 0, at = domain_of(m, i, s->key);
        bool is[3] = { false };

        *ret_violated = false;
        if (at < 0)
                return 0;
        for (int k = 0; k < m->n; k++) {
                int d = domain_of(m, k, s->key);

                if (d < 0)
                        continue;
                domains += !is[d];
                is[d] = true;
                count[d] += taken[k];
        }
        if (domains == 1)
                return -1;
        before = skew_of(count, is, 3);
        count[at]++;
        after = skew_of(count, is, 3);
        *ret_violated = after > s->max_skew;
        if (*ret_violated)
                return s->hard ? 0 : -1000;
        return before - after;
}

static bool spread_all(const struct fleet_model *m, const bool *taken, int i, int *ret)
{
        *ret = 0;
        for (int s = 0; s < m->n_spreads; s++) {
                bool violated;

                *ret += spread_of(m, taken, i, &m->spreads[s], &violated);
                if (violated && m->spreads[s].hard)
                        return false;
        }
        return true;
}

/* The best of those that fit and are not taken; -1: none. */
static int best(const struct fleet_model *m, const bool *taken, int *ret_topology)
{
        int found = -1;

        for (int i = 0; i < m->n; i++) { /* in the order of names: of equal ones the last */
                int topology;

                if (taken[i] || !fits(m, i) || !spread_all(m, taken, i, &topology))
                        continue;
                if (found >= 0) {
                        int a = affinity_of(m, i), b = affinity_of(m, found);

                        if (topology != *ret_topology ? topology < *ret_topology
                            : a != b                  ? a < b
                                     : is_obsolete(m->held[found]) && !is_obsolete(m->held[i]))
                                continue;
                }
                found = i;
                *ret_topology = topology;
        }
        return found;
}

static void take(const struct fleet_model *m, int i, int affinity, int topology, struct answer *a)
{
        if (m->held[i] >= OBSOLETE && m->held[i] <= UNSCHEDULED) {
                a->patched[i] = true;
                return;
        }
        a->scores[a->n_create][0] = affinity;
        a->scores[a->n_create][1] = topology;
        a->create[a->n_create++] = i;
}

/* The least fitting of the class that is there; -1: none. */
static int worst(const struct fleet_model *m, const bool *taken, enum held class)
{
        int found = -1;

        for (int i = m->n - 1; i >= 0; i--)
                if (taken[i] && m->held[i] == class &&
                    (found < 0 ||
                     (m->score[i][1] != m->score[found][1] ? m->score[i][1] < m->score[found][1]
                                                           : m->score[i][0] <= m->score[found][0])))
                        found = i;
        return found;
}

static void shrink(const struct fleet_model *m, bool *taken, int excess, struct answer *a)
{
        for (; excess > 0; excess--) {
                int i = worst(m, taken, SCHEDULED);

                i = i >= 0 ? i : worst(m, taken, BOUND);
                taken[i] = false;
                a->unscheduled[i] = true;
        }
}

static void grow(const struct fleet_model *m, bool *taken, int missing, struct answer *a)
{
        bool open[CLUSTERS];

        memcpy(open, taken, sizeof(open));
        for (; missing > 0; missing--) {
                int topology = 0, i = best(m, m->n_spreads ? taken : open, &topology);

                if (i < 0)
                        return;
                take(m, i, affinity_of(m, i), topology, a);
                taken[i] = open[i] = true;
                a->found++;
        }
}

static void by_definition(const struct fleet_model *m, struct answer *a)
{
        bool taken[CLUSTERS] = { false };
        int present = 0;

        *a = (struct answer){ 0 };
        for (int i = 0; i < m->n; i++) {
                bool live = (m->held[i] == SCHEDULED || m->held[i] == BOUND) && !m->members[i].leaving;

                taken[i] = live;
                present += live;
        }
        a->found = present;
        if (m->all)
                for (int i = 0; i < m->n; i++) {
                        if (taken[i] || !fits(m, i))
                                continue;
                        take(m, i, 0, 0, a);
                        a->found++;
                }
        else if (m->wanted > present)
                grow(m, taken, m->wanted - present, a);
        else
                shrink(m, taken, present - m->wanted, a);
        if (!m->all && m->wanted <= present)
                a->found = m->wanted;
        for (int i = 0; i <= NOWHERE; i++) {
                enum held h = i < m->n || i == NOWHERE ? m->held[i] : HOLDS_NOTHING;
                bool away = i == NOWHERE || m->members[i].leaving;

                if (h != HOLDS_NOTHING && h != UNSCHEDULED && h != GOES && (away || is_obsolete(h)) &&
                    !a->patched[i])
                        a->unscheduled[i] = true;
        }
        a->fulfilled = m->all || a->found >= m->wanted;
}

/* ---- a random fleet ---- */

static uint64_t lot(uint64_t *state, uint64_t n)
{
        *state = *state * 6364136223846793005u + 1442695040888963407u;
        return (*state >> 33) % n;
}

static void draw(struct fleet_model *m, uint64_t *s)
{
        *m = (struct fleet_model){ .n = (int)lot(s, CLUSTERS + 1), .wanted = (int)lot(s, CLUSTERS + 1) };
        m->all = lot(s, 4) == 0;
        m->tolerates = lot(s, 2);
        m->env = lot(s, 3) ? -1 : 1;
        m->min_nodes = lot(s, 4) ? -1 : (int)lot(s, 5);
        m->n_preferred = (int)lot(s, 3);
        m->n_spreads = m->all ? 0 : (int)lot(s, 3);
        for (int i = 0; i < m->n; i++)
                m->members[i] = (struct member){ (int)lot(s, 4) - 1, (int)lot(s, 3) - 1, (int)lot(s, 4) > 0,
                                                 (int)lot(s, 6) - 1, lot(s, 8) == 0,     lot(s, 10) == 0,
                                                 lot(s, 6) == 0 };
        for (int i = 0; i <= NOWHERE; i++) {
                m->held[i] = lot(s, 2) ? HOLDS_NOTHING : (enum held)lot(s, GOES + 1);
                m->score[i][0] = (int)lot(s, 3);
                m->score[i][1] = (int)lot(s, 3) - 1;
        }
        for (int i = 0; i < 2; i++) {
                m->preferred[i] =
                        (struct preference){ (int)lot(s, 41) - 20, (int)lot(s, 3) - 1, (int)lot(s, 3) };
                m->spreads[i] = (struct spread){ i, 1 + (int)lot(s, 2), lot(s, 2) };
        }
}

static void write_policy(const struct fleet_model *m, struct buf *b)
{
        buf_printf(b, "\"policy\":{\"placementType\":\"%s\"", m->all ? "PickAll" : "PickN");
        if (m->tolerates)
                buf_printf(b, ",\"tolerations\":[{\"operator\":\"Exists\",\"key\":\"k\"}]");
        buf_printf(b,
                   ",\"affinity\":{\"clusterAffinity\":{\"requiredDuringSchedulingIgnoredDuringExecution\":"
                   "{\"clusterSelectorTerms\":[{\"labelSelector\":{%s},\"propertySelector\":{"
                   "\"matchExpressions\":[",
                   m->env < 0 ? "" : "\"matchLabels\":{\"env\":\"1\"}");
        if (m->min_nodes >= 0)
                buf_printf(b, "{\"name\":\"" NODE_COUNT "\",\"operator\":\"Ge\",\"values\":[\"%d\"]}",
                           m->min_nodes);
        buf_printf(b, "]}}]},\"preferredDuringSchedulingIgnoredDuringExecution\":[");
        for (int i = 0; i < m->n_preferred; i++) {
                const struct preference *p = &m->preferred[i];

                buf_printf(b, "%s{\"weight\":%d,\"preference\":{\"labelSelector\":{", i ? "," : "",
                           p->weight);
                if (p->env >= 0)
                        buf_printf(b, "\"matchLabels\":{\"env\":\"%d\"}", p->env);
                buf_printf(b, "}");
                if (p->order)
                        buf_printf(b,
                                   ",\"propertySorter\":{\"name\":\"" NODE_COUNT "\",\"sortOrder\":\"%s\"}",
                                   p->order == 1 ? "Ascending" : "Descending");
                buf_printf(b, "}}");
        }
        buf_printf(b, "]}},\"topologySpreadConstraints\":[");
        for (int i = 0; i < m->n_spreads; i++)
                buf_printf(b, "%s{\"topologyKey\":\"%s\",\"maxSkew\":%d,\"whenUnsatisfiable\":\"%s\"}",
                           i ? "," : "", m->spreads[i].key ? "tier" : "region", m->spreads[i].max_skew,
                           m->spreads[i].hard ? "DoNotSchedule" : "ScheduleAnyway");
        buf_printf(b, "]}");
}

static const char *name_of(int i)
{
        static const char *const names[] = { "a", "b", "c", "d", "e", "f", "g", "nowhere" };

        return names[i];
}

static void add_member(struct case_ *c, const struct fleet_model *m, int i)
{
        const struct member *k = &m->members[i];
        char labels[96], status[160] = "";
        int n = snprintf(labels, sizeof(labels), "\"env\":\"%d\"", k->env);

        if (k->region >= 0)
                n += snprintf(labels + n, sizeof(labels) - (size_t)n, ",\"region\":\"%d\"", k->region);
        if (k->tier >= 0)
                snprintf(labels + n, sizeof(labels) - (size_t)n, ",\"tier\":\"%d\"", k->tier);
        if (k->nodes >= 0)
                snprintf(status, sizeof(status), NODES("%d"), k->nodes);
        add_cluster(c, name_of(i), labels, k->stale ? STALE : ALIVE, status,
                    k->tainted ? "\"taints\":[{\"key\":\"k\",\"effect\":\"NoSchedule\"}]," : "");
        if (k->leaving)
                ((struct object *)c->clusters[c->in.clusters.n - 1])->meta.deletion_ms = NOW;
}

static void add_held(struct case_ *c, const struct fleet_model *m, int i)
{
        static const char *const states[] = { "",          "Scheduled",   "Bound", "Bound",
                                              "Scheduled", "Unscheduled", "Bound" };
        enum held h = m->held[i];

        if (h != HOLDS_NOTHING)
                add_binding(c, name_of(i), name_of(i), states[h], is_obsolete(h) ? "web-0" : "web-1",
                            m->score[i][0], m->score[i][1],
                            h == GOES          ? "\"deletionTimestamp\":\"" ALIVE "\","
                            : h == UNSCHEDULED ? "\"annotations\":{\"kubernetes-fleet.io/"
                                                 "previous-binding-state\":\"Bound\"},"
                                               : "");
}

/* ---- both ---- */

static void compare(struct case_ *c, const struct answer *a, size_t fleet)
{
        bool patched[CLUSTERS + 1] = { false }, given_up[CLUSTERS + 1] = { false };
        char found[32];

        if (c->plan.n_create != (size_t)a->n_create)
                fail_msg("fleet %zu: %zu created, not %d", fleet, c->plan.n_create, a->n_create);
        for (int i = 0; i < a->n_create; i++) {
                const struct schedule_create *made = &c->plan.create[i];

                if (!text_equal(made->cluster, name_of(a->create[i])) ||
                    made->decision.cluster_score->affinity_score.value != a->scores[i][0] ||
                    made->decision.cluster_score->priority_score.value != a->scores[i][1])
                        fail_msg("fleet %zu: pick %d is %s, not %s (%d, %d)", fleet, i, made->cluster,
                                 name_of(a->create[i]), a->scores[i][0], a->scores[i][1]);
        }
        for (size_t i = 0; i < c->plan.n_patch; i++)
                for (int k = 0; k <= NOWHERE; k++)
                        patched[k] |= text_equal(c->plan.patch[i].now->object.meta.name, name_of(k));
        for (size_t i = 0; i < c->plan.unschedule.n; i++)
                for (int k = 0; k <= NOWHERE; k++)
                        given_up[k] |= text_equal(c->plan.unschedule.at[i]->object.meta.name, name_of(k));
        for (int k = 0; k <= NOWHERE; k++)
                if (patched[k] != a->patched[k] || given_up[k] != a->unscheduled[k])
                        fail_msg("fleet %zu: %s patched %d, not %d; given up %d, not %d", fleet, name_of(k),
                                 patched[k], a->patched[k], given_up[k], a->unscheduled[k]);
        snprintf(found, sizeof(found), "found %d cluster(s)", a->found);
        if (text_equal(c->plan.scheduled.status, "True") != a->fulfilled ||
            !strstr(c->plan.scheduled.message, found))
                fail_msg("fleet %zu: %s %s, not %s", fleet, c->plan.scheduled.status,
                         c->plan.scheduled.message, found);
}

static void random_fleets_are_scheduled_as_it_is_defined(void **state)
{
        uint64_t seed = 1;

        for (size_t i = 0; i < FLEETS; i++) {
                AUTO_BUF struct buf policy;
                struct fleet_model m;
                struct answer a;
                struct case_ c;
                char wanted[16];

                buf_init(&policy, 1 << 16);
                draw(&m, &seed);
                write_policy(&m, &policy);
                snprintf(wanted, sizeof(wanted), "%d", m.wanted);
                begin(&c, policy.data, m.all ? NULL : wanted);
                for (int k = 0; k < m.n; k++) {
                        add_member(&c, &m, k);
                        add_held(&c, &m, k);
                }
                for (int k = m.n; k < NOWHERE; k++)
                        m.held[k] = HOLDS_NOTHING;
                add_held(&c, &m, NOWHERE);
                run(&c);
                by_definition(&m, &a);
                compare(&c, &a, i);
                end(&c);
        }
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(random_fleets_are_scheduled_as_it_is_defined),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
