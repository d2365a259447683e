/* What the page may say of the fleet, from the hub's objects as they are: written once more, and simply. */
#include "e2e/simulation/model_parts.h"
#include "e2e/simulation/rules.h"
#include "e2e/simulation/sim_page_internal.h"

struct counted {
        int64_t total, done, busy, failed, waits, approvals;
};

/* ---- clusters ---- */

static const json_t *member_agent(const json_t *cluster)
{
        json_t *agent;
        size_t i;

        json_array_foreach(doc_get_array(cluster, "status.agentStatus"), i, agent)
                if (text_equal(doc_get_string(agent, "type"), "MemberAgent"))
                        return agent;
        return NULL;
}

static bool count_cluster(void *ctx, const json_t *cluster)
{
        struct counted *n = ctx;

        n->total++;
        if (rule_is_leaving(cluster))
                n->busy++;
        else if (!rule_says(json_object_get(cluster, "status"), "Joined", CONDITION_TRUE))
                n->waits++;
        else if (!rule_says(member_agent(cluster), "Healthy", CONDITION_TRUE))
                n->failed++;
        else
                n->done++;
        return true;
}

/* ---- runs ---- */

static bool waits_for_approval(const json_t *stage, const char *list)
{
        json_t *task;
        size_t i;

        json_array_foreach(json_object_get(stage, list), i, task)
                if (text_equal(doc_get_string(task, "type"), "Approval") &&
                    rule_says(task, "ApprovalRequestCreated", CONDITION_TRUE) &&
                    !rule_says(task, "ApprovalRequestApproved", CONDITION_TRUE))
                        return true;
        return false;
}

static bool count_run(void *ctx, const json_t *run)
{
        struct counted *n = ctx;
        bool waits = false;

        n->total++;
        for (size_t i = 0; i <= rule_run_stages(run); i++) {
                const json_t *stage = rule_run_stage(run, i);

                waits = waits || waits_for_approval(stage, "beforeStageTaskStatus") ||
                        waits_for_approval(stage, "afterStageTaskStatus");
        }
        n->approvals += waits && !rule_run_ended(run);
        return true;
}

/* ---- numbers ---- */

static int check_number(const struct page_sheet *s, const char *path, int64_t wanted, struct error *err)
{
        int64_t is = doc_get_int(s->head, path, -1);

        return is == wanted
                       ? 0
                       : error_set(err, ERR_INVALID, "the page: %s of the fleet is %lld, the hub says %lld",
                                   path, (long long)is, (long long)wanted);
}

static int check_clusters(struct fleet *f, const struct page_sheet *s, struct error *err)
{
        struct counted n = { 0 };

        sim_fleet_each(f, "hub", RES_MEMBERS, NULL, count_cluster, &n);
        TRY(check_number(s, "clusters.total", n.total, err));
        TRY(check_number(s, "clusters.done", n.done, err));
        TRY(check_number(s, "clusters.busy", n.busy, err));
        TRY(check_number(s, "clusters.failed", n.failed, err));
        return check_number(s, "clusters.waits", n.waits, err);
}

static int check_runs(struct fleet *f, const struct page_sheet *s, struct error *err)
{
        struct counted n = { 0 };

        sim_fleet_each(f, "hub", RES_RUNS, NULL, count_run, &n);
        sim_fleet_each(f, "hub", RES_NS_RUNS, NULL, count_run, &n);
        TRY(check_number(s, "runs.total", n.total, err));
        return check_number(s, "approvals", n.approvals, err);
}

/* ---- what is called available ---- */

/* "crp/web", "rp/team/web" */
static const json_t *placement_of_key(struct fleet *f, const char *key)
{
        const char *name = strrchr(key, '/') + 1;
        char ns[64] = "";

        if (!text_starts_with(key, "rp/"))
                return sim_fleet_get(f, "hub", RES_PLACEMENTS, "", name);
        snprintf(ns, sizeof(ns), "%.*s", (int)(name - 1 - key - strlen("rp/")), key + strlen("rp/"));
        return sim_fleet_get(f, "hub", RES_NS_PLACEMENTS, ns, name);
}

