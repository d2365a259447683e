/* Reads hub and members as a user would, and has them judged. */
#include "common/base/memory.h"
#include "e2e/simulation/model_parts.h"
#include "proto/names.h"

#define LABEL_OF_APPS "app" /* on everything that is placed */

static const struct kube_resource member_clusters = { "cluster.kubernetes-fleet.io", "v1beta1",
                                                      "memberclusters", "MemberCluster", false };

static const struct kube_resource profiles = { "multicluster.x-k8s.io", "v1alpha1", "clusterprofiles",
                                               "ClusterProfile", true };

static const struct kube_resource shown_statuses = { "placement.kubernetes-fleet.io", "v1beta1",
                                                     "clusterresourceplacementstatuses",
                                                     "ClusterResourcePlacementStatus", true };

static const json_t *find(const json_t *list, const char *ns, const char *name)
{
        json_t *doc;
        size_t i;

        json_array_foreach(list, i, doc)
                if (text_equal(doc_get_string(doc, "metadata.name"), name) &&
                    text_equal(doc_get_string(doc, "metadata.namespace"), ns))
                        return doc;
        return NULL;
}

/* ---- the hub ---- */

struct hub_view {
        json_t *placements, *parts, *members, *profiles, *shown, *evictions;
        struct model_runs runs;
        struct model_desk desk;
        json_t *snapshots[2];
        VEC(struct model_held *) held;
};

static void hub_view_clear(struct hub_view *h)
{
        json_decref(h->placements);
        json_decref(h->parts);
        json_decref(h->members);
        json_decref(h->profiles);
        json_decref(h->shown);
        json_decref(h->evictions);
        json_decref(h->desk.tables);
        json_decref(h->desk.sources);
        json_decref(h->desk.config_maps);
        json_decref(h->desk.namespaces);
        for (unsigned part = 0; part < 2; part++) {
                json_decref(h->runs.runs[part]);
                json_decref(h->runs.approvals[part]);
                json_decref(h->runs.bindings[part]);
                json_decref(h->snapshots[part]);
        }
        vec_for_each(&h->held, held)
                mem_free(*held);
        vec_free(&h->held);
}

static const struct kube_resource bindings[2] = {
        { "placement.kubernetes-fleet.io", "v1beta1", "clusterresourcebindings", "ClusterResourceBinding",
          false },
        { "placement.kubernetes-fleet.io", "v1beta1", "resourcebindings", "ResourceBinding", true },
};

static int runs_read(struct kube_client *k, struct model_runs *ret, struct error *err)
{
        static const enum wish_place places[2] = { PLACE_MAIN, PLACE_PART };

        for (unsigned part = 0; part < 2; part++) {
                TRY(kube_doc_list(k, wish_run_resource(places[part]), NULL, NULL, &ret->runs[part], err));
                TRY(kube_doc_list(k, wish_approval_resource(places[part]), NULL, NULL, &ret->approvals[part],
                                  err));
                TRY(kube_doc_list(k, &bindings[part], NULL, NULL, &ret->bindings[part], err));
        }
        return 0;
}

static const struct kube_resource snapshots[2] = {
        { "placement.kubernetes-fleet.io", "v1beta1", "clusterresourcesnapshots", "ClusterResourceSnapshot",
          false },
        { "placement.kubernetes-fleet.io", "v1beta1", "resourcesnapshots", "ResourceSnapshot", true },
};

/* Where runs may have brought something: else snapshots, which are large, are not asked for. */
static bool has_runs(const struct wish *w, bool part)
{
        for (unsigned app = 0; app < WISH_APPS; app++)
                for (unsigned place = 0; place < WISH_PLACES; place++)
                        if ((place == PLACE_PART) == part && w->apps[app].n_runs[place] > 0 &&
                            w->apps[app].placements[place].strategy.external_ms)
                                return true;
        return false;
}

