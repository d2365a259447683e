/* Works that the hub does not have, and nobody asked us to let go of: they went while this agent was down,
 * while the cluster was no member, or while another agent ran in its place. What was applied for them is
 * cleaned up as for any Work that goes, but only once the hub has said so itself, and not at once: a hub that
 * was restored, or has just taken this cluster in again, may be about to make the Work anew. */
#include "member-agent/apply/pass.h"
#include "member-agent/watch/applied.h"

#define GRACE_MS 60000
#define HUB_POLL_MS 5000
#define CACHE_POLL_MS 1000 /* the member's API server has not told yet which AppliedWorks there are */

static struct outcome forget(struct reconcile *rc, struct member_agent *a)
{
        agent_forget(a, rc->name);
        if (store_work_remove(a->store, rc->name, rc->err) < 0 ||
            applied_watch_reconcile(a->applied, rc->err) < 0)
                return failed(rc->err);
        return done();
}

/* Whether this agent applied anything for the Work, or was about to. If its file was lost, the AppliedWork
 * tells; what was made for another hub, or by another agent, is nothing of ours. */
static int is_ours(struct reconcile *rc, struct member_agent *a, bool *ret)
{
        const struct object *applied_work = informer_get(a->applied_works, NULL, rc->name);
        struct stored_work stored;
        struct rows rows;
        int r = store_work_get(a->store, rc->name, rc->arena, &stored, rc->err);

        if (r < 0 && r != ERR_NOT_FOUND)
                return r;
        error_clear(rc->err);
        TRY(store_rows_of_work(a->store, rc->name, rc->arena, &rows, rc->err));
        *ret = r == 0 || rows.n > 0 || (applied_work && agent_made(a, applied_work));
        return 0;
}

static bool is_joining(const struct object *cluster)
{
        const struct internal_member_cluster *c =
                (const struct internal_member_cluster *)(const void *)cluster;

        return c && cluster->meta.deletion_ms == TIME_NONE && c->spec &&
               text_equal(c->spec->state, CLUSTER_STATE_JOIN);
}

/* A cluster that leaves, or was thrown out, keeps what it has: its Works vanish too. */
static bool is_member(const struct member_agent *a)
{
        return informer_synced(a->clusters) &&
               is_joining(informer_get(a->clusters, a->ns, a->options->member_name));
}

/* The server itself, not a cache: this cluster is a member and there is no such Work. */
static int hub_says_gone(struct reconcile *rc, struct member_agent *a, bool *ret)
{
        struct object *o = NULL;
        int r;

        *ret = false;
        r = kube_get(&a->hub, &internal_member_cluster_kind, a->ns, a->options->member_name, rc->arena, &o,
                     rc->err);
        if (r == ERR_NOT_FOUND || (r == 0 && !is_joining(o))) {
                error_clear(rc->err);
                return 0;
        }
        TRY(r);
        r = kube_get(&a->hub, &work_kind, a->ns, rc->name, rc->arena, &o, rc->err);
        if (r != ERR_NOT_FOUND)
                return r;
        error_clear(rc->err);
        *ret = true;
        return 0;
}

static struct outcome clean_up(struct reconcile *rc, struct member_agent *a)
{
        struct outcome o;
        bool gone;

        if (hub_says_gone(rc, a, &gone) < 0)
                return failed(rc->err);
        if (!gone)
                return again_after(HUB_POLL_MS);
        o = applied_work_clear(rc, a, &gone);
        if (!gone)
                return o;
        log_info(&rc->log, "what was applied for a Work that the hub no longer has was removed");
        return forget(rc, a);
}

struct outcome work_gone(struct reconcile *rc, struct member_agent *a)
{
        struct work_memory *memory;
        int64_t now = loop_now_ms(a->loop); /* not the wall's, which may be set back */
        bool ours = false;

        if (is_ours(rc, a, &ours) < 0)
                return failed(rc->err);
        if (!ours) {
                agent_forget(a, rc->name);
                return done();
        }
        if (!informer_get(a->applied_works, NULL, rc->name))
                return informer_synced(a->applied_works) ? forget(rc, a) : again_after(CACHE_POLL_MS);
        if (!is_member(a))
                return again_after(HUB_POLL_MS); /* in caches: joining itself tells only who had left */
        memory = agent_memory(a, rc->name);
        if (!memory) {
                error_no_memory(rc->err);
                return failed(rc->err);
        }
        if (!memory->gone_since_ms || !text_empty(informer_problem(a->works)))
                memory->gone_since_ms = now;
        if (now - memory->gone_since_ms < GRACE_MS)
                return again_after(MIN(GRACE_MS - (now - memory->gone_since_ms), HUB_POLL_MS));
        return clean_up(rc, a);
}
