#include "e2e/devcluster/gc_work.h"

#include "common/base/timefmt.h"
#include "e2e/devcluster/meta.h"
#include "e2e/devcluster/rest_write.h"

static const char *text_of(const json_t *doc, const char *key)
{
        const char *s = json_string_value(json_object_get(doc, key));
        return s ? s : "";
}

static const struct resource *find_kind(struct cluster *c, const char *api_version, const char *kind)
{
        char group[300] = "";
        const char *slash = strchr(api_version, '/');
        if (slash)
                snprintf(group, sizeof(group), "%.*s", (int)(slash - api_version), api_version);
        return registry_find_kind(c, group, slash ? slash + 1 : api_version, kind);
}

const struct resource *gc_resource_of(struct cluster *c, const json_t *doc)
{
        return find_kind(c, text_of(doc, "apiVersion"), text_of(doc, "kind"));
}

/* ---- owners ---- */

enum owner_state { OWNER_SOLID, OWNER_ABSENT, OWNER_WAITING };

static struct blob *find_owner(struct cluster *c, const json_t *ref, const char *ns, bool *ret_known)
{
        const struct resource *r = find_kind(c, text_of(ref, "apiVersion"), text_of(ref, "kind"));
        *ret_known = r && (!resource_is_namespaced(r) || *ns);
        if (!*ret_known)
                return NULL;
        struct blob *b = api_store_get(api_store_table(c, r->table_key, false),
                                       resource_is_namespaced(r) ? ns : "", text_of(ref, "name"));
        return b && strcmp(blob_uid(b), text_of(ref, "uid")) == 0 ? b : NULL;
}

/* A kind nobody serves says nothing about its objects: such an owner counts as there. */
static enum owner_state owner_state(struct cluster *c, const json_t *ref, const char *ns)
{
        bool known;
        const struct blob *b = find_owner(c, ref, ns, &known);
        if (!b)
                return known ? OWNER_ABSENT : OWNER_SOLID;
        if (!strstr(b->data, "foregroundDeletion"))
                return OWNER_SOLID;
        AUTO_JSON json_t *doc = NULL;
        if (blob_parse(b, &doc, NULL) < 0)
                return OWNER_SOLID;
        return meta_is_deleting(doc) && meta_has_finalizer(doc, "foregroundDeletion") ? OWNER_WAITING
                                                                                      : OWNER_SOLID;
}

void gc_enqueue_owners(struct gc *g, struct cluster *c, const struct blob *dependent)
{
        AUTO_JSON json_t *doc = NULL;
        if (blob_parse(dependent, &doc, NULL) < 0)
                return;
        size_t i;
        json_t *ref;
        json_array_foreach(doc_get_array(doc, "metadata.ownerReferences"), i, ref) {
                bool known;
                const struct blob *owner = find_owner(c, ref, blob_ns(dependent), &known);
                if (owner && strstr(owner->data, "\"deletionTimestamp\""))
                        gc_enqueue_blob(g, c, owner);
        }
}

/* ---- writing ---- */

/* Writes doc over the live object as one of the server's own updates; problems are only logged: the queue is
 * filled again by the next change. */
static void update(struct request *rq, const json_t *live, json_t *doc)
{
        struct write_result w = { 0 };
        if (rest_update_live(rq, live, doc, false, &w) < 0)
                log_warn(rq->devcluster->log, "garbage collection cannot update", "cluster",
                         rq->cluster->name, "resource", rq->resource->table_key, "name", rq->name, "error",
                         rq->status.message);
        json_decref(w.doc);
}

static void delete_object(struct request *rq, const char *propagation, const char *uid)
{
        struct delete_options o = { .uid = uid, .propagation = propagation, .grace_seconds = -1 };
        json_t *left = NULL;
        const char *gone = NULL;
        if (rest_delete(rq, rq->ns, rq->name, &o, &left, &gone) < 0 && rq->status.code != 404)
                log_warn(rq->devcluster->log, "garbage collection cannot delete", "cluster",
                         rq->cluster->name, "resource", rq->resource->table_key, "name", rq->name, "error",
                         rq->status.message);
        json_decref(left);
}

