/* One run of a Bucket: how it is reached, what is in it, and its archive. Internal to the folder.
 * spec/helm-chart.md 12.2. */
#pragma once

#include "hub-agent/source/s3/client.h"
#include "hub-agent/source/source_pass.h"

struct bucket_pass {
        struct source_pass *pass;
        const struct bucket_spec *spec;
        struct transfer transfer;
        struct http_aws_key key;
        struct s3_client client;
        struct ignore_rules ignored;
        struct s3_objects objects;
        char revision[S3_REVISION_SIZE];
};

/* All but open may be called once it was; each has told what fails. */
int bucket_open(struct bucket_pass *b);  /* credentials and address */
int bucket_index(struct bucket_pass *b); /* fills objects and revision */
/* Fetches the objects and puts them into the archive. */
int bucket_pack(struct bucket_pass *b, struct artifact_writer *into);
void bucket_close(struct bucket_pass *b);
/* From now on, for what comes next. */
void bucket_set_deadline(struct bucket_pass *b);
