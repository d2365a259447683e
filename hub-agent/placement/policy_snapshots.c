#include <stdlib.h>

#include "common/base/buf.h"
#include "common/base/digest.h"
#include "hub-agent/go_text.h"
#include "hub-agent/placement/snapshots.h"

#define DEFAULT_HISTORY 10

/* ---- hash: the field order of the reference, so that its snapshots are taken over unchanged ---- */

static void put_affinity(struct buf *b, const struct affinity *a)
{
        const struct cluster_affinity *c = a->cluster_affinity;

        go_put_key(b, "affinity");
        buf_append_char(b, '{');
        if (c) {
                buf_append_str(b, "\"clusterAffinity\":{");
                if (c->required) {
                        go_put_key(b, "requiredDuringSchedulingIgnoredDuringExecution");
                        go_put_cluster_selector(b, c->required);
                }
                if (c->preferred.n) {
                        go_put_key(b, "preferredDuringSchedulingIgnoredDuringExecution");
                        buf_append_char(b, '[');
                        for (uint32_t i = 0; i < c->preferred.n; i++) {
                                buf_printf(b, "%s{\"weight\":%lld,\"preference\":", i ? "," : "",
                                           (long long)c->preferred.at[i].weight.value);
                                go_put_term(b, c->preferred.at[i].preference);
                                buf_append_char(b, '}');
                        }
                        buf_append_char(b, ']');
                }
                buf_append_char(b, '}');
        }
        buf_append_char(b, '}');
}

static void put_topology(struct buf *b, const struct placement_policy *p)
{
        go_put_key(b, "topologySpreadConstraints");
        buf_append_char(b, '[');
        for (uint32_t i = 0; i < p->topology_spread_constraints.n; i++) {
                const struct topology_spread_constraint *t = &p->topology_spread_constraints.at[i];

                buf_append_str(b, i ? ",{" : "{");
                if (t->max_skew.set) {
                        go_put_key(b, "maxSkew");
                        buf_printf(b, "%lld", (long long)t->max_skew.value);
                }
                go_put_field(b, "topologyKey", t->topology_key, true);
                go_put_field(b, "whenUnsatisfiable", t->when_unsatisfiable, false);
                buf_append_char(b, '}');
        }
        buf_append_char(b, ']');
}

static void put_tolerations(struct buf *b, const struct placement_policy *p)
{
        go_put_key(b, "tolerations");
        buf_append_char(b, '[');
        for (uint32_t i = 0; i < p->tolerations.n; i++) {
                const struct toleration *t = &p->tolerations.at[i];

                buf_append_str(b, i ? ",{" : "{");
                go_put_field(b, "key", t->key, false);
                go_put_field(b, "operator", t->operator, false);
                go_put_field(b, "value", t->value, false);
                go_put_field(b, "effect", t->effect, false);
                buf_append_char(b, '}');
        }
        buf_append_char(b, ']');
}

int policy_hash(const struct placement_policy *policy, char ret[65], struct error *err)
{
        AUTO_BUF struct buf b;

        buf_init(&b, 4u << 20);
        if (!policy) {
                buf_append_str(&b, "null");
        } else {
                buf_append_char(&b, '{');
                go_put_field(&b, "placementType", policy->placement_type, false);
                go_put_strings(&b, "clusterNames", &policy->cluster_names, false);
                if (policy->affinity)
                        put_affinity(&b, policy->affinity);
                if (policy->topology_spread_constraints.n)
                        put_topology(&b, policy);
                if (policy->tolerations.n)
                        put_tolerations(&b, policy);
                buf_append_char(&b, '}');
        }
        TRY(buf_status(&b, err, "policy hash"));
        sha256_hex(b.data, b.len, ret);
        return 0;
}

const char *hash_on_wire(struct arena *arena, const char hash[65])
{
        char *text = arena_alloc(arena, text_base64_size(64));

        if (text)
                text_base64_encode(hash, 64, text);
        return text;
}

/* ---- plan ---- */

const struct policy_snapshot *latest_policy_snapshot(const struct object_list *existing)
{
        for (size_t i = 0; i < existing->n; i++)
                if (label_is_true(existing->at[i], LABEL_IS_LATEST_SNAPSHOT) && !is_deleting(existing->at[i]))
                        return (const struct policy_snapshot *)existing->at[i];
        return NULL;
}

