/* Files that a program keeps for others, below one folder: artifacts. Paths are relative to that folder,
 * their parts joined by '/'; one with an empty part, "." or ".." is ERR_INVALID, and no link is followed, so
 * nothing outside can be reached. A file is there whole or not at all: it is written under a temporary name
 * and renamed.
 *
 * Two kinds: a folder of the file system, and memory for tests and the simulation, with faults. */
#pragma once

#include "common/base/text.h"
#include "common/loop/world.h"

struct volume;
struct volume_reader;
struct volume_writer;

enum volume_kind { VOLUME_FILE, VOLUME_FOLDER, VOLUME_LINK, VOLUME_OTHER };

struct volume_info {
        enum volume_kind kind;
        uint64_t size;
        int64_t changed_ms; /* wall time of the last change of its contents */
        uint64_t stamp;     /* another one whenever the file may be another, or hold something else */
};

#define VOLUME_TEMPORARY ".tmp-" /* what names of files begin with that are not whole */

/* The folder must be there: ERR_NOT_FOUND, ERR_UNSUPPORTED (it is none), ERR_SYSTEM. */
int volume_open(struct world *w, const char *folder, struct volume **ret, struct error *err);
struct volume *volume_close(struct volume *v); /* no reader or writer is left; NULL is fine; returns NULL */

/* What is there, of a link itself. ERR_NOT_FOUND. */
int volume_look(struct volume *v, const char *path, struct volume_info *ret, struct error *err);
/* Names in a folder ("" = the topmost), sorted: one behind the other, each ended by a NUL, an empty one
 * behind the last; mem_free the block. ERR_UNSUPPORTED: it is no folder. */
int volume_list(struct volume *v, const char *path, char **ret_names, struct error *err);
/* Calls fn for each name of a folder; the first error of it, or of reading the folder, is returned. */
int volume_each(struct volume *v, const char *path, int (*fn)(void *ctx, const char *name, struct error *err),
                void *ctx, struct error *err);

/* A regular file as it is now: what is removed or replaced meanwhile is read to its end. */
int volume_open_file(struct volume *v, const char *path, struct volume_reader **ret, struct error *err);
uint64_t volume_reader_size(const struct volume_reader *r);
/* Up to n bytes at the offset; fewer only at the end. May run offloaded. */
int volume_read(struct volume_reader *r, uint64_t offset, void *ret, size_t n, size_t *ret_n,
                struct error *err);
struct volume_reader *volume_reader_close(struct volume_reader *r); /* NULL is fine; returns NULL */
static inline void volume_reader_cleanup(struct volume_reader **r)
{
        *r = volume_reader_close(*r);
}

/* A file to be: folders on the way are made. */
int volume_create(struct volume *v, const char *path, struct volume_writer **ret, struct error *err);
int volume_append(struct volume_writer *w, const void *data, size_t n, struct error *err);
/* All that was appended, as long as nothing more is and the writer lives. May be read offloaded. */
int volume_written(struct volume_writer *w, struct slice *ret, struct error *err);
/* A part of it, as volume_read() does: what is large need not be in memory for it. */
int volume_read_written(struct volume_writer *w, uint64_t offset, void *ret, size_t n, size_t *ret_n,
                        struct error *err);
/* Parks until the file and its name are on the disk, in place of what was there. The writer is gone in either
 * case, and after a failure what it wrote, too. */
int volume_commit(struct volume_writer *w, struct error *err);
struct volume_writer *volume_abandon(struct volume_writer *w); /* NULL is fine; returns NULL */
static inline void volume_writer_cleanup(struct volume_writer **w)
{
        *w = volume_abandon(*w);
}

/* A symbolic link to `target` (a name in the same folder) in place of what was there. */
int volume_link(struct volume *v, const char *path, const char *target, struct error *err);
/* Where a link leads, as it stands in it; mem_free. ERR_INVALID: it is none. */
int volume_read_link(struct volume *v, const char *path, char **ret, struct error *err);
/* A file, a link, or an empty folder. ERR_NOT_FOUND. */
int volume_remove(struct volume *v, const char *path, struct error *err);
/* And all below. Fine if it is not there. */
int volume_remove_all(struct volume *v, const char *path, struct error *err);

/* ---- in memory ---- */

enum volume_change {
        VOLUME_CREATE,
        VOLUME_APPEND,
        VOLUME_SYNC,
        VOLUME_RENAME,
        VOLUME_MAKE_LINK,
        VOLUME_REMOVE
};

struct volume *volume_new_in_memory(struct loop *l); /* NULL on no memory */
/* Asked before each change: an error number (ENOSPC ...) refuses it, 0 lets it be. NULL: none is refused. */
void volume_set_fault(struct volume *v, int (*fault)(void *ctx, enum volume_change what, const char *path),
                      void *ctx);
