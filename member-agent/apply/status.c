#include "member-agent/apply/status.h"

#include "common/base/map.h"
#include "common/base/timefmt.h"

struct builder {
        const struct status_input *in;
        struct arena *arena;
        struct map before; /* identity -> const struct manifest_condition */
        struct error *err;
};

static int put(struct builder *b, struct condition_list *list, const char *type, bool status,
               const char *reason, const char *message, int64_t generation)
{
        struct condition c = { .type = type,
                               .status = status ? "True" : "False",
                               .reason = reason,
                               .message = message,
                               .observed_generation = { .set = true, .value = generation } };

        if (!message)
                return error_no_memory(b->err);
        return condition_set(list, &c, b->in->now_ms, b->arena) < 0 ? error_no_memory(b->err) : 0;
}

/* ---- one manifest ---- */

static int applied_condition(struct builder *b, struct condition_list *list, const struct manifest *m)
{
        const char *word = result_word(m->result);

        if (m->result == RESULT_APPLIED)
                return put(b, list, "Applied", true, word, "Manifest has been applied successfully",
                           m->live_generation);
        if (m->result == RESULT_APPLIED_DRIFT_DETECTION_FAILED)
                return put(b, list, "Applied", true, word, word, m->live_generation);
        if (m->result > RESULT_NONE && m->result < RESULT_APPLIED)
                return put(b, list, "Applied", false, word,
                           arena_printf(b->arena, "Failed to apply the manifest (error: %s)", m->cause),
                           m->live_generation);
        return put(b, list, "Applied", false, result_word(RESULT_APPLY_FAILED),
                   arena_printf(b->arena, "An unexpected apply result is yielded (%s, error: %s)", word,
                                m->cause),
                   m->live_generation);
}

static const char *not_yet_words(struct builder *b, const struct manifest *m)
{
        static const char words[] = "Manifest is not yet available; Fleet will check again later";

        return text_empty(m->availability_cause)
                       ? words
                       : arena_printf(b->arena, "%s (%s)", words, m->availability_cause);
}

static int available_condition(struct builder *b, struct condition_list *list, const struct manifest *m)
{
        const char *word = availability_word(m->availability);

        switch (m->availability) {
        case AVAILABILITY_SKIPPED:
                condition_remove(list, "Available");
                return 0;
        case AVAILABILITY_AVAILABLE:
                return put(b, list, "Available", true, word, "Manifest is available", m->live_generation);
        case AVAILABILITY_NOT_YET:
                return put(b, list, "Available", false, word, not_yet_words(b, m), m->live_generation);
        case AVAILABILITY_NOT_TRACKABLE:
                return put(b, list, "Available", true, word,
                           "Manifest's availability is not trackable; Fleet assumes that the applied "
                           "manifest is available",
                           m->live_generation);
        case AVAILABILITY_FAILED:
                break;
        }
        return put(b, list, "Available", false, word,
                   arena_printf(b->arena,
                                "Failed to track the availability of the applied manifest (error = %s)",
                                m->availability_cause),
                   m->live_generation);
}

static int diff_condition(struct builder *b, struct condition_list *list, const struct manifest *m)
{
        const char *word = result_word(m->result), *failed = result_word(RESULT_FAILED_TO_REPORT_DIFF);

        switch (m->result) {
        case RESULT_NO_DIFF:
                return put(b, list, "DiffReported", true, word,
                           "No diff has been found between the hub cluster and the member cluster",
                           m->live_generation);
        case RESULT_FOUND_DIFF:
                return put(b, list, "DiffReported", true, word,
                           "Diff has been found between the hub cluster and the member cluster",
                           m->live_generation);
        case RESULT_FOUND_DIFF_DEGRADED:
                return put(b, list, "DiffReported", true, word,
                           "Diff has been found in degraded mode: the manifest object is considered to be "
                           "invalid by the "
                           "member cluster API server, so a full comparison was performed",
                           m->live_generation);
        case RESULT_FAILED_TO_REPORT_DIFF:
                return put(b, list, "DiffReported", false, failed,
                           arena_printf(
                                   b->arena,
                                   "Failed to report the diff between the hub cluster and the member cluster "
                                   "(error = %s)",
                                   m->cause),
                           m->live_generation);
        default:
                return put(b, list, "DiffReported", false, failed,
                           arena_printf(b->arena,
                                        "An error blocks the diff reporting process (%s, error: %s)", word,
                                        m->cause),
                           m->live_generation);
        }
}

