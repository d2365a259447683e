#include "kubectl-fleet/set_plan.h"

#include "hub-agent/resource-set/look.h"
#include "hub-agent/resource-set/sources.h"
#include "kubectl-fleet/side_by_side.h"

struct trial {
        struct set_item item;
        json_t *after; /* NULL = the hub did not say */
        const char *problem;
        bool unknown, lost; /* no such kind; what it is to be in is not there */
};
struct planning {
        struct session *s;
        struct set_look look;
        struct trial *trials;
        const struct build *built;
        inventory stale;
        struct set_plan *plan;
        struct planned_change *left; /* by the place in `stale`; without a kind: it is gone already */
};

static int find_set(void *ctx, const char *ns, const char *name, const struct resource_set **ret,
                    struct error *err)
{
        struct session *s = ctx;
        struct object *o = NULL;
        int code = kube_get(&s->hub, &resource_set_kind, ns, name, s->arena, &o, err);

        *ret = (const struct resource_set *)o;
        if (code != ERR_NOT_FOUND)
                return code;
        error_clear(err);
        *ret = NULL;
        return 0;
}

/* ---- the objects ---- */

/* A problem is of the object: the others go on. */
static int note_problem(struct planning *p, struct trial *t, const struct error *why, struct error *err)
{
        const struct built_object *o = t->item.object;

        if (why->code == ERR_NO_MEMORY || why->code == ERR_CANCELLED || why->code == ERR_UNAUTHORIZED) {
                *err = *why;
                return why->code;
        }
        t->unknown = why->code == ERR_NOT_FOUND && !t->item.resource.plural;
        t->lost = why->code == ERR_NOT_FOUND && t->item.resource.plural && t->item.ns;
        t->problem = *o->provider
                             ? arena_printf(p->s->arena, "%s (%s, id %s)", why->text, o->provider, o->set_id)
                             : arena_strdup(p->s->arena, why->text);
        return t->problem ? 0 : error_no_memory(err);
}

static int try_object(void *ctx, size_t i, struct error *err)
{
        struct planning *p = ctx;
        struct trial *t = &p->trials[i];
        struct error why = { 0 };

        TRY(session_time_left(p->s, err));
        if (look_object(&p->look, &t->item, &t->after, &why) < 0)
                return note_problem(p, t, &why, err);
        return t->after ? doc_keep(p->s->arena, t->after, err) : 0;
}

static bool is_made(const struct trial *t, const char *kind, struct slice group)
{
        struct object_place place = place_of_doc(t->item.object->doc);

        return !t->problem && text_equal(place.kind, kind) && slice_equal(place.group, group);
}

/* The hub cannot try what needs something that the set makes before it. */
static const char *waits_for(const struct planning *p, const struct trial *t)
{
        const json_t *doc = t->item.object->doc;
        const char *version = strchr(or_empty(doc_get_string(doc, "apiVersion")), '/');
        struct object_place place = place_of_doc(doc);

        for (size_t i = 0; i < p->built->n; i++) {
                const struct trial *other = &p->trials[i];

                if (t->lost && is_made(other, "Namespace", (struct slice){ 0 }) && !other->item.live &&
                    text_equal(other->item.name, place.ns))
                        return "after its namespace";
                if (t->unknown && version &&
                    is_made(other, "CustomResourceDefinition", slice_of("apiextensions.k8s.io")) &&
                    definition_gives(other->item.object->doc, place.group, version + 1, place.kind,
                                     *place.ns != '\0'))
                        return "after its definition";
        }
        return NULL;
}

static int judge(struct planning *p, const struct trial *t, struct planned_change *c, struct error *err)
{
        const struct set_item *item = &t->item;

        c->note = t->problem ? waits_for(p, t) : NULL;
        c->object.change = t->problem && !c->note ? PLANNED_REFUSED : PLANNED_ADDED;
        if (t->problem && !c->note)
                c->message = t->problem;
        if (t->problem || !item->live)
                return 0;
        c->object.change = item->write ? PLANNED_CHANGED : PLANNED_UNCHANGED;
        if (item->recreate)
                c->note = "deleted and made anew";
        else if (item->cleaning)
                c->note = "what other tools set there passes to the ResourceSet, or goes";
        if (!item->write || !t->after)
                return 0;
        TRY(change_compare(p->s->arena, item->live, t->after, &c->object, err));
        c->object.change = PLANNED_CHANGED;
        return 0;
}

static int name_object(struct arena *arena, const struct object_place *place, const char *version,
                       struct planned_object *o, struct error *err)
{
        if (place->group.len && !(o->group = arena_strndup(arena, place->group.data, place->group.len)))
                return error_no_memory(err);
        o->version = version;
        o->kind = place->kind;
        o->ns = *place->ns ? place->ns : NULL;
        o->name = place->name;
        return 0;
}

static int add_objects(struct planning *p, struct error *err)
{
        for (size_t i = 0; i < p->built->n; i++) {
                const json_t *doc = p->built->at[i].doc;
                const char *api_version = or_empty(doc_get_string(doc, "apiVersion")),
                           *slash = strchr(api_version, '/');
                struct object_place place = place_of_doc(doc);
                struct planned_change *c = &p->plan->changes.at[p->plan->changes.n++];

                *c = (struct planned_change){ .wave = NO_WAVE };
                TRY(name_object(p->s->arena, &place, slash ? slash + 1 : api_version, &c->object, err));
                TRY(judge(p, &p->trials[i], c, err));
        }
        return 0;
}

