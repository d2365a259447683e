/* What a controller remembers about objects between reconciles. Nothing in it is needed for correctness: it
 * saves requests, and is learnt anew after a restart. Each controller has a record type of its own, beginning
 * with struct memory, in its own folder. */
#pragma once

#include "common/base/map.h"
#include "hub-agent/common.h"

struct memory {
        unsigned refs;
        const struct memory_kind *kind;
        uint64_t uid; /* hash of that of the object it is about; another one of that name starts afresh */
};

struct memory_kind {
        size_t size;                 /* of the record; it begins zeroed */
        void (*clear)(void *record); /* frees what the record holds; may be NULL */
        /* For records by the hundred thousand: one that is at rest remembers no more than what wake() puts
         * into a new one, and is given up for that. Both or neither. */
        bool (*at_rest)(const void *record);
        void (*wake)(void *record);
};

struct memories {
        const struct memory_kind *kind;
        struct map by_key; /* "ns/name" or "name" -> record, one reference, or the mark of one at rest */
};

void memories_init(struct memories *m, const struct memory_kind *kind);
void memories_free(struct memories *m);
/* The record about `o`, made if there is none; stays valid until the arena dies, also if it is dropped or
 * replaced meanwhile. NULL on no memory. */
void *memory_of(struct memories *m, const struct object *o, struct arena *arena);
/* The record of that key, borrowed until the next park; NULL if there is none, or it is at rest. */
void *memory_known(struct memories *m, const char *key);
void memory_drop(struct memories *m, const char *key);
/* At the end of a pass, which does not look at its record any more: gives it up if it is at rest and no other
 * pass has it. */
void memory_rest(struct memories *m, const char *key, const void *record);
void memories_keep_if(struct memories *m, bool (*keep)(void *ctx, const char *key), void *ctx);

/* ---- statuses that are held back ---- */

/* How many wait at once. */
struct held {
        size_t n, most; /* most since there were none */
};

/* Of one record. */
struct hold {
        struct held *held;      /* counted there; NULL = it does not wait */
        int64_t dirty_since_ms; /* loop time since when a status difference is to be written; 0 = none */
};

/* Status differences that may still change soon are held back for settle_ms, so that a burst of changes costs
 * one write; the more objects waited at once in this burst, the longer, up to HOLD_MAX_MS. Milliseconds to
 * wait from now_ms (of the loop), 0 = write now. settle_ms 0 = never hold. */
#define HOLD_MAX_MS 20000
int64_t hold_status(struct hold *h, struct held *all, int64_t settle_ms, int64_t now_ms);
void hold_written(struct hold *h); /* what is dirty from now on is a new difference */
/* How each pass ends: with finish_after() it holds; when it failed, what was due by now stays due; else
 * nothing is to be written any more. Returns the outcome. */
struct outcome hold_pass_ended(struct hold *h, struct outcome o);
void hold_let_go(struct hold *h); /* waits no longer; for memory_kind.clear too */
