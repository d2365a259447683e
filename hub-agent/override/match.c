/* Which overrides concern a placement and a cluster. spec/rollout-and-work.md 3. */
#include "common/base/map.h"
#include "common/json/doc.h"
#include "common/kube/selector.h"
#include "hub-agent/override/override.h"
#include "hub-agent/override/rule.h"

/* ---- subjects ---- */

/* Something an override can name. ns is NULL for cluster-scoped ones. */
struct named {
        const char *group, *version, *kind, *ns, *name;
};

/* Lengths keep apart what any separator could not: selectors are free text. */
static const char *key_of(struct arena *arena, const struct named *s)
{
        return arena_printf(arena, "%zu %s%zu %s%zu %s%zu %s%s", strlen(s->group), s->group,
                            strlen(s->version), s->version, strlen(s->kind), s->kind,
                            s->ns ? strlen(s->ns) : 0, s->ns ? s->ns : "-", s->name);
}

static int add(struct arena *arena, struct override_subjects *l, struct named s)
{
        const char *key = key_of(arena, &s);

        if (!l->keys)
                l->keys = map_of_arena(arena);
        return key && l->keys ? map_put(l->keys, key, l) : ERR_NO_MEMORY;
}

static const char *keep(struct arena *arena, const char *s)
{
        return s ? arena_strdup(arena, s) : NULL;
}

static int subject_of(struct arena *arena, const json_t *doc, struct named *ret)
{
        char *api = arena_strdup(arena, or_empty(doc_get_string(doc, "apiVersion")));
        char *slash = api ? strchr(api, '/') : NULL;

        if (!api)
                return ERR_NO_MEMORY;
        if (slash)
                *slash = 0;
        *ret = (struct named){ .group = slash ? api : "",
                               .version = slash ? slash + 1 : api,
                               .kind = keep(arena, or_empty(doc_get_string(doc, "kind"))),
                               .ns = keep(arena, doc_get_string(doc, "metadata.namespace")),
                               .name = keep(arena, or_empty(doc_get_string(doc, "metadata.name"))) };
        return ret->kind && ret->name ? 0 : ERR_NO_MEMORY;
}

static int add_namespaced(struct arena *arena, struct override_subjects *l, struct named s)
{
        TRY(add(arena, l, (struct named){ "", "v1", "Namespace", NULL, s.ns }));
        return add(arena, l, s);
}

/* What is inside an envelope is as its kind says; manifests that break the rule are the work generator's to
 * report. */
static int add_envelope(struct arena *arena, const json_t *doc, const struct named *envelope,
                        struct override_subjects *l)
{
        json_t *manifest;
        const char *key;

        if (envelope->ns)
                TRY(add(arena, l, (struct named){ "", "v1", "Namespace", NULL, envelope->ns }));
        json_object_foreach(json_object_get(doc, "data"), key, manifest) {
                struct named inner;

                TRY(subject_of(arena, manifest, &inner));
                if (text_equal(inner.ns, envelope->ns))
                        TRY(add(arena, l, inner));
        }
        return 0;
}

static bool is_envelope(const struct named *s)
{
        return text_equal(s->group, GROUP_PLACEMENT) &&
               (text_equal(s->kind, "ClusterResourceEnvelope") || text_equal(s->kind, "ResourceEnvelope"));
}

int override_subjects_add(struct arena *arena, const struct raw_list *resources,
                          const struct scope_lookup *scopes, struct override_subjects *ret, struct error *err)
{
        for (uint32_t i = 0; i < resources->n; i++) {
                AUTO_JSON json_t *doc = NULL;
                struct named s;
                int code;

                TRY(doc_parse(resources->at[i], &doc, err));
                if (subject_of(arena, doc, &s) < 0)
                        return error_no_memory(err);
                if (is_envelope(&s)) {
                        code = add_envelope(arena, doc, &s, ret);
                } else if (scopes->is_cluster_scoped(scopes->ctx, s.group, s.version, s.kind)) {
                        s.ns = NULL;
                        code = add(arena, ret, s);
                } else {
                        code = add_namespaced(arena, ret, s);
                }
                if (code < 0)
                        return error_no_memory(err);
        }
        return 0;
}

/* ---- placement ---- */

static bool names_placement(const struct override_snapshot *s, const char *ns, const char *name)
{
        const struct placement_reference *p = s->spec->override_spec->placement;

        if (!p)
                return true;
        if (!text_equal(p->name, name))
                return false;
        if (s->object.meta.ns && text_equal(p->scope, "Namespaced"))
                return text_equal(ns, s->object.meta.ns);
        return !ns;
}

/* 1, 0, or ERR_NO_MEMORY. */
static int has_subject(struct arena *arena, const struct override_subjects *l, struct named s)
{
        const char *key = l->keys ? key_of(arena, &s) : "";

        if (!key)
                return ERR_NO_MEMORY;
        return l->keys && map_has(l->keys, key);
}

