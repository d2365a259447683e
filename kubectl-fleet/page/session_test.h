/* What the tests of sessions share: a hub in a simulated loop, the page without its HTTP side, and a browser
 * at the other end of a WebSocket that is none. */
#pragma once

#include <stdlib.h>

#include "e2e/simulation/page_line.h"
#include "kubectl-fleet/fleet_test.h"
#include "kubectl-fleet/page/session.h"

#define TOKEN "0123456789abcdef"

/* ---- the page ---- */

struct desk {
        struct user *u;
        struct http_endpoint endpoint;
        struct kube_client hub;
        struct log log;
        struct fiber_group *group;
        struct page_core core;
        struct browser *browsers;
};

static inline void desk_open(struct user *u, struct desk *d)
{
        *d = (struct desk){ .u = u, .endpoint = { .base_url = (char *)BASE } };
        d->hub = (struct kube_client){ .world = &u->world, .endpoint = &d->endpoint, .log = &d->log };
        d->group = fiber_group_new(u->rig->loop, NULL, "page");
        d->core = (struct page_core){ .world = &u->world,
                                      .log = &d->log,
                                      .sources = page_sources_new(&d->hub, d->group, 0),
                                      .gate = { .world = &u->world, .hub = &d->hub, .token = TOKEN },
                                      .hub_name = "hub",
                                      .views = page_views,
                                      .actions = page_actions };
        assert_non_null(d->core.sources);
}

static inline void desk_close(struct desk *d)
{
        assert_int_equal(d->core.n_sessions, 0);
        d->core.sources = page_sources_free(d->core.sources);
        d->group = fiber_group_end(d->group);
}

/* ---- the browser ---- */

struct browser {
        struct browser *next;
        struct page_line line;
        struct desk *desk;
        struct loop *loop;
        struct fiber_group *group;
        bool ended;
        json_t *hello, *fault, *views, *calls; /* views by number: {head, parts, hidden, error} */
        json_t *last;                          /* message about a view */
        size_t messages, rows;                 /* about views: so far */
};

static inline void browser_merge_part(json_t *view, const char *part, const json_t *rows, struct browser *b)
{
        json_t *parts = json_object_get(view, "parts"), *all, *row;
        const char *key;

        if (!json_object_get(parts, part))
                json_object_set_new(parts, part, json_object());
        all = json_object_get(parts, part);
        json_object_foreach((json_t *)(uintptr_t)rows, key, row) {
                json_object_set(all, key, row);
                b->rows++;
        }
}

static inline void browser_merge(struct browser *b, json_t *message)
{
        static const char *const whole[] = { "head", "hidden", "error" };
        char number[32];
        const char *part;
        json_t *view, *rows, *key;
        size_t i;

        snprintf(number, sizeof(number), "%lld", (long long)doc_get_int(message, "view", 0));
        if (!json_object_get(b->views, number))
                json_object_set_new(b->views, number, json_pack("{s:{}}", "parts"));
        view = json_object_get(b->views, number);
        if (json_object_get(message, "head"))
                json_object_del(view, "error");
        for (i = 0; i < ARRAY_LEN(whole); i++)
                if (json_object_get(message, whole[i]))
                        json_object_set(view, whole[i], json_object_get(message, whole[i]));
        json_object_foreach(json_object_get(message, "rows"), part, rows)
                browser_merge_part(view, part, rows, b);
        json_object_foreach(json_object_get(message, "gone"), part, rows)
                json_array_foreach(rows, i, key)
                        assert_int_equal(
                                json_object_del(json_object_get(json_object_get(view, "parts"), part),
                                                json_string_value(key)),
                                0);
        b->messages++;
        json_decref(b->last);
        b->last = json_incref(message);
}

static inline void browser_take(struct browser *b, json_t *message)
{
        char number[32];

        if (json_object_get(message, "hello")) {
                json_decref(b->hello);
                b->hello = json_incref(json_object_get(message, "hello"));
        } else if (json_object_get(message, "fault")) {
                json_decref(b->fault);
                b->fault = json_incref(json_object_get(message, "fault"));
        } else if (json_object_get(message, "call")) {
                snprintf(number, sizeof(number), "%lld", (long long)doc_get_int(message, "call", 0));
                json_object_set(b->calls, number, message);
        } else {
                browser_merge(b, message);
        }
}

static inline void browser_look(struct browser *b)
{
        char *text;
        int code;

        while ((code = page_line_read(&b->line, &text)) > 0) {
                AUTO_JSON json_t *message = NULL;

                assert_int_equal(doc_parse(slice_of(text), &message, NULL), 0);
                browser_take(b, message);
                mem_free(text);
        }
        assert_int_equal(code, 0);
}

