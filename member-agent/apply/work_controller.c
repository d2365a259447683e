/* The applier: brings the member cluster in line with one Work and says on the hub what came of it.
 * spec/member-agent.md 2. A new Work whose objects become available at once costs one write to the hub and no
 * read; otherwise applied and available are two. */
#include "member-agent/apply/decode.h"
#include "member-agent/apply/pass.h"
#include "member-agent/apply/report.h"
#include "member-agent/apply/status.h"

#define NEXT_TRY_MS 1000
#define SIBLING_WAIT_MS 10000 /* then what a sibling still holds is told as a failure */
#define SIBLING_POLL_MS 500   /* an event of the sibling wakes us; this is for what has none */

static void unref(void *object)
{
        object_unref(object);
}

static int read_strategy(struct pass *p, struct error *err)
{
        const struct work_spec *spec = p->work->spec;

        TRY(strategy_of_work(p->work, &p->strategy, err));
        p->mirror =
                spec && spec->report_back_strategy && text_equal(spec->report_back_strategy->type, "Mirror");
        return 0;
}

/* Hearing it puts all Works on the queue. */
static struct outcome wait_for_hub(const struct pass *p)
{
        log_info(p->log,
                 "what was applied has been changed by another agent since the state file was written: "
                 "the hub is waited for");
        return done();
}

/* Objects on their way from Work to Work are no failure yet. Milliseconds to wait, 0 = write now. */
static int64_t hold_for_siblings(const struct pass *p, struct work_memory *memory, size_t left)
{
        int64_t generation = p->work->object.meta.generation, now = loop_now_ms(p->agent->loop);

        handover_note_wait(memory, p->waits_for_sibling || left > 0, generation, now);
        return p->waits_for_sibling && handover_waited(memory, generation, now) < SIBLING_WAIT_MS
                       ? SIBLING_POLL_MS
                       : 0;
}

/* The longest of what the report may wait for. */
static int64_t hold_report(const struct pass *p, const struct source *s, struct work_memory *memory,
                           const struct work_status *wanted, size_t left)
{
        const struct hold_input in = { .manifests = p->manifests,
                                       .n = p->n,
                                       .generation = p->work->object.meta.generation,
                                       .told = s->before_on_hub ? s->before : NULL,
                                       .wanted = wanted,
                                       .member_answers = kube_connection_good(p->agent->member_connection),
                                       .now_ms = loop_now_ms(p->agent->loop) };
        int64_t availability = hold_for_availability(&memory->hold, &in),
                answers = hold_for_answers(&memory->hold, &in), siblings = hold_for_siblings(p, memory, left);

        return MAX(availability, MAX(answers, siblings));
}

/* What could not be mapped for want of an answer has no row, though the Work may have it. */
static bool has_its_rows(const struct pass *p)
{
        for (size_t i = 0; i < p->n; i++)
                if (p->manifests[i].unanswered && !p->manifests[i].resource.plural)
                        return false;
        return true;
}

/* From what is wanted to what is there. *ret_left: what had to go and did not yet. */
static int bring_in_line(struct pass *p, struct work_memory *memory, size_t *ret_left, struct error *err)
{
        TRY(pass_reuse_results(p, err));
        TRY(pass_plan_rows(p, err));
        memory->planned = has_its_rows(p);
        p->agent->all_planned &= memory->planned;
        TRY(leftover_remove(p, ret_left, err));
        TRY(waves_run(p, err));
        return pass_record_rows(p, err);
}

/* The delay of the next look at the Work, which spec/member-agent.md 2.14 asks for. */
static int64_t next_look_ms(struct pass *p, struct work_memory *memory, const struct work_status *status)
{
        int64_t generation = p->work->object.meta.generation;

        return limiter_next_ms(&memory->limiter, &p->agent->limits, generation,
                               status_results_hash(p->manifests, p->n),
                               status_is_settled(status, generation));
}

static struct outcome report(struct reconcile *rc, struct pass *p, struct source *s,
                             struct work_memory *memory, size_t left)
{
        struct work_status *status = NULL;
        int64_t wait, next;

