/* A checkout that is read: files below one folder, which nothing leads out of. Paths are relative to it, ""
 * is the folder itself. Links are followed as long as they stay within. spec/flux-yaml.md 2.4, 3, 11.
 *
 * On a volume (common/loop/volume.h): a folder of the file system, or memory for tests. */
#pragma once

#include "common/base/arena.h"
#include "common/loop/volume.h"

struct tree {
        struct volume *volume;
        const char *name; /* of the folder, for messages */
};

#define TREE_FILE_BYTES (8u << 20)
#define TREE_LINKS_MAX 40 /* on the way of one path */

/* An error about a path, which is quoted as Go's %q does it. */
int tree_refuse(struct error *err, enum error_code code, const char *before, const char *path,
                const char *behind);
/* Puts such words before an error that is there; returns its code. */
int tree_wrap(struct error *err, int code, const char *before, const char *path);

/* The path without "", "." and "..", and without a slash at its end; "" = the root. ERR_INVALID: it leads
 * out: `path "../x" is outside of base directory /work`. A leading slash is of no account. */
int tree_join(const struct tree *t, struct arena *arena, const char *folder, const char *path,
              const char **ret, struct error *err);
/* Where a path leads when all links are followed. ERR_INVALID as above; ERR_NOT_FOUND: a part of it is not
 * there; ERR_LIMIT: too many links. */
int tree_resolve(const struct tree *t, struct arena *arena, const char *path, const char **ret,
                 struct error *err);

/* Links followed. ERR_NOT_FOUND. */
int tree_look(const struct tree *t, struct arena *arena, const char *path, enum volume_kind *ret,
              struct error *err);
/* Whether there is such a file (or folder); errors but ERR_NOT_FOUND are returned. */
int tree_has_file(const struct tree *t, struct arena *arena, const char *path, bool *ret, struct error *err);
/* The whole file, NUL-terminated. ERR_LIMIT beyond TREE_FILE_BYTES; ERR_INVALID: no regular file. */
int tree_read(const struct tree *t, struct arena *arena, const char *path, struct slice *ret,
              struct error *err);

/* Names in a folder, in the order of their bytes. */
struct tree_entry {
        const char *name;
        bool is_folder; /* and no link to one */
        bool is_link;
};
int tree_list(const struct tree *t, struct arena *arena, const char *path, struct tree_entry **ret,
              size_t *ret_n, struct error *err);

/* All *.yaml and *.yml below a folder (or the file that the path names), as paths from the root, in the order
 * in which a walk comes by them: names of a folder by their bytes. Not in .git, not in charts (folders with a
 * Chart.yaml and a values.yaml, the target's own parents too), not in folders behind links. ERR_NOT_FOUND:
 * `unable to read root path "x"`. spec/flux-yaml.md 5.2 */
int tree_raw_files(const struct tree *t, struct arena *arena, const char *target, const char *const **ret,
                   size_t *ret_n, struct error *err);

#define TREE_RAW_FILES_MAX 20000
#define TREE_DEPTH_MAX 64