static int selects_any(struct arena *arena, const struct override_snapshot *s,
                       const struct override_subjects *l)
{
        const struct override_spec *spec = s->spec->override_spec;
        int found = 0;

        for (uint32_t i = 0; found == 0 && i < spec->cluster_resource_selectors.n; i++) {
                const struct resource_selector *r = &spec->cluster_resource_selectors.at[i];

                found = has_subject(arena, l,
                                    (struct named){ or_empty(r->group), or_empty(r->version),
                                                    or_empty(r->kind), NULL, or_empty(r->name) });
        }
        for (uint32_t i = 0; found == 0 && i < spec->resource_selectors.n; i++) {
                const struct override_target *r = &spec->resource_selectors.at[i];

                found = has_subject(arena, l,
                                    (struct named){ or_empty(r->group), or_empty(r->version),
                                                    or_empty(r->kind), or_empty(s->object.meta.ns),
                                                    or_empty(r->name) });
        }
        return found;
}

/* Lists come sorted by namespace and name, which is the order bindings want. */
static int keep_matching(struct arena *arena, const char *ns, const char *placement,
                         const struct override_subjects *subjects, const struct object_list *all,
                         struct object_list *ret)
{
        ret->at = ARENA_NEW_ARRAY(arena, const struct object *, all->n + 1);
        ret->n = 0;
        if (!ret->at)
                return ERR_NO_MEMORY;
        for (size_t i = 0; i < all->n; i++) {
                const struct override_snapshot *s = (const struct override_snapshot *)all->at[i];
                int selected;

                if (!s->spec || !s->spec->override_spec || is_deleting(&s->object) ||
                    !names_placement(s, ns, placement))
                        continue;
                selected = selects_any(arena, s, subjects);
                if (selected < 0)
                        return selected;
                if (selected)
                        ret->at[ret->n++] = all->at[i];
        }
        return 0;
}

int override_set_match(struct arena *arena, const char *placement_ns, const char *placement,
                       const struct override_subjects *subjects, const struct override_set *latest,
                       struct override_set *ret, struct error *err)
{
        if (keep_matching(arena, placement_ns, placement, subjects, &latest->cluster, &ret->cluster) < 0 ||
            keep_matching(arena, placement_ns, placement, subjects, &latest->own, &ret->own) < 0)
                return error_no_memory(err);
        return 0;
}

/* ---- cluster ---- */

int override_rule_matches(const struct override_rule *rule, const struct member_cluster *cluster,
                          struct error *err)
{
        const struct cluster_selector *s = rule->cluster_selector;

        if (!s)
                return 0;
        if (s->terms.n == 0)
                return 1;
        for (uint32_t i = 0; i < s->terms.n; i++) {
                const struct label_selector *labels = s->terms.at[i].label_selector;

                if (!labels)
                        continue;
                TRY_WRAP(label_selector_check(labels, err), err, "invalid cluster label selector");
                if (label_selector_matches(labels, &cluster->object.meta.labels))
                        return 1;
        }
        return 0;
}

/* A broken selector concerns every cluster: named on the bindings, it is told of where it is applied. A
 * rollout that stopped for it would tell nobody. */
static bool concerns_cluster(const struct object *o, const struct member_cluster *cluster)
{
        const struct override_policy *p = ((const struct override_snapshot *)o)->spec->override_spec->policy;

        for (uint32_t i = 0; p && i < p->rules.n; i++)
                if (override_rule_matches(&p->rules.at[i], cluster, NULL) != 0)
                        return true;
        return false;
}

int override_set_for_cluster(struct arena *arena, const struct override_set *set,
                             const struct member_cluster *cluster, struct cluster_overrides *ret,
                             struct error *err)
{
        struct cluster_overrides o = { 0 };

        o.cluster.at = ARENA_NEW_ARRAY(arena, const char *, set->cluster.n + 1);
        o.own.at = ARENA_NEW_ARRAY(arena, struct namespaced_name, set->own.n + 1);
        if (!o.cluster.at || !o.own.at)
                return error_no_memory(err);
        for (size_t i = 0; i < set->cluster.n; i++)
                if (concerns_cluster(set->cluster.at[i], cluster))
                        o.cluster.at[o.cluster.n++] = set->cluster.at[i]->meta.name;
        for (size_t i = 0; i < set->own.n; i++) {
                const struct object_meta *m = &set->own.at[i]->meta;

                if (concerns_cluster(set->own.at[i], cluster))
                        o.own.at[o.own.n++] = (struct namespaced_name){ .name = m->name, .ns = m->ns };
        }
        o.cluster.set = o.cluster.n > 0;
        o.own.set = o.own.n > 0;
        *ret = o;
        return 0;
}
