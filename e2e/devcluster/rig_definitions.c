#include "e2e/devcluster/rig_definitions.h"

#include "e2e/devcluster/crd.h"
#include "e2e/devcluster/gc_work.h"
#include "e2e/devcluster/internal.h"
#include "e2e/devcluster/meta.h"

#define POST_PATH "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"

struct rig_definition {
        struct blob *stored;
        struct custom_resource *compiled;
};

static void post_all(struct rig *r, const char *(*text)(size_t i))
{
        for (size_t i = 0; text(i); i++) {
                int status = rig_post(r, POST_PATH, text(i));
                if (status != 201)
                        fprintf(stderr, "a definition is refused: %s\n", r->text);
                ASSERT(status == 201);
        }
}

static struct rig_definition keep_one(struct cluster *hub, struct blob *stored)
{
        const char *group = strchr(blob_name(stored), '.');
        ASSERT(group);
        char key[600];
        snprintf(key, sizeof(key), "%s/%.*s", group + 1, (int)(group - blob_name(stored)), blob_name(stored));
        struct custom_resource *compiled = map_get(&hub->custom, key);
        ASSERT(compiled);
        return (struct rig_definition){ blob_ref(stored), crd_keep(compiled) };
}

/* The hub has no definitions but those that were posted, one version each. */
static void keep(struct cluster *hub, struct rig_definitions *kept)
{
        const struct table *t = api_store_table(hub, CRD_TABLE_KEY, false);
        if (hub->rv != kept->rv + t->items.n)
                return;
        kept->at = mem_must(mem_calloc(t->items.n, sizeof(*kept->at)));
        kept->n = t->items.n;
        for (size_t i = 0; i < t->items.n; i++)
                kept->at[t->items.at[i]->rv - kept->rv - 1] = keep_one(hub, t->items.at[i]);
}

/* Random numbers are taken as a request takes them, so that no later object gets the uid of one of these. */
static void put_all(struct devcluster *d, struct cluster *hub, const struct rig_definitions *kept)
{
        struct table *t = api_store_table(hub, CRD_TABLE_KEY, true);
        ASSERT(t);
        for (size_t i = 0; i < kept->n; i++) {
                struct error err = { 0 };
                char uid[37];
                meta_new_uid(d->loop, uid);
                int put = api_store_put_copy(t, kept->at[i].stored, &err);
                ASSERT(put == 0);
                int served = crd_serve_kept(d, hub, kept->at[i].compiled, &err);
                ASSERT(served == 0);
        }
        struct error err = { 0 };
        int committed = api_store_wait(d->store, &err);
        ASSERT(committed == 0);
}

void rig_define(struct rig *r, struct rig_definitions *kept, const char *(*text)(size_t i))
{
        struct cluster *hub = api_store_cluster(r->devcluster->store, "hub");
        if (kept->n && kept->rv == hub->rv && kept->wall_ms == loop_wall_ms(r->loop)) {
                put_all(r->devcluster, hub, kept);
                return;
        }
        bool first = !kept->n && !api_store_table(hub, CRD_TABLE_KEY, false);
        if (first)
                *kept = (struct rig_definitions){ .rv = hub->rv, .wall_ms = loop_wall_ms(r->loop) };
        post_all(r, text);
        if (first)
                keep(hub, kept);
}
