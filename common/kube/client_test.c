/* The Kubernetes client against devcluster: verbs, paging, errors, watch events. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/base/vec.h"
#include "common/kube/client.h"
#include "e2e/devcluster/rig.h"
#include "proto/gen/kinds.h"

static const struct kube_resource config_maps = { "", "v1", "configmaps", "ConfigMap", true };
static const struct kube_resource namespaces = { "", "v1", "namespaces", "Namespace", false };

struct bench {
        struct rig *rig;
        struct world world;
        struct log log;
        struct kube_client kube;
        struct loopback_faults faults;
        int fate;
        size_t calls;
        char last_count[64];
};

static int fate(void *ctx, const struct http_request *rq)
{
        struct bench *b = ctx;

        b->calls++;
        return b->fate;
}

static void count(void *ctx, const struct kube_counted *c)
{
        struct bench *b = ctx;

        assert_ptr_equal(c->endpoint, &b->rig->endpoint);
        snprintf(b->last_count, sizeof(b->last_count), "%s %s %s %d", c->verb, c->method, c->resource,
                 c->status);
}

static void open_bench(struct rig *r, struct bench *b)
{
        *b = (struct bench){ .rig = r, .world = r->world };
        b->faults = (struct loopback_faults){ .ctx = b, .fate = fate };
        b->world.transport = loopback_transport(r->net, &b->world, &b->faults);
        b->kube = (struct kube_client){ .world = &b->world,
                                        .endpoint = &r->endpoint,
                                        .log = &b->log,
                                        .field_manager = "tester",
                                        .count = count,
                                        .count_ctx = b };
}

static void close_bench(struct bench *b)
{
        http_transport_free(b->world.transport);
}

static json_t *config_map(const char *name, const char *color)
{
        return json_pack("{s:s, s:s, s:{s:s}, s:{s:s}}", "apiVersion", "v1", "kind", "ConfigMap", "metadata",
                         "name", name, "data", "color", color);
}

static int make(struct bench *b, const char *name, struct error *err)
{
        AUTO_JSON json_t *doc = config_map(name, "blue");

        return kube_doc_create(&b->kube, &config_maps, "default", doc, NULL, NULL, err);
}

/* ---- verbs on documents ---- */

static void body_documents(struct rig *r)
{
        AUTO_JSON json_t *created = NULL, *got = NULL, *patched = NULL, *updated = NULL;
        AUTO_JSON json_t *doc = config_map("a", "blue"),
                         *patch = json_pack("{s:{s:s}}", "data", "color", "red");
        struct error err = { 0 };
        struct bench b;

        open_bench(r, &b);
        assert_int_equal(kube_doc_create(&b.kube, &config_maps, "default", doc, NULL, &created, &err), 0);
        assert_string_equal(b.last_count, "create POST configmaps 201");
        assert_int_equal(kube_doc_get(&b.kube, &config_maps, "default", "a", &got, &err), 0);
        assert_true(json_equal(created, got));
        assert_string_equal(
                doc_get_string(json_array_get(doc_get_array(got, "metadata.managedFields"), 0), "manager"),
                "tester");
        assert_int_equal(kube_doc_patch(&b.kube, &config_maps, "default", "a", KUBE_PATCH_MERGE, patch, NULL,
                                        &patched, &err),
                         0);
        assert_string_equal(doc_get_string(patched, "data.color"), "red");
        /* got is older than what is stored now */
        assert_int_equal(kube_doc_update(&b.kube, &config_maps, "default", "a", got, NULL, NULL, &err),
                         ERR_CONFLICT);
        assert_int_equal(err.http_status, 409);
        assert_int_equal(doc_set_string(patched, "data.color", "green"), 0);
        assert_int_equal(
                kube_doc_update(&b.kube, &config_maps, "default", "a", patched, NULL, &updated, &err), 0);
        assert_string_equal(doc_get_string(updated, "data.color"), "green");
        assert_int_equal(kube_doc_delete(&b.kube, &config_maps, "default", "a", "another-uid", NULL, &err),
                         ERR_CONFLICT);
        assert_int_equal(kube_doc_delete_read(&b.kube, &config_maps, patched, NULL, true, &err),
                         ERR_CONFLICT);
        assert_int_equal(kube_doc_delete_read(&b.kube, &config_maps, updated, NULL, true, &err), 0);
        assert_int_equal(kube_doc_delete(&b.kube, &config_maps, "default", "a", /* it is there all the same */
                                         doc_get_string(updated, "metadata.uid"), "Background", &err),
                         0);
        assert_int_equal(kube_doc_delete(&b.kube, &config_maps, "default", "a", NULL, NULL, &err),
                         ERR_NOT_FOUND);
        close_bench(&b);
}

