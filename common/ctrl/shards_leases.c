/* The leases of a replica: how it takes, renews and gives them back. */
#include "common/ctrl/shards_internal.h"
#include "common/kube/connection.h"
#include "proto/names.h"

#define LEASES_IN_FLIGHT 8
#define LAYOUT_TRIES 5 /* others renew the same lease */

int64_t shards_patience_ms(const struct shards *s)
{
        return MAX(s->layout.options.renew_deadline_ms / 3, (int64_t)1);
}

void shards_tell_problem(struct shards *s, const char *what, const struct error *err)
{
        if (err->code != ERR_CANCELLED && !kube_connection_tells(s->o.kube, err))
                log_warn(s->o.log, what, "error", err->text);
}

/* Whether it did not hold when it was renewed last: keys may have been dropped since, though the timer that
 * tells of it was no faster than the answer. */
static bool was_late(const struct shards *s, const struct leader *le, int64_t renewed_before_ms)
{
        return shards_now_ms(s) >= renewed_before_ms + le->options.renew_deadline_ms;
}

static void hold_shard(struct shards *s, unsigned k, bool late)
{
        struct shard *sh = &s->at[k];
        enum leader_before before = sh->lease.before;

        /* LEASE_WAS_NEW: made anew where it was removed */
        if (sh->state != SHARD_FREE && before != LEASE_WAS_ANOTHERS && !late)
                return;
        if (sh->state != SHARD_FREE)
                shards_lose(s, SHARD_BIT(k),
                            before == LEASE_WAS_ANOTHERS ? "it was another's for a moment" : shards_too_late);
        /* Until the caches are filled anew: a take-over may be cut short, and the lease be ours again. */
        sh->stale |= !(before == LEASE_WAS_OURS && sh->ours) && !(before == LEASE_WAS_NEW && sh->founded);
        sh->ours = true;
        sh->founded = false;
        sh->free_since_ms = -1;
        sh->state = SHARD_TAKEN;
        sh->term++;
}

/* Takes it, or renews it where it is ours. */
static void write_shard(struct shard *sh)
{
        struct shards *s = sh->of;
        unsigned k = (unsigned)(sh - s->at);
        bool fresh = sh->state == SHARD_FREE;
        int64_t renewed_ms = sh->lease.renewed_at_ms;
        struct error err = { 0 };
        int code;

        sh->writing = true;
        code = fresh ? leader_try(&sh->lease, shards_patience_ms(s), &err) : leader_renew(&sh->lease, &err);
        sh->writing = false;
        if (code == 0 && (fresh || sh->state != SHARD_FREE)) {
                hold_shard(s, k, was_late(s, &sh->lease, renewed_ms));
        } else if (code == ERR_EXISTS) {
                sh->ours = false;
                shards_lose(s, SHARD_BIT(k), "another holds its lease");
        } else if (code < 0 && code != ERR_CONFLICT) {
                shards_tell_problem(s, "a shard's lease cannot be written", &err);
        }
}

struct leases_to_write {
        struct shards *s;
        shard_set left;
};

static void write_some(void *ctx)
{
        struct leases_to_write *w = ctx;

        while (w->left && !fiber_cancelled(w->s->loop)) {
                unsigned k = (unsigned)__builtin_ctzll(w->left);

                w->left &= w->left - 1;
                write_shard(&w->s->at[k]);
        }
}

int shards_write(struct shards *s, shard_set set)
{
        struct leases_to_write w = { s, 0 };
        struct fiber_group *group;
        int code;

        for (unsigned k = 0; k < s->o.n; k++)
                if ((set & SHARD_BIT(k)) && !s->at[k].writing)
                        w.left |= SHARD_BIT(k);
        if (!w.left)
                return 0;
        group = fiber_group_new(s->loop, s->group, "leases");
        if (!group)
                return ERR_NO_MEMORY;
        for (int i = 0; i < LEASES_IN_FLIGHT && i < __builtin_popcountll(set); i++)
                if (!fiber_spawn(group, "lease", write_some, &w) && i == 0)
                        write_some(&w);
        code = fiber_group_join(group, DEADLINE_NONE);
        fiber_group_end(group);
        return code;
}

static json_t *vacant_lease(const struct shards *s, const char *name)
{
        return json_pack("{s:s, s:s, s:{s:s, s:s, s:{s:s}}, s:{s:s}}", "apiVersion", "coordination.k8s.io/v1",
                         "kind", "Lease", "metadata", "name", name, "namespace", s->o.lease.ns, "labels",
                         LABEL_SHARDS, s->label, "spec", "holderIdentity", "");
}

/* Whoever makes the layout begins it: no shard of it is worked on anywhere, so leases that are missing were
 * never there. They are made vacant, for all to share. That nobody wrote for one before knows only who made
 * its lease in a layout that was nobody's before: leases may be left of a layout of which another came after,
 * and who joins a layout does not know what was there before it. */
