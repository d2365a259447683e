/* For the tests of this folder: overrides as JSON, a member cluster, and what becomes of a manifest. */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "common/base/buf.h"
#include "common/json/doc.h"
#include "hub-agent/override/override.h"

struct bench {
        struct arena arena;
        struct error err;
        const struct object *cluster[8], *own[8];
        struct override_set set;
        struct override_subjects subjects;
        struct member_cluster *member;
};

static inline bool is_cluster_scoped(void *ctx, const char *group, const char *version, const char *kind)
{
        return text_equal(kind, "Namespace") || text_equal(kind, "ClusterRole");
}

static const struct scope_lookup scopes = { is_cluster_scoped, NULL };

static inline void *parse(struct bench *b, const struct kind *kind, const char *json)
{
        struct object *o;

        if (object_decode_arena(kind, slice_of(json), &b->arena, &o, &b->err) < 0)
                fail_msg("%s: %s", json, b->err.text);
        return o;
}

static inline void begin(struct bench *b)
{
        *b = (struct bench){ .set = { { b->cluster, 0 }, { b->own, 0 } } };
        b->member = parse(b, &member_cluster_kind,
                          "{\"metadata\":{\"name\":\"member-1\",\"labels\":{\"region\":\"eu\",\"color\":"
                          "\"blue\"}}}");
}

/* A snapshot of the cluster's (ns NULL) or a namespace's kind with this override spec. */
static inline void add(struct bench *b, const char *ns, const char *name, const char *spec)
{
        struct object_list *l = ns ? &b->set.own : &b->set.cluster;
        AUTO_BUF struct buf text;

        buf_init(&text, 16u << 20);
        buf_printf(&text,
                   "{\"metadata\":{\"name\":\"%s\"%s%s%s},\"spec\":{\"overrideHash\":\"eA==\","
                   "\"overrideSpec\":%s}}",
                   name, ns ? ",\"namespace\":\"" : "", ns ? ns : "", ns ? "\"" : "", spec);
        l->at[l->n++] =
                parse(b, ns ? &resource_override_snapshot_kind : &cluster_resource_override_snapshot_kind,
                      text.data);
}

#define SELECT_NS(name)                                                                                      \
        "\"clusterResourceSelectors\":[{\"group\":\"\",\"version\":\"v1\",\"kind\":\"Namespace\",\"name\":"  \
        "\"" name "\"}]"
#define SELECT_CM(name)                                                                                      \
        "\"resourceSelectors\":[{\"group\":\"\",\"version\":\"v1\",\"kind\":\"ConfigMap\",\"name\":\"" name  \
        "\"}]"
#define ALL "\"clusterSelector\":{\"clusterSelectorTerms\":[]}"
#define POLICY(rules) "\"policy\":{\"overrideRules\":[" rules "]}"
#define PATCH(op, path, value)                                                                               \
        "{" ALL ",\"jsonPatchOverrides\":[{\"op\":\"" op "\",\"path\":\"" path "\",\"value\":" value "}]}"
#define DELETE "{" ALL ",\"overrideType\":\"Delete\"}"
#define CONFIG                                                                                               \
        "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"site\",\"namespace\":"       \
        "\"web\"},"                                                                                          \
        "\"data\":{\"a\":\"1\"}}"

static inline int apply_to(struct bench *b, const char *manifest, struct slice *ret)
{
        struct override_applier a = { b->set, b->member, scopes };

        *ret = slice_of(manifest);
        return override_apply(&a, &b->arena, ret, &b->err);
}
