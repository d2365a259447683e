/* The Work's status, from a pass to the hub. */
#include "common/base/limits.h"
#include "member-agent/apply/report.h"
#include "member-agent/apply/status.h"

int report_build(const struct pass *p, const struct source *s, struct work_status **ret, struct error *err)
{
        struct status_input in = { .work = p->work,
                                   .before = s->before,
                                   .manifests = p->manifests,
                                   .n = p->n,
                                   .report_diff = p->strategy.type == STRATEGY_REPORT_DIFF,
                                   .mirror = p->mirror,
                                   .now_ms = p->now_ms,
                                   .work_bytes = s->bytes };
        int64_t *drift = NULL, *diff = NULL;

        TRY(pass_first_times(p, &drift, &diff, err));
        in.first_drift_ms = drift;
        in.first_diff_ms = diff;
        return status_build(&in, p->arena, ret, err);
}

static int keep_status(struct pass *p, struct work_status *status, bool delivered, struct error *err)
{
        struct work only = { .object = p->work->object, .status = status };
        struct buf text AUTO_BUF;

        buf_init(&text, LIMIT_OBJECT_BYTES);
        if (object_encode(&only.object, &text) < 0)
                return buf_status(&text, err, "Work status") < 0 ? err->code : error_no_memory(err);
        return store_status_put(p->agent->store, p->name, p->work->object.meta.generation,
                                (struct slice){ text.data, text.len }, delivered, err);
}

/* The status that the difference is taken against. Where nobody knows what the hub was told last, it may have
 * rows that are to go: what it lacks is not taken away by a difference from nothing. */
static struct work_status *told_before(const struct source *s, struct work_status *any)
{
        static const struct manifest_condition row;

        if (s->before_on_hub)
                return s->before;
        any->manifest_conditions = (struct manifest_condition_list){ (void *)(uintptr_t)&row, 1, true };
        return any;
}

/* The difference is taken against one version of the Work and bound to that one: whoever wrote in between is
 * read before anything is said. */
int report_write(struct pass *p, const struct source *s, struct work_status *status, struct error *err)
{
        struct work_status any = { 0 };
        struct work now = { .status = told_before(s, &any) }, wanted = { .status = status };
        int r;

        now.object = wanted.object = s->at ? *s->at : p->work->object;
        now.object.refs = wanted.object.refs = now.object.block_size = wanted.object.block_size = 0;
        if (s->before_on_hub && s->before && object_equal_part(&now.object, &wanted.object, OBJECT_STATUS))
                return s->before_kept ? 0 : keep_status(p, status, true, err);
        TRY(keep_status(p, status, false, err));
        if (!s->at)
                return error_set(err, ERR_RETRY,
                                 "the hub is not reachable: status of Work %s is kept for later", p->name);
        r = agent_patch_diff(p->agent, &p->agent->hub, p->agent->works, &now.object, &wanted.object,
                             OBJECT_STATUS, err);
        if (r < 0)
                return error_wrap(err, "status of Work %s", p->name);
        return keep_status(p, status, true, err);
}

static const char *reason_of(const struct condition_list *list, const char *type)
{
        const struct condition *c = condition_find(list, type);

        return !c ? "Skipped" : text_equal(c->status, "Unknown") ? "Unknown" : c->reason;
}

void report_count(const struct pass *p, const struct work_status *s)
{
        const char *work[] = { reason_of(&s->conditions, "Applied"), reason_of(&s->conditions, "Available"),
                               reason_of(&s->conditions, "DiffReported") };

        metric_add(p->agent->metrics, METRIC_WORKS, 1, work);
        for (uint32_t i = 0; i < s->manifest_conditions.n; i++) {
                const struct manifest_condition *c = &s->manifest_conditions.at[i];
                const char *one[] = { reason_of(&c->conditions, "Applied"),
                                      reason_of(&c->conditions, "Available"),
                                      reason_of(&c->conditions, "DiffReported"),
                                      c->drift_details ? "Found" : "NotFound",
                                      c->diff_details ? "Found" : "NotFound" };

                metric_add(p->agent->metrics, METRIC_MANIFESTS, 1, one);
        }
}
