#include "kubectl-fleet/page/page.h"

#include "common/base/memory.h"
#include "kubectl-fleet/page/assets.h"
#include "kubectl-fleet/page/guard.h"
#include "kubectl-fleet/page/journal.h"
#include "kubectl-fleet/page/session.h"
#include "proto/gen/kinds.h"

#define TEXT "text/plain; charset=utf-8"
#define CONNECTIONS_MAX 128 /* a browser has six, and its WebSocket */
#define REQUEST_MS 20000
#define LIVE "/live"

/* Read as long as the page runs: whoever comes finds them there. */
static const struct fetch kept[] = {
        { .kind = &member_cluster_kind },     { .kind = &cluster_resource_placement_kind },
        { .kind = &resource_placement_kind }, { .kind = &cluster_staged_update_run_kind },
        { .kind = &staged_update_run_kind },  { .kind = &cluster_approval_request_kind },
        { .kind = &approval_request_kind },
};

struct kept_use {
        struct page_use use;
        struct page *page;
};

struct page {
        struct page_core core;
        struct page_journal *journal;
        struct page_guard guard;
        struct fiber_group *group;
        struct http_assets *assets;
        struct http_server *server;
        struct kept_use kept[ARRAY_LEN(kept)];
};

/* ---- HTTP ---- */

static bool is_probe(const struct http_exchange *x)
{
        return text_equal(x->path, "/healthz") &&
               (text_equal(x->method, "GET") || text_equal(x->method, "HEAD"));
}

static void handle(void *ctx, struct http_exchange *x)
{
        const struct page *p = ctx;
        struct http_headers extra;
        const char *why;
        int status;

        if (is_probe(x)) {
                http_reply(x, 200, TEXT, SLICE("ok\n"), NULL);
                return;
        }
        status = page_guard_check(&p->guard, &x->headers, false, &why);
        if (status)
                http_reply(x, status, TEXT, slice_of(why), NULL);
        else if (page_guard_headers(&p->guard, http_header_get(&x->headers, "Host"), x->arena, &extra) == 0)
                http_assets_serve(p->assets, x, &extra);
}

static int accept_socket(void *ctx, struct http_exchange *x, const char **ret_why)
{
        const struct page *p = ctx;

        if (!text_equal(x->path, LIVE)) {
                *ret_why = "There is one WebSocket, " LIVE ".";
                return 404;
        }
        return page_guard_check(&p->guard, &x->headers, true, ret_why);
}

static void serve_socket(void *ctx, struct websocket *s)
{
        struct page *p = ctx;

        page_session_run(&p->core, s);
}

static int listen_on(struct page *p, const struct page_options *o, struct error *err)
{
        const struct http_server_options server = {
                .bind = o->bind,
                .port = o->port,
                .tls = o->tls,
                .handle = handle,
                .ctx = p,
                .limits = { .body_bytes = HTTP_NO_BODY },
                .connections = CONNECTIONS_MAX,
                .request_ms = REQUEST_MS,
                .websocket_accept = accept_socket,
                .websocket_serve = serve_socket,
                .websockets = { .message_bytes = PAGE_INBOUND_BYTES,
                                .sockets = PAGE_SESSIONS_MAX + PAGE_STRANGERS_MAX + 8 },
        };

        TRY(http_server_start(o->world, &server, &p->server, err));
        p->guard.port = http_server_port(p->server);
        return 0;
}

/* ---- what is read ---- */

/* Views are told themselves. */
static void on_change(struct page_use *u)
{
}

static void on_event(struct page_use *u, const struct informer_event *e)
{
        struct page *p = container_of(u, struct kept_use, use)->page;

        page_journal_take(p->journal, e, loop_wall_ms(p->core.world->loop));
}

static int keep_reading(struct page *p, struct error *err)
{
        for (size_t i = 0; i < ARRAY_LEN(kept); i++) {
                p->kept[i].page = p;
                p->kept[i].use.changed = on_change;
                p->kept[i].use.event = on_event;
                TRY(page_use_begin(p->core.sources, &kept[i], &p->kept[i].use, err));
        }
        return 0;
}

/* ---- its life ---- */

static size_t count_assets(void)
{
        size_t n = 0;

        while (page_assets[n].path)
                n++;
        return n;
}

static int start(struct page *p, const struct page_options *o, struct error *err)
{
        p->group = fiber_group_new(o->world->loop, NULL, "page");
        p->core.sources = p->group ? page_sources_new(o->hub, p->group, 0) : NULL;
        p->assets = http_assets_new(page_assets, count_assets());
        p->core.journal = p->journal = page_journal_new(loop_wall_ms(o->world->loop), 0, 0);
        if (!p->core.sources || !p->assets || !p->journal)
                return error_no_memory(err);
        TRY(keep_reading(p, err));
        return listen_on(p, o, err);
}

int page_start(const struct page_options *o, struct page **ret, struct error *err)
{
        struct page *p = NEW(struct page);
        int code;

        if (!p)
                return error_no_memory(err);
        p->core = (struct page_core){
                .world = o->world,
                .log = o->log,
                .gate = { .world = o->world, .hub = o->hub, .token = o->token, .name = "" },
                .hub_name = o->hub_name,
                .views = page_views,
                .actions = page_actions,
        };
        p->guard = (struct page_guard){
                .bind = o->bind, .port = o->port, .tls = o->tls != NULL, .hosts = o->hosts
        };
        code = start(p, o, err);
        if (code < 0) {
                page_stop(p);
                return code;
        }
        *ret = p;
        return 0;
}

/* In the order in which one uses the other: sockets, sources, what these run in. */
struct page *page_stop(struct page *p)
{
        if (!p)
                return NULL;
        http_server_stop(p->server);
        for (size_t i = 0; i < ARRAY_LEN(p->kept); i++)
                page_use_end(&p->kept[i].use);
        page_sources_free(p->core.sources);
        fiber_group_end(p->group);
        http_assets_free(p->assets);
        page_journal_free(p->journal);
        mem_free(p);
        return NULL;
}

int page_port(const struct page *p)
{
        return http_server_port(p->server);
}

int page_set_identity(struct page *p, const struct tls_identity *tls, struct error *err)
{
        return http_server_set_identity(p->server, tls, err);
}
