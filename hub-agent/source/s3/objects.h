/* The objects of a bucket that are kept, by their keys. Pure. spec/helm-chart.md 12.2. */
#pragma once

#include "common/base/digest.h"
#include "common/base/vec.h"
#include "hub-agent/source/ignore.h"

#define S3_OBJECTS_MAX 100000
#define S3_KEY_BYTES 1024            /* which no store allows more of */
#define S3_NAMES_BYTES (64u << 20)   /* keys and tags together */
#define S3_TOTAL_BYTES (1024u << 20) /* all objects together: what a chart's source may have */
#define S3_DEPTH 64                  /* folders in each other */
#define S3_IGNORE_FILE ".sourceignore"
#define S3_REVISION_SIZE (7 + SHA256_HEX_SIZE)

struct s3_object {
        const char *key; /* which is its path, too */
        const char *tag; /* without quotes */
        uint64_t size;
};

struct s3_objects {
        struct arena arena;
        VEC(struct s3_object) all;
        uint64_t names, bytes;
        const struct ignore_rules *ignored; /* borrowed */
};
void s3_objects_free(struct s3_objects *o);
#define AUTO_S3_OBJECTS CLEANUP(s3_objects_free)

/* Whether a key is a path below a folder: relative, clean, with slashes, not too deep. NULL if so, else what
 * it is, as in "key '%s' %s". */
const char *s3_key_problem(struct slice key);
/* One of a listing. Passed over: what ends in a slash, what is ignored, and the ignore file itself.
 * ERR_INVALID: its key is no path; ERR_LIMIT: they are too many or too large. */
int s3_objects_add(struct s3_objects *o, struct slice key, struct slice tag, uint64_t size,
                   struct error *err);
/* Sorts them. ERR_INVALID: a key stands there twice, or one is a file and a folder. */
int s3_objects_sort(struct s3_objects *o, struct error *err);
/* "sha256:HEX", of lines "<key> <tag>\n" of what is sorted. */
void s3_objects_revision(const struct s3_objects *o, char ret[S3_REVISION_SIZE]);
