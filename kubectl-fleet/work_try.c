#include "kubectl-fleet/work_try.h"

#include "hub-agent/common.h"
#include "kubectl-fleet/fetch.h"
#include "kubectl-fleet/side_by_side.h"
#include "kubectl-fleet/work_neighbours.h"
#include "member-agent/apply/decode.h"
#include "member-agent/apply/finished.h"

#define MOVED_TRIES 3
#define NO_UID "00000000-0000-0000-0000-000000000000" /* of an AppliedWork that is still to be made */

struct trying {
        struct session *s;
        struct work_tries *tries;
        const struct applied_work *applied; /* NULL = there is none */
        const struct work *told;         /* the Work as the hub has it, with its status; NULL = it has not */
        struct manifest *told_manifests; /* of that, if it is not the Work that is tried */
        size_t n_told_manifests;
        struct kube_mapper *mapper;
        struct owner owner;
        struct work_set set; /* of the Work itself */
        struct neighbours neighbours;
};

/* ---- what the steps ask ---- */

static struct handover_work self_of(const struct trying *t)
{
        return (struct handover_work){ .name = t->owner.name,
                                       .set = t->set,
                                       .known = true,
                                       .deleting = is_deleting(&t->tries->work->object) };
}

static int is_orphan(void *ctx, const char *work_name, bool *ret, struct error *err)
{
        const struct trying *t = ctx;

        *ret = t->neighbours.at && !neighbours_find(&t->neighbours, work_name);
        return 0;
}

static int claim(void *ctx, const struct manifest *m, const char *holder, enum handover_claim *ret,
                 struct error *err)
{
        const struct trying *t = ctx;
        const struct neighbour *n = neighbours_find(&t->neighbours, holder);
        const struct handover_work self = self_of(t);
        struct handover_work other;

        *ret = CLAIM_NONE;
        if (!n)
                return 0;
        other = neighbour_regarding(n, m->group, m->kind, or_empty(m->ns), m->name);
        *ret = handover_claim(&self, &other);
        return 0;
}

/* ---- manifests ---- */

static struct object_steps steps_of(struct trying *t)
{
        return (struct object_steps){ .objects = &t->s->member,
                                      .own = &t->s->member,
                                      .arena = t->s->arena,
                                      .strategy = &t->tries->strategy,
                                      .owner = &t->owner,
                                      .dry_run = true,
                                      .is_orphan = is_orphan,
                                      .claim = claim,
                                      .ctx = t };
}

static int find(void *ctx, size_t i, struct error *err)
{
        struct trying *t = ctx;
        struct work_trial *x = &t->tries->trials[i];
        struct object_steps steps = steps_of(t);
        int r;

        x->before = NULL;
        if (x->manifest->result != RESULT_NONE)
                return 0;
        r = object_find(&steps, x->manifest, &x->before, err);
        return x->before ? doc_keep(t->s->arena, x->before, err) : MIN(r, 0);
}

/* Whether what the hub tells is of this manifest: a file may have another. */
static bool is_told_of(const struct trying *t, const struct manifest *m)
{
        for (size_t i = 0; i < t->n_told_manifests; i++)
                if (text_equal(t->told_manifests[i].key, m->key) &&
                    text_equal(t->told_manifests[i].hash, m->hash))
                        return true;
        return t->told == t->tries->work;
}

static bool has_run(const struct trying *t, const struct work_trial *x)
{
        return !x->before && t->applied && t->told && t->tries->strategy.type != STRATEGY_REPORT_DIFF &&
               manifest_goes_when_finished(x->manifest) && is_told_of(t, x->manifest) &&
               finished_told_uid(t->told->status, t->told->object.meta.generation, t->applied, x->manifest);
}

static int try_steps(struct trying *t, struct work_trial *x, struct error *err)
{
        struct object_steps steps = steps_of(t);
        AUTO_JSON json_t *live = x->before ? doc_copy(x->before) : NULL;
        int r;

        if (x->before && !live)
                return error_no_memory(err);
        r = object_bring_in_line(&steps, x->manifest, true, &live, err);
        x->taken = steps.taken;
        x->adopted = steps.adopted;
        x->waits = steps.waits_for_sibling;
        if (r < 0 || !live)
                return r;
        x->after = live;
        TRY(doc_keep(t->s->arena, TAKE_PTR(live), err));
        return r;
}

static int try_manifest(void *ctx, size_t i, struct error *err)
{
        struct trying *t = ctx;
        struct work_trial *x = &t->tries->trials[i];
        int r = OBJECT_MOVED;

        for (int tries = 0; r == OBJECT_MOVED; tries++) {
                if (tries > 0)
                        TRY(find(t, i, err));
                if (x->manifest->result != RESULT_NONE)
                        return 0;
                x->has_run = has_run(t, x);
                if (x->has_run)
                        return 0;
                x->manifest->unguarded = tries >= MOVED_TRIES;
                r = try_steps(t, x, err);
        }
        return MIN(r, 0);
}

