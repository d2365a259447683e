/* From results to the Work's status: spec/member-agent.md 2.13. Pure. */
#pragma once

#include "member-agent/apply/manifest.h"
#include "proto/gen/types.h"

#define WORK_SIZE_LIMIT 1415578

struct status_input {
        const struct work *work;          /* generation, identity */
        const struct work_status *before; /* the last status we know; NULL if none */
        const struct manifest *manifests;
        const int64_t *first_drift_ms, *first_diff_ms; /* per manifest, TIME_NONE = none known */
        size_t n;
        bool report_diff, mirror;
        int64_t now_ms;
        size_t work_bytes; /* JSON size of the Work without status */
};

/* Builds the wanted status in the arena; entries are ported from `before` by identity. */
int status_build(const struct status_input *in, struct arena *arena, struct work_status **ret,
                 struct error *err);
/* Available or DiffReported is True for this generation. */
bool status_is_settled(const struct work_status *s, int64_t generation);
/* Hash over result and availability of each manifest, for the limiter. */
uint64_t status_results_hash(const struct manifest *manifests, size_t n);
