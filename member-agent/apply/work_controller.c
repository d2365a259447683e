/* The applier: brings the member cluster in line with one Work and says on the hub what came of it.
 * spec/member-agent.md 2. A new Work whose objects become available at once costs one write to the hub and no
 * read; otherwise applied and available are two. */
#include "common/base/limits.h"
#include "common/base/timefmt.h"
#include "common/base/vec.h"
#include "member-agent/apply/clean.h"
#include "member-agent/apply/pass.h"
#include "member-agent/apply/status.h"
#include "member-agent/watch/applied.h"

#define NEXT_TRY_MS 1000
#define STATUS_HOLD_MS 75
#define ANSWER_WAIT_MS 10000 /* then it is told that there are none */
#define ANSWER_RETRY_MS 1000
#define SIBLING_WAIT_MS 10000 /* then what a sibling still holds is told as a failure */
#define SIBLING_POLL_MS 500   /* an event of the sibling wakes us; this is for what has none */

static void unref(void *object)
{
        object_unref(object);
}

/* ---- the Work: from the hub, or from the last run ---- */

struct source {
        const struct work *seen;    /* the hub's projection; NULL while the hub is unknown or the Work gone */
        struct work *whole;         /* manifests included */
        struct work_status *before; /* the last status we know to be, or to be wanted, on the hub */
        bool before_on_hub;         /* the hub has `before` */
        const struct object *at;    /* the version on the hub that `before` is of; NULL while it is unknown */
        size_t bytes;               /* of the Work without status, as JSON */
};

static struct work *work_of(struct object *o)
{
        return (struct work *)(void *)o;
}

/* A former version of this program kept less of it. */
static int keep_anew(struct member_agent *a, const struct stored_work *stored, struct source *s,
                     struct error *err)
{
        TRY(work_save(a, s->whole, &s->bytes, err));
        if (!stored->status.data)
                return 0;
        return store_status_put(a->store, stored->name, stored->status_generation, stored->status,
                                stored->status_delivered, err);
}

static int use_stored(struct member_agent *a, const struct stored_work *stored, struct arena *arena,
                      struct source *s, struct error *err)
{
        struct object *o = NULL;

        TRY(object_decode_arena(&work_kind, stored->spec, arena, &o, err));
        s->whole = work_of(o);
        s->bytes = stored->spec.len;
        if (!stored->listed)
                TRY(keep_anew(a, stored, s, err));
        if (!stored->status.data)
                return 0;
        TRY(object_decode_arena(&work_kind, stored->status, arena, &o, err));
        s->before = work_of(o)->status;
        s->before_on_hub = stored->status_delivered;
        return 0;
}

static bool same_conditions(const struct work_status *a, const struct work_status *b)
{
        size_t n = a ? a->conditions.n : 0;

        if (n != (b ? b->conditions.n : 0))
                return false;
        for (size_t i = 0; i < n; i++) {
                const struct condition *x = &a->conditions.at[i],
                                       *y = condition_find(&b->conditions, x->type);

                if (!y || !text_equal(x->status, y->status) || !text_equal(x->reason, y->reason) ||
                    x->observed_generation.value != y->observed_generation.value)
                        return false;
        }
        return true;
}

/* Reads the Work from the hub, unless `whole` came as the answer of a write. */
static int use_hub(struct member_agent *a, const char *name, struct arena *arena, struct source *s,
                   struct error *err)
{
        struct object *o = NULL;

        if (!s->whole) {
                TRY(kube_get(&a->hub, &work_kind, a->ns, name, arena, &o, err));
                s->whole = work_of(o);
        }
        s->before = s->whole->status;
        s->before_on_hub = true;
        s->at = &s->whole->object;
        return work_save(a, s->whole, &s->bytes, err);
}

/* Fills `whole` and `before`; what the state file has for this generation is not read from the hub again. */
static int load_work(struct member_agent *a, const char *name, struct arena *arena, struct source *s,
                     struct error *err)
{
        struct stored_work stored;
        int r;

