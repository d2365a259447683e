/* The controller of ClusterObjectSets: the order of the steps, spec/cluster-object-set.md 3. A steady set
 * costs no request: what the cache has of it and the inventory say that it is as it was left. Everything else
 * begins with reading the whole set, which also tells that it is not being deleted. */
#include "common/base/memory.h"
#include "member-agent/object-set/check.h"
#include "member-agent/object-set/judge.h"
#include "member-agent/object-set/set_pass.h"
#include "member-agent/object-set/teardown.h"
#include "member-agent/watch/applied.h"

#define WATCHES_COME_MS 30000 /* after the start watches fill; who waits for them asks for nothing */
#define WATCHES_POLL_MS 500
#define TEARDOWN_POLL_MS 5000
#define LARGE_BYTES (64 << 10)
#define READ_AGAIN_TRIES 3

static struct cluster_object_set *set_of(struct object *o)
{
        return (struct cluster_object_set *)(void *)o;
}

static bool has_finalizer(const struct cluster_object_set *s)
{
        return object_has_finalizer(&s->object, FINALIZER_OBJECT_SET);
}

static bool is_going(const struct cluster_object_set *s)
{
        return s->object.meta.deletion_ms != TIME_NONE;
}

/* ---- what a pass shares ---- */

int set_find_siblings(const struct cluster_object_set *s, const struct set_list *all, struct arena *arena,
                      struct set_identity **ret, size_t *ret_n, struct error *err)
{
        *ret_n = 0;
        if (!(*ret = ARENA_NEW_ARRAY(arena, struct set_identity, all->n)))
                return error_no_memory(err);
        for (size_t i = 0; i < all->n; i++)
                if (set_are_siblings(s, all->at[i]))
                        set_identify(all->at[i], &(*ret)[(*ret_n)++]);
        return 0;
}

static uint64_t mix(uint64_t hash, const char *text)
{
        return hash_bytes(or_empty(text), strlen(or_empty(text)) + 1, hash);
}

struct set_signature set_sign(const struct cluster_object_set *s, const struct set_identity *siblings,
                              size_t n)
{
        struct set_identity self;
        uint64_t own, progressed;

        set_identify(s, &self);
        own = mix(hash_bytes(&s->object.meta.generation, sizeof(s->object.meta.generation), 0), self.owner);
        progressed = own;
        for (size_t i = 0; i < n; i++)
                progressed = mix(progressed, siblings[i].uid);
        return (struct set_signature){ (unsigned)own, (unsigned)progressed };
}

/* ---- writes to sets ---- */

/* Puts the answer in the place of the set, and into the cache. */
static int take_answer(struct set_pass *p, struct object *answer, struct error *err)
{
        p->set = set_of(answer);
        return agent_observe(p->agent, p->agent->sets->informer, answer, err);
}

static int write_finalizer(struct set_pass *p, bool there, struct error *err)
{
        struct object *wanted = object_copy(&p->set->object, p->arena), *answer = NULL;

        if (!wanted || (there && object_add_finalizer(wanted, FINALIZER_OBJECT_SET, p->arena) < 0))
                return error_no_memory(err);
        if (!there)
                object_remove_finalizer(wanted, FINALIZER_OBJECT_SET);
        TRY(kube_patch_diff(p->rc->kube, &p->set->object, wanted, OBJECT_META_SPEC, p->arena, &answer, err));
        return take_answer(p, answer, err);
}

static int remove_finalizer(struct set_pass *p, struct error *err)
{
        if (!has_finalizer(p->set))
                return 0;
        if (write_finalizer(p, false, err) < 0 && err->code != ERR_NOT_FOUND)
                return error_wrap(err, "error removing teardown finalizer");
        error_clear(err);
        return 0;
}

int set_read_again(struct set_pass *p, const char *name, const struct cluster_object_set **ret,
                   struct error *err)
{
        struct object *o = NULL;
        int r = kube_get(p->rc->kube, &cluster_object_set_kind, NULL, name, p->arena, &o, err);

        *ret = NULL;
        if (r == ERR_NOT_FOUND) {
                error_clear(err);
                return 0;
        }
        if (r == 0)
                *ret = set_of(o);
        return r;
}

