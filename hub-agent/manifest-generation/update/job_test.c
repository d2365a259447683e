#include "hub-agent/manifest-generation/update/plan_test.h"

/* ---- requests ---- */

/* spec/flux-yaml.md checklist 50 */
static void requests_are_read_or_refused_with_the_field(void **state)
{
        static const struct {
                const char *data, *complaint; /* "" = none */
        } rows[] = {
                { "{'type':'sync'}", "" },
                { "{'type':'collect','user':'Ann <a@b.c>','message':'x'}", "" },
                { "{'type':'policy','workloads':'*','add':'automated'}", "" },
                { "{'type':'policy','workloads':'a:b/c\\n a:b/d','remove':'locked','dryRun':'true'}", "" },
                { "{'type':'image','workloads':'a:b/c','image':'nginx:1','force':'false'}", "" },
                { "{}", "data.type: must be one of sync, policy, image, collect, is \"\"" },
                { "{'type':'auto'}", "data.type: must be one of sync, policy, image, collect, is \"auto\"" },
                { "{'type':'sync','workloads':'*'}",
                  "data.workloads: requests of type sync have no use for it" },
                { "{'type':'policy','image':'a'}", "data.image: requests of type policy have no use for it" },
                { "{'type':'image','add':'a'}", "data.add: requests of type image have no use for it" },
                { "{'type':'sync','workload':'*'}", "data: there is no field \"workload\"" },
                { "{'type':'sync','user':7}", "data.user: must be a string" },
                { "{'type':'sync','user':'a\\nb'}",
                  "data.user: the name has a line end, a control character or a bracket in it" },
                { "{'type':'sync','user':'a <b c>'}",
                  "data.user: the mail address has a blank, a control character or a bracket in it" },
                { "{'type':'policy','add':'automated'}",
                  "data.workloads: must be identities, one a line, or *" },
                { "{'type':'policy','workloads':'*\\na:b/c','add':'automated'}",
                  "data.workloads: line 1: invalid workload identity \"*\": must be "
                  "<namespace>:<kind>/<name>" },
                { "{'type':'policy','workloads':'*'}",
                  "data.add, data.remove: one of them must name a policy" },
                { "{'type':'policy','workloads':'*','add':'x'}",
                  "data.add: line 1: unknown policy \"x\": must be automated, locked, ignore, locked_user, "
                  "locked_msg, tag_all or tag.<container>" },
                { "{'type':'policy','workloads':'*','add':'tag_all=semver:one'}",
                  "data.add: line 1: invalid tag pattern: \"semver:one\"" },
                { "{'type':'image','workloads':'*'}",
                  "data.image: must be an image, with the tag to be released or without, or *" },
                { "{'type':'image','workloads':'*','image':'a\\n\\nb c'}",
                  "data.image: line 3: invalid image \"b c\": its name is none that registries have" },
                { "{'type':'image','workloads':'*','image':'=a'}",
                  "data.image: line 1: there is no name of a container before the =" },
                { "{'type':'image','workloads':'*','image':'a@sha256:00112233445566778899aabbccddeeff'}",
                  "data.image: line 1: image a@sha256:00112233445566778899aabbccddeeff has a digest: images "
                  "are "
                  "released by tag" },
                { "{'type':'image','workloads':'*','image':'a','force':'yes'}",
                  "data.force: must be true or false" },
        };

        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
                AUTO_ARENA struct arena arena = ARENA_INIT;
                AUTO_JSON json_t *map = json_pack("{s:o}", "data", doc_of(rows[i].data));
                struct error err = { 0 };
                struct job_request r;
                int code = job_request_read(&arena, map, &r, &err);

                if (strcmp(err.text, rows[i].complaint) != 0)
                        fail_msg("%s: %s", rows[i].data, err.text);
                assert_int_equal(code, *rows[i].complaint ? ERR_INVALID : 0);
        }
}

