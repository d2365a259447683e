#include "kubectl-fleet/page/session_internal.h"

#include "common/base/gzip.h"
#include "common/base/memory.h"
#include "common/base/version.h"

#define NUMBER_MAX (INT64_C(1) << 53)
#define ARGS_MAX 32
#define NO_MEMORY_PAUSE_MS 100

/* ---- to the browser ---- */

void session_end(struct page_session *s, unsigned code, const char *why)
{
        if (s->over)
                return;
        s->over = true;
        if (code)
                websocket_close_with(s->socket, code, why);
        waitq_wake_all(&s->end);
}

struct outgoing {
        struct slice data;
        bool packed;
};

static int queue(struct page_session *s, struct outgoing o)
{
        if (s->over)
                return ERR_CLOSED;
        return o.packed ? websocket_send_binary(s->socket, o.data) : websocket_send(s->socket, o.data);
}

static int send_once(struct page_session *s, struct outgoing o, int64_t deadline)
{
        int code = s->over ? ERR_CLOSED : websocket_drain(s->socket, PAGE_QUEUE_BYTES, deadline);

        TRY(code);
        code = queue(s, o);
        if (code != ERR_LIMIT)
                return code;
        TRY(websocket_drain(s->socket, 0, deadline)); /* it may fit into an empty queue */
        return queue(s, o);
}

/* Its maximum is the message's length: where packing gains nothing, or there is no memory for it, the message
 * goes as it is. */
static struct outgoing pack(const struct page_session *s, struct slice message, struct buf *packed)
{
        buf_init(packed, message.len);
        if (s->unpacks && message.len > PAGE_PACK_BYTES && deflate_pack(message, packed, NULL) == 0)
                return (struct outgoing){ { packed->data, packed->len }, true };
        return (struct outgoing){ message, false };
}

int session_put(struct page_session *s, struct slice message)
{
        AUTO_BUF struct buf packed;
        struct outgoing o = pack(s, message, &packed);
        int64_t deadline = loop_now_ms(s->loop) + PAGE_READ_MS;
        int code = send_once(s, o, deadline);

        /* The browser would miss what counts as sent. */
        while (code == ERR_NO_MEMORY && loop_now_ms(s->loop) < deadline) {
                TRY(fiber_sleep(s->loop, NO_MEMORY_PAUSE_MS));
                code = send_once(s, o, deadline);
        }
        if (code == ERR_TIMEOUT)
                session_end(s, PAGE_CLOSE_POLICY, "nothing was read for too long");
        else if (code == ERR_LIMIT || code == ERR_NO_MEMORY)
                session_end(s, PAGE_CLOSE_BUSY, "no memory");
        else if (code == ERR_CLOSED)
                session_end(s, 0, NULL);
        return code < 0 && code != ERR_CANCELLED ? ERR_CLOSED : code;
}

int session_put_doc(struct page_session *s, json_t *taken)
{
        AUTO_JSON json_t *doc = taken;
        AUTO_BUF struct buf b;

        buf_init(&b, PAGE_ROW_BYTES);
        if (!doc)
                return ERR_NO_MEMORY;
        TRY(doc_write(doc, &b));
        return session_put(s, (struct slice){ b.data, b.len });
}

json_t *session_error_doc(const struct error *err)
{
        return json_pack("{s:s, s:s}", "code", error_code_name(err->code), "text", err->text);
}

static int put_fault(struct page_session *s, const char *text)
{
        return session_put_doc(s, json_pack("{s:{s:s}}", "fault", "text", text));
}

static int put_hello(struct page_session *s)
{
        const struct page_user *u = &s->visitor->user;

        return session_put_doc(s,
                               json_pack("{s:{s:s, s:s, s:s, s:I}}", "hello", "version", ARGOSY_VERSION,
                                         "hub", s->core->hub_name ? s->core->hub_name : "", "user",
                                         u->name ? u->name : "", "now", (json_int_t)loop_wall_ms(s->loop)));
}

/* ---- places ---- */

static void leave_strangers(struct page_session *s)
{
        if (list_empty(&s->node))
                return;
        list_remove(&s->node);
        s->core->n_strangers--;
}

/* Who holds sockets without a token keeps nobody out for long. */
static void enter(struct page_session *s)
{
        struct page_core *c = s->core;

        if (!c->strangers.next)
                list_init(&c->strangers);
        if (c->n_strangers >= PAGE_STRANGERS_MAX) {
                struct page_session *oldest = list_first(&c->strangers, struct page_session, node);

                leave_strangers(oldest);
                session_end(oldest, PAGE_CLOSE_BUSY, "others come: try again");
        }
        list_append(&c->strangers, &s->node);
        c->n_strangers++;
}

static int admit(struct page_session *s)
{
        if (s->core->n_sessions >= PAGE_SESSIONS_MAX)
                return ERR_LIMIT;
        leave_strangers(s);
        s->core->n_sessions++;
        return 0;
}

static void leave(struct page_session *s)
{
        leave_strangers(s);
        s->core->n_sessions -= s->visitor != NULL;
        page_visitor_unref(s->visitor);
}

