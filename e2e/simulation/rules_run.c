#include "common/base/map.h"
#include "common/base/memory.h"
#include "common/base/timefmt.h"
#include "e2e/simulation/rules.h"

/* Update runs: what a run says of itself only grows, its stages come one after the other, and none begins or
 * ends before its tasks are done. spec/staged-update-and-eviction.md 3, 5, 6. */

#define SECOND_MS 1000 /* moments are written down in whole seconds */

/* ---- shared with rules_run_clusters.c ---- */

const json_t *rule_condition(const json_t *owner, const char *type)
{
        json_t *c;
        size_t i;

        json_array_foreach(json_object_get(owner, "conditions"), i, c)
                if (text_equal(doc_get_string(c, "type"), type))
                        return c;
        return NULL;
}

bool rule_says(const json_t *owner, const char *type, const char *status)
{
        const json_t *c = rule_condition(owner, type);

        return c && text_equal(doc_get_string(c, "status"), status);
}

bool rule_run_ended(const json_t *run)
{
        const json_t *s = json_object_get(run, "status");

        return rule_says(s, "Initialized", "False") || rule_says(s, "Succeeded", "True") ||
               rule_says(s, "Succeeded", "False");
}

bool rule_run_began(const json_t *run)
{
        return rule_says(json_object_get(run, "status"), "Initialized", "True");
}

bool rule_run_is_of(const json_t *run, const char *placement)
{
        const char *ns = doc_get_string(run, "metadata.namespace"),
                   *of = doc_get_string(run, "spec.placementName"), *slash = strchr(placement, '/');
        size_t n = slash ? (size_t)(slash - placement) : 0;

        if (!ns || !slash)
                return !ns && !slash && text_equal(of, placement);
        return strlen(ns) == n && strncmp(ns, placement, n) == 0 && text_equal(of, slash + 1);
}

bool rule_note_run_use(void *ctx, const json_t *run)
{
        struct rule_run_use *u = ctx;
        const char *used = doc_get_string(run, "status.resourceSnapshotIndexUsed"),
                   *asked = doc_get_string(run, "spec.resourceSnapshotIndex");

        u->found = rule_run_is_of(run, u->placement) && !rule_run_ended(run) &&
                   text_equal(used && *used ? used : asked, u->index);
        return !u->found;
}

const json_t *rule_run_stage(const json_t *run, size_t stage)
{
        const json_t *stages = doc_get_array(run, "status.stagesStatus");

        return stage < json_array_size(stages) ? json_array_get(stages, stage)
                                               : doc_get_object(run, "status.deletionStageStatus");
}

size_t rule_run_stages(const json_t *run)
{
        return json_array_size(doc_get_array(run, "status.stagesStatus"));
}

const json_t *rule_run_config(const json_t *run, size_t stage)
{
        return json_array_get(doc_get_array(run, "status.stagedUpdateStrategySnapshot.stages"), stage);
}

bool rule_run_cluster_is_over(const json_t *config, const json_t *cluster)
{
        return rule_says(cluster, "Succeeded", "True") || rule_says(cluster, "Skipped", "True") ||
               (json_object_get(config, "maxFailedClusters") && rule_says(cluster, "Succeeded", "False"));
}

static bool is_of(const struct change *c, const char *resource, const char *namespaced)
{
        return text_equal(c->resource, resource) || text_equal(c->resource, namespaced);
}

static bool is_run(const struct change *c)
{
        return is_of(c, RES_RUNS, RES_NS_RUNS);
}

/* ---- what a run says only grows ---- */

static const char *const kept[] = { "Started", "Skipped", "ApprovalRequestCreated", "ApprovalRequestApproved",
                                    "WaitTimeElapsed" };

static bool differ(const json_t *a, const json_t *b, const char *path)
{
        const json_t *x = doc_get(a, path), *y = doc_get(b, path);

        return x != y && (!x || !y || !json_equal((json_t *)x, (json_t *)y));
}

