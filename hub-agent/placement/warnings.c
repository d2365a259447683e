#include "hub-agent/placement/warnings.h"

#include <stdio.h>

#include "common/base/map.h"

enum { NAMED = 3, TEXT_MAX = 250 };

/* Clusters in the same trouble. */
struct tally {
        const char *named[NAMED];
        size_t n;
        bool no_memory;
};

struct telling {
        struct arena *arena;
        const struct told_list *told;
        struct told_list next; /* what stands for `told` afterwards */
        struct map before;     /* cluster -> const struct per_cluster_status * */
        struct tally applied, drifted, overridden, synchronized;
};

static void tally_add(struct arena *arena, struct tally *t, const char *cluster, const char *what)
{
        if (t->n < NAMED) {
                char text[TEXT_MAX];

                text_shorten(or_empty(what), text, sizeof(text));
                t->named[t->n] = arena_printf(arena, "%s: %s", cluster, text);
                t->no_memory = t->no_memory || !t->named[t->n];
        }
        t->n++;
}

static int warn(struct arena *arena, struct status_warnings *w, const char *reason, const char *head,
                const struct tally *t)
{
        const char *text = head;

        if (t->n == 0)
                return 0;
        for (size_t i = 0; i < MIN(t->n, (size_t)NAMED) && text && !t->no_memory; i++)
                text = arena_printf(arena, "%s%s%s", text, i ? "; " : " ", t->named[i]);
        if (text && t->n > NAMED)
                text = arena_printf(arena, "%s; and %zu more cluster(s)", text, t->n - NAMED);
        if (!text || t->no_memory)
                return ERR_NO_MEMORY;
        w->at[w->n++] = (struct status_warning){ reason, text };
        return 0;
}

/* ---- resources ---- */

static bool same_resource(const struct resource_identifier *a, const struct resource_identifier *b)
{
        return text_equal(or_empty(a->name), or_empty(b->name)) &&
               text_equal(or_empty(a->ns), or_empty(b->ns)) &&
               text_equal(or_empty(a->kind), or_empty(b->kind)) &&
               text_equal(or_empty(a->group), or_empty(b->group));
}

static const char *text_of(struct arena *arena, const struct resource_identifier *id, const char *what)
{
        return arena_printf(arena, "%s %s%s%s: %s", or_empty(id->kind), or_empty(id->ns),
                            text_empty(id->ns) ? "" : "/", or_empty(id->name), or_empty(what));
}

static bool is_told_failed(const struct per_cluster_status *old, const struct failed_placement *f)
{
        for (uint32_t i = 0; old && i < old->failed_placements.n; i++) {
                const struct failed_placement *o = &old->failed_placements.at[i];

                if (same_resource(&o->id, &f->id) && o->condition &&
                    text_equal(o->condition->type, f->condition->type) &&
                    text_equal(o->condition->reason, f->condition->reason))
                        return true;
        }
        return false;
}

static bool is_told_drifted(const struct per_cluster_status *old, const struct drifted_placement *d)
{
        for (uint32_t i = 0; old && i < old->drifted_placements.n; i++)
                if (same_resource(&old->drifted_placements.at[i].id, &d->id))
                        return true;
        return false;
}

static uint64_t hash_text(const char *text, uint64_t seed)
{
        return hash_bytes(or_empty(text), strlen(or_empty(text)), seed + 1);
}

static uint64_t hash_resource(const struct resource_identifier *id, const char *reason)
{
        return hash_text(
                reason, hash_text(id->name, hash_text(id->ns, hash_text(id->kind, hash_text(id->group, 0)))));
}

static bool has_applied(const struct per_cluster_status *e)
{
        const struct condition *c = condition_find(&e->conditions, CONDITION_APPLIED);

        return c && text_equal(c->status, CONDITION_TRUE);
}

/* The first that is new stands for all of the cluster. */
static int tell_failed(struct telling *t, const struct per_cluster_status *old,
                       const struct per_cluster_status *e)
{
        uint64_t where = told_where('f', e->cluster_name);
        bool told = false;

        if (!e->failed_placements.n && !has_applied(e))
                return told_keep(&t->next, t->told, where);
        for (uint32_t i = 0; i < e->failed_placements.n; i++) {
                const struct failed_placement *f = &e->failed_placements.at[i];
                uint64_t what;

                if (!f->condition || !text_equal(f->condition->type, CONDITION_APPLIED))
                        continue;
                what = hash_resource(&f->id, f->condition->reason);
                TRY(told_add(&t->next, where, what));
                if (told || is_told_failed(old, f) || told_has(t->told, where, what))
                        continue;
                tally_add(t->arena, &t->applied, e->cluster_name,
                          text_of(t->arena, &f->id, f->condition->message));
                told = true;
        }
        return 0;
}

