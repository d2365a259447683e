#include "hub-agent/source/failing.h"

#define FETCH(name, reason_, prefix_, stalls_)                                                               \
        const struct source_failing name = { TROUBLE_FETCH, reason_, prefix_, stalls_ }
#define BUILD(name, reason_, prefix_, stalls_)                                                               \
        const struct source_failing name = { TROUBLE_BUILD, reason_, prefix_, stalls_ }
#define STORAGE(name, reason_, prefix_)                                                                      \
        const struct source_failing name = { TROUBLE_STORAGE, reason_, prefix_, false }

FETCH(failing_reference, "InvalidChartReference", "invalid chart reference: ", true);
FETCH(failing_path, "IllegalPath", "invalid chart reference: ", true);
FETCH(failing_pull, "ChartPullError", "chart pull error: ", false);
FETCH(failing_login, "AuthenticationFailed", "", false);
FETCH(failing_url, "URLInvalid", "", true);
FETCH(failing_client, "Failed", "", true);
FETCH(failing_source_missing, "SourceUnavailable", "failed to get source: ", false);
FETCH(failing_source_kind, "UnsupportedSourceKind", "failed to get source: ", true);
FETCH(failing_source_empty, "NoSourceArtifact", "", false);
FETCH(failing_read, "ReadOperationFailed", "", false);
FETCH(failing_fetch, "Failed", "", false);
FETCH(failing_bucket, "BucketOperationFailed", "", false);
FETCH(failing_index, "IndexationFailed", "", false);
FETCH(failing_provider, "InvalidProviderConfiguration", "", true);
FETCH(failing_git, "GitOperationFailed", "failed to checkout and determine revision: ", false);
FETCH(failing_git_refused, "AuthenticationFailed", "failed to checkout and determine revision: ", false);
FETCH(failing_git_login, "AuthenticationFailed", "failed to configure authentication options: ", false);
FETCH(failing_git_path, "IllegalPath", "", true);
FETCH(failing_git_empty, "EmptyGitRepository", "", false);
BUILD(failing_patch, "MetadataPatchError", "chart metadata patch error: ", true);
BUILD(failing_values, "ValuesFilesError", "values files merge error: ", true);
BUILD(failing_dependency, "DependencyBuildError", "dependency build error: ", false);
BUILD(failing_package, "ChartPackageError", "chart package error: ", false);
BUILD(failing_signature, "ChartVerificationError", "chart verification error: ", false);
STORAGE(failing_folder, "DirectoryCreationFailed", "failed to create artifact directory: ");
STORAGE(failing_copy, "ArchiveOperationFailed", "unable to copy Helm chart to storage: ");
STORAGE(failing_storage, "StorageOperationFailed", "");
