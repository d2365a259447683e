#include "hub-agent/manifest-generation/update/update_test.h"
#include "hub-agent/manifest-generation/update/workload.h"

/* ---- images ---- */

static void images_have_their_parts(void **state)
{
        static const struct {
                const char *text, *registry, *path, *tag, *digest, *canonical;
        } rows[] = {
                { "nginx", "", "nginx", "", "", "index.docker.io/library/nginx" },
                { "nginx:1.25", "", "nginx", "1.25", "", "index.docker.io/library/nginx" },
                { "team/app:v1", "", "team/app", "v1", "", "index.docker.io/team/app" },
                { "docker.io/nginx:1", "docker.io", "nginx", "1", "", "index.docker.io/library/nginx" },
                { "index.docker.io/a/b:1", "index.docker.io", "a/b", "1", "", "index.docker.io/a/b" },
                { "quay.io/team/app:1", "quay.io", "team/app", "1", "", "quay.io/team/app" },
                { "localhost/app", "localhost", "app", "", "", "localhost/app" },
                { "localhost:5000/app", "localhost:5000", "app", "", "", "localhost:5000/app" },
                { "reg:80/a/b/c:T_1", "reg:80", "a/b/c", "T_1", "", "reg:80/a/b/c" },
                { "a.b/c:1@sha256:00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff", "a.b",
                  "c", "1", "sha256:00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff",
                  "a.b/c" },
        };
        AUTO_ARENA struct arena arena = ARENA_INIT;

        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
                struct image_ref r;

                assert_int_equal(image_ref_parse(&arena, rows[i].text, &r, NULL), 0);
                assert_string_equal(r.text, rows[i].text);
                assert_string_equal(r.registry, rows[i].registry);
                assert_string_equal(r.path, rows[i].path);
                assert_string_equal(r.tag, rows[i].tag);
                assert_string_equal(r.digest, rows[i].digest);
                assert_string_equal(image_canonical(&arena, &r), rows[i].canonical);
        }
}

static void what_is_no_image_is_refused(void **state)
{
        static const struct {
                const char *text, *complaint;
        } rows[] = {
                { "", "invalid image \"\": it has no name" },
                { ":1", "invalid image \":1\": it has no name" },
                { "quay.io/", "invalid image \"quay.io/\": it has no name" },
                { "a b", "invalid image \"a b\": its name is none that registries have" },
                { "a//b", "invalid image \"a//b\": its name is none that registries have" },
                { "/a", "invalid image \"/a\": its name is none that registries have" },
                { "a:", "invalid image \"a:\": its tag is none that registries have" },
                { "a:-x", "invalid image \"a:-x\": its tag is none that registries have" },
                { "a:x$y", "invalid image \"a:x$y\": its tag is none that registries have" },
                { "a@sha256:12", "invalid image \"a@sha256:12\": its digest is none" },
                { "{{ .x }}", "invalid image \"{{ .x }}\": its name is none that registries have" },
        };
        AUTO_ARENA struct arena arena = ARENA_INIT;

        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
                struct image_ref r;
                struct error err;

                assert_int_equal(image_ref_parse(&arena, rows[i].text, &r, &err), ERR_INVALID);
                assert_string_equal(err.text, rows[i].complaint);
        }
}

static void an_image_with_another_tag_is_written_as_it_was(void **state)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct image_ref r;

        assert_int_equal(image_ref_parse(&arena, "docker.io/nginx:1", &r, NULL), 0);
        assert_string_equal(image_with_tag(&arena, &r, "2"), "docker.io/nginx:2");
        assert_int_equal(image_ref_parse(&arena, "nginx", &r, NULL), 0);
        assert_string_equal(image_with_tag(&arena, &r, "2"), "nginx:2");
        assert_string_equal(image_with_tag(&arena, &r, ""), "nginx");
}

/* ---- workloads ---- */

