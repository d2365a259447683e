/* Which resources the objects of a phase are, and whether they may be where they are said to be. */
#include "member-agent/object-set/set_phase.h"

#define ESTABLISH_TRIES 10
#define ESTABLISH_WAIT_MS 100

bool set_is_definition(const struct set_object *o)
{
        return text_equal(o->group, "apiextensions.k8s.io") &&
               text_equal(o->kind, "CustomResourceDefinition");
}

static bool brings_namespace(const struct phase *f, const char *ns)
{
        for (size_t i = 0; i < f->n; i++) {
                const struct set_object *o = f->items[i].object;

                if (text_equal(o->group, "") && text_equal(o->kind, "Namespace") && text_equal(o->name, ns))
                        return true;
        }
        return false;
}

static int check_place(struct phase *f, struct set_item *item, struct error *err)
{
        bool named = !text_empty(item->object->ns);

        if (named == item->resource.namespaced)
                return 0;
        return phase_refuse(f, item,
                            named ? "metadata.namespace: Forbidden: the kind is cluster-scoped"
                                  : "metadata.namespace: Required value: the kind is namespaced",
                            err);
}

const char *set_unknown_kind(struct set_pass *p, const struct set_object *o)
{
        return arena_printf(p->arena, "no matches for kind \"%s\" in version \"%s%s%s\"", o->kind, o->group,
                            text_empty(o->group) ? "" : "/", o->version);
}

int phase_find_kind(struct phase *f, struct set_item *item, struct error *err)
{
        const struct set_object *o = item->object;
        struct kube_mapped mapped;
        struct error why = { 0 };
        int r = kube_mapper_kind(f->p->agent->mapper, o->group, o->version, o->kind, &mapped, &why);

        if (r == ERR_NOT_FOUND && f->inherited) {
                f->inherited = false;
                (void)kube_mapper_refresh(f->p->agent->mapper, NULL, NULL);
                return phase_find_kind(f, item, err);
        }
        if (r == ERR_NOT_FOUND && f->defines && !set_is_definition(o)) {
                item->deferred = true;
                return 0;
        }
        if (r == ERR_NOT_FOUND) {
                TRY(set_await(f->p, AWAITED_KIND, err));
                return phase_refuse(f, item, set_unknown_kind(f->p, o), err);
        }
        if (r < 0)
                return phase_trouble(f, item, &why, err);
        item->resource = mapped.resource;
        item->deferred = item->resource.namespaced && brings_namespace(f, o->ns);
        return check_place(f, item, err);
}

const char *phase_ns_of(const struct set_item *item)
{
        return item->resource.namespaced ? item->object->ns : NULL;
}

static int find_deferred(struct phase *f, bool *ret_waiting, struct error *err)
{
        *ret_waiting = false;
        for (size_t i = 0; i < f->n; i++) {
                struct set_item *item = &f->items[i];

                if (!item->deferred || item->resource.plural || item->out->error)
                        continue;
                TRY(phase_find_kind(f, item, err));
                *ret_waiting |= !item->resource.plural && !item->out->error;
        }
        return 0;
}

int phase_find_new_kinds(struct phase *f, struct error *err)
{
        bool waiting = false;

        TRY(find_deferred(f, &waiting, err));
        for (int try = 0; waiting && try < ESTABLISH_TRIES; try++) {
                if (fiber_sleep(f->p->agent->loop, try ? ESTABLISH_WAIT_MS : 0) < 0)
                        return error_set(err, ERR_CANCELLED, "cancelled");
                (void)kube_mapper_refresh(f->p->agent->mapper, NULL, NULL);
                TRY(find_deferred(f, &waiting, err));
        }
        return 0;
}
