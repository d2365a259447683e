/* One object of a Work against the member's API server: the steps of steps.h, tried again where it changed
 * meanwhile, and what is kept of it. */
#include "common/base/limits.h"
#include "member-agent/apply/pass.h"
#include "member-agent/apply/steps.h"
#include "member-agent/availability/availability.h"

#define GUARDED_TRIES 3

/* ---- what is kept of the live object ---- */

static int keep_status(struct pass *p, struct manifest *m, const json_t *live, struct error *err)
{
        const json_t *status = doc_get_object(live, "status");
        AUTO_JSON json_t *kept = NULL;
        struct buf text AUTO_BUF;

        buf_init(&text, LIMIT_OBJECT_BYTES);
        if (!p->mirror || !status || !result_is_applied(m->result))
                return 0;
        kept = json_pack("{s:O?, s:O?, s:O}", "apiVersion", json_object_get(live, "apiVersion"), "kind",
                         json_object_get(live, "kind"), "status", status);
        if (!kept || doc_write(kept, &text) < 0)
                return error_no_memory(err);
        m->observed_status = (struct slice){ arena_strndup(p->arena, text.data, text.len), text.len };
        return m->observed_status.data ? 0 : error_no_memory(err);
}

static bool has_finished(const json_t *job)
{
        json_t *c;
        size_t i;

        json_array_foreach(doc_get_array(job, "status.conditions"), i, c) {
                const char *type = doc_get_string(c, "type");

                if ((text_equal(type, "Complete") || text_equal(type, "Failed")) &&
                    text_equal(doc_get_string(c, "status"), "True"))
                        return true;
        }
        return false;
}

static int judge(struct pass *p, struct manifest *m, const json_t *live, struct error *err)
{
        struct error why = { 0 };

        m->live_exists = live != NULL;
        if (live) {
                const char *uid = doc_get_string(live, "metadata.uid");
                const char *version = doc_get_string(live, "metadata.resourceVersion");

                m->live_generation = doc_get_int(live, "metadata.generation", 0);
                m->finished = manifest_goes_when_finished(m) && has_finished(live);
                m->live_uid = arena_strdup(p->arena, uid ? uid : "");
                m->live_version = arena_strdup(p->arena, version && !m->unguarded ? version : "");
                if (!m->live_uid || !m->live_version)
                        return error_no_memory(err);
        }
        if (!result_is_applied(m->result))
                return 0;
        m->availability = availability_of(m->group, m->version, m->resource.plural, live, &why);
        if (!(m->availability_cause = arena_strdup(p->arena, why.text)))
                return error_no_memory(err);
        return keep_status(p, m, live, err);
}

/* In a Work's first pass most objects are not there yet: creating them says so for sure, and saves a read. A
 * Job that goes when it has finished may have run all the same. */
static bool may_be_there(const struct pass *p, const struct manifest *m)
{
        const struct applied_work *w = (const struct applied_work *)(const void *)p->applied_work;

        return pass_row(p, m) || (w->status && w->status->applied_resources.n) ||
               p->strategy.type == STRATEGY_REPORT_DIFF || !informer_synced(p->agent->works) ||
               manifest_goes_when_finished(m);
}

/* ---- what is asked of the agent on the way ---- */

static int is_orphan(void *ctx, const char *work_name, bool *ret, struct error *err)
{
        struct member_agent *a = ((struct pass *)ctx)->agent;

        /* Without the hub nobody can say that a Work is gone. */
        *ret = informer_synced(a->works) && !informer_get(a->works, a->ns, work_name);
        return 0;
}

static int claim(void *ctx, const struct manifest *m, const char *holder, enum handover_claim *ret,
                 struct error *err)
{
        return handover_judge_holder(ctx, m, holder, ret, err);
}

static int run_steps(struct pass *p, struct manifest *m, bool look, json_t **live, struct error *err)
{
        struct object_steps s = { .objects = &p->objects,
                                  .own = &p->agent->member,
                                  .arena = p->arena,
                                  .strategy = &p->strategy,
                                  .owner = &p->owner,
                                  .is_orphan = is_orphan,
                                  .claim = claim,
                                  .ctx = p };
        bool ran = false;
        int r;

        if (look && (r = object_find(&s, m, live, err)) != 0)
                return r;
        if (look && !*live)
                TRY(finished_reuse(p, m, &ran, err));
        if (ran || stale_check_object(p, m, *live))
                return OBJECT_DECIDED;
        r = object_bring_in_line(&s, m, look, live, err);
        p->waits_for_sibling |= s.waits_for_sibling;
        return r;
}

int object_process(struct pass *p, struct manifest *m, struct error *err)
{
        AUTO_JSON json_t *live = NULL;
        int r = run_steps(p, m, may_be_there(p, m), &live, err);

        for (int tries = 1; r == OBJECT_LOOK_FIRST || r == OBJECT_MOVED; tries++) {
                json_decref(live); /* it may have been created, and the apply behind it was lost */
                live = NULL;
                m->unguarded = tries >= GUARDED_TRIES;
                r = run_steps(p, m, true, &live, err);
        }
        if (r < 0)
                return r;
        return m->reused ? 0 : judge(p, m, live, err);
}
