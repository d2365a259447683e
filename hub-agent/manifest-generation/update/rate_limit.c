/* How fast registries are asked, and how often the same. spec/flux-yaml.md 10.3. */
#include "hub-agent/manifest-generation/update/automation.h"

#define STEP_MS 1000
#define STEP_UP (RATE_PER_SECOND / 50)

void rate_limit_init(struct rate_limit *l, int64_t now_ms)
{
        *l = (struct rate_limit){ RATE_PER_SECOND, RATE_BURST, now_ms, now_ms - STEP_MS };
}

static void fill(struct rate_limit *l, int64_t now_ms)
{
        l->tokens += (double)(now_ms - l->at_ms) * l->per_second / 1000;
        l->tokens = MIN(l->tokens, RATE_BURST);
        l->at_ms = now_ms;
}

int64_t rate_limit_take(struct rate_limit *l, int64_t now_ms)
{
        double missing;

        fill(l, now_ms);
        missing = 1 - l->tokens;
        l->tokens -= 1;
        return missing <= 0 ? 0 : (int64_t)(missing * 1000 / l->per_second) + 1;
}

void rate_limit_give_back(struct rate_limit *l, size_t turns)
{
        l->tokens += (double)turns;
}

static bool may_change(struct rate_limit *l, int64_t now_ms)
{
        if (now_ms - l->changed_ms < STEP_MS)
                return false;
        fill(l, now_ms);
        l->changed_ms = now_ms;
        return true;
}

void rate_limit_slow_down(struct rate_limit *l, int64_t now_ms)
{
        if (!may_change(l, now_ms))
                return;
        l->per_second = MAX(l->per_second / 2, RATE_LEAST);
        l->tokens = MIN(l->tokens, 0); /* what was saved up counts no more */
}

void rate_limit_speed_up(struct rate_limit *l, int64_t now_ms)
{
        if (l->per_second < RATE_PER_SECOND && may_change(l, now_ms))
                l->per_second = MIN(l->per_second + STEP_UP, RATE_PER_SECOND);
}

void manifest_age_read(struct manifest_age *a, bool changed, int64_t wall_ms)
{
        int64_t refresh = a->refresh_ms == 0 ? MANIFEST_REFRESH_FIRST_MS
                          : changed          ? a->refresh_ms / 2
                                             : a->refresh_ms * 2;

        *a = (struct manifest_age){ wall_ms,
                                    MIN(MAX(refresh, MANIFEST_REFRESH_MIN_MS), MANIFEST_REFRESH_MAX_MS) };
}

/* A wall clock may go back. */
bool manifest_age_is_due(const struct manifest_age *a, int64_t wall_ms)
{
        return a->refresh_ms == 0 || wall_ms < a->read_ms || wall_ms - a->read_ms >= a->refresh_ms;
}