static void found_layout(struct shards *s)
{
        bool was_nobodys = s->layout.before == LEASE_WAS_NEW;

        for (unsigned k = 0; k < s->o.n; k++) {
                struct kube_client bounded = *s->o.kube;
                AUTO_JSON json_t *lease = vacant_lease(s, s->at[k].name);
                int code = ERR_NO_MEMORY;

                bounded.call_deadline_ms = shards_patience_ms(s);
                if (lease) /* what fails is taken later, as if it had been removed */
                        code = kube_doc_create(&bounded, &lease_resource, s->o.lease.ns, lease, NULL, NULL,
                                               NULL);
                s->at[k].ours = false;
                s->at[k].founded = code == 0 && was_nobodys;
        }
}

static int try_layout(struct shards *s, struct error *err)
{
        int code = ERR_CONFLICT;

        for (int i = 0; i < LAYOUT_TRIES && code == ERR_CONFLICT; i++) {
                error_clear(err);
                code = leader_try(&s->layout, shards_patience_ms(s), err);
        }
        return code;
}

static void tell_waiting(struct shards *s, const struct error *err)
{
        if (!s->told_wait)
                log_info(s->o.log, "waiting for the layout of the shards", "lease", err->text);
        s->told_wait = true;
}

/* 0 also where it is not ours yet; ERR_TIMEOUT when it was ours and is another's. */
int shards_hold_layout(struct shards *s, struct error *err)
{
        int64_t renewed_ms = s->layout.renewed_at_ms;
        int code = try_layout(s, err);

        if (code == 0) {
                if (s->joined && was_late(s, &s->layout, renewed_ms))
                        shards_lose(s, shards_held_set(s), shards_too_late_layout);
                if (s->layout.before == LEASE_WAS_ANOTHERS)
                        shards_lose(s, SHARDS_ALL(s->o.n), "the layout was another's for a moment");
                if (s->layout.before == LEASE_WAS_ANOTHERS ||
                    (s->layout.before == LEASE_WAS_NEW && !s->joined))
                        found_layout(s);
                s->joined = true;
                s->told_wait = false;
                return 0;
        }
        if (code == ERR_EXISTS && s->joined) {
                s->layout.leading = false;
                shards_lose(s, SHARDS_ALL(s->o.n), "another holds the layout's lease");
                return error_set(err, ERR_TIMEOUT, "shards lost: another holds the lease");
        }
        if (code == ERR_EXISTS)
                tell_waiting(s, err);
        else if (code != ERR_CANCELLED && code != ERR_CONFLICT)
                shards_tell_problem(s, "the layout's lease cannot be written", err);
        return code == ERR_CANCELLED ? code : 0;
}

void shards_show_presence(struct shards *s)
{
        struct error err = { 0 };
        int code = shards_holds(s, &s->presence) ? leader_renew(&s->presence, &err)
                                                 : leader_try(&s->presence, shards_patience_ms(s), &err);

        if (code < 0 && code != ERR_CONFLICT)
                shards_tell_problem(s, "the lease that shows this replica cannot be written", &err);
}

/* ---- given back ---- */

static void release_held(void *ctx)
{
        struct shard *sh = ctx;

        shards_release_one(sh);
}

void shards_release_held(struct shards *s)
{
        struct fiber_group *group = fiber_group_new(s->loop, NULL, "release");

        for (unsigned k = 0; group && k < s->o.n; k++)
                if (s->at[k].state != SHARD_FREE && !fiber_spawn(group, "release", release_held, &s->at[k]))
                        break; /* they run out */
        if (group)
                fiber_group_join(group, DEADLINE_NONE);
        fiber_group_end(group);
}

/* By who leaves last. The order matters: a replica that joins shows itself before it renews the layout, so
 * either it is in the list, or the lease that was read before the list is not the newest any more. */
int shards_release_layout(struct shards *s, struct error *err)
{
        const struct leader_options *o = &s->layout.options;
        struct kube_client quick = *s->o.kube;
        AUTO_JSON json_t *lease = NULL;
        size_t others;

        quick.call_deadline_ms = RELEASE_DEADLINE_MS;
        TRY(kube_doc_get(&quick, &lease_resource, o->ns, o->name, &lease, err));
        TRY(shards_count_others(s, RELEASE_DEADLINE_MS, &others, err));
        if (others > 0 || !text_equal(doc_get_string(lease, "spec.holderIdentity"), o->identity))
                return 0;
        if (doc_set_string(lease, "spec.holderIdentity", "") < 0 ||
            doc_set_int(lease, "spec.leaseDurationSeconds", 1) < 0)
                return error_no_memory(err);
        return kube_doc_update(&quick, &lease_resource, o->ns, o->name, lease, NULL, NULL, err);
}