/* ---- left-overs ---- */

static struct kube_resource resource_of(const struct work_resource_identifier *id)
{
        return (struct kube_resource){ or_empty(id->group), or_empty(id->version), or_empty(id->resource),
                                       or_empty(id->kind), !text_empty(id->ns) };
}

static int note_problem(struct trying *t, struct work_leftover *l, const struct error *why, struct error *err)
{
        if (why->code == ERR_NO_MEMORY || why->code == ERR_CANCELLED) {
                *err = *why;
                return why->code;
        }
        l->problem = arena_strdup(t->s->arena, why->text);
        return l->problem ? 0 : error_no_memory(err);
}

static int find_leftover(void *ctx, size_t i, struct error *err)
{
        struct trying *t = ctx;
        struct work_leftover *l = &t->tries->leftovers[i];
        const struct kube_resource r = resource_of(&l->object->id);
        struct error why = { 0 };
        int code = kube_doc_get(&t->s->member, &r, l->object->id.ns, l->object->id.name, &l->live, &why);

        if (code == 0)
                TRY(doc_keep(t->s->arena, l->live, err));
        l->what = leftover_decide(l->live, &t->owner, false, t->tries->strategy.type);
        return code == 0 || code == ERR_NOT_FOUND ? 0 : note_problem(t, l, &why, err);
}

/* A stranger's wish counts where the agent has it apply the object. */
static struct handover_work heir_regarding(const struct trying *t, const struct neighbour *n,
                                           const struct work_resource_identifier *id)
{
        struct handover_work w = neighbour_regarding(n, or_empty(id->group), or_empty(id->kind),
                                                     or_empty(id->ns), or_empty(id->name));
        bool sibling = t->set.binding[0] && text_equal(t->set.binding, w.set.binding);

        w.wants &= sibling || neighbour_may_reach(n, or_empty(id->ns));
        return w;
}

/* As if all had been waited for that the agent waits for. */
static int ask_for_heirs(struct trying *t, struct work_leftover *l, struct error *err)
{
        const struct work_resource_identifier *id = &l->object->id;
        struct handover_work *others =
                ARENA_NEW_ARRAY(t->s->arena, struct handover_work, t->neighbours.n + 1);
        const struct handover_question q = { .self = self_of(t),
                                             .others = others,
                                             .n = t->neighbours.n,
                                             .hub_heard = true,
                                             .hub_present = true,
                                             .waited_ms = INT64_MAX };
        const struct handover_work *to = NULL;

        if (!others)
                return error_no_memory(err);
        for (size_t i = 0; i < q.n; i++)
                others[i] = heir_regarding(t, &t->neighbours.at[i], id);
        l->handover = handover_decide(&q, &to);
        l->to = l->handover == HANDOVER_GIVE ? to->name : NULL;
        return 0;
}

static int try_leftover(void *ctx, size_t i, struct error *err)
{
        struct trying *t = ctx;
        struct work_leftover *l = &t->tries->leftovers[i];
        const struct kube_resource r = resource_of(&l->object->id);
        struct error why = { 0 };

        if (l->problem || l->what == LEFTOVER_GONE)
                return 0;
        TRY(ask_for_heirs(t, l, err));
        if (l->handover != HANDOVER_REMOVE || l->what == LEFTOVER_STAYS ||
            object_let_go(&t->s->member, &r, l->live, &t->owner, l->what, true, &why) == 0)
                return 0;
        return note_problem(t, l, &why, err);
}

/* What the AppliedWork lists beyond the manifests, by kind and name without version. */
static int gather_leftovers(struct trying *t, struct error *err)
{
        const struct applied_resource_list *l =
                t->applied && t->applied->status ? &t->applied->status->applied_resources : NULL;
        struct map listed CLEANUP(map_free);
        struct work_tries *tries = t->tries;

        map_init(&listed, MAP_BORROW_KEYS, NULL);
        tries->leftovers = ARENA_NEW_ARRAY(t->s->arena, struct work_leftover, (l ? l->n : 0) + 1);
        if (!tries->leftovers)
                return error_no_memory(err);
        for (size_t i = 0; i < tries->n_trials; i++)
                if (tries->trials[i].manifest->key &&
                    map_put(&listed, tries->trials[i].manifest->key, &tries->trials[i]) < 0)
                        return error_no_memory(err);
        for (uint32_t i = 0; l && i < l->n; i++) {
                const struct work_resource_identifier *id = &l->at[i].id;
                const char *key = object_identity(or_empty(id->group), or_empty(id->kind), or_empty(id->ns),
                                                  or_empty(id->name), t->s->arena);

                if (!key)
                        return error_no_memory(err);
                if (!map_has(&listed, key) && !text_empty(id->name) && !text_empty(id->resource))
                        tries->leftovers[tries->n_leftovers++].object = &l->at[i];
        }
        return 0;
}

/* ---- the whole ---- */

