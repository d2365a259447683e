/* Admission webhooks through the front door: a fake one on the loopback network. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "e2e/devcluster/rig.h"

#define GROUP "/apis/admissionregistration.k8s.io/v1"
#define MAPS "/api/v1/namespaces/default/configmaps"
#define NAME "hook.test.io"
#define CALLED "Internal error occurred: failed calling webhook \"" NAME "\": "
#define URL "https://hook.default.svc:443/judge?timeout=7s"

/* What answers at the Service default/hook. */
static struct fake {
        struct rig *rig;
        const char *answer; /* `response` without uid; NULL: allowed. "=...": the whole body */
        const char *other;  /* at /other, the same */
        int status, calls;  /* status 0: 200 */
        json_t *review;     /* the last question */
        int64_t think_ms;   /* before the answer */
        void (*meanwhile)(struct rig *r);
        const char *paths[8];
} fake;

static void answer(void *ctx, struct http_exchange *x)
{
        struct rig *r = fake.rig;
        bool other = strstr(x->path, "/other");
        const char *body, *says = other ? fake.other : fake.answer;
        if (fake.calls < (int)ARRAY_LEN(fake.paths))
                fake.paths[fake.calls] = other ? "/other" : "/judge";
        fake.calls++;
        AUTO_JSON json_t *review = NULL;
        if (doc_parse(x->body, &review, NULL) < 0)
                return;
        json_decref(fake.review);
        fake.review = json_incref(review);
        if (fake.meanwhile) {
                fake.meanwhile(r);
                json_decref(r->answer);
                r->answer = NULL;
        }
        if (fake.think_ms && fiber_sleep(r->loop, fake.think_ms) < 0)
                return;
        if (says && *says == '=') {
                body = says + 1;
        } else {
                const char *uid = doc_get_string(review, "request.uid"),
                           *version = doc_get_string(review, "apiVersion");
                body = arena_printf(x->arena,
                                    "{\"apiVersion\":\"%s\",\"kind\":\"AdmissionReview\",\"response\":{"
                                    "\"uid\":\"%s\",%s}}",
                                    version, uid, says ? says : "\"allowed\":true");
        }
        (void)http_reply(x, fake.status ? fake.status : 200, "application/json", slice_of(body), NULL);
}

static void run(void (*body)(struct rig *r))
{
        rig_run(body);
        json_decref(fake.review);
        fake = (struct fake){ 0 };
}

static void begin(struct rig *r)
{
        fake.rig = r;
        assert_int_equal(loopback_listen(r->net, "hook", answer, NULL), 0);
        assert_int_equal(devcluster_set_service_address(r->devcluster, "default/hook", "hook"), 0);
}

static void end(struct rig *r)
{
        loopback_listen(r->net, "hook", NULL, NULL);
}

#define RULE(operations, resource)                                                                           \
        "\"rules\":[{\"operations\":[" operations "],\"apiGroups\":[\"\"],\"apiVersions\":[\"v1\"],"         \
        "\"resources\":[\"" resource "\"]}]"
#define ALL_MAPS RULE("\"*\"", "configmaps")

static const char *hook(struct rig *r, const char *name, const char *path, const char *more)
{
        return arena_printf(&r->arena,
                            "{\"name\":\"%s\",\"admissionReviewVersions\":[\"v1\"],\"sideEffects\":\"None\","
                            "\"timeoutSeconds\":7,\"clientConfig\":{\"service\":{\"namespace\":\"default\","
                            "\"name\":\"hook\",\"path\":\"%s\"}},%s}",
                            name, path, more);
}

static void install_hooks(struct rig *r, const char *kind, const char *name, const char *hooks)
{
        const char *resource = strcmp(kind, "Mutating") == 0 ? GROUP "/mutatingwebhookconfigurations"
                                                             : GROUP "/validatingwebhookconfigurations";
        assert_int_equal(
                rig_post(r, resource,
                         arena_printf(&r->arena, "{\"metadata\":{\"name\":\"%s\"},\"webhooks\":[%s]}", name,
                                      hooks)),
                201);
}

