/* Chart.yaml: what a chart says of itself, and what it must not say. Pure. spec/helm-chart.md 6.1. */
#pragma once

#include "common/json/doc.h"

struct chart_dependency {
        const char *name, *version, *repository, *alias; /* "" = none; the version is a range */
};

/* Texts are NUL-terminated, "" where absent; they borrow from `doc`, which lives in the arena. */
struct chart_metadata {
        const char *api_version, *name, *version, *type;
        const struct chart_dependency *dependencies;
        size_t n_dependencies;
        json_t *doc; /* an object: all that was said, also what nobody here knows; with clean texts */
};

/* From a document, as it stands in Chart.yaml or an index; it is not changed. Numbers and booleans where a
 * text belongs are texts, null is nothing; white space in texts becomes blanks, and what cannot be printed
 * goes, but for annotations, whose values may have lines. A missing apiVersion is v1. ERR_INVALID names the
 * field that has another type. What it says is not judged yet. */
int chart_metadata_read(struct arena *arena, const json_t *doc, struct chart_metadata *ret,
                        struct error *err);
/* From the text of Chart.yaml; members of `requirements` (the text of requirements.yaml, empty if there is
 * none) replace its own. The first document counts, and none is one without members. */
int chart_metadata_parse(struct arena *arena, struct slice chart, struct slice requirements,
                         struct chart_metadata *ret, struct error *err);

enum metadata_check {
        CHECK_CHART,
        CHECK_INDEX_ENTRY, /* in which dependencies may have a name twice */
};
/* The rules: ERR_INVALID "validation: chart.metadata.name is required". */
int chart_metadata_check(const struct chart_metadata *m, enum metadata_check how, struct error *err);