static void documents_are_made_read_changed_and_deleted(void **state)
{
        rig_run(body_documents);
}

static void body_write_options(struct rig *r)
{
        AUTO_JSON json_t *doc = config_map("a", "blue"), *other = config_map("a", "red");
        struct kube_write dry = { .dry_run = true }, somebody = { .field_manager = "somebody" },
                          forced = { .field_manager = "somebody", .force = true };
        struct error err = { 0 };
        struct bench b;

        open_bench(r, &b);
        assert_int_equal(kube_doc_create(&b.kube, &config_maps, "default", doc, &dry, NULL, &err), 0);
        assert_int_equal(rig_get(r, "/api/v1/namespaces/default/configmaps/a"), 404);
        assert_int_equal(kube_doc_patch(&b.kube, &config_maps, "default", "a", KUBE_PATCH_APPLY, doc, NULL,
                                        NULL, &err),
                         0);
        assert_int_equal(kube_doc_patch(&b.kube, &config_maps, "default", "a", KUBE_PATCH_APPLY, other,
                                        &somebody, NULL, &err),
                         ERR_CONFLICT);
        assert_int_equal(kube_doc_patch(&b.kube, &config_maps, "default", "a", KUBE_PATCH_APPLY, other,
                                        &forced, NULL, &err),
                         0);
        assert_int_equal(rig_get(r, "/api/v1/namespaces/default/configmaps/a"), 200);
        assert_string_equal(rig_string(r, "data.color"), "red");
        close_bench(&b);
}

static void dry_runs_write_nothing_and_a_conflict_of_owners_needs_force(void **state)
{
        rig_run(body_write_options);
}

static void body_escaping(struct rig *r)
{
        AUTO_BUF struct buf path;
        struct kube_resource works = { "g.example", "v1", "works", "Work", true };

        buf_init(&path, 1024);
        kube_path(&path, &works, "a/b", "c d?", "status");
        assert_string_equal(path.data, "/apis/g.example/v1/namespaces/a%2Fb/works/c%20d%3F/status");
        buf_clear(&path);
        kube_path(&path, &namespaces, NULL, "x", NULL);
        assert_string_equal(path.data, "/api/v1/namespaces/x");
        buf_clear(&path);
        kube_path(&path, &works, NULL, NULL, NULL);
        assert_string_equal(path.data, "/apis/g.example/v1/works");
}

static void names_cannot_break_out_of_their_place_in_the_path(void **state)
{
        rig_run(body_escaping);
}

static void a_path_in_the_wrong_scope_is_refused(void **state)
{
        static const struct kube_resource works = { "g.example", "v1", "works", "Work", true };
        AUTO_BUF struct buf path;

        buf_init(&path, 1024);
        assert_int_equal(kube_path(&path, &namespaces, "team-a", "x", NULL), ERR_INVALID);
        buf_clear(&path);
        assert_int_equal(kube_path(&path, &namespaces, "team-a", NULL, NULL), ERR_INVALID);
        buf_clear(&path);
        assert_int_equal(kube_path(&path, &works, NULL, "x", NULL), ERR_INVALID);
        buf_clear(&path);
        assert_int_equal(kube_path(&path, &works, NULL, NULL, NULL), 0);
        assert_string_equal(path.data, "/apis/g.example/v1/works");
}