/* A member without the kind is none. */
static int read_applied_work(struct trying *t, struct error *err)
{
        const struct object_meta *work = &t->tries->work->object.meta;
        struct object *o = NULL;
        int code = kube_get(&t->s->member, &applied_work_kind, NULL, work->name, t->s->arena, &o, err);

        t->owner = (struct owner){ work->name, NO_UID };
        if (code == ERR_NOT_FOUND && fetch_lacks_kind(err))
                return error_set(err, ERR_INVALID, "\"%s\" serves no AppliedWorks: is it a member's?",
                                 t->s->member_config.context ? t->s->member_config.context
                                                             : t->s->member_config.endpoint.base_url);
        if (code == ERR_NOT_FOUND) {
                error_clear(err);
                return 0;
        }
        TRY(code);
        t->applied = (const struct applied_work *)(const void *)o;
        if (t->applied->spec && !text_equal(t->applied->spec->work_namespace, work->ns))
                return error_set(err, ERR_INVALID,
                                 "AppliedWork \"%s\" of that member is of a Work in namespace \"%s\", not "
                                 "\"%s\": is it another member's?",
                                 work->name, or_empty(t->applied->spec->work_namespace), or_empty(work->ns));
        t->owner.uid = o->meta.uid;
        return 0;
}

static int decode(struct trying *t, struct error *err)
{
        struct work_tries *tries = t->tries;
        struct manifest *manifests = NULL;
        size_t n = 0;

        TRY(strategy_of_work(tries->work, &tries->strategy, err));
        if (!is_deleting(&tries->work->object)) /* one that goes lists nothing any more */
                TRY(manifests_of_work(tries->work, t->mapper, t->s->arena, &manifests, &n, err));
        tries->trials = ARENA_NEW_ARRAY(t->s->arena, struct work_trial, n + 1);
        if (!tries->trials)
                return error_no_memory(err);
        for (size_t i = 0; i < n; i++)
                tries->trials[i].manifest = &manifests[i];
        tries->n_trials = n;
        return 0;
}

static bool has_jobs_that_go(const struct trying *t)
{
        for (size_t i = 0; i < t->tries->n_trials; i++)
                if (manifest_goes_when_finished(t->tries->trials[i].manifest))
                        return true;
        return false;
}

/* What the hub tells is of the Work that it has, whatever status a file holds. */
static int read_told(struct trying *t, struct error *err)
{
        const struct work *w = t->tries->work;
        struct fetch f = { .kind = &work_kind,
                           .ns = w->object.meta.ns,
                           .name = w->object.meta.name,
                           .whole = true,
                           .may_lack = true };

        t->told = w;
        if (text_empty(t->s->options.file) || !has_jobs_that_go(t))
                return 0;
        TRY(fetch_all(t->s, &f, 1, err));
        t->told = (const struct work *)(const void *)fetched(&f);
        return t->told ? manifests_of_work(t->told, t->mapper, t->s->arena, &t->told_manifests,
                                           &t->n_told_manifests, err)
                       : 0;
}

/* Other Works matter only where one may hold, or get, an object. */
static bool neighbours_matter(const struct trying *t)
{
        json_t *reference;
        size_t k;

        for (size_t i = 0; i < t->tries->n_leftovers; i++)
                if (t->tries->leftovers[i].what != LEFTOVER_GONE)
                        return true;
        for (size_t i = 0; i < t->tries->n_trials; i++)
                json_array_foreach(doc_get_array(t->tries->trials[i].before, "metadata.ownerReferences"), k,
                                   reference)
                        if (owner_is_applied_work(reference) &&
                            !owner_find(t->tries->trials[i].before, &t->owner))
                                return true;
        return false;
}

static int try_all(struct trying *t, struct error *err)
{
        struct work_tries *tries = t->tries;

        TRY(read_applied_work(t, err));
        TRY(decode(t, err));
        TRY(read_told(t, err));
        TRY(gather_leftovers(t, err));
        TRY(side_by_side(t->s, tries->n_trials, find, t, err));
        TRY(side_by_side(t->s, tries->n_leftovers, find_leftover, t, err));
        if (neighbours_matter(t))
                TRY(neighbours_read(t->s, &tries->work->object, &t->neighbours, err));
        TRY(side_by_side(t->s, tries->n_leftovers, try_leftover, t, err));
        return side_by_side(t->s, tries->n_trials, try_manifest, t, err);
}

static void free_mapper(void *mapper)
{
        kube_mapper_free(mapper);
}

int work_try(struct session *s, const struct work *w, struct work_tries *ret, struct error *err)
{
        struct trying t = { .s = s, .tries = ret, .mapper = kube_mapper_new(&s->member) };

        *ret = (struct work_tries){ .work = w };
        if (!t.mapper || arena_defer(s->arena, free_mapper, t.mapper) < 0 ||
            work_set_of(&w->object, s->arena, &t.set) < 0)
                return error_no_memory(err);
        return try_all(&t, err);
}
