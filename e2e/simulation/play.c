#include "e2e/simulation/play.h"

#include "common/base/memory.h"
#include "e2e/simulation/sim_fleet.h"

static const struct kube_resource namespaces = { "", "v1", "namespaces", "Namespace", false };
static const struct kube_resource config_maps = { "", "v1", "configmaps", "ConfigMap", true };
static const struct kube_resource placements = { "placement.kubernetes-fleet.io", "v1beta1",
                                                 "clusterresourceplacements", "ClusterResourcePlacement",
                                                 false };

#define API "placement.kubernetes-fleet.io/v1beta1"

static struct loop *loop_of(const struct play *p)
{
        return p->fleet->world->loop;
}

static int hub(struct play *p, struct kube_client **ret, struct error *err)
{
        return p->fleet->ops->client(p->fleet, "hub", ret, err);
}

static int member(struct play *p, unsigned index, struct kube_client **ret, struct error *err) /* 0 = hub */
{
        char name[32];

        snprintf(name, sizeof(name), "member-%u", index);
        return p->fleet->ops->client(p->fleet, index ? name : "hub", ret, err);
}

static int apply(struct kube_client *k, const struct kube_resource *r, const char *ns, const char *name,
                 json_t *doc, struct error *err)
{
        struct kube_write how = { .field_manager = "player", .force = true };
        int code = doc ? kube_doc_patch(k, r, ns, name, KUBE_PATCH_APPLY, doc, &how, NULL, err)
                       : error_no_memory(err);

        json_decref(doc);
        return code;
}

static int apply_config(struct kube_client *k, const char *ns, const char *name, unsigned color,
                        struct error *err)
{
        char text[16];

        snprintf(text, sizeof(text), "%u", color);
        return apply(k, &config_maps, ns, name,
                     json_pack("{s:s, s:s, s:{s:s, s:s}, s:{s:s}}", "apiVersion", "v1", "kind", "ConfigMap",
                               "metadata", "name", name, "namespace", ns, "data", "color", text),
                     err);
}

static int make_app(struct play *p, unsigned i, struct error *err)
{
        struct kube_client *k;
        char name[16];

        snprintf(name, sizeof(name), "app-%u", i);
        TRY(hub(p, &k, err));
        TRY(apply(k, &namespaces, NULL, name,
                  json_pack("{s:s, s:s, s:{s:s}}", "apiVersion", "v1", "kind", "Namespace", "metadata",
                            "name", name),
                  err));
        p->apps[i].exists = true;
        p->apps[i].color = (unsigned)dice_below(&p->dice, 1000);
        return apply_config(k, name, "settings", p->apps[i].color, err);
}

static int recolor(struct play *p, unsigned i, struct error *err)
{
        struct kube_client *k;
        char name[16];

        snprintf(name, sizeof(name), "app-%u", i);
        TRY(hub(p, &k, err));
        p->apps[i].color = (unsigned)dice_below(&p->dice, 1000);
        return apply_config(k, name, "settings", p->apps[i].color, err);
}

static int place(struct play *p, unsigned i, struct error *err)
{
        int clusters = (int)dice_below(&p->dice, p->fleet->n_members + 1);
        struct kube_client *k;
        json_t *policy;
        char name[16];

        /* The placement type cannot change once set. */
        if (p->apps[i].placed)
                clusters = p->apps[i].clusters == 0 ? 0 : MAX(clusters, 1);
        snprintf(name, sizeof(name), "app-%u", i);
        TRY(hub(p, &k, err));
        policy = clusters ? json_pack("{s:s, s:i}", "placementType", "PickN", "numberOfClusters", clusters)
                          : json_pack("{s:s}", "placementType", "PickAll");
        TRY(apply(k, &placements, NULL, name,
                  json_pack("{s:s, s:s, s:{s:s}, s:{s:[{s:s, s:s, s:s, s:s}], s:o}}", "apiVersion", API,
                            "kind", "ClusterResourcePlacement", "metadata", "name", name, "spec",
                            "resourceSelectors", "group", "", "version", "v1", "kind", "Namespace", "name",
                            name, "policy", policy),
                  err));
        p->apps[i].placed = true;
        p->apps[i].clusters = clusters;
        if (p->budget)
                budget_wants(p->budget, i, clusters ? (unsigned)clusters : p->fleet->n_members);
        return 0;
}