/* "name image place; " of each. */
static const char *containers_of(struct arena *arena, const char *text)
{
        struct workload_view w;
        json_t *doc = doc_of(text);
        const char *all = "";

        assert_int_equal(doc_keep(arena, doc, NULL), 0);
        assert_int_equal(workload_read(arena, "x", doc, &w, NULL), 0);
        for (size_t i = 0; i < w.n; i++) {
                const struct workload_container *c = &w.containers[i];

                if (c->problem)
                        all = arena_printf(arena, "%s%s !%s; ", all, c->name, c->problem);
                else
                        all = arena_printf(arena, "%s%s%s %s @%s->%s; ", all, c->init ? "init " : "", c->name,
                                           c->image.text, doc_place_text(arena, &c->place),
                                           workload_image_text(arena, c, "9"));
        }
        return all;
}

#define POD                                                                                                  \
        "'spec':{'containers':[{'name':'a','image':'nginx:1'},{'name':'b','image':'q.io/x/y:2'}],"           \
        "'initContainers':[{'name':'i','image':'busybox'}]}"

static void containers_stand_before_init_containers(void **state)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;

        for (int i = 0; i < 3; i++) {
                static const char *const kinds[] = { "Deployment", "DaemonSet", "StatefulSet" };

                assert_string_equal(
                        containers_of(&arena,
                                      arena_printf(&arena, "{'kind':'%s','spec':{'template':{" POD "}}}",
                                                   kinds[i])),
                        "a nginx:1 @spec.template.spec.containers[0].image->nginx:9; "
                        "b q.io/x/y:2 @spec.template.spec.containers[1].image->q.io/x/y:9; "
                        "init i busybox @spec.template.spec.initContainers[0].image->busybox:9; ");
        }
        assert_string_equal(
                containers_of(&arena,
                              "{'kind':'CronJob','spec':{'jobTemplate':{'spec':{'template':{" POD "}}}}}"),
                "a nginx:1 @spec.jobTemplate.spec.template.spec.containers[0].image->nginx:9; "
                "b q.io/x/y:2 @spec.jobTemplate.spec.template.spec.containers[1].image->q.io/x/y:9; "
                "init i busybox @spec.jobTemplate.spec.template.spec.initContainers[0].image->busybox:9; ");
}

static void values_of_helm_releases_name_images(void **state)
{
        static const struct {
                const char *values, *containers;
        } rows[] = {
                { "{'image':'a/b:1'}", "chart-image a/b:1 @spec.values.image->a/b:9; " },
                { "{'image':'a/b'}", "chart-image a/b @spec.values.image->a/b:9; " },
                { "{'image':'a/b','tag':'1'}", "chart-image a/b:1 @spec.values.tag->9; " },
                { "{'image':'a/b:2','tag':'1'}", "chart-image a/b:2 @spec.values.image->a/b:9; " },
                { "{'registry':'q.io','image':'a/b','tag':'1'}",
                  "chart-image q.io/a/b:1 @spec.values.tag->9; " },
                { "{'registry':'q.io','image':'a/b:1'}",
                  "chart-image q.io/a/b:1 @spec.values.image->a/b:9; " },
                { "{'image':{'repository':'a/b','tag':'1'}}",
                  "chart-image a/b:1 @spec.values.image.tag->9; " },
                { "{'image':{'repository':'a/b','tag':7}}", "chart-image a/b:7 @spec.values.image.tag->9; " },
                { "{'image':{'repository':'a/b','tag':1.5}}",
                  "chart-image !spec.values.image.tag: must be a string; " },
                { "{'image':{'repository':'a/b','tag':null}}",
                  "chart-image a/b @spec.values.image.tag->9; " },
                { "{'image':{'repository':'a/b'}}", "chart-image a/b @spec.values.image.tag->9; " },
                { "{'image':{'repository':'a/b:3'}}",
                  "chart-image a/b:3 @spec.values.image.repository->a/b:9; " },
                { "{'image':{'registry':'q.io','repository':'a/b','tag':'1'}}",
                  "chart-image q.io/a/b:1 @spec.values.image.tag->9; " },
                { "{'image':{'pullPolicy':'Always'}}", "" },
                { "{'image':''}", "" },
                { "{}", "" },
                { "{'web':{'image':{'repository':'w','tag':'1'}},'api':{'image':'a:1'},'n':1,'l':['image']}",
                  "api a:1 @spec.values.api.image->a:9; web w:1 @spec.values.web.image.tag->9; " },
                { "{'image':'a b'}",
                  "chart-image !spec.values.image: invalid image \"a b\": its name is none that "
                  "registries have; " },
        };
        AUTO_ARENA struct arena arena = ARENA_INIT;

        for (size_t i = 0; i < ARRAY_LEN(rows); i++)
                assert_string_equal(
                        containers_of(&arena,
                                      arena_printf(&arena, "{'kind':'HelmRelease','spec':{'values':%s}}",
                                                   rows[i].values)),
                        rows[i].containers);
}

