#include "e2e/chart-runner/rollout.h"

#include "common/json/quantity.h"

static int count_of(const json_t *deployment, const char *path, int64_t total, bool up, int64_t *ret,
                    struct error *err)
{
        const json_t *value = doc_get(deployment, path);
        AUTO_JSON json_t *standard = value ? NULL : json_string("25%");

        return int_or_percent(value ? value : standard, total, up, ret, err);
}

int rollout_read(const json_t *deployment, struct rollout *ret, struct error *err)
{
        const char *type = doc_get_string(deployment, "spec.strategy.type");

        ret->want = doc_get_int(deployment, "spec.replicas", 1);
        ret->recreate = text_equal(type, "Recreate");
        ret->surge = ret->reserve = 0;
        if (ret->recreate)
                return 0;
        TRY(count_of(deployment, "spec.strategy.rollingUpdate.maxSurge", ret->want, true, &ret->surge, err));
        TRY(count_of(deployment, "spec.strategy.rollingUpdate.maxUnavailable", ret->want, false,
                     &ret->reserve, err));
        if (ret->surge == 0 && ret->reserve == 0)
                ret->reserve = 1;
        return 0;
}

static int64_t clamp(int64_t value, int64_t least, int64_t most)
{
        return MAX(least, MIN(value, most));
}

void rollout_next(const struct rollout *r, int64_t *ret_new, int64_t *ret_old)
{
        int64_t total = r->new_size + r->old_size, least = r->want - r->reserve;
        int64_t old = r->old_size, spare;

        if (r->recreate) {
                *ret_old = 0;
                *ret_new = r->old_pods > 0 ? r->new_size : r->want;
                return;
        }
        /* Up: within want + surge. Down to want when there are too many. */
        *ret_new = r->new_size >= r->want
                           ? r->want
                           : clamp(r->new_size + r->want + r->surge - total, r->new_size, r->want);
        /* Down: what the least availability does not need; first the old ones that do not work anyway. */
        spare = total - least - (r->new_size - r->new_available);
        old -= clamp(MIN(spare, r->old_size - r->old_available), 0, old);
        spare = r->new_available + r->old_available - least;
        *ret_old = old - clamp(spare, 0, old);
}
