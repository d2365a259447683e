/* One manifest of a Work on its way through a pass: spec/member-agent.md 2.3. */
#pragma once

#include "common/json/doc.h"
#include "common/kube/client.h"
#include "member-agent/apply/compare.h"
#include "member-agent/apply/ignore.h"
#include "member-agent/apply/strategy.h"

struct manifest {
        int ordinal;
        json_t *doc; /* owned by the arena; NULL if it could not be parsed */
        const char *group, *version, *kind, *ns /* NULL = none */, *name; /* NULL until parsed */
        struct kube_resource resource;                                    /* plural NULL until mapped */
        char hash[65];                                                    /* clean_hash(), "" until wanted */
        struct ignore_rules ignored;
        const char *identity; /* with version; NULL if there is none */
        const char *key;      /* object_identity(), without version; NULL until parsed */

        enum result result;
        const char *cause; /* words behind a failed result; "" if none */
        bool unanswered; /* it failed for want of an API server's answer, which says nothing of the object */
        enum availability availability;
        const char *availability_cause; /* why it could not be told, or what is in the way; "" = not known */
        struct differences *drifts, *diffs; /* NULL if none were looked for */
        bool degraded;
        const char *live_uid, *live_version; /* NULL if there is no live object */
        int64_t live_generation;
        bool live_exists;
        /* Nothing changed since it was applied without drifts: results are remembered, not fresh. */
        bool reused;
        /* Others changed the object each time that a patch of ours was on its way: the last one is sent all
         * the same, and what came of it is looked at again. */
        bool unguarded;
        bool finished; /* the live object is a Job that goes when it has finished, and it has */
        struct slice observed_status; /* JSON text for back-reporting, data NULL if none */
};

/* Parses and identifies; a bad manifest gets its result and cause, only a lack of memory is an error. */
int manifest_decode(struct manifest *m, int ordinal, struct slice text, struct arena *arena,
                    struct error *err);
/* Whether a mapped manifest says rightly where it belongs: an object of a cluster-scoped kind is in no
 * namespace, one of a namespaced kind in one, and with `only_ns` (of a Work that may reach one namespace
 * alone; NULL = all of the cluster) in exactly that one. ERR_INVALID says what is wrong. The path of a
 * request drops what does not fit the kind, so nothing may be asked of an API server about a manifest that
 * fails this. */
int manifest_check_place(const struct manifest *m, const char *only_ns, struct error *err);
/* "GV=<group>/<version>, Kind=<kind>, Namespace=<ns>, Name=<name>"; NULL on no memory. */
const char *manifest_identity(struct arena *arena, const char *group, const char *version, const char *kind,
                              const char *ns, const char *name);
/* What makes an object itself, version aside: equal for a row and its manifest. NULL on no memory. */
const char *object_identity(const char *group, const char *kind, const char *ns, const char *name,
                            struct arena *arena);
/* A Job that its cluster deletes some time after it has finished: ttlSecondsAfterFinished. */
bool manifest_goes_when_finished(const struct manifest *m);
/* Marks second occurrences. Manifests that failed before are passed over. */
int manifest_mark_duplicates(struct manifest *manifests, size_t n, struct error *err);
/* Sets a result with its cause: `lead` and, if there is one, the text of an error. */
int manifest_fail(struct manifest *m, struct arena *arena, enum result result, const char *lead,
                  const struct error *why);
