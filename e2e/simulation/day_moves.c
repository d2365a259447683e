#include "e2e/simulation/day_parts.h"
#include "proto/names.h"

#define GROUP "placement.kubernetes-fleet.io"
#define AWAY_MS 600000 /* at least, and up to six times as long */
#define HUB_AGENT_AWAY_MS 60000

const struct kube_resource day_member_resource = { "cluster.kubernetes-fleet.io", "v1beta1", "memberclusters",
                                                   "MemberCluster", false };
const struct kube_resource day_run_resource = { GROUP, "v1beta1", "clusterstagedupdateruns",
                                                "ClusterStagedUpdateRun", false };
static const struct kube_resource namespaces = { "", "v1", "namespaces", "Namespace", false };
static const struct kube_resource config_maps = { "", "v1", "configmaps", "ConfigMap", true };
static const struct kube_resource placements = { GROUP, "v1beta1", "clusterresourceplacements",
                                                 "ClusterResourcePlacement", false };
static const struct kube_resource stages = { GROUP, "v1beta1", "clusterstagedupdatestrategies",
                                             "ClusterStagedUpdateStrategy", false };
static const struct kube_resource evictions = { GROUP, "v1beta1", "clusterresourceplacementevictions",
                                                "ClusterResourcePlacementEviction", false };

void day_member_name(unsigned member, char ret[32])
{
        snprintf(ret, 32, "member-%u", member);
}

void day_placement_name(unsigned placement, char ret[32])
{
        snprintf(ret, 32, "day-%u", placement);
}

/* ---- asking the hub ---- */

/* 1: it took it; 0: it refused, or could not be reached; negative: the run is broken. */
static int taken(int code, struct error *err)
{
        if (code == 0)
                return 1;
        if (code == ERR_CANCELLED || code == ERR_NO_MEMORY)
                return code;
        error_clear(err);
        return 0;
}

static int create(struct day *d, const struct kube_resource *r, const char *ns, json_t *doc_new,
                  struct error *err)
{
        AUTO_JSON json_t *doc = doc_new;

        if (!doc)
                return error_no_memory(err);
        return taken(kube_doc_create(d->hub, r, ns, doc, NULL, NULL, err), err);
}

static int patch(struct kube_client *k, const struct kube_resource *r, const char *ns, const char *name,
                 json_t *patch_new, struct error *err)
{
        AUTO_JSON json_t *doc = patch_new;

        if (!doc)
                return error_no_memory(err);
        return taken(kube_doc_patch(k, r, ns, name, KUBE_PATCH_MERGE, doc, NULL, NULL, err), err);
}

static int delete (struct kube_client *k, const struct kube_resource *r, const char *ns, const char *name,
                   struct error *err)
{
        return taken(kube_doc_delete(k, r, ns, name, NULL, NULL, err), err);
}

static json_t *object(const struct kube_resource *r, const char *ns, const char *name, const char *key,
                      json_t *value)
{
        return json_pack("{s:s++, s:s, s:{s:s, s:s*}, s:o}", "apiVersion", r->group, r->group[0] ? "/" : "",
                         r->version, "kind", r->kind, "metadata", "name", name, "namespace", ns, key, value);
}

/* ---- placements ---- */

static json_t *tier_terms(unsigned tier)
{
        char text[16];

        snprintf(text, sizeof(text), "tier-%u", tier);
        return json_pack("{s:{s:{s:[{s:{s:{s:s}}}]}}}", "clusterAffinity",
                         "requiredDuringSchedulingIgnoredDuringExecution", "clusterSelectorTerms",
                         "labelSelector", "matchLabels", "tier", text);
}

static json_t *fixed_names(const struct day *d, unsigned first)
{
        json_t *list = json_array();
        char name[32];

        for (unsigned i = 0; i < DAY_FIXED_CLUSTERS; i++) {
                day_member_name((first + i) % d->n + 1, name);
                json_array_append_new(list, json_string(name));
        }
        return list;
}

