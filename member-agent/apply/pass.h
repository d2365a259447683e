/* One pass over one Work: what the applier's files share. Everything lives in the reconcile's arena. */
#pragma once

#include "member-agent/agent.h"
#include "member-agent/apply/manifest.h"
#include "member-agent/apply/owner.h"
#include "proto/names.h"

#define WHOLE_LOOK_MS (15 * 60 * 1000) /* at least this often every object itself is looked at */

struct pass {
        struct member_agent *agent;
        struct arena *arena;
        const struct log *log;
        int64_t now_ms;
        const char *name;        /* of the Work and its AppliedWork */
        const struct work *work; /* whole: manifests included */
        const struct object *applied_work;
        struct strategy strategy;
        bool mirror; /* statuses are to be reported back */
        struct owner owner;
        struct manifest *manifests;
        size_t n;
        struct rows rows; /* inventory as it was when the pass began */
};

/* Applies (or compares) one manifest: spec/member-agent.md 2.6-2.12. What goes wrong with the object becomes
 * its result; only ERR_NO_MEMORY and ERR_CANCELLED are returned. */
int object_process(struct pass *p, struct manifest *m, struct error *err);

/* The inventory's row of a manifest, without regard to the version; NULL if there is none. */
const struct row *pass_row(const struct pass *p, const struct manifest *m);
/* Finds the resource of a manifest and checks that it may be there: fills resource, or the result
 * DecodingErred. */
int pass_map_manifest(struct pass *p, struct manifest *m, struct error *err);

/* Removes what was applied and is no longer in the Work. Failures are logged and tried again in the next
 * pass; *ret_left counts them. */
int leftover_remove(struct pass *p, size_t *ret_left, struct error *err);

/* Runs waves of manifests, with at most four objects in flight. */
int waves_run(struct pass *p, struct error *err);

/* Keeps a whole Work in the state file; *ret_bytes is its size without status, as JSON. */
int work_save(struct member_agent *a, const struct work *w, size_t *ret_bytes, struct error *err);

/* The whole deletion of a Work: spec/member-agent.md 2.16. */
struct outcome work_delete(struct reconcile *rc, struct member_agent *a, const struct object *work);
