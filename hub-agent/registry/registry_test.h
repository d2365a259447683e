/* A registry on the simulated network, for tests: it keeps what it is given, and errs as it is told. */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <strings.h>

#include <cmocka.h>

#include "common/base/digest.h"
#include "common/base/limits.h"
#include "common/base/memory.h"
#include "common/base/vec.h"
#include "common/net/http_server.h"
#include "hub-agent/registry/registry.h"

#define SIM_OCI_MANIFEST "application/vnd.oci.image.manifest.v1+json"
#define SIM_OCI_INDEX "application/vnd.oci.image.index.v1+json"
#define SIM_CHART_LAYER "application/vnd.cncf.helm.chart.content.v1.tar+gzip"

enum sim_login { SIM_OPEN, SIM_BEARER, SIM_BASIC };

struct sim_thing {
        const char *repository, *digest, *media_type; /* media type NULL: a blob */
        struct slice bytes;
};

struct sim_tag {
        const char *repository, *tag, *digest;
};

struct registry_sim {
        struct arena arena;
        struct loopback *net;
        VEC(struct sim_thing) things;
        VEC(struct sim_tag) tags;
        const char *host, *realm_host, *blob_host; /* the last two: NULL = the same one */
        struct buf said;                           /* "GET host/path?query Authorization" lines */

        /* Who may ask. */
        enum sim_login login;
        const char *basic;      /* "Basic ..." that is asked for; NULL = anybody gets a token */
        const char *realm;      /* NULL = https://REALM_HOST/token */
        int tokens, expires_in; /* how many were given; 0 = it does not say how long they last */
        bool forgets_tokens;    /* none that was given is good */

        /* How it errs. */
        int failures, failure_status; /* so many answers are that */
        const char *retry_after;
        size_t page;             /* of tags; 0 = all */
        bool endless_tags;       /* there is always one more page */
        const char *next_link;   /* of tags, whatever it is */
        const char *said_digest; /* in place of Docker-Content-Digest; "" = none is said */
        const char *said_type;   /* in place of Content-Type */
        bool swaps_bytes;        /* of manifests and blobs: they are others */
        int redirects;           /* of blobs, one to the next; -1 = for ever */
        bool knows_referrers;
        void (*asked)(struct registry_sim *s,
                      const char *asks); /* before each answer; NULL = nobody is told */
        void *ctx;
};

/* ---- what it has ---- */

static inline const char *sim_digest(struct registry_sim *s, struct slice bytes)
{
        char hex[SHA256_HEX_SIZE];

        sha256_hex(bytes.data, bytes.len, hex);
        return arena_printf(&s->arena, "sha256:%s", hex);
}

static inline const char *sim_put(struct registry_sim *s, const char *repository, const char *media_type,
                                  struct slice bytes)
{
        const struct sim_thing t = { arena_strdup(&s->arena, repository),
                                     sim_digest(s, bytes),
                                     media_type,
                                     { arena_memdup(&s->arena, bytes.data, bytes.len), bytes.len } };

        assert_int_equal(vec_push(&s->things, t), 0);
        return t.digest;
}

static inline const char *sim_blob(struct registry_sim *s, const char *repository, struct slice bytes)
{
        return sim_put(s, repository, NULL, bytes);
}

/* Moves the tag, if it is there. */
static inline void sim_tag(struct registry_sim *s, const char *repository, const char *tag,
                           const char *digest)
{
        const struct sim_tag t = { arena_strdup(&s->arena, repository), arena_strdup(&s->arena, tag),
                                   digest };

        vec_for_each(&s->tags, one)
                if (text_equal(one->repository, repository) && text_equal(one->tag, tag)) {
                        one->digest = digest;
                        return;
                }
        assert_int_equal(vec_push(&s->tags, t), 0);
}

/* Under the tag, unless it is NULL. */
static inline const char *sim_manifest(struct registry_sim *s, const char *repository, const char *tag,
                                       const char *media_type, const char *text)
{
        const char *digest = sim_put(s, repository, media_type, slice_of(text));

        if (tag)
                sim_tag(s, repository, tag, digest);
        return digest;
}

