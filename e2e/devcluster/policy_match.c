/* Whether a policy or binding concerns a request. */
#include "e2e/devcluster/policy.h"

static bool lists(const char *const *words, const char *word)
{
        for (; *words; words++)
                if (strcmp(*words, word) == 0)
                        return true;
        return false;
}

static bool lists_or_any(const char *const *words, const char *word)
{
        return lists(words, "*") || lists(words, word);
}

/* "pods" is the resource alone, "pods/log" one subresource, "pods/" "*" all of it, "*" every resource. */
static bool resource_matches(const char *const *patterns, const struct policy_target *t)
{
        for (; *patterns; patterns++) {
                struct slice sub = slice_of(*patterns), name;
                (void)slice_cut(&sub, '/', &name);
                if ((slice_is(name, "*") || slice_is(name, t->plural)) &&
                    (slice_is(sub, "*") || slice_is(sub, t->subresource)))
                        return true;
        }
        return false;
}

/* A namespace is in itself, and is of the cluster nevertheless. */
static bool scope_matches(const char *scope, const struct policy_target *t)
{
        bool cluster = !*t->ns || strcmp(t->plural, "namespaces") == 0;
        return strcmp(scope, "*") == 0 || (strcmp(scope, "Cluster") == 0) == cluster;
}

static bool rule_matches(const struct policy_rule *r, const struct policy_target *t, const char *version)
{
        return lists_or_any(r->groups, t->group) && resource_matches(r->resources, t) &&
               lists_or_any(r->operations, t->operation) && lists_or_any(r->versions, version) &&
               scope_matches(r->scope, t) && (!r->names[0] || lists(r->names, t->name));
}

static bool any_rule_matches(const struct policy_rule *rules, size_t n, bool exact,
                             const struct policy_target *t, const struct resource *r,
                             const char **ret_version)
{
        for (size_t i = 0; i < n; i++)
                if (rule_matches(&rules[i], t, t->version)) {
                        *ret_version = t->version;
                        return true;
                }
        for (size_t i = 0; i < n && !exact; i++)
                for (size_t k = 0; k < r->n_versions; k++)
                        if (r->versions[k].served && rule_matches(&rules[i], t, r->versions[k].version)) {
                                *ret_version = r->versions[k].version;
                                return true;
                        }
        return false;
}

bool policy_match_rules(const struct policy_match *m, const struct policy_target *t, const struct resource *r,
                        const char **ret_version)
{
        const char *unused;
        *ret_version = t->version;
        if (m->n_rules && !any_rule_matches(m->rules, m->n_rules, m->exact, t, r, ret_version))
                return false;
        return !any_rule_matches(m->excluded, m->n_excluded, m->exact, t, r, &unused);
}

static bool term_matches(const json_t *term, const json_t *labels)
{
        const char *key = json_string_value(json_object_get(term, "key"));
        const char *operator= json_string_value(json_object_get(term, "operator"));
        const char *is = key ? json_string_value(json_object_get(labels, key)) : NULL;
        json_t *value;
        bool listed = false;
        size_t i;
        json_array_foreach(json_object_get(term, "values"), i, value)
                listed |= is && text_equal(json_string_value(value), is);
        if (text_equal(operator, "In"))
                return listed;
        if (text_equal(operator, "NotIn"))
                return !listed;
        return text_equal(operator, "Exists") ? is != NULL : is == NULL;
}

bool policy_match_labels(const json_t *selector, const json_t *labels)
{
        const char *key;
        json_t *value;
        size_t i;
        json_object_foreach(json_object_get(selector, "matchLabels"), key, value)
                if (!text_equal(json_string_value(json_object_get(labels, key)), json_string_value(value)))
                        return false;
        json_array_foreach(json_object_get(selector, "matchExpressions"), i, value)
                if (!term_matches(value, labels))
                        return false;
        return true;
}
