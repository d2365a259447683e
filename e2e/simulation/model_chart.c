/* Charts and their repositories at rest: what they say, and that their files are served. spec/helm-chart.md
 * 3, 5, 8. */
#include "common/base/digest.h"
#include "common/base/memory.h"
#include "e2e/simulation/model_parts.h"
#include "e2e/simulation/sim_fleet.h"
#include "proto/names.h"

struct shelf_view {
        struct fleet *fleet;
        const struct wish_shelf *shelf;
        json_t *repositories, *charts;
        unsigned leader; /* who serves files */
        struct arena arena;
};

/* ---- files ---- */

static int find_leader(struct shelf_view *v, struct error *err)
{
        for (v->leader = 0; v->leader < v->fleet->n_hub_agents; v->leader++) {
                struct http_response a;

                if (sim_fleet_get_file(v->fleet, v->leader, "/", &v->arena, &a) == 404)
                        return 0;
        }
        return error_set(err, ERR_INVALID, "no hub agent serves files");
}

/* The file that a status names is served as it says; *ret is borrowed. */
static int judge_file(struct shelf_view *v, const json_t *artifact, struct slice *ret, struct error *err)
{
        const char *path = arena_printf(&v->arena, "/%s", or_empty(doc_get_string(artifact, "path"))),
                   *digest = or_empty(doc_get_string(artifact, "digest"));
        char hex[SHA256_HEX_SIZE];
        struct http_response a;
        int status = sim_fleet_get_file(v->fleet, v->leader, path, &v->arena, &a);

        if (status != 200)
                return error_set(err, ERR_INVALID, "%s is not served: %d", path, status);
        sha256_hex(a.body.data, a.body.len, hex);
        if (!text_starts_with(digest, "sha256:") || !text_equal(digest + strlen("sha256:"), hex) ||
            doc_get_int(artifact, "size", -1) != (long long)a.body.len)
                return error_set(err, ERR_INVALID, "%s has %zu bytes of digest %s, unlike its status", path,
                                 a.body.len, hex);
        *ret = a.body;
        return 0;
}

/* ---- statuses ---- */

static int judge_condition(const json_t *doc, const char *type, const char *status, const char *reason,
                           struct error *err)
{
        const json_t *c = model_condition(doc_get_object(doc, "status"), type);

        if (text_equal(doc_get_string(c, "status"), status) &&
            (!reason || text_equal(doc_get_string(c, "reason"), reason)))
                return 0;
        return error_set(err, ERR_INVALID, "%s is %s %s (%s), not %s %s", type,
                         c ? or_empty(doc_get_string(c, "status")) : "absent",
                         or_empty(doc_get_string(c, "reason")), or_empty(doc_get_string(c, "message")),
                         status ? status : "absent", or_empty(reason));
}

static int judge_observed(const json_t *doc, struct error *err)
{
        if (doc_get_int(doc, "status.observedGeneration", -1) == doc_get_int(doc, "metadata.generation", 0))
                return 0;
        return error_set(err, ERR_INVALID, "its newest generation is not observed");
}

static int judge_request(const json_t *doc, unsigned requests, struct error *err)
{
        char want[16];

        snprintf(want, sizeof(want), "%u", requests);
        if (!requests || text_equal(doc_get_string(doc, "status.lastHandledReconcileAt"), want))
                return 0;
        return error_set(err, ERR_INVALID, "request %s is not handled", want);
}

static void revision_of(wish_versions published, char ret[SHA256_HEX_SIZE + 8])
{
        char hex[SHA256_HEX_SIZE];
        AUTO_BUF struct buf b;

        wish_index_text(published, &b);
        sha256_hex(b.data, b.len, hex);
        snprintf(ret, SHA256_HEX_SIZE + 8, "sha256:%s", hex);
}

/* ---- repositories ---- */

static int judge_repository(struct shelf_view *v, unsigned i, const json_t *doc, struct error *err)
{
        const struct wish_repository *r = &v->shelf->repositories[i];
        const json_t *artifact = doc_get_object(doc, "status.artifact");
        char revision[SHA256_HEX_SIZE + 8];
        struct slice file;

        if (!doc != !r->exists)
                return error_set(err, ERR_INVALID, "is%s there", doc ? "" : " not");
        if (!doc)
                return 0;
        TRY(judge_request(doc, r->requests, err));
        if (r->suspended)
                return 0;
        TRY(judge_condition(doc, CONDITION_FLUX_READY, "True", "Succeeded", err));
        TRY(judge_condition(doc, CONDITION_FLUX_RECONCILING, NULL, NULL, err));
        TRY(judge_observed(doc, err));
        revision_of(r->published, revision);
        if (!text_equal(doc_get_string(artifact, "revision"), revision))
                return error_set(err, ERR_INVALID, "keeps %s, and %s is published",
                                 or_empty(doc_get_string(artifact, "revision")), revision);
        return judge_file(v, artifact, &file, err);
}

/* ---- charts ---- */

/* What the kept index says: the newest, unless the repository is suspended. *ret_known false: its file is not
 * on the disk of who leads now. */
static bool find_index(struct shelf_view *v, const struct wish_repository *r, const json_t *repository,
                       wish_versions *ret, bool *ret_known)
{
        const json_t *artifact = doc_get_object(repository, "status.artifact");
        const char *now = doc_get_string(artifact, "revision");
        struct slice file;

        *ret_known = artifact && judge_file(v, artifact, &file, NULL) == 0;
        vec_for_each(&r->past, published) {
                char revision[SHA256_HEX_SIZE + 8];

                revision_of(*published, revision);
                *ret = *published;
                if (text_equal(now, revision))
                        return true;
        }
        return false;
}