static void body_scopes(struct rig *r)
{
        AUTO_JSON json_t *doc = json_pack("{s:s,s:s,s:{s:s}}", "apiVersion", "v1", "kind", "Namespace",
                                          "metadata", "name", "x");
        struct error err = { 0 };
        json_t *got = NULL;
        struct bench b;

        open_bench(r, &b);
        assert_int_equal(kube_doc_get(&b.kube, &namespaces, "team", "x", &got, &err), ERR_INVALID);
        assert_string_equal(err.text,
                            "namespaces \"x\" has namespace \"team\", but its kind is cluster-scoped");
        assert_int_equal(kube_doc_create(&b.kube, &namespaces, "team", doc, NULL, NULL, &err), ERR_INVALID);
        assert_int_equal(
                kube_doc_patch(&b.kube, &namespaces, "team", "x", KUBE_PATCH_MERGE, doc, NULL, NULL, &err),
                ERR_INVALID);
        assert_int_equal(kube_doc_delete(&b.kube, &namespaces, "team", "x", NULL, NULL, &err), ERR_INVALID);
        assert_int_equal(kube_doc_create(&b.kube, &config_maps, NULL, doc, NULL, NULL, &err), ERR_INVALID);
        assert_int_equal(kube_doc_get(&b.kube, &config_maps, "", "x", &got, &err), ERR_INVALID);
        assert_string_equal(err.text, "configmaps \"x\" has no namespace, but its kind needs one");
        assert_int_equal(b.calls, 0); /* nothing was asked of the server */
        close_bench(&b);
}

static void an_object_is_not_addressed_on_the_wrong_side_of_a_namespace(void **state)
{
        rig_run(body_scopes);
}

/* ---- typed ---- */

static void body_typed(struct rig *r)
{
        struct namespace wanted = { .object = { .kind = &namespace_kind, .meta = { .name = "web" } } };
        struct object *created, *changed, *same;
        struct error err = { 0 };
        size_t calls;
        struct bench b;

        open_bench(r, &b);
        assert_int_equal(kube_create(&b.kube, &wanted.object, &r->arena, &created, &err), 0);
        assert_string_equal(created->meta.name, "web");
        assert_non_null(created->meta.uid);
        assert_int_equal(kube_create(&b.kube, &wanted.object, &r->arena, &same, &err), ERR_EXISTS);
        calls = b.calls;
        assert_int_equal(kube_patch_diff(&b.kube, created, created, OBJECT_META_SPEC, &r->arena, &same, &err),
                         0);
        assert_int_equal(b.calls, calls); /* no difference, no request */
        assert_ptr_equal(same, created);
        changed = object_copy(created, &r->arena);
        assert_int_equal(string_map_put(&changed->meta.labels, "color", "blue", &r->arena), 0);
        assert_int_equal(kube_patch_diff(&b.kube, created, changed, OBJECT_META_SPEC, &r->arena, &same, &err),
                         0);
        assert_string_equal(string_map_get(&same->meta.labels, "color"), "blue");
        /* created is old news now */
        changed = object_copy(created, &r->arena);
        assert_int_equal(string_map_put(&changed->meta.labels, "color", "red", &r->arena), 0);
        assert_int_equal(kube_patch_diff(&b.kube, created, changed, OBJECT_META_SPEC, &r->arena, NULL, &err),
                         ERR_CONFLICT);
        assert_int_equal(kube_delete(&b.kube, created, true, &err), ERR_CONFLICT);
        assert_int_equal(kube_delete(&b.kube, created, false, &err), 0);
        rig_settle(r);
        assert_int_equal(kube_delete(&b.kube, created, false, &err), 0); /* gone is done */
        assert_int_equal(kube_get(&b.kube, &namespace_kind, NULL, "web", &r->arena, &same, &err),
                         ERR_NOT_FOUND);
        assert_non_null(strstr(err.text, "namespaces \"web\" not found"));
        close_bench(&b);
}

static void typed_writes_carry_the_difference_and_the_version_it_was_computed_from(void **state)
{
        rig_run(body_typed);
}

/* ---- lists ---- */

/* Ends a list without a word about why. */
static int had_enough(void *ctx, struct object *o)
{
        return ERR_CLOSED;
}

static int collect(void *ctx, struct object *o)
{
        ++*(size_t *)ctx;
        return 0;
}

