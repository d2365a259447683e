/* A zone as it was read: zone.c (the table of a file), zone_rule.c (what holds after its last line). */
#pragma once

#include "common/base/zone.h"

/* A day of each year: "M3.2.0", "J60" or "59", and the seconds into it. */
struct zone_day {
        enum { ZONE_WEEKDAY, ZONE_JULIAN, ZONE_COUNTED } form;
        int month, week, day;
        int64_t seconds;
};

struct zone_rule {
        bool known, has_summer;
        int64_t standard, summer;   /* seconds to add to UTC */
        struct zone_day begin, end; /* of summer, each in the time that it ends */
};

struct zone {
        const unsigned char *times;   /* 8 bytes each, rising */
        const unsigned char *indexes; /* into types, one for each time */
        const unsigned char *types;   /* 6 bytes each */
        size_t n;
        struct zone_rule rule;
};

/* "CET-1CEST,M3.5.0,M10.5.0/3": 0 or ERR_INVALID. An empty text is no rule. */
int zone_rule_parse(struct slice text, struct zone_rule *ret);
int64_t zone_rule_offset(const struct zone_rule *r, int64_t at_s, int64_t *ret_until);
