/* What may go wrong with sources and charts, and how each is told. spec/helm-chart.md 5.4. */
#pragma once

#include "hub-agent/source/source_state.h"

struct source_failing {
        enum source_trouble trouble;
        const char *reason;
        const char *prefix; /* what the message begins with */
        bool stalls;
};

extern const struct source_failing failing_reference, failing_path, failing_pull, failing_login, failing_url,
        failing_client, failing_source_missing, failing_source_kind, failing_source_empty, failing_read,
        failing_fetch, failing_bucket, failing_index, failing_provider, failing_git, failing_git_refused,
        failing_git_login, failing_git_path, failing_git_empty, failing_patch, failing_values,
        failing_dependency, failing_package, failing_signature, failing_folder, failing_copy, failing_storage;
