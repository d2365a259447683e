/* What becomes of an object that its Work no longer lists, and that no other Work gets:
 * spec/member-agent.md 2.4. Pure. */
#pragma once

#include "member-agent/apply/owner.h"

enum leftover {
        LEFTOVER_GONE,     /* it is not there, goes already, or is not ours */
        LEFTOVER_STAYS,    /* the Work only reports differences now: it waits until it is applied again */
        LEFTOVER_RELEASED, /* our reference goes, the object stays: it has other owners, or was never applied
                            */
        LEFTOVER_REMOVED
};
/* `live` NULL = not there. `applied`: the inventory knows that it was; else what the object itself has tells.
 */
enum leftover leftover_decide(const json_t *live, const struct owner *o, bool applied, enum apply_type type);
