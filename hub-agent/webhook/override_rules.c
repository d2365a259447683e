/* Overrides of both kinds: how many there may be, and that no two change one object:
 * spec/membership-webhooks-charts.md 5.3, 5.4. */
#include "hub-agent/webhook/rules.h"

enum { OVERRIDES_MAX = 100 };

struct flavour {
        const struct kind *kind;
        const char *word, *too_many;
        int list_failed; /* the code when the others cannot be read */
        const char *list_failed_head;
};
static const struct flavour of_cluster = {
        &cluster_resource_override_kind, "clusterResourceOverride",
        "clusterResourceOverride limit has been reached: at most 100 cluster resources can be created.", 400,
        "failed to list clusterResourceOverrides, please retry the request"
};
static const struct flavour of_namespace = {
        &resource_override_kind, "resourceOverride",
        "resourceOverride limit has been reached: at most 100 resources can be created.", 500, NULL
};

/* ---- what is selected ---- */

static uint32_t n_selected(const struct resource_override *o)
{
        return !o->spec            ? 0
               : o->object.meta.ns ? o->spec->resource_selectors.n
                                   : o->spec->cluster_resource_selectors.n;
}

/* As messages print it; what two overrides may not both select prints alike. */
static const char *selected_text(const struct resource_override *o, uint32_t i, struct faults *f)
{
        const struct override_target *t;

        if (!o->object.meta.ns)
                return selector_text(&o->spec->cluster_resource_selectors.at[i], f);
        t = &o->spec->resource_selectors.at[i];
        return text_made(arena_printf(f->arena, "{Group:%s Version:%s Kind:%s Name:%s}", or_empty(t->group),
                                      or_empty(t->version), or_empty(t->kind), or_empty(t->name)),
                         f);
}

static void cluster_selector_faults(const struct resource_selector *s, const char *text, struct faults *f)
{
        if (s->label_selector)
                FAULT(f, "label selector is not supported for resource selection %s", text);
        else if (text_empty(s->name))
                FAULT(f, "resource name is required for resource selection %s", text);
}

/* Leaves what is selected in `seen`. */
static void selector_faults(const struct resource_override *o, struct map *seen, struct faults *f)
{
        for (uint32_t i = 0; i < n_selected(o) && !f->no_memory; i++) {
                const char *text = selected_text(o, i, f);

                if (!o->object.meta.ns)
                        cluster_selector_faults(&o->spec->cluster_resource_selectors.at[i], text, f);
                if (seen_before(seen, text, f))
                        FAULT(f, "resource selector %s already exists, and must be unique", text);
        }
}

static void conflict_faults(const struct resource_override *o, const struct object_list *others,
                            struct map *seen, struct faults *f)
{
        for (size_t k = 0; k < others->n && !f->no_memory; k++) {
                const struct resource_override *other = (const struct resource_override *)others->at[k];

                if (text_equal(other->object.meta.name, o->object.meta.name))
                        continue;
                for (uint32_t i = 0; i < n_selected(other); i++) {
                        const char *text = selected_text(other, i, f);

                        if (map_has(seen, text))
                                FAULT(f,
                                      "invalid resource selector %s: the resource has been selected by both "
                                      "%s and %s, which is not supported",
                                      text, or_empty(o->object.meta.name), or_empty(other->object.meta.name));
                }
        }
}

static int answer(struct admission_call *c, const struct flavour *as, const struct resource_override *o,
                  const struct object_list *others)
{
        struct faults f = { .arena = c->arena };
        struct map seen;

        map_init(&seen, MAP_BORROW_KEYS, NULL);
        selector_faults(o, &seen, &f);
        if (!f.n) {
                conflict_faults(o, others, &seen, &f);
                override_policy_faults(o->spec ? o->spec->policy : NULL, &f);
        }
        map_free(&seen);
        if (f.no_memory)
                return error_no_memory(c->err);
        if (f.n)
                return admission_deny_faults(c, "", &f);
        return ADMISSION_ALLOW(c, "%s has valid fields", as->word);
}

static int validate(struct admission_call *c, const struct flavour *as)
{
        const struct object *o;
        struct object_list others = { 0 };
        struct error why = { 0 };
        int code;

        if (c->request.operation != ADMISSION_CREATE && c->request.operation != ADMISSION_UPDATE)
                return admission_allow(c);
        if (admission_cannot_decode(c, as->kind, c->request.object, &o, &code))
                return code;
        if (admission_keeps_spec(c))
                return ADMISSION_ALLOW(c, "%s keeps its spec", as->word);
        if (c->world->list(c->world->ctx, c->arena, as->kind, o->meta.ns, &others, &why) < 0) {
                if (as->list_failed_head)
                        error_wrap(&why, "%s", as->list_failed_head);
                return admission_fail(c, as->list_failed, &why);
        }
        if (c->request.operation == ADMISSION_CREATE && others.n >= OVERRIDES_MAX)
                return ADMISSION_DENY(c, "%s", as->too_many);
        return answer(c, as, (const struct resource_override *)o, &others);
}

int cluster_override_validate(struct admission_call *c)
{
        return validate(c, &of_cluster);
}

int own_override_validate(struct admission_call *c)
{
        return validate(c, &of_namespace);
}
