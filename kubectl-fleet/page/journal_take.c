/* What events of informers mean for the journal: states of a subject by now, and, of one that comes for the
 * first time, what it tells of the time before. */
#include "common/base/memory.h"
#include "hub-agent/common.h"
#include "kubectl-fleet/page/cluster_facts.h"
#include "kubectl-fleet/page/journal.h"
#include "kubectl-fleet/placement_view.h"
#include "kubectl-fleet/run_view.h"

/* One object that came, and how it is written down. */
struct taking {
        struct page_journal *journal;
        struct journal_subject *subject;
        struct arena *arena;
        const struct object *o;
        int64_t now_ms;
        bool fresh; /* it was not known */
        bool told;  /* by a list: it may have happened long ago */
};

static bool is_time(int64_t ms)
{
        return ms != TIME_NONE && ms > 0;
}

/* An object's clock may be ahead of ours. */
static void turn(struct taking *t, enum journal_what what, struct journal_value is, int64_t at_ms, bool told,
                 const char *text)
{
        const struct journal_turn turned = { .what = what,
                                             .is = is,
                                             .at_ms = is_time(at_ms) ? MIN(at_ms, t->now_ms) : t->now_ms,
                                             .text = text,
                                             .told = told };

        if (journal_turn(t->journal, t->subject, &turned) < 0)
                journal_lost(t->journal);
}

/* What the object says it was before we knew it. */
static void tell(struct taking *t, enum journal_what what, struct journal_value is, int64_t at_ms,
                 const char *text)
{
        if (is_time(at_ms))
                turn(t, what, is, at_ms, t->told || at_ms < page_journal_facts(t->journal).began_ms, text);
}

/* A state whose turn has no time of its own. What it was before the first time is not known. */
static void set(struct taking *t, enum journal_what what, struct journal_value is)
{
        if (!t->fresh)
                turn(t, what, is, t->now_ms, t->told, "");
        else if (journal_set_quietly(t->journal, t->subject, what, is) < 0)
                journal_lost(t->journal);
}

/* The word, since the newest of the turns that the object tells of, if that is a new one. */
static void set_word(struct taking *t, const char *word, enum journal_tone tone, int64_t since_ms,
                     const char *text)
{
        const struct journal_value is = { word, tone };

        if (t->fresh)
                tell(t, JOURNAL_WORD, is, since_ms, text);
        else
                turn(t, JOURNAL_WORD, is, since_ms > t->subject->since_ms ? since_ms : t->now_ms, t->told,
                     text);
        t->subject->since_ms = MAX(t->subject->since_ms, since_ms);
}

static void set_progress(struct taking *t, const struct progress *p)
{
        const char *text = "";

        if (p->total)
                text = p->bad ? arena_printf(t->arena, "%zu of %zu, %zu failed", (size_t)p->good,
                                             (size_t)p->total, (size_t)p->bad)
                              : arena_printf(t->arena, "%zu of %zu", (size_t)p->good, (size_t)p->total);
        if (text)
                set(t, JOURNAL_PROGRESS,
                    (struct journal_value){ text, p->bad                ? JOURNAL_FAILED
                                                  : p->good == p->total ? JOURNAL_DONE
                                                                        : JOURNAL_BUSY });
        else
                journal_lost(t->journal);
}

/* ---- conditions ---- */

static enum journal_tone tone_of_status(const char *status)
{
        return text_equal(status, CONDITION_TRUE)    ? JOURNAL_DONE
               : text_equal(status, CONDITION_FALSE) ? JOURNAL_FAILED
                                                     : JOURNAL_WAITS;
}

static const char *said(struct arena *arena, const struct condition *c)
{
        const char *text = text_empty(c->message)  ? or_empty(c->reason)
                           : text_empty(c->reason) ? c->message
                                                   : arena_printf(arena, "%s: %s", c->reason, c->message);

        return text ? text : or_empty(c->reason);
}

