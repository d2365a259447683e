/* A chart as an archive: equal charts give equal bytes. Pure. spec/helm-chart.md 6.4. */
#pragma once

#include "common/base/buf.h"
#include "hub-agent/source/chart/chart.h"

/* Holds `<name>/Chart.yaml` and so on, sub-charts below `<name>/charts/`, unpacked. Appends to `ret`.
 * ERR_INVALID: "invalid JSON in values.schema.json"; ERR_LIMIT: too large for it. */
int chart_package(struct arena *arena, const struct chart *c, struct buf *ret, struct error *err);
/* Another version, in what is told and in Chart.yaml. ERR_NO_MEMORY. */
int chart_set_version(struct arena *arena, struct chart *c, const char *version);
/* Other values, for which there has to be a place: ERR_INVALID "failed to locate values file: values.yaml".
 * *ret_changed: they are not what was there. */
int chart_set_values(struct arena *arena, struct chart *c, const json_t *values, bool *ret_changed,
                     struct error *err);
