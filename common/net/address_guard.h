/* Addresses that users may not have the agents ask, whatever name leads there. Pure. spec/resource-set.md,
 * spec/helm-chart.md 13, docs/threat-model.md.
 */
#pragma once

#include <sys/socket.h>

#include "common/base/arena.h"

#define ADDRESS_RANGES_MAX 256

struct address_range {
        bool six; /* of IPv6; else of IPv4, also where an address of IPv6 leads to one */
        unsigned char first[16];
        unsigned bits;    /* how many of them count */
        const char *what; /* such as "an address of this machine" */
};

struct address_ranges {
        const struct address_range *at;
        size_t n;
};

/* This machine, its link, the metadata services of clouds, what is no address of one host. */
extern const struct address_ranges address_guard_strict;
/* Of a list as users write it ("169.254.0.0/16, fe80::/10", addresses alone too), in the arena; ERR_INVALID
 * names what is none, ERR_LIMIT: too many. NULL and "": nothing is refused. */
int address_ranges_parse(const char *list, struct arena *arena, struct address_ranges *ret,
                         struct error *err);
/* NULL: it may be connected to; else what it is. What is no address of the internet is always refused. */
const char *address_guard_refuses(const struct address_ranges *denied, const struct sockaddr *a);
