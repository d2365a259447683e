#include "e2e/simulation/page_line.h"

#include "common/base/gzip.h"
#include "common/base/memory.h"
#include "kubectl-fleet/page/session.h"

#define MESSAGE_MAX (16u << 20)

static struct page_line *line_of(const struct websocket *s)
{
        return (struct page_line *)(uintptr_t)container_of(s, const struct page_line, socket);
}

static int receive(struct websocket *s, struct slice *ret, int64_t deadline_ms)
{
        struct page_line *l = line_of(s);
        int code = 0;

        while (code == 0 && l->n_taken == l->said.n && !l->left)
                code = waitq_wait(s->loop, &l->in, deadline_ms);
        if (code < 0 || l->n_taken == l->said.n)
                return code < 0 ? code : ERR_CLOSED;
        *ret = slice_of(l->said.at[l->n_taken++]);
        return 0;
}

/* The session has waited until there was room, and nobody else took it meanwhile. */
static int take(struct page_line *l, struct slice data, bool packed)
{
        struct page_heard h = { .n = data.len, .packed = packed };

        if (l->left)
                return ERR_CLOSED;
        if (!(h.data = mem_calloc(1, data.len + 1)))
                return ERR_NO_MEMORY;
        memcpy(h.data, data.data, data.len);
        if (vec_push(&l->heard, h) < 0) {
                mem_free(h.data);
                return ERR_NO_MEMORY;
        }
        l->overfull = l->overfull || l->queued > PAGE_QUEUE_BYTES;
        l->queued += data.len * l->weight;
        waitq_wake_all(&l->news);
        return 0;
}

static int send_text(struct websocket *s, struct slice text)
{
        return take(line_of(s), text, false);
}

static int send_binary(struct websocket *s, struct slice data)
{
        return take(line_of(s), data, true);
}

static size_t queued(const struct websocket *s)
{
        return line_of(s)->queued;
}

static int drain(struct websocket *s, size_t level, int64_t deadline_ms)
{
        struct page_line *l = line_of(s);
        int code = 0;

        while (code == 0 && l->queued > level && !l->left)
                code = waitq_wait(s->loop, &l->out, deadline_ms);
        return l->left ? ERR_CLOSED : code;
}

static bool gone(const struct websocket *s)
{
        return line_of(s)->left;
}

static void close_with(struct websocket *s, unsigned code, const char *reason)
{
        struct page_line *l = line_of(s);

        l->code = code;
        snprintf(l->reason, sizeof(l->reason), "%s", or_empty(reason));
}

static const struct websocket_ops ops = { .receive = receive,
                                          .send = send_text,
                                          .send_binary = send_binary,
                                          .queued = queued,
                                          .drain = drain,
                                          .gone = gone,
                                          .close_with = close_with };

void page_line_begin(struct page_line *l, struct loop *loop, unsigned weight)
{
        *l = (struct page_line){ .socket = { .ops = &ops, .loop = loop }, .weight = weight };
}

void page_line_clear(struct page_line *l)
{
        for (; l->n_read < l->heard.n; l->n_read++)
                mem_free(l->heard.at[l->n_read].data);
        vec_for_each(&l->said, text)
                mem_free(*text);
        vec_free(&l->heard);
        vec_free(&l->said);
        l->n_taken = l->n_read = l->queued = 0;
        l->left = l->overfull = false;
        l->code = 0;
        *l->reason = '\0';
}

int page_line_say(struct page_line *l, const char *text)
{
        char *copy = mem_strdup(text);

        if (!copy || vec_push(&l->said, copy) < 0) {
                mem_free(copy);
                return ERR_NO_MEMORY;
        }
        waitq_wake_all(&l->in);
        return 0;
}

static int unpack(struct page_line *l, const struct page_heard *h, char **ret)
{
        AUTO_BUF struct buf text;

        buf_init(&text, MESSAGE_MAX);
        TRY(deflate_unpack((struct slice){ h->data, h->n }, &text, NULL));
        l->n_packed++;
        *ret = mem_printf("%.*s", (int)text.len, or_empty(text.data));
        return *ret ? 0 : ERR_NO_MEMORY;
}

int page_line_read(struct page_line *l, char **ret)
{
        struct page_heard h;
        int code = 0;

        if (l->n_read == l->heard.n) {
                l->heard.n = l->n_read = 0;
                return 0;
        }
        h = l->heard.at[l->n_read++];
        l->queued -= MIN(h.n * l->weight, l->queued);
        if (!h.packed) {
                *ret = h.data;
        } else {
                code = unpack(l, &h, ret);
                mem_free(h.data);
        }
        waitq_wake_all(&l->out);
        return code < 0 ? code : 1;
}

void page_line_leave(struct page_line *l)
{
        l->left = true;
        waitq_wake_all(&l->in);
        waitq_wake_all(&l->out);
}
