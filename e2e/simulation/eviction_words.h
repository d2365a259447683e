/* What an eviction may say, spec/staged-update-and-eviction.md 14.1; shared by the model and the rules, and
 * the arithmetic of budgets once more, written from the document alone. */
#pragma once

#include "e2e/simulation/wish.h"

enum eviction_word {
        WORD_NO_PLACEMENT,
        WORD_PLACEMENT_GOING,
        WORD_PICK_FIXED,
        WORD_TWO_BINDINGS,
        WORD_NO_BINDING,
        WORD_NOT_PLACED,
        WORD_UNMEASURABLE,
        WORD_BLOCKED,
        WORD_GOING,
        WORD_FAILED,
        WORD_NO_BUDGET,
        WORD_ALLOWED,
        EVICTION_WORDS
};
/* Which of them an eviction's `condition` is, with the numbers that WORD_BLOCKED and WORD_ALLOWED hold.
 * EVICTION_WORDS: it is none that this type and status may be. */
struct eviction_said {
        enum eviction_word word;
        unsigned available, total;
};
struct eviction_said eviction_said(const json_t *condition);
/* The same from a message alone. */
struct eviction_said eviction_message(const char *message);

/* What a budget says, with what it is measured by. */
struct eviction_limit {
        bool exists, is_set, max, percent;
        int64_t value;
        bool pick_all;
        int64_t n_wanted;
};
bool eviction_limit_unmeasurable(const struct eviction_limit *l);
bool eviction_limit_allows(const struct eviction_limit *l, unsigned available, unsigned total);