static void drop_finalizer(struct request *rq, const json_t *live, const char *finalizer)
{
        AUTO_JSON json_t *doc = doc_copy(live);
        if (doc && meta_remove_finalizer(doc, finalizer) == 0)
                update(rq, live, doc);
}

/* Takes owner references out for which `drop` says so. */
static void drop_references(struct request *rq, const json_t *live, const char *only_uid)
{
        AUTO_JSON json_t *doc = doc_copy(live);
        json_t *refs = doc_get_array(doc, "metadata.ownerReferences");
        for (size_t i = json_array_size(refs); i-- > 0;) {
                const json_t *ref = json_array_get(refs, i);
                bool drop = only_uid ? strcmp(text_of(ref, "uid"), only_uid) == 0
                                     : owner_state(rq->cluster, ref, meta_ns(live)) != OWNER_SOLID;
                if (drop)
                        json_array_remove(refs, i);
        }
        if (refs && json_array_size(refs) == 0)
                json_object_del(json_object_get(doc, "metadata"), "ownerReferences");
        if (doc)
                update(rq, live, doc);
}

/* ---- an object with owners ---- */

/* Owners that go may have waited for these references alone. */
static void enqueue_unblocked(struct gc *g, struct request *rq, const json_t *live)
{
        size_t i;
        json_t *ref;
        json_array_foreach(doc_get_array(live, "metadata.ownerReferences"), i, ref) {
                bool known;
                if (json_is_true(json_object_get(ref, "blockOwnerDeletion")))
                        continue;
                const struct blob *owner = find_owner(rq->cluster, ref, meta_ns(live), &known);
                if (owner && strstr(owner->data, "\"foregroundDeletion\""))
                        gc_enqueue_blob(g, rq->cluster, owner);
        }
}

static void check_owners(struct request *rq, const json_t *live)
{
        size_t i, count[3] = { 0 }, n_dependents;
        json_t *ref;
        json_array_foreach(doc_get_array(live, "metadata.ownerReferences"), i, ref)
                count[owner_state(rq->cluster, ref, meta_ns(live))]++;
        if (count[OWNER_ABSENT] + count[OWNER_WAITING] == 0)
                return;
        if (count[OWNER_SOLID]) {
                drop_references(rq, live, NULL);
                return;
        }
        (void)gc_dependents(rq->cluster, meta_uid(live), &n_dependents);
        const char *propagation = count[OWNER_WAITING] && n_dependents             ? "Foreground"
                                  : meta_has_finalizer(live, "orphan")             ? "Orphan"
                                  : meta_has_finalizer(live, "foregroundDeletion") ? "Foreground"
                                                                                   : "Background";
        delete_object(rq, propagation, meta_uid(live));
}

/* ---- an object that is being deleted ---- */

static bool blocks(const json_t *dependent, const char *owner_uid)
{
        size_t i;
        json_t *ref;
        json_array_foreach(doc_get_array(dependent, "metadata.ownerReferences"), i, ref)
                if (strcmp(text_of(ref, "uid"), owner_uid) == 0)
                        return json_is_true(json_object_get(ref, "blockOwnerDeletion"));
        return false;
}

static bool for_dependent(struct request *rq, const struct blob *b, struct request *ret, json_t **ret_doc)
{
        json_t *doc = NULL;
        if (blob_parse(b, &doc, NULL) < 0)
                return false;
        const struct resource *r = gc_resource_of(rq->cluster, doc);
        if (!r || request_internal(ret, rq->devcluster, rq->cluster, r->table_key,
                                   arena_strdup(rq->arena, blob_ns(b)), arena_strdup(rq->arena, blob_name(b)),
                                   rq->arena) < 0) {
                json_decref(doc);
                return false;
        }
        *ret_doc = doc;
        return true;
}

