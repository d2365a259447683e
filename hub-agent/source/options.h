/* How charts and their sources are worked on. spec/helm-chart.md 4.1. */
#pragma once

#include "common/loop/volume.h"
#include "common/net/address_guard.h"
#include "common/net/http_server.h"
#include "hub-agent/source/store/artifact_digest.h"
#include "hub-agent/source/store/retention.h"

struct hub_flags;
struct trusted_root;
struct label_query;
struct object;

struct source_options {
        const char *bind; /* the file server of artifacts */
        int port;         /* 0 = any, -1 = none */
        /* Who hands out files, for a network without ports; handle NULL = no longer. NULL = nobody is told.
         */
        void (*served)(void *ctx, http_handler_fn handle, void *handle_ctx);
        void *served_ctx;
        struct volume *volume; /* where artifacts are kept */
        const char *address;   /* what their URLs begin with: "http://host:port" */
        enum artifact_digest digest;
        struct retention retention;
        size_t index_bytes, chart_bytes, file_bytes; /* most of an index, a chart, and one file of it */
        const char
                *work_folder; /* of what is fetched with Git, while it is looked into; NULL = there is none */
        uint64_t git_bytes;   /* most that a Git repository may send; 0 = GIT_PACK_MAX */
        const struct address_ranges *denied; /* where no source is; NULL = they may be anywhere */
        size_t cache_most;                   /* indexes of which a directory is in memory; 0 = of none */
        int64_t cache_ttl_ms, cache_purge_ms;
        const struct trusted_root *trusted_root; /* of signatures without keys; NULL = none */
        bool enforces_digests;                   /* a chart that is not what its index says is not taken */
        const char *ns;                          /* only objects of this namespace; NULL = of all */
        const struct label_query *labels;        /* and that these select; NULL = all */
        unsigned concurrency;                    /* of each kind */
        unsigned jitter_percent;
        int64_t retry_least_ms, retry_most_ms;
};

/* As the flags and the environment (STORAGE_PATH, STORAGE_ADDRESS, STORAGE_ADV_ADDR) say; texts are in the
 * arena. The volume is opened, and the caller's to close. ERR_INVALID names the flag. */
int source_options_open(struct world *w, const struct hub_flags *f, struct arena *arena,
                        struct source_options *ret, struct error *err);
bool source_is_watched(const struct source_options *o, const struct object *about);
/* "http://host:port" of what is told to be the address (NULL or "": nothing is), of the server's host and
 * port, and of the machine's name. NULL on no memory. */
const char *source_address(struct arena *arena, const char *told, const char *host, int port,
                           const char *machine);

/* Links, and where clouds tell machines who they are. */
#define SOURCE_DENIED                                                                                        \
        "169.254.0.0/16,fe80::/10,100.100.100.200/32,168.63.129.16/32,192.0.0.192/32,fd00:ec2::254/128,"     \
        "fd20:ce::254/128"
#define SOURCE_INDEX_BYTES 52428800
#define SOURCE_CHART_BYTES 10485760
#define SOURCE_FILE_BYTES 5242880
#define SOURCE_RETENTION_MS 60000
#define SOURCE_RETENTION_RECORDS 2
