#include "hub-agent/inventory/cluster_profile.h"

#include "common/base/memory.h"
#include "hub-agent/membership/membership.h"

bool member_is_in_inventory(const struct member_cluster *m)
{
        return m->status &&
               condition_is_true(&m->status->conditions, CONDITION_JOINED, m->object.meta.generation);
}

/* ---- spec ---- */

const char *profile_manager(const struct cluster_profile *p)
{
        return p->spec && p->spec->cluster_manager ? or_empty(p->spec->cluster_manager->name) : "";
}

bool profile_is_ours(const struct cluster_profile *p)
{
        return text_equal(profile_manager(p), CLUSTER_MANAGER_NAME);
}

struct cluster_profile *profile_with_spec(struct arena *arena, const struct member_cluster *m,
                                          const struct cluster_profile *now)
{
        const char *name = m->object.meta.name;
        struct cluster_profile *p =
                (struct cluster_profile *)(now ? object_copy(&now->object, arena)
                                               : object_new(&cluster_profile_kind, CLUSTER_PROFILE_NAMESPACE,
                                                            name, arena));

        if (!p || set_label(&p->object, LABEL_CLUSTER_MANAGER, CLUSTER_MANAGER_NAME, arena) < 0 ||
            !(p->spec = ARENA_NEW(arena, struct cluster_profile_spec)) ||
            !(p->spec->cluster_manager = ARENA_NEW(arena, struct cluster_manager)))
                return NULL;
        p->spec->display_name = name;
        p->spec->cluster_manager->name = CLUSTER_MANAGER_NAME;
        return p;
}

/* ---- status ---- */

static const char *property_of(const struct member_cluster *m, const char *name)
{
        const struct property_value *p = member_property(m->status, name);

        return p ? p->value : NULL;
}

static const struct agent_status *member_agent_of(const struct member_cluster *m)
{
        return m->status ? member_agent_status(&m->status->agent_status, AGENT_MEMBER) : NULL;
}

static const char *base64_of(struct arena *arena, const char *text)
{
        size_t n = strlen(text);
        char *encoded = arena_alloc(arena, text_base64_size(n));

        if (encoded)
                text_base64_encode(text, n, encoded);
        return encoded;
}

/* One way to reach it, named after who manages it; there even if nothing is known of it. */
static int put_access(struct arena *arena, const struct member_cluster *m, struct cluster_profile_status *s)
{
        const char *authority = property_of(m, PROPERTY_CERTIFICATE_AUTHORITY);
        struct access_provider *p = ARENA_NEW(arena, struct access_provider);

        if (!p || !(p->cluster = ARENA_NEW(arena, struct cluster_access)))
                return ERR_NO_MEMORY;
        p->name = CLUSTER_MANAGER_NAME;
        p->cluster->server = or_empty(property_of(m, PROPERTY_ENTRYPOINT));
        if (authority && !(p->cluster->certificate_authority_data = base64_of(arena, authority)))
                return ERR_NO_MEMORY;
        s->access_providers = (struct access_provider_list){ p, 1, true };
        return 0;
}

static int put_version(struct arena *arena, const struct member_cluster *m, struct cluster_profile_status *s)
{
        const char *version = property_of(m, PROPERTY_KUBERNETES_VERSION);

        if (!version)
                return 0;
        s->version = ARENA_NEW(arena, struct cluster_version);
        if (!s->version)
                return ERR_NO_MEMORY;
        s->version->kubernetes = version;
        return 0;
}

static bool properties_are_current(const struct member_cluster *m)
{
        return condition_is_true(&m->status->conditions, CONDITION_PROPERTY_COLLECTION_SUCCEEDED,
                                 m->object.meta.generation);
}

struct health {
        const char *status, *reason, *message;
};

static bool is_lost(const struct agent_status *a)
{
        return a->last_received_heartbeat == TIME_NONE ||
               condition_tells_silence(condition_find(&a->conditions, CONDITION_HEALTHY));
}