static int unplace(struct play *p, unsigned i, struct error *err)
{
        struct kube_client *k;
        char name[16];
        int code;

        snprintf(name, sizeof(name), "app-%u", i);
        TRY(hub(p, &k, err));
        code = kube_doc_delete(k, &placements, NULL, name, NULL, NULL, err);
        p->apps[i].placed = false;
        p->apps[i].leaving = true; /* until its finalizers are done, which may need who is away now */
        return code == ERR_NOT_FOUND ? 0 : code;
}

static bool is_gone(struct play *p, unsigned i)
{
        AUTO_JSON json_t *doc = NULL;
        struct kube_client *k;
        struct error err;
        char name[16];

        snprintf(name, sizeof(name), "app-%u", i);
        if (p->apps[i].leaving && hub(p, &k, &err) == 0 &&
            kube_doc_get(k, &placements, NULL, name, &doc, &err) == ERR_NOT_FOUND)
                p->apps[i].leaving = false;
        return !p->apps[i].leaving;
}

/* Someone meddles with a placed object on a member. */
static int meddle(struct play *p, unsigned i, struct error *err)
{
        unsigned m = 1 + (unsigned)dice_below(&p->dice, p->fleet->n_members);
        struct kube_client *k;
        char name[16];

        snprintf(name, sizeof(name), "app-%u", i);
        TRY(member(p, m, &k, err));
        AUTO_JSON json_t *patch = json_pack("{s:{s:s}}", "data", "color", "meddled");
        if (dice_percent(&p->dice, 50))
                kube_doc_delete(k, &config_maps, name, "settings", NULL, NULL, err);
        else
                kube_doc_patch(k, &config_maps, name, "settings", KUBE_PATCH_MERGE, patch, NULL, NULL, err);
        return 0; /* it may not be there: no harm done */
}

/* ---- accidents ---- */

static unsigned n_agents(const struct play *p)
{
        return p->fleet->n_members + p->fleet->n_hub_agents;
}

static const char *agent_name(const struct play *p, unsigned index, char name[FLEET_AGENT_NAME])
{
        if (index > 0 && index <= p->fleet->n_members)
                snprintf(name, FLEET_AGENT_NAME, "member-%u", index);
        else
                fleet_hub_agent_name(index ? index - p->fleet->n_members : 0, name);
        return name;
}

/* What ended by itself is started again, as a kubelet does. */
static int keep_alive(struct play *p, unsigned index, struct error *err)
{
        char name[FLEET_AGENT_NAME];
        int code = -1;

        if (p->agent_down[index])
                return 0;
        TRY(p->fleet->ops->exit_code(p->fleet, agent_name(p, index, name), &code, err));
        return code < 0 ? 0 : p->fleet->ops->start_agent(p->fleet, name, err);
}

static int keep_all_alive(struct play *p, struct error *err)
{
        for (unsigned i = 0; i < n_agents(p); i++)
                TRY(keep_alive(p, i, err));
        return 0;
}

static int toggle_agent(struct play *p, unsigned index, struct error *err)
{
        char name[FLEET_AGENT_NAME];
        bool down = p->agent_down[index];

        TRY(keep_alive(p, index, err));
        p->agent_down[index] = !down;
        if (down)
                return p->fleet->ops->start_agent(p->fleet, agent_name(p, index, name), err);
        return p->fleet->ops->stop_agent(p->fleet, agent_name(p, index, name), dice_percent(&p->dice, 70),
                                         err);
}

static int toggle_link(struct play *p, unsigned index, struct error *err)
{
        char name[FLEET_AGENT_NAME];

        p->link_down[index] = !p->link_down[index];
        return p->fleet->ops->set_link(p->fleet, agent_name(p, index, name), !p->link_down[index], err);
}

static int toggle_disk(struct play *p, unsigned index, struct error *err)
{
        p->disk_full[index] = !p->disk_full[index];
        return sim_fleet_set_disk_full(p->fleet, index, p->disk_full[index], err);
}

