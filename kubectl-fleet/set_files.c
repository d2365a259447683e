#include "kubectl-fleet/set_files.h"

#include "hub-agent/input-provider/exports.h"
#include "hub-agent/resource-set/inputs.h"
#include "hub-agent/resource-set/order.h"
#include "kubectl-fleet/manifest.h"

#define PROVIDER_STATIC "Static"

/* ---- files ---- */

struct reading {
        struct session *s;
        struct set_files *into;
        size_t room_sets, room_providers;
};

static int push(struct arena *arena, struct object_list *l, size_t *room, const struct object *o)
{
        if (l->n == *room) {
                size_t wanted = MAX(2 * *room, 8);
                const struct object **at = ARENA_NEW_ARRAY(arena, const struct object *, wanted);

                if (!at)
                        return ERR_NO_MEMORY;
                for (size_t i = 0; i < l->n; i++)
                        at[i] = l->at[i];
                l->at = at;
                *room = wanted;
        }
        l->at[l->n++] = o;
        return 0;
}

static bool exports_something(const struct input_provider *p)
{
        return p->status && (p->status->exported_inputs.set || p->status->last_exported_revision);
}

/* What the hub's agent computes of its spec alone. Its id is made of the uid, which the hub gives. */
static int fill_static(struct session *s, struct input_provider *p, struct error *err)
{
        AUTO_JSON json_t *exports = NULL;
        json_t *defaults;

        if (text_empty(p->object.meta.uid) && text_empty(s->options.inputs))
                session_note(s,
                             "ResourceSetInputProvider %s/%s has no uid here: the id of its input is another "
                             "one on the hub.",
                             p->object.meta.ns, p->object.meta.name);
        TRY(exports_defaults(p->spec->default_values, s->arena, &defaults, err));
        TRY(exports_static(defaults, or_empty(p->object.meta.uid), &exports, err));
        p->status = ARENA_NEW(s->arena, struct input_provider_status);
        return p->status ? exports_store(exports, p->status, s->arena, err) : error_no_memory(err);
}

static int take_provider(struct reading *r, const struct object *o, struct error *err)
{
        struct input_provider *p = (struct input_provider *)object_copy(o, r->s->arena);

        if (!p)
                return error_no_memory(err);
        if (p->spec && text_equal(p->spec->type, PROVIDER_STATIC) && fill_static(r->s, p, err) < 0)
                return error_wrap(err, "ResourceSetInputProvider %s/%s", o->meta.ns, o->meta.name);
        return push(r->s->arena, &r->into->providers, &r->room_providers, &p->object) < 0
                       ? error_no_memory(err)
                       : 0;
}

static int take(void *ctx, const struct object *o, struct error *err)
{
        struct reading *r = ctx;

        if (o->kind == &resource_set_input_provider_kind)
                return take_provider(r, o, err);
        return push(r->s->arena, &r->into->sets, &r->room_sets, o) < 0 ? error_no_memory(err) : 0;
}

static int by_name(const void *a, const void *b)
{
        const struct object *const *x = a, *const *y = b;
        int by = strcmp((*x)->meta.ns, (*y)->meta.ns);

        return by ? by : strcmp((*x)->meta.name, (*y)->meta.name);
}

static int refuse_twins(const struct object_list *sorted, struct error *err)
{
        for (size_t i = 1; i < sorted->n; i++)
                if (by_name(&sorted->at[i - 1], &sorted->at[i]) == 0)
                        return error_set(err, ERR_INVALID, "%s %s/%s stands in the files twice",
                                         sorted->at[i]->kind->kind, sorted->at[i]->meta.ns,
                                         sorted->at[i]->meta.name);
        return 0;
}

/* A set, a list of them, or several documents of either. */
static int read_inputs(struct session *s, const char *path, json_t **ret, struct error *err)
{
        AUTO_JSON json_t *docs = json_array();
        json_t *all = json_array(), *doc, *set;
        size_t i, k;

        TRY(doc_keep(s->arena, all, err));
        if (!docs)
                return error_no_memory(err);
        TRY(manifest_documents(s, path, docs, err));
        json_array_foreach(docs, i, doc) {
                if (json_is_array(doc) ? json_array_extend(all, doc) < 0 : json_array_append(all, doc) < 0)
                        return error_no_memory(err);
        }
        json_array_foreach(all, k, set)
                if (!json_is_object(set))
                        return error_set(err, ERR_INVALID, "%s: input set %zu is no object", path, k);
        *ret = all;
        return 0;
}

