#include "hub-agent/manifest-generation/update/image_scan.h"
#include "hub-agent/manifest-generation/update/plan_test.h"
#include "hub-agent/registry/registry_test.h"

#define HOST "reg.example"
#define WALL INT64_C(1767225600000) /* 2026-01-01 */
#define MINUTE INT64_C(60000)

/* A scan and a registry on the simulated network, and a cluster of objects. */
struct stage {
        struct loop *loop;
        struct loopback *net;
        struct world world;
        struct registry_sim sim;
        struct image_scan_options options;
        struct image_scan *scan;
        struct scene scene;
        json_t *cluster; /* "Secret ns/name": document */
        int finds;
        size_t manifests; /* requests for them */
        void (*play)(struct stage *s);
};

static int find_object(void *ctx, const char *kind, const char *ns, const char *name, struct arena *arena,
                       const json_t **ret, struct error *err)
{
        struct stage *s = ctx;
        const char *key = arena_printf(arena, "%s %s/%s", kind, ns, name);

        s->finds++;
        *ret = json_object_get(s->cluster, key);
        return *ret ? 0 : error_set(err, ERR_NOT_FOUND, "%s not found", key);
}

static void open_scan(struct stage *s)
{
        image_scan_free(s->scan);
        s->scan = image_scan_new(&s->options);
        assert_non_null(s->scan);
}

static void play_in_fiber(void *ctx)
{
        struct stage *s = ctx;

        sim_begin(&s->sim, s->net, HOST, NULL, NULL);
        open_scan(s);
        s->play(s);
        s->scan = image_scan_free(s->scan);
        sim_end(&s->sim);
        http_transport_free(s->world.transport);
        s->net = loopback_free(s->net);
}

static void with_stage(void (*play)(struct stage *s))
{
        struct stage s = { .play = play, .scene = scene_new() };
        struct fiber_group *group;
        struct error err;

        s.cluster = json_object();
        s.loop = loop_new_simulated(1, WALL, &err);
        s.world.loop = s.loop;
        s.net = loopback_new(s.loop);
        s.world.transport = loopback_transport(s.net, &s.world, NULL);
        s.options = (struct image_scan_options){ .world = &s.world, .secrets = { find_object, &s } };
        group = fiber_group_new(s.loop, NULL, "test");
        assert_non_null(fiber_spawn(group, "play", play_in_fiber, &s));
        assert_int_equal(loop_run(s.loop, &err), 0);
        fiber_group_end(group);
        loop_free(s.loop);
        json_decref(s.cluster);
        scene_end(&s.scene);
}