/* ---- from the browser ---- */

/* Whoever it is: what is open is shown by the rights of the newest token. */
static void become(struct page_session *s, struct page_visitor *taken)
{
        page_visitor_unref(s->visitor);
        s->visitor = taken;
        panes_recheck(s);
}

static int take_token(struct page_session *s, const json_t *message)
{
        const char *token = json_string_value(json_object_get(message, "token"));
        struct page_visitor *v = NULL;
        struct error err = { 0 };
        int code = token ? user_of_token(&s->core->gate, or_empty(s->socket->remote_address), token, &v, &err)
                         : error_set(&err, ERR_INVALID, "token: must be a string");

        if (code == ERR_UNAUTHORIZED || code == ERR_INVALID || code == ERR_UNSUPPORTED) {
                session_end(s, PAGE_CLOSE_BAD_TOKEN, err.text);
                return ERR_CLOSED;
        }
        if (code < 0)
                return code == ERR_CANCELLED ? code : put_fault(s, err.text);
        if (!s->visitor && admit(s) < 0) {
                page_visitor_unref(v);
                session_end(s, PAGE_CLOSE_BUSY, "too many look at once");
                return ERR_CLOSED;
        }
        become(s, v);
        s->unpacks = text_equal(json_string_value(json_object_get(message, "packed")), "deflate-raw");
        return put_hello(s);
}

/* *ret_args: an object, kept by the message, or NULL. */
static int read_request(const json_t *message, const char *verb, int64_t *ret_number, const json_t **ret_args,
                        struct error *err)
{
        const json_t *number = json_object_get(message, verb), *args = json_object_get(message, "args");

        if (!json_is_integer(number) || json_integer_value(number) < 1 ||
            json_integer_value(number) >= NUMBER_MAX)
                return error_set(err, ERR_INVALID, "%s: must be a number above 0", verb);
        if (args && (!json_is_object(args) || json_object_size(args) > ARGS_MAX))
                return error_set(err, ERR_INVALID, "args: must be an object of at most %d members", ARGS_MAX);
        *ret_number = json_integer_value(number);
        *ret_args = args;
        return 0;
}

static json_t *args_of(const json_t *args)
{
        return args ? json_incref((json_t *)(uintptr_t)args) : json_object();
}

static int refuse(struct page_session *s, const char *verb, int64_t number, const struct error *err)
{
        return session_put_doc(
                s, json_pack("{s:I, s:o}", verb, (json_int_t)number, "error", session_error_doc(err)));
}

static const struct page_view *find_view(const struct page_session *s, const char *name)
{
        for (const struct page_view *const *v = s->core->views; *v; v++)
                if (text_equal((*v)->name, name))
                        return *v;
        return NULL;
}

static const struct page_action *find_action(const struct page_session *s, const char *name)
{
        for (const struct page_action *const *a = s->core->actions; *a; a++)
                if (text_equal((*a)->name, name))
                        return *a;
        return NULL;
}

static int take_open(struct page_session *s, const json_t *message)
{
        const char *name = json_string_value(json_object_get(message, "view"));
        const struct page_view *view = find_view(s, name);
        struct error err = { 0 };
        const json_t *args;
        json_t *kept;
        int64_t number;
        int code;

        if (read_request(message, "open", &number, &args, &err) < 0)
                return put_fault(s, err.text);
        if (pane_is_open(s, number))
                return put_fault(s, "open: a view of that number is open");
        if (s->n_panes >= PAGE_VIEWS_MAX) {
                session_end(s, PAGE_CLOSE_POLICY, "too many views at once");
                return ERR_CLOSED;
        }
        if (!view) {
                error_set(&err, ERR_INVALID, "there is no view \"%.100s\"", or_empty(name));
                return refuse(s, "view", number, &err);
        }
        kept = args_of(args);
        code = kept ? pane_open(s, number, view, kept) : ERR_NO_MEMORY;
        json_decref(kept);
        if (code < 0) {
                error_no_memory(&err);
                return refuse(s, "view", number, &err);
        }
        return 0;
}

static int take_call(struct page_session *s, const json_t *message)
{
        const char *name = json_string_value(json_object_get(message, "do"));
        const struct page_action *action = find_action(s, name);
        struct error err = { 0 };
        const json_t *args;
        json_t *kept;
        int64_t number;
        int code;

        if (read_request(message, "call", &number, &args, &err) < 0)
                return put_fault(s, err.text);
        if (!action)
                error_set(&err, ERR_INVALID, "there is no action \"%.100s\"", or_empty(name));
        else if (s->n_calls >= PAGE_CALLS_MAX)
                error_set(&err, ERR_TOO_MANY, "%d things are being done already: try again in a moment",
                          PAGE_CALLS_MAX);
        if (err.code)
                return refuse(s, "call", number, &err);
        kept = args_of(args);
        code = kept ? call_begin(s, number, action, kept) : ERR_NO_MEMORY;
        json_decref(kept);
        if (code < 0) {
                error_no_memory(&err);
                return refuse(s, "call", number, &err);
        }
        return 0;
}