static void install(struct rig *r, const char *kind, const char *more)
{
        install_hooks(r, kind, "one", hook(r, NAME, "/judge", more));
}

static int make(struct rig *r, const char *name)
{
        return rig_post(r, MAPS, arena_printf(&r->arena, "{\"metadata\":{\"name\":\"%s\"}}", name));
}

static const char *asked(const char *path)
{
        const char *s = fake.review ? doc_get_string(fake.review, path) : NULL;
        return s ? s : "";
}

#define DENIED "\"allowed\":false,\"status\":{\"code\":403,\"reason\":\"Forbidden\",\"message\":\"not here\"}"

static void a_webhook_refuses_in_its_own_words(struct rig *r)
{
        begin(r);
        install(r, "Validating", ALL_MAPS);
        fake.answer = DENIED;
        assert_int_equal(make(r, "a"), 403);
        assert_string_equal(rig_string(r, "message"),
                            "admission webhook \"" NAME "\" denied the request: not here");
        assert_string_equal(rig_string(r, "reason"), "Forbidden");
        assert_int_equal(rig_get(r, MAPS "/a"), 404);
        fake.answer = NULL;
        assert_int_equal(make(r, "a"), 201);
        fake.answer = "\"allowed\":false";
        assert_int_equal(rig_delete(r, MAPS "/a"), 400);
        assert_string_equal(rig_string(r, "message"),
                            "admission webhook \"" NAME "\" denied the request without explanation");
        assert_int_equal(rig_get(r, MAPS "/a"), 200);
        end(r);
}

static void a_webhook_is_told_all_of_the_write(struct rig *r)
{
        begin(r);
        install(r, "Validating", ALL_MAPS);
        assert_int_equal(make(r, "a"), 201);
        assert_string_equal(asked("request.operation"), "CREATE");
        assert_string_equal(asked("request.kind.kind"), "ConfigMap");
        assert_string_equal(asked("request.resource.resource"), "configmaps");
        assert_string_equal(asked("request.name"), "a");
        assert_string_equal(asked("request.namespace"), "default");
        assert_string_equal(asked("request.options.kind"), "CreateOptions");
        assert_true(*asked("request.object.metadata.uid"));
        assert_true(json_is_null(doc_get(fake.review, "request.oldObject")));
        assert_int_equal(rig_merge(r, MAPS "/a", "{\"data\":{\"x\":\"1\"}}"), 200);
        assert_string_equal(asked("request.operation"), "UPDATE");
        assert_string_equal(asked("request.object.data.x"), "1");
        assert_string_equal(asked("request.oldObject.metadata.name"), "a");
        assert_int_equal(rig_delete(r, MAPS "/a"), 200);
        assert_string_equal(asked("request.operation"), "DELETE");
        assert_true(json_is_null(doc_get(fake.review, "request.object")));
        assert_string_equal(asked("request.oldObject.data.x"), "1");
        assert_int_equal(fake.calls, 3);
        end(r);
}

static const struct {
        const char *answer;
        int status, code;
        const char *message;
} answers[] = {
        { "=oops", 200, 500,
          CALLED "failed to call webhook: couldn't get version/kind; json parse error: invalid character 'o' "
                 "looking for beginning of value" },
        { "={}", 200, 500, CALLED "failed to call webhook: Object 'Kind' is missing in '{}'" },
        { "={\"kind\":\"AdmissionReview\",\"apiVersion\":\"admission.k8s.io/v1\"}", 200, 500,
          CALLED "received invalid webhook response: webhook response was absent" },
        { "={\"kind\":\"AdmissionReview\",\"apiVersion\":\"admission.k8s.io/v1beta1\",\"response\":{\"uid\":"
          "\"x\",\"allowed\":true}}",
          200, 500, CALLED "received invalid webhook response: expected response.uid=" },
        { "\"allowed\":true,\"patch\":\"W10=\",\"patchType\":\"JSONPatch\"", 200, 500,
          CALLED "received invalid webhook response: validating webhook may not return response.patch" },
        { "\"allowed\":\"yes\"", 200, 500,
          CALLED "failed to call webhook: json: cannot unmarshal string into Go struct field "
                 "AdmissionResponse.response.allowed of type bool" },
        { "=gone", 404, 500,
          CALLED "failed to call webhook: the server could not find the requested resource" },
        { "=boom", 500, 500,
          CALLED "failed to call webhook: an error on the server (\"boom\") has prevented the request from "
                 "succeeding" },
        { "\"allowed\":false,\"status\":{\"reason\":\"Expired\"}", 200, 400,
          "admission webhook \"" NAME "\" denied the request: Expired" },
        { "\"allowed\":false,\"status\":{\"code\":200,\"message\":\"m\"}", 200, 400,
          "admission webhook \"" NAME "\" denied the request: m" },
};