static void what_a_request_says_is_kept(void **state)
{
        struct scene s = scene_new();
        struct job_request r =
                request_of(&s, "{'type':'image','workloads':'b:Deployment/x\\n\\na:cronjob/y\\n"
                               "b:deployment/x','image':'nginx\\napp = q.io/x:1\\n*','force':'true',"
                               "'user':' Ann ','message':'why\\n'}");

        assert_int_equal(r.type, JOB_IMAGE);
        assert_int_equal(r.n_workloads, 2);
        assert_string_equal(r.workloads[0], "a:cronjob/y");
        assert_string_equal(r.workloads[1], "b:deployment/x");
        assert_int_equal(r.n_images, 3);
        assert_null(r.images[0].container);
        assert_string_equal(r.images[1].container, "app");
        assert_string_equal(r.images[1].image.text, "q.io/x:1");
        assert_string_equal(r.images[2].image.path, "");
        assert_true(r.force && !r.all && !r.dry_run);
        assert_true(job_request_wants_images(&r));
        assert_string_equal(r.user, "Ann");
        assert_string_equal(r.message, "why");
        r = request_of(&s, "{'type':'image','workloads':'*','image':'nginx:2'}");
        assert_true(r.all);
        assert_false(job_request_wants_images(&r));
        scene_end(&s);
}

static void lists_of_requests_have_limits(void **state)
{
        static const struct {
                const char *type, *field, *line;
                size_t most;
        } rows[] = {
                { "policy", "workloads", "a:b/c\n", JOB_WORKLOADS_MAX },
                { "image", "image", "a\n", JOB_IMAGES_MAX },
                { "policy", "add", "tag.a=b\n", POLICIES_MAX },
                { "sync", "message", "a\n", JOB_MESSAGE_MAX / 2 },
                { "sync", "user", "aa", JOB_USER_MAX / 2 },
        };

        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
                AUTO_ARENA struct arena arena = ARENA_INIT;
                AUTO_JSON json_t *map = json_pack("{s:{s:s}}", "data", "type", rows[i].type);
                AUTO_BUF struct buf b;
                struct job_request r;

                buf_init(&b, 1u << 20);
                for (size_t k = 0; k <= rows[i].most; k++)
                        buf_append_str(&b, rows[i].line);
                if (strcmp(rows[i].type, "sync") != 0)
                        doc_set_string(map, "data.workloads", "*");
                doc_set(map, arena_printf(&arena, "data.%s", rows[i].field), json_string(b.data));
                assert_int_equal(job_request_read(&arena, map, &r, NULL), ERR_LIMIT);
        }
}

/* ---- policies ---- */

static void assert_plan(struct scene *s, const char *data, const struct image_catalog *catalog,
                        const char *want)
{
        struct job_request r = request_of(s, data);
        struct job_plan p;

        assert_int_equal(job_plan_make(&s->arena, &r, &s->all, catalog, &p, &s->err), 0);
        assert_string_equal(text_of_plan(s, &p), want);
}

/* spec/flux-yaml.md checklist 52, 54, 55 */
static void a_policy_job_changes_annotations(void **state)
{
        struct scene s = scene_new();

        scene_workload(&s, ORIGIN_RAW, "b", "{'flux.weave.works/automated':'false'}",
                       "'app':'nginx:1','side':'x'");
        scene_workload(&s, ORIGIN_PATCH, "a", "{'fluxcd.io/automated':'true'}", "'app':'nginx:1'");
        scene_add(&s, ORIGIN_RAW, "c.yaml", doc_of("{'kind':'ConfigMap','metadata':{'name':'c'}}"));
        assert_plan(
                &s, "{'type':'policy','workloads':'*','add':'automated'}", NULL,
                "shop:deployment/a skipped; shop:deployment/b success; | flux.weave.works/automated=true ");
        assert_plan(
                &s, "{'type':'policy','workloads':'shop:deployment/b','add':'tag_all=semver:~1'}", NULL,
                "shop:deployment/b success; | fluxcd.io/tag.app=semver:~1 | fluxcd.io/tag.side=semver:~1 ");
        assert_plan(
                &s,
                "{'type':'policy','workloads':'shop:configmap/c\\nshop:deployment/z\\nshop:deployment/a',"
                "'remove':'automated'}",
                NULL,
                "shop:configmap/c failed resource shop:configmap/c does not have containers; "
                "shop:deployment/a success; shop:deployment/z failed resource shop:deployment/z not found; "
                "| fluxcd.io/automated=- ");
        scene_end(&s);
}