static int oldest_first(const void *a, const void *b)
{
        const struct condition *x = *(const struct condition *const *)a,
                               *y = *(const struct condition *const *)b;

        return x->last_transition_ms < y->last_transition_ms   ? -1
               : x->last_transition_ms > y->last_transition_ms ? 1
                                                               : 0;
}

/* `prefix`: of their types, that goes without saying. */
static void tell_conditions(struct taking *t, const struct condition_list *l, const char *prefix)
{
        const struct condition **at = ARENA_NEW_ARRAY(t->arena, const struct condition *, l->n + 1);

        if (!at) {
                journal_lost(t->journal);
                return;
        }
        for (uint32_t i = 0; i < l->n; i++)
                at[i] = &l->at[i];
        if (l->n)
                qsort(at, l->n, sizeof(*at), oldest_first);
        for (uint32_t i = 0; i < l->n; i++) {
                const char *type = or_empty(at[i]->type);
                const char *word;

                if (text_starts_with(type, prefix))
                        type += strlen(prefix);
                word = arena_printf(t->arena, "%s is %s", type, or_empty(at[i]->status));
                if (word)
                        tell(t, JOURNAL_CONDITION,
                             (struct journal_value){ word, tone_of_status(at[i]->status) },
                             at[i]->last_transition_ms, said(t->arena, at[i]));
                else
                        journal_lost(t->journal);
        }
}

static int64_t newest_turn(const struct object *o, const struct condition_list *l)
{
        int64_t since = o->meta.creation_ms;

        for (uint32_t i = 0; l && i < l->n; i++)
                since = MAX(since, l->at[i].last_transition_ms);
        return is_deleting(o) ? MAX(since, o->meta.deletion_ms) : since;
}

/* ---- member clusters ---- */

static int take_cluster(struct taking *t)
{
        const struct member_cluster *c = (const struct member_cluster *)t->o;
        const struct condition_list *own = c->status ? &c->status->conditions : NULL;
        const struct agent_status *agent =
                c->status ? member_agent_status(&c->status->agent_status, AGENT_MEMBER) : NULL;
        const struct condition *healthy =
                agent ? condition_find(&agent->conditions, CONDITION_HEALTHY) : NULL;
        int64_t since = newest_turn(t->o, own);
        struct page_cluster v;

        TRY(page_cluster_look(t->arena, c, &v));
        if (t->fresh && own)
                tell_conditions(t, own, "");
        if (t->fresh && healthy) {
                const struct condition_list one = { .at = (struct condition *)(uintptr_t)healthy, .n = 1 };

                tell_conditions(t, &one, "");
        }
        if (healthy)
                since = MAX(since, healthy->last_transition_ms);
        set_word(t, v.word, journal_tone_of(v.standing), since, v.message);
        set(t, JOURNAL_CORDON, (struct journal_value){ v.cordoned ? "cordoned" : "", JOURNAL_PLAIN });
        return 0;
}

/* ---- placements ---- */

static const char *trouble_of(struct arena *arena, const struct placement *p)
{
        for (uint32_t i = 0; p->status && i < p->status->conditions.n; i++) {
                const struct condition *c = &p->status->conditions.at[i];

                if (!text_equal(c->status, CONDITION_TRUE) && !text_empty(c->message))
                        return said(arena, c);
        }
        return "";
}

static int take_placement(struct taking *t)
{
        const struct placement *p = (const struct placement *)t->o;
        const struct condition_list *l = p->status ? &p->status->conditions : NULL;
        struct placement_summary v;

        TRY(placement_summarize(t->arena, p, &v));
        if (t->fresh && l)
                tell_conditions(t, l, scope_of(t->o->meta.ns)->condition_prefix);
        set(t, JOURNAL_REVISION, (struct journal_value){ or_empty(v.revision), JOURNAL_PLAIN });
        set_word(t, v.word, journal_tone_of(v.standing), newest_turn(t->o, l),
                 v.standing == STANDING_DONE ? "" : trouble_of(t->arena, p));
        set_progress(t, &v.progress);
        return 0;
}

/* ---- update runs ---- */