static void what_has_no_containers_is_told(void **state)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        AUTO_JSON json_t *doc = doc_of("{'kind':'ConfigMap'}");
        struct workload_view w;
        struct error err;

        assert_int_equal(workload_read(&arena, "default:configmap/foo", doc, &w, &err), ERR_UNSUPPORTED);
        assert_string_equal(err.text, "resource default:configmap/foo does not have containers");
}

static void a_container_that_cannot_be_updated_says_why(void **state)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;

        assert_string_equal(
                containers_of(&arena, "{'kind':'Deployment','spec':{'template':{'spec':{'containers':["
                                      "{'name':'a'},{'image':'b'},{'name':'c','image':'${IMG}'},7]}}}}"),
                "a !spec.template.spec.containers[0].image: must be an image, as a string; "
                " !spec.template.spec.containers[1].image: the container has no name; "
                "c !spec.template.spec.containers[2].image: invalid image \"${IMG}\": its name is "
                "none that registries have; "
                " !spec.template.spec.containers[3].image: the container has no name; ");
        assert_string_equal(containers_of(&arena, "{'kind':'Deployment','spec':{'template':7}}"), "");
        assert_string_equal(containers_of(&arena, "{'kind':'Deployment','spec':{'template':{'spec':{"
                                                  "'containers':{'name':'a','image':'b'}}}}}"),
                            "");
}

static const char *credentials_of(struct arena *arena, const char *text)
{
        struct workload_credentials c;
        json_t *doc = doc_of(text);
        const char *all;

        assert_int_equal(doc_keep(arena, doc, NULL), 0);
        assert_int_equal(workload_credentials(arena, doc, &c, NULL), 0);
        all = c.service_account;
        for (size_t i = 0; i < c.n; i++)
                all = arena_printf(arena, "%s %s", all, c.secrets[i]);
        return all;
}

/* spec/flux-yaml.md checklist 64 */
static void workloads_name_the_secrets_of_registries(void **state)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;

        assert_string_equal(credentials_of(&arena,
                                           "{'kind':'Deployment','spec':{'template':{'spec':{"
                                           "'serviceAccountName':'sa','imagePullSecrets':[{'name':'x'},{},"
                                           "{'name':'y'}]}}}}"),
                            "sa x y");
        assert_string_equal(credentials_of(&arena,
                                           "{'kind':'CronJob','spec':{'jobTemplate':{'spec':{'template':{"
                                           "'spec':{'serviceAccount':'old'}}}}}}"),
                            "old");
        assert_string_equal(credentials_of(&arena, "{'kind':'Deployment'}"), "default");
        assert_string_equal(
                credentials_of(
                        &arena,
                        "{'kind':'HelmRelease','spec':{'values':{'imagePullSecrets':[{'name':'x'}]}}}"),
                "default x");
}

static void identities_have_three_parts(void **state)
{
        static const char *const bad[] = { "", "a", "a/b", "a:b", ":b/c", "a:/c", "a:b/", "a:b/c/d" };
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct workload_id id;
        struct error err;

        assert_int_equal(workload_id_parse(&arena, "<cluster>:deployment/foo", &id, NULL), 0);
        assert_string_equal(id.ns, "<cluster>");
        assert_string_equal(id.kind, "deployment");
        assert_string_equal(id.name, "foo");
        for (size_t i = 0; i < ARRAY_LEN(bad); i++)
                assert_int_equal(workload_id_parse(&arena, bad[i], &id, &err), ERR_INVALID);
        assert_string_equal(err.text,
                            "invalid workload identity \"a:b/c/d\": must be <namespace>:<kind>/<name>");
}

/* ---- places ---- */

