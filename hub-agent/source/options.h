/* How charts and their sources are worked on. spec/helm-chart.md 4.1. */
#pragma once

#include "common/loop/volume.h"
#include "hub-agent/source/store/artifact_digest.h"
#include "hub-agent/source/store/retention.h"

struct source_options {
        struct volume *volume; /* where artifacts are kept */
        const char *address;   /* what their URLs begin with: "http://host:port" */
        enum artifact_digest digest;
        struct retention retention;
        size_t index_bytes, chart_bytes, file_bytes; /* most of an index, a chart, and one file of it */
        bool any_address;      /* sources may be at addresses that address_guard.h refuses */
        bool enforces_digests; /* a chart that is not what its index says is not taken */
        unsigned concurrency;  /* of each kind */
        unsigned jitter_percent;
        int64_t retry_least_ms, retry_most_ms;
};

#define SOURCE_INDEX_BYTES 52428800
#define SOURCE_CHART_BYTES 10485760
#define SOURCE_FILE_BYTES 5242880
#define SOURCE_RETENTION_MS 60000
#define SOURCE_RETENTION_RECORDS 2
