/* An object store on the simulated network, and Buckets of it within a whole agent. */
#pragma once

#include "common/base/digest.h"
#include "hub-agent/source/chart/file_set.h"
#include "hub-agent/source/source_test.h"

#define BUCKETS SOURCES "buckets"
#define BUCKET BUCKETS "/files"
#define STORE "minio.example:9000"
#define STORE_OF_AWS "apps.s3.example" /* with the bucket in its name */
#define BUCKET_SPEC "\"endpoint\":\"" STORE "\",\"bucketName\":\"apps\",\"interval\":\"5m\""
#define STORED_MAX 64

struct stored {
        const char *key, *tag;
        struct slice data;
};

struct object_store {
        struct rig *rig;
        struct stored at[STORED_MAX];
        size_t n;
        size_t page; /* keys of one */
        const char *access_key, *secret_key,
                *region;             /* that requests are to be signed with; NULL = anybody */
        int looks, lists, gets;      /* gets: without those of the ignore file */
        int look_status, get_status; /* in place of what is right; 0 = none */
        int get_failures;            /* how many get that status; -1 = all */
        const char *wrong_list;      /* in place of a page */
        const char *region_told;     /* x-amz-bucket-region */
        const char *changing;        /* the tag of that key is another once it was listed */
        size_t cut;                  /* of each object's bytes, so many are not sent */
        int under_way, most;         /* gets at once */
        bool hangs;
        char said[400], query[400], path[400]; /* of the last request */
};

static inline bool is_signed(const struct object_store *s, struct http_exchange *x)
{
        const char *said = http_header_get(&x->headers, "Authorization");
        char hex[SHA256_HEX_SIZE];

        if (!s->access_key)
                return !said;
        sha256_hex(s->secret_key, strlen(s->secret_key), hex);
        return text_equal(said,
                          arena_printf(x->arena, LOOPBACK_SIGNATURE, s->access_key, s->region, "s3", hex)) &&
               http_header_get(&x->headers, "x-amz-content-sha256");
}

static inline void answer_error(struct http_exchange *x, int status, const char *code)
{
        const char *text =
                arena_printf(x->arena,
                             "<?xml version=\"1.0\"?><Error><Code>%s</Code><Message>because</Message>"
                             "<Resource>x</Resource></Error>",
                             code);

        http_reply(x, status, "application/xml", slice_of(x->method[0] == 'H' ? "" : or_empty(text)), NULL);
}

static inline void answer_page(struct object_store *s, struct http_exchange *x)
{
        const char *prefix = or_empty(http_query_get(x, "prefix")),
                   *token = http_query_get(x, "continuation-token");
        int64_t from = 0;
        size_t n = 0, i;
        AUTO_BUF struct buf b;

        buf_init(&b, 1 << 20);
        s->lists++;
        if (s->wrong_list) {
                http_reply(x, 200, "application/xml", slice_of(s->wrong_list), NULL);
                return;
        }
        if (token)
                assert_true(text_parse_i64(token + strlen("next+"), &from));
        buf_append_str(&b, "<?xml version=\"1.0\"?><ListBucketResult><EncodingType>url</EncodingType>");
        for (i = (size_t)from; i < s->n && n < s->page; i++) {
                if (!text_starts_with(s->at[i].key, prefix))
                        continue;
                buf_append_str(&b, "<Contents><Key>");
                http_escape(&b, s->at[i].key);
                buf_printf(&b, "</Key><ETag>&quot;%s&quot;</ETag><Size>%zu</Size></Contents>", s->at[i].tag,
                           s->at[i].data.len);
                if (text_equal(s->at[i].key, s->changing))
                        s->at[i].tag = "another";
                n++;
        }
        if (i < s->n)
                buf_printf(&b,
                           "<IsTruncated>true</IsTruncated><NextContinuationToken>next+%zu"
                           "</NextContinuationToken>",
                           i);
        buf_append_str(&b, "</ListBucketResult>");
        if (!b.failed) /* no answer is status 500 */
                http_reply(x, 200, "application/xml", (struct slice){ b.data, b.len }, NULL);
}

static inline void answer_object(struct object_store *s, struct http_exchange *x, const char *key)
{
        const char *match = http_header_get(&x->headers, "If-Match");

        if (!text_equal(key, ".sourceignore")) {
                s->gets++;
                s->under_way++;
                s->most = MAX(s->most, s->under_way);
                (void)fiber_sleep(x->loop, 100);
                s->under_way--;
                if (s->get_status && s->get_failures != 0) {
                        s->get_failures -= s->get_failures > 0;
                        answer_error(x, s->get_status, "SlowDown");
                        return;
                }
        }
        for (size_t i = 0; i < s->n; i++) {
                const struct stored *o = &s->at[i];

                if (!text_equal(o->key, key))
                        continue;
                if (match && !text_equal(match, arena_printf(x->arena, "\"%s\"", o->tag)))
                        answer_error(x, 412, "PreconditionFailed");
                else
                        http_reply(x, 200, NULL,
                                   (struct slice){ o->data.data, o->data.len - MIN(s->cut, o->data.len) },
                                   NULL);
                return;
        }
        answer_error(x, 404, "NoSuchKey");
}

