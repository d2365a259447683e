/* What is told of sets: spec/cluster-object-set.md 18. Counted when somebody asks. */
#include "member-agent/object-set/set_pass.h"
#include "proto/metrics.h"

static const char *const states[] = { SET_ACTIVE, SET_ARCHIVED };
static const char *const reasons[] = { "", /* nothing is told yet */
                                       REASON_SET_ROLLING_OUT,
                                       REASON_SET_RETRYING,
                                       REASON_SET_BLOCKED,
                                       REASON_SET_DEADLINE_EXCEEDED,
                                       REASON_SET_SUCCEEDED,
                                       REASON_SET_ARCHIVED };

static size_t count(const struct set_list *all, const char *state, const char *reason)
{
        size_t n = 0;

        for (size_t i = 0; i < all->n; i++) {
                const struct cluster_object_set *s = all->at[i];
                const struct condition *c = set_find_condition(s, CONDITION_PROGRESSING);

                n += text_equal(set_is_archived(s) ? SET_ARCHIVED : SET_ACTIVE, state) &&
                     text_equal(c ? c->reason : "", reason);
        }
        return n;
}

static size_t count_objects(struct member_agent *a, const struct set_list *all, struct arena *arena)
{
        size_t n = 0;

        for (size_t i = 0; i < all->n; i++) {
                const char *holder = set_holder(all->at[i]->object.meta.name, arena);
                struct rows rows;

                if (!holder || store_rows_of_work(a->store, holder, arena, &rows, NULL) < 0)
                        return n;
                for (size_t k = 0; k < rows.n; k++)
                        n += rows.at[k].state == ROW_APPLIED && rows.at[k].result == RESULT_APPLIED;
        }
        return n;
}

static void collect(struct metrics_source *source)
{
        struct sets *s = container_of(source, struct sets, metrics);
        struct arena arena AUTO_ARENA = ARENA_INIT;
        struct set_list all;

        if (sets_list(s, &arena, &all, NULL) < 0)
                return;
        for (size_t i = 0; i < ARRAY_LEN(states); i++)
                for (size_t k = 0; k < ARRAY_LEN(reasons); k++)
                        metric_set(s->agent->metrics, METRIC_SETS, (double)count(&all, states[i], reasons[k]),
                                   (const char *const[]){ states[i], reasons[k] });
        metric_set(s->agent->metrics, METRIC_SET_OBJECTS, (double)count_objects(s->agent, &all, &arena),
                   NULL);
}

void set_metrics_begin(struct sets *s)
{
        s->metrics.collect = collect;
        metrics_add_source(s->agent->metrics, &s->metrics);
}

void set_metrics_corrected(struct set_pass *p)
{
        metric_add(p->agent->metrics, METRIC_SET_CORRECTIONS, 1, NULL);
}

void set_metrics_rolled_out(struct set_pass *p)
{
        int64_t ms = p->rc->now_ms - p->set->object.meta.creation_ms;

        metric_observe(p->agent->metrics, METRIC_SET_ROLLOUT_SECONDS, (double)MAX(ms, 0) / 1000, NULL);
}
