/* What update runs must say when all is quiet: each has ended, for a reason that there was, or says what it
 * waits for, and that is so. spec/staged-update-and-eviction.md 3 to 7, docs/staged-update.md. */
#include "e2e/simulation/model_parts.h"

struct judged {
        const struct wish *w;
        const struct wish_run *run;
        const struct model_runs *lists;
        const json_t *doc, *status;
};

static const struct wish_placement *placement_of(const struct judged *j)
{
        return &j->w->apps[j->run->app].placements[j->run->place];
}

static const struct wish_stages *stages_of(const struct judged *j)
{
        return &j->w->apps[j->run->app].stages[j->run->place];
}

static bool is_part(const struct judged *j)
{
        return j->run->place == PLACE_PART;
}

/* ---- what may have made it end ---- */

/* Late enough to be heard of by a run after it was made. */
static bool was_late(const struct judged *j, int64_t ms)
{
        return ms > j->run->made_ms - MODEL_SLACK_MS;
}

static bool never(const struct judged *j)
{
        return false;
}

static bool no_placement(const struct judged *j)
{
        return !placement_of(j)->exists || placement_of(j)->since_ms > j->run->made_ms;
}

static bool placement_is_new(const struct judged *j)
{
        return !placement_of(j)->exists || was_late(j, placement_of(j)->since_ms);
}

static bool not_external(const struct judged *j)
{
        const struct wish_placement *p = placement_of(j);

        return no_placement(j) || !p->strategy.external_ms || p->strategy.external_ms > j->run->made_ms;
}

static bool is_retry(const struct judged *j)
{
        return j->run->retry_of >= 0;
}

static bool no_strategy(const struct judged *j)
{
        return !stages_of(j)->exists || stages_of(j)->changed_ms > j->run->made_ms;
}

static bool strategy_changed(const struct judged *j)
{
        return is_retry(j) || !stages_of(j)->exists || was_late(j, stages_of(j)->changed_ms);
}

static bool placement_changed(const struct judged *j)
{
        return placement_is_new(j) || was_late(j, placement_of(j)->changed_ms);
}

static bool was_by_hand(const struct judged *j)
{
        int64_t ms = j->w->apps[j->run->app].by_hand_ms[j->run->place];

        return ms && was_late(j, ms);
}

static bool policy_changed(const struct judged *j)
{
        return placement_is_new(j) || was_late(j, placement_of(j)->policy_ms) || was_by_hand(j);
}

/* Selectors in a namespace that is not there are invalid, and nothing is made for the placement until it is.
 */
static bool no_policy(const struct judged *j)
{
        const struct wish_app *a = &j->w->apps[j->run->app];
        const struct wish_placement *p = placement_of(j);
        bool was_gone = !a->exists || a->leaving || was_late(j, a->home_ms);

        return policy_changed(j) ||
               (was_gone && (p->selection == SELECT_LABELLED || was_late(j, p->changed_ms)));
}

static bool was_evicted(const struct judged *j)
{
        for (unsigned i = 0; i < WISH_EVICTIONS; i++) {
                const struct wish_eviction *e = &j->w->evictions[i];

                if (e->made_ms && e->app == j->run->app && e->place == j->run->place &&
                    was_late(j, e->made_ms))
                        return true;
        }
        return false;
}

static bool members_changed(const struct judged *j)
{
        if (j->w->clock_ms && was_late(j, j->w->clock_ms))
                return true;
        for (unsigned i = 1; i <= j->w->n_members; i++) {
                const struct wish_member *m = &j->w->members[i];

                if (m->before.n > 0 && was_late(j, m->before.at[m->before.n - 1].until_ms))
                        return true;
        }
        return false;
}

static bool clusters_changed(const struct judged *j)
{
        return policy_changed(j) || (placement_of(j)->count_ms && was_late(j, placement_of(j)->count_ms)) ||
               members_changed(j) || was_evicted(j);
}

static bool not_scheduled(const struct judged *j)
{
        return clusters_changed(j) || placement_of(j)->policy.type != POLICY_PICK_ALL;
}

