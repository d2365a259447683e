/* Which webhooks a write is put to, in which order, and what becomes of their answers. */
#include "common/json/patch.h"
#include "e2e/devcluster/convert.h"
#include "e2e/devcluster/internal.h"
#include "e2e/devcluster/meta.h"
#include "e2e/devcluster/policy_review.h"
#include "e2e/devcluster/webhook.h"

/* ---- failing ---- */

/* A refusal that is no answer: 500 with the reason as its cause. */
static int fail_internal(struct request *rq, const char *why)
{
        struct status_cause *cause = ARENA_NEW(rq->arena, struct status_cause);
        if (!cause || !why)
                return request_fail_memory(rq);
        cause->message = why;
        int r = request_fail(rq, 500, "InternalError", "Internal error occurred: %s", why);
        rq->status.causes = cause;
        rq->status.n_causes = 1;
        return r;
}

static int fail_called(struct request *rq, const struct webhook *w, const char *why)
{
        return fail_internal(rq,
                             arena_printf(rq->arena, "failed calling webhook \"%s\": %s", w->of.name, why));
}

static const char *kept_text(struct request *rq, const json_t *doc, const char *path)
{
        const char *s = doc_get_string(doc, path);
        return text_empty(s) ? NULL : arena_strdup(rq->arena, s);
}

static int take_causes(struct request *rq, const json_t *list)
{
        size_t n = json_array_size(list), i;
        struct status_cause *causes = ARENA_NEW_ARRAY(rq->arena, struct status_cause, n + 1);
        json_t *c;
        if (!causes)
                return request_fail_memory(rq);
        json_array_foreach(list, i, c)
                causes[i] = (struct status_cause){ kept_text(rq, c, "reason"), kept_text(rq, c, "message"),
                                                   kept_text(rq, c, "field") };
        rq->status.causes = causes;
        rq->status.n_causes = n;
        return 0;
}

/* The webhook's Status, with the webhook's name before its words. */
static int fail_denied(struct request *rq, const struct webhook *w, const json_t *status)
{
        const char *message = kept_text(rq, status, "message"), *reason = kept_text(rq, status, "reason");
        const char *said = message ? message : reason;
        int64_t code = doc_get_int(status, "code", 400);
        (void)request_fail(rq, code < 400 || code > 599 ? 400 : (int)code, reason,
                           "admission webhook \"%s\" denied the request%s%s", w->of.name, said ? ": " : " ",
                           said ? said : "without explanation");
        rq->status.name = kept_text(rq, status, "details.name");
        rq->status.group = kept_text(rq, status, "details.group");
        rq->status.kind = kept_text(rq, status, "details.kind");
        rq->status.uid = kept_text(rq, status, "details.uid");
        rq->status.retry_after_seconds = (int)doc_get_int(status, "details.retryAfterSeconds", 0);
        TRY(take_causes(rq, doc_get_array(status, "details.causes")));
        return ERR_FORBIDDEN;
}

/* ---- whom it concerns ---- */

static int check_conditions(struct policy_review *v, const struct webhook *w, const char *version, bool *ret)
{
        const char *why = NULL;
        struct cel_scope *scope = cel_scope_new(POLICY_BUDGET);
        int r = scope ? review_fill_scope(v, scope, version, NULL) : request_fail_memory(v->rq);
        if (r == 0 && cel_scope_set_authorizer(scope, &v->authorizer) < 0)
                r = request_fail_memory(v->rq);
        if (r == 0)
                r = review_conditions(v, scope, &w->of, ret, &why);
        cel_scope_free(scope);
        if (r == 0 && why && !w->of.ignores_failure)
                return request_fail_forbidden(v->rq, v->target.name, "%s", why);
        return r;
}

static int concerns(struct policy_review *v, const struct webhook *w, const char **ret_version, bool *ret)
{
        *ret = false;
        if (w->of.match.n_rules == 0)
                return 0;
        TRY(review_matches(v, &w->of.match, ret_version, ret));
        return *ret && w->of.n_conditions ? check_conditions(v, w, *ret_version, ret) : 0;
}

