#include "member-agent/apply/leftover.h"

#include "member-agent/apply/clean.h"

/* Ours by its reference alone, such as what was only compared: it was there before us and is left as it is.
 */
static bool was_never_applied(const json_t *live, bool applied)
{
        return !applied && text_empty(clean_annotation(live, ANNOTATION_SPEC_HASH));
}

enum leftover leftover_decide(const json_t *live, const struct owner *o, bool applied, enum apply_type type)
{
        if (!live || doc_get(live, "metadata.deletionTimestamp") || !owner_find(live, o))
                return LEFTOVER_GONE;
        if (was_never_applied(live, applied))
                return LEFTOVER_RELEASED;
        if (type == STRATEGY_REPORT_DIFF)
                return LEFTOVER_STAYS;
        return owner_is_sole(live, o) ? LEFTOVER_REMOVED : LEFTOVER_RELEASED;
}