/* spec/api.md 12.10: the first that is so. That it is silent is said by its status alone:
 * membership/hearing.h.
 */
static struct health health_of(const struct member_cluster *m)
{
        const struct agent_status *a = member_agent_of(m);
        const struct condition *c = a ? condition_find(&a->conditions, CONDITION_HEALTHY) : NULL;

        if (!a)
                return (struct health){ CONDITION_UNKNOWN, REASON_PROFILE_NO_STATUS,
                                        "The Fleet member agent reported no status of the cluster" };
        if (!c)
                return (struct health){ CONDITION_UNKNOWN, REASON_PROFILE_NO_HEALTH_INFO,
                                        "The Fleet member agent said nothing of the health of the cluster" };
        if (is_lost(a))
                return (struct health){ CONDITION_FALSE, REASON_PROFILE_HEARTBEAT_LOST,
                                        "The Fleet member agent is heard of no more" };
        if (text_equal(c->status, CONDITION_TRUE))
                return (struct health){ CONDITION_TRUE, REASON_PROFILE_HEALTHY,
                                        "The API server of the cluster is healthy" };
        if (text_equal(c->status, CONDITION_FALSE))
                return (struct health){ CONDITION_FALSE, REASON_PROFILE_UNHEALTHY,
                                        "The API server of the cluster is not healthy" };
        return (struct health){ CONDITION_UNKNOWN, REASON_PROFILE_NO_HEALTH_INFO,
                                "The Fleet member agent does not know whether the cluster is healthy" };
}

struct cluster_profile *profile_with_status(struct arena *arena, const struct member_cluster *m,
                                            const struct cluster_profile *now, int64_t now_ms)
{
        struct cluster_profile *p = (struct cluster_profile *)object_copy(&now->object, arena);
        struct health h = health_of(m);
        struct condition c;

        if (!p || (!p->status && !(p->status = ARENA_NEW(arena, struct cluster_profile_status))))
                return NULL;
        if (properties_are_current(m) &&
            (put_version(arena, m, p->status) < 0 || put_access(arena, m, p->status) < 0))
                return NULL;
        c = make_condition(CONDITION_CONTROL_PLANE_HEALTHY, h.status, h.reason, h.message,
                           now->object.meta.generation);
        return condition_set(&p->status->conditions, &c, now_ms, arena) < 0 ? NULL : p;
}

/* ---- events ---- */

static bool same_health(const struct member_cluster *x, const struct member_cluster *y)
{
        const struct agent_status *a = member_agent_of(x), *b = member_agent_of(y);

        if (!a || !b)
                return a == b;
        return conditions_agree(&a->conditions, &b->conditions, CONDITION_HEALTHY) &&
               is_lost(a) == is_lost(b);
}

static bool same_properties(const struct member_cluster *x, const struct member_cluster *y)
{
        static const char *const used[] = { PROPERTY_KUBERNETES_VERSION, PROPERTY_CERTIFICATE_AUTHORITY,
                                            PROPERTY_ENTRYPOINT };

        for (size_t i = 0; i < ARRAY_LEN(used); i++)
                if (!text_equal(property_of(x, used[i]), property_of(y, used[i])))
                        return false;
        return true;
}

bool profile_is_touched(const struct member_cluster *before, const struct member_cluster *now)
{
        if (is_deleting(&now->object) || !before->status || !now->status ||
            object_has_finalizer(&before->object, FINALIZER_CLUSTER_PROFILE) !=
                    object_has_finalizer(&now->object, FINALIZER_CLUSTER_PROFILE) ||
            before->object.meta.generation != now->object.meta.generation)
                return true;
        return !conditions_agree(&before->status->conditions, &now->status->conditions, CONDITION_JOINED) ||
               !conditions_agree(&before->status->conditions, &now->status->conditions,
                                 CONDITION_PROPERTY_COLLECTION_SUCCEEDED) ||
               !same_health(before, now) || !same_properties(before, now);
}
