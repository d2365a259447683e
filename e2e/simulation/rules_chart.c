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

/* What the disk of who wrote this has is not given up, whatever failed. */
static void judge_lost(struct watch *w, const struct change *c, const json_t *artifact)
{
        const char *path = or_empty(doc_get_string(artifact, "path"));
        uint64_t size = 0;

        watch_judged(w, &rule_chart_kept);
        if (watch_artifact(w, c->who, path, &size))
                watch_broken(w, &rule_chart_kept, "%s gives up %s, which is there", c->who, path);
}

static void kept_changed(struct watch *w, void *state, const struct change *c)
{
        const json_t *before = artifact_of(c->before), *now = artifact_of(c->after);

        if (!is_about_artifacts(c) || !c->after || rule_is_leaving(c->after))
                return;
        if (now && !json_equal(before, now))
                judge_new(w, c, now);
        if (before && !now)
                judge_lost(w, c, before);
}

const struct rule rule_chart_kept = { .of_charts = true, .name = "chart-kept", .changed = kept_changed };

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
        if (!path || watch_wish(t->w)->clock_ms || json_is_true(doc_get(doc, "spec.suspend")) ||
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
        const json_t *lease = watch_get(w, "hub", RES_LEASES, NAMESPACE_FLEET_SYSTEM, LEASE_HUB_AGENT);

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
