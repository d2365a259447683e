/* Policies as annotations tell them. */
#include "hub-agent/manifest-generation/update/policy.h"

#include "hub-agent/manifest-generation/update/words.h"

/* In the order in which they count. */
static const struct {
        const char *prefix;
        const char *name; /* what the rest of the key follows in the policy's name */
} spellings[] = {
        { "fluxcd.io/", "" },
        { "flux.weave.works/", "" },
        { "filter.fluxcd.io/", POLICY_TAG_PREFIX },
};

/* What a policy's annotation is called under one of the prefixes; NULL: it has no name there. */
static int spell(struct arena *arena, size_t spelling, const char *policy, const char **ret)
{
        const char *name = spellings[spelling].name;

        *ret = NULL;
        if (!text_starts_with(policy, name))
                return 0;
        *ret = arena_printf(arena, "%s%s", spellings[spelling].prefix, policy + strlen(name));
        return *ret ? 0 : ERR_NO_MEMORY;
}

struct reading {
        struct arena *arena;
        struct sync_policy *at;
        size_t n;
        const char *problem;
};

static bool is_there(const struct reading *r, const char *name)
{
        for (size_t i = 0; i < r->n; i++)
                if (strcmp(r->at[i].name, name) == 0)
                        return true;
        return false;
}

static int take(struct reading *r, size_t spelling, const char *annotation, const json_t *value)
{
        const char *rest = annotation + strlen(spellings[spelling].prefix);
        const char *name = arena_printf(r->arena, "%s%s", spellings[spelling].name, rest);

        if (!name)
                return ERR_NO_MEMORY;
        if (!json_is_string(value)) {
                r->problem = arena_printf(r->arena, "annotation %s must be a string: it is taken as absent",
                                          annotation);
                return r->problem ? 0 : ERR_NO_MEMORY;
        }
        if (!is_there(r, name))
                r->at[r->n++] = (struct sync_policy){ name, json_string_value(value), annotation };
        return 0;
}

static bool is_spelled(const char *annotation, size_t spelling)
{
        const char *prefix = spellings[spelling].prefix;

        return text_starts_with(annotation, prefix) && annotation[strlen(prefix)];
}

static size_t count_spelled(json_t *annotations)
{
        const char *key;
        json_t *value;
        size_t n = 0;

        json_object_foreach(annotations, key, value)
                for (size_t i = 0; i < ARRAY_LEN(spellings); i++)
                        n += is_spelled(key, i);
        return n;
}

static int by_name(const void *a, const void *b)
{
        const struct sync_policy *x = a, *y = b;

        return strcmp(x->name, y->name);
}

int policy_set_read(struct arena *arena, const json_t *object, struct policy_set *ret, struct error *err)
{
        json_t *annotations = doc_get_object(object, "metadata.annotations"), *value;
        struct reading r = { .arena = arena };
        size_t most = count_spelled(annotations);
        const char *key;

        if (most > POLICIES_MAX)
                return error_set(err, ERR_LIMIT, "%zu annotations are policies, more than %d", most,
                                 POLICIES_MAX);
        r.at = ARENA_NEW_ARRAY(arena, struct sync_policy, most + 1);
        if (!r.at)
                return error_no_memory(err);
        for (size_t i = 0; i < ARRAY_LEN(spellings); i++)
                json_object_foreach(annotations, key, value)
                        if (is_spelled(key, i) && take(&r, i, key, value) < 0)
                                return error_no_memory(err);
        qsort(r.at, r.n, sizeof(*r.at), by_name);
        *ret = (struct policy_set){ r.at, r.n, r.problem };
        return 0;
}

const struct sync_policy *policy_set_find(const struct policy_set *s, const char *name)
{
        for (size_t i = 0; i < s->n; i++)
                if (strcmp(s->at[i].name, name) == 0)
                        return &s->at[i];
        return NULL;
}

bool policy_set_is(const struct policy_set *s, const char *name)
{
        const struct sync_policy *p = policy_set_find(s, name);

        return p && strcmp(p->value, "true") == 0;
}

int policy_set_pattern(struct arena *arena, const struct policy_set *s, const char *container,
                       const struct tag_pattern **ret, struct error *err)
{
        const char *name = arena_printf(arena, POLICY_TAG_PREFIX "%s", container);
        const struct sync_policy *p;

        if (!name)
                return error_no_memory(err);
        *ret = &tag_pattern_any;
        p = policy_set_find(s, name);
        return p ? tag_pattern_parse(arena, p->value, ret, err) : 0;
}

/* ---- what has to change ---- */

struct planning {
        struct arena *arena;
        const struct policy_set *have;
        struct annotation_change *at;
        size_t n, cap;
        struct error *err;
};

static int add_change(struct planning *p, struct annotation_change change)
{
        struct annotation_change *at = words_grow(p->arena, p->at, p->n, &p->cap, sizeof(*at));

        if (!at)
                return error_no_memory(p->err);
        p->at = at;
        p->at[p->n++] = change;
        return 0;
}

/* The one that counts goes where it is, the others would count once it is gone: so all of them. */
static int plan_removal(struct planning *p, const char *policy, const json_t *annotations)
{
        for (size_t i = 0; i < ARRAY_LEN(spellings); i++) {
                const char *key;

                if (spell(p->arena, i, policy, &key) < 0)
                        return error_no_memory(p->err);
                if (key && json_object_get(annotations, key))
                        TRY(add_change(p, (struct annotation_change){ policy, key, NULL }));
        }
        return 0;
}

static int plan_one(struct planning *p, const char *policy, const char *value, const json_t *annotations)
{
        const struct sync_policy *now = policy_set_find(p->have, policy);
        const char *key;

        if (!value)
                return plan_removal(p, policy, annotations);
        if (now && strcmp(now->value, value) == 0)
                return 0;
        if (now)
                return add_change(p, (struct annotation_change){ policy, now->annotation, value });
        if (spell(p->arena, 0, policy, &key) < 0)
                return error_no_memory(p->err);
        return add_change(p, (struct annotation_change){ policy, key, value });
}

static bool is_named(const struct policy_changes *want, const char *policy)
{
        for (size_t i = 0; i < want->n; i++)
                if (strcmp(want->at[i].name, policy) == 0)
                        return true;
        return false;
}

static int plan_all_tags(struct planning *p, const char *pattern, const struct policy_target *t,
                         const struct policy_changes *want)
{
        bool any = !pattern || strcmp(pattern, "glob:*") == 0;

        for (size_t i = 0; i < t->n_containers; i++) {
                const char *policy = arena_printf(p->arena, POLICY_TAG_PREFIX "%s", t->containers[i]);

                if (!policy)
                        return error_no_memory(p->err);
                if (!is_named(want, policy))
                        TRY(plan_one(p, policy, any ? NULL : pattern, t->annotations));
        }
        return 0;
}

int policy_changes_plan(struct arena *arena, const struct policy_target *t, const struct policy_changes *want,
                        struct annotation_changes *ret, struct error *err)
{
        struct planning p = { .arena = arena, .have = t->have, .err = err };

        for (size_t i = 0; i < want->n; i++) {
                const struct policy_change *c = &want->at[i];

                TRY(strcmp(c->name, POLICY_TAG_ALL) == 0 ? plan_all_tags(&p, c->value, t, want)
                                                         : plan_one(&p, c->name, c->value, t->annotations));
        }
        *ret = (struct annotation_changes){ p.at, p.n };
        return 0;
}
