/* One object of a Work against the member's API server: find, take over, compare, apply, judge. */
#include "common/base/limits.h"
#include "member-agent/apply/archived.h"
#include "member-agent/apply/clean.h"
#include "member-agent/apply/pass.h"
#include "member-agent/apply/prepare.h"
#include "member-agent/availability/availability.h"

/* A step answers 0 (go on), DECIDED (the result is set), LOOK_FIRST (what was taken for absent may be there),
 * MOVED (it changed since it was read) or an error that ends the pass. */
#define DECIDED 1
#define LOOK_FIRST 2
#define MOVED 3

static bool is_fatal(int code)
{
        return code == ERR_NO_MEMORY || code == ERR_CANCELLED;
}

static int decide(struct pass *p, struct manifest *m, enum result result, const char *lead,
                  const struct error *why, struct error *err)
{
        if (why && is_fatal(why->code)) {
                if (err)
                        *err = *why;
                return why->code;
        }
        if (manifest_fail(m, p->arena, result, lead, why) < 0)
                return error_no_memory(err);
        return DECIDED;
}

static struct kube_client *member(struct pass *p)
{
        return &p->objects;
}

/* ---- looking ---- */

static int find_live(struct pass *p, struct manifest *m, json_t **ret, struct error *err)
{
        struct error why = { 0 };
        int r = kube_doc_get(member(p), &m->resource, m->ns, m->name, ret, &why);

        if (r == 0 || r == ERR_NOT_FOUND)
                return 0;
        return decide(
                p, m, RESULT_FAILED_TO_FIND,
                "failed to find the corresponding object for the manifest object in the member cluster: ",
                &why, err);
}

/* What the server would make of the manifest, as the source of a partial comparison. */
static int dry_run(struct pass *p, const struct manifest *m, const json_t *source, json_t **ret,
                   struct error *why)
{
        static const struct kube_write write = { .field_manager = FIELD_MANAGER_WORK_APPLIER,
                                                 .force = true,
                                                 .dry_run = true };
        AUTO_JSON json_t *body = doc_copy(source);

        if (!body)
                return error_no_memory(why);
        TRY(clean_for_apply(body, why));
        clean_generated(body);
        return kube_doc_patch(member(p), &m->resource, m->ns, m->name, KUBE_PATCH_APPLY, body, &write, ret,
                              why);
}

/* The manifest but for what it leaves to the cluster, and what the cluster has settled for good. *ret NULL:
 * the manifest as it is. */
static int leave_to_cluster(const struct manifest *m, const json_t *live, json_t **ret, struct error *why)
{
        AUTO_JSON json_t *doc = NULL;

        *ret = NULL;
        if (m->ignored.n == 0 && !archived_applies(m->doc, live))
                return 0;
        if (!(doc = doc_copy(m->doc)))
                return error_no_memory(why);
        TRY(ignore_rules_apply(&m->ignored, doc, live, why));
        TRY(archived_settle(doc, live, why));
        *ret = TAKE_PTR(doc);
        return 0;
}

static int compare(struct pass *p, struct manifest *m, const json_t *live, struct differences **ret,
                   struct error *why)
{
        AUTO_JSON json_t *wanted = NULL, *ruled = NULL;
        struct differences *found = ARENA_NEW(p->arena, struct differences);
        const json_t *source;
        int r;

        if (!found)
                return error_no_memory(why);
        TRY(leave_to_cluster(m, live, &ruled, why));
        source = ruled ? ruled : m->doc;
        if (!p->strategy.full_comparison) {
                r = dry_run(p, m, source, &wanted, why);
                m->degraded = r < 0 && why->http_status == 422;
                if (r < 0 && !m->degraded)
                        return r;
                error_clear(why);
        }
        TRY(compare_documents(wanted ? wanted : source, live, p->arena, found, why));
        *ret = found->total ? found : NULL;
        return 0;
}

/* ---- taking over: spec/member-agent.md 2.7 ---- */