/* What owner said of an end it says for good. NULL: all of it. */
static const char *taken_back(const json_t *before, const json_t *after)
{
        for (size_t i = 0; i < ARRAY_LEN(kept); i++)
                if (rule_says(before, kept[i], "True") && !rule_says(after, kept[i], "True"))
                        return kept[i];
        if ((rule_says(before, "Succeeded", "True") && !rule_says(after, "Succeeded", "True")) ||
            (rule_says(before, "Succeeded", "False") && !rule_says(after, "Succeeded", "False")))
                return "Succeeded";
        return NULL;
}

static const char *list_taken_back(const json_t *before, const json_t *after, const char *list)
{
        const json_t *a = json_object_get(before, list), *b = json_object_get(after, list);
        const char *what = json_array_size(a) != json_array_size(b) ? list : NULL;

        for (size_t i = 0; i < json_array_size(a) && !what; i++) {
                if (differ(json_array_get(a, i), json_array_get(b, i), "clusterName"))
                        return "clusterName";
                what = taken_back(json_array_get(a, i), json_array_get(b, i));
        }
        return what;
}

static const char *stage_taken_back(const json_t *before, const json_t *after)
{
        static const char *const lists[] = { "clusters", "beforeStageTaskStatus", "afterStageTaskStatus" },
                                 *const once[] = { "startTime", "endTime" };
        const char *what = taken_back(before, after);

        if (differ(before, after, "stageName"))
                return "stageName";
        for (size_t i = 0; i < ARRAY_LEN(lists) && !what; i++)
                what = list_taken_back(before, after, lists[i]);
        for (size_t i = 0; i < ARRAY_LEN(once) && !what; i++)
                if (json_object_get(before, once[i]) && differ(before, after, once[i]))
                        what = once[i];
        return what;
}

static const char *run_taken_back(const json_t *before, const json_t *after)
{
        static const char *const frozen[] = { "status.stagedUpdateStrategySnapshot",
                                              "status.resourceSnapshotIndexUsed",
                                              "status.policySnapshotIndexUsed", "status.appliedStrategy" };

        for (size_t i = 0; i < ARRAY_LEN(frozen); i++)
                if (differ(before, after, frozen[i]))
                        return frozen[i];
        if (rule_run_stages(before) != rule_run_stages(after))
                return "status.stagesStatus";
        for (size_t i = 0; i <= rule_run_stages(before); i++) {
                const char *what = stage_taken_back(rule_run_stage(before, i), rule_run_stage(after, i));

                if (what)
                        return what;
        }
        return NULL;
}

static void run_forward(struct watch *w, void *state, const struct change *c)
{
        const char *what;

        if (!is_run(c) || !c->before || !c->after || !rule_is_hub_agent(c->who) ||
            !differ(c->before, c->after, "status"))
                return;
        if (rule_run_ended(c->before)) {
                watch_broken(w, &rule_run_forward, "run %s had ended, and %s wrote its status", c->name,
                             c->who);
                return;
        }
        if (!rule_run_began(c->before))
                return;
        watch_judged(w, &rule_run_forward);
        what = run_taken_back(c->before, c->after);
        if (what)
                watch_broken(w, &rule_run_forward, "run %s takes back what it said: %s", c->name, what);
}

const struct rule rule_run_forward = { .name = "run-forward", .changed = run_forward };

/* ---- one stage after the other, none without its tasks ---- */

struct wait {             /* a stage that stands still */
        int64_t ltt_ms;   /* since then by its own word */
        int64_t asked_ms; /* by ours */
};

struct stages {
        bool begun;
        struct map accepted; /* approval request with namespace -> anything: it was approved once */
        struct map waits;    /* "uid of a run/stage" -> struct wait */
        struct map newest;   /* uid of a run -> 1 + greatest index that there was when it was made */
};

static void begin(struct stages *s)
{
        if (s->begun)
                return;
        map_init(&s->accepted, MAP_OWN_KEYS, NULL);
        map_init(&s->waits, MAP_OWN_KEYS, mem_free);
        map_init(&s->newest, MAP_OWN_KEYS, NULL);
        s->begun = true;
}

static void stages_end(void *state)
{
        struct stages *s = state;

        if (!s->begun)
                return;
        map_free(&s->accepted);
        map_free(&s->waits);
        map_free(&s->newest);
}

