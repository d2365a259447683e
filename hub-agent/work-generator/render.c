/* Manifests of the Works a binding needs. spec/rollout-and-work.md 6.3-6.5. */
#include <stdlib.h>

#include "common/base/digest.h"
#include "common/base/limits.h"
#include "common/json/doc.h"
#include "hub-agent/work-generator/work_generator.h"

#define FLEET_PLACEMENT "placement.kubernetes-fleet.io"
#define TOLD_ENVELOPES_MAX 10

struct rendering {
        struct arena *arena;
        struct error *err;
        const struct manifest_override *overrides;
        const struct manifest_rules *rules;
        const char *ns; /* the placement's; NULL: a cluster placement */
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

/* ---- what a manifest is ---- */

struct identity { /* "" for what is missing; texts of the document */
        char *group;
        const char *version, *kind, *ns, *name;
        bool namespaced;
};

static int identify(struct rendering *r, const json_t *doc, struct identity *ret)
{
        char *api = arena_strdup(r->arena, or_empty(doc_get_string(doc, "apiVersion")));
        char *slash = api ? strchr(api, '/') : NULL;
        enum kube_scope scope;

        if (!api)
                return error_no_memory(r->err);
        if (slash)
                *slash = 0;
        *ret = (struct identity){ .group = slash ? api : "",
                                  .version = slash ? slash + 1 : api,
                                  .kind = or_empty(doc_get_string(doc, "kind")),
                                  .ns = or_empty(doc_get_string(doc, "metadata.namespace")),
                                  .name = or_empty(doc_get_string(doc, "metadata.name")) };
        scope = r->rules->scope_of(r->rules->ctx, ret->group, ret->kind);
        ret->namespaced = scope == KUBE_SCOPE_UNKNOWN ? ret->ns[0] : scope == KUBE_SCOPE_NAMESPACED;
        return 0;
}

/* NULL: no memory. */
static const char *print_name(struct rendering *r, const char *ns, const char *name)
{
        return arena_printf(r->arena, "%s%s%s", ns, ns[0] ? "/" : "", name);
}

/* A namespaced placement speaks for its namespace and for nothing else. */
static int check_confined(struct rendering *r, const struct identity *m)
{
        const char *name;

        if (!r->ns || (m->namespaced && text_equal(m->ns, r->ns)))
                return 0;
        name = print_name(r, m->ns, m->name);
        if (!name)
                return error_no_memory(r->err);
        return error_set(r->err, ERR_INVALID,
                         "%s \"%s\" is not in namespace \"%s\", to which the placement is confined", m->kind,
                         name, r->ns);
}

/* What a manifest is wrapped in; key names it there. All NULL: nothing. */
struct wrapping {
        const char *kind, *ns, *name, *key;
};

static int not_an_object(struct rendering *r, const struct wrapping *w, const char *outer)
{
        return error_set(r->err, ERR_INVALID,
                         "failed to parse the wrapped manifest data to a Kubernetes runtime object "
                         "(manifestKey=%s,envelopeObjRef=%s): apiVersion and kind must be set",
                         w->key, outer);
}

/* Scope rules of spec 6.5, by the manifest's kind, and what is never placed. */
static int check_wrapped(struct rendering *r, const struct wrapping *w, const struct identity *m)
{
        const char *inner = print_name(r, m->ns, m->name), *outer = print_name(r, w->ns, w->name);
        bool clustered = text_equal(w->kind, ENVELOPE_CLUSTER_RESOURCE);

        if (!inner || !outer)
                return error_no_memory(r->err);
        if (!m->version[0] || !m->kind[0])
                return not_an_object(r, w, outer);
        if (clustered && (m->namespaced || m->ns[0]))
                return error_set(
                        r->err, ERR_INVALID,
                        "a namespaced object %s (%s) has been wrapped in a cluster resource envelope %s",
                        w->key, inner, outer);
        if (!clustered && (!m->namespaced || !m->ns[0]))
                return error_set(r->err, ERR_INVALID,
                                 "a cluster scope object %s (%s) has been wrapped in a resource envelope %s",
                                 w->key, inner, outer);
        if (!clustered && !text_equal(w->ns, m->ns))
                return error_set(
                        r->err, ERR_INVALID,
                        "a namespaced object %s (%s) in has been wrapped in a resource envelope from "
                        "another namespace (%s)",
                        w->key, inner, outer);
        if (!r->rules->is_allowed(r->rules->ctx, m->group, m->version, m->kind))
                return error_set(r->err, ERR_INVALID,
                                 "an object %s (%s) of a kind that is not placed, %s, has been wrapped in "
                                 "an envelope %s",
                                 w->key, inner, m->kind, outer);
        return check_confined(r, m);
}

/* ---- one manifest ---- */

/* What the overrides made of a manifest keeps to the same rules as what was selected. */
static int check_overridden(struct rendering *r, const struct wrapping *w, struct slice text)
{
        AUTO_JSON json_t *doc = NULL;
        struct identity m;

        TRY(doc_parse(text, &doc, r->err));
        TRY(identify(r, doc, &m));
        return w->kind ? check_wrapped(r, w, &m) : check_confined(r, &m);
}

/* Adds one manifest as the overrides leave it. */
static int add_manifest(struct rendering *r, struct wanted_work *work, const struct wrapping *w,
                        struct slice text)
{
        int code = r->overrides && r->overrides->apply
                           ? r->overrides->apply(r->overrides->ctx, r->arena, &text, r->err)
                           : 0;