static void an_answer_that_is_none_refuses_in_the_words_of_the_server(struct rig *r)
{
        begin(r);
        install(r, "Validating", ALL_MAPS);
        for (size_t i = 0; i < ARRAY_LEN(answers); i++) {
                fake.answer = answers[i].answer;
                fake.status = answers[i].status;
                assert_int_equal(make(r, "a"), answers[i].code);
                if (!text_starts_with(rig_string(r, "message"), answers[i].message))
                        assert_string_equal(rig_string(r, "message"), answers[i].message);
                assert_int_equal(rig_get(r, MAPS "/a"), 404);
        }
        end(r);
}

static void a_webhook_that_is_away_refuses_or_not_as_its_policy_says(struct rig *r)
{
        begin(r);
        install(r, "Validating", ALL_MAPS);
        end(r);
        assert_int_equal(make(r, "a"), 500);
        assert_string_equal(rig_string(r, "message"),
                            CALLED "failed to call webhook: Post \"" URL
                                   "\": dial tcp hook: connect: connection refused");
        assert_int_equal(devcluster_set_service_address(r->devcluster, "default/hook", NULL), 0);
        assert_int_equal(make(r, "a"), 500);
        assert_string_equal(rig_string(r, "message"),
                            CALLED "failed to call webhook: Post \"" URL "\": service \"hook\" not found");
        assert_int_equal(rig_delete(r, GROUP "/validatingwebhookconfigurations/one"), 200);
        install(r, "Validating", ALL_MAPS ",\"failurePolicy\":\"Ignore\"");
        assert_int_equal(make(r, "a"), 201);
}

static void a_webhook_that_thinks_too_long_has_not_answered(struct rig *r)
{
        begin(r);
        install(r, "Validating", ALL_MAPS);
        fake.think_ms = 6000;
        assert_int_equal(make(r, "a"), 201);
        fake.think_ms = 8000;
        assert_int_equal(make(r, "b"), 500);
        assert_string_equal(rig_string(r, "message"),
                            CALLED "failed to call webhook: Post \"" URL "\": context deadline exceeded");
        end(r);
}

/* Which writes a webhook is asked about: of a ConfigMap "a" with label colour=red, created, labelled and
 * deleted. */
static const struct {
        const char *more;
        int calls;
} matches[] = {
        { ALL_MAPS, 3 },
        { RULE("\"CREATE\"", "configmaps"), 1 },
        { RULE("\"UPDATE\",\"DELETE\"", "configmaps"), 2 },
        { RULE("\"*\"", "secrets"), 0 },
        { RULE("\"*\"", "*"), 3 },
        { RULE("\"*\"", "configmaps/*"), 3 },
        { "\"rules\":[]", 0 },
        { ALL_MAPS ",\"objectSelector\":{\"matchLabels\":{\"colour\":\"red\"}}", 3 },
        { ALL_MAPS ",\"objectSelector\":{\"matchLabels\":{\"colour\":\"blue\"}}", 0 },
        { ALL_MAPS ",\"namespaceSelector\":{\"matchLabels\":{\"kubernetes.io/metadata.name\":\"default\"}}",
          3 },
        { ALL_MAPS ",\"namespaceSelector\":{\"matchLabels\":{\"kubernetes.io/metadata.name\":\"other\"}}",
          0 },
        { ALL_MAPS ",\"matchConditions\":[{\"name\":\"c\",\"expression\":\"request.operation == 'DELETE'\"}]",
          1 },
        { ALL_MAPS ",\"matchConditions\":[{\"name\":\"c\",\"expression\":\"object.x == 1\"}],"
                   "\"failurePolicy\":\"Ignore\"",
          0 },
};

