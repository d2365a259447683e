/* What an object store answers with, read. Pure, so it may run offloaded. spec/helm-chart.md 12.2. */
#pragma once

#include "common/base/text.h"
#include "hub-agent/source/s3/objects.h"

struct s3_page {
        const char *next; /* the token that the next page is asked for with; NULL = it is the last */
};
/* One page of ListObjectsV2: its objects are added. ERR_INVALID, ERR_LIMIT: what is wrong with it, or with an
 * object (objects.h). Texts are in the arena. */
int s3_read_page(struct slice xml, struct arena *arena, struct s3_objects *objects, struct s3_page *ret,
                 struct error *err);
/* "NoSuchKey: The specified key does not exist." of an error's body; "" where there is none, or it is no XML.
 */
void s3_read_error(struct slice xml, char *ret, size_t size);
