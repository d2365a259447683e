/* Joining, leaving and heartbeats: follows the InternalMemberCluster of this member.
 * spec/member-agent.md 3.1, 2.17. */
#include "common/base/timefmt.h"
#include "member-agent/agent.h"
#include "member-agent/membership/membership.h"
#include "member-agent/properties/properties.h"
#include "proto/names.h"

#define PROBE_DEADLINE_MIN_MS 2000
#define PROBE_DEADLINE_MAX_MS 10000
#define RETRY_MS 5000
#define PROPERTIES_WAIT_MS 1000 /* nodes and pods are being listed */
#define DEFAULT_PERIOD_S 60
#define RIGHTS_RETRY_MS 700
#define VERSION_KEPT_MS (15 * 60 * 1000)

static void unref(void *object)
{
        object_unref(object);
}

/* ---- the member's API server ---- */

/* A server that hangs is found out within a period, so that the next heartbeat does not wait for it. */
static struct kube_client probe_client(const struct member_agent *a, int64_t period_s)
{
        struct kube_client k = a->member;

        k.call_deadline_ms = MIN(MAX(period_s * 1000, PROBE_DEADLINE_MIN_MS), PROBE_DEADLINE_MAX_MS);
        return k;
}

static int probe(struct kube_client k, struct arena *arena, const char **ret_problem, struct error *err)
{
        struct http_response answer;
        struct error why = { 0 };
        int r = kube_raw(&k, "GET", "/readyz", NULL, (struct slice){ 0 }, arena, &answer, &why);

        *ret_problem = "";
        if (r == 0)
                return 0;
        if (r == ERR_CANCELLED || r == ERR_NO_MEMORY) {
                *err = why;
                return r;
        }
        *ret_problem = arena_printf(arena, "health probe failed with status code %d", why.http_status);
        return *ret_problem ? 0 : error_no_memory(err);
}

/* Best effort: without a version the property is left out. */
static void read_version(struct member_agent *a, struct kube_client k, struct arena *arena, int64_t now_ms)
{
        struct http_response answer;
        AUTO_JSON json_t *doc = NULL;
        const char *version;

        if (a->member_version[0] && now_ms - a->member_version_ms < VERSION_KEPT_MS)
                return;
        if (kube_raw(&k, "GET", "/version", NULL, (struct slice){ 0 }, arena, &answer, NULL) < 0 ||
            doc_parse(answer.body, &doc, NULL) < 0)
                return;
        version = doc_get_string(doc, "gitVersion");
        if (!version)
                return;
        snprintf(a->member_version, sizeof(a->member_version), "%s", version);
        a->member_version_ms = now_ms;
}

/* ---- joining and leaving ---- */

static int set_joined(struct member_agent *a, bool joined, struct error *err)
{
        if (a->joined == joined)
                return 0;
        TRY(store_meta_put(a->store, "joined", joined ? "true" : "false", err));
        a->joined = joined;
        log_info(a->log, joined ? "joined the fleet" : "left the fleet");
        return joined ? agent_enqueue_all(a, QUEUE_NORMAL, err) : 0;
}

static int release_work(struct member_agent *a, const struct object *work, struct arena *arena,
                        struct error *err)
{
        struct object *wanted;
        int r;

        if (!object_has_finalizer(work, FINALIZER_WORK))
                return 0;
        wanted = object_copy(work, arena);
        if (!wanted)
                return error_no_memory(err);
        object_remove_finalizer(wanted, FINALIZER_WORK);
        r = agent_patch_diff(a, &a->hub, a->works, work, wanted, OBJECT_META_SPEC, err);
        return r == ERR_NOT_FOUND ? 0 : r;
}

/* What the hub wishes; NULL = nothing. */
static const char *wished_state(const struct internal_member_cluster *cluster)
{
        return cluster && cluster->spec ? cluster->spec->state : NULL;
}

static bool still_leaves(const struct member_agent *a, const struct internal_member_cluster *cluster)
{
        const struct object_meta *m = &cluster->object.meta;
        const struct object *o = informer_get(a->clusters, m->ns, m->name);
        const struct internal_member_cluster *now = (const struct internal_member_cluster *)(const void *)o;

        return text_equal(wished_state(now), CLUSTER_STATE_LEAVE) && text_equal(o->meta.uid, m->uid);
}

/* No reconcile may put a finalizer back after the sweep: none starts any more, and those that run are waited
 * for. That may take so long that the hub gives up waiting and takes the cluster in again: Works are then to
 * be cleaned up after, and another pass is due. *ret_left: all of them were let go of. */
