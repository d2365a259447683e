#include "e2e/simulation/wish_garden.h"

#include <stdio.h>

#include "common/base/memory.h"
#include "proto/names.h"

#define FILE_README 0
#define FILE_BASE 1
#define FILE_TORN 2
#define FILE_PLOTS 3

const char *const wish_bed_paths[WISH_BEDS] = { "north", "south/bed" };

/* ---- what follows ---- */

bool wish_bed_is_broken(const struct wish_bed *b)
{
        return b->torn || b->gone;
}

bool wish_bed_is_held(const struct wish_garden *g, unsigned bed)
{
        return !wish_bed_is_broken(&g->beds[bed]) && g->beds[bed].cleared && !g->confirmed[bed];
}

bool wish_garden_is_broken(const struct wish_garden *g)
{
        for (unsigned i = 0; i < WISH_BEDS; i++)
                if (wish_bed_is_broken(&g->beds[i]))
                        return true;
        return false;
}

bool wish_garden_collects(const struct wish_garden *g)
{
        for (unsigned i = 0; i < WISH_BEDS; i++)
                if (wish_bed_is_broken(&g->beds[i]) || wish_bed_is_held(g, i))
                        return false;
        return true;
}

bool wish_bed_has(const struct wish_bed *b, unsigned piece)
{
        if (b->cleared)
                return false;
        switch (piece) {
        case PIECE_NAMESPACE:
                return true;
        case PIECE_PLACEMENT:
                return b->placed;
        case PIECE_JOB:
                return b->image != 0;
        default:
                return b->plots[piece].color != 0;
        }
}

void wish_garden_note(struct wish_garden *g, int64_t now_ms)
{
        for (unsigned i = 0; i < WISH_BEDS; i++) {
                if (!g->beds[i].cleared)
                        g->confirmed[i] = false;
                if (!wish_bed_is_broken(&g->beds[i]) && !wish_bed_is_held(g, i))
                        g->good[i] = g->beds[i];
        }
        if (!wish_garden_collects(g))
                return;
        for (unsigned i = 0; i < WISH_BEDS; i++)
                for (unsigned piece = 0; piece < WISH_PIECES; piece++)
                        if (!wish_bed_has(&g->beds[i], piece))
                                g->unwanted_ms[i][piece] = now_ms;
}

/* ---- as objects ---- */

const char *wish_bed_name(unsigned bed, char ret[WISH_GARDEN_NAME])
{
        snprintf(ret, WISH_GARDEN_NAME, "bed-%u", bed);
        return ret;
}

const struct kube_resource *wish_piece_resource(unsigned piece)
{
        static const struct kube_resource config_maps = { "", "v1", "configmaps", "ConfigMap", true },
                                          namespaces = { "", "v1", "namespaces", "Namespace", false },
                                          placements = { GROUP_PLACEMENT, "v1beta1",
                                                         "clusterresourceplacements",
                                                         "ClusterResourcePlacement", false },
                                          jobs = { "batch", "v1", "cronjobs", "CronJob", true };

        switch (piece) {
        case PIECE_NAMESPACE:
                return &namespaces;
        case PIECE_PLACEMENT:
                return &placements;
        case PIECE_JOB:
                return &jobs;
        default:
                return &config_maps;
        }
}

const char *wish_piece_place(unsigned bed, unsigned piece, char ret_name[WISH_GARDEN_NAME],
                             char ret_ns[WISH_GARDEN_NAME], bool *ret_namespaced)
{
        wish_bed_name(bed, ret_ns);
        *ret_namespaced = piece < WISH_PLOTS || piece == PIECE_JOB;
        if (piece == PIECE_JOB)
                snprintf(ret_name, WISH_GARDEN_NAME, "job");
        else if (piece < WISH_PLOTS)
                snprintf(ret_name, WISH_GARDEN_NAME, "plot-%u", piece);
        else
                wish_bed_name(bed, ret_name);
        return ret_name;
}

/* ---- as files ---- */

static void write_base(const struct wish_bed *b, const char *name, struct buf *text)
{
        buf_printf(text, "# what the others lie in\napiVersion: v1\nkind: Namespace\nmetadata: {name: %s}\n",
                   name);
        if (b->placed)
                buf_printf(
                        text,
                        "---\napiVersion: placement.kubernetes-fleet.io/v1beta1\n"
                        "kind: ClusterResourcePlacement\nmetadata: {name: %s}\nspec:\n"
                        "  resourceSelectors:\n"
                        "  - {group: '', version: v1, kind: Namespace, name: %s}\n"
                        "  policy: {placementType: PickAll, tolerations: [{key: play, operator: Exists}]}\n"
                        "  strategy:\n    rollingUpdate: {maxUnavailable: 100%%, unavailablePeriodSeconds: "
                        "1}\n",
                        name, name);
}

