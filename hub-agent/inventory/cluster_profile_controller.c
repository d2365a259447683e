/* Writes a ClusterProfile for each member that has joined. spec/membership-webhooks-charts.md 3. That a
 * member is silent for too long is an event here: the membership controller writes it to the member's
 * status. */
#include "hub-agent/agent.h"
#include "hub-agent/inventory/cluster_profile.h"

struct pass {
        struct reconcile *rc;
        const struct member_cluster *member;   /* NULL if it is gone */
        const struct cluster_profile *profile; /* NULL if there is none */
};

static int remove_profile(struct pass *s)
{
        bool ours = s->profile && profile_is_ours(s->profile);
        int code = ours ? rc_delete_any_version(s->rc, &s->profile->object) : 0;

        return code == ERR_NOT_FOUND ? 0 : code;
}

static int write_spec(struct pass *s)
{
        const struct cluster_profile *wanted = profile_with_spec(s->rc->arena, s->member, s->profile);
        const struct object *stored;

        if (!wanted)
                return error_no_memory(s->rc->err);
        if (s->profile && !profile_is_ours(s->profile))
                return error_set(
                        s->rc->err, ERR_INVALID,
                        "ClusterProfile %s/%s: spec.clusterManager.name: is \"%s\" and cannot change: "
                        "another manager has a cluster of this name",
                        CLUSTER_PROFILE_NAMESPACE, s->rc->name, profile_manager(s->profile));
        if (!s->profile)
                TRY(rc_create(s->rc, &wanted->object, &stored));
        else
                TRY(rc_patch_diff(s->rc, &s->profile->object, &wanted->object, OBJECT_META_SPEC, &stored));
        if (s->profile && stored != &s->profile->object)
                log_warn(&s->rc->log, "a ClusterProfile was changed by somebody else, and is put back",
                         "profile", s->rc->name);
        s->profile = (const struct cluster_profile *)stored;
        return 0;
}

static int write_status(struct pass *s)
{
        const struct cluster_profile *wanted =
                profile_with_status(s->rc->arena, s->member, s->profile, s->rc->now_ms);

        if (!wanted)
                return error_no_memory(s->rc->err);
        return rc_patch_diff(s->rc, &s->profile->object, &wanted->object, OBJECT_STATUS, NULL);
}

static int keep_up(struct pass *s)
{
        TRY(rc_set_finalizer(s->rc, &s->member->object, FINALIZER_CLUSTER_PROFILE, true, NULL));
        TRY(write_spec(s));
        return write_status(s);
}

static int decide(struct pass *s)
{
        if (!s->member)
                return remove_profile(s);
        if (is_deleting(&s->member->object)) {
                TRY(remove_profile(s));
                return rc_set_finalizer(s->rc, &s->member->object, FINALIZER_CLUSTER_PROFILE, false, NULL);
        }
        if (!s->member->spec || !member_is_in_inventory(s->member))
                return 0;
        return keep_up(s);
}

static struct outcome reconcile(struct reconcile *rc)
{
        struct pass s = { .rc = rc };
        const struct object *member, *profile;

        if (cache_get(rc, &member_cluster_kind, NULL, rc->name, &member) < 0 ||
            cache_get(rc, &cluster_profile_kind, CLUSTER_PROFILE_NAMESPACE, rc->name, &profile) < 0)
                return failed(rc->err);
        s.member = (const struct member_cluster *)member;
        s.profile = (const struct cluster_profile *)profile;
        return decide(&s) < 0 ? failed(rc->err) : done();
}

/* ---- watches ---- */

static void map_member(void *agent, const struct informer_event *e, key_emit emit, void *to)
{
        if (e->type != INFORMER_UPDATED ||
            profile_is_touched((const struct member_cluster *)e->old, (const struct member_cluster *)e->now))
                emit(to, e->now->meta.name);
}

/* Other namespaces hold the profiles of other managers. */
static void map_profile(void *agent, const struct informer_event *e, key_emit emit, void *to)
{
        if (text_equal(e->now->meta.ns, CLUSTER_PROFILE_NAMESPACE))
                emit(to, e->now->meta.name);
}

static const struct watch watches[] = {
        { &member_cluster_kind, ON_ALL, map_member },
        { &cluster_profile_kind, ON_ALL, map_profile },
};

const struct controller cluster_profile_controller = {
        .name = "clusterprofile-controller",
        .watches = watches,
        .n_watches = ARRAY_LEN(watches),
        .reconcile = reconcile,
        .concurrency = 1,
};
