/* Artifacts of charts and sources on their volume: one folder for each object, its files by revision, a link
 * to the newest. spec/helm-chart.md 4. */
#pragma once

#include "common/base/map.h"
#include "common/loop/volume.h"
#include "hub-agent/source/store/artifact_digest.h"
#include "hub-agent/source/store/retention.h"
#include "proto/gen/types.h"

struct artifact_store {
        struct world *world;
        struct volume *volume;
        const char *address; /* what URLs begin with: "http://host:port", borrowed */
        enum artifact_digest digest;
        struct retention retention;
        bool serving;        /* this agent leads */
        struct map verified; /* path -> the digest a file had, and the stamp it had then */
};

/* Borrows all but the map; volume and address are set by the caller. */
void artifact_store_init(struct artifact_store *s, struct world *w);
void artifact_store_free(struct artifact_store *s); /* not the volume */

/* "<kind in lower case>/<namespace>/<name>", with "/<file>" unless it is NULL. NULL on no memory. */
const char *artifact_path(struct arena *arena, const struct object *o, const char *file);
const char *artifact_url(const struct artifact_store *s, struct arena *arena, const char *path);

/* ---- writing ---- */

struct artifact_writer {
        struct artifact_store *store;
        const char *path; /* in the arena */
        struct volume_writer *file;
        struct artifact_hash *hash;
        uint64_t size;
};
/* What fails here is that the folder cannot be made. */
int artifact_begin(struct artifact_store *s, const char *path, struct artifact_writer *ret,
                   struct error *err);
int artifact_append(struct artifact_writer *w, const void *data, size_t n, struct error *err);
/* Parks. Fills *ret but for the revision and metadata; texts are in the arena. The writer is empty in either
 * case. */
int artifact_finish(struct artifact_writer *w, struct arena *arena, struct source_artifact *ret,
                    struct error *err);
void artifact_abandon(struct artifact_writer *w); /* an empty one is fine */
#define AUTO_ARTIFACT CLEANUP(artifact_abandon)

/* The link `name` beside the file, to it. */
int artifact_link(struct artifact_store *s, struct arena *arena, const char *path, const char *name,
                  struct error *err);

/* ---- looking after them ---- */

enum artifact_state {
        ARTIFACT_GOOD,
        ARTIFACT_MISSING,
        ARTIFACT_ALTERED /* err tells how; the file is gone by now */
};
/* Parks while it reads, which it does once for each state of a file. ERR_SYSTEM, ERR_NO_MEMORY: it cannot be
 * told. */
int artifact_check(struct artifact_store *s, const struct source_artifact *a, enum artifact_state *ret,
                   struct error *err);
/* The digest that the file of that stamp is known to have; NULL = it is not known. */
const char *artifact_known_digest(const struct artifact_store *s, const char *path, uint64_t stamp);
/* Removes files of the object's folder that need not stay beside the current one (a path; NULL = none). Best
 * effort until the first that cannot be removed: that is the error. *ret_n: how many went. */
int artifact_collect(struct artifact_store *s, const struct object *o, const char *current,
                     struct arena *arena, size_t *ret_n, struct error *err);
/* The object's folder, with all in it; and the folder of its namespace when that is empty. */
int artifact_remove_all(struct artifact_store *s, const struct object *o, struct arena *arena,
                        struct error *err);

/* What a crash left, and folders of objects that are not there any more (`is_there` says): at start. */
struct artifact_owners {
        bool (*is_there)(void *ctx, const char *kind, const char *ns,
                         const char *name); /* kind in lower case */
        void *ctx;
};
/* Of one kind. Does not park; no file of it is being written. */
int artifact_sweep(struct artifact_store *s, const struct kind *kind, const struct artifact_owners *owners,
                   struct error *err);
