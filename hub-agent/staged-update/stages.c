/* The stages of a strategy, and which cluster belongs to which. spec/staged-update-and-eviction.md 4.4. */
#include <stdlib.h>

#include "common/kube/selector.h"
#include "hub-agent/staged-update/pass.h"

#define UNPLACED_SHOWN_MAX 10
#define NANOSECONDS INT64_C(1000000000)

void scrub_wait_times(struct strategy_spec *s)
{
        for (uint32_t i = 0; s && i < s->stages.n; i++) {
                const struct stage_config *c = &s->stages.at[i];
                const struct stage_task_list lists[] = { c->before_stage_tasks, c->after_stage_tasks };

                for (size_t l = 0; l < ARRAY_LEN(lists); l++)
                        for (uint32_t k = 0; k < lists[l].n; k++)
                                if (text_equal(lists[l].at[k].type, STAGE_TASK_APPROVAL))
                                        lists[l].at[k].wait_time = NULL;
        }
}

/* ---- tasks ---- */

static int refuse_tasks(struct pass *p, const char *which, const struct stage_config *c, const char *why)
{
        return run_aborts(
                p, why ? words_f(p,
                                 ERROR_RUN_VALID ": " ERROR_CLASS_USER ": the %s stage tasks are invalid, "
                                                 "updateStrategy: `%s`, stage: %s, err: %s",
                                 which, ref_of(p, p->run->spec->staged_rollout_strategy_name), c->name, why)
                       : NULL);
}

static int check_before_tasks(struct pass *p, const struct stage_config *c)
{
        const struct stage_task_list *l = &c->before_stage_tasks;

        if (l->n > 1)
                return refuse_tasks(p, "before", c, "beforeStageTasks can have at most one task");
        if (l->n == 1 && !text_equal(l->at[0].type, STAGE_TASK_APPROVAL))
                return refuse_tasks(p, "before", c,
                                    words_f(p,
                                            "task 0 of type %s is not allowed in beforeStageTasks, allowed "
                                            "type: Approval",
                                            or_empty(l->at[0].type)));
        return 0;
}

/* Writes the wait as Go prints it, which consumers compare. Below a second it would be in a unit that the
 * status cannot hold. */
static int check_wait(struct pass *p, const struct stage_config *c, uint32_t i)
{
        struct stage_task *t = &c->after_stage_tasks.at[i];
        char text[64];
        int64_t ns;

        if (!t->wait_time)
                return refuse_tasks(p, "after", c,
                                    words_f(p, "task %u of type TimedWait has wait duration set to nil", i));
        if (text_equal(t->wait_time, "0"))
                ns = 0;
        else if (duration_parse_go(slice_of(t->wait_time), &ns) < 0)
                return refuse_tasks(p, "after", c,
                                    words_f(p,
                                            "task %u of type TimedWait has wait duration `%s`, which is "
                                            "no duration",
                                            i, t->wait_time));
        if (ns <= 0)
                return refuse_tasks(p, "after", c,
                                    words_f(p, "task %u of type TimedWait has wait duration <= 0", i));
        if (ns < NANOSECONDS)
                return refuse_tasks(p, "after", c,
                                    words_f(p, "task %u of type TimedWait has wait duration < 1s", i));
        duration_format_go(ns, text, sizeof(text));
        t->wait_time = words_f(p, "%s", text);
        return t->wait_time ? 0 : error_no_memory(p->err);
}

static int check_after_tasks(struct pass *p, const struct stage_config *c)
{
        const struct stage_task_list *l = &c->after_stage_tasks;

        for (uint32_t i = 0; i < l->n; i++) {
                for (uint32_t k = 0; k < i; k++)
                        if (text_equal(l->at[i].type, l->at[k].type))
                                return refuse_tasks(
                                        p, "after", c,
                                        words_f(p,
                                                "afterStageTasks cannot have two tasks of the same type: %s",
                                                or_empty(l->at[i].type)));
                if (text_equal(l->at[i].type, STAGE_TASK_TIMED_WAIT))
                        TRY(check_wait(p, c, i));
        }
        return 0;
}

/* ---- a stage's clusters ---- */

struct member {
        const char *cluster;
        int64_t order;
};

static int by_order(const void *a, const void *b)
{
        const struct member *x = a, *y = b;

        if (x->order != y->order)
                return x->order < y->order ? -1 : 1;
        return strcmp(x->cluster, y->cluster);
}

