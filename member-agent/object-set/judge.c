#include "member-agent/object-set/judge.h"

#define HINDRANCE_RETRY_MS 10000
#define TEARDOWN_RETRY_MS 5000
#define AT_ONCE_MS 1
#define NO_DEADLINE INT64_MAX

struct judgement {
        const struct judge_input *in;
        const struct condition *progressing, *available; /* before; NULL = absent */
        bool succeeded;                                  /* before */
        int64_t left_ms;                                 /* to the deadline */
        struct arena *arena;
        struct judge_result *out;
        struct error *err;
};

/* ---- the deadline: 11 ---- */

int64_t judge_deadline_ms(const struct cluster_object_set *s, int64_t now_ms)
{
        const struct object_meta *m = &s->object.meta;
        int64_t minutes = s->spec ? s->spec->progress_deadline_minutes.value : 0;

        if (minutes <= 0 || set_has_succeeded(s) || set_is_archived(s) || m->deletion_ms != TIME_NONE ||
            m->creation_ms == TIME_NONE)
                return NO_DEADLINE;
        return m->creation_ms + minutes * 60000 - now_ms;
}

static bool is_ahead(const struct judgement *j)
{
        return j->left_ms > 0 && j->left_ms != NO_DEADLINE;
}

static bool was_exceeded(const struct judgement *j)
{
        return j->progressing && text_equal(j->progressing->reason, REASON_SET_DEADLINE_EXCEEDED);
}

/* ---- words ---- */

static const struct object_set_phase_list *phases_of(const struct cluster_object_set *s)
{
        static const struct object_set_phase_list none;

        return s->spec ? &s->spec->phases : &none;
}

/* A message of more characters than a condition may have would be refused with the whole status. */
static const char *fitting(struct judgement *j, const char *message)
{
        static const size_t room_for_the_rest = 40;
        size_t characters = 0, kept = 0;

        for (const char *c = message; *c; c++) {
                bool begins = ((unsigned char)*c & 0xc0) != 0x80;

                if (begins && characters == CONDITION_MESSAGE_MAX - room_for_the_rest)
                        kept = (size_t)(c - message);
                characters += begins;
        }
        if (characters <= CONDITION_MESSAGE_MAX)
                return message;
        return arena_printf(j->arena, "%.*s… (%zu more characters)", (int)kept, message,
                            characters - (CONDITION_MESSAGE_MAX - room_for_the_rest));
}

static const char *rolling_out(struct judgement *j)
{
        const char *version = set_version_words(j->in->set, j->arena);

        return version ? arena_printf(j->arena, "Revision %s is rolling out.", version) : NULL;
}

static const char *rolling_out_where(struct judgement *j)
{
        const struct object_set_phase_list *phases = phases_of(j->in->set);
        const char *version = set_version_words(j->in->set, j->arena);

        if (j->in->phase >= phases->n || !version)
                return rolling_out(j);
        return arena_printf(j->arena, MESSAGE_SET_ROLLING_OUT, version, phases->at[j->in->phase].name,
                            j->in->phase + 1, (size_t)phases->n);
}

static const char *rolled_out(struct judgement *j)
{
        const char *version = set_version_words(j->in->set, j->arena);

        return version ? arena_printf(j->arena, MESSAGE_SET_ROLLED_OUT, version) : NULL;
}

static const char *removing(struct judgement *j)
{
        if (text_empty(j->in->words))
                return MESSAGE_SET_REMOVING;
        return arena_printf(j->arena, MESSAGE_SET_REMOVING ": %s", j->in->words);
}

/* ---- conditions: 14.1 ---- */

static int put(struct judgement *j, const char *type, const char *status, const char *reason,
               const char *message)
{
        struct condition c = { .type = type,
                               .status = status,
                               .reason = reason,
                               .message = message ? fitting(j, message) : NULL,
                               .observed_generation = OPT_INT(j->in->set->object.meta.generation) };
        int r = c.message ? condition_set(&j->out->status->conditions, &c, j->in->now_ms, j->arena)
                          : ERR_NO_MEMORY;

        if (r < 0)
                return error_no_memory(j->err);
        j->out->differs |= r > 0;
        return 0;
}

/* Under way: until the deadline, and after it with that in front. */
static int put_under_way(struct judgement *j, const char *reason, const char *message)
{
        if (j->left_ms > 0 || !message)
                return put(j, CONDITION_PROGRESSING, CONDITION_TRUE, reason, message);
        return put(j, CONDITION_PROGRESSING, CONDITION_FALSE, REASON_SET_DEADLINE_EXCEEDED,
                   arena_printf(j->arena, MESSAGE_SET_DEADLINE_EXCEEDED,
                                (long long)j->in->set->spec->progress_deadline_minutes.value, message));
}

