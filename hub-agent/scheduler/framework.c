#include "hub-agent/scheduler/framework.h"

static const struct plugin *const plugins[] = {
        &cluster_affinity_plugin, &cluster_eligibility_plugin, &namespace_affinity_plugin,
        &taint_toleration_plugin, &same_placement_plugin,      &topology_spread_plugin,
};

bool candidate_is_open(const struct candidate *k)
{
        return !k->filtered && !k->taken;
}

int64_t framework_batch_limit(struct cycle *c, int64_t wanted)
{
        int64_t limit = wanted;

        for (size_t i = 0; i < ARRAY_LEN(plugins); i++) {
                int64_t wish = plugins[i]->post_batch ? plugins[i]->post_batch(c) : -1;

                if (wish >= 0 && wish < limit)
                        limit = wish;
        }
        return limit;
}

/* Runs the filters over one cluster; the first that objects decides. An already selected cluster that now
 * fails another filter counts as filtered; its binding stays (spec 7). */
static int filter_one(struct cycle *c, struct candidate *k)
{
        k->filtered = NULL;
        for (size_t i = 0; i < ARRAY_LEN(plugins); i++) {
                const char *reason = "";

                if (!plugins[i]->filter || c->skip_filter[i])
                        continue;
                switch (plugins[i]->filter(c, k, &reason)) {
                case SUCCESS:
                        break;
                case UNSCHEDULABLE:
                        if (!reason)
                                return error_no_memory(c->err);
                        k->filtered = reason;
                        return 0;
                case ALREADY_SELECTED:
                        return 0;
                default:
                        return c->err && c->err->code ? c->err->code : ERR_INTERNAL;
                }
        }
        return 0;
}

int framework_filter(struct cycle *c)
{
        for (size_t i = 0; i < ARRAY_LEN(plugins); i++) {
                enum verdict v = plugins[i]->pre_filter ? plugins[i]->pre_filter(c) : SUCCESS;

                if (v == FAILED)
                        return c->err && c->err->code ? c->err->code : ERR_INTERNAL;
                c->skip_filter[i] = v == SKIP;
        }
        for (size_t k = 0; k < c->n; k++)
                TRY(filter_one(c, &c->candidates[k]));
        return 0;
}

int framework_score(struct cycle *c)
{
        for (size_t i = 0; i < ARRAY_LEN(plugins); i++) {
                enum verdict v = plugins[i]->pre_score ? plugins[i]->pre_score(c) : SUCCESS;

                if (v == FAILED)
                        return c->err && c->err->code ? c->err->code : ERR_INTERNAL;
                c->skip_score[i] = v == SKIP;
        }
        for (size_t k = 0; k < c->n; k++) {
                struct candidate *candidate = &c->candidates[k];

                candidate->topology = candidate->affinity = 0;
                if (!candidate_is_open(candidate))
                        continue;
                for (size_t i = 0; i < ARRAY_LEN(plugins); i++)
                        if (plugins[i]->score && !c->skip_score[i] &&
                            plugins[i]->score(c, candidate) == FAILED)
                                return c->err && c->err->code ? c->err->code : ERR_INTERNAL;
        }
        return 0;
}
