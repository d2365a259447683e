/* The objects that a binding gives to its policy as `params`. */
#include "e2e/devcluster/convert.h"
#include "e2e/devcluster/crd.h"
#include "e2e/devcluster/policy_review.h"

bool review_find_param_kind(struct policy_review *v, const struct policy *p, struct request *ret)
{
        struct slice version = slice_of(p->param_version), group = { "", 0 };
        if (strchr(p->param_version, '/'))
                (void)slice_cut(&version, '/', &group);
        *ret = *v->rq;
        ret->group = arena_strndup(v->rq->arena, group.data, group.len);
        ret->version = arena_strndup(v->rq->arena, version.data, version.len);
        if (!ret->group || !ret->version)
                return false;
        ret->resource = registry_find_kind(v->rq->cluster, ret->group, ret->version, p->param_kind);
        if (!ret->resource || resource_hold(ret->resource, v->rq->arena) < 0)
                return false;
        ret->resource_version = resource_find_version(ret->resource, ret->version);
        return ret->resource_version != NULL;
}

struct params {
        VEC(const json_t *) at;
};

static int take_param(struct request *of, const struct blob *b, const json_t *selector, struct params *all)
{
        struct error err = { 0 };
        json_t *doc = NULL;
        if (convert_blob(of, b, &doc, &err) < 0)
                return request_fail_error(of, &err);
        TRY(review_keep(of, doc));
        if (selector && !policy_match_labels(selector, doc_get_object(doc, "metadata.labels")))
                return 0;
        return vec_push(&all->at, doc) < 0 ? request_fail_memory(of) : 0;
}

static int collect_params(struct request *of, const char *ns, const json_t *ref, struct params *all)
{
        struct table *t = request_table(of, false);
        const char *name = doc_get_string(ref, "name");
        if (name) {
                const struct blob *b = api_store_get(t, ns, name);
                return b ? take_param(of, b, NULL, all) : 0;
        }
        for (size_t i = 0; t && i < t->items.n; i++)
                if (!ns || strcmp(blob_ns(t->items.at[i]), ns) == 0)
                        TRY(take_param(of, t->items.at[i], json_object_get(ref, "selector"), all));
        return 0;
}

/* *ret_ns NULL: a kind without namespaces. Answers what is wrong with the binding, or NULL. */
static const char *param_namespace(const struct policy_review *v, const struct request *of, const json_t *ref,
                                   const char **ret_ns)
{
        const char *named = doc_get_string(ref, "namespace");
        *ret_ns = NULL;
        if (!resource_is_namespaced(of->resource))
                return named ? "paramRef.namespace must not be provided for a cluster-scoped `paramKind`"
                             : NULL;
        *ret_ns = named ? named : v->target.ns;
        return **ret_ns ? NULL
                        : "cannot use namespaced paramRef in policy binding that matches cluster-scoped "
                          "resources";
}

int review_try_params(struct policy_review *v, const struct policy *p, const struct policy_binding *b,
                      const char *version, struct request *of)
{
        struct params all = { 0 };
        const char *ns, *wrong = param_namespace(v, of, b->param_ref, &ns);
        if (wrong)
                return review_misconfigured(v, p, b, wrong);
        int r = collect_params(of, ns, b->param_ref, &all);
        if (r < 0)
                v->rq->status = of->status;
        for (size_t i = 0; r == 0 && i < all.at.n; i++)
                r = review_try(v, p, b, version, all.at.at[i]);
        if (r == 0 && all.at.n == 0 &&
            text_equal(doc_get_string(b->param_ref, "parameterNotFoundAction"), "Deny"))
                r = review_misconfigured(
                        v, p, b, "no params found for policy binding with `Deny` parameterNotFoundAction");
        vec_free(&all.at);
        return r;
}
