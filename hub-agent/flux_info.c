#include "hub-agent/flux_info.h"

#include "common/base/memory.h"
#include "common/base/text.h"

static void forget(struct flux_info *i)
{
        for (size_t k = 0; k < FLUX_INFO_LABELS; k++)
                mem_free(TAKE_PTR(i->labels[k]));
        i->metrics = NULL;
}

void flux_info_clear(struct flux_info *i)
{
        if (i->metrics)
                metric_remove(i->metrics, i->which, (const char *const *)i->labels);
        forget(i);
}

void flux_info_show(struct flux_info *i, struct metrics *m, enum metric_id which, const char *const *labels,
                    size_t n)
{
        bool all = true;

        ASSERT(n <= FLUX_INFO_LABELS);
        flux_info_clear(i);
        for (size_t k = 0; k < n; k++)
                all &= (i->labels[k] = mem_strdup(or_empty(labels[k]))) != NULL;
        if (!all) {
                forget(i);
                return;
        }
        i->metrics = m;
        i->which = which;
        metric_set(m, which, 1, (const char *const *)i->labels);
}
