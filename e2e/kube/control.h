/* What tests may ask kube-clusters for while it runs, as plain HTTP on a port of 127.0.0.1:
 *   POST /kube-clusters/readiness?cluster=&kind=&namespace=&name=&ready=true|false   empty or absent = any
 *   POST /kube-clusters/simulated?cluster=&namespace=&value=true|false   whose pods are not ours to run
 *   POST /kube-clusters/restart      all API servers go away and come back, watch history compacted
 *   POST /kube-clusters/checkpoint   remembers the state of all clusters
 *   POST /kube-clusters/reset        brings that state back and forgets all rules
 * 200 when it is done; else a line of text that says why not. */
#pragma once

#include "e2e/kube/kube_clusters.h"

struct http_exchange;

void kube_control_handle(void *clusters, struct http_exchange *x); /* an http_handler_fn */