static inline void answer_store(void *ctx, struct http_exchange *x, const char *bucket)
{
        struct object_store *s = ctx;
        const char *path = or_empty(http_unescape(x->arena, slice_of(x->path), false));
        const struct http_header region = { "x-amz-bucket-region", s->region_told };
        const struct http_headers headers = { (struct http_header *)(uintptr_t)&region, 1 };
        size_t n = strlen(bucket);

        snprintf(s->said, sizeof(s->said), "%s", or_empty(http_header_get(&x->headers, "Authorization")));
        if (x->query[0])
                snprintf(s->query, sizeof(s->query), "%s", x->query);
        snprintf(s->path, sizeof(s->path), "%s", x->path);
        if (s->hangs)
                (void)fiber_sleep(x->loop, 3600000);
        if (!is_signed(s, x)) {
                answer_error(x, 403, "SignatureDoesNotMatch");
        } else if (text_equal(x->method, "HEAD")) {
                s->looks++;
                http_reply(x,
                           s->look_status             ? s->look_status
                           : text_equal(path, bucket) ? 200
                                                      : 404,
                           NULL, SLICE(""), s->region_told ? &headers : NULL);
        } else if (x->query[0]) {
                answer_page(s, x);
        } else if (text_starts_with(path, bucket)) {
                answer_object(s, x, path + n + (path[n] == '/'));
        } else {
                answer_error(x, 404, "NoSuchBucket");
        }
}

static inline void answer_by_path(void *ctx, struct http_exchange *x)
{
        answer_store(ctx, x, "/apps");
}

static inline void answer_by_host(void *ctx, struct http_exchange *x)
{
        answer_store(ctx, x, "/");
}

static inline void keep_in(struct object_store *s, const char *key, const char *tag, const char *text)
{
        assert_true(s->n < STORED_MAX);
        s->at[s->n++] = (struct stored){ key, tag, slice_of(text) };
}

static inline void begin_store(struct rig *r, struct fleet *f, struct web *w, struct object_store *s)
{
        begin_sources(r, f, w);
        *s = (struct object_store){ .rig = r, .page = 1000, .region = "us-east-1" };
        assert_int_equal(loopback_listen(r->net, STORE, answer_by_path, s), 0);
        assert_int_equal(loopback_listen(r->net, STORE_OF_AWS, answer_by_host, s), 0);
        keep_in(s, "app/b.yaml", "e1", "kind: B\n");
        keep_in(s, "app/a b+c.yaml", "e2", "kind: A\n");
        keep_in(s, "app/", "e0", "");
        keep_in(s, "readme.txt", "e3", "read me\n");
}

static inline void end_store(struct rig *r, struct fleet *f, struct web *w)
{
        loopback_listen(r->net, STORE, NULL, NULL);
        loopback_listen(r->net, STORE_OF_AWS, NULL, NULL);
        end_sources(r, f, w);
}

static inline void add_bucket(struct rig *r, const char *spec)
{
        AUTO_FREE char *body =
                mem_printf("{\"apiVersion\":\"source.toolkit.fluxcd.io/v1\",\"kind\":\"Bucket\","
                           "\"metadata\":{\"name\":\"files\"},\"spec\":{%s}}",
                           spec);

        if (rig_post(r, BUCKETS, body) != 201)
                fail_msg("%s", r->text);
        rig_settle(r);
}

static inline void look_again(struct rig *r, const char *path, const char *when)
{
        AUTO_FREE char *patch = mem_printf(
                "{\"metadata\":{\"annotations\":{\"reconcile.fluxcd.io/requestedAt\":\"%s\"}}}", when);

        merge_and_settle(r, path, patch);
}

static inline struct slice bytes_kept(struct rig *r, struct web *w, const char *path)
{
        CLEANUP(volume_reader_cleanup) struct volume_reader *file = NULL;
        char *bytes = arena_alloc(&r->arena, 1 << 20);
        size_t n;

        assert_int_equal(volume_open_file(w->options.volume, path, &file, NULL), 0);
        assert_int_equal(volume_read(file, 0, bytes, 1 << 20, &n, NULL), 0);
        return (struct slice){ bytes, n };
}

/* The files of the archive that the status names. */
static inline struct file_set files_kept(struct rig *r, struct web *w)
{
        struct file_set files;
        struct error err;

        assert_int_equal(rig_get(r, BUCKET), 200);
        if (file_set_of_source(&r->arena, bytes_kept(r, w, rig_string(r, "status.artifact.path")), &files,
                               &err) < 0)
                fail_msg("%s", err.text);
        return files;
}
