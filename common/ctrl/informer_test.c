/* Informers against a small scripted API server on the loopback transport. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/base/memory.h"
#include "common/base/vec.h"
#include "common/ctrl/informer.h"
#include "common/net/http_server.h"
#include "proto/gen/kinds.h"

/* ---- the server ---- */

struct server {
        struct map objects;       /* name -> resourceVersion as text (owned) */
        uint64_t version, oldest; /* watches from before `oldest` get 410 */
        VEC(char *) log;          /* watch lines; line i has version i + 1 */
        struct waitq changed;
        unsigned lists, watches;
        bool cut;                   /* ends all watches */
        bool stalled;               /* watches say nothing */
        unsigned fail_lists;        /* that many lists answer 500 */
        unsigned page;              /* items a page; 0 = all */
        void (*on_page)(void *ctx); /* told before each page */
        void *on_page_ctx;
};

static void object_text(struct buf *b, const char *name, uint64_t version)
{
        buf_printf(b,
                   "{\"apiVersion\":\"cluster.kubernetes-fleet.io/"
                   "v1beta1\",\"kind\":\"MemberCluster\",\"metadata\":{\"name\":\"%s\","
                   "\"uid\":\"u-%s\",\"resourceVersion\":\"%llu\",\"labels\":{\"first\":\"%c\"}},\"spec\":{"
                   "\"identity\":{\"kind\":\"User\",\"name\":\"x\"}}}",
                   name, name, (unsigned long long)version, name[0]);
}

static void say(struct server *s, const char *type, const char *name)
{
        struct buf b;

        buf_init(&b, 65536);
        buf_printf(&b, "{\"type\":\"%s\",\"object\":", type);
        object_text(&b, name, s->version);
        buf_append_str(&b, "}\n");
        assert_int_equal(vec_push(&s->log, buf_take(&b, NULL)), 0);
        waitq_wake_all(&s->changed);
}

static void put(struct server *s, const char *name)
{
        bool there = map_has(&s->objects, name);

        s->version++;
        assert_int_equal(map_put(&s->objects, name, mem_printf("%llu", (unsigned long long)s->version)), 0);
        say(s, there ? "MODIFIED" : "ADDED", name);
}

static void drop(struct server *s, const char *name)
{
        map_remove(&s->objects, name);
        s->version++;
        say(s, "DELETED", name);
}

static void serve_list(struct server *s, struct http_exchange *x)
{
        AUTO_BUF struct buf b;
        size_t n, begin = 0, end;
        AUTO_FREE const char **names = map_sorted_keys(&s->objects, &n);
        const char *token = http_query_get(x, "continue");
        uint64_t at = 0;

        s->lists++;
        if (s->on_page)
                s->on_page(s->on_page_ctx);
        if (s->fail_lists > 0) {
                s->fail_lists--;
                http_reply(x, 500, "application/json",
                           SLICE("{\"kind\":\"Status\",\"code\":500,\"reason\":\"InternalError\",\"message\":"
                                 "\"boom\"}"),
                           NULL);
                return;
        }
        if (token && text_parse_u64(token, &at))
                begin = at;
        end = s->page ? MIN(n, begin + s->page) : n;
        buf_init(&b, 1 << 20);
        buf_printf(&b,
                   "{\"kind\":\"MemberClusterList\",\"apiVersion\":\"cluster.kubernetes-fleet.io/"
                   "v1beta1\",\"metadata\":{\"resourceVersion\":\"%llu\"",
                   (unsigned long long)s->version);
        if (end < n)
                buf_printf(&b, ",\"continue\":\"%zu\"", end);
        buf_append_str(&b, "},\"items\":[");
        for (size_t i = begin; i < end; i++) {
                uint64_t version = 0;

                text_parse_u64(map_get(&s->objects, names[i]), &version);
                buf_append_str(&b, i > begin ? "," : "");
                object_text(&b, names[i], version);
        }
        buf_append_str(&b, "]}");
        http_reply(x, 200, "application/json", (struct slice){ b.data, b.len }, NULL);
}

