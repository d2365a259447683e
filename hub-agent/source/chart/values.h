/* Values of charts: YAML in, merged, YAML out. Pure. spec/helm-chart.md 5.6. */
#pragma once

#include "common/json/doc.h"

#define CHART_VALUES_MAX 200000 /* of one YAML file of a chart: each takes hundreds of bytes */

/* A mapping, or several documents of one merged in their order; {} of an empty text. A new reference.
 * ERR_INVALID: "unmarshaling values from 'PATH' failed: ...". */
int values_parse(const char *path, struct slice text, json_t **ret, struct error *err);
/* What is in both as mappings is merged by key, of all else that of `over` counts, null and lists too. */
int values_merge(json_t *into, const json_t *over, struct error *err);
/* Sorted keys; nothing of an empty mapping. */
int values_write(const json_t *values, struct buf *b, struct error *err);