static void automating_asks_for_a_look_at_images(void **state)
{
        struct scene s = scene_new();
        struct job_request add, remove;
        struct job_plan p;

        scene_workload(&s, ORIGIN_RAW, "a", "{'fluxcd.io/locked':'true'}", "'app':'nginx:1'");
        add = request_of(&s, "{'type':'policy','workloads':'*','add':'automated'}");
        remove = request_of(&s, "{'type':'policy','workloads':'*','remove':'locked'}");
        assert_int_equal(job_plan_make(&s.arena, &add, &s.all, NULL, &p, NULL), 0);
        assert_true(p.sets_automated);
        assert_int_equal(p.n_of[UPDATE_SUCCESS], 1);
        assert_int_equal(job_plan_make(&s.arena, &remove, &s.all, NULL, &p, NULL), 0);
        assert_false(p.sets_automated);
        scene_end(&s);
}

/* spec/flux-yaml.md checklist 52 */
static void updaters_are_told_a_policy_once(void **state)
{
        static const char twice[] = "{'fluxcd.io/tag.app':'a','filter.fluxcd.io/app':'b'}";
        struct scene s = scene_new();

        scene_workload(&s, ORIGIN_COMMANDS, "a", twice, "'app':'nginx:1'");
        assert_plan(&s, "{'type':'policy','workloads':'*','remove':'tag.app'}", NULL,
                    "shop:deployment/a success; | fluxcd.io/tag.app=- ");
        s.objects[0].origin = ORIGIN_RAW;
        assert_plan(&s, "{'type':'policy','workloads':'*','remove':'tag.app'}", NULL,
                    "shop:deployment/a success; | fluxcd.io/tag.app=- | filter.fluxcd.io/app=- ");
        scene_end(&s);
}

/* ---- images ---- */

/* spec/flux-yaml.md checklist 50, 61 */
static void an_image_job_changes_who_uses_the_image(void **state)
{
        struct scene s = scene_new();
        static const char pinned[] = "'app':'nginx:1@sha256:00112233445566778899aabbccddeeff'";

        scene_workload(&s, ORIGIN_RAW, "a", "{}",
                       "'app':'nginx:1','side':'docker.io/library/nginx','db':'pg:1'");
        scene_workload(&s, ORIGIN_RAW, "b", "{}", "'app':'nginx:2'");
        scene_workload(&s, ORIGIN_RAW, "c", "{}", "'app':'pg:1'");
        scene_workload(&s, ORIGIN_RAW, "d", "{'fluxcd.io/locked':'true'}", "'app':'nginx:1'");
        scene_workload(&s, ORIGIN_RAW, "e", "{'fluxcd.io/ignore':'true'}", "'app':'nginx:1'");
        scene_workload(&s, ORIGIN_RAW, "f", "{'fluxcd.io/ignore':'sync_only'}", pinned);
        scene_workload(&s, ORIGIN_RAW, "g", "{}", "'app':'${X}'");
        assert_plan(&s, "{'type':'image','workloads':'*','image':'nginx:2'}", NULL,
                    "shop:deployment/a success [app nginx:1 -> nginx:2] [side docker.io/library/nginx -> "
                    "docker.io/library/nginx:2]; shop:deployment/b skipped image(s) up to date; "
                    "shop:deployment/c ignored does not use image(s); shop:deployment/d skipped locked; "
                    "shop:deployment/e skipped ignore; shop:deployment/f skipped image pinned by digest: "
                    "nginx:1@sha256:00112233445566778899aabbccddeeff; shop:deployment/g ignored does not use "
                    "image(s); | app=nginx:2 | side=docker.io/library/nginx:2 ");
        assert_plan(
                &s,
                "{'type':'image','workloads':'shop:deployment/d\\nshop:deployment/f\\nshop:deployment/z',"
                "'image':'nginx:2','force':'true'}",
                NULL,
                "shop:deployment/a ignored not included; shop:deployment/b ignored not included; "
                "shop:deployment/c ignored not included; shop:deployment/d success [app nginx:1 -> nginx:2]; "
                "shop:deployment/e ignored not included; shop:deployment/f success [app nginx:1@sha256:"
                "00112233445566778899aabbccddeeff -> nginx:2]; shop:deployment/g ignored not included; "
                "shop:deployment/z skipped not found in repository; | app=nginx:2 | app=nginx:2 ");
        scene_end(&s);
}

