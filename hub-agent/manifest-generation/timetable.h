/* When what is done: syncs, polls of images and jobs, one at a time. spec/flux-yaml.md 7.1. Pure: times are
 * of one clock that does not go back. */
#pragma once

#include "common/base/base.h"

enum task {
        TASK_NONE,
        TASK_JOB,   /* a request that changes the repository */
        TASK_SYNC,  /* all of it */
        TASK_MEND,  /* what was refused, or was changed on the hub */
        TASK_IMAGES /* a poll */
};

struct timetable {
        int64_t sync_ms, images_ms;             /* intervals; images_ms 0: never by time, nor when asked */
        int64_t sync_due, images_due, mend_due; /* INT64_MAX: not */
        bool sync_asked, images_asked;          /* any number of times is one */
        size_t jobs;                            /* that wait */
};
/* A sync is due at once; sync_ms 0: never. */
void timetable_init(struct timetable *t, int64_t sync_ms, int64_t images_ms, int64_t now_ms);
/* Jobs come before syncs, which follow each of them anyway. */
enum task timetable_next(const struct timetable *t, int64_t now_ms);
int64_t timetable_due(const struct timetable *t); /* of the first that is not NONE; INT64_MAX: never */
void timetable_begin(struct timetable *t, enum task task); /* what was asked for until now is met by it */
void timetable_done(struct timetable *t, enum task task, int64_t now_ms);
void timetable_mend_at(struct timetable *t, int64_t at_ms); /* or earlier */

/* Objects that fail are tried again after 5 s, then after twice as long each time. */
#define MEND_LEAST_MS 5000
#define MEND_MOST_MS 300000
int64_t mend_pause_ms(unsigned failures);
