#include "hub-agent/scheduler/framework.h"

static const struct plugin *const plugins[] = {
        &cluster_affinity_plugin, &cluster_eligibility_plugin, &namespace_affinity_plugin,
        &taint_toleration_plugin, &same_placement_plugin,
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

struct candidate *candidate_find_next(const struct cycle *c, const char *cluster, size_t *at)
{
        struct candidate *k = *at < c->n ? &c->candidates[*at] : NULL;

        if (!k || !text_equal(k->cluster->object.meta.name, cluster))
                k = candidate_find(c, cluster);
        if (k)
                *at = (size_t)(k - c->candidates) + 1;
        return k;
}

bool candidate_is_open(const struct candidate *k)
{
        return !k->filtered && !k->taken;
}

static int code_of(const struct cycle *c)
{
        return c->err->code ? c->err->code : ERR_INTERNAL;
}

/* Runs the filters over one cluster; the first that objects decides. An already selected cluster that now
 * fails another filter counts as filtered; its binding stays (spec 7). */
static int filter_one(struct cycle *c, struct candidate *k)
{
        for (size_t i = 0; i < ARRAY_LEN(plugins); i++) {
                const char *reason = "";

                if (c->skip_filter[i])
                        continue;
                switch (plugins[i]->filter(c, k, &reason)) {
                case SUCCESS:
                        break;
                case UNSCHEDULABLE:
                        k->filtered = reason;
                        return reason ? 0 : error_no_memory(c->err);
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
                enum verdict v = plugins[i]->pre_filter ? plugins[i]->pre_filter(c) : SUCCESS;

                if (v == FAILED)
                        return code_of(c);
                c->skip_filter[i] = v == SKIP;
        }
        for (size_t k = 0; k < c->n; k++)
                TRY(filter_one(c, &c->candidates[k]));
        c->steps += c->n;
        return 0;
}

int framework_begin_scores(struct cycle *c)
{
        for (size_t i = 0; i < ARRAY_LEN(plugins); i++) {
                enum verdict v = plugins[i]->pre_score ? plugins[i]->pre_score(c) : SUCCESS;

                if (v == FAILED)
                        return code_of(c);
                c->skip_score[i] = v == SKIP;
        }
        return 0;
}

int framework_score(struct cycle *c, struct candidate *k)
{
        for (size_t i = 0; i < ARRAY_LEN(plugins); i++) {
                const struct plugin *p = plugins[i];

                if (p->score && !c->skip_score[i] && p->score(c, k) == FAILED)
                        return code_of(c);
        }
        return 0;
}