static int leave(struct reconcile *rc, struct member_agent *a, const struct internal_member_cluster *cluster,
                 bool *ret_left)
{
        struct object_list works;

        TRY(set_joined(a, false, rc->err));
        while (a->busy > 0)
                if (waitq_wait(a->loop, &a->idle, DEADLINE_NONE) < 0)
                        return error_set(rc->err, ERR_CANCELLED, "leaving was cancelled");
        if (informer_list(a->works, rc->arena, &works) < 0)
                return error_no_memory(rc->err);
        for (size_t i = 0; i < works.n && still_leaves(a, cluster); i++)
                TRY(release_work(a, works.at[i], rc->arena, rc->err));
        *ret_left = still_leaves(a, cluster);
        return 0;
}

/* ---- reporting ---- */

#define EVENT_SOURCE "v1beta1InternalMemberClusterController"

static void send_event(struct reconcile *rc, struct member_agent *a, const struct object *about,
                       const struct internal_member_cluster_status *before,
                       const struct internal_member_cluster_status *after, const char *type,
                       bool generation_too)
{
        const struct condition *c = membership_condition(after, type);
        bool warning = c && text_equal(c->reason, REASON_AGENT_UNHEALTHY);

        if (!membership_event_due(before, after, type, generation_too))
                return;
        event_record_by(a->hub_events, EVENT_SOURCE, about, warning ? EVENT_TYPE_WARNING : EVENT_TYPE_NORMAL,
                        c->reason, "%s", membership_event_text(c->reason));
        if (text_equal(c->reason, REASON_AGENT_JOINED))
                metric_add(a->metrics, METRIC_JOINS, 1, (const char *[]){ "success" });
        if (text_equal(c->reason, REASON_AGENT_LEFT))
                metric_add(a->metrics, METRIC_LEAVES, 1, (const char *[]){ "success" });
}

/* Of a provider: about its start, and about a collection that failed. */
static void send_property_event(struct member_agent *a, const struct object *about,
                                const struct internal_member_cluster_status *before,
                                const struct internal_member_cluster_status *after, const char *type,
                                bool failures_alone)
{
        const struct condition *old = before ? condition_find(&before->conditions, type) : NULL;
        const struct condition *new = condition_find(&after->conditions, type);
        bool good = new &&text_equal(new->status, CONDITION_TRUE);

        if (!new || (good && failures_alone) ||
            (old && text_equal(old->status, new->status) && text_equal(old->reason, new->reason)))
                return;
        event_record_by(a->hub_events, EVENT_SOURCE, about, good ? EVENT_TYPE_NORMAL : EVENT_TYPE_WARNING,
                        new->reason, "%s", new->message);
}

static int write_report(struct reconcile *rc, struct member_agent *a,
                        const struct internal_member_cluster *now, const struct membership_report *r)
{
        struct internal_member_cluster wanted = *now;
        int result;

        TRY(membership_status(now, r, rc->arena, &wanted.status, rc->err));
        wanted.object.refs = wanted.object.block_size = 0;
        result = agent_patch_diff(a, &a->hub, a->clusters, &now->object, &wanted.object, OBJECT_STATUS,
                                  rc->err);
        if (result == ERR_NOT_FOUND)
                return 0;
        TRY(result);
        send_event(rc, a, &now->object, now->status, wanted.status, CONDITION_JOINED, true);
        send_event(rc, a, &now->object, now->status, wanted.status, CONDITION_HEALTHY, false);
        send_property_event(a, &now->object, now->status, wanted.status, CONDITION_PROPERTY_PROVIDER_STARTED,
                            false);
        send_property_event(a, &now->object, now->status, wanted.status,
                            CONDITION_PROPERTY_COLLECTION_SUCCEEDED, true);
        return 0;
}

static int collect(struct reconcile *rc, struct member_agent *a, struct membership_report *r)
{
        struct property_collection *c = ARENA_NEW(rc->arena, struct property_collection);

        if (!c)
                return error_no_memory(rc->err);
        *c = (struct property_collection){ .arena = rc->arena,
                                           .now_ms = rc->now_ms,
                                           .version = a->member_version };
        TRY(property_set_collect(a->properties, &rc->log, c, rc->err));
        r->told = c;
        r->taken_back = property_conditions_taken_back(&a->options->properties, rc->arena);
        return r->taken_back ? 0 : error_no_memory(rc->err);
}

/* What the cache has now, until the reconcile ends; *ret NULL if there is none. */
static int hold_cluster(struct reconcile *rc, struct member_agent *a,
                        const struct internal_member_cluster **ret)
{
        const struct object *o = informer_get(a->clusters, rc->ns, rc->name);

        *ret = (const struct internal_member_cluster *)(const void *)o;
        if (!o)
                return 0;
        object_ref(o);
        return arena_defer(rc->arena, unref, (void *)(uintptr_t)o) < 0 ? error_no_memory(rc->err) : 0;
}