static bool says_now(const json_t *request, const char *type)
{
        json_t *c;
        size_t i;

        json_array_foreach(doc_get_array(request, "status.conditions"), i, c)
                if (text_equal(doc_get_string(c, "type"), type))
                        return text_equal(doc_get_string(c, "status"), CONDITION_TRUE) &&
                               doc_get_int(c, "observedGeneration", -1) ==
                                       doc_get_int(request, "metadata.generation", 0);
        return false;
}

/* A request is accepted when somebody has approved it as it is, and not otherwise. */
static void approval_changed(struct watch *w, struct stages *s, const struct change *c)
{
        char key[320];

        snprintf(key, sizeof(key), "%s/%s", c->ns, c->name);
        if (c->type == CHANGE_ADDED)
                map_remove(&s->accepted, key);
        if (!c->after || !says_now(c->after, "ApprovalAccepted"))
                return;
        if (!c->before || !says_now(c->before, "ApprovalAccepted")) {
                watch_judged(w, &rule_run_stages_in_order);
                if (!says_now(c->after, "Approved"))
                        watch_broken(w, &rule_run_stages_in_order, "%s accepted %s, which nobody approved",
                                     c->who, c->name);
        }
        ASSERT(map_put(&s->accepted, key, s) == 0);
}

/* ---- waits ---- */

static int64_t moment_of(const json_t *owner, const char *type)
{
        int64_t ms = 0;
        json_t *c;
        size_t i;

        json_array_foreach(json_object_get(owner, "conditions"), i, c) {
                const char *text = doc_get_string(c, "lastTransitionTime");

                if (text_equal(doc_get_string(c, "type"), type) && text)
                        (void)time_parse_rfc3339(slice_of(text), &ms);
        }
        return ms;
}

/* "1m30s" in milliseconds. */
static int64_t wait_of(const json_t *config)
{
        json_t *task;
        size_t i;

        json_array_foreach(json_object_get(config, "afterStageTasks"), i, task) {
                const char *text = doc_get_string(task, "waitTime");
                int64_t ns;

                if (text && duration_parse_go(slice_of(text), &ns) == 0)
                        return ns / 1000000;
        }
        return 0;
}

static void note_wait(struct stages *s, const struct change *c, size_t stage)
{
        const json_t *before = rule_run_stage(c->before, stage), *after = rule_run_stage(c->after, stage);
        struct wait *wait;
        char key[128];

        if (!rule_says(after, "Progressing", "False") ||
            (rule_says(before, "Progressing", "False") &&
             moment_of(before, "Progressing") == moment_of(after, "Progressing")))
                return;
        wait = mem_must(NEW(struct wait));
        *wait = (struct wait){ moment_of(after, "Progressing"), c->asked_ms };
        snprintf(key, sizeof(key), "%s/%zu", doc_get_string(c->after, "metadata.uid"), stage);
        ASSERT(map_put(&s->waits, key, wait) == 0);
}

/* By the time of day, as others read it, or by our own clock, if the time of day was set back. */
static bool has_waited(struct watch *w, struct stages *s, const struct change *c, size_t stage)
{
        int64_t ms = wait_of(rule_run_config(c->after, stage)),
                wall = watch_wall(w) - (c->at_ms - c->asked_ms);
        const struct wait *wait;
        char key[128];

        snprintf(key, sizeof(key), "%s/%zu", doc_get_string(c->after, "metadata.uid"), stage);
        wait = map_get(&s->waits, key);
        return wait && (wall - wait->ltt_ms >= ms - SECOND_MS || c->asked_ms - wait->asked_ms >= ms);
}

/* ---- tasks ---- */

static const char *undone(const json_t *stage, const char *list)
{
        json_t *task;
        size_t i;

        json_array_foreach(json_object_get(stage, list), i, task)
                if (!rule_says(task, "ApprovalRequestApproved", "True") &&
                    !rule_says(task, "WaitTimeElapsed", "True"))
                        return doc_get_string(task, "type");
        return NULL;
}

static const char *not_over(const json_t *config, const json_t *stage)
{
        json_t *cluster;
        size_t i;

        json_array_foreach(json_object_get(stage, "clusters"), i, cluster)
                if (!rule_run_cluster_is_over(config, cluster))
                        return doc_get_string(cluster, "clusterName");
        return NULL;
}