static void an_image_job_may_name_containers(void **state)
{
        struct scene s = scene_new();

        scene_workload(&s, ORIGIN_RAW, "a", "{}", "'app':'nginx:1','side':'nginx:1'");
        scene_workload(&s, ORIGIN_RAW, "b", "{}", "'other':'nginx:1'");
        scene_workload(&s, ORIGIN_RAW, "g", "{}", "'app':'${X}'");
        assert_plan(
                &s, "{'type':'image','workloads':'*','image':'side=nginx:2'}", NULL,
                "shop:deployment/a success [side nginx:1 -> nginx:2]; shop:deployment/b ignored does not use "
                "image(s); shop:deployment/g ignored does not use image(s); | side=nginx:2 ");
        assert_plan(
                &s,
                "{'type':'image','workloads':'shop:deployment/a\\nshop:deployment/b','image':'app=nginx:2\\n"
                "side=nginx:3'}",
                NULL,
                "shop:deployment/a success [app nginx:1 -> nginx:2] [side nginx:1 -> nginx:3]; "
                "shop:deployment/b failed container(s) not found: app, side; "
                "shop:deployment/g ignored not included; | app=nginx:2 | side=nginx:3 ");
        assert_plan(&s, "{'type':'image','workloads':'shop:deployment/g','image':'*'}", NULL,
                    "shop:deployment/a ignored not included; shop:deployment/b ignored not included; "
                    "shop:deployment/g failed spec.template.spec.containers[0].image: invalid image "
                    "\"${X}\": its "
                    "name is none that registries have; ");
        scene_end(&s);
}

static void tags_are_looked_up_where_registries_are_read(void **state)
{
        struct scene s = scene_new();
        struct image_repository repositories[] = {
                repository_of(&s, "index.docker.io/library/nginx", "1@1 2@2 3.0.0@3 x?"),
                { .name = "index.docker.io/library/pg", .problem = "no answer" },
        };
        struct image_catalog catalog = { repositories, ARRAY_LEN(repositories) };

        scene_workload(&s, ORIGIN_RAW, "a", "{'fluxcd.io/tag.app':'glob:?'}", "'app':'nginx:1'");
        scene_workload(&s, ORIGIN_RAW, "b", "{'fluxcd.io/tag.app':'semver:~2'}", "'app':'nginx:1'");
        scene_workload(&s, ORIGIN_RAW, "c", "{'fluxcd.io/tag.app':'semver:one'}",
                       "'app':'nginx:1','b':'new:1'");
        scene_workload(&s, ORIGIN_RAW, "d", "{}", "'app':'pg:1'");
        assert_plan(&s, "{'type':'image','workloads':'*','image':'nginx:4\\npg:2'}", &catalog,
                    "shop:deployment/a skipped cannot find one or more images; "
                    "shop:deployment/b skipped cannot find one or more images; "
                    "shop:deployment/c skipped cannot find one or more images; "
                    "shop:deployment/d skipped cannot find one or more images; ");
        assert_plan(
                &s, "{'type':'image','workloads':'*','image':'nginx:4','force':'true'}", &catalog,
                "shop:deployment/a success [app nginx:1 -> nginx:4]; shop:deployment/b success [app nginx:1 "
                "-> nginx:4]; shop:deployment/c success [app nginx:1 -> nginx:4]; shop:deployment/d ignored "
                "does not use image(s); | app=nginx:4 | app=nginx:4 | app=nginx:4 ");
        assert_plan(
                &s, "{'type':'image','workloads':'*','image':'*'}", &catalog,
                "shop:deployment/a skipped cannot find one or more images; shop:deployment/b success [app "
                "nginx:1 -> nginx:2]; shop:deployment/c skipped cannot find one or more images; "
                "shop:deployment/d skipped cannot read index.docker.io/library/pg: no answer; | "
                "app=nginx:2 ");
        assert_plan(
                &s, "{'type':'image','workloads':'shop:deployment/b','image':'nginx'}", &catalog,
                "shop:deployment/a ignored not included; shop:deployment/b success [app nginx:1 -> nginx:2]; "
                "shop:deployment/c ignored not included; shop:deployment/d ignored not included; "
                "| app=nginx:2 ");
        scene_end(&s);
}

