/* What the tests of this folder share: a hub that rules may ask, and reviews that are put to a path. */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "common/base/buf.h"
#include "hub-agent/webhook/rules.h"

#define PLACEMENT_PATH(verb, what) "/" verb "-placement.kubernetes-fleet.io-v1beta1-" what
#define CRP_PATH PLACEMENT_PATH("validate", "clusterresourceplacement")
#define GUARD_PATH "/validate-fleetresourcehandler"
#define TEST_OBJECTS 128

/* Objects are JSON. What cannot be told is told by an error's text. */
struct hub {
        struct arena arena;
        const char *members[4], *placements[4]; /* end with NULL */
        char *overrides[TEST_OBJECTS];          /* of either kind; in the arena */
        const char *exports;                    /* an array */
        const char *find_fails, *list_fails, *exports_fail, *scope_fails;
        int failure; /* the code of these; 0 = ERR_RETRY */
        struct admission_world world;
        json_t *answer; /* the last review */
        bool allowed;
        int64_t code;
        const char *message; /* "" if there is none */
        json_t *patch;       /* NULL if there is none */
};

struct question {
        const char *path, *operation;
        const char *group, *version, *kind;
        const char *ns, *name, *subresource;
        const char *user, *groups; /* JSON array */
        const char *object, *old;  /* JSON */
};

static inline int hub_failure(const struct hub *h, const char *text, struct error *err)
{
        return error_set(err, h->failure ? (enum error_code)h->failure : ERR_RETRY, "%s", text);
}

/* NULL: no memory. */
static inline struct object *hub_parse(struct arena *arena, const struct kind *kind, const char *json)
{
        struct error err = { 0 };
        struct object *o;

        if (object_decode_arena(kind, slice_of(json), arena, &o, &err) == 0)
                return o;
        if (err.code != ERR_NO_MEMORY)
                fail_msg("%s: %s", json, err.text);
        return NULL;
}

static inline int hub_find(void *ctx, struct arena *arena, const struct kind *kind, const char *ns,
                           const char *name, const struct object **ret, struct error *err)
{
        const struct hub *h = ctx;
        const char *const *all = kind == &member_cluster_kind ? h->members : h->placements;

        if (h->find_fails)
                return hub_failure(h, h->find_fails, err);
        for (size_t i = 0; all[i]; i++) {
                const struct object *o = hub_parse(arena, kind, all[i]);

                if (!o)
                        return error_no_memory(err);
                if (text_equal(o->meta.name, name)) {
                        *ret = o;
                        return 0;
                }
        }
        return error_set(err, ERR_NOT_FOUND, "%s \"%s\" not found", kind->kind, name);
}

static inline int hub_list(void *ctx, struct arena *arena, const struct kind *kind, const char *ns,
                           struct object_list *ret, struct error *err)
{
        const struct hub *h = ctx;

        if (h->list_fails)
                return hub_failure(h, h->list_fails, err);
        ret->at = ARENA_NEW_ARRAY(arena, const struct object *, TEST_OBJECTS);
        if (!ret->at)
                return error_no_memory(err);
        for (size_t i = 0; i < TEST_OBJECTS && h->overrides[i]; i++) {
                const struct object *o = hub_parse(arena, kind, h->overrides[i]);

                if (!o)
                        return error_no_memory(err);
                if (text_equal(or_empty(o->meta.ns), or_empty(ns)))
                        ret->at[ret->n++] = o;
        }
        return 0;
}

static inline int hub_service_exports(void *ctx, const char *ns, json_t **ret, struct error *err)
{
        const struct hub *h = ctx;

        if (h->exports_fail)
                return hub_failure(h, h->exports_fail, err);
        assert_string_equal(ns, "fleet-member-m1");
        return doc_parse(slice_of(h->exports ? h->exports : "[]"), ret, err);
}

static inline int hub_scope(void *ctx, const struct admission_gvk *gvk, enum admission_scope *ret,
                            struct error *err)
{
        static const char *const cluster[] = { "Namespace", "ClusterRole", "PersistentVolume" };
        static const char *const namespaced[] = { "Deployment", "ConfigMap" };
        const struct hub *h = ctx;

