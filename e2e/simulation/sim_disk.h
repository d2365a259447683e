/* A disk for SQLite that can fill up and that forgets, when the power fails, what was not synced. One user at
 * a time, as with a member agent's state file or the store of the API servers. */
#pragma once

#include "common/loop/world.h"

struct sim_disk;
struct sqlite3;

/* Registers with SQLite under a name of its own. NULL on no memory. */
struct sim_disk *sim_disk_new(struct loop *l);
struct sim_disk *sim_disk_free(struct sim_disk *d); /* all its files are closed */
const char *sim_disk_uri(const struct sim_disk *d); /* "file:/state.db?vfs=..."; lives as long as the disk */
/* For who uses the disk: the world's small files lie on it, too, such as the key of a state file. They are on
 * the disk when they are written. */
void sim_disk_give_files(struct sim_disk *d, struct world *w);
/* While full no file grows: SQLITE_FULL. */
void sim_disk_set_full(struct sim_disk *d, bool full);
/* While read-only it is as a file system that was mounted anew so: what is there can be read. */
void sim_disk_set_read_only(struct sim_disk *d, bool read_only);
/* Noise in place of all of the database behind its first page. Its user does not know. */
void sim_disk_spoil(struct sim_disk *d);
/* While halted nothing reaches the disk any more: its user is dead and does not know it yet. */
void sim_disk_set_halted(struct sim_disk *d, bool halted);
/* `before` is told of each change ("write", "truncate", "sync", "delete") before it is made; when it halts
 * the disk, that one is not made either. NULL: nobody is told. */
void sim_disk_tell(struct sim_disk *d, void (*before)(void *ctx, const char *what), void *ctx);
/* A copy in memory of the database as it lies there, for reading; sqlite3_close() it. NULL if there is none,
 * or if the disk has failed its user since it opened the database: what is there is not what that goes by. */
struct sqlite3 *sim_disk_read(const struct sim_disk *d);
/* Every file is again as it was when it was synced the last time; one that was deleted is there again, unless
 * its directory was synced since. No file is open. */
void sim_disk_lose_unsynced(struct sim_disk *d);