/* Nothing could be seen of the objects: what was said of them is not known to hold any more. */
static int put_retrying(struct judgement *j, const char *message)
{
        TRY(put_under_way(j, REASON_SET_RETRYING, message));
        return j->available ? put(j, CONDITION_AVAILABLE, CONDITION_UNKNOWN, REASON_SET_RECONCILING, message)
                            : 0;
}

static const char *rolling_out_to_where(struct judgement *j)
{
        const char *where = rolling_out_where(j);

        return where && j->in->ahead ? arena_printf(j->arena, "%s %s", where, j->in->ahead) : where;
}

static int put_incomplete(struct judgement *j)
{
        TRY(put_under_way(j, REASON_SET_ROLLING_OUT, rolling_out_to_where(j)));
        if (text_empty(j->in->words))
                return put(j, CONDITION_AVAILABLE, CONDITION_FALSE, REASON_SET_ROLLING_OUT, rolling_out(j));
        return put(j, CONDITION_AVAILABLE, CONDITION_FALSE, REASON_SET_PROBE_FAILURE, j->in->words);
}

static int put_complete(struct judgement *j)
{
        TRY(put(j, CONDITION_PROGRESSING, CONDITION_TRUE, REASON_SET_SUCCEEDED, rolled_out(j)));
        TRY(put(j, CONDITION_AVAILABLE, CONDITION_TRUE, REASON_SET_PROBES_SUCCEEDED, MESSAGE_SET_AVAILABLE));
        return put(j, CONDITION_SUCCEEDED, CONDITION_TRUE, REASON_SET_SUCCEEDED, MESSAGE_SET_SUCCEEDED);
}

static int put_archived(struct judgement *j)
{
        TRY(put(j, CONDITION_PROGRESSING, CONDITION_FALSE, REASON_SET_ARCHIVED, MESSAGE_SET_ARCHIVED));
        return put(j, CONDITION_AVAILABLE, CONDITION_UNKNOWN, REASON_SET_ARCHIVED, MESSAGE_SET_ARCHIVED);
}

static int put_conditions(struct judgement *j)
{
        switch (j->in->finding) {
        case FOUND_RESOLVED:
                return 0;
        case FOUND_COMPLETE:
                return put_complete(j);
        case FOUND_INCOMPLETE:
                return put_incomplete(j);
        case FOUND_ERROR:
        case FOUND_REFUSED:
        case FOUND_COLLISION:
                return put_retrying(j, j->in->words);
        case FOUND_BLOCKED:
                return put(j, CONDITION_PROGRESSING, CONDITION_FALSE, REASON_SET_BLOCKED, j->in->words);
        case FOUND_TEARING_DOWN:
                return put_retrying(j, removing(j));
        case FOUND_ARCHIVED:
                return put_archived(j);
        }
        UNREACHABLE();
}

/* ---- what the phases hold: 6.4 ---- */

static int note_digests(struct judgement *j)
{
        const struct set_phases *now = j->in->now;
        struct observed_phase_list *list = &j->out->status->observed_phases;

        if (!now || now->n == 0 || list->n > 0)
                return 0;
        if (!(list->at = ARENA_NEW_ARRAY(j->arena, struct observed_phase, now->n)))
                return error_no_memory(j->err);
        for (size_t i = 0; i < now->n; i++)
                list->at[i] = (struct observed_phase){ now->at[i].name, now->at[i].digest };
        list->n = (uint32_t)now->n;
        list->set = true;
        j->out->differs = true;
        return 0;
}

/* ---- the next look: 15 ---- */

static void look_again(struct judgement *j)
{
        struct judge_result *out = j->out;

        switch (j->in->finding) {
        case FOUND_INCOMPLETE:
                out->after_ms = is_ahead(j) ? j->left_ms : 0;
                break;
        case FOUND_ERROR:
                out->backoff = true;
                out->after_ms = is_ahead(j)                           ? j->left_ms
                                : j->left_ms <= 0 && !was_exceeded(j) ? AT_ONCE_MS
                                                                      : 0;
                break;
        case FOUND_REFUSED:
        case FOUND_COLLISION:
                out->after_ms = is_ahead(j) ? MIN(j->left_ms, HINDRANCE_RETRY_MS) : HINDRANCE_RETRY_MS;
                break;
        case FOUND_TEARING_DOWN:
                out->after_ms = TEARDOWN_RETRY_MS;
                break;
        default:
                break;
        }
}

