#include <stdlib.h>

#include "common/base/digest.h"
#include "hub-agent/placement/snapshots.h"

void selection_hash(struct selection *s)
{
        struct sha256 sha;
        uint8_t raw[SHA256_SIZE];

        sha256_init(&sha);
        sha256_update(&sha, "{\"selectedResources\":[", 22);
        for (size_t i = 0; i < s->n; i++) {
                if (i)
                        sha256_update(&sha, ",", 1);
                sha256_update(&sha, s->resources[i].data, s->resources[i].len - 1); /* without the newline */
        }
        sha256_update(&sha, "]}", 2);
        sha256_final(&sha, raw);
        text_hex_encode(raw, sizeof(raw), s->hash);
}

bool is_snapshot_head(const struct object *snapshot)
{
        return !text_empty(annotation_of(snapshot, ANNOTATION_RESOURCE_HASH));
}

bool resource_snapshot_was_edited(const struct object *snapshot)
{
        return snapshot->meta.generation > 1;
}

bool resource_group_is_whole(const struct object_list *existing, const struct object *head)
{
        const char *index = label_of(head, LABEL_RESOURCE_INDEX);
        int64_t expected, n = 0;

        if (annotation_number(head, ANNOTATION_NUMBER_OF_RESOURCE_SNAPSHOTS, &expected, NULL) < 0)
                return false;
        for (size_t i = 0; i < existing->n; i++)
                n += text_equal(label_of(existing->at[i], LABEL_RESOURCE_INDEX), index);
        return n == expected;
}

/* A member of a group: the head comes first, then by sub-index. */
struct member {
        const struct object *o;
        int64_t index, sub; /* sub -1 = head */
};

static int by_place(const void *a, const void *b)
{
        const struct member *x = a, *y = b;

        if (x->index != y->index)
                return x->index < y->index ? -1 : 1;
        return x->sub < y->sub ? -1 : x->sub > y->sub;
}

static int sorted(struct arena *arena, const struct object_list *existing, struct member **ret,
                  struct error *err)
{
        struct member *list = ARENA_NEW_ARRAY(arena, struct member, existing->n + 1);

        if (!list)
                return error_no_memory(err);
        for (size_t i = 0; i < existing->n; i++) {
                list[i] = (struct member){ .o = existing->at[i], .sub = -1 };
                TRY(label_number(list[i].o, LABEL_RESOURCE_INDEX, &list[i].index, err));
                if (!is_snapshot_head(list[i].o))
                        TRY(annotation_number(list[i].o, ANNOTATION_RESOURCE_SUBINDEX, &list[i].sub, err));
        }
        qsort(list, existing->n, sizeof(list[0]), by_place);
        for (size_t i = 1; i < existing->n; i++)
                if (list[i].index == list[i - 1].index && list[i].sub == list[i - 1].sub)
                        return error_set(err, ERR_INVALID,
                                         "resource snapshots \"%s\" and \"%s\" hold the same place",
                                         list[i - 1].o->meta.name, list[i].o->meta.name);
        *ret = list;
        return 0;
}

static bool is_staying_head(const struct object *o)
{
        return is_snapshot_head(o) && !is_deleting(o);
}

static bool is_marked(const struct object *o)
{
        return label_is_true(o, LABEL_IS_LATEST_SNAPSHOT) && is_staying_head(o);
}

bool one_resource_snapshot_is_latest(const struct object_list *existing)
{
        size_t n = 0;

        for (size_t i = 0; i < existing->n; i++)
                n += is_marked(existing->at[i]);
        return n <= 1;
}

static const struct resource_snapshot *newest(const struct object_list *existing, bool marked)
{
        const struct object *best = NULL;
        int64_t best_index = -1;

        for (size_t i = 0; i < existing->n; i++) {
                const struct object *o = existing->at[i];
                int64_t index;

                if (marked ? !is_marked(o) : !is_staying_head(o))
                        continue;
                if (label_number(o, LABEL_RESOURCE_INDEX, &index, NULL) < 0 || index <= best_index)
                        continue;
                best = o;
                best_index = index;
        }
        return (const struct resource_snapshot *)best;
}

const struct resource_snapshot *latest_resource_snapshot(const struct object_list *existing)
{
        return newest(existing, true);
}

const struct resource_snapshot *newest_resource_snapshot(const struct object_list *existing)
{
        return newest(existing, false);
}

/* Length of the part that begins at `from`: as many resources as fit, at least one. */
static size_t part_length(const struct selection *s, size_t from)
{
        size_t bytes = 0, i = from;

        while (i < s->n && (i == from || bytes + s->resources[i].len <= SNAPSHOT_BYTES_MAX))
                bytes += s->resources[i++].len;
        return i - from;
}

