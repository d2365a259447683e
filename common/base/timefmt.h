/* Time values and their text forms. A wall-clock time is milliseconds since 1970 UTC; a duration is
 * milliseconds unless a name says otherwise. No function here reads a clock. */
#pragma once

#include "common/base/text.h"

#define TIME_NONE INT64_MIN
#define RFC3339_SIZE 32 /* enough for micro form with the NUL */

void time_format_rfc3339(int64_t wall_ms, char ret[RFC3339_SIZE]);       /* 2006-01-02T15:04:05Z */
void time_format_rfc3339_milli(int64_t wall_ms, char ret[RFC3339_SIZE]); /* 2006-01-02T15:04:05.000Z: logs */
void time_format_rfc3339_micro(int64_t wall_us, char ret[RFC3339_SIZE]); /* 2006-01-02T15:04:05.000000Z */
int time_parse_rfc3339(struct slice s,
                       int64_t *ret_wall_ms); /* 0 or ERR_INVALID; offsets and fractions accepted */
/* What API servers let pass as a time (format date-time), and the shorter ISO 8601 forms: t, z and a space in
 * place of T, a comma before the fraction, no seconds, any offset, +0200, no offset at all (UTC). */
int time_parse_lenient(struct slice s, int64_t *ret_wall_ms);
int time_parse_rfc3339_micro(struct slice s, int64_t *ret_wall_us); /* the same in microseconds */

/* The calendar; days are counted from 1970-01-01. */
struct date {
        int64_t year;
        unsigned month, day; /* from 1 */
};
struct date date_of_days(int64_t days);
int64_t date_to_days(struct date d);

/* Go durations: "1h30m", "90s", "1.5h", "300ms"; ERR_INVALID otherwise. Result in nanoseconds. */
int duration_parse_go(struct slice s, int64_t *ret_ns);
void duration_format_go(int64_t ns, char *ret, size_t size);    /* as time.Duration.String(): "1m30s" */
void duration_format_human(int64_t ms, char *ret, size_t size); /* as kubectl's AGE: "5d3h", "2m10s" */
