#include "e2e/simulation/rules.h"

/* An AppliedWork says of which placement and snapshot its Work is: at rest as the Work's own labels do; and
 * since when, which stays as long as that does. docs/member-agent.md. */

static const char *annotation(const json_t *doc, const char *name)
{
        const char *const keys[] = { "metadata", "annotations", name };
        const char *value = json_string_value(doc_get_keys(doc, keys, 3));

        return value ? value : "";
}

static bool is_of_same(const json_t *a, const json_t *b)
{
        return text_equal(annotation(a, ANNOTATION_FROM_PLACEMENT),
                          annotation(b, ANNOTATION_FROM_PLACEMENT)) &&
               text_equal(annotation(a, ANNOTATION_FROM_SNAPSHOT), annotation(b, ANNOTATION_FROM_SNAPSHOT));
}

static void origin_changed(struct watch *w, void *state, const struct change *c)
{
        const char *before, *after;

        if (!text_equal(c->resource, RES_APPLIED_WORKS) || !c->before || !c->after ||
            !is_of_same(c->before, c->after))
                return;
        watch_judged(w, &rule_origin);
        before = annotation(c->before, ANNOTATION_SINCE);
        after = annotation(c->after, ANNOTATION_SINCE);
        if (!text_equal(before, after))
                watch_broken(w, &rule_origin,
                             "%s: AppliedWork %s is of the same snapshot since %s, and was since %s",
                             c->cluster, c->name, after, before);
}

struct origins {
        struct watch *w;
        const char *cluster;
};

static void check_origin(const struct origins *o, const json_t *applied_work, const json_t *work)
{
        const char *index = rule_label(work, LABEL_PARENT_RESOURCE_SNAPSHOT_INDEX),
                   *from = annotation(applied_work, ANNOTATION_FROM_PLACEMENT),
                   *snapshot = annotation(applied_work, ANNOTATION_FROM_SNAPSHOT);
        char placement[192];

        if (!index || !rule_placement_of(work, placement))
                return;
        watch_judged(o->w, &rule_origin);
        if (!text_equal(from, placement) || !text_equal(snapshot, index) ||
            !*annotation(applied_work, ANNOTATION_SINCE))
                watch_broken(o->w, &rule_origin,
                             "%s: AppliedWork %s says that it is of \"%s\", snapshot \"%s\", since \"%s\"; "
                             "its Work is of "
                             "\"%s\", snapshot \"%s\"",
                             o->cluster, doc_get_string(applied_work, "metadata.name"), from, snapshot,
                             annotation(applied_work, ANNOTATION_SINCE), placement, index);
}

static bool find_work(void *ctx, const json_t *applied_work)
{
        const struct origins *o = ctx;
        const char *ns = doc_get_string(applied_work, "spec.workNamespace"),
                   *name = doc_get_string(applied_work, "spec.workName");
        const json_t *work = watch_get(o->w, "hub", RES_WORKS, ns ? ns : "", name ? name : "");

        if (work && !rule_is_leaving(applied_work) && !rule_is_leaving(work))
                check_origin(o, applied_work, work);
        return true;
}

static void origin_at_rest(struct watch *w, void *state)
{
        const struct wish *wish = watch_wish(w);
        char cluster[32];
        struct origins o = { w, cluster };

        for (unsigned i = 1; i <= wish->n_members; i++) {
                snprintf(cluster, sizeof(cluster), "member-%u", i);
                if (wish->members[i].membership == MEMBER_IN)
                        watch_each(w, cluster, RES_APPLIED_WORKS, NULL, find_work, &o);
        }
}

const struct rule rule_origin = { .name = "origin", .changed = origin_changed, .at_rest = origin_at_rest };
