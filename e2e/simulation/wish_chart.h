/* Charts ("charts") and their repositories that users keep on the hub, as asked so far, and what each
 * repository has published. A repository has one chart, "game", in versions 1.0.0 to 3.3.0. Pure data. */
#pragma once

#include "common/base/vec.h"
#include "common/json/doc.h"
#include "common/kube/client.h"

#define WISH_SHELF "shelf"  /* the namespace they live in */
#define WISH_REPOSITORIES 2 /* HelmRepositories "repository-0" ... */
#define WISH_CHARTS 4       /* HelmCharts "chart-0" ... */
#define WISH_MAJORS 3       /* 1 to 3 */
#define WISH_MINORS 4       /* 0 to 3 */
#define WISH_CHART_NAME 32
#define WISH_RANGES 6
#define WISH_STORED (WISH_CHARTS + WISH_REPOSITORIES) /* objects with files: charts first */
#define WISH_DISKS 4                                  /* of hub agents */

enum wish_library { LIBRARY_ANSWERS, LIBRARY_FAILS, LIBRARY_HANGS, LIBRARY_BABBLES };

typedef uint32_t wish_versions; /* bit major * WISH_MINORS + minor, of majors from 0 on */

struct wish_repository {
        bool exists, suspended;
        unsigned requests;
        enum wish_library library;
        wish_versions published;
        VEC(wish_versions) past; /* all that its index ever said */
};

struct wish_chart {
        bool exists, suspended, values; /* values: it is packaged with a values file */
        unsigned repository, range, requests;
};

struct wish_shelf {
        bool there; /* the namespace */
        struct wish_repository repositories[WISH_REPOSITORIES];
        struct wish_chart charts[WISH_CHARTS];
        int64_t lost_ms; /* a file was taken from the disk, or the disk was full; 0 = never */
        int64_t taken_ms[WISH_DISKS][WISH_STORED]; /* when files of that object were taken from that disk */
};

extern const struct kube_resource wish_repository_resource, wish_chart_resource;
const char *wish_repository_name(unsigned repository, char ret[WISH_CHART_NAME]);
const char *wish_chart_name(unsigned chart, char ret[WISH_CHART_NAME]);
const char *wish_stored_name(unsigned stored, char ret[WISH_CHART_NAME]);
/* It looks by itself once an hour only, and follows its repository because it is woken. */
bool wish_chart_is_slow(unsigned chart);
json_t *wish_repository_doc(const struct wish_shelf *s, unsigned repository); /* NULL on no memory */
json_t *wish_chart_doc(const struct wish_shelf *s, unsigned chart);
int wish_publish(struct wish_repository *r, wish_versions now); /* 0 or ERR_NO_MEMORY */

/* What the repository serves. */
int wish_index_text(wish_versions published, struct buf *b);
int wish_game(unsigned version, struct buf *b); /* the archive of version number `version` */
void wish_version_text(unsigned version, char ret[WISH_CHART_NAME]);
/* The number of the newest in that range; -1 = there is none. Written once more, for these ranges alone. */
int wish_choose(unsigned range, wish_versions published);