/* ---- events: 18 ---- */

static void tell(struct judgement *j, bool warning, const char *reason, const char *message)
{
        ASSERT(j->out->n_events < ARRAY_LEN(j->out->events));
        j->out->events[j->out->n_events++] = (struct judge_event){ warning, reason, message };
}

static int tell_of_phases(struct judgement *j)
{
        const struct object_set_phase_list *phases = phases_of(j->in->set);
        size_t first = j->in->phase_before, end = j->in->finding == FOUND_COMPLETE ? phases->n : j->in->phase;
        const char *names = "";

        if (j->succeeded || first == JUDGE_NO_PHASE || end == JUDGE_NO_PHASE || first >= end)
                return 0;
        end = MIN(end, phases->n);
        for (size_t i = first; names && i < end; i++)
                names = arena_printf(j->arena, "%s%s\"%s\"", names, i > first ? ", " : "",
                                     phases->at[i].name);
        if (names)
                names = arena_printf(j->arena, "%s %s complete (%zu/%u)", names,
                                     end - first > 1 ? "are" : "is", end, phases->n);
        if (!names)
                return error_no_memory(j->err);
        tell(j, false, EVENT_SET_PHASE_COMPLETED, names);
        return 0;
}

/* Whether other words stand in Progressing now; that the deadline has passed is news of its own. */
static bool is_news(struct judgement *j, const struct condition *now)
{
        const char *before = j->progressing ? or_empty(j->progressing->message) : "",
                   *words = fitting(j, j->in->words);

        return !text_equal(before, now->message) && !(words && text_equal(before, words));
}

static int tell_changes(struct judgement *j)
{
        const struct condition *now = condition_find(&j->out->status->conditions, CONDITION_PROGRESSING);
        const char *reason_before = j->progressing ? j->progressing->reason : NULL;

        TRY(tell_of_phases(j));
        if (j->in->finding == FOUND_COMPLETE && !j->succeeded)
                tell(j, false, EVENT_SET_ROLLED_OUT, now->message);
        if (j->in->finding == FOUND_ARCHIVED && !text_equal(reason_before, REASON_SET_ARCHIVED))
                tell(j, false, EVENT_SET_ARCHIVED, now->message);
        if (j->in->finding == FOUND_COLLISION && is_news(j, now))
                tell(j, true, EVENT_SET_COLLISION, j->in->words);
        if (j->in->finding == FOUND_REFUSED && is_news(j, now))
                tell(j, true, EVENT_SET_PREFLIGHT_FAILED, j->in->words);
        if (j->in->finding == FOUND_BLOCKED && is_news(j, now))
                tell(j, true, EVENT_SET_BLOCKED, j->in->words);
        if (now && text_equal(now->reason, REASON_SET_DEADLINE_EXCEEDED) && !was_exceeded(j))
                tell(j, true, EVENT_SET_DEADLINE_EXCEEDED, now->message);
        return 0;
}

/* ---- the whole ---- */

/* One whose lists may be changed. */
static struct cluster_object_set_status *status_of(const struct cluster_object_set *s, struct arena *arena)
{
        struct cluster_object_set_status *status = ARENA_NEW(arena, struct cluster_object_set_status);
        struct condition_list *list;

        if (!status || !s->status)
                return status;
        *status = *s->status;
        list = &status->conditions;
        if (list->n > 0)
                list->at = arena_memdup(arena, list->at, list->n * sizeof(*list->at));
        return list->n > 0 && !list->at ? NULL : status;
}

int judge_set(const struct judge_input *in, struct arena *arena, struct judge_result *ret, struct error *err)
{
        struct judgement j = { .in = in,
                               .progressing = set_find_condition(in->set, CONDITION_PROGRESSING),
                               .available = set_find_condition(in->set, CONDITION_AVAILABLE),
                               .succeeded = set_has_succeeded(in->set),
                               .left_ms = judge_deadline_ms(in->set, in->now_ms),
                               .arena = arena,
                               .out = ret,
                               .err = err };

        *ret = (struct judge_result){ .status = status_of(in->set, arena) };
        if (!ret->status)
                return error_no_memory(err);
        TRY(note_digests(&j));
        TRY(put_conditions(&j));
        look_again(&j);
        return tell_changes(&j);
}