        if (s->whole)
                return use_hub(a, name, arena, s, err);
        r = store_work_get(a->store, name, arena, &stored, err);
        if (r < 0 && r != ERR_NOT_FOUND)
                return r;
        if (s->seen && (r == ERR_NOT_FOUND || !text_equal(stored.uid, s->seen->object.meta.uid) ||
                        stored.generation != s->seen->object.meta.generation))
                return use_hub(a, name, arena, s, err);
        if (r < 0)
                return r;
        TRY(use_stored(a, &stored, arena, s, err));
        s->at = s->seen ? &s->seen->object : NULL;
        if (!s->seen || !s->before_on_hub || same_conditions(s->before, s->seen->status))
                return 0;
        s->whole = NULL; /* someone else wrote, or lost, the status on the hub */
        return use_hub(a, name, arena, s, err);
}

static bool has_finalizer(const struct object_meta *m)
{
        return text_in(FINALIZER_WORK, (const char *const *)m->finalizers, m->n_finalizers);
}

/* The answer of the write is the whole Work, so a new Work costs no read. */
static int add_finalizer(struct reconcile *rc, struct member_agent *a, struct source *s)
{
        struct object *wanted = object_copy(&s->seen->object, rc->arena), *answer = NULL;
        const char **finalizers;
        size_t n = wanted ? wanted->meta.n_finalizers : 0;

        finalizers = arena_calloc(rc->arena, n + 1, sizeof(*finalizers));
        if (!wanted || !finalizers)
                return error_no_memory(rc->err);
        for (size_t i = 0; i < n; i++)
                finalizers[i] = wanted->meta.finalizers[i];
        finalizers[n] = FINALIZER_WORK;
        wanted->meta.finalizers = finalizers;
        wanted->meta.n_finalizers = (uint16_t)(n + 1);
        TRY(kube_patch_diff(&a->hub, &s->seen->object, wanted, OBJECT_META_SPEC, rc->arena, &answer,
                            rc->err));
        s->whole = work_of(answer);
        return agent_observe(a, a->works, answer, rc->err);
}

/* ---- manifests ---- */

/* The only namespace that this Work may reach: that of its placement, or of the ResourceEnvelope it was in.
 * NULL = all of the cluster. */
static const char *only_namespace(const struct pass *p)
{
        const struct string_map *labels = &p->work->object.meta.labels;
        const char *ns = string_map_get(labels, LABEL_PARENT_PLACEMENT_NAMESPACE);

        if (text_empty(ns) && text_equal(string_map_get(labels, LABEL_ENVELOPE_TYPE), ENVELOPE_RESOURCE))
                ns = string_map_get(labels, LABEL_ENVELOPE_NAMESPACE);
        return text_empty(ns) ? NULL : ns;
}

/* A right that the namespace's account lacks is told with the manifest: it is none of the agent's own. */
static int choose_account(struct pass *p, struct error *err)
{
        const char *account = p->agent->options->namespace_account, *ns = only_namespace(p);

        p->objects = p->agent->member;
        if (text_empty(account) || !ns)
                return 0;
        p->objects.connection = NULL;
        p->objects.impersonate = arena_printf(p->arena, "system:serviceaccount:%s:%s", ns, account);
        return p->objects.impersonate ? 0 : error_no_memory(err);
}

int pass_map_manifest(struct pass *p, struct manifest *m, struct error *err)
{
        struct error why = { 0 };
        struct kube_mapped mapped;
        int r = kube_mapper_kind(p->agent->mapper, m->group, m->version, m->kind, &mapped, &why);

        if (r == ERR_NO_MEMORY || r == ERR_CANCELLED) {
                *err = why;
                return r;
        }
        if (r == 0) {
                m->resource = mapped.resource;
                r = manifest_check_place(m, only_namespace(p), &why);
        }
        if (r < 0)
                return manifest_fail(m, p->arena, RESULT_DECODING_ERRED,
                                     "failed to decode manifest: ", &why) < 0
                               ? error_no_memory(err)
                               : 0;
        m->result = RESULT_NONE;
        m->cause = "";
        m->unanswered = false;
        return 0;
}

