/* Manifests, blobs, and what refers to them: spec/helm-chart.md 9.2, 11. */
#include "common/json/doc_test.h"
#include "hub-agent/registry/client_test.h"

#define MANIFEST "https://reg.example/v2/team/app/manifests/"

static const char *put_chart(struct client *c, const char *tag)
{
        return sim_chart(&c->sim, REPOSITORY, tag, NULL, SLICE("an archive"));
}

static int get(struct client *c, const char *reference, enum registry_pick pick,
               struct registry_manifest *ret)
{
        return registry_manifest(&c->registry, reference, pick, ret, &c->err);
}

static const char *put_index(struct client *c, const char *tag, const char *entries)
{
        return sim_manifest(
                &c->sim, REPOSITORY, tag, SIM_OCI_INDEX,
                arena_printf(&c->arena, "{\"mediaType\":\"" SIM_OCI_INDEX "\",\"manifests\":[%s]}", entries));
}

static const char *entry(struct client *c, const char *digest, const char *more)
{
        return arena_printf(&c->arena,
                            "{\"mediaType\":\"" SIM_OCI_MANIFEST "\",\"digest\":\"%s\",\"size\":1%s}", digest,
                            more);
}

CLIENT_TEST(a_manifest_comes_with_its_digest_and_type, {
        const char *digest = put_chart(c, "1.0.0_b1");
        struct registry_manifest m;
        const char *resolved;

        works(c, get(c, "1.0.0+b1", REGISTRY_ONE_CHART, &m));
        assert_string_equal(m.digest, digest);
        assert_string_equal(m.asked, digest);
        assert_string_equal(m.media_type, SIM_OCI_MANIFEST);
        assert_string_equal(doc_get_string(m.doc, "config.mediaType"), REGISTRY_CHART_CONFIG);
        works(c, get(c, digest, REGISTRY_ONE_CHART, &m));
        works(c, registry_resolve(&c->registry, "1.0.0+b1", &resolved, &c->err));
        assert_string_equal(resolved, digest);
        c->sim.said_digest = "";
        works(c, registry_resolve(&c->registry, "1.0.0+b1", &resolved, &c->err));
        assert_string_equal(resolved, digest);
        fails(c, registry_resolve(&c->registry, "2.0.0", &resolved, &c->err), ERR_NOT_FOUND,
              "GET \"" MANIFEST "2.0.0\": response status code 404: manifest unknown: manifest unknown");
        fails(c, get(c, "2.0.0", REGISTRY_ONE_CHART, &m), ERR_NOT_FOUND,
              "GET \"" MANIFEST "2.0.0\": response status code 404: manifest unknown: manifest unknown");
})

/* spec/helm-chart.md checklist 78 */
CLIENT_TEST(a_manifest_is_what_was_asked_for, {
        static const char other[] = "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        const char *digest = put_chart(c, "1.0.0"), *resolved;
        struct registry_manifest m;

        c->sim.said_digest = other;
        assert_int_equal(get(c, "1.0.0", REGISTRY_AS_IT_IS, &m), ERR_INVALID);
        assert_non_null(strstr(c->err.text, "its registry says sha256:ba78"));
        c->sim.said_digest = "";
        c->sim.swaps_bytes = true;
        assert_int_equal(get(c, digest, REGISTRY_AS_IT_IS, &m), ERR_INVALID);
        assert_non_null(strstr(c->err.text, "asked for was sha256:"));
        c->sim.swaps_bytes = false;
        error_clear(&c->err);
        fails(c, get(c, "sha256:../../other", REGISTRY_AS_IT_IS, &m), ERR_INVALID,
              "'sha256:../../other' is no digest by SHA-256");
        works(c, registry_resolve(&c->registry, "1.0.0", &resolved, &c->err));
        assert_string_equal(resolved, digest);
})

