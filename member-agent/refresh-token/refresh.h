/* Keeps the hub token in a file: fetch, write, wait, again. spec/member-agent.md 5. */
#pragma once

#include "common/net/http.h"

#define REFRESH_DEADLINE_MS 30000   /* of one fetch and write */
#define REFRESH_LEAST_WAIT_MS 30000 /* after a success */
#define REFRESH_MOST_WAIT_MS (12 * 3600000LL)
#define REFRESH_FIRST_RETRY_MS 1000 /* after a failure; doubles */
#define REFRESH_LAST_RETRY_MS 30000

struct hub_token {
        char *text;            /* without white space around it */
        int64_t expires_ms;    /* wall clock */
        int64_t look_again_ms; /* look again after at most this long; 0 = half of the life decides */
};
void hub_token_free(struct hub_token *t); /* wipes the text */

/* Where tokens come from. `fetch` runs in a fiber and keeps to the deadline (loop time). */
struct token_source {
        int (*fetch)(struct token_source *s, int64_t deadline_ms, struct hub_token *ret, struct error *err);
};

struct refresher {
        struct world *world;
        const struct log *log;
        struct token_source *source;
        const char *path;
        struct waitq waiting;
        bool news;        /* the source changed since the last fetch began */
        char written[65]; /* digest of what the file holds; "" = unknown */
};

/* One round: fetches and, if the token is new or the file is gone, writes it (mode 0600, by rename).
 * *ret_wait_ms is when to come again. */
int refresh_once(struct refresher *r, int64_t *ret_wait_ms, struct error *err);
/* Rounds until cancelled: returns ERR_CANCELLED. */
int refresh_run(struct refresher *r, struct error *err);

/* The source has news: fetch now, or once more if a fetch is under way. */
void refresh_wake(struct refresher *r);

/* Half of what remains, within the limits above. */
int64_t refresh_wait_ms(int64_t now_ms, int64_t expires_ms);