static bool has_started_one(const json_t *stage)
{
        json_t *cluster;
        size_t i;

        json_array_foreach(json_object_get(stage, "clusters"), i, cluster)
                if (rule_says(cluster, "Started", "True"))
                        return true;
        return false;
}

static bool has_begun(const json_t *stage)
{
        return json_array_size(json_object_get(stage, "conditions")) > 0 || has_started_one(stage);
}

static void judge_tasks(struct watch *w, struct stages *s, const struct change *c, size_t stage,
                        const char *list)
{
        const json_t *tasks = json_object_get(rule_run_stage(c->after, stage), list),
                     *before = json_object_get(rule_run_stage(c->before, stage), list);
        json_t *task;
        size_t i;

        json_array_foreach(tasks, i, task) {
                const json_t *was = json_array_get(before, i);
                char key[320];

                snprintf(key, sizeof(key), "%s/%s", c->ns, doc_get_string(task, "approvalRequestName"));
                if (rule_says(task, "ApprovalRequestApproved", "True") &&
                    !rule_says(was, "ApprovalRequestApproved", "True") && !map_has(&s->accepted, key))
                        watch_broken(w, &rule_run_stages_in_order, "run %s takes %s for approved, it was not",
                                     c->name, key);
                if (rule_says(task, "WaitTimeElapsed", "True") &&
                    !rule_says(was, "WaitTimeElapsed", "True") && !has_waited(w, s, c, stage))
                        watch_broken(w, &rule_run_stages_in_order,
                                     "run %s did not wait as long after stage %zu as it should", c->name,
                                     stage);
        }
}

static void judge_stage(struct watch *w, struct stages *s, const struct change *c, size_t stage)
{
        const json_t *now = rule_run_stage(c->after, stage), *was = rule_run_stage(c->before, stage),
                     *config = rule_run_config(c->after, stage);
        bool skipped = json_array_size(json_object_get(now, "clusters")) == 0;
        const char *what;

        judge_tasks(w, s, c, stage, "beforeStageTaskStatus");
        judge_tasks(w, s, c, stage, "afterStageTaskStatus");
        note_wait(s, c, stage);
        if (has_started_one(now) && (what = undone(now, "beforeStageTaskStatus")))
                watch_broken(w, &rule_run_stages_in_order, "run %s began stage %zu before its %s", c->name,
                             stage, what);
        if (!rule_says(now, "Succeeded", "True") || rule_says(was, "Succeeded", "True"))
                return;
        if ((what = not_over(config, now)))
                watch_broken(w, &rule_run_stages_in_order, "run %s ended stage %zu before cluster %s",
                             c->name, stage, what);
        if (!skipped && (what = undone(now, "afterStageTaskStatus")))
                watch_broken(w, &rule_run_stages_in_order, "run %s ended stage %zu before its %s", c->name,
                             stage, what);
}

/* ---- the whole run ---- */

struct newest {
        const json_t *run;
        int64_t index;
};

static bool note_newest(void *ctx, const json_t *snapshot)
{
        const char *text = rule_label(snapshot, LABEL_RESOURCE_INDEX);
        struct newest *n = ctx;
        char placement[192];
        int64_t index;

        if (rule_placement_of(snapshot, placement) && rule_run_is_of(n->run, placement) && text &&
            text_parse_i64(text, &index))
                n->index = MAX(n->index, index);
        return true;
}

static int64_t find_newest(struct watch *w, const json_t *run)
{
        const char *ns = doc_get_string(run, "metadata.namespace");
        struct newest n = { run, -1 };

        watch_each(w, "hub", ns ? RES_NS_SNAPSHOTS : RES_SNAPSHOTS, ns, note_newest, &n);
        return n.index;
}

static int64_t asked_newest(struct stages *s, const json_t *run)
{
        return (intptr_t)map_get(&s->newest, doc_get_string(run, "metadata.uid")) - 2;
}

static void ask_newest(struct stages *s, const json_t *run, int64_t index)
{
        ASSERT(map_put(&s->newest, doc_get_string(run, "metadata.uid"), (void *)(intptr_t)(index + 2)) ==
               0); /* never NULL */
}

