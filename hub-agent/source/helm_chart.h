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
        const char *asked_name, *asked_version; /* what the archive has to hold; NULL = whatever */
        const char *manifest;                   /* digest of what it was pulled by; NULL = no registry's */
        bool is_same;                           /* as what is kept: nothing was made */
};

/* In artifact.metadata: what a registry's tag led to. */
#define METADATA_MANIFEST "source.toolkit.fluxcd.io/manifest-digest"

/* From the HelmRepository, whose index is kept. Fills build, or is_same. Has told what fails. */
int chart_from_repository(struct chart_pass *c, const struct helm_repository *r);
/* From a HelmRepository of type oci. Fills build, or is_same. Has told what fails. */
int chart_from_registry(struct chart_pass *c, const struct helm_repository *r);
/* From the archive that is kept of a GitRepository or a Bucket. */
int chart_from_archive(struct chart_pass *c, const struct source_artifact *a);
/* Adds to build.chart what is in repositories elsewhere. Has told what fails. */
int chart_add_missing(struct chart_pass *c, const struct dependency_list *missing);
/* Whether it is one that repositories may have. Has told that it is none. */
int chart_check_name(struct chart_pass *c);
/* Ends what the three begin: values, dependencies, packaging. */
int chart_finish(struct chart_pass *c);
/* Whether name and version are those of what is kept, made for this generation. */
bool chart_is_kept(const struct chart_pass *c, const char *name, const char *version);
