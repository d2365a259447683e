/* The compiled form of a regular expression, shared by its compiler and its matcher. */
#pragma once

#include "common/base/unicode.h"
#include "common/json/regex.h"

enum regex_op {
        REGEX_MATCH,
        REGEX_JUMP,   /* to x */
        REGEX_SPLIT,  /* to x, or else y */
        REGEX_RANGE,  /* a code point x..y */
        REGEX_CLASS,  /* a code point of class x (y: negated) */
        REGEX_ASSERT, /* the condition x holds here */
        REGEX_SAVE,   /* the place is bound x of the groups: begin of group n is 2n, end 2n + 1 */
};

enum regex_assert {
        REGEX_TEXT_BEGIN,
        REGEX_TEXT_END,
        REGEX_LINE_BEGIN,
        REGEX_LINE_END,
        REGEX_WORD_BOUNDARY,
        REGEX_NO_WORD_BOUNDARY,
};

struct regex_instruction {
        uint32_t op, x, y;
};

struct regex_range {
        uint32_t low, high;
};

struct regex_class {
        struct regex_range *ranges;
        size_t n, cap;
        bool negated;
};

struct regex {
        struct regex_instruction *code;
        size_t n_code, cap_code;
        struct regex_class **classes;
        size_t n_classes, cap_classes;
        struct slice *group_names; /* of 1, 2...; only where groups were asked for */
        size_t n_groups, cap_groups;
        bool anchored; /* a match can only begin at the start of the text */
};

bool regex_condition_holds(struct slice text, size_t at, uint32_t condition);
bool regex_consumes(const struct regex *re, const struct regex_instruction *i, uint32_t c);