static int decode_manifests(struct pass *p, struct error *err)
{
        const struct raw_list *texts =
                p->work->spec && p->work->spec->workload ? &p->work->spec->workload->manifests : NULL;

        p->n = texts ? texts->n : 0;
        p->manifests = ARENA_NEW_ARRAY(p->arena, struct manifest, p->n + 1);
        if (!p->manifests)
                return error_no_memory(err);
        for (size_t i = 0; i < p->n; i++) {
                struct manifest *m = &p->manifests[i];

                TRY(manifest_decode(m, (int)i, texts->at[i], p->arena, err));
                if (m->name &&
                    !(m->key = object_identity(m->group, m->kind, m->ns ? m->ns : "", m->name, p->arena)))
                        return error_no_memory(err);
                if (m->result != RESULT_NONE)
                        continue;
                TRY(pass_map_manifest(p, m, err));
                TRY(clean_hash(m->doc, m->hash, err));
        }
        return manifest_mark_duplicates(p->manifests, p->n, err);
}

/* Names may hold anything until the server has judged them: lengths keep them apart. */
const char *object_identity(const char *group, const char *kind, const char *ns, const char *name,
                            struct arena *arena)
{
        return arena_printf(arena, "%zu %zu %zu %s/%s/%s/%s", strlen(group), strlen(kind), strlen(ns), group,
                            kind, ns, name);
}

const struct row *pass_row(const struct pass *p, const struct manifest *m)
{
        return m->key ? map_get(p->row_index, m->key) : NULL;
}

static void free_map(void *map)
{
        map_free(map);
}

static int load_rows(struct pass *p, struct error *err)
{
        TRY(store_rows_of_work(p->agent->store, p->name, p->arena, &p->rows, err));
        p->row_index = ARENA_NEW(p->arena, struct map);
        if (!p->row_index)
                return error_no_memory(err);
        map_init(p->row_index, MAP_BORROW_KEYS, NULL);
        if (arena_defer(p->arena, free_map, p->row_index) < 0)
                return error_no_memory(err);
        for (size_t i = 0; i < p->rows.n; i++) {
                const char *key = row_key(&p->rows.at[i], p->arena);

                if (!key || map_put(p->row_index, key, &p->rows.at[i]) < 0)
                        return error_no_memory(err);
        }
        return 0;
}

/* The watch says that the object is as we left it, and neither manifest nor strategy changed: the results
 * stand. What was only compared was not applied. */
static bool may_reuse(const struct pass *p, const struct manifest *m, const struct row *row)
{
        return row && row->state == ROW_APPLIED && result_is_applied(row->result) &&
               text_equal(row->hash, m->hash) && row->strategy == strategy_number(&p->strategy) &&
               text_equal(row->handled, row->seen) && row->first_drift_ms == TIME_NONE &&
               row->availability != AVAILABILITY_FAILED && !p->mirror &&
               p->now_ms - row->checked_ms < WHOLE_LOOK_MS && p->now_ms >= row->checked_ms &&
               applied_watch_current(p->agent->applied, m->group, m->resource.plural);
}

static void reuse_results(struct pass *p)
{
        for (size_t i = 0; i < p->n; i++) {
                struct manifest *m = &p->manifests[i];
                const struct row *row = m->result == RESULT_NONE ? pass_row(p, m) : NULL;

                if (!may_reuse(p, m, row))
                        continue;
                m->reused = m->live_exists = true;
                m->result = row->result;
                m->availability = row->availability;
                m->live_uid = row->uid;
                m->live_version = row->handled;
                m->live_generation = row->live_generation;
        }
}

/* ---- inventory ---- */

static struct row new_row(const struct pass *p, const struct manifest *m)
{
        return (struct row){ .work = p->name,
                             .group = m->group,
                             .version = m->version,
                             .kind = m->kind,
                             .plural = m->resource.plural,
                             .ns = m->ns ? m->ns : "",
                             .name = m->name,
                             .namespaced = m->resource.namespaced,
                             .uid = "",
                             .ordinal = m->ordinal,
                             .state = ROW_PLANNED,
                             .work_generation = p->work->object.meta.generation,
                             .hash = "",
                             .handled = "",
                             .seen = "",
                             .first_drift_ms = TIME_NONE,
                             .first_diff_ms = TIME_NONE };
}

