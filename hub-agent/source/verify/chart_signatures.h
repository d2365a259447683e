/* What spec.verify of a chart asks for, and what SourceVerified says of it. In every run. spec/helm-chart.md
 * 11, 5.4. */
#pragma once

#include "hub-agent/registry/registry.h"
#include "hub-agent/source/helm_chart.h"

/* Of the manifest with that digest, which messages call `reference` ("host/path:version"); `version` is the
 * chart's. 0: it is signed, or nobody asked. Has told what fails. Parks. */
int chart_signatures_verify(struct chart_pass *c, struct registry *r, const char *digest,
                            const char *reference, const char *version);
/* The same of what comes from no registry, and cannot be verified. */
int chart_signatures_refuse(struct chart_pass *c);
