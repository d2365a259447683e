#include "common/base/map.h"
#include "common/base/memory.h"
#include "common/base/timefmt.h"
#include "e2e/simulation/rules.h"

/* What an update run does to clusters, seen from their bindings: only clusters of the stage that is on, when
 * those before it are done and what stands before it is approved, so many at a time, and to the run's
 * snapshot. spec/staged-update-and-eviction.md 6.
 *
 * A binding does not name its run: it may have been rolled out by who had not heard yet that runs do that.
 * Whose it was tells RolloutStarted, a moment later: only then the verdict is given. A run that does not say
 * yet what it will do writes none. */

struct flight { /* a cluster that a run has set going */
        char binding[128], snapshot[128], cluster[64];
        char run[64];
        bool in_namespace, arrived, known; /* known: it was that run */
        bool left;                         /* it was unscheduled meanwhile */
        int64_t since_ms;
        char wrong[256]; /* what is wrong about it if it was that run; "" = nothing */
};

struct clusters {
        bool begun;
        struct map flights; /* "uid of a run/cluster" -> struct flight */
        struct map stopped; /* uid of a run -> since when it should not go on */
};

static void begin(struct clusters *s)
{
        if (s->begun)
                return;
        map_init(&s->flights, MAP_OWN_KEYS, mem_free);
        map_init(&s->stopped, MAP_OWN_KEYS, NULL);
        s->begun = true;
}

static void clusters_end(void *state)
{
        struct clusters *s = state;

        if (!s->begun)
                return;
        map_free(&s->flights);
        map_free(&s->stopped);
}

/* ---- which run ---- */

/* "app-0-3-snapshot" of placement app-0: "3". */
static bool index_of(const json_t *binding, const char *placement, char ret[32])
{
        const char *name = doc_get_string(binding, "spec.resourceSnapshotName"),
                   *slash = strchr(placement, '/'), *bare = slash ? slash + 1 : placement, *end;
        size_t n = strlen(bare);

        if (!name || strncmp(name, bare, n) != 0 || name[n] != '-' || !(end = strchr(name + n + 1, '-')))
                return false;
        snprintf(ret, 32, "%.*s", (int)(end - name - (ptrdiff_t)n - 1), name + n + 1);
        return true;
}

/* The stage with the cluster; the number of stages if there is none. */
static size_t stage_with(const json_t *run, const char *cluster)
{
        size_t n = rule_run_stages(run), i;
        json_t *c;

        for (size_t stage = 0; stage < n; stage++)
                json_array_foreach(json_object_get(rule_run_stage(run, stage), "clusters"), i, c)
                        if (text_equal(doc_get_string(c, "clusterName"), cluster))
                                return stage;
        return n;
}

struct search {
        char placement[192], index[32];
        const char *cluster;
        const json_t *found; /* it has begun, and has the cluster and the snapshot */
        unsigned n_found;
};

static bool note_run(void *ctx, const json_t *run)
{
        struct search *s = ctx;

        if (!rule_run_is_of(run, s->placement) || !rule_run_began(run) || rule_run_ended(run) ||
            !text_equal(doc_get_string(run, "status.resourceSnapshotIndexUsed"), s->index) ||
            stage_with(run, s->cluster) == rule_run_stages(run))
                return true;
        s->found = run;
        s->n_found++;
        return true;
}

static bool search_runs(struct watch *w, const json_t *binding, struct search *ret)
{
        const char *ns = doc_get_string(binding, "metadata.namespace");

        *ret = (struct search){ .cluster = doc_get_string(binding, "spec.targetCluster") };
        if (!rule_placement_of(binding, ret->placement) || !index_of(binding, ret->placement, ret->index))
                return false;
        watch_each(w, "hub", ns ? RES_NS_RUNS : RES_RUNS, ns, note_run, ret);
        return ret->n_found > 0;
}

bool rule_run_may_write(struct watch *w, const json_t *binding)
{
        struct search s;

        return search_runs(w, binding, &s);
}

struct going {
        bool found;
};

static bool note_going(void *ctx, const json_t *run)
{
        struct going *g = ctx;

        g->found = !rule_run_ended(run);
        return !g->found;
}

bool rules_runs_go_on(struct watch *w)
{
        struct going g = { false };

        watch_each(w, "hub", RES_RUNS, NULL, note_going, &g);
        if (!g.found)
                watch_each(w, "hub", RES_NS_RUNS, NULL, note_going, &g);
        return g.found;
}

/* ---- how many are under way ---- */

static size_t max_of(const json_t *config, size_t n)
{
        const json_t *max = json_object_get(config, "maxConcurrency");
        size_t most = !max ? 1 : (size_t)json_integer_value(max);

        if (json_is_string(max))
                most = (size_t)strtoul(json_string_value(max), NULL, 10) * n / 100;
        return MAX(most, 1u);
}