/* ---- asking ---- */

/* *ret_patch (new) is what a mutating webhook wants changed, NULL if nothing. */
static int ask(struct policy_review *v, const struct webhook *w, const char *version, json_t **ret_patch)
{
        CLEANUP(webhook_answer_free) struct webhook_answer a = { 0 };
        struct request *rq = v->rq;
        *ret_patch = NULL;
        if (rq->dry_run && w->affects_dry_run)
                return request_fail_bad(rq, "admission webhook \"%s\" does not support dry run", w->of.name);
        TRY(webhook_call(v, w, version, &a));
        if (a.refusal)
                return w->of.ignores_failure ? 0 : fail_called(rq, w, a.refusal);
        if (!a.allowed)
                return fail_denied(rq, w, a.status);
        if (json_array_size(a.patch) == 0)
                return 0;
        if (!v->doc)
                return fail_internal(rq, arena_printf(rq->arena,
                                                      "admission webhook \"%s\" attempted to modify the "
                                                      "object, which is not supported for this operation",
                                                      w->of.name));
        *ret_patch = TAKE_PTR(a.patch);
        return 0;
}

/* ---- mutating ---- */

struct mutation {
        struct policy_review review;
        json_t *doc;
        const struct webhook_settling *settling;
        struct webhooks *all;
        bool *invoked, *due; /* by webhook: asked already and to be asked again; is to be */
        bool changed;
};

/* What the server owns is not for webhooks. */
static int keep_owned(json_t *changed, const json_t *doc)
{
        static const char *const owned[] = { "name",         "namespace",
                                             "uid",          "creationTimestamp",
                                             "generation",   "resourceVersion",
                                             "selfLink",     "deletionTimestamp",
                                             "managedFields" };
        json_t *to = json_object_get(changed, "metadata"), *from = json_object_get(doc, "metadata");
        if (!json_is_object(to))
                return ERR_INVALID;
        for (size_t i = 0; i < ARRAY_LEN(owned); i++) {
                json_t *value = json_object_get(from, owned[i]);
                json_object_del(to, owned[i]);
                if (value && json_object_set(to, owned[i], value) < 0)
                        return ERR_NO_MEMORY;
        }
        return 0;
}

/* The patch is of the document in the version that the rules name. */
static int patched(struct mutation *m, const char *version, const json_t *patch, json_t **ret)
{
        struct request *rq = m->review.rq;
        const json_t *sent;
        struct error err = { 0 };
        AUTO_JSON json_t *changed = NULL;
        TRY(review_in_version(&m->review, version, m->doc, &sent));
        int r = patch_json_lenient(sent, patch, &changed, &err);
        if (r == ERR_NO_MEMORY)
                return request_fail_memory(rq);
        if (r < 0)
                return fail_internal(rq, arena_strdup(rq->arena, err.text));
        if (sent == m->doc) {
                *ret = TAKE_PTR(changed);
                return 0;
        }
        return convert_copy(rq, rq->resource_version, changed, ret, &err) < 0 ? request_fail_error(rq, &err)
                                                                              : 0;
}

static int take_patch(struct mutation *m, const char *version, const json_t *patch)
{
        struct request *rq = m->review.rq;
        AUTO_JSON json_t *changed = NULL, *before = NULL;
        TRY(patched(m, version, patch, &changed));
        int r = m->review.as ? 0 : keep_owned(changed, m->doc);
        if (r == ERR_INVALID)
                return fail_internal(rq, "the patched object has no metadata");
        if (r < 0 || !(before = doc_copy(m->doc)) || json_object_clear(m->doc) < 0 ||
            json_object_update(m->doc, changed) < 0)
                return request_fail_memory(rq);
        if (m->settling && m->settling->normalise)
                TRY(m->settling->normalise(rq, m->review.live, m->doc));
        if (doc_equal(before, m->doc))
                return 0;
        m->changed = true;
        for (size_t i = 0; i < m->all->n_mutating; i++)
                m->due[i] |= m->invoked[i];
        return 0;
}

