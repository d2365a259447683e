/* Rollouts of random fleets, round by round, while members answer, fail and leave in any order: at no moment
 * more is taken down or brought up than the strategy allows. spec/rollout-and-work.md 2.7, 2.8. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "hub-agent/rollout/rollout.h"

#define FLEETS 2000
#define ROUNDS 60
#define CLUSTERS 8
#define PERIOD_MS 60000

enum health { SILENT, FAILED, AVAILABLE, UNTRACKED };

struct member {
        enum { ABSENT, SCHEDULED, BOUND, UNSCHEDULED, GOING } state;
        bool latest;
        enum health health;
        int64_t since_ms;
};

struct fleet {
        struct member members[CLUSTERS];
        int wanted, unavailable, surge;
        int64_t now_ms;
        uint64_t lot;
};

static uint64_t lot(struct fleet *f, uint64_t n)
{
        f->lot = f->lot * 6364136223846793005u + 1442695040888963407u;
        return (f->lot >> 33) % n;
}

/* ---- what the plan is made from ---- */

static struct condition_list conditions_of(const struct member *m, struct arena *arena)
{
        struct condition c = { .type = m->health == FAILED ? "Applied" : "Available",
                               .status = m->health == FAILED ? "False" : "True",
                               .reason = m->health == FAILED      ? "SyncWorkFailed"
                                         : m->health == UNTRACKED ? "NotAllWorkAreAvailabilityTrackable"
                                                                  : "AllWorkAreAvailable",
                               .message = "",
                               .observed_generation = OPT_INT(1),
                               .last_transition_ms = m->since_ms };

        return m->health == SILENT ? (struct condition_list){ 0 }
                                   : (struct condition_list){ arena_memdup(arena, &c, sizeof(c)), 1, true };
}

static struct binding *binding_of(const struct member *m, int i, struct arena *arena)
{
        static const char *const states[] = { "", "Scheduled", "Bound", "Unscheduled", "Bound" };
        struct binding *b = (struct binding *)object_new(&cluster_resource_binding_kind, NULL,
                                                         arena_printf(arena, "b%d", i), arena);

        b->object.meta.generation = 1;
        b->object.meta.deletion_ms = m->state == GOING ? 1 : TIME_NONE;
        b->spec = arena_zalloc(arena, sizeof(*b->spec));
        b->status = arena_zalloc(arena, sizeof(*b->status));
        b->spec->state = states[m->state];
        b->spec->target_cluster = arena_printf(arena, "c%d", i);
        b->spec->resource_snapshot_name = m->latest ? "web-1-snapshot" : "web-0-snapshot";
        b->status->conditions = conditions_of(m, arena);
        if (m->state == UNSCHEDULED)
                set_annotation(&b->object, ANNOTATION_PREVIOUS_BINDING_STATE, "Bound", arena);
        return b;
}

struct round {
        struct arena arena;
        struct error err;
        struct rollout_input in;
        struct rollout_plan plan;
        const struct object *bindings[CLUSTERS];
        int member[CLUSTERS]; /* of each binding */
};

static void plan_round(const struct fleet *f, struct round *r)
{
        struct placement *p;

        *r = (struct round){ .in = { .bindings.at = r->bindings, .now_ms = f->now_ms } };
        p = (struct placement *)object_new(&cluster_resource_placement_kind, NULL, "web", &r->arena);
        p->spec = arena_zalloc(&r->arena, sizeof(*p->spec));
        p->spec->policy = arena_zalloc(&r->arena, sizeof(*p->spec->policy));
        p->spec->policy->placement_type = "PickN";
        p->spec->policy->number_of_clusters = OPT_INT(f->wanted);
        p->spec->strategy = arena_zalloc(&r->arena, sizeof(*p->spec->strategy));
        p->spec->strategy->rolling_update =
                arena_zalloc(&r->arena, sizeof(*p->spec->strategy->rolling_update));
        p->spec->strategy->rolling_update->max_unavailable.set = true;
        p->spec->strategy->rolling_update->max_unavailable.value = f->unavailable;
        p->spec->strategy->rolling_update->max_surge.set = true;
        p->spec->strategy->rolling_update->max_surge.value = f->surge;
        p->spec->strategy->rolling_update->unavailable_period_seconds = OPT_INT(PERIOD_MS / 1000);
        r->in.placement = p;
        r->in.master = (struct resource_snapshot *)object_new(&cluster_resource_snapshot_kind, NULL,
                                                              "web-1-snapshot", &r->arena);
        for (int i = 0; i < CLUSTERS; i++) {
                struct binding *b;

                if (f->members[i].state == ABSENT)
                        continue;
                b = binding_of(&f->members[i], i, &r->arena);
                b->spec->apply_strategy = defaulted_apply_strategy(p, &r->arena);
                r->member[r->in.bindings.n] = i;
                r->bindings[r->in.bindings.n++] = &b->object;
        }
        if (plan_rollout(&r->arena, &r->in, &r->plan, &r->err) < 0)
                fail_msg("%s", r->err.text);
}

/* ---- what it may do ---- */

static bool is_ready(const struct fleet *f, const struct member *m)
{
        return m->health == AVAILABLE || (m->health == UNTRACKED && f->now_ms - m->since_ms >= PERIOD_MS);
}

static bool has_something(const struct member *m)
{
        return m->state == BOUND || m->state == UNSCHEDULED || m->state == GOING;
}