static void what_a_request_has_to_know_is_asked_for(void **state)
{
        struct scene s = scene_new();
        struct job_request r =
                request_of(&s, "{'type':'image','workloads':'shop:deployment/a','image':'nginx:2\\n"
                               "b=*\\nbad=*'}");
        struct image_candidates c;

        scene_workload(&s, ORIGIN_RAW, "a", "{'fluxcd.io/tag.b':'semver:1','fluxcd.io/tag.bad':'semver:one'}",
                       "'app':'nginx:1','b':'pg:1','bad':'pg:1','odd':'${X}','other':'x:1'");
        scene_workload(&s, ORIGIN_RAW, "z", "{}", "'app':'nginx:1'");
        assert_int_equal(job_candidates(&s.arena, &r, &s.all, &c, NULL), 0);
        assert_int_equal(c.n, 3);
        assert_string_equal(c.at[0].repository, "index.docker.io/library/nginx");
        assert_int_equal(tag_pattern_has(c.at[0].pattern, "2"), 1);
        assert_int_equal(tag_pattern_has(c.at[0].pattern, "3"), 0);
        assert_int_equal(tag_pattern_order(c.at[1].pattern), TAG_BY_VERSION);
        assert_string_equal(c.at[2].problem, "invalid tag pattern: \"semver:one\"");
        scene_end(&s);
}

static void a_plan_is_told_in_lines(void **state)
{
        struct scene s = scene_new();
        struct job_request r;
        struct job_plan p;
        AUTO_BUF struct buf b;

        buf_init(&b, 1000);
        scene_workload(&s, ORIGIN_RAW, "a", "{}", "'app':'nginx:1','side':'nginx:2'");
        scene_workload(&s, ORIGIN_RAW, "b", "{'fluxcd.io/locked':'true'}", "'app':'nginx:1'");
        scene_workload(&s, ORIGIN_RAW, "c", "{}", "'app':'pg:1'");
        r = request_of(&s, "{'type':'image','workloads':'*','image':'nginx:3'}");
        assert_int_equal(job_plan_make(&s.arena, &r, &s.all, NULL, &p, NULL), 0);
        assert_int_equal(job_plan_describe(&p, &b), 0);
        assert_string_equal(b.data, "shop:deployment/a: success: app: nginx:1 -> nginx:3, side: nginx:2 -> "
                                    "nginx:3\nshop:deployment/b: skipped: locked\n1 ignored");
        scene_end(&s);
}

/* ---- doing it ---- */