static void a_webhook_is_asked_about_what_it_names(struct rig *r)
{
        begin(r);
        for (size_t i = 0; i < ARRAY_LEN(matches); i++) {
                install(r, "Validating", matches[i].more);
                fake.calls = 0;
                assert_int_equal(
                        rig_post(r, MAPS, "{\"metadata\":{\"name\":\"a\",\"labels\":{\"colour\":\"red\"}}}"),
                        201);
                assert_int_equal(rig_merge(r, MAPS "/a", "{\"data\":{\"x\":\"1\"}}"), 200);
                assert_int_equal(rig_delete(r, MAPS "/a"), 200);
                if (fake.calls != matches[i].calls)
                        print_message("%s\n", matches[i].more);
                assert_int_equal(fake.calls, matches[i].calls);
                assert_int_equal(rig_delete(r, GROUP "/validatingwebhookconfigurations/one"), 200);
        }
        end(r);
}

static void conditions_that_fail_refuse(struct rig *r)
{
        begin(r);
        install(r, "Validating",
                ALL_MAPS ",\"matchConditions\":[{\"name\":\"c\",\"expression\":\"object.x == 1\"}]");
        assert_int_equal(make(r, "a"), 403);
        assert_string_equal(rig_string(r, "message"),
                            "configmaps \"a\" is forbidden: expression 'object.x == 1' "
                            "resulted in error: no such key: x");
        end(r);
}

/* [{"op":"add","path":"/metadata/labels","value":{"by":"hook"}}] */
#define LABELLED                                                                                             \
        "\"allowed\":true,\"patchType\":\"JSONPatch\",\"patch\":"                                            \
        "\"W3sib3AiOiJhZGQiLCJwYXRoIjoiL21ldGFkYXRhL2xhYmVscyIsInZhbHVlIjp7ImJ5IjoiaG9vayJ9fV0=\""

static void a_mutating_webhook_changes_what_is_stored(struct rig *r)
{
        begin(r);
        install(r, "Mutating", ALL_MAPS);
        fake.answer = LABELLED;
        assert_int_equal(make(r, "a"), 201);
        assert_string_equal(asked("request.object.metadata.uid"), "");
        assert_int_equal(rig_get(r, MAPS "/a"), 200);
        assert_string_equal(rig_string(r, "metadata.labels.by"), "hook");
        assert_true(*rig_string(r, "metadata.uid"));
        fake.answer = NULL;
        assert_int_equal(rig_merge(r, MAPS "/a", "{\"metadata\":{\"labels\":null}}"), 200);
        assert_string_equal(rig_string(r, "metadata.labels.by"), "");
        fake.answer = LABELLED;
        assert_int_equal(rig_put(r, MAPS "/a", "{\"metadata\":{\"name\":\"a\"},\"data\":{\"x\":\"1\"}}"),
                         200);
        assert_string_equal(rig_string(r, "metadata.labels.by"), "hook");
        assert_int_equal(rig_delete(r, MAPS "/a"), 500);
        assert_string_equal(rig_string(r, "message"),
                            "Internal error occurred: admission webhook \"" NAME
                            "\" attempted to modify the object, which is not supported for this operation");
        end(r);
}

/* [{"op":"add","path":"/data","value":{"y":1}}]: no ConfigMap has numbers */
#define SPOILT                                                                                               \
        "\"allowed\":true,\"patchType\":\"JSONPatch\",\"patch\":"                                            \
        "\"W3sib3AiOiJhZGQiLCJwYXRoIjoiL2RhdGEiLCJ2YWx1ZSI6eyJ5IjoxfX1d\""