static bool no_clusters(const struct judged *j)
{
        unsigned least, most;

        model_count(j->w, j->run->app, j->run->place, 0, &least, &most);
        return clusters_changed(j) || least == 0;
}

static bool has_gap(const struct judged *j)
{
        return strategy_changed(j) || stages_of(j)->flaw == FLAW_GAP || members_changed(j);
}

static bool has_overlap(const struct judged *j)
{
        return strategy_changed(j) || stages_of(j)->flaw == FLAW_OVERLAP;
}

static bool is_sorted(const struct judged *j)
{
        for (unsigned i = 0; i < stages_of(j)->n; i++)
                if (stages_of(j)->stage[i].sorted)
                        return true;
        return strategy_changed(j);
}

static bool tolerates(const struct judged *j)
{
        for (unsigned i = 0; i < stages_of(j)->n; i++)
                if (stages_of(j)->stage[i].timeout_s)
                        return true;
        return strategy_changed(j);
}

static bool names_index(const struct judged *j)
{
        return j->run->index >= 0 || is_retry(j);
}

static bool has_no_snapshot(const struct judged *j)
{
        return names_index(j) || was_by_hand(j);
}

static bool names_none(const struct judged *j)
{
        return !names_index(j);
}

static bool has_rival(const struct judged *j)
{
        return j->w->apps[j->run->app].n_runs[j->run->place] > 1 || clusters_changed(j);
}

/* The first that the words contain. */
static const struct {
        const char *words;
        bool (*may)(const struct judged *j);
} ends[] = {
        { "parent placement not found", no_placement },
        { "does not have an external rollout strategy", not_external },
        { "spec.retryOf: ", is_retry },
        { "referenced updateStrategy not found", no_strategy },
        { "the applyStrategy in the updateRun is outdated", placement_changed },
        { "no latest policy snapshot found", no_policy },
        { "multiple active policy snapshots", never },
        { "not fully scheduled yet", not_scheduled },
        { "the policy snapshot index used in the updateRun is outdated", policy_changed },
        { "the cluster count initialized in the updateRun is outdated", clusters_changed },
        { "no scheduled or to-be-deleted bindings found", no_clusters },
        { "is not equal to the observed cluster count", not_scheduled },
        { "some clusters are not placed in any stage", has_gap },
        { "appears in more than one stages", has_overlap },
        { "has two bindings", never },
        { "the sorting label `rank:", is_sorted },
        { "no resourceSnapshots with index", has_no_snapshot },
        { "no master resourceSnapshot", was_by_hand },
        { "are missing for placement", was_by_hand },
        { "the number of clusters in index", clusters_changed },
        { "cluster in the", clusters_changed },
        { "and maxFailedClusters allows", tolerates },
        { "is not up-to-date with the desired status", has_rival },
        { "is not found in the toBeUpdatedBindings map", clusters_changed },
        { "is not in the delet", clusters_changed },
        { "in the deleting stage still has a binding", clusters_changed },
        { "unexpected behavior", never },
        /* what is selected cannot be taken, in the words of the selection */
        { "failed to validate the updateRun: failed to process the request due to a client error: ",
          names_none },
};

static int judge_end(const struct judged *j, const char *words, struct error *err)
{
        for (size_t i = 0; words && i < ARRAY_LEN(ends); i++)
                if (strstr(words, ends[i].words))
                        return ends[i].may(j)
                                       ? 0
                                       : error_set(err, ERR_INVALID, "it ended for no reason: %s", words);
        return error_set(err, ERR_INVALID, "it ended with words that there are not: %s",
                         words ? words : "none");
}

/* ---- what it may wait for ---- */

static bool says(const json_t *owner, const char *type, const char *status)
{
        return text_equal(doc_get_string(model_condition(owner, type), "status"), status);
}

static const json_t *named(const json_t *list, const char *ns, const char *name)
{
        json_t *doc;
        size_t i;

        json_array_foreach(list, i, doc)
                if (text_equal(doc_get_string(doc, "metadata.name"), name) &&
                    text_equal(doc_get_string(doc, "metadata.namespace"), ns))
                        return doc;
        return NULL;
}