static bool is_ready(const struct manifest *m)
{
        return m->result == RESULT_NONE && m->resource.plural;
}

/* Write-ahead: no object may be touched without a durable record of it. */
static int plan_rows(struct pass *p, struct error *err)
{
        size_t fresh = 0;
        int r = 0;

        for (size_t i = 0; i < p->n; i++)
                fresh += is_ready(&p->manifests[i]) && !pass_row(p, &p->manifests[i]);
        if (!fresh)
                return 0;
        TRY(store_begin(p->agent->store, true, err));
        for (size_t i = 0; r == 0 && i < p->n; i++) {
                struct row row;

                if (!is_ready(&p->manifests[i]) || pass_row(p, &p->manifests[i]))
                        continue;
                row = new_row(p, &p->manifests[i]);
                r = store_row_put(p->agent->store, &row, err);
        }
        if (r < 0) {
                store_rollback(p->agent->store);
                return r;
        }
        return store_commit(p->agent->store, err);
}

static int64_t first_time(const struct differences *d, int64_t known, int64_t now)
{
        if (!d || d->n == 0)
                return TIME_NONE;
        return known == TIME_NONE ? now : known;
}

static int record(struct pass *p, const struct manifest *m, struct error *err)
{
        const struct row *known = pass_row(p, m);
        struct row row = new_row(p, m);

        if (known) {
                row.state = known->state;
                row.uid = known->uid;
        }
        if (m->live_exists)
                row.uid = m->live_uid;
        if (result_is_applied(m->result)) {
                row.state = ROW_APPLIED;
                row.hash = m->hash;
                row.handled = m->live_version;
        }
        row.strategy = strategy_number(&p->strategy);
        row.live_generation = m->live_generation;
        row.result = m->result;
        row.availability = m->availability;
        row.first_drift_ms = first_time(m->drifts, known ? known->first_drift_ms : TIME_NONE, p->now_ms);
        row.first_diff_ms = first_time(m->diffs, known ? known->first_diff_ms : TIME_NONE, p->now_ms);
        row.checked_ms = p->now_ms;
        return store_row_put(p->agent->store, &row, err);
}

static int record_rows(struct pass *p, struct error *err)
{
        int r = 0;

        TRY(store_begin(p->agent->store, false, err));
        for (size_t i = 0; r == 0 && i < p->n; i++) {
                const struct manifest *m = &p->manifests[i];

                if (m->reused || !m->resource.plural || result_is_preprocessing(m->result))
                        continue;
                r = record(p, m, err);
                if (r == 0)
                        r = applied_watch_want(p->agent->applied, &m->resource, err);
        }
        if (r < 0) {
                store_rollback(p->agent->store);
                return r;
        }
        return store_commit(p->agent->store, err);
}

/* ---- status ---- */

static int first_times(const struct pass *p, int64_t **ret_drift, int64_t **ret_diff, struct error *err)
{
        int64_t *drift = ARENA_NEW_ARRAY(p->arena, int64_t, p->n + 1),
                *diff = ARENA_NEW_ARRAY(p->arena, int64_t, p->n + 1);

        if (!drift || !diff)
                return error_no_memory(err);
        for (size_t i = 0; i < p->n; i++) {
                const struct row *row = p->manifests[i].name ? pass_row(p, &p->manifests[i]) : NULL;

                drift[i] = row ? row->first_drift_ms : TIME_NONE;
                diff[i] = row ? row->first_diff_ms : TIME_NONE;
        }
        *ret_drift = drift;
        *ret_diff = diff;
        return 0;
}

static int wanted_status(const struct pass *p, const struct source *s, struct work_status **ret,
                         struct error *err)
{
        struct status_input in = { .work = p->work,
                                   .before = s->before,
                                   .manifests = p->manifests,
                                   .n = p->n,
                                   .report_diff = p->strategy.type == STRATEGY_REPORT_DIFF,
                                   .mirror = p->mirror,
                                   .now_ms = p->now_ms,
                                   .work_bytes = s->bytes };
        int64_t *drift = NULL, *diff = NULL;