static enum journal_tone tone_of_stage(enum tone tone)
{
        return tone == TONE_GOOD   ? JOURNAL_DONE
               : tone == TONE_BAD  ? JOURNAL_FAILED
               : tone == TONE_BUSY ? JOURNAL_BUSY
                                   : JOURNAL_WAITS;
}

static int stage_value(struct arena *arena, const struct stage_view *s, enum stage_state state,
                       struct journal_value *ret)
{
        const struct run_word word = stage_word(state);
        const char *text = arena_printf(arena, "%s: %s", s->name, word.text);

        *ret = (struct journal_value){ text, tone_of_stage(word.tone) };
        return text ? 0 : ERR_NO_MEMORY;
}

static int tell_stage(struct taking *t, const struct stage_view *s)
{
        struct journal_value is;

        TRY(stage_value(t->arena, s, STAGE_RUNS, &is));
        tell(t, JOURNAL_STAGE, is, s->status->start_time, "");
        if (!is_time(s->status->end_time))
                return 0;
        TRY(stage_value(t->arena, s, s->state, &is));
        tell(t, JOURNAL_STAGE, is, s->status->end_time, s->state == STAGE_FAILED ? stage_failure(s) : "");
        return 0;
}

/* The stage that is under way, or the last that was. */
static int set_stage(struct taking *t, const struct run_view *v)
{
        const struct stage_view *s = v->current;
        struct journal_value is = { "", JOURNAL_PLAIN };

        for (size_t i = v->n_stages; !s && i-- > 0;)
                if (v->stages[i].state != STAGE_AHEAD)
                        s = &v->stages[i];
        if (s)
                TRY(stage_value(t->arena, s, s->state, &is));
        set(t, JOURNAL_STAGE, is);
        return 0;
}

static int take_run(struct taking *t)
{
        static const struct object_list none;
        const struct update_run *r = (const struct update_run *)t->o;
        struct run_view v;

        TRY(run_look(t->arena, r, &none, &v));
        for (size_t i = 0; t->fresh && i < v.n_stages + (v.deletion != NULL); i++)
                TRY(tell_stage(t, i < v.n_stages ? &v.stages[i] : v.deletion));
        TRY(set_stage(t, &v));
        set(t, JOURNAL_REVISION, (struct journal_value){ v.revision, JOURNAL_PLAIN });
        set_word(t, v.word, tone_of_stage(run_tone(v.state)),
                 newest_turn(t->o, r->status ? &r->status->conditions : NULL), v.message);
        set_progress(t, &v.progress);
        return 0;
}

/* ---- approval requests ---- */

static bool is_status(const struct condition *c, const char *status)
{
        return c && text_equal(c->status, status);
}

static int take_approval(struct taking *t)
{
        static const struct condition_list none;
        const struct approval_request *r = (const struct approval_request *)t->o;
        const struct condition_list *l = r->status ? &r->status->conditions : &none;
        const struct condition *approved = condition_find(l, CONDITION_APPROVED);
        const struct condition *accepted = condition_find(l, CONDITION_APPROVAL_ACCEPTED);
        const char *text = arena_printf(t->arena, "stage %s", r->spec ? or_empty(r->spec->target_stage) : "");

        if (!text)
                return ERR_NO_MEMORY;
        if (t->fresh)
                tell(t, JOURNAL_WORD, (struct journal_value){ "asked", JOURNAL_BUSY }, t->o->meta.creation_ms,
                     text);
        if (is_status(accepted, CONDITION_FALSE))
                set_word(t, "refused", JOURNAL_FAILED, accepted->last_transition_ms,
                         said(t->arena, accepted));
        else if (is_status(approved, CONDITION_TRUE))
                set_word(t, "approved", JOURNAL_DONE, approved->last_transition_ms, said(t->arena, approved));
        else if (!t->fresh)
                set_word(t, "asked", JOURNAL_BUSY, TIME_NONE, text);
        return 0;
}

/* ---- all ---- */