CLIENT_TEST(what_is_no_manifest_is_refused, {
        static const struct {
                const char *type, *text, *words;
        } cases[] = {
                { SIM_OCI_MANIFEST, "[]", "the manifest of 't' is no object" },
                { "text/html", "{}", " is no manifest: its media type is 'text/html'" },
                { SIM_OCI_MANIFEST, "{\"mediaType\":\"x/y\"}", " is no manifest: its media type is 'x/y'" },
                { SIM_OCI_INDEX, "{\"manifests\":[],\"layers\":[]}", " is a manifest and an index at once" },
                { SIM_OCI_INDEX, "{\"config\":{}}",
                  " is no manifest: its media type is '" SIM_OCI_INDEX "'" },
        };
        struct registry_manifest m;

        for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
                sim_manifest(&c->sim, REPOSITORY, "t", cases[i].type, cases[i].text);
                assert_int_equal(get(c, "t", REGISTRY_AS_IT_IS, &m), ERR_INVALID);
                if (!strstr(c->err.text, cases[i].words))
                        fail_msg("%s", c->err.text);
        }
        char *huge = arena_alloc(&c->arena, REGISTRY_MANIFEST_BYTES + 2);

        memset(huge, ' ', REGISTRY_MANIFEST_BYTES + 1);
        huge[REGISTRY_MANIFEST_BYTES + 1] = 0;
        sim_manifest(&c->sim, REPOSITORY, "t", SIM_OCI_MANIFEST, huge);
        fails(c, get(c, "t", REGISTRY_AS_IT_IS, &m), ERR_LIMIT,
              "the manifest of 't': response body exceeds the maximum allowed size of 4194304 bytes");
})

CLIENT_TEST(an_index_leads_to_its_one_chart, {
        const char *chart = put_chart(c, NULL);
        const char *other = sim_manifest(&c->sim, REPOSITORY, NULL, SIM_OCI_MANIFEST,
                                         "{\"config\":{\"mediaType\":\"a/b\"},\"layers\":[]}");
        const char *index =
                put_index(c, "t", arena_printf(&c->arena, "%s,%s", entry(c, other, ""), entry(c, chart, "")));
        struct registry_manifest m;

        works(c, get(c, "t", REGISTRY_ONE_CHART, &m));
        assert_string_equal(m.digest, chart);
        assert_string_equal(m.asked, index);
        works(c, get(c, "t", REGISTRY_AS_IT_IS, &m));
        assert_string_equal(m.digest, index);
        put_index(c, "t",
                  entry(c, chart, ",\"artifactType\":\"application/vnd.dev.sigstore.bundle.v0.3+json\""));
        assert_int_equal(get(c, "t", REGISTRY_ONE_CHART, &m), ERR_INVALID);
        assert_non_null(strstr(c->err.text, " has no chart"));
        put_index(c, "t", arena_printf(&c->arena, "%s,%s", entry(c, chart, ""), entry(c, chart, "")));
        assert_int_equal(get(c, "t", REGISTRY_ONE_CHART, &m), ERR_INVALID);
        assert_non_null(strstr(c->err.text, " has several charts"));
        AUTO_BUF struct buf many;

        buf_init(&many, 1 << 16);
        for (int i = 0; i < 17; i++)
                buf_printf(&many, "%s%s", i ? "," : "", entry(c, other, ""));
        put_index(c, "t", many.data);
        assert_int_equal(get(c, "t", REGISTRY_ONE_CHART, &m), ERR_LIMIT);
        put_index(c, "t", entry(c, "sha512:abc", ""));
        assert_int_equal(get(c, "t", REGISTRY_ONE_CHART, &m), ERR_INVALID);
        put_index(c, "t", "7");
        error_clear(&c->err);
        fails(c, get(c, "t", REGISTRY_ONE_CHART, &m), ERR_INVALID, "a descriptor is no object");
})

