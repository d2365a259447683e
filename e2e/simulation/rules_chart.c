/* Charts and their repositories, at each step: what a status names is on the disk, the last good artifact
 * stays through all that fails, and what is of no use goes. spec/helm-chart.md 4.2, 4.3. */
#include "e2e/simulation/rules.h"

static bool is_about_artifacts(const struct change *c)
{
        return (text_equal(c->resource, RES_HELM_CHARTS) || text_equal(c->resource, RES_HELM_REPOSITORIES)) &&
               rule_is_hub_agent(c->who);
}

static const json_t *artifact_of(const json_t *doc)
{
        return doc ? doc_get_object(doc, "status.artifact") : NULL;
}

/* When files of that object were last taken from the disk of this agent. 0 = never. */
static int64_t taken_from(struct watch *w, const char *who, const char *object)
{
        for (unsigned agent = 0; agent < WISH_DISKS; agent++)
                for (unsigned i = 0; i < WISH_STORED; i++) {
                        char disk[FLEET_AGENT_NAME], name[WISH_CHART_NAME];

                        fleet_hub_agent_name(agent, disk);
                        if (text_equal(disk, who) && text_equal(wish_stored_name(i, name), object))
                                return watch_wish(w)->shelf.taken_ms[agent][i];
                }
        return 0;
}

static bool was_lost(struct watch *w)
{
        int64_t lost = watch_wish(w)->shelf.lost_ms;

        return lost && watch_now(w) - lost < RULE_LAG_MS;
}

static void judge_new(struct watch *w, const struct change *c, const json_t *artifact)
{
        const char *path = or_empty(doc_get_string(artifact, "path"));
        uint64_t size = 0;

        watch_judged(w, &rule_chart_kept);
        if (!watch_artifact(w, c->who, path, &size)) {
                if (!was_lost(w))
                        watch_broken(w, &rule_chart_kept, "%s says that %s is kept, and it is not", c->who,
                                     path);
        } else if (doc_get_int(artifact, "size", -1) != (long long)size) {
                watch_broken(w, &rule_chart_kept, "%s says another size of %s than its %llu bytes", c->who,
                             path, (unsigned long long)size);
        }
}

/* Who told last what is kept of an object, and when. */
struct told {
        char who[FLEET_AGENT_NAME];
        int64_t ms;
};

struct kept {
        struct told told[WISH_STORED];
};

static struct told *told_of(struct kept *s, const char *object)
{
        for (unsigned i = 0; i < WISH_STORED; i++) {
                char name[WISH_CHART_NAME];

                if (text_equal(wish_stored_name(i, name), object))
                        return &s->told[i];
        }
        return NULL;
}

/* Where another wrote it, the disk of this one never had it. */
static bool lost_by_itself(struct watch *w, const struct change *c, const struct told *t)
{
        int64_t taken = taken_from(w, c->who, c->name);

        return t && text_equal(t->who, c->who) && (!taken || t->ms - taken > RULE_LAG_MS);
}

/* What the disk of who wrote this has is not given up, whatever failed, nor does it go by itself. */
static void judge_lost(struct watch *w, const struct change *c, const json_t *artifact, const struct told *t)
{
        const char *path = or_empty(doc_get_string(artifact, "path"));
        uint64_t size = 0;

        watch_judged(w, &rule_chart_kept);
        if (watch_artifact(w, c->who, path, &size))
                watch_broken(w, &rule_chart_kept, "%s gives up %s, which is there", c->who, path);
        else if (lost_by_itself(w, c, t))
                watch_broken(w, &rule_chart_kept, "%s lost %s, which nobody took", c->who, path);
}

static void kept_changed(struct watch *w, void *state, const struct change *c)
{
        const json_t *before = artifact_of(c->before), *now = artifact_of(c->after);
        struct told *t;

        if (!is_about_artifacts(c) || !c->after || rule_is_leaving(c->after))
                return;
        t = told_of(state, c->name);
        if (now && !json_equal(before, now)) {
                judge_new(w, c, now);
                if (t) {
                        snprintf(t->who, sizeof(t->who), "%s", c->who);
                        t->ms = c->at_ms;
                }
        }
        if (before && !now)
                judge_lost(w, c, before, t);
}

const struct rule rule_chart_kept = {
        .of_charts = true, .name = "chart-kept", .state_size = sizeof(struct kept), .changed = kept_changed
};

/* ---- what is ready ---- */

/* Who begins a pass leaves what Ready said, and has not looked yet. */
static bool is_looking(const json_t *doc)
{
        return rule_says(json_object_get(doc, "status"), CONDITION_FLUX_RECONCILING, "True");
}

