/* A Git repository ("garden") as its users have it so far: two target paths ("beds"), each with a namespace,
 * ConfigMaps ("plots") and a CronJob in it and a placement, which an agent syncs to the hub. Pure data. */
#pragma once

#include "common/json/doc.h"
#include "common/kube/client.h"

#define WISH_BEDS 2
#define WISH_PLOTS 4
#define WISH_GARDENER "manifest-generator" /* the agent */
#define WISH_GARDEN_STATUS "manifest-generation-status"
#define WISH_GARDEN_NAME 40
#define WISH_ASKED 16

struct wish_plot {
        unsigned color; /* 0: there is none */
        bool moved;     /* its file has another name */
        bool ignored;   /* it says that it is not to be applied */
};

/* What a commit has of a target path. */
struct wish_bed {
        bool cleared;   /* no manifest at all */
        bool placed;    /* there is a placement */
        bool torn;      /* a file is no YAML */
        bool gone;      /* there is no such folder */
        unsigned image; /* of its CronJob; 0: there is none */
        struct wish_plot plots[WISH_PLOTS];
};

enum wish_remote { REMOTE_ANSWERS, REMOTE_SLOW, REMOTE_FAILS, REMOTE_HANGS, REMOTE_BABBLES, REMOTE_REFUSES };
#define WISH_REMOTES (REMOTE_REFUSES + 1)

/* Pieces of a bed on the hub: its plots, then these. */
enum wish_piece { PIECE_NAMESPACE = WISH_PLOTS, PIECE_PLACEMENT, PIECE_JOB, WISH_PIECES };

struct wish_garden {
        bool there;                      /* it is played */
        struct wish_bed beds[WISH_BEDS]; /* as of the branch's head */
        /* What the hub has to have: of a bed that cannot be read, or that suddenly is empty, what it had. */
        struct wish_bed good[WISH_BEDS];
        bool confirmed[WISH_BEDS];    /* that it is empty is meant: a request says so */
        unsigned confirms[WISH_BEDS]; /* number of that request */
        unsigned requests;
        unsigned asked[WISH_BEDS][WISH_ASKED]; /* images that requests ask for */
        unsigned n_asked[WISH_BEDS];
        unsigned forced; /* number of the first request after the branch last began anew */
        bool neighbours[WISH_BEDS][WISH_PLOTS]; /* ConfigMaps that are nobody's, with the labels of a plot */
        enum wish_remote remote;
        unsigned commits;
        char head[41]; /* as users left it: the agent's commits may come after it */
        /* When last a commit said that it has to go, by what each bed has; 0: never. */
        int64_t unwanted_ms[WISH_BEDS][WISH_PIECES];
};

/* ---- what follows ---- */

bool wish_bed_is_broken(const struct wish_bed *b);
bool wish_bed_is_held(const struct wish_garden *g,
                      unsigned bed); /* empty, and nobody said that it is meant */
bool wish_garden_is_broken(const struct wish_garden *g);
bool wish_garden_collects(const struct wish_garden *g); /* nothing holds collection up */
bool wish_bed_has(const struct wish_bed *b, unsigned piece);
/* The head is another by now, or a request came: what the hub has to have, and what may be deleted. */
void wish_garden_note(struct wish_garden *g, int64_t now_ms);

/* ---- as files and objects ---- */

extern const char *const wish_bed_paths[WISH_BEDS];
const char *wish_bed_name(unsigned bed, char ret[WISH_GARDEN_NAME]); /* its namespace and its placement */
const struct kube_resource *wish_piece_resource(unsigned piece);
/* Its name; *ret_ns NULL: it is of the cluster. */
const char *wish_piece_place(unsigned bed, unsigned piece, char ret_name[WISH_GARDEN_NAME],
                             char ret_ns[WISH_GARDEN_NAME], bool *ret_namespaced);
/* Files that a bed can have, by number. False: it has no such file. */
#define WISH_BED_FILES (4 + 2 * WISH_PLOTS)
#define WISH_FILE_JOB (WISH_BED_FILES - 1)
bool wish_bed_file(const struct wish_bed *b, unsigned bed, unsigned file, char ret_path[64],
                   struct buf *text);
/* All new; NULL on no memory. */
json_t *wish_garden_request(unsigned number, json_t *data); /* takes it */
const char *wish_request_name(unsigned number, char ret[WISH_GARDEN_NAME]);
json_t *wish_neighbour_plot(unsigned bed, unsigned plot, const json_t *labels);
