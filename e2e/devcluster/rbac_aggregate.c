#include "e2e/devcluster/rbac_aggregate.h"

#include "e2e/devcluster/meta.h"

static bool is_selected(const struct blob *b, const json_t *selectors)
{
        size_t i;
        json_t *selector, *value;
        const char *key;
        json_array_foreach(selectors, i, selector) {
                const json_t *labels = doc_get_object(selector, "matchLabels");
                bool all = json_object_size(labels) > 0;
                json_object_foreach((json_t *)labels, key, value)
                        all &= text_equal(blob_label(b, key), json_string_value(value));
                if (all)
                        return true;
        }
        return false;
}

static int add_rules(json_t *rules, const json_t *more)
{
        size_t i, k;
        json_t *rule, *have;
        json_array_foreach(more, i, rule) {
                bool known = false;
                json_array_foreach(rules, k, have)
                        known |= doc_equal(have, rule);
                if (!known && json_array_append(rules, rule) < 0)
                        return ERR_NO_MEMORY;
        }
        return 0;
}

int rbac_aggregate(struct cluster *c, json_t *role)
{
        const json_t *selectors = doc_get_array(role, "aggregationRule.clusterRoleSelectors");
        const struct table *t = api_store_table(c, "rbac.authorization.k8s.io/clusterroles", false);
        if (!selectors || !t)
                return 0;
        AUTO_JSON json_t *rules = json_array();
        for (size_t i = 0; i < t->items.n; i++) {
                AUTO_JSON json_t *other = NULL;
                const struct blob *b = t->items.at[i];
                if (strcmp(blob_name(b), meta_name(role)) == 0 || !is_selected(b, selectors))
                        continue;
                if (blob_parse(b, &other, NULL) < 0 || add_rules(rules, doc_get_array(other, "rules")) < 0)
                        return ERR_NO_MEMORY;
        }
        return json_object_set(role, "rules", rules) < 0 ? ERR_NO_MEMORY : 0;
}
