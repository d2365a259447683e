#include "hub-agent/manifest-generation/sync_plan.h"

#include <ctype.h>
#include <stdlib.h>

#include "hub-agent/manifest-generation/sync_marks.h"
#include "proto/names.h"

#define CLUSTER_SCOPE "<cluster>"

/* ---- what is refused ---- */

/* What agents write for each other: whoever writes one commands members past the placements. */
static bool is_internal(const char *api_version, const char *kind)
{
        static const struct {
                const char *group, *kind;
        } internal[] = { { GROUP_PLACEMENT, "Work" },
                         { GROUP_PLACEMENT, "AppliedWork" },
                         { GROUP_PLACEMENT, "ClusterResourceBinding" },
                         { GROUP_PLACEMENT, "ResourceBinding" },
                         { GROUP_PLACEMENT, "ClusterResourceSnapshot" },
                         { GROUP_PLACEMENT, "ResourceSnapshot" },
                         { GROUP_PLACEMENT, "ClusterSchedulingPolicySnapshot" },
                         { GROUP_PLACEMENT, "SchedulingPolicySnapshot" },
                         { GROUP_PLACEMENT, "ClusterResourceOverrideSnapshot" },
                         { GROUP_PLACEMENT, "ResourceOverrideSnapshot" },
                         { GROUP_PLACEMENT, "ClusterResourcePlacementStatus" },
                         { GROUP_CLUSTER, "InternalMemberCluster" },
                         { GROUP_MULTICLUSTER, "Work" },
                         { GROUP_MULTICLUSTER, "AppliedWork" } };

        for (size_t i = 0; i < ARRAY_LEN(internal); i++) {
                size_t n = strlen(internal[i].group);

                if (text_equal(kind, internal[i].kind) && text_starts_with(api_version, internal[i].group) &&
                    api_version[n] == '/')
                        return true;
        }
        return false;
}

static bool is_agents_own(const struct sync_rules *r, const struct sync_object *o)
{
        return text_equal(o->kind, "Secret") && text_equal(o->api_version, "v1") && o->ns &&
               text_equal(o->ns, r->agent_namespace);
}

bool sync_is_allowed(const struct sync_rules *r, const char *ns, const char *kind, const char *name)
{
        if (r->n_namespaces == 0)
                return true;
        if (ns)
                return text_in(ns, r->namespaces, r->n_namespaces);
        return !text_equal(kind, "Namespace") || text_in(name, r->namespaces, r->n_namespaces);
}

enum sync_fate sync_fate_of(const struct sync_rules *r, const struct sync_object *o, struct error *err)
{
        if (!sync_is_allowed(r, o->ns, o->kind, o->name))
                return SYNC_OUTSIDE;
        if (text_equal(sync_ignore_of(o->doc), "true"))
                return SYNC_IGNORED;
        if (!is_internal(o->api_version, o->kind) && !is_agents_own(r, o))
                return SYNC_APPLY;
        error_set(err, ERR_FORBIDDEN, "not allowed: %s", o->identity);
        return SYNC_REFUSED;
}

/* ---- order ---- */

unsigned sync_rank(const char *kind)
{
        static const char *const ranks[SYNC_RANKS - 1][10] = {
                { "Namespace" },
                { "CustomResourceDefinition", "ServiceAccount", "ClusterRole", "Role", "PersistentVolume",
                  "Service" },
                { "ResourceQuota", "LimitRange", "Secret", "ConfigMap", "RoleBinding", "ClusterRoleBinding",
                  "PersistentVolumeClaim", "Ingress" },
                { "DaemonSet", "Deployment", "ReplicationController", "ReplicaSet", "Job", "CronJob",
                  "StatefulSet" },
        };

        for (unsigned rank = 0; rank < SYNC_RANKS - 1; rank++)
                for (size_t i = 0; i < ARRAY_LEN(ranks[0]) && ranks[rank][i]; i++)
                        if (text_equal(kind, ranks[rank][i]))
                                return rank;
        return SYNC_RANKS - 1;
}

int sync_compare(const char *kind_a, const char *name_a, const char *identity_a, const char *kind_b,
                 const char *name_b, const char *identity_b)
{
        unsigned a = sync_rank(kind_a), b = sync_rank(kind_b);
        int by_name = strcmp(name_a, name_b);

        if (a != b)
                return a < b ? -1 : 1;
        return by_name ? by_name : strcmp(identity_a, identity_b);
}

static int by_rank(const void *a, const void *b)
{
        const struct sync_object *x = *(const struct sync_object *const *)a,
                                 *y = *(const struct sync_object *const *)b;

        return sync_compare(x->kind, x->name, x->identity, y->kind, y->name, y->identity);
}

void sync_sort(const struct sync_object **objects, size_t n)
{
        if (n > 1)
                qsort(objects, n, sizeof(*objects), by_rank);
}

const char *sync_identity(struct arena *arena, const char *ns, const char *kind, const char *name)
{
        char *text = arena_printf(arena, "%s:%s/%s", text_empty(ns) ? CLUSTER_SCOPE : ns, kind, name);

        if (text)
                for (char *p = strchr(text, ':') + 1; *p != '/'; p++)
                        *p = (char)tolower((unsigned char)*p);
        return text;
}