/* spec/flux-yaml.md checklist 51 */
static void all_changes_of_a_file_are_made(void **state)
{
        static const char text[] =
                "kind: Deployment # a\nmetadata:\n  name: a\nspec:\n  template:\n    spec:\n"
                "      containers:\n      - {name: app, image: 'nginx:1'}\n"
                "      - name: side\n        image: nginx:2 # old\n";
        struct scene s = scene_new();
        struct job_request image, policy;
        struct job_plan p;
        AUTO_BUF struct buf b;

        buf_init(&b, 10000);
        scene_workload(&s, ORIGIN_RAW, "a", "{}", "'app':'nginx:1','side':'nginx:2'");
        scene_workload(&s, ORIGIN_RAW, "b", "{}", "'app':'nginx:1'");
        image = request_of(&s, "{'type':'image','workloads':'*','image':'nginx:3'}");
        policy = request_of(&s,
                            "{'type':'policy','workloads':'shop:deployment/a','add':'automated\\nlocked'}");
        assert_int_equal(job_plan_make(&s.arena, &image, &s.all, NULL, &p, NULL), 0);
        assert_int_equal(job_edit_file(&p, "a.yaml", slice_of(text), &b, NULL), 0);
        assert_string_equal(b.data,
                            "kind: Deployment # a\nmetadata:\n  name: a\nspec:\n  template:\n    spec:\n"
                            "      containers:\n      - {name: app, image: 'nginx:3'}\n"
                            "      - name: side\n        image: nginx:3 # old\n");
        buf_clear(&b);
        assert_int_equal(job_plan_make(&s.arena, &policy, &s.all, NULL, &p, NULL), 0);
        assert_int_equal(job_edit_file(&p, "a.yaml", slice_of(text), &b, NULL), 0);
        assert_non_null(strstr(b.data, "  name: a\n  annotations:\n    fluxcd.io/automated: \"true\"\n"
                                       "    fluxcd.io/locked: \"true\"\nspec:"));
        assert_int_equal(job_edit_file(&p, "a.yaml", SLICE("a: b\n"), &b, &s.err), ERR_NOT_FOUND);
        assert_string_equal(s.err.text, "cannot change a.yaml: there is no Deployment a in it");
        scene_end(&s);
}

static void a_change_is_made_in_a_document(void **state)
{
        struct scene s = scene_new();
        const struct update_object *a =
                scene_workload(&s, ORIGIN_PATCH, "a", "{'fluxcd.io/locked':'true'}", "'app':'nginx:1'");
        AUTO_JSON json_t *doc = doc_copy(a->doc);
        struct job_request r =
                request_of(&s, "{'type':'policy','workloads':'*','add':'automated','remove':'locked'}");
        struct job_plan p;

        assert_int_equal(job_plan_make(&s.arena, &r, &s.all, NULL, &p, NULL), 0);
        assert_int_equal(p.n_changes, 2);
        for (size_t i = 0; i < p.n_changes; i++)
                assert_int_equal(job_change_document(&p.changes[i], doc, NULL), 0);
        assert_doc_is(json_incref(doc_get(doc, "metadata.annotations")), "{'fluxcd.io/automated':'true'}");
        scene_end(&s);
}

/* ---- whether it was done ---- */

static void assert_verified(const char *a_after, const char *b_after, const char *complaint)
{
        struct scene s = scene_new(), after = scene_new();
        struct job_request r;
        struct job_plan p;

        scene_workload(&s, ORIGIN_COMMANDS, "a", "{}", "'app':'nginx:1','side':'pg:1'");
        scene_workload(&s, ORIGIN_COMMANDS, "b", "{}", "'app':'nginx:1'");
        scene_add(&s, ORIGIN_RAW, "c", doc_of("{'kind':'ConfigMap','metadata':{'name':'c'}}"));
        r = request_of(&s, "{'type':'image','workloads':'shop:deployment/a','image':'nginx:2'}");
        assert_int_equal(job_plan_make(&s.arena, &r, &s.all, NULL, &p, NULL), 0);
        if (b_after)
                scene_workload(&after, ORIGIN_COMMANDS, "b", "{}", b_after);
        if (a_after)
                scene_workload(&after, ORIGIN_COMMANDS, "a", "{}", a_after);
        assert_int_equal(job_verify(&s.all, &after.all, &p, &s.err), *complaint ? ERR_INVALID : 0);
        assert_string_equal(s.err.text, complaint);
        scene_end(&s);
        scene_end(&after);
}

#define UNVERIFIED "verifying changes: failed to verify changes: "

