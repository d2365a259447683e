#include "member-agent/apply/hold.h"

#include "member-agent/apply/status.h"
#include "proto/names.h"

#define STATUS_HOLD_MS 75
#define ANSWER_WAIT_MS 10000 /* then it is told that there are none */
#define ANSWER_RETRY_MS 1000

static bool any_failed_or_drifted(const struct hold_input *in)
{
        for (size_t i = 0; i < in->n; i++)
                if (in->manifests[i].availability == AVAILABILITY_FAILED || in->manifests[i].drifts)
                        return true;
        return false;
}

static bool any_unanswered(const struct hold_input *in)
{
        for (size_t i = 0; i < in->n; i++)
                if (in->manifests[i].unanswered)
                        return true;
        return false;
}

int64_t hold_for_availability(struct hold *h, const struct hold_input *in)
{
        const struct condition *told = in->told ? condition_find(&in->told->conditions, "Applied") : NULL;

        if ((told && told->observed_generation.value == in->generation) ||
            status_is_settled(in->wanted, in->generation) ||
            !condition_is_true(&in->wanted->conditions, "Applied", in->generation) ||
            any_failed_or_drifted(in))
                return 0;
        if (h->generation != in->generation) {
                h->generation = in->generation;
                h->until_ms = in->now_ms + STATUS_HOLD_MS;
        }
        return MAX(h->until_ms - in->now_ms, 0);
}

int64_t hold_for_answers(struct hold *h, const struct hold_input *in)
{
        if (!any_unanswered(in)) {
                h->unanswered_since_ms = 0;
                return 0;
        }
        if (!h->unanswered_since_ms)
                h->unanswered_since_ms = in->now_ms;
        return in->now_ms - h->unanswered_since_ms < ANSWER_WAIT_MS || !in->member_answers ? ANSWER_RETRY_MS
                                                                                           : 0;
}