static int read_order(struct pass *p, const struct stage_config *c, const struct member_cluster *cluster,
                      int64_t *ret)
{
        const char *value = or_empty(label_of(&cluster->object, c->sorting_label_key));

        if (text_parse_i64(value, ret))
                return 0;
        return run_aborts(p, words_f(p,
                                     ERROR_RUN_VALID ": " ERROR_CLASS_USER
                                                     ": the sorting label `%s:%s` on cluster `%s` is not "
                                                     "valid: strconv.Atoi: parsing \"%s\": invalid syntax",
                                     c->sorting_label_key, value, cluster->object.meta.name, value));
}

/* Which stage took a cluster already; the map's values are not used but for being there. */
static int take_cluster(struct pass *p, struct map *placed, const char *cluster)
{
        if (map_has(placed, cluster))
                return run_aborts(p, words_f(p,
                                             ERROR_RUN_VALID ": " ERROR_CLASS_USER
                                                             ": cluster `%s` appears in more than one stages",
                                             cluster));
        return map_put(placed, cluster, placed) < 0 ? error_no_memory(p->err) : 0;
}

static bool is_asked_for(const struct pass *p, const char *cluster)
{
        return !p->only || map_has(p->only, cluster);
}

static int pick_clusters(struct pass *p, const struct stage_config *c, struct map *placed,
                         struct member *members, size_t *ret_n)
{
        size_t n = 0;

        for (size_t i = 0; i < p->selected.n; i++) {
                const struct target *t = &p->selected.at[i];
                struct member m = { .cluster = t->b->spec->target_cluster };

                if (!t->cluster || !is_asked_for(p, m.cluster) ||
                    !label_selector_matches(c->label_selector, &t->cluster->object.meta.labels))
                        continue;
                TRY(take_cluster(p, placed, m.cluster));
                if (!text_empty(c->sorting_label_key))
                        TRY(read_order(p, c, t->cluster, &m.order));
                members[n++] = m;
        }
        qsort(members, n, sizeof(members[0]), by_order);
        *ret_n = n;
        return 0;
}

static int list_clusters(struct pass *p, const struct stage_config *c, struct map *placed,
                         struct cluster_updating_status_list *ret)
{
        struct member *members = ARENA_NEW_ARRAY(p->arena, struct member, p->selected.n + 1);
        size_t n = 0;

        if (!members)
                return error_no_memory(p->err);
        TRY(pick_clusters(p, c, placed, members, &n));
        ret->at = ARENA_NEW_ARRAY(p->arena, struct cluster_updating_status, n + 1);
        if (!ret->at)
                return error_no_memory(p->err);
        for (size_t i = 0; i < n; i++)
                ret->at[i].cluster_name = members[i].cluster;
        ret->n = (uint32_t)n;
        ret->set = true;
        return 0;
}

/* ---- a stage ---- */

/* It becomes the value of a label on its requests; the oldest version allows longer ones. */
static int check_run_name(struct pass *p)
{
        const char *name = p->run->object.meta.name;

        if (strlen(name) <= LABEL_VALUE_MAX)
                return 0;
        return run_aborts(p, words_f(p,
                                     ERROR_RUN_VALID ": " ERROR_CLASS_USER
                                                     ": metadata.name: a run with approvals cannot have a "
                                                     "name of more than %d characters, and `%s` has %zu",
                                     LABEL_VALUE_MAX, name, strlen(name)));
}

static int list_tasks(struct pass *p, const struct stage_config *c, const struct stage_task_list *tasks,
                      const char *format, struct stage_task_status_list *ret)
{
        if (tasks->n == 0)
                return 0;
        ret->at = ARENA_NEW_ARRAY(p->arena, struct stage_task_status, tasks->n);
        if (!ret->at)
                return error_no_memory(p->err);
        for (uint32_t i = 0; i < tasks->n; i++) {
                struct stage_task_status *t = &ret->at[i];

                t->type = tasks->at[i].type;
                if (!text_equal(t->type, STAGE_TASK_APPROVAL))
                        continue;
                TRY(check_run_name(p));
                t->approval_request_name =
                        arena_printf(p->arena, "%s-%s-%s", p->run->object.meta.name, format, c->name);
                if (!t->approval_request_name)
                        return error_no_memory(p->err);
        }
        ret->n = tasks->n;
        ret->set = true;
        return 0;
}