/* spec/flux-yaml.md checklist 53 */
static void after_an_image_job_just_those_images_have_changed(void **state)
{
        assert_verified("'app':'nginx:2','side':'pg:1'", "'app':'nginx:1'", "");
        assert_verified("'side':'pg:1','app':'nginx:2'", "'app':'nginx:1'", "");
        assert_verified("'app':'nginx:1','side':'pg:1'", "'app':'nginx:1'",
                        UNVERIFIED
                        "the image for container \"app\" in resource \"shop:deployment/a\" should be "
                        "\"nginx:2\", but is \"nginx:1\"");
        assert_verified("'app':'nginx:2','side':'pg:2'", "'app':'nginx:1'",
                        UNVERIFIED
                        "the image for container \"side\" in resource \"shop:deployment/a\" should be "
                        "\"pg:1\", but is \"pg:2\"");
        assert_verified("'app':'nginx:2','side':'pg:1'", "'app':'nginx:2'",
                        UNVERIFIED
                        "the image for container \"app\" in resource \"shop:deployment/b\" should be "
                        "\"nginx:1\", but is \"nginx:2\"");
        assert_verified("'app':'nginx:2'", "'app':'nginx:1'",
                        UNVERIFIED
                        "resource \"shop:deployment/a\" has different set of containers after update");
        assert_verified("'app':'nginx:2','other':'pg:1'", "'app':'nginx:1'",
                        UNVERIFIED
                        "resource \"shop:deployment/a\" has different set of containers after update");
        assert_verified(NULL, NULL,
                        UNVERIFIED
                        "resources {shop:deployment/a, shop:deployment/b} present before update but "
                        "not after");
}

/* ---- failing allocations ---- */

struct allocation_scene {
        struct scene scene;
        json_t *policy, *image;
        struct image_catalog catalog;
};

static int run_all(struct arena *arena, void *data)
{
        struct allocation_scene *a = data;
        struct job_request policy, image;
        struct image_candidates c;
        struct job_plan p;
        struct error err;

        TRY(job_request_read(arena, a->policy, &policy, &err));
        TRY(job_plan_make(arena, &policy, &a->scene.all, NULL, &p, &err));
        TRY(job_request_read(arena, a->image, &image, &err));
        TRY(job_candidates(arena, &image, &a->scene.all, &c, &err));
        TRY(job_plan_make(arena, &image, &a->scene.all, &a->catalog, &p, &err));
        return job_verify(&a->scene.all, &a->scene.all, &(struct job_plan){ 0 }, &err);
}

static void each_allocation_may_fail(void **state)
{
        struct allocation_scene a = { .scene = scene_new() };
        struct image_repository nginx =
                repository_of(&a.scene, "index.docker.io/library/nginx", "1@1 2@2 3@3");

        a.catalog = (struct image_catalog){ &nginx, 1 };
        scene_workload(&a.scene, ORIGIN_RAW, "a", "{'fluxcd.io/tag.app':'semver:~2'}",
                       "'app':'nginx:1','b':'x:1'");
        scene_workload(&a.scene, ORIGIN_RAW, "b", "{}",
                       "'app':'nginx:1@sha256:00112233445566778899aabbccddeeff'");
        a.policy = doc_of("{'data':{'type':'policy','workloads':'shop:deployment/a\\nx:y/z','add':'locked\\n"
                          "tag_all=glob:x','user':'Ann <a@b>','message':'m'}}");
        a.image = doc_of("{'data':{'type':'image','workloads':'*','image':'b=*\\nnginx','force':'false'}}");
        walk_all_failures(run_all, &a);
        json_decref(a.policy);
        json_decref(a.image);
        scene_end(&a.scene);
}

int main(void)
{
        mem_hook_libraries();
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(requests_are_read_or_refused_with_the_field),
                cmocka_unit_test(what_a_request_says_is_kept),
                cmocka_unit_test(lists_of_requests_have_limits),
                cmocka_unit_test(a_policy_job_changes_annotations),
                cmocka_unit_test(automating_asks_for_a_look_at_images),
                cmocka_unit_test(updaters_are_told_a_policy_once),
                cmocka_unit_test(an_image_job_changes_who_uses_the_image),
                cmocka_unit_test(an_image_job_may_name_containers),
                cmocka_unit_test(tags_are_looked_up_where_registries_are_read),
                cmocka_unit_test(what_a_request_has_to_know_is_asked_for),
                cmocka_unit_test(a_plan_is_told_in_lines),
                cmocka_unit_test(all_changes_of_a_file_are_made),
                cmocka_unit_test(a_change_is_made_in_a_document),
                cmocka_unit_test(after_an_image_job_just_those_images_have_changed),
                cmocka_unit_test(each_allocation_may_fail),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
