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
                                                         "ClusterResourcePlacement", false };

        return piece == PIECE_NAMESPACE ? &namespaces : piece == PIECE_PLACEMENT ? &placements : &config_maps;
}

const char *wish_piece_place(unsigned bed, unsigned piece, char ret_name[WISH_GARDEN_NAME],
                             char ret_ns[WISH_GARDEN_NAME], bool *ret_namespaced)
{
        wish_bed_name(bed, ret_ns);
        *ret_namespaced = piece < WISH_PLOTS;
        if (piece < WISH_PLOTS)
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
                        "  policy: {placementType: PickAll, tolerations: [{key: play, operator: Exists}]}\n",
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
        if (b->gone)
                return false;
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

json_t *wish_garden_request(unsigned number, const char *type)
{
        char name[WISH_GARDEN_NAME];

        return json_pack("{s:s, s:s, s:{s:s, s:s, s:{s:s}}, s:{s:s}}", "apiVersion", "v1", "kind",
                         "ConfigMap", "metadata", "name", wish_request_name(number, name), "namespace",
                         NAMESPACE_FLEET_SYSTEM, "labels", "fluxcd.io/request", "true", "data", "type", type);
}

json_t *wish_neighbour_plot(unsigned bed, unsigned plot, const json_t *labels)
{
        char ns[WISH_GARDEN_NAME];
        AUTO_FREE char *name = mem_printf("own-%u", plot);

        return json_pack("{s:s, s:s, s:{s:s, s:s, s:O*}, s:{s:s}}", "apiVersion", "v1", "kind", "ConfigMap",
                         "metadata", "name", name, "namespace", wish_bed_name(bed, ns), "labels", labels,
                         "data", "color", "nobody's");
}
