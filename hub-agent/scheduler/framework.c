#include "hub-agent/scheduler/framework.h"

static const struct plugin *const plugins[] = {
        &cluster_affinity_plugin, &cluster_eligibility_plugin, &namespace_affinity_plugin,
        &taint_toleration_plugin, &same_placement_plugin,      &topology_spread_plugin,
};

struct candidate *candidate_find(const struct cycle *c, const char *cluster)
{
        size_t low = 0, high = c->n;

        while (low < high) {
                size_t middle = (low + high) / 2;
                int order = strcmp(c->candidates[middle].cluster->object.meta.name, cluster);

                if (order == 0)
                        return &c->candidates[middle];
                if (order < 0)
                        low = middle + 1;
                else
                        high = middle;
        }
        return NULL;
}

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

static int code_of(const struct cycle *c)
{
        return c->err->code ? c->err->code : ERR_INTERNAL;
}

/* Runs the filters over one cluster; the first that objects decides. An already selected cluster that now
 * fails another filter counts as filtered; its binding stays (spec 7). */
static int filter_one(struct cycle *c, struct candidate *k)
{
        if (k->out)
                return 0;
        k->filtered = NULL;
        k->counts_time = false;
        for (size_t i = 0; i < ARRAY_LEN(plugins); i++) {
                const struct plugin *p = plugins[i];
                const char *reason = "";

                if (c->skip_filter[i] || (c->filtered_once && !p->per_pick))
                        continue;
                switch (p->filter(c, k, &reason)) {
                case SUCCESS:
                        break;
                case UNSCHEDULABLE:
                        if (!reason)
                                return error_no_memory(c->err);
                        k->filtered = reason;
                        k->out = !p->per_pick;
                        return 0;
                case ALREADY_SELECTED:
                        return 0;
                default:
                        return code_of(c);
                }
        }
        return 0;
}

int framework_filter(struct cycle *c)
{
        for (size_t i = 0; i < ARRAY_LEN(plugins); i++) {
                enum verdict v;

                if (!plugins[i]->pre_filter || (c->filtered_once && !plugins[i]->per_pick))
                        continue;
                v = plugins[i]->pre_filter(c);
                if (v == FAILED)
                        return code_of(c);
                c->skip_filter[i] = v == SKIP;
        }
        for (size_t k = 0; k < c->n; k++)
                TRY(filter_one(c, &c->candidates[k]));
        c->filtered_once = true;
        return 0;
}

static int score_one(struct cycle *c, struct candidate *k)
{
        k->topology = 0;
        if (!k->scored)
                k->affinity = 0;
        for (size_t i = 0; i < ARRAY_LEN(plugins); i++) {
                const struct plugin *p = plugins[i];

                if (p->score && !c->skip_score[i] && (p->per_pick || !k->scored) && p->score(c, k) == FAILED)
                        return code_of(c);
        }
        k->scored = true;
        return 0;
}

int framework_score(struct cycle *c)
{
        for (size_t i = 0; i < ARRAY_LEN(plugins); i++) {
                enum verdict v;

                if (!plugins[i]->pre_score || (c->scored_once && !plugins[i]->per_pick))
                        continue;
                v = plugins[i]->pre_score(c);
                if (v == FAILED)
                        return code_of(c);
                c->skip_score[i] = v == SKIP;
        }
        for (size_t k = 0; k < c->n; k++)
                if (candidate_is_open(&c->candidates[k]))
                        TRY(score_one(c, &c->candidates[k]));
        c->scored_once = true;
        return 0;
}