static size_t count_parts(const struct selection *s)
{
        size_t parts = 0;

        for (size_t at = 0; at < s->n; at += part_length(s, at))
                parts++;
        return MAX(parts, 1);
}

static struct resource_snapshot *make(struct arena *arena, const struct placement *p, const char *name,
                                      int64_t index, const struct selection *s, size_t from)
{
        const struct scope *scope = scope_of(p->object.meta.ns);
        struct resource_snapshot *r = name ? (struct resource_snapshot *)object_new(
                                                     scope->resource_snapshot, p->object.meta.ns, name, arena)
                                           : NULL;
        size_t n = part_length(s, from);

        if (!r || !(r->spec = ARENA_NEW(arena, struct resource_snapshot_spec)))
                return NULL;
        r->spec->selected_resources = (struct raw_list){ s->resources + from, (uint32_t)n, true };
        if (set_label(&r->object, LABEL_PARENT_PLACEMENT, p->object.meta.name, arena) < 0 ||
            set_label(&r->object, LABEL_RESOURCE_INDEX, number_text(arena, index), arena) < 0 ||
            set_owner(&r->object, &p->object, true, arena) < 0)
                return NULL;
        return r;
}

static struct resource_snapshot *make_head(struct arena *arena, const struct placement *p, int64_t index,
                                           const struct selection *s)
{
        struct resource_snapshot *r = make(
                arena, p, arena_printf(arena, NAME_RESOURCE_SNAPSHOT, p->object.meta.name, (long long)index),
                index, s, 0);

        if (!r || set_label(&r->object, LABEL_IS_LATEST_SNAPSHOT, LABEL_TRUE, arena) < 0 ||
            set_annotation(&r->object, ANNOTATION_RESOURCE_HASH, arena_strdup(arena, s->hash), arena) < 0 ||
            set_annotation(&r->object, ANNOTATION_NUMBER_OF_RESOURCE_SNAPSHOTS,
                           number_text(arena, (int64_t)count_parts(s)), arena) < 0 ||
            set_annotation(&r->object, ANNOTATION_NUMBER_OF_ENVELOPED_OBJECTS,
                           number_text(arena, (int64_t)s->n_envelopes), arena) < 0)
                return NULL;
        return r;
}

static struct resource_snapshot *make_sub(struct arena *arena, const struct placement *p, int64_t index,
                                          int64_t sub, const struct selection *s, size_t from)
{
        struct resource_snapshot *r =
                make(arena, p,
                     arena_printf(arena, NAME_RESOURCE_SNAPSHOT_SUB, p->object.meta.name, (long long)index,
                                  (long long)sub),
                     index, s, from);

        if (!r ||
            set_annotation(&r->object, ANNOTATION_RESOURCE_SUBINDEX, number_text(arena, sub), arena) < 0)
                return NULL;
        return r;
}

static bool has_member(const struct member *list, size_t n, int64_t index, int64_t sub)
{
        for (size_t i = 0; i < n; i++)
                if (list[i].index == index && list[i].sub == sub)
                        return true;
        return false;
}

/* Makes what the group lacks: all of it for a new one, the tail or holes for one a crash left incomplete. */
static int plan_members(struct arena *arena, const struct placement *p, const struct selection *s,
                        int64_t index, const struct member *list, size_t n,
                        struct resource_snapshot_plan *plan)
{
        int64_t sub = -1;

        plan->create = ARENA_NEW_ARRAY(arena, struct resource_snapshot *, count_parts(s));
        if (!plan->create)
                return ERR_NO_MEMORY;
        for (size_t at = 0; sub < 0 || at < s->n; at += part_length(s, at), sub++) {
                struct resource_snapshot *r;

                if (has_member(list, n, index, sub))
                        continue;
                r = sub < 0 ? make_head(arena, p, index, s) : make_sub(arena, p, index, sub, s, at);
                if (!r)
                        return ERR_NO_MEMORY;
                plan->create[plan->n_create++] = r;
        }
        return 0;
}

static int plan_relabel(struct arena *arena, const struct object *head, const char *latest,
                        struct resource_snapshot_plan *plan)
{
        if (text_equal(label_of(head, LABEL_IS_LATEST_SNAPSHOT), latest))
                return 0;
        plan->update = (struct relabel){ head, object_copy(head, arena) };
        if (!plan->update.wanted)
                return ERR_NO_MEMORY;
        return set_label(plan->update.wanted, LABEL_IS_LATEST_SNAPSHOT, latest, arena);
}

