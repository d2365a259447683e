#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/base/memory.h"
#include "common/net/http_server.h"
#include "hub-agent/transfer/transfer.h"

#define WALL INT64_C(1767225600000) /* 2026-01-01 */

/* What a host answers at a path. */
struct page {
        const char *host, *path;
        int status;
        const char *location, *body;
};

static const struct page pages[] = {
        { "a.example", "/index.yaml", 200, NULL, "apiVersion: v1\n" },
        { "a.example", "/moved", 302, "https://a.example:443/index.yaml", "" },
        { "a.example", "/away", 307, "https://b.example/there", "moved" },
        { "a.example", "/down", 301, "http://a.example/index.yaml", "" },
        { "a.example", "/round", 302, "round", "" },
        { "a.example", "/strange", 302, "ftp://a.example/x", "" },
        { "a.example", "/gone", 404, NULL, "a page that says so" },
        { "b.example", "/there", 200, NULL, "from b" },
        { 0 },
};

struct rig;
struct host {
        struct rig *rig;
        const char *name;
};

struct rig {
        struct loop *loop;
        struct loopback *net;
        struct world world;
        struct arena arena;
        struct transfer transfer;
        struct host hosts[2];
        struct buf asked, body; /* "path (authorization)" lines; what the sink got */
        int writes_left;        /* of the sink, before it fails */
        void (*play)(struct rig *r);
};

static void answer(void *ctx, struct http_exchange *x)
{
        const struct host *h = ctx;
        const char *secret = http_header_get(&x->headers, "Authorization"),
                   *known = http_header_get(&x->headers, "If-None-Match");

        buf_printf(&h->rig->asked, "%s%s%s%s%s%.*s\n", h->name, x->path, secret ? " " : "", or_empty(secret),
                   x->body.len ? " " : "", (int)x->body.len, x->body.data);
        for (const struct page *p = pages; p->host; p++) {
                struct http_header location = { "Location", p->location };
                struct http_headers extra = { &location, p->location != NULL };

                if (!text_equal(p->host, h->name) || !text_equal(p->path, x->path))
                        continue;
                if (known)
                        http_reply(x, 304, NULL, SLICE(""), NULL);
                else
                        http_reply(x, p->status, "text/plain", slice_of(p->body), &extra);
                return;
        }
        http_reply(x, 500, "text/plain", SLICE("no such page"), NULL);
}

static int take(void *ctx, const void *data, size_t n, struct error *err)
{
        struct rig *r = ctx;

        if (r->writes_left-- == 0)
                return error_set(err, ERR_SYSTEM, "the disk is full");
        return buf_append(&r->body, data, n);
}

static void play_in_fiber(void *ctx)
{
        struct rig *r = ctx;

        r->play(r);
        http_transport_free(r->world.transport);
        r->net = loopback_free(r->net);
}

static void with_hosts(void (*play)(struct rig *r))
{
        struct rig r = { .play = play, .writes_left = 1000 };
        size_t before = mem_live_count();
        struct error err;

        r.loop = loop_new_simulated(1, WALL, &err);
        r.world.loop = r.loop;
        r.net = loopback_new(r.loop);
        r.world.transport = loopback_transport(r.net, &r.world, NULL);
        r.hosts[0] = (struct host){ &r, "a.example" };
        r.hosts[1] = (struct host){ &r, "b.example" };
        for (size_t i = 0; i < ARRAY_LEN(r.hosts); i++)
                assert_int_equal(loopback_listen(r.net, r.hosts[i].name, answer, &r.hosts[i]), 0);
        assert_int_equal(loopback_listen(r.net, "a.example:443", answer, &r.hosts[0]), 0);
        buf_init(&r.asked, 1 << 16);
        buf_init(&r.body, 1 << 16);
        r.transfer = (struct transfer){ .world = &r.world, .arena = &r.arena, .deadline_ms = 60000 };
        struct fiber_group *group = fiber_group_new(r.loop, NULL, "test");

        assert_non_null(fiber_spawn(group, "play", play_in_fiber, &r));
        assert_int_equal(loop_run(r.loop, &err), 0);
        fiber_group_end(group);
        loop_free(r.loop);
        buf_free(&r.asked);
        buf_free(&r.body);
        arena_free(&r.arena);
        assert_int_equal(mem_live_count(), before);
}

static struct transfer_call call_of(const char *url)
{
        return (struct transfer_call){ .url = url, .secret = { "Authorization", "Basic eA==" } };
}

