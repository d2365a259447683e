/* Manifests of the Works a binding needs. spec/rollout-and-work.md 6.3-6.5. */
#include <stdlib.h>

#include "common/base/digest.h"
#include "common/base/limits.h"
#include "common/json/doc.h"
#include "hub-agent/work-generator/work_generator.h"

#define FLEET_PLACEMENT "placement.kubernetes-fleet.io"

struct rendering {
        struct arena *arena;
        struct error *err;
        const struct manifest_override *overrides;
        struct wanted_works works;
        size_t room;
        bool override_failed;
};

static struct wanted_work *add_work(struct rendering *r, const char *name, size_t manifests)
{
        struct wanted_work *w = &r->works.at[r->works.n];

        ASSERT(r->works.n < r->room);
        *w = (struct wanted_work){ .name = name };
        w->manifests.at = ARENA_NEW_ARRAY(r->arena, struct slice, manifests + 1);
        w->manifests.set = true;
        if (!name || !w->manifests.at)
                return NULL;
        r->works.n++;
        return w;
}

/* Adds one manifest as the overrides leave it. */
static int add_manifest(struct rendering *r, struct wanted_work *w, struct slice text)
{
        int code = r->overrides && r->overrides->apply
                           ? r->overrides->apply(r->overrides->ctx, r->arena, &text, r->err)
                           : 0;

        if (code < 0) {
                r->override_failed = true;
                return code;
        }
        if (code != 2)
                w->manifests.at[w->manifests.n++] = text;
        return 0;
}

static void drop_document(void *doc)
{
        json_decref(doc);
}

/* The resource as a document if it is an envelope, else *ret NULL. */
static int parse_envelope(struct rendering *r, struct slice text, json_t **ret)
{
        AUTO_JSON json_t *doc = NULL;
        const char *kind;

        *ret = NULL;
        TRY(doc_parse(text, &doc, r->err));
        kind = doc_get_string(doc, "kind");
        if (!text_starts_with(or_empty(doc_get_string(doc, "apiVersion")), FLEET_PLACEMENT "/") ||
            (!text_equal(kind, "ClusterResourceEnvelope") && !text_equal(kind, "ResourceEnvelope")))
                return 0;
        *ret = doc;
        return arena_defer(r->arena, drop_document, TAKE_PTR(doc));
}

static const char *envelope_work_name(struct rendering *r, const char *prefix, const char *kind,
                                      const char *ns, const char *name)
{
        char *seed = arena_printf(r->arena, "%s/%s/%s", kind, ns, name);
        char digest[SHA256_HEX_SIZE];

        if (!seed)
                return NULL;
        sha256_hex(seed, strlen(seed), digest);
        return arena_printf(r->arena, "%s-envelope-%.16s", prefix, digest);
}

/* Scope rules of spec 6.5, by the manifest's own namespace. */
static int check_wrapped(struct rendering *r, const json_t *envelope, const char *key, const json_t *manifest)
{
        const char *kind = doc_get_string(envelope, "kind"),
                   *name = doc_get_string(envelope, "metadata.name");
        const char *ns = or_empty(doc_get_string(envelope, "metadata.namespace"));
        const char *inner_ns = or_empty(doc_get_string(manifest, "metadata.namespace"));
        const char *inner = or_empty(doc_get_string(manifest, "metadata.name"));

        if (text_empty(doc_get_string(manifest, "apiVersion")) ||
            text_empty(doc_get_string(manifest, "kind")))
                return error_set(r->err, ERR_INVALID,
                                 "failed to parse the wrapped manifest data to a Kubernetes runtime object "
                                 "(manifestKey=%s,envelopeObjRef=%s%s%s): apiVersion and kind must be set",
                                 key, ns, ns[0] ? "/" : "", name);
        if (text_equal(kind, "ClusterResourceEnvelope") && inner_ns[0])
                return error_set(
                        r->err, ERR_INVALID,
                        "a namespaced object %s (%s/%s) has been wrapped in a cluster resource envelope %s",
                        key, inner_ns, inner, name);
        if (text_equal(kind, "ResourceEnvelope") && !inner_ns[0])
                return error_set(
                        r->err, ERR_INVALID,
                        "a cluster scope object %s (%s) has been wrapped in a resource envelope %s/%s", key,
                        inner, ns, name);
        if (text_equal(kind, "ResourceEnvelope") && !text_equal(ns, inner_ns))
                return error_set(
                        r->err, ERR_INVALID,
                        "a namespaced object %s (%s/%s) in has been wrapped in a resource envelope from "
                        "another namespace (%s/%s)",
                        key, inner_ns, inner, ns, name);
        return 0;
}

static int descending(const void *a, const void *b)
{
        return slice_compare(*(const struct slice *)b, *(const struct slice *)a);
}