static int is_orphan(void *ctx, const char *work_name, bool *ret, struct error *err)
{
        struct member_agent *a = ((struct pass *)ctx)->agent;

        /* Without the hub nobody can say that a Work is gone. */
        *ret = informer_synced(a->works) && !informer_get(a->works, a->ns, work_name);
        return 0;
}

static int add_our_reference(struct pass *p, struct manifest *m, json_t *remaining, json_t **live,
                             struct error *why)
{
        static const struct kube_write write = { .field_manager = FIELD_MANAGER_WORK_APPLIER };
        json_t *reference = owner_reference_new(&p->owner), *updated = NULL;
        const char *version = doc_get_string(*live, "metadata.resourceVersion");
        AUTO_JSON json_t *patch = NULL;

        if (json_array_append_new(remaining, reference) < 0)
                return error_no_memory(why);
        patch = json_pack("{s:{s:s, s:O}}", "metadata", "resourceVersion", version ? version : "",
                          "ownerReferences", remaining);
        if (!patch)
                return error_no_memory(why);
        TRY(kube_doc_patch(member(p), &m->resource, m->ns, m->name, KUBE_PATCH_MERGE, patch, &write, &updated,
                           why));
        json_decref(*live);
        *live = updated;
        return 0;
}

static int refuse_difference(struct pass *p, struct manifest *m, struct differences *found, struct error *err)
{
        m->diffs = found;
        return decide(
                p, m, RESULT_FAILED_TO_TAKE_OVER,
                m->degraded
                        ? "cannot take over object: configuration differences are found between the manifest "
                          "object and the corresponding object in the member cluster in degraded mode (full "
                          "comparison is performed instead of partial comparison, as the manifest object is "
                          "considered to be invalid by the member cluster API server)"
                        : "cannot take over object: configuration differences are found between the manifest "
                          "object and the corresponding object in the member cluster",
                NULL, err);
}

static int take_over(struct pass *p, struct manifest *m, json_t **live, struct error *err)
{
        static const char lead[] = "failed to take over a pre-existing object: ";
        AUTO_JSON json_t *remaining = NULL;
        struct differences *found = NULL;
        struct error why = { 0 };

        if (!*live || p->strategy.take_over == TAKING_NEVER || owner_find(*live, &p->owner))
                return 0;
        if (owner_remaining(*live, &p->owner, is_orphan, p, &remaining, &why) < 0 ||
            owner_may_take_over(remaining, &p->owner, p->strategy.allow_co_ownership, &why) < 0)
                return decide(p, m, RESULT_FAILED_TO_TAKE_OVER, lead, &why, err);
        if (p->strategy.take_over == TAKING_IF_NO_DIFF) {
                if (compare(p, m, *live, &found, &why) < 0)
                        return decide(p, m, RESULT_FAILED_TO_TAKE_OVER, lead, &why, err);
                if (found)
                        return refuse_difference(p, m, found, err);
        }
        if (add_our_reference(p, m, remaining, live, &why) < 0)
                return decide(p, m, RESULT_FAILED_TO_TAKE_OVER, lead, &why, err);
        return 0;
}

/* What a Work of the same placement has applied is not pre-existing: it is handed over, whatever is said
 * about taking over. */
static int receive(struct pass *p, struct manifest *m, json_t **live, struct error *err)
{
        struct error why = { 0 };

        if (!*live || handover_receive(p, m, live, &why) == 0)
                return 0;
        return decide(p, m, RESULT_FAILED_TO_TAKE_OVER, "failed to take over from another Work: ", &why, err);
}

/* ---- reporting differences: 2.8 ---- */

static int report_missing(struct pass *p, struct manifest *m, struct error *err)
{
        struct differences *d = ARENA_NEW(p->arena, struct differences);

        if (!d)
                return error_no_memory(err);
        d->at[0] = (struct difference){ "/", "(the whole object)", "" };
        d->n = d->total = 1;
        m->diffs = d;
        m->result = RESULT_FOUND_DIFF;
        return DECIDED;
}