static void orphan_dependents(struct request *rq, const json_t *live)
{
        size_t n, left;
        struct blob *const *at = gc_dependents(rq->cluster, meta_uid(live), &n);
        while (n > 0) {
                struct request dependent;
                AUTO_JSON json_t *doc = NULL;
                if (!for_dependent(rq, at[n - 1], &dependent, &doc))
                        return;
                drop_references(&dependent, doc, meta_uid(live));
                vec_free(&dependent.warnings);
                at = gc_dependents(rq->cluster, meta_uid(live), &left);
                if (left >=
                    n) /* it could not be written: better to keep the owner than to lose the dependent */
                        return;
                n = left;
        }
        drop_finalizer(rq, live, "orphan");
}

static void delete_dependents(struct gc *g, struct request *rq, const json_t *live)
{
        size_t n, blocking = 0;
        struct blob *const *at = gc_dependents(rq->cluster, meta_uid(live), &n);
        for (size_t i = 0; i < n; i++) {
                AUTO_JSON json_t *doc = NULL;
                if (blob_parse(at[i], &doc, NULL) < 0 || !blocks(doc, meta_uid(live)))
                        continue;
                blocking++;
                if (!meta_is_deleting(doc))
                        gc_enqueue_blob(g, rq->cluster, at[i]);
        }
        if (!blocking)
                drop_finalizer(rq, live, "foregroundDeletion");
}

/* ---- CRDs ---- */

static size_t delete_items(struct request *rq, struct table *t, const char *ns)
{
        size_t kept = 0, i = api_store_lower_bound(t, ns ? ns : "", "");
        while (i < t->items.n && (!ns || strcmp(blob_ns(t->items.at[i]), ns) == 0)) {
                struct request one;
                struct blob *b = t->items.at[i];
                if (request_internal(&one, rq->devcluster, rq->cluster, t->key,
                                     arena_strdup(rq->arena, blob_ns(b)),
                                     arena_strdup(rq->arena, blob_name(b)), rq->arena) == 0)
                        delete_object(&one, NULL, NULL);
                vec_free(&one.warnings);
                size_t at = api_store_lower_bound(t, one.ns ? one.ns : "", one.name);
                bool still = at < t->items.n && api_store_get(t, one.ns, one.name);
                kept += still;
                i = at + still;
        }
        return kept;
}

static void finish_crd(struct request *rq, const json_t *live)
{
        char key[600];
        const char *group = doc_get_string(live, "spec.group"),
                   *plural = doc_get_string(live, "spec.names.plural");
        snprintf(key, sizeof(key), "%s/%s", group ? group : "", plural ? plural : "");
        struct table *t = api_store_table(rq->cluster, key, false);
        if (t && map_has(&rq->cluster->custom, key) && delete_items(rq, t, NULL) > 0)
                return;
        drop_finalizer(rq, live, "customresourcecleanup.apiextensions.k8s.io");
}

/* ---- namespaces ---- */

struct remains {
        struct buf resources, finalizers;
        size_t n;
};

static void add_remains(struct remains *left, struct request *rq, struct table *t, const char *ns)
{
        size_t n = 0;
        for (size_t i = api_store_lower_bound(t, ns, "");
             i < t->items.n && strcmp(blob_ns(t->items.at[i]), ns) == 0; i++) {
                AUTO_JSON json_t *doc = NULL;
                n++;
                if (blob_parse(t->items.at[i], &doc, NULL) < 0)
                        continue;
                const char *f =
                        json_string_value(json_array_get(doc_get_array(doc, "metadata.finalizers"), 0));
                if (f && !strstr(left->finalizers.data, f))
                        (void)buf_printf(&left->finalizers, "%s%s in %d resource instances",
                                         left->finalizers.len ? ", " : "", f, 1);
        }
        const struct resource *r = registry_find_key(rq->cluster, t->key);
        if (n && r)
                (void)buf_printf(&left->resources, "%s%s%s%s has %zu resource instances",
                                 left->resources.len ? ", " : "", r->plural, *r->group ? "." : ".", r->group,
                                 n);
        left->n += n;
}

