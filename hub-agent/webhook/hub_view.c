#include "hub-agent/webhook/hub_view.h"

#include "hub-agent/common.h"

static void unref(void *o)
{
        object_unref(o);
}

/* `o` lives as long as the arena. */
static int keep(struct arena *arena, const struct object *o, struct error *err)
{
        return arena_defer(arena, unref, object_ref(o)) < 0 ? error_no_memory(err) : 0;
}

static int find(void *view, struct arena *arena, const struct kind *kind, const char *ns, const char *name,
                const struct object **ret, struct error *err)
{
        struct hub_view *v = view;
        struct informer *i = manager_informer(v->manager, kind);
        const struct object *o;

        if (!i)
                return error_no_memory(err);
        if (!informer_synced(i))
                return error_set(err, ERR_RETRY, "the %s are not known yet, please retry", kind->plural);
        if (informer_read(i, ns, name, arena, &o) < 0)
                return error_no_memory(err);
        if (!o)
                return error_set(err, ERR_NOT_FOUND, "%s \"%s\" not found", kind->plural, name);
        *ret = o;
        return 0;
}

/* ---- lists from the server ---- */

struct listing {
        struct arena *arena;
        struct object_list *to;
        size_t room;
};

static int take(void *listing, struct object *o)
{
        struct listing *l = listing;

        if (l->to->n == l->room) {
                size_t room = l->room ? 2 * l->room : 64;
                const struct object **grown = ARENA_NEW_ARRAY(l->arena, const struct object *, room);

                if (!grown)
                        return ERR_NO_MEMORY;
                if (l->to->n)
                        memcpy(grown, l->to->at, l->to->n * sizeof(*grown));
                l->to->at = grown;
                l->room = room;
        }
        TRY(keep(l->arena, o, NULL));
        l->to->at[l->to->n++] = o;
        return 0;
}

static int list(void *view, struct arena *arena, const struct kind *kind, const char *ns,
                struct object_list *ret, struct error *err)
{
        struct hub_view *v = view;
        struct listing l = { .arena = arena, .to = ret };

        *ret = (struct object_list){ 0 };
        return kube_list(&v->kube, kind, ns, NULL, DECODE_FULL, NULL, take, &l, NULL, err);
}

/* Where the kind is not served nothing is exported. */
static int service_exports(void *view, const char *ns, json_t **ret, struct error *err)
{
        static const struct kube_resource exports = { GROUP_NETWORKING, "v1alpha1", "internalserviceexports",
                                                      "InternalServiceExport", true };
        struct hub_view *v = view;
        int code = kube_doc_list(&v->kube, &exports, ns, NULL, ret, err);

        if (code != ERR_NOT_FOUND)
                return code;
        error_clear(err);
        *ret = json_array();
        return *ret ? 0 : error_no_memory(err);
}

/* ---- kinds ---- */

static int no_match(const struct admission_gvk *gvk, struct error *err)
{
        return error_set(err, ERR_NOT_FOUND, "no matches for kind \"%s\" in version \"%s%s%s\"", gvk->kind,
                         gvk->group, *gvk->group ? "/" : "", gvk->version);
}

static int scope(void *view, const struct admission_gvk *gvk, enum admission_scope *ret, struct error *err)
{
        struct hub_view *v = view;
        struct kube_mapped m;
        int code = kube_mapper_kind(v->mapper, gvk->group, gvk->version, gvk->kind, &m, err);

        if (code == ERR_NOT_FOUND && kube_mapper_doubts(v->mapper, gvk->group))
                return error_set(err, ERR_RETRY, "the server cannot tell of group \"%s\" at present",
                                 gvk->group);
        if (code == ERR_NOT_FOUND)
                return no_match(gvk, err);
        if (code < 0)
                return code;
        if (!m.listable || !m.watchable ||
            !filter_api_allowed(v->filters, gvk->group, gvk->version, gvk->kind))
                *ret = ADMISSION_SCOPE_UNTOLD;
        else
                *ret = m.resource.namespaced ? ADMISSION_SCOPE_NAMESPACED : ADMISSION_SCOPE_CLUSTER;
        return 0;
}

int hub_view_init(struct hub_view *v, struct manager *m, struct kube_mapper *mapper,
                  const struct filter_rules *filters, const struct kube_client *kube)
{
        *v = (struct hub_view){ .manager = m, .mapper = mapper, .filters = filters, .kube = *kube };
        v->kube.call_deadline_ms = HUB_VIEW_DEADLINE_MS;
        return manager_informer(m, &member_cluster_kind) &&
                               manager_informer(m, &cluster_resource_placement_kind)
                       ? 0
                       : ERR_NO_MEMORY;
}

struct admission_world hub_view_world(struct hub_view *v, const struct admission_flags *f)
{
        return (struct admission_world){ .ctx = v,
                                         .flags = *f,
                                         .find = find,
                                         .list = list,
                                         .service_exports = service_exports,
                                         .scope = scope };
}