int set_still_stands(struct set_pass *p, const struct cluster_object_set **ret, struct error *err)
{
        const struct cluster_object_set *now;

        TRY(set_read_again(p, p->self.name, &now, err));
        if (!now || !text_equal(now->object.meta.uid, p->self.uid) || is_going(now))
                return error_set(err, ERR_RETRY, "the set is being deleted");
        if (set_is_archived(now))
                return error_set(err, ERR_RETRY, "the set is being archived");
        *ret = now;
        return 0;
}

/* For good, so it is bound to what was judged. */
static int archive(struct set_pass *p, const struct cluster_object_set *s, struct error *err)
{
        static const struct kube_write write = { 0 };
        const struct kube_resource sets = kube_resource_of(&cluster_object_set_kind);
        const struct object_meta *m = &s->object.meta;
        AUTO_JSON json_t *patch =
                json_pack("{s:{s:s, s:s}, s:{s:s}}", "metadata", "uid", m->uid, "resourceVersion",
                          m->resource_version, "spec", "lifecycleState", SET_ARCHIVED);
        int r;

        if (!patch)
                return error_no_memory(err);
        r = kube_doc_patch(p->rc->kube, &sets, NULL, m->name, KUBE_PATCH_MERGE, patch, &write, NULL, err);
        if (r == ERR_NOT_FOUND)
                error_clear(err);
        return r == ERR_NOT_FOUND ? 0 : r;
}

/* Who has changed since is looked at again: whoever is a sibling no more is spared. */
static int archive_sibling(struct set_pass *p, const struct cluster_object_set *self,
                           const struct cluster_object_set *s, struct error *err)
{
        const char *name = s->object.meta.name;
        int r = archive(p, s, err);

        for (int i = 1; r == ERR_CONFLICT && i < READ_AGAIN_TRIES; i++) {
                error_clear(err);
                TRY(set_read_again(p, name, &s, err));
                r = s && succession_replaces(self, s) ? archive(p, s, err) : 0;
        }
        return r;
}

/* A rollout takes its time, in which everything may have changed that was known at its beginning. */
static int archive_replaced(struct set_pass *p, struct error *err)
{
        const struct cluster_object_set *self;
        struct set_list replaced;

        TRY(succession_replaced(p->set, &p->others, p->arena, &replaced, err));
        if (replaced.n > 0)
                TRY(set_still_stands(p, &self, err));
        for (size_t i = 0; i < replaced.n; i++)
                if (archive_sibling(p, self, replaced.at[i], err) < 0)
                        return error_wrap(err, "archive previous Revision");
        return 0;
}

/* 16.3: who finishes, or is a record, looks after the records of its owner, as they are by now: it may be one
 * itself, and the last. */
static int forget_records(struct reconcile *rc, struct member_agent *a, const struct cluster_object_set *s,
                          struct arena *arena)
{
        struct set_list all, old;

        TRY(sets_list(a->sets, arena, &all, rc->err));
        TRY(succession_forgotten(s, &all, arena, &old, rc->err));
        for (size_t i = 0; i < old.n; i++)
                if (kube_delete(rc->kube, &old.at[i]->object, true, rc->err) < 0 &&
                    rc->err->code != ERR_CONFLICT)
                        return rc->err->code;
        error_clear(rc->err);
        return 0;
}

/* ---- telling: 14 ---- */

static int write_status(struct set_pass *p, struct cluster_object_set_status *status, struct error *err)
{
        struct cluster_object_set wanted = *p->set;
        struct object *answer = NULL;

        wanted.status = status;
        if (kube_patch_diff(p->rc->kube, &p->set->object, &wanted.object, OBJECT_STATUS, p->arena, &answer,
                            err) < 0)
                return error_wrap(err, "error updating status");
        return take_answer(p, answer, err);
}

static void tell(struct set_pass *p, const struct judge_result *j)
{
        const struct condition *c = condition_find(&j->status->conditions, CONDITION_PROGRESSING);

        for (size_t i = 0; i < j->n_events; i++)
                rc_event(p->rc, &p->set->object,
                         j->events[i].warning ? EVENT_TYPE_WARNING : EVENT_TYPE_NORMAL, j->events[i].reason,
                         "%s", j->events[i].message);
        if (j->differs && c)
                log_info(&p->rc->log, "a set's state changed", "progressing", c->status, "reason", c->reason);
}