/* Details hold the first differences only: of more than these the condition tells how many there are. */
static int say_cut(struct builder *b, struct condition_list *list, const char *type, const struct manifest *m)
{
        const struct differences *d = m->drifts ? m->drifts : m->diffs;

        for (uint32_t i = 0; d && d->total > d->n && i < list->n; i++) {
                struct condition *c = &list->at[i];

                if (!text_equal(c->type, type))
                        continue;
                c->message = arena_printf(b->arena, "%s; the first %zu of %zu differences are listed",
                                          c->message, d->n, d->total);
                if (!c->message)
                        return error_no_memory(b->err);
        }
        return 0;
}

static int manifest_conditions(struct builder *b, struct condition_list *list, const struct manifest *m)
{
        if (b->in->report_diff) {
                condition_remove(list, "Applied");
                condition_remove(list, "Available");
                TRY(diff_condition(b, list, m));
                return say_cut(b, list, "DiffReported", m);
        }
        condition_remove(list, "DiffReported");
        TRY(applied_condition(b, list, m));
        TRY(say_cut(b, list, "Applied", m));
        return available_condition(b, list, m);
}

/* ---- details ---- */

static struct patch_detail *details_of(struct builder *b, const struct differences *d)
{
        struct patch_detail *at = ARENA_NEW_ARRAY(b->arena, struct patch_detail, d->n + 1);

        for (size_t i = 0; at && i < d->n; i++) {
                at[i].path = d->at[i].path;
                at[i].value_in_hub = text_empty(d->at[i].hub) ? NULL : d->at[i].hub;
                at[i].value_in_member = text_empty(d->at[i].member) ? NULL : d->at[i].member;
        }
        return at;
}

static int64_t earliest(int64_t a, int64_t b, int64_t now)
{
        if (a == TIME_NONE)
                a = now;
        return b == TIME_NONE ? a : MIN(a, b);
}

static int drift_details(struct builder *b, struct manifest_condition *c, const struct manifest *m,
                         const struct manifest_condition *before)
{
        int64_t known = b->in->first_drift_ms ? b->in->first_drift_ms[m->ordinal] : TIME_NONE;
        struct drift_details *d;

        c->drift_details = NULL;
        if (!m->drifts || m->drifts->n == 0)
                return 0;
        if (!(d = ARENA_NEW(b->arena, struct drift_details)) ||
            !(d->observed_drifts.at = details_of(b, m->drifts)))
                return error_no_memory(b->err);
        d->observed_drifts.n = (uint32_t)m->drifts->n;
        d->observed_drifts.set = true;
        d->observation_time = b->in->now_ms;
        d->first_drifted_observed_time =
                earliest(known,
                         before && before->drift_details ? before->drift_details->first_drifted_observed_time
                                                         : TIME_NONE,
                         b->in->now_ms);
        d->observed_in_member_cluster_generation =
                (struct opt_int){ .set = true, .value = m->live_generation };
        c->drift_details = d;
        return 0;
}

static int diff_details(struct builder *b, struct manifest_condition *c, const struct manifest *m,
                        const struct manifest_condition *before)
{
        int64_t known = b->in->first_diff_ms ? b->in->first_diff_ms[m->ordinal] : TIME_NONE;
        struct diff_details *d;

        c->diff_details = NULL;
        if (!m->diffs || m->diffs->n == 0)
                return 0;
        if (!(d = ARENA_NEW(b->arena, struct diff_details)) ||
            !(d->observed_diffs.at = details_of(b, m->diffs)))
                return error_no_memory(b->err);
        d->observed_diffs.n = (uint32_t)m->diffs->n;
        d->observed_diffs.set = true;
        d->observation_time = b->in->now_ms;
        d->first_diffed_observed_time = earliest(
                known,
                before && before->diff_details ? before->diff_details->first_diffed_observed_time : TIME_NONE,
                b->in->now_ms);
        d->observed_in_member_cluster_generation =
                (struct opt_int){ .set = m->live_exists, .value = m->live_generation };
        c->diff_details = d;
        return 0;
}

static int back_reported(struct builder *b, struct manifest_condition *c, const struct manifest *m)
{
        if (!b->in->mirror) {
                c->back_reported_status = NULL;
                return 0;
        }
        if (!m->observed_status.data)
                return 0;
        if (!(c->back_reported_status = ARENA_NEW(b->arena, struct back_reported_status)))
                return error_no_memory(b->err);
        c->back_reported_status->observation_time = b->in->now_ms;
        c->back_reported_status->observed_status = m->observed_status;
        return 0;
}

/* ---- entries ---- */

static const char *none_if_empty(const char *s)
{
        return text_empty(s) ? NULL : s;
}

