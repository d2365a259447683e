/* The test rules and counters of devcluster.h over HTTP, for fleets of separate processes. Below
 * /clusters/NAME, for system:masters only, never counted themselves:
 *
 *   GET  /devcluster/requests        {"items":[{"verb":"list","resource":"pods","count":2},...]}, sorted
 *   POST /devcluster/requests/reset
 *   POST /devcluster/readiness?kind=&namespace=&name=&ready=true|false    empty or absent = any
 *   POST /devcluster/simulated?namespace=NAME&value=true|false    false: others run its workloads
 *   POST /devcluster/cut-watches?compact=true|false                       absent = false
 *
 * The POSTs answer a Status "Success". */
#pragma once

#include "e2e/devcluster/request.h"

int control_handle(struct request *rq);