/* With that type of layer (NULL = the usual one). */
static inline const char *sim_chart(struct registry_sim *s, const char *repository, const char *tag,
                                    const char *layer_type, struct slice archive)
{
        const char *config = sim_blob(s, repository, SLICE("{}")), *layer = sim_blob(s, repository, archive);
        const char *text = arena_printf(
                &s->arena,
                "{\"schemaVersion\":2,\"mediaType\":\"" SIM_OCI_MANIFEST "\",\"config\":{\"mediaType\":"
                "\"" REGISTRY_CHART_CONFIG
                "\",\"digest\":\"%s\",\"size\":2},\"layers\":[{\"mediaType\":\"%s\","
                "\"digest\":\"%s\",\"size\":%zu}]}",
                config, layer_type ? layer_type : SIM_CHART_LAYER, layer, archive.len);

        return sim_manifest(s, repository, tag, SIM_OCI_MANIFEST, text);
}

static inline const struct sim_thing *sim_find(struct registry_sim *s, const char *repository,
                                               const char *reference, bool is_blob)
{
        const char *digest = reference;

        vec_for_each(&s->tags, t)
                if (!is_blob && text_equal(t->repository, repository) && text_equal(t->tag, reference))
                        digest = t->digest;
        vec_for_each(&s->things, t)
                if (text_equal(t->repository, repository) && text_equal(t->digest, digest) &&
                    is_blob == !t->media_type)
                        return t;
        return NULL;
}

/* ---- what it answers ---- */

static inline void sim_refuse(struct http_exchange *x, int status, const char *code, const char *message,
                              const struct http_headers *extra)
{
        const char *body =
                arena_printf(x->arena, "{\"errors\":[{\"code\":\"%s\",\"message\":\"%s\"}]}", code, message);

        http_reply(x, status, "application/json", slice_of(body), extra);
}

static inline bool sim_lets_in(struct registry_sim *s, struct http_exchange *x)
{
        const char *secret = http_header_get(&x->headers, "Authorization"), *wanted = s->basic;
        struct http_header header = { "WWW-Authenticate", "Basic realm=\"sim\"" };
        const struct http_headers extra = { &header, 1 };

        if (s->login == SIM_BEARER)
                wanted = arena_printf(x->arena, "Bearer t%d", s->tokens);
        if (s->login == SIM_OPEN || (!s->forgets_tokens && text_equal(secret, wanted)))
                return true;
        if (s->login == SIM_BEARER)
                header.value = arena_printf(
                        x->arena, "Bearer realm=\"%s\",service=\"sim\"",
                        s->realm ? s->realm : arena_printf(x->arena, "https://%s/token", s->realm_host));
        if (header.value)
                sim_refuse(x, 401, "UNAUTHORIZED", "authentication required", &extra);
        return false;
}

static inline void sim_give_token(struct registry_sim *s, struct http_exchange *x)
{
        const char *lasts = s->expires_in ? arena_printf(x->arena, ",\"expires_in\":%d", s->expires_in) : "";

        if (s->basic && !text_equal(http_header_get(&x->headers, "Authorization"), s->basic)) {
                sim_refuse(x, 401, "UNAUTHORIZED", "incorrect username or password", NULL);
                return;
        }
        s->tokens++;
        http_reply(x, 200, "application/json",
                   slice_of(arena_printf(x->arena, "{\"access_token\":\"t%d\"%s}", s->tokens, lasts)), NULL);
}