static const char *identity_of(struct builder *b, const struct manifest_condition *c)
{
        const struct work_resource_identifier *i = c->identifier;

        if (!i || (text_empty(i->group) && text_empty(i->version)))
                return NULL;
        return manifest_identity(b->arena, i->group, i->version, i->kind, i->ns, i->name);
}

static int index_before(struct builder *b)
{
        const struct work_status *s = b->in->before;

        for (uint32_t i = 0; s && i < s->manifest_conditions.n; i++) {
                const char *identity = identity_of(b, &s->manifest_conditions.at[i]);

                if (identity && map_put(&b->before, identity, &s->manifest_conditions.at[i]) < 0)
                        return error_no_memory(b->err);
        }
        return 0;
}

static int copy_conditions(struct builder *b, struct condition_list *to, const struct condition_list *from)
{
        to->set = true;
        to->n = from ? from->n : 0;
        to->at = to->n ? arena_memdup(b->arena, from->at, to->n * sizeof(*to->at)) : NULL;
        return to->n && !to->at ? error_no_memory(b->err) : 0;
}

static int identify(struct builder *b, struct manifest_condition *c, const struct manifest *m)
{
        struct work_resource_identifier *i = ARENA_NEW(b->arena, struct work_resource_identifier);

        if (!i)
                return error_no_memory(b->err);
        i->ordinal = (struct opt_int){ .set = true, .value = m->ordinal };
        i->group = none_if_empty(m->group);
        i->version = none_if_empty(m->version);
        i->kind = none_if_empty(m->kind);
        i->resource = none_if_empty(m->resource.plural);
        i->ns = none_if_empty(m->ns);
        i->name = none_if_empty(m->name);
        c->identifier = i;
        return 0;
}

static int build_entry(struct builder *b, const struct manifest *m, struct manifest_condition *c)
{
        /* A duplicate must not inherit, and so disturb, the history of the first occurrence. */
        const struct manifest_condition *before =
                m->identity && m->result != RESULT_DUPLICATED ? map_get(&b->before, m->identity) : NULL;

        if (before)
                *c = *before;
        TRY(copy_conditions(b, &c->conditions, before ? &before->conditions : NULL));
        TRY(identify(b, c, m));
        TRY(manifest_conditions(b, &c->conditions, m));
        TRY(drift_details(b, c, m, before));
        TRY(diff_details(b, c, m, before));
        return back_reported(b, c, m);
}

/* ---- the Work as a whole ---- */

struct counts {
        size_t applied, available, untrackable, reported;
};

static struct counts count(const struct status_input *in)
{
        struct counts n = { 0 };

        for (size_t i = 0; i < in->n; i++) {
                const struct manifest *m = &in->manifests[i];

                n.applied += result_is_applied(m->result);
                n.available += m->availability == AVAILABILITY_AVAILABLE ||
                               m->availability == AVAILABILITY_NOT_TRACKABLE;
                n.untrackable += m->availability == AVAILABILITY_NOT_TRACKABLE;
                n.reported += m->result == RESULT_FOUND_DIFF || m->result == RESULT_NO_DIFF ||
                              m->result == RESULT_FOUND_DIFF_DEGRADED;
        }
        return n;
}

static int diff_of_work(struct builder *b, struct condition_list *list, const struct counts *n,
                        int64_t generation)
{
        condition_remove(list, "Applied");
        condition_remove(list, "Available");
        if (n->reported == b->in->n)
                return put(b, list, "DiffReported", true, "AllManifestsDiffReported",
                           "All the specified manifests have reported diff", generation);
        return put(b, list, "DiffReported", false, "SomeManifestsHaveNotReportedDiff",
                   arena_printf(
                           b->arena,
                           "Failed to report diff on all manifests (%zu of %zu manifests have reported diff)",
                           n->reported, b->in->n),
                   generation);
}

static int available_of_work(struct builder *b, struct condition_list *list, const struct counts *n,
                             int64_t generation)
{
        if (n->available < b->in->n)
                return put(
                        b, list, "Available", false, "SomeManifestsAreNotAvailable",
                        arena_printf(b->arena,
                                     "Some manifests are not available (%zu of %zu manifests are available)",
                                     n->available, b->in->n),
                        generation);
        if (n->untrackable > 0)
                return put(b, list, "Available", true, "WorkNotTrackable",
                           "Some of the applied manifests cannot be tracked for availability", generation);
        return put(b, list, "Available", true, "AllManifestsAvailable",
                   "All of the applied manifests are available", generation);
}