int set_files_read(struct session *s, struct set_files *ret, struct error *err)
{
        static const struct kind *const kinds[] = { &resource_set_kind, &resource_set_input_provider_kind };
        struct reading r = { .s = s, .into = ret };
        size_t others = 0;

        *ret = (struct set_files){ 0 };
        for (size_t i = 0; i < s->options.files.n; i++)
                TRY(manifest_each(s, s->options.files.at[i], kinds, take, &r, &others, err));
        if (others)
                session_note(s, "%zu %s neither a ResourceSet nor a ResourceSetInputProvider: passed over.",
                             others, others == 1 ? "object is" : "objects are");
        if (ret->providers.n)
                qsort(ret->providers.at, ret->providers.n, sizeof(*ret->providers.at), by_name);
        TRY(refuse_twins(&ret->providers, err));
        return text_empty(s->options.inputs) ? 0 : read_inputs(s, s->options.inputs, &ret->inputs, err);
}

/* ---- rendering ---- */

/* The set with these inputs and no others. */
static int with_inputs(struct arena *arena, const struct resource_set *set, const json_t *inputs,
                       const struct resource_set **ret, struct error *err)
{
        struct resource_set *copy = (struct resource_set *)object_copy(&set->object, arena);
        struct input_provider_status given = { 0 };

        if (!copy)
                return error_no_memory(err);
        TRY(exports_store(inputs, &given, arena, err));
        copy->spec->inputs = given.exported_inputs;
        copy->spec->inputs_from = (struct input_provider_reference_list){ 0 };
        *ret = copy;
        return 0;
}

/* As the agent waits for them. */
static int check_exported(const struct object_list *providers, struct error *err)
{
        for (size_t i = 0; i < providers->n; i++)
                if (!exports_something((const struct input_provider *)providers->at[i]))
                        return error_set(
                                err, ERR_NOT_FOUND,
                                "provider %s/%s has not exported inputs yet: only the hub's agent can "
                                "ask it, and its status has no exportedInputs; --inputs gives others",
                                providers->at[i]->meta.ns, providers->at[i]->meta.name);
        return 0;
}

static int find_sets(struct session *s, const struct resource_set *set, const struct object_list *all,
                     json_t **ret, struct error *err)
{
        struct object_list providers = { .at = ARENA_NEW_ARRAY(s->arena, const struct object *, all->n + 1),
                                         .n = all->n };
        const char *missing, *twins;

        if (!providers.at)
                return error_no_memory(err);
        for (size_t i = 0; i < all->n; i++)
                providers.at[i] = all->at[i];
        TRY(inputs_check(set, err));
        inputs_narrow(set, &providers, &missing);
        if (missing)
                return error_set(err, ERR_NOT_FOUND, "failed to get provider %s/%s: not found",
                                 set->object.meta.ns, missing);
        TRY(check_exported(&providers, err));
        if (inputs_are_none(set))
                return 0;
        TRY(inputs_collect(s->arena, set, &providers, ret, err));
        twins = inputs_twins(s->arena, *ret);
        if (twins)
                session_note(s, "Warning: %s", twins);
        return 0;
}

static int by_place(const void *a, const void *b)
{
        return built_compare(a, b);
}

int set_render(struct session *s, const struct resource_set *set, const struct object_list *providers,
               const json_t *inputs, struct build *ret, struct error *err)
{
        json_t *sets = NULL;

        if (build_check(set, err) < 0)
                return error_wrap(err, "build failed");
        if (inputs)
                TRY(with_inputs(s->arena, set, inputs, &set, err));
        if (find_sets(s, set, providers, &sets, err) < 0)
                return error_wrap(err, "failed to compute inputs");
        if (build_objects(s->arena, set, sets, ret, err) < 0)
                return error_wrap(err, "build failed");
        if (ret->n)
                qsort(ret->at, ret->n, sizeof(*ret->at), by_place);
        return 0;
}