static int report_diff(struct pass *p, struct manifest *m, const json_t *live, struct error *err)
{
        struct error why = { 0 };

        if (p->strategy.type != STRATEGY_REPORT_DIFF)
                return 0;
        if (!live)
                return report_missing(p, m, err);
        if (compare(p, m, live, &m->diffs, &why) < 0)
                return decide(p, m, RESULT_FAILED_TO_REPORT_DIFF, "", &why, err);
        m->result = !m->diffs ? RESULT_NO_DIFF : m->degraded ? RESULT_FOUND_DIFF_DEGRADED : RESULT_FOUND_DIFF;
        return DECIDED;
}

/* ---- drift: 2.9 ---- */

static int drift_before(struct pass *p, struct manifest *m, const json_t *live, struct error *err)
{
        struct error why = { 0 };

        if (!p->strategy.only_if_not_drifted || !live ||
            !text_equal(clean_annotation(live, ANNOTATION_SPEC_HASH), m->hash))
                return 0;
        if (compare(p, m, live, &m->drifts, &why) < 0)
                return decide(p, m, RESULT_FAILED_DRIFT_DETECTION,
                              "failed to calculate pre-apply drifts between the manifest and the object from "
                              "the member "
                              "cluster: ",
                              &why, err);
        if (!m->drifts)
                return 0;
        return decide(
                p, m, m->degraded ? RESULT_FOUND_DRIFTS_DEGRADED : RESULT_FOUND_DRIFTS,
                m->degraded
                        ? "cannot apply manifest: drifts are found in degraded mode between the manifest and "
                          "the object from the member cluster"
                        : "cannot apply manifest: drifts are found between the manifest and the object from "
                          "the member cluster",
                NULL, err);
}

static int drift_after(struct pass *p, struct manifest *m, const json_t *live, struct error *err)
{
        struct error why = { 0 };

        m->result = RESULT_APPLIED;
        if (!p->strategy.full_comparison)
                return 0;
        if (compare(p, m, live, &m->drifts, &why) < 0)
                return decide(p, m, RESULT_APPLIED_DRIFT_DETECTION_FAILED,
                              "failed to calculate post-apply drifts between the manifest and the object "
                              "from the member "
                              "cluster: ",
                              &why, err);
        return 0;
}

/* ---- applying: 2.10 ---- */

#define ADOPTION_TRIES 3

static int read_again(struct pass *p, struct manifest *m, json_t **live, struct error *why)
{
        json_t *now = NULL;

        error_clear(why);
        TRY(kube_doc_get(member(p), &m->resource, m->ns, m->name, &now, why));
        json_decref(*live);
        *live = now;
        return owner_check_before_apply(m->doc, now, &p->owner, p->strategy.allow_co_ownership, why);
}

static int adopt_fields(struct pass *p, struct manifest *m, const struct prepared *prepared, json_t **live,
                        struct error *why)
{
        static const struct kube_write write = { .field_manager = FIELD_MANAGER_WORK_APPLIER };
        int r = ERR_CONFLICT;

        for (int try = 0; r == ERR_CONFLICT && try < ADOPTION_TRIES; try++) {
                AUTO_JSON json_t *patch = NULL;
                json_t *updated = NULL;

                if (try > 0)
                        TRY(read_again(p, m, live, why));
                TRY(prepare_adoption(prepared, *live, m->hash, &p->strategy, &patch, why));
                if (!patch)
                        return 0;
                r = kube_doc_patch(member(p), &m->resource, m->ns, m->name, KUBE_PATCH_MERGE, patch, &write,
                                   &updated, why);
                if (r < 0)
                        continue;
                json_decref(*live);
                *live = updated;
        }
        return r;
}

#define GUARDED_TRIES 3

/* A patch is the difference to what was read. If that has changed since, the change is none of its business,
 * and would come back with the answer as if it were ours: so it is bound to the version that was read. An
 * apply that holds what was read, under ignore rules, is one too. */
static bool is_difference(const struct manifest *m, const struct apply_request *rq)
{
        return rq->request == REQUEST_PATCH || (rq->request == REQUEST_APPLY && m->ignored.n);
}

