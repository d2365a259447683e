/* Puts the ValidatingAdmissionPolicies of a cluster to one write. */
#include "e2e/devcluster/admission.h"

#include "e2e/devcluster/internal.h"
#include "e2e/devcluster/meta.h"
#include "e2e/devcluster/policy_review.h"
#include "e2e/devcluster/webhook.h"

static void drop_document(void *doc)
{
        json_decref(doc);
}

int review_keep(struct request *rq, json_t *doc)
{
        return doc && arena_defer(rq->arena, drop_document, doc) == 0 ? 0 : request_fail_memory(rq);
}

int review_deny(struct policy_review *v, const char *reason, const char *message)
{
        if (!message)
                return request_fail_memory(v->rq);
        if (v->denial)
                return 0;
        /* The policy may be gone by the time the answer is written. */
        v->reason = reason ? arena_strdup(v->rq->arena, reason) : "Invalid";
        v->denial = message;
        return v->reason ? 0 : request_fail_memory(v->rq);
}

int review_misconfigured(struct policy_review *v, const struct policy *p, const struct policy_binding *b,
                         const char *why)
{
        struct arena *arena = v->rq->arena;
        if (p->ignores_failure)
                return 0;
        if (!b)
                return review_deny(
                        v, NULL,
                        arena_printf(arena,
                                     "ValidatingAdmissionPolicy '%s' denied request: failed to configure "
                                     "policy: %s",
                                     p->name, why));
        return review_deny(
                v, NULL,
                arena_printf(arena,
                             "ValidatingAdmissionPolicy '%s' with binding '%s' denied request: failed to "
                             "configure binding: %s",
                             p->name, b->name, why));
}

int review_read_namespace(struct policy_review *v)
{
        struct blob *b;
        json_t *doc = NULL;
        if (v->ns_read || !*v->target.ns || strcmp(v->target.plural, "namespaces") == 0)
                return 0;
        v->ns_read = true;
        b = api_store_get(api_store_table(v->rq->cluster, "/namespaces", false), "", v->target.ns);
        if (!b)
                return 0;
        if (blob_parse(b, &doc, NULL) < 0)
                return request_fail_memory(v->rq);
        v->ns_doc = doc;
        return review_keep(v->rq, doc);
}

/* ---- which policies ---- */

static const json_t *labels_of(const json_t *doc)
{
        return doc_get_object(doc, "metadata.labels");
}

/* Either state of the object will do. */
static bool object_matches(const struct policy_review *v, const json_t *selector)
{
        if (json_object_size(selector) == 0)
                return true;
        return (v->doc && policy_match_labels(selector, labels_of(v->doc))) ||
               (v->live && policy_match_labels(selector, labels_of(v->live)));
}

/* Namespaces count by their own labels; what is in no namespace always matches. */
static int namespace_matches(struct policy_review *v, const json_t *selector, bool *ret)
{
        *ret = true;
        if (json_object_size(selector) == 0 || !*v->target.ns)
                return 0;
        if (strcmp(v->target.plural, "namespaces") == 0) {
                *ret = policy_match_labels(selector, labels_of(v->doc ? v->doc : v->live));
                return 0;
        }
        TRY(review_read_namespace(v));
        *ret = policy_match_labels(selector, labels_of(v->ns_doc));
        return 0;
}

int review_matches(struct policy_review *v, const struct policy_match *m, const char **ret_version, bool *ret)
{
        *ret = policy_match_rules(m, &v->target, v->rq->resource, ret_version);
        if (*ret)
                *ret = object_matches(v, m->object_selector);
        return *ret ? namespace_matches(v, m->ns_selector, ret) : 0;
}

static int review_policy(struct policy_review *v, const struct policy *p)
{
        struct request of;
        const char *version, *unused;
        bool concerned = false, known = false;
        TRY(review_matches(v, &p->match, &version, &concerned));
        if (!concerned)
                return 0;
        if (p->param_kind && !(known = review_find_param_kind(v, p, &of))) {
                const char *why = arena_printf(
                        v->rq->arena, "failed to find resource referenced by paramKind: '%s, Kind=%s'",
                        p->param_version, p->param_kind);
                return why ? review_misconfigured(v, p, NULL, why) : request_fail_memory(v->rq);
        }
        for (const struct policy_binding *b = p->bindings; b; b = b->next) {
                TRY(review_matches(v, &b->match, &unused, &concerned));
                if (!concerned)
                        continue;
                TRY(known && b->param_ref ? review_try_params(v, p, b, version, &of)
                                          : review_try(v, p, b, version, NULL));
        }
        return 0;
}