        if (applied_work_tell_origin(p, rc->err) < 0 || applied_work_write_status(p, rc->err) < 0) {
                memory->owner_gone = rc->err->code == ERR_NOT_FOUND;
                return failed(rc->err);
        }
        if (report_build(p, s, &status, rc->err) < 0)
                return failed(rc->err);
        wait = hold_report(p, s, memory, status, left);
        if (wait > 0)
                return again_after(wait);
        if (tell_news(p, s->before, status, rc->err) < 0 || report_write(p, s, status, rc->err) < 0)
                return failed(rc->err);
        report_count(p, status);
        next = next_look_ms(p, memory, status);
        return again_after(left ? MIN(next, NEXT_TRY_MS) : next);
}

static struct outcome run_pass(struct reconcile *rc, struct pass *p, struct source *s)
{
        struct work_memory *memory = agent_memory(p->agent, p->name);
        size_t left = 0;

        if (!memory) {
                error_no_memory(rc->err);
                return failed(rc->err);
        }
        if (read_strategy(p, rc->err) < 0 || pass_choose_account(p, rc->err) < 0 ||
            pass_decode_manifests(p, rc->err) < 0 || pass_load_rows(p, rc->err) < 0 ||
            stale_check_work(p, &p->behind, rc->err) < 0)
                return failed(rc->err);
        if (p->behind)
                return wait_for_hub(p);
        if (bring_in_line(p, memory, &left, rc->err) < 0)
                return failed(rc->err);
        if (p->behind)
                return wait_for_hub(p);
        return report(rc, p, s, memory, left);
}

static struct outcome reconcile_present(struct reconcile *rc, struct member_agent *a, struct source *s)
{
        struct pass p = {
                .agent = a, .arena = rc->arena, .log = &rc->log, .now_ms = rc->now_ms, .name = rc->name
        };

        struct work_memory *memory = map_get(&a->memory, rc->name);

        if (memory)
                memory->gone_since_ms = 0;
        if (s->seen && !object_has_finalizer(&s->seen->object, FINALIZER_WORK) &&
            source_add_finalizer(rc, a, s) < 0)
                return failed(rc->err);
        if (source_load(a, rc->name, rc->arena, s, rc->err) < 0)
                return failed(rc->err);
        if (!informer_synced(a->works) && !informer_get(a->applied_works, NULL, rc->name))
                return wait_for_hub(
                        &p); /* somebody removed it, or it never was: both are for the hub to say */
        if (applied_work_find(a, rc->name, rc->arena, &p.applied_work, rc->err) < 0)
                return failed(rc->err);
        if (p.applied_work->meta.deletion_ms != TIME_NONE)
                return again_after(
                        NEXT_TRY_MS); /* someone deleted it: its going wakes us, then all is made anew */
        p.work = s->whole;
        p.told = s->before;
        p.owner = (struct owner){ rc->name, p.applied_work->meta.uid };
        return run_pass(rc, &p, s);
}

static struct outcome reconcile_joined(struct reconcile *rc, struct member_agent *a)
{
        struct source s = { 0 };
        const struct object *seen = informer_get(a->works, a->ns, rc->name);
        struct stored_work stored;

        if (!seen && informer_synced(a->works))
                return work_gone(rc, a);
        if (!seen && store_work_get(a->store, rc->name, rc->arena, &stored, rc->err) < 0)
                return rc->err->code == ERR_NOT_FOUND ? done() : failed(rc->err);
        if (seen) {
                object_ref(seen);
                if (arena_defer(rc->arena, unref, (void *)(uintptr_t)seen) < 0) {
                        error_no_memory(rc->err);
                        return failed(rc->err);
                }
                s.seen = (const struct work *)(const void *)seen;
        }
        if (seen && seen->meta.deletion_ms != TIME_NONE)
                return work_delete(rc, a, seen);
        return reconcile_present(rc, a, &s);
}

static struct outcome reconcile_work(struct reconcile *rc)
{
        struct member_agent *a = rc->agent;
        struct outcome o;

        if (!a->joined)
                return done(); /* joining puts all Works on the queue */
        a->busy++;
        o = reconcile_joined(rc, a);
        if (--a->busy == 0)
                waitq_wake_all(&a->idle);
        return o;
}

const struct controller work_applier_controller = {
        .name = "work-applier",
        .reconcile = reconcile_work,
        .concurrency = 16,
        .backoff_base_ms = 20,
        .backoff_max_ms = 30000,
};
