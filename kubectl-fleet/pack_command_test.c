#include "kubectl-fleet/fleet_test.h"

#define SETS "/apis/olm.operatorframework.io/v1/clusterobjectsets"
#define SECRETS "/api/v1/namespaces/sets/secrets"
#define CM(name) "{apiVersion: v1, kind: ConfigMap, metadata: {name: " name ", namespace: app}}\n"
#define DEPLOYMENT "{apiVersion: apps/v1, kind: Deployment, metadata: {name: d, namespace: app}}\n"
#define PACK(u, ...) FLEET_RUN((u), "pack", "-", "--owner", "web", "-n", "sets", ##__VA_ARGS__)

static json_t *printed(struct user *u)
{
        json_t *docs = NULL;
        struct error err = { 0 };

        if (yaml_parse_all((struct slice){ u->out.data, u->out.len }, &docs, &err) < 0)
                fail_msg("%s", err.text);
        return docs;
}

/* As `kubectl apply` would, of what is not there yet. */
static void apply_output(struct user *u)
{
        AUTO_JSON json_t *docs = printed(u);
        json_t *doc;
        size_t i;

        json_array_foreach(docs, i, doc) {
                AUTO_BUF struct buf b;

                buf_init(&b, 4u << 20);
                assert_int_equal(doc_write(doc, &b), 0);
                if (rig_post(u->rig, text_equal(doc_get_string(doc, "kind"), "Secret") ? SECRETS : SETS,
                             b.data) != 201)
                        fail_msg("%s", u->rig->text);
        }
}

static void with_namespace(struct user *u)
{
        assert_int_equal(rig_post(u->rig, "/api/v1/namespaces", "{\"metadata\":{\"name\":\"sets\"}}"), 201);
}

static const char *set_name(struct user *u)
{
        static char name[128];
        AUTO_JSON json_t *docs = printed(u);

        snprintf(name, sizeof(name), "%s",
                 or_empty(doc_get_string(json_array_get(docs, json_array_size(docs) - 1), "metadata.name")));
        return name;
}

USER_TEST(a_revision_that_is_named_needs_no_hub, {
        u->input = CM("a") "---\n" DEPLOYMENT;
        assert_int_equal(
                PACK(u, "--revision", "3", "--progress-deadline-minutes=20", "--collision-protection=None"),
                0);
        assert_int_equal(u->requests, 0);
        assert_string_equal(u->err.data, "");
        assert_lines(u->out.data,
                     "immutable: true\nkind: Secret\n    olm.operatorframework.io/owner-name: web\n"
                     "    olm.operatorframework.io/revision-name: web-3\n  namespace: sets\n"
                     "type: olm.operatorframework.io/object-data\n---\nkind: ClusterObjectSet\n"
                     "  name: web-3\n  collisionProtection: None\n  lifecycleState: Active\n"
                     "  - name: configuration\n  - name: deploy\n  progressDeadlineMinutes: 20\n"
                     "  revision: 3\n");
        with_namespace(u);
        apply_output(u); /* the hub takes it */
        rig_get(u->rig, SETS "/web-3");
        assert_int_equal(u->rig->status, 200);
})

USER_TEST(the_next_revision_is_that_behind_the_newest_on_the_hub, {
        with_namespace(u);
        u->input = CM("a");
        assert_int_equal(PACK(u), 0);
        assert_string_equal(set_name(u), "web-1");
        assert_string_equal(u->err.data, "");
        apply_output(u);
        assert_int_equal(PACK(u), 0); /* the same again */
        assert_string_equal(set_name(u), "web-1");
        assert_string_equal(u->err.data, "web-1 on the hub holds the same: it stays as it is.\n");
        u->input = CM("b");
        assert_int_equal(PACK(u), 0);
        assert_string_equal(set_name(u), "web-2");
        assert_string_equal(u->err.data,
                            "web-2 takes over from web-1, which each cluster archives when web-2 has "
                            "succeeded there. Keep web-1 placed until then.\n");
        apply_output(u);
        u->input = CM("a"); /* back to the old content is a revision of its own */
        assert_int_equal(PACK(u), 0);
        assert_string_equal(set_name(u), "web-3");
        u->input = CM("b");
        assert_int_equal(PACK(u, "--collision-protection=None"), 0); /* cannot change either */
        assert_string_equal(set_name(u), "web-3");
        rig_merge(u->rig, SETS "/web-2", "{\"spec\":{\"lifecycleState\":\"Archived\"}}");
        assert_int_equal(PACK(u), 0); /* nor does an archived one come back */
        assert_string_equal(set_name(u), "web-3");
        assert_int_equal(FLEET_RUN(u, "pack", "-", "--owner", "other", "-n", "sets"), 0);
        assert_string_equal(set_name(u), "other-1");
})

USER_TEST(programs_get_a_list_or_names, {
        u->input = CM("a");
        assert_int_equal(PACK(u, "--revision=1", "-o", "json"), 0);
        parse_output(u);
        assert_string_equal(rig_string(u->rig, "kind"), "List");
        assert_int_equal(json_array_size(doc_get_array(u->rig->answer, "items")), 2);
        assert_int_equal(PACK(u, "--revision=1", "-o", "name"), 0);
        assert_lines(u->out.data, "secret/web-1-\nclusterobjectset.olm.operatorframework.io/web-1\n");
})