static inline void sim_list_tags(struct registry_sim *s, struct http_exchange *x, const char *repository)
{
        const char *last = http_query_get(x, "last");
        size_t begin = last ? strtoul(last, NULL, 10) : 0, n = 0, i = 0;
        struct http_header link = { "Link", s->next_link };
        const struct http_headers extra = { &link, 1 };
        AUTO_BUF struct buf b;

        buf_init(&b, 64 << 20);
        buf_printf(&b, "{\"name\":\"%s\",\"tags\":[", repository);
        vec_for_each(&s->tags, t)
                if (text_equal(t->repository, repository) && i++ >= begin && (!s->page || n < s->page))
                        buf_printf(&b, "%s\"%s\"", n++ ? "," : "", t->tag);
        buf_append_str(&b, "]}");
        if (!s->next_link && ((s->page && begin + n < i) || s->endless_tags))
                link.value = arena_printf(x->arena, "</v2/%s/tags/list?n=1000&last=%zu>; rel=\"next\"",
                                          repository, begin + (s->page ? s->page : 1));
        if (i == 0 && !s->endless_tags)
                sim_refuse(x, 404, "NAME_UNKNOWN", "repository name not known to registry", NULL);
        else
                http_reply(x, 200, "application/json", (struct slice){ b.data, b.len },
                           link.value ? &extra : NULL);
}

static inline void sim_give(struct registry_sim *s, struct http_exchange *x, const struct sim_thing *t)
{
        struct http_header headers[] = { { "Docker-Content-Digest",
                                           s->said_digest ? s->said_digest : t->digest } };
        const struct http_headers extra = { headers, 1 };
        struct slice bytes = t->bytes;

        if (s->swaps_bytes) {
                char *other = arena_memdup(x->arena, bytes.data, bytes.len);

                other[bytes.len - 1] ^= 1;
                bytes.data = other;
        }
        if (text_equal(x->method, "HEAD"))
                bytes = SLICE("");
        http_reply(x, 200,
                   s->said_type    ? s->said_type
                   : t->media_type ? t->media_type
                                   : "application/octet-stream",
                   bytes, text_equal(s->said_digest, "") || !t->media_type ? NULL : &extra);
}

static inline void sim_give_blob(struct registry_sim *s, struct http_exchange *x, const struct sim_thing *t)
{
        struct http_header location = { "Location", NULL };
        const struct http_headers extra = { &location, 1 };
        const char *hop = http_query_get(x, "hop");
        int at = hop ? (int)strtol(hop, NULL, 10) : 0;

        if (s->redirects < 0 || at < s->redirects) {
                location.value = arena_printf(x->arena, "https://%s%s?hop=%d", s->blob_host, x->path, at + 1);
                http_reply(x, 307, NULL, SLICE(""), &extra);
        } else {
                sim_give(s, x, t);
        }
}

static inline void sim_list_referrers(struct registry_sim *s, struct http_exchange *x, const char *repository,
                                      const char *digest)
{
        AUTO_BUF struct buf b;
        size_t n = 0;

        buf_init(&b, 1 << 20);
        buf_append_str(&b, "{\"schemaVersion\":2,\"mediaType\":\"" SIM_OCI_INDEX "\",\"manifests\":[");
        vec_for_each(&s->things, t) {
                AUTO_JSON json_t *doc =
                        t->media_type ? json_loadb(t->bytes.data, t->bytes.len, 0, NULL) : NULL;

                if (text_equal(t->repository, repository) &&
                    text_equal(doc_get_string(doc, "subject.digest"), digest))
                        buf_printf(&b,
                                   "%s{\"mediaType\":\"%s\",\"digest\":\"%s\",\"size\":%zu,\"artifactType\":"
                                   "\"%s\"}",
                                   n++ ? "," : "", t->media_type, t->digest, t->bytes.len,
                                   or_empty(doc_get_string(doc, "artifactType")));
        }
        buf_append_str(&b, "]}");
        http_reply(x, 200, SIM_OCI_INDEX, (struct slice){ b.data, b.len }, NULL);
}

static inline void sim_answer_about(struct registry_sim *s, struct http_exchange *x, const char *repository,
                                    const char *what, const char *reference)
{
        bool is_blob = text_equal(what, "blobs");
        const struct sim_thing *t = sim_find(s, repository, reference, is_blob);

        if (text_equal(what, "tags"))
                sim_list_tags(s, x, repository);
        else if (text_equal(what, "referrers") && s->knows_referrers)
                sim_list_referrers(s, x, repository, reference);
        else if (text_equal(what, "referrers"))
                http_reply(x, 404, "text/plain", SLICE("404 page not found"), NULL);
        else if (!t)
                sim_refuse(x, 404, is_blob ? "BLOB_UNKNOWN" : "MANIFEST_UNKNOWN",
                           is_blob ? "blob unknown to registry" : "manifest unknown", NULL);
        else if (is_blob)
                sim_give_blob(s, x, t);
        else
                sim_give(s, x, t);
}

