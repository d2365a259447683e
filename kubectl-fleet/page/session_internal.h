/* Shared by session.c (messages), session_view.c (an open view) and session_call.c (a call). */
#pragma once

#include "kubectl-fleet/page/doc.h"
#include "kubectl-fleet/page/session.h"

struct page_session {
        struct list node; /* of the strangers */
        struct page_core *core;
        struct websocket *socket;
        struct loop *loop;
        struct fiber_group *group;
        struct page_visitor *visitor; /* NULL until the token was good */
        struct list panes;            /* struct pane */
        size_t n_panes, n_calls;
        struct waitq end;
        bool unpacks; /* the browser does */
        bool over;
};

/* Sends a message when the browser has taken enough of what went before. Parks. ERR_CLOSED: the session is
 * over; ERR_CANCELLED, ERR_NO_MEMORY. */
int session_put(struct page_session *s, struct slice message);
int session_put_doc(struct page_session *s, json_t *taken);
void session_end(struct page_session *s, unsigned code, const char *why);
/* {"code", "text"}, new. */
json_t *session_error_doc(const struct error *err);

/* `args` is kept. An error is that of no memory: what else is wrong the view tells in its place. */
int pane_open(struct page_session *s, int64_t number, const struct page_view *view, json_t *args);
void pane_close(struct page_session *s, int64_t number);
/* The rights of whoever looks may be others now. */
void panes_recheck(struct page_session *s);
bool pane_is_open(const struct page_session *s, int64_t number);

int call_begin(struct page_session *s, int64_t number, const struct page_action *action, json_t *args);