CLIENT_TEST(an_index_leads_to_a_platform, {
        const char *image = put_chart(c, NULL);
        struct registry_manifest m;

        put_index(c, "t",
                  arena_printf(
                          &c->arena, "%s,%s",
                          entry(c, "sha256:0", ",\"platform\":{\"os\":\"linux\",\"architecture\":\"arm64\"}"),
                          entry(c, image, ",\"platform\":{\"os\":\"linux\",\"architecture\":\"amd64\"}")));
        works(c, get(c, "t", REGISTRY_LINUX_AMD64, &m));
        assert_string_equal(m.digest, image);
        put_index(c, "t", entry(c, image, ",\"platform\":{\"os\":\"linux\",\"architecture\":\"arm64\"}"));
        assert_int_equal(get(c, "t", REGISTRY_LINUX_AMD64, &m), ERR_INVALID);
        assert_non_null(strstr(c->err.text, " has no manifest for linux/amd64"));
        const char *inner = put_index(c, NULL, entry(c, image, ""));

        put_index(c, "t", entry(c, inner, ",\"platform\":{\"os\":\"linux\",\"architecture\":\"amd64\"}"));
        assert_int_equal(get(c, "t", REGISTRY_LINUX_AMD64, &m), ERR_INVALID);
        assert_non_null(strstr(c->err.text, " is an index in an index"));
})

/* ---- blobs ---- */

static int read_blob(struct client *c, const char *digest, uint64_t size, size_t most, struct slice *ret)
{
        const struct registry_descriptor d = { "a/b", digest, "", size, NULL };

        return registry_blob_read(&c->registry, &d, most, ret, &c->err);
}

/* spec/helm-chart.md checklist 78 */
CLIENT_TEST(a_blob_is_what_its_descriptor_says, {
        const char *digest = sim_blob(&c->sim, REPOSITORY, SLICE("abc"));
        struct slice got;

        works(c, read_blob(c, digest, 3, 3, &got));
        assert_true(slice_is(got, "abc"));
        fails(c, read_blob(c, digest, 3, 2, &got), ERR_LIMIT,
              arena_printf(&c->arena, "blob %s has 3 bytes, 2 are allowed", digest));
        fails(c, read_blob(c, digest, 2, 9, &got), ERR_INVALID,
              arena_printf(&c->arena, "blob %s has not the size of 2 bytes that its manifest says", digest));
        fails(c, read_blob(c, digest, 4, 9, &got), ERR_INVALID,
              arena_printf(&c->arena, "blob %s has not the size of 4 bytes that its manifest says", digest));
        c->sim.swaps_bytes = true;
        assert_int_equal(read_blob(c, digest, 3, 9, &got), ERR_INVALID);
        assert_non_null(strstr(c->err.text, " has digest sha256:"));
        error_clear(&c->err);
        fails(c, read_blob(c, "sha256:../x", 3, 9, &got), ERR_INVALID,
              "'sha256:../x' is no digest by SHA-256");
        c->sim.swaps_bytes = false;
        put_chart(c, "t");
        assert_int_equal(read_blob(c, sim_digest(&c->sim, SLICE("none")), 3, 9, &got), ERR_NOT_FOUND);
        assert_non_null(strstr(c->err.text, ": response status code 404: Not Found"));
})

/* spec/helm-chart.md checklist 78 */
CLIENT_TEST(a_blob_that_was_moved_is_got_without_credentials, {
        const char *digest = sim_blob(&c->sim, REPOSITORY, SLICE("abc"));
        struct slice got;

        c->sim.login = SIM_BASIC;
        c->sim.basic = "Basic YW5uOnB3";
        c->registry.login = (struct docker_login){ "ann", "pw" };
        c->sim.redirects = 2;
        works(c, read_blob(c, digest, 3, 3, &got));
        assert_true(slice_is(got, "abc"));
        assert_int_equal(sim_times(&c->sim, "Basic YW5uOnB3"), 1);
        assert_null(strstr(strstr(c->sim.said.data, "GET blobs.example"), "Basic"));
        c->sim.redirects = -1;
        assert_int_equal(read_blob(c, digest, 3, 3, &got), ERR_INVALID);
        assert_non_null(strstr(c->err.text, "more than 10 redirects"));
})

