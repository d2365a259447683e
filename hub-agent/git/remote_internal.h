/* A conversation with a remote: what is said (remote*.c), and what carries it (wire_*.c). Internal to
 * hub-agent/git. */
#pragma once

#include "common/base/buf.h"
#include "hub-agent/git/advertisement.h"
#include "hub-agent/git/git_url.h"
#include "hub-agent/git/packet.h"

struct wire;

struct wire_ops {
        /* The list of refs, until `a->done` or the remote has said all. */
        int (*advertise)(struct wire *w, struct advertisement *a, int64_t deadline_ms, struct error *err);
        /* One question, and its answer as packets. `most`: bytes of it. */
        int (*ask)(struct wire *w, struct slice question, struct packet_reader *answer, uint64_t most,
                   int64_t deadline_ms, struct error *err);
        void (*close)(struct wire *w);
};

struct wire {
        const struct wire_ops *ops;
        const struct remote_access *access;
        enum remote_service service;
        struct git_url url;
        const char *public_url;
        struct arena *arena;
};

/* Each ready to be asked; *ret is to be closed. */
int wire_open_http(const struct wire *base, struct wire **ret, struct error *err);
int wire_open_ssh(const struct wire *base, int64_t deadline_ms, struct wire **ret, struct error *err);

struct remote {
        struct wire *wire;
        const struct remote_access *access;
        struct arena *arena;
        enum remote_service service;
        struct git_refs refs;
        const char *capabilities;
        bool asked; /* the one question of an open remote */
        uint64_t received;
};

const char *remote_service_name(enum remote_service s); /* "git-upload-pack" */
int remote_ask(struct remote *r, struct slice question, struct packet_reader *answer, uint64_t most,
               int64_t deadline_ms, struct error *err);