static int snapshots_read(struct fleet *f, const struct wish *w, struct hub_view *ret, struct error *err)
{
        struct kube_client *k;

        TRY(f->ops->client(f, "hub", &k, err));
        for (unsigned part = 0; part < 2; part++)
                if (has_runs(w, part))
                        TRY(kube_doc_list(k, &snapshots[part], NULL, NULL, &ret->snapshots[part], err));
        return 0;
}

static int desk_read(struct fleet *f, const struct wish *w, struct hub_view *ret, struct error *err)
{
        struct model_desk *desk = &ret->desk;
        struct kube_client *k;

        if (!w->desk.there)
                return 0;
        desk->placements = ret->placements;
        desk->no_members = true;
        for (unsigned i = 1; i <= w->n_members; i++)
                desk->no_members = desk->no_members && !model_is_in(w, i);
        TRY(f->ops->client(f, "hub", &k, err));
        TRY(kube_doc_list(k, &wish_table_resource, WISH_DESK, NULL, &desk->tables, err));
        TRY(kube_doc_list(k, &wish_source_resource, WISH_DESK, NULL, &desk->sources, err));
        TRY(kube_doc_list(k, wish_part_resource(PART_SETTINGS), NULL, NULL, &desk->config_maps, err));
        return kube_doc_list(k, wish_part_resource(PART_NAMESPACE), NULL, NULL, &desk->namespaces, err);
}

static int judge_desk(const struct wish *w, const struct hub_view *h, struct error *err)
{
        for (unsigned i = 0; i < WISH_SOURCES && w->desk.there; i++)
                TRY(model_judge_source(&w->desk, i, &h->desk, err));
        for (unsigned i = 0; i < WISH_TABLES && w->desk.there; i++)
                TRY(model_judge_table(&w->desk, i, &h->desk, err));
        return 0;
}

static int hub_view_read(struct fleet *f, struct hub_view *ret, struct error *err)
{
        struct kube_client *k;

        TRY(f->ops->client(f, "hub", &k, err));
        TRY(kube_doc_list(k, &member_clusters, NULL, NULL, &ret->members, err));
        TRY(kube_doc_list(k, &profiles, NULL, NULL, &ret->profiles, err));
        TRY(kube_doc_list(k, &shown_statuses, NULL, NULL, &ret->shown, err));
        TRY(kube_doc_list(k, &wish_eviction_resource, NULL, NULL, &ret->evictions, err));
        TRY(runs_read(k, &ret->runs, err));
        TRY(kube_doc_list(k, wish_placement_resource(PLACE_MAIN), NULL, NULL, &ret->placements, err));
        return kube_doc_list(k, wish_placement_resource(PLACE_PART), NULL, NULL, &ret->parts, err);
}

/* Of each member that is in the fleet the inventory has a profile, which says that it is well. */
static int judge_profile(const struct hub_view *h, const char *name, bool is_in, struct error *err)
{
        const json_t *doc = find(h->profiles, NAMESPACE_FLEET_SYSTEM, name), *healthy;

        if (is_in != !!doc)
                return error_set(err, ERR_INVALID, "ClusterProfile %s is%s there", name, doc ? "" : " not");
        if (!doc)
                return 0;
        healthy = model_condition(doc_get_object(doc, "status"), CONDITION_CONTROL_PLANE_HEALTHY);
        if (!text_equal(doc_get_string(healthy, "status"), "True"))
                return error_set(err, ERR_INVALID, "ClusterProfile %s: ControlPlaneHealthy is not True",
                                 name);
        return 0;
}

/* wanted NULL: it does not say a word of it. */
static int judge_property(const json_t *member, const char *name, const char *wanted, struct error *err)
{
        const char *const path[] = { "status", "properties", name, "value" };
        const char *told = json_string_value(doc_get_keys(member, path, ARRAY_LEN(path)));

        if (text_equal(told, wanted))
                return 0;
        return error_set(err, ERR_INVALID, "MemberCluster %s: property %s is \"%s\", not \"%s\"",
                         doc_get_string(member, "metadata.name"), name, told ? told : "",
                         wanted ? wanted : "");
}