static json_t *policy_doc(const struct day *d, const struct day_placement *p)
{
        switch (p->kind) {
        case DAY_TIER:
        case DAY_STAGED:
                return json_pack("{s:s, s:o}", "placementType", "PickAll", "affinity", tier_terms(p->tier));
        case DAY_PICK_N:
                return json_pack("{s:s, s:i}", "placementType", "PickN", "numberOfClusters", (int)p->wanted);
        case DAY_SPREAD:
                return json_pack("{s:s, s:i, s:[{s:s, s:i, s:s}]}", "placementType", "PickN",
                                 "numberOfClusters", (int)p->wanted, "topologySpreadConstraints",
                                 "topologyKey", "zone", "maxSkew", 1, "whenUnsatisfiable", "ScheduleAnyway");
        case DAY_FIXED:
                return json_pack("{s:s, s:o}", "placementType", "PickFixed", "clusterNames",
                                 fixed_names(d, p->first));
        default:
                return json_pack("{s:s}", "placementType", "PickAll");
        }
}

static json_t *placement_doc(const struct day *d, unsigned placement)
{
        const struct day_placement *p = &d->placements[placement];
        char name[32];

        day_placement_name(placement, name);
        return object(&placements, NULL, name, "spec",
                      json_pack("{s:[{s:s, s:s, s:s, s:s}], s:o, s:{s:s}}", "resourceSelectors", "group", "",
                                "version", "v1", "kind", "Namespace", "name", name, "policy",
                                policy_doc(d, p), "strategy", "type",
                                p->kind == DAY_STAGED ? "External" : "RollingUpdate"));
}

/* One zone first, then the others, a quarter of them at a time. */
static json_t *stages_doc(const char *name)
{
        return object(&stages, NULL, name, "spec",
                      json_pack("{s:[{s:s, s:{s:{s:s}}}, {s:s, s:s, s:{s:[{s:s, s:s, s:[s]}]}}]}", "stages",
                                "name", "first", "labelSelector", "matchLabels", "zone", "zone-0", "name",
                                "rest", "maxConcurrency", "25%", "labelSelector", "matchExpressions", "key",
                                "zone", "operator", "NotIn", "values", "zone-0"));
}

static json_t *settings_doc(const char *ns, unsigned color)
{
        return object(&config_maps, ns, "settings", "data",
                      json_pack("{s:o}", "color", json_sprintf("%u", color)));
}

int day_make_placement(struct day *d, unsigned placement, struct error *err)
{
        struct day_placement *p = &d->placements[placement];
        char name[32];

        day_placement_name(placement, name);
        if (sim_fleet_get(d->fleet, "hub", "/namespaces", "", name)) /* of the last time: still going */
                return 0;
        int code = create(d, &namespaces, NULL,
                          json_pack("{s:s, s:s, s:{s:s}}", "apiVersion", "v1", "kind", "Namespace",
                                    "metadata", "name", name),
                          err);
        if (code == 1)
                code = create(d, &config_maps, name, settings_doc(name, p->color), err);
        if (code == 1 && p->kind == DAY_STAGED)
                (void)create(d, &stages, NULL, stages_doc(name), err); /* the one of the last time will do */
        if (code == 1)
                code = create(d, &placements, NULL, placement_doc(d, placement), err);
        if (code < 1)
                return code < 0 ? code : error_set(err, ERR_INTERNAL, "%s could not be made", name);
        p->there = true;
        day_note_fitting(d, placement, true);
        log_info(&d->log, "move", "place", name);
        return 1;
}

static int unplace(struct day *d, unsigned placement, struct error *err)
{
        char name[32];

        day_placement_name(placement, name);
        TRY(delete (d->hub, &placements, NULL, name, err));
        TRY(delete (d->hub, &namespaces, NULL, name, err));
        d->placements[placement].there = false;
        log_info(&d->log, "move", "unplace", name);
        return 1;
}

static int edit(struct day *d, unsigned placement, struct error *err)
{
        struct day_placement *p = &d->placements[placement];
        char name[32];
        int code;

        day_placement_name(placement, name);
        code = patch(d->hub, &config_maps, name, "settings",
                     json_pack("{s:{s:o}}", "data", "color", json_sprintf("%u", p->color + 1)), err);
        if (code < 1)
                return code;
        p->color++;
        log_info(&d->log, "move", "edit", name, "color", LOG_INT(p->color));
        return 1;
}