static int set_condition(json_t *conditions, const char *now, const char *type, const char *status,
                         const char *reason, const char *message)
{
        size_t i;
        json_t *c;
        json_array_foreach(conditions, i, c)
                if (strcmp(text_of(c, "type"), type) == 0) {
                        if (strcmp(text_of(c, "status"), status) == 0 &&
                            strcmp(text_of(c, "message"), message) == 0)
                                return 0;
                        json_array_remove(conditions, i);
                        break;
                }
        return json_array_append_new(conditions, json_pack("{s:s,s:s,s:s,s:s,s:s}", "type", type, "status",
                                                           status, "lastTransitionTime", now, "reason",
                                                           reason, "message", message));
}

static void report_remains(struct request *rq, const json_t *live, const struct remains *left)
{
        AUTO_JSON json_t *doc = doc_copy(live), *conditions = NULL;
        char now[RFC3339_SIZE];
        time_format_rfc3339(rq->now_ms, now);
        const json_t *old = doc_get_array(live, "status.conditions");
        conditions = old ? doc_copy(old) : json_array();
        if (!doc || !conditions)
                return;
        (void)set_condition(conditions, now, "NamespaceDeletionDiscoveryFailure", "False",
                            "ResourcesDiscovered", "All resources successfully discovered");
        (void)set_condition(conditions, now, "NamespaceDeletionGroupVersionParsingFailure", "False",
                            "ParsedGroupVersions", "All legacy kube types successfully parsed");
        (void)set_condition(conditions, now, "NamespaceDeletionContentFailure", "False", "ContentDeleted",
                            "All content successfully deleted, may be waiting on finalization");
        const char *text = arena_printf(rq->arena, "Some resources are remaining: %s", left->resources.data);
        (void)set_condition(conditions, now, "NamespaceContentRemaining", "True", "SomeResourcesRemain",
                            text ? text : "");
        text = arena_printf(rq->arena, "Some content in the namespace has finalizers remaining: %s",
                            left->finalizers.data);
        if (left->finalizers.len)
                (void)set_condition(conditions, now, "NamespaceFinalizersRemaining", "True",
                                    "SomeFinalizersRemain", text ? text : "");
        if (doc_set(doc, "status.conditions", json_incref(conditions)) < 0)
                return;
        rq->subresource = "status";
        update(rq, live, doc);
        rq->subresource = NULL;
}

static void finish_namespace(struct request *rq, const json_t *live)
{
        struct remains left = { 0 };
        buf_init(&left.resources, 64u << 10);
        buf_init(&left.finalizers, 64u << 10);
        map_for_each(&rq->cluster->tables, e) {
                struct table *t = e->value;
                const struct resource *r = registry_find_key(rq->cluster, t->key);
                if (r && resource_is_namespaced(r) && delete_items(rq, t, rq->name) > 0)
                        add_remains(&left, rq, t, rq->name);
        }
        if (left.n > 0) {
                report_remains(rq, live, &left);
        } else {
                AUTO_JSON json_t *doc = doc_copy(live);
                rq->subresource = "finalize";
                if (doc && doc_set(doc, "spec.finalizers", json_array()) == 0)
                        update(rq, live, doc);
                rq->subresource = NULL;
        }
        buf_free(&left.resources);
        buf_free(&left.finalizers);
}

/* ---- one object ---- */

void gc_process(struct gc *g, struct request *rq)
{
        AUTO_JSON json_t *live = NULL;
        if (request_look(rq, &live) < 0)
                return;
        enqueue_unblocked(g, rq, live);
        if (!meta_is_deleting(live)) {
                check_owners(rq, live);
                return;
        }
        const char *key = rq->resource->table_key;
        if (meta_has_finalizer(live, "orphan"))
                orphan_dependents(rq, live);
        else if (meta_has_finalizer(live, "foregroundDeletion"))
                delete_dependents(g, rq, live);
        else if (strcmp(key, CRD_TABLE_KEY) == 0 &&
                 meta_has_finalizer(live, "customresourcecleanup.apiextensions.k8s.io"))
                finish_crd(rq, live);
        else if (strcmp(key, "/namespaces") == 0)
                finish_namespace(rq, live);
}
