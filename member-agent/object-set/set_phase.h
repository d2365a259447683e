/* One phase of a set that is under way: what its files share. First all objects are looked at and what is to
 * be written is tried dry; only if the server would take all of it anything is written, wave by wave. What an
 * object of the same phase makes possible (its namespace, its kind) cannot be tried before: that is done just
 * before its own wave. */
#pragma once

#include "member-agent/object-set/set_pass.h"

#define LOOK_AGAIN_TRIES 3 /* at an object that others make, change or remove meanwhile */

struct phase {
        struct set_pass *p;
        const struct set_phase *phase;
        struct arena *docs; /* what is sent and what is there: only as long as the phase is under way */
        size_t index;
        struct set_item *items;
        size_t n;
        bool defines;   /* some object is a definition */
        bool inherited; /* some object of an earlier phase is one, and the mapper may not know yet */
};

/* What goes wrong with one object stops neither the others nor the set: it becomes the object's outcome. Only
 * what is fatal is returned. 429 asks for less of everything. */
int phase_trouble(struct phase *f, struct set_item *item, const struct error *why, struct error *err);
/* The server would not take it: nothing of the phase is written. `words` NULL is no memory. */
int phase_refuse(struct phase *f, struct set_item *item, const char *words, struct error *err);

/* ---- kinds and places: set_kinds.c ---- */

const char *phase_ns_of(const struct set_item *item); /* for requests; NULL = cluster-scoped */
/* Finds the resource of an object's kind; without one the object is deferred, refused, or in trouble. */
int phase_find_kind(struct phase *f, struct set_item *item, struct error *err);
/* The kinds that definitions of this phase have brought. What does not come in time comes with the watch. */
int phase_find_new_kinds(struct phase *f, struct error *err);

/* ---- looking and trying: set_examine.c ---- */

int phase_look(struct phase *f, struct set_item *item, struct error *why);
/* What is to be done about what was seen. */
int phase_decide(struct phase *f, struct set_item *item, struct error *why);
/* What is not there yet is applied, bound to nothing's version (want_creation), so that one request makes it
 * and makes its fields ours. A server that has nothing there and does not take that gets a POST. ERR_CONFLICT
 * or ERR_EXISTS: something is there. */
int phase_create(struct phase *f, struct set_item *item, const struct kube_write *write, json_t **ret,
                 struct error *why);
/* Both, and a dry run of what is to be written; nothing of it for what is as it was left. */
int phase_examine(struct phase *f, struct set_item *item, struct error *err);

/* ---- writing and judging: set_write.c ---- */

int phase_finish(struct phase *f, struct set_item *item, struct error *err);
