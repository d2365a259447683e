/* What the tests of informers share: a small scripted API server on the loopback transport, and an informer
 * of its objects. */
#pragma once

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

struct entry {
        uint64_t version;
        unsigned incarnation;
        bool odd;       /* cannot be decoded */
        size_t padding; /* bytes of a field that nobody keeps */
};

struct server {
        struct map objects;       /* name -> struct entry (owned) */
        uint64_t version, oldest; /* watches from before `oldest` get 410 */
        VEC(char *) log;          /* watch lines; line i has version i + 1 */
        struct waitq changed;
        unsigned lists, watches, incarnations;
        uint64_t watched_from;      /* what the newest watch asked for */
        bool cut;                   /* ends all watches */
        bool stalled;               /* watches say nothing */
        unsigned fail_lists;        /* that many lists answer 500 */
        unsigned failing_list;      /* for a test's on_page: which list it lets fail */
        bool forbidden;             /* lists and watches answer 403 */
        unsigned refused;           /* so many did */
        unsigned fail_watches;      /* that many watches answer 500 */
        bool busy;                  /* those that fail answer 429 */
        const char *retry_after;    /* seconds; what such an answer says of when to come again */
        unsigned page;              /* items a page; 0 = all */
        void (*on_page)(void *ctx); /* told before each page */
        void *on_page_ctx;
};

static inline void object_text(struct buf *b, const char *name, const struct entry *e)
{
        buf_printf(b,
                   "{\"apiVersion\":\"cluster.kubernetes-fleet.io/"
                   "v1beta1\",\"kind\":\"MemberCluster\",\"metadata\":{\"name\":\"%s\","
                   "\"uid\":\"u-%s-%u\",\"resourceVersion\":\"%llu\",\"labels\":{\"first\":\"%c\"}},\"spec\":"
                   "%s}",
                   name, name, e->incarnation, (unsigned long long)e->version, name[0],
                   e->odd ? "5" : "{\"identity\":{\"kind\":\"User\",\"name\":\"x\"}}");
        if (e->padding == 0 || buf_reserve(b, e->padding + 16) < 0)
                return;
        b->len--; /* the object's brace */
        buf_append_str(b, ",\"x\":\"");
        memset(b->data + b->len, 'x', e->padding);
        b->len += e->padding;
        buf_append_str(b, "\"}");
}

static inline void say(struct server *s, const char *type, const char *name, const struct entry *e)
{
        struct buf b;

        buf_init(&b, 65536);
        buf_printf(&b, "{\"type\":\"%s\",\"object\":", type);
        object_text(&b, name, e);
        buf_append_str(&b, "}\n");
        assert_int_equal(vec_push(&s->log, buf_take(&b, NULL)), 0);
        waitq_wake_all(&s->changed);
}

static inline void put(struct server *s, const char *name)
{
        struct entry *e = map_get(&s->objects, name);
        bool there = e != NULL;

        if (!e) {
                e = NEW(struct entry);
                assert_int_equal(map_put(&s->objects, name, e), 0);
                e->incarnation = ++s->incarnations;
        }
        e->version = ++s->version;
        say(s, there ? "MODIFIED" : "ADDED", name, e);
}

static inline void say_bookmark(struct server *s)
{
        char *line =
                mem_printf("{\"type\":\"BOOKMARK\",\"object\":{\"kind\":\"MemberCluster\",\"apiVersion\":"
                           "\"cluster.kubernetes-fleet.io/v1beta1\",\"metadata\":{\"resourceVersion\":"
                           "\"%llu\"}}}\n",
                           (unsigned long long)++s->version);

        assert_int_equal(vec_push(&s->log, line), 0);
        waitq_wake_all(&s->changed);
}

static inline void put_odd(struct server *s, const char *name, bool odd)
{
        if (!map_has(&s->objects, name)) {
                struct entry *e = NEW(struct entry);

                e->incarnation = ++s->incarnations;
                assert_int_equal(map_put(&s->objects, name, e), 0);
        }
        ((struct entry *)map_get(&s->objects, name))->odd = odd;
        put(s, name);
}

static inline void drop(struct server *s, const char *name)
{
        struct entry *e = map_take(&s->objects, name);

        e->version = ++s->version;
        say(s, "DELETED", name, e);
        mem_free(e);
}

static inline void answer_500(struct server *s, struct http_exchange *x)
{
        struct http_header retry_after = { "Retry-After", s->retry_after };
        struct http_headers headers = { &retry_after, s->retry_after ? 1 : 0 };

        if (s->busy) {
                http_reply(x, 429, "text/plain", SLICE("Too many requests, please try again later.\n"),
                           &headers);
                return;
        }
        http_reply(x, 500, "application/json",
                   SLICE("{\"kind\":\"Status\",\"code\":500,\"reason\":\"InternalError\",\"message\":"
                         "\"boom\"}"),
                   &headers);
}

