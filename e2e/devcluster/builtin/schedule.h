/* Whether the schedule of a cron job can be read: five fields, or a word like @daily. */
#pragma once

#include "common/base/text.h"

#define SCHEDULE_PROBLEM_MAX 256

/* ret_problem says what is wrong, in the words of the library Kubernetes uses. */
bool schedule_is_valid(const char *text, char ret_problem[SCHEDULE_PROBLEM_MAX]);
