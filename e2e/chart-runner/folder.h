/* Folders of the runner's scratch space. */
#pragma once

#include "common/base/error.h"

int folder_make(const char *path, struct error *err); /* with parents; exists is fine */
void folder_remove(int at, const char *name);         /* with all in it, links not followed; absent is fine */

struct folder_names {
        char **at;
        size_t n, cap;
};
int folder_list(int at, const char *name, struct folder_names *ret); /* without "." and ".."; ERR_SYSTEM */
void folder_names_free(struct folder_names *names);