static int work_conditions(struct builder *b, struct condition_list *list)
{
        int64_t generation = b->in->work->object.meta.generation;
        struct counts n = count(b->in);

        if (b->in->report_diff)
                return diff_of_work(b, list, &n, generation);
        condition_remove(list, "DiffReported");
        if (n.applied == b->in->n) {
                TRY(put(b, list, "Applied", true, "AllManifestsApplied",
                        "All the specified manifests have been applied", generation));
                return available_of_work(b, list, &n, generation);
        }
        condition_remove(list, "Available");
        return put(b, list, "Applied", false, "SomeManifestsAreNotApplied",
                   arena_printf(b->arena, "Failed to apply all manifests (%zu of %zu manifests are applied)",
                                n.applied, b->in->n),
                   generation);
}

/* ---- size ---- */

static int summarise(struct builder *b, struct patch_detail **at, uint32_t *n)
{
        struct patch_detail *one = ARENA_NEW(b->arena, struct patch_detail);

        if (!one)
                return error_no_memory(b->err);
        one->path = *n > 1 ? arena_printf(b->arena, "%s and %u more path(s)", (*at)[0].path, *n - 1)
                           : (*at)[0].path;
        one->value_in_hub = one->value_in_member = "(omitted)";
        if (!one->path)
                return error_no_memory(b->err);
        *at = one;
        *n = 1;
        return 0;
}

static int trim(struct builder *b, struct work_status *s)
{
        for (uint32_t i = 0; i < s->manifest_conditions.n; i++) {
                struct manifest_condition *c = &s->manifest_conditions.at[i];

                if (c->drift_details && c->drift_details->observed_drifts.n > 0)
                        TRY(summarise(b, &c->drift_details->observed_drifts.at,
                                      &c->drift_details->observed_drifts.n));
                if (c->diff_details && c->diff_details->observed_diffs.n > 0)
                        TRY(summarise(b, &c->diff_details->observed_diffs.at,
                                      &c->diff_details->observed_diffs.n));
                c->back_reported_status = NULL;
        }
        return 0;
}

static int fit(struct builder *b, struct work_status *s)
{
        struct work sized = { .object = b->in->work->object, .status = s };
        struct buf text AUTO_BUF;
        size_t size;

        buf_init(&text, 4 * WORK_SIZE_LIMIT);
        if (object_encode(&sized.object, &text) < 0 && text.failed != ERR_LIMIT)
                return error_no_memory(b->err);
        size = text.len + b->in->work_bytes;
        condition_remove(&s->conditions, "StatusTrimmed");
        if (size <= WORK_SIZE_LIMIT)
                return 0;
        TRY(trim(b, s));
        return put(b, &s->conditions, "StatusTrimmed", true, "Oversized",
                   arena_printf(b->arena,
                                "The status data (drift/diff details and back-reported status) has been "
                                "trimmed due to size "
                                "constraints (%zu bytes over limit %d)",
                                size - WORK_SIZE_LIMIT, WORK_SIZE_LIMIT),
                   b->in->work->object.meta.generation);
}

/* ---- all of it ---- */

static int build(struct builder *b, struct work_status *s)
{
        const struct status_input *in = b->in;

        TRY(index_before(b));
        TRY(copy_conditions(b, &s->conditions, in->before ? &in->before->conditions : NULL));
        s->manifest_conditions.at = ARENA_NEW_ARRAY(b->arena, struct manifest_condition, in->n + 1);
        if (!s->manifest_conditions.at)
                return error_no_memory(b->err);
        s->manifest_conditions.n = (uint32_t)in->n;
        s->manifest_conditions.set = in->n > 0;
        for (size_t i = 0; i < in->n; i++)
                TRY(build_entry(b, &in->manifests[i], &s->manifest_conditions.at[i]));
        TRY(work_conditions(b, &s->conditions));
        return fit(b, s);
}

int status_build(const struct status_input *in, struct arena *arena, struct work_status **ret,
                 struct error *err)
{
        struct builder b = { .in = in, .arena = arena, .err = err };
        struct work_status *s = ARENA_NEW(arena, struct work_status);
        int r;

        if (!s)
                return error_no_memory(err);
        map_init(&b.before, MAP_BORROW_KEYS, NULL);
        r = build(&b, s);
        map_free(&b.before);
        if (r == 0)
                *ret = s;
        return r;
}

bool status_is_settled(const struct work_status *s, int64_t generation)
{
        return s && (condition_is_true(&s->conditions, "Available", generation) ||
                     condition_is_true(&s->conditions, "DiffReported", generation));
}

uint64_t status_results_hash(const struct manifest *manifests, size_t n)
{
        uint64_t hash = n;

        for (size_t i = 0; i < n; i++) {
                uint32_t pair[2] = { (uint32_t)manifests[i].result, (uint32_t)manifests[i].availability };

                hash = hash_bytes(pair, sizeof(pair), hash);
        }
        return hash;
}