USER_TEST(objects_that_need_a_namespace_are_told_of, {
        u->input = "{apiVersion: v1, kind: Service, metadata: {name: a}}\n";
        assert_int_equal(PACK(u, "--revision=1"), 0);
        assert_string_equal(u->err.data,
                            "Warning: Service \"a\" needs a namespace: a set has no default one.\n");
        u->input = "{apiVersion: v1, kind: Service, metadata: {name: a}}\n---\n"
                   "{apiVersion: v1, kind: Secret, metadata: {name: a}}\n---\n"
                   "{apiVersion: v1, kind: Namespace, metadata: {name: a}}\n";
        assert_int_equal(PACK(u, "--revision=1"), 0);
        assert_string_equal(
                u->err.data,
                "Warning: Service \"a\" and 1 more need a namespace: a set has no default one.\n");
})

static int read_folder(void *ctx, const char *path, size_t max, char **ret, size_t *ret_len,
                       struct error *err)
{
        const char *text =
                text_ends_with(path, "/a.yaml") ? CM("a") "---\n" CM("b")
                : text_ends_with(path, "/b.json")
                        ? "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"c\","
                          "\"namespace\":\"app\"}}"
                : text_ends_with(path, "/c.yml") ? CM("d")
                                                 : NULL;

        if (!text)
                return error_set(err, ERR_INVALID, "%s: not to be read", path);
        *ret = mem_must(mem_strdup(text));
        *ret_len = strlen(text);
        return 0;
}

static int list_folder(void *ctx, const char *path, char **ret, struct error *err)
{
        static const char full[] = "README.md\0a.yaml\0b.json\0c.yml\0sub\0", none[] = "README.md\0";
        const char *names = text_equal(path, "deploy") ? full : none;
        size_t n = text_equal(path, "deploy") ? sizeof(full) : sizeof(none);

        if (text_equal(path, "gone"))
                return error_set(err, ERR_NOT_FOUND, "read %s: no such file", path);
        *ret = mem_alloc(n);
        memcpy(mem_must(*ret), names, n);
        return 0;
}

USER_TEST(a_folder_gives_its_manifests, {
        u->files.read = read_folder;
        u->files.list = list_folder;
        assert_int_equal(FLEET_RUN(u, "pack", "deploy", "--owner=web", "-nsets", "--revision=1", "-ojson"),
                         0);
        parse_output(u);
        assert_int_equal(
                json_object_size(doc_get(json_array_get(doc_get_array(u->rig->answer, "items"), 0), "data")),
                4);
        assert_int_equal(FLEET_RUN(u, "pack", "empty", "--owner=web", "-nsets", "--revision=1"), 1);
        assert_lines(u->err.data, "Error: empty: holds no .yaml, .yml or .json\n");
        assert_int_equal(FLEET_RUN(u, "pack", "gone", "--owner=web", "-nsets", "--revision=1"), 1);
        assert_lines(u->err.data, "Error: read gone: no such file\n");
})

USER_TEST(what_cannot_be_packed_is_told, {
        static const struct {
                const char *input, *words[6], *text;
        } cases[] = {
                { CM("a"), { "--owner=web" }, "Error: required flag(s) \"namespace\" not set" },
                { CM("a"), { "-nsets" }, "Error: required flag(s) \"owner\" not set" },
                { CM("a"), { "--owner=web", "-nA" }, "Error: --namespace: \"A\" is no name of a namespace" },
                { CM("a"),
                  { "--owner=web", "-nsets", "--collision-protection=Some" },
                  "Error: --collision-protection: must be Prevent, IfNoController or None, is \"Some\"" },
                { CM("a"), { "--owner=web", "-nsets", "--progress-deadline-minutes=9" }, "Error: " },
                { CM("a"), { "--owner=web", "-nsets", "--revision=-1" }, "Error: " },
                { CM("a"),
                  { "--owner=Web", "-nsets", "--revision=1" },
                  "Error: \"Web-1\": the set's name must" },
                { CM("a") "---\n" CM("a"),
                  { "--owner=web", "-nsets", "--revision=1" },
                  "Error: ConfigMap \"app/a\": is there twice" },
                { "a: b: c\n", { "--owner=web", "-nsets", "--revision=1" }, "Error: standard input: " },
                { "", { "--owner=web", "-nsets", "--revision=1" }, "Error: there are no manifests" },
        };

        for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
                const char *argv[8] = { "pack", "-" };
                int argc = 2;

                u->input = cases[i].input;
                for (size_t k = 0; cases[i].words[k]; k++)
                        argv[argc++] = cases[i].words[k];
                assert_int_equal(fleet_command(u, argc, argv), 1);
                assert_int_equal(u->requests, 0);
                assert_string_equal(u->out.data, "");
                assert_lines(u->err.data, cases[i].text);
        }
})

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(a_revision_that_is_named_needs_no_hub),
                cmocka_unit_test(the_next_revision_is_that_behind_the_newest_on_the_hub),
                cmocka_unit_test(programs_get_a_list_or_names),
                cmocka_unit_test(objects_that_need_a_namespace_are_told_of),
                cmocka_unit_test(a_folder_gives_its_manifests),
                cmocka_unit_test(what_cannot_be_packed_is_told),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
