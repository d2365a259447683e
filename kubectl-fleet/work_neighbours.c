#include "kubectl-fleet/work_neighbours.h"

#include "hub-agent/common.h"
#include "kubectl-fleet/fetch.h"
#include "member-agent/apply/decode.h"

static int add(struct session *s, const struct work *w, struct neighbours *l, struct error *err)
{
        struct neighbour *n = &l->at[l->n];
        const struct apply_strategy *strategy = w->spec ? w->spec->apply_strategy : NULL;

        *n = (struct neighbour){ .work = { .name = w->object.meta.name,
                                           .deleting = is_deleting(&w->object),
                                           .known = true,
                                           .reports = strategy &&
                                                      text_equal(strategy->type, APPLY_REPORT_DIFF) },
                                 .only_ns = work_only_namespace(w) };
        if (work_set_of(&w->object, s->arena, &n->work.set) < 0)
                return error_no_memory(err);
        TRY(wants_of_work(w, s->arena, &n->wants, &n->n_wants, err));
        l->n++;
        return 0;
}

int neighbours_read(struct session *s, const struct object *work, struct neighbours *ret, struct error *err)
{
        struct fetch f = { .kind = &work_kind, .ns = work->meta.ns, .whole = true };

        TRY(fetch_all(s, &f, 1, err));
        *ret = (struct neighbours){ ARENA_NEW_ARRAY(s->arena, struct neighbour, f.result.n + 1), 0 };
        if (!ret->at)
                return error_no_memory(err);
        for (size_t i = 0; i < f.result.n; i++)
                if (!text_equal(f.result.at[i]->meta.name, work->meta.name))
                        TRY(add(s, (const struct work *)(const void *)f.result.at[i], ret, err));
        return 0;
}

const struct neighbour *neighbours_find(const struct neighbours *l, const char *name)
{
        for (size_t i = 0; i < l->n; i++)
                if (text_equal(l->at[i].work.name, name))
                        return &l->at[i];
        return NULL;
}

bool neighbour_may_reach(const struct neighbour *n, const char *ns)
{
        return !n->only_ns || text_equal(n->only_ns, ns);
}

struct handover_work neighbour_regarding(const struct neighbour *n, const char *group, const char *kind,
                                         const char *ns, const char *name)
{
        struct handover_work w = n->work;

        for (size_t i = 0; i < n->n_wants && !w.wants; i++)
                w.wants = text_equal(n->wants[i].group, group) && text_equal(n->wants[i].kind, kind) &&
                          text_equal(n->wants[i].ns, ns) && text_equal(n->wants[i].name, name);
        return w;
}
