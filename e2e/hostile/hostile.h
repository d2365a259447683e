/* A hub with something to protect, and a member that tries to get at it with its own credential. */
#pragma once

#include "common/json/doc.h"
#include "e2e/scenarios/fleet.h"

#define HOSTILE "member-1"
#define VICTIM "member-2"
#define HOSTILE_ACCOUNT "member-1-hub-cluster-access"
#define MARKER "only-the-victim-knows" /* in what it must not see */

struct hostile {
        struct fleet *fleet;
        struct kube_client *admin; /* of the hub */
        struct http_endpoint hub;  /* as anybody: address and CA */
        char *token;               /* the hostile member's */
        unsigned passed, failed;
};

/* ---- the ground ---- */
int ground_prepare(struct hostile *h, struct error *err);
/* A policy of Kubernetes holds a moment after it is made: waits until it does. */
int ground_wait_for_policy(struct hostile *h, struct error *err);
/* What must not change: one line per object. mem_free *ret. */
int ground_describe(struct hostile *h, char **ret, struct error *err);
/* Adds the names of what somebody made that is not ours to `found`. */
int ground_find_foreign(struct hostile *h, struct buf *found, struct error *err);

/* ---- requests ---- */
struct ask {
        const char *method, *path, *content_type, *body;
        const char *header, *value;           /* one more, or NULL */
        const char *authorization;            /* NULL = none */
        const struct http_endpoint *endpoint; /* NULL = the hub */
};
struct answer {
        int status; /* 0 = the connection was refused or broken */
        char text[65536];
};
/* Never follows, never retries. */
void hostile_ask(struct hostile *h, const struct ask *a, struct answer *ret);

void hostile_passed(struct hostile *h);
void hostile_failed(struct hostile *h, const char *what, const struct answer *a);

/* ---- what is tried ---- */
int attempts_try(struct hostile *h, struct error *err);    /* attempts.yaml */
int credentials_try(struct hostile *h, struct error *err); /* tokens that are not good */
