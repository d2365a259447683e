/* /openapi/v2, /openapi/v3 and /openapi/v3/{api/v1,apis/GROUP/VERSION}: finding the document and the form the
 * client wants. Documents carry a strong ETag; v3 URLs carry the same hash and may be kept for ever. */
#include "e2e/devcluster/openapi.h"

#include "common/base/limits.h"
#include "e2e/devcluster/discovery.h"
#include "e2e/devcluster/rest_read.h"

static const char proto_v2[] = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf";

/* Whether the client has this very document (If-None-Match, weak or strong, or "*"). */
static bool client_has(struct request *rq, const char *key)
{
        const char *given = http_header_get(&rq->x->headers, "If-None-Match");
        return given && (strcmp(given, "*") == 0 || strstr(given, key));
}

static int reply_document(struct request *rq, const char *type, const char *key, struct slice body,
                          bool immutable)
{
        bool known = client_has(rq, key);
        const char *tag = arena_printf(rq->arena, "\"%s\"", key);
        if (!tag)
                return request_fail_memory(rq);
        struct http_header at[] = {
                { "Etag", tag },
                { "Vary", "Accept" },
                { "Cache-Control", immutable ? "public, immutable, max-age=31536000" : "no-cache, private" },
        };
        struct http_headers extra = { at, ARRAY_LEN(at) };
        (void)http_reply(rq->x, known ? 304 : 200, type, known ? (struct slice){ "", 0 } : body, &extra);
        return 0;
}

static int reply_form(struct request *rq, enum openapi_form form, const char *group, const char *version,
                      bool immutable)
{
        const char *key = openapi_document_key(rq, form, group, version);
        struct slice body = { "", 0 };
        struct error err = { 0 };
        if (!key)
                return request_fail_memory(rq);
        if (!client_has(rq, key) && openapi_cache_get(rq, form, group, version, key, &body, &err) < 0)
                return request_fail_error(rq, &err);
        return reply_document(rq, form == OPENAPI_V2_PROTO ? proto_v2 : "application/json", key, body,
                              immutable);
}

/* ---- v2 ---- */

/* The first media range we can serve. */
static int negotiate_v2(struct request *rq, enum openapi_form *ret)
{
        struct slice rest = slice_of(http_header_get(&rq->x->headers, "Accept")), range, type;
        if (!slice_trim(rest).len) {
                *ret = OPENAPI_V2;
                return 0;
        }
        while (rest.len) {
                (void)slice_cut(&rest, ',', &range);
                (void)slice_cut(&range, ';', &type);
                type = slice_trim(type);
                *ret = slice_is(type, proto_v2) ||
                                       slice_is(type,
                                                "application/com.github.proto-openapi.spec.v2@v1.0+protobuf")
                               ? OPENAPI_V2_PROTO
                               : OPENAPI_V2;
                if (*ret == OPENAPI_V2_PROTO || slice_is(type, "application/json") || slice_is(type, "*/*") ||
                    slice_is(type, "application/*"))
                        return 0;
        }
        return request_fail(rq, 406, "NotAcceptable",
                            "only the following media types are accepted: application/json, %s", proto_v2);
}

static int reply_v2(struct request *rq)
{
        enum openapi_form form;
        TRY(negotiate_v2(rq, &form));
        return reply_form(rq, form, NULL, NULL, false);
}

/* ---- v3 ---- */

static int write_entry(struct request *rq, struct buf *b, const char *group, const char *version)
{
        const char *key = openapi_document_key(rq, OPENAPI_V3, group, version);
        const char *path = *group ? arena_printf(rq->arena, "apis/%s/%s", group, version)
                                  : arena_printf(rq->arena, "api/%s", version);
        if (!key || !path)
                return request_fail_memory(rq);
        out_key(b, path);
        out_open(b, '{');
        out_key(b, "serverRelativeURL");
        (void)buf_printf(b, "\"/openapi/v3/%s?hash=%s\"", path, key);
        out_close(b, '}');
        return 0;
}

/* URLs begin at /openapi, not at /clusters/NAME: clients put the prefix of their server's URL before them. */
static int reply_index(struct request *rq)
{
        struct api_group *groups;
        size_t n;
        AUTO_BUF struct buf b;
        buf_init(&b, LIMIT_RESPONSE_BYTES);
        if (registry_groups(rq->cluster, rq->arena, &groups, &n) < 0)
                return request_fail_memory(rq);
        (void)buf_append_str(&b, "{\"paths\":{");
        for (size_t i = 0; i < n; i++)
                for (size_t k = 0; k < groups[i].n_versions; k++)
                        TRY(write_entry(rq, &b, groups[i].name, groups[i].versions[k]));
        (void)buf_append_str(&b, "}}");
        if (buf_status(&b, NULL, "OpenAPI index") < 0)
                return request_fail_memory(rq);
        return reply_plain(rq, 200, (struct slice){ b.data, b.len }); /* JSON, but it is not called so */
}

static bool is_served(struct request *rq, const char *group, const char *version)
{
        const struct resource *const *all;
        size_t n;
        if (registry_all(rq->cluster, rq->arena, &all, &n) < 0)
                return false;
        for (size_t i = 0; i < n; i++)
                if (strcmp(all[i]->group, group) == 0 && resource_find_version(all[i], version))
                        return true;
        return false;
}

static int reply_v3(struct request *rq, const char *const *s, size_t n)
{
        const char *group, *version;
        if (n == 2 && strcmp(s[0], "api") == 0) {
                group = "";
                version = s[1];
        } else if (n == 3 && strcmp(s[0], "apis") == 0) {
                group = s[1];
                version = s[2];
        } else {
                return request_fail_no_path(rq);
        }
        if (!is_served(rq, group, version)) {
                struct http_header header = { "Cache-Control", "no-cache, private" };
                struct http_headers extra = { &header, 1 };
                (void)http_reply(rq->x, 404, NULL, (struct slice){ "", 0 }, &extra);
                return 0;
        }
        /* A hash from before a change of a CRD gets the new document, but not for ever. */
        const char *key = openapi_document_key(rq, OPENAPI_V3, group, version);
        const char *hash = http_query_get(rq->x, "hash");
        return reply_form(rq, OPENAPI_V3, group, version, key && text_equal(hash, key));
}

int openapi_handle(struct request *rq, const char *const *segments, size_t n)
{
        if (strcmp(rq->x->method, "GET") != 0 && strcmp(rq->x->method, "HEAD") != 0)
                return request_fail_method(rq, rq->x->method);
        if (n == 2 && strcmp(segments[1], "v2") == 0)
                return reply_v2(rq);
        if (n == 2 && strcmp(segments[1], "v3") == 0)
                return reply_index(rq);
        if (n > 2 && strcmp(segments[1], "v3") == 0)
                return reply_v3(rq, segments + 2, n - 2);
        return request_fail_no_path(rq);
}
