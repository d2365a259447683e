/* What a Secret, ConfigMap, projected or downwardAPI volume holds: a list of files. Pure but for the token.
 */
#pragma once

#include "e2e/chart-runner/volumes.h"

struct volume_file {
        const char *path; /* relative, without ".." */
        const char *data;
        size_t n;
        int64_t mode;
};

struct volume_files {
        struct volume_file *at;
        size_t n, cap;
        int64_t renew_ms; /* of its earliest token; INT64_MAX = none */
};

bool volume_has_files(const json_t *volume); /* false: emptyDir, claims */
int volume_files(const json_t *pod, const json_t *volume, const struct volume_source *s, struct arena *arena,
                 struct volume_files *ret, struct error *err);

/* Makes `folder` hold exactly these files, by the "..data" link; nothing is written when it does already. */
int volume_files_write(const struct volume_files *f, const char *folder, int64_t uid, int64_t gid,
                       struct error *err);