static bool same_tasks(const struct stage_task_status_list *a, const struct stage_task_status_list *b)
{
        if (a->n != b->n)
                return false;
        for (uint32_t i = 0; i < a->n; i++)
                if (!text_equal(a->at[i].type, b->at[i].type) ||
                    !text_equal(or_empty(a->at[i].approval_request_name),
                                or_empty(b->at[i].approval_request_name)))
                        return false;
        return true;
}

static int check_tasks_of(struct pass *p, const struct stage_config *c, const struct stage_status *s)
{
        struct stage_task_status_list before = { 0 }, after = { 0 };

        TRY(list_tasks(p, c, &c->before_stage_tasks, "before", &before));
        TRY(list_tasks(p, c, &c->after_stage_tasks, "after", &after));
        if (same_tasks(&before, &s->before_stage_task_status) &&
            same_tasks(&after, &s->after_stage_task_status))
                return 0;
        return run_aborts(p, words_f(p,
                                     ERROR_RUN_ABORT ": " ERROR_CLASS_UNEXPECTED
                                                     ": the tasks of stage `%s` in the updateRun are not "
                                                     "those of its strategy",
                                     s->stage_name));
}

int check_tasks(struct pass *p)
{
        for (uint32_t i = 0; i < p->status->stages_status.n; i++) {
                const struct stage_config *c = config_of(p, i);

                if (c)
                        TRY(check_tasks_of(p, c, &p->status->stages_status.at[i]));
        }
        return 0;
}

static int check_name(struct pass *p, const struct strategy_spec *s, uint32_t at)
{
        for (uint32_t i = 0; i < at; i++)
                if (text_equal(s->stages.at[i].name, s->stages.at[at].name))
                        return run_aborts(p, words_f(p,
                                                     ERROR_RUN_VALID
                                                     ": " ERROR_CLASS_USER
                                                     ": two stages have the name `%s`, updateStrategy: "
                                                     "`%s`",
                                                     or_empty(s->stages.at[at].name),
                                                     ref_of(p, p->run->spec->staged_rollout_strategy_name)));
        return 0;
}

static int check_selector(struct pass *p, const struct stage_config *c)
{
        struct error err;

        if (!c->label_selector || label_selector_check(c->label_selector, &err) == 0)
                return 0;
        return run_aborts(
                p, words_f(p,
                           ERROR_RUN_VALID ": " ERROR_CLASS_USER ": the stage label selector is invalid, "
                                           "updateStrategy: `%s`, stage: %s, err: %s",
                           ref_of(p, p->run->spec->staged_rollout_strategy_name), c->name, err.text));
}

static int check_timeout(struct pass *p, const struct stage_config *c)
{
        int64_t ns;

        if (text_empty(c->cluster_timeout) ||
            (duration_parse_go(slice_of(c->cluster_timeout), &ns) == 0 && ns >= NANOSECONDS))
                return 0;
        return run_aborts(p, words_f(p,
                                     ERROR_RUN_VALID ": " ERROR_CLASS_USER
                                                     ": clusterTimeout `%s` is not at least 1s, "
                                                     "updateStrategy: `%s`, stage: %s",
                                     c->cluster_timeout,
                                     ref_of(p, p->run->spec->staged_rollout_strategy_name), c->name));
}

static int compute_stage(struct pass *p, uint32_t i, struct map *placed, struct stage_status *ret)
{
        const struct strategy_spec *s = p->status->strategy_snapshot;
        const struct stage_config *c = &s->stages.at[i];

        *ret = (struct stage_status){ .stage_name = c->name, .start_time = TIME_NONE, .end_time = TIME_NONE };
        TRY(check_name(p, s, i));
        TRY(check_before_tasks(p, c));
        TRY(check_after_tasks(p, c));
        TRY(check_selector(p, c));
        TRY(check_timeout(p, c));
        TRY(list_clusters(p, c, placed, &ret->clusters));
        TRY(list_tasks(p, c, &c->before_stage_tasks, "before", &ret->before_stage_task_status));
        return list_tasks(p, c, &c->after_stage_tasks, "after", &ret->after_stage_task_status);
}

/* ---- coverage ---- */