/* When something other than `head` was first seen. What was noted by a clock that was set back since counts
 * from now. */
static int64_t noted_change(const struct object *head, int64_t now_ms)
{
        const char *text = annotation_of(head, ANNOTATION_NEXT_SNAPSHOT_DETECTION_TIME);
        int64_t noted;

        return text && time_parse_rfc3339(slice_of(text), &noted) == 0 && noted <= now_ms ? noted : TIME_NONE;
}

/* spec 9.4: 1 when it is too early for a new group (plan->delay_ms set), else 0. The head is older than what
 * follows it, whatever the API server's clock says. */
static int throttle(struct arena *arena, const struct object *head, const struct snapshot_timing *t,
                    struct resource_snapshot_plan *plan)
{
        int64_t detected = noted_change(head, t->now_ms), due;
        char stamp[RFC3339_SIZE];

        if ((t->min_interval_ms <= 0 && t->collect_ms <= 0) || !label_is_true(head, LABEL_IS_LATEST_SNAPSHOT))
                return 0;
        if (detected == TIME_NONE) {
                detected = t->now_ms;
                time_format_rfc3339(t->now_ms, stamp);
                plan->update = (struct relabel){ head, object_copy(head, arena) };
                if (!plan->update.wanted ||
                    set_annotation(plan->update.wanted, ANNOTATION_NEXT_SNAPSHOT_DETECTION_TIME,
                                   arena_strdup(arena, stamp), arena) < 0)
                        return ERR_NO_MEMORY;
        }
        due = MAX(detected + MAX(t->collect_ms, 0),
                  MIN(head->meta.creation_ms, detected) + MAX(t->min_interval_ms, 0));
        if (t->now_ms >= due) {
                plan->update = (struct relabel){ 0 };
                return 0;
        }
        plan->delay_ms = due - t->now_ms;
        return 1;
}

static bool is_in_use(const struct snapshots_in_use *in_use, int64_t index)
{
        for (size_t i = 0; i < in_use->n; i++)
                if (in_use->index[i] == index)
                        return true;
        return in_use->unknown;
}

bool resource_snapshot_is_in_use(const struct object *snapshot, const struct snapshots_in_use *in_use)
{
        int64_t index;

        return label_number(snapshot, LABEL_RESOURCE_INDEX, &index, NULL) == 0 && is_in_use(in_use, index);
}

/* Drops whole groups, oldest first but for that of `head` and those in use, so that `keep` stay. */
static int plan_history(struct arena *arena, const struct member *list, size_t n, int64_t keep,
                        const struct member *head, const struct snapshots_in_use *in_use,
                        struct resource_snapshot_plan *plan)
{
        int64_t groups = 0;
        size_t i = n;

        plan->remove = ARENA_NEW_ARRAY(arena, const struct object *, n + 1);
        if (!plan->remove)
                return ERR_NO_MEMORY;
        while (i > 0) {
                bool new_group = i == n || list[i - 1].index != list[i].index;

                if (new_group && ++groups > keep)
                        break;
                i--;
        }
        for (size_t k = 0; k < i; k++)
                if ((!head || list[k].index != head->index) && !is_in_use(in_use, list[k].index))
                        plan->remove[plan->n_remove++] = list[k].o;
        return 0;
}

static int64_t heads_above(const struct object_list *existing, int64_t index)
{
        int64_t n = 0, other;

        for (size_t i = 0; i < existing->n; i++)
                n += annotation_of(existing->at[i], ANNOTATION_RESOURCE_HASH) &&
                     label_number(existing->at[i], LABEL_RESOURCE_INDEX, &other, NULL) == 0 && other > index;
        return n;
}

bool resource_group_is_past(const struct placement *p, const struct object_list *existing, int64_t index)
{
        return heads_above(existing, index) >= snapshot_history_limit(p);
}

bool resource_history_is_kept(const struct placement *p, const struct object_list *existing,
                              const struct snapshots_in_use *in_use)
{
        int64_t index;

        for (size_t i = 0; i < existing->n; i++)
                if (annotation_of(existing->at[i], ANNOTATION_RESOURCE_HASH) &&
                    label_number(existing->at[i], LABEL_RESOURCE_INDEX, &index, NULL) == 0 &&
                    !is_in_use(in_use, index) && resource_group_is_past(p, existing, index))
                        return false;
        return true;
}

/* Whether the group still stands for what was selected when it was made. */
static bool is_valid(const struct member *list, size_t n, const struct member *head, struct indexes indexes)
{
        for (size_t i = 0; i < n; i++)
                if (list[i].index == head->index && resource_snapshot_was_edited(list[i].o))
                        return false;
        return head->index >= lowest_index(indexes);
}

