#include "e2e/simulation/asked.h"

#include <limits.h>

#include "common/base/memory.h"
#include "e2e/simulation/rules.h"

static void list_free(void *value)
{
        struct asked_list *l = value;

        vec_for_each(&l->all, a)
                json_decref(a->policy);
        vec_free(&l->all);
        mem_free(l);
}

/* A number is told to a policy's snapshot when there is one already. */
static json_t *without_number(const json_t *policy)
{
        json_t *copy = policy ? mem_must(doc_copy_members(policy)) : NULL;

        if (copy)
                json_object_del(copy, "numberOfClusters");
        return copy;
}

static struct asked read_placement(const json_t *placement)
{
        const json_t *policy = doc_get(placement, "spec.policy");
        const char *type = doc_get_string(policy, "placementType"),
                   *may = doc_get_string(placement, "spec.strategy.rollingUpdate.maxUnavailable");
        struct asked a = { ASKED_ANY, may ? (unsigned)strtoul(may, NULL, 10) : 25, INT64_MAX,
                           without_number(policy) };

        if (text_equal(type, "PickN"))
                a.n = (unsigned)doc_get_int(policy, "numberOfClusters", 0);
        else if (text_equal(type, "PickFixed"))
                a.n = (unsigned)json_array_size(doc_get_array(policy, "clusterNames"));
        return a;
}

static bool is_asked(const struct change *c)
{
        return c->after &&
               (text_equal(c->resource, RES_PLACEMENTS) || text_equal(c->resource, RES_NS_PLACEMENTS)) &&
               (!c->before ||
                !json_equal(json_object_get(c->before, "spec"), json_object_get(c->after, "spec")));
}

void asked_note(struct asked_map *m, const struct change *c)
{
        struct asked_list *l;
        char key[320];

        if (!is_asked(c))
                return;
        if (!m->begun)
                map_init(&m->lists, MAP_OWN_KEYS, list_free);
        m->begun = true;
        snprintf(key, sizeof(key), "%s%s%s", c->ns, *c->ns ? "/" : "", c->name);
        l = map_get(&m->lists, key);
        if (!l) {
                l = mem_must(NEW(struct asked_list));
                ASSERT(map_put(&m->lists, key, l) == 0);
        }
        if (l->all.n > 0)
                l->all.at[l->all.n - 1].until_ms = c->at_ms;
        while (l->all.n > 0 && l->all.at[0].until_ms < c->at_ms - 2 * RULE_LAG_MS) {
                json_decref(l->all.at[0].policy);
                vec_remove(&l->all, 0);
        }
        ASSERT(vec_push(&l->all, read_placement(c->after)) == 0);
}

const struct asked_list *asked_of(struct asked_map *m, const char *placement)
{
        return m->begun ? map_get(&m->lists, placement) : NULL;
}

unsigned asked_most(const struct asked_list *l, int64_t since_ms)
{
        unsigned most = 0;

        vec_for_each(&l->all, a)
                if (a->until_ms >= since_ms)
                        most = MAX(most, a->n);
        return most;
}

bool asked_policy(const struct asked_list *l, const json_t *policy, int64_t since_ms)
{
        json_t *given = without_number(policy);
        bool found = false;

        vec_for_each(&l->all, a)
                found = found || (a->until_ms >= since_ms &&
                                  (given && a->policy ? json_equal(given, a->policy) : given == a->policy));
        json_decref(given);
        return found;
}

void asked_free(struct asked_map *m)
{
        if (m->begun)
                map_free(&m->lists);
}