/* Another tier, another number, other names. */
static int change_policy(struct day *d, unsigned placement, struct error *err)
{
        struct day_placement *p = &d->placements[placement], before = *p;
        char name[32];
        int code;

        if (p->kind == DAY_EVERYWHERE)
                return 0;
        p->tier = (unsigned)dice_below(&d->dice, DAY_TIERS);
        p->wanted = 1 + (unsigned)dice_below(&d->dice, MAX(d->n / 10, 2u));
        p->first = (unsigned)dice_below(&d->dice, d->n);
        day_placement_name(placement, name);
        code = patch(d->hub, &placements, NULL, name,
                     json_pack("{s:{s:o}}", "spec", "policy", policy_doc(d, p)), err);
        if (code < 1) {
                p->tier = before.tier;
                p->wanted = before.wanted;
                p->first = before.first;
                return code;
        }
        p->wanted_before = before.wanted;
        p->wanted_ms = loop_now_ms(d->loop);
        /* Drawn once more as it was it is no change, and who fitted once may stay. */
        day_note_fitting(d, placement,
                         p->kind == DAY_FIXED ? p->first != before.first : p->tier != before.tier);
        log_info(&d->log, "move", "policy", name, "wanted", LOG_INT(p->wanted), "tier", LOG_INT(p->tier));
        return 1;
}

int day_make_run(struct day *d, unsigned placement, struct error *err)
{
        struct day_placement *p = &d->placements[placement];
        char name[32], run[48];
        int code;

        day_placement_name(placement, name);
        snprintf(run, sizeof(run), "%s-run-%u", name, p->runs + 1);
        code = create(d, &day_run_resource, NULL,
                      object(&day_run_resource, NULL, run, "spec",
                             json_pack("{s:s, s:s, s:s}", "placementName", name, "stagedRolloutStrategyName",
                                       name, "state", "Run")),
                      err);
        if (code < 1)
                return code;
        p->runs++;
        log_info(&d->log, "move", "run", run);
        return 1;
}

/* ---- members ---- */

static void note_all_fitting(struct day *d)
{
        for (unsigned i = 0; i < DAY_PLACEMENTS; i++)
                day_note_fitting(d, i, false);
}

static json_t *labels_of(const struct day *d, unsigned member)
{
        return json_pack("{s:{s:{s:o, s:o}}}", "metadata", "labels", "tier",
                         json_sprintf("tier-%u", d->members[member].tier), "zone",
                         json_sprintf("zone-%u", member % DAY_ZONES));
}

int day_join(struct day *d, unsigned member, struct error *err)
{
        char name[32];

        day_member_name(member, name);
        TRY(fleet_join_member(d->fleet, name, err));
        TRY(patch(d->hub, &day_member_resource, NULL, name, labels_of(d, member), err));
        d->members[member].in = true;
        note_all_fitting(d);
        log_info(&d->log, "move", "join", name);
        return 1;
}

static bool is_here(const struct day_member *m)
{
        return m->in && !m->down && !m->cut;
}

static int leave(struct day *d, unsigned member, struct error *err)
{
        struct day_member *m = &d->members[member];
        char name[32];
        int code;

        if (!is_here(m))
                return 0;
        day_member_name(member, name);
        code = delete (d->hub, &day_member_resource, NULL, name, err);
        if (code < 1)
                return code;
        m->in = false;
        m->leaving = true;
        note_all_fitting(d);
        log_info(&d->log, "move", "leave", name);
        return 1;
}

static int relabel(struct day *d, unsigned member, struct error *err)
{
        struct day_member *m = &d->members[member];
        unsigned before = m->tier;
        char name[32];
        int code;

        if (!m->in)
                return 0;
        m->tier = (unsigned)dice_below(&d->dice, DAY_TIERS);
        day_member_name(member, name);
        code = patch(d->hub, &day_member_resource, NULL, name, labels_of(d, member), err);
        if (code < 1) {
                m->tier = before;
                return code;
        }
        note_all_fitting(d);
        log_info(&d->log, "move", "relabel", name, "tier", LOG_INT(m->tier));
        return 1;
}