/* The stage that is on: the first that is not done; NULL = none is. */
static const json_t *stage_on(const struct judged *j)
{
        const json_t *deletion = doc_get_object(j->status, "deletionStageStatus");
        json_t *stage;
        size_t i;

        json_array_foreach(doc_get_array(j->status, "stagesStatus"), i, stage)
                if (!says(stage, "Succeeded", "True"))
                        return stage;
        return says(deletion, "Succeeded", "True") ? NULL : deletion;
}

static bool is_open(const struct judged *j, const json_t *task)
{
        const char *ns = is_part(j) ? wish_app_name(j->run->app) : NULL,
                   *name = doc_get_string(task, "approvalRequestName");
        const json_t *request = name ? named(j->lists->approvals[is_part(j)], ns, name) : NULL,
                     *approved = model_condition(doc_get_object(request, "status"), "Approved");

        return request && !says(task, "ApprovalRequestApproved", "True") &&
               (!text_equal(doc_get_string(approved, "status"), "True") ||
                doc_get_int(approved, "observedGeneration", -1) !=
                        doc_get_int(request, "metadata.generation", 0));
}

static bool has_open_task(const struct judged *j, const json_t *stage, const char *list)
{
        json_t *task;
        size_t i;

        json_array_foreach(json_object_get(stage, list), i, task)
                if (is_open(j, task))
                        return true;
        return false;
}

static const json_t *binding_on(const struct judged *j, const char *cluster)
{
        const char *ns = is_part(j) ? wish_app_name(j->run->app) : NULL;
        static const char *const keys[] = { "metadata", "labels", "kubernetes-fleet.io/parent-CRP" };
        char name[64];
        json_t *b;
        size_t i;

        wish_placement_name(j->run->app, j->run->place, name);
        json_array_foreach(j->lists->bindings[is_part(j)], i, b)
                if (text_equal(doc_get_string(b, "metadata.namespace"), ns) &&
                    text_equal(json_string_value(doc_get_keys(b, keys, 3)), name) &&
                    text_equal(doc_get_string(b, "spec.targetCluster"), cluster))
                        return b;
        return NULL;
}

static bool has_arrived(const json_t *binding)
{
        static const char *const types[] = { "Available", "DiffReported" };

        for (size_t i = 0; i < ARRAY_LEN(types); i++) {
                const json_t *c = model_condition(doc_get_object(binding, "status"), types[i]);

                if (text_equal(doc_get_string(c, "status"), "True") &&
                    doc_get_int(c, "observedGeneration", -1) ==
                            doc_get_int(binding, "metadata.generation", 0))
                        return true;
        }
        return false;
}

/* A cluster that was set going and is still on its way. */
static bool has_one_on_its_way(const struct judged *j, const json_t *stage)
{
        json_t *cluster;
        size_t i;

        json_array_foreach(json_object_get(stage, "clusters"), i, cluster)
                if (says(cluster, "Started", "True") && !model_condition(cluster, "Succeeded") &&
                    !says(cluster, "Skipped", "True") &&
                    !has_arrived(binding_on(j, doc_get_string(cluster, "clusterName"))))
                        return true;
        return false;
}

static int judge_waiting(const struct judged *j, const char *reason, struct error *err)
{
        const json_t *stage = stage_on(j);
        bool stopped = j->run->state == RUN_STOPPED;

        if (text_equal(reason, "UpdateRunStopped") && stopped)
                return has_one_on_its_way(j, stage)
                               ? error_set(err, ERR_INVALID, "it says it stopped, a cluster is on its way")
                               : 0;
        if (text_equal(reason, "UpdateRunStuck") ||
            text_equal(reason, stopped ? "UpdateRunStopping" : "UpdateRunProgressing"))
                return has_one_on_its_way(j, stage)
                               ? 0
                               : error_set(err, ERR_INVALID, "it says %s, no cluster is on its way", reason);
        if (text_equal(reason, "UpdateRunWaiting") && !stopped)
                return has_open_task(j, stage, "beforeStageTaskStatus") ||
                                       has_open_task(j, stage, "afterStageTaskStatus")
                               ? 0
                               : error_set(err, ERR_INVALID, "it waits, no approval is asked for");
        return error_set(err, ERR_INVALID, "it has not ended, and says %s", reason ? reason : "nothing");
}

