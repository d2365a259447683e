/* Reading and writing built-in objects through the API. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/base/memory.h"
#include "e2e/devcluster/rig.h"

#define NS "/api/v1/namespaces/default"
#define CM NS "/configmaps"
#define DEPLOY "/apis/apps/v1/namespaces/default/deployments"

static const char config[] =
        "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"a\"},\"data\":{\"k\":\"v\"}}";
static const char deployment[] =
        "{\"apiVersion\":\"apps/"
        "v1\",\"kind\":\"Deployment\",\"metadata\":{\"name\":\"web\"},\"spec\":{\"replicas\":2,\"selector\":"
        "{\"matchLabels\":{\"app\":\"web\"}},\"template\":{\"metadata\":{\"labels\":{\"app\":\"web\"}},"
        "\"spec\":{\"containers\":"
        "[{\"name\":\"c\",\"image\":\"nginx\"}]}}}}";

static bool has_header(struct rig *r, const char *name, const char *part)
{
        for (size_t i = 0; i < r->headers.n; i++)
                if (strcasecmp(r->headers.at[i].name, name) == 0 && strstr(r->headers.at[i].value, part))
                        return true;
        return false;
}

RIG_TEST(what_does_not_fit_the_schema_is_not_applied, {
        static const struct {
                const char *spec, *problem;
        } cases[] = {
                { "\"replicas\":\"x\"", ".spec.replicas: expected numeric (int or float), got string" },
                { "\"paused\":1", ".spec.paused: expected boolean, got &{1}" },
                { "\"bogus\":1", ".spec.bogus: field not declared in schema" },
                { "\"template\":[1]", ".spec.template: expected map, got &{[1]}" },
                { "\"template\":{\"spec\":{\"containers\":\"x\"}}",
                  ".spec.template.spec.containers: expected list, got &{x}" },
                { "\"template\":{\"spec\":{\"containers\":[{\"name\":\"c\",\"image\":{\"a\":1}}]}}",
                  ".spec.template.spec.containers[name=\"c\"].image: expected string, got "
                  "&value.valueUnstructured{Value:map[string]interface {}{\"a\":1}}" },
                { "\"template\":{\"spec\":{\"containers\":[{\"name\":\"c\"},{\"name\":\"c\"}]}}",
                  ".spec.template.spec.containers: duplicate entries for key [name=\"c\"]" },
                { "\"replicas\":true,\"x\":1", "errors:\n  .spec.replicas: expected numeric (int or float), "
                                               "got bool\n  .spec.x: field not "
                                               "declared in schema" },
        };
        for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
                const char *body = arena_printf(
                        &r->arena,
                        "{\"apiVersion\":\"apps/v1\",\"kind\":\"Deployment\",\"metadata\":{\"name\":\"w\"},"
                        "\"spec\":{%s}}",
                        cases[i].spec);
                assert_int_equal(rig_apply(r, DEPLOY "/w?fieldManager=m", body), 500);
                assert_string_equal(
                        rig_string(r, "message"),
                        arena_printf(&r->arena,
                                     "failed to create typed patch object (/w; apps/v1, Kind=Deployment): %s",
                                     cases[i].problem));
        }
})

RIG_TEST(a_patch_whose_result_does_not_decode_is_invalid, {
        assert_int_equal(rig_post(r, DEPLOY, deployment), 201);
        assert_int_equal(rig_merge(r, DEPLOY "/web", "{\"spec\":{\"replicas\":\"x\"}}"), 422);
        assert_true(
                text_starts_with(rig_string(r, "message"), " \"\" is invalid: patch: Invalid value: \"{"));
        assert_true(text_ends_with(
                rig_string(r, "message"),
                "json: cannot unmarshal string into Go struct field DeploymentSpec.spec.replicas "
                "of type int32"));
        assert_string_equal(
                doc_get_string(json_array_get(doc_get_array(r->answer, "details.causes"), 0), "field"),
                "patch");
})

RIG_TEST(nulls_in_maps_and_lists_are_read_as_empty, {
        assert_int_equal(
                rig_post(r, CM,
                         "{\"metadata\":{\"name\":\"a\",\"labels\":{\"x\":null},\"finalizers\":null},"
                         "\"data\":{\"c\":null,\"d\":\"1\"}}"),
                201);
        assert_string_equal(rig_string(r, "data.c"), "");
        assert_string_equal(rig_string(r, "metadata.labels.x"), "");
        assert_null(doc_get(r->answer, "metadata.finalizers"));
        assert_int_equal(
                rig_apply(r, CM "/b?fieldManager=m",
                          "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"b\"},"
                          "\"data\":{\"c\":null}}"),
                201);
        assert_string_equal(rig_string(r, "data.c"), "");
})

RIG_TEST(doubled_members_are_refused_only_when_asked, {
        static const char twice[] = "{\"metadata\":{\"name\":\"a\"},\"data\":{\"k\":\"1\",\"k\":\"2\"}}";
        assert_int_equal(rig_post(r, CM "?fieldValidation=Strict", twice), 400);
        assert_string_equal(rig_string(r, "message"),
                            "ConfigMap in version \"v1\" cannot be handled as a ConfigMap: strict decoding "
                            "error: duplicate field \"data.k\"");
        assert_int_equal(rig_post(r, CM, twice), 201);
        assert_true(has_header(r, "Warning", "duplicate field \\\"data.k\\\""));
        assert_string_equal(rig_string(r, "data.k"), "2");
        assert_int_equal(rig_merge(r, CM "/a?fieldValidation=Ignore", "{\"data\":{\"k\":\"3\",\"k\":\"4\"}}"),
                         200);
        assert_string_equal(rig_string(r, "data.k"), "4");
})

RIG_TEST(an_update_with_an_old_version_conflicts, {
        assert_int_equal(rig_post(r, CM, config), 201);
        assert_int_equal(rig_put(r, CM "/a", "{\"metadata\":{\"name\":\"a\",\"resourceVersion\":\"1\"}}"),
                         409);
        assert_string_equal(rig_string(r, "reason"), "Conflict");
        assert_string_equal(rig_string(r, "message"), "Operation cannot be fulfilled on configmaps \"a\": "
                                                      "the object has been modified; please apply "
                                                      "your changes to the latest version and try again");
})

RIG_TEST(an_update_that_changes_nothing_keeps_the_version, {
        assert_int_equal(rig_post(r, CM, config), 201);
        const char *rv = arena_strdup(&r->arena, rig_string(r, "metadata.resourceVersion"));
        assert_int_equal(rig_put(r, CM "/a", config), 200);
        assert_string_equal(rig_string(r, "metadata.resourceVersion"), rv);
        assert_int_equal(rig_merge(r, CM "/a", "{\"data\":{\"k\":\"v\"}}"), 200);
        assert_string_equal(rig_string(r, "metadata.resourceVersion"), rv);
})

RIG_TEST(generation_counts_changes_of_the_spec_only, {
        assert_int_equal(rig_post(r, DEPLOY, deployment), 201);
        assert_int_equal(doc_get_int(r->answer, "metadata.generation", 0), 1);
        assert_int_equal(rig_merge(r, DEPLOY "/web",
                                   "{\"metadata\":{\"labels\":{\"a\":\"b\"}},\"status\":{\"replicas\":1}}"),
                         200);
        assert_int_equal(doc_get_int(r->answer, "metadata.generation", 0), 1);
        assert_int_equal(doc_get_int(r->answer, "status.replicas", 0), 0);
        assert_int_equal(
                rig_merge(r, DEPLOY "/web/status", "{\"status\":{\"replicas\":1},\"spec\":{\"replicas\":9}}"),
                200);
        assert_int_equal(doc_get_int(r->answer, "metadata.generation", 0), 1);
        assert_int_equal(doc_get_int(r->answer, "status.replicas", 0), 1);
        assert_int_equal(doc_get_int(r->answer, "spec.replicas", 0), 2);
        assert_int_equal(rig_merge(r, DEPLOY "/web", "{\"spec\":{\"replicas\":3}}"), 200);
        assert_int_equal(doc_get_int(r->answer, "metadata.generation", 0), 2);
        assert_int_equal(doc_get_int(r->answer, "status.replicas", 0), 1);
})

RIG_TEST(applying_what_is_there_already_changes_no_generation, {
        assert_int_equal(rig_post(r, DEPLOY, deployment), 201);
        assert_int_equal(rig_apply(r, DEPLOY "/web?fieldManager=m", deployment), 200);
        assert_int_equal(doc_get_int(r->answer, "metadata.generation", 0), 1);
})

RIG_TEST(scale_shows_and_sets_replicas, {
        assert_int_equal(rig_post(r, DEPLOY, deployment), 201);
        assert_int_equal(rig_get(r, DEPLOY "/web/scale"), 200);
        assert_string_equal(rig_string(r, "kind"), "Scale");
        assert_string_equal(rig_string(r, "status.selector"), "app=web");
        assert_int_equal(rig_merge(r, DEPLOY "/web/scale", "{\"spec\":{\"replicas\":5}}"), 200);
        assert_int_equal(doc_get_int(r->answer, "spec.replicas", 0), 5);
        assert_int_equal(rig_get(r, DEPLOY "/web"), 200);
        assert_int_equal(doc_get_int(r->answer, "spec.replicas", 0), 5);
        assert_int_equal(doc_get_int(r->answer, "metadata.generation", 0), 2);
})

RIG_TEST(apply_takes_conflicts_and_force, {
        assert_int_equal(rig_apply(r, CM "/a?fieldManager=one", config), 201);
        const char *other = "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"a\"},"
                            "\"data\":{\"k\":\"w\"}}";
        assert_int_equal(rig_apply(r, CM "/a?fieldManager=two", other), 409);
        assert_string_equal(rig_string(r, "reason"), "Conflict");
        assert_string_equal(
                doc_get_string(json_array_get(doc_get_array(r->answer, "details.causes"), 0), "reason"),
                "FieldManagerConflict");
        assert_int_equal(rig_apply(r, CM "/a?fieldManager=two&force=true", other), 200);
        assert_string_equal(rig_string(r, "data.k"), "w");
        assert_int_equal(rig_apply(r, CM "/a", other), 422);
})

RIG_TEST(each_patch_type_works, {
        assert_int_equal(rig_post(r, DEPLOY, deployment), 201);
        assert_int_equal(rig_call(r, "PATCH", DEPLOY "/web", "application/json-patch+json",
                                  "[{\"op\":\"replace\",\"path\":\"/spec/replicas\",\"value\":4}]"),
                         200);
        assert_int_equal(doc_get_int(r->answer, "spec.replicas", 0), 4);
        assert_int_equal(rig_call(r, "PATCH", DEPLOY "/web", "application/strategic-merge-patch+json",
                                  "{\"spec\":{\"template\":{\"spec\":{\"containers\":[{\"name\":\"d\","
                                  "\"image\":\"x\"}]}}}}"),
                         200);
        assert_int_equal(json_array_size(doc_get_array(r->answer, "spec.template.spec.containers")), 2);
        assert_int_equal(rig_call(r, "PATCH", DEPLOY "/web", "text/plain", "{}"), 415);
        assert_int_equal(rig_merge(r, DEPLOY "/web", "{\"metadata\":{\"resourceVersion\":\"1\"}}"), 409);
        assert_int_equal(rig_merge(r, DEPLOY "/none", "{}"), 404);
})

RIG_TEST(unknown_fields_are_dropped_told_or_refused, {
        const char *odd = "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"a\","
                          "\"odd\":1},\"odder\":2}";
        assert_int_equal(rig_post(r, CM "?fieldValidation=Strict", odd), 400);
        assert_non_null(strstr(rig_string(r, "message"), "unknown field \"odder\""));
        assert_non_null(strstr(rig_string(r, "message"), "unknown field \"metadata.odd\""));
        assert_int_equal(rig_post(r, CM "?fieldValidation=Warn", odd), 201);
        assert_true(has_header(r, "Warning", "unknown field \\\"odder\\\""));
        assert_null(json_object_get(r->answer, "odder"));
})

RIG_TEST(a_dry_run_stores_nothing, {
        assert_int_equal(rig_post(r, CM "?dryRun=All", config), 201);
        assert_int_equal(rig_get(r, CM "/a"), 404);
        assert_int_equal(rig_post(r, CM, config), 201);
        assert_int_equal(rig_call(r, "DELETE", CM "/a?dryRun=All", NULL, NULL), 200);
        assert_int_equal(rig_merge(r, CM "/a?dryRun=All", "{\"data\":{\"k\":\"w\"}}"), 200);
        assert_string_equal(rig_string(r, "data.k"), "w");
        assert_int_equal(rig_get(r, CM "/a"), 200);
        assert_string_equal(rig_string(r, "data.k"), "v");
})

RIG_TEST(names_are_generated_and_checked, {
        assert_int_equal(rig_post(r, CM, "{\"metadata\":{\"generateName\":\"x-\"}}"), 201);
        assert_int_equal(strlen(rig_string(r, "metadata.name")), 7);
        assert_int_equal(rig_post(r, CM, "{\"metadata\":{\"name\":\"A_b\"}}"), 422);
        assert_non_null(strstr(rig_string(r, "message"),
                               "ConfigMap \"A_b\" is invalid: metadata.name: Invalid value: \"A_b\": a "
                               "lowercase RFC 1123 subdomain must consist of"));
        assert_int_equal(rig_post(r, CM, "{\"metadata\":{}}"), 422);
        assert_non_null(strstr(rig_string(r, "message"), "name or generateName is required"));
        assert_int_equal(rig_post(r, CM, "{\"metadata\":{\"name\":\"a\",\"labels\":{\"k\":\"v v\"}}}"), 422);
        assert_int_equal(rig_post(r, CM, "{\"metadata\":{\"name\":\"a\",\"labels\":{\"k\":1}}}"), 400);
        assert_int_equal(rig_post(r, CM, "{\"metadata\":{\"name\":\"a\",\"namespace\":\"other\"}}"), 400);
})

RIG_TEST(lists_come_in_pages, {
        for (int i = 0; i < 7; i++)
                assert_int_equal(
                        rig_post(r, CM, arena_printf(&r->arena, "{\"metadata\":{\"name\":\"p%d\"}}", i)),
                        201);
        assert_int_equal(rig_get(r, CM "?limit=3"), 200);
        assert_string_equal(rig_string(r, "kind"), "ConfigMapList");
        assert_int_equal(json_array_size(doc_get_array(r->answer, "items")), 3);
        assert_int_equal(doc_get_int(r->answer, "metadata.remainingItemCount", 0), 5);
        const char *token = arena_strdup(&r->arena, rig_string(r, "metadata.continue"));
        assert_int_equal(rig_get(r, arena_printf(&r->arena, CM "?limit=3&continue=%s", token)), 200);
        assert_string_equal(
                doc_get_string(json_array_get(doc_get_array(r->answer, "items"), 0), "metadata.name"), "p2");
        devcluster_cut_watches(r->devcluster, "hub", true);
        assert_int_equal(rig_get(r, arena_printf(&r->arena, CM "?limit=3&continue=%s", token)), 410);
        assert_int_equal(rig_get(r, CM "?fieldSelector=metadata.name%3Dp4"), 200);
        assert_int_equal(json_array_size(doc_get_array(r->answer, "items")), 1);
        assert_int_equal(rig_get(r, CM "?fieldSelector=spec.x%3Dp4"), 400);
        assert_int_equal(rig_get(r, CM "?labelSelector=a+in+(b"), 400);
})

RIG_TEST(finalizers_hold_a_deleted_object, {
        assert_int_equal(rig_post(r, CM, "{\"metadata\":{\"name\":\"a\",\"finalizers\":[\"x.io/y\"]}}"), 201);
        assert_int_equal(rig_delete(r, CM "/a"), 200);
        assert_string_equal(rig_string(r, "kind"), "ConfigMap");
        assert_string_not_equal(rig_string(r, "metadata.deletionTimestamp"), "");
        assert_int_equal(rig_merge(r, CM "/a", "{\"metadata\":{\"finalizers\":[\"x.io/y\",\"x.io/z\"]}}"),
                         422);
        assert_int_equal(rig_merge(r, CM "/a", "{\"metadata\":{\"finalizers\":null}}"), 200);
        assert_int_equal(rig_get(r, CM "/a"), 404);
})

RIG_TEST(deletes_check_their_preconditions, {
        assert_int_equal(rig_post(r, CM, config), 201);
        assert_int_equal(
                rig_call(r, "DELETE", CM "/a", "application/json", "{\"preconditions\":{\"uid\":\"nope\"}}"),
                409);
        assert_int_equal(rig_call(r, "DELETE", CM "/a?propagationPolicy=Wrong", NULL, NULL), 422);
        assert_int_equal(rig_delete(r, CM "/a"), 200);
        assert_int_equal(rig_delete(r, CM "/a"), 404);
})

RIG_TEST(a_namespace_takes_its_contents_with_it, {
        assert_int_equal(rig_post(r, "/api/v1/namespaces", "{\"metadata\":{\"name\":\"n\"}}"), 201);
        assert_string_equal(rig_string(r, "status.phase"), "Active");
        assert_int_equal(rig_get(r, "/api/v1/namespaces/n/serviceaccounts/default"), 200);
        assert_int_equal(rig_post(r, "/api/v1/namespaces/n/configmaps", config), 201);
        assert_int_equal(rig_post(r, "/api/v1/namespaces/n/configmaps",
                                  "{\"metadata\":{\"name\":\"held\",\"finalizers\":[\"x.io/y\"]}}"),
                         201);
        assert_int_equal(rig_delete(r, "/api/v1/namespaces/n"), 200);
        assert_string_equal(rig_string(r, "status.phase"), "Terminating");
        assert_int_equal(rig_post(r, "/api/v1/namespaces/n/configmaps", "{\"metadata\":{\"name\":\"late\"}}"),
                         403);
        rig_settle(r);
        assert_int_equal(rig_get(r, "/api/v1/namespaces/n/configmaps/a"), 404);
        assert_int_equal(rig_get(r, "/api/v1/namespaces/n"), 200);
        assert_non_null(strstr(r->text, "NamespaceContentRemaining"));
        assert_int_equal(
                rig_merge(r, "/api/v1/namespaces/n/configmaps/held", "{\"metadata\":{\"finalizers\":null}}"),
                200);
        rig_settle(r);
        assert_int_equal(rig_get(r, "/api/v1/namespaces/n"), 404);
})

static const char *owned(struct rig *r, const char *name, const char *owner, const char *uid, bool block)
{
        return arena_printf(&r->arena,
                            "{\"metadata\":{\"name\":\"%s\",\"ownerReferences\":[{\"apiVersion\":\"v1\","
                            "\"kind\":\"ConfigMap\","
                            "\"name\":\"%s\",\"uid\":\"%s\",\"blockOwnerDeletion\":%s}]}}",
                            name, owner, uid, block ? "true" : "false");
}

static const char *make_owner(struct rig *r)
{
        assert_int_equal(rig_post(r, CM, config), 201);
        const char *uid = arena_strdup(&r->arena, rig_string(r, "metadata.uid"));
        assert_int_equal(rig_post(r, NS "/secrets", owned(r, "s", "a", uid, true)), 201);
        assert_int_equal(rig_post(r, NS "/configmaps", owned(r, "c", "a", uid, false)), 201);
        rig_settle(r);
        assert_int_equal(rig_get(r, NS "/secrets/s"), 200);
        return uid;
}

RIG_TEST(dependents_go_behind_their_owner, {
        make_owner(r);
        assert_int_equal(rig_delete(r, CM "/a?propagationPolicy=Background"), 200);
        rig_settle(r);
        assert_int_equal(rig_get(r, NS "/secrets/s"), 404);
        assert_int_equal(rig_get(r, CM "/c"), 404);
})

RIG_TEST(dependents_go_before_their_owner_in_the_foreground, {
        make_owner(r);
        assert_int_equal(rig_merge(r, NS "/secrets/s", "{\"metadata\":{\"finalizers\":[\"x.io/y\"]}}"), 200);
        assert_int_equal(rig_delete(r, CM "/a?propagationPolicy=Foreground"), 200);
        rig_settle(r);
        assert_int_equal(rig_get(r, CM "/a"), 200);
        assert_int_equal(rig_get(r, NS "/secrets/s"), 200);
        assert_string_not_equal(rig_string(r, "metadata.deletionTimestamp"), "");
        assert_int_equal(rig_merge(r, NS "/secrets/s", "{\"metadata\":{\"finalizers\":null}}"), 200);
        rig_settle(r);
        assert_int_equal(rig_get(r, CM "/a"), 404);
        assert_int_equal(rig_get(r, CM "/c"), 404);
})

RIG_TEST(orphans_stay, {
        make_owner(r);
        assert_int_equal(rig_delete(r, CM "/a?propagationPolicy=Orphan"), 200);
        rig_settle(r);
        assert_int_equal(rig_get(r, CM "/a"), 404);
        assert_int_equal(rig_get(r, NS "/secrets/s"), 200);
        assert_null(doc_get(r->answer, "metadata.ownerReferences"));
})

RIG_TEST(an_object_whose_owner_never_was_goes, {
        assert_int_equal(rig_post(r, CM, owned(r, "c", "ghost", "1-2-3", false)), 201);
        rig_settle(r);
        assert_int_equal(rig_get(r, CM "/c"), 404);
})

RIG_TEST(tables_and_partial_objects_are_rendered, {
        assert_int_equal(rig_post(r, DEPLOY, deployment), 201);
        assert_int_equal(
                rig_get_as(r, DEPLOY, "application/json;as=Table;v=v1;g=meta.k8s.io,application/json"), 200);
        assert_string_equal(rig_string(r, "kind"), "Table");
        const json_t *row = json_array_get(doc_get_array(r->answer, "rows"), 0);
        assert_string_equal(json_string_value(json_array_get(doc_get_array(row, "cells"), 0)), "web");
        assert_string_equal(doc_get_string(row, "object.kind"), "PartialObjectMetadata");
        assert_int_equal(
                rig_get_as(r, DEPLOY, "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"),
                200);
        assert_string_equal(rig_string(r, "kind"), "PartialObjectMetadataList");
        assert_null(doc_get(json_array_get(doc_get_array(r->answer, "items"), 0), "spec"));
        assert_int_equal(
                rig_get_as(r, DEPLOY "/web", "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1"),
                200);
        assert_string_equal(rig_string(r, "metadata.name"), "web");
        assert_int_equal(rig_get_as(r, DEPLOY, "application/vnd.kubernetes.protobuf"), 406);
})

RIG_TEST(paths_methods_and_bodies_are_checked, {
        assert_int_equal(rig_get(r, "/api/v1/namespaces/default/nothings"), 404);
        assert_string_equal(rig_string(r, "message"), "the server could not find the requested resource");
        assert_int_equal(rig_post(r, CM "/a", config), 405);
        assert_int_equal(rig_call(r, "POST", CM, "application/json", "{"), 400);
        assert_int_equal(rig_call(r, "POST", CM, "application/json", "[]"), 400);
        assert_int_equal(rig_call(r, "POST", CM, "application/x-other", config), 415);
        assert_int_equal(rig_call(r, "POST", CM, "application/yaml", "metadata: {name: y}\ndata: {a: b}\n"),
                         201);
        assert_int_equal(rig_post(r, CM, deployment), 400);
        assert_int_equal(rig_get_as(r, CM "/y", "application/yaml"), 200);
        assert_true(has_header(r, "Content-Type", "application/yaml"));
        assert_non_null(strstr(r->text, "data:\n  a: b\nkind: ConfigMap\n"));
        assert_int_equal(rig_get_as(r, CM "?watch=true", "application/yaml"), 406);
})

RIG_TEST(everything_is_discovered, {
        assert_int_equal(rig_get(r, "/api"), 200);
        assert_string_equal(rig_string(r, "kind"), "APIVersions");
        assert_int_equal(rig_get(r, "/apis"), 200);
        assert_string_equal(rig_string(r, "kind"), "APIGroupList");
        assert_int_equal(rig_get(r, "/apis/apps"), 200);
        assert_string_equal(rig_string(r, "preferredVersion.groupVersion"), "apps/v1");
        assert_int_equal(rig_get(r, "/apis/apps/v1"), 200);
        assert_string_equal(rig_string(r, "groupVersion"), "apps/v1");
        assert_int_equal(rig_get_as(r, "/apis",
                                    "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"),
                         200);
        assert_string_equal(rig_string(r, "kind"), "APIGroupDiscoveryList");
        assert_true(has_header(r, "Content-Type", "as=APIGroupDiscoveryList"));
        assert_int_equal(rig_get(r, "/openapi/v3"), 200);
        assert_int_equal(rig_get(r, "/openapi/v3/apis/apps/v1"), 200);
        assert_non_null(
                json_object_get(doc_get(r->answer, "components.schemas"), "io.k8s.api.apps.v1.Deployment"));
        assert_int_equal(rig_get(r, "/openapi/v2"), 200);
        assert_int_equal(
                rig_get_as(r, "/openapi/v2", "application/com.github.proto-openapi.spec.v2@v1.0+protobuf"),
                200);
        assert_true(has_header(r, "Content-Type", "spec.v2.v1.0+protobuf"));
        assert_memory_equal(r->text,
                            "\x0a\x03"
                            "2.0\x12\x15\x0a\x0aKubernetes",
                            18);
        assert_int_equal(rig_get(r, "/version"), 200);
        assert_int_equal(rig_get(r, "/apis/none/v1"), 404);
})

RIG_TEST(a_collection_can_be_deleted_by_label, {
        assert_int_equal(rig_post(r, CM, "{\"metadata\":{\"name\":\"a\",\"labels\":{\"x\":\"1\"}}}"), 201);
        assert_int_equal(rig_post(r, CM, "{\"metadata\":{\"name\":\"b\",\"labels\":{\"x\":\"2\"}}}"), 201);
        assert_int_equal(rig_delete(r, CM "?labelSelector=x%3D1"), 200);
        assert_int_equal(rig_get(r, CM "/a"), 404);
        assert_int_equal(rig_get(r, CM "/b"), 200);
})

/* Each request meets one failing allocation, further along every time; the server must answer the next one.
 */