static int canonical_text(struct rendering *r, const json_t *doc, struct slice *ret)
{
        AUTO_BUF struct buf b;
        char *copy;

        buf_init(&b, LIMIT_OBJECT_BYTES);
        doc_write_canonical(doc, &b);
        TRY(buf_status(&b, r->err, "manifest"));
        copy = arena_strndup(r->arena, b.data, b.len);
        if (!copy)
                return error_no_memory(r->err);
        *ret = (struct slice){ copy, b.len };
        return 0;
}

static int render_envelope(struct rendering *r, const char *prefix, const char *index, const json_t *envelope)
{
        const char *kind = arena_strdup(r->arena, doc_get_string(envelope, "kind"));
        const char *name = doc_get_string(envelope, "metadata.name");
        const char *ns = or_empty(doc_get_string(envelope, "metadata.namespace")), *key;
        json_t *data = json_object_get(envelope, "data"), *manifest;
        struct slice *texts = ARENA_NEW_ARRAY(r->arena, struct slice, json_object_size(data) + 1);
        struct wanted_work *w;
        size_t n = 0;

        if (!kind || !texts)
                return error_no_memory(r->err);
        json_object_foreach(data, key, manifest) {
                TRY(check_wrapped(r, envelope, key, manifest));
                TRY(canonical_text(r, manifest, &texts[n++]));
        }
        qsort(texts, n, sizeof(texts[0]), descending);
        w = add_work(r, envelope_work_name(r, prefix, kind, ns, name), n);
        if (!w)
                return error_no_memory(r->err);
        w->snapshot_index = index;
        w->envelope_kind = kind;
        w->envelope_name = arena_strdup(r->arena, name);
        w->envelope_ns = ns[0] ? arena_strdup(r->arena, ns) : NULL;
        for (size_t i = 0; i < n; i++)
                if (add_manifest(r, w, texts[i]) < 0)
                        return error_wrap(r->err, "envelope %s%s%s", ns, ns[0] ? "/" : "", name);
        return 0;
}

static const char *work_name(struct rendering *r, const struct object *snapshot)
{
        const char *placement = label_of(snapshot, LABEL_PARENT_PLACEMENT), *ns = snapshot->meta.ns;
        int64_t sub;

        if (text_empty(placement)) {
                error_set(r->err, ERR_INVALID, "resource snapshot \"%s\" lacks label " LABEL_PARENT_PLACEMENT,
                          snapshot->meta.name);
                return NULL;
        }
        if (!annotation_of(snapshot, ANNOTATION_RESOURCE_SUBINDEX))
                return arena_printf(r->arena, "%s%s%s-work", or_empty(ns), ns ? "." : "", placement);
        if (annotation_number(snapshot, ANNOTATION_RESOURCE_SUBINDEX, &sub, r->err) < 0)
                return NULL;
        return arena_printf(r->arena, "%s%s%s-%lld", or_empty(ns), ns ? "." : "", placement, (long long)sub);
}

static int render_snapshot(struct rendering *r, const struct resource_snapshot *s, bool may_hold_envelopes)
{
        const struct raw_list *resources = &s->spec->selected_resources;
        const char *name = work_name(r, &s->object), *index = label_of(&s->object, LABEL_RESOURCE_INDEX);
        struct wanted_work *plain = name ? add_work(r, name, resources->n) : NULL;

        if (!plain)
                return r->err && r->err->code ? r->err->code : error_no_memory(r->err);
        plain->snapshot_index = index;
        for (uint32_t i = 0; i < resources->n; i++) {
                json_t *envelope = NULL;

                if (may_hold_envelopes)
                        TRY(parse_envelope(r, resources->at[i], &envelope));
                if (envelope)
                        TRY(render_envelope(r, name, index, envelope));
                else
                        TRY(add_manifest(r, plain, resources->at[i]));
        }
        return 0;
}

int render_works(struct arena *arena, const struct resource_snapshot *const *group, size_t n_group,
                 const struct manifest_override *overrides, struct wanted_works *ret,
                 bool *ret_override_failed, struct error *err)
{
        struct rendering r = { .arena = arena, .err = err, .overrides = overrides };
        const char *envelopes = annotation_of(&group[0]->object, ANNOTATION_NUMBER_OF_ENVELOPED_OBJECTS);
        int code = 0;

        *ret_override_failed = false;
        for (size_t i = 0; i < n_group; i++)
                r.room += 1 + (group[i]->spec ? group[i]->spec->selected_resources.n : 0);
        r.works.at = ARENA_NEW_ARRAY(arena, struct wanted_work, r.room + 1);
        if (!r.works.at)
                return error_no_memory(err);
        for (size_t i = 0; code == 0 && i < n_group; i++)
                if (group[i]->spec)
                        code = render_snapshot(&r, group[i], envelopes && !text_equal(envelopes, "0"));
        *ret_override_failed = r.override_failed;
        if (code == 0)
                *ret = r.works;
        return code;
}