static void serve_watch(struct server *s, struct http_exchange *x)
{
        struct http_header type = { "Content-Type", "application/json" };
        struct http_headers headers = { &type, 1 };
        uint64_t at = 0;

        s->watches++;
        text_parse_u64(http_query_get(x, "resourceVersion"), &at);
        if (at < s->oldest) {
                http_reply(x, 410, "application/json",
                           SLICE("{\"kind\":\"Status\",\"code\":410,\"reason\":\"Expired\",\"message\":\"too "
                                 "old resource version\"}"),
                           NULL);
                return;
        }
        http_begin(x, 200, &headers);
        s->cut = false;
        while (!s->cut) {
                for (; !s->stalled && at < s->log.n; at++)
                        if (http_write(x, s->log.at[at], strlen(s->log.at[at])) < 0)
                                return;
                if (x->ops->wait(x, &s->changed, DEADLINE_NONE) < 0)
                        return;
        }
        http_end(x);
}

static void serve(void *ctx, struct http_exchange *x)
{
        if (http_query_get(x, "watch"))
                serve_watch(ctx, x);
        else
                serve_list(ctx, x);
}

/* ---- fixture ---- */

struct seen {
        struct buf text; /* "+a " added, "~a " updated, "-a " deleted */
};

struct fixture {
        struct loop *loop;
        struct fiber_group *group;
        struct loopback *loopback;
        struct world world;
        struct server server;
        struct http_endpoint endpoint;
        struct kube_client kube;
        struct log log;
        struct informer *informer;
        struct seen seen;
        void (*body)(struct fixture *f);
};

static void record(void *ctx, const struct informer_event *e)
{
        struct seen *s = ctx;

        buf_printf(&s->text, "%c%s ", "+~-"[e->type], e -> now -> meta.name);
}

static void settle(struct fixture *f)
{
        assert_int_equal(fiber_sleep(f->loop, 100), 0);
}

static void expect_seen(struct fixture *f, const char *what)
{
        assert_string_equal(f->seen.text.data, what);
        buf_clear(&f->seen.text);
        f->seen.text.data[0] = '\0';
}

static void open_informer(struct fixture *f)
{
        struct informer_options o = { .kind = &member_cluster_kind, .flags = DECODE_PROJECTION };

        f->informer = informer_new(&f->kube, f->group, &o);
        assert_non_null(f->informer);
        assert_int_equal(informer_add_handler(f->informer, record, &f->seen), 0);
        assert_int_equal(informer_wait_synced(f->informer, loop_now_ms(f->loop) + 60000), 0);
}

static void run_fixture(void *ctx)
{
        struct fixture *f = ctx;

        f->world.transport = loopback_transport(f->loopback, &f->world, NULL);
        loopback_listen(f->loopback, "api.test", serve, &f->server);
        f->body(f);
        f->informer = informer_stop(f->informer);
        http_transport_free(f->world.transport);
        loopback_listen(f->loopback, "api.test", NULL, NULL);
        f->loopback = loopback_free(f->loopback);
}

static void with_informer(void (*body)(struct fixture *f))
{
        struct fixture f = { .body = body, .endpoint = { .base_url = (char *)"https://api.test" } };
        struct fiber_group *root;

        f.loop = loop_new_simulated(7, 1700000000000, NULL);
        world_init_real(&f.world, f.loop, NULL);
        root = fiber_group_new(f.loop, NULL, "test");
        f.group = fiber_group_new(f.loop, NULL, "informers");
        f.loopback = loopback_new(f.loop);
        f.kube = (struct kube_client){ .world = &f.world, .endpoint = &f.endpoint, .log = &f.log };
        map_init(&f.server.objects, MAP_OWN_KEYS, mem_free);
        buf_init(&f.seen.text, 65536);
        buf_append_str(&f.seen.text, "x");
        buf_clear(&f.seen.text);
        assert_non_null(fiber_spawn(root, "test", run_fixture, &f));
        assert_int_equal(loop_run(f.loop, NULL), 0);
        fiber_group_end(f.group);
        fiber_group_end(root);
        buf_free(&f.seen.text);
        map_free(&f.server.objects);
        vec_for_each(&f.server.log, line)
                mem_free(*line);
        vec_free(&f.server.log);
        loop_free(f.loop);
}

