#include "hub-agent/manifest-generation/update/plan_builder.h"

#include "hub-agent/manifest-generation/update/words.h"

int plan_add_result(struct plan_builder *b, const char *id, enum update_status status, const char *text)
{
        struct update_result *at =
                words_grow(b->arena, b->results, b->n_results, &b->cap_results, sizeof(*at));

        if (!at)
                return error_no_memory(b->err);
        b->results = at;
        at[b->n_results++] = (struct update_result){ .id = id, .status = status, .text = text };
        return 0;
}

int plan_add_change(struct plan_builder *b, const struct job_change *change)
{
        struct job_change *at = words_grow(b->arena, b->changes, b->n_changes, &b->cap_changes, sizeof(*at));

        if (!at)
                return error_no_memory(b->err);
        b->changes = at;
        at[b->n_changes++] = *change;
        return 0;
}

int plan_add_image(struct plan_builder *b, const struct update_object *object,
                   const struct workload_container *c, const char *tag, struct container_update *ret)
{
        struct job_change change = { .object = object,
                                     .container = c->name,
                                     .image = c->image.name,
                                     .tag = tag,
                                     .place = c->place,
                                     .value = workload_image_text(b->arena, c, tag) };

        *ret = (struct container_update){ c->name, c->image, image_with_tag(b->arena, &c->image, tag) };
        if (!change.value || !ret->target)
                return error_no_memory(b->err);
        return plan_add_change(b, &change);
}

struct job_plan plan_of(const struct plan_builder *b)
{
        struct job_plan p = { b->results, b->n_results, b->changes, b->n_changes, { 0 }, b->sets_automated };

        for (size_t i = 0; i < p.n_results; i++)
                p.n_of[p.results[i].status]++;
        return p;
}

static int by_id(const void *a, const void *b)
{
        const struct update_object *const *x = a, *const *y = b;

        return strcmp((*x)->id, (*y)->id);
}

int plan_sort_objects(struct arena *arena, const struct update_objects *objects,
                      const struct update_object *const **ret, struct error *err)
{
        const struct update_object **at =
                ARENA_NEW_ARRAY(arena, const struct update_object *, objects->n + 1);

        if (!at)
                return error_no_memory(err);
        for (size_t i = 0; i < objects->n; i++)
                at[i] = &objects->at[i];
        qsort(at, objects->n, sizeof(*at), by_id);
        *ret = at;
        return 0;
}

const struct update_object *plan_find_object(const struct update_object *const *sorted, size_t n,
                                             const char *id)
{
        size_t low = 0, high = n;

        while (low < high) {
                size_t middle = low + (high - low) / 2;
                int order = strcmp(sorted[middle]->id, id);

                if (order == 0)
                        return sorted[middle];
                if (order < 0)
                        low = middle + 1;
                else
                        high = middle;
        }
        return NULL;
}
