/* One command line being carried out: what it may reach (the world, the hub, the terminal) and what it was
 * told. Commands write through it, so a test reads what a user would see. */
#pragma once

#include "common/base/posix_flags.h"
#include "common/kube/client.h"
#include "common/kube/config.h"
#include "kubectl-fleet/exec_credential.h"
#include "kubectl-fleet/options.h"

/* What the program is attached to. */
struct terminal {
        /* false: not all of it could be written, errno says why. */
        bool (*write)(void *ctx, bool to_stderr, const char *text, size_t n);
        /* All of what is open already: 0 is standard input; mem_free the result. */
        int (*read_input)(void *ctx, int descriptor, char **ret, size_t *ret_len, struct error *err);
        int64_t (*local_offset_ms)(void *ctx, int64_t wall_ms); /* of local time from UTC; NULL = none */
        /* Columns and rows now, of a screen that is drawn anew; NULL = standard output is no terminal. */
        void (*size)(void *ctx, unsigned *ret_columns, unsigned *ret_rows);
        void *ctx;
        bool colours;     /* standard output takes them */
        bool interactive; /* standard input is a terminal */
};

struct command;

struct session {
        struct world *world;
        struct fiber_group *group; /* for what a command starts beside itself */
        const struct terminal *terminal;
        const struct command *command;
        struct fleet_options options;
        struct posix_line line; /* its words: the arguments */
        struct arena *arena;    /* dies with the command */
        struct buf out;         /* for standard output; session_flush() */
        struct kube_client hub; /* after session_connect() */
        struct kube_config config;
        struct exec_login login;   /* where its user has an exec entry */
        struct kube_client member; /* after session_connect_member() */
        struct kube_config member_config;
        struct exec_login member_login;
        struct log log;
        bool lacks_kind;     /* the hub does not serve a kind that was asked for */
        bool unattended;     /* nobody is asked anything: a shell completes words */
        int64_t deadline_ms; /* loop time for all requests together; DEADLINE_NONE */
};

const char *session_argument(const struct session *s, size_t i); /* NULL if there are not so many */

/* Reads the kubeconfig as kubectl does and makes `hub` of it; no request yet. */
int session_connect(struct session *s, struct error *err);
/* The same with `member` for the context that --member-context names. */
int session_connect_member(struct session *s, struct error *err);
void session_disconnect(struct session *s);
/* The namespace that -n names, or the context's; "default" where no kubeconfig was read. */
const char *session_namespace(const struct session *s);
/* " --hub-cluster-context hub": flags that make another command speak to the same hub; "" on no memory. */
const char *session_hub_words(const struct session *s);
/* Before a request: it may take what --timeout leaves. ERR_TIMEOUT when nothing is left. */
int session_time_left(struct session *s, struct error *err);
/* Sleeps, but not beyond --timeout: ERR_TIMEOUT at its end, ERR_CANCELLED. */
int session_sleep(struct session *s, int64_t ms);

/* Runs fn until it does not end in a conflict: at most five times, 10 ms apart. fn reads anew each time. */
int session_retry_conflicts(struct session *s, int (*fn)(struct session *s, void *ctx, struct error *err),
                            void *ctx, struct error *err);

void session_flush(struct session *s);
/* A line on standard error, with date and time before it: how the published commands tell what they do. */
void session_say(struct session *s, const char *fmt, ...) PRINTF_LIKE(2, 3);
/* A line on standard error as it is. */
void session_note(struct session *s, const char *fmt, ...) PRINTF_LIKE(2, 3);