static int guard(const struct manifest *m, const json_t *live, const struct apply_request *rq,
                 struct error *why)
{
        json_t *version = doc_get(live, "metadata.resourceVersion"),
               *meta = json_object_get(rq->body, "metadata");

        if (!is_difference(m, rq) || m->unguarded || !version)
                return 0;
        if (!meta && (!(meta = json_object()) || json_object_set_new(rq->body, "metadata", meta) < 0))
                return error_no_memory(why);
        return json_object_set(meta, "resourceVersion", version) < 0 ? error_no_memory(why) : 0;
}

static int change(struct pass *p, struct manifest *m, const struct prepared *prepared, json_t **live,
                  struct error *why)
{
        struct apply_request rq CLEANUP(apply_request_free) = { 0 };
        struct kube_write write = { .field_manager = FIELD_MANAGER_WORK_APPLIER };
        json_t *updated = NULL;
        int r;

        if (adopt_fields(p, m, prepared, live, why) < 0 ||
            ignore_rules_apply(&m->ignored, prepared->doc, *live, why) < 0 ||
            archived_settle(prepared->doc, *live, why) < 0 ||
            prepare_request(prepared, *live, m->group, m->kind, &p->strategy, &rq, why) < 0)
                return error_wrap(why, "failed to patch the manifest object");
        if (rq.request == REQUEST_NOTHING)
                return 0;
        TRY(guard(m, *live, &rq, why));
        write.force = rq.force;
        r = kube_doc_patch(member(p), &m->resource, m->ns, m->name, rq.patch_type, rq.body, &write, &updated,
                           why);
        if (r == ERR_CONFLICT && is_difference(m, &rq) && !m->unguarded && !p->strategy.only_if_not_drifted)
                return MOVED;
        if (r < 0)
                return error_wrap(why, rq.request == REQUEST_APPLY ? "failed to apply the manifest object"
                                                                   : "failed to patch the manifest object");
        json_decref(*live);
        *live = updated;
        return 0;
}

/* An apply would change an object that appeared meanwhile, without asking whose it is: only POST creates and
 * does nothing else. An apply follows, so that the fields are ours as those of every later apply, and the
 * next agent (or pass) finds nothing to write. */
static int create(struct pass *p, struct manifest *m, const struct prepared *prepared, json_t **live,
                  struct error *why)
{
        static const struct kube_write write = { .field_manager = FIELD_MANAGER_WORK_APPLIER };

        if (kube_doc_create(member(p), &m->resource, m->ns, prepared->doc, &write, live, why) < 0)
                return error_wrap(why, "failed to create manifest object");
        return p->strategy.type == STRATEGY_SERVER_SIDE ? change(p, m, prepared, live, why) : 0;
}

static int apply(struct pass *p, struct manifest *m, bool looked, json_t **live, struct error *err)
{
        static const char lead[] = "failed to apply the manifest: ";
        struct prepared prepared CLEANUP(prepared_free) = { 0 };
        struct error why = { 0 };
        int r;

        if (*live && !owner_find(*live, &p->owner))
                return decide(p, m, RESULT_NOT_TAKEN_OVER,
                              "no ownership of the object in the member cluster; takeover is needed", NULL,
                              err);
        r = drift_before(p, m, *live, err);
        if (r != 0)
                return r;
        r = owner_check_before_apply(m->doc, *live, &p->owner, p->strategy.allow_co_ownership, &why);
        if (r < 0)
                error_wrap(&why, "failed to validate owner references");
        if (r == 0)
                r = prepare_manifest(m->doc, m->hash, &p->owner, p->strategy.type, &prepared, &why);
        if (r == 0)
                r = *live ? change(p, m, &prepared, live, &why) : create(p, m, &prepared, live, &why);
        if (r < 0 && !looked && !is_fatal(r))
                return LOOK_FIRST;
        if (r < 0)
                return decide(p, m, RESULT_APPLY_FAILED, lead, &why, err);
        if (r == MOVED)
                return r;
        return drift_after(p, m, *live, err);
}

/* ---- what is kept of the live object ---- */