struct indexed {
        const struct object *o;
        int64_t index;
};

static int by_index(const void *a, const void *b)
{
        const struct indexed *x = a, *y = b;

        return x->index < y->index ? -1 : x->index > y->index;
}

static bool is_pick_n(const struct placement_policy *policy)
{
        return policy && text_equal(policy->placement_type, PLACEMENT_PICK_N) &&
               policy->number_of_clusters.set;
}

static int stamp(struct object *o, const struct placement *p, struct arena *arena)
{
        TRY(set_label(o, LABEL_IS_LATEST_SNAPSHOT, LABEL_TRUE, arena));
        TRY(set_annotation(o, ANNOTATION_PLACEMENT_GENERATION, number_text(arena, p->object.meta.generation),
                           arena));
        if (is_pick_n(p->spec->policy))
                TRY(set_annotation(o, ANNOTATION_NUMBER_OF_CLUSTERS,
                                   number_text(arena, p->spec->policy->number_of_clusters.value), arena));
        return 0;
}

static int make(struct arena *arena, const struct placement *p, int64_t index, const char *hash,
                struct policy_snapshot **ret)
{
        const struct scope *scope = scope_of(p->object.meta.ns);
        const char *name = arena_printf(arena, NAME_POLICY_SNAPSHOT, p->object.meta.name, (long long)index);
        struct policy_snapshot *s;

        if (!name || !hash)
                return ERR_NO_MEMORY;
        s = (struct policy_snapshot *)object_new(scope->policy_snapshot, p->object.meta.ns, name, arena);
        if (!s || !(s->spec = ARENA_NEW(arena, struct policy_snapshot_spec)))
                return ERR_NO_MEMORY;
        s->spec->policy = p->spec->policy;
        s->spec->policy_hash = hash;
        TRY(set_label(&s->object, LABEL_PARENT_PLACEMENT, p->object.meta.name, arena));
        TRY(set_label(&s->object, LABEL_POLICY_INDEX, number_text(arena, index), arena));
        TRY(stamp(&s->object, p, arena));
        TRY(set_owner(&s->object, &p->object, true, arena));
        *ret = s;
        return 0;
}

int64_t snapshot_history_limit(const struct placement *p)
{
        int64_t limit =
                p->spec->revision_history_limit.set ? p->spec->revision_history_limit.value : DEFAULT_HISTORY;

        return MAX(limit, 1);
}

static int sorted(struct arena *arena, const struct object_list *existing, struct indexed **ret,
                  struct error *err)
{
        struct indexed *list = ARENA_NEW_ARRAY(arena, struct indexed, existing->n + 1);
        size_t n_latest = 0;

        if (!list)
                return error_no_memory(err);
        for (size_t i = 0; i < existing->n; i++) {
                list[i].o = existing->at[i];
                TRY(label_number(existing->at[i], LABEL_POLICY_INDEX, &list[i].index, err));
                n_latest += label_is_true(existing->at[i], LABEL_IS_LATEST_SNAPSHOT);
        }
        if (n_latest > 1)
                return error_set(err, ERR_INVALID,
                                 "%zu policy snapshots are marked as the latest, at most one may be",
                                 n_latest);
        qsort(list, existing->n, sizeof(list[0]), by_index);
        *ret = list;
        return 0;
}

/* Drops the oldest of the `n` but for `latest`, so that `keep` stay. */
static int plan_history(struct arena *arena, const struct indexed *list, size_t n, int64_t keep,
                        const struct object *latest, struct policy_snapshot_plan *plan)
{
        plan->remove = ARENA_NEW_ARRAY(arena, const struct object *, n + 1);
        if (!plan->remove)
                return ERR_NO_MEMORY;
        for (size_t i = 0; (int64_t)(n - i) > keep; i++)
                if (list[i].o != latest)
                        plan->remove[plan->n_remove++] = list[i].o;
        return 0;
}

/* A limit that was lowered takes what is too much, too. */
static int plan_in_place(struct arena *arena, const struct placement *p, const struct indexed *list, size_t n,
                         const struct policy_snapshot *latest, struct policy_snapshot_plan *plan,
                         struct error *err)
{
        struct object *wanted = object_copy(&latest->object, arena);
        int64_t old;