static void a_value_is_set_where_its_place_says(void **state)
{
        const struct doc_step steps[] = { { "a", 0 }, { NULL, 1 }, { "b", 0 }, { "c", 0 } };
        const struct doc_place place = { steps, ARRAY_LEN(steps) }, first = { steps, 2 };
        json_t *doc = doc_of("{'a':[1,{}]}");
        AUTO_JSON json_t *other = doc_of("{'a':[1]}");
        struct error err;

        assert_null(doc_at(doc, &place));
        assert_int_equal(doc_remove_at(doc, &place, NULL), 0);
        assert_int_equal(doc_set_at(doc, &place, json_string("x"), NULL), 0);
        assert_string_equal(json_string_value(doc_at(doc, &place)), "x");
        assert_int_equal(doc_set_at(doc, &place, NULL, NULL), ERR_NO_MEMORY);
        assert_int_equal(doc_remove_at(doc, &place, NULL), 0);
        assert_int_equal(doc_set_at(doc, &first, json_integer(2), NULL), 0);
        assert_int_equal(doc_set_at(doc, &place, json_string("x"), &err), ERR_INVALID);
        assert_string_equal(err.text, "member b cannot be in what is there");
        assert_doc_is(doc, "{'a':[1,2]}");
        assert_int_equal(doc_set_at(other, &place, json_string("x"), &err), ERR_INVALID);
        assert_string_equal(err.text, "there is no item 1");
        assert_int_equal(doc_set_at(other, &first, json_string("x"), &err), ERR_INVALID);
}

static int read_all(struct arena *arena, void *data)
{
        struct workload_credentials c;
        struct workload_view w;
        struct workload_id id;
        struct error err;

        TRY(workload_id_parse(arena, "a:b/c", &id, &err));
        TRY(workload_credentials(arena, data, &c, &err));
        TRY(workload_read(arena, "x", data, &w, &err));
        for (size_t i = 0; i < w.n; i++)
                if (!w.containers[i].problem && (!image_canonical(arena, &w.containers[i].image) ||
                                                 !workload_image_text(arena, &w.containers[i], "1") ||
                                                 !doc_place_text(arena, &w.containers[i].place)))
                        return ERR_NO_MEMORY;
        return 0;
}

static void each_allocation_may_fail(void **state)
{
        AUTO_JSON json_t *pods =
                doc_of("{'kind':'Deployment','spec':{'template':{'spec':{'containers':["
                       "{'name':'a'},{'name':'c','image':'${IMG}'},{'name':'d','image':'x:1'}],"
                       "'imagePullSecrets':[{'name':'x'}]}}}}");
        AUTO_JSON json_t *chart = doc_of("{'kind':'HelmRelease','spec':{'values':{'image':{'repository':'a',"
                                         "'registry':'b.c','tag':1.5},'x':{'image':{'repository':'a',"
                                         "'registry':'b.c','tag':1}}}}}");

        walk_all_failures(read_all, pods);
        walk_all_failures(read_all, chart);
}

static void there_is_a_most_of_containers(void **state)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        AUTO_JSON json_t *doc =
                doc_of("{'kind':'Deployment','spec':{'template':{'spec':{'containers':[]}}}}");
        json_t *list = doc_get_array(doc, "spec.template.spec.containers");
        struct workload_view w;

        for (int i = 0; i <= WORKLOAD_CONTAINERS_MAX; i++)
                json_array_append_new(list, doc_of("{'name':'a','image':'b'}"));
        assert_int_equal(workload_read(&arena, "x", doc, &w, NULL), ERR_LIMIT);
}

int main(void)
{
        mem_hook_libraries();
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(images_have_their_parts),
                cmocka_unit_test(what_is_no_image_is_refused),
                cmocka_unit_test(an_image_with_another_tag_is_written_as_it_was),
                cmocka_unit_test(containers_stand_before_init_containers),
                cmocka_unit_test(values_of_helm_releases_name_images),
                cmocka_unit_test(what_has_no_containers_is_told),
                cmocka_unit_test(a_container_that_cannot_be_updated_says_why),
                cmocka_unit_test(workloads_name_the_secrets_of_registries),
                cmocka_unit_test(identities_have_three_parts),
                cmocka_unit_test(a_value_is_set_where_its_place_says),
                cmocka_unit_test(each_allocation_may_fail),
                cmocka_unit_test(there_is_a_most_of_containers),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
