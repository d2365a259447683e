/* One pass over one Work: what the applier's files share. Everything lives in the reconcile's arena. */
#pragma once

#include "member-agent/agent.h"
#include "member-agent/apply/handover.h"
#include "member-agent/apply/manifest.h"
#include "member-agent/apply/owner.h"
#include "member-agent/apply/rows.h"
#include "proto/names.h"

#define WHOLE_LOOK_MS (15 * 60 * 1000) /* at least this often every object itself is looked at */

struct giver;

/* An object that left the Work and cannot be removed. */
struct unremoved {
        const struct unremoved *next;
        const struct row *row;
        const char *why;
};

struct pass {
        struct member_agent *agent;
        struct arena *arena;
        const struct log *log;
        int64_t now_ms;
        const char *name;        /* of the Work and its AppliedWork */
        const struct work *work; /* whole: manifests included */
        const struct object *applied_work;
        struct strategy strategy;
        bool mirror;                    /* statuses are to be reported back */
        const struct work_status *told; /* what was last said of the Work; NULL = nothing */
        struct owner owner;
        struct kube_client objects; /* reads and writes what the manifests name */
        struct manifest *manifests;
        size_t n;
        const struct unremoved *unremoved; /* of this pass, the last one first */
        struct rows rows;                  /* inventory as it was when the pass began */
        struct map *row_index;             /* row_key() -> row */
        struct rows lingering;             /* what left the Work and was not removed in this pass */
        bool behind;                       /* the state file may be: the hub must be heard first */
        bool waits_for_sibling; /* an object is still held by a Work of the same placement that lets go of it
                                 */
};

/* Applies (or compares) one manifest: spec/member-agent.md 2.6-2.12. What goes wrong with the object becomes
 * its result; only ERR_NO_MEMORY and ERR_CANCELLED are returned. */
int object_process(struct pass *p, struct manifest *m, struct error *err);

/* ---- manifests ---- */

/* As whom objects are applied. A right that the namespace's account lacks is told with the manifest: it is
 * none of the agent's own. */
int pass_choose_account(struct pass *p, struct error *err);
int pass_decode_manifests(struct pass *p, struct error *err);
/* Finds the resource of a manifest and checks that it may be there: fills resource, or the result
 * DecodingErred. */
int pass_map_manifest(struct pass *p, struct manifest *m, struct error *err);

/* ---- inventory ---- */

int pass_load_rows(struct pass *p, struct error *err);
/* The inventory's row of a manifest, without regard to the version; NULL if there is none. */
const struct row *pass_row(const struct pass *p, const struct manifest *m);
/* Another strategy, or other ignore rules, another number. */
unsigned pass_strategy_number(const struct pass *p, const struct manifest *m);
/* What need not be looked at again gets the results of the last time. Soon after the agent's start it waits
 * for lists of its watches: may park. */
int pass_reuse_results(struct pass *p, struct error *err);
void pass_reuse_row(struct manifest *m, const struct row *row);
/* A row as it is before anything is known of the object. */
struct row pass_new_row(const struct pass *p, const struct manifest *m);
/* To be applied, and without a row. */
bool pass_is_fresh(const struct pass *p, const struct manifest *m);
/* Write-ahead: no object may be touched without a durable record of it. */
int pass_plan_rows(struct pass *p, struct error *err);
int pass_record_rows(struct pass *p, struct error *err);
/* When each manifest was first seen to drift or differ, before this pass; TIME_NONE = it was not. */
int pass_first_times(const struct pass *p, int64_t **ret_drift, int64_t **ret_diff, struct error *err);

/* ---- Jobs that go when they have finished: manifest_goes_when_finished() ---- */

/* Such an object that is gone is not made again while the manifest stays: *ret, with the results of the last
 * time that it was applied. It may have been by a sibling, or before the state file was lost. Otherwise it is
 * to be made, or to be told as missing. */
int finished_reuse(struct pass *p, struct manifest *m, bool *ret, struct error *err);
/* The row is of such an object, which counts as finished should it be gone. */
bool finished_row(const struct row *row);
/* The object of the row is gone, and another Work lists it now: so that it is not made again, that Work gets
 * what we know of it. */
int finished_give(struct giver *g, const struct row *row, const char *to, struct error *err);

/* Removes what was applied and is no longer in the Work, or hands it to the Work that lists it now. What
 * fails is told and tried again in the next pass; *ret_left counts it, and what has to wait. */
int leftover_remove(struct pass *p, size_t *ret_left, struct error *err);

/* ---- handing objects from Work to Work ---- */