static void write_plot(const struct wish_plot *p, unsigned plot, const char *ns, struct buf *text)
{
        buf_printf(text, "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: plot-%u\n  namespace: %s\n",
                   plot, ns);
        if (p->ignored)
                buf_append_str(text, "  annotations: {fluxcd.io/ignore: 'true'}\n");
        buf_printf(text, "data: {color: c%u}\n", p->color);
}

/* Words that an update has to leave as they are. */
static void write_job(unsigned image, const char *ns, struct buf *text)
{
        buf_printf(
                text,
                "apiVersion: batch/v1\nkind: CronJob # it rests\nmetadata:\n  name: job\n  namespace: %s\n"
                "spec:\n  schedule: '0 0 1 1 *'\n  suspend: true\n  jobTemplate:\n    spec:\n      "
                "template:\n"
                "        spec:\n          restartPolicy: Never\n          containers:\n          - name: c\n"
                "            image: app:v%u # the newest\n",
                ns, image);
}

static bool write_plot_file(const struct wish_bed *b, unsigned bed, unsigned file, char ret_path[64],
                            struct buf *text)
{
        unsigned plot = (file - FILE_PLOTS) / 2;
        bool moved = (file - FILE_PLOTS) % 2;
        char ns[WISH_GARDEN_NAME];

        if (b->cleared || !b->plots[plot].color || b->plots[plot].moved != moved)
                return false;
        snprintf(ret_path, 64, "%s/%s%u.y%sml", wish_bed_paths[bed], moved ? "moved/deep/plot-" : "plot-",
                 plot, moved ? "" : "a");
        write_plot(&b->plots[plot], plot, wish_bed_name(bed, ns), text);
        return true;
}

bool wish_bed_file(const struct wish_bed *b, unsigned bed, unsigned file, char ret_path[64], struct buf *text)
{
        char name[WISH_GARDEN_NAME];

        buf_clear(text);
        if (b->gone || (file == WISH_FILE_JOB && (b->cleared || !b->image)))
                return false;
        if (file == WISH_FILE_JOB) {
                snprintf(ret_path, 64, "%s/job.yaml", wish_bed_paths[bed]);
                write_job(b->image, wish_bed_name(bed, name), text);
                return true;
        }
        if (file >= FILE_PLOTS)
                return write_plot_file(b, bed, file, ret_path, text);
        snprintf(ret_path, 64, "%s/%s", wish_bed_paths[bed],
                 file == FILE_README ? "README.md"
                 : file == FILE_BASE ? "base.yaml"
                                     : "torn.yaml");
        if (file == FILE_README)
                buf_append_str(text, "A bed.\n");
        else if (file == FILE_BASE && !b->cleared)
                write_base(b, wish_bed_name(bed, name), text);
        else if (file == FILE_TORN && b->torn)
                buf_append_str(text, "apiVersion: v1\nkind: [oh\n");
        return text->len > 0;
}

/* ---- what users make ---- */

const char *wish_request_name(unsigned number, char ret[WISH_GARDEN_NAME])
{
        snprintf(ret, WISH_GARDEN_NAME, "request-%u", number);
        return ret;
}

json_t *wish_garden_request(unsigned number, json_t *data)
{
        char name[WISH_GARDEN_NAME];

        if (!data)
                return NULL;
        return json_pack("{s:s, s:s, s:{s:s, s:s, s:{s:s}}, s:o}", "apiVersion", "v1", "kind", "ConfigMap",
                         "metadata", "name", wish_request_name(number, name), "namespace",
                         NAMESPACE_FLEET_SYSTEM, "labels", "fluxcd.io/request", "true", "data", data);
}

json_t *wish_neighbour_plot(unsigned bed, unsigned plot, const json_t *labels)
{
        char ns[WISH_GARDEN_NAME];
        AUTO_FREE char *name = mem_printf("own-%u", plot);

        return json_pack("{s:s, s:s, s:{s:s, s:s, s:O*}, s:{s:s}}", "apiVersion", "v1", "kind", "ConfigMap",
                         "metadata", "name", name, "namespace", wish_bed_name(bed, ns), "labels", labels,
                         "data", "color", "nobody's");
}