/* The time of day jumps: NTP, or a machine that slept. Forward it outlives tokens. */
static int jump(struct play *p)
{
        int64_t by = (int64_t)dice_below(&p->dice, 1500000);

        loop_shift_wall(loop_of(p), dice_percent(&p->dice, 70) ? by : -by / 5);
        return 0;
}

static int act(struct play *p, struct error *err)
{
        unsigned i = (unsigned)dice_below(&p->dice, PLAY_APPS),
                 agent = (unsigned)dice_below(&p->dice, n_agents(p));
        uint64_t what = dice_below(&p->dice, 100);
        struct play_app *a = &p->apps[i];

        p->actions++;
        if (!a->exists)
                return make_app(p, i, err);
        if (what < 30)
                return recolor(p, i, err);
        if (what < 50)
                return is_gone(p, i) ? place(p, i, err) : 0;
        if (what < 58 && a->placed)
                return unplace(p, i, err);
        if (what < 70)
                return meddle(p, i, err);
        if (what < 82)
                return toggle_agent(p, agent, err);
        if (what < 90)
                return toggle_link(p, agent, err);
        if (what < 94)
                return jump(p);
        if (what < 97)
                return toggle_disk(p, 1 + agent % p->fleet->n_members, err);
        return p->fleet->ops->restart_server(p->fleet, err);
}

static void heal(struct play *p)
{
        struct error err;

        for (unsigned i = 0; i < n_agents(p); i++) {
                if (p->link_down[i])
                        toggle_link(p, i, &err);
                if (p->agent_down[i])
                        toggle_agent(p, i, &err);
                if (p->disk_full[i])
                        toggle_disk(p, i, &err);
        }
}

int play_run(struct play *p, int64_t ms, struct error *err)
{
        int64_t end = loop_now_ms(loop_of(p)) + ms;

        p->faults->on = true;
        while (loop_now_ms(loop_of(p)) < end) {
                TRY(fiber_sleep(loop_of(p), 200 + (int64_t)dice_below(&p->dice, 6000)));
                /* Now and then everybody is back, or little would ever get done. */
                if (p->actions % 16 == 15)
                        heal(p);
                TRY(keep_all_alive(p, err));
                TRY(act(p, err));
                TRY(budget_verdict(p->budget, err));
        }
        return 0;
}

/* ---- invariants ---- */

int play_prepare(struct play *p, struct error *err)
{
        for (unsigned i = 0; i <= p->fleet->n_members; i++) {
                AUTO_JSON json_t *doc = NULL;
                struct kube_client *k;

                TRY(member(p, i, &k, err));
                TRY(apply_config(k, "default", "not-ours", i, err));
                TRY(kube_doc_get(k, &config_maps, "default", "not-ours", &doc, err));
                p->sentinel_version[i] = mem_strdup(doc_get_string(doc, "metadata.resourceVersion"));
        }
        return 0;
}

void play_clear(struct play *p)
{
        for (size_t i = 0; i < ARRAY_LEN(p->sentinel_version); i++) {
                mem_free(p->sentinel_version[i]);
                p->sentinel_version[i] = NULL;
        }
}

static bool names_cluster(const json_t *placement, unsigned index)
{
        char name[32];
        json_t *s;
        size_t i;

        snprintf(name, sizeof(name), "member-%u", index);
        json_array_foreach(doc_get_array(placement, "status.placementStatuses"), i, s)
                if (text_equal(doc_get_string(s, "clusterName"), name))
                        return true;
        return false;
}

static bool is_true(const json_t *placement, const char *type)
{
        int64_t generation = doc_get_int(placement, "metadata.generation", 0);
        json_t *c;
        size_t i;

        json_array_foreach(doc_get_array(placement, "status.conditions"), i, c)
                if (text_equal(doc_get_string(c, "type"), type))
                        return text_equal(doc_get_string(c, "status"), "True") &&
                               doc_get_int(c, "observedGeneration", -1) == generation;
        return false;
}