/* It may have been given up by now. The run's own clock runs from a moment before ours. */
static bool may_have_failed(const json_t *config, const struct flight *f, int64_t now)
{
        const char *timeout = doc_get_string(config, "clusterTimeout");
        int64_t ns = 0;

        return json_object_get(config, "maxFailedClusters") && timeout &&
               duration_parse_go(slice_of(timeout), &ns) == 0 && now - f->since_ms > ns / 1000000 - 15000;
}

/* A run that keeps its clusters skips one that is picked no more, and says so a moment after the next was
 * sent: the bindings of a pass are written before its status. */
static bool may_be_skipped(const json_t *run, const struct flight *f)
{
        return f->left &&
               text_equal(doc_get_string(run, "status.stagedUpdateStrategySnapshot.onClusterChange"),
                          CLUSTER_CHANGE_CONTINUE);
}

static size_t count_flights(struct clusters *s, const json_t *run, size_t stage, int64_t now)
{
        const json_t *config = rule_run_config(run, stage);
        const char *uid = doc_get_string(run, "metadata.uid");
        json_t *cluster;
        size_t i, n = 0;

        json_array_foreach(json_object_get(rule_run_stage(run, stage), "clusters"), i, cluster) {
                const struct flight *f;
                char key[160];

                snprintf(key, sizeof(key), "%s/%s", uid, doc_get_string(cluster, "clusterName"));
                f = map_get(&s->flights, key);
                n += f && f->known && !f->arrived && !rule_run_cluster_is_over(config, cluster) &&
                     !may_have_failed(config, f, now) && !may_be_skipped(run, f);
        }
        return n;
}

static struct flight *take_off(struct clusters *s, const json_t *run, const struct change *c)
{
        const char *cluster = doc_get_string(c->after, "spec.targetCluster");
        struct flight *f = mem_must(NEW(struct flight));
        char key[160];

        *f = (struct flight){ .in_namespace = *c->ns, .since_ms = c->at_ms };
        snprintf(f->run, sizeof(f->run), "%s", doc_get_string(run, "metadata.name"));
        snprintf(f->binding, sizeof(f->binding), "%s/%s", c->ns, c->name);
        snprintf(f->snapshot, sizeof(f->snapshot), "%s",
                 doc_get_string(c->after, "spec.resourceSnapshotName"));
        snprintf(key, sizeof(key), "%s/%s", doc_get_string(run, "metadata.uid"), cluster);
        ASSERT(map_put(&s->flights, key, f) == 0);
        return f;
}

/* "..., updateRun: run-3" */
static bool names_run(const json_t *binding, const char *run)
{
        const char *message, *name;
        json_t *c;
        size_t i;

        json_array_foreach(doc_get_array(binding, "status.conditions"), i, c)
                if (text_equal(doc_get_string(c, "type"), "RolloutStarted") &&
                    (message = doc_get_string(c, "message")) && (name = strstr(message, "updateRun: ")))
                        return text_equal(name + strlen("updateRun: "), run);
        return false;
}

/* What becomes of the clusters that are on their way to what they were sent to. True: one more is known. */
static bool follow_flights(struct watch *w, struct clusters *s, const struct change *c)
{
        bool more = false;
        char name[128];

        snprintf(name, sizeof(name), "%s/%s", c->ns, c->name);
        map_for_each(&s->flights, e) {
                struct flight *f = e->value;

                if (!text_equal(f->binding, name) || f->in_namespace != !!*c->ns)
                        continue;
                f->arrived =
                        f->arrived || !c->after || rule_is_leaving(c->after) ||
                        !text_equal(doc_get_string(c->after, "spec.resourceSnapshotName"), f->snapshot) ||
                        rule_binding_is_ready(c->after);
                f->left = f->left || (c->after && !rule_binding_lives(c->after));
                if (f->known || f->arrived || !names_run(c->after, f->run))
                        continue;
                f->known = more = true;
                if (f->wrong[0])
                        watch_broken(w, &rule_run_clusters, "%s", f->wrong);
        }
        return more;
}

/* ---- the verdict ---- */

static bool is_approved(struct watch *w, const json_t *run, const json_t *task)
{
        const char *ns = doc_get_string(run, "metadata.namespace"),
                   *name = doc_get_string(task, "approvalRequestName");
        const json_t *request =
                name ? watch_get(w, "hub", ns ? RES_NS_APPROVALS : RES_APPROVALS, ns ? ns : "", name) : NULL;

        return rule_says(task, "ApprovalRequestApproved", "True") ||
               rule_says(json_object_get(request, "status"), "ApprovalAccepted", "True");
}