static void what_a_webhook_makes_is_checked_as_what_a_client_sends(struct rig *r)
{
        begin(r);
        install(r, "Mutating", ALL_MAPS);
        fake.answer = SPOILT;
        assert_true(make(r, "a") >= 400);
        assert_int_equal(rig_get(r, MAPS "/a"), 404);
        end(r);
}

#define OPEN                                                                                                 \
        "\"schema\":{\"openAPIV3Schema\":{\"type\":\"object\",\"x-kubernetes-preserve-unknown-fields\":"     \
        "true}}"

#define THING "{\"apiVersion\":\"test.io/v1\",\"kind\":\"Thing\",\"metadata\":{\"name\":"

/* A kind in two versions, of which the webhook names one. */
static void a_write_in_another_version_is_judged_in_the_one_that_is_named(struct rig *r)
{
        static const char rules[] = "\"rules\":[{\"operations\":[\"*\"],\"apiGroups\":[\"test.io\"],"
                                    "\"apiVersions\":[\"v1beta1\"],\"resources\":[\"things\"]}]";
        begin(r);
        assert_int_equal(rig_post(r, "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
                                  "{\"metadata\":{\"name\":\"things.test.io\"},\"spec\":{\"group\":\"test."
                                  "io\",\"scope\":"
                                  "\"Cluster\",\"names\":{\"kind\":\"Thing\",\"plural\":\"things\"},"
                                  "\"versions\":[{\"name\":"
                                  "\"v1\",\"served\":true,\"storage\":true," OPEN
                                  "},{\"name\":\"v1beta1\",\"served\":true,"
                                  "\"storage\":false," OPEN "}]}}"),
                         201);
        rig_settle(r);
        install(r, "Mutating", rules);
        fake.answer = LABELLED;
        assert_int_equal(rig_post(r, "/apis/test.io/v1/things", THING "\"a\"}}"), 201);
        assert_string_equal(asked("request.object.apiVersion"), "test.io/v1beta1");
        assert_string_equal(asked("request.kind.version"), "v1beta1");
        assert_string_equal(asked("request.requestKind.version"), "v1");
        assert_string_equal(rig_string(r, "apiVersion"), "test.io/v1");
        assert_string_equal(rig_string(r, "metadata.labels.by"), "hook");
        fake.answer = NULL;
        assert_int_equal(rig_delete(r, "/apis/test.io/v1/things/a"), 200);
        assert_string_equal(asked("request.oldObject.apiVersion"), "test.io/v1beta1");
        fake.calls = 0;
        assert_int_equal(
                rig_merge(r, GROUP "/mutatingwebhookconfigurations/one",
                          arena_printf(&r->arena, "{\"webhooks\":[%s]}",
                                       hook(r, NAME, "/judge",
                                            arena_printf(&r->arena, "%s,\"matchPolicy\":\"Exact\"", rules)))),
                200);
        assert_int_equal(rig_post(r, "/apis/test.io/v1/things", THING "\"b\"}}"), 201);
        assert_int_equal(fake.calls, 0);
        end(r);
}

static void who_wants_to_know_is_asked_again_when_others_changed_it(struct rig *r)
{
        static const char *const order[] = { "/judge", "/other", "/judge" };
        begin(r);
        install_hooks(r, "Mutating", "one",
                      arena_printf(&r->arena, "%s,%s",
                                   hook(r, NAME, "/judge", ALL_MAPS ",\"reinvocationPolicy\":\"IfNeeded\""),
                                   hook(r, "other.test.io", "/other", ALL_MAPS)));
        assert_int_equal(make(r, "a"), 201);
        assert_int_equal(fake.calls, 2);
        fake.calls = 0;
        fake.other = LABELLED;
        assert_int_equal(make(r, "b"), 201);
        assert_int_equal(fake.calls, 3);
        for (size_t i = 0; i < ARRAY_LEN(order); i++)
                assert_string_equal(fake.paths[i], order[i]);
        assert_string_equal(asked("request.object.metadata.labels.by"), "hook");
        end(r);
}

