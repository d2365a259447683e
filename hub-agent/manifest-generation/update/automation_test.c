#include "hub-agent/manifest-generation/update/plan_test.h"

#define NGINX "index.docker.io/library/nginx"

/* "tag" or "!why" of what a container with that image should have. */
static const char *newest_of(struct scene *s, const char *tags, const char *pattern, const char *current)
{
        struct image_repository r = repository_of(s, NGINX, tags);
        const struct tag_pattern *p;
        struct image_ref image;
        const char *tag, *why;

        assert_int_equal(tag_pattern_parse(&s->arena, pattern, &p, NULL), 0);
        assert_int_equal(image_ref_parse(&s->arena, current, &image, NULL), 0);
        if (automation_newest(&s->arena, &r, p, &image, &tag, &why, &s->err) < 0)
                return s->err.text;
        return tag ? tag : arena_printf(&s->arena, "!%s", why);
}

#define UP_TO_DATE "!image(s) up to date"
#define NO_TIME "!image with zero created timestamp"

/* spec/flux-yaml.md checklist 60, 62, 63 */
static void the_newest_tag_is_found_by_its_pattern(void **state)
{
        static const struct {
                const char *tags, *pattern, *current, *newest;
        } rows[] = {
                /* by time */
                { "a@1 b@3 c@2", "glob:*", "nginx:a", "b" },
                { "a@1 b@3 c@2", "glob:*", "nginx:b", UP_TO_DATE },
                { "a@1 b@3 c@2 latest@9", "glob:*", "nginx:a", "b" },
                { "a@1 latest@9", "glob:latest", "nginx:a", "latest" },
                { "a-1@1 a-2@2 b-1@9", "glob:a-*", "nginx:a-1", "a-2" },
                { "v1@1 v2@2 x@9", "regexp:^v", "nginx:v1", "v2" },
                { "a@1 b@-", "glob:*", "nginx:a", UP_TO_DATE },
                { "a@- b@2", "glob:*", "nginx:a", NO_TIME },
                { "a@- b@-", "glob:*", "nginx:a", NO_TIME },
                { "b@2 c@3", "glob:*", "nginx:a", NO_TIME },
                { "a@1 b@2 latest@1", "glob:*", "nginx", "b" },
                { "a@1 b@2", "glob:*", "nginx", NO_TIME },
                { "a@1 x@1", "glob:b", "nginx:a", "!cannot find one or more images" },
                { "", "glob:*", "nginx:a", "!cannot find one or more images" },
                /* equal times */
                { "1.9.0@5 1.10.0@5", "glob:*", "nginx:1.9.0", "1.10.0" },
                { "1.9.0@5 1.10.0@5", "glob:*", "nginx:1.10.0", UP_TO_DATE },
                { "a@5 b@5", "glob:*", "nginx:a", "b" },
                { "z@5 1.0@5", "glob:*", "nginx:z", "1.0" },
                /* by version, times or not */
                { "1.0.0@9 1.1.0@1 2.0.0@1", "semver:~1", "nginx:1.0.0", "1.1.0" },
                { "1.0.0@- 1.1.0@-", "semver:*", "nginx:1.0.0", "1.1.0" },
                { "1.0.0@1 1.1.0-rc.1@1", "semver:*", "nginx:1.0.0", UP_TO_DATE },
                { "1.2@1 1.2.0@1", "semver:*", "nginx:1.2", "1.2.0" },
                { "1.2@1 1.2.0@1", "semver:*", "nginx:1.2.0", UP_TO_DATE },
                { "v1.0@1 v1.1@1 latest@9 x@9", "semver:>=1", "nginx:v1.0", "v1.1" },
                { "1.0.0@1", "semver:*", "nginx:old", "1.0.0" },
                { "1.0.0@1", "semver:*", "nginx", "1.0.0" },
                /* never back */
                { "1.0.0@1 1.1.0@1", "semver:*", "nginx:1.2.0", UP_TO_DATE },
                { "1.0.0@1 1.1.0@1", "semver:~1", "nginx:2.0.0", "1.1.0" },
                /* what is not known */
                { "a@1 b?", "glob:*", "nginx:a",
                  "inconsistent repository metadata: missing metadata for image tag \"b\"" },
                { "1.0.0@1 2.0.0?", "semver:*", "nginx:1.0.0",
                  "inconsistent repository metadata: missing metadata for image tag \"2.0.0\"" },
                { "a@1 b?", "glob:a*", "nginx:a", UP_TO_DATE },
        };
        struct scene s = scene_new();

        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
                const char *newest = newest_of(&s, rows[i].tags, rows[i].pattern, rows[i].current);

                if (strcmp(newest, rows[i].newest) != 0)
                        fail_msg("%s %s %s: %s", rows[i].tags, rows[i].pattern, rows[i].current, newest);
        }
        scene_end(&s);
}

