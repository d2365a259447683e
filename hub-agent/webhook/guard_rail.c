/* The guard rail: who may touch what the fleet lives on: spec/membership-webhooks-charts.md 5.8. */
#include "hub-agent/webhook/rules.h"

enum { GROUPS_TOLD = 3, GROUPS_TOLD_ALL_UP_TO = 10 };

/* ---- who asks ---- */

bool user_in_group(const struct admission_request *r, const char *group)
{
        return text_in(group, r->groups.at, r->groups.n);
}

static bool is_whitelisted(const struct admission_call *c)
{
        struct slice rest = slice_of(c->world->flags.whitelisted_users), name;
        bool more;

        do {
                more = slice_cut(&rest, ',', &name);
                name = slice_trim(name);
                if (name.len && slice_is(name, c->request.user))
                        return true;
        } while (more);
        return false;
}

static bool is_admin(const struct admission_call *c)
{
        return is_whitelisted(c) || user_in_group(&c->request, "system:masters") ||
               user_in_group(&c->request, "kubeadm:cluster-admins");
}

bool guard_rail_knows(const struct admission_call *c)
{
        static const char *const users[] = { "system:kube-scheduler", "system:kube-controller-manager",
                                             "aks-support" };

        return is_admin(c) || user_in_group(&c->request, "system:serviceaccounts") ||
               user_in_group(&c->request, "system:nodes") ||
               text_in(c->request.user, users, ARRAY_LEN(users));
}

/* ---- what is said ---- */

static const char *groups_text(struct arena *arena, const struct string_list *groups)
{
        bool all = groups->n <= GROUPS_TOLD_ALL_UP_TO;
        uint32_t n = all ? groups->n : GROUPS_TOLD;
        const char *text = "groups: [";

        for (uint32_t i = 0; i < n && text; i++)
                text = arena_printf(arena, "%s%s%s", text, i ? (all ? " " : ", ") : "", groups->at[i]);
        return text ? arena_printf(arena, "%s%s]", text, all ? "" : ",......") : NULL;
}

static const char *ruling(struct admission_call *c, bool may, const char *more)
{
        const struct admission_request *r = &c->request;
        const char *groups = groups_text(c->arena, &r->groups);

        return !groups ? NULL
                       : arena_printf(c->arena,
                                      "user: '%s' in '%s' is %s to %s resource %s/%s, Kind=%s/%s: %s/%s%s",
                                      r->user, groups, may ? "allowed" : "not allowed",
                                      admission_operation_name(r->operation), r->kind.group, r->kind.version,
                                      r->kind.kind, r->subresource, r->ns, r->name, more);
}

int guard_rail_permit(struct admission_call *c, bool may, const char *more)
{
        return admission_answer_with(c, may, may ? 200 : 403, may ? NULL : "Forbidden", ruling(c, may, more));
}

/* ---- what is asked for ---- */

/* A deletion of a whole collection comes item by item, without a name of its own. */
static const char *name_of(const struct admission_call *c)
{
        const json_t *doc = c->request.object ? c->request.object : c->request.old_object;

        return *c->request.name ? c->request.name : or_empty(doc_get_string(doc, "metadata.name"));
}

static int of_definition(struct admission_call *c)
{
        static const char *const ours[] = { GROUP_NETWORKING, GROUP_CLUSTER, GROUP_PLACEMENT,
                                            GROUP_MULTICLUSTER };
        const char *dot = strchr(name_of(c), '.');

        return guard_rail_permit(c, !dot || !text_in(dot + 1, ours, ARRAY_LEN(ours)) || is_admin(c), "");
}

static int of_namespace(struct admission_call *c)
{
        c->request.ns = "";
        return guard_rail_permit(c, !is_reserved_namespace(name_of(c)) || guard_rail_knows(c), "");
}

/* An account of a service as it signs in, or what is called as the identity says. */
static bool is_member(const struct admission_request *r, const struct subject *identity)
{
        struct slice rest = slice_of(r->user), word;

        if (!identity || text_empty(identity->name))
                return false;
        if (text_equal(r->user, identity->name))
                return true;
        if (!slice_cut(&rest, ':', &word) || !slice_is(word, "system") || !slice_cut(&rest, ':', &word) ||
            !slice_is(word, "serviceaccount") || !slice_cut(&rest, ':', &word))
                return false;
        return slice_is(word, text_empty(identity->ns) ? NAMESPACE_FLEET_SYSTEM : identity->ns) &&
               slice_is(rest, identity->name);
}

/* What an agent of a member writes in its own namespace. */
static int of_member_namespace(struct admission_call *c)
{
        const char *ns = c->request.ns;
        const struct object *o = NULL;
        const struct member_cluster *m;
        struct error why = { 0 };
        int code;

        if (!is_reserved_namespace(ns) || guard_rail_knows(c))
                return guard_rail_permit(c, true, "");
        if (!text_starts_with(ns, NAMESPACE_MEMBER_PREFIX))
                return guard_rail_permit(c, false, "");
        code = c->world->find(c->world->ctx, c->arena, &member_cluster_kind, NULL,
                              ns + strlen(NAMESPACE_MEMBER_PREFIX), &o, &why);
        if (code == ERR_CANCELLED || code == ERR_NO_MEMORY)
                return admission_fail(c, 500, &why);
        if (code < 0)
                return guard_rail_permit(c, true, " because we failed to get MC");
        m = (const struct member_cluster *)o;
        return guard_rail_permit(c, m->spec && is_member(&c->request, m->spec->identity), "");
}

static int allow_all(struct admission_call *c)
{
        return guard_rail_permit(c, true, "");
}

/* By group and kind in any version: deletions of all kinds come in the version that they were sent in. */
static const struct {
        const char *group, *kind;
        int (*answer)(struct admission_call *c);
} by_kind[] = {
        { "apiextensions.k8s.io", "CustomResourceDefinition", of_definition },
        { GROUP_CLUSTER, "MemberCluster", guard_rail_member_cluster },
        { "", "Namespace", of_namespace },
        { GROUP_CLUSTER, "InternalMemberCluster", of_member_namespace },
        { GROUP_PLACEMENT, "Work", of_member_namespace },
        { GROUP_NETWORKING, "EndpointSliceExport", of_member_namespace },
        { GROUP_NETWORKING, "EndpointSliceImport", of_member_namespace },
        { GROUP_NETWORKING, "InternalServiceExport", of_member_namespace },
        { GROUP_NETWORKING, "InternalServiceImport", of_member_namespace },
        { "", "Event", allow_all },
        { "events.k8s.io", "Event", allow_all },
};

int guard_rail_validate(struct admission_call *c)
{
        const struct admission_gvk *kind = &c->request.kind;

        for (size_t i = 0; i < ARRAY_LEN(by_kind); i++)
                if (text_equal(kind->group, by_kind[i].group) && text_equal(kind->kind, by_kind[i].kind))
                        return by_kind[i].answer(c);
        return guard_rail_permit(c, !*c->request.ns || guard_rail_knows(c), "");
}