static void what_mutates_is_asked_before_what_validates(struct rig *r)
{
        begin(r);
        install_hooks(r, "Validating", "a", hook(r, "other.test.io", "/other", ALL_MAPS));
        install(r, "Mutating", ALL_MAPS);
        fake.answer = LABELLED;
        assert_int_equal(make(r, "a"), 201);
        assert_string_equal(fake.paths[0], "/judge");
        assert_string_equal(fake.paths[1], "/other");
        assert_string_equal(asked("request.object.metadata.labels.by"), "hook");
        end(r);
}

static void a_dry_run_asks_those_without_side_effects_only(struct rig *r)
{
        begin(r);
        install(r, "Validating", ALL_MAPS);
        assert_int_equal(rig_post(r, MAPS "?dryRun=All", "{\"metadata\":{\"name\":\"a\"}}"), 201);
        assert_true(doc_get_bool(fake.review, "request.dryRun", false));
        assert_int_equal(rig_get(r, MAPS "/a"), 404);
        end(r);
}

static void warnings_reach_the_client(struct rig *r)
{
        begin(r);
        install(r, "Validating", ALL_MAPS);
        fake.answer = "\"allowed\":true,\"warnings\":[\"mind the gap\"]";
        assert_int_equal(make(r, "a"), 201);
        const char *warning = http_header_get(&r->headers, "Warning");
        assert_non_null(warning);
        assert_string_equal(warning, "299 - \"mind the gap\"");
        end(r);
}

static void webhooks_do_not_judge_webhooks(struct rig *r)
{
        begin(r);
        install(r, "Validating",
                "\"rules\":[{\"operations\":[\"*\"],\"apiGroups\":[\"*\"],\"apiVersions\":[\"*\"],"
                "\"resources\":[\"*/*\"]}]");
        fake.answer = DENIED;
        assert_int_equal(make(r, "a"), 403);
        assert_int_equal(rig_merge(r, GROUP "/validatingwebhookconfigurations/one", "{\"webhooks\":[]}"),
                         200);
        assert_int_equal(make(r, "a"), 201);
        end(r);
}

/* ---- what happens while a webhook thinks ---- */

static void write_once(struct rig *r)
{
        fake.meanwhile = NULL;
        (void)rig_merge(r, MAPS "/a", "{\"data\":{\"theirs\":\"1\"}}");
}

static void a_patch_that_was_overtaken_is_done_on_the_newer_object(struct rig *r)
{
        begin(r);
        install(r, "Validating", ALL_MAPS);
        assert_int_equal(make(r, "a"), 201);
        fake.calls = 0;
        fake.meanwhile = write_once;
        assert_int_equal(rig_merge(r, MAPS "/a", "{\"data\":{\"mine\":\"1\"}}"), 200);
        assert_string_equal(rig_string(r, "data.mine"), "1");
        assert_string_equal(rig_string(r, "data.theirs"), "1");
        assert_string_equal(asked("request.oldObject.data.theirs"), "1");
        assert_int_equal(fake.calls, 3);
        end(r);
}

static void an_update_that_was_overtaken_conflicts_when_it_names_its_version(struct rig *r)
{
        begin(r);
        install(r, "Validating", ALL_MAPS);
        assert_int_equal(make(r, "a"), 201);
        const char *sent = arena_printf(&r->arena,
                                        "{\"metadata\":{\"name\":\"a\",\"resourceVersion\":\"%s\"},\"data\":{"
                                        "\"mine\":\"1\"}}",
                                        rig_string(r, "metadata.resourceVersion"));
        fake.meanwhile = write_once;
        assert_int_equal(rig_put(r, MAPS "/a", sent), 409);
        assert_int_equal(rig_get(r, MAPS "/a"), 200);
        assert_string_equal(rig_string(r, "data.mine"), "");
        fake.meanwhile = write_once;
        assert_int_equal(rig_put(r, MAPS "/a", "{\"metadata\":{\"name\":\"a\"},\"data\":{\"mine\":\"1\"}}"),
                         200);
        assert_string_equal(rig_string(r, "data.mine"), "1");
        end(r);
}