        if (code == 1 || (code == 0 && !w->kind && r->ns)) {
                int checked = check_overridden(r, w, text);

                r->override_failed = code == 1 && checked < 0;
                TRY(checked);
        }
        if (code < 0) {
                r->override_failed = true;
                return code;
        }
        if (code != 2)
                work->manifests.at[work->manifests.n++] = text;
        return 0;
}

/* ---- envelopes ---- */

/* The resource as a document if it is an envelope, else *ret NULL. */
static int parse_envelope(struct rendering *r, struct slice text, json_t **ret)
{
        AUTO_JSON json_t *doc = NULL;
        const char *kind;

        *ret = NULL;
        TRY(doc_parse(text, &doc, r->err));
        kind = doc_get_string(doc, "kind");
        if (!text_starts_with(or_empty(doc_get_string(doc, "apiVersion")), FLEET_PLACEMENT "/") ||
            (!text_equal(kind, ENVELOPE_CLUSTER_RESOURCE) && !text_equal(kind, ENVELOPE_RESOURCE)))
                return 0;
        *ret = doc;
        return doc_keep(r->arena, TAKE_PTR(doc), r->err);
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

/* The manifests, each held against the rules; ERR_INVALID with words for the envelope. */
static int unwrap(struct rendering *r, struct wrapping w, const json_t *envelope, struct slice *texts,
                  size_t *ret_n)
{
        json_t *data = json_object_get(envelope, "data"), *manifest;
        struct identity m;
        size_t n = 0;

        json_object_foreach(data, w.key, manifest) {
                TRY(identify(r, manifest, &m));
                TRY(check_wrapped(r, &w, &m));
                TRY(canonical_text(r, manifest, &texts[n++]));
        }
        qsort(texts, n, sizeof(texts[0]), descending);
        *ret_n = n;
        return 0;
}

static struct wanted_work *add_envelope_work(struct rendering *r, const char *prefix, const char *index,
                                             const struct wrapping *e, size_t manifests)
{
        struct wanted_work *w =
                add_work(r, envelope_work_name(r, prefix, e->kind, e->ns, e->name), manifests);

        if (!w)
                return NULL;
        w->snapshot_index = index;
        w->envelope_kind = e->kind;
        w->envelope_name = e->name;
        w->envelope_ns = e->ns[0] ? e->ns : NULL;
        return w;
}

/* One that breaks a rule fails alone: the rest of the placement goes on. */
static int set_invalid(struct rendering *r, struct wanted_work *w)
{
        w->invalid = arena_strdup(r->arena, r->err->text);
        error_clear(r->err);
        return w->invalid ? 0 : error_no_memory(r->err);
}

static int wrapping_of(struct rendering *r, const json_t *envelope, struct wrapping *ret)
{
        *ret = (struct wrapping){
                .kind = arena_strdup(r->arena, doc_get_string(envelope, "kind")),
                .ns = arena_strdup(r->arena, or_empty(doc_get_string(envelope, "metadata.namespace"))),
                .name = arena_strdup(r->arena, or_empty(doc_get_string(envelope, "metadata.name"))),
        };
        return ret->kind && ret->ns && ret->name ? 0 : error_no_memory(r->err);
}

static int render_envelope(struct rendering *r, const char *prefix, const char *index, const json_t *envelope)
{
        size_t most = json_object_size(json_object_get(envelope, "data")), n = 0;
        struct slice *texts = ARENA_NEW_ARRAY(r->arena, struct slice, most + 1);
        struct wrapping e;
        struct wanted_work *w;
        int code;

        TRY(wrapping_of(r, envelope, &e));
        w = add_envelope_work(r, prefix, index, &e, most);
        if (!texts || !w)
                return error_no_memory(r->err);
        code = unwrap(r, e, envelope, texts, &n);
        if (code < 0)
                return code == ERR_INVALID ? set_invalid(r, w) : code;
        e.key = "as the overrides leave it";
        for (size_t i = 0; i < n; i++)
                if (add_manifest(r, w, &e, texts[i]) < 0)
                        return error_wrap(r->err, "failed to apply overrides to a manifest from envelope %s",
                                          or_empty(print_name(r, e.ns, e.name)));
        return 0;
}

/* ---- snapshots ---- */

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
        static const struct wrapping none;
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
                        TRY(add_manifest(r, plain, &none, resources->at[i]));
        }
        return 0;
}

int render_works(struct arena *arena, const struct resource_snapshot *const *group, size_t n_group,
                 const struct manifest_override *overrides, const struct manifest_rules *rules,
                 struct wanted_works *ret, bool *ret_override_failed, struct error *err)
{
        struct rendering r = { .arena = arena,
                               .err = err,
                               .overrides = overrides,
                               .rules = rules,
                               .ns = group[0]->object.meta.ns };
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

int check_envelopes(struct arena *arena, const struct wanted_works *wanted, struct error *err)
{
        const char *words = "", *more = "";
        size_t n = 0;

        for (size_t i = 0; i < wanted->n; i++) {
                if (!wanted->at[i].invalid || n++ >= TOLD_ENVELOPES_MAX)
                        continue;
                words = arena_printf(arena, "%s%s%s", words, words[0] ? "; " : "", wanted->at[i].invalid);
                if (!words)
                        return error_no_memory(err);
        }
        if (n > TOLD_ENVELOPES_MAX)
                more = arena_printf(arena, "; and %zu more", n - TOLD_ENVELOPES_MAX);
        return n == 0 ? 0 : error_set(err, ERR_INVALID, "%s%s", words, or_empty(more));
}
