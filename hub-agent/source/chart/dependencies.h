/* What a chart's folder needs that is not in its charts/. Pure. spec/helm-chart.md 6.3.
 *
 * An alias does not become the name of the chart that is added, as that section has it: helm looks for the
 * name that Chart.yaml says, and refuses the chart otherwise (tried with 3.22). */
#pragma once

#include "hub-agent/source/chart/chart.h"

struct dependency_list {
        struct chart_dependency *at;
        size_t n;
};

/* What the lock lists, or Chart.yaml where there is none, and no sub-chart of that name and version is. In
 * the order of the list, each once. ERR_INVALID: "invalid version/constraint format '...': ..." or a lock
 * that cannot be read. */
int chart_missing(struct arena *arena, const struct chart *c, struct dependency_list *ret, struct error *err);

enum dependency_place { DEPENDENCY_LOCAL, DEPENDENCY_HTTP, DEPENDENCY_OCI };
/* ERR_INVALID: "aliased repository dependency is not supported: @x", "invalid dependency repository URL: x",
 * behind "failed to add remote dependency 'NAME': ". */
int dependency_place(const struct chart_dependency *d, enum dependency_place *ret, struct error *err);

/* Out of the same source, in which the chart's folder is `folder`; nothing outside of it is found.
 * ERR_INVALID: "failed to add local dependency 'NAME': no chart found at '...' (reference '...')" and so on.
 */
int chart_add_local(struct arena *arena, const struct file_set *source, const char *folder,
                    const struct chart_dependency *d, uint64_t file_bytes, struct chart *c,
                    struct error *err);
/* As it was fetched. ERR_INVALID: "failed to add remote dependency 'NAME': ...": it is not what was asked
 * for. */
int chart_add_remote(struct arena *arena, struct slice archive, const struct chart_dependency *d,
                     uint64_t file_bytes, struct chart *c, struct error *err);