static int fetch(struct rig *r, const char *url, struct http_response *ret, struct error *err)
{
        struct transfer_call c = call_of(url);
        const struct transfer_sink sink = { take, r };

        buf_clear(&r->asked);
        buf_clear(&r->body);
        *ret = (struct http_response){ 0 };
        error_clear(err);
        return transfer_fetch(&r->transfer, &c, &sink, ret, err);
}

/* ---- stories ---- */

static void fetch_from_origins(struct rig *r)
{
        struct http_response a;
        struct error err;

        assert_int_equal(fetch(r, "https://a.example/moved", &a, &err), 0);
        assert_int_equal(a.status, 200);
        assert_string_equal(r->body.data, "apiVersion: v1\n");
        assert_string_equal(r->asked.data, "a.example/moved Basic eA==\na.example/index.yaml Basic eA==\n");

        assert_int_equal(fetch(r, "https://a.example/away", &a, &err), 0);
        assert_string_equal(r->body.data, "from b"); /* and nothing of the redirect's own */
        assert_string_equal(r->asked.data, "a.example/away Basic eA==\nb.example/there\n");
}

/* spec/helm-chart.md checklist 69 */
static void credentials_stay_at_their_origin(void **state)
{
        with_hosts(fetch_from_origins);
}

static void fetch_signed(struct rig *r)
{
        static const struct http_aws_key key = { "AK", "secret", "eu-west-1", "s3" };
        struct transfer_call c = { .url = "https://a.example/away", .aws_key = &key };
        const struct transfer_sink sink = { take, r };
        struct http_response a;

        assert_int_equal(transfer_fetch(&r->transfer, &c, &sink, &a, NULL), 0);
        assert_string_equal(r->body.data, "from b");
        assert_true(text_starts_with(
                r->asked.data, "a.example/away AWS4-HMAC-SHA256 Credential=AK/eu-west-1/s3, Signature="));
        assert_string_equal(strchr(r->asked.data, '\n'), "\nb.example/there\n");
        assert_null(strstr(r->asked.data, "secret"));
}

/* spec/helm-chart.md checklist 69 */
static void what_is_asked_elsewhere_is_not_signed(void **state)
{
        with_hosts(fetch_signed);
}

static void fetch_what_is_refused(struct rig *r)
{
        static const struct {
                const char *url, *words;
        } cases[] = {
                { "https://a.example/down", "https://a.example/down: redirected from https to http" },
                { "https://a.example/round", "https://a.example/round: more than 10 redirects" },
                { "https://a.example/strange", "https://a.example/strange: redirected to what is no URL" },
                { "file:///etc/passwd", "not an URL of http or https" },
        };
        struct http_response a;
        struct error err;

        for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
                assert_int_equal(fetch(r, cases[i].url, &a, &err), ERR_INVALID);
                assert_string_equal(err.text, cases[i].words);
                assert_int_equal(r->body.len, 0);
        }
}

static void redirects_have_their_bounds(void **state)
{
        with_hosts(fetch_what_is_refused);
}

static void fetch_too_much(struct rig *r)
{
        struct transfer_call c = call_of("https://a.example/index.yaml");
        const struct transfer_sink sink = { take, r };
        struct http_response a;
        struct error err = { 0 };

        c.max_body = strlen("apiVersion: v1\n");
        assert_int_equal(transfer_fetch(&r->transfer, &c, &sink, &a, &err), 0);
        assert_int_equal(transfer_ask(&r->transfer, &c, &a, &err), 0);
        c.max_body--;
        assert_int_equal(transfer_fetch(&r->transfer, &c, &sink, &a, &err), ERR_LIMIT);
        assert_string_equal(err.text, "response body exceeds the maximum allowed size of 14 bytes");
        error_clear(&err);
        assert_int_equal(transfer_ask(&r->transfer, &c, &a, &err), ERR_LIMIT);
        assert_string_equal(err.text, "response body exceeds the maximum allowed size of 14 bytes");
        r->transfer.most_bytes = r->transfer.bytes + 14;
        c.max_body = 0;
        error_clear(&err);
        assert_int_equal(transfer_fetch(&r->transfer, &c, &sink, &a, &err), ERR_LIMIT);
        assert_non_null(strstr(err.text, "all answers together exceed"));
}

/* spec/helm-chart.md checklist 61 */
static void what_is_too_long_is_stopped_while_it_comes(void **state)
{
        with_hosts(fetch_too_much);
}