/* A retry has the frame's delay; where the deadline comes sooner, so does it. What went wrong is told in the
 * status: an API server's words may hold what is in an object, and are none for a log. */
static struct outcome next_look(struct set_pass *p, const struct judge_input *in,
                                const struct judge_result *j)
{
        if (!j->backoff && j->after_ms == 0)
                return in->finding == FOUND_BLOCKED || in->finding == FOUND_ARCHIVED
                               ? done()
                               : again_after(SET_LOOK_MS);
        if (!j->backoff)
                return again_after(j->after_ms);
        if (j->after_ms > 0)
                manager_enqueue_after(p->rc->manager, &object_set_controller, p->rc->key, j->after_ms);
        error_set(p->rc->err, ERR_RETRY,
                  "the set is not as it should be; its condition Progressing says why");
        return failed(p->rc->err);
}

static struct outcome conclude(struct set_pass *p, struct judge_input *in)
{
        struct set_memory *memory = p->memory;
        struct judge_result j;
        bool first;

        in->set = p->set;
        in->now_ms = p->rc->now_ms;
        in->now = p->phases.n ? &p->phases : NULL;
        in->phase_before = set_find_condition(p->set, CONDITION_PROGRESSING) ? memory->phase : 0;
        if (judge_set(in, p->arena, &j, p->rc->err) < 0)
                return failed(p->rc->err);
        if (in->phase != JUDGE_NO_PHASE)
                memory->phase = in->phase;
        first = in->finding == FOUND_COMPLETE && !set_has_succeeded(p->set);
        if (j.differs && write_status(p, j.status, p->rc->err) < 0)
                return failed(p->rc->err);
        if (first)
                set_metrics_rolled_out(p);
        tell(p, &j);
        return next_look(p, in, &j);
}

static struct outcome conclude_with(struct set_pass *p, enum finding finding, const char *words)
{
        struct judge_input in = { .finding = finding, .words = or_empty(words), .phase = JUDGE_NO_PHASE };

        return conclude(p, &in);
}

/* An error of the set as a whole. */
static struct outcome conclude_error(struct set_pass *p)
{
        const char *words = arena_strdup(p->arena, p->rc->err->text);

        if (set_is_fatal(p->rc->err->code) || !words)
                return failed(p->rc->err);
        return conclude_with(p, FOUND_ERROR, words);
}

/* ---- what it holds: 6 ---- */

/* *ret_words: what a person has to mend (Blocked), NULL = nothing. */
static int resolve(struct set_pass *p, const char **ret_words, struct error *err)
{
        struct content_secrets secrets;
        int r;

        TRY(set_secrets_read(p, &secrets, err));
        TRY(set_copy_use(p, &secrets, err));
        if (secrets.n > 0)
                TRY(set_watches_want(p->agent->sets, AWAITED_SECRET, err));
        p->memory->doubtful = false;
        TRY(content_mutable(&secrets, p->arena, ret_words, err));
        if (*ret_words)
                return 0;
        r = content_resolve(p->set, &secrets, agent_namespace(p->agent), p->arena, &p->phases, err);
        if (r == ERR_INVALID) {
                *ret_words = arena_strdup(p->arena, err->text);
                error_clear(err);
                return *ret_words ? 0 : error_no_memory(err);
        }
        TRY(r);
        TRY(content_changed(p->set, &p->phases, p->arena, ret_words, err));
        return *ret_words ? 0 : set_copy_keep(p, &secrets, err);
}

/* ---- the end of a set: 12 ---- */

/* Digests are noted before an object is touched, and rows before it is written. */
static bool has_lost_inventory(const struct set_pass *p)
{
        const struct cluster_object_set_status *status = p->set->status;

        return p->rows.n == 0 && status && status->observed_phases.n > 0;
}

static int read_manifests(struct set_pass *p, struct error *err)
{
        const char *words = NULL;

        TRY(resolve(p, &words, err));
        return words ? error_set(err, ERR_RETRY, "%s", words) : 0;
}

/* The inventory is enough, and is not there where the state file was lost: then what can be read of the
 * manifests helps, and whatever is not ours is left alone. Once it was whole, what it lacks is gone. Of a set
 * that is to go by itself nothing may be left behind; the collector needs no inventory for one that is
 * deleted. */