RIG_TEST(a_request_that_finds_no_memory_fails_alone, {
        uint64_t step = 1;
        bool fired = true;
        for (uint64_t n = 1; fired; n += step) {
                mem_fail_at(n, false);
                (void)rig_apply(r, DEPLOY "/web?fieldManager=m", deployment);
                (void)rig_merge(r, DEPLOY "/web", "{\"spec\":{\"replicas\":7}}");
                (void)rig_get_as(r, DEPLOY, "application/json;as=Table;v=v1;g=meta.k8s.io,application/json");
                (void)rig_delete(r, DEPLOY "/web");
                fired = mem_fault_fired();
                mem_fail_at(0, false);
                (void)rig_delete(r, DEPLOY "/web");
                assert_int_equal(rig_get(r, DEPLOY "/web"), 404);
                arena_free(&r->arena);
                step = n < 500 ? 3 : 37;
        }
        assert_int_equal(rig_post(r, DEPLOY, deployment), 201);
})

#define HPA "/namespaces/default/horizontalpodautoscalers"

/* generation, too, which is not raised by labels. */
RIG_TEST(what_is_answered_as_done_is_right_whatever_fails_for_want_of_memory, {
        bool fired = true;
        assert_int_equal(rig_post(r, DEPLOY, deployment), 201);
        for (int n = 1; fired; n++) {
                const char *patch = arena_printf(&r->arena, "{\"metadata\":{\"labels\":{\"n\":\"%d\"}}}", n);
                const char *wanted = arena_printf(&r->arena, "%d", n);
                mem_fail_at((uint64_t)n, false);
                int status = rig_merge(r, DEPLOY "/web", patch);
                fired = mem_fault_fired();
                mem_fail_at(0, false);
                if (status != 200)
                        continue;
                assert_int_equal(rig_get(r, DEPLOY "/web"), 200);
                assert_string_equal(rig_string(r, "metadata.labels.n"), wanted);
                assert_int_equal(doc_get_int(r->answer, "metadata.generation", 0), 1);
        }
})