/* That its file went a slow one does not see before its hour is over. */
static int judge_game(struct shelf_view *v, unsigned i, unsigned version, const json_t *artifact,
                      struct error *err)
{
        AUTO_BUF struct buf game = { 0 };
        struct slice file;
        int code = judge_file(v, artifact, &file, err);

        if (code < 0 && wish_chart_is_slow(i) && v->shelf->taken_ms[v->leader][i]) {
                error_clear(err);
                return 0;
        }
        TRY(code);
        if (wish_game(version, &game) < 0)
                return error_no_memory(err);
        if (!v->shelf->charts[i].values && !slice_equal(file, (struct slice){ game.data, game.len }))
                return error_set(err, ERR_INVALID, "is not what the repository has");
        return 0;
}

static int judge_made(struct shelf_view *v, unsigned i, unsigned version, const json_t *doc,
                      struct error *err)
{
        const struct wish_chart *c = &v->shelf->charts[i];
        const json_t *artifact = doc_get_object(doc, "status.artifact");
        char text[WISH_CHART_NAME], revision[WISH_CHART_NAME + 24];
        long long generation = doc_get_int(doc, "metadata.generation", 0);

        wish_version_text(version, text);
        if (c->values)
                snprintf(revision, sizeof(revision), "%s+%lld", text, generation);
        else
                snprintf(revision, sizeof(revision), "%s", text);
        TRY(judge_condition(doc, CONDITION_FLUX_READY, "True",
                            c->values ? "ChartPackageSucceeded" : "ChartPullSucceeded", err));
        TRY(judge_condition(doc, CONDITION_FLUX_RECONCILING, NULL, NULL, err));
        TRY(judge_observed(doc, err));
        if (!text_equal(doc_get_string(artifact, "revision"), revision))
                return error_set(err, ERR_INVALID, "has version %s, not %s",
                                 or_empty(doc_get_string(artifact, "revision")), revision);
        return judge_game(v, i, version, artifact, err);
}

/* Nothing starts one that stalled when its source goes. */
static int judge_sourceless(const json_t *doc, const char *reason, struct error *err)
{
        if (judge_condition(doc, CONDITION_FLUX_STALLED, "True", "InvalidChartReference", NULL) == 0)
                return 0;
        return judge_condition(doc, CONDITION_FLUX_READY, "False", reason, err);
}

static int judge_chart(struct shelf_view *v, unsigned i, const json_t *doc, struct error *err)
{
        const struct wish_chart *c = &v->shelf->charts[i];
        const struct wish_repository *r = &v->shelf->repositories[c->repository];
        char name[WISH_CHART_NAME];
        const json_t *repository = model_find(v->repositories, wish_repository_name(c->repository, name));
        wish_versions published;
        bool known;
        int version;

        if (!doc != !c->exists)
                return error_set(err, ERR_INVALID, "is%s there", doc ? "" : " not");
        if (!doc)
                return 0;
        TRY(judge_request(doc, c->requests, err));
        if (c->suspended || (wish_chart_is_slow(i) && !r->exists))
                return 0;
        if (!r->exists)
                return judge_sourceless(doc, "SourceUnavailable", err);
        if (!doc_get_object(repository, "status.artifact"))
                return wish_chart_is_slow(i) ? 0 : judge_sourceless(doc, "NoSourceArtifact", err);
        if (!find_index(v, r, repository, &published, &known))
                return error_set(err, ERR_INVALID, "its repository keeps what was never published");
        if (!known && r->suspended)
                return 0;
        version = wish_choose(c->range, published);
        if (version >= 0)
                return judge_made(v, i, (unsigned)version, doc, err);
        TRY(judge_observed(doc, err));
        TRY(judge_condition(doc, CONDITION_FLUX_STALLED, "True", "InvalidChartReference", err));
        return judge_condition(doc, CONDITION_FLUX_READY, "False", "InvalidChartReference", err);
}

/* ---- all of it ---- */

static int judge_all(struct shelf_view *v, struct error *err)
{
        char name[WISH_CHART_NAME];

        TRY(find_leader(v, err));
        for (unsigned i = 0; i < WISH_REPOSITORIES; i++)
                if (judge_repository(v, i, model_find(v->repositories, wish_repository_name(i, name)), err) <
                    0)
                        return error_wrap(err, "HelmRepository %s", name);
        for (unsigned i = 0; i < WISH_CHARTS; i++)
                if (judge_chart(v, i, model_find(v->charts, wish_chart_name(i, name)), err) < 0)
                        return error_wrap(err, "HelmChart %s", name);
        return 0;
}

int model_judge_shelf(struct fleet *f, const struct wish_shelf *shelf, struct error *err)
{
        struct shelf_view v = { .fleet = f, .shelf = shelf };
        struct kube_client *k;
        int code;

        if (!shelf->there)
                return 0;
        TRY(f->ops->client(f, "hub", &k, err));
        code = kube_doc_list(k, &wish_repository_resource, WISH_SHELF, NULL, &v.repositories, err);
        if (code == 0)
                code = kube_doc_list(k, &wish_chart_resource, WISH_SHELF, NULL, &v.charts, err);
        if (code == 0)
                code = judge_all(&v, err);
        json_decref(v.repositories);
        json_decref(v.charts);
        arena_free(&v.arena);
        return code;
}