static void a_registry_that_cannot_be_read_says_why(void **state)
{
        struct scene s = scene_new();
        struct image_repository r = { .name = NGINX, .problem = "no route to host" };
        struct image_ref image;
        const char *tag, *why;

        assert_int_equal(image_ref_parse(&s.arena, "nginx:1", &image, NULL), 0);
        assert_int_equal(automation_newest(&s.arena, &r, &tag_pattern_any, &image, &tag, &why, NULL), 0);
        assert_null(tag);
        assert_string_equal(why, "cannot read " NGINX ": no route to host");
        scene_end(&s);
}

/* "id container repository problem; " of each. */
static const char *candidates_of(struct scene *s, const struct image_filter *filter)
{
        struct image_candidates c;
        const char *all = "";

        assert_int_equal(automation_candidates(&s->arena, &s->all, filter, &c, NULL), 0);
        for (size_t i = 0; i < c.n; i++) {
                assert_int_equal(!c.at[i].pattern, c.at[i].problem != NULL);
                all = arena_printf(&s->arena, "%s%s %s %s; ", all, c.at[i].object->id,
                                   c.at[i].container->name,
                                   c.at[i].problem ? c.at[i].problem : c.at[i].repository);
        }
        for (size_t i = 0; i < c.n_problems; i++)
                all = arena_printf(&s->arena, "%s!%s; ", all, c.problems[i]);
        return all;
}

/* spec/flux-yaml.md checklist 61, 63 */
static void only_what_is_automated_and_neither_locked_nor_ignored_is_released(void **state)
{
        static const struct image_filter all;
        struct scene s = scene_new();

        scene_workload(&s, ORIGIN_RAW, "b", "{'fluxcd.io/automated':'true'}",
                       "'app':'nginx:1','side':'q.io/x'");
        scene_workload(&s, ORIGIN_RAW, "a", "{'flux.weave.works/automated':'true'}", "'app':'nginx:1'");
        scene_workload(&s, ORIGIN_RAW, "c", "{'fluxcd.io/automated':'true','fluxcd.io/locked':'true'}",
                       "'app':'n:1'");
        scene_workload(&s, ORIGIN_RAW, "d", "{'fluxcd.io/automated':'true','fluxcd.io/ignore':'true'}",
                       "'app':'n:1'");
        scene_workload(&s, ORIGIN_RAW, "e", "{'fluxcd.io/automated':'true','fluxcd.io/ignore':'sync_only'}",
                       "'app':'n:1'");
        scene_workload(&s, ORIGIN_RAW, "f", "{'fluxcd.io/automated':'false'}", "'app':'n:1'");
        scene_workload(&s, ORIGIN_RAW, "g", "{'fluxcd.io/automated':true}", "'app':'n:1'");
        scene_workload(&s, ORIGIN_RAW, "h", "{'fluxcd.io/automated':'true','fluxcd.io/tag.bad':'semver:one'}",
                       "'app':'n:1@sha256:00112233445566778899aabbccddeeff','bad':'n:1','odd':'${X}'");
        scene_add(&s, ORIGIN_RAW, "i",
                  doc_of("{'kind':'Service','metadata':{'name':'i','annotations':{"
                         "'fluxcd.io/automated':'true'}}}"));
        assert_string_equal(
                candidates_of(&s, &all),
                "shop:deployment/a app " NGINX "; shop:deployment/b app " NGINX
                "; shop:deployment/b side q.io/x; shop:deployment/e app index.docker.io/library/n; "
                "shop:deployment/h app image pinned by digest: n:1@sha256:"
                "00112233445566778899aabbccddeeff; shop:deployment/h bad invalid tag pattern: "
                "\"semver:one\"; shop:deployment/h odd spec.template.spec.containers[2].image: invalid "
                "image \"${X}\": its name is none that registries have; "
                "!shop:deployment/g: annotation fluxcd.io/automated must be a string: it is taken as "
                "absent; ");
        scene_end(&s);
}

