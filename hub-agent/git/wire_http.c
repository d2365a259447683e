/* Git's smart HTTP: a GET that tells the refs, a POST that asks. */
#include "common/base/memory.h"
#include "hub-agent/git/remote_internal.h"
#include "hub-agent/transfer/transfer.h"

#define INFO "/info/refs"

struct http_wire {
        struct wire wire;
        struct web_url at; /* of the repository, by now: the first answer may have moved it */
        const char *authorization;
};

/* ---- what all requests have in common ---- */

/* Credentials are for the origin that the user named, and for no other. */
static bool is_at_home(const struct http_wire *h)
{
        return web_url_same_origin(&h->at, &h->wire.url.web);
}

static struct transfer transfer_of(const struct http_wire *h, int64_t deadline_ms)
{
        const struct remote_access *a = h->wire.access;
        bool home = is_at_home(h);

        return (struct transfer){ .world = a->world,
                                  .arena = h->wire.arena,
                                  .ca_pem = a->ca_pem,
                                  .cert_pem = home ? a->cert_pem : NULL,
                                  .key_pem = home ? a->key_pem : NULL,
                                  .proxy_url = a->proxy_url,
                                  .denied = a->denied,
                                  .deadline_ms = deadline_ms };
}

static void add(struct transfer_call *c, const char *name, const char *value)
{
        c->headers[c->n_headers++] = (struct http_header){ name, value };
}

static int status_fails(int status, struct error *err)
{
        enum error_code code = status == 401                    ? ERR_UNAUTHORIZED
                               : status == 403 || status == 407 ? ERR_FORBIDDEN
                               : status == 404 || status == 410 ? ERR_NOT_FOUND
                               : status >= 500 || status == 429 ? ERR_RETRY
                                                                : ERR_INVALID;
        error_set(err, code, "%d %s", status, http_status_text(status));
        if (err)
                err->http_status = status;
        return code;
}

static const char *path_of(const char *path)
{
        return path[0] == '/' && !path[1] ? "" : path;
}

static const char *url_of(const struct http_wire *h, const char *rest)
{
        const char *path = path_of(h->at.path);
        size_t n = strlen(path);

        while (n > 0 && path[n - 1] == '/')
                n--;
        return arena_printf(h->wire.arena, "%s%.*s%s", h->at.origin, (int)n, path, rest);
}

/* ---- the list of refs ---- */

static int take_refs(void *ctx, struct slice packet, struct error *err)
{
        return advertisement_take(ctx, packet, err);
}

static int feed(void *ctx, const void *data, size_t n, struct error *err)
{
        return packet_reader_feed(ctx, data, n, err);
}

/* The repository is where the list was found. */
static int move(struct http_wire *h, const struct web_url *to, struct error *err)
{
        size_t n = strlen(to->path), tail = strlen(INFO);

        if (n < tail || !text_ends_with(to->path, INFO))
                return error_set(err, ERR_INVALID, "redirected to %s%s, which is no repository", to->origin,
                                 to->path);
        h->at = *to;
        h->at.path = n == tail ? "/" : arena_strndup(h->wire.arena, to->path, n - tail);
        return h->at.path ? 0 : error_no_memory(err);
}

static int get_refs(struct http_wire *h, struct packet_reader *reader, int64_t deadline_ms, struct error *err)
{
        const char *service = remote_service_name(h->wire.service), *query = h->wire.url.web.query;
        const char *rest =
                arena_printf(h->wire.arena, INFO "?%s%sservice=%s", query, *query ? "&" : "", service);
        const struct transfer_sink sink = { feed, reader };
        struct transfer t = transfer_of(h, deadline_ms);
        struct http_response answer = { 0 };
        struct web_url at = h->at;
        struct transfer_call c = { .url = rest ? url_of(h, rest) : NULL,
                                   .secret = { "Authorization", h->authorization },
                                   .max_body = GIT_ADVERTISEMENT_MAX + (GIT_ADVERTISEMENT_MAX >> 2),
                                   .ret_at = &at };

        if (!c.url)
                return error_no_memory(err);
        add(&c, "Accept", "*/*");
        TRY(transfer_fetch(&t, &c, &sink, &answer, err));
        if (answer.status != 200)
                return status_fails(answer.status, err);
        TRY(packet_reader_end(reader, err));
        return move(h, &at, err);
}

static int advertise(struct wire *w, struct advertisement *a, int64_t deadline_ms, struct error *err)
{
        struct packet_reader reader;

        packet_reader_init(&reader, take_refs, a);
        int code = get_refs((struct http_wire *)w, &reader, deadline_ms, err);

        packet_reader_free(&reader);
        return code;
}

/* ---- the question ---- */

static int ask(struct wire *w, struct slice question, struct packet_reader *answer, uint64_t most,
               int64_t deadline_ms, struct error *err)
{
        struct http_wire *h = (struct http_wire *)w;
        const char *service = remote_service_name(w->service);
        const char *rest = arena_printf(w->arena, "/%s", service);
        const char *type = arena_printf(w->arena, "application/x-%s-request", service);
        const char *accept = arena_printf(w->arena, "application/x-%s-result", service);
        const struct transfer_sink sink = { feed, answer };
        struct transfer t = transfer_of(h, deadline_ms);
        struct http_response said = { 0 };
        struct transfer_call c = { .method = "POST",
                                   .url = rest ? url_of(h, rest) : NULL,
                                   .body = question,
                                   .stays = true,
                                   .secret = { "Authorization", is_at_home(h) ? h->authorization : NULL },
                                   .max_body = most };

        if (!c.url || !type || !accept)
                return error_no_memory(err);
        add(&c, "Content-Type", type);
        add(&c, "Accept", accept);
        TRY(transfer_fetch(&t, &c, &sink, &said, err));
        return said.status == 200 ? 0 : status_fails(said.status, err);
}

static void close_wire(struct wire *w)
{
        mem_free(w);
}

static const struct wire_ops ops = { advertise, ask, close_wire };

/* ---- opening ---- */

static int choose_login(struct http_wire *h, struct error *err)
{
        const struct remote_access *a = h->wire.access;
        const char *user = a->username ? a->username : h->wire.url.web_user,
                   *password = a->username ? a->password : h->wire.url.web_password;

        if (a->bearer_token)
                h->authorization = arena_printf(h->wire.arena, "Bearer %s", a->bearer_token);
        else if (user)
                h->authorization = transfer_basic(h->wire.arena, user, or_empty(password));
        else
                return 0;
        return h->authorization ? 0 : error_no_memory(err);
}

int wire_open_http(const struct wire *base, struct wire **ret, struct error *err)
{
        struct http_wire *h = NEW(struct http_wire);

        if (!h)
                return error_no_memory(err);
        h->wire = *base;
        h->wire.ops = &ops;
        h->at = base->url.web;
        *ret = &h->wire;
        return choose_login(h, err);
}
