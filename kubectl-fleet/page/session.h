/* One browser that looks: a WebSocket, the views that are open on it, the calls that go on (docs/page.md).
 *
 * A fiber receives; each open view has one of its own, which draws when something changed: at once when the
 * view was quiet, and then every PAGE_TOGETHER_MS at most. One that nothing happens to is drawn each minute.
 */
#pragma once

#include "common/net/websocket.h"
#include "kubectl-fleet/page/source.h"
#include "kubectl-fleet/page/user.h"

#define PAGE_SESSIONS_MAX 32
#define PAGE_STRANGERS_MAX 16 /* that have not said their token; one more takes the place of the first */
#define PAGE_VIEWS_MAX 16     /* of one session */
#define PAGE_CALLS_MAX 4
#define PAGE_INBOUND_BYTES (256u << 10) /* from the browser */
#define PAGE_PIECE_BYTES (64u << 10)    /* about that much is one message to it */
#define PAGE_PACK_BYTES (4u << 10)      /* beyond it a message is packed, where the browser can unpack */
#define PAGE_QUEUE_BYTES (128u << 10)   /* that it may not have taken when more is sent */
#define PAGE_TOKEN_MS 10000             /* until it has said its token */
#define PAGE_READ_MS 30000              /* until it has taken what is queued */
#define PAGE_TOGETHER_MS 100
#define PAGE_OLD_MS 60000 /* a view is drawn again by then, since some of it depends on the time */

enum page_close {
        PAGE_CLOSE_POLICY = 1008,
        PAGE_CLOSE_TOO_LONG = 1009,
        PAGE_CLOSE_BUSY = 1013,
        PAGE_CLOSE_BAD_TOKEN = 4001,
        PAGE_CLOSE_EXPIRED = 4002,
};

/* What all sessions share. */
struct page_core {
        struct world *world;
        const struct log *log;
        struct page_sources *sources;
        struct page_gate gate;
        const struct page_journal *journal;
        const char *hub_name;
        const struct page_view *const *views;     /* page_views but in tests */
        const struct page_action *const *actions; /* page_actions */
        size_t n_sessions;                        /* of which a good token is known */
        struct list strangers;                    /* struct page_session */
        size_t n_strangers;
};

/* From the socket's fiber, until it has ended. */
void page_session_run(struct page_core *core, struct websocket *socket);