        if (h->scope_fails)
                return hub_failure(h, h->scope_fails, err);
        if (text_in(gvk->kind, cluster, ARRAY_LEN(cluster)))
                *ret = ADMISSION_SCOPE_CLUSTER;
        else if (text_in(gvk->kind, namespaced, ARRAY_LEN(namespaced)))
                *ret = ADMISSION_SCOPE_NAMESPACED;
        else if (text_equal(gvk->kind, "Node"))
                *ret = ADMISSION_SCOPE_UNTOLD;
        else
                return error_set(err, ERR_NOT_FOUND, "no matches for kind \"%s\" in version \"%s%s%s\"",
                                 gvk->kind, gvk->group, *gvk->group ? "/" : "", gvk->version);
        return 0;
}

static inline struct hub *hub_new(void)
{
        struct hub *h = calloc(1, sizeof(*h));

        assert_non_null(h);
        h->world = (struct admission_world){ .ctx = h,
                                             .find = hub_find,
                                             .list = hub_list,
                                             .service_exports = hub_service_exports,
                                             .scope = hub_scope };
        return h;
}

static inline void hub_free(struct hub *h)
{
        json_decref(h->answer);
        json_decref(h->patch);
        arena_free(&h->arena);
        free(h);
}

static inline void hub_cleanup(struct hub **h)
{
        hub_free(*h);
}
#define AUTO_HUB CLEANUP(hub_cleanup)

/* ---- asking ---- */

static inline json_t *json_of(const char *text)
{
        struct error err = { 0 };
        json_t *doc = NULL;

        if (!text)
                return json_null();
        if (doc_parse(slice_of(text), &doc, &err) < 0)
                fail_msg("%s: %s", text, err.text);
        return doc;
}

static inline json_t *patch_of(const json_t *response)
{
        const char *text = doc_get_string(response, "patch");
        char decoded[1 << 14];
        size_t n;

        if (!text)
                return NULL;
        assert_string_equal(doc_get_string(response, "patchType"), "JSONPatch");
        assert_int_equal(text_base64_decode(slice_of(text), decoded, sizeof(decoded) - 1, &n, false), 0);
        decoded[n] = '\0';
        return json_of(decoded);
}

/* Puts the text of a review to a path and reads the answer. */
static inline void hub_review(struct hub *h, const char *path, struct slice body)
{
        struct error err = { 0 };
        const json_t *response;

        json_decref(h->answer);
        json_decref(h->patch);
        h->answer = NULL;
        if (webhook_answer(&h->world, path, body, &h->arena, &h->answer, &err) < 0)
                fail_msg("%s: %s", path, err.text);
        response = json_object_get(h->answer, "response");
        h->allowed = doc_get_bool(response, "allowed", false);
        h->code = doc_get_int(response, "status.code", 0);
        h->message = or_empty(doc_get_string(response, "status.message"));
        h->patch = patch_of(response);
}

static inline struct slice review_text(struct arena *arena, const struct question *q)
{
        json_t *review = json_pack(
                "{s:s,s:s,s:{s:s,s:{s:s,s:s,s:s},s:s,s:s,s:s,s:s,s:{s:s,s:o},s:o,s:o,s:b}}", "apiVersion",
                "admission.k8s.io/v1", "kind", "AdmissionReview", "request", "uid", "u-1", "kind", "group",
                or_empty(q->group), "version", q->version ? q->version : "v1beta1", "kind", or_empty(q->kind),
                "subResource", or_empty(q->subresource), "namespace", or_empty(q->ns), "name",
                or_empty(q->name), "operation", q->operation ? q->operation : "CREATE", "userInfo",
                "username", q->user ? q->user : "test-user", "groups",
                json_of(q->groups ? q->groups : "[\"system:authenticated\"]"), "object", json_of(q->object),
                "oldObject", json_of(q->old), "dryRun", 0);
        const char *kept;
        AUTO_BUF struct buf b;

        buf_init(&b, 8 << 20);
        assert_int_equal(doc_write(review, &b), 0);
        kept = arena_strndup(arena, b.data, b.len);
        assert_non_null(kept);
        json_decref(review);
        return slice_of(kept);
}

static inline bool ask(struct hub *h, const struct question *q)
{
        hub_review(h, q->path, review_text(&h->arena, q));
        return h->allowed;
}

#define assert_says(h, part)                                                                                 \
        do {                                                                                                 \
                if (!strstr((h)->message, (part)))                                                           \
                        fail_msg("wanted \"%s\" in \"%s\"", (part), (h)->message);                           \
        } while (0)