static inline void serve_list(struct server *s, struct http_exchange *x)
{
        AUTO_BUF struct buf b;
        size_t n, begin = 0, end;
        AUTO_FREE const char **names = map_sorted_keys(&s->objects, &n);
        const char *token = http_query_get(x, "continue");
        uint64_t at = 0, limit = 0;

        buf_init(&b, 256 << 20);
        s->lists++;
        if (s->on_page)
                s->on_page(s->on_page_ctx);
        if (s->fail_lists > 0) {
                s->fail_lists--;
                answer_500(s, x);
                return;
        }
        if (token && text_parse_u64(token, &at))
                begin = at;
        assert_true(text_parse_u64(http_query_get(x, "limit"), &limit) && limit > 0);
        end = MIN(n, begin + (s->page ? MIN(limit, s->page) : limit));
        buf_printf(&b,
                   "{\"kind\":\"MemberClusterList\",\"apiVersion\":\"cluster.kubernetes-fleet.io/"
                   "v1beta1\",\"metadata\":{\"resourceVersion\":\"%llu\"",
                   (unsigned long long)s->version);
        if (end < n)
                buf_printf(&b, ",\"continue\":\"%zu\"", end);
        buf_append_str(&b, "},\"items\":[");
        for (size_t i = begin; i < end; i++) {
                buf_append_str(&b, i > begin ? "," : "");
                object_text(&b, names[i], map_get(&s->objects, names[i]));
        }
        buf_append_str(&b, "]}");
        http_reply(x, 200, "application/json", (struct slice){ b.data, b.len }, NULL);
}

static inline void serve_watch(struct server *s, struct http_exchange *x)
{
        struct http_header type = { "Content-Type", "application/json" };
        struct http_headers headers = { &type, 1 };
        uint64_t at = 0;

        s->watches++;
        if (s->fail_watches > 0) {
                s->fail_watches--;
                answer_500(s, x);
                return;
        }
        text_parse_u64(http_query_get(x, "resourceVersion"), &at);
        s->watched_from = at;
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

static inline void serve(void *ctx, struct http_exchange *x)
{
        struct server *s = ctx;

        if (text_equal(x->path, "/version")) {
                http_reply(x, 200, "application/json",
                           SLICE("{\"major\":\"1\",\"minor\":\"36\",\"gitVersion\":\"v1.36.1\"}"), NULL);
        } else if (!strstr(x->path, "memberclusters")) {
                http_reply(x, 404, "application/json",
                           SLICE("{\"kind\":\"Status\",\"code\":404,\"reason\":\"NotFound\"}"), NULL);
        } else if (s->forbidden) {
                s->refused++;
                http_reply(x, 403, "application/json",
                           SLICE("{\"kind\":\"Status\",\"code\":403,\"reason\":\"Forbidden\",\"message\":"
                                 "\"User \\\"agent\\\" cannot do that\"}"),
                           NULL);
        } else if (http_query_get(x, "watch"))
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
        struct metrics *metrics;
        struct intern_table *interns; /* NULL = none */
        bool stowed;
        struct arena read; /* what held() found */
        struct seen seen;
        void (*body)(struct fixture *f);
};

static inline void record(void *ctx, const struct informer_event *e)
{
        struct seen *s = ctx;

        buf_printf(&s->text, "%c%s ", "+~-"[e->type], e -> now -> meta.name);
}

static inline void settle(struct fixture *f)
{
        assert_int_equal(fiber_sleep(f->loop, 100), 0);
}

static inline void expect_seen(struct fixture *f, const char *what)
{
        assert_string_equal(f->seen.text.data, what);
        buf_clear(&f->seen.text);
        f->seen.text.data[0] = '\0';
}

static inline void open_informer(struct fixture *f)
{
        struct informer_options o = { .kind = &member_cluster_kind,
                                      .flags = DECODE_PROJECTION,
                                      .interns = f->interns,
                                      .stowed = f->stowed,
                                      .metrics = f->metrics };

        f->informer = informer_new(&f->kube, f->group, &o);
        assert_non_null(f->informer);
        assert_int_equal(informer_add_handler(f->informer, record, &f->seen), 0);
        assert_int_equal(informer_wait_synced(f->informer, loop_now_ms(f->loop) + 60000), 0);
}

/* The object as the cache has it, until the test ends; NULL if absent. */
static inline const struct object *held(struct fixture *f, const char *name)
{
        const struct object *o;

        assert_int_equal(informer_read(f->informer, NULL, name, &f->read, &o), 0);
        assert_int_equal(informer_has(f->informer, NULL, name), o != NULL);
        return o;
}

static inline void run_fixture(void *ctx)
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

static inline void with_informer_of(void (*body)(struct fixture *f), bool stowed,
                                    struct intern_table *interns)
{
        struct fixture f = { .body = body,
                             .stowed = stowed,
                             .interns = interns,
                             .endpoint = { .base_url = (char *)"https://api.test" } };
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
        arena_free(&f.read);
        buf_free(&f.seen.text);
        map_free(&f.server.objects);
        vec_for_each(&f.server.log, line)
                mem_free(*line);
        vec_free(&f.server.log);
        loop_free(f.loop);
}

static inline void with_plain_informer(void (*body)(struct fixture *f))
{
        with_informer_of(body, false, NULL);
}

/* One after the other with a cache of objects and with one that holds them stowed. */
static inline void with_informer(void (*body)(struct fixture *f))
{
        struct intern_table *interns = intern_table_new();

        with_informer_of(body, false, NULL);
        with_informer_of(body, true, interns);
        intern_table_free(interns);
}

static inline struct object *make(const char *name, uint64_t version, struct arena *arena)
{
        AUTO_BUF struct buf b;
        struct object *o = NULL;

        buf_init(&b, 65536);
        object_text(&b, name, &(struct entry){ version, 1 });
        assert_int_equal(object_decode(&member_cluster_kind, (struct slice){ b.data, b.len },
                                       DECODE_PROJECTION, NULL, &o, NULL),
                         0);
        return o;
}
