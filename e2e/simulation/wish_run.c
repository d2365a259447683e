/* Update runs, their strategies and approval requests as objects. */
#include "e2e/simulation/wish.h"
#include "proto/names.h"

#define GROUP "placement.kubernetes-fleet.io"
#define VERSION "v1beta1"

static const struct kube_resource stages[] = {
        { GROUP, VERSION, "clusterstagedupdatestrategies", "ClusterStagedUpdateStrategy", false },
        { GROUP, VERSION, "stagedupdatestrategies", "StagedUpdateStrategy", true },
};
static const struct kube_resource runs[] = {
        { GROUP, VERSION, "clusterstagedupdateruns", "ClusterStagedUpdateRun", false },
        { GROUP, VERSION, "stagedupdateruns", "StagedUpdateRun", true },
};
static const struct kube_resource approvals[] = {
        { GROUP, VERSION, "clusterapprovalrequests", "ClusterApprovalRequest", false },
        { GROUP, VERSION, "approvalrequests", "ApprovalRequest", true },
};

const struct kube_resource *wish_stages_resource(enum wish_place place)
{
        return &stages[place == PLACE_PART];
}

const struct kube_resource *wish_run_resource(enum wish_place place)
{
        return &runs[place == PLACE_PART];
}

const struct kube_resource *wish_approval_resource(enum wish_place place)
{
        return &approvals[place == PLACE_PART];
}

const char *wish_stage_name(unsigned stage)
{
        static const char *const names[WISH_STAGES] = { "one", "two", "three" };

        return names[stage];
}

void wish_run_name(unsigned run, char ret[64])
{
        snprintf(ret, 64, "run-%u", run);
}

static json_t *document(const struct kube_resource *r, unsigned app, const char *name, json_t *spec)
{
        json_t *doc = json_pack("{s:s, s:s, s:{s:s, s:s*}, s:o}", "apiVersion", GROUP "/" VERSION, "kind",
                                r->kind, "metadata", "name", name, "namespace",
                                r->namespaced ? wish_app_name(app) : NULL, "spec", spec);

        if (!doc)
                json_decref(spec);
        return doc;
}

/* ---- strategies ---- */

/* The label's values that have a stage of their own; the last stage has the clusters with none of them. */
static const char *split_value(enum wish_split split, unsigned stage)
{
        static const char *const tiers[] = { "gold", "silver" }, *const zones[] = { "zone-1", "zone-2" };

        return split == SPLIT_TIER ? tiers[stage] : zones[stage];
}

static json_t *split_rest(enum wish_split split, unsigned n)
{
        json_t *values = json_array();

        for (unsigned i = 0; i + 1 < n; i++)
                json_array_append_new(values, json_string(split_value(split, i)));
        return values;
}

static json_t *stage_selector(const struct wish_stages *s, unsigned stage)
{
        bool last = stage + 1 == s->n;

        if (s->split == SPLIT_NOT || (last && s->flaw == FLAW_OVERLAP))
                return json_object();
        return json_pack("{s:[{s:s, s:s, s:o}]}", "matchExpressions", "key",
                         s->split == SPLIT_TIER ? "tier" : "zone", "operator",
                         last && s->flaw != FLAW_GAP ? "NotIn" : "In", "values",
                         !last                 ? json_pack("[s]", split_value(s->split, stage))
                         : s->flaw == FLAW_GAP ? json_pack("[s]", "nowhere")
                                               : split_rest(s->split, s->n));
}

static json_t *number(unsigned value, bool percent)
{
        char text[16];

        snprintf(text, sizeof(text), "%u%%", value);
        return percent ? json_string(text) : json_integer(value);
}

static int add_task(json_t *stage, const char *list, const char *type, unsigned wait_s, bool plan)
{
        json_t *task = json_pack("{s:s}", "type", type), *tasks = json_object_get(stage, list);
        char wait[24];

        snprintf(wait, sizeof(wait), "%us", wait_s);
        if (!tasks)
                json_object_set_new(stage, list, tasks = json_array());
        if ((wait_s && doc_set_string(task, "waitTime", wait) < 0) ||
            (plan && doc_set(task, "plan", json_true()) < 0)) {
                json_decref(task);
                return ERR_NO_MEMORY;
        }
        return json_array_append_new(tasks, task) < 0 ? ERR_NO_MEMORY : 0;
}