static void images_are_left_out_by_their_canonical_names(void **state)
{
        static const char *const excluded[] = { "k8s.gcr.io/*", "*/library/pg" }, *const included[] = {
                "*/library/*"
        };
        struct image_filter f = { excluded, 2, NULL, 0 };
        struct scene s = scene_new();

        assert_true(image_filter_has(&f, NGINX));
        assert_false(image_filter_has(&f, "k8s.gcr.io/pause"));
        assert_false(image_filter_has(&f, "index.docker.io/library/pg"));
        f.include = included;
        f.n_include = 1;
        assert_true(image_filter_has(&f, NGINX));
        assert_false(image_filter_has(&f, "q.io/x"));
        assert_false(image_filter_has(&f, "index.docker.io/library/pg"));
        scene_workload(&s, ORIGIN_RAW, "a", "{'fluxcd.io/automated':'true'}", "'app':'pg'");
        assert_string_equal(candidates_of(&s, &f),
                            "shop:deployment/a app image index.docker.io/library/pg is excluded; ");
        scene_end(&s);
}

static const char *release(struct scene *s, const struct image_catalog *catalog)
{
        static const struct image_filter all;
        struct image_candidates c;
        struct job_plan p;

        assert_int_equal(automation_candidates(&s->arena, &s->all, &all, &c, NULL), 0);
        assert_int_equal(automation_plan(&s->arena, &c, catalog, &p, NULL), 0);
        return text_of_plan(s, &p);
}

/* spec/flux-yaml.md checklist 60, 62, 63, 65 */
static void all_that_is_newer_makes_one_job(void **state)
{
        struct scene s = scene_new();
        struct image_repository at[] = {
                repository_of(&s, NGINX, "1@1 2@2"),
                repository_of(&s, "index.docker.io/library/pg", "1@1 2?"),
        };
        struct image_catalog catalog = { at, ARRAY_LEN(at) };

        scene_workload(&s, ORIGIN_RAW, "a", "{'fluxcd.io/automated':'true'}",
                       "'app':'nginx:1','db':'pg:1','x':'x:1'");
        scene_workload(&s, ORIGIN_RAW, "b", "{'fluxcd.io/automated':'true'}", "'app':'docker.io/nginx:1'");
        scene_workload(&s, ORIGIN_RAW, "c", "{'fluxcd.io/automated':'true'}", "'app':'nginx:2'");
        scene_workload(&s, ORIGIN_RAW, "d", "{}", "'app':'nginx:1'");
        scene_workload(&s, ORIGIN_RAW, "e", "{'fluxcd.io/automated':'true'}",
                       "'app':'nginx:1@sha256:00112233445566778899aabbccddeeff'");
        assert_string_equal(
                release(&s, &catalog),
                "shop:deployment/a success db: inconsistent repository metadata: missing metadata for "
                "image tag \"2\"; x: cannot find one or more images [app nginx:1 -> nginx:2]; "
                "shop:deployment/b success [app docker.io/nginx:1 -> docker.io/nginx:2]; "
                "shop:deployment/c skipped image(s) up to date; "
                "shop:deployment/e skipped app: image pinned by digest: nginx:1@sha256:"
                "00112233445566778899aabbccddeeff; | app=nginx:2 | app=docker.io/nginx:2 ");
        scene_end(&s);
}

/* ---- rates ---- */

/* How many of n turns taken at once may begin within the first `ms`. */
static size_t turns_within(struct rate_limit *l, int64_t now_ms, size_t n, int64_t ms)
{
        size_t within = 0;

        for (size_t i = 0; i < n; i++)
                within += rate_limit_take(l, now_ms) <= ms;
        return within;
}

/* spec/flux-yaml.md checklist 64 */
static void a_host_is_asked_at_most_so_often(void **state)
{
        struct rate_limit l;

        rate_limit_init(&l, 1000);
        assert_int_equal(turns_within(&l, 1000, 400, 0), 125);
        rate_limit_init(&l, 1000);
        assert_in_range(turns_within(&l, 1000, 1000, 1000), 324, 325);
        rate_limit_init(&l, 1000);
        assert_int_equal(turns_within(&l, 100000, 400, 0), 125); /* nothing is saved up beyond the burst */
}

