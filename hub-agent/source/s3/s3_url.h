/* Addresses of buckets and of what is in them. Pure. spec/helm-chart.md 12.2. */
#pragma once

#include "common/base/arena.h"

#define S3_PAGE_KEYS 1000

struct s3_place {
        const char *endpoint; /* host, or host:port */
        const char *bucket;
        bool insecure; /* http */
        bool by_host;  /* the bucket is part of the host's name; where it can be */
};
/* "https://host/bucket" or "https://bucket.host", to which "/KEY" is added. ERR_INVALID says what is wrong
 * with the place, without its text: people write passwords there. A name with dots is never part of a host
 * with TLS, since no certificate would fit. */
int s3_bucket_url(const struct s3_place *p, struct arena *arena, const char **ret, struct error *err);
/* What requests may be signed with as their region. */
bool s3_is_region(const char *s);
/* The following have their names in order and their values escaped, as signatures want it. NULL on no memory.
 * token NULL: the first page. */
const char *s3_list_url(const char *bucket_url, const char *prefix, const char *token, struct arena *arena);
const char *s3_object_url(const char *bucket_url, const char *key, struct arena *arena);