static inline void sim_note(struct registry_sim *s, struct http_exchange *x, const char *host)
{
        const char *secret = http_header_get(&x->headers, "Authorization");
        const char *asks = arena_printf(x->arena, "%s %s%s%s%s", x->method, host, x->path,
                                        x->query[0] ? "?" : "", x->query);

        buf_printf(&s->said, "%s%s%s\n", asks, secret ? " " : "", or_empty(secret));
        if (s->asked)
                s->asked(s, asks);
}

/* "/v2/<repository>/<what>/<reference>". */
static inline void sim_answer(void *ctx, struct http_exchange *x)
{
        struct registry_sim *s = ctx;
        char *path = arena_strdup(x->arena, x->path), *reference, *what;
        const struct http_header wait = { "Retry-After", s->retry_after };
        const struct http_headers extra = { (struct http_header *)(uintptr_t)&wait, 1 };

        sim_note(s, x, s->host);
        if (!path)
                return; /* no memory: the client hears 500 */
        if (s->failures > 0) {
                s->failures--;
                sim_refuse(x, s->failure_status, "TOOMANYREQUESTS", "later", s->retry_after ? &extra : NULL);
                return;
        }
        if (text_equal(path, "/token")) {
                sim_give_token(s, x);
                return;
        }
        if (!sim_lets_in(s, x))
                return;
        reference = strrchr(path, '/');
        *reference++ = 0;
        what = strrchr(path, '/');
        *what++ = 0;
        sim_answer_about(s, x, path + strlen("/v2/"), what,
                         http_unescape(x->arena, slice_of(reference), false));
}

/* The other hosts of it: tokens, and blobs that were moved, which nobody may be asked for with credentials.
 */
static inline void sim_answer_beside(void *ctx, struct http_exchange *x)
{
        struct registry_sim *s = ctx;
        const char *reference = strrchr(x->path, '/') + 1;
        const struct sim_thing *found = NULL;

        sim_note(s, x, text_equal(x->path, "/token") ? s->realm_host : s->blob_host);
        if (text_equal(x->path, "/token")) {
                sim_give_token(s, x);
                return;
        }
        vec_for_each(&s->things, t)
                if (text_equal(t->digest, reference) && !t->media_type)
                        found = t;
        assert_non_null(found);
        sim_give_blob(s, x, found);
}

/* ---- life ---- */

/* realm_host and blob_host may be NULL. */
static inline void sim_begin(struct registry_sim *s, struct loopback *net, const char *host,
                             const char *realm_host, const char *blob_host)
{
        *s = (struct registry_sim){ .net = net,
                                    .host = host,
                                    .realm_host = realm_host ? realm_host : host,
                                    .blob_host = blob_host ? blob_host : host };
        buf_init(&s->said, 16 << 20);
        assert_int_equal(loopback_listen(net, host, sim_answer, s), 0);
        if (realm_host)
                assert_int_equal(loopback_listen(net, realm_host, sim_answer_beside, s), 0);
        if (blob_host)
                assert_int_equal(loopback_listen(net, blob_host, sim_answer_beside, s), 0);
}

static inline void sim_end(struct registry_sim *s)
{
        const char *const hosts[] = { s->host, s->realm_host, s->blob_host };

        for (size_t i = 0; i < ARRAY_LEN(hosts); i++)
                (void)!loopback_listen(s->net, hosts[i], NULL, NULL);
        vec_free(&s->things);
        vec_free(&s->tags);
        buf_free(&s->said);
        arena_free(&s->arena);
}

static inline size_t sim_times(const struct registry_sim *s, const char *words)
{
        size_t n = 0;

        for (const char *at = s->said.data; (at = strstr(at, words)); at++)
                n++;
        return n;
}