static void body_paging(struct rig *r)
{
        enum { MANY = 1203 };
        AUTO_FREE char *version = NULL;
        AUTO_JSON json_t *items = NULL;
        struct error err = { 0 };
        size_t n = 0, calls;
        struct bench b;

        open_bench(r, &b);
        for (int i = 0; i < MANY; i++) {
                char body[96];

                snprintf(body, sizeof(body), "{\"metadata\":{\"name\":\"n-%d\",\"labels\":{\"odd\":\"%s\"}}}",
                         i, i % 2 ? "yes" : "no");
                assert_int_equal(rig_post(r, "/api/v1/namespaces", body), 201);
        }
        calls = b.calls;
        assert_int_equal(kube_list(&b.kube, &namespace_kind, NULL, "odd", DECODE_FULL, NULL, collect, &n,
                                   &version, &err),
                         0);
        assert_int_equal(n, MANY);
        assert_int_equal(b.calls - calls, 3); /* pages of 500 */
        assert_non_null(version);
        assert_int_equal(kube_list(&b.kube, &namespace_kind, NULL, "odd", DECODE_FULL, NULL, had_enough, NULL,
                                   NULL, &err),
                         ERR_CLOSED);
        n = 0;
        assert_int_equal(kube_list(&b.kube, &namespace_kind, NULL, "odd=yes", DECODE_FULL, NULL, collect, &n,
                                   NULL, &err),
                         0);
        assert_int_equal(n, MANY / 2);
        assert_int_equal(kube_doc_list(&b.kube, &namespaces, NULL, "odd=no", &items, &err), 0);
        assert_int_equal(json_array_size(items), MANY - MANY / 2);
        close_bench(&b);
}

static void a_long_list_comes_in_pages_and_is_whole(void **state)
{
        rig_run(body_paging);
}

/* ---- errors ---- */

static void body_statuses(struct rig *r)
{
        static const struct {
                int status, code, after_ms;
        } rows[] = {
                { 400, ERR_INVALID, 0 },   { 401, ERR_UNAUTHORIZED, 0 }, { 403, ERR_FORBIDDEN, 0 },
                { 404, ERR_NOT_FOUND, 0 }, { 409, ERR_CONFLICT, 0 },     { 410, ERR_GONE, 0 },
                { 422, ERR_INVALID, 0 },   { 429, ERR_TOO_MANY, 1000 },  { 500, ERR_RETRY, 0 },
                { 503, ERR_RETRY, 1000 },
        };

        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
                AUTO_JSON json_t *doc = NULL;
                struct error err = { 0 };
                struct bench b;
                int code;

                open_bench(r, &b);
                b.fate = rows[i].status;
                code = kube_doc_get(&b.kube, &config_maps, "default", "a", &doc, &err);
                if (code != rows[i].code || err.http_status != rows[i].status ||
                    (int)err.retry_after_ms != rows[i].after_ms)
                        fail_msg("%d: code %d, status %d, after %u", rows[i].status, code, err.http_status,
                                 err.retry_after_ms);
                assert_null(doc);
                close_bench(&b);
        }
}

static void each_status_says_what_the_caller_may_do(void **state)
{
        rig_run(body_statuses);
}

static void body_network(struct rig *r)
{
        struct error err = { 0 };
        int64_t begin;
        struct bench b;

        open_bench(r, &b);
        b.fate = ERR_RETRY;
        assert_int_equal(make(&b, "a", &err), ERR_RETRY);
        assert_string_equal(b.last_count, "create POST configmaps 0");
        b.fate = ERR_TIMEOUT;
        begin = loop_now_ms(r->loop);
        assert_int_equal(make(&b, "a", &err), ERR_TIMEOUT);
        assert_int_equal(loop_now_ms(r->loop) - begin, KUBE_CALL_DEADLINE_MS);
        b.kube.call_deadline_ms = 700;
        begin = loop_now_ms(r->loop);
        assert_int_equal(make(&b, "a", &err), ERR_TIMEOUT);
        assert_int_equal(loop_now_ms(r->loop) - begin, 700);
        close_bench(&b);
}