/* Users' stop may be heard late. */
static bool is_stopped(struct clusters *s, const json_t *run, int64_t now)
{
        intptr_t since = (intptr_t)map_get(&s->stopped, doc_get_string(run, "metadata.uid"));

        return since && now - since > RULE_LAG_MS;
}

static void judge_number(struct watch *w, struct clusters *s, const json_t *run, size_t stage, int64_t now)
{
        size_t n = count_flights(s, run, stage, now),
               max = max_of(rule_run_config(run, stage),
                            json_array_size(json_object_get(rule_run_stage(run, stage), "clusters")));

        if (n > max)
                watch_broken(w, &rule_run_clusters,
                             "run %s has %zu clusters of stage %zu under way, %zu may be",
                             doc_get_string(run, "metadata.name"), n, stage, max);
}

/* An empty stage is passed in one pass with what comes after it. */
static bool has_clusters(const json_t *stage)
{
        return json_array_size(json_object_get(stage, "clusters")) > 0;
}

static void judge(struct watch *w, struct clusters *s, const json_t *run, const struct change *c)
{
        const char *name = doc_get_string(run, "metadata.name"),
                   *cluster = doc_get_string(c->after, "spec.targetCluster");
        size_t stage = stage_with(run, cluster);
        const json_t *now = rule_run_stage(run, stage);

        struct flight *f = take_off(s, run, c);

        watch_judged(w, &rule_run_clusters);
        for (size_t i = 0; i < stage && !f->wrong[0]; i++)
                if (has_clusters(rule_run_stage(run, i)) &&
                    !rule_says(rule_run_stage(run, i), "Succeeded", "True"))
                        snprintf(f->wrong, sizeof(f->wrong),
                                 "run %s set %s going of stage %zu, stage %zu is on", name, cluster, stage,
                                 i);
        if (json_array_size(json_object_get(now, "beforeStageTaskStatus")) > 0 &&
            !is_approved(w, run, json_array_get(json_object_get(now, "beforeStageTaskStatus"), 0)))
                snprintf(f->wrong, sizeof(f->wrong), "run %s set %s going, and stage %zu is not approved",
                         name, cluster, stage);
        if (is_stopped(s, run, c->at_ms))
                snprintf(f->wrong, sizeof(f->wrong), "run %s set %s going after it was stopped", name,
                         cluster);
}

struct number {
        struct watch *w;
        struct clusters *s;
        int64_t now;
};

static bool judge_run(void *ctx, const json_t *run)
{
        struct number *n = ctx;

        for (size_t i = 0; rule_run_began(run) && !rule_run_ended(run) && i < rule_run_stages(run); i++)
                judge_number(n->w, n->s, run, i, n->now);
        return true;
}

static void judge_numbers(struct watch *w, struct clusters *s, const struct change *c)
{
        struct number n = { w, s, c->at_ms };

        watch_each(w, "hub", *c->ns ? RES_NS_RUNS : RES_RUNS, *c->ns ? c->ns : NULL, judge_run, &n);
}

static bool is_sent(const struct change *c)
{
        const char *to = doc_get_string(c->after, "spec.resourceSnapshotName");

        return rule_is_hub_agent(c->who) && to && *to && !rule_is_leaving(c->after) &&
               !text_equal(to, doc_get_string(c->before, "spec.resourceSnapshotName"));
}

static void note_state(struct clusters *s, const struct change *c)
{
        const char *uid = doc_get_string(c->after ? c->after : c->before, "metadata.uid");
        bool goes = c->after && text_equal(doc_get_string(c->after, "spec.state"), "Run");

        if (goes || !c->after)
                map_remove(&s->stopped, uid);
        else if (!map_has(&s->stopped, uid))
                ASSERT(map_put(&s->stopped, uid, (void *)(intptr_t)c->at_ms) == 0);
}

static void clusters_changed(struct watch *w, void *state, const struct change *c)
{
        struct clusters *s = state;
        struct search found;

        begin(s);
        if (text_equal(c->resource, RES_RUNS) || text_equal(c->resource, RES_NS_RUNS)) {
                note_state(s, c);
                judge_numbers(w, s, c);
        }
        if (!text_equal(c->resource, RES_BINDINGS) && !text_equal(c->resource, RES_NS_BINDINGS))
                return;
        if (follow_flights(w, s, c)) {
                watch_judged(w, &rule_run_clusters);
                judge_numbers(w, s, c);
        }
        if (is_sent(c) && search_runs(w, c->after, &found) && found.n_found == 1)
                judge(w, s, found.found, c);
}

const struct rule rule_run_clusters = { .name = "run-clusters",
                                        .state_size = sizeof(struct clusters),
                                        .changed = clusters_changed,
                                        .end = clusters_end };