static int tell_drifted(struct telling *t, const struct per_cluster_status *old,
                        const struct per_cluster_status *e)
{
        uint64_t where = told_where('d', e->cluster_name);
        bool told = false;

        if (!e->drifted_placements.n && !e->failed_placements.n && !has_applied(e))
                return told_keep(&t->next, t->told, where);
        for (uint32_t i = 0; i < e->drifted_placements.n; i++) {
                const struct drifted_placement *d = &e->drifted_placements.at[i];
                uint64_t what = hash_resource(&d->id, NULL);

                TRY(told_add(&t->next, where, what));
                if (told || is_told_drifted(old, d) || told_has(t->told, where, what))
                        continue;
                tally_add(
                        t->arena, &t->drifted, e->cluster_name,
                        text_of(t->arena, &d->id, d->observed_drifts.n ? d->observed_drifts.at[0].path : ""));
                told = true;
        }
        return 0;
}

/* ---- conditions ---- */

/* *ret: the condition, if it is False and that is to be told. */
static int now_false(struct telling *t, uint64_t where, const struct condition_list *before,
                     const struct condition_list *after, const char *type, const struct condition **ret)
{
        const struct condition *c = condition_find(after, type),
                               *old = before ? condition_find(before, type) : NULL;
        uint64_t what;

        *ret = NULL;
        if (!c || text_equal(c->status, CONDITION_UNKNOWN))
                return told_keep(&t->next, t->told, where);
        if (!text_equal(c->status, CONDITION_FALSE))
                return 0;
        what = hash_text(c->message, 0);
        if (!told_has(t->told, where, what) &&
            !(old && text_equal(old->status, CONDITION_FALSE) && text_equal(old->message, c->message)))
                *ret = c;
        return told_add(&t->next, where, what);
}

static int tell_false(struct telling *t, const struct per_cluster_status *old,
                      const struct per_cluster_status *e, const char *type, struct tally *tally)
{
        uint64_t where = told_where(type[0], e->cluster_name);
        const struct condition *c;

        TRY(now_false(t, where, old ? &old->conditions : NULL, &e->conditions, type, &c));
        if (c)
                tally_add(t->arena, tally, e->cluster_name, c->message);
        return 0;
}

/* ---- whole ---- */

static int tell_scheduled(struct telling *t, const struct placement *before, const struct placement *after,
                          struct status_warnings *ret)
{
        const char *type = arena_printf(t->arena, "%s" CONDITION_SCHEDULED,
                                        scope_of(after->object.meta.ns)->condition_prefix);
        const struct condition *c;

        if (!type)
                return ERR_NO_MEMORY;
        TRY(now_false(t, told_where('s', ""), before->status ? &before->status->conditions : NULL,
                      &after->status->conditions, type, &c));
        if (c)
                ret->at[ret->n++] = (struct status_warning){ EVENT_PLACEMENT_NOT_SCHEDULED, c->message };
        return 0;
}

static int tell_clusters(struct telling *t, const struct placement *before, const struct placement *after)
{
        for (uint32_t i = 0; before->status && i < before->status->placement_statuses.n; i++) {
                struct per_cluster_status *e = &before->status->placement_statuses.at[i];

                if (!text_empty(e->cluster_name))
                        TRY(map_put(&t->before, e->cluster_name, e));
        }
        for (uint32_t i = 0; i < after->status->placement_statuses.n; i++) {
                const struct per_cluster_status *e = &after->status->placement_statuses.at[i];
                const struct per_cluster_status *old =
                        text_empty(e->cluster_name) ? NULL : map_get(&t->before, e->cluster_name);

                if (text_empty(e->cluster_name))
                        continue;
                TRY(tell_failed(t, old, e));
                TRY(tell_drifted(t, old, e));
                TRY(tell_false(t, old, e, CONDITION_OVERRIDDEN, &t->overridden));
                TRY(tell_false(t, old, e, CONDITION_WORK_SYNCHRONIZED, &t->synchronized));
        }
        return 0;
}

int plan_warnings(struct arena *arena, const struct placement *before, const struct placement *after,
                  struct told_list *told, struct status_warnings *ret, struct error *err)
{
        struct telling t = { .arena = arena, .told = told };
        int code;