static void ready_changed(struct watch *w, void *state, const struct change *c)
{
        const char *path = or_empty(doc_get_string(artifact_of(c->after), "path"));
        int64_t taken = taken_from(w, c->who, c->name);
        uint64_t size = 0;

        if (!is_about_artifacts(c) || !c->after || rule_is_leaving(c->after) ||
            json_is_true(doc_get(c->after, "spec.suspend")) ||
            !rule_says(json_object_get(c->after, "status"), CONDITION_FLUX_READY, "True"))
                return;
        watch_judged(w, &rule_chart_ready);
        if (!*path)
                watch_broken(w, &rule_chart_ready, "%s says Ready of %s %s, which has no artifact", c->who,
                             c->resource, c->name);
        else if (!is_looking(c->after) && !watch_artifact(w, c->who, path, &size) &&
                 (!taken || watch_now(w) - taken > RULE_LAG_MS))
                watch_broken(w, &rule_chart_ready, "%s says Ready of %s %s, and has no %s", c->who,
                             c->resource, c->name, path);
}

const struct rule rule_chart_ready = { .of_charts = true, .name = "chart-ready", .changed = ready_changed };

/* ---- what is of no use ---- */

struct tidy {
        struct watch *w;
        const char *leader, *kind, *resource; /* kind in lower case */
        const char *object, *file, *link;     /* file: the one that is kept; NULL = any may be */
};

static void judge_name(void *ctx, const char *name)
{
        struct tidy *t = ctx;

        watch_judged(t->w, &rule_chart_tidy);
        if (!text_equal(name, t->file) && !text_equal(name, t->link))
                watch_broken(t->w, &rule_chart_tidy, "%s keeps %s of %s %s", t->leader, name, t->kind,
                             t->object);
}

static bool looks_seldom(const json_t *doc)
{
        return text_equal(doc_get_string(doc, "spec.interval"), "1h");
}

/* What is Ready was looked at not long ago, if the time of day was not set back. */
static void judge_folder(void *ctx, const char *name)
{
        struct tidy *t = ctx;
        const json_t *doc = watch_get(t->w, "hub", t->resource, WISH_SHELF, name);
        const char *path = doc_get_string(artifact_of(doc), "path");
        char folder[160];

        watch_judged(t->w, &rule_chart_tidy);
        if (!doc) {
                watch_broken(t->w, &rule_chart_tidy, "%s keeps a folder of %s %s, which is gone", t->leader,
                             t->kind, name);
                return;
        }
        if (!path || watch_wish(t->w)->clock_ms || looks_seldom(doc) ||
            json_is_true(doc_get(doc, "spec.suspend")) ||
            !rule_says(json_object_get(doc, "status"), CONDITION_FLUX_READY, "True"))
                return;
        t->object = name;
        t->file = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
        snprintf(folder, sizeof(folder), "%s/" WISH_SHELF "/%s", t->kind, name);
        watch_folder(t->w, t->leader, folder, judge_name, t);
}

static void tidy_at_rest(struct watch *w, void *state)
{
        struct tidy charts = { w, "", "helmchart", RES_HELM_CHARTS, "", NULL, "latest.tar.gz" },
                    repositories = { w, "", "helmrepository", RES_HELM_REPOSITORIES, "", NULL, "index.yaml" };
        char first[128];
        const json_t *lease;

        snprintf(first, sizeof(first), LEASE_HUB_AGENT "-shard-0-of-%u", watch_shards(w));
        lease = watch_get(w, "hub", RES_LEASES, NAMESPACE_FLEET_SYSTEM,
                          watch_shards(w) ? first : LEASE_HUB_AGENT);
        charts.leader = repositories.leader = or_empty(doc_get_string(lease, "spec.holderIdentity"));
        watch_folder(w, charts.leader, "helmchart/" WISH_SHELF, judge_folder, &charts);
        watch_folder(w, charts.leader, "helmrepository/" WISH_SHELF, judge_folder, &repositories);
}

const struct rule rule_chart_tidy = { .of_charts = true, .name = "chart-tidy", .at_rest = tidy_at_rest };

/* ---- what is tried again ---- */

static bool is_failing(const json_t *doc)
{
        const json_t *status = json_object_get(doc, "status");

        return status && !rule_says(status, CONDITION_FLUX_READY, "True") &&
               !rule_says(status, CONDITION_FLUX_STALLED, "True");
}

/* What has no artifact yet says at each try that it is building one. */
bool rules_chart_is_tried_again(const struct change *c)
{
        if (text_equal(c->resource, "/events"))
                return text_equal(c->ns, WISH_SHELF);
        return is_about_artifacts(c) && c->before && c->after && is_failing(c->before) &&
               is_failing(c->after);
}

struct retry {
        bool any;
};

static bool note_retry(void *ctx, const json_t *doc)
{
        static const char *const troubles[] = { CONDITION_SOURCE_FETCH_FAILED, CONDITION_SOURCE_BUILD_FAILED,
                                                CONDITION_SOURCE_STORAGE_FAILED };
        struct retry *r = ctx;

        for (size_t i = 0; i < ARRAY_LEN(troubles); i++)
                r->any = r->any || rule_says(json_object_get(doc, "status"), troubles[i], "True");
        return !r->any;
}

bool rules_charts_try_again(struct watch *w)
{
        struct retry r = { false };

        watch_each(w, "hub", RES_HELM_CHARTS, NULL, note_retry, &r);
        watch_each(w, "hub", RES_HELM_REPOSITORIES, NULL, note_retry, &r);
        return r.any;
}
