/* The file server, asked over the loopback network. */
#include "hub-agent/source/store/serve.h"

#include "common/base/memory.h"
#include "hub-agent/source/store/range.h"
#include "hub-agent/source/store/store_test.h"

struct client {
        struct scene *s;
        struct loopback *net;
        struct http_transport *transport;
        struct http_endpoint endpoint;
        struct http_response last;
};

static void open_client(struct scene *s, struct client *c)
{
        *c = (struct client){ .s = s,
                              .net = loopback_new(s->loop),
                              .endpoint = { .base_url = "https://files" } };
        assert_int_equal(loopback_listen(c->net, "files", artifact_serve, &s->store), 0);
        c->transport = loopback_transport(c->net, &s->world, NULL);
        assert_non_null(c->transport);
}

static void close_client(struct client *c)
{
        http_transport_free(c->transport);
        loopback_free(c->net);
}

static int ask(struct client *c, const char *method, const char *path, const char *header, const char *value)
{
        struct http_header one = { header, value };
        struct http_request rq = { .endpoint = &c->endpoint,
                                   .method = method,
                                   .path = path,
                                   .headers = { &one, header ? 1 : 0 },
                                   .deadline_ms = loop_now_ms(c->s->loop) + 5000 };

        assert_int_equal(http_roundtrip(c->transport, &rq, &c->s->arena, &c->last, &c->s->err), 0);
        return c->last.status;
}

static int get(struct client *c, const char *path)
{
        return ask(c, "GET", path, NULL, NULL);
}

static const char *header(struct client *c, const char *name)
{
        return or_empty(http_header_get(&c->last.headers, name));
}

static void assert_body(struct client *c, const char *want)
{
        assert_true(slice_equal(c->last.body, slice_of(want)));
}

#define FILE_PATH "/helmchart/apps/podinfo/podinfo-6.0.3+1.tgz"
#define HELLO_SHA256 "sha256:2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"

static void download(struct scene *s)
{
        struct source_artifact a;
        struct client c;

        open_client(s, &c);
        assert_int_equal(keep(s, "podinfo-6.0.3+1.tgz", "hello", &a), 0);
        assert_int_equal(artifact_link(&s->store, &s->arena, a.path, "latest.tar.gz", NULL), 0);
        assert_int_equal(get(&c, FILE_PATH), 200);
        assert_body(&c, "hello");
        assert_string_equal(header(&c, "Content-Type"), "application/gzip");
        assert_string_equal(header(&c, "Content-Length"), "5");
        assert_string_equal(header(&c, "ETag"), "\"" HELLO_SHA256 "\"");
        assert_string_equal(header(&c, "Last-Modified"), "Thu, 01 Jan 2026 00:00:00 GMT");
        assert_int_equal(get(&c, "/helmchart/apps/podinfo/podinfo-6.0.3%2B1.tgz"), 200);
        /* what the agent's server makes of a plus */
        assert_int_equal(get(&c, "/helmchart/apps/podinfo/podinfo-6.0.3%201.tgz"), 200);
        assert_int_equal(get(&c, "/helmchart/apps/podinfo/podinfo%206.0.3%201.tgz"), 404);
        assert_int_equal(get(&c, "/helmchart/apps/podinfo/latest.tar.gz"), 200);
        assert_body(&c, "hello");
        assert_int_equal(ask(&c, "HEAD", FILE_PATH, NULL, NULL), 200);
        assert_int_equal(c.last.body.len, 0);
        assert_string_equal(header(&c, "Content-Length"), "5");
        assert_int_equal(ask(&c, "GET", FILE_PATH, "If-None-Match", "\"x\", \"" HELLO_SHA256 "\""), 304);
        assert_int_equal(ask(&c, "GET", FILE_PATH, "If-None-Match", "\"x\""), 200);
        close_client(&c);
}

/* spec/helm-chart.md checklist 6, 26 */
static void files_are_downloaded_whole(void **state)
{
        in_scene(download);
}