/* The snapshot it was asked for: that of its index, or none older than the newest when it was made. */
static void judge_snapshot(struct watch *w, struct stages *s, const struct change *c)
{
        const char *asked = doc_get_string(c->after, "spec.resourceSnapshotIndex"),
                   *used = doc_get_string(c->after, "status.resourceSnapshotIndexUsed"),
                   *retried = doc_get_string(c->after, "spec.retryOf");
        int64_t newest = asked_newest(s, c->after), index;
        bool good = used && text_parse_i64(used, &index);

        if (good && asked && *asked)
                good = text_equal(asked, used);
        else if (good && (!retried || !*retried))
                good = index >= newest;
        if (!good)
                watch_broken(w, &rule_run_stages_in_order, "run %s took snapshot %s, asked for %s of %lld",
                             c->name, used ? used : "none", asked && *asked ? asked : "the newest",
                             (long long)newest);
}

static void run_changed(struct watch *w, struct stages *s, const struct change *c)
{
        size_t n = rule_run_stages(c->after), begun = 0, done = 0;

        if (c->type == CHANGE_ADDED)
                ask_newest(s, c->after, find_newest(w, c->after));
        if (!c->after || !rule_run_began(c->after) || rule_run_ended(c->before) ||
            !differ(c->before, c->after, "status"))
                return;
        watch_judged(w, &rule_run_stages_in_order);
        if (!rule_run_began(c->before))
                judge_snapshot(w, s, c);
        for (size_t i = 0; i <= n; i++) {
                const json_t *stage = rule_run_stage(c->after, i);

                begun = has_begun(stage) ? i + 1 : begun;
                done += rule_says(stage, "Succeeded", "True");
                judge_stage(w, s, c, i);
        }
        if (begun > done + 1 ||
            (rule_says(json_object_get(c->after, "status"), "Succeeded", "True") && done != n + 1))
                watch_broken(w, &rule_run_stages_in_order, "run %s has begun %zu stages of %zu, done are %zu",
                             c->name, begun, n + 1, done);
}

struct anew {
        struct watch *w;
        struct stages *s;
        char placement[320];
        bool all; /* of its snapshots none is left to compare with */
};

static bool forget_newest(void *ctx, const json_t *run)
{
        struct anew *a = ctx;

        if (!rule_run_is_of(run, a->placement))
                return true;
        if (a->all)
                map_remove(&a->s->newest, doc_get_string(run, "metadata.uid"));
        else
                ask_newest(a->s, run, MIN(asked_newest(a->s, run), find_newest(a->w, run)));
        return true;
}

static void forget(struct anew *a, const char *ns)
{
        watch_each(a->w, "hub", *ns ? RES_NS_RUNS : RES_RUNS, *ns ? ns : NULL, forget_newest, a);
}

/* Who is made again counts snapshots anew. */
static void placement_goes(struct watch *w, struct stages *s, const struct change *c)
{
        struct anew a = { .w = w, .s = s, .all = true };

        snprintf(a.placement, sizeof(a.placement), "%s%s%s", c->ns, *c->ns ? "/" : "", c->name);
        forget(&a, c->ns);
}

/* What somebody deleted is counted on from where nothing names it any more. */
static void snapshot_goes(struct watch *w, struct stages *s, const struct change *c)
{
        struct anew a = { .w = w, .s = s };

        if (!rule_is_hub_agent(c->who) && rule_placement_of(c->before, a.placement))
                forget(&a, c->ns);
}

static void stages_changed(struct watch *w, void *state, const struct change *c)
{
        struct stages *s = state;

        begin(s);
        if (is_of(c, RES_APPROVALS, RES_NS_APPROVALS))
                approval_changed(w, s, c);
        else if (is_run(c))
                run_changed(w, s, c);
        else if (!c->after && is_of(c, RES_PLACEMENTS, RES_NS_PLACEMENTS))
                placement_goes(w, s, c);
        else if (!c->after && is_of(c, RES_SNAPSHOTS, RES_NS_SNAPSHOTS))
                snapshot_goes(w, s, c);
}

const struct rule rule_run_stages_in_order = { .name = "run-stages",
                                               .state_size = sizeof(struct stages),
                                               .changed = stages_changed,
                                               .end = stages_end };
