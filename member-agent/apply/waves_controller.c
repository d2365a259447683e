/* Running a Work's manifests in waves: spec/member-agent.md 2.5. A failure stops neither its wave nor later
 * ones. */
#include "member-agent/apply/pass.h"
#include "member-agent/apply/waves.h"

#define IN_FLIGHT 4
#define ESTABLISH_TRIES 10
#define ESTABLISH_WAIT_MS 100

struct flight {
        struct pass *pass;
        struct manifest *manifest;
        int *failed; /* first fatal code of the wave */
        struct error *err;
};

static void flight_fiber(void *ctx)
{
        struct flight *f = ctx;
        struct error err = { 0 };
        int r = object_process(f->pass, f->manifest, &err);

        if (r < 0 && *f->failed == 0) {
                *f->failed = r;
                if (f->err)
                        *f->err = err;
        }
}

static int wave_number(const struct pass *p, const struct manifest *m)
{
        return wave_under(&p->strategy, m->group, m->resource.plural);
}

static bool is_due(const struct manifest *m)
{
        return m->result == RESULT_NONE && m->resource.plural;
}

/* The lowest wave that still has manifests to process; -1 if none. */
static int next_wave(const struct pass *p, size_t *ret_count)
{
        int lowest = -1;

        for (size_t i = 0; i < p->n; i++) {
                int number = is_due(&p->manifests[i]) ? wave_number(p, &p->manifests[i]) : -1;

                if (number < 0)
                        continue;
                if (lowest < 0 || number < lowest) {
                        lowest = number;
                        *ret_count = 0;
                }
                *ret_count += number == lowest;
        }
        return lowest;
}

static int fly(struct pass *p, int number, struct fiber_group *group, int *failed, struct error *err)
{
        for (size_t i = 0; i < p->n && *failed == 0; i++) {
                struct manifest *m = &p->manifests[i];
                struct flight *f;

                if (!is_due(m) || wave_number(p, m) != number)
                        continue;
                TRY(fiber_group_wait_below(group, IN_FLIGHT));
                f = ARENA_NEW(p->arena, struct flight);
                if (!f)
                        return error_no_memory(err);
                *f = (struct flight){ p, m, failed, err };
                if (!fiber_spawn(group, "manifest", flight_fiber, f))
                        return error_no_memory(err);
        }
        return fiber_group_join(group, DEADLINE_NONE);
}

static int run_wave(struct pass *p, int number, size_t count, struct error *err)
{
        struct fiber_group *group;
        int failed = 0, r;

        if (count == 1) { /* the usual case needs no fiber of its own */
                for (size_t i = 0; i < p->n; i++)
                        if (is_due(&p->manifests[i]) && wave_number(p, &p->manifests[i]) == number)
                                return object_process(p, &p->manifests[i], err);
        }
        group = fiber_group_new(p->agent->loop, p->agent->group, "wave");
        if (!group)
                return error_no_memory(err);
        r = fly(p, number, group, &failed, err);
        fiber_group_end(group);
        if (r == ERR_CANCELLED)
                error_set(err, ERR_CANCELLED, "cancelled");
        return r < 0 ? r : failed;
}

static bool is_definition(const struct manifest *m)
{
        return text_equal(m->group, "apiextensions.k8s.io") &&
               text_equal(m->kind, "CustomResourceDefinition") && result_is_applied(m->result) && !m->reused;
}

static bool waits_for_definition(const struct manifest *m)
{
        return m->result == RESULT_DECODING_ERRED && m->identity && !m->resource.plural;
}

/* Custom resources in the same Work as their definition: once it is established, map them again. */
static int map_again(struct pass *p, struct error *err)
{
        bool defined = false, waiting = false;

        for (size_t i = 0; i < p->n; i++) {
                defined |= is_definition(&p->manifests[i]);
                waiting |= waits_for_definition(&p->manifests[i]);
        }
        for (int try = 0; defined && waiting && try < ESTABLISH_TRIES; try++) {
                if (fiber_sleep(p->agent->loop, try ? ESTABLISH_WAIT_MS : 0) < 0)
                        return error_set(err, ERR_CANCELLED, "cancelled");
                (void)kube_mapper_refresh(p->agent->mapper, NULL, NULL);
                waiting = false;
                for (size_t i = 0; i < p->n; i++) {
                        if (!waits_for_definition(&p->manifests[i]))
                                continue;
                        TRY(pass_map_manifest(p, &p->manifests[i], err));
                        waiting |= waits_for_definition(&p->manifests[i]);
                }
        }
        return 0;
}

int waves_run(struct pass *p, struct error *err)
{
        bool mapped_again = false;
        size_t count = 0;

        for (;;) {
                int number = next_wave(p, &count);

                if ((number < 0 || number > 1) && !mapped_again) {
                        mapped_again = true;
                        TRY(map_again(p, err));
                        continue;
                }
                if (number < 0)
                        return 0;
                TRY(run_wave(p, number, count, err));
        }
}
