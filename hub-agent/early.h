/* Of which kinds the objects of one placement are listed alone, while somebody waits for them and all of them
 * are not there yet: common/ctrl/controller.h. */
#pragma once

#include "common/ctrl/controller.h"

extern const struct early_kind early_kinds[];
extern const size_t n_early_kinds;