static int check_data(struct play *p, unsigned app, unsigned index, const json_t *doc, struct error *err)
{
        AUTO_JSON json_t *wanted = NULL;
        struct kube_client *k;
        char name[16], color[16];

        snprintf(name, sizeof(name), "app-%u", app);
        snprintf(color, sizeof(color), "%u", p->apps[app].color);
        TRY(hub(p, &k, err));
        TRY(kube_doc_get(k, &config_maps, name, "settings", &wanted, err));
        if (!text_equal(doc_get_string(wanted, "data.color"), color))
                return error_set(err, ERR_INTERNAL, "%s on the hub has color %s, not %s as it was given",
                                 name, doc_get_string(wanted, "data.color"), color);
        if (!json_equal(doc_get(wanted, "data"), doc_get(doc, "data")))
                return error_set(err, ERR_INVALID, "%s on member-%u has color %s, not %s", name, index,
                                 doc_get_string(doc, "data.color"), color);
        return 0;
}

/* One application on one member: there exactly as on the hub if chosen, else not there at all. */
static int check_on_member(struct play *p, unsigned app, unsigned index, bool chosen, struct error *err)
{
        AUTO_JSON json_t *doc = NULL;
        struct kube_client *k;
        char name[16];
        int code;

        snprintf(name, sizeof(name), "app-%u", app);
        TRY(member(p, index, &k, err));
        code = kube_doc_get(k, chosen ? &config_maps : &namespaces, chosen ? name : NULL,
                            chosen ? "settings" : name, &doc, err);
        if (!chosen)
                return code == ERR_NOT_FOUND
                               ? 0
                               : error_set(err, ERR_INVALID,
                                           "%s is on member-%u although it is not placed there", name, index);
        if (code < 0)
                return error_wrap(err, "%s on member-%u", name, index);
        return check_data(p, app, index, doc, err);
}

/* What the placement says of one cluster: all is well there, with the newest resources. */
static int check_cluster_status(unsigned app, const json_t *placement, const json_t *cluster,
                                struct error *err)
{
        static const char *const types[] = { "Scheduled", "RolloutStarted", "WorkSynchronized", "Applied",
                                             "Available" };
        const char *index = doc_get_string(placement, "status.observedResourceIndex");

        for (size_t i = 0; i < ARRAY_LEN(types); i++) {
                bool good = false;
                json_t *c;
                size_t k;

                json_array_foreach(doc_get_array(cluster, "conditions"), k, c)
                        good = good || (text_equal(doc_get_string(c, "type"), types[i]) &&
                                        text_equal(doc_get_string(c, "status"), "True"));
                if (!good)
                        return error_set(err, ERR_INVALID, "placement app-%u: %s is not True for %s", app,
                                         types[i], doc_get_string(cluster, "clusterName"));
        }
        if (json_array_size(doc_get_array(cluster, "failedPlacements")) > 0)
                return error_set(err, ERR_INVALID, "placement app-%u lists failures on %s", app,
                                 doc_get_string(cluster, "clusterName"));
        if (!index || !text_equal(doc_get_string(cluster, "observedResourceIndex"), index))
                return error_set(err, ERR_INVALID, "placement app-%u: %s has resource index %s, not %s", app,
                                 doc_get_string(cluster, "clusterName"),
                                 doc_get_string(cluster, "observedResourceIndex"), index ? index : "any");
        return 0;
}

static int check_status(struct play *p, unsigned app, const json_t *placement, struct error *err)
{
        static const char *const types[] = { "ClusterResourcePlacementScheduled",
                                             "ClusterResourcePlacementRolloutStarted",
                                             "ClusterResourcePlacementWorkSynchronized",
                                             "ClusterResourcePlacementApplied",
                                             "ClusterResourcePlacementAvailable" };
        json_t *cluster;
        size_t k;
        unsigned n = 0,
                 wanted = p->apps[app].clusters ? (unsigned)p->apps[app].clusters : p->fleet->n_members;

        for (size_t i = 0; i < ARRAY_LEN(types); i++)
                if (!is_true(placement, types[i]))
                        return error_set(err, ERR_INVALID, "placement app-%u: %s is not True and current",
                                         app, types[i]);
        json_array_foreach(doc_get_array(placement, "status.placementStatuses"), k, cluster)
                if (doc_get_string(cluster, "clusterName"))
                        TRY(check_cluster_status(app, placement, cluster, err));
        for (unsigned i = 1; i <= p->fleet->n_members; i++)
                n += names_cluster(placement, i);
        if (n != wanted)
                return error_set(err, ERR_INVALID, "placement app-%u is on %u clusters, not on %u", app, n,
                                 wanted);
        return 0;
}

