/* The simulated servers: what they do when they die, and what is told of their changes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "e2e/simulation/sim_fleet.h"

#define WALL_START_MS 1767225600000 /* 2026-01-01T00:00:00Z */

static const struct kube_resource config_maps = { "", "v1", "configmaps", "ConfigMap", true },
                                  namespaces = { "", "v1", "namespaces", "Namespace", false };

struct bench {
        struct loop *loop;
        struct log_sink sink;
        struct fleet *fleet;
        struct kube_client *hub, *member;
        void (*play)(struct bench *b);
        struct error err;
        /* Of ConfigMaps that begin with "test-". */
        unsigned changes, deleted;
        char who[64], last[256];
};

static int64_t wall(void *ctx)
{
        return loop_wall_ms(((struct bench *)ctx)->loop);
}

static void say_nothing(void *ctx, const char *line, size_t n)
{
}

static void changed(void *ctx, const struct change *c)
{
        struct bench *b = ctx;

        assert_true(!c->before == (c->type == CHANGE_ADDED));
        assert_true(!c->after == (c->type == CHANGE_DELETED));
        if (!text_equal(c->resource, "/configmaps") || !text_starts_with(c->name, "test-"))
                return;
        assert_true(b->fleet ? sim_fleet_get(b->fleet, c->cluster, c->resource, c->ns, c->name) == c->after
                             : true);
        b->changes++;
        b->deleted += c->type == CHANGE_DELETED;
        snprintf(b->who, sizeof(b->who), "%s", c->who);
        snprintf(b->last, sizeof(b->last), "%s %s/%s %s>%s", c->cluster, c->ns, c->name,
                 c->before ? doc_get_string(c->before, "data.x") : "",
                 c->after ? doc_get_string(c->after, "data.x") : "");
}

static void run_fiber(void *ctx)
{
        struct bench *b = ctx;
        struct sim_fleet_options o = {
                .loop = b->loop, .log_sink = &b->sink, .members = 1, .changed = changed, .ctx = b
        };
        struct fleet *f;

        assert_int_equal(sim_fleet_open(&o, &f, &b->err), 0);
        b->fleet = f;
        assert_int_equal(f->ops->client(f, "hub", &b->hub, NULL), 0);
        assert_int_equal(f->ops->client(f, "member-1", &b->member, NULL), 0);
        b->play(b);
        f->ops->close(f);
}

static void run(void (*play)(struct bench *b))
{
        size_t live = mem_live_count();
        struct bench b = { .play = play };
        struct fiber_group *group;

        b.sink = (struct log_sink){ .write = say_nothing, .wall_ms = wall, .ctx = &b, .least = LOG_ERROR };
        b.loop = loop_new_simulated(5, WALL_START_MS, NULL);
        group = fiber_group_new(b.loop, NULL, "test");
        assert_true(fiber_spawn(group, "test", run_fiber, &b));
        assert_int_equal(loop_run(b.loop, &b.err), 0);
        fiber_group_end(group);
        loop_free(b.loop);
        assert_int_equal(mem_live_count(), live);
}

/* A ConfigMap of namespace default. */
static int write_map(struct kube_client *k, const char *name, const char *x)
{
        AUTO_JSON json_t *doc =
                json_pack("{s:s, s:s, s:{s:s, s:s}, s:{s:s}}", "apiVersion", "v1", "kind", "ConfigMap",
                          "metadata", "name", name, "namespace", "default", "data", "x", x);
        struct kube_write how = { .field_manager = "test", .force = true };

        return kube_doc_patch(k, &config_maps, "default", name, KUBE_PATCH_APPLY, doc, &how, NULL, NULL);
}

static bool has_map(struct kube_client *k, const char *name, const char *x)
{
        AUTO_JSON json_t *doc = NULL;

        return kube_doc_get(k, &config_maps, "default", name, &doc, NULL) == 0 &&
               text_equal(doc_get_string(doc, "data.x"), x);
}

static void watch_a_map(struct bench *b)
{
        assert_int_equal(write_map(b->hub, "test-a", "1"), 0);
        assert_string_equal(b->last, "hub default/test-a >1");
        assert_string_equal(b->who, "player");
        assert_int_equal(write_map(b->hub, "test-a", "2"), 0);
        assert_string_equal(b->last, "hub default/test-a 1>2");
        assert_int_equal(write_map(b->member, "test-a", "3"), 0);
        assert_string_equal(b->last, "member-1 default/test-a >3");
        assert_int_equal(kube_doc_delete(b->hub, &config_maps, "default", "test-a", NULL, NULL, NULL), 0);
        assert_string_equal(b->last, "hub default/test-a 2>");
        assert_int_equal(b->changes, 4);
        assert_null(sim_fleet_get(b->fleet, "hub", "/configmaps", "default", "test-a"));
        assert_non_null(sim_fleet_get(b->fleet, "member-1", "/configmaps", "default", "test-a"));
}

static void every_change_is_told_with_who_made_it(void **state)
{
        run(watch_a_map);
}

struct seen {
        char names[128];
        unsigned n, most;
};

static bool see(void *ctx, const json_t *doc)
{
        struct seen *s = ctx;
        size_t at = strlen(s->names);

        snprintf(s->names + at, sizeof(s->names) - at, " %s/%s", doc_get_string(doc, "metadata.namespace"),
                 doc_get_string(doc, "metadata.name"));
        return ++s->n < s->most;
}