/* ---- what left the set ---- */

static int look_at_stale(void *ctx, size_t i, struct error *err)
{
        struct planning *p = ctx;
        struct planned_change *c = &p->left[i];
        struct stale_object o = { 0 };
        struct error why = { 0 };
        json_t *live = NULL;
        bool served;
        int code = look_find_stale(p->s->arena, p->look.mapper, &p->stale.at[i], &o, &served, &why);

        *c = (struct planned_change){ .wave = NO_WAVE };
        if (code == 0 && served)
                code = look_read(p->s->arena, p->look.kube, &o.resource, o.ns, o.place.name, &live, &why);
        if (code == ERR_NO_MEMORY || code == ERR_CANCELLED)
                return error_set(err, code, "%s", why.text);
        if (code == 0 && !live)
                return 0;
        TRY(name_object(p->s->arena, &o.place, p->stale.at[i].v, &c->object, err));
        c->object.change = PLANNED_REMOVED;
        if (code < 0) {
                c->object.change = PLANNED_REFUSED;
                c->message = arena_strdup(p->s->arena, why.text);
                return c->message ? 0 : error_no_memory(err);
        }
        if (collect_decide(p->look.set, live) == COLLECT_DELETE)
                return 0;
        c->object.change = PLANNED_UNCHANGED;
        c->note = is_made_by(p->look.set, live) ? "left the set, and stays: its pruning is disabled"
                                                : "left the set, and stays: its labels are not of the set";
        return 0;
}

static int find_stale(struct planning *p, const struct resource_set *former, struct error *err)
{
        const inventory before = former ? inventory_of(former) : (inventory){ 0 };
        struct resource_set_inventory_entry *now =
                ARENA_NEW_ARRAY(p->s->arena, struct resource_set_inventory_entry, p->built->n + 1);

        if (!now)
                return error_no_memory(err);
        for (size_t i = 0; i < p->built->n; i++) {
                struct object_place place = place_of_doc(p->built->at[i].doc);

                now[i].id = p->trials[i].item.id ? p->trials[i].item.id
                                                 : inventory_id(p->s->arena, &place, *place.ns != '\0');
                now[i].v = "";
                if (!now[i].id)
                        return error_no_memory(err);
        }
        return inventory_stale(p->s->arena, &before, &(inventory){ now, (uint32_t)p->built->n, true },
                               &p->stale, err);
}

static int add_stale(struct planning *p, struct error *err)
{
        struct planned_changes *all = &p->plan->changes;
        bool held = changes_count(all, PLANNED_REFUSED) > 0;

        p->left = ARENA_NEW_ARRAY(p->s->arena, struct planned_change, p->stale.n + 1);
        if (!p->left)
                return error_no_memory(err);
        TRY(side_by_side(p->s, p->stale.n, look_at_stale, p, err));
        for (uint32_t i = 0; i < p->stale.n; i++) {
                if (!p->left[i].object.kind)
                        continue;
                if (held && text_equal(p->left[i].object.change, PLANNED_REMOVED))
                        p->left[i].note = "not before all others are applied";
                all->at[all->n++] = p->left[i];
        }
        return 0;
}

/* ---- the whole ---- */

/* With the rights of whoever asks. */
static int fill_from_hub(struct session *s, const struct build *built, struct error *err)
{
        struct sources all = { .kube = &s->hub, .arena = s->arena, .build = built };
        int code;

        buf_init(&all.names, SOURCES_NAMES_MAX);
        code = sources_fill(&all, err);
        buf_free(&all.names);
        return code;
}

static void free_mapper(void *mapper)
{
        kube_mapper_free(mapper);
}

int set_plan_of(struct session *s, const struct resource_set *set, const struct resource_set *former,
                const struct build *built, struct set_plan *ret, struct error *err)
{
        struct planning p = { .s = s, .built = built, .plan = ret };
        size_t room = built->n + (former ? inventory_of(former).n : 0) + 1;

        *ret = (struct set_plan){ .set = set };
        p.look = (struct set_look){ .arena = s->arena,
                                    .kube = &s->hub,
                                    .mapper = kube_mapper_new(&s->hub),
                                    .set = set,
                                    .find_set = find_set,
                                    .ctx = s };
        p.trials = ARENA_NEW_ARRAY(s->arena, struct trial, built->n + 1);
        ret->changes.at = ARENA_NEW_ARRAY(s->arena, struct planned_change, room);
        if (!p.look.mapper || arena_defer(s->arena, free_mapper, p.look.mapper) < 0 || !p.trials ||
            !ret->changes.at)
                return error_no_memory(err);
        TRY(fill_from_hub(s, built, err));
        for (size_t i = 0; i < built->n; i++)
                p.trials[i].item.object = &built->at[i];
        TRY(side_by_side(s, built->n, try_object, &p, err));
        TRY(add_objects(&p, err));
        TRY(find_stale(&p, former, err));
        return add_stale(&p, err);
}
