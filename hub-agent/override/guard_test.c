/* What an override may not do to a manifest, whatever way it came in: the rules of
 * spec/membership-webhooks-charts.md 5.4, kept where overrides are applied. */
#include "hub-agent/override/testing.h"

#include "common/base/limits.h"
#include "common/base/memory.h"
#include "common/json/patch.h"

#define OPERATION(op, path, value) "{\"op\":\"" op "\",\"path\":\"" path "\",\"value\":" value "}"
#define RULE(operations) "{" ALL ",\"jsonPatchOverrides\":[" operations "]}"
#define OWN(rules) "{" SELECT_CM("site") "," POLICY(rules) "}"

#define TYPE "cannot override typeMeta fields"
#define METADATA "cannot override metadata fields except annotations and labels"
#define STATUS "cannot override status fields"

/* Each is one operation of a namespace's override on the ConfigMap "site" of that namespace. */
static void what_makes_another_object_of_a_manifest_is_refused(void **state)
{
        static const struct {
                const char *operation, *why;
        } rows[] = {
                { OPERATION("replace", "/kind", "\"ClusterRoleBinding\""), TYPE },
                { OPERATION("add", "/kind", "\"ClusterRoleBinding\""), TYPE },
                { OPERATION("remove", "/kind", "null"), TYPE },
                { OPERATION("add", "/kind/x", "1"), TYPE },
                { OPERATION("replace", "/apiVersion", "\"rbac.authorization.k8s.io/v1\""), TYPE },
                { OPERATION("remove", "/apiVersion", "null"), TYPE },
                { OPERATION("replace", "", "{\"apiVersion\":\"v1\",\"kind\":\"Namespace\"}"),
                  "path cannot be empty" },
                { OPERATION("add", "", "{}"), "path cannot be empty" },
                { OPERATION("replace", "kind", "\"Pod\""), "path must start with /" },
                { OPERATION("replace", " /kind", "\"Pod\""), "path must start with /" },
                { OPERATION("replace", "/metadata", "{\"name\":\"x\"}"), "cannot override field metadata" },
                { OPERATION("add", "/metadata", "{\"name\":\"x\"}"), "cannot override field metadata" },
                { OPERATION("remove", "/metadata", "null"), "cannot override field metadata" },
                { OPERATION("replace", "/metadata/name", "\"x\""), METADATA },
                { OPERATION("add", "/metadata/namespace", "\"kube-system\""), METADATA },
                { OPERATION("remove", "/metadata/namespace", "null"), METADATA },
                { OPERATION("add", "/metadata/generateName", "\"x\""), METADATA },
                { OPERATION("add", "/metadata/ownerReferences", "[]"), METADATA },
                { OPERATION("add", "/metadata/ownerReferences/-", "{}"), METADATA },
                { OPERATION("add", "/metadata/finalizers", "[\"x/y\"]"), METADATA },
                { OPERATION("add", "/metadata/uid", "\"u\""), METADATA },
                { OPERATION("add", "/metadata/resourceVersion", "\"1\""), METADATA },
                { OPERATION("add", "/metadata/deletionTimestamp", "\"2026-01-01T00:00:00Z\""), METADATA },
                { OPERATION("add", "/metadata/managedFields", "[]"), METADATA },
                { OPERATION("add", "/metadata/-", "1"), METADATA },
                { OPERATION("add", "/metadata/0", "1"), METADATA },
                /* a token with an escape is another field, and none that may be set */
                { OPERATION("add", "/metadata/labels~1name", "\"x\""), METADATA },
                { OPERATION("add", "/metadata/labels~0", "{}"), METADATA },
                { OPERATION("add", "/metadata/${MEMBER-CLUSTER-LABEL-KEY-field}", "\"x\""), METADATA },
                { OPERATION("add", "/status", "{}"), STATUS },
                { OPERATION("add", "/status/phase", "\"Terminating\""), STATUS },
                { OPERATION("add", "/", "1"), "path cannot contain empty string" },
                { OPERATION("add", "//kind", "1"), "path cannot contain empty string" },
                { OPERATION("add", "/data//x", "\"1\""), "path cannot contain empty string" },
                { OPERATION("add", "/data/", "\"1\""), "path cannot contain empty string" },
                { OPERATION("add", "/metadata/", "1"), METADATA },
                { OPERATION("add", "/metadata/labels/", "\"1\""), "path cannot contain empty string" },
                /* only three operations exist: nothing is taken from one place to another */
                { "{\"op\":\"move\",\"from\":\"/data\",\"path\":\"/spec\"}", "unsupported operation" },
                { "{\"op\":\"move\",\"from\":\"/metadata\",\"path\":\"/data/m\"}", "unsupported operation" },
                { "{\"op\":\"move\",\"from\":\"/data/kind\",\"path\":\"/kind\"}", "unsupported operation" },
                { "{\"op\":\"copy\",\"from\":\"\",\"path\":\"/data/all\"}", "unsupported operation" },
                { "{\"op\":\"test\",\"path\":\"/data/a\",\"value\":\"1\"}", "unsupported operation" },
                { "{\"op\":\"Replace\",\"path\":\"/data/a\",\"value\":\"1\"}", "unsupported operation" },
                { "{\"op\":\"\",\"path\":\"/data/a\",\"value\":\"1\"}", "unsupported operation" },
        };

        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
                struct slice text;
                char spec[1024];
                struct bench b;
                int code;

                begin(&b);
                snprintf(spec, sizeof(spec), OWN(RULE("%s")), rows[i].operation);
                add(&b, "web", "o-3", spec);
                code = apply_to(&b, CONFIG, &text);
                if (code != ERR_INVALID || !strstr(b.err.text, rows[i].why))
                        fail_msg("row %zu %s: %d %s", i, rows[i].operation, code, b.err.text);
                if (!text_starts_with(b.err.text, "ResourceOverrideSnapshot \"o-3\" failed to apply on "
                                                  "ConfigMap \"site\" in namespace \"web\": "))
                        fail_msg("row %zu: %s", i, b.err.text);
                arena_free(&b.arena);
        }
}

