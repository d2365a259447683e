/* The client, and a server that does all of HTTP/1.1, over sockets on loopback. */
#pragma once

#include "common/base/memory.h"
#include "common/loop/patience_test.h"
#include "common/net/cert.h"
#include "e2e/devcluster/serving/http1_server_test.h"

#define DAY_MS INT64_C(86400000)

struct rig {
        struct loop *loop;
        struct world world;
        struct http1_server *server;
        struct http_endpoint endpoint;
        struct http_transport *client;
        struct arena arena;
        struct fiber_group *group;
        struct tls_identity identity;
        char *ca, *ca_key;
        char *token;
        int served, code, done;
        size_t sent;
        const char *raw; /* what the raw server says */
        void (*body)(struct rig *r);
};

static inline int read_token_file(void *ctx, const char *path, size_t max, char **ret, size_t *ret_len,
                                  struct error *err)
{
        struct rig *r = ctx;
        *ret = mem_strdup(r->token);
        *ret_len = strlen(r->token);
        return 0;
}
static inline uint64_t token_file_stamp(void *ctx, const char *path)
{
        return 1;
}
static const struct world_files files = { .read = read_token_file, .stamp = token_file_stamp };

static inline void body_fiber(void *ctx)
{
        struct rig *r = ctx;
        r->body(r);
        http_transport_free(r->client);
        http1_server_stop(r->server);
        r->done = 1;
}

static inline void run(void (*body)(struct rig *))
{
        struct error err = { 0 };
        struct rig r = { .body = body };
        size_t before = mem_live_count();
        r.loop = loop_new_real(&err);
        assert_non_null(r.loop);
        r.world = (struct world){ .loop = r.loop, .files = &files, .ctx = &r };
        r.client = http_transport_curl(&r.world, &err);
        assert_non_null(r.client);
        r.group = fiber_group_new(r.loop, NULL, "test");
        assert_non_null(fiber_spawn(r.group, "body", body_fiber, &r));
        loop_run(r.loop, &err);
        assert_int_equal(r.done, 1);
        fiber_group_end(r.group);
        loop_free(r.loop);
        arena_free(&r.arena);
        mem_free(r.ca);
        mem_free(r.ca_key);
        tls_identity_free(&r.identity);
        r.endpoint.ca_pem = NULL;
        http_endpoint_free(&r.endpoint);
        assert_int_equal(mem_live_count(), before);
}

/* ---- servers ---- */

static inline void issue(struct rig *r, const struct cert_subject *subject, int64_t at_ms, char **cert,
                         char **key)
{
        struct error err;
        assert_int_equal(cert_issue(r->ca, r->ca_key, subject, true, at_ms, 1, cert, key, &err), 0);
}

static inline void make_identity(struct rig *r, const char *dns, int64_t at_ms)
{
        struct error err;
        struct cert_subject subject = { "server", NULL, (const char *[]){ dns, NULL },
                                        (const char *[]){ "127.0.0.1", NULL } };
        if (strcmp(dns, "other") == 0)
                subject.ip_addresses = NULL;
        if (!r->ca)
                assert_int_equal(cert_self_signed_ca("ca", loop_wall_ms(r->loop) - DAY_MS, 10, &r->ca,
                                                     &r->ca_key, &err),
                                 0);
        issue(r, &subject, at_ms, &r->identity.cert_pem, &r->identity.key_pem);
        r->identity.client_ca_pem = mem_strdup(r->ca);
        r->endpoint.ca_pem = r->ca;
}

static inline void serve(struct rig *r, http_handler_fn handle)
{
        struct error err;
        struct http_server_options o = { .bind = "127.0.0.1", .handle = handle, .ctx = r };
        if (r->identity.cert_pem)
                o.tls = &r->identity;
        assert_int_equal(http1_server_start(&r->world, &o, &r->server, &err), 0);
        mem_free(r->endpoint.base_url);
        r->endpoint.base_url = mem_printf("%s://127.0.0.1:%d/prefix", o.tls ? "https" : "http",
                                          http1_server_port(r->server));
}

static inline struct http_request request(struct rig *r, const char *method, const char *path)
{
        return (struct http_request){ .endpoint = &r->endpoint,
                                      .method = method,
                                      .path = path,
                                      .deadline_ms = loop_now_ms(r->loop) + HANG_MS };
}

static inline int get(struct rig *r, struct http_response *answer, struct error *err)
{
        struct http_request rq = request(r, "GET", "/x?limit=5");
        return http_roundtrip(r->client, &rq, &r->arena, answer, err);
}

static inline void echo(void *ctx, struct http_exchange *x)
{
        struct rig *r = ctx;
        r->served++;
        const char *text = arena_printf(
                x->arena, "%s %s limit=%s body=%s type=%s auth=%s host=%s cn=%s o=%s", x->method, x->path,
                http_query_get(x, "limit"), x->body.data, http_header_get(&x->headers, "content-type"),
                http_header_get(&x->headers, "authorization"), http_header_get(&x->headers, "host"),
                x->peer_common_name, x->peer_organizations ? x->peer_organizations[0] : NULL);
        http_reply(x, 200, "text/plain", slice_of(text), NULL);
}
