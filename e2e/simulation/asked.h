/* What placements asked for, and until when: who decides may have read it before it changed. For rules. */
#pragma once

#include "common/base/map.h"
#include "common/base/vec.h"
#include "e2e/simulation/watch.h"

#define ASKED_ANY UINT_MAX

struct asked {
        unsigned n;               /* clusters; ASKED_ANY = as many as there are */
        unsigned max_unavailable; /* percent */
        int64_t until_ms;         /* INT64_MAX: it is in force */
        json_t *policy;           /* but for the number; NULL = none */
};
struct asked_list {
        VEC(struct asked) all; /* oldest first */
};

/* placement ("name" or "namespace/name") -> struct asked_list. A map that was never noted in is empty. */
struct asked_map {
        bool begun;
        struct map lists;
};
/* To be told of every change on the hub. */
void asked_note(struct asked_map *m, const struct change *c);
/* Of a placement; NULL = it was never there. */
const struct asked_list *asked_of(struct asked_map *m, const char *placement);
/* The greatest number that was asked for since. */
unsigned asked_most(const struct asked_list *l, int64_t since_ms);
/* Whether this policy, whatever its number, was asked for since. */
bool asked_policy(const struct asked_list *l, const json_t *policy, int64_t since_ms);
void asked_free(struct asked_map *m);