        if (!after->status)
                return 0;
        map_init(&t.before, MAP_BORROW_KEYS, NULL);
        code = tell_scheduled(&t, before, after, ret);
        if (code == 0)
                code = tell_clusters(&t, before, after);
        map_free(&t.before);
        if (code == 0)
                told_replace(told, &t.next);
        told_free(&t.next);
        if (code < 0 ||
            warn(arena, ret, EVENT_PLACEMENT_OVERRIDE_FAILED, "Overrides failed on", &t.overridden) < 0 ||
            warn(arena, ret, EVENT_PLACEMENT_WORK_FAILED, "Works could not be written for", &t.synchronized) <
                    0 ||
            warn(arena, ret, EVENT_PLACEMENT_APPLY_FAILED, "Resources could not be applied on", &t.applied) <
                    0 ||
            warn(arena, ret, EVENT_PLACEMENT_DRIFTED, "Resources were changed on", &t.drifted) < 0)
                return error_no_memory(err);
        return 0;
}

static int64_t sooner(int64_t a_ms, int64_t b_ms)
{
        return a_ms && b_ms ? MIN(a_ms, b_ms) : MAX(a_ms, b_ms);
}

/* Not available, or the member has not said whether it is applied, or what differs. What failed to be applied
 * was told. */
static const struct condition *waiting_for(const struct per_cluster_status *e)
{
        const struct condition *applied = condition_find(&e->conditions, CONDITION_APPLIED),
                               *available = condition_find(&e->conditions, CONDITION_AVAILABLE),
                               *diff = condition_find(&e->conditions, CONDITION_DIFF_REPORTED);

        if (diff && text_equal(diff->status, CONDITION_FALSE))
                return diff;
        if (applied && text_equal(applied->status, CONDITION_FALSE) && !e->failed_placements.n)
                return applied;
        return available && text_equal(available->status, CONDITION_FALSE) ? available : NULL;
}

int plan_unavailable_warning(struct arena *arena, const struct placement *p, int64_t now_ms, int64_t *told_ms,
                             struct status_warnings *ret, int64_t *ret_next_ms, struct error *err)
{
        struct tally unavailable = { .n = 0 }, unreported = { .n = 0 };
        int64_t told = *told_ms;

        *ret_next_ms = 0;
        for (uint32_t i = 0; p->status && i < p->status->placement_statuses.n; i++) {
                const struct per_cluster_status *e = &p->status->placement_statuses.at[i];
                const struct condition *c = waiting_for(e);
                int64_t left;

                if (!c || c->last_transition_ms <= *told_ms)
                        continue;
                left = c->last_transition_ms + NOT_AVAILABLE_MS - now_ms;
                if (left > 0) {
                        *ret_next_ms = sooner(*ret_next_ms, left);
                        continue;
                }
                told = MAX(told, c->last_transition_ms);
                tally_add(arena, text_equal(c->type, CONDITION_DIFF_REPORTED) ? &unreported : &unavailable,
                          or_empty(e->cluster_name),
                          e->failed_placements.n
                                  ? text_of(arena, &e->failed_placements.at[0].id,
                                            e->failed_placements.at[0].condition
                                                    ? e->failed_placements.at[0].condition->message
                                                    : "")
                                  : c->message);
        }
        if (warn(arena, ret, EVENT_PLACEMENT_NOT_AVAILABLE,
                 "Resources have not been available for minutes on", &unavailable) < 0 ||
            warn(arena, ret, EVENT_PLACEMENT_DIFF_NOT_REPORTED,
                 "Differences have not been reported for minutes on", &unreported) < 0)
                return error_no_memory(err);
        *told_ms = told;
        return 0;
}

/* ---- a rollout that does not go on ---- */

static int64_t last_change_ms(const struct placement *p)
{
        int64_t last = 0;

        for (uint32_t i = 0; i < p->status->placement_statuses.n; i++) {
                const struct condition_list *l = &p->status->placement_statuses.at[i].conditions;

                for (uint32_t k = 0; k < l->n; k++)
                        last = MAX(last, l->at[k].last_transition_ms);
        }
        return last;
}

static int64_t patience_ms(const struct placement *p)
{
        const struct rollout_strategy *s = p->spec ? p->spec->strategy : NULL;
        bool waits = s && s->rolling_update && s->rolling_update->unavailable_period_seconds.set;

        return NOT_AVAILABLE_MS +
               (waits ? s->rolling_update->unavailable_period_seconds.value * INT64_C(1000) : 0);
}