static int take_close(struct page_session *s, const json_t *message)
{
        struct error err = { 0 };
        const json_t *args;
        int64_t number;

        if (read_request(message, "close", &number, &args, &err) < 0)
                return put_fault(s, err.text);
        pane_close(s, number);
        return 0;
}

static int take_message(struct page_session *s, struct slice text)
{
        AUTO_JSON json_t *message = NULL;
        struct error err = { 0 };

        if (doc_parse(text, &message, &err) == ERR_NO_MEMORY)
                return ERR_NO_MEMORY;
        if (!message)
                return put_fault(s, err.text);
        if (!json_is_object(message))
                return put_fault(s, "a message is an object");
        if (json_object_get(message, "token"))
                return take_token(s, message);
        if (json_object_get(message, "open"))
                return take_open(s, message);
        if (json_object_get(message, "close"))
                return take_close(s, message);
        if (json_object_get(message, "call"))
                return take_call(s, message);
        return put_fault(s, "a message has one of: token, open, close, call");
}

/* ---- the fiber that receives ---- */

static int receive(struct page_session *s, struct slice *ret, int64_t deadline)
{
        int code = websocket_receive(s->socket, ret, deadline);

        if (code == 0 && ret->len > PAGE_INBOUND_BYTES) {
                session_end(s, PAGE_CLOSE_TOO_LONG, "the message is too long");
                return ERR_CLOSED;
        }
        return code;
}

/* The token may be good. */
static void end_too_late(struct page_session *s)
{
        char why[124]; /* of a close frame */

        snprintf(why, sizeof(why),
                 "your browser's token did not come within %d s, as over a slow line: it is tried again",
                 PAGE_TOKEN_MS / 1000);
        session_end(s, PAGE_CLOSE_BUSY, why);
}

static int greet(struct page_session *s)
{
        AUTO_JSON json_t *message = NULL;
        struct slice text = { 0 };
        int code = receive(s, &text, loop_now_ms(s->loop) + PAGE_TOKEN_MS);

        if (code == ERR_TIMEOUT)
                end_too_late(s);
        TRY(code);
        if (doc_parse(text, &message, NULL) < 0 || !json_object_get(message, "token")) {
                session_end(s, PAGE_CLOSE_BAD_TOKEN, "the first message is the token");
                return ERR_CLOSED;
        }
        TRY(take_token(s, message));
        if (!s->visitor) /* it could not be looked at: said, and the browser tries again */
                session_end(s, PAGE_CLOSE_BUSY, "try again");
        return 0;
}

/* In loop time, from the wall's. */
static int64_t expiry(const struct page_session *s)
{
        int64_t at = s->visitor->expires_ms;

        return at == TIME_NONE ? DEADLINE_NONE : loop_now_ms(s->loop) + MAX(0, at - loop_wall_ms(s->loop));
}

/* It may have been taken away before its time. */
static int review_again(struct page_session *s)
{
        struct page_visitor *v = NULL;
        struct error err = { 0 };
        int code = user_review(s->visitor, &v, &err);

        if (code == 0)
                become(s, v);
        else if (code == ERR_UNAUTHORIZED)
                session_end(s, PAGE_CLOSE_EXPIRED, err.text);
        return code == ERR_CANCELLED ? code : 0;
}

static int when_due(struct page_session *s)
{
        if (expiry(s) > loop_now_ms(s->loop))
                return review_again(s);
        session_end(s, PAGE_CLOSE_EXPIRED, "the token has expired");
        return ERR_CLOSED;
}

static void listen_to(void *ctx)
{
        struct page_session *s = ctx;
        struct slice text;
        int code = greet(s);

        while (code == 0 && !s->over) {
                code = receive(s, &text, MIN(expiry(s), s->visitor->review_ms));
                if (code == 0)
                        code = take_message(s, text);
                else if (code == ERR_TIMEOUT)
                        code = when_due(s);
        }
        if (code == ERR_NO_MEMORY) /* what was asked for is lost: the browser comes again */
                session_end(s, PAGE_CLOSE_BUSY, "no memory");
        session_end(s, 0, NULL);
}

/* ---- all of it ---- */

static void serve(struct page_session *s)
{
        int code = 0;

        if (!fiber_spawn(s->group, "page session", listen_to, s)) {
                session_end(s, PAGE_CLOSE_BUSY, "no memory");
                return;
        }
        while (!s->over && code != ERR_CANCELLED)
                code = waitq_wait(s->loop, &s->end, DEADLINE_NONE);
}

void page_session_run(struct page_core *core, struct websocket *socket)
{
        struct page_session s = { .core = core, .socket = socket, .loop = core->world->loop };

        s.group = fiber_group_new(s.loop, NULL, "page session");
        if (!s.group) {
                websocket_close_with(socket, PAGE_CLOSE_BUSY, "no memory");
                return;
        }
        list_init(&s.panes);
        enter(&s);
        serve(&s);
        s.over = true;
        fiber_group_end(s.group);
        ASSERT(list_empty(&s.panes) && s.n_calls == 0);
        leave(&s);
}