static int member_of(const struct round *r, const struct object *o)
{
        for (size_t i = 0; i < r->in.bindings.n; i++)
                if (r->bindings[i] == o)
                        return r->member[i];
        fail_msg("%s is none of the bindings", o->meta.name);
        return 0;
}

/* Of those that are ready and stay, so many may be taken down that the wanted number less maxUnavailable are
 * left; of those that have something and did not fail, so many may be added that no more than the wanted
 * number and maxSurge have. */
static void check_budgets(const struct fleet *f, const struct round *r)
{
        int ready = 0, present = 0, down = 0, up = 0;

        for (int i = 0; i < CLUSTERS; i++) {
                const struct member *m = &f->members[i];

                ready += has_something(m) && m->state != GOING && is_ready(f, m);
                present += has_something(m) && m->health != FAILED;
        }
        for (size_t i = 0; i < r->plan.n_update; i++) {
                const struct member *m = &f->members[member_of(r, &r->plan.update[i].now->object)];

                up += m->state == SCHEDULED;
                down += m->state == BOUND && is_ready(f, m);
                assert_true(m->state == SCHEDULED || (m->state == BOUND && !m->latest));
                assert_string_equal(r->plan.update[i].wanted->spec->resource_snapshot_name, "web-1-snapshot");
        }
        for (size_t i = 0; i < r->plan.remove.n; i++) {
                const struct member *m = &f->members[member_of(r, &r->plan.remove.at[i]->object)];

                assert_int_equal(m->state, UNSCHEDULED);
                down += is_ready(f, m);
        }
        if (down > MAX(0, ready - (f->wanted - f->unavailable)))
                fail_msg("%d are taken down: %d ready, %d wanted, %d may be unavailable", down, ready,
                         f->wanted, f->unavailable);
        if (up > MAX(0, f->wanted + f->surge - present))
                fail_msg("%d are added: %d there, %d wanted, surge %d", up, present, f->wanted, f->surge);
        for (size_t i = 0; i < r->plan.blocked.n; i++) {
                const struct member *m = &f->members[member_of(r, &r->plan.blocked.at[i]->object)];

                assert_true(m->state == SCHEDULED || (m->state == BOUND && !m->latest));
        }
}

static void carry_out(struct fleet *f, const struct round *r)
{
        for (size_t i = 0; i < r->plan.n_update; i++)
                f->members[member_of(r, &r->plan.update[i].now->object)] =
                        (struct member){ BOUND, true, SILENT, f->now_ms };
        for (size_t i = 0; i < r->plan.remove.n; i++)
                f->members[member_of(r, &r->plan.remove.at[i]->object)].state = GOING;
}

/* ---- what happens meanwhile ---- */

static void happens(struct fleet *f, bool all_well)
{
        struct member *m = &f->members[lot(f, CLUSTERS)];

        f->now_ms += (int64_t)lot(f, 30000);
        if (m->state == GOING) {
                m->state = ABSENT;
                return;
        }
        if (!has_something(m))
                return;
        m->health = all_well ? AVAILABLE : (enum health)lot(f, 4);
        m->since_ms = f->now_ms;
}

static void draw(struct fleet *f, uint64_t seed)
{
        *f = (struct fleet){ .now_ms = INT64_C(1767225600000), .lot = seed };
        for (int i = 0; i < CLUSTERS; i++)
                f->members[i] =
                        (struct member){ (int)lot(f, GOING + 1), lot(f, 3) == 0, (enum health)lot(f, 4),
                                         f->now_ms - (int64_t)lot(f, 120000) };
        for (int i = 0; i < CLUSTERS; i++) {
                if (f->members[i].state == SCHEDULED)
                        f->members[i] = (struct member){ SCHEDULED, false, SILENT, 0 };
                f->wanted += f->members[i].state == SCHEDULED || f->members[i].state == BOUND;
        }
        f->unavailable = (int)lot(f, 4);
        f->surge = (int)lot(f, 4);
}

static void no_event_makes_a_round_exceed_what_the_strategy_allows(void **state)
{
        for (uint64_t seed = 1; seed <= FLEETS; seed++) {
                struct fleet f;

                draw(&f, seed);
                for (int i = 0; i < ROUNDS; i++) {
                        struct round r;

                        plan_round(&f, &r);
                        check_budgets(&f, &r);
                        carry_out(&f, &r);
                        arena_free(&r.arena);
                        happens(&f, false);
                }
        }
}

/* Where one may be unavailable and all members answer well, everyone has the latest in the end, and who was
 * given up is gone. */
static void a_rollout_comes_to_its_end_when_all_members_answer(void **state)
{
        for (uint64_t seed = 1; seed <= FLEETS; seed++) {
                struct fleet f;

                draw(&f, seed);
                f.unavailable = MAX(f.unavailable, 1);
                for (int i = 0; i < 40 * CLUSTERS; i++) {
                        struct round r;

                        plan_round(&f, &r);
                        check_budgets(&f, &r);
                        carry_out(&f, &r);
                        arena_free(&r.arena);
                        happens(&f, true);
                }
                for (int i = 0; i < CLUSTERS; i++) {
                        const struct member *m = &f.members[i];

                        if (m->state != ABSENT && !(m->state == BOUND && m->latest))
                                fail_msg("fleet %llu: member %d is left in state %d, latest %d",
                                         (unsigned long long)seed, i, m->state, m->latest);
                }
        }
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(no_event_makes_a_round_exceed_what_the_strategy_allows),
                cmocka_unit_test(a_rollout_comes_to_its_end_when_all_members_answer),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