        plan->latest = latest;
        if (!wanted)
                return error_no_memory(err);
        TRY(annotation_number(&latest->object, ANNOTATION_PLACEMENT_GENERATION, &old, err));
        if (stamp(wanted, p, arena) < 0)
                return error_no_memory(err);
        if (!object_equal_part(&latest->object, wanted, OBJECT_META_SPEC))
                plan->update = (struct relabel){ &latest->object, wanted };
        return plan_history(arena, list, n, snapshot_history_limit(p), &latest->object, plan) < 0
                       ? error_no_memory(err)
                       : 0;
}

static int plan_new(struct arena *arena, const struct placement *p, const struct indexed *list, size_t n,
                    const char *hash, struct indexes indexes, struct policy_snapshot_plan *plan)
{
        const struct object *last = n ? list[n - 1].o : NULL;
        int64_t index = next_index(indexes, n ? list[n - 1].index : NO_INDEX);

        for (size_t i = 0; i < n; i++)
                if (label_is_true(list[i].o, LABEL_IS_LATEST_SNAPSHOT))
                        last = list[i].o;
        if (last && label_is_true(last, LABEL_IS_LATEST_SNAPSHOT)) {
                plan->update = (struct relabel){ last, object_copy(last, arena) };
                if (!plan->update.wanted)
                        return ERR_NO_MEMORY;
                TRY(set_label(plan->update.wanted, LABEL_IS_LATEST_SNAPSHOT, LABEL_FALSE, arena));
        }
        TRY(plan_history(arena, list, n, snapshot_history_limit(p) - 1, NULL, plan));
        return make(arena, p, index, hash, &plan->create);
}

static int64_t index_of(const struct indexed *list, size_t n, const struct object *o)
{
        for (size_t i = 0; i < n; i++)
                if (list[i].o == o)
                        return list[i].index;
        return NO_INDEX;
}

/* Whether a snapshot holds the policy with this hash, and not only says so: *ret. */
static int holds_policy(struct arena *arena, const struct policy_snapshot *s, const char *hash, bool *ret,
                        struct error *err)
{
        const char *held;
        char hex[65];

        *ret = false;
        if (!s->spec || !text_equal(s->spec->policy_hash, hash))
                return 0;
        TRY(policy_hash(s->spec->policy, hex, err));
        held = hash_on_wire(arena, hex);
        if (!held)
                return error_no_memory(err);
        *ret = text_equal(held, hash);
        return 0;
}

int policy_snapshot_is_of(struct arena *arena, const struct policy_snapshot *s,
                          const struct placement_policy *policy, bool *ret, struct error *err)
{
        const char *hash;
        char hex[65];

        TRY(policy_hash(policy, hex, err));
        hash = hash_on_wire(arena, hex);
        return hash ? holds_policy(arena, s, hash, ret, err) : error_no_memory(err);
}

int policy_snapshot_is_current(struct arena *arena, const struct policy_snapshot *s,
                               const struct placement_policy *policy, bool *ret, struct error *err)
{
        int64_t told;

        TRY(policy_snapshot_is_of(arena, s, policy, ret, err));
        if (*ret && is_pick_n(policy))
                *ret = annotation_number(&s->object, ANNOTATION_NUMBER_OF_CLUSTERS, &told, NULL) == 0 &&
                       told == policy->number_of_clusters.value;
        return 0;
}

int plan_policy_snapshots(struct arena *arena, const struct placement *p, const struct object_list *existing,
                          struct indexes indexes, struct policy_snapshot_plan *ret, struct error *err)
{
        struct policy_snapshot_plan plan = { 0 };
        const struct policy_snapshot *latest = latest_policy_snapshot(existing);
        struct indexed *list = NULL;
        const char *hash;
        bool same = false;
        char hex[65];

        TRY(policy_hash(p->spec->policy, hex, err));
        hash = hash_on_wire(arena, hex);
        if (!hash)
                return error_no_memory(err);
        TRY(sorted(arena, existing, &list, err));
        if (!latest && existing->n)
                latest = (const struct policy_snapshot *)list[existing->n - 1].o;
        if (latest && index_of(list, existing->n, &latest->object) >= lowest_index(indexes))
                TRY(holds_policy(arena, latest, hash, &same, err));
        if (same)
                TRY(plan_in_place(arena, p, list, existing->n, latest, &plan, err));
        else if (plan_new(arena, p, list, existing->n, hash, indexes, &plan) < 0)
                return error_no_memory(err);
        *ret = plan;
        return 0;
}