int plan_stalled_warning(struct arena *arena, const struct placement *p, int64_t now_ms, int64_t *told_ms,
                         struct status_warnings *ret, int64_t *ret_next_ms, struct error *err)
{
        int64_t last = p->status ? last_change_ms(p) : 0, left = last + patience_ms(p) - now_ms;
        struct tally t = { .n = 0 };

        *ret_next_ms = 0;
        if (last <= *told_ms)
                return 0;
        for (uint32_t i = 0; i < p->status->placement_statuses.n; i++) {
                const struct per_cluster_status *e = &p->status->placement_statuses.at[i];
                const struct condition *c = condition_find(&e->conditions, CONDITION_ROLLOUT_STARTED);

                if (c && !text_equal(c->status, CONDITION_TRUE) && !text_empty(e->cluster_name))
                        tally_add(arena, &t, e->cluster_name, c->message);
        }
        if (t.n && left > 0) {
                *ret_next_ms = left;
                return 0;
        }
        if (warn(arena, ret, EVENT_PLACEMENT_NOT_ROLLED_OUT,
                 "Nothing has moved for minutes, and the latest resources do not get to", &t) < 0)
                return error_no_memory(err);
        if (t.n)
                *told_ms = last;
        return 0;
}

/* ---- selectors that find nothing ---- */

static bool is_found(const struct resource_selector *t, const struct resource_identifier_list *selected)
{
        for (uint32_t i = 0; i < selected->n; i++)
                if (text_equal(t->name, selected->at[i].name) &&
                    text_equal(or_empty(t->kind), or_empty(selected->at[i].kind)) &&
                    text_equal(or_empty(t->group), or_empty(selected->at[i].group)))
                        return true;
        return false;
}

int plan_not_found_warning(struct arena *arena, const struct placement *p,
                           const struct resource_identifier_list *selected, int64_t now_ms,
                           struct not_found_told *told, struct status_warnings *ret, int64_t *ret_next_ms,
                           struct error *err)
{
        uint64_t hash = 0;
        struct tally t = { .n = 0 };
        int64_t left;

        *ret_next_ms = 0;
        for (uint32_t i = 0; p->spec && i < p->spec->resource_selectors.n; i++) {
                const struct resource_selector *s = &p->spec->resource_selectors.at[i];

                if (text_empty(s->name) || is_found(s, selected))
                        continue;
                hash = hash_bytes(s->name, strlen(s->name), hash + 1 + i);
                tally_add(arena, &t, arena_printf(arena, "%s %s", or_empty(s->kind), s->name),
                          "it is not there, or may not be selected");
        }
        if (hash != told->hash)
                *told = (struct not_found_told){ .hash = hash, .since_ms = now_ms };
        left = told->since_ms + NOT_FOUND_MS - now_ms;
        if (t.n == 0 || told->told)
                return 0;
        if (left > 0) {
                *ret_next_ms = left;
                return 0;
        }
        if (warn(arena, ret, EVENT_PLACEMENT_RESOURCE_NOT_FOUND, "Nothing is selected by name of", &t) < 0)
                return error_no_memory(err);
        told->told = true;
        return 0;
}

/* ---- strategy External ---- */

static bool is_on_all_clusters(const struct object_list *snapshots, const char *index, const char *hash)
{
        for (size_t i = 0; !text_empty(index) && i < snapshots->n; i++)
                if (text_equal(label_of(snapshots->at[i], LABEL_RESOURCE_INDEX), index) &&
                    text_equal(annotation_of(snapshots->at[i], ANNOTATION_RESOURCE_HASH), hash))
                        return true;
        return false;
}

int plan_external_warning(struct arena *arena, const struct placement *p, const struct object_list *snapshots,
                          const char *hash, char told[65], struct status_warnings *ret, struct error *err)
{
        const char *index = p->status ? or_empty(p->status->observed_resource_index) : "", *message;

        if (text_empty(hash) || text_equal(told, hash) || is_on_all_clusters(snapshots, index, hash))
                return 0;
        message =
                arena_printf(arena,
                             "What is selected is not rolled out: the rollout strategy is External, and this "
                             "agent executes no staged update runs; the clusters keep %s%s",
                             index[0] ? "resource index " : "what they have", index);
        if (!message)
                return error_no_memory(err);
        snprintf(told, 65, "%s", hash);
        ret->at[ret->n++] = (struct status_warning){ EVENT_PLACEMENT_NOT_ROLLED_OUT, message };
        return 0;
}
