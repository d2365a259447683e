#include "hub-agent/manifest-generation/timetable.h"

void timetable_init(struct timetable *t, int64_t sync_ms, int64_t images_ms, int64_t now_ms)
{
        *t = (struct timetable){ .sync_ms = sync_ms,
                                 .images_ms = images_ms,
                                 .sync_due = sync_ms > 0 ? now_ms : INT64_MAX,
                                 .images_due = images_ms > 0 ? now_ms : INT64_MAX,
                                 .mend_due = INT64_MAX };
}

enum task timetable_next(const struct timetable *t, int64_t now_ms)
{
        if (t->jobs > 0)
                return TASK_JOB;
        if (t->sync_asked || now_ms >= t->sync_due)
                return TASK_SYNC;
        if (now_ms >= t->mend_due)
                return TASK_MEND;
        if (t->images_ms > 0 && (t->images_asked || now_ms >= t->images_due))
                return TASK_IMAGES;
        return TASK_NONE;
}

int64_t timetable_due(const struct timetable *t)
{
        if (t->jobs > 0 || t->sync_asked || (t->images_asked && t->images_ms > 0))
                return 0;
        return MIN(MIN(t->sync_due, t->mend_due), t->images_due);
}

void timetable_begin(struct timetable *t, enum task task)
{
        if (task == TASK_SYNC)
                t->sync_asked = false;
        if (task == TASK_SYNC || task == TASK_MEND)
                t->mend_due = INT64_MAX;
        if (task == TASK_IMAGES)
                t->images_asked = false;
}

void timetable_done(struct timetable *t, enum task task, int64_t now_ms)
{
        if (task == TASK_SYNC)
                t->sync_due = t->sync_ms > 0 ? now_ms + t->sync_ms : INT64_MAX;
        if (task == TASK_IMAGES)
                t->images_due = now_ms + t->images_ms;
}

void timetable_mend_at(struct timetable *t, int64_t at_ms)
{
        t->mend_due = MIN(t->mend_due, at_ms);
}

int64_t mend_pause_ms(unsigned failures)
{
        int64_t pause = MEND_LEAST_MS;

        while (failures-- > 1 && pause < MEND_MOST_MS)
                pause *= 2;
        return MIN(pause, MEND_MOST_MS);
}
