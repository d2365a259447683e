/* What a member tells of its cluster beside nodes, resources and version: the operator's choice. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define PRICE_MAX_AGE_HOURS 24

struct property_settings {
        bool namespaces; /* which there are, and whose they are */
        bool azure;      /* the properties of KubeFleet's provider of that name */
        /* Of azure only: */
        bool costs;                    /* what a core and a GiB cost, by a table of prices */
        bool without_available;        /* pods are not looked at */
        const char *region;            /* NULL or "" = as the nodes' labels say */
        const char *price_ns, *prices; /* the ConfigMap with the table; NULL = there is none */
        int64_t price_max_age_ms;      /* 0 = PRICE_MAX_AGE_HOURS */
        /* The ConfigMap with properties of the operator's own; NULL = there is none. */
        const char *own_ns, *own;
};
