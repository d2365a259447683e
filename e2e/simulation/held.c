#include "e2e/simulation/held.h"

int held_agent(const char *name)
{
        if (text_equal(name, "hub-agent"))
                return 0;
        return text_equal(name, "hub-agent-2") ? 1 : text_equal(name, "hub-agent-3") ? 2 : -1;
}

static int holder_of(const json_t *lease)
{
        return lease ? held_agent(or_empty(doc_get_string(lease, "spec.holderIdentity"))) : -1;
}

void held_note(struct held held[HELD_AGENTS], const struct change *lease)
{
        int before = holder_of(lease->before), after = holder_of(lease->after);

        if (before >= 0 && before != after)
                held[before].until_ms = lease->at_ms;
        if (after < 0)
                return;
        held[after].until_ms = INT64_MAX;
        held[after].lapses_ms =
                MAX(held[after].lapses_ms,
                    lease->asked_ms + 1000 * doc_get_int(lease->after, "spec.leaseDurationSeconds", 0));
}

bool held_at(const struct held *h, int64_t at_ms)
{
        return h->until_ms && h->until_ms >= at_ms && h->lapses_ms >= at_ms;
}
