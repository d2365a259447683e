/* The part of `kubectl fleet plan` that is about a Work on a member. */
#pragma once

#include "kubectl-fleet/session.h"

/* Whether the words are about a Work: "work/NAME", or a file. */
bool plan_is_of_work(const struct session *s);
int plan_work_check(const struct session *s, struct error *err);
int plan_work_run(struct session *s, struct error *err);