/* Its agent is killed, or the link to the hub is cut, for ten minutes to an hour. */
static int go_away(struct day *d, unsigned member, struct error *err)
{
        struct day_member *m = &d->members[member];
        bool cut = dice_percent(&d->dice, 50);
        char name[32];

        if (!is_here(m))
                return 0;
        day_member_name(member, name);
        if (cut)
                TRY(d->fleet->ops->set_link(d->fleet, name, false, err));
        else
                TRY(d->fleet->ops->stop_agent(d->fleet, name, true, err));
        m->cut = cut;
        m->down = !cut;
        m->back_ms = loop_now_ms(d->loop) + AWAY_MS + (int64_t)dice_below(&d->dice, 5 * AWAY_MS);
        log_info(&d->log, "move", cut ? "cut" : "kill", name);
        return 1;
}

static int bring_back(struct day *d, unsigned member, struct error *err)
{
        struct day_member *m = &d->members[member];
        char name[32];

        day_member_name(member, name);
        if (m->cut)
                TRY(d->fleet->ops->set_link(d->fleet, name, true, err));
        if (m->down)
                TRY(d->fleet->ops->start_agent(d->fleet, name, err));
        m->cut = m->down = false;
        log_info(&d->log, "move", "back", name);
        return 0;
}

/* Somebody edits or deletes what was placed on a member. */
static int drift(struct day *d, unsigned member, struct error *err)
{
        unsigned placement = (unsigned)dice_below(&d->dice, DAY_PLACEMENTS);
        struct kube_client *k;
        char name[32], ns[32];
        bool edits = dice_percent(&d->dice, 70);
        int code;

        day_member_name(member, name);
        day_placement_name(placement, ns);
        if (!is_here(&d->members[member]) || !sim_fleet_get(d->fleet, name, "/configmaps", ns, "settings"))
                return 0;
        TRY(d->fleet->ops->client(d->fleet, name, &k, err));
        code = edits ? patch(k, &config_maps, ns, "settings",
                             json_pack("{s:{s:s}}", "data", "color", "by hand"), err)
                     : delete (k, &config_maps, ns, "settings", err);
        if (code == 1)
                log_info(&d->log, "move", edits ? "drift" : "delete", name, "of", ns);
        return code;
}

static int evict(struct day *d, unsigned member, struct error *err)
{
        unsigned placement = (unsigned)dice_below(&d->dice, DAY_PLACEMENTS);
        const struct day_placement *p = &d->placements[placement];
        char name[32], cluster[32], of[32];
        int code;

        if (!p->there || p->kind == DAY_FIXED || p->kind == DAY_STAGED || !p->live[member])
                return 0;
        snprintf(name, sizeof(name), "evict-%u", d->evictions + 1);
        day_member_name(member, cluster);
        day_placement_name(placement, of);
        code = create(d, &evictions, NULL,
                      object(&evictions, NULL, name, "spec",
                             json_pack("{s:s, s:s}", "placementName", of, "clusterName", cluster)),
                      err);
        if (code < 1)
                return code;
        d->evictions++;
        log_info(&d->log, "move", "evict", cluster, "of", of);
        return 1;
}

/* ---- machines ---- */

static int kill_hub_agent(struct day *d, struct error *err)
{
        unsigned index = (unsigned)dice_below(&d->dice, d->fleet->n_hub_agents);
        char name[FLEET_AGENT_NAME];

        if (d->hub_agent_down)
                return 0;
        fleet_hub_agent_name(index, name);
        if (d->fleet->ops->stop_agent(d->fleet, name, true, err) < 0) { /* it ended by itself just now */
                error_clear(err);
                return 0;
        }
        d->hub_agent_down = index + 1;
        d->hub_agent_back_ms = loop_now_ms(d->loop) + HUB_AGENT_AWAY_MS;
        log_info(&d->log, "move", "kill", name);
        return 1;
}

