/* Small files in memory, and no environment: the tables of worlds of a simulation, whose ctx is struct
 * sim_files. */
#pragma once

#include "common/base/map.h"
#include "common/loop/world.h"

struct sim_files {
        struct map at; /* path -> struct file */
        uint64_t stamp;
};
void sim_files_init(struct sim_files *files);
void sim_files_free(struct sim_files *files);
extern const struct world_files sim_files_table;
extern const struct world_process sim_no_process; /* needs no ctx */