static int know_objects(struct set_pass *p, struct error *err)
{
        int r;

        p->memory->has_inventory |= p->rows.n >= set_count_objects(p->set);
        if (p->memory->has_inventory)
                return 0;
        r = read_manifests(p, err);
        if (r == 0)
                TRY(set_rows_restore(p, err));
        p->memory->has_inventory = r == 0;
        p->phases = (struct set_phases){ 0 };
        if (r == 0 || set_is_fatal(r) || (has_lost_inventory(p) && !is_going(p->set)))
                return r;
        error_clear(err);
        return 0;
}

/* That is written when nothing of it is left, and before its finalizer goes. */
static bool was_archived(const struct cluster_object_set *s)
{
        const struct condition *c = set_find_condition(s, CONDITION_PROGRESSING);

        return c && text_equal(c->reason, REASON_SET_ARCHIVED) &&
               c->observed_generation.value == s->object.meta.generation;
}

static int forget_archived(struct set_pass *p, struct error *err)
{
        TRY(store_work_remove(p->agent->store, p->holder, err));
        TRY(remove_finalizer(p, err));
        TRY(forget_records(p->rc, p->agent, p->set, p->arena));
        return applied_watch_reconcile(p->agent->applied, err);
}

static struct outcome archive_objects(struct set_pass *p)
{
        const char *words = NULL;

        if (!has_finalizer(p->set) && p->rows.n == 0) { /* what its Secrets held may have been kept already */
                if (store_work_remove(p->agent->store, p->holder, p->rc->err) < 0)
                        return failed(p->rc->err);
                return conclude_with(p, FOUND_ARCHIVED, "");
        }
        if (p->rows.n == 0 && was_archived(p->set)) /* whatever has become of its Secrets */
                return forget_archived(p, p->rc->err) < 0 ? failed(p->rc->err) : done();
        if (know_objects(p, p->rc->err) < 0 || set_teardown_run(p, &words, p->rc->err) < 0) {
                error_wrap(p->rc->err, "error archiving revision");
                return conclude_error(p);
        }
        if (words)
                return conclude_with(p, FOUND_TEARING_DOWN, words);
        conclude_with(p, FOUND_ARCHIVED, "");
        if (p->rc->err->code < 0 || forget_archived(p, p->rc->err) < 0)
                return failed(p->rc->err);
        return done();
}

static struct outcome say_farewell(struct set_pass *p)
{
        enum farewell farewell = teardown_farewell(&p->set->object.meta, p->rc->now_ms);
        const char *words = NULL;

        if (!has_finalizer(p->set))
                return done();
        if (farewell != FAREWELL_LEAVE && know_objects(p, p->rc->err) < 0)
                return failed(p->rc->err);
        if (farewell == FAREWELL_ORPHAN && set_teardown_orphan(p, p->rc->err) < 0)
                return failed(p->rc->err);
        if (farewell == FAREWELL_TEAR_DOWN && set_teardown_run(p, &words, p->rc->err) < 0)
                return failed(p->rc->err);
        if (words)
                return again_after(TEARDOWN_POLL_MS);
        return remove_finalizer(p, p->rc->err) < 0 ? failed(p->rc->err) : done();
}

/* ---- rolling out ---- */

/* 6.4: another content can then no longer slip in behind a crash. */
static int note_digests(struct set_pass *p, struct error *err)
{
        const struct judge_input in = {
                .set = p->set, .finding = FOUND_RESOLVED, .now = &p->phases, .now_ms = p->rc->now_ms
        };
        struct judge_result j;

        TRY(judge_set(&in, p->arena, &j, err));
        return j.differs ? write_status(p, j.status, err) : 0;
}

static bool is_gone_meanwhile(const struct set_pass *p)
{
        const struct object *seen = informer_get(p->agent->sets->informer, NULL, p->self.name);

        return !seen || seen->meta.deletion_ms != TIME_NONE || !text_equal(seen->meta.uid, p->self.uid);
}

static bool was_begun(const struct set_pass *p, size_t phase)
{
        for (size_t i = 0; i < p->rows.n; i++)
                if ((size_t)p->rows.at[i].ordinal / SET_PHASE_OBJECTS_MAX == phase)
                        return true;
        return false;
}