static int bring_hub_agent_back(struct day *d, struct error *err)
{
        char name[FLEET_AGENT_NAME];

        fleet_hub_agent_name(d->hub_agent_down - 1, name);
        d->hub_agent_down = 0;
        return d->fleet->ops->start_agent(d->fleet, name, err);
}

static int trouble_servers(struct day *d, struct error *err)
{
        bool kills = dice_percent(&d->dice, 30);

        log_info(&d->log, "move", "servers", kills ? "die" : "restart");
        TRY(kills ? sim_fleet_kill_server(d->fleet, dice_percent(&d->dice, 50), err)
                  : d->fleet->ops->restart_server(d->fleet, err));
        return 1;
}

/* ---- all of them ---- */

int day_come_back(struct day *d, struct error *err)
{
        int64_t now = loop_now_ms(d->loop);

        for (unsigned i = 1; i <= d->n; i++) {
                struct day_member *m = &d->members[i];
                char name[32];

                if ((m->down || m->cut) && m->back_ms <= now)
                        TRY(bring_back(d, i, err));
                if (!m->leaving)
                        continue;
                day_member_name(i, name);
                if (sim_fleet_get(d->fleet, "hub", "cluster.kubernetes-fleet.io/memberclusters", "", name))
                        continue;
                m->leaving = false;
                if (d->fleet->ops->stop_agent(d->fleet, name, false, err) < 0)
                        error_clear(err); /* it ended by itself just now */
        }
        return d->hub_agent_down && d->hub_agent_back_ms <= now ? bring_hub_agent_back(d, err) : 0;
}

int day_heal(struct day *d, struct error *err)
{
        for (unsigned i = 1; i <= d->n; i++)
                if (d->members[i].down || d->members[i].cut)
                        TRY(bring_back(d, i, err));
        return d->hub_agent_down ? bring_hub_agent_back(d, err) : 0;
}

static unsigned any_member(struct day *d)
{
        return 1 + (unsigned)dice_below(&d->dice, d->n);
}

static int join_one(struct day *d, struct error *err)
{
        unsigned first = any_member(d);

        for (unsigned i = 0; i < d->n; i++) {
                unsigned member = (first + i) % d->n + 1;

                if (!d->members[member].in && !d->members[member].leaving)
                        return day_join(d, member, err);
        }
        return 0;
}

static int move_placement(struct day *d, unsigned what, struct error *err)
{
        unsigned placement = (unsigned)dice_below(&d->dice, DAY_PLACEMENTS);
        struct day_placement *p = &d->placements[placement];

        if (!p->there)
                return day_make_placement(d, placement, err);
        if (p->kind == DAY_EVERYWHERE && !dice_percent(&d->dice, 25)) /* it costs as much as all others */
                return 0;
        if (what < 60)
                return edit(d, placement, err);
        if (what < 85)
                return change_policy(d, placement, err);
        return p->kind == DAY_EVERYWHERE ? 0 : unplace(d, placement, err);
}

static int move_run(struct day *d, struct error *err)
{
        for (unsigned i = 0; i < DAY_PLACEMENTS; i++)
                if (d->placements[i].kind == DAY_STAGED && d->placements[i].there && day_run_state(d, i) != 0)
                        return day_make_run(d, i, err);
        return 0;
}

int day_move(struct day *d, struct error *err)
{
        unsigned what = (unsigned)dice_below(&d->dice, 100), more = (unsigned)dice_below(&d->dice, 100);

        if (what < 25)
                return move_placement(d, more, err);
        if (what < 45)
                return drift(d, any_member(d), err);
        if (what < 57)
                return go_away(d, any_member(d), err);
        if (what < 67)
                return evict(d, any_member(d), err);
        if (what < 75)
                return relabel(d, any_member(d), err);
        if (what < 83)
                return join_one(d, err);
        if (what < 89)
                return leave(d, any_member(d), err);
        if (what < 95)
                return move_run(d, err);
        return what < 98 ? kill_hub_agent(d, err) : trouble_servers(d, err);
}