/* What the operator told of the cluster. */
static int judge_properties(const struct wish_member *m, const json_t *member, struct error *err)
{
        char size[16], cost[32];

        snprintf(size, sizeof(size), "%u", m->size);
        snprintf(cost, sizeof(cost), "%u.%s", m->price / 2, m->price % 2 ? "500" : "000");
        TRY(judge_property(member, WISH_TOLD_SIZE, m->size ? size : NULL, err));
        return judge_property(member, PROPERTY_PER_CPU_CORE_COST, m->price ? cost : NULL, err);
}

static int judge_membership(const struct wish *w, const struct hub_view *h, struct error *err)
{
        for (unsigned i = 1; i <= w->n_members; i++) {
                enum wish_membership is = w->members[i].membership;
                const json_t *doc;
                char name[32];

                snprintf(name, sizeof(name), "member-%u", i);
                doc = find(h->members, NULL, name);
                if ((is == MEMBER_IN) != !!doc)
                        return error_set(err, ERR_INVALID, "MemberCluster %s is%s there", name,
                                         doc ? "" : " not");
                if (is == MEMBER_IN &&
                    !text_equal(doc_get_string(model_condition(doc_get_object(doc, "status"), "Joined"),
                                               "status"),
                                "True"))
                        return error_set(err, ERR_INVALID, "MemberCluster %s: Joined is not True", name);
                TRY(judge_profile(h, name, is == MEMBER_IN, err));
                if (is == MEMBER_IN)
                        TRY(judge_properties(&w->members[i], doc, err));
        }
        return 0;
}

/* By the member's number in the name of the binding's cluster. */
static unsigned target_of(const struct wish *w, const json_t *binding)
{
        const char *cluster = doc_get_string(binding, "spec.targetCluster");
        uint64_t index;

        return cluster && text_starts_with(cluster, "member-") &&
                               text_parse_u64(cluster + strlen("member-"), &index) && index <= w->n_members
                       ? (unsigned)index
                       : 0;
}

static int find_held(const struct wish *w, struct hub_view *h, struct model_place *p, struct error *err)
{
        static const char *const keys[] = { "metadata", "labels", LABEL_PARENT_PLACEMENT };
        bool part = p->place == PLACE_PART;
        json_t *b;
        size_t i;

        if (!p->doc || !h->snapshots[part] || !w->apps[p->app].placements[p->place].strategy.external_ms)
                return 0;
        json_array_foreach(h->runs.bindings[part], i, b) {
                struct model_held *held;

                if (!text_equal(json_string_value(doc_get_keys(b, keys, 3)),
                                doc_get_string(p->doc, "metadata.name")) ||
                    !text_equal(doc_get_string(b, "metadata.namespace"),
                                doc_get_string(p->doc, "metadata.namespace")) ||
                    text_equal(doc_get_string(b, "spec.state"), "Unscheduled") ||
                    !(held = model_held_new(w, p, b, h->snapshots[part])))
                        continue;
                if (vec_push(&h->held, held) < 0) {
                        mem_free(held);
                        return error_no_memory(err);
                }
                p->held[target_of(w, b)] = held;
        }
        return 0;
}

static int judge_places(const struct wish *w, struct hub_view *h,
                        struct model_place places[WISH_APPS][WISH_PLACES], struct error *err)
{
        for (unsigned app = 0; app < WISH_APPS; app++)
                for (unsigned place = 0; place < WISH_PLACES; place++) {
                        struct model_place *p = &places[app][place];
                        bool part = place == PLACE_PART;
                        char name[64];

                        wish_placement_name(app, place, name);
                        *p = (struct model_place){ .app = app, .place = place };
                        p->doc =
                                find(part ? h->parts : h->placements, part ? wish_app_name(app) : NULL, name);
                        p->shown = part ? NULL : find(h->shown, wish_app_name(app), name);
                        TRY(find_held(w, h, p, err));
                        TRY(model_judge_placement(w, p, err));
                }
        return 0;
}