static void write_always(struct rig *r)
{
        static int n;
        fake.meanwhile = NULL;
        (void)rig_merge(r, MAPS "/a", arena_printf(&r->arena, "{\"data\":{\"theirs\":\"%d\"}}", n++));
        fake.meanwhile = write_always;
}

static void one_who_is_always_overtaken_gives_up(struct rig *r)
{
        begin(r);
        install(r, "Validating", RULE("\"UPDATE\"", "configmaps"));
        assert_int_equal(make(r, "a"), 201);
        fake.meanwhile = write_always;
        assert_int_equal(rig_merge(r, MAPS "/a", "{\"data\":{\"mine\":\"1\"}}"), 409);
        fake.meanwhile = NULL;
        assert_int_equal(rig_get(r, MAPS "/a"), 200);
        assert_string_equal(rig_string(r, "data.mine"), "");
        end(r);
}

static void a_deletion_judges_the_object_that_goes(struct rig *r)
{
        begin(r);
        install(r, "Validating", RULE("\"DELETE\"", "configmaps"));
        assert_int_equal(make(r, "a"), 201);
        fake.meanwhile = write_once;
        assert_int_equal(rig_delete(r, MAPS "/a"), 200);
        assert_int_equal(fake.calls, 2);
        assert_string_equal(asked("request.oldObject.data.theirs"), "1");
        assert_int_equal(rig_get(r, MAPS "/a"), 404);
        end(r);
}

static void make_once(struct rig *r)
{
        fake.meanwhile = NULL;
        (void)make(r, "a");
}

static void two_who_make_the_same_object_do_not_both_succeed(struct rig *r)
{
        begin(r);
        install(r, "Validating", ALL_MAPS);
        fake.meanwhile = make_once;
        assert_int_equal(make(r, "a"), 409);
        assert_string_equal(rig_string(r, "reason"), "AlreadyExists");
        end(r);
}

static void remove_webhooks(struct rig *r)
{
        fake.meanwhile = NULL;
        (void)rig_delete(r, GROUP "/validatingwebhookconfigurations/one");
}

static void webhooks_that_are_removed_meanwhile_still_answer(struct rig *r)
{
        begin(r);
        install(r, "Validating", ALL_MAPS);
        fake.answer = DENIED;
        fake.meanwhile = remove_webhooks;
        assert_int_equal(make(r, "a"), 403);
        assert_int_equal(make(r, "a"), 201);
        end(r);
}

static void remove_cluster(struct rig *r)
{
        struct error err = { 0 };
        fake.meanwhile = NULL;
        (void)devcluster_delete_cluster(r->devcluster, "hub", &err);
}

static void a_cluster_that_goes_meanwhile_is_not_touched(struct rig *r)
{
        begin(r);
        install(r, "Validating", ALL_MAPS);
        fake.meanwhile = remove_cluster;
        assert_int_equal(make(r, "a"), 404);
        end(r);
}

static void remove_namespace(struct rig *r)
{
        fake.meanwhile = NULL;
        (void)rig_delete(r, "/api/v1/namespaces/n");
        rig_settle(r);
}

static void nothing_is_made_in_a_namespace_that_went_meanwhile(struct rig *r)
{
        begin(r);
        assert_int_equal(rig_post(r, "/api/v1/namespaces", "{\"metadata\":{\"name\":\"n\"}}"), 201);
        install(r, "Validating", ALL_MAPS);
        fake.meanwhile = remove_namespace;
        int status = rig_post(r, "/api/v1/namespaces/n/configmaps", "{\"metadata\":{\"name\":\"a\"}}");
        assert_true(status == 404 || status == 403);
        end(r);
}

/* Whatever fails for want of memory, a denied write is never let through. */
static void no_memory_lets_nothing_through(struct rig *r)
{
        begin(r);
        install(r, "Validating", ALL_MAPS);
        fake.answer = DENIED;
        bool fired = true;
        for (uint64_t n = 1; fired; n++) {
                mem_fail_at(n, false);
                (void)make(r, "bad");
                fired = mem_fault_fired();
                mem_fail_at(0, false);
                assert_int_equal(rig_get(r, MAPS "/bad"), 404);
        }
        assert_int_equal(make(r, "bad"), 403);
        end(r);
}

