/* What the tests of Works and of the status made from them share: a binding and the Works it has. */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "common/base/buf.h"
#include "hub-agent/work-generator/work_generator.h"

#define NULL_HASH "74234e98afe7498fb5daf1f36ac2d78acc339464f950703b8c019892f982b90b"

struct scene {
        struct arena arena;
        struct error err;
        const struct object *works[8];
        struct object_list live;
        const struct binding *b;
        const struct resource_snapshot *group[4];
        size_t n_group;
};

static inline void *parse(struct scene *s, const struct kind *kind, const char *json)
{
        struct object *o;

        if (object_decode_arena(kind, slice_of(json), &s->arena, &o, &s->err) < 0)
                fail_msg("%s: %s", json, s->err.text);
        return o;
}

static inline void begin(struct scene *s, const char *strategy)
{
        char json[1024];

        *s = (struct scene){ 0 };
        s->live.at = s->works;
        snprintf(json, sizeof(json),
                 "{\"metadata\":{\"name\":\"b1\",\"generation\":2,\"labels\":{\"kubernetes-fleet.io/"
                 "parent-CRP\":\"web\"}},"
                 "\"spec\":{\"state\":\"Bound\",\"resourceSnapshotName\":\"web-3-snapshot\","
                 "\"targetCluster\":\"c1\","
                 "\"schedulingPolicySnapshotName\":\"web-0\",\"applyStrategy\":{\"type\":\"%s\"}}}",
                 strategy);
        s->b = parse(s, &cluster_resource_binding_kind, json);
}

/* A Work with conditions as JSON; each of Applied and Available may be NULL. */
static inline void add_work(struct scene *s, const char *name, const char *index, const char *applied,
                            const char *available, const char *manifests)
{
        AUTO_BUF struct buf b;
        const char *types[] = { "Applied", "Available" }, *given[] = { applied, available };
        bool any = false;

        buf_init(&b, 64u << 20);
        buf_printf(&b,
                   "{\"metadata\":{\"name\":\"%s\",\"namespace\":\"fleet-member-c1\",\"generation\":1,"
                   "\"labels\":{"
                   "\"kubernetes-fleet.io/parent-resource-snapshot-index\":\"%s\"},\"annotations\":{"
                   "\"kubernetes-fleet.io/parent-resource-override-snapshot-hash\":\"" NULL_HASH "\","
                   "\"kubernetes-fleet.io/parent-cluster-resource-override-snapshot-hash\":\"" NULL_HASH
                   "\"}},\"spec\":{\"applyStrategy\":{\"type\":\"ClientSideApply\"}},\"status\":{"
                   "\"conditions\":[",
                   name, index);
        for (int i = 0; i < 2; i++) {
                if (!given[i])
                        continue;
                buf_printf(&b,
                           "%s{\"type\":\"%s\",\"status\":\"%s\",\"reason\":\"X\",\"message\":\"\","
                           "\"observedGeneration\":1,"
                           "\"lastTransitionTime\":\"2026-01-01T00:00:00Z\"}",
                           any ? "," : "", types[i], given[i]);
                any = true;
        }
        buf_printf(&b, "],\"manifestConditions\":[%s]}}", manifests);
        s->works[s->live.n++] = parse(s, &work_kind, b.data);
}