static int plan_group(struct arena *arena, const struct placement *p, const struct selection *s,
                      const struct member *list, size_t n, const struct member *head, struct indexes indexes,
                      const struct snapshots_in_use *in_use, const struct snapshot_timing *t,
                      struct resource_snapshot_plan *plan)
{
        bool valid = head && is_valid(list, n, head, indexes);
        int early;

        plan->latest = head ? (const struct resource_snapshot *)head->o : NULL;
        if (valid && text_equal(annotation_of(head->o, ANNOTATION_RESOURCE_HASH), s->hash)) {
                TRY(plan_relabel(arena, head->o, LABEL_TRUE, plan));
                if (plan->update.now || annotation_of(head->o, ANNOTATION_NEXT_SNAPSHOT_DETECTION_TIME)) {
                        if (!plan->update.now)
                                plan->update = (struct relabel){ head->o, object_copy(head->o, arena) };
                        if (!plan->update.wanted)
                                return ERR_NO_MEMORY;
                        /* The content came back: the next change opens a window of its own. */
                        string_map_remove(&plan->update.wanted->meta.annotations,
                                          ANNOTATION_NEXT_SNAPSHOT_DETECTION_TIME);
                }
                /* A limit that was lowered takes what is too much, too. */
                TRY(plan_history(arena, list, n, snapshot_history_limit(p), head, in_use, plan));
                return plan_members(arena, p, s, head->index, list, n, plan);
        }
        early = head && valid ? throttle(arena, head->o, t, plan) : 0;
        if (early != 0)
                return early < 0 ? early : 0;
        if (head)
                TRY(plan_relabel(arena, head->o, LABEL_FALSE, plan));
        plan->latest = NULL;
        TRY(plan_history(arena, list, n, snapshot_history_limit(p) - 1, NULL, in_use, plan));
        return plan_members(arena, p, s, next_index(indexes, n ? list[n - 1].index : NO_INDEX), list, n,
                            plan);
}

static const struct member *find_head(const struct member *list, size_t n, const struct object *latest)
{
        const struct member *newest = NULL;

        for (size_t i = 0; i < n; i++) {
                if (list[i].o == latest)
                        return &list[i];
                if (list[i].sub < 0 && !is_deleting(list[i].o))
                        newest = &list[i];
        }
        return latest ? NULL : newest;
}

static bool is_removed(const struct resource_snapshot_plan *plan, const struct object *o)
{
        for (size_t i = 0; i < plan->n_remove; i++)
                if (plan->remove[i] == o)
                        return true;
        return false;
}

/* A write of a former leader that arrived late, or a user's: spec 9.3. */
static int plan_unmark(struct arena *arena, const struct object_list *existing, const struct object *head,
                       struct resource_snapshot_plan *plan)
{
        if (one_resource_snapshot_is_latest(existing))
                return 0;
        plan->unmark = ARENA_NEW_ARRAY(arena, struct relabel, existing->n);
        if (!plan->unmark)
                return ERR_NO_MEMORY;
        for (size_t i = 0; i < existing->n; i++) {
                const struct object *o = existing->at[i];
                struct object *wanted;

                if (!is_marked(o) || o == head || is_removed(plan, o))
                        continue;
                wanted = object_copy(o, arena);
                if (!wanted || set_label(wanted, LABEL_IS_LATEST_SNAPSHOT, LABEL_FALSE, arena) < 0)
                        return ERR_NO_MEMORY;
                plan->unmark[plan->n_unmark++] = (struct relabel){ o, wanted };
        }
        return 0;
}

int plan_resource_snapshots(struct arena *arena, const struct placement *p, const struct selection *s,
                            const struct object_list *existing, struct indexes indexes,
                            const struct snapshots_in_use *in_use, const struct snapshot_timing *t,
                            struct resource_snapshot_plan *ret, struct error *err)
{
        static const struct snapshot_timing at_once = { 0 };
        const struct resource_snapshot *latest = latest_resource_snapshot(existing);
        struct resource_snapshot_plan plan = { 0 };
        const struct member *head;
        struct member *list = NULL;

        TRY(sorted(arena, existing, &list, err));
        head = find_head(list, existing->n, latest ? &latest->object : NULL);
        if (head && !resource_group_is_whole(existing, head->o))
                t = &at_once;
        if (plan_group(arena, p, s, list, existing->n, head, indexes, in_use, t, &plan) < 0 ||
            plan_unmark(arena, existing, head ? head->o : NULL, &plan) < 0)
                return error_no_memory(err);
        *ret = plan;
        return 0;
}