/* ---- behaviour ---- */

static void body_follow(struct fixture *f)
{
        put(&f->server, "a");
        put(&f->server, "b");
        open_informer(f);
        expect_seen(f, "+a +b ");
        put(&f->server, "c");
        put(&f->server, "a");
        drop(&f->server, "b");
        settle(f);
        expect_seen(f, "+c ~a -b ");
        assert_int_equal(informer_objects(f->informer), 2);
        assert_non_null(informer_get(f->informer, NULL, "a"));
        assert_null(informer_get(f->informer, NULL, "b"));
        assert_int_equal(f->server.lists, 1);
}

static void it_lists_once_and_then_follows_the_watch(void **state)
{
        with_informer(body_follow);
}

static void body_pages(struct fixture *f)
{
        f->server.page = 2;
        for (char name[2] = "a"; name[0] <= 'g'; name[0]++)
                put(&f->server, name);
        open_informer(f);
        assert_int_equal(informer_objects(f->informer), 7);
        assert_int_equal(f->server.lists, 4);
}

static void a_long_list_comes_in_pages(void **state)
{
        with_informer(body_pages);
}

static void body_cut(struct fixture *f)
{
        put(&f->server, "a");
        open_informer(f);
        expect_seen(f, "+a ");
        settle(f);
        f->server.cut = true;
        waitq_wake_all(&f->server.changed);
        put(&f->server, "b");
        settle(f);
        expect_seen(f, "+b ");
        assert_int_equal(f->server.lists, 1);
        assert_int_equal(f->server.watches, 2);
}

static void a_cut_watch_is_opened_again_without_a_list(void **state)
{
        with_informer(body_cut);
}

static void body_expired(struct fixture *f)
{
        put(&f->server, "a");
        put(&f->server, "b");
        open_informer(f);
        expect_seen(f, "+a +b ");
        settle(f);
        /* The watch dies; meanwhile b goes, c comes, a changes, and history is compacted. */
        loopback_listen(f->loopback, "api.test", NULL, NULL);
        drop(&f->server, "b");
        put(&f->server, "c");
        put(&f->server, "a");
        f->server.oldest = f->server.version;
        loopback_listen(f->loopback, "api.test", serve, &f->server);
        fiber_sleep(f->loop, 5000);
        expect_seen(f, "~a +c -b ");
        assert_int_equal(f->server.lists, 2);
        put(&f->server, "d");
        settle(f);
        expect_seen(f, "+d ");
}

static void after_410_it_lists_again_and_tells_only_the_difference(void **state)
{
        with_informer(body_expired);
}

static void body_failing(struct fixture *f)
{
        put(&f->server, "a");
        f->server.fail_lists = 3;
        open_informer(f);
        assert_int_equal(f->server.lists, 4);
        expect_seen(f, "+a ");
        assert_string_equal(informer_problem(f->informer), "");
}

static void a_failing_list_is_tried_again_with_backoff(void **state)
{
        with_informer(body_failing);
}

static struct object *make(const char *name, uint64_t version, struct arena *arena);

/* The late answer to an own write of b, which is deleted by now, arrives while the list runs. */
static void observe_late(void *ctx)
{
        struct fixture *f = ctx;
        struct object *o = make("b", 4, NULL);

        informer_observe(f->informer, o);
        object_unref(o);
}

static void body_late(struct fixture *f)
{
        put(&f->server, "a");
        put(&f->server, "b");
        put(&f->server, "c");
        open_informer(f);
        settle(f);
        loopback_listen(f->loopback, "api.test", NULL, NULL);
        put(&f->server, "b");
        drop(&f->server, "b");
        f->server.oldest = f->server.version;
        f->server.page = 1;
        f->server.on_page = observe_late;
        f->server.on_page_ctx = f;
        loopback_listen(f->loopback, "api.test", serve, &f->server);
        fiber_sleep(f->loop, 5000);
        assert_null(informer_get(f->informer, NULL, "b"));
        assert_int_equal(informer_objects(f->informer), 2);
}

static void a_late_answer_during_a_list_does_not_bring_back_what_was_deleted(void **state)
{
        with_informer(body_late);
}