static int mutate_once(struct mutation *m, bool again)
{
        for (size_t i = 0; i < m->all->n_mutating; i++) {
                const struct webhook *w = &m->all->mutating[i];
                AUTO_JSON json_t *patch = NULL;
                const char *version;
                bool concerned;
                if (again && !m->due[i])
                        continue;
                m->due[i] = false;
                TRY(concerns(&m->review, w, &version, &concerned));
                if (!concerned)
                        continue;
                TRY(ask(&m->review, w, version, &patch));
                if (patch)
                        TRY(take_patch(m, version, patch));
                m->invoked[i] = w->reinvoked;
        }
        return 0;
}

/* The server's plugins work on what webhooks made of it, and webhooks that want to know are asked once
 * more. */
static int mutate(struct mutation *m)
{
        struct request *rq = m->review.rq;
        AUTO_JSON json_t *before = NULL;
        TRY(mutate_once(m, false));
        if (!m->changed)
                return 0;
        if (m->settling && m->settling->complete) {
                before = doc_copy(m->doc);
                if (!before)
                        return request_fail_memory(rq);
                TRY(m->settling->complete(rq, m->doc));
                for (size_t i = 0; i < m->all->n_mutating && !doc_equal(before, m->doc); i++)
                        m->due[i] |= m->invoked[i];
        }
        return mutate_once(m, true);
}

/* ---- both ---- */

/* Webhooks judge neither webhooks nor policies: nobody could lock himself out for good. An eviction was
 * judged before it deletes. */
static bool is_exempt(const struct request *rq, const char *operation)
{
        return !rq->x || strcmp(rq->resource->group, "admissionregistration.k8s.io") == 0 ||
               (strcmp(operation, "DELETE") == 0 && rq->subresource);
}

static int start(struct request *rq, const char *operation, struct webhooks **ret)
{
        *ret = NULL;
        if (is_exempt(rq, operation))
                return 0;
        return webhooks_of(rq->cluster, ret) < 0 ? request_fail_memory(rq) : 0;
}

int webhooks_mutate(struct request *rq, const char *operation, const struct admission_kind *as,
                    const json_t *live, json_t *doc, const struct webhook_settling *settling)
{
        struct mutation m = { .doc = doc, .settling = settling };
        TRY(start(rq, operation, &m.all));
        if (!m.all || m.all->n_mutating == 0)
                return webhooks_unref(m.all), 0;
        review_init(&m.review, rq, operation, as, live, doc);
        m.invoked = ARENA_NEW_ARRAY(rq->arena, bool, m.all->n_mutating);
        m.due = ARENA_NEW_ARRAY(rq->arena, bool, m.all->n_mutating);
        int r = m.invoked && m.due ? mutate(&m) : request_fail_memory(rq);
        webhooks_unref(m.all);
        return r;
}

static int validate_all(struct policy_review *v, const struct webhooks *all)
{
        for (size_t i = 0; i < all->n_validating; i++) {
                json_t *none = NULL; /* one that validates sends no patch */
                const char *version;
                bool concerned;
                TRY(concerns(v, &all->validating[i], &version, &concerned));
                if (concerned)
                        TRY(ask(v, &all->validating[i], version, &none));
        }
        return 0;
}

int webhooks_validate(struct request *rq, const char *operation, const struct admission_kind *as,
                      const json_t *live, const json_t *doc)
{
        struct webhooks *all;
        struct policy_review v;
        TRY(start(rq, operation, &all));
        if (!all || all->n_validating == 0)
                return webhooks_unref(all), 0;
        review_init(&v, rq, operation, as, live, doc);
        int r = validate_all(&v, all);
        webhooks_unref(all);
        return r;
}
