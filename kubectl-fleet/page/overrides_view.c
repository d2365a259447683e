/* The view of what overrides do to a placement: which rule touched which cluster, and, on the cluster that is
 * asked about, what each rule made of each object: the agent's own steps on the manifests of its revision. */
#include "kubectl-fleet/page/overrides.h"
#include "kubectl-fleet/page/placement_head.h"

static int args_of(const struct page_look *l, struct overrides *o, struct error *err)
{
        const char *part = page_arg_or(l, "part", "");
        struct page_placement p;

        TRY(page_placement_arg(l, &p, err));
        if (*part && !text_equal(part, "clusters") && !text_equal(part, "objects"))
                return error_set(err, ERR_INVALID, "part: must be clusters or objects");
        *o = (struct overrides){ .look = l,
                                 .scope = scope_of(p.ns),
                                 .ns = p.ns,
                                 .name = p.name,
                                 .no_objects = text_equal(part, "clusters"),
                                 .only_objects = text_equal(part, "objects") };
        return 0;
}

static bool names_overrides(const struct binding *b)
{
        return b->spec->cluster_resource_override_snapshots.n || b->spec->resource_override_snapshots.n;
}

/* Which of two bindings is shown first: one that stays, of those one that overrides touch. */
static int worth(const struct binding *b)
{
        return (is_deleting(&b->object) ? 0 : 2) + names_overrides(b);
}

/* The cluster that was asked about; else the first that an override touches, else the first. */
static void choose(struct overrides *o)
{
        const char *asked = page_arg_or(o->look, "cluster", "");
        const struct page_need *bindings = page_need_of(o->look, o->scope->binding, 0);

        for (size_t i = 0; bindings && i < bindings->fetch.result.n; i++) {
                const struct binding *b = (const struct binding *)bindings->fetch.result.at[i];

                if (*override_target(b) && (!*asked || text_equal(override_target(b), asked)) &&
                    (!o->binding || worth(b) > worth(o->binding)))
                        o->binding = b;
        }
}

static int64_t revision_of(const struct overrides *o)
{
        return o->binding ? index_in_name(or_empty(o->binding->spec->resource_snapshot_name), o->name,
                                          SUFFIX_RESOURCE_SNAPSHOT)
                          : NO_INDEX;
}

static int need(const struct page_look *l, struct page_needs *ret, struct error *err)
{
        struct overrides o;
        const char *of, *revision;

        TRY(args_of(l, &o, err));
        choose(&o);
        of = selector_of(l->arena, LABEL_PARENT_PLACEMENT, o.name);
        revision = of ? arena_printf(l->arena, "%s," LABEL_RESOURCE_INDEX "=%lld", of,
                                     (long long)revision_of(&o))
                      : NULL;
        if (!revision)
                return error_no_memory(err);
        const struct fetch all[] = {
                { .kind = o.scope->placement, .ns = o.ns, .name = o.name },
                { .kind = o.scope->binding, .ns = o.ns, .selector = of, .may_lack = true },
                { .kind = &member_cluster_kind },
                { .kind = &cluster_resource_override_snapshot_kind, .may_lack = true },
                { .kind = &resource_override_snapshot_kind, .ns = o.ns, .may_lack = true },
                { .kind = o.scope->resource_snapshot, .ns = o.ns, .selector = revision, .whole = true },
        };

        return page_needs_add_all(ret, all, ARRAY_LEN(all) - (o.no_objects || revision_of(&o) == NO_INDEX),
                                  err);
}

static json_t *head_of(const struct overrides *o)
{
        const char *asked = page_arg_or(o->look, "cluster", "");
        const struct page_need *bindings = page_need_of(o->look, o->scope->binding, 0);
        struct page_writer w;
        size_t touched = 0;

        for (size_t i = 0; i < o->n_places; i++)
                touched += o->places[i].named.n > 0;
        page_begin(&w, o->look->arena);
        page_set(&w, "placement", page_placement_name(&o->placement->object));
        page_set_string(&w, "kind", o->scope->placement->kind);
        page_set_number(&w, "clusters", (int64_t)o->n_places);
        page_set_number(&w, "touched", (int64_t)touched);
        page_set_flag(&w, "clustersUnknown", !bindings || !bindings->filled);
        page_set_string(&w, "asked", o->asked ? o->asked->name : asked);
        page_set_flag(&w, "askedNot", *asked && !o->asked);
        page_set_flag(&w, "askedGone", o->asked && !o->asked->cluster);
        if (revision_of(o) != NO_INDEX)
                page_set_number(&w, "revision", revision_of(o));
        return page_end(&w);
}

static int draw(struct overrides *o, struct page_doc *d)
{
        TRY(overrides_gather(o));
        if (!o->only_objects)
                TRY(overrides_draw(o, d));
        if (!o->no_objects)
                TRY(overrides_draw_objects(o, d));
        return page_head(d, head_of(o));
}

static int look(const struct page_look *l, struct page_doc *d, struct error *err)
{
        const struct page_need *placement;
        struct overrides o;
        int code;

        TRY(args_of(l, &o, err));
        choose(&o);
        placement = page_need_of(l, o.scope->placement, 0);
        if (!placement || placement->fetch.result.n == 0)
                return error_set(err, ERR_NOT_FOUND, "%s \"%s\" not found%s%s", o.scope->placement->kind,
                                 o.name, o.ns ? " in namespace " : "", or_empty(o.ns));
        o.placement = (const struct placement *)placement->fetch.result.at[0];
        code = draw(&o, d);
        if (code == ERR_NO_MEMORY)
                return error_no_memory(err);
        return code < 0 ? error_set(err, code, "the overrides of %s \"%s\" are too much for one view",
                                    o.scope->placement->kind, o.name)
                        : 0;
}

const struct page_view overrides_page_view = { .name = "overrides", .need = need, .look = look };