static void fetch_other_answers(struct rig *r)
{
        struct transfer_call c = call_of("https://a.example/index.yaml");
        const struct transfer_sink sink = { take, r };
        struct http_response a;
        struct error err;

        assert_int_equal(fetch(r, "https://a.example/gone", &a, &err), 0);
        assert_int_equal(a.status, 404);
        assert_int_equal(r->body.len, 0); /* an error's page is not what was asked for */
        c.headers[c.n_headers++] = (struct http_header){ "If-None-Match", "\"x\"" };
        assert_int_equal(transfer_fetch(&r->transfer, &c, &sink, &a, &err), 0);
        assert_int_equal(a.status, 304);
        r->writes_left = 0;
        assert_int_equal(fetch(r, "https://a.example/index.yaml", &a, &err), ERR_SYSTEM);
        assert_string_equal(err.text, "the disk is full");
}

static void only_good_bodies_reach_the_sink(void **state)
{
        with_hosts(fetch_other_answers);
}

static void post_to_what_moved(struct rig *r)
{
        struct web_url at = { 0 };
        struct transfer_call c = call_of("https://a.example/moved");
        const struct transfer_sink sink = { take, r };
        struct http_response a;
        struct error err;

        c.method = "POST";
        c.body = SLICE("want");
        c.ret_at = &at;
        assert_int_equal(transfer_fetch(&r->transfer, &c, &sink, &a, &err), 0);
        assert_string_equal(r->asked.data,
                            "a.example/moved Basic eA== want\na.example/index.yaml Basic eA== want\n");
        assert_string_equal(at.path, "/index.yaml");
        buf_clear(&r->asked);
        c.stays = true;
        assert_int_equal(transfer_fetch(&r->transfer, &c, &sink, &a, &err), 0);
        assert_int_equal(a.status, 302);
        assert_string_equal(r->asked.data, "a.example/moved Basic eA== want\n");
        assert_string_equal(at.path, "/moved");
}

static void bodies_are_sent_and_places_told(void **state)
{
        with_hosts(post_to_what_moved);
}

static void origins_are_equal_by_scheme_host_and_port(void **state)
{
        static const struct {
                const char *a, *b;
                bool same;
        } cases[] = {
                { "https://h/x", "https://H:443/y?z", true },
                { "http://h:80", "http://h", true },
                { "https://h", "http://h", false },
                { "https://h:443", "http://h:443", false },
                { "https://h", "https://h:8443", false },
                { "http://h:443", "http://h", false },
                { "https://h", "https://h.example", false },
                { "https://[::1]:443/", "https://[::1]/", true },
                { "https://[::443]", "https://[:]", false },
                { "https://u:p@h/", "https://h/", true },
                { "https://h.example", "https://h", false },
        };

        for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
                AUTO_ARENA struct arena arena = ARENA_INIT;
                struct web_url a, b;

                assert_int_equal(web_url_parse(cases[i].a, &arena, &a, NULL), 0);
                assert_int_equal(web_url_parse(cases[i].b, &arena, &b, NULL), 0);
                if (web_url_same_origin(&a, &b) != cases[i].same)
                        fail_msg("%s and %s", cases[i].a, cases[i].b);
        }
}

/* spec/helm-chart.md checklist 67 */
static void links_are_seen_from_where_they_stand(void **state)
{
        static const struct {
                const char *link, *url;
        } cases[] = {
                { "app-1.0.0.tgz", "https://h:1/charts/app-1.0.0.tgz" },
                { "files/app.tgz?x=1", "https://h:1/charts/files/app.tgz?x=1" },
                { "/app.tgz", "https://h:1/app.tgz" },
                { "//o/app.tgz", "https://o/app.tgz" },
                { "?page=2", "https://h:1/charts/index.yaml?page=2" },
                { "http://o/app.tgz", "http://o/app.tgz" },
        };
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct web_url base;

        assert_int_equal(web_url_parse("https://u:p@h:1/charts/index.yaml?a=b#c", &arena, &base, NULL), 0);
        for (size_t i = 0; i < ARRAY_LEN(cases); i++)
                assert_string_equal(web_url_resolve(&base, cases[i].link, &arena), cases[i].url);
        assert_string_equal(web_url_public("https://u:p@h:1/charts?token=x", &arena), "https://h:1/charts");
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(credentials_stay_at_their_origin),
                cmocka_unit_test(what_is_asked_elsewhere_is_not_signed),
                cmocka_unit_test(redirects_have_their_bounds),
                cmocka_unit_test(what_is_too_long_is_stopped_while_it_comes),
                cmocka_unit_test(only_good_bodies_reach_the_sink),
                cmocka_unit_test(bodies_are_sent_and_places_told),
                cmocka_unit_test(origins_are_equal_by_scheme_host_and_port),
                cmocka_unit_test(links_are_seen_from_where_they_stand),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