static bool is_available_on_all(const json_t *placement)
{
        int64_t generation = doc_get_int(placement, "metadata.generation", 0);
        const json_t *all = doc_get_array(placement, "status.placementStatuses");
        json_t *of;
        size_t i;

        json_array_foreach(all, i, of)
                if (!model_holds_now(of, CONDITION_AVAILABLE, generation) &&
                    !model_holds_now(of, CONDITION_DIFF_REPORTED, generation))
                        return false;
        return json_array_size(all) > 0;
}

static bool count_placement(void *ctx, const json_t *placement)
{
        ((struct counted *)ctx)->total++;
        return true;
}

static int check_placements(struct fleet *f, const struct page_sheet *s, struct error *err)
{
        struct counted n = { 0 };
        const char *key;
        json_t *row;

        sim_fleet_each(f, "hub", RES_PLACEMENTS, NULL, count_placement, &n);
        sim_fleet_each(f, "hub", RES_NS_PLACEMENTS, NULL, count_placement, &n);
        TRY(check_number(s, "placements.total", n.total, err));
        json_object_foreach(json_object_get(s->parts, "placements"), key, row) {
                const json_t *placement = placement_of_key(f, key);

                if (text_equal(doc_get_string(row, "word"), "available") && !is_available_on_all(placement))
                        return error_set(err, ERR_INVALID, "the page: %s is said to be available, %s", key,
                                         placement ? "but its status says otherwise" : "but it is not there");
        }
        return 0;
}

struct on_cluster {
        const char *placement, *cluster;
        bool available;
};

static bool note_binding(void *ctx, const json_t *binding)
{
        struct on_cluster *o = ctx;
        char key[192];

        if (text_equal(doc_get_string(binding, "spec.targetCluster"), o->cluster) &&
            rule_placement_of(binding, key) && text_equal(key, o->placement))
                o->available |= model_holds_now(json_object_get(binding, "status"), CONDITION_AVAILABLE,
                                                doc_get_int(binding, "metadata.generation", 0));
        return true;
}

static int check_placement(struct fleet *f, const struct page_sheet *s, struct error *err)
{
        const char *ns = doc_get_string(s->args, "ns"), *name = doc_get_string(s->args, "name"), *cluster;
        char key[192];
        json_t *row;

        snprintf(key, sizeof(key), "%s%s%s", or_empty(ns), ns ? "/" : "", name);
        json_object_foreach(json_object_get(s->parts, "clusters"), cluster, row) {
                struct on_cluster o = { key, cluster, false };

                if (!text_equal(doc_get_string(row, "word"), "available"))
                        continue;
                sim_fleet_each(f, "hub", ns ? RES_NS_BINDINGS : RES_BINDINGS, NULL, note_binding, &o);
                if (!o.available)
                        return error_set(err, ERR_INVALID,
                                         "the page: %s is said to be available on %s, its binding does not",
                                         key, cluster);
        }
        return 0;
}

static int check_run(struct fleet *f, const struct page_sheet *s, struct error *err)
{
        const char *ns = doc_get_string(s->args, "ns"), *name = doc_get_string(s->args, "name");
        const json_t *run = sim_fleet_get(f, "hub", ns ? RES_NS_RUNS : RES_RUNS, or_empty(ns), name);

        if (!run)
                return error_set(err, ERR_INVALID, "the page: run %s is shown, but it is not there", name);
        if (json_is_true(json_object_get(s->head, "over")) && !rule_run_ended(run))
                return error_set(err, ERR_INVALID, "the page: run %s is said to be over, and goes on", name);
        return 0;
}

int page_model_check(struct sim_page *p, const struct page_sheet *s, struct error *err)
{
        struct fleet *f = p->options.fleet;

        if (s->error)
                return 0;
        if (text_equal(s->view, "fleet")) {
                TRY(check_clusters(f, s, err));
                TRY(check_runs(f, s, err));
                TRY(check_placements(f, s, err));
        } else if (text_equal(s->view, "placement")) {
                TRY(check_placement(f, s, err));
        } else if (text_equal(s->view, "run")) {
                TRY(check_run(f, s, err));
        } else {
                return 0;
        }
        coverage_rule(p->options.coverage, "page-says");
        return 0;
}
