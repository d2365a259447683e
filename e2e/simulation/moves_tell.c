/* What operators tell of their clusters: properties of their own, and prices of the machine. */
#include "e2e/simulation/moves_internal.h"

#define OPERATOR "operator"

static const struct kube_resource config_maps = { "", "v1", "configmaps", "ConfigMap", true };
static const struct kube_resource nodes = { "", "v1", "nodes", "Node", false };

static int apply(struct player *p, unsigned member, const struct kube_resource *what, const char *ns,
                 const char *subresource, json_t *doc, struct error *err)
{
        const struct kube_write how = { .field_manager = OPERATOR,
                                        .force = true,
                                        .subresource = subresource };
        AUTO_JSON json_t *owned = doc;
        struct kube_client *k;

        if (!owned)
                return error_no_memory(err);
        TRY(move_client(p, member, &k, err));
        return kube_doc_patch(k, what, ns, doc_get_string(owned, "metadata.name"), KUBE_PATCH_APPLY, owned,
                              &how, NULL, err);
}

static int put_map(struct player *p, unsigned member, const char *name, const char *key, const char *text,
                   struct error *err)
{
        return apply(p, member, &config_maps, WISH_TOLD_NAMESPACE, NULL,
                     json_pack("{s:s, s:s, s:{s:s}, s:{s:s}}", "apiVersion", "v1", "kind", "ConfigMap",
                               "metadata", "name", name, "data", key, text),
                     err);
}

int move_tell_size(struct player *p, struct dice *d, struct error *err)
{
        unsigned member = move_member(p, d), size = 1 + (unsigned)dice_below(d, 50);
        char text[16];
        int code;

        snprintf(text, sizeof(text), "%u", size);
        code = put_map(p, member, WISH_TOLD_MAP, WISH_TOLD_SIZE, text, err);
        if (code < 0)
                return move_refused(p, code, err);
        p->wish->members[member].size = size;
        return move_done(p, "member-%u: %u", member, size);
}

/* Its only machine has two cores. */
static int put_machine(struct player *p, unsigned member, struct error *err)
{
        TRY(apply(p, member, &nodes, NULL, NULL,
                  json_pack("{s:s, s:s, s:{s:s, s:{s:s}}}", "apiVersion", "v1", "kind", "Node", "metadata",
                            "name", "machine", "labels", "node.kubernetes.io/instance-type", "box"),
                  err));
        return apply(p, member, &nodes, NULL, "status",
                     json_pack("{s:s, s:s, s:{s:s}, s:{s:{s:s, s:s}}}", "apiVersion", "v1", "kind", "Node",
                               "metadata", "name", "machine", "status", "capacity", "cpu", "2", "memory",
                               "4Gi"),
                     err);
}

int move_tell_price(struct player *p, struct dice *d, struct error *err)
{
        unsigned member = move_member(p, d), price = 1 + (unsigned)dice_below(d, 50);
        char text[64];
        int code;

        snprintf(text, sizeof(text), "regions: { \"*\": { box: %u } }", price);
        code = put_machine(p, member, err);
        if (code == 0)
                code = put_map(p, member, WISH_TOLD_PRICES, "prices.yaml", text, err);
        if (code < 0)
                return move_refused(p, code, err);
        p->wish->members[member].price = price;
        return move_done(p, "member-%u: %u", member, price);
}