/* spec/helm-chart.md checklist 81 */
CLIENT_TEST(a_blob_is_tried_again_from_its_beginning, {
        const char *digest = sim_blob(&c->sim, REPOSITORY, SLICE("abc"));
        struct slice got;

        c->sim.failures = 2;
        c->sim.failure_status = 503;
        works(c, read_blob(c, digest, 3, 3, &got));
        assert_true(slice_is(got, "abc"));
})

/* ---- what refers to a manifest ---- */

#define BUNDLE "application/vnd.dev.sigstore.bundle.v0.3+json"

static void refers(struct client *c, const char *digest, const char *type)
{
        sim_manifest(&c->sim, REPOSITORY, NULL, SIM_OCI_MANIFEST,
                     arena_printf(&c->arena, "{\"artifactType\":\"%s\",\"subject\":{\"digest\":\"%s\"}}",
                                  type, digest));
}

CLIENT_TEST(what_refers_to_a_manifest_is_listed, {
        const char *digest = put_chart(c, "1.0.0");
        struct registry_referrers list;

        c->sim.knows_referrers = true;
        works(c, registry_referrers(&c->registry, digest, NULL, &list, &c->err));
        assert_int_equal(list.n, 0);
        for (int i = 0; i < 10; i++)
                refers(c, digest, BUNDLE);
        refers(c, digest, "a/b");
        works(c, registry_referrers(&c->registry, digest, NULL, &list, &c->err));
        assert_int_equal(list.n, 11);
        works(c, registry_referrers(&c->registry, digest, "a/b", &list, &c->err));
        assert_int_equal(list.n, 1);
        assert_string_equal(list.at[0].artifact_type, "a/b");
})

CLIENT_TEST(a_tag_stands_in_where_referrers_are_not_known, {
        const char *digest = put_chart(c, "1.0.0");
        const char *tag = arena_printf(&c->arena, "sha256-%s", digest + strlen("sha256:"));
        struct registry_referrers list;

        works(c, registry_referrers(&c->registry, digest, NULL, &list, &c->err));
        assert_int_equal(list.n, 0);
        put_index(c, tag, entry(c, digest, ",\"artifactType\":\"a/b\",\"annotations\":{\"x\":\"y\"}"));
        works(c, registry_referrers(&c->registry, digest, "a/b", &list, &c->err));
        assert_int_equal(list.n, 1);
        assert_string_equal(doc_get_string(list.at[0].annotations, "x"), "y");
        put_chart(c, tag);
        assert_int_equal(registry_referrers(&c->registry, digest, NULL, &list, &c->err), ERR_INVALID);
        assert_non_null(strstr(c->err.text, "' is no index of what refers to the digest"));
})

/* ---- without memory ---- */

#define CHALLENGE "Bearer realm=\"https://auth.example/token\",service=\"s\""
#define ARCHIVE "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"

/* Answers out of literals, so that only the client's allocations fail. */
static int answer(struct http_transport *t, const struct http_request *rq, struct arena *arena,
                  struct http_response *ret, struct error *err)
{
        static const char manifest[] =
                "{\"mediaType\":\"" SIM_OCI_MANIFEST "\",\"config\":{\"mediaType\":\"" REGISTRY_CHART_CONFIG
                "\"},\"layers\":[{\"mediaType\":\"a/b\",\"digest\":\"" ARCHIVE "\",\"size\":3}]}";
        static struct http_header challenge = { "WWW-Authenticate", CHALLENGE },
                                  link = { "Link", "</v2/team/app/tags/list?last=x>; rel=\"next\"" };
        bool known = http_header_get(&rq->headers, "Authorization") != NULL;
        const char *body = strstr(rq->path, "/token")   ? "{\"token\":\"t\"}"
                           : !known                     ? ""
                           : strstr(rq->path, "/tags/") ? "{\"tags\":[\"1.0.0\"]}"
                           : strstr(rq->path, "/referrers/")
                                   ? "{\"manifests\":[{\"mediaType\":\"a/b\",\"digest\":"
                                     "\"" ARCHIVE "\",\"size\":3}]}"
                                   : manifest;

