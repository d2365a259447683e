/* What the tests of snapshots share: plans over objects written as JSON. */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "hub-agent/placement/snapshots.h"
#include "hub-agent/starve_test.h"

#define NOW INT64_C(1767225600000)

struct scene {
        struct arena arena;
        struct error err;
        const struct object *existing[64];
        struct object_list list;
        struct placement *p;
        struct snapshots_in_use in_use;
};

static inline void *parse(struct scene *s, const struct kind *kind, const char *json)
{
        struct object *o;

        if (object_decode_arena(kind, slice_of(json), &s->arena, &o, &s->err) < 0)
                fail_msg("%s: %s", json, s->err.text);
        return o;
}

static inline void begin(struct scene *s, const char *spec)
{
        char json[1024];

        *s = (struct scene){ 0 };
        s->list.at = s->existing;
        snprintf(json, sizeof(json),
                 "{\"metadata\":{\"name\":\"web\",\"uid\":\"u\",\"generation\":4},\"spec\":{%s}}", spec);
        s->p = parse(s, &cluster_resource_placement_kind, json);
}

static inline void keep_created(struct scene *s, struct policy_snapshot_plan *plan)
{
        if (plan->update.now)
                for (size_t i = 0; i < s->list.n; i++)
                        if (s->existing[i] == plan->update.now)
                                s->existing[i] = plan->update.wanted;
        if (plan->create)
                s->existing[s->list.n++] = &plan->create->object;
}

static inline struct selection select_sizes(struct scene *s, const size_t *sizes, size_t n)
{
        struct selection sel = { .resources = arena_calloc(&s->arena, n + 1, sizeof(struct slice)), .n = n };

        for (size_t i = 0; i < n; i++) {
                char *text = arena_zalloc(&s->arena, sizes[i] + 1);

                memset(text, 'a' + (int)i, sizes[i]);
                sel.resources[i] = (struct slice){ text, sizes[i] };
        }
        selection_hash(&sel);
        return sel;
}

static const struct snapshot_timing at_once __attribute__((unused)) = { NOW, 0, 0 };

static inline void plan_named(struct scene *s, struct selection *sel, int64_t given,
                              const struct snapshot_timing *t, struct resource_snapshot_plan *plan)
{
        struct indexes indexes = { given, NO_INDEX };

        if (plan_resource_snapshots(&s->arena, s->p, sel, &s->list, indexes, &s->in_use, t, plan, &s->err) <
            0)
                fail_msg("%s", s->err.text);
}

static inline void plan_resources(struct scene *s, struct selection *sel, const struct snapshot_timing *t,
                                  struct resource_snapshot_plan *plan)
{
        plan_named(s, sel, NO_INDEX, t, plan);
}

static inline void keep_resources(struct scene *s, struct resource_snapshot_plan *plan)
{
        for (size_t i = 0; i < s->list.n; i++)
                if (plan->update.now && s->existing[i] == plan->update.now)
                        s->existing[i] = plan->update.wanted;
        for (size_t i = 0; i < plan->n_create; i++)
                s->existing[s->list.n++] = &plan->create[i]->object;
}

/* In whatever order a cache holds them: forward, backward, and by name, where 10 stands before 2. */
enum order { AS_MADE, BACKWARD, BY_NAME, N_ORDERS };

static inline int by_name(const void *a, const void *b)
{
        return strcmp((*(const struct object *const *)a)->meta.name,
                      (*(const struct object *const *)b)->meta.name);
}

static inline void put_in_order(struct scene *s, enum order order)
{
        if (order == BY_NAME)
                qsort(s->existing, s->list.n, sizeof(s->existing[0]), by_name);
        for (size_t i = 0; order == BACKWARD && i < s->list.n / 2; i++) {
                const struct object *o = s->existing[i];

                s->existing[i] = s->existing[s->list.n - 1 - i];
                s->existing[s->list.n - 1 - i] = o;
        }
}
