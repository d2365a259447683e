/* Shared by informer.c (cache, indexes, handlers), reflector.c (list and watch) and frame.c (keys). */
#pragma once

#include "common/base/buf.h"
#include "common/base/map.h"
#include "common/base/vec.h"
#include "common/ctrl/informer.h"
#include "proto/stowed.h"

struct kept; /* an object as the cache holds it: kept.c */
struct kept_vec {
        const struct kept **at;
        size_t n, cap;
};

struct index {
        const char *name;
        index_fn fn;
        struct map values; /* value -> struct kept_vec, or a struct kept alone (informer.c) */
};

struct handler {
        informer_handler fn;
        void *ctx;
};

/* parts.c */
struct parts {
        struct map whole; /* part -> version at which all of it was listed, while the first list is running */
        struct map gone;  /* key -> version of its deletion, while a watch runs beside a list */
};

struct informer {
        struct kube_client *kube;
        struct informer_options options;
        struct kube_resource resource;
        struct fiber_group *parent, *group; /* group: of the reflector's fiber */
        unsigned refs;
        bool stopped;
        struct map objects; /* "ns/name" or "name" -> const struct kept * */
        struct buf scratch; /* of kept_new() */
        VEC(struct index *) indexes;
        VEC(struct handler) handlers;
        struct waitq synced_wait;
        unsigned hasty;         /* so many of those who wait do not once there is a problem */
        struct map undecodable; /* key -> the version that cannot be decoded, as text */
        bool synced;
        uint64_t lists; /* that have ended */
        size_t bytes;
        uint64_t high_water;     /* newest resourceVersion seen in list or watch */
        uint64_t observed;       /* newest one of answers to own writes */
        struct listing *listing; /* the list that is running (reflector.c), NULL if none */
        bool follows;            /* see informer_follows() */
        struct parts parts;
        bool server_went_back; /* the relist's version is older than what we have seen: take all it says */
        int problem_code;
        char problem[ERROR_TEXT_MAX]; /* whole: a path with its query is long */
};

/* ---- kept.c ---- */
/* The cache's own, for kept_free(); NULL on no memory. */
const struct kept *kept_new(struct informer *i, const char *key, const struct object *o);
void kept_free(const struct informer *i, const struct kept *k);
size_t kept_bytes(const struct informer *i, const struct kept *k);
/* The key for `objects`: as long-lived as the map expects. */
const char *kept_key(const struct informer *i, const char *key, const struct kept *k);
/* The object, with a reference for the caller; NULL on no memory. */
const struct object *kept_object(const struct informer *i, const struct kept *k, enum stowed_part part);

/* How the reflector feeds the cache. apply() takes a reference of its own. */
int informer_apply(struct informer *i, struct object *o, bool initial);
/* Just this version of the object is held: what a watch tells of it changes nothing. May be false although.
 */
bool informer_has_version(const struct informer *i, struct slice ns, struct slice name, struct slice version);
/* What is held of an object, with a reference for the caller; NULL: nothing, or it cannot be told. */
const struct object *informer_held(const struct informer *i, struct slice ns, struct slice name);
/* `last`: its last state, NULL = as it is held. 0, or ERR_NO_MEMORY and it is still held. */
int informer_forget(struct informer *i, const char *key, const struct object *last, bool initial);
/* A deletion that the watch tells of; `decoded`: `o` is the object's last state, else only its identity. 0 or
 * ERR_NO_MEMORY. */
int informer_take_deletion(struct informer *i, const struct object *o, bool decoded);
/* Which failure stands in the way now; 0 and "" = none does. Tells who wants to know. */
void informer_set_problem(struct informer *i, int code, const char *text);
/* The object `id` names has a version that cannot be decoded, for the reason `why`. */
int informer_note_undecodable(struct informer *i, struct object *id, const struct error *why, bool initial);
int informer_key(const struct object *o, struct key *k);  /* 0 or ERR_NO_MEMORY */
uint64_t resource_version_number(const struct object *o); /* 0 if it is not a number */

void reflector_run(void *informer); /* the fiber */
/* An object of another list than the running one. */
int reflector_take_listed(struct informer *i, struct object *o);

/* ---- parts.c ---- */
void parts_init(struct parts *p);
void parts_free(struct parts *p);
/* A watch tells of all that changes from now on, or no longer: then what is whole is not known any more. */
void parts_follow(struct informer *i, bool follows);
/* The watch beside a list told that it is gone. 0 or ERR_NO_MEMORY. */
int parts_note_gone(struct informer *i, const char *key, const struct object *o);
void parts_forget_gone(struct informer *i);
/* Whether an object that a list or a watch tells of is gone by what else is known. 0 or ERR_NO_MEMORY. */
int parts_is_gone(const struct informer *i, const struct object *o, bool *ret);