        TRY(first_times(p, &drift, &diff, err));
        in.first_drift_ms = drift;
        in.first_diff_ms = diff;
        return status_build(&in, p->arena, ret, err);
}

static int keep_status(struct pass *p, struct work_status *status, bool delivered, struct error *err)
{
        struct work only = { .object = p->work->object, .status = status };
        struct buf text AUTO_BUF;

        buf_init(&text, LIMIT_OBJECT_BYTES);
        if (object_encode(&only.object, &text) < 0)
                return buf_status(&text, err, "Work status") < 0 ? err->code : error_no_memory(err);
        return store_status_put(p->agent->store, p->name, p->work->object.meta.generation,
                                (struct slice){ text.data, text.len }, delivered, err);
}

/* The difference is taken against one version of the Work and bound to that one: whoever wrote in between is
 * read before anything is said. */
static int write_status(struct pass *p, const struct source *s, struct work_status *status, struct error *err)
{
        struct work now = { .status = s->before_on_hub ? s->before : NULL }, wanted = { .status = status };
        struct object *answer = NULL;
        int r;

        now.object = wanted.object = s->at ? *s->at : p->work->object;
        now.object.refs = wanted.object.refs = now.object.block_size = wanted.object.block_size = 0;
        if (s->before_on_hub && s->before && object_equal_part(&now.object, &wanted.object, OBJECT_STATUS))
                return keep_status(p, status, true, err);
        TRY(keep_status(p, status, false, err));
        if (!s->at)
                return error_set(err, ERR_RETRY,
                                 "the hub is not reachable: status of Work %s is kept for later", p->name);
        r = kube_patch_diff(&p->agent->hub, &now.object, &wanted.object, OBJECT_STATUS, p->arena, &answer,
                            err);
        if (r < 0)
                return error_wrap(err, "status of Work %s", p->name);
        TRY(agent_observe(p->agent, p->agent->works, answer, err));
        return keep_status(p, status, true, err);
}

/* Workloads are often available moments after they were applied. The first report of a generation that went
 * well waits so long for the watch to say so, then both conditions are one write. A failure is told at once.
 * Milliseconds to wait, 0 = write now. */
static int64_t hold_status(const struct pass *p, const struct source *s, struct work_memory *memory,
                           const struct work_status *status)
{
        int64_t generation = p->work->object.meta.generation, now = loop_now_ms(p->agent->loop);
        const struct condition *told =
                s->before && s->before_on_hub ? condition_find(&s->before->conditions, "Applied") : NULL;

        if ((told && told->observed_generation.value == generation) ||
            status_is_settled(status, generation) ||
            !condition_is_true(&status->conditions, "Applied", generation))
                return 0;
        for (size_t i = 0; i < p->n; i++)
                if (p->manifests[i].availability == AVAILABILITY_FAILED || p->manifests[i].drifts)
                        return 0;
        if (memory->held_generation != generation) {
                memory->held_generation = generation;
                memory->held_until_ms = now + STATUS_HOLD_MS;
        }
        return MAX(memory->held_until_ms - now, 0);
}

/* Objects on their way from Work to Work are no failure yet. Milliseconds to wait, 0 = write now. */
static int64_t hold_for_siblings(const struct pass *p, struct work_memory *memory, size_t left)
{
        int64_t generation = p->work->object.meta.generation, now = loop_now_ms(p->agent->loop);

        handover_note_wait(memory, p->waits_for_sibling || left > 0, generation, now);
        return p->waits_for_sibling && handover_waited(memory, generation, now) < SIBLING_WAIT_MS
                       ? SIBLING_POLL_MS
                       : 0;
}

/* A request that was never answered is no verdict on its object. While the API server as a whole is away the
 * connection tells that; when one kind alone has no answers, it is told after a while. Milliseconds to wait,
 * 0 = write now. */
