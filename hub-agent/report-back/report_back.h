/* The status of placed objects comes back to the hub's own: spec/placement.md 15. Pure. */
#pragma once

#include "common/base/digest.h"
#include "hub-agent/common.h"

#define EVENT_STATUS_NOT_REPORTED "StatusNotReportedBack" /* about the placement */

/* What the Works of a placement say of it: strategy.reportBackStrategy where it asks for something, NULL
 * where it does not (no placement, none said, Disabled). */
const struct report_back_strategy *works_report_back(const struct placement *p);
bool equal_report_back(const struct report_back_strategy *a, const struct report_back_strategy *b);

enum report_back {
        REPORT_BACK_OFF,        /* not asked for, or it stays in the Works (WorkAPI) */
        REPORT_BACK_IMPOSSIBLE, /* which of several clusters' statuses? */
        REPORT_BACK_ON,
};
enum report_back report_back_of(const struct placement *p);
/* Whether the Work speaks for the placement: its binding is bound to the member in whose namespace it is, and
 * the Work is applied as it is now. Labels of a Work are the member's to write. */
bool report_back_work_counts(const struct work *w, const struct binding *b, const struct placement *p);
/* Whether the manifest is an object that the placement selects as it is, not out of an envelope, and whose
 * status is not the API server's own. A placement of a namespace gets nothing beyond it, whatever its status
 * says it selects. */
bool report_back_selects(const struct placement *p, const struct work_resource_identifier *id);
/* Whether two states of a placement say the same of where statuses come from and where they go: what the
 * others write of it all the time concerns no Work. */
bool report_back_alike(const struct placement *a, const struct placement *b);
/* What of it the hub's object has, in the state named by its resourceVersion. */
void report_back_digest(const struct work_resource_identifier *id, struct slice observed, const char *version,
                        uint8_t ret[SHA256_SIZE]);
/* What makes the object's status the one reported ({apiVersion, kind, status}): a merge patch of the object
 * as it was read, new; NULL if it is so already. ERR_INVALID. */
int report_back_patch(const json_t *object, struct slice observed, json_t **ret, struct error *err);
