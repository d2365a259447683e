/* The steps for one object of a Work: find, take over, compare, apply. */
#include "member-agent/apply/steps.h"

#include "member-agent/apply/archived.h"
#include "member-agent/apply/clean.h"
#include "member-agent/apply/prepare.h"
#include "proto/names.h"

static bool is_fatal(int code)
{
        return code == ERR_NO_MEMORY || code == ERR_CANCELLED;
}

static struct kube_write as_applier(const struct object_steps *s)
{
        return (struct kube_write){ .field_manager = FIELD_MANAGER_WORK_APPLIER, .dry_run = s->dry_run };
}

static int decide(struct object_steps *s, struct manifest *m, enum result result, const char *lead,
                  const struct error *why, struct error *err)
{
        if (why && is_fatal(why->code)) {
                if (err)
                        *err = *why;
                return why->code;
        }
        if (manifest_fail(m, s->arena, result, lead, why) < 0)
                return error_no_memory(err);
        return OBJECT_DECIDED;
}

/* ---- looking ---- */

int object_find(struct object_steps *s, struct manifest *m, json_t **ret, struct error *err)
{
        struct error why = { 0 };
        int r = kube_doc_get(s->objects, &m->resource, m->ns, m->name, ret, &why);

        if (r == 0 || r == ERR_NOT_FOUND)
                return 0;
        return decide(
                s, m, RESULT_FAILED_TO_FIND,
                "failed to find the corresponding object for the manifest object in the member cluster: ",
                &why, err);
}

