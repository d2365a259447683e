/* The steps that bring one object of a Work in line with its manifest on a member's API server: take over,
 * compare, apply: spec/member-agent.md 2.6-2.10. The applier takes them; with `dry_run` the server tries each
 * write and keeps none, so that `kubectl fleet plan` tells what the applier would do. */
#pragma once

#include "member-agent/apply/handover.h"
#include "member-agent/apply/leftover.h"
#include "member-agent/apply/manifest.h"
#include "member-agent/apply/owner.h"

struct object_steps {
        struct kube_client *objects; /* reads and writes what the manifests name */
        struct kube_client *own;     /* takes objects over from other Works */
        struct arena *arena;
        const struct strategy *strategy;
        const struct owner *owner;
        bool dry_run;
        owner_is_orphan is_orphan;
        /* What it means that the AppliedWork of Work `holder` owns the object; NULL = nothing is handed over.
         */
        int (*claim)(void *ctx, const struct manifest *m, const char *holder, enum handover_claim *ret,
                     struct error *err);
        void *ctx;
        /* Filled. */
        bool taken;             /* it was another's, or nobody's: our reference was put on it */
        bool waits_for_sibling; /* a Work that is about to let go of the object still holds it */
        bool adopted;           /* fields written by other means were made server-side apply's: managed.h. Of
                                 * a dry run the server keeps nothing, so it cannot show what goes with that */
};

/* How a step ended: 0 (go on), one of these, or an error that ends the pass (ERR_NO_MEMORY, ERR_CANCELLED):
 * what goes wrong with the object becomes the manifest's result. */
enum object_step {
        OBJECT_DECIDED = 1, /* the result is set */
        OBJECT_LOOK_FIRST,  /* what was taken for absent may be there */
        OBJECT_MOVED        /* it changed since it was read */
};
/* *ret (new) stays NULL where there is no such object. */
int object_find(struct object_steps *s, struct manifest *m, json_t **ret, struct error *err);
/* `looked`: *live is what is there, NULL = nothing; else nobody looked, and it is created. *live is replaced
 * by what the server answered. */
int object_bring_in_line(struct object_steps *s, struct manifest *m, bool looked, json_t **live,
                         struct error *err);
/* Puts a reference to `to` in the place of those to the AppliedWorks of these uids. */
int object_swap_owners(struct kube_client *k, const struct kube_resource *r, const char *ns,
                       const json_t *live, const char *const *uids, size_t n, const struct owner *to,
                       bool dry_run, json_t **ret, struct error *err);
/* LEFTOVER_REMOVED deletes exactly what was read, LEFTOVER_RELEASED takes our reference off. */
int object_let_go(struct kube_client *k, const struct kube_resource *r, const json_t *live,
                  const struct owner *o, enum leftover what, bool dry_run, struct error *err);