static void no_call_waits_longer_than_its_deadline(void **state)
{
        rig_run(body_network);
}

static void strangers_answers_get_a_sentence(void **state)
{
        static const struct {
                int status;
                const char *type, *body;
                int code;
                const char *said;
        } rows[] = {
                { 200, "text/html", "<html>log in</html>", ERR_RETRY,
                  "get x: the server answered 200 with an HTML page" },
                { 502, "text/html", "<html>bad gateway</html>", ERR_RETRY, "502 with an HTML page" },
                { 404, "text/plain", "404 page not found", ERR_NOT_FOUND,
                  "the server answered 404: 404 page not found" },
                { 403, "application/json",
                  "{\"kind\":\"Status\",\"reason\":\"Forbidden\",\"message\":\"no\"}", ERR_FORBIDDEN,
                  "get x: no" },
                { 409, "application/json",
                  "{\"kind\":\"Status\",\"reason\":\"AlreadyExists\",\"message\":\"there\"}", ERR_EXISTS,
                  "there" },
        };

        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
                struct http_header type = { "Content-Type", rows[i].type };
                struct http_response r = { .status = rows[i].status,
                                           .headers = { &type, 1 },
                                           .body = slice_of(rows[i].body) };
                struct error err = { 0 };
                int code = kube_status_error(&r, "get x", &err);

                if (code != rows[i].code || !strstr(err.text, rows[i].said))
                        fail_msg("row %zu: %d %s", i, code, err.text);
        }
}

/* API servers put what was wrong behind a dump of the value. */
static void a_dump_does_not_hide_the_reason(void **state)
{
        AUTO_BUF struct buf body;
        struct http_response r = { .status = 422 };
        struct error err = { 0 };

        buf_init(&body, 8192);
        buf_append_str(&body,
                       "{\"kind\":\"Status\",\"reason\":\"Invalid\",\"message\":\"Job.batch \\\"sums\\\" is "
                       "invalid: spec.template: Invalid value: ");
        for (int i = 0; i < 500; i++)
                buf_append_str(&body, "dump of it ");
        buf_append_str(&body, ": field is immutable\"}");
        r.body = (struct slice){ body.data, body.len };
        assert_int_equal(kube_status_error(&r, "patch jobs", &err), ERR_INVALID);
        error_wrap(&err, "failed to patch the manifest object");
        assert_true(text_starts_with(err.text, "failed to patch the manifest object: patch jobs: Job.batch "
                                               "\"sums\" is invalid: spec.template"));
        assert_true(text_ends_with(err.text, ": field is immutable"));
}

/* A thousand that begin together do not begin anew together. */
static void watches_last_half_an_hour_to_an_hour(void **state)
{
        struct error err = { 0 };
        struct loop *l = loop_new_simulated(1, 0, &err);
        uint64_t least = UINT64_MAX, most = 0;

        assert_non_null(l);
        for (int i = 0; i < 1000; i++) {
                uint64_t seconds = kube_watch_seconds(l);

                least = MIN(least, seconds);
                most = MAX(most, seconds);
        }
        assert_in_range(least, 1800, 1860);
        assert_in_range(most, 3540, 3599);
        loop_free(l);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(documents_are_made_read_changed_and_deleted),
                cmocka_unit_test(dry_runs_write_nothing_and_a_conflict_of_owners_needs_force),
                cmocka_unit_test(names_cannot_break_out_of_their_place_in_the_path),
                cmocka_unit_test(a_path_in_the_wrong_scope_is_refused),
                cmocka_unit_test(an_object_is_not_addressed_on_the_wrong_side_of_a_namespace),
                cmocka_unit_test(typed_writes_carry_the_difference_and_the_version_it_was_computed_from),
                cmocka_unit_test(a_long_list_comes_in_pages_and_is_whole),
                cmocka_unit_test(each_status_says_what_the_caller_may_do),
                cmocka_unit_test(no_call_waits_longer_than_its_deadline),
                cmocka_unit_test(strangers_answers_get_a_sentence),
                cmocka_unit_test(a_dump_does_not_hide_the_reason),
                cmocka_unit_test(watches_last_half_an_hour_to_an_hour),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
