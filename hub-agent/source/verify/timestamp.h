/* When a signature was there, as an authority for times says (RFC 3161). Pure. */
#pragma once

#include "hub-agent/source/verify/trusted_root.h"

/* Of a TimeStampResp over those bytes, by one of the root's clocks. ERR_INVALID. */
int timestamp_check(struct slice response, struct slice of, const struct trusted_root *root,
                    int64_t *ret_wall_ms, struct error *err);