static int keep_status(struct pass *p, struct manifest *m, const json_t *live, struct error *err)
{
        const json_t *status = doc_get_object(live, "status");
        AUTO_JSON json_t *kept = NULL;
        struct buf text AUTO_BUF;

        buf_init(&text, LIMIT_OBJECT_BYTES);
        if (!p->mirror || !status || !result_is_applied(m->result))
                return 0;
        kept = json_pack("{s:O?, s:O?, s:O}", "apiVersion", json_object_get(live, "apiVersion"), "kind",
                         json_object_get(live, "kind"), "status", status);
        if (!kept || doc_write(kept, &text) < 0)
                return error_no_memory(err);
        m->observed_status = (struct slice){ arena_strndup(p->arena, text.data, text.len), text.len };
        return m->observed_status.data ? 0 : error_no_memory(err);
}

static bool has_finished(const json_t *job)
{
        json_t *c;
        size_t i;

        json_array_foreach(doc_get_array(job, "status.conditions"), i, c) {
                const char *type = doc_get_string(c, "type");

                if ((text_equal(type, "Complete") || text_equal(type, "Failed")) &&
                    text_equal(doc_get_string(c, "status"), "True"))
                        return true;
        }
        return false;
}

static int judge(struct pass *p, struct manifest *m, const json_t *live, struct error *err)
{
        struct error why = { 0 };

        m->live_exists = live != NULL;
        if (live) {
                const char *uid = doc_get_string(live, "metadata.uid");
                const char *version = doc_get_string(live, "metadata.resourceVersion");

                m->live_generation = doc_get_int(live, "metadata.generation", 0);
                m->finished = manifest_goes_when_finished(m) && has_finished(live);
                m->live_uid = arena_strdup(p->arena, uid ? uid : "");
                m->live_version = arena_strdup(p->arena, version && !m->unguarded ? version : "");
                if (!m->live_uid || !m->live_version)
                        return error_no_memory(err);
        }
        if (!result_is_applied(m->result))
                return 0;
        m->availability = availability_of(m->group, m->version, m->resource.plural, live, &why);
        if (!(m->availability_cause = arena_strdup(p->arena, why.text)))
                return error_no_memory(err);
        return keep_status(p, m, live, err);
}

/* In a Work's first pass most objects are not there yet: creating them says so for sure, and saves a read. A
 * Job that goes when it has finished may have run all the same. */
static bool may_be_there(const struct pass *p, const struct manifest *m)
{
        const struct applied_work *w = (const struct applied_work *)(const void *)p->applied_work;

        return pass_row(p, m) || (w->status && w->status->applied_resources.n) ||
               p->strategy.type == STRATEGY_REPORT_DIFF || !informer_synced(p->agent->works) ||
               manifest_goes_when_finished(m);
}

static int run_steps(struct pass *p, struct manifest *m, bool look, json_t **live, struct error *err)
{
        bool ran = false;
        int r;

        if (look && (r = find_live(p, m, live, err)) != 0)
                return r;
        if (look && !*live)
                TRY(finished_reuse(p, m, &ran, err));
        if (ran)
                return DECIDED;
        if (stale_check_object(p, m, *live))
                return DECIDED;
        if ((r = receive(p, m, live, err)) != 0 || (r = take_over(p, m, live, err)) != 0 ||
            (r = report_diff(p, m, *live, err)) != 0)
                return r;
        return apply(p, m, look, live, err);
}

int object_process(struct pass *p, struct manifest *m, struct error *err)
{
        AUTO_JSON json_t *live = NULL;
        int r = run_steps(p, m, may_be_there(p, m), &live, err);

        for (int tries = 1; r == LOOK_FIRST || r == MOVED; tries++) {
                json_decref(live); /* it may have been created, and the apply behind it was lost */
                live = NULL;
                m->unguarded = tries >= GUARDED_TRIES;
                r = run_steps(p, m, true, &live, err);
        }
        if (r < 0)
                return r;
        return m->reused ? 0 : judge(p, m, live, err);
}