static int map_stages(struct pass *p, const struct stage_status_list *stages, struct map *ret)
{
        map_init(ret, MAP_BORROW_KEYS, NULL);
        for (uint32_t i = 0; i < stages->n; i++)
                for (uint32_t k = 0; k < stages->at[i].clusters.n; k++)
                        if (map_put(ret, stages->at[i].clusters.at[k].cluster_name, ret) < 0)
                                return error_no_memory(p->err);
        return 0;
}

/* Those that no stage took when the run began, by its own record. */
static int map_unstaged(struct pass *p, struct map *ret)
{
        const struct left_out_cluster_list *l = &p->status->left_out_clusters;

        map_init(ret, MAP_BORROW_KEYS, NULL);
        for (uint32_t i = 0; i < l->n; i++)
                if (text_equal(l->at[i].reason, LEFT_OUT_IN_NO_STAGE) &&
                    map_put(ret, l->at[i].cluster_name, ret) < 0)
                        return error_no_memory(p->err);
        return 0;
}

static int find_in(struct pass *p, const struct map *placed, const struct map *unstaged)
{
        struct left_out_cluster_list found = { .at = ARENA_NEW_ARRAY(p->arena, struct left_out_cluster,
                                                                     p->selected.n + 1) };
        bool begins = !is_true(p, &p->status->conditions, CONDITION_INITIALIZED);

        if (!found.at)
                return error_no_memory(p->err);
        for (size_t i = 0; i < p->selected.n; i++) {
                const char *cluster = p->selected.at[i].b->spec->target_cluster;

                if (map_has(placed, cluster))
                        continue;
                found.at[found.n++] = (struct left_out_cluster){ cluster, begins || map_has(unstaged, cluster)
                                                                                  ? LEFT_OUT_IN_NO_STAGE
                                                                                  : LEFT_OUT_JOINED };
        }
        found.set = found.n > 0;
        p->status->left_out_clusters = found;
        return 0;
}

int find_left_out(struct pass *p, const struct stage_status_list *stages)
{
        struct map placed, unstaged = MAP_INIT;
        int code;

        if (is_retry(p)) /* the clusters that it leaves out are the other run's */
                return 0;
        code = map_stages(p, stages, &placed);
        if (code == 0)
                code = map_unstaged(p, &unstaged);
        if (code == 0)
                code = find_in(p, &placed, &unstaged);
        map_free(&placed);
        map_free(&unstaged);
        return code;
}

static int refuse_unplaced(struct pass *p, const struct map *placed)
{
        AUTO_BUF struct buf names;
        bool gone = false;
        size_t n = 0;

        buf_init(&names, 4096);
        for (size_t i = 0; i < p->selected.n; i++) { /* sorted by cluster */
                const char *cluster = p->selected.at[i].b->spec->target_cluster;

                if (map_has(placed, cluster) || !is_asked_for(p, cluster))
                        continue;
                gone = gone || !p->selected.at[i].cluster;
                if (n++ < UNPLACED_SHOWN_MAX)
                        buf_printf(&names, "%s%s", n > 1 ? ", " : "", cluster);
        }
        if (n == 0)
                return 0;
        return (gone ? run_waits_or_aborts : run_aborts)(
                p, words_f(p,
                           ERROR_RUN_VALID ": " ERROR_CLASS_USER ": some clusters are not placed in any "
                                           "stage, total %zu, showing up to 10: %s",
                           n, listed_text(p, &names)));
}

static int check_coverage(struct pass *p, const struct stage_status_list *stages)
{
        struct map placed;
        int code = map_stages(p, stages, &placed);

        if (code == 0)
                code = refuse_unplaced(p, &placed);
        map_free(&placed);
        return code;
}

/* ---- all stages ---- */

int compute_stages(struct pass *p, struct stage_status_list *ret)
{
        const struct strategy_spec *s = p->status->strategy_snapshot;
        struct map placed;
        int code = 0;

        *ret = (struct stage_status_list){
                .at = ARENA_NEW_ARRAY(p->arena, struct stage_status, s->stages.n + 1u), .set = true
        };
        if (!ret->at)
                return error_no_memory(p->err);
        map_init(&placed, MAP_BORROW_KEYS, NULL);
        for (uint32_t i = 0; i < s->stages.n && code == 0; i++)
                code = compute_stage(p, i, &placed, &ret->at[ret->n++]);
        map_free(&placed);
        return code == 0 && !keeps_clusters(p) ? check_coverage(p, ret) : code;
}