static inline void browser_run(void *ctx)
{
        struct browser *b = ctx;

        page_session_run(&b->desk->core, &b->line.socket);
        b->ended = true;
        b->line.left = true;
}

/* Time in which whatever is due is done. */
static inline void pass(struct desk *d, int64_t ms)
{
        assert_int_equal(fiber_sleep(d->u->rig->loop, ms), 0);
        mem_fail_at(0, false);
        for (struct browser *b = d->browsers; b; b = b->next)
                browser_look(b);
}

static inline void browser_say(struct browser *b, const char *fmt, ...) PRINTF_LIKE(2, 3);
static inline void browser_say(struct browser *b, const char *fmt, ...)
{
        char text[4096];
        va_list args;

        va_start(args, fmt);
        vsnprintf(text, sizeof(text), fmt, args);
        va_end(args);
        for (char *c = text; *c; c++)
                if (*c == '\'')
                        *c = '"';
        assert_int_equal(page_line_say(&b->line, text), 0);
}

static inline void browser_come(struct desk *d, struct browser *b)
{
        *b = (struct browser){ .desk = d,
                               .next = d->browsers,
                               .loop = d->u->rig->loop,
                               .views = json_object(),
                               .calls = json_object() };
        page_line_begin(&b->line, b->loop, 0);
        d->browsers = b;
        b->group = fiber_group_new(b->loop, NULL, "browser");
        assert_non_null(fiber_spawn(b->group, "browser", browser_run, b));
}

static inline void browser_enter(struct desk *d, struct browser *b)
{
        browser_come(d, b);
        browser_say(b, "{'token': '" TOKEN "'}");
        pass(d, 10);
        assert_non_null(b->hello);
}

static inline void browser_go(struct browser *b)
{
        page_line_leave(&b->line);
        fiber_group_join(b->group, DEADLINE_NONE);
        assert_true(b->ended);
        fiber_group_end(b->group);
        browser_look(b);
        for (struct browser **at = &b->desk->browsers; *at; at = &(*at)->next)
                if (*at == b) {
                        *at = b->next;
                        break;
                }
        json_decref(b->hello);
        json_decref(b->fault);
        json_decref(b->views);
        json_decref(b->calls);
        json_decref(b->last);
        page_line_clear(&b->line);
}

/* Of view 1. */
static inline const json_t *browser_head(const struct browser *b)
{
        return json_object_get(json_object_get(b->views, "1"), "head");
}

static inline const json_t *browser_row(const struct browser *b, const char *part, const char *key)
{
        return json_object_get(
                json_object_get(json_object_get(json_object_get(b->views, "1"), "parts"), part), key);
}

static inline size_t browser_rows(const struct browser *b, const char *part)
{
        return json_object_size(
                json_object_get(json_object_get(json_object_get(b->views, "1"), "parts"), part));
}

#define DESK_TEST(name, ...)                                                                                 \
        static void in_##name(struct desk *d) __VA_ARGS__ USER_TEST(name, {                                  \
                struct desk d;                                                                               \
                desk_open(u, &d);                                                                            \
                in_##name(&d);                                                                               \
                desk_close(&d);                                                                              \
        })

/* ---- a fleet ---- */

static inline void put_cluster(struct desk *d, const char *name)
{
        store(d->u, CLUSTERS "memberclusters",
              "{'apiVersion':'cluster.kubernetes-fleet.io/"
              "v1beta1','kind':'MemberCluster','metadata':{'name':'%s',"
              "'labels':{'region':'eu'}},'spec':{'identity':{'kind':'User','name':'%s'}}}",
              name, name);
}

static inline void put_placement(struct desk *d, const char *name)
{
        store(d->u, FLEET "clusterresourceplacements",
              "{'apiVersion':'placement.kubernetes-fleet.io/v1beta1','kind':'ClusterResourcePlacement',"
              "'metadata':{'name':'%s'},'spec':{'resourceSelectors':[{'group':'','version':'v1','kind':"
              "'Namespace','name':'x'}]}}",
              name);
}

static inline void change_cluster(struct desk *d, const char *name, const char *label)
{
        char path[256], patch[256];

        snprintf(path, sizeof(path), CLUSTERS "memberclusters/%s", name);
        snprintf(patch, sizeof(patch), "{\"metadata\":{\"labels\":{\"x\":\"%s\"}}}", label);
        assert_int_equal(rig_merge(d->u->rig, path, patch), 200);
}