/* What the server would make of the manifest, as the source of a partial comparison. */
static int dry_run(struct object_steps *s, const struct manifest *m, const json_t *source, json_t **ret,
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
        return kube_doc_patch(s->objects, &m->resource, m->ns, m->name, KUBE_PATCH_APPLY, body, &write, ret,
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

static int compare(struct object_steps *s, struct manifest *m, const json_t *live, struct differences **ret,
                   struct error *why)
{
        AUTO_JSON json_t *wanted = NULL, *ruled = NULL;
        struct differences *found = ARENA_NEW(s->arena, struct differences);
        const json_t *source;
        int r;

        if (!found)
                return error_no_memory(why);
        TRY(leave_to_cluster(m, live, &ruled, why));
        source = ruled ? ruled : m->doc;
        if (!s->strategy->full_comparison) {
                r = dry_run(s, m, source, &wanted, why);
                m->degraded = r < 0 && why->http_status == 422;
                if (r < 0 && !m->degraded)
                        return r;
                error_clear(why);
        }
        TRY(compare_documents(wanted ? wanted : source, live, s->arena, found, why));
        *ret = found->total ? found : NULL;
        return 0;
}

/* ---- taking over: spec/member-agent.md 2.7 ---- */

/* *live is what the server answered. Of a dry run it kept nothing, so whose the fields are is as it was. */
static int take_answer(struct object_steps *s, json_t *taken, json_t **live, struct error *why)
{
        AUTO_JSON json_t *before = *live;
        json_t *managers = doc_get_array(before, "metadata.managedFields");

        s->taken = true;
        *live = taken;
        return s->dry_run && managers && doc_set(taken, "metadata.managedFields", json_incref(managers)) < 0
                       ? error_no_memory(why)
                       : 0;
}

static int add_our_reference(struct object_steps *s, struct manifest *m, json_t *remaining, json_t **live,
                             struct error *why)
{
        const struct kube_write write = as_applier(s);
        json_t *reference = owner_reference_new(s->owner), *updated = NULL;
        const char *version = doc_get_string(*live, "metadata.resourceVersion");
        AUTO_JSON json_t *patch = NULL;

        if (json_array_append_new(remaining, reference) < 0)
                return error_no_memory(why);
        patch = json_pack("{s:{s:s, s:O}}", "metadata", "resourceVersion", version ? version : "",
                          "ownerReferences", remaining);
        if (!patch)
                return error_no_memory(why);
        TRY(kube_doc_patch(s->objects, &m->resource, m->ns, m->name, KUBE_PATCH_MERGE, patch, &write,
                           &updated, why));
        return take_answer(s, updated, live, why);
}

static int refuse_difference(struct object_steps *s, struct manifest *m, struct differences *found,
                             struct error *err)
{
        m->diffs = found;
        return decide(
                s, m, RESULT_FAILED_TO_TAKE_OVER,
                m->degraded
                        ? "cannot take over object: configuration differences are found between the manifest "
                          "object and the corresponding object in the member cluster in degraded mode (full "
                          "comparison is performed instead of partial comparison, as the manifest object is "
                          "considered to be invalid by the member cluster API server)"
                        : "cannot take over object: configuration differences are found between the manifest "
                          "object and the corresponding object in the member cluster",
                NULL, err);
}

static int take_over(struct object_steps *s, struct manifest *m, json_t **live, struct error *err)
{
        static const char lead[] = "failed to take over a pre-existing object: ";
        AUTO_JSON json_t *remaining = NULL;
        struct differences *found = NULL;
        struct error why = { 0 };

        if (!*live || s->strategy->take_over == TAKING_NEVER || owner_find(*live, s->owner))
                return 0;
        if (owner_remaining(*live, s->owner, s->is_orphan, s->ctx, &remaining, &why) < 0 ||
            owner_may_take_over(remaining, s->owner, s->strategy->allow_co_ownership, &why) < 0)
                return decide(s, m, RESULT_FAILED_TO_TAKE_OVER, lead, &why, err);
        if (s->strategy->take_over == TAKING_IF_NO_DIFF) {
                if (compare(s, m, *live, &found, &why) < 0)
                        return decide(s, m, RESULT_FAILED_TO_TAKE_OVER, lead, &why, err);
                if (found)
                        return refuse_difference(s, m, found, err);
        }
        if (add_our_reference(s, m, remaining, live, &why) < 0)
                return decide(s, m, RESULT_FAILED_TO_TAKE_OVER, lead, &why, err);
        return 0;
}

/* ---- taking over from another Work: handover.h ---- */

int object_swap_owners(struct kube_client *k, const struct kube_resource *r, const char *ns,
                       const json_t *live, const char *const *uids, size_t n, const struct owner *to,
                       bool dry_run, json_t **ret, struct error *err)
{
        const struct kube_write write = { .dry_run = dry_run };
        AUTO_JSON json_t *references = NULL;
        AUTO_JSON json_t *patch = NULL;

        TRY(owner_swapped(live, uids, n, to, &references, err));
        patch = owner_patch(live, references);
        if (!patch)
                return error_no_memory(err);
        return kube_doc_patch(k, r, ns, doc_get_string(live, "metadata.name"), KUBE_PATCH_MERGE, patch,
                              &write, ret, err);
}

/* Puts our reference in the place of those of Works that let go of the object. */
static int swap_with_holders(struct object_steps *s, struct manifest *m, json_t **live, struct error *why)
{
        const json_t *references = doc_get_array(*live, "metadata.ownerReferences");
        const char **uids = ARENA_NEW_ARRAY(s->arena, const char *, json_array_size(references) + 1);
        json_t *reference, *updated = NULL;
        size_t i, n = 0;

        if (!uids)
                return error_no_memory(why);
        json_array_foreach(references, i, reference) {
                const char *name = json_string_value(json_object_get(reference, "name"));
                enum handover_claim claim = CLAIM_NONE;

                if (owner_is_applied_work(reference) && name)
                        TRY(s->claim(s->ctx, m, name, &claim, why));
                if (claim == CLAIM_TAKE)
                        uids[n++] = json_string_value(json_object_get(reference, "uid"));
                s->waits_for_sibling |= claim == CLAIM_WAIT;
        }
        if (n == 0)
                return 0;
        if (object_swap_owners(s->own, &m->resource, m->ns, *live, uids, n, s->owner, s->dry_run, &updated,
                               why) < 0) {
                s->waits_for_sibling |= why->code == ERR_CONFLICT; /* the holder may have been first */
                return why->code;
        }
        return take_answer(s, updated, live, why);
}

/* What a Work of the same placement has applied is not pre-existing: it is handed over, whatever is said
 * about taking over. */
static int receive(struct object_steps *s, struct manifest *m, json_t **live, struct error *err)
{
        struct error why = { 0 };

        if (!*live || !s->claim || owner_find(*live, s->owner) || swap_with_holders(s, m, live, &why) == 0)
                return 0;
        return decide(s, m, RESULT_FAILED_TO_TAKE_OVER, "failed to take over from another Work: ", &why, err);
}

/* ---- reporting differences: 2.8 ---- */

static int report_missing(struct object_steps *s, struct manifest *m, struct error *err)
{
        struct differences *d = ARENA_NEW(s->arena, struct differences);

        if (!d)
                return error_no_memory(err);
        d->at[0] = (struct difference){ "/", "(the whole object)", "" };
        d->n = d->total = 1;
        m->diffs = d;
        m->result = RESULT_FOUND_DIFF;
        return OBJECT_DECIDED;
}

static int report_diff(struct object_steps *s, struct manifest *m, const json_t *live, struct error *err)
{
        struct error why = { 0 };

        if (s->strategy->type != STRATEGY_REPORT_DIFF)
                return 0;
        if (!live)
                return report_missing(s, m, err);
        if (compare(s, m, live, &m->diffs, &why) < 0)
                return decide(s, m, RESULT_FAILED_TO_REPORT_DIFF, "", &why, err);
        m->result = !m->diffs ? RESULT_NO_DIFF : m->degraded ? RESULT_FOUND_DIFF_DEGRADED : RESULT_FOUND_DIFF;
        return OBJECT_DECIDED;
}

/* ---- drift: 2.9 ---- */

static int drift_before(struct object_steps *s, struct manifest *m, const json_t *live, struct error *err)
{
        struct error why = { 0 };

        if (!s->strategy->only_if_not_drifted || !live ||
            !text_equal(clean_annotation(live, ANNOTATION_SPEC_HASH), m->hash))
                return 0;
        if (compare(s, m, live, &m->drifts, &why) < 0)
                return decide(s, m, RESULT_FAILED_DRIFT_DETECTION,
                              "failed to calculate pre-apply drifts between the manifest and the object from "
                              "the member "
                              "cluster: ",
                              &why, err);
        if (!m->drifts)
                return 0;
        return decide(
                s, m, m->degraded ? RESULT_FOUND_DRIFTS_DEGRADED : RESULT_FOUND_DRIFTS,
                m->degraded
                        ? "cannot apply manifest: drifts are found in degraded mode between the manifest and "
                          "the object from the member cluster"
                        : "cannot apply manifest: drifts are found between the manifest and the object from "
                          "the member cluster",
                NULL, err);
}

static int drift_after(struct object_steps *s, struct manifest *m, const json_t *live, struct error *err)
{
        struct error why = { 0 };

        m->result = RESULT_APPLIED;
        if (!s->strategy->full_comparison)
                return 0;
        if (compare(s, m, live, &m->drifts, &why) < 0)
                return decide(s, m, RESULT_APPLIED_DRIFT_DETECTION_FAILED,
                              "failed to calculate post-apply drifts between the manifest and the object "
                              "from the member "
                              "cluster: ",
                              &why, err);
        return 0;
}

/* ---- applying: 2.10 ---- */

#define ADOPTION_TRIES 3

static int read_again(struct object_steps *s, struct manifest *m, json_t **live, struct error *why)
{
        json_t *now = NULL;

        error_clear(why);
        TRY(kube_doc_get(s->objects, &m->resource, m->ns, m->name, &now, why));
        json_decref(*live);
        *live = now;
        return owner_check_before_apply(m->doc, now, s->owner, s->strategy->allow_co_ownership, why);
}

static int adopt_fields(struct object_steps *s, struct manifest *m, const struct prepared *prepared,
                        json_t **live, struct error *why)
{
        const struct kube_write write = as_applier(s);
        int r = ERR_CONFLICT;

        for (int try = 0; r == ERR_CONFLICT && try < ADOPTION_TRIES; try++) {
                AUTO_JSON json_t *patch = NULL;
                json_t *updated = NULL;

                if (try > 0)
                        TRY(read_again(s, m, live, why));
                TRY(prepare_adoption(prepared, *live, m->hash, s->strategy, &patch, why));
                if (!patch)
                        return 0;
                s->adopted = true;
                r = kube_doc_patch(s->objects, &m->resource, m->ns, m->name, KUBE_PATCH_MERGE, patch, &write,
                                   &updated, why);
                if (r < 0)
                        continue;
                json_decref(*live);
                *live = updated;
        }
        return r;
}

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

/* Whether all managers that a refused apply names are we. */
static bool conflicts_with_us_alone(const struct error *why)
{
        static const char lead[] = "with \"", us[] = FIELD_MANAGER_WORK_APPLIER "\"";
        const char *at = why->text;

        if (why->code != ERR_CONFLICT || !strstr(at, lead))
                return false;
        while ((at = strstr(at, lead))) {
                at += strlen(lead);
                if (!text_starts_with(at, us))
                        return false;
        }
        return true;
}

static int send(struct object_steps *s, struct manifest *m, const struct apply_request *rq, json_t **ret,
                struct error *why)
{
        struct kube_write write = as_applier(s);
        int r;

        write.force = rq->force;
        r = kube_doc_patch(s->objects, &m->resource, m->ns, m->name, rq->patch_type, rq->body, &write, ret,
                           why);
        if (!s->dry_run || !s->adopted || !conflicts_with_us_alone(why))
                return r;
        error_clear(why); /* the server did not keep that adoption: with it there would be no such conflict */
        write.force = true;
        return kube_doc_patch(s->objects, &m->resource, m->ns, m->name, rq->patch_type, rq->body, &write, ret,
                              why);
}

static int change(struct object_steps *s, struct manifest *m, const struct prepared *prepared, json_t **live,
                  struct error *why)
{
        struct apply_request rq CLEANUP(apply_request_free) = { 0 };
        json_t *updated = NULL;
        int r;

        if (adopt_fields(s, m, prepared, live, why) < 0 ||
            ignore_rules_apply(&m->ignored, prepared->doc, *live, why) < 0 ||
            archived_settle(prepared->doc, *live, why) < 0 ||
            prepare_request(prepared, *live, m->group, m->kind, s->strategy, &rq, why) < 0)
                return error_wrap(why, "failed to patch the manifest object");
        if (rq.request == REQUEST_NOTHING)
                return 0;
        TRY(guard(m, *live, &rq, why));
        r = send(s, m, &rq, &updated, why);
        if (r == ERR_CONFLICT && is_difference(m, &rq) && !m->unguarded && !s->strategy->only_if_not_drifted)
                return OBJECT_MOVED;
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
static int create(struct object_steps *s, struct manifest *m, const struct prepared *prepared, json_t **live,
                  struct error *why)
{
        const struct kube_write write = as_applier(s);

        if (kube_doc_create(s->objects, &m->resource, m->ns, prepared->doc, &write, live, why) < 0)
                return error_wrap(why, "failed to create manifest object");
        return s->strategy->type == STRATEGY_SERVER_SIDE ? change(s, m, prepared, live, why) : 0;
}

static int apply(struct object_steps *s, struct manifest *m, bool looked, json_t **live, struct error *err)
{
        static const char lead[] = "failed to apply the manifest: ";
        struct prepared prepared CLEANUP(prepared_free) = { 0 };
        struct error why = { 0 };
        int r;

        if (*live && !owner_find(*live, s->owner))
                return decide(s, m, RESULT_NOT_TAKEN_OVER,
                              "no ownership of the object in the member cluster; takeover is needed", NULL,
                              err);
        r = drift_before(s, m, *live, err);
        if (r != 0)
                return r;
        r = owner_check_before_apply(m->doc, *live, s->owner, s->strategy->allow_co_ownership, &why);
        if (r < 0)
                error_wrap(&why, "failed to validate owner references");
        if (r == 0)
                r = prepare_manifest(m->doc, m->hash, s->owner, s->strategy->type, &prepared, &why);
        if (r == 0)
                r = *live ? change(s, m, &prepared, live, &why) : create(s, m, &prepared, live, &why);
        if (r < 0 && !looked && !is_fatal(r))
                return OBJECT_LOOK_FIRST;
        if (r < 0)
                return decide(s, m, RESULT_APPLY_FAILED, lead, &why, err);
        if (r == OBJECT_MOVED)
                return r;
        return drift_after(s, m, *live, err);
}

int object_bring_in_line(struct object_steps *s, struct manifest *m, bool looked, json_t **live,
                         struct error *err)
{
        int r;

        if ((r = receive(s, m, live, err)) != 0 || (r = take_over(s, m, live, err)) != 0 ||
            (r = report_diff(s, m, *live, err)) != 0)
                return r;
        return apply(s, m, looked, live, err);
}

/* ---- what the Work no longer lists ---- */

int object_let_go(struct kube_client *k, const struct kube_resource *r, const json_t *live,
                  const struct owner *o, enum leftover what, bool dry_run, struct error *err)
{
        const struct kube_write write = { .dry_run = dry_run };
        AUTO_JSON json_t *without = NULL;
        AUTO_JSON json_t *patch = NULL;

        if (what == LEFTOVER_REMOVED)
                return kube_doc_delete_read(k, r, live, NULL, dry_run, err);
        TRY(owner_without(live, o, &without, err));
        patch = owner_patch(without, doc_get(without, "metadata.ownerReferences"));
        if (!patch)
                return error_no_memory(err);
        return kube_doc_patch(k, r, doc_get_string(live, "metadata.namespace"),
                              doc_get_string(live, "metadata.name"), KUBE_PATCH_MERGE, patch, &write, NULL,
                              err);
}
