/* The state of the way to one API server. Every call of the client says how it went; what is wrong with the
 * way itself (kube/trouble.h) is told here, once for all callers:
 *
 *     one line in the log when it begins, when it becomes something else, and when it is over
 *     kube_connection_print() for /readyz, changed() for metrics and events
 *
 * A hiccup shorter than a second is not told. While the way is bad, a fiber asks for the server's version
 * with growing pauses; its answer ends the trouble, unless that version is one we cannot work with. Missing
 * rights concern single requests: each is told once it has been missed for three seconds, and when
 * it is there. The server is asked for that every few seconds, for not every request is made again. */
#pragma once

#include "common/kube/trouble.h"

struct kube_connection;

struct kube_connection_change {
        const char *name; /* of the options */
        const struct kube_trouble
                *trouble; /* what begins or is over; NULL: good, and nothing was told before */
        bool over;
        bool unused;        /* and over because nobody asks for that right any more, missing or not */
        size_t left;        /* troubles of this sort that remain: missing rights, else 1 or 0 */
        const char *detail; /* the error that showed it; when it is over, the right that was missing or "" */
};

struct kube_connection_options {
        struct kube_client *kube; /* its `connection` is set to this one; must outlive it */
        const char *name;         /* "hub": in front of the problem */
        const char *title;        /* "the hub": in log lines */
        /* After each change that was told, and when it is good for the first time. Must not park; may be
         * NULL. */
        void (*changed)(void *ctx, const struct kube_connection_change *change);
        void *ctx;
};

/* NULL on no memory. Asks the server for its version at once. */
struct kube_connection *kube_connection_new(struct fiber_group *group,
                                            const struct kube_connection_options *o);
struct kube_connection *kube_connection_free(struct kube_connection *c); /* from a fiber */

/* Appends a line about the way and one if rights are missing, in fixed words, for readers of all sorts: "hub:
 * connection refused"; none if all is well. The error itself goes to the log and to changed(). */
void kube_connection_print(const struct kube_connection *c, struct buf *b);
bool kube_connection_good(const struct kube_connection *c); /* the server was reached, and can be used */
/* Parks until it is good: 0, ERR_TIMEOUT, ERR_CANCELLED. */
int kube_connection_wait(struct kube_connection *c, int64_t deadline_ms);
/* Parks for ms, or until the connection becomes good or a right is there: a pause before another try. k
 * without a connection sleeps. 0 or ERR_CANCELLED. */
int kube_connection_pause(struct kube_client *k, int64_t ms);

/* How many outages are over: what failed before the newest says nothing of the next try. An outage is a
 * second in which nothing got through, also one that is not worth a line. k without a connection knows of
 * none. */
uint32_t kube_connection_outages(const struct kube_client *k);

/* What the failures of one list or watch go back to; begins as { 0 }. */
struct kube_past {
        uint32_t outages;
        bool refused; /* for want of a right */
};
/* Whether what failed before says nothing of a try that has just ended with `code`, so that pauses begin
 * anew: an outage is over since, or a right was missing and is there, or the other way round. */
bool kube_past_is_over(const struct kube_client *k, struct kube_past *past, int code);

/* Whether an error is told here, so that who logs it at the top can leave that to debug. */
bool kube_connection_tells(const struct kube_client *k, const struct error *err);

/* One request that ended. For who makes requests past kube/client.h (the reflector's watches). */
struct kube_attempt {
        const char *method, *path; /* "WATCH" for watches: another right than listing */
        int64_t begun_ms;          /* loop */
};
/* code 0 = a good answer. May make err->reason more telling (kube_trouble_explain). */
void kube_connection_report(struct kube_client *k, const struct kube_attempt *a, int code, struct error *err);
