/* One phase of a set against the API server: spec/cluster-object-set.md 5, 7.2. */
#include "member-agent/apply/manifest.h"
#include "member-agent/apply/waves.h"
#include "member-agent/object-set/check.h"
#include "member-agent/object-set/set_phase.h"
#include "member-agent/watch/applied.h"

int phase_trouble(struct phase *f, struct set_item *item, const struct error *why, struct error *err)
{
        if (set_is_fatal(why->code)) {
                *err = *why;
                return why->code;
        }
        f->p->throttled |= why->code == ERR_TOO_MANY;
        item->out->error = arena_strdup(f->p->arena, why->text);
        return item->out->error ? 0 : error_no_memory(err);
}

int phase_refuse(struct phase *f, struct set_item *item, const char *words, struct error *err)
{
        item->refused = words;
        return words ? 0 : error_no_memory(err);
}

/* ---- several at a time ---- */

typedef int (*item_step)(struct phase *f, struct set_item *item, struct error *err);
typedef bool (*item_filter)(const struct phase *f, const struct set_item *item, int wave);

struct round {
        struct phase *f;
        item_filter filter;
        int wave;
        item_step step;
};

static int take_turn(void *ctx, size_t i, struct error *err)
{
        struct round *r = ctx;
        struct set_item *item = &r->f->items[i];

        return r->filter(r->f, item, r->wave) ? r->step(r->f, item, err) : 0;
}

static int each(struct phase *f, item_filter filter, int wave, item_step step, struct error *err)
{
        struct round round = { f, filter, wave, step };

        return set_for_each(f->p, f->n, take_turn, &round, err);
}

/* ---- the phase ---- */

static bool may_be_examined(const struct phase *f, const struct set_item *item, int wave)
{
        return !item->examined && !item->refused && !item->out->error && item->resource.plural &&
               (wave < 0 ? !item->deferred : wave_of(item->object->group, item->resource.plural) == wave);
}

static bool may_be_finished(const struct phase *f, const struct set_item *item, int wave)
{
        return item->examined && !item->reused && !item->out->error &&
               wave_of(item->object->group, item->resource.plural) == wave;
}

static int make_item(struct phase *f, size_t i, struct object_outcome *out, struct error *err)
{
        struct set_item *item = &f->items[i];
        const struct set_object *o = &f->phase->at[i];

        *item = (struct set_item){ .object = o,
                                   .ordinal = (int)(f->index * SET_PHASE_OBJECTS_MAX + i),
                                   .out = out };
        out->object = o;
        item->key = object_identity(o->group, o->kind, o->ns, o->name, f->p->arena);
        if (!item->key)
                return error_no_memory(err);
        TRY(want_prepare(&f->p->self, o, true, &item->prepared, err));
        TRY(doc_keep(f->docs, item->prepared, err));
        TRY(doc_hash(item->prepared, item->hash, err));
        f->defines |= set_is_definition(o);
        return 0;
}

static int follow(struct phase *f, struct error *err)
{
        for (size_t i = 0; i < f->n; i++)
                if (f->items[i].resource.plural)
                        TRY(applied_watch_want(f->p->agent->applied, &f->items[i].resource, err));
        return set_rows_plan(f->p, f->items, f->n, err);
}

static int find_kinds(struct phase *f, struct error *err)
{
        for (size_t i = 0; i < f->n; i++)
                TRY(phase_find_kind(f, &f->items[i], err));
        return follow(f, err);
}

static int note_unserved(struct phase *f, struct error *err)
{
        for (size_t i = 0; i < f->n; i++) {
                struct set_item *item = &f->items[i];

                if (item->resource.plural || item->refused || item->out->error)
                        continue;
                if (!(item->out->unready = set_unknown_kind(f->p, item->object)))
                        return error_no_memory(err);
        }
        return 0;
}

static bool is_refused(const struct phase *f)
{
        for (size_t i = 0; i < f->n; i++)
                if (f->items[i].refused)
                        return true;
        return false;
}

static int next_wave(const struct phase *f, int after)
{
        int next = -1;

        for (size_t i = 0; i < f->n; i++) {
                const struct set_item *item = &f->items[i];
                int wave = item->resource.plural ? wave_of(item->object->group, item->resource.plural) : -1;

                if (wave > after && (next < 0 || wave < next))
                        next = wave;
        }
        return next;
}

static int run_waves(struct phase *f, struct error *err)
{
        int wave = -1;

        for (bool looked = !f->defines;;) {
                int next = next_wave(f, wave);

                if (!looked && (next < 0 || next > 1)) { /* definitions are there */
                        looked = true;
                        TRY(phase_find_new_kinds(f, err));
                        TRY(follow(f, err));
                        continue;
                }
                if (next < 0 || f->p->throttled)
                        return note_unserved(f, err);
                wave = next;
                TRY(each(f, may_be_examined, wave, phase_examine, err));
                if (is_refused(f))
                        return 0;
                TRY(each(f, may_be_finished, wave, phase_finish, err));
        }
}

static int refusal_words(struct phase *f, struct phase_outcome *ret, struct error *err)
{
        struct refusals refused = { .at = ARENA_NEW_ARRAY(f->p->arena, struct refusal, f->n) };

        if (!refused.at)
                return error_no_memory(err);
        for (size_t i = 0; i < f->n; i++) {
                struct set_item *item = &f->items[i];

                if (item->refused)
                        refused.at[refused.n++] = (struct refusal){ item->object, &item->refused, 1 };
        }
        return refused.n ? check_phase_words(f->phase, f->index, &refused, f->p->arena, &ret->refused, err)
                         : 0;
}

static int run(struct phase *f, struct error *err)
{
        TRY(find_kinds(f, err));
        if (!is_refused(f))
                TRY(each(f, may_be_examined, -1, phase_examine, err));
        return is_refused(f) ? 0 : run_waves(f, err);
}

static bool have_definitions(const struct set_phases *phases, size_t n)
{
        for (size_t i = 0; i < n; i++)
                for (size_t k = 0; k < phases->at[i].n; k++)
                        if (set_is_definition(&phases->at[i].at[k]))
                                return true;
        return false;
}

int set_phase_run(struct set_pass *p, size_t index, struct phase_outcome *ret, struct error *err)
{
        struct arena docs AUTO_ARENA = ARENA_INIT;
        struct phase f = { .p = p,
                           .phase = &p->phases.at[index],
                           .docs = &docs,
                           .index = index,
                           .n = p->phases.at[index].n };

        *ret = (struct phase_outcome){ .at = ARENA_NEW_ARRAY(p->arena, struct object_outcome, f.n),
                                       .n = f.n };
        f.items = ARENA_NEW_ARRAY(p->arena, struct set_item, f.n);
        if (!ret->at || !f.items)
                return error_no_memory(err);
        f.inherited = have_definitions(&p->phases, index) || p->memory->kinds_have_come;
        p->memory->kinds_have_come = false;
        for (size_t i = 0; i < f.n; i++)
                TRY(make_item(&f, i, &ret->at[i], err));
        TRY(run(&f, err));
        TRY(refusal_words(&f, ret, err));
        return set_rows_record(p, f.items, f.n, err);
}