/* A phase begins when all before it are complete. What is rolled out is kept as it is whatever becomes of an
 * earlier phase; a set that succeeded when it had no phases yet has rolled out nothing. */
static int run_phases(struct set_pass *p, struct phase_outcome *reached, size_t *ret_n, struct error *err)
{
        bool held = false;

        for (size_t i = 0; i < p->phases.n; i++) {
                if (held && !(set_has_succeeded(p->set) && was_begun(p, i)))
                        continue;
                if (is_gone_meanwhile(p))
                        return error_set(err, ERR_RETRY, "the set is being deleted");
                TRY(set_phase_run(p, i, &reached[i], err));
                *ret_n = i + 1;
                held |= !outcome_is_complete(p->set, &reached[i]);
        }
        return 0;
}

static struct outcome roll_out(struct set_pass *p)
{
        struct phase_outcome *reached = ARENA_NEW_ARRAY(p->arena, struct phase_outcome, p->phases.n);
        struct judge_input in = { 0 };
        size_t n = 0;

        if (!reached) {
                error_no_memory(p->rc->err);
                return failed(p->rc->err);
        }
        if (run_phases(p, reached, &n, p->rc->err) < 0)
                return is_gone_meanwhile(p) ? failed(p->rc->err) : conclude_error(p);
        if (outcome_find(p->set, reached, n, p->arena, &in, p->rc->err) < 0)
                return conclude_error(p);
        if (in.finding == FOUND_INCOMPLETE && set_look_ahead(p, n, &in.ahead, p->rc->err) < 0)
                return conclude_error(p);
        if (in.finding == FOUND_COMPLETE &&
            (archive_replaced(p, p->rc->err) < 0 || forget_records(p->rc, p->agent, p->set, p->arena) < 0))
                return conclude_error(p);
        return conclude(p, &in);
}

static struct outcome run_active(struct set_pass *p)
{
        const char *words = NULL, *wrong = NULL;

        if (succession_successor(p->set, &p->others))
                return archive(p, p->set, p->rc->err) < 0 ? failed(p->rc->err) : done();
        if (resolve(p, &words, p->rc->err) < 0)
                return conclude_error(p);
        if (words)
                return conclude_with(p, FOUND_BLOCKED, words);
        if ((!has_finalizer(p->set) && write_finalizer(p, true, p->rc->err) < 0) ||
            note_digests(p, p->rc->err) < 0)
                return failed(p->rc->err);
        if (check_set(&p->self, &p->phases, p->arena, &wrong, p->rc->err) < 0)
                return conclude_error(p);
        if (wrong)
                return conclude_with(p, FOUND_REFUSED, wrong);
        return roll_out(p);
}

/* ---- one reconcile ---- */

static int begin_pass(struct set_pass *p, struct error *err)
{
        set_identify(p->set, &p->self);
        p->holder = set_holder(p->self.name, p->arena);
        p->memory = sets_memory(p->agent->sets, p->self.name);
        if (!p->holder || !p->memory)
                return error_no_memory(err);
        TRY(sets_list(p->agent->sets, p->arena, &p->others, err));
        TRY(set_find_siblings(p->set, &p->others, p->arena, &p->siblings, &p->n_siblings, err));
        p->signature = set_sign(p->set, p->siblings, p->n_siblings);
        return set_rows_load(p, err);
}

static bool is_record(const struct cluster_object_set *s)
{
        const struct condition *progressing = set_find_condition(s, CONDITION_PROGRESSING),
                               *available = set_find_condition(s, CONDITION_AVAILABLE);

        return set_is_archived(s) && !is_going(s) && !has_finalizer(s) && progressing && available &&
               text_equal(progressing->reason, REASON_SET_ARCHIVED) &&
               text_equal(available->reason, REASON_SET_ARCHIVED);
}

static bool is_rolled_out(const struct cluster_object_set *s)
{
        const struct condition *c = set_find_condition(s, CONDITION_PROGRESSING);

        return s->spec && !set_is_archived(s) && !is_going(s) && has_finalizer(s) && c &&
               text_equal(c->reason, REASON_SET_SUCCEEDED) &&
               c->observed_generation.value == s->object.meta.generation;
}