static int64_t hold_for_answers(const struct pass *p, struct work_memory *memory)
{
        const struct kube_connection *way = p->agent->member_connection;
        int64_t now = loop_now_ms(p->agent->loop);
        bool any = false;

        for (size_t i = 0; i < p->n && !any; i++)
                any = p->manifests[i].unanswered;
        if (!any)
                memory->unanswered_since_ms = 0;
        else if (!memory->unanswered_since_ms)
                memory->unanswered_since_ms = now;
        return any && (now - memory->unanswered_since_ms < ANSWER_WAIT_MS || !kube_connection_good(way))
                       ? ANSWER_RETRY_MS
                       : 0;
}

/* ---- metrics ---- */

static const char *reason_of(const struct condition_list *list, const char *type)
{
        const struct condition *c = condition_find(list, type);

        return !c ? "Skipped" : text_equal(c->status, "Unknown") ? "Unknown" : c->reason;
}

static void count(const struct pass *p, const struct work_status *s)
{
        const char *work[] = { reason_of(&s->conditions, "Applied"), reason_of(&s->conditions, "Available"),
                               reason_of(&s->conditions, "DiffReported") };

        metric_add(p->agent->work_requests, 1, work);
        for (uint32_t i = 0; i < s->manifest_conditions.n; i++) {
                const struct manifest_condition *c = &s->manifest_conditions.at[i];
                const char *one[] = { reason_of(&c->conditions, "Applied"),
                                      reason_of(&c->conditions, "Available"),
                                      reason_of(&c->conditions, "DiffReported"),
                                      c->drift_details ? "Found" : "NotFound",
                                      c->diff_details ? "Found" : "NotFound" };

                metric_add(p->agent->manifest_requests, 1, one);
        }
}

/* ---- the pass ---- */

static int read_strategy(struct pass *p, struct error *err)
{
        const struct work_spec *spec = p->work->spec;
        const struct apply_strategy *s = spec ? spec->apply_strategy : NULL;

        TRY(strategy_from_words(s ? s->type : NULL, s ? s->comparison_option : NULL,
                                s ? s->when_to_apply : NULL, s ? s->when_to_take_over : NULL, &p->strategy,
                                err));
        p->strategy.allow_co_ownership = s && s->allow_co_ownership.value;
        p->strategy.force = s && s->server_side_apply_config && s->server_side_apply_config->force.value;
        p->mirror =
                spec && spec->report_back_strategy && text_equal(spec->report_back_strategy->type, "Mirror");
        return 0;
}

/* Hearing it puts all Works on the queue. */
static struct outcome wait_for_hub(const struct pass *p)
{
        log_info(p->log,
                 "what was applied has been changed by another agent since the state file was written: "
                 "the hub is waited for");
        return done();
}

static struct outcome run_pass(struct reconcile *rc, struct pass *p, struct source *s)
{
        struct work_memory *memory = agent_memory(p->agent, p->name);
        struct work_status *status = NULL;
        size_t left = 0;
        int64_t next;

        if (!memory) {
                error_no_memory(rc->err);
                return failed(rc->err);
        }
        if (read_strategy(p, rc->err) < 0 || choose_account(p, rc->err) < 0 ||
            decode_manifests(p, rc->err) < 0 || load_rows(p, rc->err) < 0)
                return failed(rc->err);
        if (stale_check_work(p, &p->behind, rc->err) < 0)
                return failed(rc->err);
        if (p->behind)
                return wait_for_hub(p);
        reuse_results(p);
        if (plan_rows(p, rc->err) < 0)
                return failed(rc->err);
        memory->planned = true;
        if (leftover_remove(p, &left, rc->err) < 0 || waves_run(p, rc->err) < 0 ||
            record_rows(p, rc->err) < 0)
                return failed(rc->err);
        if (p->behind)
                return wait_for_hub(p);
        if (applied_work_write_status(p, rc->err) < 0) {
                memory->owner_gone = rc->err->code == ERR_NOT_FOUND;
                return failed(rc->err);
        }
        if (wanted_status(p, s, &status, rc->err) < 0)
                return failed(rc->err);
        next = MAX(hold_status(p, s, memory, status), hold_for_siblings(p, memory, left));
        next = MAX(next, hold_for_answers(p, memory));
        if (next > 0)
                return again_after(next);
        if (tell_news(p, s->before, status, rc->err) < 0 || write_status(p, s, status, rc->err) < 0)
                return failed(rc->err);
        count(p, status);
        next = limiter_next_ms(&memory->limiter, &p->agent->limits, p->work->object.meta.generation,
                               status_results_hash(p->manifests, p->n),
                               status_is_settled(status, p->work->object.meta.generation));
        return again_after(left ? MIN(next, NEXT_TRY_MS) : next);
}