#define SCAN_TEST(name, ...)                                                                                 \
        static void name##_play(struct stage *s) __VA_ARGS__ static void name(void **state)                  \
        {                                                                                                    \
                with_stage(name##_play);                                                                     \
        }

/* ---- what the registry has ---- */

static const char *put_manifest(struct stage *s, const char *repository, const char *tag, const char *config)
{
        const char *digest = sim_blob(&s->sim, repository, slice_of(config));

        return sim_manifest(
                &s->sim, repository, tag, SIM_OCI_MANIFEST,
                arena_printf(&s->scene.arena,
                             "{\"schemaVersion\":2,\"mediaType\":\"" SIM_OCI_MANIFEST
                             "\",\"config\":{\"mediaType\":\"application/vnd.oci.image.config.v1+json\","
                             "\"digest\":\"%s\",\"size\":%zu},\"layers\":[]}",
                             digest, strlen(config)));
}

/* An image that was made on that day of January 2026; 0 = the zero time. */
static const char *put_image(struct stage *s, const char *repository, const char *tag, int day)
{
        const char *created =
                day ? arena_printf(&s->scene.arena, "2026-01-%02dT00:00:00Z", day) : "0001-01-01T00:00:00Z";

        return put_manifest(s, repository, tag,
                            arena_printf(&s->scene.arena,
                                         "{\"architecture\":\"amd64\",\"os\":\"linux\",\"created\":\"%s\"}",
                                         created));
}

/* An index of one image under the tag. */
static void put_index(struct stage *s, const char *repository, const char *tag, const char *architecture,
                      const char *digest)
{
        sim_manifest(&s->sim, repository, tag, SIM_OCI_INDEX,
                     arena_printf(&s->scene.arena,
                                  "{\"schemaVersion\":2,\"mediaType\":\"" SIM_OCI_INDEX "\",\"manifests\":[{"
                                  "\"mediaType\":\"" SIM_OCI_MANIFEST "\",\"digest\":\"%s\",\"size\":300,"
                                  "\"platform\":{\"os\":\"linux\",\"architecture\":\"%s\"}}]}",
                                  digest, architecture));
}

/* ---- asking ---- */

static struct update_object *automated(struct stage *s, const char *name, const char *image,
                                       const char *pattern)
{
        struct arena *a = &s->scene.arena;
        struct update_object *o = scene_workload(
                &s->scene, ORIGIN_RAW, name,
                arena_printf(a, "{'fluxcd.io/automated':'true','fluxcd.io/tag.app':'%s'}", pattern),
                arena_printf(a, "'app':'%s'", image));

        doc_set_string((json_t *)(uintptr_t)o->doc, "metadata.namespace", "shop");
        return o;
}

static struct image_catalog read_catalog(struct stage *s)
{
        static const struct image_filter all;
        struct image_candidates c;
        struct image_catalog catalog;

        assert_int_equal(automation_candidates(&s->scene.arena, &s->scene.all, &all, &c, NULL), 0);
        if (image_scan_ops.read(s->scan, &s->scene.all, &c, &s->scene.arena, &catalog, &s->scene.err) < 0)
                fail_msg("%s", s->scene.err.text);
        return catalog;
}

/* "name: tag@day tag? ...; " of each repository, or "name: !problem". */
static const char *catalog_of(struct stage *s)
{
        struct image_catalog c = read_catalog(s);
        const char *all = "";

        for (size_t i = 0; i < c.n; i++) {
                all = arena_printf(&s->scene.arena, "%s%s:", all, c.at[i].name);
                if (c.at[i].problem)
                        all = arena_printf(&s->scene.arena, "%s !%s", all, c.at[i].problem);
                for (size_t k = 0; k < c.at[i].n; k++) {
                        const struct image_tag *t = &c.at[i].tags[k];

                        all = arena_printf(&s->scene.arena, "%s %s", all, t->tag);
                        if (!t->known)
                                all = arena_printf(&s->scene.arena, "%s?", all);
                        else if (t->created_ms == TIME_NONE)
                                all = arena_printf(&s->scene.arena, "%s@0", all);
                        else
                                all = arena_printf(&s->scene.arena, "%s@%d", all,
                                                   (int)((t->created_ms - WALL) / (24 * 60 * MINUTE)) + 1);
                }
                all = arena_printf(&s->scene.arena, "%s; ", all);
        }
        return all;
}

static void forget_asked(struct stage *s)
{
        buf_clear(&s->sim.said);
}

/* spec/flux-yaml.md checklist 60 */
SCAN_TEST(tags_are_read_with_the_time_of_their_images, {
        put_image(s, "team/app", "1.0", 1);
        put_image(s, "team/app", "1.1", 2);
        put_image(s, "team/app", "zero", 0);
        put_image(s, "team/other", "x", 3);
        put_index(s, "team/app", "1.2", "amd64", put_image(s, "team/app", NULL, 4));
        automated(s, "a", HOST "/team/app:1.0", "glob:*");
        automated(s, "b", HOST "/team/other", "glob:*");
        assert_string_equal(catalog_of(s),
                            HOST "/team/app: 1.0@1 1.1@2 zero@0 1.2@4; " HOST "/team/other: x@3; ");
})

SCAN_TEST(only_tags_that_may_count_are_looked_into, {
        put_image(s, "team/app", "1.0", 1);
        put_image(s, "team/app", "2.0", 2);
        put_image(s, "team/app", "latest", 3);
        put_image(s, "team/app", "test", 3);
        automated(s, "a", HOST "/team/app:1.0", "semver:~2");
        assert_string_equal(catalog_of(s), HOST "/team/app: 1.0@1 2.0@2 latest? test?; ");
        automated(s, "b", HOST "/team/app", "regexp:^t");
        assert_string_equal(catalog_of(s), HOST "/team/app: 1.0@1 2.0@2 latest@3 test@3; ");
})

SCAN_TEST(what_is_no_image_for_the_platform_is_left_out, {
        put_image(s, "team/app", "1.0", 1);
        put_index(s, "team/app", "arm", "arm64", put_image(s, "team/app", NULL, 4));
        sim_manifest(&s->sim, "team/app", "odd", SIM_OCI_MANIFEST, "{\"schemaVersion\":2}");
        put_manifest(s, "team/app", "text", "no JSON");
        put_manifest(s, "team/app", "chart", "{}");
        automated(s, "a", HOST "/team/app:1.0", "glob:*");
        assert_string_equal(catalog_of(s), HOST "/team/app: 1.0@1 chart@0; ");
        forget_asked(s);
        catalog_of(s);
        assert_int_equal(sim_times(&s->sim, "GET "), 1);
})

/* spec/flux-yaml.md checklist 62 */
SCAN_TEST(a_tag_that_is_listed_and_not_there_is_not_known, {
        put_image(s, "team/app", "1.0", 1);
        sim_tag(&s->sim, "team/app", "gone", "sha256:0");
        automated(s, "a", HOST "/team/app:1.0", "glob:*");
        assert_string_equal(catalog_of(s), HOST "/team/app: 1.0@1 gone?; ");
})

SCAN_TEST(what_tags_lead_to_is_kept_and_asked_again_by_and_by, {
        put_image(s, "team/app", "1.0", 1);
        put_image(s, "team/app", "1.1", 2);
        automated(s, "a", HOST "/team/app:1.0", "glob:*");
        catalog_of(s);
        assert_int_equal(sim_times(&s->sim, "/tags/list"), 1);
        assert_int_equal(sim_times(&s->sim, "/manifests/"), 2);
        forget_asked(s);
        assert_string_equal(catalog_of(s), HOST "/team/app: 1.0@1 1.1@2; ");
        assert_int_equal(sim_times(&s->sim, "GET "), 1); /* the list */
        forget_asked(s);
        put_image(s, "team/app", "1.1", 5);
        fiber_sleep(s->loop, 61 * MINUTE);
        assert_string_equal(catalog_of(s), HOST "/team/app: 1.0@1 1.1@5; ");
        assert_int_equal(sim_times(&s->sim, "HEAD "), 2);
        assert_int_equal(sim_times(&s->sim, "GET " HOST "/v2/team/app/manifests/"), 1);
})

SCAN_TEST(what_is_known_outlives_the_process, {
        s->options.volume = volume_new_in_memory(s->loop);
        put_image(s, "team/app", "1.0", 1);
        put_image(s, "team/app", "zero", 0);
        put_index(s, "team/app", "arm", "arm64", put_image(s, "team/app", NULL, 4));
        automated(s, "a", HOST "/team/app:1.0", "glob:*");
        open_scan(s);
        catalog_of(s);
        open_scan(s);
        forget_asked(s);
        assert_string_equal(catalog_of(s), HOST "/team/app: 1.0@1 zero@0; ");
        assert_int_equal(sim_times(&s->sim, "GET "), 1);
        assert_null(image_scan_trouble(s->scan));
        s->scan = image_scan_free(s->scan);
        volume_close(s->options.volume);
        s->options.volume = NULL;
        open_scan(s);
})

static int refuse_create(void *ctx, enum volume_change what, const char *path)
{
        return what == VOLUME_CREATE ? 28 : 0; /* ENOSPC */
}

SCAN_TEST(a_file_that_cannot_be_used_is_told_and_no_failure, {
        struct volume_writer *w;

        s->options.volume = volume_new_in_memory(s->loop);
        assert_int_equal(volume_create(s->options.volume, IMAGE_SCAN_FILE, &w, NULL), 0);
        assert_int_equal(volume_append(w, "{", 1, NULL), 0);
        assert_int_equal(volume_commit(w, NULL), 0);
        put_image(s, "team/app", "1.0", 1);
        automated(s, "a", HOST "/team/app:1.0", "glob:*");
        volume_set_fault(s->options.volume, refuse_create, NULL);
        open_scan(s);
        assert_string_equal(catalog_of(s), HOST "/team/app: 1.0@1; ");
        assert_true(text_starts_with(image_scan_trouble(s->scan), "cannot write images.json: "));
        volume_set_fault(s->options.volume, NULL, NULL);
        catalog_of(s);
        assert_null(image_scan_trouble(s->scan));
        s->scan = image_scan_free(s->scan);
        volume_close(s->options.volume);
        s->options.volume = NULL;
        open_scan(s);
})

SCAN_TEST(tags_that_went_are_forgotten, {
        const char *digest = put_image(s, "team/app", "1.0", 1);

        put_image(s, "team/app", "1.1", 2);
        automated(s, "a", HOST "/team/app:1.0", "glob:*");
        catalog_of(s);
        s->sim.tags.n--;
        assert_string_equal(catalog_of(s), HOST "/team/app: 1.0@1; ");
        sim_tag(&s->sim, "team/app", "1.1", digest);
        assert_string_equal(catalog_of(s), HOST "/team/app: 1.0@1 1.1@1; ");
})

/* ---- who may ask ---- */

static void put_object(struct stage *s, const char *key, json_t *doc)
{
        json_object_set_new(s->cluster, key, doc);
}

/* A docker config with one login. */
static json_t *docker_config(const char *host, const char *username, const char *password)
{
        return json_pack("{s:{s:{s:s,s:s}}}", "auths", host, "username", username, "password", password);
}

static json_t *secret_of(json_t *config)
{
        AUTO_BUF struct buf b;
        json_t *secret;

        buf_init(&b, 10000);
        doc_write(config, &b);
        json_decref(config);
        secret = json_pack("{s:s,s:{s:o}}", "type", "kubernetes.io/dockerconfigjson", "data",
                           ".dockerconfigjson", doc_base64((struct slice){ b.data, b.len }));
        return secret;
}

static void ask_for_login(struct stage *s)
{
        s->sim.login = SIM_BASIC;
        s->sim.basic = "Basic bWU6czNjcjN0"; /* me:s3cr3t */
        put_image(s, "team/app", "1.0", 1);
}

#define READ HOST "/team/app: 1.0@1; "

/* spec/flux-yaml.md checklist 64 */
SCAN_TEST(a_private_registry_is_read_with_the_secrets_of_the_workload, {
        struct update_object *o;

        ask_for_login(s);
        put_object(s, "Secret shop/pull", secret_of(docker_config(HOST, "me", "s3cr3t")));
        o = automated(s, "a", HOST "/team/app:1.0", "glob:*");
        doc_set((json_t *)(uintptr_t)o->doc, "spec.template.spec.imagePullSecrets",
                json_pack("[{s:s},{s:s}]", "name", "missing", "name", "pull"));
        assert_string_equal(catalog_of(s), READ);
        s->finds = 0;
        put_image(s, "team/other", "1.0", 1);
        automated(s, "b", HOST "/team/other:1.0", "glob:*");
        catalog_of(s);
        assert_int_equal(s->finds, 3); /* both Secrets and the service account, once each */
})

/* spec/flux-yaml.md checklist 64 */
SCAN_TEST(a_private_registry_is_read_with_the_secrets_of_the_service_account, {
        struct update_object *o;

        ask_for_login(s);
        put_object(s, "Secret shop/pull", secret_of(docker_config(HOST, "me", "s3cr3t")));
        put_object(s, "ServiceAccount shop/web",
                   json_pack("{s:[{s:s}]}", "imagePullSecrets", "name", "pull"));
        o = automated(s, "a", HOST "/team/app:1.0", "glob:*");
        doc_set_string((json_t *)(uintptr_t)o->doc, "spec.template.spec.serviceAccountName", "web");
        assert_string_equal(catalog_of(s), READ);
})

/* spec/flux-yaml.md checklist 64 */
SCAN_TEST(a_private_registry_is_read_with_the_default_config, {
        AUTO_JSON json_t *config = docker_config(HOST, "me", "s3cr3t");

        ask_for_login(s);
        s->options.docker_config = config;
        s->options.secrets.find = NULL;
        open_scan(s);
        automated(s, "a", HOST "/team/app:1.0", "glob:*");
        assert_string_equal(catalog_of(s), READ);
        s->options.docker_config = NULL;
        open_scan(s);
})

/* spec/flux-yaml.md checklist 64, 67 */
SCAN_TEST(who_may_not_read_is_told_why_without_what_is_secret, {
        struct update_object *o;
        const char *text;

        ask_for_login(s);
        put_object(s, "Secret shop/pull", secret_of(docker_config(HOST, "me", "wr0ng")));
        put_object(s, "Secret shop/odd", doc_of("{'data':{'x':'eA=='}}"));
        o = automated(s, "a", HOST "/team/app:1.0", "glob:*");
        doc_set((json_t *)(uintptr_t)o->doc, "spec.template.spec.imagePullSecrets",
                json_pack("[{s:s},{s:s}]", "name", "pull", "name", "odd"));
        put_object(s, "ServiceAccount shop/default", json_object());
        text = catalog_of(s);
        assert_true(text_starts_with(text, HOST "/team/app: !GET \"https://" HOST "/v2/team/app/tags/list"));
        assert_non_null(strstr(text, "response status code 401: unauthorized: authentication required; "
                                     "credentials shop/odd cannot be used: "));
        assert_null(strstr(text, "wr0ng"));
        assert_null(strstr(text, "Basic"));
})

/* ---- how it is asked ---- */

SCAN_TEST(a_registry_that_cannot_be_reached_leaves_others_alone, {
        int64_t begin = loop_now_ms(s->loop), once;
        const char *text;

        put_image(s, "team/app", "1.0", 1);
        automated(s, "a", HOST "/team/app:1.0", "glob:*");
        automated(s, "b", "absent.example/x:1.0", "glob:*");
        text = catalog_of(s);
        assert_true(text_starts_with(text, "absent.example/x: !"));
        assert_non_null(strstr(text, "; " HOST "/team/app: 1.0@1; "));
        once = loop_now_ms(s->loop) - begin;
        automated(s, "c", "absent.example/y:1.0", "glob:*");
        begin = loop_now_ms(s->loop);
        text = catalog_of(s);
        assert_non_null(strstr(text, "; absent.example/y: !"));
        assert_true(loop_now_ms(s->loop) - begin <= once); /* not waited for twice */
})

/* spec/flux-yaml.md checklist 64 */
SCAN_TEST(too_many_requests_are_asked_again_later_and_slower, {
        int64_t begin = loop_now_ms(s->loop);

        put_image(s, "team/app", "1.0", 1);
        automated(s, "a", HOST "/team/app:1.0", "glob:*");
        s->sim.failures = 2;
        s->sim.failure_status = 429;
        s->sim.retry_after = "20";
        assert_string_equal(catalog_of(s), READ);
        assert_true(loop_now_ms(s->loop) - begin >= 40000);
        assert_true(loop_now_ms(s->loop) - begin < 60000);
        s->sim.failures = 100;
        s->sim.retry_after = NULL;
        assert_non_null(strstr(catalog_of(s), "response status code 429: toomanyrequests: later"));
        s->sim.failures = 0;
})

static void count_manifests(struct registry_sim *sim, const char *asks)
{
        struct stage *s = sim->ctx;

        if (strstr(asks, "/manifests/"))
                s->manifests++;
}

/* spec/flux-yaml.md checklist 64 */
SCAN_TEST(many_tags_are_read_at_the_rate_of_the_host, {
        int64_t begin = loop_now_ms(s->loop);

        for (int i = 0; i < 500; i++)
                put_image(s, "team/app", arena_printf(&s->scene.arena, "1.%d", i), 1 + i % 28);
        automated(s, "a", HOST "/team/app:1.0", "glob:*");
        s->sim.ctx = s;
        s->sim.asked = count_manifests;
        assert_null(strstr(catalog_of(s), "?"));
        assert_int_equal(s->manifests, 500);
        assert_true(loop_now_ms(s->loop) - begin >= (3 * 500 - 125) * 1000 / 200);
})

SCAN_TEST(a_reading_ends_when_its_time_is_over_and_goes_on_in_the_next, {
        const char *text;

        for (int i = 0; i < 500; i++)
                put_image(s, "team/app", arena_printf(&s->scene.arena, "1.%d", i), 1 + i % 28);
        automated(s, "a", HOST "/team/app:1.0", "glob:*");
        s->options.most_ms = 4000;
        open_scan(s);
        text = catalog_of(s);
        assert_non_null(strstr(text, "1.0@1 "));
        assert_non_null(strstr(text, " 1.499?"));
        assert_null(strstr(catalog_of(s), "?"));
})

/* Nobody speaks TLS behind it. */
struct plain_only {
        struct http_transport transport, *inner;
};

static int roundtrip_plainly(struct http_transport *t, const struct http_request *rq, struct arena *arena,
                             struct http_response *ret, struct error *err)
{
        struct plain_only *p = container_of(t, struct plain_only, transport);

        if (!text_starts_with(rq->endpoint->base_url, "https://"))
                return p->inner->ops->roundtrip(p->inner, rq, arena, ret, err);
        error_set(err, ERR_RETRY, "no TLS here");
        error_set_reason(err, HTTP_REASON_NOT_TLS);
        return ERR_RETRY;
}

static int open_plainly(struct http_transport *t, const struct http_request *rq, struct http_stream **ret,
                        struct error *err)
{
        struct plain_only *p = container_of(t, struct plain_only, transport);

        return p->inner->ops->open(p->inner, rq, ret, err);
}

SCAN_TEST(hosts_that_are_said_to_be_insecure_may_speak_no_tls, {
        static const char *const insecure[] = { HOST };
        static const struct http_transport_ops ops = { .roundtrip = roundtrip_plainly, .open = open_plainly };
        struct plain_only plain = { .transport = { .ops = &ops }, .inner = s->world.transport };

        put_image(s, "team/app", "1.0", 1);
        automated(s, "a", HOST "/team/app:1.0", "glob:*");
        s->world.transport = &plain.transport;
        assert_non_null(strstr(catalog_of(s), "!no TLS here"));
        assert_int_equal(sim_times(&s->sim, "GET "), 0);
        s->options.insecure_hosts = insecure;
        s->options.n_insecure_hosts = 1;
        open_scan(s);
        assert_string_equal(catalog_of(s), READ);
        s->world.transport = plain.inner;
})

/* ---- failing allocations ---- */

SCAN_TEST(running_out_of_memory_is_told_as_such, {
        static const struct image_filter all;
        struct image_candidates c;
        bool fired = true;

        put_image(s, "team/app", "1.0", 1);
        put_object(s, "Secret shop/pull", secret_of(docker_config(HOST, "me", "s3cr3t")));
        put_object(s, "ServiceAccount shop/default",
                   json_pack("{s:[{s:s}]}", "imagePullSecrets", "name", "pull"));
        automated(s, "a", HOST "/team/app:1.0", "glob:*");
        assert_int_equal(automation_candidates(&s->scene.arena, &s->scene.all, &all, &c, NULL), 0);
        for (uint64_t n = 1; fired; n++) {
                AUTO_ARENA struct arena arena = ARENA_INIT;
                struct image_catalog catalog;
                int code;

                forget_asked(s);
                open_scan(s);
                mem_fail_at(n, false);
                code = image_scan_read(s->scan, &s->scene.all, &c, &arena, &catalog, &s->scene.err);
                fired = mem_fault_fired();
                mem_fail_at(0, false);
                /* What fails beyond the network is a registry that does not answer well. */
                if (code < 0)
                        assert_int_equal(code, ERR_NO_MEMORY);
                if (!fired)
                        assert_int_equal(code, 0);
        }
})

int main(void)
{
        mem_hook_libraries();
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(tags_are_read_with_the_time_of_their_images),
                cmocka_unit_test(only_tags_that_may_count_are_looked_into),
                cmocka_unit_test(what_is_no_image_for_the_platform_is_left_out),
                cmocka_unit_test(a_tag_that_is_listed_and_not_there_is_not_known),
                cmocka_unit_test(what_tags_lead_to_is_kept_and_asked_again_by_and_by),
                cmocka_unit_test(what_is_known_outlives_the_process),
                cmocka_unit_test(a_file_that_cannot_be_used_is_told_and_no_failure),
                cmocka_unit_test(tags_that_went_are_forgotten),
                cmocka_unit_test(a_private_registry_is_read_with_the_secrets_of_the_workload),
                cmocka_unit_test(a_private_registry_is_read_with_the_secrets_of_the_service_account),
                cmocka_unit_test(a_private_registry_is_read_with_the_default_config),
                cmocka_unit_test(who_may_not_read_is_told_why_without_what_is_secret),
                cmocka_unit_test(a_registry_that_cannot_be_reached_leaves_others_alone),
                cmocka_unit_test(too_many_requests_are_asked_again_later_and_slower),
                cmocka_unit_test(many_tags_are_read_at_the_rate_of_the_host),
                cmocka_unit_test(a_reading_ends_when_its_time_is_over_and_goes_on_in_the_next),
                cmocka_unit_test(hosts_that_are_said_to_be_insecure_may_speak_no_tls),
                cmocka_unit_test(running_out_of_memory_is_told_as_such),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
