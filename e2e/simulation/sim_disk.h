/* A disk for SQLite that can fill up and that forgets, when the power fails, what was not synced. One user at
 * a time, as with a member agent's state file or the store of the API servers. */
#pragma once

#include "common/loop/loop.h"

struct sim_disk;
struct sqlite3;

/* Registers with SQLite under a name of its own. NULL on no memory. */
struct sim_disk *sim_disk_new(struct loop *l);
struct sim_disk *sim_disk_free(struct sim_disk *d); /* all its files are closed */
const char *sim_disk_uri(const struct sim_disk *d); /* "file:/state.db?vfs=..."; lives as long as the disk */
/* While full no file grows: SQLITE_FULL. */
void sim_disk_set_full(struct sim_disk *d, bool full);
/* While halted nothing reaches the disk any more: its user is dead and does not know it yet. */
void sim_disk_set_halted(struct sim_disk *d, bool halted);
/* `before` is told of each change ("write", "truncate", "sync", "delete") before it is made; when it halts
 * the disk, that one is not made either. NULL: nobody is told. */
void sim_disk_tell(struct sim_disk *d, void (*before)(void *ctx, const char *what), void *ctx);
/* A copy in memory of the database as it lies there, for reading; sqlite3_close() it. NULL if there is none,
 * or if the disk has failed its user since it opened the database: what is there is not what that goes by. */
struct sqlite3 *sim_disk_read(const struct sim_disk *d);
/* Every file is again as it was when it was synced the last time. No file is open. */
void sim_disk_lose_unsynced(struct sim_disk *d);
