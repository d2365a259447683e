/* Deployments and ReplicaSets on devcluster, which has no controllers for them: what the controller manager,
 * the scheduler and the service-account admission do, as far as the charts need it. */
#pragma once

#include "e2e/chart-runner/runner.h"

/* Looks at all Deployments of the namespace: makes their ReplicaSets and Pods, resizes, reports. Does nothing
 * where nothing changed. */
int controllers_sync(struct runner *r, struct error *err);
