/* What is asked of an object store in the way of S3: whether a bucket is there, what is in it, its objects.
 * spec/helm-chart.md 12.2. */
#pragma once

#include "hub-agent/source/s3/listing.h"
#include "hub-agent/transfer/transfer.h"

#define S3_PAGE_BYTES (8u << 20) /* of 1000 keys with 1024 bytes each, escaped */
#define S3_REGION "us-east-1"    /* where nobody says one */

/* Borrows all of it. */
struct s3_client {
        struct transfer *transfer;
        const char *bucket_url;         /* s3_bucket_url() */
        const struct http_aws_key *key; /* NULL = nobody's */
        const char *region;
};

/* All park. Errors as of transfer_ask(), and of a status that is not good: ERR_NOT_FOUND on 404, ERR_CONFLICT
 * on 412, else ERR_RETRY, with the address, the status (as http_status, too) and what the store says of it.
 */

int s3_look(const struct s3_client *c, struct error *err); /* ERR_NOT_FOUND: there is no such bucket */
/* All pages; what they have is added. */
int s3_list(const struct s3_client *c, const char *prefix, struct s3_objects *objects, struct error *err);
/* One object, as it was when it had that tag (NULL: as it is). Beyond `most` bytes it is ERR_LIMIT. A failure
 * may come when part of it is there. The transfer's arena grows with each. */
int s3_get(const struct s3_client *c, const char *key, const char *tag, uint64_t most,
           const struct transfer_sink *sink, struct error *err);