static int fill_stage(json_t *doc, const struct wish_stage *s)
{
        char timeout[24];

        snprintf(timeout, sizeof(timeout), "%us", s->timeout_s);
        if (s->max)
                TRY(doc_set(doc, "maxConcurrency", number(s->max, s->percent)));
        if (s->sorted)
                TRY(doc_set_string(doc, "sortingLabelKey", "rank"));
        if (s->timeout_s) {
                TRY(doc_set_string(doc, "clusterTimeout", timeout));
                TRY(doc_set_int(doc, "maxFailedClusters", s->failures));
        }
        if (s->before)
                TRY(add_task(doc, "beforeStageTasks", "Approval", 0, s->plan));
        if (s->wait_s)
                TRY(add_task(doc, "afterStageTasks", "TimedWait", s->wait_s, false));
        return s->after ? add_task(doc, "afterStageTasks", "Approval", 0, s->plan) : 0;
}

static json_t *stage_doc(const struct wish_stages *s, unsigned stage)
{
        json_t *doc = json_pack("{s:s, s:o}", "name", wish_stage_name(stage), "labelSelector",
                                stage_selector(s, stage));

        if (doc && fill_stage(doc, &s->stage[stage]) == 0)
                return doc;
        json_decref(doc);
        return NULL;
}

json_t *wish_stages_doc(const struct wish *w, unsigned app, enum wish_place place)
{
        const struct wish_stages *s = &w->apps[app].stages[place];
        json_t *list = json_array();
        char name[64];

        for (unsigned i = 0; i < s->n; i++)
                if (json_array_append_new(list, stage_doc(s, i)) < 0) {
                        json_decref(list);
                        return NULL;
                }
        wish_placement_name(app, place, name);
        return document(
                wish_stages_resource(place), app, name,
                json_pack("{s:o, s:s*}", "stages", list, "onClusterChange", s->goes_on ? "Continue" : NULL));
}

/* ---- runs ---- */

json_t *wish_run_doc(const struct wish *w, unsigned run)
{
        static const char *const states[] = { "Initialize", "Run", "Stop" };
        const struct wish_run *r = &w->runs[run];
        char name[64], placement[64], retried[64], index[16];

        wish_run_name(run, name);
        wish_run_name((unsigned)r->retry_of, retried);
        wish_placement_name(r->app, r->place, placement);
        snprintf(index, sizeof(index), "%d", r->index);
        return document(wish_run_resource(r->place), r->app, name,
                        json_pack("{s:s, s:s, s:s, s:s*, s:s*}", "placementName", placement,
                                  "stagedRolloutStrategyName", placement, "state", states[r->state],
                                  "resourceSnapshotIndex", r->index < 0 ? NULL : index, "retryOf",
                                  r->retry_of < 0 ? NULL : retried));
}

json_t *wish_approval_doc(const struct wish *w, unsigned run, unsigned stage, bool before)
{
        const struct wish_run *r = &w->runs[run];
        const char *of = wish_stage_name(stage);
        char its[64], name[160];
        json_t *doc;

        wish_run_name(run, its);
        snprintf(name, sizeof(name), "%s-%s-%s", its, before ? "before" : "after", of);
        doc = document(wish_approval_resource(r->place), r->app, name,
                       json_pack("{s:s, s:s}", "parentStageRollout", its, "targetStage", of));
        if (doc && json_object_set_new(json_object_get(doc, "metadata"), "labels",
                                       json_pack("{s:s, s:s, s:s}", LABEL_TARGET_UPDATING_STAGE, of,
                                                 LABEL_TARGET_UPDATE_RUN, its, LABEL_TASK_TYPE,
                                                 before ? "beforeStage" : "afterStage")) == 0)
                return doc;
        json_decref(doc);
        return NULL;
}