/* ---- a member ---- */

enum listed {
        LIST_NAMESPACES,
        LIST_CONFIG_MAPS,
        LIST_DEPLOYMENTS,
        LIST_JOBS,
        LIST_ROLES,
        LIST_DEFINITIONS,
        LISTS
};

/* A slot of the kind that is listed; whether by the label, where servers have many of their own. */
static const struct {
        unsigned slot;
        bool labelled;
} listed[LISTS] = {
        [LIST_NAMESPACES] = { SLOT_HOME, false }, [LIST_CONFIG_MAPS] = { SLOT_SETTINGS, false },
        [LIST_DEPLOYMENTS] = { SLOT_WEB, false }, [LIST_JOBS] = { SLOT_JOB, false },
        [LIST_ROLES] = { SLOT_ROLE, true },       [LIST_DEFINITIONS] = { SLOT_DEFINITION, true },
};

struct member_view {
        json_t *lists[LISTS], *widgets[WISH_APPS];
};

static void member_view_clear(struct member_view *v)
{
        for (unsigned i = 0; i < LISTS; i++)
                json_decref(v->lists[i]);
        for (unsigned app = 0; app < WISH_APPS; app++)
                json_decref(v->widgets[app]);
}

static const json_t *member_live(const void *ctx, unsigned app, unsigned slot)
{
        const struct kube_resource *r = model_resource(app, slot);
        const struct member_view *v = ctx;
        const json_t *list = NULL;
        char name[64];

        model_name(app, slot, name);
        for (unsigned i = 0; i < LISTS; i++)
                if (text_equal(model_resource(app, listed[i].slot)->plural, r->plural))
                        list = v->lists[i];
        return find(slot == SLOT_WIDGET ? v->widgets[app] : list, r->namespaced ? wish_app_name(app) : NULL,
                    name);
}

/* A user's own may have no label. */
static int read_foreign_role(struct kube_client *k, unsigned app, json_t *list, struct error *err)
{
        json_t *doc;
        char name[64];
        int code;

        model_name(app, SLOT_ROLE, name);
        if (find(list, NULL, name))
                return 0;
        code = kube_doc_get(k, model_resource(app, SLOT_ROLE), NULL, name, &doc, err);
        if (code == ERR_NOT_FOUND)
                return 0;
        return code == 0 && json_array_append_new(list, doc) < 0 ? error_no_memory(err) : code;
}

static int member_view_read(struct kube_client *k, const struct wish_member *m, struct member_view *ret,
                            struct error *err)
{
        for (unsigned i = 0; i < LISTS; i++)
                TRY(kube_doc_list(k, model_resource(0, listed[i].slot), NULL,
                                  listed[i].labelled ? LABEL_OF_APPS : NULL, &ret->lists[i], err));
        for (unsigned app = 0; app < WISH_APPS; app++) {
                if (m->foreign[app].role)
                        TRY(read_foreign_role(k, app, ret->lists[LIST_ROLES], err));
                if (member_live(ret, app, SLOT_DEFINITION))
                        TRY(kube_doc_list(k, wish_placed_resource(app, SLOT_WIDGET), NULL, NULL,
                                          &ret->widgets[app], err));
        }
        return 0;
}

/* It was a member before it was none, and not long ago. */
static bool joined_again_after(const struct wish_member *m, int64_t since)
{
        bool was_in = false, again = false;

        for (size_t i = 0; i < m->before.n; i++) {
                again = again || (was_in && !m->before.at[i].state.in && m->before.at[i].until_ms > since);
                was_in = was_in || m->before.at[i].state.in;
        }
        return again;
}

