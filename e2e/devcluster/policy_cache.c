/* The policies of a cluster as they are kept, and their resources' hooks. */
#include "e2e/devcluster/builtin/defaults.h"
#include "e2e/devcluster/builtin_hooks.h"
#include "e2e/devcluster/internal.h"
#include "e2e/devcluster/policy.h"

#define POLICIES "admissionregistration.k8s.io/validatingadmissionpolicies"
#define BINDINGS "admissionregistration.k8s.io/validatingadmissionpolicybindings"

static void drop_document(void *doc)
{
        json_decref(doc);
}

/* The stored document, for as long as the arena lives. */
static int load(struct arena *arena, const struct blob *b, json_t **ret)
{
        TRY(blob_parse(b, ret, NULL));
        return arena_defer(arena, drop_document, *ret);
}

static struct policy *find(struct policies *all, const char *name)
{
        for (size_t i = 0; i < all->n; i++)
                if (strcmp(all->at[i].name, name) == 0)
                        return &all->at[i];
        return NULL;
}

static int read_policies(struct policies *all, const struct table *t)
{
        struct schema_problems ignored = { .arena = &all->arena }; /* it was checked when it was written */
        all->at = ARENA_NEW_ARRAY(&all->arena, struct policy, t->items.n);
        for (; all->at && all->n < t->items.n; all->n++) {
                json_t *doc = NULL;
                TRY(load(&all->arena, t->items.at[all->n], &doc));
                TRY(policy_compile(&all->arena, doc, &all->at[all->n], &ignored));
        }
        return all->at ? 0 : ERR_NO_MEMORY;
}

/* Backwards, so that each list is sorted by name. */
static int read_bindings(struct policies *all, const struct table *t)
{
        struct schema_problems ignored = { .arena = &all->arena };
        for (size_t i = t->items.n; i-- > 0;) {
                struct policy_binding *b = ARENA_NEW(&all->arena, struct policy_binding);
                json_t *doc = NULL;
                struct policy *policy;
                if (!b)
                        return ERR_NO_MEMORY;
                TRY(load(&all->arena, t->items.at[i], &doc));
                TRY(policy_binding_compile(&all->arena, doc, b, &ignored));
                policy = find(all, b->policy);
                if (!policy)
                        continue;
                b->next = policy->bindings;
                policy->bindings = b;
        }
        return 0;
}

static struct policies *policies_free(struct policies *all)
{
        if (all)
                arena_free(&all->arena);
        mem_free(all);
        return NULL;
}

void policies_forget(struct cluster *c)
{
        c->policies = policies_free(c->policies);
}

int policies_of(struct cluster *c, const struct policies **ret)
{
        const struct table *t = api_store_table(c, POLICIES, false), *b = api_store_table(c, BINDINGS, false);
        *ret = NULL;
        if (!t || !b || t->items.n == 0 || b->items.n == 0)
                return 0;
        if (!c->policies) {
                struct policies *all = NEW(struct policies);
                if (!all || read_policies(all, t) < 0 || read_bindings(all, b) < 0)
                        return policies_free(all), ERR_NO_MEMORY;
                c->policies = all;
        }
        *ret = c->policies;
        return 0;
}

/* ---- the resources ---- */

static int prepare(struct request *rq, const json_t *live, json_t *doc)
{
        if (builtin_set_defaults(rq->resource->group, rq->resource->kind, doc) < 0)
                return request_fail_memory(rq);
        return 0;
}

static int validate_policy(struct request *rq, const json_t *live, const json_t *doc,
                           struct schema_problems *p)
{
        struct policy unused;
        return rq->subresource ? 0 : policy_compile(rq->arena, doc, &unused, p);
}

static int validate_binding(struct request *rq, const json_t *live, const json_t *doc,
                            struct schema_problems *p)
{
        struct policy_binding unused;
        return policy_binding_compile(rq->arena, doc, &unused, p);
}

static void after_write(struct devcluster *d, struct cluster *c, const json_t *live, const json_t *doc)
{
        policies_forget(c);
}

const struct resource_hooks policy_hooks = {
        .prepare = prepare, .validate = validate_policy, .validates_all = true, .after_write = after_write
};
const struct resource_hooks policy_binding_hooks = {
        .prepare = prepare, .validate = validate_binding, .validates_all = true, .after_write = after_write
};
