/* Looks at a pack as it comes, before libgit2 gets it: how many objects it says it has, and how large each of
 * them would become. So a bomb takes neither memory nor disk. Pure. */
#pragma once

#include <zlib.h>

#include "common/base/error.h"

struct pack_limits {
        uint64_t pack_bytes;
        uint64_t object_bytes; /* of one, inflated or made of a delta */
        uint64_t whole_bytes;  /* of what has to be in memory whole: what is no blob, and what deltas are of,
                                * have and make */
        uint64_t all_bytes;    /* of all objects */
        uint64_t objects;
};

enum pack_step { PACK_HEAD, PACK_OBJECT, PACK_OFFSET, PACK_BASE, PACK_DATA, PACK_TRAILER, PACK_DONE };

struct pack_scan {
        const struct pack_limits *limits;
        enum pack_step step;
        z_stream z;
        bool inflating;                     /* z is set up */
        uint64_t bytes, all, objects, left; /* left: objects still to come */
        unsigned char head[20];
        size_t n_head;
        unsigned shift;
        uint64_t size, inflated; /* of the object at hand, and how much of it was seen */
        bool delta;
        unsigned char sizes[24]; /* what a delta begins with */
        size_t n_sizes;
};

void pack_scan_begin(struct pack_scan *s, const struct pack_limits *limits);
void pack_scan_free(struct pack_scan *s);
/* ERR_INVALID: no pack; ERR_LIMIT names what is too much; ERR_NO_MEMORY. */
int pack_scan_feed(struct pack_scan *s, const void *data, size_t n, struct error *err);
/* ERR_RETRY: it is not all there. */
int pack_scan_end(const struct pack_scan *s, struct error *err);