static void download_parts(struct scene *s)
{
        struct source_artifact a;
        struct client c;

        open_client(s, &c);
        assert_int_equal(keep(s, "podinfo-6.0.3+1.tgz", "hello", &a), 0);
        assert_int_equal(ask(&c, "GET", FILE_PATH, "Range", "bytes=1-3"), 206);
        assert_body(&c, "ell");
        assert_string_equal(header(&c, "Content-Range"), "bytes 1-3/5");
        assert_string_equal(header(&c, "Content-Length"), "3");
        assert_int_equal(ask(&c, "GET", FILE_PATH, "Range", "bytes=-2"), 206);
        assert_body(&c, "lo");
        assert_int_equal(ask(&c, "GET", FILE_PATH, "Range", "bytes=5-"), 416);
        assert_string_equal(header(&c, "Content-Range"), "bytes */5");
        assert_int_equal(ask(&c, "GET", FILE_PATH, "Range", "bytes=0-1,3-4"), 200);
        close_client(&c);
}

/* spec/helm-chart.md checklist 26 */
static void parts_are_downloaded(void **state)
{
        in_scene(download_parts);
}

static void look_elsewhere(struct scene *s)
{
        static const char *const nowhere[] = {
                "/",
                "/helmchart",
                "/helmchart/",
                "/helmchart/apps/podinfo",
                "/helmchart/apps/podinfo/",
                "/helmchart/apps/podinfo/no.tgz",
                "/helmchart/apps/podinfo/../podinfo/a.tgz",
                "/helmchart/apps/podinfo/%2e%2e/podinfo/a.tgz",
                "/helmchart//apps/podinfo/a.tgz",
                "/helmchart/apps/podinfo/a.tgz.lock",
                "/helmchart/apps/podinfo/a.tmp",
                "/helmchart/apps/podinfo/.hidden",
                "/helmchart/apps/podinfo/" VOLUME_TEMPORARY "1",
                "/helmchart/apps/podinfo/a%00.tgz",
                "/helmchart/apps/podinfo/a%2",
                "/helmchart/apps/podinfo/folder-link",
                "/helmchart/apps/podinfo/hidden-link",
                "/helmchart/apps/podinfo/dead-link",
        };
        static const char *const made[] = { "a.tgz",   "a.tgz.lock",         "a.tmp",
                                            ".hidden", VOLUME_TEMPORARY "1", "sub/b.tgz" };
        struct source_artifact a;
        struct client c;

        open_client(s, &c);
        for (size_t i = 0; i < ARRAY_LEN(made); i++)
                assert_int_equal(keep(s, made[i], "x", &a), 0);
        assert_int_equal(
                artifact_link(&s->store, &s->arena, "helmchart/apps/podinfo/sub", "folder-link", NULL), 0);
        assert_int_equal(
                artifact_link(&s->store, &s->arena, "helmchart/apps/podinfo/.hidden", "hidden-link", NULL),
                0);
        assert_int_equal(
                artifact_link(&s->store, &s->arena, "helmchart/apps/podinfo/none", "dead-link", NULL), 0);
        assert_int_equal(get(&c, "/helmchart/apps/podinfo/a.tgz"), 200);
        for (size_t i = 0; i < ARRAY_LEN(nowhere); i++)
                if (get(&c, nowhere[i]) != 404)
                        fail_msg("%s: %d", nowhere[i], c.last.status);
        assert_int_equal(ask(&c, "POST", "/helmchart/apps/podinfo/a.tgz", NULL, NULL), 405);
        assert_string_equal(header(&c, "Allow"), "GET, HEAD");
        assert_int_equal(ask(&c, "DELETE", "/helmchart/apps/podinfo/a.tgz", NULL, NULL), 405);
        close_client(&c);
}

/* spec/helm-chart.md checklist 26 */
static void nothing_but_whole_files_is_shown(void **state)
{
        in_scene(look_elsewhere);
}

static void ask_a_replica(struct scene *s)
{
        struct source_artifact a;
        struct client c;

        open_client(s, &c);
        assert_int_equal(keep(s, "a.tgz", "x", &a), 0);
        s->store.serving = false;
        assert_int_equal(get(&c, "/helmchart/apps/podinfo/a.tgz"), 503);
        assert_string_equal(header(&c, "Retry-After"), "5");
        close_client(&c);
}

static void who_does_not_lead_says_so(void **state)
{
        in_scene(ask_a_replica);
}