/* Whether nothing is to be done; *ret_after_ms > 0: until it is to be asked again. */
static int is_steady(struct reconcile *rc, struct member_agent *a, const struct cluster_object_set *s,
                     struct arena *arena, bool *ret, int64_t *ret_after_ms)
{
        struct set_memory *memory = map_get(&a->sets->memory, rc->name);
        struct set_signature signature;
        struct set_identity *siblings;
        struct set_list others, replaced;
        size_t n;
        bool waits;

        *ret = false;
        *ret_after_ms = 0;
        if (!is_rolled_out(s) || (memory && memory->doubtful))
                return 0;
        TRY(sets_list(a->sets, arena, &others, rc->err));
        TRY(set_find_siblings(s, &others, arena, &siblings, &n, rc->err));
        TRY(succession_replaced(s, &others, arena, &replaced, rc->err));
        if (replaced.n > 0)
                return 0;
        signature = set_sign(s, siblings, n);
        TRY(set_rows_steady(a, s, &signature, rc->now_ms, arena, ret, &waits, ret_after_ms, rc->err));
        if (!waits || loop_now_ms(a->loop) - a->begun_ms > WATCHES_COME_MS)
                return 0;
        *ret = true;
        *ret_after_ms = WATCHES_POLL_MS;
        return 0;
}

int set_await(struct set_pass *p, enum set_awaited what, struct error *err)
{
        p->awaited[what] = p->memory->awaits[what] = true;
        return set_watches_want(p->agent->sets, what, err);
}

static struct outcome run_steps(struct set_pass *p)
{
        struct outcome o = is_going(p->set)          ? say_farewell(p)
                           : set_is_archived(p->set) ? archive_objects(p)
                                                     : run_active(p);

        memcpy(p->memory->awaits, p->awaited, sizeof(p->awaited));
        set_watches_settle(p->agent->sets);
        return o;
}

static struct outcome run_pass(struct reconcile *rc, struct member_agent *a, struct arena *arena)
{
        struct set_pass p = { .rc = rc, .agent = a, .arena = arena };
        struct object *whole = NULL;
        int r = kube_get(rc->kube, &cluster_object_set_kind, NULL, rc->name, arena, &whole, rc->err);

        if (r == ERR_NOT_FOUND) {
                error_clear(rc->err);
                return done();
        }
        if (r < 0)
                return failed(rc->err);
        p.set = set_of(whole);
        return begin_pass(&p, rc->err) < 0 ? failed(rc->err) : run_steps(&p);
}

static struct outcome look_after(struct reconcile *rc, struct arena *arena)
{
        struct member_agent *a = rc->agent;
        const struct cluster_object_set *seen;
        int64_t after_ms;
        bool steady;

        if (!informer_synced(a->sets->informer))
                return done(); /* its first list puts all sets on the queue */
        seen = (const struct cluster_object_set *)(const void *)informer_get(a->sets->informer, NULL,
                                                                             rc->name);
        if (!seen) {
                map_remove(&a->sets->memory, rc->name);
                set_watches_settle(a->sets);
        }
        if (!seen || is_record(seen)) { /* of a record rows may be back: that they went was not durable */
                if (set_rows_forget(a, rc->name, arena, rc->err) < 0 ||
                    (seen && forget_records(rc, a, seen, arena) < 0))
                        return failed(rc->err);
                return done();
        }
        if (is_steady(rc, a, seen, arena, &steady, &after_ms) < 0)
                return failed(rc->err);
        if (steady)
                return after_ms > 0 ? again_after(after_ms) : done();
        return run_pass(rc, a, arena);
}

/* What many objects took is not needed again soon. */
static struct outcome reconcile_set(struct reconcile *rc)
{
        struct arena arena = ARENA_INIT;
        struct outcome o = look_after(rc, &arena);
        bool large = arena.used > LARGE_BYTES;

        arena_free(&arena);
        if (large)
                mem_trim();
        return o;
}

const struct controller object_set_controller = {
        .name = "clusterobjectset",
        .reconcile = reconcile_set,
        .concurrency = 4,
        .backoff_base_ms = 20,
        .backoff_max_ms = 30000,
};
