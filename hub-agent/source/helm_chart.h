/* What a chart is made of, out of a repository's index or another source's archive. Internal to the folder.
 * spec/helm-chart.md 5. */
#pragma once

#include "hub-agent/source/chart/build.h"
#include "hub-agent/source/source_pass.h"

/* One run of a chart. */
struct chart_pass {
        struct source_pass *pass;
        const struct helm_chart_spec *spec;
        const char *const *values; /* of both fields */
        size_t n_values;
        bool has_values;
        struct chart_build build;
        bool is_same; /* as what is kept: nothing was made */
};

/* From the HelmRepository, whose index is kept. Fills build, or is_same. Has told what fails. */
int chart_from_repository(struct chart_pass *c, const struct helm_repository *r);
/* From the archive that is kept of a GitRepository or a Bucket. */
int chart_from_archive(struct chart_pass *c, const struct source_artifact *a);
/* Ends what the two begin: values, dependencies, packaging. */
int chart_finish(struct chart_pass *c);
/* Whether name and version are those of what is kept, made for this generation. */
bool chart_is_kept(const struct chart_pass *c, const char *name, const char *version);