RIG_TEST(an_autoscaler_is_the_same_in_both_versions, {
        const char *body =
                "{\"metadata\":{\"name\":\"h\"},\"spec\":{\"maxReplicas\":3,"
                "\"targetCPUUtilizationPercentage\":70,"
                "\"scaleTargetRef\":{\"kind\":\"Deployment\",\"name\":\"web\",\"apiVersion\":\"apps/v1\"}}}";
        assert_int_equal(rig_post(r, "/apis/autoscaling/v1" HPA, body), 201);
        assert_int_equal(rig_get(r, "/apis/autoscaling/v2" HPA "/h"), 200);
        assert_string_equal(rig_string(r, "apiVersion"), "autoscaling/v2");
        const json_t *metric = json_array_get(doc_get_array(r->answer, "spec.metrics"), 0);
        assert_int_equal(doc_get_int(metric, "resource.target.averageUtilization", 0), 70);
        assert_null(doc_get(r->answer, "spec.targetCPUUtilizationPercentage"));
        assert_int_equal(rig_get(r, "/apis/autoscaling/v1" HPA "/h"), 200);
        assert_int_equal(doc_get_int(r->answer, "spec.targetCPUUtilizationPercentage", 0), 70);
})

RIG_TEST(a_deleted_cluster_ends_its_watches, {
        struct error err = { 0 };
        struct rig_watch w;
        assert_int_equal(devcluster_create_cluster(r->devcluster, "other", &err), 0);
        r->endpoint.base_url = (char *)"https://dev/clusters/other";
        rig_watch_open(r, &w, CM "?watch=true");
        assert_string_equal(rig_watch_next(&w, 1000), "ADDED");
        assert_int_equal(devcluster_delete_cluster(r->devcluster, "other", &err), 0);
        assert_string_equal(rig_watch_next(&w, 1000), "");
        rig_watch_close(&w);
        assert_int_equal(rig_get(r, CM), 404);
})

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(an_update_with_an_old_version_conflicts),
                cmocka_unit_test(an_update_that_changes_nothing_keeps_the_version),
                cmocka_unit_test(what_does_not_fit_the_schema_is_not_applied),
                cmocka_unit_test(a_patch_whose_result_does_not_decode_is_invalid),
                cmocka_unit_test(nulls_in_maps_and_lists_are_read_as_empty),
                cmocka_unit_test(doubled_members_are_refused_only_when_asked),
                cmocka_unit_test(generation_counts_changes_of_the_spec_only),
                cmocka_unit_test(applying_what_is_there_already_changes_no_generation),
                cmocka_unit_test(scale_shows_and_sets_replicas),
                cmocka_unit_test(apply_takes_conflicts_and_force),
                cmocka_unit_test(each_patch_type_works),
                cmocka_unit_test(unknown_fields_are_dropped_told_or_refused),
                cmocka_unit_test(a_dry_run_stores_nothing),
                cmocka_unit_test(names_are_generated_and_checked),
                cmocka_unit_test(lists_come_in_pages),
                cmocka_unit_test(finalizers_hold_a_deleted_object),
                cmocka_unit_test(deletes_check_their_preconditions),
                cmocka_unit_test(a_namespace_takes_its_contents_with_it),
                cmocka_unit_test(dependents_go_behind_their_owner),
                cmocka_unit_test(dependents_go_before_their_owner_in_the_foreground),
                cmocka_unit_test(orphans_stay),
                cmocka_unit_test(an_object_whose_owner_never_was_goes),
                cmocka_unit_test(tables_and_partial_objects_are_rendered),
                cmocka_unit_test(paths_methods_and_bodies_are_checked),
                cmocka_unit_test(everything_is_discovered),
                cmocka_unit_test(a_collection_can_be_deleted_by_label),
                cmocka_unit_test(a_request_that_finds_no_memory_fails_alone),
                cmocka_unit_test(what_is_answered_as_done_is_right_whatever_fails_for_want_of_memory),
                cmocka_unit_test(an_autoscaler_is_the_same_in_both_versions),
                cmocka_unit_test(a_deleted_cluster_ends_its_watches),
        };
        mem_hook_libraries();
        return cmocka_run_group_tests(tests, NULL, NULL);
}