static void a_refusal_quotes_the_operation(void **state)
{
        struct slice text;
        struct bench b;

        begin(&b);
        add(&b, "web", "o-0", OWN(RULE(OPERATION("replace", "/kind", "\"Role\""))));
        assert_int_equal(apply_to(&b, CONFIG, &text), ERR_INVALID);
        assert_non_null(strstr(b.err.text, "invalid JSONPatchOverride {replace /kind {\"Role\"}}: " TYPE));
        arena_free(&b.arena);
}

/* The words at the end are what helps; they must not be lost behind what somebody wrote. */
static void a_long_path_or_value_does_not_hide_the_reason(void **state)
{
        AUTO_BUF struct buf spec;
        struct slice text;
        struct bench b;

        begin(&b);
        buf_init(&spec, 65536);
        buf_append_str(&spec,
                       "{" SELECT_CM("site") ",\"policy\":{\"overrideRules\":[{" ALL
                                             ",\"jsonPatchOverrides\":[{\"op\":\"add\",\"path\":\"/kind/");
        for (int i = 0; i < 4000; i++)
                buf_append_char(&spec, 'p');
        buf_append_str(&spec, "\",\"value\":\"");
        for (int i = 0; i < 4000; i++)
                buf_append_char(&spec, 'v');
        buf_append_str(&spec, "\"}]}]}}");
        add(&b, "web", "o-0", spec.data);
        assert_int_equal(apply_to(&b, CONFIG, &text), ERR_INVALID);
        assert_non_null(strstr(b.err.text, TYPE));
        arena_free(&b.arena);
}

/* The cluster's overrides are no exception, and neither is a manifest of a cluster-scoped kind. */
static void overrides_of_the_cluster_are_held_to_it_too(void **state)
{
        struct slice text;
        struct bench b;

        begin(&b);
        add(&b, NULL, "c-0",
            "{" SELECT_NS("web") "," POLICY(PATCH("replace", "/metadata/name", "\"x\"")) "}");
        assert_int_equal(apply_to(&b, CONFIG, &text), ERR_INVALID);
        assert_non_null(strstr(b.err.text, METADATA));
        assert_int_equal(apply_to(&b,
                                  "{\"apiVersion\":\"v1\",\"kind\":\"Namespace\",\"metadata\":{\"name\":"
                                  "\"web\"}}",
                                  &text),
                         ERR_INVALID);
        assert_non_null(strstr(b.err.text, "failed to apply on Namespace \"web\": "));
        arena_free(&b.arena);
}

/* Rules of other clusters are not looked at, and what comes after a deletion does nothing. */
static void only_what_would_be_done_is_refused(void **state)
{
        struct slice text;
        struct bench b;

        begin(&b);
        add(&b, "web", "o-0", OWN("{\"jsonPatchOverrides\":[" OPERATION("remove", "/kind", "null") "]}"));
        assert_int_equal(apply_to(&b, CONFIG, &text), 0);
        arena_free(&b.arena);
        begin(&b);
        add(&b, "web", "o-0", OWN(DELETE "," RULE(OPERATION("remove", "/kind", "null"))));
        assert_int_equal(apply_to(&b, CONFIG, &text), 2);
        arena_free(&b.arena);
}

static void labels_annotations_and_contents_may_be_changed(void **state)
{
        static const char *const operations[] = {
                OPERATION("add", "/metadata/labels", "{\"a\":\"b\"}"),
                OPERATION("add", "/metadata/annotations", "{\"example.com/kind\":\"b\"}"),
                OPERATION("replace", "/data/a", "\"/kind\""),
                OPERATION("add", "/data/kind", "\"x\""),
                OPERATION("add", "/data/status", "\"x\""),
                OPERATION("add", "/data/a~1kind", "\"x\""),
                OPERATION("add", "/kinds", "{}"),
                OPERATION("add", "/statusPage", "{}"),
                OPERATION("add", "/immutable", "true"),
                OPERATION("remove", "/data", "null"),
        };

        for (size_t i = 0; i < ARRAY_LEN(operations); i++) {
                struct slice text;
                char spec[1024];
                struct bench b;

                begin(&b);
                snprintf(spec, sizeof(spec), OWN(RULE("%s")), operations[i]);
                add(&b, "web", "o-0", spec);
                if (apply_to(&b, CONFIG, &text) != 1)
                        fail_msg("%s: %s", operations[i], b.err.text);
                arena_free(&b.arena);
        }
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(what_makes_another_object_of_a_manifest_is_refused),
                cmocka_unit_test(a_refusal_quotes_the_operation),
                cmocka_unit_test(a_long_path_or_value_does_not_hide_the_reason),
                cmocka_unit_test(overrides_of_the_cluster_are_held_to_it_too),
                cmocka_unit_test(only_what_would_be_done_is_refused),
                cmocka_unit_test(labels_annotations_and_contents_may_be_changed),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
