#include "hub-agent/common.h"
#include "kubectl-fleet/placement_view.h"
#include "kubectl-fleet/work_plan.h"

void work_plan_draw(const struct work_plan *p, struct screen *s)
{
        size_t start = s->out->len;

        screen_text(s, TONE_STRONG, "Work %s/%s", or_empty(p->work->object.meta.ns),
                    p->work->object.meta.name);
        screen_text(s, TONE_PLAIN, "  %s", p->type);
        if (is_deleting(&p->work->object))
                screen_text(s, TONE_BAD, "  being deleted");
        screen_end_line(s, start);
        changes_draw(&p->changes, p->member, s);
}

json_t *work_plan_doc(const struct work_plan *p)
{
        json_t *doc = json_pack("{s:s, s:s, s:s, s:s, s:s}", "kind", work_kind.kind, "namespace",
                                or_empty(p->work->object.meta.ns), "name", p->work->object.meta.name,
                                "member", p->member, "type", p->type);

        changes_to_doc(&p->changes, doc);
        return doc;
}