static const struct source {
        const struct kind *kind;
        const char *prefix;
        int (*take)(struct taking *t);
} sources[] = {
        { &member_cluster_kind, "cluster", take_cluster },
        { &cluster_resource_placement_kind, "crp", take_placement },
        { &resource_placement_kind, "rp", take_placement },
        { &cluster_staged_update_run_kind, "csur", take_run },
        { &staged_update_run_kind, "sur", take_run },
        { &cluster_approval_request_kind, "careq", take_approval },
        { &approval_request_kind, "areq", take_approval },
};

static const struct source *source_of(const struct kind *kind)
{
        for (size_t i = 0; i < ARRAY_LEN(sources); i++)
                if (sources[i].kind == kind)
                        return &sources[i];
        return NULL;
}

/* What an update run is of, and an approval. */
static int owner_of(struct arena *arena, const struct object *o, const char **ret)
{
        const char *prefix = NULL, *name = NULL;

        if (o->kind == &cluster_staged_update_run_kind || o->kind == &staged_update_run_kind) {
                const struct update_run *r = (const struct update_run *)o;

                prefix = o->meta.ns ? "rp" : "crp";
                name = r->spec ? r->spec->placement_name : NULL;
        } else if (o->kind == &cluster_approval_request_kind || o->kind == &approval_request_kind) {
                const struct approval_request *r = (const struct approval_request *)o;

                prefix = o->meta.ns ? "sur" : "csur";
                name = r->spec ? r->spec->parent_stage_rollout : NULL;
        }
        *ret = NULL;
        if (text_empty(name))
                return 0;
        *ret = o->meta.ns ? arena_printf(arena, "%s/%s/%s", prefix, o->meta.ns, name)
                          : arena_printf(arena, "%s/%s", prefix, name);
        return *ret ? 0 : ERR_NO_MEMORY;
}

static void end_life(struct taking *t)
{
        turn(t, JOURNAL_LIFE, (struct journal_value){ "gone", JOURNAL_PLAIN }, t->now_ms, t->told, "");
        journal_gone(t->journal, t->subject);
}

/* One that was there already is told nothing of again. */
static int begin_life(struct taking *t)
{
        const char *uid = t->o->meta.uid, *of;

        t->fresh = !t->subject->uid || t->subject->gone || !text_equal(t->subject->uid, uid);
        if (!t->fresh)
                return 0;
        TRY(owner_of(t->arena, t->o, &of));
        if (t->subject->uid && !t->subject->gone)
                turn(t, JOURNAL_LIFE, (struct journal_value){ "gone", JOURNAL_PLAIN }, t->now_ms, t->told,
                     "");
        if (!t->subject->uid)
                TRY(journal_set_quietly(t->journal, t->subject, JOURNAL_LIFE,
                                        (struct journal_value){ "", 0 }));
        for (size_t i = JOURNAL_WORD; i < JOURNAL_STATES; i++)
                TRY(journal_set_quietly(t->journal, t->subject, i, (struct journal_value){ NULL, 0 }));
        TRY(journal_set_identity(t->journal, t->subject, uid, of));
        t->subject->since_ms = 0;
        return 0;
}

static int take(struct taking *t, const struct source *source, enum informer_event_type type)
{
        t->subject = journal_subject_made(t->journal, t->o, source->prefix);
        if (!t->subject)
                return ERR_NO_MEMORY;
        if (type == INFORMER_DELETED) {
                end_life(t);
                return 0;
        }
        TRY(begin_life(t));
        if (t->fresh)
                tell(t, JOURNAL_LIFE, (struct journal_value){ "there", JOURNAL_PLAIN },
                     t->o->meta.creation_ms, "");
        return source->take(t);
}

void page_journal_take(struct page_journal *j, const struct informer_event *e, int64_t now_ms)
{
        AUTO_ARENA struct arena arena = ARENA_INIT;
        const struct source *source = source_of(e->now->kind);
        struct taking t = {
                .journal = j, .arena = &arena, .o = e->now, .now_ms = now_ms, .told = e->initial
        };

        if (source && take(&t, source, e->type) < 0)
                journal_lost(j);
}