static void list_maps(struct bench *b)
{
        AUTO_JSON json_t *ns = json_pack("{s:s, s:s, s:{s:s}}", "apiVersion", "v1", "kind", "Namespace",
                                         "metadata", "name", "a");
        AUTO_JSON json_t *map = json_pack("{s:s, s:s, s:{s:s, s:s}}", "apiVersion", "v1", "kind", "ConfigMap",
                                          "metadata", "name", "z", "namespace", "a");
        struct seen all = { .most = 99 }, of_a = { .most = 99 }, first = { .most = 1 };

        assert_int_equal(kube_doc_create(b->hub, &namespaces, NULL, ns, NULL, NULL, NULL), 0);
        assert_int_equal(kube_doc_create(b->hub, &config_maps, "a", map, NULL, NULL, NULL), 0);
        assert_int_equal(write_map(b->hub, "b", ""), 0);
        sim_fleet_each(b->fleet, "hub", "/configmaps", "a", see, &of_a);
        assert_string_equal(of_a.names, " a/kube-root-ca.crt a/z");
        sim_fleet_each(b->fleet, "hub", "/configmaps", NULL, see, &all);
        assert_true(text_starts_with(all.names, " a/kube-root-ca.crt a/z default/b default/kube-root"));
        sim_fleet_each(b->fleet, "hub", "/configmaps", "default", see, &first);
        assert_string_equal(first.names, " default/b");
        sim_fleet_each(b->fleet, "hub", "/nothing", NULL, see, &first);
        assert_int_equal(first.n, 1);
}

static void stores_are_read_in_order_and_by_namespace(void **state)
{
        run(list_maps);
}

static void die_and_live(struct bench *b)
{
        for (unsigned i = 0; i < 4; i++) {
                char name[32], x[8];

                snprintf(name, sizeof(name), "test-%u", i);
                snprintf(x, sizeof(x), "%u", i);
                assert_int_equal(write_map(b->hub, name, x), 0);
                assert_int_equal(sim_fleet_kill_server(b->fleet, i % 2, &b->err), 0);
                assert_true(has_map(b->hub, name, x));
                assert_true(has_map(b->hub, "test-0", "0"));
        }
        assert_int_equal(b->changes, 4);
        assert_int_equal(b->fleet->ops->restart_server(b->fleet, &b->err), 0);
        assert_int_equal(sim_fleet_kill_server(b->fleet, true, &b->err), 0);
        assert_true(has_map(b->hub, "test-3", "3"));
}

static void what_was_acknowledged_survives_the_servers(void **state)
{
        run(die_and_live);
}

/* Of the whole store, as a list says it. */
static int64_t version(struct bench *b)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        AUTO_JSON json_t *list = NULL;
        struct http_response r;
        int64_t n = 0;

        assert_int_equal(
                kube_raw(b->hub, "GET", "/api/v1/nodes", NULL, (struct slice){ 0 }, &arena, &r, &b->err), 0);
        assert_int_equal(doc_parse(r.body, &list, &b->err), 0);
        assert_true(text_parse_i64(doc_get_string(list, "metadata.resourceVersion"), &n));
        return n;
}

static void raise_versions(struct bench *b)
{
        int64_t seen;

        for (unsigned i = 0; i < 10; i++) /* each gives out a version that no object has */
                assert_int_equal(b->fleet->ops->restart_server(b->fleet, &b->err), 0);
        seen = version(b);
        assert_int_equal(sim_fleet_kill_server(b->fleet, true, &b->err), 0);
        assert_true(version(b) >= seen);
}

static void versions_do_not_go_back_with_the_servers(void **state)
{
        run(raise_versions);
}

static void fill_disk(struct bench *b)
{
        AUTO_JSON json_t *doc = NULL;
        char big[100000];

        memset(big, 'x', sizeof(big) - 1);
        big[sizeof(big) - 1] = '\0';
        assert_int_equal(write_map(b->hub, "test-a", "1"), 0);
        assert_int_equal(sim_fleet_set_server_disk_full(b->fleet, true, &b->err), 0);
        assert_int_not_equal(write_map(b->hub, "test-b", big), 0);
        assert_int_not_equal(write_map(b->hub, "test-c", "1"), 0);
        assert_false(has_map(b->hub, "test-a", "1"));
        /* nor is it said that what could not be written is there, or that something is not */
        assert_int_not_equal(kube_doc_get(b->hub, &config_maps, "default", "test-d", &doc, &b->err),
                             ERR_NOT_FOUND);
        assert_int_equal(b->changes, 1);
        assert_int_equal(sim_fleet_kill_server(b->fleet, true, &b->err), 0); /* it is no better after that */
        assert_int_not_equal(write_map(b->hub, "test-b", big), 0);
        assert_int_equal(sim_fleet_set_server_disk_full(b->fleet, false, &b->err), 0);
        assert_true(has_map(b->hub, "test-a", "1"));
        assert_false(has_map(b->hub, "test-b", big));
        assert_int_equal(write_map(b->hub, "test-b", big), 0);
        assert_true(has_map(b->hub, "test-b", big));
        assert_int_equal(b->changes, 2);
}

static void a_full_disk_stops_the_servers_and_loses_nothing(void **state)
{
        run(fill_disk);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(every_change_is_told_with_who_made_it),
                cmocka_unit_test(stores_are_read_in_order_and_by_namespace),
                cmocka_unit_test(what_was_acknowledged_survives_the_servers),
                cmocka_unit_test(versions_do_not_go_back_with_the_servers),
                cmocka_unit_test(a_full_disk_stops_the_servers_and_loses_nothing),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