#define LARGE (700u << 10)

static void remove_meanwhile(void *ctx)
{
        struct scene *s = ctx;

        assert_int_equal(volume_remove(s->store.volume, "helmchart/apps/podinfo/large.tgz", NULL), 0);
}

static void collect_meanwhile(struct scene *s)
{
        AUTO_FREE char *text = mem_must(mem_alloc(LARGE + 1));
        struct fiber_group *others = fiber_group_new(s->loop, NULL, "others");
        struct source_artifact a;
        struct client c;

        memset(text, 'x', LARGE);
        text[LARGE] = '\0';
        open_client(s, &c);
        assert_int_equal(keep(s, "large.tgz", text, &a), 0);
        struct http_stream *stream;
        struct http_request rq = { .endpoint = &c.endpoint,
                                   .method = "GET",
                                   .path = "/helmchart/apps/podinfo/large.tgz",
                                   .deadline_ms = loop_now_ms(s->loop) + 5000 };
        struct slice piece;
        size_t got = 0;
        int code;

        assert_int_equal(http_stream_open(c.transport, &rq, &stream, NULL), 0);
        assert_non_null(fiber_spawn(others, "remover", remove_meanwhile, s));
        while ((code = http_stream_read(stream, loop_now_ms(s->loop) + 5000, &piece, NULL)) == 0)
                got += piece.len;
        assert_int_equal(code, ERR_CLOSED);
        assert_int_equal(got, LARGE);
        http_stream_close(stream);
        fiber_group_end(others);
        assert_int_equal(get(&c, "/helmchart/apps/podinfo/large.tgz"), 404);
        close_client(&c);
}

static void a_download_under_way_survives_a_collection(void **state)
{
        in_scene(collect_meanwhile);
}

static void ranges_are_read_as_they_are_meant(void **state)
{
        static const struct {
                const char *header;
                uint64_t size;
                enum range_answer answer;
                uint64_t first, n;
        } rows[] = {
                { NULL, 10, RANGE_WHOLE, 0, 0 },
                { "bytes=0-0", 10, RANGE_PART, 0, 1 },
                { "bytes=2-", 10, RANGE_PART, 2, 8 },
                { "bytes=2-99", 10, RANGE_PART, 2, 8 },
                { "bytes=9-9", 10, RANGE_PART, 9, 1 },
                { "bytes=10-", 10, RANGE_OUTSIDE, 0, 0 },
                { "bytes=-3", 10, RANGE_PART, 7, 3 },
                { "bytes=-30", 10, RANGE_PART, 0, 10 },
                { "bytes=-0", 10, RANGE_OUTSIDE, 0, 0 },
                { "bytes=0-", 0, RANGE_OUTSIDE, 0, 0 },
                { "bytes=-1", 0, RANGE_OUTSIDE, 0, 0 },
                { "bytes=3-2", 10, RANGE_WHOLE, 0, 0 },
                { "bytes=-", 10, RANGE_WHOLE, 0, 0 },
                { "bytes=a-b", 10, RANGE_WHOLE, 0, 0 },
                { "bytes=1", 10, RANGE_WHOLE, 0, 0 },
                { "lines=1-2", 10, RANGE_WHOLE, 0, 0 },
                { "bytes=1-2, 4-5", 10, RANGE_WHOLE, 0, 0 },
                { "bytes=99999999999999999999999-", 10, RANGE_WHOLE, 0, 0 },
        };
        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
                struct byte_range part = { 0, 0 };

                if (range_of(rows[i].header, rows[i].size, &part) != rows[i].answer)
                        fail_msg("%s of %d", rows[i].header, (int)rows[i].size);
                if (rows[i].answer != RANGE_PART)
                        continue;
                assert_int_equal(part.first, rows[i].first);
                assert_int_equal(part.n, rows[i].n);
        }
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(files_are_downloaded_whole),
                cmocka_unit_test(parts_are_downloaded),
                cmocka_unit_test(nothing_but_whole_files_is_shown),
                cmocka_unit_test(who_does_not_lead_says_so),
                cmocka_unit_test(a_download_under_way_survives_a_collection),
                cmocka_unit_test(ranges_are_read_as_they_are_meant),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