static int check_app(struct play *p, unsigned app, struct error *err)
{
        AUTO_JSON json_t *placement = NULL;
        struct kube_client *k;
        char name[16];
        int code;

        snprintf(name, sizeof(name), "app-%u", app);
        TRY(hub(p, &k, err));
        code = kube_doc_get(k, &placements, NULL, name, &placement, err);
        if (p->apps[app].placed) {
                if (code < 0)
                        return error_wrap(err, "placement %s", name);
                TRY(check_status(p, app, placement, err));
        } else if (code != ERR_NOT_FOUND) {
                return error_set(err, ERR_INVALID, "placement %s is still there", name);
        }
        for (unsigned i = 1; i <= p->fleet->n_members; i++)
                TRY(check_on_member(p, app, i, p->apps[app].placed && names_cluster(placement, i), err));
        return 0;
}

static int check_sentinel(struct play *p, unsigned index, struct error *err)
{
        AUTO_JSON json_t *doc = NULL;
        struct kube_client *k;

        TRY(member(p, index, &k, err));
        TRY(kube_doc_get(k, &config_maps, "default", "not-ours", &doc, err));
        if (!text_equal(doc_get_string(doc, "metadata.resourceVersion"), p->sentinel_version[index]))
                return error_set(err, ERR_INTERNAL, "cluster %u: an object that is not ours was touched",
                                 index); /* 0 = hub */
        return 0;
}

/* No Work twice: on the hub each member's namespace holds one Work per placement that chose it. */
static int check_works(struct play *p, unsigned index, struct error *err)
{
        static const struct kube_resource works = { "placement.kubernetes-fleet.io", "v1beta1", "works",
                                                    "Work", true };
        AUTO_JSON json_t *items = NULL;
        bool seen[PLAY_APPS] = { false };
        struct kube_client *k;
        char ns[64];
        json_t *work;
        size_t i;

        snprintf(ns, sizeof(ns), "fleet-member-member-%u", index);
        TRY(hub(p, &k, err));
        TRY(kube_doc_list(k, &works, ns, NULL, &items, err));
        json_array_foreach(items, i, work) {
                static const char *const keys[] = { "metadata", "labels", "kubernetes-fleet.io/parent-CRP" };
                const char *parent = json_string_value(doc_get_keys(work, keys, 3));
                uint64_t app = PLAY_APPS;

                if (!parent || !text_starts_with(parent, "app-") || !text_parse_u64(parent + 4, &app) ||
                    app >= PLAY_APPS || !p->apps[app].placed)
                        return error_set(err, ERR_INVALID, "Work %s/%s is left over", ns,
                                         doc_get_string(work, "metadata.name"));
                if (seen[app])
                        return error_set(err, ERR_INVALID, "%s holds two Works of placement %s", ns, parent);
                seen[app] = true;
        }
        return 0;
}

static int check_all(struct play *p, struct error *err)
{
        for (unsigned app = 0; app < PLAY_APPS; app++)
                if (p->apps[app].exists)
                        TRY(check_app(p, app, err));
        for (unsigned i = 0; i <= p->fleet->n_members; i++)
                TRY(check_sentinel(p, i, err));
        for (unsigned i = 1; i <= p->fleet->n_members; i++)
                TRY(check_works(p, i, err));
        return 0;
}

int play_settle(struct play *p, int64_t within_ms, struct error *err)
{
        int64_t end = loop_now_ms(loop_of(p)) + within_ms;
        int code;

        p->faults->on = false;
        heal(p);
        while ((code = check_all(p, err)) < 0 && code != ERR_INTERNAL && loop_now_ms(loop_of(p)) < end) {
                TRY(fiber_sleep(loop_of(p), 500));
                TRY(keep_all_alive(p, err));
        }
        return code < 0 ? code : budget_verdict(p->budget, err);
}
