/* What was loaded, as it is applied. spec/flux-yaml.md 7.2. */
#include "common/base/memory.h"
#include "hub-agent/manifest-generation/generation_agent.h"

#define TEXT_BYTES (16u << 20) /* of one object as YAML */

struct desired *desired_free(struct desired *d)
{
        if (!d)
                return NULL;
        map_free(&d->by_identity);
        arena_free(&d->arena);
        mem_free(d);
        return NULL;
}

/* The text that the checksum is of: of an object that was an item of a list, or patched, the one it would be
 * written as. */
static int sum_up(const struct resource *r, struct sync_item *item)
{
        AUTO_BUF struct buf text;

        buf_init(&text, TEXT_BYTES);
        if (r->text.data)
                return sync_checksum(r->text, item->checksum);
        TRY(yaml_write(r->doc, &text));
        return sync_checksum((struct slice){ text.data, text.len }, item->checksum);
}

static struct sync_object object_of(const struct resource *r)
{
        return (struct sync_object){ .identity = r->identity,
                                     .ns = r->cluster_scoped ? NULL : r->namespace,
                                     .kind = r->kind,
                                     .name = r->name,
                                     .api_version = r->api_version,
                                     .source = r->source,
                                     .target = r->target ? r->target->path : "",
                                     .doc = r->doc };
}

struct building {
        const char *set_name;
        struct desired *d;
        int code;
};

/* Offloaded: what it has is its own. */
static void build(void *ctx)
{
        struct building *b = ctx;
        const struct resource_list *l = &b->d->loaded.resources;
        const struct sync_object **order =
                ARENA_NEW_ARRAY(&b->d->arena, const struct sync_object *, l->n + 1);
        struct sync_item *unsorted = ARENA_NEW_ARRAY(&b->d->arena, struct sync_item, l->n + 1);
        struct sync_item *items = ARENA_NEW_ARRAY(&b->d->arena, struct sync_item, l->n + 1);

        b->code = order && unsorted && items ? 0 : ERR_NO_MEMORY;
        for (size_t i = 0; b->code == 0 && i < l->n; i++) {
                unsorted[i].object = object_of(&l->at[i]);
                sync_mark(b->set_name, unsorted[i].object.identity, unsorted[i].mark);
                b->code = sum_up(&l->at[i], &unsorted[i]);
                order[i] = &unsorted[i].object;
        }
        if (b->code < 0)
                return;
        sync_sort(order, l->n);
        for (size_t i = 0; i < l->n; i++)
                items[i] = *container_of(order[i], struct sync_item, object);
        b->d->items = items;
        b->d->n = l->n;
}

int sync_items(struct generator_agent *a, struct desired *d, struct error *err)
{
        struct building b = { .set_name = a->set_name, .d = d };

        TRY(offload(a->world->loop, build, &b, err));
        if (b.code < 0)
                return b.code == ERR_NO_MEMORY ? error_no_memory(err)
                                               : error_set(err, b.code, "an object is too large");
        for (size_t i = 0; i < d->n; i++)
                if (map_put(&d->by_identity, d->items[i].object.identity, &d->items[i]) < 0)
                        return error_no_memory(err);
        return 0;
}