/* A Work without rows is new: what the cache has under its name may be the AppliedWork of one that was
 * deleted, and be gone; garbage collection would take along what names it as owner. So may any whose going
 * has not been heard of. */
static int find_owner(struct reconcile *rc, struct member_agent *a, const struct object **ret)
{
        struct work_memory *memory = agent_memory(a, rc->name);
        struct rows rows = { 0 };

        if (!memory)
                return error_no_memory(rc->err);
        if (!memory->owner_known)
                TRY(store_rows_of_work(a->store, rc->name, rc->arena, &rows, rc->err));
        if (informer_get(a->applied_works, NULL, rc->name) &&
            (memory->owner_gone || (!memory->owner_known && rows.n == 0)))
                TRY(applied_work_ensure_live(a, rc->name, rc->arena, ret, rc->err));
        else
                TRY(applied_work_ensure(a, rc->name, rc->arena, ret, rc->err));
        memory->owner_known = true;
        memory->owner_gone = false;
        return 0;
}

static struct outcome reconcile_present(struct reconcile *rc, struct member_agent *a, struct source *s)
{
        struct pass p = {
                .agent = a, .arena = rc->arena, .log = &rc->log, .now_ms = rc->now_ms, .name = rc->name
        };

        struct work_memory *memory = map_get(&a->memory, rc->name);

        if (memory)
                memory->gone_since_ms = 0;
        if (s->seen && !has_finalizer(&s->seen->object.meta) && add_finalizer(rc, a, s) < 0)
                return failed(rc->err);
        if (load_work(a, rc->name, rc->arena, s, rc->err) < 0)
                return failed(rc->err);
        if (!informer_synced(a->works) && !informer_get(a->applied_works, NULL, rc->name))
                return wait_for_hub(
                        &p); /* somebody removed it, or it never was: both are for the hub to say */
        if (find_owner(rc, a, &p.applied_work) < 0)
                return failed(rc->err);
        if (p.applied_work->meta.deletion_ms != TIME_NONE)
                return again_after(
                        NEXT_TRY_MS); /* someone deleted it: its going wakes us, then all is made anew */
        p.work = s->whole;
        p.owner = (struct owner){ rc->name, p.applied_work->meta.uid };
        return run_pass(rc, &p, s);
}

static struct outcome reconcile_joined(struct reconcile *rc, struct member_agent *a)
{
        struct source s = { 0 };
        const struct object *seen = informer_get(a->works, a->ns, rc->name);
        struct stored_work stored;

        if (!seen && informer_synced(a->works))
                return work_gone(rc, a);
        if (!seen && store_work_get(a->store, rc->name, rc->arena, &stored, rc->err) < 0)
                return rc->err->code == ERR_NOT_FOUND ? done() : failed(rc->err);
        if (seen) {
                object_ref(seen);
                if (arena_defer(rc->arena, unref, (void *)(uintptr_t)seen) < 0) {
                        error_no_memory(rc->err);
                        return failed(rc->err);
                }
                s.seen = (const struct work *)(const void *)seen;
        }
        if (seen && seen->meta.deletion_ms != TIME_NONE)
                return work_delete(rc, a, seen);
        return reconcile_present(rc, a, &s);
}

static struct outcome reconcile_work(struct reconcile *rc)
{
        struct member_agent *a = rc->agent;
        struct outcome o;

        if (!a->joined)
                return done(); /* joining puts all Works on the queue */
        a->busy++;
        o = reconcile_joined(rc, a);
        if (--a->busy == 0)
                waitq_wake_all(&a->idle);
        return o;
}

const struct controller work_applier_controller = {
        .name = "work-applier",
        .reconcile = reconcile_work,
        .concurrency = 16,
        .backoff_base_ms = 20,
        .backoff_max_ms = 30000,
};
