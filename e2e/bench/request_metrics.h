/* What a kube-apiserver has answered, by its metrics: in place of devcluster's own count. */
#pragma once

#include "common/base/error.h"
#include "common/base/text.h"
#include "common/json/doc.h"

/* The number at the end of a line of metrics; behind the line is a line feed or a NUL. */
double metrics_line_value(struct slice line);

/* Of the metrics' text, since the API server began: an array of {verb, resource, count} as bench_requests()
 * gives it, "works/status" for a subresource, verbs as RBAC has them. json_decref. */
int request_metrics_read(struct slice text, json_t **ret_items, struct error *err);
/* What came after `before` (NULL = all): those with a count above 0. */
int request_metrics_since(const json_t *items, const json_t *before, json_t **ret_items, struct error *err);
