/* Ignore rules: fields of a placed object that are its cluster's to say, as its manifest asks for with the
 * annotation kubernetes-fleet.io/ignore-differences. Once the object is there, such a field counts as what it
 * is on the member: it is no difference, and no apply changes it. Pure. */
#pragma once

#include "common/base/arena.h"
#include "common/json/doc.h"

#define IGNORE_RULES_MAX 64 /* of one manifest */

/* A JSON pointer. In a list a step is an index, or the name of an element that has one; "*" takes all
 * elements of a list, or all members of an object. */
struct ignore_rule {
        const char **steps;
        size_t n;
};
struct ignore_rules {
        struct ignore_rule *at;
        size_t n;
        uint32_t number; /* other rules, another number; 0 = none */
};

/* Pointers, apart by blanks, line ends or commas. ERR_INVALID names the one that cannot be a rule: what makes
 * an object itself, its status, and metadata but for single labels and annotations cannot be ignored. */
int ignore_rules_read(const json_t *manifest, struct arena *arena, struct ignore_rules *ret,
                      struct error *err);
/* Gives `doc`, what is wanted, the fields that the rules name as they are on `live`. */
int ignore_rules_apply(const struct ignore_rules *rules, json_t *doc, const json_t *live, struct error *err);