static void by_first(const struct object *o, index_emit emit, void *to)
{
        const char *first = string_map_get(&o->meta.labels, "first");

        if (first)
                emit(to, first);
}

static size_t indexed(struct fixture *f, const char *value)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct object_list list;

        assert_int_equal(informer_by_index(f->informer, "first", value, &arena, &list), 0);
        return list.n;
}

static void body_index(struct fixture *f)
{
        put(&f->server, "a1");
        put(&f->server, "a2");
        put(&f->server, "b1");
        open_informer(f);
        assert_int_equal(informer_add_index(f->informer, "first", by_first), 0);
        assert_int_equal(indexed(f, "a"), 2);
        put(&f->server, "a3");
        put(&f->server, "a1");
        drop(&f->server, "a2");
        drop(&f->server, "b1");
        settle(f);
        assert_int_equal(indexed(f, "a"), 2);
        assert_int_equal(indexed(f, "b"), 0);
}

static void indexes_follow_adds_changes_and_deletes(void **state)
{
        with_informer(body_index);
}

static struct object *make(const char *name, uint64_t version, struct arena *arena)
{
        AUTO_BUF struct buf b;
        struct object *o = NULL;

        buf_init(&b, 65536);
        object_text(&b, name, version);
        assert_int_equal(object_decode(&member_cluster_kind, (struct slice){ b.data, b.len },
                                       DECODE_PROJECTION, NULL, &o, NULL),
                         0);
        return o;
}

static void body_observe(struct fixture *f)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        struct object *o;

        put(&f->server, "a");
        open_informer(f);
        expect_seen(f, "+a ");
        settle(f);
        /* Our own write of b is answered before the watch tells of it. */
        f->server.version++;
        o = make("b", f->server.version, &arena);
        informer_observe(f->informer, o);
        expect_seen(f, "+b ");
        say(&f->server, "ADDED", "b");
        settle(f);
        expect_seen(f, "");
        object_unref(o);
        /* An answer that comes after the watch told of the deletion must not bring the object back. */
        o = make("a", 1, &arena);
        drop(&f->server, "a");
        settle(f);
        expect_seen(f, "-a ");
        informer_observe(f->informer, o);
        expect_seen(f, "");
        assert_null(informer_get(f->informer, NULL, "a"));
        object_unref(o);
}

static void own_writes_are_seen_at_once_and_never_twice_nor_after_deletion(void **state)
{
        with_informer(body_observe);
}

static void body_refresh(struct fixture *f)
{
        put(&f->server, "a");
        put(&f->server, "b");
        open_informer(f);
        f->server.stalled = true;
        put(&f->server, "b");
        put(&f->server, "c");
        drop(&f->server, "a");
        settle(f);
        expect_seen(f, "+a +b ");
        assert_int_equal(informer_refresh(f->informer), 0);
        assert_false(informer_synced(f->informer));
        assert_non_null(informer_get(f->informer, NULL, "a"));
        assert_int_equal(informer_wait_synced(f->informer, loop_now_ms(f->loop) + 60000), 0);
        expect_seen(f, "~b +c -a ");
        f->server.stalled = false;
        put(&f->server, "d");
        settle(f);
        expect_seen(f, "+d ");
        assert_int_equal(f->server.lists, 2);
}

static void a_refresh_lists_what_a_stalled_watch_kept_back(void **state)
{
        with_informer(body_refresh);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(a_refresh_lists_what_a_stalled_watch_kept_back),
                cmocka_unit_test(it_lists_once_and_then_follows_the_watch),
                cmocka_unit_test(a_long_list_comes_in_pages),
                cmocka_unit_test(a_cut_watch_is_opened_again_without_a_list),
                cmocka_unit_test(after_410_it_lists_again_and_tells_only_the_difference),
                cmocka_unit_test(a_failing_list_is_tried_again_with_backoff),
                cmocka_unit_test(a_late_answer_during_a_list_does_not_bring_back_what_was_deleted),
                cmocka_unit_test(indexes_follow_adds_changes_and_deletes),
                cmocka_unit_test(own_writes_are_seen_at_once_and_never_twice_nor_after_deletion),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