static int judge_generations(const struct judged *j, struct error *err)
{
        json_t *c;
        size_t i;

        json_array_foreach(doc_get_array(j->status, "conditions"), i, c)
                if (doc_get_int(c, "observedGeneration", -1) != doc_get_int(j->doc, "metadata.generation", 0))
                        return error_set(err, ERR_INVALID, "condition %s is of another generation",
                                         doc_get_string(c, "type"));
        return 0;
}

/* ---- what it has done ---- */

/* As long as nothing else had a say, its clusters are on its snapshot. */
static int judge_clusters(const struct judged *j, struct error *err)
{
        const char *index = doc_get_string(j->status, "resourceSnapshotIndexUsed"), *is;
        json_t *stage, *cluster;
        char name[64], should[128];
        size_t i, k;

        if (has_rival(j))
                return 0;
        wish_placement_name(j->run->app, j->run->place, name);
        snprintf(should, sizeof(should), "%s-%s-snapshot", name, index);
        json_array_foreach(doc_get_array(j->status, "stagesStatus"), i, stage)
                json_array_foreach(json_object_get(stage, "clusters"), k, cluster) {
                        const char *on = doc_get_string(cluster, "clusterName");

                        if (!says(cluster, "Started", "True"))
                                continue;
                        is = doc_get_string(binding_on(j, on), "spec.resourceSnapshotName");
                        if (!text_equal(is, should))
                                return error_set(err, ERR_INVALID, "%s is on %s, should be on %s", on,
                                                 is ? is : "nothing", should);
                }
        return 0;
}

static int judge_succeeded(const struct judged *j, struct error *err)
{
        if (stage_on(j))
                return error_set(err, ERR_INVALID, "it succeeded, stage %s did not",
                                 doc_get_string(stage_on(j), "stageName"));
        return 0;
}

static int judge_there(const struct judged *j, struct error *err)
{
        const json_t *initialized = model_condition(j->status, "Initialized"),
                     *succeeded = model_condition(j->status, "Succeeded"),
                     *progressing = model_condition(j->status, "Progressing");

        if (!initialized)
                return error_set(err, ERR_INVALID, "it says nothing");
        if (!says(j->status, "Initialized", "True"))
                return judge_end(j, doc_get_string(initialized, "message"), err);
        TRY(judge_clusters(j, err));
        if (succeeded)
                return says(j->status, "Succeeded", "True")
                               ? judge_succeeded(j, err)
                               : judge_end(j, doc_get_string(succeeded, "message"), err);
        TRY(judge_generations(j, err));
        if (j->run->state == RUN_PREPARED)
                return progressing ? error_set(err, ERR_INVALID, "it goes, and nobody let it go") : 0;
        return judge_waiting(j, doc_get_string(progressing, "reason"), err);
}

int model_judge_runs(const struct wish *w, const struct model_runs *lists, struct error *err)
{
        for (unsigned i = 0; i < WISH_RUNS; i++) {
                struct judged j = { w, &w->runs[i], lists };
                int code = 0;
                char name[64];

                wish_run_name(i, name);
                for (unsigned part = 0; part < 2; part++)
                        for (unsigned app = 0; app < (part ? WISH_APPS : 1); app++)
                                if (named(lists->runs[part], part ? wish_app_name(app) : NULL, name) &&
                                    (!j.run->exists || is_part(&j) != part || (part && app != j.run->app)))
                                        return error_set(err, ERR_INVALID, "%s is there, should be gone",
                                                         name);
                if (!j.run->exists)
                        continue;
                j.doc = named(lists->runs[is_part(&j)], is_part(&j) ? wish_app_name(j.run->app) : NULL, name);
                j.status = doc_get_object(j.doc, "status");
                code = j.doc ? judge_there(&j, err) : error_set(err, ERR_INVALID, "it is not there");
                if (code < 0)
                        return error_wrap(err, "%s", name);
        }
        return 0;
}