/* spec/flux-yaml.md checklist 64 */
static void too_many_requests_slow_it_down_and_it_creeps_back(void **state)
{
        struct rate_limit l;
        int64_t now = 1000;

        rate_limit_init(&l, now);
        for (int i = 0; i < 10; i++)
                rate_limit_slow_down(&l, now); /* those that were under way together count once */
        assert_true(l.per_second == 100);
        assert_in_range(turns_within(&l, now, 200, 1000), 99, 100);
        for (int i = 0; i < 20; i++)
                rate_limit_slow_down(&l, now += 1000);
        assert_true(l.per_second == RATE_LEAST);
        rate_limit_speed_up(&l, now += 1000);
        rate_limit_speed_up(&l, now);
        assert_true(l.per_second == 5);
        for (int i = 0; i < 100; i++)
                rate_limit_speed_up(&l, now += 1000);
        assert_true(l.per_second == RATE_PER_SECOND);
}

static void manifests_are_read_again_the_less_they_change(void **state)
{
        struct manifest_age a = { 0, 0 };
        int64_t minute = 60000, now = 10 * minute;

        assert_true(manifest_age_is_due(&a, now));
        manifest_age_read(&a, false, now);
        assert_false(manifest_age_is_due(&a, now + 59 * minute));
        assert_true(manifest_age_is_due(&a, now + 60 * minute));
        manifest_age_read(&a, false, now);
        assert_int_equal(a.refresh_ms, 120 * minute);
        for (int i = 0; i < 20; i++)
                manifest_age_read(&a, false, now);
        assert_int_equal(a.refresh_ms, MANIFEST_REFRESH_MAX_MS);
        for (int i = 0; i < 20; i++)
                manifest_age_read(&a, true, now);
        assert_int_equal(a.refresh_ms, MANIFEST_REFRESH_MIN_MS);
        assert_true(manifest_age_is_due(&a, now - 1));
}

/* ---- failing allocations ---- */

struct allocation_scene {
        struct scene scene;
        struct image_catalog catalog;
};

static int find_and_plan(struct arena *arena, void *data)
{
        static const struct image_filter all;
        struct allocation_scene *a = data;
        struct image_candidates c;
        struct job_plan p;
        struct error err;

        TRY(automation_candidates(arena, &a->scene.all, &all, &c, &err));
        return automation_plan(arena, &c, &a->catalog, &p, &err);
}

static void each_allocation_may_fail(void **state)
{
        struct allocation_scene a = { .scene = scene_new() };
        struct image_repository at[] = { repository_of(&a.scene, NGINX, "1@1 2@2"),
                                         { .name = "index.docker.io/library/pg", .problem = "x" } };

        a.catalog = (struct image_catalog){ at, 2 };
        scene_workload(&a.scene, ORIGIN_RAW, "a",
                       "{'fluxcd.io/automated':'true','fluxcd.io/tag.re':'regexp:^[0-9]+$'}",
                       "'app':'nginx:1','re':'nginx:1','pg':'pg:1','x':'x:1',"
                       "'pin':'a@sha256:00112233445566778899aabbccddeeff'");
        scene_workload(&a.scene, ORIGIN_RAW, "b", "{'fluxcd.io/automated':true}", "'app':'nginx:1'");
        walk_all_failures(find_and_plan, &a);
        scene_end(&a.scene);
}

int main(void)
{
        mem_hook_libraries();
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(the_newest_tag_is_found_by_its_pattern),
                cmocka_unit_test(a_registry_that_cannot_be_read_says_why),
                cmocka_unit_test(only_what_is_automated_and_neither_locked_nor_ignored_is_released),
                cmocka_unit_test(images_are_left_out_by_their_canonical_names),
                cmocka_unit_test(all_that_is_newer_makes_one_job),
                cmocka_unit_test(a_host_is_asked_at_most_so_often),
                cmocka_unit_test(too_many_requests_slow_it_down_and_it_creeps_back),
                cmocka_unit_test(manifests_are_read_again_the_less_they_change),
                cmocka_unit_test(each_allocation_may_fail),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