static int judge_member(struct fleet *f, const struct wish *w, unsigned index, const struct hub_view *h,
                        struct model_place places[WISH_APPS][WISH_PLACES], struct error *err)
{
        struct member_view v = { .lists = { NULL } };
        struct model_member m = {
                .index = index,
                .cleaning =
                        joined_again_after(&w->members[index], loop_now_ms(f->world->loop) - MODEL_REJOIN_MS),
                .live = member_live,
                .ctx = &v,
        };
        struct kube_client *k;
        char name[32];
        int code;

        snprintf(name, sizeof(name), "member-%u", index);
        TRY(f->ops->client(f, name, &k, err));
        code = member_view_read(k, &w->members[index], &v, err);
        for (unsigned app = 0; app < WISH_APPS && code == 0; app++)
                code = model_judge_app(w, app, places[app], &m, err);
        if (code == 0)
                code = model_judge_member_beds(f, &w->garden, index, w->members[index].before.n > 0, err);
        if (code == 0 && w->desk.there)
                code = model_judge_tenants(&w->desk, &h->desk, v.lists[LIST_CONFIG_MAPS],
                                           w->members[index].before.n > 0, err) < 0
                               ? error_wrap(err, "%s", name)
                               : 0;
        member_view_clear(&v);
        return code;
}

/* ---- ClusterObjectSets, whether the member is in the fleet or not ---- */

static int sets_read(struct kube_client *k, struct model_sets *ret, struct error *err)
{
        TRY(kube_doc_list(k, &wish_set_resource, NULL, NULL, &ret->sets, err));
        TRY(kube_doc_list(k, wish_cargo_resource(CARGO_PLAIN), WISH_HARBOR, NULL, &ret->config_maps, err));
        TRY(kube_doc_list(k, wish_cargo_resource(CARGO_CREW), WISH_HARBOR, NULL, &ret->deployments, err));
        return kube_doc_list(k, wish_cargo_resource(CARGO_ROLE), NULL, LABEL_OF_APPS, &ret->roles, err);
}

static int judge_sets(struct fleet *f, const struct wish *w, unsigned index, struct error *err)
{
        struct model_sets live = { .sets = NULL };
        struct kube_client *k;
        char name[32];
        int code;

        snprintf(name, sizeof(name), "member-%u", index);
        TRY(f->ops->client(f, name, &k, err));
        code = sets_read(k, &live, err);
        for (unsigned ship = 0; ship < WISH_SHIPS && code == 0; ship++)
                code = model_judge_ship(&w->members[index].ships[ship], ship, &live, err);
        json_decref(live.sets);
        json_decref(live.config_maps);
        json_decref(live.deployments);
        json_decref(live.roles);
        return code < 0 ? error_wrap(err, "%s", name) : 0;
}

/* ---- all ---- */

int model_compare(struct fleet *f, const struct wish *w, struct sim_git *git, struct error *err)
{
        struct model_place places[WISH_APPS][WISH_PLACES];
        struct hub_view hub = { NULL };
        int code = hub_view_read(f, &hub, err);

        if (code == 0)
                code = snapshots_read(f, w, &hub, err);
        if (code == 0)
                code = desk_read(f, w, &hub, err);
        if (code == 0)
                code = judge_membership(w, &hub, err);
        if (code == 0)
                code = judge_places(w, &hub, places, err);
        if (code == 0)
                code = model_judge_evictions(w, hub.evictions, err);
        if (code == 0)
                code = model_judge_runs(w, &hub.runs, err);
        if (code == 0)
                code = judge_desk(w, &hub, err);
        if (code == 0)
                code = model_judge_shelf(f, &w->shelf, err);
        if (code == 0)
                code = model_judge_garden(f, &w->garden, git, err);
        for (unsigned i = 1; i <= w->n_members && code == 0; i++)
                if (model_is_in(w, i))
                        code = judge_member(f, w, i, &hub, places, err);
        for (unsigned i = 1; i <= w->n_members && code == 0; i++)
                if (w->members[i].harbor)
                        code = judge_sets(f, w, i, err);
        hub_view_clear(&hub);
        return code;
}
