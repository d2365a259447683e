/* Opening a watch; who reads it knows what to make of its lines. */
#include "common/kube/connection.h"

#define WATCH_SECONDS_MIN 1800
#define WATCH_SECONDS_SPREAD 1800

uint64_t kube_watch_seconds(struct loop *l)
{
        return WATCH_SECONDS_MIN + loop_random_u64(l) % WATCH_SECONDS_SPREAD;
}

/* The body of a refusal tells why. */
static int refused(struct kube_client *k, struct http_stream *s, struct error *err)
{
        AUTO_BUF struct buf body;
        struct http_response answer = { .status = s->status, .headers = s->headers };
        int64_t deadline = loop_now_ms(k->world->loop) + KUBE_CALL_DEADLINE_MS;
        struct slice piece;

        buf_init(&body, 65536);
        while (http_stream_read(s, deadline, &piece, NULL) == 0)
                if (buf_append(&body, piece.data, piece.len) < 0)
                        break;
        answer.body = (struct slice){ body.data, body.len };
        return kube_status_error(&answer, "watch", err);
}

static bool is_watch(const struct http_stream *s)
{
        return s->status == 200 && !kube_answer_is_html(&(struct http_response){ .headers = s->headers });
}

int kube_watch_open(struct kube_client *k, const struct kube_watch *w, struct http_stream **ret,
                    struct error *err)
{
        struct loop *l = k->world->loop;
        struct http_header accept = { "Accept",
                                      w->metadata_only ? KUBE_ACCEPT_METADATA : "application/json" };
        struct http_request rq = { .endpoint = k->endpoint,
                                   .method = "GET",
                                   .path = w->path,
                                   .headers = { &accept, 1 },
                                   .deadline_ms = loop_now_ms(l) + KUBE_CALL_DEADLINE_MS,
                                   .priority = w->unhurried ? HTTP_WATCH_UNHURRIED : HTTP_WATCH };
        struct kube_attempt attempt = { "WATCH", w->path, loop_now_ms(l) };
        struct http_stream *s = NULL;
        int64_t begin = loop_now_us(l);
        int code = http_stream_open(k->world->transport, &rq, &s, err);

        if (k->count)
                k->count(k->count_ctx,
                         &(struct kube_counted){ "watch", w->plural, "GET", k->endpoint,
                                                 code < 0 ? 0 : s->status, loop_now_us(l) - begin });
        if (code == 0 && !is_watch(s)) {
                code = refused(k, s, err);
                http_stream_close(s);
        }
        kube_connection_report(k, &attempt, code, err);
        if (code == 0)
                *ret = s;
        return code;
}