        *ret = (struct http_response){ .status = 200, .body = slice_of(body) };
        if (!known && !strstr(rq->path, "/token"))
                *ret = (struct http_response){ .status = 401, .headers = { &challenge, 1 } };
        else if (strstr(rq->path, "/tags/list?n="))
                ret->headers = (struct http_headers){ &link, 1 };
        return 0;
}

struct canned_stream {
        struct http_stream stream;
        bool read;
};

static int read_canned(struct http_stream *s, int64_t deadline_ms, struct slice *ret, struct error *err)
{
        struct canned_stream *c = container_of(s, struct canned_stream, stream);

        if (c->read)
                return ERR_CLOSED;
        c->read = true;
        *ret = SLICE("abc");
        return 0;
}

static void close_canned(struct http_stream *s)
{
        mem_free(container_of(s, struct canned_stream, stream));
}

static int open_canned(struct http_transport *t, const struct http_request *rq, struct http_stream **ret,
                       struct error *err)
{
        static const struct http_stream_ops ops = { read_canned, close_canned };
        struct canned_stream *c = NEW(struct canned_stream);

        if (!c)
                return error_no_memory(err);
        c->stream.ops = &ops;
        c->stream.status = 200;
        *ret = &c->stream;
        return 0;
}

static int ignore_tag(void *ctx, const char *tag, struct error *err)
{
        return 0;
}

static int ask_for_all(void *world)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        CLEANUP(registry_tokens_free) struct registry_tokens tokens;
        struct transfer t = { .world = world, .arena = &arena, .deadline_ms = 60000 };
        struct registry r = { .transfer = &t, .tokens = &tokens, .login = { "ann", "pw" } };
        const struct registry_tag_sink sink = { ignore_tag, NULL };
        struct registry_descriptor layer;
        struct registry_referrers list;
        struct registry_manifest m;
        struct error err = { 0 };
        const char *digest;
        struct slice bytes;

        registry_tokens_init(&tokens);
        TRY(registry_place_parse("oci://reg.example/team/app", &arena, &r.place, &err));
        TRY(registry_open(&r, &err));
        TRY(registry_tags(&r, 0, &sink, &err));
        TRY(registry_open(&r, &err));
        TRY(registry_resolve(&r, "1.0.0", &digest, &err));
        TRY(registry_manifest(&r, digest, REGISTRY_ONE_CHART, &m, &err));
        TRY(registry_descriptor_read(json_array_get(doc_get_array(m.doc, "layers"), 0), &layer, &err));
        TRY(registry_blob_read(&r, &layer, 100, &bytes, &err));
        TRY(registry_referrers(&r, digest, NULL, &list, &err));
        return slice_is(bytes, "abc") && list.n == 1 ? 0 : ERR_INVALID;
}

/* spec/helm-chart.md checklist 97 */
static void each_allocation_that_fails_is_told(void **state)
{
        static const struct http_transport_ops ops = { .roundtrip = answer, .open = open_canned };
        struct http_transport transport = { .ops = &ops };
        struct world world = { .loop = loop_new_simulated(1, WALL, NULL), .transport = &transport };

        walk_failing_allocations(ask_for_all, &world);
        loop_free(world.loop);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(a_manifest_comes_with_its_digest_and_type),
                cmocka_unit_test(a_manifest_is_what_was_asked_for),
                cmocka_unit_test(what_is_no_manifest_is_refused),
                cmocka_unit_test(an_index_leads_to_its_one_chart),
                cmocka_unit_test(an_index_leads_to_a_platform),
                cmocka_unit_test(a_blob_is_what_its_descriptor_says),
                cmocka_unit_test(a_blob_that_was_moved_is_got_without_credentials),
                cmocka_unit_test(a_blob_is_tried_again_from_its_beginning),
                cmocka_unit_test(what_refers_to_a_manifest_is_listed),
                cmocka_unit_test(a_tag_stands_in_where_referrers_are_not_known),
                cmocka_unit_test(each_allocation_that_fails_is_told),
        };

        mem_hook_libraries();
        return cmocka_run_group_tests(tests, NULL, NULL);
}