/* A Work that lets go of objects. */
struct giver {
        struct member_agent *agent;
        struct arena *arena;
        const struct log *log;
        const char *name;
        struct owner owner;
        int64_t generation; /* which the pass works on; 0 = the Work goes */
        int64_t waited_ms;
        struct owner heir; /* the last one: its AppliedWork is known to exist */
};
/* What to do about an object that the giver no longer lists. Does not park. *ret_to (GIVE) is in the arena.
 */
int handover_ask(const struct giver *g, const struct row *row, enum handover *ret, const char **ret_to,
                 struct error *err);
/* Puts the owner reference of `to`'s AppliedWork in the place of the giver's, and drops the giver's row. */
int handover_give(struct giver *g, const struct row *row, const json_t *live, const char *to,
                  struct error *err);
/* The other side: what it means for a Work that lists the object that Work `name` holds it. */
int handover_judge_holder(struct pass *p, const struct manifest *m, const char *name,
                          enum handover_claim *ret, struct error *err);
/* How long a Work of that generation (0 = it goes) has had to wait for others, in milliseconds. now_ms is
 * that of loop_now_ms(): a wall clock may be set back. */
int64_t handover_waited(const struct work_memory *memory, int64_t generation, int64_t now_ms);
/* Notes whether it still has to. */
void handover_note_wait(struct work_memory *memory, bool waits, int64_t generation, int64_t now_ms);

/* ---- AppliedWorks ---- */

/* The AppliedWork of a Work; made if it is missing. It lives as long as the arena. */
int applied_work_ensure(struct member_agent *a, const char *name, struct arena *arena,
                        const struct object **ret, struct error *err);
/* The same, from the server and not from the cache. */
int applied_work_ensure_live(struct member_agent *a, const char *name, struct arena *arena,
                             const struct object **ret, struct error *err);
/* One of the two, by what is known of the Work so far.
 * A Work without rows is new: what the cache has under its name may be the AppliedWork of one that was
 * deleted, and be gone; garbage collection would take along what names it as owner. So may any whose going
 * has not been heard of. */
int applied_work_find(struct member_agent *a, const char *name, struct arena *arena,
                      const struct object **ret, struct error *err);
/* Annotates it with the placement and snapshot that the Work is from, and since when; a new one has that from
 * the start. Works of no placement have none. Who may not annotate it leaves it: the report is what counts.
 */
int applied_work_tell_origin(struct pass *p, struct error *err);
/* Of two versions of a Work: what it says. */
bool applied_work_origin_changed(const struct object *before, const struct object *now);
int applied_work_write_status(struct pass *p, struct error *err);
/* Adds to its status what is about to be made and is not in it: where the state file cannot be used nothing
 * else would tell of it after a crash. */
int applied_work_announce(struct pass *p, struct error *err);
/* What its status says of a manifest's object, in whatever version; NULL = nothing. */
const struct applied_resource *applied_work_entry(const struct object *applied_work,
                                                  const struct manifest *m);
bool identifies(const struct work_resource_identifier *id, const struct manifest *m);
/* The state file may be younger than the objects: adds rows for what the AppliedWork lists beyond them. */
int applied_work_add_rows(const struct object *applied_work, const char *name, struct arena *arena,
                          struct rows *rows, struct error *err);

/* Runs waves of manifests, with at most four objects in flight. */
int waves_run(struct pass *p, struct error *err);

/* Events and log lines about p->unremoved, when it is not what it was in the pass before. */
int tell_unremoved(struct pass *p, struct work_memory *memory, struct error *err);
/* Events and log lines about manifests whose trouble begins, changes or ends with this status. */
int tell_news(struct pass *p, const struct work_status *before, const struct work_status *after,
              struct error *err);

/* Keeps a whole Work in the state file; *ret_bytes is its size without status, as JSON. */
int work_save(struct member_agent *a, const struct work *w, size_t *ret_bytes, struct error *err);

/* The whole deletion of a Work: spec/member-agent.md 2.16. */
struct outcome work_delete(struct reconcile *rc, struct member_agent *a, const struct object *work);
/* Brings a Work's AppliedWork to its end: hands over what others want, deletes it in the foreground, relaxes
 * what blocks that. The outcome counts while it is not gone. */
struct outcome applied_work_clear(struct reconcile *rc, struct member_agent *a, bool *ret_gone);
/* A Work that the hub does not have. */
struct outcome work_gone(struct reconcile *rc, struct member_agent *a);

/* ---- before the hub has been heard ---- */

/* Whether somebody else has changed what was applied for this Work since the state file was written. */
int stale_check_work(const struct pass *p, bool *ret_behind, struct error *err);
/* The same for one object (live NULL = missing): if so it is left alone, as if it had been looked at, and the
 * pass is marked. */
bool stale_check_object(struct pass *p, struct manifest *m, const json_t *live);
