#include "e2e/simulation/eviction_words.h"

#include "common/base/text.h"

#define OF_BUDGET " by specified ClusterResourcePlacementDisruptionBudget, "

static const struct {
        const char *type, *status, *reason, *message;
        bool counts;
} words[EVICTION_WORDS] = {
#define INVALID "Valid", "False", "ClusterResourcePlacementEvictionInvalid"
#define NOT_EXECUTED "Executed", "False", "ClusterResourcePlacementEvictionNotExecuted"
#define EXECUTED "Executed", "True", "ClusterResourcePlacementEvictionExecuted"
        [WORD_NO_PLACEMENT] = { INVALID, "Failed to find ClusterResourcePlacement targeted by eviction",
                                false },
        [WORD_PLACEMENT_GOING] = { INVALID, "Found deleting ClusterResourcePlacement targeted by eviction",
                                   false },
        [WORD_PICK_FIXED] = { INVALID,
                              "Found ClusterResourcePlacement with PickFixed placement type targeted by "
                              "eviction",
                              false },
        [WORD_TWO_BINDINGS] = { INVALID,
                                "Found more than one scheduler decision for placement in cluster targeted by "
                                "eviction",
                                false },
        [WORD_NO_BINDING] = { INVALID,
                              "Failed to find scheduler decision for placement in cluster targeted by "
                              "eviction",
                              false },
        [WORD_NOT_PLACED] = { NOT_EXECUTED,
                              "Eviction is blocked, placement has not propagated resources to target cluster "
                              "yet",
                              false },
        [WORD_UNMEASURABLE] = { NOT_EXECUTED,
                                "Eviction is blocked by misconfigured "
                                "ClusterResourcePlacementDisruptionBudget, either MaxUnavailable is "
                                "specified or "
                                "MinAvailable is specified as a percentage for PickAll "
                                "ClusterResourcePlacement",
                                false },
        [WORD_BLOCKED] = { NOT_EXECUTED, "Eviction is blocked" OF_BUDGET, true },
        [WORD_GOING] = { EXECUTED,
                         "Eviction is allowed, resources propagated by placement is currently being removed "
                         "from cluster targeted by eviction",
                         false },
        [WORD_FAILED] = { EXECUTED, "Eviction is allowed, placement has failed", false },
        [WORD_NO_BUDGET] = { EXECUTED,
                             "Eviction is allowed, no ClusterResourcePlacementDisruptionBudget specified",
                             false },
        [WORD_ALLOWED] = { EXECUTED, "Eviction is allowed" OF_BUDGET, true },
};

static bool is_word(enum eviction_word word, const char *message, struct eviction_said *ret)
{
        const char *text = words[word].message;
        int end = 0;

        *ret = (struct eviction_said){ .word = word };
        if (!words[word].counts)
                return text_equal(message, text);
        return text_starts_with(message, text) &&
               sscanf(message + strlen(text), "availablePlacements: %u, totalPlacements: %u%n",
                      &ret->available, &ret->total, &end) == 2 &&
               message[strlen(text) + (size_t)end] == '\0';
}

struct eviction_said eviction_message(const char *message)
{
        struct eviction_said said;

        for (enum eviction_word word = 0; message && word < EVICTION_WORDS; word++)
                if (is_word(word, message, &said))
                        return said;
        return (struct eviction_said){ .word = EVICTION_WORDS };
}

struct eviction_said eviction_said(const json_t *condition)
{
        struct eviction_said said = eviction_message(doc_get_string(condition, "message"));

        if (said.word == EVICTION_WORDS ||
            !text_equal(doc_get_string(condition, "type"), words[said.word].type) ||
            !text_equal(doc_get_string(condition, "status"), words[said.word].status) ||
            !text_equal(doc_get_string(condition, "reason"), words[said.word].reason))
                said.word = EVICTION_WORDS;
        return said;
}

/* ---- budgets: spec 15 ---- */

bool eviction_limit_unmeasurable(const struct eviction_limit *l)
{
        return l->exists && l->is_set && l->pick_all && (l->max || l->percent);
}

bool eviction_limit_allows(const struct eviction_limit *l, unsigned available, unsigned total)
{
        int64_t limit = l->value;

        if (!l->exists || !l->is_set)
                return !l->exists;
        if (l->percent) /* rounded up */
                for (limit = 0; limit * 100 < l->value * l->n_wanted;)
                        limit++;
        return l->max ? (int64_t)(total - available) + 1 <= limit : (int64_t)available - 1 >= limit;
}