static int report(struct reconcile *rc, struct member_agent *a, struct membership_report *r, int64_t period_s)
{
        const struct internal_member_cluster *cluster;

        r->health_problem = a->health_problem;
        r->healthy = !a->health_problem[0];
        r->now_ms = loop_wall_ms(a->loop);
        TRY(hold_cluster(rc, a, &cluster));
        if (!text_equal(wished_state(cluster), CLUSTER_STATE_JOIN))
                return 0; /* it went, or is to leave since: another pass is due */
        TRY(collect(rc, a, r));
        TRY(write_report(rc, a, cluster, r));
        if (r->beat)
                a->next_beat_ms =
                        loop_now_ms(a->loop) + membership_next_ms(period_s, loop_random_u64(a->loop));
        r->beat = false;
        return 0;
}

/* Looks at the member's API server. 1: its health is another than was known. */
static int examine(struct reconcile *rc, struct member_agent *a, int64_t period_s)
{
        struct kube_client k = probe_client(a, period_s);
        const char *problem;
        bool news;

        TRY(probe(k, rc->arena, &problem, rc->err));
        if (!problem[0])
                read_version(a, k, rc->arena, rc->now_ms);
        news = !a->probed || !text_equal(problem, a->health_problem);
        snprintf(a->health_problem, sizeof(a->health_problem), "%s", problem);
        a->probed = true;
        return news;
}

/* The rights come a moment after the agent at times. A missing one is told of by the connection. */
static struct outcome not_reported(struct reconcile *rc, struct member_agent *a)
{
        bool come = loop_now_ms(a->loop) - a->begun_ms < MEMBERSHIP_RIGHTS_COME_MS;

        return rc->err->code == ERR_FORBIDDEN && come ? again_after(RIGHTS_RETRY_MS) : failed(rc->err);
}

/* A sick cluster is looked at sooner than the next heartbeat, if a look as long as the last one cannot delay
 * that. */
static int64_t next_pass_ms(const struct member_agent *a, bool all_known, int64_t look_ms)
{
        int64_t beat = MAX(a->next_beat_ms - loop_now_ms(a->loop), 1);

        if (a->health_problem[0])
                return RETRY_MS + look_ms < beat ? RETRY_MS : beat;
        return all_known ? beat : MIN(beat, PROPERTIES_WAIT_MS);
}

/* Reports are written at the pace of heartbeats; passes in between write what else changed. A heartbeat goes
 * out with what was known of the cluster, before anything that may hang; what is found then follows if it is
 * new. */
static struct outcome join(struct reconcile *rc, struct member_agent *a,
                           const struct internal_member_cluster *cluster)
{
        int64_t period = cluster->spec->heartbeat_period_seconds.set
                                 ? cluster->spec->heartbeat_period_seconds.value
                                 : DEFAULT_PERIOD_S;
        struct membership_report r = { .state = AGENT_JOINED,
                                       .beat = loop_now_ms(a->loop) >= a->next_beat_ms ||
                                               membership_report_due(cluster) };
        int64_t begun;
        int news;

        if (set_joined(a, true, rc->err) < 0)
                return failed(rc->err);
        if (a->probed && report(rc, a, &r, period) < 0)
                return not_reported(rc, a);
        begun = loop_now_ms(a->loop);
        news = examine(rc, a, period);
        if (news < 0)
                return failed(rc->err);
        if (news && report(rc, a, &r, period) < 0)
                return not_reported(rc, a);
        return again_after(next_pass_ms(a, r.told && r.told->complete, loop_now_ms(a->loop) - begun));
}

static struct outcome leave_fleet(struct reconcile *rc, struct member_agent *a,
                                  const struct internal_member_cluster *cluster)
{
        struct membership_report r = { .state = AGENT_LEFT, .now_ms = rc->now_ms };
        struct error why;
        bool left = false;

        if (leave(rc, a, cluster, &left) == 0)
                return left && write_report(rc, a, cluster, &r) < 0 ? failed(rc->err) : done();
        why = *rc->err;
        r.state = AGENT_FAILED_TO_LEAVE;
        r.problem = why.text;
        if (why.code != ERR_CANCELLED)
                (void)write_report(rc, a, cluster, &r); /* best effort: the first error counts */
        *rc->err = why;
        return failed(rc->err);
}

static struct outcome reconcile_membership(struct reconcile *rc)
{
        struct member_agent *a = rc->agent;
        const struct internal_member_cluster *cluster;
        const char *state;

        if (hold_cluster(rc, a, &cluster) < 0)
                return failed(rc->err);
        if (!cluster) {
                if (informer_synced(a->clusters) && set_joined(a, false, rc->err) < 0)
                        return failed(rc->err);
                return done();
        }
        state = wished_state(cluster);
        if (text_equal(state, CLUSTER_STATE_JOIN))
                return join(rc, a, cluster);
        if (text_equal(state, CLUSTER_STATE_LEAVE))
                return leave_fleet(rc, a, cluster);
        log_warn(&rc->log, "InternalMemberCluster has an unknown state", "state", state);
        return done();
}

const struct controller internal_member_cluster_controller = {
        .name = "internalmembercluster-controller",
        .reconcile = reconcile_membership,
        .concurrency = 1,
        .backoff_base_ms = 200,
        .backoff_max_ms = 15000,
};
