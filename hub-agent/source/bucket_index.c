/* What is in a bucket, of what is not ignored. spec/helm-chart.md 12.2. */
#include "hub-agent/source/bucket.h"

#define IGNORE_FILE_BYTES (1u << 20)

static int fails(struct bucket_pass *b, const char *what)
{
        error_wrap(b->pass->rc->err, what, b->spec->bucket_name);
        return source_fails(b->pass, &failing_bucket);
}

static int look(struct bucket_pass *b)
{
        struct reconcile *rc = b->pass->rc;
        int code = s3_look(&b->client, rc->err);

        if (code == 0)
                return 0;
        if (code != ERR_NOT_FOUND)
                return fails(b, "failed to confirm existence of '%s' bucket");
        error_set(rc->err, code, "bucket '%s' not found", b->spec->bucket_name);
        return source_fails(b->pass, &failing_bucket);
}

/* ---- what is left out ---- */

static int take(void *ctx, const void *data, size_t n, struct error *err)
{
        struct buf *b = ctx;

        return buf_append(b, data, n) < 0 ? buf_status(b, err, S3_IGNORE_FILE) : 0;
}

static int read_ignore_file(struct bucket_pass *b)
{
        struct reconcile *rc = b->pass->rc;
        AUTO_BUF struct buf text;
        const struct transfer_sink sink = { take, &text };
        const char *kept;
        int code;

        buf_init(&text, IGNORE_FILE_BYTES);
        code = s3_get(&b->client, S3_IGNORE_FILE, NULL, IGNORE_FILE_BYTES, &sink, rc->err);
        if (code == ERR_NOT_FOUND) {
                error_clear(rc->err);
                return 0;
        }
        if (code < 0)
                return error_wrap(rc->err, "failed to get '%s' object", S3_IGNORE_FILE);
        kept = arena_strndup(rc->arena, text.data, text.len);
        return kept ? ignore_add(&b->ignored, "", (struct slice){ kept, text.len }, rc->err)
                    : error_no_memory(rc->err);
}

static int read_rules(struct bucket_pass *b)
{
        struct reconcile *rc = b->pass->rc;

        b->ignored.arena = rc->arena;
        b->objects.ignored = &b->ignored;
        TRY(read_ignore_file(b));
        return text_empty(b->spec->ignore) ? 0
                                           : ignore_add(&b->ignored, "", slice_of(b->spec->ignore), rc->err);
}

/* ---- the index ---- */

struct sorting {
        struct bucket_pass *bucket;
        struct error err;
        int code;
};

static void sort(void *ctx)
{
        struct sorting *s = ctx;

        s->code = s3_objects_sort(&s->bucket->objects, &s->err);
        s3_objects_revision(&s->bucket->objects, s->bucket->revision);
}

static int list(struct bucket_pass *b)
{
        struct reconcile *rc = b->pass->rc;
        struct sorting s = { .bucket = b };

        TRY(read_rules(b));
        TRY(s3_list(&b->client, b->spec->prefix, &b->objects, rc->err));
        TRY(offload(rc->kube->world->loop, sort, &s, rc->err));
        if (s.code < 0)
                *rc->err = s.err;
        return s.code;
}

int bucket_index(struct bucket_pass *b)
{
        bucket_set_deadline(b);
        TRY(look(b));
        return list(b) < 0 ? fails(b, "indexation of objects from bucket '%s' failed") : 0;
}