#define TEST(f)                                                                                              \
        static void test_##f(void **state)                                                                   \
        {                                                                                                    \
                run(f);                                                                                      \
        }

TEST(a_webhook_refuses_in_its_own_words)
TEST(a_webhook_is_told_all_of_the_write)
TEST(an_answer_that_is_none_refuses_in_the_words_of_the_server)
TEST(a_webhook_that_is_away_refuses_or_not_as_its_policy_says)
TEST(a_webhook_that_thinks_too_long_has_not_answered)
TEST(a_webhook_is_asked_about_what_it_names)
TEST(conditions_that_fail_refuse)
TEST(a_mutating_webhook_changes_what_is_stored)
TEST(what_a_webhook_makes_is_checked_as_what_a_client_sends)
TEST(a_write_in_another_version_is_judged_in_the_one_that_is_named)
TEST(who_wants_to_know_is_asked_again_when_others_changed_it)
TEST(what_mutates_is_asked_before_what_validates)
TEST(a_dry_run_asks_those_without_side_effects_only)
TEST(warnings_reach_the_client)
TEST(webhooks_do_not_judge_webhooks)
TEST(a_patch_that_was_overtaken_is_done_on_the_newer_object)
TEST(an_update_that_was_overtaken_conflicts_when_it_names_its_version)
TEST(one_who_is_always_overtaken_gives_up)
TEST(a_deletion_judges_the_object_that_goes)
TEST(two_who_make_the_same_object_do_not_both_succeed)
TEST(webhooks_that_are_removed_meanwhile_still_answer)
TEST(a_cluster_that_goes_meanwhile_is_not_touched)
TEST(nothing_is_made_in_a_namespace_that_went_meanwhile)
TEST(no_memory_lets_nothing_through)

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_a_webhook_refuses_in_its_own_words),
                cmocka_unit_test(test_a_webhook_is_told_all_of_the_write),
                cmocka_unit_test(test_an_answer_that_is_none_refuses_in_the_words_of_the_server),
                cmocka_unit_test(test_a_webhook_that_is_away_refuses_or_not_as_its_policy_says),
                cmocka_unit_test(test_a_webhook_that_thinks_too_long_has_not_answered),
                cmocka_unit_test(test_a_webhook_is_asked_about_what_it_names),
                cmocka_unit_test(test_conditions_that_fail_refuse),
                cmocka_unit_test(test_a_mutating_webhook_changes_what_is_stored),
                cmocka_unit_test(test_what_a_webhook_makes_is_checked_as_what_a_client_sends),
                cmocka_unit_test(test_a_write_in_another_version_is_judged_in_the_one_that_is_named),
                cmocka_unit_test(test_who_wants_to_know_is_asked_again_when_others_changed_it),
                cmocka_unit_test(test_what_mutates_is_asked_before_what_validates),
                cmocka_unit_test(test_a_dry_run_asks_those_without_side_effects_only),
                cmocka_unit_test(test_warnings_reach_the_client),
                cmocka_unit_test(test_webhooks_do_not_judge_webhooks),
                cmocka_unit_test(test_a_patch_that_was_overtaken_is_done_on_the_newer_object),
                cmocka_unit_test(test_an_update_that_was_overtaken_conflicts_when_it_names_its_version),
                cmocka_unit_test(test_one_who_is_always_overtaken_gives_up),
                cmocka_unit_test(test_a_deletion_judges_the_object_that_goes),
                cmocka_unit_test(test_two_who_make_the_same_object_do_not_both_succeed),
                cmocka_unit_test(test_webhooks_that_are_removed_meanwhile_still_answer),
                cmocka_unit_test(test_a_cluster_that_goes_meanwhile_is_not_touched),
                cmocka_unit_test(test_nothing_is_made_in_a_namespace_that_went_meanwhile),
                cmocka_unit_test(test_no_memory_lets_nothing_through),
        };
        mem_hook_libraries();
        return cmocka_run_group_tests(tests, NULL, NULL);
}
