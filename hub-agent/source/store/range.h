/* Ranges that clients ask for. Pure. RFC 9110 14. */
#pragma once

#include "common/base/error.h"

struct byte_range {
        uint64_t first, n;
};

enum range_answer {
        RANGE_WHOLE,  /* all of it: there is no range, none that can be read, or several */
        RANGE_PART,   /* *ret */
        RANGE_OUTSIDE /* none of the bytes asked for are there */
};

/* The header's value (NULL = none), for a file of that size. */
enum range_answer range_of(const char *header, uint64_t size, struct byte_range *ret);
