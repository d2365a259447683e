/* What those share that reach the file system. Nobody outside of common/loop includes this. */
#pragma once

#include <sys/stat.h>

#include "common/base/error.h"

void close_fd(int *fd); /* -1 is fine, and is what stays behind */
#define AUTO_FD CLEANUP(close_fd)

/* Another number whenever the file may be another, or hold something else; never 0. */
uint64_t stamp_of(const struct stat *st);
/* Names, n of them behind each other in `names`, sorted: each ended by a NUL, an empty one behind the last;
 * mem_free the block. */
int sort_names(const char *names, size_t n, char **ret, struct error *err);
/* With all below, whatever that is; no link is followed. An error number; 0 also if it is not there. */
int folder_remove_all(int at, const char *name);
#define NAMES_BYTES (16u << 20) /* names of one folder */
