#include "e2e/simulation/wish_chart.h"

#include "common/base/gzip.h"
#include "hub-agent/source/chart/tar.h"

#define INDEX_MAX (1u << 20)

const struct kube_resource wish_repository_resource = { "source.toolkit.fluxcd.io", "v1", "helmrepositories",
                                                        "HelmRepository", true };
const struct kube_resource wish_chart_resource = { "source.toolkit.fluxcd.io", "v1", "helmcharts",
                                                   "HelmChart", true };

/* From the first major and minor to the last, both in it. */
static const struct {
        const char *text;
        unsigned first_major, first_minor, last_major, last_minor;
} ranges[WISH_RANGES] = {
        { "*", 1, 0, 3, 3 },    { "1.x", 1, 0, 1, 3 },   { ">=1.2.0 <3.0.0", 1, 2, 2, 3 },
        { "~2.1", 2, 1, 2, 1 }, { "3.0.0", 3, 0, 3, 0 }, { "9.x", 9, 0, 9, 3 },
};

const char *wish_repository_name(unsigned repository, char ret[WISH_CHART_NAME])
{
        snprintf(ret, WISH_CHART_NAME, "repository-%u", repository);
        return ret;
}

const char *wish_chart_name(unsigned chart, char ret[WISH_CHART_NAME])
{
        snprintf(ret, WISH_CHART_NAME, "chart-%u", chart);
        return ret;
}

const char *wish_stored_name(unsigned stored, char ret[WISH_CHART_NAME])
{
        return stored < WISH_CHARTS ? wish_chart_name(stored, ret)
                                    : wish_repository_name(stored - WISH_CHARTS, ret);
}

bool wish_chart_is_slow(unsigned chart)
{
        return chart % 2 == 1;
}

void wish_version_text(unsigned version, char ret[WISH_CHART_NAME])
{
        snprintf(ret, WISH_CHART_NAME, "%u.%u.0", version / WISH_MINORS + 1, version % WISH_MINORS);
}

int wish_choose(unsigned range, wish_versions published)
{
        for (int version = WISH_MAJORS * WISH_MINORS - 1; version >= 0; version--) {
                unsigned major = (unsigned)version / WISH_MINORS + 1, minor = (unsigned)version % WISH_MINORS,
                         at = major * 10 + minor;

                if (published >> version & 1 &&
                    at >= ranges[range].first_major * 10 + ranges[range].first_minor &&
                    at <= ranges[range].last_major * 10 + ranges[range].last_minor)
                        return version;
        }
        return -1;
}

int wish_publish(struct wish_repository *r, wish_versions now)
{
        r->published = now;
        return vec_push(&r->past, now) < 0 ? ERR_NO_MEMORY : 0;
}

/* ---- objects ---- */

static json_t *doc_of(const struct kube_resource *r, const char *name, unsigned requests, json_t *spec)
{
        char request[16];
        json_t *doc =
                json_pack("{s:s, s:s, s:{s:s, s:s}, s:o}", "apiVersion", "source.toolkit.fluxcd.io/v1",
                          "kind", r->kind, "metadata", "name", name, "namespace", WISH_SHELF, "spec", spec);

        snprintf(request, sizeof(request), "%u", requests);
        if (doc && requests &&
            json_object_set_new(json_object_get(doc, "metadata"), "annotations",
                                json_pack("{s:s}", "reconcile.fluxcd.io/requestedAt", request)) < 0) {
                json_decref(doc);
                return NULL;
        }
        return doc;
}

json_t *wish_repository_doc(const struct wish_shelf *s, unsigned repository)
{
        const struct wish_repository *r = &s->repositories[repository];
        char name[WISH_CHART_NAME], url[WISH_CHART_NAME * 2];

        snprintf(url, sizeof(url), "https://charts.test/%u", repository);
        return doc_of(&wish_repository_resource, wish_repository_name(repository, name), r->requests,
                      json_pack("{s:s, s:s, s:s, s:b}", "url", url, "interval", "20s", "timeout", "10s",
                                "suspend", r->suspended));
}

json_t *wish_chart_doc(const struct wish_shelf *s, unsigned chart)
{
        const struct wish_chart *c = &s->charts[chart];
        char name[WISH_CHART_NAME], repository[WISH_CHART_NAME];
        json_t *spec = json_pack("{s:s, s:s, s:s, s:{s:s, s:s}, s:b}", "chart", "game", "version",
                                 ranges[c->range].text, "interval", wish_chart_is_slow(chart) ? "1h" : "30s",
                                 "sourceRef", "kind", "HelmRepository", "name",
                                 wish_repository_name(c->repository, repository), "suspend", c->suspended);

        if (spec && c->values)
                json_object_set_new(spec, "valuesFiles", json_pack("[s]", "values-more.yaml"));
        return doc_of(&wish_chart_resource, wish_chart_name(chart, name), c->requests, spec);
}

/* ---- what is served ---- */

int wish_index_text(wish_versions published, struct buf *b)
{
        buf_init(b, INDEX_MAX);
        buf_append_str(
                b, "apiVersion: v1\nentries:\n  other:\n  - {name: other, version: 0.1.0, urls: [none]}\n");
        buf_append_str(b, published ? "  game:\n" : "");
        for (unsigned i = 0; i < WISH_MAJORS * WISH_MINORS; i++) {
                char version[WISH_CHART_NAME];

                wish_version_text(i, version);
                if (published >> i & 1)
                        buf_printf(b, "  - {name: game, version: %s, urls: [game-%s.tgz]}\n", version,
                                   version);
        }
        return b->failed;
}

int wish_game(unsigned version, struct buf *b)
{
        char text[WISH_CHART_NAME], chart[128];
        AUTO_BUF struct buf tar;
        int code = 0;

        wish_version_text(version, text);
        snprintf(chart, sizeof(chart), "apiVersion: v2\nname: game\nversion: %s\n", text);
        const struct tar_entry files[] = {
                { "game/Chart.yaml", slice_of(chart), 0644, 0, false },
                { "game/values.yaml", SLICE("players: 2\n"), 0644, 0, false },
                { "game/values-more.yaml", SLICE("players: 4\n"), 0644, 0, false },
        };

        buf_init(&tar, INDEX_MAX);
        buf_init(b, INDEX_MAX);
        for (size_t i = 0; i < ARRAY_LEN(files) && code == 0; i++)
                code = tar_append(&tar, &files[i], NULL);
        if (code == 0)
                code = tar_end(&tar, NULL);
        return code < 0 ? code : gzip_pack((struct slice){ tar.data, tar.len }, b, NULL);
}