/* ---- the answer ---- */

static int code_of(const char *reason)
{
        static const struct {
                const char *reason;
                int code;
        } codes[] = { { "Forbidden", 403 }, { "Unauthorized", 401 }, { "RequestEntityTooLarge", 413 } };
        for (size_t i = 0; i < ARRAY_LEN(codes); i++)
                if (strcmp(codes[i].reason, reason) == 0)
                        return codes[i].code;
        return 422;
}

static int fail_denied(struct policy_review *v)
{
        struct request *rq = v->rq;
        const char *name = *v->target.name ? v->target.name : v->doc ? meta_name(v->doc) : "Unknown";
        struct status_cause *cause = ARENA_NEW(rq->arena, struct status_cause);
        if (!cause)
                return request_fail_memory(rq);
        int r = request_fail_forbidden(rq, name, "%s", v->denial);
        cause->message = v->denial;
        rq->status.causes = cause;
        rq->status.n_causes = 1;
        rq->status.reason = v->reason;
        rq->status.code = code_of(v->reason);
        return r;
}

/* ---- who is never asked about ---- */

/* Policies do not judge policies: nobody could lock himself out for good. */
static bool is_exempt(const struct request *rq)
{
        return strcmp(rq->resource->group, "admissionregistration.k8s.io") == 0 &&
               strstr(rq->resource->plural, "admissionpolic") != NULL;
}

static const char *name_of(const struct request *rq, const json_t *doc)
{
        if (text_equal(rq->verb, "deletecollection") || rq->name_generated)
                return "";
        return rq->name ? rq->name : doc ? meta_name(doc) : "";
}

void review_init(struct policy_review *v, struct request *rq, const char *operation,
                 const struct admission_kind *as, const json_t *live, const json_t *doc)
{
        *v = (struct policy_review){ .rq = rq, .as = as, .live = live, .doc = doc };
        v->target = (struct policy_target){ .operation = operation,
                                            .group = rq->resource->group,
                                            .version = rq->version,
                                            .plural = rq->resource->plural,
                                            .subresource = rq->subresource ? rq->subresource : "",
                                            .ns = rq->ns ? rq->ns : "",
                                            .name = name_of(rq, doc) };
        if (strcmp(rq->resource->table_key, "/namespaces") == 0)
                v->target.ns = v->target.name;
        review_init_authorizer(v);
}

static int review_policies(struct request *rq, const char *operation, const struct admission_kind *as,
                           const json_t *live, const json_t *doc)
{
        const struct policies *policies;
        struct policy_review v;
        if (policies_of(rq->cluster, &policies) < 0)
                return request_fail_memory(rq);
        if (!policies || is_exempt(rq))
                return 0;
        review_init(&v, rq, operation, as, live, doc);
        for (size_t i = 0; i < policies->n; i++)
                TRY(review_policy(&v, &policies->at[i]));
        return v.denial ? fail_denied(&v) : 0;
}

int admission_review(struct request *rq, const char *operation, const struct admission_kind *as,
                     const json_t *live, const json_t *doc)
{
        TRY(review_policies(rq, operation, as, live, doc));
        return webhooks_validate(rq, operation, as, live, doc);
}

/* ---- whether anybody is asked at all ---- */

static bool policies_have_rule(struct request *rq, const struct policy_target *target, bool *ret)
{
        const struct policies *all;
        const char *unused;
        *ret = false;
        if (policies_of(rq->cluster, &all) < 0)
                return false;
        for (size_t i = 0; all && i < all->n && !*ret; i++)
                *ret = policy_match_rules(&all->at[i].match, target, rq->resource, &unused);
        return true;
}

static bool any_webhook_has_rule(struct request *rq, const struct policy_target *target,
                                 const struct webhook *at, size_t n)
{
        const char *unused;
        for (size_t i = 0; i < n; i++)
                if (policy_match_rules(&at[i].of.match, target, rq->resource, &unused))
                        return true;
        return false;
}

bool admission_is_silent(struct request *rq, const char *operation)
{
        struct policy_review v;
        struct webhooks *all = NULL;
        bool asked;
        review_init(&v, rq, operation, NULL, NULL, NULL);
        if (!policies_have_rule(rq, &v.target, &asked) || asked || webhooks_of(rq->cluster, &all) < 0)
                return false;
        asked = all && (any_webhook_has_rule(rq, &v.target, all->mutating, all->n_mutating) ||
                        any_webhook_has_rule(rq, &v.target, all->validating, all->n_validating));
        webhooks_unref(all);
        return !asked;
}
