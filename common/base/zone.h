/* Time zones out of the files of the time zone database (RFC 8536). Pure: who has files reads them. */
#pragma once

#include "common/base/arena.h"
#include "common/base/text.h"

#define ZONE_FOLDER "/usr/share/zoneinfo/"

struct zone;
extern const struct zone zone_utc;

/* Of a file's bytes, into the arena. ERR_INVALID: it is no such file. */
int zone_parse(struct arena *arena, struct slice file, const struct zone **ret, struct error *err);
/* Seconds to add to UTC at that moment (seconds since 1970). Until *ret_until nothing changes; INT64_MAX:
 * ever.
 */
int64_t zone_offset(const struct zone *z, int64_t at_s, int64_t *ret_until);
/* Whether the text may name one ("Europe/Berlin"): one that cannot leave the folder of the database. */
bool zone_name_is_valid(const char *name);
